/*
 * test_streamable.c - Streamable HTTP against a server on the same loop, in both eras.
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
#define HELLO                                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"," \
	"\"capabilities\":{},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}"
#define PING(id)   "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define RESULT(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"
#define MODERN_META                                                              \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN_CALL(id, name)             \
	"{\"jsonrpc\":\"2.0\",\"id\":" id \
	",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"," MODERN_META "}}"

static bool is(const struct stage_request *r, const char *method)
{
	return strncmp(r->head, method, strlen(method)) == 0 && r->head[strlen(method)] == ' ';
}

static bool has(const struct stage_request *r, const char *line)
{
	return strstr(r->head, line) != NULL;
}

/* Opens a session, takes notifications, has no standing stream. */
static bool greet(struct stage *s, struct stage_request *r)
{
	(void)s;
	if (is(r, "GET"))
		stage_answer(r, "405 No", "", "%s", "");
	else if (strstr(r->body, "\"initialize\""))
		stage_answer(r, "200 OK", STAGE_JSON "Mcp-Session-Id: s-1\r\n", "%s", HELLO);
	else if (!strstr(r->body, "\"id\""))
		stage_answer(r, "202 Accepted", "", "%s", "");
	else
		return false;
	return true;
}

static bool greet_without_session(struct stage *s, struct stage_request *r)
{
	(void)s;
	if (is(r, "GET"))
		stage_answer(r, "405 No", "", "%s", "");
	else if (strstr(r->body, "\"initialize\""))
		stage_answer(r, "200 OK", STAGE_JSON, "%s", HELLO);
	else if (!strstr(r->body, "\"id\""))
		stage_answer(r, "202 Accepted", "", "%s", "");
	else
		return false;
	return true;
}

/* The same, and its stream stays open. */
static bool greet_and_stand(struct stage *s, struct stage_request *r)
{
	if (is(r, "GET"))
		stage_write(r, STAGE_STREAM);
	else
		return greet(s, r);
	return true;
}

/* The same, and says about its stream what others say about sessions that are gone. */
static bool greet_without_stream(struct stage *s, struct stage_request *r)
{
	if (is(r, "GET"))
		stage_answer(r, "404 No", "", "%s", "");
	else
		return greet(s, r);
	return true;
}

/* Through the handshake: POST, POST, GET. */
static bool open_session(struct stage *s, bool (*script)(struct stage *, struct stage_request *))
{
	s->script = script;
	REQUIRE(stage_send(s, INITIALIZE));
	REQUIRE(stage_until(s, "answer:1"));
	REQUIRE(stage_send(s, INITIALIZED));
	REQUIRE(stage_until_requests(s, 3));
	REQUIRE(is(&s->got[2], "GET"));
	stage_settle(s);
	s->news[0] = '\0';
	return true;
}

/* V24 */
/* The stream tells which request a message belongs to; the standing stream does not. */
HEAVY_TEST(what_a_server_says_names_its_request)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	stage_write(&s.got[3], STAGE_STREAM "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	CHECK_TEXT(s.during, strstr(s.got[3].body, "\"id\":2") ? "2" : "3");
	s.news[0] = '\0';
	stage_write(&s.got[4], STAGE_STREAM "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	CHECK_TEXT(s.during, strstr(s.got[4].body, "\"id\":2") ? "2" : "3");
	s.news[0] = '\0';
	stage_write(&s.got[2], "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	CHECK_TEXT(s.during, "");
	CHECK_EQ(s.t->during.len, 0);
}

/* --- legacy ----------------------------------------------------------------------------------- */

