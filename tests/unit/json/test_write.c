/*
 * test_write.c - the builder: what each call writes, layouts, escapes, numbers, values off a tape,
 * failures that stick, and promises that stop the process.
 */
#include "test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "json/write.h"

/* A writer and what it writes to. */
struct sheet {
	struct mp_buf out;
	struct mp_writer w;
};

static void sheet_init(struct sheet *s, const char *indent)
{
	mp_buf_init(&s->out, MP_MIB(1));
	mp_write_init(&s->w, &s->out, indent);
}

static void sheet_done(struct sheet *s)
{
	mp_buf_done(&s->out);
}

/* The finished text, or what went wrong. */
static struct mp_str finish(struct sheet *s)
{
	int r = mp_write_finish(&s->w);

	return r < 0 ? mp_str_of(mcpool_error_name(r)) : mp_buf_get(&s->out);
}

/* --- one value ----------------------------------------------------------------------------- */

typedef void (*write_fn)(struct mp_writer *w);

static void write_null(struct mp_writer *w)
{
	mp_write_null(w);
}

static void write_true(struct mp_writer *w)
{
	mp_write_bool(w, true);
}

static void write_false(struct mp_writer *w)
{
	mp_write_bool(w, false);
}

static void write_zero(struct mp_writer *w)
{
	mp_write_i64(w, 0);
}

static void write_i64_max(struct mp_writer *w)
{
	mp_write_i64(w, INT64_MAX);
}

static void write_i64_min(struct mp_writer *w)
{
	mp_write_i64(w, INT64_MIN);
}

static void write_u64_zero(struct mp_writer *w)
{
	mp_write_u64(w, 0);
}

static void write_u64_ten(struct mp_writer *w)
{
	mp_write_u64(w, 10);
}

static void write_u64_max(struct mp_writer *w)
{
	mp_write_u64(w, UINT64_MAX);
}

static void write_text(struct mp_writer *w)
{
	mp_write_text(w, MP_STR("text"));
}

static void write_no_text(struct mp_writer *w)
{
	mp_write_text(w, (struct mp_str){NULL, 0});
}

static void write_raw(struct mp_writer *w)
{
	mp_write_raw(w, MP_STR("[1,  {}]"));
}

static void write_empty_array(struct mp_writer *w)
{
	mp_write_begin_array(w);
	mp_write_end_array(w);
}

static void write_empty_object(struct mp_writer *w)
{
	mp_write_begin_object(w);
	mp_write_end_object(w);
}

TEST(each_call_writes_its_value)
{
	static const struct {
		write_fn fn;
		const char *text;
	} rows[] = {
		{write_null, "null"},
		{write_true, "true"},
		{write_false, "false"},
		{write_zero, "0"},
		{write_i64_max, "9223372036854775807"},
		{write_i64_min, "-9223372036854775808"},
		{write_u64_zero, "0"},
		{write_u64_ten, "10"},
		{write_u64_max, "18446744073709551615"},
		{write_text, "\"text\""},
		{write_no_text, "\"\""},
		{write_raw, "[1,  {}]"},
		{write_empty_array, "[]"},
		{write_empty_object, "{}"},
	};
	static const char *const indents[] = {NULL, "  ", "\t"};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows) * 3; i++) {
		MP_CLEANUP(sheet_done) struct sheet s;

		sheet_init(&s, indents[i % 3]);
		rows[i / 3].fn(&s.w);
		CHECK(mp_str_eq(finish(&s), mp_str_of(rows[i / 3].text)));
	}
}

/* --- layout -------------------------------------------------------------------------------- */

/* {"a":[1,"two",[],{}],"b":{"c":null,"d":{"e":true}},"f":[[[]]]} */
static void write_sample(struct mp_writer *w)
{
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("a"));
	mp_write_begin_array(w);
	mp_write_i64(w, 1);
	mp_write_text(w, MP_STR("two"));
	write_empty_array(w);
	write_empty_object(w);
	mp_write_end_array(w);
	mp_write_key(w, MP_STR("b"));
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("c"));
	mp_write_null(w);
	mp_write_key(w, MP_STR("d"));
	mp_write_begin_object(w);
	mp_write_member_bool(w, "e", true);
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_member_raw(w, "f", MP_STR("[[[]]]"));
	mp_write_end_object(w);
}

TEST(commas_and_colons_come_by_themselves)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	write_sample(&s.w);
	CHECK_STR(finish(&s), "{\"a\":[1,\"two\",[],{}],\"b\":{\"c\":null,\"d\":{\"e\":true}},"
			      "\"f\":[[[]]]}");
}

TEST(one_line_may_have_spaces)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	s.w.spaces = true;
	write_sample(&s.w);
	CHECK_STR(finish(&s), "{\"a\": [1, \"two\", [], {}], \"b\": {\"c\": null, \"d\": {\"e\": "
			      "true}}, \"f\": [[[]]]}");
}

