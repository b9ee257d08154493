/*
 * test_value.c - reading values off a tape: look-ups, text, numbers, duplicates, equality.
 */
#include "test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/value.h"

/* A document and the arena its texts come from. */
struct doc {
	struct mp_tape t;
	struct mp_arena arena;
};

static void doc_init(struct doc *d)
{
	mp_tape_init(&d->t, MP_TAPE_JSONC);
	mp_arena_init(&d->arena, MP_MIB(1));
}

static void doc_done(struct doc *d)
{
	mp_tape_done(&d->t);
	mp_arena_done(&d->arena);
}

static bool parse(struct doc *d, struct mp_str text)
{
	return mp_tape_parse(&d->t, text, NULL) == 0;
}

#define TEXT(literal)                           \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

/* --- look-ups ------------------------------------------------------------------------------ */

static bool answers_no(const struct doc *d, mp_value v)
{
	const struct mp_tape *t = &d->t;
	mp_value duplicate = 7;
	bool equal = true;

	REQUIRE(mp_value_node(t, v) == NULL);
	REQUIRE(!mp_value_is(t, v, MP_TAPE_NULL) && !mp_value_is(t, v, MP_TAPE_OBJECT));
	REQUIRE(strcmp(mp_value_describe(t, v), "nothing") == 0);
	REQUIRE(mp_value_source(t, v).len == 0);
	REQUIRE(mp_value_get(t, v, "a") == MP_NONE);
	REQUIRE(mp_value_get(t, mp_value_get(t, v, "a"), "b") == MP_NONE);
	REQUIRE(mp_value_first(t, v) == MP_NONE);
	REQUIRE(mp_value_next(t, MP_ROOT, v) == MP_NONE);
	REQUIRE(mp_value_next(t, v, MP_ROOT) == MP_NONE);
	REQUIRE(mp_value_count(t, v) == 0);
	REQUIRE(!mp_value_text_is(t, v, MP_STR("")));
	REQUIRE(mp_value_find_duplicate(t, v, &duplicate) == 0 && duplicate == MP_NONE);
	REQUIRE(mp_value_equal(t, v, t, v, &equal) == 0 && !equal);
	REQUIRE(mp_value_equal(t, MP_ROOT, t, v, &equal) == 0 && !equal);
	return true;
}

static bool converts_to_nothing(struct doc *d, mp_value v)
{
	struct mp_str text;
	int64_t i;
	uint64_t u;
	double f;
	bool b;

	REQUIRE(mp_value_text(&d->t, v, &d->arena, &text) == MCPOOL_ETYPE);
	REQUIRE(mp_value_i64(&d->t, v, &i) == MCPOOL_ETYPE);
	REQUIRE(mp_value_u64(&d->t, v, &u) == MCPOOL_ETYPE);
	REQUIRE(mp_value_f64(&d->t, v, &f) == MCPOOL_ETYPE);
	REQUIRE(mp_value_bool(&d->t, v, &b) == MCPOOL_ETYPE);
	return true;
}

TEST(nothing_answers_every_question_with_no)
{
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	CHECK(parse(&d, MP_STR("{\"a\":{\"b\":1}}")));
	CHECK(answers_no(&d, MP_NONE));
	CHECK(answers_no(&d, d.t.n));
	CHECK(converts_to_nothing(&d, MP_NONE));
	CHECK(converts_to_nothing(&d, d.t.n));
	CHECK_EQ(mp_value_of(MP_NONE), MP_NONE);
	MP_VALUE_EACH(&d.t, MP_NONE, v)
		CHECK(v == MP_NONE && false);
}

TEST(a_failed_tape_answers_every_question_with_no)
{
	static const char *const broken[] = {"{", "{\"a\":1,\"b\":[", "[[[[", "[1", "", "{\"a\""};
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(broken); i++) {
		CHECK(!parse(&d, mp_str_of(broken[i])));
		CHECK(answers_no(&d, MP_ROOT));
		CHECK(converts_to_nothing(&d, MP_ROOT));
	}
}

TEST(members_are_found_by_name)
{
	static const struct {
		const char *text;
		struct mp_str key;
		const char *source; /* NULL: there is none */
	} rows[] = {
		{"{\"a\":1,\"b\":2}", TEXT("a"), "1"},
		{"{\"a\":1,\"b\":2}", TEXT("b"), "2"},
		{"{\"a\":1,\"b\":2}", TEXT("c"), NULL},
		{"{\"a\":1,\"b\":2}", TEXT(""), NULL},
		{"{\"a\":1,\"b\":2}", TEXT("A"), NULL},
		{"{\"ab\":1}", TEXT("a"), NULL},
		{"{\"a\":1}", TEXT("ab"), NULL},
		{"{\"\":1}", TEXT(""), "1"},
		{"{\"\":1}", {NULL, 0}, "1"},
		{"{}", TEXT("a"), NULL},
		{"{\"a\":1,\"a\":2,\"a\":3}", TEXT("a"), "3"},
		{"{\"a\":1,\"\\u0061\":{\"a\":9},\"b\":4}", TEXT("a"), "{\"a\":9}"},
		{"{\"\\u0061\":2,\"a\":1}", TEXT("a"), "1"},
		{"{\"x\":{\"a\":1}}", TEXT("a"), NULL},
		{"{\"x\":\"a\",\"y\":[\"a\",1]}", TEXT("a"), NULL},
		{"{\"x\":[{\"a\":5}],\"a\":6}", TEXT("a"), "6"},
		{"{\"a\\u0000b\":1}", TEXT("a\0b"), "1"},
		{"{\"a\\u0000b\":1}", TEXT("a"), NULL},
		{"{\"\\\"\\\\\\/\\b\\f\\n\\r\\t\":1}", TEXT("\"\\/\b\f\n\r\t"), "1"},
		{"{\"caf\\u00e9\":1}", TEXT("caf\xc3\xa9"), "1"},
		{"{\"caf\xc3\xa9\":1}", TEXT("caf\xc3\xa9"), "1"},
		{"{\"\\ud83d\\ude00\":1}", TEXT("\xf0\x9f\x98\x80"), "1"},
		{"{\"\\ud83d\":1}", TEXT("\xef\xbf\xbd"), "1"},
		{"[\"a\",1]", TEXT("a"), NULL},
		{"\"a\"", TEXT("a"), NULL},
		{"null", TEXT("a"), NULL},
	};
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		mp_value v;

		CHECK(parse(&d, mp_str_of(rows[i].text)));
		v = mp_value_get_str(&d.t, MP_ROOT, rows[i].key);
		CHECK_EQ(v != MP_NONE, rows[i].source != NULL);
		CHECK(test_same_text(mp_value_source(&d.t, v), mp_str_of(rows[i].source),
				     rows[i].text, __FILE__, __LINE__));
	}
}

