/*
 * outlook.c - one view of the configuration that is kept up to date.
 */
#include "hub/outlook.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/diff.h"
#include "config/follow.h"
#include "config/restore.h"
#include "hub/catalogues.h"
#include "hub/views.h"
#include "process/environment.h"

static const struct mp_log config_log = {"config"};

/* --- files ----------------------------------------------------------------------------------- */

static void files_changed(void *u)
{
	mp_outlook_reload(u);
}

static void follow_catalogues(struct mp_outlook *o)
{
	if (!o->catalogues && o->set->n_catalogues > 0)
		o->catalogues = mp_catalogues_new(o->hub->loop, NULL, NULL);
	if (o->catalogues)
		mp_catalogues_follow(o->catalogues, o->set); /* new copies are files that change */
}

/* Where files cannot be followed everything else goes on. */
static void follow(struct mp_outlook *o)
{
	struct mp_config_watch *watch = mp_hub_get_watch(o->hub);
	struct mcpool_error why;

	if (mp_hub_is_one_shot(o->hub))
		return;
	if (watch && !o->follower)
		o->follower = mp_config_watch_follow(watch, files_changed, o);
	if (watch && mp_follower_set_paths(o->follower, o->set->paths, o->set->n_paths, &why) < 0)
		mp_log_warn(&config_log, "changes of files will not be noticed: %s", why.message);
	follow_catalogues(o);
}

static void load(struct mp_outlook *o)
{
	struct mp_config_request req = o->request;

	req.wall_ms = mp_loop_wall_now_ms(o->hub->loop);
	o->set = mp_config_set_unref(o->set);
	o->set = mp_config_load_remote(&req);
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
			mp_log_write(&config_log,
				     problem->severity == MP_ERROR ? MP_LEVEL_ERR : MP_LEVEL_WRN,
				     "%.*s: %s", MP_STR_ARGS(mp_buf_get(&place)), problem->message);
	}
}

/* What agents and `status` say while a file is broken. */
static void note_problem(struct mp_outlook *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const struct mp_problem *broken = mp_restore_find_broken(o->set);

	mp_buf_init(&text, MP_KIB(16));
	if (broken) {
		add_place(&text, broken);
		if (mp_buf_addf(&text, ": %s", broken->message) < 0 || mp_buf_terminate(&text) < 0)
			return;
	}
	mp_view_set_problem(o->view, broken ? text.data : NULL);
}

/* For the next hub, which may find a file broken. */
static void keep_good(struct mp_outlook *o)
{
	if (!mp_hub_is_one_shot(o->hub) && o->request.db && o->set->root[0])
		mp_restore_save(o->request.db, o->set, mp_loop_wall_now_ms(o->hub->loop));
}

/* --- start and reload ------------------------------------------------------------------------ */

static void tell_ready(struct mp_outlook *o, const struct mcpool_error *error)
{
	if (o->is_ready)
		return;
	o->is_ready = true;
	o->is_broken = error != NULL;
	o->hooks->ready(o->u, error);
}

static void is_ready(struct mp_view *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	tell_ready(u, error);
}

