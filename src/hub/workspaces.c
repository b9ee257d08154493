/*
 * workspaces.c - all workspaces of a hub: finds one by project, profile and environment, or creates
 * it.
 */
#include "hub/workspaces.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/values/expand.h"
#include "config/read/load.h"
#include "files/follow.h"
#include "process/environment.h"
#include "store/approvals.h"

static const struct mp_log hub_log = {"hub"};

struct mp_workspace_user {
	struct mp_link link; /* in the users of h */
	struct mp_hub_workspace *h;
	mp_workspace_user_fn fn; /* NULL: already called */
	void *u;
	bool starts_nothing;
	bool awaits_reload;  /* it waits for the current reload */
	struct mp_task task; /* the workspace exists already */
};

/* --- finding a workspace --------------------------------------------------------------------- */

static bool is_same_value(char *const *a, char *const *b, struct mp_str name)
{
	const char *x = mp_expand_get(a, name), *y = mp_expand_get(b, name);

	return x == y || (x && y && strcmp(x, y) == 0);
}

struct comparing {
	char *const *a, *const *b;
	bool differs;
};

static void workspaces_compare(void *u, struct mp_str name)
{
	struct comparing *c = u;

	if (!c->differs)
		c->differs = !is_same_value(c->a, c->b, name);
}

static void compare_map(struct comparing *c, const struct mp_bind_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		workspaces_compare(c, mp_str_of(map->items[i].value));
}

/* Every variable that this entry may read, approved or not. */
static void compare_entry(struct comparing *c, const struct mp_config_set *set,
			  const struct mp_entry *e)
{
	mp_expand_each_name(e->origin.spellings, e->canonical, workspaces_compare, c);
	for (size_t i = 0; i < e->env_vars.n; i++)
		workspaces_compare(c, mp_str_of(e->env_vars.items[i]));
	if (e->bearer_variable)
		workspaces_compare(c, mp_str_of(e->bearer_variable));
	compare_map(c, &e->env_headers);
	if (set->settings.value_indirection == MP_INDIRECT_VARIABLE) {
		compare_map(c, &e->env);
		compare_map(c, &e->headers);
	}
}

/* Do these two environments have the same values for every server of the set? */
static bool workspaces_is_same_env(const struct mp_config_set *set, char *const *a, char *const *b)
{
	/* They decide where files and programs are found. */
	static const char *const always[] = {
		"HOME",           "PATH",           "XDG_CONFIG_HOME", "XDG_DATA_HOME",
		"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "CLAUDE_CONFIG_DIR",
		"CODEX_HOME",     "GEMINI_CLI_HOME"};
	struct comparing c = {.a = a, .b = b};

	if (a == b)
		return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(always); i++)
		workspaces_compare(&c, mp_str_of(always[i]));
	for (size_t i = 0; i < set->n && !c.differs; i++)
		compare_entry(&c, set, set->entries[i]);
	return !c.differs;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_files(const struct mp_config_request *a, const struct mp_config_request *b)
{
	if (a->n_asked != b->n_asked || a->strict != b->strict)
		return false;
	for (size_t i = 0; i < a->n_asked; i++)
		if (strcmp(a->asked[i], b->asked[i]) != 0)
			return false;
	return true;
}

/*
 * Servers start with the environment of the first session that needs them (doc/design.md 4),
 * including proxies and certificates: a different one means another workspace. Instances are still
 * shared.
 */
static bool is_same_start(const struct mp_workspace_watch *w, const struct mp_config_request *r)
{
	return mp_environment_is_same(w->request.env, r->env);
}

/*
 * root: compare by root if known, else by folder. exact: also compare the variables that servers
 * only inherit.
 */
static struct mp_hub_workspace *workspaces_find(struct mp_workspaces *all,
						const struct mp_config_request *r, const char *root,
						bool exact)
{
	MP_LIST_EACH(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);
		const struct mp_workspace_watch *w = &h->watch;

		if (!w->is_broken && w->set->root &&
		    (root ? strcmp(w->set->root, root) == 0
			  : strcmp(w->request.cwd, r->cwd) == 0) &&
		    is_same_text(w->request.profile, r->profile) && is_same_files(&w->request, r) &&
		    workspaces_is_same_env(w->set, w->request.env, r->env) &&
		    (!exact || is_same_start(w, r)))
			return h;
	}
	return NULL;
}

/* --- lifetime -------------------------------------------------------------------------------- */

static void gate_is_open(void *u)
{
	struct mp_hub_workspace *h = u;

	h->gate = mp_gate_free(h->gate);
}