TEST(look_ups_are_chained)
{
	MP_CLEANUP(doc_done) struct doc d;
	mp_value v;

	doc_init(&d);
	CHECK(parse(&d, MP_STR("{\"a\":{\"b\":{\"c\":[1,2]},\"s\":\"x\"}}")));
	v = mp_value_get(&d.t, mp_value_get(&d.t, mp_value_get(&d.t, MP_ROOT, "a"), "b"), "c");
	CHECK_STR(mp_value_source(&d.t, v), "[1,2]");
	v = mp_value_get(&d.t, mp_value_get(&d.t, mp_value_get(&d.t, MP_ROOT, "a"), "x"), "c");
	CHECK_EQ(v, MP_NONE);
	v = mp_value_get(&d.t, mp_value_get(&d.t, mp_value_get(&d.t, MP_ROOT, "a"), "s"), "c");
	CHECK_EQ(v, MP_NONE);
}

TEST(values_are_described_and_shown)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{"null", "null"},
		{"false", "false"},
		{"true", "true"},
		{"-1.5", "a number"},
		{"\"s\"", "a string"},
		{"[1, 2]", "an array"},
		{"{\"a\":  []}", "an object"},
	};
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK(parse(&d, mp_str_of(rows[i].text)));
		CHECK_TEXT(mp_value_describe(&d.t, MP_ROOT), rows[i].words);
		CHECK(mp_str_eq(mp_value_source(&d.t, MP_ROOT), mp_str_of(rows[i].text)));
	}
}

/* --- walking ------------------------------------------------------------------------------- */

/* The sources of what is inside, with a bar behind each. */
static int list(const struct doc *d, mp_value parent, struct mp_buf *out)
{
	int r = 0;

	mp_buf_clear(out);
	MP_VALUE_EACH(&d->t, parent, v) {
		struct mp_str s = mp_value_source(&d->t, v);

		r = mp_buf_addf(out, "%.*s|", MP_STR_ARGS(s));
		if (r < 0)
			break;
		if (mp_value_is(&d->t, parent, MP_TAPE_OBJECT)) {
			s = mp_value_source(&d->t, mp_value_of(v));
			r = mp_buf_addf(out, "%.*s|", MP_STR_ARGS(s));
			if (r < 0)
				break;
		}
	}
	return r;
}

TEST(what_is_inside_is_walked_in_order)
{
	static const struct {
		const char *text, *inside;
		size_t n;
	} rows[] = {
		{"[]", "", 0},
		{"{}", "", 0},
		{"7", "", 0},
		{"\"s\"", "", 0},
		{"[1]", "1|", 1},
		{"[1,[2,[3]],{\"a\":4},5]", "1|[2,[3]]|{\"a\":4}|5|", 4},
		{"{\"a\":1}", "\"a\"|1|", 1},
		{"{\"a\":{\"b\":2,\"c\":[3]},\"d\":[],\"a\":4}",
		 "\"a\"|{\"b\":2,\"c\":[3]}|\"d\"|[]|\"a\"|4|", 3},
		{"[[],[],{}]", "[]|[]|{}|", 3},
	};
	MP_CLEANUP(doc_done) struct doc d;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	doc_init(&d);
	mp_buf_init(&b, 1000);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK(parse(&d, mp_str_of(rows[i].text)));
		CHECK_EQ(list(&d, MP_ROOT, &b), 0);
		CHECK(mp_str_eq(mp_buf_get(&b), mp_str_of(rows[i].inside)));
		CHECK_EQ(mp_value_count(&d.t, MP_ROOT), rows[i].n);
	}
}

TEST(inner_levels_end_where_they_end)
{
	MP_CLEANUP(doc_done) struct doc d;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	mp_value inner;

	doc_init(&d);
	mp_buf_init(&b, 1000);
	CHECK(parse(&d, MP_STR("[[1,2],{\"a\":3},4]")));
	inner = mp_value_first(&d.t, MP_ROOT);
	CHECK_EQ(list(&d, inner, &b), 0);
	CHECK_STR(mp_buf_get(&b), "1|2|");
	inner = mp_value_next(&d.t, MP_ROOT, inner);
	CHECK_EQ(list(&d, inner, &b), 0);
	CHECK_STR(mp_buf_get(&b), "\"a\"|3|");
	inner = mp_value_next(&d.t, MP_ROOT, inner);
	CHECK_STR(mp_value_source(&d.t, inner), "4");
	CHECK_EQ(mp_value_next(&d.t, MP_ROOT, inner), MP_NONE);
}

