/*
 * test_session.c - one agent: its messages, and what becomes of them.
 */
#include "test.h"

#include <stdio.h>

#include "two_servers.h"

static int count(const char *text, const char *part)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

/* B49 E25 A6 B43 */
TEST(an_agent_lists_and_calls)
{
	TWO_SERVERS(s);

	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}},"
		"{\"name\":\"Read File.2\",\"inputSchema\":{}}]}"; /* not its public name */
	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	fleet_advance(&s.f, 300);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"mcp__files__t\""));
	CHECK(strstr(agent_last(&s.a), "\"mcp__git__t\""));
	CHECK(strstr(agent_last(&s.a), "\"mcp__git__Read_File_2\""));
	CHECK_EQ(count(agent_last(&s.a), "\"name\":"), 3);
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f, call("\"x\"", "mcp__git__t"), 0), 1);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":\"x\""));
	CHECK(strstr(agent_last(&s.a), "\"result\":{\"content\":[]"));
	CHECK_EQ(fleet_get(&s.f, "git")->calls, 1);
	CHECK_EQ(fleet_get(&s.f, "files")->calls, 0);
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "12345678901234567890"));
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "\"name\":\"t\""));
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "traceparent"));
	CHECK(!strstr(fleet_get(&s.f, "git")->last_params, "\"mine\""));
	CHECK_EQ(agent_say(&s.a, &s.f, call("\"y\"", "mcp__git__Read_File_2"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":\"y\",\"result\""));
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "\"name\":\"Read File.2\""));
}

static const char one_issue[] =
	"{\"tools\":[{\"name\":\"create_issue\",\"inputSchema\":{\"type\":\"object\"}}]}";

/* E74: its server is down, the tool is filtered, or the name is near another. */
/* U23 */
TEST(an_unknown_tool_says_why)
{
	TWO_SERVERS(s);

	fleet_get(&s.f, "git")->tools = one_issue;
	fleet_get(&s.f, "down")->dial_code = MCPOOL_ENOENT;
	CHECK(two_servers_open(
		&s,
		"{\"mcpServers\":{\"down\":{\"command\":\"x\"},\"git\":{\"command\":\"y\"},"
		"\"some\":{\"command\":\"z\",\"toolsDenied\":[\"t\"]}}}",
		MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__create_isue"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"code\":-32602"));
	CHECK(strstr(agent_last(&s.a), "\"Unknown tool: mcp__git__create_isue; did you mean "
				       "mcp__git__create_issue?\""));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "craete_issue"), 0),
		 1); /* the server's own name */
	CHECK(strstr(agent_last(&s.a), "did you mean mcp__git__create_issue?"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("3", "delete_all"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"Unknown tool: delete_all\""));
	CHECK_EQ(agent_say(&s.a, &s.f, call("4", "mcp__some__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "server 'some' has it kept out by toolsAllowed or"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("5", "mcp__down__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"Unknown tool: mcp__down__t: server 'down' is failed"));
}

/* E74: what this session does not see is not suggested. */
TEST(a_hidden_tool_is_not_suggested)
{
	const char *const tools[] = {"t"};
	const struct mp_narrowing narrowing = {.tools = tools, .n_tools = 1};
	TWO_SERVERS(s);

	fleet_get(&s.f, "git")->tools = one_issue;
	CHECK(fleet_open(&s.f, two));
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, &narrowing));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__create_isue"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"Unknown tool: mcp__git__create_isue\""));
}

TEST(what_is_unknown_is_refused_in_words)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "nope"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"code\":-32602"));
	CHECK(strstr(agent_last(&s.a), "nope"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "any of 2 tools"));
	CHECK_EQ(agent_say(&s.a, &s.f, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"x/y\"}", 0), 1);
	CHECK(strstr(agent_last(&s.a), "-32601"));
	CHECK(strstr(agent_last(&s.a), "\"Method not found: x/y\""));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/"
			   "unsubscribe\",\"params\":{"
			   "\"uri\":\"x:never\"}}",
			   0),
		 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":4,\"result\":{}"));
	CHECK_EQ(agent_say(&s.a, &s.f, "{nonsense", 0), 1);
	CHECK(strstr(agent_last(&s.a), "-32700"));
	CHECK(strstr(agent_last(&s.a), "\"id\":null"));
	CHECK_EQ(s.a.answers, 5);
}

