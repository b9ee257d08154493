/*
 * test_scripts.c - the files inside a project that an entry names, by their content.
 */
#include "home.h"

#include "base/limits.h"
#include "config/values/scripts.h"
#include "config/values/trust.h"

/* What the id of this entry of .mcp.json covers beyond it. */
static const char *scripts_in(const char *file, const char *text)
{
	static char got[2000];
	MP_SET set = NULL;

	if (!put(file, text))
		return "not written";
	set = home_load(NULL);
	snprintf(got, sizeof(got), "%s",
		 set->n == 0                     ? "not found"
		 : set->entries[0]->unapprovable ? set->entries[0]->unapprovable
						 : set->entries[0]->scripts);
	for (char *tab = got; (tab = strchr(tab, '\t')); tab++) /* the hash is another test's */
		if (strlen(tab) > 64 && tab[65] == '\n')
			memmove(tab + 1, tab + 65, strlen(tab + 65) + 1);
	return got;
}

static const char *scripts_of(const char *body)
{
	char text[1000];

	snprintf(text, sizeof(text), "{\"mcpServers\": {\"a\": {%s}}}", body);
	return scripts_in("project/.mcp.json", text);
}

static bool make(void)
{
	return home_make() && put("project/server.js", "1") && put("project/lib/x.py", "2") &&
	       put("outside.sh", "3");
}

/* V06 V05 */
TEST(a_named_file_is_hashed)
{
	CHECK(make());
	CHECK_TEXT(scripts_of("\"command\": \"node\", \"args\": [\"./server.js\"]"),
		   "server.js\t\n");
}

HEAVY_TEST(words_are_taken_apart_generously)
{
	static const char *const ways[] = {
		"\"command\": \"./server.js\"",
		"\"command\": \"server.js\"",
		"\"command\": \"sh\", \"args\": [\"-c\", \"exec node server.js --x\"]",
		"\"command\": \"sh\", \"args\": [\"-c\", \"true&&node<server.js\"]",
		"\"command\": \"node\", \"args\": [\"--require=server.js\"]",
		"\"command\": \"node\", \"args\": [\"-r./server.js\"]",
		"\"command\": \"node\", \"args\": [\"${CLAUDE_PROJECT_DIR}/server.js\"]",
		"\"command\": \"node\", \"args\": [\"$ROOT/server.js\"]",
		"\"command\": \"node\", \"args\": [\"${WHICH:-./server.js}\"]",
		"\"command\": \"node\", \"args\": [\"${WHICH:-server.js}\"]",
		"\"command\": \"node\", \"args\": [\"lib/../server.js\"]",
		"\"command\": \"node\", \"args\": [\"../server.js\"], \"cwd\": \"lib\"",
		"\"command\": \"node\", \"env\": {\"NODE_OPTIONS\": \"--import ./server.js\"}",
		"\"command\": \"node\", \"env\": {\"TOKEN\": \"!./server.js\"}",
		"\"command\": \"node\", \"env\": {\"TOKEN\": \"!server.js\"}",
		"\"url\": \"https://a\", \"headers\": {\"A\": \"!./server.js x\"}",
		"\"url\": \"https://a\", \"headersHelper\": \"./server.js\"",
		"\"command\": \"c\", \"envFile\": \"server.js\"",
	};

	CHECK(make());
	for (size_t i = 0; i < MP_ARRAY_LEN(ways); i++)
		CHECK(test_same_text(mp_str_of(scripts_of(ways[i])), MP_STR("server.js\t\n"),
				     ways[i], __FILE__, __LINE__));
}

HEAVY_TEST(what_names_no_file_of_the_project_adds_nothing)
{
	static const char *const ways[] = {
		"\"command\": \"npx\", \"args\": [\"-y\", \"@scope/server\"]",
		"\"command\": \"/bin/sh\"",
		"\"command\": \"node\", \"args\": [\"missing.js\", \".\", \"lib\"]",
		"\"url\": \"https://a/server.js\"",
	};

	CHECK(make());
	for (size_t i = 0; i < MP_ARRAY_LEN(ways); i++)
		CHECK(test_same_text(mp_str_of(scripts_of(ways[i])), MP_STR(""), ways[i], __FILE__,
				     __LINE__));
}

