/*
 * base64url.c - reads base64url as tokens have it.
 */
#include "auth/base64url.h"

/* -1: not a digit. */
static int base64url_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* Up to four digits; bits that stand for no byte must be 0, else two texts would be equal. */
static int base64url_read_group(struct mp_str four, struct mp_buf *out)
{
	uint32_t bits = 0;
	char bytes[3];
	size_t n = four.len * 6 / 8;

	for (size_t i = 0; i < 4; i++) {
		int digit = i < four.len ? base64url_digit(four.p[i]) : 0;

		if (digit < 0)
			return MCPOOL_EPARSE;
		bits = bits << 6 | (uint32_t)digit;
	}
	if (four.len == 1 || (n < 3 && (bits & (0xffffffu >> (8 * n)))))
		return MCPOOL_EPARSE;
	for (size_t i = 0; i < 3; i++)
		bytes[i] = (char)(bits >> (16 - 8 * i) & 0xff);
	return mp_buf_add(out, bytes, n);
}

int mp_base64url_read(struct mp_str text, struct mp_buf *out)
{
	int r = 0;

	for (size_t at = 0; at < text.len && r == 0; at += 4) {
		size_t left = text.len - at;

		r = base64url_read_group((struct mp_str){text.p + at, left < 4 ? left : 4}, out);
	}
	return r;
}
