/*
 * manager.h - the service manager that started us, if any: socket activation and notifications
 * (sd_listen_fds(3), sd_notify(3)).
 * The protocol is a datagram and three variables, so libsystemd is not needed.
 */
#ifndef MP_MANAGER_H
#define MP_MANAGER_H

#include "base/base.h"
#include "base/loop.h"

enum { MP_MANAGER_SOCKETS = 16 };

struct mp_manager {
	char notify[108];  /* NOTIFY_SOCKET; "": none */
	size_t notify_len; /* bytes; a path, or an abstract name that starts with NUL */
	int sockets[MP_MANAGER_SOCKETS]; /* listening stream sockets, -1 once taken */
	size_t n_sockets;
	int64_t watchdog_ms; /* interval of watchdog messages; 0: none */
	struct mp_timer timer;
};

/*
 * Read the variables and remove them from the environment, so that children do not see them. Call
 * before any descriptor is opened.
 */
void mp_manager_find(struct mp_manager *m);
bool mp_manager_is_there(const struct mp_manager *m);
/* Take a socket of this family that was handed over (AF_UNIX, AF_INET, AF_INET6); -1: none. */
int mp_manager_take_socket(struct mp_manager *m, int family);
/* "READY=1", "STOPPING=1", "STATUS=..."; lines. Does nothing without a service manager. */
void mp_manager_tell(struct mp_manager *m, const char *format, ...) MP_PRINTF(2, 3);
/* Send watchdog messages in time until the manager is closed. */
void mp_manager_keep_watch(struct mp_manager *m, struct mp_loop *loop);
void mp_manager_done(struct mp_manager *m);

#endif
