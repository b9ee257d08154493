/*
 * restore.c - a file that cannot be read counts as it was when it could.
 * Entries are kept as they were written, so they are judged as always: only what is approved at
 * this moment runs.
 */
#include "config/read/restore.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "files/file.h"
#include "json/write.h"
#include "store/last_good.h"

/* --- reading --------------------------------------------------------------------------------- */

static bool is_broken(const struct mp_loading *l, const char *path)
{
	for (const struct mp_problem_node *n = l->first_problem; n; n = n->next)
		if (n->problem.is_whole_file && strcmp(n->problem.file, path) == 0)
			return true;
	return false;
}

/* The text stays in `text` for as long as the tape is used. False: there is nothing to restore. */
static bool restore_find(struct mp_loading *l, const struct mp_source *s, struct mp_buf *text,
			 struct mp_tape *t, const char **ret_path)
{
	const char *path = mp_source_get_path(s, &l->places, &l->set->arena);

	*ret_path = path;
	return path && l->error == 0 && l->req->use_last_good && l->req->db && is_broken(l, path) &&
	       mp_last_good_read(l->req->db, path, text, NULL) > 0 &&
	       mp_tape_parse(t, mp_buf_get(text), NULL) == 0;
}

/* They were reported when the file could be read. */
static void restore_ignore(const struct mp_bind_problem *p, void *u)
{
	(void)p;
	(void)u;
}

static unsigned get_number(const struct mp_tape *t, mp_value object, const char *key)
{
	int64_t n;

	return mp_value_i64(t, mp_value_get(t, object, key), &n) < 0 ? 0 : (unsigned)n;
}

static void restore_one(struct mp_loading *l, const struct mp_tape *t, mp_value v,
			const struct mp_origin *of_file)
{
	struct mp_origin origin = *of_file;
	struct mp_str name = {0}, scope = {0};
	struct mp_entry *e;
	int r = mp_value_text(t, mp_value_get(t, v, "name"), &l->set->arena, &name);

	if (r == 0)
		r = mp_value_text(t, mp_value_get(t, v, "scope"), &l->set->arena, &scope);
	if (r < 0)
		return;
	origin.line = get_number(t, v, "line");
	origin.column = get_number(t, v, "column");
	origin.scope = mp_arena_dup(&l->set->arena, scope); /* the text is gone after this */
	if (scope.len)
		origin.root = l->set->root;
	if (!origin.scope) {
		l->error = mp_arena_get_error(&l->set->arena);
		return;
	}
	r = mp_entry_read(name, t, mp_value_get(t, v, "entry"), &origin, &l->set->settings,
			  &l->set->arena, restore_ignore, NULL, &e);
	if (r < 0)
		l->error = r;
	else
		mp_loading_append(l, e);
}

void mp_restore_source(struct mp_loading *l, const struct mp_source *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, real;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_origin origin = {
		.tool = s->tool,
		.label = s->label,
		.level = s->level,
		.root = s->level == MP_CONFIG_PROJECT ? l->set->root : "",
		.spellings = s->spellings,
		.quirks = s->quirks,
	};
	mp_value servers;

	mp_buf_init(&text, MP_LIMIT_DB_VALUE);
	mp_buf_init(&real, PATH_MAX + 1);
	mp_tape_init(&t, 0);
	if (!restore_find(l, s, &text, &t, &origin.file) ||
	    mp_file_real_path(origin.file, &real) < 0)
		return;
	origin.real = mp_loading_keep(l, real.data);
	servers = mp_value_get(&t, MP_ROOT, "servers");
	MP_VALUE_EACH(&t, servers, v)
		if (l->error == 0)
			restore_one(l, &t, v, &origin);
}

void mp_restore_settings(struct mp_loading *l, const struct mp_source *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	const char *path;
	mp_value v;

	mp_buf_init(&text, MP_LIMIT_DB_VALUE);
	mp_tape_init(&t, 0);
	if (!restore_find(l, s, &text, &t, &path))
		return;
	v = mp_value_get(&t, MP_ROOT, "settings");
	if (v != MP_NONE)
		l->error = mp_settings_read(&l->set->settings, &t, v, path, &l->set->arena,
					    restore_ignore, NULL);
}

/* --- saving ---------------------------------------------------------------------------------- */

static bool is_kept(const struct mp_entry *e, const char *path)
{
	return e->trust == MP_TRUST_YES && !e->invalid && !e->origin.plugin_root &&
	       e->canonical.len && e->origin.level != MP_CONFIG_COMMAND_LINE &&
	       strcmp(e->origin.file, path) == 0;
}

static size_t write_servers(struct mp_writer *w, const struct mp_config_set *set, const char *path)
{
	size_t n = 0;

	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		if (!is_kept(e, path))
			continue;
		mp_write_begin_object(w);
		mp_write_member_text(w, "name", mp_str_of(e->name));
		mp_write_member_text(w, "scope", mp_str_of(e->origin.scope));
		mp_write_member_i64(w, "line", e->origin.line);
		mp_write_member_i64(w, "column", e->origin.column);
		mp_write_key(w, MP_STR("entry"));
		mp_write_raw(w, e->canonical);
		mp_write_end_object(w);
		n++;
	}
	mp_write_end_array(w);
	return n;
}

static void save_file(struct mp_db *db, const struct mp_config_set *set, const char *path,
		      int64_t wall_ms)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool has_settings =
		set->user_file && strcmp(set->user_file, path) == 0 && set->user_settings.len;
	struct mp_writer w;
	size_t n;

	mp_buf_init(&text, MP_LIMIT_DB_VALUE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	n = write_servers(&w, set, path);
	if (has_settings) {
		mp_write_key(&w, MP_STR("settings"));
		mp_write_raw(&w, set->user_settings);
	}
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return;
	if (n || has_settings)
		mp_last_good_write(db, path, mp_buf_get(&text), wall_ms);
	else if (mp_last_good_has(db, path))
		mp_last_good_write(db, path, MP_STR(""), wall_ms);
}

static bool is_broken_in(const struct mp_config_set *set, const char *path)
{
	for (size_t i = 0; i < set->n_problems; i++)
		if (set->problems[i].is_whole_file && strcmp(set->problems[i].file, path) == 0)
			return true;
	return false;
}

void mp_restore_save(struct mp_db *db, const struct mp_config_set *set, int64_t wall_ms)
{
	for (size_t i = 0; i < set->n_paths; i++)
		if (!is_broken_in(set, set->paths[i]))
			save_file(db, set, set->paths[i], wall_ms);
}

const struct mp_problem *mp_restore_find_broken(const struct mp_config_set *set)
{
	for (size_t i = 0; i < set->n_problems; i++)
		if (set->problems[i].is_whole_file)
			return &set->problems[i];
	return NULL;
}
