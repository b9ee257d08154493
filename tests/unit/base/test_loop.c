/*
 * test_loop.c - the order of things in a turn, time moved by hand, and the real clock with threads.
 * What happened is written down in a journal, one letter each, and compared as text.
 */
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/loop.h"
#include "base/mem.h"

static char journal[256];
static struct mp_loop *the_loop; /* for callbacks; the test owns it */

static void write_down(void *u)
{
	strncat(journal, u, sizeof(journal) - strlen(journal) - 1);
}

static const char *read_journal(void)
{
	static char copy[sizeof(journal)];

	memcpy(copy, journal, sizeof(copy));
	journal[0] = '\0';
	return copy;
}

static void loop_freep(struct mp_loop **loop)
{
	the_loop = mp_loop_free(*loop);
}

static bool start_by_hand(struct mp_loop **ret_loop)
{
	journal[0] = '\0';
	if (mp_loop_new_by_hand(1000000, ret_loop) < 0)
		return false;
	the_loop = *ret_loop;
	return true;
}

static bool start(struct mp_loop **ret_loop)
{
	journal[0] = '\0';
	if (mp_loop_new(ret_loop) < 0)
		return false;
	the_loop = *ret_loop;
	return true;
}

/* The handle must live longer than the loop, and be closed before it: so a pointer is cleaned up.
 */
static void close_poll(uv_poll_t **watch)
{
	if ((*watch)->type == UV_POLL && !uv_is_closing((uv_handle_t *)*watch))
		uv_close((uv_handle_t *)*watch, NULL);
}

static bool watch_fd(uv_poll_t *watch, int *fd, uv_poll_cb fn)
{
	if (uv_poll_init(mp_loop_get_uv(the_loop), watch, *fd) < 0)
		return false;
	watch->data = fd;
	return uv_poll_start(watch, UV_READABLE, fn) == 0;
}

static void close_ends(int (*ends)[2])
{
	if ((*ends)[0] >= 0)
		close((*ends)[0]);
	if ((*ends)[1] >= 0)
		close((*ends)[1]);
}

static void bury_down(struct mp_grave *grave)
{
	(void)grave;
	write_down("g");
}

static void nap_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* --- one turn ------------------------------------------------------------------------------- */

static void saw_bytes(uv_poll_t *watch, int status, int events)
{
	char byte;

	(void)status;
	(void)events;
	if (read(*(int *)watch->data, &byte, 1) == 1)
		write_down("i");
}

TEST(the_order_of_things_in_a_turn)
{
	MP_CLEANUP(close_ends) int ends[2] = {-1, -1};
	struct mp_grave grave = {0};
	struct mp_hook hook;
	struct mp_task task;
	uv_poll_t watch = {0};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	MP_CLEANUP(mp_timer_stop) struct mp_timer t = {0};
	MP_CLEANUP(close_poll) uv_poll_t *watching = &watch;

	CHECK(start_by_hand(&loop) && pipe(ends) == 0);
	mp_loop_bury(loop, &grave, bury_down);
	mp_loop_at_turn_end(loop, &hook, write_down, "h");
	mp_task_init(&task, write_down, "k");
	mp_loop_post(loop, &task);
	mp_timer_init(&t, loop, write_down, "t");
	mp_timer_start(&t, 0);
	CHECK(watch_fd(watching, &ends[0], saw_bytes));
	CHECK_EQ(write(ends[1], "x", 1), 1);
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "itkhg");
	CHECK(!mp_loop_turn(loop, false)); /* each once, but the hook */
	CHECK_TEXT(read_journal(), "h");
}

TEST(an_idle_turn_does_nothing_and_says_so)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	MP_CLEANUP(mp_timer_stop) struct mp_timer t = {0};

	CHECK(start_by_hand(&loop));
	CHECK(!mp_loop_turn(loop, false));
	CHECK(!mp_loop_turn(loop, true)); /* a manual turn does not wait */
	mp_timer_init(&t, loop, write_down, "t");
	mp_timer_start(&t, 1);
	CHECK(!mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "");
	mp_loop_nudge(loop);
	CHECK(!mp_loop_turn(loop, false)); /* the hooks have run */
}

TEST(freeing_nothing)
{
	CHECK(!mp_loop_free(NULL));
}

/* --- tasks ---------------------------------------------------------------------------------- */

static struct mp_task tasks[3];