/* O30 */
HEAVY_TEST(a_session_is_opened_used_and_left)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(has(&s.got[0], "Accept: application/json, text/event-stream"));
	CHECK(has(&s.got[0], "Content-Type: application/json"));
	CHECK(has(&s.got[0], "X-Own: yes"));
	CHECK(!has(&s.got[0], "MCP-Protocol-Version"));
	CHECK(has(&s.got[1], "Mcp-Session-Id: s-1"));
	CHECK(has(&s.got[1], "MCP-Protocol-Version: 2025-06-18"));
	CHECK(has(&s.got[2], "Accept: text/event-stream"));
	CHECK(has(&s.got[2], "Mcp-Session-Id: s-1"));
	CHECK(!has(&s.got[2], "Last-Event-ID"));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	CHECK(has(&s.got[3], "Mcp-Session-Id: s-1"));
	CHECK(!has(&s.got[3], "Mcp-Method"));
	stage_answer(&s.got[3], "200 OK", STAGE_JSON, "%s", RESULT("2"));
	CHECK(stage_until(&s, "sent:2 answer:2"));
	s.script = NULL;
	s.t->impl->close(s.t);
	CHECK(stage_until_requests(&s, 5));
	CHECK(is(&s.got[4], "DELETE"));
	CHECK(has(&s.got[4], "Mcp-Session-Id: s-1"));
	CHECK(!s.closed);
	stage_answer(&s.got[4], "204 Gone", "", "%s", "");
	CHECK(stage_until(&s, "closed"));
}

/* What other answers say about sessions is not about this one. */
HEAVY_TEST(a_session_keeps_the_id_of_its_beginning)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_answer(&s.got[3], "200 OK", STAGE_JSON "Mcp-Session-Id: trap\r\n", "%s", RESULT("2"));
	CHECK(stage_until(&s, "answer:2"));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	CHECK(has(&s.got[4], "Mcp-Session-Id: s-1"));
}

HEAVY_TEST(a_farewell_is_not_waited_for_long)
{
	STAGE;

	CHECK(open_session(&s, greet));
	s.t->impl->close(s.t);
	CHECK(stage_until_requests(&s, 4));
	mp_loop_advance(s.loop, 1001);
	CHECK(stage_until(&s, "closed"));
}

HEAVY_TEST(nothing_overtakes_initialized)
{
	STAGE;

	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "200 OK", STAGE_JSON, "%s", HELLO);
	CHECK(stage_until(&s, "answer:1"));
	CHECK(stage_send(&s, INITIALIZED));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 2));
	stage_settle(&s);
	CHECK_EQ(s.n, 2);
	CHECK(strstr(s.got[1].body, "notifications/initialized"));
	stage_answer(&s.got[1], "202 Accepted", "", "%s", "");
	CHECK(stage_until_requests(&s, 3));
	stage_settle(&s);
	CHECK_EQ(s.n, 3); /* nor the standing stream, as long as that does not take long */
	CHECK(is(&s.got[2], "GET"));
	mp_loop_advance(s.loop, 301);
	CHECK(stage_until_requests(&s, 5));
}

HEAVY_TEST(answers_come_as_streams)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3],
		    STAGE_STREAM ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}"
				 "\n\nevent: other\ndata: no\n\n");
	CHECK(stage_until(&s, "said"));
	stage_write(&s.got[3], "data: " RESULT("2") "\n\n");
	CHECK(stage_until(&s, "said answer:2"));
	/* It is not ended: that is waited for a little, for the sake of the connection. */
	CHECK_EQ(s.server.n_open, 1);
	mp_loop_advance(s.loop, 1001);
	for (int i = 0; i < 500 && s.server.n_open > 0; i++)
		stage_turn(&s);
	CHECK_EQ(s.server.n_open, 0);
	CHECK_TEXT(s.news, "sent:2 said answer:2 ");
}

/* A stream that broke goes on where it was, after as long as the server says. */
HEAVY_TEST(a_broken_stream_is_resumed)
{
	STAGE;

	CHECK(open_session(&s, greet));
	s.script = NULL;
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM "id: e7\nretry: 500\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[3].conn, false);
	stage_settle(&s);
	mp_loop_advance(s.loop, 499);
	stage_settle(&s);
	CHECK_EQ(s.n, 4);
	mp_loop_advance(s.loop, 2);
	CHECK(stage_until_requests(&s, 5));
	CHECK(is(&s.got[4], "GET"));
	CHECK(has(&s.got[4], "Last-Event-ID: e7"));
	stage_write(&s.got[4], STAGE_STREAM "data: " RESULT("2") "\n\n");
	CHECK(stage_until(&s, "answer:2"));
	CHECK_TEXT(s.news, "sent:2 answer:2 ");
}

