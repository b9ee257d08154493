/*
 * cmd_top.c - `mcpool top`: servers and sessions on a full screen, and what to do with them.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/paths.h"
#include "cli/console/log_file.h"
#include "cli/console/top_actions.h"
#include "cli/console/top_draw.h"
#include "cli/console/top_screen.h"
#include "cli/verbs/verbs.h"

enum {
	DRAW_MS = 1000,    /* the least often that it is drawn: ages and rates go on */
	MESSAGE_MS = 8000, /* how long one is shown */
	LOG_MOST = 512 << 10,
	LOG_KEPT = 128 << 10,
};

static int run_top(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_top = {
	"top",
	"",
	"Servers and sessions on a full screen, busiest first; keys restart, disable, approve.",
	"",
	"j and k select a server, ? lists the keys, q quits. When the hub ends, top waits for the\n"
	"next one. It needs libncursesw; `mcpool status --watch` shows the table without it.\n",
	run_top,
	NULL,
	MP_VERB_PLAIN,
};

/* What the bottom line asks. */
enum top_question { ASKS_NOTHING, ASKS_RESTART, ASKS_SWITCH, ASKS_FILTER };

struct top {
	struct mp_top_screen *screen;
	struct mp_top_hub hub;
	struct mp_top_model model;
	struct mp_top_view view;
	struct mp_log_file log; /* of the selected server */
	sigset_t usual;         /* signals outside of ppoll() are blocked, these are not in it */
	enum top_question asks;
	char about[MP_LIMIT_NAME + 1]; /* the server of the question */
	bool turns_on;                 /* of ASKS_SWITCH */
	char bottom[1024];             /* a question or a message; "": none */
	int64_t until_ms;              /* of a message; 0: a question */
	int64_t drawn_ms;
	bool is_over;
	int exit_code;
};

/* --- signals --------------------------------------------------------------------------------- */

static volatile sig_atomic_t was_ended, was_stopped, was_resized;

static void on_end(int number)
{
	was_ended = number;
}

static void on_stop(int number)
{
	was_stopped = number;
}

static void on_resize(int number)
{
	was_resized = number;
}

static void catch (int number, void (*handler)(int number))
{
	struct sigaction now, act = {.sa_handler = handler};

	if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
		sigaction(number, &act, NULL);
}

/* Before the library does: it leaves the handlers that are there alone. */
static void signals_catch(struct top *t)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < MP_ARRAY_LEN(ends); i++) {
		catch (ends[i], on_end);
		sigaddset(&blocked, ends[i]);
	}
	catch (SIGTSTP, on_stop);
	catch (SIGWINCH, on_resize);
	sigaddset(&blocked, SIGTSTP);
	sigaddset(&blocked, SIGWINCH);
	sigprocmask(SIG_BLOCK, &blocked, &t->usual);
}

/* Ctrl-Z: give the terminal back, stop as usual, and take it again after `fg`. */
static void top_stop(struct top *t)
{
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, SIGTSTP);
	mp_top_screen_leave(t->screen);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* here it stops */
	sigprocmask(SIG_BLOCK, &one, NULL);
	catch (SIGTSTP, on_stop);
	mp_top_screen_return(t->screen);
}

static void signals_obey(struct top *t)
{
	if (was_ended) {
		t->is_over = true;
		t->exit_code = MP_EXIT_INTERRUPTED;
		return;
	}
	if (was_stopped)
		top_stop(t);
	if (was_stopped || was_resized) {
		mp_top_screen_resize(t->screen);
		memset(t->view.widths, 0, sizeof(t->view.widths));
		t->drawn_ms = 0;
	}
	was_stopped = was_resized = 0;
}

/* --- the bottom line ------------------------------------------------------------------------- */

static void top_say(struct top *t, int64_t for_ms)
{
	t->until_ms = for_ms ? mp_top_now_ms() + for_ms : 0;
	if (for_ms)
		t->asks = ASKS_NOTHING;
}

static void top_ask(struct top *t, enum top_question asks)
{
	t->asks = asks;
	top_say(t, 0);
}

static void top_be_silent(struct top *t)
{
	t->asks = ASKS_NOTHING;
	t->bottom[0] = '\0';
}

