/*
 * dirty.h - objects that changed, reported in batches.
 * The board holds no values, only which objects changed since the last report; observers read the
 * values from the objects. Ten touches are one change. Observers get at most one batch every 16 ms
 * (C16); a batch of more than MP_BOARD_BUDGET comes in slices, one per turn.
 */
#ifndef MP_DIRTY_H
#define MP_DIRTY_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"

struct mp_change {
	mp_id id;
	uint32_t fields; /* a mask whose bits the object's layer names */
};

struct mp_board {
	struct mp_loop *loop;
	struct mp_change *pending; /* owned; each id once */
	size_t n_pending, room;
	uint64_t epoch;            /* counts batches; says which nodes are in pending */
	struct mp_change *telling; /* owned; the batch on its way */
	size_t n_telling, told, telling_room;
	struct mp_list observers;
	struct mp_timer timer;
	struct mp_hook hook;
	int64_t last_ms; /* when observers were last told */
};

/* An object that can change. Embed it; nothing has to be undone. */
struct mp_node {
	struct mp_board *board;
	mp_id id;
	uint64_t epoch; /* the batch it is in, if that is still the board's */
	size_t place;   /* in that batch */
};

typedef void (*mp_changes_fn)(const struct mp_change *changes, size_t n, void *u);

struct mp_observer {
	struct mp_link link;
	mp_changes_fn fn;
	void *u;
	uint64_t since; /* the first batch it hears of */
};

void mp_board_init(struct mp_board *board, struct mp_loop *loop);
void mp_board_done(struct mp_board *board);

void mp_node_init(struct mp_node *node, struct mp_board *board, mp_id id);
/* The object differs in these fields. Merged until told. */
void mp_touch(struct mp_node *node, uint32_t fields);

/* Both may be called during a delivery. The observer is the caller's. */
void mp_observer_join(struct mp_board *board, struct mp_observer *o, mp_changes_fn fn, void *u);
void mp_observer_leave(struct mp_board *board, struct mp_observer *o);

#endif
