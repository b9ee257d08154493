/*
 * workspaces.c - all workspaces of a hub: found by project, profile and environment, or made.
 */
#include "hub/workspaces.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/values/expand.h"
#include "config/read/load.h"
#include "files/follow.h"
#include "hub/workspace_watch.h"
#include "process/environment.h"

static const struct mp_log hub_log = {"hub"};

struct mp_workspace_user {
	struct mp_link link; /* in its watch's users */
	struct mp_workspace_watch *watch;
	mp_workspace_user_fn fn; /* NULL: told */
	void *u;
	bool starts_nothing;
	struct mp_task task; /* the workspace is there already */
};

/* --- which one ------------------------------------------------------------------------------- */

static bool is_same_value(char *const *a, char *const *b, struct mp_str name)
{
	const char *x = mp_expand_get(a, name), *y = mp_expand_get(b, name);

	return x == y || (x && y && strcmp(x, y) == 0);
}

struct comparing {
	char *const *a, *const *b;
	bool differs;
};

static void compare(void *u, struct mp_str name)
{
	struct comparing *c = u;

	if (!c->differs)
		c->differs = !is_same_value(c->a, c->b, name);
}

static void compare_map(struct comparing *c, const struct mp_bind_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		compare(c, mp_str_of(map->items[i].value));
}

/* Every variable that this entry may look at, whether it is approved or not. */
static void compare_entry(struct comparing *c, const struct mp_config_set *set,
			  const struct mp_entry *e)
{
	mp_expand_each_name(e->origin.spellings, e->canonical, compare, c);
	for (size_t i = 0; i < e->env_vars.n; i++)
		compare(c, mp_str_of(e->env_vars.items[i]));
	if (e->bearer_variable)
		compare(c, mp_str_of(e->bearer_variable));
	compare_map(c, &e->env_headers);
	if (set->settings.value_indirection == MP_INDIRECT_VARIABLE) {
		compare_map(c, &e->env);
		compare_map(c, &e->headers);
	}
}

/* Do these two environments mean the same to every server of the set? */
static bool workspaces_is_same_env(const struct mp_config_set *set, char *const *a, char *const *b)
{
	/* Where files are looked for, and programs. */
	static const char *const always[] = {
		"HOME",           "PATH",           "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR",
		"CODEX_HOME",     "GEMINI_CLI_HOME"};
	struct comparing c = {.a = a, .b = b};

	if (a == b)
		return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(always); i++)
		compare(&c, mp_str_of(always[i]));
	for (size_t i = 0; i < set->n && !c.differs; i++)
		compare_entry(&c, set, set->entries[i]);
	return !c.differs;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/*
 * Servers start with the environment of the session that wants them first (DESIGN 4), proxies and
 * certificates included: where that differs, it is another workspace. Their instances are shared
 * all the same.
 */
static bool is_same_start(const struct mp_workspace_watch *w, const struct mp_config_request *r)
{
	return mp_environment_is_same(w->request.env, r->env);
}

/*
 * root: where it is known already; else the folder itself must be the same. exact: also what
 * servers only inherit is the same.
 */
static struct mp_workspace_watch *find(struct mp_hub *hub, const struct mp_config_request *r,
				       const char *root, bool exact)
{
	MP_LIST_EACH(&hub->watches, link) {
		struct mp_workspace_watch *w =
			mp_container_of(link, struct mp_workspace_watch, link);

		if (!w->is_broken && w->set->root &&
		    (root ? strcmp(w->set->root, root) == 0
			  : strcmp(w->request.cwd, r->cwd) == 0) &&
		    is_same_text(w->request.profile, r->profile) &&
		    workspaces_is_same_env(w->set, w->request.env, r->env) &&
		    (!exact || is_same_start(w, r)))
			return w;
	}
	return NULL;
}

/* --- its life -------------------------------------------------------------------------------- */

static void gate_is_open(void *u)
{
	struct mp_workspace_watch *w = u;

	w->gate = mp_gate_free(w->gate);
}

