/*
 * cause.c - why a server does not work, and what to type: finds the row of causes.def.
 */
#include "pool/cause.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"

/* --- the table ------------------------------------------------------------------------------- */

/* Where the words of a row are looked for. */
enum place { MESSAGE, TAIL };

/* What WORD in a row's texts is; a row whose WORD is not found does not apply. */
enum capture {
	NOTHING,
	QUOTED,  /* the first text in quotes behind the place where the words are, or on the line */
	PORT,    /* the digits that end the line's address */
	NAME_OF, /* the name of a variable: capital letters with a low line */
	BRACES,  /* the text behind the words, up to the brace */
	HOST,    /* the host of the address on the line */
	VERSION, /* "Node.js v20.1.0" anywhere in the text, or "the one it is started with" */
};

static const struct row {
	enum place place;
	const char *words, *more; /* both are on one line; more may be NULL */
	enum capture capture;
	const char *what, *fix;
} rows[] = {
/* clang-format off */
#define CAUSE(...) {__VA_ARGS__},
#define GENERAL(...)
#include "pool/causes.def"
#undef CAUSE
#undef GENERAL
};

/* Where no words are known: what the error is about. */
static const struct row by_kind[] = {
#define CAUSE(...)
#define GENERAL(...) {__VA_ARGS__},
#include "pool/causes.def"
#undef CAUSE
#undef GENERAL
	/* clang-format on */
};

/* --- lines ----------------------------------------------------------------------------------- */

/* The next line of *rest, which then begins behind it. */
static struct mp_str line_take(struct mp_str *rest)
{
	ptrdiff_t at = mp_str_find(*rest, MP_STR("\n"), 0);
	size_t n = at < 0 ? rest->len : (size_t)at;
	struct mp_str line = {rest->p, n};

	n += at >= 0;
	*rest = (struct mp_str){rest->p + n, rest->len - n};
	return line;
}

static bool line_has(struct mp_str line, const char *words)
{
	return !words || mp_str_find(line, mp_str_of(words), 0) >= 0;
}

/* "TypeError: ...", "Error [ERR_X]: ...", "error: ..."; not "0 errors". */
static bool line_is_error(struct mp_str line)
{
	line = mp_str_trim(line);
	for (size_t i = 0; i < line.len && line.p[i] != ' '; i++)
		if (line.p[i] == ':')
			return i >= 5 && (memcmp(line.p + i - 5, "Error", 5) == 0 ||
					  memcmp(line.p + i - 5, "error", 5) == 0);
	return mp_str_starts(line, MP_STR("Error "));
}

/* npm prints codes and numbers, what happened, advice, and in the end where its log is. */
static struct mp_str npm_find_line(struct mp_str tail)
{
	static const char *const dull[] = {" code ", " syscall ", " errno "};
	struct mp_str rest = tail;

	while (rest.len) {
		struct mp_str line = mp_str_trim(line_take(&rest));
		bool is_dull = false;

		for (size_t i = 0; i < MP_ARRAY_LEN(dull); i++)
			is_dull = is_dull || line_has(line, dull[i]);
		if (!is_dull && (mp_str_starts(line, MP_STR("npm error ")) ||
				 mp_str_starts(line, MP_STR("npm ERR! "))))
			return line;
	}
	return mp_str_get_last_line(tail);
}

struct mp_str mp_cause_get_line(struct mp_str tail)
{
	struct mp_str last = mp_str_get_last_line(tail), rest = tail, found = {0};

	if (line_has(last, "A complete log of this run can be found in"))
		return npm_find_line(tail);
	/* Node.js prints where it happened, what, its own fields, and in the end its version. */
	if (!mp_str_starts(last, MP_STR("Node.js v")) && !mp_str_eq(last, MP_STR("}")))
		return last;
	while (rest.len) {
		struct mp_str line = line_take(&rest);

		if (line_is_error(line))
			found = mp_str_trim(line);
	}
	return found.len ? found : last;
}

/* --- words ----------------------------------------------------------------------------------- */

static size_t count_while(struct mp_str s, size_t at, bool (*takes)(char c))
{
	size_t n = 0;

	while (at + n < s.len && takes(s.p[at + n]))
		n++;
	return n;
}

