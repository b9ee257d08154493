/*
 * test_http_connection.c - the table of a connection cell by cell, requests in order, deadlines,
 * and clients that do not read.
 */
#include "test.h"
#include "service_stage.h"

#include <stdio.h>

#include "base/limits.h"

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
#define OK_ANSWER                                                                      \
	"HTTP/1.1 200 OK\r\n" DATE "Content-Type: text/plain\r\nContent-Length: 2\r\n" \
	"Cache-Control: no-store\r\n\r\nok"

TEST(a_request_is_answered_in_one_write)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nhi");
	CHECK_STR(mp_buf_get(&s.log), "judge /x;serve hi;");
	CHECK_STR(mp_buf_get(&s.conn.out), OK_ANSWER);
	CHECK_EQ(s.conn.writes, 1);
	CHECK(!s.conn.closed && !s.conn.shut);
}

TEST(pipelined_requests_are_answered_in_order)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET /1 HTTP/1.1\r\n" HOST "\r\nGET /2 HTTP/1.1\r\n" HOST "\r\nGET /3 HT");
	CHECK_STR(mp_buf_get(&s.log), "judge /1;serve ;");
	say(&s, "TP/1.1\r\n" HOST "\r\n");
	CHECK_EQ(s.served, 1);
	answer(&s, "ok");
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.served, 2);
	answer(&s, "ok");
	mp_loop_advance(s.loop, 0);
	answer(&s, "ok");
	CHECK_STR(mp_buf_get(&s.log), "judge /1;serve ;judge /2;serve ;judge /3;serve ;");
	CHECK_STR(mp_buf_get(&s.conn.out), OK_ANSWER OK_ANSWER OK_ANSWER);
}

TEST(a_client_that_pipelines_without_end_has_to_wait)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	static char many[70000];

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET /1 HTTP/1.1\r\n" HOST "\r\n");
	memset(many, 'x', sizeof(many));
	memory_conn_say(&s.conn, (struct mp_str){many, 40000});
	CHECK(s.conn.reading);
	memory_conn_say(&s.conn, (struct mp_str){many, 40000});
	CHECK(!s.conn.reading);
	answer(&s, "ok");
	mp_loop_advance(s.loop, 0);
	CHECK(s.conn.reading && s.conn.shut); /* it was nonsense */
}

TEST(a_refused_request_leaves_the_connection_usable)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.refuse = 401;
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nh");
	CHECK_EQ(s.conn.out.len, 0);
	say(&s, "i");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 401 Unauthorized\r\n"), 0) ==
	      0);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("X-Why: because\r\n"), 0) > 0);
	CHECK_STR(mp_buf_get(&s.log), "judge /x;");
	mp_buf_clear(&s.conn.out);
	s.refuse = 0;
	say(&s, "GET / HTTP/1.1\r\n" HOST "\r\n");
	CHECK_STR(mp_buf_get(&s.conn.out), OK_ANSWER);
}

TEST(the_large_body_of_a_refused_request_is_not_read)
{
	static char more[70000];
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.refuse = 401;
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 70000\r\n\r\nh");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("Connection: close\r\n"), 0) > 0);
	CHECK(s.conn.shut && !s.conn.closed);
	say(&s, "iiiiii");
	CHECK(s.conn.reading);
	memory_conn_say(&s.conn, (struct mp_str){more, sizeof(more)});
	CHECK(!s.conn.reading && !s.conn.closed); /* attack-S1: no more time for it */
	mp_loop_advance(s.loop, MP_HTTP_LEAVE_MS + 1000);
	CHECK(s.conn.closed);
	CHECK_EQ(s.service.connections.len, 0);
}

TEST(whoever_expects_a_word_before_the_body_gets_one)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
	CHECK_STR(mp_buf_get(&s.conn.out), "HTTP/1.1 100 Continue\r\n\r\n");
	say(&s, "hi");
	CHECK_STR(mp_buf_get(&s.conn.out), "HTTP/1.1 100 Continue\r\n\r\n" OK_ANSWER);
	/* Or a refusal. */
	s.refuse = 403;
	mp_buf_clear(&s.conn.out);
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 403"), 0) == 0);
	CHECK(s.conn.shut);
}