TEST(lines_are_indented)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, "  ");
	write_sample(&s.w);
	CHECK_STR(finish(&s), "{\n"
			      "  \"a\": [\n"
			      "    1,\n"
			      "    \"two\",\n"
			      "    [],\n"
			      "    {}\n"
			      "  ],\n"
			      "  \"b\": {\n"
			      "    \"c\": null,\n"
			      "    \"d\": {\n"
			      "      \"e\": true\n"
			      "    }\n"
			      "  },\n"
			      "  \"f\": [[[]]]\n"
			      "}");
}

TEST(lines_have_the_given_indent_end_and_margin)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, "\t");
	s.w.eol = "\r\n";
	s.w.margin = MP_STR("> ");
	mp_write_begin_object(&s.w);
	mp_write_key(&s.w, MP_STR("a"));
	mp_write_begin_array(&s.w);
	mp_write_i64(&s.w, 1);
	mp_write_i64(&s.w, 2);
	mp_write_end_array(&s.w);
	mp_write_end_object(&s.w);
	CHECK_STR(finish(&s), "{\r\n> \t\"a\": [\r\n> \t\t1,\r\n> \t\t2\r\n> \t]\r\n> }");
}

TEST(lines_may_do_without_spaces)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, " ");
	s.w.spaces = false;
	mp_write_begin_object(&s.w);
	mp_write_member_i64(&s.w, "a", 1);
	mp_write_member_i64(&s.w, "b", 2);
	mp_write_end_object(&s.w);
	CHECK_STR(finish(&s), "{\n \"a\":1,\n \"b\":2\n}");
}

TEST(an_empty_indent_still_breaks_lines)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, "");
	mp_write_begin_array(&s.w);
	mp_write_i64(&s.w, 1);
	mp_write_i64(&s.w, 2);
	mp_write_end_array(&s.w);
	CHECK_STR(finish(&s), "[\n1,\n2\n]");
}

TEST(a_member_stands_without_braces)
{
	MP_CLEANUP(sheet_done) struct sheet one, lines, spaced;

	sheet_init(&one, NULL);
	sheet_init(&lines, "  ");
	sheet_init(&spaced, NULL);
	one.w.member = lines.w.member = spaced.w.member = spaced.w.spaces = true;
	mp_write_member_text(&one.w, "k", MP_STR("v"));
	CHECK_STR(finish(&one), "\"k\":\"v\"");
	lines.w.margin = MP_STR("    ");
	mp_write_key(&lines.w, MP_STR("k"));
	mp_write_begin_object(&lines.w);
	mp_write_member_i64(&lines.w, "x", -1);
	mp_write_end_object(&lines.w);
	CHECK_STR(finish(&lines), "\"k\": {\n      \"x\": -1\n    }");
	mp_write_key(&spaced.w, MP_STR("k"));
	write_empty_array(&spaced.w);
	CHECK_STR(finish(&spaced), "\"k\": []");
}

TEST(members_have_shorthands)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	mp_write_begin_object(&s.w);
	mp_write_member_text(&s.w, "t", MP_STR("x\n"));
	mp_write_member_i64(&s.w, "i", -5);
	mp_write_member_bool(&s.w, "b", false);
	mp_write_member_raw(&s.w, "r", MP_STR("1.50"));
	mp_write_member_text(&s.w, "", MP_STR(""));
	mp_write_member_i64(&s.w, "quo\"te", 1);
	mp_write_end_object(&s.w);
	CHECK_STR(finish(&s),
		  "{\"t\":\"x\\n\",\"i\":-5,\"b\":false,\"r\":1.50,\"\":\"\",\"quo\\\"te\":1}");
}

/* --- strings ------------------------------------------------------------------------------- */

#define TEXT(literal)                           \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

TEST(members_as_they_are_stand_among_others)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, 100);
	mp_write_init(&w, &out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, MP_STR(""));
	mp_write_raw_members(&w, MP_STR("\"a\":1,\"b\":2"));
	mp_write_member_i64(&w, "c", 3);
	mp_write_raw_members(&w, MP_STR("\"d\":4"));
	mp_write_end_object(&w);
	CHECK_EQ(mp_write_finish(&w), 0);
	CHECK_STR(mp_buf_get(&out), "{\"a\":1,\"b\":2,\"c\":3,\"d\":4}");
}

