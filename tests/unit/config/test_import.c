/*
 * test_import.c - another tool's entry in our own shape: it means the same there, or is refused.
 */
#include "home.h"

#include "base/limits.h"
#include "config/read/import.h"

static bool into_project; /* where it is copied to */

/* The first entry of the set as we would write it; or why not. */
static const char *own(void)
{
	static char text[2000];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	MP_SET set = home_load(NULL);

	mp_buf_init(&out, MP_KIB(64));
	if (set->n == 0)
		return "nothing";
	if (set->entries[0]->invalid)
		return set->entries[0]->invalid;
	if (mp_import_write_entry(set, set->entries[0], into_project, &out, &why) < 0)
		return why.message;
	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(mp_buf_get(&out)));
	return text;
}

static const char *own_of(const char *file, const char *text)
{
	return put(file, text) ? own() : "not written";
}

/* B75 */
TEST(the_type_is_always_written)
{
	CHECK(home_make());
	CHECK_TEXT(own_of("home/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"command\": \"npx\", \"args\": [\"-y\"], "
			  "\"env\": {\"K\": \"${env:V}\"}, \"disabled\": true}}}"),
		   "{\"type\":\"stdio\",\"command\":\"npx\",\"args\":[\"-y\"],\"env\":{\"K\":\"${V}"
		   "\"},"
		   "\"enabled\":false}");
	CHECK_TEXT(own_of("home/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"url\": \"https://a\"}}}"),
		   "{\"type\":\"http\",\"url\":\"https://a\"}");
	CHECK_TEXT(own_of("home/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"transport\": \"sse\", "
			  "\"url\": \"https://a\"}}}"),
		   "{\"type\":\"sse\",\"url\":\"https://a\"}");
	CHECK_TEXT(own_of("home/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"url\": \"wss://a\"}}}"),
		   "{\"type\":\"websocket\",\"url\":\"wss://a\"}");
}

HEAVY_TEST(codex)
{
	char want[600];

	CHECK(home_make());
	CHECK_TEXT(
		own_of("home/.codex/config.toml",
		       "[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"T\"\n"
		       "http_headers = { X = \"y\", authorization = \"old\", Z = \"old\" }\n"
		       "env_http_headers = { z = \"V\" }\ntool_timeout_sec = 2\n"),
		"{\"type\":\"http\",\"url\":\"https://a\",\"headers\":{\"X\":\"y\",\"z\":\"${V}\","
		"\"Authorization\":\"Bearer ${T}\"},\"toolTimeout\":2000}");
	CHECK_TEXT(own_of("home/.codex/config.toml",
			  "[mcp_servers.a]\ncommand = \"c\"\nenv_vars = [\"A\", \"B\", \"A\"]\n"
			  "env = { A = \"1\" }\n"),
		   "{\"type\":\"stdio\",\"command\":\"c\",\"args\":[],\"env\":{\"B\":\"${B:-}\","
		   "\"A\":\"1\"}}");
	snprintf(want, sizeof(want),
		 "{\"type\":\"stdio\",\"command\":\"%s/bin/s\",\"args\":[],\"cwd\":\"%s/w\"}",
		 in("home/.codex"), in("home/.codex"));
	CHECK_TEXT(own_of("home/.codex/config.toml",
			  "[mcp_servers.a]\ncommand = \"./bin/s\"\ncwd = \"w\"\n"),
		   want);
}

/* V01: what is a text there must not become a command here. */
HEAVY_TEST(an_exclamation_mark_is_no_command)
{
	CHECK(home_make());
	CHECK(strstr(
		own_of("home/.cursor/mcp.json",
		       "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"K\": "
		       "\"!important\"}}}}"),
		"has a value for K that begins with !, which our own file would run as a command"));
	CHECK(strstr(
		own_of("home/.cursor/mcp.json",
		       "{\"mcpServers\": {\"a\": {\"url\": \"https://a\", \"headers\": {\"K\": "
		       "\"!x\"}}}}"),
		"would run as a command"));
	CHECK(unlink(in("home/.cursor/mcp.json")) == 0);
	CHECK(strstr(
		own_of("home/.omp/mcp.json", /* there it is one */
		       "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"K\": \"!x\"}}}}"),
		"{\"K\":\"!x\"}"));
}

HEAVY_TEST(what_would_be_a_placeholder_here_is_refused)
{
	CHECK(home_make());
	CHECK(!strstr(own_of("home/.codex/config.toml",
			     "[mcp_servers.a]\ncommand = \"c\"\nargs = [\"${HOME}\"]\n"),
		      "\"${HOME}\""));
	CHECK(put("home/.codex/config.toml", ""));
	CHECK(strstr(own_of("home/.config/Code/User/mcp.json",
			    "{\"servers\": {\"a\": {\"command\": \"${input:x}\"}}}"),
		     "input"));
}

HEAVY_TEST(a_project_s_relative_paths_still_lead_there)
{
	char want[400];

	CHECK(home_make());
	snprintf(want, sizeof(want),
		 "{\"type\":\"stdio\",\"command\":\"./"
		 "s\",\"args\":[],\"envFile\":\"%s\",\"cwd\":\"%s\"}",
		 in("project/x.env"), project_at);
	CHECK_TEXT(
		own_of("project/.cursor/mcp.json",
		       "{\"mcpServers\": {\"a\": {\"command\": \"./s\", \"envFile\": \"x.env\"}}}"),
		want);
	snprintf(want, sizeof(want),
		 "{\"type\":\"stdio\",\"command\":\"s\",\"args\":[],\"cwd\":\"%s/w\"}", project_at);
	CHECK_TEXT(own_of("project/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"command\": \"s\", \"cwd\": \"w\"}}}"),
		   want);
}

HEAVY_TEST(into_the_file_of_the_same_project_paths_stay_as_they_are)
{
	CHECK(home_make());
	into_project = true;
	CHECK_TEXT(own_of("project/.cursor/mcp.json",
			  "{\"mcpServers\": {\"a\": {\"command\": \"./s\", \"cwd\": \"w\", "
			  "\"envFile\": \"x.env\"}}}"),
		   "{\"type\":\"stdio\",\"command\":\"./s\",\"args\":[],\"envFile\":\"x.env\","
		   "\"cwd\":\"w\"}");
	into_project = false;
}

HEAVY_TEST(a_placeholder_may_be_a_whole_path)
{
	CHECK(home_make());
	CHECK_TEXT(own_of("project/opencode.json",
			  "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"c\"], \"cwd\": "
			  "\"{env:DIR}\"}}}"),
		   "{\"type\":\"stdio\",\"command\":\"c\",\"args\":[],\"cwd\":\"${DIR:-}\"}");
}

HEAVY_TEST(times_lists_and_auth)
{
	CHECK(home_make());
	CHECK_TEXT(
		own_of("home/.gemini/settings.json",
		       "{\"mcpServers\": {\"a\": {\"httpUrl\": \"https://a\", \"timeout\": 5, "
		       "\"includeTools\": [\"x\"], \"excludeTools\": [\"y\"], \"oauth\": "
		       "{\"clientId\": \"c\"}}}}"),
		"{\"type\":\"http\",\"url\":\"https://a\",\"timeout\":5,\"toolTimeout\":5,"
		"\"toolsAllowed\":[\"x\"],\"toolsDenied\":[\"y\"],\"oauth\":{\"clientId\":\"c\"}}");
}
