/*
 * connect.c - connects an agent and reverts that: by its own command if it has one, else in its
 * file. Every change is shown first and needs a yes.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/agents/agent_show.h"
#include "cli/agents/connect.h"
#include "cli/display/terminal.h"
#include "files/file.h"

enum { COMMAND_MS = 60000 };

/* The file is named once. */
static int connect_fail(const struct mp_connect *c, const struct mcpool_error *why)
{
	bool is_said = strstr(why->message, c->file) != NULL;

	mp_cli_complain_as(why->code, "%s%s%s", is_said ? "" : c->file, is_said ? "" : ": ",
			   why->message);
	return MP_EXIT_CONFIG;
}

static bool connect_ask(const struct mp_connect *c, const char *question, int *ret_exit_code)
{
	if (c->args->yes || mp_terminal_ask_yes(question))
		return true;
	*ret_exit_code = MP_EXIT_DONE;
	if (!isatty(STDIN_FILENO)) {
		mp_cli_complain("there is no terminal for the question: use --yes");
		*ret_exit_code = MP_EXIT_NEEDS_APPROVAL;
	}
	return false;
}

/* --- by its own command ---------------------------------------------------------------------- */

/* The agent's own command for it, if the agent is here; NULL. */
static const char **connect_get_command(struct mp_connect *c, enum mp_agent_order order)
{
	return c->program[0] ? mp_agent_get_command(c->agent, order, &c->way, &c->arena) : NULL;
}

static void show_command(const char *const *argv)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	if (mp_agent_show_command(argv, &text) == 0)
		fprintf(stderr, "  %.*s\n", MP_STR_ARGS(mp_buf_get(&text)));
}

static int connect_run(struct mp_connect *c, const char *const *argv)
{
	struct mcpool_error why;
	int r = mp_program_run(c->program, argv, COMMAND_MS, &why);

	if (r == 0)
		return MP_EXIT_DONE;
	if (r < 0)
		mp_cli_complain_as(why.code, "%s", why.message);
	else
		mp_cli_complain("`%s` failed with exit code %d; `mcpool connect %s` shows what to "
				"put into %s by hand",
				argv[0], r, c->agent->name, c->file ? c->file : "its file");
	return MP_EXIT_START;
}

/* It may keep its servers elsewhere (a profile): then its exit code decides. */
static void look_again(struct mp_connect *c, bool connected)
{
	struct mcpool_error why;

	if (!c->file ||
	    mp_agent_look(c->agent, c->file, mp_buf_get(&c->entry), &c->arena, &c->view, &why) < 0)
		return;
	if ((c->view.link != MP_AGENT_APART) != connected)
		mp_cli_complain("note: `%s` reported success, but %s does not have the entry",
				c->agent->program, c->file);
}

/* first: of an order that comes before it; NULL: none does. */
static int do_by_command(struct mp_connect *c, const char *const *first, const char *const *argv,
			 const char *word, const char **ret_word)
{
	int r;

	fprintf(stderr, "This is run, because %s has a command of its own for it:\n",
		c->agent->label);
	if (first)
		show_command(first);
	show_command(argv);
	if (!connect_ask(c, "Run it? y (yes), n (no) [n]:", &r))
		return r;
	r = first ? connect_run(c, first) : MP_EXIT_DONE;
	if (r == MP_EXIT_DONE)
		r = connect_run(c, argv);
	if (r != MP_EXIT_DONE)
		return r;
	*ret_word = word;
	look_again(c, strcmp(word, "connected") == 0);
	return MP_EXIT_DONE;
}

/* --- in its file ----------------------------------------------------------------------------- */

static const char *tell_fate(const struct mp_connect *c, bool goes)
{
	if (goes)
		return " (will be removed: it did not exist before)";
	return c->view.exists ? "" : " (new)";
}

static int show_change(struct mp_connect *c, bool undo, struct mcpool_error *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf old, new, text;
	bool goes = false;
	int r;

	mp_buf_init(&old, MP_LIMIT_OWN_FILE);
	mp_buf_init(&new, MP_LIMIT_OWN_FILE);
	mp_buf_init(&text, MP_LIMIT_OWN_FILE * 4);
	r = mp_file_read(c->file, MP_LIMIT_OWN_FILE, &old, why);
	if (r == MCPOOL_ENOENT)
		r = 0;
	if (r == 0)
		r = mp_agent_plan(c->agent, &c->way, c->file, undo, mp_buf_get(&old), &new, &goes,
				  why);
	if (r >= 0)
		r = mp_agent_show_diff(mp_buf_get(&old), mp_buf_get(&new), &text);
	if (r >= 0)
		fprintf(stderr, "%s%s:\n%.*s", c->file, tell_fate(c, goes),
			MP_STR_ARGS(mp_buf_get(&text)));
	return r;
}

