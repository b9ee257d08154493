/*
 * main.c - the command line: the table of verbs, help, and errors for unknown verbs.
 * Exit codes are a contract; see mcpool(1).
 */
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mcpool/mcpool.h>

#include "base/mem.h"
#include "cli/completion/completion.h"
#include "cli/display/cli.h"
#include "cli/display/safe.h"
#include "base/similar.h"
#include "cli/verbs/verbs.h"
#include "demo/demo_server.h"
#include "process/launcher.h"

#define COMMON_OPTIONS                                                                          \
	"  --json           one JSON object instead of text for people\n"                       \
	"  --timeout TIME   give up when the server does not start or answer: 10s, 500ms, 2m\n" \
	"  --era ERA        auto (find out), legacy (up to 2025-11-25) or modern (2026-07-28)\n"
#define CONFIG_OPTIONS                                                            \
	"  --config FILE    also read this file, before all others; repeatable\n" \
	"  --strict-config  read the files of --config alone\n"
#define COMMAND_NOTE                                                                           \
	"After -- comes the server's command, or its address. A command is started for this\n" \
	"one request, in a session of its own, and stopped afterwards with all it has started.\n"

#define FRESH_OPTION                                                                     \
	"  --fresh          start every server, and make running ones list again; else " \
	"only\n                   those without a cached list are started\n"
#define HUB_NOTE                                                                             \
	"A running hub is asked, so that nothing is started twice; with --config or --era\n" \
	"this command has a hub of its own.\n"

static int show_help(const struct mp_verb *verb, int argc, char **argv);
static int run_demo(const struct mp_verb *verb, int argc, char **argv);
static int run_launcher(const struct mp_verb *verb, int argc, char **argv);
static int run_manual(const struct mp_verb *verb, int argc, char **argv);
static int run_reference(const struct mp_verb *verb, int argc, char **argv);
static int run_complete(const struct mp_verb *verb, int argc, char **argv);

static const char *const list_of_tools[] = {"tools", NULL};
static const char *const list_of_resources[] = {"resources", "resourceTemplates", NULL};
static const char *const list_of_prompts[] = {"prompts", NULL};

static const struct mp_verb own[] = {
	{"tools", "[NAME...] [--schema TOOL] | [--schema TOOL] -- COMMAND...",
	 "List the tools of all configured servers, or of one.",
	 "  --schema TOOL    the input schema of one tool\n" FRESH_OPTION COMMON_OPTIONS
		 CONFIG_OPTIONS,
	 "Names are those that agents see; NAME... is the servers to list. What a server offered\n"
	 "is cached for 30 days. Servers that fail are on stderr, the others are "
	 "listed.\n\n" HUB_NOTE COMMAND_NOTE
	 "\nexample: mcpool tools -- npx -y @modelcontextprotocol/server-everything\n",
	 mp_cmd_tools, list_of_tools, MP_VERB_EITHER},
	{"call", "TOOL [KEY=VALUE...] [-- COMMAND...]", "Call a tool and print what it says.",
	 "  KEY=VALUE        an argument, typed by the tool's schema; KEY:=JSON as it is\n"
	 "  --args JSON      all arguments as one object; - reads it from stdin\n"
	 "  --no-check       call it even if its schema refuses the arguments\n"
	 "  --save FILE      save images, audio and other binary content, else the "
	 "text\n" COMMON_OPTIONS CONFIG_OPTIONS,
	 "TOOL is a name as `mcpool tools` lists it, or any other spelling that means one tool:\n"
	 "echo, files/echo, files__echo. Only the server that has it is started.\n\n" HUB_NOTE
		 COMMAND_NOTE "\nexamples: mcpool call echo message=hi -- mcpool demo-server\n"
	 "          mcpool call add a=2 b=3 -- mcpool demo-server\n"
	 "Exit code 1 means that the tool reported an error. Ctrl-C cancels the call.\n",
	 mp_cmd_call, NULL, MP_VERB_EITHER},
	{"resources", "[NAME...] [-- COMMAND...]",
	 "List the resources and resource templates of all servers, or of one.",
	 FRESH_OPTION COMMON_OPTIONS CONFIG_OPTIONS,
	 "URIs are those that agents see: as the server has it where it is the only one, else\n"
	 "mcpool://SERVER/URI. NAME... is the servers to list.\n\n" HUB_NOTE COMMAND_NOTE,
	 mp_cmd_resources, list_of_resources, MP_VERB_EITHER},
	{"read", "URI [-- COMMAND...]", "Print a resource; binary ones into a file or pipe only.",
	 COMMON_OPTIONS CONFIG_OPTIONS,
	 "URI is one that `mcpool resources` lists, or one that fits a template there.\n\n" HUB_NOTE
		 COMMAND_NOTE,
	 mp_cmd_read, NULL, MP_VERB_EITHER},
	{"prompts", "[NAME...] [-- COMMAND...]", "List the prompts of all servers, or of one.",
	 FRESH_OPTION COMMON_OPTIONS CONFIG_OPTIONS,
	 "Names are those that agents see; NAME... is the servers to list.\n\n" HUB_NOTE
		 COMMAND_NOTE,
	 mp_cmd_prompts, list_of_prompts, MP_VERB_EITHER},
	{"prompt", "NAME [KEY=VALUE...] [-- COMMAND...]", "Print a prompt, filled in.",
	 COMMON_OPTIONS CONFIG_OPTIONS,
	 "NAME is a name as `mcpool prompts` lists it, or any other spelling that means "
	 "one.\n\n" HUB_NOTE COMMAND_NOTE,
	 mp_cmd_prompt, NULL, MP_VERB_EITHER},
	{"demo-server", "", "Run a small MCP server on stdio, for a first try.", NULL, NULL,
	 run_demo, NULL, MP_VERB_PLAIN},
	{"help", "[VERB]", "Show this text, or more about a verb.", NULL, NULL, show_help, NULL,
	 MP_VERB_PLAIN},
};

