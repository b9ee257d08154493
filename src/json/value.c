/*
 * value.c - reading values off a tape.
 * Conversions happen here and only when asked: text of strings, numbers, equality, duplicates.
 */
#include "json/value.h"

#include "base/map.h"
#include "base/mem.h"

const char *mp_value_describe(const struct mp_tape *t, mp_value v)
{
	static const char *const words[] = {
		[MP_TAPE_NULL] = "null",        [MP_TAPE_FALSE] = "false",
		[MP_TAPE_TRUE] = "true",        [MP_TAPE_NUMBER] = "a number",
		[MP_TAPE_STRING] = "a string",  [MP_TAPE_ARRAY] = "an array",
		[MP_TAPE_OBJECT] = "an object",
	};

	return v < t->n ? words[t->nodes[v].type] : "nothing";
}

struct mp_str mp_value_source(const struct mp_tape *t, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(t, v);

	if (!node)
		return (struct mp_str){NULL, 0};
	return (struct mp_str){t->src + node->start, node->end - node->start};
}

/* Between the quotes. */
static struct mp_str value_inside(const struct mp_tape *t, const struct mp_tape_node *node)
{
	return (struct mp_str){t->src + node->start + 1, node->end - node->start - 2};
}

mp_value mp_value_first(const struct mp_tape *t, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(t, v);

	return node && node->next > v + 1 ? v + 1 : MP_NONE;
}

mp_value mp_value_next(const struct mp_tape *t, mp_value parent, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(t, v);
	const struct mp_tape_node *around = mp_value_node(t, parent);

	return node && around && node->next < around->next ? node->next : MP_NONE;
}

size_t mp_value_count(const struct mp_tape *t, mp_value v)
{
	size_t n = 0;

	MP_VALUE_EACH(t, v, child)
		n++;
	return n;
}

/* Most keys differ in length or in their first byte; only few have escapes. */
static bool is_key(const struct mp_tape *t, mp_value k, struct mp_str key)
{
	const struct mp_tape_node *node = &t->nodes[k];

	if (MP_UNLIKELY(node->flags & MP_TAPE_ESCAPED))
		return mp_value_text_is(t, k, key);
	return mp_str_eq((struct mp_str){t->src + node->start + 1, node->end - node->start - 2},
			 key);
}

mp_value mp_value_get_key(const struct mp_tape *t, mp_value object, struct mp_str key)
{
	mp_value hit = MP_NONE, end;

	if (!mp_value_is(t, object, MP_TAPE_OBJECT))
		return MP_NONE;
	end = t->nodes[object].next;
	for (mp_value k = object + 1; k < end; k = t->nodes[k + 1].next)
		if (is_key(t, k, key))
			hit = k;
	return hit;
}

void mp_value_get_all(const struct mp_tape *t, mp_value object, const struct mp_str *keys, size_t n,
		      mp_value *values)
{
	mp_value end;

	for (size_t i = 0; i < n; i++)
		values[i] = MP_NONE;
	if (!mp_value_is(t, object, MP_TAPE_OBJECT))
		return;
	end = t->nodes[object].next;
	for (mp_value k = object + 1; k < end; k = t->nodes[k + 1].next) {
		size_t len = t->nodes[k].end - t->nodes[k].start - 2;
		bool has_escapes = t->nodes[k].flags & MP_TAPE_ESCAPED;

		for (size_t i = 0; i < n; i++)
			if ((len == keys[i].len || has_escapes) && is_key(t, k, keys[i])) {
				values[i] = k + 1;
				break;
			}
	}
}

/* --- the text of strings ------------------------------------------------------------------- */

static uint32_t value_hex4(const char *p)
{
	uint32_t code = 0;

	for (int i = 0; i < 4; i++) {
		uint32_t c = (unsigned char)p[i];

		code = code << 4 | (c <= '9' ? c - '0' : (c & 0x5f) - 'A' + 10);
	}
	return code;
}

static bool is_high(uint32_t code)
{
	return code >= 0xd800 && code < 0xdc00;
}

static bool is_low(uint32_t code)
{
	return code >= 0xdc00 && code < 0xe000;
}

