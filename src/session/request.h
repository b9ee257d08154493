/*
 * request.h - one request of an agent, until its one answer.
 * It embeds the pool's part, which embeds the call.
 */
#ifndef MP_REQUEST_H
#define MP_REQUEST_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "base/random_id.h"
#include "client/catalog.h"
#include "pool/pool_call.h"
#include "rpc/era.h"
#include "session/request_state.h"
#include "session/session.h"
#include "session/sessions.h"

struct mp_failed_call;

enum { MP_TASK_NAME = MP_RANDOM_ID + 1 }; /* including its NUL */

#define MP_REQUEST_STATES(X)                                                                     \
	X(MP_REQUEST_FRESH, "fresh", "just read")                                                \
	X(MP_REQUEST_WAITING, "waiting", "for servers whose lists are on their way")             \
	X(MP_REQUEST_OUT, "out", "a server works on it")                                         \
	X(MP_REQUEST_PARKED, "parked", "answered with a question; the call goes on, unanswered") \
	X(MP_REQUEST_KEPT, "kept",                                                               \
	  "answered with a question; the call is over, its answer is kept")                      \
	X(MP_REQUEST_LISTENING, "listening",                                                     \
	  "it is answered when the agent or the hub has enough")                                 \
	X(MP_REQUEST_ENDED, "ended", "the last state")

#define MP_REQUEST_EVENTS(X)                                                                  \
	X(MP_REQUEST_ON_WAIT, "wait", "the lists are not there yet")                          \
	X(MP_REQUEST_ON_SEND, "send", "it goes to a server")                                  \
	X(MP_REQUEST_ON_LISTEN, "listen", "it is to hear of changes")                         \
	X(MP_REQUEST_ON_ANSWER, "answer", "there is an answer")                               \
	X(MP_REQUEST_ON_PARK, "park", "the server asks, and the agent must come back for it") \
	X(MP_REQUEST_ON_RESUME, "resume", "the agent came back")                              \
	X(MP_REQUEST_ON_DROP, "drop", "the answer is not wanted any more")

MP_MACHINE_ENUM(mp_request_state, MP_REQUEST_STATES);
MP_MACHINE_ENUM(mp_request_event, MP_REQUEST_EVENTS);

struct mp_kept_text;

struct mp_request {
	struct mp_link link; /* in its session's requests; PARKED and KEPT: in sessions.parked */
	struct mp_link wait_link; /* in the scope's list `waiting` */
	enum mp_request_state state;
	struct mp_session *session; /* NULL: freed, and only the call is left */
	struct mp_loop *loop;
	struct mp_grave grave;
	mp_id id;
	mp_id stream;
	enum mp_era era;
	enum mp_method_id method;
	const char *their_id; /* JSON as written; kept */
	const char *trace;    /* of HTTP headers, as members of _meta; kept; NULL: none */
	const char *token;    /* the agent's progress token, JSON; kept; NULL: none */
	bool is_indexed;      /* in by_id */
	unsigned can;
	/* From this request (modern); kept; NULL: the session's. */
	const char *capabilities;
	const char *log_level;  /* static; NULL: none */
	struct mp_batch *batch; /* the batch it came in; NULL: none */

	/* Waiting */
	char *waiting;       /* the message, to be dispatched again; owned */
	int64_t patience_ms; /* end of the wait, on the loop's clock; 0: only for the gate */
	int64_t asked_ms;    /* its arrival, on the same clock; 0: it did not wait */
	bool is_patient;     /* the answer would be empty: it waits for all servers */

	/* Out */
	const char *server; /* kept; NULL before */
	const char *target; /* the server's own name for the target: name or uri; kept */
	bool is_wrapped;    /* the agent has another URI for it */

	char task[MP_TASK_NAME]; /* our name of its task; "": none */
	bool drives_task;        /* run as a task, for an agent without task support */

	struct mp_shortening *shortening; /* a worker has its result; NULL: none */
	struct mp_login_request *login;   /* it waits for the address of a login; NULL: no */

	/* Parked */
	struct mp_request_state_id state_id;  /* of the last server request */
	char *asked;                          /* the request; owned; NULL: digested */
	unsigned char digest[MP_DIGEST_SIZE]; /* of the request */
	int64_t expires_ms;                   /* on the wall's clock */
	struct mp_list agent_requests;        /* owned; answered by the agent's retry */
	char *kept;                           /* the result or error of the call; owned */
	bool kept_is_error;

