/* test_agents.c - how each agent spells the way to the hub. */
#include "test.h"

#include "base/limits.h"
#include "cli/agents/agents.h"

static const struct mp_agent_way plain = {.mcpool = "/opt/mcpool"};
static const struct mp_agent_way full = {.mcpool = "/opt/mcpool",
					 .variables = {"A=1", "B=x=y", NULL}};
static const struct mp_agent_way http = {.mcpool = "/opt/mcpool",
					 .url = "http://127.0.0.1:7717/mcp"};

static bool entry_is(const char *agent, const struct mp_agent_way *way, const char *json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(16));
	REQUIRE(mp_agent_find(agent));
	REQUIRE(mp_agent_write_entry(mp_agent_find(agent), way, &text) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&text), mp_str_of(json)));
	return true;
}

TEST(each_spells_it_in_its_own_way)
{
	CHECK(entry_is("claude", &plain,
		       "{\"type\":\"stdio\",\"command\":\"/opt/"
		       "mcpool\",\"args\":[\"stdio\",\"--naming\",\"server__tool\"]}"));
	CHECK(entry_is(
		"cursor", &full,
		"{\"command\":\"/opt/mcpool\",\"args\":[\"stdio\",\"--naming\",\"server__tool\"],"
		"\"env\":{\"A\":\"1\",\"B\":\"x=y\"}}"));
	CHECK(entry_is("opencode", &full,
		       "{\"type\":\"local\",\"command\":[\"/opt/"
		       "mcpool\",\"stdio\",\"--naming\",\"server__tool\"],"
		       "\"environment\":{\"A\":\"1\",\"B\":\"x=y\"}}"));
	CHECK(entry_is("zed", &plain,
		       "{\"source\":\"custom\",\"command\":\"/opt/mcpool\",\"args\":[\"stdio\"]}"));
	CHECK(!mp_agent_find("nobody"));
}

TEST(the_token_comes_from_a_variable)
{
	CHECK(entry_is(
		"claude", &http,
		"{\"type\":\"http\",\"url\":\"http://127.0.0.1:7717/mcp?naming=server__tool\","
		"\"headers\":{\"Authorization\":\"Bearer ${MCPOOL_TOKEN}\"}}"));
	CHECK(entry_is("windsurf", &http,
		       "{\"serverUrl\":\"http://127.0.0.1:7717/mcp?naming=server__tool\","
		       "\"headers\":{\"Authorization\":\"Bearer ${env:MCPOOL_TOKEN}\"}}"));
	CHECK(entry_is("codex", &http,
		       "{\"url\":\"http://127.0.0.1:7717/mcp?naming=server__tool\","
		       "\"bearer_token_env_var\":\"MCPOOL_TOKEN\"}"));
}

TEST(a_snippet_is_a_whole_file)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(16));
	CHECK_EQ(mp_agent_write_snippet(mp_agent_find("codex"), &full, &text), 0);
	CHECK_STR(mp_buf_get(&text), "[mcp_servers.mcpool]\ncommand = \"/opt/mcpool\"\n"
				     "args = [\"stdio\",\"--naming\",\"server__tool\"]\nenv = { "
				     "\"A\" = \"1\", \"B\" = \"x=y\" }\n");
	mp_buf_clear(&text);
	CHECK_EQ(mp_agent_write_snippet(mp_agent_find("vscode"), &http, &text), 0);
	CHECK(mp_str_starts(mp_buf_get(&text), MP_STR("{\n  \"servers\": {\n    \"mcpool\": {\n")));
}

static bool command_is(const char *agent, enum mp_agent_order order, const struct mp_agent_way *way,
		       const char *words)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char **argv;

	mp_buf_init(&text, MP_KIB(16));
	mp_arena_init(&arena, MP_KIB(64));
	argv = mp_agent_get_command(mp_agent_find(agent), order, way, &arena);
	if (!words)
		return test_true(!argv, "it has none", __FILE__, __LINE__);
	REQUIRE(argv);
	for (size_t i = 0; argv[i]; i++)
		REQUIRE(mp_buf_addf(&text, "%s%s", i ? "|" : "", argv[i]) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&text), mp_str_of(words)));
	return true;
}

TEST(some_have_a_command_of_their_own)
{
	struct mp_agent_way project = plain;

	CHECK(command_is("claude", MP_AGENT_ADD, &full,
			 "claude|mcp|add|--scope|user|mcpool|-e|A=1|-e|B=x=y|--|/opt/"
			 "mcpool|stdio|--naming|server__tool"));
	CHECK(command_is("codex", MP_AGENT_ADD, &full,
			 "codex|mcp|add|mcpool|--env|A=1|--env|B=x=y|--|/opt/"
			 "mcpool|stdio|--naming|server__tool"));
	CHECK(command_is("codex", MP_AGENT_ADD, &http,
			 "codex|mcp|add|mcpool|--url|http://127.0.0.1:7717/mcp?naming=server__tool|"
			 "--bearer-token-env-var|MCPOOL_TOKEN"));
	CHECK(command_is("gemini", MP_AGENT_ADD, &http,
			 "gemini|mcp|add|--scope|user|--transport|http|--header|"
			 "Authorization: Bearer "
			 "${MCPOOL_TOKEN}|mcpool|http://127.0.0.1:7717/mcp?naming=server__tool"));
	CHECK(command_is(
		"vscode", MP_AGENT_ADD, &plain,
		"code|--add-mcp|{\"name\":\"mcpool\",\"type\":\"stdio\","
		"\"command\":\"/opt/mcpool\",\"args\":[\"stdio\",\"--naming\",\"server__tool\"]}"));
	CHECK(command_is("vscode", MP_AGENT_REMOVE, &plain, NULL));
	CHECK(command_is("cursor", MP_AGENT_ADD, &plain, NULL));
	project.project = true;
	CHECK(command_is("claude", MP_AGENT_REMOVE, &project,
			 "claude|mcp|remove|--scope|project|mcpool"));
	CHECK(command_is("codex", MP_AGENT_ADD, &project, NULL));
}
