/*
 * login_client.h - who we are at an authorization server: registration (RFC 7591), the way to
 * authenticate, the scopes to ask for.
 */
#ifndef MP_LOGIN_CLIENT_H
#define MP_LOGIN_CLIENT_H

#include "auth/credential.h"
#include "auth/fetch.h"
#include "auth/metadata.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

/* All may be NULL. */
struct mp_login_scope {
	const char *given;                    /* by the user */
	const char *challenged;               /* by the server, for this request */
	const char *before;                   /* asked for before; used if there is more */
	const char *more;                     /* needed now */
	const struct mp_bind_list *supported; /* by the resource */
	const struct mp_bind_list *issuer;    /* by the issuer */
};
/*
 * The challenge's, else all of the resource's, else none; what the user gave replaces both. All of
 * before and more are added, and offline_access where the issuer has it. *ret: the arena's; NULL:
 * none.
 */
int mp_login_client_choose_scope(const struct mp_login_scope *s, struct mp_arena *arena,
				 const char **ret) MP_MUST;

/* How we authenticate at the token endpoint; registered: what the registration says, or NULL. */
const char *mp_login_client_choose_auth(const struct mp_issuer_metadata *issuer, const char *secret,
					const char *registered);

/* Adds the registration request; redirect_uri and scope may be NULL. */
int mp_login_client_write(const struct mp_issuer_metadata *issuer, const char *redirect_uri,
			  const char *scope, struct mp_buf *out) MP_MUST;
/* Reads its answer into client_id, client_secret and client_auth. MCPOOL_EPROTO, MCPOOL_EPERM. */
int mp_login_client_read(const struct mp_fetch_answer *a, struct mp_arena *arena,
			 const struct mp_issuer_metadata *issuer, struct mp_credential *c,
			 struct mcpool_error *reterr) MP_MUST;

#endif
