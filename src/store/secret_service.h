/*
 * secret_service.h - secrets in the Secret Service of the user's session: GNOME Keyring, KWallet,
 * KeePassXC. See the Secret Service API 0.2 (org.freedesktop.secrets). Nothing here asks the user
 * anything: what would need a prompt is refused. Blocking; each call to the bus takes 3 s at most.
 */
#ifndef MP_SECRET_SERVICE_H
#define MP_SECRET_SERVICE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_secret_service;

/*
 * A session with the service. *service: NULL, or one that rests, whose connection is used again if
 * it still works. 1: *service is there; 0: there is no bus or no service, or we cannot talk to it,
 * and *service is NULL. MCPOOL_ETIMEDOUT: it does not answer. MCPOOL_EPROTO, MCPOOL_ENOMEM.
 */
int mp_secret_service_open(struct mp_secret_service **service, struct mcpool_error *reterr) MP_MUST;
/* Ends the session; the connection stays. Accepts NULL. */
void mp_secret_service_rest(struct mp_secret_service *s);
/* Accepts NULL, returns NULL. */
struct mp_secret_service *mp_secret_service_free(struct mp_secret_service *s);
static inline void mp_secret_service_restp(struct mp_secret_service **s)
{
	mp_secret_service_rest(*s);
}

/* Why nothing can be saved now: the default keyring is locked, or missing. NULL: it can. */
const char *mp_secret_service_get_obstacle(const struct mp_secret_service *s);

/* Errors: MCPOOL_EPERM (locked, or it would prompt), MCPOOL_ETIMEDOUT, MCPOOL_EIO and
 * MCPOOL_EPROTO. */

/* Adds the value. MCPOOL_ENOENT. */
int mp_secret_service_get(struct mp_secret_service *s, const char *name, struct mp_buf *ret_value,
			  struct mcpool_error *reterr) MP_MUST;
int mp_secret_service_set(struct mp_secret_service *s, const char *name, struct mp_str value,
			  struct mcpool_error *reterr) MP_MUST;
/* 1: removed; 0: there was none. */
int mp_secret_service_remove(struct mp_secret_service *s, const char *name,
			     struct mcpool_error *reterr) MP_MUST;

/* saved_ms: wall clock; 0: not known. */
typedef void (*mp_secret_service_each)(void *u, const char *name, int64_t saved_ms);
/* All names of ours that are not locked. */
int mp_secret_service_list(struct mp_secret_service *s, mp_secret_service_each fn, void *u,
			   struct mcpool_error *reterr) MP_MUST;

#endif
