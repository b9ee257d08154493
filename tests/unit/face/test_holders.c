/*
 * test_holders.c - who holds a token: until when, and how many there may be.
 */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "face/holders.h"

TEST(a_holder_sees_lists_of_lines)
{
	MP_CLEANUP(mp_holders_done) struct mp_holders h;
	struct mp_holder *holder;

	mp_holders_init(&h);
	holder = mp_holders_add(&h, "a", "git\nfs*\n", "");
	CHECK_EQ(holder->servers.n, 2);
	CHECK_TEXT(holder->servers.items[0], "git");
	CHECK_TEXT(holder->servers.items[1], "fs*");
	CHECK_EQ(holder->tools.n, 0);
	CHECK(mp_holders_find_principal(&h, "a") == holder && !mp_holders_find_principal(&h, "b"));
}

/* First its streams end, then its sessions; a newer token takes both back. */
TEST(time_ends_a_holder_in_two_steps)
{
	MP_CLEANUP(mp_holders_done) struct mp_holders h;
	struct mp_holder *holder;
	mp_id id;

	mp_holders_init(&h);
	mp_holders_sweep(&h, 1000000);
	holder = mp_holders_add(&h, "a", "", "");
	id = holder->id;
	mp_holders_extend(&h, holder, 100, 200);
	mp_holders_extend(&h, holder, 50, 60); /* an older token changes nothing */
	mp_holders_sweep(&h, 99);
	CHECK(!holder->is_over && h.ended == 0 && h.next_ms == 100);
	mp_holders_sweep(&h, 100);
	CHECK(holder->is_over && h.ended == 1 && h.next_ms == 200);
	mp_holders_extend(&h, holder, 300, 400);
	CHECK(!holder->is_over);
	mp_holders_sweep(&h, 250);
	CHECK(mp_holders_find(&h, id) == holder && !holder->is_over);
	mp_holders_sweep(&h, 400);
	CHECK(!mp_holders_find(&h, id));
	CHECK(mp_holders_add(&h, "a", "", "")->id != id);
}

TEST(there_are_so_many_holders)
{
	MP_CLEANUP(mp_holders_done) struct mp_holders h;
	struct mp_holder *old;
	char name[20];

	mp_holders_init(&h);
	if (test_is_faulty())
		return;
	old = mp_holders_add(&h, "old", "", "");
	mp_holders_extend(&h, old, 100, 2000);
	for (int i = 1; i < MP_LIMIT_HOLDERS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CHECK(mp_holders_add(&h, name, "", ""));
	}
	CHECK(!mp_holders_add(&h, "more", "", ""));
	mp_holders_sweep(&h, 100);
	CHECK(mp_holders_add(&h, "more", "", ""));
	CHECK(!mp_holders_find_principal(&h, "old"));
}