/* Codex: relative commands start at the file's folder. */
HEAVY_TEST(relative_to_the_file)
{
	CHECK(make() && put("project/.codex/server.sh", "x") && put("project/.codex/w/s.js", "y"));
	CHECK_TEXT(scripts_in("project/.codex/config.toml",
			      "[mcp_servers.a]\ncommand = \"./server.sh\"\n"),
		   ".codex/server.sh\t\n");
	CHECK_TEXT(
		scripts_in("project/.codex/config.toml",
			   "[mcp_servers.a]\ncommand = \"node\"\nargs = [\"s.js\"]\ncwd = \"w\"\n"),
		".codex/w/s.js\t\n");
}

/* OpenCode: the content of a file can be the command. */
HEAVY_TEST(a_file_that_is_a_value)
{
	CHECK(make() && put("project/.opencode/cmd", "x"));
	CHECK_TEXT(scripts_in("project/.opencode/opencode.json",
			      "{\"mcp\": {\"a\": {\"type\": \"local\", \"command\": "
			      "[\"{file:./cmd}\"]}}}"),
		   ".opencode/cmd\t\n");
}

/* V05: a link out of the project counts by where it leads. */
HEAVY_TEST(links)
{
	char want[200];

	CHECK(make() && symlink("../outside.sh", in("project/link.sh")) == 0 &&
	      symlink("server.js", in("project/inner.js")) == 0);
	snprintf(want, sizeof(want), "./link.sh\t-> %s\n", in("outside.sh"));
	CHECK_TEXT(scripts_of("\"command\": \"./link.sh\""), want);
	/* attack-S6: a link that stays inside may be turned to another file that is covered. */
	CHECK_TEXT(scripts_of("\"command\": \"./inner.js\""),
		   "inner.js\t-> server.js\nserver.js\t\n");
	CHECK(symlink("lib", in("project/folder")) == 0);
	CHECK_TEXT(scripts_of("\"command\": \"x.py\", \"cwd\": \"folder\""),
		   "folder\t-> lib\nfolder/x.py\t-> lib/x.py\nlib/x.py\t\n");
}

HEAVY_TEST(what_cannot_be_checked_cannot_be_approved)
{
	CHECK(make() && mkfifo(in("project/pipe"), 0600) == 0);
	CHECK_TEXT(scripts_of("\"command\": \"./pipe\""),
		   "pipe, which it names, is not a file and cannot be checked");
	CHECK(put("project/secret", "") && chmod(in("project/secret"), 0) == 0);
	if (geteuid() != 0)
		CHECK(strstr(scripts_of("\"command\": \"./secret\""),
			     "secret, which it names, cannot be checked"));
}

HEAVY_TEST(too_many_words)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_SET set = NULL;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(make() && mp_buf_addf(&text, "{\"mcpServers\": {\"a\": {\"command\": \"sh\", "
					   "\"args\": [\"-c\", \"") == 0);
	for (int i = 0; i < MP_LIMIT_SCRIPT_WORDS + 5; i++)
		CHECK_EQ(mp_buf_addf(&text, "w%d ", i), 0);
	CHECK(mp_buf_addf(&text, "\"]}}}") == 0 &&
	      put_bytes("project/.mcp.json", text.data, text.len));
	set = home_load(NULL);
	CHECK_TEXT(set->entries[0]->unapprovable, "its command has too many words to be checked");
	CHECK_TEXT(state_of(set, set->entries[0]), "failed");
}

HEAVY_TEST(user_level_entries_cover_no_scripts)
{
	CHECK(make());
	CHECK_TEXT(scripts_in("home/.cursor/mcp.json",
			      "{\"mcpServers\": {\"a\": {\"command\": \"./server.js\"}}}"),
		   "");
}

/* V05 V06 */
/* Trusted and own certificates are part of the approval; so is one that appears later. */
HEAVY_TEST(certificates_count)
{
	static const char body[] = "\"url\": \"https://a.example/\", \"tls\": {\"ca\": "
				   "\"pki/ca.pem\", \"cert\": \"./pki/me.pem\", \"key\": "
				   "\"~/me.key\"}";

	CHECK(make());
	CHECK(put("project/pki/ca.pem", "4"));
	CHECK_TEXT(scripts_of(body), "pki/ca.pem\t\n");
	CHECK(put("project/pki/me.pem", "5"));
	CHECK_TEXT(scripts_of(body), "pki/ca.pem\t\npki/me.pem\t\n");
}

