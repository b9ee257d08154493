/* test_arena.c - bump memory: alignment, growth, its ceiling, and what a reset keeps. */
#include <string.h>

#include "test.h"

#include <stdalign.h>

#include "base/arena.h"
#include "base/mem.h"

enum { ALIGN = alignof(max_align_t) };

TEST(every_address_is_aligned_for_any_type)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 1 << 20);
	for (size_t size = 0; size < 200; size++) {
		void *p = mp_arena_alloc(&a, size);

		CHECK(p);
		CHECK_EQ((uintptr_t)p % ALIGN, 0);
	}
}

TEST(objects_do_not_overlap)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	unsigned char *p[150];

	mp_arena_init(&a, 1 << 20);
	for (size_t i = 0; i < MP_ARRAY_LEN(p); i++) {
		p[i] = mp_arena_alloc(&a, i * 3);
		CHECK(p[i]);
		memset(p[i], (int)i, i * 3);
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(p); i++)
		for (size_t j = 0; j < i * 3; j++)
			CHECK_EQ(p[i][j], i);
}

TEST(nothing_is_an_object_too)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	void *first, *second;

	mp_arena_init(&a, 1000);
	first = mp_arena_alloc(&a, 0);
	second = mp_arena_alloc(&a, 0);
	CHECK(first && second);
	CHECK(first != second);
}

static size_t count_blocks_taken_by(size_t bytes, size_t each)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	size_t blocks = 0, taken = 0;

	mp_arena_init(&a, SIZE_MAX / 2);
	for (size_t i = 0; i < bytes; i += each) {
		if (!mp_arena_alloc(&a, each))
			return 0;
		blocks += a.taken != taken;
		taken = a.taken;
	}
	return blocks;
}

TEST(blocks_double_in_size)
{
	size_t small = count_blocks_taken_by(64 << 10, 64);
	size_t large = count_blocks_taken_by(1 << 20, 64);

	CHECK(small > 1 && small <= 9);
	CHECK(large > small && large <= small + 5);
}

TEST(the_ceiling_is_reached_exactly)
{
	for (size_t ceiling = ALIGN; ceiling < 3 * 4096; ceiling += 37 * ALIGN) {
		MP_CLEANUP(mp_arena_done) struct mp_arena a;
		size_t n = 0;

		mp_arena_init(&a, ceiling);
		for (; n < ceiling / ALIGN; n++)
			CHECK(mp_arena_alloc(&a, ALIGN));
		CHECK_EQ(a.taken, ceiling);
		CHECK(!mp_arena_alloc(&a, 1));
		CHECK(!mp_arena_alloc(&a, 0));
		CHECK_EQ(a.taken, ceiling);
	}
}

TEST(one_object_as_large_as_the_ceiling)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 100 * ALIGN);
	CHECK(!mp_arena_alloc(&a, 100 * ALIGN + 1));
	CHECK(!mp_arena_alloc(&a, SIZE_MAX));
	CHECK(!mp_arena_alloc(&a, SIZE_MAX - ALIGN));
	CHECK_EQ(a.taken, 0);
	CHECK(mp_arena_alloc(&a, 100 * ALIGN));
	CHECK(!mp_arena_alloc(&a, 1));
}

TEST(a_ceiling_that_alignment_does_not_divide)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 2 * ALIGN + 3);
	CHECK(mp_arena_alloc(&a, ALIGN));
	CHECK(mp_arena_alloc(&a, 1));
	CHECK(!mp_arena_alloc(&a, 1)); /* three bytes are left, and no aligned object fits them */
	CHECK_EQ(a.taken, 2 * ALIGN + 3);
}

TEST(no_ceiling_is_no_wrap_around)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, SIZE_MAX);
	/* Rounded, or with its block's header, this would be a small number. */
	for (size_t less = 0; less < 2 * ALIGN - 1; less++)
		CHECK(!mp_arena_alloc(&a, SIZE_MAX - less));
	CHECK(mp_arena_alloc(&a, 1));
}

TEST(a_reset_keeps_one_block)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	uint64_t one = mp_fault_is_built_in() ? 1 : 0, before = mp_mem_get_live();
	size_t kept;
	char *first;

	mp_arena_init(&a, 1 << 20);
	mp_arena_reset(&a); /* of nothing */
	CHECK_EQ(a.taken, 0);
	for (int i = 0; i < 1000; i++)
		CHECK(mp_arena_alloc(&a, 100));
	CHECK(mp_mem_get_live() > before + one || !one);
	mp_arena_reset(&a);
	CHECK_EQ(mp_mem_get_live(), before + one);
	kept = a.taken;
	CHECK(kept >= 4096 && kept < 100 * 1000);
	first = mp_arena_alloc(&a, kept);
	CHECK(first); /* all of that block serves the next message */
	CHECK_EQ(a.taken, kept);
	mp_arena_reset(&a);
	CHECK(mp_arena_alloc(&a, 1) == first);
}

