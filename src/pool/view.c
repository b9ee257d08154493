/*
 * view.c - the configuration as somebody sees it: which server, and which instance, a name means.
 * A seat is an entry that has its name. It gets an instance when somebody wants the server, so what
 * nobody uses costs next to nothing.
 */
#include "pool/pool.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/party_parts.h"
#include "pool/seat.h"
#include "process/environment.h"

/* A set whose keys are being found. */
struct mp_arrival {
	struct mp_view *view; /* NULL: nobody waits for it any more */
	struct mp_loop *loop;
	struct mp_scene *scene;
	mp_view_fn fn;
	void *u;
	struct mp_task task; /* where it could not even begin */
	int result;
};

/* --- scenes ---------------------------------------------------------------------------------- */

static struct mp_scene *scene_new(struct mp_config_set *set, char *const *env)
{
	struct mp_scene *s = mp_alloc(sizeof(*s));

	s->refs = 1;
	s->set = mp_config_set_ref(set);
	s->env = mp_environment_copy(env);
	return s;
}

struct mp_scene *mp_scene_ref(struct mp_scene *s)
{
	s->refs++;
	return s;
}

struct mp_scene *mp_scene_unref(struct mp_scene *s)
{
	if (!s || --s->refs > 0)
		return NULL;
	mp_config_set_unref(s->set);
	mp_environment_free(s->env);
	mp_free(s->who);
	mp_keys_free(s->keys);
	return mp_free(s);
}

/* --- seats ----------------------------------------------------------------------------------- */

static bool has_its_name(const struct mp_config_set *set, const struct mp_entry *e)
{
	return !e->left_out && mp_config_get_state(set, e, MP_TOGGLE_NONE) != MP_ENTRY_SHADOWED;
}

/* The seats of a scene, in a view that is not yet in use. */
static int make_seats(struct mp_view *v)
{
	struct mp_config_set *set = v->scene->set;
	int r = 0;

	v->seats = mp_try_alloc((set->n + 1) * sizeof(*v->seats));
	if (!v->seats)
		return MCPOOL_ENOMEM;
	for (size_t i = 0; i < set->n && r == 0; i++) {
		if (!has_its_name(set, set->entries[i]))
			continue;
		v->seats[v->n] = (struct mp_seat){.entry = i};
		v->n++;
		r = mp_map_set(&v->by_name, mp_str_of(set->entries[i]->name),
			       (void *)(uintptr_t)v->n);
	}
	return r;
}

static void take_seat(struct mp_view *v, size_t i, struct mp_instance *in)
{
	if (v->seats[i].instance || in->session)
		return;
	v->seats[i].instance = in->id;
	in->seats++;
}

void mp_seat_give_up(struct mp_view *v, size_t i)
{
	struct mp_instance *in = mp_ids_get(&v->pool->ids, v->seats[i].instance);

	if (in)
		in->seats--;
	v->seats[i].instance = 0;
}

/* --- a new set ------------------------------------------------------------------------------- */

static bool is_same(const struct mp_view *before, ptrdiff_t was, const struct mp_view *after,
		    size_t is, const struct mp_instance *in)
{
	enum mp_mode mode = (enum mp_mode)mp_seat_get_entry(after, is)->tuning.mode;

	/* A line of one session at a time is made with the server; see mp_instance_get_queue(). */
	return was >= 0 && mp_seat_get_state(after, is) == MP_ENTRY_READY &&
	       (in->e->tuning.mode == MP_MODE_SERIAL) == (mode == MP_MODE_SERIAL) &&
	       mp_seat_get_key(after, is)->is_known &&
	       mp_instance_find(after->pool, after->scene, after->seats[is].entry, 0) == in &&
	       before->pool == after->pool;
}

