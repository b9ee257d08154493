/* test_events.c - transitions numbered without gaps, a ring that wraps, readers that come late. */
#include "base/secrets.h"
#include "test.h"

#include "base/events.h"
#include "base/mem.h"

#define DOTS "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

struct fixture {
	struct mp_loop *loop;
	struct mp_events events;
	bool has_events;
};

static void fixture_done(struct fixture *f)
{
	while (f->has_events && f->events.listeners.len)
		mp_event_listener_leave(&f->events,
					mp_container_of(mp_list_first(&f->events.listeners),
							struct mp_event_listener, link));
	if (f->has_events)
		mp_events_done(&f->events);
	mp_loop_free(f->loop);
}

static bool fixture_start(struct fixture *f)
{
	if (mp_loop_new_by_hand(1000000, &f->loop) < 0)
		return false;
	mp_events_init(&f->events, f->loop);
	f->has_events = true;
	return true;
}

#define WITH_FIXTURE(f)                                  \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fixture_start(&(f)))

static void write_events(struct fixture *f, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		mp_event(&f->events, 1, MP_EVENT_UP, "%d", (int)f->events.last + 1);
}

TEST(each_event_is_kept_as_it_was)
{
	const struct mp_event *e;
	uint64_t cursor = 1, missed = 99;
	WITH_FIXTURE(f);

	CHECK(!mp_events_read(&f.events, &cursor, &missed));
	CHECK_EQ(missed, 0);
	CHECK_EQ(mp_event(&f.events, 7, MP_EVENT_UP, "after %d tries", 3), 1);
	mp_loop_advance(f.loop, 5);
	CHECK_EQ(mp_event(&f.events, 8, MP_EVENT_DOWN, "%s", ""), 2);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e);
	CHECK_EQ(e->number, 1);
	CHECK_EQ(e->id, 7);
	CHECK_EQ(e->wall_ms, 1000000);
	CHECK_EQ(e->mono_us, 0);
	CHECK_TEXT(e->what, "up");
	CHECK_TEXT(e->text, "after 3 tries");
	CHECK_EQ(missed, 0);
	CHECK_EQ(cursor, 2);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e);
	CHECK_EQ(e->number, 2);
	CHECK_EQ(e->wall_ms, 1000005);
	CHECK_EQ(e->mono_us, 5000);
	CHECK_TEXT(e->text, "");
	CHECK(!mp_events_read(&f.events, &cursor, &missed));
	CHECK_EQ(cursor, 3);
}

TEST(long_texts_are_cut_between_characters)
{
	const struct mp_event *e;
	uint64_t cursor = 1, missed;
	char text[MP_LIMIT_EVENT_TEXT + 1];
	WITH_FIXTURE(f);

	memset(text, 'x', sizeof(text));
	memcpy(text + MP_LIMIT_EVENT_TEXT - 6, "\xe2\x82\xac...", 7); /* the mark cuts into it */
	mp_event(&f.events, 1, MP_EVENT_UP, "%s", text);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e);
	CHECK_EQ(strlen(e->text), MP_LIMIT_EVENT_TEXT - 3);
	CHECK_TEXT(e->text + MP_LIMIT_EVENT_TEXT - 6, MP_STR_CUT_MARK);
	CHECK_EQ(e->text[MP_LIMIT_EVENT_TEXT - 7], 'x');
}

TEST(secrets_are_dots_also_where_the_text_is_cut)
{
	const struct mp_event *e;
	uint64_t cursor = 1, missed;
	WITH_FIXTURE(f);

	mp_event(&f.events, 1, MP_EVENT_UP, "token=%s\nnext", "abc");
	mp_event(&f.events, 1, MP_EVENT_UP, "%0*d token=%s", MP_LIMIT_EVENT_TEXT - 15, 1,
		 "abcabcabcabc");
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e);
	CHECK_TEXT(e->text, "token=" DOTS "\\nnext");
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && strstr(e->text, "token=") && !strstr(e->text, "abc"));
}

TEST(without_memory_the_text_is_withheld)
{
	const struct mp_event *e;
	uint64_t cursor = 1, missed;
	WITH_FIXTURE(f);

	if (!mp_fault_is_built_in())
		return;
	mp_fault_arm(MP_FAULT_TRY, 1);
	CHECK_EQ(mp_event(&f.events, 1, MP_EVENT_UP, "token=%s", "abc"), 1);
	mp_fault_arm(MP_FAULT_TRY, 0);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->text[0] && !strstr(e->text, "abc"));
}

TEST(numbers_have_no_gaps_when_the_ring_wraps)
{
	uint64_t cursor = 1, missed, next = 1;
	const struct mp_event *e;
	WITH_FIXTURE(f);

	for (int round = 0; round < 30; round++) { /* 30 * 1000 events through a ring of 4096 */
		write_events(&f, 1000);
		while ((e = mp_events_read(&f.events, &cursor, &missed))) {
			int64_t text;

			CHECK_EQ(missed, 0);
			CHECK_EQ(e->number, next);
			CHECK_EQ(mp_str_to_i64(mp_str_of(e->text), &text), 0);
			CHECK_EQ(text, next);
			next++;
		}
	}
	CHECK_EQ(next, 30001);
}

