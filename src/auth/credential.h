/*
 * credential.h - what is kept of a login: the token, what renews it, and the client that a server
 * registered us as. One JSON text in the secret store.
 */
#ifndef MP_CREDENTIAL_H
#define MP_CREDENTIAL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_credential {
	/* NULL where there is none; owned by its arena or its caller. */
	const char *server_url; /* its tokens are sent there and nowhere else */
	const char *resource, *issuer, *token_endpoint, *revocation_endpoint;
	const char *client_id, *client_secret, *client_auth; /* of this issuer alone (V31) */
	const char *redirect_uri;                            /* that client was registered with */
	const char *access_token, *refresh_token;
	const char *scope;    /* that was asked for */
	const char *dpop_key; /* PEM; the token is bound to it */
	int64_t expires_ms;   /* on the wall clock; 0: not known */
};

/* Adds the JSON text. */
int mp_credential_write(const struct mp_credential *c, struct mp_buf *out) MP_MUST;
/* Texts are the arena's. MCPOOL_EPARSE: it is none; MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_credential_read(struct mp_str json, struct mp_arena *arena,
		       struct mp_credential *ret) MP_MUST;
/* Copies every text to the arena. */
int mp_credential_copy(const struct mp_credential *from, struct mp_arena *arena,
		       struct mp_credential *to) MP_MUST;

#endif