void mp_outlook_start(struct mp_outlook *o)
{
	follow(o);
	o->view = mp_view_open(o->hub->pool, o->set, o->request.env, is_ready, o);
	note_problem(o);
	keep_good(o);
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

static void tell_changes(struct mp_outlook *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	int changes = 0;

	mp_buf_init(&words, MP_KIB(4));
	for (int kind = MP_ADDED; kind <= MP_GONE && changes >= 0; kind++) {
		struct naming n = {&words, (enum mp_change_kind)kind, 0, false};

		changes = mp_diff(o->before, o->set, name_change, &n);
	}
	mp_event(&o->hub->events, 0, MP_EVENT_RELOADED, "%s%s%.*s", o->label,
		 o->label[0] ? ": " : "",
		 MP_STR_ARGS(words.len ? mp_buf_get(&words) : MP_STR("nothing changed")));
}

static void tell_failure(struct mp_outlook *o, const struct mcpool_error *error)
{
	mp_event(&o->hub->events, 0, MP_EVENT_RELOAD_FAILED, "%s%s%s", o->label,
		 o->label[0] ? ": " : "", error->message);
}

static void is_reloaded(struct mp_view *v, const struct mcpool_error *error, void *u)
{
	struct mp_outlook *o = u;

	(void)v;
	o->is_reloading = false;
	if (error)
		tell_failure(o, error);
	else
		tell_changes(o);
	if (!error) { /* else that is still what holds */
		o->before = mp_config_set_unref(o->before);
		o->is_broken = false;
		mp_lobby_note_view(o->hub->lobby, o->view);
	}
	tell_ready(o, error); /* files that change at once come before the first word */
	if (o->hooks->reloaded)
		o->hooks->reloaded(o->u, error);
	mp_views_note_reloaded(o);
}

/*
 * A file that had servers and cannot be read any more: somebody is in the middle of an edit. Or
 * discovery itself failed, and the set is empty for that reason alone.
 */
static const struct mp_problem *find_broken(const struct mp_config_set *before,
					    const struct mp_config_set *after)
{
	if (!after->root[0] && before->root[0] && after->n_problems)
		return &after->problems[0];
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
	struct mp_outlook *o = u;

	o->is_reloading = false;
	tell_failure(o, &o->refused);
	if (o->hooks->reloaded)
		o->hooks->reloaded(o->u, &o->refused);
	mp_views_note_reloaded(o);
}

/* What runs goes on as it is. */
static void refuse(struct mp_outlook *o, const struct mp_problem *broken, struct mp_config_set *was)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;

	mp_buf_init(&place, MP_KIB(8));
	add_place(&place, broken);
	(void)mp_fail(&o->refused, MCPOOL_EPARSE, "%.*s: %s", MP_STR_ARGS(mp_buf_get(&place)),
		      broken->message);
	mp_view_set_problem(o->view, o->refused.message);
	mp_config_set_unref(o->set);
	o->set = was;
	mp_loop_unpost(o->hub->loop, &o->refused_task);
	mp_loop_post(o->hub->loop, &o->refused_task);
}

void mp_outlook_reload(struct mp_outlook *o)
{
	const struct mp_problem *broken;
	struct mp_config_set *was;

	if (mp_hub_is_stopping(o->hub) || !o->view)
		return;
	was = mp_config_set_ref(o->set);
	load(o);
	broken = find_broken(was, o->set);
	tell_problems(o->set, broken);
	if (o->set->root[0])
		follow(o);
	o->is_reloading = true;
	if (broken) {
		refuse(o, broken, was);
		return;
	}
	note_problem(o);
	keep_good(o);
	if (!o->before)
		o->before = was;
	else /* of two reloads the second one tells what both changed */
		mp_config_set_unref(was);
	mp_view_reload(o->view, o->set, is_reloaded, o);
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_outlook *mp_outlook_new(struct mp_hub *hub, const struct mp_config_request *request,
				  struct mp_config_set *set, const struct mp_outlook_hooks *hooks,
				  void *u)
{
	struct mp_outlook *o = mp_alloc(sizeof(*o));

	o->hub = hub;
	o->request = *request;
	o->hooks = hooks;
	o->u = u;
	o->label = "";
	mp_list_init(&o->looks);
	mp_task_init(&o->refused_task, tell_refusal, o);
	if (set)
		o->set = mp_config_set_ref(set);
	else
		load(o);
	return o;
}

void mp_outlook_own_request(struct mp_outlook *o)
{
	o->own_cwd = mp_dup(o->request.cwd);
	o->own_profile = o->request.profile ? mp_dup(o->request.profile) : NULL;
	o->own_env = mp_environment_copy(o->request.env);
	o->request.cwd = o->own_cwd;
	o->request.profile = o->own_profile;
	o->request.env = o->own_env;
}

void mp_outlook_stop(struct mp_outlook *o)
{
	o->follower = mp_follower_leave(o->follower);
	o->catalogues = mp_catalogues_free(o->catalogues);
}

struct mp_outlook *mp_outlook_free(struct mp_outlook *o)
{
	if (!o)
		return NULL;
	mp_loop_unpost(o->hub->loop, &o->refused_task);
	mp_outlook_stop(o);
	mp_view_close(o->view);
	mp_config_set_unref(o->set);
	mp_config_set_unref(o->before);
	mp_environment_free(o->own_env);
	mp_free(o->own_profile);
	mp_free(o->own_cwd);
	return mp_free(o);
}
