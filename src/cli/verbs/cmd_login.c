/*
 * cmd_login.c - `mcpool login` and `mcpool logout`: gets and forgets the credential of a server.
 * The hub runs the login; this process opens the browser, because it has the user's display.
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/browser.h"
#include "cli/display/safe.h"
#include "cli/display/terminal.h"
#include "cli/servers/diagnosis.h"
#include "cli/servers/reach.h"
#include "cli/verbs/verbs.h"
#include "net/curl_options.h"

#define START_MS MP_SECONDS(30)
enum { URL_MAX = 16 * 1024 };

static int run_login(const struct mp_verb *verb, int argc, char **argv);
static int run_logout(const struct mp_verb *verb, int argc, char **argv);

#define LOGIN_OPTIONS                                                                        \
	"  --no-browser     only print the address\n"                                        \
	"  --json           JSON objects instead of text for people: the address, the end\n" \
	"  --config FILE    also read this file, before all others; repeatable\n"            \
	"  --strict-config  read the files of --config alone\n"
#define LOGIN_NOTE                                                                                 \
	"Shows which server asks for which rights at which host, and opens the address in your\n"  \
	"browser. Over ssh open the address on your own machine, and paste the address that the\n" \
	"browser ends at. You have 5 minutes. The token is kept like a secret (`mcpool "           \
	"secret`),\n"                                                                              \
	"renewed before it expires, and used for this server alone. Without NAME every server\n"   \
	"that waits for a login is asked in turn.\n"
#define LOGOUT_OPTIONS                                                            \
	"  --json           one JSON object instead of text for people\n"         \
	"  --config FILE    also read this file, before all others; repeatable\n" \
	"  --strict-config  read the files of --config alone\n"
#define LOGOUT_NOTE "Sessions that use the server lose it until the next login.\n"

const struct mp_verb mp_verb_login = {
	"login",       "[NAME]",      "Log in to a server that needs it, with your browser.",
	LOGIN_OPTIONS, LOGIN_NOTE,    run_login,
	NULL,          MP_VERB_PLAIN,
};
const struct mp_verb mp_verb_reauth = {
	"reauth",  "[NAME]", "The same as `login`.", LOGIN_OPTIONS, LOGIN_NOTE,
	run_login, NULL,     MP_VERB_PLAIN,
};
const struct mp_verb mp_verb_logout = {
	"logout",
	"NAME",
	"Forget the token of a server, and revoke it where its issuer offers that.",
	LOGOUT_OPTIONS,
	LOGOUT_NOTE,
	run_logout,
	NULL,
	MP_VERB_PLAIN,
};
const struct mp_verb mp_verb_unauth = {
	"unauth",   "NAME", "The same as `logout`.", LOGOUT_OPTIONS, LOGOUT_NOTE,
	run_logout, NULL,   MP_VERB_PLAIN,
};

struct login {
	const struct mp_cli_args *args;
	const struct mp_configured *c;
	struct mp_reach *reach;
	bool is_out;                    /* logout */
	const char *only;               /* NULL: all that wait */
	struct mp_status_list *waiting; /* those; owned */
	size_t at;
	char server[MP_LIMIT_NAME + 1]; /* the present one */
	struct mp_reach_trial trial;
	int exit_code;
	/* What a person may paste. */
	int stop_fd; /* -1: nothing is asked */
	char pasted[URL_MAX];
	bool is_asking;
};

static void login_next(struct login *l);

/* --- pasting --------------------------------------------------------------------------------- */

static void paste_answered(void *u, const struct mp_message *m);

/* On a worker: the terminal blocks. */
static void paste_ask(void *u)
{
	struct login *l = u;

	if (!mp_terminal_ask_unless("Or paste the address that the browser ended at:", l->stop_fd,
				    l->pasted, sizeof(l->pasted)))
		l->pasted[0] = '\0';
}

static void paste_start(struct login *l);

static void paste_send(struct login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_writer w;

	mp_buf_init(&params, (size_t)2 * URL_MAX);
	mp_write_init(&w, &params, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(l->server));
	mp_write_member_text(&w, "url", mp_str_trim(mp_str_of(l->pasted)));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0 || mp_reach_say(l->reach, "mcpool/login/paste",
						    mp_buf_get(&params), paste_answered, l) < 0)
		mp_cli_complain("the address could not be sent to the hub");
}

