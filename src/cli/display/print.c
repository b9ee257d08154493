/*
 * print.c - prints tables, JSON and server content on stdout.
 * On a terminal a server's text is made safe (V40); into a pipe or file it is written unchanged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/live_table.h"
#include "cli/display/media.h"
#include "cli/display/safe.h"
#include "json/write.h"
#include "session/oversize.h"
#include "session/text.h"

enum { LAST_WORDS = 10 }; /* stderr lines shown with a failure */

/* The maximum size of a safe text: every byte could become \u{e0001}. */
#define MAX_SAFE (10 * MP_LIMIT_MESSAGE)

bool mp_print_is_terminal(void)
{
	return isatty(STDOUT_FILENO);
}

static void write_safe(struct mp_str text, enum mp_safe_kind kind)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;

	mp_buf_init(&safe, MAX_SAFE);
	if (mp_safe_add(&safe, text, kind) < 0)
		fputs("(too large to show)", stdout);
	else
		fwrite(safe.data, 1, safe.len, stdout);
}

void mp_print_text(struct mp_str text)
{
	if (mp_print_is_terminal())
		write_safe(text, MP_SAFE_TEXT);
	else if (text.len)
		fwrite(text.p, 1, text.len, stdout);
}

/* --- tables ---------------------------------------------------------------------------------- */

/* Columns: of an aligned cell at most; between cells; of a text column at least. */
enum { WIDEST = 44, GAP = 2, LEAST_TEXT = 40 };

size_t mp_print_get_columns(int fd)
{
	struct winsize size;
	const char *given = getenv("COLUMNS");
	int64_t columns;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (given && mp_str_to_i64(mp_str_of(given), &columns) == 0 && columns > 0)
		return (size_t)columns;
	return 80;
}

static void print_pad(size_t n)
{
	printf("%*s", (int)n, "");
}

bool mp_print_has_color(void)
{
	const char *term = getenv("TERM");

	return mp_print_is_terminal() && !mp_safe_is_plain() && !getenv("NO_COLOR") && term &&
	       strcmp(term, "dumb") != 0;
}

/* Print a cell, cut if it does not fit. Returns its width. */
static size_t print_cell(struct mp_str text, size_t room)
{
	struct mp_str mark = mp_safe_get_cut_mark();
	size_t width = mp_safe_get_width(text), n = mp_safe_get_width(mark);
	const char *color = mp_print_has_color() ? mp_live_get_color(text) : NULL;

	if (width > room && room > n) {
		text.len = mp_safe_cut(text, room - n);
		fwrite(text.p, 1, text.len, stdout);
		fwrite(mark.p, 1, mark.len, stdout);
		return mp_safe_get_width(text) + n;
	}
	if (width > room)
		return 0;
	if (color)
		printf("%s%.*s\033[0m", color, MP_STR_ARGS(text));
	else if (text.len)
		fwrite(text.p, 1, text.len, stdout);
	return width;
}

/*
 * The first cell is a name that users copy: it is never cut. Into a pipe nothing is cut, but a very
 * long cell does not widen the other rows.
 */
static void print_row(const struct mp_str *cells, size_t columns, const size_t *widths,
		      size_t terminal)
{
	size_t used = 0;

	for (size_t i = 0; i < columns && used < terminal; i++) {
		size_t left = terminal - used, width;
		bool last = i + 1 == columns || left < widths[i] + GAP + 1;

		width = print_cell(cells[i], i == 0 || terminal == SIZE_MAX ? SIZE_MAX
					     : last                         ? left
									    : widths[i]);
		if (last)
			break;
		if (width < widths[i])
			print_pad(widths[i] - width);
		print_pad(GAP);
		used += (width > widths[i] ? width : widths[i]) + GAP;
	}
	putchar('\n');
}

/* The name may take all the width; each later column half of the rest. */
static void print_fit(size_t *widths, size_t columns, size_t terminal)
{
	size_t left = terminal;

	for (size_t i = 0; i + 1 < columns; i++) {
		size_t most = i ? left / 2 : left;

		if (widths[i] > most)
			widths[i] = most;
		left -= widths[i] + GAP < left ? widths[i] + GAP : left;
	}
}

