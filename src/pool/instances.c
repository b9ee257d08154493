/*
 * instances.c - all instances of a pool: probed after a suspend, stopped, freed.
 */
#include <string.h>

#include "base/limits.h"
#include "pool/instance.h"
#include "pool/usage.h"

enum {
	WAKE_BATCH = 32,    /* servers probed at the same time after a suspend */
	WAKE_EVERY_MS = 50, /* 1,000 servers take 1.6 s */
	TRIM_AFTER_MS = 1000,
	STOP_MS = 3000, /* limit for all of them together (U29) */
};

static struct mp_instance *instance_at(struct mp_link *link)
{
	return mp_container_of(link, struct mp_instance, link);
}

/* --- what may have changed ------------------------------------------------------------------- */

void mp_pool_set_files(struct mp_pool *p, struct mp_config_watch *files)
{
	p->files = files;
}

static void retry_remote(struct mp_instance *in)
{
	if (in->e->kind != MP_KIND_STDIO)
		mp_instance_retry(in);
}

void mp_pool_note_network(struct mp_pool *p)
{
	MP_LIST_WALK(&p->instances, link)
		retry_remote(instance_at(link));
}

/* After a login, those that wait for it go on; after a logout, none keeps its connection. */
static void note_login(struct mp_instance *in, bool has_token)
{
	struct mcpool_error why;
	enum mp_keeper_state state = mp_keeper_get_facts(in->k)->state;
	bool is_up = mp_keeper_is_up(in->k);

	if (has_token ? state == MP_KEEPER_BARRED || state == MP_KEEPER_BACKOFF : is_up)
		(void)!mp_instance_renew(in, &why); /* one that is leaving goes on with that */
}

struct mp_str mp_pool_find_challenge(struct mp_pool *p, const char *server)
{
	MP_LIST_EACH(&p->instances, link) {
		const struct mp_keeper_facts *f = mp_keeper_get_facts(instance_at(link)->k);

		if (strcmp(instance_at(link)->e->name, server) == 0 &&
		    f->why.code == MCPOOL_ENEEDS_AUTH)
			return f->challenge;
	}
	return MP_STR("");
}

void mp_pool_note_login(struct mp_pool *p, const char *server, bool has_token)
{
	MP_LIST_WALK(&p->instances, link)
		if (strcmp(instance_at(link)->e->name, server) == 0)
			note_login(instance_at(link), has_token);
}

/* --- after a suspend ------------------------------------------------------------------------- */

/* Oldest first. A probed instance moves to the end of the list. */
static void wake_some(void *u)
{
	struct mp_pool *p = u;

	for (int i = 0; i < WAKE_BATCH && p->to_wake > 0; i++) {
		struct mp_link *link = mp_list_pop(&p->instances);

		if (!link)
			break;
		mp_list_append(&p->instances, link);
		p->to_wake--;
		mp_keeper_suspect(instance_at(link)->k, "the machine woke up");
		retry_remote(instance_at(link)); /* perhaps in another network */
	}
	if (p->to_wake > 0 && !p->is_stopping)
		mp_timer_start(&p->wake_timer, WAKE_EVERY_MS);
}

/* A connection may have died during the suspend. Probe each, and restart only the dead (U12). */
static void instances_jumped(const struct mp_clock_jump *jump, void *u)
{
	struct mp_pool *p = u;

	if (jump->slept_ms == 0)
		return; /* the wall clock was set; nothing here depends on it */
	mp_event(p->o.events, 0, MP_EVENT_WOKE_UP, "after %lld s",
		 (long long)(jump->slept_ms / 1000));
	p->to_wake = p->instances.len;
	mp_timer_start(&p->wake_timer, 0);
}

/* --- stopping -------------------------------------------------------------------------------- */

static bool is_all_down(struct mp_pool *p)
{
	MP_LIST_EACH(&p->instances, link)
		if (mp_keeper_get_facts(instance_at(link)->k)->state != MP_KEEPER_DOWN)
			return false;
	MP_LIST_EACH(&p->leaving, link)
		if (mp_keeper_get_facts(instance_at(link)->k)->state != MP_KEEPER_DOWN)
			return false;
	return true;
}

void mp_pool_note_gone(struct mp_pool *p)
{
	mp_timer_start(&p->trim_timer, TRIM_AFTER_MS);
	if (p->is_stopping && p->stopped && is_all_down(p)) {
		mp_loop_unpost(p->o.loop, &p->stopped_task);
		mp_loop_post(p->o.loop, &p->stopped_task);
	}
}

