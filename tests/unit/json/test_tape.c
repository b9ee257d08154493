/*
 * test_tape.c - the parser: what is JSON, what stands on the tape, limits, faults and their places,
 * and that a document in pieces reads as it does whole.
 */
#include "test.h"
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/tape.h"

/* gcc takes no (void) for MP_MUST; these calls never return anyway. */
static void ignore(int result)
{
	(void)result;
}

static void free_bytes(char **bytes)
{
	free(*bytes);
}

/* A block of exactly these bytes, so that ASan sees what is read behind them. */
static char *exact_copy(struct mp_str s)
{
	char *copy = malloc(s.len ? s.len : 1);

	if (copy && s.len)
		memcpy(copy, s.p, s.len);
	return copy;
}

static bool same_tapes(const struct mp_tape *a, const struct mp_tape *b)
{
	return a->fault == b->fault && a->fault_at == b->fault_at && a->n == b->n &&
	       (a->fault || a->loose == b->loose) &&
	       (a->n == 0 || memcmp(a->nodes, b->nodes, a->n * sizeof(*a->nodes)) == 0);
}

/* --- the table of cases -------------------------------------------------------------------- */

struct test_case {
	bool jsonc;
	bool accept;
	char name[128];
	struct mp_buf text;
};

enum { MAX_CASE = 4 << 20, MOVED_BELOW = 2000 };

static void case_done(struct test_case *c)
{
	mp_buf_done(&c->text);
}

static bool read_case(struct mp_str line, struct test_case *c)
{
	struct mp_str mode = cases_field(&line);
	struct mp_str verdict = cases_field(&line);
	struct mp_str name = cases_field(&line);

	c->jsonc = mp_str_eq(mode, MP_STR("jsonc"));
	c->accept = mp_str_eq(verdict, MP_STR("accept"));
	snprintf(c->name, sizeof(c->name), "%.*s", MP_STR_ARGS(name));
	mp_buf_clear(&c->text);
	return (c->jsonc || mp_str_eq(mode, MP_STR("strict"))) &&
	       (c->accept || mp_str_eq(verdict, MP_STR("refuse"))) && cases_expand(line, &c->text);
}

/* Feed in pieces of this many bytes; move: each time from another block. */
static int feed_in_pieces(struct mp_tape *t, struct mp_str s, size_t piece, bool move)
{
	size_t len = 0;
	int r = 0;

	mp_tape_begin(t);
	do {
		MP_CLEANUP(free_bytes) char *moved = NULL;

		len = s.len - len < piece ? s.len : len + piece;
		if (move)
			moved = exact_copy((struct mp_str){s.p, len});
		r = mp_tape_feed(t, moved ? moved : s.p, len, len == s.len);
	} while (r == 0 && len < s.len);
	return r;
}

static bool pieces_agree(const struct mp_tape *whole, struct mp_str s, size_t piece, bool move)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_tape_init(&t, whole->accept);
	r = feed_in_pieces(&t, s, piece, move);
	return (r == 1) == (whole->fault == MP_TAPE_FAULT_NONE) && same_tapes(&t, whole);
}

static bool case_holds(const struct test_case *c)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape whole;
	MP_CLEANUP(free_bytes) char *exact = exact_copy(mp_buf_get(&c->text));
	struct mp_str s = {exact, c->text.len};
	int r;

	mp_tape_init(&whole, c->jsonc ? MP_TAPE_JSONC : 0);
	r = mp_tape_parse(&whole, s, NULL);
	REQUIRE(r == 0 || r == MCPOOL_EPARSE || r == MCPOOL_ELIMIT);
	REQUIRE((r == 0) == c->accept);
	REQUIRE((r == 0) == (whole.fault == MP_TAPE_FAULT_NONE));
	REQUIRE(pieces_agree(&whole, s, 1, false));
	REQUIRE(pieces_agree(&whole, s, 7, false));
	if (s.len >= MOVED_BELOW)
		return true;
	REQUIRE(pieces_agree(&whole, s, 1, true));
	REQUIRE(pieces_agree(&whole, s, 7, true));
	return true;
}

struct counts {
	size_t y, n, i, c, jsonc, accepted, all;
};

static void count(struct counts *sum, const struct test_case *c)
{
	sum->all++;
	sum->y += c->name[0] == 'y';
	sum->n += c->name[0] == 'n';
	sum->i += c->name[0] == 'i';
	sum->c += c->name[0] == 'c';
	sum->jsonc += c->jsonc;
	sum->accepted += c->accept;
}

static bool try_cases(struct mp_str all, struct counts *sum)
{
	MP_CLEANUP(case_done) struct test_case c = {0};
	struct mp_str line;
	bool ok = true;

	mp_buf_init(&c.text, MAX_CASE);
	while (cases_next_line(&all, &line)) {
		REQUIRE(read_case(line, &c));
		count(sum, &c);
		ok &= test_true(case_holds(&c), c.name, __FILE__, __LINE__);
		REQUIRE(!(c.name[0] == 'y' && !c.accept) && !(c.name[0] == 'n' && c.accept));
	}
	return ok;
}

HEAVY_TEST(every_case_of_the_table_has_its_verdict)
{
	size_t len = 0;
	MP_CLEANUP(free_bytes) char *bytes = test_read_file("json/cases.txt", &len);
	struct counts sum = {0};

	CHECK(bytes);
	CHECK(try_cases((struct mp_str){bytes, len}, &sum));
	CHECK(sum.y >= 630);
	CHECK(sum.n >= 1130);
	CHECK(sum.i >= 470);
	CHECK(sum.c >= 600);
	CHECK(sum.jsonc >= 600);
	CHECK(sum.accepted >= 1000 && sum.all - sum.accepted >= 1800);
}

/* --- what stands on the tape --------------------------------------------------------------- */

struct want_node {
	uint32_t start, end, next;
	uint8_t type, flags;
	uint16_t depth;
};

static bool has_nodes(const struct mp_tape *t, const struct want_node *want, size_t n)
{
	char words[128];

	REQUIRE(t->n == n);
	for (size_t i = 0; i < n; i++) {
		const struct mp_tape_node *node = &t->nodes[i];
		bool same = node->start == want[i].start && node->end == want[i].end &&
			    node->next == want[i].next && node->type == want[i].type &&
			    node->flags == want[i].flags && node->depth == want[i].depth;

		snprintf(words, sizeof(words),
			 "node %zu is %u..%u next %u type %u flags %u depth %u", i, node->start,
			 node->end, node->next, node->type, node->flags, node->depth);
		if (!test_true(same, words, __FILE__, __LINE__))
			return false;
	}
	return true;
}

