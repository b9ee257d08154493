/*
 * test_tasks.c - calls that become tasks: names of ours, for the session that began them.
 */
#include "test.h"

#include <stdio.h>

#include "agent.h"

struct scene {
	struct fleet f;
	struct mp_sessions *sessions;
	struct agent a, b;
	struct fleet_server *git;
};

static void scene_done(struct scene *s)
{
	agent_done(&s->a);
	agent_done(&s->b);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

/* A server that keeps its calls, and two agents. */
static bool scene_open(struct scene *s, bool modern)
{
	s->git = fleet_get(&s->f, "git");
	s->git->modern = modern;
	s->git->capabilities =
		modern ? "{\"tools\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"
		       : "{\"tools\":{},\"tasks\":{\"list\":{}}}";
	REQUIRE(fleet_open(&s->f, "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}"));
	s->sessions = agent_sessions(&s->f);
	REQUIRE(agent_open(&s->a, &s->f, s->sessions, MP_SESSION_ONE_STREAM, NULL));
	REQUIRE(agent_open(&s->b, &s->f, s->sessions, MP_SESSION_ONE_STREAM, NULL));
	fleet_advance(&s->f, 300);
	s->git->holds_calls = true;
	return true;
}

#define SCENE(s, modern)                             \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(fleet_init(&s.f));                     \
	CHECK(scene_open(&s, modern))

#define META(capabilities)                                                       \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":" capabilities "}"
#define KNOWS META("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}")
#define CALL(meta)                                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
	"\"mcp__git__t\"," meta "}}"
#define TASK "{\"resultType\":\"task\",\"taskId\":\"theirs\",\"status\":\"working\",\"ttlMs\":null}"

static const char *ask(const char *method, const char *name, const char *meta)
{
	static char text[600];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"%s\",\"params\":{\"taskId\":\"%s\","
		 "%s}}",
		 method, name, meta);
	return text;
}

static bool begin(struct scene *s, char name[64])
{
	const char *at;

	REQUIRE(agent_say(&s->a, &s->f, CALL(KNOWS), 0) == 1);
	REQUIRE(fleet_answer_kept(s->git, 0, TASK));
	REQUIRE(strstr(agent_last(&s->a), "\"resultType\":\"task\""));
	REQUIRE(strstr(agent_last(&s->a), "\"ttlMs\":null"));
	REQUIRE(!strstr(agent_last(&s->a), "theirs"));
	at = strstr(agent_last(&s->a), "\"taskId\":\"");
	REQUIRE(at && sscanf(at, "\"taskId\":\"%60[0-9a-f]", name) == 1);
	REQUIRE(strlen(name) == 32);
	return true;
}

/* V26 */
TEST(a_task_has_a_name_of_ours)
{
	static const char *const methods[] = {"tasks/get", "tasks/update", "tasks/cancel"};
	char name[64] = "", wanted[100];
	SCENE(s, true);

	CHECK(begin(&s, name));
	for (size_t i = 0; i < MP_ARRAY_LEN(methods); i++) {
		s.git->others[0] = '\0';
		CHECK_EQ(agent_say(&s.a, &s.f, ask(methods[i], name, KNOWS), 0), 1);
		snprintf(wanted, sizeof(wanted), "%s {", methods[i]);
		CHECK(strstr(s.git->others, wanted));
		CHECK(strstr(s.git->others, "\"taskId\":\"theirs\""));
		CHECK(!strstr(s.git->others, name));
	}
}

/* V26 */
TEST(a_task_is_known_to_whoever_began_it)
{
	char name[64] = "";
	SCENE(s, true);

	CHECK(begin(&s, name));
	s.git->others[0] = '\0';
	CHECK_EQ(agent_say(&s.b, &s.f, ask("tasks/get", name, KNOWS), 0), 1);
	CHECK(strstr(agent_last(&s.b), "-32602"));
	CHECK_EQ(agent_say(&s.a, &s.f, ask("tasks/get", "theirs", KNOWS), 0), 1);
	CHECK(strstr(agent_last(&s.a), "-32602"));
	CHECK_EQ(agent_say(&s.a, &s.f, ask("tasks/get", name, META("{}")), 0), 1);
	CHECK(strstr(agent_last(&s.a), "-32021"));
	CHECK(!strstr(s.git->others, "tasks/"));
}

/* V26: of 2025, where the result says itself whose it is, and an agent may have a list. */
TEST(older_tasks_go_by_our_names_as_well)
{
	char name[64] = "", text[200];
	const char *at;
	SCENE(s, false);

	s.git->task_result = "{\"content\":[],\"_meta\":{\"a\":{\"b\":[1]},"
			     "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"theirs\"}}}";
	CHECK(agent_initialize(&s.a, &s.f) && agent_initialize(&s.b, &s.f));
	agent_say(&s.a, &s.f, CALL("\"task\":{\"ttl\":1}"), 0);
	CHECK(fleet_answer_kept(s.git, 0,
				"{\"task\":{\"taskId\":\"theirs\",\"status\":\"working\"}}"));
	at = strstr(agent_last(&s.a), "{\"task\":{\"taskId\":\"");
	CHECK(at && sscanf(at, "{\"task\":{\"taskId\":\"%60[0-9a-f]", name) == 1);
	CHECK_EQ(strlen(name), 32);
	agent_say(&s.a, &s.f, ask("tasks/result", name, "\"x\":1"), 0);
	CHECK(strstr(s.git->others, "\"taskId\":\"theirs\""));
	snprintf(text, sizeof(text),
		 "\"_meta\":{\"a\":{\"b\":[1]},\"io.modelcontextprotocol/related-task\":"
		 "{\"taskId\":\"%s\"}}",
		 name);
	CHECK(strstr(agent_last(&s.a), text));
	agent_say(&s.b, &s.f, ask("tasks/result", name, "\"x\":1"), 0);
	CHECK(strstr(agent_last(&s.b), "-32602"));
	agent_say(&s.b, &s.f, ask("tasks/list", name, "\"x\":1"), 0);
	CHECK(strstr(agent_last(&s.b), "{\"tasks\":[]}"));
}

/* A server that answers so without being asked to is not understood. */
TEST(a_task_for_one_who_knows_none_is_refused)
{
	SCENE(s, true);

	CHECK_EQ(agent_say(&s.a, &s.f, CALL(META("{}")), 0), 1);
	CHECK(fleet_answer_kept(s.git, 0, TASK));
	CHECK(strstr(agent_last(&s.a), "MCP error: "));
	CHECK(strstr(agent_last(&s.a), "\"outcome\":\"refused\""));
	CHECK(!strstr(agent_last(&s.a), "theirs"));
}
