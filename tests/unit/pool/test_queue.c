/*
 * test_queue.c - who gets a slot, in which order, and who hears of it.
 */
#include "room.h"

/* U28 */
TEST(first_come_first_served_within_a_session)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(2, 10, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 1), 1);
	for (int i = 2; i < 5; i++)
		CHECK_EQ(enter(r, i, 1), 0);
	CHECK_EQ(mp_queue_count_granted(r->q), 2);
	CHECK_EQ(mp_queue_count_waiting(r->q), 3);
	settle(r);
	CHECK_EQ(r->told, 0); /* who passed is not told again */
	leave(r, 1);
	CHECK_EQ(r->told, 0); /* never from within */
	settle(r);
	CHECK(is_told(r, 2) && !r->guests[3].told);
	leave(r, 0);
	leave(r, 2);
	settle(r);
	CHECK(is_told(r, 3) && is_told(r, 4));
	CHECK(r->guests[3].order < r->guests[4].order);
	CHECK_EQ(mp_queue_count_granted(r->q), 2);
	CHECK_EQ(mp_queue_count_waiting(r->q), 0);
}

/* U28 */
TEST(sessions_take_turns)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 100, false);
	static const int want[] = {1, 6, 9, 2, 7, 3, 4, 5, 8};

	CHECK(r);
	CHECK_EQ(enter(r, 0, 9), 1);
	for (int i = 1; i <= 5; i++)
		CHECK_EQ(enter(r, i, 100), 0); /* many of one */
	CHECK_EQ(enter(r, 6, 200), 0);
	CHECK_EQ(enter(r, 7, 200), 0);
	CHECK_EQ(enter(r, 9, 0), 0); /* of no session */
	leave(r, 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(want) - 1; i++) {
		settle(r);
		CHECK(is_told(r, want[i]));
		CHECK_EQ(r->told, (int)i + 1);
		leave(r, want[i]);
		if (want[i] == 4)
			CHECK_EQ(enter(r, 8, 300), 0);
	}
	settle(r);
	CHECK(is_told(r, 8));
}

/* U28 */
TEST(a_full_line_refuses)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 2, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 1), 0);
	CHECK_EQ(enter(r, 2, 2), 0);
	CHECK_EQ(enter(r, 3, 3), MCPOOL_EQUEUE_FULL); /* over all sessions */
	CHECK(!r->guests[3].ticket.queue);
	leave(r, 3); /* which is nothing */
	leave(r, 1);
	CHECK_EQ(enter(r, 3, 3), 0);
	mp_queue_widen(r->q, 1, 3);
	CHECK_EQ(enter(r, 4, 3), 0);
	CHECK_EQ(enter(r, 5, 3), MCPOOL_EQUEUE_FULL);
}

/* U28 */
TEST(places_in_a_full_line_are_shared_too)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 6, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 9), 1);
	for (int i = 1; i <= 6; i++)
		CHECK_EQ(enter(r, i, 1), 0); /* all of the line is one's */
	CHECK_EQ(enter(r, 7, 1),
		 MCPOOL_EQUEUE_FULL); /* the session with most calls displaces none */
	CHECK_EQ(enter(r, 8, 2), 0);
	CHECK_EQ(mp_queue_count_waiting(r->q), 6);
	CHECK_EQ(r->guests[6].lost, 0); /* never from within */
	settle(r);
	CHECK_EQ(r->guests[6].lost, 1); /* its last */
	CHECK(!r->guests[6].ticket.queue);
	CHECK_EQ(enter(r, 10, 2), 0);
	CHECK_EQ(enter(r, 11, 3), 0);
	settle(r);
	CHECK_EQ(r->guests[5].lost + r->guests[4].lost, 2);
	CHECK_EQ(enter(r, 12, 2),
		 MCPOOL_EQUEUE_FULL); /* three, two and one: they would take turns */
	CHECK_EQ(enter(r, 13, 3), 0);
	CHECK_EQ(enter(r, 14, 3), MCPOOL_EQUEUE_FULL); /* two each */
	CHECK_EQ(enter(r, 15, 0), 0);                  /* of no session, which is somebody, too */
	settle(r);
	CHECK_EQ(r->guests[3].lost + r->guests[2].lost, 2);
	CHECK_EQ(mp_queue_count_waiting(r->q), 6);
	CHECK_EQ(r->told, 0);
	leave(r, 0);
	settle(r);
	CHECK(is_told(r, 1));
}

