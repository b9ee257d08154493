/*
 * fuzz_names.c - servers and tools called anything, in any style: every pair has a public name, no
 * two the same, each found by itself, at most 64 characters, and outside of passthrough none but
 * [A-Za-z0-9_-]. Whatever is left of the input is looked up.
 */
#include "fuzz.h"

#include "session/names.h"

enum { MOST = 64 };

static bool is_plain(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-'))
			return false;
	}
	return s.len > 0;
}

static size_t fill(struct mp_names *n, struct fuzz_input *in)
{
	size_t added = 0;

	for (uint32_t left = fuzz_below(in, MOST); left > 0; left--) {
		struct mp_str server = fuzz_take(in, fuzz_below(in, 120));
		struct mp_str name = fuzz_take(in, fuzz_below(in, 200));
		int r = mp_names_add(n, server, name, n);

		FUZZ_CHECK(r == 0 || r == MCPOOL_EEXIST);
		added += r == 0;
	}
	return added;
}

static void check_row(const struct mp_names *n, size_t i, enum mp_naming style)
{
	const struct mp_name *row = mp_names_get(n, i);
	size_t candidates = 0;

	FUZZ_CHECK(row->u == n);
	FUZZ_CHECK(row->public_name.len > 0 && row->public_name.len <= MP_NAME_MAX);
	FUZZ_CHECK(style == MP_NAMING_PASSTHROUGH || is_plain(row->public_name));
	FUZZ_CHECK(mp_names_find(n, row->public_name, &candidates) == row && candidates == 1);
	FUZZ_CHECK(i == 0 ||
		   mp_str_compare(mp_names_get(n, i - 1)->public_name, row->public_name) < 0);
	/* Its own name leads to it, to another's public name, or to none because several match. */
	FUZZ_CHECK(mp_names_find(n, row->name, &candidates) || candidates > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	enum mp_naming style = (enum mp_naming)fuzz_below(&in, MP_NAMING_PASSTHROUGH + 1);
	struct mp_names *n = mp_names_new(style);
	size_t added = fill(n, &in), candidates = 0;

	FUZZ_CHECK(mp_names_finish(n) == 0);
	FUZZ_CHECK(mp_names_count(n) == added);
	for (size_t i = 0; i < added; i++)
		check_row(n, i, style);
	FUZZ_CHECK(!mp_names_find(n, fuzz_rest(&in), &candidates) == (candidates != 1));
	mp_names_free(n);
	return 0;
}
