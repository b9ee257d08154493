/*
 * test_mcp_endpoint.c - /mcp: which era a message is of, what its headers must say, and modern
 * requests, each standing alone.
 */
#include "front.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

#define MODERN       JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\n"
#define CALL_HEADERS MODERN "Mcp-Method: tools/call\r\nMcp-Name: mcp__git__t\r\n"
#define CALL(id)                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{" \
	"\"name\":\"mcp__git__t\",\"arguments\":{}," AGENT_META "}}"
#define REQUEST(method) \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method "\",\"params\":{" AGENT_META "}}"
#define BARE(method) "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"" method "\",\"params\":{}}"

TEST(a_modern_call_is_answered_with_one_json_body)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp", CALL_HEADERS, CALL("1")));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "Content-Type: application/json\r\n"));
	CHECK(visitor_has(&v, "\"id\":1"));
	CHECK(visitor_has(&v, "\"result\":{"));
	CHECK(!visitor_has(&v, "Mcp-Session-Id"));
	CHECK_EQ(v.conn.writes, 1);
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
}

/* V22 */
TEST(equal_ids_of_two_posts_are_two_requests)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);

	CHECK(front_open(&s, one, false));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", CALL_HEADERS, CALL("1")));
	CHECK(visitor_ask(&s, &w, "POST /mcp", CALL_HEADERS, CALL("1")));
	CHECK_EQ(fleet_get(&s.f, "git")->n_kept, 2);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 1, "{\"content\":[],\"x\":\"second\"}"));
	fleet_settle(&s.f);
	CHECK_STR(mp_str_of(visitor_hears(&v)), "");
	CHECK(visitor_has(&w, "second"));
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[],\"x\":\"first\"}"));
	fleet_settle(&s.f);
	CHECK(visitor_has(&v, "first"));
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
}

TEST(silence_begins_a_stream_and_keeps_it_alive)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", CALL_HEADERS, CALL("1")));
	CHECK_EQ(v.conn.out.len, 0);
	fleet_advance(&s.f, MP_HTTP_QUIET_MS + 1000);
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "Content-Type: text/event-stream\r\n"));
	CHECK(visitor_has(&v, "X-Accel-Buffering: no\r\n"));
	CHECK(visitor_has(&v, ":\n\n"));
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[],\"x\":\"late\"}"));
	fleet_settle(&s.f);
	CHECK(visitor_has(&v, "late"));
	CHECK(visitor_has(&v, "0\r\n\r\n"));
	CHECK(!visitor_has(&v, "id: "));
}

TEST(a_modern_client_that_leaves_has_cancelled)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", CALL_HEADERS, CALL("1")));
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 0);
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 1);
	CHECK_EQ(s.face->exchanges.len, 0);
}

TEST(a_modern_notification_is_accepted_and_nothing_more)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp", MODERN "Mcp-Method: notifications/cancelled\r\n",
			  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			  "\"params\":{\"requestId\":1}}"));
	CHECK_EQ(visitor_status(&v), 202);
	CHECK(visitor_has(&v, "Content-Length: 0\r\n"));
	CHECK_EQ(s.face->exchanges.len, 0);
}

TEST(a_listener_stays)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp", MODERN "Mcp-Method: subscriptions/listen\r\n",
			  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"subscriptions/listen\","
			  "\"params\":{\"notifications\":{\"toolsListChanged\":true}," AGENT_META
			  "}}"));
	CHECK(visitor_has(&v, "notifications/subscriptions/acknowledged"));
	CHECK(visitor_has(&v, "text/event-stream"));
	fleet_advance(&s.f, 3 * MP_HTTP_QUIET_MS);
	CHECK(!v.conn.closed && !visitor_has(&v, "0\r\n\r\n"));
}

/* --- what a message and its headers must be --------------------------------------------------- */

struct wrong {
	const char *headers, *body;
	int status;
	const char *code; /* of the error object */
};

