/*
 * peer_receive.c - what arrives in a conversation: whole messages, several at once, and what cannot
 * be read.
 */
#include "base/error.h"
#include "base/limits.h"
#include "rpc/peer.h"
#include "rpc/recover_id.h"

/* --- their notifications -------------------------------------------------------------------- */

/* Only what grows is progress (V23); anything else buys no time either. */
static bool has_grown(struct mp_call *c, const struct mp_message *m)
{
	double now;

	if (mp_value_f64(m->tape, mp_value_get(m->tape, m->params, "progress"), &now) < 0 ||
	    (c->has_progressed && !(now > c->progressed)))
		return false;
	c->progressed = now;
	c->has_progressed = true;
	return true;
}

static void take_progress(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_call *c = mp_peer_find(p, mp_value_source(m->tape, m->progress_token));

	if (c && c->hooks->progress && has_grown(c, m))
		mp_call_advance(c, MP_CALL_ON_PROGRESS);
	else
		p->counts.strays++;
}

/* A request of theirs they no longer want; or, in the modern era, the end of a stream of ours. */
static void take_cancelled(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_str id = mp_value_source(m->tape, mp_value_get(m->tape, m->params, "requestId"));
	struct mp_server_slot *slot = mp_map_get(&p->theirs, id);
	struct mp_call *c;

	if (slot) {
		mp_peer_withdraw(p, slot);
		return;
	}
	c = mp_peer_find(p, id);
	if (c && c->o.method == MP_METHOD_LISTEN)
		mp_call_advance(c, MP_CALL_ON_ANSWER);
	else
		p->counts.strays++;
}

static void take_answer(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_call *c = mp_peer_find(p, m->id);

	if (c)
		mp_call_advance(c, MP_CALL_ON_ANSWER);
	else
		p->counts.strays++;
}

static void take_notification(struct mp_peer *p, const struct mp_message *m)
{
	if (m->method == MP_METHOD_PROGRESS)
		take_progress(p, m);
	else if (m->method == MP_METHOD_CANCELLED)
		take_cancelled(p, m);
	else if (p->hooks->notification)
		p->hooks->notification(p->u, m);
}

/* --- receiving ------------------------------------------------------------------------------ */

static void peer_receive_take(struct mp_peer *p, const struct mp_message *m)
{
	const struct mp_message *before = p->arriving;

	p->arriving = m;
	switch (m->kind) {
	case MP_MESSAGE_REQUEST:
		mp_peer_take_request(p, m);
		break;
	case MP_MESSAGE_NOTIFICATION:
		take_notification(p, m);
		break;
	case MP_MESSAGE_RESULT:
	case MP_MESSAGE_ERROR:
		take_answer(p, m);
		break;
	case MP_MESSAGE_BATCH:
		break; /* taken apart by mp_peer_receive() */
	}
	p->arriving = before;
}

static void note_noise(struct mp_peer *p, struct mp_str line)
{
	size_t room = sizeof(p->counts.noise_sample) - 1;

	if (p->counts.noise++ == 0 && line.len)
		memcpy(p->counts.noise_sample, line.p, line.len < room ? line.len : room);
}

static struct mp_str head_of(struct mp_str s)
{
	return (struct mp_str){s.p, s.len < 4096 ? s.len : 4096};
}

static struct mp_str tail_of(struct mp_str s)
{
	size_t n = s.len < 512 ? s.len : 512;

	return (struct mp_str){n ? s.p + s.len - n : s.p, n};
}

/* What was recovered is echoed only where it cannot be anything else. */
static struct mp_str whole_number(struct mp_str id)
{
	int64_t number;

	return mp_str_to_i64(id, &number) == 0 ? id : MP_STR("");
}

/* A request that cannot be read: its sender gets an error. */
static void refuse_garbled(struct mp_peer *p, struct mp_str id, const struct mcpool_error *why)
{
	if (!p->is_modern && id.len)
		mp_peer_refuse_id(p, id, why->rpc_code, mp_str_of(why->message));
}

/* An answer that cannot be read: the call it answers must end. */
static void end_garbled(struct mp_peer *p, struct mp_str id, const struct mcpool_error *why)
{
	struct mp_list *written = &p->in_state[MP_CALL_WRITTEN];
	struct mp_call *c = mp_peer_find(p, id);

	if (!c && id.len == 0 && written->len == 1) /* no id to be seen, but only one it can be */
		c = mp_container_of(mp_list_first(written), struct mp_call, link);
	if (!c)
		return;
	mp_call_fail(c, MP_OUTCOME_REFUSED,
		     why->code == MCPOOL_ETOO_LARGE ? why->code : MCPOOL_EPROTO,
		     "the answer cannot be read: %s", why->message);
	mp_call_advance(c, MP_CALL_ON_GARBLED);
}

/* id: of a request, where it is beyond doubt. */
static void take_garbled(struct mp_peer *p, struct mp_str head, struct mp_str tail,
			 struct mp_str id, const struct mcpool_error *why)
{
	if (!mp_recover_id_is_message(head)) {
		note_noise(p, head);
		return;
	}
	p->counts.garbled++;
	if (mp_recover_id_is_call(head)) /* their ids are not ours: it ends nothing here */
		refuse_garbled(p, id, why);
	else
		end_garbled(p, mp_recover_id(head, tail), why);
}

static bool take_text(struct mp_peer *p, struct mp_tape *tape, struct mp_str text,
		      struct mp_message *m)
{
	MP_UNSET struct mcpool_error why;

	if (mp_message_scan(tape, text, m, &why) == 0) {
		if (m->kind != MP_MESSAGE_BATCH)
			peer_receive_take(p, m);
		return true;
	}
	/* Servers also print JSON that is none of the protocol's, such as log lines. */
	if (why.code == MCPOOL_EPROTO && mp_value_get(tape, MP_ROOT, "jsonrpc") == MP_NONE)
		note_noise(p, text);
	else
		take_garbled(p, head_of(text), tail_of(text), m->id, &why);
	return false;
}

/* 2025-03-26 lets a server answer with several messages at once; any of them may end it all. */
static void take_batch(struct mp_peer *p, const struct mp_message *batch)
{
	MP_VALUE_EACH(batch->tape, MP_ROOT, v) {
		struct mp_message m;

		if (p->lost)
			break;
		if (take_text(p, &p->batch_tape, mp_value_source(batch->tape, v), &m) &&
		    m.kind == MP_MESSAGE_BATCH)
			p->counts.garbled++;
	}
}

void mp_peer_receive(struct mp_peer *p, struct mp_str text)
{
	struct mp_message m;

	if (!p->lost && take_text(p, &p->tape, text, &m) && m.kind == MP_MESSAGE_BATCH)
		take_batch(p, &m);
}

void mp_peer_receive_oversize(struct mp_peer *p, struct mp_str head, struct mp_str tail)
{
	struct mcpool_error why;

	if (p->lost)
		return;
	(void)mp_fail(&why, MCPOOL_ETOO_LARGE, "the message is larger than %zu MiB",
		      MP_LIMIT_MESSAGE >> 20);
	take_garbled(p, head, tail, whole_number(mp_recover_id(head, tail)), &why);
}
