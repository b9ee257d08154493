/*
 * edit.c - change one value of a file, every other byte kept.
 * The tape has the positions; an edit is a few patches to the text, derived from what surrounds the
 * value and applied in one copy. The text is parsed once and never written again as a whole.
 */
#include "json/edit.h"

#include "base/error.h"
#include "json/layout.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

enum { MAX_PATCHES = 3 };

struct patch {
	size_t at;
	size_t gone; /* bytes taken out there */
	struct mp_str text;
};

struct edit {
	struct mp_layout l;                /* the text, its tape and its habits */
	struct mp_tape value;              /* the new value */
	struct mp_buf member;              /* the new member or element, laid out */
	struct patch patches[MAX_PATCHES]; /* in order of at */
	size_t n_patches;
	struct mcpool_error *reterr; /* may be NULL */
};

static void edit_patch(struct edit *e, size_t at, size_t gone, struct mp_str text)
{
	mp_check(e->n_patches < MAX_PATCHES);
	e->patches[e->n_patches++] = (struct patch){at, gone, text};
}

static int edit_apply(const struct edit *e, struct mp_buf *out)
{
	size_t before = out->len, at = 0;
	int r = 0;

	for (size_t i = 0; i < e->n_patches && r == 0; i++) {
		const struct patch *p = &e->patches[i];

		mp_check(p->at >= at);
		r = mp_buf_add(out, e->l.text.p + at, p->at - at);
		if (r == 0)
			r = mp_buf_add_str(out, p->text);
		at = p->at + p->gone;
	}
	if (r == 0)
		r = mp_buf_add(out, e->l.text.p + at, e->l.text.len - at);
	if (r < 0)
		out->len = before;
	return r;
}

/* --- the new member ------------------------------------------------------------------------ */

