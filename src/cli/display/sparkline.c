/*
 * sparkline.c - numbers as a row of bars.
 */
#include "cli/display/sparkline.h"

#include "cli/display/safe.h"

enum { BARS = 8, LEAST_SCALE = 8 }; /* a lone call is not the highest bar */

static const char *get_bar(uint64_t count, uint64_t most)
{
	static const char *const bars[BARS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[BARS] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	size_t bar = count ? 1 + (size_t)(count * (BARS - 2) / most) : 0;

	return mp_safe_has_utf8() ? bars[bar] : ascii[bar];
}

static uint64_t sum_up(const uint32_t *counts, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

int mp_sparkline_add(const uint32_t *counts, size_t n, size_t columns, struct mp_buf *out)
{
	size_t each = columns ? (n + columns - 1) / columns : n;
	uint64_t most = LEAST_SCALE;
	int r = 0;

	if (n == 0 || columns == 0)
		return 0;
	for (size_t i = 0; i < n; i += each) {
		uint64_t sum = sum_up(counts + i, n - i < each ? n - i : each);

		most = sum > most ? sum : most;
	}
	for (size_t i = 0; i < n && r == 0; i += each)
		r = mp_buf_addf(out, "%s",
				get_bar(sum_up(counts + i, n - i < each ? n - i : each), most));
	return r;
}
