/*
 * test_streamable_odd.c - servers that do what no server should, and hooks that hang up at the
 * worst moment: nothing crashes, spins, or stays behind.
 */
#include "transport/streamable.h"

#include "http_stage.h"

#define STAGE                                     \
	MP_CLEANUP(stage_done) struct stage s;    \
	CHECK(stage_init(&s, mp_streamable_new)); \
	CHECK(stage_until(&s, "opened"))

#define INITIALIZE                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"2025-11-25\"}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define HELLO       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}"
#define PING(id)    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define RESULT(id)  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define CANCEL(id)                                                     \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"," \
	"\"params\":{\"requestId\":" id "}}"

static bool is_get(const struct stage_request *r)
{
	return strncmp(r->head, "GET ", 4) == 0;
}

/* Opens a session, takes notifications; its standing stream is the test's. */
static bool greet(struct stage *s, struct stage_request *r)
{
	(void)s;
	if (strstr(r->body, "\"initialize\""))
		stage_answer(r, "200 OK", STAGE_JSON "Mcp-Session-Id: s-1\r\n", "%s", HELLO);
	else if (!is_get(r) && !strstr(r->body, "\"id\""))
		stage_answer(r, "202 Accepted", "", "%s", "");
	else
		return false;
	return true;
}

/* Through the handshake: POST, POST, GET. */
static bool open_session(struct stage *s)
{
	s->script = greet;
	REQUIRE(stage_send(s, INITIALIZE));
	REQUIRE(stage_until(s, "answer:1"));
	REQUIRE(stage_send(s, INITIALIZED));
	REQUIRE(stage_until_requests(s, 3));
	REQUIRE(is_get(&s->got[2]));
	s->news[0] = '\0';
	return true;
}

static struct mp_streamable *inside(struct stage *s)
{
	return mp_container_of(s->t, struct mp_streamable, base);
}

/* curl takes a head that is cut off for an answer that is complete. */
HEAVY_TEST(a_head_that_is_cut_off_is_no_answer)
{
	static const char *const heads[] = {
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n",
		"HTTP/1.1 200 OK\r\n",
		"HTTP/1.1 200 O",
		"HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n",
		"HTTP/1.1 200\r\nX",
		"HTTP/1.0 -200 OK\r\n\r\n",
		"HTTP/1.1 000 OK\r\n\r\n",
		"HTTP/1.1 999 OK\r\n\r\n",
		"HTTP/1.1 204 OK\r\n\r\n",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(heads); i++) {
		STAGE;
		CHECK(open_session(&s));
		stage_answer(&s.got[2], "405 No", "", "%s", "");
		CHECK(stage_send(&s, PING("2")));
		CHECK(stage_until_requests(&s, 4));
		stage_write(&s.got[3], heads[i]);
		conn_close(s.got[3].conn, false);
		CHECK(stage_until(&s, "sent:2 un"));
	}
}

HEAVY_TEST(a_standing_stream_whose_head_is_cut_off_is_tried_again)
{
	STAGE;

	CHECK(open_session(&s));
	stage_write(&s.got[2], "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n");
	conn_close(s.got[2].conn, false);
	stage_settle(&s);
	mp_loop_advance(s.loop, 1001);
	CHECK(stage_until_requests(&s, 4));
	CHECK(is_get(&s.got[3]));
}

