/*
 * policy.c - restart schedules and modes as values, and the backoff of a failing server.
 * Uses no clock and no server: the caller waits, starts and reports the result.
 */
#include "pool/policy.h"

#include <string.h>

enum {
	REMOTE_FIRST_MS = 1000,
	REMOTE_LAST_MS = 30000,
	REMOTE_ATTEMPTS = 5,
	JITTER_PART = 5, /* jitter subtracts at most a fifth */
};

static const int64_t default_schedule_ms[] = {0, 1000, 2000, 5000, 10000, 30000, 60000};

/* --- policies ------------------------------------------------------------------------------- */

static int64_t get_last(const int64_t *schedule_ms, size_t n)
{
	return schedule_ms[n - 1];
}

/* The configuration always has a schedule. A zeroed policy uses the default. */
static void copy_schedule(struct mp_policy *p, const struct mp_restart *restart)
{
	const int64_t *from = restart->n_schedule ? restart->schedule_ms : default_schedule_ms;
	size_t n = restart->n_schedule ? restart->n_schedule : MP_ARRAY_LEN(default_schedule_ms);

	mp_check(n <= MP_SCHEDULE_MAX);
	memcpy(p->schedule_ms, from, n * sizeof(*from));
	p->n_schedule = n;
}

/* Only modes that restart without end for this kind of server. */
static bool is_lasting(const struct mp_restart *restart, bool is_remote)
{
	return restart->mode == MP_RESTART_RELENTLESS ||
	       (restart->mode == MP_RESTART_REMOTE && is_remote);
}

void mp_policy_init(struct mp_policy *p, const struct mp_restart *restart, bool is_remote)
{
	*p = (struct mp_policy){
		.mode = restart->mode,
		.stable_ms = restart->stable_ms,
		.attempts = restart->attempts > 0 && restart->attempts < INT32_MAX
				    ? (unsigned)restart->attempts
				    : REMOTE_ATTEMPTS,
		.is_remote = is_remote,
		.is_jittered =
			is_remote && restart->is_jittered && restart->mode == MP_RESTART_RELENTLESS,
		.is_final = restart->is_final,
		.final_retry_ms = is_lasting(restart, is_remote) ? restart->final_retry_ms : 0,
	};
	copy_schedule(p, restart);
}

/* 1, 2, 4, ... seconds. */
static int64_t double_up(unsigned n)
{
	int64_t ms = REMOTE_FIRST_MS;

	while (--n && ms < REMOTE_LAST_MS)
		ms *= 2;
	return ms < REMOTE_LAST_MS ? ms : REMOTE_LAST_MS;
}

int64_t mp_policy_get_delay(const struct mp_policy *p, unsigned n)
{
	mp_check(n > 0);
	switch ((enum mp_restart_mode)p->mode) {
	case MP_RESTART_RELENTLESS:
		return p->schedule_ms[n < p->n_schedule ? n - 1 : p->n_schedule - 1];
	case MP_RESTART_REMOTE:
		return p->is_remote && n <= p->attempts ? double_up(n) : -1;
	case MP_RESTART_ONCE:
		return n == 1 ? p->schedule_ms[0] : -1;
	case MP_RESTART_NONE:
		break;
	}
	return -1;
}

unsigned mp_policy_get_max(const struct mp_policy *p)
{
	switch ((enum mp_restart_mode)p->mode) {
	case MP_RESTART_REMOTE:
		return p->is_remote ? p->attempts : 0;
	case MP_RESTART_ONCE:
		return 1;
	case MP_RESTART_RELENTLESS:
	case MP_RESTART_NONE:
		break;
	}
	return 0;
}

/* The delay when there are too many starts. Modes without a schedule use the end of the default. */
static int64_t get_brake(const struct mp_policy *p)
{
	switch ((enum mp_restart_mode)p->mode) {
	case MP_RESTART_RELENTLESS:
		return get_last(p->schedule_ms, p->n_schedule);
	case MP_RESTART_REMOTE:
		return REMOTE_LAST_MS;
	case MP_RESTART_ONCE:
	case MP_RESTART_NONE:
		break;
	}
	return get_last(default_schedule_ms, MP_ARRAY_LEN(default_schedule_ms));
}

/* --- backoff -------------------------------------------------------------------------------- */

void mp_backoff_init(struct mp_backoff *l, uint64_t seed)
{
	*l = (struct mp_backoff){.seed = seed};
}

/* splitmix64: any seed works, including 0. */
static uint64_t draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/*
 * Many machines lose the same remote server at the same moment and must not reconnect at once.
 * Jitter only shortens, so no delay exceeds its formula (C14).
 */
static int64_t jitter(struct mp_backoff *l, int64_t ms)
{
	return ms <= 0 ? ms : ms - (int64_t)(draw(&l->seed) % (uint64_t)(ms / JITTER_PART + 1));
}

int64_t mp_backoff_fail(struct mp_backoff *l, const struct mp_policy *p)
{
	int64_t ms;

	if (l->failures < UINT32_MAX) /* an overflow would restart at delay 0 */
		l->failures++;
	ms = mp_policy_get_delay(p, l->failures);
	return p->is_jittered ? jitter(l, ms) : ms;
}

/*
 * The oldest entry of the ring is replaced next. A delayed start is not recorded, because the ring
 * counts only starts without delay.
 */
int64_t mp_backoff_hurry(struct mp_backoff *l, const struct mp_policy *p, int64_t now_ms)
{
	int64_t *oldest = &l->hurried_ms[l->n_hurried % MP_STORM_STARTS];

	if (l->n_hurried >= MP_STORM_STARTS && now_ms - *oldest < MP_STORM_MS)
		return get_brake(p);
	*oldest = now_ms;
	if (++l->n_hurried == 2 * MP_STORM_STARTS) /* stays full, same position */
		l->n_hurried = MP_STORM_STARTS;
	return 0;
}

void mp_backoff_forgive(struct mp_backoff *l)
{
	l->failures = 0;
}
