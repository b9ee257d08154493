/*
 * workspace_watch.c - keeps one workspace up to date with its configuration files.
 */
#include "hub/workspace_watch.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/read/load.h"
#include "files/follow.h"
#include "config/read/restore.h"
#include "hub/reload_changes.h"
#include "hub/remote_sources.h"
#include "process/environment.h"

static const struct mp_log config_log = {"config"};

/* --- files ----------------------------------------------------------------------------------- */

static void files_changed(void *u)
{
	mp_workspace_watch_reload(u);
}

static void follow_remote_sources(struct mp_workspace_watch *w)
{
	if (!w->remote_sources && w->set->n_remote_urls > 0)
		w->remote_sources = mp_remote_sources_new(w->o->loop, NULL, NULL);
	if (w->remote_sources)
		mp_remote_sources_follow(w->remote_sources,
					 w->set); /* new copies are changed files */
}

/* If files cannot be watched, everything else still works. */
static void workspace_watch_follow(struct mp_workspace_watch *w)
{
	struct mp_config_watch *files = w->o->files;
	struct mcpool_error why;

	if (w->o->one_shot)
		return;
	if (files && !w->follower)
		w->follower = mp_config_watch_follow(files, files_changed, w);
	if (files && mp_follower_set_paths(w->follower, w->set->paths, w->set->n_paths, &why) < 0)
		mp_log_warn(&config_log, "changes of files will not be noticed: %s", why.message);
	follow_remote_sources(w);
}

static void workspace_watch_load(struct mp_workspace_watch *w)
{
	struct mp_config_request req = w->request;

	req.wall_ms = mp_loop_wall_now_ms(w->o->loop);
	w->set = mp_config_set_unref(w->set);
	w->set = mp_config_load_remote(&req);
}

/* FILE:LINE, or FILE if there is no line. */
static void add_place(struct mp_buf *out, const struct mp_problem *problem)
{
	int r = mp_buf_addf(out, "%s", problem->file);

	if (r == 0 && problem->line)
		r = mp_buf_addf(out, ":%u", problem->line);
	if (r < 0)
		mp_buf_clear(out);
}

/* All problems but one, which is reported elsewhere. */
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

/* Shown to agents and in `status` while a file is broken. */
static void note_problem(struct mp_workspace_watch *w)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const struct mp_problem *broken = mp_restore_find_broken(w->set);

	mp_buf_init(&text, MP_KIB(16));
	if (broken) {
		add_place(&text, broken);
		if (mp_buf_addf(&text, ": %s", broken->message) < 0 || mp_buf_terminate(&text) < 0)
			return;
	}
	mp_workspace_set_problem(w->workspace, broken ? text.data : NULL);
}

/* For the next hub, which may find a broken file. A strict set lacks the files of the sources. */
static void keep_good(struct mp_workspace_watch *w)
{
	if (!w->o->one_shot && w->request.db && w->set->root[0] && !w->request.strict)
		mp_restore_save(w->request.db, w->set, mp_loop_wall_now_ms(w->o->loop));
}

/* --- start and reload ------------------------------------------------------------------------ */

static void tell_ready(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	if (w->is_ready)
		return;
	w->is_ready = true;
	w->is_broken = error != NULL;
	w->o->ready(w, error);
}

static void is_ready(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	tell_ready(u, error);
}

void mp_workspace_watch_start(struct mp_workspace_watch *w)
{
	workspace_watch_follow(w);
	w->workspace = mp_workspace_open(w->o->pool, w->set, w->request.env, is_ready, w);
	note_problem(w);
	keep_good(w);
}

/* Until the next one that changes something. */
static void keep_changes(struct mp_workspace_watch *w, const struct mp_reload_changes *changes,
			 uint64_t event)
{
	mp_buf_clear(&w->changes);
	w->changes_event = event;
	if (mp_reload_changes_write_json(changes, w->label, mp_loop_wall_now_ms(w->o->loop),
					 &w->changes) < 0)
		mp_buf_clear(&w->changes);
}

/* With as many names as an event can hold; what is kept has more. */
static void tell_changes(struct mp_workspace_watch *w)
{
	MP_CLEANUP(mp_reload_changes_done) struct mp_reload_changes changes;
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	size_t label = w->label[0] ? strlen(w->label) + 2 : 0, room = MP_LIMIT_EVENT_TEXT - 1;
	uint64_t event;

	mp_buf_init(&words, MP_KIB(4));
	mp_reload_changes_read(&changes, w->before, w->set);
	if (mp_reload_changes_write_text(&changes, label < room ? room - label : 0, &words) < 0)
		mp_buf_clear(&words);
	event = mp_event(w->o->events, 0, MP_EVENT_RELOADED, "%s%s%.*s", w->label,
			 w->label[0] ? ": " : "",
			 MP_STR_ARGS(words.len ? mp_buf_get(&words) : MP_STR("done")));
	if (!mp_reload_changes_is_empty(&changes))
		keep_changes(w, &changes, event);
}

