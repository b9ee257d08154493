/* test_buf.c - growing bytes: the ceiling, and contents left alone by whatever fails. */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"

TEST(adding_in_every_way)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 1000);
	CHECK_STR(mp_buf_get(&b), "");
	CHECK_EQ(mp_buf_add(&b, "ab", 2), 0);
	CHECK_EQ(mp_buf_add(&b, NULL, 0), 0);
	CHECK_EQ(mp_buf_add_str(&b, MP_STR("c\0d")), 0);
	CHECK_EQ(mp_buf_add_char(&b, 'e'), 0);
	CHECK_EQ(mp_buf_addf(&b, "-%d-%s", 5, "f"), 0);
	CHECK_STR(mp_buf_get(&b), "abc\0de-5-f");
	mp_buf_clear(&b);
	CHECK_STR(mp_buf_get(&b), "");
}

TEST(growing_keeps_the_contents)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 1 << 20);
	for (size_t i = 0; i < 20000; i++)
		CHECK_EQ(mp_buf_add_char(&b, (char)i), 0);
	CHECK_EQ(b.len, 20000);
	for (size_t i = 0; i < b.len; i++)
		CHECK_EQ(b.data[i], (char)i);
}

/* What adding up to the ceiling and one over does, for bufs below, at and above the first size. */
static bool is_held_by(size_t ceiling)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, ceiling);
	while (b.len < ceiling)
		REQUIRE(mp_buf_add_char(&b, (char)b.len) == 0);
	REQUIRE(mp_buf_add_char(&b, 'x') == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_add(&b, "xy", 2) == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_addf(&b, "%s", "x") == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_reserve(&b, 1) == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_reserve(&b, SIZE_MAX) == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_splice(&b, 0, 0, MP_STR("x")) == MCPOOL_ELIMIT);
	REQUIRE(mp_buf_add(&b, "", 0) == 0);
	REQUIRE(b.len == ceiling && b.cap <= ceiling);
	for (size_t i = 0; i < b.len; i++)
		REQUIRE(b.data[i] == (char)i);
	return true;
}

TEST(the_ceiling_is_exact)
{
	static const size_t ceilings[] = {0,   1,   2,   7,    100,  255,  256,
					  257, 511, 512, 1000, 1023, 1024, 5000};

	for (size_t i = 0; i < MP_ARRAY_LEN(ceilings); i++)
		CHECK(is_held_by(ceilings[i]));
}

TEST(one_addition_over_the_ceiling_changes_nothing)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	char many[200];

	memset(many, 'x', sizeof(many));
	mp_buf_init(&b, 100);
	CHECK_EQ(mp_buf_add(&b, "here", 4), 0);
	CHECK_EQ(mp_buf_add(&b, many, 97), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_add(&b, many, 200), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_addf(&b, "%.97s", many), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_splice(&b, 1, 1, (struct mp_str){many, 98}), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&b), "here");
	CHECK_EQ(mp_buf_add(&b, many, 96), 0);
	CHECK_EQ(b.len, 100);
}

TEST(a_cleared_buf_has_its_ceiling_again)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 4);
	CHECK_EQ(mp_buf_add(&b, "1234", 4), 0);
	mp_buf_clear(&b);
	CHECK_EQ(mp_buf_add(&b, "12345", 5), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_add(&b, "4321", 4), 0);
	CHECK_STR(mp_buf_get(&b), "4321");
}

TEST(reserved_room_is_the_callers_to_fill)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 3000);
	CHECK_EQ(mp_buf_reserve(&b, 3000), 0);
	CHECK(b.cap - b.len >= 3000);
	memset(b.data, 'z', 3000);
	b.len = 3000;
	CHECK_EQ(mp_buf_reserve(&b, 0), 0);
	CHECK_EQ(mp_buf_reserve(&b, 1), MCPOOL_ELIMIT);
}

TEST(memory_that_is_refused_changes_nothing)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	char many[1000];

	if (!mp_fault_is_built_in())
		return;
	memset(many, 'x', sizeof(many));
	mp_buf_init(&b, 10000);
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_EQ(mp_buf_add(&b, "here", 4), 0);
	mp_fault_arm(MP_FAULT_TRY, 1);
	CHECK_EQ(mp_buf_add(&b, many, sizeof(many)), MCPOOL_ENOMEM);
	mp_fault_arm(MP_FAULT_TRY, 1);
	CHECK_EQ(mp_buf_splice(&b, 2, 1, (struct mp_str){many, sizeof(many)}), MCPOOL_ENOMEM);
	for (uint64_t nth = 1; nth <= 2; nth++) { /* the long text itself, then room for it */
		mp_fault_arm(MP_FAULT_TRY, nth);
		CHECK_EQ(mp_buf_addf(&b, "%.1000s", many), MCPOOL_ENOMEM);
	}
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_STR(mp_buf_get(&b), "here");
}

