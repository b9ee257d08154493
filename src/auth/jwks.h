/*
 * jwks.h - the public keys of an issuer (RFC 7517), as far as they can be used: RSA of 2048 to 8192
 * bits for RS256, P-256 for ES256, Ed25519 for EdDSA. The algorithm belongs to the key: a token
 * that names another one for it is refused, whatever it says.
 */
#ifndef MP_JWKS_H
#define MP_JWKS_H

#include "base/base.h"
#include "base/str.h"

enum mp_jwt_alg { MP_JWT_RS256, MP_JWT_ES256, MP_JWT_EDDSA, MP_JWT_ALGS };
enum { MP_JWKS_KEYS = 32, MP_JWKS_SIZE = 256 * 1024 }; /* of a set, at most: keys, bytes */

struct mp_jwks;
struct mp_jwk;

/* One of ours, or -1: `none`, HS256 and all others. */
int mp_jwt_alg_find(struct mp_str name);

/*
 * Keys that cannot be used are left out. MCPOOL_EPROTO with a sentence: it is not a set, or none is
 * left; MCPOOL_ENOMEM.
 */
int mp_jwks_read(struct mp_str text, struct mp_jwks **ret, struct mcpool_error *reterr) MP_MUST;
struct mp_jwks *mp_jwks_free(struct mp_jwks *set); /* accepts NULL, returns NULL */
static inline void mp_jwks_freep(struct mp_jwks **set)
{
	mp_jwks_free(*set);
}
size_t mp_jwks_count(const struct mp_jwks *set);

/*
 * The one key of this algorithm with this id; a token without an id (p is NULL) has the only key of
 * its algorithm. NULL: there is none, or there are several.
 */
const struct mp_jwk *mp_jwks_find(const struct mp_jwks *set, struct mp_str kid,
				  enum mp_jwt_alg alg);
/* Is this the signature of the text? ES256: r and s one behind the other, 64 bytes. */
bool mp_jwk_verify(const struct mp_jwk *key, struct mp_str text, struct mp_str signature);

#endif