TEST(strings_are_escaped)
{
	static const struct {
		struct mp_str text;
		const char *json;
	} rows[] = {
		{TEXT(""), "\"\""},
		{TEXT("plain ~ \x7f /"), "\"plain ~ \x7f /\""},
		{TEXT("\""), "\"\\\"\""},
		{TEXT("\\"), "\"\\\\\""},
		{TEXT("\"\\\"\\"), "\"\\\"\\\\\\\"\\\\\""},
		{TEXT("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
		{TEXT("a\0b"), "\"a\\u0000b\""},
		{TEXT("\x1b[0m"), "\"\\u001b[0m\""},
		{TEXT("caf\xc3\xa9"), "\"caf\xc3\xa9\""},
		{TEXT("\xe2\x82\xac"), "\"\xe2\x82\xac\""},
		{TEXT("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\""},
		{TEXT("\xf4\x8f\xbf\xbf"), "\"\xf4\x8f\xbf\xbf\""},
		{TEXT("\xe2\x80\xa8\xe2\x80\xa9"), "\"\xe2\x80\xa8\xe2\x80\xa9\""},
		/* What is not UTF-8: one replacement for each byte that cannot be used. */
		{TEXT("\xff"), "\"\xef\xbf\xbd\""},
		{TEXT("a\x80z"), "\"a\xef\xbf\xbdz\""},
		{TEXT("\xc3"), "\"\xef\xbf\xbd\""},
		{TEXT("\xc3\""), "\"\xef\xbf\xbd\\\"\""},
		{TEXT("\xe2\x82"), "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{TEXT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{TEXT("\xc0\xaf"), "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{TEXT("\xf4\x90\x80\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{TEXT("\xf0\x9f\x98"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(sheet_done) struct sheet s;

		sheet_init(&s, NULL);
		mp_write_text(&s.w, rows[i].text);
		CHECK(test_same_text(finish(&s), mp_str_of(rows[i].json), "the string", __FILE__,
				     __LINE__));
	}
}

TEST(keys_are_escaped_as_strings_are)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	mp_write_begin_object(&s.w);
	mp_write_key(&s.w, (struct mp_str)TEXT("a\0\n\xff"));
	mp_write_null(&s.w);
	mp_write_end_object(&s.w);
	CHECK_STR(finish(&s), "{\"a\\u0000\\n\xef\xbf\xbd\":null}");
}

TEST(every_control_character_is_escaped)
{
	for (unsigned c = 0; c < 0x80; c++) {
		MP_CLEANUP(sheet_done) struct sheet s;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		char byte = (char)c;
		struct mp_str text;

		sheet_init(&s, NULL);
		mp_tape_init(&t, 0);
		mp_arena_init(&arena, 10000);
		mp_write_text(&s.w, (struct mp_str){&byte, 1});
		CHECK_EQ(mp_tape_parse(&t, finish(&s), NULL), 0);
		CHECK_EQ(mp_value_text(&t, MP_ROOT, &arena, &text), 0);
		CHECK(mp_str_eq(text, (struct mp_str){&byte, 1}));
		CHECK_EQ(t.nodes[0].flags & MP_TAPE_ESCAPED,
			 c < 0x20 || c == '"' || c == '\\' ? MP_TAPE_ESCAPED : 0);
	}
}

/* A byte that matters at each place of a long string: every lane of the scanner. */
TEST(long_strings_are_escaped_at_every_place)
{
	for (size_t at = 0; at < 40; at++) {
		MP_CLEANUP(sheet_done) struct sheet s;
		char text[40], want[64];

		sheet_init(&s, NULL);
		memset(text, 'x', sizeof(text));
		text[at] = '"';
		snprintf(want, sizeof(want), "\"%.*s\\\"%.*s\"", (int)at, text,
			 (int)(sizeof(text) - at - 1), text + at + 1);
		mp_write_text(&s.w, (struct mp_str){text, sizeof(text)});
		CHECK(mp_str_eq(finish(&s), mp_str_of(want)));
	}
}

/* --- floating point ------------------------------------------------------------------------ */

static const struct f64_row {
	double value;
	const char *text;
} f64_rows[] = {
	{0, "0"},
	{-0.0, "-0"},
	{1, "1"},
	{-1, "-1"},
	{0.1, "0.1"},
	{0.2, "0.2"},
	{0.1 + 0.2, "0.30000000000000004"},
	{1.0 / 3, "0.3333333333333333"},
	{2.0 / 3, "0.6666666666666666"},
	{1.5, "1.5"},
	{-2.25, "-2.25"},
	{100, "100"},
	{123456789, "123456789"},
	{1e14, "100000000000000"},
	{1e15, "1e15"},
	{999999999999999, "999999999999999"},
	{9007199254740991.0, "9007199254740991"},
	{9007199254740992.0, "9007199254740992"},
	{1e21, "1e21"},
	{1e22, "1e22"},
	{1e23, "1e23"},
	{1.5e300, "1.5e300"},
	{1e100, "1e100"},
	{0.0001, "0.0001"},
	{0.00001, "1e-5"},
	{1e-7, "1e-7"},
	{1.5e-7, "1.5e-7"},
	{1e-10, "1e-10"},
	{-1e-100, "-1e-100"},
	{DBL_MAX, "1.7976931348623157e308"},
	{-DBL_MAX, "-1.7976931348623157e308"},
	{DBL_MIN, "2.2250738585072014e-308"},
	{2.225073858507201e-308, "2.225073858507201e-308"},
	{5e-324, "5e-324"},
	{-5e-324, "-5e-324"},
	{1e-323, "1e-323"},
	{1.2e-322, "1.2e-322"},
	{4.35, "4.35"},
	{1234.5678, "1234.5678"},
	{3.141592653589793, "3.141592653589793"},
	{5e-320, "5e-320"},
	{NAN, "null"},
	{INFINITY, "null"},
	{-INFINITY, "null"},
};

static bool f64_is_written(const struct f64_row *row)
{
	MP_CLEANUP(sheet_done) struct sheet s;
	double back;

	sheet_init(&s, NULL);
	mp_write_f64(&s.w, row->value);
	if (!test_same_text(finish(&s), mp_str_of(row->text), "the number", __FILE__, __LINE__))
		return false;
	if (!isfinite(row->value))
		return true;
	REQUIRE(mp_str_to_f64(mp_buf_get(&s.out), &back) == 0);
	REQUIRE(memcmp(&back, &row->value, sizeof(back)) == 0);
	return true;
}

TEST(floating_point_is_as_short_as_it_goes)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(f64_rows); i++)
		CHECK(f64_is_written(&f64_rows[i]));
}

/* The first locale there is that has no point; NULL: none. */
static const char *odd_locale(void)
{
	static const char *const names[] = {
		"de_DE.UTF-8", "de_DE.utf8",  "de_DE",       "fr_FR.UTF-8", "fr_FR", "es_ES.UTF-8",
		"ru_RU.UTF-8", "it_IT.UTF-8", "pt_BR.UTF-8", "ps_AF.UTF-8", "ps_AF"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		if (setlocale(LC_ALL, names[i]) && strcmp(localeconv()->decimal_point, ".") != 0)
			return names[i];
	return NULL;
}

HEAVY_TEST(the_locale_does_not_show)
{
	const char *name = odd_locale();
	bool ok = true;

	for (size_t i = 0; i < MP_ARRAY_LEN(f64_rows); i++)
		ok &= f64_is_written(&f64_rows[i]);
	setlocale(LC_ALL, "C");
	if (!name)
		printf("             no locale with a decimal comma is installed\n");
	CHECK(ok);
}

HEAVY_TEST(random_doubles_read_back)
{
	uint64_t seed = 31337;

	for (int i = 0; i < 50000; i++) {
		MP_CLEANUP(sheet_done) struct sheet s;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;
		uint64_t bits = test_random(&seed);
		double value, back;

		if (i % 8 == 0)
			bits &= 0x800fffffffffffffu; /* the very small */
		memcpy(&value, &bits, sizeof(value));
		sheet_init(&s, NULL);
		mp_tape_init(&t, 0);
		mp_write_f64(&s.w, value);
		CHECK_EQ(mp_tape_parse(&t, finish(&s), NULL), 0);
		if (!isfinite(value)) {
			CHECK_STR(mp_buf_get(&s.out), "null");
			continue;
		}
		CHECK_EQ(mp_value_f64(&t, MP_ROOT, &back), 0);
		CHECK(memcmp(&back, &value, sizeof(value)) == 0);
		CHECK(s.out.len <= 24);
	}
}

/* --- values off a tape --------------------------------------------------------------------- */

/* text, laid out by a fresh writer. */
static int copy(const char *text, const char *indent, bool spaces, struct sheet *s)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_buf_clear(&s->out);
	mp_write_init(&s->w, &s->out, indent);
	s->w.spaces = spaces;
	mp_tape_init(&t, MP_TAPE_JSONC);
	r = mp_tape_parse(&t, mp_str_of(text), NULL);
	if (r < 0)
		return r;
	mp_write_value(&s->w, &t, MP_ROOT);
	return mp_write_finish(&s->w);
}

TEST(a_value_is_written_compact_spaced_and_on_lines)
{
	static const struct {
		const char *text, *compact, *spaced, *lines;
	} rows[] = {
		{"1.50", "1.50", "1.50", "1.50"},
		{" \"\\u0041\" ", "\"\\u0041\"", "\"\\u0041\"", "\"\\u0041\""},
		{"[]", "[]", "[]", "[]"},
		{"[ ]", "[]", "[]", "[]"},
		{"{ /* none */ }", "{}", "{}", "{}"},
		{"[1,2]", "[1,2]", "[1, 2]", "[1, 2]"},
		{"[1,[2]]", "[1,[2]]", "[1, [2]]", "[\n  1,\n  [2]\n]"},
		{"[{}]", "[{}]", "[{}]", "[\n  {}\n]"},
		{"{\"a\":1}", "{\"a\":1}", "{\"a\": 1}", "{\n  \"a\": 1\n}"},
		{"{\"a\":[],\"b\":{}}", "{\"a\":[],\"b\":{}}", "{\"a\": [], \"b\": {}}",
		 "{\n  \"a\": [],\n  \"b\": {}\n}"},
		/* Comments and trailing commas go, the spelling of numbers and strings stays. */
		{"// top\n{ \"k\\u0065y\" /* x */ : /* y */ [ 1e2 , -0.0, 1.00, ], // z\n}\n// end",
		 "{\"k\\u0065y\":[1e2,-0.0,1.00]}", "{\"k\\u0065y\": [1e2, -0.0, 1.00]}",
		 "{\n  \"k\\u0065y\": [1e2, -0.0, 1.00]\n}"},
		{"{\"a\": \"\\/ \\ud800 \xc3\xa9\", \"a\": 2}",
		 "{\"a\":\"\\/ \\ud800 \xc3\xa9\",\"a\":2}",
		 "{\"a\": \"\\/ \\ud800 \xc3\xa9\", \"a\": 2}",
		 "{\n  \"a\": \"\\/ \\ud800 \xc3\xa9\",\n  \"a\": 2\n}"},
		{"[ \"// no comment\", \"/* no */\", \"[ , ]\" ]",
		 "[\"// no comment\",\"/* no */\",\"[ , ]\"]",
		 "[\"// no comment\", \"/* no */\", \"[ , ]\"]",
		 "[\"// no comment\", \"/* no */\", \"[ , ]\"]"},
		{"{\"a\":{\"b\":{\"c\":[[1],[2]]}},\"d\":null}",
		 "{\"a\":{\"b\":{\"c\":[[1],[2]]}},\"d\":null}",
		 "{\"a\": {\"b\": {\"c\": [[1], [2]]}}, \"d\": null}",
		 "{\n  \"a\": {\n    \"b\": {\n      \"c\": [\n        [1],\n        [2]\n      ]\n"
		 "    }\n  },\n  \"d\": null\n}"},
		{"\xef\xbb\xbf[true]", "[true]", "[true]", "[true]"},
	};
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(copy(rows[i].text, NULL, false, &s), 0);
		CHECK(test_same_text(mp_buf_get(&s.out), mp_str_of(rows[i].compact), "compact",
				     __FILE__, __LINE__));
		CHECK_EQ(copy(rows[i].text, NULL, true, &s), 0);
		CHECK(test_same_text(mp_buf_get(&s.out), mp_str_of(rows[i].spaced), "spaced",
				     __FILE__, __LINE__));
		CHECK_EQ(copy(rows[i].text, "  ", true, &s), 0);
		CHECK(test_same_text(mp_buf_get(&s.out), mp_str_of(rows[i].lines), "lines",
				     __FILE__, __LINE__));
	}
}

TEST(short_arrays_stay_on_one_line)
{
	static const struct {
		const char *text;
		bool one_line;
	} rows[] = {
		{"[\"-y\",\"@modelcontextprotocol/server-filesystem\",\"/home\"]", true},
		{"[\"a\",\"b\",\"c\",1,2,3,true,false,null]", true},
		{"[\"a\",[]]", false},
		{"[{}]", false},
		{"[\"0123456789\",\"0123456789\",\"0123456789\",\"0123456789\",\"0123456\"]", true},
		{"[\"0123456789\",\"0123456789\",\"0123456789\",\"0123456789\",\"0123456789\","
		 "\"0123456789\"]",
		 false},
		{"[\"a string that fills more than a line of an ordinary terminal, quite alone, "
		 "yes\"]",
		 false},
	};
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(copy(rows[i].text, "    ", true, &s), 0);
		CHECK(test_equal(memchr(s.out.data, '\n', s.out.len) == NULL, rows[i].one_line,
				 rows[i].text, __FILE__, __LINE__));
	}
	CHECK_EQ(copy("{\"args\":[1,2]}", "\t", false, &s), 0);
	CHECK_STR(mp_buf_get(&s.out), "{\n\t\"args\":[1,2]\n}");
}

TEST(a_value_is_written_inside_another)
{
	static const char loose[] = "[0, {\"x\": [1, 2], \"y\": {}}]";
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(sheet_done) struct sheet s;

	mp_tape_init(&t, 0);
	sheet_init(&s, NULL);
	CHECK_EQ(mp_tape_parse(&t, mp_str_of(loose), NULL), 0);
	mp_write_begin_object(&s.w);
	mp_write_member_i64(&s.w, "a", 1);
	mp_write_key(&s.w, MP_STR("b"));
	mp_write_value(&s.w, &t, 2);
	mp_write_key(&s.w, MP_STR("c"));
	mp_write_begin_array(&s.w);
	mp_write_value(&s.w, &t, 2);
	mp_write_value(&s.w, &t, 1);
	mp_write_value(&s.w, &t, mp_value_get(&t, 2, "x"));
	mp_write_end_array(&s.w);
	mp_write_end_object(&s.w);
	CHECK_STR(finish(&s), "{\"a\":1,\"b\":{\"x\":[1,2],\"y\":{}},\"c\":[{\"x\":[1,2],\"y\":{}},"
			      "0,[1,2]]}");
}

TEST(a_compact_value_is_one_run_even_if_folded)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(sheet_done) struct sheet s;

	mp_tape_init(&t, 0);
	sheet_init(&s, NULL);
	t.keep_depth = 1;
	CHECK_EQ(mp_tape_parse(&t, MP_STR("{\"a\":{\"b\":[1,{\"c\":2}]}}"), NULL), 0);
	mp_write_begin_array(&s.w);
	mp_write_value(&s.w, &t, mp_value_get(&t, MP_ROOT, "a"));
	mp_write_value(&s.w, &t, MP_ROOT);
	mp_write_end_array(&s.w);
	CHECK_STR(finish(&s), "[{\"b\":[1,{\"c\":2}]},{\"a\":{\"b\":[1,{\"c\":2}]}}]");
}

