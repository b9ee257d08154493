/* test_dirty.c - changes merged, told in batches, with observers that come and go meanwhile. */
#include "test.h"

#include <stdio.h>

#include "base/dirty.h"
#include "base/limits.h"
#include "base/mem.h"

/* A loop by hand, a board, and what observers heard: "1:3 2:1|" is a batch of two changes. */
struct fixture {
	struct mp_loop *loop;
	struct mp_board board;
	bool has_board;
	struct mp_observer observer;
	char heard[400];
	size_t n_batches, n_changes, largest;
	int64_t at_ms[8]; /* when the first batches came */
};

static void hear(const struct mp_change *changes, size_t n, void *u)
{
	struct fixture *f = u;
	size_t len = strlen(f->heard);

	if (f->n_batches < MP_ARRAY_LEN(f->at_ms))
		f->at_ms[f->n_batches] = mp_loop_now_ms(f->loop);
	f->n_batches++;
	f->n_changes += n;
	f->largest = n > f->largest ? n : f->largest;
	for (size_t i = 0; i < n && len < sizeof(f->heard) - 50; i++)
		len += (size_t)snprintf(f->heard + len, sizeof(f->heard) - len, "%s%d:%x",
					i ? " " : "", (int)changes[i].id, changes[i].fields);
	snprintf(f->heard + len, sizeof(f->heard) - len, "|");
}

static void fixture_done(struct fixture *f)
{
	while (f->has_board && f->board.observers.len)
		mp_observer_leave(&f->board, mp_container_of(mp_list_first(&f->board.observers),
							     struct mp_observer, link));
	if (f->has_board)
		mp_board_done(&f->board);
	mp_loop_free(f->loop);
}

static bool fixture_start(struct fixture *f)
{
	if (mp_loop_new_by_hand(1000000, &f->loop) < 0)
		return false;
	mp_board_init(&f->board, f->loop);
	f->has_board = true;
	mp_observer_join(&f->board, &f->observer, hear, f);
	return true;
}

static const char *heard(struct fixture *f)
{
	static char copy[sizeof(f->heard)];

	memcpy(copy, f->heard, sizeof(copy));
	f->heard[0] = '\0';
	return copy;
}

#define WITH_FIXTURE(f)                                  \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fixture_start(&(f)))

TEST(ten_touches_are_one_change)
{
	struct mp_node a, b;
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	mp_node_init(&b, &f.board, 2);
	for (int i = 0; i < 10; i++)
		mp_touch(&a, 1);
	mp_touch(&b, 8);
	mp_touch(&a, 2);
	mp_touch(&a, 0x80000000);
	mp_touch(&b, 0); /* changes nothing more */
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:80000003 2:8|");
	mp_loop_advance(f.loop, 1000);
	CHECK_TEXT(heard(&f), ""); /* told once */
}

TEST(changes_come_in_the_order_of_the_first_touch)
{
	struct mp_node nodes[4];
	WITH_FIXTURE(f);

	for (mp_id i = 0; i < 4; i++)
		mp_node_init(&nodes[i], &f.board, i + 1);
	mp_touch(&nodes[2], 1);
	mp_touch(&nodes[0], 1);
	mp_touch(&nodes[3], 1);
	mp_touch(&nodes[0], 2);
	mp_touch(&nodes[1], 1);
	mp_touch(&nodes[2], 4);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "3:5 1:3 4:1 2:1|");
}

TEST(without_a_change_nobody_is_called)
{
	WITH_FIXTURE(f);

	mp_loop_turn(f.loop, false);
	mp_loop_advance(f.loop, 1000);
	CHECK_EQ(f.n_batches, 0);
}

/* C16 C23 */
TEST(at_most_one_batch_in_16_ms)
{
	struct mp_node a, b;
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	mp_node_init(&b, &f.board, 2);
	mp_loop_advance(f.loop, 100);
	mp_touch(&a, 1);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1|"); /* the first at once, at the end of its own turn */
	for (int ms = 0; ms < 15; ms++) {
		mp_touch(ms % 2 ? &a : &b, 1u << ms);
		mp_loop_advance(f.loop, 1);
		CHECK_TEXT(heard(&f), "");
	}
	mp_loop_advance(f.loop, 1);
	CHECK_TEXT(heard(&f), "2:5555 1:2aaa|"); /* all of it as one */
	CHECK_EQ(f.at_ms[0], 100);
	CHECK_EQ(f.at_ms[1], 116);
}

