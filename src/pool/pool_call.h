/*
 * pool_call.h - a share of an upstream: one call's way through the pool.
 * It waits for its server, then for a slot, then for the answer, and ends exactly once: answered,
 * or one of the outcomes of CONTRACTS. What was not written when the server died waits for the next
 * life; what was is never sent again.
 */
#ifndef MP_POOL_CALL_H
#define MP_POOL_CALL_H

#include "base/base.h"
#include "base/machine.h"
#include "pool/pool.h"
#include "rpc/call.h"
#include "rpc/message.h"

#define MP_POOL_CALL_STATES(X)                                                        \
	X(MP_POOL_CALL_FRESH, "fresh", "just asked for")                              \
	X(MP_POOL_CALL_WAITING, "waiting", "for its server")                          \
	X(MP_POOL_CALL_LINED, "lined up", "for a slot of its queue")                  \
	X(MP_POOL_CALL_OUT, "out", "the request is with the server")                  \
	X(MP_POOL_CALL_HELD, "held", "the server was up, nothing is asked of it yet") \
	X(MP_POOL_CALL_ENDED, "ended", "the last state")

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
	X(MP_POOL_CALL_ON_CANCEL, "cancel", "nobody wants it any more")

MP_MACHINE_ENUM(mp_pool_call_state, MP_POOL_CALL_STATES, MP_POOL_CALL_STATE_COUNT);
MP_MACHINE_ENUM(mp_pool_call_event, MP_POOL_CALL_EVENTS);

/* Makes an id a caller's: no session's then. */
#define MP_CALLER_ALONE (UINT64_C(1) << 63)

struct mp_pool_call_options {
	const char *server;
	mp_id session;
	/*
	 * Where one session speaks for many: whose call this is, with MP_CALLER_ALONE; it takes
	 * turns of its own, and what a server says is not another's. 0: the session's.
	 */
	mp_id caller;
	enum mp_method_id method;
	struct mp_str params; /* an object without _meta, or empty; copied */
	struct mp_str tool;   /* of tools/call, for its queue; else empty */
	/* Members of _meta that are not about one hop (trace keys, vendors'), an object; or empty.
	 */
	struct mp_str meta;
	/* What whoever calls can be asked, an object: modern servers are told; empty: nothing. */
	struct mp_str capabilities;
	const char *log_level; /* what a modern server may log meanwhile; static; NULL: nothing */
	/* A modern server's "input required" is handed on as it is, not turned into questions. */
	bool keeps_rounds;
	bool takes_tasks;   /* whoever calls declared that extension of modern servers */
	int64_t timeout_ms; /* 0: the server's toolTimeout */
	void (*on_progress)(const struct mp_message *m, void *u); /* may be NULL */
};

struct mp_pool_answer {
	enum mp_outcome outcome;
	const struct mp_message *message; /* ANSWERED: valid during the callback; NULL: acquired */
	/* Else: why, as the caller is told (CONTRACTS, "Errors"): begins with "MCP error: ". */
	const struct mcpool_error *error;
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
typedef void (*mp_pool_call_fn)(const struct mp_pool_answer *answer, void *u);

/*
 * Call a server of this view. A negative return means that fn stays silent (MCPOOL_ENOENT: no such
 * server; MCPOOL_EINVAL); otherwise it runs once, from the loop.
 */
int mp_pool_call_start(struct mp_view *v, const struct mp_pool_call_options *rq, mp_pool_call_fn fn,
		       void *u, mp_id *ret_call, struct mcpool_error *reterr) MP_MUST;
/* Only have it there (E27 to E39): answered when it is up, and held until cancelled. */
int mp_pool_call_acquire(struct mp_view *v, const char *server, mp_id session, mp_pool_call_fn fn,
			 void *u, mp_id *ret_call, struct mcpool_error *reterr) MP_MUST;
/*
 * Nobody wants the answer any more (or the call, where it is held): the server is told, and fn
 * hears CANCELLED unless it has run already. Never restarts anything (D16).
 */
void mp_pool_call_cancel(struct mp_pool *p, mp_id call);

#endif
