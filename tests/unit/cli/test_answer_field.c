/* test_answer_field.c - what a person types into a form, as the value that the server asked for. */
#include "test.h"

#include <string.h>

#include "base/limits.h"
#include "cli/display/answer_field.h"

#define FRIENDS "\"enum\":[\"Monica\",\"Ross\"]"
#define HEROES                                                                              \
	"\"oneOf\":[{\"const\":\"h1\",\"title\":\"Superman\"},{\"const\":\"h2\",\"title\":" \
	"\"Lantern\"}]"
#define FISH \
	"\"anyOf\":[{\"const\":\"f1\",\"title\":\"Tuna\"},{\"const\":\"f2\",\"title\":\"Trout\"}]"

static const struct {
	const char *field, *typed;
	const char *wanted; /* JSON; or the first letters of the complaint */
} rows[] = {
	{"{\"type\":\"string\"}", "a \"b\"", "\"a \\\"b\\\"\""},
	{"{\"type\":\"string\",\"minLength\":2}", "\xc3\xa9", "It must have at least 2"},
	{"{\"type\":\"string\",\"maxLength\":1}", "\xc3\xa9", "\"\xc3\xa9\""},
	{"{\"type\":\"string\",\"maxLength\":1}", "ab", "It must have at most 1"},
	{"{\"type\":\"string\",\"format\":\"email\"}", "a@b", "\"a@b\""},
	{"{\"type\":\"string\",\"format\":\"email\"}", "@b", "Please type an e-mail"},
	{"{\"type\":\"string\",\"format\":\"email\"}", "a@", "Please type an e-mail"},
	{"{\"type\":\"string\",\"format\":\"uri\"}", "x:y", "\"x:y\""},
	{"{\"type\":\"string\",\"format\":\"uri\"}", "here", "Please type an address"},
	{"{\"type\":\"string\",\"format\":\"date\"}", "2026-07-28", "\"2026-07-28\""},
	{"{\"type\":\"string\",\"format\":\"date\"}", "2026-7-28", "Please type a date"},
	{"{\"type\":\"string\",\"format\":\"date\"}", "2026-07-28T", "Please type a date"},
	{"{\"type\":\"string\",\"format\":\"date-time\"}", "2026-07-28T01:02:03Z",
	 "\"2026-07-28T01:02:03Z\""},
	{"{\"type\":\"string\",\"format\":\"date-time\"}", "now", "Please type a time"},
	{"{\"type\":\"boolean\"}", "YES", "true"},
	{"{\"type\":\"boolean\"}", "false", "false"},
	{"{\"type\":\"boolean\"}", "maybe", "Please type yes or no."},
	{"{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}", "9", "9"},
	{"{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}", "10", "It must be at most 9."},
	{"{\"type\":\"integer\",\"minimum\":1}", "0", "It must be at least 1."},
	{"{\"type\":\"integer\"}", "1.5", "Please type a whole number."},
	{"{\"type\":\"integer\"}", "[1]", "Please type a whole number."},
	{"{\"type\":\"number\"}", "1.5", "1.5"},
	{"{\"type\":\"number\"}", "1,5", "Please type a number."},
	{"{\"type\":\"string\"," FRIENDS "}", "ross", "\"Ross\""},
	{"{\"type\":\"string\"," FRIENDS "}", "2", "\"Ross\""},
	{"{\"type\":\"string\"," FRIENDS "}", "3", "Please type one of"},
	{"{\"type\":\"string\"," FRIENDS "}", "0", "Please type one of"},
	{"{\"type\":\"string\"," FRIENDS ",\"enumNames\":[\"M.\",\"R.\"]}", "r.", "\"Ross\""},
	{"{\"type\":\"string\"," HEROES "}", "lantern", "\"h2\""},
	{"{\"type\":\"string\"," HEROES "}", "h1", "\"h1\""},
	{"{\"type\":\"array\",\"items\":{" FRIENDS "}}", "Ross,monica", "[\"Ross\",\"Monica\"]"},
	{"{\"type\":\"array\",\"items\":{" FISH "}}", " 2 , Tuna", "[\"f2\",\"f1\"]"},
	{"{\"type\":\"array\",\"items\":{" FISH "}}", "Tuna,,", "Please type values of the list"},
	{"{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":{" FISH "}}", "Tuna",
	 "Please choose 2 to 2"},
};

TEST(what_is_typed_becomes_a_value)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		MP_CLEANUP(mp_buf_done) struct mp_buf out;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;
		struct mp_writer w;
		const char *wrong;

		mp_arena_init(&arena, MP_LIMIT_ARENA);
		mp_buf_init(&out, MP_MIB(1));
		mp_tape_init(&t, 0);
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(rows[i].field), NULL), 0);
		mp_write_init(&w, &out, NULL);
		wrong = mp_answer_field_write(&t, MP_ROOT, mp_str_of(rows[i].typed), &arena, &w);
		if (wrong) {
			CHECK(strncmp(wrong, rows[i].wanted, strlen(rows[i].wanted)) == 0);
			continue;
		}
		CHECK_EQ(mp_write_finish(&w), 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.data, rows[i].wanted);
	}
}

static const struct {
	const char *field, *hint;
	bool is_plain;
} hints[] = {
	{"{\"type\":\"string\"}", "", true},
	{"{\"type\":\"boolean\"}", " (yes or no)", true},
	{"{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}", " (1 to 9)", true},
	{"{\"type\":\"string\"," FRIENDS "}", " (1 Monica, 2 Ross)", true},
	{"{\"type\":\"string\"," HEROES "}", " (1 Superman, 2 Lantern)", true},
	{"{\"type\":\"array\",\"items\":{" FISH "}}", " (several of: 1 Tuna, 2 Trout)", true},
	{"{\"type\":\"array\",\"items\":{\"type\":\"string\"}}", "", false},
	{"{\"type\":\"object\"}", "", false},
};

TEST(a_field_says_what_it_takes)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(hints); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		MP_CLEANUP(mp_buf_done) struct mp_buf out;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_arena_init(&arena, MP_LIMIT_ARENA);
		mp_buf_init(&out, MP_MIB(1));
		mp_tape_init(&t, 0);
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(hints[i].field), NULL), 0);
		CHECK_EQ(mp_answer_field_is_plain(&t, MP_ROOT), hints[i].is_plain);
		CHECK_EQ(mp_answer_field_add_hint(&t, MP_ROOT, &arena, &out), 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.len ? out.data : "", hints[i].hint);
	}
}
