/*
 * parts.h - what sessions are made of; for the files of session/ alone.
 *
 * A *request* is one request of the agent on its way to an answer. A *query* is one question of a
 * server on its way to the agent.
 */
#ifndef MP_SESSION_PARTS_H
#define MP_SESSION_PARTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "base/map.h"
#include "base/random_id.h"
#include "json/tape.h"
#include "pool/pool_call.h"
#include "pool/pool_client.h"
#include "rpc/era.h"
#include "session/sessions.h"
#include "session/request_state.h"
#include "session/session.h"
#include "session/scope.h"
#include "session/tasks.h"

struct mp_failed_call;

/* What an agent can be asked. */
enum {
	MP_CAN_SAMPLE = 1 << 0,
	MP_CAN_ELICIT = 1 << 1,     /* with a form */
	MP_CAN_ELICIT_URL = 1 << 2, /* by sending the user to a page */
	MP_CAN_LIST_ROOTS = 1 << 3,
	MP_CAN_TASKS = 1 << 4, /* the extension of 2026 */
};

enum { MP_TASK_NAME = MP_RANDOM_ID + 1 }; /* with its NUL */

/* Of the request that is being handed to a server. */
struct mp_request_texts {
	struct mp_buf params, meta;
	struct mp_buf value; /* of the member of params that is said differently */
};

struct mp_sessions {
	struct mp_sessions_options o;
	struct mp_loop *loop;
	struct mp_list list;   /* of sessions; borrowed */
	size_t stdio_sessions; /* of these; the others came over HTTP */
	struct mp_list scopes; /* owned by those who use them */
	struct mp_map noted;   /* see mp_held_note(); values owned */
	struct mp_map told;    /* public names of which it was told that they collide */
	struct mp_observer observer;
	struct mp_request_state_key state_key;
	uint64_t first_agent_request; /* ids of questions begin behind it, elsewhere in each life of
				    a hub */
	mp_id last_request;           /* ids of requests, of all sessions */
	struct mp_list parked; /* requests that wait for the agent to come back, oldest first */
	struct mp_timer parked_timer;
	struct mp_tape tape, batch_tape; /* of the message on hand */
	struct mp_buf out, scratch;      /* the message being written, and a part of it */
	struct mp_request_texts texts;
	struct mp_buf said; /* the capabilities that were read last, ... */
	unsigned said_can;  /* ... and what they are */
	size_t open;        /* requests to be answered */
	bool is_draining;
	void (*drained)(void *u);
	void *drained_u;
	struct mp_task drained_task;
};

struct mp_session {
	struct mp_link link; /* in the list of all sessions */
	struct mp_sessions *sessions;
	mp_id id; /* of the client */
	struct mp_workspace *workspace;
	const char *way;
	unsigned traits;
	int pid;
	char *principal; /* owned */
	const struct mp_session_hooks *hooks;
	void *u;
	struct mp_scope *scope; /* a reference */
	struct mp_link scope_link;
	struct mp_list requests;       /* owned, those to be answered */
	struct mp_map by_id;           /* the same by the agent's id, where one stream is for all */
	struct mp_list agent_requests; /* owned */
	uint64_t last_agent_request;

	/* What initialize said. */
	char protocol[16];
	unsigned can;                  /* MP_CAN_* */
	char *capabilities;            /* as modern servers are told; owned; NULL: none */
	char *client, *client_version; /* owned; NULL before */
	const struct mp_client_habit *habit;
	const char *log_level; /* static; NULL: as servers like */
	bool is_open;          /* initialized */
	unsigned lists_seen;   /* bit per kind: it has asked for that list */

	struct mp_list subscriptions; /* owned; see subscriptions.c */
	struct mp_list tasks;         /* owned; see tasks.c */
	int64_t since_ms, last_ms;
	uint64_t received, answered;
};

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
	X(MP_REQUEST_ON_DROP, "drop", "nobody wants the answer any more")

MP_MACHINE_ENUM(mp_request_state, MP_REQUEST_STATES);
MP_MACHINE_ENUM(mp_request_event, MP_REQUEST_EVENTS);

struct mp_kept_text;

struct mp_request {
	struct mp_link link; /* in its session's requests; PARKED and KEPT: in the parked ones of
				all sessions */
	struct mp_link wait_link; /* in the scope's waiting */
	enum mp_request_state state;
	struct mp_session *session; /* NULL: it is gone, and only the call is left */
	struct mp_loop *loop;
	struct mp_grave grave;
	mp_id id;
	mp_id stream;
	enum mp_era era;
	enum mp_method_id method;
	const char *their_id; /* JSON as written; kept */
	const char *token;    /* the agent's progress token, JSON; kept; NULL: none */
	bool is_indexed;      /* in by_id */
	unsigned can;
	/* As this request said (modern); kept; NULL: as the session's. */
	const char *capabilities;
	const char *log_level;  /* static; NULL: none */
	struct mp_batch *batch; /* the others that came with it; NULL: none did */