static int check_file(struct mp_connect *c, struct mcpool_error *why)
{
	return c->way.project ? mp_agent_check_place(c->file, c->places.of[MP_FOLDER_ROOT], why)
			      : 0;
}

static bool has_backup(const struct mp_connect *c)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s" MP_AGENT_BACKUP, c->file);
	return access(path, F_OK) == 0;
}

static int write_file(struct mp_connect *c, const char **ret_word)
{
	struct mcpool_error why = {0};
	int r = check_file(c, &why);

	if (r == 0)
		r = show_change(c, false, &why);
	if (r < 0)
		return connect_fail(c, &why);
	if (!connect_ask(c, "Write it? y (yes), n (no) [n]:", &r))
		return r;
	if (mp_agent_write(c->agent, &c->way, c->file, &why) < 0)
		return connect_fail(c, &why);
	if (has_backup(c))
		fprintf(stderr, "A copy of the old file is %s" MP_AGENT_BACKUP ".\n", c->file);
	*ret_word = "connected";
	return MP_EXIT_DONE;
}

static int undo_file(struct mp_connect *c, const char **ret_word)
{
	struct mcpool_error why = {0};
	int r = check_file(c, &why);

	if (r == 0)
		r = show_change(c, true, &why);
	if (r < 0)
		return connect_fail(c, &why);
	if (!connect_ask(c, "Undo it? y (yes), n (no) [n]:", &r))
		return r;
	if (mp_agent_undo(c->agent, c->file, &why) < 0)
		return connect_fail(c, &why);
	*ret_word = "undone";
	return MP_EXIT_DONE;
}

/* --- which of the two ------------------------------------------------------------------------ */

static int refuse_taken(const struct mp_connect *c)
{
	mp_cli_complain("%s has another server called \"" MP_AGENT_ENTRY
			"\"; rename that one, then try again",
			c->file);
	return MP_EXIT_CONFIG;
}

/* The token would be in the file, and files are copied and shown. */
static int refuse_token(const struct mp_connect *c)
{
	mp_cli_complain("%s cannot read the token from a variable, so --http is not written for "
			"it; without --http it needs none",
			c->agent->label);
	return MP_EXIT_USAGE;
}

/* Its program rewrites the file in its own way; a person or that program changes it. */
static int refuse_yaml(const struct mp_connect *c, const char *done)
{
	mp_cli_complain("%s is YAML, which mcpool does not change. %s", c->file, done);
	return MP_EXIT_CONFIG;
}

int mp_connect_write(struct mp_connect *c, const char **ret_word)
{
	const char **argv = connect_get_command(c, MP_AGENT_ADD), **first = NULL;

	*ret_word = "left";
	if (c->agent->is_yaml && c->view.link == MP_AGENT_APART)
		return refuse_yaml(c, "`mcpool connect goose` shows the lines to put in");
	if (c->view.link == MP_AGENT_TAKEN)
		return refuse_taken(c);
	if (c->way.url && !c->agent->token)
		return refuse_token(c);
	if (c->view.link == MP_AGENT_CONNECTED) {
		*ret_word = "already";
		return MP_EXIT_DONE;
	}
	if (c->view.link == MP_AGENT_OTHERWISE)
		first = connect_get_command(c, MP_AGENT_REMOVE);
	return argv ? do_by_command(c, first, argv, "connected", ret_word)
		    : write_file(c, ret_word);
}

int mp_connect_undo(struct mp_connect *c, const char **ret_word)
{
	const char **argv = connect_get_command(c, MP_AGENT_REMOVE);

	*ret_word = "left";
	if (c->view.link == MP_AGENT_APART) {
		*ret_word = "nothing";
		return MP_EXIT_DONE;
	}
	if (c->agent->is_yaml)
		return refuse_yaml(c, "Remove the entry \"" MP_AGENT_ENTRY "\" there by hand");
	if (c->view.link == MP_AGENT_TAKEN)
		return refuse_taken(c);
	if (strcmp(c->view.entry, MP_AGENT_ENTRY) != 0) {
		mp_cli_complain("what connects %s is called \"%s\", so it was not written by "
				"`mcpool connect`; remove it from %s by hand",
				c->agent->label, c->view.entry, c->file);
		return MP_EXIT_CONFIG;
	}
	return argv && !has_backup(c) ? do_by_command(c, NULL, argv, "undone", ret_word)
				      : undo_file(c, ret_word);
}
