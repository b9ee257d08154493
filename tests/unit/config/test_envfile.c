/*
 * test_envfile.c - files with lines NAME=value.
 */
#include "home.h"

#include "base/limits.h"
#include "config/values/envfile.h"

/* The variables with a | behind each; or the error's message. */
static const char *parse(const char *text, size_t n)
{
	static char all[2000];
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	char **env = NULL;

	mp_arena_init(&arena, MP_KIB(64));
	all[0] = '\0';
	if (mp_envfile_parse((struct mp_str){text, n}, "x.env", &arena, &env, &why) < 0)
		return why.message;
	for (size_t i = 0; env[i]; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s|", env[i]);
	return all;
}

#define PARSE(text) parse(text, sizeof(text) - 1)

/* U5 N2 */
TEST(names_and_values)
{
	CHECK_TEXT(PARSE("A=1\nB_2=two words\n"), "A=1|B_2=two words|");
	CHECK_TEXT(PARSE("A=1"), "A=1|");
	CHECK_TEXT(PARSE(""), "");
	CHECK_TEXT(PARSE("\r\n  A = 1 \r\n"), "A=1|");
	CHECK_TEXT(PARSE("A=\nB=b=c\n"), "A=|B=b=c|");
}

TEST(comments_and_export)
{
	CHECK_TEXT(PARSE("# A=1\n  # B\nexport C=3\nexport  D=4 # four\nE=5#five\n"),
		   "C=3|D=4|E=5#five|");
	CHECK_TEXT(PARSE("exported=1\n"), "exported=1|");
}

TEST(quotes)
{
	CHECK_TEXT(PARSE("A=\"a # b\" # c\nB='it is \\n $HOME'\n"), "A=a # b|B=it is \\n $HOME|");
	CHECK_TEXT(PARSE("A=\"x\\ty\\\"z\\\\\\n\"\n"), "A=x\ty\"z\\\n|");
	CHECK_TEXT(PARSE("A=''\nB=\"\"\n"), "A=|B=|");
	CHECK_TEXT(PARSE("A=it's\n"), "A=it's|");
}

TEST(nothing_is_expanded)
{
	CHECK_TEXT(PARSE("A=${HOME}/x\nB=!id\nC=$(id)\n"), "A=${HOME}/x|B=!id|C=$(id)|");
}

TEST(other_lines_are_mistakes_with_a_number)
{
	CHECK_TEXT(PARSE("A=1\n\nnonsense\n"), "x.env:3: a line must be NAME=value");
	CHECK_TEXT(PARSE("=1\n"), "x.env:1: a line must be NAME=value");
	CHECK_TEXT(PARSE("1A=1\n"), "x.env:1: a line must be NAME=value");
	CHECK_TEXT(PARSE("A-B=1\n"), "x.env:1: a line must be NAME=value");
	CHECK_TEXT(PARSE("A=\"open\n"), "x.env:1: a line must be NAME=value");
	CHECK_TEXT(PARSE("A=\"x\" y\n"), "x.env:1: a line must be NAME=value");
	CHECK_TEXT(PARSE("A=1\0B=2\n"), "x.env:1: a line must be NAME=value");
}

TEST(a_file_is_named_in_the_message)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	char **env = NULL;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK(folder_make() && put("a.env", "A=1\n"));
	CHECK_EQ(mp_envfile_read(in("a.env"), &arena, &env, &why), 0);
	CHECK_TEXT(env[0], "A=1");
	CHECK(!env[1]);
	CHECK_EQ(mp_envfile_read(in("none.env"), &arena, &env, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "none.env: there is no such file"));
	CHECK_EQ(mp_envfile_read(test_folder, &arena, &env, &why), MCPOOL_EINVAL);
}
