/*
 * str.h - string views, UTF-8, strict number parsing.
 * A view carries its length and owns nothing; NUL is a byte like any other.
 */
#ifndef MP_STR_H
#define MP_STR_H

#include <stdarg.h>
#include <string.h>

#include "base/base.h"

struct mp_str {
	const char *p; /* may be NULL where len is 0 */
	size_t len;
};

#define MP_STR(literal) ((struct mp_str){"" literal, sizeof(literal) - 1})
/* For printf: `"%.*s", MP_STR_ARGS(s)`; what does not fit an int is not shown. */
#define MP_STR_ARGS(s) (int)((s).len > INT32_MAX ? INT32_MAX : (s).len), ((s).p ? (s).p : "")

static inline struct mp_str mp_str_of(const char *text)
{
	return (struct mp_str){text, text ? strlen(text) : 0};
}

static inline bool mp_str_eq(struct mp_str a, struct mp_str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

static inline bool mp_str_starts(struct mp_str s, struct mp_str with)
{
	return s.len >= with.len && (with.len == 0 || memcmp(s.p, with.p, with.len) == 0);
}

/* ASCII letters without regard to case; every other byte exactly. */
bool mp_str_eq_nocase(struct mp_str a, struct mp_str b);
/* Offset of the first occurrence at or behind from; -1 if there is none. */
ptrdiff_t mp_str_find(struct mp_str s, struct mp_str needle, size_t from);
/* Without space, tab, CR and LF at both ends. */
struct mp_str mp_str_trim(struct mp_str s);
/* The last one that has anything in it; "" where none has. */
struct mp_str mp_str_get_last_line(struct mp_str text);
/* Less, equal, greater as memcmp, the shorter first where one begins the other. */
int mp_str_compare(struct mp_str a, struct mp_str b);

/*
 * The whole of s as a decimal number: no spaces, no plus sign, no empty string. MCPOOL_EINVAL for
 * anything else, MCPOOL_ELIMIT when it does not fit.
 */
int mp_str_to_i64(struct mp_str s, int64_t *ret_value) MP_MUST;
/* A duration with its unit: 500ms, 30s, 2m, 1h. MCPOOL_EINVAL. */
int mp_str_to_ms(struct mp_str s, int64_t *ret_ms) MP_MUST;
int mp_str_to_u64(struct mp_str s, uint64_t *ret_value) MP_MUST;
/* The other way: digits into room, which has MP_STR_DIGITS bytes. */
enum { MP_STR_DIGITS = 20 };
struct mp_str mp_str_from_u64(uint64_t value, char *room);
/* A JSON number as a double, whatever the host's locale; too large becomes infinite. */
int mp_str_to_f64(struct mp_str s, double *ret_value) MP_MUST;

static inline bool mp_utf8_is_tail(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/*
 * Length of the UTF-8 character at p (1 to 4), or 0 where the bytes before end are none: truncated,
 * overlong, a surrogate, past U+10FFFF. The rules are the Unicode standard's table 3-7: which
 * second bytes a first byte admits.
 */
static inline size_t mp_utf8_char(const char *p, const char *end)
{
	unsigned char first = (unsigned char)p[0];
	unsigned char second = end - p > 1 ? (unsigned char)p[1] : 0;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4 || second < 0x80 || second > 0xbf)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0) {
		if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f))
			return 0;
		return end - p > 2 && mp_utf8_is_tail(p[2]) ? 3 : 0;
	}
	if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
		return 0;
	return end - p > 3 && mp_utf8_is_tail(p[2]) && mp_utf8_is_tail(p[3]) ? 4 : 0;
}

bool mp_utf8_valid(struct mp_str s);
/* The largest length <= len at which no character of valid text is cut. */
size_t mp_utf8_cut(const char *text, size_t len);
/* Write code (a Unicode scalar value) to out, which has room for 4; returns the length. */
size_t mp_utf8_encode(uint32_t code, char *out);

/*
 * vsnprintf() that cuts between characters and leaves a mark there, by which redaction knows that a
 * secret may have been cut. True when all of it fitted; out always ends in NUL.
 */
#define MP_STR_CUT_MARK "\xe2\x80\xa6" /* an ellipsis */
bool mp_str_format(char *out, size_t size, const char *format, va_list args) MP_PRINTF(3, 0);

/* Versions as numbers between dots: less than 0 where a is older than b. */
int mp_str_compare_versions(const char *a, const char *b);

#endif
