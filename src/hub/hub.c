/*
 * hub.c - owns everything below it; start, reload, drain.
 */
#include "hub/hub.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "files/follow.h"
#include "hub/election.h"
#include "hub/workspace_watch.h"
#include "hub/workspaces.h"
#include "pool/plan.h"
#include "process/environment.h"
#include "store/approvals.h"
#include "store/local_key.h"

static const struct mp_log hub_log = {"hub"};

struct mp_hub_private {
	struct mp_hub_options o;
	const struct mp_hub_hooks *hooks;
	void *u;
	struct mp_planner *planner;
	struct mp_config_watch *watch;
	struct mp_follower *approvals; /* follows where those are kept */
	int64_t approvals_mark;
	bool is_stopping;
	bool is_store_lost;       /* its file was removed */
	struct mp_timer patience; /* of a drain */
	void (*drained)(void *u); /* NULL: told, or nobody asked */
	void *drained_u;
};

/* --- files ----------------------------------------------------------------------------------- */

/* This hub goes on with what it has read; every other program reads what is there now. */
static void check_store(struct mp_hub *hub)
{
	bool was_lost = hub->p->is_store_lost;

	hub->p->is_store_lost = access(mp_db_get_path(hub->p->o.request.db), F_OK) < 0;
	if (hub->p->is_store_lost && !was_lost)
		mp_log_error(&hub_log, "%s", mp_hub_get_problem(hub));
}

const char *mp_hub_get_problem(const struct mp_hub *hub)
{
	return hub->p->is_store_lost
		       ? "the state folder was removed: approvals and remembered tools are lost, "
			 "and this hub still works with its old ones; `mcpool down`, then `mcpool "
			 "up`"
		       : NULL;
}

/* Most of what is written there are our own notes. */
static void store_changed(void *u)
{
	struct mp_hub *hub = u;
	struct mcpool_error why;
	int64_t mark;

	check_store(hub);
	if (hub->p->is_store_lost)
		return;
	if (mp_approvals_get_mark(hub->p->o.request.db, &mark, &why) < 0 ||
	    mark == hub->p->approvals_mark)
		return;
	hub->p->approvals_mark = mark;
	mp_hub_reload(hub);
}

/* `mcpool trust` and `untrust` count at once: a person who says yes, or no, waits for it. */
static int follow_approvals(struct mp_hub *hub, struct mcpool_error *reterr)
{
	struct mp_hub_private *p = hub->p;
	const char *paths[2];
	char log[PATH_MAX + 8];
	int r;

	if (!p->o.request.db || p->approvals)
		return 0;
	paths[0] = mp_db_get_path(p->o.request.db);
	paths[1] = log;
	snprintf(log, sizeof(log), "%s-wal", paths[0]);
	r = mp_approvals_get_mark(p->o.request.db, &p->approvals_mark, reterr);
	if (r < 0)
		return r;
	p->approvals = mp_config_watch_follow(p->watch, store_changed, hub);
	return mp_follower_set_paths(p->approvals, paths, MP_ARRAY_LEN(paths), reterr);
}

/* Where files cannot be followed everything else goes on. */
static void begin_to_watch(struct mp_hub *hub)
{
	struct mcpool_error why;

	if (hub->p->o.one_shot || hub->p->watch)
		return;
	if (mp_config_watch_new(hub->loop, &hub->p->watch, &why) < 0 ||
	    follow_approvals(hub, &why) < 0)
		mp_log_warn(&hub_log, "changes of files will not be noticed: %s", why.message);
}

bool mp_hub_is_one_shot(const struct mp_hub *hub)
{
	return hub->p->o.one_shot;
}

struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub)
{
	return hub->p->watch;
}

/* --- start, reload, stop --------------------------------------------------------------------- */

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct mp_hub *hub = u;

	hub->workspace = hub->own->workspace;
	hub->p->hooks->ready(hub->p->u, error);
	mp_workspaces_tell(hub->own, error);
}

static void is_reloaded(void *u, const struct mcpool_error *error)
{
	struct mp_hub *hub = u;

	if (hub->p->hooks->reloaded)
		hub->p->hooks->reloaded(hub->p->u, error);
}

static const struct mp_workspace_watch_hooks own_hooks = {.ready = is_ready,
							  .reloaded = is_reloaded};

void mp_hub_open_launcher(struct mp_hub *hub)
{
	mp_planner_open_launcher(hub->p->planner);
}

void mp_hub_start(struct mp_hub *hub)
{
	begin_to_watch(hub);
	mp_workspace_watch_start(hub->own);
	hub->workspace = hub->own->workspace;
}

void mp_hub_reload(struct mp_hub *hub)
{
	mp_workspaces_reload(hub);
}

bool mp_hub_is_stopping(const struct mp_hub *hub)
{
	return hub->p->is_stopping;
}

static void tell_drained(void *u)
{
	struct mp_hub *hub = u;
	void (*drained)(void *u) = hub->p->drained;

	mp_timer_stop(&hub->p->patience);
	hub->p->drained = NULL;
	if (drained)
		drained(hub->p->drained_u);
}

