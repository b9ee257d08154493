/*
 * clock.h - the time of this turn; tests move it by hand.
 * Durations are measured on the monotonic clock, which stops while the machine sleeps. The boot
 * clock and the wall clock are read beside it, so that a suspend or a changed date is reported
 * instead of firing every timer at once.
 */
#ifndef MP_CLOCK_H
#define MP_CLOCK_H

#include "base/base.h"

struct mp_clock_reading {
	int64_t mono_us; /* does not count sleep, never jumps */
	int64_t boot_us; /* counts sleep, never jumps */
	int64_t wall_us; /* since 1970; the user may set it */
};

/* What happened between two readings; both 0 where nothing did. */
struct mp_clock_jump {
	int64_t slept_ms;   /* the machine was suspended this long */
	int64_t shifted_ms; /* the wall clock was set forward (or back, negative) */
};

struct mp_clock {
	struct mp_clock_reading now;  /* as of the last update; what a turn goes by */
	struct mp_clock_reading hand; /* what the next update reads, where by_hand */
	bool by_hand;
};

void mp_clock_init(struct mp_clock *c);
/* A clock that only mp_clock_advance() and its sisters move; the next update sees it. */
void mp_clock_init_by_hand(struct mp_clock *c, int64_t wall_ms);

/* Microseconds at this very moment, which a turn does not go by; by hand: as the hand has it. */
int64_t mp_clock_read_us(const struct mp_clock *c);
/* The monotonic clock alone: the others are taken to have gone along, until they are read. */
void mp_clock_peek(struct mp_clock *c);
/* Read the clocks. True if a suspend or a shift was seen; *ret_jump then has it. */
bool mp_clock_update(struct mp_clock *c, struct mp_clock_jump *ret_jump);

void mp_clock_advance(struct mp_clock *c, int64_t ms);    /* time passes */
void mp_clock_suspend(struct mp_clock *c, int64_t ms);    /* the machine sleeps */
void mp_clock_shift_wall(struct mp_clock *c, int64_t ms); /* the date is changed */

/* The rule that mp_clock_update() applies, a pure function of two readings. */
struct mp_clock_jump mp_clock_compare(const struct mp_clock_reading *before,
				      const struct mp_clock_reading *after);

#endif
