/*
 * pipe.c - a pair of descriptors as a transport: a child's stdio, our own, or a unix socket.
 * We read and write ourselves; libuv only says when. What is sent during a turn leaves in one
 * write at its end, so a burst of calls costs one system call.
 */
#include "transport/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/write_queue.h"
#include "transport/lines.h"

/* So much is written at once, and not only at the end of the turn. */
#define WRITE_AT MP_KIB(4)
/* Reads of 64 KiB, the size of a pipe, once the peer has stopped reading. */
#define LAST_READS 2

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_fd,
	/* For a peer that does not read: one message of the largest size, and some. */
	.ceiling = MP_LIMIT_MESSAGE + MP_MIB(1),
	.keep = MP_MIB(1),
};

/* One direction. Its libuv handle lives until libuv lets go of it, maybe longer than the pipe. */
struct end {
	uv_poll_t poll;
	struct pipe *pipe;
	int fd;       /* -1: closed */
	bool polled;  /* libuv watches it; false for files */
	bool waiting; /* started */
	int flags;    /* of the descriptor before us, given back at the end: others may share it */
};

struct pipe {
	struct mp_transport base;
	struct mp_loop *loop;
	struct end *in, *out; /* owned, freed by libuv's close callback; NULL: closed */
	struct mp_lines lines;
	struct mp_write_queue queue;
	uint64_t told;   /* bytes written, as far as the hook knows */
	bool out_ending; /* close the writing end when the queue is empty */
	bool opened, ended, closing;
	struct mcpool_error why;   /* of ended */
	struct mp_task flush_task; /* at the end of the turn */
	struct mp_task read_task;  /* for descriptors that cannot be polled */
	struct mp_task ended_task;
	struct mp_task opened_task;
	struct mp_task closed_task;
	struct mp_grave grave;
};

static struct pipe *get_pipe(struct mp_transport *t)
{
	return mp_container_of(t, struct pipe, base);
}

/* --- descriptors ---------------------------------------------------------------------------- */

static void freed(uv_handle_t *h)
{
	mp_free(h->data);
}

static struct end *open_end(struct pipe *p, int fd)
{
	struct end *e = mp_alloc(sizeof(*e));

	e->pipe = p;
	e->fd = fd;
	e->flags = fcntl(fd, F_GETFL);
	if (e->flags >= 0)
		(void)fcntl(fd, F_SETFL,
			    e->flags | O_NONBLOCK); /* a failure is met at the first read */
	e->polled = uv_poll_init(mp_loop_get_uv(p->loop), &e->poll, fd) == 0;
	e->poll.data = e;
	return e;
}

static struct end *close_end(struct end *e)
{
	int fd, flags;

	if (!e)
		return NULL;
	fd = e->fd;
	flags = e->flags;
	e->pipe = NULL;
	if (e->polled)
		uv_close((uv_handle_t *)&e->poll, freed);
	else
		mp_free(e);
	/* libuv has let go of it already. */
	if (flags >= 0 && !(flags & O_NONBLOCK))
		(void)fcntl(fd, F_SETFL, flags);
	close(fd);
	return NULL;
}

/* --- telling -------------------------------------------------------------------------------- */

static void tell_ended(void *u)
{
	struct pipe *p = u;

	if (p->base.hooks->ended && !p->closing)
		p->base.hooks->ended(p->base.u, &p->why);
}

/* The other side is gone: no more reading; what is queued is lost. Told once, from the loop. */
static void end(struct pipe *p, int errnum, const char *doing)
{
	if (p->ended || p->closing)
		return;
	p->ended = true;
	if (errnum)
		(void)mp_fail_errno(&p->why, errnum, "%s failed", doing);
	else
		(void)mp_fail(&p->why, MCPOOL_ECLOSED, "the other side closed the stream");
	p->in = close_end(p->in);
	mp_loop_unpost(p->loop, &p->read_task);
	mp_loop_post(p->loop, &p->ended_task);
}