/* As `serve` does for its own: start eager servers, and ask unknown ones for their catalog. */
static void start_servers(struct mp_hub_workspace *h)
{
	const struct mp_startup *startup = &h->watch.set->settings.startup;
	struct mp_gate_options options = {
		.due = MP_GATE_DUE_EAGER,
		.window_ms = startup->window_ms,
		.uncached = startup->uncached,
		.max_wait_ms = startup->max_wait_ms,
	};

	if (h->is_started || h->all->is_stopping)
		return;
	h->is_started = true;
	h->gate = mp_gate_open(h->watch.workspace, &options, gate_is_open, h);
}

static void workspaces_tell(struct mp_workspace_user *user, const struct mcpool_error *error)
{
	mp_workspace_user_fn fn = user->fn;

	if (!fn)
		return;
	user->fn = NULL;
	if (!error && !user->starts_nothing)
		start_servers(user->h);
	fn(user->u, error ? NULL : user->h->watch.workspace, error);
}

static void tell_later(void *u)
{
	static const struct mcpool_error broken = {.code = MCPOOL_EAGAIN,
						   .rpc_code = -32603,
						   .message = "the configuration cannot be used"};
	struct mp_workspace_user *user = u;

	workspaces_tell(user, user->h->watch.is_broken ? &broken : NULL);
}

static void tell_if_ready(struct mp_workspace_user *user)
{
	const struct mp_workspace_watch *w = &user->h->watch;

	if (user->fn && w->is_ready && !(user->awaits_reload && w->is_reloading) &&
	    !mp_list_linked(&user->task.link))
		mp_loop_post(w->o->loop, &user->task);
}

/* --- switches -------------------------------------------------------------------------------- */

static bool has_root(const struct mp_workspace *w, const char *root)
{
	const struct mp_config_set *set = w ? mp_workspace_get_set(w) : NULL;

	return set && is_same_text(set->root, root); /* without one it is not ready yet */
}

int mp_workspaces_toggle(struct mp_workspaces *all, struct mp_workspace *w, const char *name,
			 enum mp_toggle toggle, struct mcpool_error *reterr)
{
	const char *root = mp_workspace_get_set(w)->root;
	int r = mp_workspace_toggle(w, name, 0, toggle, reterr);

	MP_LIST_EACH(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);
		struct mp_workspace *other = h->watch.workspace;

		if (r < 0 || other == w || !has_root(other, root))
			continue;
		mp_workspace_follow_toggle(other, w, name);
		mp_sessions_note_workspace(all->sessions, other);
	}
	return r;
}

/* A new workspace has the switches of the others of its folder. */
static void follow_others(struct mp_workspaces *all, struct mp_workspace *w)
{
	const char *root = mp_workspace_get_set(w)->root;

	MP_LIST_EACH(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);
		const struct mp_workspace *other = h->watch.workspace;

		if (other == w || !has_root(other, root))
			continue;
		for (size_t i = 0; i < mp_workspace_count(other); i++)
			if (mp_workspace_entry_get_toggle(other, i) != MP_TOGGLE_NONE)
				mp_workspace_follow_toggle(w, other,
							   mp_workspace_get_entry(other, i)->name);
	}
}

static void is_ready(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	struct mp_hub_workspace *h = mp_container_of(w, struct mp_hub_workspace, watch);
	const struct mp_workspaces_options *o = &h->all->o;

	if (!error)
		follow_others(h->all, w->workspace);
	if (h == h->all->own)
		o->ready(o->u, error);
	MP_LIST_WALK(&h->users, link)
		workspaces_tell(mp_container_of(link, struct mp_workspace_user, link), error);
}

static void is_reloaded(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	struct mp_hub_workspace *h = mp_container_of(w, struct mp_hub_workspace, watch);
	const struct mp_workspaces_options *o = &h->all->o;

	if (!error)
		mp_sessions_note_workspace(h->all->sessions, w->workspace);
	if (h == h->all->own)
		o->reloaded(o->u, error);
	MP_LIST_EACH(&h->users, link)
		tell_if_ready(mp_container_of(link, struct mp_workspace_user, link));
}

static void workspaces_discard(struct mp_hub_workspace *h)
{
	mp_timer_stop(&h->unused);
	mp_list_remove(&h->all->list, &h->link);
	mp_gate_free(h->gate);
	mp_workspace_watch_done(&h->watch);
	mp_free(h);
}

/* Its shared instances stay (D13); its private servers ended with their sessions. */
static void is_unused(void *u)
{
	struct mp_hub_workspace *h = u;

	mp_log_verbose(&hub_log, "the workspace of %s is closed: it is unused", h->watch.set->root);
	workspaces_discard(h);
}

/* Discard the longest unused one; those in use stay. */
static void discard_unused(struct mp_workspaces *all)
{
	struct mp_hub_workspace *first = NULL;

	MP_LIST_EACH(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);

		if (mp_timer_is_running(&h->unused) &&
		    (!first || h->unused.due_ms < first->unused.due_ms))
			first = h;
	}
	if (first)
		is_unused(first);
}

