/*
 * test_resolve.c - an approved entry made ready: placeholders, commands, folders, tokens, the key.
 */
#include "home.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/redact.h"
#include "base/secrets.h"
#include "config/read/sources.h"
#include "config/values/resolve.h"
#include "config/values/trust.h"
#include "store/secrets.h"

struct desk {
	struct mp_config_set *set;
	struct mp_commands *commands;
	struct mp_secret_values *secrets;
	struct mp_resolved out;
	bool resolved;
	char warned[1000];
	int r;
};

static void tidy(struct desk *d)
{
	if (d->resolved)
		mp_resolved_done(&d->out);
	mp_commands_free(d->commands);
	mp_secret_values_unref(d->secrets);
	mp_config_set_unref(d->set);
	mp_secret_remove_all();
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {0}

static void note(void *u, const char *message)
{
	struct desk *d = u;
	size_t n = strlen(d->warned);

	snprintf(d->warned + n, sizeof(d->warned) - n, "%s|", message);
}

/* Treat the first entry of the files as approved, and resolve it. */
static int resolve(struct desk *d)
{
	struct mp_resolve_request req;

	if (d->resolved)
		mp_resolved_done(&d->out);
	d->resolved = false;
	mp_config_set_unref(d->set);
	d->set = home_load(NULL);
	if (d->set->n == 0 || d->set->entries[0]->invalid)
		return MCPOOL_EINVAL;
	d->set->entries[0]->trust = MP_TRUST_YES;
	if (!d->commands)
		d->commands = mp_commands_new();
	if (!d->secrets)
		d->secrets = mp_secret_values_new();
	d->warned[0] = '\0';
	why = (struct mcpool_error){0};
	req = (struct mp_resolve_request){.set = d->set,
					  .entry = d->set->entries[0],
					  .env = home_env,
					  .commands = d->commands,
					  .secrets = d->secrets,
					  .now_ms = 1000,
					  .local_key = "key",
					  .on_warning = note,
					  .u = d};
	d->resolved = true;
	return d->r = mp_resolve(&req, &d->out, &why);
}

/* The entry "a" of the user's own file (where ! is a command) with this body. */
static int resolve_own(struct desk *d, const char *body, const char *settings)
{
	char text[1500];

	snprintf(text, sizeof(text), "{\"mcpServers\": {\"a\": {%s}}, \"mcpool\": {%s}}", body,
		 settings);
	return put("home/.config/mcpool/mcp.json", text) ? resolve(d) : -1000;
}

static const char *variable(const struct desk *d, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; d->out.env && d->out.env[i]; i++)
		if (strncmp(d->out.env[i], name, n) == 0 && d->out.env[i][n] == '=')
			return d->out.env[i] + n + 1;
	return "(none)";
}

static const char *header(const struct desk *d, const char *name)
{
	for (size_t i = 0; i < d->out.headers.n; i++)
		if (strcmp(d->out.headers.items[i].key, name) == 0)
			return d->out.headers.items[i].value;
	return "(none)";
}

/* B30 B31 B34 U5 B29 B2 */
TEST(every_string_is_expanded)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "WORD=w";
	home_env[2] = "EMPTY=";
	CHECK_EQ(
		resolve_own(&d,
			    "\"command\": \"${WORD}x\", \"args\": [\"${NO:-d}\", \"${EMPTY:-e}\"], "
			    "\"env\": {\"A\": \"<${WORD}>\"}, \"cwd\": \"${WORD}\"",
			    ""),
		0);
	CHECK_TEXT(d.out.argv[0], "wx");
	CHECK_TEXT(d.out.argv[1], "d");
	CHECK_TEXT(d.out.argv[2], "e");
	CHECK(!d.out.argv[3]);
	CHECK_TEXT(variable(&d, "A"), "<w>");
	CHECK_TEXT(d.out.cwd, in("home/w"));
	CHECK_TEXT(d.warned, "");
	/* never stored resolved */
	CHECK_TEXT(d.set->entries[0]->argv[0], "${WORD}x");
	CHECK_TEXT(d.set->entries[0]->env.items[0].value, "<${WORD}>");
	CHECK(strstr(d.set->entries[0]->canonical.p, "<${WORD}>"));
	CHECK(put("home/w.env", "FROM_FILE=f\n"));
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://${WORD}/${NO:-${WORD}}\", \"headers\": {\"H\": "
			     "\"${FROM_FILE}\"}, \"envFile\": \"${WORD}.env\", "
			     "\"tls\": {\"ca\": \"/${WORD}.pem\", \"cert\": \"/${WORD}.crt\", "
			     "\"key\": \"/${WORD}.key\"}",
			     ""),
		 0);
	CHECK_TEXT(d.out.url, "https://w/w");
	CHECK_TEXT(header(&d, "H"), "f");
	CHECK_TEXT(d.out.ca_file, "/w.pem");
	CHECK_TEXT(d.out.cert_file, "/w.crt");
	CHECK_TEXT(d.out.key_file, "/w.key");
	CHECK_TEXT(d.set->entries[0]->address, "https://${WORD}/${NO:-${WORD}}");
	CHECK_TEXT(d.set->entries[0]->headers.items[0].value, "${FROM_FILE}");
}