/* A peer decides about spaces and comments, so they must not decide what we can forward. */
TEST(a_loose_value_is_written_even_if_folded)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"[ 1 , 2 ]", "[1,2]"},
		{"{\"a\": {\"b\" : [1, {\"c\" :\t2}]} }\r\n", "{\"a\":{\"b\":[1,{\"c\":2}]}}"},
		{"{\"a\":[ \"x \\\" , /* no */ //\" , \"\\\\\" ]}",
		 "{\"a\":[\"x \\\" , /* no */ //\",\"\\\\\"]}"},
		{"[/* a, [ */ [1, 2, // ]\n ], {\"k\": [ ], }, ]", "[[1,2],{\"k\":[]}]"},
		{"[[\"\xc3\xa9 \xe2\x82\xac\" , -1.5e+3 , true , null ] ]",
		 "[[\"\xc3\xa9 \xe2\x82\xac\",-1.5e+3,true,null]]"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		for (unsigned keep = 0; keep < 4; keep++) {
			MP_CLEANUP(mp_tape_done) struct mp_tape t;
			MP_CLEANUP(sheet_done) struct sheet s;

			mp_tape_init(&t, MP_TAPE_JSONC);
			sheet_init(&s, NULL);
			t.keep_depth = keep;
			CHECK_EQ(mp_tape_parse(&t, mp_str_of(rows[i].text), NULL), 0);
			mp_write_value(&s.w, &t, MP_ROOT);
			CHECK(test_same_text(finish(&s), mp_str_of(rows[i].want), "the value",
					     __FILE__, __LINE__));
		}
	}
}

