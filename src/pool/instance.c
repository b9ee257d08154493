/*
 * instance.c - one server of the pool: connects its keeper, its calls and the store.
 * The keeper reports state changes. This file updates waiting calls, the board and the next start.
 */
#include "pool/instance.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/values/queues.h"
#include "config/values/trust.h"
#include "pool/pins.h"
#include "pool/retry_watch.h"
#include "process/environment.h"
#include "store/eras.h"

static struct mp_loop *loop_of(const struct mp_instance *in)
{
	return in->pool->o.loop;
}

static struct mp_str key_of(const struct mp_instance *in)
{
	return (struct mp_str){(const char *)in->key, sizeof(in->key)};
}

struct mp_stored_catalog_key mp_instance_get_definition_key(const struct mp_instance *in)
{
	return (struct mp_stored_catalog_key){in->e->name, key_of(in)};
}

void mp_instance_touch(struct mp_instance *in, uint32_t fields)
{
	mp_touch(&in->node, fields);
}

/* --- starting -------------------------------------------------------------------------------- */

static void instance_prepared(struct mp_launch_plan *plan, const struct mcpool_error *error,
			      void *u)
{
	struct mp_instance *in = u;
	const struct mp_launch_ops *launch_ops = in->pool->o.launch_ops;
	struct mp_str key = {NULL, 0};

	if (!error)
		key = (struct mp_str){(const char *)launch_ops->get_key(plan), MP_DIGEST_SIZE};
	mp_keeper_prepared(in->k, key, error);
}

/* A start that could not begin is reported later, like every other failure. */
static void tell_not_begun(void *u)
{
	struct mp_instance *in = u;
	struct mcpool_error why = in->start.failed;

	if (mp_keeper_get_facts(in->k)->state == MP_KEEPER_LISTING)
		mp_keeper_listed(in->k, &why);
	else
		mp_keeper_prepared(in->k, (struct mp_str){NULL, 0}, &why);
}

void mp_instance_note_not_begun(struct mp_instance *in, const char *stage, int r)
{
	(void)mp_fail(&in->start.failed, r, "%s: %s", stage, mcpool_error_text(r));
	mp_loop_post(loop_of(in), &in->start.failed_task);
}

/* Reuses the era that an earlier run detected. */
static void recall_era(struct mp_instance *in)
{
	int64_t now = mp_loop_wall_now_ms(loop_of(in));
	enum mp_era era = mp_eras_get(in->pool->o.db, key_of(in), now);

	if (era != MP_ERA_BOTH &&
	    mp_era_cache_get(&in->pool->era_cache, key_of(in), now) == MP_ERA_BOTH)
		mp_era_cache_set(&in->pool->era_cache, key_of(in), era, now);
}

static void note_environment(struct mp_instance *in)
{
	const struct mp_workspace_config *config = in->config;
	size_t n = mp_environment_count(config->env);

	mp_workspace_config_unref(in->start.config);
	in->start.config = mp_workspace_config_ref(in->config);
	snprintf(in->start.environment, sizeof(in->start.environment), "%s, %zu variable%s",
		 config->who            ? config->who
		 : in->pool->o.one_shot ? "the command line"
					: "the hub",
		 n, n == 1 ? "" : "s");
}

/* A revocation without a notification takes effect at the next start. */
static int confirm_approval(struct mp_instance *in, struct mcpool_error *reterr)
{
	const struct mp_pool_options *o = &in->pool->o;
	bool changed;
	int r = mp_trust_confirm(in->config->set, in->e, o->db, mp_loop_wall_now_ms(o->loop),
				 &changed, reterr);

	if (changed && o->on_approvals_changed)
		o->on_approvals_changed(o->u);
	return r;
}

