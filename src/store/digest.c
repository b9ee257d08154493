/*
 * digest.c - SHA-256 and HMAC-SHA-256 over parts whose borders count.
 * A libcrypto that cannot do these stops the process: nothing could be told from anything else.
 */
#include "store/digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/mem.h"

struct mp_digest {
	EVP_MD_CTX *hash;  /* owned; one of the two is there */
	EVP_MAC_CTX *hmac; /* owned */
};

struct mp_digest *mp_digest_new(void)
{
	struct mp_digest *d = mp_alloc(sizeof(*d));

	d->hash = EVP_MD_CTX_new();
	mp_check(d->hash && EVP_DigestInit_ex(d->hash, EVP_sha256(), NULL) == 1);
	return d;
}

struct mp_digest *mp_digest_new_keyed(struct mp_str key)
{
	struct mp_digest *d = mp_alloc(sizeof(*d));
	char name[] = "SHA256";
	OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
			       OSSL_PARAM_construct_end()};
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "HMAC", NULL);

	mp_check(mac);
	d->hmac = EVP_MAC_CTX_new(mac);
	EVP_MAC_free(mac);
	/* A NULL key would mean "the one from before". */
	mp_check(d->hmac && EVP_MAC_init(d->hmac, (const unsigned char *)(key.len ? key.p : ""),
					 key.len, params) == 1);
	return d;
}

void mp_digest_add_bytes(struct mp_digest *d, const void *bytes, size_t n)
{
	if (!d || n == 0)
		return;
	if (d->hash)
		mp_check(EVP_DigestUpdate(d->hash, bytes, n) == 1);
	else
		mp_check(EVP_MAC_update(d->hmac, bytes, n) == 1);
}

void mp_digest_add(struct mp_digest *d, struct mp_str part)
{
	unsigned char length[8];

	for (unsigned i = 0; i < sizeof(length); i++)
		length[i] = (unsigned char)((uint64_t)part.len >> (8 * i));
	mp_digest_add_bytes(d, length, sizeof(length));
	mp_digest_add_bytes(d, part.p, part.len);
}

void mp_digest_finish(struct mp_digest *d, unsigned char out[MP_DIGEST_SIZE])
{
	unsigned hash_size = 0;
	size_t hmac_size = 0;

	if (d->hash)
		mp_check(EVP_DigestFinal_ex(d->hash, out, &hash_size) == 1 &&
			 hash_size == MP_DIGEST_SIZE);
	else
		mp_check(EVP_MAC_final(d->hmac, out, &hmac_size, MP_DIGEST_SIZE) == 1 &&
			 hmac_size == MP_DIGEST_SIZE);
	mp_digest_free(d);
}

struct mp_digest *mp_digest_free(struct mp_digest *d)
{
	if (!d)
		return NULL;
	EVP_MD_CTX_free(d->hash);
	EVP_MAC_CTX_free(d->hmac);
	mp_free(d);
	return NULL;
}

void mp_digest_to_hex(const unsigned char digest[MP_DIGEST_SIZE], char out[2 * MP_DIGEST_SIZE + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < MP_DIGEST_SIZE; i++) {
		out[2 * i] = digits[digest[i] >> 4];
		out[2 * i + 1] = digits[digest[i] & 15];
	}
	out[2 * (size_t)MP_DIGEST_SIZE] = '\0';
}