TEST(head_gets_no_body)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "HEAD /x HTTP/1.1\r\n" HOST "\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("Content-Length: 2\r\n"), 0) > 0);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("\r\n\r\nok"), 0) < 0);
}

TEST(close_is_said_and_done)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "GET /x HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("Connection: close\r\n"), 0) > 0);
	CHECK(s.conn.shut && !s.conn.closed);
	memory_conn_end(&s.conn);
	CHECK(s.conn.closed);
}

TEST(nonsense_is_answered_and_ends_the_connection)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 400 Bad Request\r\n"), 0) == 0);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1"), 10) < 0);
	CHECK(s.conn.shut);
	CHECK_EQ(s.log.len, 0);
}

TEST(an_event_stream_is_chunked)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET /x HTTP/1.1\r\n" HOST "\r\n");
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, "X: y\r\n");
	CHECK_STR(mp_buf_get(&s.conn.out),
		  "HTTP/1.1 200 OK\r\n" DATE "X: y\r\nTransfer-Encoding: chunked\r\n"
		  "Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
		  "Cache-Control: no-store\r\n\r\n");
	mp_buf_clear(&s.conn.out);
	mp_exchange_event(s.open, MP_STR(""), MP_STR("7"), MP_STR("{}"));
	mp_exchange_end(s.open);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("data: {}\n"), 0) > 0);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("\n\n\r\n0\r\n\r\n"), 0) > 0);
	CHECK_EQ(s.gone, 0);
	/* HTTP/1.0 has no chunks. */
	mp_buf_clear(&s.conn.out);
	say(&s, "GET /x HTTP/1.0\r\n" HOST "\r\n");
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, NULL);
	mp_exchange_comment(s.open);
	mp_exchange_end(s.open);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("chunked"), 0) < 0);
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("\r\n\r\n:\n\n"), 0) > 0);
	CHECK(s.conn.shut);
}

TEST(a_client_that_leaves_is_told_to_the_handler_once)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET /x HTTP/1.1\r\n" HOST "\r\n");
	memory_conn_end(&s.conn);
	CHECK_EQ(s.gone, 1);
	CHECK(s.conn.closed);
}

TEST(a_write_that_fails_is_told_from_the_loop)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET /x HTTP/1.1\r\n" HOST "\r\n");
	s.conn.deaf = true;
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, NULL);
	mp_exchange_comment(s.open);
	CHECK_EQ(s.gone, 0);
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.gone, 1);
	CHECK(s.conn.closed);
}

TEST(a_tunnel_passes_bytes_as_they_are)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.tunnels = true;
	say(&s, "GET /ws HTTP/1.1\r\n" HOST "Connection: Upgrade\r\nUpgrade: x\r\n\r\nabc");
	say(&s, "def");
	CHECK_STR(mp_buf_get(&s.log), "judge /ws;serve ;bytes abc;bytes def;");
	CHECK_STR(mp_buf_get(&s.conn.out),
		  "HTTP/1.1 101 Switching Protocols\r\n" DATE "Upgrade: x\r\n\r\n");
	CHECK(s.open);
	mp_exchange_write(s.open, MP_STR("xyz"));
	mp_loop_advance(s.loop, MP_HTTP_QUIET_MS + 1000);
	CHECK_EQ(s.quiet, 1);
	CHECK(s.open);
	mp_exchange_end(s.open);
	CHECK(s.conn.shut);
	CHECK_EQ(s.gone, 0);
}

/* How long until the connection is gone? */
static bool lasts(struct stage *s, int64_t ms)
{
	mp_loop_advance(s->loop, ms - 1);
	REQUIRE(!s->conn.closed && !s->conn.shut);
	mp_loop_advance(s->loop, 1 + 500 + MP_HTTP_LEAVE_MS + 500);
	REQUIRE(s->conn.closed);
	return true;
}

