/*
 * test_bind.c - objects to structs and back: every type of field, every kind of problem, defaults
 * that stay, and what is present.
 */
#include "test.h"

#include <stdio.h>

#include "json/bind.h"

enum colour { RED, GREEN, BLUE };

struct inner {
	uint64_t present;
	int64_t port;
	const char *host;
};

struct outer {
	uint64_t present;
	bool flag;
	int64_t any;
	int64_t small;
	double ratio;
	const char *name;
	int colour;
	struct mp_bind_list args;
	struct mp_bind_map env;
	struct inner net;
	struct mp_str raw;
	const char *must;
};

static const char *const colours[] = {"red", "green", "blue", NULL};

static const struct mp_bind_field inner_fields[] = {
	MP_BIND(struct inner, I64, "port", port, .min = 1, .max = 65535, .required = true),
	MP_BIND(struct inner, TEXT, "host", host),
};
static const struct mp_bind_table inner_table = {inner_fields, MP_ARRAY_LEN(inner_fields),
						 offsetof(struct inner, present)};

static const struct mp_bind_field outer_fields[] = {
	MP_BIND(struct outer, BOOL, "flag", flag),
	MP_BIND(struct outer, I64, "any", any),
	MP_BIND(struct outer, I64, "small", small, .min = -5, .max = 10),
	MP_BIND(struct outer, F64, "ratio", ratio),
	MP_BIND(struct outer, TEXT, "name", name),
	MP_BIND(struct outer, TEXT, "title", name, .alias = true),
	MP_BIND(struct outer, TEXT, "label", name, .alias = true),
	MP_BIND(struct outer, CHOICE, "colour", colour, .choices = colours),
	MP_BIND(struct outer, CHOICE, "color", colour, .choices = colours, .alias = true),
	MP_BIND(struct outer, LIST, "args", args),
	MP_BIND(struct outer, MAP, "env", env),
	MP_BIND(struct outer, OBJECT, "net", net, .table = &inner_table),
	MP_BIND(struct outer, RAW, "raw", raw),
	MP_BIND(struct outer, TEXT, "must", must, .required = true),
	MP_BIND(struct outer, TEXT, "needed", must, .alias = true),
};
static const struct mp_bind_table outer_table = {outer_fields, MP_ARRAY_LEN(outer_fields),
						 offsetof(struct outer, present)};

/* What is there before reading: none of it is what a good object says. */
static const char *before_items[] = {"before"};
static struct mp_bind_pair before_pairs[] = {{"before", "before"}};
static const struct outer defaults = {
	.flag = true,
	.any = -7,
	.small = 7,
	.ratio = 0.75,
	.name = "before",
	.colour = BLUE,
	.args = {before_items, 1},
	.env = {before_pairs, 1},
	.net = {.port = 77, .host = "before"},
	.raw = {"before", 6},
	.must = "before",
};

/* The problems that were told. */
enum { MAX_HEARD = 12 };

struct heard {
	size_t n;
	struct {
		enum mp_bind_problem_kind kind;
		mp_value at;
		char message[256];
	} v[MAX_HEARD];
};

static void hear(const struct mp_bind_problem *problem, void *u)
{
	struct heard *h = u;

	if (h->n < MAX_HEARD) {
		h->v[h->n].kind = problem->kind;
		h->v[h->n].at = problem->at;
		snprintf(h->v[h->n].message, sizeof(h->v[0].message), "%s", problem->message);
	}
	h->n++;
}

/* One reading: the text, its tape, what was filled, what was heard. */
struct reading {
	struct mp_tape t;
	struct mp_arena arena;
	struct outer o;
	struct heard heard;
	struct mcpool_error err;
};

static void reading_init(struct reading *r)
{
	*r = (struct reading){.o = defaults};
	mp_tape_init(&r->t, MP_TAPE_JSONC);
	mp_arena_init(&r->arena, MP_MIB(1));
}

static void reading_done(struct reading *r)
{
	mp_tape_done(&r->t);
	mp_arena_done(&r->arena);
}

static int bind(struct reading *r, struct mp_str text, bool tell)
{
	int code = mp_tape_parse(&r->t, text, NULL);

	r->o = defaults;
	r->heard.n = 0;
	r->err = (struct mcpool_error){0};
	if (code < 0)
		return code;
	return mp_bind_read(&outer_table, &r->t, MP_ROOT, &r->arena, &r->o, tell ? hear : NULL,
			    &r->heard, &r->err);
}

