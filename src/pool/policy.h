/*
 * policy.h - restart schedules and modes as values, and the backoff of a failing server.
 * A stable life resets the backoff, not a handshake (U11): a crash loop reaches the last delay and
 * stays there. Starts without a scheduled delay have a limit of their own.
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
	bool is_remote;    /* mode remote restarts only these (C11) */
	bool is_jittered;  /* delays vary; never where a formula or a schedule was given */
	bool is_final;     /* a first start that cannot succeed is not scheduled again (U12) */
	/* Such a start is tried after this time, and when its cause may be gone; 0: never. */
	int64_t final_retry_ms;
};

void mp_policy_init(struct mp_policy *p, const struct mp_restart *restart, bool is_remote);
/* The delay before attempt n after a failure (1, 2, ...), without jitter; -1: none. */
int64_t mp_policy_get_delay(const struct mp_policy *p, unsigned n);
/* Number of retries (C6, C12); 0: unlimited, or none. For display. */
unsigned mp_policy_get_max(const struct mp_policy *p);

struct mp_backoff {
	unsigned failures;                   /* since the last reset */
	int64_t hurried_ms[MP_STORM_STARTS]; /* times of the last starts without a delay, a ring */
	unsigned n_hurried;
	uint64_t seed; /* state of the jitter generator */
};

void mp_backoff_init(struct mp_backoff *l, uint64_t seed);
/* An attempt failed: returns the delay before the next one; -1: give up. */
int64_t mp_backoff_fail(struct mp_backoff *l, const struct mp_policy *p);
/*
 * Call before a start without a scheduled delay (first, lazy, reconnect, reload). Returns 0, or the
 * schedule's last delay if there were more than 5 in 30 s.
 */
int64_t mp_backoff_hurry(struct mp_backoff *l, const struct mp_policy *p, int64_t now_ms);
void mp_backoff_forgive(struct mp_backoff *l);

#endif