enum {
	NUL = MP_TAPE_NULL,
	FAL = MP_TAPE_FALSE,
	TRU = MP_TAPE_TRUE,
	NUM = MP_TAPE_NUMBER,
	STR = MP_TAPE_STRING,
	ARR = MP_TAPE_ARRAY,
	OBJ = MP_TAPE_OBJECT,
	ESC = MP_TAPE_ESCAPED,
	WHO = MP_TAPE_WHOLE,
	FOL = MP_TAPE_FOLDED,
};

#define HAND_WRITTEN \
	"{\"a\":[1,-2.5,\"x\\n\"],\"b\\u0041\":{\"c\":null},\"\":[],\"t\":true,\"f\":false} "

TEST(a_document_lies_on_the_tape)
{
	/* clang-format off */
	static const struct want_node want[] = {
		{0, 66, 16, OBJ, 0, 0},
		{1, 4, 2, STR, 0, 1},    {5, 19, 6, ARR, 0, 1},
		{6, 7, 4, NUM, WHO, 2},  {8, 12, 5, NUM, 0, 2}, {13, 18, 6, STR, ESC, 2},
		{20, 29, 7, STR, ESC, 1}, {30, 40, 10, OBJ, 0, 1},
		{31, 34, 9, STR, 0, 2},  {35, 39, 10, NUL, 0, 2},
		{41, 43, 11, STR, 0, 1}, {44, 46, 12, ARR, 0, 1},
		{47, 50, 13, STR, 0, 1}, {51, 55, 14, TRU, 0, 1},
		{56, 59, 15, STR, 0, 1}, {60, 65, 16, FAL, 0, 1},
	};
	/* clang-format on */
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_parse(&t, MP_STR(HAND_WRITTEN), NULL), 0);
	CHECK(has_nodes(&t, want, MP_ARRAY_LEN(want)));
}

TEST(a_scalar_is_a_document)
{
	static const struct {
		const char *text;
		struct want_node node;
	} rows[] = {
		{"null", {0, 4, 1, NUL, 0, 0}},
		{" true ", {1, 5, 1, TRU, 0, 0}},
		{"\tfalse", {1, 6, 1, FAL, 0, 0}},
		{"0", {0, 1, 1, NUM, WHO, 0}},
		{"-0", {0, 2, 1, NUM, WHO, 0}},
		{"-12345678901234567890123", {0, 24, 1, NUM, WHO, 0}},
		{"1.0", {0, 3, 1, NUM, 0, 0}},
		{"1e2", {0, 3, 1, NUM, 0, 0}},
		{"1E+2\r\n", {0, 4, 1, NUM, 0, 0}},
		{"-0.5e-7", {0, 7, 1, NUM, 0, 0}},
		{"\"\"", {0, 2, 1, STR, 0, 0}},
		{"\"\\\\\"", {0, 4, 1, STR, ESC, 0}},
		{"\"\xc3\xa9\"", {0, 4, 1, STR, 0, 0}},
		{"[]", {0, 2, 1, ARR, 0, 0}},
		{"[ ]", {0, 3, 1, ARR, 0, 0}},
		{"\n{\n}\n", {1, 4, 1, OBJ, 0, 0}},
	};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(rows[i].text), NULL), 0);
		CHECK(has_nodes(&t, &rows[i].node, 1));
	}
}

TEST(a_comment_or_bom_shifts_what_follows)
{
	static const struct want_node want[] = {
		{8, 29, 3, ARR, 0, 0}, {9, 10, 2, NUM, WHO, 1}, {21, 22, 3, NUM, WHO, 1}};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, MP_TAPE_JSONC);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("\xef\xbb\xbf//x\r\n[1/*,*/ , //\n2,\n/**/]"), NULL), 0);
	CHECK(has_nodes(&t, want, MP_ARRAY_LEN(want)));
}

/* --- limits -------------------------------------------------------------------------------- */

/* n levels, arrays and objects in turn from the given one, around a number. */
static int nest(struct mp_buf *out, unsigned n, bool objects, bool arrays)
{
	int r = 0;

	mp_buf_clear(out);
	for (unsigned i = 0; i < n && r == 0; i++)
		r = mp_buf_add_str(out,
				   objects && (!arrays || i % 2) ? MP_STR("{\"k\":") : MP_STR("["));
	if (r == 0)
		r = mp_buf_add_char(out, '7');
	for (unsigned i = n; i-- > 0 && r == 0;)
		r = mp_buf_add_char(out, objects && (!arrays || i % 2) ? '}' : ']');
	return r;
}

static bool parses_as(struct mp_tape *t, struct mp_str text, int code, enum mp_tape_fault fault)
{
	struct mcpool_error err = {0};
	int r = mp_tape_parse(t, text, &err);

	REQUIRE(r == code);
	REQUIRE(t->fault == fault);
	REQUIRE(err.code == code);
	REQUIRE(r == 0 || t->n == 0); /* a failed tape is empty */
	return true;
}

TEST(nesting_stops_at_128)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_tape_init(&t, 0);
	mp_buf_init(&b, 10000);
	for (int kind = 0; kind < 3; kind++) {
		bool objects = kind > 0, arrays = kind < 2;

		CHECK_EQ(nest(&b, 127, objects, arrays), 0);
		CHECK(parses_as(&t, mp_buf_get(&b), 0, MP_TAPE_FAULT_NONE));
		CHECK_EQ(nest(&b, 128, objects, arrays), 0);
		CHECK(parses_as(&t, mp_buf_get(&b), 0, MP_TAPE_FAULT_NONE));
		CHECK_EQ(t.nodes[t.n - 1].depth, 128);
		for (uint32_t i = 0; i < t.n; i++)
			CHECK_EQ(t.nodes[i].next, t.nodes[i].type == STR ? i + 1 : t.n);
		CHECK_EQ(nest(&b, 129, objects, arrays), 0);
		CHECK(parses_as(&t, mp_buf_get(&b), MCPOOL_ELIMIT, MP_TAPE_FAULT_DEPTH));
		/* The fault is the bracket that is one too many. */
		CHECK_EQ(b.data[t.fault_at], objects && !arrays ? '{' : '[');
		CHECK_EQ(t.fault_at, kind == 0 ? 128 : kind == 1 ? 64 + 64 * 5 : 128 * 5);
	}
}

