/*
 * import.c - another tool's entry in our own shape, for `mcpool import`.
 */
#include "config/read/import.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/values/expand.h"
#include "json/write.h"

struct owning {
	const struct mp_entry *e;
	bool stays; /* in its project, so that paths go on to start from there */
	struct mp_expand expand;
	struct mp_writer w;
	struct mcpool_error *reterr;
	int error; /* the first */
};

static void write_text(struct owning *o, const char *before, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	int r;

	mp_buf_init(&value, MP_LIMIT_CONFIG_FILE);
	r = mp_buf_add_str(&value, mp_str_of(before));
	if (r == 0 && o->error == 0)
		r = mp_expand_text(&o->expand, mp_str_of(text), &value, o->reterr);
	if (r < 0 && o->error == 0)
		o->error = r;
	mp_write_text(&o->w, mp_buf_get(&value));
}

static void write_member(struct owning *o, const char *key, const char *text)
{
	mp_write_key(&o->w, mp_str_of(key));
	write_text(o, "", text);
}

static void write_variable(struct owning *o, const char *key, const char *before, const char *name,
			   const char *behind)
{
	char text[MP_KIB(1)];

	if ((size_t)snprintf(text, sizeof(text), "%s${%s%s}", before, name, behind) >=
		    sizeof(text) ||
	    !name[0] || strpbrk(name, "}:")) {
		if (o->error == 0)
			o->error = mp_fail(o->reterr, MCPOOL_EINVAL,
					   "Server \"%s\": the variable of %s has no name of ours",
					   o->e->name, key);
		return;
	}
	mp_write_member_text(&o->w, key, mp_str_of(text));
}

static bool has_key(const struct mp_bind_map *map, const char *key)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcmp(map->items[i].key, key) == 0)
			return true;
	return false;
}

/* What is handed on by name; `env` counts more. */
static void write_handed_on(struct owning *o)
{
	const struct mp_bind_list *names = &o->e->env_vars;

	for (size_t i = 0; i < names->n; i++) {
		struct mp_bind_list before = {names->items, i};

		if (!has_key(&o->e->env, names->items[i]) &&
		    !mp_bind_list_has(&before, names->items[i]))
			write_variable(o, names->items[i], "", names->items[i], ":-");
	}
}

/* In our own files a value that begins with ! is a command; in most others it is just a value. */
static void write_value(struct owning *o, const struct mp_bind_pair *pair)
{
	if (pair->value[0] == '!' && !(o->e->origin.quirks & MP_QUIRK_COMMANDS) && o->error == 0)
		o->error =
			mp_fail(o->reterr, MCPOOL_EINVAL,
				"mcp '%s' at %s has a value for %s that begins with !, which our "
				"own file would run as a command.",
				o->e->name, o->e->origin.file, pair->key);
	write_member(o, pair->key, pair->value);
}

/* A path starts somewhere else for us, so it is written whole. */
static void write_path(struct owning *o, const char *key, const char *base, const char *path)
{
	char before[PATH_MAX + 1] = "";

	if (base && !strchr("/~${", path[0])) /* a placeholder may stand for a whole path */
		snprintf(before, sizeof(before), "%s/", base);
	if (before[0] && strncmp(path, "./", 2) == 0 && path[2])
		path += 2;
	mp_write_key(&o->w, mp_str_of(key));
	write_text(o, before, path);
}

static void write_stdio(struct owning *o)
{
	const struct mp_entry *e = o->e;
	bool from_file = (e->origin.quirks & MP_QUIRK_FROM_FILE) && strchr(e->argv[0], '/');

	write_path(o, "command", from_file ? o->expand.folder : NULL, e->argv[0]);
	mp_write_key(&o->w, MP_STR("args"));
	mp_write_begin_array(&o->w);
	for (size_t i = 1; i < e->argc; i++)
		write_text(o, "", e->argv[i]);
	mp_write_end_array(&o->w);
	if (e->env.n || e->env_vars.n) {
		mp_write_key(&o->w, MP_STR("env"));
		mp_write_begin_object(&o->w);
		write_handed_on(o);
		for (size_t i = 0; i < e->env.n; i++)
			write_value(o, &e->env.items[i]);
		mp_write_end_object(&o->w);
	}
	if (e->env_file)
		write_path(o, "envFile", o->stays ? NULL : o->expand.root, e->env_file);
}

/* A project's entry runs in that project, wherever it is started from. */
static void write_folder(struct owning *o)
{
	const struct mp_entry *e = o->e;
	bool from_file = e->origin.quirks & MP_QUIRK_FROM_FILE;

	if (e->kind != MP_KIND_STDIO)
		return;
	if (e->cwd && e->cwd[0])
		write_path(o, "cwd",
			   from_file  ? o->expand.folder
			   : o->stays ? NULL
				      : o->expand.root,
			   e->cwd);
	else if (e->origin.root[0] && !o->stays)
		mp_write_member_text(&o->w, "cwd", mp_str_of(e->origin.root));
}

static bool has_header(const struct mp_bind_map *map, const char *name)
{
	for (size_t i = 0; i < map->n; i++)
		if (strcasecmp(map->items[i].key, name) == 0)
			return true;
	return false;
}

/* Of headers with one name the last counts, which resolve.c adds last. */
static bool is_said_later(const struct mp_entry *e, const char *name)
{
	return e->bearer_variable && strcasecmp(name, "Authorization") == 0;
}

