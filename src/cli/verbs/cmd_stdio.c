/*
 * cmd_stdio.c - `mcpool stdio`: the bridge that an agent starts.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "hub/background.h"
#include "bridge/bridge_run.h"
#include "cli/display/cli.h"
#include "cli/verbs/verbs.h"
#include "config/values/settings.h"
#include "face/greeting.h"
#include "process/environment.h"

extern char **environ;

static int run_stdio(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_stdio = {
	"stdio",
	"",
	"The command that an agent starts; connects it to all servers, through the hub.",
	"  --profile PROFILE  default, omp, claude or netdata, whatever the files say\n"
	"  --servers A,B    these servers and no others; names or patterns, repeatable\n"
	"  --tools PATTERN  these tools and no others, such as 'read_*'; repeatable\n"
	"  --naming STYLE   mcp__server__tool, mcp_server_tool, mcp_letters, server__tool or "
	"passthrough,\n"
	"                   whatever the files say; server__tool for agents that put a prefix\n"
	"                   before names themselves\n"
	"  --project DIR    the folder whose files count; else the one it is started in\n"
	"  --config FILE    also the servers of this file, before all others; repeatable. They "
	"need\n"
	"                   your approval: mcpool trust --config FILE\n"
	"  --strict-config  the files of --config alone\n"
	"  --parent ID      borrow the connections of another session, for servers of mode "
	"session:\n"
	"                   ID as in `status --json`, or auto for the agent that started this "
	"one\n",
	"This is the one command to put into an agent's configuration. It starts the hub when\n"
	"none runs, and outlives it: when the hub ends, calls that are under way are answered\n"
	"(outcome unknown), another hub is started, and the session goes on.\n"
	"`mcpool connect AGENT` shows where it goes.\n",
	run_stdio,
	NULL,
	MP_VERB_PLAIN,
};

/* --- the hello message ----------------------------------------------------------------------- */

/* Split "a,b" at commas; items point into texts, which are modified. */
static size_t list_split(const struct mp_cli_list *given, char **texts, const char **items,
			 size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < given->n; i++) {
		char *save, *word;

		texts[i] = mp_dup(given->items[i]);
		for (word = strtok_r(texts[i], ",", &save); word && n < max;
		     word = strtok_r(NULL, ",", &save))
			items[n++] = word;
	}
	return n;
}

struct hello_texts {
	char *texts[2][64];
	const char *servers[MP_LIMIT_SERVERS / 8];
	const char *tools[MP_LIMIT_SERVERS / 8];
	char cwd[PATH_MAX], project[PATH_MAX];
	char *files[MP_LIMIT_SESSION_FILES]; /* owned */
};

/* Absolute and without links: the hub has another working folder. */
static int find_files(const struct mp_cli_args *args, struct hello_texts *t)
{
	if (args->strict_config && args->config.n == 0) {
		mp_cli_complain("--strict-config uses the files of --config alone; name one");
		return MP_EXIT_USAGE;
	}
	if (args->config.n > MP_LIMIT_SESSION_FILES) {
		mp_cli_complain("--config: at most %d files", MP_LIMIT_SESSION_FILES);
		return MP_EXIT_USAGE;
	}
	for (size_t i = 0; i < args->config.n; i++) {
		char path[PATH_MAX];

		if (!realpath(args->config.items[i], path)) {
			mp_cli_complain("--config %s: %s", args->config.items[i], strerror(errno));
			return MP_EXIT_USAGE;
		}
		t->files[i] = mp_dup(path);
	}
	return MP_EXIT_DONE;
}

