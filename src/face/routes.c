/*
 * routes.c - the table of HTTP routes, and dispatch to their handlers.
 */
#include "face/routes.h"

/* --- handlers without a file of their own ---------------------------------------------------- */

static void serve_health(struct mp_http_face *f, struct mp_exchange *x)
{
	(void)f;
	mp_exchange_answer(x, &(struct mp_http_answer){200, "application/json", NULL,
						       MP_STR("{\"status\":\"ok\"}")});
}

/* For those that only ask whether the process is alive; it names nothing. */
static void serve_alive(struct mp_http_face *f, struct mp_exchange *x)
{
	(void)f;
	mp_exchange_answer(x, &(struct mp_http_answer){200, "text/plain; charset=utf-8", NULL,
						       MP_STR("ok\n")});
}

void mp_routes_serve_front(struct mp_http_face *f, struct mp_exchange *x)
{
	static const struct mp_str page = MP_STR(
		"mcpool runs here.\n\n"
		"Connect an agent:  mcpool connect AGENT\n"
		"See the servers:   mcpool status\n\n"
		"Other clients send MCP to /mcp on this address (older ones: /sse, /ws), each "
		"with\n"
		"the header `Authorization: Bearer TOKEN`. `mcpool token` shows the token.\n");

	(void)f;
	mp_exchange_answer(x,
			   &(struct mp_http_answer){200, "text/plain; charset=utf-8",
						    "X-Content-Type-Options: nosniff\r\n"
						    "Content-Security-Policy: default-src 'none'; "
						    "frame-ancestors 'none'\r\n",
						    page});
}

void mp_routes_serve_nothing(struct mp_http_face *f, struct mp_exchange *x)
{
	(void)f;
	mp_exchange_refuse(x, &(struct mp_http_refusal){404, "there is nothing here", NULL});
}

/* --- the table ------------------------------------------------------------------------------ */

#define PAGE (MP_HTTP_METHOD_GET | MP_HTTP_METHOD_HEAD)
#define EVERY                                                                          \
	(PAGE | MP_HTTP_METHOD_POST | MP_HTTP_METHOD_DELETE | MP_HTTP_METHOD_OPTIONS | \
	 MP_HTTP_METHOD_OTHER)

static const struct mp_route routes[] = {
	{"/mcp", MP_HTTP_METHOD_POST | MP_HTTP_METHOD_GET | MP_HTTP_METHOD_DELETE,
	 "Allow: GET, POST, DELETE\r\n", MP_ROUTE_FOR_HOLDERS, mp_mcp_endpoint_serve},
	{"/sse", MP_HTTP_METHOD_GET, "Allow: GET\r\n", MP_ROUTE_FOR_HOLDERS, mp_http_sse_serve},
	{"/messages", MP_HTTP_METHOD_POST, "Allow: POST\r\n", MP_ROUTE_FOR_HOLDERS,
	 mp_http_sse_serve_message},
	{"/ws", MP_HTTP_METHOD_GET, "Allow: GET\r\n", MP_ROUTE_FOR_HOLDERS, mp_web_socket_serve},
	{"/health", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_HOLDERS, serve_health},
	{"/healthz", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS, serve_alive},
	{"/readyz", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_METRICS, mp_metrics_serve_ready},
	{"/metrics", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_METRICS, mp_metrics_serve},
	{"/.well-known/oauth-protected-resource", PAGE, "Allow: GET, HEAD\r\n",
	 MP_ROUTE_FOR_VISITORS, mp_http_metadata_serve},
	{"/.well-known/oauth-protected-resource/mcp", PAGE, "Allow: GET, HEAD\r\n",
	 MP_ROUTE_FOR_VISITORS, mp_http_metadata_serve},
	{"/", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS, mp_http_face_serve_front},
	{"/dashboard.js", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS,
	 mp_http_face_serve_dashboard},
	{"/dashboard-chunk.js", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS,
	 mp_http_face_serve_dashboard},
	{"/dashboard-forms.js", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS,
	 mp_http_face_serve_dashboard},
	{"/dashboard.css", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS,
	 mp_http_face_serve_dashboard},
	{"/dashboard.svg", PAGE, "Allow: GET, HEAD\r\n", MP_ROUTE_FOR_VISITORS,
	 mp_http_face_serve_dashboard},
	{"/dashboard/login", MP_HTTP_METHOD_POST, "Allow: POST\r\n", MP_ROUTE_FOR_PAGES,
	 mp_http_face_serve_dashboard},
	{"/dashboard/session", MP_HTTP_METHOD_GET, "Allow: GET\r\n", MP_ROUTE_FOR_BROWSERS,
	 mp_http_face_serve_dashboard},
	{"/dashboard/logout", MP_HTTP_METHOD_POST, "Allow: POST\r\n", MP_ROUTE_FOR_BROWSERS,
	 mp_http_face_serve_dashboard},
	{"/dashboard/control", MP_HTTP_METHOD_GET, "Allow: GET\r\n", MP_ROUTE_FOR_BROWSERS,
	 mp_http_face_serve_dashboard},
	{NULL, EVERY, NULL, MP_ROUTE_FOR_VISITORS, mp_routes_serve_nothing},
};

const struct mp_route *mp_routes_list(size_t *ret_n)
{
	*ret_n = MP_ARRAY_LEN(routes);
	return routes;
}

const struct mp_route *mp_routes_find(struct mp_str path)
{
	size_t i = 0;

	while (routes[i].path && !mp_str_eq(path, mp_str_of(routes[i].path)))
		i++;
	return &routes[i];
}

bool mp_routes_allow(const struct mp_route *route, enum mp_http_method verb,
		     struct mp_http_refusal *ret_refusal)
{
	if ((route->verbs & verb) || !route->path)
		return true;
	*ret_refusal = (struct mp_http_refusal){405, "this is not done here", route->allow};
	if (verb == MP_HTTP_METHOD_OPTIONS) /* no CORS headers for other origins */
		*ret_refusal = (struct mp_http_refusal){204, NULL, route->allow};
	return false;
}

void mp_routes_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	const struct mp_route *route = mp_routes_find(mp_inbound_get_path(x->in));

	mp_check(x->admission.route == route);
	mp_check(route->who == MP_ROUTE_FOR_VISITORS || route->who == MP_ROUTE_FOR_PAGES ||
		 x->admission.principal ||
		 (route->who == MP_ROUTE_FOR_METRICS && x->admission.is_by_address));
	route->serve(f, x);
}
