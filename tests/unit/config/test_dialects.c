/*
 * test_dialects.c - where the servers stand in each tool's file.
 */
#include "home.h"

#include "config/read/sources.h"

#define ONE(name) "{\"mcpServers\": {\"" name "\": {\"command\": \"c-" name "\"}}}"

/* A15 B17 */
TEST(codex)
{
	MP_SET set = NULL;
	const struct mp_entry *e;

	CHECK(home_make() &&
	      put("home/.codex/config.toml", "[mcp_servers.a]\ncommand = \"c\"\nargs = [\"1\"]\n"
					     "[mcp_servers.\"b c\"]\nurl = \"https://a\"\n"
					     "bearer_token_env_var = \"T\"\n"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 2);
	e = mp_config_find(set, "a");
	CHECK_TEXT(e->origin.tool, "codex");
	CHECK_EQ(e->origin.line, 1);
	CHECK_EQ(e->argc, 2);
	CHECK_EQ(e->origin.spellings, 0); /* it knows no variables */
	CHECK_TEXT(mp_config_find(set, "b c")->bearer_variable, "T");
}

/* K1: the servers of one project, in the user's file. */
HEAVY_TEST(claude_local)
{
	MP_SET set = NULL;
	char text[600];
	const struct mp_entry *e;

	CHECK(home_make());
	snprintf(text, sizeof(text),
		 "{\"mcpServers\": {\"u\": {\"command\": \"c\"}}, \"projects\": {\"%s\": "
		 "{\"mcpServers\": {\"l\": {\"command\": \"d\"}, \"u\": {\"command\": \"l\"}}}, "
		 "\"/other\": {\"mcpServers\": {\"o\": {\"command\": \"d\"}}}, \"/x\": null}}",
		 project_at);
	CHECK(put("home/.claude.json", text));
	set = home_load(NULL);
	CHECK_EQ(set->n, 3);
	e = mp_config_find(set, "l");
	CHECK_EQ(e->origin.level, MP_CONFIG_USER);
	CHECK_TEXT(e->origin.scope, project_at);
	CHECK_TEXT(e->origin.root, project_at); /* where it runs */
	CHECK_TEXT(mp_config_find(set, "u")->argv[0], "l");
	CHECK_TEXT(nth(set, "u", 1)->origin.root, "");
	CHECK_EQ(set->n_problems, 0);
}

HEAVY_TEST(vscode)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("project/.vscode/mcp.json",
				 "{\"servers\": {\"a\": {\"command\": \"c\"}}, \"inputs\": [],}"));
	CHECK(put("project/.vscode/settings.json",
		  "{\"servers\": {\"no\": {\"command\": \"c\"}}, \"mcp\": {\"servers\": {\"b\": "
		  "{\"command\": \"d\"}}}}"));
	CHECK(put("home/.config/Code/User/settings.json",
		  "{\"mcp.servers\": {\"c\": {\"command\": \"e\"}}, \"mcp\": 5}"));
	CHECK(put("home/.config/Code/User/mcp.json",
		  "{\"servers\": {\"d\": {\"command\": \"f\"}}}"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 4);
	CHECK(mp_config_find(set, "a") && mp_config_find(set, "b") && mp_config_find(set, "c") &&
	      mp_config_find(set, "d"));
}

/* B17 B18 B23 B22 A3 U2: every row of the table, each with a server of its own; order as there. */
HEAVY_TEST(every_file_with_servers_by_name)
{
	static const char *const files[] = {
		"project/.mcpool/mcp.json",
		"home/.config/mcpool/mcp.json",
		"project/.omp/mcp.json",
		"project/.omp/.mcp.json",
		"home/.omp/agent/mcp.json",
		"home/.omp/agent/.mcp.json",
		"home/.omp/mcp.json",
		"project/.claude/.mcp.json",
		"project/.claude/mcp.json",
		"home/.claude.json",
		"home/.claude/mcp.json",
		"project/.gemini/settings.json",
		"home/.gemini/settings.json",
		"project/.cursor/mcp.json",
		"home/.cursor/mcp.json",
		"project/.windsurf/mcp_config.json",
		"home/.codeium/windsurf/mcp_config.json",
		"project/mcp.json",
		"project/.mcp.json",
	};
	MP_SET set = NULL;

	CHECK(home_make());
	for (size_t i = MP_ARRAY_LEN(files); i-- > 0;) { /* the last of the table is there first */
		char text[200];

		snprintf(
			text, sizeof(text),
			"{\"mcpServers\": {\"same\": {\"command\": \"x\"}, \"s%zu\": {\"command\": "
			"\"c%zu\"}}}",
			i, i);
		CHECK(put(files[i], text));
	}
	set = home_load(NULL);
	CHECK_EQ(set->n, 2 * MP_ARRAY_LEN(files));
	for (size_t i = 0; i < MP_ARRAY_LEN(files); i++) {
		CHECK_TEXT(set->entries[2 * i]->origin.file, in(files[i]));
		CHECK_EQ(set->entries[2 * i]->origin.level,
			 files[i][0] == 'p' ? MP_CONFIG_PROJECT : MP_CONFIG_USER);
		CHECK_EQ(set->entries[2 * i]->shadow, i ? MP_SHADOW_NAME : MP_SHADOW_NONE);
		CHECK_EQ(set->entries[2 * i + 1]->shadow, MP_SHADOW_NONE);
	}
}

