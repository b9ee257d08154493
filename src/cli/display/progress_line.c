/*
 * progress_line.c - a temporary line on the terminal.
 */
#include "cli/display/progress_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/safe.h"

enum { DOWNLOAD_MS = 2000, BAR = 20, NARROW = 60 };

void mp_progress_line_clear(struct mp_progress_line *l)
{
	if (l->is_shown)
		fputs("\r\033[K", stderr);
	l->is_shown = false;
}

/* --- calls ----------------------------------------------------------------------------------- */

void mp_progress_line_begin_call(struct mp_progress_line *l)
{
	l->is_call = true;
	l->progress[0] = '\0';
	clock_gettime(CLOCK_MONOTONIC, &l->began);
}

void mp_progress_line_end_call(struct mp_progress_line *l)
{
	mp_progress_line_clear(l);
	l->is_call = false;
	l->progress[0] = '\0';
}

/* "   6.1 s   Ctrl-C cancels" */
static void write_passed(const struct mp_progress_line *l, char *out, size_t size)
{
	struct timespec now;
	double passed;

	out[0] = '\0';
	if (!l->is_call)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	passed = (double)(now.tv_sec - l->began.tv_sec) +
		 (double)(now.tv_nsec - l->began.tv_nsec) / 1e9;
	snprintf(out, size,
		 passed < 100 ? "   %.1f s   Ctrl-C cancels" : "   %.0f s   Ctrl-C cancels",
		 passed);
}

/* The text is cut, the time is not; a wrapped line could not be erased. */
static void line_write(struct mp_progress_line *l, struct mp_str safe)
{
	size_t columns = mp_print_get_columns(STDERR_FILENO);
	char passed[48];
	size_t room;

	if (columns == 0 || l->is_held)
		return;
	write_passed(l, passed, sizeof(passed));
	if (columns < NARROW)
		passed[0] = '\0';
	room = columns - 1 - strlen(passed);
	safe.len = mp_safe_cut(safe, room);
	fprintf(stderr, "\r\033[K%.*s%s", MP_STR_ARGS(safe), passed);
	fflush(stderr);
	l->is_shown = true;
}

void mp_progress_line_show(struct mp_progress_line *l, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;

	mp_buf_init(&safe, MP_LIMIT_MESSAGE);
	if (mp_safe_add(&safe, text, MP_SAFE_LINE) == 0)
		line_write(l, mp_buf_get(&safe));
}

/* --- starts ---------------------------------------------------------------------------------- */

/* These programs may download a package first, without output. */
static bool may_download(const char *program)
{
	static const char *const fetchers[] = {"npx", "uvx", "bunx", "pnpx", "pipx", "docker"};
	const char *slash = strrchr(program, '/');

	for (size_t i = 0; i < MP_ARRAY_LEN(fetchers); i++)
		if (strcmp(slash ? slash + 1 : program, fetchers[i]) == 0)
			return true;
	return false;
}

void mp_progress_line_show_start(struct mp_progress_line *l, const char *name, size_t more,
				 int64_t ms, const char *program, struct mp_str tail)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str words = mp_str_get_last_line(tail);
	int r;

	mp_buf_init(&text, MP_LIMIT_STDERR_RING * 2);
	r = mp_buf_addf(&text, "starting %s", name);
	if (r == 0 && more)
		r = mp_buf_addf(&text, " and %zu more", more);
	r = r < 0 ? r : mp_buf_add_str(&text, MP_STR(" ..."));
	if (r == 0 && ms >= 1000)
		r = mp_buf_addf(&text, " %lld s", (long long)(ms / 1000));
	if (r == 0 && words.len)
		r = mp_buf_addf(&text, ": %.*s", MP_STR_ARGS(words));
	else if (r == 0 && ms >= DOWNLOAD_MS && program && may_download(program))
		r = mp_buf_addf(&text, ", %s may be downloading",
				strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
	if (r == 0)
		mp_progress_line_show(l, mp_buf_get(&text));
}

/* --- progress -------------------------------------------------------------------------------- */

static int bar_add(struct mp_buf *out, double share)
{
	const char *full = mp_safe_has_utf8() ? "\xe2\x96\x88" : "#";
	const char *rest = mp_safe_has_utf8() ? "\xe2\x96\x91" : ".";
	int r = 0;

	for (int i = 0; i < BAR && r == 0; i++)
		r = mp_buf_addf(out, "%s", i < (int)(share * BAR + 0.5) ? full : rest);
	return r;
}

/* "████████████░░░░░░░░  3/5  step 3 of 5"; on a narrow terminal " 60% step 3 of 5" */
static int progress_add(struct mp_buf *out, double done, double total, struct mp_str text)
{
	double share = fmin(fmax(done / total, 0), 1);
	int r = 0;

	if (!(total > 0) || !isfinite(done)) {
		r = mp_buf_addf(out, "%g  ", done);
	} else if (mp_print_get_columns(STDERR_FILENO) < NARROW) {
		r = mp_buf_addf(out, "%3.0f%% ", 100 * share);
	} else {
		r = bar_add(out, share);
		if (r == 0)
			r = mp_buf_addf(out, "  %g/%g  ", done, total);
	}
	return r < 0 ? r : mp_safe_add(out, text, MP_SAFE_LINE);
}

static void keep_progress(struct mp_progress_line *l, struct mp_str safe)
{
	safe.len = mp_safe_cut(safe, sizeof(l->progress) / 4);
	snprintf(l->progress, sizeof(l->progress), "%.*s", MP_STR_ARGS(safe));
}

void mp_progress_line_show_progress(struct mp_progress_line *l, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	double done = 0, total = 0;
	struct mp_str text;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	if (mp_value_f64(m->tape, mp_value_get(m->tape, m->params, "progress"), &done) < 0)
		return;
	if (mp_value_f64(m->tape, mp_value_get(m->tape, m->params, "total"), &total) < 0)
		total = 0;
	if (mp_value_text(m->tape, mp_value_get(m->tape, m->params, "message"), &arena, &text) < 0)
		text = MP_STR("");
	if (progress_add(&line, done, total, text) < 0)
		return;
	keep_progress(l, mp_buf_get(&line));
	line_write(l, mp_buf_get(&line));
}

bool mp_progress_line_show_again(struct mp_progress_line *l)
{
	if (l->progress[0])
		line_write(l, mp_str_of(l->progress));
	return l->progress[0] != '\0';
}