/* A call that is cancelled while its stream rests is not asked for again, and the server hears it.
 */
HEAVY_TEST(a_cancelled_call_does_not_resume_its_stream)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM "id: e7\nretry: 500\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[3].conn, false);
	stage_settle(&s);
	stage_set_open(&s, "2", false);
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":2}}"));
	CHECK(stage_until_requests(&s, 5));
	CHECK(strstr(s.got[4].body, "notifications/cancelled"));
	mp_loop_advance(s.loop, 501);
	stage_settle(&s);
	CHECK_EQ(s.n, 5);
}

/* What a server says to the GET that resumes a stream, and what becomes of the call. */
static const struct resumption {
	const char *status, *headers, *body, *news;
} resumptions[] = {
	{"400 No", "", "what?", "unknown:2 "},
	{"404 No", "", "", "unknown:2 ended "},
	{"405 No", "", "", "unknown:2 "},
	{"410 No", "", "", "unknown:2 "},
	{"400 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"x\"}}",
	 "unknown:2 "},
	{"400 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"x\"}}", "unknown:2 "},
	{"400 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":"
	 "\"No valid session ID\"}}",
	 "unknown:2 ended "},
	{"401 No", "", "", "unknown:2 ended "},
	{"403 No", "", "", "unknown:2 "},
	{"429 Slow", "", "", "unknown:2 "},
	{"500 Oops", "", "", "unknown:2 doubt "},
	{"503 Down", "", "", "unknown:2 doubt "},
	{"302 Moved", "Location: https://elsewhere.example/\r\n", "", "unknown:2 "},
	{"404 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"x\"}}",
	 "error:2 "},
};

static bool resume(const struct resumption *r)
{
	MP_CLEANUP(stage_done) struct stage s;

	REQUIRE(stage_init(&s, mp_streamable_new));
	REQUIRE(stage_until(&s, "opened"));
	REQUIRE(open_session(&s, greet));
	s.script = NULL;
	REQUIRE(stage_send(&s, PING("2")));
	REQUIRE(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM "id: e7\nretry: 500\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[3].conn, false);
	stage_settle(&s);
	mp_loop_advance(s.loop, 501);
	REQUIRE(stage_until_requests(&s, 5));
	REQUIRE(is(&s.got[4], "GET"));
	s.news[0] = '\0';
	stage_answer(&s.got[4], r->status, r->headers, "%s", r->body);
	REQUIRE(stage_until(&s, ":2"));
	stage_settle(&s);
	mp_loop_advance(s.loop, 1);
	stage_settle(&s);
	if (strcmp(s.news, r->news) != 0)
		fprintf(stderr, "%s %s%s: %s\n", r->status, r->headers, r->body, s.news);
	REQUIRE(strcmp(s.news, r->news) == 0);
	REQUIRE(s.n == 5); /* neither is it sent again */
	return true;
}

/* mutant-S1 mutant-S2: the call may have run, so it is neither sent again nor told as refused. */
HEAVY_TEST(a_refused_resumption_leaves_its_call_unknown)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(resumptions); i++)
		CHECK(resume(&resumptions[i]));
}

HEAVY_TEST(a_stream_without_ids_is_lost_alone)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
			       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
	CHECK(stage_until(&s, "unknown:2"));
	CHECK_TEXT(s.news, "sent:2 unknown:2 ");
	CHECK(strstr(s.why.message, "ended the stream without an answer"));
}

