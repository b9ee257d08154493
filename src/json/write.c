/*
 * write.c - builder that writes JSON straight into a buf.
 * The writer knows only what the next comma needs: the kind of each open level, and whether it has
 * an element already.
 */
#include "json/write.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "json/scan.h"

void mp_write_init(struct mp_writer *w, struct mp_buf *out, const char *indent)
{
	*w = (struct mp_writer){
		.out = out, .indent = indent, .eol = "\n", .spaces = indent != NULL};
}

int mp_write_finish(struct mp_writer *w)
{
	mp_check(w->error || w->state == MP_WRITE_COMPLETE);
	return w->error;
}

static void write_put(struct mp_writer *w, const char *bytes, size_t n)
{
	if (!w->error)
		w->error = mp_buf_add(w->out, bytes, n);
}

static void put_char(struct mp_writer *w, char c)
{
	if (!w->error)
		w->error = mp_buf_add_char(w->out, c);
}

static void new_line(struct mp_writer *w)
{
	if (!w->indent)
		return;
	write_put(w, w->eol, strlen(w->eol));
	write_put(w, w->margin.p, w->margin.len);
	for (unsigned i = 0; i < w->depth; i++)
		write_put(w, w->indent, strlen(w->indent));
}

static bool in_object(const struct mp_writer *w)
{
	if (w->depth == 0)
		return w->member;
	return w->objects[(w->depth - 1) >> 6] >> ((w->depth - 1) & 63) & 1;
}

/* The comma and the line before an element or a key. */
static void write_step(struct mp_writer *w)
{
	if (w->state == MP_WRITE_NEXT)
		write_put(w, ", ", w->spaces && !w->indent ? 2 : 1);
	if (w->depth)
		new_line(w);
}

static void before_value(struct mp_writer *w)
{
	if (w->error)
		return;
	mp_check(w->state != MP_WRITE_COMPLETE);
	if (w->state == MP_WRITE_KEYED)
		return;
	mp_check(!in_object(w));
	write_step(w);
}

static void after_value(struct mp_writer *w)
{
	w->state = w->depth ? MP_WRITE_NEXT : MP_WRITE_COMPLETE;
}

static void write_begin(struct mp_writer *w, bool object)
{
	uint64_t bit = (uint64_t)1 << (w->depth & 63);

	before_value(w);
	/* No broken promise: a peer decides how deep the values are that are put into others. */
	if (!w->error && w->depth == MP_LIMIT_JSON_DEPTH)
		w->error = MCPOOL_ELIMIT;
	if (w->error)
		return;
	put_char(w, object ? '{' : '[');
	if (object)
		w->objects[w->depth >> 6] |= bit;
	else
		w->objects[w->depth >> 6] &= ~bit;
	w->depth++;
	w->state = MP_WRITE_FIRST;
}

static void write_end(struct mp_writer *w, bool object)
{
	if (w->error)
		return;
	mp_check(w->depth && in_object(w) == object && w->state != MP_WRITE_KEYED);
	w->depth--;
	if (w->state == MP_WRITE_NEXT)
		new_line(w);
	put_char(w, object ? '}' : ']');
	after_value(w);
}

void mp_write_begin_object(struct mp_writer *w)
{
	write_begin(w, true);
}

void mp_write_end_object(struct mp_writer *w)
{
	write_end(w, true);
}

void mp_write_begin_array(struct mp_writer *w)
{
	write_begin(w, false);
}

void mp_write_end_array(struct mp_writer *w)
{
	write_end(w, false);
}

/* --- strings ------------------------------------------------------------------------------- */

static void put_escape(struct mp_writer *w, unsigned char c)
{
	static const char letters[] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};
	char text[8];

	if (c < sizeof(letters) && letters[c]) {
		put_char(w, '\\');
		put_char(w, letters[c]);
		return;
	}
	snprintf(text, sizeof(text), "\\u%04x", c);
	write_put(w, text, 6);
}

