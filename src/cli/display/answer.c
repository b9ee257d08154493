/*
 * answer.c - asks a person at a terminal to fill in a server's elicitation form, or to open an
 * address.
 * The server's text is made safe for the terminal (V40).
 */
#include "cli/display/answer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "cli/display/answer_field.h"
#include "cli/display/browser.h"
#include "cli/display/safe.h"
#include "cli/display/terminal.h"
#include "json/value.h"
#include "json/write.h"

enum { MAX_LINE = 4096 };

struct form {
	struct mp_tape t;
	struct mp_arena arena;
	mp_value schema;
	struct mp_writer w;
	struct mp_buf content;
	int stop_fd;
	bool is_over; /* the end of the input, or stop_fd */
};

bool mp_answer_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool read_line(struct form *f, const char *question, char *line, size_t size)
{
	bool ok = mp_terminal_ask_unless(question, f->stop_fd, line, size);

	clearerr(stdin);
	return ok;
}

static struct mp_str get_text(struct form *f, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&f->t, mp_value_get(&f->t, object, key), &f->arena, &text) < 0)
		return MP_STR("");
	return text;
}

static void answer_show(struct mp_str text, enum mp_safe_kind kind)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;

	mp_buf_init(&safe, 10 * MP_LIMIT_MESSAGE);
	if (mp_safe_add(&safe, text, kind) == 0)
		fprintf(stderr, "%.*s", MP_STR_ARGS(mp_buf_get(&safe)));
}

/* --- one field ------------------------------------------------------------------------------- */

static bool is_required(struct form *f, struct mp_str name)
{
	mp_value list = mp_value_get(&f->t, f->schema, "required");

	MP_VALUE_EACH(&f->t, list, v)
		if (mp_value_text_is(&f->t, v, name))
			return true;
	return false;
}

static void show_hint(struct form *f, mp_value field, bool required)
{
	mp_value otherwise = mp_value_get(&f->t, field, "default");
	MP_CLEANUP(mp_buf_done) struct mp_buf hint;

	mp_buf_init(&hint, MP_LIMIT_MESSAGE);
	answer_show(get_text(f, field, "description"), MP_SAFE_LINE);
	if (mp_answer_field_add_hint(&f->t, field, &f->arena, &hint) == 0)
		answer_show(mp_buf_get(&hint), MP_SAFE_LINE);
	if (otherwise != MP_NONE) {
		fputs(" [", stderr);
		answer_show(mp_value_source(&f->t, otherwise), MP_SAFE_LINE);
		fputc(']', stderr);
	} else if (!required) {
		fputs(" [leave out]", stderr);
	}
	fputc('\n', stderr);
}

/* NULL, or why the text is not a value of the field. */
static const char *take_value(struct form *f, mp_value key, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	struct mp_writer w;
	const char *wrong;

	mp_buf_init(&value, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &value, NULL);
	wrong = mp_answer_field_write(&f->t, mp_value_of(key), text, &f->arena, &w);
	if (wrong)
		return wrong;
	if (mp_write_finish(&w) < 0)
		return "It is too long.";
	mp_write_raw_key(&f->w, mp_value_source(&f->t, key));
	mp_write_raw(&f->w, mp_buf_get(&value));
	return NULL;
}

static void ask_field(struct form *f, mp_value key)
{
	mp_value field = mp_value_of(key), otherwise = mp_value_get(&f->t, field, "default");
	struct mp_str name, text;
	bool required;
	char line[MAX_LINE];
	const char *wrong = "";

	if (mp_value_text(&f->t, key, &f->arena, &name) < 0)
		return;
	required = is_required(f, name);
	answer_show(name, MP_SAFE_LINE);
	fputs(required ? " *: " : ": ", stderr);
	show_hint(f, field, required);
	while (wrong) {
		if (!read_line(f, ">", line, sizeof(line))) {
			f->is_over = true;
			return;
		}
		text = mp_str_trim(mp_str_of(line));
		if (text.len == 0 && otherwise != MP_NONE) {
			mp_write_raw_key(&f->w, mp_value_source(&f->t, key));
			mp_write_value(&f->w, &f->t, otherwise);
			return;
		}
		if (text.len == 0 && !required)
			return;
		wrong = text.len ? take_value(f, key, text) : "It is required.";
		if (wrong)
			fprintf(stderr, "%s\n", wrong);
	}
}

