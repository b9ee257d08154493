/*
 * test_session_odd.c - hostile and hasty agents and servers, and that they do not affect others.
 */
#include "test.h"

#include <stdio.h>

#include "agent.h"
#include "base/limits.h"
#include "session/index.h"
#include "session/request.h"
#include "session/subscriptions.h"
#include "session/scope.h"

struct scene {
	struct fleet f;
	struct mp_sessions *sessions;
	struct agent a, b;
	struct fleet_server *git;
	int drained;
};

static void scene_done(struct scene *s)
{
	agent_done(&s->a);
	agent_done(&s->b);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

/* A server that keeps its calls, and an agent. */
static bool scene_open(struct scene *s, unsigned traits)
{
	s->git = fleet_get(&s->f, "git");
	REQUIRE(fleet_open(&s->f,
			   "{\"mcpServers\":{\"git\":{\"command\":\"y\",\"shared\":false}}}"));
	s->sessions = agent_sessions(&s->f);
	REQUIRE(agent_open(&s->a, &s->f, s->sessions, traits, NULL));
	if (!(traits & MP_SESSION_STATELESS))
		REQUIRE(agent_initialize(&s->a, &s->f));
	fleet_advance(&s->f, 300);
	s->git->holds_calls = true;
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(fleet_init(&s.f))

#define CALL(id, meta)                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":" \
	"\"mcp__git__t\"" meta "}}"
#define CANCEL(id)                                                                \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":" \
	"{\"requestId\":" id "}}"

static const char modern_call[] = CALL("1", "," AGENT_META);
static const char legacy_call[] = CALL("1", "");

/* V24: all agents without a session share one, and their ids are their own */
TEST(a_stateless_agent_does_not_cancel_anothers_call)
{
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS));
	CHECK_EQ(agent_say(&s.a, &s.f, modern_call, 5), 1);
	CHECK_EQ(s.git->n_kept, 1);
	CHECK_EQ(agent_say(&s.a, &s.f, CANCEL("1"), 6), 0);
	CHECK_EQ(s.git->cancels, 0);
	CHECK_EQ(s.a.n, 0);
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	CHECK_EQ(s.a.answers, 1);
	CHECK_EQ(s.a.heard[0].stream, 5);
}

TEST(a_modern_message_is_not_part_of_a_batch)
{
	SCENE(s);
	static const char batch[] = "[" CALL("1", "," AGENT_META) "," CALL(
		"2",
		"") ","
		    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"subscriptions/listen\",\"params\":"
		    "{\"notifications\":{}," AGENT_META "}}]";

	CHECK(scene_open(&s, 0));
	CHECK_EQ(agent_say(&s.a, &s.f, batch, 5), 3);
	CHECK_EQ(s.git->n_kept, 1);
	CHECK_EQ(s.a.n, 2);
	CHECK(strstr(s.a.heard[0].text, "\"id\":1") && strstr(s.a.heard[0].text, "-32600"));
	CHECK(strstr(s.a.heard[1].text, "\"id\":3") && strstr(s.a.heard[1].text, "-32600"));
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	CHECK(s.a.n == 3 && s.a.heard[2].is_last);
}

TEST(a_cancelled_part_of_a_batch_leaves_the_stream_to_the_others)
{
	SCENE(s);

	CHECK(scene_open(&s, 0));
	CHECK_EQ(agent_say(&s.a, &s.f, "[" CALL("1", "") "," CALL("2", "") "]", 5), 2);
	CHECK_EQ(agent_say(&s.a, &s.f, CANCEL("1"), 6), 0);
	CHECK_EQ(s.a.n, 0); /* an empty message is none */
	CHECK_EQ(agent_say(&s.a, &s.f, CANCEL("2"), 7), 0);
	CHECK(s.a.n == 1 && s.a.heard[0].is_last && !s.a.heard[0].text[0]);
}