static void put_string(struct mp_writer *w, struct mp_str s)
{
	const char *p = s.p ? s.p : "";
	const char *stop = p + s.len;

	put_char(w, '"');
	while (p < stop) {
		const char *plain = p;
		size_t n;

		p = mp_scan_plain(p, stop);
		write_put(w, plain, (size_t)(p - plain));
		if (p == stop)
			break;
		n = mp_utf8_char(p, stop);
		if (n > 1)
			write_put(w, p, n);
		else if (n == 1)
			put_escape(w, (unsigned char)*p);
		else
			write_put(w, "\xef\xbf\xbd", 3);
		p += n ? n : 1;
	}
	put_char(w, '"');
}

static void before_key(struct mp_writer *w)
{
	if (w->error)
		return;
	mp_check(in_object(w) && w->state <= MP_WRITE_NEXT);
	write_step(w);
}

static void after_key(struct mp_writer *w)
{
	write_put(w, ": ", w->spaces ? 2 : 1);
	w->state = MP_WRITE_KEYED;
}

void mp_write_key(struct mp_writer *w, struct mp_str key)
{
	before_key(w);
	put_string(w, key);
	after_key(w);
}

void mp_write_raw_key(struct mp_writer *w, struct mp_str json)
{
	before_key(w);
	write_put(w, json.p, json.len);
	after_key(w);
}

void mp_write_text(struct mp_writer *w, struct mp_str text)
{
	before_value(w);
	put_string(w, text);
	after_value(w);
}

/* --- other scalars ------------------------------------------------------------------------- */

void mp_write_raw_members(struct mp_writer *w, struct mp_str json)
{
	if (json.len == 0)
		return;
	before_key(w);
	write_put(w, json.p, json.len);
	after_value(w);
}

void mp_write_raw(struct mp_writer *w, struct mp_str json)
{
	before_value(w);
	write_put(w, json.p, json.len);
	after_value(w);
}

void mp_write_null(struct mp_writer *w)
{
	mp_write_raw(w, MP_STR("null"));
}

void mp_write_bool(struct mp_writer *w, bool value)
{
	mp_write_raw(w, value ? MP_STR("true") : MP_STR("false"));
}

void mp_write_u64(struct mp_writer *w, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	mp_write_raw(w, (struct mp_str){digits + at, sizeof(digits) - at});
}

void mp_write_i64(struct mp_writer *w, int64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lld", (long long)value);

	mp_write_raw(w, (struct mp_str){text, (size_t)n});
}

/*
 * What printf() wrote, as JSON has it and no longer than needed. The host's locale may have another
 * decimal point, even one of several bytes; exponents come as e+21 and e-07.
 */
static size_t write_tidy(char *text)
{
	size_t len = 0;
	bool point = false, leading = false; /* leading: behind the e, before its first digit */

	for (const char *p = text; *p; p++) {
		if (leading && (*p == '+' || *p == '0'))
			continue;
		leading = *p == 'e' || (leading && *p == '-');
		if (strchr("0123456789-e", *p))
			text[len++] = *p;
		else if (!point)
			text[len++] = '.', point = true;
	}
	return len;
}

void mp_write_f64(struct mp_writer *w, double value)
{
	/* All of 15 digits are right in a double, except among the very smallest. */
	int precision = fabs(value) < DBL_MIN ? 1 : 15;
	char text[64];
	size_t len = 0;

	if (!isfinite(value)) {
		mp_write_null(w);
		return;
	}
	for (; precision <= 17; precision++) {
		double back;

		snprintf(text, sizeof(text), "%.*g", precision, value);
		len = write_tidy(text);
		if (mp_str_to_f64((struct mp_str){text, len}, &back) == 0 &&
		    back == value) /* the sign of a zero is kept by "%g" */
			break;
	}
	mp_write_raw(w, (struct mp_str){text, len});
}

/* --- values off a tape --------------------------------------------------------------------- */

enum { SHORT_LINE = 72 };

/* Arrays such as a command's arguments stay on one line, as people write them. */
static bool fits_a_line(const struct mp_tape *t, mp_value array)
{
	size_t width = 2;

	MP_VALUE_EACH(t, array, v) {
		if (t->nodes[v].type >= MP_TAPE_ARRAY)
			return false;
		width += t->nodes[v].end - t->nodes[v].start + 2;
		if (width > SHORT_LINE + 2) /* the last has no comma */
			return false;
	}
	return true;
}

