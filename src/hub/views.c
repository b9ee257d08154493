/*
 * views.c - many views of one hub: found by project, profile and environment, or made.
 */
#include "hub/views.h"

#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/expand.h"
#include "config/follow.h"
#include "hub/outlook.h"
#include "process/environment.h"

static const struct mp_log hub_log = {"hub"};

struct mp_look {
	struct mp_link link; /* in its outlook's looks */
	struct mp_outlook *outlook;
	mp_look_fn fn; /* NULL: told */
	void *u;
	bool only_a_look;
	struct mp_task task; /* the view is there already */
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
static bool views_is_same_env(const struct mp_config_set *set, char *const *a, char *const *b)
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
 * certificates included: where that differs, it is another view. Their instances are shared all
 * the same.
 */
static bool is_same_start(const struct mp_outlook *o, const struct mp_config_request *r)
{
	return mp_environment_is_same(o->request.env, r->env);
}

/*
 * root: where it is known already; else the folder itself must be the same. exact: also what
 * servers only inherit is the same.
 */
static struct mp_outlook *find(struct mp_hub *hub, const struct mp_config_request *r,
			       const char *root, bool exact)
{
	MP_LIST_EACH(&hub->outlooks, link) {
		struct mp_outlook *o = mp_container_of(link, struct mp_outlook, link);

		if (!o->is_broken && o->set->root &&
		    (root ? strcmp(o->set->root, root) == 0
			  : strcmp(o->request.cwd, r->cwd) == 0) &&
		    is_same_text(o->request.profile, r->profile) &&
		    views_is_same_env(o->set, o->request.env, r->env) &&
		    (!exact || is_same_start(o, r)))
			return o;
	}
	return NULL;
}

/* --- its life -------------------------------------------------------------------------------- */

static void gate_is_open(void *u)
{
	struct mp_outlook *o = u;

	o->gate = mp_gate_free(o->gate);
}

/* As `serve` does for its own: eager ones start, and unknown ones are asked what they offer. */
static void start_servers(struct mp_outlook *o)
{
	const struct mp_startup *startup = &o->set->settings.startup;
	struct mp_gate_options options = {
		.due = MP_GATE_DUE_EAGER,
		.window_ms = startup->window_ms,
		.uncached = startup->uncached,
		.max_wait_ms = startup->max_wait_ms,
	};

	if (o->is_started || mp_hub_is_stopping(o->hub))
		return;
	o->is_started = true;
	o->gate = mp_gate_open(o->view, &options, gate_is_open, o);
}

static void tell(struct mp_look *l, const struct mcpool_error *error)
{
	mp_look_fn fn = l->fn;

	if (!fn)
		return;
	l->fn = NULL;
	if (!error && !l->only_a_look)
		start_servers(l->outlook);
	fn(l->u, error ? NULL : l->outlook->view, error);
}

static void tell_later(void *u)
{
	static const struct mcpool_error broken = {.code = MCPOOL_EAGAIN,
						   .rpc_code = -32603,
						   .message = "the configuration cannot be used"};
	struct mp_look *l = u;

	tell(l, l->outlook->is_broken ? &broken : NULL);
}

void mp_views_tell(struct mp_outlook *o, const struct mcpool_error *error)
{
	MP_LIST_WALK(&o->looks, link)
		tell(mp_container_of(link, struct mp_look, link), error);
}

static bool is_worth_a_look(const struct mp_look *l)
{
	return l->outlook->is_ready && !(l->only_a_look && l->outlook->is_reloading);
}

static void tell_if_ready(struct mp_look *l)
{
	if (l->fn && is_worth_a_look(l) && !mp_list_linked(&l->task.link))
		mp_loop_post(l->outlook->hub->loop, &l->task);
}

void mp_views_note_reloaded(struct mp_outlook *o)
{
	MP_LIST_EACH(&o->looks, link)
		tell_if_ready(mp_container_of(link, struct mp_look, link));
}

static void is_ready(void *u, const struct mcpool_error *error)
{
	mp_views_tell(u, error);
}

static const struct mp_outlook_hooks hooks = {.ready = is_ready};

static void discard(struct mp_outlook *o)
{
	mp_timer_stop(&o->rest);
	mp_list_remove(&o->hub->outlooks, &o->link);
	mp_gate_free(o->gate);
	mp_outlook_free(o);
}

/* What it shared lives on (D13); its private servers went with their sessions. */
static void is_unused(void *u)
{
	struct mp_outlook *o = u;

	mp_log_verbose(&hub_log, "the view of %s is closed: nobody uses it", o->set->root);
	discard(o);
}

/* The one that was left first; those in use stay. */
static void discard_unused(struct mp_hub *hub)
{
	struct mp_outlook *first = NULL;

	MP_LIST_EACH(&hub->outlooks, link) {
		struct mp_outlook *o = mp_container_of(link, struct mp_outlook, link);

		if (mp_timer_is_running(&o->rest) &&
		    (!first || o->rest.due_ms < first->rest.due_ms))
			first = o;
	}
	if (first)
		is_unused(first);
}

static struct mp_outlook *make(struct mp_hub *hub, const struct mp_config_request *r,
			       struct mp_config_set *set, const char *who)
{
	struct mp_outlook *o = mp_outlook_new(hub, r, set, &hooks, NULL);