/* Before anything else is told; a message may be there as soon as the descriptor is. */
static void tell_opened(void *u)
{
	struct pipe *p = u;

	if (p->opened)
		return;
	p->opened = true;
	if (p->base.hooks->opened)
		p->base.hooks->opened(p->base.u);
}

/* Before the answer to it is handed out, too: nobody answers what was not written. */
static void tell_written(struct pipe *p)
{
	if (p->told == p->queue.written || p->closing)
		return;
	p->told = p->queue.written;
	if (p->base.hooks->written)
		p->base.hooks->written(p->base.u, p->told);
}

/* --- writing -------------------------------------------------------------------------------- */

static void writable(uv_poll_t *poll, int status, int events);

static void watch_out(struct pipe *p, bool wait)
{
	struct end *e = p->out;

	if (!e || e->waiting == wait)
		return;
	if (!e->polled) { /* a file that is almost full: the next write says what is wrong */
		if (wait && !mp_list_linked(&p->flush_task.link))
			mp_loop_post(p->loop, &p->flush_task);
		return;
	}
	e->waiting = wait;
	if (wait)
		uv_poll_start(&e->poll, UV_WRITABLE, writable);
	else
		uv_poll_stop(&e->poll);
}

static void stop_writing(struct pipe *p)
{
	p->out = close_end(p->out);
	mp_write_queue_clear(&p->queue);
}

static void read_some(void *u);

/* Whoever stopped reading may have said why: what it wrote until now is still handed out. */
static void give_up_writing(struct pipe *p, int errnum)
{
	tell_written(p); /* some of it may have gone out */
	stop_writing(p);
	for (int i = 0; i < LAST_READS && p->in && !p->closing; i++)
		read_some(p);
	end(p, errnum, "writing");
}

static void flush(void *u)
{
	struct pipe *p = u;
	bool waits;

	if (p->out && mp_write_queue_flush(&p->queue) < 0) {
		give_up_writing(p, errno);
		return;
	}
	waits = mp_write_queue_get_waiting(&p->queue) > 0;
	watch_out(p, waits);
	if (!waits && p->out_ending)
		stop_writing(p);
	tell_written(p);
}

static void writable(uv_poll_t *poll, int status, int events)
{
	struct end *e = poll->data;

	(void)status; /* flush() meets the error itself */
	(void)events;
	flush(e->pipe);
}

static int send_message(struct mp_transport *t, struct mp_str text, uint64_t *ret_at)
{
	struct pipe *p = get_pipe(t);
	uint64_t at = mp_write_queue_get_end(&p->queue);
	int r;

	if (!p->out || p->ended || p->closing || p->out_ending)
		return MCPOOL_ECLOSED;
	r = mp_lines_write(&p->queue.buf, text);
	if (r < 0)
		return r;
	if (ret_at)
		*ret_at = at;
	/* The peer gets to work while the rest of a burst is still being put together. */
	if (mp_write_queue_get_waiting(&p->queue) >= WRITE_AT && !p->out->waiting)
		(void)!mp_write_queue_flush(&p->queue); /* a failure is met again by flush() */
	if (!mp_list_linked(&p->flush_task.link))
		mp_loop_post(p->loop, &p->flush_task);
	return 0;
}

