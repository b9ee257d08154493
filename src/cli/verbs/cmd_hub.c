/*
 * cmd_hub.c - `mcpool up`, `down` and `reconnect`: the hub in the background.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "hub/background.h"
#include "cli/display/cli.h"
#include "cli/servers/hub_client.h"
#include "cli/verbs/own_files.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"
#include "process/tree.h"

/* Servers get 3 s to exit; before that, open requests have their own time limit. */
enum {
	START_MS = 10000,
	STOP_MS = 6000,
	APPEAR_MS = 2000,
	LOG_LINES = 4,
};

static int run_up(const struct mp_verb *verb, int argc, char **argv);
static int run_down(const struct mp_verb *verb, int argc, char **argv);
static int run_reconnect(const struct mp_verb *verb, int argc, char **argv);

#define JSON "  --json           one JSON object instead of text for people\n"

const struct mp_verb mp_verb_up = {
	"up",
	"",
	"Start the hub in the background, unless it runs.",
	"  --http [ADDR]    also over HTTP, at " MP_USUAL_ADDRESS " where no ADDR is given\n"
	"  --keep           with --http: in your file, so that every later hub listens "
	"there\n" JSON,
	"It works in your home folder and has what is configured for you; agents in projects see\n"
	"the files of their project as well. Its log is hub.log in the state folder. --http holds\n"
	"for this hub; with --keep, which writes the setting http.listen, also for later ones.\n",
	run_up,
	NULL,
	MP_VERB_PLAIN,
};

const struct mp_verb mp_verb_down = {
	"down",
	"",
	"Stop the hub: calls under way may finish, then all servers are stopped.",
	"  --now            do not wait for what is under way\n" JSON,
	"Agents stay connected; the next request of one starts a hub again.\n",
	run_down,
	NULL,
	MP_VERB_PLAIN,
};

const struct mp_verb mp_verb_reconnect = {
	"reconnect",
	"NAME | all",
	"Make the hub close its connection to a server and open a new one.",
	JSON,
	NULL,
	run_reconnect,
	NULL,
	MP_VERB_PLAIN,
};

/* --- shared ---------------------------------------------------------------------------------- */

int mp_cmd_complain_hub(const struct mcpool_error *why)
{
	if (why->code == MCPOOL_ENOENT)
		mp_cli_complain_as(why->code, "no hub runs. `mcpool up` starts one.");
	else
		mp_cli_complain_as(why->code, "%s", why->message);
	return why->code == MCPOOL_ENOENT ? MP_EXIT_START : mp_cli_exit_code(why);
}

static void cmd_hub_rest(void)
{
	struct timespec moment = {0, 20 * 1000000L};

	nanosleep(&moment, NULL);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int cmd_hub_tell(const struct mp_cli_args *args, pid_t pid, const char *word,
			const char *sentence)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(4));
	if (!args->json) {
		printf("mcpool: %s\n", sentence);
	} else if (mp_buf_addf(&text, "{\"hub\":\"%s\",\"pid\":%ld}", word, (long)pid) == 0) {
		mp_print_json(mp_buf_get(&text));
	}
	return mp_print_finish(MP_EXIT_DONE);
}

/* --- up -------------------------------------------------------------------------------------- */

static void wait_ready(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	(void)poll(&ready, 1, START_MS); /* next, ask the hub itself */
	close(fd);
}

/* Several lines: the very last one may only say that it stopped. */
static struct mp_str get_last_lines(struct mp_str text)
{
	size_t at = text.len;

	for (int lines = 0; at > 0 && lines <= LOG_LINES; at--)
		lines += text.p[at - 1] == '\n';
	while (at > 0 && at < text.len && text.p[at - 1] != '\n')
		at++;
	return (struct mp_str){text.p + at, text.len - at};
}

