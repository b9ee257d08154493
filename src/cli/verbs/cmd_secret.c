/*
 * cmd_secret.c - `mcpool secret`: saves, lists and removes secrets that configurations use.
 * A value is read from stdin, never from an argument: other users can read command lines.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/terminal.h"
#include "cli/verbs/verbs.h"
#include "config/values/expand.h"
#include "config/values/secret_values.h"
#include "json/write.h"
#include "store/secrets.h"

static int run_secret(const struct mp_verb *verb, int argc, char **argv);
static const char *const list_of_secrets[] = {"secrets", NULL};

const struct mp_verb mp_verb_secret = {
	"secret",
	"set NAME | list | rm NAME",
	"Save, list and remove secrets, which configurations use as ${secret:NAME}.",
	"  --json           one JSON object instead of text for people\n",
	"`set` asks for the value at a terminal; elsewhere it is the first line of stdin:\n"
	"`printf %s \"$TOKEN\" | mcpool secret set GITHUB_TOKEN`. It is kept in the Secret "
	"Service\n"
	"(GNOME Keyring, KWallet, KeePassXC) where one answers and is unlocked, else in a sealed\n"
	"file that you alone may read. No verb prints a value.\n\n"
	"Servers get a new value at their next start: mcpool reconnect NAME.\n",
	run_secret,
	list_of_secrets,
	MP_VERB_PLAIN,
};

struct job {
	const struct mp_cli_args *args;
	struct mp_secrets *store;
	char name[sizeof(MP_SECRET_USER) + 128]; /* as it is stored */
};

static int secret_refuse(const struct mcpool_error *why)
{
	mp_cli_complain_as(why->code, "%s", why->message);
	return why->code == MCPOOL_ENOENT ? MP_EXIT_NOT_FOUND : MP_EXIT_CONFIG;
}

/* Once for each command: why the keyring is not used. */
static void secret_warn(struct job *job)
{
	char words[600];

	mp_secrets_get_warning(job->store, words, sizeof(words));
	if (words[0])
		mp_cli_complain("note: %s", words);
}

static int secret_print(const struct job *job, const char *place)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(16));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(job->args->words[1]));
	if (place)
		mp_write_member_text(&w, "place", mp_str_of(place));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return MP_EXIT_DONE;
}

/* --- set ------------------------------------------------------------------------------------- */

static void text_done(char **text)
{
	if (*text)
		mp_wipe(*text, strlen(*text));
	mp_free(*text);
}

static int secret_set(struct job *job)
{
	size_t len = 0;
	MP_CLEANUP(text_done)
	char *text =
		isatty(STDIN_FILENO) ? mp_terminal_ask_secret("Value:") : mp_cmd_read_stdin(&len);
	struct mcpool_error why;
	struct mp_str value;

	if (!text)
		return MP_EXIT_USAGE;
	value = (struct mp_str){text, strcspn(text, "\r\n")};
	if (value.len == 0 || (text[value.len] == '\0' && len > value.len)) {
		mp_cli_complain("one line with the value is expected on stdin");
		return MP_EXIT_USAGE;
	}
	if (mp_secrets_set(job->store, job->name, value, &why) < 0)
		return secret_refuse(&why);
	secret_warn(job);
	if (job->args->json)
		return secret_print(job, mp_secrets_get_place(job->store));
	printf("Saved %s in %s. Use it as ${secret:%s}\n", job->args->words[1],
	       mp_secrets_get_place(job->store), job->args->words[1]);
	return MP_EXIT_DONE;
}

/* --- list ------------------------------------------------------------------------------------ */

/* Where one secret is written: as JSON, or as a line. */
static void list_one(void *u, const char *name, const char *place, int64_t saved_ms)
{
	struct mp_writer *w = u;
	char since[80] = "";

	name += strlen(MP_SECRET_USER);
	if (!w) {
		if (saved_ms > 0)
			mp_configured_write_since(saved_ms, since, sizeof(since));
		printf("%-30s  %s%s%s\n", name, place, since[0] ? ", " : "", since);
		return;
	}
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(name));
	mp_write_member_text(w, "place", mp_str_of(place));
	mp_write_key(w, MP_STR("savedMs"));
	if (saved_ms > 0)
		mp_write_i64(w, saved_ms);
	else
		mp_write_null(w);
	mp_write_end_object(w);
}

static int secret_list(struct job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	struct mp_writer w;
	int n;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("secrets"));
	mp_write_begin_array(&w);
	n = mp_secrets_list(job->store, MP_SECRET_USER, list_one, job->args->json ? &w : NULL,
			    &why);
	if (n < 0)
		return secret_refuse(&why);
	secret_warn(job);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (job->args->json && mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
	else if (n == 0)
		printf("There are no secrets. Save one: mcpool secret set NAME\n");
	return MP_EXIT_DONE;
}

/* --- rm -------------------------------------------------------------------------------------- */

static int secret_remove(struct job *job)
{
	struct mcpool_error why;

	if (mp_secrets_remove(job->store, job->name, &why) < 0) {
		if (why.code != MCPOOL_ENOENT)
			return secret_refuse(&why);
		secret_warn(job);
		mp_cli_complain_as(why.code,
				   "there is no secret '%s'; `mcpool secret list` lists "
				   "them",
				   job->args->words[1]);
		return MP_EXIT_NOT_FOUND;
	}
	secret_warn(job);
	if (job->args->json)
		return secret_print(job, NULL);
	printf("Removed %s\n", job->args->words[1]);
	return MP_EXIT_DONE;
}

/* --- the verb -------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	int n_words;
	int (*run)(struct job *job);
} actions[] = {
	{"set", 2, secret_set},
	{"list", 1, secret_list},
	{"rm", 2, secret_remove},
};

/* What stands behind a name may be a value: it is not repeated. */
static int secret_usage(const struct mp_cli_args *args)
{
	if (args->n_words > 2 && strcmp(args->words[0], "set") == 0)
		mp_cli_complain(
			"a value is not given as an argument, where other users can read "
			"it: run `mcpool secret set NAME` and type it, or pipe it to stdin");
	else
		mp_cli_complain("usage: mcpool secret %s", args->verb->arguments);
	return MP_EXIT_USAGE;
}

static int secret_run(struct job *job, int (*run)(struct job *job))
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_secrets_options o;
	struct mcpool_error why;
	int r = mp_configured_load(&c, job->args);

	if (r)
		return r;
	o = mp_settings_get_secrets(&c.set->settings);
	if (mp_secrets_open(&job->store, &o, &why) < 0)
		return secret_refuse(&why);
	r = run(job);
	job->store = mp_secrets_free(job->store);
	return r;
}

static int run_secret(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct job job = {.args = &args};
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	for (size_t i = 0; i < MP_ARRAY_LEN(actions); i++) {
		if (strcmp(args.words[0], actions[i].word) != 0 ||
		    args.n_words != actions[i].n_words)
			continue;
		if (args.n_words > 1 && !mp_expand_is_secret_name(mp_str_of(args.words[1]))) {
			mp_cli_complain("the name of a secret has 1 to 128 letters, digits, _ . "
					"and -");
			return MP_EXIT_USAGE;
		}
		if (args.n_words > 1)
			snprintf(job.name, sizeof(job.name), MP_SECRET_USER "%s", args.words[1]);
		return mp_print_finish(secret_run(&job, actions[i].run));
	}
	return secret_usage(&args);
}
