/* test_sparkline.c - numbers as bars. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/display/sparkline.h"

static bool is_drawn(const uint32_t *counts, size_t n, size_t columns, const char *wanted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 1000);
	if (mp_sparkline_add(counts, n, columns, &out) < 0 || mp_buf_terminate(&out) < 0)
		return false;
	if (strcmp(out.data ? out.data : "", wanted) == 0)
		return true;
	fprintf(stderr, "%s\n", out.data);
	return false;
}

TEST(bars_are_relative_to_the_highest)
{
	static const uint32_t counts[] = {0, 1, 50, 100, UINT32_MAX}, few[] = {0, 1, 0, 2};

	CHECK(setenv("LC_ALL", "en_US.UTF-8", 1) == 0);
	CHECK(is_drawn(counts, 4, 4, "▁▂▅█") || is_drawn(counts, 4, 4, "▁▂▅█"));
	CHECK(is_drawn(counts, 5, 5, "▁▂▂▂█"));
	CHECK(is_drawn(few, 4, 4, "▁▂▁▃")); /* a lone call is not the highest bar */
	CHECK(is_drawn(few, 0, 4, ""));
	CHECK(is_drawn(few, 4, 0, ""));
}

TEST(neighbours_are_added_up)
{
	static const uint32_t counts[] = {1, 2, 3, 4, 100};

	CHECK(setenv("LC_ALL", "en_US.UTF-8", 1) == 0);
	CHECK(is_drawn(counts, 5, 3, "▂▂█"));
	CHECK(is_drawn(counts, 5, 1, "█"));
	CHECK(is_drawn(counts, 5, 60, "▂▂▂▂█"));
}

TEST(other_locales_have_ascii)
{
	static const uint32_t counts[] = {0, 1, 100};

	CHECK(setenv("LC_ALL", "C", 1) == 0);
	CHECK(is_drawn(counts, 3, 3, "_.#"));
}
