/* upstream_parts.h - what upstream.c and upstream_calls.c share. */
#ifndef MP_UPSTREAM_PARTS_H
#define MP_UPSTREAM_PARTS_H

#include "client/agree.h"
#include "base/machine.h"
#include "client/catalog.h"
#include "client/upstream.h"

#define MP_UPSTREAM_STATES(X)                                                                \
	X(MP_UPSTREAM_IDLE, "idle", "not opened yet")                                        \
	X(MP_UPSTREAM_DIALING, "dialing", "the transport is being opened")                   \
	X(MP_UPSTREAM_AGREEING, "agreeing", "it is open, era and version are being chosen")  \
	X(MP_UPSTREAM_HANGING_UP, "hanging up", "it died of the probe and is dialled again") \
	X(MP_UPSTREAM_READY, "ready", "calls may flow")                                      \
	X(MP_UPSTREAM_OVER, "over", "the server is gone, nobody has hung up yet")            \
	X(MP_UPSTREAM_CLOSING, "closing", "we hung up, the transport shuts down")            \
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
	struct mp_agree agree;
	struct mp_buf meta; /* of the request being written, where it is not always the same */
	struct mp_mirrors mirrors;
	struct mp_catalog_list *relisted; /* owned; NULL: tools are not being listed anew */
	struct mp_catalog_fetch *relisting;
	unsigned dials;
	int64_t opened_us;       /* 0: not yet */
	enum mp_agree_way way;   /* how the next life begins */
	struct mp_timer timer;   /* for dialling and agreeing */
	struct mcpool_error why; /* of FAILED and LOST */
	struct mp_task ended_task, closed_task;
	struct mp_grave grave;
};

/* What the peer asks for and tells; u is the upstream. */
extern const struct mp_peer_hooks mp_upstream_peer_hooks;

/* For mp_peer_hooks.mend: list the tools again if that may help. */
bool mp_upstream_mend(void *u, struct mp_call *c, const struct mp_message *error);
/* Nobody waits for that any more. */
void mp_upstream_stop_mending(struct mp_upstream *up);

#endif
