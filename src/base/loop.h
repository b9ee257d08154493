/*
 * loop.h - one thread working in short turns.
 * A turn: wait for bytes or time, run what became ready, then the tasks posted before, then the
 * end-of-turn hooks, then free what was buried. `now` does not change within a turn. Everything
 * here belongs to the loop's thread.
 */
#ifndef MP_LOOP_H
#define MP_LOOP_H

#include "base/base.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/timers.h"

struct mp_loop;
struct uv_loop_s;

/* A loop on the real clock, or on one that mp_loop_advance() moves by hand. */
int mp_loop_new(struct mp_loop **ret_loop) MP_MUST;
int mp_loop_new_by_hand(int64_t wall_ms, struct mp_loop **ret_loop) MP_MUST;
/* Every handle on it must be closed or closing. Buried objects are freed. */
struct mp_loop *mp_loop_free(struct mp_loop *loop);

/* Turns do not nest: none of these is called from what a turn calls. */
void mp_loop_run(struct mp_loop *loop); /* turns until mp_loop_stop() */
void mp_loop_stop(
	struct mp_loop *loop); /* after this turn; before a run: that run is over at once */
/*
 * One turn; wait: until something happens. True when a timer, a task or finished work ran, or when
 * another turn would find something to do at once.
 */
bool mp_loop_turn(struct mp_loop *loop, bool wait);
/* The coming turn must not wait: there is something new for the end-of-turn hooks to see. */
void mp_loop_nudge(struct mp_loop *loop);
/* For another loop to join: watch the fd, wait at most so long (-1: no limit), then turn. */
int mp_loop_get_fd(struct mp_loop *loop);
int mp_loop_get_timeout(struct mp_loop *loop);
/* For the layers that speak to libuv themselves. */
struct uv_loop_s *mp_loop_get_uv(struct mp_loop *loop);

/* The time of this turn. */
int64_t mp_loop_now_ms(struct mp_loop *loop);      /* monotonic */
int64_t mp_loop_now_us(struct mp_loop *loop);      /* monotonic */
int64_t mp_loop_wall_now_ms(struct mp_loop *loop); /* since 1970 */
/* Monotonic, at this very moment: how long has something within this turn taken? */
int64_t mp_loop_read_us(const struct mp_loop *loop);

/* By hand: let time pass, each timer at its own moment, and turn until nothing is ready. */
void mp_loop_advance(struct mp_loop *loop, int64_t ms);
void mp_loop_suspend(struct mp_loop *loop, int64_t ms);
void mp_loop_shift_wall(struct mp_loop *loop, int64_t ms);

/* See timers.h. Stop it before its object goes. */
void mp_timer_init(struct mp_timer *t, struct mp_loop *loop, void (*fn)(void *u), void *u);
void mp_timer_start(struct mp_timer *t, int64_t delay_ms); /* again: the later call counts */
void mp_timer_stop(struct mp_timer *t);
bool mp_timer_is_running(const struct mp_timer *t);

/* Work for the end of this turn or, posted from there, of the next; embedded, and posted once. */
struct mp_task {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};
void mp_task_init(struct mp_task *task, void (*fn)(void *u), void *u);
void mp_loop_post(struct mp_loop *loop, struct mp_task *task);
void mp_loop_unpost(struct mp_loop *loop, struct mp_task *task); /* nothing if it is not posted */

/* Blocking work on a worker thread, then `done` on the loop, exactly once. */
struct mp_work {
	void (*run)(void *u);  /* on a worker */
	void (*done)(void *u); /* on the loop */
	void *u;
};
int mp_loop_work(struct mp_loop *loop, const struct mp_work *work) MP_MUST;

/* Called at the end of every turn, in the order they were added, until removed. */
struct mp_hook {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};
void mp_loop_at_turn_end(struct mp_loop *loop, struct mp_hook *hook, void (*fn)(void *u), void *u);
void mp_loop_forget_turn_end(struct mp_loop *loop, struct mp_hook *hook);

/* Called when the machine woke from a suspend or the date was changed, before any timer fires. */
struct mp_jump_hook {
	struct mp_link link;
	void (*fn)(const struct mp_clock_jump *jump, void *u);
	void *u;
};
void mp_loop_at_jump(struct mp_loop *loop, struct mp_jump_hook *hook,
		     void (*fn)(const struct mp_clock_jump *jump, void *u), void *u);
void mp_loop_forget_jump(struct mp_loop *loop, struct mp_jump_hook *hook);

/* Free this object when the turn ends, because it may be on the stack of a callback now. */
struct mp_grave {
	struct mp_link link;
	void (*fn)(struct mp_grave *grave);
};
void mp_loop_bury(struct mp_loop *loop, struct mp_grave *grave, void (*fn)(struct mp_grave *grave));

/* Blocks that come and go with every call; see freelist.h. */
struct mp_freelist *mp_loop_get_freelist(struct mp_loop *loop);

#endif
