/*
 * test_http_held.c - what is kept for clients that do not read: how long, and how much.
 */
#include "test.h"
#include "service_stage.h"

#include "base/limits.h"
#include "base/log.h"

#define GET   "GET / HTTP/1.1\r\n" HOST "\r\n"
#define LEAVE "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n"
/* Bytes of one window at the slowest permitted rate. */
#define WINDOW ((size_t)MP_LIMIT_HTTP_RATE * (MP_HTTP_TAKE_MS / 1000))

/* An answer of so many bytes, and a few, none of which is taken. */
static void owe(struct stage *s, struct memory_conn *w, const char *request, size_t bytes)
{
	w->slow = true;
	s->at_once = false;
	memory_conn_say(w, mp_str_of(request));
	w->waiting += bytes; /* as if they had been written just before */
	answer(s, "ok");
}

/* V53, attack-S11 */
TEST(a_client_that_does_not_read_is_cut)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	s.conn.slow = true;
	say(&s, GET);
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, NULL);
	CHECK(s.service.held > 0);
	mp_loop_advance(s.loop, MP_HTTP_TAKE_MS / 2);
	CHECK(s.open && !s.conn.closed);
	mp_exchange_comment(s.open); /* more to read is not a reason to wait */
	mp_loop_advance(s.loop, MP_HTTP_TAKE_MS / 2 + 1000);
	CHECK(s.conn.closed);
	CHECK_EQ(s.gone, 1);
	CHECK_EQ(s.quiet, 0);
	CHECK_EQ(s.service.held, 0);
}

/* attack-S11: a byte now and then does not keep an answer for ever. */
TEST(a_client_that_takes_single_bytes_is_cut)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	owe(&s, &s.conn, GET, 10 * WINDOW);
	for (int i = 0; i < 8 && !s.conn.closed; i++) {
		mp_loop_advance(s.loop, MP_HTTP_TAKE_MS / 4);
		memory_conn_take(&s.conn, 1);
	}
	CHECK(s.conn.closed);
}

TEST(a_slow_client_may_take_all_of_it)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	owe(&s, &s.conn, LEAVE, 5 * WINDOW);
	memory_conn_end(&s.conn);
	for (int i = 0; i < 5; i++) {
		mp_loop_advance(s.loop, MP_HTTP_TAKE_MS);
		CHECK(!s.conn.closed && !s.conn.shut);
		memory_conn_take(&s.conn, WINDOW);
	}
	memory_conn_take(&s.conn, 1000);
	CHECK(s.conn.closed);
	CHECK_EQ(s.service.held, 0);
}

/* Each window counts by itself: what was taken before it buys no time. */
TEST(a_client_that_stops_taking_is_cut)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	owe(&s, &s.conn, GET, 5 * WINDOW);
	memory_conn_take(&s.conn, WINDOW);
	mp_loop_advance(s.loop, MP_HTTP_TAKE_MS + 1000);
	CHECK(!s.conn.closed);
	mp_loop_advance(s.loop, MP_HTTP_TAKE_MS + 1000);
	CHECK(s.conn.closed);
}

/* Small events, each taken before the window ends. */
TEST(a_listener_that_keeps_up_stays)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	s.conn.slow = true;
	say(&s, GET);
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, NULL);
	for (int i = 0; i < 6; i++) {
		mp_loop_advance(s.loop, MP_HTTP_TAKE_MS - 1000);
		CHECK(s.open);
		mp_exchange_comment(s.open);
		memory_conn_take(&s.conn, s.conn.waiting - 1);
	}
	CHECK(!s.conn.closed);
}

/* attack-S11: over the ceiling the client goes whose bytes moved least recently, and only that one.
 */
TEST(all_clients_together_have_a_ceiling)
{
	MP_CLEANUP(memory_conn_done) struct memory_conn old, new;
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	memory_conn_init(&old);
	memory_conn_init(&new);
	CHECK(stage_open(&s));
	mp_log_set_level(MP_LEVEL_OFF);
	mp_http_service_take(&s.service, &old.base);
	mp_http_service_take(&s.service, &new.base);
	owe(&s, &old, GET, MP_LIMIT_HTTP_HELD / 2);
	mp_loop_advance(s.loop, 1000);
	owe(&s, &new, GET, MP_LIMIT_HTTP_HELD / 4);
	mp_loop_advance(s.loop, 1000);
	CHECK(!old.closed && !new.closed);
	owe(&s, &s.conn, GET, MP_LIMIT_HTTP_HELD / 2);
	mp_loop_advance(s.loop, 0);
	CHECK(old.closed && !new.closed && !s.conn.closed);
	CHECK(s.service.held <= MP_LIMIT_HTTP_HELD);
}

/* Incomplete bodies count as well. */
TEST(a_body_that_stalls_goes_first)
{
	static const char head[] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 1001\r\n\r\n";
	static char body[1000];
	MP_CLEANUP(memory_conn_done) struct memory_conn reader;
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	memory_conn_init(&reader);
	CHECK(stage_open(&s));
	mp_log_set_level(MP_LEVEL_OFF);
	say(&s, head);
	memory_conn_say(&s.conn, (struct mp_str){body, sizeof(body)});
	CHECK_EQ(s.service.held, sizeof(body));
	mp_loop_advance(s.loop, 1000);
	mp_http_service_take(&s.service, &reader.base);
	owe(&s, &reader, GET, MP_LIMIT_HTTP_HELD - sizeof(body) / 2);
	mp_loop_advance(s.loop, 0);
	CHECK(s.conn.closed && !reader.closed);
}
