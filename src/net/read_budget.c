/*
 * read_budget.c - limits how long one peer may keep the loop busy per turn, then pauses it.
 */
#include "net/read_budget.h"

enum { NO_TURN = -1 };

void mp_read_budget_init(struct mp_read_budget *r, struct mp_loop *loop, bool is_quiet)
{
	*r = (struct mp_read_budget){.loop = loop, .is_quiet = is_quiet, .turn_us = NO_TURN};
}

void mp_read_budget_note(struct mp_read_budget *r, size_t bytes)
{
	int64_t now_us = mp_loop_now_us(r->loop);

	if (now_us - r->last_us >= (int64_t)MP_READ_BUDGET_RENEW_MS * 1000)
		r->bytes = 0;
	r->last_us = now_us;
	r->bytes += bytes;
}

bool mp_read_budget_is_used_up(struct mp_read_budget *r)
{
	int64_t turn_us = mp_loop_now_us(r->loop), now_us = mp_loop_read_us(r->loop);

	if (r->turn_us != turn_us)
		r->spell_us = now_us;
	r->turn_us = turn_us;
	return now_us - r->spell_us >= MP_READ_BUDGET_SPELL_US;
}

int64_t mp_read_budget_rest(struct mp_read_budget *r)
{
	r->turn_us = NO_TURN;
	if (r->bytes <= MP_READ_BUDGET_LARGE)
		return 0;
	return r->is_quiet ? MP_READ_BUDGET_QUIET_MS : MP_READ_BUDGET_REST_MS;
}
