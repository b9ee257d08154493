/*
 * test_agent_requests.c - questions of servers reach the agent that owns them, and its answers come
 * back; modern agents are sent away with a seal and come back with it (input_required.c).
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent.h"
#include "base/limits.h"
#include "session/index.h"
#include "session/request.h"
#include "session/scope.h"

struct scene {
	struct fleet f;
	struct mp_sessions *sessions;
	struct agent a;
	struct fleet_server *git;
	bool can_nothing; /* a legacy agent without capabilities */
};

static void scene_done(struct scene *s)
{
	agent_done(&s->a);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

static bool scene_initialize(struct scene *s)
{
	if (!s->can_nothing)
		return agent_initialize(&s->a, &s->f);
	REQUIRE(agent_say(&s->a, &s->f,
			  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			  "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
			  "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}",
			  0) == 1);
	agent_forget(&s->a);
	return true;
}

/* A server that is the agent's own, with one of its calls out. */
static bool scene_open(struct scene *s, unsigned traits, const char *call)
{
	REQUIRE(fleet_open(&s->f,
			   "{\"mcpServers\":{\"git\":{\"command\":\"y\",\"shared\":false}}}"));
	s->sessions = agent_sessions(&s->f);
	REQUIRE(agent_open(&s->a, &s->f, s->sessions, traits, NULL));
	if (!(traits & MP_SESSION_STATELESS))
		REQUIRE(scene_initialize(s));
	fleet_advance(&s->f, 300);
	s->git = fleet_get(&s->f, "git");
	s->git->holds_calls = true;
	REQUIRE(agent_say(&s->a, &s->f, call, 5) == 1);
	REQUIRE(s->git->n_kept == 1);
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(fleet_init(&s.f))

static const char legacy_call[] =
	"{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":"
	"\"mcp__git__t\"}}";
static const char question[] =
	"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"elicitation/create\",\"params\":{\"message\":"
	"\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}";

/* An answer to the question that was heard last. */
static const char *answer(const struct agent *a, const char *rest)
{
	static char text[200];
	const char *id = strstr(agent_last(a), "\"id\":");

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%.*s,%s}",
		 id ? (int)strcspn(id + 5, ",") : 0, id ? id + 5 : "", rest);
	return text;
}

/* U26 */
TEST(a_question_goes_to_the_stream_of_its_call)
{
	SCENE(s);

	CHECK(scene_open(&s, 0, legacy_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.n, 1);
	CHECK_EQ(s.a.heard[0].stream, 5);
	CHECK(strstr(agent_last(&s.a), "\"method\":\"elicitation/create\""));
	CHECK(strstr(agent_last(&s.a), "\"message\":\"[git] Who?\""));
	CHECK(strstr(agent_last(&s.a), "\"mcpool/server\":\"git\""));
	CHECK_EQ(agent_say(&s.a, &s.f, answer(&s.a, "\"result\":{\"action\":\"accept\"}"), 6), 0);
	CHECK(strstr(s.git->replied, "\"id\":77"));
	CHECK(strstr(s.git->replied, "accept"));
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	CHECK(strstr(agent_last(&s.a), "\"id\":\"c\""));
	CHECK_EQ(s.a.answers, 1);
}

TEST(an_agents_error_is_the_servers_answer)
{
	SCENE(s);

	CHECK(scene_open(&s, 0, legacy_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   answer(&s.a, "\"error\":{\"code\":-5,\"message\":\"no way\"}"), 6),
		 0);
	CHECK(strstr(s.git->replied, "no way"));
	/* twice is once */
	CHECK_EQ(agent_say(&s.a, &s.f, answer(&s.a, "\"result\":{}"), 6), 0);
	CHECK(strstr(s.git->replied, "no way"));
}

static const char modern_call[] =
	"{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":"
	"\"mcp__git__t\",\"arguments\":{\"x\":1}," AGENT_META "}}";

/* The seal in what was heard last. */
static void read_state(const struct agent *a, char out[200])
{
	const char *at = strstr(agent_last(a), "\"requestState\":\"");

	out[0] = '\0';
	if (at)
		snprintf(out, 200, "%.*s", (int)strcspn(at + 16, "\""), at + 16);
}

static char *come_back(const char *id, const char *x, const char *state, const char *responses)
{
	static char text[1000];

	snprintf(
		text, sizeof(text),
		"{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"mcp__git__t\",\"arguments\":{\"x\":%s},\"inputResponses\":%s,\"requestState\":"
		"\"%s\"," AGENT_META "}}",
		id, x, responses, state);
	return text;
}

/* V42 */
TEST(a_modern_agent_comes_back_with_the_answer)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"resultType\":\"input_required\""));
	CHECK(strstr(agent_last(&s.a), "\"q1\":{\"method\":\"elicitation/create\""));
	read_state(&s.a, state);
	CHECK(state[0]);
	/* what is missing is asked for again, with a new seal */
	CHECK_EQ(agent_say(&s.a, &s.f, come_back("d", "1", state, "{\"other\":{}}"), 6), 1);
	CHECK_EQ(s.a.answers, 2);
	CHECK(strstr(agent_last(&s.a), "\"input_required\""));
	CHECK_EQ(agent_say(&s.a, &s.f, come_back("e", "1", state, "{\"q1\":{}}"), 6), 1);
	CHECK(strstr(agent_last(&s.a), "-32602")); /* that one is used */
	CHECK_EQ(s.a.answers, 3);
}

