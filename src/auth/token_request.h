/*
 * token_request.h - a request to a token endpoint, and what its answer says.
 */
#ifndef MP_TOKEN_REQUEST_H
#define MP_TOKEN_REQUEST_H

#include "auth/credential.h"
#include "auth/jwt.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "net/http_fields.h"

enum mp_token_grant {
	MP_TOKEN_CODE,        /* authorization_code, with the verifier of PKCE */
	MP_TOKEN_REFRESH,     /* refresh_token */
	MP_TOKEN_CREDENTIALS, /* client_credentials */
	MP_TOKEN_ASSERTION,   /* jwt-bearer (RFC 7523) */
	MP_TOKEN_EXCHANGE,    /* token exchange at an identity provider (RFC 8693) */
};

struct mp_token_request {
	enum mp_token_grant grant;
	const char *endpoint;
	const struct mp_credential *client; /* client_*, issuer, resource, scope, refresh_token */
	const char *code, *verifier, *redirect_uri; /* CODE */
	const char *assertion;                      /* ASSERTION; EXCHANGE: the ID token */
	const char *audience;                       /* EXCHANGE: the issuer it is for */
	const struct mp_jwt_key *key;               /* of private_key_jwt; NULL: none */
	const struct mp_jwt_key *dpop;              /* NULL: no proof */
	const char *nonce;                          /* for the proof; NULL: none */
	int64_t wall_ms;
};

/* The form and the headers of the POST. */
int mp_token_request_write(const struct mp_token_request *q, struct mp_buf *body,
			   struct mp_http_fields *headers) MP_MUST;

/* Which client it is, with its secret if it has one. */
int mp_token_request_add_client(const struct mp_credential *c, struct mp_buf *body,
				struct mp_http_fields *headers) MP_MUST;

struct mp_token_answer {
	const char *access_token, *refresh_token, *scope;
	bool is_dpop;                    /* token_type */
	int64_t expires_in_s;            /* -1: not said */
	const char *error, *description; /* of a refusal; NULL: none */
};
/*
 * MCPOOL_EPROTO with a sentence: neither a token nor an error. Texts are the arena's.
 * An error in the answer is not an error of this function.
 */
int mp_token_answer_read(struct mp_str text, struct mp_arena *arena, struct mp_token_answer *ret,
			 struct mcpool_error *reterr) MP_MUST;

#endif
