/*
 * test_histogram.c - counts by duration; pool/test_stats.c compares quantiles with exact ones.
 */
#include "test.h"

#include "base/histogram.h"

TEST(an_empty_one_has_no_quantile)
{
	struct mp_histogram h = {.longest_us = 0};

	CHECK_EQ(mp_histogram_get_us(&h, 500), -1);
	CHECK_EQ(mp_histogram_count_below(&h, 31), 0);
}

TEST(two_are_added)
{
	struct mp_histogram a = {.longest_us = 0}, b = {.longest_us = 0};

	mp_histogram_note(&a, 100);
	mp_histogram_note(&b, 9000);
	mp_histogram_note(&b, 9000);
	b.counts[0] = UINT32_MAX;
	mp_histogram_note(&a, 0);
	mp_histogram_add(&a, &b);
	CHECK_EQ(a.counts[0], UINT32_MAX); /* stays at its end */
	CHECK_EQ(a.longest_us, 9000);
	CHECK_EQ(mp_histogram_get_us(&a, 1000), 9000);
	CHECK_EQ(mp_histogram_get_us(&a, 500), 0);
	CHECK_EQ(mp_histogram_count_below(&a, 7), (uint64_t)UINT32_MAX + 1);
}