/* Who goes on as before takes its instance along (U33). */
static void carry_over(struct mp_view *before, struct mp_view *after)
{
	for (size_t i = 0; i < after->n; i++) {
		ptrdiff_t was = mp_view_find(before, mp_seat_get_entry(after, i)->name);
		struct mp_instance *in =
			was < 0 ? NULL
				: mp_ids_get(&before->pool->ids, before->seats[was].instance);

		if (!in || !is_same(before, was, after, i, in))
			continue;
		mp_seat_give_up(before, (size_t)was);
		take_seat(after, i, in);
		mp_instance_adopt(in, after->scene, after->seats[i].entry);
	}
}

/* What is eager and was not there before is started; what changed comes back as itself. */
static void start_news(struct mp_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct mp_entry *e = mp_seat_get_entry(v, i);

		if (mp_seat_get_state(v, i) == MP_ENTRY_READY && !v->seats[i].instance &&
		    e->tuning.mode != MP_MODE_SESSION && e->tuning.start == MP_START_EAGER)
			mp_view_start_server(v, i, 0, false);
	}
}

/* Private ones that this view made belong to an entry that holds, or to none. */
static void dismiss_private(struct mp_view *v, const struct mp_scene *before)
{
	MP_LIST_WALK(&v->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);
		ptrdiff_t i;

		if (!in->session || in->scene != before)
			continue;
		i = mp_view_find(v, in->e->name);
		if (i >= 0 && mp_seat_get_state(v, (size_t)i) == MP_ENTRY_READY &&
		    mp_seat_get_instance(v, (size_t)i, in->session) == in)
			mp_instance_adopt(in, v->scene, v->seats[i].entry);
		else
			mp_instance_leave(in);
	}
}

static void dismiss_old(struct mp_view *before, mp_id *left, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mp_instance *in = mp_ids_get(&before->pool->ids, left[i]);

		if (in && in->seats == 0)
			mp_instance_leave(in);
	}
}

/* Swap what the view is made of, then let those go whom nobody means any more (C18). */
static void put_in_place(struct mp_view *v, struct mp_view *next)
{
	mp_id *left = mp_alloc((v->n + 1) * sizeof(*left));
	struct mp_view before = *v;
	bool is_first = !v->scene;
	size_t n = 0;

	if (!is_first)
		carry_over(&before, next);
	for (size_t i = 0; i < before.n; i++)
		if (before.seats[i].instance)
			left[n++] = before.seats[i].instance;
	for (size_t i = 0; i < before.n; i++)
		mp_seat_give_up(&before, i);
	v->scene = next->scene;
	v->seats = next->seats;
	v->n = next->n;
	v->by_name = next->by_name;
	dismiss_old(&before, left, n);
	if (!is_first) {
		dismiss_private(v, before.scene);
		start_news(v);
		mp_subscriptions_resettle(v);
	}
	mp_free(left);
	mp_free(before.seats);
	mp_map_done(&before.by_name);
	mp_scene_unref(before.scene);
}

static int take_keys(struct mp_view *v, struct mp_scene *scene, struct mp_keys *keys)
{
	struct mp_view next = {.pool = v->pool, .scene = scene};
	int r;

	scene->keys = keys;
	mp_map_init(&next.by_name, MP_LIMIT_SERVERS);
	r = make_seats(&next);
	for (size_t i = 0; i < next.n; i++)
		next.seats[i].toggle = mp_toggle_recall(v, mp_seat_get_entry(&next, i)->name);
	if (r < 0) {
		mp_free(next.seats);
		mp_map_done(&next.by_name);
		return r;
	}
	mp_scene_ref(scene);
	put_in_place(v, &next);
	return 0;
}