TEST(a_lower_depth_can_be_asked_for)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.max_depth = 2;
	CHECK(parses_as(&t, MP_STR("[[1],{}]"), 0, MP_TAPE_FAULT_NONE));
	CHECK(parses_as(&t, MP_STR("[[1],{\"a\":[]}]"), MCPOOL_ELIMIT, MP_TAPE_FAULT_DEPTH));
	CHECK_EQ(t.fault_at, 10);
	t.max_depth = 0;
	CHECK(parses_as(&t, MP_STR("1"), 0, MP_TAPE_FAULT_NONE));
	CHECK(parses_as(&t, MP_STR("[]"), MCPOOL_ELIMIT, MP_TAPE_FAULT_DEPTH));
}

TEST(nodes_are_counted)
{
	static const struct {
		const char *text;
		uint32_t nodes;
		size_t fault_at; /* with one node less */
	} rows[] = {
		{"1", 1, 0},
		{"[]", 1, 0},
		{"[1,2,3]", 4, 5},
		{"{\"a\":1}", 3, 5},
		{"[{\"a\":[true,\"x\"]},null]", 7, 18},
		{"[1,{}]", 3, 3},
		{"[{\"a\":1,\"b\"  :\"last\"}]", 6, 14},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, 0);
		t.max_nodes = rows[i].nodes;
		CHECK(parses_as(&t, mp_str_of(rows[i].text), 0, MP_TAPE_FAULT_NONE));
		CHECK_EQ(t.n, rows[i].nodes);
		/* The tape has room now, which must not lift the limit. */
		t.max_nodes = rows[i].nodes - 1;
		CHECK(parses_as(&t, mp_str_of(rows[i].text), MCPOOL_ELIMIT, MP_TAPE_FAULT_NODES));
		CHECK_EQ(t.fault_at, rows[i].fault_at);
		t.max_nodes = rows[i].nodes + 1;
		CHECK(parses_as(&t, mp_str_of(rows[i].text), 0, MP_TAPE_FAULT_NONE));
	}
}

TEST(a_key_can_be_one_node_too_many)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.max_nodes = 1;
	CHECK(parses_as(&t, MP_STR("{ \"key\":1}"), MCPOOL_ELIMIT, MP_TAPE_FAULT_NODES));
	CHECK_EQ(t.fault_at, 2);
}

TEST(bytes_are_counted)
{
	static const char text[] = "[1, \"two\", {\"three\": 3}]";
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mcpool_error err;

	mp_tape_init(&t, 0);
	t.max_bytes = sizeof(text) - 1;
	CHECK(parses_as(&t, (struct mp_str){text, sizeof(text) - 1}, 0, MP_TAPE_FAULT_NONE));
	t.max_bytes--;
	CHECK(parses_as(&t, (struct mp_str){text, sizeof(text) - 1}, MCPOOL_ELIMIT,
			MP_TAPE_FAULT_BYTES));
	CHECK_EQ(t.fault_at, sizeof(text) - 2);
	mp_tape_begin(&t);
	CHECK_EQ(mp_tape_feed(&t, text, sizeof(text) - 2, false), 0);
	CHECK_EQ(mp_tape_feed(&t, text, sizeof(text) - 1, false), MCPOOL_ELIMIT);
	CHECK_EQ(mp_tape_explain(&t, &err), MCPOOL_ELIMIT);
	CHECK_TEXT(err.message, "line 1, column 24: the text is too long");
}

/* An array of n ones. */
static int write_ones(struct mp_buf *b, size_t n)
{
	int r = mp_buf_add_char(b, '[');

	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_buf_add(b, "1,", i + 1 < n ? 2 : 1);
	return r < 0 ? r : mp_buf_add_char(b, ']');
}

TEST(a_tape_grows_as_far_as_its_limit)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_tape_init(&t, 0);
	mp_buf_init(&b, 100000);
	CHECK_EQ(write_ones(&b, 5000), 0);
	t.max_nodes = 5001;
	CHECK(parses_as(&t, mp_buf_get(&b), 0, MP_TAPE_FAULT_NONE));
	CHECK_EQ(t.n, 5001);
	CHECK_EQ(t.room, 5001);
	for (uint32_t i = 1; i < t.n; i++)
		CHECK_EQ(t.nodes[i].start, 2 * i - 1);
	t.max_nodes = 5000;
	CHECK(parses_as(&t, mp_buf_get(&b), MCPOOL_ELIMIT, MP_TAPE_FAULT_NODES));
	CHECK_EQ(t.fault_at, 2 * 5000 - 1);
}

static void too_deep_a_limit(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	t.max_depth = MP_LIMIT_JSON_DEPTH + 1;
	ignore(mp_tape_parse(&t, MP_STR("1"), NULL));
}

static void too_large_a_limit(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	t.max_bytes = UINT32_MAX;
	ignore(mp_tape_parse(&t, MP_STR("1"), NULL));
}

static void too_deep_to_keep(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	t.keep_depth = UINT32_MAX;
	ignore(mp_tape_parse(&t, MP_STR("1"), NULL));
}

TEST(limits_beyond_the_tape_are_a_broken_promise)
{
	CHECK(test_stops(too_deep_a_limit));
	CHECK(test_stops(too_large_a_limit));
	CHECK(test_stops(too_deep_to_keep));
}

/* --- keep_depth ---------------------------------------------------------------------------- */

#define DEEP "{\"a\":[1,[2,{\"b\":3}],[]],\"c\":{},\"d\":{\"e\":{}},\"f\":4}"