/* attack-S6: the ways in which a file was run and not covered. */
HEAVY_TEST(no_spelling_hides_a_file)
{
	static const char *const ways[] = {
		"\"command\": \"./ser${NOPE:-ver}.js\"",
		"\"command\": \"./ser${NOPE:-v${NO:-er}}.js\"",
		"\"command\": \"./server.js\", \"cwd\": \"${NOPE:-.}\"",
		"\"command\": \"sh\", \"args\": [\"-c\", \"exec serv\\\\er.js\"]",
		"\"command\": \"node\", \"args\": [\"--import=file://./serv%65r.js\"]",
	};

	CHECK(make());
	for (size_t i = 0; i < MP_ARRAY_LEN(ways); i++)
		CHECK(test_same_text(mp_str_of(scripts_of(ways[i])), MP_STR("server.js\t\n"),
				     ways[i], __FILE__, __LINE__));
	CHECK(put("project/serv er.js", "4"));
	CHECK_TEXT(scripts_of("\"command\": \"sh\", \"args\": [\"-c\", \"exec './serv er.js'\"]"),
		   "serv er.js\t\n");
	CHECK_TEXT(scripts_of("\"command\": \"./x.py\", \"cwd\": \"${NOPE:-lib}\""),
		   "lib/x.py\t\n");
}

/* attack-S6: folders are never dropped in silence. */
HEAVY_TEST(many_folders)
{
	char words[600] = "", path[40];

	CHECK(make());
	for (int i = 0; i < 9; i++) {
		snprintf(path, sizeof(path), "project/d%d/go.sh", i);
		CHECK(put(path, "x"));
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "d%d ", i);
	}
	snprintf(words + strlen(words), sizeof(words) - strlen(words), "; ./go.sh");
	{
		char body[700];

		snprintf(body, sizeof(body), "\"command\": \"sh\", \"args\": [\"-c\", \"ls %s\"]",
			 words);
		CHECK(strstr(scripts_of(body), "d8/go.sh\t\n"));
	}
	words[0] = '\0';
	for (int i = 0; i < 70; i++) {
		snprintf(path, sizeof(path), "project/e%d/f", i);
		CHECK(put(path, "x"));
		snprintf(words + strlen(words), sizeof(words) - strlen(words), "e%d ", i);
	}
	{
		char body[700];

		snprintf(body, sizeof(body), "\"command\": \"ls\", \"args\": [\"%s\"]", words);
		CHECK_TEXT(scripts_of(body), "it names too many folders to be checked");
	}
}

/* attack-S7: what an env file names is covered like what the entry names. */
HEAVY_TEST(an_env_file_is_looked_into)
{
	char text[300];

	CHECK(make());
	snprintf(text, sizeof(text), "A=1\nNODE_OPTIONS=--require %s\n", in("project/server.js"));
	CHECK(put("project/.env", text));
	CHECK_TEXT(scripts_of("\"command\": \"c\", \"envFile\": \".env\""),
		   ".env\t\nserver.js\t\n");
	CHECK(put("project/bin/c", "x") && put("project/.env", "PATH=./bin:/usr/bin\n"));
	CHECK_TEXT(scripts_of("\"command\": \"c\", \"envFile\": \".env\""), ".env\t\nbin/c\t\n");
}

/* attack-S6: programs that run what files say. */
HEAVY_TEST(runners)
{
	CHECK(make() &&
	      put("project/package.json", "{\"scripts\": {\"start\": \"node server\"}}") &&
	      put("project/.npmrc", "a=b") && put("project/Makefile", "all:") &&
	      put("project/pkg/__init__.py", "") && put("project/pkg/sub/z.py", "") &&
	      put("project/pkg/mod.py", "") && put("project/node_modules/.bin/tool", ""));
	CHECK_TEXT(scripts_of("\"command\": \"npm\", \"args\": [\"start\"]"),
		   "package.json\t\n.npmrc\t\nserver.js\t\n");
	CHECK_TEXT(
		scripts_of("\"command\": \"sh\", \"args\": [\"-c\", \"exec /usr/bin/npx tool@1\"]"),
		"node_modules/.bin/tool\t\n.npmrc\t\n");
	CHECK_TEXT(scripts_of("\"command\": \"make\", \"args\": [\"serve\"]"), "Makefile\t\n");
	CHECK_TEXT(scripts_of("\"command\": \"python3.12\", \"args\": [\"-m\", \"pkg.mod\"]"),
		   "pkg/mod.py\t\npkg/__init__.py\t\npkg/sub/z.py\t\n");
	CHECK_TEXT(scripts_of("\"command\": \"python3\", \"args\": [\"server.js\"]"),
		   "server.js\t\n");
}

