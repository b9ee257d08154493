/*
 * configured.c - loads the configuration for one command and reports its problems.
 */
#include "cli/servers/configured.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/similar.h"
#include "config/read/load.h"
#include "hub/remote_sources.h"

extern char **environ;

enum { MORE_FILES = 1 }; /* added by a verb */

int64_t mp_configured_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Paths of --config are relative to the current directory. */
static int note_files(struct mp_configured *c, const struct mp_cli_args *args)
{
	c->paths = mp_alloc((args->config.n + MORE_FILES) * sizeof(*c->paths));
	c->files = mp_alloc((args->config.n + MORE_FILES) * sizeof(*c->files));
	c->room = args->config.n + MORE_FILES;
	for (size_t i = 0; i < args->config.n; i++) {
		char *path = mp_alloc(PATH_MAX + sizeof(c->cwd));
		const char *given = args->config.items[i];

		snprintf(path, PATH_MAX + sizeof(c->cwd), "%s%s%s", given[0] == '/' ? "" : c->cwd,
			 given[0] == '/' ? "" : "/", given);
		c->files[i] = c->paths[i] = path;
		c->n_files++;
	}
	c->strict = args->strict_config;
	if (c->strict && c->n_files == 0) {
		mp_cli_complain("--strict-config uses the files of --config alone; name one");
		return MP_EXIT_USAGE;
	}
	return MP_EXIT_DONE;
}

void mp_configured_add_file(struct mp_configured *c, const char *path)
{
	char *copy = mp_alloc(strlen(path) + 1);

	mp_check(c->n_files < c->room);
	memcpy(copy, path, strlen(path) + 1);
	c->files[c->n_files] = c->paths[c->n_files] = copy;
	c->n_files++;
}

struct mp_config_request mp_configured_get_request(const struct mp_configured *c)
{
	return (struct mp_config_request){
		.cwd = c->cwd,
		.env = environ,
		.files = c->asks ? NULL : c->files,
		.n_files = c->asks ? 0 : c->n_files,
		.asked = c->asks ? c->files : NULL,
		.n_asked = c->asks ? c->n_files : 0,
		.strict = c->strict,
		.db = c->db,
		.use_last_good = c->use_last_good,
		.wall_ms = mp_configured_now(),
	};
}

static int configured_load(struct mp_configured *c, const struct mp_cli_args *args,
			   bool use_last_good, bool asks,
			   struct mp_config_set *(*how)(const struct mp_config_request *req))
{
	struct mp_config_request req;
	struct mcpool_error why;
	int r;

	*c = (struct mp_configured){.use_last_good = use_last_good, .asks = asks};
	if (!getcwd(c->cwd, sizeof(c->cwd))) {
		mp_cli_complain("the current directory no longer exists");
		return MP_EXIT_CONFIG;
	}
	r = note_files(c, args);
	if (r)
		return r;
	if (mp_db_open_default(&c->db, &why) < 0)
		mp_cli_complain("%s. Until that is put right nothing counts as approved.",
				why.message);
	req = mp_configured_get_request(c);
	c->first = how(&req);
	c->set = mp_config_set_ref(c->first);
	if (!c->set->home && !c->strict)
		mp_cli_complain(
			"HOME is not set to a folder, so none of your own files is looked for");
	return MP_EXIT_DONE;
}

/* Fetch the remote sources; use the copy of one that does not answer in time. */
static struct mp_config_set *load_fetched(const struct mp_config_request *req)
{
	struct mp_config_set *set = mp_config_load_remote(req);

	if (!mp_remote_sources_ask_once(set))
		return set;
	mp_config_set_unref(set);
	return mp_config_load_remote(req);
}

int mp_configured_load(struct mp_configured *c, const struct mp_cli_args *args)
{
	return configured_load(c, args, false, false, mp_config_load);
}

int mp_configured_load_copies(struct mp_configured *c, const struct mp_cli_args *args)
{
	return configured_load(c, args, true, false, mp_config_load_remote);
}

int mp_configured_load_all(struct mp_configured *c, const struct mp_cli_args *args)
{
	return configured_load(c, args, false, false, load_fetched);
}

int mp_configured_load_asked(struct mp_configured *c, const struct mp_cli_args *args)
{
	return configured_load(c, args, false, true, load_fetched);
}

