/*
 * screen.c - a terminal with scrolling log lines and, below them, the table of all servers.
 * The table is drawn over itself, so the scrollback has only the log. While the terminal accepts no
 * output (Ctrl-S) nothing is drawn: that must not block the pool.
 */
#include "cli/display/screen.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/display/cli.h"
#include "cli/display/live_table.h"
#include "cli/display/safe.h"

enum {
	SPACING_MS = 100, /* between two drawings */
	TICK_MS = 1000,   /* for clocks, and for lines of other threads */
	MOST_LINES = 512,
};

struct mp_screen {
	struct mp_hub *hub;
	struct mp_observer observer;
	struct mp_timer timer; /* the next drawing */
	struct mp_timer tick;
	int64_t drawn_ms;
	pthread_t loop_thread;
	pthread_mutex_t lock; /* of news: several threads log */
	struct mp_buf news;   /* safe lines not yet shown */
	size_t dropped;       /* lines that did not fit */
	struct mp_buf shown;  /* the table on the terminal now */
	bool has_color;
	bool has_file;             /* stderr is redirected, and gets the log too */
	size_t widths[MOST_LINES]; /* of its lines, which a narrower terminal wraps */
	size_t n_lines;
};

/* --- requests -------------------------------------------------------------------------------- */

static void ask_for_drawing(struct mp_screen *s)
{
	int64_t left = s->drawn_ms + SPACING_MS - mp_loop_now_ms(s->hub->loop);

	if (!mp_timer_is_running(&s->timer))
		mp_timer_start(&s->timer, left > 0 ? left : 0);
}

static void add_news(struct mp_screen *s, struct mp_str line, enum mp_safe_kind kind)
{
	size_t before;

	pthread_mutex_lock(&s->lock);
	before = s->news.len;
	if (mp_safe_add(&s->news, line, kind) < 0 || mp_buf_add_char(&s->news, '\n') < 0) {
		s->news.len = before;
		s->dropped++;
	}
	pthread_mutex_unlock(&s->lock);
	if (pthread_equal(pthread_self(), s->loop_thread))
		ask_for_drawing(s);
}

void mp_screen_say(struct mp_screen *s, struct mp_str text)
{
	add_news(s, text, MP_SAFE_TEXT);
}

