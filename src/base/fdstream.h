/*
 * fdstream.h - one descriptor on the loop: tells when to read, and empties its write_queue.
 * Embedded in its user, which mp_container_of() finds again. The user reads itself, with
 * mp_fdstream_read(); a user that one of the functions below may free must be buried (loop.h).
 */
#ifndef MP_FDSTREAM_H
#define MP_FDSTREAM_H

#include "base/loop.h"
#include "base/write_queue.h"

struct mp_fdstream;
struct uv_poll_s;

/* One kind of descriptor, static. Its functions are called from the loop only. */
struct mp_fdstream_kind {
	struct mp_write_queue_options queue; /* first; while it is full, nothing is read */
	/* There are bytes, an end or an error. NULL: this kind is only written to. */
	void (*readable)(struct mp_fdstream *s);
	/* The queue was written from, as mp_write_queue_flush() returned it: after a failure the
	 * stream is to be stopped or closed. */
	void (*flushed)(struct mp_fdstream *s, ssize_t taken);
	bool takes_files;    /* what cannot be polled counts as always ready */
	bool restores_flags; /* others may share the descriptor, and may want it to block */
};

struct mp_fdstream {
	struct mp_loop *loop;
	struct uv_poll_s *poll;      /* owned, freed by libuv; NULL: a file, or closed */
	struct mp_write_queue queue; /* has the descriptor, and by its options the kind */
	struct mp_task task;         /* to flush; to read from a file */
	int flags;                   /* of the descriptor before us; -1: not restored */
	uint8_t watched;             /* what poll was started for */
	bool reads : 1, is_flush_due : 1;
	bool is_broken : 1;  /* libuv saw an error; reading or writing meets it */
	bool is_stopped : 1; /* see mp_fdstream_stop() */
};

/* Takes fd where it succeeds. MCPOOL_ESYSTEM: it is -1 or cannot be polled. Reading is off. */
int mp_fdstream_open(struct mp_fdstream *s, struct mp_loop *loop, int fd,
		     const struct mp_fdstream_kind *kind) MP_MUST;
/* At once; what waits is lost. Nothing is called any more. Closing it again does nothing. */
void mp_fdstream_close(struct mp_fdstream *s);
/* Neither read nor write any more, and keep the descriptor open. */
void mp_fdstream_stop(struct mp_fdstream *s);

static inline bool mp_fdstream_is_open(const struct mp_fdstream *s)
{
	return s->queue.fd >= 0;
}

void mp_fdstream_read_on(struct mp_fdstream *s, bool on);
/*
 * Returns how many bytes came, 0: none for now. MCPOOL_ECLOSED: the stream is over, errno says
 * why; 0: the peer closed it.
 */
ssize_t mp_fdstream_read(struct mp_fdstream *s, void *room, size_t size) MP_MUST;

/* At once, as mp_write_queue_write(). */
int mp_fdstream_write(struct mp_fdstream *s, const struct mp_str *pieces, size_t n) MP_MUST;
/* What the user has added to the queue goes out at the end of this turn; then flushed(). */
void mp_fdstream_flush_later(struct mp_fdstream *s);

#endif