/* --- the form -------------------------------------------------------------------------------- */

static bool is_plain(struct form *f)
{
	mp_value fields = mp_value_get(&f->t, f->schema, "properties");

	if (!mp_value_is(&f->t, f->schema, MP_TAPE_OBJECT))
		return false;
	MP_VALUE_EACH(&f->t, fields, key)
		if (!mp_answer_field_is_plain(&f->t, mp_value_of(key)))
			return false;
	return true;
}

static int write_result(struct mp_buf *out, const char *action, struct mp_str content)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "action", mp_str_of(action));
	if (content.len)
		mp_write_member_raw(&w, "content", content);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int answer_fill(struct form *f, struct mp_buf *out)
{
	mp_value fields = mp_value_get(&f->t, f->schema, "properties");
	char line[16] = "";
	int r;

	mp_write_init(&f->w, &f->content, NULL);
	mp_write_begin_object(&f->w);
	MP_VALUE_EACH(&f->t, fields, key)
		if (!f->is_over)
			ask_field(f, key);
	mp_write_end_object(&f->w);
	r = mp_write_finish(&f->w);
	if (r < 0)
		return r;
	if (f->is_over || !read_line(f, "Send this? y (yes), n (no, decline), c (cancel) [y]:",
				     line, sizeof(line)))
		return write_result(out, "cancel", MP_STR(""));
	if (line[0] == 'n' || line[0] == 'N')
		return write_result(out, "decline", MP_STR(""));
	if (line[0] == 'c' || line[0] == 'C')
		return write_result(out, "cancel", MP_STR(""));
	return write_result(out, "accept", mp_buf_get(&f->content));
}

static int answer_ask(struct form *f, const char *server, struct mp_buf *out)
{
	fprintf(stderr, "%s asks: ", server);
	answer_show(get_text(f, MP_ROOT, "message"), MP_SAFE_TEXT);
	fputc('\n', stderr);
	return answer_fill(f, out);
}

/* --- an address ------------------------------------------------------------------------------ */

/* The server never learns more than that the user agreed. */
static int answer_visit(struct form *f, const char *server, struct mp_buf *out)
{
	struct mp_str url = get_text(f, MP_ROOT, "url");
	const char *copy = mp_arena_dup(&f->arena, url);
	const char *safe = copy ? mp_browser_check(copy, &f->arena) : NULL;
	char line[16] = "";

	fprintf(stderr, "%s asks you to open an address: ", server);
	answer_show(get_text(f, MP_ROOT, "message"), MP_SAFE_TEXT);
	fputs("\n  ", stderr);
	answer_show(safe ? mp_str_of(safe) : url, MP_SAFE_LINE); /* what would be opened */
	fputc('\n', stderr);
	if (!safe) {
		fputs("This is not an address that may be opened: declined.\n", stderr);
		return write_result(out, "decline", MP_STR(""));
	}
	if (!read_line(f, "Open it? y (yes), n (no, decline), c (cancel) [n]:", line,
		       sizeof(line)) ||
	    line[0] == 'c' || line[0] == 'C')
		return write_result(out, "cancel", MP_STR(""));
	if (line[0] != 'y' && line[0] != 'Y')
		return write_result(out, "decline", MP_STR(""));
	if (!mp_browser_open(safe))
		fputs("No browser could be started: open it yourself.\n", stderr);
	return write_result(out, "accept", MP_STR(""));
}

int mp_answer_form(const char *server, struct mp_str params, int stop_fd, struct mp_buf *out)
{
	struct form f = {.stop_fd = stop_fd};
	int r;

	mp_tape_init(&f.t, 0);
	mp_arena_init(&f.arena, MP_LIMIT_ARENA);
	mp_buf_init(&f.content, MP_LIMIT_MESSAGE);
	r = mp_tape_parse(&f.t, params, NULL);
	if (r == 0 && mp_value_text_is(&f.t, mp_value_get(&f.t, MP_ROOT, "mode"), MP_STR("url"))) {
		r = answer_visit(&f, server, out);
	} else if (r == 0) {
		f.schema = mp_value_get(&f.t, MP_ROOT, "requestedSchema");
		r = is_plain(&f) ? answer_ask(&f, server, out) : MCPOOL_ETYPE;
	}
	mp_buf_done(&f.content);
	mp_arena_done(&f.arena);
	mp_tape_done(&f.t);
	return r;
}
