/*
 * cmd_serve.c - `mcpool serve`: the hub in the foreground, until a signal ends it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/servers/own_hub.h"
#include "hub/log_output.h"
#include "cli/display/safe.h"
#include "cli/verbs/serve.h"
#include "cli/verbs/verbs.h"
#include "process/exec.h"
#include "process/launcher.h"

static int run_serve(const struct mp_verb *verb, int argc, char **argv);

/* Time for open requests to finish after a signal. */
enum { PATIENCE_MS = 2000 };

static const struct mp_log hub_log = {"hub"};

const struct mp_verb mp_verb_serve = {
	"serve",
	"",
	"Keep every approved server of this folder running, and show how they are.",
	"  --http ADDR      also over HTTP, such as 127.0.0.1:7717\n"
	"  --no-token       over HTTP without a token; for loopback addresses only\n"
	"  --json           one JSON object per line: every event, and what there is at the gate\n"
	"  --log-json       the log as one JSON object per line\n"
	"  --call TOOL      call this tool when the gate opens, and print what comes back\n"
	"  --args JSON      the arguments of that call, as an object\n"
	"  --config FILE    also read this file, before all others; repeatable\n"
	"  --strict-config  read the files of --config alone\n"
	"  --background     as `mcpool up` starts it: in the home folder, with its log in the "
	"state "
	"folder\n",
	"`mcpool connect AGENT` connects an agent to it. Each user has one hub; a second one says\n"
	"so and ends with exit code 4. All servers are started at once; a moment later\n"
	"(startup.windowMs) the gate opens with those that are ready. A server that dies is\n"
	"restarted. When a file changes, only changed servers are restarted. Ctrl-C, SIGTERM and\n"
	"SIGHUP stop all servers in order, within 3 seconds; a second Ctrl-C does not wait. In\n"
	"the background SIGHUP reads the files again. Without any server it runs the demo\n"
	"server.\n",
	run_serve,
	NULL,
	MP_VERB_PLAIN,
};

/* --- output ---------------------------------------------------------------------------------- */

/* If stdout was closed or cannot be written, stop. */
static void stop_telling(struct mp_serve *s, int why)
{
	if (why != EPIPE && !s->is_stopping)
		mp_cli_complain("the output could not be written: %s", strerror(why));
	mp_print_need_no_json();
	mp_serve_stop(s, why == EPIPE ? MP_EXIT_DONE : MP_EXIT_START, PATIENCE_MS);
}

void mp_serve_print(struct mp_serve *s, struct mp_str json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	bool is_terminal = mp_print_is_terminal();

	mp_buf_init(&safe, (size_t)20 * MP_LIMIT_MESSAGE);
	if (s->screen) {
		mp_screen_say(s->screen, json);
		return;
	}
	if (is_terminal && mp_safe_add_json(&safe, json) < 0)
		return;
	json = is_terminal ? mp_buf_get(&safe) : json;
	if (fwrite(json.p, 1, json.len, stdout) != json.len || putchar('\n') == EOF ||
	    fflush(stdout) != 0)
		stop_telling(s, errno);
}

/* --- stopping -------------------------------------------------------------------------------- */

static void stop_servers(void *u)
{
	struct mp_serve *s = u;
	size_t n = mp_pool_count_instances(s->hub->pool);

	mp_log_info(&hub_log, "stopping %zu server%s", n, n == 1 ? "" : "s");
	mp_serve_dismiss(s);
	mp_hub_stop(s->hub);
}

/* Called again: a second request may shorten the time. */
void mp_serve_stop(struct mp_serve *s, int exit_code, int64_t patience_ms)
{
	if (!s->is_stopping) {
		s->is_stopping = true;
		s->exit_code = exit_code;
		mp_manager_tell(&s->manager, "STOPPING=1");
		mp_serve_shut_doors(s);
		s->gate = mp_gate_free(s->gate);
		mp_serve_end_call(s);
	} else if (patience_ms >= s->stop_patience_ms) {
		return;
	}
	s->stop_patience_ms = patience_ms;
	mp_hub_drain(s->hub, patience_ms, stop_servers, s);
}

