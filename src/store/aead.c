/*
 * aead.c - AES-256-GCM with a random nonce for each text.
 */
#include "store/aead.h"

#include <limits.h>
#include <openssl/evp.h>

#include "base/mem.h"
#include "base/random_id.h"

static void cipher_freep(EVP_CIPHER_CTX **c)
{
	EVP_CIPHER_CTX_free(*c);
}

static const unsigned char *bytes_of(struct mp_str s)
{
	return (const unsigned char *)(s.p ? s.p : "");
}

bool mp_aead_seal(const unsigned char key[MP_AEAD_KEY], struct mp_str beside, struct mp_str text,
		  unsigned char *out)
{
	MP_CLEANUP(cipher_freep) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	int n;

	mp_check(text.len <= INT_MAX && beside.len <= INT_MAX);
	mp_random_fill(out, MP_AEAD_NONCE);
	return c && EVP_EncryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, out) == 1 &&
	       EVP_EncryptUpdate(c, NULL, &n, bytes_of(beside), (int)beside.len) == 1 &&
	       EVP_EncryptUpdate(c, out + MP_AEAD_HEAD, &n, bytes_of(text), (int)text.len) == 1 &&
	       EVP_EncryptFinal_ex(c, out + MP_AEAD_HEAD + n, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, MP_AEAD_TAG, out + MP_AEAD_NONCE) == 1;
}

bool mp_aead_open(const unsigned char key[MP_AEAD_KEY], struct mp_str beside, struct mp_str sealed,
		  unsigned char *out)
{
	MP_CLEANUP(cipher_freep) EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
	const unsigned char *in = bytes_of(sealed);
	unsigned char tag[MP_AEAD_TAG];
	size_t len;
	int n;

	if (sealed.len < MP_AEAD_HEAD || sealed.len > INT_MAX)
		return false;
	len = sealed.len - MP_AEAD_HEAD;
	memcpy(tag, in + MP_AEAD_NONCE, sizeof(tag));
	if (c && EVP_DecryptInit_ex(c, EVP_aes_256_gcm(), NULL, key, in) == 1 &&
	    EVP_DecryptUpdate(c, NULL, &n, bytes_of(beside), (int)beside.len) == 1 &&
	    EVP_DecryptUpdate(c, out, &n, in + MP_AEAD_HEAD, (int)len) == 1 &&
	    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, MP_AEAD_TAG, tag) == 1 &&
	    EVP_DecryptFinal_ex(c, out + n, &n) == 1)
		return true;
	mp_wipe(out, len);
	return false;
}
