/*
 * cases.h - tables of documents in tests/: fields between tabs, bytes spelled with a backslash.
 * The head of tests/json/cases.txt says how.
 */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include "base/buf.h"
#include "base/str.h"

/* Up to the next tab, which goes with it. */
static inline struct mp_str cases_field(struct mp_str *line)
{
	const char *tab = memchr(line->p, '\t', line->len);
	struct mp_str field = {line->p, tab ? (size_t)(tab - line->p) : line->len};
	size_t used = field.len + (tab ? 1 : 0);

	line->p += used;
	line->len -= used;
	return field;
}

static inline unsigned cases_hex_digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 32) - 'a' + 10);
}

static inline bool cases_expand(struct mp_str s, struct mp_buf *out);

/* \{N:text}, the braces included in s from its start; how many bytes it takes. */
static inline bool cases_expand_many(struct mp_str s, struct mp_buf *out, size_t *ret_used)
{
	size_t at = 2, times = 0, start;

	while (at < s.len && s.p[at] != ':')
		times = times * 10 + (size_t)(s.p[at++] - '0');
	start = ++at;
	while (at < s.len && s.p[at] != '}')
		at += s.p[at] == '\\' ? 2 : 1;
	if (at >= s.len || times == 0)
		return false;
	for (size_t i = 0; i < times; i++)
		if (!cases_expand((struct mp_str){s.p + start, at - start}, out))
			return false;
	*ret_used = at + 1;
	return true;
}

/* What a field of the table spells. */
static inline bool cases_expand(struct mp_str s, struct mp_buf *out)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];
		size_t used;

		if (c == '\\') {
			if (++i == s.len)
				return false;
			c = s.p[i];
			if (c == '{') {
				if (!cases_expand_many((struct mp_str){s.p + i - 1, s.len - i + 1},
						       out, &used))
					return false;
				i += used - 2;
				continue;
			}
			if (c == 'x') {
				if (s.len - i < 3)
					return false;
				c = (char)(cases_hex_digit(s.p[i + 1]) << 4 |
					   cases_hex_digit(s.p[i + 2]));
				i += 2;
			} else if (c == 't' || c == 'n' || c == 'r') {
				c = c == 't' ? '\t' : c == 'n' ? '\n' : '\r';
			} else if (c != '\\' && c != '}') {
				return false;
			}
		}
		if (mp_buf_add_char(out, c) < 0)
			return false;
	}
	return true;
}

/* The next line that is neither blank nor a comment; false at the end. */
static inline bool cases_next_line(struct mp_str *all, struct mp_str *ret_line)
{
	while (all->len) {
		const char *eol = memchr(all->p, '\n', all->len);
		struct mp_str line = {all->p, eol ? (size_t)(eol - all->p) : all->len};
		size_t used = line.len + (eol ? 1 : 0);

		all->p += used;
		all->len -= used;
		*ret_line = line;
		if (line.len && line.p[0] != '#')
			return true;
	}
	return false;
}

#endif
