/*
 * live_table.c - servers as a table that fits a terminal.
 */
#include "cli/display/live_table.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/shell.h"
#include "cli/display/safe.h"

/* A row has either all cells, or the first three and a note. */
enum { NAME, STATE, TOOLS, UPTIME, RESTARTS, MEMORY, CPU, RATE, P50, P99, QUEUE, CELLS };
_Static_assert((int)CELLS == (int)MP_LIVE_COLUMNS, "room for each width");

static const char *const titles[CELLS] = {"SERVER",   "STATE",  "TOOLS", "UPTIME",
					  "RESTARTS", "MEMORY", "CPU",   "CALLS/S",
					  "P50",      "P99",    "QUEUE"};
/* What is left out first where there is no room for all. */
static const int dispensable[] = {MEMORY, RESTARTS, UPTIME, QUEUE, P50, P99, RATE};
/* The same where processor time is measured: that and memory matter more. */
static const int dispensable_measured[] = {RESTARTS, UPTIME, QUEUE, P50, P99, MEMORY, CPU, RATE};

struct row {
	const char *cells[CELLS]; /* safe; in the arena, or static */
	const char *note;         /* safe; "": it has all cells */
	const char *color;
};

struct table {
	const struct mp_live_servers *servers;
	const struct mp_live_room *room;
	struct mp_arena arena;
	struct row *rows; /* in the arena */
	size_t n;
	size_t widths[CELLS];
	bool is_left_out[CELLS];
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

void mp_live_write_memory(int64_t bytes, char out[16])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 0) {
		snprintf(out, 16, "-");
		return;
	}
	for (; value >= 1000 && unit + 1 < MP_ARRAY_LEN(units); unit++)
		value /= 1024;
	if (value < 10 && unit > 0)
		snprintf(out, 16, "%.1f %s", value, units[unit]);
	else
		snprintf(out, 16, "%d %s", (int)(value < 99999 ? value : 99999), units[unit]);
}

void mp_live_write_rate(int64_t last_minute, char out[16])
{
	double rate = (double)last_minute / 60;

	if (last_minute < 0)
		snprintf(out, 16, "-");
	else if (last_minute == 0)
		snprintf(out, 16, "0");
	else if (rate < 1)
		snprintf(out, 16, "%.2f", rate);
	else if (rate < 100)
		snprintf(out, 16, "%.1f", rate);
	else
		snprintf(out, 16, "%.0f", rate < 1e9 ? rate : 1e9);
}

void mp_live_write_cpu(int64_t permille, char out[16])
{
	if (permille < 0)
		snprintf(out, 16, "-");
	else if (permille < 100)
		snprintf(out, 16, "%.1f%%", (double)permille / 10);
	else
		snprintf(out, 16, "%d%%", (int)(permille < 9999999 ? permille / 10 : 999999));
}

/* --- states ---------------------------------------------------------------------------------- */

static const char *get_shape(const char *utf8, const char *ascii)
{
	return mp_safe_has_utf8() ? utf8 : ascii;
}

