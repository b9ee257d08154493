/*
 * hub.h - owns everything below it: loop, launch operations, pool, workspaces and sessions.
 * Start, reload, drain. The same core for `serve`, for one-shot verbs and, later, for programs that
 * link it (U30).
 */
#ifndef MP_HUB_H
#define MP_HUB_H

#include "base/base.h"
#include "base/dirty.h"
#include "base/events.h"
#include "base/loop.h"
#include "config/values/set.h"
#include "pool/pool.h"
#include "session/sessions.h"

struct mp_config_watch;
struct mp_workspaces;

struct mp_hub_options {
	struct mp_config_request request; /* where to look; borrowed for the hub's life */
	/*
	 * Loaded already; referenced. NULL: to be loaded. With one that was typed the home folder
	 * is not touched, and its server may ask the running hub.
	 */
	struct mp_config_set *set;
	const struct mp_identity *me; /* borrowed */
	const char *exe;              /* whose `launcher` is started; NULL: this program */
	bool one_shot;                /* one try per start; files are not followed */
	unsigned skipped_lists;       /* of one_shot: see mp_pool_options */
	struct mp_str capabilities; /* of one_shot: what servers may ask; empty: nothing; static */
};

struct mp_hub {
	struct mp_loop *loop;
	struct mp_board board;
	struct mp_events events;
	struct mp_pool *pool;
	struct mp_sessions *sessions; /* all sessions */
	struct mp_workspaces *workspaces;
	struct mp_workspace *workspace; /* its own: of the request. NULL before the start */
	int64_t began_ms;               /* on the loop's clock */
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

/* A process will be started soon: have what starts it at hand. */
void mp_hub_open_launcher(struct mp_hub *hub);
/* Find what there is; ready() follows. Then follow the files, where that is possible. */
void mp_hub_start(struct mp_hub *hub);
/*
 * Read the configuration of all workspaces again; reloaded() follows for its own. A file that had
 * servers and cannot be read any more changes nothing, until it can.
 */
void mp_hub_reload(struct mp_hub *hub);
/*
 * New requests are refused; drained() follows when none is open any more, or after so long. Then,
 * or instead, mp_hub_stop().
 */
void mp_hub_drain(struct mp_hub *hub, int64_t max_ms, void (*drained)(void *u), void *u);
/* What watches files for all of it; NULL: nothing does. */
struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub);
/* All servers leave; stopped() follows, 3 s later at the latest. */
void mp_hub_stop(struct mp_hub *hub);

#endif