static void filter_show(struct top *t)
{
	snprintf(t->bottom, sizeof(t->bottom), "filter: %s_   Enter keeps it, Esc shows all",
		 t->model.filter);
	top_ask(t, ASKS_FILTER);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* NULL after a sentence: none is selected. */
static const struct mp_status *top_need_selected(struct top *t)
{
	const struct mp_status *s = mp_top_model_get_selected(&t->model);

	if (s)
		return s;
	snprintf(t->bottom, sizeof(t->bottom), "j or k selects a server first");
	top_say(t, MESSAGE_MS);
	return NULL;
}

static void top_scroll(struct top *t, ptrdiff_t lines)
{
	struct mp_top_view *v = &t->view;
	bool from_end = v->page == MP_TOP_LOG || v->page == MP_TOP_CALLS_PAGE;
	ptrdiff_t to = (ptrdiff_t)v->scroll + (from_end ? -lines : lines);

	v->scroll = to > 0 ? (size_t)to : 0;
}

static void top_move(struct top *t, ptrdiff_t rows)
{
	if (t->view.page == MP_TOP_TABLE)
		mp_top_model_move(&t->model, rows);
	else
		top_scroll(t, rows);
}

static void key_down(struct top *t)
{
	top_move(t, 1);
}

static void key_up(struct top *t)
{
	top_move(t, -1);
}

static ptrdiff_t top_get_page(const struct top *t)
{
	return (ptrdiff_t)mp_top_view_get_rows(&t->view) - 1;
}

static void key_page_down(struct top *t)
{
	top_move(t, top_get_page(t));
}

static void key_page_up(struct top *t)
{
	top_move(t, -top_get_page(t));
}

static void key_home(struct top *t)
{
	top_move(t, -(ptrdiff_t)MP_LIMIT_SERVERS * 4);
}

static void key_end(struct top *t)
{
	top_move(t, (ptrdiff_t)MP_LIMIT_SERVERS * 4);
}

static void top_turn_to(struct top *t, enum mp_top_page page)
{
	t->view.page = page;
	t->view.scroll = 0;
}

static void top_show_one(struct top *t, enum mp_top_page page)
{
	if (top_need_selected(t))
		top_turn_to(t, page);
}

static void key_enter(struct top *t)
{
	if (t->view.page == MP_TOP_TABLE)
		top_show_one(t, MP_TOP_DETAILS);
	else
		top_turn_to(t, MP_TOP_TABLE);
}

static void key_log(struct top *t)
{
	top_show_one(t, MP_TOP_LOG);
}

static void key_calls(struct top *t)
{
	top_show_one(t, MP_TOP_CALLS_PAGE);
}

static void key_sessions(struct top *t)
{
	top_turn_to(t, t->view.page == MP_TOP_SESSIONS ? MP_TOP_TABLE : MP_TOP_SESSIONS);
}

static void key_help(struct top *t)
{
	top_turn_to(t, t->view.page == MP_TOP_HELP ? MP_TOP_TABLE : MP_TOP_HELP);
}

/* Back by one step: the page, the selection, the filter. */
static void key_escape(struct top *t)
{
	if (t->view.page != MP_TOP_TABLE)
		top_turn_to(t, MP_TOP_TABLE);
	else if (t->model.selected[0])
		mp_top_model_deselect(&t->model);
	else
		mp_top_model_filter(&t->model, "");
}

static void key_sort(struct top *t)
{
	mp_top_model_sort(&t->model, (enum mp_top_sort)((t->model.sort + 1) % MP_TOP_SORTS));
}

static void key_filter(struct top *t)
{
	top_turn_to(t, MP_TOP_TABLE);
	filter_show(t);
}

static void key_restart(struct top *t)
{
	const struct mp_status *s = top_need_selected(t);

	if (!s)
		return;
	snprintf(t->about, sizeof(t->about), "%s", s->name);
	snprintf(t->bottom, sizeof(t->bottom), "Restart %s? y/n", s->name);
	top_ask(t, ASKS_RESTART);
}

static void key_switch(struct top *t)
{
	const struct mp_status *s = top_need_selected(t);

	if (!s)
		return;
	t->turns_on = s->state == MP_STATUS_DISABLED;
	snprintf(t->about, sizeof(t->about), "%s", s->name);
	snprintf(t->bottom, sizeof(t->bottom), "%s %s, until the hub ends? y/n",
		 t->turns_on ? "Enable" : "Disable", s->name);
	top_ask(t, ASKS_SWITCH);
}

static void key_approve(struct top *t)
{
	const struct mp_status *s = top_need_selected(t);

	if (!s)
		return;
	mp_top_approve(s, t->screen, &t->usual, t->bottom, sizeof(t->bottom));
	top_say(t, MESSAGE_MS);
	mp_top_hub_hurry(&t->hub);
}

static void key_quit(struct top *t)
{
	t->is_over = true;
}

static const struct {
	int key;
	void (*fn)(struct top *t);
} keys[] = {
	{'j', key_down},
	{MP_TOP_KEY_DOWN, key_down},
	{'k', key_up},
	{MP_TOP_KEY_UP, key_up},
	{MP_TOP_KEY_PAGE_DOWN, key_page_down},
	{MP_TOP_KEY_PAGE_UP, key_page_up},
	{MP_TOP_KEY_HOME, key_home},
	{MP_TOP_KEY_END, key_end},
	{MP_TOP_KEY_ENTER, key_enter},
	{MP_TOP_KEY_ESCAPE, key_escape},
	{MP_TOP_KEY_TAB, key_sessions},
	{'l', key_log},
	{'c', key_calls},
	{'r', key_restart},
	{'d', key_switch},
	{'a', key_approve},
	{'s', key_sort},
	{'f', key_filter},
	{'/', key_filter},
	{'?', key_help},
	{'q', key_quit},
};

/* Keys are characters of Unicode; the locale is UTF-8 (main.c). */
static void filter_take(struct top *t, int key)
{
	char text[sizeof(t->model.filter)], character[16];
	size_t len = strlen(t->model.filter), n;

	snprintf(text, sizeof(text), "%s", t->model.filter);
	if (key == MP_TOP_KEY_BACKSPACE) {
		while (len && (text[len - 1] & 0xc0) == 0x80)
			len--;
		text[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && key < MP_TOP_KEY_UP) {
		mbstate_t state = {0};

		n = wcrtomb(character, (wchar_t)key, &state);
		if (n == (size_t)-1 || len + n >= sizeof(text))
			return;
		memcpy(text + len, character, n);
		text[len + n] = '\0';
	}
	mp_top_model_filter(&t->model, text);
	memset(t->view.widths, 0, sizeof(t->view.widths));
	filter_show(t);
}

static void filter_obey(struct top *t, int key)
{
	if (key == MP_TOP_KEY_ESCAPE)
		mp_top_model_filter(&t->model, "");
	if (key == MP_TOP_KEY_ESCAPE || key == MP_TOP_KEY_ENTER)
		top_be_silent(t);
	else
		filter_take(t, key);
}

static void top_answer(struct top *t, int key)
{
	enum top_question asks = t->asks;

	top_be_silent(t);
	if (key != 'y' && key != 'Y')
		return;
	if (asks == ASKS_RESTART)
		mp_top_restart(t->about, t->bottom, sizeof(t->bottom));
	else
		mp_top_switch(t->about, t->turns_on, t->bottom, sizeof(t->bottom));
	top_say(t, MESSAGE_MS);
	mp_top_hub_hurry(&t->hub);
}

static void top_obey(struct top *t, int key)
{
	if (t->asks == ASKS_FILTER) {
		filter_obey(t, key);
		return;
	}
	if (t->asks != ASKS_NOTHING) {
		top_answer(t, key);
		return;
	}
	top_be_silent(t);
	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++)
		if (keys[i].key == key)
			keys[i].fn(t);
}

/* --- pictures -------------------------------------------------------------------------------- */

/* The selected server's. */
static void top_read_log(struct top *t)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	const char *last;

	mp_buf_init(&path, PATH_MAX);
	t->view.log = (struct mp_str){NULL, 0};
	if (strcmp(t->log.name, t->model.selected) != 0) {
		mp_log_file_close(&t->log);
		if (!t->model.selected[0] || mp_path_log(t->model.selected, &path) < 0)
			return;
		mp_log_file_open(&t->log, t->model.selected, path.data);
		mp_log_file_read_end(&t->log, LOG_KEPT);
	}
	if (!t->log.path[0])
		return;
	mp_log_file_read(&t->log, MP_MIB(1) - 1);
	if (t->log.text.len > LOG_MOST)
		mp_buf_consume(&t->log.text, t->log.text.len - LOG_KEPT);
	last = t->log.text.len ? memrchr(t->log.text.data, '\n', t->log.text.len) : NULL;
	if (last)
		t->view.log =
			(struct mp_str){t->log.text.data, (size_t)(last + 1 - t->log.text.data)};
}

