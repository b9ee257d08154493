/*
 * cmd_trust.c - `mcpool trust`: shows completely what needs approval, and asks.
 * The default is no, also without a terminal. Exactly what was shown is approved: the id is
 * computed before the question, so a file that changes meanwhile gains nothing.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/verbs/consent.h"
#include "cli/display/safe.h"
#include "cli/display/terminal.h"
#include "cli/verbs/verbs.h"
#include "store/pins.h"

static int run_trust(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_trust = {
	"trust",
	"[NAME...|list]",
	"Show what waits for your approval, and ask for it.",
	"  --all            everything that waits; the same as no NAME\n"
	"  --yes, -y        do not ask, approve: for your own scripts\n"
	"  --id ID          only what has this id, as --json shows it: nothing that changed since\n"
	"  --user-file      trust mcpool's user file as a whole, whatever it will say\n"
	"  --projects WORD  always: start what the files of any project name, without a question;\n"
	"                   ask: as usual again\n"
	"  --json           one JSON object instead of text for people\n"
	"  --config FILE    also what this file has for an agent's `stdio --config FILE`; "
	"repeatable\n"
	"  --strict-config  read the files of --config alone\n",
	"An entry merely found in a file is not run before you approve it; mcpool asks again when "
	"it or\n"
	"a file of the project that it names has changed. `mcpool trust list` shows what you\n"
	"approved; a server that is itself called \"list\" is approved by `mcpool trust`.\n"
	"Exit code 7: something still waits, as all does without a terminal or --yes.\n",
	run_trust,
	NULL,
	MP_VERB_PLAIN,
};

struct job {
	struct mp_configured c;
	struct mp_cli_args args;
	struct mp_consent *items; /* owned */
	bool *approved;           /* of each; owned */
	size_t n;
	char error[1024]; /* the last one, for --json */
	bool stopped;     /* leave the rest for later */
};

static void job_done(struct job *j)
{
	mp_configured_done(&j->c);
	mp_free(j->items);
	mp_free(j->approved);
}

/* Text output prints it at once; --json puts it into the object. */
static void MP_PRINTF(2, 3) cmd_trust_complain(struct job *j, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)mp_str_format(j->error, sizeof(j->error), format, args); /* may be truncated */
	va_end(args);
	if (!j->args.json)
		mp_cli_complain("%s", j->error);
}

/* --- what needs approval --------------------------------------------------------------------- */

static bool may_be_approved(const struct mp_entry *e)
{
	return (e->trust == MP_TRUST_NEW || e->trust == MP_TRUST_CHANGED) && !e->invalid &&
	       !e->unapprovable && !e->left_out;
}

static bool is_waiting(const struct job *j, const struct mp_entry *e)
{
	return may_be_approved(e) &&
	       (e->shadow == MP_SHADOW_APPROVED ||
		mp_config_get_state(j->c.set, e, MP_TOGGLE_NONE) == MP_STATUS_NEEDS_APPROVAL);
}

static void cmd_trust_add(struct job *j, const struct mp_entry *e, const struct mp_grant *g)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->items[i].entry == e && j->items[i].grant == g)
			return;
	j->items[j->n++] = (struct mp_consent){e, g};
}

/* Without the store the approval state is unknown. */
static bool is_unknown(const struct job *j)
{
	for (size_t i = 0; i < j->c.set->n; i++)
		if (j->c.set->entries[i]->trust == MP_TRUST_UNKNOWN)
			return true;
	for (size_t i = 0; i < j->c.set->n_grants; i++)
		if (j->c.set->grants[i].trust == MP_TRUST_UNKNOWN)
			return true;
	return false;
}

static void collect_all(struct job *j)
{
	for (size_t i = 0; i < j->c.set->n_grants; i++)
		if (j->c.set->grants[i].trust != MP_TRUST_YES)
			cmd_trust_add(j, NULL, &j->c.set->grants[i]);
	for (size_t i = 0; i < j->c.set->n; i++)
		if (is_waiting(j, j->c.set->entries[i]))
			cmd_trust_add(j, j->c.set->entries[i], NULL);
}

static bool collect_grant(struct job *j, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < j->c.set->n_grants; i++) {
		const struct mp_grant *g = &j->c.set->grants[i];

		if (strcmp(g->name, name) != 0)
			continue;
		found = true;
		if (g->trust != MP_TRUST_YES)
			cmd_trust_add(j, NULL, g);
	}
	return found;
}

