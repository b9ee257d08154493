/*
 * request_state.c - the requestState that resumes a parked call.
 */
#include "session/request_state.h"

#include <openssl/crypto.h>
#include <string.h>

#include "base/limits.h"
#include "base/random_id.h"

static const struct mp_str prefix = {"mcpool1.", 8};

enum { HEX_ID = 2 * MP_REQUEST_STATE_ID, HEX_MAC = 2 * MP_DIGEST_SIZE };

void mp_request_state_make_key(struct mp_request_state_key *k)
{
	mp_random_fill(k->bytes, sizeof(k->bytes));
}

void mp_request_state_id_make(struct mp_request_state_id *id)
{
	mp_random_fill(id->bytes, sizeof(id->bytes));
}

static void get_mac(const struct mp_request_state_key *k, const struct mp_request_state_id *id,
		    const struct mp_request_state_bond *bond, unsigned char out[MP_DIGEST_SIZE])
{
	struct mp_digest *d =
		mp_digest_new_keyed((struct mp_str){(const char *)k->bytes, sizeof(k->bytes)});

	mp_digest_add(d, (struct mp_str){(const char *)id->bytes, sizeof(id->bytes)});
	mp_digest_add(d, bond->principal);
	mp_digest_add(d, bond->method);
	mp_digest_add(d, (struct mp_str){(const char *)bond->digest, MP_DIGEST_SIZE});
	mp_digest_add(d, (struct mp_str){(const char *)&bond->expires_ms, 8});
	mp_digest_finish(d, out);
}

static int add_hex(struct mp_buf *out, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	int r = mp_buf_reserve(out, 2 * n);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		out->data[out->len++] = digits[bytes[i] >> 4];
		out->data[out->len++] = digits[bytes[i] & 15];
	}
	return 0;
}

int mp_request_state_write(const struct mp_request_state_key *k,
			   const struct mp_request_state_id *id,
			   const struct mp_request_state_bond *bond, struct mp_buf *out)
{
	unsigned char mac[MP_DIGEST_SIZE];
	size_t before = out->len;
	int r = mp_buf_add_str(out, prefix);

	get_mac(k, id, bond, mac);
	if (r == 0)
		r = add_hex(out, id->bytes, sizeof(id->bytes));
	if (r == 0)
		r = add_hex(out, mac, sizeof(mac));
	if (r < 0)
		out->len = before;
	return r;
}

bool mp_request_state_is_ours(struct mp_str text)
{
	return mp_str_starts(text, prefix);
}

static int get_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool mp_request_state_read(struct mp_str text, struct mp_request_state_id *ret_id)
{
	const char *p = text.p + prefix.len;

	if (!mp_request_state_is_ours(text) || text.len != prefix.len + HEX_ID + HEX_MAC)
		return false;
	for (size_t i = 0; i < sizeof(ret_id->bytes); i++) {
		int high = get_digit(p[2 * i]), low = get_digit(p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret_id->bytes[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

bool mp_request_state_check(const struct mp_request_state_key *k,
			    const struct mp_request_state_id *id,
			    const struct mp_request_state_bond *bond, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf right;

	mp_buf_init(&right, MP_KIB(1));
	if (mp_request_state_write(k, id, bond, &right) < 0 || right.len != text.len)
		return false;
	return CRYPTO_memcmp(right.data, text.p, text.len) == 0;
}
