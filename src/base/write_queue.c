/*
 * write_queue.c - bytes on their way into a descriptor: write first, keep what it does not take.
 * One system call per write and per flush. A descriptor that took less than it was given is full,
 * so a second call would be wasted.
 */
#include "base/write_queue.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

ssize_t mp_write_queue_to_fd(int fd, const struct iovec *pieces, size_t n)
{
	return n == 1 ? write(fd, pieces->iov_base, pieces->iov_len) : writev(fd, pieces, (int)n);
}

ssize_t mp_write_queue_to_socket(int fd, const struct iovec *pieces, size_t n)
{
	struct msghdr m = {.msg_iov = (struct iovec *)pieces, .msg_iovlen = n};

	if (n == 1)
		return send(fd, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void mp_write_queue_init(struct mp_write_queue *q, int fd,
			 const struct mp_write_queue_options *options)
{
	*q = (struct mp_write_queue){.options = options, .fd = fd};
	mp_buf_init(&q->buf, options->ceiling);
}

void mp_write_queue_done(struct mp_write_queue *q)
{
	mp_buf_done(&q->buf);
	q->done = 0;
}

static ssize_t queue_push(struct mp_write_queue *q, const struct iovec *v, size_t n)
{
	ssize_t r;

	do
		r = q->options->write(q->fd, v, n);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0
										   : MCPOOL_ECLOSED;
	q->written += (uint64_t)r;
	return r;
}

/* Where the line begins that holds the byte `at`. */
static size_t queue_find_line(const char *p, size_t at)
{
	const char *newline = at ? memrchr(p, '\n', at) : NULL;

	return newline ? (size_t)(newline - p) + 1 : 0;
}

static void queue_note_fill(struct mp_write_queue *q)
{
	size_t waiting = mp_write_queue_get_waiting(q);

	if (waiting > q->options->high)
		q->is_full = true;
	else if (waiting <= q->options->low)
		q->is_full = false;
}

static void queue_drop_written(struct mp_write_queue *q)
{
	size_t drop = q->done;

	if (q->done == q->buf.len) {
		mp_buf_shrink(&q->buf, q->options->keep);
		q->done = 0;
	} else if (q->done >= MP_WRITE_QUEUE_COMPACT) {
		if (q->options->keeps_lines)
			drop = queue_find_line(q->buf.data, q->done);
		mp_buf_consume(&q->buf, drop);
		q->done -= drop;
	}
}

ssize_t mp_write_queue_flush(struct mp_write_queue *q)
{
	size_t waiting = mp_write_queue_get_waiting(q);
	struct iovec v;
	ssize_t r = 0;

	if (waiting) {
		v = (struct iovec){q->buf.data + q->done, waiting};
		r = queue_push(q, &v, 1);
	}
	if (r > 0) {
		q->done += (size_t)r;
		queue_drop_written(q);
	}
	queue_note_fill(q);
	return r;
}

/* The pieces without their first `skip` bytes. */
static int queue_keep(struct mp_write_queue *q, const struct mp_str *pieces, size_t n, size_t skip)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		size_t cut = skip < pieces[i].len ? skip : pieces[i].len;

		skip -= cut;
		r = mp_buf_add(&q->buf, pieces[i].p + cut, pieces[i].len - cut);
	}
	return r;
}

/* Returns how many bytes were taken. */
static ssize_t queue_push_pieces(struct mp_write_queue *q, const struct mp_str *pieces, size_t n)
{
	struct iovec v[MP_WRITE_QUEUE_PIECES];

	for (size_t i = 0; i < n; i++)
		v[i] = (struct iovec){(void *)pieces[i].p, pieces[i].len};
	return queue_push(q, v, n);
}

int mp_write_queue_write(struct mp_write_queue *q, const struct mp_str *pieces, size_t n)
{
	size_t total = 0, done = q->done, skip = 0;
	ssize_t taken;
	int r;

	mp_check(n <= (q->options->keeps_lines ? 1 : MP_WRITE_QUEUE_PIECES));
	for (size_t i = 0; i < n; i++)
		total += pieces[i].len;
	if (total && mp_write_queue_get_waiting(q) == 0) {
		taken = queue_push_pieces(q, pieces, n);
		if (taken < 0)
			return MCPOOL_ECLOSED;
		skip = (size_t)taken;
		if (q->options->keeps_lines && skip < total)
			skip = queue_find_line(pieces->p, skip);
		done = (size_t)taken - skip;
	}
	r = skip < total ? queue_keep(q, pieces, n, skip) : 0;
	if (r == 0)
		q->done = done;
	queue_note_fill(q);
	return r;
}

void mp_write_queue_clear(struct mp_write_queue *q)
{
	mp_buf_shrink(&q->buf, q->options->keep);
	q->done = 0;
	queue_note_fill(q);
}

struct mp_str mp_write_queue_get_unfinished(const struct mp_write_queue *q, uint64_t *ret_at)
{
	size_t line = q->done;

	if (mp_write_queue_get_waiting(q))
		line = queue_find_line(q->buf.data, q->done);
	*ret_at = q->written - (q->done - line);
	if (line == q->buf.len)
		return (struct mp_str){NULL, 0};
	return (struct mp_str){q->buf.data + line, q->buf.len - line};
}
