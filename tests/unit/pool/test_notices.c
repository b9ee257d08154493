/* test_notices.c - notifications that nobody listens to yet are kept, within limits, in order. */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "pool/notices.h"

struct ear {
	struct mp_notices n;
	char heard[4000]; /* "a b c " */
	int count;
	int stop_after; /* 0: never */
	bool echo;      /* adds another one from within, once */
};

static void ear_done(struct ear *e)
{
	mp_notices_done(&e->n);
}

static void hear(void *u, struct mp_str text)
{
	struct ear *e = u;
	size_t len = strlen(e->heard);

	if (text.len < 10)
		snprintf(e->heard + len, sizeof(e->heard) - len, "%.*s ", MP_STR_ARGS(text));
	if (++e->count == e->stop_after)
		mp_notices_stop(&e->n);
	if (e->echo) {
		e->echo = false;
		mp_notices_add(&e->n, MP_STR("echo"));
	}
}

#define EAR                                               \
	MP_CLEANUP(ear_done) struct ear e = {.count = 0}; \
	mp_notices_init(&e.n)

static void add(struct ear *e, int from, int to)
{
	char text[20];

	for (int i = from; i <= to; i++) {
		snprintf(text, sizeof(text), "%d", i);
		mp_notices_add(&e->n, mp_str_of(text));
	}
}

/* U25 */
TEST(the_first_listener_gets_what_was_kept_in_order)
{
	EAR;

	add(&e, 1, 3);
	CHECK_EQ(mp_notices_count(&e.n), 3);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0);
	CHECK_TEXT(e.heard, "1 2 3 ");
	CHECK_EQ(mp_notices_count(&e.n), 0);
	add(&e, 4, 5); /* and then as it comes */
	CHECK_TEXT(e.heard, "1 2 3 4 5 ");
	CHECK_EQ(mp_notices_count(&e.n), 0);
}

/* U25 */
TEST(no_more_than_a_hundred_are_kept)
{
	EAR;

	add(&e, 1, MP_LIMIT_NOTICES + 3);
	CHECK_EQ(mp_notices_count(&e.n), MP_LIMIT_NOTICES);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 3);
	CHECK_EQ(e.count, MP_LIMIT_NOTICES);
	CHECK(strncmp(e.heard, "4 5 ", 4) == 0); /* the oldest went */
	CHECK(strstr(e.heard, " 103 "));
	mp_notices_stop(&e.n);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0); /* counted once */
}

TEST(no_more_than_so_many_bytes_are_kept)
{
	MP_CLEANUP(mp_freep) char *large = mp_alloc(MP_LIMIT_NOTICES_BYTES + 1);
	EAR;

	memset(large, 'x', MP_LIMIT_NOTICES_BYTES + 1);
	add(&e, 1, 3);
	mp_notices_add(&e.n, (struct mp_str){large, MP_LIMIT_NOTICES_BYTES + 1});
	CHECK_EQ(mp_notices_count(&e.n), 3); /* too large by itself: the others stay */
	CHECK_EQ(e.n.dropped, 1);
	mp_notices_add(&e.n, (struct mp_str){large, MP_LIMIT_NOTICES_BYTES - 2});
	CHECK_EQ(mp_notices_count(&e.n), 3); /* 1 had to go */
	CHECK_EQ(e.n.bytes, MP_LIMIT_NOTICES_BYTES);
	mp_notices_add(&e.n, (struct mp_str){large, MP_LIMIT_NOTICES_BYTES});
	CHECK_EQ(mp_notices_count(&e.n), 1);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 5);
	CHECK_EQ(e.count, 1);
	CHECK_EQ(e.n.bytes, 0);
}

TEST(what_comes_meanwhile_waits_its_turn)
{
	EAR;

	e.echo = true;
	add(&e, 1, 3);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0);
	CHECK_TEXT(e.heard, "1 2 3 echo ");
}

TEST(who_stops_half_way_leaves_the_rest)
{
	EAR;

	e.stop_after = 2;
	add(&e, 1, 4);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0);
	CHECK_TEXT(e.heard, "1 2 ");
	add(&e, 5, 5);
	CHECK_EQ(mp_notices_count(&e.n), 3);
	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0);
	CHECK_TEXT(e.heard, "1 2 3 4 5 ");
}

TEST(when_nobody_listens_any_more_they_are_kept_again)
{
	EAR;

	CHECK_EQ(mp_notices_listen(&e.n, hear, &e), 0);
	add(&e, 1, 1);
	mp_notices_stop(&e.n);
	add(&e, 2, 2);
	CHECK_TEXT(e.heard, "1 ");
	mp_notices_add(&e.n, MP_STR(""));
	CHECK_EQ(mp_notices_count(&e.n), 2);
}
