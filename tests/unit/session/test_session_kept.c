/*
 * test_session_kept.c - what sessions keep to: what passes is unchanged, an abort does not count as
 * a failure, lists change in one step, every style of names is understood, profiles restart as
 * theirs do.
 */
#include "test.h"

#include <stdio.h>

#include "two_servers.h"

/* --- what passes through untouched ----------------------------------------------------------- */

/* B48 */
/* Nothing but `properties` is added; members keep their order, numbers their spelling. */
TEST(the_rest_of_a_schema_is_as_the_server_wrote_it)
{
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, two));
	fleet_get(&s.f, "git")->tools =
		"{\"tools\":[{\"name\":\"u\",\"inputSchema\":{ \"x-y\": [1.0, 1e3],"
		"\"type\":\"object\",\"$defs\":{\"a\":{}}},\"custom\":12345678901234567890},"
		"{\"name\":\"v\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"b\" "
		":{}}}},{\"name\":\"w\",\"inputSchema\":{}}]}";
	s.sessions = agent_sessions(&s.f);
	CHECK(agent_open(&s.a, &s.f, s.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(
		agent_last(&s.a),
		"{\"x-y\":[1.0,1e3],\"type\":\"object\",\"$defs\":{\"a\":{}},\"properties\":{}}"));
	CHECK(strstr(agent_last(&s.a), "\"custom\":12345678901234567890"));
	CHECK(strstr(agent_last(&s.a), "\"properties\":{}"));
	CHECK(strstr(agent_last(&s.a),
		     "\"inputSchema\":{\"type\":\"object\",\"properties\":{\"b\":{}}}"));
	CHECK(strstr(agent_last(&s.a), "\"inputSchema\":{}")); /* not of type object */
}

/* B50 U21 */
TEST(a_result_keeps_its_blocks_as_they_are)
{
	static const char result[] =
		"{\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\"}, "
		"{\"type\":\"image\",\"data\":"
		"\"AAAA\",\"mimeType\":\"image/png\"},{\"type\":\"hologram\",\"n\":1.50},"
		"{\"type\":\"resource_link\",\"uri\":\"f:/1\",\"name\":\"1\"}],"
		"\"structuredContent\":{\"z\":1,\"a\":12345678901234567890},\"isError\":true,"
		"\"custom\":[ ]}";
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, result));
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), result));
}

/* B50: but a URI that two servers have gets the name of its server. */
TEST(a_uri_in_a_block_says_whose_it_is)
{
	static const char resources[] = "{\"resources\":[{\"uri\":\"f:/1\",\"name\":\"1\"}]}";
	static const char *const names[] = {"git", "files"};
	TWO_SERVERS(s);

	for (int i = 0; i < 2; i++) {
		fleet_get(&s.f, names[i])->capabilities = "{\"tools\":{},\"resources\":{}}";
		fleet_get(&s.f, names[i])->resources = resources;
	}
	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0,
				"{\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\"},"
				"{\"type\":\"resource_link\",\"uri\":\"f:/1\",\"name\":\"1\"}]}"));
	CHECK(strstr(
		agent_last(&s.a),
		"{\"content\":[{\"type\":\"text\",\"text\":\"a\\u00e9\"},"
		"{\"type\":\"resource_link\",\"uri\":\"mcpool://git/f%3A%2F1\",\"name\":\"1\"}]}"));
}

/*
 * mutant-S3: legacy agents know structuredContent as an object only, and older ones read the text;
 * a modern agent gets what the server wrote.
 */
HEAVY_TEST(odd_structured_content_is_wrapped_for_legacy_agents)
{
	static const struct {
		const char *from, *legacy;
	} rows[] = {
		{"{\"content\":[],\"structuredContent\":[1]}",
		 "{\"content\":[{\"type\":\"text\",\"text\":\"[1]\"}],"
		 "\"structuredContent\":{\"result\":[1]}}"},
		{"{\"structuredContent\":\"a\",\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}",
		 "{\"structuredContent\":{\"result\":\"a\"},"
		 "\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}"},
		{"{\"content\":[],\"structuredContent\":null}",
		 "{\"content\":[{\"type\":\"text\",\"text\":\"null\"}],"
		 "\"structuredContent\":{\"result\":null}}"},
		{"{\"content\":[],\"structuredContent\":{\"a\":1}}",
		 "{\"content\":[],\"structuredContent\":{\"a\":1}}"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct fleet_server *git;
		TWO_SERVERS(s);

		CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
		CHECK(agent_open(&s.b, &s.f, s.sessions, MP_SESSION_STATELESS, NULL));
		CHECK(agent_initialize(&s.a, &s.f));
		fleet_advance(&s.f, 300);
		git = fleet_get(&s.f, "git");
		git->holds_calls = true;
		CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
		CHECK(fleet_answer_kept(git, 0, rows[i].from));
		CHECK(strstr(agent_last(&s.a), rows[i].legacy));
		CHECK_EQ(agent_say(&s.b, &s.f,
				   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				   "\"params\":{\"name\":\"mcp__git__t\"," AGENT_META "}}",
				   5),
			 1);
		CHECK(fleet_answer_kept(git, 1, rows[i].from));
		CHECK(strstr(agent_last(&s.b), rows[i].from + 1)); /* behind resultType */
	}
}

/* --- what an abort is ------------------------------------------------------------------------ */

/* A47 B54 U18 */
/* Not a failure: not in the log, not counted as failed, and nothing is probed or restarted. */
TEST(an_abort_is_not_counted_as_a_failure)
{
	const struct mp_stats *stats;
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__t"), 0), 1);
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":1}}",
			   0),
		 0);
	fleet_advance(&s.f, 10000);
	stats = fleet_stats(&s.f, "git");
	CHECK(stats != NULL);
	CHECK_EQ(stats->by_outcome[MP_OUTCOME_CANCELLED], 1);
	CHECK_EQ(fleet_count_events(&s.f, "git", "call-failed"), 0);
	CHECK_EQ(fleet_count_events(&s.f, "git", "checking"), 0);
	CHECK_EQ(fleet_get(&s.f, "git")->lives, 1);
	CHECK_TEXT(agent_last(&s.a), ""); /* its stream ended, without a word */
}

