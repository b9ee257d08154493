/*
 * test_entry.c - one configured server: every tool's spelling, and the seed's rules and words.
 */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "config/values/entry.h"

struct desk {
	struct mp_arena arena;
	struct mp_settings s;
	struct mp_entry *e;
	char told[1000];
};

static void note(const struct mp_bind_problem *p, void *u)
{
	struct desk *d = u;
	size_t n = strlen(d->told);

	snprintf(d->told + n, sizeof(d->told) - n, "%s|", p->message);
}

static void tidy(struct desk *d)
{
	mp_arena_done(&d->arena);
}

static bool sit_down(struct desk *d)
{
	mp_arena_init(&d->arena, MP_MIB(1));
	return mp_settings_init(&d->s, &d->arena) == 0;
}

#define DESK                 \
	MP_CLEANUP(tidy)     \
	struct desk d = {0}; \
	CHECK(sit_down(&d))

/* The text is gone when this returns: nothing of an entry may hang on it. */
static bool read_as(struct desk *d, const char *name, unsigned quirks, const char *json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_origin origin = {.file = "/f",
				   .real = "/f",
				   .line = 3,
				   .tool = "x",
				   .label = "X",
				   .root = "",
				   .scope = "",
				   .quirks = quirks};
	char text[2000];
	bool ok;

	d->told[0] = '\0';
	d->e = NULL;
	snprintf(text, sizeof(text), "%s", json);
	mp_tape_init(&t, MP_TAPE_JSONC);
	ok = mp_tape_parse(&t, mp_str_of(text), NULL) == 0 &&
	     mp_entry_read(mp_str_of(name), &t, MP_ROOT, &origin, &d->s, &d->arena, note, d,
			   &d->e) == 0;
	memset(text, '?', sizeof(text));
	return ok;
}

static bool reads(struct desk *d, const char *json)
{
	return read_as(d, "x", 0, json) && !d->e->invalid;
}

/* Why it is invalid. */
static const char *refused(struct desk *d, const char *json)
{
	return !read_as(d, "x", 0, json) ? "not read" : d->e->invalid ? d->e->invalid : "";
}

/* B2 B29 E2 A15 B27 */
TEST(a_stdio_entry)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"npx\",\"args\":[\"-y\",\"m\"],\"env\":{\"A\":\"1\"},"
			"\"cwd\":\"/w\",\"envFile\":\"/f.env\"}"));
	CHECK_EQ(d.e->kind, MP_KIND_STDIO);
	CHECK_EQ(d.e->argc, 3);
	CHECK_TEXT(d.e->argv[0], "npx");
	CHECK_TEXT(d.e->argv[1], "-y");
	CHECK_TEXT(d.e->argv[2], "m");
	CHECK(!d.e->argv[3]);
	CHECK_EQ(d.e->env.n, 1);
	CHECK_TEXT(d.e->env.items[0].key, "A");
	CHECK_TEXT(d.e->env.items[0].value, "1");
	CHECK_TEXT(d.e->cwd, "/w");
	CHECK_TEXT(d.e->env_file, "/f.env");
	CHECK(d.e->enabled && !d.e->address && !d.e->url);
	CHECK_EQ(d.e->headers.n, 0); /* what is absent stays absent */
	CHECK_EQ(d.e->auth_json.len, 0);
	CHECK_TEXT(d.told, "");
	CHECK(reads(&d, "{\"command\":\"npx\"}"));
	CHECK_EQ(d.e->argc, 1);
	CHECK_EQ(d.e->env.n, 0);
	CHECK(!d.e->cwd && !d.e->env_file);
}

