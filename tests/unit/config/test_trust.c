/*
 * test_trust.c - the approval id: everything that decides what runs changes it, and nothing else.
 */
#include "home.h"

#include "base/limits.h"
#include "config/values/trust.h"

/* The id of server NAME (the nth of it) as it is loaded now. */
static bool id_of(const char *name, struct mp_approval_id *ret)
{
	MP_SET set = home_load(NULL);
	const struct mp_entry *e = nth(set, name, 0);

	if (e)
		*ret = e->id;
	return e != NULL;
}

static bool same(const struct mp_approval_id *a, const struct mp_approval_id *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Does the entry with this text have another id than *from? */
static bool differs(const struct mp_approval_id *from, const char *entry)
{
	struct mp_approval_id id;
	char text[3000];

	snprintf(text, sizeof(text), "{\"mcpServers\": {\"a\": %s}}", entry);
	return put("project/.mcp.json", text) && id_of("a", &id) && !same(from, &id);
}

static const char *const members[] = {
	"\"type\": \"stdio\"",
	"\"command\": \"node\"",
	"\"args\": [\"server.js\", \"x\"]",
	"\"env\": {\"A\": \"1\", \"B\": \"${C:-d}\"}",
	"\"cwd\": \".\"",
	"\"enabled\": true",
	"\"timeout\": 1000",
	"\"toolTimeout\": 1000",
	"\"maxTotal\": 1000",
	"\"mode\": \"shared\"",
	"\"start\": \"eager\"",
	"\"residency\": \"keep\"",
	"\"restart\": {\"mode\": \"once\", \"schedule\": [1, 2]}",
	"\"healthProbe\": \"ping\"",
	"\"queue\": \"q\"",
	"\"toolQueues\": {\"t\": \"q\"}",
	"\"toolsAllowed\": [\"x\"]",
	"\"toolsDenied\": [\"y\"]",
	"\"environment\": \"inherit\"",
	"\"era\": \"auto\"",
	"\"instructions\": 100",
	"\"required\": false",
	"\"pins\": \"warn\"",
	"\"auth\": {\"type\": \"oauth\", \"credentialId\": \"c\"}",
	"\"oauth\": {\"clientId\": \"c\"}",
	"\"headers\": {\"H\": \"v\"}",
	"\"headersHelper\": \"h\"",
	"\"envFile\": \"e\"",
	"\"env_vars\": [\"A\"]",
	"\"requestIdFormat\": \"number\"",
	"\"somethingUnknown\": {\"x\": [null]}",
};
static const char *const mutants[] = {
	"\"type\": \"local\"",
	"\"command\": \"node \"",
	"\"args\": [\"x\", \"server.js\"]",
	"\"env\": {\"A\": \"1\", \"B\": \"${C:-e}\"}",
	"\"cwd\": \"..\"",
	"\"enabled\": false",
	"\"timeout\": 1001",
	"\"toolTimeout\": 1001",
	"\"maxTotal\": 1000.0",
	"\"mode\": \"session\"",
	"\"start\": \"lazy\"",
	"\"residency\": \"idle:1\"",
	"\"restart\": {\"mode\": \"once\", \"schedule\": [2, 1]}",
	"\"healthProbe\": \"listTools\"",
	"\"queue\": \"r\"",
	"\"toolQueues\": {\"u\": \"q\"}",
	"\"toolsAllowed\": [\"x\", \"z\"]",
	"\"toolsDenied\": []",
	"\"environment\": \"none\"",
	"\"era\": \"modern\"",
	"\"instructions\": true",
	"\"required\": true",
	"\"pins\": \"off\"",
	"\"auth\": {\"type\": \"oauth\", \"credentialId\": \"d\"}",
	"\"oauth\": false",
	"\"headers\": {\"h\": \"v\"}",
	"\"headersHelper\": \"i\"",
	"\"envFile\": \"f\"",
	"\"env_vars\": [\"B\"]",
	"\"requestIdFormat\": \"string\"",
	"\"somethingUnknown\": {\"x\": []}",
};

/* All members in this order, the nth as its mutant (-1: none), one left out (-1: none). */
static const char *compose(int mutant, int without, bool backwards, const char *space)
{
	static char text[2500];
	int n = (int)MP_ARRAY_LEN(members);
	const char *comma = "";

	snprintf(text, sizeof(text), "{");
	for (int i = 0; i < n; i++) {
		int at = backwards ? n - 1 - i : i;
		size_t len = strlen(text);

		if (at == without)
			continue;
		snprintf(text + len, sizeof(text) - len, "%s%s%s", comma, space,
			 at == mutant ? mutants[at] : members[at]);
		comma = ",";
	}
	strcat(text, "}");
	return text;
}

/* V05 */
HEAVY_TEST(every_field_counts)
{
	struct mp_approval_id first;

	CHECK_EQ(MP_ARRAY_LEN(members), MP_ARRAY_LEN(mutants));
	CHECK(home_make());
	memset(&first, 0, sizeof(first));
	CHECK(differs(&first, compose(-1, -1, false, "")));
	CHECK(id_of("a", &first));
	for (int i = 0; i < (int)MP_ARRAY_LEN(members); i++) {
		CHECK(test_true(differs(&first, compose(i, -1, false, "")), mutants[i], __FILE__,
				__LINE__));
		CHECK(test_true(differs(&first, compose(-1, i, false, "")), members[i], __FILE__,
				__LINE__));
	}
}

/* V05: white space, comments and order do not ask again. */
HEAVY_TEST(spelling_does_not_count)
{
	struct mp_approval_id first, id;

	CHECK(home_make());
	memset(&first, 0, sizeof(first));
	CHECK(differs(&first, compose(-1, -1, false, "")));
	CHECK(id_of("a", &first));
	CHECK(!differs(&first, compose(-1, -1, true, "")));
	CHECK(!differs(&first, compose(-1, -1, false, "\n\t ")));
	CHECK(!differs(&first, compose(-1, -1, true, " /* a comment */ // another\n")));
	CHECK(put("project/.mcp.json", "// first line\n{\"mcpServers\": {\"z\": {\"command\": "
				       "\"other\"}, \"\\u0061\": {\"command\": \"c\"}}}"));
	CHECK(id_of("a", &first));
	CHECK(put("project/.mcp.json", "{\"more\": 1, \"mcpServers\": {\"a\": {\"command\": "
				       "\"\\u0063\",},}}"));
	CHECK(id_of("a", &id) && same(&first, &id));
}

/* V05: another name, tool, file, scope, project or copy is another entry. */
HEAVY_TEST(where_it_stands_counts)
{
	static const char *const files[] = {"project/.mcp.json",
					    "project/mcp.json",
					    "project/.cursor/mcp.json",
					    "project/.claude/.mcp.json",
					    "home/.cursor/mcp.json",
					    "home/.claude.json",
					    "project/.mcpool/mcp.json",
					    "home/.config/mcpool/mcp.json",
					    "project/.gemini/settings.json"};
	struct mp_approval_id ids[20];
	size_t n = MP_ARRAY_LEN(files);
	char text[300];

	for (size_t i = 0; i < n; i++) {
		CHECK(home_make() &&
		      put(files[i], "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
		CHECK(id_of("a", &ids[i]));
	}
	CHECK(home_make() && put("project/.mcp.json", "{\"mcpServers\": {\"b\": {\"command\": "
						      "\"c\"}}}"));
	CHECK(id_of("b", &ids[n++]));
	snprintf(text, sizeof(text),
		 "{\"projects\": {\"%s\": {\"mcpServers\": {\"a\": {\"command\": \"c\"}}}}}",
		 project_at);
	CHECK(home_make() && put("home/.claude.json", text));
	CHECK(id_of("a", &ids[n++]));
	CHECK(home_make() && rename(project_at, in("copy")) == 0);
	snprintf(project_at, sizeof(project_at), "%s", in("copy"));
	CHECK(put("copy/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	CHECK(id_of("a", &ids[n++]));
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++)
			CHECK(!same(&ids[i], &ids[j]));
}

/* V05 V06 */
HEAVY_TEST(scripts_count)
{
	struct mp_approval_id first, id;

	CHECK(home_make() &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"node\", \"args\": "
				       "[\"server.js\", \"later.js\", \"link\"]}}}"));
	CHECK(put("project/server.js", "one") && put("x", "") && put("y", "") &&
	      symlink("../x", in("project/link")) == 0);
	CHECK(id_of("a", &first));
	CHECK(id_of("a", &id) && same(&first, &id));
	CHECK(put("project/server.js", "two") && id_of("a", &id) && !same(&first, &id));
	CHECK(put("project/server.js", "one") && id_of("a", &id) && same(&first, &id));
	CHECK(put("project/later.js", "") && id_of("a", &id) && !same(&first, &id)); /* added */
	CHECK(unlink(in("project/later.js")) == 0 && unlink(in("project/link")) == 0 &&
	      symlink("../y", in("project/link")) == 0);
	CHECK(id_of("a", &id) && !same(&first, &id));
	CHECK(put("project/unrelated.js", "") && unlink(in("project/link")) == 0 &&
	      symlink("../x", in("project/link")) == 0);
	CHECK(id_of("a", &id) && same(&first, &id));
}

/* U4 V08 */
HEAVY_TEST(a_yes_is_for_what_stood_there)
{
	MP_STORE db = NULL;
	MP_SET one = NULL;
	MP_SET two = NULL;
	MP_SET three = NULL;
	MP_SET four = NULL;

	CHECK(home_make() && put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
						      "\"c\"}}}"));
	db = home_open_store();
	CHECK(db);
	one = home_load(db);
	CHECK_EQ(one->entries[0]->trust, MP_TRUST_NEW);
	CHECK_EQ(one->entries[0]->first_seen_ms, 1000);
	CHECK_EQ(mp_trust_approve(db, one->entries[0], "trust", 1, &why), 0);
	two = home_load(db);
	CHECK_TEXT(state_of(two, two->entries[0]), "ready");
	CHECK(put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"d\"}}}"));
	three = home_load(db);
	CHECK_EQ(three->entries[0]->trust, MP_TRUST_CHANGED);
	CHECK_TEXT(state_of(three, three->entries[0]), "needs-approval");
	CHECK_EQ(mp_trust_approve(db, three->entries[0], "trust", 1, &why), 0);
	CHECK(put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	four = home_load(db); /* the new yes replaced the old one */
	CHECK_EQ(four->entries[0]->trust, MP_TRUST_CHANGED);
}

/* A set that was loaded before asks the store again, and does so only after a change. */
HEAVY_TEST(a_yes_that_was_taken_back_counts_for_a_set_that_has_it)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	const struct mp_entry *a, *b;
	bool changed;

	CHECK(home_make() && put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
						      "\"c\"}, \"b\": {\"command\": \"d\"}}}"));
	db = home_open_store();
	CHECK(db);
	set = home_load(db);
	a = nth(set, "a", 0);
	b = nth(set, "b", 0);
	CHECK(a && b && mp_trust_approve(db, a, "trust", 1, &why) == 0);
	mp_config_set_unref(set);
	set = home_load(db);
	a = nth(set, "a", 0);
	b = nth(set, "b", 0);
	CHECK(a && b);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), 0);
	CHECK(!changed);
	CHECK_EQ(mp_trust_approve(db, b, "trust", 1, &why), 0); /* another one */
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), 0);
	CHECK(changed);
	CHECK_EQ(mp_approvals_remove(db, &a->id, &why), 1);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), MCPOOL_ENEEDS_APPROVAL);
	CHECK(changed && strstr(why.message, "mcpool trust a"));
	CHECK_EQ(mp_trust_confirm(set, b, db, 1, &changed, &why), 0);
	CHECK_EQ(mp_trust_confirm(set, a, NULL, 1, &changed, &why), 0); /* no store, no change */
}