/* Show the last log lines of a hub that did not start. */
static void show_log(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	char text[2000];
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n;

	if (size >= 0) {
		n = pread(fd, text, sizeof(text),
			  size > (off_t)sizeof(text) ? size - (off_t)sizeof(text) : 0);
		if (n > 0)
			mp_print_tail(get_last_lines((struct mp_str){text, (size_t)n}));
	}
	if (fd >= 0)
		close(fd);
}

/* No hub runs, or it is being killed: its socket goes last. */
static bool is_nobody(int r)
{
	return r == MCPOOL_ENOENT || r == MCPOOL_ECLOSED;
}

/* Another hub may be starting or shutting down: then ask again. */
static int cmd_hub_start(struct mp_hub_client **ret_client, const char *log, const char *http,
			 struct mcpool_error *why)
{
	struct mp_hub_place place;
	int64_t until = now_ms() + START_MS;
	int ready, r = mp_hub_place_find(&place, why);
	bool is_ours;

	while (r == 0 && now_ms() < until) {
		r = mp_background_start(&place, log, http, &ready, why);
		is_ours = r == 0;
		if (is_ours)
			wait_ready(ready);
		else if (r != MCPOOL_EAGAIN)
			return r;
		cmd_hub_rest();
		r = mp_hub_client_open(ret_client, why);
		if (!is_nobody(r) && r != MCPOOL_EAGAIN)
			return r;
		r = !is_ours || mp_hub_place_is_held(&place) ? 0 : MCPOOL_ECLOSED;
	}
	if (r < 0)
		return mp_fail(why, r, "the hub did not start; its log is %s", log);
	return mp_fail(
		why, MCPOOL_ETIMEDOUT,
		"process %ld holds the hub's lock and does not answer; `mcpool down` stops it",
		(long)mp_hub_place_get_pid(&place));
}

/* The HTTP address of the hub; "": none, or not reported. */
static void find_http(struct mp_hub_client *c, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf status;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct mp_str http;
	mp_value hub;

	mp_buf_init(&status, MP_LIMIT_MESSAGE);
	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_KIB(64));
	out[0] = '\0';
	if (mp_hub_client_ask(c, "mcpool/status", MP_STR(""), &status, &why) < 0 ||
	    mp_tape_parse(&t, mp_buf_get(&status), NULL) < 0)
		return;
	hub = mp_value_get(&t, MP_ROOT, "hub");
	if (mp_value_text(&t, mp_value_get(&t, mp_value_get(&t, hub, "listening"), "http"), &arena,
			  &http) == 0)
		snprintf(out, size, "%.*s", MP_STR_ARGS(http));
}

/* Keep the running hub: agents use it. */
static int tell_runs(struct mp_hub_client *c, const struct mp_cli_args *args)
{
	long pid = (long)mp_hub_client_get_pid(c);
	char http[300], sentence[600];

	find_http(c, http, sizeof(http));
	if (args->http && !http[0]) {
		mp_cli_complain("the hub runs already, as process %ld, and does not listen for "
				"HTTP: `mcpool down`, then `mcpool up --http %s`",
				pid, args->http);
		return MP_EXIT_START;
	}
	snprintf(sentence, sizeof(sentence), "the hub runs already, as process %ld%s%s", pid,
		 http[0] ? ", and listens at " : "", http);
	return cmd_hub_tell(args, mp_hub_client_get_pid(c), "runs", sentence);
}

static int tell_started(struct mp_hub_client *c, const struct mp_cli_args *args, const char *log)
{
	char http[300] = "", sentence[PATH_MAX + 600];

	if (args->http)
		find_http(c, http, sizeof(http));
	if (args->http && !http[0]) { /* another process was faster and started the hub */
		mp_cli_complain("the hub does not listen at %s; its log is %s", args->http, log);
		show_log(log);
		return MP_EXIT_START;
	}
	snprintf(sentence, sizeof(sentence), "the hub runs, as process %ld; its log is %s%s%s%s",
		 (long)mp_hub_client_get_pid(c), log, http[0] ? "\nIt listens at " : "", http,
		 !http[0] ? ""
		 : args->keep
			 ? "/mcp, as every later hub will; `mcpool token` shows the token."
			 : "/mcp until it ends; --keep makes that lasting, `mcpool token` shows "
			   "the token.");
	return cmd_hub_tell(args, mp_hub_client_get_pid(c), "started", sentence);
}