/* S09: a disconnect does not cancel, so the server gets a message. */
HEAVY_TEST(a_legacy_cancel_is_a_message)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM);
	stage_settle(&s);
	stage_set_open(&s, "2", false);
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":2}}"));
	CHECK(stage_until_requests(&s, 5));
	CHECK(strstr(s.got[4].body, "notifications/cancelled"));
	mp_loop_advance(s.loop, 1001);
	stage_settle(&s);
	CHECK_TEXT(s.news, "sent:2 ");
}

/* --- sessions that are gone ------------------------------------------------------------------- */

/* P22 R08 */
HEAVY_TEST(a_forgotten_session_ends_the_conversation_and_no_call)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	stage_answer(&s.got[3], "404 Not Found", "", "%s", "");
	CHECK(stage_until(&s, "untaken:2"));
	stage_settle(&s);
	CHECK(!strstr(s.news, "ended")); /* the other one may still be answered */
	CHECK(!stage_send(&s, PING("4")));
	stage_answer(&s.got[4], "404 Not Found", "", "%s", "");
	CHECK(stage_until(&s, "untaken:3"));
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_ECLOSED);
	CHECK(strstr(s.why.message, "no longer knows this session"));
	s.t->impl->close(s.t);
	CHECK(stage_until(&s, "closed"));
	CHECK_EQ(s.n, 5); /* there was nothing to say farewell to */
}

/* As server-everything does after a restart. */
HEAVY_TEST(a_session_may_be_forgotten_in_words)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_answer(&s.got[3], "400 Bad Request", STAGE_JSON, "%s",
		     "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,\"message\":"
		     "\"Bad Request: No valid session ID provided\"},\"id\":null}");
	CHECK(stage_until(&s, "ended"));
	CHECK_TEXT(s.news, "sent:2 untaken:2 ended ");
}

HEAVY_TEST(what_says_nothing_is_lost_with_the_conversation)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	stage_answer(&s.got[3], "404 Not Found", "", "%s", "");
	CHECK(stage_until(&s, "untaken:2"));
	mp_loop_advance(s.loop, 1001);
	CHECK(stage_until(&s, "ended")); /* and the caller knows that 3 is still open */
}

/* --- refusals --------------------------------------------------------------------------------- */

struct refusal {
	const char *status, *headers, *body;
	const char *early, *late; /* what is told before anything was agreed, and later */
	int code;                 /* of the late one */
};

static const struct refusal refusals[] = {
	{"401 No", "WWW-Authenticate: Bearer scope=\"a\"\r\n", "", "untaken:2 ended ",
	 "untaken:2 ended ", MCPOOL_ENEEDS_AUTH},
	{"403 No", "", "", "untaken:2 ended ", "unusable:2 ", MCPOOL_ENEEDS_AUTH},
	{"404 No", "", "", "unusable:2 ", "unusable:2 ", MCPOOL_ENOENT},
	{"405 No", "", "", "unusable:2 ", "unusable:2 ", MCPOOL_ENOENT},
	{"400 No", "", "what?", "unusable:2 ", "unusable:2 ", MCPOOL_EPROTO},
	{"400 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"x\"}}",
	 "error:2 ", "error:2 ", 0},
	{"404 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":\"x\"}}", "error:2 ",
	 "error:2 ", 0},
	{"400 No", STAGE_JSON,
	 "{\"jsonrpc\":\"2.0\",\"id\":99,\"error\":{\"code\":-32601,\"message\":\"x\"}}",
	 "unusable:2 ", "unusable:2 ", MCPOOL_EPROTO},
	{"429 Slow", "Retry-After: 7\r\n", "", "ended ", "unusable:2 ", MCPOOL_EAGAIN},
	{"503 Down", "Retry-After: 7\r\n", "", "ended ", "untaken:2 doubt ", MCPOOL_EAGAIN},
	{"500 Oops", "", "", "ended ", "unknown:2 doubt ", MCPOOL_EIO},
	{"502 Oops", "", "", "ended ", "unknown:2 doubt ", MCPOOL_EIO},
	{"302 Moved", "Location: https://elsewhere.example/x?secret=1\r\n", "", "ended ",
	 "unusable:2 ", MCPOOL_EINVAL},
	{"302 Moved", "Location: ftp://elsewhere.example/\r\n", "", "ended ", "unusable:2 ",
	 MCPOOL_EPERM},
	{"302 Moved", "", "", "unusable:2 ", "unusable:2 ", MCPOOL_EPROTO},
	{"200 OK", "Content-Type: text/html\r\n", "<html>", "answer: unusable:2 ",
	 "answer: unusable:2 ", MCPOOL_EPROTO},
	{"200 OK", STAGE_JSON, "{\"jsonrpc\":\"2.0\",\"id\":98,\"result\":{}}",
	 "answer:98 unusable:2 ", "answer:98 unusable:2 ", MCPOOL_EPROTO},
	{"202 Accepted", "", "", "unusable:2 ", "unusable:2 ", MCPOOL_EPROTO},
};

