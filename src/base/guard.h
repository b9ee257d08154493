/*
 * guard.h - time and descriptors for code without a loop: launcher, shepherd, workers.
 */
#ifndef MP_GUARD_H
#define MP_GUARD_H

#include <time.h>
#include <unistd.h>

#include "base/base.h"

static inline int64_t mp_guard_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Close it if it is open, and set it to -1. */
static inline void mp_guard_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
