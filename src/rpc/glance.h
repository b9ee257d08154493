/*
 * glance.h - what kind of message a line is, seen in passing.
 * For whoever forwards lines unchanged and only keeps count of who waits for what. Nothing is
 * checked: what is no message, or is written in an odd way, is said to be so, and the other end
 * has its own opinion.
 */
#ifndef MP_GLANCE_H
#define MP_GLANCE_H

#include "base/base.h"
#include "base/str.h"

enum mp_glance_kind {
	MP_GLANCE_NOTHING, /* it cannot be told; mp_message_scan() can */
	MP_GLANCE_REQUEST,
	MP_GLANCE_NOTIFICATION,
	MP_GLANCE_RESULT,
	MP_GLANCE_ERROR,
	MP_GLANCE_BATCH, /* an array, not looked into */
};

struct mp_glance {
	enum mp_glance_kind kind;
	struct mp_str id;     /* as written, quotes included; empty: none */
	struct mp_str method; /* without its quotes; empty for answers */
};

/* The parts lie in text. */
void mp_glance(struct mp_str text, struct mp_glance *ret);

#endif
