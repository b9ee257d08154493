/*
 * test_plugins.c - servers that come with Claude Code's plugins, and nothing from beside them.
 */
#include "home.h"

static bool install(const char *key, const char *extra)
{
	char text[900];

	snprintf(text, sizeof(text),
		 "{\"version\": 2, \"plugins\": {\"%s\": [{\"installPath\": \"%s\"%s}]}}", key,
		 in("plugin"), extra);
	return put("home/.claude/plugins/installed_plugins.json", text);
}

static struct mp_config_set *load_again(struct mp_config_set *old)
{
	mp_config_set_unref(old);
	return home_load(NULL);
}

/* C8 */
TEST(a_plugin_with_a_file_of_servers)
{
	MP_SET set = NULL;
	const struct mp_entry *e;

	CHECK(home_make() && install("fmt@market", "") &&
	      put("plugin/.mcp.json", "{\"a\": {\"command\": \"${CLAUDE_PLUGIN_ROOT}/x\"}}"));
	set = home_load(NULL);
	e = mp_config_find(set, "fmt:a");
	CHECK(e && !e->invalid);
	CHECK_TEXT(e->origin.plugin_root, in("plugin"));
	CHECK_TEXT(e->origin.tool, "claude-plugin");
	CHECK_TEXT(e->origin.file, in("plugin/.mcp.json"));
	CHECK_EQ(e->origin.level, MP_CONFIG_USER);
}

HEAVY_TEST(a_manifest_names_servers_in_three_ways)
{
	MP_SET set = NULL;

	CHECK(home_make() && install("p", "") &&
	      put("plugin/.claude-plugin/plugin.json", "{\"mcpServers\": [\"./one.json\", {\"in\": "
						       "{\"command\": \"x\"}}, [\"./no.json\"], "
						       "5]}"));
	CHECK(put("plugin/one.json", "{\"mcpServers\": {\"one\": {\"command\": \"y\"}}}") &&
	      put("plugin/no.json", "{\"no\": {\"command\": \"y\"}}"));
	set = home_load(NULL);
	CHECK(mp_config_find(set, "p:one") && mp_config_find(set, "p:in"));
	CHECK_EQ(set->n, 2);
	CHECK(put("plugin/.claude-plugin/plugin.json", "{\"mcpServers\": \"./one.json\"}"));
	set = load_again(set);
	CHECK_EQ(set->n, 1);
	CHECK(put("plugin/.claude-plugin/plugin.json",
		  "{\"mcpServers\": {\"z\": {\"command\": \"y\"}}}"));
	set = load_again(set);
	CHECK(mp_config_find(set, "p:z"));
}

HEAVY_TEST(nothing_outside_of_a_plugin_is_read_for_it)
{
	static const char *const ways[] = {"/etc/passwd", "./../out.json", "out.json",
					   "./link.json"};
	MP_SET set = NULL;

	CHECK(home_make() && install("p", "") && put("out.json", "{\"x\": {\"command\": \"y\"}}") &&
	      put("plugin/x", "") && symlink("../out.json", in("plugin/link.json")) == 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(ways); i++) {
		char text[100];

		snprintf(text, sizeof(text), "{\"mcpServers\": \"%s\"}", ways[i]);
		CHECK(put("plugin/.claude-plugin/plugin.json", text));
		set = load_again(set);
		CHECK_EQ(set->n, 0);
		CHECK_EQ(set->n_problems, 1);
	}
	CHECK(problem_with(set, "it lies outside of the plugin's folder"));
}

HEAVY_TEST(plugins_that_are_off_or_elsewhere_or_gone)
{
	MP_SET set = NULL;

	CHECK(home_make() && install("p@m", "") &&
	      put("plugin/.mcp.json", "{\"a\": {\"command\": "
				      "\"x\"}}"));
	CHECK(put("home/.claude/settings.json", "{\"enabledPlugins\": {\"p@m\": false}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 0);
	CHECK(put("home/.claude/settings.json", "{\"enabledPlugins\": {\"p@m\": true}}"));
	set = load_again(set);
	CHECK_EQ(set->n, 1);
	CHECK(install("p@m", ", \"projectPath\": \"/another\""));
	set = load_again(set);
	CHECK_EQ(set->n, 0);
	CHECK(put(
		"home/.claude/plugins/installed_plugins.json",
		"{\"plugins\": {\"p\": [{\"installPath\": \"/nowhere/at/all\"}], \"q\": 5, \"r\": "
		"[{\"installPath\": \"relative\"}], \"s\": [{\"installPath\": 5}], \"t\": []}}"));
	set = load_again(set);
	CHECK_EQ(set->n, 0);
	CHECK_EQ(set->n_problems, 0);
}

HEAVY_TEST(the_older_list_has_objects)
{
	MP_SET set = NULL;
	char text[400];

	CHECK(home_make() && put("plugin/.mcp.json", "{\"a\": {\"command\": \"x\"}}"));
	snprintf(text, sizeof(text),
		 "{\"version\": 1, \"plugins\": {\"p@m\": {\"installPath\": \"%s\"}}}",
		 in("plugin"));
	CHECK(put("home/.claude/plugins/installed_plugins.json", text));
	set = home_load(NULL);
	CHECK(mp_config_find(set, "p:a"));
}

/* The same words in two plugins are two programs. */
HEAVY_TEST(two_plugins_with_the_same_command_are_not_the_same_connection)
{
	MP_SET set = NULL;
	char text[600];

	CHECK(home_make());
	snprintf(text, sizeof(text),
		 "{\"plugins\": {\"p\": [{\"installPath\": \"%s\"}], \"q\": [{\"installPath\": "
		 "\"%s\"}]}}",
		 in("p"), in("q"));
	CHECK(put("home/.claude/plugins/installed_plugins.json", text));
	CHECK(put("p/.mcp.json", "{\"a\": {\"command\": \"${CLAUDE_PLUGIN_ROOT}/server\"}}"));
	CHECK(put("q/.mcp.json", "{\"b\": {\"command\": \"${CLAUDE_PLUGIN_ROOT}/server\"}}"));
	set = home_load(NULL);
	CHECK(mp_config_find(set, "p:a") && mp_config_find(set, "q:b"));
}
