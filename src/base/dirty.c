/*
 * dirty.c - objects that changed, reported in batches.
 * Pending changes are an array of {id, fields}; a node remembers its place in it and the number of
 * the batch, so touching is two writes, merging is free, and an object may go before its last
 * change is reported.
 */
#include "base/dirty.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static void at_turn_end(void *u);
static void time_to_tell(void *u);

void mp_board_init(struct mp_board *board, struct mp_loop *loop)
{
	*board = (struct mp_board){.loop = loop, .epoch = 1};
	board->last_ms = mp_loop_now_ms(loop) - MP_BOARD_INTERVAL_MS;
	mp_list_init(&board->observers);
	mp_timer_init(&board->timer, loop, time_to_tell, board);
	mp_loop_at_turn_end(loop, &board->hook, at_turn_end, board);
}

void mp_board_done(struct mp_board *board)
{
	mp_check(board->observers.len == 0);
	mp_timer_stop(&board->timer);
	mp_loop_forget_turn_end(board->loop, &board->hook);
	board->pending = mp_free(board->pending);
	board->telling = mp_free(board->telling);
}

void mp_node_init(struct mp_node *node, struct mp_board *board, mp_id id)
{
	*node = (struct mp_node){.board = board, .id = id};
}

static void dirty_grow(struct mp_board *board)
{
	size_t room = board->room ? board->room * 2 : 16;
	struct mp_change *more = mp_alloc(room * sizeof(*more));

	if (board->n_pending)
		memcpy(more, board->pending, board->n_pending * sizeof(*more));
	mp_free(board->pending);
	board->pending = more;
	board->room = room;
}

void mp_touch(struct mp_node *node, uint32_t fields)
{
	struct mp_board *board = node->board;

	if (node->epoch == board->epoch) {
		board->pending[node->place].fields |= fields;
		return;
	}
	if (board->n_pending == board->room)
		dirty_grow(board);
	node->epoch = board->epoch;
	node->place = board->n_pending;
	board->pending[board->n_pending++] = (struct mp_change){node->id, fields};
	mp_loop_nudge(board->loop); /* the touch may come from a hook, or from outside of a turn */
}

/* Touches from now on belong to the next batch. */
static void close_batch(struct mp_board *board)
{
	struct mp_change *spare = board->telling;
	size_t spare_room = board->telling_room;

	board->telling = board->pending;
	board->telling_room = board->room;
	board->n_telling = board->n_pending;
	board->told = 0;
	board->pending = spare;
	board->room = spare_room;
	board->n_pending = 0;
	board->epoch++;
}

/* A slice of the batch: ten thousand changes must not delay a turn. */
static void tell_slice(struct mp_board *board)
{
	size_t n = board->n_telling - board->told;
	const struct mp_change *slice = board->telling + board->told;

	if (n > MP_BOARD_BUDGET)
		n = MP_BOARD_BUDGET;
	board->told += n;
	board->last_ms = mp_loop_now_ms(board->loop);
	MP_LIST_WALK(&board->observers, link) {
		struct mp_observer *o = mp_container_of(link, struct mp_observer, link);

		if (o->since < board->epoch) /* one that joined just now hears of the next batch */
			o->fn(slice, n, o->u);
	}
}

static void at_turn_end(void *u)
{
	struct mp_board *board = u;
	int64_t wait_ms;

	if (board->told == board->n_telling) {
		if (board->n_pending == 0)
			return;
		wait_ms = board->last_ms + MP_BOARD_INTERVAL_MS - mp_loop_now_ms(board->loop);
		if (wait_ms > 0) {
			if (!mp_timer_is_running(&board->timer))
				mp_timer_start(&board->timer, wait_ms);
			return;
		}
		close_batch(board);
	}
	mp_timer_stop(&board->timer);
	tell_slice(board);
	if (board->told < board->n_telling)
		mp_loop_nudge(board->loop); /* the rest in the next turn */
}

static void time_to_tell(void *u)
{
	(void)u; /* the timer only makes a turn, at whose end the board looks again */
}

void mp_observer_join(struct mp_board *board, struct mp_observer *o, mp_changes_fn fn, void *u)
{
	*o = (struct mp_observer){.fn = fn, .u = u, .since = board->epoch};
	mp_list_append(&board->observers, &o->link);
}

void mp_observer_leave(struct mp_board *board, struct mp_observer *o)
{
	mp_list_remove(&board->observers, &o->link);
}
