/*
 * wire.c - a socket as a wire. We read and write ourselves; libuv only says when.
 * One read a turn, into memory that all sockets share, so that a connection that says nothing costs
 * nothing; a write goes to the kernel at once, and only what it refuses is copied.
 */
#include "face/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/mem.h"

enum { PIECES = 8 };           /* of one write, at most */
#define COMPACT_AT MP_KIB(256) /* written bytes are dropped when they are this many */
#define KEEP_CAP   MP_KIB(4)   /* a larger queue is given back when it is empty */

struct socket {
	struct mp_wire base;
	struct mp_loop *loop;
	struct mp_wire_room *room; /* borrowed */
	uv_poll_t *poll;           /* owned; freed by libuv's close callback */
	int fd;
	int watched;         /* what poll was started for */
	struct mp_buf queue; /* the first `gone` bytes are written */
	size_t gone;
	uint64_t sent;
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
	bool waits = s->queue.len > s->gone;
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
	if (s->shutting && s->queue.len == s->gone)
		(void)shutdown(s->fd, SHUT_WR); /* the peer may be gone already */
}

/* 0 and more: so many bytes; 0 where it would block. */
static ssize_t push(struct socket *s, const struct iovec *v, size_t n)
{
	struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = n};
	ssize_t r;

	do
		r = n == 1 ? send(s->fd, v->iov_base, v->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT)
			   : sendmsg(s->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0
										   : MCPOOL_ECLOSED;
	s->sent += (uint64_t)r;
	return r;
}

static int queue_rest(struct socket *s, const struct mp_str *pieces, size_t n, size_t skip)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		size_t cut = skip < pieces[i].len ? skip : pieces[i].len;

		skip -= cut;
		r = mp_buf_add(&s->queue, pieces[i].p + cut, pieces[i].len - cut);
	}
	watch(s);
	return r;
}

static int socket_write(struct mp_wire *w, const struct mp_str *pieces, size_t n)
{
	struct socket *s = socket_of(w);
	struct iovec v[PIECES];
	size_t total = 0;
	ssize_t r = 0;

	mp_check(n <= PIECES && !s->shutting);
	if (s->broken || s->closed)
		return MCPOOL_ECLOSED;
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct iovec){(void *)pieces[i].p, pieces[i].len};
		total += pieces[i].len;
	}
	if (s->queue.len == s->gone)
		r = push(s, v, n);
	if (r < 0) {
		break_off(s);
		return (int)r;
	}
	return (size_t)r == total ? 0 : queue_rest(s, pieces, n, (size_t)r);
}

static void drop_written(struct socket *s)
{
	if (s->gone < s->queue.len && s->gone < COMPACT_AT)
		return;
	mp_buf_consume(&s->queue, s->gone);
	s->gone = 0;
	if (s->queue.len == 0)
		mp_buf_shrink(&s->queue, KEEP_CAP);
}

static void write_more(struct socket *s)
{
	struct iovec v = {s->queue.data + s->gone, s->queue.len - s->gone};
	ssize_t r = push(s, &v, 1);

	if (r < 0) {
		break_off(s);
		return;
	}
	s->gone += (size_t)r;
	drop_written(s);
	watch(s);
	shut_now(s);
	if (r > 0)
		s->base.hooks->taken(s->base.u);
}

/* --- reading -------------------------------------------------------------------------------- */

static void read_some(struct socket *s)
{
	ssize_t n = recv(s->fd, s->room->bytes, sizeof(s->room->bytes), MSG_DONTWAIT);

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

	return s->queue.len - s->gone;
}

static uint64_t socket_get_sent(const struct mp_wire *w)
{
	return socket_of((struct mp_wire *)w)->sent;
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

	mp_buf_done(&s->queue);
	mp_free(s);
}

static void socket_close(struct mp_wire *w)
{
	struct socket *s = socket_of(w);
	struct linger reset = {1, 0};

	mp_check(!s->closed);
	/* The peer does not hear the end, so the kernel need not keep what comes before it. */
	if (s->queue.len > s->gone)
		(void)setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	s->closed = true;
	watch(s);
	s->poll->data = NULL;
	uv_close((uv_handle_t *)s->poll, freed);
	close(s->fd);
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
	s->fd = fd;
	s->reading = true;
	s->poll = mp_alloc(sizeof(*s->poll));
	mp_buf_init(&s->queue, MP_WIRE_WAITING + COMPACT_AT);
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
