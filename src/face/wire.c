/*
 * wire.c - a socket as a wire. We read and write ourselves; libuv only says when.
 * One read a turn, into memory that all sockets share, so that a connection that says nothing costs
 * nothing; a write goes to the kernel at once, and only what it refuses is copied.
 */
#include "face/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/write_queue.h"

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_socket,
	.ceiling = MP_WIRE_WAITING + MP_WRITE_QUEUE_COMPACT,
	.keep = MP_KIB(4),
};

struct socket {
	struct mp_wire base;
	struct mp_loop *loop;
	struct mp_wire_room *room; /* borrowed */
	uv_poll_t *poll;           /* owned; freed by libuv's close callback */
	int watched;               /* what poll was started for */
	struct mp_write_queue queue;
	bool reading, ended, broken, shutting, closed;
	struct mp_task broken_task;
	struct mp_grave grave;
};

static struct socket *socket_of(struct mp_wire *w)
{
	return mp_container_of(w, struct socket, base);
}

static void ready(uv_poll_t *poll, int status, int events);

static void watch(struct socket *s)
{
	bool waits = mp_write_queue_get_waiting(&s->queue) > 0;
	int want = (s->reading && !s->ended ? UV_READABLE : 0) | (waits ? UV_WRITABLE : 0);

	if (s->closed || s->broken)
		want = 0;
	if (want == s->watched)
		return;
	s->watched = want;
	if (want)
		uv_poll_start(s->poll, want, ready);
	else
		uv_poll_stop(s->poll);
}

/* --- writing -------------------------------------------------------------------------------- */

/* Not from within write(): whoever writes learns it as a result. */
static void tell_broken(void *u)
{
	struct socket *s = u;

	if (!s->closed)
		s->base.hooks->broken(s->base.u);
}

static void break_off(struct socket *s)
{
	if (s->broken)
		return;
	s->broken = true;
	watch(s);
	mp_loop_post(s->loop, &s->broken_task);
}

static void shut_now(struct socket *s)
{
	if (s->shutting && mp_write_queue_get_waiting(&s->queue) == 0)
		(void)shutdown(s->queue.fd, SHUT_WR); /* the peer may be gone already */
}

static int socket_write(struct mp_wire *w, const struct mp_str *pieces, size_t n)
{
	struct socket *s = socket_of(w);
	int r;

	mp_check(!s->shutting);
	if (s->broken || s->closed)
		return MCPOOL_ECLOSED;
	r = mp_write_queue_write(&s->queue, pieces, n);
	if (r == MCPOOL_ECLOSED)
		break_off(s);
	else
		watch(s);
	return r;
}

static void write_more(struct socket *s)
{
	ssize_t r = mp_write_queue_flush(&s->queue);

	if (r < 0) {
		break_off(s);
		return;
	}
	watch(s);
	shut_now(s);
	if (r > 0)
		s->base.hooks->taken(s->base.u);
}

/* --- reading -------------------------------------------------------------------------------- */

static void read_some(struct socket *s)
{
	ssize_t n = recv(s->queue.fd, s->room->bytes, sizeof(s->room->bytes), MSG_DONTWAIT);

	if (n > 0) {
		s->base.hooks->bytes(s->base.u, (struct mp_str){s->room->bytes, (size_t)n});
	} else if (n == 0) {
		s->ended = true;
		watch(s);
		s->base.hooks->ended(s->base.u);
	} else if (errno != EAGAIN && errno != EINTR && errno != EWOULDBLOCK) {
		break_off(s);
	}
}

static void ready(uv_poll_t *poll, int status, int events)
{
	struct socket *s = poll->data;

	if (!s)
		return;
	if (status < 0) { /* the read says what it is */
		read_some(s);
		if (!s->closed && !s->ended)
			break_off(s);
		return;
	}
	if (events & UV_WRITABLE)
		write_more(s);
	if ((events & UV_READABLE) && !s->closed && !s->broken && s->reading && !s->ended)
		read_some(s);
}

/* --- life ----------------------------------------------------------------------------------- */

static size_t socket_get_waiting(const struct mp_wire *w)
{
	const struct socket *s = socket_of((struct mp_wire *)w);

	return mp_write_queue_get_waiting(&s->queue);
}

static uint64_t socket_get_sent(const struct mp_wire *w)
{
	return socket_of((struct mp_wire *)w)->queue.written;
}

static void socket_read_on(struct mp_wire *w, bool on)
{
	struct socket *s = socket_of(w);

	s->reading = on;
	watch(s);
}

static void socket_shut(struct mp_wire *w)
{
	struct socket *s = socket_of(w);

	if (s->shutting || s->broken || s->closed)
		return;
	s->shutting = true;
	shut_now(s);
}

static void freed(uv_handle_t *h)
{
	mp_free(h);
}

static void bury(struct mp_grave *grave)
{
	struct socket *s = mp_container_of(grave, struct socket, grave);

	mp_write_queue_done(&s->queue);
	mp_free(s);
}

static void socket_close(struct mp_wire *w)
{
	struct socket *s = socket_of(w);
	struct linger reset = {1, 0};

	mp_check(!s->closed);
	/* The peer does not hear the end, so the kernel need not keep what comes before it. */
	if (mp_write_queue_get_waiting(&s->queue))
		(void)setsockopt(s->queue.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	s->closed = true;
	watch(s);
	s->poll->data = NULL;
	uv_close((uv_handle_t *)s->poll, freed);
	close(s->queue.fd);
	mp_loop_unpost(s->loop, &s->broken_task);
	mp_loop_bury(s->loop, &s->grave, bury);
}

static const struct mp_wire_impl socket_impl = {
	socket_write,   socket_get_waiting, socket_get_sent,
	socket_read_on, socket_shut,        socket_close,
};

int mp_wire_open(struct mp_loop *loop, int fd, struct mp_wire_room *room, struct mp_wire **ret_wire)
{
	struct socket *s = mp_alloc(sizeof(*s));

	s->base.impl = &socket_impl;
	s->loop = loop;
	s->room = room;
	s->reading = true;
	s->poll = mp_alloc(sizeof(*s->poll));
	mp_write_queue_init(&s->queue, fd, &queue_options);
	mp_task_init(&s->broken_task, tell_broken, s);
	if (uv_poll_init(mp_loop_get_uv(loop), s->poll, fd) != 0) {
		close(fd);
		mp_free(s->poll);
		mp_free(s);
		return MCPOOL_ESYSTEM;
	}
	s->poll->data = s;
	watch(s);
	*ret_wire = &s->base;
	return 0;
}