TEST(a_full_ring_and_one_more)
{
	uint64_t cursor = 1, missed;
	const struct mp_event *e;
	WITH_FIXTURE(f);

	write_events(&f, MP_LIMIT_EVENT_RING);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->number == 1 && missed == 0);
	write_events(&f, 1);
	cursor = 1;
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->number == 2 && missed == 1);
	CHECK_EQ(cursor, 3);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->number == 3 && missed == 0); /* counted once */
}

TEST(a_reader_that_comes_too_late_learns_how_many_it_missed)
{
	uint64_t cursor = 1, missed, last = 3 * MP_LIMIT_EVENT_RING + 17, n = 1;
	const struct mp_event *e;
	WITH_FIXTURE(f);

	write_events(&f, last);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e);
	CHECK_EQ(missed, 2 * MP_LIMIT_EVENT_RING + 17);
	CHECK_EQ(e->number, missed + 1);
	while ((e = mp_events_read(&f.events, &cursor, &missed))) {
		CHECK_EQ(missed, 0);
		n++;
	}
	CHECK_EQ(n, MP_LIMIT_EVENT_RING);
	cursor = 100;
	CHECK(mp_events_read(&f.events, &cursor, &missed));
	CHECK_EQ(missed, 2 * MP_LIMIT_EVENT_RING + 17 - 99);
}

TEST(news_only)
{
	uint64_t cursor, missed;
	const struct mp_event *e;
	WITH_FIXTURE(f);

	write_events(&f, 5);
	cursor = f.events.last + 1;
	CHECK(!mp_events_read(&f.events, &cursor, &missed));
	CHECK_EQ(cursor, 6);
	write_events(&f, 1);
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->number == 6 && missed == 0);
	cursor = f.events.last;
	e = mp_events_read(&f.events, &cursor, &missed);
	CHECK(e && e->number == 6);
	cursor = 1000; /* further ahead than anything */
	CHECK(!mp_events_read(&f.events, &cursor, &missed));
	CHECK_EQ(cursor, 1000);
}

/* --- listeners ------------------------------------------------------------------------------ */

struct ear {
	struct fixture *f;
	struct mp_event_listener me;
	struct ear *other; /* what to do with it depends on the test */
	size_t calls;
};

static void count(void *u)
{
	((struct ear *)u)->calls++;
}

TEST(listeners_are_called_once_in_a_turn)
{
	struct ear a = {0}, b = {0};
	WITH_FIXTURE(f);

	mp_event_listener_join(&f.events, &a.me, count, &a);
	mp_event_listener_join(&f.events, &b.me, count, &b);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(a.calls, 0); /* nothing was written down */
	write_events(&f, 10);
	CHECK_EQ(a.calls, 0); /* not from under the one who writes */
	mp_loop_turn(f.loop, false);
	CHECK(a.calls == 1 && b.calls == 1);
	mp_loop_turn(f.loop, false);
	CHECK(a.calls == 1 && b.calls == 1);
	mp_event_listener_leave(&f.events, &a.me);
	write_events(&f, 1);
	mp_loop_turn(f.loop, false);
	CHECK(a.calls == 1 && b.calls == 2);
}

static void leave_with_the_other(void *u)
{
	struct ear *e = u;

	e->calls++;
	mp_event_listener_leave(&e->f->events, &e->me);
	mp_event_listener_leave(&e->f->events, &e->other->me);
}

TEST(listeners_may_leave_when_called)
{
	struct ear a = {0}, b = {0}, c = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	a.other = &b;
	mp_event_listener_join(&f.events, &a.me, leave_with_the_other, &a);
	mp_event_listener_join(&f.events, &b.me, count, &b);
	mp_event_listener_join(&f.events, &c.me, count, &c);
	write_events(&f, 1);
	mp_loop_turn(f.loop, false);
	write_events(&f, 1);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(a.calls, 1);
	CHECK_EQ(b.calls, 0);
	CHECK_EQ(c.calls, 2);
}

static void write_one_more(void *u)
{
	struct ear *e = u;

	if (e->calls++ == 0)
		mp_event(&e->f->events, 1, MP_EVENT_UP, "again");
}

TEST(an_event_written_by_a_listener_is_told_though_nothing_else_happens)
{
	struct ear a = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	mp_event_listener_join(&f.events, &a.me, write_one_more, &a);
	write_events(&f, 1);
	mp_loop_suspend(f.loop, 0); /* one settling, no more */
	CHECK_EQ(a.calls, 2);
	CHECK_EQ(f.events.last, 2);
}

static void end_with_a_listener(void)
{
	static struct fixture f;
	static struct ear a;

	if (!fixture_start(&f))
		return;
	mp_event_listener_join(&f.events, &a.me, count, &a);
	mp_events_done(&f.events);
}

TEST(a_listener_at_the_end_is_a_broken_promise)
{
	CHECK(test_stops(end_with_a_listener));
}
