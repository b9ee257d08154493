/*
 * read_budget.h - a moment of each turn for whoever pours, and a rest behind it.
 * One peer that sends small messages without end would keep the loop from everybody else. So each
 * has a moment of a turn; and what is still not over after an answer of a good size rests for
 * longer than that, so that most of the time is for others.
 */
#ifndef MP_READ_BUDGET_H
#define MP_READ_BUDGET_H

#include "base/base.h"
#include "base/loop.h"

enum {
	MP_READ_BUDGET_SPELL_US = 50, /* of each turn */
	MP_READ_BUDGET_PIECE =
		4096, /* bytes that are taken before it is looked at the clock again */
	MP_READ_BUDGET_REST_MS = 1,     /* of a large answer, whose end somebody waits for */
	MP_READ_BUDGET_QUIET_MS = 10,   /* of what should be quiet: nobody waits for its end */
	MP_READ_BUDGET_RENEW_MS = 1000, /* after such a silence nothing that came before counts */
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
/* So many bytes were taken. */
void mp_read_budget_note(struct mp_read_budget *r, size_t bytes);
/* Is its moment of this turn over? */
bool mp_read_budget_is_used_up(struct mp_read_budget *r);
/* How long it rests then; 0: until the next turn. It has another moment afterwards. */
int64_t mp_read_budget_rest(struct mp_read_budget *r);

#endif
