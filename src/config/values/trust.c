/*
 * trust.c - what may run: the approval id of an entry, and whether the user said yes to it.
 * Looking an id up needs nothing of the project (V03); computing it reads, and never runs.
 */
#include "config/values/trust.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "config/values/envfile.h"
#include "files/file.h"
#include "store/digest.h"
#include "store/pins.h"

/* A change here invalidates all approvals. */
#define VERSION "mcpool approval 1"

static void trust_compute(const char *const *parts, size_t n, struct mp_approval_id *ret_id)
{
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, MP_STR(VERSION));
	for (size_t i = 0; i < n; i++)
		mp_digest_add(d, mp_str_of(parts[i] ? parts[i] : ""));
	mp_digest_finish(d, ret_id->bytes);
}

/* --- its files ------------------------------------------------------------------------------ */

/* An env file of the project itself, if no variable decides which. Others are not opened unasked.
 */
static bool find_env_file(const struct mp_entry *e, char out[PATH_MAX])
{
	const char *path = e->env_file;
	char full[PATH_MAX];
	int n;

	if (!path || !path[0] || !e->origin.root[0] || path[0] == '~' || strpbrk(path, "${"))
		return false;
	n = snprintf(full, sizeof(full), "%s%s%s", path[0] == '/' ? "" : e->origin.root,
		     path[0] == '/' ? "" : "/", path);
	return n > 0 && n < PATH_MAX && realpath(full, out) &&
	       mp_file_is_below(out, e->origin.root);
}

/* A file that cannot be read does not matter here: the start fails and says why. */
static int read_env_file(struct mp_entry *e, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	char path[PATH_MAX];
	int r;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE + 1);
	e->env_layer = NULL;
	if (!find_env_file(e, path))
		return 0;
	r = mp_file_read(path, MP_LIMIT_CONFIG_FILE, &text, &why);
	if (r == 0)
		r = mp_envfile_parse(mp_buf_get(&text), path, arena, &e->env_layer, &why);
	if (r < 0)
		e->env_layer = NULL;
	return r == MCPOOL_ENOMEM ? r : 0;
}

struct texts {
	struct mp_buf scripts, folders, runners;
};

static void texts_done(struct texts *t)
{
	mp_buf_done(&t->scripts);
	mp_buf_done(&t->folders);
	mp_buf_done(&t->runners);
}

/* 0, or an error that has nothing to do with the entry. */
static int trust_search(struct mp_entry *e, struct mp_scripts_budget *budget, struct texts *texts,
			struct mp_arena *arena)
{
	struct mcpool_error why;
	int r;

	budget->folders = &texts->folders;
	budget->runners = &texts->runners;
	r = mp_scripts_add_within(e, budget, &texts->scripts, &why);
	budget->folders = budget->runners = NULL;
	if (r != MCPOOL_EINVAL && r != MCPOOL_ELIMIT)
		return r;
	e->unapprovable = mp_arena_dup(
		arena, r == MCPOOL_EINVAL ? mp_str_of(why.message)
					  : MP_STR("it names too many files to be checked"));
	mp_buf_clear(&texts->scripts);
	return e->unapprovable ? 0 : mp_arena_get_error(arena);
}

static int find_scripts(struct mp_entry *e, struct mp_scripts_budget *budget,
			struct mp_arena *arena)
{
	MP_CLEANUP(texts_done) struct texts texts;
	int r;

	mp_buf_init(&texts.scripts, MP_MIB(1));
	mp_buf_init(&texts.folders, MP_MIB(1));
	mp_buf_init(&texts.runners, MP_KIB(4));
	r = read_env_file(e, arena);
	if (r == 0)
		r = trust_search(e, budget, &texts, arena);
	if (r < 0)
		return r;
	e->scripts = mp_arena_dup(arena, mp_buf_get(&texts.scripts));
	e->folders = mp_arena_dup(arena, mp_buf_get(&texts.folders));
	e->runners = mp_arena_dup(arena, mp_buf_get(&texts.runners));
	return e->scripts && e->folders && e->runners ? 0 : mp_arena_get_error(arena);
}

int mp_trust_identify_within(struct mp_entry *e, struct mp_scripts_budget *budget,
			     struct mp_arena *arena)
{
	int r = find_scripts(e, budget, arena);

	if (r < 0)
		return r;
	trust_compute((const char *const[]){e->origin.tool, e->name, e->origin.real,
					    e->origin.scope, e->origin.root, e->canonical.p,
					    e->scripts, e->origin.plugin_root},
		      8, &e->id);
	return 0;
}

void mp_trust_identify_grant(struct mp_grant *g)
{
	trust_compute((const char *const[]){"", g->name, g->file, g->root, g->content}, 5, &g->id);
}

static int stop_at_first(const struct mp_approval *a, void *u)
{
	(void)a;
	*(bool *)u = true;
	return 1;
}

/* Was something else of this name approved there? */
static int has_older(struct mp_db *db, const char *name, const char *file, const char *root,
		     struct mcpool_error *reterr)
{
	bool found = false;
	int r = mp_approvals_each(db, name, file, root, stop_at_first, &found, reterr);

	return r < 0 ? r : found;
}

