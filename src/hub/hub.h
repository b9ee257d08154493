/*
 * hub.h - owns everything below it: loop, ways, pool and one view of the configuration.
 * Start, reload, drain. The same core for `serve`, for one-shot verbs and, later, for programs that
 * link it (U30).
 */
#ifndef MP_HUB_H
#define MP_HUB_H

#include "base/base.h"
#include "base/dirty.h"
#include "base/events.h"
#include "base/loop.h"
#include "config/set.h"
#include "pool/pool.h"

struct mp_hub_options {
	struct mp_config_request request; /* where to look; borrowed for the hub's life */
	struct mp_config_set *set;        /* loaded already; referenced. NULL: to be loaded */
	const struct mp_identity *me;     /* borrowed */
	const char *exe;                  /* whose `launcher` is started; NULL: this program */
	bool one_shot;                    /* one try per start; files are not followed */
};

struct mp_hub {
	struct mp_loop *loop;
	struct mp_board board;
	struct mp_events events;
	struct mp_pool *pool;
	struct mp_view *view; /* NULL before the start */
	struct mp_hub_private *p;
};

struct mp_hub_hooks {
	/* The servers are known and may be started; error: they could not be found. */
	void (*ready)(void *u, const struct mcpool_error *error);
	/* The files changed and were read again; error: as it was. May be NULL. */
	void (*reloaded)(void *u, const struct mcpool_error *error);
	/* Nothing runs any more. */
	void (*stopped)(void *u);
};

/* MCPOOL_E* and words when there is no loop, or no key for launches. */
int mp_hub_new(const struct mp_hub_options *options, const struct mp_hub_hooks *hooks, void *u,
	       struct mp_hub **ret_hub, struct mcpool_error *reterr) MP_MUST;
/* At once, if need be. Accepts NULL, returns NULL. */
struct mp_hub *mp_hub_free(struct mp_hub *hub);

/* Find what there is; ready() follows. Then follow the files, where that is possible. */
void mp_hub_start(struct mp_hub *hub);
/*
 * Read the configuration again; reloaded() follows. A file that had servers and cannot be read any
 * more changes nothing, until it can.
 */
void mp_hub_reload(struct mp_hub *hub);
/* All servers leave; stopped() follows, 3 s later at the latest. */
void mp_hub_stop(struct mp_hub *hub);

#endif