TEST(nothing_is_inside_a_folded_value)
{
	MP_CLEANUP(doc_done) struct doc d;
	mp_value a;

	doc_init(&d);
	d.t.keep_depth = 1;
	CHECK(parse(&d, MP_STR("{\"a\":[1,2],\"b\":3}")));
	a = mp_value_get(&d.t, MP_ROOT, "a");
	CHECK_STR(mp_value_source(&d.t, a), "[1,2]");
	CHECK_EQ(mp_value_count(&d.t, a), 0);
	CHECK_EQ(mp_value_first(&d.t, a), MP_NONE);
	CHECK_STR(mp_value_source(&d.t, mp_value_get(&d.t, MP_ROOT, "b")), "3");
}

/* --- text ---------------------------------------------------------------------------------- */

static const struct text_row {
	const char *json;
	struct mp_str text;
} text_rows[] = {
	{"\"\"", TEXT("")},
	{"\"plain\"", TEXT("plain")},
	{"\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"",
	 TEXT("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")},
	{"\"\\\"\"", TEXT("\"")},
	{"\"\\\\\"", TEXT("\\")},
	{"\"\\/\"", TEXT("/")},
	{"\"\\b\"", TEXT("\b")},
	{"\"\\f\"", TEXT("\f")},
	{"\"\\n\"", TEXT("\n")},
	{"\"\\r\"", TEXT("\r")},
	{"\"\\t\"", TEXT("\t")},
	{"\"\\u0041\"", TEXT("A")},
	{"\"\\u00e9\"", TEXT("\xc3\xa9")},
	{"\"\\u00E9\"", TEXT("\xc3\xa9")},
	{"\"\\u20aC\"", TEXT("\xe2\x82\xac")},
	{"\"\\uffFF\"", TEXT("\xef\xbf\xbf")},
	{"\"\\u0000\"", TEXT("\0")},
	{"\"a\\u0000b\\u0000\"", TEXT("a\0b\0")},
	{"\"\\u007f\\u0080\\u07ff\\u0800\"", TEXT("\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80")},
	{"\"\\ud7ff\\ue000\"", TEXT("\xed\x9f\xbf\xee\x80\x80")},
	{"\"\\ud83d\\ude00\"", TEXT("\xf0\x9f\x98\x80")},
	{"\"\\uD83D\\uDE00!\"", TEXT("\xf0\x9f\x98\x80!")},
	{"\"\\ud800\\udc00\"", TEXT("\xf0\x90\x80\x80")},
	{"\"\\udbff\\udfff\"", TEXT("\xf4\x8f\xbf\xbf")},
	/* Halves without their other half. */
	{"\"\\ud83d\"", TEXT("\xef\xbf\xbd")},
	{"\"\\ude00\"", TEXT("\xef\xbf\xbd")},
	{"\"\\ud83dx\"", TEXT("\xef\xbf\xbdx")},
	{"\"\\ud83d\\n\"", TEXT("\xef\xbf\xbd\n")},
	{"\"\\ud83d\\u0041\"", TEXT("\xef\xbf\xbd"
				    "A")},
	{"\"\\ud83d\\ud83d\\ude00\"", TEXT("\xef\xbf\xbd\xf0\x9f\x98\x80")},
	{"\"\\ude00\\ud83d\"", TEXT("\xef\xbf\xbd\xef\xbf\xbd")},
	{"\"\\ud83d\xf0\x9f\x98\x80\"", TEXT("\xef\xbf\xbd\xf0\x9f\x98\x80")},
	{"\"\\ud83d\\\\ude00\"", TEXT("\xef\xbf\xbd\\ude00")},
	{"\"\\\\u0041\"", TEXT("\\u0041")},
	{"\"\\\\\\\\\\\\n\"", TEXT("\\\\\\n")},
	{"\"a\\nb\\nc\"", TEXT("a\nb\nc")},
	{"\"\\n\\n\"", TEXT("\n\n")},
	{"\"\xc3\xa9\\u00e9\"", TEXT("\xc3\xa9\xc3\xa9")},
};

TEST(strings_have_their_text)
{
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(text_rows); i++) {
		struct mp_str text;

		CHECK(parse(&d, mp_str_of(text_rows[i].json)));
		CHECK_EQ(mp_value_text(&d.t, MP_ROOT, &d.arena, &text), 0);
		CHECK(test_same_text(text, text_rows[i].text, text_rows[i].json, __FILE__,
				     __LINE__));
		CHECK(mp_utf8_valid(text));
	}
}

TEST(text_is_agrees_with_text)
{
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(text_rows); i++) {
		CHECK(parse(&d, mp_str_of(text_rows[i].json)));
		for (size_t j = 0; j < MP_ARRAY_LEN(text_rows); j++)
			CHECK_EQ(mp_value_text_is(&d.t, MP_ROOT, text_rows[j].text),
				 mp_str_eq(text_rows[i].text, text_rows[j].text));
	}
	CHECK(parse(&d, MP_STR("[1,[],\"a\\u0062\",\"\"]")));
	CHECK(!mp_value_text_is(&d.t, 1, MP_STR("1")));
	CHECK(!mp_value_text_is(&d.t, 2, MP_STR("")));
	CHECK(!mp_value_text_is(&d.t, 3, MP_STR("a")));
	CHECK(!mp_value_text_is(&d.t, 3, MP_STR("abc")));
	CHECK(!mp_value_text_is(&d.t, 3, (struct mp_str){NULL, 0}));
	CHECK(mp_value_text_is(&d.t, 4, (struct mp_str){NULL, 0}));
}

