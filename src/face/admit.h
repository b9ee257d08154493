/*
 * admit.h - decides whether an HTTP request is admitted; one function for all routes.
 * Host must be one of our names with our port, Origin absent or ours, and the token valid where the
 * route requires one. The check gets the route and the request that are then served, never a copy
 * of either (V15). The identity of a client follows from the token alone (V18).
 */
#ifndef MP_ADMIT_H
#define MP_ADMIT_H

#include "base/base.h"
#include "base/loop.h"
#include "http/http_service.h"
#include "http/inbound.h"
#include "face/routes.h"
#include "face/http_token.h"

struct sockaddr;

enum { MP_ADMIT_HOSTS = 6, MP_ADMIT_HOST = 264 };

struct mp_admit {
	struct mp_loop *loop;
	int64_t looked_us; /* turn in which the token file was last checked */
	bool needs_token;
	bool is_secure; /* TLS: our origin starts with https */
	struct mp_http_token token;
	char principal[8 + MP_HTTP_TOKEN_MARK];
	char hosts[MP_ADMIT_HOSTS][MP_ADMIT_HOST]; /* "127.0.0.1:7717" */
	size_t n_hosts;
};

struct mp_admit_options {
	struct mp_loop *loop;   /* NULL: check the token file at each request */
	const char *token_path; /* path of the token file; not used without a token */
	bool no_token;
	bool is_secure;
	const char *name;               /* another name of this host, without port; NULL: none */
	const struct sockaddr *address; /* address we listen on, with the actual port */
};

/* Is it a wildcard address? */
bool mp_admit_is_everywhere(const struct sockaddr *address);

/*
 * MCPOOL_EPERM: a token or TLS is missing on an address that other machines can reach. The error
 * text says what to do.
 */
int mp_admit_init(struct mp_admit *a, const struct mp_admit_options *o,
		  struct mcpool_error *reterr) MP_MUST;
void mp_admit_done(struct mp_admit *a);

/* True: admitted, *ret_admission is set. False: *ret_refusal has the status. */
bool mp_admit_judge(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		    struct mp_http_admission *ret_admission, struct mp_http_refusal *ret_refusal);
/* Check whether the token changed. Returns the season in which admissions are valid. */
uint64_t mp_admit_get_season(struct mp_admit *a);

#endif
