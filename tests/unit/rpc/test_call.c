/*
 * test_call.c - the table of one request in flight, cell by cell, and its deadlines.
 * The owner is a fake that writes down what it was called for, word by word.
 */
#include "test.h"

#include <stdio.h>

#include "rpc/call.h"

extern const struct mp_machine mp_call_machine;

struct fixture {
	struct mp_loop *loop;
	struct mp_call call;
	bool has_call;
	char journal[256];
};

static void MP_PRINTF(2, 3) write_down(struct mp_call *c, const char *format, ...)
{
	struct fixture *f = c->owner_u;
	size_t len = strlen(f->journal);
	va_list args;

	va_start(args, format);
	vsnprintf(f->journal + len, sizeof(f->journal) - len, format, args);
	va_end(args);
}

static const char *read_journal(struct fixture *f)
{
	static char copy[sizeof(f->journal)];
	size_t len = strlen(f->journal);

	memcpy(copy, f->journal, sizeof(copy));
	if (len)
		copy[len - 1] = '\0'; /* the last blank */
	f->journal[0] = '\0';
	return copy;
}

static void moved(struct mp_call *c, enum mp_call_state from)
{
	write_down(c, "%s->%s ", mp_call_machine.states[from].word,
		   mp_call_machine.states[c->state].word);
}

static void tell_cancelled(struct mp_call *c, const char *reason)
{
	write_down(c, "tell:%s ", reason);
}

static void deliver(struct mp_call *c, enum mp_outcome outcome)
{
	write_down(c, "deliver:%s ", mp_outcome_get_name(outcome));
}

static void progress(struct mp_call *c)
{
	write_down(c, "progress ");
}

static void reply(struct mp_call *c)
{
	write_down(c, "reply ");
}

static void withdraw(struct mp_call *c)
{
	write_down(c, "withdraw ");
}

static void stray(struct mp_call *c)
{
	write_down(c, "stray ");
}

static const struct mp_call_owner owner = {moved, tell_cancelled, deliver, progress,
					   reply, withdraw,       stray};

static void fixture_done(struct fixture *f)
{
	if (f->has_call)
		mp_call_done(&f->call);
	f->loop = mp_loop_free(f->loop);
}

static bool fixture_start(struct fixture *f, enum mp_call_state state)
{
	if (mp_loop_new_by_hand(1000000, &f->loop) < 0)
		return false;
	mp_call_init(&f->call, f->loop, state, &owner, f);
	f->has_call = true;
	return true;
}

#define WITH_CALL(f, state)                              \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fixture_start(&(f), MP_CALL_##state))

/* --- the table ------------------------------------------------------------------------------ */

/* What the owner hears in each cell; NULL: the cell is empty. */
static const char *const cells[MP_CALL_STATE_COUNT][MP_CALL_EVENT_COUNT] = {
	[MP_CALL_QUEUED] =
		{
			[MP_CALL_ON_SENT] = "queued->written",
			[MP_CALL_ON_ANSWER] = "stray",
			[MP_CALL_ON_GARBLED] = "stray",
			[MP_CALL_ON_PROGRESS] = "stray",
			[MP_CALL_ON_DEADLINE] = "queued->ended tell:timeout deliver:timeout",
			[MP_CALL_ON_CANCEL] = "queued->ended tell:cancelled deliver:cancelled",
			[MP_CALL_ON_LOST] = "queued->ended deliver:not_sent",
			[MP_CALL_ON_UNTAKEN] = "queued->ended deliver:not_sent",
		},
	[MP_CALL_WRITTEN] =
		{
			[MP_CALL_ON_SENT] = "",
			[MP_CALL_ON_ANSWER] = "written->ended deliver:answered",
			[MP_CALL_ON_GARBLED] = "written->ended deliver:refused",
			[MP_CALL_ON_PROGRESS] = "progress",
			[MP_CALL_ON_DEADLINE] = "written->ended tell:timeout deliver:timeout",
			[MP_CALL_ON_CANCEL] = "written->ended tell:cancelled deliver:cancelled",
			[MP_CALL_ON_LOST] = "written->ended deliver:unknown",
			[MP_CALL_ON_UNTAKEN] = "written->ended deliver:not_sent",
		},
	[MP_CALL_SERVING] =
		{
			[MP_CALL_ON_ANSWER] = "serving->ended reply",
			[MP_CALL_ON_DEADLINE] = "serving->ended withdraw",
			[MP_CALL_ON_CANCEL] = "serving->ended withdraw",
			[MP_CALL_ON_LOST] = "serving->ended withdraw",
		},
	[MP_CALL_ENDED] =
		{
			[MP_CALL_ON_SENT] = "",
			[MP_CALL_ON_ANSWER] = "stray",
			[MP_CALL_ON_GARBLED] = "stray",
			[MP_CALL_ON_PROGRESS] = "stray",
			[MP_CALL_ON_DEADLINE] = "",
			[MP_CALL_ON_CANCEL] = "",
			[MP_CALL_ON_LOST] = "",
			[MP_CALL_ON_UNTAKEN] = "",
		},
};

