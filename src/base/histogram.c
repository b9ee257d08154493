/*
 * histogram.c - counts by duration.
 */
#include "base/histogram.h"

enum {
	SUB_BITS = 2,         /* four buckets for each power of two */
	SUBS = 1 << SUB_BITS, /* and as many for shorter durations */
	LAST_POWER = 31,      /* 2^32 us are 71 minutes */
	BUCKETS = SUBS * (LAST_POWER - SUB_BITS + 2),
};
_Static_assert((int)BUCKETS == (int)MP_HISTOGRAM_BUCKETS, "the size of the header");

/* --- buckets -------------------------------------------------------------------------------- */

/* Longer durations count in the last bucket. */
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

/* The longest duration of the bucket. */
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

void mp_histogram_note(struct mp_histogram *h, int64_t us)
{
	uint32_t *bucket = &h->counts[bucket_of(us)];

	if (*bucket < UINT32_MAX)
		++*bucket;
	if (us > h->longest_us)
		h->longest_us = us;
}

void mp_histogram_add(struct mp_histogram *h, const struct mp_histogram *other)
{
	for (unsigned i = 0; i < BUCKETS; i++) {
		uint32_t room = UINT32_MAX - h->counts[i];

		h->counts[i] += other->counts[i] < room ? other->counts[i] : room;
	}
	if (other->longest_us > h->longest_us)
		h->longest_us = other->longest_us;
}

/* --- asking --------------------------------------------------------------------------------- */

static uint64_t histogram_sum_up(const struct mp_histogram *h)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < BUCKETS; i++)
		sum += h->counts[i];
	return sum;
}

int64_t mp_histogram_get_us(const struct mp_histogram *h, unsigned permille)
{
	uint64_t sum = histogram_sum_up(h), rank, seen = 0;
	unsigned i = 0;
	int64_t edge;

	if (!sum)
		return -1;
	rank = (sum * (permille < 1000 ? permille : 1000) + 999) / 1000;
	for (; i < BUCKETS - 1; i++) {
		seen += h->counts[i];
		if (seen && seen >= rank)
			break;
	}
	edge = edge_of(i);
	return edge < h->longest_us ? edge : h->longest_us;
}

/* A power of two begins a bucket, so none lies across it. */
uint64_t mp_histogram_count_below(const struct mp_histogram *h, unsigned power)
{
	unsigned end = bucket_of((int64_t)1 << power);
	uint64_t n = 0;

	for (unsigned i = 0; i < end; i++)
		n += h->counts[i];
	return n;
}
