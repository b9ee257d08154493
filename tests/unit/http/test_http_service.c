/*
 * test_http_service.c - how many connections there may be, and which one goes.
 */
#include "test.h"
#include "service_stage.h"

#include <sys/resource.h>

#include "base/limits.h"
#include "base/log.h"

#define GET "GET / HTTP/1.1\r\n" HOST "\r\n"

static struct memory_conn conns[MP_LIMIT_UNADMITTED + 2];

static void conns_done(int *n)
{
	for (int i = 0; i < *n; i++)
		memory_conn_done(&conns[i]);
}

static void come(struct stage *s, int *n)
{
	struct memory_conn *w = &conns[(*n)++];

	memory_conn_init(w);
	mp_http_service_take(&s->service, &w->base);
}

/* attack-S8: clients without a token have a share of their own, and the oldest goes first. */
TEST(the_oldest_without_a_token_makes_room)
{
	MP_CLEANUP(conns_done) int n = 0;
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	mp_log_set_level(MP_LEVEL_OFF);
	say(&s, GET); /* the first of all has a token */
	CHECK_EQ(s.service.unadmitted.len, 0);
	while (n < MP_LIMIT_UNADMITTED)
		come(&s, &n);
	s.is_visitor = true;
	memory_conn_say(&conns[0], mp_str_of(GET)); /* a request without one changes nothing */
	CHECK_EQ(s.service.unadmitted.len, MP_LIMIT_UNADMITTED);
	CHECK(!conns[0].closed);
	come(&s, &n);
	CHECK(conns[0].closed && !conns[1].closed && !conns[n - 1].closed);
	come(&s, &n);
	CHECK(conns[1].closed && !conns[2].closed);
	CHECK_EQ(s.service.unadmitted.len, MP_LIMIT_UNADMITTED);
	CHECK_EQ(s.service.connections.len, MP_LIMIT_UNADMITTED + 1);
	CHECK(!s.conn.closed);
}

TEST(a_token_that_is_wrong_is_none)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	CHECK_EQ(s.service.unadmitted.len, 1);
	say(&s, GET);
	CHECK_EQ(s.service.unadmitted.len, 0);
	s.refuse = 401;
	say(&s, GET);
	CHECK_EQ(s.service.unadmitted.len, 1);
	memory_conn_break(&s.conn);
	CHECK_EQ(s.service.unadmitted.len, 0);
}

/* attack-S13: they leave descriptors for agents and servers. */
TEST(few_descriptors_are_shared)
{
	MP_CLEANUP(conns_done) int n = 0;
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	struct rlimit usual, few;
	bool opened;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
	few = (struct rlimit){64, usual.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	opened = stage_open(&s);
	setrlimit(RLIMIT_NOFILE, &usual);
	CHECK(opened);
	mp_log_set_level(MP_LEVEL_OFF);
	while (n < 20)
		come(&s, &n);
	CHECK_EQ(s.service.connections.len, 16);
	CHECK(s.conn.closed && conns[3].closed && !conns[4].closed);
}