/* --- a reload, looked at all the time -------------------------------------------------------- */

/* B58 */
/* Whenever the agent asks, what is gone and what is new never stand beside each other. */
TEST(no_list_has_old_and_new_of_a_reload)
{
	int old = 0, new = 0;
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	fleet_get(&s.f, "git")->prepare_ms = 20;
	CHECK(fleet_reload(&s.f, "{\"mcpServers\":{\"git\":{\"command\":\"y\"},"
				 "\"web\":{\"command\":\"z\"}}}"));
	for (int ms = 0; ms < 400; ms++) {
		bool has_old, has_new;

		if (ms == 5)
			mp_sessions_note_workspace(s.sessions, s.f.workspace);
		agent_forget(&s.a);
		(void)agent_say(&s.a, &s.f, list, 0);
		fleet_advance(&s.f, 1);
		has_old = agent_heard_text(&s.a, "mcp__files__t");
		has_new = agent_heard_text(&s.a, "mcp__web__t");
		CHECK(!(has_old && has_new));
		CHECK(!(has_old && new));
		old += has_old;
		new += has_new;
	}
	CHECK(old > 0 && new > 0);
}

/* --- profiles -------------------------------------------------------------------------------- */

/* C24 E50 A54 */
/* A private stdio server that is gone: who brings it back? */
TEST(who_restarts_a_crashed_server)
{
	static const struct {
		const char *settings;
		int lives;
	} cases[] = {
		{"{}", 2},
		{"{\"profile\":\"netdata\",\"mode\":\"session\"}", 2},
		{"{\"profile\":\"omp\"}", 1},
		{"{\"profile\":\"claude\"}", 1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		char json[200];
		TWO_SERVERS(s);

		snprintf(json, sizeof(json),
			 "{\"mcpServers\":{\"git\":{\"command\":\"y\"}},\"mcpool\":%s}",
			 cases[i].settings);
		CHECK(two_servers_open(&s, json, MP_SESSION_ONE_STREAM));
		CHECK(agent_initialize(&s.a, &s.f));
		fleet_advance(&s.f, 300);
		CHECK_EQ(agent_say(&s.a, &s.f, call("1", "git__t"), 0), 1);
		fleet_advance(&s.f, 300);
		CHECK(strstr(agent_last(&s.a), "\"id\":1,\"result\""));
		CHECK_EQ(fleet_get(&s.f, "git")->lives, 1);
		fleet_die(fleet_get(&s.f, "git"));
		fleet_advance(&s.f, 30000);
		CHECK_EQ(fleet_get(&s.f, "git")->lives, cases[i].lives);
		CHECK_EQ(agent_say(&s.a, &s.f, call("2", "git__t"), 0), 1);
		fleet_settle(&s.f);
		CHECK(strstr(agent_last(&s.a),
			     cases[i].lives == 2 ? "\"id\":2,\"result\"" : "and is not restarted"));
		CHECK_EQ(mp_workspace_reconnect(s.f.workspace, 0, 0, NULL), 0); /* a hand */
		fleet_advance(&s.f, 1000);
		CHECK_EQ(agent_say(&s.a, &s.f, call("3", "git__t"), 0), 1);
		fleet_settle(&s.f);
		CHECK(strstr(agent_last(&s.a), "\"id\":3,\"result\""));
		CHECK_EQ(fleet_get(&s.f, "git")->lives, cases[i].lives + 1);
	}
}

/* A44 E16 */
/* Every style finds the tool, whichever one is listed. */
TEST(the_other_styles_are_aliases)
{
	static const char *const names[] = {"mcp__git__t", "mcp_git_t", "git__t", "git/t", "git.t"};
	TWO_SERVERS(s);

	CHECK(two_servers_open(&s, two, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		agent_forget(&s.a);
		CHECK_EQ(agent_say(&s.a, &s.f, call("5", names[i]), 0), 1);
		CHECK(strstr(agent_last(&s.a), "\"id\":5,\"result\""));
		CHECK_EQ(fleet_get(&s.f, "git")->calls, (int)i + 1);
	}
}