static void post_another(void *u)
{
	write_down(u);
	mp_loop_post(the_loop, &tasks[1]);
}

TEST(a_task_posted_by_a_task_runs_in_the_next_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], post_another, "a");
	mp_task_init(&tasks[1], write_down, "b");
	mp_loop_post(loop, &tasks[0]);
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "a");
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "b");
}

static void post_itself(void *u)
{
	write_down(u);
	mp_loop_post(the_loop, &tasks[0]);
}

TEST(a_task_may_post_itself_again)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], post_itself, "a");
	mp_loop_post(loop, &tasks[0]);
	for (int i = 0; i < 3; i++)
		CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "aaa");
	mp_loop_unpost(loop, &tasks[0]);
	CHECK(!mp_loop_turn(loop, false));
}

TEST(tasks_run_in_order_and_may_be_taken_back)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], write_down, "a");
	mp_task_init(&tasks[1], write_down, "b");
	mp_task_init(&tasks[2], write_down, "c");
	for (int i = 0; i < 3; i++)
		mp_loop_post(loop, &tasks[i]);
	mp_loop_unpost(loop, &tasks[1]);
	mp_loop_unpost(loop, &tasks[1]); /* nothing, it is not posted */
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "ac");
	mp_loop_unpost(loop, &tasks[0]); /* it ran */
}

static void swap_tasks(void *u)
{
	write_down(u);
	mp_loop_unpost(the_loop, &tasks[1]);
	mp_loop_post(the_loop, &tasks[2]);
}

TEST(a_task_that_takes_one_back_makes_no_room_in_this_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], swap_tasks, "a");
	mp_task_init(&tasks[1], write_down, "b");
	mp_task_init(&tasks[2], write_down, "c");
	mp_loop_post(loop, &tasks[0]);
	mp_loop_post(loop, &tasks[1]);
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "a");
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "c");
}

TEST(a_task_may_be_taken_back)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], write_down, "a");
	mp_task_init(&tasks[1], write_down, "b");
	mp_loop_post(loop, &tasks[0]);
	mp_loop_post(loop, &tasks[1]);
	mp_loop_unpost(loop, &tasks[0]);
	mp_loop_unpost(loop, &tasks[0]);
	mp_loop_advance(loop, 0);
	CHECK_TEXT(read_journal(), "b");
	mp_loop_post(loop, &tasks[0]);
	mp_loop_advance(loop, 0);
	CHECK_TEXT(read_journal(), "a");
}

static void post_twice(void)
{
	struct mp_loop *loop = NULL;

	if (mp_loop_new_by_hand(0, &loop) < 0)
		return;
	mp_task_init(&tasks[0], write_down, "a");
	mp_loop_post(loop, &tasks[0]);
	mp_loop_post(loop, &tasks[0]);
}

TEST(a_task_is_posted_once)
{
	CHECK(test_stops(post_twice));
}

/* --- timers --------------------------------------------------------------------------------- */

static struct mp_timer timers[4];

static void stop_timers(int *unused)
{
	(void)unused;
	for (size_t i = 0; i < MP_ARRAY_LEN(timers); i++)
		mp_timer_stop(&timers[i]);
}

/* Declared behind the loop, so that the timers stop before it goes. */
#define WITH_TIMERS                                  \
	MP_CLEANUP(stop_timers) int timer_scope = 0; \
	memset(timers, 0, sizeof(timers));           \
	(void)timer_scope

static void start_next_timer(void *u)
{
	write_down(u);
	mp_timer_start(&timers[1], 0);
}

TEST(a_timer_started_by_a_timer_waits_for_the_next_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, start_next_timer, "a");
	mp_timer_init(&timers[1], loop, write_down, "b");
	mp_timer_start(&timers[0], -5); /* due at once, as 0 is */
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "a");
	CHECK(mp_timer_is_running(&timers[1]) && !mp_timer_is_running(&timers[0]));
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "b");
	CHECK(!mp_timer_is_running(&timers[1]));
}

static void start_itself(void *u)
{
	write_down(u);
	mp_timer_start(&timers[0], 10);
}

TEST(a_timer_may_start_itself_again)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, start_itself, "a");
	mp_timer_start(&timers[0], 10);
	mp_loop_advance(loop, 39);
	CHECK_TEXT(read_journal(), "aaa");
	mp_loop_advance(loop, 1);
	CHECK_TEXT(read_journal(), "a");
}

