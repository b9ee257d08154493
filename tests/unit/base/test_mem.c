/* test_mem.c - both kinds of allocation, the out-of-memory hook, the fault points. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

#if defined(__has_feature)
#define SANITIZED_BY_CLANG (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED_BY_CLANG 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || SANITIZED_BY_CLANG
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static bool is_filled_with(const void *block, size_t size, unsigned char byte)
{
	const unsigned char *p = block;

	for (size_t i = 0; i < size; i++)
		if (p[i] != byte)
			return false;
	return true;
}

TEST(fixed_blocks_are_zeroed)
{
	for (size_t size = 1; size < 5000; size = size * 3 + 1) {
		for (int round = 0; round < 3; round++) { /* the later ones reuse dirty memory */
			MP_CLEANUP(mp_freep) char *block = mp_alloc(size);

			CHECK(is_filled_with(block, size, 0));
			memset(block, 0xff, size);
		}
	}
}

TEST(blocks_of_no_bytes_are_blocks)
{
	MP_CLEANUP(mp_freep) void *a = mp_alloc(0);
	MP_CLEANUP(mp_freep) void *b = mp_try_alloc(0);
	MP_CLEANUP(mp_freep) void *c = mp_try_realloc(NULL, 0);

	CHECK(a && b && c);
	CHECK(a != b && b != c);
}

TEST(free_takes_null_and_returns_null)
{
	uint64_t before = mp_mem_get_live();
	MP_CLEANUP(mp_freep) char *block = NULL;

	CHECK(mp_free(NULL) == NULL);
	CHECK_EQ(mp_mem_get_live(), before);
	block = mp_alloc(1);
	block = mp_free(block);
	CHECK(block == NULL);
	CHECK_EQ(mp_mem_get_live(), before);
}

TEST(realloc_keeps_the_contents)
{
	MP_CLEANUP(mp_freep) char *block = mp_try_alloc(3);
	char *moved;

	CHECK(block);
	memcpy(block, "abc", 3);
	moved = mp_try_realloc(block, 100000);
	CHECK(moved);
	block = moved;
	CHECK(memcmp(block, "abc", 3) == 0);
}

TEST(live_blocks_are_counted)
{
	uint64_t one = mp_fault_is_built_in() ? 1 : 0, before = mp_mem_get_live();
	MP_CLEANUP(mp_freep) void *a = mp_alloc(1);
	MP_CLEANUP(mp_freep) void *b = mp_try_alloc(1);
	void *moved;

	CHECK(b);
	CHECK_EQ(mp_mem_get_live(), before + 2 * one);
	moved = mp_try_realloc(b, 1000); /* still the same block to its owner */
	CHECK(moved);
	b = moved;
	CHECK_EQ(mp_mem_get_live(), before + 2 * one);
	a = mp_free(a);
	CHECK_EQ(mp_mem_get_live(), before + one);
}

TEST(wiping_clears_every_byte)
{
	char secret[37];

	memset(secret, 'x', sizeof(secret));
	mp_wipe(secret + 1, sizeof(secret) - 2);
	CHECK(is_filled_with(secret + 1, sizeof(secret) - 2, 0));
	CHECK(secret[0] == 'x' && secret[sizeof(secret) - 1] == 'x');
	mp_wipe(secret, 0);
	CHECK(secret[0] == 'x');
}

TEST(exactly_the_nth_peer_sized_allocation_fails)
{
	if (!mp_fault_is_built_in())
		return;
	for (uint64_t nth = 1; nth <= 5; nth++) {
		mp_fault_arm(MP_FAULT_TRY, nth);
		for (uint64_t i = 1; i <= 7; i++) {
			MP_CLEANUP(mp_freep) void *block = mp_try_alloc(8);

			CHECK_EQ(block == NULL, i == nth);
			CHECK_EQ(mp_fault_get_count(MP_FAULT_TRY), i);
		}
	}
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_EQ(mp_fault_get_count(MP_FAULT_TRY), 0);
}