/* The value of 127 levels, compact or loose, kept or folded, fits one level deeper and not two. */
TEST(depth_is_limited_however_the_value_is_written)
{
	for (unsigned keep = 0; keep <= 128; keep += 64) {
		for (int loose = 0; loose < 2; loose++) {
			for (int outer = 1; outer <= 2; outer++) {
				MP_CLEANUP(mp_buf_done) struct mp_buf deep;
				MP_CLEANUP(mp_tape_done) struct mp_tape t;
				MP_CLEANUP(sheet_done) struct sheet s;

				mp_buf_init(&deep, 1000);
				mp_tape_init(&t, 0);
				sheet_init(&s, NULL);
				t.keep_depth = keep;
				for (int i = 0; i < 254; i++)
					CHECK_EQ(mp_buf_add_char(&deep, i < 127 ? '[' : ']'), 0);
				if (loose)
					CHECK_EQ(mp_buf_splice(&deep, 127, 0, MP_STR(" ")), 0);
				CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&deep), NULL), 0);
				for (int i = 0; i < outer; i++)
					mp_write_begin_array(&s.w);
				mp_write_value(&s.w, &t, MP_ROOT);
				for (int i = 0; i < outer; i++)
					mp_write_end_array(&s.w);
				CHECK_EQ(mp_write_finish(&s.w), outer == 1 ? 0 : MCPOOL_ELIMIT);
			}
		}
	}
}