TEST(a_timer_started_again_counts_from_there)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, write_down, "a");
	mp_timer_start(&timers[0], 10);
	mp_loop_advance(loop, 6);
	mp_timer_start(&timers[0], 10); /* later */
	mp_loop_advance(loop, 9);
	CHECK_TEXT(read_journal(), "");
	mp_loop_advance(loop, 1);
	CHECK_TEXT(read_journal(), "a");
	mp_timer_start(&timers[0], 100);
	mp_timer_start(&timers[0], 5); /* earlier */
	mp_loop_advance(loop, 5);
	CHECK_TEXT(read_journal(), "a");
	mp_loop_advance(loop, 1000); /* once */
	CHECK_TEXT(read_journal(), "");
}

TEST(timers_due_together_fire_as_they_were_started)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, write_down, "a");
	mp_timer_init(&timers[1], loop, write_down, "b");
	mp_timer_init(&timers[2], loop, write_down, "c");
	mp_timer_start(&timers[0], 10);
	mp_timer_start(&timers[1], 10);
	mp_timer_start(&timers[2], 10);
	mp_timer_start(&timers[0], 10); /* again: now the last */
	mp_loop_advance(loop, 10);
	CHECK_TEXT(read_journal(), "bca");
}

static void stop_the_other(void *u)
{
	write_down(u);
	mp_timer_stop(&timers[1]);
}

TEST(a_timer_may_stop_one_due_at_the_same_time)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, stop_the_other, "a");
	mp_timer_init(&timers[1], loop, write_down, "b");
	mp_timer_init(&timers[2], loop, write_down, "c");
	for (int i = 0; i < 3; i++)
		mp_timer_start(&timers[i], 10);
	mp_loop_advance(loop, 10);
	CHECK_TEXT(read_journal(), "ac");
	mp_timer_stop(&timers[1]); /* of one that does not run: nothing */
}

static void leave_a_timer_running(void)
{
	struct mp_loop *loop = NULL;

	if (mp_loop_new_by_hand(0, &loop) < 0)
		return;
	mp_timer_init(&timers[0], loop, write_down, "a");
	mp_timer_start(&timers[0], 10);
	mp_loop_free(loop);
}

TEST(a_running_timer_at_the_end_is_a_broken_promise)
{
	CHECK(test_stops(leave_a_timer_running));
}

/* --- time by hand --------------------------------------------------------------------------- */

static int64_t moments[8];
static size_t n_moments;

static void note_the_time(void *u)
{
	write_down(u);
	if (n_moments < MP_ARRAY_LEN(moments))
		moments[n_moments++] = mp_loop_now_ms(the_loop);
}

static void note_and_start_another(void *u)
{
	note_the_time(u);
	mp_timer_start(&timers[3], 5);
}

TEST(advancing_visits_each_timer_at_its_moment)
{
	static const int64_t want[] = {0, 10, 15, 20, 30};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	n_moments = 0;
	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, note_the_time, "c");
	mp_timer_init(&timers[1], loop, note_and_start_another, "a");
	mp_timer_init(&timers[2], loop, note_the_time, "z");
	mp_timer_init(&timers[3], loop, note_the_time, "b");
	mp_timer_start(&timers[0], 20);
	mp_timer_start(&timers[1], 10);
	mp_timer_start(&timers[2], 0);
	mp_loop_advance(loop, 29);
	CHECK_TEXT(read_journal(), "zabc");
	CHECK_EQ(mp_loop_now_ms(loop), 29);
	CHECK_EQ(mp_loop_now_us(loop), 29000);
	CHECK_EQ(mp_loop_wall_now_ms(loop), 1000029);
	mp_timer_start(&timers[0], 1);
	mp_timer_start(&timers[2], 2);
	mp_loop_advance(loop, 1); /* the one at its very end is visited, the one behind is not */
	CHECK_TEXT(read_journal(), "c");
	CHECK_EQ(n_moments, MP_ARRAY_LEN(want));
	for (size_t i = 0; i < n_moments; i++)
		CHECK_EQ(moments[i], want[i]);
}

static void nap_ten_ms(void *u)
{
	(void)u;
	nap_ms(10);
}

