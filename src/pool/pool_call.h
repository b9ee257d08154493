/*
 * pool_call.h - one call's way through the pool: to its server, to a slot, to the answer.
 * It is embedded in its user's object and has the wire's call inside. It waits for its server, then
 * for a slot, then for the answer, and ends exactly once, with one of the outcomes of
 * doc/protocol.md, "Errors". What was not written when the server died waits for the next life;
 * what was is never sent again. It is at rest before its hook runs, so the hook may start it again
 * or free it.
 */
#ifndef MP_POOL_CALL_H
#define MP_POOL_CALL_H

#include "base/base.h"
#include "pool/pool_call_state.h"
#include "pool/queue.h"
#include "rpc/call.h"
#include "rpc/message.h"

struct mp_instance;
struct mp_pool;
struct mp_workspace;

/* Makes an id a caller's: no session's then. */
#define MP_CALLER_ALONE (UINT64_C(1) << 63)

/* The texts are borrowed until it is at rest. */
struct mp_pool_call_options {
	const char *server;
	mp_id session;
	/*
	 * Where one session speaks for many: whose call this is, with MP_CALLER_ALONE; it takes
	 * turns of its own, and what a server says is not another's. 0: the session's.
	 */
	mp_id caller;
	struct mp_str tool; /* of tools/call, for its queue; else empty */
	/*
	 * As the upstream is told. capabilities and log_level: what the client can be asked, and
	 * what a modern server may log meanwhile; empty, NULL: nothing. timeout_ms: 0: the server's
	 * toolTimeout. max_total_ms and meta are the pool's.
	 */
	struct mp_call_options call;
};

struct mp_pool_answer {
	enum mp_outcome outcome;
	const struct mp_message *message; /* ANSWERED: valid during the hook */
	/* Else: why, as the caller is told: "MCP error: ..." (doc/protocol.md, "Errors"). */
	const struct mcpool_error *error;
	/* Of failures: the same as the upstream has it; NULL: it is the pool's word. */
	const struct mcpool_error *cause;
	const char *server;
	/* Of failures: how the server is reached ("stdio"; NULL: it has left the files), and how
	 * far the call came. */
	const char *transport;
	bool was_up;             /* the server was there for it */
	bool was_out;            /* the request was with the server */
	unsigned attempt;        /* of a restart; 0: none */
	bool retryable;          /* asking again is safe, and may help */
	int64_t next_at_ms;      /* when the server is tried next; 0: unknown */
	struct mp_str tail;      /* what the server wrote to stderr last; empty */
	const char *environment; /* whose its last start had; NULL: unknown */
	int64_t took_us;         /* with the server */
};

struct mp_pool_call;
struct mp_pool_call_hooks {
	/* The one ending. The call is at rest. */
	void (*answered)(struct mp_pool_call *c, const struct mp_pool_answer *answer);
	/* A notifications/progress; may be NULL. */
	void (*progress)(struct mp_pool_call *c, const struct mp_message *m);
	/* See mp_pool_call_acquire(). */
	void (*acquired)(struct mp_pool_call *c);
};

struct mp_pool_call {
	enum mp_pool_call_state state;
	const struct mp_pool_call_hooks *hooks;
	struct mp_call call; /* with the options, and the timer for all of it */