/* --- once the values are known --------------------------------------------------------------- */

static char *run_argv[3], *run_env[2], *run_environment[2];

/* Does this command, with its values, pass for the approval of this entry? */
static int check_run(const char *body, const char *program, const char *word, char *variable,
		     char *path)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf seen;
	MP_SET set = NULL;
	char text[600];
	struct mp_scripts_run run = {run_argv, project_at, run_env, run_environment};

	mp_buf_init(&seen, 10000);
	snprintf(text, sizeof(text), "{\"mcpServers\": {\"a\": {%s}}}", body);
	if (!put("project/.mcp.json", text))
		return -1000;
	set = home_load(NULL);
	run_argv[0] = (char *)(uintptr_t)program;
	run_argv[1] = (char *)(uintptr_t)word;
	run_env[0] = variable;
	run_environment[0] = path;
	return mp_scripts_check(set->entries[0], &run, &seen, &why);
}

/* attack-S6: what a variable or PATH leads to must have been covered. */
HEAVY_TEST(what_is_run_must_be_covered)
{
	static const char node[] = "\"command\": \"node\", \"args\": [\"server.js\"]";
	char path[300];

	CHECK(make() && put("project/bin/node", "x") && chmod(in("project/bin/node"), 0700) == 0);
	CHECK_EQ(check_run(node, "node", "server.js", NULL, "PATH=/usr/bin"), 0);
	CHECK_EQ(check_run(node, "/usr/bin/node", in("project/server.js"), NULL, "PATH="), 0);
	CHECK_EQ(check_run(node, "node", "/etc/passwd", NULL, "PATH=/usr/bin"), 0);
	CHECK_EQ(check_run(node, "node", "lib/x.py", NULL, "PATH=/usr/bin"),
		 MCPOOL_ENEEDS_APPROVAL);
	CHECK(strstr(why.message,
		     "lib/x.py, a file of the project that its approval does not cover"));
	CHECK(strstr(why.message, "mcpool trust a"));
	snprintf(path, sizeof(path), "PATH=%s:/usr/bin", in("project/bin"));
	CHECK_EQ(check_run(node, "node", "server.js", NULL, path), MCPOOL_ENEEDS_APPROVAL);
	CHECK(strstr(why.message, "bin/node, a file of the project"));
	CHECK_EQ(check_run(node, "node", "server.js", NULL, "PATH=bin"), MCPOOL_ENEEDS_APPROVAL);
	CHECK_EQ(
		check_run(node, "node", "server.js", "NODE_OPTIONS=-r ./lib/x.py", "PATH=/usr/bin"),
		MCPOOL_ENEEDS_APPROVAL);
	CHECK_EQ(check_run(node, "node", "server.js", "DATA=lib/x.py", "PATH=/usr/bin"), 0);
	CHECK_EQ(check_run("\"command\": \"./bin/node\", \"args\": [\"server.js\"]", "./bin/node",
			   "server.js", NULL, "PATH="),
		 0);
}

/* attack-S7 */
TEST(variables_that_decide_what_runs)
{
	static const char *const names[] = {"LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH",
					    "BASH_ENV",   "PATH",         "GIT_SSH_COMMAND"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		CHECK(mp_scripts_is_code_variable(mp_str_of(names[i])));
	CHECK(!mp_scripts_is_code_variable(MP_STR("GIT_AUTHOR_NAME")));
	CHECK(!mp_scripts_is_code_variable(MP_STR("PATHS")));
	CHECK(!mp_scripts_is_code_variable(MP_STR("")));
}
