/*
 * test_effective.c - what holds in the end, key by key, and who said so.
 */
#include "home.h"

#include "base/limits.h"
#include "config/values/effective.h"

struct seen {
	char value[300], from[300];
	const char *wanted;
	size_t n;
};

static void look(void *u, const char *key, struct mp_str json, const char *from)
{
	struct seen *s = u;

	s->n++;
	if (strcmp(key, s->wanted) != 0)
		return;
	snprintf(s->value, sizeof(s->value), "%.*s", MP_STR_ARGS(json));
	snprintf(s->from, sizeof(s->from), "%s", from);
}

static struct seen of_entry(const struct mp_config_set *set, const char *name, const char *key)
{
	struct seen s = {.value = "(none)", .wanted = key};
	const struct mp_entry *e = mp_config_find(set, name);

	if (!e || mp_effective_each(e, look, &s) < 0)
		s.n = 0;
	return s;
}

static struct seen of_settings(const struct mp_config_set *set, const char *key)
{
	struct seen s = {.value = "(none)", .wanted = key};

	if (mp_effective_each_setting(&set->settings, look, &s) < 0)
		s.n = 0;
	return s;
}

TEST(a_value_and_who_said_so)
{
	MP_SET set = NULL;
	struct seen s;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\n\"mcpServers\": {\n\"a\": {\"command\": \"c\", \"timeout\": 7, "
		  "\"shared\": false}},\n\"mcpool\": {\"profile\": \"omp\", \"queue\": "
		  "\"q\"}}"));
	set = home_load(NULL);
	s = of_entry(set, "a", "timeout");
	CHECK_TEXT(s.value, "7");
	CHECK_TEXT(s.from, in("home/.config/mcpool/mcp.json:3"));
	s = of_entry(set, "a", "queue");
	CHECK_TEXT(s.value, "\"q\"");
	CHECK_TEXT(s.from, in("home/.config/mcpool/mcp.json:4"));
	s = of_entry(set, "a", "toolTimeout");
	CHECK_TEXT(s.value, "30000");
	CHECK_TEXT(s.from, "profile omp");
	s = of_entry(set, "a", "mode");
	CHECK_TEXT(s.value, "\"session\"");
	CHECK_TEXT(s.from, in("home/.config/mcpool/mcp.json:3"));
	s = of_entry(set, "a", "shared"); /* mode says it */
	CHECK_TEXT(s.value, "(none)");
	s = of_entry(set, "a", "restart.schedule");
	CHECK_TEXT(s.from, "default");
	s = of_entry(set, "a", "command");
	CHECK_TEXT(s.value, "\"c\"");
}

HEAVY_TEST(every_setting_has_a_value_and_an_origin)
{
	MP_SET set = NULL;
	struct seen s;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"profile\": \"claude\", "
						  "\"http\": {\"name\": \"box\", \"tls\": {}}, "
						  "\"startup\": {\"windowMs\": 9}}}"));
	set = home_load(NULL);
	s = of_settings(set, "startup.windowMs");
	CHECK_TEXT(s.value, "9");
	CHECK_TEXT(s.from, in("home/.config/mcpool/mcp.json:1"));
	CHECK(s.n > 35);
	CHECK_TEXT(of_settings(set, "restart.mode").from, "profile claude");
	CHECK_TEXT(of_settings(set, "log.level").value, "\"info\"");
	CHECK_TEXT(of_settings(set, "http.tls").value, "{}");
	CHECK_TEXT(of_settings(set, "http.name").value, "\"box\"");
	CHECK_TEXT(of_settings(set, "profile").value, "\"claude\"");
	CHECK_TEXT(of_settings(set, "queues").from, "default");
	CHECK_TEXT(of_settings(set, "http.listen").value, "(none)"); /* use-A10: no hub listens */
}

HEAVY_TEST(other_tools_entries_too)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("home/.codex/config.toml",
				 "[mcp_servers.a]\ncommand = \"c\"\nstartup_timeout_sec = 2\n"
				 "env_vars = [\"A\"]\n"));
	CHECK(put("home/.config/opencode/opencode.json",
		  "{\"mcp\":{\"o\":{\"type\":\"local\",\"command\":[\"c\"],\"environment\":{\"K\":"
		  "\"v\"}}}}"));
	set = home_load(NULL);
	CHECK_TEXT(of_entry(set, "a", "timeout").value, "2000");
	CHECK_TEXT(of_entry(set, "a", "timeout").from, in("home/.codex/config.toml:1"));
	CHECK_TEXT(of_entry(set, "a", "env_vars").value, "[\"A\"]");
	CHECK_TEXT(of_entry(set, "o", "env").value, "{\"K\":\"v\"}");
	CHECK_TEXT(of_entry(set, "o", "environment").value, "\"inherit\"");
	CHECK_TEXT(of_entry(set, "o", "environment").from, "default");
	CHECK_TEXT(of_entry(set, "o", "command").value, "[\"c\"]");
}

HEAVY_TEST(entries_that_behave_alike_have_the_same_text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a, b;
	MP_SET set = NULL;

	mp_buf_init(&a, MP_KIB(64));
	mp_buf_init(&b, MP_KIB(64));
	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"mode\": \"shared\"}, "
		  "\"b\": {\"command\": \"c\"}, \"c\": {\"command\": \"c\", \"queue\": "
		  "\"x\"}}}"));
	set = home_load(NULL);
	CHECK(mp_effective_add(nth(set, "a", 0), &a) == 0 &&
	      mp_effective_add(nth(set, "b", 0), &b) == 0);
	CHECK(mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
	mp_buf_clear(&b);
	CHECK_EQ(mp_effective_add(nth(set, "c", 0), &b), 0);
	CHECK(!mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
}
