/*
 * test_http_sessions.c - legacy HTTP sessions: begun, used, resumed, ended; and whose they are.
 */
#include "front.h"

#include "face/http_sessions.h"
#include "base/random_id.h"
#include "face/http_token.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

#define INITIALIZE                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"              \
	"\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define CALL(id)                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{" \
	"\"name\":\"mcp__git__t\",\"arguments\":{}}}"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"

struct client {
	char id[MP_RANDOM_ID + 1];
	char headers[400]; /* of its requests */
};

static void set_headers(struct client *c, const char *more)
{
	snprintf(c->headers, sizeof(c->headers),
		 JSON_HEADERS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n%s", c->id,
		 more);
}

static bool begin(struct front *s, struct visitor *v, struct client *c)
{
	const char *at;

	REQUIRE(visitor_ask(s, v, "POST /mcp", JSON_HEADERS, INITIALIZE));
	REQUIRE(visitor_status(v) == 200);
	REQUIRE(visitor_has(v, "\"protocolVersion\":\"2025-11-25\""));
	at = strstr(visitor_hears(v), "Mcp-Session-Id: ");
	REQUIRE(at);
	snprintf(c->id, sizeof(c->id), "%s", at + 16);
	REQUIRE(strlen(c->id) == MP_RANDOM_ID && strspn(c->id, "0123456789abcdef") == MP_RANDOM_ID);
	set_headers(c, "");
	REQUIRE(visitor_ask(s, v, "POST /mcp", c->headers, INITIALIZED));
	REQUIRE(visitor_status(v) == 202);
	return true;
}

TEST(a_session_is_begun_used_and_ended)
{
	FRONT(s);
	VISITOR(v);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, CALL("\"a\"")));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "application/json"));
	CHECK(visitor_has(&v, "\"id\":\"a\""));
	CHECK(visitor_has(&v, "\"result\""));
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("5")));
	CHECK(visitor_has(&v, "\"result\":{}"));
	CHECK(visitor_ask(&s, &v, "DELETE /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&v), 204);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("6")));
	CHECK_EQ(visitor_status(&v), 404);
	CHECK(visitor_ask(&s, &v, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&v), 404);
	CHECK(visitor_ask(&s, &v, "DELETE /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&v), 404);
}

TEST(without_an_id_there_is_nothing)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp", JSON_HEADERS, PING("1")));
	CHECK_EQ(visitor_status(&v), 400);
	CHECK(visitor_ask(&s, &v, "GET /mcp", JSON_HEADERS, NULL));
	CHECK_EQ(visitor_status(&v), 400);
	CHECK(visitor_ask(&s, &v, "DELETE /mcp", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 400);
}

TEST(versions_that_are_known_are_taken)
{
	FRONT(s);
	VISITOR(v);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	snprintf(c.headers, sizeof(c.headers), JSON_HEADERS "Mcp-Session-Id: %s\r\n", c.id);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 200); /* none is 2025-03-26 */
	snprintf(c.headers, sizeof(c.headers),
		 JSON_HEADERS "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-06-18\r\n", c.id);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 200);
	snprintf(c.headers, sizeof(c.headers),
		 JSON_HEADERS "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-06-19\r\n", c.id);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 400);
}

TEST(a_batch_is_answered_on_one_stream)
{
	FRONT(s);
	VISITOR(v);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, "[" PING("1") "," PING("2") "]"));
	CHECK(visitor_has(&v, "text/event-stream"));
	CHECK(visitor_has(&v, "\"id\":1"));
	CHECK(visitor_has(&v, "\"id\":2"));
	CHECK(visitor_has(&v, "0\r\n\r\n"));
}

/* V17 */
TEST(a_second_listener_does_not_replace_the_first)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(first);
	VISITOR(second);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	CHECK(visitor_ask(&s, &first, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&first), 200);
	CHECK(visitor_has(&first, "text/event-stream"));
	CHECK(visitor_ask(&s, &second, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&second), 409);
	CHECK(!first.conn.closed && !visitor_has(&first, "0\r\n\r\n"));
	memory_conn_end(&first.conn);
	fleet_settle(&s.f);
	CHECK(visitor_ask(&s, &second, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&second), 200);
}