TEST(time_stands_still_in_a_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	struct mp_task task;

	n_moments = 0;
	CHECK(start(&loop)); /* the real one */
	mp_timer_init(&timers[0], loop, note_the_time, "t");
	mp_timer_start(&timers[0], 0);
	mp_timer_init(&timers[1], loop, nap_ten_ms, NULL);
	mp_timer_start(&timers[1], 0);
	mp_task_init(&task, note_the_time, "k");
	mp_loop_post(loop, &task);
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "tk");
	CHECK_EQ(moments[0], moments[1]);
	CHECK(mp_loop_now_ms(loop) >= moments[0] + 9); /* behind the turn it goes on */
}

static struct mp_clock_jump last_jump;

static void note_jump(const struct mp_clock_jump *jump, void *u)
{
	last_jump = *jump;
	write_down(u);
}

TEST(a_suspend_is_told_before_timers_and_fires_none_early)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	struct mp_jump_hook hook;

	CHECK(start_by_hand(&loop));
	mp_loop_at_jump(loop, &hook, note_jump, "j");
	mp_timer_init(&timers[0], loop, write_down, "a");
	mp_timer_init(&timers[1], loop, write_down, "b");
	mp_timer_start(&timers[0], 0);
	mp_timer_start(&timers[1], 1000);
	mp_loop_suspend(loop, 3600 * 1000);
	CHECK_TEXT(read_journal(), "ja");
	CHECK_EQ(last_jump.slept_ms, 3600 * 1000);
	CHECK_EQ(last_jump.shifted_ms, 0);
	CHECK_EQ(mp_loop_now_ms(loop), 0);
	CHECK_EQ(mp_loop_wall_now_ms(loop), 1000000 + 3600 * 1000);
	mp_loop_advance(loop, 999);
	CHECK_TEXT(read_journal(), "");
	mp_loop_advance(loop, 1);
	CHECK_TEXT(read_journal(), "b");
}

TEST(setting_the_date_moves_the_wall_clock_only)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	struct mp_jump_hook hook;

	CHECK(start_by_hand(&loop));
	mp_loop_at_jump(loop, &hook, note_jump, "j");
	mp_timer_init(&timers[0], loop, write_down, "a");
	mp_timer_start(&timers[0], 100);
	mp_loop_shift_wall(loop, -500 * 1000);
	CHECK_TEXT(read_journal(), "j");
	CHECK_EQ(last_jump.slept_ms, 0);
	CHECK_EQ(last_jump.shifted_ms, -500 * 1000);
	CHECK_EQ(mp_loop_now_ms(loop), 0);
	CHECK_EQ(mp_loop_wall_now_ms(loop), 500 * 1000);
	mp_loop_shift_wall(loop, 7 * 24 * 3600 * 1000);
	CHECK_TEXT(read_journal(), "j");
	mp_loop_advance(loop, 99);
	CHECK_TEXT(read_journal(), "");
	mp_loop_advance(loop, 1);
	CHECK_TEXT(read_journal(), "a");
}

static struct mp_jump_hook jump_hooks[3];

static void leave_with_the_next(const struct mp_clock_jump *jump, void *u)
{
	note_jump(jump, u);
	mp_loop_forget_jump(the_loop, &jump_hooks[0]);
	mp_loop_forget_jump(the_loop, &jump_hooks[1]);
}

TEST(jump_hooks_may_leave_when_told)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_loop_at_jump(loop, &jump_hooks[0], leave_with_the_next, "a");
	mp_loop_at_jump(loop, &jump_hooks[1], note_jump, "b");
	mp_loop_at_jump(loop, &jump_hooks[2], note_jump, "c");
	mp_loop_suspend(loop, 5000);
	CHECK_TEXT(read_journal(), "ac");
	mp_loop_suspend(loop, 5000);
	CHECK_TEXT(read_journal(), "c");
	mp_loop_advance(loop, 3600 * 1000); /* elapsed time is not a clock jump */
	CHECK_TEXT(read_journal(), "");
}

static void ask_for_the_time(void *u)
{
	write_down(u);
	(void)mp_loop_now_ms(the_loop);
}

TEST(a_jump_that_a_task_saw_first_is_told_all_the_same)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	struct mp_jump_hook hook;
	struct mp_hook end;

	CHECK(start_by_hand(&loop));
	mp_loop_at_jump(loop, &hook, note_jump, "j");
	mp_loop_at_turn_end(loop, &end, ask_for_the_time, "h");
	mp_loop_suspend(loop, 5000);
	CHECK_TEXT(read_journal(), "jhh"); /* the second turn finds nothing more */
	CHECK_EQ(last_jump.slept_ms, 5000);
}

