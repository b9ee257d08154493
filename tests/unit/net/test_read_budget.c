/* test_read_budget.c - limits how long one peer may keep the loop busy per turn, then pauses it. */
#include "net/read_budget.h"

#include "test.h"

static void pass(struct mp_loop *loop, int64_t us)
{
	int64_t until = mp_loop_read_us(loop) + us;

	while (mp_loop_read_us(loop) < until)
		;
}

static void loop_done(struct mp_loop **loop)
{
	mp_loop_free(*loop);
}

TEST(a_moment_of_each_turn)
{
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	struct mp_read_budget r;

	CHECK_EQ(mp_loop_new(&loop), 0);
	mp_read_budget_init(&r, loop, false);
	(void)mp_read_budget_is_used_up(&r);
	pass(loop, MP_READ_BUDGET_SPELL_US);
	CHECK(mp_read_budget_is_used_up(&r));
	CHECK_EQ(mp_read_budget_rest(&r), 0);
	pass(loop, MP_READ_BUDGET_SPELL_US);
	CHECK(!mp_read_budget_is_used_up(&r)); /* after a pause the budget is full again */
	pass(loop, MP_READ_BUDGET_SPELL_US);
	mp_loop_turn(loop, false);
	CHECK(!mp_read_budget_is_used_up(&r)); /* and in another turn */
}

TEST(who_pours_rests_longer)
{
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	struct mp_read_budget answer, stream;

	CHECK_EQ(mp_loop_new_by_hand(0, &loop), 0);
	mp_read_budget_init(&answer, loop, false);
	mp_read_budget_init(&stream, loop, true);
	mp_read_budget_note(&answer, MP_READ_BUDGET_LARGE);
	mp_read_budget_note(&stream, MP_READ_BUDGET_LARGE);
	CHECK_EQ(mp_read_budget_rest(&answer), 0);
	CHECK_EQ(mp_read_budget_rest(&stream), 0);
	mp_read_budget_note(&answer, 1);
	mp_read_budget_note(&stream, 1);
	CHECK_EQ(mp_read_budget_rest(&answer), MP_READ_BUDGET_REST_MS);
	CHECK_EQ(mp_read_budget_rest(&stream), MP_READ_BUDGET_QUIET_MS);
	/* A stream of days is not a flood because of what it said in all that time. */
	mp_loop_advance(loop, MP_READ_BUDGET_RENEW_MS);
	mp_read_budget_note(&stream, 1);
	CHECK_EQ(mp_read_budget_rest(&stream), 0);
}
