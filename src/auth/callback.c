/*
 * callback.c - the address on this machine that a browser is sent back to.
 * Other pages and programs can reach it, too: only a GET of the one path with our own host counts,
 * and the login compares its state (V34).
 */
#include "auth/callback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "http/http_listener.h"
#include "http/http_service.h"

#define PATH "/callback"
enum { URI = 64 };

struct mp_callback {
	struct mp_loop *loop;
	struct mp_http_listener *listener;
	struct mp_http_service service;
	mp_callback_fn fn;
	void *u;
	int port;
	char uri[URI];
	struct mp_grave grave;
};

static const struct mp_http_refusal not_here = {404, "there is nothing here", NULL};

/* A page elsewhere whose name leads here has another Host (V13). */
static bool callback_is_own(const struct mp_callback *c, struct mp_str host)
{
	char by_number[URI], by_name[URI];

	snprintf(by_number, sizeof(by_number), "127.0.0.1:%d", c->port);
	snprintf(by_name, sizeof(by_name), "localhost:%d", c->port);
	return mp_str_eq(host, mp_str_of(by_number)) || mp_str_eq(host, mp_str_of(by_name));
}

static void callback_judge(void *u, struct mp_exchange *x)
{
	if (mp_inbound_get_verb(x->in) != MP_HTTP_METHOD_GET ||
	    !mp_str_eq(mp_inbound_get_path(x->in), MP_STR(PATH)) ||
	    !callback_is_own(u, mp_inbound_get(x->in, MP_FIELD_HOST)))
		x->refusal = not_here;
	else
		x->admission.route = u; /* there is one, so only that it was judged counts */
}

static void callback_show(struct mp_exchange *x, const char *problem)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf page;
	struct mp_http_answer answer = {
		.status = problem ? 400 : 200,
		.type = "text/html; charset=utf-8",
		.headers =
			"Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
			"X-Content-Type-Options: nosniff\r\n"
			"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n",
	};

	mp_buf_init(&page, MP_KIB(4));
	/* The problem is one of our own sentences; nothing of the request is shown. */
	if (mp_buf_addf(&page,
			"<!doctype html><meta "
			"charset=utf-8><title>mcpool</title>\n<h1>%s</h1>\n<p>%s</p>\n",
			problem ? "This login did not work" : "Thank you",
			problem ? problem
				: "mcpool has its answer. You may close this window and go back to "
				  "the terminal.") < 0)
		mp_buf_clear(&page);
	answer.body = mp_buf_get(&page);
	x->keeps_alive = false;
	mp_exchange_answer(x, &answer);
}

static void callback_serve(void *u, struct mp_exchange *x)
{
	struct mp_callback *c = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf url;

	mp_buf_init(&url, MP_KIB(16));
	if (mp_buf_addf(&url, "%s?%.*s", c->uri, MP_STR_ARGS(mp_inbound_get_query(x->in))) < 0 ||
	    mp_buf_terminate(&url) < 0) {
		callback_show(x, "The address is too long.");
		return;
	}
	callback_show(x, c->fn(c->u, url.data));
}

static const struct mp_http_hooks_of_service callback_hooks = {callback_judge, callback_serve};

static void callback_arrived(void *u, struct mp_conn *conn)
{
	struct mp_callback *c = u;

	mp_http_service_take(&c->service, conn);
}

int mp_callback_new(struct mp_loop *loop, int64_t port, mp_callback_fn fn, void *u,
		    struct mp_callback **ret, struct mcpool_error *reterr)
{
	struct mp_callback *c = mp_alloc(sizeof(*c));
	char listen[URI];
	struct mp_http_listener_options options = {
		.loop = loop, .listen = listen, .arrived = callback_arrived, .u = c};
	struct mcpool_error why;
	int r;

	snprintf(listen, sizeof(listen), "127.0.0.1:%d", (int)port);
	*c = (struct mp_callback){.loop = loop, .fn = fn, .u = u};
	r = mp_http_listener_new(&options, &c->listener, &why);
	if (r < 0) {
		mp_free(c);
		return mp_fail_because(reterr, r, &why, "the browser cannot come back to %s: %s",
				       listen, why.message);
	}
	c->port = ntohs(((const struct sockaddr_in *)(const void *)mp_http_listener_get_address(
				 c->listener))
				->sin_port);
	snprintf(c->uri, sizeof(c->uri), "http://127.0.0.1:%d" PATH, c->port);
	mp_http_service_init(&c->service, loop, &callback_hooks, c);
	mp_http_listener_open(c->listener);
	*ret = c;
	return 0;
}

static void callback_gone(struct mp_grave *grave)
{
	struct mp_callback *c = mp_container_of(grave, struct mp_callback, grave);

	mp_http_service_done(&c->service);
	mp_free(c);
}

/* The page that is being answered is written before it goes. */
struct mp_callback *mp_callback_free(struct mp_callback *c)
{
	if (!c)
		return NULL;
	mp_http_listener_close(c->listener);
	c->listener = mp_http_listener_free(c->listener);
	mp_loop_bury(c->loop, &c->grave, callback_gone);
	return NULL;
}

const char *mp_callback_get_uri(const struct mp_callback *c)
{
	return c->uri;
}