TEST(a_visitor_who_says_nothing_leaves)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	CHECK(lasts(&s, MP_HTTP_HEAD_MS));
	CHECK_EQ(s.conn.out.len, 0);
}

TEST(a_head_has_its_time_however_it_drips)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "GET");
	mp_loop_advance(s.loop, MP_HTTP_HEAD_MS / 2);
	say(&s, " /");
	CHECK(lasts(&s, MP_HTTP_HEAD_MS / 2));
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 408 "), 0) == 0);
}

/* attack-S8: pieces of a body do not extend its time for ever. */
TEST(a_body_that_drips_is_refused)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 1000000\r\n\r\n");
	mp_loop_advance(s.loop, MP_HTTP_BODY_MS / 2);
	say(&s, "a");
	CHECK(lasts(&s, MP_HTTP_BODY_MS / 2));
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 408 "), 0) == 0);
	CHECK_EQ(s.served, 0);
}

HEAVY_TEST(a_large_body_may_take_long)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	enum { PIECE = 16384, PIECES = 200 };
	static char piece[PIECE];
	char head[100];

	CHECK(stage_open(&s));
	snprintf(head, sizeof(head), "POST /x HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n",
		 PIECE * PIECES);
	say(&s, head);
	memset(piece, 'x', sizeof(piece));
	for (int i = 0; i < PIECES; i++) { /* a little faster than the slowest permitted client */
		mp_loop_advance(s.loop, PIECE * 900 / MP_LIMIT_HTTP_RATE);
		memory_conn_say(&s.conn, (struct mp_str){piece, sizeof(piece)});
	}
	CHECK_EQ(s.served, 1);
	CHECK_EQ(s.service.held, 0);
}

TEST(an_idle_connection_leaves)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	say(&s, "GET / HTTP/1.1\r\n" HOST "\r\n");
	CHECK(lasts(&s, MP_HTTP_IDLE_MS));
}

TEST(silence_is_told_as_often_as_it_lasts)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET / HTTP/1.1\r\n" HOST "\r\n");
	mp_loop_advance(s.loop, 3 * MP_HTTP_QUIET_MS + 2000);
	CHECK_EQ(s.quiet, 3);
	CHECK(s.open);
	mp_exchange_begin_stream(s.open, NULL);
	mp_loop_advance(s.loop, MP_HTTP_QUIET_MS - 1000);
	CHECK_EQ(s.quiet, 3);
	CHECK(!s.conn.closed);
}

/* attack-S1: without a token no body is kept. */
TEST(the_body_of_a_visitor_is_not_kept)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.is_visitor = true;
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhe");
	say(&s, "ll");
	CHECK_EQ(s.service.held, 0);
	say(&s, "o");
	CHECK_STR(mp_buf_get(&s.log), "judge /x;serve ;");
	CHECK_STR(mp_buf_get(&s.conn.out), OK_ANSWER);
	mp_buf_clear(&s.log);
	mp_buf_clear(&s.conn.out);
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Content-Length: 65537\r\n\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 413 "), 0) == 0);
	CHECK_STR(mp_buf_get(&s.log), "judge /x;");
	CHECK(s.conn.shut);
}

TEST(chunks_of_a_visitor_are_refused_at_the_head)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.is_visitor = true;
	say(&s, "POST /x HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 413 "), 0) == 0);
	CHECK_EQ(s.served, 0);
	CHECK(s.conn.shut);
}

/* attack-S11: requests on one connection do not pile up answers that are not read. */
TEST(with_unsent_answers_the_next_request_waits)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.is_visitor = true;
	s.conn.slow = true;
	say(&s, "GET /1 HTTP/1.1\r\n" HOST "\r\n");
	s.conn.waiting += 65536;
	say(&s, "GET /2 HTTP/1.1\r\n" HOST "\r\nGET /3 HTTP/1.1\r\n" HOST "\r\n");
	CHECK_EQ(s.served, 1);
	CHECK(!s.conn.reading);
	memory_conn_take(&s.conn, 1000000);
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.served, 3);
	CHECK(s.conn.reading);
}