/* A full last column wraps on some terminals. */
static size_t get_room(void)
{
	size_t terminal = mp_print_get_columns(STDOUT_FILENO);

	return terminal == 0 ? SIZE_MAX : terminal > 1 ? terminal - 1 : 1;
}

/* Names may be wider than other cells if a text column still fits. */
static size_t get_widest(size_t column, size_t terminal)
{
	if (column > 0 || terminal == SIZE_MAX || terminal < WIDEST + GAP + LEAST_TEXT)
		return WIDEST;
	return terminal - GAP - LEAST_TEXT;
}

void mp_print_table(const struct mp_table_row *rows, size_t n, size_t columns)
{
	size_t widths[4] = {0}, terminal = get_room();

	for (int print = 0; print < 2; print++) {
		if (print)
			print_fit(widths, columns, terminal);
		for (size_t i = 0; i < n; i++) {
			MP_CLEANUP(mp_buf_done) struct mp_buf text;
			struct mp_str cells[4];
			size_t ends[4];

			mp_buf_init(&text, MAX_SAFE);
			for (size_t c = 0; c < columns; c++) {
				if (mp_safe_add(&text, rows[i].cells[c], MP_SAFE_LINE) < 0)
					return;
				ends[c] = text.len;
			}
			for (size_t c = 0; c < columns; c++) {
				size_t start = c ? ends[c - 1] : 0, width;
				size_t widest = get_widest(c, terminal);

				cells[c] = (struct mp_str){text.data + start, ends[c] - start};
				width = mp_safe_get_width(cells[c]);
				if (width > widest)
					width = widest;
				if (!print && width > widths[c])
					widths[c] = width;
			}
			if (print)
				print_row(cells, columns, widths, terminal);
		}
	}
}

static size_t get_widest_cell(const struct mp_table_row *rows, size_t n, size_t column)
{
	size_t widest = 0;

	for (size_t i = 0; i < n; i++) {
		size_t width = mp_safe_get_width(rows[i].cells[column]);

		if (width > widest)
			widest = width;
	}
	return widest;
}

/* A title adds little to the name: it is dropped first. */
void mp_print_items(struct mp_table_row *rows, size_t n)
{
	size_t room = get_room(), titles = get_widest_cell(rows, n, 1);

	if (room == SIZE_MAX ||
	    (titles > 0 &&
	     get_widest_cell(rows, n, 0) + titles + (size_t)2 * GAP + LEAST_TEXT <= room)) {
		mp_print_table(rows, n, 3);
		return;
	}
	for (size_t i = 0; i < n; i++)
		rows[i].cells[1] = rows[i].cells[2].len ? rows[i].cells[2] : rows[i].cells[1];
	mp_print_table(rows, n, 2);
}

/* --- JSON ------------------------------------------------------------------------------------ */

/* Escapes in JSON strings already cover controls; the rest is made safe like other text. */
static bool has_json;

bool mp_print_has_json(void)
{
	return has_json;
}

void mp_print_need_no_json(void)
{
	has_json = true;
}

void mp_print_json(struct mp_str json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_tape_init(&t, 0);
	mp_buf_init(&text, MAX_SAFE);
	if (mp_print_is_terminal() && mp_tape_parse(&t, json, NULL) == 0) {
		mp_write_init(&w, &text, "  ");
		mp_write_value(&w, &t, MP_ROOT);
		if (mp_write_finish(&w) == 0)
			json = mp_buf_get(&text);
	}
	mp_print_text(json);
	putchar('\n');
	has_json = true;
}

int mp_print_json_line(struct mp_str json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;

	mp_buf_init(&safe, MAX_SAFE);
	if (mp_print_is_terminal()) {
		int r = mp_safe_add_json(&safe, json);

		if (r < 0)
			return r;
		json = mp_buf_get(&safe);
	}
	if (fwrite(json.p, 1, json.len, stdout) != json.len || putchar('\n') == EOF)
		return MCPOOL_EIO;
	return 0;
}

void mp_print_problems(const char *server, const struct mp_catalog_list *l)
{
	static const char *const what[] = {"tools", "prompts", "resources", "resource templates"};

	for (size_t i = 0; i < l->n_problems; i++)
		mp_cli_complain("%s: %s left out or cut: %s", server, what[l->kind],
				l->problems[i]);
}

void mp_print_write_error(struct mp_writer *w, const char *server, const char *error)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "server", mp_str_of(server));
	mp_write_member_text(w, "error", mp_str_of(error));
	mp_write_end_object(w);
}

