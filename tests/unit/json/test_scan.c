/*
 * test_scan.c - the two inner loops against a model that looks at one byte after the other.
 * Buffers come from malloc() in their exact size, so that a read behind the end is seen by ASan.
 */
#include "test.h"

#include <stdlib.h>

#include "json/scan.h"

enum { LONGEST = 70 };

typedef const char *(*scan_fn)(const char *p, const char *end);

/* Written down again on purpose, not taken from scan.h. */
static bool model_is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x80 && c != 0x22 && c != 0x5c;
}

static bool model_is_space(unsigned char c)
{
	return c == 0x20 || c == 0x0a || c == 0x0d || c == 0x09;
}

static size_t model(bool (*belongs)(unsigned char), const char *bytes, size_t from, size_t len)
{
	while (from < len && belongs((unsigned char)bytes[from]))
		from++;
	return from;
}

static void free_bytes(char **bytes)
{
	free(*bytes);
}

static void fill(char *bytes, size_t len, const char *with, size_t n_with)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = with[i % n_with];
}

/* From every start, as far as the model goes. */
static bool same_as_model(scan_fn scan, bool (*belongs)(unsigned char), const char *bytes,
			  size_t len)
{
	for (size_t from = 0; from <= len; from++)
		if (scan(bytes + from, bytes + len) != bytes + model(belongs, bytes, from, len))
			return false;
	return true;
}

/* Every byte value at every place of a run of this length. */
static bool try_every_byte(scan_fn scan, bool (*belongs)(unsigned char), struct mp_str run,
			   size_t len)
{
	MP_CLEANUP(free_bytes) char *bytes = malloc(len ? len : 1);
	char *exact = len ? bytes : bytes + 1; /* an empty run ends at the end of its block */

	REQUIRE(bytes);
	fill(exact, len, run.p, run.len);
	REQUIRE(same_as_model(scan, belongs, exact, len));
	for (size_t at = 0; at < len; at++) {
		for (unsigned value = 0; value < 256; value++) {
			exact[at] = (char)value;
			REQUIRE(scan(exact, exact + len) == exact + model(belongs, exact, 0, len));
			/* Two of the same: the first counts. */
			exact[len - 1] = (char)value;
			REQUIRE(scan(exact, exact + len) == exact + model(belongs, exact, 0, len));
			fill(exact + len - 1, 1, run.p + (len - 1) % run.len, 1);
		}
		fill(exact, len, run.p, run.len);
	}
	return true;
}

TEST(a_plain_run_ends_where_the_model_says)
{
	for (size_t len = 0; len <= LONGEST; len++) {
		CHECK(try_every_byte(mp_scan_plain, model_is_plain, MP_STR("a"), len));
		CHECK(try_every_byte(mp_scan_plain, model_is_plain, MP_STR(" !#[]~\x7f"), len));
	}
}

TEST(white_space_ends_where_the_model_says)
{
	for (size_t len = 0; len <= LONGEST; len++) {
		CHECK(try_every_byte(mp_scan_space, model_is_space, MP_STR(" "), len));
		CHECK(try_every_byte(mp_scan_space, model_is_space, MP_STR(" \t\r\n\n  "), len));
	}
}

/* Neighbours in one word: a borrow or a carry from one byte must not reach the answer. */
static bool try_pairs(size_t at)
{
	char bytes[24];

	for (unsigned one = 0; one < 256; one++) {
		for (unsigned other = 0; other < 256; other++) {
			memset(bytes, 'x', sizeof(bytes));
			bytes[at] = (char)one;
			bytes[at + 1] = (char)other;
			REQUIRE(mp_scan_plain(bytes, bytes + sizeof(bytes)) ==
				bytes + model(model_is_plain, bytes, 0, sizeof(bytes)));
		}
	}
	return true;
}

TEST(neighbours_do_not_disturb_each_other)
{
	for (size_t at = 0; at < 18; at++)
		CHECK(try_pairs(at));
}

TEST(random_runs_end_where_the_model_says)
{
	static const char some[] = " \t\n\r\"\\a~\x1f\x7f\x80\xff";
	uint64_t seed = 20240607;

	for (int round = 0; round < 20000; round++) {
		size_t len = test_random(&seed) % (LONGEST + 1);
		MP_CLEANUP(free_bytes) char *bytes = malloc(len ? len : 1);

		CHECK(bytes);
		for (size_t i = 0; i < len; i++) {
			uint64_t dice = test_random(&seed);

			/* Mostly what continues a run, so that runs are long. */
			bytes[i] = dice % 16 ? (round % 2 ? ' ' : 'b') : some[dice / 16 % 12];
		}
		CHECK(same_as_model(mp_scan_plain, model_is_plain, bytes, len));
		CHECK(same_as_model(mp_scan_space, model_is_space, bytes, len));
	}
}

TEST(single_bytes_are_classified)
{
	for (unsigned value = 0; value < 256; value++) {
		CHECK_EQ(mp_scan_is_plain((char)value), model_is_plain((unsigned char)value));
		CHECK_EQ(mp_scan_is_space((char)value), model_is_space((unsigned char)value));
	}
}

TEST(nothing_is_scanned_in_an_empty_text)
{
	CHECK(mp_scan_plain(NULL, NULL) == NULL);
	CHECK(mp_scan_space(NULL, NULL) == NULL);
}
