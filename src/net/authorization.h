/*
 * authorization.h - where the tokens of requests come from. Exchanges and WebSockets ask for a
 * header, and again when a request was refused. auth/account.c is the implementation.
 */
#ifndef MP_AUTHORIZATION_H
#define MP_AUTHORIZATION_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"
#include "net/http_fields.h"

/* A request that was answered 401 or 403. */
struct mp_authorization_refusal {
	int status;
	struct mp_str challenge; /* WWW-Authenticate; may be empty */
	struct mp_str nonce;     /* DPoP-Nonce; may be empty */
	unsigned token;          /* that the request carried, as add() said; 0: none */
	unsigned before;         /* how often it was refused before */
};

/* One that waits for a decision; part of its owner. */
struct mp_authorization_waiter {
	struct mp_link link; /* the implementation's */
	/*
	 * Once, from the loop, never from within refused(). again: send it with a new header; else
	 * the refusal stands, or, with why, a token could not be had at the moment.
	 */
	void (*decided)(void *u, bool again, const struct mcpool_error *why);
	void *u;
};

struct mp_authorization;

struct mp_authorization_ops {
	/* Is there a token, or could one come? If not, requests go as if there were none of this.
	 */
	bool (*is_used)(const struct mp_authorization *a);
	/*
	 * Add the headers for this request; nothing if there is no token. *ret_token: a number for
	 * it, which changes with the token.
	 */
	int (*add)(struct mp_authorization *a, const char *method, const char *url,
		   struct mp_http_fields *fields, unsigned *ret_token);
	/* True: wait for decided(). False: the refusal stands. */
	bool (*refused)(struct mp_authorization *a, const struct mp_authorization_refusal *refusal,
			struct mp_authorization_waiter *waiter);
	/* It waits no longer. */
	void (*leave)(struct mp_authorization *a, struct mp_authorization_waiter *waiter);
};

struct mp_authorization {
	const struct mp_authorization_ops *ops;
};

#endif
