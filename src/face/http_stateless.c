/*
 * http_stateless.c - modern requests: each POST is independent, and the response carries its
 * answer. Requests of one token with the same naming share a session without state. An answer
 * without earlier messages is one JSON body; a notification before it, or a pause, starts an event
 * stream. A client that disconnects cancels its request.
 */
#include "base/mem.h"
#include "config/values/settings.h"
#include "face/http_face.h"

/* One session for all requests of a holder with the same naming. */
struct http_stateless {
	struct mp_link link;
	mp_id holder;
	const char *naming;         /* static; NULL: as configured */
	struct mp_session *session; /* owned */
};

static struct http_stateless *stateless_of(struct mp_link *link)
{
	return mp_container_of(link, struct http_stateless, link);
}

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
	MP_LIST_EACH(&f->stateless, link)
		if (stateless_of(link)->holder == x->admission.holder)
			mp_session_leave_stream(stateless_of(link)->session, x->id);
}

static const struct mp_session_hooks session_hooks = {http_stateless_deliver};
static const struct mp_exchange_hooks exchange_hooks = {.quiet = http_stateless_quiet,
							.gone = gone};

static struct http_stateless *stateless_find(struct mp_http_face *f, mp_id holder,
					     const char *naming)
{
	MP_LIST_EACH(&f->stateless, link)
		if (stateless_of(link)->holder == holder && stateless_of(link)->naming == naming)
			return stateless_of(link);
	return NULL;
}

static int stateless_open(struct mp_http_face *f, const struct mp_exchange *x,
			  struct mp_session **ret_session)
{
	const char *naming = mp_http_face_get_naming(x);
	struct http_stateless *s = stateless_find(f, x->admission.holder, naming);
	int r;

	if (!s) {
		s = mp_alloc(sizeof(*s));
		s->holder = x->admission.holder;
		s->naming = naming;
		r = mp_http_face_open_session(f, x, "http", MP_SESSION_STATELESS, &session_hooks, f,
					      &s->session);
		if (r < 0) {
			mp_free(s);
			return r;
		}
		mp_list_append(&f->stateless, &s->link);
	}
	*ret_session = s->session;
	return 0;
}

void mp_http_stateless_post(struct mp_http_face *f, struct mp_exchange *x,
			    const struct mp_message *m)
{
	struct mp_session *session;
	mp_id id;
	int r = stateless_open(f, x, &session);

	if (r < 0) {
		mp_http_face_refuse_session(x, r);
		return;
	}
	x->hooks = &exchange_hooks;
	x->u = x;
	x->id = id = mp_ids_add(&f->exchanges, x);
	mp_http_face_note_trace(x, session);
	if (mp_session_receive(session, m, id) > 0)
		return;
	/* A notification has no answer. */
	mp_ids_remove(&f->exchanges, id);
	mp_exchange_answer(x, &(struct mp_http_answer){.status = 202});
}

static void stateless_end(struct mp_http_face *f, struct http_stateless *s)
{
	mp_list_remove(&f->stateless, &s->link);
	mp_session_free(s->session);
	mp_free(s);
}

void mp_http_stateless_end_strangers(struct mp_http_face *f)
{
	MP_LIST_WALK(&f->stateless, link)
		if (!mp_holders_find(&f->admit.holders, stateless_of(link)->holder))
			stateless_end(f, stateless_of(link));
}

void mp_http_stateless_done(struct mp_http_face *f)
{
	while (f->stateless.len)
		stateless_end(f, stateless_of(mp_list_first(&f->stateless)));
}