static void signal_closed(uv_handle_t *h)
{
	struct mp_serve *s = h->data;

	if (--s->open_signals == 0)
		mp_loop_stop(s->hub->loop);
}

static void cmd_serve_stopped(void *u)
{
	struct mp_serve *s = u;

	mp_log_info(&hub_log, "stopped");
	mp_serve_close_faces(s);
	for (size_t i = 0; i < MP_ARRAY_LEN(s->signals); i++)
		uv_close((uv_handle_t *)&s->signals[i], signal_closed);
}

/* Without a terminal, HUP means reload. */
static bool is_reload(const struct mp_serve *s, int number)
{
	return number == SIGHUP && (s->args->background || mp_manager_is_there(&s->manager));
}

/* TERM of a service manager and a closed terminal are ordinary ends; Ctrl-C is an interrupt. */
static void cmd_serve_signalled(uv_signal_t *signal, int number)
{
	struct mp_serve *s = signal->data;

	if (number == SIGWINCH) {
		if (s->screen)
			mp_screen_resize(s->screen);
		return;
	}
	if (is_reload(s, number)) {
		mp_manager_tell(&s->manager, "RELOADING=1\nMONOTONIC_USEC=%lld",
				(long long)mp_loop_now_us(s->hub->loop));
		mp_hub_reload(s->hub);
		return;
	}
	if (number == SIGINT && s->is_stopping)
		_exit(MP_EXIT_INTERRUPTED); /* the launcher stops the servers */
	mp_print_need_no_json();            /* a requested stop is not an error */
	mp_serve_stop(s, number == SIGINT ? MP_EXIT_INTERRUPTED : MP_EXIT_DONE,
		      s->is_stopping ? 0 : PATIENCE_MS);
}

static void watch_signals(struct mp_serve *s)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};

	for (size_t i = 0; i < MP_ARRAY_LEN(numbers); i++) {
		struct sigaction now;

		uv_signal_init(mp_loop_get_uv(s->hub->loop), &s->signals[i]);
		s->signals[i].data = s;
		if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN)
			continue; /* keep HUP ignored under nohup */
		uv_signal_start(&s->signals[i], cmd_serve_signalled, numbers[i]);
	}
	s->open_signals = MP_ARRAY_LEN(numbers);
}

/* --- starting -------------------------------------------------------------------------------- */

static void gate_is_open(void *u)
{
	struct mp_serve *s = u;

	s->is_ready = true;
	if (s->http)
		mp_http_face_set_ready(s->http);
	mp_logger_speak(s->logger); /* the report has the earlier failures */
	mp_serve_report_gate(s);
	mp_serve_report_faces(s);
	if (!s->is_stopping)
		mp_serve_begin_call(s);
}

static void cmd_serve_ready(void *u, const struct mcpool_error *error)
{
	struct mp_serve *s = u;
	const struct mp_startup *startup;
	struct mp_gate_options options = {.due = MP_GATE_DUE_EAGER};
	int r;

	if (s->is_stopping)
		return;
	if (error) {
		mp_cli_complain("%s", error->message);
		mp_serve_stop(s, MP_EXIT_CONFIG, 0);
		return;
	}
	r = mp_serve_open_http(s);
	if (r) {
		mp_serve_stop(s, r, 0);
		return;
	}
	mp_manager_tell(&s->manager, "READY=1");
	startup = &mp_workspace_get_set(s->hub->workspace)->settings.startup;
	options.window_ms = startup->window_ms;
	options.uncached = startup->uncached;
	options.max_wait_ms = startup->max_wait_ms;
	s->gate = mp_gate_open(s->hub->workspace, &options, gate_is_open, s);
}

