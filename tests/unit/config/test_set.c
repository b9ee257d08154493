/*
 * test_set.c - all that is configured for a project, loaded by one call.
 */
#include "home.h"

#include "base/limits.h"
#include "config/read/load.h"
#include "config/read/restore.h"
#include "config/values/trust.h"
#include "store/approvals.h"

/* Say yes to all that is there, and load again. */
static struct mp_config_set *approve_all(struct mp_db *db)
{
	MP_SET set = home_load(db);

	for (size_t i = 0; i < set->n; i++)
		if (mp_trust_approve(db, set->entries[i], "trust", 1, &why) < 0)
			return home_load(NULL);
	for (size_t i = 0; i < set->n_grants; i++)
		if (mp_trust_approve_grant(db, &set->grants[i], 1, &why) < 0)
			return home_load(NULL);
	return home_load(db);
}

/* A2 A3 A19 B1 */
TEST(one_call_finds_entries_and_where_they_stand)
{
	MP_SET set = NULL;
	const struct mp_entry *e;

	CHECK(home_make() && put("project/.mcp.json", "{\n \"mcpServers\": {\n  \"a\": "
						      "{\"command\": \"c\"}}}"));
	set = home_load(NULL);
	CHECK(set->n == 1 || is_failure(set)); /* all or nothing, also when memory is short */
	e = mp_config_find(set, "a");
	CHECK(e);
	CHECK_TEXT(e->origin.file, in("project/.mcp.json"));
	CHECK_EQ(e->origin.line, 3);
	CHECK_EQ(e->origin.column, 3);
	CHECK_TEXT(e->origin.tool, "root");
	CHECK_EQ(e->origin.level, MP_CONFIG_PROJECT);
	CHECK_TEXT(e->origin.root, project_at);
	CHECK_TEXT(set->root, project_at);
	CHECK_TEXT(set->home, home_at);
	CHECK_TEXT(set->project_file, in("project/.mcpool/mcp.json"));
	CHECK_TEXT(set->user_file, in("home/.config/mcpool/mcp.json"));
	CHECK_TEXT(state_of(set, e), "needs-approval");
	CHECK(set->n_paths >= 30);
	CHECK_EQ(set->n_problems, 0);
	CHECK(!mp_config_find(set, "b"));
}

/* A3: read in order, each with its place; then three filters. */
HEAVY_TEST(sources_in_order_and_what_is_filtered)
{
	static const struct {
		const char *name, *file;
		int line;
	} order[] = {{"p", "project/.mcpool/mcp.json", 2},
		     {"off", "home/.config/mcpool/mcp.json", 3},
		     {"exa", "home/.config/mcpool/mcp.json", 4},
		     {"c", "home/.cursor/mcp.json", 1},
		     {"r", "project/.mcp.json", 3}};
	MP_SET set = NULL;
	MP_SET users = NULL;

	CHECK(home_make() &&
	      put("project/.mcp.json", "{\n \"mcpServers\":\n{\"r\": {\"command\": \"r\"}}}") &&
	      put("home/.cursor/mcp.json", "{\"mcpServers\": {\"c\": {\"command\": \"c\"}}}") &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpool\": {\"hostNative\": [\"exa\"]},\n\"mcpServers\": {\n"
		  "\"off\": {\"command\": \"o\", \"enabled\": false},\n"
		  "\"exa\": {\"command\": \"e\"}}}") &&
	      put("project/.mcpool/mcp.json", "{\"mcpServers\": {\n\"p\": {\"command\": \"p\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, MP_ARRAY_LEN(order));
	for (size_t i = 0; i < set->n; i++) {
		CHECK_TEXT(set->entries[i]->name, order[i].name);
		CHECK_TEXT(set->entries[i]->origin.file, in(order[i].file));
		CHECK_EQ(set->entries[i]->origin.line, order[i].line);
	}
	CHECK_TEXT(state_of(set, nth(set, "off", 0)), "disabled");
	CHECK(nth(set, "exa", 0)->left_out);
	CHECK_TEXT(state_of(set, nth(set, "exa", 0)), "shadowed");
	CHECK_TEXT(state_of(set, nth(set, "c", 0)), "needs-approval");
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"projectConfig\": false}}"));
	users = home_load(NULL);
	CHECK_EQ(users->n, 1);
	CHECK_TEXT(users->entries[0]->name, "c");
}

