/*
 * url.h - the parts of an http or https address, read by curl's own parser.
 */
#ifndef MP_URL_H
#define MP_URL_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_url {
	bool is_https, is_loopback;
	const char *origin; /* "https://host" or "https://host:8443", without a default port */
	const char *path;   /* begins with a slash */
	const char *whole;  /* written again by curl, without a fragment */
};

/*
 * MCPOOL_EINVAL: not an http or https address, or one with a user or a password in it;
 * MCPOOL_ELIMIT, MCPOOL_ENOMEM. Texts are the arena's.
 */
int mp_url_read(const char *text, struct mp_arena *arena, struct mp_url *ret) MP_MUST;
/* Secrets may be sent there: https, or this machine. */
static inline bool mp_url_is_safe(const struct mp_url *u)
{
	return u->is_https || u->is_loopback;
}

/* Every byte but the unreserved ones of RFC 3986 as %XX. */
int mp_url_escape(struct mp_str text, struct mp_buf *out) MP_MUST;
/* One member of a form or a query: "&" unless it is the first, name=value. */
int mp_url_add_member(struct mp_buf *out, const char *name, struct mp_str value) MP_MUST;
/*
 * The value of a member of the query of a URL, decoded ("+" is a blank); NULL: there is none, or it
 * occurs twice. The arena's.
 */
const char *mp_url_get_member(const char *url, const char *name, struct mp_arena *arena);

#endif
