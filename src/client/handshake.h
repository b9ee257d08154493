/*
 * handshake.h - chooses era, revision and capabilities at the start of a conversation.
 * server/discover is written at once, and its answer means modern. Any error means initialize, and
 * on stdio so does silence; a server that exits because of the probe is dialled again without it.
 * Over HTTP a refusal that is not MCP counts as an error, and a fault (5xx) says nothing about the
 * era.
 */
#ifndef MP_HANDSHAKE_H
#define MP_HANDSHAKE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/loop.h"
#include "rpc/era.h"
#include "rpc/peer.h"

enum { MP_HANDSHAKE_SILENCE_MS = 1500 };

struct mp_handshake_hooks {
	void (*agreed)(void *u); /* hello is filled in */
	void (*failed)(void *u, const struct mcpool_error *why);
	/* Too late for this life: it is legacy now, but could be spoken to the modern way. */
	void (*turned_out_modern)(void *u);
};

/* A request of the handshake. */
struct mp_handshake_call {
	struct mp_call call;
	struct mp_handshake *handshake;
};

struct mp_handshake {
	/* A second discover may be sent while the first is not answered yet. */
	struct mp_handshake_call discover[2], initialize;
	struct mp_peer *peer; /* borrowed; a new one for each life */
	const struct mp_identity *me;
	const struct mp_handshake_hooks *hooks;
	void *u;
	unsigned state;           /* of handshake.c */
	const struct mp_log *log; /* whose it is, for the trace; borrowed; may be NULL */
	bool pinned;              /* modern is required: never fall back to legacy */
	bool probed;     /* this life began with discover: it may be what a server dies of */
	bool discovered; /* and answered: modern_hello is filled in */
	bool retried;    /* after -32022 */
	bool unsure;     /* the probe met a fault: what was agreed says nothing about eras */
	struct mp_timer silence;
	struct mp_str declares; /* what a legacy server is told that we can be asked; borrowed */
	struct mp_buf meta;     /* what _meta says on every modern request of our own */
	struct mp_buf who;      /* and the part of it that is the same for all sessions */
	struct mp_arena arena;
	struct mp_hello hello, modern_hello; /* in the arena */
	struct mcpool_error why;
};

void mp_handshake_init(struct mp_handshake *a, struct mp_loop *loop, const struct mp_identity *me,
		       const struct mp_handshake_hooks *hooks, void *u);
void mp_handshake_done(struct mp_handshake *a);

/* How to begin. */
enum mp_handshake_way {
	MP_HANDSHAKE_FIND_OUT,      /* probe, and do not wait long */
	MP_HANDSHAKE_EXPECT_MODERN, /* probe, and wait: it was modern yesterday */
	MP_HANDSHAKE_NO_PROBE,      /* initialize; it was legacy yesterday, or died of the probe */
	MP_HANDSHAKE_LEGACY,        /* nothing but legacy */
	MP_HANDSHAKE_MODERN,        /* nothing but modern */
};
void mp_handshake_start(struct mp_handshake *a, struct mp_peer *peer, enum mp_handshake_way way);
/*
 * The server is gone before anything was agreed. True: it may have died of the probe, which only
 * the caller can rule out; dial again and start with MP_HANDSHAKE_NO_PROBE. False: failed() was
 * called or will not be.
 */
bool mp_handshake_lost(struct mp_handshake *a, const struct mcpool_error *why, bool maybe_of_probe);

#endif