static bool judge(const struct refusal *r, bool late)
{
	MP_CLEANUP(stage_done) struct stage s;
	char want[100];
	int at = late ? 3 : 0;

	REQUIRE(stage_init(&s, mp_streamable_new));
	REQUIRE(stage_until(&s, "opened"));
	REQUIRE(!late || open_session(&s, greet_without_session));
	s.news[0] = '\0';
	s.script = NULL;
	REQUIRE(stage_send(&s, PING("2")));
	REQUIRE(stage_until_requests(&s, at + 1));
	stage_answer(&s.got[at], r->status, r->headers, "%s", r->body);
	for (int i = 0; i < 500 && !strstr(s.news, ":2 "); i++)
		stage_turn(&s);
	stage_settle(&s);
	mp_loop_advance(s.loop, 1);
	stage_settle(&s);
	snprintf(want, sizeof(want), "sent:2 %s", late ? r->late : r->early);
	if (strcmp(s.news, want) != 0)
		fprintf(stderr, "%s %s (%s): %s\n", r->status, r->headers, late ? "late" : "early",
			s.news);
	REQUIRE(strcmp(s.news, want) == 0);
	REQUIRE(!late || r->code == 0 || s.why.code == r->code);
	REQUIRE(!strstr(s.why.message, "secret") && !strstr(s.why.message, "key=1")); /* V53 */
	if (strstr(r->headers, "Retry-After") && !late)
		REQUIRE(s.why.retry_ms == 7000);
	if (strstr(r->headers, "WWW-"))
		REQUIRE(mp_str_eq(s.t->impl->get_challenge(s.t), MP_STR("Bearer scope=\"a\"")));
	return true;
}

/* V37 */
HEAVY_TEST(every_refusal_has_its_meaning)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(refusals); i++) {
		CHECK(judge(&refusals[i], false));
		CHECK(judge(&refusals[i], true));
	}
}

/* Something there is that only says 500 to a question of the other era. */
HEAVY_TEST(a_500_to_the_probe_ends_the_probe_alone)
{
	STAGE;

	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
			     "\"params\":{" MODERN_META "}}"));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "500 Oops", "", "%s", "");
	CHECK(stage_until(&s, "unusable:1"));
	CHECK_EQ(s.why.code, MCPOOL_EIO);
	CHECK(!strstr(s.news, "ended"));
}

HEAVY_TEST(a_redirect_within_the_server_is_followed)
{
	STAGE;

	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "307 Over There", "Location: /mcp/\r\n", "%s", "");
	CHECK(stage_until_requests(&s, 2));
	CHECK(has(&s.got[1], "POST /mcp/ "));
	CHECK(strstr(s.got[1].body, "ping"));
	stage_answer(&s.got[1], "200 OK", STAGE_JSON, "%s", RESULT("2"));
	CHECK(stage_until(&s, "answer:2"));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 3));
	CHECK(has(&s.got[2], "POST /mcp/ ")); /* and remembered */
}