/* --- a good object ------------------------------------------------------------------------- */

#define GOOD                                                                                     \
	"{\"flag\": false, \"any\": -9223372036854775808, \"small\": 10, \"ratio\": 2.5e-3, "    \
	"\"name\": \"n\\u00e4me\", \"colour\": \"green\", \"args\": [\"-y\", \"\", \"a b\"], "   \
	"\"env\": {\"A\": \"1\", \"B\\n\": \"\"}, \"net\": {\"port\": 65535, \"host\": \"h\"}, " \
	"\"raw\": [1,  {\"x\": null}], \"must\": \"yes\"}"

static bool is_good(const struct outer *o)
{
	REQUIRE(!o->flag);
	REQUIRE(o->any == INT64_MIN);
	REQUIRE(o->small == 10);
	REQUIRE(memcmp(&o->ratio, &(double){2.5e-3}, sizeof(double)) == 0);
	REQUIRE(strcmp(o->name, "n\xc3\xa4me") == 0);
	REQUIRE(o->colour == GREEN);
	REQUIRE(o->args.n == 3 && strcmp(o->args.items[0], "-y") == 0);
	REQUIRE(strcmp(o->args.items[1], "") == 0 && strcmp(o->args.items[2], "a b") == 0);
	REQUIRE(o->env.n == 2 && strcmp(o->env.items[0].key, "A") == 0);
	REQUIRE(strcmp(o->env.items[0].value, "1") == 0);
	REQUIRE(strcmp(o->env.items[1].key, "B\n") == 0);
	REQUIRE(strcmp(o->env.items[1].value, "") == 0);
	REQUIRE(o->net.port == 65535 && strcmp(o->net.host, "h") == 0);
	REQUIRE(mp_str_eq(o->raw, MP_STR("[1,{\"x\":null}]")));
	REQUIRE(strcmp(o->must, "yes") == 0);
	return true;
}

TEST(a_good_object_fills_every_field)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR(GOOD), true), 0);
	CHECK_EQ(r.heard.n, 0);
	CHECK(is_good(&r.o));
	/* Rows that are not aliases; the input has no alias. */
	CHECK_EQ(r.o.present, 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 7 | 1 << 9 |
				      1 << 10 | 1 << 11 | 1 << 12 | 1 << 13);
	CHECK_EQ(r.o.net.present, 3);
	CHECK_EQ(bind(&r, MP_STR(GOOD), false), 0);
	CHECK(is_good(&r.o));
}

TEST(what_is_not_there_keeps_its_default)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\": \"m\"}"), true), 0);
	CHECK_EQ(r.heard.n, 0);
	CHECK_EQ(r.o.present, 1 << 13);
	CHECK_TEXT(r.o.must, "m");
	r.o.must = defaults.must;
	r.o.present = 0;
	CHECK(memcmp(&r.o, &defaults, sizeof(defaults)) == 0);
}

TEST(empty_lists_and_maps_are_values)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"args\":[],\"env\":{},\"raw\":\"\"}"), true), 0);
	CHECK_EQ(r.heard.n, 0);
	CHECK_EQ(r.o.args.n, 0);
	CHECK_EQ(r.o.env.n, 0);
	CHECK_STR(r.o.raw, "\"\"");
	CHECK_TEXT(r.o.must, "");
}

/* The file is closed long before its entries are used, whether there were blanks in it or not. */
TEST(raw_values_outlive_the_text)
{
	MP_CLEANUP(reading_done) struct reading r;
	char text[] = "{\"must\":\"\",\"raw\":{\"a\":[1]}}";

	reading_init(&r);
	CHECK_EQ(bind(&r, mp_str_of(text), false), 0);
	memset(text, 'x', sizeof(text) - 1);
	CHECK_STR(r.o.raw, "{\"a\":[1]}");
}

TEST(choices_are_numbered)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"colour\":\"red\"}"), false), 0);
	CHECK_EQ(r.o.colour, RED);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"colour\":\"bl\\u0075e\"}"), false), 0);
	CHECK_EQ(r.o.colour, BLUE);
}

/* --- problems ------------------------------------------------------------------------------ */

