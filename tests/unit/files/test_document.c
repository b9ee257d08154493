/*
 * test_document.c - a file as a value, whatever it is written in; and where it is broken.
 */
#include "home.h"

#include "base/limits.h"
#include "base/secrets.h"
#include "files/document.h"

#define DOC MP_CLEANUP(mp_document_freep) struct mp_document *

static int open_text(const char *name, const char *text, struct mp_document **ret)
{
	if (!folder_make() || !put(name, text))
		return -1000;
	why = (struct mcpool_error){0};
	return mp_document_open(in(name), strstr(name, ".toml") ? MP_FORMAT_TOML : MP_FORMAT_JSON,
				MP_LIMIT_CONFIG_FILE, ret, &why);
}

/* The line and caret for where it is broken. */
static bool quotes(const struct mp_document *doc, size_t at, const char *want)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	REQUIRE(mp_document_quote(doc, at, &out) == 0 && mp_buf_terminate(&out) == 0);
	return test_same_text(mp_str_of(out.data), mp_str_of(want), "quote", __FILE__, __LINE__);
}

TEST(a_json_file_with_comments)
{
	DOC doc = NULL;
	struct mp_tape_place place;
	mp_value v;

	CHECK_EQ(open_text("d/a.json", "{ // one\n  \"a\": {\"b\": 1,},\n}\n", &doc), 0);
	CHECK_TEXT(doc->path, in("d/a.json"));
	CHECK_TEXT(doc->real, in("d/a.json"));
	v = mp_value_get(&doc->tape, MP_ROOT, "a");
	CHECK(mp_value_is(&doc->tape, v, MP_TAPE_OBJECT));
	place = mp_document_locate(doc, v);
	CHECK_EQ(place.line, 2);
	CHECK_EQ(place.column, 8);
}

TEST(a_toml_file)
{
	DOC doc = NULL;
	struct mp_tape_place place;
	mp_value v;

	CHECK_EQ(open_text("a.toml", "# x\n[mcp_servers.a]\ncommand = \"c\"\n", &doc), 0);
	v = mp_value_get(&doc->tape, mp_value_get(&doc->tape, MP_ROOT, "mcp_servers"), "a");
	v = mp_value_get(&doc->tape, v, "command");
	CHECK(mp_value_text_is(&doc->tape, v, MP_STR("c")));
	place = mp_document_locate(doc, v);
	CHECK_EQ(place.line, 3);
	CHECK_EQ(place.column, 11);
}

TEST(an_empty_file_says_nothing)
{
	DOC a = NULL;
	DOC b = NULL;
	DOC c = NULL;

	CHECK_EQ(open_text("a.json", " \n", &a), 0);
	CHECK_EQ(mp_value_count(&a->tape, MP_ROOT), 0);
	CHECK_EQ(open_text("a.json", "", &b), 0);
	CHECK_EQ(open_text("a.toml", "", &c), 0);
	CHECK_EQ(mp_value_count(&c->tape, MP_ROOT), 0);
}

/* B72 */
TEST(a_broken_file_has_a_place_and_a_caret)
{
	DOC doc = NULL;

	CHECK_EQ(open_text("a.json", "{\n\t\"a\": nope\n}", &doc), MCPOOL_EPARSE);
	CHECK(strncmp(why.message, "this is not valid JSON: ", 24) == 0);
	CHECK_EQ(doc->fault.line, 2);
	CHECK_EQ(doc->fault.column, 7);
	CHECK(quotes(doc, doc->fault_at, "     \"a\": nope\n          ^\n"));
}

TEST(broken_toml_has_a_place_and_a_caret)
{
	DOC doc = NULL;

	CHECK_EQ(open_text("a.toml", "a = 1\nb = = 2\n", &doc), MCPOOL_EPARSE);
	CHECK(strncmp(why.message, "this is not valid TOML: ", 24) == 0);
	CHECK_EQ(doc->fault.line, 2);
	CHECK_EQ(doc->fault.column, 5);
	CHECK(quotes(doc, doc->fault_at, "    b = = 2\n        ^\n"));
}

