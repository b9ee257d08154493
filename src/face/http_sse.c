/*
 * http_sse.c - HTTP+SSE of 2024-11-05: one open GET carries all messages to the client, and POSTs
 * carry the client's messages. The first event has the URL for the POSTs.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "face/http_face.h"
#include "face/mcp_headers.h"
#include "base/random_id.h"

#define WHERE "/messages?session="

/* One conversation; lives as long as its GET. */
struct talk {
	struct mp_http_face *face;
	struct mp_session *session; /* owned */
	struct mp_exchange *x;      /* the GET */
	mp_id holder;               /* of the token it was opened with */
	char id[MP_RANDOM_ID + 1];
	bool is_leaving; /* the hub drains: it ends with the last answer */
	struct mp_task leave;
	struct mp_grave grave;
};

static void http_sse_deliver(void *u, const struct mp_delivery *d)
{
	struct talk *t = u;

	if (t->x && d->text.len)
		mp_exchange_event(t->x, MP_STR("message"), (struct mp_str){NULL, 0}, d->text);
	if (t->is_leaving && !mp_list_linked(&t->leave.link))
		mp_loop_post(t->face->loop, &t->leave);
}

static void http_sse_quiet(void *u)
{
	mp_exchange_comment(((struct talk *)u)->x);
}

static void bury(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct talk, grave));
}

static void end(struct talk *t)
{
	struct mp_exchange *x = MP_TAKE(t->x);

	if (x)
		mp_exchange_end(x);
	mp_map_remove(&t->face->talks, mp_str_of(t->id));
	t->session = mp_session_free(t->session);
	mp_loop_unpost(t->face->loop, &t->leave);
	mp_loop_bury(t->face->loop, &t->grave, bury);
}

static void gone(void *u)
{
	struct talk *t = u;

	t->x = NULL;
	end(t);
}

static void leave_if_done(void *u)
{
	struct talk *t = u;
	struct mp_session_info info;

	mp_session_get_info(t->session, &info);
	if (t->is_leaving && !info.open)
		end(t);
}

static const struct mp_session_hooks session_hooks = {http_sse_deliver};
static const struct mp_exchange_hooks exchange_hooks = {.quiet = http_sse_quiet, .gone = gone};

static int open_talk(struct talk *t, struct mp_exchange *x)
{
	struct mp_http_face *f = t->face;
	int r = mp_http_face_open_session(f, x, "sse", MP_SESSION_ONE_STREAM, &session_hooks, t,
					  &t->session);

	if (r < 0)
		return r;
	r = mp_map_set(&f->talks, mp_str_of(t->id), t);
	if (r < 0)
		t->session = mp_session_free(t->session);
	return r;
}

void mp_http_sse_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	char where[sizeof(WHERE) + MP_RANDOM_ID];
	struct talk *t;
	int r;

	if (!(mp_mcp_headers_accept(mp_inbound_get(x->in, MP_FIELD_ACCEPT)) & MP_ACCEPTS_EVENTS)) {
		mp_exchange_refuse(x, &(struct mp_http_refusal){
					      406, "Accept must list text/event-stream", NULL});
		return;
	}
	t = mp_alloc(sizeof(*t));
	t->face = f;
	t->holder = x->admission.holder;
	mp_random_id_make(t->id);
	mp_task_init(&t->leave, leave_if_done, t);
	r = open_talk(t, x);
	if (r < 0) {
		mp_free(t);
		mp_http_face_refuse_session(x, r);
		return;
	}
	t->x = x;
	x->hooks = &exchange_hooks;
	x->u = t;
	snprintf(where, sizeof(where), WHERE "%s", t->id);
	mp_exchange_begin_stream(x, NULL);
	mp_exchange_event(x, MP_STR("endpoint"), (struct mp_str){NULL, 0}, mp_str_of(where));
}

/* The value of session= in the query. */
static struct mp_str find_id(struct mp_str query)
{
	static const struct mp_str key = MP_STR("session=");

	while (query.len) {
		const char *end = memchr(query.p, '&', query.len);
		size_t n = end ? (size_t)(end - query.p) : query.len;

		if (mp_str_starts((struct mp_str){query.p, n}, key))
			return (struct mp_str){query.p + key.len, n - key.len};
		n += end != NULL;
		query = (struct mp_str){query.p + n, query.len - n};
	}
	return (struct mp_str){NULL, 0};
}

void mp_http_sse_serve_message(struct mp_http_face *f, struct mp_exchange *x)
{
	struct talk *t = mp_map_get(&f->talks, find_id(mp_inbound_get_query(x->in)));

	if (!t || t->holder != x->admission.holder) {
		mp_exchange_refuse(
			x, &(struct mp_http_refusal){404, "there is no such session", NULL});
		return;
	}
	if (!mp_mcp_headers_is_json(mp_inbound_get(x->in, MP_FIELD_CONTENT_TYPE))) {
		mp_exchange_refuse(x, &(struct mp_http_refusal){
					      415, "Content-Type must be application/json", NULL});
		return;
	}
	mp_http_face_note_trace(x, t->session);
	(void)mp_session_receive_text(t->session, mp_inbound_get_body(x->in),
				      0); /* errors are reported on the stream */
	mp_exchange_answer(x,
			   &(struct mp_http_answer){202, "text/plain", NULL, MP_STR("Accepted")});
	leave_if_done(t);
}

void mp_http_sse_drain(struct mp_http_face *f)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&f->talks, &cursor))) {
		struct talk *t = e->value;

		t->is_leaving = true;
		leave_if_done(t);
	}
}

void mp_http_sse_done(struct mp_http_face *f)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&f->talks, &cursor)))
		end(e->value);
	mp_map_done(&f->talks);
}
