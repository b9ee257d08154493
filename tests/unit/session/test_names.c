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
	CHECK_EQ(MP_NAME_MAX, 64);
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

/* B47 U19, attack-S5: neither the smaller nor the first one keeps it. */
TEST(of_colliding_names_none_is_plain)
{
	size_t candidates = 0;
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK_EQ(add(n, "s", "a.c"), 0);
	CHECK_EQ(add(n, "s", "a b"), 0);
	CHECK_EQ(add(n, "s", "a.b"), 0);
	CHECK_EQ(add(n, "s", "a/b"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_EQ(mp_names_count(n), 4);
	CHECK_EQ(strlen(name_of(n, "s", "a b")), strlen("mcp__s__a_b_12345678"));
	CHECK_EQ(strlen(name_of(n, "s", "a.b")), strlen("mcp__s__a_b_12345678"));
	CHECK_EQ(strlen(name_of(n, "s", "a/b")), strlen("mcp__s__a_b_12345678"));
	CHECK(find(n, name_of(n, "s", "a b"))->collides);
	CHECK(find(n, name_of(n, "s", "a.b"))->collides);
	CHECK(!find(n, name_of(n, "s", "a.c"))->collides);
	CHECK(find(n, "a.b") == find(n, name_of(n, "s", "a.b")));
	CHECK(!mp_names_find(n, MP_STR("mcp__s__a_b"), &candidates));
	CHECK_EQ(candidates, 3);
	CHECK(is_sound(n));
}

/* attack-S5 */
/* B47 U19 */
TEST(a_prefix_takes_no_name_of_another_server)
{
	static const char *const pairs[][3] = {
		{"a", "b__c", "mcp__a__b__c"},
		{"a__b", "c", "mcp__a__b__c"},
		{"x.y", "z", "mcp__x_y__z"},
		{"x_y", "z", "mcp__x_y__z"},
	};
	NAMES(MP_NAMING_MCP_DOUBLE);

	for (size_t i = 0; i < MP_ARRAY_LEN(pairs); i++)
		CHECK_EQ(add(n, pairs[i][0], pairs[i][1]), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(pairs); i++) {
		CHECK(strcmp(name_of(n, pairs[i][0], pairs[i][1]), pairs[i][2]) != 0);
		CHECK(!find(n, pairs[i][2]));
	}
	CHECK(is_sound(n));
}

/* attack-S5: a tool that is called like the hash of another gets neither it nor a plain name. */
TEST(a_hash_cannot_be_taken)
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
	CHECK_TEXT(name_of(n, "s", "a.b"), taken.data);
	CHECK_EQ(strlen(name_of(n, "s", taken.data + 3)), taken.len + 9);
	CHECK(find(n, name_of(n, "s", taken.data + 3))->collides);
	CHECK(is_sound(n));
}

/* A44 U19 */
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
			CHECK(find(n, wanted[i]) && find(n, wanted[i]) == find(n, wanted[style]));
		CHECK(find(n, "github.search") == find(n, wanted[style]));
	}
	for (enum mp_naming style = 0; style <= MP_NAMING_MCP_LETTERS; style++) { /* with digits */
		static const char *const names[] = {"mcp__s3__get2", "mcp_s3_get2", "s3__get2",
						    "get2", "mcp_s_get"};
		NAMES(style);

		CHECK_EQ(add(n, "s3", "get2"), 0);
		CHECK_EQ(mp_names_finish(n), 0);
		CHECK_TEXT(name_of(n, "s3", "get2"), names[style]);
		for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
			CHECK(find(n, names[i]) && find(n, names[i]) == find(n, names[style]));
	}
}

