/*
 * queue.c - bounded, fair, cancellable queues.
 * A ticket waits in its session's turn. Turns with waiting tickets form a ring; a served turn moves
 * to its end. Slots are assigned immediately, so a free slot never coexists with a ticket that
 * could use it. Callbacks run from the loop, never from within enter or leave.
 */
#include "pool/queue.h"

#include <string.h>

#include "base/mem.h"

/* One session's share of one queue; exists while it has tickets. */
struct mp_turn {
	struct mp_link link; /* in the ring while it has waiting tickets */
	mp_id key;
	struct mp_list waiting; /* tickets, oldest first */
	size_t n_granted;
};

struct mp_queue {
	struct mp_loop *loop;
	size_t slots; /* 0: no limit */
	size_t line;
	bool exclusive;
	struct mp_ids turns;    /* owned; by session */
	struct mp_list ring;    /* turns with waiting tickets */
	struct mp_list chosen;  /* tickets that have a slot and are not told yet */
	struct mp_list ousted;  /* tickets that lost their place and are not told yet */
	struct mp_turn *holder; /* exclusive: the turn that has all granted slots */
	size_t n_granted, n_waiting;
	struct mp_task telling;
	struct mp_grave grave;
};

/* --- turns ---------------------------------------------------------------------------------- */

/* Calls without a session share one turn. */
static mp_id key_of(mp_id session)
{
	return session ? session : UINT64_MAX;
}

static struct mp_turn *get_turn(struct mp_queue *q, mp_id session)
{
	struct mp_turn *turn = mp_ids_get(&q->turns, key_of(session));

	if (turn)
		return turn;
	turn = mp_alloc(sizeof(*turn));
	turn->key = key_of(session);
	mp_list_init(&turn->waiting);
	mp_ids_put(&q->turns, turn->key, turn);
	return turn;
}

static void drop_turn_if_empty(struct mp_queue *q, struct mp_turn *turn)
{
	if (turn->n_granted == 0 && q->holder == turn)
		q->holder = NULL;
	if (turn->n_granted || turn->waiting.len)
		return;
	mp_ids_remove(&q->turns, turn->key);
	mp_free(turn);
}

/* --- choosing ------------------------------------------------------------------------------- */

static bool has_slot(const struct mp_queue *q)
{
	return q->slots == 0 || q->n_granted < q->slots;
}

static void take_slot(struct mp_queue *q, struct mp_ticket *t)
{
	t->is_granted = true;
	t->turn->n_granted++;
	q->n_granted++;
	if (q->exclusive)
		q->holder = t->turn;
}

static void tell_soon(struct mp_queue *q)
{
	if (!mp_list_linked(&q->telling.link))
		mp_loop_post(q->loop, &q->telling);
}

/* Serves the first ticket of the turn; the turn moves to the end of the ring, or leaves it. */
static void queue_serve(struct mp_queue *q, struct mp_turn *turn)
{
	struct mp_link *first = mp_list_pop(&turn->waiting);
	struct mp_ticket *t = mp_container_of(first, struct mp_ticket, link);

	mp_check(first); /* a turn in the ring has a waiting ticket */
	q->n_waiting--;
	take_slot(q, t);
	mp_list_append(&q->chosen, &t->link);
	mp_list_remove(&q->ring, &turn->link);
	if (turn->waiting.len)
		mp_list_append(&q->ring, &turn->link);
	tell_soon(q);
}

static struct mp_turn *first_turn(const struct mp_queue *q)
{
	struct mp_link *link = mp_list_first(&q->ring);

	return link ? mp_container_of(link, struct mp_turn, link) : NULL;
}

/*
 * One session at a time. A new holder gets slots for all its waiting tickets, up to the limit. Its
 * later tickets wait like all others, so that its turn ends.
 */
static void choose_exclusively(struct mp_queue *q)
{
	struct mp_turn *turn = first_turn(q);

	if (!turn || (q->holder && (turn != q->holder || q->ring.len > 1)))
		return;
	while (has_slot(q) && turn->waiting.len)
		queue_serve(q, turn);
}

static void queue_choose(struct mp_queue *q)
{
	if (q->exclusive)
		choose_exclusively(q);
	else
		while (has_slot(q) && q->ring.len)
			queue_serve(q, first_turn(q));
}

static void tell_ousted(struct mp_queue *q)
{
	for (size_t n = q->ousted.len; n && q->ousted.len; n--) {
		struct mp_ticket *t =
			mp_container_of(mp_list_pop(&q->ousted), struct mp_ticket, link);
		void (*displaced)(void *u) = t->displaced;
		void *u = t->u;

		*t = (struct mp_ticket){0};
		if (displaced)
			displaced(u);
	}
}

/*
 * Handles only the tickets chosen before, because a callback may pass its slot to the next ticket.
 * Callbacks may also free the queue, so it lives until the end of the turn.
 */
static void queue_tell(void *u)
{
	struct mp_queue *q = u;

	tell_ousted(q);
	for (size_t n = q->chosen.len; n && q->chosen.len; n--) {
		struct mp_ticket *t =
			mp_container_of(mp_list_pop(&q->chosen), struct mp_ticket, link);

		t->granted(t->u);
	}
}

