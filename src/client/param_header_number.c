/*
 * param_header_number.c - a JSON number in plain digits.
 * Both ends compare what is in the header with what is in the body, so 1.0, 1e0 and 1 must look the
 * same. It is done on the digits: nothing is rounded on the way.
 */
#include <stdio.h>
#include <string.h>

#include "client/param_headers.h"

#define MAX_SAFE ((UINT64_C(1) << 53) - 1)
enum { MAX_DIGITS = 350, SAFE_DIGITS = 16 };

/* The digits without point and outer zeros, and where the point belongs: 0.d1d2d3... * 10^point */
struct number {
	bool is_negative;
	char digits[MAX_DIGITS];
	int64_t n, point;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Of the exponent; far out it is cut, because it is too far already. */
static int64_t read_exponent(struct mp_str s)
{
	bool is_negative = s.len && s.p[0] == '-';
	int64_t e = 0;

	for (size_t i = 0; i < s.len && e < 100000; i++)
		if (is_digit(s.p[i]))
			e = e * 10 + (s.p[i] - '0');
	return is_negative ? -e : e;
}

static bool read_number(struct mp_str s, struct number *n)
{
	bool behind_point = false;
	size_t i = 0;

	*n = (struct number){.is_negative = s.len && s.p[0] == '-'};
	for (i = n->is_negative; i < s.len && s.p[i] != 'e' && s.p[i] != 'E'; i++) {
		if (s.p[i] == '.') {
			behind_point = true;
		} else if (s.p[i] == '0' && n->n == 0) {
			n->point -= behind_point; /* a zero in front of everything */
		} else if (n->n == MAX_DIGITS) {
			return false;
		} else {
			n->digits[n->n++] = s.p[i];
			n->point += !behind_point;
		}
	}
	if (i < s.len)
		n->point += read_exponent((struct mp_str){s.p + i + 1, s.len - i - 1});
	while (n->n && n->digits[n->n - 1] == '0')
		n->n--;
	return true;
}

static bool is_safe(const struct number *n)
{
	uint64_t value = 0;

	if (n->point > SAFE_DIGITS)
		return false;
	for (int64_t i = 0; i < n->point; i++)
		value = value * 10 + (uint64_t)(i < n->n ? n->digits[i] - '0' : 0);
	return value <= MAX_SAFE;
}

static struct mp_str write_digits(const struct number *n, char *room)
{
	char *at = room;

	if (n->is_negative)
		*at++ = '-';
	if (n->point <= 0)
		*at++ = '0';
	for (int64_t i = 0; i < n->point; i++)
		*at++ = i < n->n ? n->digits[i] : '0';
	if (n->n > n->point) {
		*at++ = '.';
		for (int64_t i = n->point; i < n->n; i++)
			*at++ = i < 0 ? '0' : n->digits[i];
	}
	return (struct mp_str){room, (size_t)(at - room)};
}

struct mp_str mp_param_header_write_number(struct mp_str number, char *room)
{
	static const struct mp_str none = {NULL, 0};
	struct number n;

	if (!read_number(number, &n))
		return none;
	if (n.n == 0)
		return MP_STR("0"); /* also for -0 */
	if (n.n <= n.point)
		return is_safe(&n) ? write_digits(&n, room) : none;
	if (n.point < -MAX_DIGITS || n.point > MAX_DIGITS || n.n - n.point > MAX_DIGITS)
		return none;
	return write_digits(&n, room);
}