/* A20 */
TEST(a_discovery_that_fails_is_empty_and_says_one_thing)
{
	MP_SET set = NULL;
	struct mp_config_request req;

	CHECK(home_make());
	req = home_request(NULL);
	req.cwd = "nowhere";
	set = mp_config_load(&req);
	CHECK_EQ(set->n, 0);
	CHECK_EQ(set->n_problems, 1);
	CHECK(is_failure(set));
	CHECK(set->problems[0].message[0]);
	CHECK(set->settings.enabled);
}

/*
 * chaos-C2: what cannot be read counts as it was, exactly what was approved of it; the settings as
 * well; and only where that is asked for.
 */
HEAVY_TEST(a_broken_file_counts_as_it_was)
{
	MP_STORE db = NULL;
	MP_SET good = NULL;
	MP_SET set = NULL;
	struct mp_config_request req;
	const struct mp_entry *was, *is;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpool\":{\"naming\":\"passthrough\"},\n\"mcpServers\":{\"a\":{\"command\":"
		  "\"c\",\"env\":{\"K\":\"${V:-x}\"}}}}") &&
	      put("project/.mcp.json", "{\"mcpServers\":{\"b\":{\"command\":\"c\"}}}"));
	db = home_open_store();
	CHECK(db);
	good = approve_all(db);
	was = mp_config_find(good, "a");
	CHECK(was && mp_config_find(good, "b"));
	mp_restore_save(db, good, 1);
	db = mp_db_close(db); /* all of it is written */
	db = home_open_store();
	CHECK(db);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpServers\":{\"a\":{\"com"));
	CHECK(unlink(in("project/.mcp.json")) == 0); /* gone is not broken */
	req = home_request(db);
	set = mp_config_load(&req);
	CHECK(!mp_config_find(set, "a"));
	set = mp_config_set_unref(set);
	req.use_last_good = true;
	set = mp_config_load(&req);
	is = mp_config_find(set, "a");
	CHECK(is && !mp_config_find(set, "b"));
	CHECK_TEXT(state_of(set, is), "ready");
	CHECK(memcmp(&is->id, &was->id, sizeof(is->id)) == 0);
	CHECK_EQ(is->origin.line, 2);
	CHECK_TEXT(is->origin.file, was->origin.file);
	CHECK_EQ(set->settings.naming, good->settings.naming);
	CHECK(mp_restore_find_broken(set) && !mp_restore_find_broken(good));
	CHECK_TEXT(mp_restore_find_broken(set)->file, was->origin.file);
}

TEST(a_set_is_shared)
{
	MP_SET set = NULL;
	MP_SET again = NULL;

	CHECK(home_make());
	set = home_load(NULL);
	again = mp_config_set_ref(set);
	CHECK_EQ(set->refs, 2);
	CHECK(!mp_config_set_unref(NULL));
}

