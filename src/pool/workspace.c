/*
 * workspace.c - one folder and environment with the servers it sees: maps a name to its server and
 * its instance.
 * An entry gets an instance when its server is first needed; until then it costs almost nothing.
 */
#include "pool/workspace.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/values/trust.h"
#include "pool/pins.h"
#include "process/environment.h"
#include "store/pins.h"

/* A set whose keys are being computed. */
struct mp_arrival {
	struct mp_workspace *workspace; /* NULL: the result is no longer needed */
	struct mp_loop *loop;
	struct mp_workspace_config *config;
	mp_workspace_fn fn; /* NULL: the current set once more, taken only if it has news */
	void *u;
	struct mp_task task; /* reports that it could not begin */
	int result;
};

/* --- entries -----------------------------------------------------------------------------------
 */

static bool has_its_name(const struct mp_config_set *set, const struct mp_entry *e)
{
	return !e->left_out && mp_config_get_state(set, e, MP_TOGGLE_NONE) != MP_STATUS_SHADOWED;
}

/* The entries of a config, in a workspace that is not in use yet. */
static int make_entries(struct mp_workspace *w)
{
	struct mp_config_set *set = w->config->set;
	int r = 0;

	w->entries = mp_try_alloc((set->n + 1) * sizeof(*w->entries));
	if (!w->entries)
		return MCPOOL_ENOMEM;
	for (size_t i = 0; i < set->n && r == 0; i++) {
		if (!has_its_name(set, set->entries[i]))
			continue;
		w->entries[w->n] = (struct mp_workspace_entry){.entry = i};
		w->n++;
		r = mp_map_set(&w->by_name, mp_str_of(set->entries[i]->name),
			       (void *)(uintptr_t)w->n);
	}
	return r;
}

static void take_entry(struct mp_workspace *w, size_t i, struct mp_instance *in)
{
	if (w->entries[i].instance || in->session)
		return;
	w->entries[i].instance = in->id;
	in->n_entries++;
}

void mp_workspace_entry_give_up(struct mp_workspace *w, size_t i)
{
	struct mp_instance *in = mp_ids_get(&w->pool->ids, w->entries[i].instance);

	if (in)
		in->n_entries--;
	w->entries[i].instance = 0;
}

/* --- a new set ------------------------------------------------------------------------------- */

static bool is_same(const struct mp_workspace *before, ptrdiff_t was,
		    const struct mp_workspace *after, size_t is, const struct mp_instance *in)
{
	enum mp_mode mode = (enum mp_mode)mp_workspace_get_entry(after, is)->tuning.mode;

	/* A serial queue is made with the server; see mp_instance_get_queue(). */
	return was >= 0 && after->entries[is].is_wanted &&
	       (in->e->tuning.mode == MP_MODE_SERIAL) == (mode == MP_MODE_SERIAL) &&
	       mp_workspace_entry_get_key(after, is)->is_known &&
	       mp_instance_find(after->pool, after->config, after->entries[is].entry, 0) == in &&
	       before->pool == after->pool;
}

/* An unchanged entry keeps its instance (U33). */
static void carry_over(struct mp_workspace *before, struct mp_workspace *after)
{
	for (size_t i = 0; i < after->n; i++) {
		ptrdiff_t was = mp_workspace_find(before, mp_workspace_get_entry(after, i)->name);
		struct mp_instance *in =
			was < 0 ? NULL
				: mp_ids_get(&before->pool->ids, before->entries[was].instance);

		if (!in || !is_same(before, was, after, i, in))
			continue;
		mp_workspace_entry_give_up(before, (size_t)was);
		take_entry(after, i, in);
		mp_instance_adopt(in, after->config, after->entries[i].entry);
	}
}

/* Starts eager servers that have no instance: new or changed ones. */
static void start_news(struct mp_workspace *w)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct mp_entry *e = mp_workspace_get_entry(w, i);

		if (mp_workspace_entry_get_state(w, i, 0) == MP_STATUS_READY &&
		    !w->entries[i].instance && e->tuning.mode != MP_MODE_SESSION &&
		    e->tuning.start == MP_START_EAGER)
			mp_workspace_start_server(w, i, 0, false);
	}
}

/* A private instance of this workspace is adopted by its entry, or it leaves. */
static void dismiss_private(struct mp_workspace *w, const struct mp_workspace_config *before)
{
	MP_LIST_WALK(&w->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);
		ptrdiff_t i;

		if (!in->session || in->config != before)
			continue;
		i = mp_workspace_find(w, in->e->name);
		if (i >= 0 && mp_workspace_entry_get_instance(w, (size_t)i, in->session) == in)
			mp_instance_adopt(in, w->config, w->entries[i].entry);
		else
			mp_instance_leave(in);
	}
}

