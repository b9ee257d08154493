/*
 * traffic.c - who calls what: days, flows, and the hub's own part of calls.
 */
#include "hub/traffic.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

enum {
	QUARTER_MS = MP_HISTORY_SLOTS * MP_HISTORY_SLOT_MS,
	SWEEP_MS = 60000,
};

/* --- days ------------------------------------------------------------------------------------ */

static struct mp_day *traffic_make_day(struct mp_traffic *t, const char *server)
{
	struct mp_day *d = mp_map_get(&t->days, mp_str_of(server));

	if (d)
		return d;
	d = mp_day_new(mp_loop_wall_now_ms(t->loop));
	if (mp_map_set(&t->days, mp_str_of(server), d) < 0)
		return mp_day_free(d); /* too many names: this one has no history */
	return d;
}

struct mp_day *mp_traffic_get_day(struct mp_traffic *t, const char *server)
{
	return server ? mp_map_get(&t->days, mp_str_of(server)) : t->all;
}

/* --- flows ----------------------------------------------------------------------------------- */

/* Sessions end without a word here: what had no call for a quarter of an hour is removed. */
static void flows_sweep(struct mp_traffic *t, int64_t now_ms)
{
	int64_t oldest = now_ms / MP_HISTORY_SLOT_MS - MP_HISTORY_SLOTS;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	if (now_ms - t->swept_ms < SWEEP_MS)
		return;
	t->swept_ms = now_ms;
	while ((e = mp_map_next(&t->flows, &cursor))) {
		struct mp_flow *f = e->value;

		if (f->history.slot > oldest)
			continue;
		(void)mp_map_remove(&t->flows, e->key);
		mp_free(f);
	}
}

static void flow_note(struct mp_traffic *t, const struct mp_call_record *r, int64_t now_ms)
{
	struct mp_str key;
	struct mp_flow *f;
	char text[sizeof(r->session) + MP_LIMIT_NAME + 1];
	size_t n = strlen(r->server);

	if (r->session == 0 || n > MP_LIMIT_NAME)
		return;
	memcpy(text, &r->session, sizeof(r->session));
	memcpy(text + sizeof(r->session), r->server, n);
	key = (struct mp_str){text, sizeof(r->session) + n};
	f = mp_map_get(&t->flows, key);
	if (!f) {
		f = mp_alloc(sizeof(*f) + strlen(r->server) + 1);
		f->session = r->session;
		memcpy(f->server, r->server, strlen(r->server) + 1);
		mp_history_init(&f->history, now_ms);
		if (mp_map_set(&t->flows, key, f) < 0) {
			mp_free(f);
			return;
		}
	}
	mp_history_note(&f->history, now_ms);
}

const struct mp_flow *mp_traffic_next_flow(const struct mp_traffic *t, size_t *cursor)
{
	const struct mp_map_entry *e = mp_map_next(&t->flows, cursor);

	return e ? e->value : NULL;
}

/* --- the hub's own part ---------------------------------------------------------------------- */

static void overhead_advance(struct mp_traffic *t)
{
	int64_t slot = mp_loop_now_ms(t->loop) / QUARTER_MS;

	if (slot == t->overhead_slot)
		return;
	t->overhead_before =
		slot == t->overhead_slot + 1 ? t->overhead : (struct mp_histogram){.longest_us = 0};
	t->overhead = (struct mp_histogram){.longest_us = 0};
	t->overhead_slot = slot;
}

int64_t mp_traffic_get_overhead_us(struct mp_traffic *t, unsigned permille)
{
	struct mp_histogram both;

	overhead_advance(t);
	both = t->overhead_before;
	mp_histogram_add(&both, &t->overhead);
	return mp_histogram_get_us(&both, permille);
}

/* --- what happens ---------------------------------------------------------------------------- */

static bool record_has_failed(const struct mp_call_record *r)
{
	if (r->outcome == MP_OUTCOME_ANSWERED)
		return r->is_error;
	return r->outcome != MP_OUTCOME_CANCELLED;
}