static const struct problem_row {
	struct mp_str text; /* a member; "must" is added */
	enum mp_bind_problem_kind kind;
	int code; /* without somebody to tell; 0: none */
	const char *message;
} problem_rows[] = {
#define ROW(text, kind, code, message)                                     \
	{                                                                  \
		{"" text, sizeof(text) - 1}, MP_BIND_##kind, code, message \
	}
#define WRONG(text, message) ROW(text, TYPE, MCPOOL_ETYPE, message)
	WRONG("\"flag\": 1", "\"flag\" must be true or false, but is a number"),
	WRONG("\"flag\": \"true\"", "\"flag\" must be true or false, but is a string"),
	WRONG("\"flag\": null", "\"flag\" must be true or false, but is null"),
	WRONG("\"any\": \"1\"", "\"any\" must be a whole number, but is a string"),
	WRONG("\"any\": 1.0", "\"any\" must be a whole number, but is a number"),
	WRONG("\"any\": 1e2", "\"any\" must be a whole number, but is a number"),
	WRONG("\"any\": true", "\"any\" must be a whole number, but is true"),
	WRONG("\"any\": [1]", "\"any\" must be a whole number, but is an array"),
	WRONG("\"ratio\": \"1\"", "\"ratio\" must be a number, but is a string"),
	WRONG("\"ratio\": false", "\"ratio\" must be a number, but is false"),
	WRONG("\"name\": 1", "\"name\" must be a string without NUL, but is a number"),
	WRONG("\"name\": null", "\"name\" must be a string without NUL, but is null"),
	WRONG("\"name\": [\"x\"]", "\"name\" must be a string without NUL, but is an array"),
	WRONG("\"name\": \"a\\u0000b\"", "\"name\" must be a string without NUL, but is a string"),
	WRONG("\"name\": \"\\u0000\"", "\"name\" must be a string without NUL, but is a string"),
	WRONG("\"colour\": 1", "\"colour\" must be a string, but is a number"),
	WRONG("\"color\": null", "\"color\" must be a string, but is null"),
	WRONG("\"args\": \"x\"", "\"args\" must be an array of strings, but is a string"),
	WRONG("\"args\": {}", "\"args\" must be an array of strings, but is an object"),
	WRONG("\"args\": [\"x\", 1]",
	      "\"args\" must be an array of strings only, without NUL, but is an array"),
	WRONG("\"args\": [\"x\", [\"y\"]]",
	      "\"args\" must be an array of strings only, without NUL, but is an array"),
	WRONG("\"args\": [\"x\", \"y\\u0000\"]",
	      "\"args\" must be an array of strings only, without NUL, but is an array"),
	WRONG("\"env\": [\"A\", \"1\"]", "\"env\" must be an object of strings, but is an array"),
	WRONG("\"env\": null", "\"env\" must be an object of strings, but is null"),
	WRONG("\"env\": {\"A\": 1}",
	      "\"env\" must be an object of strings only, without NUL, but is an object"),
	WRONG("\"env\": {\"A\": \"x\", \"B\": null}",
	      "\"env\" must be an object of strings only, without NUL, but is an object"),
	WRONG("\"env\": {\"A\": \"\\u0000\"}",
	      "\"env\" must be an object of strings only, without NUL, but is an object"),
	WRONG("\"env\": {\"A\\u0000\": \"x\"}",
	      "\"env\" must be an object of strings only, without NUL, but is an object"),
	WRONG("\"net\": [1]", "\"net\" must be an object, but is an array"),
	WRONG("\"net\": \"localhost:80\"", "\"net\" must be an object, but is a string"),
	ROW("\"any\": 9223372036854775808", RANGE, MCPOOL_EINVAL,
	    "\"any\" must be from -9223372036854775808 to 9223372036854775807"),
	ROW("\"any\": -99999999999999999999999999", RANGE, MCPOOL_EINVAL,
	    "\"any\" must be from -9223372036854775808 to 9223372036854775807"),
	ROW("\"small\": 11", RANGE, MCPOOL_EINVAL, "\"small\" must be from -5 to 10"),
	ROW("\"small\": -6", RANGE, MCPOOL_EINVAL, "\"small\" must be from -5 to 10"),
	ROW("\"small\": 99999999999999999999", RANGE, MCPOOL_EINVAL,
	    "\"small\" must be from -5 to 10"),
	ROW("\"ratio\": 1e999", RANGE, MCPOOL_EINVAL, "\"ratio\" is too large a number"),
	ROW("\"ratio\": -1e999", RANGE, MCPOOL_EINVAL, "\"ratio\" is too large a number"),
	ROW("\"colour\": \"pink\"", NO_CHOICE, MCPOOL_EINVAL,
	    "\"colour\" must be one of \"red\", \"green\", \"blue\""),
	ROW("\"colour\": \"\"", NO_CHOICE, MCPOOL_EINVAL,
	    "\"colour\" must be one of \"red\", \"green\", \"blue\""),
	ROW("\"colour\": \"Red\"", NO_CHOICE, MCPOOL_EINVAL,
	    "\"colour\" must be one of \"red\", \"green\", \"blue\""),
	ROW("\"colour\": \"red\\u0000\"", NO_CHOICE, MCPOOL_EINVAL,
	    "\"colour\" must be one of \"red\", \"green\", \"blue\""),
	ROW("\"nane\": 1", UNKNOWN, 0, "\"nane\" is not a key that is known here"),
	ROW("\"Flag\": true", UNKNOWN, 0, "\"Flag\" is not a key that is known here"),
	ROW("\"flag\\u0000\": true", UNKNOWN, 0, "\"flag\\u0000\" is not a key that is known here"),
	ROW("\"\": {}", UNKNOWN, 0, "\"\" is not a key that is known here"),
#undef WRONG
#undef ROW
};

