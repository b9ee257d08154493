/*
 * live_table.c - all servers of a workspace as a table that fits a terminal.
 */
#include "cli/display/live_table.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "cli/display/safe.h"

enum { NAME, STATE, TOOLS, PID, UPTIME, RESTARTS, CALLS, P50, P99, QUEUE, CELLS };
enum { WIDEST_NAME = 24, NOTE_ROOM = 30, MOST_ROWS = 1000 };

static const char *const titles[CELLS] = {"NAME",     "STATE", "TOOLS", "PID", "UPTIME",
					  "RESTARTS", "CALLS", "P50",   "P99", "QUEUE"};

struct row {
	const char *cells[CELLS]; /* safe; in the arena, or static */
	const char *note;         /* safe; "" */
	const char *color;
};

struct table {
	struct mp_workspace *workspace;
	const struct mp_live_room *room;
	struct mp_arena arena;
	struct row *rows; /* in the arena */
	size_t n;
	size_t widths[CELLS];
	bool notes_below; /* on lines of their own: there is no room in the row */
	struct mp_buf *out;
	int error;
};

/* --- numbers for people ---------------------------------------------------------------------- */

void mp_live_write_latency(int64_t us, char out[16])
{
	if (us < 0)
		snprintf(out, 16, "-");
	else if (us < 1000)
		snprintf(out, 16, "%dus", (int)us);
	else if (us < 10000)
		snprintf(out, 16, "%.1fms", (double)us / 1000);
	else if (us < 1000000)
		snprintf(out, 16, "%dms", (int)(us / 1000));
	else
		snprintf(out, 16, "%.1fs", (double)(us < INT32_MAX ? us : INT32_MAX) / 1000000);
}

void mp_live_write_age(int64_t ms, char out[16])
{
	int64_t s = ms / 1000;

	if (ms < 0)
		snprintf(out, 16, "-");
	else if (s < 60)
		snprintf(out, 16, "%ds", (int)s);
	else if (s < 3600)
		snprintf(out, 16, "%dm", (int)(s / 60));
	else if (s < 86400)
		snprintf(out, 16, "%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
	else
		snprintf(out, 16, "%dd", (int)(s / 86400 < 99999 ? s / 86400 : 99999));
}

/* --- one row --------------------------------------------------------------------------------- */

/* A text of a server or a file, on one line and made safe. */
static const char *keep_safe(struct table *t, struct mp_str text, size_t columns)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str s, mark = mp_safe_get_cut_mark();
	const char *kept;

	mp_buf_init(&safe, MP_KIB(64));
	if (mp_safe_add(&safe, text, MP_SAFE_LINE) < 0)
		return "(too large to show)";
	s = mp_buf_get(&safe);
	if (mp_safe_get_width(s) > columns) {
		size_t n = mp_safe_cut(s, columns - mp_safe_get_width(mark));

		if (mp_buf_splice(&safe, n, s.len - n, mark) < 0)
			return "";
		s = mp_buf_get(&safe);
	}
	kept = mp_arena_dup(&t->arena, s);
	return kept ? kept : "";
}

static const char *MP_PRINTF(2, 3) live_table_keepf(struct table *t, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* may be truncated */
	va_end(args);
	return keep_safe(t, mp_str_of(text), SIZE_MAX);
}

/* `attempt 3 of 5`, of the retries. */
static void write_attempt(const struct mp_status *s, char *out, size_t size)
{
	out[0] = '\0';
	if (s->tries > 0 && s->max_tries)
		snprintf(out, size, "attempt %d of %d", (int)s->tries, (int)s->max_tries);
	else if (s->tries > 0)
		snprintf(out, size, "attempt %d", (int)s->tries);
}