/* B3 B4 B14 B27 E1 E3 U1 N1 B29 E54 */
TEST(a_remote_entry_of_each_kind)
{
	static const struct {
		const char *json;
		enum mp_kind kind;
	} cases[] = {
		{"{\"url\":\"https://a/mcp\"}", MP_KIND_HTTP},
		{"{\"type\":\"http\",\"url\":\"https://a/mcp\"}", MP_KIND_HTTP},
		{"{\"type\":\"streamable-http\",\"url\":\"https://a/mcp\"}", MP_KIND_HTTP},
		{"{\"type\":\"sse\",\"url\":\"http://a/sse\"}", MP_KIND_SSE},
		{"{\"transport\":\"sse\",\"url\":\"http://a/x\"}", MP_KIND_SSE},
		{"{\"url\":\"wss://a\"}", MP_KIND_WEBSOCKET},
		{"{\"type\":\"websocket\",\"url\":\"wss://a\"}", MP_KIND_WEBSOCKET},
		{"{\"type\":\"ws\",\"url\":\"WS://a\"}", MP_KIND_WEBSOCKET},
		{"{\"url\":\"ws://a\"}", MP_KIND_WEBSOCKET},
		{"{\"url\":\"Wss://a\"}", MP_KIND_WEBSOCKET},             /* RFC 3986, 3.1 */
		{"{\"type\":\"http\",\"url\":\"ws://a\"}", MP_KIND_HTTP}, /* the type decides */
		{"{\"type\":\"ws\",\"url\":\"http://a\"}", MP_KIND_WEBSOCKET},
		{"{\"type\":\"remote\",\"url\":\"https://a/mcp\"}", MP_KIND_HTTP},
		{"{\"type\":\"remote\",\"url\":\"https://a/sse\"}", MP_KIND_SSE},
		{"{\"serverUrl\":\"https://a/mcp\"}", MP_KIND_HTTP},
		{"{\"httpUrl\":\"https://a/mcp\",\"url\":\"https://b/sse\"}", MP_KIND_HTTP},
		{"{\"url\":\"${BASE}/mcp\"}", MP_KIND_HTTP},
		{"{\"url\":\"{env:BASE}/mcp\"}", MP_KIND_HTTP},
	};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		CHECK(reads(&d, cases[i].json));
		CHECK_EQ(d.e->kind, cases[i].kind);
		CHECK(d.e->address && !d.e->argv);
	}
	CHECK(reads(&d, "{\"httpUrl\":\"https://a/mcp\",\"url\":\"https://b/sse\"}"));
	CHECK_TEXT(d.e->address, "https://a/mcp");
	for (int i = 0; i < 3; i++) { /* headers, whatever the transport */
		static const char *const jsons[] = {
			"{\"type\":\"http\",\"url\":\"https://a\",\"headers\":{\"H\":\"v\"}}",
			"{\"type\":\"sse\",\"url\":\"https://a\",\"headers\":{\"H\":\"v\"}}",
			"{\"type\":\"ws\",\"url\":\"wss://a\",\"headers\":{\"H\":\"v\"}}"};

		CHECK(reads(&d, jsons[i]));
		CHECK_TEXT(d.e->address, i < 2 ? "https://a" : "wss://a");
		CHECK_EQ(d.e->headers.n, 1);
		CHECK_TEXT(d.e->headers.items[0].key, "H");
		CHECK_TEXT(d.e->headers.items[0].value, "v");
	}
}

/* B6 B7 B8 B9 B16 A21 B2 B27 U1 B3 B4 E1 E54 */
TEST(the_words_of_the_seed)
{
	DESK;

	CHECK_TEXT(refused(&d, "{\"command\":\"c\",\"url\":\"https://a\"}"),
		   "Server \"x\": both \"command\" and \"url\" are set - server should be either "
		   "stdio (command) OR http/sse (url), not both");
	CHECK_TEXT(refused(&d, "{\"type\":\"stdio\",\"url\":\"https://a\"}"),
		   "Server \"x\": stdio server requires \"command\" field");
	CHECK_TEXT(refused(&d, "{}"), "Server \"x\": stdio server requires \"command\" field");
	CHECK_TEXT(refused(&d, "{\"command\":\"\"}"),
		   "Server \"x\": stdio server requires \"command\" field");
	CHECK_TEXT(refused(&d, "{\"command\":[]}"),
		   "Server \"x\": stdio server requires \"command\" field");
	CHECK_TEXT(refused(&d, "{\"type\":\"http\",\"command\":\"c\"}"),
		   "Server \"x\": http server requires \"url\" field");
	CHECK_TEXT(refused(&d, "{\"type\":\"sse\"}"),
		   "Server \"x\": sse server requires \"url\" field");
	CHECK_TEXT(refused(&d, "{\"type\":\"ws\",\"url\":\"\"}"),
		   "Server \"x\": websocket server requires \"url\" field");
	CHECK_TEXT(refused(&d, "{\"type\":\"y\",\"command\":\"c\"}"),
		   "Server \"x\": unknown server type \"y\" (known are stdio, http, sse and "
		   "websocket)");
	CHECK(strstr(refused(&d, "{\"url\":\"ftp://a\"}"), "must begin with http://"));
	CHECK(strstr(refused(&d, "{\"url\":\"https://\"}"), "must begin with http://"));
	CHECK_TEXT(refused(&d, "{\"url\":\"https://nobody.invalid:1/\"}"), ""); /* not reached */
	CHECK_TEXT(refused(&d, "{\"command\":\"/nonexistent/c\",\"cwd\":\"/nonexistent\"}"), "");
}

