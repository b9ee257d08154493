/*
 * routes.h - the table of HTTP routes. Closed by default: a path outside the table is not found,
 * and a route without an access rule refuses every request.
 */
#ifndef MP_ROUTES_H
#define MP_ROUTES_H

#include "base/base.h"
#include "base/str.h"
#include "http/http_service.h"

struct mp_http_face;

enum mp_route_for {
	MP_ROUTE_FOR_NOBODY,
	MP_ROUTE_FOR_HOLDERS,  /* requires the token */
	MP_ROUTE_FOR_METRICS,  /* requires the token, or an address of http.metricsFrom */
	MP_ROUTE_FOR_VISITORS, /* requires a valid Host only: nothing secret, no effect */
	MP_ROUTE_FOR_PAGES,    /* requires to be asked by our own page */
	MP_ROUTE_FOR_BROWSERS, /* the same, and the cookie of a login */
};

struct mp_route {
	const char *path;
	unsigned verbs;    /* MP_VERB_*; HEAD where there is GET and a plain body */
	const char *allow; /* the same as a header value */
	enum mp_route_for who;
	void (*serve)(struct mp_http_face *f, struct mp_exchange *x);
};

/* Find a route, byte for byte; the not-found route for all other paths. Never NULL. */
const struct mp_route *mp_routes_find(struct mp_str path);
/* All routes; the last one is the not-found route. */
const struct mp_route *mp_routes_list(size_t *ret_n);

/* Does the route accept this method? false: *ret_refusal lists the allowed ones. */
bool mp_routes_allow(const struct mp_route *route, enum mp_http_method verb,
		     struct mp_http_refusal *ret_refusal);
/* Call the handler; the caller has admitted this request to this route (V15). */
void mp_routes_serve(struct mp_http_face *f, struct mp_exchange *x);

/* A text that says how to connect; that there is nothing. */
void mp_routes_serve_front(struct mp_http_face *f, struct mp_exchange *x);
void mp_routes_serve_nothing(struct mp_http_face *f, struct mp_exchange *x);

/* The handlers, each in its own file. */
void mp_http_face_serve_front(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_face_serve_dashboard(struct mp_http_face *f, struct mp_exchange *x);
void mp_mcp_endpoint_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_sse_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_sse_serve_message(struct mp_http_face *f, struct mp_exchange *x);
void mp_web_socket_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_metadata_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_metrics_serve(struct mp_http_face *f, struct mp_exchange *x);
void mp_metrics_serve_ready(struct mp_http_face *f, struct mp_exchange *x);

#endif
