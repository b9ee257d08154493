/*
 * test_stats.c - counts, and quantiles beside exact ones.
 */
#include "test.h"

#include <stdlib.h>

#include "pool/stats.h"

enum { CALLS = 20000 };

static void note(struct mp_stats *s, int64_t us)
{
	mp_stats_note(s, MP_OUTCOME_ANSWERED, false, us, 0);
}

/* D40 */
TEST(what_became_of_calls)
{
	MP_CLEANUP(mp_stats_done) struct mp_stats s;

	mp_stats_init(&s);
	CHECK_EQ(mp_stats_get_latency_us(&s, 500), -1);
	mp_stats_note(&s, MP_OUTCOME_TIMEOUT, false, 5000000, 0);
	mp_stats_note(&s, MP_OUTCOME_CANCELLED, true, 7, 0);
	mp_stats_note(&s, MP_OUTCOME_NOT_SENT, false, 7, 0);
	CHECK(!s.latencies); /* no latency */
	CHECK_EQ(mp_stats_get_latency_us(&s, 500), -1);
	CHECK_EQ(s.errors, 0);
	mp_stats_note(&s, MP_OUTCOME_ANSWERED, false, 100, 0);
	mp_stats_note(&s, MP_OUTCOME_ANSWERED, true, 200, 0);
	CHECK_EQ(s.calls, 5);
	CHECK_EQ(s.errors, 1);
	CHECK_EQ(s.measured, 2);
	CHECK_EQ(s.latencies->longest_us, 200);
	CHECK_EQ(s.by_outcome[MP_OUTCOME_ANSWERED], 2);
	CHECK_EQ(s.by_outcome[MP_OUTCOME_TIMEOUT], 1);
	CHECK_EQ(s.by_outcome[MP_OUTCOME_CANCELLED], 1);
	CHECK_EQ(s.by_outcome[MP_OUTCOME_NOT_SENT], 1);
	CHECK_EQ(s.by_outcome[MP_OUTCOME_UNKNOWN], 0);
	CHECK_EQ(mp_stats_count_failures(&s), 3); /* a cancelled call has not failed */
	mp_stats_note(&s, MP_OUTCOME_UNKNOWN, false, 7, 0);
	mp_stats_note(&s, MP_OUTCOME_REFUSED, false, 7, 30000);
	CHECK_EQ(mp_stats_count_minute(&s, 30000), 7);
	CHECK_EQ(mp_stats_count_minute(&s, 89999), 1);
	CHECK_EQ(mp_stats_count_failures(&s), 5);
}

TEST(one_call_is_every_quantile)
{
	static const int64_t some[] = {0, 1, 3, 4, 5, 7, 8, 1000, 999999, 3600000000};

	for (size_t i = 0; i < MP_ARRAY_LEN(some); i++) {
		MP_CLEANUP(mp_stats_done) struct mp_stats s;

		mp_stats_init(&s);
		note(&s, some[i]);
		CHECK_EQ(mp_stats_get_latency_us(&s, 0), some[i]);
		CHECK_EQ(mp_stats_get_latency_us(&s, 500), some[i]);
		CHECK_EQ(mp_stats_get_latency_us(&s, 1000), some[i]);
		CHECK_EQ(mp_stats_get_latency_us(&s, 5000), some[i]);
	}
}

/* Each value alone, below a longer one: its bucket ends at most a quarter above it. */
TEST(buckets_are_narrow_and_in_order)
{
	int64_t before = 0;

	for (int64_t us = 1; us < 3600000000; us += us / 16 + 1) {
		MP_CLEANUP(mp_stats_done) struct mp_stats s;
		int64_t got;

		mp_stats_init(&s);
		note(&s, us);
		note(&s, INT64_MAX);
		got = mp_stats_get_latency_us(&s, 500);
		CHECK(got >= us && got - us <= us / 4);
		CHECK(got >= before);
		before = got;
	}
}

