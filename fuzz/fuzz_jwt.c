/*
 * fuzz_jwt.c - tokens: bytes as they come are never accepted, because no key signed them. With a
 * signature of our own key the claims are read, whatever they are, and an accepted one is for us.
 */
#include "fuzz.h"

#include "../tests/unit/issuer.h"
#include "auth/jwt_verify.h"

static const char *const us[] = {"u"};
static const struct mp_jwt_rules rules = {"i", us, 1, 1700000000000};

static struct mp_jwks *get_set(void)
{
	static struct mp_jwks *set;
	struct mp_buf b;

	if (set)
		return set;
	mp_buf_init(&b, 1 << 16);
	FUZZ_CHECK(mp_buf_addf(&b, "{\"keys\":[{") == 0 && issuer_add_jwk(&b, ISSUER_ED) &&
		   mp_buf_addf(&b, "}]}") == 0 && mp_jwks_read(mp_buf_get(&b), &set, NULL) == 0);
	mp_buf_done(&b);
	return set;
}

static int verify(struct mp_str token)
{
	struct mp_jwt_claims claims = {.subject = NULL};
	struct mcpool_error why = {0};
	struct mp_arena arena;
	int r;

	mp_arena_init(&arena, 1 << 20);
	r = mp_jwt_verify(token, get_set(), &rules, &arena, &claims, &why);
	if (r == 0)
		FUZZ_CHECK(claims.until_ms > rules.wall_ms && claims.scope &&
			   (claims.subject[0] || claims.client[0]));
	else
		FUZZ_CHECK(why.message[0]);
	mp_arena_done(&arena);
	return r;
}

/* The input is header LF claims. */
static void check_signed(struct mp_str all)
{
	const char *end = memchr(all.p, '\n', all.len);
	size_t n = end ? (size_t)(end - all.p) : 0;
	char *header, *claims;
	struct mp_buf token;

	if (!end || memchr(all.p, '\0', all.len))
		return;
	header = strndup(all.p, n);
	claims = strndup(end + 1, all.len - n - 1);
	mp_buf_init(&token, 1 << 20);
	FUZZ_CHECK(header && claims && issuer_add_token(&token, ISSUER_ED, header, claims));
	(void)verify(mp_buf_get(&token));
	mp_buf_done(&token);
	free(header);
	free(claims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str all = {(const char *)data, size};

	if (size > 8192)
		return 0;
	FUZZ_CHECK(verify(all) < 0);
	(void)mp_jwt_is_one(all);
	check_signed(all);
	return 0;
}