static struct mp_hub_workspace *workspaces_make(struct mp_workspaces *all,
						const struct mp_config_request *r,
						struct mp_config_set *set)
{
	struct mp_hub_workspace *h = mp_alloc(sizeof(*h));

	h->all = all;
	mp_list_init(&h->users);
	mp_timer_init(&h->unused, all->o.loop, is_unused, h);
	mp_workspace_watch_init(&h->watch, &all->shared, r, set);
	mp_list_append(&all->list, &h->link);
	return h;
}

static struct mp_hub_workspace *open_workspace(struct mp_workspaces *all,
					       const struct mp_config_request *r,
					       struct mp_config_set *set, const char *who)
{
	struct mp_hub_workspace *h = workspaces_make(all, r, set);

	mp_workspace_watch_own_request(&h->watch);
	h->watch.label = h->watch.own_cwd;
	mp_workspace_watch_start(&h->watch);
	if (who)
		mp_workspace_set_who(h->watch.workspace, who);
	return h;
}

/* --- users ----------------------------------------------------------------------------------- */

static int workspaces_check(struct mp_workspaces *all, const struct mp_workspace_request *request,
			    struct mcpool_error *reterr)
{
	struct stat st;

	if (all->is_stopping)
		return mp_fail(reterr, MCPOOL_ECLOSED, "the hub is about to stop");
	if (!request->cwd)
		return 0;
	/* A folder deleted during the session has no files; the user's servers are still
	 * available. */
	if (request->cwd[0] != '/' || (stat(request->cwd, &st) == 0 && !S_ISDIR(st.st_mode)))
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no folder %s", request->cwd);
	if (request->profile && !mp_profile_exists(request->profile))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "there is no profile '%s': default, omp, claude, netdata",
			       request->profile);
	return 0;
}

/* Load files only if no workspace of this folder exists. */
static int find_or_open(struct mp_workspaces *all, const struct mp_workspace_request *request,
			struct mp_hub_workspace **ret, struct mcpool_error *reterr)
{
	struct mp_config_request r = all->own->watch.request;
	struct mp_config_set *set;

	*ret = all->own;
	if (!request->cwd)
		return 0;
	if (!r.named_in)
		r.named_in = r.cwd;
	r.cwd = request->cwd;
	r.env = request->env;
	r.profile = request->profile;
	r.asked = request->files;
	r.n_asked = request->n_files;
	if (request->strict) {
		r.strict = true;
		r.n_files = 0;
	}
	r.wall_ms = mp_loop_wall_now_ms(all->o.loop);
	*ret = workspaces_find(all, &r, NULL, true);
	if (*ret)
		return 0;
	set = mp_config_load_remote(&r);
	*ret = set->root[0] ? workspaces_find(all, &r, set->root, true) : NULL;
	if (!*ret && all->list.len >= MP_LIMIT_WORKSPACES)
		discard_unused(all);
	if (!*ret && all->list.len < MP_LIMIT_WORKSPACES)
		*ret = open_workspace(all, &r, set, request->who);
	if (!*ret && set->root[0]) /* better servers with another environment than none */
		*ret = workspaces_find(all, &r, set->root, false);
	mp_config_set_unref(set);
	return *ret ? 0 : mp_fail(reterr, MCPOOL_ELIMIT, "there are too many projects at once");
}

int mp_workspaces_join(struct mp_workspaces *all, const struct mp_workspace_request *request,
		       mp_workspace_user_fn fn, void *u, struct mp_workspace_user **ret_user,
		       struct mcpool_error *reterr)
{
	struct mp_hub_workspace *h = NULL;
	struct mp_workspace_user *user;
	int64_t mark = all->approvals_mark;
	int r = workspaces_check(all, request, reterr);

	if (r < 0)
		return r;
	if (request->starts_nothing && all->shared.files)
		mp_config_watch_catch_up(all->shared.files);
	mp_workspaces_compare_approvals(all);
	r = find_or_open(all, request, &h, reterr);
	if (r < 0)
		return r;
	mp_check(h);
	user = mp_alloc(sizeof(*user));
	user->h = h;
	user->fn = fn;
	user->u = u;
	user->starts_nothing = request->starts_nothing;
	user->awaits_reload = request->starts_nothing || mark != all->approvals_mark;
	mp_task_init(&user->task, tell_later, user);
	mp_list_append(&h->users, &user->link);
	mp_timer_stop(&h->unused);
	tell_if_ready(user);
	*ret_user = user;
	return 0;
}

struct mp_workspace_user *mp_workspace_user_free(struct mp_workspace_user *user)
{
	struct mp_hub_workspace *h;

