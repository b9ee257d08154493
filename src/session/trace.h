/*
 * trace.h - the trace context of a request on its way to a server.
 */
#ifndef MP_SESSION_TRACE_H
#define MP_SESSION_TRACE_H

#include "rpc/trace.h"
#include "session/request.h"

/* What came with the HTTP request of e, as members of `_meta`; kept with e if it is valid. */
void mp_request_keep_trace(struct mp_request *e, const struct mp_trace_texts *headers);

/*
 * meta: what `_meta` of the agent says that the server gets; empty: nothing. What the headers said
 * is added if it has no context of its own. With tracing our span becomes the server's parent; it
 * is in *ret.
 */
int mp_request_trace(struct mp_request *e, struct mp_buf *meta, struct mp_trace *ret) MP_MUST;

#endif
