/*
 * target.h - the file that a path means, with the lock of its folder.
 * The lock is on the folder itself, so that nothing is left lying about and a file that is replaced
 * takes no lock with it.
 */
#ifndef MP_CONFIG_TARGET_H
#define MP_CONFIG_TARGET_H

#include <limits.h>

#include "base/base.h"

struct mp_target {
	const char *path;        /* as it was given, for people; borrowed */
	char folder[PATH_MAX];   /* real */
	char name[NAME_MAX + 1]; /* in it; no link */
	int fd;                  /* of the folder; -1: not open */
	bool locked;             /* false: the file system knows no locks */
};

/*
 * Follow links, make missing folders 0700 and lock. The folder of a link's missing target is not
 * made. MCPOOL_EAGAIN when others held the lock for 10 s, MCPOOL_EIO, MCPOOL_EINVAL.
 */
int mp_target_open(struct mp_target *t, const char *path, struct mcpool_error *reterr) MP_MUST;
void mp_target_close(struct mp_target *t); /* also after a failure */

/* MCPOOL_EIO, with what to do about it; verb is "read" or "written". */
int mp_target_fail(const struct mp_target *t, const char *verb, int errnum,
		   struct mcpool_error *reterr);

#endif
