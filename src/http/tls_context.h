/*
 * tls_context.h - who we are over TLS: a certificate and its key, from files, and what we speak.
 */
#ifndef MP_TLS_CONTEXT_H
#define MP_TLS_CONTEXT_H

#include "base/base.h"

struct mp_tls_context {
	struct ssl_ctx_st *ctx; /* OpenSSL's; owned */
};

/*
 * A certificate (with its chain) and its key, as PEM files. MCPOOL_EINVAL with words that name the
 * file and say what to do. A pass phrase is never asked for.
 */
int mp_tls_context_new(const char *cert, const char *key, struct mp_tls_context **ret_context,
		       struct mcpool_error *reterr) MP_MUST;
/* Wires that were opened with it go on. Accepts NULL, returns NULL. */
struct mp_tls_context *mp_tls_context_free(struct mp_tls_context *c);

#endif