/* U28 */
TEST(who_was_displaced_may_leave_before_it_hears_of_it)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 2, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 9), 1);
	CHECK_EQ(enter(r, 1, 1), 0);
	CHECK_EQ(enter(r, 2, 1), 0);
	CHECK_EQ(enter(r, 3, 2), 0);
	leave(r, 2);
	CHECK_EQ(mp_queue_count_waiting(r->q), 2);
	settle(r);
	CHECK_EQ(r->guests[2].lost, 0);
	CHECK_EQ(enter(r, 2, 1), MCPOOL_EQUEUE_FULL); /* the same ticket again */
}

/* One that cannot be told otherwise keeps its place. */
TEST(who_has_no_ear_for_it_is_not_displaced)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 2, false);

	CHECK(r);
	for (int i = 0; i < 3; i++)
		CHECK(mp_queue_enter(r->q, &r->guests[i].ticket, 1, hear, NULL, &r->guests[i]) >=
		      0);
	CHECK_EQ(enter(r, 3, 2), MCPOOL_EQUEUE_FULL);
}

TEST(without_a_line_nobody_waits)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 0, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 1), MCPOOL_EQUEUE_FULL);
	leave(r, 0);
	CHECK_EQ(enter(r, 1, 1), 1);
}

TEST(without_slots_there_is_no_limit)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(0, 0, false);

	CHECK(r);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(enter(r, i, (mp_id)(1 + i % 3)), 1);
	CHECK_EQ(mp_queue_count_granted(r->q), 100);
}

TEST(the_larger_definition_wins)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 10, false);

	CHECK(r);
	for (int i = 0; i < 6; i++)
		CHECK(enter(r, i, 1) >= 0);
	mp_queue_widen(r->q, 3, 5);
	CHECK_EQ(r->told, 0);
	settle(r);
	CHECK(is_told(r, 1) && is_told(r, 2) && !r->guests[3].told);
	mp_queue_widen(r->q, 2, 5); /* smaller is nothing */
	CHECK_EQ(enter(r, 6, 1), 0);
	mp_queue_widen(r->q, 0, 0); /* no limit is the largest */
	settle(r);
	CHECK_EQ(mp_queue_count_granted(r->q), 7);
	mp_queue_widen(r->q, 5, 0);
	CHECK_EQ(enter(r, 7, 1), 1);
}

/* U28 */
TEST(who_leaves_before_it_is_told_hears_nothing)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 10, false);

	CHECK(r);
	for (int i = 0; i < 3; i++)
		CHECK(enter(r, i, (mp_id)i + 1) >= 0);
	leave(r, 0);
	CHECK(r->guests[1].ticket.is_granted); /* chosen */
	leave(r, 1);
	leave(r, 1);
	CHECK(r->guests[2].ticket.is_granted); /* its slot goes on */
	settle(r);
	CHECK_EQ(r->guests[1].told, 0);
	CHECK(is_told(r, 2));
	CHECK_EQ(enter(r, 1, 2), 0); /* the same ticket again */
	leave(r, 2);
	settle(r);
	CHECK(is_told(r, 1));
}

/* U28 */
TEST(who_aborts_in_the_line_makes_room)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 3, false);

	CHECK(r);
	for (int i = 0; i < 4; i++)
		CHECK(enter(r, i, 1) >= 0);
	leave(r, 2);
	CHECK_EQ(mp_queue_count_waiting(r->q), 2);
	leave(r, 0);
	settle(r);
	CHECK(is_told(r, 1) && !r->guests[3].told); /* first come, first served */
	leave(r, 1);
	settle(r);
	CHECK(is_told(r, 3) && !r->guests[2].told);
}

static void leave_and_enter_again(struct guest *g)
{
	struct mp_queue *q = g->ticket.queue;

	if (g->told > 3)
		return;
	mp_queue_leave(&g->ticket);
	if (mp_queue_enter(q, &g->ticket, 1, hear, lose, g) == 1)
		hear(g);
}

TEST(who_is_told_may_leave_and_enter_again)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 10, false);

	CHECK(r);
	for (int i = 0; i < 3; i++) {
		r->guests[i].then = i ? leave_and_enter_again : NULL;
		CHECK(enter(r, i, (mp_id)i + 1) >= 0);
	}
	leave(r, 0);
	settle(r);
	CHECK_EQ(r->guests[1].told + r->guests[2].told, r->told);
	CHECK_EQ(mp_queue_count_granted(r->q), 1);
	CHECK_EQ(mp_queue_count_waiting(r->q), 1);
}

static void leave_all_and_free(struct guest *g)
{
	(void)g;
	for (int i = 0; i < TICKETS; i++)
		mp_queue_leave(&here->guests[i].ticket);
	here->q = mp_queue_free(here->q);
}

