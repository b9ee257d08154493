/*
 * jwt_verify.h - is this JSON Web Token one of our issuer, for us, and valid now (RFC 7519, RFC
 * 8725, RFC 9068)? Nothing of a token is believed before its signature was checked, except which
 * key to check it with.
 */
#ifndef MP_JWT_VERIFY_H
#define MP_JWT_VERIFY_H

#include "auth/jwks.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

enum {
	MP_JWT_SIZE = 16 * 1024, /* bytes of a token, at most */
	MP_JWT_SKEW_MS = 60000,  /* by so much clocks may differ */
};

struct mp_jwt_rules {
	const char *issuer;           /* compared byte for byte */
	const char *const *audiences; /* a token is for one of these, byte for byte */
	size_t n_audiences;
	int64_t wall_ms;
};

/* Of a valid token; the arena's. */
struct mp_jwt_claims {
	const char *subject, *client; /* one of them may be "" */
	const char *scope;            /* words with blanks between; "" */
	int64_t until_ms;             /* when it stops to be valid, the skew included */
};

/* Does it look like one? Two dots, and nothing but base64url around them. */
bool mp_jwt_is_one(struct mp_str token);

/*
 * MCPOOL_EPERM with a reason that holds nothing of the token: refused. MCPOOL_ENOENT: the set has
 * not the key that it names, and perhaps a newer set has. MCPOOL_ENOMEM.
 */
int mp_jwt_verify(struct mp_str token, const struct mp_jwks *keys, const struct mp_jwt_rules *rules,
		  struct mp_arena *arena, struct mp_jwt_claims *ret,
		  struct mcpool_error *reterr) MP_MUST;

/* Is the word one of the scope? */
bool mp_jwt_has_scope(const char *scope, const char *word);

#endif
