/*
 * write_queue.h - bytes on their way into a descriptor: write first, keep what it does not take.
 * Knows no loop: the owner calls mp_write_queue_flush() when the descriptor takes bytes again. The
 * owner opens and closes the descriptor, too.
 */
#ifndef MP_WRITE_QUEUE_H
#define MP_WRITE_QUEUE_H

#include <sys/uio.h>

#include "base/buf.h"

enum { MP_WRITE_QUEUE_PIECES = 8 }; /* of one write, at most */
/* Written bytes at the front are dropped when they are this many, not after each write. */
#define MP_WRITE_QUEUE_COMPACT ((size_t)256 * 1024)

/* As writev(): how many bytes were taken, or -1 with errno. */
typedef ssize_t mp_write_queue_fn(int fd, const struct iovec *pieces, size_t n);
mp_write_queue_fn
	mp_write_queue_to_fd; /* any descriptor that does not block; SIGPIPE must be ignored */
mp_write_queue_fn mp_write_queue_to_socket; /* never blocks and never raises SIGPIPE */

/* Shared by all queues of one kind, static. */
struct mp_write_queue_options {
	mp_write_queue_fn *write;
	size_t ceiling; /* of the memory; written bytes count until they are dropped */
	size_t keep;    /* memory that an empty queue may hold on to */
	/* Full above high, until no more than low waits: the owner stops reading from the peer. */
	size_t high, low;
	/* Keep a line that is partly written from its first byte: see get_unfinished(). */
	bool keeps_lines;
};

struct mp_write_queue {
	const struct mp_write_queue_options *options;
	/* The first `done` bytes are written. The owner may add behind them, then flush. */
	struct mp_buf buf;
	size_t done;
	uint64_t written; /* bytes that the descriptor ever took */
	int fd;           /* borrowed; -1: none */
	bool is_full;     /* as of the last write */
};

void mp_write_queue_init(struct mp_write_queue *q, int fd,
			 const struct mp_write_queue_options *options);
void mp_write_queue_done(struct mp_write_queue *q);

/*
 * All pieces, in order, in one system call; what is not taken is copied. A queue that keeps lines
 * takes one piece of whole lines. MCPOOL_ECLOSED: the write failed, errno says why, nothing was
 * taken. MCPOOL_ELIMIT, MCPOOL_ENOMEM: some bytes may be out, so the stream cannot go on.
 */
int mp_write_queue_write(struct mp_write_queue *q, const struct mp_str *pieces, size_t n) MP_MUST;
/*
 * One system call, none if nothing waits. Returns how many bytes were taken, 0 where it would
 * block; MCPOOL_ECLOSED: the write failed, errno says why, what waits still does.
 */
ssize_t mp_write_queue_flush(struct mp_write_queue *q) MP_MUST;
/* Forget what waits. */
void mp_write_queue_clear(struct mp_write_queue *q);

static inline size_t mp_write_queue_get_waiting(const struct mp_write_queue *q)
{
	return q->buf.len - q->done;
}

/* Where the next byte that is added will be, in all that went this way. */
static inline uint64_t mp_write_queue_get_end(const struct mp_write_queue *q)
{
	return q->written + mp_write_queue_get_waiting(q);
}

/* What waits, from the beginning of its first line, and where that is. For keeps_lines. */
struct mp_str mp_write_queue_get_unfinished(const struct mp_write_queue *q, uint64_t *ret_at);

#endif