TEST(what_is_deep_can_be_left_off)
{
	/* clang-format off */
	static const struct want_node none[] = {{0, 50, 1, OBJ, FOL, 0}};
	static const struct want_node one[] = {
		{0, 50, 9, OBJ, 0, 0},
		{1, 4, 2, STR, 0, 1},   {5, 23, 3, ARR, FOL, 1},
		{24, 27, 4, STR, 0, 1}, {28, 30, 5, OBJ, 0, 1},
		{31, 34, 6, STR, 0, 1}, {35, 43, 7, OBJ, FOL, 1},
		{44, 47, 8, STR, 0, 1}, {48, 49, 9, NUM, WHO, 1},
	};
	static const struct want_node two[] = {
		{0, 50, 14, OBJ, 0, 0},
		{1, 4, 2, STR, 0, 1},   {5, 23, 6, ARR, 0, 1},
		{6, 7, 4, NUM, WHO, 2}, {8, 19, 5, ARR, FOL, 2}, {20, 22, 6, ARR, 0, 2},
		{24, 27, 7, STR, 0, 1}, {28, 30, 8, OBJ, 0, 1},
		{31, 34, 9, STR, 0, 1}, {35, 43, 12, OBJ, 0, 1},
		{36, 39, 11, STR, 0, 2}, {40, 42, 12, OBJ, 0, 2},
		{44, 47, 13, STR, 0, 1}, {48, 49, 14, NUM, WHO, 1},
	};
	/* clang-format on */
	static const struct {
		const struct want_node *nodes;
		size_t n;
	} rows[] = {{none, MP_ARRAY_LEN(none)}, {one, MP_ARRAY_LEN(one)}, {two, MP_ARRAY_LEN(two)}};

	for (unsigned keep = 0; keep < 3; keep++) {
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, 0);
		t.keep_depth = keep;
		CHECK_EQ(mp_tape_parse(&t, MP_STR(DEEP), NULL), 0);
		CHECK(has_nodes(&t, rows[keep].nodes, rows[keep].n));
		mp_tape_begin(&t);
		CHECK_EQ(feed_in_pieces(&t, MP_STR(DEEP), 1, false), 1);
		CHECK(has_nodes(&t, rows[keep].nodes, rows[keep].n));
	}
}

TEST(empty_brackets_are_not_folded)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, MP_TAPE_JSONC);
	t.keep_depth = 0;
	CHECK_EQ(mp_tape_parse(&t, MP_STR("[ ]"), NULL), 0);
	CHECK_EQ(t.nodes[0].flags, 0);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("{ /* no */ }"), NULL), 0);
	CHECK_EQ(t.nodes[0].flags, 0);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("[[]]"), NULL), 0);
	CHECK_EQ(t.nodes[0].flags, FOL);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("[\"a\"]"), NULL), 0);
	CHECK_EQ(t.nodes[0].flags, FOL);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("7"), NULL), 0);
	CHECK_EQ(t.nodes[0].flags, WHO);
}

TEST(what_is_left_off_is_still_checked)
{
	static const struct {
		const char *text;
		enum mp_tape_fault fault;
		size_t at;
	} rows[] = {
		{"[[[1,]]]", MP_TAPE_FAULT_TRAILING_COMMA, 5},
		{"[[[{\"a\" 1}]]]", MP_TAPE_FAULT_COLON, 8},
		{"[[[\"\x01\"]]]", MP_TAPE_FAULT_CONTROL, 4},
		{"[[[{\"\\x\":1}]]]", MP_TAPE_FAULT_ESCAPE, 5},
		{"[[[1]}]", MP_TAPE_FAULT_COMMA_OR_BRACKET, 5},
		{"[[[1]]", MP_TAPE_FAULT_CUT, 6},
		{"[[[01]]]", MP_TAPE_FAULT_NUMBER, 3},
		{"[[{\"a\":{\"b\":[}]]", MP_TAPE_FAULT_VALUE, 13},
	};

	for (unsigned keep = 0; keep < 3; keep++) {
		for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
			MP_CLEANUP(mp_tape_done) struct mp_tape t;

			mp_tape_init(&t, 0);
			t.keep_depth = keep;
			CHECK(parses_as(&t, mp_str_of(rows[i].text), MCPOOL_EPARSE, rows[i].fault));
			CHECK_EQ(t.fault_at, rows[i].at);
		}
	}
}

TEST(what_is_left_off_needs_no_nodes_but_has_depth)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_tape_init(&t, 0);
	mp_buf_init(&b, 10000);
	t.keep_depth = 0;
	t.max_nodes = 1;
	CHECK(parses_as(&t, MP_STR(DEEP), 0, MP_TAPE_FAULT_NONE));
	CHECK_EQ(nest(&b, 128, true, true), 0);
	CHECK(parses_as(&t, mp_buf_get(&b), 0, MP_TAPE_FAULT_NONE));
	CHECK_EQ(nest(&b, 129, true, true), 0);
	CHECK(parses_as(&t, mp_buf_get(&b), MCPOOL_ELIMIT, MP_TAPE_FAULT_DEPTH));
}

/* --- faults and their places --------------------------------------------------------------- */

struct fault_row {
	struct mp_str text;
	unsigned accept;
	enum mp_tape_fault fault;
	size_t at;
};

#define FAULT(text, accept, fault, at)                                         \
	{                                                                      \
		{"" text, sizeof(text) - 1}, accept, MP_TAPE_FAULT_##fault, at \
	}
#define C MP_TAPE_COMMENTS
#define J MP_TAPE_JSONC

