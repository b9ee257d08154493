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
#include "base/machine.h"
#include "pool/pool.h"
#include "pool/queue.h"
#include "rpc/call.h"
#include "rpc/message.h"

#define MP_POOL_CALL_STATES(X)                                                                  \
	X(MP_POOL_CALL_REST, "at rest", "not started, or it has ended and the hook was called") \
	X(MP_POOL_CALL_WAITING, "waiting", "for its server")                                    \
	X(MP_POOL_CALL_LINED, "lined up", "for a slot of its queue")                            \
	X(MP_POOL_CALL_OUT, "out", "the request is with the server")                            \
	X(MP_POOL_CALL_HELD, "held", "the server was up, nothing is asked of it yet")           \
	X(MP_POOL_CALL_ENDING, "ending", "it is over; the hook runs when the turn ends")

#define MP_POOL_CALL_EVENTS(X)                                                     \
	X(MP_POOL_CALL_ON_ASK, "ask", "see what its server does")                  \
	X(MP_POOL_CALL_ON_WAIT, "wait", "the server is on its way")                \
	X(MP_POOL_CALL_ON_UP, "up", "the server is up")                            \
	X(MP_POOL_CALL_ON_SLOT, "slot", "there is a slot for it")                  \
	X(MP_POOL_CALL_ON_HOLD, "hold", "there is nothing to send")                \
	X(MP_POOL_CALL_ON_BACK, "back", "it was not sent, and the server is gone") \
	X(MP_POOL_CALL_ON_ANSWER, "answer", "the server answered")                 \
	X(MP_POOL_CALL_ON_REFUSE, "refuse", "it cannot be; why is noted")          \
	X(MP_POOL_CALL_ON_PATIENCE, "patience", "a restart took too long")         \
	X(MP_POOL_CALL_ON_DEADLINE, "deadline", "its time is up")                  \
	X(MP_POOL_CALL_ON_CANCEL, "cancel", "the answer is no longer wanted")      \
	X(MP_POOL_CALL_ON_TELL, "tell", "the turn has ended")                      \
	X(MP_POOL_CALL_ON_END, "end", "the hook may run")

MP_MACHINE_ENUM(mp_pool_call_state, MP_POOL_CALL_STATES, MP_POOL_CALL_STATE_COUNT);
MP_MACHINE_ENUM(mp_pool_call_event, MP_POOL_CALL_EVENTS);

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

#endif