TEST(text_starts_agrees_with_text)
{
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(text_rows); i++) {
		CHECK(parse(&d, mp_str_of(text_rows[i].json)));
		for (size_t j = 0; j < MP_ARRAY_LEN(text_rows); j++)
			CHECK_EQ(mp_value_text_starts(&d.t, MP_ROOT, text_rows[j].text),
				 mp_str_starts(text_rows[i].text, text_rows[j].text));
	}
	CHECK(parse(&d, MP_STR("[1,\"a\\u0062\\/c\",\"ab/c\"]")));
	CHECK(!mp_value_text_starts(&d.t, 1, MP_STR("")));
	CHECK(mp_value_text_starts(&d.t, 2, MP_STR("ab/")));
	CHECK(!mp_value_text_starts(&d.t, 2, MP_STR("ab/cd")));
	CHECK(mp_value_text_starts(&d.t, 3, MP_STR("ab/c")));
	CHECK(!mp_value_text_starts(&d.t, MP_NONE, MP_STR("")));
}

TEST(text_without_escapes_is_not_copied)
{
	MP_CLEANUP(doc_done) struct doc d;
	struct mp_str text;

	doc_init(&d);
	CHECK(parse(&d, MP_STR("[\"caf\xc3\xa9\",\"a\\n\"]")));
	CHECK_EQ(mp_value_text(&d.t, 1, &d.arena, &text), 0);
	CHECK(text.p == d.t.src + 2);
	CHECK_EQ(d.arena.taken, 0);
	CHECK_EQ(mp_value_text(&d.t, 2, &d.arena, &text), 0);
	CHECK(d.arena.taken > 0);
	CHECK(text.p < d.t.src || text.p >= d.t.src + d.t.len);
}

TEST(text_needs_a_string_and_memory)
{
	static const char *const others[] = {"null", "true", "false", "1", "[]", "{}"};
	MP_CLEANUP(doc_done) struct doc d;
	MP_CLEANUP(mp_arena_done) struct mp_arena tiny;
	struct mp_str text = MP_STR("before");

	doc_init(&d);
	mp_arena_init(&tiny, 8);
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++) {
		CHECK(parse(&d, mp_str_of(others[i])));
		CHECK_EQ(mp_value_text(&d.t, MP_ROOT, &d.arena, &text), MCPOOL_ETYPE);
	}
	CHECK(parse(&d, MP_STR("\"0123456789\\n\"")));
	CHECK_EQ(mp_value_text(&d.t, MP_ROOT, &tiny, &text), MCPOOL_ELIMIT);
	CHECK_STR(text, "before");
}

/* --- numbers and booleans ------------------------------------------------------------------ */

enum { TYPE = MCPOOL_ETYPE, LIMIT = MCPOOL_ELIMIT };

static const struct number_row {
	const char *json;
	int i_code;
	int64_t i;
	int u_code;
	uint64_t u;
	double f;
} number_rows[] = {
	{"0", 0, 0, 0, 0, 0},
	{"-0", 0, 0, 0, 0, -0.0},
	{"1", 0, 1, 0, 1, 1},
	{"-1", 0, -1, LIMIT, 0, -1},
	{"42", 0, 42, 0, 42, 42},
	{"1.0", TYPE, 0, TYPE, 0, 1},
	{"-1.5", TYPE, 0, TYPE, 0, -1.5},
	{"1e2", TYPE, 0, TYPE, 0, 100},
	{"1E+2", TYPE, 0, TYPE, 0, 100},
	{"100e-2", TYPE, 0, TYPE, 0, 1},
	{"0.1", TYPE, 0, TYPE, 0, 0.1},
	{"-0.0", TYPE, 0, TYPE, 0, -0.0},
	{"0e5", TYPE, 0, TYPE, 0, 0},
	{"9007199254740993", 0, 9007199254740993, 0, 9007199254740993u, 9007199254740992.0},
	{"9223372036854775807", 0, INT64_MAX, 0, INT64_MAX, 9223372036854775808.0},
	{"9223372036854775808", LIMIT, 0, 0, 9223372036854775808u, 9223372036854775808.0},
	{"-9223372036854775808", 0, INT64_MIN, LIMIT, 0, -9223372036854775808.0},
	{"-9223372036854775809", LIMIT, 0, LIMIT, 0, -9223372036854775808.0},
	{"18446744073709551615", LIMIT, 0, 0, UINT64_MAX, 18446744073709551616.0},
	{"18446744073709551616", LIMIT, 0, LIMIT, 0, 18446744073709551616.0},
	{"123456789012345678901234567890", LIMIT, 0, LIMIT, 0, 123456789012345678901234567890.0},
	{"1.7976931348623157e308", TYPE, 0, TYPE, 0, DBL_MAX},
	{"5e-324", TYPE, 0, TYPE, 0, 5e-324},
	{"1e-400", TYPE, 0, TYPE, 0, 0},
	{"1e400", TYPE, 0, TYPE, 0, INFINITY},
	{"-1e400", TYPE, 0, TYPE, 0, -INFINITY},
	{"0.1000000000000000055511151231257827021181583404541015625", TYPE, 0, TYPE, 0, 0.1},
	{"3.14159265358979323846264338327950288419716939937510582097494459230781640628", TYPE, 0,
	 TYPE, 0, 3.141592653589793},
};

static bool number_reads(const struct doc *d, const struct number_row *row)
{
	int64_t i = 77;
	uint64_t u = 77;
	double f = 77;

	REQUIRE(mp_value_i64(&d->t, MP_ROOT, &i) == row->i_code);
	REQUIRE(i == (row->i_code ? 77 : row->i));
	REQUIRE(mp_value_u64(&d->t, MP_ROOT, &u) == row->u_code);
	REQUIRE(u == (row->u_code ? 77 : row->u));
	REQUIRE(mp_value_f64(&d->t, MP_ROOT, &f) == 0);
	REQUIRE(memcmp(&f, &row->f, sizeof(f)) == 0); /* tells -0 from 0 */
	return true;
}

