/*
 * jwt.h - signs JSON Web Tokens with OpenSSL: assertions of a client (RFC 7523) and DPoP proofs
 * (RFC 9449). The algorithm follows from the key: ES256, RS256 or EdDSA.
 */
#ifndef MP_JWT_H
#define MP_JWT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_jwt_key;

/* A new key on P-256. MCPOOL_ENOMEM. */
int mp_jwt_key_make(struct mp_jwt_key **ret) MP_MUST;
/* A private key in PEM: P-256, RSA of at least 2048 bits, Ed25519. MCPOOL_EINVAL. */
int mp_jwt_key_read(struct mp_str pem, struct mp_jwt_key **ret,
		    struct mcpool_error *reterr) MP_MUST;
struct mp_jwt_key *mp_jwt_key_free(struct mp_jwt_key *k); /* accepts NULL, returns NULL */
/* Adds the private key in PEM (PKCS #8). */
int mp_jwt_key_write(const struct mp_jwt_key *k, struct mp_buf *out) MP_MUST;

int mp_base64url_add(struct mp_buf *out, const void *bytes, size_t n) MP_MUST;
/* Adds the SHA-256 of a text in base64url: for PKCE and for proofs. */
int mp_jwt_add_hash(const char *text, struct mp_buf *out) MP_MUST;

/* Adds a signed token. header: members besides alg, such as `"typ":"JWT"`; claims: an object. */
int mp_jwt_sign(const struct mp_jwt_key *k, struct mp_str header, struct mp_str claims,
		struct mp_buf *out) MP_MUST;

/* What a client says of itself at the token endpoint (private_key_jwt). */
int mp_jwt_write_assertion(const struct mp_jwt_key *k, const char *client_id, const char *audience,
			   int64_t wall_ms, struct mp_buf *out) MP_MUST;

struct mp_jwt_proof {
	const char *method, *url; /* query and fragment are left out */
	const char *nonce;        /* of the server; NULL: none */
	const char *token;        /* the access token it comes with; NULL: none */
	int64_t wall_ms;
};
/* A DPoP proof; the key must be on P-256. */
int mp_jwt_write_proof(const struct mp_jwt_key *k, const struct mp_jwt_proof *p,
		       struct mp_buf *out) MP_MUST;

#endif