static int check_options(const struct mp_cli_args *args, struct hello_texts *t)
{
	if (args->profile && !mp_profile_exists(args->profile)) {
		mp_cli_complain("there is no profile '%s': default, omp, claude, netdata",
				args->profile);
		return MP_EXIT_USAGE;
	}
	if (mp_cli_lacks_session("--parent", args->parent))
		return MP_EXIT_USAGE;
	if (args->naming && mp_naming_find(mp_str_of(args->naming)) < 0) {
		mp_cli_complain(
			"there is no naming '%s': mcp__server__tool, mcp_server_tool, mcp_letters, "
			"server__tool, passthrough",
			args->naming);
		return MP_EXIT_USAGE;
	}
	if (args->folder && !realpath(args->folder, t->project)) {
		mp_cli_complain("--project %s: %s", args->folder, strerror(errno));
		return MP_EXIT_USAGE;
	}
	if (!getcwd(t->cwd, sizeof(t->cwd))) {
		mp_cli_complain("the current directory no longer exists");
		return MP_EXIT_CONFIG;
	}
	return find_files(args, t);
}

static int write_hello(const struct mp_cli_args *args, struct hello_texts *t, struct mp_buf *hello)
{
	struct mp_greeting g = {
		.protocol = MP_GREETING_PROTOCOL,
		.version = mcpool_version(),
		.role = MP_GREETING_BRIDGE,
		.pid = (int64_t)getpid(),
		.cwd = t->cwd,
		.options = {.profile = args->profile,
			    .project = args->folder ? t->project : NULL,
			    .naming = args->naming,
			    .files = {(const char **)t->files, args->config.n},
			    .strict = args->strict_config,
			    .parent = args->parent},
	};

	g.options.servers.items = t->servers;
	g.options.servers.n =
		list_split(&args->servers, t->texts[0], t->servers, MP_ARRAY_LEN(t->servers));
	g.options.tools.items = t->tools;
	g.options.tools.n = list_split(&args->tools, t->texts[1], t->tools, MP_ARRAY_LEN(t->tools));
	return mp_greeting_write(hello, &g, environ);
}

/* --- the bridge ------------------------------------------------------------------------------ */

/* The hub that this bridge would connect to has started it as a server. */
static bool is_served(const struct mp_hub_place *place)
{
	const char *hub = getenv(MP_ENVIRONMENT_HUB);

	return hub && strcmp(hub, place->socket) == 0;
}

static int cmd_stdio_bridge(const struct mp_cli_args *args, struct hello_texts *t)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf hello, log;
	struct mp_hub_place place;
	struct mcpool_error why;
	struct mp_bridge_run_options o = {.place = &place};
	int r;

	mp_buf_init(&hello, MP_MIB(4));
	mp_buf_init(&log, PATH_MAX);
	r = mp_hub_place_find(&place, &why);
	if (r == 0)
		r = mp_background_find_log(&log, &why);
	if (r == 0 && write_hello(args, t, &hello) < 0)
		r = mp_fail(&why, MCPOOL_ELIMIT, "the environment is too large");
	if (r < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_START;
	}
	if (is_served(&place)) {
		mp_cli_complain("mcpool's hub has started this as one of its servers, so the hub "
				"would serve itself; "
				"remove the entry from its file (`mcpool list` shows which)");
		return MP_EXIT_CONFIG;
	}
	o.log = log.data;
	o.options = (struct mp_bridge_options){
		.hello = mp_buf_get(&hello), .version = mcpool_version(), .log = log.data};
	mp_bridge_run(&o);
	return MP_EXIT_DONE;
}

static int run_stdio(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct hello_texts *t;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	if (isatty(STDIN_FILENO))
		mp_cli_complain(
			"this is for agents: it waits for JSON-RPC on stdin. `mcpool connect` "
			"connects an agent; Ctrl-D ends this.");
	t = mp_alloc(sizeof(*t));
	r = check_options(&args, t);
	if (r == 0)
		r = cmd_stdio_bridge(&args, t);
	for (size_t i = 0; i < 64; i++) {
		mp_free(t->texts[0][i]);
		mp_free(t->texts[1][i]);
	}
	for (size_t i = 0; i < MP_LIMIT_SESSION_FILES; i++)
		mp_free(t->files[i]);
	mp_free(t);
	return r;
}
