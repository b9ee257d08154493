/*
 * test_toml.c - TOML: what it is and what it becomes, faults and their places, and the way back
 * from the JSON to the file.
 */
#include "test.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "toml/toml.h"
#include "json/tape.h"
#include "json/value.h"

static void free_bytes(char **bytes)
{
	free(*bytes);
}

/* Every key and every value of the JSON has a spot of its own, and there are no others. */
static bool spots_hold(const struct mp_toml *t, size_t toml_len)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;

	mp_tape_init(&tape, 0);
	REQUIRE(mp_tape_parse(&tape, mp_buf_get(&t->json), NULL) == 0);
	REQUIRE(t->n == tape.n);
	for (size_t i = 0; i < t->n; i++) {
		REQUIRE(t->spots[i].json == tape.nodes[i].start);
		REQUIRE(t->spots[i].toml <= toml_len);
	}
	return true;
}

/* --- the table of cases -------------------------------------------------------------------- */

enum { MAX_CASE = 1 << 20 };

struct test_case {
	bool accept;
	char name[128];
	struct mp_buf text, want;
};

static void case_done(struct test_case *c)
{
	mp_buf_done(&c->text);
	mp_buf_done(&c->want);
}

static bool read_case(struct mp_str line, struct test_case *c)
{
	struct mp_str verdict = cases_field(&line), name = cases_field(&line);
	struct mp_str text = cases_field(&line);

	c->accept = mp_str_eq(verdict, MP_STR("accept"));
	snprintf(c->name, sizeof(c->name), "%.*s", MP_STR_ARGS(name));
	mp_buf_clear(&c->text);
	mp_buf_clear(&c->want);
	return (c->accept || mp_str_eq(verdict, MP_STR("refuse"))) && name.len && line.len &&
	       cases_expand(text, &c->text) && cases_expand(line, &c->want);
}

static bool refusal_holds(const struct mp_toml *t, int r, const struct mcpool_error *error,
			  struct mp_str want)
{
	unsigned line = 0, column = 0;
	char place[32];
	int behind = 0;

	REQUIRE(r == MCPOOL_EPARSE || r == MCPOOL_ELIMIT);
	REQUIRE(error->code == r && t->json.len == 0 && t->n == 0);
	REQUIRE(sscanf(error->message, "line %u, column %u: %n", &line, &column, &behind) == 2);
	REQUIRE(t->fault && strcmp(error->message + behind, t->fault) == 0);
	snprintf(place, sizeof(place), "%u:%u", line, column);
	return test_same_text(mp_str_of(place), want, "place", __FILE__, __LINE__);
}

static bool case_holds(const struct test_case *c)
{
	MP_CLEANUP(free_bytes) char *exact = malloc(c->text.len ? c->text.len : 1);
	MP_CLEANUP(mp_toml_done) struct mp_toml t;
	struct mp_str text = {exact, c->text.len};
	struct mcpool_error error;
	int r;

	mp_toml_init(&t);
	REQUIRE(exact);
	if (text.len) /* a block of exactly these bytes, so that ASan sees what is read behind */
		memcpy(exact, c->text.data, text.len);
	r = mp_toml_read(&t, text, &error);
	REQUIRE((r == 0) == c->accept);
	if (r < 0)
		return refusal_holds(&t, r, &error, mp_buf_get(&c->want));
	REQUIRE(!t.fault);
	REQUIRE(test_same_text(mp_buf_get(&t.json), mp_buf_get(&c->want), "JSON", __FILE__,
			       __LINE__));
	return spots_hold(&t, text.len);
}

HEAVY_TEST(every_case_of_the_table_has_its_verdict)
{
	MP_CLEANUP(case_done) struct test_case c = {0};
	size_t len = 0, accepted = 0, all = 0;
	MP_CLEANUP(free_bytes) char *bytes = test_read_file("toml/cases.txt", &len);
	struct mp_str rest = {bytes, len}, line;
	bool ok = true;

	mp_buf_init(&c.text, MAX_CASE);
	mp_buf_init(&c.want, MAX_CASE);
	CHECK(bytes);
	while (cases_next_line(&rest, &line)) {
		CHECK(read_case(line, &c));
		ok &= test_true(case_holds(&c), c.name, __FILE__, __LINE__);
		accepted += c.accept;
		all++;
	}
	CHECK(ok);
	CHECK(accepted >= 200 && all - accepted >= 380);
}

/* --- the way back ---------------------------------------------------------------------------- */

/* The TOML source of the first occurrence of `json` in the JSON text. */
static const char *source_of(const struct mp_toml *t, struct mp_str toml, const char *json)
{
	ptrdiff_t at = mp_str_find(mp_buf_get(&t->json), mp_str_of(json), 0);

	return at < 0 ? "" : toml.p + mp_toml_locate(t, (size_t)at);
}

