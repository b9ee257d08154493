/*
 * test_history.c - counts by time.
 */
#include "test.h"

#include "base/history.h"

static uint64_t sum_of(const struct mp_history *h, int64_t now_ms)
{
	uint32_t counts[MP_HISTORY_SLOTS];
	uint64_t sum = 0;

	mp_history_read(h, now_ms, counts);
	for (int i = 0; i < MP_HISTORY_SLOTS; i++)
		sum += counts[i];
	return sum;
}

TEST(counts_are_in_the_slot_of_their_time)
{
	uint32_t counts[MP_HISTORY_SLOTS];
	struct mp_history h;

	mp_history_init(&h, 1000);
	mp_history_note(&h, 1000);
	mp_history_note(&h, 14999);
	mp_history_note(&h, 15000);
	mp_history_note(&h, 60000);
	mp_history_read(&h, 60000, counts);
	CHECK_EQ(counts[59], 1);
	CHECK_EQ(counts[58], 0);
	CHECK_EQ(counts[56], 1);
	CHECK_EQ(counts[55], 2);
	CHECK_EQ(sum_of(&h, 60000), 4);
}

TEST(what_is_older_than_a_quarter_of_an_hour_is_forgotten)
{
	struct mp_history h;

	mp_history_init(&h, 0);
	for (int64_t ms = 0; ms < 3600000; ms += 15000)
		mp_history_note(&h, ms);
	CHECK_EQ(sum_of(&h, 3599999), 60);
	CHECK_EQ(sum_of(&h, 3599999 + 30 * 15000), 30);
	CHECK_EQ(sum_of(&h, 3599999 + 60 * 15000), 0);
	mp_history_note(&h, 9000000); /* after a long pause nothing old comes back */
	CHECK_EQ(sum_of(&h, 9000000), 1);
}

TEST(a_minute_has_a_share_of_its_first_slot)
{
	struct mp_history h;

	mp_history_init(&h, 0);
	for (int64_t ms = 0; ms < 120000; ms += 100)
		mp_history_note(&h, ms);
	CHECK_EQ(mp_history_count_minute(&h, 119999), 600);
	CHECK_EQ(mp_history_count_minute(&h, 119999 + 60000), 0);
	for (int64_t ms = 120000; ms < 127500; ms += 100)
		mp_history_note(&h, ms);
	CHECK_EQ(mp_history_count_minute(&h, 127500), 600);
}

TEST(a_full_slot_stays_full)
{
	struct mp_history h;

	mp_history_init(&h, 0);
	h.counts[0] = UINT32_MAX;
	mp_history_note(&h, 1);
	CHECK_EQ(h.counts[0], UINT32_MAX);
}