	/* Listening */
	bool wants_list[MP_CATALOG_COUNT];
	struct mp_list uris; /* owned; see subscriptions.c */

	/* Kept texts: see mp_request_keep(). */
	struct mp_kept_text *more; /* owned; texts that did not fit into room */
	char *room;                /* after the request, in the same block */
	size_t room_left;

	struct mp_pool_call call; /* only if the method reaches a server */
};

/* Requests that came in one array: the stream ends with the last answer. */
struct mp_batch {
	size_t open;
};

/* One of them has ended: was it the last? NULL is a batch of one. */
bool mp_batch_leave(struct mp_batch *b);
struct mp_request *mp_request_new(struct mp_session *s, const struct mp_message *m, mp_id stream);
/* Waits for the servers' lists; then m is dispatched again. */
void mp_request_wait(struct mp_request *e, const struct mp_message *m);
/* A copy that lives as long as the request; NULL for empty text. For short texts: ids, names. */
const char *mp_request_keep(struct mp_request *e, struct mp_str text);
/* The same for texts as large as a message. */
int mp_request_keep_large(struct mp_request *e, struct mp_str text, struct mp_str *ret) MP_MUST;
/* The only function that changes its state. */
void mp_request_advance(struct mp_request *e, enum mp_request_event ev);
/* Its call has ended, and its session no longer exists. */
void mp_request_release(struct mp_request *e);
/* The request of this call; NULL: it was dropped, or is not this session's. */
struct mp_request *mp_request_of_call(const struct mp_session *s, struct mp_pool_call *call);
/* Its call is in the pool. */
bool mp_request_is_calling(const struct mp_request *e);

/* Sends the one answer. The request has ended then, and is freed at the end of the turn. */
void mp_request_answer(struct mp_request *e, struct mp_str message, int status);
void mp_request_result(struct mp_request *e, struct mp_str result);
void mp_request_refuse(struct mp_request *e, int code, int status, const char *format, ...)
	MP_PRINTF(4, 5);
void mp_request_fail(struct mp_request *e, const struct mcpool_error *why,
		     const struct mp_pool_answer *a);
/* The same with a code of the protocol. */
void mp_request_fail_as(struct mp_request *e, int rpc_code, const struct mp_failed_call *f);
/* Writes `data` of our errors (doc/protocol.md, "Errors"), alone in out. */
int mp_request_write_data(struct mp_buf *out, const struct mp_failed_call *f) MP_MUST;
/* The error object alone, for a retry; or, *ret_is_error false, the result in its place. */
int mp_request_write_failure(const struct mp_request *e, const struct mp_pool_answer *a,
			     struct mp_buf *out, bool *ret_is_error) MP_MUST;
/* Errors of its call reach the agent as results (result.errors). */
bool mp_request_takes_content(const struct mp_request *e);
/* Fails it: out of memory or over a limit while it was being answered. */
void mp_request_give_up(struct mp_request *e, int r);
/* Sends a notification about it, before the answer. */
void mp_request_tell(struct mp_request *e, struct mp_str message);

/* --- implemented in other files --- */

/* scope.c: it waits for lists of servers, until patience_ms. */
void mp_scope_add_waiting(struct mp_request *e);
void mp_scope_remove_waiting(struct mp_request *e);
void mp_scope_arm(struct mp_request *e);
/* dispatch.c: the lists it waits for may be available. */
void mp_session_look_again(struct mp_request *e);
/* forward.c */
extern const struct mp_pool_call_hooks mp_request_call_hooks;
/* forward.c: the call has ended; json: result or error for this agent. */
void mp_session_finish_call(struct mp_request *e, struct mp_str json, bool is_error, int status);
/* forward.c: sends it to this server, with the value of one member of params replaced. */
void mp_session_send_on(struct mp_request *e, const struct mp_message *m, const char *server,
			struct mp_str name, const char *key);
/* forward.c: the result was shortened. */
void mp_session_take_result(struct mp_request *e, struct mp_str json);
/* stored.c: its result is no longer wanted. */
void mp_request_abandon_shortening(struct mp_request *e);
/*
 * login_request.c: its call failed. True: its server needs a login, the agent can show addresses,
 * and the answer follows.
 */
bool mp_request_ask_login(struct mp_request *e, const struct mp_pool_answer *a);
void mp_request_abandon_login(struct mp_request *e);
/* agent_requests.c */
void mp_session_drop_agent_requests(struct mp_list *list, struct mp_pool *pool);
/* subscriptions.c */
void mp_request_drop_uris(struct mp_request *e);

#endif
