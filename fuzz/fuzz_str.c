/* fuzz_str.c - strict numbers beside the C library's, and UTF-8 cut at every place. */
#include "fuzz.h"

#include <errno.h>

static bool all_digits(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.len > 0;
}

static void check_numbers(struct mp_str s, const char *text)
{
	bool negative = s.len && s.p[0] == '-';
	struct mp_str digits = {s.p + negative, s.len - negative};
	int64_t i;
	uint64_t u;
	double f;
	int r;

	errno = 0;
	r = mp_str_to_i64(s, &i);
	if (!all_digits(digits)) {
		FUZZ_CHECK(r == MCPOOL_EINVAL);
	} else {
		long long theirs = strtoll(text, NULL, 10);

		FUZZ_CHECK((r == MCPOOL_ELIMIT) == (errno == ERANGE));
		FUZZ_CHECK(r < 0 || i == theirs);
	}
	errno = 0;
	r = mp_str_to_u64(s, &u);
	if (all_digits(s)) {
		unsigned long long theirs = strtoull(text, NULL, 10);

		FUZZ_CHECK((r == MCPOOL_ELIMIT) == (errno == ERANGE));
		FUZZ_CHECK(r < 0 || u == theirs);
	} else {
		FUZZ_CHECK(r == MCPOOL_EINVAL);
	}
	if (mp_str_to_f64(s, &f) == 0)
		FUZZ_CHECK(f == strtod(text, NULL));
}

static void check_cuts(struct mp_str s)
{
	if (!mp_utf8_valid(s))
		return;
	for (size_t n = 0; n <= s.len; n++) {
		size_t cut = mp_utf8_cut(s.p, n);

		FUZZ_CHECK(cut <= n && n - cut < 4);
		FUZZ_CHECK(mp_utf8_valid((struct mp_str){s.p, cut}));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str s = {(const char *)data, size};
	char *text;

	if (size > 2000)
		return 0;
	text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!memchr(data, '\0', size))
		check_numbers(s, text);
	check_cuts(s);
	(void)mp_str_trim(s);
	free(text);
	return 0;
}