TEST(something_else_than_an_object_is_no_configuration)
{
	DOC doc = NULL;
	DOC gone = NULL;

	CHECK_EQ(open_text("a.json", "[1]", &doc), MCPOOL_EPARSE);
	CHECK(strstr(why.message, "an object in braces is expected"));
	CHECK_EQ(doc->fault.line, 1);
	CHECK_EQ(mp_document_open(in("none"), MP_FORMAT_JSON, 10, &gone, &why), MCPOOL_ENOENT);
	CHECK(gone && gone->fault.line == 0);
}

TEST(a_file_that_is_no_file_says_what_it_is)
{
	DOC doc = NULL;

	CHECK(folder_make() && put("d/x", ""));
	CHECK_EQ(mp_document_open(in("d"), MP_FORMAT_JSON, 10, &doc, &why), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "a folder"));
	CHECK_EQ(doc->fault.line, 0);
}

HEAVY_TEST(a_long_line_is_cut_around_the_caret)
{
	DOC doc = NULL;
	static char text[3000];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "{", 1);
	memcpy(text + 2000, "\xc3\xa9", 2);
	CHECK_EQ(open_text("a.json", text, &doc), MCPOOL_EPARSE);
	CHECK_EQ(mp_document_quote(doc, 2000, &out), 0);
	CHECK(out.len < 400);
	mp_buf_clear(&out);
	CHECK_EQ(mp_document_quote(doc, SIZE_MAX, &out), 0); /* behind the end */
	for (size_t i = 0; i < 3000; i += 7) {
		mp_buf_clear(&out);
		CHECK_EQ(mp_document_quote(doc, i, &out), 0);
		CHECK(mp_utf8_valid(mp_buf_get(&out)));
	}
}

/* A quoted line may hold a secret. */
TEST(a_quote_shows_no_secret)
{
	DOC doc = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	CHECK_EQ(open_text("a.json", "{\"api_key\": \"sk-verysecretvalue123\" nope}", &doc),
		 MCPOOL_EPARSE);
	CHECK_EQ(mp_document_quote(doc, doc->fault_at, &out), 0);
	CHECK(mp_str_find(mp_buf_get(&out), MP_STR("verysecret"), 0) < 0);
}

/* A line alone does not tell what is a secret: strings are dots, keys are not. */
TEST(a_quote_shows_keys_and_no_values)
{
	DOC doc = NULL;
	DOC two = NULL;

	CHECK_EQ(open_text("a.json", "{\"args\": [\"--x\"\n  \"abc\\\"d\", 5", &doc),
		 MCPOOL_EPARSE);
	CHECK(quotes(doc, doc->fault_at,
		     "      \"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\", 5\n      ^\n"));
	CHECK_EQ(open_text("b.json", "{\"k\": \"v\" \"w\": 'un", &two), MCPOOL_EPARSE);
	CHECK(quotes(two, two->fault_at,
		     "    {\"k\": \"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\" \"w\": "
		     "'\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2'\n                ^\n"));
}

TEST(a_byte_order_mark_is_no_mistake_of_the_user)
{
	DOC doc = NULL;

	CHECK_EQ(open_text("a.json", "\xef\xbb\xbf{\"a\": 1}", &doc), 0);
}

/* Counting goes on from the last place, so the order of questions must not matter. */
TEST(places_in_any_order)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	struct mcpool_error error;
	static const mp_value order[] = {5, 1, 6, 3, 3, 2, 6, 0, 4};

	CHECK(folder_make());
	CHECK(put("a.json", "{\"a\": 1, \"\xc3\xa9\": 2,\r\n  \"c\":\r3, \"d\": 4}"));
	CHECK_EQ(mp_document_open(in("a.json"), MP_FORMAT_JSON, 1000, &doc, &error), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(order); i++) {
		struct mp_tape_place got = mp_document_locate(doc, order[i]);
		struct mp_tape_place want = mp_tape_locate(
			mp_buf_get(&doc->source), mp_value_node(&doc->tape, order[i])->start);

		CHECK_EQ(got.line, want.line);
		CHECK_EQ(got.column, want.column);
	}
}