/* The judge needs time: nothing is read meanwhile, and what came is not lost. */
TEST(a_deferred_request_is_judged_again)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.defers = s.at_once = true;
	memory_conn_say(&s.conn, MP_STR("POST /a HTTP/1.1\r\n" HOST "Content-Length: 4\r\n\r\nab"));
	mp_loop_advance(s.loop, 100);
	CHECK(!s.conn.reading && s.served == 0 && s.conn.out.len == 0);
	CHECK_EQ(s.service.unadmitted.len, 1);
	s.defers = false;
	mp_http_service_judge_again(&s.service);
	mp_loop_advance(s.loop, 0);
	CHECK(s.conn.reading && s.served == 0);
	memory_conn_say(&s.conn, MP_STR("cdGET /b HTTP/1.1\r\n" HOST "\r\n"));
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.served, 2);
	CHECK_STR(mp_buf_get(&s.log), "judge /a;judge /a;serve abcd;judge /b;serve ;");
}

TEST(deferred_requests_without_a_body_are_served_in_order)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.defers = s.at_once = true;
	memory_conn_say(&s.conn,
			MP_STR("GET /a HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.1\r\n" HOST "\r\n"));
	CHECK_EQ(s.served, 0);
	s.defers = false;
	mp_http_service_judge_again(&s.service);
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.served, 2);
}

TEST(a_deferred_request_can_be_refused_and_has_its_time)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.defers = true;
	memory_conn_say(&s.conn, MP_STR("GET /a HTTP/1.1\r\n" HOST "\r\n"));
	CHECK(!s.conn.reading);
	s.defers = false;
	s.refuse = 401;
	mp_http_service_judge_again(&s.service);
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.served, 0);
	CHECK(mp_str_starts(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 401")));
	CHECK_EQ(connection(&s)->state, MP_HTTP_CONNECTION_IDLE);
	mp_buf_clear(&s.conn.out);
	s.defers = true;
	s.refuse = 0;
	memory_conn_say(&s.conn, MP_STR("GET /a HTTP/1.1\r\n" HOST "\r\n"));
	mp_loop_advance(s.loop, MP_HTTP_HEAD_MS + 1000);
	CHECK(mp_str_starts(mp_buf_get(&s.conn.out), MP_STR("HTTP/1.1 408")));
}

TEST(draining_ends_what_is_idle_and_lets_answers_finish)
{
	MP_CLEANUP(memory_conn_done) struct memory_conn idle;
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	memory_conn_init(&idle);
	CHECK(stage_open(&s));
	s.at_once = false;
	say(&s, "GET / HTTP/1.1\r\n" HOST "\r\n");
	mp_http_service_take(&s.service, &idle.base);
	mp_http_service_drain(&s.service, emptied);
	CHECK(idle.shut && !s.conn.shut);
	CHECK_EQ(s.empty, 0);
	memory_conn_end(&idle);
	answer(&s, "ok");
	CHECK(mp_str_find(mp_buf_get(&s.conn.out), MP_STR("Connection: close\r\n"), 0) > 0);
	CHECK(s.conn.shut);
	CHECK_EQ(s.empty, 0);
	memory_conn_end(&s.conn);
	CHECK_EQ(s.empty, 1);
	/* No other connection arrives. */
	idle.closed = idle.shut = false;
	mp_http_service_take(&s.service, &idle.base);
	CHECK(idle.closed);
}

/* --- every event in every state -------------------------------------------------------------- */

#define ON(event) MP_HTTP_CONNECTION_ON_##event
#define IN(state) MP_HTTP_CONNECTION_##state

/* Where it is afterwards; -1: this cannot happen. */
static const int cells[MP_HTTP_CONNECTION_STATE_COUNT][MP_HTTP_CONNECTION_EVENT_COUNT] = {
#define NONE -1
	/*            BEGUN     HEADED    DEFERRED  JUDGED    WHOLE     ANSWERED  SAID UPGRADED
	 * ENDED FLUSHED   LATE      BROKEN    DROP */
	[IN(IDLE)] = {IN(HEAD), NONE, NONE, NONE, NONE, NONE, NONE, NONE, IN(LEAVING), IN(IDLE),
		      IN(GONE), IN(GONE), IN(GONE)},
	[IN(HEAD)] = {NONE, IN(BODY), IN(WAITING), NONE, IN(IDLE), NONE, IN(LEAVING), NONE,
		      IN(LEAVING), IN(HEAD), IN(LEAVING), IN(GONE), IN(GONE)},
	[IN(BODY)] = {NONE, NONE, NONE, NONE, IN(IDLE), NONE, IN(LEAVING), NONE, IN(GONE), IN(BODY),
		      IN(LEAVING), IN(GONE), IN(GONE)},
	[IN(WAITING)] = {NONE, NONE, NONE, IN(BODY), NONE, NONE, IN(LEAVING), NONE, IN(GONE),
			 IN(WAITING), IN(LEAVING), IN(GONE), IN(GONE)},
	[IN(SERVED)] = {NONE, NONE, NONE, NONE, NONE, IN(IDLE), IN(LEAVING), IN(TUNNEL), IN(GONE),
			IN(SERVED), IN(SERVED), IN(GONE), IN(GONE)},
	[IN(TUNNEL)] = {NONE, NONE, NONE, NONE, NONE, NONE, IN(LEAVING), NONE, IN(GONE), IN(TUNNEL),
			IN(TUNNEL), IN(GONE), IN(GONE)},
	[IN(LEAVING)] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, IN(GONE), IN(LEAVING),
			 IN(GONE), IN(GONE), IN(GONE)},
	[IN(GONE)] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, IN(GONE), IN(GONE), IN(GONE),
		      IN(GONE), IN(GONE)},
};

