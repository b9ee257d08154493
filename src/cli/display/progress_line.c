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

enum { DOWNLOAD_MS = 2000 };

void mp_progress_line_clear(struct mp_progress_line *l)
{
	if (l->is_shown)
		fputs("\r\033[K", stderr);
	l->is_shown = false;
}

void mp_progress_line_show(struct mp_progress_line *l, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str line;
	size_t columns = mp_print_get_columns(STDERR_FILENO);

	mp_buf_init(&safe, MP_LIMIT_MESSAGE);
	if (columns == 0 || l->is_held)
		return;
	if (mp_safe_add(&safe, text, MP_SAFE_LINE) < 0)
		return;
	line = mp_buf_get(&safe);
	line.len = mp_safe_cut(line, columns - 1); /* a wrapped line could not be erased */
	fprintf(stderr, "\r\033[K%.*s", MP_STR_ARGS(line));
	fflush(stderr);
	l->is_shown = true;
}

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

static void show_share(struct mp_progress_line *l, double done, double total, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	int r;

	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	if (total > 0 && isfinite(done))
		r = mp_buf_addf(&line, "%3.0f%%  %.*s", 100 * fmin(fmax(done / total, 0), 1),
				MP_STR_ARGS(text));
	else
		r = mp_buf_addf(&line, "%g  %.*s", done, MP_STR_ARGS(text));
	if (r == 0)
		mp_progress_line_show(l, mp_buf_get(&line));
}

void mp_progress_line_show_progress(struct mp_progress_line *l, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	double done = 0, total = 0;
	struct mp_str text;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (mp_value_f64(m->tape, mp_value_get(m->tape, m->params, "progress"), &done) < 0)
		return;
	if (mp_value_f64(m->tape, mp_value_get(m->tape, m->params, "total"), &total) < 0)
		total = 0;
	if (mp_value_text(m->tape, mp_value_get(m->tape, m->params, "message"), &arena, &text) < 0)
		text = MP_STR("");
	show_share(l, done, total, text);
}
