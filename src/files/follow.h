/*
 * follow.h - reports once that any of many files may have changed.
 * Edits, renames over it, symbolic links that change their target, files and folders that appear or
 * vanish: all lead to one call, shortly after the last of them. The callee finds out what changed.
 * One watch serves any number of followers (sets of files).
 */
#ifndef MP_FOLLOW_H
#define MP_FOLLOW_H

#include "base/base.h"
#include "base/loop.h"

#define MP_WATCH_QUIET_MS  100  /* after the last event */
#define MP_WATCH_LATEST_MS 1000 /* after the first, however many follow */

struct mp_config_watch;
struct mp_follower;
typedef void (*mp_follower_fn)(void *u);

/* MCPOOL_ESYSTEM where the system has no inotify left; callers then reload by hand. */
int mp_config_watch_new(struct mp_loop *loop, struct mp_config_watch **ret_watch,
			struct mcpool_error *reterr) MP_MUST;
/* All followers must be gone. Closes on the loop. Accepts NULL, returns NULL. */
struct mp_config_watch *mp_config_watch_close(struct mp_config_watch *w);

/*
 * Call the followers of files that changed before now at once, from within, without waiting for
 * more changes: the caller is about to read what it may have changed itself.
 */
void mp_config_watch_catch_up(struct mp_config_watch *w);

/*
 * Follow these absolute paths (copied); they need not exist. fn runs from the loop; it may set the
 * paths again, or stop following. Changes made while paths are being set are not lost: the first
 * look at the files happens after following began. Where setting fails, the paths from before are
 * followed on: MCPOOL_EINVAL, MCPOOL_ELIMIT (more than MP_LIMIT_FOLLOWED), MCPOOL_ENOMEM,
 * MCPOOL_ESYSTEM.
 */
struct mp_follower *mp_config_watch_follow(struct mp_config_watch *w, mp_follower_fn fn, void *u);
int mp_follower_set_paths(struct mp_follower *f, const char *const *paths, size_t n,
			  struct mcpool_error *reterr) MP_MUST;
struct mp_follower *mp_follower_leave(struct mp_follower *f); /* accepts NULL, returns NULL */

#endif
