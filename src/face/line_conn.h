/*
 * line_conn.h - lines over a connected socket, for many connections: an idle one has no buffers.
 * Handles backpressure: a peer that does not read is not read from, and is disconnected at a limit.
 */
#ifndef MP_LINE_CONN_H
#define MP_LINE_CONN_H

#include "base/base.h"
#include "base/loop.h"
#include "base/str.h"

struct mp_line_conn;

/* Called from the loop, never from within the functions below. */
struct mp_line_conn_hooks {
	void (*line)(void *u, struct mp_str text); /* valid during the call; may free the conn */
	/* A line over the limit: its first and last bytes. */
	void (*oversize)(void *u, struct mp_str head, struct mp_str tail);
	/* The last call: the peer has disconnected, or did not read (MCPOOL_ELIMIT). */
	void (*ended)(void *u, int why);
	/* After a write: at most MP_LINE_CONN_SHORT bytes are queued. May be NULL. */
	void (*flushed)(void *u);
};
enum { MP_LINE_CONN_SHORT = 64 << 10 };

/* fd is taken. limit: bytes of one received line. */
struct mp_line_conn *mp_line_conn_new(struct mp_loop *loop, int fd, size_t limit,
				      const struct mp_line_conn_hooks *hooks, void *u);
/* Discards queued messages. Accepts NULL, returns NULL. */
struct mp_line_conn *mp_line_conn_free(struct mp_line_conn *w);
void mp_line_conn_set_limit(struct mp_line_conn *w, size_t limit);
/* Bytes that may be queued for the peer; default 65 MiB. */
void mp_line_conn_set_ceiling(struct mp_line_conn *w, size_t ceiling);

/* Queue one message, without its newline; it is written at the end of this turn. */
void mp_line_conn_say(struct mp_line_conn *w, struct mp_str text);
/* Pause or resume reading. */
void mp_line_conn_hush(struct mp_line_conn *w, bool hush);
/* Stop reading; ended() follows when everything queued is written. */
void mp_line_conn_finish(struct mp_line_conn *w);
size_t mp_line_conn_get_queued(const struct mp_line_conn *w);

#endif
