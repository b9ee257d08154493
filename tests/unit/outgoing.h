/*
 * outgoing.h - send a text that the test wrote: what the encoder would note is read from it.
 */
#ifndef TEST_OUTGOING_H
#define TEST_OUTGOING_H

#include "base/arena.h"
#include "base/limits.h"
#include "rpc/outgoing.h"
#include "transport/transport.h"

struct outgoing_text {
	struct mp_outgoing o;
	struct mp_tape tape;
	struct mp_arena arena;
	bool is_read; /* it is a message, and there was memory for it */
};

static inline void outgoing_text_done(struct outgoing_text *x)
{
	mp_tape_done(&x->tape);
	mp_arena_done(&x->arena);
}

/* Borrows the text, which need not be a message. */
static inline void outgoing_text_init(struct outgoing_text *x, struct mp_str text)
{
	struct mp_outgoing *o = &x->o;
	struct mp_message m;

	x->is_read = false;
	mp_message_tape_init(&x->tape);
	mp_arena_init(&x->arena, MP_LIMIT_ARENA);
	mp_outgoing_text(o, MP_MESSAGE_NOTIFICATION, MP_METHOD_UNKNOWN, MP_STR(""), text);
	if (mp_message_scan(&x->tape, text, &m, NULL) < 0)
		return;
	x->is_read = true;
	o->kind = m.kind;
	o->method = m.method;
	o->id = m.id;
	o->params = mp_value_source(m.tape, m.params);
	if (mp_value_is(m.tape, m.subject, MP_TAPE_STRING) &&
	    mp_value_text(m.tape, m.subject, &x->arena, &o->name) < 0)
		x->is_read = false;
	if (m.version != MP_NONE && mp_value_text(m.tape, m.version, &x->arena, &o->version) < 0)
		x->is_read = false;
	if (m.method == MP_METHOD_CANCELLED)
		o->cancelled_id =
			mp_value_source(m.tape, mp_value_get(m.tape, m.params, "requestId"));
}

/*
 * Is what the encoder noted what the text says? A test may leave out the name. A text of a test's
 * own, which is one piece, may be anything.
 */
static inline bool outgoing_agrees(const struct mp_outgoing *o, struct mp_str text)
{
	struct outgoing_text x;
	const struct mp_outgoing *is = &x.o;
	bool ok;

	outgoing_text_init(&x, text);
	ok = !x.is_read || o->n_pieces == 1 ||
	     (o->kind == is->kind && o->method == is->method && mp_str_eq(o->id, is->id) &&
	      (o->name.len == 0 || mp_str_eq(o->name, is->name)) &&
	      (is->version.len == 0 || mp_str_eq(o->version, is->version)) &&
	      mp_str_eq(o->cancelled_id, is->cancelled_id) && o->len == text.len);
	outgoing_text_done(&x);
	return ok;
}

static inline int outgoing_send(struct mp_transport *t, struct mp_str text, uint64_t *ret_at)
{
	struct outgoing_text x;
	int r;

	outgoing_text_init(&x, text);
	r = t->impl->send(t, &x.o, ret_at);
	outgoing_text_done(&x);
	return r;
}

#endif
