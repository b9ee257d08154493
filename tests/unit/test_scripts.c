/*
 * test_scripts.c - the files inside a project that an entry names, by their content.
 */
#include "home.h"

#include "base/limits.h"
#include "config/scripts.h"
#include "config/trust.h"

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
	char text[600];

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
	CHECK_TEXT(scripts_of("\"command\": \"./inner.js\""), "server.js\t\n");
}

HEAVY_TEST(what_cannot_be_checked_cannot_be_approved)
{
	CHECK(make() && mkfifo(in("project/pipe"), 0600) == 0);
	CHECK_TEXT(scripts_of("\"command\": \"./pipe\""),
		   "pipe, which it names, is no file and cannot be checked");
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
/* Whom we trust, and who we are, is part of what was approved; so is one that appears later. */
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