/* Two agents that ask for lists once, one later than the other; a server that never comes. */
TEST(the_second_of_two_patient_agents_is_answered_too)
{
	SCENE(s);
	static const char open[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":"
		"\"codex\",\"version\":\"1\"}}}";
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

	fleet_get(&s.f, "slow")->mute = true;
	CHECK(fleet_open(&s.f, "{\"mcpServers\":{\"slow\":{\"command\":\"y\",\"startupTimeout\":"
			       "600000}}}"));
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	fleet_advance(&s.f, 1000);
	CHECK(agent_say(&s.a, &s.f, open, 0) == 1 && agent_say(&s.b, &s.f, open, 0) == 1);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	fleet_advance(&s.f, 5000);
	CHECK_EQ(agent_say(&s.b, &s.f, list, 0), 1);
	CHECK(s.a.answers == 1 && s.b.answers == 1);
	fleet_advance(&s.f, 6000);
	CHECK(s.a.answers == 2 && s.b.answers == 1);
	fleet_advance(&s.f, 6000);
	CHECK(s.b.answers == 2);
}

/* What a server of any kind answers to whatever is open. */
static void answer_all(struct scene *s, const char *rest)
{
	for (int id = 1; id < 20; id++) {
		char text[300];

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}", id, rest);
		if (!fleet_say(s->git, text))
			return;
	}
	fleet_settle(&s->f);
}

static bool is_json(const char *text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	return mp_tape_parse(&t, mp_str_of(text), NULL) == 0;
}

TEST(a_task_that_is_no_object_is_passed_on)
{
	static const char *const odd[] = {"[1]", "[]", "7", "\"x\"", "[\"taskId\"]"};
	char text[200], name[64] = "";
	const char *at;
	SCENE(s);

	CHECK(scene_open(&s, 0));
	CHECK_EQ(agent_say(&s.a, &s.f, legacy_call, 5), 1);
	CHECK(fleet_answer_kept(s.git, 0, "{\"task\":{\"taskId\":\"x\",\"status\":\"working\"}}"));
	at = strstr(agent_last(&s.a), "\"taskId\":\"");
	CHECK(at && sscanf(at, "\"taskId\":\"%60[0-9a-f]", name) == 1);
	s.git->dead = true;
	for (size_t i = 0; i < MP_ARRAY_LEN(odd); i++) {
		int answers = s.a.answers;

		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tasks/get\",\"params\":"
			 "{\"taskId\":\"%s\"}}",
			 i + 10, name);
		CHECK_EQ(agent_say(&s.a, &s.f, text, 6), 1);
		snprintf(text, sizeof(text), "\"result\":%s", odd[i]);
		answer_all(&s, text);
		CHECK_EQ(s.a.answers, answers + 1);
		CHECK(is_json(agent_last(&s.a)));
	}
}

TEST(pages_to_go_to_that_are_none_are_left_out)
{
	static const char *const odd[] = {"[[1]]", "[\"x\",3]", "{\"a\":{\"url\":\"u\"}}", "7",
					  "[{\"url\":\"u\"},[1,2]]"};
	static const char call[] =
		CALL("1", ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
			  "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":"
			  "{\"url\":{}}}}");
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS));
	for (size_t i = 0; i < MP_ARRAY_LEN(odd); i++) {
		char text[200];

		CHECK_EQ(agent_say(&s.a, &s.f, call, i + 1), 1);
		snprintf(text, sizeof(text),
			 "\"error\":{\"code\":-32042,\"message\":\"m\",\"data\":{\"elicitations\":"
			 "%s}}",
			 odd[i]);
		answer_all(&s, text);
		CHECK_EQ(s.a.answers, (int)i + 1);
		CHECK(is_json(agent_last(&s.a)));
	}
	CHECK(strstr(agent_last(&s.a), "\"url\":\"u\""));
}