/* The same server in the words of each dialect, under a name of its own. */
#define SERVER "{\"command\": \"run\", \"args\": [\"a\"], \"env\": {\"K\": \"v\"}}"
#define OPENCODE                                               \
	"{\"type\": \"local\", \"command\": [\"run\", \"a\"]," \
	" \"environment\": {\"K\": \"v\"}}"
#define TOML   "command = \"run\"\nargs = [\"a\"]\nenv = { K = \"v\" }\n"
#define REMOTE "\"headers\": {\"H\": \"v\"}}"
#define URL    "{\"url\": \"https://a/mcp\", " REMOTE
#define TYPED  "{\"type\": \"http\", \"url\": \"https://a/mcp\", " REMOTE

/* One server for this project and one for all, in the same file. */
static bool put_claude(const char *server)
{
	char text[1000];

	snprintf(text, sizeof(text),
		 "{\"mcpServers\": {\"claude\": %s}, \"projects\": {\"%s\": {\"mcpServers\": "
		 "{\"local\": %s}}}}",
		 server, project_at, server);
	return put("home/.claude.json", text);
}

/* A15 B17: each dialect of the table; the pool is given one connection. */
HEAVY_TEST(one_server_in_every_dialect_is_one_entry)
{
	static const struct {
		const char *name, *tool, *file, *text;
	} rows[] = {
		{"own", "mcpool", "home/.config/mcpool/mcp.json",
		 "{\"mcpServers\": {\"own\": " SERVER "}}"},
		{"omp", "omp", "home/.omp/mcp.json", "{\"mcpServers\": {\"omp\": " SERVER "}}"},
		{"local", "claude", NULL, NULL}, /* with the next one, under the project's path */
		{"claude", "claude", "home/.claude.json", NULL},
		{"fmt:a", "claude-plugin", "plugin/.mcp.json", "{\"a\": " SERVER "}"},
		{"codex", "codex", "home/.codex/config.toml", "[mcp_servers.codex]\n" TOML},
		{"gemini", "gemini", "home/.gemini/settings.json",
		 "{\"mcpServers\": {\"gemini\": " SERVER "}}"},
		{"open", "opencode", "home/.config/opencode/opencode.json",
		 "{\"mcp\": {\"open\": " OPENCODE "}}"},
		{"cursor", "cursor", "home/.cursor/mcp.json",
		 "{\"mcpServers\": {\"cursor\": " SERVER "}}"},
		{"surf", "windsurf", "home/.codeium/windsurf/mcp_config.json",
		 "{\"mcpServers\": {\"surf\": " SERVER "}}"},
		{"code", "vscode", "home/.config/Code/User/mcp.json",
		 "{\"servers\": {\"code\": " SERVER "}}"},
		{"set", "vscode", "home/.config/Code/User/settings.json",
		 "{\"mcp\": {\"servers\": {\"set\": " SERVER "}}}"},
	};
	MP_SET set = NULL;
	const struct mp_entry *first;
	char installed[600];

	CHECK(home_make());
	snprintf(installed, sizeof(installed),
		 "{\"version\": 2, \"plugins\": {\"fmt@m\": [{\"installPath\": \"%s\"}]}}",
		 in("plugin"));
	CHECK(put("home/.claude/plugins/installed_plugins.json", installed));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(!rows[i].text || put(rows[i].file, rows[i].text));
	CHECK(put_claude(SERVER));
	set = home_load(NULL);
	CHECK_EQ(set->n_problems, 0);
	CHECK_EQ(set->n, MP_ARRAY_LEN(rows));
	first = set->entries[0];
	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		CHECK_TEXT(e->name, rows[i].name); /* in the order of the table */
		CHECK_TEXT(e->origin.tool, rows[i].tool);
		CHECK(mp_sources_has_tool(e->origin.tool));
		CHECK_EQ(e->kind, MP_KIND_STDIO);
		CHECK_EQ(e->argc, 2);
		CHECK_TEXT(e->argv[0], "run");
		CHECK_TEXT(e->argv[1], "a");
		CHECK_EQ(e->env.n, 1);
		CHECK_TEXT(e->env.items[0].key, "K");
		CHECK_TEXT(e->env.items[0].value, "v");
		CHECK(mp_str_eq(e->connection, first->connection) || e->origin.plugin_root);
		CHECK_TEXT(state_of(set, e),
			   i == 0 || e->origin.plugin_root ? "needs-approval" : "shadowed");
	}
}

