/*
 * pool_call.h - one call's way through the pool.
 * It is embedded in its user's object and embeds the call on the wire. It waits for its server,
 * then for a slot, then for the answer, and ends exactly once, with an outcome of doc/protocol.md,
 * "Errors". A call that was not written when the server died waits for the next life. A call that
 * was written is never sent again. It is at rest before its hook runs, so the hook may start it
 * again or free it.
 */
#ifndef MP_POOL_CALL_H
#define MP_POOL_CALL_H

#include "base/base.h"
#include "pool/pool_call_state.h"
#include "pool/queue.h"
#include "rpc/call.h"
#include "rpc/message.h"
#include "rpc/trace.h"

struct mp_instance;
struct mp_pool;
struct mp_workspace;

/* Marks an id as a caller without a session of its own. */
#define MP_CALLER_ALONE (UINT64_C(1) << 63)

/* Texts are borrowed until the call is at rest. */
struct mp_call_client;

struct mp_pool_call_options {
	const char *server;
	mp_id session;
	struct mp_call_client *client; /* for the record of the call; borrowed; may be NULL */
	/*
	 * Set if one session has many callers: the caller's id with MP_CALLER_ALONE. The caller
	 * takes its own turns in queues and gets its own messages. 0: the session.
	 */
	mp_id caller;
	struct mp_str tool;    /* of tools/call, selects the queue; else empty */
	struct mp_trace trace; /* for its record */
	/*
	 * Options for the upstream. capabilities and log_level: what the client can be asked, and
	 * what a modern server may log meanwhile; empty, NULL: nothing. timeout_ms 0: the server's
	 * toolTimeout. The pool sets max_total_ms and meta.
	 */
	struct mp_call_options call;
};

struct mp_pool_answer {
	enum mp_outcome outcome;
	const struct mp_message *message; /* ANSWERED: valid during the hook */
	/* Else: the error for the caller: "MCP error: ..." (doc/protocol.md, "Errors"). */
	const struct mcpool_error *error;
	/* On failure: the upstream's error; NULL: the pool failed the call. */
	const struct mcpool_error *cause;
	const char *server;
	/*
	 * On failure: how the server is reached ("stdio"; NULL: it is no longer configured), and
	 * how far the call got.
	 */
	const char *transport;
	bool was_up;             /* the server was up */
	bool was_out;            /* the request was sent to the server */
	unsigned attempt;        /* number of the restart attempt; 0: none */
	bool retryable;          /* a retry is safe and may help */
	int64_t next_at_ms;      /* time of the server's next attempt; 0: unknown */
	struct mp_str tail;      /* the last stderr lines of the server; or empty */
	const char *environment; /* environment of its last start; NULL: unknown */
	int64_t took_us;         /* time at the server */
};

struct mp_pool_call;
struct mp_pool_call_hooks {
	/* Runs once. The call is at rest. */
	void (*answered)(struct mp_pool_call *c, const struct mp_pool_answer *answer);
	/* A notifications/progress; may be NULL. */
	void (*progress)(struct mp_pool_call *c, const struct mp_message *m);
	/* See mp_pool_call_acquire(). */
	void (*acquired)(struct mp_pool_call *c);
};

struct mp_pool_call {
	enum mp_pool_call_state state;
	const struct mp_pool_call_hooks *hooks;
	struct mp_call call; /* with the options and the only timer */

	/* Valid only while it is not at rest. */
	struct mp_link link; /* in its instance's list of this state, or in the pool's homeless */
	struct mp_workspace *workspace;
	struct mp_pool *pool;
	struct mp_instance *in; /* NULL: none */
	const char *server;     /* borrowed, like the tool */
	struct mp_str tool;
	struct mp_trace trace;
	mp_id session;
	struct mp_call_client *client; /* a reference; may be NULL */
	mp_id caller;         /* takes turns in queues; the session or one of its callers */
	bool is_held;         /* acquired without a call */
	bool was_out;         /* the request of this attempt was sent */
	bool was_up;          /* the server was up when the call was refused */
	bool retryable;       /* as in the answer */
	bool is_paused;       /* the deadline is extended to its maximum */
	int retry_ms;         /* the server's Retry-After; 0: none */
	unsigned returns;     /* how often a server that is up did not take it */
	unsigned attempt;     /* as in the answer */
	int64_t timeout_ms;   /* the tool's limit; 0: none */
	int64_t max_total_ms; /* the limit including progress and pauses */
	int64_t deadline_ms;  /* when the tool's limit expires; INT64_MAX: never */
	int64_t patience_ms;  /* when the wait for a restart expires; INT64_MAX: never */
	int64_t left_ms;      /* rest of the limit when it was paused */
	int64_t asked_us, sent_us, took_us;
	int64_t hub_us;          /* our own work until it was sent */
	struct mp_ticket ticket; /* in the queue */
	struct mp_task task;     /* sends TELL at the end of the turn */
	enum mp_outcome outcome;
	const struct mp_message *message; /* the current answer; borrowed */
	struct mcpool_error *why;         /* of a failure; owned */
	struct mcpool_error *cause;       /* the upstream's error; owned; NULL: none */
	const char *transport;            /* of a call without an instance; static; or NULL */
};

