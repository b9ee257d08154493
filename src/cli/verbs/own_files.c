/*
 * own_files.c - changes our two configuration files from the command line, and approves what the
 * user wrote there.
 */
#include "cli/verbs/own_files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agent_run.h"
#include "cli/agents/agent_show.h"
#include "cli/verbs/consent.h"
#include "cli/verbs/verbs.h"
#include "files/file.h"
#include "config/values/trust.h"
#include "config/read/changes.h"

const char *mp_own_choose(const struct mp_configured *c, const struct mp_cli_args *args)
{
	const char *file = args->project ? c->set->project_file : c->set->user_file;

	if (args->project && args->user) {
		mp_cli_complain("say --project or --user, not both");
		return NULL;
	}
	if (!file && c->set->n_problems) /* discovery failed (A20) */
		mp_cli_complain("there is no folder to keep a file in: %s",
				c->set->problems[0].message);
	else if (!file)
		mp_cli_complain("there is no home folder to keep a file in: HOME is not set");
	return file;
}

const struct mp_entry *mp_own_find(const struct mp_configured *c, const char *file,
				   const char *name)
{
	for (size_t i = 0; file && i < c->set->n; i++) {
		const struct mp_entry *e = c->set->entries[i];

		if (strcmp(e->name, name) == 0 && strcmp(e->origin.file, file) == 0)
			return e;
	}
	return NULL;
}

int mp_own_fail(const struct mcpool_error *why)
{
	mp_cli_complain_as(why->code, "%s", why->message);
	return why->code == MCPOOL_ENOENT ? MP_EXIT_NOT_FOUND : MP_EXIT_CONFIG;
}

static bool is_broken(const char *file)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	struct mcpool_error why;
	int r = mp_document_open(file, MP_FORMAT_JSON, MP_LIMIT_OWN_FILE, &doc, &why);

	if (r == 0 || r == MCPOOL_ENOENT)
		return false;
	mp_cli_complain_as(r, "%s:%u:%u: %s", file, doc->fault.line, doc->fault.column,
			   why.message);
	return true;
}

bool mp_own_is_broken(const struct mp_configured *c)
{
	return (c->set->project_file && is_broken(c->set->project_file)) ||
	       (c->set->user_file && is_broken(c->set->user_file));
}

const char *mp_own_locate(const struct mp_configured *c, const struct mp_cli_args *args,
			  int *ret_exit)
{
	const char *name = args->words[0];
	const struct mp_config_set *set = c->set;
	bool in_project = mp_own_find(c, set->project_file, name) && !args->user;
	bool in_user = mp_own_find(c, set->user_file, name) && !args->project;

	*ret_exit = MP_EXIT_DONE;
	if (args->project && args->user) {
		mp_cli_complain("say --project or --user, not both");
		*ret_exit = MP_EXIT_USAGE;
	} else if (in_project && in_user) {
		mp_cli_complain("Server \"%s\" is in two files: use --project (%s) or "
				"--user (%s)",
				name, set->project_file, set->user_file);
		*ret_exit = MP_EXIT_USAGE;
	} else if (in_project || in_user) {
		return in_project ? set->project_file : set->user_file;
	} else if (mp_own_is_broken(c)) {
		*ret_exit = MP_EXIT_CONFIG;
	} else if (args->project || args->user) {
		mp_cli_complain("Server \"%s\" not found in %s", name,
				args->project ? set->project_file : set->user_file);
		*ret_exit = MP_EXIT_NOT_FOUND;
	}
	return NULL;
}

int mp_own_refuse_foreign(const struct mp_entry *e)
{
	mp_cli_complain("Server \"%s\" is in %s:%u, a file of %s, which mcpool never changes. "
			"`mcpool disable %s` switches it off here.",
			e->name, e->origin.file, e->origin.line, e->origin.label, e->name);
	return MP_EXIT_CONFIG;
}

/* --- real paths ------------------------------------------------------------------------------ */

/* The real path of an existing or future file: folders resolved, and the file too if it exists. */
static bool find_real(const char *file, char real[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(file, '/');
	struct stat st;

	if (realpath(file, real))
		return true;
	if (lstat(file, &st) == 0 && S_ISLNK(st.st_mode))
		return false; /* a dangling link may point anywhere later */
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - file), file);
	if (!realpath(folder, real))
		snprintf(real, PATH_MAX, "%s", folder); /* created when needed */
	return true;
}

