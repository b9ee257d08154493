/* test_curses.c - what we declare of ncurses is what its header declares, where that is there. */
#include "test.h"

#include <dlfcn.h>

#include "cli/console/curses.h"

TEST(every_function_is_in_the_library)
{
	CHECK(mp_curses_load() || !dlopen("libncursesw.so.6", RTLD_NOW));
}

#if __has_include(<curses.h>)
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

TEST(the_declarations_are_those_of_the_header)
{
#define MP_X(type, name, parameters) \
	CHECK(__builtin_types_compatible_p(typeof(((struct mp_curses *)0)->name), typeof(&(name))));
	MP_CURSES_FUNCTIONS(MP_X)
#undef MP_X
	CHECK(__builtin_types_compatible_p(typeof(stdscr), struct _win_st *));
	CHECK_EQ(MP_CURSES_IS_KEY, KEY_CODE_YES);
	CHECK_EQ(MP_CURSES_DOWN, KEY_DOWN);
	CHECK_EQ(MP_CURSES_UP, KEY_UP);
	CHECK_EQ(MP_CURSES_HOME, KEY_HOME);
	CHECK_EQ(MP_CURSES_END, KEY_END);
	CHECK_EQ(MP_CURSES_BACKSPACE, KEY_BACKSPACE);
	CHECK_EQ(MP_CURSES_NEXT_PAGE, KEY_NPAGE);
	CHECK_EQ(MP_CURSES_PREVIOUS_PAGE, KEY_PPAGE);
	CHECK_EQ(MP_CURSES_ENTER, KEY_ENTER);
	CHECK_EQ(MP_CURSES_REVERSE, (int)A_REVERSE);
	CHECK_EQ(MP_CURSES_DIM, (int)A_DIM);
	CHECK_EQ(MP_CURSES_BOLD, (int)A_BOLD);
	CHECK_EQ(MP_CURSES_PAIR, 1 << NCURSES_ATTR_SHIFT);
	CHECK_EQ(MP_CURSES_RED, COLOR_RED);
	CHECK_EQ(MP_CURSES_YELLOW, COLOR_YELLOW);
}
#endif
