/*
 * layout.c - how a text that people keep is laid out.
 * Everything here only looks. What is learned is used by edit.c, so that what is new takes the
 * indentation, the line ends and the comma habits of its neighbours.
 */
#include "json/layout.h"

#include "json/scan.h"

bool mp_layout_is_eol(char c)
{
	return c == '\n' || c == '\r';
}

bool mp_layout_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

size_t mp_layout_skip_blanks(struct mp_str s, size_t at)
{
	while (at < s.len && mp_layout_is_blank(s.p[at]))
		at++;
	return at;
}

size_t mp_layout_skip_space(struct mp_str s, size_t at)
{
	return (size_t)(mp_scan_space(s.p + at, s.p + s.len) - s.p);
}

size_t mp_layout_line_start(struct mp_str s, size_t at)
{
	while (at > 0 && !mp_layout_is_eol(s.p[at - 1]))
		at--;
	return at;
}

bool mp_layout_begins_line(struct mp_str s, size_t at)
{
	return mp_layout_skip_blanks(s, mp_layout_line_start(s, at)) == at;
}

struct mp_str mp_layout_indent_at(struct mp_str s, size_t at)
{
	size_t start = mp_layout_line_start(s, at);

	return (struct mp_str){s.p + start, mp_layout_skip_blanks(s, start) - start};
}

size_t mp_layout_skip_comment(struct mp_str s, size_t at)
{
	return (size_t)(mp_scan_comment(s.p + at, s.p + s.len) - s.p);
}

/* The next token, past white space and comments. */
static size_t next_token(struct mp_str s, size_t at)
{
	return (size_t)(mp_scan_gap(s.p + at, s.p + s.len) - s.p);
}

size_t mp_layout_skip_line_tail(struct mp_str s, size_t at)
{
	size_t next = mp_layout_skip_blanks(s, at);

	while (next < s.len && s.p[next] == '/') {
		at = mp_layout_skip_comment(s, next);
		next = mp_layout_skip_blanks(s, at);
	}
	return at;
}

bool mp_layout_has_eol(struct mp_str s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (mp_layout_is_eol(s.p[i]))
			return true;
	return false;
}

bool mp_layout_is_gap(struct mp_str s, size_t from, size_t to)
{
	return mp_layout_skip_space(s, from) >= to;
}

bool mp_layout_is_container(const struct mp_layout *l, mp_value v)
{
	return mp_value_is(&l->tape, v, MP_TAPE_OBJECT) || mp_value_is(&l->tape, v, MP_TAPE_ARRAY);
}

const struct mp_tape_node *mp_layout_node(const struct mp_layout *l, mp_value v)
{
	return &l->tape.nodes[v];
}

size_t mp_layout_start_of(const struct mp_layout *l, mp_value parent, mp_value v)
{
	return mp_layout_node(l, mp_value_is(&l->tape, parent, MP_TAPE_OBJECT) ? v - 1 : v)->start;
}

mp_value mp_layout_sibling(const struct mp_layout *l, mp_value parent, mp_value v)
{
	mp_value next = mp_value_next(&l->tape, parent, v);

	return next != MP_NONE && mp_value_is(&l->tape, parent, MP_TAPE_OBJECT) ? mp_value_of(next)
										: next;
}

mp_value mp_layout_first_inside(const struct mp_layout *l, mp_value parent)
{
	mp_value first = mp_value_first(&l->tape, parent);

	return first != MP_NONE && mp_value_is(&l->tape, parent, MP_TAPE_OBJECT)
		       ? mp_value_of(first)
		       : first;
}

mp_value mp_layout_sibling_before(const struct mp_layout *l, mp_value parent, mp_value v)
{
	mp_value before = MP_NONE;

	for (mp_value at = mp_layout_first_inside(l, parent); at != MP_NONE && at != v;
	     at = mp_layout_sibling(l, parent, at))
		before = at;
	return before;
}

size_t mp_layout_comma_behind(const struct mp_layout *l, mp_value v)
{
	return next_token(l->text, mp_layout_node(l, v)->end);
}

