/*
 * test_aliases.c - from any spelling of a name to the one row that it means.
 */
#include "test.h"

#include "session/aliases.h"

static struct mp_aliases *a;
static size_t candidates;

static void forget(int *unused)
{
	(void)unused;
	a = mp_aliases_free(a);
}

#define NAME(public, server_, name_) \
	(&(struct mp_name){          \
		.public_name = MP_STR(public), .server = MP_STR(server_), .name = MP_STR(name_)})

#define INDEX(...)                                                                  \
	struct mp_name *rows[] = {__VA_ARGS__};                                     \
	MP_CLEANUP(forget) int mine = mp_aliases_new(rows, MP_ARRAY_LEN(rows), &a); \
	CHECK_EQ(mine, 0)

static const struct mp_name *find(const char *text)
{
	return mp_aliases_find(a, mp_str_of(text), &candidates);
}

/* U19 B44 */
TEST(every_spelling_finds_its_row)
{
	static const char *const spellings[] = {
		"mcp__My-S3__Get 2", "mcp__My-S3__Get_2", "mcp_my_s3_get_2", "mcp__my_s3_get_2",
		"mcp_my_s_get",      "My-S3__Get_2",      "Get 2",           "My-S3.Get 2",
		"My-S3/Get 2",       "My-S3:Get 2"};
	INDEX(NAME("mcp__other__x", "other", "x"), NAME("public", "My-S3", "Get 2"));

	CHECK(!find(spellings[0])); /* not a spelling */
	CHECK_EQ(candidates, 0);
	for (size_t i = 1; i < MP_ARRAY_LEN(spellings); i++) {
		CHECK(find(spellings[i]) == rows[1]);
		CHECK_EQ(candidates, 1);
	}
	CHECK(find("x") == rows[0]);
}

/* U19 */
TEST(case_is_the_last_resort)
{
	INDEX(NAME("p1", "a", "Read"), NAME("p2", "b", "read"), NAME("p3", "c", "WRITE"));

	CHECK(find("Read") == rows[0]);
	CHECK(find("read") == rows[1]);
	CHECK(!find("READ"));
	CHECK_EQ(candidates, 2);
	CHECK(find("write") == rows[2]);
	CHECK(find("P3") == rows[2]);
	CHECK(find("MCP__A__READ") == rows[0]);
}

/* U19 */
TEST(what_could_mean_two_means_none)
{
	INDEX(NAME("p1", "a", "read"), NAME("p2", "b", "read"), NAME("p3", "c", "a.read"));

	CHECK(!find("read"));
	CHECK_EQ(candidates, 2);
	CHECK(!find("a.read")); /* a's read, or c's a.read */
	CHECK_EQ(candidates, 2);
	CHECK(find("a/read") == rows[0]);
	CHECK(find("c.a.read") == rows[2]);
}

/* Two spellings of one row that are the same do not make it two. */
TEST(a_row_is_counted_once)
{
	INDEX(NAME("s__t", "s", "t"));

	CHECK(find("s__t") == rows[0]);
	CHECK_EQ(candidates, 1);
	CHECK(find("S__T") == rows[0]);
}

TEST(nothing_and_too_much)
{
	char text[1000];

	memset(text, 'x', sizeof(text));
	{
		INDEX(NAME("p", "s", "t"));
		CHECK(!mp_aliases_find(a, (struct mp_str){text, sizeof(text)}, &candidates));
		CHECK(!mp_aliases_find(a, (struct mp_str){0}, &candidates));
		CHECK_EQ(candidates, 0);
	}
	CHECK_EQ(mp_aliases_new(NULL, 0, &a), 0);
	CHECK(!find("x"));
	CHECK(!find(""));
	forget(NULL);
}