/* --- formatted ------------------------------------------------------------------------------ */

TEST(formatted_text_of_every_length_around_512)
{
	for (int n = 505; n < 520; n++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf b;

		mp_buf_init(&b, 2000);
		CHECK_EQ(mp_buf_addf(&b, "<%0*d>", n - 2, 7), 0);
		CHECK_EQ(b.len, n);
		CHECK_EQ(b.data[0], '<');
		CHECK_EQ(b.data[n - 2], '7');
		CHECK_EQ(b.data[n - 1], '>');
	}
}

TEST(long_formatted_text_and_the_ceiling)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 10000);
	CHECK_EQ(mp_buf_add(&b, "ab", 2), 0);
	CHECK_EQ(mp_buf_addf(&b, "%0*d", 9999, 1), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&b), "ab");
	CHECK_EQ(mp_buf_addf(&b, "%0*d", 9998, 1), 0);
	CHECK_EQ(b.len, 10000);
	CHECK_EQ(b.data[9999], '1');
}

TEST(text_far_over_the_ceiling_is_not_made_first)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 1000);
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_EQ(mp_buf_addf(&b, "%0*d", 100 * 1000 * 1000, 1), MCPOOL_ELIMIT);
	CHECK_EQ(mp_fault_get_count(MP_FAULT_TRY), 0);
}

/* --- in the middle -------------------------------------------------------------------------- */

TEST(splicing)
{
	static const struct {
		size_t at, gone;
		const char *with, *result;
	} rows[] = {
		{0, 0, "", "abcdef"},         {0, 0, "X", "Xabcdef"},  {6, 0, "X", "abcdefX"},
		{3, 0, "XYZ", "abcXYZdef"},   {0, 2, "", "cdef"},      {4, 2, "", "abcd"},
		{2, 2, "", "abef"},           {2, 2, "X", "abXef"},    {2, 2, "XY", "abXYef"},
		{2, 2, "XYZ1", "abXYZ1ef"},   {0, 6, "", ""},          {0, 6, "X", "X"},
		{0, 6, "1234567", "1234567"}, {5, 1, "YZ", "abcdeYZ"}, {0, 1, "YZ", "YZbcdef"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf b;

		mp_buf_init(&b, 100);
		CHECK_EQ(mp_buf_add(&b, "abcdef", 6), 0);
		CHECK_EQ(mp_buf_splice(&b, rows[i].at, rows[i].gone, mp_str_of(rows[i].with)), 0);
		CHECK(mp_str_eq(mp_buf_get(&b), mp_str_of(rows[i].result)));
	}
}

TEST(splicing_into_nothing_and_beyond_the_room)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	char many[2000];

	memset(many, 'x', sizeof(many));
	mp_buf_init(&b, 2002);
	CHECK_EQ(mp_buf_splice(&b, 0, 0, MP_STR("")), 0);
	CHECK_EQ(mp_buf_splice(&b, 0, 0, MP_STR("<->")), 0);
	CHECK_EQ(mp_buf_splice(&b, 1, 1, (struct mp_str){many, sizeof(many)}), 0);
	CHECK_EQ(b.len, 2002);
	CHECK(b.data[0] == '<' && b.data[1] == 'x' && b.data[2000] == 'x' && b.data[2001] == '>');
	CHECK_EQ(mp_buf_splice(&b, 1, 0, MP_STR("x")), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_splice(&b, 0, 2002, (struct mp_str){many, sizeof(many)}), 0); /* shrinks */
	CHECK_EQ(b.len, 2000);
}

static void splice_behind_the_end(void)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	if (mp_buf_add(&b, "abc", 3) < 0 || mp_buf_splice(&b, 4, 0, MP_STR("x")) < 0)
		return;
}

static void splice_too_much_away(void)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	if (mp_buf_add(&b, "abc", 3) < 0 || mp_buf_splice(&b, 2, SIZE_MAX, MP_STR("x")) < 0)
		return;
}

static void consume_too_much(void)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	if (mp_buf_add(&b, "abc", 3) == 0)
		mp_buf_consume(&b, 4);
}

