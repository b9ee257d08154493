/*
 * load.c - loads a configuration set, step by step: our own files first, because their settings
 * decide what else is read; then every source; then approvals; then precedence.
 */

#include "config/read/load.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/read/dialects.h"
#include "files/file.h"
#include "config/read/loading.h"
#include "config/read/precedence.h"
#include "config/values/filter.h"
#include "config/values/queues.h"
#include "config/read/remote.h"
#include "config/read/restore.h"
#include "config/values/trust.h"

static const struct mp_source command_line = {"config",
					      "--config",
					      MP_CONFIG_COMMAND_LINE,
					      MP_FOLDER_ROOT,
					      "",
					      MP_FORMAT_JSON,
					      mp_dialect_servers,
					      MP_QUIRK_OWN | MP_QUIRK_COMMANDS,
					      MP_EXPAND_VARIABLE | MP_EXPAND_ROOTS};

/*
 * Files that a session names. An agent or a file of the repository writes that command, so they
 * count as files of the project: nothing in them has an effect before it was approved (V01).
 */
static const struct mp_source asked = {"config",
				       "stdio --config",
				       MP_CONFIG_PROJECT,
				       MP_FOLDER_ROOT,
				       "",
				       MP_FORMAT_JSON,
				       mp_dialect_servers,
				       MP_QUIRK_OWN | MP_QUIRK_COMMANDS | MP_QUIRK_ASKED,
				       MP_EXPAND_VARIABLE | MP_EXPAND_ROOTS};

static struct mp_config_set *set_new(void)
{
	struct mp_config_set *set = mp_alloc(sizeof(*set));

	set->refs = 1;
	mp_arena_init(&set->arena, 2 * MP_LIMIT_ARENA);
	set->cwd = set->root = set->named_in = "";
	return set;
}

/* --- settings -------------------------------------------------------------------------------- */

struct telling {
	struct mp_loading *l;
	const struct mp_document *doc;
};

/* No file can approve: what a project writes there would approve its own servers (U4). */
static void on_problem(const struct mp_bind_problem *p, void *u)
{
	struct telling *t = u;
	const char *words = p->message;

	if (p->kind == MP_BIND_UNKNOWN &&
	    mp_value_text_is(&t->doc->tape, p->at, MP_STR("projectTrust")))
		words = "\"projectTrust\" is ignored, because no file can approve servers; say "
			"`mcpool trust --projects always` at a terminal";
	mp_loading_complain(t->l, MP_WARNING, t->doc, p->at, "", "", words);
}

static bool is_refused(struct mp_loading *l, const struct mp_document *doc, mp_value object,
		       const char *key)
{
	mp_value at = mp_value_get(&doc->tape, object, key);
	char words[100];

	if (at == MP_NONE)
		return false;
	snprintf(words, sizeof(words), "\"%s\" is ignored here; it is read from your own file only",
		 key);
	mp_loading_complain(l, MP_WARNING, doc, at, "", "", words);
	return true;
}

/*
 * Said by the user's own file only: how secrets are kept and which command opens them, because a
 * project could run a command for every server; what is recorded of the calls of all projects;
 * where their names are sent; and who answers for agents.
 */
static void keep_own_settings(struct mp_loading *l, const struct mp_document *doc, mp_value v,
			      const struct mp_settings *before)
{
	struct mp_settings *s = &l->set->settings;

	if (is_refused(l, doc, v, "secrets"))
		s->secrets = before->secrets;
	if (is_refused(l, doc, v, "audit"))
		s->audit = before->audit;
	if (is_refused(l, doc, v, "dashboard"))
		s->dashboard = before->dashboard;
	if (is_refused(l, doc, v, "otlp"))
		s->otlp = before->otlp;
}

/* Whose tokens the hub accepts, and who needs none, is not said by a project, approved or not. */
static void keep_http_settings(struct mp_loading *l, const struct mp_document *doc, mp_value v,
			       const struct mp_http_settings *before)
{
	mp_value http = mp_value_get(&doc->tape, v, "http");

	if (is_refused(l, doc, http, "oauth"))
		l->set->settings.http.oauth_json = before->oauth_json;
	if (is_refused(l, doc, http, "metricsFrom"))
		l->set->settings.http.metrics_from = before->metrics_from;
}