static bool comes_from(const struct mp_toml *t, struct mp_str toml, const char *json,
		       const char *source)
{
	const char *there = source_of(t, toml, json);

	return test_same_text((struct mp_str){there, strnlen(there, strlen(source))},
			      mp_str_of(source), json, __FILE__, __LINE__);
}

TEST(keys_and_values_lead_back_to_the_file)
{
	MP_CLEANUP(mp_toml_done) struct mp_toml t;
	struct mp_str toml = MP_STR("\xef\xbb\xbf# caf\xc3\xa9\n"
				    "top = 'first' # c\n"
				    "\"quo\\u0074ed\" = 0xff\n"
				    "[a.b]\n"
				    "c.d = [ 1,\n 2.5 ]\n"
				    "e = { f = true }\n"
				    "[a]\n"
				    "g = 2000-01-01\n"
				    "[[h]]\n"
				    "i = \"\"\"\nmany\nlines\"\"\"\n"
				    "[[h]] # second\n");

	mp_toml_init(&t);
	CHECK_EQ(mp_toml_read(&t, toml, NULL), 0);
	CHECK_STR(mp_buf_get(&t.json),
		  "{\"top\":\"first\",\"quoted\":255,\"a\":{\"b\":{\"c\":{\"d\":[1,2.5]},"
		  "\"e\":{\"f\":true}},\"g\":\"2000-01-01\"},\"h\":[{\"i\":\"many\\nlines\"},{}]}");
	CHECK(spots_hold(&t, toml.len));
	CHECK(comes_from(&t, toml, "\"top\"", "top = "));
	CHECK(comes_from(&t, toml, "\"first\"", "'first'"));
	CHECK(comes_from(&t, toml, "\"quoted\"", "\"quo\\u"));
	CHECK(comes_from(&t, toml, "255", "0xff"));
	CHECK(comes_from(&t, toml, "\"a\"", "a]\ng")); /* its own header, not the one of a.b */
	CHECK(comes_from(&t, toml, "{\"b\"", "[a]"));
	CHECK(comes_from(&t, toml, "\"b\"", "b]"));
	CHECK(comes_from(&t, toml, "{\"c\"", "[a.b]"));
	CHECK(comes_from(&t, toml, "\"c\"", "c.d"));
	CHECK(comes_from(&t, toml, "\"d\"", "d = "));
	CHECK(comes_from(&t, toml, "[1", "[ 1,"));
	CHECK(comes_from(&t, toml, "1,", "1,\n"));
	CHECK(comes_from(&t, toml, "2.5", "2.5 ]"));
	CHECK(comes_from(&t, toml, "{\"f\"", "{ f"));
	CHECK(comes_from(&t, toml, "true", "true }"));
	CHECK(comes_from(&t, toml, "\"2000", "2000-01-01"));
	CHECK(comes_from(&t, toml, "[{\"i\"", "[[h]]\ni"));
	CHECK(comes_from(&t, toml, "{\"i\"", "[[h]]\ni"));
	CHECK(comes_from(&t, toml, "\"many", "\"\"\"\nmany"));
	CHECK(comes_from(&t, toml, "{}", "[[h]] # second"));
}

TEST(every_offset_leads_somewhere)
{
	MP_CLEANUP(mp_toml_done) struct mp_toml t;
	struct mp_str toml = MP_STR("a = 'xyz'\n");

	mp_toml_init(&t);
	CHECK_EQ(mp_toml_locate(&t, 17), 0); /* nothing was read yet */
	CHECK_EQ(mp_toml_read(&t, toml, NULL), 0);
	CHECK_STR(mp_buf_get(&t.json), "{\"a\":\"xyz\"}");
	CHECK_EQ(mp_toml_locate(&t, 0), 0);
	CHECK_EQ(mp_toml_locate(&t, 1), 0);
	CHECK_EQ(mp_toml_locate(&t, 4), 0);
	CHECK_EQ(mp_toml_locate(&t, 5), 4);
	CHECK_EQ(mp_toml_locate(&t, 7), 4); /* inside the string */
	CHECK_EQ(mp_toml_locate(&t, 10), 4);
	CHECK_EQ(mp_toml_locate(&t, 1000), 4);
}

/* --- faults and limits ----------------------------------------------------------------------- */

TEST(a_fault_has_words_and_a_place)
{
	MP_CLEANUP(mp_toml_done) struct mp_toml t;
	struct mcpool_error error;

	mp_toml_init(&t);
	CHECK_EQ(mp_toml_read(&t, MP_STR("\xef\xbb\xbfk = 1\n\n  \xc3\xa9 = 2"), &error),
		 MCPOOL_EPARSE);
	CHECK_TEXT(error.message, "line 3, column 3: a key with this character must be quoted");
	CHECK_TEXT(t.fault, "a key with this character must be quoted");
	CHECK_EQ(t.fault_at, 12);
	CHECK_EQ(mp_toml_read(&t, MP_STR("\xef\xbb\xbf= 1"), &error), MCPOOL_EPARSE);
	CHECK_TEXT(error.message, "line 1, column 1: a key is expected here");
	CHECK_EQ(t.fault_at, 3);
}

