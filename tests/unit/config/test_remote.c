/*
 * test_remote.c - the slow phase: remote sources behind everything local, and never in its way.
 */
#include "home.h"

#include "config/read/load.h"
#include "config/values/trust.h"

static char remote_url[120];

/* A home whose user file names a remote source. */
static bool make(const char *settings_behind)
{
	char text[400];

	if (!home_make())
		return false;
	snprintf(remote_url, sizeof(remote_url), "file://%s", in("team.json"));
	snprintf(text, sizeof(text), "{\"mcpool\": {\"remote\": [\"%s\"]%s}}", remote_url,
		 settings_behind);
	return put("home/.config/mcpool/mcp.json", text) &&
	       put("team.json", "{\"mcpServers\": {\"t\": {\"url\": \"https://team/mcp\", "
				"\"headers\": {\"A\": \"b\"}}, \"u\": {\"command\": \"c\"}}}");
}

static struct mp_config_set *load_all(struct mp_db *db)
{
	struct mp_config_request req = home_request(db);

	return mp_config_load_remote(&req);
}

static bool grant(struct mp_db *db)
{
	MP_SET set = load_all(db);

	return set->n_grants == 1 && mp_trust_approve_grant(db, &set->grants[0], 1, &why) == 0;
}

/* C9 */
TEST(an_address_needs_a_yes)
{
	MP_SET set = NULL;

	CHECK(make(""));
	set = load_all(NULL);
	CHECK(set->has_remote || is_failure(set));
	CHECK_EQ(set->n, 0);
	CHECK_EQ(set->n_grants, 1);
	CHECK(strncmp(set->grants[0].name, "[remote] file:///", 17) == 0);
	CHECK(problem_with(set, "this address needs your approval: mcpool trust"));
	for (size_t i = 0; i < set->n_paths; i++)
		CHECK(!strstr(set->paths[i], "team.json")); /* not even opened */
}

/* C8 C9 C10 C9 */
HEAVY_TEST(the_second_phase_adds_behind_the_first)
{
	MP_STORE db = NULL;
	MP_SET first = NULL;
	MP_SET second = NULL;

	CHECK(make("") &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"u\": {\"command\": \"mine\"}, "
				       "\"here\": {\"url\": \"https://team/mcp\"}}}"));
	db = home_open_store();
	CHECK(db && grant(db));
	first = home_load(db);
	CHECK_EQ(first->n, 2);
	second = load_all(db);
	CHECK_EQ(second->n, 4);
	CHECK_EQ(nth(second, "t", 0)->origin.level, MP_CONFIG_REMOTE);
	CHECK_EQ(nth(second, "t", 0)->shadow, MP_SHADOW_CONNECTION); /* whatever its headers */
	CHECK(nth(second, "t", 0)->shadowed_by == nth(second, "here", 0));
	CHECK_TEXT(state_of(second, nth(second, "t", 0)), "shadowed");
	CHECK_EQ(nth(second, "u", 1)->shadow, MP_SHADOW_NAME);
	CHECK_TEXT(nth(second, "u", 1)->origin.tool, "remote");
}

