/* test_freelist.c - blocks that come back are had again, up to a number, by their size. */
#include "test.h"

#include "base/mem.h"
#include "base/freelist.h"

TEST(blocks_of_every_size_may_be_used_to_their_end)
{
	MP_CLEANUP(mp_freelist_done) struct mp_freelist s = {0};

	for (int round = 0; round < 3; round++)
		for (size_t size = 1; size <= MP_FREELIST_MOST; size++) {
			void *block = mp_freelist_take(&s, size);

			memset(block, 0xaa, size);
			CHECK(!mp_freelist_give(&s, block, size));
		}
	CHECK(!mp_freelist_give(&s, NULL, 1));
}

TEST(what_was_given_back_is_had_again)
{
	MP_CLEANUP(mp_freelist_done) struct mp_freelist s = {0};
	void *small = mp_freelist_take(&s, 200), *large = mp_freelist_take(&s, 900);

	mp_freelist_give(&s, small, 200);
	mp_freelist_give(&s, large, 900);
	if (mp_fault_is_built_in()) /* there each comes from the system */
		return;
	CHECK(mp_freelist_take(&s, 256) == small);
	CHECK(mp_freelist_take(&s, 769) == large);
	CHECK_EQ(s.n[0] + s.n[3], 0);
	mp_freelist_give(&s, small, 256);
	mp_freelist_give(&s, large, 769);
	CHECK_EQ(s.n[0], 1);
	CHECK_EQ(s.n[3], 1);
}

TEST(not_more_are_kept_than_there_may_be)
{
	MP_CLEANUP(mp_freelist_done) struct mp_freelist s = {0};
	void *blocks[200];

	for (size_t i = 0; i < MP_ARRAY_LEN(blocks); i++)
		blocks[i] = mp_freelist_take(&s, 300);
	for (size_t i = 0; i < MP_ARRAY_LEN(blocks); i++)
		mp_freelist_give(&s, blocks[i], 300);
	CHECK(s.n[1] <= 64);
	mp_freelist_done(&s);
	CHECK_EQ(s.n[1], 0);
	CHECK(!s.first[1]);
}

static void take_too_much(void)
{
	struct mp_freelist s = {0};

	mp_freelist_take(&s, MP_FREELIST_MOST + 1);
}

TEST(a_block_that_is_too_large_is_a_broken_promise)
{
	CHECK(test_stops(take_too_much));
}
