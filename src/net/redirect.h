/*
 * redirect.h - where an answer wants us to go instead, and what may come along (V37).
 * Nothing follows a redirect by itself. A POST of MCP or OAuth is not sent to another place at all:
 * that is the caller's to know; here is the judgement of two addresses.
 */
#ifndef MP_REDIRECT_H
#define MP_REDIRECT_H

#include "base/base.h"

enum { MP_REDIRECT_HOPS = 5 };

enum mp_redirect_kind {
	MP_REDIRECT_SAME, /* same scheme, host and port: everything may come along */
	MP_REDIRECT_BARE, /* another place: without credentials, cookies, session ids */
};

struct mp_redirect {
	enum mp_redirect_kind kind;
	char *url; /* absolute, without fragment; the caller frees it */
};

/* 301, 302, 307, 308: the same request belongs elsewhere. 303 would make a GET of a POST. */
static inline bool mp_redirect_is_status(int status)
{
	return status == 301 || status == 302 || status == 307 || status == 308;
}

/*
 * `location` as the header has it, maybe relative to `from`; hops: how many were followed before.
 * MCPOOL_EPERM when it may not be followed: https to plain http, other schemes, credentials in it;
 * MCPOOL_ELIMIT after too many; MCPOOL_EINVAL for an invalid address.
 */
int mp_redirect_judge(const char *from, const char *location, int hops, struct mp_redirect *ret,
		      struct mcpool_error *reterr) MP_MUST;

#endif
