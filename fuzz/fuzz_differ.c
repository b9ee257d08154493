/*
 * fuzz_differ.c - our parser beside jansson: both accept or both refuse, and both read the same.
 * Where the two differ by choice, the difference is recognised, counted and printed at the end.
 * Input: with an even first byte the rest is the text; with an odd one the rest decides how a valid
 * text is made. Each is judged as it is and damaged in DAMAGED ways.
 */
#include <jansson.h>

#include "fuzz.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/value.h"
#include "json/write.h"

enum { DAMAGED = 9 };

static struct {
	unsigned long documents, accepted, refused;
	/* by choice: what we accept and jansson refuses, and the reverse */
	unsigned long surrogates, overflows, nul_keys, nul_bytes, depth;
} count;

static void print_count(void)
{
	fprintf(stderr,
		"differ: %lu documents, %lu accepted by both, %lu refused by both; by choice: "
		"%lu lone surrogates, %lu numbers too large for jansson, %lu NUL in keys, "
		"%lu NUL bytes that jansson overlooks, %lu nested over 128\n",
		count.documents, count.accepted, count.refused, count.surrogates, count.overflows,
		count.nul_keys, count.nul_bytes, count.depth);
}

/* --- making texts --------------------------------------------------------------------------- */

static void make_string(struct fuzz_input *in, struct mp_buf *out)
{
	static const char *const parts[] = {
		"a",
		"key",
		"\\n",
		"\\u00e9",
		"\xc3\xa9",
		"\xe2\x82\xac",
		"\\ud83d\\ude00",
		"\xf0\x9f\x98\x80",
		"\\\\",
		"\\\"",
		"\\/",
		" ",
		"0123456789abcdef",
		"\\u0041",
		"\\t",
	};
	uint32_t n = fuzz_below(in, 8);

	FUZZ_CHECK(mp_buf_add_char(out, '"') == 0);
	while (n--)
		FUZZ_CHECK(mp_buf_add_str(out,
					  mp_str_of(parts[fuzz_below(in, MP_ARRAY_LEN(parts))])) ==
			   0);
	FUZZ_CHECK(mp_buf_add_char(out, '"') == 0);
}

static void make_gap(struct fuzz_input *in, struct mp_buf *out)
{
	static const char *const gaps[] = {
		"", "", "", " ", "\n\t", "\r\n  ", "                    "};

	FUZZ_CHECK(mp_buf_add_str(out, mp_str_of(gaps[fuzz_below(in, MP_ARRAY_LEN(gaps))])) == 0);
}

static void make_value(struct fuzz_input *in, struct mp_buf *out, unsigned depth)
{
	static const char *const scalars[] = {
		"null",
		"true",
		"false",
		"0",
		"-0",
		"1",
		"-17",
		"3.25",
		"1e3",
		"1E-2",
		"0.1e+1",
		"9223372036854775807",
		"-9223372036854775808",
		"1.7976931348623157e308",
	};
	uint8_t what = fuzz_byte(in);
	uint32_t n = fuzz_below(in, 6);
	bool object = what & 1;

	make_gap(in, out);
	if (depth == 0 || in->size == 0 || what % 4 == 0) {
		if (what & 8)
			make_string(in, out);
		else
			FUZZ_CHECK(mp_buf_add_str(out, mp_str_of(scalars[fuzz_below(
							       in, MP_ARRAY_LEN(scalars))])) == 0);
	} else {
		FUZZ_CHECK(mp_buf_add_char(out, object ? '{' : '[') == 0);
		for (uint32_t i = 0; i < n; i++) {
			if (i)
				FUZZ_CHECK(mp_buf_add_char(out, ',') == 0);
			make_gap(in, out);
			if (object) {
				make_string(in, out);
				make_gap(in, out);
				FUZZ_CHECK(mp_buf_add_char(out, ':') == 0);
			}
			make_value(in, out, depth - 1);
		}
		make_gap(in, out);
		FUZZ_CHECK(mp_buf_add_char(out, object ? '}' : ']') == 0);
	}
	make_gap(in, out);
}

/* One byte changed, gone or doubled, or the end cut off, as the seed decides. */
static void damage(uint64_t seed, struct mp_buf *text)
{
	size_t at = text->len ? seed % text->len : 0;
	char bytes[2] = {(char)(seed >> 40), (char)(seed >> 48)};

	if (text->len == 0)
		return;
	switch (seed >> 32 & 3) {
	case 0:
		text->data[at] = bytes[0];
		break;
	case 1:
		text->len = at;
		break;
	case 2:
		FUZZ_CHECK(mp_buf_splice(text, at, 1, MP_STR("")) == 0);
		break;
	default:
		FUZZ_CHECK(mp_buf_splice(text, at, 0, (struct mp_str){bytes, 2}) == 0);
	}
}

/* --- comparing ------------------------------------------------------------------------------ */

static void compare(const struct mp_tape *t, mp_value v, json_t *theirs, struct mp_arena *arena);

static void compare_object(const struct mp_tape *t, mp_value v, json_t *theirs,
			   struct mp_arena *arena)
{
	size_t distinct = 0;

	MP_VALUE_EACH(t, v, k) {
		struct mp_str key;
		char *copy;

		FUZZ_CHECK(mp_value_text(t, k, arena, &key) == 0);
		if (mp_value_get_str(t, v, key) != mp_value_of(k))
			continue; /* a later one counts, for both */
		distinct++;
		copy = mp_arena_dup(arena, key);
		FUZZ_CHECK(copy);
		compare(t, mp_value_of(k), json_object_get(theirs, copy), arena);
	}
	FUZZ_CHECK(distinct == json_object_size(theirs));
}

