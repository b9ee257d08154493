/*
 * test.h - how a unit test is written.
 *
 *	TEST(a_buf_grows)
 *	{
 *		MP_CLEANUP(mp_buf_done) struct mp_buf b;
 *		mp_buf_init(&b, 100);
 *		CHECK_EQ(mp_buf_add(&b, "abc", 3), 0);
 *		CHECK_STR(mp_buf_get(&b), "abc");
 *	}
 *
 * A CHECK that fails ends the function with a plain return, so whatever has MP_CLEANUP is cleaned
 *up. That is what lets the runner repeat each test with the 1st, 2nd, 3rd ... allocation failing:
 *the test may then fail, but nothing may crash or leak. Helpers that check return bool and are used
 * with CHECK themselves.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "base/str.h"

typedef void (*test_fn)(void);

enum test_kind {
	TEST_PLAIN,
	TEST_HEAVY, /* not repeated with faults: too many allocations for that; says so when run */
};

/* The program of a folder has the tests of all its files; an argument says which file is run. */
struct test {
	const char *file; /* __FILE__ of the test */
	const char *name;
	test_fn fn;
	enum test_kind kind;
	struct test *next;
};

void test_register(struct test *t);

#define TEST_OF_KIND(name, kind)                                              \
	static void name(void);                                               \
	__attribute__((constructor)) static void test_register_##name(void)   \
	{                                                                     \
		static struct test t = {__FILE__, #name, name, (kind), NULL}; \
                                                                              \
		test_register(&t);                                            \
	}                                                                     \
	static void name(void)

#define TEST(name)       TEST_OF_KIND(name, TEST_PLAIN)
#define HEAVY_TEST(name) TEST_OF_KIND(name, TEST_HEAVY)

/* Each notes the failure (quietly while faults are injected) and returns false. */
bool test_true(bool ok, const char *what, const char *file, int line);
bool test_equal(long long got, long long want, const char *what, const char *file, int line);
bool test_same_text(struct mp_str got, struct mp_str want, const char *what, const char *file,
		    int line);

#define CHECK(condition)                                                     \
	do {                                                                 \
		if (!test_true((condition), #condition, __FILE__, __LINE__)) \
			return;                                              \
	} while (0)
#define CHECK_EQ(got, want)                                                                     \
	do {                                                                                    \
		if (!test_equal((long long)(got), (long long)(want), #got, __FILE__, __LINE__)) \
			return;                                                                 \
	} while (0)
#define CHECK_STR(got, want)                                                                 \
	do {                                                                                 \
		if (!test_same_text((got), (struct mp_str){"" want, sizeof(want) - 1}, #got, \
				    __FILE__, __LINE__))                                     \
			return;                                                              \
	} while (0)
#define CHECK_TEXT(got, want)                                                                   \
	do {                                                                                    \
		if (!test_same_text(mp_str_of(got), mp_str_of(want), #got, __FILE__, __LINE__)) \
			return;                                                                 \
	} while (0)

/* For helpers that return bool. */
#define REQUIRE(condition)                                                   \
	do {                                                                 \
		if (!test_true((condition), #condition, __FILE__, __LINE__)) \
			return false;                                        \
	} while (0)

/* Do allocations fail in this run? Then what a test waits for may never come. */
bool test_is_faulty(void);

/* Does fn stop the process by a broken promise (or by exhausted memory)? Runs it in a child. */
bool test_stops(void (*fn)(void));

/* A file of tests/, whole; the caller frees it. */
char *test_read_file(const char *name, size_t *ret_len);

/* The same numbers in every run: xorshift, seeded by the caller. */
uint64_t test_random(uint64_t *seed);

#endif