TEST(the_kinds_are_counted_apart)
{
	MP_CLEANUP(mp_freep) void *fixed = NULL;
	MP_CLEANUP(mp_freep) void *tried = NULL;

	if (!mp_fault_is_built_in())
		return;
	mp_fault_arm(MP_FAULT_FIXED, 0);
	mp_fault_arm(MP_FAULT_TRY, 1);
	fixed = mp_alloc(8);
	CHECK_EQ(mp_fault_get_count(MP_FAULT_FIXED), 1);
	CHECK_EQ(mp_fault_get_count(MP_FAULT_TRY), 0);
	tried = mp_try_alloc(8);
	CHECK(!tried);
	mp_fault_arm(MP_FAULT_TRY, 0);
	tried = mp_try_alloc(8);
	CHECK(tried);
}

TEST(a_failed_realloc_leaves_the_block)
{
	MP_CLEANUP(mp_freep) char *block = NULL;
	uint64_t live;

	if (!mp_fault_is_built_in())
		return;
	mp_fault_arm(MP_FAULT_TRY, 2);
	block = mp_try_alloc(4);
	CHECK(block);
	memcpy(block, "left", 4);
	live = mp_mem_get_live();
	CHECK(!mp_try_realloc(block, 1000));
	CHECK(memcmp(block, "left", 4) == 0);
	CHECK_EQ(mp_mem_get_live(), live);
}

/* --- exhausted memory ----------------------------------------------------------------------- */

enum { REFUSED = 123, WRONG_EXIT = 3 };

/* Where faults are not built in, a size no system grants; sanitizers stop at that in their way. */
static bool can_exhaust(void)
{
	if (!mp_fault_is_built_in() && SANITIZED)
		printf("             skipped: sanitized and without fault points\n");
	return mp_fault_is_built_in() || !SANITIZED;
}

static void exhaust(void)
{
	mp_fault_arm(MP_FAULT_FIXED, 2);
	mp_free(mp_alloc(8));
	mp_free(mp_alloc(mp_fault_is_built_in() ? REFUSED : SIZE_MAX / 2));
}

static size_t told_sizes;

static void expect_once(size_t size)
{
	if (told_sizes++ || size != (mp_fault_is_built_in() ? REFUSED : SIZE_MAX / 2))
		_exit(WRONG_EXIT);
}

static void exhaust_with_hook(void)
{
	mp_mem_on_exhausted(expect_once);
	exhaust();
}

static void exhaust_without_hook(void)
{
	mp_mem_on_exhausted(NULL);
	exhaust();
}

static void leave_wrongly(size_t size)
{
	(void)size;
	_exit(WRONG_EXIT);
}

static void exhaust_with_a_hook_that_leaves(void)
{
	mp_mem_on_exhausted(leave_wrongly);
	exhaust();
}

TEST(exhausted_memory_stops_the_process)
{
	if (!can_exhaust())
		return;
	told_sizes = 0;
	CHECK(test_stops(exhaust_with_hook)); /* also when the hook returns */
	CHECK(test_stops(exhaust_without_hook));
	CHECK(!test_stops(exhaust_with_a_hook_that_leaves)); /* so the hook is what was called */
}

static long resident_pages(void)
{
	long all = 0, resident = -1;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &all, &resident) != 2)
		resident = -1;
	if (f)
		fclose(f);
	return resident;
}

/* Large things with small ones between them: those stay, and so does all the memory below. */
HEAVY_TEST(what_is_free_can_be_given_back)
{
	enum { MANY = 1000, LARGE = 60000 };
	static void *large[MANY], *small[MANY];
	long before;

	for (int i = 0; i < MANY; i++) {
		large[i] = mp_alloc(LARGE);
		small[i] = mp_alloc(16);
		memset(large[i], 1, LARGE);
		memset(small[i], 7, 16);
	}
	for (int i = 0; i < MANY; i++)
		large[i] = mp_free(large[i]);
	before = resident_pages();
	mp_mem_trim();
	for (int i = 0; i < MANY; i++) {
		CHECK_EQ(*(char *)small[i], 7);
		small[i] = mp_free(small[i]);
	}
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(resident_pages() < before - 10000);
#else
	CHECK(before != 0);
#endif
}

static void break_a_promise(void)
{
	mp_check(1 + 1 == 3);
}

static void keep_a_promise(void)
{
	mp_check(1 + 1 == 2);
}

TEST(a_broken_promise_stops_the_process)
{
	CHECK(test_stops(break_a_promise));
	CHECK(!test_stops(keep_a_promise));
}
