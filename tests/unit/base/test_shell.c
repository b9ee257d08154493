/*
 * test_shell.c - words that a shell reads as one.
 */
#include "test.h"

#include <stdio.h>

#include "base/shell.h"

static bool is_added_as(struct mp_str word, const char *want)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 200);
	REQUIRE(mp_shell_add_word(&out, word) == 0 && mp_buf_terminate(&out) == 0);
	if (strcmp(out.data, want) != 0)
		fprintf(stderr, "%s and not %s\n", out.data, want);
	return strcmp(out.data, want) == 0;
}

TEST(a_shell_reads_one_word)
{
	CHECK(is_added_as(MP_STR("/usr/bin/node"), "/usr/bin/node"));
	CHECK(is_added_as(MP_STR("a_b-c:1=2@3%4+5,6"), "a_b-c:1=2@3%4+5,6"));
	CHECK(is_added_as(MP_STR("a --yes"), "'a --yes'"));
	CHECK(is_added_as(MP_STR("$(x);`y`\n"), "'$(x);`y`\n'"));
	CHECK(is_added_as(MP_STR("it's"), "'it'\\''s'"));
	CHECK(is_added_as(MP_STR("~"), "'~'"));
	CHECK(is_added_as(MP_STR(""), "''"));
}

TEST(what_does_not_fit_is_an_error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4);
	CHECK(mp_shell_add_word(&out, MP_STR("a b c")) < 0);
}

/* What is printed as `mcpool trust NAME` must not become an option when it is pasted. */
TEST(a_name_never_becomes_an_option)
{
	CHECK_TEXT(MP_SHELL_NAME("files"), "files");
	CHECK_TEXT(MP_SHELL_NAME("a --yes"), "'a --yes'");
	CHECK_TEXT(MP_SHELL_NAME("--yes"), "");
	CHECK_TEXT(MP_SHELL_NAME("a;b"), "'a;b'");
}