static void prepare_now(void *u)
{
	struct mp_instance *in = u;
	const struct mp_pool_options *o = &in->pool->o;
	char mark[sizeof(MP_ENVIRONMENT_SESSION) + 24];
	int r;

	recall_era(in);
	note_environment(in);
	if (confirm_approval(in, &in->start.failed) < 0) {
		mp_loop_post(o->loop, &in->start.failed_task);
		return;
	}
	snprintf(mark, sizeof(mark), MP_ENVIRONMENT_SESSION "=%llu",
		 (unsigned long long)in->session);
	r = o->launch_ops->prepare(o->launch_ops_u, in->config->set, in->e, in->config->env,
				   in->session ? mark : NULL, instance_prepared, in,
				   &in->start.plan);
	if (r < 0)
		mp_instance_note_not_begun(in, "preparing", r);
}

/* initConcurrency: each start needs a slot. */
static void instance_prepare(void *u)
{
	struct mp_instance *in = u;
	bool is_remote = in->e->kind != MP_KIND_STDIO;
	struct mp_queue *line = is_remote ? in->pool->dials : in->pool->starts;
	int r = mp_queue_enter(line, &in->start.ticket, in->id, prepare_now, NULL, in);

	if (r > 0)
		prepare_now(in);
	mp_check(r >= 0); /* its line is unlimited */
}

static void instance_unprepare(void *u)
{
	struct mp_instance *in = u;

	mp_queue_leave(&in->start.ticket);
	mp_loop_unpost(loop_of(in), &in->start.failed_task);
	in->start.plan = in->pool->o.launch_ops->drop(in->pool->o.launch_ops_u, in->start.plan);
}

static int instance_dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct mp_instance *in = u;

	return in->pool->o.launch_ops->dial(in->pool->o.launch_ops_u, in->start.plan, ret, reterr);
}

static void files_changed(void *u)
{
	mp_instance_retry(u);
}

static void instance_await_change(void *u)
{
	struct mp_instance *in = u;
	const struct mp_pool_options *o = &in->pool->o;
	struct mp_launch_command command;

	if (in->pool->files && in->start.plan && !in->start.follower &&
	    o->launch_ops->get_command(in->start.plan, &command))
		in->start.follower =
			mp_retry_watch_follow(in->pool->files, &command, files_changed, in);
}

/* --- after a step ---------------------------------------------------------------------------- */

/* A configured era is not cached, because `auto` must still detect it. */
static struct mp_era_cache *get_era_cache(const struct mp_instance *in)
{
	return in->e->tuning.era == MP_ERA_BOTH ? &in->pool->era_cache : NULL;
}

static void remember_era(struct mp_instance *in)
{
	int64_t now = mp_loop_wall_now_ms(loop_of(in));
	struct mp_era_cache *era_cache = get_era_cache(in);

	if (era_cache)
		mp_eras_set(in->pool->o.db, key_of(in),
			    mp_era_cache_get(era_cache, key_of(in), now), now);
}

static void is_up(struct mp_instance *in)
{
	mp_timer_stop(&in->start.patience);
	in->start.marked_ms = -1;
	instance_unprepare(in); /* the values are no longer needed */
	remember_era(in);
	mp_pool_client_tell_level(in);
	mp_subscriptions_renew(in);
	mp_pool_note_up(in->pool);
}

static void instance_vanish(void *u)
{
	struct mp_instance *in = u;

	mp_list_remove(&in->pool->leaving, &in->link);
	mp_instance_free(in);
}

/* Until then the pool owns it, and the pool may be freed first. */
static void vanish_soon(struct mp_instance *in)
{
	if (mp_list_linked(&in->stay.vanish.link))
		return;
	mp_instance_touch(in, MP_SERVER_GONE);
	mp_event(in->pool->o.events, in->id, MP_EVENT_GONE, "%s", in->e->name);
	mp_loop_post(loop_of(in), &in->stay.vanish);
}

static void is_down(struct mp_instance *in)
{
	mp_instance_forget_catalog_soon(in);
	in->start.marked_ms = -1;
	mp_timer_stop(&in->start.patience);
	mp_timer_stop(&in->stay.idle);
	if (in->stay.is_leaving && mp_instance_count_calls(in) == 0)
		vanish_soon(in);
	mp_pool_note_gone(in->pool);
}

