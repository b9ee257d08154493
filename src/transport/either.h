/*
 * either.h - a remote server whose kind is only believed to be known: Streamable HTTP and the older
 * pair of GET and POST (sse) are tried one after the other.
 * What was configured goes first. Where that is not what the server speaks, the other one is tried
 * in the same life, and whoever asked is told what to write into the configuration.
 */
#ifndef MP_EITHER_H
#define MP_EITHER_H

#include "base/loop.h"
#include "transport/destination.h"
#include "transport/transport.h"

enum mp_either_kind { MP_EITHER_HTTP, MP_EITHER_SSE };
const char *mp_either_kind_get_name(enum mp_either_kind kind); /* "http", as configured */

struct mp_either_options {
	enum mp_either_kind first;
	/* The other kind than `first` has worked; may be NULL. */
	void (*turned_out)(void *u, enum mp_either_kind kind);
	void *u;
};

/* The destination is copied; the client is borrowed and outlives the transport. */
int mp_either_new(struct mp_loop *loop, struct mp_http_client *client,
		  const struct mp_destination *to, const struct mp_either_options *options,
		  struct mp_transport **ret_transport, struct mcpool_error *reterr) MP_MUST;

#endif
