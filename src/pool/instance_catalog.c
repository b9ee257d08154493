/*
 * instance_catalog.c - the catalog of an instance: fetched at each start and after changes, saved
 * in the store, dropped from memory after the stop. Also dispatches its notifications.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "pool/instance.h"
#include "pool/pool_client.h"
#include "pool/pins.h"

enum { FORGET_MS = 5000 }; /* delay after the stop until the catalog is dropped from memory */
enum { MAX_LEFT_OUT = 5 }; /* maximum of broken items logged one by one */

static struct mp_loop *loop_of(const struct mp_instance *in)
{
	return in->pool->o.loop;
}

/* --- its lists ------------------------------------------------------------------------------- */

static void remember(struct mp_instance *in)
{
	struct mp_definition_key key = mp_instance_get_definition_key(in);

	if (in->pool->o.db)
		mp_server_catalog_save(in->catalog.last, in->pool->o.db, &key,
				       mp_loop_wall_now_ms(loop_of(in)));
}

static void take_offer(struct mp_instance *in, struct mp_server_catalog *offer,
		       enum mp_event_kind kind)
{
	in->catalog.last = mp_server_catalog_unref(in->catalog.last);
	in->catalog.last = offer;
	mp_event(in->pool->o.events, in->id, kind, "%zu tools, %zu prompts, %zu resources",
		 offer->lists[MP_CATALOG_TOOL]->list.n, offer->lists[MP_CATALOG_PROMPT]->list.n,
		 offer->lists[MP_CATALOG_RESOURCE]->list.n);
	mp_instance_touch(in, MP_SERVER_CATALOG);
	remember(in);
}

/* Broken items are left out and logged (P18, S35). */
static void tell_left_out(struct mp_instance *in, const struct mp_catalog_list *l)
{
	size_t i;

	for (i = 0; i < l->n_problems && i < MAX_LEFT_OUT; i++)
		mp_event(in->pool->o.events, in->id, MP_EVENT_LEFT_OUT, "%s", l->problems[i]);
	if (i < l->n_problems)
		mp_event(in->pool->o.events, in->id, MP_EVENT_LEFT_OUT, "%zu more",
			 l->n_problems - i);
}

static bool is_same_offer(const struct mp_server_catalog *a, const struct mp_server_catalog *b)
{
	for (int i = 0; i < MP_CATALOG_COUNT; i++)
		if (!mp_server_catalog_list_equals(&a->lists[i]->list, &b->lists[i]->list))
			return false;
	return true;
}

static void fetched(struct mp_server_catalog *offer, const struct mcpool_error *error, void *u)
{
	struct mp_instance *in = u;
	bool news;

	in->catalog.fetch = NULL;
	if (offer)
		mp_pins_judge(&in->pins, in->pool, in->id, in->e,
			      &offer->lists[MP_CATALOG_TOOL]->list);
	news = offer && (!in->catalog.last || !is_same_offer(in->catalog.last, offer));
	for (int i = 0; i < MP_CATALOG_COUNT && news; i++)
		tell_left_out(in, &offer->lists[i]->list);
	if (offer)
		take_offer(in, offer, news ? MP_EVENT_OFFERS : MP_EVENT_OFFERS_THE_SAME);
	mp_keeper_listed(in->k, error);
}

static void refetched(void *u, struct mp_server_catalog_list *list)
{
	struct mp_instance *in = u;
	const struct mp_server_catalog *o = in->catalog.last;

	if (list->list.kind == MP_CATALOG_TOOL)
		mp_pins_judge(&in->pins, in->pool, in->id, in->e, &list->list);
	if (!o || mp_server_catalog_list_equals(&o->lists[list->list.kind]->list, &list->list)) {
		mp_server_catalog_list_unref(list); /* only a change is reported */
	} else {
		tell_left_out(in, &list->list);
		take_offer(in, mp_server_catalog_replace(in->catalog.last, list),
			   MP_EVENT_OFFERS_CHANGED);
	}
	mp_pool_tell_watchers(in->pool, in->id); /* a refresh may have been requested */
}

static void refetch_failed(void *u, enum mp_catalog_kind kind, const struct mcpool_error *why)
{
	struct mp_instance *in = u;

	(void)kind;
	mp_event(in->pool->o.events, in->id, MP_EVENT_REFRESH_FAILED, "%s", why->message);
	mp_pool_tell_watchers(in->pool, in->id);
}

static const struct mp_refresh_hooks refresh_hooks = {refetched, refetch_failed};

/* The keeper requests the lists. */
void mp_instance_ask_lists(void *u)
{
	struct mp_instance *in = u;
	struct mp_upstream *up = mp_keeper_get_upstream(in->k);
	int r;

	/* Made first, so that no change is missed. */
	in->catalog.refresh =
		mp_refresh_new(up, loop_of(in), in->e->tuning.timeout_ms, &refresh_hooks, in);
	r = mp_server_catalog_fetch(up, loop_of(in), in->e->tuning.timeout_ms,
				    in->pool->o.skipped_lists, fetched, in, &in->catalog.fetch);

	if (r == 0)
		return;
	in->catalog.fetch = NULL;
	mp_instance_note_not_begun(in, "listing", r);
}

/* While nothing runs, the store has the catalog too; queued writes are done by now. */
static void forget_offer(void *u)
{
	struct mp_instance *in = u;
	struct mp_definition_key key = mp_instance_get_definition_key(in);
	struct mp_definition d;

	if (mp_keeper_get_facts(in->k)->state == MP_KEEPER_DOWN &&
	    mp_definitions_peek(in->pool->o.db, &key, mp_loop_wall_now_ms(loop_of(in)), &d) > 0)
		in->catalog.last = mp_server_catalog_unref(in->catalog.last);
}

void mp_instance_forget_catalog_soon(struct mp_instance *in)
{
	if (in->catalog.last && in->pool->o.db)
		mp_timer_start(&in->catalog.forget, FORGET_MS);
}

/* --- from its upstream ----------------------------------------------------------------------- */

void mp_instance_let_go(void *u)
{
	struct mp_instance *in = u;

	if (in->catalog.fetch)
		mp_server_catalog_abandon(in->catalog.fetch);
	in->catalog.fetch = NULL;
	mp_loop_unpost(loop_of(in), &in->start.failed_task);
	in->catalog.refresh = mp_refresh_free(in->catalog.refresh);
	in->logging.told = -1;
	mp_attribution_forget(in);
}

void mp_instance_listen(struct mp_instance *in, void (*fn)(void *u, struct mp_str text), void *u)
{
	in->catalog.on_unheard = fn;
	in->catalog.on_unheard_u = u;
}

void mp_instance_hear(void *u, const struct mp_message *m)
{
	struct mp_instance *in = u;

	if (in->catalog.refresh && mp_refresh_hear(in->catalog.refresh, m))
		return;
	if (!mp_pool_client_hear(in, m) && in->catalog.on_unheard)
		in->catalog.on_unheard(in->catalog.on_unheard_u, mp_value_source(m->tape, MP_ROOT));
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_instance_init_catalog(struct mp_instance *in)
{
	mp_timer_init(&in->catalog.forget, loop_of(in), forget_offer, in);
}

void mp_instance_done_catalog(struct mp_instance *in)
{
	mp_timer_stop(&in->catalog.forget);
	mp_server_catalog_unref(in->catalog.last);
	mp_pins_reset(&in->pins);
}