TEST(numbers_are_read)
{
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(number_rows); i++) {
		CHECK(parse(&d, mp_str_of(number_rows[i].json)));
		CHECK(test_true(number_reads(&d, &number_rows[i]), number_rows[i].json, __FILE__,
				__LINE__));
	}
}

TEST(numbers_with_a_thousand_digits_are_read)
{
	MP_CLEANUP(doc_done) struct doc d;
	char text[1001];
	int64_t i;
	uint64_t u;
	double f = 0;

	doc_init(&d);
	memset(text, '9', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(parse(&d, mp_str_of(text)));
	CHECK_EQ(mp_value_i64(&d.t, MP_ROOT, &i), MCPOOL_ELIMIT);
	CHECK_EQ(mp_value_u64(&d.t, MP_ROOT, &u), MCPOOL_ELIMIT);
	CHECK_EQ(mp_value_f64(&d.t, MP_ROOT, &f), 0);
	CHECK(isinf(f));
}

TEST(booleans_are_read)
{
	MP_CLEANUP(doc_done) struct doc d;
	bool b = false;

	doc_init(&d);
	CHECK(parse(&d, MP_STR("true")));
	CHECK_EQ(mp_value_bool(&d.t, MP_ROOT, &b), 0);
	CHECK_EQ(b, true);
	CHECK(parse(&d, MP_STR("false")));
	CHECK_EQ(mp_value_bool(&d.t, MP_ROOT, &b), 0);
	CHECK_EQ(b, false);
}

TEST(other_types_are_no_numbers_and_no_booleans)
{
	static const char *const others[] = {"null", "\"1\"", "\"true\"", "[]", "[1]", "{}"};
	MP_CLEANUP(doc_done) struct doc d;
	int64_t i;
	double f;
	bool b;

	doc_init(&d);
	for (size_t k = 0; k < MP_ARRAY_LEN(others); k++) {
		CHECK(parse(&d, mp_str_of(others[k])));
		CHECK_EQ(mp_value_i64(&d.t, MP_ROOT, &i), MCPOOL_ETYPE);
		CHECK_EQ(mp_value_u64(&d.t, MP_ROOT, &(uint64_t){0}), MCPOOL_ETYPE);
		CHECK_EQ(mp_value_f64(&d.t, MP_ROOT, &f), MCPOOL_ETYPE);
		CHECK_EQ(mp_value_bool(&d.t, MP_ROOT, &b), MCPOOL_ETYPE);
	}
	CHECK(parse(&d, MP_STR("0")));
	CHECK_EQ(mp_value_bool(&d.t, MP_ROOT, &b), MCPOOL_ETYPE);
	CHECK(parse(&d, MP_STR("true")));
	CHECK_EQ(mp_value_i64(&d.t, MP_ROOT, &i), MCPOOL_ETYPE);
}

/* --- duplicates ---------------------------------------------------------------------------- */

/* The offset of the key that is found again, or -1. */
static int duplicate_at(struct doc *d, const char *text)
{
	mp_value key = 0;

	if (!parse(d, mp_str_of(text)) || mp_value_find_duplicate(&d->t, MP_ROOT, &key) < 0)
		return -2;
	return key == MP_NONE ? -1 : (int)d->t.nodes[key].start;
}

TEST(a_key_that_stands_twice_is_found)
{
	static const struct {
		const char *text;
		int at;
	} rows[] = {
		{"{}", -1},
		{"{\"a\":1}", -1},
		{"{\"a\":1,\"b\":2}", -1},
		{"{\"a\":1,\"a\":2}", 7},
		{"{\"a\":1,\"b\":2,\"a\":3,\"b\":4}", 13},
		{"{\"a\":1,\"b\":2,\"b\":3,\"a\":4}", 13},
		{"{\"a\":1,\"A\":2}", -1},
		{"{\"a\":1,\"\\u0061\":2}", 7},
		{"{\"\\u0061\":1,\"a\":2}", 12},
		{"{\"\\u0061\":1,\"\\u0061\":2}", 12},
		{"{\"\\u00e9\\n\":1,\"\xc3\xa9\\u000a\":2}", 14},
		{"{\"\\ud83d\\ude00\\t\":1,\"\xf0\x9f\x98\x80\\t\":2}", 20},
		{"{\"a\\n\":1,\"a\\nb\":2,\"a\\t\":3}", -1},
		{"{\"\":1,\"\":2}", 6},
		{"{\"a\\u0000\":1,\"a\":2}", -1},
		{"{\"a\":{\"a\":1},\"b\":[\"a\"]}", -1},
		{"{\"a\":{\"x\":1,\"x\":2}}", -1},
		{"[\"a\",\"a\"]", -1},
		{"\"a\"", -1},
	};
	MP_CLEANUP(doc_done) struct doc d;

	doc_init(&d);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(test_equal(duplicate_at(&d, rows[i].text), rows[i].at, rows[i].text, __FILE__,
				 __LINE__));
}

/* n keys k0, k1, ...; the last is spelled as given instead, if it is. */
static int many_keys(struct mp_buf *b, int n, const char *last)
{
	int r = mp_buf_add_char(b, '{');

	for (int i = 0; i < n && r == 0; i++) {
		if (i + 1 == n && last)
			r = mp_buf_addf(b, ",\"%s\":%d", last, i);
		else
			r = mp_buf_addf(b, "%s\"k%d\":%d", i ? "," : "", i, i);
	}
	return r < 0 ? r : mp_buf_add_char(b, '}');
}

TEST(duplicates_are_found_among_few_and_among_many)
{
	static const struct {
		const char *last;
		bool found;
	} rows[] = {
		{NULL, false},
		{"k0", true},
		{"k7", true},
		{"\\u006b7", true},
		{"k\\u0037", true},
		{"K7", false},
		{"k\\u0037\\u0000", false},
		{"k", false},
	};
	static const int sizes[] = {9, 16, 17, 40};

	for (size_t s = 0; s < MP_ARRAY_LEN(sizes); s++) {
		for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
			MP_CLEANUP(doc_done) struct doc d;
			MP_CLEANUP(mp_buf_done) struct mp_buf b;
			mp_value key = 0;

			doc_init(&d);
			mp_buf_init(&b, 10000);
			CHECK_EQ(many_keys(&b, sizes[s], rows[i].last), 0);
			CHECK(parse(&d, mp_buf_get(&b)));
			CHECK_EQ(mp_value_count(&d.t, MP_ROOT), sizes[s]);
			CHECK_EQ(mp_value_find_duplicate(&d.t, MP_ROOT, &key), 0);
			/* The second of them is the last key there is. */
			CHECK_EQ(key, rows[i].found ? d.t.n - 2 : MP_NONE);
		}
	}
}