static void top_draw(struct top *t)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	size_t marked;

	mp_buf_init(&text, MP_MIB(4));
	if (t->model.status.text.len == 0)
		return; /* the first answer comes at once */
	top_read_log(t);
	if (!t->model.selected[0] && t->view.page != MP_TOP_SESSIONS && t->view.page != MP_TOP_HELP)
		t->view.page = MP_TOP_TABLE; /* the server is gone */
	t->view.room = mp_top_screen_get_room(t->screen);
	t->view.bottom = t->bottom[0] ? t->bottom : NULL;
	t->drawn_ms = mp_top_now_ms();
	if (mp_top_draw(&t->view, &text, &marked) == 0)
		mp_top_screen_show(t->screen, mp_buf_get(&text), marked);
}

/* --- the loop -------------------------------------------------------------------------------- */

static void top_wait(struct top *t)
{
	struct pollfd polls[MP_TOP_POLLS + 1] = {{.fd = STDIN_FILENO, .events = POLLIN}};
	int64_t now = mp_top_now_ms(), until_ms, left_ms;
	size_t n = 1 + mp_top_hub_get_polls(&t->hub, polls + 1, &until_ms);
	struct timespec left;

	if (t->drawn_ms + DRAW_MS < until_ms)
		until_ms = t->drawn_ms + DRAW_MS;
	left_ms = until_ms > now ? until_ms - now : 0;
	left = (struct timespec){left_ms / 1000, left_ms % 1000 * 1000000};
	if (ppoll(polls, (nfds_t)n, &left, &t->usual) > 0 &&
	    polls[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		t->is_over = true; /* the terminal is gone */
}

static void top_run(struct top *t)
{
	int key;

	while (!t->is_over) {
		bool is_new = mp_top_hub_step(&t->hub, &t->model);

		while (!t->is_over && (key = mp_top_screen_get_key(t->screen)) != MP_TOP_KEY_NONE) {
			top_obey(t, key);
			is_new = true;
		}
		if (t->until_ms && t->bottom[0] && mp_top_now_ms() > t->until_ms)
			top_be_silent(t);
		if (!t->is_over && (is_new || mp_top_now_ms() >= t->drawn_ms + DRAW_MS))
			top_draw(t);
		if (!t->is_over)
			top_wait(t);
		signals_obey(t);
	}
}

static void top_done(struct top *t)
{
	t->screen = mp_top_screen_close(t->screen);
	mp_log_file_close(&t->log);
	mp_top_hub_done(&t->hub);
	mp_top_model_done(&t->model);
}

static int run_top(const struct mp_verb *verb, int argc, char **argv)
{
	static struct top nothing;
	MP_CLEANUP(top_done) struct top t = nothing;
	struct mcpool_error why;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_top_hub_init(&t.hub);
	mp_top_model_init(&t.model);
	t.view.model = &t.model;
	t.view.hub = &t.hub;
	if (r)
		return r - 1;
	if (mp_top_hub_open(&t.hub, &why) < 0)
		return mp_feed_complain(&why);
	signals_catch(&t);
	if (mp_top_screen_open(&t.screen, &why) < 0) {
		mp_cli_complain_as(why.code, "%s", why.message);
		return why.code == MCPOOL_ENOENT ? MP_EXIT_CONFIG : MP_EXIT_USAGE;
	}
	top_run(&t);
	return t.exit_code;
}
