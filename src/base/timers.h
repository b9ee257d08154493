/* timers.h - timers, and the heap of those that run, which loop.c alone uses. */
#ifndef MP_TIMERS_H
#define MP_TIMERS_H

#include "base/base.h"

struct mp_loop;

/* A timer, embedded in the object it serves; see loop.h. */
struct mp_timer {
	struct mp_loop *loop;
	void (*fn)(void *u);
	void *u;
	int64_t due_ms;
	uint64_t order; /* timers due together fire in the order they were started */
	size_t place;   /* in the loop's heap, + 1; 0 while it does not run */
};

struct mp_timers {
	struct mp_timer **heap; /* owned; the timers are their objects' */
	size_t len, room;
	uint64_t started; /* counts, so that equal deadlines keep their order */
};

void mp_timers_init(struct mp_timers *timers);
void mp_timers_done(struct mp_timers *timers);
void mp_timers_put(struct mp_timers *timers, struct mp_timer *t, int64_t due_ms);
void mp_timers_take_out(struct mp_timers *timers, struct mp_timer *t);
/* The one due first, or NULL. */
struct mp_timer *mp_timers_first(const struct mp_timers *timers);

#endif