/* In the order of --help, grouped. */
static const struct group {
	const char *title;
	const struct mp_verb *verbs[18];
} groups[] = {
	{"The hub, and agents that use it",
	 {&mp_verb_up, &mp_verb_down, &mp_verb_status, &mp_verb_top, &mp_verb_connect,
	  &mp_verb_serve, &mp_verb_reload, &mp_verb_reconnect, &mp_verb_calls, &mp_verb_events,
	  &mp_verb_notifications, &mp_verb_logs, &mp_verb_wait, &mp_verb_dashboard, &mp_verb_token,
	  &mp_verb_stdio}},
	{"Servers",
	 {&mp_verb_add, &mp_verb_add_json, &mp_verb_edit, &mp_verb_import, &mp_verb_list,
	  &mp_verb_get, &mp_verb_test, &mp_verb_trust, &mp_verb_untrust, &mp_verb_enable,
	  &mp_verb_disable, &mp_verb_remove, &mp_verb_login, &mp_verb_logout, &mp_verb_secret,
	  &mp_verb_config, &mp_verb_doctor}},
	{"Tools, resources and prompts", {&own[0], &own[1], &own[2], &own[3], &own[4], &own[5]}},
	{"Other", {&mp_verb_explain, &mp_verb_completion, &own[6], &mp_verb_version, &own[7]}},
};

/* Verbs that only mcpool itself, its build, or a shell starts. */
static const struct mp_verb internal[] = {
	{"launcher", "FD", "Start servers for the process at the other end of FD.", NULL, NULL,
	 run_launcher, NULL, MP_VERB_PLAIN},
	{"manual-of-errors", "", "Print mcpool-errors(7); for tools/write-manual.", NULL, NULL,
	 run_manual, NULL, MP_VERB_PLAIN},
	{"manual-of-verbs", "", "Print the reference in mcpool(1); for tools/write-manual.", NULL,
	 NULL, run_reference, NULL, MP_VERB_PLAIN},
	{"complete", "-- WORD...", "Print what may follow; for `mcpool completion`.", NULL, NULL,
	 run_complete, NULL, MP_VERB_PLAIN},
};

/* Other names of a verb; --help has one of each. */
static const struct mp_verb *const others[] = {&mp_verb_set, &mp_verb_rm, &mp_verb_reauth,
					       &mp_verb_unauth};

static const struct mp_verb *find_verb(const char *name)
{
	if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
		name = "help";
	if (strcmp(name, "--version") == 0)
		name = "version";
	for (size_t g = 0; g < MP_ARRAY_LEN(groups); g++)
		for (size_t i = 0; i < MP_ARRAY_LEN(groups[g].verbs) && groups[g].verbs[i]; i++)
			if (strcmp(name, groups[g].verbs[i]->name) == 0)
				return groups[g].verbs[i];
	for (size_t i = 0; i < MP_ARRAY_LEN(internal); i++)
		if (strcmp(name, internal[i].name) == 0)
			return &internal[i];
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++)
		if (strcmp(name, others[i]->name) == 0)
			return others[i];
	return NULL;
}

