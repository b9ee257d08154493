/*
 * listener.c - accepts connections of a listening socket.
 */
#include "base/listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

enum { AT_ONCE = 16 }; /* accepted in one turn: connected clients are served in between */
#define WARN_AGAIN_MS MP_SECONDS(60)

struct mp_listener {
	uv_poll_t poll;
	struct mp_loop *loop;
	int fd; /* borrowed; -1: freed, and libuv still has the handle */
	const char *name;
	void (*accepted)(void *u, int fd);
	void *u;
	struct mp_timer pause;
	int64_t warned_ms; /* 0: never */
};

static void listener_arrived(uv_poll_t *poll, int status, int events);

static void listener_resume(void *u)
{
	mp_listener_open(u);
}

static void warn(struct mp_listener *l, int errnum)
{
	int64_t now = mp_loop_now_ms(l->loop);
	struct mp_log log;

	if (l->warned_ms && now - l->warned_ms < WARN_AGAIN_MS)
		return;
	l->warned_ms = now ? now : 1;
	mp_log_init(&log, "%s", l->name);
	mp_log_warn(&log, "cannot accept connections: %s; tried again every %d ms",
		    strerrordesc_np(errnum), MP_LISTENER_PAUSE_MS);
}

/* accept() failed: nothing waits, or one connection is gone already, or this process has no room.
 */
static void look_why(struct mp_listener *l, int errnum)
{
	if (errnum == EAGAIN || errnum == EINTR || errnum == ECONNABORTED)
		return;
	warn(l, errnum);
	uv_poll_stop(&l->poll);
	mp_timer_start(&l->pause, MP_LISTENER_PAUSE_MS);
}

static void listener_arrived(uv_poll_t *poll, int status, int events)
{
	struct mp_listener *l = mp_container_of(poll, struct mp_listener, poll);

	(void)status;
	(void)events;
	for (int i = 0; i < AT_ONCE && l->fd >= 0; i++) {
		int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0) {
			look_why(l, errno);
			return;
		}
		l->accepted(l->u, fd);
	}
}

struct mp_listener *mp_listener_new(struct mp_loop *loop, int fd, const char *name,
				    void (*accepted)(void *u, int fd), void *u)
{
	struct mp_listener *l = mp_alloc(sizeof(*l));

	l->loop = loop;
	l->fd = fd;
	l->name = name;
	l->accepted = accepted;
	l->u = u;
	if (uv_poll_init(mp_loop_get_uv(loop), &l->poll, fd) != 0)
		return mp_free(l);
	mp_timer_init(&l->pause, loop, listener_resume, l);
	return l;
}

void mp_listener_open(struct mp_listener *l)
{
	mp_check(uv_poll_start(&l->poll, UV_READABLE, listener_arrived) == 0);
}

static void freed(uv_handle_t *h)
{
	mp_free(mp_container_of((uv_poll_t *)h, struct mp_listener, poll));
}

struct mp_listener *mp_listener_free(struct mp_listener *l)
{
	if (!l)
		return NULL;
	l->fd = -1;
	mp_timer_stop(&l->pause);
	uv_close((uv_handle_t *)&l->poll, freed);
	return NULL;
}

bool mp_listener_is_paused(const struct mp_listener *l)
{
	return mp_timer_is_running(&l->pause);
}

bool mp_listener_identify(int fd, int *ret_pid, unsigned *ret_uid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	*ret_pid = peer.pid;
	*ret_uid = peer.uid;
	return true;
}