/* B32 N3 A21 X15 */
HEAVY_TEST(a_missing_variable_by_policy)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"${NO}\"}", ""),
		 MCPOOL_ENOENT);
	CHECK(strstr(why.message, "Unresolved variable ${NO} for mcp 'a' at "));
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"<${NO}>\"}",
			     "\"missingVariable\": \"warn\""),
		 0);
	CHECK_TEXT(variable(&d, "A"), "<>");
	CHECK(d.warned[0]);
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"${NO}\"}",
			     "\"profile\": \"omp\""),
		 0);
	CHECK_TEXT(variable(&d, "A"), "${NO}");
}

/* B38 B34 O15 */
/* B78 */
HEAVY_TEST(a_value_that_a_command_prints)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "PATH=/usr/bin:/bin";
	CHECK_EQ(
		resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!printf ' value1 '\"}", ""),
		0);
	CHECK_TEXT(variable(&d, "A"), "value1");
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"headers\": {\"H\": \"!echo value2\"}",
			     ""),
		 0);
	CHECK_TEXT(header(&d, "H"), "value2");
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!exit 3\"}", ""),
		 MCPOOL_EIO);
	CHECK(strstr(why.message, "Server \"a\": the command for A failed: "));
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!echo x\"}",
			     "\"valueIndirection\": \"off\""),
		 0);
	CHECK_TEXT(variable(&d, "A"), "!echo x");
	for (int i = 0; i < 2; i++) { /* what they are for a profile */
		const char *profile = i ? "\"profile\": \"netdata\"" : "\"profile\": \"claude\"";

		CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!echo x\"}",
				     profile),
			 0);
		CHECK_TEXT(variable(&d, "A"), "!echo x");
		CHECK_EQ(resolve_own(&d,
				     "\"url\": \"https://a\", \"headers\": {\"H\": \"!echo x\"}",
				     profile),
			 0);
		CHECK_TEXT(header(&d, "H"), "!echo x");
	}
}

/* U5 X15 */
/* A variable, a default, a file of variables, a command; and what is missing, as each policy has
 * it. */
HEAVY_TEST(values_are_expanded_by_policy)
{
	static const struct {
		const char *settings, *value;
	} missing[] = {{"\"missingVariable\": \"literal\"", "<${NO}>"},
		       {"\"missingVariable\": \"warn\"", "<>"},
		       {"\"missingVariable\": \"fail\"", NULL}};
	DESK;

	CHECK(home_make() && put("home/x.env", "FILE=f\n"));
	home_env[1] = "PATH=/usr/bin:/bin";
	home_env[2] = "WORD=w";
	CHECK_EQ(resolve_own(&d,
			     "\"command\": \"${WORD}\", \"args\": [\"${NO:-d}\", \"${FILE}\"], "
			     "\"envFile\": \"~/x.env\", \"env\": {\"A\": \"!printf value1\"}",
			     ""),
		 0);
	CHECK_TEXT(d.out.argv[0], "w");
	CHECK_TEXT(d.out.argv[1], "d");
	CHECK_TEXT(d.out.argv[2], "f");
	CHECK_TEXT(variable(&d, "FILE"), "f");
	CHECK_TEXT(variable(&d, "A"), "value1");
	for (size_t i = 0; i < MP_ARRAY_LEN(missing); i++) {
		int r = resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"<${NO}>\"}",
				    missing[i].settings);

		CHECK_EQ(r, missing[i].value ? 0 : MCPOOL_ENOENT);
		CHECK(missing[i].value ? d.warned[0] != '\0'
				       : strstr(why.message, "Unresolved variable ${NO}") != NULL);
		if (missing[i].value)
			CHECK_TEXT(variable(&d, "A"), missing[i].value);
	}
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!echo x\"}",
			     "\"valueIndirection\": \"off\""),
		 0);
	CHECK_TEXT(variable(&d, "A"), "!echo x");
}

#define SLOW_TOKEN "\"!printf x >>runs; printf ' \\n v1 \\n'\""

