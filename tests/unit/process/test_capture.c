/*
 * test_capture.c - command lines split into words. That commands are run is tested by
 * config/test_command.c.
 */
#include "test.h"

#include <stdio.h>

#include "process/capture.h"

static bool splits(const char *line, const char *want)
{
	char words[200], got[200] = "", *argv[6];
	int n;

	snprintf(words, sizeof(words), "%s", line);
	n = mp_capture_split(words, argv, MP_ARRAY_LEN(argv));
	REQUIRE(n > 0 && !argv[n]);
	for (int i = 0; i < n; i++)
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%s]", argv[i]);
	REQUIRE(test_same_text(mp_str_of(got), mp_str_of(want), line, __FILE__, __LINE__));
	return true;
}

static int refuses(const char *line)
{
	char words[200], *argv[6];

	snprintf(words, sizeof(words), "%s", line);
	return mp_capture_split(words, argv, MP_ARRAY_LEN(argv));
}

TEST(a_command_line_is_split_without_a_shell)
{
	CHECK(splits("pass", "[pass]"));
	CHECK(splits("  pass  show\tmcpool\n", "[pass][show][mcpool]"));
	CHECK(splits("a 'b c' \"d e\" f\\ g", "[a][b c][d e][f g]"));
	CHECK(splits("a '' \"\"", "[a][][]"));
	CHECK(splits("x'y z'\"q\"", "[xy zq]"));
	CHECK(splits("a '\\' \"\\\"\"", "[a][\\][\"]"));
	CHECK(splits("a $(b) `c` *", "[a][$(b)][`c`][*]"));
	CHECK(splits("a b c d e", "[a][b][c][d][e]"));
	CHECK(splits("a\\", "[a\\]"));
}

TEST(an_open_quote_and_too_many_words_are_refused)
{
	CHECK_EQ(refuses(""), MCPOOL_EINVAL);
	CHECK_EQ(refuses("  \t"), MCPOOL_EINVAL);
	CHECK_EQ(refuses("a 'b"), MCPOOL_EINVAL);
	CHECK_EQ(refuses("a \"b\\\""), MCPOOL_EINVAL);
	CHECK_EQ(refuses("a b c d e f"), MCPOOL_EINVAL);
}