/* U1 E1 N1 */
TEST(a_command_may_be_a_list)
{
	DESK;

	CHECK(reads(&d, "{\"type\":\"local\",\"command\":[\"npx\",\"-y\"],\"args\":[\"m\"],"
			"\"environment\":{\"A\":\"1\"}}"));
	CHECK_EQ(d.e->kind, MP_KIND_STDIO);
	CHECK_EQ(d.e->argc, 3);
	CHECK_TEXT(d.e->argv[2], "m");
	CHECK_EQ(d.e->env.n, 1);
	CHECK_TEXT(d.told, "");
	CHECK(reads(&d, "{\"type\":\"stdio\",\"command\":\"c\"}"));
	CHECK_EQ(d.e->kind, MP_KIND_STDIO);
	CHECK(strstr(refused(&d, "{\"command\":[\"a\",1]}"), "a string or a list of strings"));
	CHECK(strstr(refused(&d, "{\"command\":5}"), "but is a number"));
	CHECK(strstr(refused(&d, "{\"command\":null}"), "but is null"));
}

static const char *check(const char *name, enum mp_name_set set)
{
	return mp_entry_check_name(mp_str_of(name), set);
}

/* B11 B12 O14 B74 X28 */
TEST(names)
{
	static const char *const wrong[] = {"a  b", " a",       "a ",  "a!",
					    "a/b",  "\xc3\xa9", "a\n", "a\"b"};
	char long_name[102];

	memset(long_name, 'a', 101);
	long_name[101] = '\0';
	for (enum mp_name_set set = MP_NAMES_WIDE; set <= MP_NAMES_STRICT; set++) {
		CHECK_TEXT(check("", set), "Server name cannot be empty");
		CHECK_TEXT(check(long_name, set), "Server name is too long (max 100 characters)");
		CHECK(!check(long_name + 1, set));
	}
	CHECK(!check("a.b:c-D_9 x", MP_NAMES_WIDE));
	for (size_t i = 0; i < MP_ARRAY_LEN(wrong); i++)
		CHECK_TEXT(check(wrong[i], MP_NAMES_WIDE),
			   "Server name can only contain letters, numbers, dash, underscore, dot, "
			   "colon, and single spaces");
	CHECK(mp_entry_check_name((struct mp_str){"a\0b", 3}, MP_NAMES_WIDE));
	CHECK(mp_entry_is_plain_name(MP_STR("a-B_9")));
	CHECK(!mp_entry_is_plain_name(MP_STR("a.b")) && !mp_entry_is_plain_name(MP_STR("a b")));
}

/* B13 X28 */
TEST(the_omp_profile_has_strict_names)
{
	static const char *const wrong[] = {"a b", "a:b", "a!", "a/b", "\xc3\xa9", "a\n"};
	static const char *const others[] = {"default", "claude", "netdata"};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++) {
		CHECK(mp_settings_impose(&d.s, others[i], &d.arena) == 0);
		CHECK_EQ(d.s.names, MP_NAMES_WIDE);
		CHECK(read_as(&d, "a b", 0, "{\"command\":\"c\"}") && !d.e->invalid);
		CHECK(read_as(&d, "a:b", 0, "{\"command\":\"c\"}") && !d.e->invalid);
		CHECK(read_as(&d, "a  b", 0, "{\"command\":\"c\"}") && d.e->invalid);
	}
	CHECK(mp_settings_impose(&d.s, "omp", &d.arena) == 0);
	CHECK(read_as(&d, "azAZ09_.-", 0, "{\"command\":\"c\"}") && !d.e->invalid);
	for (size_t i = 0; i < MP_ARRAY_LEN(wrong); i++) {
		CHECK(read_as(&d, wrong[i], 0, "{\"command\":\"c\"}"));
		CHECK_TEXT(d.e->invalid, "Server name can only contain letters, numbers, dash, "
					 "underscore, and dot");
	}
}