static void read_settings(struct mp_loading *l, const struct mp_document *doc, bool trusted,
			  bool is_users)
{
	mp_value v = mp_value_get(&doc->tape, MP_ROOT, "mcpool");
	struct mp_settings before = l->set->settings;
	struct telling tell = {l, doc};
	char from[PATH_MAX + 16];
	int r;

	if (l->error < 0 || v == MP_NONE)
		return;
	if (!mp_value_is(&doc->tape, v, MP_TAPE_OBJECT)) {
		mp_loading_complain(l, MP_WARNING, doc, v, "", "",
				    "\"mcpool\" must be an object; it is ignored");
		return;
	}
	snprintf(from, sizeof(from), "%s:%u", doc->path, mp_document_locate(doc, v).line);
	r = mp_settings_read(&l->set->settings, &doc->tape, v, mp_loading_keep(l, from),
			     &l->set->arena, on_problem, &tell);
	if (r < 0 && l->error == 0)
		l->error = r;
	if (!is_users)
		keep_own_settings(l, doc, v, &before);
	mp_remote_note(l, doc, trusted);
}

/* As text, for a hub that finds the file broken. */
static void keep_user_settings(struct mp_loading *l, const struct mp_document *doc)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	mp_value v = mp_value_get(&doc->tape, MP_ROOT, "mcpool");
	struct mcpool_error why;

	mp_buf_init(&text, MP_LIMIT_USER_FILE);
	if (l->error == 0 && mp_value_is(&doc->tape, v, MP_TAPE_OBJECT) &&
	    mp_canonical_add(&doc->tape, v, &text, &why) == 0 && mp_buf_terminate(&text) == 0)
		l->set->user_settings = mp_str_of(mp_loading_keep(l, text.data));
}

struct mp_grant *mp_loading_add_grant(struct mp_loading *l, const struct mp_document *doc,
				      mp_value v, const char *name, const char *root)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_config_set *set = l->set;
	struct mp_grant *grants =
		mp_arena_alloc_array(&set->arena, set->n_grants + 1, sizeof(*grants));
	struct mp_grant *g;
	struct mcpool_error why;
	int r;

	mp_buf_init(&text, MP_LIMIT_USER_FILE);
	if (!grants) {
		l->error = l->error ? l->error : mp_arena_get_error(&set->arena);
		return NULL;
	}
	r = mp_canonical_add(&doc->tape, v, &text, &why);
	if (r == MCPOOL_EINVAL) { /* a duplicate key: what was approved would be ambiguous */
		mp_loading_complain(l, MP_WARNING, doc, v, "", "", why.message);
		return NULL;
	}
	if (r == 0)
		r = mp_buf_terminate(&text);
	if (r < 0) {
		l->error = l->error ? l->error : r;
		return NULL;
	}
	if (set->n_grants)
		memcpy(grants, set->grants, set->n_grants * sizeof(*grants));
	set->grants = grants;
	g = &grants[set->n_grants++];
	*g = (struct mp_grant){
		.name = mp_loading_keep(l, name),
		.file = mp_loading_keep(l, doc->real),
		.root = root,
		.line = mp_document_locate(doc, v).line,
		.content = mp_loading_keep(l, text.data),
	};
	if (l->error < 0)
		return NULL;
	mp_trust_identify_grant(g);
	if (mp_trust_judge_grant(g, l->req->db, l->req->wall_ms, &why) < 0)
		mp_loading_complain(l, MP_ERROR, NULL, MP_NONE, "", "", why.message);
	return g;
}

/* What a project's file sets for mcpool itself has an effect when the user approved it (V01). */
static void read_project_settings(struct mp_loading *l, const struct mp_document *doc)
{
	mp_value v = mp_value_get(&doc->tape, MP_ROOT, "mcpool");
	struct mp_grant *g;

	if (l->error < 0 || v == MP_NONE)
		return;
	g = mp_loading_add_grant(l, doc, v, "[settings]", l->set->root);
	if (g && g->trust == MP_TRUST_YES) {
		struct mp_http_settings http = l->set->settings.http;

		read_settings(l, doc, true, false);
		keep_http_settings(l, doc, v, &http);
	} else if (g)
		mp_loading_complain(l, MP_WARNING, doc, v, "", "",
				    "the settings of a project need your approval: mcpool trust");
}