TEST(a_large_object_may_be_refused_memory)
{
	MP_CLEANUP(doc_done) struct doc d;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	mp_value key = 0;
	int r;

	doc_init(&d);
	mp_buf_init(&b, 10000);
	if (!mp_fault_is_built_in())
		return;
	CHECK_EQ(many_keys(&b, 17, "k3"), 0);
	CHECK(parse(&d, mp_buf_get(&b)));
	mp_fault_arm(MP_FAULT_TRY, 3);
	r = mp_value_find_duplicate(&d.t, MP_ROOT, &key);
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_EQ(r, MCPOOL_ENOMEM);
	CHECK_EQ(key, MP_NONE);
}

/* --- equality ------------------------------------------------------------------------------ */

/* 1 equal, 0 not, negative: a failure, or not the same in both directions. */
static int equal(struct doc *a, struct doc *b, struct mp_str x, struct mp_str y)
{
	bool forth = false, back = false;
	int r;

	if (!parse(a, x) || !parse(b, y))
		return -100;
	r = mp_value_equal(&a->t, MP_ROOT, &b->t, MP_ROOT, &forth);
	if (r == 0)
		r = mp_value_equal(&b->t, MP_ROOT, &a->t, MP_ROOT, &back);
	if (r < 0)
		return r;
	return forth == back ? forth : -101;
}

TEST(values_are_compared)
{
	static const struct {
		const char *x, *y;
		bool equal;
	} rows[] = {
		{"null", "null", true},
		{"null", "false", false},
		{"true", "true", true},
		{"true", "false", false},
		{"1", "1", true},
		{"1", "2", false},
		{"1", "1.0", false}, /* by their spelling */
		{"1e2", "100", false},
		{"0", "-0", false},
		{"1", "\"1\"", false},
		{"\"a\"", "\"a\"", true},
		{"\"a\"", "\"b\"", false},
		{"\"a\"", "\"ab\"", false},
		{"\"\"", "\"\"", true},
		{"\"a\"", "\"\\u0061\"", true},
		{"\"\\u0061\"", "\"\\u0061\"", true},
		{"\"\\u0061\\n\"", "\"a\\u000a\"", true},
		{"\"\\u0061\\n\"", "\"a\\u000b\"", false},
		{"\"\\n\\n\"", "\"\\n\"", false},
		{"\"\\n\"", "\"\\n\\n\"", false},
		{"\"\\u00e9\\t\"", "\"\xc3\xa9\\t\"", true},
		{"\"\\u00e8\\t\"", "\"\xc3\xa9\\t\"", false},
		{"\"\\u20ac\\t\"", "\"\xc3\xa9\\t\"", false},
		{"\"\\ud83d\\ude00\\t\"", "\"\xf0\x9f\x98\x80\\u0009\"", true},
		/* Lone surrogates read as U+FFFD, but a definition that changes one has changed. */
		{"\"\\ud83d\"", "\"\xef\xbf\xbd\"", false},
		{"\"\\ud83d\"", "\"\\ud83e\"", false},
		{"\"\\ud83d\"", "\"\\uD83D\"", true},
		{"{\"\\ud83d\":1}", "{\"\\ud83e\":1}", false},
		{"\"\\\\\"", "\"\\u005c\"", true},
		{"\"\\u0000\"", "\"\\u0000\"", true},
		{"\"\\u0000\"", "\"\"", false},
		{"[]", "[]", true},
		{"[]", "{}", false},
		{"[]", "[1]", false},
		{"[1]", "[]", false},
		{"[1,2]", "[ 1 , 2 ]", true},
		{"[1,2]", "[2,1]", false},
		{"[1,2]", "[1,2,3]", false},
		{"[[1],[2]]", "[[1],[2]]", true},
		{"[[1],[2]]", "[[1,2]]", false},
		{"[[1,2]]", "[[1],2]", false},
		{"{}", "{ }", true},
		{"{\"a\":1}", "{}", false},
		{"{\"a\":1}", "{\"a\": 1}", true},
		{"{\"a\":1}", "{\"a\":2}", false},
		{"{\"a\":1}", "{\"b\":1}", false},
		{"{\"a\":1}", "{\"\\u0061\":1}", true},
		{"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
		{"{\"a\":1,\"b\":2}", "{\"b\":1,\"a\":2}", false},
		{"{\"a\":1,\"b\":2}", "{\"b\":2,\"c\":1}", false},
		{"{\"a\":1,\"b\":2}", "{\"a\":1}", false},
		{"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":1,\"b\":2}", true},
		{"{\"a\":1,\"b\":2,\"c\":3}", "{\"c\":3,\"a\":1,\"b\":4}", false},
		{"{\"a\\n\":1,\"b\":2}", "{\"b\":2,\"a\\u000A\":1}", true},
		{"{\"a\":{\"x\":1,\"y\":[{\"p\":1,\"q\":2}]},\"b\":2}",
		 "{\"b\":2,\"a\":{\"y\":[{\"q\":2,\"p\":1}],\"x\":1}}", true},
		{"{\"a\":{\"x\":1,\"y\":[{\"p\":1,\"q\":2}]},\"b\":2}",
		 "{\"b\":2,\"a\":{\"y\":[{\"q\":1,\"p\":2}],\"x\":1}}", false},
		{"{\"a\":{\"x\":1,\"y\":3},\"b\":2}", "{\"a\":{\"x\":1,\"y\":4},\"b\":2}", false},
		{"{\"a\":[1],\"b\":[2]}", "{\"b\":[2],\"a\":[1,1]}", false},
		/* A key twice: the same keys in the same order, or not equal. */
		{"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}", true},
		{"{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}", false},
		{"{\"a\":1,\"a\":2}", "{\"a\":2}", false},
		{"{\"a\":1,\"b\":2,\"a\":1}", "{\"b\":2,\"a\":1,\"a\":1}", false},
		{"{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":1}", false},
		{"{\"a\":1,\"b\":1,\"b\":1}", "{\"b\":1,\"a\":1,\"a\":1}", false},
		{"// one\n{\"a\": /* two */ [1,],}", "{\"a\":[1]}", true},
	};
	MP_CLEANUP(doc_done) struct doc a, b;

	doc_init(&a);
	doc_init(&b);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK(test_equal(equal(&a, &b, mp_str_of(rows[i].x), mp_str_of(rows[i].y)),
				 rows[i].equal, rows[i].x, __FILE__, __LINE__));
		CHECK_EQ(equal(&a, &b, mp_str_of(rows[i].x), mp_str_of(rows[i].x)), 1);
	}
}

