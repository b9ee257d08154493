/*
 * gate.h - the start window: live, failed, deferred or late (U8).
 * All servers that are due are started at once; after a moment whoever waits gets what there is.
 * What comes later replaces its own slice of the tools and no other, because tools are read from
 * the servers (mp_workspace_get_offer), never from the gate.
 */
#ifndef MP_GATE_H
#define MP_GATE_H

#include "base/base.h"
#include "pool/pool.h"

enum mp_gate_due {
	MP_GATE_DUE_EAGER,   /* as configured; lazy ones that nobody remembers are visited */
	MP_GATE_DUE_UNKNOWN, /* only those that nobody remembers */
	MP_GATE_DUE_ALL,
};

struct mp_gate_options {
	mp_id session;
	enum mp_gate_due due;
	const bool *only; /* which of the workspace may be started, while it opens; NULL: all */
	int64_t window_ms;
	int uncached; /* enum mp_uncached: what to do about those that nobody remembers */
	int64_t max_wait_ms;
};

/* What a server contributes at this moment (A35 to A38). */
enum mp_gate_place {
	MP_PLACE_LIVE,     /* its tools */
	MP_PLACE_FAILED,   /* its error */
	MP_PLACE_DEFERRED, /* the tools it had when it was last seen */
	MP_PLACE_LATE,     /* nothing yet */
	MP_PLACE_ABSENT,   /* nothing: it is switched off, or waits for a person */
	MP_PLACE_COUNT
};
enum mp_gate_place mp_gate_get_place(struct mp_workspace *v, size_t i, mp_id session);

struct mp_gate;
typedef void (*mp_gate_fn)(void *u);

/* The workspace must be ready. fn runs once, from the loop. */
struct mp_gate *mp_gate_open(struct mp_workspace *v, const struct mp_gate_options *options,
			     mp_gate_fn fn, void *u);
/* fn stays silent. Accepts NULL, returns NULL. */
struct mp_gate *mp_gate_free(struct mp_gate *g);

#endif