static const struct wrong wrongs[] = {
	/* mcp-spec 2.2: with modern _meta, removed methods are unknown ones. */
	{MODERN "Mcp-Method: initialize\r\n", REQUEST("initialize"), 404, "-32601"},
	{MODERN "Mcp-Method: ping\r\n", REQUEST("ping"), 404, "-32601"},
	{MODERN "Mcp-Method: logging/setLevel\r\n", REQUEST("logging/setLevel"), 404, "-32601"},
	{MODERN "Mcp-Method: resources/subscribe\r\n", REQUEST("resources/subscribe"), 404,
	 "-32601"},
	{MODERN "Mcp-Method: what/ever\r\n", REQUEST("what/ever"), 404, "-32601"},
	/* Headers that say something else, or nothing. */
	{JSON_HEADERS "Mcp-Method: tools/list\r\n", REQUEST("tools/list"), 400, "-32020"},
	{JSON_HEADERS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Method: tools/list\r\n",
	 REQUEST("tools/list"), 400, "-32020"},
	{MODERN, REQUEST("tools/list"), 400, "-32020"},
	{MODERN "Mcp-Method: TOOLS/LIST\r\n", REQUEST("tools/list"), 400, "-32020"},
	{MODERN "Mcp-Method: tools/call\r\n", REQUEST("tools/list"), 400, "-32020"},
	{MODERN "Mcp-Method: tools/call\r\n", CALL("1"), 400, "-32020"},
	{MODERN "Mcp-Method: tools/call\r\nMcp-Name: mcp__git__T\r\n", CALL("1"), 400, "-32020"},
	{MODERN "Mcp-Method: tools/call\r\nMcp-Name: =?base64?!!!?=\r\n", CALL("1"), 400, "-32020"},
	{MODERN, BARE("initialize"), 400, "-32020"},
	{MODERN "Mcp-Method: tools/list\r\n", BARE("tools/list"), 400, "-32602"},
	{MODERN, "[" BARE("ping") "]", 400, "-32600"},
	{MODERN, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, "-32600"},
	/* An unknown version. */
	{JSON_HEADERS "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: tools/list\r\n",
	 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	 "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
	 "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
	 400, "-32022"},
	{MODERN "Mcp-Method: tools/list\r\n",
	 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	 "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
	 400, "-32602"},
	{JSON_HEADERS "MCP-Protocol-Version: 1999-01-01\r\n", BARE("initialize"), 400, "-32600"},
	/* Legacy, without a session. */
	{JSON_HEADERS, BARE("tools/list"), 400, "-32600"},
	{JSON_HEADERS, "[" BARE("ping") "]", 400, "-32600"},
	{JSON_HEADERS "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n", BARE("ping"), 404,
	 "-32600"},
	/* No messages. */
	{JSON_HEADERS, "", 400, "-32700"},
	{JSON_HEADERS, "{", 400, "-32700"},
	{JSON_HEADERS, "[]", 400, "-32600"},
	{JSON_HEADERS, "{\"id\":1}", 400, "-32600"},
	{"Accept: application/json, text/event-stream\r\nContent-Type: text/plain\r\n",
	 BARE("initialize"), 415, "-32600"},
	{"Accept: application/json, text/event-stream\r\n", BARE("initialize"), 415, "-32600"},
	{"Content-Type: application/json\r\nAccept: application/json\r\n", BARE("initialize"), 406,
	 "-32600"},
	{"Content-Type: application/json\r\nAccept: text/event-stream\r\n", BARE("initialize"), 406,
	 "-32600"},
};

static bool is_refused(const struct wrong *w)
{
	MP_CLEANUP(front_done) struct front s = {0};
	VISITOR(v);
	char code[40];

	REQUIRE(fleet_init(&s.f));
	REQUIRE(front_open(&s, one, false));
	REQUIRE(visitor_ask(&s, &v, "POST /mcp", w->headers, w->body));
	snprintf(code, sizeof(code), "\"code\":%s", w->code);
	if (visitor_status(&v) != w->status || !visitor_has(&v, code))
		fprintf(stderr, "%s\n%s\n-> %s\n", w->headers, w->body, visitor_hears(&v));
	REQUIRE(visitor_status(&v) == w->status);
	REQUIRE(visitor_has(&v, code));
	REQUIRE(!v.conn.shut);
	REQUIRE(fleet_get(&s.f, "git")->calls == 0);
	return true;
}

HEAVY_TEST(what_contradicts_itself_is_refused_with_its_code)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(wrongs); i++)
		CHECK(is_refused(&wrongs[i]));
}

TEST(a_name_may_come_encoded)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp",
			  MODERN "mcp-method:   tools/call  \r\n"
				 "MCP-NAME: =?base64?bWNwX19naXRfX3Q=?=\r\n",
			  CALL("1")));
	CHECK_EQ(visitor_status(&v), 200);
}

TEST(modern_clients_have_post_and_nothing_else)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "GET /mcp", MODERN, NULL));
	CHECK_EQ(visitor_status(&v), 405);
	CHECK(visitor_ask(&s, &v, "DELETE /mcp", MODERN, NULL));
	CHECK_EQ(visitor_status(&v), 405);
	CHECK(visitor_ask(&s, &v, "HEAD /mcp", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 405);
	CHECK(visitor_has(&v, "Allow: GET, POST, DELETE\r\n"));
	CHECK(visitor_ask(&s, &v, "OPTIONS /mcp", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 204);
	CHECK(!visitor_has(&v, "Access-Control"));
}

/* use-A4: names as the address asks for them, for each request by itself. */
TEST(the_query_says_how_tools_are_called)
{
	static const char headers[] = MODERN "Mcp-Method: tools/list\r\n";
	FRONT(s);
	VISITOR(v);
	VISITOR(w);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp?x=1&naming=server__tool", headers,
			  REQUEST("tools/list")));
	CHECK(visitor_has(&v, "\"git__t\"") && !visitor_has(&v, "mcp__"));
	CHECK(visitor_ask(&s, &w, "POST /mcp?naming=other", headers, REQUEST("tools/list")));
	CHECK(visitor_has(&w, "\"mcp__git__t\""));
}

/* The headers of any HTTP client are the context of its message. */
TEST(trace_headers_reach_the_server)
{
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
		"\"name\":\"mcp__git__t\"," AGENT_META "}}";
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}", false));
	CHECK(visitor_ask(&s, &v, "POST /mcp",
			  JSON_HEADERS
			  "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
			  "Mcp-Name: mcp__git__t\r\n"
			  "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n"
			  "tracestate: a=1\r\ntracestate: b=2\r\n",
			  call));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(strstr(fleet_get(&s.f, "git")->last_params,
		     "\"traceparent\":\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\","
		     "\"tracestate\":\"a=1, b=2\""));
}