TEST(ranges_outside_stop_the_process)
{
	mp_fault_arm(MP_FAULT_TRY, 0); /* or the promise is never broken */
	CHECK(test_stops(splice_behind_the_end));
	CHECK(test_stops(splice_too_much_away));
	CHECK(test_stops(consume_too_much));
}

TEST(consuming_from_the_front)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 6);
	mp_buf_consume(&b, 0);
	CHECK_EQ(mp_buf_add(&b, "abcdef", 6), 0);
	mp_buf_consume(&b, 0);
	CHECK_STR(mp_buf_get(&b), "abcdef");
	mp_buf_consume(&b, 2);
	CHECK_STR(mp_buf_get(&b), "cdef");
	CHECK_EQ(mp_buf_add(&b, "gh", 2), 0); /* its room is there again */
	CHECK_STR(mp_buf_get(&b), "cdefgh");
	mp_buf_consume(&b, 6);
	CHECK_STR(mp_buf_get(&b), "");
}

/* --- at the end ----------------------------------------------------------------------------- */

TEST(taking_leaves_an_empty_buf)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	MP_CLEANUP(mp_freep) char *taken = NULL;
	size_t len = 99;

	mp_buf_init(&b, 10);
	CHECK(!mp_buf_take(&b, &len));
	CHECK_EQ(len, 0);
	CHECK_EQ(mp_buf_add(&b, "abc", 3), 0);
	taken = mp_buf_take(&b, &len);
	CHECK_STR(((struct mp_str){taken, len}), "abc");
	CHECK_STR(mp_buf_get(&b), "");
	CHECK_EQ(mp_buf_add(&b, "1234567890", 10), 0); /* not into what was taken */
	CHECK_STR(((struct mp_str){taken, len}), "abc");
	CHECK_EQ(mp_buf_add_char(&b, 'x'), MCPOOL_ELIMIT); /* the ceiling stayed */
}

TEST(terminating_makes_a_c_string)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 4);
	CHECK_EQ(mp_buf_terminate(&b), 0);
	CHECK_TEXT(b.data, "");
	CHECK_EQ(mp_buf_add(&b, "abc", 3), 0);
	CHECK_EQ(mp_buf_terminate(&b), 0);
	CHECK_EQ(b.len, 3);
	CHECK_TEXT(b.data, "abc");
	CHECK_EQ(mp_buf_add_char(&b, 'd'), 0); /* over the NUL */
	CHECK_STR(mp_buf_get(&b), "abcd");
	CHECK_EQ(mp_buf_terminate(&b), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&b), "abcd");
}

TEST(a_buf_that_is_done_may_be_used_again)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 3);
	CHECK_EQ(mp_buf_add(&b, "abc", 3), 0);
	mp_buf_done(&b);
	CHECK_EQ(b.len, 0);
	CHECK_EQ(mp_buf_add(&b, "abcd", 4), MCPOOL_ELIMIT);
	CHECK_EQ(mp_buf_add(&b, "xyz", 3), 0);
	CHECK_STR(mp_buf_get(&b), "xyz");
}

TEST(pieces_are_added_all_or_none)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	struct mp_str pieces[] = {MP_STR("ab"), {NULL, 0}, MP_STR("c"), MP_STR("")};

	mp_buf_init(&b, 7);
	CHECK_EQ(mp_buf_add_pieces(&b, pieces, 0), 0);
	CHECK_EQ(mp_buf_add_pieces(&b, &pieces[1], 1), 0);
	CHECK(b.len == 0 && !b.data);
	CHECK_EQ(mp_buf_add_pieces(&b, pieces, MP_ARRAY_LEN(pieces)), 0);
	CHECK_EQ(mp_buf_add_pieces(&b, pieces, MP_ARRAY_LEN(pieces)), 0);
	CHECK_STR(mp_buf_get(&b), "abcabc");
	CHECK_EQ(mp_buf_add_pieces(&b, pieces, MP_ARRAY_LEN(pieces)), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&b), "abcabc");
}

TEST(shrinking_gives_back_what_is_large)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	const char *small;

	mp_buf_init(&b, 5000);
	CHECK_EQ(mp_buf_add(&b, "abc", 3), 0);
	small = b.data;
	mp_buf_shrink(&b, 1000);
	CHECK_EQ(b.len, 0);
	CHECK(b.data == small);
	CHECK_EQ(mp_buf_reserve(&b, 4000), 0);
	mp_buf_shrink(&b, 1000);
	CHECK(!b.data);
	CHECK_EQ(b.ceiling, 5000);
}
