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
#include "hub/traffic.h"
#include "pool/call_log.h"
#include "pool/notifications.h"
#include "pool/pool.h"
#include "pool/usage.h"
#include "session/sessions.h"

struct mp_account;
struct mp_config_watch;
struct mp_workspaces;

struct mp_hub_options {
	struct mp_config_request request; /* where to look; borrowed until the hub is freed */
	/*
	 * Already loaded; referenced. NULL: load it. With servers from the command line the home
	 * folder is not touched, and a server may use the running hub.
	 */
	struct mp_config_set *set;
	const struct mp_identity *me; /* borrowed */
	const char *exe;              /* program started as `launcher`; NULL: this one */
	bool one_shot;                /* one attempt per start; files are not watched */
	unsigned skipped_lists;       /* with one_shot: see mp_pool_options */
	struct mp_str capabilities;   /* with one_shot: client capabilities; empty: none; static */
};

struct mp_hub {
	struct mp_loop *loop;
	struct mp_board board;
	struct mp_events events;
	struct mp_call_log calls;
	struct mp_notifications said; /* by servers */
	struct mp_pool *pool;
	struct mp_usage *usage;       /* of the pool's servers */
	struct mp_traffic traffic;    /* who calls what */
	struct mp_sessions *sessions; /* all sessions */
	struct mp_workspaces *workspaces;
	struct mp_workspace *workspace; /* of the request; NULL before the start */
	int64_t began_ms;               /* on the loop's clock */
	struct mp_hub_private *p;
};

struct mp_hub_hooks {
	/* The servers are known and may be started; error: loading failed. */
	void (*ready)(void *u, const struct mcpool_error *error);
	/* The files changed and were read again; error: nothing changed. May be NULL. */
	void (*reloaded)(void *u, const struct mcpool_error *error);
	/* All servers are stopped. */
	void (*stopped)(void *u);
};

/* MCPOOL_E* with a reason if the loop or the launch key cannot be created. */
int mp_hub_new(const struct mp_hub_options *options, const struct mp_hub_hooks *hooks, void *u,
	       struct mp_hub **ret_hub, struct mcpool_error *reterr) MP_MUST;
/* At once, even with running servers. Accepts NULL, returns NULL. */
struct mp_hub *mp_hub_free(struct mp_hub *hub);

/* A process will be started soon: start the launcher now. */
void mp_hub_open_launcher(struct mp_hub *hub);
/* Load the configuration; ready() follows. Then watch the files, if possible. */
void mp_hub_start(struct mp_hub *hub);
/*
 * Read the configuration of all workspaces again; reloaded() follows for the hub's own. A file that
 * had servers and can no longer be read changes nothing until it can be read.
 */
void mp_hub_reload(struct mp_hub *hub);
/*
 * Refuse new requests; drained() follows when none is open, or after max_ms. mp_hub_stop() comes
 * after it, or instead.
 */
void mp_hub_drain(struct mp_hub *hub, int64_t max_ms, void (*drained)(void *u), void *u);
/* The account of a server that was started before; NULL: none, or it uses no login. */
struct mp_account *mp_hub_find_account(struct mp_hub *hub, const char *server);
/* The file watcher of the hub; NULL: none. */
struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub);
/* Stop all servers; stopped() follows within 3 s. */
void mp_hub_stop(struct mp_hub *hub);

#endif
