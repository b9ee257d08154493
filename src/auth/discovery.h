/*
 * discovery.h - finds out who issues tokens for a server, and where: RFC 9728, then RFC 8414 or
 * OpenID, then the paths of 2025-03-26. It names one document at a time; its owner fetches that and
 * says what came. No input or output here.
 */
#ifndef MP_DISCOVERY_H
#define MP_DISCOVERY_H

#include "auth/fetch.h"
#include "auth/metadata.h"
#include "base/arena.h"
#include "base/base.h"
#include "config/values/oauth.h"
#include "net/url.h"

enum mp_discovery_next {
	MP_DISCOVERY_FETCH, /* the document at mp_discovery_get_url() */
	MP_DISCOVERY_DONE,  /* issuer is known */
	MP_DISCOVERY_FAILED,
};

/* Borrows all that begin() is given; texts are the arena's. */
struct mp_discovery {
	struct mp_arena *arena;
	const struct mp_url *server; /* whole NULL: a process */
	const struct mp_oauth *oauth;
	const char *named; /* the document that the server's challenge names; NULL: none */
	bool is_issuer;    /* the present document is the issuer's, else the resource's */
	const char *places[MP_METADATA_PLACES + 1];
	size_t n_places, place;
	bool is_legacy;    /* no issuer is named: as in 2025-03-26, the server is its own */
	bool is_given;     /* the user named the issuer's document */
	enum mp_zone zone; /* of the server; ANY: not known yet */

	/* What was found. */
	bool has_resource;
	struct mp_resource_metadata resource;
	const char *issuer_name;
	struct mp_issuer_metadata issuer;
};

/* d->arena, server, oauth and named are set. */
enum mp_discovery_next mp_discovery_begin(struct mp_discovery *d, struct mcpool_error *reterr);
const char *mp_discovery_get_url(const struct mp_discovery *d);
enum mp_discovery_next mp_discovery_take(struct mp_discovery *d, const struct mp_fetch_answer *a,
					 struct mcpool_error *reterr);
/* B68: no endpoints, and what to do; returns MP_DISCOVERY_FAILED. */
enum mp_discovery_next mp_discovery_lack(const struct mp_discovery *d, const char *why,
					 struct mcpool_error *reterr);

#endif