	o->u = o;
	mp_outlook_own_request(o);
	o->label = o->own_cwd;
	mp_timer_init(&o->rest, hub->loop, is_unused, o);
	mp_list_append(&hub->outlooks, &o->link);
	mp_outlook_start(o);
	if (who)
		mp_view_set_who(o->view, who);
	return o;
}

/* --- looking --------------------------------------------------------------------------------- */

static int check(struct mp_hub *hub, const struct mp_look_request *request,
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

/* Files are read only where no view of this very folder is at hand. */
static int find_or_make(struct mp_hub *hub, const struct mp_look_request *request,
			struct mp_outlook **ret, struct mcpool_error *reterr)
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
	if (!*ret && hub->outlooks.len >= MP_LIMIT_VIEWS)
		discard_unused(hub);
	if (!*ret && hub->outlooks.len < MP_LIMIT_VIEWS)
		*ret = make(hub, &r, set, request->who);
	if (!*ret && set->root[0]) /* better the servers with another environment than none */
		*ret = find(hub, &r, set->root, false);
	mp_config_set_unref(set);
	return *ret ? 0 : mp_fail(reterr, MCPOOL_ELIMIT, "there are too many projects at once");
}

int mp_hub_look(struct mp_hub *hub, const struct mp_look_request *request, mp_look_fn fn, void *u,
		struct mp_look **ret_look, struct mcpool_error *reterr)
{
	struct mp_outlook *o = NULL;
	struct mp_look *l;
	int r = check(hub, request, reterr);

	if (r == 0 && request->only_a_look && mp_hub_get_watch(hub))
		mp_config_watch_catch_up(mp_hub_get_watch(hub));
	if (r == 0)
		r = find_or_make(hub, request, &o, reterr);
	if (!o)
		return r;
	l = mp_alloc(sizeof(*l));
	l->outlook = o;
	l->fn = fn;
	l->u = u;
	l->only_a_look = request->only_a_look;
	mp_task_init(&l->task, tell_later, l);
	mp_list_append(&o->looks, &l->link);
	if (o != hub->own)
		mp_timer_stop(&o->rest);
	tell_if_ready(l);
	*ret_look = l;
	return 0;
}

struct mp_look *mp_look_free(struct mp_look *l)
{
	struct mp_outlook *o;

	if (!l)
		return NULL;
	o = l->outlook;
	mp_loop_unpost(o->hub->loop, &l->task);
	mp_list_remove(&o->looks, &l->link);
	if (o->looks.len == 0 && o != o->hub->own)
		mp_timer_start(&o->rest, MP_LIMIT_VIEW_IDLE_MS);
	return mp_free(l);
}

size_t mp_hub_count_views(const struct mp_hub *hub)
{
	return hub->outlooks.len;
}

/* --- all of them ----------------------------------------------------------------------------- */

void mp_views_reload(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->outlooks, link)
		mp_outlook_reload(mp_container_of(link, struct mp_outlook, link));
}

void mp_views_stop(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->outlooks, link) {
		struct mp_outlook *o = mp_container_of(link, struct mp_outlook, link);

		o->gate = mp_gate_free(o->gate);
		mp_outlook_stop(o);
	}
}

void mp_views_free(struct mp_hub *hub)
{
	MP_LIST_EACH(&hub->outlooks, link) {
		struct mp_outlook *o = mp_container_of(link, struct mp_outlook, link);

		mp_check(o->looks.len == 0);
		if (o != hub->own)
			discard(o);
	}
}