/* mutant-S7 */
HEAVY_TEST(a_cancelled_request_follows_no_redirect)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_set_open(&s, "2", false);
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":2}}"));
	CHECK(stage_until_requests(&s, 5));
	stage_answer(&s.got[3], "307 Over There", "Location: /mcp/\r\n", "%s", "");
	stage_settle(&s);
	CHECK_EQ(s.n, 5);
	CHECK_TEXT(s.news, "sent:2 ");
}

HEAVY_TEST(redirects_in_a_circle_end)
{
	STAGE;

	CHECK(stage_send(&s, PING("2")));
	for (int i = 1; i <= 6; i++) {
		CHECK(stage_until_requests(&s, i));
		stage_answer(&s.got[i - 1], "307 Over There", "Location: /mcp\r\n", "%s", "");
	}
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.n, 6);
}

/* --- what breaks ------------------------------------------------------------------------------ */

HEAVY_TEST(nobody_listens)
{
	STAGE;

	server_stop(&s.server);
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until(&s, "ended"));
	CHECK_TEXT(s.news, "opened untaken:2 ended ");
	CHECK_EQ(s.why.code, MCPOOL_EIO);
	CHECK(strstr(s.why.message, "could not connect to http://127.0.0.1:"));
}

/* U12 A53 U17 */
HEAVY_TEST(a_cut_connection_loses_one_call)
{
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	stage_settle(&s);
	conn_close(s.got[3].conn, true);
	CHECK(stage_until(&s, "unknown:2"));
	CHECK(stage_until(&s, "doubt"));
	stage_answer(&s.got[4], "200 OK", STAGE_JSON, "%s", RESULT("3"));
	CHECK(stage_until(&s, "answer:3"));
	CHECK(!strstr(s.news, "ended"));
}

HEAVY_TEST(a_connection_cut_before_anything_was_agreed_is_the_end)
{
	STAGE;

	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 1));
	stage_settle(&s);
	conn_close(s.got[0].conn, true);
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_ECLOSED);
}

HEAVY_TEST(an_answer_that_is_too_large_ends_its_call_alone)
{
	char piece[4096];
	STAGE;

	CHECK(open_session(&s, greet));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_write(&s.got[3], STAGE_STREAM "data: ");
	memset(piece, 'x', sizeof(piece));
	for (int i = 0; i < 20000 && !strstr(s.news, "unusable:2"); i++) {
		uv_buf_t buf = uv_buf_init(piece, sizeof(piece));

		if (s.got[3].conn->closing ||
		    uv_try_write((uv_stream_t *)&s.got[3].conn->tcp, &buf, 1) <= 0)
			stage_turn(&s);
	}
	CHECK(strstr(s.news, "unusable:2"));
	CHECK_EQ(s.why.code, MCPOOL_ETOO_LARGE);
	CHECK(!strstr(s.news, "ended"));
}

/* --- the standing stream ---------------------------------------------------------------------- */

HEAVY_TEST(a_standing_stream_speaks_and_comes_back)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	stage_write(&s.got[2], "id: 5\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	mp_loop_advance(s.loop, 6000);
	conn_close(s.got[2].conn, false);
	CHECK(stage_until_requests(&s, 4)); /* at once: it had lived for a while */
	CHECK(is(&s.got[3], "GET"));
	CHECK(has(&s.got[3], "Last-Event-ID: 5"));
	stage_settle(&s);
	conn_close(s.got[3].conn, false);
	stage_settle(&s);
	CHECK_EQ(s.n, 4); /* that was soon: it rests */
	mp_loop_advance(s.loop, 1001);
	CHECK(stage_until_requests(&s, 5));
	stage_settle(&s);
	conn_close(s.got[4].conn, false);
	stage_settle(&s);
	mp_loop_advance(s.loop, 1001);
	stage_settle(&s);
	CHECK_EQ(s.n, 5); /* longer each time */
	CHECK_TEXT(s.news, "said ");
}

/* D12 D47: an idle server that exits is noticed. */
HEAVY_TEST(an_idle_server_that_goes_is_missed)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	mp_loop_advance(s.loop, 6000);
	server_stop(&s.server);
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_EIO);
}