/* B11 */
TEST(a_wrong_name_is_a_reason_but_no_obstacle)
{
	DESK;

	CHECK(read_as(&d, "a!", 0, "{\"command\":\"c\"}"));
	CHECK(strstr(d.e->invalid, "Server name can only contain"));
	CHECK_TEXT(d.e->name, "a!");
	CHECK(read_as(&d, "", 0, "{\"command\":\"c\"}"));
	CHECK_TEXT(d.e->invalid, "Server name cannot be empty");
}

/* B5 B33 */
TEST(wrong_types_of_enabled_and_timeout_are_warnings)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"c\",\"enabled\":\"no\",\"timeout\":\"soon\"}"));
	CHECK(d.e->enabled);
	CHECK_EQ(d.e->tuning.timeout_ms, 30000);
	CHECK_TEXT(d.told, "\"enabled\" must be true or false, but is a string|"
			   "\"timeout\" must be a whole number of milliseconds or a time such "
			   "as \"30s\", but is a string|");
	CHECK(reads(&d, "{\"command\":\"c\",\"timeout\":\"7s\"}")); /* use-P8 */
	CHECK_EQ(d.e->tuning.timeout_ms, 7000);
	CHECK_TEXT(d.told, "");
	CHECK(reads(&d, "{\"command\":\"c\",\"enabled\":false,\"timeout\":5}"));
	CHECK(!d.e->enabled);
	CHECK_EQ(d.e->tuning.timeout_ms, 5);
	CHECK_TEXT(d.told, "");
}

/* B5 B29 */
TEST(every_kind_may_have_enabled_timeout_and_auth)
{
	static const char *const kinds[] = {"\"command\":\"c\",\"args\":[\"a\"]",
					    "\"type\":\"http\",\"url\":\"https://a\"",
					    "\"type\":\"sse\",\"url\":\"https://a\"",
					    "\"type\":\"websocket\",\"url\":\"wss://a\""};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(kinds); i++) {
		char json[300];

		snprintf(json, sizeof(json),
			 "{%s,\"enabled\":false,\"timeout\":7000,"
			 "\"auth\":{\"type\":\"oauth\",\"credentialId\":\"k\"}}",
			 kinds[i]);
		CHECK(reads(&d, json));
		CHECK(!d.e->enabled);
		CHECK_EQ(d.e->tuning.timeout_ms, 7000);
		CHECK_STR(d.e->auth_json, "{\"type\":\"oauth\",\"credentialId\":\"k\"}");
		CHECK_TEXT(i ? d.e->address : d.e->argv[1], i == 3 ? "wss://a"
							    : i    ? "https://a"
								   : "a");
		CHECK_TEXT(d.told, "");
	}
}

/* B33: native files coerce strings. */
TEST(one_tool_takes_strings_for_them)
{
	unsigned omp = MP_QUIRK_COERCE | MP_QUIRK_CALLS;
	DESK;

	CHECK(read_as(&d, "x", omp,
		      "{\"command\":\"c\",\"enabled\":\"FALSE\",\"timeout\":\"50\"}"));
	CHECK(!d.e->enabled);
	CHECK_EQ(d.e->tuning.timeout_ms, 50);
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 50);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "timeout"), "/f:3");
	CHECK_TEXT(d.told, "");
	CHECK(read_as(&d, "x", omp, "{\"command\":\"c\",\"enabled\":\"yes\",\"timeout\":\"-5\"}"));
	CHECK(d.e->enabled);
	CHECK_EQ(d.e->tuning.timeout_ms, 30000);
	CHECK(strstr(d.told, "enabled") && strstr(d.told, "timeout"));
	CHECK(read_as(&d, "x", omp, "{\"command\":\"c\",\"timeout\":\"99999999999\"}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 30000);
}

TEST(a_timeout_is_what_its_tool_means_by_it)
{
	DESK;

	CHECK(read_as(&d, "x", MP_QUIRK_ONLY_CALLS, "{\"command\":\"c\",\"timeout\":7000}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 30000);
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 7000);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "timeout"), "default");
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "toolTimeout"), "/f:3");
	CHECK(read_as(&d, "x", MP_QUIRK_CALLS,
		      "{\"command\":\"c\",\"timeout\":{\"startup\":1000,\"request\":2000}}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 1000);
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 2000);
	CHECK_TEXT(d.told, "");
	CHECK(read_as(&d, "x", MP_QUIRK_CALLS,
		      "{\"command\":\"c\",\"timeout\":{\"startup\":\"1\"}}"));
	CHECK(strstr(d.told, "timeout"));
}