/* A2 A9 A14 */
HEAVY_TEST(switched_off_nothing_else_is_opened)
{
	MP_SET set = NULL;
	MP_SET on = NULL;
	struct mp_config_request req;
	char named[600];

	CHECK(home_make() &&
	      put("home/.cursor/mcp.json", "{\"mcpServers\": {\"z\": {\"command\": \"c\"}}, "
					   "\"mcpool\": {\"enabled\": false}}") &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}, \"mcpool\": {}}"));
	on = home_load(NULL);
	CHECK(on->settings.enabled); /* absent in ours; another tool's file has no say */
	CHECK_EQ(on->n, 2);
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}, "
						  "\"mcpool\": {\"enabled\": false}}"));
	CHECK(put("project/.mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"c\"}}}"));
	CHECK(put("home/.cursor/mcp.json", "{broken"));
	set = home_load(NULL);
	CHECK(!set->settings.enabled);
	CHECK_EQ(set->n, 0);
	CHECK_EQ(set->n_problems, 0);
	CHECK_EQ(set->n_paths, 2); /* our own two files, to see when it is switched on */
	set = mp_config_set_unref(set);
	snprintf(named, sizeof(named),
		 "{\"mcpServers\": {\"n\": {\"command\": \"c\"}}, \"mcpool\": {\"remote\": "
		 "[\"file://%s\"]}}",
		 in("remote.json"));
	CHECK(put("named.json", named));
	CHECK(put("asked.json", "{\"mcpServers\": {\"m\": {\"command\": \"c\"}}}"));
	CHECK(put("remote.json", "{\"mcpServers\": {\"r\": {\"command\": \"c\"}}}"));
	req = home_request(NULL);
	req.files = (const char *[]){in("named.json")};
	req.asked = (const char *[]){in("asked.json")};
	req.n_files = req.n_asked = 1;
	set = mp_config_load_remote(&req);
	CHECK(!set->settings.enabled);
	CHECK_EQ(set->n, 0); /* named, and as little used; a remote source is not opened */
	CHECK_EQ(set->n_paths, 4);
	set = mp_config_set_unref(set);
	CHECK(put("home/.config/mcpool/mcp.json", "{}"));
	set = mp_config_load_remote(&req);
	CHECK(nth(set, "n", 0) && nth(set, "m", 0) && nth(set, "r", 0) && nth(set, "b", 0));
}

/* A16 A10 */
HEAVY_TEST(without_project_files_the_users_entry_of_the_same_name_counts)
{
	MP_SET before = NULL;
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.cursor/mcp.json",
				 "{\"mcpServers\": {\"a\": {\"command\": \"theirs\"}}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"mine\"}}}"));
	before = home_load(NULL);
	CHECK_TEXT(mp_config_find(before, "a")->argv[0], "theirs");
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"projectConfig\": false}}"));
	CHECK(put("project/.mcpool/mcp.json",
		  "{\"mcpool\": {\"naming\": \"passthrough\"}, \"mcpServers\": {\"a\": "
		  "{\"command\": \"its own\"}, \"b\": {\"command\": \"c\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 1);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "mine");
	CHECK_EQ(set->n_grants, 0);
}

#define EXA_SERVERS                                                                    \
	"{\"mcpServers\": {\"Exa\": {\"command\": \"c\"},"                             \
	"\"search\": {\"url\": \"https://u:p@MCP.exa.ai:443/mcp?exaApiKey=v\"},"       \
	"\"local\": {\"command\": \"npx\", \"args\": [\"-y\", \"exa-mcp-server@1\"]}," \
	"\"bridged\": {\"command\": \"npx\", \"args\": [\"mcp-remote\","               \
	" \"https://mcp.exa.ai/mcp\"]},"                                               \
	"\"bare\": {\"url\": \"https://exa.ai/mcp\"},"                                 \
	"\"near\": {\"url\": \"https://notexa.ai/?u=https://mcp.exa.ai\"},"            \
	"\"other\": {\"url\": \"https://exa.ai.example/mcp\"},"                        \
	"\"example\": {\"command\": \"npx\", \"args\": [\"my-exa-mcp-server\"]}}}"

/* A11 */
HEAVY_TEST(what_the_host_does_itself_is_left_out)
{
	static const char *const out[] = {"Exa", "search", "local", "bridged", "bare"};
	static const char *const in[] = {"near", "other", "example"};
	static const char *const elsewhere[] = {"{}", "{\"profile\": \"claude\"}",
						"{\"profile\": \"netdata\"}"};
	MP_SET set = NULL;

	CHECK(home_make() && put("home/.omp/mcp.json", EXA_SERVERS));
	for (size_t i = 0; i < MP_ARRAY_LEN(elsewhere); i++) {
		MP_SET plain = NULL;
		char text[100];

		snprintf(text, sizeof(text), "{\"mcpool\": %s}", elsewhere[i]);
		CHECK(put("home/.config/mcpool/mcp.json", text));
		plain = home_load(NULL);
		CHECK_EQ(plain->n, 8);
		CHECK_EQ(plain->settings.host_native.n, 0);
		for (size_t k = 0; k < plain->n; k++)
			CHECK(!plain->entries[k]->left_out);
	}
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"profile\": \"omp\"}}"));
	set = home_load(NULL);
	CHECK_EQ(set->settings.host_native.n, 1);
	CHECK_TEXT(set->settings.host_native.items[0], "exa");
	for (size_t i = 0; i < MP_ARRAY_LEN(out); i++) {
		CHECK(nth(set, out[i], 0)->left_out);
		CHECK_TEXT(state_of(set, nth(set, out[i], 0)), "shadowed");
	}
	for (size_t i = 0; i < 3; i++)
		CHECK(!nth(set, in[i], 0)->left_out);
	CHECK(nth(set, "search", 0)->address); /* with the key that the host will want */
}

