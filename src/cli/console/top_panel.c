/*
 * top_panel.c - what `top` shows of one server.
 */
#include "cli/console/top_panel.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/history.h"
#include "base/limits.h"
#include "base/shell.h"
#include "cli/console/log_file.h"
#include "cli/display/safe.h"
#include "cli/display/sparkline.h"

/* --- the last 15 minutes --------------------------------------------------------------------- */

static size_t read_history(const struct mp_status *s, uint32_t counts[MP_HISTORY_SLOTS])
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	size_t n = 0;

	mp_tape_init(&t, 0);
	if (s->history.len == 0 || mp_tape_parse(&t, s->history, NULL) < 0)
		return 0;
	MP_VALUE_EACH(&t, MP_ROOT, one) {
		int64_t count = 0;

		if (n == MP_HISTORY_SLOTS || mp_value_i64(&t, one, &count) < 0)
			break;
		counts[n++] = count < 0 ? 0 : count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
	}
	return n;
}

/* "calls ▁▁▂▃▅ 15 min, 480 in all, 12 failed" */
static void draw_history(struct mp_top_frame *f, const struct mp_status *s, int width)
{
	uint32_t counts[MP_HISTORY_SLOTS];
	size_t n = read_history(s, counts), columns = f->view->room.columns >= 110 ? 60 : 30;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_KIB(4));
	r = mp_buf_addf(&text, "%-*s ", width, "calls");
	if (r == 0 && n)
		r = mp_sparkline_add(counts, n, columns, &text);
	if (r == 0 && n)
		r = mp_buf_addf(&text, " 15 min, ");
	if (r == 0 && s->calls > 0)
		r = mp_buf_addf(&text, "%lld in all, %lld failed", (long long)s->calls,
				(long long)s->failures);
	else if (r == 0)
		r = mp_buf_addf(&text, "none so far");
	mp_top_frame_take(f, r);
	mp_top_frame_add(f, "", mp_buf_get(&text));
}

/* --- texts that do not fit on a line --------------------------------------------------------- */

/* Where a line of so many columns ends: behind a blank, unless that makes it short. */
static size_t cut_line(struct mp_str text, size_t columns)
{
	size_t len = mp_safe_cut(text, columns), at = len;

	if (len == text.len)
		return len;
	while (at > len / 2 && text.p[at - 1] != ' ')
		at--;
	return at > len / 2 ? at : len;
}

/* Title and text, in at most so many lines; returns how many. */
static size_t draw_wrapped(struct mp_top_frame *f, const char *title, struct mp_str text, int width,
			   size_t most)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	size_t columns = f->view->room.columns - (size_t)width - 1, n = 0;
	struct mp_str rest;

	mp_buf_init(&safe, MP_MIB(1));
	mp_top_frame_take(f, mp_safe_add(&safe, text, MP_SAFE_LINE));
	rest = mp_buf_get(&safe);
	while (rest.len && n < most) {
		size_t len = n + 1 < most ? cut_line(rest, columns) : rest.len;

		mp_top_frame_addf(f, "", "%-*s %.*s", width, n == 0 ? title : "", (int)len, rest.p);
		rest = (struct mp_str){rest.p + len, rest.len - len};
		n++;
	}
	return n;
}

/* --- the panel ------------------------------------------------------------------------------- */

static void draw_rule(struct mp_top_frame *f, const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	size_t columns = f->view->room.columns;
	int r;

	mp_buf_init(&text, MP_KIB(64));
	r = mp_buf_addf(&text, "%s %s ", mp_safe_has_utf8() ? "──" : "--", s->name);
	for (size_t i = mp_safe_get_width(mp_buf_get(&text)); i < columns && r == 0; i++)
		r = mp_buf_add_str(&text, mp_safe_has_utf8() ? MP_STR("─") : MP_STR("-"));
	mp_top_frame_take(f, r);
	mp_top_frame_add(f, "", mp_buf_get(&text));
}

