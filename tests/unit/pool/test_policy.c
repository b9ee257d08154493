/*
 * test_policy.c - delays to the millisecond, storms, jitter, and ladders without end.
 */
#include "test.h"

#include "base/limits.h"
#include "pool/policy.h"

#define DEFAULT 0, 1000, 2000, 5000, 10000, 30000, 60000
#define SCHEDULE(...)                 \
	.schedule_ms = {__VA_ARGS__}, \
	.n_schedule = sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static const struct mp_restart jittered = {
	.mode = MP_RESTART_RELENTLESS, SCHEDULE(DEFAULT), .is_jittered = true};
static const struct mp_restart relentless = {.mode = MP_RESTART_RELENTLESS, SCHEDULE(DEFAULT)};
static const struct mp_restart once = {.mode = MP_RESTART_ONCE, SCHEDULE(DEFAULT)};
static const struct mp_restart none = {.mode = MP_RESTART_NONE, SCHEDULE(DEFAULT)};
static const struct mp_restart remote = {
	.mode = MP_RESTART_REMOTE, SCHEDULE(1000, 2000, 4000, 8000, 16000), .attempts = 5};

static struct mp_policy make(const struct mp_restart *restart, bool is_remote)
{
	struct mp_policy p;

	mp_policy_init(&p, restart, is_remote);
	return p;
}

/* Is this what a new backoff says, one failure after another? */
static bool climbs(const struct mp_policy *p, const int64_t *want, size_t n)
{
	struct mp_backoff l;

	mp_backoff_init(&l, 1);
	for (size_t i = 0; i < n; i++)
		REQUIRE(test_equal(mp_backoff_fail(&l, p), want[i], "delay", __FILE__, __LINE__));
	return true;
}
#define CHECK_CLIMBS(p, ...)                                  \
	do {                                                  \
		static const int64_t want[] = {__VA_ARGS__};  \
		CHECK(climbs((p), want, MP_ARRAY_LEN(want))); \
	} while (0)

/* D3 D6 E41 */
TEST(relentless_is_exact_to_the_schedule)
{
	struct mp_policy p = make(&relentless, false);

	CHECK_CLIMBS(&p, 0, 1000, 2000, 5000, 10000, 30000, 60000, 60000, 60000, 60000);
	CHECK_EQ(mp_policy_get_max(&p), 0);
	CHECK_EQ(mp_policy_get_delay(&p, 1), 0);
	CHECK_EQ(mp_policy_get_delay(&p, 6), 30000);
	CHECK_EQ(mp_policy_get_delay(&p, 7), 60000);
	CHECK_EQ(mp_policy_get_delay(&p, UINT32_MAX), 60000);
}

TEST(a_schedule_of_ones_own_repeats_its_last)
{
	const struct mp_restart own = {.mode = MP_RESTART_RELENTLESS, SCHEDULE(7, 3)};
	const struct mp_restart single = {.mode = MP_RESTART_RELENTLESS, SCHEDULE(9)};
	struct mp_policy p = make(&own, false), q = make(&single, false);

	CHECK_CLIMBS(&p, 7, 3, 3, 3);
	CHECK_CLIMBS(&q, 9, 9, 9);
}

TEST(nothing_said_is_the_default)
{
	struct mp_policy p = make(&(struct mp_restart){.mode = MP_RESTART_RELENTLESS}, false);
	struct mp_policy q = make(&(struct mp_restart){.mode = MP_RESTART_REMOTE}, true);

	CHECK_CLIMBS(&p, DEFAULT, 60000);
	CHECK_EQ(q.attempts, 5);
}

/* C12 C13 C14 C15 */
TEST(remote_doubles_to_thirty_seconds)
{
	struct mp_restart many = remote;
	struct mp_policy p = make(&remote, true);

	for (unsigned n = 1; n <= 5; n++)
		CHECK_EQ(mp_policy_get_delay(&p, n), 1000 << (n - 1));
	CHECK_EQ(mp_policy_get_delay(&p, 6), -1);
	CHECK_EQ(mp_policy_get_delay(&p, UINT32_MAX), -1);
	CHECK_EQ(mp_policy_get_max(&p), 5);
	many.attempts = 1000;
	p = make(&many, true);
	CHECK_EQ(mp_policy_get_delay(&p, 5), 16000);
	CHECK_EQ(mp_policy_get_delay(&p, 6), 30000);
	CHECK_EQ(mp_policy_get_delay(&p, 1000), 30000);
	CHECK_EQ(mp_policy_get_delay(&p, 1001), -1);
	CHECK_EQ(mp_policy_get_max(&p), 1000);
}

