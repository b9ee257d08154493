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
#include "cli/safe.h"
#include "cli/serve.h"
#include "cli/verbs.h"
#include "process/launcher.h"

static int run_serve(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_serve = {
	"serve",
	"",
	"Keep every approved server of this folder running, and show how they are.",
	"  --json           one JSON object per line: every event, and what there is at the gate\n"
	"  --call TOOL      call this tool when the gate opens, and print what comes back\n"
	"  --args JSON      the arguments of that call, as an object\n"
	"  --config FILE    also read this file, before all others; repeatable\n"
	"  --strict-config  read the files of --config alone\n",
	"All servers are started at once; a moment later (startup.windowMs) the gate opens with\n"
	"what there is. A server that dies is started again. When a file changes, only what is\n"
	"different in it is restarted. Ctrl-C, SIGTERM and SIGHUP stop all servers in order, "
	"within\n"
	"3 seconds; a second Ctrl-C does not wait. Without any server the demo server is used.\n",
	run_serve,
	NULL,
	MP_VERB_PLAIN,
};

/* --- output ---------------------------------------------------------------------------------- */

/* A reader that is gone is the end; where nobody listens there is nothing to serve for. */
static void stop_telling(struct mp_serve *s, int why)
{
	if (why != EPIPE && !s->is_stopping)
		mp_cli_complain("the output could not be written: %s", strerror(why));
	mp_print_need_no_json();
	mp_serve_stop(s, why == EPIPE ? MP_EXIT_DONE : MP_EXIT_START);
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

void mp_serve_stop(struct mp_serve *s, int exit_code)
{
	size_t n;

	if (s->is_stopping)
		return;
	s->is_stopping = true;
	s->exit_code = exit_code;
	n = mp_pool_count_instances(s->hub->pool);
	mp_log_info(NULL, "stopping %zu server%s", n, n == 1 ? "" : "s");
	s->gate = mp_gate_free(s->gate);
	mp_serve_end_call(s);
	mp_hub_stop(s->hub);
}

static void signal_closed(uv_handle_t *h)
{
	struct mp_serve *s = h->data;

	if (--s->open_signals == 0)
		mp_loop_stop(s->hub->loop);
}

static void stopped(void *u)
{
	struct mp_serve *s = u;

	mp_log_info(NULL, "stopped");
	for (size_t i = 0; i < MP_ARRAY_LEN(s->signals); i++)
		uv_close((uv_handle_t *)&s->signals[i], signal_closed);
}

/* A service manager's TERM and a terminal that goes are ordinary ends; Ctrl-C is a person's. */
static void signalled(uv_signal_t *signal, int number)
{
	struct mp_serve *s = signal->data;

	if (number == SIGWINCH) {
		if (s->screen)
			mp_screen_resize(s->screen);
		return;
	}
	if (number == SIGINT && s->is_stopping)
		_exit(MP_EXIT_INTERRUPTED); /* the launcher takes the servers down */
	mp_print_need_no_json();            /* somebody's wish is no failure */
	mp_serve_stop(s, number == SIGINT ? MP_EXIT_INTERRUPTED : MP_EXIT_DONE);
}

static void watch_signals(struct mp_serve *s)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};

	for (size_t i = 0; i < MP_ARRAY_LEN(numbers); i++) {
		struct sigaction now;

		uv_signal_init(mp_loop_get_uv(s->hub->loop), &s->signals[i]);
		s->signals[i].data = s;
		if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN)
			continue; /* nohup has its reasons */
		uv_signal_start(&s->signals[i], signalled, numbers[i]);
	}
	s->open_signals = MP_ARRAY_LEN(numbers);
}

/* --- starting -------------------------------------------------------------------------------- */

static void gate_is_open(void *u)
{
	struct mp_serve *s = u;

	mp_logger_speak(s->logger); /* what failed until now is in the report */
	mp_serve_report_gate(s);
	if (!s->is_stopping)
		mp_serve_begin_call(s);
}

static void ready(void *u, const struct mcpool_error *error)
{
	struct mp_serve *s = u;
	const struct mp_startup *startup;
	struct mp_gate_options options = {.due = MP_GATE_DUE_EAGER};

	if (s->is_stopping)
		return;
	if (error) {
		mp_cli_complain("%s", error->message);
		mp_serve_stop(s, MP_EXIT_CONFIG);
		return;
	}
	startup = &mp_view_get_set(s->hub->view)->settings.startup;
	options.window_ms = startup->window_ms;
	options.uncached = startup->uncached;
	options.max_wait_ms = startup->max_wait_ms;
	s->gate = mp_gate_open(s->hub->view, &options, gate_is_open, s);
}

static void reloaded(void *u, const struct mcpool_error *error)
{
	struct mp_serve *s = u;

	if (!error && !s->is_stopping)
		mp_serve_report_reload(s);
}

static const struct mp_hub_hooks hooks = {
	.ready = ready,
	.reloaded = reloaded,
	.stopped = stopped,
};

static bool wants_screen(const struct mp_serve *s)
{
	const char *term = getenv("TERM");

	return !s->args->json && mp_print_is_terminal() && term && strcmp(term, "dumb") != 0;
}

static void open_faces(struct mp_serve *s)
{
	mp_log_set_level((enum mp_level)s->c.set->settings.log.level);
	if (wants_screen(s))
		s->screen = mp_screen_new(s->hub);
	if (s->args->json)
		mp_listener_join(&s->hub->events, &s->listener, mp_serve_report_events, s);
	s->cursor = 1;
	s->logger = mp_logger_new(&s->hub->events, s->hub->pool);
}

static void close_faces(struct mp_serve *s)
{
	if (s->args->json) {
		mp_serve_report_events(s);
		mp_listener_leave(&s->hub->events, &s->listener);
	}
	s->logger = mp_logger_free(s->logger);
	s->screen = mp_screen_free(s->screen);
	s->call = mp_free(s->call);
	s->told = mp_config_set_unref(s->told);
}

static int host(struct mp_serve *s)
{
	struct mp_hub_options options = {
		.request = mp_configured_get_request(&s->c),
		.set = s->c.set,
		.me = &mp_cli_identity,
	};
	struct mcpool_error why;

	mp_launcher_raise_files();
	if (mp_hub_new(&options, &hooks, s, &s->hub, &why) < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_START;
	}
	s->began_ms = mp_loop_now_ms(s->hub->loop);
	watch_signals(s);
	open_faces(s);
	mp_hub_start(s->hub);
	mp_loop_run(s->hub->loop);
	close_faces(s);
	s->hub = mp_hub_free(s->hub);
	return s->exit_code;
}

static int run_serve(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_serve s = {.args = &args};
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	mp_buf_init(&s.call_arguments, MP_LIMIT_MESSAGE);
	r = mp_serve_read_call(&s);
	if (r == 0)
		r = mp_configured_load_copies(&s.c, &args);
	if (r == 0) {
		mp_configured_tell(&s.c, false);
		if (!s.c.set->settings.enabled)
			mp_cli_complain(
				"the setting \"enabled\" is false, so no server is looked for");
		mp_serve_add_demo(&s);
		r = host(&s);
	}
	mp_configured_done(&s.c);
	mp_buf_done(&s.call_arguments);
	return r;
}
