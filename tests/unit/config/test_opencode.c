/*
 * test_opencode.c - OpenCode's layers: merged deeply, the higher one on top.
 */
#include "home.h"

#include "config/values/trust.h"

static const struct mp_entry *load_one(struct mp_config_set **set, const char *name)
{
	mp_config_set_unref(*set);
	*set = home_load(NULL);
	return nth(*set, name, 0);
}

/* U1 N1 */
TEST(a_layer_alone)
{
	MP_SET set = NULL;
	const struct mp_entry *e;

	CHECK(home_make() &&
	      put("home/.config/opencode/opencode.json",
		  "{\"mcp\": {\n\"a\": {\"type\": \"local\", \"command\": [\"npx\", "
		  "\"-y\"], \"environment\": {\"K\": \"{env:V}\"}, \"timeout\": 7}}}"));
	e = load_one(&set, "a");
	CHECK(e && !e->invalid);
	CHECK_EQ(e->kind, MP_KIND_STDIO);
	CHECK_EQ(e->argc, 2);
	CHECK_TEXT(e->env.items[0].value, "{env:V}");
	CHECK_EQ(e->origin.line, 2);
	CHECK_EQ(e->tuning.timeout_ms, 7);
	CHECK_EQ(set->n_problems, 0);
}

/* B21: the layers of one tool are one source. */
HEAVY_TEST(layers_are_merged_key_by_key)
{
	MP_SET set = NULL;
	const struct mp_entry *e;

	CHECK(home_make());
	CHECK(put("home/.config/opencode/config.json",
		  "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"low\"], "
		  "\"environment\": {\"A\": \"1\", \"B\": \"1\"}, \"enabled\": false}}}"));
	CHECK(put("home/.config/opencode/opencode.jsonc",
		  "{\"mcp\": {\"a\": {\"environment\": {\"B\": \"2\"}, /* on */ \"enabled\": "
		  "true}}}"));
	e = load_one(&set, "a");
	CHECK_EQ(set->n, 1);
	CHECK(e->enabled);
	CHECK_TEXT(e->argv[0], "low");
	CHECK_EQ(e->env.n, 2);
	CHECK_TEXT(e->origin.file, in("home/.config/opencode/opencode.jsonc"));
	CHECK_STR(e->canonical, "{\"command\":[\"low\"],\"enabled\":true,\"environment\":{\"A\":"
				"\"1\",\"B\":\"2\"},\"type\":\"local\"}");
}

/* What a project adds makes it the project's; the user's own stands behind it. */
HEAVY_TEST(a_project_cannot_take_the_users_entry_away)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET after = NULL;

	CHECK(home_make());
	CHECK(put("home/.config/opencode/opencode.json",
		  "{\"mcp\": {\"a\": {\"type\": \"remote\", \"url\": \"https://good/mcp\"}}}"));
	CHECK(put(
		"project/opencode.json",
		"{\"mcp\": {\"a\": {\"url\": \"https://evil/mcp\"}, \"b\": {\"enabled\": true}}}"));
	db = home_open_store();
	set = home_load(db);
	CHECK_EQ(set->n, 3);
	CHECK_TEXT(nth(set, "a", 0)->address, "https://evil/mcp");
	CHECK_EQ(nth(set, "a", 0)->origin.level, MP_CONFIG_PROJECT);
	CHECK_TEXT(nth(set, "a", 1)->address, "https://good/mcp");
	CHECK_TEXT(state_of(set, nth(set, "b", 0)), "failed");
	CHECK_EQ(mp_trust_approve(db, nth(set, "a", 1), "trust", 1, &why), 0);
	after = home_load(db);
	CHECK_TEXT(mp_config_find(after, "a")->address, "https://good/mcp");
	CHECK_EQ(nth(after, "a", 0)->shadow, MP_SHADOW_APPROVED);
	CHECK_TEXT(state_of(after, nth(after, "a", 1)), "ready");
}

HEAVY_TEST(the_newer_schema_and_servers_called_like_its_keys)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/opencode.json",
				 "{\"mcp\": {\"timeout\": {\"startup\": 5}, \"servers\": {\"a\": "
				 "{\"type\": \"local\", \"command\": [\"c\"]}}}}"));
	CHECK(load_one(&set, "a"));
	CHECK_EQ(set->n, 1);
	CHECK(put(
		"project/opencode.json",
		"{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"c\"]}, \"timeout\": "
		"{\"type\": \"local\", \"command\": [\"d\"]}}}"));
	CHECK(load_one(&set, "servers"));
	CHECK(nth(set, "timeout", 0));
	CHECK_EQ(set->n, 2);
	CHECK(put("project/opencode.json", "{\"mcp\": {\"timeout\": 5, \"x\": 5}}"));
	CHECK(load_one(&set, "x")->invalid);
	CHECK_EQ(set->n, 1);
	CHECK(put("project/opencode.json", "{\"mcp\": [1]}"));
	CHECK(!load_one(&set, "x"));
	CHECK(put("project/opencode.json", "{\"mcp\": \"x\"}"));
	CHECK(!load_one(&set, "x"));
}

/* V43 */
HEAVY_TEST(a_key_twice_is_refused_through_the_merge)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/opencode.json",
				 "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": [\"x\"], "
				 "\"command\": [\"y\"]}}}"));
	CHECK(strstr(load_one(&set, "a")->invalid, "occurs twice"));
}

/* Raw values of a merged text are kept, too. */
HEAVY_TEST(what_was_merged_outlives_its_text)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/opencode.json",
				 "{\"mcp\":{\"a\":{\"type\":\"remote\",\"url\":\"https://a\","
				 "\"oauth\":{\"clientId\":\"x\"}}}}"));
	CHECK_STR(load_one(&set, "a")->oauth_json, "{\"clientId\":\"x\"}");
}
