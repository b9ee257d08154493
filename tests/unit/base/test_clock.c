/* test_clock.c - what two readings of the clocks tell, and clocks moved by hand. */
#include "test.h"

#include <time.h>

#include "base/clock.h"

enum { MS = 1000, SECOND = 1000 * 1000 };

static const int64_t HOUR = (int64_t)3600 * SECOND;
static const int64_t DAY = (int64_t)24 * 3600 * SECOND;

TEST(what_happened_between_two_readings)
{
	const struct {
		int64_t mono, boot, wall; /* how far each clock went, in us */
		int64_t slept_ms, shifted_ms;
	} rows[] = {
		{0, 0, 0, 0, 0},
		{5 * SECOND, 5 * SECOND, 5 * SECOND, 0, 0},
		{DAY, DAY, DAY, 0, 0},
		/* a suspend: the boot clock and the wall clock go on */
		{SECOND, SECOND + HOUR, SECOND + HOUR, 3600 * 1000, 0},
		{0, 2 * SECOND, 2 * SECOND, 2000, 0},
		{SECOND, 8 * DAY, 8 * DAY, 8 * 24 * 3600 * 1000 - 1000, 0},
		/* the date is set, forward and back */
		{SECOND, SECOND, SECOND + HOUR, 0, 3600 * 1000},
		{SECOND, SECOND, SECOND - HOUR, 0, -3600 * 1000},
		{0, 0, -2 * SECOND, 0, -2000},
		/* both, also where they cancel each other on the wall clock */
		{SECOND, SECOND + HOUR, SECOND + 3 * HOUR, 3600 * 1000, 2 * 3600 * 1000},
		{SECOND, SECOND + HOUR, SECOND, 3600 * 1000, -3600 * 1000},
		{SECOND, SECOND + HOUR, SECOND - HOUR, 3600 * 1000, -2 * 3600 * 1000},
		/* noise */
		{SECOND, SECOND + 999 * MS, SECOND + 999 * MS, 0, 0},
		{SECOND, SECOND, SECOND + 999 * MS, 0, 0},
		{SECOND, SECOND, SECOND - 999 * MS, 0, 0},
		{SECOND, SECOND + 1100 * MS, SECOND + 1100 * MS, 1100, 0},
		{SECOND, SECOND, SECOND - 1100 * MS, 0, -1100},
		/* NTP slews the wall clock by up to 500 parts in a million */
		{DAY, DAY, DAY + DAY / 2000, 0, 0},
		{DAY, DAY, DAY - DAY / 2000, 0, 0},
		{30 * DAY, 30 * DAY, 30 * DAY + 30 * DAY / 2000, 0, 0},
		{DAY, DAY, DAY + HOUR, 0, 3600 * 1000}, /* too much for slewing */
		/* a suspend does not widen the tolerance for the date: noise grows with elapsed
		 * time */
		{SECOND, SECOND + DAY, SECOND + DAY + DAY / 2000, 24 * 3600 * 1000, 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_clock_reading before = {11 * SECOND, 17 * SECOND,
						  1700000000 * (int64_t)SECOND};
		struct mp_clock_reading after = {before.mono_us + rows[i].mono,
						 before.boot_us + rows[i].boot,
						 before.wall_us + rows[i].wall};
		struct mp_clock_jump jump = mp_clock_compare(&before, &after);

		CHECK_EQ(jump.slept_ms, rows[i].slept_ms);
		CHECK_EQ(jump.shifted_ms, rows[i].shifted_ms);
	}
}

TEST(a_clock_moved_by_hand)
{
	struct mp_clock c;
	struct mp_clock_jump jump;

	mp_clock_init_by_hand(&c, 1000000);
	CHECK_EQ(c.now.mono_us, 0);
	CHECK_EQ(c.now.wall_us, (int64_t)1000000 * MS);
	CHECK(!mp_clock_update(&c, &jump));
	mp_clock_advance(&c, 3600 * 1000);
	CHECK_EQ(c.now.mono_us, 0); /* seen by the next update only */
	CHECK(!mp_clock_update(&c, &jump));
	CHECK_EQ(c.now.mono_us, HOUR);
	CHECK_EQ(c.now.boot_us, HOUR);
	CHECK_EQ(c.now.wall_us, (int64_t)1000000 * MS + HOUR);
	CHECK(!mp_clock_update(&c, &jump)); /* and once */
	CHECK_EQ(c.now.mono_us, HOUR);
}

TEST(peeking_reads_one_clock)
{
	struct mp_clock c;
	struct mp_clock_jump jump;

	mp_clock_init_by_hand(&c, 1000);
	mp_clock_advance(&c, 10);
	mp_clock_peek(&c);
	CHECK_EQ(c.now.mono_us, 10 * MS);
	CHECK_EQ(c.now.boot_us, 10 * MS);
	CHECK_EQ(c.now.wall_us, 1010 * MS);
	/* what else happened is not seen, until all are read */
	mp_clock_suspend(&c, 5000);
	mp_clock_peek(&c);
	CHECK_EQ(c.now.boot_us, 10 * MS);
	CHECK_EQ(c.now.wall_us, 1010 * MS);
	mp_clock_advance(&c, 1);
	mp_clock_peek(&c);
	CHECK(mp_clock_update(&c, &jump));
	CHECK_EQ(jump.slept_ms, 5000);
	CHECK_EQ(jump.shifted_ms, 0);
	CHECK_EQ(c.now.wall_us, 6011 * MS);
}

TEST(suspending_by_hand)
{
	struct mp_clock c;
	struct mp_clock_jump jump;

	mp_clock_init_by_hand(&c, 1000000);
	mp_clock_advance(&c, 10);
	mp_clock_suspend(&c, 60 * 1000);
	CHECK(mp_clock_update(&c, &jump));
	CHECK_EQ(jump.slept_ms, 60 * 1000);
	CHECK_EQ(jump.shifted_ms, 0);
	CHECK_EQ(c.now.mono_us, 10 * MS);
	CHECK_EQ(c.now.boot_us, 60010 * MS);
	CHECK_EQ(c.now.wall_us, (int64_t)1060010 * MS);
	CHECK(!mp_clock_update(&c, &jump));
	CHECK_EQ(jump.slept_ms, 0);
}

TEST(setting_the_date_by_hand)
{
	struct mp_clock c;
	struct mp_clock_jump jump;

	mp_clock_init_by_hand(&c, 1000000);
	mp_clock_shift_wall(&c, -500 * 1000);
	CHECK(mp_clock_update(&c, &jump));
	CHECK_EQ(jump.slept_ms, 0);
	CHECK_EQ(jump.shifted_ms, -500 * 1000);
	CHECK_EQ(c.now.mono_us, 0);
	CHECK_EQ(c.now.boot_us, 0);
	CHECK_EQ(c.now.wall_us, (int64_t)500000 * MS);
	mp_clock_suspend(&c, 5000);
	mp_clock_shift_wall(&c, 7000);
	CHECK(mp_clock_update(&c, &jump));
	CHECK_EQ(jump.slept_ms, 5000);
	CHECK_EQ(jump.shifted_ms, 7000);
}

TEST(the_real_clock_goes_on)
{
	struct timespec nap = {.tv_nsec = 20 * 1000 * 1000};
	struct mp_clock_reading before;
	struct mp_clock_jump jump;
	struct mp_clock c;

	mp_clock_init(&c);
	before = c.now;
	CHECK(before.mono_us > 0);
	CHECK(before.boot_us >= before.mono_us);
	CHECK(before.wall_us > (int64_t)1600000000 * SECOND); /* after 2020 */
	nanosleep(&nap, NULL);
	CHECK_EQ(c.now.mono_us, before.mono_us); /* stands still between updates */
	mp_clock_update(&c, &jump);
	CHECK(c.now.mono_us - before.mono_us >= 20 * MS);
	CHECK(c.now.boot_us - before.boot_us >= 20 * MS);
}

static struct mp_clock broken;

static void advance_the_real_one(void)
{
	mp_clock_init(&broken);
	mp_clock_advance(&broken, 1);
}

static void suspend_the_real_one(void)
{
	mp_clock_init(&broken);
	mp_clock_suspend(&broken, 1);
}

static void shift_the_real_one(void)
{
	mp_clock_init(&broken);
	mp_clock_shift_wall(&broken, 1);
}

static void go_back(void)
{
	mp_clock_init_by_hand(&broken, 0);
	mp_clock_advance(&broken, -1);
}

TEST(only_a_clock_by_hand_is_moved_and_only_forward)
{
	CHECK(test_stops(advance_the_real_one));
	CHECK(test_stops(suspend_the_real_one));
	CHECK(test_stops(shift_the_real_one));
	CHECK(test_stops(go_back));
}

/* The moment goes on while the turn stands still; by hand only the hand moves it. */
TEST(this_very_moment)
{
	struct mp_clock_jump jump;
	struct mp_clock c;
	int64_t before_us;

	mp_clock_init(&c);
	before_us = mp_clock_read_us(&c);
	while (mp_clock_read_us(&c) == before_us)
		;
	CHECK(mp_clock_read_us(&c) > c.now.mono_us);
	mp_clock_init_by_hand(&c, 0);
	CHECK_EQ(mp_clock_read_us(&c), c.now.mono_us);
	mp_clock_advance(&c, 5);
	CHECK_EQ(mp_clock_read_us(&c), c.now.mono_us + 5000);
	CHECK(!mp_clock_update(&c, &jump));
	CHECK_EQ(mp_clock_read_us(&c), c.now.mono_us);
}
