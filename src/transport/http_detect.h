/*
 * http_detect.h - finds out whether a remote server speaks Streamable HTTP or the older HTTP+SSE.
 * The configured kind is tried first. If the server does not speak it, the other one is tried on
 * the same transport, and the user learns what to write into the configuration.
 */
#ifndef MP_HTTP_DETECT_H
#define MP_HTTP_DETECT_H

#include "base/loop.h"
#include "transport/destination.h"
#include "transport/transport.h"

enum mp_http_detect_kind { MP_HTTP_DETECT_HTTP, MP_HTTP_DETECT_SSE };
const char *mp_http_detect_kind_get_name(enum mp_http_detect_kind kind); /* "http", as configured */

struct mp_http_detect_options {
	enum mp_http_detect_kind first;
	/* The other kind than `first` has worked; may be NULL. */
	void (*turned_out)(void *u, enum mp_http_detect_kind kind);
	void *u;
};

/* The destination is copied; the client is borrowed and outlives the transport. */
int mp_http_detect_new(struct mp_loop *loop, struct mp_http_client *client,
		       const struct mp_destination *to,
		       const struct mp_http_detect_options *options,
		       struct mp_transport **ret_transport, struct mcpool_error *reterr) MP_MUST;

#endif
