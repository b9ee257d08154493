/*
 * listener.h - accepts connections of a listening socket: the hub's unix socket, and HTTP.
 * When descriptors run out it pauses: the socket stays readable, and retrying without a pause would
 * take a whole core (attack-S13, chaos-C1).
 */
#ifndef MP_LISTENER_H
#define MP_LISTENER_H

#include "base/base.h"
#include "base/loop.h"

enum { MP_LISTENER_PAUSE_MS = 100 };

struct mp_listener;

/*
 * fd listens and does not block; borrowed until mp_listener_free(). accepted() takes the
 * descriptor, and may free the listener. name: in the log, "http"; borrowed. NULL: fd cannot be
 * watched.
 */
struct mp_listener *mp_listener_new(struct mp_loop *loop, int fd, const char *name,
				    void (*accepted)(void *u, int fd), void *u);
void mp_listener_open(struct mp_listener *l);
struct mp_listener *mp_listener_free(struct mp_listener *l); /* accepts NULL, returns NULL */

/* The process and user at the other end of a unix socket; false: the system does not say. */
bool mp_listener_identify(int fd, int *ret_pid, unsigned *ret_uid);

/* For tests: it waits for descriptors. */
bool mp_listener_is_paused(const struct mp_listener *l);

#endif