static void finish(struct mp_arrival *a, struct mp_keys *keys, const struct mcpool_error *error)
{
	struct mp_view *v = a->view;
	struct mcpool_error why = error ? *error : (struct mcpool_error){0};
	int r = 0;

	if (v && keys)
		r = take_keys(v, a->scene, keys);
	else
		mp_keys_free(keys);
	if (r < 0)
		(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	if (v) {
		v->arrival = NULL;
		a->fn(v, why.code ? &why : NULL, a->u);
	}
	mp_scene_unref(a->scene);
	mp_free(a);
}

static void identified(struct mp_keys *keys, const struct mcpool_error *error, void *u)
{
	finish(u, keys, error);
}

static void not_begun(void *u)
{
	struct mp_arrival *a = u;
	struct mcpool_error why;

	(void)mp_fail(&why, a->result, "%s", mcpool_error_text(a->result));
	finish(a, NULL, &why);
}

static void arrive(struct mp_view *v, struct mp_scene *scene, mp_view_fn fn, void *u)
{
	const struct mp_pool_options *o = &v->pool->o;
	struct mp_arrival *a = mp_alloc(sizeof(*a));

	*a = (struct mp_arrival){.view = v, .loop = o->loop, .scene = scene, .fn = fn, .u = u};
	mp_task_init(&a->task, not_begun, a);
	if (v->arrival)
		v->arrival->view = NULL;
	v->arrival = a;
	a->result = o->ways->identify(o->ways_u, scene->set, scene->env, identified, a);
	if (a->result < 0)
		mp_loop_post(o->loop, &a->task);
}

/* --- the outside ----------------------------------------------------------------------------- */

struct mp_view *mp_view_open(struct mp_pool *p, struct mp_config_set *set, char *const *env,
			     mp_view_fn ready, void *u)
{
	struct mp_view *v = mp_alloc(sizeof(*v));

	v->pool = p;
	v->env = mp_environment_copy(env);
	mp_map_init(&v->by_name, MP_LIMIT_SERVERS);
	mp_map_init(&v->toggles, MP_LIMIT_SERVERS);
	mp_list_append(&p->views, &v->link);
	arrive(v, scene_new(set, env), ready, u);
	return v;
}

static void name_scene(struct mp_scene *s, const char *who)
{
	s->who = mp_free(s->who);
	if (who)
		s->who = mp_dup(who);
}

void mp_view_set_who(struct mp_view *v, const char *who)
{
	mp_free(v->who);
	v->who = mp_dup(who);
	if (v->arrival)
		name_scene(v->arrival->scene, who);
	if (v->scene)
		name_scene(v->scene, who);
}

void mp_view_set_problem(struct mp_view *v, const char *words)
{
	v->problem = mp_free(v->problem);
	if (words)
		v->problem = mp_dup(words);
}

const char *mp_view_get_problem(const struct mp_view *v)
{
	return v->problem;
}

void mp_view_reload(struct mp_view *v, struct mp_config_set *set, mp_view_fn done, void *u)
{
	struct mp_scene *scene = scene_new(set, v->env);

	name_scene(scene, v->who);
	arrive(v, scene, done, u);
}

struct mp_view *mp_view_close(struct mp_view *v)
{
	if (!v)
		return NULL;
	if (v->arrival)
		v->arrival->view = NULL;
	mp_subscriptions_drop(v);
	for (size_t i = 0; i < v->n; i++)
		mp_seat_give_up(v, i);
	mp_list_remove(&v->pool->views, &v->link);
	mp_map_done(&v->by_name);
	mp_map_done(&v->toggles);
	mp_scene_unref(v->scene);
	mp_environment_free(v->env);
	mp_free(v->who);
	mp_free(v->problem);
	mp_free(v->seats);
	return mp_free(v);
}

struct mp_pool *mp_view_get_pool(const struct mp_view *v)
{
	return v->pool;
}

struct mp_config_set *mp_view_get_set(const struct mp_view *v)
{
	return v->scene ? v->scene->set : NULL;
}

size_t mp_view_count(const struct mp_view *v)
{
	return v->n;
}

const struct mp_entry *mp_view_get_entry(const struct mp_view *v, size_t i)
{
	return mp_seat_get_entry(v, i);
}

ptrdiff_t mp_view_find(const struct mp_view *v, const char *name)
{
	return (ptrdiff_t)(uintptr_t)mp_map_get(&v->by_name, mp_str_of(name)) - 1;
}

ptrdiff_t mp_view_find_id(const struct mp_view *v, mp_id instance)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->seats[i].instance == instance && instance != 0)
			return (ptrdiff_t)i;
	return -1;
}