static void tell_failure(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	mp_event(w->o->events, 0, MP_EVENT_RELOAD_FAILED, "%s%s%s", w->label,
		 w->label[0] ? ": " : "", error->message);
}

static void is_reloaded(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	struct mp_workspace_watch *w = u;

	(void)v;
	w->is_reloading = false;
	if (error)
		tell_failure(w, error);
	else
		tell_changes(w);
	if (!error) { /* else the old set stays valid */
		/* Another reload may be under way: its set is told already. */
		mp_config_set_unref(w->before);
		w->before = mp_config_set_ref(w->set);
		w->is_broken = false;
	}
	tell_ready(w, error); /* a reload may finish before ready() was called */
	w->o->reloaded(w, error);
}

/*
 * A file that had servers and cannot be read: it is probably being edited. Or discovery itself
 * failed, which left the set empty.
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
	struct mp_workspace_watch *w = u;

	w->is_reloading = false;
	tell_failure(w, &w->refused);
	w->o->reloaded(w, &w->refused);
}

/* Keep the running servers unchanged. */
static void workspace_watch_refuse(struct mp_workspace_watch *w, const struct mp_problem *broken,
				   struct mp_config_set *was)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;

	mp_buf_init(&place, MP_KIB(8));
	add_place(&place, broken);
	(void)mp_fail(&w->refused, MCPOOL_EPARSE, "%.*s: %s", MP_STR_ARGS(mp_buf_get(&place)),
		      broken->message);
	mp_workspace_set_problem(w->workspace, w->refused.message);
	mp_config_set_unref(w->set);
	w->set = was;
	mp_loop_unpost(w->o->loop, &w->refused_task);
	mp_loop_post(w->o->loop, &w->refused_task);
}

void mp_workspace_watch_reload(struct mp_workspace_watch *w)
{
	const struct mp_problem *broken;
	struct mp_config_set *was;

	if (!w->workspace)
		return;
	was = mp_config_set_ref(w->set);
	workspace_watch_load(w);
	broken = find_broken(was, w->set);
	tell_problems(w->set, broken);
	if (w->set->root[0])
		workspace_watch_follow(w);
	w->is_reloading = true;
	if (broken) {
		workspace_watch_refuse(w, broken, was);
		return;
	}
	note_problem(w);
	keep_good(w);
	if (!w->before)
		w->before = was;
	else /* of two reloads the second reports both changes */
		mp_config_set_unref(was);
	mp_workspace_reload(w->workspace, w->set, is_reloaded, w);
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_workspace_watch_init(struct mp_workspace_watch *w,
			     const struct mp_workspace_watch_options *o,
			     const struct mp_config_request *request, struct mp_config_set *set)
{
	*w = (struct mp_workspace_watch){.o = o, .request = *request, .label = ""};
	mp_task_init(&w->refused_task, tell_refusal, w);
	mp_buf_init(&w->changes, MP_LIMIT_RELOAD_CHANGES);
	if (set)
		w->set = mp_config_set_ref(set);
	else
		workspace_watch_load(w);
}

void mp_workspace_watch_own_request(struct mp_workspace_watch *w)
{
	w->own_cwd = mp_dup(w->request.cwd);
	w->own_profile = w->request.profile ? mp_dup(w->request.profile) : NULL;
	w->own_env = mp_environment_copy(w->request.env);
	w->own_asked = mp_alloc((w->request.n_asked + 1) * sizeof(*w->own_asked));
	for (size_t i = 0; i < w->request.n_asked; i++)
		w->own_asked[i] = mp_dup(w->request.asked[i]);
	w->request.asked = (const char *const *)w->own_asked;
	w->request.cwd = w->own_cwd;
	w->request.profile = w->own_profile;
	w->request.env = w->own_env;
}

void mp_workspace_watch_stop(struct mp_workspace_watch *w)
{
	w->follower = mp_follower_leave(w->follower);
	w->remote_sources = mp_remote_sources_free(w->remote_sources);
}

void mp_workspace_watch_done(struct mp_workspace_watch *w)
{
	mp_loop_unpost(w->o->loop, &w->refused_task);
	mp_workspace_watch_stop(w);
	mp_workspace_close(w->workspace);
	mp_config_set_unref(w->set);
	mp_config_set_unref(w->before);
	mp_buf_done(&w->changes);
	mp_environment_free(w->own_env);
	for (size_t i = 0; w->own_asked && w->own_asked[i]; i++)
		mp_free(w->own_asked[i]);
	mp_free(w->own_asked);
	mp_free(w->own_profile);
	mp_free(w->own_cwd);
}
