/*
 * fuzz_filter.c - any pattern, any name. Without sets it says what fnmatch() says; with a star at
 * either end a pattern still matches whatever it did before.
 */
#include "fuzz.h"

#include <fnmatch.h>

#include "config/values/filter.h"

static bool is_plain(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] == '[' || s.p[i] == '\\' || s.p[i] == 0x7f)
			return false;
	return true;
}

static void compare(struct mp_str pattern, struct mp_str name, bool matches)
{
	char p[256], n[256];

	if (!is_plain(pattern) || !is_plain(name) || mp_str_eq_nocase(pattern, MP_STR("any")))
		return;
	snprintf(p, sizeof(p), "%.*s", MP_STR_ARGS(pattern));
	snprintf(n, sizeof(n), "%.*s", MP_STR_ARGS(name));
	FUZZ_CHECK(matches == (fnmatch(p, n, FNM_CASEFOLD) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mp_str pattern = fuzz_take(&in, fuzz_below(&in, 200));
	struct mp_str name = fuzz_take(&in, 200);
	bool matches = mp_filter_matches(pattern, name);
	char wide[256];

	compare(pattern, name, matches);
	pattern = mp_str_trim(pattern);
	snprintf(wide, sizeof(wide), "*%.*s*", MP_STR_ARGS(pattern));
	if (matches && strlen(wide) == pattern.len + 2 &&
	    !mp_str_eq_nocase(pattern, MP_STR("any")) && is_plain(pattern))
		FUZZ_CHECK(mp_filter_matches(mp_str_of(wide), name));
	return 0;
}
