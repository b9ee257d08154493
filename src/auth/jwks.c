/*
 * jwks.c - the public keys of an issuer, and signatures checked with them.
 */
#include "auth/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <string.h>

#include "auth/base64url.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "json/value.h"

enum {
	COORDINATE = 32, /* bytes of a number on P-256, and of an Ed25519 key */
	MIN_RSA_BITS = 2048,
	MAX_RSA_BITS = 8192,
	MAX_EXPONENT = 8, /* bytes */
	MAX_DER = 80,     /* bytes of a signature on P-256 */
};

struct mp_jwk {
	EVP_PKEY *key; /* owned */
	enum mp_jwt_alg alg;
	char *kid; /* owned; NULL: none */
};

struct mp_jwks {
	struct mp_jwk keys[MP_JWKS_KEYS];
	size_t n;
};

static const char *const alg_names[MP_JWT_ALGS] = {"RS256", "ES256", "EdDSA"};

int mp_jwt_alg_find(struct mp_str name)
{
	for (int i = 0; i < MP_JWT_ALGS; i++)
		if (mp_str_eq(name, mp_str_of(alg_names[i])))
			return i;
	return -1;
}

/* --- OpenSSL's objects ---------------------------------------------------------------------- */

static void pkey_cleanup(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void pkey_ctx_cleanup(EVP_PKEY_CTX **ctx)
{
	EVP_PKEY_CTX_free(*ctx);
}

static void md_ctx_cleanup(EVP_MD_CTX **ctx)
{
	EVP_MD_CTX_free(*ctx);
}

static void bignum_cleanup(BIGNUM **number)
{
	BN_free(*number);
}

static void builder_cleanup(OSSL_PARAM_BLD **builder)
{
	OSSL_PARAM_BLD_free(*builder);
}

static void params_cleanup(OSSL_PARAM **params)
{
	OSSL_PARAM_free(*params);
}

static void signature_cleanup(ECDSA_SIG **signature)
{
	ECDSA_SIG_free(*signature);
}

/* --- one key -------------------------------------------------------------------------------- */

/* Imports alone prove little: OpenSSL takes an RSA key of 12 bits (dependencies-2.md, 1). */
static EVP_PKEY *jwk_import(const char *type, OSSL_PARAM *params)
{
	MP_CLEANUP(pkey_ctx_cleanup)
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	MP_CLEANUP(pkey_ctx_cleanup) EVP_PKEY_CTX *check = NULL;
	MP_CLEANUP(pkey_cleanup) EVP_PKEY *key = NULL;

	if (!ctx || !params || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
		return NULL;
	check = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
	if (!check || EVP_PKEY_public_check(check) != 1)
		return NULL;
	return MP_TAKE(key);
}

/* The bytes of a member; false: it is not there, or not base64url. */
static bool jwk_get_bytes(const struct mp_tape *t, mp_value jwk, const char *name,
			  struct mp_buf *out)
{
	mp_value v = mp_value_get(t, jwk, name);
	struct mp_str text = mp_value_source(t, v);

	mp_buf_init(out, MAX_RSA_BITS / 8 + 1);
	if (!mp_value_is(t, v, MP_TAPE_STRING) || text.len < 3)
		return false;
	/* An escape is not a digit of base64url, so that the source is the text. */
	return mp_base64url_read((struct mp_str){text.p + 1, text.len - 2}, out) == 0;
}

static EVP_PKEY *jwk_build_rsa(struct mp_str n, struct mp_str e)
{
	MP_CLEANUP(bignum_cleanup)
	BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.p, (int)n.len, NULL);
	MP_CLEANUP(bignum_cleanup)
	BIGNUM *exponent = BN_bin2bn((const unsigned char *)e.p, (int)e.len, NULL);
	MP_CLEANUP(builder_cleanup) OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
	MP_CLEANUP(params_cleanup) OSSL_PARAM *params = NULL;

	if (!modulus || !exponent || !builder || BN_num_bits(modulus) < MIN_RSA_BITS ||
	    BN_num_bits(modulus) > MAX_RSA_BITS || !BN_is_odd(exponent) || BN_is_one(exponent) ||
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) != 1 ||
	    OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) != 1)
		return NULL;
	params = OSSL_PARAM_BLD_to_param(builder);
	return jwk_import("RSA", params);
}