/* No hub runs. An exit code after an error message. */
static int hub_bring_up(struct mp_hub_client **ret_client, const char *http, struct mp_buf *log)
{
	struct mcpool_error why;
	int r = mp_background_find_log(log, &why);

	if (r == 0)
		r = cmd_hub_start(ret_client, log->data, http, &why);
	if (r == 0)
		return MP_EXIT_DONE;
	mp_cli_complain("%s", why.message);
	if (log->len)
		show_log(log->data);
	return MP_EXIT_START;
}

int mp_cmd_reach_hub(struct mp_hub_client **ret_client)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf log;
	struct mcpool_error why;
	int r = mp_hub_client_open(ret_client, &why);

	mp_buf_init(&log, PATH_MAX);
	if (r == 0)
		return MP_EXIT_DONE;
	return is_nobody(r) ? hub_bring_up(ret_client, NULL, &log) : mp_cmd_complain_hub(&why);
}

static int run_up(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf log;
	struct mcpool_error why;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_buf_init(&log, PATH_MAX);
	if (r)
		return r - 1;
	if (args.keep && !args.http) {
		mp_cli_complain("--keep is for --http");
		return MP_EXIT_USAGE;
	}
	r = args.keep ? mp_own_keep_http(args.http) : MP_EXIT_DONE;
	if (r != MP_EXIT_DONE)
		return r;
	r = mp_hub_client_open(&c, &why);
	if (r == 0)
		return tell_runs(c, &args);
	if (!is_nobody(r)) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_START;
	}
	r = hub_bring_up(&c, args.http, &log);
	return r == MP_EXIT_DONE ? tell_started(c, &args, log.data) : r;
}

/* --- down ------------------------------------------------------------------------------------ */

/* The parent may reap the process late, or never. */
static bool is_alive(pid_t pid)
{
	struct mp_proc p;

	return mp_tree_read(pid, &p) == 0 && mp_tree_is_alive(&p);
}

static bool is_gone(pid_t pid, int64_t max_ms)
{
	int64_t until = now_ms() + max_ms;

	while (is_alive(pid)) {
		if (now_ms() > until)
			return false;
		cmd_hub_rest();
	}
	return true;
}

static int cmd_hub_stop(struct mp_hub_client *c, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mp_str params = args->now ? MP_STR("{\"drain\":false}") : MP_STR("{\"drain\":true}");
	pid_t pid = mp_hub_client_get_pid(c);
	struct mcpool_error why;
	char sentence[200];

	mp_buf_init(&result, MP_KIB(64));
	/* A hub that has just started may exit before its answer is written. */
	if (mp_hub_client_ask(c, "mcpool/shutdown", params, &result, &why) < 0 &&
	    why.code != MCPOOL_ECLOSED)
		return mp_cmd_complain_hub(&why);
	if (mp_hub_client_wait_end(c, MP_LIMIT_DRAIN_MS + STOP_MS) < 0 || !is_gone(pid, STOP_MS)) {
		mp_cli_complain("the hub was told to stop, and has not yet (process %ld)",
				(long)pid);
		return MP_EXIT_TIMEOUT;
	}
	snprintf(sentence, sizeof(sentence), "the hub has stopped (it was process %ld)", (long)pid);
	return cmd_hub_tell(args, pid, "stopped", sentence);
}

/* A hub whose socket was removed creates it again at once, and one that starts opens it soon. */
static int open_again(struct mp_hub_client **ret_client, const struct mp_hub_place *place,
		      struct mcpool_error *why)
{
	int64_t until = now_ms() + APPEAR_MS;
	int r;