/* Another known file with the same real path. */
static const char *find_other(const struct mp_config_set *set, const char *file, const char *real)
{
	char other[PATH_MAX];

	for (size_t i = 0; i < set->n_paths; i++)
		if (strcmp(set->paths[i], file) != 0 && realpath(set->paths[i], other) &&
		    strcmp(other, real) == 0)
			return set->paths[i];
	return NULL;
}

int mp_own_change(const struct mp_configured *c, const char *file, mp_writer_fn fn, void *u,
		  struct mcpool_error *reterr)
{
	bool of_project = strcmp(file, c->set->project_file) == 0;
	char real[PATH_MAX];
	bool known = find_real(file, real);
	const char *other = known ? find_other(c->set, file, real) : NULL;

	if (of_project && (!known || !mp_file_is_below(real, c->set->root)))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a link that leads out of the project; nothing was changed. "
			       "Remove the link if you want a file there.",
			       file);
	if (other)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s leads to %s, which mcpool never changes; nothing was changed",
			       file, other);
	return mp_config_change(file, fn, u, reterr);
}

/* --- checking -------------------------------------------------------------------------------- */

static void on_problem(const struct mp_bind_problem *p, void *u)
{
	(void)u;
	mp_cli_complain("note: %s", p->message);
}

struct mp_entry *mp_own_draft(const struct mp_configured *c, const char *name, struct mp_str json,
			      struct mp_arena *arena)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_origin origin = {.file = "",
				   .real = "",
				   .tool = "mcpool",
				   .label = "mcpool",
				   .root = "",
				   .scope = "",
				   .spellings = MP_EXPAND_VARIABLE,
				   .quirks = MP_QUIRK_OWN | MP_QUIRK_COMMANDS,
				   .level = MP_CONFIG_COMMAND_LINE};
	struct mp_entry *e = NULL;
	struct mcpool_error why;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, json, &why) < 0) {
		mp_cli_complain("Invalid server config: %s", why.message);
		return NULL;
	}
	if (mp_entry_read(mp_str_of(name), &t, MP_ROOT, &origin, &c->set->settings, arena,
			  on_problem, NULL, &e) < 0)
		return NULL;
	e->trust = MP_TRUST_YES; /* the user is approving it now */
	if (!e->invalid)
		return e;
	mp_cli_complain("Invalid server config: %s", e->invalid);
	return NULL;
}

/* Validate with the parser that will read the file (B10). */
static bool is_valid(const struct mp_configured *c, const char *name, struct mp_str json)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!mp_own_draft(c, name, json, &arena))
		return false;
	if (!mp_entry_is_plain_name(mp_str_of(name)))
		mp_cli_complain("note: in the names of its tools everything in \"%s\" but letters, "
				"digits, - and _ becomes _",
				name);
	return true;
}

/* --- writing --------------------------------------------------------------------------------- */

/*
 * A server added by the user is approved (doc/protocol.md, "Identity"); the approval is for the
 * current content of the file.
 */
static int own_files_approve(struct mp_configured *c, const char *file, const char *name,
			     const char *how)
{
	const struct mp_entry *e = mp_own_find(c, file, name);
	struct mcpool_error why;

	if (!e) {
		mp_cli_complain("it was written, but is not there any more");
		return MP_EXIT_CONFIG;
	}
	if (mp_trust_approve(c->db, e, how, mp_configured_now(), &why) < 0) {
		mp_cli_complain_as(why.code,
				   "it was written, but could not be approved: %s. `mcpool trust "
				   "%s` does that.",
				   why.message, name);
		return MP_EXIT_CONFIG;
	}
	mp_configured_reload(c);
	return MP_EXIT_DONE;
}

void mp_own_approve_again(struct mp_configured *c, const char *file, const char *name,
			  bool was_approved, const char *how)
{
	const struct mp_entry *e;
	struct mcpool_error why;

	mp_configured_reload(c);
	e = mp_own_find(c, file, name);
	if (!was_approved || !e || e->trust == MP_TRUST_YES)
		return;
	if (mp_trust_approve(c->db, e, how, mp_configured_now(), &why) < 0)
		mp_cli_complain("it needs your approval again: %s", why.message);
	else
		mp_consent_tell_hub();
	mp_configured_reload(c);
}

