/*
 * line_conn.h - lines over a connected socket, for many at once: one that is idle has no buffers.
 * Backpressure is here, too: a peer that does not read is not read from, and is cut off at a limit.
 */
#ifndef MP_LINE_CONN_H
#define MP_LINE_CONN_H

#include "base/base.h"
#include "base/loop.h"
#include "base/str.h"

struct mp_line_conn;

/* All are called from the loop, never from within one of the functions below. */
struct mp_line_conn_hooks {
	void (*line)(void *u, struct mp_str text); /* valid during the call; may free the conn */
	/* One that was too long: its first and last bytes. */
	void (*oversize)(void *u, struct mp_str head, struct mp_str tail);
	/* The last word: the peer is gone, or did not read (MCPOOL_ELIMIT). */
	void (*ended)(void *u, int why);
};

/* fd is taken. limit: bytes of one line from the peer. */
struct mp_line_conn *mp_line_conn_new(struct mp_loop *loop, int fd, size_t limit,
				      const struct mp_line_conn_hooks *hooks, void *u);
/* What is queued is lost. Accepts NULL, returns NULL. */
struct mp_line_conn *mp_line_conn_free(struct mp_line_conn *w);
void mp_line_conn_set_limit(struct mp_line_conn *w, size_t limit);
/* Bytes that may wait for the peer; else 65 MiB. */
void mp_line_conn_set_ceiling(struct mp_line_conn *w, size_t ceiling);

/* One message, without its newline; it goes out at the end of this turn. */
void mp_line_conn_say(struct mp_line_conn *w, struct mp_str text);
/* Read nothing for the moment, or again. */
void mp_line_conn_hush(struct mp_line_conn *w, bool hush);
/* Nothing more will be said or heard: ended() follows when all that is queued is out. */
void mp_line_conn_finish(struct mp_line_conn *w);
size_t mp_line_conn_get_queued(const struct mp_line_conn *w);

#endif