/* The members of an object of n, from the last to the first. */
static int many_keys_backwards(struct mp_buf *b, int n, int changed)
{
	int r = mp_buf_add_char(b, '{');

	for (int i = n - 1; i >= 0 && r == 0; i--)
		r = mp_buf_addf(b, "\"\\u006b%d\": %d%s", i, i == changed ? -1 : i, i ? "," : "");
	return r < 0 ? r : mp_buf_add_char(b, '}');
}

TEST(large_objects_in_another_order_are_compared)
{
	static const int sizes[] = {2, 16, 17, 60};

	for (size_t i = 0; i < MP_ARRAY_LEN(sizes); i++) {
		MP_CLEANUP(doc_done) struct doc a, b;
		MP_CLEANUP(mp_buf_done) struct mp_buf x, y;

		doc_init(&a);
		doc_init(&b);
		mp_buf_init(&x, 10000);
		mp_buf_init(&y, 10000);
		CHECK_EQ(many_keys(&x, sizes[i], NULL), 0);
		CHECK_EQ(many_keys_backwards(&y, sizes[i], -1), 0);
		CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), 1);
		mp_buf_clear(&y);
		CHECK_EQ(many_keys_backwards(&y, sizes[i], 0), 0);
		CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), 0);
		mp_buf_clear(&y);
		CHECK_EQ(many_keys_backwards(&y, sizes[i] + 1, -1), 0);
		CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), 0);
	}
}

/* 128 levels; in each object a second key, before or behind the one that leads on. */
static int deep(struct mp_buf *b, bool key_first, int innermost)
{
	int r = 0;

	for (int i = 0; i < 64 && r == 0; i++)
		r = mp_buf_add_str(b, key_first ? MP_STR("{\"z\":0,\"k\":[") : MP_STR("{\"k\":["));
	if (r == 0)
		r = mp_buf_addf(b, "%d", innermost);
	for (int i = 0; i < 64 && r == 0; i++)
		r = mp_buf_add_str(b, key_first ? MP_STR("]}") : MP_STR("],\"z\":0}"));
	return r;
}

TEST(deep_values_are_compared)
{
	MP_CLEANUP(doc_done) struct doc a, b;
	MP_CLEANUP(mp_buf_done) struct mp_buf x, y;

	doc_init(&a);
	doc_init(&b);
	mp_buf_init(&x, 10000);
	mp_buf_init(&y, 10000);
	CHECK_EQ(deep(&x, true, 1), 0);
	CHECK_EQ(deep(&y, false, 1), 0);
	CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), 1);
	CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&x)), 1);
	mp_buf_clear(&y);
	CHECK_EQ(deep(&y, false, 2), 0);
	CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), 0);
}

TEST(folded_values_equal_nothing)
{
	static const struct {
		const char *text;
		unsigned keep;
		bool equal;
	} rows[] = {
		{"[]", 0, true},         {"{}", 0, true},          {"[1]", 0, false},
		{"[1]", 1, true},        {"{\"a\":1}", 0, false},  {"{\"a\":[1]}", 1, false},
		{"{\"a\":[]}", 1, true}, {"{\"a\":[1]}", 2, true},
	};
	MP_CLEANUP(doc_done) struct doc a, b;

	doc_init(&a);
	doc_init(&b);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_str s = mp_str_of(rows[i].text);

		a.t.keep_depth = rows[i].keep;
		b.t.keep_depth = MP_LIMIT_JSON_DEPTH;
		CHECK(test_equal(equal(&a, &b, s, s), rows[i].equal, rows[i].text, __FILE__,
				 __LINE__));
		b.t.keep_depth = rows[i].keep; /* nor does one folded value equal another */
		CHECK(test_equal(equal(&a, &b, s, s), rows[i].equal, rows[i].text, __FILE__,
				 __LINE__));
	}
}