static enum mp_call_state cell_state;
static enum mp_call_event cell_event;

static void visit_cell(void)
{
	MP_CLEANUP(fixture_done) struct fixture f = {0};

	if (fixture_start(&f, cell_state))
		mp_call_advance(&f.call, cell_event);
}

static bool judge_cell(enum mp_call_state state, enum mp_call_event ev)
{
	MP_CLEANUP(fixture_done) struct fixture f = {0};
	const char *want = cells[state][ev];

	cell_state = state;
	cell_event = ev;
	if (!want)
		return test_stops(visit_cell);
	REQUIRE(fixture_start(&f, state));
	mp_call_advance(&f.call, ev);
	return test_same_text(mp_str_of(read_journal(&f)), mp_str_of(want),
			      mp_call_machine.states[state].word, __FILE__, (int)ev);
}

TEST(every_cell_of_the_table)
{
	int empty = 0;

	for (int state = 0; state < MP_CALL_STATE_COUNT; state++) {
		for (int ev = 0; ev < MP_CALL_EVENT_COUNT; ev++) {
			empty += !cells[state][ev];
			CHECK(judge_cell((enum mp_call_state)state, (enum mp_call_event)ev));
		}
	}
	CHECK_EQ(empty, 4); /* what cannot happen to a request of theirs */
}

/* Whatever happens and in whatever order, it ends once. */
HEAVY_TEST(no_order_of_events_ends_a_call_twice)
{
	uint64_t seed = 4711;

	for (int run = 0; run < 500; run++) {
		unsigned endings = 0;
		WITH_CALL(f, QUEUED);

		mp_call_set_deadline(&f.call, 5, 20);
		for (int i = 0; i < 30; i++) {
			uint64_t dice = test_random(&seed);
			const char *said;

			if (dice % 9 < MP_CALL_EVENT_COUNT)
				mp_call_advance(&f.call, (enum mp_call_event)(dice % 9));
			else
				mp_loop_advance(f.loop, (int64_t)(dice / 9 % 7));
			said = read_journal(&f);
			endings += strstr(said, "deliver:") != NULL;
			CHECK_EQ(endings, f.call.state == MP_CALL_ENDED);
		}
	}
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

/* --- deadlines ------------------------------------------------------------------------------ */

TEST(without_a_deadline_it_waits_for_ever)
{
	WITH_CALL(f, WRITTEN);

	mp_loop_advance(f.loop, (int64_t)1000 * 24 * 3600 * 1000);
	CHECK_TEXT(read_journal(&f), "");
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS); /* gives it none either */
	mp_loop_advance(f.loop, (int64_t)1000 * 24 * 3600 * 1000);
	CHECK_TEXT(read_journal(&f), "progress");
}

TEST(it_ends_when_nothing_is_heard_for_that_long)
{
	WITH_CALL(f, WRITTEN);

	mp_call_set_deadline(&f.call, 1000, 5000);
	mp_loop_advance(f.loop, 999);
	CHECK_TEXT(read_journal(&f), "");
	mp_loop_advance(f.loop, 1);
	CHECK_TEXT(read_journal(&f), "written->ended tell:timeout deliver:timeout");
	mp_loop_advance(f.loop, 10000);
	CHECK_TEXT(read_journal(&f), "");
}