	if (!user)
		return NULL;
	h = user->h;
	mp_loop_unpost(h->all->o.loop, &user->task);
	mp_list_remove(&h->users, &user->link);
	if (h->users.len == 0 && h != h->all->own)
		mp_timer_start(&h->unused, MP_LIMIT_WORKSPACE_IDLE_MS);
	return mp_free(user);
}

/* --- approvals ------------------------------------------------------------------------------- */

/* This hub keeps its open database; other programs open the new one. */
static void check_store(struct mp_workspaces *all)
{
	bool was_lost = all->is_store_lost;

	all->is_store_lost = access(mp_db_get_path(all->o.request.db), F_OK) < 0;
	if (all->is_store_lost && !was_lost)
		mp_log_error(&hub_log, "%s", mp_workspaces_get_problem(all));
}

const char *mp_workspaces_get_problem(const struct mp_workspaces *all)
{
	return all->is_store_lost
		       ? "the state folder was removed: approvals and remembered tools are lost, "
			 "and this hub still works with its old ones; `mcpool down`, then `mcpool "
			 "up`"
		       : NULL;
}

void mp_workspaces_compare_approvals(struct mp_workspaces *all)
{
	struct mcpool_error why;
	int64_t mark;

	if (!all->o.request.db || all->o.one_shot)
		return;
	check_store(all);
	if (all->is_store_lost || mp_approvals_get_mark(all->o.request.db, &mark, &why) < 0 ||
	    mark == all->approvals_mark)
		return;
	all->approvals_mark = mark;
	mp_workspaces_reload(all);
}

/* --- all of them ----------------------------------------------------------------------------- */

struct mp_workspaces *mp_workspaces_new(const struct mp_workspaces_options *options)
{
	struct mp_workspaces *all = mp_alloc(sizeof(*all));
	struct mcpool_error why;

	all->o = *options;
	all->shared = (struct mp_workspace_watch_options){
		.loop = options->loop,
		.events = options->events,
		.one_shot = options->one_shot,
		.ready = is_ready,
		.reloaded = is_reloaded,
	};
	mp_list_init(&all->list);
	/* Before the files: the next comparison then detects a change in between. */
	if (options->request.db &&
	    mp_approvals_get_mark(options->request.db, &all->approvals_mark, &why) < 0)
		mp_log_warn(&hub_log, "changes of approvals will be noticed late: %s", why.message);
	all->own = workspaces_make(all, &options->request, options->set);
	return all;
}

void mp_workspaces_start(struct mp_workspaces *all, struct mp_pool *pool,
			 struct mp_sessions *sessions, struct mp_config_watch *files)
{
	all->shared.pool = pool;
	all->shared.files = files;
	all->sessions = sessions;
	mp_workspace_watch_start(&all->own->watch);
}

void mp_workspaces_reload(struct mp_workspaces *all)
{
	if (all->is_stopping)
		return;
	MP_LIST_EACH(&all->list, link)
		mp_workspace_watch_reload(
			&mp_container_of(link, struct mp_hub_workspace, link)->watch);
}

void mp_workspaces_stop(struct mp_workspaces *all)
{
	all->is_stopping = true;
	MP_LIST_EACH(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);

		h->gate = mp_gate_free(h->gate);
		mp_workspace_watch_stop(&h->watch);
	}
}

struct mp_workspaces *mp_workspaces_free(struct mp_workspaces *all)
{
	if (!all)
		return NULL;
	MP_LIST_WALK(&all->list, link) {
		struct mp_hub_workspace *h = mp_container_of(link, struct mp_hub_workspace, link);

		mp_check(h->users.len == 0);
		workspaces_discard(h);
	}
	return mp_free(all);
}

struct mp_str mp_workspaces_get_changes(const struct mp_workspaces *all, uint64_t event)
{
	MP_LIST_EACH(&all->list, link) {
		const struct mp_workspace_watch *w =
			&mp_container_of(link, struct mp_hub_workspace, link)->watch;

		if (w->changes_event == event)
			return mp_buf_get(&w->changes);
	}
	return MP_STR("");
}

void mp_workspaces_write_changes(const struct mp_workspaces *all, size_t room, struct mp_writer *w)
{
	mp_write_begin_array(w);
	MP_LIST_EACH(&all->list, link) {
		struct mp_str changes = mp_buf_get(
			&mp_container_of(link, struct mp_hub_workspace, link)->watch.changes);

		if (changes.len == 0 || changes.len >= room)
			continue;
		mp_write_raw(w, changes);
		room -= changes.len;
	}
	mp_write_end_array(w);
}

size_t mp_workspaces_count(const struct mp_workspaces *all)
{
	return all->list.len;
}

const struct mp_workspace_watch *mp_workspaces_get_own(const struct mp_workspaces *all)
{
	return &all->own->watch;
}
