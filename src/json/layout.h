/*
 * layout.h - how a text that people keep is laid out: what lies around a place, and the file's
 * habits. edit.c alone uses it. The text is valid, and its tape is parsed whole.
 */
#ifndef MP_LAYOUT_H
#define MP_LAYOUT_H

#include "base/base.h"
#include "base/str.h"
#include "json/tape.h"
#include "json/value.h"

struct mp_layout {
	struct mp_str text; /* borrowed */
	struct mp_tape tape;
	char indent[32]; /* one level */
	const char *eol;
	bool on_lines; /* the file is laid out on several lines */
	bool spaces;   /* the file has a space behind its colons */
};

/* Fill in the habits, from the first place that shows them. */
void mp_layout_learn(struct mp_layout *l);

/* Places in the text, as offsets. Blanks are space and tab, a gap is any white space. */
bool mp_layout_is_eol(char c);
bool mp_layout_is_blank(char c);
bool mp_layout_is_gap(struct mp_str s, size_t from, size_t to);
bool mp_layout_has_eol(struct mp_str s, size_t from, size_t to);
size_t mp_layout_skip_blanks(struct mp_str s, size_t at);
size_t mp_layout_skip_space(struct mp_str s, size_t at);
size_t mp_layout_skip_comment(struct mp_str s, size_t at);
/* Behind the comments that begin on the line of `at`: they belong to what ends there. */
size_t mp_layout_skip_line_tail(struct mp_str s, size_t at);
size_t mp_layout_line_start(struct mp_str s, size_t at);
/* Does nothing but indentation stand before it on its line? */
bool mp_layout_begins_line(struct mp_str s, size_t at);
struct mp_str mp_layout_indent_at(struct mp_str s, size_t at);

/* Values and their neighbours. In an object, the neighbours of a value are values too. */
bool mp_layout_is_container(const struct mp_layout *l, mp_value v);
const struct mp_tape_node *mp_layout_node(const struct mp_layout *l, mp_value v);
mp_value mp_layout_first_inside(const struct mp_layout *l, mp_value parent);
mp_value mp_layout_sibling(const struct mp_layout *l, mp_value parent, mp_value v);
/* The one before v (MP_NONE for the first); before MP_NONE: the last one. */
mp_value mp_layout_sibling_before(const struct mp_layout *l, mp_value parent, mp_value v);
/* Where the member or element begins that has this value. */
size_t mp_layout_start_of(const struct mp_layout *l, mp_value parent, mp_value v);
/* The comma behind v; behind the last one perhaps the closing bracket. */
size_t mp_layout_comma_behind(const struct mp_layout *l, mp_value v);

/* Is it on another line than what precedes it, a sibling or the opening bracket? */
bool mp_layout_has_own_line(const struct mp_layout *l, mp_value parent, mp_value v);
/* Is the first thing inside on a line of its own? */
bool mp_layout_is_on_lines(const struct mp_layout *l, mp_value parent);
/* Some people begin a line with the comma: , "key": value */
bool mp_layout_is_comma_first(const struct mp_layout *l, mp_value before, size_t start);
bool mp_layout_has_space_behind_colon(const struct mp_layout *l, mp_value key);
/* How much deeper than its bracket the first thing inside is; empty where that is not to be seen.
 */
struct mp_str mp_layout_inner_indent(const struct mp_layout *l, mp_value v);

#endif