TEST(longer_than_all_buckets)
{
	MP_CLEANUP(mp_stats_done) struct mp_stats s;

	mp_stats_init(&s);
	note(&s, INT64_MAX);
	note(&s, -5); /* which cannot be, and counts as nothing */
	CHECK_EQ(mp_stats_get_latency_us(&s, 500), 0);
	CHECK_EQ(mp_stats_get_latency_us(&s, 501), INT64_MAX);
	CHECK_EQ(mp_stats_get_latency_us(&s, 1000), INT64_MAX);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static bool is_near(const struct mp_stats *s, const int64_t *sorted, unsigned permille)
{
	size_t rank = (CALLS * (size_t)permille + 999) / 1000;
	int64_t exact = sorted[rank ? rank - 1 : 0];
	int64_t got = mp_stats_get_latency_us(s, permille);

	REQUIRE(got >= exact && got - exact <= exact / 4);
	return true;
}

HEAVY_TEST(quantiles_are_within_a_quarter)
{
	static const unsigned wanted[] = {0, 1, 10, 100, 250, 500, 900, 990, 999, 1000};
	static int64_t us[CALLS];
	uint64_t seed = 7;

	for (int round = 0; round < 20; round++) {
		MP_CLEANUP(mp_stats_done) struct mp_stats s;
		unsigned bits = (unsigned)(test_random(&seed) % 31) + 1;

		mp_stats_init(&s);
		for (size_t i = 0; i < CALLS; i++) { /* all lengths up to the longest are common */
			us[i] = (int64_t)(test_random(&seed) >> (64 - bits) >>
					  test_random(&seed) % bits);
			note(&s, us[i]);
		}
		qsort(us, CALLS, sizeof(us[0]), compare);
		for (size_t i = 0; i < MP_ARRAY_LEN(wanted); i++)
			CHECK(is_near(&s, us, wanted[i]));
		CHECK_EQ(s.measured, CALLS);
	}
}

TEST(counters_stay_at_their_end)
{
	MP_CLEANUP(mp_stats_done) struct mp_stats s;

	mp_stats_init(&s);
	note(&s, 1);
	s.calls = s.by_outcome[MP_OUTCOME_ANSWERED] = s.errors = s.measured = UINT64_MAX;
	s.latencies->counts[1] = UINT32_MAX - 1;
	for (int i = 0; i < 3; i++)
		mp_stats_note(&s, MP_OUTCOME_ANSWERED, true, 1, 0);
	CHECK(s.calls == UINT64_MAX && s.errors == UINT64_MAX && s.measured == UINT64_MAX);
	CHECK(s.by_outcome[MP_OUTCOME_ANSWERED] == UINT64_MAX);
	CHECK_EQ(s.latencies->counts[1], UINT32_MAX);
	note(&s, 100);
	CHECK_EQ(mp_stats_get_latency_us(&s, 999), 1); /* still of use */
	CHECK_EQ(mp_stats_get_latency_us(&s, 1000), 100);
}

TEST(counts_below_a_power_are_exact)
{
	MP_CLEANUP(mp_stats_done) struct mp_stats s;

	mp_stats_init(&s);
	CHECK_EQ(mp_stats_count_below(&s, 20), 0);
	note(&s, 0);
	note(&s, 255);
	note(&s, 256);
	note(&s, (1 << 26) - 1);
	note(&s, 1 << 26);
	CHECK_EQ(mp_stats_count_below(&s, 8), 2);
	CHECK_EQ(mp_stats_count_below(&s, 9), 3);
	CHECK_EQ(mp_stats_count_below(&s, 26), 4);
	CHECK_EQ(mp_stats_count_below(&s, 27), 5);
	CHECK_EQ(s.total_us, 255 + 256 + (1 << 26) - 1 + (1 << 26));
}

TEST(counts_are_added_up)
{
	MP_CLEANUP(mp_stats_done) struct mp_stats a, b;

	mp_stats_init(&a);
	mp_stats_init(&b);
	note(&b, 100);
	mp_stats_note_sizes(&b, true, 10, 20);
	mp_stats_note(&b, MP_OUTCOME_TIMEOUT, false, 5, 0);
	mp_stats_add(&a, &b);
	mp_stats_add(&a, &b);
	CHECK_EQ(a.calls, 4);
	CHECK_EQ(a.by_outcome[MP_OUTCOME_TIMEOUT], 2);
	CHECK_EQ(a.tool_errors, 2);
	CHECK_EQ(a.bytes_in, 20);
	CHECK_EQ(a.bytes_out, 40);
	CHECK_EQ(a.measured, 2);
	CHECK_EQ(a.total_us, 200);
	CHECK_EQ(mp_stats_count_below(&a, 7), 2);
	CHECK_EQ(mp_stats_get_latency_us(&a, 1000), 100);
}