const char *mp_live_get_shape(const struct mp_status *s)
{
	switch (s->state) {
	case MP_STATUS_CONNECTED:
		return get_shape("●", "*");
	case MP_STATUS_PENDING:
		return get_shape("◔", "~");
	case MP_STATUS_FAILED:
		return s->next_at_ms > 0 ? get_shape("▲", "!") : get_shape("■", "x");
	case MP_STATUS_NEEDS_APPROVAL:
		return get_shape("◆", "?");
	case MP_STATUS_NEEDS_AUTH:
		return get_shape("⚿", "@");
	case MP_STATUS_READY:
		return get_shape("○", "o");
	case MP_STATUS_DISABLED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return get_shape("–", "-");
}

/* What is normal has no colour. */
static const char *color_of(enum mp_status_state state)
{
	switch (state) {
	case MP_STATUS_CONNECTED:
		return "\033[0m";
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

/* `, attempt 3 of 5`, of the retries. */
static int add_attempt(const struct mp_status *s, struct mp_buf *out)
{
	if (s->tries <= 0)
		return 0;
	if (s->max_tries)
		return mp_buf_addf(out, ", attempt %lld of %lld", (long long)s->tries,
				   (long long)s->max_tries);
	return mp_buf_addf(out, ", attempt %lld", (long long)s->tries);
}

/* The cause comes first: what is cut off is the end. */
static int add_failure(const struct mp_status *s, int64_t wall_ms, struct mp_buf *out)
{
	int64_t left_ms = s->next_at_ms - wall_ms;
	int r = mp_buf_addf(out, "%s", s->error);

	if (r < 0 || s->next_at_ms <= 0)
		return r;
	r = mp_buf_addf(out, "%snext try in %lld s", s->error[0] ? "; " : "",
			(long long)(left_ms > 0 ? (left_ms + 999) / 1000 : 0));
	return r < 0 ? r : add_attempt(s, out);
}

static int add_pending(const struct mp_status *s, struct mp_buf *out)
{
	int r = mp_buf_addf(out, "%s", s->detail);

	if (r == 0)
		r = add_attempt(s, out);
	return r == 0 && s->error[0] ? mp_buf_addf(out, "; last error: %s", s->error) : r;
}

int mp_live_add_note(const struct mp_status *s, int64_t wall_ms, struct mp_buf *out)
{
	switch (s->state) {
	case MP_STATUS_PENDING:
		return add_pending(s, out);
	case MP_STATUS_FAILED:
		return add_failure(s, wall_ms, out);
	case MP_STATUS_NEEDS_APPROVAL:
		return mp_buf_addf(out, "mcpool trust %s", MP_SHELL_NAME(s->name));
	case MP_STATUS_NEEDS_AUTH:
	case MP_STATUS_DISABLED:
		return mp_buf_addf(out, "%s", s->error);
	case MP_STATUS_READY:
		return mp_buf_addf(out, "%s",
				   strcmp(s->detail, "stopping") == 0 ? "stopping"
								      : "starts when it is called");
	case MP_STATUS_CONNECTED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return 0;
}

/* --- one row --------------------------------------------------------------------------------- */

/* A text of a server or a file, on one line and made safe. */
static const char *keep_safe(struct table *t, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	const char *kept;

	mp_buf_init(&safe, MP_MIB(1));
	if (mp_safe_add(&safe, text, MP_SAFE_LINE) < 0)
		return "(too large to show)";
	kept = mp_arena_dup(&t->arena, mp_buf_get(&safe));
	return kept ? kept : "";
}

static const char *MP_PRINTF(2, 3) live_table_keepf(struct table *t, const char *format, ...)
{
	char text[128];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* may be truncated */
	va_end(args);
	return keep_safe(t, mp_str_of(text));
}

static const char *note_of(struct table *t, const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(64));
	if (mp_live_add_note(s, t->room->wall_ms, &text) < 0)
		return "(too large to show)";
	return keep_safe(t, mp_buf_get(&text));
}

static const char *count_cell(struct table *t, int64_t n)
{
	return n >= 0 ? live_table_keepf(t, "%lld", (long long)n) : "-";
}

static const char *written_cell(struct table *t, void (*write)(int64_t n, char out[16]), int64_t n)
{
	char text[16];

	write(n, text);
	return live_table_keepf(t, "%s", text);
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

	t->servers->take(t->servers->u, i, &t->arena, &s);
	row->cells[NAME] = keep_safe(t, mp_str_of(s.name));
	row->cells[STATE] = live_table_keepf(t, "%s %s", mp_live_get_shape(&s),
					     mp_status_state_get_name(s.state));
	row->cells[TOOLS] = tools_cell(t, &s);
	row->cells[UPTIME] = written_cell(t, mp_live_write_age, s.uptime_ms);
	row->cells[RESTARTS] = count_cell(t, s.restarts);
	row->cells[MEMORY] = written_cell(t, mp_live_write_memory, s.memory);
	row->cells[CPU] = t->servers->get_cpu ? written_cell(t, mp_live_write_cpu,
							     t->servers->get_cpu(t->servers->u, i))
					      : "-";
	row->cells[RATE] = written_cell(t, mp_live_write_rate, s.calls_last_minute);
	row->cells[P50] = written_cell(t, mp_live_write_latency, s.p50_us);
	row->cells[P99] = written_cell(t, mp_live_write_latency, s.p99_us);
	row->cells[QUEUE] = count_cell(t, s.waiting);
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
	const struct mp_live_servers *servers = t->servers;

	for (int pass = trouble_first ? 0 : 1; pass < 2; pass++)
		for (size_t i = 0; i < servers->n && t->n < most; i++) {
			bool first = trouble_first && is_trouble(servers->get_state(servers->u, i));

			if (first == (pass == 0))
				fill_row(t, i);
		}
}

static size_t get_cells(const struct row *row)
{
	return row->note[0] ? UPTIME : CELLS;
}

static size_t sum_widths(const struct table *t)
{
	size_t sum = 0;

	for (size_t c = 0; c < CELLS; c++)
		if (!t->is_left_out[c])
			sum += t->widths[c] + 2;
	return sum;
}

/* Columns that there is no room for. */
static void live_table_narrow(struct table *t)
{
	bool has_cpu = t->servers->get_cpu;
	const int *out = has_cpu ? dispensable_measured : dispensable;
	size_t n = has_cpu ? MP_ARRAY_LEN(dispensable_measured) : MP_ARRAY_LEN(dispensable);

	t->is_left_out[CPU] = t->is_left_out[CPU] || !has_cpu;
	for (size_t i = 0; i < n && sum_widths(t) > t->room->columns; i++)
		t->is_left_out[out[i]] = true;
}

static void live_table_measure(struct table *t)
{
	bool has_figures = false;

	for (size_t c = 0; c < CELLS; c++) {
		t->widths[c] = strlen(titles[c]);
		if (t->room->widths && t->room->widths[c] > t->widths[c])
			t->widths[c] = t->room->widths[c];
	}
	for (size_t i = 0; i < t->n; i++) {
		has_figures = has_figures || !t->rows[i].note[0];
		for (size_t c = 0; c < get_cells(&t->rows[i]); c++) {
			size_t width = mp_safe_get_width(mp_str_of(t->rows[i].cells[c]));

			if (width > t->widths[c])
				t->widths[c] = width;
		}
	}
	if (t->widths[NAME] > t->room->columns / 2)
		t->widths[NAME] = t->room->columns / 2; /* a longer name moves its own row only */
	for (size_t c = UPTIME; c < CELLS; c++)
		t->is_left_out[c] = !has_figures && !t->room->widths;
	live_table_narrow(t);
	if (t->room->widths)
		memcpy(t->room->widths, t->widths, sizeof(t->widths));
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
	size_t width = mp_safe_get_width(mp_str_of(text));
	int pad = width < t->widths[c] ? (int)(t->widths[c] - width) : 0;

	if (c <= STATE)
		return mp_buf_addf(line, "%s%*s  ", text, pad, "");
	return mp_buf_addf(line, "%*s%s  ", pad, "", text);
}

static void add_row(struct table *t, const struct row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	size_t state_at = 0;
	int r = 0;

	mp_buf_init(&line, MP_MIB(1));
	for (size_t c = 0; c < get_cells(row) && r == 0; c++) {
		if (c == STATE)
			state_at = line.len;
		if (!t->is_left_out[c])
			r = add_cell(t, &line, c, row->cells[c]);
	}
	if (r == 0)
		r = mp_buf_addf(&line, "%s", row->note);
	if (r < 0)
		t->error = t->error ? t->error : r;
	while (line.len && line.data[line.len - 1] == ' ')
		line.len--;
	add_line(t, mp_buf_get(&line), state_at, strlen(row->cells[STATE]), row->color);
}

static void add_title(struct table *t)
{
	struct row title = {.note = "", .color = ""};

	for (size_t c = 0; c < CELLS; c++)
		title.cells[c] = titles[c];
	add_row(t, &title);
}

static void add_more(struct table *t, size_t n)
{
	char text[64];

	snprintf(text, sizeof(text), "... and %zu more", n);
	add_line(t, mp_str_of(text), 0, 0, "");
}

int mp_live_add_counts(const struct mp_live_servers *servers, struct mp_buf *out)
{
	size_t counts[MP_STATUS_STATE_COUNT] = {0};
	const char *comma = "";
	int r = 0;

	for (size_t i = 0; i < servers->n; i++)
		counts[servers->get_state(servers->u, i)]++;
	for (int k = 0; k < MP_STATUS_STATE_COUNT && r == 0; k++)
		if (counts[k]) {
			r = mp_buf_addf(out, "%s%zu %s", comma, counts[k],
					mp_status_state_get_name((enum mp_status_state)k));
			comma = ", ";
		}
	return r;
}

/* --- the table ------------------------------------------------------------------------------- */

static struct mp_live_room room_fix(const struct mp_live_room *room)
{
	struct mp_live_room r = *room;

	r.columns = room->columns == 0 ? SIZE_MAX / 2 : room->columns > 20 ? room->columns : 20;
	r.lines = room->lines == 0 ? SIZE_MAX : room->lines > 3 ? room->lines : 3;
	return r;
}

int mp_live_table_draw(const struct mp_live_servers *servers, const struct mp_live_room *room,
		       struct mp_buf *out)
{
	struct mp_live_room fixed = room_fix(room);
	struct table t = {.servers = servers, .room = &fixed, .out = out};
	size_t most = fixed.lines - 1;

	if (servers->n > most)
		most--; /* a line counts the others */
	if (most > servers->n)
		most = servers->n;
	mp_arena_init(&t.arena, MP_LIMIT_ARENA);
	t.rows = mp_arena_alloc_array(&t.arena, most + 1, sizeof(*t.rows));
	if (t.rows)
		choose_rows(&t, most, most < servers->n);
	live_table_measure(&t);
	if (t.n)
		add_title(&t);
	for (size_t i = 0; i < t.n; i++)
		add_row(&t, &t.rows[i]);
	if (t.n < servers->n)
		add_more(&t, servers->n - t.n);
	if (t.error == 0)
		t.error = mp_arena_get_error(&t.arena);
	mp_arena_done(&t.arena);
	return t.error;
}