/* V22 */
TEST(an_id_that_is_in_use_is_refused_on_one_stream)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK_EQ(s.a.n, 0);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK_EQ(s.a.n, 1);
	CHECK(strstr(agent_last(&s.a), "-32600"));
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[]}"));
	CHECK_EQ(s.a.n, 2);
	CHECK(strstr(agent_last(&s.a), "\"content\":[]"));
}

/* V22 */
TEST(an_id_that_is_in_use_is_fine_where_streams_differ)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, 0));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 7), 1);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 8), 1);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 1, "{\"second\":1}"));
	CHECK_EQ(s.a.heard[0].stream, 8);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"first\":1}"));
	CHECK_EQ(s.a.heard[1].stream, 7);
	CHECK_EQ(s.a.answers, 2);
}

/* U18 B54 E50 */
TEST(a_cancelled_call_is_not_answered)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("\"1\"", "mcp__git__t"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__t"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":1}}",
			   0),
		 0);
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 1); /* of the three, the one that was named */
	CHECK_TEXT(fleet_get(&s.f, "git")->cancelled, fleet_get(&s.f, "git")->kept[1]);
	CHECK_EQ(s.a.n, 1);
	CHECK_TEXT(agent_last(&s.a), "");
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 1, "{}"));
	CHECK_EQ(s.a.n, 1);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 2, "{}"));
	CHECK(strstr(agent_last(&s.a), "\"id\":2,\"result\""));
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{}"));
	CHECK(strstr(agent_last(&s.a), "\"id\":\"1\",\"result\""));
	/* the id is free again */
	fleet_get(&s.f, "git")->holds_calls = false;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"result\""));
}

/* E65 */
TEST(a_session_that_goes_takes_its_calls_along)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	s.a.session = mp_session_free(s.a.session);
	fleet_settle(&s.f);
	CHECK_EQ(fleet_get(&s.f, "git")->cancels, 1);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

static const char modern_list[] =
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" AGENT_META "}}";

TEST(a_modern_agent_says_everything_with_each_request)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_STATELESS));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, modern_list, 3), 1);
	CHECK(strstr(agent_last(&s.a), "\"resultType\":\"complete\""));
	CHECK(strstr(agent_last(&s.a), "\"ttlMs\""));
	CHECK(strstr(agent_last(&s.a), "io.modelcontextprotocol/serverInfo"));
	CHECK_EQ(s.a.heard[0].stream, 3);
	CHECK_EQ(s.a.heard[0].status, 200);
	/* what was removed is gone */
	CHECK_EQ(agent_say(
			 &s.a, &s.f,
			 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{" AGENT_META
			 "}}",
			 4),
		 1);
	CHECK(strstr(agent_last(&s.a), "-32601"));
	CHECK_EQ(s.a.heard[1].status, 404);
	/* a request without metadata is rejected */
	CHECK_EQ(agent_say(&s.a, &s.f, list, 5), 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
	CHECK_EQ(s.a.heard[2].status, 400);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{"
			   "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
			   "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
			   6),
		 1);
	CHECK(strstr(agent_last(&s.a), "-32022"));
	CHECK(strstr(agent_last(&s.a), "\"requested\":\"2099-01-01\""));
}

/* U20 E21 E24 */
TEST(a_narrowing_hides_and_refuses)
{
	const char *servers[] = {"git"};
	struct mp_narrowing narrowing = {.servers = servers, .n_servers = 1};
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, two));
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, &narrowing));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "mcp__git__t"));
	CHECK(!strstr(agent_last(&s.a), "files"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__files__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
	CHECK_EQ(fleet_get(&s.f, "files")->dials, 0);
}

/* A45 A46 */
TEST(a_batch_is_answered_on_its_stream)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, 0));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},"
			   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
			   "\"name\":\"mcp__git__t\"}},7]",
			   9),
		 3);
	CHECK_EQ(s.a.n, 3);
	CHECK_EQ(s.a.answers, 1);
	CHECK(s.a.heard[2].is_last);
	CHECK(agent_heard_text(&s.a, "\"id\":1,\"result\":{}"));
	CHECK(agent_heard_text(&s.a, "-32600"));
}

#define ALL_LISTS                                                                              \
	"{\"tools\":{\"listChanged\":true},\"prompts\":{\"listChanged\":true},\"resources\":{" \
	"\"listChanged\":true}}"
