/*
 * cmd_import.c - `mcpool import`: copies servers of other tools into our own file.
 * The copy is shown first; the other tool's file is not changed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/verbs/consent.h"
#include "cli/verbs/import_secrets.h"
#include "cli/verbs/own_files.h"
#include "cli/display/preview.h"
#include "cli/display/terminal.h"
#include "cli/verbs/verbs.h"
#include "config/read/import.h"
#include "config/read/sources.h"

static int run_import(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_import = {
	"import",
	"[NAME...]",
	"Copy servers of other tools to your file or this project's, after showing them.",
	"  --from SOURCE    only those of this tool: claude, codex, cursor, gemini, ...\n"
	"  --yes, -y        do not ask\n"
	"  --user           into your own file; this is the default\n"
	"  --project        into .mcpool/mcp.json of this project\n"
	"  --secrets        save tokens in them as secrets, and write ${secret:NAME} instead\n"
	"  --json           one JSON object instead of text for people\n",
	"Imported servers are approved by that, and come before the ones they were copied from.\n"
	"Without a terminal, --yes is needed to copy anything. At a terminal you are "
	"asked\n"
	"whether tokens are saved as secrets; see `mcpool help secret`.\n",
	run_import,
	NULL,
	MP_VERB_PLAIN,
};

struct job {
	struct mp_configured *c;
	const struct mp_cli_args *args;
	const char *file;
	struct mp_config_set *before; /* the set at the start: adding loads a new one */
	struct mp_writer *w;          /* --json; NULL: text output */
	struct mp_secrets *store;     /* owned; NULL: not needed yet */
	size_t found, copied, skipped;
	bool all, enough; /* the user's answers */
	int exit_code;
};

static bool is_named(const struct mp_cli_args *args, const char *name)
{
	for (int i = 0; i < args->n_words; i++)
		if (strcmp(args->words[i], name) == 0)
			return true;
	return false;
}

static bool is_of_tool(const struct job *job, const struct mp_entry *e)
{
	return !(e->origin.quirks & MP_QUIRK_OWN) &&
	       (!job->args->from || strcmp(job->args->from, e->origin.tool) == 0);
}

/*
 * Of another tool, and the first of its name there. Without a server or a tool on the command line,
 * only entries that are in effect.
 */
static bool is_wanted(const struct job *job, size_t at)
{
	const struct mp_entry *e = job->before->entries[at];

	if (!is_of_tool(job, e))
		return false;
	if (job->args->n_words ? !is_named(job->args, e->name)
			       : !job->args->from && e->shadow != MP_SHADOW_NONE)
		return false;
	for (size_t i = 0; i < at; i++)
		if (is_of_tool(job, job->before->entries[i]) &&
		    strcmp(job->before->entries[i]->name, e->name) == 0)
			return false;
	return true;
}

/* --- one ------------------------------------------------------------------------------------- */

static void cmd_import_tell(struct job *job, const struct mp_entry *e, const char *result,
			    const char *why)
{
	if (!job->w) {
		if (!why[0])
			printf("%s \"%s\" from %s:%u\n", result, e->name, e->origin.file,
			       e->origin.line);
		return;
	}
	mp_write_begin_object(job->w);
	mp_write_member_text(job->w, "name", mp_str_of(e->name));
	mp_write_member_text(job->w, "result", mp_str_of(result));
	mp_write_key(job->w, MP_STR("error"));
	if (why[0])
		mp_write_text(job->w, mp_str_of(why));
	else
		mp_write_null(job->w);
	mp_configured_write_source(job->w, &e->origin);
	mp_write_end_object(job->w);
}

static void cmd_import_refuse(struct job *job, const struct mp_entry *e, const char *why)
{
	mp_cli_complain("\"%s\" was not imported: %s", e->name, why);
	cmd_import_tell(job, e, "failed", why);
	job->exit_code = MP_EXIT_CONFIG;
}