/* Then the command is about its tools, which may have changed (V38). */
static void tell_approved_already(struct job *j, const char *name)
{
	struct mp_pins_owner owner;
	int accepted = 0;

	for (size_t i = 0; i < j->c.set->n; i++) {
		const struct mp_entry *e = j->c.set->entries[i];
		int r;

		if (strcmp(e->name, name) != 0 || e->trust != MP_TRUST_YES)
			continue;
		mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &owner);
		r = mp_pins_forget(j->c.db, &owner, NULL);
		accepted += r > 0 ? r : 0;
	}
	if (accepted)
		mp_consent_tell_hub();
	if (j->args.json)
		return;
	printf("\"%s\" is approved already.\n", name);
	if (accepted)
		puts("Its tools are accepted as they are now.");
}

/* MP_EXIT_DONE also for what is already approved. A disabled server may be approved by name. */
static int collect_named(struct job *j, const char *name)
{
	const struct mp_config_set *set = j->c.set;
	size_t before = j->n;
	bool found = collect_grant(j, name);

	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		if (strcmp(e->name, name) != 0 ||
		    (e->shadow != MP_SHADOW_NONE && e->shadow != MP_SHADOW_APPROVED))
			continue;
		if (e->invalid || e->unapprovable || e->left_out) {
			cmd_trust_complain(j, "Server \"%s\" cannot be approved: %s", name,
					   e->invalid ? e->invalid
					   : e->unapprovable
						   ? e->unapprovable
						   : "the host does this itself (hostNative)");
			return MP_EXIT_CONFIG;
		}
		found = true;
		if (may_be_approved(e))
			cmd_trust_add(j, e, NULL);
	}
	if (!found && j->args.json)
		cmd_trust_complain(j, "Server \"%s\" not found", name);
	else if (!found)
		(void)mp_configured_find(&j->c, name); /* prints similar names */
	else if (j->n == before)
		tell_approved_already(j, name);
	return found ? MP_EXIT_DONE : MP_EXIT_NOT_FOUND;
}

/* What was shown elsewhere, and nothing else: an entry that changed meanwhile has another id. */
static int keep_id(struct job *j)
{
	char hex[2 * MP_APPROVAL_ID + 1];
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++) {
		mp_approval_id_to_hex(mp_consent_get_id(&j->items[i]), hex);
		if (strcmp(hex, j->args.id) == 0)
			j->items[n++] = j->items[i];
	}
	j->n = n;
	if (n)
		return MP_EXIT_DONE;
	cmd_trust_complain(j, "nothing that waits has this id: it was changed since it was shown, "
			      "or is approved already");
	return MP_EXIT_NEEDS_APPROVAL;
}

/* Check all names before the first question. */
static int cmd_trust_collect(struct job *j)
{
	size_t room = j->c.set->n + j->c.set->n_grants + 1;
	int r = MP_EXIT_DONE;

	j->items = mp_alloc(room * sizeof(*j->items));
	j->approved = mp_alloc(room * sizeof(*j->approved));
	if (j->args.n_words == 0)
		collect_all(j);
	for (int i = 0; i < j->args.n_words && r == MP_EXIT_DONE; i++)
		r = collect_named(j, j->args.words[i]);
	if (r != MP_EXIT_DONE)
		j->n = 0;
	else if (j->args.id)
		r = keep_id(j);
	return r;
}

/* --- questions ------------------------------------------------------------------------------- */

/* Is there a terminal to show the question and read the answer? */
static bool can_ask(const struct job *j)
{
	return !j->args.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       isatty(STDERR_FILENO);
}

/* Rows that a text takes on a terminal with this many columns. */
static size_t count_rows(struct mp_str text, size_t columns)
{
	size_t rows = 0;

	for (size_t at = 0; at < text.len; rows++) {
		struct mp_str line = {text.p + at, 0};

		while (at + line.len < text.len && line.p[line.len] != '\n')
			line.len++;
		at += line.len + 1;
		rows += columns ? mp_safe_get_width(line) / columns : 0;
	}
	return rows;
}

