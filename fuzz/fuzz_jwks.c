/*
 * fuzz_jwks.c - sets of keys: a set is refused, or each of its keys can be asked for a signature,
 * and none of them takes one that it did not make. Bytes of base64url are read back as written.
 */
#include "fuzz.h"

#include "auth/base64url.h"
#include "auth/jwks.h"
#include "auth/jwt.h"
#include "base/buf.h"

static void check_base64url(struct mp_str text)
{
	struct mp_buf bytes, again;

	mp_buf_init(&bytes, 1 << 20);
	mp_buf_init(&again, 1 << 20);
	if (mp_base64url_read(text, &bytes) == 0) {
		FUZZ_CHECK(mp_base64url_add(&again, bytes.data, bytes.len) == 0);
		FUZZ_CHECK(mp_str_eq(mp_buf_get(&again), text));
	}
	mp_buf_done(&bytes);
	mp_buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mcpool_error why = {0};
	struct mp_jwks *set = NULL;

	check_base64url(text);
	if (mp_jwks_read(text, &set, &why) < 0) {
		FUZZ_CHECK(!set && why.message[0]);
		return 0;
	}
	FUZZ_CHECK(mp_jwks_count(set) > 0 && mp_jwks_count(set) <= MP_JWKS_KEYS);
	for (int alg = 0; alg < MP_JWT_ALGS; alg++) {
		const struct mp_jwk *key =
			mp_jwks_find(set, (struct mp_str){NULL, 0}, (enum mp_jwt_alg)alg);

		if (key)
			FUZZ_CHECK(!mp_jwk_verify(key, MP_STR("text"),
						  (struct mp_str){text.p, size < 64 ? size : 64}));
	}
	mp_jwks_free(set);
	return 0;
}