/* E60 */
TEST(every_other_style_names_the_server)
{
	static const struct {
		enum mp_naming style;
		const char *name;
	} cases[] = {{MP_NAMING_MCP_DOUBLE, "mcp__github__search"},
		     {MP_NAMING_MCP_SINGLE, "mcp_github_search"},
		     {MP_NAMING_SERVER, "github__search"},
		     {MP_NAMING_MCP_LETTERS, "mcp_github_search"}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		NAMES(cases[i].style);

		CHECK_EQ(add(n, "github", "search"), 0);
		CHECK_EQ(mp_names_finish(n), 0);
		CHECK_TEXT(name_of(n, "github", "search"), cases[i].name);
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

/* attack-S5: named like another server's tool, it never passes through. */
TEST(passthrough_lets_no_prefix_of_another_pass)
{
	NAMES(MP_NAMING_PASSTHROUGH);

	CHECK_EQ(add(n, "bank", "pay"), 0);
	CHECK_EQ(add(n, "zevil", "pay"), 0);
	CHECK_EQ(add(n, "zevil", "mcp__bank__pay"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "bank", "pay"), "mcp__bank__pay");
	CHECK_TEXT(name_of(n, "zevil", "pay"), "mcp__zevil__pay");
	CHECK_TEXT(name_of(n, "zevil", "mcp__bank__pay"), "mcp__zevil__mcp__bank__pay");
	CHECK_STR(find(n, "mcp__bank__pay")->server, "bank");
	CHECK(is_sound(n));
}

/* --- what was before ------------------------------------------------------------------------- */

static const struct mp_name_holder *get_holder(void *u, struct mp_str name)
{
	static struct mp_name_holder h;
	const char *const *who = u; /* name, server, tool */

	h = (struct mp_name_holder){mp_str_of(who[1]), mp_str_of(who[2]), !who[1][0]};
	return mp_str_eq(name, mp_str_of(who[0])) ? &h : NULL;
}

static bool fill_two(struct mp_names *n, const struct mp_names_rules *rules, bool first,
		     bool second)
{
	mp_names_set_rules(n, rules);
	REQUIRE(!first || add(n, "a", "b__c") == 0);
	REQUIRE(!second || add(n, "a__b", "c") == 0);
	return mp_names_finish(n) == 0 && is_sound(n);
}

/* attack-S5: the one that had it alone in an earlier run keeps it, whichever comes first. */
/* U19 */
TEST(an_earlier_run_decides)
{
	static const char *const who[] = {"mcp__a__b__c", "a__b", "c"};
	static const char *const both[] = {"mcp__a__b__c", "", ""};
	struct mp_names_rules rules = {.get_holder = get_holder, .u = (void *)who};
	MP_CLEANUP(mp_names_freep) struct mp_names *shared = mp_names_new(MP_NAMING_MCP_DOUBLE);
	MP_CLEANUP(mp_names_freep) struct mp_names *away = mp_names_new(MP_NAMING_MCP_DOUBLE);
	static const char *const servers[] = {"a", "a__b"};
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK(fill_two(n, &rules, true, true));
	CHECK_TEXT(name_of(n, "a__b", "c"), "mcp__a__b__c");
	CHECK(strlen(name_of(n, "a", "b__c")) > strlen("mcp__a__b__c"));
	CHECK(!find(n, "mcp__a__b__c")->is_alone); /* known already */
	rules.u = (void *)both;
	CHECK(fill_two(shared, &rules, true, true));
	CHECK(!find(shared, "mcp__a__b__c"));
	rules.u = (void *)who; /* it failed to start: its name is not free for that */
	rules.servers = servers;
	rules.n_servers = 2;
	CHECK(fill_two(away, &rules, true, false));
	CHECK(strlen(name_of(away, "a", "b__c")) > strlen("mcp__a__b__c"));
	CHECK(!find(away, "mcp__a__b__c"));
}

/* attack-S5: a server that is not there yet may ask for the name: connecting first does not claim
 * it. */
/* U19 */
TEST(connecting_first_decides_nothing)
{
	static const char *const servers[] = {"a", "a__b", "other"};
	static const bool late[] = {false, true, false}, none[] = {false, false, false};
	struct mp_names_rules rules = {.servers = servers, .is_late = late, .n_servers = 3};
	MP_CLEANUP(mp_names_freep) struct mp_names *then = mp_names_new(MP_NAMING_MCP_DOUBLE);
	MP_CLEANUP(mp_names_freep) struct mp_names *alone = mp_names_new(MP_NAMING_MCP_DOUBLE);
	char hashed[80];
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK(fill_two(n, &rules, true, false));
	CHECK(strlen(name_of(n, "a", "b__c")) > strlen("mcp__a__b__c"));
	CHECK(!find(n, name_of(n, "a", "b__c"))->collides && !find(n, "mcp__a__b__c"));
	snprintf(hashed, sizeof(hashed), "%s", name_of(n, "a", "b__c"));
	rules.is_late = none;
	rules.before = n;
	CHECK(fill_two(then, &rules, true, true)); /* it came, and asks for it */
	CHECK(!find(then, "mcp__a__b__c"));
	CHECK_TEXT(name_of(then, "a", "b__c"), hashed);
	CHECK(fill_two(alone, &rules, true, false)); /* it does not: the name is free */
	CHECK_TEXT(name_of(alone, "a", "b__c"), "mcp__a__b__c");
	CHECK(find(alone, "mcp__a__b__c")->is_alone);
	CHECK(find(alone, hashed) == find(alone, "mcp__a__b__c")); /* as it was told before */
}

/* Of two servers whose names begin alike, the one without a list may ask for the same name. */
TEST(a_late_server_with_the_same_prefix_counts)
{
	static const char *const servers[] = {"x.y", "x_y"};
	static const bool late[] = {false, true};
	struct mp_names_rules rules = {.servers = servers, .is_late = late, .n_servers = 2};
	NAMES(MP_NAMING_MCP_DOUBLE);

	mp_names_set_rules(n, &rules);
	CHECK_EQ(add(n, "x.y", "z"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK(strlen(name_of(n, "x.y", "z")) > strlen("mcp__x_y__z"));
	CHECK(!find(n, "mcp__x_y__z"));
}

static const struct mp_name_holder *get_shared(void *u, struct mp_str name)
{
	static const struct mp_name_holder h = {{"a", 1}, {"b__c", 4}, true};
	(void)u;
	return mp_str_eq(name, MP_STR("mcp__a__b__c")) ? &h : NULL;
}

/* A name that two had in an earlier run belongs to neither of them, the one that is noted included.
 */
TEST(a_name_that_was_shared_is_not_given_to_one)
{
	struct mp_names_rules rules = {.get_holder = get_shared};
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK(fill_two(n, &rules, true, true));
	CHECK(!find(n, "mcp__a__b__c"));
}

/* A tool that had the name before keeps it, though it is the hash of a later one. */
TEST(a_name_in_use_is_not_taken_for_a_hash)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf taken;
	MP_CLEANUP(mp_names_freep) struct mp_names *then = mp_names_new(MP_NAMING_SERVER);
	struct mp_names_rules rules = {0};
	NAMES(MP_NAMING_SERVER);

	mp_buf_init(&taken, 100);
	CHECK_EQ(mp_spell_hashed(MP_SPELLING_SERVER, MP_STR("s"), MP_STR("a.b"), 0, &taken), 0);
	CHECK_EQ(mp_buf_terminate(&taken), 0);
	CHECK_EQ(add(n, "s", taken.data + 3), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "s", taken.data + 3), taken.data);
	rules.before = n;
	mp_names_set_rules(then, &rules);
	CHECK_EQ(add(then, "s", "a.b"), 0);
	CHECK_EQ(add(then, "s", "a b"), 0);
	CHECK_EQ(add(then, "s", taken.data + 3), 0);
	CHECK_EQ(mp_names_finish(then), 0);
	CHECK_TEXT(name_of(then, "s", taken.data + 3), taken.data);
	CHECK(is_sound(then));
}

/* attack-S5, live: a name means what it meant, also when its tool is away for a while. */
/* U19 */
TEST(a_later_collision_changes_no_meaning)
{
	struct mp_names_rules rules = {0};
	MP_CLEANUP(mp_names_freep) struct mp_names *both = mp_names_new(MP_NAMING_MCP_DOUBLE);
	MP_CLEANUP(mp_names_freep) struct mp_names *gone = mp_names_new(MP_NAMING_MCP_DOUBLE);
	MP_CLEANUP(mp_names_freep) struct mp_names *back = mp_names_new(MP_NAMING_MCP_DOUBLE);
	size_t candidates = 9;
	NAMES(MP_NAMING_MCP_DOUBLE);

	CHECK(fill_two(n, NULL, false, true));
	rules.before = n;
	CHECK(fill_two(both, &rules, true, true));
	CHECK_STR(find(both, "mcp__a__b__c")->server, "a__b");
	CHECK(find(both, "mcp__a__b__c")->collides && !find(both, "mcp__a__b__c")->is_alone);
	rules.before = both;
	CHECK(fill_two(gone, &rules, true, false));
	CHECK(!mp_names_find(gone, MP_STR("mcp__a__b__c"), &candidates));
	CHECK_EQ(candidates, 0);
	rules.before = gone;
	CHECK(fill_two(back, &rules, true, true));
	CHECK_STR(find(back, "mcp__a__b__c")->server, "a__b");
}

/* attack-S5: passthrough waits until all lists are there, unless an earlier run knows. */
TEST(passthrough_waits_for_all_lists)
{
	static const char *const servers[] = {"bank", "zevil"};
	static const char *const who[] = {"pay", "bank", "pay"};
	static const bool late[] = {false, true};
	struct mp_names_rules rules = {.servers = servers, .is_late = late, .n_servers = 2};
	MP_CLEANUP(mp_names_freep) struct mp_names *known = mp_names_new(MP_NAMING_PASSTHROUGH);
	MP_CLEANUP(mp_names_freep) struct mp_names *taken = mp_names_new(MP_NAMING_PASSTHROUGH);
	NAMES(MP_NAMING_PASSTHROUGH);

	mp_names_set_rules(n, &rules);
	CHECK_EQ(add(n, "bank", "pay"), 0);
	CHECK_EQ(mp_names_finish(n), 0);
	CHECK_TEXT(name_of(n, "bank", "pay"), "mcp__bank__pay");
	CHECK(!find(n, "pay"));
	rules.get_holder = get_holder;
	rules.u = (void *)who;
	mp_names_set_rules(known, &rules);
	CHECK_EQ(add(known, "bank", "pay"), 0);
	CHECK_EQ(mp_names_finish(known), 0);
	CHECK_TEXT(name_of(known, "bank", "pay"), "pay");
	rules.is_late = NULL;
	mp_names_set_rules(taken, &rules);
	CHECK_EQ(add(taken, "zevil", "pay"), 0);
	CHECK_EQ(mp_names_finish(taken), 0);
	CHECK_TEXT(name_of(taken, "zevil", "pay"), "mcp__zevil__pay");
	CHECK(!find(taken, "pay"));
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

/* B47 U19 A26 */
HEAVY_TEST(the_order_of_arrival_decides_nothing)
{
	uint64_t seed = 19;

	for (size_t i = 0; i < 400; i++)
		CHECK(try_orders((enum mp_naming)(i % 5), &seed));
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

/* One generation of a server's names. */
static bool fill_generation(struct mp_names *n, const struct mp_names *before, char kind)
{
	static struct mp_names_rules rules;

	rules = (struct mp_names_rules){.before = before};
	mp_names_set_rules(n, &rules);
	for (int i = 0; i < MP_LIMIT_TOOLS; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%c%d", kind, i);
		REQUIRE(add(n, "s", name) == 0);
	}
	return mp_names_finish(n) == 0;
}

/* A server that invents names all the time fills nothing: its oldest names are forgotten. */
HEAVY_TEST(former_names_of_a_server_have_a_ceiling)
{
	MP_CLEANUP(mp_names_freep) struct mp_names *second = mp_names_new(MP_NAMING_SERVER);
	MP_CLEANUP(mp_names_freep) struct mp_names *third = mp_names_new(MP_NAMING_SERVER);
	NAMES(MP_NAMING_SERVER);

	CHECK(fill_generation(n, NULL, 'a'));
	CHECK(fill_generation(second, n, 'b'));
	CHECK_EQ(second->former.len, MP_LIMIT_TOOLS);
	CHECK(fill_generation(third, second, 'c'));
	CHECK_EQ(third->former.len, MP_LIMIT_TOOLS);
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