#define CHANGED(what) "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" what "/list_changed\"}"
#define ASK(what)     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" what "/list\"}"

/* C17: each kind is fetched again; a session hears of those that differ. */
TEST(each_kind_of_list_that_differs_is_told)
{
	static const struct {
		const char *ask, *changed, *told, *next, *name;
	} rows[] = {
		{ASK("tools"), CHANGED("tools"), "notifications/tools/list_changed",
		 "{\"tools\":[{\"name\":\"new\",\"inputSchema\":{}}]}", "mcp__git__new"},
		{ASK("prompts"), CHANGED("prompts"), "notifications/prompts/list_changed",
		 "{\"prompts\":[{\"name\":\"new\"}]}", "mcp__git__new"},
		{ASK("resources"), CHANGED("resources"), "notifications/resources/list_changed",
		 "{\"resources\":[{\"uri\":\"file:///new\",\"name\":\"n\"}]}", "file:///new"},
	};
	struct fleet_server *git;
	TWO_SERVERS(s);

	git = fleet_get(&s.f, "git");
	git->capabilities = ALL_LISTS;
	git->prompts = "{\"prompts\":[{\"name\":\"old\"}]}";
	git->resources = "{\"resources\":[{\"uri\":\"file:///old\",\"name\":\"n\"}]}";
	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK_EQ(agent_say(&s.a, &s.f, rows[i].ask, 0), 1);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		agent_forget(&s.a);
		CHECK(fleet_say(git, rows[i].changed)); /* but it did not */
		fleet_advance(&s.f, 1000);
		CHECK_EQ(s.a.n, 0);
		*(i == 0 ? &git->tools : i == 1 ? &git->prompts : &git->resources) = rows[i].next;
		CHECK(fleet_say(git, rows[i].changed));
		fleet_advance(&s.f, 1000);
		CHECK_EQ(s.a.n, 1);
		CHECK(strstr(agent_last(&s.a), rows[i].told));
		CHECK_EQ(agent_say(&s.a, &s.f, rows[i].ask, 0), 1);
		CHECK(strstr(agent_last(&s.a), rows[i].name));
	}
}

/* B48 */
TEST(a_list_that_changes_is_told_to_those_who_have_it)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f));
	CHECK(agent_initialize(&s.b, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	agent_forget(&s.a);
	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"u\",\"inputSchema\":{\"type\":\"object\"}}]}";
	CHECK(fleet_say(fleet_get(&s.f, "git"),
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	fleet_advance(&s.f, 1000);
	CHECK_EQ(s.a.n, 1);
	CHECK(strstr(agent_last(&s.a), "notifications/tools/list_changed"));
	CHECK_EQ(s.b.n, 0); /* it never asked */
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "mcp__git__u"));
	CHECK(strstr(agent_last(&s.a), "\"properties\":{}"));
}

/* B48 */
TEST(what_only_the_way_to_the_server_needs_is_not_told)
{
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, two));
	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"u\",\"inputSchema\":{\"type\":\"object\",\"x-y\":[1.0,1e3]"
		","
		"\"properties\":{\"r\":{\"type\":\"string\",\"description\":\"d\",\"x-mcp-header\":"
		"\"Region\"}},\"required\":[\"r\"]}}]}";
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a),
		     "\"inputSchema\":{\"type\":\"object\",\"x-y\":[1.0,1e3],\"properties\":{"
		     "\"r\":{\"type\":\"string\",\"description\":\"d\"}},\"required\":[\"r\"]}"));
}

static const char omp[] = "{\"mcpool\":{\"profile\":\"omp\"},\"mcpServers\":{"
			  "\"git\":{\"command\":\"y\"}}}";

#define IN_CONTENT "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"MCP error: "

/* Up, with one call that its server keeps. */
static bool call_omp(struct two_servers *s)
{
	REQUIRE(two_servers_open(s, omp, MP_SESSION_ONE_STREAM));
	REQUIRE(agent_initialize(&s->a, &s->f));
	fleet_advance(&s->f, 300);
	fleet_get(&s->f, "git")->holds_calls = true;
	REQUIRE(agent_say(&s->a, &s->f, call("1", "mcp_git_t"), 0) == 1);
	return fleet_get(&s->f, "git")->n_kept == 1;
}

