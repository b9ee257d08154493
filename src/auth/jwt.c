/*
 * jwt.c - signs JSON Web Tokens with OpenSSL: assertions of a client (RFC 7523) and DPoP proofs
 * (RFC 9449). The algorithm follows from the key: ES256, RS256 or EdDSA.
 */
#include "auth/jwt.h"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "json/write.h"

enum {
	COORDINATE = 32, /* bytes of a number on P-256 */
	POINT = 65,      /* 4, x, y */
	MIN_RSA_BITS = 2048,
	SIGNATURE_MAX = 1024, /* bytes: RSA of 8192 bits */
	PEM_MAX = 16 * 1024,
	ASSERTION_S = 300,
};

struct mp_jwt_key {
	EVP_PKEY *key;
	const char *alg; /* static */
};

/* --- base64url ------------------------------------------------------------------------------ */

int mp_base64url_add(struct mp_buf *out, const void *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const unsigned char *p = bytes;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i += 3) {
		size_t left = n - i;
		unsigned bits = (unsigned)p[i] << 16 | (left > 1 ? (unsigned)p[i + 1] << 8 : 0) |
				(left > 2 ? p[i + 2] : 0u);
		char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
				digits[bits & 63]};

		r = mp_buf_add(out, four, left > 2 ? 4 : left + 1);
	}
	return r;
}

/* --- keys ----------------------------------------------------------------------------------- */

static void key_cleanup(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void bio_cleanup(BIO **bio)
{
	BIO_free(*bio);
}

/* NULL: none of ours. */
static const char *jwt_choose_alg(EVP_PKEY *key)
{
	char curve[32] = "";
	size_t n;

	if (EVP_PKEY_is_a(key, "ED25519"))
		return "EdDSA";
	if (EVP_PKEY_is_a(key, "RSA"))
		return EVP_PKEY_get_bits(key) >= MIN_RSA_BITS ? "RS256" : NULL;
	if (EVP_PKEY_is_a(key, "EC") &&
	    EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_GROUP_NAME, curve, sizeof(curve),
					   &n) == 1 &&
	    strcmp(curve, "prime256v1") == 0)
		return "ES256";
	return NULL;
}

static struct mp_jwt_key *jwt_key_new(EVP_PKEY *key, const char *alg)
{
	struct mp_jwt_key *k = mp_alloc(sizeof(*k));

	*k = (struct mp_jwt_key){key, alg};
	return k;
}

int mp_jwt_key_make(struct mp_jwt_key **ret)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");

	if (!key)
		return MCPOOL_ENOMEM;
	*ret = jwt_key_new(key, "ES256");
	return 0;
}

int mp_jwt_key_read(struct mp_str pem, struct mp_jwt_key **ret, struct mcpool_error *reterr)
{
	MP_CLEANUP(bio_cleanup) BIO *bio = NULL;
	MP_CLEANUP(key_cleanup) EVP_PKEY *key = NULL;
	const char *alg;

	if (pem.len == 0 || pem.len > PEM_MAX)
		return mp_fail(reterr, MCPOOL_EINVAL, "the private key is not a key in PEM");
	bio = BIO_new_mem_buf(pem.p, (int)pem.len);
	/* "": a key with a passphrase is refused instead of asking at a terminal. */
	key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;
	if (!key)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the private key is not a key in PEM without a passphrase");
	alg = jwt_choose_alg(key);
	if (!alg)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the private key is neither P-256, Ed25519 nor RSA of 2048 bits");
	*ret = jwt_key_new(MP_TAKE(key), alg);
	return 0;
}

struct mp_jwt_key *mp_jwt_key_free(struct mp_jwt_key *k)
{
	if (k)
		EVP_PKEY_free(k->key);
	return mp_free(k);
}

int mp_jwt_key_write(const struct mp_jwt_key *k, struct mp_buf *out)
{
	MP_CLEANUP(bio_cleanup) BIO *bio = BIO_new(BIO_s_mem());
	char *text;
	long n;

	if (!bio || PEM_write_bio_PKCS8PrivateKey(bio, k->key, NULL, NULL, 0, NULL, NULL) != 1)
		return MCPOOL_ENOMEM;
	n = BIO_get_mem_data(bio, &text);
	return mp_buf_add(out, text, (size_t)n);
}

/* --- signing -------------------------------------------------------------------------------- */

