/*
 * test_diff.c - an old set against a new one, in terms of what it means.
 */
#include "home.h"

#include "config/values/diff.h"

static char told[500];

static void note(void *u, const struct mp_config_change *c)
{
	const struct mp_entry *e = c->after ? c->after : c->before;
	size_t n = strlen(told);

	(void)u;
	snprintf(told + n, sizeof(told) - n, "%s %s;", mp_change_kind_get_name(c->kind), e->name);
}

/* What changes when the file of the project goes from one text to another. */
static const char *diff(const char *before, const char *after, int *ret)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	told[0] = '\0';
	if (!put("project/.mcp.json", before))
		return "";
	old = home_load(NULL);
	if (!put("project/.mcp.json", after))
		return "";
	new = home_load(NULL);
	*ret = mp_diff(old, new, note, NULL);
	return told;
}

#define A          "\"a\": {\"command\": \"c\"}"
#define B          "\"b\": {\"command\": \"d\"}"
#define FILE_OF(x) "{\"mcpServers\": {" x "}}"

TEST(what_is_added_changed_and_gone)
{
	int n = 0;

	CHECK(home_make());
	CHECK_TEXT(diff(FILE_OF(A), FILE_OF("\"a\": {\"command\": \"x\"}, " B), &n),
		   "changed a;added b;");
	CHECK_EQ(n, 2);
}

HEAVY_TEST(kinds_of_changes)
{
	int n = 0;

	CHECK(home_make());
	CHECK_TEXT(diff(FILE_OF(A ", " B), FILE_OF(B), &n), "unchanged b;gone a;");
	CHECK_EQ(n, 1);
	CHECK_TEXT(
		diff(FILE_OF(A), "// x\n{ \"mcpServers\":\n{\"a\":{ \"command\" : \"c\", }}}", &n),
		"unchanged a;");
	CHECK_EQ(n, 0);
	CHECK_TEXT(diff(FILE_OF(A ", " B), FILE_OF(B ", " A), &n), "unchanged b;unchanged a;");
	CHECK_EQ(n, 0);
	CHECK_TEXT(diff(FILE_OF(A), FILE_OF("\"a\": {\"command\": \"c\", \"queue\": \"q\"}"), &n),
		   "changed a;");
	CHECK_TEXT(diff(FILE_OF(A), FILE_OF("\"a\": {\"command\": \"c\", \"enabled\": false}"), &n),
		   "changed a;");
	CHECK_TEXT(diff(FILE_OF(A), "{broken", &n), "gone a;");
}

HEAVY_TEST(a_script_that_changes_is_a_change)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make() && put("project/s.js", "1") &&
	      put("project/.mcp.json", FILE_OF("\"a\": {\"command\": \"./s.js\"}")));
	old = home_load(NULL);
	CHECK(put("project/s.js", "2"));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK_EQ(mp_diff(old, new, note, NULL), 1);
}

HEAVY_TEST(settings_that_hold_for_it_are_a_change)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make() && put("project/.mcp.json", FILE_OF(A)));
	old = home_load(NULL);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"toolTimeout\": 5}}"));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK_EQ(mp_diff(old, new, note, NULL), 1);
	mp_config_set_unref(new);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"deny\": [\"a\"]}}"));
	new = home_load(NULL);
	CHECK_EQ(mp_diff(old, new, note, NULL), 1);
	told[0] = '\0';
	CHECK_EQ(mp_diff(NULL, new, note, NULL), 1);
	CHECK_TEXT(told, "added a;");
}

HEAVY_TEST(a_tool_that_the_settings_deny_is_a_change)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make() && put("project/.mcp.json", FILE_OF(A ", " B)));
	old = home_load(NULL);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"deny\": [\"a/x\"]}}"));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK_EQ(mp_diff(old, new, note, NULL), 1);
	CHECK_TEXT(told, "changed a;unchanged b;");
}

/* Another one takes the name: the server of that name changes. */
HEAVY_TEST(a_new_winner_is_a_change)
{
	MP_SET old = NULL;
	MP_SET new = NULL;

	CHECK(home_make() && put("project/.mcp.json", FILE_OF(A)));
	old = home_load(NULL);
	CHECK(put("project/.cursor/mcp.json", FILE_OF(A)));
	new = home_load(NULL);
	told[0] = '\0';
	CHECK_EQ(mp_diff(old, new, note, NULL), 1);
	CHECK_TEXT(told, "changed a;");
}
