/*
 * cmd_status.c - `mcpool status`: what runs in the hub, once or again every second; without a hub
 * what would run here.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/console/server_past.h"
#include "cli/servers/hub_client.h"
#include "cli/servers/hub_table.h"
#include "cli/servers/reach.h"
#include "cli/verbs/verbs.h"

#define CONFIG_OPTIONS                                                            \
	"  --config FILE    also read this file, before all others; repeatable\n" \
	"  --strict-config  read the files of --config alone\n"

enum { EVERY_MS = 1000 };

static int run_status(const struct mp_verb *verb, int argc, char **argv);

static const char *const list_of_servers[] = {"servers", NULL};

const struct mp_verb mp_verb_status = {
	"status",
	"[NAME]",
	"Show what runs in the hub, and who uses it; without a hub, what would run here.",
	"  --watch          show it again every second, until Ctrl-C\n"
	"  --all            include shadowed entries\n"
	"  --json           one JSON object instead of text for people\n" CONFIG_OPTIONS,
	"With NAME all that the hub knows of that server, such as with which environment it was\n"
	"started. It starts and dials nothing; without a hub, the tools are those in the cache.\n"
	"MEMORY is that of all processes of a server. --all and --config show what files say,\n"
	"and ask no hub. Exit code 3: a file cannot be read.\n",
	run_status,
	list_of_servers,
	MP_VERB_PLAIN,
};

/* --- of the hub ------------------------------------------------------------------------------ */

static int hub_print(struct mp_hub_status *h, bool json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_live_room room = mp_hub_table_get_room(false);

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (json)
		mp_print_json(mp_buf_get(&h->text));
	else if (mp_hub_table_draw(h, &room, &text) < 0)
		mp_cli_complain("too large to show; `mcpool status NAME` shows one server");
	else
		fwrite(text.data, 1, text.len, stdout);
	return mp_hub_status_tell_problem(h);
}

static void tell_projects(struct mp_hub_status *h)
{
	mp_value hub = mp_value_get(&h->tape, MP_ROOT, "hub");
	struct mp_str problem = mp_hub_status_get_text(h, hub, "problem");

	if (mp_str_eq(mp_hub_status_get_text(h, hub, "projectTrust"), MP_STR("always")))
		mp_hub_status_tell_projects();
	if (problem.len)
		mp_cli_complain("%.*s", MP_STR_ARGS(problem));
}

/* False: no hub runs or it cannot be asked; nothing was printed. */
static bool status_show_hub(bool json, int *ret_exit_code)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status h = {0};
	struct mcpool_error why;
	int r;

	mp_hub_status_init(&h);
	r = mp_hub_client_open(&c, &why);
	if (r == 0)
		r = mp_hub_status_take(&h, c, &why);
	if (r < 0) {
		mp_hub_status_tell_silence(&why);
		return false;
	}
	if (!json)
		tell_projects(&h);
	*ret_exit_code = mp_print_finish(hub_print(&h, json));
	return true;
}

static bool status_show_one(const char *name, bool json, int *ret_exit_code)
{
	if (!mp_hub_status_show_one(name, json, ret_exit_code))
		return false;
	if (*ret_exit_code == MP_EXIT_DONE && !json)
		mp_server_past_print(name);
	return true;
}

/* --- again every second ---------------------------------------------------------------------- */

static volatile sig_atomic_t was_interrupted;

static void on_interrupt(int signal)
{
	was_interrupted = signal;
}

struct watching {
	struct mp_hub_client *c; /* NULL: no hub runs */
	struct mp_hub_status h;
	bool json, is_terminal;
};

static void watching_done(struct watching *w)
{
	mp_hub_client_free(w->c);
	mp_hub_status_done(&w->h);
}

/* A hub that has ended may come back. */
static int watching_take(struct watching *w, struct mcpool_error *reterr)
{
	int r = w->c ? 0 : mp_hub_client_open(&w->c, reterr);

	if (r == 0)
		r = mp_hub_status_take(&w->h, w->c, reterr);
	if (r < 0)
		w->c = mp_hub_client_free(w->c);
	return r;
}

/* Each line over the one before it, so that nothing flickers. */
static int frame_add(struct mp_buf *frame, struct mp_str text)
{
	int r = mp_buf_add_str(frame, MP_STR("\033[H"));

	while (r == 0 && text.len) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t n = end ? (size_t)(end - text.p) : text.len;

		r = mp_buf_addf(frame, "%.*s\033[K", (int)n, text.p);
		n += end ? 1 : 0;
		text = (struct mp_str){text.p + n, text.len - n};
		if (r == 0 && text.len)
			r = mp_buf_add_str(frame, MP_STR("\r\n"));
	}
	return r < 0 ? r : mp_buf_add_str(frame, MP_STR("\033[J"));
}

