/*
 * test_call.c - the time of a call: its own limits and its caller's. test_peer.c has its states.
 */
#include "fake_transport.h"

struct fixture {
	struct fake_transport w; /* first */
	struct fake_caller c;
	unsigned due;
};

static const struct mp_peer_hooks peer_hooks = {.send = fake_transport_send};

static void fixture_done(struct fixture *f)
{
	fake_transport_done(&f->w);
}

/* A call with these limits that is with the server. */
static bool fixture_start(struct fixture *f, int64_t timeout_ms, int64_t max_total_ms)
{
	REQUIRE(fake_transport_start(&f->w, &peer_hooks, f));
	REQUIRE(fake_call(&f->w, &f->c, timeout_ms, max_total_ms) == 0);
	fake_transport_flush(&f->w);
	return true;
}

#define WITH_CALL(f, timeout_ms, max_total_ms)           \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fixture_start(&(f), timeout_ms, max_total_ms))

static void progress(struct fixture *f)
{
	fake_transport_sayf(&f->w,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			    "{\"progressToken\":1,\"progress\":%u}}",
			    f->c.progressed + 1);
}

static bool timed_out(const struct fixture *f)
{
	return f->c.answers == 1 && f->c.outcome == MP_OUTCOME_TIMEOUT;
}

TEST(outcomes_have_names)
{
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_ANSWERED), "answered");
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_NOT_SENT), "not_sent");
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_UNKNOWN), "unknown");
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_REFUSED), "refused");
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_TIMEOUT), "timeout");
	CHECK_TEXT(mp_outcome_get_name(MP_OUTCOME_CANCELLED), "cancelled");
}

TEST(without_a_deadline_it_waits_for_ever)
{
	WITH_CALL(f, 0, 0);

	mp_loop_advance(f.w.loop, (int64_t)1000 * 24 * 3600 * 1000);
	progress(&f); /* gives it none either */
	mp_loop_advance(f.w.loop, (int64_t)1000 * 24 * 3600 * 1000);
	CHECK_EQ(f.c.answers, 0);
}

TEST(it_ends_when_nothing_is_heard_for_that_long)
{
	WITH_CALL(f, 1000, 5000);

	mp_loop_advance(f.w.loop, 999);
	CHECK_EQ(f.c.answers, 0);
	mp_loop_advance(f.w.loop, 1);
	CHECK(timed_out(&f));
	CHECK_TEXT(f.c.text, "no answer within 1 s");
	mp_loop_advance(f.w.loop, 10000);
	CHECK_EQ(f.c.answers, 1);
}

/* While a person thinks only the last moment counts, whatever progress says. */
TEST(a_paused_call_is_patient)
{
	WITH_CALL(f, 1000, 5000);

	mp_loop_advance(f.w.loop, 900);
	mp_call_pause(&f.c.part, true);
	mp_loop_advance(f.w.loop, 1100);
	progress(&f);
	mp_loop_advance(f.w.loop, 1100);
	CHECK(f.c.progressed == 1 && f.c.answers == 0);
	mp_call_pause(&f.c.part, false);
	mp_loop_advance(f.w.loop, 999);
	CHECK_EQ(f.c.answers, 0);
	mp_call_pause(&f.c.part, true);
	mp_loop_advance(f.w.loop, 901); /* 5000 in all */
	CHECK(timed_out(&f));
	CHECK_TEXT(f.c.text, "no answer within 5 s");
}

TEST(progress_buys_time_but_never_beyond_the_last_moment)
{
	WITH_CALL(f, 1000, 2500);

	mp_loop_advance(f.w.loop, 999);
	progress(&f); /* until 1999 */
	mp_loop_advance(f.w.loop, 999);
	progress(&f); /* until 2500, not 2998 */
	mp_loop_advance(f.w.loop, 501);
	CHECK(f.c.progressed == 2 && f.c.answers == 0);
	progress(&f);
	mp_loop_advance(f.w.loop, 1);
	CHECK(timed_out(&f));
}

TEST(the_last_moment_may_come_before_patience_ends)
{
	WITH_CALL(f, 1000, 10);

	mp_loop_advance(f.w.loop, 10);
	CHECK(timed_out(&f));
}

