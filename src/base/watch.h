/*
 * watch.h - a descriptor watched by the loop, and closed with its watch.
 * libuv wants a handle to live until its close callback has run; this one does, so that the owner
 * of the watch need not.
 */
#ifndef MP_WATCH_H
#define MP_WATCH_H

#include "base/base.h"
#include "base/loop.h"

struct mp_watch;

/*
 * Takes fd, also when it fails, and makes it non-blocking. fn runs when there is something to read,
 * an end or an error; it learns which by reading.
 */
int mp_watch_new(struct mp_loop *loop, int fd, void (*fn)(void *u), void *u,
		 struct mp_watch **ret_watch) MP_MUST;
/* No more calls, and the descriptor is closed, both at once. Accepts NULL, returns NULL. */
struct mp_watch *mp_watch_free(struct mp_watch *w);
int mp_watch_get_fd(const struct mp_watch *w);

#endif
