/* fuzz_lines.c - framing beside a plain split of the same bytes, cut wherever the input says. */
#include "fuzz.h"

#include "transport/lines.h"

enum { MAX_LINE = 40 };

/* The plain way: the line that begins at *at, without its newline and CR; false at the end. */
static bool next_plain(struct mp_str all, size_t *at, struct mp_str *ret_line)
{
	while (*at < all.len) {
		const char *start = all.p + *at;
		const char *newline = memchr(start, '\n', all.len - *at);
		size_t len = newline ? (size_t)(newline - start) : all.len - *at;

		*at += len + (newline ? 1 : 0);
		if (len <= MAX_LINE && len && start[len - 1] == '\r')
			len--;
		*ret_line = (struct mp_str){start, len};
		if (len)
			return true;
	}
	return false;
}

static void compare(struct mp_lines *l, bool last, struct mp_str all, size_t *at)
{
	struct mp_line line;
	struct mp_str plain;

	while (mp_lines_next(l, last, &line)) {
		FUZZ_CHECK(next_plain(all, at, &plain));
		FUZZ_CHECK(line.oversize == (plain.len > MAX_LINE));
		if (!line.oversize) {
			FUZZ_CHECK(mp_str_eq(line.text, plain));
			continue;
		}
		FUZZ_CHECK(mp_str_starts(plain, line.text));
		FUZZ_CHECK(line.tail.len <= plain.len);
		FUZZ_CHECK(memcmp(plain.p + plain.len - line.tail.len, line.tail.p,
				  line.tail.len) == 0);
	}
}

static void check_writing(struct mp_str all)
{
	struct mp_buf out;

	mp_buf_init(&out, 1 << 20);
	FUZZ_CHECK(mp_lines_write(&out, all) == 0);
	FUZZ_CHECK(out.len == all.len + 1);
	FUZZ_CHECK(memchr(out.data, '\n', out.len) == out.data + out.len - 1);
	FUZZ_CHECK(!memchr(out.data, '\r', out.len));
	mp_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint32_t step = 1 + fuzz_below(&in, 64);
	struct mp_str all = fuzz_rest(&in);
	struct mp_lines l;
	size_t at = 0;

	mp_lines_init(&l, MAX_LINE);
	for (size_t pos = 0; pos < all.len;) {
		size_t n = all.len - pos < step ? all.len - pos : step;
		size_t room_size;
		char *room;

		FUZZ_CHECK(mp_lines_reserve(&l, &room, &room_size) == 0 && room_size >= n);
		memcpy(room, all.p + pos, n);
		mp_lines_commit(&l, n);
		pos += n;
		compare(&l, false, all, &at);
	}
	compare(&l, true, all, &at);
	{
		struct mp_str rest;

		FUZZ_CHECK(!next_plain(all, &at, &rest));
	}
	mp_lines_done(&l);
	check_writing(all);
	return 0;
}