TEST(disabled_is_the_other_way_round)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"c\",\"disabled\":true}") && !d.e->enabled);
	CHECK(reads(&d, "{\"command\":\"c\",\"disabled\":false}") && d.e->enabled);
	CHECK(reads(&d, "{\"command\":\"c\",\"disabled\":true,\"enabled\":true}") && d.e->enabled);
}

/* What is run or dialled must be right. */
TEST(wrong_types_of_what_is_run_are_reasons)
{
	static const char *const wrong[] = {
		"{\"command\":\"c\",\"args\":\"a\"}",
		"{\"command\":\"c\",\"args\":[1]}",
		"{\"command\":\"c\",\"env\":[\"A=1\"]}",
		"{\"command\":\"c\",\"env\":{\"A\":[]}}",
		"{\"command\":\"c\",\"cwd\":1}",
		"{\"command\":\"c\",\"type\":1}",
		"{\"command\":\"c\",\"envFile\":1}",
		"{\"url\":1}",
		"{\"url\":\"https://a\",\"headers\":{\"A\":1}}",
		"{\"url\":\"https://a\",\"headersHelper\":[]}",
		"{\"command\":\"a\\u0000b\"}",
		"{\"command\":[\"a\",\"a\\u0000b\"]}",
		"{\"command\":\"c\",\"environment\":{\"A\":1}}",
		"5",
		"null",
		"[]",
	};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(wrong); i++) {
		CHECK(read_as(&d, "x", 0, wrong[i]));
		CHECK(test_true(d.e->invalid && strncmp(d.e->invalid, "Server \"x\": ", 12) == 0,
				wrong[i], __FILE__, __LINE__));
		CHECK_EQ(d.e->connection.len, 0);
	}
}

/* VS Code: numbers are texts, and null is a variable that is not there. */
TEST(loose_values_of_variables)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"c\",\"env\":{\"N\":3,\"B\":true,\"Z\":null,\"S\":\"s\"}}"));
	CHECK_EQ(d.e->env.n, 3);
	CHECK_TEXT(d.e->env.items[0].value, "3");
	CHECK_TEXT(d.e->env.items[1].value, "true");
	CHECK_TEXT(d.e->env.items[2].key, "S");
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "env"), "/f:3");
}

/* V43 */
/* U22 */
TEST(a_tool_may_have_a_limit_of_its_own)
{
	DESK;

	CHECK(reads(&d,
		    "{\"command\":\"c\",\"toolResults\":{\"dump\":0,\"log\":\"4096\",\"x\":1024,"
		    "\"small\":3,\"odd\":true}}"));
	CHECK_TEXT(d.told,
		   "\"toolResults\" must hold numbers of bytes: 0 for no limit, or from 512|"
		   "\"toolResults\" must hold numbers of bytes: 0 for no limit, or from 512|");
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("dump"), 7), 0);
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("log"), 7), 4096);
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("x"), 7), 1024);
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("small"), 7), 7);
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("odd"), 7), 7);
	CHECK_EQ(mp_entry_get_result_limit(d.e, MP_STR("other"), 7), 7);
	CHECK(reads(&d, "{\"command\":\"c\",\"toolResults\":[]}"));
	CHECK(strstr(d.told, "toolResults"));
}

TEST(a_key_twice_is_a_reason)
{
	DESK;

	CHECK_TEXT(refused(&d, "{\"command\":\"a\",\"command\":\"b\"}"),
		   "Server \"x\": the key \"command\" occurs twice");
	CHECK_EQ(d.e->canonical.len, 0);
	CHECK(strstr(refused(&d, "{\"command\":\"a\",\"env\":{\"A\":\"1\",\"A\":\"2\"}}"),
		     "twice"));
}

/* E4 U20 */
TEST(spellings_of_tool_lists)
{
	static const char *const allowed[] = {"toolsAllowed",  "enabledTools",  "includeTools",
					      "tools_allowed", "enabled_tools", "include_tools"};
	static const char *const denied[] = {"toolsDenied",  "disabledTools",  "excludeTools",
					     "tools_denied", "disabled_tools", "exclude_tools"};
	DESK;

	for (size_t i = 0; i < 6; i++) {
		char json[200];

		snprintf(json, sizeof(json), "{\"command\":\"c\",\"%s\":[\"a*\"],\"%s\":[\"b\"]}",
			 allowed[i], denied[i]);
		CHECK(reads(&d, json));
		CHECK_EQ(d.e->tools_allowed.n, 1);
		CHECK_TEXT(d.e->tools_allowed.items[0], "a*");
		CHECK_TEXT(d.e->tools_denied.items[0], "b");
	}
}

