/*
 * upstream_calls.c - a conversation that is ready: calls, the server's questions, and what there is
 * to know about it.
 */
#include "client/upstream.h"

#include <string.h>

#include "base/limits.h"

/* --- from the peer -------------------------------------------------------------------------- */

/*
 * A raw message, on request (E56). The pieces are joined first: a secret may be in two of them.
 * What does not fit is cut by mp_log_write(), which needs to see that there is more.
 */
static MP_COLD void upstream_trace_sent(const struct mp_upstream *up, const struct mp_outgoing *o)
{
	char text[MP_LIMIT_LOG_LINE + 1];
	size_t len = 0;

	for (size_t i = 0; i < o->n_pieces; i++) {
		size_t room = sizeof(text) - len;
		size_t n = o->pieces[i].len < room ? o->pieces[i].len : room;

		if (n > 0)
			memcpy(text + len, o->pieces[i].p, n);
		len += n;
	}
	mp_log_trace(up->o.log, "> %.*s", (int)len, text);
}

static int peer_send(void *u, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct mp_upstream *up = u;

	if (MP_UNLIKELY(mp_log_wants(MP_LEVEL_TRC)))
		upstream_trace_sent(up, o);
	return up->transport->impl->send(up->transport, o, ret_at);
}

/* On behalf of a client with capabilities of its own, or as ourselves. */
static int peer_write_meta(void *u, const struct mp_call_options *o, struct mp_str *ret_meta)
{
	struct mp_upstream *up = u;
	const struct mp_identity *me = up->o.me;
	int r;

	*ret_meta = mp_buf_get(&up->handshake.meta);
	if (o->capabilities.len == 0 && !o->log_level)
		return 0;
	mp_buf_clear(&up->meta);
	r = mp_modern_write_meta_for(mp_buf_get(&up->handshake.who),
				     o->capabilities.len ? o->capabilities : me->capabilities,
				     o->log_level ? o->log_level : me->log_level, &up->meta);
	*ret_meta = mp_buf_get(&up->meta);
	return r;
}

static void peer_request(void *u, const struct mp_server_request *rq)
{
	struct mp_upstream *up = u;
	struct mp_server_request full = *rq;

	if (!full.has_origin)
		full.has_origin = mp_upstream_get_origin(up, &full.origin);
	up->o.answerer->ask(up->o.answerer->u, &full);
}

static void peer_withdrawn(void *u, mp_id request)
{
	struct mp_upstream *up = u;

	if (up->o.answerer && up->o.answerer->withdraw)
		up->o.answerer->withdraw(up->o.answerer->u, request);
}

static void peer_notification(void *u, const struct mp_message *m)
{
	struct mp_upstream *up = u;

	/* Some servers speak before they have answered initialize; that is not for any session. */
	if (up->state == MP_UPSTREAM_READY && up->hooks->notification)
		up->hooks->notification(up->u, m);
}

const struct mp_peer_hooks mp_upstream_peer_hooks = {
	.send = peer_send,
	.write_meta = peer_write_meta,
	.request = peer_request,
	.withdrawn = peer_withdrawn,
	.notification = peer_notification,
	.may_retry = mp_upstream_relist,
};

/* --- calls ---------------------------------------------------------------------------------- */

static int upstream_check(const struct mp_upstream *up)
{
	if (up->state == MP_UPSTREAM_READY)
		return 0;
	return up->state < MP_UPSTREAM_READY ? MCPOOL_EAGAIN : MCPOOL_ECLOSED;
}

int mp_upstream_call(struct mp_upstream *up, struct mp_call *c, const struct mp_call_options *o)
{
	int r = upstream_check(up);

	if (r < 0)
		return r;
	r = mp_peer_call(&up->peer, c, o);
	up->deaf = up->deaf || r == MCPOOL_ECLOSED;
	return r;
}

int mp_upstream_call_and_forget(struct mp_upstream *up, const struct mp_call_options *o)
{
	int r = upstream_check(up);

	return r < 0 ? r : mp_peer_call_and_forget(&up->peer, o);
}

void mp_upstream_reply(struct mp_upstream *up, mp_id request, struct mp_str result)
{
	mp_peer_reply(&up->peer, request, result);
}

void mp_upstream_decline(struct mp_upstream *up, mp_id request, int code, struct mp_str words)
{
	mp_peer_refuse(&up->peer, request, code, words);
}

int mp_upstream_notify(struct mp_upstream *up, enum mp_method_id method, struct mp_str params)
{
	int r = upstream_check(up);

	return r < 0 ? r : mp_peer_notify(&up->peer, method, params);
}

/* A modern server's word about a call that has ended is not about any call. */
bool mp_upstream_get_origin(const struct mp_upstream *up, struct mp_call **ret_call)
{
	*ret_call = up->during.len ? mp_peer_find(&up->peer, up->during) : NULL;
	return up->during.len && (*ret_call || !up->peer.is_modern);
}

struct mp_loop *mp_upstream_get_loop(const struct mp_upstream *up)
{
	return up->loop;
}

/*
 * Not once it is closing, nor while its calls are being lost: a hook must not start another call.
 */
bool mp_upstream_is_ready(const struct mp_upstream *up)
{
	return up->state == MP_UPSTREAM_READY && !up->deaf && !up->peer.lost;
}

const struct mp_hello *mp_upstream_get_hello(const struct mp_upstream *up)
{
	return &up->handshake.hello;
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
