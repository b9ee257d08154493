/*
 * usage.h - memory and processor time of the processes of all servers, and of ours.
 * A worker thread measures when a display asks, and rests after it, so that displays cost a small
 * part of one processor however many servers there are.
 */
#ifndef MP_USAGE_H
#define MP_USAGE_H

#include "base/base.h"
#include "base/list.h"
#include "pool/pool.h"
#include "process/tree.h"

/* Waits for measurements; embedded. */
struct mp_usage_listener {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};

struct mp_usage *mp_usage_new(struct mp_pool *p);
/* Before the pool. Accepts NULL, returns NULL. */
struct mp_usage *mp_usage_free(struct mp_usage *m);

/*
 * True: the measurements there are need not be renewed yet. False: fn runs once, from the loop,
 * when there are new ones.
 */
bool mp_usage_ask(struct mp_usage *m, struct mp_usage_listener *l, void (*fn)(void *u), void *u);
/* Nothing if it does not wait. */
void mp_usage_leave(struct mp_usage *m, struct mp_usage_listener *l);

/* Of hub, launcher and shepherds; all zero before the first measurement. */
struct mp_tree_usage mp_usage_get_own(const struct mp_usage *m);

/* When they were measured last, since 1970; 0: not yet. */
int64_t mp_usage_get_time(const struct mp_usage *m);

/* What all servers use, and what sharing them saves. */
struct mp_usage_sum {
	struct mp_tree_usage servers;
	int64_t calls_last_minute;
	int64_t saved_processes, saved_memory;
};
/* As measured last; first say how many sessions see each server (below). */
struct mp_usage_sum mp_usage_sum_up(const struct mp_usage *m);

/* How many sessions see each instance. */
void mp_usage_clear_sessions(struct mp_pool *p);
void mp_usage_add_sessions(struct mp_pool *p, mp_id instance, size_t n);

/* Of the instance's current process; NULL: not measured. */
struct mp_instance;
const struct mp_tree_usage *mp_usage_get(const struct mp_instance *in);

#endif
