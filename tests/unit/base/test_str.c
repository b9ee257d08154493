/* test_str.c - strict numbers, UTF-8 at its borders, and the small words about string views. */
#include "test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"

static const struct mp_str nothing = {NULL, 0};

/* --- numbers -------------------------------------------------------------------------------- */

TEST(signed_numbers)
{
	static const struct {
		const char *text;
		int r;
		int64_t value;
	} rows[] = {
		{"0", 0, 0},
		{"-0", 0, 0},
		{"1", 0, 1},
		{"-1", 0, -1},
		{"007", 0, 7},
		{"000000000000000000000000000000000000000000000000000001", 0, 1},
		{"9223372036854775806", 0, INT64_MAX - 1},
		{"9223372036854775807", 0, INT64_MAX},
		{"9223372036854775808", MCPOOL_ELIMIT, 0},
		{"-9223372036854775807", 0, -INT64_MAX},
		{"-9223372036854775808", 0, INT64_MIN},
		{"-9223372036854775809", MCPOOL_ELIMIT, 0},
		{"18446744073709551615", MCPOOL_ELIMIT, 0},
		{"18446744073709551616", MCPOOL_ELIMIT, 0},
		{"-18446744073709551616", MCPOOL_ELIMIT, 0},
		{"99999999999999999999999999999999", MCPOOL_ELIMIT, 0},
		{"9999999999999999999999999999999x", MCPOOL_EINVAL, 0},
		{"", MCPOOL_EINVAL, 0},
		{"-", MCPOOL_EINVAL, 0},
		{"--1", MCPOOL_EINVAL, 0},
		{"+1", MCPOOL_EINVAL, 0},
		{"-+1", MCPOOL_EINVAL, 0},
		{" 1", MCPOOL_EINVAL, 0},
		{"1 ", MCPOOL_EINVAL, 0},
		{"- 1", MCPOOL_EINVAL, 0},
		{"1\n", MCPOOL_EINVAL, 0},
		{"0x10", MCPOOL_EINVAL, 0},
		{"1e5", MCPOOL_EINVAL, 0},
		{"1.0", MCPOOL_EINVAL, 0},
		{"1,000", MCPOOL_EINVAL, 0},
		{"one", MCPOOL_EINVAL, 0},
		{"/", MCPOOL_EINVAL, 0}, /* the neighbours of the digits */
		{":", MCPOOL_EINVAL, 0},
		{"\xd9\xa1", MCPOOL_EINVAL, 0}, /* the Arabic one */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		int64_t value = 4711;

		CHECK_EQ(mp_str_to_i64(mp_str_of(rows[i].text), &value), rows[i].r);
		CHECK_EQ(value, rows[i].r < 0 ? 4711 : rows[i].value);
	}
}