/* --- unknown keys ---------------------------------------------------------------------------- */

/* What other tools call the object of servers. */
static bool means_servers(struct mp_str key)
{
	static const char *const words[] = {"servers",   "mcp_servers", "mcp-servers",
					    "mcpserver", "mcpservers",  "mcp"};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++)
		if (mp_str_eq_nocase(key, mp_str_of(words[i])))
			return true;
	return false;
}

/* The top level of a file of ours. `$schema` is for editors. */
static void warn_about_keys(struct mp_loading *l, const struct mp_document *doc)
{
	const struct mp_tape *t = &doc->tape;
	char words[240];

	if (!mp_value_is(t, MP_ROOT, MP_TAPE_OBJECT))
		return;
	MP_VALUE_EACH(t, MP_ROOT, key) {
		struct mp_str name = mp_value_source(t, key); /* with its quotes */

		if (mp_value_text_is(t, key, MP_STR("mcpServers")) ||
		    mp_value_text_is(t, key, MP_STR("mcpool")) ||
		    mp_value_text_is(t, key, MP_STR("$schema")) || name.len < 2)
			continue;
		snprintf(words, sizeof(words), "%.*s is an unknown key and is ignored; %s",
			 name.len < 100 ? (int)name.len : 100, name.p,
			 means_servers((struct mp_str){name.p + 1, name.len - 2})
				 ? "did you mean \"mcpServers\"?"
				 : "a file of mcpool has \"mcpServers\" and \"mcpool\"");
		mp_loading_complain(l, MP_WARNING, doc, key, "", "", words);
	}
}

/* --- reading --------------------------------------------------------------------------------- */

static bool is_own(const struct mp_source *s)
{
	return (s->quirks & MP_QUIRK_OWN) != 0;
}

static struct mp_document *open_source(struct mp_loading *l, const struct mp_source *s)
{
	const char *path;

	if (l->without_project && s->level == MP_CONFIG_PROJECT)
		return NULL;
	if (mp_source_is_users(s, &l->places))
		return NULL; /* the home folder as a project: its files are read as the user's */
	path = mp_source_get_path(s, &l->places, &l->set->arena);
	if (!path)
		return NULL;
	return mp_loading_open(l, path, s->format,
			       s->level == MP_CONFIG_PROJECT ? MP_LIMIT_CONFIG_FILE
							     : MP_LIMIT_USER_FILE);
}

static void read_source(struct mp_loading *l, const struct mp_source *s, struct mp_document *doc)
{
	if (s->dialect != mp_dialect_opencode) {
		mp_opencode_merge(l); /* nothing, or the layers that came before */
		if (doc)
			s->dialect(l, s, doc);
		mp_document_free(doc);
		return;
	}
	if (doc && l->n_layers < MP_LAYERS_MAX)
		l->layers[l->n_layers++] = (struct mp_layer){s, doc};
	else
		mp_document_free(doc);
}

static bool is_wanted(const struct mp_loading *l, const struct mp_source *s)
{
	const struct mp_settings *settings = &l->set->settings;

	return mp_settings_has_source(settings, s->tool) &&
	       (s->level != MP_CONFIG_PROJECT || settings->project_config);
}

static void read_sources(struct mp_loading *l, struct mp_document **own)
{
	for (size_t i = 0; i < mp_sources_n && l->error == 0; i++) {
		const struct mp_source *s = &mp_sources[i];
		struct mp_document *doc;

		if (!is_wanted(l, s))
			continue;
		doc = is_own(s) ? MP_TAKE(own[i]) : open_source(l, s);
		if (!doc)
			mp_restore_source(l, s);
		read_source(l, s, doc);
	}
	mp_opencode_merge(l);
}

/* The files of the command line, then those of the session. */
static bool is_asked(const struct mp_loading *l, size_t i)
{
	return i >= l->req->n_files;
}