HEAVY_TEST(an_idle_server_that_restarts_is_missed)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	s.script = NULL;
	mp_loop_advance(s.loop, 6000);
	conn_close(s.got[2].conn, true);
	CHECK(stage_until_requests(&s, 4));
	stage_answer(&s.got[3], "404 Not Found", "", "%s", "");
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_ECLOSED);
}

HEAVY_TEST(a_standing_stream_that_is_not_offered_ends_nothing)
{
	STAGE;

	CHECK(open_session(&s, greet_without_stream));
	mp_loop_advance(s.loop, 1001);
	stage_settle(&s);
	CHECK_TEXT(s.news, "");
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
}

/* One that ends is opened again; one that breaks may be all that is heard of a network that is
 * gone. */
/* A53 */
HEAVY_TEST(a_standing_stream_that_breaks_is_a_doubt)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	conn_close(s.got[2].conn, true);
	CHECK(stage_until(&s, "doubt"));
}

/* A server may take a request and answer it elsewhere. */
HEAVY_TEST(an_answer_may_come_on_the_standing_stream)
{
	STAGE;

	CHECK(open_session(&s, greet_and_stand));
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_until_requests(&s, 4));
	stage_answer(&s.got[3], "202 Accepted", "", "%s", "");
	stage_settle(&s);
	CHECK_TEXT(s.news, "sent:2 ");
	stage_write(&s.got[2], "data: " RESULT("2") "\n\n");
	CHECK(stage_until(&s, "answer:2"));
}

/* --- modern ----------------------------------------------------------------------------------- */

/* S11 */
HEAVY_TEST(modern_requests_say_in_headers_what_they_are)
{
	STAGE;

	CHECK(stage_send(&s, MODERN_CALL("2", "add")));
	CHECK(stage_until_requests(&s, 1));
	CHECK(has(&s.got[0], "MCP-Protocol-Version: 2026-07-28\r\n"));
	CHECK(has(&s.got[0], "Mcp-Method: tools/call\r\n"));
	CHECK(has(&s.got[0], "Mcp-Name: add\r\n"));
	CHECK(!has(&s.got[0], "Mcp-Session-Id"));
	stage_answer(&s.got[0], "200 OK", STAGE_JSON "Mcp-Session-Id: trap\r\n", "%s", RESULT("2"));
	CHECK(stage_until(&s, "answer:2"));
	CHECK(stage_send(&s, MODERN_CALL("3", "a\\r\\nHost: evil\\u00e9")));
	CHECK(stage_until_requests(&s, 2));
	CHECK(has(&s.got[1], "Mcp-Name: =?base64?YQ0KSG9zdDogZXZpbMOp?=\r\n")); /* V36 */
	CHECK(!has(&s.got[1], "Mcp-Session-Id"));
}

static int add_param_header(void *u, const struct mp_outgoing *o, struct mp_http_fields *fields)
{
	char count[24];

	(void)o;
	snprintf(count, sizeof(count), "%d", ++*(int *)u);
	return mp_http_fields_add(fields, MP_STR("Mcp-Param-Count"), mp_str_of(count));
}

static int refuse_param_header(void *u, const struct mp_outgoing *o, struct mp_http_fields *fields)
{
	(void)u;
	(void)o;
	(void)fields;
	return MCPOOL_ETOO_LARGE;
}

HEAVY_TEST(headers_are_made_once_and_follow_a_redirect)
{
	struct mp_transport_hooks counting = {.param_headers = add_param_header};
	int count = 0;
	STAGE;

	s.t->hooks = &counting;
	s.t->u = &count;
	CHECK(stage_send(&s, MODERN_CALL("2", "add")));
	CHECK(stage_until_requests(&s, 1));
	s.t->hooks = &stage_hooks;
	s.t->u = &s;
	stage_answer(&s.got[0], "307 Over There", "Location: /mcp/\r\n", "%s", "");
	CHECK(stage_until_requests(&s, 2));
	CHECK(has(&s.got[1], "POST /mcp/ "));
	CHECK(has(&s.got[1], "Mcp-Name: add\r\n"));
	CHECK(has(&s.got[1], "Mcp-Param-Count: 1\r\n"));
	CHECK(has(&s.got[1], "X-Own: yes\r\n"));
	CHECK_EQ(count, 1);
}

