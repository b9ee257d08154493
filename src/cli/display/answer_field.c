/*
 * answer_field.c - one field of an elicitation form: what it takes, and a typed text as its value.
 * Choices are typed by value, title or number, several of them with commas between.
 */
#include "cli/display/answer_field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"

enum { MOST_CHOSEN = 64 };

static bool is_type(const struct mp_tape *t, mp_value field, const char *type)
{
	return mp_value_text_is(t, mp_value_get(t, field, "type"), mp_str_of(type));
}

static const char *MP_PRINTF(2, 3) arena_format(struct mp_arena *arena, const char *format, ...)
{
	char text[256];
	const char *kept;
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* may be cut */
	va_end(args);
	kept = mp_arena_dup(arena, mp_str_of(text));
	return kept ? kept : "Please type another value.";
}

/* --- choices --------------------------------------------------------------------------------- */

/* The values to choose from: strings, or objects with const and title. MP_NONE: any. */
static mp_value get_choices(const struct mp_tape *t, mp_value field)
{
	static const char *const keys[] = {"enum", "oneOf", "anyOf"};
	mp_value from = is_type(t, field, "array") ? mp_value_get(t, field, "items") : field;

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++) {
		mp_value list = mp_value_get(t, from, keys[i]);

		if (mp_value_is(t, list, MP_TAPE_ARRAY))
			return list;
	}
	return MP_NONE;
}

static struct mp_str get_text(const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	struct mp_str text;

	return mp_value_text(t, v, arena, &text) < 0 ? MP_STR("") : text;
}

static struct mp_str choice_get_value(const struct mp_tape *t, mp_value choice,
				      struct mp_arena *arena)
{
	bool is_titled = mp_value_is(t, choice, MP_TAPE_OBJECT);

	return get_text(t, is_titled ? mp_value_get(t, choice, "const") : choice, arena);
}

/* The title of a choice; of the older form in a list beside it. */
static struct mp_str choice_get_title(const struct mp_tape *t, mp_value field, mp_value choice,
				      size_t at, struct mp_arena *arena)
{
	mp_value names = mp_value_get(t, field, "enumNames");

	if (mp_value_is(t, choice, MP_TAPE_OBJECT))
		return get_text(t, mp_value_get(t, choice, "title"), arena);
	MP_VALUE_EACH(t, names, name)
		if (at-- == 0)
			return get_text(t, name, arena);
	return MP_STR("");
}

static bool equals_word(struct mp_str a, struct mp_str b)
{
	return a.len == b.len && a.len > 0 && strncasecmp(a.p, b.p, a.len) == 0;
}

static bool choice_find(const struct mp_tape *t, mp_value field, struct mp_str text,
			struct mp_arena *arena, struct mp_str *ret_value)
{
	mp_value list = get_choices(t, field);
	int64_t number = 0;
	size_t at = 0;

	MP_VALUE_EACH(t, list, choice) {
		*ret_value = choice_get_value(t, choice, arena);
		if (equals_word(text, *ret_value) ||
		    equals_word(text, choice_get_title(t, field, choice, at, arena)))
			return true;
		at++;
	}
	if (mp_str_to_i64(text, &number) < 0 || number < 1)
		return false;
	MP_VALUE_EACH(t, list, choice) {
		*ret_value = choice_get_value(t, choice, arena);
		if (--number == 0)
			return true;
	}
	return false;
}

static int64_t get_limit(const struct mp_tape *t, mp_value field, const char *key,
			 int64_t otherwise)
{
	int64_t n;

	return mp_value_i64(t, mp_value_get(t, field, key), &n) < 0 ? otherwise : n;
}

/* "red, 3" */
static const char *write_chosen(const struct mp_tape *t, mp_value field, struct mp_str text,
				struct mp_arena *arena, struct mp_writer *w)
{
	int64_t least = get_limit(t, field, "minItems", 0);
	int64_t most = get_limit(t, field, "maxItems", MOST_CHOSEN);
	struct mp_str values[MOST_CHOSEN];
	size_t n = 0;

	while (text.len && n < MOST_CHOSEN) {
		ptrdiff_t comma = mp_str_find(text, MP_STR(","), 0);
		size_t len = comma < 0 ? text.len : (size_t)comma;
		struct mp_str one = mp_str_trim((struct mp_str){text.p, len});

		len += comma >= 0;
		text = (struct mp_str){text.p + len, text.len - len};
		if (!choice_find(t, field, one, arena, &values[n++]))
			return "Please type values of the list, with commas between.";
	}
	if ((int64_t)n < least || (int64_t)n > most)
		return arena_format(arena, "Please choose %lld to %lld of them.", (long long)least,
				    (long long)most);
	mp_write_begin_array(w);
	for (size_t i = 0; i < n; i++)
		mp_write_text(w, values[i]);
	mp_write_end_array(w);
	return NULL;
}

/* --- other values ---------------------------------------------------------------------------- */

static const char *write_bool(struct mp_str text, struct mp_writer *w)
{
	static const char *const words[] = {"n", "no", "false", "y", "yes", "true"};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++)
		if (equals_word(text, mp_str_of(words[i]))) {
			mp_write_bool(w, i >= 3);
			return NULL;
		}
	return "Please type yes or no.";
}

static const char *write_number(const struct mp_tape *t, mp_value field, struct mp_str text,
				struct mp_arena *arena, struct mp_writer *w)
{
	bool is_whole = is_type(t, field, "integer");
	MP_CLEANUP(mp_tape_done) struct mp_tape typed;
	double number, limit;

