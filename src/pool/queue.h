/*
 * queue.h - bounded, fair, cancellable queues (U28).
 * A queue has slots and a line. A ticket without a free slot waits in the line. Sessions take turns
 * for free slots; within a session the oldest ticket is first. The line is shared too: if it is
 * full, the session with the most places loses its last one to a session with fewer, and that
 * ticket is refused.
 */
#ifndef MP_QUEUE_H
#define MP_QUEUE_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"

struct mp_queue;

/* One place in a queue, embedded in the waiting object. */
struct mp_ticket {
	struct mp_link link;
	struct mp_queue *queue; /* NULL: in none */
	struct mp_turn *turn;   /* its session's share of the queue */
	bool is_granted;
	bool is_displaced; /* lost its place and is not told yet */
	void (*granted)(void *u);
	void (*displaced)(void *u);
	void *u;
};

/* exclusive: slots go to one session at a time, in turns (serial). */
struct mp_queue *mp_queue_new(struct mp_loop *loop, size_t slots, size_t line, bool exclusive);
/* Tickets must have left. Accepts NULL, returns NULL. */
struct mp_queue *mp_queue_free(struct mp_queue *q);
/* A second definition of the same queue: the larger one wins. */
void mp_queue_widen(struct mp_queue *q, size_t slots, size_t line);

/*
 * 1: granted at once. 0: waiting; granted() follows from the loop, never from within functions of
 * this file. If displaced is not NULL, displaced() may follow instead, and the ticket is in no
 * queue then. MCPOOL_EQUEUE_FULL. A zeroed ticket is in no queue.
 */
int mp_queue_enter(struct mp_queue *q, struct mp_ticket *t, mp_id session, void (*granted)(void *u),
		   void (*displaced)(void *u), void *u) MP_MUST;
/* Gives back the slot or the place in the line, if any. No callback runs afterwards. */
void mp_queue_leave(struct mp_ticket *t);

/* exclusive: the session being served, as passed to enter; 0: none, or calls without a session. */
mp_id mp_queue_get_holder(const struct mp_queue *q);
size_t mp_queue_count_granted(const struct mp_queue *q);
size_t mp_queue_count_waiting(const struct mp_queue *q);

#endif
