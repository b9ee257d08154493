/*
 * test_digest.c - the published vectors, and parts whose borders count.
 */
#include "test.h"

#include "store/digest.h"

static const char *hex_of(struct mp_digest *d)
{
	static char hex[2 * MP_DIGEST_SIZE + 1];
	unsigned char out[MP_DIGEST_SIZE];

	mp_digest_finish(d, out);
	mp_digest_to_hex(out, hex);
	return hex;
}

TEST(sha_256_of_known_texts) /* FIPS 180-4 examples */
{
	struct mp_digest *d = mp_digest_new();

	CHECK_TEXT(hex_of(d), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	d = mp_digest_new();
	mp_digest_add_bytes(d, "abc", 3);
	CHECK_TEXT(hex_of(d), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	d = mp_digest_new();
	mp_digest_add_bytes(d, "abcdbcdecdefdefgefghfghighijhijk", 32);
	mp_digest_add_bytes(d, NULL, 0);
	mp_digest_add_bytes(d, "ijkljklmklmnlmnomnopnopq", 24);
	CHECK_TEXT(hex_of(d), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(sha_256_of_a_million_letters)
{
	MP_CLEANUP(mp_digest_freep) struct mp_digest *d = mp_digest_new();
	char letters[1000];

	memset(letters, 'a', sizeof(letters));
	for (int i = 0; i < 1000; i++)
		mp_digest_add_bytes(d, letters, sizeof(letters));
	CHECK_TEXT(hex_of(MP_TAKE(d)),
		   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(hmac_of_known_texts) /* RFC 4231, cases 1, 2 and 6 */
{
	char key[131];
	struct mp_digest *d;

	memset(key, 0x0b, 20);
	d = mp_digest_new_keyed((struct mp_str){key, 20});
	mp_digest_add_bytes(d, "Hi There", 8);
	CHECK_TEXT(hex_of(d), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	d = mp_digest_new_keyed(MP_STR("Jefe"));
	mp_digest_add_bytes(d, "what do ya want ", 16);
	mp_digest_add_bytes(d, "for nothing?", 12);
	CHECK_TEXT(hex_of(d), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	d = mp_digest_new_keyed((struct mp_str){key, sizeof(key)});
	mp_digest_add_bytes(d, "Test Using Larger Than Block-Size Key - Hash Key First", 54);
	CHECK_TEXT(hex_of(d), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(an_empty_key_is_a_key)
{
	struct mp_digest *d = mp_digest_new_keyed((struct mp_str){NULL, 0});

	CHECK_TEXT(hex_of(d), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(a_part_is_hashed_with_its_length_before_it)
{
	struct mp_digest *d = mp_digest_new();
	char plain[2 * MP_DIGEST_SIZE + 1];

	mp_digest_add_bytes(d, "\3\0\0\0\0\0\0\0abc\0\0\0\0\0\0\0\0", 19);
	memcpy(plain, hex_of(d), sizeof(plain));
	d = mp_digest_new();
	mp_digest_add(d, MP_STR("abc"));
	mp_digest_add(d, (struct mp_str){NULL, 0});
	CHECK_TEXT(hex_of(d), plain);
}

TEST(borders_count)
{
	char one[2 * MP_DIGEST_SIZE + 1];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, MP_STR("ab"));
	mp_digest_add(d, MP_STR("c"));
	memcpy(one, hex_of(d), sizeof(one));
	d = mp_digest_new();
	mp_digest_add(d, MP_STR("a"));
	mp_digest_add(d, MP_STR("bc"));
	CHECK(strcmp(hex_of(d), one) != 0);
}

TEST(an_unfinished_one_can_be_dropped)
{
	struct mp_digest *d = mp_digest_new_keyed(MP_STR("k"));

	mp_digest_add(d, MP_STR("x"));
	CHECK(!mp_digest_free(d));
	CHECK(!mp_digest_free(NULL));
}
