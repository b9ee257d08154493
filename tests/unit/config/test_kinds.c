/* test_kinds.c - the transports by every tool's word for them. */
#include "test.h"

#include "config/values/entry.h"

/* E1 U1 */
TEST(every_word_for_a_transport)
{
	static const struct {
		const char *word, *url, *kind; /* kind NULL: an unknown word */
	} rows[] = {
		{"stdio", NULL, "stdio"},
		{"local", NULL, "stdio"},
		{"http", "http://x/sse", "http"},
		{"streamable-http", NULL, "http"},
		{"streamableHttp", NULL, "http"},
		{"streamable_http", NULL, "http"},
		{"sse", NULL, "sse"},
		{"websocket", NULL, "websocket"},
		{"ws", NULL, "websocket"},
		{"remote", "http://x/mcp", "http"},
		{"remote", "http://x/sse", "sse"},
		{"remote", NULL, "http"},
		{"STDIO", NULL, NULL},
		{"", NULL, NULL},
		{"carrier-pigeon", NULL, NULL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		enum mp_kind kind;

		CHECK_EQ(mp_kind_find(rows[i].word, rows[i].url, &kind), rows[i].kind != NULL);
		if (rows[i].kind)
			CHECK_TEXT(mp_kind_get_name(kind), rows[i].kind);
	}
}

TEST(addresses_begin_with_a_scheme)
{
	CHECK(mp_entry_is_address("http://x") && mp_entry_is_address("HTTPS://x"));
	CHECK(mp_entry_is_address("ws://x") && mp_entry_is_address("wss://x"));
	CHECK(mp_entry_is_address("${URL}") && mp_entry_is_address("{env:URL}"));
	CHECK(!mp_entry_is_address("x.example/mcp") && !mp_entry_is_address("http://"));
	CHECK(!mp_entry_is_address("unix:///x") && !mp_entry_is_address(""));
}