/* Oldest first. */
static size_t draw_calls(struct mp_top_frame *f, const struct mp_status *s, size_t most)
{
	const char *lines[16];
	size_t n = mp_top_hub_get_calls(f->view->hub, s->name, lines,
					most < MP_ARRAY_LEN(lines) ? most : MP_ARRAY_LEN(lines));

	for (size_t i = n; i-- > 0;)
		mp_top_frame_addf(f, "", "        %s", lines[i]);
	return n;
}

/* Where the last `most` lines begin. */
static struct mp_str get_last_lines(struct mp_str text, size_t most)
{
	size_t at = text.len, n = 0;

	while (at > 0 && (at == text.len || text.p[at - 1] != '\n' || ++n < most))
		at--;
	return (struct mp_str){text.p + at, text.len - at};
}

static bool next_line(struct mp_str *rest, struct mp_str *ret)
{
	const char *end = rest->len ? memchr(rest->p, '\n', rest->len) : NULL;
	size_t n = end ? (size_t)(end - rest->p) : rest->len;

	if (rest->len == 0)
		return false;
	*ret = (struct mp_str){rest->p, n};
	n += end ? 1 : 0;
	*rest = (struct mp_str){rest->p + n, rest->len - n};
	return true;
}

/* The time alone: these are the newest lines. */
static struct mp_str drop_date(struct mp_str line)
{
	enum { DATE = 11 };

	if (!mp_log_line_has_stamp(line))
		return line;
	return (struct mp_str){line.p + DATE, line.len - DATE};
}

static void draw_stderr(struct mp_top_frame *f, size_t most)
{
	struct mp_str rest = get_last_lines(f->view->log, most), line;
	bool is_first = true;

	for (; most > 0 && next_line(&rest, &line); most--, is_first = false)
		mp_top_frame_addf(f, "", "%-7s %.*s", is_first ? "stderr" : "",
				  MP_STR_ARGS(drop_date(line)));
	if (is_first)
		mp_top_frame_add(f, "", MP_STR("stderr  nothing"));
}

/* Returns how many lines. */
static size_t draw_why(struct mp_top_frame *f, const struct mp_status *s, size_t most)
{
	char text[PATH_MAX + 80];

	if (s->state == MP_STATUS_CONNECTED)
		return 0;
	if (s->state != MP_STATUS_NEEDS_APPROVAL || s->error[0])
		return draw_wrapped(f, "why", mp_str_of(s->error), 7, most);
	(void)snprintf(text, sizeof(text), "%s in %s:%lld; a shows it and asks you",
		       s->is_changed ? "changed since you approved it," : "not approved yet,",
		       s->source.file, (long long)s->source.line);
	return draw_wrapped(f, "why", mp_str_of(text), 7, most);
}

/* A rule, why it is not connected, the last 15 minutes; of the rest calls take at most half. */
void mp_top_panel_draw(struct mp_top_frame *f, size_t lines)
{
	const struct mp_status *s = mp_top_model_get_selected(f->view->model);
	size_t used = 2;

	if (!s || lines < 4)
		return;
	draw_rule(f, s);
	used += draw_why(f, s, lines > 6 ? 2 : 1);
	draw_history(f, s, 7);
	if (lines > used)
		used += draw_calls(f, s, (lines - used) / 2);
	if (lines > used)
		draw_stderr(f, lines - used);
}

/* --- pages ----------------------------------------------------------------------------------- */

static void draw_title(struct mp_top_frame *f, const char *what)
{
	mp_top_frame_addf(f, "\033[1m", "%s of %s", what, f->view->model->selected);
}

void mp_top_log_draw(struct mp_top_frame *f, size_t lines)
{
	struct mp_top_view *v = f->view;
	size_t n = mp_top_count_lines(v->log), most = lines - 1;
	struct mp_str rest, line;

	draw_title(f, "stderr");
	if (n == 0)
		mp_top_frame_add(f, "", MP_STR("It has written nothing so far."));
	if (v->scroll + most > n)
		v->scroll = n > most ? n - most : 0;
	rest = get_last_lines(v->log, v->scroll + most);
	for (size_t i = 0; i < most && next_line(&rest, &line); i++)
		mp_top_frame_add(f, "", line);
}

