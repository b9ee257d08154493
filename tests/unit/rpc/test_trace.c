/*
 * test_trace.c - traceparent, as W3C Trace Context has it.
 */
#include "test.h"

#include "rpc/trace.h"

#define ID     "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

TEST(a_parent_is_read)
{
	struct mp_trace t;
	char id[33];

	CHECK(mp_trace_parse(MP_STR("00-" ID "-" PARENT "-01"), &t));
	CHECK(!t.is_unsampled && !mp_trace_has_span(&t));
	mp_trace_write_id(t.id, MP_TRACE_ID, id);
	CHECK_TEXT(id, ID);
	mp_trace_write_id(t.parent, MP_SPAN_ID, id);
	CHECK_TEXT(id, PARENT);
	CHECK(mp_trace_parse(MP_STR("00-" ID "-" PARENT "-02"), &t) && t.is_unsampled);
	CHECK(mp_trace_parse(MP_STR("00-" ID "-" PARENT "-ff"), &t) && !t.is_unsampled);
	/* A version to come may say more. */
	CHECK(mp_trace_parse(MP_STR("cc-" ID "-" PARENT "-01"), &t));
	CHECK(mp_trace_parse(MP_STR("cc-" ID "-" PARENT "-01-what"), &t));
}

TEST(what_is_no_parent_is_none)
{
	static const char *const bad[] = {
		"",
		"00",
		"00-" ID "-" PARENT "-0",
		"00-" ID "-" PARENT "-01-",
		"00-" ID "-" PARENT "-01 ",
		"00-" ID "-" PARENT "-01, 00-" ID "-" PARENT "-01",
		"ff-" ID "-" PARENT "-01",
		"cc-" ID "-" PARENT "-01.what",
		"00-00000000000000000000000000000000-" PARENT "-01",
		"00-" ID "-0000000000000000-01",
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
		"00-" ID "-" PARENT "-0x",
		"00_" ID "-" PARENT "-01",
		"0g-" ID "-" PARENT "-01",
	};
	struct mp_trace t;

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		CHECK(!mp_trace_parse(mp_str_of(bad[i]), &t));
		CHECK_EQ(t.id[0] | t.parent[1], 0);
	}
}

TEST(our_span_becomes_the_parent)
{
	struct mp_trace t, next;
	char text[MP_TRACE_PARENT];

	CHECK(mp_trace_parse(MP_STR("00-" ID "-" PARENT "-01"), &t));
	mp_trace_enter(&t);
	CHECK(mp_trace_has_span(&t));
	mp_trace_write(&t, text);
	CHECK(strncmp(text, "00-" ID "-", 36) == 0 && strcmp(text + 52, "-01") == 0);
	CHECK(!strstr(text, PARENT));
	CHECK(mp_trace_parse(mp_str_of(text), &next));
	CHECK(memcmp(next.parent, t.span, MP_SPAN_ID) == 0);
	mp_trace_begin(&next);
	CHECK(memcmp(next.id, t.id, MP_TRACE_ID) != 0 && !mp_trace_has_span(&next));
}
