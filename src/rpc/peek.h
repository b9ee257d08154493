/*
 * peek.h - finds kind, id and method of a line without parsing it.
 * For code that forwards lines unchanged and only counts open requests. Nothing is checked: a line
 * that is not a message, or is written in an unusual way, is reported as such; the receiver
 * decides.
 */
#ifndef MP_PEEK_H
#define MP_PEEK_H

#include "base/base.h"
#include "base/str.h"

enum mp_peek_kind {
	MP_PEEK_NOTHING, /* it cannot be told; mp_message_scan() can */
	MP_PEEK_REQUEST,
	MP_PEEK_NOTIFICATION,
	MP_PEEK_RESULT,
	MP_PEEK_ERROR,
	MP_PEEK_BATCH, /* an array, not looked into */
};

struct mp_peek {
	enum mp_peek_kind kind;
	struct mp_str id;     /* as written, quotes included; empty: none */
	struct mp_str method; /* without its quotes; empty for answers */
};

/* The parts lie in text. */
void mp_peek(struct mp_str text, struct mp_peek *ret);

#endif