/* Waiting calls are refused before the first server is stopped (U29). */
void mp_pool_stop(struct mp_pool *p, void (*stopped)(void *u), void *u)
{
	p->is_stopping = true;
	p->stopped = stopped;
	p->stopped_u = u;
	mp_timer_stop(&p->wake_timer);
	MP_LIST_EACH(&p->instances, link)
		mp_pool_call_wake_all(instance_at(link));
	MP_LIST_WALK(&p->instances, link)
		mp_keeper_stop(instance_at(link)->k);
	MP_LIST_WALK(&p->leaving, link)
		mp_keeper_stop(instance_at(link)->k);
	mp_timer_start(&p->stop_timer, STOP_MS);
	mp_pool_note_gone(p);
}

void mp_pool_end_session(struct mp_pool *p, mp_id session)
{
	MP_LIST_EACH(&p->leaving, link)
		mp_pool_call_cancel_all(instance_at(link), session);
	MP_LIST_WALK(&p->instances, link)
		mp_pool_call_cancel_all(instance_at(link), session);
	mp_instances_end_private(p, session);
}

void mp_instances_end_private(struct mp_pool *p, mp_id home)
{
	if (home == 0 || mp_pool_client_has_member(p, home))
		return;
	MP_LIST_WALK(&p->instances, link)
		if (instance_at(link)->session == home)
			mp_instance_leave(instance_at(link));
}

/* --- interface ------------------------------------------------------------------------------- */

const char *mp_pool_get_name(const struct mp_pool *p, mp_id instance)
{
	const struct mp_instance *in = mp_ids_get(&p->ids, instance);

	return in ? in->e->name : NULL;
}

bool mp_pool_is_remote(const struct mp_pool *p, mp_id instance)
{
	const struct mp_instance *in = mp_ids_get(&p->ids, instance);

	return in && in->e->kind != MP_KIND_STDIO;
}

const struct mp_log *mp_pool_get_log(const struct mp_pool *p, mp_id instance)
{
	const struct mp_instance *in = mp_ids_get(&p->ids, instance);

	return in ? &in->log : NULL;
}

const struct mp_settings *mp_pool_get_settings(const struct mp_pool *p, mp_id instance)
{
	const struct mp_instance *in = mp_ids_get(&p->ids, instance);

	return in ? &in->config->set->settings : NULL;
}

size_t mp_pool_count_instances(const struct mp_pool *p)
{
	return p->instances.len + p->leaving.len;
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_instances_init(struct mp_pool *p)
{
	mp_ids_init(&p->ids);
	mp_list_init(&p->instances);
	mp_list_init(&p->leaving);
	mp_map_init(&p->by_key, MP_LIMIT_INSTANCES);
	mp_timer_init(&p->wake_timer, p->o.loop, wake_some, p);
	mp_loop_at_jump(p->o.loop, &p->jump, instances_jumped, p);
}

static void free_all(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_pop(list)))
		mp_instance_free(instance_at(link));
}

void mp_instances_done(struct mp_pool *p)
{
	mp_loop_forget_jump(p->o.loop, &p->jump);
	free_all(&p->instances);
	free_all(&p->leaving);
}

/* --- what they have counted ------------------------------------------------------------------ */

static void instance_add_to(struct mp_instance *in, struct mp_totals *to)
{
	struct mp_total *total = mp_totals_get(to, mp_str_of(in->e->name));
	const struct mp_tree_usage *used = mp_usage_get(in);

	if (!total)
		return;
	mp_stats_add(&total->stats, &in->stats);
	total->restarts += mp_keeper_get_facts(in->k)->restarts;
	total->up += mp_keeper_is_up(in->k);
	total->waiting += in->calls[MP_POOL_CALL_WAITING].len + in->calls[MP_POOL_CALL_LINED].len;
	total->open += in->calls[MP_POOL_CALL_OUT].len;
	if (!used)
		return;
	total->usage.memory += used->memory;
	total->usage.processes += used->processes;
}

void mp_pool_sum_up(struct mp_pool *p, struct mp_totals *to)
{
	mp_totals_add(to, &p->gone);
	MP_LIST_EACH(&p->instances, link)
		instance_add_to(mp_container_of(link, struct mp_instance, link), to);
	MP_LIST_EACH(&p->leaving, link)
		instance_add_to(mp_container_of(link, struct mp_instance, link), to);
}