/* Names that other programs use for a verb. */
static const char *find_synonym(const char *name)
{
	static const struct {
		const char *word, *hint;
	} rows[] = {
		{"ls", "`mcpool list` does that"},
		{"servers", "`mcpool list` does that"},
		{"ps", "`mcpool status` does that"},
		{"show", "`mcpool get NAME` does that"},
		{"info", "`mcpool get NAME` does that"},
		{"start", "`mcpool up` starts the hub"},
		{"stop", "`mcpool down` stops the hub, `mcpool disable NAME` a server"},
		{"restart", "`mcpool reconnect NAME` restarts a server, `mcpool down` and `mcpool "
			    "up` the hub"},
		{"log", "`mcpool logs NAME` shows what a server wrote to stderr, `mcpool logs "
			"--hub` the hub's log"},
		{"-v", "`mcpool --version` does that"},
		{"-V", "`mcpool --version` does that"},
		{"delete", "`mcpool remove NAME` does that"},
		{"approve", "`mcpool trust NAME` does that"},
		{"install", "`mcpool add NAME -- COMMAND...` adds a server, `mcpool connect AGENT` "
			    "an agent"},
		{"run", "`mcpool call TOOL` does that"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(name, rows[i].word) == 0)
			return rows[i].hint;
	return NULL;
}

enum { MOST_VERBS = 80 };

/* All verbs that --help has, in its order; returns how many. */
static size_t list_verbs(const struct mp_verb *ret[MOST_VERBS])
{
	size_t n = 0;

	for (size_t g = 0; g < MP_ARRAY_LEN(groups); g++)
		for (size_t i = 0; i < MP_ARRAY_LEN(groups[g].verbs) && groups[g].verbs[i]; i++)
			ret[n++] = groups[g].verbs[i];
	return n;
}

static int complain_unknown(const char *name)
{
	const struct mp_verb *verbs[MOST_VERBS];
	const char *names[MOST_VERBS], *hint = find_synonym(name), *like = NULL;
	size_t n = list_verbs(verbs);

	for (size_t i = 0; i < n; i++)
		names[i] = verbs[i]->name;
	if (!hint)
		like = mp_similar_find(name, names, n);
	if (hint)
		mp_cli_complain("there is no verb '%s'; %s. See `mcpool --help`.", name, hint);
	else if (like)
		mp_cli_complain("there is no verb '%s'. Did you mean '%s'? `mcpool --help` lists "
				"them.",
				name, like);
	else
		mp_cli_complain("there is no verb '%s'. `mcpool --help` lists them.", name);
	return MP_EXIT_USAGE;
}

static void print_about(FILE *out)
{
	fputs("mcpool is pgbouncer for MCP servers: it finds every MCP server configured on this\n"
	      "machine, starts or dials each one once, keeps it alive, and lends it to every "
	      "agent.\n",
	      out);
}

static void print_group(const struct group *g)
{
	printf("\n%s:\n", g->title);
	for (size_t i = 0; i < MP_ARRAY_LEN(g->verbs) && g->verbs[i]; i++)
		printf("  %-12s %s\n", g->verbs[i]->name, g->verbs[i]->summary);
}

/* The help of one verb, if one is named. */
static int show_help(const struct mp_verb *verb, int argc, char **argv)
{
	const struct mp_verb *about = argc > 1 ? find_verb(argv[1]) : NULL;

	(void)verb;
	if (about) {
		mp_cli_show_help(about);
		return MP_EXIT_DONE;
	}
	if (argc > 1)
		return complain_unknown(argv[1]);
	print_about(stdout);
	puts("\nusage: mcpool [VERB [OPTIONS] [ARGUMENTS]]");
	for (size_t i = 0; i < MP_ARRAY_LEN(groups); i++)
		print_group(&groups[i]);
	puts("\n`mcpool help VERB` tells more about a verb. With --plain every verb writes ASCII "
	     "without colours.");
	return MP_EXIT_DONE;
}

static int run_demo(const struct mp_verb *verb, int argc, char **argv)
{
	(void)verb;
	return mp_demo_main(argc, argv);
}

static int run_launcher(const struct mp_verb *verb, int argc, char **argv)
{
	int64_t fd;

	(void)verb;
	if ((argc != 2 && argc != 3) || mp_str_to_i64(mp_str_of(argv[1]), &fd) < 0 || fd < 0 ||
	    fd > 1023) {
		mp_cli_complain("'launcher' is started by mcpool itself, not by people");
		return MP_EXIT_USAGE;
	}
	return mp_launcher_main((int)fd);
}

/* A text in a manual page, as it is. */
static void print_roff(struct mp_str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] == '\\')
			fputs("\\e", stdout);
		else if (text.p[i] == '-')
			fputs("\\-", stdout);
		else
			putchar(text.p[i]);
	}
}

/* One line of a verb's options: `  --name VALUE   words`, or blanks and more words. */
static void print_option(struct mp_str line)
{
	ptrdiff_t at = mp_str_find(mp_str_trim(line), MP_STR("  "), 0);
	struct mp_str words = mp_str_trim(line);

	if (line.len > 3 && line.p[2] != ' ') {
		fputs(".TP 20\n", stdout);
		print_roff((struct mp_str){words.p, at < 0 ? words.len : (size_t)at});
		putchar('\n');
		words = at < 0 ? MP_STR("") : (struct mp_str){words.p + at, words.len - (size_t)at};
		words = mp_str_trim(words);
	}
	print_roff(words);
	putchar('\n');
}

