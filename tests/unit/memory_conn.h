/*
 * memory_conn.h - a conn whose other end is the test: what was written is a text, what comes is
 * told at once.
 */
#ifndef TEST_MEMORY_CONN_H
#define TEST_MEMORY_CONN_H

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "http/conn.h"

struct memory_conn {
	struct mp_conn base;
	struct mp_buf out; /* all that was written */
	size_t waiting;    /* bytes of it that the peer has not taken */
	bool slow;         /* it takes nothing by itself */
	bool deaf;         /* writing fails */
	bool reading, shut, closed;
	int writes;
};

static inline struct memory_conn *memory_conn_of(struct mp_conn *w)
{
	return mp_container_of(w, struct memory_conn, base);
}

static inline int memory_conn_write(struct mp_conn *base, const struct mp_str *pieces, size_t n)
{
	struct memory_conn *w = memory_conn_of(base);
	int r = w->deaf ? MCPOOL_ECLOSED : 0;

	mp_check(!w->closed && !w->shut);
	w->writes++;
	for (size_t i = 0; i < n && r == 0; i++) {
		r = mp_buf_add_str(&w->out, pieces[i]);
		if (r == 0 && w->slow)
			w->waiting += pieces[i].len;
	}
	return r;
}

static inline size_t memory_conn_get_waiting(const struct mp_conn *base)
{
	return memory_conn_of((struct mp_conn *)base)->waiting;
}

static inline uint64_t memory_conn_get_sent(const struct mp_conn *base)
{
	const struct memory_conn *w = memory_conn_of((struct mp_conn *)base);

	return w->out.len - w->waiting;
}

static inline void memory_conn_read_on(struct mp_conn *base, bool on)
{
	memory_conn_of(base)->reading = on;
}

static inline void memory_conn_shut(struct mp_conn *base)
{
	memory_conn_of(base)->shut = true;
}

static inline void memory_conn_close(struct mp_conn *base)
{
	memory_conn_of(base)->closed = true;
}

static inline void memory_conn_init(struct memory_conn *w)
{
	static const struct mp_conn_impl impl = {
		memory_conn_write,   memory_conn_get_waiting, memory_conn_get_sent,
		memory_conn_read_on, memory_conn_shut,        memory_conn_close,
	};

	*w = (struct memory_conn){.base = {.impl = &impl}, .reading = true};
	mp_buf_init(&w->out, MP_CONN_WAITING);
}

static inline void memory_conn_done(struct memory_conn *w)
{
	mp_buf_done(&w->out);
}

/* What the peer does. */
static inline void memory_conn_say(struct memory_conn *w, struct mp_str bytes)
{
	if (!w->closed)
		w->base.hooks->bytes(w->base.u, bytes);
}

static inline void memory_conn_end(struct memory_conn *w)
{
	if (!w->closed)
		w->base.hooks->ended(w->base.u);
}

static inline void memory_conn_break(struct memory_conn *w)
{
	if (!w->closed)
		w->base.hooks->broken(w->base.u);
}

static inline void memory_conn_take(struct memory_conn *w, size_t n)
{
	w->waiting -= n < w->waiting ? n : w->waiting;
	if (!w->closed)
		w->base.hooks->taken(w->base.u);
}

#endif