TEST(one_reader_reads_many_files)
{
	MP_CLEANUP(mp_toml_done) struct mp_toml t;

	mp_toml_init(&t);
	CHECK_EQ(mp_toml_read(&t, MP_STR("a = 1\nb = 2"), NULL), 0);
	CHECK_EQ(mp_toml_read(&t, MP_STR("a = "), NULL), MCPOOL_EPARSE);
	CHECK(t.fault && t.n == 0 && t.json.len == 0);
	CHECK_EQ(mp_toml_read(&t, (struct mp_str){NULL, 0}, NULL), 0);
	CHECK_STR(mp_buf_get(&t.json), "{}");
	CHECK(!t.fault);
	CHECK_EQ(mp_toml_read(&t, MP_STR("[c]\nd = \"\\u00e9\""), NULL), 0);
	CHECK_STR(mp_buf_get(&t.json), "{\"c\":{\"d\":\"\xc3\xa9\"}}");
	mp_toml_done(&t);
	mp_toml_done(&t);
}

static bool repeat(struct mp_buf *b, const char *first, const char *each, size_t n)
{
	REQUIRE(mp_buf_add(b, first, strlen(first)) == 0);
	for (size_t i = 0; i < n; i++)
		REQUIRE(mp_buf_add(b, each, strlen(each)) == 0);
	return true;
}

HEAVY_TEST(what_is_too_large_is_refused)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	MP_CLEANUP(mp_toml_done) struct mp_toml t;
	struct mcpool_error error;

	mp_toml_init(&t);
	mp_buf_init(&b, MP_LIMIT_MESSAGE + 1);
	CHECK(repeat(&b, "", "#", MP_LIMIT_MESSAGE + 1));
	CHECK_EQ(mp_toml_read(&t, mp_buf_get(&b), &error), MCPOOL_ELIMIT);
	CHECK(error.message[0]);
	b.len--;
	CHECK_EQ(mp_toml_read(&t, mp_buf_get(&b), &error), 0);
	mp_buf_clear(&b);
	CHECK(repeat(&b, "a=[", "1,", 4u << 20)); /* more values than there may be memory for */
	CHECK_EQ(mp_toml_read(&t, mp_buf_get(&b), &error), MCPOOL_ELIMIT);
	CHECK(t.fault && error.message[0]);
	mp_buf_clear(&b);
	CHECK(repeat(&b, "a='", "\"", 20u << 20)); /* the JSON is twice as long */
	CHECK_EQ(mp_buf_add_char(&b, '\''), 0);
	CHECK_EQ(mp_toml_read(&t, mp_buf_get(&b), &error), MCPOOL_ELIMIT);
	CHECK(t.json.len == 0 && error.message[0]);
}

/* --- large files ----------------------------------------------------------------------------- */

/* The shortest of a few, in nanoseconds. 0: it cannot be read. */
static int64_t time_reading(const char *before, const char *behind, size_t n)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	int64_t best = INT64_MAX;

	mp_buf_init(&b, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < n; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s%zu%s=1\n", before, i, behind);
		if (mp_buf_add(&b, line, strlen(line)) < 0)
			return 0;
	}
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(mp_toml_done) struct mp_toml t;
		struct timespec from, to;
		int64_t spent;

		mp_toml_init(&t);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		if (mp_toml_read(&t, mp_buf_get(&b), NULL) < 0)
			return 0;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		spent = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
		best = spent < best ? spent : best;
	}
	return best;
}

/* Sixteen times the keys in about sixteen times the time; in the square of that it would be 256. */
static bool grows_with_its_length(const char *before, const char *behind)
{
	int64_t small = time_reading(before, behind, 6400);
	int64_t large = time_reading(before, behind, 102400);

	REQUIRE(small > 0 && large > 0);
	REQUIRE(large / small < 100);
	return true;
}

HEAVY_TEST(a_hundred_thousand_keys_are_read_quickly)
{
	CHECK(grows_with_its_length("k", ""));
	CHECK(grows_with_its_length("[t", "]\nk"));
	CHECK(grows_with_its_length("a.k", ""));
	CHECK(grows_with_its_length("[a.b.c", ".d]\nk"));
	CHECK(grows_with_its_length("[[a]]\nk", ""));
	CHECK(grows_with_its_length("[[a.b]]\nc", ".d.e"));
}
