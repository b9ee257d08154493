/*
 * test_contradictions.c - where the seeds say different things (rows X): the same event under each
 * profile.
 */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "pool/gate.h"
#include "process/environment.h"
#include "session/text.h"
#include "two_servers.h"

enum { DEFAULT, OMP, CLAUDE, NETDATA, PROFILES };

static const char *const profiles[PROFILES] = {"default", "omp", "claude", "netdata"};

/* The server "git" with these keys under a profile, with these settings. */
static const char *with(int profile, const char *keys, const char *settings)
{
	static char json[600];

	snprintf(json, sizeof(json),
		 "{\"mcpServers\":{\"git\":{%s}},\"mcpool\":{\"profile\":\"%s\"%s}}", keys,
		 profiles[profile], settings);
	return json;
}

#define STDIO  "\"command\":\"y\""
#define REMOTE "\"url\":\"http://127.0.0.1:1/mcp\""

static const struct mp_settings *get_settings(struct fleet *f)
{
	return &mp_workspace_get_set(f->workspace)->settings;
}

/* --- names ----------------------------------------------------------------------------------- */

#define NAMING(style) ",\"naming\":\"" style "\""

/* B42 X1 */
HEAVY_TEST(a_tool_has_the_name_of_its_profile_and_the_others_as_aliases)
{
	static const char *const names[PROFILES] = {"mcp__git__t", "mcp_git_t", "mcp__git__t",
						    "git__t"};

	for (int i = 0; i < PROFILES; i++) {
		char wanted[40];
		TWO_SERVERS(s);

		CHECK(two_servers_open(&s, with(i, STDIO, ""), MP_SESSION_ONE_STREAM));
		CHECK(agent_initialize(&s.a, &s.f));
		fleet_advance(&s.f, 300);
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
		snprintf(wanted, sizeof(wanted), "\"name\":\"%s\"", names[i]);
		CHECK(strstr(agent_last(&s.a), wanted));
		for (int k = 0; k < PROFILES; k++) {
			CHECK_EQ(agent_say(&s.a, &s.f, call("2", names[k]), 0), 1);
			CHECK(strstr(agent_last(&s.a), "\"id\":2,\"result\""));
		}
		CHECK_EQ(fleet_get(&s.f, "git")->calls, PROFILES);
	}
	for (int i = 0; i < PROFILES; i++) { /* the setting decides, whatever the profile */
		TWO_SERVERS(s);

		CHECK(two_servers_open(
			&s,
			with(i, STDIO,
			     i == NETDATA ? NAMING("mcp_server_tool") : NAMING("server__tool")),
			MP_SESSION_ONE_STREAM));
		CHECK(agent_initialize(&s.a, &s.f));
		fleet_advance(&s.f, 300);
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
		CHECK(strstr(agent_last(&s.a),
			     i == NETDATA ? "\"name\":\"mcp_git_t\"" : "\"name\":\"git__t\""));
	}
}

/* --- restarts -------------------------------------------------------------------------------- */

/* Up for session 7, then lost for an hour. Returns the number of attempts; -1: it went wrong. */
static int count_attempts(const char *json, int64_t *ret_wait_ms)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_status s;

	if (!fleet_init(&f) || !fleet_open(&f, json) || !fleet_call(&f, "git", 7, 0, &r))
		return -1;
	fleet_settle(&f);
	if (r.outcome != MP_OUTCOME_ANSWERED)
		return -1;
	fleet_get(&f, "git")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "git"));
	fleet_advance(&f, 3600000);
	fleet_status(&f, "git", &s);
	*ret_wait_ms = s.next_at_ms < 0 ? -1 : s.next_at_ms - s.failed_at_ms;
	return fleet_get(&f, "git")->prepares - 1;
}