/* Bring it there as visitors do. */
static bool bring(struct stage *s, enum mp_http_connection_state state)
{
	static const char *const texts[] = {
		[IN(IDLE)] = "",
		[IN(HEAD)] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n",
		[IN(BODY)] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n",
		[IN(WAITING)] = "POST / HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n",
		[IN(SERVED)] = "GET / HTTP/1.1\r\n" HOST "\r\n",
		[IN(TUNNEL)] = "GET / HTTP/1.1\r\n" HOST "\r\n",
		[IN(LEAVING)] = "GET / HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n",
		[IN(GONE)] = "",
	};

	s->at_once = state != IN(SERVED);
	s->tunnels = state == IN(TUNNEL);
	s->defers = state == IN(WAITING);
	memory_conn_say(&s->conn, mp_str_of(texts[state]));
	REQUIRE(s->service.connections.len == 1);
	REQUIRE(connection(s)->state == (state == IN(GONE) ? IN(IDLE) : state));
	s->at_once = true;
	s->defers = false;
	return true;
}

static bool visit(enum mp_http_connection_state state, enum mp_http_connection_event ev)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	struct mp_http_connection *c;

	REQUIRE(stage_open(&s));
	REQUIRE(bring(&s, state));
	c = connection(&s);
	if (state == IN(GONE))
		mp_http_connection_advance(c, ON(DROP));
	if (cells[state][ev] < 0)
		return true;
	if (ev == ON(BEGUN) || ev == ON(WHOLE)) { /* with what it takes to be one */
		c->in = c->in ? c->in : mp_inbound_new();
		c->x.refusal = (struct mp_http_refusal){400, "no", NULL};
		c->x.keeps_alive = true;
	}
	if (ev == ON(HEADED))
		c->x.in = c->in;
	mp_http_connection_advance(c, ev);
	REQUIRE((int)c->state == cells[state][ev]);
	REQUIRE(s.conn.closed == (c->state == IN(GONE)));
	REQUIRE(s.gone == ((state == IN(SERVED) || state == IN(TUNNEL)) && c->state == IN(GONE)));
	return true;
}

TEST(every_event_in_every_state)
{
	for (int state = 0; state < MP_HTTP_CONNECTION_STATE_COUNT; state++)
		for (int ev = 0; ev < MP_HTTP_CONNECTION_EVENT_COUNT; ev++)
			CHECK(visit((enum mp_http_connection_state)state,
				    (enum mp_http_connection_event)ev));
}
