/*
 * http_status.h - what a status means to the client: success, redirect, authentication, retry
 * later.
 */
#ifndef MP_HTTP_STATUS_H
#define MP_HTTP_STATUS_H

#include "base/base.h"
#include "net/http_head.h"

enum mp_http_status {
	MP_HTTP_FINE,     /* 2xx */
	MP_HTTP_MOVED,    /* 3xx: see redirect.h */
	MP_HTTP_LOCKED,   /* 401, 403: MCPOOL_ENEEDS_AUTH */
	MP_HTTP_ABSENT,   /* 404, 405, 410: MCPOOL_ENOENT */
	MP_HTTP_BUSY,     /* 429, 503: MCPOOL_EAGAIN, with what Retry-After says */
	MP_HTTP_FAULTY,   /* any other 5xx: MCPOOL_EIO */
	MP_HTTP_REJECTED, /* anything else: MCPOOL_EPROTO */
};

enum { MP_RETRY_AFTER_MAX_MS = 600 * 1000 }; /* a longer Retry-After is cut */

enum mp_http_status mp_http_status_of(int status);
/*
 * The words: who answered with what, and the beginning of what it said, without control characters
 * and secrets. place: "https://host"; body may be empty; wall_ms: now, for a Retry-After that is a
 * date.
 */
void mp_http_status_explain(const struct mp_http_head *head, struct mp_str body, const char *place,
			    int64_t wall_ms, struct mcpool_error *ret);
/* How long the answer asks us to wait; 0: it does not say. */
int mp_http_status_read_retry(const struct mp_http_head *head, int64_t wall_ms);

#endif