	/* Waiting */
	char *waiting;       /* the message, to be looked at again; owned */
	int64_t patience_ms; /* until then, on the loop's clock; 0: only for the gate */
	int64_t asked_ms;    /* when it came, on the same clock; 0: not a list */
	bool is_patient;     /* there would be nothing in the answer: it waits for all servers */

	/* Out */
	const char *server; /* kept; NULL before */
	const char *target; /* what it is about, as the server calls it: name or uri; kept */
	bool is_wrapped;    /* the agent has another URI for it */

	char task[MP_TASK_NAME]; /* our name of the task it is about; "": of none */
	bool drives_task;        /* run as a task, for an agent that knows nothing of them */

	/* Parked */
	struct mp_request_state_id state_id;  /* of the last question */
	char *asked;                          /* the request; owned; NULL: it is in the digest */
	unsigned char digest[MP_DIGEST_SIZE]; /* of what was asked */
	int64_t expires_ms;                   /* on the wall's clock */
	struct mp_list agent_requests;        /* owned; to be answered by the agent's return */
	char *kept;                           /* the answer of the call: result or error; owned */
	bool kept_is_error;

	/* Listening */
	bool wants_list[MP_CATALOG_COUNT];
	struct mp_list uris; /* owned; see subscriptions.c */

	/* What is kept: see mp_request_keep(). */
	struct mp_kept_text *more; /* owned; what room has no room for */
	char *room;                /* behind the request, in the same block */
	size_t room_left;

	struct mp_pool_call call; /* only where the method reaches a server */
};

/* Requests that came in one array: the stream ends with the last answer. */
struct mp_batch {
	size_t open;
};

/* A resource that a session hears of. */
struct mp_session_subscription {
	struct mp_link link;             /* in its session's */
	char *server, *uri, *public_uri; /* owned */
	bool is_asked;                   /* by resources/subscribe */
	unsigned listeners;              /* requests that have it */
};

/* One that a listening request has. */
struct mp_subscribed {
	struct mp_link link; /* in the request's uris */
	struct mp_session_subscription *to;
};

/* sessions.c: the last request may be over. */
void mp_sessions_look_if_drained(struct mp_sessions *l);
/* A message is out: one large one does not cost for ever. */
void mp_sessions_tidy(struct mp_sessions *l);

/* --- request.c ------------------------------------------------------------------------------- */

/* One of them is over: was it the last? NULL is a batch of one. */
bool mp_batch_leave(struct mp_batch *b);
struct mp_request *mp_request_new(struct mp_session *s, const struct mp_message *m, mp_id stream);
/* Until the servers' lists are there; m is looked at again then. */
void mp_request_wait(struct mp_request *e, const struct mp_message *m);
/* A copy that lives as long as the request; NULL of nothing. For what is short: ids, names. */
const char *mp_request_keep(struct mp_request *e, struct mp_str text);
/* The same for what may be as large as a message. */
int mp_request_keep_large(struct mp_request *e, struct mp_str text, struct mp_str *ret) MP_MUST;
/* The only way its state changes. */
void mp_request_advance(struct mp_request *e, enum mp_request_event ev);
/* Its call has answered, and there is no session any more. */
void mp_request_release(struct mp_request *e);
/* The request that this call is a part of; NULL: it is given up, or is not this session's. */
struct mp_request *mp_request_of_call(const struct mp_session *s, struct mp_pool_call *call);
extern const struct mp_pool_call_hooks mp_request_call_hooks; /* forward.c */
/* Its call is with the pool. */
bool mp_request_is_calling(const struct mp_request *e);

/* The one answer; the request is over then, and freed when the turn ends. */
void mp_request_answer(struct mp_request *e, struct mp_str message, int status);
void mp_request_result(struct mp_request *e, struct mp_str result);
void mp_request_refuse(struct mp_request *e, int code, int status, const char *format, ...)
	MP_PRINTF(4, 5);
void mp_request_fail(struct mp_request *e, const struct mcpool_error *why,
		     const struct mp_pool_answer *a);
/* The same where the protocol has a code for it. */
void mp_request_fail_as(struct mp_request *e, int rpc_code, const struct mp_failed_call *f);
/* `data` of an error of ours (doc/protocol.md, "Errors"), alone in out. */
int mp_request_write_data(struct mp_buf *out, const struct mp_failed_call *f) MP_MUST;
/* The error object alone, for whoever comes back for it. */
int mp_request_write_failure(const struct mp_request *e, const struct mp_pool_answer *a,
			     struct mp_buf *out) MP_MUST;