static void dismiss_old(struct mp_workspace *before, mp_id *left, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mp_instance *in = mp_ids_get(&before->pool->ids, left[i]);

		if (in && in->n_entries == 0)
			mp_instance_leave(in);
	}
}

/* Replaces the contents of the workspace, then stops instances that no entry refers to (C18). */
static void put_in_place(struct mp_workspace *w, struct mp_workspace *next)
{
	mp_id *left = mp_alloc((w->n + 1) * sizeof(*left));
	struct mp_workspace before = *w;
	bool is_first = !w->config;
	size_t n = 0;

	if (!is_first)
		carry_over(&before, next);
	for (size_t i = 0; i < before.n; i++)
		if (before.entries[i].instance)
			left[n++] = before.entries[i].instance;
	for (size_t i = 0; i < before.n; i++)
		mp_workspace_entry_give_up(&before, i);
	w->config = next->config;
	w->entries = next->entries;
	w->n = next->n;
	w->by_name = next->by_name;
	dismiss_old(&before, left, n);
	if (!is_first) {
		dismiss_private(w, before.config);
		start_news(w);
		mp_subscriptions_resettle(w);
	}
	mp_free(left);
	mp_free(before.entries);
	mp_map_done(&before.by_name);
	mp_workspace_config_unref(before.config);
}

static int take_keys(struct mp_workspace *w, struct mp_workspace_config *config,
		     struct mp_keys *keys)
{
	struct mp_workspace next = {.pool = w->pool, .config = config};
	int r;

	config->keys = keys;
	mp_map_init(&next.by_name, MP_LIMIT_SERVERS);
	r = make_entries(&next);
	for (size_t i = 0; i < next.n; i++)
		mp_workspace_entry_set_state(&next, i, w);
	if (r < 0) {
		mp_free(next.entries);
		mp_map_done(&next.by_name);
		return r;
	}
	mp_workspace_config_ref(config);
	put_in_place(w, &next);
	return 0;
}