/* --- failures ------------------------------------------------------------------------------ */

TEST(a_failure_sticks)
{
	/* Whatever fits: the first failure is reported, and nothing behind it is written. */
	for (size_t ceiling = 0; ceiling < 62; ceiling++) {
		MP_CLEANUP(sheet_done) struct sheet s, whole;

		sheet_init(&s, NULL);
		sheet_init(&whole, NULL);
		mp_buf_init(&s.out, ceiling);
		write_sample(&s.w);
		CHECK_EQ(mp_write_finish(&s.w), MCPOOL_ELIMIT);
		write_sample(&whole.w);
		CHECK_EQ(mp_write_finish(&whole.w), 0);
		CHECK(s.out.len <= ceiling);
		CHECK(mp_str_starts(mp_buf_get(&whole.out), mp_buf_get(&s.out)));
	}
}

TEST(what_just_fits_is_no_failure)
{
	MP_CLEANUP(sheet_done) struct sheet s;

	sheet_init(&s, NULL);
	mp_buf_init(&s.out, 62);
	write_sample(&s.w);
	CHECK_EQ(mp_write_finish(&s.w), 0);
	CHECK_EQ(s.out.len, 62);
}

static void nest(struct mp_writer *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		mp_write_begin_array(w);
	for (unsigned i = 0; i < n; i++)
		mp_write_end_array(w);
}

