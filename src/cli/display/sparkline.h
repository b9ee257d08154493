/*
 * sparkline.h - numbers as a row of bars, one column each.
 */
#ifndef MP_SPARKLINE_H
#define MP_SPARKLINE_H

#include "base/base.h"
#include "base/buf.h"

/*
 * Nothing has the lowest bar, anything a higher one, the largest the highest if it is at least 8.
 * Neighbours are added up where there are fewer columns than numbers.
 */
int mp_sparkline_add(const uint32_t *counts, size_t n, size_t columns, struct mp_buf *out) MP_MUST;

#endif
