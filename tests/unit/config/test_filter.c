/*
 * test_filter.c - allow and deny lists of names.
 */
#include "test.h"

#include "config/values/filter.h"

static bool matches(const char *pattern, const char *name)
{
	return mp_filter_matches(mp_str_of(pattern), mp_str_of(name));
}

#define LIST(...)                                              \
	(&(struct mp_bind_list){(const char *[]){__VA_ARGS__}, \
				sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)})

static bool passes(const struct mp_bind_list *allowed, const struct mp_bind_list *denied,
		   const char *name)
{
	return mp_filter_lets_pass(allowed, denied, mp_str_of(name));
}

/* E22 X25 U20 */
TEST(a_star_and_any_are_for_all)
{
	CHECK(matches("*", "search"));
	CHECK(matches("*", ""));
	CHECK(matches("any", "search"));
	CHECK(matches("ANY", "search"));
	CHECK(matches(" Any\t", "search"));
	CHECK(!matches("any_", "search"));
	CHECK(matches("any*", "anything"));
}

/* E23 X25 */
TEST(case_and_blanks_do_not_count)
{
	CHECK(matches("Search_Code", "search_code"));
	CHECK(matches("search_code", "SEARCH_CODE"));
	CHECK(matches("Query_*", "qUERY_LOGS") &&
	      matches("*_LOGS", "query_logs")); /* nor in globs */
	CHECK(matches(" search\n", "search"));
	CHECK(!matches("search", "search2"));
	CHECK(!matches("search", "searc"));
	CHECK(!matches("", "search"));
	CHECK(matches("", ""));
	CHECK(!matches("[", "{")); /* no letters: one bit apart, and different */
	CHECK(!matches("@", "`"));
}

/* E22 X25 U20 */
TEST(globs)
{
	CHECK(matches("query_*", "query_logs"));
	CHECK(matches("query_*", "query_"));
	CHECK(!matches("query_*", "query"));
	CHECK(matches("*_logs", "query_logs"));
	CHECK(!matches("*_logs", "query_logs_all"));
	CHECK(matches("*a*b*", "xxaxxbxx"));
	CHECK(!matches("*a*b*", "xxbxxaxx"));
	CHECK(matches("**x", "x"));
	CHECK(matches("*ab", "aab"));
	CHECK(matches("a?c", "abc"));
	CHECK(!matches("a?c", "ac"));
	CHECK(!matches("?", ""));
}

TEST(one_character_may_have_many_bytes)
{
	CHECK(matches("a?c", "a\xc3\xa9"
			     "c"));
	CHECK(matches("?", "\xf0\x9f\x98\x80"));
	CHECK(!matches("??", "\xf0\x9f\x98\x80"));
	CHECK(!matches("*??", "\xf0\x9f\x98\x80")); /* a star takes no half of one */
	CHECK(matches("?", "\xff"));                /* no UTF-8: a byte is one */
	CHECK(matches("\xc3\xa9*", "\xc3\xa9t\xc3\xa9"));
}

TEST(sets)
{
	CHECK(matches("tool_[0-9]", "tool_7"));
	CHECK(!matches("tool_[0-9]", "tool_x"));
	CHECK(!matches("tool_[0-9]", "tool_"));
	CHECK(matches("[a-c]x", "Bx"));
	CHECK(matches("[A-C]x", "bx"));
	CHECK(matches("[!0-9]*", "tool"));
	CHECK(!matches("[!0-9]*", "7tool"));
	CHECK(matches("[^0-9]", "x"));
	CHECK(matches("[]]", "]"));
	CHECK(matches("[a-]", "-"));
	CHECK(!matches("[ab]", "\xc3\xa9"));
	CHECK(matches("[!ab]", "\xc3\xa9"));
}

TEST(a_set_that_does_not_close_is_text)
{
	CHECK(matches("a[b", "a[b"));
	CHECK(!matches("a[b", "ab"));
	CHECK(matches("[]", "[]"));
	CHECK(matches("[!]", "[!]"));
	CHECK(matches("[", "["));
}

/* Backtracking into every star would take longer than anyone waits. */
TEST(many_stars_are_no_trouble)
{
	char pattern[201], name[4001];

	for (size_t i = 0; i < 200; i += 2)
		memcpy(pattern + i, "a*", 2);
	pattern[199] = 'b';
	pattern[200] = '\0';
	memset(name, 'a', 4000);
	name[4000] = '\0';
	CHECK(!matches(pattern, name));
	name[3999] = 'b';
	CHECK(matches(pattern, name));
}

/* E21 */
TEST(allowed_and_not_denied)
{
	CHECK(passes(NULL, NULL, "x"));
	CHECK(passes(&(struct mp_bind_list){0}, &(struct mp_bind_list){0}, "x"));
	CHECK(passes(LIST("*"), NULL, "x"));
	CHECK(passes(LIST("a", "b"), NULL, "b"));
	CHECK(!passes(LIST("a", "b"), NULL, "c"));
	CHECK(!passes(NULL, LIST("b", "c"), "c"));
	CHECK(passes(NULL, LIST("b", "c"), "a"));
	CHECK(!passes(LIST("*"), LIST("delete_*"), "delete_all"));
	CHECK(passes(LIST("*"), LIST("delete_*"), "list_all"));
	CHECK(!passes(LIST("delete_all"), LIST("any"), "delete_all"));
	CHECK(!passes(LIST(""), NULL, "x")); /* a list, though of nothing */
}

/* Tools in the list "deny" of the settings: SERVER/TOOL, where both may have slashes. */
TEST(tools_of_a_server_are_denied_by_their_names)
{
	const struct mp_bind_list *names =
		LIST("web", "web/a", "web/", "web/b*", "we/c", "a/web/d");
	struct mp_bind_list denied = *LIST("x");
	struct mp_arena arena;
	int r;

	mp_arena_init(&arena, 4096);
	r = mp_filter_deny_tools(names, "other", &arena, &denied);
	CHECK(r == 0 && denied.n == 1);
	r = mp_filter_deny_tools(names, "web", &arena, &denied);
	if (r == 0) {
		CHECK_EQ(denied.n, 3);
		CHECK(!passes(NULL, &denied, "x") && !passes(NULL, &denied, "a") &&
		      !passes(NULL, &denied, "b2"));
		CHECK(passes(NULL, &denied, "c") && passes(NULL, &denied, "d") &&
		      passes(NULL, &denied, "web"));
	}
	CHECK(r == 0 || r == MCPOOL_ENOMEM);
	if (r == 0)
		r = mp_filter_deny_tools(names, "a/web", &arena, &denied);
	if (r == 0)
		CHECK(denied.n == 4 && !passes(NULL, &denied, "d"));
	mp_arena_done(&arena);
}