static void paste_done(void *u)
{
	struct login *l = u;

	l->is_asking = false;
	if (l->stop_fd >= 0 && l->pasted[0])
		paste_send(l);
}

static void paste_answered(void *u, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct login *l = u;
	struct mp_str words = MP_STR("the hub did not take it");

	mp_arena_init(&arena, MP_KIB(64));
	if (m && m->kind != MP_MESSAGE_ERROR)
		return;
	if (m)
		words = mp_error_read_words(m, &arena);
	mp_cli_complain("%.*s", MP_STR_ARGS(words));
	paste_start(l);
}

static void paste_start(struct login *l)
{
	struct mp_work work = {paste_ask, paste_done, l};

	if (l->is_asking || l->stop_fd < 0 || !isatty(STDIN_FILENO) || l->args->json)
		return;
	l->is_asking = mp_loop_work(mp_reach_get_loop(l->reach), &work) == 0;
}

/* --- what the hub says ----------------------------------------------------------------------- */

static const char *login_read(const struct mp_message *m, struct mp_arena *arena, const char *key)
{
	struct mp_str text;

	if (mp_value_text(m->tape, mp_value_get(m->tape, m->params, key), arena, &text) < 0)
		return NULL;
	return mp_arena_dup(arena, text);
}

static void print_row(const char *word, const char *text)
{
	char before[32];

	snprintf(before, sizeof(before), "  %-9s ", word);
	mp_cmd_print_safe(before, text);
}

static void show_visit(const struct login *l, const char *url, const char *issuer,
		       const char *scope)
{
	const struct mp_entry *e = mp_configured_find(l->c, l->server);
	char place[MP_HTTP_PLACE];
	bool is_open = !l->args->no_browser && mp_browser_open(url);

	mp_curl_options_place(url, place);
	printf("%s asks you to log in\n", l->server);
	if (e && e->address)
		print_row("server", e->address);
	print_row("issuer", issuer ? issuer : place);
	print_row("login at", place);
	print_row("rights", scope ? scope : "(not said; the issuer shows them)");
	printf("\n%s\n\n", is_open ? "Your browser was opened with this address:"
				   : "Open this address in a browser:");
	mp_cmd_print_safe("  ", url);
	printf("\nWaiting for the browser, 5 minutes at most ...\n");
	fflush(stdout);
}

static void login_heard(void *u, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct login *l = u;
	const char *url;

	mp_arena_init(&arena, MP_KIB(256));
	if (!mp_value_text_is(m->tape, m->method_name, MP_STR("mcpool/login/visit")))
		return;
	url = login_read(m, &arena, "url");
	if (!url)
		return;
	if (l->args->json) {
		if (!l->args->no_browser)
			(void)mp_browser_open(url);
		mp_print_json(mp_value_source(m->tape, m->params));
		fflush(stdout);
	} else {
		show_visit(l, url, login_read(m, &arena, "issuer"), login_read(m, &arena, "scope"));
	}
	paste_start(l);
}

static void stop_pasting(struct login *l)
{
	uint64_t one = 1;

	if (l->stop_fd >= 0)
		(void)!write(l->stop_fd, &one, sizeof(one));
}

static void login_print_end(const struct login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(4));
	if (!l->args->json) {
		printf(l->is_out ? "%s: logged out\n" : "%s: logged in\n", l->server);
		return;
	}
	mp_write_init(&w, &out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(l->server));
	mp_write_member_bool(&w, "loggedIn", !l->is_out);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&out));
}

/* B70: after a login that has failed the next step is another one. */
static void login_complain(const struct login *l, struct mp_str words)
{
	bool has_failed =
		!l->is_out && mp_str_starts(words, MP_STR("OAuth authentication failed: "));

	mp_cli_complain_as(MCPOOL_ENEEDS_AUTH, "%s: %.*s%s%s", l->server, MP_STR_ARGS(words),
			   has_failed ? "; log in again: mcpool login " : "",
			   has_failed ? l->server : "");
}