/* As `serve` does for its own: eager ones start, and unknown ones are asked what they offer. */
static void start_servers(struct mp_workspace_watch *w)
{
	const struct mp_startup *startup = &w->set->settings.startup;
	struct mp_gate_options options = {
		.due = MP_GATE_DUE_EAGER,
		.window_ms = startup->window_ms,
		.uncached = startup->uncached,
		.max_wait_ms = startup->max_wait_ms,
	};

	if (w->is_started || mp_hub_is_stopping(w->hub))
		return;
	w->is_started = true;
	w->gate = mp_gate_open(w->workspace, &options, gate_is_open, w);
}

static void tell(struct mp_workspace_user *user, const struct mcpool_error *error)
{
	mp_workspace_user_fn fn = user->fn;

	if (!fn)
		return;
	user->fn = NULL;
	if (!error && !user->starts_nothing)
		start_servers(user->watch);
	fn(user->u, error ? NULL : user->watch->workspace, error);
}

static void tell_later(void *u)
{
	static const struct mcpool_error broken = {.code = MCPOOL_EAGAIN,
						   .rpc_code = -32603,
						   .message = "the configuration cannot be used"};
	struct mp_workspace_user *user = u;

	tell(user, user->watch->is_broken ? &broken : NULL);
}

void mp_workspaces_tell(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	MP_LIST_WALK(&w->users, link)
		tell(mp_container_of(link, struct mp_workspace_user, link), error);
}

static bool is_settled(const struct mp_workspace_user *user)
{
	return user->watch->is_ready && !(user->starts_nothing && user->watch->is_reloading);
}

static void tell_if_ready(struct mp_workspace_user *user)
{
	if (user->fn && is_settled(user) && !mp_list_linked(&user->task.link))
		mp_loop_post(user->watch->hub->loop, &user->task);
}

void mp_workspaces_note_reloaded(struct mp_workspace_watch *w)
{
	MP_LIST_EACH(&w->users, link)
		tell_if_ready(mp_container_of(link, struct mp_workspace_user, link));
}

static void is_ready(void *u, const struct mcpool_error *error)
{
	mp_workspaces_tell(u, error);
}

static const struct mp_workspace_watch_hooks hooks = {.ready = is_ready};

static void discard(struct mp_workspace_watch *w)
{
	mp_timer_stop(&w->rest);
	mp_list_remove(&w->hub->watches, &w->link);
	mp_gate_free(w->gate);
	mp_workspace_watch_free(w);
}

/* What it shared lives on (D13); its private servers went with their sessions. */
static void is_unused(void *u)
{
	struct mp_workspace_watch *w = u;

	mp_log_verbose(&hub_log, "the workspace of %s is closed: it is unused", w->set->root);
	discard(w);
}

/* The one that was left first; those in use stay. */
static void discard_unused(struct mp_hub *hub)
{
	struct mp_workspace_watch *first = NULL;

	MP_LIST_EACH(&hub->watches, link) {
		struct mp_workspace_watch *w =
			mp_container_of(link, struct mp_workspace_watch, link);

		if (mp_timer_is_running(&w->rest) &&
		    (!first || w->rest.due_ms < first->rest.due_ms))
			first = w;
	}
	if (first)
		is_unused(first);
}

static struct mp_workspace_watch *make(struct mp_hub *hub, const struct mp_config_request *r,
				       struct mp_config_set *set, const char *who)
{
	struct mp_workspace_watch *w = mp_workspace_watch_new(hub, r, set, &hooks, NULL);

	w->u = w;
	mp_workspace_watch_own_request(w);
	w->label = w->own_cwd;
	mp_timer_init(&w->rest, hub->loop, is_unused, w);
	mp_list_append(&hub->watches, &w->link);
	mp_workspace_watch_start(w);
	if (who)
		mp_workspace_set_who(w->workspace, who);
	return w;
}

/* --- looking --------------------------------------------------------------------------------- */

static int check(struct mp_hub *hub, const struct mp_workspace_request *request,
		 struct mcpool_error *reterr)
{
	struct stat st;

