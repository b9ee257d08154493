/*
 * peek.h - what kind of message a line is, seen in passing.
 * For whoever forwards lines unchanged and only keeps count of who waits for what. Nothing is
 * checked: what is no message, or is written in an odd way, is said to be so, and the other end
 * has its own opinion.
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