/* C16 */
TEST(a_busy_second_is_told_in_63_batches)
{
	struct mp_node a;
	struct fixture other;
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	other = (struct fixture){.loop = f.loop};
	mp_observer_join(&f.board, &other.observer, hear, &other);
	for (int ms = 0; ms < 1000; ms++) {
		mp_touch(&a, 1);
		mp_loop_advance(f.loop, 1);
	}
	CHECK_EQ(f.n_batches, 63); /* at 0, 16, ..., 992 */
	CHECK_EQ(f.n_changes, 63);
	CHECK_EQ(other.n_batches, 63); /* each observer */
	CHECK_EQ(other.n_changes, 63);
}

TEST(after_a_pause_the_next_change_is_told_at_once)
{
	struct mp_node a;
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	mp_touch(&a, 1);
	mp_loop_turn(f.loop, false);
	mp_loop_advance(f.loop, 16);
	mp_touch(&a, 2);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1|1:2|");
	mp_loop_advance(f.loop, 15);
	mp_touch(&a, 4);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "");
	mp_loop_advance(f.loop, 1);
	CHECK_TEXT(heard(&f), "1:4|");
}

static void touch_it(void *u)
{
	mp_touch(u, 1);
}

TEST(a_touch_within_a_turn_is_told_at_its_end)
{
	struct mp_node a;
	struct mp_task tasks[2];
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	for (int i = 0; i < 2; i++) {
		mp_task_init(&tasks[i], touch_it, &a);
		mp_loop_post(f.loop, &tasks[i]);
	}
	mp_touch(&a, 2);
	CHECK_TEXT(heard(&f), ""); /* not from under the one who touches */
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:3|");
}

/* --- budget --------------------------------------------------------------------------------- */

enum { MANY = 2 * MP_BOARD_BUDGET + 5 };

static struct mp_node many[MANY];

static void touch_all(struct fixture *f)
{
	for (mp_id i = 0; i < MANY; i++) {
		mp_node_init(&many[i], &f->board, i + 1);
		mp_touch(&many[i], 1);
	}
}

TEST(a_large_batch_comes_in_slices_turn_by_turn)
{
	WITH_FIXTURE(f);

	touch_all(&f);
	CHECK(mp_loop_turn(f.loop, false)); /* says that there is more */
	CHECK_EQ(f.n_changes, MP_BOARD_BUDGET);
	CHECK(mp_loop_turn(f.loop, false));
	CHECK_EQ(f.n_changes, 2 * MP_BOARD_BUDGET);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(f.n_changes, MANY);
	CHECK_EQ(f.n_batches, 3);
	CHECK_EQ(f.largest, MP_BOARD_BUDGET);
	mp_loop_advance(f.loop, 1000);
	CHECK_EQ(f.n_batches, 3);
}

TEST(the_slices_come_without_anything_else_happening)
{
	WITH_FIXTURE(f);

	touch_all(&f);
	mp_loop_suspend(f.loop, 0); /* settles, and no time passes */
	CHECK_EQ(f.n_changes, MANY);
	CHECK_EQ(f.at_ms[0], f.at_ms[2]);
}

TEST(a_touch_between_slices_is_for_the_next_batch)
{
	WITH_FIXTURE(f);

	touch_all(&f);
	mp_loop_turn(f.loop, false);
	mp_touch(&many[0], 2);        /* told already */
	mp_touch(&many[MANY - 1], 2); /* not yet told, and still as it was */
	mp_loop_turn(f.loop, false);
	f.heard[0] = '\0';
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1025:1 1026:1 1027:1 1028:1 1029:1|");
	CHECK_EQ(f.n_changes, MANY);
	mp_loop_advance(f.loop, 15);
	CHECK_EQ(f.n_changes, MANY);
	mp_loop_advance(f.loop, 1); /* 16 ms from the last slice */
	CHECK_TEXT(heard(&f), "1:2 1029:2|");
}

/* --- during delivery ------------------------------------------------------------------------ */

