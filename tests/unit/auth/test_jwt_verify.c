/*
 * test_jwt_verify.c - hostile tokens: each row breaks one rule, and would be accepted without it.
 */
#include "test.h"

#include "issuer.h"
#include "auth/jwt_verify.h"

static const int64_t now_ms = 1700000000000;

#define US "http://127.0.0.1:7717/mcp"
static const char *const us[] = {US, "urn:hub"};
static const struct mp_jwt_rules rules = {"https://issuer.example/t", us, 2, 1700000000000};

#define WHO  "\"iss\":\"https://issuer.example/t\",\"sub\":\"amy\""
#define AUD  "\"aud\":\"" US "\""
#define EXP  "\"exp\":1700000100"
#define GOOD "{" WHO "," AUD "," EXP "}"

static struct mp_jwks *open_set(void)
{
	static const struct {
		enum issuer_key key;
		const char *more;
	} keys[] = {{ISSUER_RSA, ",\"kid\":\"r\",\"alg\":\"RS256\",\"use\":\"sig\""},
		    {ISSUER_EC, ",\"kid\":\"e\""},
		    {ISSUER_ED, ",\"kid\":\"d\""}};
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	struct mp_jwks *set = NULL;
	int r;

	mp_buf_init(&b, 1 << 16);
	r = mp_buf_addf(&b, "{\"keys\":[");
	for (size_t i = 0; i < MP_ARRAY_LEN(keys) && r == 0; i++) {
		r = mp_buf_addf(&b, "%s{", i ? "," : "");
		if (r == 0 && !issuer_add_jwk(&b, keys[i].key))
			r = -1;
		if (r == 0)
			r = mp_buf_addf(&b, "%s}", keys[i].more);
	}
	if (r == 0)
		r = mp_buf_addf(&b, "]}");
	return r == 0 && mp_jwks_read(mp_buf_get(&b), &set, NULL) == 0 ? set : NULL;
}

static struct mp_jwt_claims claims;
static struct mcpool_error why;

static int verify_text(const struct mp_jwks *set, struct mp_arena *arena, struct mp_str token)
{
	why = (struct mcpool_error){0};
	claims = (struct mp_jwt_claims){0};
	return mp_jwt_verify(token, set, &rules, arena, &claims, &why);
}

static int verify(const struct mp_jwks *set, struct mp_arena *arena, enum issuer_key key,
		  const char *header, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf token;

	mp_buf_init(&token, 1 << 16);
	if (!issuer_add_token(&token, key, header, text))
		return MCPOOL_ENOMEM;
	return verify_text(set, arena, mp_buf_get(&token));
}

#define ISSUER(set, arena)                                    \
	MP_CLEANUP(mp_jwks_freep) struct mp_jwks *set = NULL; \
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;      \
	mp_arena_init(&arena, 1 << 20);                       \
	CHECK((set = open_set()))

#define RS "{\"alg\":\"RS256\",\"kid\":\"r\"}"
#define ES "{\"alg\":\"ES256\",\"kid\":\"e\"}"
#define ED "{\"alg\":\"EdDSA\",\"kid\":\"d\"}"

TEST(good_tokens_are_accepted)
{
	static const struct {
		enum issuer_key key;
		const char *header, *claims;
	} cases[] = {
		{ISSUER_RSA, RS, GOOD},
		{ISSUER_EC, ES, GOOD},
		{ISSUER_ED, ED, GOOD},
		{ISSUER_EC, "{\"alg\":\"ES256\"}", GOOD},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}", GOOD},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"application/at+jwt\"}", GOOD},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"AT+JWT\"}", GOOD},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"JWT\"}", GOOD},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":[\"x\",\"" US "\"]}"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":\"urn:hub\"}"},
		/* the skew */
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":1699999941}"},
		{ISSUER_EC, ES, GOOD "         "},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"nbf\":1700000060,\"iat\":1700000060}"},
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":1700000100.5}"},
		{ISSUER_EC, ES,
		 "{\"iss\":\"https://issuer.example/t\",\"client_id\":\"ci\"," AUD "," EXP "}"},
	};
	ISSUER(set, arena);

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++)
		CHECK_EQ(verify(set, &arena, cases[i].key, cases[i].header, cases[i].claims), 0);
}

