/*
 * test_secret_session.c - both sides of a session get the same key, also where the shared secret
 * begins with zeros; values come back as they were.
 */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "store/secret_records.h"
#include "store/secret_session.h"

static bool agree(struct mp_secret_session *a, struct mp_secret_session *b)
{
	unsigned char of_a[MP_SECRET_DH], of_b[MP_SECRET_DH];

	REQUIRE(mp_secret_session_begin(a, of_a) == 0 && mp_secret_session_begin(b, of_b) == 0);
	REQUIRE(mp_secret_session_finish(a, (struct mp_str){(char *)of_b, sizeof(of_b)}) == 0);
	REQUIRE(mp_secret_session_finish(b, (struct mp_str){(char *)of_a, sizeof(of_a)}) == 0);
	return true;
}

TEST(a_value_comes_back_as_it_was)
{
	MP_CLEANUP(mp_secret_session_done) struct mp_secret_session a = {0}, b = {0};
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf sealed, value;
	unsigned char iv[MP_SECRET_IV];
	struct mp_str ivs = {(char *)iv, sizeof(iv)};
	static const char text[] = "a token\0 with a NUL, of more than one block";

	mp_buf_init(&sealed, MP_KIB(1));
	mp_buf_init(&value, MP_KIB(1));
	CHECK(agree(&a, &b));
	for (size_t n = 0; n < sizeof(text); n++) {
		mp_buf_clear(&sealed);
		mp_buf_clear(&value);
		CHECK_EQ(mp_secret_session_encrypt(&a, (struct mp_str){text, n}, iv, &sealed), 0);
		CHECK_EQ(sealed.len, (n / 16 + 1) * 16);
		CHECK_EQ(mp_secret_session_decrypt(&b, ivs, mp_buf_get(&sealed), &value), 0);
		CHECK(mp_str_eq(mp_buf_get(&value), (struct mp_str){text, n}));
	}
	CHECK_EQ(mp_secret_session_decrypt(&b, MP_STR("short"), mp_buf_get(&sealed), &value),
		 MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_decrypt(&b, ivs, MP_STR("no block"), &value), MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_decrypt(&b, ivs, MP_STR(""), &value), MCPOOL_EPROTO);
}

/* HKDF-SHA256 of 127 zeros and a 5, computed by another program. */
TEST(a_shared_secret_keeps_its_leading_zeros)
{
	static const unsigned char want[MP_SECRET_AES] = {0x53, 0x32, 0x05, 0x21, 0xb4, 0xdd,
							  0x9a, 0x4a, 0xfd, 0x86, 0x64, 0x1b,
							  0xeb, 0xe7, 0x02, 0x6d};
	MP_CLEANUP(mp_secret_session_done) struct mp_secret_session s = {0};

	s.private_key[MP_SECRET_DH - 1] = 1;
	CHECK_EQ(mp_secret_session_finish(&s, MP_STR("\x05")), 0);
	CHECK(memcmp(s.key, want, sizeof(want)) == 0);
}

TEST(weak_public_keys_are_refused)
{
	MP_CLEANUP(mp_secret_session_done) struct mp_secret_session s = {0};
	unsigned char mine[MP_SECRET_DH];
	char ones[MP_SECRET_DH + 1];

	memset(ones, 0xff, sizeof(ones)); /* above the prime */
	CHECK_EQ(mp_secret_session_begin(&s, mine), 0);
	CHECK_EQ(mp_secret_session_finish(&s, MP_STR("")), MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_finish(&s, MP_STR("\0")), MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_finish(&s, MP_STR("\0\1")), MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_finish(&s, (struct mp_str){ones, MP_SECRET_DH}), MCPOOL_EPROTO);
	CHECK_EQ(mp_secret_session_finish(&s, (struct mp_str){ones, sizeof(ones)}), MCPOOL_EPROTO);
}