void mp_hub_drain(struct mp_hub *hub, int64_t max_ms, void (*drained)(void *u), void *u)
{
	bool is_first = !mp_timer_is_running(&hub->p->patience);

	hub->p->drained = drained;
	hub->p->drained_u = u;
	mp_timer_start(&hub->p->patience, max_ms);
	if (is_first)
		mp_lobby_drain(hub->lobby, tell_drained, hub);
}

static void is_stopped(void *u)
{
	struct mp_hub *hub = u;

	hub->p->hooks->stopped(hub->p->u);
}

void mp_hub_stop(struct mp_hub *hub)
{
	if (hub->p->is_stopping)
		return;
	hub->p->is_stopping = true;
	hub->p->approvals = mp_follower_leave(hub->p->approvals);
	mp_workspaces_stop(hub);
	mp_pool_stop(hub->pool, is_stopped, hub);
}

/* --- life ------------------------------------------------------------------------------------ */

static struct mp_pool *make_pool(struct mp_hub *hub)
{
	struct mp_pool_options options = {
		.loop = hub->loop,
		.db = hub->p->o.request.db,
		.board = &hub->board,
		.events = &hub->events,
		.me = hub->p->o.me,
		.ways = &mp_planner_ways,
		.ways_u = hub->p->planner,
		.init_concurrency = (size_t)hub->own->set->settings.init_concurrency,
		.one_shot = hub->p->o.one_shot,
		.skipped_lists = hub->p->o.skipped_lists,
		.capabilities = hub->p->o.capabilities,
	};

	return mp_pool_new(&options);
}

static struct mp_lobby *make_lobby(struct mp_hub *hub)
{
	struct mp_lobby_options options = {
		.pool = hub->pool,
		.board = &hub->board,
		.me = hub->p->o.me,
		.db = hub->p->o.request.db,
	};

	return mp_lobby_new(&options);
}

/* Where no hub can be found, none can be asked to serve itself. */
static void mark_servers(struct mp_hub *hub)
{
	char text[sizeof(MP_ENVIRONMENT_HUB) + sizeof(((struct mp_hub_place *)NULL)->socket) + 1];
	struct mp_hub_place place;

	if (mp_hub_place_find(&place, NULL) < 0)
		return;
	snprintf(text, sizeof(text), MP_ENVIRONMENT_HUB "=%s", place.socket);
	mp_planner_mark(hub->p->planner, text);
}

/* Launch keys that are compared within this process alone need no secret. */
static int make_planner(struct mp_hub *hub, struct mcpool_error *reterr)
{
	static const unsigned char no_key[MP_LOCAL_KEY_SIZE];
	struct mp_hub_private *p = hub->p;
	int r;

	if (p->o.set && p->o.set->is_typed) {
		p->planner = mp_planner_make(hub->loop, p->o.exe, no_key);
		return 0;
	}
	r = mp_planner_new(hub->loop, p->o.exe, &p->planner, reterr);
	if (r == 0)
		mark_servers(hub);
	return r;
}

static int open_parts(struct mp_hub *hub, struct mcpool_error *reterr)
{
	int r = mp_loop_new(&hub->loop);

	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_board_init(&hub->board, hub->loop);
	mp_events_init(&hub->events, hub->loop);
	return make_planner(hub, reterr);
}

int mp_hub_new(const struct mp_hub_options *options, const struct mp_hub_hooks *hooks, void *u,
	       struct mp_hub **ret_hub, struct mcpool_error *reterr)
{
	struct mp_hub *hub = mp_alloc(sizeof(*hub));
	int r;

	hub->p = mp_alloc(sizeof(*hub->p));
	hub->p->o = *options;
	hub->p->hooks = hooks;
	hub->p->u = u;
	mp_list_init(&hub->watches);
	r = open_parts(hub, reterr);
	if (r < 0) {
		mp_hub_free(hub);
		return r;
	}
	hub->own = mp_workspace_watch_new(hub, &hub->p->o.request, options->set, &own_hooks, hub);
	mp_list_append(&hub->watches, &hub->own->link);
	hub->pool = make_pool(hub);
	hub->lobby = make_lobby(hub);
	hub->began_ms = mp_loop_now_ms(hub->loop);
	mp_timer_init(&hub->p->patience, hub->loop, tell_drained, hub);
	*ret_hub = hub;
	return 0;
}

struct mp_hub *mp_hub_free(struct mp_hub *hub)
{
	struct mp_hub_private *p = hub ? hub->p : NULL;

	if (!hub)
		return NULL;
	if (hub->lobby)
		mp_timer_stop(&p->patience);
	hub->lobby = mp_lobby_free(hub->lobby);
	mp_follower_leave(p->approvals);
	mp_workspaces_free(hub);
	mp_workspace_watch_free(hub->own);
	mp_config_watch_close(p->watch);
	mp_pool_free(hub->pool);
	mp_planner_free(p->planner);
	if (hub->loop) {
		mp_events_done(&hub->events);
		mp_board_done(&hub->board);
	}
	mp_loop_free(hub->loop);
	mp_free(p);
	return mp_free(hub);
}