	mp_tape_init(&typed, 0);
	if (mp_tape_parse(&typed, text, NULL) < 0 || mp_value_f64(&typed, MP_ROOT, &number) < 0 ||
	    (is_whole && !(mp_value_node(&typed, MP_ROOT)->flags & MP_TAPE_WHOLE)))
		return is_whole ? "Please type a whole number." : "Please type a number.";
	if (mp_value_f64(t, mp_value_get(t, field, "minimum"), &limit) == 0 && number < limit)
		return arena_format(arena, "It must be at least %g.", limit);
	if (mp_value_f64(t, mp_value_get(t, field, "maximum"), &limit) == 0 && number > limit)
		return arena_format(arena, "It must be at most %g.", limit);
	mp_write_raw(w, text);
	return NULL;
}

static bool is_like(struct mp_str text, const char *pattern)
{
	size_t n = strlen(pattern);

	if (text.len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (pattern[i] == '0' ? text.p[i] < '0' || text.p[i] > '9'
				      : text.p[i] != pattern[i])
			return false;
	return true;
}

/* What is plainly wrong only; the server checks it again. */
static const char *check_format(const struct mp_tape *t, mp_value field, struct mp_str text)
{
	mp_value format = mp_value_get(t, field, "format");
	ptrdiff_t at = mp_str_find(text, MP_STR("@"), 0);

	if (mp_value_text_is(t, format, MP_STR("email")) && (at <= 0 || (size_t)at + 1 == text.len))
		return "Please type an e-mail address.";
	if (mp_value_text_is(t, format, MP_STR("uri")) && mp_str_find(text, MP_STR(":"), 0) <= 0)
		return "Please type an address, as https://example.com/.";
	if (mp_value_text_is(t, format, MP_STR("date")) &&
	    (!is_like(text, "0000-00-00") || text.len != 10))
		return "Please type a date, as 2026-07-28.";
	if (mp_value_text_is(t, format, MP_STR("date-time")) &&
	    !is_like(text, "0000-00-00T00:00:00"))
		return "Please type a time, as 2026-07-28T12:00:00Z.";
	return NULL;
}

static int64_t count_characters(struct mp_str text)
{
	int64_t n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += (text.p[i] & 0xc0) != 0x80;
	return n;
}

static const char *write_string(const struct mp_tape *t, mp_value field, struct mp_str text,
				struct mp_arena *arena, struct mp_writer *w)
{
	int64_t least = get_limit(t, field, "minLength", 0);
	int64_t most = get_limit(t, field, "maxLength", INT64_MAX);
	const char *wrong = check_format(t, field, text);

	if (wrong)
		return wrong;
	if (count_characters(text) < least)
		return arena_format(arena, "It must have at least %lld characters.",
				    (long long)least);
	if (count_characters(text) > most)
		return arena_format(arena, "It must have at most %lld characters.",
				    (long long)most);
	mp_write_text(w, text);
	return NULL;
}

/* --- a field --------------------------------------------------------------------------------- */

bool mp_answer_field_is_plain(const struct mp_tape *t, mp_value field)
{
	return !is_type(t, field, "object") &&
	       (!is_type(t, field, "array") || get_choices(t, field) != MP_NONE);
}

const char *mp_answer_field_write(const struct mp_tape *t, mp_value field, struct mp_str text,
				  struct mp_arena *arena, struct mp_writer *w)
{
	struct mp_str value;

	if (is_type(t, field, "array"))
		return write_chosen(t, field, text, arena, w);
	if (get_choices(t, field) != MP_NONE) {
		if (!choice_find(t, field, text, arena, &value))
			return "Please type one of these values.";
		mp_write_text(w, value);
		return NULL;
	}
	if (is_type(t, field, "boolean"))
		return write_bool(text, w);
	if (is_type(t, field, "number") || is_type(t, field, "integer"))
		return write_number(t, field, text, arena, w);
	return write_string(t, field, text, arena, w);
}

static int add_choices(const struct mp_tape *t, mp_value field, struct mp_arena *arena,
		       struct mp_buf *out)
{
	const char *before = is_type(t, field, "array") ? " (several of: " : " (";
	size_t at = 0;
	int r = 0;

	MP_VALUE_EACH(t, get_choices(t, field), choice) {
		struct mp_str title = choice_get_title(t, field, choice, at, arena);
		struct mp_str value = choice_get_value(t, choice, arena);

		if (r == 0)
			r = mp_buf_addf(out, "%s%zu %.*s", before, ++at,
					MP_STR_ARGS(title.len ? title : value));
		before = ", ";
	}
	return r < 0 ? r : mp_buf_add_char(out, ')');
}

int mp_answer_field_add_hint(const struct mp_tape *t, mp_value field, struct mp_arena *arena,
			     struct mp_buf *out)
{
	double least, most;

	if (mp_value_count(t, get_choices(t, field)) > 0)
		return add_choices(t, field, arena, out);
	if (is_type(t, field, "boolean"))
		return mp_buf_addf(out, " (yes or no)");
	if (mp_value_f64(t, mp_value_get(t, field, "minimum"), &least) == 0 &&
	    mp_value_f64(t, mp_value_get(t, field, "maximum"), &most) == 0)
		return mp_buf_addf(out, " (%g to %g)", least, most);
	return 0;
}