/* A17 B28 B76 U3 */
HEAVY_TEST(a_disabled_entry_owns_its_name)
{
	MP_SET set = NULL;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"enabled\": false}, "
		  "\"b\": {\"command\": \"d\"}, \"c\": {\"command\": \"e\", "
		  "\"enabled\": false}, \"d\": {\"command\": \"f\"}},"
		  "\"mcpool\": {\"deny\": [\"b\", \"d\"], \"allow\": [\"c\", \"d\"]}}"));
	CHECK(put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}"));
	set = home_load(NULL);
	CHECK_TEXT(state_of(set, nth(set, "a", 0)), "disabled");
	CHECK_TEXT(state_of(set, nth(set, "a", 1)), "shadowed");
	CHECK_TEXT(state_of(set, nth(set, "b", 0)), "disabled");
	CHECK_TEXT(state_of(set, nth(set, "c", 0)), "needs-approval");
	CHECK_TEXT(state_of(set, nth(set, "d", 0)), "disabled"); /* both; deny is stronger */
	CHECK_EQ(mp_config_get_state(set, nth(set, "a", 0), MP_TOGGLE_ON),
		 MP_STATUS_NEEDS_APPROVAL);
	CHECK_EQ(mp_config_get_state(set, nth(set, "c", 0), MP_TOGGLE_OFF), MP_STATUS_DISABLED);
	CHECK_EQ(mp_config_get_state(set, nth(set, "b", 0), MP_TOGGLE_ON), MP_STATUS_DISABLED);
}

/* A21 A22 A65 B20 */
HEAVY_TEST(a_broken_entry_is_alone_with_it)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.mcp.json",
				 "{\"mcpServers\": {\"bad\": {\"command\": \"c\", \"url\": \"u\"}, "
				 "\"worse\": 5, \"good\": {\"command\": \"c\"}, "
				 "\"a\\u0000b\": {\"command\": \"nul\"}}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"bad\": {\"type\": \"http\"}}}"));
	CHECK(put("home/.gemini/settings.json", "{\"mcpServers\": []}"));
	set = home_load(NULL);
	CHECK_TEXT(state_of(set, nth(set, "bad", 0)), "failed"); /* Cursor's comes before */
	CHECK_TEXT(nth(set, "bad", 0)->invalid,
		   "Server \"bad\": http server requires \"url\" field");
	CHECK_EQ(nth(set, "bad", 0)->origin.level, MP_CONFIG_USER);
	CHECK_TEXT(state_of(set, nth(set, "bad", 1)), "shadowed");
	CHECK_TEXT(state_of(set, nth(set, "worse", 0)), "failed");
	CHECK_TEXT(nth(set, "worse", 0)->invalid,
		   "Server \"worse\": an object in braces is expected");
	CHECK_TEXT(state_of(set, nth(set, "good", 0)), "needs-approval");
	CHECK_EQ(set->n, 4);
	CHECK(problem_with(set, "an object with servers by name is expected here"));
	CHECK(problem_with(set, "NUL"));
}

