/*
 * fdstream.c - one descriptor on the loop: tells when to read, and empties its write_queue.
 * libuv only says when. Its handle is a block of its own, because it lives until libuv lets go of
 * it, which is later than the descriptor is closed.
 */
#include "base/fdstream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

static const struct mp_fdstream_kind *stream_kind(const struct mp_fdstream *s)
{
	/* queue is its first member */
	return (const struct mp_fdstream_kind *)(const void *)s->queue.options;
}

/* --- watching ------------------------------------------------------------------------------- */

static void stream_ready(uv_poll_t *poll, int status, int events);

static void stream_post(struct mp_fdstream *s)
{
	if (!mp_list_linked(&s->task.link))
		mp_loop_post(s->loop, &s->task);
}

static bool stream_may_read(const struct mp_fdstream *s)
{
	return s->reads && !s->queue.is_full && !s->is_stopped;
}

static void stream_watch(struct mp_fdstream *s)
{
	bool waits = !s->is_stopped && mp_write_queue_get_waiting(&s->queue) > 0;
	int want = (stream_may_read(s) ? UV_READABLE : 0) | (waits ? UV_WRITABLE : 0);

	if (!s->poll) { /* a file: the next turn tries again */
		s->is_flush_due = s->is_flush_due || waits;
		if (want && mp_fdstream_is_open(s))
			stream_post(s);
		return;
	}
	if (want == s->watched)
		return;
	s->watched = (uint8_t)want;
	if (want)
		uv_poll_start(s->poll, want, stream_ready);
	else
		uv_poll_stop(s->poll);
}

static ssize_t stream_write_some(struct mp_fdstream *s)
{
	ssize_t taken = mp_write_queue_flush(&s->queue);

	if (taken != 0 || !s->is_broken || mp_write_queue_get_waiting(&s->queue) == 0)
		return taken;
	errno = EPIPE; /* waiting for it would never end */
	return MCPOOL_ECLOSED;
}

static void stream_flush(struct mp_fdstream *s)
{
	ssize_t taken = 0;

	s->is_flush_due = false;
	if (!s->is_stopped)
		taken = stream_write_some(s);
	if (taken >= 0)
		stream_watch(s);
	stream_kind(s)->flushed(s, taken);
}

/*
 * libuv has stopped watching. The read or the write says what is wrong; what the peer sent before
 * comes first. If neither fails, it is watched again.
 */
static void stream_meet_error(struct mp_fdstream *s)
{
	s->is_broken = true;
	s->watched = 0;
	if (stream_kind(s)->readable)
		stream_kind(s)->readable(s);
	if (s->poll && !s->is_stopped && mp_write_queue_get_waiting(&s->queue))
		stream_flush(s);
	if (s->poll)
		stream_watch(s);
}

static void stream_ready(uv_poll_t *poll, int status, int events)
{
	struct mp_fdstream *s = poll->data;

	if (!s)
		return;
	if (status < 0) {
		stream_meet_error(s);
		return;
	}
	if (events & UV_WRITABLE)
		stream_flush(s);
	if (s->poll && events & s->watched & UV_READABLE)
		stream_kind(s)->readable(s);
}

static void stream_turn(void *u)
{
	struct mp_fdstream *s = u;

	if (s->is_flush_due)
		stream_flush(s);
	if (s->poll || !mp_fdstream_is_open(s) || !stream_may_read(s))
		return;
	stream_kind(s)->readable(s);
	if (mp_fdstream_is_open(s))
		stream_watch(s);
}

/* --- the interface -------------------------------------------------------------------------- */

void mp_fdstream_read_on(struct mp_fdstream *s, bool on)
{
	s->reads = on;
	stream_watch(s);
}

ssize_t mp_fdstream_read(struct mp_fdstream *s, void *room, size_t size)
{
	ssize_t n;

	do
		n = read(s->queue.fd, room, size);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		return n;
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && !s->is_broken)
		return 0;
	if (n == 0)
		errno = 0;
	return MCPOOL_ECLOSED;
}

int mp_fdstream_write(struct mp_fdstream *s, const struct mp_str *pieces, size_t n)
{
	int r = mp_write_queue_write(&s->queue, pieces, n);

	stream_watch(s);
	return r;
}

void mp_fdstream_flush_later(struct mp_fdstream *s)
{
	if (!mp_fdstream_is_open(s))
		return;
	s->is_flush_due = true;
	stream_post(s);
}

void mp_fdstream_stop(struct mp_fdstream *s)
{
	s->is_stopped = true;
	s->is_flush_due = false;
	mp_loop_unpost(s->loop, &s->task);
	stream_watch(s);
}

/* --- life ----------------------------------------------------------------------------------- */

static void poll_closed(uv_handle_t *h)
{
	mp_free(h);
}

int mp_fdstream_open(struct mp_fdstream *s, struct mp_loop *loop, int fd,
		     const struct mp_fdstream_kind *kind)
{
	*s = (struct mp_fdstream){.loop = loop, .flags = -1};
	mp_write_queue_init(&s->queue, fd, &kind->queue);
	mp_task_init(&s->task, stream_turn, s);
	if (fd < 0)
		return MCPOOL_ESYSTEM;
	if (kind->restores_flags)
		s->flags = fcntl(fd, F_GETFL);
	s->poll = mp_alloc(sizeof(*s->poll));
	if (uv_poll_init(mp_loop_get_uv(loop), s->poll, fd) == 0) { /* fd does not block now */
		s->poll->data = s;
		return 0;
	}
	s->poll = mp_free(s->poll);
	if (kind->takes_files)
		return 0;
	s->queue.fd = -1;
	return MCPOOL_ESYSTEM;
}

void mp_fdstream_close(struct mp_fdstream *s)
{
	int fd = s->queue.fd;

	if (fd < 0)
		return;
	mp_loop_unpost(s->loop, &s->task);
	if (s->poll) {
		s->poll->data = NULL;
		uv_close((uv_handle_t *)s->poll, poll_closed);
		s->poll = NULL;
	}
	/* libuv has let go of it already. */
	if (s->flags >= 0 && !(s->flags & O_NONBLOCK))
		(void)fcntl(fd, F_SETFL, s->flags); /* as it was; nothing depends on it here */
	close(fd);
	s->queue.fd = -1;
	mp_write_queue_done(&s->queue);
}
