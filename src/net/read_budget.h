/*
 * read_budget.h - limits how long one peer may keep the loop busy per turn, then pauses it.
 * A peer that sends small messages without end would block all others. So each gets a share of a
 * turn; after a large answer the pause is longer than that share, so that most of the time is for
 * others.
 */
#ifndef MP_READ_BUDGET_H
#define MP_READ_BUDGET_H

#include "base/base.h"
#include "base/loop.h"

enum {
	MP_READ_BUDGET_SPELL_US = 50,   /* of each turn */
	MP_READ_BUDGET_PIECE = 4096,    /* bytes that are taken before the clock is read again */
	MP_READ_BUDGET_REST_MS = 1,     /* pause of a large answer */
	MP_READ_BUDGET_QUIET_MS = 10,   /* pause of a stream that should be quiet */
	MP_READ_BUDGET_RENEW_MS = 1000, /* after such a silence the count starts at 0 */
};
#define MP_READ_BUDGET_LARGE ((size_t)1 << 20)

struct mp_read_budget {
	struct mp_loop *loop;
	bool is_quiet;
	size_t bytes;    /* since the last silence */
	int64_t turn_us; /* of the turn in which it was last asked; -1: none */
	int64_t spell_us, last_us;
};

void mp_read_budget_init(struct mp_read_budget *r, struct mp_loop *loop, bool is_quiet);
/* Bytes were taken. */
void mp_read_budget_note(struct mp_read_budget *r, size_t bytes);
/* Is its share of this turn used up? */
bool mp_read_budget_is_used_up(struct mp_read_budget *r);
/* How long to pause then; 0: until the next turn. Afterwards it has a new share. */
int64_t mp_read_budget_rest(struct mp_read_budget *r);

#endif