	do {
		r = mp_hub_client_open(ret_client, why);
		if (r != MCPOOL_ENOENT || mp_hub_place_get_holder(place) == 0)
			return r;
		cmd_hub_rest();
	} while (now_ms() < until);
	return r;
}

/* The lock file has the pid, for use when the socket is unusable. */
static int stop_by_signal(pid_t pid, const struct mp_cli_args *args)
{
	char sentence[200];

	if (kill(pid, SIGTERM) < 0 || !is_gone(pid, STOP_MS)) {
		mp_cli_complain("the hub (process %ld) does not answer and does not stop; "
				"`kill -9 %ld` ends it and its servers",
				(long)pid, (long)pid);
		return MP_EXIT_TIMEOUT;
	}
	snprintf(sentence, sizeof(sentence),
		 "the hub did not answer and was stopped by a signal (it was process %ld)",
		 (long)pid);
	return cmd_hub_tell(args, pid, "stopped", sentence);
}

static int run_down(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	struct mp_hub_place place;
	struct mcpool_error why;
	struct mp_cli_args args;
	pid_t pid = 0;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	r = mp_hub_place_find(&place, &why);
	if (r == 0)
		r = open_again(&c, &place, &why);
	if (r == 0)
		return cmd_hub_stop(c, &args);
	if (r == MCPOOL_ENOENT || r == MCPOOL_ETIMEDOUT)
		pid = mp_hub_place_get_holder(&place);
	if (pid > 0)
		return stop_by_signal(pid, &args);
	return r == MCPOOL_ENOENT ? cmd_hub_tell(&args, 0, "none", "no hub runs")
				  : mp_cmd_complain_hub(&why);
}

/* --- reconnect ------------------------------------------------------------------------------- */

/* "auto", or the number of a session. */
static void write_session(struct mp_writer *w, const char *session)
{
	mp_write_key(w, MP_STR("session"));
	if (strcmp(session, "auto") == 0)
		mp_write_text(w, MP_STR("auto"));
	else
		mp_write_u64(w, strtoull(session, NULL, 10));
}

static int write_name(struct mp_buf *out, const struct mp_cli_args *args, const char *name)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (strcmp(name, "all") == 0)
		mp_write_member_bool(&w, "all", true);
	else
		mp_write_member_text(&w, "name", mp_str_of(name));
	if (args->session)
		write_session(&w, args->session);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int complain_server(const struct mcpool_error *why)
{
	mp_cli_complain_as(why->code, "%s", why->message);
	return why->code == MCPOOL_ENOENT ? MP_EXIT_NOT_FOUND : mp_cli_exit_code(why);
}

int mp_cmd_tell_hub(struct mp_hub_client *c, const struct mp_cli_args *args, const char *method,
		    const char *name, struct mp_buf *result, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int r;

	mp_buf_init(&params, MP_KIB(64));
	r = write_name(&params, args, name);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return mp_hub_client_ask(c, method, mp_buf_get(&params), result, reterr);
}

int mp_cmd_ask_hub(const struct mp_cli_args *args, const char *method, const char *name,
		   const char *done)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mcpool_error why;

	mp_buf_init(&result, MP_LIMIT_MESSAGE);
	if (mp_hub_client_open(&c, &why) < 0)
		return mp_cmd_complain_hub(&why);
	if (mp_cmd_tell_hub(c, args, method, name, &result, &why) < 0)
		return complain_server(&why);
	if (args->json)
		mp_print_json(mp_buf_get(&result));
	else
		printf("mcpool: %s: %s\n", name, done);
	return mp_print_finish(MP_EXIT_DONE);
}

static int run_reconnect(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	return mp_cmd_ask_hub(&args, "mcpool/server/reconnect", args.words[0],
			      "a new connection begins; `mcpool status` shows how it goes");
}