/* X2 X4 C11 */
HEAVY_TEST(a_lost_server_is_reconnected_as_often_as_its_profile_says)
{
	static const struct {
		int profile;
		const char *keys;
		int least, most;
		int64_t wait_ms; /* then, for the next one; -1: it was given up */
	} cases[] = {
		{OMP, STDIO, 0, 0, -1},
		{OMP, REMOTE, 0, 0, -1},
		{CLAUDE, STDIO, 0, 0, -1},
		{CLAUDE, REMOTE, 5, 5, -1},
		{NETDATA, STDIO, 60, 70, 60000},
		{NETDATA, REMOTE, 60, 70, 60000},
		{NETDATA, STDIO ",\"shared\":false", 1, 1, -1},
		{DEFAULT, STDIO, 60, 70, 60000}, /* slower, and no end */
		{DEFAULT, REMOTE ",\"restart\":{\"jitter\":false}", 60, 70, 60000},
		{DEFAULT, STDIO ",\"restart\":{\"mode\":\"none\"}", 0, 0, -1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		int64_t wait_ms = 0;
		int n = count_attempts(with(cases[i].profile, cases[i].keys, ""), &wait_ms);

		CHECK(n >= 0);
		CHECK(n >= cases[i].least && n <= cases[i].most);
		CHECK_EQ(wait_ms, cases[i].wait_ms);
	}
}

/* X3 X2 */
HEAVY_TEST(a_process_that_ends_is_restarted_at_once_or_not_at_all)
{
	static const struct {
		int profile;
		const char *settings;
		int lives;
	} cases[] = {
		{DEFAULT, "", 2},
		{OMP, "", 1},
		{CLAUDE, "", 1},
		{NETDATA, "", 2},
		{DEFAULT, ",\"restart\":{\"mode\":\"none\"}", 1}, /* the mode decides */
		{NETDATA, ",\"restart\":{\"mode\":\"remote\"}", 1},
		{CLAUDE, ",\"restart\":{\"mode\":\"relentless\",\"schedule\":[0]}", 2},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(cases[i].profile, STDIO, cases[i].settings)));
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_settle(&f);
		fleet_die(fleet_get(&f, "git"));
		fleet_settle(&f); /* no time passes */
		CHECK_EQ(fleet_get(&f, "git")->lives, cases[i].lives);
		fleet_advance(&f, 600000);
		CHECK_EQ(fleet_get(&f, "git")->lives, cases[i].lives);
	}
}

/* X21 */
HEAVY_TEST(callers_wait_for_a_restart_or_fail_at_once)
{
	static const int restarting[] = {DEFAULT, CLAUDE, NETDATA, DEFAULT, NETDATA};
	static const bool waits[] = {true, false, false, false, true};
	static const char *const settings[] = {"", "", "", ",\"restart\":{\"callers\":\"fail\"}",
					       ",\"restart\":{\"callers\":\"wait\"}"};

	for (size_t i = 0; i < MP_ARRAY_LEN(restarting); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(restarting[i], REMOTE, settings[i])));
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_settle(&f);
		fleet_get(&f, "git")->prepare_ms = 4000;
		fleet_die(fleet_get(&f, "git"));
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_settle(&f);
		CHECK_EQ(r.answers, waits[i] ? 0 : 1);
		fleet_advance(&f, 10000);
		CHECK_EQ(r.answers, 1);
		CHECK_EQ(r.outcome, waits[i] ? MP_OUTCOME_ANSWERED : MP_OUTCOME_NOT_SENT);
		CHECK(waits[i] || r.code == MCPOOL_ERESTARTING);
	}
}

/* --- the start ------------------------------------------------------------------------------- */

static void count_one(void *u)
{
	++*(int *)u;
}

/* X5 */
HEAVY_TEST(servers_without_a_list_block_come_late_or_are_waited_for)
{
	static const int64_t opens_ms[PROFILES] = {250, 90000, 0, 60000};

	for (int i = 0; i < PROFILES; i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		const struct mp_startup *startup;
		struct mp_gate_options options = {.due = MP_GATE_DUE_EAGER};
		struct mp_gate *gate;
		int opened = 0, before;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO ",\"timeout\":100000", ",\"mode\":\"shared\"")));
		fleet_get(&f, "git")->prepare_ms = 90000;
		startup = &get_settings(&f)->startup;
		options.window_ms = startup->window_ms;
		options.uncached = startup->uncached;
		options.max_wait_ms = startup->max_wait_ms;
		gate = mp_gate_open(f.workspace, &options, count_one, &opened);
		if (opens_ms[i] > 0)
			fleet_advance(&f, opens_ms[i] - 1);
		before = opened;
		fleet_advance(&f, 1);
		mp_gate_free(gate);
		CHECK_EQ(before, 0);
		CHECK_EQ(opened, 1);
		CHECK_TEXT(fleet_state(&f, "git"), i == OMP ? "connected" : "pending");
	}
}

/* X7 */
HEAVY_TEST(health_is_looked_at_when_the_profile_says_so)
{
	for (int i = 0; i < PROFILES; i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;
		int at_start = i == NETDATA ? 1 : 0;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO, "")));
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_advance(&f, (int64_t)24 * 3600 * 1000); /* no monitor */
		CHECK_EQ(fleet_get(&f, "git")->pings, at_start);
		fleet_get(&f, "git")->holds_calls = true;
		CHECK(fleet_call(&f, "git", 7, 1000, &r));
		fleet_advance(&f, 1000);
		CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
		CHECK_EQ(fleet_get(&f, "git")->pings, at_start + 1);
		CHECK_EQ(fleet_get(&f, "git")->lives, 1);
	}
	for (int i = 0; i < PROFILES; i++) { /* the setting decides, whatever the profile */
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO,
					  i == NETDATA ? ",\"probeAtStart\":false"
						       : ",\"probeAtStart\":true")));
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_settle(&f);
		CHECK_EQ(r.answers, 1);
		CHECK_EQ(fleet_get(&f, "git")->pings, i == NETDATA ? 0 : 1);
	}
}

