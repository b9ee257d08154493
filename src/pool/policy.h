/*
 * policy.h - restart schedules and modes, as values; and the backoff a failing server climbs.
 * The index is forgiven by a stable life, not by a handshake (U11): a crash loop climbs the backoff
 * and stays at its end. Starts that no schedule delayed have a brake of their own.
 */
#ifndef MP_POLICY_H
#define MP_POLICY_H

#include "base/base.h"
#include "config/values/tuning.h"

enum { MP_STORM_STARTS = 5, MP_STORM_MS = 30000 };

struct mp_policy {
	int mode; /* enum mp_restart_mode */
	int64_t schedule_ms[MP_SCHEDULE_MAX];
	size_t n_schedule;
	int64_t stable_ms;
	unsigned attempts; /* of mode remote */
	bool is_remote;    /* the transport: its delays get jitter, and mode remote heals no other
			      (C11) */
};

void mp_policy_init(struct mp_policy *p, const struct mp_restart *restart, bool is_remote);
/* The wait before try number n after a failure (1, 2, ...), without jitter; -1: there is none. */
int64_t mp_policy_get_delay(const struct mp_policy *p, unsigned n);
/* How many tries there are, the first start included; 0: without end. For display. */
unsigned mp_policy_get_max(const struct mp_policy *p);

struct mp_backoff {
	unsigned failures;                   /* since it was forgiven */
	int64_t hurried_ms[MP_STORM_STARTS]; /* the last starts that no schedule delayed, a ring */
	unsigned n_hurried;
	uint64_t seed; /* of the jitter */
};

void mp_backoff_init(struct mp_backoff *l, uint64_t seed);
/* It failed: the wait before the next try; -1: it is given up. */
int64_t mp_backoff_fail(struct mp_backoff *l, const struct mp_policy *p);
/*
 * A start that the schedule does not delay (first, lazy, reconnect, reload) is about to happen: 0,
 * or the schedule's last delay when there were more than 5 in 30 s.
 */
int64_t mp_backoff_hurry(struct mp_backoff *l, const struct mp_policy *p, int64_t now_ms);
void mp_backoff_forgive(struct mp_backoff *l);

#endif