/* C11 */
TEST(remote_heals_no_process)
{
	struct mp_policy p = make(&remote, false);

	CHECK_CLIMBS(&p, -1, -1);
	CHECK_EQ(mp_policy_get_max(&p), 0);
}

/* D4 A54 */
TEST(once_and_none)
{
	const struct mp_restart later = {.mode = MP_RESTART_ONCE, SCHEDULE(700, 900)};
	struct mp_policy p = make(&once, false), q = make(&later, false), r = make(&none, false);

	CHECK_CLIMBS(&p, 0, -1, -1);
	CHECK_EQ(mp_policy_get_max(&p), 1);
	CHECK_CLIMBS(&q, 700, -1);
	CHECK_CLIMBS(&r, -1, -1);
	CHECK_EQ(mp_policy_get_max(&r), 0);
	r = make(&none, true);
	CHECK_CLIMBS(&r, -1, -1);
}

/* U11 */
TEST(forgiven_it_begins_at_the_start)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;

	mp_backoff_init(&l, 0);
	for (int i = 0; i < 4; i++)
		CHECK(mp_backoff_fail(&l, &p) >= 0);
	CHECK_EQ(mp_backoff_fail(&l, &p), 10000);
	mp_backoff_forgive(&l);
	CHECK_EQ(l.failures, 0);
	CHECK_EQ(mp_backoff_fail(&l, &p), 0);
	CHECK_EQ(mp_backoff_fail(&l, &p), 1000);
}

/* U11 P15 */
TEST(ten_minutes_of_crashing_need_few_starts)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;
	int starts = 1; /* which fails at once, as all others */

	mp_backoff_init(&l, 0);
	for (int64_t now_ms = mp_backoff_fail(&l, &p); now_ms < MP_SECONDS(600);
	     now_ms += mp_backoff_fail(&l, &p))
		starts++;
	CHECK(starts <= 20);
	CHECK(starts >= 16); /* and it is not given up */
}

TEST(failures_are_counted_no_further_than_they_can_be)
{
	struct mp_policy p = make(&relentless, false), q = make(&once, false);
	struct mp_backoff l;

	mp_backoff_init(&l, 0);
	l.failures = UINT32_MAX - 2;
	for (int i = 0; i < 10; i++)
		CHECK_EQ(mp_backoff_fail(&l, &p), 60000);
	CHECK_EQ(l.failures, UINT32_MAX);
	CHECK_EQ(mp_backoff_fail(&l, &q), -1);
}

/* X34 */
TEST(no_jitter_without_a_network)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;

	for (uint64_t seed = 0; seed < 100; seed++) {
		mp_backoff_init(&l, seed);
		CHECK_EQ(mp_backoff_fail(&l, &p), 0);
		CHECK_EQ(mp_backoff_fail(&l, &p), 1000);
		CHECK_EQ(l.seed, seed);
	}
}

/* C13 C14 C15 */
/* The formula was given: 1, 2, 4, 8, 16 s, on every machine. */
TEST(the_formula_of_mode_remote_is_exact)
{
	struct mp_restart with = remote;
	struct mp_policy p;

	with.is_jittered = true;
	p = make(&with, true);
	for (int i = 0; i < 20; i++)
		CHECK_CLIMBS(&p, 1000, 2000, 4000, 8000, 16000, -1);
}

/* D3 E41 */
TEST(a_schedule_without_jitter_is_exact_for_remote_servers_too)
{
	struct mp_policy p = make(&relentless, true);

	CHECK_CLIMBS(&p, 0, 1000, 2000, 5000, 10000, 30000, 60000, 60000);
}