/* The id of the last event that came. */
static bool get_event(struct visitor *v, char *id, size_t size)
{
	const char *at = visitor_hears(v), *last = NULL;

	while ((at = strstr(at, "id: ")))
		last = at = at + 4;
	REQUIRE(last);
	snprintf(id, size, "%.*s", (int)strcspn(last, "\n"), last);
	return true;
}

/* A client that was refused has no session, and is told no id of one. */
TEST(a_refused_initialize_names_no_session)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "POST /mcp", JSON_HEADERS,
			  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}"));
	CHECK_EQ(visitor_status(&v), 400);
	CHECK(!visitor_has(&v, "Mcp-Session-Id"));
	CHECK_EQ(s.face->sessions.len, 0);
}

TEST(a_stream_that_broke_is_resumed)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	VISITOR(x);
	struct client c;
	char id[100], more[150];

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, CALL("1")));
	fleet_advance(&s.f,
		      MP_HTTP_QUIET_MS + 1000); /* a stream begins, with an event to come back to */
	CHECK(visitor_has(&v, "retry: "));
	CHECK(get_event(&v, id, sizeof(id)));
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 0); /* no cancellation */
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[],\"x\":\"kept\"}"));
	fleet_settle(&s.f);
	snprintf(more, sizeof(more), "Last-Event-ID: %s\r\n", id);
	set_headers(&c, more);
	CHECK(visitor_ask(&s, &w, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&w), 200);
	CHECK(visitor_has(&w, "kept"));
	CHECK(visitor_has(&w, "0\r\n\r\n"));
	/* Once more, behind the answer: nothing is left. */
	CHECK(get_event(&w, id, sizeof(id)));
	snprintf(more, sizeof(more), "Last-Event-ID: %s\r\n", id);
	set_headers(&c, more);
	CHECK(visitor_ask(&s, &w, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&w), 200);
	CHECK(!visitor_has(&w, "kept"));
	/* A minute later it is not kept any more. */
	fleet_advance(&s.f, MP_HTTP_FINISHED_MS + 1000);
	CHECK_EQ(s.face->finished.len, 0);
	CHECK(visitor_ask(&s, &x, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&x), 404);
}

/* What is kept for clients that may come back has a ceiling over all sessions. */
HEAVY_TEST(only_so_many_finished_streams_are_kept)
{
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"mcp__git__t\",\"_meta\":{\"progressToken\":7}}}";
	struct fleet_server *git;
	struct client c;
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	git = fleet_get(&s.f, "git");
	git->holds_calls = true;
	for (int i = 0; i < MP_HTTP_FINISHED + 2; i++) {
		char progress[200];
		VISITOR(w);

		git->n_kept = 0;
		CHECK(visitor_ask(&s, &w, "POST /mcp", c.headers, call));
		snprintf(progress, sizeof(progress),
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
			 "\"progressToken\":%s,\"progress\":1}}",
			 git->kept_token[0]);
		CHECK(fleet_say(git, progress)); /* its stream begins */
		fleet_settle(&s.f);
		CHECK(fleet_answer_kept(git, 0, "{\"content\":[]}"));
		fleet_settle(&s.f);
		CHECK_EQ(s.face->finished.len, i < MP_HTTP_FINISHED ? i + 1 : MP_HTTP_FINISHED);
	}
}

TEST(a_stream_is_resumed_while_its_answer_is_still_to_come)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	struct client c;
	char id[100], more[150];

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, CALL("1")));
	fleet_advance(&s.f, MP_HTTP_QUIET_MS + 1000);
	CHECK(get_event(&v, id, sizeof(id)));
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	snprintf(more, sizeof(more), "Last-Event-ID: %s\r\n", id);
	set_headers(&c, more);
	CHECK(visitor_ask(&s, &w, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&w), 200);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[],\"x\":\"live\"}"));
	fleet_settle(&s.f);
	CHECK(visitor_has(&w, "live"));
	CHECK(visitor_has(&w, "0\r\n\r\n"));
}

TEST(events_of_nobody_are_unknown)
{
	FRONT(s);
	VISITOR(v);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	set_headers(&c, "Last-Event-ID: 00000000000000000000000000000000-1\r\n");
	CHECK(visitor_ask(&s, &v, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&v), 404);
	set_headers(&c, "Last-Event-ID: 1\r\n");
	CHECK(visitor_ask(&s, &v, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&v), 404);
}