/* A22: whatever a project's own file says of mcpool, it does not end discovery. */
HEAVY_TEST(settings_with_a_key_twice_are_not_granted_and_no_obstacle)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;

	CHECK(home_make());
	CHECK(put("project/.mcpool/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}, "
					      "\"mcpool\": {\"deny\": [], \"deny\": [\"b\"]}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	db = home_open_store();
	set = home_load(db);
	CHECK_EQ(set->n, 2);
	CHECK(problem_with(set, "the key \"deny\" occurs twice"));
	CHECK_EQ(set->n_grants, 0);
	CHECK_TEXT(state_of(set, nth(set, "b", 0)), "needs-approval");
}

HEAVY_TEST(one_key_as_large_as_its_file)
{
	MP_SET set = NULL;
	static char text[1000000];

	CHECK(home_make());
	memset(text, 'k', sizeof(text) - 1);
	memcpy(text, "{\"mcpServers\":{\"\\u0061", 22);
	memcpy(text + sizeof(text) - 30, "\":{\"command\":\"c\"}}}", 20);
	CHECK(put("project/.mcp.json", text));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	set = home_load(NULL);
	CHECK(mp_config_find(set, "b"));
	CHECK_EQ(set->n, 2);
	CHECK_TEXT(set->entries[1]->invalid, "Server name is too long (max 100 characters)");
}

/* B72 */
HEAVY_TEST(a_file_that_cannot_be_read_is_a_warning_with_its_place)
{
	MP_SET set = NULL;
	const struct mp_problem *p;

	CHECK(home_make() && put("project/.cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	CHECK(mkdir(in("project/.gemini"), 0700) == 0 &&
	      mkfifo(in("project/.gemini/settings.json"), 0600) == 0);
	set = home_load(NULL);
	CHECK_EQ(set->n, 1);
	CHECK_EQ(set->n_problems, 2); /* one of each file */
	p = problem_with(set, "this is not valid JSON");
	CHECK(p);
	CHECK_EQ(p->severity, MP_WARNING);
	CHECK_TEXT(p->file, in("project/.cursor/mcp.json"));
	CHECK_EQ(p->line, 2);
	CHECK_EQ(p->column, 18);
	CHECK_TEXT(p->quote, "      \"mcpServers\": {,}\n                     ^\n");
	p = problem_with(set, "it is a named pipe");
	CHECK(p && p->line == 0);
}

/* B33 */
HEAVY_TEST(wrong_types_are_warnings_with_their_place)
{
	MP_SET set = NULL;
	const struct mp_problem *p;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\n  \"a\": {\"command\": \"c\", \"enabled\": \"no\"},\n"
		  "  \"b\": {\"command\": \"d\", \"timeout\": \"soon\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 2); /* the file still counts */
	p = problem_with(set, "\"enabled\" must be true or false");
	CHECK(p && p->severity == MP_WARNING);
	CHECK_TEXT(p->file, in("home/.config/mcpool/mcp.json"));
	CHECK_EQ(p->line, 2);
	p = problem_with(set, "\"timeout\" must be a whole number");
	CHECK(p && p->severity == MP_WARNING);
	CHECK_EQ(p->line, 3);
	CHECK(nth(set, "a", 0)->enabled);
	CHECK_EQ(nth(set, "b", 0)->tuning.timeout_ms, 30000);
	set = mp_config_set_unref(set);
	CHECK(put("home/.omp/mcp.json", "{\"mcpServers\": {\"s\": {\"command\": \"c\", "
					"\"enabled\": \"false\", \"timeout\": \"50\"}}}"));
	set = home_load(NULL);
	CHECK(!nth(set, "s", 0)->enabled);
	CHECK_EQ(nth(set, "s", 0)->tuning.timeout_ms, 50);
	CHECK_EQ(set->n_problems, 2); /* those of the other file */
}

/* C21 */
HEAVY_TEST(files_of_the_command_line_come_first_and_are_trusted)
{
	const char *files[2];
	struct mp_config_request req;
	MP_SET set = NULL;
	MP_SET strict = NULL;

	CHECK(home_make() && put("one.json", "{\"mcpServers\": {\"a\": {\"command\": \"one\"}}, "
					     "\"mcpool\": {\"naming\": \"passthrough\"}}"));
	CHECK(put("two.toml", "[mcp_servers.a]\ncommand = \"two\"\n[mcp_servers.b]\n"
			      "command = \"bee\"\n"));
	CHECK(put(
		"home/.config/mcpool/mcp.json",
		"{\"mcpServers\": {\"a\": {\"command\": \"mine\"}, \"z\": {\"command\": \"z\"}}}"));
	req = home_request(NULL);
	files[0] = in("one.json");
	files[1] = in("two.toml");
	req.files = files;
	req.n_files = 2;
	set = mp_config_load(&req);
	CHECK_EQ(set->n, 5);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "one");
	CHECK_TEXT(nth(set, "a", 1)->argv[0], "two");
	CHECK_TEXT(state_of(set, mp_config_find(set, "a")), "ready");
	CHECK_TEXT(state_of(set, mp_config_find(set, "b")), "ready");
	CHECK_TEXT(state_of(set, mp_config_find(set, "z")), "needs-approval");
	CHECK_EQ(set->settings.naming, MP_NAMING_PASSTHROUGH);
	req.strict = true;
	strict = mp_config_load(&req);
	CHECK_EQ(strict->n, 3);
	CHECK_EQ(strict->n_paths, 2);
	files[1] = in("gone.json");
	mp_config_set_unref(strict);
	strict = mp_config_load(&req);
	CHECK_EQ(strict->n, 1);
	CHECK(problem_with(strict, "there is no such file"));
	CHECK_EQ(problem_with(strict, "there is no such file")->severity, MP_ERROR);
}

/*
 * An agent or a repository names them, not a person. They count as the project's: nothing in them
 * has an effect before a yes, and they take no name from what is approved.
 */
/* C21 V01 */
HEAVY_TEST(files_that_a_session_names_need_a_yes)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET granted = NULL;
	MP_SET strict = NULL;
	const char *files[1];
	struct mp_config_request req;

	CHECK(home_make());
	db = home_open_store();
	CHECK(db &&
	      put("asked.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"evil\"}, \"x\": {\"command\": \"x\"}}, "
		  "\"mcpool\": {\"naming\": \"passthrough\"}}"));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"mine\"}}}"));
	CHECK_EQ(mp_approvals_set_file(db, in("home/.config/mcpool/mcp.json"), true, 1, &why), 0);
	req = home_request(db);
	files[0] = in("asked.json");
	req.asked = files;
	req.n_asked = 1;
	set = mp_config_load(&req);
	CHECK_EQ(set->n, 3);
	CHECK_TEXT(mp_config_find(set, "a")->argv[0], "mine");
	CHECK_TEXT(state_of(set, mp_config_find(set, "a")), "ready");
	CHECK_TEXT(state_of(set, mp_config_find(set, "x")), "needs-approval");
	CHECK_TEXT(mp_config_find(set, "x")->origin.root, project_at);
	CHECK_EQ(set->settings.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(set->n_grants, 1);
	CHECK_EQ(mp_trust_approve(db, mp_config_find(set, "x"), "trust", 1, &why), 0);
	CHECK_EQ(mp_trust_approve_grant(db, &set->grants[0], 1, &why), 0);
	granted = mp_config_load(&req);
	CHECK_TEXT(state_of(granted, mp_config_find(granted, "x")), "ready");
	CHECK_TEXT(mp_config_find(granted, "a")->argv[0], "mine");
	CHECK_EQ(granted->settings.naming, MP_NAMING_PASSTHROUGH);
	req.strict = true;
	strict = mp_config_load(&req);
	CHECK_EQ(strict->n, 2);
	CHECK_TEXT(state_of(strict, mp_config_find(strict, "a")), "needs-approval");
}