static void write_short_array(struct mp_writer *w, const struct mp_tape *t, mp_value array)
{
	bool first = true;

	before_value(w);
	put_char(w, '[');
	MP_VALUE_EACH(t, array, v) {
		if (!first)
			write_put(w, ", ", w->spaces ? 2 : 1);
		write_put(w, t->src + t->nodes[v].start, t->nodes[v].end - t->nodes[v].start);
		first = false;
	}
	put_char(w, ']');
	after_value(w);
}

static const char *behind_string(const char *p, const char *stop)
{
	for (p = mp_scan_plain(p + 1, stop); *p != '"'; p = mp_scan_plain(p, stop))
		p += *p == '\\' ? 2 : 1;
	return p + 1;
}

/* A bracket of a value whose contents we know only as text. */
static void count_bracket(struct mp_writer *w, char c, unsigned *depth)
{
	if ((c == '{' || c == '[') && ++*depth > MP_LIMIT_JSON_DEPTH && !w->error)
		w->error = MCPOOL_ELIMIT;
	else if (c == '}' || c == ']')
		--*depth;
}

/* What is folded on the tape, from its source: white space, comments, trailing commas left out. */
static void write_folded(struct mp_writer *w, struct mp_str s)
{
	const char *p = s.p, *stop = s.p + s.len, *from;
	unsigned depth = w->depth;

	before_value(w);
	while (p < stop && !w->error) {
		p = from = mp_scan_gap(p, stop);
		if (*p == '"') {
			p = behind_string(p, stop);
		} else if (*p++ == ',') {
			const char *next = mp_scan_gap(p, stop);

			if (*next == ']' || *next == '}')
				continue;
		}
		count_bracket(w, *from, &depth);
		write_put(w, from, (size_t)(p - from));
	}
	after_value(w);
}

static void write_token(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	if (t->nodes[v].flags & MP_TAPE_FOLDED)
		write_folded(w, mp_value_source(t, v));
	else if (in_object(w) && w->state != MP_WRITE_KEYED)
		mp_write_raw_key(w, mp_value_source(t, v));
	else
		mp_write_raw(w, mp_value_source(t, v));
}

static bool is_open_bracket(const struct mp_tape_node *node)
{
	return node->type >= MP_TAPE_ARRAY && !(node->flags & MP_TAPE_FOLDED);
}

/* An object or array that is not one run of bytes already: token by token. */
static void write_tokens(struct mp_writer *w, const struct mp_tape *t, mp_value top)
{
	uint32_t stop = t->nodes[top].next;
	uint32_t ends[MP_LIMIT_JSON_DEPTH]; /* where on the tape each open level ends */
	unsigned open = 0;

	for (mp_value v = top; v < stop && !w->error; v++) {
		const struct mp_tape_node *node = &t->nodes[v];

		while (open && ends[open - 1] == v) {
			write_end(w, in_object(w));
			open--;
		}
		if (!is_open_bracket(node)) {
			write_token(w, t, v);
		} else if (w->indent && node->type == MP_TAPE_ARRAY && fits_a_line(t, v)) {
			write_short_array(w, t, v);
			v = node->next - 1;
		} else {
			write_begin(w, node->type == MP_TAPE_OBJECT);
			ends[open++] = node->next;
		}
	}
	while (open--)
		write_end(w, in_object(w));
}

void mp_write_value(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(t, v);

	mp_check(node);
	/*
	 * One run of bytes where neither side has spaces; this is how the hub forwards. It must not
	 * land deeper than it was, or the whole might be nested too deeply without our seeing it.
	 */
	if (node->type < MP_TAPE_ARRAY ||
	    (!w->indent && !w->spaces && !t->loose && w->depth <= node->depth))
		mp_write_raw(w, mp_value_source(t, v));
	else
		write_tokens(w, t, v);
}

void mp_write_member_text(struct mp_writer *w, const char *key, struct mp_str text)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_text(w, text);
}

void mp_write_member_i64(struct mp_writer *w, const char *key, int64_t value)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_i64(w, value);
}

void mp_write_member_bool(struct mp_writer *w, const char *key, bool value)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_bool(w, value);
}

void mp_write_member_raw(struct mp_writer *w, const char *key, struct mp_str json)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_raw(w, json);
}