/* Calls do not wait for a start that was given up. */
static void instance_mark(struct mp_instance *in)
{
	if (in->start.marked_ms < 0)
		in->start.marked_ms = mp_loop_now_ms(loop_of(in));
	mp_timer_stop(&in->start.patience);
}

/* An attempt that failed with the environment of another session says nothing of this one's. */
static void retry_if_other_environment(struct mp_instance *in)
{
	enum mp_keeper_state state = mp_keeper_get_facts(in->k)->state;
	struct mcpool_error why;

	if ((state == MP_KEEPER_BACKOFF || state == MP_KEEPER_FAILED) && in->start.config &&
	    !mp_environment_is_same(in->start.config->env, in->config->env))
		(void)!mp_instance_renew(in, &why); /* on failure it is stopping */
}

bool mp_instance_will_retry(const struct mp_instance *in)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);
	bool is_failing = f->state == MP_KEEPER_BACKOFF || f->state == MP_KEEPER_FAILED;

	if (!in->start.config || mp_environment_is_same(in->start.config->env, in->config->env))
		return false;
	return is_failing ? mp_list_linked(&in->wake_task.link)
			  : f->state == MP_KEEPER_CLEARING && f->why.code != MCPOOL_ENEEDS_AUTH;
}

/* Runs once per turn, after all steps, because a woken call may cause the next step. */
static void instance_wake(void *u)
{
	struct mp_instance *in = u;

	retry_if_other_environment(in); /* a session may have come while an attempt ran */
	mp_pool_call_wake_all(in);
	if (in->stay.is_leaving)
		mp_instance_note_use(in);
}

void mp_instance_wake_soon(struct mp_instance *in)
{
	if (!mp_list_linked(&in->wake_task.link))
		mp_loop_post(loop_of(in), &in->wake_task);
}

static void instance_moved(void *u, enum mp_keeper_state from)
{
	struct mp_instance *in = u;
	enum mp_keeper_state to = mp_keeper_get_facts(in->k)->state;
	bool was_up = from == MP_KEEPER_UP || from == MP_KEEPER_CHECKING;

	mp_instance_touch(in, MP_SERVER_STATE);
	if (to != MP_KEEPER_FAILED)
		in->start.follower = mp_follower_leave(in->start.follower);
	if (to == MP_KEEPER_UP && !was_up)
		is_up(in);
	if (to == MP_KEEPER_FAILED && !mp_keeper_get_facts(in->k)->was_up)
		instance_mark(in);
	if (to == MP_KEEPER_BARRED)
		mp_timer_stop(&in->start.patience); /* no attempt is running */
	if (to == MP_KEEPER_DOWN)
		is_down(in);
	mp_pool_tell_watchers(in->pool, in->id);
	mp_instance_wake_soon(in);
	if (to == MP_KEEPER_UP)
		mp_instance_note_use(in);
}

static const struct mp_keeper_hooks keeper_hooks = {
	.prepare = instance_prepare,
	.unprepare = instance_unprepare,
	.await_change = instance_await_change,
	.dial = instance_dial,
	.list = mp_instance_ask_lists,
	.let_go = mp_instance_let_go,
	.moved = instance_moved,
	.notification = mp_instance_hear,
};

/* --- use ------------------------------------------------------------------------------------- */

/* 60 s after the first start began, all calls that wait for it fail together (E31, E35). */
static void acquire_is_over(void *u)
{
	struct mp_instance *in = u;

	instance_mark(in);
	mp_event(in->pool->o.events, in->id, MP_EVENT_ACQUIRE_TIMEOUT,
		 "not up within %lld s; retries go on", (long long)MP_LIMIT_ACQUIRE_MS / 1000);
	in->start.is_timing_out = true;
	mp_pool_call_wake_all(in);
	in->start.is_timing_out = false;
	mp_pool_tell_watchers(in->pool, in->id);
}