/* Switched off and on again, a server knows nothing of who listened */
TEST(a_subscription_outlives_a_server_that_was_switched_off)
{
	static const char subscribe[] =
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/subscribe\",\"params\":"
		"{\"uri\":\"f:/1\"}}";
	SCENE(s);

	s.git = fleet_get(&s.f, "git");
	s.git->capabilities = "{\"resources\":{\"subscribe\":true}}";
	s.git->resources = "{\"resources\":[{\"uri\":\"f:/1\",\"name\":\"1\"}]}";
	CHECK(fleet_open(&s.f, "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}"));
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, subscribe, 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"result\""));
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(mp_workspace_toggle(s.f.workspace, "git", 0,
					     i ? MP_TOGGLE_ON : MP_TOGGLE_OFF, NULL),
			 0);
		mp_sessions_note_workspace(s.sessions, s.f.workspace);
		fleet_advance(&s.f, 1000);
	}
	agent_forget(&s.a);
	CHECK(fleet_say(s.git, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
			       "updated\",\"params\":{\"uri\":\"f:/1\"}}"));
	fleet_settle(&s.f);
	CHECK(agent_heard_text(&s.a, "resources/updated"));
}

static void has_drained(void *u)
{
	((struct scene *)u)->drained++;
}

static const char question[] =
	"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"elicitation/create\",\"params\":{\"message\":"
	"\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}";

TEST(the_last_one_to_listen_ends_with_the_hub)
{
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"subscriptions/listen\","
			   "\"params\":{\"notifications\":{}," AGENT_META "}}",
			   5),
		 1);
	CHECK_EQ(s.a.answers, 0);
	mp_sessions_drain(s.sessions, has_drained, &s);
	fleet_settle(&s.f);
	CHECK_EQ(s.a.answers, 1);
	CHECK_EQ(s.drained, 1);
}

/* A parked request cannot continue on a hub that accepts no requests. */
TEST(a_parked_call_does_not_hold_up_the_end)
{
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS));
	CHECK_EQ(agent_say(&s.a, &s.f, modern_call, 5), 1);
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.answers, 1);
	mp_sessions_drain(s.sessions, has_drained, &s);
	fleet_settle(&s.f);
	CHECK_EQ(s.drained, 1);
}

TEST(nobody_is_sent_away_with_a_question_at_the_end)
{
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_STATELESS));
	CHECK_EQ(agent_say(&s.a, &s.f, modern_call, 5), 1);
	mp_sessions_drain(s.sessions, has_drained, &s);
	CHECK(fleet_say(s.git, question));
	fleet_settle(&s.f);
	CHECK_EQ(s.a.answers, 0);
	CHECK(strstr(s.git->replied, "\"error\""));
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	CHECK_EQ(s.a.answers, 1);
	CHECK_EQ(s.drained, 1);
}

/*
 * What a bridge sent before it heard of the end is served; who does not hear of it is refused.
 * (versions/newer_replaces_older failed for that reason once.)
 */