/* A server named on the command line must be copied; with all, an existing one is fine. */
static void cmd_import_keep(struct job *job, const struct mp_entry *e)
{
	if (is_named(job->args, e->name)) {
		mp_cli_complain_as(MCPOOL_EEXIST, "Server \"%s\" already exists in %s", e->name,
				   job->file);
		job->exit_code = MP_EXIT_CONFIG;
	}
	if (job->w || !is_named(job->args, e->name))
		cmd_import_tell(job, e, "kept", "");
}

static bool cmd_import_ask(struct job *job)
{
	char answer[16] = "";

	if (job->args->yes || job->all)
		return true;
	if (job->enough)
		return false;
	if (!mp_terminal_ask("Copy it? y (yes), n (no), a (all), q (quit) [n]:", answer,
			     sizeof(answer)))
		job->enough = isatty(STDIN_FILENO); /* else show the rest anyway */
	job->all = strcmp(answer, "a") == 0 || strcmp(answer, "all") == 0;
	job->enough |= strcmp(answer, "q") == 0 || strcmp(answer, "quit") == 0;
	return job->all || strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0;
}

/* --- its tokens ------------------------------------------------------------------------------ */

/* Are the tokens of this entry to be saved as secrets? */
static bool moves_secrets(const struct job *job, const struct mp_import_secrets *found)
{
	char question[400];

	if (found->n == 0 || job->args->secrets)
		return found->n > 0;
	if (job->args->yes || job->w || !isatty(STDIN_FILENO))
		return false;
	/* Only names that were made safe are shown. */
	snprintf(question, sizeof(question),
		 "\nThe next server has %zu %s in plain text. Save %s as %s, and write "
		 "${secret:%.128s} instead? y (yes), n (no) [n]:",
		 found->n, found->n > 1 ? "tokens" : "token", found->n > 1 ? "them" : "it",
		 found->n > 1 ? "secrets" : "a secret", found->items[0].name);
	return mp_terminal_ask_yes(question);
}

static int save_secrets(struct job *job, const struct mp_import_secrets *found,
			struct mcpool_error *reterr)
{
	struct mp_secrets_options o = mp_settings_get_secrets(&job->before->settings);
	char words[600];
	int r = job->store ? 0 : mp_secrets_open(&job->store, &o, reterr);

	if (r == 0)
		r = mp_import_secrets_save(found, job->store, reterr);
	if (r < 0)
		return r;
	mp_secrets_get_warning(job->store, words, sizeof(words));
	if (words[0])
		mp_cli_complain("note: %s", words);
	return 0;
}

/* --- one of them ----------------------------------------------------------------------------- */

/* json: what is written; found: the tokens that are saved before, NULL: none. */
static void import_add(struct job *job, const struct mp_entry *e, struct mp_str json,
		       const struct mp_import_secrets *found)
{
	struct mcpool_error why;

	if (!job->w) {
		fprintf(stderr, "\n%s, from %s:%u (%s)\n", e->name, e->origin.file, e->origin.line,
			e->origin.label);
		mp_preview_print(json);
	}
	if (!cmd_import_ask(job)) {
		job->skipped++;
		cmd_import_tell(job, e, "skipped", "");
		return;
	}
	if (found && save_secrets(job, found, &why) < 0) {
		cmd_import_refuse(job, e, why.message);
		return;
	}
	if (mp_own_add(job->c, job->file, e->name, json, "import", false) != MP_EXIT_DONE) {
		cmd_import_tell(job, e, "failed", mp_cli_get_complaint());
		job->exit_code = MP_EXIT_CONFIG;
		return;
	}
	job->copied++;
	cmd_import_tell(job, e, "imported", "");
}

