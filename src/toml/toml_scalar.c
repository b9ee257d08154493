/*
 * toml_scalar.c - values of TOML that stand without quotes: booleans, numbers, dates and times.
 * Each reader stops at the first character that does not belong, so a fault has its exact place.
 */
#include <stdio.h>

#include "toml/toml_parts.h"

static int expect_digit(struct mp_toml_cursor *c)
{
	return mp_toml_fault(c, c->p, "a digit is expected here");
}

/* What directly follows a complete value. */
static int expect_end(struct mp_toml_cursor *c)
{
	char next = mp_toml_peek(c);

	if (mp_toml_is_bare(next) || next == '+' || next == '.' || next == ':')
		return mp_toml_fault(
			c, c->p, "this does not belong to a number, a date, a time or a boolean");
	return 0;
}

/* --- dates and times ------------------------------------------------------------------------- */

struct field {
	int digits;
	unsigned least, most;
	const char *fault;
};

static const struct field year = {4, 0, 9999, "there is no such year"};
static const struct field month = {2, 1, 12, "there is no such month"};
static const struct field day = {2, 1, 31, "there is no such day"};
static const struct field hour = {2, 0, 23, "there is no such hour"};
static const struct field minute = {2, 0, 59, "there is no such minute"};
static const struct field second = {2, 0, 60, "there is no such second"}; /* 60: leap seconds */

static int read_field(struct mp_toml_cursor *c, const struct field *f, unsigned *ret_value)
{
	const char *first = c->p;
	unsigned value = 0;

	for (; c->p - first < f->digits; c->p++) {
		if (!mp_toml_is_digit(mp_toml_peek(c)))
			return expect_digit(c);
		value = value * 10 + (unsigned)(*c->p - '0');
	}
	if (value < f->least || value > f->most)
		return mp_toml_fault(c, first, f->fault);
	if (ret_value)
		*ret_value = value;
	return 0;
}

static int read_mark(struct mp_toml_cursor *c, char mark)
{
	if (mp_toml_peek(c) != mark)
		return mp_toml_fault(c, c->p,
				     mark == ':' ? "a ':' is expected in a time"
						 : "a '-' is expected in a date");
	c->p++;
	return 0;
}

static unsigned days_of(unsigned y, unsigned m)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	return days[m - 1] + (m == 2 && leap ? 1u : 0u);
}

static int read_date(struct mp_toml_cursor *c)
{
	unsigned y = 0, m = 1, d = 0;
	int r = read_field(c, &year, &y);

	if (r == 0)
		r = read_mark(c, '-');
	if (r == 0)
		r = read_field(c, &month, &m);
	if (r == 0)
		r = read_mark(c, '-');
	if (r == 0)
		r = read_field(c, &day, &d);
	if (r == 0 && d > days_of(y, m))
		r = mp_toml_fault(c, c->p - 2, day.fault);
	return r;
}

static int read_pair(struct mp_toml_cursor *c)
{
	int r = read_field(c, &hour, NULL);

	if (r == 0)
		r = read_mark(c, ':');
	return r < 0 ? r : read_field(c, &minute, NULL);
}

static int read_time(struct mp_toml_cursor *c)
{
	int r = read_pair(c);

	if (r == 0)
		r = read_mark(c, ':');
	if (r == 0)
		r = read_field(c, &second, NULL);
	if (r < 0 || mp_toml_peek(c) != '.')
		return r;
	c->p++;
	if (!mp_toml_is_digit(mp_toml_peek(c)))
		return expect_digit(c);
	while (mp_toml_is_digit(mp_toml_peek(c)))
		c->p++;
	return 0;
}

static int read_offset(struct mp_toml_cursor *c)
{
	char sign = mp_toml_peek(c);

	if (sign == 'Z' || sign == 'z')
		c->p++;
	if (sign != '+' && sign != '-')
		return 0;
	c->p++;
	return read_pair(c);
}

