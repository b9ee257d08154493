/* test_recover_id.c - the id of a message that cannot be read, from its first or last bytes. */
#include "test.h"

#include "base/limits.h"
#include "rpc/recover_id.h"

struct row {
	const char *head, *tail, *id;
};

static bool judge(const struct row *row)
{
	struct mp_str id = mp_recover_id(mp_str_of(row->head), mp_str_of(row->tail));

	return test_same_text(id, mp_str_of(row->id), row->head, __FILE__, __LINE__);
}

/* V45, V49: the waiting call is told, whatever made the message unreadable. */
TEST(the_id_at_the_front)
{
	static const struct row rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":17,\"result\":{\"a\":[[[[", "", "17"},
		{"{\"id\" : -3 , \"result\":\"\xff", "", "-3"},
		{" \t{\"id\":\"a b\",\"result\":", "", "\"a b\""},
		{"{\"id\":\"a\\\"b\\\\\",\"result\":", "", "\"a\\\"b\\\\\""},
		{"{\"result\":{\"id\":1},\"id\":2,", "", "2"},
		{"{\"result\":[{\"id\":1},\"}\",\"\\\"{\"],\"id\":2,", "", "2"},
		{"{\"x\":\"id\",\"id\":5,", "", "5"},
		{"{\"id\":12", "", ""}, /* may have gone on */
		{"{\"id\":\"12", "", ""},
		{"{\"id\":\"12\\", "", ""},
		{"{\"id\":12,", "", "12"},
		{"{\"id\":null,\"result\":", "", "null"}, /* it answers no request */
		{"{\"id\":null", "", ""},
		{"{\"id\":{},\"result\":", "", ""},
		{"{\"id\"", "", ""},
		{"{\"id\":", "", ""},
		{"{\"id\":  ", "", ""},
		{"{\"id", "", ""},
		{"{\"ID\":3,", "", ""},
		{"{\"id2\":3,", "", ""},
		{"{\"result\":{\"id\":1,", "", ""},
		{"\"id\":1,", "", ""},
		{"]]]]{\"id\":1,", "", "1"}, /* more closing than opening does no harm */
		{"", "", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(judge(&rows[i]));
}

/* SDK 1.x writes the result first and the id last. */
TEST(the_id_at_the_end)
{
	static const struct row rows[] = {
		{"{\"result\":{\"content\":[", "xxxx\"}]},\"jsonrpc\":\"2.0\",\"id\":3}", "3"},
		{"{\"result\":", "]},\"id\":3,\"jsonrpc\":\"2.0\"}", "3"},
		{"{\"result\":", "]} , \"id\" : \"x\" , \"a\" : 1 , \"jsonrpc\" : \"2.0\" }\r\n",
		 "\"x\""},
		{"{\"result\":", ",\"id\":7},\"jsonrpc\":\"2.0\",\"id\":3}", "3"},
		{"{\"result\":", ",\"id\":7}}", ""}, /* inside */
		{"{\"result\":", ",\"id\":7}]", ""},
		{"{\"result\":", ",\"id\":7", ""},
		{"{\"result\":", ",\"id\":7,", ""},
		{"{\"result\":", ",\"id\":7,\"x\"}", ""},
		{"{\"result\":", ",\"id\":7,\"x\":}", ""},
		{"{\"result\":", ",\"id\":7,\"x\":{}}", ""},
		{"{\"result\":", ",\"id\":7,\"x", ""},
		{"{\"result\":", ",\"id\":7,x}", ""},
		{"{\"result\":", ",\"id\":null}", "null"},
		{"{\"result\":", ",\"id\":7} x", ""},
		{"{\"id\":1,\"result\":", "\"id\":2}", "1"}, /* the front is sure */
		{"{\"result\":{", "{\"id\":7,\"jsonrpc\":\"2.0\",\"id\":3}", "3"}, /* the last */
		{"{\"result\":", "\"x\\\"id\":7,\"jsonrpc\":\"2.0\"}", ""}, /* within a key */
		{"{\"result\":", "\"id\":7}", ""}, /* cut off right there */
		{"", "}", ""},
		{"", "\"id\"", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(judge(&rows[i]));
}

/* V48: an id has a length. */
TEST(an_id_too_long_is_none)
{
	static char text[MP_LIMIT_ID + 32] = "{\"id\":";
	size_t at = strlen("{\"id\":");

	memset(text + at, '1', MP_LIMIT_ID);
	text[at + MP_LIMIT_ID] = ',';
	CHECK_EQ(mp_recover_id(mp_str_of(text), MP_STR("")).len, MP_LIMIT_ID);
	text[at + MP_LIMIT_ID] = '1';
	text[at + MP_LIMIT_ID + 1] = ',';
	CHECK_EQ(mp_recover_id(mp_str_of(text), MP_STR("")).len, 0);
}

TEST(nothing_at_all)
{
	struct mp_str none = {NULL, 0};

	CHECK_EQ(mp_recover_id(none, none).len, 0);
	CHECK(!mp_recover_id_is_message(none));
	CHECK(!mp_recover_id_is_call(none));
}

TEST(messages_are_told_from_what_is_printed)
{
	CHECK(mp_recover_id_is_message(MP_STR("{\"jsonrpc\":\"2.0\"")));
	CHECK(mp_recover_id_is_message(MP_STR(" \t{\"result\":{")));
	CHECK(mp_recover_id_is_message(MP_STR("{\"id\":1, \"jsonrpc\"")));
	CHECK(!mp_recover_id_is_message(MP_STR("Server listening on {\"jsonrpc\":1}")));
	CHECK(!mp_recover_id_is_message(MP_STR("{\"level\":\"error\",\"msg\":\"no jsonrpc\"}")));
	CHECK(!mp_recover_id_is_message(MP_STR("[{\"jsonrpc\":\"2.0\"}]")));
	CHECK(!mp_recover_id_is_message(MP_STR("{}")));
	CHECK(!mp_recover_id_is_message(MP_STR("")));
	CHECK(!mp_recover_id_is_message(MP_STR(" \r\n")));
}

TEST(calls_are_told_from_answers)
{
	CHECK(mp_recover_id_is_call(MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"ping\"")));
	CHECK(mp_recover_id_is_call(MP_STR("{\"params\":{\"a\":[1]},\"method\" : ")));
	CHECK(!mp_recover_id_is_call(MP_STR("{\"result\":{\"method\":\"GET\"},\"id\":1}")));
	CHECK(!mp_recover_id_is_call(MP_STR("{\"result\":\"method\",\"id\":1}")));
	CHECK(!mp_recover_id_is_call(MP_STR("{\"result\":\"\\\"method\\\":\",\"id\":1}")));
	CHECK(!mp_recover_id_is_call(MP_STR("{\"method\"")));
	CHECK(!mp_recover_id_is_call(MP_STR("")));
}

/* Every cut of a message, seen by a sanitizer to its exact end. */
TEST(whatever_is_cut_off)
{
	static const char text[] = "{\"result\":{\"a\":\"\\\"\\\\\",\"id\":1},\"jsonrpc\":\"2.0\","
				   "\"id\":\"x\\\"y\"}";

	for (size_t from = 0; from < sizeof(text); from++) {
		for (size_t to = from; to < sizeof(text); to++) {
			struct mp_str part = {text + from, to - from};
			struct mp_str id = mp_recover_id(part, part);

			CHECK(id.len == 0 || mp_str_eq(id, MP_STR("1")) ||
			      mp_str_eq(id, MP_STR("\"x\\\"y\"")));
		}
	}
}