/* What a problem leaves: the defaults, whatever was tried. */
static bool is_untouched(struct outer o)
{
	o.must = defaults.must;
	o.present &= ~((uint64_t)1 << 13);
	return memcmp(&o, &defaults, sizeof(o)) == 0;
}

static bool problem_is_told(struct reading *r, const struct problem_row *row)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "{\"must\": \"m\", %.*s}", MP_STR_ARGS(row->text));
	struct mp_str s = {text, (size_t)n};

	REQUIRE(bind(r, s, true) == 0);
	REQUIRE(r->heard.n == 1);
	REQUIRE(r->heard.v[0].kind == row->kind);
	REQUIRE(r->heard.v[0].at == 3); /* the key */
	if (!test_same_text(mp_str_of(r->heard.v[0].message), mp_str_of(row->message),
			    "the message", __FILE__, __LINE__))
		return false;
	REQUIRE(is_untouched(r->o));
	REQUIRE(bind(r, s, false) == row->code);
	REQUIRE(r->err.code == row->code);
	REQUIRE(row->code == 0 || strcmp(r->err.message, row->message) == 0);
	REQUIRE(is_untouched(r->o));
	return true;
}

TEST(each_problem_is_told_and_the_field_stays)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	for (size_t i = 0; i < MP_ARRAY_LEN(problem_rows); i++)
		CHECK(test_true(problem_is_told(&r, &problem_rows[i]), problem_rows[i].text.p,
				__FILE__, __LINE__));
}

TEST(the_edges_of_a_range_are_inside)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"small\":-5}"), false), 0);
	CHECK_EQ(r.o.small, -5);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"small\":10}"), false), 0);
	CHECK_EQ(r.o.small, 10);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"any\":9223372036854775807}"), false), 0);
	CHECK_EQ(r.o.any, INT64_MAX);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"\",\"any\":-0}"), false), 0);
	CHECK_EQ(r.o.any, 0);
}

TEST(binding_goes_on_behind_a_problem)
{
	static const enum mp_bind_problem_kind want[] = {
		MP_BIND_TYPE,  MP_BIND_UNKNOWN, MP_BIND_NO_CHOICE, MP_BIND_TYPE,
		MP_BIND_RANGE, MP_BIND_UNKNOWN, MP_BIND_TWICE,     MP_BIND_MISSING};
	static const char text[] = "{\"flag\": 0, \"what\": {\"deep\": [1]}, \"colour\": \"x\", "
				   "\"args\": 1, \"any\": 3, \"net\": {\"port\": 0, \"pord\": 1}, "
				   "\"any\": 4}";
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, mp_str_of(text), true), 0);
	CHECK_EQ(r.heard.n, MP_ARRAY_LEN(want));
	for (size_t i = 0; i < MP_ARRAY_LEN(want); i++)
		CHECK_EQ(r.heard.v[i].kind, want[i]);
	CHECK_TEXT(r.heard.v[7].message, "\"must\" is missing");
	CHECK_EQ(r.heard.v[7].at, MP_ROOT);
	CHECK_EQ(r.o.any, 4);
	CHECK_EQ(r.o.present, 1 << 1 | 1 << 11);
}

