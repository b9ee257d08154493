/*
 * test_text.c - the result of a call as text.
 */
#include "test.h"

#include "base/limits.h"
#include "session/text.h"

static bool reads(const char *result, const char *join, const char *text, bool is_error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	bool said_error;

	mp_buf_init(&out, MP_KIB(64));
	REQUIRE(mp_text_project(mp_str_of(result), join, &out, &said_error) == 0);
	REQUIRE(test_same_text(mp_buf_get(&out), mp_str_of(text), "text", __FILE__, __LINE__));
	REQUIRE(said_error == is_error);
	return true;
}

/* U21 B50 */
TEST(blocks_are_joined_and_described)
{
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":"
		    "\"b\"}]}",
		    "\n\n", "a\n\nb", false));
	CHECK(reads("{\"content\":[{\"type\":\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/"
		    "png\"}]}",
		    "\n", "[image image/png, 3 bytes]", false));
	CHECK(reads("{\"content\":[{\"type\":\"audio\",\"data\":\"AA==\",\"mimeType\":\"audio/"
		    "wav\"}]}",
		    "\n", "[audio audio/wav, 1 bytes]", false));
	CHECK(reads("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\",\"text\":"
		    "\"in it\"}}]}",
		    "\n", "[Resource: x:y]\nin it", false));
	CHECK(reads("{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\",\"blob\":"
		    "\"AAAA\"}}]}",
		    "\n", "[resource x:y, 3 bytes]", false));
	CHECK(reads("{\"content\":[{\"type\":\"resource_link\",\"uri\":\"x:y\"}]}", "\n",
		    "[resource x:y]", false));
	CHECK(reads("{\"content\":[{\"type\":\"hologram\"}]}", "\n", "[content of type hologram]",
		    false));
	CHECK(reads("{}", "\n", "", false));
	CHECK(reads(
		"{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no luck\"},{\"type\":"
		"\"image\",\"data\":\"AAAA\",\"mimeType\":\"image/png\"}]}",
		"\n", "Error: no luck\n[image image/png, 3 bytes]", true));
}

/* E26 */
TEST(netdata_joins_with_nothing)
{
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":"
		    "\"b\"}]}",
		    "", "ab", false));
}

/* B52 */
TEST(what_the_tool_calls_an_error_begins_so)
{
	CHECK(reads("{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no luck\"}]}",
		    "\n", "Error: no luck", true));
}

/* U21 */
TEST(structured_content_follows_unless_it_was_said)
{
	CHECK(reads("{\"content\":[],\"structuredContent\":{\"a\":1}}", "\n", "{\"a\":1}", false));
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"{ \\\"a\\\" : 1 }\"}],"
		    "\"structuredContent\":{\"a\":1}}",
		    "\n", "{ \"a\" : 1 }", false));
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"3\"}],\"structuredContent\":{"
		    "\"sum\":3}}",
		    "\n", "3", false));
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"so\"}],\"structuredContent\":{"
		    "\"said\":\"so\"}}",
		    "\n", "so", false));
	CHECK(reads("{\"content\":[{\"type\":\"text\",\"text\":\"one\"}],\"structuredContent\":{"
		    "\"a\":1}}",
		    "\n", "one\n\n```json\n{\"a\":1}\n```", false));
}

/* U22 */
TEST(what_is_too_long_keeps_its_ends)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(1));
	CHECK_EQ(mp_text_shorten(MP_STR("0123456789"), 10, MP_STR("h"), &out), 0);
	CHECK_STR(mp_buf_get(&out), "0123456789");
	mp_buf_clear(&out);
	CHECK_EQ(mp_text_shorten(MP_STR("0123456789"), 4, MP_STR("h"), &out), 0);
	CHECK_STR(mp_buf_get(&out),
		  "01\n[\xc2\xb7\xc2\xb7\xc2\xb7TRUNCATED 6 bytes\xc2\xb7\xc2\xb7\xc2\xb7]\n"
		  "[all of it: h]\n89");
	mp_buf_clear(&out);
	/* no character is cut */
	CHECK_EQ(mp_text_shorten(MP_STR("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"), 6, MP_STR(""), &out),
		 0);
	CHECK(mp_utf8_valid(mp_buf_get(&out)));
}
