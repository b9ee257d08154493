/*
 * wizard.c - `mcpool add` and `mcpool edit NAME` without arguments: asks for the options.
 * The answers become command line options, so there is one way to add and one to edit.
 */
#include "cli/verbs/wizard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "cli/verbs/own_files.h"
#include "cli/display/terminal.h"
#include "cli/verbs/verbs.h"
#include "pool/status.h"

enum { MAX_WORDS = 64, MAX_LINE = 4096 };

struct wizard {
	struct mp_configured *c;
	struct mp_cli_args *args;
	struct mp_arena arena; /* holds the answers */
	struct mp_buf json;    /* the entry */
	const char *name;
	char *words[MAX_WORDS + 1];
	char *keys[MAX_WORDS + 1]; /* edit: the name, then KEY=VALUE */
};

/* Ask until there is an answer; an empty line takes the default. NULL: end of input. */
static const char *wizard_ask(struct wizard *w, const char *question, const char *otherwise)
{
	char line[MAX_LINE];

	for (;;) {
		struct mp_str answer;

		if (!mp_terminal_ask(question, line, sizeof(line)))
			return NULL;
		answer = mp_str_trim(mp_str_of(line));
		if (answer.len > 0)
			return mp_arena_dup(&w->arena, answer);
		if (otherwise)
			return otherwise;
	}
}

/* --- its name -------------------------------------------------------------------------------- */

static const char *check_name(struct wizard *w, const char *name)
{
	const struct mp_config_set *set = w->c->set;
	const struct mp_entry *other = mp_config_find(set, name);
	const char *wrong =
		mp_entry_check_name(mp_str_of(name), (enum mp_name_set)set->settings.names);

	if (wrong)
		return wrong;
	if (mp_own_find(w->c, set->user_file, name) || mp_own_find(w->c, set->project_file, name))
		return "There is a server of that name already. Please choose another one.";
	if (other)
		fprintf(stderr, "It will take the place of \"%s\" in %s.\n", other->name,
			other->origin.file);
	return NULL;
}

static bool ask_name(struct wizard *w)
{
	const char *wrong;

	do {
		w->name = wizard_ask(w, "Name:", NULL);
		wrong = w->name ? check_name(w, w->name) : NULL;
		if (wrong)
			fprintf(stderr, "%s\n", wrong);
	} while (wrong);
	return w->name;
}

/* --- a command ------------------------------------------------------------------------------- */

/* Parse one word like a shell: blanks, quotes, backslash, leading ~/. NULL: *wrong says why. */
static char *read_word(struct wizard *w, const char **in, const char **wrong)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf word;
	const char *p = *in;
	char quote = '\0';
	int r = 0;

	mp_buf_init(&word, (size_t)2 * MAX_LINE);
	if (strchr("&|;<>", *p)) {
		*wrong = "No shell runs it, so &&, |, ; and > mean nothing: put sh -c '...' around "
			 "it.";
		return NULL;
	}
	if (strncmp(p, "~/", 2) == 0 && w->c->set->home)
		r = mp_buf_add_str(&word, mp_str_of(w->c->set->home)), p++;
	for (; *p && (quote || (*p != ' ' && *p != '\t')) && r == 0; p++) {
		if (quote ? *p == quote : (*p == '"' || *p == '\'')) {
			quote = quote ? '\0' : *p;
			continue;
		}
		if (*p == '\\' && quote != '\'' && p[1])
			p++;
		r = mp_buf_add_char(&word, *p);
	}
	*in = p;
	*wrong = quote ? "A quote is not closed." : r < 0 ? "It is too long." : NULL;
	return *wrong ? NULL : mp_arena_dup(&w->arena, mp_buf_get(&word));
}

static const char *wizard_split(struct wizard *w, const char *line)
{
	const char *wrong = NULL;
	size_t n = 0;

	for (line += strspn(line, " \t"); *line && !wrong; line += strspn(line, " \t")) {
		if (n == MAX_WORDS)
			return "It has too many words.";
		w->words[n++] = read_word(w, &line, &wrong);
	}
	w->words[n] = NULL;
	w->args->command = w->words;
	return wrong;
}

static bool ask_variables(struct wizard *w)
{
	struct mp_cli_list *env = &w->args->env;

	env->n = 0;
	while (env->n < MP_ARRAY_LEN(env->items)) {
		const char *pair = wizard_ask(w, "Environment variable, NAME=VALUE [no more]:", "");

		if (!pair)
			return false;
		if (!pair[0])
			break;
		if (strchr(pair, '=') > pair)
			env->items[env->n++] = pair;
		else
			fprintf(stderr, "Please type NAME=VALUE, or nothing.\n");
	}
	return true;
}