/* Out of memory or room while it was being answered. */
void mp_request_give_up(struct mp_request *e, int r);
/* Something about it, before the answer. */
void mp_request_tell(struct mp_request *e, struct mp_str message);

/* --- requests, one file each ----------------------------------------------------------------- */

void mp_session_answer_initialize(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_discover(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_list(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_level(struct mp_request *e, const struct mp_message *m);
void mp_session_forward(struct mp_request *e, const struct mp_message *m);
/* forward.c: the call is over; result, or error: JSON for this agent. */
void mp_session_finish_call(struct mp_request *e, struct mp_str json, bool is_error, int status);
void mp_session_answer_subscribe(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_listen(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_task(struct mp_request *e, const struct mp_message *m);

/* unknown.c: why there is none of that name; candidates: how many it could have meant. */
void mp_session_refuse_unknown(struct mp_request *e, struct mp_str name, size_t candidates);

/* results.c: what a server answered, in the words of this agent's era: its own, or put into room.
 */
int mp_result_write(const struct mp_request *e, const struct mp_message *m, struct mp_buf *room,
		    struct mp_str *ret_json) MP_MUST;
/* *ret_is_error: false where the error became a result. *ret_status: for HTTP. */
int mp_result_write_error(const struct mp_request *e, const struct mp_message *m,
			  struct mp_buf *out, bool *ret_is_error, int *ret_status) MP_MUST;

/* tasks.c */
void mp_session_drop_tasks(struct mp_session *s);
/* A call that became a task gets a name of ours, in request.task. */
void mp_task_note(struct mp_request *e, const struct mp_message *m);
int mp_task_write_result(const struct mp_request *e, const struct mp_message *m,
			 struct mp_buf *out) MP_MUST;
/* `_meta` of what a task came to: it says of which. */
void mp_task_write_meta(const struct mp_request *e, const struct mp_message *m, mp_value meta,
			struct mp_writer *w);

/* forward.c: to this server, with the value of one member of params replaced. */
void mp_session_send_on(struct mp_request *e, const struct mp_message *m, const char *server,
			struct mp_str name, const char *key);

/* opening.c: -32021, with what the agent would have to be able to do. */
void mp_session_refuse_capability(struct mp_request *e, struct mp_str required);
/* opening.c: what _meta of a modern request says; refused and false where it is wrong. */
bool mp_session_read_modern(struct mp_request *e, const struct mp_message *m);
/* Members for _meta of a modern result: who we are. */
void mp_session_write_server_info(struct mp_writer *w, const struct mp_sessions *l);

/* --- what servers say ------------------------------------------------------------------------ */

extern const struct mp_pool_client_hooks mp_session_pool_client_hooks;
/* An answer of the agent to a question. */
void mp_session_take_reply(struct mp_session *s, const struct mp_message *m);
void mp_session_drop_agent_requests(struct mp_list *list, struct mp_pool *pool);
/* The agent came back with answers to what a request was parked for. False: refused. */
bool mp_session_resume(struct mp_request *e, const struct mp_message *m);
/* What it brought is nothing that was given out. */
void mp_session_refuse_state(struct mp_request *e);
void mp_session_expire_parked(struct mp_sessions *l);
/* What the request asks for, in case it is parked. */
int mp_request_note_params(struct mp_request *e, const struct mp_message *m) MP_MUST;

/* subscriptions.c */
void mp_session_tell_changed(struct mp_session *s, unsigned kinds);
/* Servers that were gone meanwhile know nothing of them. */
void mp_session_renew_subscriptions(struct mp_session *s);
void mp_session_tell_updated(struct mp_session *s, const char *server, const struct mp_message *m);
void mp_session_end_listening(struct mp_request *e); /* a normal end, with its result */
void mp_session_drop_subscriptions(struct mp_session *s);
void mp_request_drop_uris(struct mp_request *e);

/* session.c */
void mp_session_send(struct mp_session *s, mp_id stream, struct mp_str text);
/* A JSON string of this text, for splicing. */
int mp_session_quote(struct mp_buf *out, struct mp_str text) MP_MUST;
/* Owned by whoever asked; empty text: NULL. For what is short: ids, names. */
char *mp_session_keep(struct mp_str text);
/* The same for what may be as large as a message; *slot is replaced, or as it was. */
int mp_session_keep_message(char **slot, struct mp_str text) MP_MUST;

/* scope.c tells */
void mp_session_look_again(struct mp_request *e);

#endif