/* Which an event can hold, and a header cannot. */
HEAVY_TEST(an_id_that_is_no_header_is_left_out)
{
	STAGE;

	CHECK(open_session(&s));
	stage_write(&s.got[2],
		    STAGE_STREAM "id: a\x01z\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	mp_loop_advance(s.loop, 6000);
	conn_close(s.got[2].conn, false);
	for (int i = 0; i < 4 && s.n < 4; i++) {
		stage_settle(&s);
		mp_loop_advance(s.loop, 1001);
	}
	CHECK(stage_until_requests(&s, 4));
	CHECK(is_get(&s.got[3]));
	CHECK(!strcasestr(s.got[3].head, "Last-Event-ID"));
}

static bool prime_and_close(struct stage *s, struct stage_request *r)
{
	if (!is_get(r))
		return greet(s, r);
	stage_write(r, STAGE_STREAM "id: 1\nretry: 0\ndata:\n\n");
	conn_close(r->conn, false);
	return true;
}

/* Whatever it says of when to come back. */
HEAVY_TEST(a_stream_that_ends_at_once_is_not_asked_for_all_the_time)
{
	STAGE;

	CHECK(open_session(&s));
	s.script = prime_and_close;
	(void)prime_and_close(&s, &s.got[2]);
	for (int i = 0; i < 500; i++)
		stage_turn(&s);
	CHECK(s.n < 6);
}

HEAVY_TEST(a_server_that_wants_us_back_in_a_million_years_gets_us_sooner)
{
	STAGE;

	CHECK(open_session(&s));
	stage_write(&s.got[2], STAGE_STREAM "id: 1\nretry: 9223372036854775807\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[2].conn, false);
	stage_settle(&s);
	CHECK_EQ(s.n, 3);
	mp_loop_advance(s.loop, 3600 * 1000);
	CHECK(stage_until_requests(&s, 4));
}

/* A cancelled call keeps neither a post nor a connection, however silent the server is. */
HEAVY_TEST(a_cancelled_call_is_not_waited_for)
{
	static const char *const said[] = {"", STAGE_STREAM,
					   "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
					   "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n"};

	for (size_t i = 0; i < MP_ARRAY_LEN(said); i++) {
		STAGE;
		CHECK(open_session(&s));
		stage_answer(&s.got[2], "405 No", "", "%s", "");
		CHECK(stage_send(&s, PING("2")));
		CHECK(stage_until_requests(&s, 4));
		stage_write(&s.got[3], said[i]);
		stage_settle(&s);
		stage_set_open(&s, "2", false);
		CHECK(stage_send(&s, CANCEL("2")));
		CHECK(stage_until_requests(&s, 5));
		stage_settle(&s);
		mp_loop_advance(s.loop, 1001);
		stage_settle(&s);
		CHECK_EQ(inside(&s)->posts.len, 0);
		CHECK(i == 3 || !strstr(s.news, "doubt")); /* 500 is one */
	}
}

/* Nor does a notification whose answer is a stream without end. */
HEAVY_TEST(a_notification_is_not_listened_to_for_ever)
{
	STAGE;

	CHECK(open_session(&s));
	stage_answer(&s.got[2], "405 No", "", "%s", "");
	s.script = NULL;
	CHECK(stage_send(&s,
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM);
	stage_settle(&s);
	mp_loop_advance(s.loop, 1001);
	stage_settle(&s);
	CHECK_EQ(inside(&s)->posts.len, 0);
	CHECK(!strstr(s.news, "doubt"));
}

/* An initialized notification that is answered with a stream, or not at all, blocks nothing. */
HEAVY_TEST(initialized_is_not_waited_for_without_end)
{
	static const char *const said[] = {STAGE_STREAM, ""};

	for (size_t i = 0; i < MP_ARRAY_LEN(said); i++) {
		STAGE;
		s.script = greet;
		CHECK(stage_send(&s, INITIALIZE));
		CHECK(stage_until(&s, "answer:1"));
		s.script = NULL;
		CHECK(stage_send(&s, INITIALIZED));
		CHECK(stage_until_requests(&s, 2));
		CHECK(stage_send(&s, PING("2")));
		stage_write(&s.got[1], said[i]);
		for (int j = 0; j < 12 && s.n < 4; j++) {
			stage_settle(&s);
			mp_loop_advance(s.loop, 1000);
		}
		CHECK(stage_until_requests(&s, 4));
		CHECK(is_get(&s.got[2]));
		CHECK(strstr(s.got[3].body, "ping"));
	}
}

/* What was never sent is nothing to cancel. */
HEAVY_TEST(a_call_that_waits_is_cancelled_without_a_word)
{
	STAGE;

	s.script = greet;
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until(&s, "answer:1"));
	s.script = NULL;
	CHECK(stage_send(&s, INITIALIZED));
	CHECK(stage_until_requests(&s, 2));
	CHECK(stage_send(&s, PING("2")));
	stage_set_open(&s, "2", false);
	CHECK(stage_send(&s, CANCEL("2")));
	stage_answer(&s.got[1], "202 Accepted", "", "%s", "");
	CHECK(stage_until_requests(&s, 3));
	stage_answer(&s.got[2], "405 No", "", "%s", "");
	stage_settle(&s);
	CHECK_EQ(s.n, 3);
	CHECK_EQ(inside(&s)->posts.len, 0);
}

/* A stream that breaks after its answer loses nothing, and is not a failure. */
HEAVY_TEST(a_stream_may_break_once_it_has_brought_its_answer)
{
	STAGE;

	CHECK(open_session(&s));
	stage_answer(&s.got[2], "405 No", "", "%s", "");
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM "data: " RESULT("2") "\n\n");
	CHECK(stage_until(&s, "answer:2"));
	conn_close(s.got[3].conn, true);
	stage_settle(&s);
	CHECK_EQ(inside(&s)->posts.len, 0);
	CHECK_TEXT(s.news, "sent:2 answer:2 ");
}

/* Others that get through do not make it less of a circle. */
HEAVY_TEST(a_circle_ends_while_other_calls_are_answered)
{
	STAGE;

	CHECK(open_session(&s));
	stage_answer(&s.got[2], "405 No", "", "%s", "");
	stage_settle(&s);
	s.script = NULL;
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	for (int i = 0; i < 12 && !strstr(s.news, "unusable:2"); i++) {
		struct stage_request *round = &s.got[s.n - 1];

		CHECK(strstr(round->body, "\"id\":2,"));
		CHECK(stage_send(&s, PING("3")));
		CHECK(stage_until_requests(&s, s.n + 1));
		stage_answer(&s.got[s.n - 1], "200 OK", STAGE_JSON, "%s", RESULT("3"));
		CHECK(stage_until(&s, "answer:3"));
		s.news[0] = '\0';
		stage_answer(round, "307 There", "Location: /mcp?key=1\r\n", "%s", "");
		stage_settle(&s);
	}
	CHECK(strstr(s.news, "unusable:2"));
}
