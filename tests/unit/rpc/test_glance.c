/* test_glance.c - what kind of message a line is, seen in passing. */
#include "test.h"

#include "rpc/glance.h"
#include "rpc/message.h"

static struct mp_glance look(const char *text)
{
	struct mp_glance g;

	mp_glance(mp_str_of(text), &g);
	return g;
}

TEST(the_kinds_are_told_apart)
{
	static const struct {
		const char *text;
		enum mp_glance_kind kind;
		const char *id, *method;
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MP_GLANCE_REQUEST, "1",
		 "ping"},
		{"{\"method\":\"tools/call\",\"params\":{\"a\":[1,{\"id\":9}],\"b\":\"}\\\"\"},"
		 "\"jsonrpc\":\"2.0\",\"id\":\"x y\"}",
		 MP_GLANCE_REQUEST, "\"x y\"", "tools/call"},
		{" { \"id\" : -1.5e3 , \"method\" : \"m\" } ", MP_GLANCE_REQUEST, "-1.5e3", "m"},
		{"{\"id\":\"a\\\"b\",\"method\":\"m\"}", MP_GLANCE_REQUEST, "\"a\\\"b\"", "m"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		 MP_GLANCE_NOTIFICATION, "", "notifications/initialized"},
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"unfinished", MP_GLANCE_RESULT,
		 "7", ""},
		{"{\"result\":{\"id\":1},\"id\":7}", MP_GLANCE_RESULT, "7", ""},
		{"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1},\"id\":null}", MP_GLANCE_ERROR,
		 "null", ""},
		{"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{}}", MP_GLANCE_ERROR, "2", ""},
		{" [{\"id\":1}]", MP_GLANCE_BATCH, "", ""},
		{"{}", MP_GLANCE_NOTHING, "", ""},
		{"", MP_GLANCE_NOTHING, "", ""},
		{"hello", MP_GLANCE_NOTHING, "", ""},
		{"{\"id\":1}", MP_GLANCE_NOTHING, "1", ""},
		{"{\"\\u0069d\":1,\"method\":\"m\"}", MP_GLANCE_NOTHING, "", ""},
		{"{\"id\":1,\"method\":\"a\\/b\"}", MP_GLANCE_NOTHING, "1", NULL},
		{"{\"method\":\"m\"", MP_GLANCE_NOTHING, "", "m"},
		{"{\"method\":5}", MP_GLANCE_NOTHING, "", NULL},
		{"{\"params\":{\"a\":\"b", MP_GLANCE_NOTHING, "", ""},
		{"{\"params\":}}", MP_GLANCE_NOTHING, "", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_glance g = look(rows[i].text);

		CHECK_EQ(g.kind, rows[i].kind);
		CHECK(mp_str_eq(g.id, mp_str_of(rows[i].id)));
		CHECK(!rows[i].method || mp_str_eq(g.method, mp_str_of(rows[i].method)));
	}
}