static struct mp_document *open_named(struct mp_loading *l, size_t i)
{
	const char *path = is_asked(l, i) ? l->req->asked[i - l->req->n_files] : l->req->files[i];
	size_t problems = l->n_problems;
	struct mp_document *doc = mp_loading_open(
		l, path,
		strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".toml") == 0 ? MP_FORMAT_TOML
										  : MP_FORMAT_JSON,
		is_asked(l, i) ? MP_LIMIT_CONFIG_FILE : MP_LIMIT_USER_FILE);

	if (doc || l->error < 0)
		return doc;
	if (l->n_problems == problems) /* it was named, so it must be there */
		mp_loading_complain(l, MP_ERROR, NULL, MP_NONE, path, "", "there is no such file");
	else
		l->last_problem->problem.severity = MP_ERROR;
	return doc;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* What the user trusts as a whole (`trust --user-file`, `trust --projects always`). */
static void find_trusted(struct mp_loading *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf real;

	mp_buf_init(&real, PATH_MAX + 1);
	if (l->error < 0 || !l->req->db)
		return;
	l->trusted.projects = l->set->trusts_projects =
		mp_approvals_get_file(l->req->db, MP_APPROVALS_PROJECTS, NULL) > 0;
	if (l->set->user_file && mp_file_real_path(l->set->user_file, &real) == 0 &&
	    mp_approvals_get_file(l->req->db, real.data, NULL) > 0)
		l->trusted.file = mp_loading_keep(l, real.data);
}

/* Before the first look-up: a change meanwhile is then a change since. */
static void note_approvals_mark(struct mp_loading *l)
{
	if (l->req->db && mp_approvals_get_mark(l->req->db, &l->set->approvals_mark, NULL) < 0)
		l->set->approvals_mark = 0;
}

/* Now that all settings are known: an undefined queue is an error (U28). */
static void check_queues(struct mp_loading *l)
{
	for (struct mp_entry_node *n = l->first; n && l->error == 0; n = n->next) {
		if (!n->entry->invalid)
			n->entry->invalid =
				mp_queues_check(&l->set->settings, n->entry, &l->set->arena);
	}
}

/* Tools that the settings deny count as those that the entry itself denies. */
static void deny_tools(struct mp_loading *l)
{
	for (struct mp_entry_node *n = l->first; n && l->error == 0; n = n->next)
		l->error = mp_filter_deny_tools(&l->set->settings.deny, n->entry->name,
						&l->set->arena, &n->entry->tools_denied);
}

static void load_judge(struct mp_loading *l)
{
	struct mp_scripts_budget budget = MP_SCRIPTS_BUDGET;
	struct mcpool_error why = {0};
	bool failed = false;

	for (struct mp_entry_node *n = l->first; n && l->error == 0; n = n->next) {
		int r = mp_trust_identify_within(n->entry, &budget, &l->set->arena);

		if (r < 0)
			l->error = r;
		else if (mp_trust_judge(n->entry, l->req->db, &l->trusted, l->req->wall_ms, &why) <
			 0)
			failed = true;
	}
	if (failed)
		mp_loading_complain(l, MP_ERROR, NULL, MP_NONE, "", "", why.message);
}

/* Lists to arrays, now that their lengths are known. */
static void load_settle(struct mp_loading *l)
{
	struct mp_config_set *set = l->set;
	struct mp_arena *arena = &set->arena;

	set->entries = mp_arena_alloc_array(arena, l->n_entries + 1, sizeof(void *));
	set->problems = mp_arena_alloc_array(arena, l->n_problems + 1, sizeof(*set->problems));
	set->paths = mp_arena_alloc_array(arena, l->n_paths + 1, sizeof(*set->paths));
	if (!set->entries || !set->problems || !set->paths) {
		l->error = mp_arena_get_error(arena);
		return;
	}
	for (struct mp_entry_node *n = l->first; n; n = n->next)
		set->entries[set->n++] = n->entry;
	set->n_paths = l->n_paths;
	for (struct mp_path_node *n = l->first_path; n; n = n->next)
		set->paths[--l->n_paths] = n->path; /* the list has the last one first */
}