/* V32, dependencies-2.md 1 */
TEST(hostile_tokens_are_refused)
{
	static const struct {
		enum issuer_key key;
		const char *header, *claims;
		const char *words;
	} cases[] = {
		/* algorithms */
		{ISSUER_RSA, "{\"alg\":\"none\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":\"None\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":\"HS256\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":\"RS384\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":\"PS256\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":\"rs256\",\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"kid\":\"r\"}", GOOD, "algorithm"},
		{ISSUER_RSA, "{\"alg\":[\"RS256\"],\"kid\":\"r\"}", GOOD, "algorithm"},
		/* extensions and types */
		{ISSUER_EC, "{\"alg\":\"ES256\",\"crit\":[\"x\"],\"x\":1}", GOOD, "extensions"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"crit\":[]}", GOOD, "extensions"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"crit\":[\"b64\"],\"b64\":true}", GOOD,
		 "extensions"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"dpop+jwt\"}", GOOD, "not an access"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":\"logout+jwt\"}", GOOD, "not an access"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"typ\":7}", GOOD, "not an access"},
		/* keys */
		{ISSUER_EC, "{\"alg\":\"ES256\",\"kid\":1}", GOOD, "id of its key"},
		{ISSUER_OTHER_EC, ES, GOOD, "signature"},
		{ISSUER_RSA, ES, GOOD, "signature"},
		{ISSUER_ED, ES, GOOD, "signature"}, /* 64 bytes, too */
		{ISSUER_EC, ED, GOOD, "signature"},
		/* issuer and audience */
		{ISSUER_EC, ES, "{\"sub\":\"amy\"," AUD "," EXP "}", "another issuer"},
		{ISSUER_EC, ES,
		 "{\"iss\":\"https://issuer.example/t/\",\"sub\":\"amy\"," AUD "," EXP "}",
		 "another issuer"},
		{ISSUER_EC, ES,
		 "{\"iss\":\"https://ISSUER.example/t\",\"sub\":\"amy\"," AUD "," EXP "}",
		 "another issuer"},
		{ISSUER_EC, ES,
		 "{\"iss\":[\"https://issuer.example/t\"],\"sub\":\"amy\"," AUD "," EXP "}",
		 "another issuer"},
		{ISSUER_EC, ES, "{" WHO "," EXP "}", "another audience"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":\"http://127.0.0.1:7717/\"}",
		 "another audience"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":\"" US "/\"}", "another audience"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":[]}", "another audience"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":[[\"" US "\"]]}", "another audience"},
		{ISSUER_EC, ES, "{" WHO "," EXP ",\"aud\":{\"a\":\"" US "\"}}", "another audience"},
		/* times */
		{ISSUER_EC, ES, "{" WHO "," AUD "}", "when it expires"},
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":\"1700000100\"}", "when it expires"},
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":1e300}", "when it expires"},
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":null}", "when it expires"},
		{ISSUER_EC, ES, "{" WHO "," AUD ",\"exp\":1699999940}", "has expired"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"nbf\":1700000061}", "not valid yet"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"nbf\":\"x\"}", "not valid yet"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"iat\":1700000061}", "in the future"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"iat\":{}}", "in the future"},
		/* whose */
		{ISSUER_EC, ES, "{\"iss\":\"https://issuer.example/t\"," AUD "," EXP "}",
		 "whose it is"},
		{ISSUER_EC, ES,
		 "{\"iss\":\"https://issuer.example/t\",\"sub\":\"a\\u0000b\"," AUD "," EXP "}",
		 "plain text"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"client_id\":1}", "plain text"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"scope\":[\"a\"]}", "plain text"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"scp\":[\"a b\"]}", "plain text"},
		/* read in two ways */
		{ISSUER_EC, "{\"alg\":\"ES256\",\"alg\":\"ES256\"}", GOOD, "header"},
		{ISSUER_EC, "{\"alg\":\"ES256\",\"al\\u0067\":\"none\"}", GOOD, "header"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP ",\"sub\":\"root\"}", "claims"},
		{ISSUER_EC, ES, "[" GOOD "]", "claims"},
		{ISSUER_EC, ES, "{" WHO "," AUD "," EXP "} {}", "claims"},
		{ISSUER_EC, "[\"alg\",\"ES256\"]", GOOD, "header"},
	};
	ISSUER(set, arena);

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		int r = verify(set, &arena, cases[i].key, cases[i].header, cases[i].claims);

		if (r != MCPOOL_EPERM && !test_is_faulty())
			printf("%s %s\n", cases[i].header, cases[i].claims);
		CHECK_EQ(r, MCPOOL_EPERM);
		CHECK(strstr(why.message, cases[i].words));
	}
}

/* A newer set of the issuer may have it. */
TEST(an_unknown_key_is_told_apart)
{
	ISSUER(set, arena);

	CHECK_EQ(verify(set, &arena, ISSUER_EC, "{\"alg\":\"ES256\",\"kid\":\"new\"}", GOOD),
		 MCPOOL_ENOENT);
	/* The algorithm belongs to the key: this is the RSA key's id. */
	CHECK_EQ(verify(set, &arena, ISSUER_EC, "{\"alg\":\"ES256\",\"kid\":\"r\"}", GOOD),
		 MCPOOL_ENOENT);
}