/* Warn about a token in a file that others can read. */
static void warn_of_readers(const char *file, struct mp_str json)
{
	struct stat st;

	if (mp_str_find(json, MP_STR("\"Authorization\":\"Bearer "), 0) >= 0 &&
	    mp_str_find(json, MP_STR("Bearer ${"), 0) < 0 && stat(file, &st) == 0 &&
	    (st.st_mode & 077))
		mp_cli_complain("note: others may read %s, and the token in it: chmod 600 %s", file,
				file);
}

int mp_own_add(struct mp_configured *c, const char *file, const char *name, struct mp_str json,
	       const char *how, bool replace)
{
	struct mp_server_change change = {name, json, file};
	struct mcpool_error why;

	if (!is_valid(c, name, json))
		return MP_EXIT_CONFIG;
	if (!c->db) {
		mp_cli_complain_as(MCPOOL_EIO,
				   "\"%s\" was not added, because it could not be approved", name);
		return MP_EXIT_CONFIG;
	}
	if (mp_own_change(c, file, replace ? mp_change_set_server : mp_change_add_server, &change,
			  &why) < 0)
		return mp_own_fail(&why);
	warn_of_readers(file, json);
	mp_configured_reload(c);
	return own_files_approve(c, file, name, how);
}

static void report_as_json(const struct mp_configured *c, const struct mp_entry *e,
			   const char *verb)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, mp_str_of(verb));
	mp_cmd_write_server(&w, c, e);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* A missing command may be installed later: warn, do not refuse. */
static void warn_of_missing(const struct mp_entry *e)
{
	char found[PATH_MAX];

	if (e->kind == MP_KIND_STDIO && e->argc && !strpbrk(e->argv[0], "/$") &&
	    !mp_program_find(e->argv[0], found))
		mp_cli_complain("note: the command '%s' is not found in PATH", e->argv[0]);
}

static void print_next(const struct mp_entry *e)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf command;
	const char *const argv[] = {"mcpool", "test", e->name, NULL};

	mp_buf_init(&command, MP_KIB(64));
	fflush(stdout);
	warn_of_missing(e);
	if (mp_agent_show_command(argv, &command) == 0)
		printf("`%.*s` tries it.\n", MP_STR_ARGS(mp_buf_get(&command)));
}

void mp_own_report(const struct mp_configured *c, const char *file, const char *name,
		   const char *verb, bool json)
{
	const struct mp_entry *e = mp_own_find(c, file, name);

	if (!e)
		return;
	if (json) {
		report_as_json(c, e, verb);
		return;
	}
	printf("%s %s server \"%s\" to %s\n", verb, mp_kind_get_name(e->kind), name, file);
	if (e->shadowed_by)
		printf("Not used: \"%s\" (%s:%u) %s.\n", e->shadowed_by->name,
		       e->shadowed_by->origin.file, e->shadowed_by->origin.line,
		       e->shadow == MP_SHADOW_CONNECTION ? "already opens the same connection"
							 : "comes before it");
	else
		print_next(e);
}

int mp_own_keep_http(const char *address)
{
	static const struct mp_cli_args all;
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf json;
	struct mp_setting_change change = {.outer = "http", .key = "listen"};
	struct mcpool_error why;
	struct mp_writer w;
	int r = mp_configured_load_all(&c, &all);

	mp_buf_init(&json, MP_KIB(4));
	if (r)
		return r;
	change.path = mp_own_choose(&c, &all);
	if (!change.path)
		return MP_EXIT_CONFIG;
	mp_write_init(&w, &json, NULL);
	mp_write_text(&w, mp_str_of(address));
	r = mp_write_finish(&w);
	change.json = mp_buf_get(&json);
	if (r < 0)
		(void)mp_fail(&why, r, "the address is too long");
	else
		r = mp_own_change(&c, change.path, mp_change_setting, &change, &why);
	return r < 0 ? mp_own_fail(&why) : MP_EXIT_DONE;
}