static bool answer_with_error(struct fleet_server *git)
{
	char answer[200];

	snprintf(answer, sizeof(answer),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32050,\"message\":"
		 "\"the \\\"disk\\\" is full\",\"data\":[7]}}",
		 git->kept[git->n_kept - 1]);
	REQUIRE(fleet_say(git, answer));
	fleet_settle(git->fleet);
	return true;
}

/* A47 B53: a server's error, timeout, death, no server; abort remains abort. */
TEST(in_the_omp_profile_a_failed_call_is_content)
{
	struct fleet_server *git;
	TWO_SERVERS(s);

	CHECK(call_omp(&s));
	git = fleet_get(&s.f, "git");
	CHECK(answer_with_error(git));
	CHECK(strstr(agent_last(&s.a), "\"id\":1," IN_CONTENT
				       "the \\\"disk\\\" is full\"}],\"isError\":true,\"_meta\":{"
				       "\"mcpool/error\":{\"code\":-32050,"));
	CHECK(strstr(agent_last(&s.a), "\"data\":[7]"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp_git_t"), 0), 1);
	fleet_advance(&s.f, 30100);
	CHECK(strstr(agent_last(&s.a), "\"id\":2," IN_CONTENT));
	CHECK(strstr(agent_last(&s.a), "\"isError\":true"));
	CHECK(strstr(agent_last(&s.a), "\"_meta\":{\"mcpool/error\":{\"code\":1004"));
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f, call("3", "mcp_git_t"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			   "\"params\":{\"requestId\":3}}",
			   0),
		 0);
	fleet_advance(&s.f, 40000);
	CHECK_EQ(s.a.n, 1); /* the stream is free again, and that is all */
	CHECK_TEXT(agent_last(&s.a), "");
	CHECK_EQ(agent_say(&s.a, &s.f, call("4", "mcp_git_t"), 0), 1);
	fleet_die(git);
	CHECK(strstr(agent_last(&s.a), "\"id\":4," IN_CONTENT));
	CHECK(strstr(agent_last(&s.a), "\"isError\":true"));
	CHECK(strstr(agent_last(&s.a), "\"code\":\"mcp_outcome_unknown\",\"server\":\"git\""));
	CHECK_EQ(agent_say(&s.a, &s.f, call("5", "mcp_git_t"), 0), 1);
	fleet_advance(&s.f, 1000);
	CHECK(strstr(agent_last(&s.a), "\"id\":5," IN_CONTENT));
	CHECK(strstr(agent_last(&s.a), "\"code\":1005"));
	CHECK(!strstr(agent_last(&s.a), "MCP error: MCP error: "));
	CHECK_EQ(agent_say(&s.a, &s.f, call("6", "nope"), 0), 1); /* there is no such tool */
	CHECK(strstr(agent_last(&s.a), "\"id\":6,\"error\":{\"code\":-32602"));
}

/* A47 B53 C24 */
TEST(a_server_that_dies_is_an_error_and_comes_back)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	fleet_die(fleet_get(&s.f, "git"));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"code\":1003,\"message\":\"MCP error: "));
	CHECK(strstr(agent_last(&s.a), "\"code\":\"mcp_outcome_unknown\",\"server\":\"git\""));
	CHECK(strstr(agent_last(&s.a), "\"outcome\":\"unknown\""));
	fleet_get(&s.f, "git")->holds_calls = false;
	fleet_advance(&s.f, 3000);
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":2,\"result\""));
}

/* A8 A50 A60 */
/* Switched off or removed: its tools leave the lists of all sessions when it is stopped. */
TEST(the_tools_of_a_stopped_server_leave_every_list)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f) && agent_initialize(&s.b, &s.f));
	fleet_advance(&s.f, 300);
	for (int i = 0; i < 2; i++) {
		const char *gone = i ? "mcp__files__t" : "mcp__git__t";

		CHECK_EQ(agent_say(&s.a, &s.f, list, 0) + agent_say(&s.b, &s.f, list, 0), 2);
		CHECK(strstr(agent_last(&s.a), gone) && strstr(agent_last(&s.b), gone));
		agent_forget(&s.a);
		agent_forget(&s.b);
		if (i == 0)
			CHECK_EQ(mp_workspace_toggle(s.f.workspace, "git", 0, MP_TOGGLE_OFF, NULL),
				 0);
		else
			CHECK(fleet_reload(&s.f, "{\"mcpServers\":{}}"));
		mp_sessions_note_workspace(s.sessions, s.f.workspace);
		fleet_advance(&s.f, 1000);
		CHECK_EQ(mp_pool_count_instances(s.f.pool), 1 - (size_t)i);
		CHECK(agent_heard_text(&s.a, "notifications/tools/list_changed"));
		CHECK(agent_heard_text(&s.b, "notifications/tools/list_changed"));
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0) + agent_say(&s.b, &s.f, list, 0), 2);
		CHECK(!strstr(agent_last(&s.a), gone) && !strstr(agent_last(&s.b), gone));
	}
}