/* --- tickets -------------------------------------------------------------------------------- */

static void stop_waiting(struct mp_queue *q, struct mp_ticket *t)
{
	mp_list_remove(&t->turn->waiting, &t->link);
	q->n_waiting--;
	if (t->turn->waiting.len == 0)
		mp_list_remove(&q->ring, &t->turn->link);
}

static struct mp_turn *find_greediest(const struct mp_queue *q)
{
	struct mp_turn *most = first_turn(q);

	MP_LIST_EACH(&q->ring, link) {
		struct mp_turn *turn = mp_container_of(link, struct mp_turn, link);

		if (turn->waiting.len > most->waiting.len)
			most = turn;
	}
	return most;
}

/*
 * The line is full. A session with at least two places more than the new ticket's session loses its
 * last one. With a difference of one they would only swap roles, again and again.
 */
static bool make_room(struct mp_queue *q, mp_id session)
{
	struct mp_turn *most = find_greediest(q), *its = mp_ids_get(&q->turns, key_of(session));
	struct mp_ticket *last;

	if (!most || (its ? its->waiting.len : 0) + 1 >= most->waiting.len)
		return false;
	last = mp_container_of(most->waiting.head.prev, struct mp_ticket, link);
	if (!last->displaced)
		return false;
	stop_waiting(q, last);
	last->turn = NULL;
	last->is_displaced = true;
	mp_list_append(&q->ousted, &last->link);
	tell_soon(q);
	return true;
}

/* No waiting ticket could be served, so a ticket that can be served now overtakes none. */
static bool may_pass(const struct mp_queue *q, mp_id session)
{
	if (!has_slot(q) || q->ring.len)
		return false;
	return !q->holder || q->holder->key == key_of(session);
}

int mp_queue_enter(struct mp_queue *q, struct mp_ticket *t, mp_id session, void (*granted)(void *u),
		   void (*displaced)(void *u), void *u)
{
	bool passes = may_pass(q, session);

	mp_check(!t->queue && !mp_list_linked(&t->link));
	if (!passes && q->n_waiting >= q->line && !make_room(q, session))
		return MCPOOL_EQUEUE_FULL;
	*t = (struct mp_ticket){.queue = q, .granted = granted, .displaced = displaced, .u = u};
	t->turn = get_turn(q, session);
	if (passes) {
		take_slot(q, t);
		return 1;
	}
	q->n_waiting++;
	mp_list_append(&t->turn->waiting, &t->link);
	if (!mp_list_linked(&t->turn->link))
		mp_list_append(&q->ring, &t->turn->link);
	return 0;
}

static void give_back(struct mp_queue *q, struct mp_ticket *t)
{
	if (mp_list_linked(&t->link)) /* not told yet */
		mp_list_remove(&q->chosen, &t->link);
	t->turn->n_granted--;
	q->n_granted--;
}

void mp_queue_leave(struct mp_ticket *t)
{
	struct mp_queue *q = t->queue;
	struct mp_turn *turn = t->turn;

	if (!q)
		return;
	if (t->is_displaced)
		mp_list_remove(&q->ousted, &t->link);
	else if (t->is_granted)
		give_back(q, t);
	else
		stop_waiting(q, t);
	*t = (struct mp_ticket){0};
	if (turn)
		drop_turn_if_empty(q, turn);
	queue_choose(q);
}

/* --- queues --------------------------------------------------------------------------------- */

struct mp_queue *mp_queue_new(struct mp_loop *loop, size_t slots, size_t line, bool exclusive)
{
	struct mp_queue *q = mp_alloc(sizeof(*q));

	q->loop = loop;
	q->slots = slots;
	q->line = line;
	q->exclusive = exclusive;
	mp_ids_init(&q->turns);
	mp_list_init(&q->ring);
	mp_list_init(&q->chosen);
	mp_list_init(&q->ousted);
	mp_task_init(&q->telling, queue_tell, q);
	return q;
}

static void free_now(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct mp_queue, grave));
}

struct mp_queue *mp_queue_free(struct mp_queue *q)
{
	if (!q)
		return NULL;
	mp_check(q->n_granted == 0 && q->n_waiting == 0 && q->ousted.len == 0);
	mp_ids_done(&q->turns);
	mp_loop_unpost(q->loop, &q->telling);
	mp_loop_bury(q->loop, &q->grave, free_now);
	return NULL;
}

void mp_queue_widen(struct mp_queue *q, size_t slots, size_t line)
{
	if (q->slots && (slots == 0 || slots > q->slots))
		q->slots = slots;
	if (line > q->line)
		q->line = line;
	queue_choose(q);
}

mp_id mp_queue_get_holder(const struct mp_queue *q)
{
	return q->holder && q->holder->key != key_of(0) ? q->holder->key : 0;
}

size_t mp_queue_count_granted(const struct mp_queue *q)
{
	return q->n_granted;
}

size_t mp_queue_count_waiting(const struct mp_queue *q)
{
	return q->n_waiting;
}
