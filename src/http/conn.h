/*
 * conn.h - one accepted connection as a stream of bytes: a socket, or TLS on one.
 * What is written is taken whole: what the kernel has no room for waits, up to a limit. Everything
 * is told from the loop. An implementation is a struct of functions, so that tests have conns of
 * their own.
 */
#ifndef MP_CONN_H
#define MP_CONN_H

#include "base/base.h"
#include "base/limits.h"
#include "base/loop.h"
#include "base/str.h"
#include "net/address_list.h"

/* What may wait for a peer that does not read: one message of the largest size, and some. */
#define MP_CONN_WAITING (MP_LIMIT_MESSAGE + MP_MIB(4))

struct mp_conn;

/* None of these is called from a function of this file, and none after mp_conn_close(). */
struct mp_conn_hooks {
	void (*bytes)(void *u, struct mp_str bytes); /* valid during the call */
	void (*taken)(void *u);  /* the peer took some; mp_conn_get_waiting() says what is left */
	void (*ended)(void *u);  /* the peer will send nothing more */
	void (*broken)(void *u); /* nothing can be read or written; told once */
};

struct mp_conn_impl {
	int (*write)(struct mp_conn *w, const struct mp_str *pieces, size_t n);
	size_t (*get_waiting)(const struct mp_conn *w);
	uint64_t (*get_sent)(const struct mp_conn *w);
	void (*read_on)(struct mp_conn *w, bool on);
	void (*shut)(struct mp_conn *w);
	void (*close)(struct mp_conn *w);
};

struct mp_conn {
	const struct mp_conn_impl *impl;
	const struct mp_conn_hooks *hooks;
	void *u;
	struct mp_address peer; /* where it comes from, if the listener knows */
};

/*
 * A connected socket, which is taken, even where this fails. room: where bytes are read to, shared
 * by all conns of a loop. Reading begins at once.
 */
struct mp_conn_room {
	char bytes[MP_KIB(64)];
};
int mp_conn_open(struct mp_loop *loop, int fd, struct mp_conn_room *room,
		 struct mp_conn **ret_conn) MP_MUST;

static inline void mp_conn_set_hooks(struct mp_conn *w, const struct mp_conn_hooks *hooks, void *u)
{
	w->hooks = hooks;
	w->u = u;
}

/* All pieces, in order, in one go if the kernel takes them. MCPOOL_ELIMIT: too much waits;
 * MCPOOL_ENOMEM; MCPOOL_ECLOSED: the peer is gone. In each case the stream is to be given up. */
static inline int MP_MUST mp_conn_write(struct mp_conn *w, const struct mp_str *pieces, size_t n)
{
	return w->impl->write(w, pieces, n);
}
static inline size_t mp_conn_get_waiting(const struct mp_conn *w)
{
	return w->impl->get_waiting(w);
}
/* Bytes that the kernel has taken so far: does the peer read? */
static inline uint64_t mp_conn_get_sent(const struct mp_conn *w)
{
	return w->impl->get_sent(w);
}
static inline void mp_conn_read_on(struct mp_conn *w, bool on)
{
	w->impl->read_on(w, on);
}
/* Nothing more will be written; the peer sees the end behind what waits. */
static inline void mp_conn_shut(struct mp_conn *w)
{
	w->impl->shut(w);
}
/* At once; what waits is lost. Accepts NULL, returns NULL. Freed at the end of the turn. */
static inline struct mp_conn *mp_conn_close(struct mp_conn *w)
{
	if (w)
		w->impl->close(w);
	return NULL;
}

#endif
