/*
 * interrupt.h - Ctrl-C, TERM and HUP for a verb with running servers. The first signal is reported,
 * so that the verb can stop them; a second one ends the process at once.
 */
#ifndef MP_INTERRUPT_H
#define MP_INTERRUPT_H

#include <uv.h>

#include "base/base.h"
#include "base/loop.h"

struct mp_interrupt {
	uv_signal_t signals[3];
	size_t open;
	bool happened;
	void (*fn)(void *u);
	void (*closed)(void *u);
	void *u;
};

void mp_interrupt_open(struct mp_interrupt *i, struct mp_loop *loop, void (*fn)(void *u), void *u);
/* closed() follows, from the loop. */
void mp_interrupt_close(struct mp_interrupt *i, void (*closed)(void *u));

#endif