static EVP_PKEY *jwk_read_rsa(const struct mp_tape *t, mp_value jwk)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf n, e;
	bool has_n = jwk_get_bytes(t, jwk, "n", &n), has_e = jwk_get_bytes(t, jwk, "e", &e);

	if (!has_n || !has_e || e.len > MAX_EXPONENT)
		return NULL;
	return jwk_build_rsa(mp_buf_get(&n), mp_buf_get(&e));
}

static EVP_PKEY *jwk_read_ec(const struct mp_tape *t, mp_value jwk)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf x, y;
	bool has_x = jwk_get_bytes(t, jwk, "x", &x), has_y = jwk_get_bytes(t, jwk, "y", &y);
	unsigned char point[1 + 2 * COORDINATE] = {4};
	char curve[] = "prime256v1";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve, 0),
		OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)),
		OSSL_PARAM_construct_end(),
	};

	if (!has_x || !has_y || x.len != COORDINATE || y.len != COORDINATE ||
	    !mp_value_text_is(t, mp_value_get(t, jwk, "crv"), MP_STR("P-256")))
		return NULL;
	memcpy(point + 1, x.data, COORDINATE);
	memcpy(point + 1 + COORDINATE, y.data, COORDINATE);
	return jwk_import("EC", params);
}

/* 0 and 1 are points of small order: everything would be signed by them. */
static bool jwk_is_weak_point(const unsigned char *x)
{
	unsigned char rest = 0;

	for (size_t i = 1; i < COORDINATE; i++)
		rest |= x[i];
	return !rest && x[0] < 2;
}

static EVP_PKEY *jwk_read_okp(const struct mp_tape *t, mp_value jwk)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf x;
	bool has_x = jwk_get_bytes(t, jwk, "x", &x);

	if (!has_x || x.len != COORDINATE ||
	    !mp_value_text_is(t, mp_value_get(t, jwk, "crv"), MP_STR("Ed25519")) ||
	    jwk_is_weak_point((const unsigned char *)x.data))
		return NULL;
	return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.data,
					   x.len);
}

static const struct jwk_kind {
	const char *kty;
	enum mp_jwt_alg alg;
	EVP_PKEY *(*read)(const struct mp_tape *t, mp_value jwk);
} jwk_kinds[] = {
	{"RSA", MP_JWT_RS256, jwk_read_rsa},
	{"EC", MP_JWT_ES256, jwk_read_ec},
	{"OKP", MP_JWT_EDDSA, jwk_read_okp},
};

/* NULL: another type. */
static const struct jwk_kind *jwk_find_kind(const struct mp_tape *t, mp_value jwk)
{
	mp_value kty = mp_value_get(t, jwk, "kty");

	for (size_t i = 0; i < MP_ARRAY_LEN(jwk_kinds); i++)
		if (mp_value_text_is(t, kty, mp_str_of(jwk_kinds[i].kty)))
			return &jwk_kinds[i];
	return NULL;
}

/* Absent, or this text. */
static bool jwk_says(const struct mp_tape *t, mp_value jwk, const char *name, const char *text)
{
	mp_value v = mp_value_get(t, jwk, name);

	return v == MP_NONE || mp_value_text_is(t, v, mp_str_of(text));
}

/* Is it meant for signatures of this algorithm? */
static bool jwk_is_for(const struct mp_tape *t, mp_value jwk, enum mp_jwt_alg alg)
{
	mp_value ops = mp_value_get(t, jwk, "key_ops");
	bool verifies = ops == MP_NONE;

	if (mp_value_is(t, ops, MP_TAPE_ARRAY))
		MP_VALUE_EACH(t, ops, op)
			verifies |= mp_value_text_is(t, op, MP_STR("verify"));
	return verifies && jwk_says(t, jwk, "alg", alg_names[alg]) &&
	       jwk_says(t, jwk, "use", "sig");
}

/* False: it cannot be used. */
static bool jwk_read(const struct mp_tape *t, mp_value jwk, struct mp_arena *arena,
		     struct mp_jwk *ret)
{
	const struct jwk_kind *kind = jwk_find_kind(t, jwk);
	mp_value kid = mp_value_get(t, jwk, "kid"), twice = MP_NONE;
	struct mp_str id = {NULL, 0};

