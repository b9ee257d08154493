/*
 * oauth.h - what an entry says about its login: the keys `oauth` and `auth`, in the spellings of
 * other tools, too.
 */
#ifndef MP_OAUTH_H
#define MP_OAUTH_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum mp_oauth_grant {
	MP_OAUTH_CODE,        /* a person logs in with a browser */
	MP_OAUTH_CREDENTIALS, /* client_credentials */
	MP_OAUTH_ASSERTION,   /* jwt-bearer: the identity of a workload */
	MP_OAUTH_ENTERPRISE,  /* an identity provider vouches for the user */
};

struct mp_oauth {
	bool is_off;    /* "oauth": false */
	bool is_wanted; /* "auth": {"type": "oauth"}: it has a credential, or waits for one */
	enum mp_oauth_grant grant;
	int64_t callback_port; /* 0: any */
	/* NULL where there is none. */
	const char *credential; /* the name that it is kept under; NULL: the server's */
	const char *client_id, *client_secret, *client_metadata_url, *private_key;
	const char *scope, *resource, *redirect_uri;
	const char *issuer, *metadata_url, *authorization_url, *token_url;
	const char *assertion;
	const char *idp_token_url, *idp_client_id, *idp_client_secret, *idp_id_token;
};

/* Resolves one text of the entry; *ret is the arena's. */
typedef int (*mp_oauth_expand)(void *u, const char *name, const char *text, const char **ret);

/*
 * Either text may be empty. Texts are the arena's. MCPOOL_EINVAL with a sentence about what is
 * wrong; errors of expand.
 */
int mp_oauth_read(struct mp_str auth_json, struct mp_str oauth_json, struct mp_arena *arena,
		  mp_oauth_expand expand, void *u, struct mp_oauth *ret,
		  struct mcpool_error *reterr) MP_MUST;

/* Is everything there that its grant cannot do without? MCPOOL_EINVAL with a sentence. */
int mp_oauth_check(const struct mp_oauth *o, struct mcpool_error *reterr) MP_MUST;

/* Copies every text to the arena, whose error says if there was room. */
void mp_oauth_copy(const struct mp_oauth *from, struct mp_arena *arena, struct mp_oauth *to);

#endif