/* Until the server is up or given up. */
static void time_first_start(struct mp_instance *in)
{
	if (!mp_keeper_get_facts(in->k)->was_up && in->start.marked_ms < 0 &&
	    !mp_timer_is_running(&in->start.patience))
		mp_timer_start(&in->start.patience, MP_LIMIT_ACQUIRE_MS);
}

void mp_instance_start(struct mp_instance *in, bool only_a_visit)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);

	if (in->pool->is_stopping || in->stay.is_leaving)
		return;
	if (!only_a_visit)
		in->stay.is_visit = false;
	else if (f->state == MP_KEEPER_DOWN)
		in->stay.is_visit = true;
	time_first_start(in);
	mp_keeper_start(in->k);
}

int mp_instance_renew(struct mp_instance *in, struct mcpool_error *reterr)
{
	if (in->pool->is_stopping)
		return mp_fail(reterr, MCPOOL_EUNAVAILABLE, "server '%s': mcpool is stopping",
			       in->e->name);
	in->stay.is_visit = false;
	in->start.marked_ms = -1;
	mp_timer_stop(&in->start.patience);
	time_first_start(in);
	mp_keeper_renew(in->k, "");
	return 0;
}

/* Calls wait for this start as for the first one: the failure before says little about it. */
void mp_instance_retry(struct mp_instance *in)
{
	if (mp_keeper_awaits_change(in->k)) {
		in->start.marked_ms = -1;
		time_first_start(in);
	}
	mp_keeper_retry(in->k);
}

static void idle_for_long(void *u)
{
	struct mp_instance *in = u;

	mp_event(in->pool->o.events, in->id, MP_EVENT_IDLE, "%s",
		 in->stay.is_visit ? "its catalog is known, and no session needs it yet"
				   : "not called for a while");
	mp_keeper_stop(in->k);
}

static void instance_drained(void *u)
{
	struct mp_instance *in = u;

	mp_keeper_stop(in->k); /* calls that are still at the server end with outcome unknown */
	mp_pool_call_cancel_all(in, 0);
}

size_t mp_instance_count_calls(const struct mp_instance *in)
{
	size_t n = 0;

	for (int i = 0; i < MP_POOL_CALL_STATE_COUNT; i++)
		n += in->calls[i].len;
	return n;
}

/* Idle time counts from the last call (U14). A visit ends when the catalog is known. */
void mp_instance_note_use(struct mp_instance *in)
{
	size_t open = mp_instance_count_calls(in);

	mp_instance_touch(in, MP_SERVER_CALLS);
	if (open > 0) {
		in->stay.is_visit = false;
		mp_timer_stop(&in->stay.idle);
	} else if (in->stay.is_leaving) {
		if (mp_keeper_get_facts(in->k)->state == MP_KEEPER_DOWN)
			is_down(in);
		else
			mp_keeper_stop(in->k);
	} else if (mp_keeper_is_up(in->k) && in->stay.is_visit) {
		mp_timer_start(&in->stay.idle, 0);
	} else if (mp_keeper_is_up(in->k) && in->e->tuning.idle_ms > 0 &&
		   in->topics.list.len == 0 &&
		   !mp_timer_is_running(&in->stay.idle)) { /* a probe or crash is not a use */
		mp_timer_start(&in->stay.idle, in->e->tuning.idle_ms);
	}
}

void mp_instance_note_end(struct mp_instance *in)
{
	if (in->stay.is_leaving)
		mp_instance_wake_soon(in);
	else
		mp_instance_note_use(in);
}

bool mp_instance_is_up(struct mp_instance *in)
{
	return mp_keeper_is_up(in->k) && mp_upstream_is_ready(mp_keeper_get_upstream(in->k));
}

bool mp_instance_is_netdata(const struct mp_instance *in)
{
	return in->config->set->settings.profile == MP_PROFILE_NETDATA;
}

bool mp_instance_is_marked(const struct mp_instance *in)
{
	return in->start.marked_ms >= 0;
}

/* --- its queue ------------------------------------------------------------------------------- */

static void find_definition(const struct mp_instance *in, struct mp_str tool,
			    struct mp_queue_definition *ret)
{
	const struct mp_settings *s = &in->config->set->settings;