void mp_top_calls_draw(struct mp_top_frame *f, size_t lines)
{
	struct mp_top_view *v = f->view;
	const char *calls[MP_TOP_CALLS];
	size_t n = mp_top_hub_get_calls(v->hub, v->model->selected, calls, MP_TOP_CALLS);
	size_t most = lines - 1;

	draw_title(f, "calls");
	if (n == 0)
		mp_top_frame_add(f, "", MP_STR("None of the last 512 calls was for it."));
	if (v->scroll + most > n)
		v->scroll = n > most ? n - most : 0;
	for (size_t i = n < v->scroll + most ? n : v->scroll + most; i-- > v->scroll;)
		mp_top_frame_add(f, "", mp_str_of(calls[i]));
}

/* --- details --------------------------------------------------------------------------------- */

static void draw_count(struct mp_top_frame *f, const char *title, int64_t n, const char *more)
{
	if (n >= 0)
		mp_top_frame_addf(f, "", "%-11s %lld%s", title, (long long)n, more);
}

static void draw_process(struct mp_top_frame *f, const struct mp_status *s)
{
	char age[16], memory[16], more[64];

	if (s->pid > 0) {
		mp_live_write_age(s->uptime_ms, age);
		snprintf(more, sizeof(more), ", up %s", age);
		draw_count(f, "process", s->pid, more);
	}
	if (s->memory >= 0) {
		mp_live_write_memory(s->memory, memory);
		mp_top_frame_addf(f, "", "%-11s %s in %lld process%s, %.1f s of processor time",
				  "uses", memory, (long long)s->processes,
				  s->processes == 1 ? "" : "es", (double)s->cpu_us / 1e6);
	}
	if (s->restarts > 0)
		draw_count(f, "restarts", s->restarts, "");
}

static void draw_traffic(struct mp_top_frame *f, const struct mp_status *s)
{
	char p50[16], p99[16];

	if (s->calls > 0) {
		mp_live_write_latency(s->p50_us, p50);
		mp_live_write_latency(s->p99_us, p99);
		mp_top_frame_addf(f, "", "%-11s half within %s, 99%% within %s", "latency", p50,
				  p99);
	}
	if (s->waiting + s->open > 0)
		mp_top_frame_addf(f, "", "%-11s %lld at the server, %lld waiting", "now",
				  (long long)s->open, (long long)s->waiting);
	draw_count(f, "sessions", s->sessions, " see it");
}

void mp_top_details_draw(struct mp_top_frame *f, size_t lines)
{
	const struct mp_status *s = mp_top_model_get_selected(f->view->model);

	if (!s)
		return;
	draw_title(f, "details");
	mp_top_frame_addf(f, "", "%-11s %s %s", "state", mp_live_get_shape(s),
			  mp_status_state_get_name(s->state));
	draw_wrapped(f, "why", mp_str_of(s->error), 11, lines > 20 ? 4 : 2);
	mp_top_frame_addf(f, "", "%-11s %s, mode %s", "transport", s->transport, s->mode);
	mp_top_frame_addf(f, "", "%-11s %s:%lld (%s)", "configured", s->source.file,
			  (long long)s->source.line, s->source.tool);
	if (s->environment[0])
		mp_top_frame_addf(f, "", "%-11s of %s", "environment", s->environment);
	draw_process(f, s);
	if (s->tools >= 0)
		mp_top_frame_addf(f, "", "%-11s %lld, about %lld tokens", "tools",
				  (long long)s->tools, (long long)s->tool_tokens);
	draw_traffic(f, s);
	draw_history(f, s, 11);
	mp_top_frame_addf(f, "", "%-11s mcpool status %s", "more", MP_SHELL_NAME(s->name));
}