/* B38: of env and headers, in our own files; 10 s at most; trimmed; run once. */
HEAVY_TEST(a_command_has_ten_seconds_and_runs_once)
{
	struct stat st;
	DESK;

	CHECK(home_make());
	home_env[1] = "PATH=/usr/bin:/bin";
	d.commands = mp_commands_new();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(
			resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": " SLOW_TOKEN "}", ""),
			0);
		CHECK_TEXT(variable(&d, "A"), "v1");
		CHECK_EQ(resolve_own(&d,
				     "\"url\": \"https://a\", \"headers\": {\"H\": " SLOW_TOKEN "}",
				     ""),
			 0);
		CHECK_TEXT(header(&d, "H"), "v1");
	}
	CHECK(stat(in("home/runs"), &st) == 0 || stat(in("project/runs"), &st) == 0);
	CHECK_EQ(st.st_size, 1);
	CHECK_EQ(mp_commands_set_timeout(d.commands, 300), 10000);
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"!sleep 60\"}", ""),
		 MCPOOL_ETIMEDOUT);
	CHECK(strstr(why.message,
		     "the command for A failed: the command was not done after 300 ms"));
	CHECK(unlink(in("home/.config/mcpool/mcp.json")) == 0);
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": "
					   "{\"A\": \"!echo v1\"}}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(variable(&d, "A"), "!echo v1"); /* another tool's file */
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"url\": \"https://a\", "
					   "\"headers\": {\"H\": \"!echo v1\"}}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(header(&d, "H"), "!echo v1");
	for (int i = 0; i < 3; i++) { /* those of omp, and of the root */
		static const char *const files[] = {"home/.omp/mcp.json", "project/mcp.json",
						    "project/.mcp.json"};

		CHECK(unlink(in(i ? files[i - 1] : "home/.cursor/mcp.json")) == 0);
		CHECK(put(files[i], "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": "
				    "{\"A\": \"!echo v1\"}}}}"));
		CHECK_EQ(resolve(&d), 0);
		CHECK_TEXT(variable(&d, "A"), "v1");
		CHECK(put(files[i], "{\"mcpServers\": {\"a\": {\"url\": \"https://a\", "
				    "\"headers\": {\"H\": \"!echo v1\"}}}}"));
		CHECK_EQ(resolve(&d), 0);
		CHECK_TEXT(header(&d, "H"), "v1");
	}
	for (size_t i = 0; i < mp_sources_n; i++) { /* and of no other tool */
		const char *tool = mp_sources[i].tool;
		bool may = strcmp(tool, "mcpool") == 0 || strcmp(tool, "omp") == 0 ||
			   strcmp(tool, "root") == 0;

		CHECK(test_true(may == !!(mp_sources[i].quirks & MP_QUIRK_COMMANDS), tool, __FILE__,
				__LINE__));
	}
}

/* B38 */
/* In the omp profile, as omp does it. */
HEAVY_TEST(in_the_omp_profile_every_file_may_have_commands)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "PATH=/usr/bin:/bin";
	CHECK(put("home/.config/mcpool/mcp.json", "{\"mcpool\": {\"profile\": \"omp\"}}"));
	CHECK(put(
		"home/.cursor/mcp.json",
		"{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"A\": \"!echo v1\"}}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(variable(&d, "A"), "v1");
	CHECK(put("home/.cursor/mcp.json", "{\"mcpServers\": {\"a\": {\"url\": \"https://a\", "
					   "\"headers\": {\"H\": \"!echo v2\"}}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(header(&d, "H"), "v2");
}

/* In the files of other tools a ! is a !. */
HEAVY_TEST(other_tools_have_no_commands)
{
	DESK;

	CHECK(home_make() && put("home/.cursor/mcp.json",
				 "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"env\": {\"A\": "
				 "\"!touch pwned\"}}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(variable(&d, "A"), "!touch pwned");
}

/* B39 B40 B41 B78 */
HEAVY_TEST(the_omp_profile)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "PATH=/usr/bin:/bin";
	home_env[2] = "TOKEN=from-the-environment";
	CHECK_EQ(resolve_own(&d,
			     "\"command\": \"c\", \"env\": {\"A\": \"TOKEN\", \"B\": \"NOT_SET\", "
			     "\"C\": \"!exit 1\", \"D\": \"!true\"}",
			     "\"profile\": \"omp\""),
		 0);
	CHECK_TEXT(variable(&d, "A"), "from-the-environment");
	CHECK_TEXT(variable(&d, "B"), "NOT_SET"); /* literally */
	CHECK_TEXT(variable(&d, "C"), "(none)");
	CHECK_TEXT(variable(&d, "D"), "(none)");
	CHECK(strstr(d.warned, "C is left out") && strstr(d.warned, "D is left out"));
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://a\", \"headers\": {\"A\": \"TOKEN\", \"B\": "
			     "\"NOT_SET\", \"C\": \"!exit 1\", \"D\": \"!true\"}",
			     "\"profile\": \"omp\""),
		 0);
	CHECK_TEXT(header(&d, "A"), "from-the-environment");
	CHECK_TEXT(header(&d, "B"), "NOT_SET");
	CHECK_TEXT(header(&d, "C"), "(none)");
	CHECK_TEXT(header(&d, "D"), "(none)");
	CHECK(strstr(d.warned, "C is left out") && strstr(d.warned, "D is left out"));
}

HEAVY_TEST(what_an_entry_says_about_its_login)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "CLIENT=client-from-env";
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://a\", \"oauth\": {\"clientId\": \"${CLIENT}\", "
			     "\"scopes\": [\"a\", \"b\"], \"callbackPort\": 4711, \"unknown\": 1}, "
			     "\"auth\": {\"type\": \"oauth\", \"credentialId\": \"id1\"}",
			     ""),
		 0);
	CHECK_TEXT(d.out.oauth.client_id, "client-from-env");
	CHECK_TEXT(d.out.oauth.scope, "a b");
	CHECK_TEXT(d.out.oauth.credential, "id1");
	CHECK_EQ(d.out.oauth.callback_port, 4711);
	CHECK(d.out.oauth.is_wanted && !d.out.oauth.is_off);
	CHECK(!mp_resolved_has_authorization(&d.out));
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"oauth\": false", ""), 0);
	CHECK(d.out.oauth.is_off);
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"headers\": {\"authorization\": \"x\"}",
			     ""),
		 0);
	CHECK(mp_resolved_has_authorization(&d.out));
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://a\", \"oauth\": {\"grant\": "
			     "\"client_credentials\", \"clientId\": \"c\"}",
			     ""),
		 MCPOOL_EINVAL);
	CHECK(strstr(why.message,
		     "Server \"a\": \"oauth\": clientSecret or privateKey is missing"));
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"oauth\": 5", ""), MCPOOL_EINVAL);
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"oauth\": {\"clientId\": 5}", ""),
		 MCPOOL_EINVAL);
}