static void write_remote(struct owning *o)
{
	const struct mp_entry *e = o->e;

	write_member(o, "url", e->address);
	if (e->tls.n) {
		mp_write_key(&o->w, MP_STR("tls"));
		mp_write_begin_object(&o->w);
		for (size_t i = 0; i < e->tls.n; i++)
			write_path(o, e->tls.items[i].key, o->stays ? NULL : o->expand.root,
				   e->tls.items[i].value);
		mp_write_end_object(&o->w);
	}
	if (!e->headers.n && !e->env_headers.n && !e->bearer_variable)
		return;
	mp_write_key(&o->w, MP_STR("headers"));
	mp_write_begin_object(&o->w);
	for (size_t i = 0; i < e->headers.n; i++)
		if (!is_said_later(e, e->headers.items[i].key) &&
		    !has_header(&e->env_headers, e->headers.items[i].key))
			write_value(o, &e->headers.items[i]);
	for (size_t i = 0; i < e->env_headers.n; i++)
		if (!is_said_later(e, e->env_headers.items[i].key))
			write_variable(o, e->env_headers.items[i].key, "",
				       e->env_headers.items[i].value, "");
	if (e->bearer_variable)
		write_variable(o, "Authorization", "Bearer ", e->bearer_variable, "");
	mp_write_end_object(&o->w);
}

static void write_list(struct owning *o, const char *key, const struct mp_bind_list *list)
{
	if (list->n == 0)
		return;
	mp_write_key(&o->w, mp_str_of(key));
	mp_write_begin_array(&o->w);
	for (size_t i = 0; i < list->n; i++)
		mp_write_text(&o->w, mp_str_of(list->items[i]));
	mp_write_end_array(&o->w);
}

/* A value of any kind, with every text respelled. */
static void write_json(struct owning *o, const struct mp_tape *t, mp_value v,
		       struct mp_arena *arena)
{
	const char *text;
	struct mp_str str;

	if (mp_value_is(t, v, MP_TAPE_OBJECT)) {
		mp_write_begin_object(&o->w);
		MP_VALUE_EACH(t, v, key) {
			mp_write_raw_key(&o->w, mp_value_source(t, key));
			write_json(o, t, mp_value_of(key), arena);
		}
		mp_write_end_object(&o->w);
	} else if (mp_value_is(t, v, MP_TAPE_ARRAY)) {
		mp_write_begin_array(&o->w);
		MP_VALUE_EACH(t, v, item)
			write_json(o, t, item, arena);
		mp_write_end_array(&o->w);
	} else if (mp_value_is(t, v, MP_TAPE_STRING) && mp_value_text(t, v, arena, &str) == 0 &&
		   (text = mp_arena_dup(arena, str))) {
		write_text(o, "", text);
	} else {
		mp_write_value(&o->w, t, v);
	}
}

static void write_raw(struct owning *o, const char *key, struct mp_str json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_CONFIG_FILE * 2);
	if (json.len == 0 || mp_tape_parse(&t, json, NULL) < 0)
		return;
	mp_write_key(&o->w, mp_str_of(key));
	write_json(o, &t, MP_ROOT, &arena);
}

static bool is_said(const struct mp_entry *e, const char *key)
{
	return mp_bind_is_present(&mp_entry_table, e, key);
}

static void write_rest(struct owning *o)
{
	const struct mp_entry *e = o->e;

	if (is_said(e, "timeout") || is_said(e, "startup_timeout_sec") ||
	    is_said(e, "startup_timeout_ms"))
		mp_write_member_i64(&o->w, "timeout", e->tuning.timeout_ms);
	if (is_said(e, "toolTimeout") || is_said(e, "tool_timeout_sec") ||
	    (is_said(e, "timeout") && (e->origin.quirks & MP_QUIRK_CALLS)))
		mp_write_member_i64(&o->w, "toolTimeout", e->tuning.tool_timeout_ms);
	write_list(o, "toolsAllowed", &e->tools_allowed);
	write_list(o, "toolsDenied", &e->tools_denied);
	if (is_said(e, "required"))
		mp_write_member_bool(&o->w, "required", e->tuning.required);
	write_raw(o, "auth", e->auth_json);
	write_raw(o, "oauth", e->oauth_json);
	if (e->headers_helper)
		write_member(o, "headersHelper", e->headers_helper);
	if (!e->enabled)
		mp_write_member_bool(&o->w, "enabled", false);
}

int mp_import_write_entry(const struct mp_config_set *set, const struct mp_entry *e,
			  bool into_project, struct mp_buf *out, struct mcpool_error *reterr)
{
	struct owning o = {.e = e, .stays = into_project, .reterr = reterr};
	char folder[PATH_MAX] = "";
	const char *slash = strrchr(e->origin.file, '/');
	int r;

	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - e->origin.file),
			 e->origin.file);
	o.expand = (struct mp_expand){.spellings = e->origin.spellings,
				      .root = e->origin.root[0] ? e->origin.root : set->home,
				      .home = set->home,
				      .folder = folder,
				      .plugin_root = e->origin.plugin_root,
				      .server = e->name,
				      .file = e->origin.file,
				      .respell = true};
	mp_write_init(&o.w, out, NULL);
	mp_write_begin_object(&o.w);
	mp_write_member_text(&o.w, "type", mp_str_of(mp_kind_get_name(e->kind)));
	if (e->kind == MP_KIND_STDIO)
		write_stdio(&o);
	else
		write_remote(&o);
	write_folder(&o);
	write_rest(&o);
	mp_write_end_object(&o.w);
	r = mp_write_finish(&o.w);
	if (o.error < 0)
		return o.error;
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}
