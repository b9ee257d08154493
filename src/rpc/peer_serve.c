/*
 * peer_serve.c - requests of the server: taken, answered, refused, withdrawn. See call_input.c for
 * those that are part of an answer.
 */
#include "base/mem.h"
#include "base/limits.h"
#include "rpc/peer.h"
#include "rpc/call_input.h"
#include "rpc/outgoing.h"

enum { METHOD_NOT_FOUND = -32601, INVALID_REQUEST = -32600, INTERNAL = -32603, DECLINED = -1 };

struct mp_str mp_server_request_get_refusal(enum mp_method_id method)
{
	switch (method) {
	case MP_METHOD_ELICIT:
		return MP_STR("the server asked for user input, and `mcpool call` cannot answer "
			      "questions here; call the tool from an agent, or on a terminal, "
			      "where `mcpool call` shows forms");
	case MP_METHOD_SAMPLE:
		return MP_STR("the server asked for an answer of a model, and `mcpool call` has "
			      "none; call the tool from an agent that has");
	case MP_METHOD_ROOTS_LIST:
		return MP_STR("the server asked for the folders of the client, and `mcpool call` "
			      "names none; call the tool from an agent that does");
	default:
		return MP_STR("this client does not do that");
	}
}

bool mp_server_request_is(enum mp_method_id method)
{
	return method == MP_METHOD_ELICIT || method == MP_METHOD_SAMPLE ||
	       method == MP_METHOD_ROOTS_LIST;
}

/* --- answers --------------------------------------------------------------------------------- */

static void peer_send_result(struct mp_peer *p, struct mp_str id, struct mp_str result)
{
	MP_UNSET struct mp_outgoing o;

	mp_outgoing_answer(&o, id, false, result);
	if (mp_peer_send_out(p, &o, NULL) < 0)
		p->counts.undelivered++;
}

void mp_peer_refuse_id(struct mp_peer *p, struct mp_str id, int code, struct mp_str words)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_UNSET struct mp_outgoing o;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	r = mp_message_error(&text, id, code, words, MP_STR(""));
	mp_outgoing_text(&o, MP_MESSAGE_ERROR, MP_METHOD_UNKNOWN, id, mp_buf_get(&text));
	if (r < 0 || mp_peer_send_out(p, &o, NULL) < 0)
		p->counts.undelivered++;
}

void mp_peer_free_slot(struct mp_peer *p, struct mp_server_slot *slot)
{
	mp_ids_remove(&p->server_requests, slot->id);
	mp_list_remove(&p->serving, &slot->link);
	mp_map_remove(&p->theirs, mp_str_of(slot->their_id));
	mp_free(slot->their_id);
	mp_free(slot);
}

void mp_peer_refuse(struct mp_peer *p, mp_id request, int code, struct mp_str words)
{
	struct mp_server_slot *slot = mp_ids_get(&p->server_requests, request);

	if (!slot)
		return;
	if (slot->call) {
		mp_call_input_decline(slot, words);
		return;
	}
	mp_peer_refuse_id(p, mp_str_of(slot->their_id), code, words);
	mp_peer_free_slot(p, slot);
}

void mp_peer_reply(struct mp_peer *p, mp_id request, struct mp_str result)
{
	struct mp_server_slot *slot = mp_ids_get(&p->server_requests, request);

	if (!slot)
		return;
	if (slot->call) {
		mp_call_input_answer(slot, result);
		return;
	}
	if (result.len == 0) {
		mp_peer_refuse(p, request, DECLINED, MP_STR("the user declined"));
		return;
	}
	peer_send_result(p, mp_str_of(slot->their_id), result);
	mp_peer_free_slot(p, slot);
}

void mp_peer_withdraw(struct mp_peer *p, struct mp_server_slot *slot)
{
	mp_id request = slot->id;

	mp_peer_free_slot(p, slot);
	if (p->hooks->withdrawn)
		p->hooks->withdrawn(p->u, request);
}

/* --- requests -------------------------------------------------------------------------------- */

static struct mp_server_slot *peer_open_slot(struct mp_peer *p, struct mp_str id)
{
	struct mp_server_slot *slot = mp_alloc(sizeof(*slot));

	if (mp_map_set(&p->theirs, id, slot) < 0)
		return mp_free(slot);
	slot->their_id = mp_alloc(id.len + 1); /* at most MP_LIMIT_ID */
	memcpy(slot->their_id, id.p, id.len);
	slot->id = mp_ids_add(&p->server_requests, slot);
	mp_list_append(&p->serving, &slot->link);
	return slot;
}

static void peer_refuse(struct mp_peer *p, struct mp_str id, int code, struct mp_str words)
{
	p->counts.refused++;
	mp_peer_refuse_id(p, id, code, words);
}

static void peer_serve(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_server_request rq = {.method = m->method,
				       .params = mp_value_source(m->tape, m->params)};
	struct mp_server_slot *slot;

	if (mp_map_has(&p->theirs, m->id)) { /* V22: the first one stays as it is */
		peer_refuse(p, m->id, INVALID_REQUEST,
			    MP_STR("a request with this id is still open"));
		return;
	}
	slot = peer_open_slot(p, m->id);
	if (!slot) {
		peer_refuse(p, m->id, INTERNAL, MP_STR("too many requests are open"));
		return;
	}
	rq.id = slot->id;
	p->hooks->request(p->u, &rq);
}

void mp_peer_take_request(struct mp_peer *p, const struct mp_message *m)
{
	if (p->is_modern) {
		p->counts.refused++; /* a modern server has no requests of its own */
	} else if (m->method == MP_METHOD_PING) {
		peer_send_result(p, m->id, MP_STR("{}"));
	} else if (!mp_server_request_is(m->method) || !p->serves) {
		peer_refuse(p, m->id, METHOD_NOT_FOUND, mp_server_request_get_refusal(m->method));
	} else {
		peer_serve(p, m);
	}
}
