/*
 * manager.h - the service manager that started us, if one did: sockets it hands over, and what it
 * wants to hear (sd_listen_fds(3), sd_notify(3)).
 * The protocol is a datagram and three variables; libsystemd would be a library for that alone.
 */
#ifndef MP_MANAGER_H
#define MP_MANAGER_H

#include "base/base.h"
#include "base/loop.h"

enum { MP_MANAGER_SOCKETS = 16 };

struct mp_manager {
	char notify[108];                /* where it listens; "": it does not, or there is none */
	size_t notify_len;               /* bytes; a path, or a name that begins with NUL */
	int sockets[MP_MANAGER_SOCKETS]; /* stream sockets that listen, -1 once taken */
	size_t n_sockets;
	int64_t watchdog_ms; /* it wants to hear of us this often; 0: never */
	struct mp_timer timer;
};

/*
 * Read what it left in the environment, and take it out: children are none of its business. Call
 * it before anything else is opened.
 */
void mp_manager_find(struct mp_manager *m);
bool mp_manager_is_there(const struct mp_manager *m);
/* A socket of this family that was handed over (AF_UNIX, AF_INET, AF_INET6); -1: none. Taken. */
int mp_manager_take_socket(struct mp_manager *m, int family);
/* "READY=1", "STOPPING=1", "STATUS=..."; lines. Where nobody listens nothing happens. */
void mp_manager_tell(struct mp_manager *m, const char *format, ...) MP_PRINTF(2, 3);
/* Say that we are alive, in time, until it is done. */
void mp_manager_keep_watch(struct mp_manager *m, struct mp_loop *loop);
void mp_manager_done(struct mp_manager *m);

#endif
