/*
 * sse_legacy.h - HTTP+SSE as revision 2024-11-05 has it: one stream of events from the server,
 * which begins by naming the place where messages are posted.
 */
#ifndef MP_SSE_LEGACY_H
#define MP_SSE_LEGACY_H

#include "base/loop.h"
#include "net/http_client.h"
#include "transport/destination.h"
#include "transport/transport.h"

/*
 * ended() before opened(): MCPOOL_ENOENT or MCPOOL_EPROTO where no such stream is, so that another
 * transport may be tried; the other codes say nothing about that.
 */
int mp_sse_legacy_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *destination, struct mp_transport **ret,
		      struct mcpool_error *reterr) MP_MUST;

#endif