TEST(parts_of_one_tape_are_compared)
{
	MP_CLEANUP(doc_done) struct doc d;
	bool same = false;

	doc_init(&d);
	CHECK(parse(&d, MP_STR("{\"a\":[1,{\"x\":2}],\"b\":[1,{\"x\":2}],\"c\":[1,{\"x\":3}]}")));
	CHECK_EQ(mp_value_equal(&d.t, mp_value_get(&d.t, 0, "a"), &d.t, mp_value_get(&d.t, 0, "b"),
				&same),
		 0);
	CHECK(same);
	CHECK_EQ(mp_value_equal(&d.t, mp_value_get(&d.t, 0, "a"), &d.t, mp_value_get(&d.t, 0, "c"),
				&same),
		 0);
	CHECK(!same);
}

/* A string of a few characters that are easily confused, each in a random spelling. */
static int random_string(struct mp_buf *b, uint64_t *seed)
{
	static const char *const spellings[] = {
		"a",
		"\\u0061",
		"\\n",
		"\\u000a",
		"\xc3\xa9",
		"\\u00e9",
		"\\u00E9",
		"\\ud83d\\ude00",
		"\xf0\x9f\x98\x80",
		"\\ud83d",
		"\xe2\x82\xac",
		"\\\\",
		"\\u005C",
		"/",
		"\\/",
	};
	size_t n = test_random(seed) % 4;
	int r = mp_buf_add_char(b, '"');

	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_buf_add_str(
			b, mp_str_of(spellings[test_random(seed) % MP_ARRAY_LEN(spellings)]));
	return r < 0 ? r : mp_buf_add_char(b, '"');
}

HEAVY_TEST(too_many_keys_are_not_compared)
{
	for (size_t n = MP_LIMIT_JSON_MEMBERS; n <= MP_LIMIT_JSON_MEMBERS + 1; n++) {
		MP_CLEANUP(doc_done) struct doc d;
		MP_CLEANUP(mp_buf_done) struct mp_buf b;
		mp_value twice;

		doc_init(&d);
		mp_buf_init(&b, MP_LIMIT_MESSAGE);
		for (size_t i = 0; i < n; i++)
			CHECK_EQ(mp_buf_addf(&b, "%s\"k%zu\":0", i ? "," : "{", i), 0);
		CHECK_EQ(mp_buf_add_char(&b, '}'), 0);
		CHECK(parse(&d, mp_buf_get(&b)));
		CHECK_EQ(mp_value_find_duplicate(&d.t, MP_ROOT, &twice),
			 n > MP_LIMIT_JSON_MEMBERS ? MCPOOL_ELIMIT : 0);
	}
}

HEAVY_TEST(strings_are_equal_when_their_texts_are)
{
	uint64_t seed = 4711;
	size_t n_equal = 0;

	for (int round = 0; round < 20000; round++) {
		MP_CLEANUP(doc_done) struct doc a, b;
		MP_CLEANUP(mp_buf_done) struct mp_buf x, y;
		struct mp_str one, other;
		bool same;

		doc_init(&a);
		doc_init(&b);
		mp_buf_init(&x, 1000);
		mp_buf_init(&y, 1000);
		CHECK_EQ(random_string(&x, &seed), 0);
		CHECK_EQ(random_string(&y, &seed), 0);
		CHECK(parse(&a, mp_buf_get(&x)));
		CHECK(parse(&b, mp_buf_get(&y)));
		CHECK_EQ(mp_value_text(&a.t, MP_ROOT, &a.arena, &one), 0);
		CHECK_EQ(mp_value_text(&b.t, MP_ROOT, &b.arena, &other), 0);
		same = mp_str_eq(one, other);
		n_equal += same;
		CHECK_EQ(equal(&a, &b, mp_buf_get(&x), mp_buf_get(&y)), same);
		CHECK_EQ(mp_value_text_is(&a.t, MP_ROOT, other), same);
	}
	CHECK(n_equal > 1000);
}

TEST(a_key_by_its_name_is_the_last_of_its_kind)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("{\"a\":1,\"b\":2,\"\\u0061\":3}"), NULL), 0);
	CHECK_EQ(mp_value_get_key(&t, MP_ROOT, MP_STR("a")), 5);
	CHECK_EQ(mp_value_get_key(&t, MP_ROOT, MP_STR("b")), 3);
	CHECK_EQ(mp_value_get_key(&t, MP_ROOT, MP_STR("c")), MP_NONE);
	CHECK_EQ(mp_value_get_key(&t, MP_NONE, MP_STR("a")), MP_NONE);
	CHECK_EQ(mp_value_get_key(&t, 2, MP_STR("a")), MP_NONE);
}

TEST(several_members_in_one_go)
{
	static const struct mp_str keys[] = {MP_STR("a"), MP_STR("bb"), MP_STR("no"), MP_STR("x")};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value v[4];

	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_parse(&t,
			       MP_STR("{\"a\":1,\"bb\":[{\"no\":0}],\"\\u0061\":3,\"\\u0078\":{},"
				      "\"cc\":4}"),
			       NULL),
		 0);
	mp_value_get_all(&t, MP_ROOT, keys, 4, v);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(v[i], mp_value_get_str(&t, MP_ROOT, keys[i]));
	CHECK_STR(mp_value_source(&t, v[0]), "3"); /* the last of its kind */
	CHECK_STR(mp_value_source(&t, v[1]), "[{\"no\":0}]");
	CHECK_EQ(v[2], MP_NONE);
	CHECK_STR(mp_value_source(&t, v[3]), "{}");
	mp_value_get_all(&t, v[1], keys, 4, v);
	CHECK_EQ(v[0], MP_NONE);
	mp_value_get_all(&t, MP_NONE, keys, 4, v);
	CHECK_EQ(v[3], MP_NONE);
}
