/*
 * str.c - string views, UTF-8, strict number parsing.
 * Numbers follow neither the locale nor strtol()'s habits: what is not wholly a number is refused.
 */
#include "base/str.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static char str_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

#define EACH_BYTE(b) ((uint64_t)0x0101010101010101u * (b))

/* Eight bytes, the capital letters among them made small. */
static uint64_t lower_eight(const char *p)
{
	uint64_t w, low, from_a, past_z;

	memcpy(&w, p, 8);
	low = w & EACH_BYTE(0x7f);
	from_a = low + EACH_BYTE(0x80 - 'A'); /* the high bit of each says so */
	past_z = low + EACH_BYTE(0x7f - 'Z');
	return w | ((from_a ^ past_z) & ~w & EACH_BYTE(0x80)) >> 2;
}

bool mp_str_eq_nocase(struct mp_str a, struct mp_str b)
{
	size_t i = 0;

	if (a.len != b.len)
		return false;
	for (; a.len - i >= 8; i += 8)
		if (lower_eight(a.p + i) != lower_eight(b.p + i))
			return false;
	for (; i < a.len; i++)
		if (str_lower(a.p[i]) != str_lower(b.p[i]))
			return false;
	return true;
}

ptrdiff_t mp_str_find(struct mp_str s, struct mp_str needle, size_t from)
{
	const char *hit;

	if (from > s.len || needle.len > s.len - from)
		return -1;
	if (needle.len == 0)
		return (ptrdiff_t)from;
	hit = memmem(s.p + from, s.len - from, needle.p, needle.len);
	return hit ? hit - s.p : -1;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct mp_str mp_str_get_last_line(struct mp_str text)
{
	size_t from;

	while (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	from = text.len;
	while (from > 0 && text.p[from - 1] != '\n')
		from--;
	return (struct mp_str){text.p + from, text.len - from};
}

struct mp_str mp_str_trim(struct mp_str s)
{
	while (s.len && is_space(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len && is_space(s.p[s.len - 1]))
		s.len--;
	return s;
}

int mp_str_compare(struct mp_str a, struct mp_str b)
{
	size_t common = a.len < b.len ? a.len : b.len;
	int order = common ? memcmp(a.p, b.p, common) : 0;

	if (order)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

int mp_str_to_u64(struct mp_str s, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (s.len == 0)
		return MCPOOL_EINVAL;
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return MCPOOL_EINVAL;
	for (size_t i = 0; i < s.len; i++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
			return MCPOOL_ELIMIT;
	*ret_value = value;
	return 0;
}

int mp_str_to_i64(struct mp_str s, int64_t *ret_value)
{
	bool negative = s.len && s.p[0] == '-';
	uint64_t size;
	int r;

	if (negative) {
		s.p++;
		s.len--;
	}
	r = mp_str_to_u64(s, &size);
	if (r < 0)
		return r;
	if (size > (uint64_t)INT64_MAX + negative)
		return MCPOOL_ELIMIT;
	*ret_value = negative ? (int64_t)(0 - size) : (int64_t)size;
	return 0;
}

int mp_str_to_ms(struct mp_str s, int64_t *ret_ms)
{
	static const struct {
		const char *unit;
		int64_t factor;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	size_t digits = 0;
	int64_t value;

	while (digits < s.len && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	if (digits == 0 || digits > 9 || mp_str_to_i64((struct mp_str){s.p, digits}, &value) < 0)
		return MCPOOL_EINVAL;
	for (size_t i = 0; i < MP_ARRAY_LEN(units); i++)
		if (mp_str_eq((struct mp_str){s.p + digits, s.len - digits},
			      mp_str_of(units[i].unit))) {
			*ret_ms = value * units[i].factor;
			return 0;
		}
	return MCPOOL_EINVAL;
}

static locale_t c_locale;

static void make_c_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static size_t skip_digits(struct mp_str s, size_t at)
{
	while (at < s.len && s.p[at] >= '0' && s.p[at] <= '9')
		at++;
	return at;
}

/* RFC 8259, section 6; strtod() would also take spaces, "+1", "01", "1.", "0x1", "inf", "nan". */
static bool is_json_number(struct mp_str s)
{
	size_t from = s.len && s.p[0] == '-' ? 1 : 0;
	size_t at = skip_digits(s, from);

	if (at == from || (s.p[from] == '0' && at > from + 1))
		return false;
	if (at < s.len && s.p[at] == '.') {
		from = at + 1;
		at = skip_digits(s, from);
		if (at == from)
			return false;
	}
	if (at < s.len && (s.p[at] == 'e' || s.p[at] == 'E')) {
		from = at + 1;
		if (from < s.len && (s.p[from] == '+' || s.p[from] == '-'))
			from++;
		at = skip_digits(s, from);
		if (at == from)
			return false;
	}
	return at == s.len;
}

struct mp_str mp_str_from_u64(uint64_t value, char *room)
{
	size_t at = MP_STR_DIGITS;

	do
		room[--at] = (char)('0' + value % 10);
	while (value /= 10);
	return (struct mp_str){room + at, MP_STR_DIGITS - at};
}

int mp_str_to_f64(struct mp_str s, double *ret_value)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char small[64];
	char *copy = small;
	char *stopped;
	double value;
	bool whole;

	if (!is_json_number(s))
		return MCPOOL_EINVAL;
	if (s.len >= sizeof(small)) {
		copy = mp_try_alloc(s.len + 1);
		if (!copy)
			return MCPOOL_ENOMEM;
	}
	memcpy(copy, s.p, s.len);
	copy[s.len] = '\0';
	(void)pthread_once(&once, make_c_locale); /* fails for bad arguments only */
	value = c_locale ? strtod_l(copy, &stopped, c_locale) : strtod(copy, &stopped);
	whole = stopped == copy + s.len; /* false where only a locale with commas was to be had */
	if (copy != small)
		mp_free(copy);
	if (!whole)
		return MCPOOL_EINVAL;
	*ret_value = value;
	return 0;
}

bool mp_utf8_valid(struct mp_str s)
{
	const char *p = s.p ? s.p : "";
	const char *end = p + s.len;

	while (p < end) {
		size_t n = mp_utf8_char(p, end);

		if (n == 0)
			return false;
		p += n;
	}
	return true;
}

size_t mp_utf8_cut(const char *text, size_t len)
{
	size_t start = len;

	while (start > 0 && len - start < 3 && mp_utf8_is_tail(text[start - 1]))
		start--;
	if (start > 0 && (unsigned char)text[start - 1] >= 0xc0)
		start--; /* the first byte of the last character */
	if (start < len && mp_utf8_char(text + start, text + len) != len - start)
		return start;
	return len;
}

size_t mp_utf8_encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

bool mp_str_format(char *out, size_t size, const char *format, va_list args)
{
	int n = vsnprintf(out, size, format, args);
	size_t cut;

	if (n < 0) {
		out[0] = '\0';
		return false;
	}
	if ((size_t)n < size)
		return true;
	cut = size > sizeof(MP_STR_CUT_MARK) ? size - sizeof(MP_STR_CUT_MARK) : 0;
	cut = mp_utf8_cut(out, cut);
	if (size >= sizeof(MP_STR_CUT_MARK))
		memcpy(out + cut, MP_STR_CUT_MARK, sizeof(MP_STR_CUT_MARK));
	else
		out[0] = '\0';
	return false;
}

int mp_str_compare_versions(const char *a, const char *b)
{
	for (;;) {
		char *x, *y;
		unsigned long m = strtoul(a, &x, 10), n = strtoul(b, &y, 10);

		if (m != n)
			return m < n ? -1 : 1;
		if (*x != '.' || *y != '.')
			return (*x == '.') - (*y == '.');
		a = x + 1;
		b = y + 1;
	}
}
