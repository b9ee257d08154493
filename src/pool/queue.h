/*
 * queue.h - bounded, fair, abortable waiting lines (U28).
 * A queue has slots and a line. Whoever finds no free slot waits in the line; when a slot is free,
 * sessions take turns, and within a session the first is first. The line is shared as well: once it
 * is full, who has less of it than the greediest gets a place of that one's, which is refused.
 */
#ifndef MP_QUEUE_H
#define MP_QUEUE_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"

struct mp_queue;

/* One place in a queue, embedded in whoever wants it. */
struct mp_ticket {
	struct mp_link link;
	struct mp_queue *queue; /* NULL: in none */
	struct mp_turn *turn;   /* its session's share of the queue */
	bool is_granted;
	bool is_displaced; /* its place is another's, and it does not know it yet */
	void (*granted)(void *u);
	void (*displaced)(void *u);
	void *u;
};

/* exclusive: one session's tickets at a time, and others get their turn (serial). */
struct mp_queue *mp_queue_new(struct mp_loop *loop, size_t slots, size_t line, bool exclusive);
/* Tickets must have left. Accepts NULL, returns NULL. */
struct mp_queue *mp_queue_free(struct mp_queue *q);
/* Somebody else defines it, too: the larger definition wins. */
void mp_queue_widen(struct mp_queue *q, size_t slots, size_t line);

/*
 * 1: granted at once. 0: it waits, and granted() follows from the loop, never from within this
 * file's functions; or displaced(), with the ticket in no queue any more, where it is not NULL.
 * MCPOOL_EQUEUE_FULL. A zeroed ticket is in no queue.
 */
int mp_queue_enter(struct mp_queue *q, struct mp_ticket *t, mp_id session, void (*granted)(void *u),
		   void (*displaced)(void *u), void *u) MP_MUST;
/* Give back the slot or the place in the line; nothing if it is in none. It hears nothing more. */
void mp_queue_leave(struct mp_ticket *t);

/* exclusive: who is being served, as it was given to enter; 0: none, or calls of no session. */
mp_id mp_queue_get_holder(const struct mp_queue *q);
size_t mp_queue_count_granted(const struct mp_queue *q);
size_t mp_queue_count_waiting(const struct mp_queue *q);

#endif