static const struct fault_row fault_rows[] = {
	FAULT("", 0, EMPTY, 0),
	FAULT("  \n", 0, EMPTY, 3),
	FAULT("// only this", J, EMPTY, 12),
	FAULT("\xef\xbb\xbf", J, EMPTY, 3),
	FAULT("[", 0, CUT, 1),
	FAULT("[1", 0, CUT, 2),
	FAULT("[1,", 0, CUT, 3),
	FAULT("{\"a", 0, CUT, 3),
	FAULT("{\"a\"", 0, CUT, 4),
	FAULT("{\"a\": ", 0, CUT, 6),
	FAULT("tru", 0, CUT, 3),
	FAULT("-", 0, CUT, 1),
	FAULT("1.", 0, CUT, 2),
	FAULT("1e+", 0, CUT, 3),
	FAULT("\"\\", 0, CUT, 2),
	FAULT("\"\\u00", 0, CUT, 5),
	FAULT("]", 0, VALUE, 0),
	FAULT("[1,,2]", 0, VALUE, 3),
	FAULT("[,1]", 0, VALUE, 1),
	FAULT("{\"a\":}", 0, VALUE, 5),
	FAULT("{\"a\":,}", 0, VALUE, 5),
	FAULT("nul!", 0, VALUE, 0),
	FAULT("[True]", 0, VALUE, 1),
	FAULT("'a'", 0, VALUE, 0),
	FAULT("+1", 0, VALUE, 0),
	FAULT(".5", 0, VALUE, 0),
	FAULT("\x01", 0, VALUE, 0),
	FAULT("[1]\0", 0, EXTRA, 3),
	FAULT("[/]", J, VALUE, 1),
	FAULT("{a:1}", 0, KEY, 1),
	FAULT("{1:1}", 0, KEY, 1),
	FAULT("{,}", 0, KEY, 1),
	FAULT("{\"a\":1,b}", 0, KEY, 7),
	FAULT("{\"a\":1,,}", J, KEY, 7),
	FAULT("{]", 0, KEY, 1),
	FAULT("{\"a\" 1}", 0, COLON, 5),
	FAULT("{\"a\"}", 0, COLON, 4),
	FAULT("{\"a\",1}", 0, COLON, 4),
	FAULT("[1 2]", 0, COMMA_OR_BRACKET, 3),
	FAULT("[1}", 0, COMMA_OR_BRACKET, 2),
	FAULT("[\"a\":1]", 0, COMMA_OR_BRACKET, 4),
	FAULT("[1 /x]", J, COMMA_OR_BRACKET, 3),
	FAULT("[nulll]", 0, COMMA_OR_BRACKET, 5),
	FAULT("{\"a\":1]", 0, COMMA_OR_BRACE, 6),
	FAULT("{\"a\":1 \"b\":2}", 0, COMMA_OR_BRACE, 7),
	FAULT("{\"a\":[1]:", 0, COMMA_OR_BRACE, 8),
	FAULT("[1,]", 0, TRAILING_COMMA, 3),
	FAULT("[1, \n]", C, TRAILING_COMMA, 5),
	FAULT("{\"a\":1,}", 0, TRAILING_COMMA, 7),
	FAULT("[1,,]", J, VALUE, 3),
	FAULT("[,]", J, VALUE, 1),
	FAULT("{,}", J, KEY, 1),
	FAULT("1 2", 0, EXTRA, 2),
	FAULT("{}}", 0, EXTRA, 2),
	FAULT("[],", J, EXTRA, 2),
	FAULT("{} /x", J, EXTRA, 3),
	FAULT("null\xef\xbb\xbf", J, EXTRA, 4),
	FAULT("01", 0, NUMBER, 0),
	FAULT("-01", 0, NUMBER, 1),
	FAULT("[-x]", 0, NUMBER, 2),
	FAULT("[1.]", 0, NUMBER, 3),
	FAULT("[1.e3]", 0, NUMBER, 3),
	FAULT("[1e]", 0, NUMBER, 3),
	FAULT("[1e-]", 0, NUMBER, 4),
	FAULT("\"a\tb\"", 0, CONTROL, 2),
	FAULT("\"\n\"", 0, CONTROL, 1),
	FAULT("\"\0\"", 0, CONTROL, 1),
	FAULT("{\"\x1f\":1}", 0, CONTROL, 2),
	FAULT("// a\0", J, CONTROL, 4),
	FAULT("/* \x1b */1", J, CONTROL, 3),
	FAULT("\"\\a\"", 0, ESCAPE, 1),
	FAULT("\"ab\\'\"", 0, ESCAPE, 3),
	FAULT("\"\\u12g4\"", 0, ESCAPE, 1),
	FAULT("\"\\U0041\"", 0, ESCAPE, 1),
	FAULT("{\"\\x41\":1}", 0, ESCAPE, 2),
	FAULT("\"\xff\"", 0, UTF8, 1),
	FAULT("\"a\xc3\"", 0, UTF8, 2),
	FAULT("\"\xed\xa0\x80\"", 0, UTF8, 1),
	FAULT("\"\xc0\xaf\"", 0, UTF8, 1),
	FAULT("\"\xf4\x90\x80\x80\"", 0, UTF8, 1),
	FAULT("\"\xe2\x82\xac\x80\"", 0, UTF8, 4),
	FAULT("// \xff\n1", J, UTF8, 3),
	FAULT("/*\xe2\x82*/1", J, UTF8, 2),
	FAULT("1 // \xc3", J, UTF8, 5),
	FAULT("// no\n1", 0, COMMENT, 0),
	FAULT("[1/**/]", MP_TAPE_TRAILING_COMMA, COMMENT, 2),
	FAULT("{} /", 0, COMMENT, 3),
	FAULT("/* 1", J, OPEN_COMMENT, 0),
	FAULT("[1, /* *", J, OPEN_COMMENT, 4),
	FAULT("{} /", J, OPEN_COMMENT, 3),
	FAULT("/*/", J, OPEN_COMMENT, 0),
	FAULT("\xef\xbb\xbf[]", 0, BOM, 0),
	FAULT("\xef\xbb\xbf[]", C | MP_TAPE_TRAILING_COMMA, BOM, 0),
	FAULT("\xef\xbb[]", 0, VALUE, 0),
	FAULT("\xef\xbb\xbf\xef\xbb\xbf[]", J, BOM, 3),
	FAULT(" \xef\xbb\xbf[]", J, BOM, 1),
};
#undef C
#undef J

static bool fault_is(const struct fault_row *row)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(free_bytes) char *exact = exact_copy(row->text);
	struct mp_str s = {exact, row->text.len};

	mp_tape_init(&t, row->accept);
	REQUIRE(exact);
	REQUIRE(parses_as(&t, s, MCPOOL_EPARSE, row->fault));
	REQUIRE(t.fault_at == row->at);
	REQUIRE(pieces_agree(&t, s, 1, true));
	REQUIRE(pieces_agree(&t, s, 2, true));
	REQUIRE(pieces_agree(&t, s, 3, true));
	return true;
}