static void traffic_take_call(struct mp_traffic *t, const struct mp_call_record *r)
{
	int64_t now_ms = mp_loop_now_ms(t->loop);
	int64_t took_us = r->outcome == MP_OUTCOME_ANSWERED ? r->took_us : -1;
	struct mp_day *day = traffic_make_day(t, r->server);
	bool has_failed = record_has_failed(r);

	if (day)
		mp_day_note_call(day, r->wall_ms, took_us, has_failed);
	mp_day_note_call(t->all, r->wall_ms, took_us, has_failed);
	mp_history_note(&t->history, now_ms);
	flow_note(t, r, now_ms);
	if (took_us < 0)
		return;
	overhead_advance(t);
	mp_histogram_note(&t->overhead, r->hub_us);
}

/* More calls than the ring holds may end within one turn. */
static void traffic_take_calls(void *u)
{
	struct mp_traffic *t = u;
	const struct mp_call_record *r;
	uint64_t missed;

	while ((r = mp_call_log_read(t->calls, &t->next_call, &missed))) {
		if (missed)
			mp_day_note_missed(t->all, r->wall_ms, missed);
		traffic_take_call(t, r);
	}
	flows_sweep(t, mp_loop_now_ms(t->loop));
}

/* The state on display after this event; false: it is not about the state. */
static bool event_get_state(const struct mp_traffic *t, const struct mp_event *e,
			    enum mp_status_state *ret)
{
	switch (e->kind) {
	case MP_EVENT_PREPARING:
	case MP_EVENT_RENEWING:
		*ret = MP_STATUS_PENDING;
		return true;
	case MP_EVENT_UP:
		*ret = MP_STATUS_CONNECTED;
		return true;
	case MP_EVENT_CLEARING:
	case MP_EVENT_BACKOFF:
	case MP_EVENT_FAILED:
		*ret = MP_STATUS_FAILED;
		return true;
	case MP_EVENT_DOWN:
		*ret = MP_STATUS_READY;
		return true;
	case MP_EVENT_BARRED: /* stays so until a person has come: it is still the state */
		*ret = mp_pool_get_state(t->pool, e->id);
		return true;
	case MP_EVENT_GONE:
		*ret = MP_STATUS_DISABLED;
		return true;
	default:
		return false;
	}
}

static void traffic_take_events(void *u)
{
	struct mp_traffic *t = u;
	const struct mp_event *e;
	enum mp_status_state state;
	uint64_t missed;

	while ((e = mp_events_read(t->events, &t->next_event, &missed))) {
		const char *server = mp_pool_get_name(t->pool, e->id);
		struct mp_day *d;

		if (!server || !event_get_state(t, e, &state))
			continue;
		d = traffic_make_day(t, server);
		if (d)
			mp_day_note_change(d, e->wall_ms, e->what, state, e->text);
	}
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_traffic_init(struct mp_traffic *t, struct mp_pool *pool, struct mp_events *events,
		     struct mp_call_log *calls)
{
	struct mp_loop *loop = mp_pool_get_loop(pool);

	*t = (struct mp_traffic){
		.loop = loop,
		.events = events,
		.calls = calls,
		.pool = pool,
		.next_event = events->last + 1,
		.next_call = calls->last + 1,
		.began_ms = mp_loop_wall_now_ms(loop),
		.swept_ms = mp_loop_now_ms(loop),
		.overhead_slot = mp_loop_now_ms(loop) / QUARTER_MS,
	};
	t->all = mp_day_new(t->began_ms);
	mp_map_init(&t->days, MP_LIMIT_SERVERS);
	mp_map_init(&t->flows, MP_LIMIT_FLOWS);
	mp_history_init(&t->history, mp_loop_now_ms(loop));
	mp_event_listener_join(events, &t->event_listener, traffic_take_events, t);
	mp_call_listener_join(calls, &t->call_listener, traffic_take_calls, t);
}

void mp_traffic_done(struct mp_traffic *t)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	mp_event_listener_leave(t->events, &t->event_listener);
	mp_call_listener_leave(t->calls, &t->call_listener);
	while ((e = mp_map_next(&t->days, &cursor)))
		mp_day_free(e->value);
	cursor = 0;
	while ((e = mp_map_next(&t->flows, &cursor)))
		mp_free(e->value);
	mp_map_done(&t->days);
	mp_map_done(&t->flows);
	mp_day_free(t->all);
}