/* use-P8 */
TEST(durations)
{
	static const struct {
		const char *text;
		int r;
		int64_t ms;
	} rows[] = {
		{"500ms", 0, 500},
		{"30s", 0, 30000},
		{"2m", 0, 120000},
		{"1h", 0, 3600000},
		{"0s", 0, 0},
		{"999999999h", 0, 3599999996400000},
		{"30", MCPOOL_EINVAL, 0},
		{"s", MCPOOL_EINVAL, 0},
		{"30 s", MCPOOL_EINVAL, 0},
		{"-1s", MCPOOL_EINVAL, 0},
		{"1.5s", MCPOOL_EINVAL, 0},
		{"30S", MCPOOL_EINVAL, 0},
		{"", MCPOOL_EINVAL, 0},
		{"1d", MCPOOL_EINVAL, 0},
		{"9999999999s", MCPOOL_EINVAL, 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		int64_t ms = 4711;

		CHECK_EQ(mp_str_to_ms(mp_str_of(rows[i].text), &ms), rows[i].r);
		CHECK_EQ(ms, rows[i].r < 0 ? 4711 : rows[i].ms);
	}
}

TEST(unsigned_numbers)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} rows[] = {
		{"0", 0, 0},
		{"10", 0, 10},
		{"9223372036854775808", 0, (uint64_t)1 << 63},
		{"18446744073709551609", 0, UINT64_MAX - 6},
		{"18446744073709551615", 0, UINT64_MAX},
		{"018446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", MCPOOL_ELIMIT, 0},
		{"18446744073709551620", MCPOOL_ELIMIT, 0},
		{"28446744073709551615", MCPOOL_ELIMIT, 0},
		{"184467440737095516150", MCPOOL_ELIMIT, 0},
		{"-0", MCPOOL_EINVAL, 0},
		{"-1", MCPOOL_EINVAL, 0},
		{"+1", MCPOOL_EINVAL, 0},
		{"", MCPOOL_EINVAL, 0},
		{" 1", MCPOOL_EINVAL, 0},
		{"1 ", MCPOOL_EINVAL, 0},
		{"0x10", MCPOOL_EINVAL, 0},
	};
	uint64_t value = 4711;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		value = 4711;
		CHECK_EQ(mp_str_to_u64(mp_str_of(rows[i].text), &value), rows[i].r);
		CHECK_EQ(value, rows[i].r < 0 ? 4711 : rows[i].value);
	}
	CHECK_EQ(mp_str_to_u64(nothing, &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_u64(MP_STR("1\0"), &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_u64((struct mp_str){"1234", 2}, &value), 0); /* a view, no C string */
	CHECK_EQ(value, 12);
}

TEST(floating_numbers)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{"0", 0},
		{"-0", -0.0},
		{"1", 1},
		{"-1.5", -1.5},
		{"0.1", 0.1},
		{"1e5", 1e5},
		{"1E5", 1e5},
		{"1e+5", 1e5},
		{"1e-5", 1e-5},
		{"1.25e2", 125},
		{"0e0", 0},
		{"1e05", 1e5},
		{"1.7976931348623157e308", 1.7976931348623157e308},
		{"4.9e-324", 4.9e-324},
		{"1e-400", 0},
		{"9007199254740993", 9007199254740992.0}, /* the tie goes to the even one */
	};
	double value = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		value = 4711;
		CHECK_EQ(mp_str_to_f64(mp_str_of(rows[i].text), &value), 0);
		CHECK(memcmp(&value, &rows[i].value, sizeof(value)) == 0);
	}
	CHECK_EQ(mp_str_to_f64(MP_STR("1e999"), &value), 0);
	CHECK(isinf(value) && value > 0);
	CHECK_EQ(mp_str_to_f64(MP_STR("-1e999"), &value), 0);
	CHECK(isinf(value) && value < 0);
}