	if (mp_hub_is_stopping(hub))
		return mp_fail(reterr, MCPOOL_ECLOSED, "the hub is about to stop");
	if (!request->cwd)
		return 0;
	/* One that was deleted under its agent has no files; the user's servers are still there. */
	if (request->cwd[0] != '/' || (stat(request->cwd, &st) == 0 && !S_ISDIR(st.st_mode)))
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no folder %s", request->cwd);
	if (request->profile && !mp_profile_exists(request->profile))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "there is no profile '%s': default, omp, claude, netdata",
			       request->profile);
	return 0;
}

/* Files are read only where no workspace of this very folder is at hand. */
static int find_or_make(struct mp_hub *hub, const struct mp_workspace_request *request,
			struct mp_workspace_watch **ret, struct mcpool_error *reterr)
{
	struct mp_config_request r = hub->own->request;
	struct mp_config_set *set;

	*ret = hub->own;
	if (!request->cwd)
		return 0;
	if (!r.named_in)
		r.named_in = r.cwd;
	r.cwd = request->cwd;
	r.env = request->env;
	r.profile = request->profile;
	r.wall_ms = mp_loop_wall_now_ms(hub->loop);
	*ret = find(hub, &r, NULL, true);
	if (*ret)
		return 0;
	set = mp_config_load_remote(&r);
	*ret = set->root[0] ? find(hub, &r, set->root, true) : NULL;
	if (!*ret && hub->watches.len >= MP_LIMIT_WORKSPACES)
		discard_unused(hub);
	if (!*ret && hub->watches.len < MP_LIMIT_WORKSPACES)
		*ret = make(hub, &r, set, request->who);
	if (!*ret && set->root[0]) /* better the servers with another environment than none */
		*ret = find(hub, &r, set->root, false);
	mp_config_set_unref(set);
	return *ret ? 0 : mp_fail(reterr, MCPOOL_ELIMIT, "there are too many projects at once");
}

int mp_workspaces_join(struct mp_hub *hub, const struct mp_workspace_request *request,
		       mp_workspace_user_fn fn, void *u, struct mp_workspace_user **ret_user,
		       struct mcpool_error *reterr)
{
	struct mp_workspace_watch *w = NULL;
	struct mp_workspace_user *user;
	int r = check(hub, request, reterr);

	if (r == 0 && request->starts_nothing && mp_hub_get_watch(hub))
		mp_config_watch_catch_up(mp_hub_get_watch(hub));
	if (r == 0)
		r = find_or_make(hub, request, &w, reterr);
	if (!w)
		return r;
	user = mp_alloc(sizeof(*user));
	user->watch = w;
	user->fn = fn;
	user->u = u;
	user->starts_nothing = request->starts_nothing;
	mp_task_init(&user->task, tell_later, user);
	mp_list_append(&w->users, &user->link);
	if (w != hub->own)
		mp_timer_stop(&w->rest);
	tell_if_ready(user);
	*ret_user = user;
	return 0;
}

struct mp_workspace_user *mp_workspace_user_free(struct mp_workspace_user *user)
{
	struct mp_workspace_watch *w;

	if (!user)
		return NULL;
	w = user->watch;
	mp_loop_unpost(w->hub->loop, &user->task);
	mp_list_remove(&w->users, &user->link);
	if (w->users.len == 0 && w != w->hub->own)
		mp_timer_start(&w->rest, MP_LIMIT_WORKSPACE_IDLE_MS);
	return mp_free(user);
}

size_t mp_workspaces_count(const struct mp_hub *hub)
{
	return hub->watches.len;
}

/* --- all of them ----------------------------------------------------------------------------- */

void mp_workspaces_reload(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->watches, link)
		mp_workspace_watch_reload(mp_container_of(link, struct mp_workspace_watch, link));
}

void mp_workspaces_stop(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->watches, link) {
		struct mp_workspace_watch *w =
			mp_container_of(link, struct mp_workspace_watch, link);

		w->gate = mp_gate_free(w->gate);
		mp_workspace_watch_stop(w);
	}
}

void mp_workspaces_free(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->watches, link) {
		struct mp_workspace_watch *w =
			mp_container_of(link, struct mp_workspace_watch, link);

		mp_check(w->users.len == 0);
		if (w != hub->own)
			discard(w);
	}
}
