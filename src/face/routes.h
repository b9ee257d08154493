/*
 * routes.h - every place that can be asked for over HTTP. Closed by default: what is not in the
 * table is not there, and a row that says nothing of who may come is for nobody.
 */
#ifndef MP_ROUTES_H
#define MP_ROUTES_H

#include "base/base.h"
#include "base/str.h"
#include "http/http_service.h"

struct mp_http_face;

enum mp_route_for {
	MP_ROUTE_FOR_NOBODY,
	MP_ROUTE_FOR_HOLDERS,  /* of the token */
	MP_ROUTE_FOR_VISITORS, /* whoever calls us by our name: nothing secret, no effect */
};

struct mp_route {
	const char *path;
	unsigned verbs;    /* MP_VERB_*; HEAD where there is GET and a plain body */
	const char *allow; /* the same as a header line */
	enum mp_route_for who;
	void (*serve)(struct mp_http_face *f, struct mp_exchange *x);
};

/* The place, byte for byte; for all others one that is not there. Never NULL. */
const struct mp_route *mp_routes_find(struct mp_str path);
/* All of them, the last being the one that is not there. */
const struct mp_route *mp_routes_list(size_t *ret_n);

/* Is this done there? false: *ret_refusal says what is. */
bool mp_routes_allow(const struct mp_route *route, enum mp_http_method verb,
		     struct mp_http_refusal *ret_refusal);
/* Hand it to its handler; that it was admitted to this very place is a promise (V15). */
void mp_routes_serve(struct mp_http_face *f, struct mp_exchange *x);

/* The handlers, each in its file. */
void mp_mcp_endpoint_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_sse_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_sse_serve_message(struct mp_http_face *f, struct mp_exchange *x);
void mp_web_socket_serve(struct mp_http_face *f, struct mp_exchange *x);

#endif