static void screen_logged(const struct mp_log_line *line, void *u)
{
	time_t seconds = (time_t)(line->wall_ms / 1000);
	struct mp_screen *s = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct tm tm;
	char when[16];

	mp_buf_init(&text, (size_t)16 * MP_LIMIT_LOG_LINE);
	if (!localtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%H:%M:%S", &tm))
		when[0] = '\0';
	if (mp_buf_addf(&text, "%s %s %s%s%s", when, mp_level_get_name(line->level), line->object,
			line->object[0] ? ": " : "", line->text) < 0)
		return;
	add_news(s, mp_buf_get(&text), MP_SAFE_LINE);
	if (s->has_file)
		fprintf(stderr, "%.*s\n", MP_STR_ARGS(mp_buf_get(&text)));
}

/* --- drawing --------------------------------------------------------------------------------- */

static struct mp_live_room room_of(const struct mp_screen *s)
{
	struct winsize size = {.ws_row = 24};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		size.ws_row = 24;
	return (struct mp_live_room){
		.columns = mp_print_get_columns(STDOUT_FILENO),
		.lines = size.ws_row > 5 ? size.ws_row - 2U : 3,
		.has_color = s->has_color,
		.wall_ms = mp_loop_wall_now_ms(s->hub->loop),
	};
}

/* The width of a line without colors. */
static size_t measure_line(struct mp_str line)
{
	size_t width = 0;

	while (line.len) {
		const char *escape = memchr(line.p, '\033', line.len);
		size_t n = escape ? (size_t)(escape - line.p) : line.len;
		const char *end = escape ? memchr(escape, 'm', line.len - n) : NULL;

		width += mp_safe_get_width((struct mp_str){line.p, n});
		n = end ? (size_t)(end - line.p) + 1 : line.len;
		line = (struct mp_str){line.p + n, line.len - n};
	}
	return width;
}

static void note_widths(struct mp_screen *s, struct mp_str table)
{
	s->n_lines = 0;
	while (table.len && s->n_lines < MOST_LINES) {
		const char *end = memchr(table.p, '\n', table.len);
		size_t n = end ? (size_t)(end - table.p) : table.len;

		s->widths[s->n_lines++] = measure_line((struct mp_str){table.p, n});
		n += end ? 1 : 0;
		table = (struct mp_str){table.p + n, table.len - n};
	}
}

/* Move to the start of the table; a narrower terminal has wrapped its lines. */
static int add_way_back(const struct mp_screen *s, size_t columns, struct mp_buf *out)
{
	size_t up = 0;
	int r;

	for (size_t i = 0; i < s->n_lines; i++)
		up += s->widths[i] > columns ? (s->widths[i] + columns - 1) / columns : 1;
	if (up == 0)
		return 0;
	r = mp_buf_addf(out, "\r\033[%zuA", up);
	/* Clear line by line: tmux keeps what one sequence clears in its scrollback. */
	for (size_t i = 0; i < up && r == 0; i++)
		r = mp_buf_add_str(out, MP_STR("\033[2K\n"));
	return r < 0 ? r : mp_buf_addf(out, "\033[%zuA", up);
}

/* How much of a long line fits the first row, up to the last blank. */
static size_t find_break(struct mp_str line, size_t columns)
{
	size_t n = mp_safe_cut(line, columns), at = n;

	while (at > 0 && line.p[at] != ' ')
		at--;
	return at > n / 2 ? at : n; /* cut a longer word */
}

/* Do not wrap JSON, so that it can be copied. */
static int add_wrapped(struct mp_buf *out, struct mp_str line, size_t columns)
{
	static const char margin[] = "         "; /* as wide as the time of a log line */
	size_t room = columns - 1;
	int r = 0;

	while (r == 0 && line.len && line.p[0] != '{' && columns > 3 * strlen(margin) &&
	       mp_safe_get_width(line) > room) {
		size_t n = find_break(line, room), skip = n + (line.p[n] == ' ');

		r = mp_buf_addf(out, "%.*s\n%s", (int)n, line.p, margin);
		line = (struct mp_str){line.p + skip, line.len - skip};
		room = columns - 1 - strlen(margin);
	}
	return r < 0 ? r : mp_buf_addf(out, "%.*s\n", MP_STR_ARGS(line));
}

static int add_all_wrapped(struct mp_buf *out, struct mp_str lines, size_t columns)
{
	int r = 0;

	while (r == 0 && lines.len) {
		const char *end = memchr(lines.p, '\n', lines.len);
		size_t n = end ? (size_t)(end - lines.p) : lines.len;

		r = add_wrapped(out, (struct mp_str){lines.p, n}, columns);
		n += end ? 1 : 0;
		lines = (struct mp_str){lines.p + n, lines.len - n};
	}
	return r;
}

static int take_news(struct mp_screen *s, size_t columns, struct mp_buf *out)
{
	int r;

	pthread_mutex_lock(&s->lock);
	r = add_all_wrapped(out, mp_buf_get(&s->news), columns);
	if (r == 0 && s->dropped)
		r = mp_buf_addf(out, "(%zu lines more)\n", s->dropped);
	mp_buf_clear(&s->news);
	s->dropped = 0;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static bool has_news(struct mp_screen *s)
{
	bool has;

	pthread_mutex_lock(&s->lock);
	has = s->news.len > 0 || s->dropped > 0;
	pthread_mutex_unlock(&s->lock);
	return has;
}

static bool takes_output(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) > 0 && (p.revents & POLLOUT);
}

static enum mp_status_state screen_get_state(void *u, size_t i)
{
	return mp_workspace_get_state(u, i, 0);
}

static void screen_take(void *u, size_t i, struct mp_arena *arena, struct mp_status *ret)
{
	mp_status_take(u, i, 0, arena, ret);
}

/* A line that counts all servers, and their table. */
static int table_draw(struct mp_workspace *w, const struct mp_live_room *room, struct mp_buf *out)
{
	struct mp_live_servers servers = {.n = mp_workspace_count(w),
					  .get_state = screen_get_state,
					  .take = screen_take,
					  .u = w};
	struct mp_live_room rest = *room;
	int r = mp_buf_addf(out, "%smcpool, %zu server%s, ", room->has_color ? "\033[1m" : "",
			    servers.n, servers.n == 1 ? "" : "s");

	rest.lines--;
	if (r == 0)
		r = mp_live_add_counts(&servers, out);
	if (r == 0)
		r = mp_buf_addf(out, "%s\n", room->has_color ? "\033[0m" : "");
	return r < 0 ? r : mp_live_table_draw(&servers, &rest, out);
}

/* The last drawing has no table: only the log stays on the terminal. */
static void screen_draw(struct mp_screen *s, bool is_last)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf table, frame;
	struct mp_live_room room = room_of(s);
	struct mp_workspace *v = s->hub->workspace;

	mp_buf_init(&table, MP_MIB(4));
	mp_buf_init(&frame, MP_MIB(16));
	s->drawn_ms = mp_loop_now_ms(s->hub->loop);
	if (!is_last && v && mp_workspace_get_set(v) && table_draw(v, &room, &table) < 0)
		return;
	if (!has_news(s) && mp_str_eq(mp_buf_get(&table), mp_buf_get(&s->shown)))
		return;
	if (!takes_output() || add_way_back(s, room.columns, &frame) < 0 ||
	    take_news(s, room.columns, &frame) < 0 ||
	    mp_buf_add_str(&frame, mp_buf_get(&table)) < 0)
		return; /* the tick tries again */
	fwrite(frame.data, 1, frame.len, stdout);
	fflush(stdout);
	mp_buf_clear(&s->shown);
	if (mp_buf_add_str(&s->shown, mp_buf_get(&table)) < 0)
		mp_buf_clear(&s->shown); /* then it is drawn once more */
	note_widths(s, mp_buf_get(&table));
}

