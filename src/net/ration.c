/*
 * ration.c - a moment of each turn for whoever pours, and a rest behind it.
 */
#include "net/ration.h"

enum { NO_TURN = -1 };

void mp_ration_init(struct mp_ration *r, struct mp_loop *loop, bool is_quiet)
{
	*r = (struct mp_ration){.loop = loop, .is_quiet = is_quiet, .turn_us = NO_TURN};
}

void mp_ration_note(struct mp_ration *r, size_t bytes)
{
	int64_t now_us = mp_loop_now_us(r->loop);

	if (now_us - r->last_us >= (int64_t)MP_RATION_ANEW_MS * 1000)
		r->bytes = 0;
	r->last_us = now_us;
	r->bytes += bytes;
}

bool mp_ration_is_used_up(struct mp_ration *r)
{
	int64_t turn_us = mp_loop_now_us(r->loop), now_us = mp_loop_read_us(r->loop);

	if (r->turn_us != turn_us)
		r->spell_us = now_us;
	r->turn_us = turn_us;
	return now_us - r->spell_us >= MP_RATION_SPELL_US;
}

int64_t mp_ration_rest(struct mp_ration *r)
{
	r->turn_us = NO_TURN;
	if (r->bytes <= MP_RATION_LARGE)
		return 0;
	return r->is_quiet ? MP_RATION_QUIET_MS : MP_RATION_REST_MS;
}