TEST(faults_are_named_and_placed)
{
	bool seen[MP_TAPE_FAULT_MEMORY + 1] = {false};

	for (size_t i = 0; i < MP_ARRAY_LEN(fault_rows); i++) {
		CHECK(test_true(fault_is(&fault_rows[i]), fault_rows[i].text.p, __FILE__,
				__LINE__));
		seen[fault_rows[i].fault] = true;
	}
	/* What a text alone cannot cause is tested with the limits and below. */
	seen[MP_TAPE_FAULT_NONE] = seen[MP_TAPE_FAULT_DEPTH] = true;
	seen[MP_TAPE_FAULT_BYTES] = seen[MP_TAPE_FAULT_NODES] = seen[MP_TAPE_FAULT_MEMORY] = true;
	for (size_t i = 0; i < MP_ARRAY_LEN(seen); i++)
		CHECK(seen[i]);
}

TEST(refused_memory_is_a_fault_of_its_own)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mcpool_error err = {0};
	int r;

	if (!mp_fault_is_built_in())
		return;
	mp_tape_init(&t, 0);
	mp_fault_arm(MP_FAULT_TRY, 1);
	r = mp_tape_parse(&t, MP_STR("\n [1]"), &err);
	mp_fault_arm(MP_FAULT_TRY, 0);
	CHECK_EQ(r, MCPOOL_ENOMEM);
	CHECK_EQ(t.fault, MP_TAPE_FAULT_MEMORY);
	CHECK_TEXT(err.message, "line 2, column 2: the system refused memory");
	CHECK_EQ(mp_tape_parse(&t, MP_STR("[1]"), NULL), 0);
	CHECK_EQ(t.n, 2);
}

TEST(a_place_is_a_line_and_a_column)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"x", "line 1, column 1: a value is expected here"},
		{"[1,\n2,\n  x]", "line 3, column 3: a value is expected here"},
		{"[1,\r\n2,\r\n  x]", "line 3, column 3: a value is expected here"},
		{"[1,\r2,\r  x]", "line 3, column 3: a value is expected here"},
		{"[1,\n\r\n\r2 x]", "line 4, column 3: a ',' or ']' is expected here"},
		{"\n\n\n\n]", "line 5, column 1: a value is expected here"},
		{"\t\t]", "line 1, column 3: a value is expected here"},
		{"{\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\":x}",
		 "line 1, column 8: a value is expected here"},
		{"{\"\xc3\xa9\":\n\"\xc3\xa9\" \xc3\xa9}",
		 "line 2, column 5: a ',' or '}' is expected here"},
		{"[\"a\nb\"]", "line 1, column 4: a control character must be escaped in a string"},
		{"[1,\n2,\n", "line 3, column 1: the text ends too early"},
		{"[1,\n2,\r\n", "line 3, column 1: the text ends too early"},
		{"", "line 1, column 1: there is no value"},
		{"[1]\n\n[2]", "line 3, column 1: there is something behind the end of the value"},
		{"{\n  \"a\": 1,\n}",
		 "line 3, column 1: a ',' before a closing bracket is not allowed "
		 "here"},
		{"{\n  \"a\": 01\n}", "line 2, column 8: this is not a number as JSON writes it"},
		{"{\n  'a': 1\n}", "line 2, column 3: a key in double quotes is expected here"},
		{"{\n  \"a\", 1\n}", "line 2, column 6: a ':' is expected here"},
		{"\"\\z\"", "line 1, column 2: this escape does not exist"},
		{"\"\xc3\xa9\xff\"", "line 1, column 3: this is not valid UTF-8"},
		{"[] // x", "line 1, column 4: a comment is not allowed here"},
		{"\xef\xbb\xbf[]", "line 1, column 1: a byte order mark is not allowed here"},
	};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mcpool_error err = {0}, again = {0};

		CHECK_EQ(mp_tape_parse(&t, mp_str_of(rows[i].text), &err), MCPOOL_EPARSE);
		CHECK_TEXT(err.message, rows[i].message);
		CHECK_EQ(err.code, MCPOOL_EPARSE);
		CHECK_EQ(err.rpc_code, -32700);
		CHECK_EQ(mp_tape_explain(&t, &again), MCPOOL_EPARSE);
		CHECK_TEXT(again.message, rows[i].message);
	}
}

TEST(every_offset_has_a_place)
{
	static const char text[] = "a\n\xc3\xa9z\r\n\rq";
	static const struct mp_tape_place want[] = {
		{1, 1}, {1, 2},                         /* a LF */
		{2, 1}, {2, 2}, {2, 2}, {2, 3}, {2, 4}, /* é (two bytes) z CR LF */
		{3, 1}, {4, 1}, {4, 2},                 /* CR q end */
	};

	CHECK_EQ(sizeof(text), MP_ARRAY_LEN(want));
	for (size_t i = 0; i < MP_ARRAY_LEN(want); i++) {
		struct mp_tape_place place =
			mp_tape_locate((struct mp_str){text, sizeof(text) - 1}, i);

		CHECK_EQ(place.line, want[i].line);
		CHECK_EQ(place.column, want[i].column);
	}
	CHECK_EQ(mp_tape_locate((struct mp_str){text, sizeof(text) - 1}, 1000).line, 4);
	CHECK_EQ(mp_tape_locate(MP_STR(""), 0).column, 1);
	CHECK_EQ(mp_tape_locate((struct mp_str){NULL, 0}, 5).line, 1);
}

static void explain_nothing(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	ignore(mp_tape_explain(&t, NULL));
}

TEST(without_a_fault_there_is_nothing_to_explain)
{
	CHECK(test_stops(explain_nothing));
}

/* --- use after use ------------------------------------------------------------------------- */

TEST(a_tape_is_used_again_after_failure)
{
	static const char *const broken[] = {"[1,2", "{\"a\":[[[", "[1}",
					     "",     "\"\\q\"",    "{\"a\":{\"b\":[1,{"};
	static const struct want_node want[] = {
		{0, 5, 3, ARR, 0, 0}, {1, 2, 2, NUM, WHO, 1}, {3, 4, 3, NUM, WHO, 1}};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(broken); i++) {
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(broken[i]), NULL), MCPOOL_EPARSE);
		CHECK_EQ(mp_tape_parse(&t, MP_STR("[1,2]"), NULL), 0);
		CHECK(has_nodes(&t, want, MP_ARRAY_LEN(want)));
		CHECK_EQ(t.fault, MP_TAPE_FAULT_NONE);
		CHECK_EQ(t.loose, false);
	}
	CHECK_EQ(t.room, 64); /* the first memory served them all */
}