TEST(who_is_told_may_end_the_queue)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(3, 10, false);

	CHECK(r);
	for (int i = 0; i < 6; i++) {
		r->guests[i].then = leave_all_and_free;
		CHECK(enter(r, i, (mp_id)i + 1) >= 0);
	}
	for (int i = 0; i < 3; i++)
		leave(r, i);
	settle(r);
	CHECK_EQ(r->told, 1);
	CHECK(!r->q);
}

TEST(a_queue_may_go_while_somebody_was_to_be_told)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(1, 10, false);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 1), 0);
	leave(r, 0);
	leave(r, 1);
	r->q = mp_queue_free(r->q);
	settle(r);
	CHECK_EQ(r->told, 0);
	CHECK(!mp_queue_free(NULL));
}

static void free_with_a_guest(void)
{
	struct room *r = room_new(1, 10, false);

	if (r && enter(r, 0, 1) == 1)
		mp_queue_free(r->q);
}

static void enter_twice(void)
{
	struct room *r = room_new(2, 10, false);

	if (r && enter(r, 0, 1) == 1 && enter(r, 0, 1) == 1)
		return;
}

TEST(promises)
{
	CHECK(test_stops(free_with_a_guest));
	CHECK(test_stops(enter_twice));
}

/* --- serial --------------------------------------------------------------------------------- */

/* U28 */
TEST(exclusive_is_one_session_at_a_time)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(0, 100, true);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 1), 1); /* no other session is there */
	CHECK_EQ(enter(r, 2, 2), 0);
	CHECK_EQ(enter(r, 3, 2), 0);
	CHECK_EQ(enter(r, 4, 1), 0); /* somebody waits, so its turn ends */
	CHECK_EQ(enter(r, 5, 3), 0);
	leave(r, 0);
	settle(r);
	CHECK_EQ(r->told, 0);
	leave(r, 1);
	settle(r);
	CHECK(is_told(r, 2) && is_told(r, 3)); /* all that the next has waiting */
	CHECK_EQ(enter(r, 6, 2), 0);
	leave(r, 2);
	leave(r, 3);
	settle(r);
	CHECK(is_told(r, 4) && !r->guests[5].told);
	leave(r, 4);
	settle(r);
	CHECK(is_told(r, 5) && !r->guests[6].told);
	leave(r, 5);
	settle(r);
	CHECK(is_told(r, 6));
	CHECK_EQ(enter(r, 7, 2), 1);
}

TEST(exclusive_goes_on_when_the_others_leave_the_line)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(2, 100, true);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 1), 1);
	CHECK_EQ(enter(r, 1, 2), 0);
	CHECK_EQ(enter(r, 2, 1), 0);
	CHECK_EQ(enter(r, 3, 1), 0);
	leave(r, 1);
	settle(r);
	CHECK(is_told(r, 2) && !r->guests[3].told); /* two slots */
	leave(r, 0);
	settle(r);
	CHECK(is_told(r, 3));
}

TEST(exclusive_turns_end_even_with_a_long_line)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(2, 100, true);

	CHECK(r);
	CHECK_EQ(enter(r, 0, 9), 1);
	for (int i = 1; i <= 5; i++)
		CHECK_EQ(enter(r, i, 1), 0);
	CHECK_EQ(enter(r, 6, 2), 0);
	leave(r, 0);
	settle(r);
	CHECK(is_told(r, 1) && is_told(r, 2) && !r->guests[3].told);
	leave(r, 1);
	settle(r);
	CHECK_EQ(r->told, 2); /* the other's turn is next */
	leave(r, 2);
	settle(r);
	CHECK(is_told(r, 6) && !r->guests[3].told);
	leave(r, 6);
	settle(r);
	CHECK(is_told(r, 3) && is_told(r, 4));
}

TEST(exclusive_holders_get_nothing_more_while_others_wait)
{
	MP_CLEANUP(room_freep) struct room *r = room_new(2, 100, true);

	CHECK(r);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(enter(r, i, 1), i < 2);
	CHECK_EQ(enter(r, 4, 2), 0);
	leave(r, 0);
	settle(r);
	CHECK_EQ(r->told, 0); /* although it is the first in the line */
	leave(r, 1);
	settle(r);
	CHECK(is_told(r, 2) && is_told(r, 3)); /* both came before the other */
	CHECK_EQ(enter(r, 5, 1), 0);
	leave(r, 2);
	leave(r, 3);
	settle(r);
	CHECK(is_told(r, 4) && !r->guests[5].told);
}
