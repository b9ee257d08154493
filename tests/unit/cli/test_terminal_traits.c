/* test_terminal_traits.c - what a terminal says of itself; cli/test_media.sh asks one. */
#include "test.h"

#include "cli/display/terminal_traits.h"

static bool has(const char *read, unsigned attribute)
{
	return mp_terminal_has_attribute(mp_terminal_find_attributes(mp_str_of(read)), attribute);
}

TEST(attributes_behind_the_class)
{
	CHECK(has("\033[?62;4;22c", 4));
	CHECK(has("\033[?62;22;4c", 4));
	CHECK(has("typed\033[A\033[?1;2\033[?63;1;4cmore", 4));
	CHECK(!has("\033[?4;6c", 4)); /* a VT132 */
	CHECK(!has("\033[?62;14;44c", 4));
	CHECK(!has("\033[?62;4", 4)); /* not whole yet */
	CHECK(!has("\033[?62;c", 4));
	CHECK(!has("\033[?c", 4));
	CHECK(!has("\033[>62;4c", 4)); /* secondary ones */
	CHECK(!has("\033[?62;99999999999999999999999999999994;1c", 4));
	CHECK(!has("", 4));
	CHECK_EQ(mp_terminal_find_attributes((struct mp_str){"\033[?1\0;4c", 9}).len, 0);
}