static bool is_capital(char c)
{
	return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

static bool is_host(char c)
{
	return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '[' || c == ']';
}

static bool is_version(char c)
{
	return isalnum((unsigned char)c) || c == '.';
}

static bool is_unquoted(char c)
{
	return c != '\'' && c != '"' && c != '`';
}

/* An error code such as ERR_REQUIRE_ESM looks the same. */
static bool is_variable(struct mp_str s)
{
	return s.len > 3 && isupper((unsigned char)s.p[0]) && memchr(s.p, '_', s.len) &&
	       !mp_str_starts(s, MP_STR("ERR_"));
}

static struct mp_str find_variable(struct mp_str line)
{
	for (size_t i = 0, n; i < line.len; i += n + 1) {
		struct mp_str word;

		n = count_while(line, i, is_capital);
		word = (struct mp_str){line.p + i, n};
		if (is_variable(word))
			return word;
	}
	return MP_STR("");
}

static struct mp_str find_quoted(struct mp_str line)
{
	size_t at = count_while(line, 0, is_unquoted);

	if (at == line.len)
		return MP_STR("");
	return (struct mp_str){line.p + at + 1, count_while(line, at + 1, is_unquoted)};
}

/* "... already in use 127.0.0.1:8080", "... :::8080", "('0.0.0.0', 8080): address already ..." */
static struct mp_str find_port(struct mp_str line)
{
	struct mp_str port = MP_STR("");

	for (size_t i = 0; i + 1 < line.len; i++) {
		size_t n = 0;

		if (line.p[i] != ':' && line.p[i] != ' ')
			continue;
		while (i + 1 + n < line.len && isdigit((unsigned char)line.p[i + 1 + n]))
			n++;
		if (n > 1 && n < 6 && (i + 1 + n == line.len || !is_version(line.p[i + 1 + n])))
			port = (struct mp_str){line.p + i + 1, n};
	}
	return port;
}

static struct mp_str find_behind(struct mp_str text, const char *words, bool (*takes)(char c))
{
	ptrdiff_t at = mp_str_find(text, mp_str_of(words), 0);
	size_t from = at < 0 ? text.len : (size_t)at + strlen(words);

	return (struct mp_str){text.p + from, count_while(text, from, takes)};
}

/* text: all of it; line: where the words of the row are. */
static bool row_capture(const struct row *row, struct mp_str text, struct mp_str line,
			struct mp_str *ret)
{
	switch (row->capture) {
	case NOTHING:
		return true;
	case QUOTED:
		*ret = find_quoted(line);
		break;
	case PORT:
		*ret = find_port(line);
		break;
	case NAME_OF:
		*ret = find_variable(line);
		break;
	case BRACES:
		*ret = find_behind(line, row->words, is_capital);
		break;
	case HOST:
		*ret = find_behind(line, "://", is_host);
		if (!ret->len)
			*ret = MP_STR("its host");
		break;
	case VERSION:
		*ret = find_behind(text, "Node.js ", is_version);
		if (!ret->len || ret->p[0] != 'v')
			*ret = MP_STR("the one it is started with");
		break;
	}
	return ret->len > 0;
}

/* --- finding --------------------------------------------------------------------------------- */

static bool row_fits(const struct row *row, const struct mp_symptoms *s, struct mp_str *ret_word)
{
	struct mp_str text = mp_str_of(row->place == MESSAGE ? s->message : s->tail), rest = text;

	while (rest.len) {
		struct mp_str line = line_take(&rest);

		if (line_has(line, row->words) && line_has(line, row->more) &&
		    row_capture(row, text, line, ret_word))
			return true;
	}
	return false;
}

static const struct row *find_row(const struct mp_symptoms *s, struct mp_str *ret_word)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (row_fits(&rows[i], s, ret_word))
			return &rows[i];
	for (size_t i = 0; i < MP_ARRAY_LEN(by_kind); i++)
		if (row_fits(&by_kind[i], s, ret_word))
			return &by_kind[i];
	return NULL;
}

/* An entry of another tool is copied into our file first: that tool's file is never changed. */
static int edit_add(const struct mp_symptoms *s, struct mp_buf *out)
{
	int r = 0;

	if (!s->is_ours) {
		r = mp_buf_addf(out, "mcpool import ");
		if (r == 0)
			r = mp_shell_add_word(out, mp_str_of(s->server));
		if (r == 0)
			r = mp_buf_addf(out, "; ");
	}
	if (r == 0)
		r = mp_buf_addf(out, "mcpool edit ");
	return r < 0 ? r : mp_shell_add_word(out, mp_str_of(s->server));
}

/*
 * The value of the placeholder at p; its length, or 0. What a server wrote must not become a
 * command of its own where the line is pasted.
 */
static size_t blank_add(const char *p, const struct mp_symptoms *s, struct mp_str word,
			bool is_command, struct mp_buf *out, int *ret)
{
	if (strncmp(p, "WORD", 4) == 0)
		*ret = is_command ? mp_shell_add_word(out, word) : mp_buf_add_str(out, word);
	else if (strncmp(p, "NAME", 4) == 0)
		*ret = mp_shell_add_word(out, mp_str_of(s->server));
	else if (strncmp(p, "EDIT", 4) == 0)
		*ret = edit_add(s, out);
	else
		return 0;
	return 4;
}

static const char *text_fill(const char *p, const struct mp_symptoms *s, struct mp_str word,
			     bool is_command, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	int r = 0;

	mp_buf_init(&out, MP_KIB(64));
	while (*p && r == 0) {
		size_t n = blank_add(p, s, word, is_command, &out, &r);

		if (n == 0)
			r = mp_buf_add_char(&out, *p++);
		p += n;
	}
	return r < 0 ? NULL : mp_arena_dup(arena, mp_buf_get(&out));
}

bool mp_cause_find(const struct mp_symptoms *s, struct mp_arena *arena, struct mp_cause *ret)
{
	struct mp_str word = MP_STR("");
	const struct row *row = s->message[0] ? find_row(s, &word) : NULL;

	if (!row)
		return false;
	ret->what = text_fill(row->what, s, word, false, arena);
	ret->fix = text_fill(row->fix, s, word, true, arena);
	ret->is_general = row >= by_kind && row < by_kind + MP_ARRAY_LEN(by_kind);
	ret->port = row->capture == PORT ? mp_arena_dup(arena, word) : NULL;
	ret->variable = row->capture == NAME_OF || row->capture == BRACES
				? mp_arena_dup(arena, word)
				: NULL;
	return ret->what && ret->fix;
}
