/*
 * fuzz_redact.c - an announced secret never comes through, and a log line is one line of clean
 * text. Input: the length of the secret, the secret, the text; the secret is also put into the
 * text.
 */
#include "fuzz.h"
#include "base/buf.h"
#include "base/redact.h"

/* Letters that no escape and no dot of ours is made of, so that a hit is a leak and no accident. */
static bool is_telling(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 'G' || s.p[i] > 'Z')
			return false;
	return s.len >= MP_SECRET_MIN;
}

static void check(struct mp_str text, bool cut, struct mp_str secret)
{
	struct mp_buf out;

	mp_buf_init(&out, (size_t)1 << 20);
	FUZZ_CHECK(mp_redact(text, cut, &out) == 0);
	FUZZ_CHECK(mp_str_find(mp_buf_get(&out), secret, 0) < 0);
	FUZZ_CHECK(mp_utf8_valid(mp_buf_get(&out)));
	for (size_t i = 0; i < out.len; i++)
		FUZZ_CHECK((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
	mp_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mp_str secret = fuzz_take(&in, MP_SECRET_MIN + fuzz_byte(&in) % 20);
	struct mp_str text = fuzz_rest(&in);
	char letters[32], line[4096];
	int n;

	for (size_t i = 0; i < secret.len; i++)
		letters[i] = (char)('G' + (unsigned char)secret.p[i] % 20);
	secret = (struct mp_str){letters, secret.len};
	if (!is_telling(secret))
		return 0;
	FUZZ_CHECK(mp_secret_add(secret) == 0);
	n = snprintf(line, sizeof(line), "%.*s%.*s%.*s", MP_STR_ARGS(text), MP_STR_ARGS(secret),
		     MP_STR_ARGS(text));
	if (n > 0 && (size_t)n < sizeof(line))
		check((struct mp_str){line, (size_t)n}, false, secret);
	if (text.len < sizeof(line))
		check(text, true, secret);
	mp_secret_remove(secret);
	return 0;
}
