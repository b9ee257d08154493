/*
 * pipe.c - a pair of descriptors as a transport: a child's stdio, our own, or a unix socket.
 * What is sent during a turn leaves in one write at its end, so a burst of calls costs one system
 * call.
 */
#include "transport/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/error.h"
#include "base/fdstream.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/outgoing.h"
#include "transport/lines.h"

/* So much is written at once, and not only at the end of the turn. */
#define WRITE_AT MP_KIB(4)
/* Reads of 64 KiB, the size of a pipe, once the peer has stopped reading. */
#define LAST_READS 2

struct pipe {
	struct mp_transport base;
	struct mp_loop *loop;
	struct mp_fdstream in, out;
	struct mp_lines lines;
	uint64_t told;   /* bytes written, as far as the hook knows */
	bool out_ending; /* close the writing end when the queue is empty */
	bool opened, ended, closing;
	struct mcpool_error why; /* of ended */
	struct mp_task ended_task;
	struct mp_task opened_task;
	struct mp_task closed_task;
	struct mp_grave grave;
};

static struct pipe *get_pipe(struct mp_transport *t)
{
	return mp_container_of(t, struct pipe, base);
}

/* --- telling -------------------------------------------------------------------------------- */

static void tell_ended(void *u)
{
	struct pipe *p = u;

	if (p->base.hooks->ended && !p->closing)
		p->base.hooks->ended(p->base.u, &p->why);
}

/* The other side is gone: no more reading; what is queued is lost. Told once, from the loop. */
static void pipe_end(struct pipe *p, int errnum, const char *doing)
{
	if (p->ended || p->closing)
		return;
	p->ended = true;
	if (errnum)
		(void)mp_fail_errno(&p->why, errnum, "%s failed", doing);
	else
		(void)mp_fail(&p->why, MCPOOL_ECLOSED, "the other side closed the stream");
	mp_fdstream_close(&p->in);
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

/* Before the answer to it is handed out, too: a peer answers only what was written. */
static void tell_written(struct pipe *p)
{
	if (p->told == p->out.queue.written || p->closing)
		return;
	p->told = p->out.queue.written;
	if (p->base.hooks->written)
		p->base.hooks->written(p->base.u, p->told);
}

/* --- writing -------------------------------------------------------------------------------- */

static void read_some(struct pipe *p);

/* A peer that stopped reading may have said why: what it wrote until now is still handed out. */
static void give_up_writing(struct pipe *p, int errnum)
{
	tell_written(p); /* some of it may have gone out */
	mp_fdstream_close(&p->out);
	for (int i = 0; i < LAST_READS && mp_fdstream_is_open(&p->in); i++)
		read_some(p);
	pipe_end(p, errnum, "writing");
}

static void pipe_flushed(struct mp_fdstream *s, ssize_t taken)
{
	struct pipe *p = mp_container_of(s, struct pipe, out);

	if (taken < 0) {
		give_up_writing(p, errno);
		return;
	}
	if (p->out_ending && mp_write_queue_get_waiting(&s->queue) == 0)
		mp_fdstream_close(s);
	tell_written(p);
}

static int send_message(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct pipe *p = get_pipe(t);
	struct mp_write_queue *q = &p->out.queue;
	uint64_t at = mp_write_queue_get_end(q);
	int r;

	if (!mp_fdstream_is_open(&p->out) || p->ended || p->closing || p->out_ending)
		return MCPOOL_ECLOSED;
	r = mp_lines_write_pieces(&q->buf, o->pieces, o->n_pieces);
	if (r < 0)
		return r;
	if (ret_at)
		*ret_at = at;
	/* The peer gets to work while the rest of a burst is still being put together. */
	if (mp_write_queue_get_waiting(q) >= WRITE_AT && !p->out.watched)
		(void)!mp_write_queue_flush(q); /* a failure is met again at the end of the turn */
	mp_fdstream_flush_later(&p->out);
	return 0;
}

void mp_pipe_end_writing(struct mp_transport *t)
{
	struct pipe *p = get_pipe(t);

	p->out_ending = true;
	if (mp_write_queue_get_waiting(&p->out.queue) == 0)
		mp_fdstream_close(&p->out);
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

static void read_some(struct pipe *p)
{
	char *room;
	size_t size;
	ssize_t n;

	if (mp_lines_reserve(&p->lines, &room, &size) < 0) {
		pipe_end(p, ENOMEM, "reading");
		return;
	}
	n = mp_fdstream_read(&p->in, room, size);
	if (n > 0) {
		mp_lines_commit(&p->lines, (size_t)n);
		hand_out(p, false);
	} else if (n < 0 && errno) {
		pipe_end(p, errno, "reading");
	} else if (n < 0) {
		hand_out(p, true);
		pipe_end(p, 0, NULL);
	}
}

static void readable(struct mp_fdstream *s)
{
	read_some(mp_container_of(s, struct pipe, in));
}

/* A child's stdio may be anything, and others may share it. */
static const struct mp_fdstream_kind in_kind = {
	.readable = readable,
	.takes_files = true,
	.restores_flags = true,
};
static const struct mp_fdstream_kind out_kind = {
	.queue = {.write = mp_write_queue_to_fd,
		  /* For a peer that does not read: one message of the largest size, and some. */
		  .ceiling = MP_LIMIT_MESSAGE + MP_MIB(1),
		  .keep = MP_MIB(1)},
	.flushed = pipe_flushed,
	.takes_files = true,
	.restores_flags = true,
};

/* --- life ----------------------------------------------------------------------------------- */

static int pipe_start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct pipe *p = get_pipe(t);

	(void)reterr;
	mp_loop_post(p->loop, &p->opened_task);
	mp_fdstream_read_on(&p->in, true);
	return 0;
}

static void pipe_shut(struct pipe *p)
{
	p->closing = true;
	mp_loop_unpost(p->loop, &p->ended_task);
	mp_loop_unpost(p->loop, &p->opened_task);
	mp_fdstream_close(&p->in);
	mp_fdstream_close(&p->out);
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
	if (!p->ended && mp_fdstream_is_open(&p->out))
		(void)!mp_write_queue_flush(&p->out.queue); /* what is not taken is lost */
	pipe_shut(p);
	mp_loop_post(p->loop, &p->closed_task);
}

static void free_pipe(struct mp_grave *grave)
{
	struct pipe *p = mp_container_of(grave, struct pipe, grave);

	mp_lines_done(&p->lines);
	mp_free(p);
}

static void free_transport(struct mp_transport *t)
{
	struct pipe *p = get_pipe(t);

	pipe_shut(p);
	mp_loop_unpost(p->loop, &p->closed_task);
	mp_loop_bury(p->loop, &p->grave, free_pipe); /* it may be handing out a message now */
}

static const struct mp_transport_impl impl = {
	.name = "pipe",
	.start = pipe_start,
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
	mp_task_init(&p->ended_task, tell_ended, p);
	mp_task_init(&p->opened_task, tell_opened, p);
	mp_task_init(&p->closed_task, tell_closed, p);
	/* libuv watches a descriptor once, so a socket gets a second number for its other
	 * direction. Without one, nothing can be sent. */
	if (read_fd == write_fd)
		write_fd = fcntl(read_fd, F_DUPFD_CLOEXEC, 0);
	mp_check(mp_fdstream_open(&p->in, loop, read_fd, &in_kind) == 0);
	(void)!mp_fdstream_open(&p->out, loop, write_fd, &out_kind);
	return &p->base;
}