	if (!mp_queues_find(s, mp_queues_choose(in->e, tool), ret))
		mp_check(mp_queues_find(s, MP_STR("default"), ret)); /* always defined */
}

static bool has_one_queue(const struct mp_instance *in)
{
	return !in->e->tuning.queue && in->e->tool_queues.n == 0;
}

size_t mp_instance_get_line(const struct mp_instance *in, struct mp_str tool)
{
	struct mp_queue_definition d;

	find_definition(in, tool, &d);
	return d.line;
}

/* The default queue belongs to one server. A named queue is shared by all servers that name it. */
struct mp_queue *mp_instance_get_queue(struct mp_instance *in, struct mp_str tool)
{
	bool is_serial = in->e->tuning.mode == MP_MODE_SERIAL;
	struct mp_queue_definition d;
	struct mp_queue *named = NULL;

	if (in->queue && has_one_queue(in)) /* of the right size: see set_config() */
		return in->queue;
	find_definition(in, tool, &d);
	if (!is_serial && !mp_str_eq(d.name, MP_STR("default")))
		named = mp_pool_get_queue(in->pool, &in->config->set->settings, d.name);
	if (named)
		return named;
	if (in->queue)
		mp_queue_widen(in->queue, d.slots, d.line);
	else
		in->queue = mp_queue_new(loop_of(in), d.slots, d.line, is_serial);
	return in->queue;
}

/* --- making and freeing ---------------------------------------------------------------------- */

/* Private to one session, private to one project, or shared (doc/design.md 4). */
static int write_map_key(struct mp_buf *out, const struct mp_workspace_config *config, size_t entry,
			 mp_id session)
{
	const struct mp_entry *e = config->set->entries[entry];
	const struct mp_key *key = &config->keys->of[entry];
	int r = mp_buf_addf(out, "%s", e->name);

	if (r == 0)
		r = mp_buf_add_char(out, '\0');
	if (r == 0)
		r = mp_buf_add(out, key->bytes, sizeof(key->bytes));
	if (r == 0) /* an upstream keeps its era, so another era setting needs another instance */
		r = mp_buf_add_char(out, (char)('0' + (int)e->tuning.era));
	if (r == 0 && e->tuning.mode == MP_MODE_PROJECT)
		r = mp_buf_addf(out, "%s", config->set->root);
	if (r == 0 && e->tuning.mode == MP_MODE_SESSION)
		r = mp_buf_addf(out, "#%llu", (unsigned long long)session);
	return r;
}

struct mp_instance *mp_instance_find(struct mp_pool *p, const struct mp_workspace_config *config,
				     size_t entry, mp_id session)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf key;

	mp_buf_init(&key, MP_KIB(16));
	if (write_map_key(&key, config, entry, session) < 0)
		return NULL;
	return mp_map_get(&p->by_key, mp_buf_get(&key));
}

/* Private servers of the netdata profile get one retry (D4); one-shot runs get none. */
static void make_policy(const struct mp_instance *in, struct mp_policy *ret)
{
	struct mp_restart restart = in->e->tuning.restart;

	if (mp_instance_is_netdata(in) && in->e->tuning.mode == MP_MODE_SESSION &&
	    restart.mode == MP_RESTART_RELENTLESS)
		restart.mode = MP_RESTART_ONCE;
	if (in->pool->o.one_shot)
		restart.mode = MP_RESTART_NONE;
	mp_policy_init(ret, &restart, in->e->kind != MP_KIND_STDIO);
}

static void make_tuning(const struct mp_instance *in, struct mp_keeper_tuning *ret)
{
	const struct mp_tuning *t = &in->e->tuning;

	*ret = (struct mp_keeper_tuning){
		.timeout_ms = t->timeout_ms,
		.list_probe = t->health_probe == MP_HEALTH_LIST_TOOLS,
		.start_probe = t->probes_at_start,
		.interval_ms = in->pool->o.one_shot ? 0 : t->health_interval_ms,
	};
	make_policy(in, &ret->policy);
}

