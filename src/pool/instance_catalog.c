/*
 * instance_catalog.c - the catalog of an instance: fetched at each start and after changes, saved
 * in the store, dropped from memory after the stop. Also dispatches its notifications.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/values/filter.h"
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
	struct mp_stored_catalog_key key = mp_instance_get_definition_key(in);

	if (in->pool->o.db)
		mp_server_catalog_save(in->catalog.last, in->pool->o.db, &key,
				       mp_loop_wall_now_ms(loop_of(in)), &in->log);
}

static void take_offer(struct mp_instance *in, struct mp_server_catalog *offer,
		       enum mp_event_kind kind)
{
	size_t tools = offer->lists[MP_CATALOG_TOOL]->list.n;
	size_t prompts = offer->lists[MP_CATALOG_PROMPT]->list.n;
	size_t resources = offer->lists[MP_CATALOG_RESOURCE]->list.n;

	in->catalog.last = mp_server_catalog_unref(in->catalog.last);
	in->catalog.last = offer;
	mp_event(in->pool->o.events, in->id, kind, "%zu tool%s, %zu prompt%s, %zu resource%s",
		 tools, tools == 1 ? "" : "s", prompts, prompts == 1 ? "" : "s", resources,
		 resources == 1 ? "" : "s");
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

/* Names for one log line; those that do not fit are counted. */
struct catalog_names {
	char text[MP_LIMIT_LOG_LINE - 256];
	size_t len, n, more;
};

static void catalog_names_add(struct catalog_names *s, struct mp_str name)
{
	s->n++;
	if (s->more || name.len + sizeof(", ") > sizeof(s->text) - s->len)
		s->more++;
	else
		s->len += (size_t)snprintf(s->text + s->len, sizeof(s->text) - s->len, "%s%.*s",
					   s->n > 1 ? ", " : "", MP_STR_ARGS(name));
}

static void catalog_names_log(const struct catalog_names *s, const struct mp_log *log,
			      enum mp_level level, const char *words)
{
	char more[32] = "";

	if (s->more)
		snprintf(more, sizeof(more), " and %zu more", s->more);
	mp_log_write(log, level, "%s: %s%s", words, s->text, more);
}

/* Tools that the lists of the entry hide from every session (E57). */
static MP_COLD void catalog_log_filtered(const struct mp_instance *in,
					 const struct mp_catalog_list *l)
{
	const struct mp_entry *e = in->e;
	struct catalog_names hidden = {.text = ""};
	char words[80];

	for (size_t i = 0; i < l->n; i++)
		if (!mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied, l->items[i].name))
			catalog_names_add(&hidden, l->items[i].name);
	snprintf(words, sizeof(words), "filtered out %zu of %zu tools", hidden.n, l->n);
	if (hidden.n)
		catalog_names_log(&hidden, &in->log, MP_LEVEL_VRB, words);
}

static MP_COLD void catalog_log_names(const struct mp_instance *in, const struct mp_catalog_list *l)
{
	struct catalog_names all = {.text = ""};

	for (size_t i = 0; i < l->n; i++)
		catalog_names_add(&all, l->items[i].name);
	if (all.n)
		catalog_names_log(&all, &in->log, MP_LEVEL_TRC, mp_catalog_get_method(l->kind));
}

static void instance_catalog_log(const struct mp_instance *in, const struct mp_catalog_list *l)
{
	if (l->kind == MP_CATALOG_TOOL && mp_log_wants(MP_LEVEL_VRB))
		catalog_log_filtered(in, l);
	if (mp_log_wants(MP_LEVEL_TRC))
		catalog_log_names(in, l);
}

static bool is_same_offer(const struct mp_server_catalog *a, const struct mp_server_catalog *b)
{
	for (int i = 0; i < MP_CATALOG_COUNT; i++)
		if (!mp_server_catalog_list_equals(&a->lists[i]->list, &b->lists[i]->list))
			return false;
	return true;
}

static void instance_catalog_fetched(struct mp_server_catalog *offer,
				     const struct mcpool_error *error, void *u)
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
	for (int i = 0; i < MP_CATALOG_COUNT && offer; i++)
		instance_catalog_log(in, &offer->lists[i]->list);
	if (offer)
		take_offer(in, offer, news ? MP_EVENT_OFFERS : MP_EVENT_OFFERS_THE_SAME);
	mp_keeper_listed(in->k, error);
}

static void instance_catalog_refetched(void *u, struct mp_server_catalog_list *list)
{
	struct mp_instance *in = u;
	const struct mp_server_catalog *o = in->catalog.last;

	if (list->list.kind == MP_CATALOG_TOOL)
		mp_pins_judge(&in->pins, in->pool, in->id, in->e, &list->list);
	if (!o || mp_server_catalog_list_equals(&o->lists[list->list.kind]->list, &list->list)) {
		mp_server_catalog_list_unref(list); /* only a change is reported */
	} else {
		tell_left_out(in, &list->list);
		instance_catalog_log(in, &list->list);
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

static const struct mp_refresh_hooks refresh_hooks = {instance_catalog_refetched, refetch_failed};

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
				    in->pool->o.skipped_lists, instance_catalog_fetched, in,
				    &in->catalog.fetch);

	if (r == 0)
		return;
	in->catalog.fetch = NULL;
	mp_instance_note_not_begun(in, "listing", r);
}

/* While nothing runs, the store has the catalog too; queued writes are done by now. */
static void forget_offer(void *u)
{
	struct mp_instance *in = u;
	struct mp_stored_catalog_key key = mp_instance_get_definition_key(in);
	struct mp_stored_catalog d;

	if (mp_keeper_get_facts(in->k)->state == MP_KEEPER_DOWN &&
	    mp_stored_catalog_peek(in->pool->o.db, &key, mp_loop_wall_now_ms(loop_of(in)), &d) > 0)
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

	if (in->pool->o.said)
		mp_notifications_add(in->pool->o.said, &in->said, in->e->name, m);
	if (in->catalog.refresh && mp_refresh_hear(in->catalog.refresh, m))
		return;
	if (!mp_pool_client_hear(in, m) && in->catalog.on_unheard)
		in->catalog.on_unheard(in->catalog.on_unheard_u, mp_value_source(m->tape, MP_ROOT));
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_instance_init_catalog(struct mp_instance *in)
{
	mp_timer_init(&in->catalog.forget, loop_of(in), forget_offer, in);
	mp_notification_source_init(&in->said);
}

void mp_instance_done_catalog(struct mp_instance *in)
{
	mp_timer_stop(&in->catalog.forget);
	mp_notification_source_done(in->pool->o.said, &in->said);
	mp_server_catalog_unref(in->catalog.last);
	mp_pins_reset(&in->pins);
}