/* E5 E6 E7 B29 */
TEST(what_netdata_adds)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"c\",\"shared\":false,\"healthProbe\":\"listTools\","
			"\"queue\":\"slow\",\"toolQueues\":{\"t\":\"fast\"}}"));
	CHECK_EQ(d.e->tuning.mode, MP_MODE_SESSION);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "mode"), "/f:3");
	CHECK_EQ(d.e->tuning.health_probe, MP_HEALTH_LIST_TOOLS);
	CHECK_TEXT(d.e->tuning.queue, "slow");
	CHECK_EQ(d.e->tool_queues.n, 1);
	CHECK_TEXT(d.e->tool_queues.items[0].key, "t");
	CHECK_TEXT(d.e->tool_queues.items[0].value, "fast");
	CHECK(reads(&d, "{\"command\":\"c\",\"mode\":\"session\"}"));
	CHECK_EQ(d.e->tuning.mode, MP_MODE_SESSION);
	CHECK(reads(&d, "{\"command\":\"c\",\"mode\":\"shared\"}"));
	CHECK_EQ(d.e->tuning.mode, MP_MODE_SHARED);
	CHECK(reads(&d, "{\"command\":\"c\"}"));
	CHECK_EQ(d.e->tuning.mode, MP_MODE_SHARED);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "mode"), "default");
	CHECK_EQ(d.e->tuning.health_probe, MP_HEALTH_PING);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "healthProbe"), "default");
	CHECK(reads(&d, "{\"command\":\"c\",\"shared\":true,\"healthProbe\":\"ping\"}"));
	CHECK_EQ(d.e->tuning.mode, MP_MODE_SHARED);
	CHECK_EQ(d.e->tuning.health_probe, MP_HEALTH_PING);
}

/* Codex */
TEST(seconds_and_names_of_variables)
{
	DESK;

	CHECK(reads(&d, "{\"command\":\"c\",\"startup_timeout_sec\":1.5,\"startup_timeout_ms\":7,"
			"\"tool_timeout_sec\":90,\"env_vars\":[\"A\",{\"name\":\"B\"},5,{}]}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 1500);
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 90000);
	CHECK_TEXT(mp_provenance_get(&d.e->provenance, "timeout"), "/f:3");
	CHECK_EQ(d.e->env_vars.n, 2);
	CHECK_TEXT(d.e->env_vars.items[1], "B");
	CHECK(reads(&d, "{\"command\":\"c\",\"startup_timeout_ms\":7}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 7);
	CHECK(reads(&d, "{\"command\":\"c\",\"startup_timeout_sec\":-1,\"tool_timeout_sec\":1e9}"));
	CHECK_EQ(d.e->tuning.timeout_ms, 30000);
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 300000);
	CHECK_TEXT(d.told, "\"startup_timeout_sec\" must be from 0 to 1000000|"
			   "\"tool_timeout_sec\" must be from 0 to 1000000|");
	CHECK(reads(&d, "{\"url\":\"https://a\",\"bearer_token_env_var\":\"T\","
			"\"http_headers\":{\"A\":\"1\"},\"env_http_headers\":{\"B\":\"V\"}}"));
	CHECK_TEXT(d.e->bearer_variable, "T");
	CHECK_TEXT(d.e->headers.items[0].key, "A");
	CHECK_TEXT(d.e->env_headers.items[0].value, "V");
}

TEST(which_timeout_is_which)
{
	DESK;

	CHECK(read_as(&d, "x", MP_QUIRK_CALLS, "{\"command\":\"c\",\"timeout\":5}"));
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 5);
	CHECK(read_as(&d, "x", MP_QUIRK_CALLS,
		      "{\"command\":\"c\",\"timeout\":5,\"toolTimeout\":6}"));
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 6);
	CHECK(read_as(&d, "x", 0, "{\"command\":\"c\",\"timeout\":5}"));
	CHECK_EQ(d.e->tuning.tool_timeout_ms, 300000);
}

