/*
 * http_target.h - what can be said of a URL before connecting: may it be used, and through which
 * proxy?
 */
#ifndef MP_HTTP_TARGET_H
#define MP_HTTP_TARGET_H

#include "base/base.h"
#include "net/zone.h"

struct mp_http_target {
	char *url;         /* owned; NULL: none was read */
	bool plain;        /* http, not https */
	enum mp_zone zone; /* of an address; ANY: it is a name */
	const char *proxy; /* of the environment; NULL: none */
};

void mp_http_target_done(struct mp_http_target *t);
/* In place of the one that was read before. MCPOOL_EINVAL: no http or https; MCPOOL_ENOMEM. */
int mp_http_target_read(struct mp_http_target *t, const char *url,
			struct mcpool_error *reterr) MP_MUST;
/*
 * May a server in that zone send us there (V33)? What is a name is judged when its address is
 * known. MCPOOL_EPERM.
 */
int mp_http_target_judge(const struct mp_http_target *t, enum mp_zone from,
			 struct mcpool_error *reterr) MP_MUST;

/*
 * Only the proxy knows what a name resolves to. What answers there counts as the internet, so it
 * may not redirect us to a more private zone.
 */
static inline enum mp_zone mp_http_target_get_zone(const struct mp_http_target *t)
{
	return t->zone == MP_ZONE_ANY ? MP_ZONE_PUBLIC : t->zone;
}

#endif
