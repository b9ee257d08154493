/*
 * admit.h - who may come in over HTTP: the one function that decides, for every route.
 * Host must be a name of ours with our port, Origin absent or our own, and a token where the route
 * wants one. It is asked with the route that will serve and with the request that will be served,
 * never with a copy of either (V15). Who somebody is follows from the token alone (V18).
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
	int64_t looked_us; /* the turn in which the token's file was last looked at */
	bool needs_token;
	bool is_secure; /* TLS: our origin begins with https */
	struct mp_http_token token;
	char principal[8 + MP_HTTP_TOKEN_MARK];
	char hosts[MP_ADMIT_HOSTS][MP_ADMIT_HOST]; /* "127.0.0.1:7717" */
	size_t n_hosts;
};

struct mp_admit_options {
	struct mp_loop *loop; /* whose turns count; NULL: the token's file is looked at each time */
	const char *token_path; /* of the file; not used without a token */
	bool no_token;
	bool is_secure;
	const char *name; /* another name we are called by, without port; NULL: none */
	const struct sockaddr *address; /* where we listen, the port being chosen */
};

/* It is all addresses of this machine. */
bool mp_admit_is_everywhere(const struct sockaddr *address);

/*
 * MCPOOL_EPERM for what must not be: without a token where others can come, or without TLS. Words
 * say what to do.
 */
int mp_admit_init(struct mp_admit *a, const struct mp_admit_options *o,
		  struct mcpool_error *reterr) MP_MUST;
void mp_admit_done(struct mp_admit *a);

/* True: admitted, as *ret_admission has it. False: *ret_refusal has the status. */
bool mp_admit_judge(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		    struct mp_http_admission *ret_admission, struct mp_http_refusal *ret_refusal);
/* Look whether the token changed; the season in which admissions are valid. */
uint64_t mp_admit_get_season(struct mp_admit *a);

#endif
