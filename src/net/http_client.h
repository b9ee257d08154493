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
#include "net/zone.h"

struct mp_http_client;

enum { MP_HTTP_CONNECT_MS = 30000 };

enum mp_http_end {
	MP_HTTP_OK,       /* the answer is complete, whatever its status */
	MP_HTTP_RESOLVE,  /* no address for the name */
	MP_HTTP_CONNECT,  /* nobody listens there, or no way leads there */
	MP_HTTP_TLS,      /* no secure connection: certificates, versions */
	MP_HTTP_TIMEOUT,  /* one of the three limits */
	MP_HTTP_CLOSED,   /* the connection ended before the answer did */
	MP_HTTP_PROTOCOL, /* what came is not HTTP */
	MP_HTTP_LIMIT,    /* a header block without end */
	MP_HTTP_ZONE,     /* the address is more private than allowed */
};

/* Borrowed by mp_http_start() until it returns. */
struct mp_http_request {
	const char *method; /* NULL: POST with a body, GET without */
	const char *url;
	const struct mp_http_header *headers;
	size_t n_headers;
	struct mp_str body;
	int64_t connect_ms;               /* until there is a connection, names and TLS included; 0:
					     MP_HTTP_CONNECT_MS */
	int64_t idle_ms;                  /* without a byte in either direction; 0: no limit */
	int64_t total_ms;                 /* for everything; 0: no limit */
	const char *ca_file;              /* trusted beside the system's; NULL: none */
	const char *cert_file, *key_file; /* who we are; NULL: nobody in particular */
	bool is_quiet;                    /* little will come at a time: a small buffer will do */
	enum mp_zone from; /* where the URL came from: a server in that zone; ANY: from the user */
};

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
 * MCPOOL_EINVAL for what is no http address, a header that would be two, or the like;
 * MCPOOL_ENOMEM; the hooks then stay silent.
 */
int mp_http_start(struct mp_http_client *c, const struct mp_http_request *request,
		  const struct mp_http_hooks *hooks, void *u, mp_id *ret_id,
		  struct mcpool_error *reterr) MP_MUST;
/* No hook is called any more. An id that is gone is no mistake, here and below. */
void mp_http_cancel(struct mp_http_client *c, mp_id id);

#endif