TEST(the_first_problem_is_an_error_if_nobody_hears)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"what\":1,\"small\":99,\"flag\":0}"), false),
		 MCPOOL_EINVAL);
	CHECK_TEXT(r.err.message, "\"small\" must be from -5 to 10");
	CHECK_EQ(bind(&r, MP_STR("{\"flag\":0,\"small\":99}"), false), MCPOOL_ETYPE);
	CHECK_TEXT(r.err.message, "\"flag\" must be true or false, but is a number");
	CHECK_EQ(bind(&r, MP_STR("{\"flag\":false}"), false), MCPOOL_EINVAL);
	CHECK_TEXT(r.err.message, "\"must\" is missing");
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"a\",\"must\":\"b\"}"), false), MCPOOL_EINVAL);
	CHECK_TEXT(r.err.message, "\"must\" was given before; the last one counts");
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"a\",\"what\":1}"), false), 0);
}

TEST(only_an_object_is_bound)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"[]", "an object is expected, not an array"},
		{"null", "an object is expected, not null"},
		{"\"x\"", "an object is expected, not a string"},
	};
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(bind(&r, mp_str_of(rows[i].text), true), MCPOOL_ETYPE);
		CHECK_TEXT(r.err.message, rows[i].message);
		CHECK_EQ(r.heard.n, 0);
	}
	CHECK_EQ(mp_bind_read(&outer_table, &r.t, MP_NONE, &r.arena, &r.o, NULL, NULL, &r.err),
		 MCPOOL_ETYPE);
	CHECK_TEXT(r.err.message, "an object is expected, not nothing");
}

/* --- aliases and repeated keys ------------------------------------------------------------- */

TEST(an_alias_fills_the_same_field)
{
	static const char *const texts[] = {
		"{\"must\":\"m\",\"name\":\"x\"}",
		"{\"must\":\"m\",\"title\":\"x\"}",
		"{\"must\":\"m\",\"label\":\"x\"}",
		"{\"needed\":\"m\",\"l\\u0061bel\":\"x\"}",
	};
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		CHECK_EQ(bind(&r, mp_str_of(texts[i]), true), 0);
		CHECK_EQ(r.heard.n, 0);
		CHECK_TEXT(r.o.name, "x");
		CHECK_TEXT(r.o.must, "m");
		CHECK_EQ(r.o.present, 1 << 4 | 1 << 13);
		CHECK(mp_bind_is_present(&outer_table, &r.o, "name"));
		CHECK(mp_bind_is_present(&outer_table, &r.o, "label"));
		CHECK(mp_bind_is_present(&outer_table, &r.o, "needed"));
		CHECK(!mp_bind_is_present(&outer_table, &r.o, "flag"));
	}
}

TEST(a_field_given_twice_takes_the_last)
{
	static const struct {
		const char *text, *name, *message;
	} rows[] = {
		{"{\"must\":\"m\",\"name\":\"x\",\"name\":\"y\"}", "y",
		 "\"name\" was given before; the last one counts"},
		{"{\"must\":\"m\",\"name\":\"x\",\"title\":\"y\"}", "y",
		 "\"title\" was given before; the last one counts"},
		{"{\"must\":\"m\",\"label\":\"x\",\"title\":\"y\"}", "y",
		 "\"title\" was given before; the last one counts"},
		{"{\"must\":\"m\",\"label\":\"x\",\"n\\u0061me\":\"y\"}", "y",
		 "\"n\\u0061me\" was given before; the last one counts"},
	};
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(bind(&r, mp_str_of(rows[i].text), true), 0);
		CHECK_EQ(r.heard.n, 1);
		CHECK_EQ(r.heard.v[0].kind, MP_BIND_TWICE);
		CHECK_EQ(r.heard.v[0].at, 5);
		CHECK_TEXT(r.heard.v[0].message, rows[i].message);
		CHECK_TEXT(r.o.name, rows[i].name);
		CHECK_EQ(bind(&r, mp_str_of(rows[i].text), false), MCPOOL_EINVAL);
	}
}

TEST(a_wrong_value_was_given_all_the_same)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	/* Not missing, only wrong: one problem is enough. */
	CHECK_EQ(bind(&r, MP_STR("{\"must\":1}"), true), 0);
	CHECK_EQ(r.heard.n, 1);
	CHECK_EQ(r.heard.v[0].kind, MP_BIND_TYPE);
	CHECK(!mp_bind_is_present(&outer_table, &r.o, "must"));
	CHECK_TEXT(r.o.must, "before");
	/* A good one, then a bad one: the last counts, and it is nothing. */
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"name\":\"x\",\"name\":0}"), true), 0);
	CHECK_EQ(r.heard.n, 2);
	CHECK_TEXT(r.o.name, "before");
	CHECK(!mp_bind_is_present(&outer_table, &r.o, "name"));
}

