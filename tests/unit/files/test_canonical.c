/*
 * test_canonical.c - one text for all spellings of a value, and different ones for different
 * values.
 */
#include "test.h"

#include "base/limits.h"
#include "files/document.h"

static struct mcpool_error why;

/* The canonical form of a text; replaces the content of the buffer. */
static int canonical(const char *text, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_buf_clear(out);
	mp_tape_init(&t, MP_TAPE_JSONC);
	r = mp_tape_parse(&t, mp_str_of(text), &why);
	return r < 0 ? r : mp_canonical_add(&t, MP_ROOT, out, &why);
}

static bool is(const char *text, const char *want)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(64));
	REQUIRE(canonical(text, &out) == 0);
	return test_same_text(mp_buf_get(&out), mp_str_of(want), text, __FILE__, __LINE__);
}

TEST(space_comments_and_order_do_not_matter)
{
	CHECK(is("{\"b\":1,\"a\":[true,null,{\"y\":\"\",\"x\":2}]}",
		 "{\"a\":[true,null,{\"x\":2,\"y\":\"\"}],\"b\":1}"));
	CHECK(is("{ /* c */ \"b\" : 1 , // d\n \"a\":[true,\tnull,{\"y\":\"\",\"x\":2,},],}",
		 "{\"a\":[true,null,{\"x\":2,\"y\":\"\"}],\"b\":1}"));
	CHECK(is("{}", "{}"));
	CHECK(is(" [ ] ", "[]"));
}

TEST(strings_are_spelled_in_one_way)
{
	CHECK(is("[\"\\u0061\\/\\u00e9\\t\"]", "[\"a/\xc3\xa9\\t\"]"));
	CHECK(is("{\"\\u0062\": 1, \"a\": 2}", "{\"a\":2,\"b\":1}"));
	CHECK(is("[\"\\u0000\"]", "[\"\\u0000\"]")); /* no NUL in the text */
}

TEST(what_is_different_stays_different)
{
	CHECK(is("[1, 1.0, 1e0, -0]", "[1,1.0,1e0,-0]"));
	CHECK(is("[[1],2]", "[[1],2]"));
	CHECK(is("[\"1\"]", "[\"1\"]"));
	CHECK(is("[\"a \"]", "[\"a \"]"));
}

/* V43 */
TEST(a_key_twice_has_no_canonical_form)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(64));
	CHECK_EQ(canonical("{\"x\": {\"a\": 1, \"\\u0061\": 2}}", &out), MCPOOL_EINVAL);
	CHECK_TEXT(why.message, "the key \"a\" occurs twice");
	CHECK_EQ(out.len, 0);
	CHECK_EQ(canonical("{\"a\": 1, \"b\": 2}", &out), 0);
}

TEST(the_ceiling_of_the_buffer_is_told)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 5);
	CHECK_EQ(canonical("[\"too long for it\"]", &out), MCPOOL_ELIMIT);
	CHECK(why.message[0]);
	CHECK_EQ(out.len, 0);
}

/* Sorted by bytes, so that no locale has a say. */
TEST(keys_are_sorted_by_their_bytes)
{
	CHECK(is("{\"b\":1,\"B\":2,\"\xc3\xa4\":3,\"\":4,\"ba\":5}",
		 "{\"\":4,\"B\":2,\"b\":1,\"ba\":5,\"\xc3\xa4\":3}"));
}
