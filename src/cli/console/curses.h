/*
 * curses.h - the functions of libncursesw that top_screen.c calls.
 * The library is loaded by `top` alone, so no other verb pays for it or needs it. Declared here as
 * <curses.h> declares them for wide characters; a unit test compares both where that file is.
 */
#ifndef MP_CURSES_H
#define MP_CURSES_H

#include <stdio.h>
#include <wchar.h>

#include "base/base.h"

struct screen;  /* the library's SCREEN */
struct _win_st; /* the library's WINDOW */

#define MP_CURSES_FUNCTIONS(X)                                      \
	X(struct screen *, newterm, (const char *, FILE *, FILE *)) \
	X(void, delscreen, (struct screen *))                       \
	X(int, endwin, (void))                                      \
	X(int, cbreak, (void))                                      \
	X(int, noecho, (void))                                      \
	X(int, nonl, (void))                                        \
	X(int, keypad, (struct _win_st *, bool))                    \
	X(int, nodelay, (struct _win_st *, bool))                   \
	X(int, set_escdelay, (int))                                 \
	X(int, curs_set, (int))                                     \
	X(bool, has_colors, (void))                                 \
	X(int, start_color, (void))                                 \
	X(int, use_default_colors, (void))                          \
	X(int, init_pair, (short, short, short))                    \
	X(int, wget_wch, (struct _win_st *, wint_t *))              \
	X(int, werase, (struct _win_st *))                          \
	X(int, wmove, (struct _win_st *, int, int))                 \
	X(int, wattrset, (struct _win_st *, int))                   \
	X(int, waddnstr, (struct _win_st *, const char *, int))     \
	X(int, wnoutrefresh, (struct _win_st *))                    \
	X(int, doupdate, (void))                                    \
	X(int, clearok, (struct _win_st *, bool))                   \
	X(int, resizeterm, (int, int))                              \
	X(char *, tigetstr, (const char *))

struct mp_curses {
#define MP_X(type, name, parameters) type(*name) parameters;
	MP_CURSES_FUNCTIONS(MP_X)
#undef MP_X
	struct _win_st **stdscr; /* set by newterm() */
};

enum {
	MP_CURSES_IS_KEY = 0400, /* of wget_wch(): a key and not a character */
	MP_CURSES_DOWN = 0402,
	MP_CURSES_UP = 0403,
	MP_CURSES_HOME = 0406,
	MP_CURSES_BACKSPACE = 0407,
	MP_CURSES_NEXT_PAGE = 0522,
	MP_CURSES_PREVIOUS_PAGE = 0523,
	MP_CURSES_ENTER = 0527,
	MP_CURSES_END = 0550,
	MP_CURSES_REVERSE = 1 << 18, /* of wattrset() */
	MP_CURSES_DIM = 1 << 20,
	MP_CURSES_BOLD = 1 << 21,
	MP_CURSES_PAIR = 1 << 8, /* times the number of a pair of colours */
	MP_CURSES_RED = 1,
	MP_CURSES_YELLOW = 3,
};

/* NULL: the library, or one of the functions, is missing. */
const struct mp_curses *mp_curses_load(void);

#endif