/* --- hooks ---------------------------------------------------------------------------------- */

static struct mp_hook hooks[4];

static void leave_itself(void *u)
{
	write_down(u);
	mp_loop_forget_turn_end(the_loop, &hooks[0]);
}

static void drive_out_two(void *u)
{
	write_down(u);
	mp_loop_forget_turn_end(the_loop, &hooks[1]); /* it has run */
	mp_loop_forget_turn_end(the_loop, &hooks[3]); /* it is next */
}

TEST(hooks_may_remove_themselves_and_others)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_loop_at_turn_end(loop, &hooks[0], leave_itself, "a");
	mp_loop_at_turn_end(loop, &hooks[1], write_down, "b");
	mp_loop_at_turn_end(loop, &hooks[2], drive_out_two, "c");
	mp_loop_at_turn_end(loop, &hooks[3], write_down, "d");
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "abc");
	mp_loop_forget_turn_end(loop, &hooks[2]);
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "");
}

static void add_a_hook(void *u)
{
	leave_itself(u);
	mp_loop_at_turn_end(the_loop, &hooks[1], write_down, "b");
}

TEST(a_hook_added_by_a_hook_waits_for_the_next_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_loop_at_turn_end(loop, &hooks[0], add_a_hook, "a");
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "a");
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "b");
}

static void turn_within(void *u)
{
	(void)u;
	mp_loop_turn(the_loop, false);
}

static void nest_turns(void)
{
	struct mp_loop *loop = NULL;

	if (!start_by_hand(&loop))
		return;
	the_loop = loop;
	mp_task_init(&tasks[0], turn_within, NULL);
	mp_loop_post(loop, &tasks[0]);
	mp_loop_turn(loop, false);
}

TEST(turns_do_not_nest)
{
	CHECK(test_stops(nest_turns));
}

TEST(a_delay_without_end_never_comes)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	struct mp_timer t;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&t, loop, turn_within, NULL); /* firing would break a promise */
	mp_loop_advance(loop, 1000);
	mp_timer_start(&t, INT64_MAX);
	mp_loop_advance(loop, (int64_t)50 * 365 * 24 * 3600 * 1000);
	CHECK(mp_timer_is_running(&t));
	mp_timer_stop(&t);
}

static void post_from_hook(void *u)
{
	leave_itself(u);
	mp_loop_post(the_loop, &tasks[0]);
	mp_timer_start(&timers[0], 0);
}

TEST(what_a_hook_starts_makes_another_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_task_init(&tasks[0], write_down, "k");
	mp_timer_init(&timers[0], loop, write_down, "t");
	mp_loop_at_turn_end(loop, &hooks[0], post_from_hook, "h");
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "h");
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "tk");
}

static void start_timer_from_hook(void *u)
{
	leave_itself(u);
	mp_timer_start(&timers[0], 0);
}

TEST(settling_includes_a_timer_that_a_hook_started)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;

	CHECK(start_by_hand(&loop));
	mp_timer_init(&timers[0], loop, write_down, "t");
	mp_loop_at_turn_end(loop, &hooks[0], start_timer_from_hook, "h");
	mp_loop_suspend(loop, 0); /* nothing but the settling of it */
	CHECK_TEXT(read_journal(), "ht");
}

static void nudge_once(void *u)
{
	leave_itself(u);
	mp_loop_nudge(the_loop);
}

TEST(a_nudge_from_a_hook_makes_another_turn)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_loop_at_turn_end(loop, &hooks[0], nudge_once, "a");
	mp_loop_at_turn_end(loop, &hooks[1], write_down, "b");
	CHECK(mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "ab");
	CHECK(!mp_loop_turn(loop, false));
	CHECK_TEXT(read_journal(), "b");
}

/* --- the graveyard -------------------------------------------------------------------------- */

struct thing {
	struct mp_grave grave;
	const char *name;
	struct thing *heir; /* buried when this one is freed */
};

static void free_thing(struct mp_grave *grave)
{
	struct thing *t = mp_container_of(grave, struct thing, grave);

	write_down((void *)t->name);
	if (t->heir)
		mp_loop_bury(the_loop, &t->heir->grave, free_thing);
	mp_free(t);
}

static struct thing *thing_new(const char *name, struct thing *heir)
{
	struct thing *t = mp_alloc(sizeof(*t));

