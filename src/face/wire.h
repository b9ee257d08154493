/*
 * wire.h - a stream of bytes to somebody who came to us: a socket, or TLS on one.
 * What is written is taken whole: what the kernel has no room for waits, up to a limit. Everything
 * is told from the loop. An implementation is a struct of functions, so that tests have wires of
 * their own.
 */
#ifndef MP_WIRE_H
#define MP_WIRE_H

#include "base/base.h"
#include "base/limits.h"
#include "base/loop.h"
#include "base/str.h"

/* What may wait for a peer that does not read: one message of the largest size, and some. */
#define MP_WIRE_WAITING (MP_LIMIT_MESSAGE + MP_MIB(4))

struct mp_wire;

/* None of these is called from a function of this file, and none after mp_wire_close(). */
struct mp_wire_hooks {
	void (*bytes)(void *u, struct mp_str bytes); /* valid during the call */
	void (*taken)(void *u);  /* the peer took some; mp_wire_get_waiting() says what is left */
	void (*ended)(void *u);  /* the peer will send nothing more */
	void (*broken)(void *u); /* nothing can be read or written; told once */
};

struct mp_wire_impl {
	int (*write)(struct mp_wire *w, const struct mp_str *pieces, size_t n);
	size_t (*get_waiting)(const struct mp_wire *w);
	uint64_t (*get_sent)(const struct mp_wire *w);
	void (*read_on)(struct mp_wire *w, bool on);
	void (*shut)(struct mp_wire *w);
	void (*close)(struct mp_wire *w);
};

struct mp_wire {
	const struct mp_wire_impl *impl;
	const struct mp_wire_hooks *hooks;
	void *u;
};

/*
 * A connected socket, which is taken, even where this fails. room: where bytes are read to, shared
 * by all wires of a loop. Reading begins at once.
 */
struct mp_wire_room {
	char bytes[MP_KIB(64)];
};
int mp_wire_open(struct mp_loop *loop, int fd, struct mp_wire_room *room,
		 struct mp_wire **ret_wire) MP_MUST;

static inline void mp_wire_set_hooks(struct mp_wire *w, const struct mp_wire_hooks *hooks, void *u)
{
	w->hooks = hooks;
	w->u = u;
}

/* All pieces, in order, in one go if the kernel takes them. MCPOOL_ELIMIT: too much waits;
 * MCPOOL_ENOMEM; MCPOOL_ECLOSED: nobody is there. In each case the stream is to be given up. */
static inline int MP_MUST mp_wire_write(struct mp_wire *w, const struct mp_str *pieces, size_t n)
{
	return w->impl->write(w, pieces, n);
}
static inline size_t mp_wire_get_waiting(const struct mp_wire *w)
{
	return w->impl->get_waiting(w);
}
/* Bytes that the kernel has taken so far: does the peer read? */
static inline uint64_t mp_wire_get_sent(const struct mp_wire *w)
{
	return w->impl->get_sent(w);
}
static inline void mp_wire_read_on(struct mp_wire *w, bool on)
{
	w->impl->read_on(w, on);
}
/* Nothing more will be written; the peer sees the end behind what waits. */
static inline void mp_wire_shut(struct mp_wire *w)
{
	w->impl->shut(w);
}
/* At once; what waits is lost. Accepts NULL, returns NULL. Freed at the end of the turn. */
static inline struct mp_wire *mp_wire_close(struct mp_wire *w)
{
	if (w)
		w->impl->close(w);
	return NULL;
}

#endif
