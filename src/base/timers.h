/* timers.h - the heap of running timers; loop.c alone uses it. */
#ifndef MP_TIMERS_H
#define MP_TIMERS_H

#include "base/loop.h"

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
