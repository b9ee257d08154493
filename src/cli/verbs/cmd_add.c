/*
 * cmd_add.c - `mcpool add` and `mcpool add-json`: add a server to one of our own files.
 * Adding a server approves it.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/verbs/consent.h"
#include "cli/verbs/own_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/wizard.h"

static int run_add(const struct mp_verb *verb, int argc, char **argv);
static int run_add_json(const struct mp_verb *verb, int argc, char **argv);

#define WHERE_OPTIONS                                                  \
	"  --user           into your own file; this is the default\n" \
	"  --project        into .mcpool/mcp.json of this project\n"   \
	"  --json           one JSON object instead of text for people\n"

const struct mp_verb mp_verb_add = {
	"add",
	"[NAME (-- COMMAND... | --url URL)]",
	"Add a server to your file or to this project's.",
	"  --url URL        a remote server\n"
	"  --transport T    http (the default), sse, or websocket (the default for ws:// and "
	"wss://)\n"
	"  --token-env VAR  send the token that this variable holds\n"
	"  --token -        send the token that is read from stdin, and keep it in the file\n"
	"  --header K:V     send this header; repeatable\n"
	"  --env K=V        a variable for the server; repeatable\n"
	"  --cwd FOLDER     where the server runs; by default your home folder or the "
	"project\n" WHERE_OPTIONS,
	"Without arguments it asks for what it needs.\n\n"
	"examples: mcpool add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n"
	"          mcpool add sentry --url https://mcp.sentry.dev/mcp --token-env SENTRY_TOKEN\n",
	run_add,
	NULL,
	MP_VERB_EITHER,
};

const struct mp_verb mp_verb_add_json = {
	"add-json",
	"NAME JSON",
	"Add a server that is written as a JSON object; - reads it from stdin.",
	WHERE_OPTIONS,
	"example: mcpool add-json demo '{\"command\": \"mcpool\", \"args\": [\"demo-server\"]}'\n",
	run_add_json,
	NULL,
	MP_VERB_PLAIN,
};

/* --- checks ---------------------------------------------------------------------------------- */

bool mp_cmd_is_variable(const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p != '_' && !(*p >= 'A' && *p <= 'Z') && !(*p >= 'a' && *p <= 'z') &&
		    !(p > name && *p >= '0' && *p <= '9'))
			return false;
	return name[0] != '\0';
}

static bool is_transport(const char *word)
{
	return strcmp(word, "http") == 0 || strcmp(word, "sse") == 0 ||
	       strcmp(word, "websocket") == 0;
}

int mp_cmd_check_usage(const struct mp_cli_args *args, bool is_new)
{
	bool has_command = args->command && args->command[0];
	const char *wrong = NULL;

	if (args->url && has_command)
		wrong = "Use either --url or -- <command...>, not both.";
	else if ((args->token || args->token_env) && is_new && !args->url)
		wrong = "--token requires --url (HTTP/SSE transport).";
	else if (args->token && args->token_env)
		wrong = "Use either --token - or --token-env, not both.";
	else if (args->token && strcmp(args->token, "-") != 0)
		wrong = "A token on the command line can be read by everyone on this machine and "
			"stays in your shell's history. Use --token - and give it on stdin, or "
			"--token-env VAR.";
	else if (args->token && args->project)
		wrong = "A token does not belong in a project's file, where others see it. Use "
			"--token-env VAR.";
	else if (args->token_env && !mp_cmd_is_variable(args->token_env))
		wrong = "--token-env takes the name of the variable that holds the token, not the "
			"token itself.";
	else if (((is_new && args->headers.n) || args->transport) && !args->url)
		wrong = is_new ? "--header and --transport require --url."
			       : "--transport requires --url.";
	else if (args->command && !has_command && !is_new)
		wrong = "There is no command behind --.";
	else if (args->transport && !is_transport(args->transport))
		wrong = "--transport takes http, sse or websocket.";
	else if ((args->env.n || args->cwd) && args->url)
		wrong = "--env and --cwd are for servers that are started: -- <command...>.";
	else if (is_new && !args->url && !has_command)
		wrong = "Say what to add: `mcpool add NAME -- COMMAND...` or "
			"`mcpool add NAME --url URL`.";
	if (wrong)
		mp_cli_complain("%s", wrong);
	return wrong ? MP_EXIT_USAGE : MP_EXIT_DONE;
}

/* --- adding ---------------------------------------------------------------------------------- */

int mp_cmd_add_server(struct mp_configured *c, const struct mp_cli_args *args, const char *name,
		      struct mp_str json)
{
	const char *file = mp_own_choose(c, args);
	int r;

	if (!file)
		return MP_EXIT_USAGE;
	r = mp_own_add(c, file, name, json, "add", false);
	if (r != MP_EXIT_DONE)
		return r;
	mp_consent_tell_hub();
	mp_own_report(c, file, name, args->json ? "added" : "Added", args->json);
	return r;
}

static int add_by_options(struct mp_configured *c, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf json;

	mp_buf_init(&json, MP_LIMIT_CONFIG_FILE);
	if (!mp_cmd_build_server(c, args, &json))
		return MP_EXIT_USAGE;
	return mp_cmd_add_server(c, args, args->words[0], mp_buf_get(&json));
}

static int run_add(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	if (r)
		return r - 1;
	if (argc == 1) {
		r = mp_configured_load(&c, &args);
		return r ? r : mp_wizard_run(&c, &args);
	}
	r = mp_cmd_check_usage(&args, true);
	if (r)
		return r;
	if (args.n_words == 0) {
		mp_cli_complain("The server needs a name: `mcpool add NAME ...`.");
		return MP_EXIT_USAGE;
	}
	r = mp_configured_load(&c, &args);
	return r ? r : add_by_options(&c, &args);
}

/* --- add-json -------------------------------------------------------------------------------- */

static int run_add_json(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(mp_freep) char *text = NULL;
	struct mp_cli_args args;
	struct mp_str json;
	int r = mp_cli_read_args(verb, argc, argv, 2, 2, &args);

	if (r)
		return r - 1;
	json = mp_str_of(args.words[1]);
	if (mp_str_eq(json, MP_STR("-"))) {
		text = mp_cmd_read_stdin(&json.len);
		if (!text)
			return MP_EXIT_USAGE;
		json.p = text;
	}
	r = mp_configured_load(&c, &args);
	return r ? r : mp_cmd_add_server(&c, &args, args.words[0], mp_str_trim(json));
}