static void reloaded(void *u, const struct mcpool_error *error)
{
	struct mp_serve *s = u;

	mp_manager_tell(&s->manager, "READY=1");
	if (!error && !s->is_stopping)
		mp_serve_report_reload(s);
}

static const struct mp_hub_hooks hooks = {
	.ready = cmd_serve_ready,
	.reloaded = reloaded,
	.stopped = cmd_serve_stopped,
};

static bool wants_screen(const struct mp_serve *s)
{
	const char *term = getenv("TERM");

	return !s->args->json && mp_print_is_terminal() && term && strcmp(term, "dumb") != 0;
}

static void begin_to_tell(struct mp_serve *s)
{
	mp_log_set_level((enum mp_level)s->c.set->settings.log.level);
	if (wants_screen(s))
		s->screen = mp_screen_new(s->hub);
	else
		(void)mp_log_output_begin(s->args->log_json ||
						  s->c.set->settings.log.format == MP_LOG_JSON,
					  MP_JOURNAL_SOCKET); /* text will do */
	if (s->args->json)
		mp_event_listener_join(&s->hub->events, &s->listener, mp_serve_report_events, s);
	s->cursor = 1;
	s->logger = mp_logger_new(&s->hub->events, s->hub->pool);
}

static void stop_to_tell(struct mp_serve *s)
{
	if (s->args->json) {
		mp_serve_report_events(s);
		mp_event_listener_leave(&s->hub->events, &s->listener);
	}
	s->logger = mp_logger_free(s->logger);
	s->screen = mp_screen_free(s->screen);
	mp_log_output_end();
	s->told = mp_config_set_unref(s->told);
}

static int cmd_serve_host(struct mp_serve *s)
{
	struct mp_hub_options options = {
		.request = mp_configured_get_request(&s->c),
		.set = s->c.set,
		.me = &mp_cli_identity,
	};
	struct mcpool_error why;
	int r;

	mp_exec_hide();
	mp_launcher_raise_files();
	if (mp_hub_new(&options, &hooks, s, &s->hub, &why) < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_START;
	}
	s->began_ms = mp_loop_now_ms(s->hub->loop);
	watch_signals(s);
	begin_to_tell(s);
	mp_hub_start(s->hub);
	r = mp_serve_open_faces(s);
	if (r)
		mp_serve_stop(s, r, 0);
	mp_loop_run(s->hub->loop);
	stop_to_tell(s);
	s->hub = mp_hub_free(s->hub);
	mp_serve_free_call(s);
	return s->exit_code;
}

/* Use no project, only the user's own configuration. */
static void go_home(void)
{
	const char *home = getenv("HOME");

	if ((!home || home[0] != '/' || chdir(home) < 0) && chdir("/") < 0)
		mp_cli_complain("there is no folder to work in");
}

static int run_serve(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_serve s = {
		.args = &args, .election = {.lock = -1, .listener = -1}, .starter = -1};
	int r;

	mp_manager_find(&s.manager); /* before any descriptor is opened */
	r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);
	if (r)
		return r - 1;
	mp_buf_init(&s.call_arguments, MP_LIMIT_MESSAGE);
	r = mp_serve_read_call(&s);
	if (r == 0 && args.background)
		go_home();
	if (r == 0)
		r = mp_serve_be_elected(&s);
	if (r == 0)
		r = mp_configured_load_copies(&s.c, &args);
	if (r == 0) {
		mp_configured_tell(&s.c, false);
		if (!s.c.set->settings.enabled)
			mp_cli_complain(
				"the setting \"enabled\" is false, so no server is looked for");
		if (!args.background) /* the demo server is for interactive use */
			mp_serve_add_demo(&s);
		r = cmd_serve_host(&s);
	}
	mp_configured_done(&s.c);
	mp_buf_done(&s.call_arguments);
	mp_election_resign(&s.election); /* last: the next hub may start */
	return r;
}
