/*
 * top_screen.c - the terminal as a screen of lines, by ncurses.
 */
#include "cli/console/top_screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/console/curses.h"
#include "cli/display/cli.h"

enum { ESCAPE_MS = 25, RED_PAIR = 1, YELLOW_PAIR = 2 };

struct mp_top_screen {
	const struct mp_curses *c;
	struct screen *screen; /* owned by the library */
	int columns, lines;
	bool has_color;
};

/* For an end in the middle: exit() and abort() must not leave the terminal as it is. */
static const struct mp_curses *restoring;

static void screen_restore(void)
{
	if (restoring)
		restoring->endwin();
	restoring = NULL;
}

static void on_abort(int number)
{
	screen_restore();
	signal(number, SIG_DFL);
	raise(number);
}

/* --- life ------------------------------------------------------------------------------------ */

static bool screen_measure(struct mp_top_screen *s)
{
	struct winsize size = {0};
	bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
	int columns = is_known ? size.ws_col : 80, lines = is_known ? size.ws_row : 24;
	bool is_new = columns != s->columns || lines != s->lines;

	s->columns = columns;
	s->lines = lines;
	return is_new;
}

/* A terminal that the library does not know is most likely one like xterm. */
static struct screen *screen_begin(const struct mp_curses *c)
{
	const char *term = getenv("TERM");
	struct screen *screen = NULL;

	if (term && term[0] && strcmp(term, "dumb") != 0)
		screen = c->newterm(term, stdout, stdin);
	if (!screen && term && term[0] && strcmp(term, "dumb") != 0)
		screen = c->newterm("xterm-256color", stdout, stdin);
	return screen;
}

static void screen_set_up(struct mp_top_screen *s)
{
	const struct mp_curses *c = s->c;

	c->set_escdelay(ESCAPE_MS);
	c->cbreak();
	c->noecho();
	c->nonl(); /* Enter is 13, and Ctrl-J another key */
	c->keypad(*c->stdscr, true);
	c->nodelay(*c->stdscr, true);
	c->curs_set(0);
	s->has_color = mp_print_has_color() && c->has_colors();
	if (!s->has_color)
		return;
	c->start_color();
	c->use_default_colors();
	c->init_pair(RED_PAIR, MP_CURSES_RED, -1);
	c->init_pair(YELLOW_PAIR, MP_CURSES_YELLOW, -1);
}

#define INSTEAD "; `mcpool status --watch` shows the same table without it"

int mp_top_screen_open(struct mp_top_screen **ret, struct mcpool_error *reterr)
{
	const struct mp_curses *c;
	struct mp_top_screen *s;
	struct screen *screen;
	const char *cup;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return mp_fail(reterr, MCPOOL_EINVAL, "top needs a terminal" INSTEAD);
	c = mp_curses_load();
	if (!c)
		return mp_fail(reterr, MCPOOL_ENOENT,
			       "top needs libncursesw.so.6: install the package libncursesw6, or "
			       "ncurses-libs" INSTEAD);
	screen = screen_begin(c);
	cup = screen ? c->tigetstr("cup") : NULL; /* -1: not a text */
	if (!screen || !cup || cup == (const char *)-1) {
		if (screen)
			c->endwin();
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "top needs a terminal with a cursor, and TERM is \"%s\"" INSTEAD,
			       getenv("TERM") ? getenv("TERM") : "");
	}
	s = mp_alloc(sizeof(*s));
	s->c = c;
	s->screen = screen;
	screen_measure(s);
	screen_set_up(s);
	restoring = c;
	atexit(screen_restore);
	signal(SIGABRT, on_abort);
	*ret = s;
	return 0;
}

struct mp_top_screen *mp_top_screen_close(struct mp_top_screen *s)
{
	if (!s)
		return NULL;
	signal(SIGABRT, SIG_DFL);
	restoring = NULL;
	s->c->endwin();
	s->c->delscreen(s->screen);
	return mp_free(s);
}

void mp_top_screen_leave(struct mp_top_screen *s)
{
	s->c->endwin();
}

void mp_top_screen_return(struct mp_top_screen *s)
{
	mp_top_screen_resize(s);
	s->c->clearok(*s->c->stdscr, true);
	s->c->curs_set(0);
}