/* Between date and time: a T, or one space followed by a digit. */
static bool has_time(const struct mp_toml_cursor *c)
{
	char next = mp_toml_peek(c);

	return next == 'T' || next == 't' ||
	       (next == ' ' && c->end - c->p > 1 && mp_toml_is_digit(c->p[1]));
}

static int read_moment(struct mp_toml_cursor *c)
{
	int r = read_date(c);

	if (r < 0 || !has_time(c))
		return r;
	c->p++;
	r = read_time(c);
	return r < 0 ? r : read_offset(c);
}

/* --- numbers --------------------------------------------------------------------------------- */

static int digit_of(char c, int base)
{
	int value = 36;

	if (mp_toml_is_digit(c))
		value = c - '0';
	else if (base == 16 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		value = (c | 0x20) - 'a' + 10;
	return value < base ? value : -1;
}

/* Digits, an underscore allowed between two; their value unless it is too large. */
static int read_digits(struct mp_toml_cursor *c, int base, uint64_t *ret_value, bool *ret_fits)
{
	uint64_t value = 0;
	bool fits = true;

	for (;;) {
		int digit = digit_of(mp_toml_peek(c), base);

		if (digit < 0)
			return mp_toml_fault(
				c, c->p,
				mp_toml_peek(c) == '_'
					? "an underscore is allowed between two digits only"
					: "a digit is expected here");
		fits = fits && !__builtin_mul_overflow(value, (uint64_t)base, &value) &&
		       !__builtin_add_overflow(value, (uint64_t)digit, &value);
		c->p++;
		if (mp_toml_peek(c) == '_')
			c->p++;
		else if (digit_of(mp_toml_peek(c), base) < 0)
			break;
	}
	*ret_value = value;
	*ret_fits = fits;
	return 0;
}

static int store_whole(struct mp_toml_cursor *c, const char *first, uint64_t value, bool fits,
		       bool minus, struct mp_toml_scalar *ret_scalar)
{
	uint64_t most = (uint64_t)INT64_MAX + (minus ? 1 : 0);
	char room[24];
	char *copy;
	int n;

	if (!fits || value > most)
		return mp_toml_fault(c, first, "this whole number does not fit into 64 bits");
	n = snprintf(room, sizeof(room), "%s%llu", minus && value ? "-" : "",
		     (unsigned long long)value);
	copy = mp_arena_dup(c->arena, (struct mp_str){room, (size_t)n});
	if (!copy)
		return mp_toml_no_room(c);
	ret_scalar->text = (struct mp_str){copy, (size_t)n};
	return 0;
}

/* As it is written, without what JSON has not: a plus sign at its start, underscores. */
static int store_float(struct mp_toml_cursor *c, const char *first,
		       struct mp_toml_scalar *ret_scalar)
{
	char *copy = mp_arena_alloc(c->arena, (size_t)(c->p - first));
	size_t n = 0;

	if (!copy)
		return mp_toml_no_room(c);
	for (const char *p = first + (*first == '+'); p < c->p; p++)
		if (*p != '_')
			copy[n++] = *p;
	ret_scalar->text = (struct mp_str){copy, n};
	return 0;
}

/* Behind the whole part of a float. */
static int read_rest_of_float(struct mp_toml_cursor *c)
{
	uint64_t value = 0;
	bool fits = true;
	int r = 0;

	if (mp_toml_peek(c) == '.') {
		c->p++;
		r = read_digits(c, 10, &value, &fits);
	}
	if (r < 0 || (mp_toml_peek(c) | 0x20) != 'e')
		return r;
	c->p++;
	if (mp_toml_peek(c) == '+' || mp_toml_peek(c) == '-')
		c->p++;
	return read_digits(c, 10, &value, &fits);
}

static int read_decimal(struct mp_toml_cursor *c, const char *first,
			struct mp_toml_scalar *ret_scalar)
{
	const char *digits = c->p;
	uint64_t value = 0;
	bool fits = true;
	int r = read_digits(c, 10, &value, &fits);

	if (r < 0)
		return r;
	if (*digits == '0' && c->p - digits > 1)
		return mp_toml_fault(c, digits, "a number does not begin with 0");
	if (mp_toml_peek(c) != '.' && (mp_toml_peek(c) | 0x20) != 'e')
		return store_whole(c, first, value, fits, *first == '-', ret_scalar);
	r = read_rest_of_float(c);
	return r < 0 ? r : store_float(c, first, ret_scalar);
}

static int read_based(struct mp_toml_cursor *c, int base, struct mp_toml_scalar *ret_scalar)
{
	const char *first = c->p;
	uint64_t value = 0;
	bool fits = true;
	int r;

	c->p += 2;
	r = read_digits(c, base, &value, &fits);
	return r < 0 ? r : store_whole(c, first, value, fits, false, ret_scalar);
}

/* --- which of them --------------------------------------------------------------------------- */

/* How many digits stand there, up to five. */
static int count_digits(const struct mp_toml_cursor *c)
{
	int n = 0;

	while (n < 5 && c->end - c->p > n && mp_toml_is_digit(c->p[n]))
		n++;
	return n;
}

static bool is_followed_by(const struct mp_toml_cursor *c, int at, char mark)
{
	return c->end - c->p > at && c->p[at] == mark;
}

static int base_of(const struct mp_toml_cursor *c)
{
	static const struct {
		char prefix[3];
		int base;
	} bases[] = {{"0x", 16}, {"0o", 8}, {"0b", 2}};

	for (size_t i = 0; i < MP_ARRAY_LEN(bases); i++)
		if (mp_toml_sees(c, bases[i].prefix, 2))
			return bases[i].base;
	return 10;
}

static int read_unsigned(struct mp_toml_cursor *c, struct mp_toml_scalar *ret_scalar)
{
	const char *first = c->p;
	int n = count_digits(c);
	int r;

	if (is_followed_by(c, n, '-') || (n < 5 && is_followed_by(c, n, ':'))) {
		r = is_followed_by(c, n, '-') ? read_moment(c) : read_time(c);
		*ret_scalar = (struct mp_toml_scalar){true, {first, (size_t)(c->p - first)}};
		return r;
	}
	if (base_of(c) != 10)
		return read_based(c, base_of(c), ret_scalar);
	return read_decimal(c, first, ret_scalar);
}

static int read_signed(struct mp_toml_cursor *c, struct mp_toml_scalar *ret_scalar)
{
	const char *first = c->p++;

	if (mp_toml_sees(c, "inf", 3) || mp_toml_sees(c, "nan", 3)) {
		bool minus = *first == '-' && *c->p == 'i';

		*ret_scalar = (struct mp_toml_scalar){true, {minus ? first : c->p, minus ? 4 : 3}};
		c->p += 3;
		return 0;
	}
	return read_decimal(c, first, ret_scalar);
}

static int read_word(struct mp_toml_cursor *c, struct mp_toml_scalar *ret_scalar)
{
	static const struct mp_toml_scalar words[] = {{false, {"true", 4}},
						      {false, {"false", 5}},
						      {true, {"inf", 3}},
						      {true, {"nan", 3}}};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++) {
		if (!mp_toml_sees(c, words[i].text.p, words[i].text.len))
			continue;
		*ret_scalar = words[i];
		c->p += words[i].text.len;
		return 0;
	}
	return mp_toml_fault(c, c->p,
			     mp_toml_is_bare(mp_toml_peek(c))
				     ? "a value is expected here; text must be quoted"
				     : "a value is expected here");
}

int mp_toml_scalar_read(struct mp_toml_cursor *c, struct mp_toml_scalar *ret_scalar)
{
	char first = mp_toml_peek(c);
	int r;

	*ret_scalar = (struct mp_toml_scalar){false, {NULL, 0}};
	if (mp_toml_is_digit(first))
		r = read_unsigned(c, ret_scalar);
	else if (first == '+' || first == '-')
		r = read_signed(c, ret_scalar);
	else
		r = read_word(c, ret_scalar);
	return r < 0 ? r : expect_end(c);
}