/* A project's settings have an effect when the user said yes to exactly those (V01). */
HEAVY_TEST(a_projects_settings_need_a_yes)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET granted = NULL;
	MP_SET changed = NULL;

	CHECK(home_make());
	db = home_open_store();
	CHECK(db && put("project/.mcpool/mcp.json", "{\"mcpool\": {\"naming\": \"passthrough\"}}"));
	set = home_load(db);
	CHECK_EQ(set->settings.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(set->n_grants, 1);
	CHECK_TEXT(set->grants[0].name, "[settings]");
	CHECK(problem_with(set, "the settings of a project need your approval: mcpool trust"));
	granted = approve_all(db);
	CHECK_EQ(granted->settings.naming, MP_NAMING_PASSTHROUGH);
	CHECK_TEXT(mp_provenance_get(&granted->settings.provenance, "naming"),
		   in("project/.mcpool/mcp.json:1"));
	CHECK(put("project/.mcpool/mcp.json", "{\"mcpool\": {\"naming\": \"server__tool\"}}"));
	changed = home_load(db);
	CHECK_EQ(changed->settings.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(changed->grants[0].trust, MP_TRUST_CHANGED);
}

/* A9 */
HEAVY_TEST(a_project_switches_off_only_what_was_approved)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET granted = NULL;

	CHECK(home_make());
	db = home_open_store();
	CHECK(db && put("project/.mcpool/mcp.json", "{\"mcpool\": {\"enabled\": false}}"));
	set = home_load(db);
	CHECK(set->settings.enabled);
	granted = approve_all(db);
	CHECK(!granted->settings.enabled);
}

