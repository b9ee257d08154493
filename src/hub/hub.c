/*
 * hub.c - owns everything below it; start, reload, drain.
 */
#include "hub/hub.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/diff.h"
#include "config/follow.h"
#include "hub/catalogues.h"
#include "pool/plan.h"
#include "store/approvals.h"

struct mp_hub_private {
	struct mp_hub_options o;
	const struct mp_hub_hooks *hooks;
	void *u;
	struct mp_planner *planner;
	struct mp_config_set *set;    /* the last one that was read; a reference */
	struct mp_config_set *before; /* what held before the reload under way; a reference */
	struct mp_config_watch *watch;
	struct mp_follower *follower;
	struct mp_catalogues *catalogues;
	struct mp_follower *approvals; /* follows where those are kept */
	int64_t approvals_mark;
	struct mp_task refused_task; /* a reload that changes nothing */
	struct mcpool_error refused; /* why */
	bool is_stopping;
	bool is_ready; /* and said so */
};

/* --- files ----------------------------------------------------------------------------------- */

static void files_changed(void *u)
{
	mp_hub_reload(u);
}

/* Most of what is written there are our own notes. */
static void store_changed(void *u)
{
	struct mp_hub *hub = u;
	struct mcpool_error why;
	int64_t mark;

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
static void follow(struct mp_hub *hub)
{
	struct mp_hub_private *p = hub->p;
	struct mcpool_error why;
	int r = 0;

	if (p->o.one_shot)
		return;
	if (!p->watch)
		r = mp_config_watch_new(hub->loop, &p->watch, &why);
	if (r == 0 && !p->follower)
		p->follower = mp_config_watch_follow(p->watch, files_changed, hub);
	if (r == 0)
		r = mp_follower_set_paths(p->follower, p->set->paths, p->set->n_paths, &why);
	if (r == 0)
		r = follow_approvals(hub, &why);
	if (r < 0)
		mp_log_warn(NULL, "changes of files will not be noticed: %s", why.message);
	if (!p->catalogues)
		p->catalogues = mp_catalogues_new(hub->loop, NULL, NULL);
	mp_catalogues_follow(p->catalogues, p->set); /* new copies are files that change */
}

static void load(struct mp_hub *hub)
{
	struct mp_config_request req = hub->p->o.request;

	req.wall_ms = mp_loop_wall_now_ms(hub->loop);
	hub->p->set = mp_config_set_unref(hub->p->set);
	hub->p->set = mp_config_load_remote(&req);
}

/* FILE:LINE, or FILE alone where it is about no line. */
static void add_place(struct mp_buf *out, const struct mp_problem *problem)
{
	int r = mp_buf_addf(out, "%s", problem->file);

	if (r == 0 && problem->line)
		r = mp_buf_addf(out, ":%u", problem->line);
	if (r < 0)
		mp_buf_clear(out);
}

/* All but the one that is told in another way. */
static void tell_problems(const struct mp_config_set *set, const struct mp_problem *but)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;

	mp_buf_init(&place, MP_KIB(8));
	for (size_t i = 0; i < set->n_problems; i++) {
		const struct mp_problem *problem = &set->problems[i];

		mp_buf_clear(&place);
		add_place(&place, problem);
		if (problem != but)
			mp_log_write(NULL,
				     problem->severity == MP_ERROR ? MP_LEVEL_ERR : MP_LEVEL_WRN,
				     "%.*s: %s", MP_STR_ARGS(mp_buf_get(&place)), problem->message);
	}
}

/* --- start, reload, stop --------------------------------------------------------------------- */

static void tell_ready(struct mp_hub *hub, const struct mcpool_error *error)
{
	if (hub->p->is_ready)
		return;
	hub->p->is_ready = true;
	hub->p->hooks->ready(hub->p->u, error);
}

static void is_ready(struct mp_view *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	tell_ready(u, error);
}

void mp_hub_start(struct mp_hub *hub)
{
	follow(hub);
	hub->view = mp_view_open(hub->pool, hub->p->set, hub->p->o.request.env, is_ready, hub);
}

struct naming {
	struct mp_buf *out;
	enum mp_change_kind kind;
	size_t n;
	bool is_full;
};

/* `added a, b`; an event has room for some. */
static void name_change(void *u, const struct mp_config_change *change)
{
	struct naming *n = u;
	const struct mp_entry *e = change->after ? change->after : change->before;

	if (change->kind != n->kind || n->is_full)
		return;
	n->is_full = mp_buf_addf(n->out, "%s%s%s%s", n->n || !n->out->len ? "" : "; ",
				 n->n ? ", " : mp_change_kind_get_name(n->kind), n->n ? "" : " ",
				 e->name) < 0;
	n->n++;
}

