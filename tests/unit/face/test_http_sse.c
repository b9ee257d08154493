/*
 * test_http_sse.c - HTTP+SSE of 2024-11-05: one stream out, POSTs in.
 */
#include "front.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define JSON     "Content-Type: application/json\r\n"

/* "POST /messages?session=..." */
static bool begin(struct front *s, struct visitor *v, char *what, size_t size)
{
	const char *at;

	REQUIRE(visitor_ask(s, v, "GET /sse", "Accept: text/event-stream\r\n", NULL));
	REQUIRE(visitor_status(v) == 200);
	at = strstr(visitor_hears(v), "event: endpoint\ndata: /messages?session=");
	REQUIRE(at);
	snprintf(what, size, "POST %.*s", (int)strcspn(at + 22, "\n"), at + 22);
	return true;
}

TEST(everything_is_said_on_the_stream)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	char what[200];

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, what, sizeof(what)));
	CHECK(visitor_ask(&s, &w, what, JSON, PING("1")));
	CHECK_EQ(visitor_status(&w), 202);
	CHECK(visitor_has(&v, "\"id\":1"));
	CHECK(visitor_ask(&s, &w, what, JSON, "{nonsense"));
	CHECK_EQ(visitor_status(&w), 202);
	CHECK(visitor_has(&v, "-32700"));
	CHECK(visitor_ask(&s, &w, what, "", PING("1")));
	CHECK_EQ(visitor_status(&w), 415);
	fleet_advance(&s.f, MP_HTTP_QUIET_MS + 1000);
	CHECK(visitor_has(&v, "\n:\n\n"));
}

TEST(the_session_ends_with_its_stream)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	char what[200];

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, what, sizeof(what)));
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
	CHECK(visitor_ask(&s, &w, what, JSON, PING("1")));
	CHECK_EQ(visitor_status(&w), 404);
	CHECK(visitor_ask(&s, &w, "POST /messages", JSON, PING("1")));
	CHECK_EQ(visitor_status(&w), 404);
	CHECK(visitor_ask(&s, &w, "POST /messages?x=1&session=", JSON, PING("1")));
	CHECK_EQ(visitor_status(&w), 404);
}

TEST(a_client_that_takes_no_events_is_refused)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "GET /sse", "Accept: application/json\r\n", NULL));
	CHECK_EQ(visitor_status(&v), 406);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}
