/*
 * jwt_verify.c - is this JSON Web Token one of our issuer, for us, and valid now?
 */
#include "auth/jwt_verify.h"

#include <math.h>
#include <string.h>

#include "auth/base64url.h"
#include "base/error.h"
#include "base/limits.h"
#include "json/value.h"

/* The parts between the dots; texts of the token. */
struct jwt_parts {
	struct mp_str header, claims, signature;
	struct mp_str text; /* what was signed: header, dot, claims */
};

static int jwt_refuse(struct mcpool_error *reterr, const char *words)
{
	return mp_fail(reterr, MCPOOL_EPERM, "%s", words);
}

/* --- parts ---------------------------------------------------------------------------------- */

static bool jwt_split(struct mp_str token, struct jwt_parts *ret)
{
	const char *end = token.p + token.len, *first, *second;

	if (token.len == 0 || token.len > MP_JWT_SIZE)
		return false;
	first = memchr(token.p, '.', token.len);
	second = first ? memchr(first + 1, '.', (size_t)(end - first - 1)) : NULL;
	if (!second || memchr(second + 1, '.', (size_t)(end - second - 1)))
		return false;
	*ret = (struct jwt_parts){
		.header = {token.p, (size_t)(first - token.p)},
		.claims = {first + 1, (size_t)(second - first - 1)},
		.signature = {second + 1, (size_t)(end - second - 1)},
		.text = {token.p, (size_t)(second - token.p)},
	};
	return ret->header.len && ret->claims.len;
}