static void workspace_finish(struct mp_arrival *a, struct mp_keys *keys,
			     const struct mcpool_error *error)
{
	struct mp_workspace *w = a->workspace;
	struct mcpool_error why = error ? *error : (struct mcpool_error){0};
	int r = 0;

	if (w && keys && (a->fn || mp_workspace_retry_has_news(w, keys)))
		r = take_keys(w, a->config, keys);
	else
		mp_keys_free(keys);
	if (r < 0)
		(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	if (w) {
		w->arrival = NULL;
		mp_workspace_retry_soon(w);
		if (a->fn)
			a->fn(w, why.code ? &why : NULL, a->u);
	}
	mp_workspace_config_unref(a->config);
	mp_free(a);
}

static void workspace_identified(struct mp_keys *keys, const struct mcpool_error *error, void *u)
{
	workspace_finish(u, keys, error);
}

static void not_begun(void *u)
{
	struct mp_arrival *a = u;
	struct mcpool_error why;

	(void)mp_fail(&why, a->result, "%s", mcpool_error_text(a->result));
	workspace_finish(a, NULL, &why);
}

static void workspace_arrive(struct mp_workspace *w, struct mp_workspace_config *config,
			     mp_workspace_fn fn, void *u)
{
	const struct mp_pool_options *o = &w->pool->o;
	struct mp_arrival *a = mp_alloc(sizeof(*a));

	*a = (struct mp_arrival){
		.workspace = w, .loop = o->loop, .config = config, .fn = fn, .u = u};
	mp_task_init(&a->task, not_begun, a);
	if (w->arrival)
		w->arrival->workspace = NULL;
	w->arrival = a;
	a->result = o->launch_ops->identify(o->launch_ops_u, config->set, config->env,
					    workspace_identified, a);
	if (a->result < 0)
		mp_loop_post(o->loop, &a->task);
}

/* --- interface ------------------------------------------------------------------------------- */

struct mp_workspace *mp_workspace_open(struct mp_pool *p, struct mp_config_set *set,
				       char *const *env, mp_workspace_fn ready, void *u)
{
	struct mp_workspace *w = mp_alloc(sizeof(*w));

	w->pool = p;
	w->env = mp_environment_copy(env);
	mp_map_init(&w->by_name, MP_LIMIT_SERVERS);
	mp_map_init(&w->toggles, MP_LIMIT_SERVERS);
	mp_list_append(&p->workspaces, &w->link);
	mp_workspace_retry_init(w);
	workspace_arrive(w, mp_workspace_config_new(set, env), ready, u);
	return w;
}

static void name_config(struct mp_workspace_config *s, const char *who)
{
	s->who = mp_free(s->who);
	if (who)
		s->who = mp_dup(who);
}

void mp_workspace_set_who(struct mp_workspace *w, const char *who)
{
	mp_free(w->who);
	w->who = mp_dup(who);
	if (w->arrival)
		name_config(w->arrival->config, who);
	if (w->config)
		name_config(w->config, who);
}

void mp_workspace_set_problem(struct mp_workspace *w, const char *words)
{
	w->problem = mp_free(w->problem);
	if (words)
		w->problem = mp_dup(words);
}

const char *mp_workspace_get_problem(const struct mp_workspace *w)
{
	return w->problem;
}

void mp_workspace_reload(struct mp_workspace *w, struct mp_config_set *set, mp_workspace_fn done,
			 void *u)
{
	struct mp_workspace_config *config = mp_workspace_config_new(set, w->env);

	name_config(config, w->who);
	workspace_arrive(w, config, done, u);
}

void mp_workspace_identify_again(struct mp_workspace *w)
{
	struct mp_workspace_config *config = mp_workspace_config_new(w->config->set, w->env);

	name_config(config, w->who);
	workspace_arrive(w, config, NULL, NULL);
}

struct mp_workspace *mp_workspace_close(struct mp_workspace *w)
{
	if (!w)
		return NULL;
	if (w->arrival)
		w->arrival->workspace = NULL;
	mp_timer_stop(&w->retry.timer);
	mp_subscriptions_drop(w);
	for (size_t i = 0; i < w->n; i++)
		mp_workspace_entry_give_up(w, i);
	mp_list_remove(&w->pool->workspaces, &w->link);
	mp_map_done(&w->by_name);
	mp_map_done(&w->toggles);
	mp_workspace_config_unref(w->config);
	mp_environment_free(w->env);
	mp_free(w->who);
	mp_free(w->problem);
	mp_free(w->entries);
	return mp_free(w);
}

struct mp_pool *mp_workspace_get_pool(const struct mp_workspace *w)
{
	return w->pool;
}

struct mp_config_set *mp_workspace_get_set(const struct mp_workspace *w)
{
	return w->config ? w->config->set : NULL;
}

size_t mp_workspace_count(const struct mp_workspace *w)
{
	return w->n;
}

const struct mp_entry *mp_workspace_get_entry(const struct mp_workspace *w, size_t i)
{
	return w->config->set->entries[w->entries[i].entry];
}

ptrdiff_t mp_workspace_find(const struct mp_workspace *w, const char *name)
{
	return (ptrdiff_t)(uintptr_t)mp_map_get(&w->by_name, mp_str_of(name)) - 1;
}

ptrdiff_t mp_workspace_find_id(const struct mp_workspace *w, mp_id instance)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->entries[i].instance == instance && instance != 0)
			return (ptrdiff_t)i;
	return -1;
}

/* --- the instance for a name ----------------------------------------------------------------- */

static int refuse_disabled(const struct mp_workspace *w, size_t i, mp_id session,
			   struct mcpool_error *reterr)
{
	const char *name = mp_workspace_get_entry(w, i)->name;

	if (mp_workspace_entry_get_own_toggle(w, i, session) == MP_TOGGLE_OFF)
		return mp_fail(reterr, MCPOOL_EDISABLED,
			       "server '%s' is switched off for this session; `mcpool enable %s "
			       "--session %llu` switches it on",
			       name, name, (unsigned long long)session);
	return mp_fail(reterr, MCPOOL_EDISABLED,
		       "Server \"%s\" is disabled. Run `mcpool enable %s` first.", name, name);
}

static int workspace_refuse(const struct mp_workspace *w, size_t i, mp_id session,
			    struct mcpool_error *reterr)
{
	const struct mp_entry *e = mp_workspace_get_entry(w, i);
	const struct mp_key *key = mp_workspace_entry_get_key(w, i);
	char command[PATH_MAX + 300];

	switch (mp_workspace_entry_get_state(w, i, session)) {
	case MP_STATUS_DISABLED:
		return refuse_disabled(w, i, session, reterr);
	case MP_STATUS_NEEDS_APPROVAL:
		mp_trust_get_command(e, command, sizeof(command));
		return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
			       "server '%s' waits for your approval: %s", e->name, command);
	case MP_STATUS_FAILED:
		return mp_fail(reterr, MCPOOL_EINVAL, "server '%s': %s", e->name,
			       e->invalid ? e->invalid : e->unapprovable);
	default: /* ready */
		break;
	}
	if (!key->is_known)
		return mp_fail(reterr, key->code, "%s", key->problem);
	return 0;
}

