/*
 * test_names.c - public names: who gets which.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/limits.h"
#include "session/names.h"

#define NAMES(style) MP_CLEANUP(mp_names_freep) struct mp_names *n = mp_names_new(style)

static int add(struct mp_names *n, const char *server, const char *name)
{
	return mp_names_add(n, mp_str_of(server), mp_str_of(name), NULL);
}

/* The public name of this pair, NULL if it has none. */
static const char *name_of(const struct mp_names *n, const char *server, const char *name)
{
	for (size_t i = 0; i < mp_names_count(n); i++) {
		const struct mp_name *row = mp_names_get(n, i);

		if (mp_str_eq(row->server, mp_str_of(server)) &&
		    mp_str_eq(row->name, mp_str_of(name)))
			return row->public_name.p;
	}
	return NULL;
}

static const struct mp_name *find(const struct mp_names *n, const char *name)
{
	return mp_names_find(n, mp_str_of(name), NULL);
}

/* Distinct, sorted, each found by itself. */
static bool is_sound(const struct mp_names *n)
{
	for (size_t i = 0; i < mp_names_count(n); i++) {
		const struct mp_name *row = mp_names_get(n, i);

		REQUIRE(row->public_name.len > 0 && row->public_name.len <= MP_NAME_MAX);
		REQUIRE(mp_names_find(n, row->public_name, NULL) == row);
		REQUIRE(i == 0 ||
			mp_str_compare(mp_names_get(n, i - 1)->public_name, row->public_name) < 0);
	}
	return true;
}

/* U19 E60 */
TEST(names_are_sorted_and_found)
{
	int mark;
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "github", "search"), 0);
	CHECK_EQ(mp_names_add(n, MP_STR("files"), MP_STR("read file"), &mark), 0);
	CHECK_EQ(add(n, "files", "list"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_EQ(mp_names_count(n), 3);
	CHECK_STR(mp_names_get(n, 0)->public_name, "mcp__files__list");
	CHECK_STR(mp_names_get(n, 1)->public_name, "mcp__files__read_file");
	CHECK_STR(mp_names_get(n, 2)->public_name, "mcp__github__search");
	CHECK(find(n, "mcp__files__read_file")->u == &mark);
	CHECK_STR(find(n, "mcp__files__read_file")->name, "read file");
	CHECK_STR(find(n, "read file")->server, "files");
	CHECK(!find(n, "mcp__files__write"));
	CHECK(!mp_names_get(n, 0)->collides);
	CHECK(is_sound(n));
}

TEST(a_pair_is_there_once)
{
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "ab", "c"), 0);
	CHECK_EQ(add(n, "a", "bc"), 0);
	CHECK_EQ(add(n, "ab", "c"), MCPOOL_EEXIST);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_EQ(mp_names_count(n), 2);
}

/* B47 U19 */
TEST(the_smaller_keeps_the_name)
{
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "s", "a.c"), 0);
	CHECK_EQ(add(n, "s", "a b"), 0);
	CHECK_EQ(add(n, "s", "a.b"), 0);
	CHECK_EQ(add(n, "s", "a/b"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_EQ(mp_names_count(n), 4);
	CHECK_TEXT(name_of(n, "s", "a b"), "mcp__s__a_b"); /* a blank is the smallest of them */
	CHECK_EQ(strlen(name_of(n, "s", "a.b")), strlen("mcp__s__a_b_12345678"));
	CHECK_EQ(strlen(name_of(n, "s", "a/b")), strlen("mcp__s__a_b_12345678"));
	CHECK(find(n, name_of(n, "s", "a b"))->collides);
	CHECK(find(n, name_of(n, "s", "a.b"))->collides);
	CHECK(!find(n, name_of(n, "s", "a.c"))->collides);
	CHECK(find(n, "a.b") == find(n, name_of(n, "s", "a.b")));
	CHECK(is_sound(n));
}

/* B47 U19 */
TEST(the_server_counts_before_the_tool)
{
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "a__b", "c"), 0);
	CHECK_EQ(add(n, "a", "b__c"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "a", "b__c"), "mcp__a__b__c");
	CHECK(is_sound(n));
}

