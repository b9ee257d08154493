/*
 * test_jwks.c - which keys of a set can be used, and for what.
 */
#include "test.h"

#include "issuer.h"
#include "auth/base64url.h"
#include "auth/jwks.h"

static struct mcpool_error why;

/* How many keys of {"keys":[TEXT]} can be used; or the error. */
static int count(const char *text)
{
	MP_CLEANUP(mp_jwks_freep) struct mp_jwks *set = NULL;
	char all[4000];
	int r;

	snprintf(all, sizeof(all), "{\"keys\":[%s]}", text);
	r = mp_jwks_read(mp_str_of(all), &set, &why);
	return r < 0 ? r : (int)mp_jwks_count(set);
}

/* The JWK of a key, with more members. */
static const char *jwk(enum issuer_key which, const char *more)
{
	static char text[2000];
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, sizeof(text));
	text[0] = '\0';
	if (issuer_add_jwk(&b, which))
		snprintf(text, sizeof(text), "{%.*s%s}", MP_STR_ARGS(mp_buf_get(&b)), more);
	return text;
}

TEST(three_kinds_of_keys_can_be_used)
{
	CHECK_EQ(count(jwk(ISSUER_RSA, "")), 1);
	CHECK_EQ(count(jwk(ISSUER_EC, "")), 1);
	CHECK_EQ(count(jwk(ISSUER_ED, "")), 1);
	CHECK_EQ(count(jwk(ISSUER_RSA, ",\"alg\":\"RS256\",\"use\":\"sig\",\"kid\":\"a\"")), 1);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"key_ops\":[\"verify\"],\"x5c\":[1]")), 1);
}

/* dependencies-2.md 1: what OpenSSL would take */
TEST(weak_and_foreign_keys_are_left_out)
{
	static const char *const bad[] = {
		"1",
		"{}",
		"{\"kty\":\"oct\",\"k\":\"AAAA\"}",
		"{\"kty\":\"RSA\",\"n\":\"DLk\",\"e\":\"AQ\"}", /* 12 bits, e=1 */
		"{\"kty\":\"RSA\",\"n\":\"AQAB\"}",
		"{\"kty\":\"OKP\",\"crv\":\"Ed25519\","
		"\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
		"{\"kty\":\"OKP\",\"crv\":\"Ed25519\","
		"\"x\":\"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}",
		"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg\"}",
		"{\"kty\":\"OKP\",\"crv\":\"X25519\","
		"\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
		/* (1, 1) is not on the curve */
		"{\"kty\":\"EC\",\"crv\":\"P-256\","
		"\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\","
		"\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE\"}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK(count(bad[i]) == MCPOOL_EPROTO || test_is_faulty());
	CHECK_EQ(count(jwk(ISSUER_WEAK, "")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_RSA, ",\"alg\":\"RS512\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_RSA, ",\"alg\":\"HS256\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"alg\":\"RS256\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"use\":\"enc\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"use\":7")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"key_ops\":[\"sign\"]")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"key_ops\":\"verify\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"crv\":\"P-384\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"kid\":\"a\",\"kid\":\"b\"")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"kid\":1")), MCPOOL_EPROTO);
	CHECK_EQ(count(jwk(ISSUER_EC, ",\"kid\":\"a\\u0000b\"")), MCPOOL_EPROTO);
}

/* Of the right length, and even: OpenSSL imports it. */
TEST(an_rsa_modulus_is_checked)
{
	char text[500];
	int n = snprintf(text, sizeof(text), "{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"g");

	memset(text + n, 'A', 341);
	snprintf(text + n + 341, sizeof(text) - (size_t)n - 341, "\"}");
	CHECK_EQ(count(text), MCPOOL_EPROTO);
}

TEST(what_is_not_a_set_is_refused)
{
	static const char *const bad[] = {"", "x", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}"};
	struct mp_jwks *set = NULL;

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK(mp_jwks_read(mp_str_of(bad[i]), &set, &why) < 0);
	CHECK(!set);
}

/* One bad key does not take the others along. */
TEST(a_key_is_found_by_its_id_and_algorithm)
{
	MP_CLEANUP(mp_jwks_freep) struct mp_jwks *set = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 1 << 16);
	CHECK_EQ(mp_buf_addf(&b, "{\"keys\":[{\"kty\":\"oct\"},%s,",
			     jwk(ISSUER_RSA, ",\"kid\":\"r\"")),
		 0);
	CHECK_EQ(mp_buf_addf(&b, "%s,", jwk(ISSUER_EC, ",\"kid\":\"e\"")), 0);
	CHECK_EQ(mp_buf_addf(&b, "%s]}", jwk(ISSUER_OTHER_EC, ",\"kid\":\"f\"")), 0);
	CHECK_EQ(mp_jwks_read(mp_buf_get(&b), &set, &why), 0);
	CHECK_EQ(mp_jwks_count(set), 3);
	CHECK(mp_jwks_find(set, MP_STR("r"), MP_JWT_RS256));
	CHECK(!mp_jwks_find(set, MP_STR("r"), MP_JWT_ES256));
	CHECK(!mp_jwks_find(set, MP_STR("x"), MP_JWT_RS256));
	CHECK(mp_jwks_find(set, MP_STR("e"), MP_JWT_ES256) !=
	      mp_jwks_find(set, MP_STR("f"), MP_JWT_ES256));
	CHECK(mp_jwks_find(set, (struct mp_str){NULL, 0}, MP_JWT_RS256));
	CHECK(!mp_jwks_find(set, (struct mp_str){NULL, 0}, MP_JWT_ES256)); /* which one? */
	CHECK(!mp_jwks_find(set, (struct mp_str){NULL, 0}, MP_JWT_EDDSA));
}

TEST(each_sequence_of_bytes_has_one_spelling)
{
	static const struct {
		const char *text;
		int want; /* bytes; or the error */
	} cases[] = {
		{"", 0},
		{"AA", 1},
		{"AAA", 2},
		{"AAAA", 3},
		{"AAAAAA", 4},
		{"_-8", 2},
		{"A", MCPOOL_EPARSE},
		{"AAAAA", MCPOOL_EPARSE},
		{"AB", MCPOOL_EPARSE},
		{"AAB", MCPOOL_EPARSE},
		{"AA==", MCPOOL_EPARSE},
		{"A A", MCPOOL_EPARSE},
		{"A+A", MCPOOL_EPARSE},
		{"A/A", MCPOOL_EPARSE},
		{"AA\n", MCPOOL_EPARSE},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf b;
		int r;

		mp_buf_init(&b, 100);
		r = mp_base64url_read(mp_str_of(cases[i].text), &b);
		CHECK_EQ(r < 0 ? r : (int)b.len, cases[i].want);
	}
}
