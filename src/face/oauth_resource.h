/*
 * oauth_resource.h - the HTTP face as a protected resource of OAuth: its metadata (RFC 9728), its
 * challenges (RFC 6750), and the tokens of its issuer.
 */
#ifndef MP_OAUTH_RESOURCE_H
#define MP_OAUTH_RESOURCE_H

#include "auth/jwt_verify.h"
#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/loop.h"
#include "base/str.h"

struct mp_oauth_resource;

struct mp_oauth_resource_options {
	struct mp_loop *loop;     /* borrowed */
	struct mp_str settings;   /* http.oauth, JSON; copied */
	bool is_secure;           /* our addresses begin with https */
	const char *const *hosts; /* names with ports by which clients come; copied */
	size_t n_hosts;
	void (*judge_again)(void *u); /* from the loop: what was deferred can be judged */
	void *u;
};

/* MCPOOL_EINVAL with a sentence: the settings are wrong. */
int mp_oauth_resource_new(const struct mp_oauth_resource_options *o, struct mp_oauth_resource **ret,
			  struct mcpool_error *reterr) MP_MUST;
struct mp_oauth_resource *mp_oauth_resource_free(struct mp_oauth_resource *r); /* accepts NULL */

enum mp_oauth_verdict {
	MP_OAUTH_VALID,
	MP_OAUTH_INVALID,  /* 401 */
	MP_OAUTH_UNSCOPED, /* 403: it is valid, and lacks a scope */
	MP_OAUTH_LATER,    /* its key is being fetched; judge_again() follows */
	MP_OAUTH_NO_KEYS,  /* 503: the issuer does not answer */
};

/* Of a valid token: the claims, the arena's. */
enum mp_oauth_verdict mp_oauth_resource_judge(struct mp_oauth_resource *r, struct mp_str token,
					      struct mp_arena *arena, struct mp_jwt_claims *ret);

/*
 * Whose token it is, for people and as an identity: the subject, and a hash of subject and client
 * that tells two apart which are displayed alike.
 */
enum { MP_OAUTH_PRINCIPAL = 120 };
void mp_oauth_resource_name(const struct mp_jwt_claims *claims, char out[MP_OAUTH_PRINCIPAL]);

enum mp_oauth_challenge {
	MP_OAUTH_NEEDS_TOKEN, /* none was sent */
	MP_OAUTH_WRONG_TOKEN, /* invalid_token */
	MP_OAUTH_NEEDS_SCOPE, /* insufficient_scope, with all that are needed */
	MP_OAUTH_CHALLENGES,
};
/* The header line for clients of this host, one of those given; lives as long as r. */
const char *mp_oauth_resource_get_challenge(const struct mp_oauth_resource *r, struct mp_str host,
					    enum mp_oauth_challenge which);
/* Adds the metadata for clients of this host. */
int mp_oauth_resource_write(const struct mp_oauth_resource *r, struct mp_str host,
			    struct mp_buf *out) MP_MUST;

#endif