TEST(nesting_past_the_limit_is_a_failure)
{
	MP_CLEANUP(sheet_done) struct sheet s;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	sheet_init(&s, NULL);
	mp_tape_init(&t, 0);
	nest(&s.w, MP_LIMIT_JSON_DEPTH);
	CHECK_EQ(mp_tape_parse(&t, finish(&s), NULL), 0);
	mp_buf_clear(&s.out);
	mp_write_init(&s.w, &s.out, NULL);
	nest(&s.w, MP_LIMIT_JSON_DEPTH + 1);
	CHECK_EQ(mp_write_finish(&s.w), MCPOOL_ELIMIT);
	mp_buf_clear(&s.out);
	mp_write_init(&s.w, &s.out, "\t");
	nest(&s.w, 1000);
	CHECK_EQ(mp_write_finish(&s.w), MCPOOL_ELIMIT);
}

/* A peer's message may be as deep as is allowed; putting it into ours must not stop us. */
TEST(a_deep_value_inside_another_is_a_failure)
{
	MP_CLEANUP(sheet_done) struct sheet s, out;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	sheet_init(&s, NULL);
	sheet_init(&out, NULL);
	mp_tape_init(&t, 0);
	nest(&s.w, MP_LIMIT_JSON_DEPTH);
	CHECK_EQ(mp_write_finish(&s.w), 0);
	CHECK_EQ(mp_buf_add_char(&s.out, '\n'), 0); /* now it is loose */
	CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&s.out), NULL), 0);
	mp_write_value(&out.w, &t, MP_ROOT);
	CHECK_EQ(mp_write_finish(&out.w), 0);
	mp_buf_clear(&out.out);
	mp_write_init(&out.w, &out.out, NULL);
	mp_write_begin_object(&out.w);
	mp_write_key(&out.w, MP_STR("result"));
	mp_write_value(&out.w, &t, MP_ROOT);
	mp_write_end_object(&out.w);
	CHECK_EQ(mp_write_finish(&out.w), MCPOOL_ELIMIT);
}

/* --- broken promises ----------------------------------------------------------------------- */

static struct sheet broken;

static struct mp_writer *fresh(void)
{
	sheet_init(&broken, NULL);
	return &broken.w;
}

static void value_without_key(void)
{
	mp_write_begin_object(fresh());
	mp_write_null(&broken.w);
}

static void key_in_array(void)
{
	mp_write_begin_array(fresh());
	mp_write_key(&broken.w, MP_STR("k"));
}

static void key_at_top(void)
{
	mp_write_key(fresh(), MP_STR("k"));
}

static void two_keys(void)
{
	mp_write_begin_object(fresh());
	mp_write_key(&broken.w, MP_STR("a"));
	mp_write_key(&broken.w, MP_STR("b"));
}

static void array_ends_as_object(void)
{
	mp_write_begin_array(fresh());
	mp_write_end_object(&broken.w);
}

static void object_ends_as_array(void)
{
	mp_write_begin_object(fresh());
	mp_write_end_array(&broken.w);
}

static void end_without_begin(void)
{
	mp_write_end_array(fresh());
}

static void end_behind_key(void)
{
	mp_write_begin_object(fresh());
	mp_write_key(&broken.w, MP_STR("k"));
	mp_write_end_object(&broken.w);
}

static void two_values(void)
{
	mp_write_null(fresh());
	mp_write_null(&broken.w);
}

static void array_behind_object(void)
{
	write_empty_object(fresh());
	mp_write_begin_array(&broken.w);
}

static void finish_nothing(void)
{
	if (mp_write_finish(fresh()) < 0)
		return;
}

static void finish_open(void)
{
	mp_write_begin_array(fresh());
	if (mp_write_finish(&broken.w) < 0)
		return;
}

static void member_without_key(void)
{
	fresh()->member = true;
	mp_write_null(&broken.w);
}

static void two_members(void)
{
	fresh()->member = true;
	mp_write_member_i64(&broken.w, "a", 1);
	mp_write_key(&broken.w, MP_STR("b"));
}

static void value_of_nothing(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	mp_write_value(fresh(), &t, MP_NONE);
}

