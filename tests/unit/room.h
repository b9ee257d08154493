/*
 * room.h - what the tests of the queue share: a loop, a queue, and guests with tickets.
 */
#ifndef TEST_ROOM_H
#define TEST_ROOM_H

#include "test.h"

#include "base/mem.h"
#include "pool/queue.h"

enum { TICKETS = 400, SESSIONS = 50 };

struct guest {
	struct mp_ticket ticket;
	int told;  /* how often */
	int lost;  /* how often it was displaced */
	int order; /* among all that were told; from 1 */
	void (*then)(struct guest *g);
};

/* A loop, a queue and guests. */
struct room {
	struct mp_loop *loop;
	struct mp_queue *q;
	struct guest guests[TICKETS];
	int told;
};
static struct room *here; /* of the test that runs */

static inline void hear(void *u)
{
	struct guest *g = u;

	g->told++;
	g->order = ++here->told;
	if (g->then)
		g->then(g);
}

static inline void lose(void *u)
{
	struct guest *g = u;

	g->lost++;
}

static inline void room_freep(struct room **r)
{
	if (!*r)
		return;
	for (int i = 0; i < TICKETS; i++)
		mp_queue_leave(&(*r)->guests[i].ticket);
	mp_queue_free((*r)->q);
	mp_loop_free((*r)->loop);
	mp_free(*r);
}

static inline struct room *room_new(size_t slots, size_t line, bool exclusive)
{
	MP_CLEANUP(room_freep) struct room *r = mp_alloc(sizeof(*r));

	here = r;
	if (mp_loop_new_by_hand(0, &r->loop) < 0)
		return NULL;
	r->q = mp_queue_new(r->loop, slots, line, exclusive);
	return MP_TAKE(r);
}

static inline int enter(struct room *r, int i, mp_id session)
{
	return mp_queue_enter(r->q, &r->guests[i].ticket, session, hear, lose, &r->guests[i]);
}

static inline void leave(struct room *r, int i)
{
	mp_queue_leave(&r->guests[i].ticket);
}

static inline void settle(struct room *r)
{
	mp_loop_advance(r->loop, 0);
}

static inline bool is_told(const struct room *r, int i)
{
	return r->guests[i].told == 1 && r->guests[i].ticket.is_granted;
}

#endif