/* Someone's own name is the hashed one of another: the own name stays, the hash goes on. */
TEST(a_hash_gives_way_to_a_name)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf taken;
	NAMES(MP_NAMING_SERVER);

	mp_buf_init(&taken, 100);
	CHECK_EQ(mp_spell_hashed(MP_SPELLING_SERVER, MP_STR("s"), MP_STR("a.b"), 0, &taken), 0);
	CHECK_EQ(mp_buf_terminate(&taken), 0);
	CHECK_EQ(add(n, "s", "a.b"), 0);
	CHECK_EQ(add(n, "s", "a b"), 0);
	CHECK_EQ(add(n, "s", taken.data + 3), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "s", taken.data + 3), taken.data);
	CHECK(strcmp(name_of(n, "s", "a.b"), taken.data) != 0);
	CHECK(memcmp(name_of(n, "s", "a.b"), "s__a_b_", 7) == 0);
	CHECK(!find(n, taken.data)->collides);
	CHECK(is_sound(n));
}

/* U19 */
TEST(each_style_and_the_others_as_aliases)
{
	static const char *const wanted[] = {"mcp__github__search", "mcp_github_search",
					     "github__search", "search"};

	for (unsigned style = 0; style < MP_ARRAY_LEN(wanted); style++) {
		NAMES((enum mp_naming)style);

		CHECK_EQ(add(n, "github", "search"), 0);
		CHECK_EQ(add(n, "files", "list"), 0);
		CHECK_EQ(mp_names_finish(n), 0);
		CHECK_TEXT(name_of(n, "github", "search"), wanted[style]);
		for (size_t i = 0; i < MP_ARRAY_LEN(wanted); i++)
			CHECK(find(n, wanted[i]) == find(n, wanted[style]));
		CHECK(find(n, "github.search") == find(n, wanted[style]));
	}
}

/* E60 */
TEST(passthrough_names_its_server_only_where_needed)
{
	NAMES(MP_NAMING_PASSTHROUGH);

	CHECK_EQ(add(n, "a", "read file"), 0);
	CHECK_EQ(add(n, "a", "search"), 0);
	CHECK_EQ(add(n, "b", "search"), 0);
	CHECK_EQ(add(n, "b", ""), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "a", "read file"), "read file");
	CHECK_TEXT(name_of(n, "a", "search"), "mcp__a__search");
	CHECK_TEXT(name_of(n, "b", "search"), "mcp__b__search");
	CHECK_TEXT(name_of(n, "b", ""), "mcp__b__");
	CHECK(find(n, "mcp__a__search")->collides && find(n, "mcp__b__search")->collides);
	CHECK(!find(n, "search"));
	CHECK(is_sound(n));
}

/* A tool whose own name is what another would be called: its name is unique, so it passes. */
TEST(passthrough_lets_own_names_pass_first)
{
	NAMES(MP_NAMING_PASSTHROUGH);

	CHECK_EQ(add(n, "a", "x"), 0);
	CHECK_EQ(add(n, "b", "x"), 0);
	CHECK_EQ(add(n, "z", "mcp__a__x"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "z", "mcp__a__x"), "mcp__a__x");
	CHECK(memcmp(name_of(n, "a", "x"), "mcp__a__x_", 10) == 0);
	CHECK_TEXT(name_of(n, "b", "x"), "mcp__b__x");
	CHECK(is_sound(n));
}