/* V42 */
TEST(a_parked_call_goes_on_with_the_answer)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("d", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(s.git->replied, "\"action\":\"accept\""));
	CHECK_EQ(s.a.answers, 1);
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	CHECK_EQ(s.a.answers, 2);
	CHECK(strstr(agent_last(&s.a), "\"id\":\"d\""));
	CHECK_EQ(s.a.heard[1].stream, 6);
	CHECK(strstr(agent_last(&s.a), "\"resultType\":\"complete\""));
}

/* V42 */
TEST(a_seal_for_other_params_is_refused_and_the_server_hears_no)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("d", "2", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
	CHECK(!strstr(s.git->replied, "accept"));
	CHECK(strstr(s.git->replied, "\"error\""));
}

/* V42: a server that knows no such thing never gave it out; the call is not repeated. */
TEST(a_state_that_is_nobodys_is_refused)
{
	char state[200];
	int calls;
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	calls = s.git->calls;
	state[0] ^= 1;
	agent_say(&s.a, &s.f, come_back("d", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6);
	CHECK(strstr(agent_last(&s.a), "-32602"));
	CHECK_EQ(s.git->calls, calls);
	state[0] ^= 1;
	agent_say(&s.a, &s.f, come_back("e", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6);
	CHECK(strstr(s.git->replied,
		     "\"action\":\"accept\"")); /* the genuine one is as good as before */
}

/* V42: a seal is for the session that got it, also where another one has the same principal. */
TEST(a_seal_of_another_session_is_refused)
{
	struct agent b = {0};
	bool refused = false;
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	if (agent_open(&b, &s.f, s.sessions, MP_SESSION_STATELESS, NULL)) {
		(void)agent_say(&b, &s.f,
				come_back("d", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6);
		refused = strstr(agent_last(&b), "-32602") != NULL;
	}
	agent_done(&b);
	CHECK(refused);
	CHECK(!strstr(s.git->replied, "accept"));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("e", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(s.git->replied, "\"action\":\"accept\""));
}

/* A call of this agent, parked by a question of the server. */
static bool park(struct scene *s, struct agent *a, const char *server, char state[200])
{
	char call[500];

	snprintf(
		call, sizeof(call),
		"{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"mcp__%s__t\",\"arguments\":{\"x\":1}," AGENT_META "}}",
		server, server);
	fleet_get(&s->f, server)->holds_calls = true;
	REQUIRE(agent_say(a, &s->f, call, 5) == 1);
	REQUIRE(fleet_say(fleet_get(&s->f, server), question));
	fleet_settle(&s->f);
	read_state(a, state);
	return state[0] != '\0';
}

/* attack-S3: where all places are taken, a session that has its share loses its own oldest call. */
HEAVY_TEST(a_session_with_many_parked_calls_pushes_out_its_own)
{
	static const char json[] = "{\"mcpServers\":{\"git\":{\"command\":\"x\",\"shared\":false},"
				   "\"web\":{\"command\":\"y\",\"shared\":false},"
				   "\"sql\":{\"command\":\"z\",\"shared\":false}}}";
	static struct mp_request crowd[MP_LIMIT_PARKED - 2]; /* of a; they only count */
	char state[200];
	size_t left;
	SCENE(s);
	MP_CLEANUP(agent_done) struct agent b = {0};

	CHECK(fleet_open(&s.f, json));
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&b, &s.f, s.sessions, MP_SESSION_STATELESS, NULL));
	fleet_advance(&s.f, 300);
	CHECK(park(&s, &b, "git", state));
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_STATELESS, NULL));
	fleet_advance(&s.f, 300); /* it has servers of its own */
	CHECK(park(&s, &s.a, "web", state));
	for (size_t i = 0; i < MP_ARRAY_LEN(crowd); i++) {
		crowd[i] = (struct mp_request){.session = s.a.session};
		mp_list_append(&s.sessions->parked, &crowd[i].link);
	}
	CHECK_EQ(s.sessions->parked.len, MP_LIMIT_PARKED);
	CHECK(park(&s, &s.a, "sql", state));
	for (size_t i = 0; i < MP_ARRAY_LEN(crowd); i++)
		mp_list_remove(&s.sessions->parked, &crowd[i].link);
	left = s.sessions->parked.len;
	CHECK(!strstr(fleet_get(&s.f, "git")->replied, "error"));
	CHECK(strstr(fleet_get(&s.f, "web")->replied, "error"));
	CHECK_EQ(left, 2);
}

