/*
 * histogram.h - how long things took: counts by duration, and the duration that a share of them
 * does not exceed. Log-linear: four buckets for each power of two, so a quantile is at most a
 * quarter too long, from a microsecond to more than an hour, in half a kilobyte.
 */
#ifndef MP_HISTOGRAM_H
#define MP_HISTOGRAM_H

#include "base/base.h"

enum { MP_HISTOGRAM_BUCKETS = 124 };

struct mp_histogram {
	uint32_t counts[MP_HISTOGRAM_BUCKETS];
	int64_t longest_us;
};

/* A bucket that is full stops counting. */
void mp_histogram_note(struct mp_histogram *h, int64_t us);
void mp_histogram_add(struct mp_histogram *h, const struct mp_histogram *other);
/* Duration that so many of 1,000 do not exceed: 500 is the median. -1: nothing was counted. */
int64_t mp_histogram_get_us(const struct mp_histogram *h, unsigned permille);
/* Those below 2^power microseconds. */
uint64_t mp_histogram_count_below(const struct mp_histogram *h, unsigned power);

#endif