TEST(progress_before_it_was_written_buys_no_time)
{
	MP_CLEANUP(fixture_done) struct fixture f = {0};

	CHECK(fake_transport_start(&f.w, &peer_hooks, &f));
	CHECK_EQ(fake_call(&f.w, &f.c, 1000, 5000), 0);
	mp_loop_advance(f.w.loop, 999);
	progress(&f);
	mp_loop_advance(f.w.loop, 1);
	CHECK(timed_out(&f));
	CHECK_EQ(f.w.peer.counts.strays, 1);
}

TEST(an_ended_call_has_no_deadline)
{
	WITH_CALL(f, 1000, 1000);

	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	CHECK(!mp_timer_is_running(&f.c.part.timer));
	mp_loop_advance(f.w.loop, 5000);
	CHECK(f.c.answers == 1 && f.c.outcome == MP_OUTCOME_ANSWERED);
}

TEST(a_deadline_nobody_will_see_is_no_overflow)
{
	WITH_CALL(f, INT64_MAX, INT64_MAX);

	mp_loop_advance(f.w.loop, 1000);
	progress(&f);
	mp_loop_advance(f.w.loop, (int64_t)1000 * 24 * 3600 * 1000);
	CHECK(f.c.progressed == 1 && f.c.answers == 0);
}

/* --- the caller's own limit ------------------------------------------------------------------ */

static void count_due(struct mp_call *part)
{
	mp_container_of(part, struct fixture, c.part)->due++;
}

static const struct mp_call_hooks due_hooks = {.answered = fake_answered, .due = count_due};

/* At rest and on the wire; the earlier of the two limits comes first. */
TEST(the_caller_has_a_limit_of_its_own)
{
	struct mp_call_options o = {.method = MP_METHOD_TOOLS_CALL, .timeout_ms = 500};
	MP_CLEANUP(fixture_done) struct fixture f = {0};
	struct mp_call *part = &f.c.part;

	CHECK(fake_transport_start(&f.w, &peer_hooks, &f));
	mp_call_init(part, f.w.loop, &due_hooks);
	mp_call_set_due(part, mp_loop_now_ms(f.w.loop) + 100);
	mp_loop_advance(f.w.loop, 99);
	CHECK_EQ(f.due, 0);
	mp_loop_advance(f.w.loop, 1);
	CHECK_EQ(f.due, 1);
	CHECK_EQ(mp_peer_call(&f.w.peer, part, &o), 0);
	mp_call_set_due(part, mp_loop_now_ms(f.w.loop) + 400);
	mp_loop_advance(f.w.loop, 400);
	CHECK(f.due == 2 && f.c.answers == 0);
	mp_call_set_due(part, mp_loop_now_ms(f.w.loop) + 400);
	mp_loop_advance(f.w.loop, 100);
	CHECK(timed_out(&f));
	mp_call_set_due(part, INT64_MAX);
	mp_loop_advance(f.w.loop, 1000);
	CHECK_EQ(f.due, 2);
	mp_call_done(part);
}

/* --- starting it again ----------------------------------------------------------------------- */

static void start_again(struct fake_caller *c)
{
	struct fixture *f = mp_container_of(c, struct fixture, c);

	if (c->answers < 5)
		(void)fake_call(&f->w, c, 1000, 0);
}

static void lose_the_wire(struct fake_caller *c)
{
	fake_transport_lose(&mp_container_of(c, struct fixture, c)->w);
}

/* A call is at rest before its hook runs, however it ended. */
TEST(the_hook_may_start_the_call_again)
{
	struct mcpool_error why;
	WITH_CALL(f, 1000, 0);

	f.c.then = start_again;
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
	CHECK(f.c.answers == 1 && f.c.outcome == MP_OUTCOME_ANSWERED);
	mp_peer_cancel(&f.c.part);
	mp_loop_advance(f.w.loop, 0);
	CHECK(f.c.answers == 2 && f.c.outcome == MP_OUTCOME_CANCELLED);
	mp_loop_advance(f.w.loop, 1000);
	CHECK(f.c.answers == 3 && f.c.outcome == MP_OUTCOME_TIMEOUT);
	(void)mp_fail(&why, MCPOOL_EIO, "refused");
	mp_peer_lose(&f.w.peer, MP_STR("4"), MP_CALL_ON_UNTAKEN, &why);
	CHECK(f.c.answers == 4 && f.c.outcome == MP_OUTCOME_NOT_SENT);
	f.c.then = lose_the_wire;
	mp_peer_lose(&f.w.peer, MP_STR("5"), MP_CALL_ON_UNTAKEN, &why);
	CHECK_EQ(f.c.answers, 5);
	CHECK(mp_call_is_at_rest(&f.c.part));
}
