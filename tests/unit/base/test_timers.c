/* test_timers.c - the heap of timers beside a model that is sorted by hand. */
#include "test.h"

#include "base/timers.h"

enum { TIMERS = 300, STEPS = 10000 };

static struct mp_timer timers[TIMERS];

/* Takes out what is left, because a heap with timers in it must not end. */
static void finish(struct mp_timers *heap)
{
	while (mp_timers_first(heap))
		mp_timers_take_out(heap, mp_timers_first(heap));
	mp_timers_done(heap);
}

static void start(struct mp_timers *heap)
{
	memset(timers, 0, sizeof(timers));
	mp_timers_init(heap);
}

TEST(nothing_runs_at_first)
{
	MP_CLEANUP(finish) struct mp_timers heap;

	start(&heap);
	CHECK(!mp_timers_first(&heap));
	CHECK_EQ(heap.len, 0);
}

TEST(the_one_due_first_comes_first)
{
	static const int64_t due[] = {50, 10, 30, 20, 40, -5, INT64_MAX, INT64_MIN, 10};
	static const size_t order[] = {7, 5, 1, 8, 3, 2, 4, 0, 6};
	MP_CLEANUP(finish) struct mp_timers heap;

	start(&heap);
	for (size_t i = 0; i < MP_ARRAY_LEN(due); i++)
		mp_timers_put(&heap, &timers[i], due[i]);
	for (size_t i = 0; i < MP_ARRAY_LEN(order); i++) {
		CHECK(mp_timers_first(&heap) == &timers[order[i]]);
		CHECK_EQ(timers[order[i]].due_ms, due[order[i]]);
		mp_timers_take_out(&heap, &timers[order[i]]);
		CHECK_EQ(timers[order[i]].place, 0);
	}
	CHECK(!mp_timers_first(&heap));
}

TEST(ties_keep_the_order_of_starting)
{
	MP_CLEANUP(finish) struct mp_timers heap;

	start(&heap);
	for (size_t i = 0; i < TIMERS; i++)
		mp_timers_put(&heap, &timers[i * 7 % TIMERS], 5); /* 7 divides no multiple of it */
	mp_timers_take_out(&heap, &timers[0]);
	mp_timers_put(&heap, &timers[0], 5); /* started again, it is the last */
	for (size_t i = 1; i < TIMERS; i++) {
		CHECK(mp_timers_first(&heap) == &timers[i * 7 % TIMERS]);
		mp_timers_take_out(&heap, mp_timers_first(&heap));
	}
	CHECK(mp_timers_first(&heap) == &timers[0]);
}

TEST(taking_out_the_last_the_first_and_the_only_one)
{
	MP_CLEANUP(finish) struct mp_timers heap;

	start(&heap);
	mp_timers_put(&heap, &timers[0], 1);
	mp_timers_take_out(&heap, &timers[0]);
	CHECK(!mp_timers_first(&heap));
	for (size_t i = 0; i < 10; i++)
		mp_timers_put(&heap, &timers[i], (int64_t)i);
	mp_timers_take_out(&heap, &timers[9]);
	mp_timers_take_out(&heap, &timers[0]);
	CHECK(mp_timers_first(&heap) == &timers[1]);
	CHECK_EQ(heap.len, 8);
}

/* The last of the heap may have to rise when it fills a gap in another branch. */
TEST(a_gap_in_another_branch)
{
	static const int64_t due[] = {1, 100, 2, 101, 102, 3, 4, 103, 104, 105, 106, 5};
	MP_CLEANUP(finish) struct mp_timers heap;
	int64_t last = 0;

	start(&heap);
	for (size_t i = 0; i < MP_ARRAY_LEN(due); i++)
		mp_timers_put(&heap, &timers[i], due[i]);
	mp_timers_take_out(&heap, &timers[7]); /* 103, below 100; 5 comes in its place */
	while (mp_timers_first(&heap)) {
		CHECK(mp_timers_first(&heap)->due_ms > last);
		last = mp_timers_first(&heap)->due_ms;
		mp_timers_take_out(&heap, mp_timers_first(&heap));
	}
}

/* --- beside a model ------------------------------------------------------------------------- */

static struct mp_timer *model[TIMERS]; /* sorted: by due time, then by when it was started */
static size_t n_model;

static void model_put(struct mp_timer *t, int64_t due_ms)
{
	size_t at = n_model++;

	for (; at > 0 && model[at - 1]->due_ms > due_ms; at--)
		model[at] = model[at - 1];
	model[at] = t;
}

static void model_take_out(const struct mp_timer *t)
{
	size_t at = 0;

	while (model[at] != t)
		at++;
	for (n_model--; at < n_model; at++)
		model[at] = model[at + 1];
}

/* each: how many different due times there are; few make many ties. */
static bool behaves(int64_t each, uint64_t seed)
{
	MP_CLEANUP(finish) struct mp_timers heap;

	start(&heap);
	n_model = 0;
	for (size_t step = 0; step < STEPS; step++) {
		struct mp_timer *t = &timers[test_random(&seed) % TIMERS];

		if (t->place) {
			model_take_out(t);
			mp_timers_take_out(&heap, t);
		} else {
			int64_t due_ms = (int64_t)(test_random(&seed) % (uint64_t)each);

			mp_timers_put(&heap, t, due_ms);
			model_put(t, due_ms);
		}
		REQUIRE(heap.len == n_model);
		REQUIRE(mp_timers_first(&heap) == (n_model ? model[0] : NULL));
	}
	while (n_model) {
		REQUIRE(mp_timers_first(&heap) == model[0]);
		mp_timers_take_out(&heap, model[0]);
		model_take_out(model[0]);
	}
	return true;
}

TEST(random_steps_agree_with_a_sorted_model)
{
	CHECK(behaves(1, 3));
	CHECK(behaves(10, 5));
	CHECK(behaves(100, 7));
	CHECK(behaves(1000000, 11));
}

/* --- broken promises ------------------------------------------------------------------------ */

static void put_twice(void)
{
	struct mp_timers heap;

	start(&heap);
	mp_timers_put(&heap, &timers[0], 1);
	mp_timers_put(&heap, &timers[0], 2);
}

static void take_out_twice(void)
{
	struct mp_timers heap;

	start(&heap);
	mp_timers_put(&heap, &timers[0], 1);
	mp_timers_put(&heap, &timers[1], 1);
	mp_timers_take_out(&heap, &timers[0]);
	mp_timers_take_out(&heap, &timers[0]);
}

static void end_with_one_running(void)
{
	struct mp_timers heap;

	start(&heap);
	mp_timers_put(&heap, &timers[0], 1);
	mp_timers_done(&heap);
}

TEST(broken_promises_stop)
{
	CHECK(test_stops(put_twice));
	CHECK(test_stops(take_out_twice));
	CHECK(test_stops(end_with_one_running));
}