TEST(an_object_given_twice_is_not_merged)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r,
		      MP_STR("{\"must\":\"m\",\"net\":{\"host\":\"h\",\"port\":1},"
			     "\"net\":{\"port\":2}}"),
		      true),
		 0);
	CHECK_EQ(r.heard.n, 1);
	CHECK_EQ(r.heard.v[0].kind, MP_BIND_TWICE);
	CHECK_EQ(r.o.net.port, 2);
	CHECK_TEXT(r.o.net.host, "before");
	CHECK(!mp_bind_is_present(&inner_table, &r.o.net, "host"));
}

TEST(a_map_takes_the_last_of_a_key)
{
	static const char text[] =
		"{\"must\":\"m\",\"env\":{\"A\":\"1\",\"B\":\"2\",\"\\u0041\":\"3\",\"C\":\"4\"}}";
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, mp_str_of(text), true), 0);
	CHECK_EQ(r.heard.n, 1);
	CHECK_EQ(r.heard.v[0].kind, MP_BIND_TWICE);
	CHECK_TEXT(r.heard.v[0].message, "\"\\u0041\" occurs twice; the last one counts");
	CHECK_STR(mp_value_source(&r.t, r.heard.v[0].at), "\"\\u0041\"");
	CHECK_EQ(r.o.env.n, 3);
	CHECK_TEXT(r.o.env.items[0].key, "A");
	CHECK_TEXT(r.o.env.items[0].value, "3");
	CHECK_TEXT(r.o.env.items[1].key, "B");
	CHECK_TEXT(r.o.env.items[2].value, "4");
	CHECK_EQ(bind(&r, mp_str_of(text), false), MCPOOL_EINVAL);
	CHECK_EQ(r.o.env.n, 1); /* as before */
}

TEST(large_maps_and_lists_are_read)
{
	MP_CLEANUP(reading_done) struct reading r;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	reading_init(&r);
	mp_buf_init(&b, 10000);
	CHECK_EQ(mp_buf_addf(&b, "{\"must\":\"m\",\"env\":{"), 0);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(mp_buf_addf(&b, "%s\"K%d\":\"v%d\"", i ? "," : "", i, i), 0);
	CHECK_EQ(mp_buf_addf(&b, "},\"args\":["), 0);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(mp_buf_addf(&b, "%s\"a%d\"", i ? "," : "", i), 0);
	CHECK_EQ(mp_buf_addf(&b, "]}"), 0);
	CHECK_EQ(bind(&r, mp_buf_get(&b), false), 0);
	CHECK_EQ(r.o.env.n, 100);
	CHECK_EQ(r.o.args.n, 100);
	for (int i = 0; i < 100; i++) {
		char want[8];

		snprintf(want, sizeof(want), "v%d", i);
		CHECK_TEXT(r.o.env.items[i].value, want);
		snprintf(want, sizeof(want), "a%d", i);
		CHECK_TEXT(r.o.args.items[i], want);
	}
}

/* --- objects in objects -------------------------------------------------------------------- */

TEST(an_inner_object_has_its_own_table)
{
	MP_CLEANUP(reading_done) struct reading r;

	reading_init(&r);
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"net\":{\"port\":80}}"), true), 0);
	CHECK_EQ(r.heard.n, 0);
	CHECK_EQ(r.o.net.port, 80);
	CHECK_TEXT(r.o.net.host, "before");
	CHECK_EQ(r.o.net.present, 1);
	CHECK(mp_bind_is_present(&inner_table, &r.o.net, "port"));
	CHECK(!mp_bind_is_present(&inner_table, &r.o.net, "host"));
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"net\":{\"flag\":true}}"), true), 0);
	CHECK_EQ(r.heard.n, 2);
	CHECK_EQ(r.heard.v[0].kind, MP_BIND_UNKNOWN);
	CHECK_EQ(r.heard.v[1].kind, MP_BIND_MISSING);
	CHECK_TEXT(r.heard.v[1].message, "\"port\" is missing");
	CHECK_STR(mp_value_source(&r.t, r.heard.v[1].at), "{\"flag\":true}");
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"net\":{\"port\":65536}}"), false),
		 MCPOOL_EINVAL);
	CHECK_TEXT(r.err.message, "\"port\" must be from 1 to 65535");
	CHECK_EQ(bind(&r, MP_STR("{\"must\":\"m\",\"net\":{}}"), false), MCPOOL_EINVAL);
}