void mp_configured_reload(struct mp_configured *c)
{
	struct mp_config_request req = mp_configured_get_request(c);
	bool all = c->set->has_remote;

	mp_config_set_unref(c->set);
	c->set = all ? mp_config_load_remote(&req) : mp_config_load(&req);
}

void mp_configured_done(struct mp_configured *c)
{
	mp_config_set_unref(c->set);
	mp_config_set_unref(c->first);
	mp_db_close(c->db);
	for (size_t i = 0; i < c->n_files; i++)
		mp_free(c->paths[i]);
	mp_free(c->paths);
	mp_free(c->files);
}

/* --- problems -------------------------------------------------------------------------------- */

static void configured_tell(const struct mp_problem *p)
{
	const char *what = p->severity == MP_ERROR ? "error: " : "";
	const char *server = p->server;
	char place[64] = "";

	if (p->line)
		snprintf(place, sizeof(place), ":%u:%u", p->line, p->column);
	mp_cli_complain("%s%s%s%s%s%s%s%s%s%s", p->file, place, p->file[0] ? ": " : "", what,
			server[0] ? "server " : "", server, server[0] ? ": " : "", p->message,
			p->quote[0] ? "\n" : "", p->quote);
}

void mp_configured_tell(const struct mp_configured *c, bool errors_only)
{
	for (size_t i = 0; i < c->set->n_problems; i++)
		if (!errors_only || c->set->problems[i].severity == MP_ERROR)
			configured_tell(&c->set->problems[i]);
}

bool mp_configured_has_errors(const struct mp_configured *c)
{
	for (size_t i = 0; i < c->set->n_problems; i++)
		if (c->set->problems[i].severity == MP_ERROR)
			return true;
	return false;
}

