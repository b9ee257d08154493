/* test_agent_show.c - what would be done to an agent's file, shown before it is done. */
#include "test.h"

#include "base/limits.h"
#include "cli/agents/agent_show.h"

static bool diff_is(const char *old, const char *new, const char *wanted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(64));
	REQUIRE(mp_agent_show_diff(mp_str_of(old), mp_str_of(new), &text) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&text), mp_str_of(wanted)));
	return true;
}

TEST(only_what_differs_is_shown)
{
	CHECK(diff_is("a\nb\nc\n", "a\nb\nx\ny\nc\n", "  + x\n  + y\n"));
	CHECK(diff_is("a\nb\nc\n", "a\nc\n", "  - b\n"));
	CHECK(diff_is("a\nb", "a\nb,\nc", "  - b\n  + b,\n  + c\n"));
	CHECK(diff_is("", "a\r\n", "  + a\n"));
	CHECK(diff_is("same\n", "same\n", ""));
}

/* A file in one line holds everything, tokens and tricks included. */
TEST(neither_secrets_nor_tricks_are_shown)
{
	CHECK(diff_is(
		"{\"API_TOKEN\": \"abcdef0123456789\"}", "\x1b[2J",
		"  - {\"API_TOKEN\": \"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\"}\n  + \\x1b[2J\n"));
}

TEST(a_command_can_be_pasted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *const argv[] = {"code", "--add-mcp", "{\"a\": \"it's\"}", "", NULL};

	mp_buf_init(&text, MP_KIB(16));
	CHECK_EQ(mp_agent_show_command(argv, &text), 0);
	CHECK_STR(mp_buf_get(&text), "code --add-mcp '{\"a\": \"it'\\''s\"}' ''");
}