HEAVY_TEST(a_helper_prints_headers)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(resolve_own(
			 &d,
			 "\"url\": \"https://a/x\", \"headers\": {\"A\": \"old\", \"B\": \"b\"}, "
			 "\"headersHelper\": \"printf '{\\\"A\\\": \\\"%s %s\\\"}' "
			 "$CLAUDE_CODE_MCP_SERVER_NAME $CLAUDE_CODE_MCP_SERVER_URL\"",
			 ""),
		 0);
	CHECK_TEXT(header(&d, "A"), "a https://a/x");
	CHECK_TEXT(header(&d, "B"), "b");
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"headersHelper\": \"echo [1]\"", ""),
		 MCPOOL_EPARSE);
	CHECK(strstr(why.message,
		     "Server \"a\": headersHelper failed: it must print a JSON object"));
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a\", \"headersHelper\": \"exit 3\"", ""),
		 MCPOOL_EIO);
}

/* N2 U5: an env file is below what the entry says, and its variables are known to placeholders. */
HEAVY_TEST(an_env_file)
{
	DESK;

	CHECK(home_make() && put("home/x.env", "A=file\nB=file\n"));
	CHECK_EQ(resolve_own(&d,
			     "\"command\": \"c\", \"args\": [\"${B}\"], \"envFile\": \"~/x.env\", "
			     "\"env\": {\"A\": \"entry\"}",
			     ""),
		 0);
	CHECK_TEXT(d.out.argv[1], "file");
	CHECK_TEXT(variable(&d, "A"), "entry");
	CHECK_TEXT(variable(&d, "B"), "file");
	CHECK(d.out.env[1] && !d.out.env[2]); /* no name twice */
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"envFile\": \"gone.env\"", ""), MCPOOL_EIO);
	CHECK(strstr(why.message, "gone.env: there is no such file"));
}

/* What a log would have of this text. */
static const char *logged(const char *text)
{
	static char got[300];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, sizeof(got));
	if (mp_redact(mp_str_of(text), false, &out) < 0)
		return "no memory";
	snprintf(got, sizeof(got), "%.*s", (int)out.len, out.data);
	return got;
}

/* attack-S14: by value, whatever the name. Short and harmless words stay. */
HEAVY_TEST(values_that_are_hidden)
{
	DESK;

	CHECK(home_make() && put("home/x.env", "PLAINVAR=open sesame now\nMODE=fast\n"));
	CHECK_EQ(resolve_own(&d,
			     "\"command\": \"c\", \"envFile\": \"~/x.env\", "
			     "\"env\": {\"PLAIN\": \"q8Zr1TmX0vLw93Kd\", \"WORD\": \"production\"}",
			     ""),
		 0);
	CHECK_TEXT(logged("I got open sesame now"), "I got \xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2");
	CHECK_TEXT(logged("q8Zr1TmX0vLw93Kd!"), "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2!");
	CHECK_TEXT(logged("fast production"), "fast production");
}

