/*
 * streamable.h - Streamable HTTP in both eras: each message is a POST, answers come on its way
 * back. Legacy servers may have a session and a standing stream (GET) beside it; modern ones have
 * neither, and want headers that repeat what a request says.
 */
#ifndef MP_STREAMABLE_H
#define MP_STREAMABLE_H

#include "base/loop.h"
#include "transport/destination.h"
#include "transport/transport.h"

/* The destination is copied; the client is borrowed and outlives the transport. */
int mp_streamable_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *to, struct mp_transport **ret_transport,
		      struct mcpool_error *reterr) MP_MUST;

#endif