static int look_up(struct mp_db *db, const struct mp_approval_id *id, const char *name,
		   const char *file, const char *root, int64_t wall_ms, enum mp_trust *ret_trust,
		   int64_t *ret_first_ms, struct mcpool_error *reterr)
{
	int r = mp_approvals_has(db, id, reterr);

	if (r < 0)
		return r;
	if (r > 0) {
		*ret_trust = MP_TRUST_YES;
		return 0;
	}
	r = has_older(db, name, file, root, reterr);
	if (r < 0)
		return r;
	*ret_trust = r ? MP_TRUST_CHANGED : MP_TRUST_NEW;
	if (mp_approvals_note_sight(db, id, wall_ms, ret_first_ms) < 0)
		*ret_first_ms = wall_ms;
	return 0;
}

/*
 * A link in a project that leads to the trusted file is not that file (V04). A file that an agent
 * named is a file of no project: it could be anywhere.
 */
static bool is_trusted(const struct mp_entry *e, const struct mp_trusted *trusted)
{
	switch (e->origin.level) {
	case MP_CONFIG_COMMAND_LINE:
		return true;
	case MP_CONFIG_USER:
		return trusted->file && strcmp(trusted->file, e->origin.real) == 0;
	case MP_CONFIG_PROJECT:
		return trusted->projects && !e->unapprovable &&
		       !(e->origin.quirks & MP_QUIRK_ASKED);
	default:
		return false;
	}
}

int mp_trust_judge(struct mp_entry *e, struct mp_db *db, const struct mp_trusted *trusted,
		   int64_t wall_ms, struct mcpool_error *reterr)
{
	e->trust = MP_TRUST_NEW;
	if (is_trusted(e, trusted)) {
		e->trust = MP_TRUST_YES;
		return 0;
	}
	if (!db || e->unapprovable)
		return 0;
	e->trust = MP_TRUST_UNKNOWN; /* what a store that fails leaves behind is a no */
	return look_up(db, &e->id, e->name, e->origin.real, e->origin.root, wall_ms, &e->trust,
		       &e->first_seen_ms, reterr);
}

void mp_trust_get_command(const struct mp_entry *e, char *out, size_t size)
{
	bool is_asked = e->origin.quirks & MP_QUIRK_ASKED;

	snprintf(out, size, "mcpool trust %s%s%s%s", is_asked ? "--config " : "",
		 is_asked ? e->origin.file : "", is_asked ? " " : "", MP_SHELL_NAME(e->name));
}

int mp_trust_confirm(const struct mp_config_set *set, const struct mp_entry *e, struct mp_db *db,
		     int64_t wall_ms, bool *ret_changed, struct mcpool_error *reterr)
{
	struct mp_entry now = *e; /* the set's own is shared */
	char command[PATH_MAX + 300];
	struct mp_trusted trusted = {0};
	int64_t mark;
	int r;

	*ret_changed = false;
	if (!db || e->origin.level == MP_CONFIG_COMMAND_LINE)
		return 0;
	r = mp_approvals_get_mark(db, &mark, reterr);
	if (r < 0 || mark == set->approvals_mark)
		return r;
	*ret_changed = true;
	if (e->origin.level == MP_CONFIG_USER &&
	    mp_approvals_get_file(db, e->origin.real, NULL) > 0)
		trusted.file = e->origin.real;
	trusted.projects = mp_approvals_get_file(db, MP_APPROVALS_PROJECTS, NULL) > 0;
	r = mp_trust_judge(&now, db, &trusted, wall_ms, reterr);
	if (r < 0 || now.trust == MP_TRUST_YES)
		return r;
	mp_trust_get_command(e, command, sizeof(command));
	return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL, "server '%s' is no longer approved: %s",
		       e->name, command);
}

int mp_trust_judge_grant(struct mp_grant *g, struct mp_db *db, int64_t wall_ms,
			 struct mcpool_error *reterr)
{
	g->trust = MP_TRUST_NEW;
	if (!db)
		return 0;
	g->trust = MP_TRUST_UNKNOWN;
	return look_up(db, &g->id, g->name, g->file, g->root, wall_ms, &g->trust, &g->first_seen_ms,
		       reterr);
}

static int trust_record(struct mp_db *db, const struct mp_approval *a, struct mcpool_error *reterr)
{
	int r = mp_approvals_forget(db, a->name, a->file, a->root, reterr);

	return r < 0 ? r : mp_approvals_add(db, a, reterr);
}

int mp_trust_approve(struct mp_db *db, const struct mp_entry *e, const char *how, int64_t wall_ms,
		     struct mcpool_error *reterr)
{
	struct mp_approval a = {
		.id = e->id,
		.name = e->name,
		.file = e->origin.real,
		.root = e->origin.root,
		.content = e->canonical.p,
		.scripts = e->scripts,
		.how = how,
		.approved_ms = wall_ms,
	};
	struct mp_pins_owner owner; /* its tools are accepted as they are now (V38) */
	int r, pinned;

	if (e->unapprovable)
		return mp_fail(reterr, MCPOOL_EPERM, "Server \"%s\" cannot be approved: %s",
			       e->name, e->unapprovable);
	r = trust_record(db, &a, reterr);
	if (r < 0)
		return r;
	mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &owner);
	pinned = mp_pins_forget(db, &owner, reterr);
	return pinned < 0 ? pinned : r;
}

int mp_trust_approve_grant(struct mp_db *db, const struct mp_grant *g, int64_t wall_ms,
			   struct mcpool_error *reterr)
{
	struct mp_approval a = {
		.id = g->id,
		.name = g->name,
		.file = g->file,
		.root = g->root,
		.content = g->content,
		.scripts = "",
		.how = "trust",
		.approved_ms = wall_ms,
	};

	return trust_record(db, &a, reterr);
}
