/* test_memory.c - two ends in memory keep the promises of a real transport. */
#include "test.h"

#include <stdio.h>

#include "base/loop.h"
#include "memory.h"
#include "outgoing.h"

struct end {
	struct mp_transport *t;
	char log[200];
	uint64_t written;
	bool close_on_message;
};

static void tell(struct end *e, const char *what, struct mp_str text)
{
	size_t len = strlen(e->log);

	snprintf(e->log + len, sizeof(e->log) - len, "%s%.*s ", what, MP_STR_ARGS(text));
}

static void opened(void *u)
{
	tell(u, "opened", MP_STR(""));
}

static void message(void *u, struct mp_str text)
{
	struct end *e = u;

	tell(e, "m:", text);
	if (e->close_on_message)
		e->t->impl->close(e->t);
}

static void written(void *u, uint64_t total)
{
	((struct end *)u)->written = total;
}

static void ended(void *u, const struct mcpool_error *why)
{
	(void)why;
	tell(u, "ended", MP_STR(""));
}

static void closed(void *u)
{
	tell(u, "closed", MP_STR(""));
}

static const struct mp_transport_hooks hooks = {
	.opened = opened, .message = message, .written = written, .ended = ended, .closed = closed};

struct pair {
	struct mp_loop *loop;
	struct end a, b;
};

static void pair_done(struct pair *p)
{
	mp_transport_free(p->a.t);
	mp_transport_free(p->b.t);
	mp_loop_free(p->loop);
}

static bool pair_init(struct pair *p)
{
	*p = (struct pair){.loop = NULL};
	REQUIRE(mp_loop_new_by_hand(0, &p->loop) == 0);
	mp_memory_new(p->loop, &p->a.t, &p->b.t);
	p->a.t->hooks = p->b.t->hooks = &hooks;
	p->a.t->u = &p->a;
	p->b.t->u = &p->b;
	REQUIRE(p->a.t->impl->start(p->a.t, NULL) == 0);
	REQUIRE(p->b.t->impl->start(p->b.t, NULL) == 0);
	return true;
}

static void settle(struct pair *p)
{
	mp_loop_advance(p->loop, 0);
}

TEST(what_one_sends_the_other_gets_in_order)
{
	MP_CLEANUP(pair_done) struct pair p;
	uint64_t at;

	CHECK(pair_init(&p));
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("one"), &at), 0);
	CHECK_EQ(at, 0);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("two"), &at), 0);
	CHECK_EQ(at, 3);
	CHECK_TEXT(p.b.log, "");
	settle(&p);
	CHECK_TEXT(p.b.log, "opened m:one m:two ");
	CHECK_EQ(p.a.written, 6);
}

TEST(held_back_messages_are_not_written)
{
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	mp_memory_hold(p.a.t, true);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("one"), NULL), 0);
	settle(&p);
	CHECK_EQ(p.a.written, 0);
	CHECK_TEXT(p.b.log, "opened ");
	mp_memory_hold(p.a.t, false);
	settle(&p);
	CHECK_TEXT(p.b.log, "opened m:one ");
}

TEST(a_break_is_heard_on_both_sides)
{
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	settle(&p);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("lost"), NULL), 0);
	mp_memory_break(p.a.t);
	settle(&p);
	CHECK_TEXT(p.a.log, "opened ended ");
	CHECK_TEXT(p.b.log, "opened ended ");
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("no"), NULL), MCPOOL_ECLOSED);
}

TEST(closing_ends_the_other_side)
{
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	p.b.close_on_message = true;
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("bye"), NULL), 0);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("unheard"), NULL), 0);
	settle(&p);
	CHECK_TEXT(p.b.log, "opened m:bye closed ");
	CHECK_TEXT(p.a.log, "opened ended ");
}

TEST(one_end_may_go_first)
{
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	settle(&p);
	p.b.t = mp_transport_free(p.b.t);
	settle(&p);
	CHECK_TEXT(p.a.log, "opened ended ");
}

static void free_both(void *u, struct mp_str text)
{
	struct pair *p = u;

	(void)text;
	p->a.t = mp_transport_free(p->a.t);
	p->b.t = mp_transport_free(p->b.t);
}

TEST(a_message_may_free_both_ends)
{
	static const struct mp_transport_hooks deadly = {.message = free_both};
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	p.b.t->hooks = &deadly;
	p.b.t->u = &p;
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("one"), NULL), 0);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("two"), NULL), 0); /* still waits when they go */
	settle(&p);
	CHECK(!p.a.t && !p.b.t);
}

TEST(the_end_is_told_once)
{
	MP_CLEANUP(pair_done) struct pair p;

	CHECK(pair_init(&p));
	mp_memory_hold(p.a.t, true);
	CHECK_EQ(outgoing_send(p.a.t, MP_STR("one"), NULL), 0);
	settle(&p);
	p.b.t->impl->close(p.b.t);
	settle(&p);
	mp_memory_hold(p.a.t, false);
	settle(&p);
	CHECK_TEXT(p.a.log, "opened ended ");
}
