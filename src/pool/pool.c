/*
 * pool.c - what all instances share: queues, watchers, the stop.
 */
#include "pool/pool.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/values/queues.h"

enum { TRIM_AFTER_MS = 1000 };

/* --- shared queues --------------------------------------------------------------------------- */

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

static void tell_stopped(void *u)
{
	struct mp_pool *p = u;
	void (*stopped)(void *u) = p->stopped;

	mp_timer_stop(&p->stop_timer);
	p->stopped = NULL;
	if (stopped)
		stopped(p->stopped_u);
}

/* A thousand servers that were only visited leave 200 MB, most of it free heap. */
static void pool_trim(void *u)
{
	(void)u;
	mp_mem_trim();
}

void mp_pool_note_up(struct mp_pool *p)
{
	mp_timer_start(&p->trim_timer, TRIM_AFTER_MS);
}

/* --- interface ------------------------------------------------------------------------------- */

struct mp_pool *mp_pool_new(const struct mp_pool_options *options)
{
	struct mp_pool *p = mp_alloc(sizeof(*p));

	p->o = *options;
	mp_instances_init(p);
	mp_list_init(&p->homeless);
	mp_list_init(&p->workspaces);
	mp_list_init(&p->watchers);
	mp_ids_init(&p->clients);
	p->clients.last = options->session_base;
	mp_list_init(&p->client_list);
	mp_ids_init(&p->server_requests);
	mp_map_init(&p->queues, MP_LIMIT_SERVERS);
	mp_totals_init(&p->gone);
	mp_era_cache_init(&p->era_cache);
	p->starts = mp_queue_new(p->o.loop, p->o.init_concurrency, SIZE_MAX, false);
	p->dials = p->o.init_concurrency ? p->starts
					 : mp_queue_new(p->o.loop, MP_LIMIT_DIALS, SIZE_MAX, false);
	mp_timer_init(&p->stop_timer, p->o.loop, tell_stopped, p);
	mp_timer_init(&p->trim_timer, p->o.loop, pool_trim, p);
	mp_task_init(&p->stopped_task, tell_stopped, p);
	return p;
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
	mp_instances_done(p);
	mp_pool_call_drop_homeless(p);
	mp_pool_client_drop_all(p);
	mp_ids_done(&p->clients);
	mp_ids_done(&p->server_requests);
	mp_timer_stop(&p->wake_timer); /* after the callbacks, which may have started it */
	mp_map_done(&p->by_key);
	mp_ids_done(&p->ids);
	mp_timer_stop(&p->trim_timer);
	mp_timer_stop(&p->stop_timer);
	mp_loop_unpost(p->o.loop, &p->stopped_task);
	while ((e = mp_map_next(&p->queues, &cursor)))
		mp_queue_free(e->value);
	mp_map_done(&p->queues);
	mp_totals_done(&p->gone);
	if (p->dials != p->starts)
		mp_queue_free(p->dials);
	mp_queue_free(p->starts);
	mp_era_cache_done(&p->era_cache);
	return mp_free(p);
}

void mp_pool_set_tracing(struct mp_pool *p, bool is_tracing)
{
	p->is_tracing = is_tracing;
}

bool mp_pool_is_tracing(const struct mp_pool *p)
{
	return p->is_tracing;
}

struct mp_events *mp_pool_get_events(const struct mp_pool *p)
{
	return p->o.events;
}

struct mp_loop *mp_pool_get_loop(const struct mp_pool *p)
{
	return p->o.loop;
}
