/*
 * outgoing.c - one message on its way out: its text in pieces, and what it says.
 */
#include "rpc/outgoing.h"

#define NOTHING ((struct mp_str){NULL, 0})

/* All but the pieces, which are many and mostly not used. */
static inline void outgoing_begin(struct mp_outgoing *o, enum mp_message_kind kind,
				  enum mp_method_id method, struct mp_str id, struct mp_str params)
{
	o->kind = kind;
	o->method = method;
	o->id = id;
	o->name = NOTHING;
	o->version = NOTHING;
	o->params = params;
	o->cancelled_id = NOTHING;
	o->len = 0;
	o->n_pieces = 0;
}

static inline void outgoing_add(struct mp_outgoing *o, struct mp_str piece)
{
	o->len += piece.len;
	o->pieces[o->n_pieces++] = piece;
}

/* Members of an object, with a comma before all but the first. */
static inline void outgoing_add_members(struct mp_outgoing *o, struct mp_str members,
					bool *is_first)
{
	if (!members.len)
		return;
	if (!*is_first)
		outgoing_add(o, MP_STR(","));
	*is_first = false;
	outgoing_add(o, members);
}

static void outgoing_add_meta(struct mp_outgoing *o, const struct mp_splice *s, bool is_first)
{
	bool is_first_inside = true;

	outgoing_add_members(o, MP_STR("\"_meta\":{"), &is_first);
	if (s->progress_token.len) {
		outgoing_add_members(o, MP_STR("\"progressToken\":"), &is_first_inside);
		outgoing_add(o, s->progress_token);
	}
	outgoing_add_members(o, mp_message_get_members(s->meta), &is_first_inside);
	outgoing_add_members(o, mp_message_get_members(s->more), &is_first_inside);
	outgoing_add(o, MP_STR("}"));
}

void mp_outgoing_request(struct mp_outgoing *o, enum mp_method_id method, struct mp_str params,
			 const struct mp_splice *s)
{
	bool has_meta = s->meta.len || s->more.len || s->progress_token.len;
	bool is_first = true;

	mp_check(s->id.len);
	outgoing_begin(o, MP_MESSAGE_REQUEST, method, s->id, params);
	outgoing_add(o, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":"));
	outgoing_add(o, s->id);
	outgoing_add(o, MP_STR(",\"method\":"));
	outgoing_add(o, mp_str_of(mp_method_get(method)->json));
	if (params.len || has_meta) {
		outgoing_add(o, MP_STR(",\"params\":{"));
		outgoing_add_members(o, mp_message_get_members(params), &is_first);
		if (has_meta)
			outgoing_add_meta(o, s, is_first);
		outgoing_add(o, MP_STR("}"));
	}
	outgoing_add(o, MP_STR("}"));
}

void mp_outgoing_notification(struct mp_outgoing *o, enum mp_method_id method, struct mp_str params)
{
	outgoing_begin(o, MP_MESSAGE_NOTIFICATION, method, NOTHING, params);
	outgoing_add(o, MP_STR("{\"jsonrpc\":\"2.0\",\"method\":"));
	outgoing_add(o, mp_str_of(mp_method_get(method)->json));
	if (params.len) {
		outgoing_add(o, MP_STR(",\"params\":"));
		outgoing_add(o, params);
	}
	outgoing_add(o, MP_STR("}"));
}

void mp_outgoing_answer(struct mp_outgoing *o, struct mp_str id, bool is_error, struct mp_str json)
{
	outgoing_begin(o, is_error ? MP_MESSAGE_ERROR : MP_MESSAGE_RESULT, MP_METHOD_UNKNOWN, id,
		       NOTHING);
	outgoing_add(o, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":"));
	outgoing_add(o, id);
	outgoing_add(o, is_error ? MP_STR(",\"error\":") : MP_STR(",\"result\":"));
	outgoing_add(o, json);
	outgoing_add(o, MP_STR("}"));
}

void mp_outgoing_text(struct mp_outgoing *o, enum mp_message_kind kind, enum mp_method_id method,
		      struct mp_str id, struct mp_str text)
{
	outgoing_begin(o, kind, method, id, NOTHING);
	outgoing_add(o, text);
}
