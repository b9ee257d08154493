/*
 * test_stored.c - long results in a session: shortened, read again; which tools have which limit.
 */
#include "test.h"

#include <stdio.h>

#include "two_servers.h"
#include "session/request.h"
#include "state_home.h"
#include "store/results.h"

#define LIMITED(more)                                                                   \
	"{\"mcpool\":{\"result\":{\"maxBytes\":512" more "}},\"mcpServers\":{\"git\":{" \
	"\"command\":\"y\",\"toolResults\":{\"whole\":0,\"small\":600,\"named\":600}}}}"

static const char tools[] = "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}},"
			    "{\"name\":\"whole\",\"inputSchema\":{}},"
			    "{\"name\":\"small\",\"inputSchema\":{}},"
			    "{\"name\":\"typed\",\"inputSchema\":{},\"outputSchema\":{\"x\":1}},"
			    "{\"name\":\"named\",\"inputSchema\":{},\"outputSchema\":{\"x\":2}}]}";

struct room {
	struct state_home home;
	struct two_servers s;
	char result[3000];
};

static void room_done(struct room *r)
{
	two_servers_done(&r->s);
	state_home_done(&r->home);
}

#define ROOM(r) MP_CLEANUP(room_done) struct room r = {0}

static bool room_open(struct room *r, const char *json)
{
	REQUIRE(state_home_init(&r->home) && fleet_init(&r->s.f));
	fleet_get(&r->s.f, "git")->tools = tools;
	REQUIRE(two_servers_open(&r->s, json, MP_SESSION_ONE_STREAM));
	REQUIRE(agent_initialize(&r->s.a, &r->s.f));
	fleet_advance(&r->s.f, 300);
	fleet_get(&r->s.f, "git")->holds_calls = true;
	return true;
}

/* The server answers its last call with a text of n bytes. */
static bool room_answer(struct room *r, size_t n, const char *more)
{
	struct fleet_server *git = fleet_get(&r->s.f, "git");
	int at = snprintf(r->result, sizeof(r->result),
			  "{\"content\":[{\"type\":\"text\",\"text\":\"%0*d\"}]%s}", (int)n, 7,
			  more);

	REQUIRE(at > 0 && at < (int)sizeof(r->result));
	return fleet_answer_kept(git, git->n_kept - 1, r->result);
}

static bool room_is_storing(const struct room *r)
{
	MP_LIST_EACH(&r->s.a.session->requests, link)
		if (mp_container_of(link, struct mp_request, link)->shortening)
			return true;
	return false;
}

static void room_wait(struct room *r)
{
	while (room_is_storing(r)) {
		usleep(100); /* a worker is at it */
		fleet_settle(&r->s.f);
	}
}

/* What an agent gets of a result of n bytes of this tool. */
static const char *get(struct room *r, const char *tool, size_t n, const char *more)
{
	char name[64];

	snprintf(name, sizeof(name), "mcp__git__%s", tool);
	if (agent_say(&r->s.a, &r->s.f, call("1", name), 0) != 1 || !room_answer(r, n, more))
		return "";
	room_wait(r);
	return agent_last(&r->s.a);
}

/* The same for an image of 1000 characters. */
static const char *get_image(struct room *r)
{
	struct fleet_server *git = fleet_get(&r->s.f, "git");

	snprintf(r->result, sizeof(r->result),
		 "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/"
		 "png\",\"data\":\"%01000d\"}]}",
		 7);
	if (agent_say(&r->s.a, &r->s.f, call("1", "mcp__git__t"), 0) != 1 ||
	    !fleet_answer_kept(git, git->n_kept - 1, r->result))
		return "";
	room_wait(r);
	return agent_last(&r->s.a);
}

static bool is_cut(const char *answer)
{
	return strstr(answer, "TRUNCATED") && strstr(answer, MP_RESULT_SCHEME);
}

static const char *read_of(const char *answer)
{
	static char text[300];
	const char *uri = strstr(answer, MP_RESULT_SCHEME);

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"resources/read\",\"params\":{\"uri\":"
		 "\"%.*s\"}}",
		 MP_RESULT_URI - 1, uri ? uri : "");
	return text;
}