/* B41: Codex */
HEAVY_TEST(variables_by_name)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "TOKEN=token-value";
	home_env[2] = "TEAM=";
	CHECK(put(
		"home/.codex/config.toml",
		"[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"TOKEN\"\n"
		"http_headers = { \"X\" = \"${TOKEN}\" }\nenv_http_headers = { \"Y\" = \"TOKEN\", "
		"\"Z\" = \"TEAM\" }\n"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(header(&d, "Authorization"), "Bearer token-value");
	CHECK_TEXT(header(&d, "X"), "${TOKEN}"); /* it knows no placeholders */
	CHECK_TEXT(header(&d, "Y"), "token-value");
	CHECK_TEXT(header(&d, "Z"), "(none)");
	CHECK(strstr(d.warned, "the header Z is left out, TEAM is not set"));
	CHECK(put("home/.codex/config.toml",
		  "[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"NOPE\"\n"));
	CHECK_EQ(resolve(&d), MCPOOL_ENOENT);
	CHECK(put("home/.codex/config.toml", "[mcp_servers.a]\ncommand = \"./bin/x\"\ncwd = \"w\"\n"
					     "env_vars = [\"TOKEN\", \"NOPE\"]\n"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(d.out.argv[0], in("home/.codex/./bin/x"));
	CHECK_TEXT(d.out.cwd, in("home/.codex/w"));
	CHECK_TEXT(variable(&d, "TOKEN"), "token-value");
	CHECK(!d.out.env[1]);
	CHECK(strstr(d.warned, "the variable NOPE is left out, it is not set"));
}

HEAVY_TEST(folders)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\"", ""), 0);
	CHECK_TEXT(d.out.cwd, home_at);
	CHECK_EQ(resolve_own(&d, "\"command\": \"~/c\", \"cwd\": \"/abs\"", ""), 0);
	CHECK_TEXT(d.out.cwd, "/abs");
	CHECK_TEXT(d.out.argv[0], in("home/c"));
	CHECK(unlink(in("home/.config/mcpool/mcp.json")) == 0);
	CHECK(put("project/.vscode/mcp.json", "{\"servers\": {\"a\": {\"command\": "
					      "\"${workspaceFolder}/t\", \"cwd\": \"sub\"}}}"));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(d.out.argv[0], in("project/t"));
	CHECK_TEXT(d.out.cwd, in("project/sub"));
}

HEAVY_TEST(an_address_that_is_none_once_it_is_filled_in)
{
	DESK;

	CHECK(home_make());
	home_env[1] = "BASE=ftp://x";
	CHECK_EQ(resolve_own(&d, "\"url\": \"${BASE}/mcp\"", ""), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "must begin with http://"));
	home_env[1] = "BASE=https://x";
	CHECK_EQ(resolve_own(&d, "\"url\": \"${BASE}/mcp\"", ""), 0);
	CHECK_TEXT(d.out.url, "https://x/mcp");
}

static bool key_of(struct desk *d, const char *body, unsigned char key[MP_DIGEST_SIZE])
{
	bool ok = resolve_own(d, body, "") == 0;

	memcpy(key, d->out.launch_key, MP_DIGEST_SIZE);
	return ok;
}

/* doc/protocol.md, "Identity": what the pool shares by. */
HEAVY_TEST(the_launch_key)
{
	static const char *const others[] = {
		"\"command\": \"d\", \"args\": [\"1\"]",
		"\"command\": \"c\", \"args\": [\"2\"]",
		"\"command\": \"c\", \"args\": [\"1\"], \"cwd\": \"/\"",
		"\"command\": \"c\", \"args\": [\"1\"], \"env\": {\"A\": \"b\"}",
		"\"command\": \"c\", \"args\": [\"1\"], \"env\": {\"A\": \"${V}\"}",
		"\"command\": \"c\", \"args\": [\"1\"], \"auth\": {\"type\": \"oauth\"}",
		"\"command\": \"c\", \"args\": [\"1\"], \"env\": {\"A\": \"!echo value-x\"}",
		"\"url\": \"https://c/1\"",
	};
	unsigned char first[MP_DIGEST_SIZE], key[MP_DIGEST_SIZE], again[MP_DIGEST_SIZE];
	DESK;

	CHECK(home_make());
	home_env[1] = "V=one";
	home_env[2] = "PATH=/usr/bin:/bin";
	CHECK(key_of(&d, "\"command\": \"c\", \"args\": [\"1\"]", first));
	CHECK(key_of(&d, "\"args\": [\"1\"], \"timeout\": 5, \"command\": \"c\"", key));
	CHECK(memcmp(first, key, sizeof(key)) == 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++) {
		CHECK(key_of(&d, others[i], key));
		CHECK(test_true(memcmp(first, key, sizeof(key)) != 0, others[i], __FILE__,
				__LINE__));
	}
	/* the value of a variable is another launch; a command is what it says, not what it prints
	 */
	CHECK(key_of(&d, others[4], key));
	home_env[1] = "V=two";
	CHECK(key_of(&d, others[4], again));
	CHECK(memcmp(again, key, sizeof(key)) != 0);
	CHECK(put("v", "1") &&
	      key_of(&d, "\"command\": \"c\", \"env\": {\"A\": \"!cat ../v\"}", key));
	d.commands = mp_commands_free(d.commands);
	CHECK(put("v", "2") &&
	      key_of(&d, "\"command\": \"c\", \"env\": {\"A\": \"!cat ../v\"}", again));
	CHECK(memcmp(again, key, sizeof(key)) == 0);
}