bool mp_jwt_is_one(struct mp_str token)
{
	struct jwt_parts parts;

	for (size_t i = 0; i < token.len; i++) {
		char c = token.p[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!is_letter && !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
			return false;
	}
	return jwt_split(token, &parts);
}

/* One object, of whose members none occurs twice: readers would differ about it (V43). */
static int jwt_read_object(struct mp_str part, struct mp_buf *bytes, struct mp_tape *t,
			   const char *words, struct mcpool_error *reterr)
{
	mp_value twice = MP_NONE;
	int r = mp_base64url_read(part, bytes);

	if (r == 0)
		r = mp_tape_parse(t, mp_buf_get(bytes), NULL);
	if (r == 0 && mp_value_is(t, MP_ROOT, MP_TAPE_OBJECT))
		r = mp_value_find_duplicate(t, MP_ROOT, &twice);
	else if (r == 0)
		r = MCPOOL_ETYPE;
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return r < 0 || twice != MP_NONE ? jwt_refuse(reterr, words) : 0;
}

/* --- header --------------------------------------------------------------------------------- */

/* An access token, or one that does not say: not a DPoP proof, a logout token or the like. */
static bool jwt_is_type(const struct mp_tape *t, mp_value typ, struct mp_arena *arena)
{
	static const char *const types[] = {"JWT", "at+jwt", "application/at+jwt"};
	struct mp_str text;

	if (typ == MP_NONE)
		return true;
	if (mp_value_text(t, typ, arena, &text) < 0)
		return false;
	for (size_t i = 0; i < MP_ARRAY_LEN(types); i++)
		if (mp_str_eq_nocase(text, mp_str_of(types[i])))
			return true;
	return false;
}

static int jwt_read_alg(const struct mp_tape *t, struct mp_arena *arena)
{
	struct mp_str name;

	if (mp_value_text(t, mp_value_get(t, MP_ROOT, "alg"), arena, &name) < 0)
		return -1;
	return mp_jwt_alg_find(name);
}

/* Only of our own set: what the header says of keys (jwk, jku, x5c, x5u) is not looked at. */
static int jwt_find_key(const struct mp_tape *t, const struct mp_jwks *keys, struct mp_arena *arena,
			const struct mp_jwk **ret, struct mcpool_error *reterr)
{
	mp_value kid = mp_value_get(t, MP_ROOT, "kid");
	int alg = jwt_read_alg(t, arena);
	struct mp_str id = {NULL, 0};

	if (alg < 0)
		return jwt_refuse(reterr, "its algorithm is not RS256, ES256 or EdDSA");
	if (mp_value_get(t, MP_ROOT, "crit") != MP_NONE)
		return jwt_refuse(reterr, "it has extensions that must be understood");
	if (!jwt_is_type(t, mp_value_get(t, MP_ROOT, "typ"), arena))
		return jwt_refuse(reterr, "it is not an access token");
	if (kid != MP_NONE && mp_value_text(t, kid, arena, &id) < 0)
		return jwt_refuse(reterr, "the id of its key is not a text");
	*ret = mp_jwks_find(keys, id, (enum mp_jwt_alg)alg);
	return *ret ? 0
		    : mp_fail(reterr, MCPOOL_ENOENT,
			      "the issuer has not the key that it was signed with");
}

static int jwt_check_signature(const struct jwt_parts *parts, const struct mp_jwks *keys,
			       struct mp_arena *arena, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf header, signature;
	const struct mp_jwk *key = NULL;
	int r;

	mp_tape_init(&t, 0);
	mp_buf_init(&header, MP_JWT_SIZE);
	mp_buf_init(&signature, MP_JWT_SIZE);
	r = jwt_read_object(parts->header, &header, &t, "its header cannot be read", reterr);
	if (r == 0)
		r = jwt_find_key(&t, keys, arena, &key, reterr);
	if (r < 0)
		return r;
	r = mp_base64url_read(parts->signature, &signature);
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (r < 0 || !mp_jwk_verify(key, parts->text, mp_buf_get(&signature)))
		return jwt_refuse(reterr, "its signature is wrong");
	return 0;
}

/* --- claims --------------------------------------------------------------------------------- */

/* A NumericDate (RFC 7519, 2) in milliseconds. 1: it is there; 0: not; MCPOOL_ETYPE. */
static int jwt_get_time(const struct mp_tape *t, const char *name, int64_t *ret_ms)
{
	mp_value v = mp_value_get(t, MP_ROOT, name);
	double seconds;

	if (v == MP_NONE)
		return 0;
	if (mp_value_f64(t, v, &seconds) < 0 || !isfinite(seconds) || seconds < 0 || seconds > 1e11)
		return MCPOOL_ETYPE;
	*ret_ms = (int64_t)(seconds * 1000);
	return 1;
}

static int jwt_check_times(const struct mp_tape *t, int64_t wall_ms, int64_t *ret_until_ms,
			   struct mcpool_error *reterr)
{
	int64_t expires_ms = 0, begins_ms = 0, issued_ms = 0;

	if (jwt_get_time(t, "exp", &expires_ms) != 1)
		return jwt_refuse(reterr, "it does not say when it expires");
	if (expires_ms + MP_JWT_SKEW_MS <= wall_ms)
		return jwt_refuse(reterr, "it has expired");
	if (jwt_get_time(t, "nbf", &begins_ms) < 0 || begins_ms > wall_ms + MP_JWT_SKEW_MS)
		return jwt_refuse(reterr, "it is not valid yet");
	if (jwt_get_time(t, "iat", &issued_ms) < 0 || issued_ms > wall_ms + MP_JWT_SKEW_MS)
		return jwt_refuse(reterr, "it was issued in the future");
	*ret_until_ms = expires_ms + MP_JWT_SKEW_MS;
	return 0;
}

static bool jwt_is_ours(const struct mp_tape *t, mp_value audience,
			const struct mp_jwt_rules *rules)
{
	for (size_t i = 0; i < rules->n_audiences; i++)
		if (mp_value_text_is(t, audience, mp_str_of(rules->audiences[i])))
			return true;
	return false;
}

/* One audience, or a list that has ours (RFC 7519, 4.1.3). */
static bool jwt_is_for_us(const struct mp_tape *t, const struct mp_jwt_rules *rules)
{
	mp_value aud = mp_value_get(t, MP_ROOT, "aud");

	if (!mp_value_is(t, aud, MP_TAPE_ARRAY))
		return jwt_is_ours(t, aud, rules);
	MP_VALUE_EACH(t, aud, one)
		if (jwt_is_ours(t, one, rules))
			return true;
	return false;
}

/* "" where it is not there. NULL: it is not a plain text, or there is no memory. */
static const char *jwt_get_text(const struct mp_tape *t, const char *name, struct mp_arena *arena)
{
	mp_value v = mp_value_get(t, MP_ROOT, name);
	struct mp_str text;

	if (v == MP_NONE)
		return "";
	if (mp_value_text(t, v, arena, &text) < 0)
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f)
			return NULL;
	return mp_arena_dup(arena, text);
}