/* The \u escape at p, or the pair of them that is one character. Returns its bytes of source. */
static size_t unescape_u(const char *p, const char *end, char *out, size_t *ret_len)
{
	uint32_t code = value_hex4(p + 2);
	size_t used = 6;

	if (is_high(code) && end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
	    is_low(value_hex4(p + 8))) {
		code = 0x10000 + ((code - 0xd800) << 10) + (value_hex4(p + 8) - 0xdc00);
		used = 12;
	} else if (is_high(code) || is_low(code)) {
		code = 0xfffd;
	}
	*ret_len = mp_utf8_encode(code, out);
	return used;
}

/* One escape of a valid string. out has room for 4. Returns its bytes of source. */
static size_t value_unescape(const char *p, const char *end, char *out, size_t *ret_len)
{
	*ret_len = 1;
	switch (p[1]) {
	case 'b':
		*out = '\b';
		return 2;
	case 'f':
		*out = '\f';
		return 2;
	case 'n':
		*out = '\n';
		return 2;
	case 'r':
		*out = '\r';
		return 2;
	case 't':
		*out = '\t';
		return 2;
	case 'u':
		return unescape_u(p, end, out, ret_len);
	default:
		*out = p[1];
		return 2;
	}
}

/* Resolve into out, which has room for as many bytes as s: an escape never grows. */
static size_t value_resolve(struct mp_str s, char *out)
{
	const char *p = s.p;
	const char *end = s.p + s.len;
	char *start = out;

	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((slash ? slash : end) - p);
		char bytes[4];
		size_t n;

		memcpy(out, p, plain);
		out += plain;
		p += plain;
		if (!slash)
			break;
		p += value_unescape(p, end, bytes, &n);
		memcpy(out, bytes, n);
		out += n;
	}
	return (size_t)(out - start);
}

int mp_value_text(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
		  struct mp_str *ret_text)
{
	const struct mp_tape_node *node = mp_value_node(t, v);
	struct mp_str s;
	char *out;

	if (!node || node->type != MP_TAPE_STRING)
		return MCPOOL_ETYPE;
	s = value_inside(t, node);
	if (node->flags & MP_TAPE_ESCAPED) {
		out = mp_arena_alloc(arena, s.len);
		if (!out)
			return mp_arena_get_error(arena);
		s = (struct mp_str){out, value_resolve(s, out)};
	}
	*ret_text = s;
	return 0;
}

/* Does s, escapes resolved, begin with text? *ret_rest: does something follow? */
static bool escaped_text_starts(struct mp_str s, struct mp_str text, bool *ret_rest)
{
	const char *p = s.p;
	const char *end = s.p + s.len;
	size_t at = 0;

	while (p < end && at < text.len) {
		char bytes[4] = {*p};
		size_t n = 1;

		p += *p == '\\' ? value_unescape(p, end, bytes, &n) : 1;
		if (text.len - at < n || memcmp(text.p + at, bytes, n) != 0)
			return false;
		at += n;
	}
	*ret_rest = p < end;
	return at == text.len;
}

bool mp_value_text_is(const struct mp_tape *t, mp_value v, struct mp_str text)
{
	const struct mp_tape_node *node = mp_value_node(t, v);
	bool rest;

	if (!node || node->type != MP_TAPE_STRING)
		return false;
	if (node->flags & MP_TAPE_ESCAPED)
		return escaped_text_starts(value_inside(t, node), text, &rest) && !rest;
	return mp_str_eq(value_inside(t, node), text);
}

bool mp_value_text_starts(const struct mp_tape *t, mp_value v, struct mp_str text)
{
	const struct mp_tape_node *node = mp_value_node(t, v);
	bool rest;

	if (!node || node->type != MP_TAPE_STRING)
		return false;
	if (node->flags & MP_TAPE_ESCAPED)
		return escaped_text_starts(value_inside(t, node), text, &rest);
	return mp_str_starts(value_inside(t, node), text);
}

/* --- numbers and booleans ------------------------------------------------------------------ */

static bool is_whole(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_NUMBER) && (t->nodes[v].flags & MP_TAPE_WHOLE);
}

int mp_value_i64(const struct mp_tape *t, mp_value v, int64_t *ret_value)
{
	return is_whole(t, v) ? mp_str_to_i64(mp_value_source(t, v), ret_value) : MCPOOL_ETYPE;
}

int mp_value_u64(const struct mp_tape *t, mp_value v, uint64_t *ret_value)
{
	struct mp_str s = mp_value_source(t, v);

	if (!is_whole(t, v))
		return MCPOOL_ETYPE;
	if (s.p[0] == '-') /* -0 is 0, everything else does not fit */
		return mp_str_eq(s, MP_STR("-0")) ? (*ret_value = 0, 0) : MCPOOL_ELIMIT;
	return mp_str_to_u64(s, ret_value);
}

