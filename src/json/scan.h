/*
 * scan.h - the two inner loops of JSON, many bytes at a time: the plain run of a string, and white
 * space. Neither reads a byte at or behind end. SSE2 where there is SSE2, eight bytes in a word on
 * other little-endian machines, one by one elsewhere; -DMP_SCAN_PLAIN_C picks the middle one for
 * tests.
 */
#ifndef MP_SCAN_H
#define MP_SCAN_H

#include <string.h>

#include "base/base.h"

#if defined(__SSE2__) && !defined(MP_SCAN_PLAIN_C)
#define MP_SCAN_SSE2 1
#include <emmintrin.h>
#endif

/* Plain: may stand in a string as it is and is one byte. Not plain: quote, backslash, < 0x20, >=
 * 0x80. */
static inline bool mp_scan_is_plain(char c)
{
	return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

static inline bool mp_scan_is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#ifdef MP_SCAN_SSE2
static inline unsigned mp_scan_not_plain_mask(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i quote = _mm_cmpeq_epi8(v, _mm_set1_epi8('"'));
	__m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'));
	__m128i odd = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)); /* signed: also all from 0x80 on */

	return (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), odd));
}

static inline unsigned mp_scan_space_mask(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	__m128i blank = _mm_cmpeq_epi8(v, _mm_set1_epi8(' '));
	__m128i line = _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'));
	__m128i tab = _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'));
	__m128i ret = _mm_cmpeq_epi8(v, _mm_set1_epi8('\r'));

	return (unsigned)_mm_movemask_epi8(
		_mm_or_si128(_mm_or_si128(blank, line), _mm_or_si128(tab, ret)));
}
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define MP_SCAN_WORDS   1
#define MP_EACH_BYTE(b) ((uint64_t)0x0101010101010101u * (b))

/* The high bit of each zero byte; exact for the lowest one, which is the one we want. */
static inline uint64_t mp_scan_zero_bytes(uint64_t w)
{
	return (w - MP_EACH_BYTE(1)) & ~w & MP_EACH_BYTE(0x80);
}

static inline uint64_t mp_scan_not_plain_bits(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return mp_scan_zero_bytes(w ^ MP_EACH_BYTE('"')) |
	       mp_scan_zero_bytes(w ^ MP_EACH_BYTE('\\')) |
	       mp_scan_zero_bytes(w & MP_EACH_BYTE(0xe0)) | (w & MP_EACH_BYTE(0x80));
}
#endif

/* The first byte from p on that is not plain, or end. */
static inline const char *mp_scan_plain(const char *p, const char *end)
{
#ifdef MP_SCAN_SSE2
	for (; end - p >= 16; p += 16) {
		unsigned mask = mp_scan_not_plain_mask(p);

		if (mask)
			return p + __builtin_ctz(mask);
	}
#elif defined(MP_SCAN_WORDS)
	for (; end - p >= 8; p += 8) {
		uint64_t bits = mp_scan_not_plain_bits(p);

		if (bits)
			return p + __builtin_ctzll(bits) / 8;
	}
#endif
	while (p < end && mp_scan_is_plain(*p))
		p++;
	return p;
}

/* The first byte from p on that is not white space, or end. */
static inline const char *mp_scan_space(const char *p, const char *end)
{
#ifdef MP_SCAN_SSE2
	for (; end - p >= 16; p += 16) {
		unsigned mask = ~mp_scan_space_mask(p) & 0xffffu;

		if (mask)
			return p + __builtin_ctz(mask);
	}
#endif
	while (p < end && mp_scan_is_space(*p))
		p++;
	return p;
}

/*
 * For texts that are known to be valid: behind the comment at p, a line comment ending before its
 * line does; and behind all white space and comments.
 */
static inline const char *mp_scan_comment(const char *p, const char *end)
{
	bool line = p[1] == '/';

	for (p += 2; p < end; p++) {
		if (line && (*p == '\n' || *p == '\r'))
			return p;
		if (!line && *p == '*' && p[1] == '/')
			return p + 2;
	}
	return p;
}

static inline const char *mp_scan_gap(const char *p, const char *end)
{
	for (;;) {
		p = mp_scan_space(p, end);
		if (p == end || *p != '/')
			return p;
		p = mp_scan_comment(p, end);
	}
}

#endif