/* A22 C9 */
HEAVY_TEST(a_remote_source_that_cannot_be_had_changes_nothing_else)
{
	static const char *const contents[] = {NULL, "{broken", "[]", "{\"mcpServers\": 5}"};
	MP_STORE db = NULL;

	CHECK(make("") &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	db = home_open_store();
	CHECK(db && grant(db));
	for (size_t i = 0; i < MP_ARRAY_LEN(contents); i++) {
		MP_SET set = NULL;

		unlink(in("team.json"));
		CHECK(!contents[i] || put("team.json", contents[i]));
		set = load_all(db);
		CHECK_EQ(set->n, 1);
		CHECK(set->n_problems > 0);
		CHECK_TEXT(state_of(set, mp_config_find(set, "a")), "needs-approval");
	}
}

HEAVY_TEST(addresses_of_other_kinds)
{
	static const struct {
		const char *url;
		bool read;
	} cases[] = {
		{"file:///%s", true},
		{"file:/%s", true},
		{"file://localhost/%s", true},
		{"file:///%s%%41", false},
		{"https://team/mcp", false},
		{"file://other/%s", false},
		{"/%s", false},
		{"file:%%2f%s", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_SET set = NULL;
		struct mp_config_request req;
		char url[200], text[300];
		const char *file;

		CHECK(make(""));
		/* the folder without its first slash */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(url, sizeof(url), cases[i].url, in("team.json") + 1);
#pragma GCC diagnostic pop
		snprintf(text, sizeof(text), "{\"mcpool\": {\"remote\": [\"%s\"]}}", url);
		CHECK(put("named.json", text));
		req = home_request(NULL);
		file = in("named.json");
		req.files = &file;
		req.n_files = 1;
		req.strict = true;
		set = mp_config_load_remote(&req);
		CHECK(test_true((set->n == 2) == cases[i].read, url, __FILE__, __LINE__));
		CHECK(test_true((set->n_problems == 0) == cases[i].read, url, __FILE__, __LINE__));
	}
}

/* C21: a file named on the command line needs no approval. */
HEAVY_TEST(a_file_of_the_command_line_is_trusted_with_its_addresses)
{
	MP_SET set = NULL;
	struct mp_config_request req;
	char text[300];
	const char *file;

	CHECK(make(""));
	snprintf(text, sizeof(text), "{\"mcpool\": {\"remote\": [\"%s\", 5]}}", remote_url);
	CHECK(put("named.json", text));
	req = home_request(NULL);
	file = in("named.json");
	req.files = &file;
	req.n_files = 1;
	set = mp_config_load_remote(&req);
	CHECK(nth(set, "t", 0) && nth(set, "u", 0));
	CHECK_TEXT(state_of(set, nth(set, "t", 0)), "needs-approval"); /* its servers still do */
}

/* C10: of three to one place, an approved local one counts, and the remote source's is dropped. */
HEAVY_TEST(an_approved_local_one_keeps_its_endpoint)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET after = NULL;

	CHECK(make("") && put("project/.cursor/mcp.json",
			      "{\"mcpServers\": {\"p\": {\"url\": \"https://team/mcp\"}}}"));
	CHECK(put("home/.cursor/mcp.json",
		  "{\"mcpServers\": {\"mine\": {\"url\": \"https://team/mcp\"}}}"));
	db = home_open_store();
	CHECK(db && grant(db));
	set = load_all(db);
	CHECK_EQ(mp_trust_approve(db, nth(set, "mine", 0), "trust", 1, &why), 0);
	CHECK_EQ(mp_trust_approve(db, nth(set, "t", 0), "trust", 1, &why), 0);
	after = load_all(db);
	CHECK_TEXT(state_of(after, nth(after, "mine", 0)), "ready");
	CHECK(nth(after, "p", 0)->shadowed_by == nth(after, "mine", 0));
	CHECK(nth(after, "t", 0)->shadowed_by == nth(after, "mine", 0));
}

HEAVY_TEST(with_equal_ones_allowed_only_the_remote_source_are_dropped)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;

	CHECK(make(", \"shadowEqual\": false") &&
	      put("project/.cursor/mcp.json",
		  "{\"mcpServers\": {\"p\": {\"url\": \"https://team/mcp\"}, \"q\": {\"url\": "
		  "\"https://team/mcp\"}}}"));
	db = home_open_store();
	CHECK(db && grant(db));
	set = load_all(db);
	CHECK_EQ(nth(set, "p", 0)->shadow, MP_SHADOW_NONE);
	CHECK_EQ(nth(set, "q", 0)->shadow, MP_SHADOW_NONE);
	CHECK_EQ(nth(set, "t", 0)->shadow, MP_SHADOW_CONNECTION);
}
