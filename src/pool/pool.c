/*
 * pool.c - what does run: all instances, the lines they share, waking up and stopping.
 */
#include "pool/pool.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/values/queues.h"
#include "pool/instance.h"
#include "pool/pool_client_parts.h"

enum {
	WAKE_BATCH = 32,    /* servers that are probed at once after a suspend */
	WAKE_EVERY_MS = 50, /* so that 1,000 of them take 1.6 s */
	TRIM_AFTER_MS = 1000,
	STOP_MS = 3000, /* for all of them together (U29) */
};

static struct mp_instance *instance_at(struct mp_link *link)
{
	return mp_container_of(link, struct mp_instance, link);
}

/* --- waking up ------------------------------------------------------------------------------- */

/* Oldest first; whoever was probed moves to the end of the list. */
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
	}
	if (p->to_wake > 0 && !p->is_stopping)
		mp_timer_start(&p->wake_timer, WAKE_EVERY_MS);
}

/* What was asleep with us may be gone: ask, and restart only what is (U12). */
static void jumped(const struct mp_clock_jump *jump, void *u)
{
	struct mp_pool *p = u;

	if (jump->slept_ms == 0)
		return; /* somebody set the date, which nothing here goes by */
	mp_event(p->o.events, 0, MP_EVENT_WOKE_UP, "after %lld s",
		 (long long)(jump->slept_ms / 1000));
	p->to_wake = p->instances.len;
	mp_timer_start(&p->wake_timer, 0);
}

/* --- shared lines ---------------------------------------------------------------------------- */

struct mp_queue *mp_pool_get_queue(struct mp_pool *p, const struct mp_settings *s,
				   struct mp_str name)
{
	struct mp_queue *q = mp_map_get(&p->queues, name);
	struct mp_queue_definition d;

	mp_check(mp_queues_find(s, name, &d));
	if (q) {
		mp_queue_widen(q, d.slots, d.line); /* the largest definition wins */
		return q;
	}
	q = mp_queue_new(p->o.loop, d.slots, d.line, false);
	if (mp_map_set(&p->queues, name, q) == 0)
		return q;
	mp_queue_free(q);
	return NULL;
}

/* --- watchers -------------------------------------------------------------------------------- */

void mp_watcher_join(struct mp_pool *p, struct mp_watcher *w, void (*fn)(void *u, mp_id instance),
		     void *u)
{
	w->fn = fn;
	w->u = u;
	mp_list_append(&p->watchers, &w->link);
}

void mp_watcher_leave(struct mp_pool *p, struct mp_watcher *w)
{
	if (mp_list_linked(&w->link))
		mp_list_remove(&p->watchers, &w->link);
}

void mp_pool_tell_watchers(struct mp_pool *p, mp_id instance)
{
	MP_LIST_EACH(&p->watchers, link) {
		struct mp_watcher *w = mp_container_of(link, struct mp_watcher, link);

		w->fn(w->u, instance);
	}
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

static void tell_stopped(void *u)
{
	struct mp_pool *p = u;
	void (*stopped)(void *u) = p->stopped;

	mp_timer_stop(&p->stop_timer);
	p->stopped = NULL;
	if (stopped)
		stopped(p->stopped_u);
}

/* A thousand servers that were only visited leave 200 MB, of which most is free. */
static void trim(void *u)
{
	(void)u;
	mp_mem_trim();
}

void mp_pool_note_up(struct mp_pool *p)
{
	mp_timer_start(&p->trim_timer, TRIM_AFTER_MS);
}

void mp_pool_note_gone(struct mp_pool *p)
{
	mp_timer_start(&p->trim_timer, TRIM_AFTER_MS);
	if (p->is_stopping && p->stopped && is_all_down(p)) {
		mp_loop_unpost(p->o.loop, &p->stopped_task);
		mp_loop_post(p->o.loop, &p->stopped_task);
	}
}

/* Whoever waits hears of it before the first server is asked to leave (U29). */
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
	MP_LIST_WALK(&p->instances, link) {
		struct mp_instance *in = instance_at(link);

		mp_pool_call_cancel_all(in, session);
		if (in->session == session && session != 0)
			mp_instance_leave(in);
	}
}

/* --- the outside ----------------------------------------------------------------------------- */

struct mp_pool *mp_pool_new(const struct mp_pool_options *options)
{
	struct mp_pool *p = mp_alloc(sizeof(*p));

	p->o = *options;
	mp_ids_init(&p->ids);
	mp_list_init(&p->instances);
	mp_list_init(&p->leaving);
	mp_list_init(&p->homeless);
	mp_list_init(&p->workspaces);
	mp_list_init(&p->watchers);
	mp_ids_init(&p->clients);
	mp_list_init(&p->client_list);
	mp_ids_init(&p->server_requests);
	mp_map_init(&p->by_key, MP_LIMIT_INSTANCES);
	mp_map_init(&p->queues, MP_LIMIT_SERVERS);
	mp_verdicts_init(&p->verdicts);
	p->starts = mp_queue_new(p->o.loop, p->o.init_concurrency, SIZE_MAX, false);
	p->dials = p->o.init_concurrency ? p->starts
					 : mp_queue_new(p->o.loop, MP_LIMIT_DIALS, SIZE_MAX, false);
	mp_timer_init(&p->wake_timer, p->o.loop, wake_some, p);
	mp_timer_init(&p->stop_timer, p->o.loop, tell_stopped, p);
	mp_timer_init(&p->trim_timer, p->o.loop, trim, p);
	mp_task_init(&p->stopped_task, tell_stopped, p);
	mp_loop_at_jump(p->o.loop, &p->jump, jumped, p);
	return p;
}

static void free_all(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_pop(list)))
		mp_instance_free(instance_at(link));
}

struct mp_pool *mp_pool_free(struct mp_pool *p)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	if (!p)
		return NULL;
	mp_check(p->workspaces.len == 0);
	p->is_stopping = true;
	p->stopped = NULL;
	mp_loop_forget_jump(p->o.loop, &p->jump);
	free_all(&p->instances);
	free_all(&p->leaving);
	mp_pool_call_drop_homeless(p);
	mp_pool_client_drop_all(p);
	mp_ids_done(&p->clients);
	mp_ids_done(&p->server_requests);
	mp_timer_stop(&p->wake_timer); /* behind those who were told, and may have done things */
	mp_timer_stop(&p->trim_timer);
	mp_timer_stop(&p->stop_timer);
	mp_loop_unpost(p->o.loop, &p->stopped_task);
	while ((e = mp_map_next(&p->queues, &cursor)))
		mp_queue_free(e->value);
	mp_map_done(&p->queues);
	mp_map_done(&p->by_key);
	if (p->dials != p->starts)
		mp_queue_free(p->dials);
	mp_queue_free(p->starts);
	mp_verdicts_done(&p->verdicts);
	mp_ids_done(&p->ids);
	return mp_free(p);
}

struct mp_events *mp_pool_get_events(const struct mp_pool *p)
{
	return p->o.events;
}

struct mp_loop *mp_pool_get_loop(const struct mp_pool *p)
{
	return p->o.loop;
}

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

size_t mp_pool_count_instances(const struct mp_pool *p)
{
	return p->instances.len + p->leaving.len;
}