static bool is_private(const struct mp_workspace *w, size_t i)
{
	return mp_workspace_get_entry(w, i)->tuning.mode == MP_MODE_SESSION;
}

/* netdata: the first configuration of a name is used by all (D27). */
static struct mp_instance *find_namesake(struct mp_workspace *w, size_t i)
{
	const char *name = mp_workspace_get_entry(w, i)->name;

	if (w->config->set->settings.profile != MP_PROFILE_NETDATA)
		return NULL;
	MP_LIST_EACH(&w->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (in->session || strcmp(in->e->name, name) != 0)
			continue;
		mp_event(w->pool->o.events, in->id, MP_EVENT_NAMESAKE,
			 "another configuration has this name, too; the first one counts");
		return in;
	}
	return NULL;
}

struct mp_instance *mp_workspace_get_instance_at(struct mp_workspace *w, size_t i, mp_id session,
						 struct mcpool_error *reterr)
{
	struct mp_instance *in;

	if (workspace_refuse(w, i, session, reterr) < 0)
		return NULL;
	if (session == 0 && is_private(w, i)) { /* all sessions would share it */
		(void)mp_fail(reterr, MCPOOL_EINVAL, "server '%s' runs for a session only",
			      mp_workspace_get_entry(w, i)->name);
		return NULL;
	}
	in = mp_workspace_entry_get_instance(w, i, session);
	if (in)
		mp_instance_follow(in, w->config, w->entries[i].entry);
	if (!in && mp_workspace_get_entry(w, i)->tuning.mode != MP_MODE_SESSION)
		in = find_namesake(w, i);
	if (!in)
		in = mp_instance_new(w->pool, w->config, w->entries[i].entry,
				     mp_pool_client_get_home(w->pool, session));
	if (!in) {
		(void)mp_fail(reterr, MCPOOL_ELIMIT, "there are too many servers");
		return NULL;
	}
	take_entry(w, i, in);
	in->is_borrowed = in->is_borrowed || (in->session && in->session != session);
	return in;
}

struct mp_instance *mp_workspace_get_instance(struct mp_workspace *w, const char *name,
					      mp_id session, struct mcpool_error *reterr)
{
	ptrdiff_t i = mp_workspace_find(w, name);

	if (i >= 0)
		return mp_workspace_get_instance_at(w, (size_t)i, session, reterr);
	(void)mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s' any more", name);
	return NULL;
}

void mp_workspace_start_server(struct mp_workspace *w, size_t i, mp_id session, bool only_a_visit)
{
	struct mcpool_error why;
	struct mp_instance *in = mp_workspace_get_instance_at(w, i, session, &why);

	if (in)
		mp_instance_start(in, only_a_visit);
}

/* The instances of all its sessions; there may be none. */
static int reconnect_private(struct mp_workspace *w, size_t i, struct mcpool_error *reterr)
{
	int r = 0;

	MP_LIST_WALK(&w->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (r == 0 && in->session &&
		    mp_workspace_entry_get_instance(w, i, in->session) == in)
			r = mp_instance_renew(in, reterr);
	}
	return r;
}

int mp_workspace_reconnect(struct mp_workspace *w, size_t i, mp_id session,
			   struct mcpool_error *reterr)
{
	struct mcpool_error why;
	struct mp_instance *in;

	if (session == 0 && is_private(w, i))
		return reconnect_private(w, i, reterr);
	in = mp_workspace_get_instance_at(w, i, session, &why);
	if (!in)
		return mp_fail(reterr, why.code, "%s", why.message);
	return mp_instance_renew(in, reterr);
}

/* --- pins ------------------------------------------------------------------------------------ */

static int note_used_pins(const struct mp_workspace *w, struct mp_pins_batch *b)
{
	int r = 0;

	for (size_t i = 0; w->config && i < w->n && r == 0; i++) {
		const struct mp_entry *e = mp_workspace_get_entry(w, i);
		struct mp_pins_owner owner;

		mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &owner);
		r = mp_pins_batch_use(b, &owner);
	}
	return r;
}

void mp_workspace_note_used_pins(struct mp_pool *p, struct mp_pins_batch *b)
{
	MP_LIST_EACH(&p->workspaces, link) {
		if (note_used_pins(mp_container_of(link, struct mp_workspace, link), b) < 0) {
			mp_buf_clear(&b->used); /* an incomplete list protects nothing */
			return;
		}
	}
}

bool mp_workspace_is_frozen(struct mp_workspace *w, size_t i, mp_id session, struct mp_str tool)
{
	const struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in && mp_pins_is_frozen(in->pins, tool);
}
