/*
 * authorized.c - an exchange whose token may be renewed.
 */
#include "net/authorized.h"

#include "base/mem.h"

enum { TIMES = 3 }; /* a request goes again at most: a new token, more scopes, a nonce */

static char *dup_or_null(const char *text)
{
	return text ? mp_dup(text) : NULL;
}

static int copy_fields(struct mp_http_fields *to, const struct mp_http_header *h, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_http_fields_add(to, h[i].name, h[i].value);
	return r;
}

struct mp_authorized *mp_authorized_new(const struct mp_http_request *request,
					void (*decided)(void *u, bool again,
							const struct mcpool_error *why),
					void *u)
{
	struct mp_authorized *a = mp_alloc(sizeof(*a));

	a->from = request->authorization;
	a->request = *request;
	a->request.body = (struct mp_str){NULL, 0};
	a->request.method = dup_or_null(request->method);
	a->request.url = mp_dup(request->url);
	a->request.ca_file = dup_or_null(request->ca_file);
	a->request.cert_file = dup_or_null(request->cert_file);
	a->request.key_file = dup_or_null(request->key_file);
	a->waiter.decided = decided;
	a->waiter.u = u;
	mp_http_fields_init(&a->own);
	mp_refusal_init(&a->refusal);
	if (copy_fields(&a->own, request->headers, request->n_headers) < 0)
		return mp_authorized_free(a);
	mp_http_fields_shrink(&a->own);
	return a;
}

/* These are ours to free, though a request borrows its texts. */
static void free_text(const char *text)
{
	mp_free((void *)(uintptr_t)text);
}

void mp_authorized_leave(struct mp_authorized *a)
{
	if (a->waits)
		a->from->ops->leave(a->from, &a->waiter);
	a->waits = false;
}

struct mp_authorized *mp_authorized_free(struct mp_authorized *a)
{
	if (!a)
		return NULL;
	mp_authorized_leave(a);
	free_text(a->request.method);
	free_text(a->request.url);
	free_text(a->request.ca_file);
	free_text(a->request.cert_file);
	free_text(a->request.key_file);
	mp_http_fields_done(&a->own);
	mp_refusal_done(&a->refusal);
	return mp_free(a);
}

int mp_authorized_write(struct mp_authorized *a, struct mp_http_fields *fields,
			struct mp_http_request *ret)
{
	const char *method = a->request.method;
	size_t n;
	const struct mp_http_header *h = mp_http_fields_get(&a->own, &n);
	int r = copy_fields(fields, h, n);

	if (r == 0)
		r = a->from->ops->add(a->from, method ? method : "POST", a->request.url, fields,
				      &a->token);
	*ret = a->request;
	ret->headers = mp_http_fields_get(fields, &ret->n_headers);
	return r;
}

void mp_authorized_wipe(struct mp_http_fields *fields)
{
	if (fields->text.data)
		mp_wipe(fields->text.data, fields->text.cap);
	mp_http_fields_done(fields);
}

bool mp_authorized_take_head(struct mp_authorized *a, const struct mp_http_head *head)
{
	if (head->status != 401 && head->status != 403)
		return false;
	mp_refusal_begin(&a->refusal, head);
	a->zone = head->zone;
	return true;
}

bool mp_authorized_ask(struct mp_authorized *a)
{
	struct mp_http_head head = mp_refusal_get_head(&a->refusal);
	struct mp_authorization_refusal refusal = {
		.status = head.status,
		.challenge = mp_refusal_get_challenge(&a->refusal),
		.nonce = mp_http_head_find(&head, MP_STR("DPoP-Nonce")),
		.token = a->token,
		.before = a->refused,
	};

	a->waits = a->refused++ < TIMES && a->from->ops->refused(a->from, &refusal, &a->waiter);
	return a->waits;
}
