/*
 * gate.h - the start window: live, failed, deferred or late (U8).
 * Starts all due servers at once. When the window ends, waiting requests get what is available. A
 * late server replaces only its own part of the tools, because tools are read from the servers
 * (mp_workspace_get_catalog) and never from the gate.
 */
#ifndef MP_GATE_H
#define MP_GATE_H

#include "base/base.h"
#include "pool/pool.h"

enum mp_gate_due {
	MP_GATE_DUE_EAGER,   /* as configured; lazy servers without a stored catalog are visited */
	MP_GATE_DUE_UNKNOWN, /* only servers without a stored catalog */
	MP_GATE_DUE_ALL,
};

struct mp_gate_options {
	mp_id session;
	enum mp_gate_due due;
	const bool *only; /* the servers that may be started while it opens; NULL: all */
	int64_t window_ms;
	int uncached; /* enum mp_uncached: what to do with servers without a stored catalog */
	int64_t max_wait_ms; /* 0: until all servers that count have settled */
};

/*
 * What a server contributes when the gate opens (A35 to A38), in the order of reports: name, key in
 * JSON, words for one and for many.
 */
#define MP_GATE_PLACES(X)                                                           \
	X(LIVE, "live", "live", "live")                 /* its tools */             \
	X(DEFERRED, "deferred", "deferred", "deferred") /* the tools it had last */ \
	X(LATE, "late", "late", "late")                 /* nothing yet */           \
	X(FAILED, "failed", "failed", "failed")         /* its error */             \
	X(NEEDS_APPROVAL, "needsApproval", "needs approval", "need approval")       \
	X(NEEDS_AUTH, "needsAuth", "needs a login", "need a login")                 \
	X(READY, "ready", "starts when it is called", "start when they are called") \
	X(DISABLED, "disabled", "disabled", "disabled")
enum mp_gate_place {
#define X(name, key, one, many) MP_PLACE_##name,
	MP_GATE_PLACES(X)
#undef X
		MP_PLACE_COUNT
};
enum mp_gate_place mp_gate_get_place(struct mp_workspace *v, size_t i, mp_id session);
/* The server has no known tools yet and will have them after its start. */
bool mp_gate_is_unknown(struct mp_workspace *v, size_t i, mp_id session);

struct mp_gate;
typedef void (*mp_gate_fn)(void *u);

/* The workspace must be ready. fn runs once, from the loop. */
struct mp_gate *mp_gate_open(struct mp_workspace *v, const struct mp_gate_options *options,
			     mp_gate_fn fn, void *u);
/* fn does not run. Accepts NULL, returns NULL. */
struct mp_gate *mp_gate_free(struct mp_gate *g);

#endif