/*
 * Capabilities declared to a legacy server (doc/design.md 4): only requests that can be attributed.
 * A modern server gets them with each call.
 */
static void instance_declare(const struct mp_instance *in, struct mp_upstream_options *o)
{
#define QUESTIONS "\"sampling\":{},\"elicitation\":{\"form\":{},\"url\":{}}}"
	bool is_private = in->e->tuning.mode == MP_MODE_SESSION;

	o->declares = is_private ? MP_STR("{\"roots\":{\"listChanged\":true}," QUESTIONS)
				 : MP_STR("{\"roots\":{}," QUESTIONS);
	if (in->pool->o.one_shot)
		o->declares = in->pool->o.capabilities;
	o->by_stream = !is_private && in->e->tuning.mode != MP_MODE_SERIAL;
#undef QUESTIONS
}

static void make_keeper(struct mp_instance *in)
{
	struct mp_keeper_options options = {
		.loop = loop_of(in),
		.events = in->pool->o.events,
		.id = in->id,
		.log = &in->log,
		.upstream = {.eras = (enum mp_era)in->e->tuning.era,
			     .me = in->pool->o.me,
			     .answerer = mp_instance_requests_get_answerer(in),
			     .era_cache = get_era_cache(in)},
	};

	if (options.upstream.answerer)
		instance_declare(in, &options.upstream);

	make_tuning(in, &options.tuning);
	in->k = mp_keeper_new(&options, &keeper_hooks, in);
}

static void set_config(struct mp_instance *in, struct mp_workspace_config *config, size_t entry)
{
	struct mp_workspace_config *before = in->config;
	struct mp_queue_definition d;

	in->config = mp_workspace_config_ref(config);
	in->e = config->set->entries[entry];
	mp_workspace_config_unref(before);
	if (!in->queue || !has_one_queue(in))
		return;
	find_definition(in, (struct mp_str){NULL, 0}, &d);
	mp_queue_widen(in->queue, d.slots, d.line); /* a reload may raise the limits */
}

/* A reload may change log.names. */
static void instance_name_log(struct mp_instance *in)
{
	mp_settings_name_server(&in->config->set->settings, in->e->name, in->id, &in->log);
}

struct mp_instance *mp_instance_new(struct mp_pool *p, struct mp_workspace_config *config,
				    size_t entry, mp_id session)
{
	struct mp_instance *in = mp_alloc(sizeof(*in));

	*in = (struct mp_instance){.pool = p, .start = {.marked_ms = -1}, .logging = {.told = -1}};
	set_config(in, config, entry);
	memcpy(in->key, config->keys->of[entry].bytes, sizeof(in->key));
	in->session = in->e->tuning.mode == MP_MODE_SESSION ? session : 0;
	for (int i = 0; i < MP_POOL_CALL_STATE_COUNT; i++)
		mp_list_init(&in->calls[i]);
	mp_stats_init(&in->stats);
	mp_instance_requests_init(in);
	mp_subscriptions_init(in);
	mp_list_init(&in->attribution.ids);
	mp_timer_init(&in->start.patience, p->o.loop, acquire_is_over, in);
	mp_timer_init(&in->stay.idle, p->o.loop, idle_for_long, in);
	mp_timer_init(&in->stay.drain, p->o.loop, instance_drained, in);
	mp_task_init(&in->wake_task, instance_wake, in);
	mp_task_init(&in->start.failed_task, tell_not_begun, in);
	mp_task_init(&in->stay.vanish, instance_vanish, in);
	mp_buf_init(&in->map_key, MP_KIB(16));
	if (write_map_key(&in->map_key, config, entry, session) < 0 ||
	    mp_map_set(&p->by_key, mp_buf_get(&in->map_key), in) < 0) {
		mp_buf_done(&in->map_key);
		mp_workspace_config_unref(in->config);
		return mp_free(in);
	}
	in->id = mp_ids_add(&p->ids, in);
	mp_node_init(&in->node, p->o.board, in->id);
	instance_name_log(in);
	mp_instance_init_catalog(in);
	make_keeper(in);
	mp_list_append(&p->instances, &in->link);
	return in;
}