/* --- the other way ------------------------------------------------------------------------- */

static int write_outer(const struct outer *o, struct mp_buf *out)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_bind_write(&outer_table, o, &w);
	return mp_write_finish(&w);
}

TEST(what_is_present_is_written)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"{\"must\":\"m\"}", "{\"must\":\"m\"}"},
		{GOOD,
		 "{\"flag\":false,\"any\":-9223372036854775808,\"small\":10,\"ratio\":0.0025,"
		 "\"name\":\"n\xc3\xa4me\",\"colour\":\"green\",\"args\":[\"-y\",\"\",\"a b\"],"
		 "\"env\":{\"A\":\"1\",\"B\\n\":\"\"},\"net\":{\"port\":65535,\"host\":\"h\"},"
		 "\"raw\":[1,{\"x\":null}],\"must\":\"yes\"}"},
		/* Under its own name, in the order of the table. */
		{"{\"needed\":\"m\",\"color\":\"red\",\"label\":\"x\"}",
		 "{\"name\":\"x\",\"colour\":\"red\",\"must\":\"m\"}"},
		{"{\"must\":\"m\",\"args\":[],\"env\":{},\"net\":{\"port\":1}}",
		 "{\"args\":[],\"env\":{},\"net\":{\"port\":1},\"must\":\"m\"}"},
		{"{\"what\":1,\"must\":\"m\",\"flag\":0}", "{\"must\":\"m\"}"},
	};
	MP_CLEANUP(reading_done) struct reading r;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	reading_init(&r);
	mp_buf_init(&out, 10000);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(bind(&r, mp_str_of(rows[i].text), true), 0);
		CHECK_EQ(write_outer(&r.o, &out), 0);
		CHECK(test_same_text(mp_buf_get(&out), mp_str_of(rows[i].want), "the object",
				     __FILE__, __LINE__));
	}
}

TEST(what_was_written_reads_as_the_same)
{
	MP_CLEANUP(reading_done) struct reading r, again;
	MP_CLEANUP(mp_buf_done) struct mp_buf one, two;

	reading_init(&r);
	reading_init(&again);
	mp_buf_init(&one, 10000);
	mp_buf_init(&two, 10000);
	CHECK_EQ(bind(&r, MP_STR(GOOD), true), 0);
	CHECK_EQ(write_outer(&r.o, &one), 0);
	CHECK_EQ(bind(&again, mp_buf_get(&one), true), 0);
	CHECK_EQ(again.heard.n, 0);
	CHECK(is_good(&again.o));
	CHECK_EQ(again.o.present, r.o.present);
	CHECK_EQ(again.o.net.present, r.o.net.present);
	CHECK_EQ(write_outer(&again.o, &two), 0);
	CHECK(mp_str_eq(mp_buf_get(&one), mp_buf_get(&two)));
}

TEST(an_alias_is_never_written)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct outer o = defaults;

	mp_buf_init(&out, 1000);
	o.present = o.net.present = UINT64_MAX; /* filled by hand, not by reading */
	o.raw = MP_STR("null");
	CHECK_EQ(write_outer(&o, &out), 0);
	CHECK_STR(mp_buf_get(&out),
		  "{\"flag\":true,\"any\":-7,\"small\":7,\"ratio\":0.75,\"name\":\"before\","
		  "\"colour\":\"blue\",\"args\":[\"before\"],\"env\":{\"before\":\"before\"},"
		  "\"net\":{\"port\":77,\"host\":\"before\"},\"raw\":null,\"must\":\"before\"}");
}

TEST(nothing_present_is_an_empty_object)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 100);
	CHECK_EQ(write_outer(&defaults, &out), 0);
	CHECK_STR(mp_buf_get(&out), "{}");
}

TEST(a_ceiling_stops_the_writing)
{
	MP_CLEANUP(reading_done) struct reading r;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	reading_init(&r);
	mp_buf_init(&out, 40);
	CHECK_EQ(bind(&r, MP_STR(GOOD), true), 0);
	CHECK_EQ(write_outer(&r.o, &out), MCPOOL_ELIMIT);
}

