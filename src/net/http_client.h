/*
 * http_client.h - HTTP as a client: libcurl driven from our loop.
 * One client object has one pool of connections. An exchange is started, tells what happens through
 * its hooks, and is done exactly once. Redirects are not followed, nothing is sent twice, and no
 * error holds a header, a body, or the user, path and query of a URL.
 */
#ifndef MP_HTTP_CLIENT_H
#define MP_HTTP_CLIENT_H

#include "base/base.h"
#include "base/ids.h"
#include "base/loop.h"
#include "base/str.h"
#include "net/http_head.h"
#include "net/http_request.h"

struct mp_http_client;

/*
 * All from the loop, never from within a function of this file. Any function may be called from
 * them. data and those after it may be NULL; done comes last.
 */
struct mp_http_hooks {
	/* The kernel has the whole request: from now on its fate is unknown without an answer. */
	void (*sent)(void *u);
	void (*head)(void *u, const struct mp_http_head *head); /* valid during the call */
	void (*data)(void *u, struct mp_str bytes);
	/* err is NULL for MP_HTTP_OK. */
	void (*done)(void *u, enum mp_http_end how, const struct mcpool_error *err);
};

int mp_http_client_new(struct mp_loop *loop, struct mp_http_client **ret_client) MP_MUST;
/* Exchanges under way are cancelled. Takes effect at the end of the turn. */
struct mp_http_client *mp_http_client_free(struct mp_http_client *c);
/*
 * No connection from before is used for what begins from now on; what is under way goes on and
 * finds out by itself. A client does so by itself when the machine has slept.
 */
void mp_http_client_woke(struct mp_http_client *c);
struct mp_loop *mp_http_client_get_loop(const struct mp_http_client *c);

/*
 * MCPOOL_EINVAL for an address that is not http, a header with a line break, or the like;
 * MCPOOL_ENOMEM. No hook is called then.
 */
int mp_http_start(struct mp_http_client *c, const struct mp_http_request *request,
		  const struct mp_http_hooks *hooks, void *u, mp_id *ret_id,
		  struct mcpool_error *reterr) MP_MUST;
/* No hook is called any more. An id that is gone is ignored. */
void mp_http_cancel(struct mp_http_client *c, mp_id id);

#endif
