/*
 * test_precedence.c - of several entries, which one counts.
 */
#include "home.h"

#include "config/values/trust.h"

static struct mp_config_set *load_again(struct mp_config_set *old, struct mp_db *db)
{
	mp_config_set_unref(old);
	return home_load(db);
}

/* B19 B21 B26 U2 B73 X11 D2 D24 */
TEST(the_first_of_a_name_has_it)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
						      "\"low\", \"timeout\": 9}}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"high\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 2);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "high");
	CHECK_EQ(mp_config_find(set, "a")->tuning.timeout_ms, 30000); /* never merged */
	CHECK_EQ(nth(set, "a", 1)->shadow, MP_SHADOW_NAME);
	CHECK(nth(set, "a", 1)->shadowed_by == nth(set, "a", 0));
	CHECK_EQ(nth(set, "a", 1)->tuning.timeout_ms, 9); /* kept as it is */
	CHECK_TEXT(state_of(set, nth(set, "a", 1)), "shadowed");
}

/* B20 */
HEAVY_TEST(an_invalid_winner_still_owns_its_name)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {}}}"));
	CHECK(put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	set = home_load(NULL);
	CHECK_TEXT(state_of(set, nth(set, "a", 0)), "failed");
	CHECK_TEXT(state_of(set, nth(set, "a", 1)), "shadowed");
}

/* O12 U2 X11 */
HEAVY_TEST(equal_connections_are_shadowed_unless_switched_off)
{
	MP_SET set = NULL;

	CHECK(home_make() &&
	      put("home/.cursor/mcp.json",
		  "{\"mcpServers\": {\"off\": {\"command\": \"c\", \"disabled\": true}, "
		  "\"bad\": {\"command\": \"c\", \"cwd\": 5}, \"a\": {\"command\": "
		  "\"c\"}, \"b\": {\"command\": [\"c\"]}, "
		  "\"u\": {\"url\": \"https://a/mcp\", \"headers\": {\"H\": \"v\"}}, "
		  "\"v\": {\"type\": \"http\", \"url\": \"https://a/mcp\", \"headers\": "
		  "{\"H\": \"v\"}}, "
		  "\"w\": {\"url\": \"https://a/mcp\", \"headers\": {\"H\": \"w\"}}, "
		  "\"x\": {\"url\": \"https://a/x\", \"headers\": {\"H\": \"v\"}}}}"));
	set = home_load(NULL);
	CHECK_EQ(nth(set, "a", 0)->shadow, MP_SHADOW_NONE); /* the two before it open nothing */
	CHECK_EQ(nth(set, "b", 0)->shadow, MP_SHADOW_CONNECTION);
	CHECK(nth(set, "b", 0)->shadowed_by == nth(set, "a", 0));
	CHECK_EQ(nth(set, "v", 0)->shadow, MP_SHADOW_CONNECTION); /* the same of addresses */
	CHECK(nth(set, "v", 0)->shadowed_by == nth(set, "u", 0));
	CHECK_EQ(nth(set, "w", 0)->shadow, MP_SHADOW_NONE);
	CHECK_EQ(nth(set, "x", 0)->shadow, MP_SHADOW_NONE);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"shadowEqual\": false}}"));
	set = load_again(set, NULL);
	CHECK_EQ(nth(set, "b", 0)->shadow, MP_SHADOW_NONE);
	CHECK_EQ(nth(set, "v", 0)->shadow, MP_SHADOW_NONE);
}

/* B19 B21 */
/* An unapproved entry of a project does not shadow one that the user approved. */
HEAVY_TEST(an_unapproved_project_takes_no_name_and_no_connection)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.cursor/mcp.json",
				 "{\"mcpServers\": {\"a\": {\"command\": \"evil\"}, \"z\": "
				 "{\"command\": \"mine-too\"}}}"));
	CHECK(put("home/.cursor/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"mine\"}, \"b\": {\"command\": "
		  "\"mine-too\"}, \"u\": {\"command\": \"first\"}}}"));
	CHECK(put("home/.codeium/windsurf/mcp_config.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"third\"}, "
		  "\"u\": {\"command\": \"second\"}}}"));
	db = home_open_store();
	set = home_load(db);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "evil"); /* none is approved yet */
	CHECK_EQ(mp_trust_approve(db, nth(set, "a", 1), "trust", 1, &why), 0);
	CHECK_EQ(mp_trust_approve(db, nth(set, "b", 0), "trust", 1, &why), 0);
	CHECK_EQ(mp_trust_approve(db, nth(set, "u", 1), "trust", 1, &why), 0);
	set = load_again(set, db);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "mine");
	CHECK_TEXT(mp_config_find(set, "u")->argv[0], "first"); /* the user's own keeps its name */
	CHECK_EQ(nth(set, "a", 0)->shadow, MP_SHADOW_APPROVED);
	CHECK(nth(set, "a", 0)->shadowed_by == nth(set, "a", 1));
	CHECK_EQ(nth(set, "a", 2)->shadow, MP_SHADOW_NAME);
	CHECK(nth(set, "a", 2)->shadowed_by == nth(set, "a", 1));
	CHECK_TEXT(state_of(set, nth(set, "b", 0)), "ready");
	CHECK_EQ(nth(set, "z", 0)->shadow, MP_SHADOW_CONNECTION);
	CHECK_EQ(mp_trust_approve(db, nth(set, "a", 0), "trust", 1, &why), 0);
	set = load_again(set, db);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "evil"); /* approved, so it counts */
}

/* Who was shadowed by one that lost is shadowed by the winner. */
HEAVY_TEST(a_chain_leads_to_the_one_that_counts)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;

	CHECK(home_make() &&
	      put("project/.cursor/mcp.json", "{\"mcpServers\": {\"p\": {\"command\": "
					      "\"c\"}}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"q\": {\"command\": \"c\"}}}"));
	CHECK(put("home/.codeium/windsurf/mcp_config.json",
		  "{\"mcpServers\": {\"r\": {\"command\": \"c\"}}}"));
	db = home_open_store();
	set = home_load(db);
	CHECK_EQ(mp_trust_approve(db, nth(set, "r", 0), "trust", 1, &why), 0);
	set = load_again(set, db);
	CHECK_TEXT(state_of(set, nth(set, "r", 0)), "ready");
	CHECK(nth(set, "p", 0)->shadowed_by == nth(set, "r", 0));
	CHECK(nth(set, "q", 0)->shadowed_by == nth(set, "r", 0));
}