static void login_answered(void *u, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct login *l = u;

	mp_arena_init(&arena, MP_KIB(64));
	stop_pasting(l);
	if (m && m->kind != MP_MESSAGE_ERROR) {
		login_print_end(l);
	} else {
		struct mp_str words = m ? mp_error_read_words(m, &arena)
					: MP_STR("the answer of the hub cannot be read");

		login_complain(l, words);
		l->exit_code = MP_EXIT_NEEDS_AUTH;
	}
	login_next(l);
}

static void login_ask(struct login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_writer w;

	mp_buf_init(&params, MP_KIB(4));
	mp_write_init(&w, &params, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(l->server));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0 ||
	    mp_reach_ask(l->reach, l->is_out ? "mcpool/logout" : "mcpool/login",
			 mp_buf_get(&params), login_heard, login_answered, l) < 0) {
		mp_cli_complain("the hub could not be asked");
		mp_reach_finish(l->reach, MP_EXIT_START);
	}
}

/* --- which servers --------------------------------------------------------------------------- */

/* Only a server that was started has an account; whether it could connect does not matter. */
static void login_tried(struct mp_reach_trial *t, const struct mp_status *status)
{
	struct login *l = mp_container_of(t, struct login, trial);
	enum mp_status_state s = (enum mp_status_state)status->state;

	if (s == MP_STATUS_NEEDS_APPROVAL || s == MP_STATUS_DISABLED) {
		struct mp_diagnosis d;

		mp_diagnosis_read(status, 0, &d);
		mp_cli_complain("%s", d.message);
		mp_reach_finish(l->reach, d.exit_code);
		return;
	}
	login_ask(l);
}

static void login_begin_one(struct login *l, const char *server)
{
	snprintf(l->server, sizeof(l->server), "%s", server);
	l->trial.fn = login_tried;
	mp_reach_try(l->reach, &l->trial, l->server, START_MS);
}

/* Also one that has just been refused, and is about to wait. */
static bool is_waiting(const struct mp_status *s)
{
	return s->state == MP_STATUS_NEEDS_AUTH || s->code == MCPOOL_ENEEDS_AUTH;
}

static void login_next(struct login *l)
{
	while (l->waiting && l->at < l->waiting->n) {
		const struct mp_status *s = &l->waiting->items[l->at++];

		if (is_waiting(s)) {
			snprintf(l->server, sizeof(l->server), "%s", s->name);
			login_ask(l);
			return;
		}
	}
	mp_reach_finish(l->reach, l->exit_code);
}

static void login_looked(void *u)
{
	struct login *l = u;
	size_t n = 0;

	l->waiting = mp_reach_take_servers(l->reach);
	for (size_t i = 0; i < l->waiting->n; i++)
		n += is_waiting(&l->waiting->items[i]);
	if (n == 0 && !l->args->json)
		printf("No server waits for a login. `mcpool status` shows all of them.\n");
	login_next(l);
}

static void login_begin(struct mp_reach *r, void *u)
{
	struct login *l = u;
	struct mp_reach_look look = {.start = MP_REACH_START_ALL, .max_ms = START_MS};

	l->reach = r;
	if (l->only)
		login_begin_one(l, l->only);
	else
		mp_reach_look(r, &look, login_looked, l);
}

/* --- the verbs ------------------------------------------------------------------------------- */

static int login_run(const struct mp_cli_args *args, bool is_out)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct login l = {.args = args, .c = &c, .is_out = is_out, .stop_fd = -1};
	struct mp_reach_options options = {.c = &c, .args = args};
	const struct mp_entry *e = NULL;
	int r = mp_configured_load_copies(&c, args);

	if (r)
		return r;
	if (args->n_words) {
		e = mp_configured_find(&c, args->words[0]);
		if (!e)
			return MP_EXIT_NOT_FOUND;
		l.only = e->name;
		options.entries = &e;
		options.n = 1;
	}
	l.stop_fd = eventfd(0, EFD_CLOEXEC);
	r = mp_reach_run(&options, login_begin, &l);
	if (l.stop_fd >= 0)
		close(l.stop_fd);
	mp_status_list_free(l.waiting);
	return r;
}

static int run_login(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	return r ? r - 1 : login_run(&args, false);
}

static int run_logout(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	return r ? r - 1 : login_run(&args, true);
}
