/*
 * test_diff_keys.c - the keys that a reload changes, by name and never by value.
 */
#include "home.h"

#include "config/values/diff.h"

static char told[900];

static void note(void *u, struct mp_str key, struct mp_str member)
{
	size_t n = strlen(told);

	(void)u;
	snprintf(told + n, sizeof(told) - n, "%.*s%s%.*s;", MP_STR_ARGS(key), member.len ? "." : "",
		 MP_STR_ARGS(member));
}

#define FILE_AT    "home/.config/mcpool/mcp.json"
#define FILE_OF(x) "{\"mcpServers\": {\"a\": {" x "}}}"

/* Of the server `a`, when the user's file goes from one text to another. */
static const char *keys(const char *before, const char *after)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	told[0] = '\0';
	if (!put(FILE_AT, before))
		return "";
	old = home_load(NULL);
	if (!put(FILE_AT, after))
		return "";
	new = home_load(NULL);
	if (!mp_config_find(old, "a") || !mp_config_find(new, "a"))
		return "";
	return mp_diff_each_key(mp_config_find(old, "a"), mp_config_find(new, "a"), note, NULL) < 0
		       ? "failed"
		       : told;
}

TEST(keys_are_named_and_values_are_not)
{
	CHECK(home_make());
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\",\"args\":[\"1\"],\"env\":{\"TOKEN\":\"one\","
				"\"SAME\":\"s\",\"GONE\":\"g\"}"),
			FILE_OF("\"env\":{\"NEW\":\"n\",\"SAME\":\"s\",\"TOKEN\":\"two\"},"
				"\"args\":[\"2\"],\"command\":\"c\"")),
		   "args;env.NEW;env.TOKEN;env.GONE;");
}

HEAVY_TEST(kinds_of_keys)
{
	CHECK(home_make());
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\""), FILE_OF("\"command\":\"c\"")), "");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\""),
			FILE_OF("\"command\":\"d\",\"env\":{\"A\":\"1\"},\"toolTimeout\":5")),
		   "command;env.A;toolTimeout;");
	CHECK_TEXT(keys(FILE_OF("\"url\":\"http://h/\",\"headers\":{\"Authorization\":\"x\"}"),
			FILE_OF("\"url\":\"http://h/\",\"headers\":{\"Authorization\":\"y\"}")),
		   "headers.Authorization;");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\",\"restart\":{\"mode\":\"once\"}"),
			FILE_OF("\"command\":\"c\",\"restart\":{\"mode\":\"none\",\"waitMs\":5}")),
		   "restart.mode;restart.waitMs;");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\",\"env\":{}"), FILE_OF("\"command\":\"c\"")),
		   "env;");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\",\"note\":{\"x\":1},\"args\":[]"),
			FILE_OF("\"command\":\"c\",\"note\":{\"x\":2},\"args\":[\"1\"]")),
		   "args;note.x;");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\",\"note\":1"), FILE_OF("\"command\":\"c\"")),
		   "note;");
	/* another spelling of a key */
	CHECK_TEXT(keys(FILE_OF("\"url\":\"http://h/\",\"http_headers\":{\"A\":\"x\"}"),
			FILE_OF("\"url\":\"http://h/\",\"headers\":{\"A\":\"x\"}")),
		   "(entry);");
}

HEAVY_TEST(changes_outside_of_the_entry)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make());
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\""),
			"{\"mcpServers\": {\"a\": {\"command\":\"c\"}},"
			"\"mcpool\":{\"toolTimeout\":5}}"),
		   "toolTimeout;");
	CHECK_TEXT(keys(FILE_OF("\"command\":\"c\""),
			"{\"mcpServers\": {\"a\": {\"command\":\"c\"}},"
			"\"mcpool\":{\"deny\":[\"a/x\"]}}"),
		   "(deny);");
	CHECK(put("project/s.js", "1") &&
	      put("project/.mcp.json", "{\"mcpServers\":{\"p\":{\"command\":\"./s.js\"}}}"));
	old = home_load(NULL);
	CHECK(put("project/s.js", "2"));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK(mp_config_find(old, "p") && mp_config_find(new, "p"));
	CHECK_EQ(mp_diff_each_key(mp_config_find(old, "p"), mp_config_find(new, "p"), note, NULL),
		 0);
	CHECK_TEXT(told, "(script);");
	CHECK(put("project/.cursor/mcp.json",
		  "{\"mcpServers\":{\"p\":{\"command\":\"./s.js\"}}}") &&
	      unlink(in("project/.mcp.json")) == 0);
	mp_config_set_unref(new);
	new = home_load(NULL);
	told[0] = '\0';
	CHECK(mp_config_find(new, "p"));
	CHECK_EQ(mp_diff_each_key(mp_config_find(old, "p"), mp_config_find(new, "p"), note, NULL),
		 0);
	CHECK_TEXT(told, "(file);(script);");
}

/* A file of any size costs no more than one look at each of its keys. */
HEAVY_TEST(a_map_with_very_many_members_is_one_key)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a, b;

	mp_buf_init(&a, 1 << 20);
	mp_buf_init(&b, 1 << 20);
	CHECK(home_make());
	CHECK_EQ(mp_buf_addf(&a, "{\"mcpServers\":{\"a\":{\"command\":\"c\",\"env\":{\"A\":\"1\""),
		 0);
	for (int i = 0; i < 5000; i++)
		CHECK_EQ(mp_buf_addf(&a, ",\"K%d\":\"v\"", i), 0);
	CHECK_EQ(mp_buf_add_str(&b, mp_buf_get(&a)), 0);
	CHECK_EQ(mp_buf_addf(&a, "}}}}"), 0);
	CHECK_EQ(mp_buf_addf(&b, ",\"Z\":\"1\"}}}}"), 0);
	CHECK(mp_buf_terminate(&a) == 0 && mp_buf_terminate(&b) == 0);
	CHECK_TEXT(keys(a.data, b.data), "env;");
}

HEAVY_TEST(settings_by_their_keys)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make() && put(FILE_AT, "{\"mcpool\":{\"log\":{\"level\":\"info\"},"
					  "\"otlp\":{\"headers\":{\"x-key\":\"one\"}}}}"));
	old = home_load(NULL);
	CHECK(put(FILE_AT,
		  "{\"mcpool\":{\"log\":{\"level\":\"verbose\"},\"naming\":\"passthrough\","
		  "\"http\":{\"metricsFrom\":[\"10.0.0.1\"],\"oauth\":{\"issuer\":\"i\"}},"
		  "\"otlp\":{\"headers\":{\"x-key\":\"two\"}}}}"));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK_EQ(mp_diff_each_setting(&old->settings, &new->settings, note, NULL), 0);
	CHECK_TEXT(told, "naming;http.oauth.issuer;http.metricsFrom;log.level;"
			 "otlp.headers.x-key;");
	told[0] = '\0';
	CHECK_EQ(mp_diff_each_setting(&new->settings, &new->settings, note, NULL), 0);
	CHECK_TEXT(told, "");
}