TEST(who_leaves_before_the_stream_began_cannot_come_back)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, CALL("1")));
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 0);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[]}"));
	fleet_settle(&s.f);
	CHECK_EQ(s.face->streams.len, 0);
	CHECK(visitor_ask(&s, &w, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&w), 200);
}

static void ignore(void *u, const struct mp_delivery *d)
{
	(void)u;
	(void)d;
}

static const struct mp_session_hooks no_hooks = {ignore};

/* V28 */
HEAVY_TEST(an_idle_session_ends)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	struct client c;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	fleet_advance(&s.f, MP_LIMIT_SESSION_IDLE_MS - 60000);
	CHECK(visitor_ask(&s, &w, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&w), 200);
	fleet_advance(&s.f, MP_LIMIT_SESSION_IDLE_MS - 60000);
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
	fleet_advance(&s.f, 120000);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

/* V28 */
HEAVY_TEST(the_oldest_unused_session_makes_room)
{
	struct mp_session *agent;
	FRONT(s);
	VISITOR(v);
	struct client c, first, second;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &first));
	CHECK(visitor_ask(&s, &v, "POST /mcp", first.headers, PING("1")));
	CHECK(begin(&s, &v, &second));
	for (int i = 2; i < MP_LIMIT_SESSIONS_SHARE; i++) {
		mp_buf_clear(&v.conn.out);
		CHECK(begin(&s, &v, &c));
	}
	CHECK_EQ(mp_sessions_count(s.sessions), MP_LIMIT_SESSIONS_SHARE);
	CHECK(begin(&s, &v, &c));
	CHECK_EQ(mp_sessions_count(s.sessions), MP_LIMIT_SESSIONS_SHARE);
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 200);
	/* attack-S9: the first one is older, but was used. */
	CHECK(visitor_ask(&s, &v, "POST /mcp", first.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_ask(&s, &v, "POST /mcp", second.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 404);
	/* attack-S9: and stdio agents have room, as many as their share is. */
	CHECK_EQ(mp_session_new(s.sessions,
				&(struct mp_session_options){.workspace = s.f.workspace,
							     .principal = "uid:0",
							     .way = "stdio"},
				&no_hooks, NULL, &agent, &s.why),
		 0);
	mp_session_free(agent);
}

/* attack-S9 */
HEAVY_TEST(stdio_agents_leave_room_for_http)
{
	static struct mp_session *agents[MP_LIMIT_SESSIONS_SHARE];
	struct mp_session_options o = {.principal = "uid:0", .way = "stdio"};
	struct mp_session *more;
	FRONT(s);
	VISITOR(v);
	struct client c;
	int n = 0, r = 0;

	CHECK(front_open(&s, one, false));
	o.workspace = s.f.workspace;
	while (n < MP_LIMIT_SESSIONS_SHARE && r == 0)
		r = mp_session_new(s.sessions, &o, &no_hooks, NULL, &agents[n++], &s.why);
	r = r == 0 ? mp_session_new(s.sessions, &o, &no_hooks, NULL, &more, &s.why) : r;
	CHECK(begin(&s, &v, &c));
	while (n > 0)
		mp_session_free(agents[--n]);
	CHECK_EQ(r, MCPOOL_ELIMIT);
	CHECK(strstr(s.why.message, "stdio sessions already"));
}

/* V19 */
TEST(who_came_with_an_old_token_is_sent_away)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	VISITOR(x);
	struct client c;
	char old[MP_HTTP_TOKEN_MOST + 1];

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &c));
	CHECK(visitor_ask(&s, &w, "GET /mcp", c.headers, NULL));
	CHECK_EQ(visitor_status(&w), 200);
	snprintf(old, sizeof(old), "%s", s.face->admit.token.text);
	CHECK_EQ(mp_http_token_rotate(s.token_path, &s.why), 0);
	fleet_advance(&s.f, 1); /* it is looked at once a turn */
	v.token = old;
	CHECK(visitor_ask(&s, &v, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&v), 401);
	CHECK(w.conn.closed);
	CHECK(visitor_ask(&s, &x, "POST /mcp", c.headers, PING("1")));
	CHECK_EQ(visitor_status(&x), 404); /* its session was the old one's */
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}