/* A9: of files that are named, too: one of --config at once, one of a session once approved. */
HEAVY_TEST(a_named_file_may_switch_off)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	struct mp_config_request req;
	const char *file[1];

	CHECK(home_make() && put("named.json", "{\"mcpool\": {\"enabled\": false}}"));
	db = home_open_store();
	CHECK(db);
	file[0] = in("named.json");
	req = home_request(db);
	req.files = file;
	req.n_files = 1;
	set = mp_config_load(&req);
	CHECK(!set->settings.enabled);
	set = mp_config_set_unref(set);
	req = home_request(db);
	req.asked = file;
	req.n_asked = 1;
	set = mp_config_load(&req);
	CHECK(set->settings.enabled);
	CHECK_EQ(set->n_grants, 1);
	CHECK_EQ(mp_trust_approve_grant(db, &set->grants[0], 1, &why), 0);
	set = mp_config_set_unref(set);
	set = mp_config_load(&req);
	CHECK(!set->settings.enabled);
}

HEAVY_TEST(sources_are_switched_off_by_tool)
{
	MP_SET set = NULL;

	CHECK(home_make() &&
	      put("home/.cursor/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	CHECK(put("project/.cursor/mcp.json", "{broken"));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpool\": {\"sources\": {\"cursor\": false}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 0);
	CHECK_EQ(set->n_problems, 0);
}

/* use-A5 */
HEAVY_TEST(unknown_keys_at_the_top_of_our_file)
{
	MP_SET set = NULL;
	const struct mp_problem *p;

	CHECK(home_make() &&
	      put("home/.config/mcpool/mcp.json",
		  "{\"$schema\": \"x\", \"mcpool\": {}, \"mcpServers\": {},\n"
		  "\"servers\": {\"a\": {\"command\": \"c\"}}, \"oops\": 1}") &&
	      put("home/.cursor/mcp.json", "{\"servers\": {}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 0);
	p = problem_with(set, "\"servers\" is an unknown key and is ignored; did you mean "
			      "\"mcpServers\"?");
	CHECK(p && p->line == 2 && p->column == 1);
	CHECK(problem_with(set, "\"oops\" is an unknown key and is ignored; a file of mcpool"));
	CHECK_EQ(set->n_problems, 2);
}

/* B33 B72: our own user file broken is said, and the rest goes on. */
/* B74 */
HEAVY_TEST(settings_of_the_wrong_type)
{
	MP_SET set = NULL;
	const struct mp_problem *p;

	CHECK(home_make() && put("home/.config/mcpool/mcp.json",
				 "{\"mcpServers\": {\"a.b\": {\"command\": \"c\", \"oops\": 1}},\n"
				 "\"mcpool\": {\"enabled\": 0, \"what\": 1}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 1);
	p = problem_with(set, "\"enabled\" must be true or false");
	CHECK(p && p->line == 2 && p->column == 12);
	CHECK(problem_with(set, "\"what\" is not a key that is known here"));
	p = problem_with(set, "\"oops\" is not a key that is known here");
	CHECK(p);
	CHECK_TEXT(p->server, "a.b");
	CHECK(problem_with(set, "characters other than letters, digits"));
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": 5}"));
	mp_config_set_unref(set);
	set = home_load(NULL);
	CHECK(problem_with(set, "\"mcpool\" must be an object; it is ignored"));
}

/* V03: a store that cannot be read is a no. */
HEAVY_TEST(the_user_file_can_be_trusted_as_a_whole)
{
	MP_STORE db = NULL;
	MP_SET set = NULL;
	MP_SET trusted = NULL;

	CHECK(home_make() && put("home/.config/mcpool/mcp.json",
				 "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}"));
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	db = home_open_store();
	set = home_load(db);
	CHECK_TEXT(state_of(set, mp_config_find(set, "a")), "needs-approval");
	CHECK_EQ(mp_approvals_set_file(db, in("home/.config/mcpool/mcp.json"), true, 1, &why), 0);
	trusted = home_load(db);
	CHECK_TEXT(state_of(trusted, mp_config_find(trusted, "a")), "ready");
	CHECK_TEXT(state_of(trusted, mp_config_find(trusted, "b")), "needs-approval");
}

/* The home folder as a project: the user's files are read once, as the user's. */
HEAVY_TEST(at_home)
{
	struct mp_config_request req;
	MP_SET set = NULL;

	CHECK(home_make() && put("home/.codex/config.toml", "[mcp_servers.a]\ncommand = \"c\"\n"));
	CHECK(put("home/.claude/mcp.json", "{\"mcpServers\": {\"b\": {\"command\": \"d\"}}}"));
	CHECK(put("home/.mcp.json", "{\"mcpServers\": {\"p\": {\"command\": \"e\"}}}"));
	req = home_request(NULL);
	req.cwd = home_at;
	set = mp_config_load(&req);
	CHECK_EQ(set->n, 3);
	CHECK_EQ(nth(set, "a", 0)->origin.level, MP_CONFIG_USER);
	CHECK_EQ(nth(set, "b", 0)->origin.level, MP_CONFIG_USER);
	CHECK_EQ(nth(set, "p", 0)->origin.level, MP_CONFIG_PROJECT);
}

HEAVY_TEST(there_is_an_end_to_servers)
{
	MP_SET set = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(home_make() && mp_buf_addf(&text, "{\"mcpServers\":{") == 0);
	for (int i = 0; i < MP_LIMIT_SERVERS + 10; i++)
		CHECK_EQ(mp_buf_addf(&text, "%s\"s%d\":{\"command\":\"c%d\"}", i ? "," : "", i, i),
			 0);
	CHECK(mp_buf_addf(&text, "}}") == 0 && put_bytes("project/.mcp.json", text.data, text.len));
	set = home_load(NULL);
	CHECK_EQ(set->n, MP_LIMIT_SERVERS);
	CHECK(problem_with(set, "there are too many servers; the rest is ignored"));
}

/* A mebibyte of empty arguments in each file that a project may have. */
/* A22 */
HEAVY_TEST(a_project_that_is_too_much_takes_only_itself_away)
{
	static const char *const files[] = {".mcpool/mcp.json", ".omp/mcp.json",
					    ".omp/.mcp.json",   ".claude/.mcp.json",
					    ".claude/mcp.json", ".gemini/settings.json",
					    ".cursor/mcp.json", ".windsurf/mcp_config.json",
					    "mcp.json",         ".mcp.json"};
	static char text[1000000];
	MP_SET set = NULL;
	char path[100];

	CHECK(home_make() &&
	      put("home/.cursor/mcp.json", "{\"mcpServers\": {\"mine\": {\"command\": \"c\"}}}"));
	for (size_t i = 0; i < MP_ARRAY_LEN(files); i++) {
		size_t n = (size_t)snprintf(
			text, sizeof(text),
			"{\"mcpServers\":{\"a%zu\":{\"command\":\"x\",\"args\":[\"\"", i);

		while (n + 10 < sizeof(text)) {
			memcpy(text + n, ",\"\"", 3);
			n += 3;
		}
		memcpy(text + n, "]}}}", 4);
		snprintf(path, sizeof(path), "project/%s", files[i]);
		CHECK(put_bytes(path, text, n + 4));
	}
	set = home_load(NULL);
	CHECK(mp_config_find(set, "mine"));
	CHECK(!mp_config_find(set, "a0"));
	CHECK_EQ(set->n_problems, 1);
	CHECK_EQ(set->problems[0].severity, MP_ERROR);
	CHECK_TEXT(set->problems[0].file, project_at);
}