void mp_print_write_errors(struct mp_writer *w, const char *server, const struct mp_catalog_list *l)
{
	for (size_t i = 0; i < l->n_problems; i++)
		mp_print_write_error(w, server, l->problems[i]);
}

/* --- content --------------------------------------------------------------------------------- */

static struct mp_str text_of(const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	struct mp_str text;

	if (mp_value_text(t, v, arena, &text) < 0)
		return MP_STR("");
	return text;
}

static void print_note(const char *what, struct mp_str a, size_t bytes)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf note;

	mp_buf_init(&note, MP_LIMIT_MESSAGE);
	if (mp_buf_addf(&note, "[%s %.*s", what, MP_STR_ARGS(a)) < 0 ||
	    (bytes && mp_buf_addf(&note, ", %zu bytes", bytes) < 0) ||
	    mp_buf_add_char(&note, ']') < 0)
		return;
	write_safe(mp_buf_get(&note), MP_SAFE_LINE);
}

static size_t decoded_size(struct mp_str base64)
{
	while (base64.len && base64.p[base64.len - 1] == '=')
		base64.len--;
	return base64.len * 3 / 4;
}

void mp_print_content(const struct mp_tape *t, mp_value block, bool first)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	if (!first)
		fputs("\n\n", stdout);
	if (mp_text_add_block(t, block, &text) == 0)
		mp_print_text(mp_buf_get(&text));
}

int mp_print_result(struct mp_str result, struct mp_str json, const struct mp_result_settings *how)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	struct mp_oversize_options o = {(size_t)how->max_bytes, how->join};
	struct mcpool_error why;
	bool is_error;
	int r;

	mp_buf_init(&shown, 2 * MP_LIMIT_MESSAGE);
	if (json.len)
		r = mp_text_project(result, how->join, &shown, &is_error);
	else
		r = mp_oversize_write_text(result, &o, &shown, &is_error, &why);
	if (r < 0)
		return r;
	if (!json.len && why.code < 0)
		mp_cli_complain("the result cannot be stored: %s", why.message);
	if (json.len)
		mp_print_json(json);
	else
		mp_print_text(mp_buf_get(&shown));
	if (!json.len && shown.len)
		putchar('\n');
	return is_error ? MP_EXIT_TOOL_ERROR : MP_EXIT_DONE;
}

int mp_print_resource(const struct mp_tape *t, mp_value contents)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value blob = mp_value_get(t, contents, "blob");
	struct mp_str data;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!mp_value_is(t, blob, MP_TAPE_STRING)) {
		struct mp_str text = text_of(t, mp_value_get(t, contents, "text"), &arena);

		mp_print_text(text);
		if (mp_print_is_terminal() && text.len && text.p[text.len - 1] != '\n')
			putchar('\n');
		return 0;
	}
	data = text_of(t, blob, &arena);
	if (mp_print_is_terminal()) {
		print_note("binary", text_of(t, mp_value_get(t, contents, "mimeType"), &arena),
			   decoded_size(data));
		puts(" (redirect to a file to save it)");
		return 0;
	}
	return mp_media_decode(data, stdout) ? 0 : MCPOOL_EPROTO;
}

void mp_print_tail(struct mp_str tail)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str rest;

	mp_buf_init(&safe, MP_LIMIT_STDERR_RING * 16);
	if (tail.len == 0 || mp_safe_add(&safe, tail, MP_SAFE_TEXT) < 0)
		return;
	fprintf(stderr, "its last words on stderr:\n");
	rest = mp_buf_get(&safe);
	while (rest.len) {
		ptrdiff_t at = mp_str_find(rest, MP_STR("\n"), 0);
		size_t n = at < 0 ? rest.len : (size_t)at;

		fprintf(stderr, "  | %.*s\n", (int)n, rest.p);
		n += at >= 0;
		rest = (struct mp_str){rest.p + n, rest.len - n};
	}
}

int mp_print_finish(int exit_code)
{
	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || exit_code != MP_EXIT_DONE || errno == EPIPE)
		return exit_code;
	mp_cli_complain("the output could not be written%s%s", errno ? ": " : "",
			errno ? strerror(errno) : "");
	return MP_EXIT_START;
}