/* The secret of HS256 is the public key, which is known to all. */
TEST(a_public_key_is_no_secret)
{
	ISSUER(set, arena);
	MP_CLEANUP(mp_buf_done) struct mp_buf jwk, token;
	unsigned char mac[EVP_MAX_MD_SIZE];
	size_t n = 0;

	mp_buf_init(&jwk, 1 << 16);
	mp_buf_init(&token, 1 << 16);
	CHECK(issuer_add_jwk(&jwk, ISSUER_RSA));
	CHECK_EQ(mp_base64url_add(&token, "{\"alg\":\"HS256\",\"kid\":\"r\"}", 25), 0);
	CHECK_EQ(mp_buf_add_char(&token, '.'), 0);
	CHECK_EQ(mp_base64url_add(&token, GOOD, sizeof(GOOD) - 1), 0);
	CHECK(EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, jwk.data, jwk.len,
			(unsigned char *)token.data, token.len, mac, sizeof(mac), &n));
	CHECK_EQ(mp_buf_add_char(&token, '.'), 0);
	CHECK_EQ(mp_base64url_add(&token, mac, n), 0);
	CHECK_EQ(verify_text(set, &arena, mp_buf_get(&token)), MCPOOL_EPERM);
}

/* Every bit counts, and there is one spelling. */
TEST(a_changed_token_is_refused)
{
	ISSUER(set, arena);
	MP_CLEANUP(mp_buf_done) struct mp_buf token;

	mp_buf_init(&token, 1 << 16);
	CHECK(issuer_add_token(&token, ISSUER_ED, ED, GOOD));
	CHECK_EQ(verify_text(set, &arena, mp_buf_get(&token)), 0);
	for (size_t i = 0; i < token.len; i += test_is_faulty() ? 50 : 1) {
		char was = token.data[i];

		token.data[i] = was == 'A' ? 'B' : 'A';
		CHECK(verify_text(set, &arena, mp_buf_get(&token)) < 0);
		token.data[i] = was;
	}
	for (size_t n = 0; n < token.len; n += test_is_faulty() ? 50 : 1)
		CHECK(verify_text(set, &arena, (struct mp_str){token.data, n}) < 0);
	CHECK_EQ(mp_buf_add_char(&token, '='), 0);
	CHECK_EQ(verify_text(set, &arena, mp_buf_get(&token)), MCPOOL_EPERM);
	token.data[token.len - 1] = '.';
	CHECK_EQ(verify_text(set, &arena, mp_buf_get(&token)), MCPOOL_EPERM);
}

TEST(an_unsigned_token_is_refused)
{
	ISSUER(set, arena);
	MP_CLEANUP(mp_buf_done) struct mp_buf token;

	mp_buf_init(&token, 1 << 16);
	CHECK(issuer_add_token(&token, ISSUER_ED, ED, GOOD));
	token.len = (size_t)((const char *)memrchr(token.data, '.', token.len) - token.data) + 1;
	CHECK_EQ(verify_text(set, &arena, mp_buf_get(&token)), MCPOOL_EPERM);
}

TEST(claims_of_a_valid_token)
{
	ISSUER(set, arena);

	CHECK_EQ(verify(set, &arena, ISSUER_EC, ES,
			"{" WHO "," AUD "," EXP ",\"client_id\":\"cli\",\"scope\":\"a b:c\"}"),
		 0);
	CHECK_TEXT(claims.subject, "amy");
	CHECK_TEXT(claims.client, "cli");
	CHECK_EQ(claims.until_ms, now_ms + 100000 + MP_JWT_SKEW_MS);
	CHECK(mp_jwt_has_scope(claims.scope, "a") && mp_jwt_has_scope(claims.scope, "b:c"));
	CHECK(!mp_jwt_has_scope(claims.scope, "b") && !mp_jwt_has_scope(claims.scope, ""));
	CHECK_EQ(verify(set, &arena, ISSUER_EC, ES,
			"{" WHO "," AUD "," EXP ",\"azp\":\"web\",\"scp\":[\"x\",\"y\"]}"),
		 0);
	CHECK_TEXT(claims.client, "web");
	CHECK(mp_jwt_has_scope(claims.scope, "x") && mp_jwt_has_scope(claims.scope, "y"));
}

TEST(what_looks_like_a_token)
{
	CHECK(mp_jwt_is_one(MP_STR("a.b.c")) && mp_jwt_is_one(MP_STR("a.b.")));
	CHECK(!mp_jwt_is_one(MP_STR("")) && !mp_jwt_is_one(MP_STR("a.b")));
	CHECK(!mp_jwt_is_one(MP_STR("a.b.c.d")) && !mp_jwt_is_one(MP_STR("a.b.c ")));
	CHECK(!mp_jwt_is_one(MP_STR("a.b=.c")) && !mp_jwt_is_one(MP_STR(".b.c")));
}