TEST(a_tape_is_used_again_in_the_middle_of_a_document)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, MP_TAPE_JSONC);
	CHECK_EQ(mp_tape_feed(&t, "{\"a\": [[ {\"b\"", 13, false), 0);
	mp_tape_begin(&t);
	CHECK_EQ(mp_tape_feed(&t, "[7]", 3, true), 1);
	CHECK_EQ(t.n, 2);
	CHECK_EQ(t.loose, false);
	mp_tape_done(&t);
	CHECK_EQ(t.n, 0);
	CHECK_EQ(mp_tape_parse(&t, MP_STR("[7, 8]"), NULL), 0);
	CHECK_EQ(t.n, 3);
}

TEST(done_twice_is_harmless)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	mp_tape_done(&t);
	mp_tape_done(&t);
	CHECK_EQ(t.n, 0);
}

/* --- pieces -------------------------------------------------------------------------------- */

#define JSONC_SAMPLE                                                                              \
	"\xef\xbb\xbf// caf\xc3\xa9 \xe2\x82\xac\n{ /* \xf0\x9f\x98\x80 */ \"k\xc3\xa9y\" : [1, " \
	"-2.5e+10, true,\tfalse , null,],\r\n\"\\u00e9\\n\":\"\xf0\x9f\x98\x80\", // x\n} /**/ "  \
	"// end"

TEST(pieces_of_any_size_read_as_the_whole)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape whole;

	mp_tape_init(&whole, MP_TAPE_JSONC);
	CHECK_EQ(mp_tape_parse(&whole, MP_STR(JSONC_SAMPLE), NULL), 0);
	CHECK_EQ(whole.n, 10);
	for (size_t piece = 1; piece < sizeof(JSONC_SAMPLE); piece++)
		CHECK(pieces_agree(&whole, MP_STR(JSONC_SAMPLE), piece, piece < 8));
}

TEST(any_two_cuts_read_as_the_whole)
{
	static const char text[] = JSONC_SAMPLE;
	size_t len = sizeof(text) - 1;
	MP_CLEANUP(mp_tape_done) struct mp_tape whole, t;

	mp_tape_init(&whole, MP_TAPE_JSONC);
	mp_tape_init(&t, MP_TAPE_JSONC);
	CHECK_EQ(mp_tape_parse(&whole, MP_STR(JSONC_SAMPLE), NULL), 0);
	for (size_t one = 0; one <= len; one++) {
		for (size_t two = one; two <= len; two++) {
			mp_tape_begin(&t);
			CHECK_EQ(mp_tape_feed(&t, text, one, false), 0);
			CHECK_EQ(mp_tape_feed(&t, text, two, false), 0);
			CHECK_EQ(mp_tape_feed(&t, text, len, true), 1);
			CHECK(same_tapes(&t, &whole));
		}
	}
}

TEST(the_end_may_be_told_without_more_bytes)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
		{"[1,2]", 1},
		{"12", 1},
		{"-12.5e3", 1},
		{"null", 1},
		{"\"x\" ", 1},
		{"{} // c", 1},
		{"[1,2", MCPOOL_EPARSE},
		{"nul", MCPOOL_EPARSE},
		{"-", MCPOOL_EPARSE},
		{"{} /*", MCPOOL_EPARSE},
		{"\"\xc3", MCPOOL_EPARSE},
		{"", MCPOOL_EPARSE},
		{"\xef\xbb", MCPOOL_EPARSE},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_str s = mp_str_of(rows[i].text);
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, MP_TAPE_JSONC);
		CHECK_EQ(mp_tape_feed(&t, s.p, s.len, false), 0);
		CHECK_EQ(mp_tape_feed(&t, s.p, s.len, false), 0);
		CHECK_EQ(mp_tape_feed(&t, s.p, s.len, true), rows[i].result);
		if (rows[i].result == 1 && t.nodes[0].type == NUM)
			CHECK_EQ(t.nodes[0].end, s.len);
	}
}

TEST(nothing_may_be_fed)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_feed(&t, NULL, 0, false), 0);
	CHECK_EQ(mp_tape_feed(&t, "7", 1, true), 1);
	mp_tape_begin(&t);
	CHECK_EQ(mp_tape_feed(&t, NULL, 0, true), MCPOOL_EPARSE);
	CHECK_EQ(t.fault, MP_TAPE_FAULT_EMPTY);
	CHECK_EQ(mp_tape_parse(&t, (struct mp_str){NULL, 0}, NULL), MCPOOL_EPARSE);
}

TEST(a_broken_document_is_refused_before_it_ends)
{
	static const struct {
		const char *text;
		enum mp_tape_fault fault;
	} rows[] = {
		{"[1,]", MP_TAPE_FAULT_TRAILING_COMMA},
		{"x", MP_TAPE_FAULT_VALUE},
		{"{\"a\":tru3", MP_TAPE_FAULT_VALUE},
		{"nux", MP_TAPE_FAULT_VALUE},
		{"{a", MP_TAPE_FAULT_KEY},
		{"{\"a\"1", MP_TAPE_FAULT_COLON},
		{"[1 2", MP_TAPE_FAULT_COMMA_OR_BRACKET},
		{"{} 1", MP_TAPE_FAULT_EXTRA},
		{"[01", MP_TAPE_FAULT_NUMBER},
		{"\"\n", MP_TAPE_FAULT_CONTROL},
		{"\"\\q", MP_TAPE_FAULT_ESCAPE},
		{"\"\\u00x", MP_TAPE_FAULT_ESCAPE},
		{"\"\xff...", MP_TAPE_FAULT_UTF8},
		{"\"\xe2\x82...", MP_TAPE_FAULT_UTF8},
		{"[1, // c", MP_TAPE_FAULT_COMMENT},
		{"\xef\xbb\xbf", MP_TAPE_FAULT_BOM},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_str s = mp_str_of(rows[i].text);
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, 0);
		CHECK_EQ(mp_tape_feed(&t, s.p, s.len, false), MCPOOL_EPARSE);
		CHECK_EQ(t.fault, rows[i].fault);
	}
}