void mp_top_screen_resize(struct mp_top_screen *s)
{
	if (screen_measure(s))
		s->c->resizeterm(s->lines, s->columns);
}

/* --- drawing --------------------------------------------------------------------------------- */

struct mp_live_room mp_top_screen_get_room(const struct mp_top_screen *s)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (struct mp_live_room){
		.columns = (size_t)s->columns,
		.lines = (size_t)s->lines,
		.has_color = s->has_color,
		.wall_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000,
	};
}

/* The attributes after one sequence as "\033[31m". */
static int screen_read_attributes(struct mp_str sequence, int attributes)
{
	static const struct {
		const char *sequence;
		int attributes;
	} rows[] = {
		{"\033[0m", 0},
		{"\033[1m", MP_CURSES_BOLD},
		{"\033[2m", MP_CURSES_DIM},
		{"\033[31m", RED_PAIR * MP_CURSES_PAIR},
		{"\033[33m", YELLOW_PAIR * MP_CURSES_PAIR},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (mp_str_eq(sequence, mp_str_of(rows[i].sequence)))
			return rows[i].attributes ? attributes | rows[i].attributes : 0;
	return attributes;
}

static void screen_show_line(struct mp_top_screen *s, struct mp_str line, bool is_marked)
{
	int mark = is_marked ? MP_CURSES_REVERSE : 0, attributes = 0;
	struct _win_st *window = *s->c->stdscr;

	s->c->wattrset(window, mark);
	while (line.len) {
		const char *escape = memchr(line.p, '\033', line.len), *end;
		size_t n = escape ? (size_t)(escape - line.p) : line.len;

		s->c->waddnstr(window, line.p, (int)n);
		line = (struct mp_str){line.p + n, line.len - n};
		end = escape ? memchr(escape, 'm', line.len) : NULL;
		if (!end)
			break;
		n = (size_t)(end + 1 - escape);
		attributes = screen_read_attributes((struct mp_str){escape, n}, attributes);
		s->c->wattrset(window, attributes | mark);
		line = (struct mp_str){line.p + n, line.len - n};
	}
	s->c->wattrset(window, 0);
}

void mp_top_screen_show(struct mp_top_screen *s, struct mp_str text, size_t marked)
{
	struct _win_st *window = *s->c->stdscr;

	s->c->werase(window);
	for (int row = 0; row < s->lines && text.len; row++) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t n = end ? (size_t)(end - text.p) : text.len;

		s->c->wmove(window, row, 0);
		screen_show_line(s, (struct mp_str){text.p, n}, (size_t)row == marked);
		n += end ? 1 : 0;
		text = (struct mp_str){text.p + n, text.len - n};
	}
	s->c->wmove(window, s->lines - 1, 0);
	s->c->wnoutrefresh(window);
	s->c->doupdate();
}

/* --- keys ------------------------------------------------------------------------------------ */

int mp_top_screen_get_key(struct mp_top_screen *s)
{
	static const struct {
		wint_t theirs;
		int ours;
	} rows[] = {
		{MP_CURSES_UP, MP_TOP_KEY_UP},
		{MP_CURSES_DOWN, MP_TOP_KEY_DOWN},
		{MP_CURSES_PREVIOUS_PAGE, MP_TOP_KEY_PAGE_UP},
		{MP_CURSES_NEXT_PAGE, MP_TOP_KEY_PAGE_DOWN},
		{MP_CURSES_HOME, MP_TOP_KEY_HOME},
		{MP_CURSES_END, MP_TOP_KEY_END},
		{MP_CURSES_BACKSPACE, MP_TOP_KEY_BACKSPACE},
		{MP_CURSES_ENTER, MP_TOP_KEY_ENTER},
	};
	wint_t key = 0;
	int kind = s->c->wget_wch(*s->c->stdscr, &key);

	if (kind < 0)
		return MP_TOP_KEY_NONE;
	if (kind != MP_CURSES_IS_KEY)
		return key == 127 || key == 8 ? MP_TOP_KEY_BACKSPACE
		       : key == 0             ? MP_TOP_KEY_OTHER
					      : (int)key;
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (rows[i].theirs == key)
			return rows[i].ours;
	return MP_TOP_KEY_OTHER;
}
