/*
 * issuer.h - an issuer of tokens: its keys, their JWKs, and tokens with whatever header and claims.
 * Keys are made once for all tests of a program.
 */
#ifndef TEST_ISSUER_H
#define TEST_ISSUER_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <string.h>

#include "auth/jwt.h"
#include "base/buf.h"
#include "test.h"

enum issuer_key { ISSUER_RSA, ISSUER_EC, ISSUER_ED, ISSUER_WEAK, ISSUER_OTHER_EC, ISSUER_KEYS };

static inline EVP_PKEY *issuer_get_key(enum issuer_key which)
{
	static EVP_PKEY *keys[ISSUER_KEYS];

	if (keys[which])
		return keys[which];
	switch (which) {
	case ISSUER_RSA:
		return keys[which] = EVP_RSA_gen(2048);
	case ISSUER_WEAK:
		return keys[which] = EVP_RSA_gen(1024);
	case ISSUER_ED:
		return keys[which] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	default:
		return keys[which] = EVP_EC_gen("P-256");
	}
}

static inline bool issuer_add_number(struct mp_buf *out, EVP_PKEY *key, const char *param, int size)
{
	unsigned char bytes[512];
	BIGNUM *n = NULL;
	int r = -1, len;

	if (EVP_PKEY_get_bn_param(key, param, &n) != 1)
		return false;
	len = size ? size : BN_num_bytes(n);
	if (BN_bn2binpad(n, bytes, len) == len)
		r = mp_base64url_add(out, bytes, (size_t)len);
	BN_free(n);
	return r == 0;
}

/* `"kty":...` and the numbers, without braces. */
static inline bool issuer_add_jwk(struct mp_buf *out, enum issuer_key which)
{
	EVP_PKEY *key = issuer_get_key(which);
	unsigned char raw[32];
	size_t n = sizeof(raw);

	if (which == ISSUER_RSA || which == ISSUER_WEAK)
		return mp_buf_addf(out, "\"kty\":\"RSA\",\"n\":\"") == 0 &&
		       issuer_add_number(out, key, OSSL_PKEY_PARAM_RSA_N, 0) &&
		       mp_buf_addf(out, "\",\"e\":\"AQAB\"") == 0;
	if (which == ISSUER_ED)
		return mp_buf_addf(out, "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"") == 0 &&
		       EVP_PKEY_get_raw_public_key(key, raw, &n) == 1 &&
		       mp_base64url_add(out, raw, n) == 0 && mp_buf_addf(out, "\"") == 0;
	return mp_buf_addf(out, "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"") == 0 &&
	       issuer_add_number(out, key, OSSL_PKEY_PARAM_EC_PUB_X, 32) &&
	       mp_buf_addf(out, "\",\"y\":\"") == 0 &&
	       issuer_add_number(out, key, OSSL_PKEY_PARAM_EC_PUB_Y, 32) &&
	       mp_buf_addf(out, "\"") == 0;
}

static inline bool issuer_sign(EVP_PKEY *key, struct mp_str text, struct mp_buf *out)
{
	unsigned char signature[600], raw[64];
	size_t n = sizeof(signature);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	const EVP_MD *md = EVP_PKEY_is_a(key, "ED25519") ? NULL : EVP_sha256();
	bool ok = EVP_DigestSignInit(ctx, NULL, md, NULL, key) == 1 &&
		  EVP_DigestSign(ctx, signature, &n, (const unsigned char *)text.p, text.len) == 1;
	const unsigned char *der = signature;
	ECDSA_SIG *pair;

	EVP_MD_CTX_free(ctx);
	if (!ok || !EVP_PKEY_is_a(key, "EC"))
		return ok && mp_base64url_add(out, signature, n) == 0;
	pair = d2i_ECDSA_SIG(NULL, &der, (long)n);
	ok = BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32) == 32 &&
	     BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32) == 32;
	ECDSA_SIG_free(pair);
	return ok && mp_base64url_add(out, raw, sizeof(raw)) == 0;
}

/* Both parts as they are, signed by this key. out is empty before. */
static inline bool issuer_add_token(struct mp_buf *out, enum issuer_key which, const char *header,
				    const char *claims)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, 1 << 16);
	return mp_base64url_add(&text, header, strlen(header)) == 0 &&
	       mp_buf_add_char(&text, '.') == 0 &&
	       mp_base64url_add(&text, claims, strlen(claims)) == 0 &&
	       mp_buf_add_str(out, mp_buf_get(&text)) == 0 && mp_buf_add_char(out, '.') == 0 &&
	       issuer_sign(issuer_get_key(which), mp_buf_get(&text), out);
}

#endif