HEAVY_TEST(the_users_file_is_asked_for_again)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	const char *file = "home/.config/mcpool/mcp.json";
	const struct mp_entry *a;
	bool changed;

	CHECK(home_make() && put(file, "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	db = home_open_store();
	CHECK(db && mp_approvals_set_file(db, in(file), true, 5, &why) == 0);
	set = home_load(db);
	a = nth(set, "a", 0);
	CHECK_TEXT(state_of(set, a), "ready");
	CHECK_EQ(mp_approvals_set_file(db, "/another", true, 6, &why), 0);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), 0);
	CHECK(changed);
	CHECK_EQ(mp_approvals_set_file(db, in(file), false, 7, &why), 0);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), MCPOOL_ENEEDS_APPROVAL);
}

/* V01 V03: servers of projects alone; not what an agent names, not what cannot be checked, no
 * settings. */
/* U4 X29 */
HEAVY_TEST(all_projects_can_be_trusted)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	const char *files[1];
	struct mp_config_request req;
	const struct mp_entry *a;
	bool changed;

	CHECK(home_make() &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}, "
				       "\"odd\": {\"command\": \"./pipe\"}}}"));
	CHECK(put("project/.mcpool/mcp.json", "{\"mcpool\": {\"naming\": \"passthrough\"}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"user\": {\"command\": \"d\"}}}"));
	CHECK(put("asked.json", "{\"mcpServers\": {\"asked\": {\"command\": \"e\"}}}"));
	CHECK(mkfifo(in("project/pipe"), 0600) == 0);
	db = home_open_store();
	CHECK(db && mp_approvals_set_file(db, MP_APPROVALS_PROJECTS, true, 5, &why) == 0);
	req = home_request(db);
	files[0] = in("asked.json");
	req.asked = files;
	req.n_asked = 1;
	set = mp_config_load(&req);
	CHECK(set->trusts_projects);
	a = nth(set, "a", 0);
	CHECK_TEXT(state_of(set, a), "ready");
	CHECK_TEXT(state_of(set, nth(set, "odd", 0)), "failed");
	CHECK_TEXT(state_of(set, nth(set, "user", 0)), "needs-approval");
	CHECK_TEXT(state_of(set, nth(set, "asked", 0)), "needs-approval");
	CHECK_EQ(set->settings.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(mp_approvals_set_file(db, "/another", true, 6, &why), 0);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), 0);
	CHECK(changed);
	CHECK_EQ(mp_approvals_set_file(db, MP_APPROVALS_PROJECTS, false, 7, &why), 0);
	CHECK_EQ(mp_trust_confirm(set, a, db, 1, &changed, &why), MCPOOL_ENEEDS_APPROVAL);
	mp_config_set_unref(set);
	set = mp_config_load(&req);
	CHECK(!set->trusts_projects);
	CHECK_TEXT(state_of(set, nth(set, "a", 0)), "needs-approval");
}

HEAVY_TEST(what_cannot_be_checked_is_refused)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
						      "\"./pipe\"}}}"));
	CHECK(mkfifo(in("project/pipe"), 0600) == 0);
	db = home_open_store();
	set = home_load(db);
	CHECK_EQ(mp_trust_approve(db, set->entries[0], "trust", 1, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "Server \"a\" cannot be approved: pipe"));
}

TEST(an_id_needs_no_store)
{
	struct mp_approval_id id;

	CHECK(home_make() &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
				       "\"./s\"}}}") &&
	      put("project/s", "x"));
	CHECK(id_of("a", &id));
}