TEST(what_is_no_floating_number)
{
	static const char *const rows[] = {
		"",     "-",    "+1",  " 1",       "1 ",    "- 1",  "--1",   ".5",     "-.5",
		"1.",   "1.e5", "01",  "-01",      "00",    "00.5", "1e",    "1e+",    "1e-",
		"1e5.", "1e5e", "e5",  "E5",       "1.2.3", "1,5",  "1_000", "0x10",   "0X1p3",
		"inf",  "-inf", "Inf", "infinity", "nan",   "NaN",  "-nan",  "nan(1)", "1f",
		"1d",   "0b1",  "1\n", "\t1",      "1e 5",  "one",  "0.1x",  "-e1",    ".",
	};
	double value = 4711;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK_EQ(mp_str_to_f64(mp_str_of(rows[i]), &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_f64(nothing, &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_f64(MP_STR("1\0"), &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_f64(MP_STR("1\0"
				      "2"),
			       &value),
		 MCPOOL_EINVAL);
	CHECK(value == 4711);
}

TEST(very_long_numbers)
{
	for (size_t len = 60; len < 70; len++) { /* around the size that needs no memory */
		char digits[80];
		double value = 0;

		memset(digits, '0', sizeof(digits));
		digits[0] = '1';
		CHECK_EQ(mp_str_to_f64((struct mp_str){digits, len}, &value), 0);
		CHECK(fabs(value / pow(10, (double)len - 1) - 1) < 1e-12);
		digits[len - 1] = 'x';
		CHECK_EQ(mp_str_to_f64((struct mp_str){digits, len}, &value), MCPOOL_EINVAL);
	}
}

TEST(a_number_of_a_hundred_thousand_digits)
{
	MP_CLEANUP(mp_freep) char *digits = mp_try_alloc(100000);
	double value = 0;
	int64_t number;

	CHECK(digits);
	memset(digits, '3', 100000);
	CHECK_EQ(mp_str_to_f64((struct mp_str){digits, 100000}, &value), 0);
	CHECK(isinf(value));
	digits[1] = '.';
	CHECK_EQ(mp_str_to_f64((struct mp_str){digits, 100000}, &value), 0);
	CHECK(value == 10.0 / 3);
	digits[1] = '3';
	CHECK_EQ(mp_str_to_i64((struct mp_str){digits, 100000}, &number), MCPOOL_ELIMIT);
}

static void restore_locale(int *unused)
{
	(void)unused;
	setlocale(LC_ALL, "C");
}

static bool use_a_comma(void)
{
	static const char *const names[] = {
		"de_DE.UTF-8", "de_DE.utf8",  "de_DE",       "fr_FR.UTF-8", "fr_FR.utf8",
		"fr_FR",       "nl_NL.UTF-8", "ru_RU.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		if (setlocale(LC_ALL, names[i]) && localeconv()->decimal_point[0] == ',')
			return true;
	return false;
}

TEST(numbers_do_not_follow_the_locale)
{
	MP_CLEANUP(restore_locale) int scope = 0;
	double value = 0;

	(void)scope;
	if (!use_a_comma()) {
		printf("             skipped: no locale with a decimal comma is installed\n");
		return;
	}
	CHECK_EQ(mp_str_to_f64(MP_STR("1.5"), &value), 0);
	CHECK(value == 1.5);
	CHECK_EQ(mp_str_to_f64(MP_STR("1,5"), &value), MCPOOL_EINVAL);
	CHECK_EQ(mp_str_to_f64(MP_STR("1.2345678901234567890123456789012345678901234567890123456789"
				      "012345678901234567890e2"),
			       &value),
		 0);
	CHECK(value == 123.45678901234567890);
}

/* --- UTF-8 ---------------------------------------------------------------------------------- */

TEST(characters_at_every_border)
{
	static const struct {
		struct mp_str bytes;
		size_t n; /* 0: no character begins here */
	} rows[] = {
		{MP_STR("\0"), 1},
		{MP_STR("\x7f"), 1},
		{MP_STR("\x7f\xff"), 1},
		{MP_STR("\x80"), 0},
		{MP_STR("\xbf"), 0},
		{MP_STR("\xbf\xbf"), 0},
		{MP_STR("\xc0\x80"), 0}, /* overlong NUL */
		{MP_STR("\xc0\xaf"), 0}, /* overlong slash */
		{MP_STR("\xc1\xbf"), 0}, /* overlong U+007F */
		{MP_STR("\xc2\x80"), 2}, /* U+0080 */
		{MP_STR("\xc2\x7f"), 0},
		{MP_STR("\xc2\xc0"), 0},
		{MP_STR("\xc2"), 0},
		{MP_STR("\xdf\xbf"), 2}, /* U+07FF */
		{MP_STR("\xdf\xbf\xbf"), 2},
		{MP_STR("\xe0\x80\x80"), 0},
		{MP_STR("\xe0\x9f\xbf"), 0}, /* overlong U+07FF */
		{MP_STR("\xe0\xa0\x80"), 3}, /* U+0800 */
		{MP_STR("\xe0\xa0\x7f"), 0},
		{MP_STR("\xe0\xa0\xc0"), 0},
		{MP_STR("\xe0\xc0\x80"), 0},
		{MP_STR("\xe0\xa0"), 0},
		{MP_STR("\xe0"), 0},
		{MP_STR("\xe1\x80\x80"), 3},
		{MP_STR("\xe1\x7f\x80"), 0},
		{MP_STR("\xec\xbf\xbf"), 3},
		{MP_STR("\xed\x80\x80"), 3},
		{MP_STR("\xed\x9f\xbf"), 3},             /* U+D7FF */
		{MP_STR("\xed\xa0\x80"), 0},             /* U+D800, a surrogate */
		{MP_STR("\xed\xbf\xbf"), 0},             /* U+DFFF */
		{MP_STR("\xed\xa0\x80\xed\xb0\x80"), 0}, /* a pair of them (CESU-8) */
		{MP_STR("\xee\x80\x80"), 3},             /* U+E000 */
		{MP_STR("\xef\xbb\xbf"), 3},             /* the byte order mark */
		{MP_STR("\xef\xbf\xbf"), 3},             /* U+FFFF */
		{MP_STR("\xef\xbf"), 0},
		{MP_STR("\xf0\x80\x80\x80"), 0},
		{MP_STR("\xf0\x8f\xbf\xbf"), 0}, /* overlong U+FFFF */
		{MP_STR("\xf0\x90\x80\x80"), 4}, /* U+10000 */
		{MP_STR("\xf0\x90\x80\x7f"), 0},
		{MP_STR("\xf0\x90\x7f\x80"), 0},
		{MP_STR("\xf0\x90\xc0\x80"), 0},
		{MP_STR("\xf0\x90\x80"), 0},
		{MP_STR("\xf0\x90"), 0},
		{MP_STR("\xf0"), 0},
		{MP_STR("\xf1\x80\x80\x80"), 4},
		{MP_STR("\xf3\xbf\xbf\xbf"), 4},
		{MP_STR("\xf4\x80\x80\x80"), 4},
		{MP_STR("\xf4\x8f\xbf\xbf"), 4}, /* U+10FFFF */
		{MP_STR("\xf4\x90\x80\x80"), 0}, /* U+110000 */
		{MP_STR("\xf5\x80\x80\x80"), 0},
		{MP_STR("\xf8\x88\x80\x80\x80"), 0}, /* what five bytes once meant */
		{MP_STR("\xfc\x84\x80\x80\x80\x80"), 0},
		{MP_STR("\xfe"), 0},
		{MP_STR("\xff"), 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_str s = rows[i].bytes;

		CHECK_EQ(mp_utf8_char(s.p, s.p + s.len), rows[i].n);
		if (rows[i].n == 0 || rows[i].n == s.len)
			CHECK_EQ(mp_utf8_valid(s), rows[i].n != 0);
	}
}

TEST(no_byte_behind_the_end_is_read)
{
	/* Exactly as many bytes as there are, so that a sanitizer sees one too far. */
	for (size_t n = 1; n <= 3; n++) {
		MP_CLEANUP(mp_freep) char *bytes = mp_try_alloc(n);

		CHECK(bytes);
		memcpy(bytes, "\xf0\x90\x80\x80", n);
		CHECK_EQ(mp_utf8_char(bytes, bytes + n), 0);
		CHECK(!mp_utf8_valid((struct mp_str){bytes, n}));
	}
}

TEST(valid_text)
{
	CHECK(mp_utf8_valid(nothing));
	CHECK(mp_utf8_valid(MP_STR("")));
	CHECK(mp_utf8_valid(MP_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z")));
	CHECK(mp_utf8_valid(MP_STR("\0\0")));
	CHECK(!mp_utf8_valid(MP_STR("abc\xc3")));
	CHECK(!mp_utf8_valid(MP_STR("abc\xc3 def")));
	CHECK(!mp_utf8_valid(MP_STR("\xe2\x82\xac\x80")));
}

static uint32_t decode(const char *p, size_t n)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = (unsigned char)p[0] & masks[n];

	for (size_t i = 1; i < n; i++)
		code = code << 6 | ((unsigned char)p[i] & 0x3f);
	return code;
}

TEST(every_scalar_value_goes_there_and_back)
{
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		bool surrogate = code >= 0xd800 && code <= 0xdfff;
		char out[4];
		size_t n = mp_utf8_encode(code, out);

		CHECK_EQ(n, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
		CHECK_EQ(mp_utf8_char(out, out + n), surrogate ? 0 : n);
		CHECK_EQ(decode(out, n), code);
	}
}

TEST(cutting_at_every_length)
{
	static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbfz\xc2\x80";
	size_t whole = 0; /* the end of the last character that is complete */

	for (size_t len = 0; len < sizeof(text); len++) {
		if (len == whole + mp_utf8_char(text + whole, text + sizeof(text)))
			whole = len;
		CHECK_EQ(mp_utf8_cut(text, len), whole);
	}
	CHECK_EQ(whole, sizeof(text) - 1);
}

TEST(cutting_what_is_no_text_ends)
{
	static const char tails[] = "\x80\x80\x80\x80\x80\x80";

	for (size_t len = 0; len < sizeof(tails); len++)
		CHECK(mp_utf8_cut(tails, len) <= len);
	CHECK_EQ(mp_utf8_cut("ab\xff", 3), 2);
}

/* --- views ---------------------------------------------------------------------------------- */

TEST(equal_and_starts)
{
	CHECK(mp_str_eq(nothing, MP_STR("")));
	CHECK(mp_str_eq(MP_STR("a\0b"), MP_STR("a\0b")));
	CHECK(!mp_str_eq(MP_STR("a\0b"), MP_STR("a\0c")));
	CHECK(!mp_str_eq(MP_STR("a"), MP_STR("A")));
	CHECK(!mp_str_eq(MP_STR("a"), MP_STR("ab")));
	CHECK(mp_str_starts(MP_STR("abc"), MP_STR("ab")));
	CHECK(mp_str_starts(MP_STR("abc"), MP_STR("abc")));
	CHECK(mp_str_starts(MP_STR("abc"), nothing));
	CHECK(mp_str_starts(nothing, nothing));
	CHECK(!mp_str_starts(MP_STR("abc"), MP_STR("abcd")));
	CHECK(!mp_str_starts(MP_STR("abc"), MP_STR("b")));
	CHECK_EQ(mp_str_of(NULL).len, 0);
}

TEST(equal_without_case_means_ascii)
{
	CHECK(mp_str_eq_nocase(MP_STR("Content-TYPE"), MP_STR("content-type")));
	CHECK(mp_str_eq_nocase(nothing, MP_STR("")));
	CHECK(!mp_str_eq_nocase(MP_STR("ab"), MP_STR("abc")));
	CHECK(!mp_str_eq_nocase(MP_STR("@"), MP_STR("`"))); /* the neighbours of the letters */
	CHECK(!mp_str_eq_nocase(MP_STR("["), MP_STR("{")));
	CHECK(!mp_str_eq_nocase(MP_STR("\xc3\x89"), MP_STR("\xc3\xa9")));
	CHECK(!mp_str_eq_nocase(MP_STR("k"), MP_STR("\xe2\x84\xaa"))); /* the Kelvin sign */
	/* eight at a time, with every byte in every place */
	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 20; at++) {
			char one[20], other[20];
			int small = c >= 'A' && c <= 'Z' ? c + 32 : c;

			memset(one, 'x', sizeof(one));
			memset(other, 'X', sizeof(other));
			one[at] = (char)c;
			other[at] = (char)small;
			CHECK(mp_str_eq_nocase((struct mp_str){one, 20},
					       (struct mp_str){other, 20}));
			other[at] = (char)(small ^ 0x20);
			CHECK_EQ(mp_str_eq_nocase((struct mp_str){one, 20},
						  (struct mp_str){other, 20}),
				 small >= 'a' && small <= 'z');
			other[at] = (char)(small ^ 0x80);
			CHECK(!mp_str_eq_nocase((struct mp_str){one, 20},
						(struct mp_str){other, 20}));
		}
	for (int c = 'A'; c <= 'Z'; c++) {
		char upper = (char)c, small = (char)(c + 32);

		CHECK(mp_str_eq_nocase((struct mp_str){&upper, 1}, (struct mp_str){&small, 1}));
	}
}

TEST(finding)
{
	struct mp_str s = MP_STR("abcabc\0abd");

	CHECK_EQ(mp_str_find(s, MP_STR("abc"), 0), 0);
	CHECK_EQ(mp_str_find(s, MP_STR("abc"), 1), 3);
	CHECK_EQ(mp_str_find(s, MP_STR("abc"), 4), -1);
	CHECK_EQ(mp_str_find(s, MP_STR("abd"), 0), 7); /* behind the NUL, at the very end */
	CHECK_EQ(mp_str_find(s, MP_STR("abd"), 7), 7);
	CHECK_EQ(mp_str_find(s, MP_STR("abd"), 8), -1);
	CHECK_EQ(mp_str_find(s, MP_STR("\0"), 0), 6);
	CHECK_EQ(mp_str_find(s, MP_STR(""), 3), 3);
	CHECK_EQ(mp_str_find(s, MP_STR(""), s.len), (ptrdiff_t)s.len);
	CHECK_EQ(mp_str_find(s, MP_STR(""), s.len + 1), -1);
	CHECK_EQ(mp_str_find(s, MP_STR("x"), SIZE_MAX), -1);
	CHECK_EQ(mp_str_find(nothing, nothing, 0), 0);
	CHECK_EQ(mp_str_find(nothing, MP_STR("a"), 0), -1);
	CHECK_EQ(mp_str_find(MP_STR("ab"), MP_STR("abc"), 0), -1);
}

TEST(trimming)
{
	CHECK_STR(mp_str_trim(MP_STR(" \t\r\n a b \n\r\t ")), "a b");
	CHECK_STR(mp_str_trim(MP_STR("ab")), "ab");
	CHECK_STR(mp_str_trim(MP_STR(" \t\r\n")), "");
	CHECK_STR(mp_str_trim(nothing), "");
	CHECK_STR(mp_str_trim(MP_STR("\va\f")), "\va\f"); /* these two stay */
	CHECK_STR(mp_str_trim(MP_STR("\0 ")), "\0");
}

TEST(comparing)
{
	static const struct mp_str rising[] = {
		{NULL, 0},      MP_STR("\0"), MP_STR("A"),   MP_STR("a"), MP_STR("a\0"),
		MP_STR("a\0b"), MP_STR("ab"), MP_STR("abc"), MP_STR("b"), MP_STR("\xff"),
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rising); i++) {
		for (size_t j = 0; j < MP_ARRAY_LEN(rising); j++) {
			int order = mp_str_compare(rising[i], rising[j]);

			CHECK_EQ(order < 0, i < j);
			CHECK_EQ(order > 0, i > j);
		}
	}
}

/* --- formatting ----------------------------------------------------------------------------- */

static bool MP_PRINTF(3, 4) format(char *out, size_t size, const char *text, ...)
{
	va_list args;
	bool whole;

	va_start(args, text);
	whole = mp_str_format(out, size, text, args);
	va_end(args);
	return whole;
}

TEST(formatting_cuts_between_characters)
{
	static const char text[] = "x\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80y";

	for (size_t size = 1; size < sizeof(text) + 3; size++) {
		char out[32];
		size_t len;

		memset(out, '#', sizeof(out));
		CHECK_EQ(format(out, size, "%s", text), size >= sizeof(text));
		CHECK_EQ(out[size], '#'); /* nothing is written behind the room */
		len = strnlen(out, sizeof(out));
		CHECK(len < size && size - len <= 4);
		CHECK(mp_utf8_valid((struct mp_str){out, len}));
		if (size < 4) { /* no room for the mark */
			CHECK_EQ(len, 0);
		} else if (size < sizeof(text)) {
			size_t cut = mp_utf8_cut(text, size - 4);

			CHECK_EQ(len, cut + 3);
			CHECK(memcmp(out, text, cut) == 0);
			CHECK_TEXT(out + cut, MP_STR_CUT_MARK);
		} else {
			CHECK_TEXT(out, text);
		}
	}
}

TEST(formatting_what_just_fits)
{
	char out[5];

	CHECK(format(out, sizeof(out), "%d", 1234));
	CHECK_TEXT(out, "1234");
	CHECK(!format(out, sizeof(out), "%d", 12345));
	CHECK_TEXT(out, "1" MP_STR_CUT_MARK);
	CHECK(format(out, sizeof(out), "%s", ""));
	CHECK_TEXT(out, "");
}

TEST(numbers_become_digits)
{
	char room[MP_STR_DIGITS];

	CHECK_STR(mp_str_from_u64(0, room), "0");
	CHECK_STR(mp_str_from_u64(7, room), "7");
	CHECK_STR(mp_str_from_u64(1234567890, room), "1234567890");
	CHECK_STR(mp_str_from_u64(UINT64_MAX, room), "18446744073709551615");
}

TEST(the_last_line_of_a_text)
{
	CHECK_STR(mp_str_get_last_line(MP_STR("a\nb\n\n")), "b");
	CHECK_STR(mp_str_get_last_line(MP_STR("a")), "a");
	CHECK_STR(mp_str_get_last_line(MP_STR("\n")), "");
	CHECK_STR(mp_str_get_last_line(MP_STR("")), "");
}

TEST(versions_are_compared_as_numbers)
{
	CHECK(mp_str_compare_versions("0.1.0", "0.1.0") == 0);
	CHECK(mp_str_compare_versions("0.9.0", "0.10.0") < 0);
	CHECK(mp_str_compare_versions("1.0", "0.10.9") > 0);
	CHECK(mp_str_compare_versions("1.0", "1.0.1") < 0);
	CHECK(mp_str_compare_versions("1.0.0", "1.0") > 0);
	CHECK(mp_str_compare_versions("", "0.1.0") < 0);
}