TEST(what_came_before_a_reset_does_not_lower_the_ceiling)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 100 * 1024);
	CHECK(mp_arena_alloc(&a, 60 * 1024));
	mp_arena_reset(&a);
	CHECK(mp_arena_alloc(&a, 80 * 1024)); /* more than is left beside the block that was kept */
	CHECK(a.taken <= a.ceiling);
	mp_arena_reset(&a);
	CHECK(mp_arena_alloc(&a, 100 * 1024));
	CHECK(!mp_arena_alloc(&a, 1));
}

TEST(a_large_block_is_not_kept)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 16 << 20);
	CHECK(mp_arena_alloc(&a, 1 << 20));
	mp_arena_reset(&a);
	CHECK_EQ(a.taken, 1 << 20);
	CHECK(mp_arena_alloc(&a, (1 << 20) + 1));
	mp_arena_reset(&a); /* or one large message would hold that memory for ever */
	CHECK_EQ(a.taken, 0);
	CHECK(mp_arena_alloc(&a, 1));
}

TEST(why_there_is_no_memory)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 1000);
	CHECK(!mp_arena_alloc(&a, 1001));
	CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ELIMIT);
	if (mp_fault_is_built_in()) {
		mp_fault_arm(MP_FAULT_TRY, 1);
		CHECK(!mp_arena_alloc(&a, 1));
		mp_fault_arm(MP_FAULT_TRY, 0);
		CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ENOMEM);
	}
	CHECK(!mp_arena_alloc(&a, SIZE_MAX));
	CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ELIMIT);
	a.error = 0;
	CHECK(!mp_arena_alloc_array(&a, SIZE_MAX, SIZE_MAX));
	CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ELIMIT);
	a.error = 0;
	CHECK(!mp_arena_dup(&a, (struct mp_str){"", SIZE_MAX}));
	CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ELIMIT);
}

TEST(arrays_are_cleared_and_do_not_overflow)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	unsigned char *bytes;
	uint64_t *numbers;

	mp_arena_init(&a, 1 << 16);
	bytes = mp_arena_alloc(&a, 1000);
	CHECK(bytes);
	memset(bytes, 0xff, 1000);
	mp_arena_reset(&a);
	numbers = mp_arena_alloc_array(&a, 100, sizeof(*numbers));
	CHECK(numbers);
	CHECK((void *)numbers == (void *)bytes); /* the dirty bytes again */
	for (size_t i = 0; i < 100; i++)
		CHECK_EQ(numbers[i], 0);
	CHECK(!mp_arena_alloc_array(&a, SIZE_MAX / 8 + 2, 8)); /* 8 bytes, were it to wrap */
	CHECK(!mp_arena_alloc_array(&a, 8, SIZE_MAX / 8 + 2));
	CHECK(!mp_arena_alloc_array(&a, (size_t)1 << 33, (size_t)1 << 33));
	CHECK(mp_arena_alloc_array(&a, 0, 8));
	CHECK(mp_arena_alloc_array(&a, 8, 0));
}

TEST(copies_end_in_nul)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	char text[] = "text";
	char *copy;

	mp_arena_init(&a, 1 << 16);
	copy = mp_arena_dup(&a, mp_str_of(text));
	CHECK(copy);
	text[0] = 'n';
	CHECK_TEXT(copy, "text");
	copy = mp_arena_dup(&a, (struct mp_str){NULL, 0});
	CHECK(copy);
	CHECK_TEXT(copy, "");
	copy = mp_arena_dup(&a, MP_STR("a\0b"));
	CHECK(copy);
	CHECK(memcmp(copy, "a\0b", 4) == 0);
	CHECK(!mp_arena_dup(&a, (struct mp_str){text, SIZE_MAX}));
}

TEST(the_copy_that_just_fits)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;
	static const char text[2 * ALIGN] = {'x'};

	mp_arena_init(&a, 2 * ALIGN);
	CHECK(!mp_arena_dup(&a, (struct mp_str){text, 2 * ALIGN}));
	CHECK(mp_arena_dup(&a, (struct mp_str){text, 2 * ALIGN - 1}));
}

TEST(an_error_is_there_only_after_one)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena a;

	mp_arena_init(&a, 10000);
	CHECK(mp_arena_alloc(&a, 5000));
	CHECK_EQ(mp_arena_get_error(&a), 0);
	CHECK(!mp_arena_alloc(&a, 6000));
	CHECK_EQ(mp_arena_get_error(&a), MCPOOL_ELIMIT);
}

TEST(an_arena_with_secrets_is_wiped)
{
	struct mp_arena a;
	char *text;

	mp_arena_init(&a, 4096);
	text = mp_arena_dup(&a, MP_STR("hunter2"));
	if (!text)
		return; /* memory was refused */
	mp_arena_wipe(&a);
	CHECK(!a.blocks && a.taken == 0);
	text = mp_arena_dup(&a, MP_STR("again"));
	CHECK(!text || strcmp(text, "again") == 0);
	mp_arena_wipe(&a);
}