TEST(how_many_it_could_have_meant)
{
	size_t candidates = 9;
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "a", "read"), 0);
	CHECK_EQ(add(n, "b", "read"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK(!mp_names_find(n, MP_STR("read"), &candidates));
	CHECK_EQ(candidates, 2);
	CHECK(!mp_names_find(n, MP_STR("write"), &candidates));
	CHECK_EQ(candidates, 0);
	CHECK(mp_names_find(n, MP_STR("mcp__a__read"), &candidates));
	CHECK_EQ(candidates, 1);
}

TEST(none_at_all)
{
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_EQ(mp_names_count(n), 0);
	CHECK(!find(n, "x") && !find(n, ""));
}

/* --- at random ------------------------------------------------------------------------------- */

enum { PAIRS = 60 };

/* Few letters, so that they collide in every way. */
static void make_text(char *out, uint64_t *seed)
{
	static const char letters[] = "aA_. -1";
	size_t len = 1 + test_random(seed) % 3;

	for (size_t i = 0; i < len; i++)
		out[i] = letters[test_random(seed) % (sizeof(letters) - 1)];
	out[len] = '\0';
	if (test_random(seed) % 8 == 0) /* a long one */
		snprintf(out + len, 90, "%085d", 0);
}

static bool fill(struct mp_names *n, char pairs[PAIRS][2][100], const size_t *order)
{
	for (size_t i = 0; i < PAIRS; i++) {
		int r = add(n, pairs[order[i]][0], pairs[order[i]][1]);

		REQUIRE(r == 0 || r == MCPOOL_EEXIST);
	}
	REQUIRE(mp_names_finish(n) == 0);
	return is_sound(n);
}

static void shuffle(size_t *order, uint64_t *seed)
{
	for (size_t i = PAIRS; i > 1; i--) {
		size_t j = test_random(seed) % i, t = order[i - 1];

		order[i - 1] = order[j];
		order[j] = t;
	}
}

static bool is_same(const struct mp_names *a, const struct mp_names *b)
{
	REQUIRE(mp_names_count(a) == mp_names_count(b));
	for (size_t i = 0; i < mp_names_count(a); i++) {
		const struct mp_name *x = mp_names_get(a, i), *y = mp_names_get(b, i);

		REQUIRE(mp_str_eq(x->public_name, y->public_name));
		REQUIRE(mp_str_eq(x->server, y->server) && mp_str_eq(x->name, y->name));
		REQUIRE(x->collides == y->collides);
	}
	return true;
}

static bool try_orders(enum mp_naming style, uint64_t *seed)
{
	NAMES(style);
	char pairs[PAIRS][2][100];
	size_t order[PAIRS];

	for (size_t i = 0; i < PAIRS; i++) {
		make_text(pairs[i][0], seed);
		make_text(pairs[i][1], seed);
		order[i] = i;
	}
	REQUIRE(fill(n, pairs, order));
	for (size_t i = 0; i < 4; i++) {
		MP_CLEANUP(mp_names_freep) struct mp_names *other = mp_names_new(style);

		shuffle(order, seed);
		REQUIRE(fill(other, pairs, order));
		REQUIRE(is_same(n, other));
	}
	return true;
}

/* B47 U19 */
HEAVY_TEST(the_order_of_arrival_decides_nothing)
{
	uint64_t seed = 19;

	for (size_t i = 0; i < 400; i++)
		CHECK(try_orders((enum mp_naming)(i % 4), &seed));
}

static bool fill_large(struct mp_names *n)
{
	char server[40], name[40];

	for (unsigned i = 0; i < 10000; i++) {
		snprintf(server, sizeof(server), "server-%u", i * 7 % 1000);
		snprintf(name, sizeof(name), "some_tool_%u", i / 1000);
		REQUIRE(add(n, server, name) == 0);
	}
	REQUIRE(mp_names_finish(n) == 0);
	return true;
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Generous, for sanitizers: what grows with the square of it takes seconds. */
HEAVY_TEST(ten_thousand_take_no_time)
{
	NAMES(MP_NAMING_MCP_DOUBLE);
	int64_t begin = now_us(), filled;
	size_t candidates;

	CHECK(fill_large(n));
	filled = now_us();
	CHECK(is_sound(n));
	CHECK(!mp_names_find(n, MP_STR("some_tool_3"), &candidates));
	CHECK_EQ(candidates, 1000);
	CHECK(filled - begin < 1000000);
	CHECK(now_us() - filled < 1000000);
	if (getenv("MCPOOL_TEST_TIMES"))
		printf("10,000 names: %lld us to build, %lld us to find all\n",
		       (long long)(filled - begin), (long long)(now_us() - filled));
}

HEAVY_TEST(more_than_anyone_has_is_refused)
{
	NAMES(MP_NAMING_MCP_DOUBLE);
	char name[20];
	int r = 0;

	for (unsigned i = 0; i < MP_LIMIT_NAMES + 1 && r == 0; i++) {
		snprintf(name, sizeof(name), "%u", i);
		r = add(n, "s", name);
	}
	CHECK_EQ(r, MCPOOL_ELIMIT);
	CHECK_EQ(mp_names_count(n), MP_LIMIT_NAMES);
}