TEST(an_impossible_order_is_a_broken_promise)
{
	static void (*const rows[])(void) = {
		value_without_key,    key_in_array,         key_at_top,        two_keys,
		array_ends_as_object, object_ends_as_array, end_without_begin, end_behind_key,
		two_values,           array_behind_object,  finish_nothing,    finish_open,
		member_without_key,   two_members,          value_of_nothing,
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(test_equal(test_stops(rows[i]), true, "that it stops, in row", __FILE__,
				 (int)i));
}

/* --- round trips --------------------------------------------------------------------------- */

static void write_random(struct mp_writer *w, uint64_t *seed, unsigned depth);

static void write_random_text(struct mp_writer *w, uint64_t *seed, bool key)
{
	char bytes[24];
	size_t n = test_random(seed) % sizeof(bytes);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(test_random(seed) % (test_random(seed) % 4 ? 0x80 : 0x100));
	if (key)
		mp_write_key(w, (struct mp_str){bytes, n});
	else
		mp_write_text(w, (struct mp_str){bytes, n});
}

static void write_random_inside(struct mp_writer *w, uint64_t *seed, unsigned depth, bool object)
{
	size_t n = test_random(seed) % 6;

	for (size_t i = 0; i < n; i++) {
		if (object)
			write_random_text(w, seed, true);
		write_random(w, seed, depth + 1);
	}
}

static void write_random(struct mp_writer *w, uint64_t *seed, unsigned depth)
{
	switch (test_random(seed) % (depth < 5 ? 9 : 7)) {
	case 0:
		mp_write_null(w);
		break;
	case 1:
		mp_write_bool(w, test_random(seed) % 2);
		break;
	case 2:
		mp_write_i64(w, (int64_t)test_random(seed));
		break;
	case 3:
		mp_write_u64(w, test_random(seed) >> test_random(seed) % 64);
		break;
	case 4:
		mp_write_f64(w, (double)(int64_t)test_random(seed) / 4096);
		break;
	case 5:
	case 6:
		write_random_text(w, seed, false);
		break;
	case 7:
		mp_write_begin_array(w);
		write_random_inside(w, seed, depth, false);
		mp_write_end_array(w);
		break;
	case 8:
		mp_write_begin_object(w);
		write_random_inside(w, seed, depth, true);
		mp_write_end_object(w);
		break;
	}
}

/* The document of this seed in one layout, and the same value rewritten off the tape. */
static bool reads_back(uint64_t seed, const struct mp_tape *compact, const struct mp_writer *style)
{
	MP_CLEANUP(sheet_done) struct sheet s, again;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	bool equal = false;

	sheet_init(&s, NULL);
	sheet_init(&again, NULL);
	mp_tape_init(&t, 0);
	s.w.indent = again.w.indent = style->indent;
	s.w.spaces = again.w.spaces = style->spaces;
	s.w.eol = again.w.eol = style->eol;
	s.w.margin = again.w.margin = style->margin;
	write_random(&s.w, &seed, 0);
	REQUIRE(mp_write_finish(&s.w) == 0);
	REQUIRE(mp_tape_parse(&t, mp_buf_get(&s.out), NULL) == 0);
	REQUIRE(mp_value_equal(&t, MP_ROOT, compact, MP_ROOT, &equal) == 0 && equal);
	mp_write_value(&again.w, compact, MP_ROOT);
	REQUIRE(mp_write_finish(&again.w) == 0);
	REQUIRE(mp_tape_parse(&t, mp_buf_get(&again.out), NULL) == 0);
	REQUIRE(mp_value_equal(&t, MP_ROOT, compact, MP_ROOT, &equal) == 0 && equal);
	/* And back to compact from this layout. */
	mp_buf_clear(&s.out);
	mp_write_init(&s.w, &s.out, NULL);
	mp_write_value(&s.w, &t, MP_ROOT);
	REQUIRE(mp_write_finish(&s.w) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&s.out), mp_value_source(compact, MP_ROOT)));
	return true;
}

HEAVY_TEST(everything_written_reads_back)
{
	static const struct mp_writer styles[] = {
		{.indent = NULL, .spaces = false, .eol = "\n"},
		{.indent = NULL, .spaces = true, .eol = "\n"},
		{.indent = "  ", .spaces = true, .eol = "\n"},
		{.indent = "\t", .spaces = false, .eol = "\r\n"},
		{.indent = "", .spaces = true, .eol = "\r", .margin = {"\t ", 2}},
	};

	for (uint64_t seed = 1; seed <= 1500; seed++) {
		MP_CLEANUP(sheet_done) struct sheet s;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;
		uint64_t dice = seed * 0x9e3779b97f4a7c15u;

		sheet_init(&s, NULL);
		mp_tape_init(&t, 0);
		write_random(&s.w, &dice, 0);
		CHECK_EQ(mp_tape_parse(&t, finish(&s), NULL), 0);
		CHECK(!t.loose);
		for (size_t i = 0; i < MP_ARRAY_LEN(styles); i++)
			CHECK(reads_back(seed * 0x9e3779b97f4a7c15u, &t, &styles[i]));
	}
}
