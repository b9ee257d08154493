/*
 * memory.c - two ends joined in memory, for tests and embedders.
 * Keeps the promises of a real transport: what is sent arrives in a later turn, and hooks are
 * called from the loop only.
 */
#include "memory.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "outgoing.h"

struct parcel {
	struct mp_link link;
	struct mp_buf text;
};

struct memory {
	struct mp_transport base;
	struct mp_loop *loop;
	struct memory *other;   /* NULL: freed or broken off */
	struct mp_list queue;   /* parcels to the other end */
	uint64_t sent, written; /* bytes */
	bool started, opened, held, closing;
	bool ended, told; /* that it ended */
	struct mcpool_error why;
	struct mp_task task; /* tells what there is to tell, in order */
	struct mp_grave grave;
};

static struct memory *get_memory(struct mp_transport *t)
{
	return mp_container_of(t, struct memory, base);
}

static void wake(struct memory *m)
{
	if (!mp_list_linked(&m->task.link))
		mp_loop_post(m->loop, &m->task);
}

static void drop(struct parcel *parcel)
{
	mp_buf_done(&parcel->text);
	mp_free(parcel);
}

static void drop_all(struct memory *m)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&m->queue)))
		drop(mp_container_of(link, struct parcel, link));
}

/* One parcel at a time: its receiver may do anything, also free this end. */
static void deliver(struct memory *m)
{
	struct memory *to = m->other;
	struct mp_link *link;
	struct parcel *parcel;

	if (m->held || !m->queue.len || !to || !to->opened)
		return;
	link = mp_list_pop(&m->queue);
	mp_check(link);
	parcel = mp_container_of(link, struct parcel, link);
	m->written += parcel->text.len;
	if (m->base.hooks->written && !m->closing)
		m->base.hooks->written(m->base.u, m->written);
	if (to->base.hooks->message && !to->closing)
		to->base.hooks->message(to->base.u, mp_buf_get(&parcel->text));
	drop(parcel);
	if (m->queue.len && !m->closing)
		wake(m);
}

static void work(void *u)
{
	struct memory *m = u;

	if (m->closing) {
		if (m->base.hooks->closed)
			m->base.hooks->closed(m->base.u);
		return;
	}
	if (m->started && !m->opened) {
		m->opened = true;
		if (m->other && m->other->queue.len)
			wake(m->other);
		if (m->base.hooks->opened)
			m->base.hooks->opened(m->base.u);
		if (m->closing)
			return;
	}
	if (m->ended) {
		if (m->opened && !m->told && m->base.hooks->ended) {
			m->told = true;
			m->base.hooks->ended(m->base.u, &m->why);
		}
		return;
	}
	deliver(m);
}

static void end(struct memory *m)
{
	if (!m || m->ended || m->closing)
		return;
	m->ended = true;
	(void)mp_fail(&m->why, MCPOOL_ECLOSED, "the other side closed the stream");
	wake(m);
}

static int start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct memory *m = get_memory(t);

	(void)reterr;
	m->started = true;
	wake(m);
	return 0;
}

static int send_message(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct memory *m = get_memory(t);
	struct parcel *parcel;
	int r;

	if (m->ended || m->closing || !m->other)
		return MCPOOL_ECLOSED;
	parcel = mp_alloc(sizeof(*parcel));
	mp_buf_init(&parcel->text, MP_LIMIT_MESSAGE);
	r = mp_buf_add_pieces(&parcel->text, o->pieces, o->n_pieces);
	if (r < 0) {
		drop(parcel);
		return r;
	}
	mp_check(outgoing_agrees(o, mp_buf_get(&parcel->text)));
	if (ret_at)
		*ret_at = m->sent;
	m->sent += o->len;
	mp_list_append(&m->queue, &parcel->link);
	wake(m);
	return 0;
}

void mp_memory_hold(struct mp_transport *t, bool hold)
{
	struct memory *m = get_memory(t);

	m->held = hold;
	if (!hold && m->queue.len)
		wake(m);
}

void mp_memory_break(struct mp_transport *t)
{
	struct memory *m = get_memory(t);

	drop_all(m);
	if (m->other)
		drop_all(m->other);
	end(m->other);
	end(m);
}

static void close_memory(struct mp_transport *t)
{
	struct memory *m = get_memory(t);

	if (m->closing)
		return;
	m->closing = true;
	drop_all(m);
	end(m->other);
	wake(m);
}

static void free_memory(struct mp_grave *grave)
{
	struct memory *m = mp_container_of(grave, struct memory, grave);

	drop_all(m);
	mp_free(m);
}

static void free_transport(struct mp_transport *t)
{
	struct memory *m = get_memory(t);

	m->closing = true;
	mp_loop_unpost(m->loop, &m->task);
	if (m->other) {
		m->other->other = NULL;
		end(m->other);
		m->other = NULL;
	}
	mp_loop_bury(m->loop, &m->grave, free_memory);
}

static const struct mp_transport_impl impl = {
	.name = "memory",
	.start = start,
	.send = send_message,
	.close = close_memory,
	.destroy = free_transport,
};

static struct memory *new_end(struct mp_loop *loop)
{
	struct memory *m = mp_alloc(sizeof(*m));

	m->base.impl = &impl;
	m->loop = loop;
	mp_list_init(&m->queue);
	mp_task_init(&m->task, work, m);
	return m;
}

void mp_memory_new(struct mp_loop *loop, struct mp_transport **ret_a, struct mp_transport **ret_b)
{
	struct memory *a = new_end(loop), *b = new_end(loop);

	a->other = b;
	b->other = a;
	*ret_a = &a->base;
	*ret_b = &b->base;
}