/* A person thinks: only the last moment counts, whatever progress says; then all begins anew. */
TEST(a_paused_call_is_patient)
{
	WITH_CALL(f, WRITTEN);

	mp_call_set_deadline(&f.call, 1000, 5000);
	mp_loop_advance(f.loop, 900);
	mp_call_pause(&f.call, true);
	mp_loop_advance(f.loop, 1100);
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS);
	mp_loop_advance(f.loop, 1100);
	CHECK_TEXT(read_journal(&f), "progress");
	mp_call_pause(&f.call, false);
	mp_loop_advance(f.loop, 999);
	CHECK_TEXT(read_journal(&f), "");
	mp_call_pause(&f.call, true);
	mp_loop_advance(f.loop, 901); /* 5000 in all */
	CHECK_TEXT(read_journal(&f), "written->ended tell:timeout deliver:timeout");
}

TEST(progress_buys_time_but_never_beyond_the_last_moment)
{
	WITH_CALL(f, WRITTEN);

	mp_call_set_deadline(&f.call, 1000, 2500);
	mp_loop_advance(f.loop, 999);
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS); /* until 1999 */
	mp_loop_advance(f.loop, 999);
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS); /* until 2500, not 2998 */
	mp_loop_advance(f.loop, 501);
	CHECK_TEXT(read_journal(&f), "progress progress");
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS);
	mp_loop_advance(f.loop, 1);
	CHECK_TEXT(read_journal(&f), "progress written->ended tell:timeout deliver:timeout");
}

TEST(the_last_moment_may_come_before_patience_ends)
{
	WITH_CALL(f, QUEUED);

	mp_call_set_deadline(&f.call, 1000, 10);
	mp_loop_advance(f.loop, 10);
	CHECK_TEXT(read_journal(&f), "queued->ended tell:timeout deliver:timeout");
}

TEST(progress_before_it_was_written_buys_no_time)
{
	WITH_CALL(f, QUEUED);

	mp_call_set_deadline(&f.call, 1000, 5000);
	mp_loop_advance(f.loop, 999);
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS);
	mp_loop_advance(f.loop, 1);
	CHECK_TEXT(read_journal(&f), "stray queued->ended tell:timeout deliver:timeout");
}

TEST(an_ended_call_has_no_deadline)
{
	WITH_CALL(f, WRITTEN);

	mp_call_set_deadline(&f.call, 1000, 1000);
	mp_call_advance(&f.call, MP_CALL_ON_ANSWER);
	CHECK(!mp_timer_is_running(&f.call.timer));
	mp_loop_advance(f.loop, 5000);
	CHECK_TEXT(read_journal(&f), "written->ended deliver:answered");
}

TEST(a_request_of_theirs_may_have_a_deadline_too)
{
	WITH_CALL(f, SERVING);

	mp_call_set_deadline(&f.call, 1000, 1000);
	mp_loop_advance(f.loop, 1000);
	CHECK_TEXT(read_journal(&f), "serving->ended withdraw");
}

TEST(done_stops_the_deadline)
{
	WITH_CALL(f, WRITTEN);

	mp_call_set_deadline(&f.call, 1000, 1000);
	mp_call_done(&f.call);
	mp_loop_advance(f.loop, 5000);
	CHECK_TEXT(read_journal(&f), "");
}

TEST(a_deadline_nobody_will_see_is_no_overflow)
{
	WITH_CALL(f, WRITTEN);

	mp_loop_advance(f.loop, 1000);
	mp_call_set_deadline(&f.call, INT64_MAX, INT64_MAX);
	mp_call_advance(&f.call, MP_CALL_ON_PROGRESS);
	mp_loop_advance(f.loop, (int64_t)1000 * 24 * 3600 * 1000);
	CHECK_TEXT(read_journal(&f), "progress");
}