static void watching_print(struct watching *w, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf frame;

	mp_buf_init(&frame, MP_LIMIT_MESSAGE);
	if (w->is_terminal && frame_add(&frame, text) == 0)
		text = mp_buf_get(&frame);
	fwrite(text.p, 1, text.len, stdout);
	fflush(stdout);
}

static void watching_show(struct watching *w)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_live_room room = mp_hub_table_get_room(w->is_terminal);
	struct mcpool_error why;
	int r = watching_take(w, &why);

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (r == 0 && w->json)
		r = mp_buf_addf(&text, "%.*s\n", MP_STR_ARGS(mp_buf_get(&w->h.text)));
	else if (r == 0)
		r = mp_hub_table_draw(&w->h, &room, &text);
	else if (!w->json)
		r = mp_buf_addf(&text, "No hub runs. This goes on when one does; `mcpool up` "
				       "starts one.\n");
	if (r == 0)
		watching_print(w, mp_buf_get(&text));
}

static int status_watch(bool json)
{
	MP_CLEANUP(watching_done) struct watching w = {.json = json};
	struct sigaction act = {.sa_handler = on_interrupt};
	const struct timespec pause = {EVERY_MS / 1000, EVERY_MS % 1000 * 1000000L};

	w.is_terminal = mp_print_is_terminal() && !json;
	mp_hub_status_init(&w.h);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	mp_print_need_no_json();
	if (w.is_terminal)
		fputs("\033[?1049h\033[?25l", stdout); /* another screen, no cursor */
	while (!was_interrupted && !ferror(stdout)) {
		watching_show(&w);
		nanosleep(&pause, NULL); /* a signal ends it, SIGWINCH does not come here */
	}
	if (w.is_terminal)
		fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	return was_interrupted ? MP_EXIT_INTERRUPTED : MP_EXIT_DONE;
}

/* --- without a hub --------------------------------------------------------------------------- */

/* What the store has about the configured servers. */
struct recall {
	struct mp_reach *reach;
	struct mp_status_list *servers; /* owned; NULL: not available */
};

static const struct mp_status_list nothing;

static void recall_free(struct recall *r)
{
	mp_status_list_free(r->servers);
}

/* Catalogs are stored by launch key, and a hub computes the keys; no server is started. */
static void recall_done(void *u)
{
	struct recall *r = u;

	r->servers = mp_reach_take_servers(r->reach);
	mp_reach_finish(r->reach, MP_EXIT_DONE);
}

static void recall_begin(struct mp_reach *reach, void *u)
{
	static const struct mp_reach_look look = {.no_catalogs = true};
	struct recall *r = u;

	r->reach = reach;
	mp_reach_look(reach, &look, recall_done, r);
}

/* If the store is not available, show the rest. */
static int status_show_files(struct mp_cli_args *args)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(recall_free) struct recall recall = {0};
	struct mp_reach_options options = {.c = &c, .args = args, .is_alone = true};
	int r = mp_configured_load_all(&c, args);

	if (r)
		return r;
	if (c.set->n > 0 && mp_reach_run(&options, recall_begin, &recall) == MP_EXIT_INTERRUPTED)
		return MP_EXIT_INTERRUPTED;
	if (c.set->trusts_projects && !args->json)
		mp_hub_status_tell_projects();
	return mp_cmd_list_show(&c, args, recall.servers ? recall.servers : &nothing, NULL);
}

/* --- the verb -------------------------------------------------------------------------------- */

static int run_status(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);
	const char *name = args.n_words ? args.words[0] : NULL;
	bool asks_hub = args.config.n == 0 && !args.all;

	if (r)
		return r - 1;
	if (args.watch && (name || !asks_hub)) {
		mp_cli_complain("--watch shows all servers of the hub: leave out NAME, --all and "
				"--config");
		return MP_EXIT_USAGE;
	}
	if (args.watch)
		return status_watch(args.json);
	if (asks_hub &&
	    (name ? status_show_one(name, args.json, &r) : status_show_hub(args.json, &r)))
		return r;
	if (name) /* no hub: show the configuration only */
		return mp_cmd_get(&mp_verb_get, argc, argv);
	return status_show_files(&args);
}