struct actor {
	struct fixture *f;
	struct mp_observer me, other;
	struct mp_node *node;
	size_t calls;
};

static void touch_again(const struct mp_change *changes, size_t n, void *u)
{
	struct actor *a = u;

	(void)changes;
	(void)n;
	if (a->calls++ == 0)
		mp_touch(a->node, 0x10);
}

TEST(a_touch_during_delivery_is_for_the_next_batch)
{
	struct mp_node node;
	struct actor a = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	a.node = &node;
	mp_node_init(&node, &f.board, 1);
	mp_observer_join(&f.board, &a.me, touch_again, &a);
	mp_touch(&node, 1);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1|");
	mp_loop_advance(f.loop, 15);
	CHECK_TEXT(heard(&f), "");
	mp_loop_advance(f.loop, 1); /* though nothing else happens */
	CHECK_TEXT(heard(&f), "1:10|");
	mp_loop_advance(f.loop, 1000);
	CHECK_EQ(a.calls, 2);
}

static void leave_itself(const struct mp_change *changes, size_t n, void *u)
{
	struct actor *a = u;

	hear(changes, n, a->f);
	mp_observer_leave(&a->f->board, &a->me);
}

TEST(an_observer_may_leave_when_told)
{
	struct mp_node node;
	struct actor a = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	mp_node_init(&node, &f.board, 1);
	mp_observer_leave(&f.board, &f.observer);
	mp_observer_join(&f.board, &a.me, leave_itself, &a);
	mp_observer_join(&f.board, &f.observer, hear, &f); /* comes behind the one that leaves */
	mp_touch(&node, 1);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1|1:1|");
	mp_loop_advance(f.loop, 16);
	mp_touch(&node, 2);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:2|");
}

static void drive_out_the_other(const struct mp_change *changes, size_t n, void *u)
{
	struct actor *a = u;

	hear(changes, n, a->f);
	if (a->calls++ == 0)
		mp_observer_leave(&a->f->board, &a->other);
}

TEST(an_observer_may_make_the_next_one_leave)
{
	struct mp_node node;
	struct actor a = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	mp_node_init(&node, &f.board, 1);
	mp_observer_leave(&f.board, &f.observer);
	mp_observer_join(&f.board, &a.me, drive_out_the_other, &a);
	mp_observer_join(&f.board, &a.other, hear, &f);
	mp_observer_join(&f.board, &f.observer, hear, &f);
	mp_touch(&node, 1);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1|1:1|"); /* the first and the third */
}

static void bring_another(const struct mp_change *changes, size_t n, void *u)
{
	struct actor *a = u;

	(void)changes;
	(void)n;
	if (a->calls++ == 0)
		mp_observer_join(&a->f->board, &a->other, hear, a->f);
}

TEST(one_that_joins_during_delivery_hears_of_the_next_batch)
{
	struct mp_node node;
	struct actor a = {0};
	WITH_FIXTURE(f);

	a.f = &f;
	mp_node_init(&node, &f.board, 1);
	mp_observer_leave(&f.board, &f.observer);
	mp_observer_join(&f.board, &a.me, bring_another, &a);
	mp_touch(&node, 1);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "");
	mp_loop_advance(f.loop, 16);
	mp_touch(&node, 2);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:2|");
}

TEST(one_that_joins_between_slices_hears_of_the_next_batch)
{
	struct mp_observer late;
	WITH_FIXTURE(f);

	touch_all(&f);
	mp_loop_turn(f.loop, false);
	mp_observer_leave(&f.board, &f.observer);
	mp_observer_join(&f.board, &late, hear, &f);
	mp_loop_turn(f.loop, false);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(f.n_changes, MP_BOARD_BUDGET); /* half a batch would be worse than none */
	mp_touch(&many[0], 2);
	f.heard[0] = '\0';
	mp_loop_advance(f.loop, 16);
	CHECK_TEXT(heard(&f), "1:2|");
	mp_observer_leave(&f.board, &late);
}

TEST(one_that_joins_before_a_batch_hears_all_of_it)
{
	struct mp_node node;
	struct mp_observer late;
	WITH_FIXTURE(f);

	mp_node_init(&node, &f.board, 1);
	mp_touch(&node, 1);
	mp_observer_join(&f.board, &late, hear, &f);
	mp_touch(&node, 2);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:3|1:3|");
	mp_observer_leave(&f.board, &late);
}