static void print_reference(const struct mp_verb *verb)
{
	const char *at = verb->options, *end;

	fputs(".TP\n.B ", stdout);
	print_roff(mp_str_of(verb->name));
	if (verb->arguments[0]) {
		fputs("\\fR ", stdout);
		print_roff(mp_str_of(verb->arguments));
	}
	putchar('\n');
	print_roff(mp_str_of(verb->summary));
	putchar('\n');
	if (!at)
		return;
	fputs(".RS\n", stdout);
	for (; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "\n");
		print_option((struct mp_str){at, (size_t)(end - at)});
	}
	fputs(".RE\n", stdout);
}

/* The verbs and options in mcpool(1), from the tables that --help has. */
static int run_reference(const struct mp_verb *verb, int argc, char **argv)
{
	(void)verb;
	(void)argc;
	(void)argv;
	for (size_t g = 0; g < MP_ARRAY_LEN(groups); g++) {
		printf(".SS %s\n", groups[g].title);
		for (size_t i = 0; i < MP_ARRAY_LEN(groups[g].verbs) && groups[g].verbs[i]; i++)
			print_reference(groups[g].verbs[i]);
	}
	return mp_print_finish(MP_EXIT_DONE);
}

static int run_manual(const struct mp_verb *verb, int argc, char **argv)
{
	(void)verb;
	(void)argc;
	(void)argv;
	return mp_explain_print_manual();
}

static int run_complete(const struct mp_verb *verb, int argc, char **argv)
{
	const struct mp_verb *verbs[MOST_VERBS];
	size_t n = list_verbs(verbs);

	(void)verb;
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++)
		verbs[n++] = others[i];
	verbs[n] = NULL;
	return argc < 3 ? MP_EXIT_USAGE : mp_completion_run(verbs, argc - 2, argv + 2);
}

static int show_overview(void)
{
	int r = mp_overview_show();

	if (r >= 0)
		return r;
	printf("mcpool %s\n\n", mcpool_version());
	print_about(stdout);
	puts("\n  mcpool list       every server that is configured here, and where\n"
	     "  mcpool add        add a server; `mcpool import` copies those of other tools\n"
	     "  mcpool trust      what waits for your approval\n"
	     "  mcpool test NAME  start one, list its tools, stop it\n"
	     "  mcpool connect    your agents, and how to connect each\n"
	     "  mcpool up         start the hub in the background; agents do it by themselves\n"
	     "  mcpool tools      the tools of all servers; `mcpool call TOOL KEY=VALUE...` calls "
	     "one\n\n"
	     "Any server, without adding it:\n\n"
	     "  mcpool tools -- npx -y @modelcontextprotocol/server-everything\n"
	     "  mcpool call echo message=hi -- mcpool demo-server\n\n"
	     "No hub runs. See `mcpool --help`.");
	return MP_EXIT_DONE;
}

/* help takes the name of a verb. */
static int most_words(const struct mp_verb *verb)
{
	return verb->run == show_help ? 1 : INT_MAX;
}

static bool wants_json(const struct mp_verb *verb, int argc, char **argv)
{
	if (!verb->options || !strstr(verb->options, "--json"))
		return false;
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/* If 0, 1 or 2 is closed, the next opened file would get its number. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* --plain is for all verbs. What is behind -- is for a server. */
static int take_plain(int argc, char **argv)
{
	int n = 1;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			memmove(argv + n, argv + i, (size_t)(argc - i) * sizeof(*argv));
			n += argc - i;
			break;
		}
		if (strcmp(argv[i], "--plain") == 0)
			mp_safe_set_plain();
		else
			argv[n++] = argv[i];
	}
	argv[n] = NULL;
	return n;
}

int main(int argc, char **argv)
{
	const struct mp_verb *verb;
	bool json;
	int r;

	mp_mem_map_large();
	fill_standard_descriptors();
	(void)signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write(), not a signal */

	/* For character widths; messages and numbers do not change. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
	argc = take_plain(argc, argv);
	if (argc < 2)
		return show_overview();
	verb = find_verb(argv[1]);
	if (!verb)
		return complain_unknown(argv[1]);
	if (argc - 2 > most_words(verb)) {
		mp_cli_complain("%s takes fewer arguments. See `mcpool --help`.", argv[1]);
		return MP_EXIT_USAGE;
	}
	json = wants_json(verb, argc - 1, argv + 1); /* before the arguments are reordered */
	r = verb->run(verb, argc - 1, argv + 1);
	if (r != MP_EXIT_DONE && json)
		mp_cli_print_failure(r);
	return r;
}
