/*
 * test_day.c - a day of one server: slots of time, gaps, changes of state.
 */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "hub/day.h"
#include "json/value.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define NOW    (INT64_C(500000) * HOUR)

struct shown {
	struct mp_buf text;
	struct mp_tape t;
	struct mp_arena arena;
};

static void shown_done(struct shown *s)
{
	mp_buf_done(&s->text);
	mp_tape_done(&s->t);
	mp_arena_done(&s->arena);
}
static void day_done(struct mp_day **d)
{
	mp_day_free(*d);
}

static bool show(struct shown *s, struct mp_day *d, int hours, int64_t began_ms, int64_t now_ms)
{
	struct mp_writer w;

	mp_buf_init(&s->text, MP_MIB(1));
	mp_tape_init(&s->t, 0);
	mp_arena_init(&s->arena, MP_MIB(1));
	mp_write_init(&w, &s->text, NULL);
	mp_write_begin_object(&w);
	mp_day_write(&w, d, hours, began_ms, now_ms);
	mp_write_end_object(&w);
	REQUIRE(mp_write_finish(&w) == 0);
	REQUIRE(mp_tape_parse(&s->t, mp_buf_get(&s->text), NULL) == 0);
	return true;
}

/* A value of one of the arrays, from the end; -1: null, -2: there is none. */
static int64_t value_at(const struct shown *s, const char *key, size_t from_end)
{
	mp_value all = mp_value_get(&s->t, MP_ROOT, key);
	size_t n = mp_value_count(&s->t, all), at = 0;
	int64_t number;

	MP_VALUE_EACH(&s->t, all, v)
		if (at++ + from_end + 1 == n)
			return mp_value_i64(&s->t, v, &number) == 0 ? number : -1;
	return -2;
}

static bool has(const struct shown *s, const char *part)
{
	return mp_str_find(mp_buf_get(&s->text), mp_str_of(part), 0) >= 0;
}

TEST(calls_are_in_the_slot_of_their_time)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	MP_CLEANUP(shown_done) struct shown hour = {0}, all = {0};

	mp_day_note_call(d, NOW, 1000, false);
	mp_day_note_call(d, NOW + 29999, 3000, true);
	mp_day_note_call(d, NOW + 30000, -1, true);
	CHECK(show(&hour, d, 1, NOW, NOW + MINUTE));
	CHECK(has(&hour, "\"stepMs\":30000"));
	CHECK_EQ(value_at(&hour, "calls", 2), 2);
	CHECK_EQ(value_at(&hour, "failed", 2), 1);
	CHECK_EQ(value_at(&hour, "p99us", 2), 3000);
	CHECK(value_at(&hour, "p50us", 2) >= 1000 && value_at(&hour, "p50us", 2) < 1300);
	CHECK_EQ(value_at(&hour, "calls", 1), 1);
	CHECK_EQ(value_at(&hour, "p50us", 1), -1); /* no answer: a gap, not 0 */
	CHECK_EQ(value_at(&hour, "calls", 0), 0);
	CHECK(show(&all, d, 24, NOW, NOW + MINUTE));
	CHECK(has(&all, "\"stepMs\":300000"));
	CHECK_EQ(value_at(&all, "calls", 0), 3);
	CHECK_EQ(value_at(&all, "failed", 0), 2);
}

TEST(nothing_is_known_of_the_time_before_the_hub)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	MP_CLEANUP(shown_done) struct shown s = {0}, none = {0};

	mp_day_note_call(d, NOW + HOUR, 5, false);
	CHECK(show(&s, d, 24, NOW, NOW + HOUR));
	CHECK_EQ(value_at(&s, "calls", 0), 1);
	CHECK_EQ(value_at(&s, "calls", 12), 0); /* the hub was there, and had no call */
	CHECK_EQ(value_at(&s, "calls", 13), -1);
	CHECK_EQ(value_at(&s, "calls", 287), -1);
	CHECK_EQ(value_at(&s, "calls", 288), -2);
	CHECK(show(&none, NULL, 1, NOW, NOW + MINUTE));
	CHECK_EQ(value_at(&none, "calls", 0), 0);
	CHECK_EQ(value_at(&none, "calls", 3), -1);
	CHECK(has(&none, "\"changes\":[]"));
}

TEST(a_day_later_it_is_forgotten)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	uint64_t calls, failed;

	mp_day_note_call(d, NOW, 5, true);
	mp_day_note_missed(d, NOW + MINUTE, 40);
	mp_day_count_since(d, NOW - HOUR, NOW + 23 * HOUR, &calls, &failed);
	CHECK_EQ(calls, 41);
	CHECK_EQ(failed, 1);
	mp_day_count_since(d, NOW + HOUR, NOW + 23 * HOUR, &calls, &failed);
	CHECK_EQ(calls, 0);
	mp_day_count_since(d, NOW - HOUR, NOW + 24 * HOUR, &calls, &failed);
	CHECK_EQ(calls, 0);
	mp_day_note_call(d, NOW + 90 * 24 * HOUR, 5, false);
	mp_day_count_since(d, 0, NOW + 90 * 24 * HOUR, &calls, &failed);
	CHECK_EQ(calls, 1);
}

/* The date was set back: nothing is lost, and nothing is where no slot is. */
TEST(a_date_that_goes_back)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	uint64_t calls, failed;

	mp_day_note_call(d, NOW, 5, false);
	mp_day_note_call(d, NOW - 5 * HOUR, 5, false);
	mp_day_count_since(d, NOW - HOUR, NOW, &calls, &failed);
	CHECK_EQ(calls, 2);
}

TEST(changes_begin_with_the_state_at_that_time)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	MP_CLEANUP(shown_done) struct shown s = {0};

	mp_day_note_change(d, NOW - 30 * HOUR, "up", MP_STATUS_CONNECTED, "one");
	mp_day_note_change(d, NOW - 25 * HOUR, "clearing", MP_STATUS_FAILED, "two");
	mp_day_note_change(d, NOW - 2 * HOUR, "up", MP_STATUS_CONNECTED, "three");
	CHECK(show(&s, d, 24, NOW - 40 * HOUR, NOW));
	CHECK(!has(&s, "one"));
	CHECK(has(&s, "\"what\":\"clearing\",\"state\":\"failed\",\"text\":\"two\"},{"));
	CHECK(has(&s, "\"state\":\"connected\",\"text\":\"three\"}]"));
}

TEST(the_oldest_change_makes_room)
{
	MP_CLEANUP(day_done) struct mp_day *d = mp_day_new(NOW);
	char text[20];

	for (int i = 0; i < 500; i++) {
		snprintf(text, sizeof(text), "number %d", i);
		mp_day_note_change(d, NOW + i, "up", MP_STATUS_CONNECTED, text);
	}
	CHECK_EQ(d->n_changes, 128);
	CHECK_TEXT(d->changes[0].text, "number 372");
	CHECK_TEXT(d->changes[127].text, "number 499");
}
