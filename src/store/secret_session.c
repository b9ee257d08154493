/*
 * secret_session.c - how a secret is encrypted on its way to the Secret Service and back.
 * Diffie-Hellman in the group of RFC 2409, 6.2; HKDF-SHA256 without salt and info over the shared
 * secret, which has leading zeros (one in 256 begins with one); AES-128-CBC.
 */
#include "store/secret_session.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>

#include "base/mem.h"
#include "base/random_id.h"

/* --- the key --------------------------------------------------------------------------------- */

/* Numbers of one exponentiation. */
struct numbers {
	BN_CTX *context;
	BIGNUM *prime, *base, *exponent, *result;
};

static void numbers_done(struct numbers *n)
{
	BN_free(n->prime);
	BN_free(n->base);
	BN_clear_free(n->exponent);
	BN_clear_free(n->result);
	BN_CTX_free(n->context);
}

/* ret = base ^ exponent mod prime, with leading zeros. */
static int session_power(const unsigned char *base, size_t base_len,
			 const unsigned char exponent[MP_SECRET_DH],
			 unsigned char ret[MP_SECRET_DH])
{
	MP_CLEANUP(numbers_done)
	struct numbers n = {BN_CTX_secure_new(), BN_get_rfc2409_prime_1024(NULL),
			    BN_bin2bn(base, (int)base_len, NULL),
			    BN_bin2bn(exponent, MP_SECRET_DH, NULL), BN_new()};

	if (!n.context || !n.prime || !n.base || !n.exponent || !n.result)
		return MCPOOL_ENOMEM;
	/* 0, 1, p - 1 and above would make a key that is easily guessed. */
	if (BN_is_zero(n.base) || BN_is_one(n.base) || !BN_sub_word(n.prime, 1) ||
	    BN_cmp(n.base, n.prime) >= 0 || !BN_add_word(n.prime, 1))
		return MCPOOL_EPROTO;
	BN_set_flags(n.exponent, BN_FLG_CONSTTIME);
	if (BN_mod_exp(n.result, n.base, n.exponent, n.prime, n.context) != 1 ||
	    BN_bn2binpad(n.result, ret, MP_SECRET_DH) != MP_SECRET_DH)
		return MCPOOL_ENOMEM;
	return 0;
}

int mp_secret_session_begin(struct mp_secret_session *s, unsigned char ret_public[MP_SECRET_DH])
{
	static const unsigned char generator = 2;

	mp_random_fill(s->private_key, sizeof(s->private_key));
	return session_power(&generator, 1, s->private_key, ret_public);
}

static void kdf_freep(EVP_KDF **kdf)
{
	EVP_KDF_free(*kdf);
}

static void kdf_context_freep(EVP_KDF_CTX **context)
{
	EVP_KDF_CTX_free(*context);
}

static int session_derive(unsigned char shared[MP_SECRET_DH], unsigned char ret[MP_SECRET_AES])
{
	MP_CLEANUP(kdf_freep) EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	MP_CLEANUP(kdf_context_freep) EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	char digest[] = "SHA256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
		OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, shared, MP_SECRET_DH),
		OSSL_PARAM_construct_end(),
	};

	return context && EVP_KDF_derive(context, ret, MP_SECRET_AES, params) == 1 ? 0
										   : MCPOOL_ENOMEM;
}

int mp_secret_session_finish(struct mp_secret_session *s, struct mp_str their_public)
{
	unsigned char shared[MP_SECRET_DH];
	int r;

	if (their_public.len == 0 || their_public.len > MP_SECRET_DH)
		return MCPOOL_EPROTO;
	r = session_power((const unsigned char *)their_public.p, their_public.len, s->private_key,
			  shared);
	if (r == 0)
		r = session_derive(shared, s->key);
	mp_wipe(shared, sizeof(shared));
	return r;
}

void mp_secret_session_done(struct mp_secret_session *s)
{
	mp_wipe(s, sizeof(*s));
}

/* --- values ---------------------------------------------------------------------------------- */

static void cipher_freep(EVP_CIPHER_CTX **c)
{
	EVP_CIPHER_CTX_free(*c);
}

int mp_secret_session_encrypt(const struct mp_secret_session *s, struct mp_str value,
			      unsigned char ret_iv[MP_SECRET_IV], struct mp_buf *out)
{
	MP_CLEANUP(cipher_freep) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	unsigned char *to;
	int n = 0, last = 0, r;

	r = c ? mp_buf_reserve(out, value.len + MP_SECRET_AES) : MCPOOL_ENOMEM;
	if (r < 0)
		return r;
	to = (unsigned char *)out->data + out->len;
	mp_random_fill(ret_iv, MP_SECRET_IV);
	if (EVP_EncryptInit_ex(c, EVP_aes_128_cbc(), NULL, s->key, ret_iv) != 1 ||
	    EVP_EncryptUpdate(c, to, &n, (const unsigned char *)value.p, (int)value.len) != 1 ||
	    EVP_EncryptFinal_ex(c, to + n, &last) != 1)
		return MCPOOL_ENOMEM;
	out->len += (size_t)(n + last);
	return 0;
}

int mp_secret_session_decrypt(const struct mp_secret_session *s, struct mp_str iv,
			      struct mp_str sealed, struct mp_buf *out)
{
	MP_CLEANUP(cipher_freep) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	unsigned char *to;
	int n = 0, last = 0, r;

	if (iv.len != MP_SECRET_IV || sealed.len == 0 || sealed.len % MP_SECRET_AES != 0 ||
	    sealed.len > INT32_MAX)
		return MCPOOL_EPROTO;
	r = c ? mp_buf_reserve(out, sealed.len) : MCPOOL_ENOMEM;
	if (r < 0)
		return r;
	to = (unsigned char *)out->data + out->len;
	if (EVP_DecryptInit_ex(c, EVP_aes_128_cbc(), NULL, s->key, (const unsigned char *)iv.p) !=
		    1 ||
	    EVP_DecryptUpdate(c, to, &n, (const unsigned char *)sealed.p, (int)sealed.len) != 1 ||
	    EVP_DecryptFinal_ex(c, to + n, &last) != 1)
		return MCPOOL_EPROTO;
	out->len += (size_t)(n + last);
	return 0;
}