static void settle_problems(struct mp_loading *l)
{
	for (struct mp_problem_node *n = l->first_problem; n; n = n->next)
		if (l->set->n_problems < l->n_problems)
			l->set->problems[l->set->n_problems++] = n->problem;
}

/*
 * What would make another folder the project's root: the working folder that comes back, or a
 * marker in it. Without this a clone into a folder that was deleted stays unnoticed.
 */
static void note_markers(struct mp_loading *l)
{
	struct mp_places here = l->places;
	char git[PATH_MAX + 8];

	if (here.is_missing)
		mp_loading_note_path(l, here.cwd);
	if (strcmp(here.cwd, here.of[MP_FOLDER_ROOT]) == 0)
		return;
	here.of[MP_FOLDER_ROOT] = here.cwd;
	snprintf(git, sizeof(git), "%s/.git", here.cwd);
	mp_loading_note_path(l, git);
	for (size_t i = 0; i < mp_sources_n && l->error == 0; i++) {
		const char *path = mp_source_get_path(&mp_sources[i], &here, &l->set->arena);

		if (mp_sources[i].folder == MP_FOLDER_ROOT && path)
			mp_loading_note_path(l, path);
	}
}

static void find_places(struct mp_loading *l)
{
	struct mp_config_set *set = l->set;
	int r = mp_places_find(&l->places, l->req->cwd, l->req->env, &set->arena);

	if (r < 0) {
		l->error = r;
		return;
	}
	set->cwd = l->places.cwd;
	set->named_in = l->req->named_in ? mp_loading_keep(l, l->req->named_in) : set->cwd;
	set->root = l->places.of[MP_FOLDER_ROOT];
	set->home = l->places.of[MP_FOLDER_HOME];
	for (size_t i = 0; i < mp_sources_n; i++)
		if (is_own(&mp_sources[i])) {
			const char *path =
				mp_source_get_path(&mp_sources[i], &l->places, &set->arena);

			if (mp_sources[i].level == MP_CONFIG_PROJECT)
				set->project_file = path;
			else
				set->user_file = path;
		}
}

struct documents {
	struct mp_document **own;   /* by row of the table */
	struct mp_document **named; /* by place in the request: files, then asked */
	size_t n_named;
};

static void read_named(struct mp_loading *l, const struct documents *d)
{
	for (size_t i = 0; i < d->n_named && l->error == 0; i++) {
		struct mp_source s = is_asked(l, i) ? asked : command_line;

		if (!d->named[i])
			continue;
		if (d->named[i]->format == MP_FORMAT_TOML)
			s.dialect = mp_dialect_codex;
		s.dialect(l, &s, d->named[i]);
	}
}

static void documents_done(struct documents *d)
{
	for (size_t i = 0; i < mp_sources_n; i++)
		mp_document_free(d->own[i]);
	for (size_t i = 0; i < d->n_named; i++)
		mp_document_free(d->named[i]);
	mp_free(d->own);
	mp_free(d->named);
}

static void open_own(struct mp_loading *l, struct documents *d)
{
	for (size_t i = 0; i < mp_sources_n && !l->req->strict; i++)
		if (is_own(&mp_sources[i]) && (d->own[i] = open_source(l, &mp_sources[i])))
			warn_about_keys(l, d->own[i]);
	for (size_t i = 0; i < d->n_named; i++) {
		if (l->without_project && is_asked(l, i))
			continue;
		d->named[i] = open_named(l, i);
		/* It may be another tool's file, which has keys of its own. */
		if (d->named[i] && d->named[i]->format == MP_FORMAT_JSON &&
		    mp_value_get(&d->named[i]->tape, MP_ROOT, "mcpServers") == MP_NONE)
			warn_about_keys(l, d->named[i]);
	}
}