HEAVY_TEST(folders_that_variables_move)
{
	static char claude[120], codex[120], gemini[120];
	MP_SET set = NULL;

	CHECK(home_make());
	snprintf(claude, sizeof(claude), "CLAUDE_CONFIG_DIR=%s", in("c"));
	snprintf(codex, sizeof(codex), "CODEX_HOME=%s", in("x"));
	snprintf(gemini, sizeof(gemini), "GEMINI_CLI_HOME=%s", in("g"));
	home_env[1] = claude;
	home_env[2] = codex;
	home_env[3] = gemini;
	CHECK(put("c/.claude.json", ONE("a")) && put("c/mcp.json", ONE("b")) &&
	      put("x/config.toml", "[mcp_servers.c]\ncommand = \"cc\"\n") &&
	      put("g/.gemini/settings.json", ONE("d")) && put("home/.claude.json", ONE("no")) &&
	      put("home/.codex/config.toml", "[mcp_servers.no]\ncommand = \"cc\"\n"));
	set = home_load(NULL);
	CHECK_EQ(set->n, 4);
	CHECK(!mp_config_find(set, "no"));
}

HEAVY_TEST(gemini_has_lists_beside_its_servers)
{
	MP_SET set = NULL;

	CHECK(home_make() && put("home/.gemini/settings.json",
				 "{\"mcpServers\": {\"a\": {\"command\": \"c\"}, \"b\": "
				 "{\"command\": \"d\"}}, \"mcp\": {\"excluded\": [\"b\", 5]}}"));
	CHECK(put("project/.gemini/settings.json",
		  "{\"mcpServers\": {\"p\": {\"command\": \"e\"}, \"q\": {\"command\": "
		  "\"f\"}}, \"mcp\": {\"allowed\": [\"q\"], \"excluded\": [\"a\"]}}"));
	set = home_load(NULL);
	CHECK_TEXT(state_of(set, nth(set, "a", 0)), "needs-approval");
	CHECK_TEXT(state_of(set, nth(set, "b", 0)), "disabled");
	CHECK_TEXT(state_of(set, nth(set, "p", 0)), "disabled");
	CHECK_TEXT(state_of(set, nth(set, "q", 0)), "needs-approval");
}

/* A15 B17: the same of a server that is reached by its address. */
HEAVY_TEST(one_address_in_every_dialect_is_one_entry)
{
	static const char *const rows[][2] = {
		{"home/.config/mcpool/mcp.json", "{\"mcpServers\": {\"own\": " URL "}}"},
		{"home/.omp/mcp.json", "{\"mcpServers\": {\"omp\": " TYPED "}}"},
		{"home/.claude.json", NULL}, /* of this project, and of all */
		{"home/.claude.json", NULL},
		{"home/.codex/config.toml", "[mcp_servers.codex]\nurl = \"https://a/mcp\"\n"
					    "http_headers = { H = \"v\" }\n"},
		{"home/.gemini/settings.json",
		 "{\"mcpServers\": {\"gemini\": {\"httpUrl\": \"https://a/mcp\", " REMOTE "}}"},
		{"home/.config/opencode/opencode.json",
		 "{\"mcp\": {\"open\": {\"type\": \"remote\", \"url\": "
		 "\"https://a/mcp\", " REMOTE "}}"},
		{"home/.cursor/mcp.json", "{\"mcpServers\": {\"cursor\": " URL "}}"},
		{"home/.codeium/windsurf/mcp_config.json",
		 "{\"mcpServers\": {\"surf\": {\"serverUrl\": \"https://a/mcp\", " REMOTE "}}"},
		{"home/.config/Code/User/mcp.json", "{\"servers\": {\"code\": " TYPED "}}"},
		{"home/.config/Code/User/settings.json",
		 "{\"mcp\": {\"servers\": {\"set\": " TYPED "}}}"},
	};
	MP_SET set = NULL;

	CHECK(home_make());
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK(!rows[i][1] || put(rows[i][0], rows[i][1]));
	CHECK(put_claude(TYPED));
	set = home_load(NULL);
	CHECK_EQ(set->n_problems, 0);
	CHECK_EQ(set->n, MP_ARRAY_LEN(rows));
	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		CHECK_TEXT(e->origin.file, in(rows[i][0]));
		CHECK_EQ(e->kind, MP_KIND_HTTP);
		CHECK_TEXT(e->address, "https://a/mcp");
		CHECK_EQ(e->headers.n, 1);
		CHECK_TEXT(e->headers.items[0].key, "H");
		CHECK_TEXT(e->headers.items[0].value, "v");
		CHECK(mp_str_eq(e->connection, set->entries[0]->connection));
		CHECK_TEXT(state_of(set, e), i == 0 ? "needs-approval" : "shadowed");
	}
}