	t->name = name;
	t->heir = heir;
	return t;
}

static void bury_while_in_use(void *u)
{
	struct thing *t = u;

	mp_loop_bury(the_loop, &t->grave, free_thing);
	write_down((void *)t->name); /* still there: the turn has not ended */
}

TEST(the_buried_are_freed_when_the_turn_ends)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	struct mp_hook hook;
	struct mp_task task;

	CHECK(start_by_hand(&loop));
	mp_loop_at_turn_end(loop, &hook, write_down, "h");
	mp_task_init(&task, bury_while_in_use, thing_new("a", thing_new("b", NULL)));
	mp_loop_post(loop, &task);
	mp_loop_turn(loop, false);
	CHECK_TEXT(read_journal(), "ahab"); /* one buried by another goes in the same turn */
}

TEST(the_buried_are_freed_with_the_loop)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start_by_hand(&loop));
	mp_loop_bury(loop, &thing_new("a", thing_new("b", NULL))->grave, free_thing);
	loop = mp_loop_free(loop);
	CHECK_TEXT(read_journal(), "ab");
}

/* --- readiness ------------------------------------------------------------------------------ */

static int throws_left;

static void throw_back(uv_poll_t *watch, int status, int events)
{
	int fd = *(int *)watch->data;
	char ball;

	(void)status;
	(void)events;
	if (read(fd, &ball, 1) == 1 && throws_left-- > 0)
		(void)!write(fd, &ball, 1);
}

TEST(settling_goes_on_as_long_as_bytes_come)
{
	MP_CLEANUP(close_ends) int ends[2] = {-1, -1};
	uv_poll_t left = {0}, right = {0};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	MP_CLEANUP(close_poll) uv_poll_t *watching_left = &left;
	MP_CLEANUP(close_poll) uv_poll_t *watching_right = &right;

	throws_left = 10;
	CHECK(start_by_hand(&loop) && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(watch_fd(watching_left, &ends[0], throw_back));
	CHECK(watch_fd(watching_right, &ends[1], throw_back));
	CHECK_EQ(write(ends[0], "o", 1), 1);
	mp_loop_advance(loop, 0);
	CHECK_EQ(throws_left, -1);
}

static void ring(uv_timer_t *timer)
{
	(void)timer;
}

static void leave_a_handle_open(void)
{
	static uv_timer_t handle;
	struct mp_loop *loop = NULL;

	if (mp_loop_new(&loop) < 0)
		return;
	uv_timer_init(mp_loop_get_uv(loop), &handle);
	uv_timer_start(&handle, ring, 3600 * 1000, 0);
	mp_loop_free(loop);
}

static void leave_an_idle_handle_open(void)
{
	static uv_timer_t handle;
	struct mp_loop *loop = NULL;

	if (mp_loop_new(&loop) < 0)
		return;
	uv_timer_init(mp_loop_get_uv(loop), &handle);
	mp_loop_free(loop);
}

TEST(an_open_handle_at_the_end_is_a_broken_promise)
{
	CHECK(test_stops(leave_a_handle_open));
	CHECK(test_stops(leave_an_idle_handle_open));
}

/* --- the real clock ------------------------------------------------------------------------- */

static void stop_the_loop(void *u)
{
	note_the_time(u);
	mp_loop_stop(the_loop);
}

TEST(a_timer_fires_not_before_its_time)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	int64_t started_ms;

	n_moments = 0;
	CHECK(start(&loop));
	mp_timer_init(&timers[0], loop, note_the_time, "a");
	mp_timer_init(&timers[1], loop, stop_the_loop, "b");
	started_ms = mp_loop_now_ms(loop);
	mp_timer_start(&timers[0], 20);
	mp_timer_start(&timers[1], 30);
	mp_loop_run(loop);
	CHECK_TEXT(read_journal(), "ab");
	CHECK(moments[0] - started_ms >= 20);
	CHECK(moments[1] - started_ms >= 30);
	CHECK(moments[1] - started_ms < 10000);
}

