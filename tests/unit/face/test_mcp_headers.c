/*
 * test_mcp_headers.c - what HTTP headers say about a message.
 */
#include "test.h"

#include "face/mcp_headers.h"

enum { J = MP_ACCEPTS_JSON, E = MP_ACCEPTS_EVENTS };

TEST(what_a_client_accepts)
{
	static const struct {
		const char *accept;
		unsigned want;
	} cases[] = {
		{NULL, J | E},
		{"", 0},
		{"*/*", J | E},
		{"application/json", J},
		{"text/event-stream", E},
		{"application/json, text/event-stream", J | E},
		{"text/event-stream;q=0.9 ,application/json; charset=utf-8", J | E},
		{"Application/JSON,TEXT/EVENT-STREAM", J | E},
		{"application/*, text/*", J | E},
		{"text/html, */*;q=0.1", J | E},
		{"text/html", 0},
		{"application/jsonx, xtext/event-stream", 0},
		{", ,", 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++)
		CHECK_EQ(mp_mcp_headers_accept(mp_str_of(cases[i].accept)), cases[i].want);
}

TEST(what_json_is)
{
	CHECK(mp_mcp_headers_is_json(MP_STR("application/json")));
	CHECK(mp_mcp_headers_is_json(MP_STR("Application/Json ; charset=utf-8")));
	CHECK(!mp_mcp_headers_is_json(MP_STR("application/json5")));
	CHECK(!mp_mcp_headers_is_json(MP_STR("text/plain")));
	CHECK(!mp_mcp_headers_is_json(MP_STR("")));
	CHECK(!mp_mcp_headers_is_json((struct mp_str){NULL, 0}));
}

TEST(values_may_be_encoded)
{
	static const struct {
		const char *value, *text; /* NULL: it cannot be */
	} cases[] = {
		{"plain", "plain"},
		{"", ""},
		{"=?base64?aGVsbG8=?=", "hello"},
		{"=?base64?w6TDtsO8?=", "\xc3\xa4\xc3\xb6\xc3\xbc"},
		{"=?base64?"
		 "?=",
		 ""},
		{"=?base64?=", "=?base64?="}, /* too short to be the marker */
		{"=?BASE64?aGVsbG8=?=", "=?BASE64?aGVsbG8=?="},
		{"=?base64?aGVsbG8?=", NULL},
		{"=?base64?aGVsb G8=?=", NULL},
		{"=?base64?a===?=", NULL},
		{"=?base64?aG=sbG8=?=", NULL},
		{"=?base64?/////w==?=", NULL}, /* no UTF-8 */
		{"=?base64?aGVsbG8=", "=?base64?aGVsbG8="},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf room;
		struct mp_str text;
		int r;

		mp_buf_init(&room, 1000);
		r = mp_mcp_headers_decode(mp_str_of(cases[i].value), &room, &text);
		CHECK_EQ(r, cases[i].text ? 0 : MCPOOL_EINVAL);
		if (cases[i].text)
			CHECK(mp_str_eq(text, mp_str_of(cases[i].text)));
	}
}
