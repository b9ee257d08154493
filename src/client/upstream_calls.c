/*
 * upstream_calls.c - a conversation that is ready: calls, the server's questions, and what there is
 * to know about it.
 */
#include "client/upstream_parts.h"

/* --- from the peer -------------------------------------------------------------------------- */

static int peer_send(void *u, struct mp_str text, uint64_t *ret_at)
{
	struct mp_upstream *up = u;

	return up->transport->impl->send(up->transport, text, ret_at);
}

enum { LEGACY_PLACE = -1 }; /* a question that came as a request of its own */

/* A legacy server's request. What was not declared is not answered. */
static void peer_request(void *u, mp_id call, const struct mp_message *m)
{
	struct mp_upstream *up = u;
	const struct mp_answerer *a = up->o.answerer;
	struct mp_question q = {
		.call = call,
		.place = (size_t)LEGACY_PLACE,
		.origin = mp_upstream_get_origin(up),
		.method = m->method,
		.params = mp_value_source(m->tape, m->params),
	};

	if (a && (m->method == MP_METHOD_ELICIT || m->method == MP_METHOD_SAMPLE ||
		  m->method == MP_METHOD_ROOTS_LIST))
		a->ask(a->u, &q);
	else
		mp_peer_refuse(&up->peer, call, -32601, mp_question_get_refusal(m->method));
}

static void peer_withdrawn(void *u, mp_id call)
{
	struct mp_upstream *up = u;

	if (up->o.answerer && up->o.answerer->withdraw)
		up->o.answerer->withdraw(up->o.answerer->u, call);
}

static void peer_notification(void *u, const struct mp_message *m)
{
	struct mp_upstream *up = u;

	/* Some servers speak before they have answered initialize; that is not yet for anybody. */
	if (up->state == MP_UPSTREAM_READY && up->hooks->notification)
		up->hooks->notification(up->u, m);
}

const struct mp_peer_hooks mp_upstream_peer_hooks = {
	.send = peer_send,
	.request = peer_request,
	.withdrawn = peer_withdrawn,
	.notification = peer_notification,
};

/* --- calls ---------------------------------------------------------------------------------- */

/* On behalf of somebody with capabilities of their own, or as ourselves. */
static int write_meta(struct mp_upstream *up, const struct mp_request *rq, struct mp_str *ret)
{
	const struct mp_identity *me = up->o.me;
	int r;

	*ret = mp_buf_get(&up->agree.meta);
	if (rq->capabilities.len == 0 && !rq->log_level)
		return 0;
	mp_buf_clear(&up->meta);
	r = mp_modern_write_meta_for(mp_buf_get(&up->agree.who),
				     rq->capabilities.len ? rq->capabilities : me->capabilities,
				     rq->log_level ? rq->log_level : me->log_level, &up->meta);
	*ret = mp_buf_get(&up->meta);
	return r;
}

static int call_modern(struct mp_upstream *up, const struct mp_request *rq, mp_answer_fn fn,
		       void *u, mp_id *ret_call)
{
	struct mp_request full = *rq;
	int r = write_meta(up, rq, &full.meta);

	return r < 0 ? r : mp_rounds_call(&up->rounds, &full, fn, u, ret_call);
}

int mp_upstream_call(struct mp_upstream *up, const struct mp_request *rq, mp_answer_fn fn, void *u,
		     mp_id *ret_call)
{
	int r;

	if (up->state != MP_UPSTREAM_READY)
		return up->state < MP_UPSTREAM_READY ? MCPOOL_EAGAIN : MCPOOL_ECLOSED;
	r = up->agree.hello.era == MP_ERA_LEGACY ? mp_peer_call(&up->peer, rq, fn, u, ret_call)
						 : call_modern(up, rq, fn, u, ret_call);
	up->deaf = up->deaf || r == MCPOOL_ECLOSED;
	return r;
}

void mp_upstream_cancel(struct mp_upstream *up, mp_id call)
{
	if (up->agree.hello.era == MP_ERA_MODERN)
		mp_rounds_cancel(&up->rounds, call);
	else
		mp_peer_cancel(&up->peer, call);
}

void mp_upstream_answer(struct mp_upstream *up, const struct mp_question *q, struct mp_str result)
{
	if (q->place != (size_t)LEGACY_PLACE)
		mp_rounds_answer(&up->rounds, q->call, q->place, result);
	else if (result.len)
		mp_peer_reply(&up->peer, q->call, result);
	else
		mp_peer_refuse(&up->peer, q->call, -1, MP_STR("the user declined"));
}

void mp_upstream_decline(struct mp_upstream *up, const struct mp_question *q, int code,
			 struct mp_str words)
{
	if (q->place != (size_t)LEGACY_PLACE)
		mp_rounds_decline(&up->rounds, q->call, q->place, words);
	else
		mp_peer_refuse(&up->peer, q->call, code, words);
}

/* A modern server has ended that request; the next one has all of its time. */
void mp_upstream_pause(struct mp_upstream *up, mp_id call, bool paused)
{
	if (up->agree.hello.era == MP_ERA_LEGACY)
		mp_peer_pause(&up->peer, call, paused);
}

int mp_upstream_notify(struct mp_upstream *up, enum mp_method_id method, struct mp_str params)
{
	if (up->state != MP_UPSTREAM_READY)
		return up->state < MP_UPSTREAM_READY ? MCPOOL_EAGAIN : MCPOOL_ECLOSED;
	return mp_peer_notify(&up->peer, method, params);
}

mp_id mp_upstream_get_origin(const struct mp_upstream *up)
{
	if (up->agree.hello.era == MP_ERA_MODERN)
		return mp_rounds_find(&up->rounds, up->during);
	return up->during;
}

/* Not once it takes nothing, nor while its calls are being lost: whoever is told must not come
 * back.
 */
bool mp_upstream_is_ready(const struct mp_upstream *up)
{
	return up->state == MP_UPSTREAM_READY && !up->deaf && !up->peer.lost;
}

const struct mp_hello *mp_upstream_get_hello(const struct mp_upstream *up)
{
	return &up->agree.hello;
}

const struct mp_peer_counts *mp_upstream_get_counts(const struct mp_upstream *up)
{
	return &up->peer.counts;
}

unsigned mp_upstream_count_dials(const struct mp_upstream *up)
{
	return up->dials;
}

const struct mp_log *mp_upstream_get_log(const struct mp_upstream *up)
{
	return up->o.log;
}

int mp_upstream_get_pid(const struct mp_upstream *up)
{
	if (!up->transport || !up->transport->impl->get_pid)
		return 0;
	return up->transport->impl->get_pid(up->transport);
}

int64_t mp_upstream_get_opened_us(const struct mp_upstream *up)
{
	return up->opened_us;
}

struct mp_str mp_upstream_get_challenge(const struct mp_upstream *up)
{
	if (!up->transport || !up->transport->impl->get_challenge)
		return MP_STR("");
	return up->transport->impl->get_challenge(up->transport);
}

int mp_upstream_get_tail(struct mp_upstream *up, size_t lines, struct mp_buf *out)
{
	if (!up->transport || !up->transport->impl->get_tail)
		return 0;
	return up->transport->impl->get_tail(up->transport, lines, out);
}