/* The alarm was set for one that is gone, then for one that is later than the next. */
TEST(timers_that_come_and_go_do_not_move_the_others)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	int64_t started_ms;

	n_moments = 0;
	CHECK(start(&loop));
	mp_timer_init(&timers[0], loop, note_the_time, "a");
	mp_timer_init(&timers[1], loop, note_the_time, "b");
	mp_timer_init(&timers[2], loop, stop_the_loop, "c");
	started_ms = mp_loop_now_ms(loop);
	mp_timer_start(&timers[0], 10);
	(void)mp_loop_turn(loop, false);
	mp_timer_stop(&timers[0]);
	mp_timer_start(&timers[2], 60);
	(void)mp_loop_turn(loop, false);
	mp_timer_start(&timers[1], 30);
	mp_loop_run(loop);
	CHECK_TEXT(read_journal(), "bc");
	CHECK(moments[0] - started_ms >= 30);
	CHECK(moments[1] - started_ms >= 60);
	CHECK(moments[1] > moments[0]);
}

TEST(a_timer_that_is_due_already_is_not_waited_for)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	int64_t turn_ms;

	n_moments = 0;
	CHECK(start(&loop));
	mp_timer_init(&timers[0], loop, stop_the_loop, "a");
	turn_ms = mp_loop_now_ms(loop);
	nap_ms(30);
	mp_timer_start(&timers[0], 25); /* from the turn's time, so it is late by now */
	CHECK_EQ(timers[0].due_ms, turn_ms + 25);
	mp_loop_run(loop);
	mp_timer_start(&timers[0], 0);
	mp_loop_run(loop);
	CHECK_TEXT(read_journal(), "aa");
}

TEST(a_loop_may_stop_and_run_again)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	struct mp_task task;

	n_moments = 0;
	CHECK(start(&loop));
	for (int i = 0; i < 3; i++) {
		mp_task_init(&task, stop_the_loop, "s");
		mp_loop_post(loop, &task);
		mp_loop_run(loop);
	}
	CHECK_TEXT(read_journal(), "sss");
	mp_loop_stop(loop); /* before it runs */
	mp_loop_run(loop);
	mp_task_init(&task, stop_the_loop, "s");
	mp_loop_post(loop, &task);
	mp_loop_run(loop);
	CHECK_TEXT(read_journal(), "s");
}

struct writer {
	int fd;
	long after_ms;
};

static void *write_later(void *u)
{
	struct writer *w = u;

	nap_ms(w->after_ms);
	(void)!write(w->fd, "x", 1);
	return NULL;
}

static void saw_bytes_and_time(uv_poll_t *watch, int status, int events)
{
	saw_bytes(watch, status, events);
	stop_the_loop("!");
}

static bool run_while_a_thread_writes(struct mp_loop *loop, struct writer *w)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, write_later, w) != 0)
		return false;
	mp_loop_run(loop);
	return pthread_join(thread, NULL) == 0;
}

TEST(after_a_wait_the_time_is_read_again)
{
	MP_CLEANUP(close_ends) int ends[2] = {-1, -1};
	uv_poll_t watch = {0};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	MP_CLEANUP(close_poll) uv_poll_t *watching = &watch;
	struct writer w = {.after_ms = 50};
	int64_t before_ms;

	n_moments = 0;
	CHECK(start(&loop) && pipe(ends) == 0);
	w.fd = ends[1];
	CHECK(watch_fd(watching, &ends[0], saw_bytes_and_time));
	before_ms = mp_loop_now_ms(loop);
	CHECK(run_while_a_thread_writes(loop, &w));
	CHECK_TEXT(read_journal(), "i!");
	CHECK(moments[0] - before_ms >= 49); /* both are cut to whole milliseconds */
}

/* --- threads -------------------------------------------------------------------------------- */

struct labour {
	pthread_t ran_on, done_on;
	_Atomic int runs, dones;
	bool stop; /* the loop, when done */
};

static void labour_run(void *u)
{
	struct labour *l = u;

	nap_ms(5);
	l->ran_on = pthread_self();
	l->runs++;
}

static void labour_done(void *u)
{
	struct labour *l = u;

	l->done_on = pthread_self();
	l->dones++;
	if (l->stop)
		mp_loop_stop(the_loop);
}

TEST(work_runs_elsewhere_and_is_done_on_the_loop)
{
	struct labour l = {.stop = true};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start(&loop));
	CHECK_EQ(mp_loop_work(loop, &(struct mp_work){labour_run, labour_done, &l}), 0);
	CHECK_EQ(l.dones, 0); /* never before mp_loop_work() has returned */
	mp_loop_run(loop);
	CHECK_EQ(l.runs, 1);
	CHECK_EQ(l.dones, 1);
	CHECK(!pthread_equal(l.ran_on, pthread_self()));
	CHECK(pthread_equal(l.done_on, pthread_self()));
}