/* A long entry scrolls the command out of sight: repeat it next to the question. */
static void repeat_if_long(struct job *j, size_t i, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf again;
	struct winsize size = {0};
	size_t rows;

	mp_buf_init(&again, MP_KIB(64));
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		size.ws_row = 24;
	rows = count_rows(text, size.ws_col ? size.ws_col : 80);
	if (rows + 2 < size.ws_row)
		return;
	if (mp_consent_repeat(&j->items[i], rows, &again) == 0)
		(void)!fwrite(again.data, 1, again.len, stdout);
}

/* Discard input that was typed before the question was shown. */
static bool cmd_trust_ask(struct job *j)
{
	char answer[16];

	fflush(stdout);
	tcflush(STDIN_FILENO, TCIFLUSH);
	if (!mp_terminal_ask(j->n > 1 ? "Approve? [y/N] (q stops)" : "Approve? [y/N]", answer,
			     sizeof(answer)))
		return false;
	j->stopped = strcasecmp(answer, "q") == 0 || strcasecmp(answer, "quit") == 0;
	return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}

static int cmd_trust_approve(struct job *j, size_t i)
{
	struct mcpool_error why;

	if (mp_consent_approve(&j->c, &j->items[i], &why) < 0) {
		cmd_trust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	j->approved[i] = true;
	return MP_EXIT_DONE;
}

static int cmd_trust_show(struct job *j, size_t i, bool asks)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;

	mp_buf_init(&text, 10 * MP_LIMIT_MESSAGE);
	if (mp_consent_describe(&j->c, &j->items[i], &text, &why) < 0) {
		cmd_trust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	if (!j->args.json && fwrite(text.data, 1, text.len, stdout) != text.len)
		return MP_EXIT_CONFIG; /* it was not shown */
	if (asks)
		repeat_if_long(j, i, mp_buf_get(&text));
	return MP_EXIT_DONE;
}

static int cmd_trust_handle(struct job *j, size_t i, bool asks)
{
	bool yes;
	int r;

	if (asks && j->n > 1)
		printf("%zu of %zu: ", i + 1, j->n);
	r = cmd_trust_show(j, i, asks);

	if (r != MP_EXIT_DONE)
		return r;
	yes = j->args.yes || (asks && cmd_trust_ask(j));
	if (yes)
		r = cmd_trust_approve(j, i);
	if (!j->args.json && r == MP_EXIT_DONE && (yes || asks))
		puts(yes ? "Approved.\n" : "Not approved.\n");
	return r;
}

static int handle_all(struct job *j)
{
	bool asks = !j->args.yes && can_ask(j);
	size_t waiting = 0;
	int r = MP_EXIT_DONE;

	for (size_t i = 0; i < j->n; i++) {
		int one = j->stopped ? MP_EXIT_DONE : cmd_trust_handle(j, i, asks);

		r = r == MP_EXIT_DONE ? one : r;
		waiting += !j->approved[i];
	}
	if (waiting < j->n)
		mp_consent_tell_hub();
	if (r == MP_EXIT_DONE && waiting && !asks)
		cmd_trust_complain(
			j, "nothing was approved, because there is no terminal to ask on. Run "
			   "`mcpool trust` yourself, or with --yes.");
	return r != MP_EXIT_DONE ? r : waiting ? MP_EXIT_NEEDS_APPROVAL : MP_EXIT_DONE;
}

/* --- for programs ---------------------------------------------------------------------------- */

static void write_items(struct mp_writer *w, const struct job *j, bool approved)
{
	mp_write_key(w, approved ? MP_STR("approved") : MP_STR("waiting"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < j->n; i++)
		if (j->approved[i] == approved)
			mp_consent_write(w, &j->c, &j->items[i], !approved);
	mp_write_end_array(w);
}

static int print_json(struct job *j, int r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, 10 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	write_items(&w, j, true);
	write_items(&w, j, false);
	mp_write_key(&w, MP_STR("error"));
	if (j->error[0])
		mp_write_text(&w, mp_str_of(j->error));
	else
		mp_write_null(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return r;
}

/* --- the user's file ------------------------------------------------------------------------- */

static int trust_user_file(struct job *j)
{
	char real[PATH_MAX], missing[PATH_MAX + 40];
	bool yes = j->args.yes;
	int r = mp_cmd_find_user_file(&j->c, real, sizeof(real), missing, sizeof(missing));
	struct mcpool_error why;

	if (r != MP_EXIT_DONE) {
		cmd_trust_complain(j, "%s", missing);
		return r;
	}
	if (mp_approvals_get_file(j->c.db, real, NULL) > 0) {
		if (!j->args.json)
			puts("Your file is trusted already.");
		return MP_EXIT_DONE;
	}
	if (!j->args.json) {
		mp_cmd_print_safe("file ", real);
		puts("Whatever this file says will be run without a question, also what somebody "
		     "else,\nor an agent that was talked into it, writes into it later.");
	}
	if (!yes && can_ask(j))
		yes = cmd_trust_ask(j);
	else if (!yes)
		cmd_trust_complain(
			j, "the file is not trusted, because there is no terminal to ask on");
	if (!yes)
		return MP_EXIT_NEEDS_APPROVAL;
	if (mp_approvals_set_file(j->c.db, real, true, mp_configured_now(), &why) < 0) {
		cmd_trust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	mp_consent_tell_hub();
	if (!j->args.json)
		puts("Trusted. `mcpool untrust --user-file` takes it back.");
	return MP_EXIT_DONE;
}

/* --- all projects ---------------------------------------------------------------------------- */

/*
 * A script or an agent must not be able to say this, so --yes does not count and there has to be a
 * terminal. Taking it back needs no question.
 */
static bool projects_confirm(struct job *j)
{
	if (!can_ask(j)) {
		cmd_trust_complain(j, "`--projects always` is said by a person: there must be a "
				      "terminal to ask on, and --yes does not count");
		return false;
	}
	puts("In every folder that you open from now on, whatever its files name as a server is "
	     "run\nwithout a question. A cloned repository can then run its code as you.");
	return cmd_trust_ask(j);
}

static int trust_projects(struct job *j)
{
	bool always = strcmp(j->args.projects, "always") == 0;
	struct mcpool_error why;
	int r = mp_approvals_get_file(j->c.db, MP_APPROVALS_PROJECTS, &why);

	if (r == always) {
		if (!j->args.json)
			puts(always ? "That is so already." : "It is asked for already.");
		return MP_EXIT_DONE;
	}
	if (r >= 0 && always && !projects_confirm(j))
		return MP_EXIT_NEEDS_APPROVAL;
	if (r >= 0)
		r = mp_approvals_set_file(j->c.db, MP_APPROVALS_PROJECTS, always,
					  mp_configured_now(), &why);
	if (r < 0) {
		cmd_trust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	mp_consent_tell_hub();
	if (!j->args.json)
		puts(always ? "Projects are trusted. `mcpool trust --projects ask` takes it back."
			    : "Servers of projects need your approval again.");
	return MP_EXIT_DONE;
}

/* --- the whole ------------------------------------------------------------------------------- */

static int cmd_trust_trust(struct job *j)
{
	int r;

	if (!j->args.json)
		mp_configured_tell(&j->c, true);
	if (!j->c.db || is_unknown(j)) {
		cmd_trust_complain(j,
				   "what was approved cannot be read, so nothing can be approved");
		return MP_EXIT_CONFIG;
	}
	if (j->args.user_file)
		return trust_user_file(j);
	if (j->args.projects)
		return trust_projects(j);
	r = cmd_trust_collect(j);
	if (r != MP_EXIT_DONE)
		return r;
	if (j->n == 0) {
		if (!j->args.json && j->args.n_words == 0)
			puts("Nothing waits for your approval.");
		return MP_EXIT_DONE;
	}
	return handle_all(j);
}

static int run_trust(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(job_done) struct job j = {0};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &j.args);

	if (r)
		return r - 1;
	if (j.args.projects && strcmp(j.args.projects, "always") != 0 &&
	    strcmp(j.args.projects, "ask") != 0) {
		mp_cli_complain("--projects takes always or ask, not '%s'", j.args.projects);
		return MP_EXIT_USAGE;
	}
	if ((j.args.n_words > 0) + j.args.all + j.args.user_file + (j.args.projects != NULL) > 1) {
		mp_cli_complain("trust takes names, --all, --user-file or --projects, one of the "
				"four. See `mcpool trust --help`.");
		return MP_EXIT_USAGE;
	}
	r = mp_configured_load_asked(&j.c, &j.args);
	if (r)
		return r;
	if (j.args.n_words == 1 && strcmp(j.args.words[0], "list") == 0)
		return mp_cmd_list_approvals(&j.c, j.args.json);
	r = cmd_trust_trust(&j);
	return j.args.json ? print_json(&j, r) : r;
}