TEST(a_complete_document_waits_for_its_end)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	CHECK_EQ(mp_tape_feed(&t, "{}", 2, false), 0);
	CHECK_EQ(mp_tape_feed(&t, "{}\n", 3, false), 0);
	CHECK_EQ(mp_tape_feed(&t, "{}\n\n", 4, true), 1);
	mp_tape_begin(&t);
	CHECK_EQ(mp_tape_feed(&t, "{}", 2, false), 0);
	CHECK_EQ(mp_tape_feed(&t, "{}{", 3, false), MCPOOL_EPARSE);
	CHECK_EQ(t.fault, MP_TAPE_FAULT_EXTRA);
}

static void feed_less_than_before(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	ignore(mp_tape_feed(&t, "[1,2", 4, false));
	ignore(mp_tape_feed(&t, "[1,", 3, false));
}

static void feed_after_failure(void)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	ignore(mp_tape_feed(&t, "[}", 2, false));
	ignore(mp_tape_feed(&t, "[}]", 3, false));
}

TEST(feeding_against_the_contract_is_a_broken_promise)
{
	CHECK(test_stops(feed_less_than_before));
	CHECK(test_stops(feed_after_failure));
}

/* One long token in quotes, slashes or digits: head, then body again and again, then tail. */
static char *long_token(const char *head, const char *body, const char *tail, size_t *ret_len)
{
	size_t n_head = strlen(head), n_body = strlen(body), n_tail = strlen(tail);
	size_t times = ((size_t)1 << 20) / n_body;
	char *text = malloc(n_head + times * n_body + n_tail + 1);

	if (!text)
		return NULL;
	memcpy(text, head, n_head);
	for (size_t i = 0; i < times; i++)
		memcpy(text + n_head + i * n_body, body, n_body);
	memcpy(text + n_head + times * n_body, tail, n_tail + 1);
	*ret_len = n_head + times * n_body + n_tail;
	return text;
}

/* Processor time of feeding in pieces; negative if it does not parse. */
static double time_feeding(struct mp_str s, size_t piece)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	clock_t start = clock();
	int r;

	mp_tape_init(&t, MP_TAPE_JSONC);
	r = feed_in_pieces(&t, s, piece, false);
	return r == 1 ? (double)(clock() - start) / CLOCKS_PER_SEC : -1;
}

HEAVY_TEST(a_long_token_in_tiny_pieces_takes_linear_time)
{
	static const struct {
		const char *head, *body, *tail;
	} rows[] = {
		{"\"", "plain text", "\""},
		{"\"", "\\u00e9\\n", "\""},
		{"\"", "\xe2\x82\xac", "\""},
		{"[", "1234567890", "]"},
		{"/* ", "comment ", "*/ 1"},
		{"// ", "\xc3\xa9", "\n1"},
		{"[", " \n", "]"},
		{"[", "/* many */", "]"},
		{"[0", ",1", "]"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		size_t len = 0;
		MP_CLEANUP(free_bytes)
		char *text = long_token(rows[i].head, rows[i].body, rows[i].tail, &len);
		double large, tiny;

		CHECK(text);
		large = time_feeding((struct mp_str){text, len}, 64 << 10);
		tiny = time_feeding((struct mp_str){text, len}, 1);
		CHECK(large >= 0 && tiny >= 0);
		/* Looking at everything again for each byte would be half a million times more. */
		CHECK(test_true(tiny <= 100 * large + 1, rows[i].body, __FILE__, __LINE__));
	}
}

/* --- loose --------------------------------------------------------------------------------- */

/* More values than the first estimate from the length of the text has room for. */
HEAVY_TEST(a_long_text_of_many_values_is_read)
{
	enum { VALUES = 600000, EACH = 20 };
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(free_bytes) char *text = malloc((size_t)VALUES * EACH + 2);
	size_t n = 0;

	mp_tape_init(&t, 0);
	CHECK(text);
	for (int i = 0; i < VALUES; i++)
		n += (size_t)snprintf(text + n, EACH + 1, "%c\"%017d\"", i ? ',' : '[', i);
	text[n++] = ']';
	CHECK_EQ(mp_tape_parse(&t, (struct mp_str){text, n}, NULL), 0);
	CHECK_EQ(t.n, VALUES + 1);
}

TEST(loose_says_whether_there_is_more_than_tokens)
{
	static const struct {
		const char *text;
		bool loose;
	} rows[] = {
		{"{\"a\":[1,2,{\"b\":null}],\"c\":\"d e\\n // no\"}", false},
		{"[]", false},
		{"7", false},
		{"\"a b\"", false},
		{"\xef\xbb\xbf[1]", false},
		{"[ ]", true},
		{"[1, 2]", true},
		{"{\"a\": 1}", true},
		{"{\"a\" :1}", true},
		{"[1\n]", true},
		{" [1]", false},
		{"[1]\n", false},
		{"[1]\t", false},
		{"[1]\r", false},
		{"[/**/]", true},
		{"[1/**/,2]", true},
		{"//\n[1]", false},
		{"[1]//", false},
		{"[1,]", true},
		{"{\"a\":1,}", true},
		{"[[1,],2]", true},
	};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, MP_TAPE_JSONC);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(rows[i].text), NULL), 0);
		CHECK_EQ(t.loose, rows[i].loose);
		CHECK_EQ(feed_in_pieces(&t, mp_str_of(rows[i].text), 1, false), 1);
		CHECK_EQ(t.loose, rows[i].loose);
	}
}

TEST(each_extension_is_asked_for_alone)
{
	static const struct {
		const char *text;
		unsigned needs;
	} rows[] = {
		{"[1] // c", MP_TAPE_COMMENTS},   {"/* c */ [1]", MP_TAPE_COMMENTS},
		{"[1,]", MP_TAPE_TRAILING_COMMA}, {"{\"a\":1,}", MP_TAPE_TRAILING_COMMA},
		{"\xef\xbb\xbf[1]", MP_TAPE_BOM}, {"\xef\xbb\xbf[1, /* c */]", MP_TAPE_JSONC},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		for (unsigned accept = 0; accept <= MP_TAPE_JSONC; accept++) {
			MP_CLEANUP(mp_tape_done) struct mp_tape t;
			int r;

			mp_tape_init(&t, accept);
			r = mp_tape_parse(&t, mp_str_of(rows[i].text), NULL);
			CHECK_EQ(r, (accept & rows[i].needs) == rows[i].needs ? 0 : MCPOOL_EPARSE);
		}
	}
}