/* Write keys path[0..n) around the value, as they will stand at margin. */
static int lay_out(struct edit *e, const struct mp_str *path, size_t n, bool first_is_key,
		   bool on_lines, struct mp_str margin)
{
	struct mp_writer w;

	mp_write_init(&w, &e->member, on_lines ? e->l.indent : NULL);
	w.eol = e->l.eol;
	w.margin = margin;
	w.spaces = e->l.spaces;
	w.member = first_is_key;
	for (size_t i = first_is_key ? 0 : 1; i < n; i++) {
		if (i > 0)
			mp_write_begin_object(&w);
		mp_write_key(&w, path[i]);
	}
	mp_write_value(&w, &e->value, MP_ROOT);
	for (size_t i = 1; i < n; i++)
		mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int edit_fail(struct edit *e, int code, const char *what)
{
	return mp_fail(e->reterr, code, "%s", what);
}

static int check_depth(struct edit *e, unsigned parent_depth, size_t n_new_objects)
{
	unsigned deepest = 0;

	for (uint32_t i = 0; i < e->value.n; i++) {
		const struct mp_tape_node *v = &e->value.nodes[i];
		unsigned levels = v->depth + (v->type >= MP_TAPE_ARRAY ? 1u : 0u);

		if (levels > deepest)
			deepest = levels;
	}
	if (parent_depth + 1 + n_new_objects + deepest > MP_LIMIT_JSON_DEPTH)
		return edit_fail(e, MCPOOL_ELIMIT, "the value would be nested too deeply");
	return 0;
}

/* --- adding -------------------------------------------------------------------------------- */

static int add_both(struct mp_buf *b, struct mp_str one, struct mp_str other)
{
	int r = mp_buf_add_str(b, one);

	return r < 0 ? r : mp_buf_add_str(b, other);
}

/* Is the value, with n - 1 keys around it, an object? */
static bool makes_object(const struct edit *e, size_t n)
{
	return n > 1 || mp_value_is(&e->value, MP_ROOT, MP_TAPE_OBJECT);
}

/* Is an object that is new laid out on lines? As its neighbour is, if that is one too. */
static bool opens_like(const struct edit *e, mp_value neighbour, bool otherwise)
{
	if (!mp_value_is(&e->l.tape, neighbour, MP_TAPE_OBJECT) ||
	    mp_layout_first_inside(&e->l, neighbour) == MP_NONE)
		return otherwise;
	return mp_layout_is_on_lines(&e->l, neighbour);
}

/* Behind the last comment in brackets that hold nothing else; there may be none. */
static size_t skip_comments(struct mp_str s, size_t open, size_t close)
{
	size_t last = open;

	for (size_t at = open; (at = mp_layout_skip_space(s, at)) < close;)
		last = at = mp_layout_skip_comment(s, at);
	return last;
}

/* Into {} or [], which may hold comments. opens: on lines, if nothing inside says otherwise. */
static int add_first(struct edit *e, mp_value parent, const struct mp_str *path, size_t n,
		     bool opens)
{
	bool object = mp_value_is(&e->l.tape, parent, MP_TAPE_OBJECT);
	size_t open = mp_layout_node(&e->l, parent)->start + 1,
	       close = mp_layout_node(&e->l, parent)->end - 1;
	size_t last = skip_comments(e->l.text, open, close);
	bool lines = mp_layout_has_eol(e->l.text, open, close) || (last == open && opens);
	bool closes = lines && (last == open || !mp_layout_has_eol(e->l.text, last, close));
	struct mp_str outer = mp_layout_indent_at(e->l.text, mp_layout_node(&e->l, parent)->start);
	struct mp_str indent = mp_layout_inner_indent(&e->l, parent);
	MP_CLEANUP(mp_buf_done) struct mp_buf margin;
	size_t gone = closes ? mp_layout_skip_blanks(e->l.text, last) - last : 0;
	int r;

	mp_buf_init(&margin, e->member.ceiling);
	r = add_both(&margin, outer, indent.len ? indent : mp_str_of(e->l.indent));
	if (r == 0 && lines)
		r = add_both(&e->member, mp_str_of(e->l.eol), mp_buf_get(&margin));
	else if (r == 0 && last > open)
		r = mp_buf_add_char(&e->member, ' ');
	if (r == 0)
		r = lay_out(e, path, n, object, lines, mp_buf_get(&margin));
	if (r == 0 && closes)
		r = add_both(&e->member, mp_str_of(e->l.eol), outer);
	if (r < 0)
		return edit_fail(e, r, mcpool_error_text(r));
	/* Empty brackets close up around what is new; behind a comment everything stays. */
	edit_patch(e, last, last == open ? close - open : gone, mp_buf_get(&e->member));
	return 0;
}

/* What separates two siblings on one line, or a guess where there is one only. */
static struct mp_str gap_between(const struct edit *e, mp_value before, size_t start)
{
	size_t comma = before == MP_NONE ? 0 : mp_layout_comma_behind(&e->l, before);

	if (comma && mp_layout_skip_blanks(e->l.text, comma + 1) == start)
		return (struct mp_str){e->l.text.p + comma + 1, start - comma - 1};
	return e->l.spaces ? MP_STR(" ") : MP_STR("");
}

/* Where and how a new one goes behind the last one there is. */
struct joint {
	mp_value last, before; /* before: MP_NONE if last is the only one */
	size_t start, end;     /* of the last one, key included */
	size_t at;             /* behind the comments of its line */
	bool has_comma;        /* there is one behind it */
	bool comma_first;
	bool lines; /* the new one goes on another line */
};

static void look_at_last(const struct edit *e, mp_value parent, struct joint *j)
{
	size_t comma, base;

	j->last = mp_layout_sibling_before(&e->l, parent, MP_NONE);
	j->before = mp_layout_sibling_before(&e->l, parent, j->last);
	j->start = mp_layout_start_of(&e->l, parent, j->last);
	j->end = mp_layout_node(&e->l, j->last)->end;
	comma = mp_layout_comma_behind(&e->l, j->last);
	j->has_comma = e->l.text.p[comma] == ',';
	base = j->has_comma ? comma + 1 : j->end;
	j->at = mp_layout_skip_line_tail(e->l.text, base);
	j->comma_first = !j->has_comma && j->before != MP_NONE &&
			 mp_layout_is_comma_first(&e->l, j->before, j->start);
	/* A comment that ends its line leaves no room on it. */
	j->lines = mp_layout_has_own_line(&e->l, parent, j->last) ||
		   (j->at > base && mp_layout_is_eol(e->l.text.p[j->at]));
}

/* What precedes the new one: a comma if needed, white space. */
static int add_lead(struct edit *e, const struct joint *j, struct mp_str margin)
{
	size_t line = mp_layout_line_start(e->l.text, j->start);

	if (j->comma_first)
		return add_both(&e->member, mp_str_of(e->l.eol),
				(struct mp_str){e->l.text.p + line, j->start - line});
	if (j->lines)
		return add_both(&e->member, mp_str_of(e->l.eol), margin);
	return add_both(&e->member, j->has_comma ? MP_STR("") : MP_STR(","),
			gap_between(e, j->before, j->start));
}

/* Behind the last one there is, and with the habits of that one. */
static int add_last(struct edit *e, mp_value parent, const struct mp_str *path, size_t n)
{
	bool object = mp_value_is(&e->l.tape, parent, MP_TAPE_OBJECT);
	MP_CLEANUP(mp_buf_done) struct mp_buf margin;
	bool deeper, lines;
	struct joint j;
	size_t like;
	int r;

	look_at_last(e, parent, &j);
	if (object)
		e->l.spaces = mp_layout_has_space_behind_colon(&e->l, j.last - 1);
	like = j.comma_first
		       ? mp_layout_start_of(&e->l, parent, mp_layout_first_inside(&e->l, parent))
		       : j.start;
	deeper = j.lines &&
		 !mp_layout_has_eol(e->l.text, mp_layout_node(&e->l, parent)->start, like);
	lines = makes_object(e, n) ? opens_like(e, j.last, j.lines) : j.lines;
	mp_buf_init(&margin, e->member.ceiling);
	r = add_both(&margin, mp_layout_indent_at(e->l.text, like),
		     mp_str_of(deeper ? e->l.indent : ""));
	if (r == 0)
		r = add_lead(e, &j, mp_buf_get(&margin));
	if (r == 0)
		r = lay_out(e, path, n, object, lines, mp_buf_get(&margin));
	if (r == 0 && j.has_comma)
		r = mp_buf_add_char(&e->member, ',');
	if (r < 0)
		return edit_fail(e, r, mcpool_error_text(r));
	if (j.lines && !j.has_comma && !j.comma_first)
		edit_patch(e, j.end, 0, MP_STR(","));
	edit_patch(e, j.at, 0, mp_buf_get(&e->member));
	return 0;
}

/* In the place of another value. */
static int edit_replace(struct edit *e, mp_value parent, mp_value v)
{
	size_t start = mp_layout_node(&e->l, v)->start;
	bool lines = parent == MP_NONE ? e->l.on_lines : mp_layout_has_own_line(&e->l, parent, v);
	int r;

	if (makes_object(e, 0))
		lines = opens_like(e, v, lines);
	r = lay_out(e, &(struct mp_str){NULL, 0}, 0, false, lines,
		    mp_layout_indent_at(e->l.text, start));
	if (r < 0)
		return edit_fail(e, r, mcpool_error_text(r));
	edit_patch(e, start, mp_layout_node(&e->l, v)->end - start, mp_buf_get(&e->member));
	return 0;
}

/* --- finding the place --------------------------------------------------------------------- */

struct place {
	mp_value outer;  /* around parent; MP_NONE: parent is the root, or there is no parent */
	mp_value parent; /* MP_NONE: v is the root */
	mp_value v;      /* MP_NONE: there is none */
	size_t used;     /* keys of the path that led to parent */
};

static int step_into_array(struct edit *e, struct mp_str key, mp_value array, mp_value *ret_v)
{
	size_t count = mp_value_count(&e->l.tape, array);
	uint64_t index;

	*ret_v = MP_NONE;
	if (mp_str_eq(key, MP_STR("-")))
		return 0;
	if (mp_str_to_u64(key, &index) < 0 || index > count || (key.len > 1 && key.p[0] == '0'))
		return mp_fail(e->reterr, MCPOOL_ENOENT, "an array of %zu has no element '%.*s'",
			       count, MP_STR_ARGS(key));
	*ret_v = mp_value_first(&e->l.tape, array);
	while (index-- && *ret_v != MP_NONE)
		*ret_v = mp_value_next(&e->l.tape, array, *ret_v);
	return 0;
}

/* As far as the path leads; what is missing is left to the caller. */
static int edit_find(struct edit *e, const struct mp_str *path, size_t n, struct place *ret_place)
{
	struct place at = {MP_NONE, MP_NONE, MP_ROOT, 0};
	int r;

	for (size_t i = 0; i < n; i++)
		if (!mp_utf8_valid(path[i])) /* it would be written as another key */
			return mp_fail(e->reterr, MCPOOL_EINVAL, "a key of the path is not UTF-8");
	for (size_t i = 0; i < n; i++) {
		mp_value parent = at.v;

		if (!mp_layout_is_container(&e->l, parent))
			return mp_fail(e->reterr, MCPOOL_ETYPE, "'%.*s' cannot be looked up in %s",
				       MP_STR_ARGS(path[i]), mp_value_describe(&e->l.tape, parent));
		at = (struct place){at.parent, parent, MP_NONE, i};
		if (mp_value_is(&e->l.tape, parent, MP_TAPE_OBJECT)) {
			at.v = mp_value_get_str(&e->l.tape, parent, path[i]);
		} else {
			r = step_into_array(e, path[i], parent, &at.v);
			if (r < 0)
				return r;
		}
		if (at.v == MP_NONE)
			break;
	}
	*ret_place = at;
	return 0;
}

/* --- the three operations ------------------------------------------------------------------ */

static void edit_begin(struct edit *e, struct mp_str text, size_t ceiling,
		       struct mcpool_error *reterr)
{
	*e = (struct edit){.l.text = text, .reterr = reterr};
	mp_tape_init(&e->l.tape, MP_TAPE_JSONC);
	mp_tape_init(&e->value, 0);
	mp_buf_init(&e->member, ceiling);
}

/* The value, and the objects that are missing around it, where the path ended. */
static int edit_add(struct edit *e, const struct place *place, const struct mp_str *path, size_t n)
{
	mp_value parent = place->parent, outer = place->outer;
	bool opens = e->l.on_lines;
	int r = check_depth(e, mp_layout_node(&e->l, parent)->depth, n - 1);

	if (r < 0)
		return r;
	if (mp_layout_first_inside(&e->l, parent) != MP_NONE)
		return add_last(e, parent, path, n);
	if (outer != MP_NONE)
		opens = opens_like(e, mp_layout_sibling_before(&e->l, outer, parent),
				   mp_layout_has_own_line(&e->l, outer, parent));
	/* An array with one scalar stays on its line: ["one"]. */
	if (mp_value_is(&e->l.tape, parent, MP_TAPE_ARRAY) && n == 1 &&
	    e->value.nodes[0].type < MP_TAPE_ARRAY)
		opens = false;
	return add_first(e, parent, path, n, opens);
}

static int edit_set(struct edit *e, const struct mp_str *path, size_t n, struct mp_str value,
		    bool must_be_new)
{
	struct mcpool_error inner;
	struct place place = {.v = MP_NONE};
	int r;

	r = mp_tape_parse(&e->l.tape, e->l.text, e->reterr);
	if (r < 0)
		return r;
	r = mp_tape_parse(&e->value, value, &inner);
	if (r < 0)
		return mp_fail(e->reterr, r, "the new value: %s", inner.message);
	r = edit_find(e, path, n, &place);
	if (r < 0)
		return r;
	mp_layout_learn(&e->l);
	if (place.v != MP_NONE) {
		if (must_be_new)
			return edit_fail(e, MCPOOL_EEXIST, "there is one already");
		r = place.parent == MP_NONE
			    ? 0
			    : check_depth(e, mp_layout_node(&e->l, place.parent)->depth, 0);
		return r < 0 ? r : edit_replace(e, place.parent, place.v);
	}
	return edit_add(e, &place, path + place.used, n - place.used);
}

/* The new text, where the patches could be worked out; always the end of the edit. */
static int edit_finish(struct edit *e, int r, struct mp_buf *out)
{
	if (r == 0) {
		r = edit_apply(e, out);
		if (r < 0)
			r = edit_fail(e, r, mcpool_error_text(r));
	}
	mp_tape_done(&e->l.tape);
	mp_tape_done(&e->value);
	mp_buf_done(&e->member);
	return r;
}

int mp_edit_set(struct mp_str text, const struct mp_str *path, size_t n, struct mp_str value,
		struct mp_buf *out, struct mcpool_error *reterr)
{
	struct edit e;

	edit_begin(&e, text, out->ceiling, reterr);
	return edit_finish(&e, edit_set(&e, path, n, value, false), out);
}

int mp_edit_add(struct mp_str text, const struct mp_str *path, size_t n, struct mp_str value,
		struct mp_buf *out, struct mcpool_error *reterr)
{
	struct edit e;

	edit_begin(&e, text, out->ceiling, reterr);
	return edit_finish(&e, edit_set(&e, path, n, value, true), out);
}

/*
 * Cut [from, to) together with the blanks that only it needed: the whole line if nothing else is on
 * it, else the blanks after it.
 */
static void edit_cut(struct edit *e, size_t from, size_t to)
{
	struct mp_str s = e->l.text;
	size_t behind = mp_layout_skip_blanks(s, to);

	if (mp_layout_begins_line(s, from) && behind < s.len && mp_layout_is_eol(s.p[behind])) {
		from = mp_layout_line_start(s, from);
		to = behind +
		     (s.p[behind] == '\r' && behind + 1 < s.len && s.p[behind + 1] == '\n' ? 2 : 1);
	} else if (!mp_layout_begins_line(s, from) && behind < s.len &&
		   mp_layout_is_eol(s.p[behind])) {
		while (mp_layout_is_blank(
			s.p[from - 1])) /* the end of a line: no blanks are left there */
			from--;
		to = behind;
	} else {
		to = behind;
	}
	edit_patch(e, from, to - from, MP_STR(""));
}

/* Remove a comma that is not next to its member. */
static void cut_comma(struct edit *e, size_t comma)
{
	if (!mp_layout_begins_line(e->l.text, comma))
		edit_patch(e, comma, 1, MP_STR(""));
	else if (mp_layout_is_eol(e->l.text.p[mp_layout_skip_blanks(e->l.text, comma + 1)]))
		edit_cut(e, comma, comma + 1);
	else
		edit_patch(e, comma, 1, MP_STR(" ")); /* what follows keeps its column */
}

/* The member and the comma behind it, but no comment in between. */
static void cut_with_comma(struct edit *e, size_t start, size_t end, size_t comma)
{
	if (mp_layout_skip_blanks(e->l.text, end) == comma) {
		edit_cut(e, start, comma + 1);
		return;
	}
	edit_cut(e, start, end);
	cut_comma(e, comma);
}

/* The only one. Without a comment beside it, the brackets close up. */
static void cut_only(struct edit *e, mp_value parent, mp_value v)
{
	size_t open = mp_layout_node(&e->l, parent)->start + 1,
	       close = mp_layout_node(&e->l, parent)->end - 1;
	size_t start = mp_layout_start_of(&e->l, parent, v), end = mp_layout_node(&e->l, v)->end;
	size_t comma = mp_layout_comma_behind(&e->l, v);

	if (mp_layout_is_gap(e->l.text, open, start) && mp_layout_is_gap(e->l.text, end, comma) &&
	    (comma == close || mp_layout_is_gap(e->l.text, comma + 1, close)))
		edit_patch(e, open, close - open, MP_STR(""));
	else if (comma < close)
		cut_with_comma(e, start, end, comma);
	else
		edit_cut(e, start, end);
}

/* The last of several. A trailing comma is a habit: there is one afterwards if there was one. */
static void cut_last(struct edit *e, mp_value parent, mp_value v, mp_value before)
{
	struct mp_str s = e->l.text;
	size_t start = mp_layout_start_of(&e->l, parent, v), end = mp_layout_node(&e->l, v)->end;
	size_t comma = mp_layout_comma_behind(&e->l, before),
	       trailing = mp_layout_comma_behind(&e->l, v);
	bool has_trailing = s.p[trailing] == ',';
	size_t to = has_trailing && mp_layout_skip_blanks(s, end) == trailing ? trailing + 1 : end;
	bool shares_line = !mp_layout_has_eol(s, comma, start) ||
			   mp_layout_skip_blanks(s, to) == mp_layout_node(&e->l, parent)->end - 1;

	if (mp_layout_is_gap(s, comma + 1, start) && shares_line && (to > end || !has_trailing)) {
		if (!has_trailing && mp_layout_begins_line(s, comma))
			edit_cut(e, comma, to);
		else
			edit_patch(e, comma + has_trailing, to - comma - has_trailing, MP_STR(""));
	} else if (has_trailing) {
		cut_with_comma(e, start, end, trailing);
	} else {
		cut_comma(e, comma);
		edit_cut(e, start, end);
	}
}

static void cut_member(struct edit *e, mp_value parent, mp_value v)
{
	mp_value before = mp_layout_sibling_before(&e->l, parent, v),
		 next = mp_layout_sibling(&e->l, parent, v);
	size_t start = mp_layout_start_of(&e->l, parent, v), end = mp_layout_node(&e->l, v)->end;
	size_t comma = mp_layout_comma_behind(&e->l, v), then;

	if (next == MP_NONE && before == MP_NONE) {
		cut_only(e, parent, v);
		return;
	}
	if (next == MP_NONE) {
		cut_last(e, parent, v, before);
		return;
	}
	then = mp_layout_start_of(&e->l, parent, next);
	if (before == MP_NONE && !mp_layout_has_own_line(&e->l, parent, v) &&
	    mp_layout_is_gap(e->l.text, end, comma) && mp_layout_is_gap(e->l.text, comma + 1, then))
		edit_patch(e, start, then - start,
			   MP_STR("")); /* the next one moves up to the bracket */
	else if (before != MP_NONE && mp_layout_is_comma_first(&e->l, before, start) &&
		 mp_layout_has_eol(e->l.text, end, comma))
		edit_cut(e, mp_layout_comma_behind(&e->l, before), end);
	else
		cut_with_comma(e, start, end, comma);
}

static size_t count_key(const struct edit *e, mp_value object, struct mp_str key)
{
	size_t n = 0;

	MP_VALUE_EACH(&e->l.tape, object, k)
		n += mp_value_text_is(&e->l.tape, k, key);
	return n;
}

static int remove_value(struct edit *e, const struct mp_str *path, size_t n)
{
	struct place place = {.v = MP_NONE};
	int r;

	r = mp_tape_parse(&e->l.tape, e->l.text, e->reterr);
	if (r < 0)
		return r;
	r = edit_find(e, path, n, &place);
	if (r < 0)
		return r;
	if (place.v == MP_NONE)
		return edit_fail(e, MCPOOL_ENOENT, "there is none");
	if (place.parent == MP_NONE)
		return edit_fail(e, MCPOOL_EINVAL, "the whole text cannot be removed");
	/* Without the last of them, the one before would come to life. */
	if (mp_value_is(&e->l.tape, place.parent, MP_TAPE_OBJECT) &&
	    count_key(e, place.parent, path[n - 1]) > 1)
		return edit_fail(e, MCPOOL_EINVAL,
				 "the key occurs twice; remove one by hand first");
	cut_member(e, place.parent, place.v);
	return 0;
}

int mp_edit_remove(struct mp_str text, const struct mp_str *path, size_t n, struct mp_buf *out,
		   struct mcpool_error *reterr)
{
	struct edit e;

	edit_begin(&e, text, out->ceiling, reterr);
	return edit_finish(&e, remove_value(&e, path, n), out);
}