/* The stream of a parked call is over: nothing is said on it until the agent comes back. */
TEST(a_parked_call_hears_no_logs)
{
	static const char call[] =
		"{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"mcp__git__t\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
		"\"2026-07-28\",\"io.modelcontextprotocol/logLevel\":\"debug\","
		"\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}}}";
	static const char log[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
				  "\"params\":{\"level\":\"error\",\"data\":\"x\"}}";
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, call));
	CHECK(fleet_say(s.git, log));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.n, 1);
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.n, 2);
	CHECK(fleet_say(s.git, log));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.n, 2);
}

/* A modern agent says with each request what it can be asked; the last one counts. */
TEST(who_comes_back_without_an_ability_is_not_asked_again)
{
	char state[200], text[600];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"mcp__git__t\",\"arguments\":{\"x\":1},\"inputResponses\":{\"q1\":{\"action\":"
		 "\"accept\"}},\"requestState\":\"%s\",\"_meta\":{"
		 "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		 "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
		 state);
	CHECK_EQ(agent_say(&s.a, &s.f, text, 6), 1);
	CHECK(strstr(s.git->replied, "accept"));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK(strstr(s.git->replied, "-32601"));
	CHECK_EQ(s.a.answers, 1);
}

/* mutant-S9: the sweep comes every 10 s; a seal that is over in between is refused by itself. */
TEST(a_seal_that_is_over_is_refused_before_the_sweep)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	fleet_advance(&s.f, 5000);
	read_state(&s.a, state);
	CHECK_EQ(agent_say(&s.a, &s.f, come_back("d", "1", state, "{\"other\":{}}"), 6), 1);
	read_state(&s.a, state);
	fleet_advance(&s.f, MP_LIMIT_PARKED_MS);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("e", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
}

/* V42 */
TEST(nobody_waits_for_ever)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	fleet_advance(&s.f, MP_LIMIT_PARKED_MS + 20000);
	CHECK(strstr(s.git->replied, "\"error\""));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("d", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
}