void mp_pipe_end_writing(struct mp_transport *t)
{
	struct pipe *p = get_pipe(t);

	p->out_ending = true;
	if (p->out && mp_write_queue_get_waiting(&p->queue) == 0)
		stop_writing(p);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Hooks may close the transport; then nothing more is handed out. */
static void hand_out(struct pipe *p, bool last)
{
	struct mp_line line;

	tell_opened(p);
	tell_written(p);
	while (!p->closing && mp_lines_next(&p->lines, last, &line)) {
		if (line.oversize) {
			if (p->base.hooks->oversize)
				p->base.hooks->oversize(p->base.u, line.text, line.tail);
		} else if (p->base.hooks->message) {
			p->base.hooks->message(p->base.u, line.text);
		}
	}
}

static void read_some(void *u)
{
	struct pipe *p = u;
	char *room;
	size_t size;
	ssize_t n;

	if (mp_lines_reserve(&p->lines, &room, &size) < 0) {
		end(p, ENOMEM, "reading");
		return;
	}
	n = read(p->in->fd, room, size);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		n = -1; /* again when libuv says so */
	else if (n < 0)
		end(p, errno, "reading");
	if (n > 0) {
		mp_lines_commit(&p->lines, (size_t)n);
		hand_out(p, false);
	} else if (n == 0) {
		hand_out(p, true);
		end(p, 0, NULL);
	}
	if (p->in && !p->in->polled && !mp_list_linked(&p->read_task.link))
		mp_loop_post(p->loop, &p->read_task);
}

static void readable(uv_poll_t *poll, int status, int events)
{
	struct end *e = poll->data;

	(void)status; /* read() meets the error itself */
	(void)events;
	read_some(e->pipe);
}

/* --- life ----------------------------------------------------------------------------------- */

static int start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct pipe *p = get_pipe(t);

	(void)reterr;
	mp_loop_post(p->loop, &p->opened_task);
	if (p->in->polled)
		uv_poll_start(&p->in->poll, UV_READABLE, readable);
	else
		mp_loop_post(p->loop, &p->read_task);
	return 0;
}

static void shut(struct pipe *p)
{
	p->closing = true;
	mp_loop_unpost(p->loop, &p->flush_task);
	mp_loop_unpost(p->loop, &p->read_task);
	mp_loop_unpost(p->loop, &p->ended_task);
	mp_loop_unpost(p->loop, &p->opened_task);
	p->in = close_end(p->in);
	p->out = close_end(p->out);
}

static void tell_closed(void *u)
{
	struct pipe *p = u;

	if (p->base.hooks->closed)
		p->base.hooks->closed(p->base.u);
}

static void close_pipe(struct mp_transport *t)
{
	struct pipe *p = get_pipe(t);

	if (p->closing)
		return;
	if (!p->ended && p->out)
		(void)!mp_write_queue_flush(&p->queue); /* what is not taken is lost */
	shut(p);
	mp_loop_post(p->loop, &p->closed_task);
}

static void free_pipe(struct mp_grave *grave)
{
	struct pipe *p = mp_container_of(grave, struct pipe, grave);

	mp_lines_done(&p->lines);
	mp_write_queue_done(&p->queue);
	mp_free(p);
}

static void free_transport(struct mp_transport *t)
{
	struct pipe *p = get_pipe(t);

	shut(p);
	mp_loop_unpost(p->loop, &p->closed_task);
	mp_loop_bury(p->loop, &p->grave, free_pipe); /* it may be handing out a message now */
}

static const struct mp_transport_impl impl = {
	.name = "pipe",
	.start = start,
	.send = send_message,
	.close = close_pipe,
	.destroy = free_transport,
};

/* A peer that is gone is an error of write(), not the end of the process. */
static void ignore_sigpipe(void)
{
	struct sigaction now;

	if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		(void)signal(SIGPIPE, SIG_IGN); /* cannot fail for a signal that exists */
}

struct mp_transport *mp_pipe_new(struct mp_loop *loop, int read_fd, int write_fd)
{
	struct pipe *p = mp_alloc(sizeof(*p));

	ignore_sigpipe();
	p->base.impl = &impl;
	p->loop = loop;
	mp_lines_init(&p->lines, MP_LIMIT_MESSAGE);
	mp_task_init(&p->flush_task, flush, p);
	mp_task_init(&p->read_task, read_some, p);
	mp_task_init(&p->ended_task, tell_ended, p);
	mp_task_init(&p->opened_task, tell_opened, p);
	mp_task_init(&p->closed_task, tell_closed, p);
	/* libuv watches a descriptor once, so a socket gets a second number for its other
	 * direction. */
	if (read_fd == write_fd)
		write_fd = fcntl(read_fd, F_DUPFD_CLOEXEC, 0);
	p->in = open_end(p, read_fd);
	p->out = write_fd < 0 ? NULL : open_end(p, write_fd);
	mp_write_queue_init(&p->queue, write_fd, &queue_options);
	return &p->base;
}