static void context_cleanup(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

static void signature_cleanup(ECDSA_SIG **signature)
{
	ECDSA_SIG_free(*signature);
}

/* OpenSSL has DER, a token the two numbers one behind the other. */
static int jwt_add_ecdsa(const unsigned char *der, size_t n, struct mp_buf *out)
{
	MP_CLEANUP(signature_cleanup) ECDSA_SIG *s = d2i_ECDSA_SIG(NULL, &der, (long)n);
	unsigned char raw[2 * COORDINATE];

	if (!s || BN_bn2binpad(ECDSA_SIG_get0_r(s), raw, COORDINATE) != COORDINATE ||
	    BN_bn2binpad(ECDSA_SIG_get0_s(s), raw + COORDINATE, COORDINATE) != COORDINATE)
		return MCPOOL_ENOMEM;
	return mp_base64url_add(out, raw, sizeof(raw));
}

static int jwt_add_signature(const struct mp_jwt_key *k, struct mp_str text, struct mp_buf *out)
{
	MP_CLEANUP(context_cleanup) EVP_MD_CTX *context = EVP_MD_CTX_new();
	const EVP_MD *md = strcmp(k->alg, "EdDSA") == 0 ? NULL : EVP_sha256();
	unsigned char signature[SIGNATURE_MAX];
	size_t n = sizeof(signature);

	if (!context || EVP_DigestSignInit(context, NULL, md, NULL, k->key) != 1 ||
	    EVP_DigestSign(context, signature, &n, (const unsigned char *)text.p, text.len) != 1)
		return MCPOOL_ENOMEM;
	if (strcmp(k->alg, "ES256") == 0)
		return jwt_add_ecdsa(signature, n, out);
	return mp_base64url_add(out, signature, n);
}

int mp_jwt_sign(const struct mp_jwt_key *k, struct mp_str header, struct mp_str claims,
		struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf head, text;
	int r;

	mp_buf_init(&head, MP_KIB(16));
	mp_buf_init(&text, MP_KIB(64));
	r = mp_buf_addf(&head, "{\"alg\":\"%s\",%.*s}", k->alg, MP_STR_ARGS(header));
	if (r == 0)
		r = mp_base64url_add(&text, head.data, head.len);
	if (r == 0)
		r = mp_buf_add_char(&text, '.');
	if (r == 0)
		r = mp_base64url_add(&text, claims.p, claims.len);
	if (r == 0)
		r = mp_buf_add_str(out, mp_buf_get(&text));
	if (r == 0)
		r = mp_buf_add_char(out, '.');
	return r < 0 ? r : jwt_add_signature(k, mp_buf_get(&text), out);
}

/* --- assertions ----------------------------------------------------------------------------- */

static void jwt_write_id(struct mp_writer *w)
{
	char id[MP_RANDOM_ID + 1];

	mp_random_id_make(id);
	mp_write_member_text(w, "jti", mp_str_of(id));
}

int mp_jwt_write_assertion(const struct mp_jwt_key *k, const char *client_id, const char *audience,
			   int64_t wall_ms, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf claims;
	struct mp_writer w;
	int r;

	mp_buf_init(&claims, MP_KIB(16));
	mp_write_init(&w, &claims, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "iss", mp_str_of(client_id));
	mp_write_member_text(&w, "sub", mp_str_of(client_id));
	mp_write_member_text(&w, "aud", mp_str_of(audience));
	mp_write_member_i64(&w, "iat", wall_ms / 1000);
	mp_write_member_i64(&w, "exp", wall_ms / 1000 + ASSERTION_S);
	jwt_write_id(&w);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? r : mp_jwt_sign(k, MP_STR("\"typ\":\"JWT\""), mp_buf_get(&claims), out);
}

/* --- proofs --------------------------------------------------------------------------------- */

/* "typ", and the public key (RFC 7517). */
static int jwt_write_proof_header(const struct mp_jwt_key *k, struct mp_buf *out)
{
	unsigned char point[POINT];
	size_t n = 0;
	int r;

	if (EVP_PKEY_get_octet_string_param(k->key, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point),
					    &n) != 1 ||
	    n != POINT)
		return MCPOOL_EINVAL;
	r = mp_buf_addf(out,
			"\"typ\":\"dpop+jwt\",\"jwk\":{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"");
	if (r == 0)
		r = mp_base64url_add(out, point + 1, COORDINATE);
	if (r == 0)
		r = mp_buf_addf(out, "\",\"y\":\"");
	if (r == 0)
		r = mp_base64url_add(out, point + 1 + COORDINATE, COORDINATE);
	return r < 0 ? r : mp_buf_addf(out, "\"}");
}

int mp_jwt_add_hash(const char *text, struct mp_buf *out)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	if (EVP_Digest(text, strlen(text), hash, &n, EVP_sha256(), NULL) != 1)
		return MCPOOL_ENOMEM;
	return mp_base64url_add(out, hash, n);
}

int mp_jwt_write_proof(const struct mp_jwt_key *k, const struct mp_jwt_proof *p, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf header, claims, hash;
	struct mp_writer w;
	int r;

	mp_buf_init(&header, MP_KIB(1));
	mp_buf_init(&claims, MP_KIB(16));
	mp_buf_init(&hash, MP_KIB(1));
	r = jwt_write_proof_header(k, &header);
	if (r == 0 && p->token)
		r = mp_jwt_add_hash(p->token, &hash);
	if (r < 0)
		return r;
	mp_write_init(&w, &claims, NULL);
	mp_write_begin_object(&w);
	jwt_write_id(&w);
	mp_write_member_text(&w, "htm", mp_str_of(p->method));
	mp_write_member_text(&w, "htu", (struct mp_str){p->url, strcspn(p->url, "?#")});
	mp_write_member_i64(&w, "iat", p->wall_ms / 1000);
	if (p->nonce)
		mp_write_member_text(&w, "nonce", mp_str_of(p->nonce));
	if (p->token)
		mp_write_member_text(&w, "ath", mp_buf_get(&hash));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? r : mp_jwt_sign(k, mp_buf_get(&header), mp_buf_get(&claims), out);
}
