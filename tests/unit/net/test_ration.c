/* test_ration.c - a moment of each turn for whoever pours, and a rest behind it. */
#include "net/ration.h"

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
	struct mp_ration r;

	CHECK_EQ(mp_loop_new(&loop), 0);
	mp_ration_init(&r, loop, false);
	(void)mp_ration_is_used_up(&r);
	pass(loop, MP_RATION_SPELL_US);
	CHECK(mp_ration_is_used_up(&r));
	CHECK_EQ(mp_ration_rest(&r), 0);
	pass(loop, MP_RATION_SPELL_US);
	CHECK(!mp_ration_is_used_up(&r)); /* after a rest its moment begins anew */
	pass(loop, MP_RATION_SPELL_US);
	mp_loop_turn(loop, false);
	CHECK(!mp_ration_is_used_up(&r)); /* and in another turn */
}

TEST(who_pours_rests_longer)
{
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	struct mp_ration answer, stream;

	CHECK_EQ(mp_loop_new_by_hand(0, &loop), 0);
	mp_ration_init(&answer, loop, false);
	mp_ration_init(&stream, loop, true);
	mp_ration_note(&answer, MP_RATION_LARGE);
	mp_ration_note(&stream, MP_RATION_LARGE);
	CHECK_EQ(mp_ration_rest(&answer), 0);
	CHECK_EQ(mp_ration_rest(&stream), 0);
	mp_ration_note(&answer, 1);
	mp_ration_note(&stream, 1);
	CHECK_EQ(mp_ration_rest(&answer), MP_RATION_REST_MS);
	CHECK_EQ(mp_ration_rest(&stream), MP_RATION_QUIET_MS);
	/* A stream of days is not a flood because of what it said in all that time. */
	mp_loop_advance(loop, MP_RATION_ANEW_MS);
	mp_ration_note(&stream, 1);
	CHECK_EQ(mp_ration_rest(&stream), 0);
}
