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
#include "net/address_list.h"
#include "face/browser_logins.h"
#include "face/routes.h"
#include "face/holders.h"
#include "face/http_token.h"
#include "face/named_tokens.h"
#include "face/oauth_resource.h"

struct sockaddr;

enum { MP_ADMIT_HOSTS = 6, MP_ADMIT_HOST = 264 };

struct mp_admit {
	struct mp_loop *loop;
	int64_t looked_us; /* turn in which the token file was last checked */
	bool needs_token;
	bool is_secure; /* TLS: our origin starts with https */
	struct mp_http_token token;
	mp_id owner; /* the holder of that token, or of none where none is needed */
	struct mp_named_tokens named;
	struct mp_oauth_resource *oauth; /* owned; NULL: no issuer is configured */
	struct mp_holders holders;
	struct mp_browser_logins logins;           /* without a path: there is no dashboard */
	struct mp_address_list metrics_from;       /* need no token for metrics */
	char hosts[MP_ADMIT_HOSTS][MP_ADMIT_HOST]; /* "127.0.0.1:7717" */
	size_t n_hosts;
};

struct mp_admit_options {
	struct mp_loop *loop;            /* NULL: check the token file at each request */
	const char *token_path;          /* path of the token file; not used without a token */
	struct mp_db *db;                /* named tokens; borrowed; NULL: there are none */
	struct mp_str oauth;             /* http.oauth, JSON; needs loop; empty: none */
	const char *const *metrics_from; /* http.metricsFrom; borrowed during the call */
	size_t n_metrics_from;
	void (*judge_again)(void *u); /* what was deferred can be judged; from the loop */
	void *u;
	const char *logins_path; /* the key of browser logins; NULL: there is no dashboard */
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

/*
 * peer: where the connection comes from. True: admitted, *ret_admission is set. False: *ret_refusal
 * has the status; 0: it cannot be told yet, because the key of its token is being fetched.
 * judge_again() follows.
 */
bool mp_admit_judge(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		    const struct mp_address *peer, struct mp_http_admission *ret_admission,
		    struct mp_http_refusal *ret_refusal);
/*
 * Check whether tokens changed or expired. Returns a number that grows with each holder whose token
 * is not valid any more.
 */
uint64_t mp_admit_look(struct mp_admit *a);
/* Its token was valid when the request came, and is not any more. */
void mp_admit_refuse_late(struct mp_admit *a, const struct mp_inbound *in,
			  struct mp_http_refusal *ret_refusal);
/* Whose request this is; NULL: the token it came with is not valid any more. */
const struct mp_holder *mp_admit_find_holder(const struct mp_admit *a,
					     const struct mp_http_admission *admission);

#endif
