/* test_peek.c - what kind of message a line is, seen in passing. */
#include "test.h"

#include "rpc/peek.h"
#include "rpc/message.h"

static struct mp_peek look(const char *text)
{
	struct mp_peek g;

	mp_peek(mp_str_of(text), &g);
	return g;
}

TEST(the_kinds_are_told_apart)
{
	static const struct {
		const char *text;
		enum mp_peek_kind kind;
		const char *id, *method;
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", MP_PEEK_REQUEST, "1",
		 "ping"},
		{"{\"method\":\"tools/call\",\"params\":{\"a\":[1,{\"id\":9}],\"b\":\"}\\\"\"},"
		 "\"jsonrpc\":\"2.0\",\"id\":\"x y\"}",
		 MP_PEEK_REQUEST, "\"x y\"", "tools/call"},
		{" { \"id\" : -1.5e3 , \"method\" : \"m\" } ", MP_PEEK_REQUEST, "-1.5e3", "m"},
		{"{\"id\":\"a\\\"b\",\"method\":\"m\"}", MP_PEEK_REQUEST, "\"a\\\"b\"", "m"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		 MP_PEEK_NOTIFICATION, "", "notifications/initialized"},
		{"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"unfinished", MP_PEEK_RESULT,
		 "7", ""},
		{"{\"result\":{\"id\":1},\"id\":7}", MP_PEEK_RESULT, "7", ""},
		{"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1},\"id\":null}", MP_PEEK_ERROR, "null",
		 ""},
		{"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{}}", MP_PEEK_ERROR, "2", ""},
		{" [{\"id\":1}]", MP_PEEK_BATCH, "", ""},
		{"{}", MP_PEEK_NOTHING, "", ""},
		{"", MP_PEEK_NOTHING, "", ""},
		{"hello", MP_PEEK_NOTHING, "", ""},
		{"{\"id\":1}", MP_PEEK_NOTHING, "1", ""},
		{"{\"\\u0069d\":1,\"method\":\"m\"}", MP_PEEK_NOTHING, "", ""},
		{"{\"id\":1,\"method\":\"a\\/b\"}", MP_PEEK_NOTHING, "1", NULL},
		{"{\"method\":\"m\"", MP_PEEK_NOTHING, "", "m"},
		{"{\"method\":5}", MP_PEEK_NOTHING, "", NULL},
		{"{\"params\":{\"a\":\"b", MP_PEEK_NOTHING, "", ""},
		{"{\"params\":}}", MP_PEEK_NOTHING, "", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_peek g = look(rows[i].text);

		CHECK_EQ(g.kind, rows[i].kind);
		CHECK(mp_str_eq(g.id, mp_str_of(rows[i].id)));
		CHECK(!rows[i].method || mp_str_eq(g.method, mp_str_of(rows[i].method)));
	}
}