int mp_value_f64(const struct mp_tape *t, mp_value v, double *ret_value)
{
	if (!mp_value_is(t, v, MP_TAPE_NUMBER))
		return MCPOOL_ETYPE;
	return mp_str_to_f64(mp_value_source(t, v), ret_value);
}

int mp_value_bool(const struct mp_tape *t, mp_value v, bool *ret_value)
{
	if (!mp_value_is(t, v, MP_TAPE_TRUE) && !mp_value_is(t, v, MP_TAPE_FALSE))
		return MCPOOL_ETYPE;
	*ret_value = t->nodes[v].type == MP_TAPE_TRUE;
	return 0;
}

/* --- duplicates and equality --------------------------------------------------------------- */

/* One character at p, escapes resolved; exact: a lone surrogate stays what it is. */
static size_t read_char(const char *p, const char *end, bool exact, char out[4], size_t *ret_len)
{
	size_t used;

	if (*p != '\\') {
		*ret_len = mp_utf8_char(p, end);
		memcpy(out, p, *ret_len);
		return *ret_len;
	}
	used = value_unescape(p, end, out, ret_len);
	if (exact && p[1] == 'u' && used == 6)
		*ret_len = mp_utf8_encode(value_hex4(p + 2), out);
	return used;
}

/*
 * Do two strings, on two tapes or one, have the same text? Takes no memory. exact: "\ud800" and
 * "\ud801" differ, though both read as U+FFFD.
 */
static bool same_text(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
		      bool exact)
{
	struct mp_str left = value_inside(a, &a->nodes[x]), right = value_inside(b, &b->nodes[y]);
	const char *p = left.p, *p_end = left.p + left.len;
	const char *q = right.p, *q_end = right.p + right.len;

	if (!((a->nodes[x].flags | b->nodes[y].flags) & MP_TAPE_ESCAPED))
		return mp_str_eq(left, right);
	/* Both sides step by whole characters, so that \u00e9 meets its two bytes. */
	while (p < p_end && q < q_end) {
		char one[4], other[4];
		size_t n, m;

		p += read_char(p, p_end, exact, one, &n);
		q += read_char(q, q_end, exact, other, &m);
		if (n != m || memcmp(one, other, n) != 0)
			return false;
	}
	return p == p_end && q == q_end;
}

enum { FEW_KEYS = 16 };

/* Most differ in length; one with escapes may be any key in disguise. */
static inline bool may_be_same(const struct mp_tape_node *a, const struct mp_tape_node *b)
{
	return a->end - a->start == b->end - b->start || ((a->flags | b->flags) & MP_TAPE_ESCAPED);
}

static mp_value duplicate_among_few(const struct mp_tape *t, mp_value object)
{
	const struct mp_tape_node *nodes = t->nodes;
	mp_value end = nodes[object].next;

	for (mp_value k = object + 1; k < end; k = nodes[k + 1].next)
		for (mp_value earlier = object + 1; earlier < k; earlier = nodes[earlier + 1].next)
			if (may_be_same(&nodes[k], &nodes[earlier]) &&
			    same_text(t, earlier, t, k, false))
				return k;
	return MP_NONE;
}

static int duplicate_among_many(const struct mp_tape *t, mp_value object, size_t n,
				mp_value *ret_key)
{
	struct mp_arena arena;
	struct mp_map seen;
	int r = 0;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_map_init(&seen, n);
	MP_VALUE_EACH(t, object, k) {
		struct mp_str text;

		r = mp_value_text(t, k, &arena, &text);
		if (r < 0)
			break;
		if (mp_map_has(&seen, text)) {
			*ret_key = k;
			break;
		}
		r = mp_map_set(&seen, text, NULL);
		if (r < 0)
			break;
	}
	mp_map_done(&seen);
	mp_arena_done(&arena);
	return r;
}

int mp_value_find_duplicate(const struct mp_tape *t, mp_value object, mp_value *ret_key)
{
	size_t n;

	*ret_key = MP_NONE;
	if (!mp_value_is(t, object, MP_TAPE_OBJECT))
		return 0;
	n = mp_value_count(t, object);
	if (n > MP_LIMIT_JSON_MEMBERS)
		return MCPOOL_ELIMIT;
	if (n > FEW_KEYS)
		return duplicate_among_many(t, object, n, ret_key);
	*ret_key = duplicate_among_few(t, object);
	return 0;
}