TEST(a_bridge_is_served_until_it_knows_of_the_end)
{
	SCENE(s);

	CHECK(scene_open(&s, MP_SESSION_ONE_STREAM));
	CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.b, &s.f));
	s.b.session->way = "stdio";
	CHECK_EQ(agent_say(&s.a, &s.f, legacy_call, 0), 1);
	mp_sessions_drain(s.sessions, has_drained, &s);
	agent_forget(&s.b);
	CHECK_EQ(agent_say(&s.b, &s.f, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}", 0), 1);
	CHECK(strstr(agent_last(&s.b), "\"result\""));
	s.b.session->way = "http";
	CHECK_EQ(agent_say(&s.b, &s.f, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}", 0), 1);
	CHECK(strstr(agent_last(&s.b), "mcpool is stopping"));
	CHECK_EQ(s.drained, 0);
	CHECK(fleet_answer_kept(s.git, 0, "{\"content\":[]}"));
	fleet_settle(&s.f);
	CHECK_EQ(s.drained, 1);
}

/* One large answer does not cost for ever. */
HEAVY_TEST(the_room_for_a_large_answer_is_given_back)
{
	static char large[MP_KIB(600)];
	int n = snprintf(large, sizeof(large), "{\"content\":[],\"x\":\"");
	SCENE(s);

	memset(large + n, 'x', sizeof(large) - (size_t)n - 3);
	memcpy(large + sizeof(large) - 3, "\"}", 3);
	CHECK(scene_open(&s, 0));
	CHECK_EQ(agent_say(&s.a, &s.f, modern_call, 5), 1);
	CHECK(fleet_answer_kept(s.git, 0, large));
	CHECK_EQ(s.a.answers, 1);
	CHECK(strlen(agent_last(&s.a)) > sizeof(large));
	CHECK(s.sessions->out.cap <= MP_KIB(256));
	CHECK(s.sessions->scratch.cap <= MP_KIB(256));
	CHECK(s.sessions->texts.params.cap <= MP_KIB(256));
}

/* --- attack-S2 ------------------------------------------------------------------------------- */

static bool is_refused(struct scene *s, const char *method, const char *params, bool is_modern)
{
	char text[400];

	agent_forget(&s->a);
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"%s%s%s%s}",
		 method, is_modern || params ? ",\"params\":{" : "", params ? params : "",
		 !is_modern          ? ""
		 : params && *params ? "," AGENT_META
				     : AGENT_META,
		 is_modern || params ? "}" : "");
	agent_say(&s->a, &s->f, text, s->a.session->traits & MP_SESSION_ONE_STREAM ? 0 : 9);
	REQUIRE(s->a.n == 1 && s->a.answers == 1);
	REQUIRE(strstr(agent_last(&s->a), "\"id\":7") &&
		strstr(agent_last(&s->a), "\"code\":-32602"));
	REQUIRE(s->a.session->requests.len == 0);
	return true;
}

/* attack-S2: as stdio, legacy HTTP and modern HTTP have it; a read of what was freed is ASan's. */
HEAVY_TEST(a_request_without_a_usable_name_is_refused_once)
{
	static const struct {
		unsigned traits;
		bool is_modern;
	} ways[] = {{MP_SESSION_ONE_STREAM, false},
		    {MP_SESSION_ONE_STREAM, true},
		    {0, false},
		    {MP_SESSION_STATELESS, true}};
	static const char *const methods[] = {"tools/call", "resources/read", "prompts/get"};
	static const char *const params[] = {NULL, "", "\"name\":null,\"uri\":null",
					     "\"name\":5,\"uri\":5", "\"name\":{},\"uri\":[\"x\"]"};

	for (size_t way = 0; way < MP_ARRAY_LEN(ways); way++) {
		SCENE(s);

		CHECK(scene_open(&s, ways[way].traits));
		for (size_t i = 0; i < MP_ARRAY_LEN(methods); i++)
			for (size_t k = 0; k < MP_ARRAY_LEN(params); k++)
				CHECK(is_refused(&s, methods[i], params[k], ways[way].is_modern));
		CHECK_EQ(s.sessions->open, 0);
	}
}

/* attack-S2: what reads a request behind its answer reads no freed memory. */
TEST(a_request_that_was_answered_is_there_until_the_turn_ends)
{
	SCENE(s);
	struct mp_request *e;

	CHECK(scene_open(&s, MP_SESSION_ONE_STREAM));
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\","
			   "\"params\":{\"notifications\":{}," AGENT_META "}}",
			   0),
		 1);
	CHECK_EQ(s.a.session->requests.len, 1);
	e = mp_container_of(mp_list_first(&s.a.session->requests), struct mp_request, link);
	mp_session_end_listening(e);
	CHECK_EQ(e->state, MP_REQUEST_ENDED);
	CHECK(!e->session);
	CHECK_EQ(s.sessions->open, 0);
}

/* A session borrows from one of the same user only, whatever id it names. */
/* A73 */
TEST(a_session_is_found_for_its_own_user)
{
	SCENE(s);

	CHECK(scene_open(&s, 0));
	CHECK(mp_sessions_has(s.sessions, s.a.session->id, s.a.session->principal));
	CHECK(!mp_sessions_has(s.sessions, s.a.session->id, "somebody else"));
	CHECK(!mp_sessions_has(s.sessions, s.a.session->id + 1, s.a.session->principal));
	CHECK(!mp_sessions_has(s.sessions, 0, s.a.session->principal));
}