	if (!kind || !jwk_is_for(t, jwk, kind->alg) ||
	    mp_value_find_duplicate(t, jwk, &twice) < 0 || twice != MP_NONE)
		return false;
	if (kid != MP_NONE && (mp_value_text(t, kid, arena, &id) < 0 || memchr(id.p, '\0', id.len)))
		return false;
	*ret = (struct mp_jwk){.key = kind->read(t, jwk), .alg = kind->alg};
	if (!ret->key)
		return false;
	if (kid != MP_NONE) {
		ret->kid = mp_alloc(id.len + 1);
		memcpy(ret->kid, id.p, id.len);
	}
	return true;
}

/* --- the set -------------------------------------------------------------------------------- */

struct mp_jwks *mp_jwks_free(struct mp_jwks *set)
{
	for (size_t i = 0; set && i < set->n; i++) {
		EVP_PKEY_free(set->keys[i].key);
		mp_free(set->keys[i].kid);
	}
	return mp_free(set);
}

size_t mp_jwks_count(const struct mp_jwks *set)
{
	return set->n;
}

int mp_jwks_read(struct mp_str text, struct mp_jwks **ret, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_jwks *set;
	mp_value keys;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = text.len > MP_JWKS_SIZE ? MCPOOL_ELIMIT : mp_tape_parse(&t, text, NULL);
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	keys = r < 0 ? MP_NONE : mp_value_get(&t, MP_ROOT, "keys");
	if (!mp_value_is(&t, keys, MP_TAPE_ARRAY))
		return mp_fail(reterr, MCPOOL_EPROTO, "it is not a set of keys (RFC 7517)");
	set = mp_alloc(sizeof(*set));
	MP_VALUE_EACH(&t, keys, jwk)
		if (set->n < MP_JWKS_KEYS && jwk_read(&t, jwk, &arena, &set->keys[set->n]))
			set->n++;
	if (set->n == 0) {
		mp_jwks_free(set);
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "it has no key that can be used: RSA of 2048 bits, P-256, Ed25519");
	}
	*ret = set;
	return 0;
}

const struct mp_jwk *mp_jwks_find(const struct mp_jwks *set, struct mp_str kid, enum mp_jwt_alg alg)
{
	const struct mp_jwk *found = NULL;

	for (size_t i = 0; i < set->n; i++) {
		const struct mp_jwk *key = &set->keys[i];

		if (key->alg != alg ||
		    (kid.p && !(key->kid && mp_str_eq(kid, mp_str_of(key->kid)))))
			continue;
		if (found)
			return NULL;
		found = key;
	}
	return found;
}

/* --- signatures ----------------------------------------------------------------------------- */

static bool jwk_check(const struct mp_jwk *key, struct mp_str text, const unsigned char *signature,
		      size_t n)
{
	MP_CLEANUP(md_ctx_cleanup) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	const EVP_MD *md = key->alg == MP_JWT_EDDSA ? NULL : EVP_sha256();

	return ctx && EVP_DigestVerifyInit(ctx, NULL, md, NULL, key->key) == 1 &&
	       EVP_DigestVerify(ctx, signature, n, (const unsigned char *)text.p, text.len) == 1;
}

/* A token has two numbers one behind the other, OpenSSL wants DER. */
static bool jwk_check_ecdsa(const struct mp_jwk *key, struct mp_str text, struct mp_str raw)
{
	MP_CLEANUP(signature_cleanup) ECDSA_SIG *signature = ECDSA_SIG_new();
	const unsigned char *bytes = (const unsigned char *)raw.p;
	unsigned char der[MAX_DER], *end = der;
	BIGNUM *r, *s;

	if (raw.len != 2 * (size_t)COORDINATE || !signature)
		return false;
	r = BN_bin2bn(bytes, COORDINATE, NULL);
	s = BN_bin2bn(bytes + COORDINATE, COORDINATE, NULL);
	if (!r || !s || ECDSA_SIG_set0(signature, r, s) != 1) {
		BN_free(r);
		BN_free(s);
		return false;
	}
	if (i2d_ECDSA_SIG(signature, NULL) > MAX_DER)
		return false;
	(void)i2d_ECDSA_SIG(signature, &end);
	return jwk_check(key, text, der, (size_t)(end - der));
}

bool mp_jwk_verify(const struct mp_jwk *key, struct mp_str text, struct mp_str signature)
{
	if (key->alg == MP_JWT_ES256)
		return jwk_check_ecdsa(key, text, signature);
	return jwk_check(key, text, (const unsigned char *)signature.p, signature.len);
}