/* No command is run and no secret announced, and the key is the same. */
HEAVY_TEST(only_the_launch_key)
{
	static const char *const bodies[] = {
		"\"command\": \"c\", \"env\": {\"TOKEN\": \"${V}\"}",
		"\"command\": \"c\", \"env\": {\"A\": \"!touch ran; echo value-x\"}",
		"\"command\": \"c\", \"env\": {\"A\": \"!exit 1\", \"B\": \"b\"}",
		"\"url\": \"https://c\", \"headers\": {\"H\": \"!echo value-x\"}",
	};
	DESK;

	CHECK(home_make());
	home_env[1] = "V=a-secret-value";
	home_env[2] = "PATH=/usr/bin:/bin";
	for (size_t i = 0; i < MP_ARRAY_LEN(bodies); i++) {
		struct mp_resolve_request req;
		struct mp_resolved out;

		CHECK(resolve_own(&d, bodies[i], "\"profile\": \"omp\"") == 0);
		mp_secret_remove_all();
		(void)unlink(in("home/ran"));
		req = (struct mp_resolve_request){.set = d.set,
						  .entry = d.set->entries[0],
						  .env = home_env,
						  .local_key = "key",
						  .only_key = true};
		CHECK_EQ(mp_resolve(&req, &out, &why), 0);
		mp_resolved_done(&out);
		CHECK(memcmp(out.launch_key, d.out.launch_key, MP_DIGEST_SIZE) == 0);
		CHECK(access(in("home/ran"), F_OK) < 0);
		mp_secrets_hold();
		CHECK_EQ(mp_secrets_known_until(MP_STR("a-secret-value"), 0, false), 0);
		mp_secrets_release();
	}
}

static void resolve_unapproved(void)
{
	struct mp_resolved out;
	struct mp_resolve_request req;
	MP_SET set = NULL;

	if (!home_make() || !put("project/.mcp.json", "{\"mcpServers\": {\"a\": {\"command\": "
						      "\"c\"}}}"))
		return;
	set = home_load(NULL);
	req = (struct mp_resolve_request){.set = set, .entry = set->entries[0], .env = home_env};
	if (mp_resolve(&req, &out, &why) == 0)
		mp_resolved_done(&out);
}

/* V01 V02 U5 */
HEAVY_TEST(what_nobody_approved_is_not_resolved)
{
	CHECK(test_stops(resolve_unapproved));
}

/* --- certificates ----------------------------------------------------------------------------- */

HEAVY_TEST(certificates_are_files)
{
	unsigned char before[MP_DIGEST_SIZE];
	const char *end;
	DESK;

	CHECK(home_make());
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://a.example/\", \"tls\": {\"ca\": \"pki/ca.pem\", "
			     "\"cert\": \"/etc/me.pem\", \"key\": \"~/me.key\"}",
			     ""),
		 0);
	end = strstr(d.out.ca_file, "/home/pki/ca.pem");
	CHECK(end && end != d.out.ca_file && d.out.ca_file[0] == '/');
	CHECK_TEXT(d.out.cert_file, "/etc/me.pem");
	CHECK(strstr(d.out.key_file, "/home/me.key"));
	memcpy(before, d.out.launch_key, sizeof(before));
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://a.example/\", \"tls\": {\"ca\": \"pki/ca.pem\", "
			     "\"cert\": \"/etc/you.pem\", \"key\": \"~/me.key\"}",
			     ""),
		 0);
	CHECK(memcmp(before, d.out.launch_key, sizeof(before)) != 0); /* V25 */
}

HEAVY_TEST(certificates_have_three_names)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a.example/\", \"tls\": {\"crt\": \"x\"}", ""),
		 MCPOOL_EINVAL);
	CHECK(strstr(d.set->entries[0]->invalid, "\"tls\" has no \"crt\""));
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://a.example/\", \"tls\": \"x\"", ""),
		 MCPOOL_EINVAL);
}

#define REMOTE_VALUES "\"url\": \"https://a\", \"headers\": {\"A\": \"TOKEN\", \"B\": \"!echo x\"}"

/* X15 X17 */
HEAVY_TEST(profiles_differ_in_missing_variables_and_values)
{
	static const struct {
		const char *profile;
		int missing; /* what an unset variable leads to */
		const char *value;
		bool warns;
		const char *variable, *command; /* of the values TOKEN and !echo x */
	} cases[] = {
		{"default", MCPOOL_ENOENT, "", false, "TOKEN", "x"},
		{"omp", 0, "<${NO}>", true, "of the environment", "x"},
		{"claude", 0, "<>", true, "TOKEN", "!echo x"},
		{"netdata", MCPOOL_ENOENT, "", false, "TOKEN", "!echo x"},
	};
	DESK;

	CHECK(home_make());
	home_env[1] = "PATH=/usr/bin:/bin";
	home_env[2] = "TOKEN=of the environment";
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		char profile[40];

		snprintf(profile, sizeof(profile), "\"profile\": \"%s\"", cases[i].profile);
		CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"env\": {\"A\": \"<${NO}>\"}",
				     profile),
			 cases[i].missing);
		CHECK_EQ(strstr(d.warned, "${NO}") != NULL, cases[i].warns);
		if (cases[i].missing == 0)
			CHECK_TEXT(variable(&d, "A"), cases[i].value);
		CHECK_EQ(resolve_own(&d,
				     "\"command\": \"c\", \"env\": {\"A\": \"TOKEN\", \"B\": "
				     "\"!echo x\"}",
				     profile),
			 0);
		CHECK_TEXT(variable(&d, "A"), cases[i].variable);
		CHECK_TEXT(variable(&d, "B"), cases[i].command);
		CHECK_EQ(resolve_own(&d, REMOTE_VALUES, profile), 0);
		CHECK_TEXT(header(&d, "A"), cases[i].variable);
		CHECK_TEXT(header(&d, "B"), cases[i].command);
	}
	CHECK_EQ(resolve_own(&d, REMOTE_VALUES,
			     "\"profile\": \"claude\", \"valueIndirection\": \"variable\""),
		 0);
	CHECK_TEXT(header(&d, "A"), "of the environment"); /* the setting decides */
	CHECK_TEXT(header(&d, "B"), "x");
	CHECK_EQ(resolve_own(&d, REMOTE_VALUES,
			     "\"profile\": \"omp\", \"valueIndirection\": \"off\""),
		 0);
	CHECK_TEXT(header(&d, "A"), "TOKEN");
	CHECK_TEXT(header(&d, "B"), "!echo x");
}