TEST(an_arena_may_be_too_small)
{
	static const char *const members[] = {
		"\"name\":\"0123456789012345678901234567890123456789\"",
		"\"name\":\"\\n123456789012345678901234567890123456789\"",
		"\"args\":[\"0123456789\",\"0123456789\",\"0123456789\"]",
		"\"env\":{\"0123456789\":\"0123456789\",\"a\":\"b\",\"c\":\"d\"}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(members); i++) {
		MP_CLEANUP(reading_done) struct reading r;
		char text[128];

		reading_init(&r);
		r.arena.ceiling = 32;
		snprintf(text, sizeof(text), "{\"must\":\"m\",%s}", members[i]);
		CHECK_EQ(bind(&r, mp_str_of(text), true), MCPOOL_ELIMIT);
		CHECK_EQ(r.err.code, MCPOOL_ELIMIT);
		CHECK_EQ(r.heard.n, 0);
	}
}

/* --- broken promises ----------------------------------------------------------------------- */

static void ask_for_an_unknown_key(void)
{
	(void)mp_bind_is_present(&outer_table, &defaults, "nane");
}

static void read_with_too_many_rows(void)
{
	static struct mp_bind_field fields[65];
	struct mp_bind_table table = {fields, 65, 0};
	struct reading r;

	for (size_t i = 0; i < 65; i++)
		fields[i].key = "k";
	reading_init(&r);
	if (mp_tape_parse(&r.t, MP_STR("{}"), NULL) == 0 &&
	    mp_bind_read(&table, &r.t, MP_ROOT, &r.arena, &r.o, NULL, NULL, NULL) == 0)
		return;
}

TEST(a_bad_table_is_a_broken_promise)
{
	CHECK(test_stops(ask_for_an_unknown_key));
	CHECK(test_stops(read_with_too_many_rows));
}

TEST(raw_values_outlive_their_text)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	char text[] = "{\"must\":\"\",\"raw\":[1,2]}";
	struct outer o = {.must = ""};

	mp_arena_init(&arena, 10000);
	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_parse(&t, mp_str_of(text), NULL), 0);
	CHECK_EQ(mp_bind_read(&outer_table, &t, MP_ROOT, &arena, &o, NULL, NULL, NULL), 0);
	memset(text, '?', sizeof(text) - 1);
	CHECK_STR(o.raw, "[1,2]");
	CHECK(mp_bind_is_present(&outer_table, &o, "raw"));
	mp_bind_set_present(&outer_table, &o, "raw", false);
	CHECK(!mp_bind_is_present(&outer_table, &o, "raw"));
	mp_bind_set_present(&outer_table, &o, "raw", true);
	CHECK(mp_bind_is_present(&outer_table, &o, "raw"));
}

/* A number below 0 and an empty text are null, where the row says so; and the other way round. */
TEST(null_means_unknown)
{
	struct nullable {
		const char *text;
		int64_t number;
		uint64_t present;
	} o = {.text = "", .number = -1, .present = 3};
	static const struct mp_bind_field rows[] = {
		MP_BIND(struct nullable, TEXT, "text", text, .null = true),
		MP_BIND(struct nullable, I64, "number", number, .null = true),
	};
	static const struct mp_bind_table table = {rows, 2, offsetof(struct nullable, present)};
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_arena_init(&arena, 10000);
	mp_tape_init(&t, 0);
	mp_buf_init(&text, 1000);
	mp_write_init(&w, &text, NULL);
	mp_bind_write(&table, &o, &w);
	CHECK_EQ(mp_write_finish(&w), 0);
	CHECK_STR(mp_buf_get(&text), "{\"text\":null,\"number\":null}");
	o = (struct nullable){.text = "x", .number = 5};
	CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&text), NULL), 0);
	CHECK_EQ(mp_bind_read(&table, &t, MP_ROOT, &arena, &o, NULL, NULL, NULL), 0);
	CHECK_TEXT(o.text, "");
	CHECK_EQ(o.number, -1);
	CHECK_EQ(o.present, 3);
	mp_buf_clear(&text);
	o = (struct nullable){.text = "x", .number = 0, .present = 3};
	mp_write_init(&w, &text, NULL);
	mp_bind_write(&table, &o, &w);
	CHECK_EQ(mp_write_finish(&w), 0);
	CHECK_STR(mp_buf_get(&text), "{\"text\":\"x\",\"number\":0}");
}