HEAVY_TEST(headers_that_do_not_fit_fail_the_send)
{
	struct mp_transport_hooks refusing = {.param_headers = refuse_param_header};
	STAGE;

	s.t->hooks = &refusing;
	CHECK_EQ(outgoing_send(s.t, MP_STR(MODERN_CALL("2", "add")), NULL), MCPOOL_ETOO_LARGE);
	s.t->hooks = &stage_hooks;
	stage_settle(&s);
	CHECK_EQ(s.n, 0);
	CHECK_TEXT(s.news, "opened ");
}

/* S09: the closed stream is the cancel, and nothing else is said. */
HEAVY_TEST(a_modern_cancel_cuts_the_stream)
{
	STAGE;

	CHECK(stage_send(&s, MODERN_CALL("2", "slow")));
	CHECK(stage_until_requests(&s, 1));
	stage_write(&s.got[0], STAGE_STREAM);
	stage_settle(&s);
	CHECK_EQ(s.server.n_open, 1);
	stage_set_open(&s, "2", false);
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			     "\"params\":{\"requestId\":2}}"));
	for (int i = 0; i < 500 && s.server.n_open > 0; i++)
		stage_turn(&s);
	CHECK_EQ(s.server.n_open, 0);
	CHECK_EQ(s.n, 1);
	CHECK_TEXT(s.news, "opened sent:2 ");
}

HEAVY_TEST(a_modern_stream_is_never_resumed)
{
	STAGE;

	CHECK(stage_send(&s, MODERN_CALL("2", "slow")));
	CHECK(stage_until_requests(&s, 1));
	stage_write(&s.got[0], STAGE_STREAM "id: 1\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[0].conn, false);
	CHECK(stage_until(&s, "unknown:2"));
	mp_loop_advance(s.loop, 5000);
	stage_settle(&s);
	CHECK_EQ(s.n, 1);
}

/* --- letting go ------------------------------------------------------------------------------- */

static void free_on_message(void *u, struct mp_str text)
{
	struct stage *s = u;

	stage_message(u, text);
	s->t = mp_transport_free(s->t);
}

HEAVY_TEST(an_answer_may_free_everything)
{
	struct mp_transport_hooks hooks = stage_hooks;
	STAGE;

	hooks.message = free_on_message;
	CHECK(open_session(&s, greet));
	s.t->hooks = &hooks;
	CHECK(stage_send(&s, PING("2")));
	CHECK(stage_send(&s, PING("3")));
	CHECK(stage_until_requests(&s, 5));
	stage_write(&s.got[3], STAGE_STREAM);
	stage_write(&s.got[3], "data: " RESULT("2") "\n\ndata: " RESULT("3") "\n\n");
	CHECK(stage_until(&s, "answer:2"));
	stage_settle(&s);
	CHECK_TEXT(s.news, "sent:2 sent:3 answer:2 ");
}

TEST(it_may_be_freed_before_it_was_started)
{
	MP_CLEANUP(stage_done) struct stage s = {0};
	struct mp_transport *t;

	CHECK(stage_init(&s, mp_streamable_new));
	CHECK_EQ(mp_streamable_new(s.loop, s.client, &s.to, &t, NULL), 0);
	mp_transport_free(t);
	t = NULL;
	CHECK_EQ(mp_streamable_new(s.loop, s.client, &s.to, &t, NULL), 0);
	t->hooks = &stage_hooks;
	t->u = &s;
	t->impl->close(t);
	CHECK(stage_until(&s, "closed"));
	mp_transport_free(t);
}