/* --- secrets --------------------------------------------------------------------------------- */

static bool save_secret(const char *name, struct mp_str value)
{
	struct mp_secrets_options o = {.no_keyring = true};
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;

	REQUIRE(mp_secrets_open(&s, &o, &why) == 0);
	REQUIRE(mp_secrets_set(s, name, value, &why) == 0);
	return true;
}

/* The state folder of this process, where the file of secrets is. */
static bool make_state(void)
{
	if (!home_make())
		return false;
	setenv("XDG_STATE_HOME", in("state"), 1);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	return true;
}

static bool is_hidden(const char *value)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(4));
	return mp_redact(mp_str_of(value), false, &out) == 0 &&
	       mp_str_find(mp_buf_get(&out), mp_str_of(value), 0) < 0;
}

#define SECRET_ENTRY                                                             \
	"\"command\": \"c\", \"args\": [\"--n=${secret:N}\"], \"env\": {\"A\": " \
	"\"<${secret:N}>\", "                                                    \
	"\"B\": \"plain\"}"

TEST(secrets_are_filled_in_and_hidden)
{
	DESK;

	CHECK(make_state() && save_secret("user/N", MP_STR("word of eight")));
	CHECK(!is_hidden("word of eight"));
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, ""), 0);
	CHECK_TEXT(variable(&d, "A"), "<word of eight>");
	CHECK_TEXT(d.out.argv[1], "--n=word of eight");
	CHECK(strstr(d.warned, "a secret is among its arguments"));
	CHECK(!strstr(d.warned, "word of"));
	CHECK(is_hidden("word of eight"));
	CHECK_EQ(resolve_own(&d,
			     "\"url\": \"https://h/${secret:N}\", \"headers\": {\"X\": "
			     "\"${secret:N}\"}",
			     ""),
		 0);
	CHECK_TEXT(header(&d, "X"), "word of eight");
	CHECK_TEXT(d.out.url, "https://h/word of eight");
	CHECK_TEXT(d.warned, "");
}

TEST(a_missing_secret_says_how_to_save_it)
{
	DESK;

	CHECK(make_state());
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, ""), MCPOOL_ENOENT);
	CHECK(strstr(why.message, "there is no secret 'N'. Save it: mcpool secret set N"));
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, "\"missingVariable\": \"literal\""), MCPOOL_ENOENT);
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, "\"profile\": \"claude\""), MCPOOL_ENOENT);
	CHECK(save_secret("oauth/N", MP_STR("of a login"))); /* not for configurations */
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, ""), MCPOOL_ENOENT);
	CHECK(save_secret("user/N", MP_STR("a\0b")));
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, ""), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "NUL"));
	CHECK_EQ(resolve_own(&d, "\"command\": \"c${secret:N}\"", ""), MCPOOL_EINVAL);
	CHECK_EQ(resolve_own(&d, "\"command\": \"c\", \"cwd\": \"${secret:N}\"", ""),
		 MCPOOL_EINVAL);
	CHECK(strstr(why.message, "where no secret can be"));
}

static int find_key(struct desk *d, unsigned char key[MP_DIGEST_SIZE])
{
	struct mp_resolve_request req = {.set = d->set,
					 .entry = d->set->entries[0],
					 .env = home_env,
					 .only_key = true,
					 .local_key = "key"};
	struct mp_resolved out;
	int r = mp_resolve(&req, &out, &why);

	memcpy(key, out.launch_key, MP_DIGEST_SIZE);
	mp_resolved_done(&out);
	return r;
}

