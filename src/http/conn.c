/*
 * conn.c - a socket as a conn.
 * One read a turn, into memory that all sockets share, so that a connection that says nothing costs
 * nothing; a write goes to the kernel at once, and only what it refuses is copied.
 */
#include "http/conn.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdstream.h"
#include "base/mem.h"

struct socket {
	struct mp_conn base;
	struct mp_conn_room *room; /* borrowed */
	struct mp_fdstream stream;
	bool ended, broken, shutting, closed;
	struct mp_grave grave;
};

static struct socket *socket_of(struct mp_conn *w)
{
	return mp_container_of(w, struct socket, base);
}

/* --- writing -------------------------------------------------------------------------------- */

/* The hook is called at the end of the turn, and not from within write(), which returns it. */
static void break_off(struct socket *s)
{
	if (s->broken)
		return;
	s->broken = true;
	mp_fdstream_stop(&s->stream);
	mp_fdstream_flush_later(&s->stream);
}

static void shut_now(struct socket *s)
{
	if (s->shutting && mp_write_queue_get_waiting(&s->stream.queue) == 0)
		(void)shutdown(s->stream.queue.fd, SHUT_WR); /* the peer may be gone already */
}

static int socket_write(struct mp_conn *w, const struct mp_str *pieces, size_t n)
{
	struct socket *s = socket_of(w);
	int r;

	mp_check(!s->shutting);
	if (s->broken || s->closed)
		return MCPOOL_ECLOSED;
	r = mp_fdstream_write(&s->stream, pieces, n);
	if (r == MCPOOL_ECLOSED)
		break_off(s);
	return r;
}

static void conn_flushed(struct mp_fdstream *f, ssize_t taken)
{
	struct socket *s = mp_container_of(f, struct socket, stream);

	if (s->broken) {
		s->base.hooks->broken(s->base.u);
		return;
	}
	if (taken < 0) {
		break_off(s);
		return;
	}
	shut_now(s);
	if (taken > 0)
		s->base.hooks->taken(s->base.u);
}

/* --- reading -------------------------------------------------------------------------------- */

static void read_some(struct socket *s)
{
	ssize_t n = mp_fdstream_read(&s->stream, s->room->bytes, sizeof(s->room->bytes));

	if (n > 0) {
		s->base.hooks->bytes(s->base.u, (struct mp_str){s->room->bytes, (size_t)n});
	} else if (n < 0 && errno) {
		break_off(s);
	} else if (n < 0) {
		s->ended = true;
		mp_fdstream_read_on(&s->stream, false);
		s->base.hooks->ended(s->base.u);
	}
}

static void readable(struct mp_fdstream *f)
{
	struct socket *s = mp_container_of(f, struct socket, stream);

	if (s->ended || s->broken)
		return;
	read_some(s);
	if (f->is_broken && !s->closed && !s->ended)
		break_off(s);
}

static const struct mp_fdstream_kind kind = {
	.queue = {.write = mp_write_queue_to_socket,
		  .ceiling = MP_CONN_WAITING + MP_WRITE_QUEUE_COMPACT,
		  .keep = MP_KIB(4),
		  .high = SIZE_MAX, /* the user decides when to stop reading */
		  .low = SIZE_MAX},
	.readable = readable,
	.flushed = conn_flushed,
};

/* --- life ----------------------------------------------------------------------------------- */

static size_t socket_get_waiting(const struct mp_conn *w)
{
	const struct socket *s = socket_of((struct mp_conn *)w);

	return mp_write_queue_get_waiting(&s->stream.queue);
}

static uint64_t socket_get_sent(const struct mp_conn *w)
{
	return socket_of((struct mp_conn *)w)->stream.queue.written;
}

static void socket_read_on(struct mp_conn *w, bool on)
{
	struct socket *s = socket_of(w);

	mp_fdstream_read_on(&s->stream, on && !s->ended);
}

static void socket_shut(struct mp_conn *w)
{
	struct socket *s = socket_of(w);

	if (s->shutting || s->broken || s->closed)
		return;
	s->shutting = true;
	shut_now(s);
}

static void bury(struct mp_grave *grave)
{
	struct socket *s = mp_container_of(grave, struct socket, grave);

	mp_free(s);
}

static void socket_close(struct mp_conn *w)
{
	struct socket *s = socket_of(w);
	struct linger reset = {1, 0};

	mp_check(!s->closed);
	/* The peer does not hear the end, so the kernel need not keep what comes before it. */
	if (mp_write_queue_get_waiting(&s->stream.queue))
		(void)setsockopt(s->stream.queue.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	s->closed = true;
	mp_fdstream_close(&s->stream);
	mp_loop_bury(s->stream.loop, &s->grave, bury);
}

static const struct mp_conn_impl socket_impl = {
	socket_write,   socket_get_waiting, socket_get_sent,
	socket_read_on, socket_shut,        socket_close,
};

int mp_conn_open(struct mp_loop *loop, int fd, struct mp_conn_room *room, struct mp_conn **ret_conn)
{
	struct socket *s = mp_alloc(sizeof(*s));

	s->base.impl = &socket_impl;
	s->room = room;
	if (mp_fdstream_open(&s->stream, loop, fd, &kind) < 0) {
		close(fd);
		mp_free(s);
		return MCPOOL_ESYSTEM;
	}
	mp_fdstream_read_on(&s->stream, true);
	*ret_conn = &s->base;
	return 0;
}
