/*
 * memory_wire.h - a wire whose other end is the test: what was written is a text, what comes is
 * told at once.
 */
#ifndef TEST_MEMORY_WIRE_H
#define TEST_MEMORY_WIRE_H

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "face/wire.h"

struct memory_wire {
	struct mp_wire base;
	struct mp_buf out; /* all that was written */
	size_t waiting;    /* bytes of it that the peer has not taken */
	bool slow;         /* it takes nothing by itself */
	bool deaf;         /* writing fails */
	bool reading, shut, closed;
	int writes;
};

static inline struct memory_wire *memory_wire_of(struct mp_wire *w)
{
	return mp_container_of(w, struct memory_wire, base);
}

static inline int memory_wire_write(struct mp_wire *base, const struct mp_str *pieces, size_t n)
{
	struct memory_wire *w = memory_wire_of(base);
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

static inline size_t memory_wire_get_waiting(const struct mp_wire *base)
{
	return memory_wire_of((struct mp_wire *)base)->waiting;
}

static inline uint64_t memory_wire_get_sent(const struct mp_wire *base)
{
	const struct memory_wire *w = memory_wire_of((struct mp_wire *)base);

	return w->out.len - w->waiting;
}

static inline void memory_wire_read_on(struct mp_wire *base, bool on)
{
	memory_wire_of(base)->reading = on;
}

static inline void memory_wire_shut(struct mp_wire *base)
{
	memory_wire_of(base)->shut = true;
}

static inline void memory_wire_close(struct mp_wire *base)
{
	memory_wire_of(base)->closed = true;
}

static inline void memory_wire_init(struct memory_wire *w)
{
	static const struct mp_wire_impl impl = {
		memory_wire_write,   memory_wire_get_waiting, memory_wire_get_sent,
		memory_wire_read_on, memory_wire_shut,        memory_wire_close,
	};

	*w = (struct memory_wire){.base = {.impl = &impl}, .reading = true};
	mp_buf_init(&w->out, MP_WIRE_WAITING);
}

static inline void memory_wire_done(struct memory_wire *w)
{
	mp_buf_done(&w->out);
}

/* What the peer does. */
static inline void memory_wire_say(struct memory_wire *w, struct mp_str bytes)
{
	if (!w->closed)
		w->base.hooks->bytes(w->base.u, bytes);
}

static inline void memory_wire_end(struct memory_wire *w)
{
	if (!w->closed)
		w->base.hooks->ended(w->base.u);
}

static inline void memory_wire_break(struct memory_wire *w)
{
	if (!w->closed)
		w->base.hooks->broken(w->base.u);
}

static inline void memory_wire_take(struct memory_wire *w, size_t n)
{
	w->waiting -= n < w->waiting ? n : w->waiting;
	if (!w->closed)
		w->base.hooks->taken(w->base.u);
}

#endif