static void import_one(struct job *job, const struct mp_entry *e)
{
	MP_CLEANUP(mp_import_secrets_done) struct mp_import_secrets found = {.n = 0};
	MP_CLEANUP(mp_buf_done) struct mp_buf json;
	struct mcpool_error why;

	mp_buf_init(&json, MP_LIMIT_CONFIG_FILE);
	job->found++;
	if (mp_own_find(job->c, job->file, e->name)) {
		cmd_import_keep(job, e);
		return;
	}
	if (e->invalid ||
	    mp_import_write_entry(job->before, e, job->args->project, &json, &why) < 0) {
		cmd_import_refuse(job, e, e->invalid ? e->invalid : why.message);
		return;
	}
	if (mp_import_secrets_find(&found, e->name, mp_buf_get(&json)) < 0) {
		cmd_import_refuse(job, e, "there is no memory for its tokens");
		return;
	}
	if (moves_secrets(job, &found))
		import_add(job, e, mp_buf_get(&found.json), &found);
	else
		import_add(job, e, mp_buf_get(&json), NULL);
}

/* --- all ------------------------------------------------------------------------------------- */

static void import_all(struct job *job)
{
	job->before = mp_config_set_ref(job->c->set);
	for (size_t i = 0; i < job->before->n && !job->enough; i++)
		if (is_wanted(job, i))
			import_one(job, job->before->entries[i]);
	mp_config_set_unref(job->before);
}

static bool is_there(const struct job *job, const char *name)
{
	for (size_t i = 0; i < job->c->set->n; i++)
		if (is_of_tool(job, job->c->set->entries[i]) &&
		    strcmp(job->c->set->entries[i]->name, name) == 0)
			return true;
	return false;
}

static int check_names(const struct job *job)
{
	for (int i = 0; i < job->args->n_words; i++) {
		const char *name = job->args->words[i];

		if (is_there(job, name))
			continue;
		if (job->args->from)
			mp_cli_complain("%s has no server \"%s\"", job->args->from, name);
		else if (mp_configured_find(job->c, name))
			mp_cli_complain("Server \"%s\" is only in mcpool's own files", name);
		return MP_EXIT_NOT_FOUND;
	}
	return MP_EXIT_DONE;
}

static int refuse_tool(const char *tool)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf known;

	mp_buf_init(&known, MP_KIB(4));
	for (size_t i = 0; i < mp_sources_n; i++)
		if (!(mp_sources[i].quirks & MP_QUIRK_OWN) &&
		    strcmp(mp_sources[i].tool, mp_sources[i - 1].tool) != 0 &&
		    mp_buf_addf(&known, "%s%s", known.len ? ", " : "", mp_sources[i].tool) < 0)
			break;
	mp_cli_complain("there is no tool '%s'; there are %.*s", tool,
			MP_STR_ARGS(mp_buf_get(&known)));
	return MP_EXIT_USAGE;
}

static int cmd_import_finish(struct job *job, struct mp_buf *text)
{
	if (job->copied)
		mp_consent_tell_hub();
	if (job->w) {
		mp_write_end_array(job->w);
		mp_write_end_object(job->w);
		if (mp_write_finish(job->w) == 0)
			mp_print_json(mp_buf_get(text));
	} else if (job->found == 0) {
		printf("There is nothing to import.\n");
	} else {
		printf("%zu of %zu copied to %s\n", job->copied, job->found, job->file);
	}
	if (job->skipped > 0 && !isatty(STDIN_FILENO)) {
		mp_cli_complain("there is no terminal to ask on: --yes copies without asking");
		if (job->exit_code == MP_EXIT_DONE)
			job->exit_code = MP_EXIT_NEEDS_APPROVAL;
	}
	return job->exit_code;
}

static int run_import(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_cli_args args;
	struct mp_writer w;
	struct job job = {.c = &c, .args = &args};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (r)
		return r - 1;
	if (args.from && !mp_sources_has_tool(args.from))
		return refuse_tool(args.from);
	r = mp_configured_load_all(&c, &args);
	if (r)
		return r;
	job.file = mp_own_choose(&c, &args);
	if (!job.file)
		return MP_EXIT_USAGE;
	r = check_names(&job);
	if (r)
		return r;
	if (args.json) {
		job.w = &w;
		mp_write_init(&w, &text, NULL);
		mp_write_begin_object(&w);
		mp_write_key(&w, MP_STR("servers"));
		mp_write_begin_array(&w);
	}
	import_all(&job);
	mp_secrets_free(job.store);
	return cmd_import_finish(&job, &text);
}