/* A51 B57 B58 A7 A50 */
TEST(a_reload_changes_the_list_in_one_step)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	agent_forget(&s.a);
	CHECK(fleet_reload(&s.f, "{\"mcpServers\":{\"git\":{\"command\":\"y\"},"
				 "\"web\":{\"command\":\"z\"}}}"));
	mp_sessions_note_workspace(s.sessions, s.f.workspace);
	fleet_advance(&s.f, 1000);
	CHECK(agent_heard_text(&s.a, "notifications/tools/list_changed"));
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "mcp__git__t"));
	CHECK(strstr(agent_last(&s.a), "mcp__web__t"));
	CHECK(!strstr(agent_last(&s.a), "mcp__files__t"));
	CHECK_EQ(count(agent_last(&s.a), "\"name\":"), 2); /* exactly these */
	CHECK_EQ(fleet_get(&s.f, "git")->dials, 1);        /* it did not change */
}

/* A52 C25 E74 */
TEST(a_server_that_comes_late_is_told)
{
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, two));
	fleet_get(&s.f, "git")->dial_code = MCPOOL_EIO;
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f) && agent_initialize(&s.b, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0) + agent_say(&s.b, &s.f, list, 0), 2);
	CHECK(!strstr(agent_last(&s.a), "mcp__git__t"));
	CHECK(!strstr(agent_last(&s.b), "mcp__git__t"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "server 'git' is failed") ||
	      strstr(agent_last(&s.a), "server 'git' is pending"));
	agent_forget(&s.a);
	fleet_get(&s.f, "git")->dial_code = 0;
	fleet_advance(&s.f, 5000);
	CHECK(agent_heard_text(&s.a, "notifications/tools/list_changed"));
	CHECK(agent_heard_text(&s.b, "notifications/tools/list_changed"));
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "mcp__git__t"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("3", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":3,\"result\""));
	CHECK_EQ(agent_say(&s.b, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.b), "mcp__git__t"));
}

/* E74 E24 */
TEST(a_tool_that_is_kept_out_says_so)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(
		&s, "{\"mcpServers\":{\"git\":{\"command\":\"y\",\"toolsDenied\":[\"t\"]}}}",
		MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"tools\":[]"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "kept out by toolsAllowed or toolsDenied"));
	CHECK_EQ(fleet_get(&s.f, "git")->calls, 0);
}

/* Of what is listened to there is nothing more to say, not even that it ended. */
TEST(whoever_stops_listening_hears_nothing_more)
{
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"subscriptions/listen\","
			   "\"params\":{\"notifications\":{\"toolsListChanged\":true}," AGENT_META
			   "}}",
			   0),
		 1);
	CHECK(strstr(agent_last(&s.a), "notifications/subscriptions/acknowledged"));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":9}}",
			   0),
		 0);
	CHECK_TEXT(agent_last(&s.a), "");
	agent_forget(&s.a);
	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"u\",\"inputSchema\":{\"type\":\"object\"}}]}";
	CHECK(fleet_say(fleet_get(&s.f, "git"),
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	fleet_advance(&s.f, 1000);
	CHECK_EQ(s.a.n, 0);
}

/* mcp-spec 4.2: a tool that can only be run as a task, for an agent that knows nothing of them. */
TEST(a_task_is_waited_for)
{
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, two));
	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"execution\":{"
		"\"taskSupport\":\"required\"}}]}";
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "\"task\":{}"));
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0,
				"{\"task\":{\"taskId\":\"theirs\",\"status\":\"working\"}}"));
	fleet_settle(&s.f);
	CHECK(strstr(fleet_get(&s.f, "git")->others, "tasks/result {\"taskId\":\"theirs\""));
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":1,\"result\""));
	CHECK(!strstr(agent_last(&s.a), "theirs"));
}