static bool same_keys_in_order(const struct mp_tape *a, mp_value x, const struct mp_tape *b,
			       mp_value y)
{
	mp_value other = mp_value_first(b, y);

	MP_VALUE_EACH(a, x, k) {
		if (other == MP_NONE || !same_text(a, k, b, other, true))
			return false;
		other = mp_value_next(b, y, mp_value_of(other));
	}
	return other == MP_NONE;
}

/* Elements, or the members' values, pair by pair. */
static int equal_in_order(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
			  bool *ret_equal)
{
	bool object = mp_value_is(a, x, MP_TAPE_OBJECT);
	mp_value other = mp_value_first(b, y);
	int r = 0;

	*ret_equal = true;
	MP_VALUE_EACH(a, x, v) {
		if (other == MP_NONE) {
			*ret_equal = false;
			return 0;
		}
		r = mp_value_equal(a, object ? mp_value_of(v) : v, b,
				   object ? mp_value_of(other) : other, ret_equal);
		if (r < 0 || !*ret_equal)
			return r;
		other = mp_value_next(b, y, object ? mp_value_of(other) : other);
	}
	*ret_equal = other == MP_NONE;
	return 0;
}

/* The members of x looked up among those of y. Neither has a key twice. */
static int equal_by_name(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
			 struct mp_map *names, struct mp_arena *arena, bool *ret_equal)
{
	struct mp_str text = {NULL, 0};
	int r;

	MP_VALUE_EACH(b, y, k) {
		r = mp_value_text(b, k, arena, &text);
		if (r < 0)
			return r;
		r = mp_map_set(names, text, (void *)&b->nodes[k]);
		if (r < 0)
			return r;
	}
	MP_VALUE_EACH(a, x, k) {
		const struct mp_tape_node *other;

		r = mp_value_text(a, k, arena, &text);
		if (r < 0)
			return r;
		other = mp_map_get(names, text);
		*ret_equal = false;
		if (!other || !same_text(a, k, b, (mp_value)(other - b->nodes), true))
			return 0;
		r = mp_value_equal(a, mp_value_of(k), b, (mp_value)(other - b->nodes) + 1,
				   ret_equal);
		if (r < 0 || !*ret_equal)
			return r;
	}
	return 0;
}

static int equal_objects(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
			 bool *ret_equal)
{
	size_t n = mp_value_count(a, x);
	mp_value twice_a = MP_NONE, twice_b = MP_NONE;
	struct mp_arena arena;
	struct mp_map names;
	int r;

	if (same_keys_in_order(a, x, b, y))
		return equal_in_order(a, x, b, y, ret_equal);
	*ret_equal = false;
	if (n != mp_value_count(b, y))
		return 0;
	r = mp_value_find_duplicate(a, x, &twice_a);
	if (r == 0)
		r = mp_value_find_duplicate(b, y, &twice_b);
	if (r < 0 || twice_a != MP_NONE || twice_b != MP_NONE)
		return r;
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_map_init(&names, n);
	r = equal_by_name(a, x, b, y, &names, &arena, ret_equal);
	mp_map_done(&names);
	mp_arena_done(&arena);
	return r;
}

int mp_value_equal(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
		   bool *ret_equal)
{
	const struct mp_tape_node *left = mp_value_node(a, x);
	const struct mp_tape_node *right = mp_value_node(b, y);

	*ret_equal = false;
	if (!left || !right || left->type != right->type ||
	    ((left->flags | right->flags) & MP_TAPE_FOLDED))
		return 0;
	switch ((enum mp_tape_type)left->type) {
	case MP_TAPE_NULL:
	case MP_TAPE_FALSE:
	case MP_TAPE_TRUE:
		*ret_equal = true;
		return 0;
	case MP_TAPE_NUMBER:
		*ret_equal = mp_str_eq(mp_value_source(a, x), mp_value_source(b, y));
		return 0;
	case MP_TAPE_STRING:
		*ret_equal = same_text(a, x, b, y, true);
		return 0;
	case MP_TAPE_ARRAY:
		return equal_in_order(a, x, b, y, ret_equal);
	case MP_TAPE_OBJECT:
		return equal_objects(a, x, b, y, ret_equal);
	}
	return 0;
}
