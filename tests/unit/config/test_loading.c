/*
 * test_loading.c - a set while it is being loaded: entries, problems and paths, seen through it.
 */
#include "home.h"

#include "base/limits.h"
#include "base/mem.h"
#include "config/read/load.h"

/* With each allocation failing in turn it is a whole set or the empty one (A20, A22). */
TEST(all_or_nothing)
{
	MP_SET set = NULL;

	CHECK(home_make());
	CHECK(put(
		"project/.mcpool/mcp.json",
		"{\"mcpServers\": {\"a.b\": {\"command\": \"c\", \"oops\": 1}}, \"mcpool\": {}}"));
	CHECK(put("project/.codex/config.toml", "[mcp_servers.t]\ncommand = \"c\"\nenv_vars = "
						"[\"A\"]\n"));
	CHECK(put("project/opencode.json", "{\"mcp\": {\"o\": {\"type\": \"local\", "
					   "\"command\": [\"c\"], \"oauth\": {}}}}"));
	CHECK(put("home/.config/opencode/opencode.json", "{\"mcp\": {\"o\": {\"timeout\": 5}}}"));
	CHECK(put("home/.claude/plugins/installed_plugins.json", "{\"plugins\": {}}"));
	CHECK(put("home/.cursor/mcp.json",
		  "{\"mcpServers\": {\"n\": {\"command\": \"c\", \"env\": {\"A\": 1}}}}"));
	set = home_load(NULL);
	if (is_failure(set)) {
		CHECK(test_true(set->problems[0].message[0] != '\0', "said why", __FILE__,
				__LINE__));
		return;
	}
	if (set->n != 5 || set->n_problems != 3) /* a missing entry would cause no other failure */
		fprintf(stdout, "%zu entries, %zu problems\n", set->n, set->n_problems);
	mp_check(set->n == 5 && set->n_problems == 3);
	CHECK_EQ(set->n, 5);
}

/* An entry that `mcpool connect` wrote for an agent is not a server, in any file. */
TEST(the_way_to_the_hub_is_no_server)
{
	MP_SET set = NULL;

	CHECK(home_make());
	CHECK(put(
		"home/.cursor/mcp.json",
		"{\"mcpServers\": {\"hub\": {\"command\": \"/opt/mcpool\", \"args\": [\"stdio\"]},"
		"\"mcpool\": {\"url\": \"http://127.0.0.1:7717/mcp\"},"
		"\"wrapped\": {\"command\": \"sh\", \"args\": [\"-c\", \"exec mcpool stdio\"]},"
		"\"demo\": {\"command\": \"mcpool\", \"args\": [\"demo-server\"]}}}"));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"me\": {\"command\": \"mcpool\", \"args\": [\"stdio\"]}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 1);
	CHECK_TEXT(set->entries[0]->name, "demo");
	CHECK_EQ(set->n_problems, 1);
	CHECK_TEXT(set->problems[0].message, "this is mcpool itself; it is ignored");
}

/* B73: two of the same name in one file. */
HEAVY_TEST(problems_are_in_the_order_of_the_files_and_bounded)
{
	MP_SET set = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(home_make());
	CHECK_EQ(mp_buf_addf(&text, "{\"mcpServers\": {\"a\": {\"command\": \"c\""), 0);
	for (int i = 0; i < MP_LIMIT_PROBLEMS + 100; i++)
		CHECK_EQ(mp_buf_addf(&text, ", \"unknown%d\": 1", i), 0);
	CHECK(mp_buf_addf(&text, "}}}") == 0 &&
	      put_bytes("home/.config/mcpool/mcp.json", text.data, text.len));
	set = home_load(NULL);
	CHECK_EQ(set->n, 1);
	CHECK_EQ(set->n_problems, MP_LIMIT_PROBLEMS);
	CHECK(strstr(set->problems[0].message, "unknown0"));
}

HEAVY_TEST(every_path_is_noted_whether_it_is_there_or_not)
{
	MP_SET set = NULL;
	bool found = false;

	CHECK(home_make());
	set = home_load(NULL);
	for (size_t i = 0; i < set->n_paths; i++)
		found = found || strcmp(set->paths[i], in("project/.vscode/mcp.json")) == 0;
	CHECK(found);
}

/* Two spellings of one name in a file: the first has it, the other is shown. */
HEAVY_TEST(a_name_twice_in_one_file)
{
	MP_SET set = NULL;

	CHECK(home_make() &&
	      put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"first\"}, "
				       "\"\\u0061\": {\"command\": \"second\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 2);
	CHECK_TEXT(nth(set, "a", 0)->argv[0], "first");
	CHECK_TEXT(state_of(set, nth(set, "a", 1)), "shadowed");
}

static const char *invalid_of(const struct mp_config_set *set, const char *name)
{
	const struct mp_entry *e = mp_config_find(set, name);

	return !e ? "(none)" : e->invalid ? e->invalid : "";
}

/* U28 */
HEAVY_TEST(an_undefined_queue_is_an_error_of_its_server)
{
	MP_SET set = NULL;
	struct mp_config_request req;
	char path[1000];
	const char *more = path;

	CHECK(home_make());
	req = home_request(NULL);
	snprintf(path, sizeof(path), "%s", in("project/more.json"));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {"
		  "\"a\": {\"command\": \"c1\", \"queue\": \"heavy\"},"
		  "\"b\": {\"command\": \"c2\", \"queue\": \"nowhere\"},"
		  "\"c\": {\"command\": \"c3\", \"toolQueues\": {\"t\": \"nowhere\"}},"
		  "\"d\": {\"command\": \"c4\", \"toolQueues\": {\"t\": \"late\"}},"
		  "\"e\": {\"command\": \"c5\", \"queue\": \"wrong\"}},\n"
		  "\"mcpool\": {\"queues\": {\"heavy\": {\"slots\": 2}, \"wrong\":\n 5}}}"));
	CHECK(put("project/more.json", "{\"mcpool\": {\"queues\": {\"late\": {}}}}"));
	req.files = &more;
	req.n_files = 1;
	set = mp_config_load(&req);
	CHECK_EQ(set->n, 5);
	CHECK_TEXT(invalid_of(set, "a"), ""); /* although a later layer has queues, too */
	CHECK(strstr(invalid_of(set, "b"), "queue \"nowhere\" is not defined"));
	CHECK(strstr(invalid_of(set, "c"), "queue \"nowhere\" of tool \"t\" is not defined"));
	CHECK_TEXT(invalid_of(set, "d"), ""); /* defined behind it */
	CHECK_TEXT(invalid_of(set, "e"), "");
	CHECK_EQ(mp_config_get_state(set, mp_config_find(set, "b"), MP_TOGGLE_NONE),
		 MP_STATUS_FAILED);
	CHECK_EQ(set->n_problems, 1);
	CHECK_EQ(set->problems[0].line, 2);
	CHECK(strstr(set->problems[0].message, "a queue is an object"));
}