/* V42 */
TEST(a_call_that_ends_meanwhile_is_answered_on_return)
{
	char state[200];
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, modern_call));
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	read_state(&s.a, state);
	CHECK(fleet_answer_kept(s.git, 0,
				"{\"content\":[{\"type\":\"text\",\"text\":\"early\"}]}"));
	CHECK_EQ(s.a.answers, 1);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   come_back("d", "1", state, "{\"q1\":{\"action\":\"accept\"}}"), 6),
		 1);
	CHECK(strstr(agent_last(&s.a), "early"));
	CHECK_EQ(s.a.answers, 2);
}

#define ABLE(capabilities)                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":"      \
	"\"mcp__git__t\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}}}"

/* U26 */
/* Each request declares its capabilities; those of the request before do not count. */
TEST(who_cannot_be_asked_is_not_asked)
{
	static const char *const calls[] = {
		ABLE("{\"elicitation\":{}}"), ABLE("{\"sampling\":{}}"), ABLE("{}"), ABLE("{}"),
		ABLE("{\"elicitation\":{}}"),
	};
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS, calls[0]));
	for (int i = 0; i < 5; i++) {
		bool is_able = i == 0 || i == 4;
		char text[400];

		agent_forget(&s.a);
		if (i > 0)
			CHECK_EQ(agent_say(&s.a, &s.f, calls[i], 5), 1);
		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,%s", 80 + i,
			 strstr(question, "\"method\""));
		s.git->replied[0] = '\0';
		CHECK(fleet_say(s.git, text));
		fleet_settle(&s.f);
		CHECK_EQ(strstr(agent_last(&s.a), "input_required") != NULL, is_able);
		CHECK_EQ(strstr(s.git->replied, "-32601") != NULL, !is_able);
		CHECK(fleet_answer_kept(s.git, i, "{\"content\":[]}"));
		CHECK_EQ(s.a.answers, 1); /* the question, or what came of the call */
	}
}

/* One of each kind, behind "method":" */
static const char *const questions[] = {
	("elicitation/create\",\"params\":{\"message\":\"Who?\",\"requestedSchema\":"
	 "{\"type\":\"object\",\"properties\":{}}}}"),
	"sampling/createMessage\",\"params\":{\"messages\":[],\"maxTokens\":5}}", "roots/list\"}"};

/* U26 */
/* Each capability allows its own questions, and no other. */
TEST(each_question_needs_its_own_capability)
{
	static const char *const calls[] = {ABLE("{\"elicitation\":{}}"), ABLE("{\"sampling\":{}}"),
					    ABLE("{\"roots\":{}}")};

	for (int able = 0; able < 3; able++)
		for (int asked = 0; asked < 3; asked++) {
			char text[400];
			SCENE(s);

			CHECK(scene_open(&s, MP_SESSION_STATELESS, calls[able]));
			snprintf(text, sizeof(text),
				 "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"%s", questions[asked]);
			CHECK(fleet_say(s.git, text));
			fleet_settle(&s.f);
			CHECK_EQ(strstr(agent_last(&s.a), "input_required") != NULL, able == asked);
			CHECK_EQ(strstr(s.git->replied, "-32601") != NULL, able != asked);
		}
}

/* U26 */
/* A legacy agent declares its capabilities once: without any, it is asked nothing. */
TEST(a_legacy_agent_that_can_do_nothing_is_not_asked)
{
	SCENE(s);

	s.can_nothing = true;
	CHECK(scene_open(&s, 0, legacy_call));
	for (int asked = 0; asked < 3; asked++) {
		char text[400];

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s",
			 80 + asked, questions[asked]);
		s.git->replied[0] = '\0';
		CHECK(fleet_say(s.git, text));
		fleet_settle(&s.f);
		CHECK(strstr(s.git->replied, "-32601"));
		CHECK_EQ(s.a.n, 0);
	}
}
