/*
 * test_control_watch.c - mcpool/watch and mcpool/history: all of it once, then what changed.
 */
#include "control_stage.h"

/* Turns until it was said; the clock is real. */
static bool hears(struct desk *d, const char *part)
{
	for (int i = 0; i < 100 && !said(d, part); i++)
		mp_loop_turn(d->hub->loop, true);
	return said(d, part);
}

HEAVY_TEST(all_of_it_and_then_what_changed)
{
	DESK;

	CHECK(ask(&d, "mcpool/watch", "{}", "\"result\":{\"time\":"));
	CHECK(said(&d, "\"servers\":[{\"name\":\"a\",\"state\":\"disabled\""));
	CHECK(said(&d, "\"sessions\":[]") && said(&d, "\"flows\":[]") &&
	      said(&d, "\"running\":[]"));
	CHECK(said(&d, "\"overheadUs\":null") && said(&d, "\"callsToday\":0") &&
	      said(&d, "\"problem\":null"));
	mp_buf_clear(&d.said);
	CHECK(hears(&d, "\"method\":\"mcpool/watch/changed\""));
	CHECK(said(&d, "\"hub\":{") && !said(&d, "\"servers\":[") && !said(&d, "\"sessions\":["));
	CHECK(ask(&d, "mcpool/server/enable", "{\"name\":\"a\"}", "\"result\":{}"));
	mp_buf_clear(&d.said);
	CHECK(hears(&d, "\"servers\":[{\"name\":\"a\",\"state\":\"needs-approval\""));
	CHECK(said(&d, "\"health\":{")); /* why, and what to type */
	CHECK(!said(&d, "\"name\":\"b\""));
}

/* A peer that does not read gets the differences when it has read. */
HEAVY_TEST(a_stalled_peer_costs_nothing)
{
	DESK;

	CHECK(ask(&d, "mcpool/watch", "{}", "\"result\":{\"time\":"));
	mp_buf_clear(&d.said);
	d.held = MP_MIB(1);
	CHECK(ask(&d, "mcpool/server/enable", "{\"name\":\"a\"}", "\"result\":{}"));
	mp_buf_clear(&d.said);
	for (int i = 0; i < 60; i++)
		mp_loop_turn(d.hub->loop, true);
	CHECK_EQ(d.said.len, 0);
	d.held = 1;
	mp_control_flushed(d.c);
	CHECK(said(&d, "\"name\":\"a\",\"state\":\"needs-approval\"") ||
	      hears(&d, "\"name\":\"a\",\"state\":\"needs-approval\""));
}

HEAVY_TEST(a_history_is_asked_for)
{
	DESK;

	CHECK(ask(&d, "mcpool/history", "{\"server\":\"a\",\"hours\":1}",
		  "\"result\":{\"server\":\"a\",\"from\":"));
	CHECK(said(&d, "\"stepMs\":30000") && said(&d, "\"changes\":[]"));
	CHECK(ask(&d, "mcpool/history", "{}", "\"result\":{\"from\":"));
	CHECK(said(&d, "\"stepMs\":300000"));
	CHECK(ask(&d, "mcpool/history", "{\"hours\":0}", "`hours` must be 1 to 24"));
	CHECK(ask(&d, "mcpool/history", "{\"hours\":25}", "`hours` must be 1 to 24"));
	CHECK(ask(&d, "mcpool/history", "{\"server\":5}", "`server` must be"));
	CHECK(ask(&d, "mcpool/history", "{\"server\":\"nosuch\"}", "\"calls\":["));
}
