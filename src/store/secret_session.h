/*
 * secret_session.h - how a secret is encrypted on its way to the Secret Service and back:
 * `dh-ietf1024-sha256-aes128-cbc-pkcs7`, as the Secret Service API (0.2, "Transfer of Secrets") has
 * it.
 */
#ifndef MP_SECRET_SESSION_H
#define MP_SECRET_SESSION_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum { MP_SECRET_DH = 128, MP_SECRET_IV = 16, MP_SECRET_AES = 16 }; /* bytes */

struct mp_secret_session {
	unsigned char private_key[MP_SECRET_DH];
	unsigned char key[MP_SECRET_AES]; /* set by finish */
};

/* A new private key, and the public key that goes to the service. MCPOOL_ENOMEM. */
int mp_secret_session_begin(struct mp_secret_session *s,
			    unsigned char ret_public[MP_SECRET_DH]) MP_MUST;
/* The key that both sides have now. MCPOOL_EPROTO: not a public key. MCPOOL_ENOMEM. */
int mp_secret_session_finish(struct mp_secret_session *s, struct mp_str their_public) MP_MUST;
void mp_secret_session_done(struct mp_secret_session *s); /* wipes it */

/* Adds to out, which has room before: growing would leave copies. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_secret_session_encrypt(const struct mp_secret_session *s, struct mp_str value,
			      unsigned char ret_iv[MP_SECRET_IV], struct mp_buf *out) MP_MUST;
/* MCPOOL_EPROTO: it was not encrypted with this key. */
int mp_secret_session_decrypt(const struct mp_secret_session *s, struct mp_str iv,
			      struct mp_str sealed, struct mp_buf *out) MP_MUST;

#endif
