/*
 * issuer_keys.h - fetches the public keys of an issuer, and keeps them.
 * Nothing waits for the network: the caller is told when a fetch has ended, and asks again.
 */
#ifndef MP_ISSUER_KEYS_H
#define MP_ISSUER_KEYS_H

#include "auth/jwks.h"
#include "base/base.h"
#include "base/loop.h"

enum {
	MP_ISSUER_KEYS_LIMIT_MS = 8000,        /* for a fetch, metadata included */
	MP_ISSUER_KEYS_REST_MS = 60000,        /* between two fetches for a key that is not known */
	MP_ISSUER_KEYS_RETRY_MS = 5000,        /* after a failed one, while there are no keys */
	MP_ISSUER_KEYS_FRESH_MS = 3600 * 1000, /* older ones are fetched again, beside their use */
	MP_ISSUER_KEYS_USABLE_MS = 24 * 3600 * 1000, /* still older ones are not used */
};

struct mp_issuer_keys;

struct mp_issuer_keys_options {
	struct mp_loop *loop;   /* borrowed */
	const char *issuer;     /* copied, as the next */
	const char *jwks_uri;   /* NULL: as the metadata of the issuer says */
	void (*ended)(void *u); /* from the loop: a fetch has ended, with keys or without */
	void *u;
};

/* MCPOOL_EINVAL with a sentence: an address is neither https nor on this machine. */
int mp_issuer_keys_new(const struct mp_issuer_keys_options *o, struct mp_issuer_keys **ret,
		       struct mcpool_error *reterr) MP_MUST;
struct mp_issuer_keys *mp_issuer_keys_free(struct mp_issuer_keys *k); /* accepts NULL */

/* The keys at this moment; borrowed until the turn ends. NULL: there are none. */
const struct mp_jwks *mp_issuer_keys_get(struct mp_issuer_keys *k);
/* Newer ones are needed. True: a fetch is under way, ended() follows. False: one has just ended. */
bool mp_issuer_keys_fetch(struct mp_issuer_keys *k);

#endif