void mp_configured_write_problems(struct mp_writer *w, const struct mp_config_set *set)
{
	mp_write_key(w, MP_STR("problems"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < set->n_problems; i++) {
		const struct mp_problem *p = &set->problems[i];

		mp_write_begin_object(w);
		mp_write_member_text(w, "severity",
				     mp_str_of(p->severity == MP_ERROR ? "error" : "warning"));
		mp_write_member_text(w, "file", mp_str_of(p->file));
		mp_write_member_i64(w, "line", p->line);
		mp_write_member_i64(w, "column", p->column);
		mp_write_member_text(w, "server", mp_str_of(p->server));
		mp_write_member_text(w, "message", mp_str_of(p->message));
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
}

/* --- entries --------------------------------------------------------------------------------- */

/* Few typing errors, or one name contains the other; ignore names of one or two letters. */
static size_t get_likeness(const char *typed, const char *name)
{
	size_t score = mp_similar_score(mp_str_of(typed), mp_str_of(name));

	if (score == MP_SIMILAR_FAR && strlen(name) >= 3 && strcasestr(typed, name))
		score--;
	return score;
}

/* Report the entry of this name that is not in effect, and why. */
static bool tell_shadowed(const struct mp_configured *c, const char *name)
{
	for (size_t i = 0; i < c->set->n; i++) {
		const struct mp_entry *e = c->set->entries[i];

		if (strcmp(e->name, name) != 0 || !e->shadowed_by)
			continue;
		mp_cli_complain("Server \"%s\" opens the same connection as \"%s\", which comes "
				"before it: use that name",
				name, e->shadowed_by->name);
		return true;
	}
	return false;
}

const struct mp_entry *mp_configured_find(const struct mp_configured *c, const char *name)
{
	const struct mp_entry *e = mp_config_find(c->set, name);
	const char *like = NULL;
	size_t best = MP_SIMILAR_FAR;

	if (e)
		return e;
	for (size_t i = 0; i < c->set->n_problems; i++)
		if (c->set->problems[i].quote[0]) /* the server may be in a broken file */
			configured_tell(&c->set->problems[i]);
	if (tell_shadowed(c, name))
		return NULL;
	for (size_t i = 0; i < c->set->n; i++) {
		const struct mp_entry *other = c->set->entries[i];
		size_t score = get_likeness(name, other->name);

		if (other->shadow == MP_SHADOW_NONE && score < best) {
			best = score;
			like = other->name;
		}
	}
	if (like)
		mp_cli_complain("Server \"%s\" not found. Did you mean \"%s\"?", name, like);
	else
		mp_cli_complain("Server \"%s\" not found. `mcpool list` shows those that are.",
				name);
	return NULL;
}

void mp_configured_write_since(int64_t then_ms, char *out, size_t size)
{
	time_t then = (time_t)(then_ms / 1000), now = (time_t)(mp_configured_now() / 1000);
	struct tm tm;

	localtime_r(&then, &tm);
	if (strftime(out, size, now - then < (time_t)12 * 3600 ? "since %H:%M" : "since %Y-%m-%d",
		     &tm) == 0)
		out[0] = '\0';
}

/* V08: report a change made outside of mcpool, with the time it was first seen. */
static void explain_approval(const struct mp_entry *e, char *out, size_t size)
{
	char since[40] = "";

	if (e->first_seen_ms)
		mp_configured_write_since(e->first_seen_ms, since, sizeof(since));
	snprintf(out, size, "%s%s%s: mcpool trust %s",
		 e->trust == MP_TRUST_CHANGED ? "changed outside mcpool" : "new",
		 since[0] ? " " : "", since, MP_SHELL_NAME(e->name));
}

void mp_configured_explain(const struct mp_configured *c, const struct mp_entry *e, char *out,
			   size_t size)
{
	out[0] = '\0';
	if (e->left_out) {
		snprintf(out, size, "the host does this itself (hostNative)");
		return;
	}
	switch (mp_config_get_state(c->set, e, MP_TOGGLE_NONE)) {
	case MP_STATUS_SHADOWED:
		snprintf(out, size, "%s %s, %s:%u",
			 e->shadow == MP_SHADOW_NAME       ? "shadowed by"
			 : e->shadow == MP_SHADOW_APPROVED ? "not approved, so this one counts:"
							   : "same connection as",
			 e->shadowed_by->name, e->shadowed_by->origin.file,
			 e->shadowed_by->origin.line);
		break;
	case MP_STATUS_FAILED:
		snprintf(out, size, "%s", e->invalid ? e->invalid : e->unapprovable);
		break;
	case MP_STATUS_NEEDS_APPROVAL:
		explain_approval(e, out, size);
		break;
	case MP_STATUS_DISABLED:
		mp_entry_explain_off(e, &c->set->settings, MP_TOGGLE_NONE, out, size);
		break;
	default: /* ready */
		break;
	}
}

int mp_configured_check_state(const struct mp_configured *c, const struct mp_entry *e,
			      struct mcpool_error *ret)
{
	char why[1024];

	mp_configured_explain(c, e, why, sizeof(why));
	switch (mp_config_get_state(c->set, e, MP_TOGGLE_NONE)) {
	case MP_STATUS_READY:
		return MP_EXIT_DONE;
	case MP_STATUS_DISABLED:
		(void)mp_fail(ret, MCPOOL_EDISABLED,
			      "Server \"%s\" is disabled. Run `mcpool enable %s` first.", e->name,
			      e->name);
		return MP_EXIT_CONFIG;
	case MP_STATUS_NEEDS_APPROVAL:
		(void)mp_fail(ret, MCPOOL_ENEEDS_APPROVAL, "Server \"%s\" needs your approval (%s)",
			      e->name, why);
		return MP_EXIT_NEEDS_APPROVAL;
	default: /* failed, shadowed */
		break;
	}
	(void)mp_fail(ret, MCPOOL_EINVAL, "%s", why);
	return MP_EXIT_CONFIG;
}

int mp_configured_refuse_state(const struct mp_configured *c, const struct mp_entry *e)
{
	struct mcpool_error why;
	int exit_code = mp_configured_check_state(c, e, &why);

	if (exit_code != MP_EXIT_DONE)
		mp_cli_complain_as(why.code, "%s", why.message);
	return exit_code;
}

void mp_configured_write_source(struct mp_writer *w, const struct mp_origin *o)
{
	mp_write_key(w, MP_STR("source"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "file", mp_str_of(o->file));
	mp_write_member_i64(w, "line", o->line);
	mp_write_member_text(w, "tool", mp_str_of(o->tool));
	mp_write_member_text(w, "level", mp_str_of(mp_config_level_get_name(o->level)));
	mp_write_end_object(w);
}