static void tell_changes(struct mp_hub *hub)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	int changes = 0;

	mp_buf_init(&words, MP_KIB(4));
	for (int kind = MP_ADDED; kind <= MP_GONE && changes >= 0; kind++) {
		struct naming n = {&words, (enum mp_change_kind)kind, 0, false};

		changes = mp_diff(hub->p->before, hub->p->set, name_change, &n);
	}
	mp_event(&hub->events, 0, "reloaded", "%.*s",
		 MP_STR_ARGS(words.len ? mp_buf_get(&words) : MP_STR("nothing changed")));
}

static void is_reloaded(struct mp_view *v, const struct mcpool_error *error, void *u)
{
	struct mp_hub *hub = u;

	(void)v;
	if (error)
		mp_event(&hub->events, 0, "reload-failed", "%s", error->message);
	else
		tell_changes(hub);
	if (!error) /* else that is still what holds */
		hub->p->before = mp_config_set_unref(hub->p->before);
	tell_ready(hub, error); /* files that change at once come before the first word */
	if (hub->p->hooks->reloaded)
		hub->p->hooks->reloaded(hub->p->u, error);
}

/* A file that had servers and cannot be read any more: somebody is in the middle of an edit. */
static const struct mp_problem *find_broken(const struct mp_config_set *before,
					    const struct mp_config_set *after)
{
	for (size_t i = 0; i < after->n_problems; i++) {
		if (!after->problems[i].is_whole_file)
			continue;
		for (size_t k = 0; k < before->n; k++)
			if (strcmp(before->entries[k]->origin.file, after->problems[i].file) == 0)
				return &after->problems[i];
	}
	return NULL;
}

static void tell_refusal(void *u)
{
	struct mp_hub *hub = u;

	mp_event(&hub->events, 0, "reload-failed", "%s", hub->p->refused.message);
	if (hub->p->hooks->reloaded)
		hub->p->hooks->reloaded(hub->p->u, &hub->p->refused);
}

/* What runs goes on as it is. */
static void refuse(struct mp_hub *hub, const struct mp_problem *broken, struct mp_config_set *was)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;

	mp_buf_init(&place, MP_KIB(8));
	add_place(&place, broken);
	(void)mp_fail(&hub->p->refused, MCPOOL_EPARSE, "%.*s: %s", MP_STR_ARGS(mp_buf_get(&place)),
		      broken->message);
	mp_config_set_unref(hub->p->set);
	hub->p->set = was;
	mp_loop_unpost(hub->loop, &hub->p->refused_task);
	mp_loop_post(hub->loop, &hub->p->refused_task);
}

void mp_hub_reload(struct mp_hub *hub)
{
	const struct mp_problem *broken;
	struct mp_config_set *was;

	if (hub->p->is_stopping || !hub->view)
		return;
	was = mp_config_set_ref(hub->p->set);
	load(hub);
	broken = find_broken(was, hub->p->set);
	tell_problems(hub->p->set, broken);
	follow(hub);
	if (broken) {
		refuse(hub, broken, was);
		return;
	}
	if (!hub->p->before)
		hub->p->before = was;
	else /* of two reloads the second one tells what both changed */
		mp_config_set_unref(was);
	mp_view_reload(hub->view, hub->p->set, is_reloaded, hub);
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
	hub->p->follower = mp_follower_leave(hub->p->follower);
	hub->p->approvals = mp_follower_leave(hub->p->approvals);
	hub->p->catalogues = mp_catalogues_free(hub->p->catalogues);
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
		.init_concurrency = (size_t)hub->p->set->settings.init_concurrency,
		.one_shot = hub->p->o.one_shot,
	};

	return mp_pool_new(&options);
}

static int open_parts(struct mp_hub *hub, struct mcpool_error *reterr)
{
	int r = mp_loop_new(&hub->loop);

	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_board_init(&hub->board, hub->loop);
	mp_events_init(&hub->events, hub->loop);
	return mp_planner_new(hub->loop, hub->p->o.exe, &hub->p->planner, reterr);
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
	mp_task_init(&hub->p->refused_task, tell_refusal, hub);
	r = open_parts(hub, reterr);
	if (r < 0) {
		mp_hub_free(hub);
		return r;
	}
	if (options->set)
		hub->p->set = mp_config_set_ref(options->set);
	else
		load(hub);
	hub->pool = make_pool(hub);
	*ret_hub = hub;
	return 0;
}

struct mp_hub *mp_hub_free(struct mp_hub *hub)
{
	struct mp_hub_private *p = hub ? hub->p : NULL;

	if (!hub)
		return NULL;
	if (hub->loop)
		mp_loop_unpost(hub->loop, &p->refused_task);
	mp_follower_leave(p->follower);
	mp_follower_leave(p->approvals);
	mp_catalogues_free(p->catalogues);
	mp_config_watch_close(p->watch);
	mp_view_close(hub->view);
	mp_pool_free(hub->pool);
	mp_planner_free(p->planner);
	mp_config_set_unref(p->set);
	mp_config_set_unref(p->before);
	if (hub->loop) {
		mp_events_done(&hub->events);
		mp_board_done(&hub->board);
	}
	mp_loop_free(hub->loop);
	mp_free(p);
	return mp_free(hub);
}
