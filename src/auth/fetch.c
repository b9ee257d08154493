/*
 * fetch.c - one request of a login, and its whole answer.
 */
#include "auth/fetch.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/redirect.h"

enum { CONNECT_MS = 10000, TOTAL_MS = 20000 };

static void fetch_finish(struct mp_fetch *f)
{
	struct mp_fetch_answer answer = {
		.status = f->status,
		.body = mp_buf_get(&f->body),
		.nonce = mp_buf_get(&f->nonce),
		.zone = f->zone,
		.why = f->why,
	};

	f->exchange = 0;
	f->fn(f->u, &answer); /* may start the next one, or free the owner */
}

/* A copy of a header, which is no longer there when the answer is complete. */
static void fetch_keep(struct mp_buf *to, struct mp_str value)
{
	mp_buf_clear(to);
	if (mp_buf_add_str(to, value) < 0)
		mp_buf_clear(to);
}

/* Where a GET goes instead; NULL: nowhere. */
static char *fetch_find_next(struct mp_fetch *f, const struct mp_http_head *head)
{
	struct mp_str location = mp_str_trim(mp_http_head_find(head, MP_STR("Location")));
	struct mp_redirect to = {.url = NULL};
	char *text;
	int r;

	if (!f->is_get || !mp_redirect_is_status(head->status) || location.len == 0 ||
	    memchr(location.p, '\0', location.len))
		return NULL;
	text = mp_alloc(location.len + 1);
	memcpy(text, location.p, location.len);
	r = mp_redirect_judge(f->url, text, f->hops, &to, NULL);
	mp_free(text);
	return r < 0 ? NULL : to.url;
}

static void fetch_head(void *u, const struct mp_http_head *head)
{
	struct mp_fetch *f = u;
	char *next = fetch_find_next(f, head);

	f->status = head->status;
	f->zone = head->zone;
	fetch_keep(&f->nonce, mp_http_head_find(head, MP_STR("DPoP-Nonce")));
	f->is_moved = next != NULL;
	if (next) {
		mp_free(f->url);
		f->url = next;
	}
}

static void fetch_data(void *u, struct mp_str bytes)
{
	struct mp_fetch *f = u;

	if (f->is_moved || f->status == 0 || mp_buf_add_str(&f->body, bytes) == 0)
		return;
	f->status = 0; /* what comes later is dropped, and the whole is a failure */
	(void)mp_fail(&f->why, MCPOOL_ETOO_LARGE, "the answer is too large");
}

static void fetch_go(struct mp_fetch *f, struct mp_http_request request);

static void fetch_over(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_fetch *f = u;
	struct mp_http_request again = f->request;

	f->exchange = 0;
	if (how != MP_HTTP_OK) {
		f->status = 0;
		f->why = *err;
	} else if (f->is_moved) {
		f->hops++;
		if (f->zone != MP_ZONE_ANY && again.from == MP_ZONE_ANY)
			again.from = f->zone; /* the address came from a server there */
		fetch_go(f, again);
		return;
	}
	fetch_finish(f);
}

static const struct mp_http_hooks fetch_hooks = {
	.head = fetch_head, .data = fetch_data, .done = fetch_over};

static void fetch_go(struct mp_fetch *f, struct mp_http_request request)
{
	f->status = 0;
	f->is_moved = false;
	f->request = request;
	f->request.body = (struct mp_str){NULL, 0};
	mp_buf_clear(&f->body);
	mp_buf_clear(&f->nonce);
	request.url = f->url;
	request.connect_ms = CONNECT_MS;
	request.total_ms = TOTAL_MS;
	request.headers = mp_http_fields_get(&f->headers, &request.n_headers);
	if (mp_http_start(f->client, &request, &fetch_hooks, f, &f->exchange, &f->why) < 0)
		mp_loop_post(mp_http_client_get_loop(f->client), &f->failed);
}

static void fetch_tell_failed(void *u)
{
	fetch_finish(u);
}

void mp_fetch_init(struct mp_fetch *f, struct mp_http_client *client, mp_fetch_fn fn, void *u)
{
	*f = (struct mp_fetch){.client = client, .fn = fn, .u = u};
	mp_buf_init(&f->body, MP_FETCH_MAX);
	mp_buf_init(&f->nonce, MP_KIB(1));
	mp_http_fields_init(&f->headers);
	mp_task_init(&f->failed, fetch_tell_failed, f);
}

void mp_fetch_done(struct mp_fetch *f)
{
	if (!f->client)
		return;
	if (f->exchange)
		mp_http_cancel(f->client, f->exchange);
	mp_loop_unpost(mp_http_client_get_loop(f->client), &f->failed);
	f->url = mp_free(f->url);
	if (f->body.data)
		mp_wipe(f->body.data, f->body.cap); /* tokens */
	mp_buf_done(&f->body);
	mp_buf_done(&f->nonce);
	if (f->headers.text.data)
		mp_wipe(f->headers.text.data, f->headers.text.cap);
	mp_http_fields_done(&f->headers);
	f->client = NULL;
}

void mp_fetch_start(struct mp_fetch *f, const struct mp_http_request *request)
{
	char *url = mp_dup(request->url); /* it may be part of the old one */

	mp_check(f->exchange == 0);
	mp_free(f->url);
	f->url = url;
	f->hops = 0;
	f->is_get = !request->body.p;
	mp_http_fields_clear(&f->headers);
	for (size_t i = 0; i < request->n_headers; i++)
		if (mp_http_fields_add(&f->headers, request->headers[i].name,
				       request->headers[i].value) < 0)
			break; /* without memory the answer is a refusal */
	fetch_go(f, *request);
}