/* --- interface ------------------------------------------------------------------------------- */

static void time_to_draw(void *u)
{
	screen_draw(u, false);
}

static void screen_ticked(void *u)
{
	struct mp_screen *s = u;

	ask_for_drawing(s);
	mp_timer_start(&s->tick, TICK_MS);
}

static void screen_changed(const struct mp_change *changes, size_t n, void *u)
{
	(void)changes;
	(void)n;
	ask_for_drawing(u);
}

void mp_screen_resize(struct mp_screen *s)
{
	mp_buf_clear(&s->shown); /* draw all of it again */
	ask_for_drawing(s);
}

struct mp_screen *mp_screen_new(struct mp_hub *hub)
{
	struct mp_screen *s = mp_alloc(sizeof(*s));

	s->hub = hub;
	s->has_color = !getenv("NO_COLOR");
	s->has_file = !isatty(STDERR_FILENO);
	s->loop_thread = pthread_self();
	pthread_mutex_init(&s->lock, NULL);
	mp_buf_init(&s->news, MP_MIB(1));
	mp_buf_init(&s->shown, MP_MIB(4));
	mp_timer_init(&s->timer, hub->loop, time_to_draw, s);
	mp_timer_init(&s->tick, hub->loop, screen_ticked, s);
	mp_timer_start(&s->tick, TICK_MS);
	mp_observer_join(&hub->board, &s->observer, screen_changed, s);
	mp_log_set_sink(screen_logged, s);
	return s;
}

struct mp_screen *mp_screen_free(struct mp_screen *s)
{
	if (!s)
		return NULL;
	mp_log_set_sink(NULL, NULL);
	screen_draw(s, true);
	mp_observer_leave(&s->hub->board, &s->observer);
	mp_timer_stop(&s->timer);
	mp_timer_stop(&s->tick);
	mp_buf_done(&s->news);
	mp_buf_done(&s->shown);
	pthread_mutex_destroy(&s->lock);
	return mp_free(s);
}