/* U22 */
TEST(a_session_gets_head_tail_and_a_handle_it_can_read)
{
	ROOM(r);

	CHECK(room_open(&r, LIMITED(",\"sessions\":true")));
	CHECK(is_cut(get(&r, "t", 2000, "")));
	CHECK(strstr(agent_last(&r.s.a), "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\""));
	CHECK(strstr(agent_last(&r.s.a), "TRUNCATED 1488 bytes"));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, read_of(agent_last(&r.s.a)), 0), 1);
	CHECK(strstr(agent_last(&r.s.a), "\"mimeType\":\"application/json\",\"text\":\"{"));
	CHECK(strstr(agent_last(&r.s.a), "{\\\"content\\\":[{\\\"type\\\":\\\"text\\\""));
	CHECK(strlen(agent_last(&r.s.a)) > 2000);
	CHECK(strstr(get(&r, "whole", 2000, ""), r.result)); /* toolResults: no limit */
	CHECK(is_cut(get(&r, "small", 700, "")));            /* toolResults: 600 */
	CHECK(strstr(get(&r, "typed", 2000, ",\"structuredContent\":{\"x\":1}"), r.result));
	CHECK(is_cut(get(&r, "named", 2000, ",\"structuredContent\":{\"x\":1}")));
	CHECK(strstr(get_image(&r), "[image image/png, 750 bytes, stored: " MP_RESULT_SCHEME));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, read_of(agent_last(&r.s.a)), 0), 1);
	CHECK(strstr(agent_last(&r.s.a), "\"mimeType\":\"image/png\",\"blob\":\"0000"));
	/* another session of this user reads it, too */
	CHECK(is_cut(get(&r, "t", 2000, "")));
	CHECK(agent_open(&r.s.b, &r.s.f, r.s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&r.s.b, &r.s.f));
	CHECK_EQ(agent_say(&r.s.b, &r.s.f, read_of(agent_last(&r.s.a)), 0), 1);
	CHECK(strlen(agent_last(&r.s.b)) > 2000);
}

/* U22 */
TEST(a_session_gets_all_of_it_by_default)
{
	ROOM(r);

	CHECK(room_open(&r, LIMITED("")));
	CHECK(strstr(get(&r, "t", 2000, ""), r.result));
	CHECK(strstr(get(&r, "small", 2000, ""), r.result));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, list, 0), 1);
	CHECK(strstr(agent_last(&r.s.a), "\"outputSchema\":{\"x\":2}"));
}

/* U22 */
TEST(a_tool_may_have_another_limit_or_none)
{
	ROOM(r);

	CHECK(room_open(&r, LIMITED(",\"sessions\":true")));
	CHECK(strstr(get(&r, "whole", 2000, ""), r.result));
	CHECK(is_cut(get(&r, "small", 700, "")));
	CHECK(strstr(get(&r, "small", 560, ""), r.result)); /* within 600 */
}

/* U22: clients refuse a result without structuredContent if the list has an outputSchema. */
TEST(a_tool_with_an_output_schema_is_exempt_unless_it_is_named)
{
	ROOM(r);

	CHECK(room_open(&r, LIMITED(",\"sessions\":true")));
	CHECK(strstr(get(&r, "typed", 2000, ",\"structuredContent\":{\"x\":1}"), r.result));
	CHECK(is_cut(get(&r, "named", 2000, ",\"structuredContent\":{\"x\":1}")));
	CHECK(!strstr(agent_last(&r.s.a), "structuredContent"));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, list, 0), 1);
	CHECK(strstr(agent_last(&r.s.a), "\"outputSchema\":{\"x\":1}"));
	CHECK(!strstr(agent_last(&r.s.a), "\"outputSchema\":{\"x\":2}"));
}

/* U22: the loop goes on while a worker stores it, and an abort stays an abort. */
TEST(a_result_that_is_being_stored_holds_nothing_up)
{
	ROOM(r);

	CHECK(room_open(&r, LIMITED(",\"sessions\":true")));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, call("5", "mcp__git__t"), 0), 1);
	CHECK(r.s.a.answers == 0);
	CHECK(room_answer(&r, 2000, ""));
	if (room_is_storing(&r)) { /* a worker may have been that quick */
		CHECK_EQ(agent_say(&r.s.a, &r.s.f,
				   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				   "\"params\":{\"requestId\":5}}",
				   0),
			 0);
		CHECK_EQ(agent_say(&r.s.a, &r.s.f,
				   "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}", 0),
			 1);
		CHECK(strstr(agent_last(&r.s.a), "\"id\":9"));
	}
	CHECK(is_cut(get(&r, "t", 2000, "")));
	CHECK_EQ(agent_say(&r.s.a, &r.s.f, call("6", "mcp__git__t"), 0), 1);
	CHECK(room_answer(&r, 2000, "")); /* the session goes while it is stored */
}
