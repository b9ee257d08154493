/*
 * upstream.h - one conversation with one server: dial, handshake, ready, drain.
 * It is used once: when the server is gone the upstream is over, and pool/keeper.c opens another
 * one.
 */
#ifndef MP_UPSTREAM_H
#define MP_UPSTREAM_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/machine.h"
#include "client/handshake.h"
#include "client/param_headers.h"
#include "client/era_cache.h"
#include "rpc/era.h"
#include "rpc/peer.h"
#include "transport/transport.h"

struct mp_upstream;
struct mp_catalog_list; /* catalog.h */
struct mp_catalog_fetch;

/* What can answer the server's requests: a person at a terminal, an agent, a test. */
struct mp_answerer {
	/* Answer with mp_upstream_reply() or mp_upstream_decline(), at once or later. */
	void (*ask)(void *u, const struct mp_server_request *rq);
	/* The answer to that request is no longer wanted. */
	void (*withdraw)(void *u, mp_id request);
	void *u;
};

struct mp_upstream_options {
	const struct mp_identity *me; /* borrowed for its life */
	enum mp_era eras;             /* MP_ERA_BOTH: find out */
	int64_t timeout_ms;           /* for dialling and handshake together */
	/* Answers the server's requests; NULL: none, and no capability is declared. */
	const struct mp_answerer *answerer;
	/*
	 * What a legacy server is told that we can be asked, an object, static; empty: as me has
	 * it. by_stream: only where questions come on the stream of the call they belong to.
	 */
	struct mp_str declares;
	bool by_stream;
	const struct mp_log *log;       /* whose it is, for the trace; borrowed; may be NULL */
	struct mp_era_cache *era_cache; /* borrowed; may be NULL */
	struct mp_str launch_key;       /* copied; the key of the era cache */
	/* A new transport, not yet started; called again for a server that dies of the probe. */
	int (*dial)(void *u, struct mp_transport **ret_transport, struct mcpool_error *reterr);
	void *dial_u;
};

/* Called from the loop, never from within open or call. */
struct mp_upstream_hooks {
	void (*ready)(void *u); /* calls may flow; see mp_upstream_get_hello() */
	/* It never got ready, or it is over; why begins with the stage. Calls have been answered.
	 */
	void (*ended)(void *u, const struct mcpool_error *why);
	/* mp_upstream_get_origin() says to which call it belongs, if that can be said. */
	void (*notification)(void *u, const struct mp_message *m);
	/* Something broke that may mean that the server is gone: ask it. Words, static. */
	void (*doubt)(void *u, const char *why);
	/* Its process ended; as mp_transport_hooks.exited. */
	void (*exited)(void *u, int pid, const char *how);
	void (*closed)(void *u); /* the last word, after mp_upstream_close() */
};

struct mp_upstream *mp_upstream_new(struct mp_loop *loop, const struct mp_upstream_options *options,
				    const struct mp_upstream_hooks *hooks, void *u);
/* At once; open calls end before it returns. */
struct mp_upstream *mp_upstream_free(struct mp_upstream *up);

int mp_upstream_open(struct mp_upstream *up, struct mcpool_error *reterr) MP_MUST;
/* Hang up, in order; open calls end. closed() follows. */
void mp_upstream_close(struct mp_upstream *up);

/*
 * As mp_peer_call(), for a call that is at rest. Modern servers are told capabilities and log level
 * with each request. MCPOOL_EAGAIN before ready. mp_peer_cancel() cancels it.
 */
int mp_upstream_call(struct mp_upstream *up, struct mp_call *c,
		     const struct mp_call_options *o) MP_MUST;
/* The same where the answer does not matter. */
int mp_upstream_call_and_forget(struct mp_upstream *up, const struct mp_call_options *o) MP_MUST;
/* Answer a request that was put to the answerer. result: an object; empty: declined. */
void mp_upstream_reply(struct mp_upstream *up, mp_id request, struct mp_str result);
/* code: what a legacy server is told; a modern one's call ends with these words. */
void mp_upstream_decline(struct mp_upstream *up, mp_id request, int code, struct mp_str words);
/* MCPOOL_EAGAIN, MCPOOL_ECLOSED, and as mp_peer_notify(). */
int mp_upstream_notify(struct mp_upstream *up, enum mp_method_id method,
		       struct mp_str params) MP_MUST;
