/*
 * authorized.h - an exchange whose token may be renewed: what it needs to go again, and the refusal
 * that is passed on if it does not. Part of http_client.c's exchange.
 */
#ifndef MP_AUTHORIZED_H
#define MP_AUTHORIZED_H

#include "base/base.h"
#include "net/authorization.h"
#include "net/http_request.h"
#include "net/refusal.h"

struct mp_authorized {
	struct mp_authorization *from;  /* borrowed */
	struct mp_http_request request; /* texts are owned; without a body */
	struct mp_http_fields own;      /* headers without a token */
	unsigned token, refused;        /* see mp_authorization_refusal */
	struct mp_refusal refusal;
	enum mp_zone zone; /* of the address that refused */
	struct mp_authorization_waiter waiter;
	bool waits;
};

/* request->authorization must be there. NULL: no memory. */
struct mp_authorized *mp_authorized_new(const struct mp_http_request *request,
					void (*decided)(void *u, bool again,
							const struct mcpool_error *why),
					void *u);
struct mp_authorized *mp_authorized_free(struct mp_authorized *a); /* accepts NULL, returns NULL */

/*
 * The request with a token as it is now; borrows from a, and its headers from fields, which the
 * caller frees by mp_authorized_wipe(). Its body is the caller's.
 */
int mp_authorized_write(struct mp_authorized *a, struct mp_http_fields *fields,
			struct mp_http_request *ret) MP_MUST;
void mp_authorized_wipe(struct mp_http_fields *fields);
/* Is it a refusal that a token may change? Then it is kept. */
bool mp_authorized_take_head(struct mp_authorized *a, const struct mp_http_head *head);
/* The refusal is complete. True: decided() follows. */
bool mp_authorized_ask(struct mp_authorized *a);
/* It waits no longer; from now on it is not used. */
void mp_authorized_leave(struct mp_authorized *a);

#endif