	/* From here on only while it is not at rest. */
	struct mp_link link; /* in its instance's list of this state, or in the pool's homeless */
	struct mp_workspace *workspace;
	struct mp_pool *pool;
	struct mp_instance *in; /* NULL: none could be had */
	const char *server;     /* borrowed, as the tool */
	struct mp_str tool;
	mp_id session;
	mp_id caller;       /* who takes turns; the session, or one of those it speaks for */
	bool is_held;       /* it is acquired, and nothing is called */
	bool was_out;       /* the server has, or had, the request of this try */
	bool was_up;        /* the server was there when it was refused */
	bool retryable;     /* as in the answer */
	bool is_paused;     /* the deadline is the latest there is */
	int retry_ms;       /* the server wants to be left alone for this long; 0: it did not say */
	unsigned returns;   /* how often a server that is up did not take it */
	unsigned attempt;   /* as in the answer */
	int64_t timeout_ms; /* the tool's limit; 0: none */
	int64_t max_total_ms; /* the limit with progress and pauses */
	int64_t deadline_ms;  /* when the tool's limit is reached; INT64_MAX: never */
	int64_t patience_ms;  /* when a restart has taken too long; INT64_MAX: never */
	int64_t left_ms;      /* what was left of the limit when it was paused */
	int64_t asked_ms, sent_us, took_us;
	struct mp_ticket ticket; /* for a slot */
	struct mp_task task;     /* TELL when the turn ends */
	enum mp_outcome outcome;
	const struct mp_message *message; /* the answer on hand; borrowed */
	struct mcpool_error *why;         /* of an ending without an answer; owned */
	struct mcpool_error *cause;       /* as the upstream has it; owned; NULL: it has none */
	const char *transport; /* of one that no instance could be had for; static; or NULL */
};

void mp_pool_call_init(struct mp_pool_call *c, struct mp_loop *loop,
		       const struct mp_pool_call_hooks *hooks);
/* It must be at rest. */
void mp_pool_call_done(struct mp_pool_call *c);
bool mp_pool_call_is_at_rest(const struct mp_pool_call *c);

/*
 * Call a server of this workspace. A negative return means that the hook stays silent
 * (MCPOOL_ENOENT: no such server); otherwise it runs once, from the loop.
 */
int mp_pool_call_start(struct mp_workspace *v, struct mp_pool_call *c,
		       const struct mp_pool_call_options *o, struct mcpool_error *reterr) MP_MUST;
/*
 * Only have the server there (E27 to E39): acquired() runs when it is up, and it is held until it
 * is cancelled; answered() tells of a failure and of the end.
 */
int mp_pool_call_acquire(struct mp_workspace *v, struct mp_pool_call *c, const char *server,
			 mp_id session, struct mcpool_error *reterr) MP_MUST;
/*
 * The answer is no longer wanted: the server is told, and the hook hears CANCELLED when the turn
 * ends. Never restarts anything (D16). At rest nothing happens.
 */
void mp_pool_call_cancel(struct mp_pool_call *c);

/* --- for the files of pool/ alone ------------------------------------------------------------ */

/* pool_call.c */
extern const struct mp_call_hooks mp_pool_call_wire_hooks;
struct mp_pool_call *mp_pool_call_of_call(struct mp_call *c); /* NULL: it is not the pool's */
void mp_pool_call_advance(struct mp_pool_call *c, enum mp_pool_call_event ev);
/* Note why it cannot be; REFUSE is the event that follows. */
void mp_pool_call_refuse(struct mp_pool_call *c, int code, enum mp_outcome outcome,
			 const char *format, ...) MP_PRINTF(4, 5);
/* Until when it waits: for the answer, and for a restart. */
void mp_pool_call_set_deadline(struct mp_pool_call *c, int64_t ms);
/* The pool goes: it ends now. */
void mp_pool_call_drop(struct mp_pool_call *c);
/* The tool's own deadline decides; the transport's limit comes behind it (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms);
void mp_pool_call_find_another(struct mp_pool_call *c);        /* its instance leaves */
struct mp_list *mp_pool_call_get_list(struct mp_pool_call *c); /* that it is in */

/* A question that belongs to it is being thought about: its time does not run (up to maxTotal). */
void mp_pool_call_pause(struct mp_pool_call *c, bool paused);

/* pool_calls.c: find the instance that its workspace has for it now. */
void mp_pool_call_find_server(struct mp_pool_call *c);
/*
 * pool_calls.c: one too many waits for this server. The last of the caller who has most of them; c
 * itself where none has two more than its caller had without it.
 */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *c);

/* instance_requests.c: the call is over, and so are the server requests that belong to it. */
void mp_instance_requests_end_call(struct mp_pool_call *c);

#endif