TEST(unknown_keys_are_told_in_our_own_files_only)
{
	DESK;

	CHECK(read_as(&d, "x", MP_QUIRK_OWN, "{\"command\":\"c\",\"comand\":1}"));
	CHECK_TEXT(d.told, "\"comand\" is not a key that is known here|");
	CHECK(read_as(&d, "x", 0, "{\"command\":\"c\",\"alwaysAllow\":[]}"));
	CHECK_TEXT(d.told, "");
}

/* O12 U2 */
TEST(equal_connections_are_equal_texts)
{
	struct mp_str first;
	DESK;

	CHECK(reads(&d, "{\"type\":\"stdio\",\"command\":\"c\",\"args\":[\"1\"],\"env\":{}}"));
	first = d.e->connection;
	CHECK(reads(&d, "{\"command\":[\"c\",\"1\"],\"timeout\":5,\"enabled\":false}"));
	CHECK(mp_str_eq(first, d.e->connection));
	for (size_t i = 0; i < 9; i++) {
		static const char *const others[] = {
			"{\"command\":\"c\",\"args\":[\"2\"]}",
			"{\"command\":\"c\"}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"env\":{\"A\":\"1\"}}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"cwd\":\"/\"}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"envFile\":\"e\"}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"env_vars\":[\"A\"]}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"auth\":{\"type\":\"oauth\"}}",
			"{\"command\":\"c\",\"args\":[\"1\"],\"requestIdFormat\":\"string\"}",
			"{\"url\":\"https://c/1\"}",
		};

		CHECK(reads(&d, others[i]));
		CHECK(test_true(!mp_str_eq(first, d.e->connection), others[i], __FILE__, __LINE__));
	}
	CHECK(reads(&d, "{\"command\":\"c\",\"env\":{\"A\":\"1\",\"B\":\"2\"}}"));
	first = d.e->connection;
	CHECK(reads(&d, "{\"env\":{\"B\":\"2\",\"A\":\"1\"},\"command\":\"c\"}"));
	CHECK(mp_str_eq(first, d.e->connection));
	CHECK(reads(&d, "{\"url\":\"https://a\",\"headers\":{\"A\":\"1\"}}"));
	first = d.e->endpoint;
	CHECK(reads(&d, "{\"url\":\"https://a\",\"type\":\"sse\"}"));
	CHECK(mp_str_eq(first, d.e->endpoint));
}

/* U3 A17 B28 B76 X18 */
TEST(of_four_switches_the_strongest_speaks)
{
	static const char *x[] = {"x"};
	struct mp_settings s;
	DESK;

	s = d.s;
	CHECK(reads(&d, "{\"command\":\"c\",\"enabled\":false}"));
	CHECK(!mp_entry_is_on(d.e, &s, MP_TOGGLE_NONE));
	CHECK(mp_entry_is_on(d.e, &s, MP_TOGGLE_ON));
	s.allow = (struct mp_bind_list){x, 1};
	CHECK(mp_entry_is_on(d.e, &s, MP_TOGGLE_NONE));
	CHECK(!mp_entry_is_on(d.e, &s, MP_TOGGLE_OFF));
	s.deny = (struct mp_bind_list){x, 1};
	CHECK(!mp_entry_is_on(d.e, &s, MP_TOGGLE_ON));
	CHECK(!mp_entry_is_on(d.e, &s, MP_TOGGLE_NONE));
	CHECK(reads(&d, "{\"command\":\"c\"}"));
	CHECK(mp_entry_is_on(d.e, &d.s, MP_TOGGLE_NONE));
}

TEST(raw_values_outlive_their_text)
{
	DESK;

	CHECK(reads(&d, "{\"url\":\"https://a\",\"auth\":{\"type\":\"oauth\"},\"oauth\":false,"
			"\"restart\":{\"schedule\":[1]},\"instructions\":5}"));
	CHECK_STR(d.e->auth_json, "{\"type\":\"oauth\"}");
	CHECK_STR(d.e->oauth_json, "false");
	CHECK_STR(d.e->tuning.restart.schedule_json, "[1]");
	CHECK_STR(d.e->tuning.instructions_json, "5");
}

TEST(names_of_kinds_and_levels)
{
	CHECK_TEXT(mp_kind_get_name(MP_KIND_WEBSOCKET), "websocket");
	CHECK_TEXT(mp_config_level_get_name(MP_CONFIG_COMMAND_LINE), "command-line");
	CHECK_TEXT(mp_config_level_get_name(MP_CONFIG_REMOTE), "remote");
}