/* X16 */
HEAVY_TEST(a_child_inherits_or_gets_what_is_configured)
{
	static char *const ours[] = {"PATH=/bin", "GITHUB_TOKEN=t", NULL};
	static char *const own[] = {"OWN=1", NULL};

	for (int i = 0; i < PROFILES; i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		char **env;
		bool has_ours = false, has_own = false;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO, "")));
		env = mp_environment_build(
			(enum mp_environment)get_settings(&f)->tuning.environment, ours, own);
		for (size_t k = 0; env && env[k]; k++) {
			has_ours |= strcmp(env[k], "GITHUB_TOKEN=t") == 0;
			has_own |= strcmp(env[k], "OWN=1") == 0;
		}
		mp_environment_free(env);
		CHECK(has_own);
		CHECK_EQ(has_ours, i != NETDATA);
	}
}

/* --- results --------------------------------------------------------------------------------- */

/* X22 */
HEAVY_TEST(texts_are_joined_by_blank_lines_or_bare)
{
	for (int i = 0; i < PROFILES; i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		MP_CLEANUP(mp_buf_done) struct mp_buf out;
		bool is_error;

		mp_buf_init(&out, MP_KIB(4));
		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO, "")));
		CHECK_EQ(mp_text_project(MP_STR("{\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
						"{\"type\":\"text\",\"text\":\"b\"}]}"),
					 get_settings(&f)->result.join, &out, &is_error),
			 0);
		CHECK(mp_str_eq(mp_buf_get(&out), i == NETDATA ? MP_STR("ab") : MP_STR("a\n\nb")));
		mp_buf_clear(&out);
		CHECK_EQ(mp_text_project(MP_STR("{\"isError\":true,\"content\":[{\"type\":\"text\","
						"\"text\":\"no\"}]}"),
					 get_settings(&f)->result.join, &out, &is_error),
			 0);
		CHECK_STR(mp_buf_get(&out), "Error: no");
	}
	for (int i = 0; i < PROFILES; i++) { /* the setting decides, whatever the profile */
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, with(i, STDIO, ",\"result\":{\"join\":\" + \"}")));
		CHECK_TEXT(get_settings(&f)->result.join, " + ");
	}
}

/* X24 */
/* The catalog is kept; what a call returns is not. */
HEAVY_TEST(equal_calls_reach_the_server_each_time)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, with(NETDATA, STDIO, "")));
	for (int i = 0; i < 2; i++) {
		CHECK(fleet_call(&f, "git", 7, 0, &r));
		fleet_settle(&f);
		CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	}
	CHECK_EQ(fleet_get(&f, "git")->calls, 2);
	CHECK_EQ(fleet_get(&f, "git")->lists, 1);
}

/* A47 X35 */
HEAVY_TEST(a_failed_call_is_content_or_an_error)
{
	static const char *const names[PROFILES] = {"mcp__git__t", "mcp_git_t", "mcp__git__t",
						    "git__t"};

	for (int k = 0; k < 2 * PROFILES; k++) {
		int i = k % PROFILES;
		bool turned = k >= PROFILES; /* by the setting, whatever the profile */
		TWO_SERVERS(s);

		CHECK(two_servers_open(&s,
				       with(i, STDIO,
					    !turned    ? ""
					    : i == OMP ? ",\"result\":{\"errors\":\"protocol\"}"
						       : ",\"result\":{\"errors\":\"content\"}"),
				       MP_SESSION_ONE_STREAM));
		CHECK(agent_initialize(&s.a, &s.f));
		fleet_advance(&s.f, 300);
		fleet_get(&s.f, "git")->holds_calls = true;
		CHECK_EQ(agent_say(&s.a, &s.f, call("1", names[i]), 0), 1);
		fleet_die(fleet_get(&s.f, "git"));
		fleet_settle(&s.f);
		if ((i == OMP) != turned) {
			CHECK(strstr(agent_last(&s.a), "\"text\":\"MCP error: "));
			CHECK(strstr(agent_last(&s.a), "\"isError\":true"));
		} else {
			CHECK(strstr(agent_last(&s.a),
				     "\"error\":{\"code\":1003,\"message\":\"MCP error: "));
		}
	}
}