static void compare_number(const struct mp_tape *t, mp_value v, json_t *theirs)
{
	int64_t i;
	double f;

	FUZZ_CHECK(mp_value_f64(t, v, &f) == 0);
	if (json_is_integer(theirs)) {
		FUZZ_CHECK(mp_value_i64(t, v, &i) == 0 && i == json_integer_value(theirs));
	} else {
		FUZZ_CHECK(json_is_real(theirs) && f == json_real_value(theirs));
		FUZZ_CHECK(!(t->nodes[v].flags & MP_TAPE_WHOLE));
	}
}

static void compare(const struct mp_tape *t, mp_value v, json_t *theirs, struct mp_arena *arena)
{
	struct mp_str text;
	size_t i = 0;

	FUZZ_CHECK(theirs);
	switch ((enum mp_tape_type)t->nodes[v].type) {
	case MP_TAPE_NULL:
		FUZZ_CHECK(json_is_null(theirs));
		break;
	case MP_TAPE_FALSE:
		FUZZ_CHECK(json_is_false(theirs));
		break;
	case MP_TAPE_TRUE:
		FUZZ_CHECK(json_is_true(theirs));
		break;
	case MP_TAPE_NUMBER:
		compare_number(t, v, theirs);
		break;
	case MP_TAPE_STRING:
		FUZZ_CHECK(json_is_string(theirs));
		FUZZ_CHECK(mp_value_text(t, v, arena, &text) == 0);
		FUZZ_CHECK(mp_str_eq(text, (struct mp_str){json_string_value(theirs),
							   json_string_length(theirs)}));
		break;
	case MP_TAPE_ARRAY:
		FUZZ_CHECK(json_is_array(theirs));
		MP_VALUE_EACH(t, v, child)
			compare(t, child, json_array_get(theirs, i++), arena);
		FUZZ_CHECK(i == json_array_size(theirs));
		break;
	case MP_TAPE_OBJECT:
		FUZZ_CHECK(json_is_object(theirs));
		compare_object(t, v, theirs, arena);
		break;
	}
}

static unsigned hex4(const char *p)
{
	char digits[5] = {p[0], p[1], p[2], p[3]};

	return (unsigned)strtoul(digits, NULL, 16);
}

/* Is there a surrogate escape without its other half in this valid text? */
static bool has_lone_surrogate(struct mp_str s)
{
	for (size_t i = 0; i + 6 <= s.len; i++) {
		unsigned code;

		if (s.p[i] != '\\')
			continue;
		if (s.p[++i] != 'u')
			continue;
		code = hex4(s.p + i + 1);
		if (code >= 0xdc00 && code < 0xe000)
			return true;
		if (code >= 0xd800 && code < 0xdc00) {
			unsigned low = i + 11 <= s.len && s.p[i + 5] == '\\' && s.p[i + 6] == 'u'
					       ? hex4(s.p + i + 7)
					       : 0;

			if (low < 0xdc00 || low >= 0xe000)
				return true;
			i += 6; /* the second half is not alone */
		}
	}
	return false;
}

/* We accept, jansson does not: one of our choices, or a finding. */
static void explain_refusal(struct mp_str text, const json_error_t *error)
{
	switch (json_error_code(error)) {
	case json_error_numeric_overflow:
		count.overflows++;
		break;
	case json_error_null_byte_in_key:
		count.nul_keys++;
		break;
	default:
		if (!has_lone_surrogate(text)) {
			fprintf(stderr, "jansson: %s\n", error->text);
			abort();
		}
		count.surrogates++;
	}
}

static void judge(struct mp_str text)
{
	struct mp_arena arena;
	struct mp_tape t;
	json_error_t error;
	json_t *theirs;
	int r;

	count.documents++;
	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = mp_tape_parse(&t, text, NULL);
	theirs = json_loadb(text.p, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (r == 0 && theirs) {
		count.accepted++;
		compare(&t, MP_ROOT, theirs, &arena);
	} else if (r == 0) {
		explain_refusal(text, &error);
	} else if (theirs && memchr(text.p, '\0', text.len)) {
		count.nul_bytes++; /* it loses one that it has to look at twice, as behind a number
				    */
	} else if (theirs) {
		FUZZ_CHECK(t.fault == MP_TAPE_FAULT_DEPTH);
		count.depth++;
	} else {
		count.refused++;
	}
	json_decref(theirs);
	mp_arena_done(&arena);
	mp_tape_done(&t);
}

/* The text itself, then some that are a little different. */
static void judge_all(struct mp_str text)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;
	struct mp_buf copy;

	judge(text);
	for (size_t i = 0; i < text.len; i++)
		seed = (seed ^ (unsigned char)text.p[i]) * 0x100000001b3u;
	mp_buf_init(&copy, MP_LIMIT_MESSAGE);
	for (int i = 0; i < DAMAGED; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		mp_buf_clear(&copy);
		FUZZ_CHECK(mp_buf_add_str(&copy, text) == 0);
		damage(seed, &copy);
		judge((struct mp_str){copy.data ? copy.data : "", copy.len});
	}
	mp_buf_done(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mp_buf text;

	if (count.documents == 0)
		atexit(print_count);
	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (fuzz_byte(&in) % 2 == 0)
		FUZZ_CHECK(mp_buf_add(&text, in.data, in.size) == 0);
	else
		make_value(&in, &text, 8);
	judge_all((struct mp_str){text.data ? text.data : "", text.len});
	mp_buf_done(&text);
	return 0;
}
