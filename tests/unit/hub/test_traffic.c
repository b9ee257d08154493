/*
 * test_traffic.c - who calls what: flows, days and the hub's own part, from records and events.
 */
#include "test.h"

#include "fleet.h"
#include "hub/traffic.h"

struct scene {
	struct fleet f;
	struct mp_call_log calls;
	struct mp_traffic traffic;
	bool is_open;
};

static void scene_done(struct scene *s)
{
	if (s->is_open) {
		mp_traffic_done(&s->traffic);
		mp_call_log_done(&s->calls);
	}
	fleet_done(&s->f);
}

static bool scene_open(struct scene *s)
{
	const uint64_t key[2] = {1, 2};

	REQUIRE(fleet_init(&s->f));
	REQUIRE(fleet_open(&s->f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	mp_call_log_init(&s->calls, s->f.loop, key);
	mp_traffic_init(&s->traffic, s->f.pool, &s->f.events, &s->calls);
	s->is_open = true;
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(scene_open(&s))

static void call(struct scene *s, mp_id session, const char *server, enum mp_outcome outcome,
		 int64_t took_us)
{
	struct mp_call_record r = {.session = session,
				   .server = server,
				   .method = MP_METHOD_TOOLS_CALL,
				   .outcome = outcome,
				   .took_us = took_us,
				   .hub_us = took_us / 10};

	mp_call_log_add(&s->calls, &r, MP_STR("t"), MP_STR("{}"), false);
}

static int64_t flow_count(struct scene *s, mp_id session, const char *server)
{
	const struct mp_flow *f;
	size_t cursor = 0;

	while ((f = mp_traffic_next_flow(&s->traffic, &cursor)))
		if (f->session == session && strcmp(f->server, server) == 0)
			return mp_history_count_minute(&f->history, mp_loop_now_ms(s->f.loop));
	return -1;
}

TEST(flows_are_pairs_with_calls)
{
	SCENE(s);

	call(&s, 7, "a", MP_OUTCOME_ANSWERED, 1000);
	call(&s, 7, "a", MP_OUTCOME_ANSWERED, 1000);
	call(&s, 8, "a", MP_OUTCOME_TIMEOUT, 0);
	call(&s, 0, "a", MP_OUTCOME_ANSWERED, 1000); /* of no session */
	fleet_settle(&s.f);
	CHECK_EQ(flow_count(&s, 7, "a"), 2);
	CHECK_EQ(flow_count(&s, 8, "a"), 1);
	CHECK_EQ(flow_count(&s, 0, "a"), -1);
	fleet_advance(&s.f, 16 * 60000);
	call(&s, 9, "a", MP_OUTCOME_ANSWERED, 1000);
	fleet_settle(&s.f);
	CHECK_EQ(flow_count(&s, 9, "a"), 1);
	CHECK_EQ(flow_count(&s, 7, "a"), -1); /* without a call for so long it is removed */
}

TEST(failures_are_what_got_no_answer)
{
	uint64_t calls, failed;
	struct mp_day *d;
	SCENE(s);

	CHECK(!mp_traffic_get_day(&s.traffic, "a"));
	call(&s, 7, "a", MP_OUTCOME_ANSWERED, 1000);
	call(&s, 7, "a", MP_OUTCOME_TIMEOUT, 0);
	call(&s, 7, "a", MP_OUTCOME_CANCELLED, 0);
	call(&s, 7, "b", MP_OUTCOME_ANSWERED, 1000);
	fleet_settle(&s.f);
	d = mp_traffic_get_day(&s.traffic, "a");
	CHECK(d);
	mp_day_count_since(d, 0, mp_loop_wall_now_ms(s.f.loop), &calls, &failed);
	CHECK_EQ(calls, 3);
	CHECK_EQ(failed, 1);
	d = mp_traffic_get_day(&s.traffic, NULL);
	mp_day_count_since(d, 0, mp_loop_wall_now_ms(s.f.loop), &calls, &failed);
	CHECK_EQ(calls, 4);
}

/* More in one turn than the ring of records holds: all are counted. */
HEAVY_TEST(a_burst_loses_no_call)
{
	uint64_t calls, failed;
	SCENE(s);

	for (int i = 0; i < 3000; i++)
		call(&s, 7, "a", MP_OUTCOME_ANSWERED, 1000);
	fleet_settle(&s.f);
	mp_day_count_since(s.traffic.all, 0, mp_loop_wall_now_ms(s.f.loop), &calls, &failed);
	CHECK_EQ(calls, 3000);
}

TEST(the_overhead_is_that_of_the_last_quarters)
{
	SCENE(s);

	CHECK_EQ(mp_traffic_get_overhead_us(&s.traffic, 500), -1);
	call(&s, 7, "a", MP_OUTCOME_ANSWERED, 1000);
	fleet_settle(&s.f);
	CHECK_EQ(mp_traffic_get_overhead_us(&s.traffic, 990), 100);
	fleet_advance(&s.f, 15 * 60000);
	CHECK_EQ(mp_traffic_get_overhead_us(&s.traffic, 990), 100);
	fleet_advance(&s.f, 15 * 60000);
	CHECK_EQ(mp_traffic_get_overhead_us(&s.traffic, 990), -1);
}

TEST(a_day_has_the_states)
{
	struct mp_day *d;
	SCENE(s);

	fleet_advance(&s.f, 1000);
	CHECK(fleet_start(&s.f, "a"));
	fleet_advance(&s.f, 1000);
	fleet_die(fleet_get(&s.f, "a"));
	fleet_settle(&s.f);
	d = mp_traffic_get_day(&s.traffic, "a");
	CHECK(d && d->n_changes >= 3);
	CHECK_TEXT(d->changes[0].what, "preparing");
	CHECK_EQ(d->changes[0].state, MP_STATUS_PENDING);
	CHECK_TEXT(d->changes[1].what, "up");
	CHECK_EQ(d->changes[1].state, MP_STATUS_CONNECTED);
	CHECK_EQ(d->changes[2].state, MP_STATUS_FAILED);
}