/* X34 */
TEST(jitter_takes_away_a_fifth_at_most)
{
	struct mp_policy p = make(&jittered, true);
	struct mp_backoff l;
	int64_t least = INT64_MAX, most = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		mp_backoff_init(&l, seed);
		for (unsigned n = 1; n <= 100; n++) {
			int64_t full = mp_policy_get_delay(&p, n), ms = mp_backoff_fail(&l, &p);

			CHECK(ms <= full && ms >= full - full / 5);
			if (full == 60000) {
				least = ms < least ? ms : least;
				most = ms > most ? ms : most;
			}
		}
	}
	CHECK(least < 48100 && most > 59900); /* the whole width is used */
}

TEST(the_same_seed_gives_the_same_delays)
{
	struct mp_policy p = make(&jittered, true);
	struct mp_backoff a, b, c;
	bool differs = false;

	mp_backoff_init(&a, 42);
	mp_backoff_init(&b, 42);
	mp_backoff_init(&c, 43);
	CHECK_EQ(mp_backoff_fail(&a, &p), 0); /* of nothing nothing is taken */
	CHECK_EQ(mp_backoff_fail(&b, &p), 0);
	CHECK_EQ(mp_backoff_fail(&c, &p), 0);
	for (int i = 0; i < 20; i++) {
		int64_t ms = mp_backoff_fail(&a, &p);

		CHECK_EQ(mp_backoff_fail(&b, &p), ms);
		differs |= mp_backoff_fail(&c, &p) != ms;
	}
	CHECK(differs);
}

TEST(given_up_stays_given_up)
{
	struct mp_policy p = make(&remote, true);
	struct mp_backoff l;

	mp_backoff_init(&l, 3);
	for (int i = 0; i < 5; i++)
		CHECK(mp_backoff_fail(&l, &p) > 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(mp_backoff_fail(&l, &p), -1);
}

/* U11 C19 */
TEST(the_sixth_start_in_thirty_seconds_is_braked)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;

	mp_backoff_init(&l, 0);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(mp_backoff_hurry(&l, &p, 1000 * i), 0);
	CHECK_EQ(mp_backoff_hurry(&l, &p, 5000), 60000);
	CHECK_EQ(mp_backoff_hurry(&l, &p, 29999), 60000);
	CHECK_EQ(mp_backoff_hurry(&l, &p, 30000), 0); /* the first is 30 s ago */
	CHECK_EQ(mp_backoff_hurry(&l, &p, 30000), 60000);
	CHECK_EQ(mp_backoff_hurry(&l, &p, 31000), 0);
	CHECK_EQ(l.failures, 0); /* none of these is a failure */
}

TEST(a_storm_for_an_hour_is_ten_starts_a_minute)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;
	int starts = 0;

	mp_backoff_init(&l, 0);
	for (int64_t now_ms = 5; now_ms < MP_SECONDS(3600); now_ms += 7)
		starts += mp_backoff_hurry(&l, &p, now_ms) == 0;
	CHECK(starts <= 600 && starts >= 590);
}

TEST(calm_starts_are_never_braked)
{
	struct mp_policy p = make(&relentless, false);
	struct mp_backoff l;

	mp_backoff_init(&l, 0);
	for (int64_t i = 0; i < 1000; i++)
		CHECK_EQ(mp_backoff_hurry(&l, &p, i * 6000), 0);
}

TEST(each_mode_has_its_brake)
{
	const struct mp_restart own = {.mode = MP_RESTART_RELENTLESS, SCHEDULE(0, 90000)};
	const struct mp_restart own_once = {.mode = MP_RESTART_ONCE, SCHEDULE(0, 5)};
	const struct mp_policy policies[] = {make(&own, false),    make(&remote, true),
					     make(&remote, false), make(&own_once, false),
					     make(&once, true),    make(&none, false)};
	static const int64_t want[] = {90000, 30000, 30000, 60000, 60000, 60000};

	for (size_t i = 0; i < MP_ARRAY_LEN(want); i++) {
		struct mp_backoff l;

		mp_backoff_init(&l, 0);
		for (int n = 0; n < MP_STORM_STARTS; n++)
			CHECK_EQ(mp_backoff_hurry(&l, &policies[i], 100), 0);
		CHECK_EQ(mp_backoff_hurry(&l, &policies[i], 100), want[i]);
	}
}