bool mp_layout_has_own_line(const struct mp_layout *l, mp_value parent, mp_value v)
{
	mp_value before = mp_layout_sibling_before(l, parent, v);
	size_t from = before == MP_NONE ? mp_layout_node(l, parent)->start
					: mp_layout_node(l, before)->end;

	return mp_layout_has_eol(l->text, from, mp_layout_start_of(l, parent, v));
}

bool mp_layout_is_on_lines(const struct mp_layout *l, mp_value parent)
{
	mp_value first = mp_layout_first_inside(l, parent);

	return first != MP_NONE && mp_layout_has_own_line(l, parent, first);
}

bool mp_layout_is_comma_first(const struct mp_layout *l, mp_value before, size_t start)
{
	size_t comma = mp_layout_comma_behind(l, before);

	return mp_layout_begins_line(l->text, comma) &&
	       mp_layout_skip_blanks(l->text, comma + 1) == start;
}

bool mp_layout_has_space_behind_colon(const struct mp_layout *l, mp_value key)
{
	size_t colon = next_token(l->text, mp_layout_node(l, key)->end);

	return colon + 1 < mp_layout_node(l, mp_value_of(key))->start;
}

static bool learn_spaces(const struct mp_layout *l)
{
	for (mp_value v = 0; v < l->tape.n; v++)
		if (mp_value_is(&l->tape, v, MP_TAPE_OBJECT) &&
		    mp_value_first(&l->tape, v) != MP_NONE)
			return mp_layout_has_space_behind_colon(l, mp_value_first(&l->tape, v));
	return true;
}

static const char *learn_eol(struct mp_str s)
{
	const char *line = memchr(s.p, '\n', s.len);

	if (!line)
		return memchr(s.p, '\r', s.len) ? "\r" : "\n";
	return line > s.p && line[-1] == '\r' ? "\r\n" : "\n";
}

/*
 * How much deeper than its bracket the first thing inside is, a member or else a comment; empty
 * where it has no line of its own. The bracket's line is looked at last: it may be a whole file.
 */
struct mp_str mp_layout_inner_indent(const struct mp_layout *l, mp_value v)
{
	mp_value first = mp_layout_first_inside(l, v);
	size_t at = mp_layout_node(l, v)->start + 1, close = mp_layout_node(l, v)->end - 1;
	struct mp_str inner, outer;

	if (!mp_layout_has_eol(l->text, at,
			       first == MP_NONE ? close : mp_layout_start_of(l, v, first)))
		return MP_STR("");
	if (first != MP_NONE)
		at = mp_layout_start_of(l, v, first);
	else
		while ((at = mp_layout_skip_space(l->text, at)) < close &&
		       !mp_layout_begins_line(l->text, at))
			at = mp_layout_skip_comment(l->text, at);
	if (at == close || !mp_layout_begins_line(l->text, at))
		return MP_STR("");
	inner = mp_layout_indent_at(l->text, at);
	outer = mp_layout_indent_at(l->text, mp_layout_node(l, v)->start);
	if (!mp_str_starts(inner, outer))
		return MP_STR("");
	return (struct mp_str){inner.p + outer.len, inner.len - outer.len};
}

void mp_layout_learn(struct mp_layout *l)
{
	l->eol = learn_eol(l->text);
	l->spaces = learn_spaces(l);
	l->on_lines = mp_layout_first_inside(l, MP_ROOT) == MP_NONE;
	memcpy(l->indent, "  ", 3);
	for (mp_value v = 0; v < l->tape.n; v++) {
		struct mp_str indent;

		if (!mp_layout_is_container(l, v))
			continue;
		l->on_lines |= mp_layout_is_on_lines(l, v);
		indent = mp_layout_inner_indent(l, v);
		if (indent.len && indent.len < sizeof(l->indent)) {
			memcpy(l->indent, indent.p, indent.len);
			l->indent[indent.len] = '\0';
			return;
		}
	}
}
