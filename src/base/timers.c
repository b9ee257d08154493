/*
 * timers.c - the heap of running timers.
 * A binary heap of pointers; each timer knows its place, so stopping one costs as little as
 * starting it. Thousands of deadlines share the one timer that libuv is asked for.
 */
#include "base/timers.h"

#include <string.h>

#include "base/mem.h"

void mp_timers_init(struct mp_timers *timers)
{
	*timers = (struct mp_timers){0};
}

void mp_timers_done(struct mp_timers *timers)
{
	mp_check(timers->len == 0);
	mp_free(timers->heap);
	mp_timers_init(timers);
}

static bool timers_before(const struct mp_timer *a, const struct mp_timer *b)
{
	return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->order < b->order;
}

static void timers_set(struct mp_timers *timers, size_t at, struct mp_timer *t)
{
	timers->heap[at] = t;
	t->place = at + 1;
}

static void sift_up(struct mp_timers *timers, size_t at, struct mp_timer *t)
{
	while (at > 0 && timers_before(t, timers->heap[(at - 1) / 2])) {
		timers_set(timers, at, timers->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	timers_set(timers, at, t);
}

static void sift_down(struct mp_timers *timers, size_t at, struct mp_timer *t)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= timers->len)
			break;
		if (child + 1 < timers->len &&
		    timers_before(timers->heap[child + 1], timers->heap[child]))
			child++;
		if (!timers_before(timers->heap[child], t))
			break;
		timers_set(timers, at, timers->heap[child]);
		at = child;
	}
	timers_set(timers, at, t);
}

static void grow(struct mp_timers *timers)
{
	size_t room = timers->room ? timers->room * 2 : 16;
	struct mp_timer **heap = mp_alloc(room * sizeof(struct mp_timer *));

	if (timers->len)
		memcpy(heap, timers->heap, timers->len * sizeof(struct mp_timer *));
	mp_free(timers->heap);
	timers->heap = heap;
	timers->room = room;
}

void mp_timers_put(struct mp_timers *timers, struct mp_timer *t, int64_t due_ms)
{
	mp_check(t->place == 0);
	if (timers->len == timers->room)
		grow(timers);
	t->due_ms = due_ms;
	t->order = ++timers->started;
	sift_up(timers, timers->len++, t);
}

void mp_timers_take_out(struct mp_timers *timers, struct mp_timer *t)
{
	size_t at = t->place - 1;
	struct mp_timer *last;

	mp_check(t->place && timers->heap[at] == t);
	t->place = 0;
	last = timers->heap[--timers->len];
	if (last == t)
		return;
	if (at > 0 && timers_before(last, timers->heap[(at - 1) / 2]))
		sift_up(timers, at, last);
	else
		sift_down(timers, at, last);
}

struct mp_timer *mp_timers_first(const struct mp_timers *timers)
{
	return timers->len ? timers->heap[0] : NULL;
}