/* The key is found before any secret is read, and a rotated secret does not change it. */
TEST(a_secret_is_in_the_launch_key_by_its_name)
{
	unsigned char key[MP_DIGEST_SIZE], first[MP_DIGEST_SIZE];
	DESK;

	CHECK(make_state() && save_secret("user/N", MP_STR("before")));
	CHECK(save_secret("user/M", MP_STR("before")));
	CHECK_EQ(resolve_own(&d, SECRET_ENTRY, ""), 0);
	memcpy(first, d.out.launch_key, sizeof(first));
	CHECK_EQ(find_key(&d, key), 0);
	CHECK(memcmp(key, first, sizeof(key)) == 0);
	CHECK(save_secret("user/N", MP_STR("rotated")));
	CHECK_EQ(resolve(&d), 0);
	CHECK_TEXT(variable(&d, "A"), "<rotated>");
	CHECK(memcmp(d.out.launch_key, first, sizeof(first)) == 0);
	CHECK_EQ(
		resolve_own(&d,
			    "\"command\": \"c\", \"args\": [\"--n=${secret:N}\"], \"env\": {\"A\": "
			    "\"<${secret:M}>\", \"B\": \"plain\"}",
			    ""),
		0);
	CHECK(memcmp(d.out.launch_key, first, sizeof(first)) != 0);
	CHECK_EQ(resolve_own(&d, "\"url\": \"https://h/${secret:N}\"", ""), 0);
	CHECK_EQ(find_key(&d, key), 0);
	CHECK(memcmp(d.out.launch_key, key, sizeof(key)) == 0);
}

HEAVY_TEST(who_needs_no_token_is_said_by_the_users_own_file_only)
{
	static const char of_project[] =
		"{\"mcpool\": {\"http\": {\"metricsFrom\": [\"0.0.0.0/0\"], \"name\": \"n\"}}}";
	static const char own[] = "{\"mcpool\": {\"http\": {\"metricsFrom\": [\"10.0.0.1\"]}}}";
	MP_SET set = NULL;
	MP_STORE db = NULL;

	CHECK(make_state());
	db = home_open_store();
	CHECK(db && put("project/.mcpool/mcp.json", of_project));
	set = home_load(db);
	CHECK_EQ(set->n_grants, 1);
	CHECK_EQ(mp_trust_approve_grant(db, &set->grants[0], 1, &why), 0);
	mp_config_set_unref(set);
	set = home_load(db);
	CHECK_EQ(set->settings.http.metrics_from.n, 0);
	CHECK_TEXT(set->settings.http.name, "n");
	CHECK_EQ(set->n_problems, 1);
	CHECK(strstr(set->problems[0].message, "\"metricsFrom\" is ignored here"));
	CHECK(put("home/.config/mcpool/mcp.json", own));
	mp_config_set_unref(set);
	set = home_load(db);
	CHECK_EQ(set->settings.http.metrics_from.n, 1);
	CHECK_TEXT(set->settings.http.metrics_from.items[0], "10.0.0.1");
}

HEAVY_TEST(where_spans_are_sent_is_said_by_the_users_own_file_only)
{
	static const char of_project[] =
		"{\"mcpool\": {\"otlp\": {\"endpoint\": \"https://theirs\"}, \"audit\": {\"args\": "
		"true, \"days\": 1}, \"dashboard\": {\"answers\": true}}}";
	MP_SET set = NULL;
	MP_STORE db = NULL;

	CHECK(make_state());
	db = home_open_store();
	CHECK(db && put("project/.mcpool/mcp.json", of_project));
	set = home_load(db);
	CHECK_EQ(mp_trust_approve_grant(db, &set->grants[0], 1, &why), 0);
	mp_config_set_unref(set);
	set = home_load(db);
	CHECK(!set->settings.otlp.endpoint);
	CHECK(!set->settings.audit.args && set->settings.audit.days == 30);
	CHECK(!set->settings.dashboard.answers);
	CHECK_EQ(set->n_problems, 3);
	CHECK(strstr(set->problems[0].message, "\"audit\" is ignored here"));
	CHECK(strstr(set->problems[1].message, "\"dashboard\" is ignored here"));
	CHECK(strstr(set->problems[2].message, "\"otlp\" is ignored here"));
}

HEAVY_TEST(a_passphrase_command_comes_from_the_users_own_file_only)
{
	static const char of_project[] =
		"{\"mcpool\": {\"secrets\": {\"passphraseCommand\": \"echo theirs\", "
		"\"keyring\": false}}}";
	static const char own[] =
		"{\"mcpool\": {\"secrets\": {\"passphraseCommand\": \"echo users\"}}}";
	MP_SET set = NULL;
	MP_STORE db = NULL;

	CHECK(make_state());
	db = home_open_store();
	CHECK(db && put("project/.mcpool/mcp.json", of_project));
	set = home_load(db);
	CHECK_EQ(set->n_grants, 1);
	CHECK_EQ(mp_trust_approve_grant(db, &set->grants[0], 1, &why), 0);
	mp_config_set_unref(set);
	set = home_load(db);
	CHECK(!set->settings.secrets.passphrase_command && set->settings.secrets.keyring);
	CHECK_EQ(set->n_problems, 1);
	CHECK(strstr(set->problems[0].message, "\"secrets\" is ignored here"));
	CHECK(put("home/.config/mcpool/mcp.json", own));
	mp_config_set_unref(set);
	set = home_load(db);
	CHECK_TEXT(set->settings.secrets.passphrase_command, "echo users");
	CHECK(!mp_settings_get_secrets(&set->settings).no_keyring);
}
