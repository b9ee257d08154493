/*
 * stats.c - counts a server's calls by outcome and measures their latency.
 * The histogram is log-linear: four buckets for each power of two, so a quantile is at most a
 * quarter too long, from a microsecond to more than an hour, in half a kilobyte.
 */
#include "pool/stats.h"

#include "base/mem.h"

enum {
	SUB_BITS = 2,         /* four buckets for each power of two */
	SUBS = 1 << SUB_BITS, /* and as many for shorter latencies */
	LAST_POWER = 31,      /* 2^32 us are 71 minutes */
	BUCKETS = SUBS * (LAST_POWER - SUB_BITS + 2),
};

void mp_stats_init(struct mp_stats *s)
{
	*s = (struct mp_stats){0};
}

void mp_stats_done(struct mp_stats *s)
{
	s->latencies = mp_free(s->latencies);
	s->history = mp_free(s->history);
}

/* --- buckets -------------------------------------------------------------------------------- */

/* Longer latencies count in the last bucket. */
static unsigned bucket_of(int64_t us)
{
	unsigned power;

	if (us < SUBS)
		return us < 0 ? 0 : (unsigned)us;
	power = 63 - (unsigned)__builtin_clzll((uint64_t)us);
	if (power > LAST_POWER)
		return BUCKETS - 1;
	return SUBS * (power - SUB_BITS + 1) + ((unsigned)(us >> (power - SUB_BITS)) & (SUBS - 1));
}

/* The longest latency of the bucket. */
static int64_t edge_of(unsigned bucket)
{
	unsigned shift = bucket / SUBS;

	if (shift == 0)
		return bucket;
	if (bucket == BUCKETS - 1)
		return INT64_MAX;
	return ((int64_t)(SUBS + bucket % SUBS + 1) << (shift - 1)) - 1;
}

/* --- counting ------------------------------------------------------------------------------- */

static void stats_grow(uint64_t *counter, uint64_t by)
{
	*counter = by > UINT64_MAX - *counter ? UINT64_MAX : *counter + by;
}

static void stats_count(uint64_t *counter)
{
	stats_grow(counter, 1);
}

static void stats_measure(struct mp_stats *s, int64_t us)
{
	uint32_t *bucket;

	if (!s->latencies)
		s->latencies = mp_alloc(BUCKETS * sizeof(*s->latencies));
	bucket = &s->latencies[bucket_of(us)];
	if (*bucket < UINT32_MAX)
		++*bucket;
	stats_count(&s->measured);
	stats_grow(&s->total_us, us < 0 ? 0 : (uint64_t)us);
	if (us > s->longest_us)
		s->longest_us = us;
}

static void stats_note_time(struct mp_stats *s, int64_t now_ms)
{
	if (!s->history) {
		s->history = mp_alloc(sizeof(*s->history));
		mp_history_init(s->history, now_ms);
	}
	mp_history_note(s->history, now_ms);
}

void mp_stats_note(struct mp_stats *s, enum mp_outcome outcome, bool is_error, int64_t latency_us,
		   int64_t now_ms)
{
	mp_check(outcome < MP_ARRAY_LEN(s->by_outcome));
	stats_note_time(s, now_ms);
	stats_count(&s->calls);
	stats_count(&s->by_outcome[outcome]);
	if (outcome != MP_OUTCOME_ANSWERED)
		return;
	if (is_error)
		stats_count(&s->errors);
	stats_measure(s, latency_us);
}

void mp_stats_note_sizes(struct mp_stats *s, bool is_tool_error, size_t bytes_in, size_t bytes_out)
{
	if (is_tool_error)
		stats_count(&s->tool_errors);
	stats_grow(&s->bytes_in, bytes_in);
	stats_grow(&s->bytes_out, bytes_out);
}

static void stats_add_latencies(struct mp_stats *s, const struct mp_stats *other)
{
	if (!other->latencies)
		return;
	if (!s->latencies)
		s->latencies = mp_alloc(BUCKETS * sizeof(*s->latencies));
	for (unsigned i = 0; i < BUCKETS; i++) {
		uint32_t room = UINT32_MAX - s->latencies[i];

		s->latencies[i] += other->latencies[i] < room ? other->latencies[i] : room;
	}
	if (other->longest_us > s->longest_us)
		s->longest_us = other->longest_us;
}

void mp_stats_add(struct mp_stats *s, const struct mp_stats *other)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(s->by_outcome); i++)
		stats_grow(&s->by_outcome[i], other->by_outcome[i]);
	stats_grow(&s->calls, other->calls);
	stats_grow(&s->errors, other->errors);
	stats_grow(&s->tool_errors, other->tool_errors);
	stats_grow(&s->bytes_in, other->bytes_in);
	stats_grow(&s->bytes_out, other->bytes_out);
	stats_grow(&s->no_owner, other->no_owner);
	stats_grow(&s->unheard, other->unheard);
	stats_grow(&s->measured, other->measured);
	stats_grow(&s->total_us, other->total_us);
	stats_add_latencies(s, other);
}

/* --- asking --------------------------------------------------------------------------------- */

int64_t mp_stats_count_minute(const struct mp_stats *s, int64_t now_ms)
{
	return s->history ? mp_history_count_minute(s->history, now_ms) : 0;
}

uint64_t mp_stats_count_failures(const struct mp_stats *s)
{
	return s->errors + s->by_outcome[MP_OUTCOME_NOT_SENT] + s->by_outcome[MP_OUTCOME_UNKNOWN] +
	       s->by_outcome[MP_OUTCOME_REFUSED] + s->by_outcome[MP_OUTCOME_TIMEOUT];
}

/* Sum of the buckets: a full bucket stops counting, `measured` does not. */
static uint64_t sum_up(const struct mp_stats *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < BUCKETS; i++)
		sum += s->latencies[i];
	return sum;
}

int64_t mp_stats_get_latency_us(const struct mp_stats *s, unsigned permille)
{
	uint64_t rank, seen = 0;
	unsigned i = 0;
	int64_t edge;

	if (!s->latencies)
		return -1;
	rank = (sum_up(s) * (permille < 1000 ? permille : 1000) + 999) / 1000;
	for (; i < BUCKETS - 1; i++) {
		seen += s->latencies[i];
		if (seen && seen >= rank)
			break;
	}
	edge = edge_of(i);
	return edge < s->longest_us ? edge : s->longest_us;
}

/* A power of two begins a bucket, so none lies across it. */
uint64_t mp_stats_count_below(const struct mp_stats *s, unsigned power)
{
	unsigned end = bucket_of((int64_t)1 << power);
	uint64_t n = 0;

	for (unsigned i = 0; s->latencies && i < end; i++)
		n += s->latencies[i];
	return n;
}