/* --- who serves a name ----------------------------------------------------------------------- */

static int refuse(const struct mp_view *v, size_t i, struct mcpool_error *reterr)
{
	const struct mp_entry *e = mp_seat_get_entry(v, i);
	const struct mp_key *key = mp_seat_get_key(v, i);

	switch (mp_seat_get_state(v, i)) {
	case MP_ENTRY_DISABLED:
		return mp_fail(reterr, MCPOOL_EDISABLED,
			       "server '%s' is switched off; `mcpool enable %s` switches it on",
			       e->name, e->name);
	case MP_ENTRY_NEEDS_APPROVAL:
		return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
			       "server '%s' waits for your approval: mcpool trust %s", e->name,
			       e->name);
	case MP_ENTRY_FAILED:
		return mp_fail(reterr, MCPOOL_EINVAL, "server '%s': %s", e->name,
			       e->invalid ? e->invalid : e->unapprovable);
	case MP_ENTRY_SHADOWED:
	case MP_ENTRY_READY:
		break;
	}
	if (!key->is_known)
		return mp_fail(reterr, key->code, "%s", key->problem);
	return 0;
}

/* netdata: whoever is first decides what a name means for all (D27). */
static struct mp_instance *find_namesake(struct mp_view *v, size_t i)
{
	const char *name = mp_seat_get_entry(v, i)->name;

	if (v->scene->set->settings.profile != MP_PROFILE_NETDATA)
		return NULL;
	MP_LIST_EACH(&v->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (in->session || strcmp(in->e->name, name) != 0)
			continue;
		mp_event(v->pool->o.events, in->id, MP_EVENT_NAMESAKE,
			 "another configuration has this name, too; the first one counts");
		return in;
	}
	return NULL;
}

struct mp_instance *mp_view_get_instance_at(struct mp_view *v, size_t i, mp_id session,
					    struct mcpool_error *reterr)
{
	struct mp_instance *in;

	if (refuse(v, i, reterr) < 0)
		return NULL;
	in = mp_seat_get_instance(v, i, session);
	if (in)
		mp_instance_follow(in, v->scene, v->seats[i].entry);
	if (!in && mp_seat_get_entry(v, i)->tuning.mode != MP_MODE_SESSION)
		in = find_namesake(v, i);
	if (!in)
		in = mp_instance_new(v->pool, v->scene, v->seats[i].entry, session);
	if (in)
		take_seat(v, i, in);
	else
		(void)mp_fail(reterr, MCPOOL_ELIMIT, "there are too many servers");
	return in;
}

struct mp_instance *mp_view_get_instance(struct mp_view *v, const char *name, mp_id session,
					 struct mcpool_error *reterr)
{
	ptrdiff_t i = mp_view_find(v, name);

	if (i >= 0)
		return mp_view_get_instance_at(v, (size_t)i, session, reterr);
	(void)mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s' any more", name);
	return NULL;
}

void mp_view_start_server(struct mp_view *v, size_t i, mp_id session, bool only_a_visit)
{
	struct mcpool_error why;
	struct mp_instance *in = mp_view_get_instance_at(v, i, session, &why);

	if (in)
		mp_instance_start(in, only_a_visit);
}

int mp_view_reconnect(struct mp_view *v, size_t i, mp_id session, struct mcpool_error *reterr)
{
	struct mcpool_error why;
	struct mp_instance *in = mp_view_get_instance_at(v, i, session, &why);

	if (!in)
		return mp_fail(reterr, why.code, "%s", why.message);
	return mp_instance_renew(in, reterr);
}