static const char *note_of(struct table *t, const struct mp_status *s)
{
	const char *error = s->error, *colon = error[0] ? ": " : "";
	int64_t left_ms = s->next_at_ms - t->room->wall_ms;
	char attempt[48];

	write_attempt(s, attempt, sizeof(attempt));
	switch (s->state) {
	case MP_STATUS_PENDING:
		return live_table_keepf(t, "%s%s%s%s%s", s->detail, attempt[0] ? ", " : "", attempt,
					colon, error);
	case MP_STATUS_FAILED:
		if (s->next_at_ms > 0)
			return live_table_keepf(t, "next try in %d s%s%s%s%s",
						(int)(left_ms > 0 ? (left_ms + 999) / 1000 : 0),
						attempt[0] ? ", " : "", attempt, colon, error);
		return live_table_keepf(t, "%s", error);
	case MP_STATUS_NEEDS_APPROVAL:
		return live_table_keepf(t, "mcpool trust %s", s->name);
	case MP_STATUS_NEEDS_AUTH:
		return live_table_keepf(t, "%s", error);
	case MP_STATUS_CONNECTED:
		return strcmp(s->detail, "checking") == 0 ? "being probed" : "";
	case MP_STATUS_READY:
		return strcmp(s->detail, "stopping") == 0 ? "stopping" : "starts when it is called";
	case MP_STATUS_DISABLED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return "";
}

static const char *color_of(enum mp_status_state state)
{
	switch (state) {
	case MP_STATUS_CONNECTED:
		return "\033[32m";
	case MP_STATUS_FAILED:
		return "\033[31m";
	case MP_STATUS_PENDING:
	case MP_STATUS_NEEDS_APPROVAL:
	case MP_STATUS_NEEDS_AUTH:
		return "\033[33m";
	case MP_STATUS_READY:
	case MP_STATUS_DISABLED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return "\033[2m";
}

const char *mp_live_get_color(struct mp_str state)
{
	for (int i = 0; i < MP_STATUS_STATE_COUNT; i++)
		if (mp_str_eq(state, mp_str_of(mp_status_state_get_name((enum mp_status_state)i))))
			return color_of((enum mp_status_state)i);
	return NULL;
}

static const char *count_cell(struct table *t, int64_t n)
{
	return n >= 0 ? live_table_keepf(t, "%lld", (long long)n) : "-";
}

/* A cached count is in parentheses. */
static const char *tools_cell(struct table *t, const struct mp_status *s)
{
	if (s->tools < 0)
		return "-";
	return live_table_keepf(t, s->state == MP_STATUS_CONNECTED ? "%lld" : "(%lld)",
				(long long)s->tools);
}

static void fill_row(struct table *t, size_t i)
{
	struct row *row = &t->rows[t->n++];
	struct mp_status s;
	char text[16];

	mp_status_take(t->workspace, i, 0, &t->arena, &s);
	row->cells[NAME] = keep_safe(t, mp_str_of(s.name), WIDEST_NAME);
	row->cells[STATE] = mp_status_state_get_name(s.state);
	row->cells[TOOLS] = tools_cell(t, &s);
	row->cells[PID] = count_cell(t, s.pid);
	mp_live_write_age(s.uptime_ms, text);
	row->cells[UPTIME] = live_table_keepf(t, "%s", text);
	row->cells[RESTARTS] = count_cell(t, s.restarts);
	row->cells[CALLS] = count_cell(t, s.calls);
	mp_live_write_latency(s.p50_us, text);
	row->cells[P50] = live_table_keepf(t, "%s", text);
	mp_live_write_latency(s.p99_us, text);
	row->cells[P99] = live_table_keepf(t, "%s", text);
	row->cells[QUEUE] = count_cell(t, s.instance ? s.waiting : -1);
	row->note = note_of(t, &s);
	row->color = color_of(s.state);
}

/* --- which rows ------------------------------------------------------------------------------ */

static bool is_trouble(enum mp_status_state state)
{
	return state == MP_STATUS_FAILED || state == MP_STATUS_PENDING ||
	       state == MP_STATUS_NEEDS_APPROVAL || state == MP_STATUS_NEEDS_AUTH;
}

/* In their order, or servers with problems first. */
static void choose_rows(struct table *t, size_t most, bool trouble_first)
{
	size_t n = mp_workspace_count(t->workspace);

	t->n = 0;
	for (int pass = trouble_first ? 0 : 1; pass < 2; pass++)
		for (size_t i = 0; i < n && t->n < most; i++) {
			bool first = trouble_first &&
				     is_trouble(mp_workspace_get_state(t->workspace, i, 0));

			if (first == (pass == 0))
				fill_row(t, i);
		}
}

static void live_table_measure(struct table *t)
{
	size_t sum = 1;

	for (size_t c = 0; c < CELLS; c++) {
		t->widths[c] = strlen(titles[c]);
		for (size_t i = 0; i < t->n; i++) {
			size_t width = mp_safe_get_width(mp_str_of(t->rows[i].cells[c]));

			if (width > t->widths[c])
				t->widths[c] = width;
		}
		sum += t->widths[c] + 1;
	}
	t->notes_below = sum + 1 + NOTE_ROOM > t->room->columns;
}

/* --- lines ----------------------------------------------------------------------------------- */

static void live_table_add(struct table *t, struct mp_str text)
{
	if (t->error == 0)
		t->error = mp_buf_add_str(t->out, text);
}

/* Add a line, cut to the width; n bytes after `from` are in color. */
static void add_line(struct table *t, struct mp_str line, size_t from, size_t n, const char *color)
{
	bool is_cut = mp_safe_get_width(line) > t->room->columns - 1;
	struct mp_str mark = mp_safe_get_cut_mark();

	if (is_cut)
		line.len = mp_safe_cut(line, t->room->columns - 1 - mp_safe_get_width(mark));
	if (!t->room->has_color || from + n > line.len) {
		live_table_add(t, line);
	} else {
		live_table_add(t, (struct mp_str){line.p, from});
		live_table_add(t, mp_str_of(color));
		live_table_add(t, (struct mp_str){line.p + from, n});
		live_table_add(t, MP_STR("\033[0m"));
		live_table_add(t, (struct mp_str){line.p + from + n, line.len - from - n});
	}
	if (is_cut)
		live_table_add(t, mark);
	live_table_add(t, MP_STR("\n"));
}

/* Words to the left, numbers to the right. */
static int add_cell(const struct table *t, struct mp_buf *line, size_t c, const char *text)
{
	int pad = (int)(t->widths[c] - mp_safe_get_width(mp_str_of(text)));

	if (c <= STATE)
		return mp_buf_addf(line, "%s%*s ", text, pad + (c == NAME), "");
	return mp_buf_addf(line, "%*s%s ", pad, "", text);
}

static void add_row(struct table *t, const struct row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	size_t state_at = 0;
	int r = 0;

	mp_buf_init(&line, MP_KIB(64));
	for (size_t c = 0; c < CELLS && r == 0; c++) {
		if (c == STATE)
			state_at = line.len;
		r = add_cell(t, &line, c, row->cells[c]);
	}
	if (r == 0 && row->note[0] && !t->notes_below)
		r = mp_buf_addf(&line, " %s", row->note);
	if (r < 0)
		t->error = t->error ? t->error : r;
	while (line.len && line.data[line.len - 1] == ' ')
		line.len--;
	add_line(t, mp_buf_get(&line), state_at, strlen(row->cells[STATE]), row->color);
	if (!t->notes_below || !row->note[0] || t->error)
		return;
	mp_buf_clear(&line);
	t->error = mp_buf_addf(&line, "  %s", row->note);
	add_line(t, mp_buf_get(&line), 0, line.len, "\033[2m");
}

static void add_summary(struct table *t)
{
	size_t counts[MP_STATUS_STATE_COUNT] = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	int r;

	mp_buf_init(&line, MP_KIB(4));
	for (size_t i = 0; i < mp_workspace_count(t->workspace); i++)
		counts[mp_workspace_get_state(t->workspace, i, 0)]++;
	r = mp_buf_addf(&line, "mcpool, %zu server%s", mp_workspace_count(t->workspace),
			mp_workspace_count(t->workspace) == 1 ? "" : "s");
	for (int k = 0; k < MP_STATUS_STATE_COUNT && r == 0; k++)
		if (counts[k])
			r = mp_buf_addf(&line, ", %zu %s", counts[k],
					mp_status_state_get_name((enum mp_status_state)k));
	t->error = t->error ? t->error : r;
	add_line(t, mp_buf_get(&line), 0, line.len, "\033[1m");
}

static void add_more(struct table *t, size_t n)
{
	char text[64];

	snprintf(text, sizeof(text), "... and %zu more", n);
	add_line(t, mp_str_of(text), 0, 0, "");
}

/* --- the table ------------------------------------------------------------------------------- */

/* How many rows fit, each with its note, plus a line that counts the others. */
static size_t count_fitting(const struct table *t, size_t lines)
{
	size_t all = mp_workspace_count(t->workspace), used = 0, n = 0;

	while (n < t->n) {
		size_t takes = t->notes_below && t->rows[n].note[0] ? 2 : 1;
		size_t rest = n + 1 < all ? 1 : 0;

		if (used + takes + rest > lines && !(n + 1 == all && used + takes <= lines))
			break;
		used += takes;
		n++;
	}
	return n;
}

/* Choose the rows; if not all fit, servers with problems come first. */
static size_t live_table_fill(struct table *t)
{
	size_t lines = t->room->lines - 2, all = mp_workspace_count(t->workspace), fitting = 0;
	size_t most = lines < MOST_ROWS ? lines : MOST_ROWS;

	t->rows = mp_arena_alloc_array(&t->arena, most, sizeof(*t->rows));
	for (int again = all > most ? 1 : 0; t->rows && again < 2; again++) {
		choose_rows(t, most, again);
		live_table_measure(t);
		fitting = count_fitting(t, lines);
		if (fitting == all)
			break;
	}
	return fitting;
}

int mp_live_table_draw(struct mp_workspace *v, const struct mp_live_room *room, struct mp_buf *out)
{
	struct mp_live_room fair = *room;
	struct table t = {.workspace = v, .room = &fair, .out = out};
	static const struct row head = {.note = "", .color = ""};
	struct row title = head;
	size_t fitting;

	fair.columns = room->columns > 20 ? room->columns : 20;
	fair.lines = room->lines > 3 ? room->lines : 3;
	mp_arena_init(&t.arena, MP_LIMIT_ARENA);
	fitting = live_table_fill(&t);
	add_summary(&t);
	for (size_t c = 0; c < CELLS; c++)
		title.cells[c] = titles[c];
	if (t.n)
		add_row(&t, &title);
	for (size_t i = 0; i < fitting; i++)
		add_row(&t, &t.rows[i]);
	if (fitting < mp_workspace_count(v))
		add_more(&t, mp_workspace_count(v) - fitting);
	if (t.error == 0)
		t.error = mp_arena_get_error(&t.arena);
	mp_arena_done(&t.arena);
	return t.error;
}