/* `scp` as a list, as some issuers have it. NULL as above. */
static const char *jwt_join_scopes(const struct mp_tape *t, mp_value list, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf joined;
	struct mp_str word;

	mp_buf_init(&joined, MP_JWT_SIZE);
	MP_VALUE_EACH(t, list, v)
		if (mp_value_text(t, v, arena, &word) < 0 || memchr(word.p, ' ', word.len) ||
		    memchr(word.p, '\0', word.len) || mp_buf_add_str(&joined, word) < 0 ||
		    mp_buf_add_char(&joined, ' ') < 0)
			return NULL;
	return mp_arena_dup(arena, mp_buf_get(&joined));
}

static const char *jwt_get_scope(const struct mp_tape *t, struct mp_arena *arena)
{
	mp_value scp = mp_value_get(t, MP_ROOT, "scp");

	if (mp_value_get(t, MP_ROOT, "scope") != MP_NONE)
		return jwt_get_text(t, "scope", arena);
	if (mp_value_is(t, scp, MP_TAPE_ARRAY))
		return jwt_join_scopes(t, scp, arena);
	return jwt_get_text(t, "scp", arena);
}

static int jwt_take_claims(const struct mp_tape *t, struct mp_arena *arena,
			   struct mp_jwt_claims *ret, struct mcpool_error *reterr)
{
	const char *client = jwt_get_text(t, "client_id", arena);

	if (client && !client[0])
		client = jwt_get_text(t, "azp", arena);
	ret->client = client;
	ret->subject = jwt_get_text(t, "sub", arena);
	ret->scope = jwt_get_scope(t, arena);
	if (mp_arena_get_error(arena) == MCPOOL_ENOMEM)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	if (!ret->client || !ret->subject || !ret->scope)
		return jwt_refuse(reterr, "one of its claims is not a plain text");
	if (!ret->client[0] && !ret->subject[0])
		return jwt_refuse(reterr, "it does not say whose it is");
	return 0;
}

static int jwt_check_claims(const struct mp_tape *t, const struct mp_jwt_rules *rules,
			    struct mp_arena *arena, struct mp_jwt_claims *ret,
			    struct mcpool_error *reterr)
{
	int r;

	if (!mp_value_text_is(t, mp_value_get(t, MP_ROOT, "iss"), mp_str_of(rules->issuer)))
		return jwt_refuse(reterr, "it is of another issuer");
	if (!jwt_is_for_us(t, rules))
		return jwt_refuse(reterr, "it is for another audience");
	r = jwt_check_times(t, rules->wall_ms, &ret->until_ms, reterr);
	return r < 0 ? r : jwt_take_claims(t, arena, ret, reterr);
}

int mp_jwt_verify(struct mp_str token, const struct mp_jwks *keys, const struct mp_jwt_rules *rules,
		  struct mp_arena *arena, struct mp_jwt_claims *ret, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf claims;
	struct jwt_parts parts;
	int r;

	mp_tape_init(&t, 0);
	mp_buf_init(&claims, MP_JWT_SIZE);
	if (!jwt_split(token, &parts))
		return jwt_refuse(reterr, "it does not have three parts");
	r = jwt_check_signature(&parts, keys, arena, reterr);
	if (r == 0)
		r = jwt_read_object(parts.claims, &claims, &t, "its claims cannot be read", reterr);
	return r < 0 ? r : jwt_check_claims(&t, rules, arena, ret, reterr);
}

bool mp_jwt_has_scope(const char *scope, const char *word)
{
	size_t n = strlen(word);

	for (size_t len; *scope; scope += len + (scope[len] == ' ')) {
		len = strcspn(scope, " ");
		if (len == n && memcmp(scope, word, n) == 0)
			return true;
	}
	return false;
}
