/*
 * http_stateless.c - modern requests: each POST is independent, and the response carries its
 * answer. Requests with the same naming share one session without state. An answer without earlier
 * messages is one JSON body; a notification before it, or a pause, starts an event stream. A client
 * that disconnects cancels its request.
 */
#include "config/values/settings.h"
#include "face/http_face.h"

static void http_stateless_deliver(void *u, const struct mp_delivery *d)
{
	struct mp_http_face *f = u;
	struct mp_exchange *x = mp_ids_get(&f->exchanges, d->stream);

	if (!x)
		return;
	if (d->is_last)
		mp_ids_remove(&f->exchanges, d->stream);
	if (d->is_last && !x->is_stream && d->text.len) {
		mp_exchange_answer(
			x, &(struct mp_http_answer){d->status, "application/json", NULL, d->text});
		return;
	}
	if (!x->is_stream)
		mp_exchange_begin_stream(x, NULL);
	if (d->text.len)
		mp_exchange_event(x, MP_STR("message"), (struct mp_str){NULL, 0}, d->text);
	if (d->is_last)
		mp_exchange_end(x);
}

static void http_stateless_quiet(void *u)
{
	struct mp_exchange *x = u;

	if (!x->is_stream)
		mp_exchange_begin_stream(x, NULL);
	mp_exchange_comment(x);
}

static void gone(void *u)
{
	struct mp_exchange *x = u;
	struct mp_http_face *f = mp_http_face_of(x);

	mp_ids_remove(&f->exchanges, x->id);
	for (size_t i = 0; i < MP_ARRAY_LEN(f->stateless); i++)
		if (f->stateless[i])
			mp_session_leave_stream(f->stateless[i], x->id);
}

static const struct mp_session_hooks session_hooks = {http_stateless_deliver};
static const struct mp_exchange_hooks exchange_hooks = {http_stateless_quiet, gone, NULL};

void mp_http_stateless_post(struct mp_http_face *f, struct mp_exchange *x,
			    const struct mp_message *m)
{
	const char *naming = mp_http_face_get_naming(x);
	struct mp_session **session =
		&f->stateless[naming ? mp_naming_find(mp_str_of(naming)) + 1 : 0];
	mp_id id;
	int r = 0;

	if (!*session)
		r = mp_http_face_open_session(f, x, "http", MP_SESSION_STATELESS, &session_hooks, f,
					      session);
	if (r < 0) {
		mp_http_face_refuse_session(x, r);
		return;
	}
	x->hooks = &exchange_hooks;
	x->u = x;
	x->id = id = mp_ids_add(&f->exchanges, x);
	if (mp_session_receive(*session, m, id) > 0)
		return;
	/* A notification has no answer. */
	mp_ids_remove(&f->exchanges, id);
	mp_exchange_answer(x, &(struct mp_http_answer){.status = 202});
}

void mp_http_stateless_done(struct mp_http_face *f)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(f->stateless); i++)
		f->stateless[i] = mp_session_free(f->stateless[i]);
}