/* --- who touches, and when ------------------------------------------------------------------ */

TEST(a_node_that_is_gone_before_it_is_told_is_told)
{
	MP_CLEANUP(mp_freep) struct mp_node *node = NULL;
	WITH_FIXTURE(f);

	node = mp_alloc(sizeof(*node));
	mp_node_init(node, &f.board, 7);
	mp_touch(node, 0x20);
	node = mp_free(node);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "7:20|");
}

TEST(a_node_made_where_another_was_has_a_change_of_its_own)
{
	struct mp_node node;
	WITH_FIXTURE(f);

	mp_node_init(&node, &f.board, 1);
	mp_touch(&node, 1);
	mp_node_init(&node, &f.board, 2); /* the same memory, another object */
	mp_touch(&node, 4);
	mp_loop_turn(f.loop, false);
	CHECK_TEXT(heard(&f), "1:1 2:4|");
}

TEST(each_batch_begins_anew)
{
	struct mp_node a, b;
	WITH_FIXTURE(f);

	mp_node_init(&a, &f.board, 1);
	mp_node_init(&b, &f.board, 2);
	for (unsigned i = 0; i < 5; i++) { /* the two arrays change places each time */
		mp_touch(i % 2 ? &a : &b, 1u << i);
		mp_touch(i % 2 ? &b : &a, 1);
		mp_loop_advance(f.loop, 16);
	}
	CHECK_TEXT(heard(&f), "2:1 1:1|1:2 2:1|2:4 1:1|1:8 2:1|2:10 1:1|");
}

static struct mp_node hook_node;
static size_t hook_calls;

static void touch_from_hook(void *u)
{
	(void)u;
	if (hook_calls++ == 0)
		mp_touch(&hook_node, 1);
}

TEST(a_touch_from_a_later_hook_is_told_though_nothing_else_happens)
{
	struct mp_hook hook;
	WITH_FIXTURE(f);

	hook_calls = 0;
	mp_node_init(&hook_node, &f.board, 1);
	mp_loop_at_turn_end(f.loop, &hook, touch_from_hook, NULL);
	mp_loop_suspend(f.loop, 0); /* one settling, no more */
	CHECK_TEXT(heard(&f), "1:1|");
}

static void stop_when_told(const struct mp_change *changes, size_t n, void *u)
{
	(void)changes;
	(void)n;
	mp_loop_stop(u);
}

TEST(on_the_real_clock_a_touch_ends_the_wait)
{
	MP_CLEANUP(fixture_done) struct fixture f = {0};
	struct mp_node node;

	CHECK_EQ(mp_loop_new(&f.loop), 0);
	mp_board_init(&f.board, f.loop);
	f.has_board = true;
	mp_node_init(&node, &f.board, 1);
	mp_observer_join(&f.board, &f.observer, stop_when_told, f.loop);
	for (int i = 0; i < 3; i++) { /* at once, then each time after 16 ms */
		mp_touch(&node, 1);
		mp_loop_run(f.loop);
	}
}

TEST(many_boards_on_one_loop)
{
	MP_CLEANUP(fixture_done) struct fixture f = {0};
	struct fixture g = {0};
	struct mp_node a, b;

	CHECK(fixture_start(&f));
	g.loop = f.loop;
	mp_board_init(&g.board, f.loop);
	mp_observer_join(&g.board, &g.observer, hear, &g);
	mp_node_init(&a, &f.board, 1);
	mp_node_init(&b, &g.board, 2);
	mp_touch(&a, 1);
	mp_touch(&b, 2);
	mp_loop_turn(f.loop, false);
	mp_observer_leave(&g.board, &g.observer);
	mp_board_done(&g.board);
	CHECK_TEXT(heard(&f), "1:1|");
	CHECK_TEXT(heard(&g), "2:2|");
}

static void end_with_an_observer(void)
{
	struct fixture f = {0};

	if (fixture_start(&f))
		mp_board_done(&f.board);
}

TEST(an_observer_at_the_end_is_a_broken_promise)
{
	CHECK(test_stops(end_with_an_observer));
}