TEST(work_that_is_done_counts_as_something_that_happened)
{
	struct labour l = {.stop = false};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start(&loop));
	CHECK_EQ(mp_loop_work(loop, &(struct mp_work){labour_run, labour_done, &l}), 0);
	CHECK(mp_loop_turn(loop, true));
	CHECK_EQ(l.dones, 1);
}

TEST(freeing_the_loop_waits_for_work_under_way)
{
	struct labour l = {.stop = false};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start(&loop));
	CHECK_EQ(mp_loop_work(loop, &(struct mp_work){labour_run, labour_done, &l}), 0);
	loop = mp_loop_free(loop);
	CHECK(l.runs == 1 && l.dones == 1);
}

/* --- inside of another loop ----------------------------------------------------------------- */

/* As an embedder does it; how many times poll() returned. 1000 where it never ends. */
static int embed(struct mp_loop *loop, size_t until_moments)
{
	int polls = 0;

	while (n_moments < until_moments && polls < 1000) {
		struct pollfd p = {.fd = mp_loop_get_fd(loop), .events = POLLIN};

		poll(&p, 1, mp_loop_get_timeout(loop));
		polls++;
		mp_loop_turn(loop, false);
	}
	return polls;
}

TEST(joining_another_loop_with_timers)
{
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	WITH_TIMERS;
	int64_t started_ms;

	n_moments = 0;
	CHECK(start(&loop));
	CHECK(embed(loop, 0) == 0);
	mp_timer_init(&timers[0], loop, note_the_time, "a");
	mp_timer_init(&timers[1], loop, note_the_time, "b");
	started_ms = mp_loop_now_ms(loop);
	mp_timer_start(&timers[0], 20);
	mp_timer_start(&timers[1], 40);
	CHECK(mp_loop_get_timeout(loop) <= 20);
	CHECK(embed(loop, 2) < 20); /* it waits, it does not spin */
	CHECK_TEXT(read_journal(), "ab");
	CHECK(moments[0] - started_ms >= 20 && moments[1] - started_ms >= 40);
	mp_loop_turn(loop, false);
	CHECK_EQ(mp_loop_get_timeout(loop), -1);
}

static void note_io(uv_poll_t *watch, int status, int events)
{
	saw_bytes(watch, status, events);
	note_the_time("!");
}

TEST(joining_another_loop_with_io)
{
	MP_CLEANUP(close_ends) int ends[2] = {-1, -1};
	uv_poll_t watch = {0};
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;
	MP_CLEANUP(close_poll) uv_poll_t *watching = &watch;
	struct writer w = {.after_ms = 20};
	pthread_t thread;
	int polls;

	n_moments = 0;
	CHECK(start(&loop) && pipe(ends) == 0);
	mp_loop_turn(loop, false);
	w.fd = ends[1];
	CHECK(watch_fd(watching, &ends[0], note_io)); /* between two turns */
	CHECK_EQ(pthread_create(&thread, NULL, write_later, &w), 0);
	polls = embed(loop, 1);
	pthread_join(thread, NULL);
	CHECK(polls < 20);
	CHECK_TEXT(read_journal(), "i!");
}

TEST(work_of_ones_own_leaves_no_time_to_wait)
{
	struct mp_grave grave = {0};
	struct mp_task task;
	MP_CLEANUP(loop_freep) struct mp_loop *loop = NULL;

	CHECK(start(&loop));
	while (mp_loop_turn(loop, false))
		;
	CHECK_EQ(mp_loop_get_timeout(loop), -1);
	mp_task_init(&task, write_down, "a");
	mp_loop_post(loop, &task);
	CHECK_EQ(mp_loop_get_timeout(loop), 0);
	mp_loop_turn(loop, true); /* does not wait either */
	CHECK_TEXT(read_journal(), "a");
	mp_loop_bury(loop, &grave, bury_down);
	CHECK_EQ(mp_loop_get_timeout(loop), 0);
	mp_loop_turn(loop, true);
	CHECK_TEXT(read_journal(), "g");
	mp_loop_nudge(loop);
	CHECK_EQ(mp_loop_get_timeout(loop), 0);
	mp_loop_turn(loop, true);
	CHECK_EQ(mp_loop_get_timeout(loop), -1);
}