struct mp_instance *mp_instance_free(struct mp_instance *in)
{
	uint64_t restarts;

	if (!in)
		return NULL;
	restarts = mp_keeper_get_facts(in->k)->restarts;
	in->k = mp_keeper_free(in->k); /* ends the calls at the server */
	mp_pool_call_drop_all(in);
	mp_follower_leave(in->start.follower);
	mp_timer_stop(&in->start.patience);
	mp_timer_stop(&in->stay.idle);
	mp_timer_stop(&in->stay.drain);
	mp_loop_unpost(loop_of(in), &in->wake_task);
	mp_loop_unpost(loop_of(in), &in->stay.vanish);
	mp_subscriptions_done(in);
	mp_attribution_forget(in);
	mp_queue_free(in->queue);
	mp_instance_done_catalog(in);
	mp_totals_keep(&in->pool->gone, mp_str_of(in->e->name), &in->stats, restarts);
	mp_stats_done(&in->stats);
	mp_ids_remove(&in->pool->ids, in->id);
	mp_workspace_config_unref(in->config);
	mp_workspace_config_unref(in->start.config);
	mp_buf_done(&in->map_key);
	return mp_free(in);
}

/* A start that waited for an approval or a login may succeed now; a failed one is tried (A56). */
static void try_again(struct mp_instance *in)
{
	mp_keeper_stop(in->k);
	if (in->e->tuning.start == MP_START_EAGER)
		mp_instance_start(in, false);
}

/* Pins may have been accepted, or the mode may have changed. */
static void reconsider_pins(struct mp_instance *in)
{
	bool had_frozen = mp_pins_reset(&in->pins);

	if (in->catalog.refresh && (had_frozen || in->e->tuning.pins == MP_PINS_FREEZE))
		mp_refresh_again(in->catalog.refresh, MP_CATALOG_TOOL);
}

void mp_instance_adopt(struct mp_instance *in, struct mp_workspace_config *config, size_t entry)
{
	int64_t idle_ms = in->e->tuning.idle_ms;
	struct mp_keeper_tuning tuning;

	set_config(in, config, entry);
	instance_name_log(in);
	make_tuning(in, &tuning);
	mp_keeper_tune(in->k, &tuning);
	if (in->e->tuning.idle_ms != idle_ms)
		mp_timer_stop(&in->stay.idle);
	reconsider_pins(in);
	mp_instance_note_use(in);
	if (mp_keeper_get_facts(in->k)->state == MP_KEEPER_BARRED ||
	    mp_keeper_get_facts(in->k)->state == MP_KEEPER_FAILED)
		try_again(in);
}

void mp_instance_follow(struct mp_instance *in, struct mp_workspace_config *config, size_t entry)
{
	if (in->config == config || mp_keeper_is_up(in->k) ||
	    memcmp(in->key, config->keys->of[entry].bytes, sizeof(in->key)) != 0 ||
	    mp_environment_is_same(in->config->env, config->env))
		return;
	mp_instance_adopt(in, config, entry);
	retry_if_other_environment(in);
}

/* Calls at the server may finish. All others look up their server again. */
void mp_instance_leave(struct mp_instance *in)
{
	if (in->stay.is_leaving)
		return;
	in->stay.is_leaving = true;
	mp_map_remove(&in->pool->by_key, mp_buf_get(&in->map_key));
	mp_list_remove(&in->pool->instances, &in->link);
	mp_list_append(&in->pool->leaving, &in->link);
	mp_event(in->pool->o.events, in->id, MP_EVENT_DRAINING, "%zu calls are with it",
		 in->calls[MP_POOL_CALL_OUT].len);
	mp_pool_call_move_all(in);
	mp_timer_start(&in->stay.drain, MP_LIMIT_DRAIN_MS);
	mp_instance_note_use(in);
}