const struct mp_log *mp_upstream_get_log(const struct mp_upstream *up); /* may be NULL */
/*
 * The call on whose stream the message came that is being told of. False: that cannot be said.
 * *ret_call is NULL where that call has ended.
 */
bool mp_upstream_get_origin(const struct mp_upstream *up, struct mp_call **ret_call);

/*
 * Does HTTP repeat arguments of its tools in headers? Then listing the tools sets which: m, which
 * is empty afterwards.
 */
bool mp_upstream_has_param_headers(const struct mp_upstream *up);
void mp_upstream_set_param_headers(struct mp_upstream *up, struct mp_param_headers *m);

struct mp_loop *mp_upstream_get_loop(const struct mp_upstream *up);
bool mp_upstream_is_ready(const struct mp_upstream *up);
const struct mp_hello *mp_upstream_get_hello(const struct mp_upstream *up); /* once ready */
/* Of its process; 0 where there is none. */
int mp_upstream_get_pid(const struct mp_upstream *up);
/* When the transport of this life was open, on the loop's clock; 0: not yet. */
int64_t mp_upstream_get_opened_us(const struct mp_upstream *up);
/* What it wants to see before it lets us in (WWW-Authenticate); empty: it did not say. */
struct mp_str mp_upstream_get_challenge(const struct mp_upstream *up);
/* The last lines the server wrote to stderr, redacted; none where there is no such thing. */
int mp_upstream_get_tail(struct mp_upstream *up, size_t lines, struct mp_buf *out) MP_MUST;

/* --- for the files of the upstream alone: upstream*.c ----------------------------------------- */

#define MP_UPSTREAM_STATES(X)                                                                 \
	X(MP_UPSTREAM_IDLE, "idle", "not opened yet")                                         \
	X(MP_UPSTREAM_DIALING, "dialing", "the transport is being opened")                    \
	X(MP_UPSTREAM_HANDSHAKE, "handshake", "it is open, era and version are being chosen") \
	X(MP_UPSTREAM_HANGING_UP, "hanging up", "it died of the probe and is dialled again")  \
	X(MP_UPSTREAM_READY, "ready", "calls may flow")                                       \
	X(MP_UPSTREAM_OVER, "over", "the server is gone, not closed by its user yet")         \
	X(MP_UPSTREAM_CLOSING, "closing", "we hung up, the transport shuts down")             \
	X(MP_UPSTREAM_CLOSED, "closed", "the last state")

MP_MACHINE_ENUM(mp_upstream_state, MP_UPSTREAM_STATES);

struct mp_upstream {
	struct mp_loop *loop;
	struct mp_upstream_options o;
	char *launch_key; /* owned */
	const struct mp_upstream_hooks *hooks;
	void *u;
	enum mp_upstream_state state;
	struct mp_transport *transport; /* owned; NULL before dialling */
	bool shut;                      /* the transport has said its last word */
	bool deaf;                      /* it takes nothing any more, and will say so */
	struct mp_str during;           /* the id of the call on whose stream a message came */
	struct mp_peer peer;
	struct mp_handshake handshake;
	struct mp_buf meta; /* of the request being written, where it is not always the same */
	struct mp_param_headers param_headers;
	struct mp_catalog_list *relisted; /* owned; NULL: the tools are not being listed again */
	struct mp_catalog_fetch *relisting;
	unsigned dials;
	int64_t opened_us;         /* 0: not yet */
	enum mp_handshake_way way; /* how the next life begins */
	struct mp_timer timer;     /* for dialling and handshake */
	struct mcpool_error why;   /* of FAILED and LOST */
	struct mp_task ended_task, closed_task;
	struct mp_grave grave;
};

/* What the peer asks for and tells; u is the upstream. */
extern const struct mp_peer_hooks mp_upstream_peer_hooks;

/* For mp_peer_hooks.may_retry: list the tools again if that may help. */
bool mp_upstream_relist(void *u, struct mp_call *c, const struct mp_message *error);
/* The result is not needed any more. */
void mp_upstream_stop_relisting(struct mp_upstream *up);

#endif
