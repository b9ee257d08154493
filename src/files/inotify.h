/*
 * inotify.h - one inotify instance for all: a folder is watched while it is held.
 */
#ifndef MP_INOTIFY_H
#define MP_INOTIFY_H

#include "base/base.h"
#include "base/loop.h"

struct mp_watched_folder {
	int wd;        /* inotify's number for it, not used again */
	uint32_t mask; /* what is watched: IN_*; only grows */
	size_t holds;
	bool gone; /* inotify has let go of it */
};

struct mp_inotify;
/* name: of what is in it; "" for the folder itself. folder NULL: events were lost. */
typedef void (*mp_inotify_fn)(void *u, const struct mp_watched_folder *folder, uint32_t mask,
			      const char *name);

/* fn runs from the loop, or to catch up; it must not hold or release. */
int mp_inotify_new(struct mp_loop *loop, mp_inotify_fn fn, void *u, struct mp_inotify **ret_folders,
		   struct mcpool_error *reterr) MP_MUST;
/* All folders must be released. Accepts NULL, returns NULL. */
struct mp_inotify *mp_inotify_close(struct mp_inotify *fs);

/* What happened before now is handed out now; fn runs from within. */
void mp_inotify_catch_up(struct mp_inotify *fs);

/*
 * Watch the folder at this path (its last part is not a symbolic link) for these events as well,
 * and hold it. MCPOOL_ENOENT: it is not a folder, or not any more. MCPOOL_EPERM: it may not be
 * read. MCPOOL_ENOMEM. MCPOOL_ESYSTEM: no watches are left.
 */
int mp_inotify_hold(struct mp_inotify *fs, const char *path, uint32_t mask,
		    struct mp_watched_folder **ret_folder, struct mcpool_error *reterr) MP_MUST;
void mp_inotify_release(struct mp_inotify *fs, struct mp_watched_folder *folder);

#endif