/* The user's, then the project's over them, then what the command line or the session names. */
static void read_all_settings(struct mp_loading *l, struct documents *d)
{
	for (size_t i = mp_sources_n; i-- > 0;) {
		if (!d->own[i] && is_own(&mp_sources[i]) && mp_sources[i].level == MP_CONFIG_USER &&
		    !l->req->strict)
			mp_restore_settings(l, &mp_sources[i]);
		if (!d->own[i])
			continue;
		if (mp_sources[i].level == MP_CONFIG_USER)
			keep_user_settings(l, d->own[i]);
		if (mp_sources[i].level == MP_CONFIG_USER)
			read_settings(l, d->own[i],
				      l->trusted.file &&
					      strcmp(l->trusted.file, d->own[i]->real) == 0,
				      true);
		else if (l->set->settings.project_config)
			read_project_settings(l, d->own[i]);
	}
	for (size_t i = 0; i < d->n_named; i++) {
		if (d->named[i] && is_asked(l, i))
			read_project_settings(l, d->named[i]);
		else if (d->named[i])
			read_settings(l, d->named[i], true, false);
	}
}

static void load_load(struct mp_loading *l, bool with_remote)
{
	MP_CLEANUP(documents_done)
	struct documents d = {
		.own = mp_alloc(mp_sources_n * sizeof(struct mp_document *)),
		.n_named = l->req->n_files + l->req->n_asked,
	};

	d.named = mp_alloc((d.n_named + 1) * sizeof(struct mp_document *));
	find_places(l);
	if (l->error == 0)
		note_markers(l);
	if (l->error == 0)
		l->error = mp_settings_init(&l->set->settings, &l->set->arena);
	if (l->error == 0 && l->req->profile)
		l->error = mp_settings_impose(&l->set->settings, l->req->profile, &l->set->arena);
	if (l->without_project)
		mp_loading_complain(
			l, MP_ERROR, NULL, MP_NONE, l->set->root, "",
			"the files of this project are too much to be read; none of them "
			"counts");
	note_approvals_mark(l);
	find_trusted(l);
	open_own(l, &d);
	read_all_settings(l, &d);
	if (l->error == 0 && l->set->settings.enabled) {
		read_named(l, &d);
		if (!l->req->strict)
			read_sources(l, d.own);
		if (with_remote)
			mp_remote_read(l);
	}
	deny_tools(l);
	check_queues(l);
	if (l->error == 0) /* entries lost for lack of memory would go unnoticed */
		l->error = mp_arena_get_error(&l->set->arena);
	load_judge(l);
	if (l->error == 0)
		load_settle(l);
	if (l->error == 0)
		l->error = mp_precedence_decide(l->set);
	if (l->error == 0)
		settle_problems(l);
}

/* A20: nothing, and the reason. */
static struct mp_config_set *empty_set(int error)
{
	struct mp_config_set *set = set_new();

	set->problems = mp_arena_alloc_array(&set->arena, 1, sizeof(*set->problems));
	if (mp_settings_init(&set->settings, &set->arena) < 0)
		memset(&set->settings, 0, sizeof(set->settings));
	if (!set->problems)
		return set;
	set->problems[0] = (struct mp_problem){
		.severity = MP_ERROR,
		.file = ".mcp.json",
		.server = "",
		.message = mcpool_error_text(error),
		.quote = "",
	};
	set->n_problems = 1;
	return set;
}

/* NULL: it failed; *ret_error says how. */
static struct mp_config_set *try_load(const struct mp_config_request *req, bool with_remote,
				      bool without_project, int *ret_error)
{
	struct mp_loading l = {.set = set_new(), .req = req, .without_project = without_project};

	l.set->has_remote = with_remote;
	load_load(&l, with_remote);
	for (size_t i = 0; i < l.n_layers; i++)
		mp_document_free(l.layers[i].doc);
	*ret_error = l.error;
	if (l.error < 0)
		mp_config_set_unref(l.set);
	return l.error < 0 ? NULL : l.set;
}

/* A project that is too much to be read takes nothing away but itself. */
static struct mp_config_set *load_set(const struct mp_config_request *req, bool with_remote)
{
	int error;
	struct mp_config_set *set = try_load(req, with_remote, false, &error);

	if (!set && error == MCPOOL_ELIMIT)
		set = try_load(req, with_remote, true, &error);
	return set ? set : empty_set(error);
}

struct mp_config_set *mp_config_load(const struct mp_config_request *req)
{
	return load_set(req, false);
}

struct mp_config_set *mp_config_load_remote(const struct mp_config_request *req)
{
	return load_set(req, true);
}