void mp_pool_call_init(struct mp_pool_call *c, struct mp_loop *loop,
		       const struct mp_pool_call_hooks *hooks);
/* It must be at rest. */
void mp_pool_call_done(struct mp_pool_call *c);
bool mp_pool_call_is_at_rest(const struct mp_pool_call *c);

/*
 * Call a server of this workspace. If the return value is negative, the hook does not run
 * (MCPOOL_ENOENT: no such server); otherwise it runs once, from the loop.
 */
int mp_pool_call_start(struct mp_workspace *v, struct mp_pool_call *c,
		       const struct mp_pool_call_options *o, struct mcpool_error *reterr) MP_MUST;
/*
 * Only start and hold the server (E27 to E39). acquired() runs when it is up; it is held until the
 * call is cancelled. answered() reports a failure and the end.
 */
int mp_pool_call_acquire(struct mp_workspace *v, struct mp_pool_call *c, const char *server,
			 mp_id session, struct mcpool_error *reterr) MP_MUST;
/*
 * The answer is no longer needed: the server is told, and the hook gets CANCELLED at the end of the
 * turn. Never restarts anything (D16). Does nothing at rest.
 */
void mp_pool_call_cancel(struct mp_pool_call *c);

/* --- private to pool/ ------------------------------------------------------------------------ */

/* pool_call.c */
extern const struct mp_call_hooks mp_pool_call_wire_hooks;
struct mp_pool_call *mp_pool_call_of_call(struct mp_call *c); /* NULL: not a call of the pool */
void mp_pool_call_advance(struct mp_pool_call *c, enum mp_pool_call_event ev);
/* Sets the error of a refused call; send the event REFUSE next. */
void mp_pool_call_refuse(struct mp_pool_call *c, int code, enum mp_outcome outcome,
			 const char *format, ...) MP_PRINTF(4, 5);
/* Limits for the answer and for a restart. */
void mp_pool_call_set_deadline(struct mp_pool_call *c, int64_t ms);
/* The pool is freed: the call ends now. */
void mp_pool_call_drop(struct mp_pool_call *c);
/* The tool's deadline decides; the transport's limit is slightly longer (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms);
void mp_pool_call_find_another(struct mp_pool_call *c);        /* its instance is leaving */
struct mp_list *mp_pool_call_get_list(struct mp_pool_call *c); /* the list it is in */

/* A server request of this call is open: its timeout is paused (up to maxTotal). */
void mp_pool_call_pause(struct mp_pool_call *c, bool paused);

/* pool_calls.c: find the current instance of its workspace for it. */
void mp_pool_call_find_server(struct mp_pool_call *c);
/*
 * pool_calls.c: too many calls wait for this server. Returns the last call of the caller with the
 * most calls, or c if no caller has two more than c's caller had without it.
 */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *c);

/* instance_requests.c: the call has ended; ends the server requests that belong to it. */
void mp_instance_requests_end_call(struct mp_pool_call *c);

/* A call that has not ended. Borrowed during the walk. */
struct mp_open_call {
	mp_id session;
	const char *client; /* name of the agent; "" */
	const char *server;
	enum mp_method_id method;
	struct mp_str subject;     /* tool, prompt or resource */
	int64_t since_us, sent_us; /* of the loop's clock; sent_us 0: it waits */
};
/* Those of all servers, in no order. */
void mp_pool_call_walk(const struct mp_pool *p, void (*fn)(void *u, const struct mp_open_call *c),
		       void *u);

#endif
