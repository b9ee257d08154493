/*
 * test_totals.c - what is counted per name of a server, however many instances come and go.
 */
#include "test.h"

#include "fleet.h"

#include "pool/totals.h"

#define FLEET(f)                                     \
	MP_CLEANUP(fleet_done) struct fleet f = {0}; \
	CHECK(fleet_init(&f))

static const struct mp_total *find(const struct mp_totals *all, const char *name)
{
	const struct mp_total *t;
	size_t cursor = 0;

	while ((t = mp_totals_next(all, &cursor)))
		if (strcmp(t->server, name) == 0)
			return t;
	return NULL;
}

TEST(counts_stay_when_an_instance_goes)
{
	FLEET(f);
	MP_CLEANUP(mp_totals_done) struct mp_totals before;
	MP_CLEANUP(mp_totals_done) struct mp_totals after;
	struct fleet_result r[3];

	mp_totals_init(&before);
	mp_totals_init(&after);
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	CHECK(fleet_start(&f, "a"));
	for (int i = 0; i < 2; i++)
		CHECK(fleet_call(&f, "a", 0, 0, &r[i]));
	fleet_settle(&f);
	mp_pool_sum_up(f.pool, &before);
	CHECK(find(&before, "a"));
	CHECK_EQ(find(&before, "a")->stats.calls, 2);
	CHECK_EQ(find(&before, "a")->up, 1);
	/* Another command is another instance. */
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"c\"}}}"));
	fleet_settle(&f);
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_call(&f, "a", 0, 0, &r[2]));
	fleet_settle(&f);
	mp_pool_sum_up(f.pool, &after);
	CHECK(find(&after, "a"));
	CHECK_EQ(find(&after, "a")->stats.calls, 3);
	CHECK_EQ(find(&after, "a")->stats.measured, 3);
	CHECK(find(&after, "a")->stats.bytes_out > find(&before, "a")->stats.bytes_out);
	CHECK_EQ(find(&after, "a")->up, 1);
}

TEST(a_restart_is_counted_and_stays)
{
	FLEET(f);
	MP_CLEANUP(mp_totals_done) struct mp_totals all;

	mp_totals_init(&all);
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	CHECK(fleet_start(&f, "a"));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 2000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_reload(&f, "{\"mcpServers\":{}}"));
	fleet_settle(&f);
	mp_pool_sum_up(f.pool, &all);
	CHECK(find(&all, "a"));
	CHECK_EQ(find(&all, "a")->restarts, 1);
	CHECK_EQ(find(&all, "a")->up, 0);
}
