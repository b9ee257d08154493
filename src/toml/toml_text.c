/*
 * toml_text.c - strings of TOML: one line or many, with escapes or without.
 * A string is looked at twice: first for its end and for what is wrong, then, if it has escapes, to
 * decode it. Decoding never makes it longer.
 */
#include "toml/toml_parts.h"

int mp_toml_fault(struct mp_toml_cursor *c, const char *at, const char *sentence)
{
	c->fault = sentence;
	c->fault_at = at;
	return MCPOOL_EPARSE;
}

int mp_toml_no_room(struct mp_toml_cursor *c)
{
	int code = mp_arena_get_error(c->arena);

	(void)mp_toml_fault(c, c->p, mcpool_error_text(code)); /* the code is another one */
	return code;
}

/* --- what may stand in the text at all ------------------------------------------------------- */

static int check_control(struct mp_toml_cursor *c, const char *p)
{
	if (*p == '\t' || *p == '\n')
		return 0;
	if (*p != '\r')
		return mp_toml_fault(c, p, "a control character must not stand in the text");
	if (p + 1 == c->end || p[1] != '\n')
		return mp_toml_fault(c, p, "a carriage return must stand before a line feed");
	return 0;
}

int mp_toml_text_check(struct mp_toml_cursor *c)
{
	for (const char *p = c->p; p < c->end;) {
		size_t n = mp_utf8_char(p, c->end);

		if (n == 0)
			return mp_toml_fault(c, p, "these bytes are not UTF-8");
		if ((unsigned char)*p < 0x20 || *p == 0x7f) {
			int r = check_control(c, p);

			if (r < 0)
				return r;
		}
		p += n;
	}
	return 0;
}

/* --- the first look -------------------------------------------------------------------------- */

struct extent {
	const char *opening;
	const char *from, *to; /* without the quotes */
	char quote;
	bool lines;
	bool plain; /* the text needs no decoding */
};

static int hex_digit(char c)
{
	if (mp_toml_is_digit(c))
		return c - '0';
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* So many digits at p; the caller sees to what they may be. */
static uint32_t hex_value(const char *p, int digits)
{
	uint32_t code = 0;

	while (digits--)
		code = code << 4 | (uint32_t)hex_digit(*p++);
	return code;
}

static int check_code(struct mp_toml_cursor *c, const char *backslash, int digits)
{
	uint32_t code;

	for (int i = 0; i < digits; i++)
		if (c->p + i >= c->end || hex_digit(c->p[i]) < 0)
			return mp_toml_fault(c, c->p + i, "a hexadecimal digit is expected here");
	code = hex_value(c->p, digits);
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return mp_toml_fault(c, backslash, "there is no such Unicode character");
	c->p += digits;
	return 0;
}

static void skip_blanks(struct mp_toml_cursor *c)
{
	while (mp_toml_peek(c) == ' ' || mp_toml_peek(c) == '\t')
		c->p++;
}

/* p is behind the backslash. */
static int check_escape(struct mp_toml_cursor *c, bool lines)
{
	const char *backslash = c->p - 1;
	char letter = mp_toml_peek(c);

	if (letter && strchr("btnfr\"\\", letter)) {
		c->p++;
		return 0;
	}
	if (letter == 'u' || letter == 'U') {
		c->p++;
		return check_code(c, backslash, letter == 'u' ? 4 : 8);
	}
	if (lines) {
		skip_blanks(c);
		if (mp_toml_peek(c) == '\n' || mp_toml_peek(c) == '\r')
			return 0;
	}
	return mp_toml_fault(c, backslash, "there is no such escape");
}

/*
 * At a quote in a text of many lines: three end it, and up to two more before them belong to it.
 * True: it ended, and p is behind it.
 */
static bool ends_lines(struct mp_toml_cursor *c, struct extent *e)
{
	const char *run = c->p;

	while (c->p < c->end && *c->p == e->quote && c->p - run < 5)
		c->p++;
	if (c->p - run < 3)
		return false;
	e->to = c->p - 3;
	return true;
}

static bool at_end(struct mp_toml_cursor *c, struct extent *e)
{
	if (*c->p != e->quote)
		return false;
	if (e->lines)
		return ends_lines(c, e);
	e->to = c->p++;
	return true;
}

static int find_end(struct mp_toml_cursor *c, struct extent *e)
{
	while (c->p < c->end) {
		const char *before = c->p;

		if (at_end(c, e))
			return 0;
		if (c->p > before)
			continue; /* quotes, too few to end it */
		if (*c->p == '\n' && !e->lines)
			return mp_toml_fault(c, e->opening,
					     "the string that begins here has no end on its line");
		if (*c->p == '\r' || (*c->p == '\\' && e->quote == '"'))
			e->plain = false;
		if (*c->p++ == '\\' && e->quote == '"') {
			int r = check_escape(c, e->lines);

			if (r < 0)
				return r;
		}
	}
	return mp_toml_fault(c, e->opening, "the string that begins here has no end");
}

/* --- the second ------------------------------------------------------------------------------ */

static const char *skip_lines(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p is behind the backslash of an escape that was checked; it comes back behind the escape. */
static const char *decode_escape(const char *p, const char *end, char **out)
{
	static const char names[] = "btnfr\"\\", meant[] = "\b\t\n\f\r\"\\";
	const char *name = strchr(names, *p);
	int digits = *p == 'u' ? 4 : 8;

	if (name) {
		*(*out)++ = meant[name - names];
		return p + 1;
	}
	if (*p != 'u' && *p != 'U') /* the line goes on where the next word is */
		return skip_lines(p, end);
	*out += mp_utf8_encode(hex_value(p + 1, digits), *out);
	return p + 1 + digits;
}

/* Lines end in LF, whatever the file has: a text does not depend on who saved it. */
static size_t toml_text_decode(const struct extent *e, char *out)
{
	char *first = out;

	for (const char *p = e->from; p < e->to;) {
		char c = *p++;

		if (c == '\\' && e->quote == '"')
			p = decode_escape(p, e->to, &out);
		else if (c != '\r')
			*out++ = c;
	}
	return (size_t)(out - first);
}

static void read_opening(struct mp_toml_cursor *c, bool lines, struct extent *e)
{
	*e = (struct extent){.opening = c->p, .quote = *c->p, .plain = true};
	e->lines = lines && mp_toml_sees(c, e->quote == '"' ? "\"\"\"" : "'''", 3);
	c->p += e->lines ? 3 : 1;
	if (e->lines && mp_toml_sees(c, "\n", 1))
		c->p++;
	else if (e->lines && mp_toml_sees(c, "\r\n", 2))
		c->p += 2;
	e->from = c->p;
}

int mp_toml_text_read(struct mp_toml_cursor *c, bool lines, struct mp_str *ret_text)
{
	struct extent e;
	char *room;
	int r;

	read_opening(c, lines, &e);
	r = find_end(c, &e);
	if (r < 0)
		return r;
	*ret_text = (struct mp_str){e.from, (size_t)(e.to - e.from)};
	if (e.plain)
		return 0;
	room = mp_arena_alloc(c->arena, ret_text->len);
	if (!room)
		return mp_toml_no_room(c);
	*ret_text = (struct mp_str){room, toml_text_decode(&e, room)};
	return 0;
}