static bool ask_command(struct wizard *w)
{
	const char *wrong;

	do {
		const char *line =
			wizard_ask(w, "Command and arguments, quoted as in a shell:", NULL);

		if (!line)
			return false;
		wrong = wizard_split(w, line);
		if (wrong)
			fprintf(stderr, "%s\n", wrong);
	} while (wrong);
	return true;
}

/* --- a URL ----------------------------------------------------------------------------------- */

/* Complain before the next question, while the user still thinks of the address. */
static bool complete_url(struct wizard *w)
{
	bool is_socket = strcmp(w->args->transport, "websocket") == 0;
	char url[MAX_LINE + 16];

	if (strstr(w->args->url, "://"))
		return true;
	snprintf(url, sizeof(url), "%s%s", is_socket ? "wss://" : "https://", w->args->url);
	fprintf(stderr, "That becomes %s\n", url);
	w->args->url = mp_arena_dup(&w->arena, mp_str_of(url));
	return w->args->url;
}

static bool ask_url(struct wizard *w)
{
	w->args->url = wizard_ask(w, "URL:", NULL);
	return w->args->url && complete_url(w);
}

static bool ask_token(struct wizard *w)
{
	struct mp_cli_args *args = w->args;

	for (;;) {
		args->token_env = wizard_ask(w, "Variable that holds its token [none]:", "");
		if (!args->token_env)
			return false;
		if (!args->token_env[0] || mp_cmd_is_variable(args->token_env))
			break;
		fprintf(stderr, "Please type the name of a variable, not the token itself.\n");
	}
	if (!args->token_env[0])
		args->token_env = NULL;
	else if (!getenv(args->token_env))
		fprintf(stderr, "%s is not set here; it must be where mcpool runs.\n",
			args->token_env);
	return true;
}

/* --- the entry ------------------------------------------------------------------------------- */

/* Choose one of these words; the first is the default. NULL: end of input. */
static const char *wizard_choose(struct wizard *w, const char *question, const char *const *words,
				 const char *again)
{
	for (;;) {
		const char *answer = wizard_ask(w, question, words[0]);

		if (!answer)
			return NULL;
		for (size_t i = 0; words[i]; i++)
			if (strcasecmp(answer, words[i]) == 0)
				return words[i];
		fprintf(stderr, "%s\n", again);
	}
}

/* Asked before the paths, which are relative to it. */
static bool ask_where(struct wizard *w)
{
	static const char *const known[] = {"user", "project", NULL};
	const char *where = wizard_choose(
		w, "Where: user (for all projects) or project (a file in this one) [user]:", known,
		"Please type user or project.");

	w->args->project = where == known[1];
	return where;
}

static bool ask_transport(struct wizard *w)
{
	static const char *const known[] = {"stdio", "http", "sse", "websocket", NULL};

	w->args->transport = wizard_choose(
		w, "Transport: stdio (a command), or http, sse, websocket (a URL) [stdio]:", known,
		"Please type stdio, http, sse or websocket.");
	return w->args->transport;
}

/* Ask again for what the file parser would refuse. */
static bool ask_entry(struct wizard *w, struct mp_entry **ret_entry)
{
	bool is_command = strcmp(w->args->transport, "stdio") == 0;

	*ret_entry = NULL;
	while (!*ret_entry) {
		if (!(is_command ? ask_command(w) && ask_variables(w) : ask_url(w) && ask_token(w)))
			return false;
		mp_buf_clear(&w->json);
		if (mp_cmd_build_server(w->c, w->args, &w->json))
			*ret_entry = mp_own_draft(w->c, w->name, mp_buf_get(&w->json), &w->arena);
	}
	return true;
}

/* Try the server like `mcpool test`, before anything is written. False: it failed, and the user
 * does not save it. */
static bool try_it(struct wizard *w, const struct mp_entry *e)
{
	if (!mp_terminal_ask_yes("Test it now? [y/N]"))
		return true;
	return mp_cmd_try_server(w->c, e, w->args) == MP_EXIT_DONE ||
	       mp_terminal_ask_yes("Save it anyway? [y/N]");
}

/* --- a changed entry ------------------------------------------------------------------------- */

/* Its transport is the default, so it is the first of the words. */
static bool ask_other_transport(struct wizard *w, const struct mp_entry *e)
{
	static const char *const known[] = {"stdio", "http", "sse", "websocket"};
	const char *now = mp_kind_get_name(e->kind), *words[MP_ARRAY_LEN(known) + 2] = {now};
	char question[80];
	size_t n = 1;

	for (size_t i = 0; i < MP_ARRAY_LEN(known); i++)
		if (strcmp(known[i], now) != 0)
			words[n++] = known[i];
	snprintf(question, sizeof(question), "Transport: stdio, http, sse or websocket [%s]:", now);
	w->args->transport =
		wizard_choose(w, question, words, "Please type stdio, http, sse or websocket.");
	return w->args->transport;
}

