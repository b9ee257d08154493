/*
 * refusal.c - an answer that is no, kept until it can be put into words.
 */
#include "net/refusal.h"

#include "net/http_status.h"

void mp_refusal_init(struct mp_refusal *r)
{
	r->status = 0;
	mp_http_fields_init(&r->fields);
	mp_buf_init(&r->body, MP_REFUSAL_BODY);
}

void mp_refusal_done(struct mp_refusal *r)
{
	mp_http_fields_done(&r->fields);
	mp_buf_done(&r->body);
	r->status = 0;
}

void mp_refusal_begin(struct mp_refusal *r, const struct mp_http_head *head)
{
	r->status = head->status;
	mp_http_fields_clear(&r->fields);
	mp_buf_clear(&r->body);
	for (size_t i = 0; i < head->n_headers; i++)
		if (mp_http_fields_add(&r->fields, head->headers[i].name, head->headers[i].value) <
		    0)
			return; /* the status says the most important thing */
}

bool mp_refusal_add(struct mp_refusal *r, struct mp_str bytes)
{
	size_t room = MP_REFUSAL_BODY - r->body.len;

	if (bytes.len > room)
		bytes.len = room;
	return mp_buf_add_str(&r->body, bytes) == 0 && r->body.len < MP_REFUSAL_BODY;
}

struct mp_http_head mp_refusal_get_head(const struct mp_refusal *r)
{
	struct mp_http_head head = {.status = r->status};

	head.headers = mp_http_fields_get(&r->fields, &head.n_headers);
	return head;
}

void mp_refusal_explain(const struct mp_refusal *r, const char *place, int64_t wall_ms,
			struct mcpool_error *ret)
{
	struct mp_http_head head = mp_refusal_get_head(r);

	mp_http_status_explain(&head, mp_buf_get(&r->body), place, wall_ms, ret);
}

static bool is_for_tokens(struct mp_str challenge)
{
	struct mp_str scheme = {challenge.p, 7};

	return challenge.len >= 7 && mp_str_eq_nocase(scheme, MP_STR("Bearer "));
}

struct mp_str mp_refusal_get_challenge(const struct mp_refusal *r)
{
	struct mp_http_head head = mp_refusal_get_head(r);

	for (size_t i = 0; i < head.n_headers; i++)
		if (mp_str_eq_nocase(head.headers[i].name, MP_STR("WWW-Authenticate")) &&
		    is_for_tokens(head.headers[i].value))
			return head.headers[i].value;
	return mp_http_head_find(&head, MP_STR("WWW-Authenticate"));
}
