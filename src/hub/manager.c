/*
 * manager.c - the service manager protocol: socket activation and notifications.
 */
#include "hub/manager.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

enum { FIRST_SOCKET = 3 };

static int64_t get_number(const char *variable)
{
	int64_t value = 0;
	const char *text = getenv(variable);

	return text && mp_str_to_i64(mp_str_of(text), &value) == 0 && value > 0 ? value : 0;
}

/* --- socket activation ----------------------------------------------------------------------- */

static bool does_listen(int fd)
{
	int on = 0, type = 0;
	socklen_t size = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &size) == 0 && on &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* Unusable descriptors stay open: they are not ours to close. */
static void find_sockets(struct mp_manager *m)
{
	int64_t n = get_number("LISTEN_FDS");

	if (get_number("LISTEN_PID") != (int64_t)getpid())
		return;
	for (int fd = FIRST_SOCKET; fd < FIRST_SOCKET + n && fd < FIRST_SOCKET + MP_MANAGER_SOCKETS;
	     fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags < 0)
			continue;
		(void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
		if (does_listen(fd))
			m->sockets[m->n_sockets++] = fd;
	}
}

static void find_notify(struct mp_manager *m)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t n = path ? strlen(path) : 0;

	if (n < 2 || n >= sizeof(m->notify) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(m->notify, path, n + 1);
	m->notify_len = n;
	if (path[0] == '@')
		m->notify[0] = '\0';
}

static void find_watchdog(struct mp_manager *m)
{
	int64_t pid = get_number("WATCHDOG_PID");

	if (m->notify_len && (pid == 0 || pid == (int64_t)getpid()))
		m->watchdog_ms = get_number("WATCHDOG_USEC") / 1000;
}

void mp_manager_find(struct mp_manager *m)
{
	static const char *const all[] = {"LISTEN_FDS",     "LISTEN_PID",    "LISTEN_FDNAMES",
					  "LISTEN_PIDFDID", "NOTIFY_SOCKET", "WATCHDOG_PID",
					  "WATCHDOG_USEC"};

	*m = (struct mp_manager){0};
	find_sockets(m);
	find_notify(m);
	find_watchdog(m);
	for (size_t i = 0; i < MP_ARRAY_LEN(all); i++)
		unsetenv(all[i]);
}

bool mp_manager_is_there(const struct mp_manager *m)
{
	return m->notify_len > 0 || m->n_sockets > 0;
}

int mp_manager_take_socket(struct mp_manager *m, int family)
{
	for (size_t i = 0; i < m->n_sockets; i++) {
		struct sockaddr_storage a = {0};
		socklen_t size = sizeof(a);
		int fd = m->sockets[i];

		if (fd < 0 || getsockname(fd, (struct sockaddr *)&a, &size) < 0 ||
		    a.ss_family != family)
			continue;
		m->sockets[i] = -1;
		return fd;
	}
	return -1;
}

/* --- notifications --------------------------------------------------------------------------- */

void mp_manager_tell(struct mp_manager *m, const char *format, ...)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char text[1024];
	va_list args;
	int fd, n;

	if (!m->notify_len)
		return;
	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || n <= 0)
		return;
	memcpy(a.sun_path, m->notify, m->notify_len);
	/* Ignore errors: the service manager may have exited or be busy. */
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&a,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + m->notify_len));
	close(fd);
}

static void say_alive(void *u)
{
	struct mp_manager *m = u;

	mp_manager_tell(m, "WATCHDOG=1");
	mp_timer_start(&m->timer, m->watchdog_ms / 2);
}

void mp_manager_keep_watch(struct mp_manager *m, struct mp_loop *loop)
{
	if (m->watchdog_ms < 2)
		return;
	mp_timer_init(&m->timer, loop, say_alive, m);
	say_alive(m);
}

void mp_manager_done(struct mp_manager *m)
{
	if (m->timer.loop)
		mp_timer_stop(&m->timer);
	m->timer.loop = NULL;
}