/* False: end of input. ret_yes: the command or address stays. */
static bool ask_as_it_is(struct wizard *w, const struct mp_entry *e, bool *ret_yes)
{
	struct mp_status s = {0};
	const char *answer;

	mp_status_add_target(&s, e, &w->arena); /* secrets are hidden */
	mp_cmd_print_safe("It is now: ", s.command ? s.command : s.url ? s.url : "not valid");
	fflush(stdout);
	answer = wizard_ask(w, "Keep that? [Y/n]", "y");
	*ret_yes = answer && strcasecmp(answer, "n") != 0 && strcasecmp(answer, "no") != 0;
	return answer;
}

static bool ask_target(struct wizard *w, const struct mp_entry *e)
{
	bool is_command = strcmp(w->args->transport, "stdio") == 0;
	bool stays = false;

	if (strcmp(w->args->transport, mp_kind_get_name(e->kind)) == 0 &&
	    !ask_as_it_is(w, e, &stays))
		return false;
	if (!stays && !(is_command ? ask_command(w) : ask_url(w)))
		return false;
	if (stays || is_command)
		w->args->transport = NULL; /* it goes with a new address only */
	return is_command ? ask_variables(w) : ask_token(w);
}

/* An answer that begins with a minus removes a key. */
static bool ask_keys(struct wizard *w)
{
	struct mp_cli_list *unset = &w->args->unset;

	w->keys[0] = w->args->words[0];
	w->args->words = w->keys;
	while (w->args->n_words < MAX_WORDS && unset->n < MP_ARRAY_LEN(unset->items)) {
		const char *key = wizard_ask(
			w, "Other key, such as timeout=60000, or -timeout to remove it [no more]:",
			"");

		if (!key)
			return false;
		if (!key[0])
			break;
		if (key[0] == '-' && key[1])
			unset->items[unset->n++] = key + 1;
		else if (strchr(key, '=') > key)
			w->keys[w->args->n_words++] = mp_arena_dup(&w->arena, mp_str_of(key));
		else
			fprintf(stderr, "Please type KEY=VALUE, -KEY, or nothing.\n");
	}
	return true;
}

static int wizard_edit(struct wizard *w, const struct mp_entry *e, mp_wizard_fn apply,
		       const char *file)
{
	fprintf(stderr,
		"Change \"%s\". An empty answer keeps what is there; Ctrl-C ends this, and nothing "
		"is changed.\n",
		e->name);
	if (ask_other_transport(w, e) && ask_target(w, e) && ask_keys(w))
		return apply(w->c, w->args, file);
	mp_cli_complain("nothing was changed");
	return MP_EXIT_INTERRUPTED;
}

/* --- running it ------------------------------------------------------------------------------ */

static int wizard_add(struct wizard *w)
{
	struct mp_entry *e;

	fprintf(stderr, "Add an MCP server. Ctrl-C ends this, and nothing is added.\n");
	if (ask_name(w) && ask_where(w) && ask_transport(w) && ask_entry(w, &e) && try_it(w, e))
		return mp_cmd_add_server(w->c, w->args, w->name, mp_buf_get(&w->json));
	mp_cli_complain("nothing was added");
	return MP_EXIT_INTERRUPTED;
}

static bool has_terminal(const char *otherwise)
{
	if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		return true;
	mp_cli_complain("there is no terminal to ask on: %s", otherwise);
	return false;
}

static void wizard_done(struct wizard *w)
{
	mp_buf_done(&w->json);
	mp_arena_done(&w->arena);
}

int mp_wizard_run(struct mp_configured *c, struct mp_cli_args *args)
{
	MP_CLEANUP(wizard_done) struct wizard w = {.c = c, .args = args};

	mp_buf_init(&w.json, MP_LIMIT_CONFIG_FILE);
	mp_arena_init(&w.arena, MP_LIMIT_ARENA);
	if (!has_terminal("`mcpool add NAME -- COMMAND...` or `mcpool add NAME --url URL`"))
		return MP_EXIT_USAGE;
	return wizard_add(&w);
}

int mp_wizard_edit(struct mp_configured *c, struct mp_cli_args *args, const struct mp_entry *e,
		   mp_wizard_fn apply, const char *file)
{
	MP_CLEANUP(wizard_done) struct wizard w = {.c = c, .args = args};

	mp_buf_init(&w.json, MP_LIMIT_CONFIG_FILE);
	mp_arena_init(&w.arena, MP_LIMIT_ARENA);
	if (!has_terminal("`mcpool edit NAME KEY=VALUE` changes a key; `mcpool get NAME` shows "
			  "what is there"))
		return MP_EXIT_USAGE;
	return wizard_edit(&w, e, apply, file);
}
