/*
 * entry.c - one configured server: the table of its keys, and what follows from them.
 * The table holds every tool's spelling; what several tools mean by one word is sorted out behind
 * it. An entry that cannot run says why and stays in the set, because it still owns its name.
 */
#include "config/values/entry.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"

const char *mp_config_level_get_name(enum mp_config_level level)
{
	static const char *const names[] = {"command-line", "project", "user", "remote"};

	return names[level];
}

#define ROW(kind, key, field, ...) MP_BIND(struct mp_entry, kind, key, field, ##__VA_ARGS__)
#define ALIAS(kind, key, field)    MP_BIND(struct mp_entry, kind, key, field, .alias = true)
static const struct mp_bind_field fields[] = {
	ROW(TEXT, "type", type),
	ALIAS(TEXT, "transport", type),
	ROW(RAW, "command", command_json),
	ROW(LIST, "args", args),
	ROW(MAP, "env", env),
	ROW(TEXT, "cwd", cwd),
	ROW(TEXT, "url", url),
	ALIAS(TEXT, "serverUrl", url),
	ROW(TEXT, "httpUrl", http_url),
	ROW(MAP, "headers", headers),
	ALIAS(MAP, "http_headers", headers),
	ROW(MAP, "tls", tls),
	ROW(RAW, "auth", auth_json),
	ROW(RAW, "oauth", oauth_json),
	ROW(BOOL, "enabled", enabled),
	ROW(BOOL, "disabled", disabled),
	ROW(MAP, "toolQueues", tool_queues),
	ROW(MAP, "toolResults", tool_results),
	ROW(LIST, "toolsAllowed", tools_allowed),
	ALIAS(LIST, "enabledTools", tools_allowed),
	ALIAS(LIST, "includeTools", tools_allowed),
	ALIAS(LIST, "tools_allowed", tools_allowed),
	ALIAS(LIST, "enabled_tools", tools_allowed),
	ALIAS(LIST, "include_tools", tools_allowed),
	ROW(LIST, "toolsDenied", tools_denied),
	ALIAS(LIST, "disabledTools", tools_denied),
	ALIAS(LIST, "excludeTools", tools_denied),
	ALIAS(LIST, "tools_denied", tools_denied),
	ALIAS(LIST, "disabled_tools", tools_denied),
	ALIAS(LIST, "exclude_tools", tools_denied),
	ROW(RAW, "env_vars", env_vars_json),
	ROW(MAP, "env_http_headers", env_headers),
	ROW(TEXT, "bearer_token_env_var", bearer_variable),
	ROW(F64, "startup_timeout_sec", startup_seconds),
	ROW(MS, "startup_timeout_ms", startup_ms, .min = 0, .max = INT32_MAX),
	ROW(F64, "tool_timeout_sec", tool_seconds),
	ROW(TEXT, "headersHelper", headers_helper),
	ROW(TEXT, "envFile", env_file),
	ROW(TEXT, "requestIdFormat", id_format),
	MP_TUNING_ROWS(struct mp_entry),
};
#undef ROW
#undef ALIAS

const struct mp_bind_table mp_entry_table = {fields, MP_ARRAY_LEN(fields),
					     offsetof(struct mp_entry, present)};

struct reading {
	struct mp_entry *e;
	const struct mp_tape *t;
	mp_value object;
	struct mp_arena *arena;
	mp_bind_problem_fn fn;
	void *u;
	const struct mp_tuning *before; /* what holds where the entry says nothing */
	int error;                      /* memory */
};

static bool entry_has(const struct reading *r, const char *key)
{
	return mp_bind_is_present(&mp_entry_table, r->e, key);
}

/* The first reason counts. */
static void MP_PRINTF(2, 3) entry_invalidate(struct reading *r, const char *format, ...)
{
	char text[400];
	va_list args;

	if (r->e->invalid)
		return;
	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* cut is fine */
	va_end(args);
	r->e->invalid = mp_arena_dup(r->arena, mp_str_of(text));
	if (!r->e->invalid)
		r->error = mp_arena_get_error(r->arena);
}

static const char *dup_text(struct reading *r, mp_value v)
{
	struct mp_str text;
	const char *copy;
	int error = mp_value_text(r->t, v, r->arena, &text);

	if (error < 0) {
		r->error = error;
		return NULL;
	}
	copy = mp_arena_dup(r->arena, text);
	if (!copy)
		r->error = mp_arena_get_error(r->arena);
	else if (strlen(copy) != text.len)
		entry_invalidate(r, "Server \"%s\": a text holds a NUL character", r->e->name);
	return copy;
}

/* --- problems -------------------------------------------------------------------------------- */

/* What is run or dialled must be right; the rest has defaults. */
static bool is_essential(const struct reading *r, mp_value key)
{
	static const char *const keys[] = {"type",
					   "transport",
					   "args",
					   "env",
					   "cwd",
					   "url",
					   "serverUrl",
					   "httpUrl",
					   "headers",
					   "http_headers",
					   "tls",
					   "env_http_headers",
					   "bearer_token_env_var",
					   "envFile",
					   "headersHelper"};

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++)
		if (mp_value_text_is(r->t, key, mp_str_of(keys[i])))
			return true;
	return false;
}

/* "true" where true is meant, in the files of a tool that takes it. */
static bool entry_coerce(struct reading *r, mp_value key)
{
	mp_value v = mp_value_of(key);
	struct mp_str text;
	int64_t ms;

	if (!(r->e->origin.quirks & MP_QUIRK_COERCE) || !mp_value_is(r->t, v, MP_TAPE_STRING) ||
	    mp_value_text(r->t, v, r->arena, &text) < 0)
		return false;
	if (mp_value_text_is(r->t, key, MP_STR("enabled")) &&
	    (mp_str_eq_nocase(text, MP_STR("true")) || mp_str_eq_nocase(text, MP_STR("false")))) {
		r->e->enabled = mp_str_eq_nocase(text, MP_STR("true"));
		mp_bind_set_present(&mp_entry_table, r->e, "enabled", true);
		return true;
	}
	if (!mp_value_text_is(r->t, key, MP_STR("timeout")) || mp_str_to_i64(text, &ms) < 0 ||
	    ms < 0 || ms > INT32_MAX)
		return false;
	r->e->tuning.timeout_ms = ms;
	mp_bind_set_present(&mp_entry_table, r->e, "timeout", true);
	return true;
}

/* OpenCode 2: {"startup": MS, "request": MS} */
static bool read_times(struct reading *r, mp_value times)
{
	static const char *const keys[] = {"startup", "request"};
	static const char *const ours[] = {"timeout", "toolTimeout"};
	int64_t *times_of[] = {&r->e->tuning.timeout_ms, &r->e->tuning.tool_timeout_ms};
	int64_t ms;

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++) {
		mp_value v = mp_value_get(r->t, times, keys[i]);

		if (v == MP_NONE)
			continue;
		if (mp_bind_read_ms(r->t, v, &ms) < 0 || ms < 0 || ms > INT32_MAX)
			return false;
		*times_of[i] = ms;
		mp_bind_set_present(&mp_entry_table, r->e, ours[i], true);
	}
	return mp_value_is(r->t, times, MP_TAPE_OBJECT);
}

/* VS Code takes numbers for variables, and null for one that is not to be there. */
static bool read_loose_map(struct reading *r, mp_value key, struct mp_bind_map *into)
{
	mp_value map = mp_value_of(key);
	struct mp_bind_pair *items;
	size_t n = 0;

	if (!mp_value_is(r->t, map, MP_TAPE_OBJECT))
		return false;
	items = mp_arena_alloc_array(r->arena, mp_value_count(r->t, map) + 1, sizeof(*items));
	if (!items) {
		r->error = mp_arena_get_error(r->arena);
		return true;
	}
	MP_VALUE_EACH(r->t, map, k) {
		mp_value v = mp_value_of(k);

		if (mp_value_is(r->t, v, MP_TAPE_OBJECT) || mp_value_is(r->t, v, MP_TAPE_ARRAY))
			return false;
		if (mp_value_is(r->t, v, MP_TAPE_NULL))
			continue;
		items[n].key = dup_text(r, k);
		items[n].value = mp_value_is(r->t, v, MP_TAPE_STRING)
					 ? dup_text(r, v)
					 : mp_arena_dup(r->arena, mp_value_source(r->t, v));
		if (!items[n++].value && r->error == 0)
			r->error = mp_arena_get_error(r->arena);
	}
	*into = (struct mp_bind_map){items, n};
	return true;
}

static bool read_loose(struct reading *r, mp_value key, const char *name, struct mp_bind_map *into)
{
	if (!mp_value_text_is(r->t, key, mp_str_of(name)) || !read_loose_map(r, key, into))
		return false;
	mp_bind_set_present(&mp_entry_table, r->e, name, true);
	return true;
}

static void on_problem(const struct mp_bind_problem *p, void *u)
{
	struct reading *r = u;

	if (p->kind == MP_BIND_UNKNOWN && !(r->e->origin.quirks & MP_QUIRK_OWN))
		return; /* other tools have keys of their own */
	if (p->kind == MP_BIND_TYPE && entry_coerce(r, p->at))
		return;
	if (p->kind == MP_BIND_TYPE && mp_value_text_is(r->t, p->at, MP_STR("timeout")) &&
	    read_times(r, mp_value_of(p->at)))
		return;
	if (p->kind == MP_BIND_TYPE && (read_loose(r, p->at, "env", &r->e->env) ||
					read_loose(r, p->at, "toolResults", &r->e->tool_results)))
		return;
	if (p->kind == MP_BIND_TYPE && is_essential(r, p->at))
		entry_invalidate(r, "Server \"%s\": %s", r->e->name, p->message);
	else if (r->fn)
		r->fn(p, r->u);
}

/* --- what follows from the keys -------------------------------------------------------------- */

/* A list of strings, read by hand; false: it is none. */
static bool read_words(struct reading *r, mp_value list, const char **into, size_t *n)
{
	MP_VALUE_EACH(r->t, list, v) {
		if (!mp_value_is(r->t, v, MP_TAPE_STRING))
			return false;
		into[(*n)++] = dup_text(r, v);
	}
	return true;
}

/* A command is one word, or a list that begins with it (OpenCode, netdata). */
static void finish_command(struct reading *r)
{
	struct mp_entry *e = r->e;
	mp_value v = mp_value_get(r->t, r->object, "command");
	bool is_list = mp_value_is(r->t, v, MP_TAPE_ARRAY);
	size_t room = (is_list ? mp_value_count(r->t, v) : 1) + e->args.n + 1;

	if (v == MP_NONE)
		return;
	e->argv = mp_arena_alloc_array(r->arena, room, sizeof(*e->argv));
	if (!e->argv) {
		r->error = mp_arena_get_error(r->arena);
		return;
	}
	if (mp_value_is(r->t, v, MP_TAPE_STRING))
		e->argv[e->argc++] = dup_text(r, v);
	else if (!is_list || !read_words(r, v, e->argv, &e->argc))
		entry_invalidate(
			r,
			"Server \"%s\": \"command\" must be a string or a list of strings, "
			"but is %s",
			e->name, mp_value_describe(r->t, v));
	for (size_t i = 0; i < e->args.n; i++)
		e->argv[e->argc++] = e->args.items[i];
	if (e->argc == 0 || !e->argv[0] || !e->argv[0][0])
		e->argc = 0, e->argv = NULL; /* an empty command is none */
}

/* `environment` may be the variables, as OpenCode and netdata have it. */
static void finish_env(struct reading *r)
{
	static const struct mp_bind_field field[] = {
		MP_BIND(struct mp_entry, MAP, "environment", env),
	};
	static const struct mp_bind_table table = {field, 1, offsetof(struct mp_entry, present)};
	mp_value v = mp_value_get(r->t, r->object, "environment");
	uint64_t present = r->e->present;
	struct mcpool_error why = {0};
	int error;

	if (!mp_value_is(r->t, v, MP_TAPE_OBJECT))
		return;
	error = mp_bind_read(&table, r->t, r->object, r->arena, r->e, NULL, NULL, &why);
	r->e->present = present;
	if (error == 0)
		mp_bind_set_present(&mp_entry_table, r->e, "env", true);
	if (error == MCPOOL_ENOMEM || error == MCPOOL_ELIMIT)
		r->error = error;
	else if (error < 0)
		entry_invalidate(r, "Server \"%s\": %s", r->e->name, why.message);
}

/* Codex: names of variables, or {name, source} with a name. */
static void finish_env_vars(struct reading *r)
{
	mp_value list = mp_value_get(r->t, r->object, "env_vars");
	const char **names;
	size_t n = 0;

	if (list == MP_NONE)
		return;
	names = mp_arena_alloc_array(r->arena, mp_value_count(r->t, list) + 1, sizeof(*names));
	if (!names) {
		r->error = mp_arena_get_error(r->arena);
		return;
	}
	if (mp_value_is(r->t, list, MP_TAPE_ARRAY))
		MP_VALUE_EACH(r->t, list, v) {
			mp_value name = mp_value_is(r->t, v, MP_TAPE_OBJECT)
						? mp_value_get(r->t, v, "name")
						: v;

			if (mp_value_is(r->t, name, MP_TAPE_STRING))
				names[n++] = dup_text(r, name);
		}
	r->e->env_vars = (struct mp_bind_list){names, n};
}

static void set_time(struct reading *r, const char *key, int64_t *into, int64_t ms)
{
	*into = ms;
	mp_bind_set_present(&mp_entry_table, r->e, key, true); /* the entry says so */
}

static void set_seconds(struct reading *r, const char *spelled, const char *key, int64_t *into,
			double seconds)
{
	char words[80];

	if (!entry_has(r, spelled))
		return;
	if (seconds >= 0 && seconds < 1e6) {
		set_time(r, key, into, (int64_t)(seconds * 1000));
		return;
	}
	snprintf(words, sizeof(words), "\"%s\" must be from 0 to 1000000", spelled);
	if (r->fn)
		r->fn(&(struct mp_bind_problem){MP_BIND_RANGE,
						mp_value_get_key(r->t, r->object,
								 mp_str_of(spelled)),
						words},
		      r->u);
}

static void finish_times(struct reading *r)
{
	struct mp_entry *e = r->e;
	struct mp_tuning *tuning = &e->tuning;

	if (entry_has(r, "timeout") && !entry_has(r, "toolTimeout") &&
	    (e->origin.quirks & (MP_QUIRK_CALLS | MP_QUIRK_ONLY_CALLS)))
		set_time(r, "toolTimeout", &tuning->tool_timeout_ms, tuning->timeout_ms);
	if (entry_has(r, "timeout") && (e->origin.quirks & MP_QUIRK_ONLY_CALLS)) {
		tuning->timeout_ms = r->before->timeout_ms;
		mp_bind_set_present(&mp_entry_table, e, "timeout", false);
	}
	if (entry_has(r, "startup_timeout_ms"))
		set_time(r, "timeout", &tuning->timeout_ms, e->startup_ms);
	set_seconds(r, "startup_timeout_sec", "timeout", &tuning->timeout_ms, e->startup_seconds);
	set_seconds(r, "tool_timeout_sec", "toolTimeout", &tuning->tool_timeout_ms,
		    e->tool_seconds);
}

int64_t mp_entry_get_result_limit(const struct mp_entry *e, struct mp_str tool, int64_t otherwise)
{
	int64_t bytes;

	for (size_t i = 0; i < e->tool_results.n; i++)
		if (mp_str_eq(mp_str_of(e->tool_results.items[i].key), tool) &&
		    mp_str_to_i64(mp_str_of(e->tool_results.items[i].value), &bytes) == 0)
			return bytes;
	return otherwise;
}

static bool is_result_limit(const char *text)
{
	int64_t bytes;

	return mp_str_to_i64(mp_str_of(text), &bytes) == 0 &&
	       (bytes == 0 || (bytes >= MP_RESULT_LEAST && bytes <= (int64_t)MP_LIMIT_MESSAGE));
}

/* A value that is not a number of bytes does not count. */
static void finish_tool_results(struct reading *r)
{
	struct mp_bind_map *map = &r->e->tool_results;

	for (size_t i = 0; i < map->n; i++) {
		if (!map->items[i].value || is_result_limit(map->items[i].value))
			continue;
		map->items[i].value = "";
		if (r->fn)
			r->fn(&(struct mp_bind_problem){MP_BIND_RANGE,
							mp_value_get_key(r->t, r->object,
									 MP_STR("toolResults")),
							"\"toolResults\" must hold numbers of "
							"bytes: 0 for no limit, or from 512"},
			      r->u);
	}
}

/* --- which transport ------------------------------------------------------------------------- */

static enum mp_kind infer_kind(const struct mp_entry *e)
{
	if (e->argv)
		return MP_KIND_STDIO;
	if (!e->address)
		return MP_KIND_STDIO;
	if (strncasecmp(e->address, "ws://", 5) == 0 || strncasecmp(e->address, "wss://", 6) == 0)
		return MP_KIND_WEBSOCKET;
	return MP_KIND_HTTP;
}

static void check_tls(struct reading *r)
{
	const struct mp_bind_map *tls = &r->e->tls;

	for (size_t i = 0; i < tls->n; i++)
		if (strcmp(tls->items[i].key, "ca") != 0 &&
		    strcmp(tls->items[i].key, "cert") != 0 && strcmp(tls->items[i].key, "key") != 0)
			entry_invalidate(
				r,
				"Server \"%s\": \"tls\" has no \"%s\" (known are ca, cert and "
				"key, each a file)",
				r->e->name, tls->items[i].key);
}

/* The seed's rules and words (B6 to B9). */
static void finish_kind(struct reading *r)
{
	struct mp_entry *e = r->e;

	e->address = e->http_url ? e->http_url : e->url;
	if (e->address && !e->address[0])
		e->address = NULL;
	if (e->argv && e->address)
		entry_invalidate(
			r,
			"Server \"%s\": both \"command\" and \"url\" are set - server should be "
			"either stdio (command) OR http/sse (url), not both",
			e->name);
	if (!e->type)
		e->kind = infer_kind(e);
	else if (!mp_kind_find(e->type, e->address, &e->kind))
		entry_invalidate(
			r,
			"Server \"%s\": unknown server type \"%s\" (known are stdio, http, sse "
			"and websocket)",
			e->name, e->type);
	if (e->kind == MP_KIND_STDIO && !e->argv)
		entry_invalidate(r, "Server \"%s\": stdio server requires \"command\" field",
				 e->name);
	if (e->kind != MP_KIND_STDIO && !e->address)
		entry_invalidate(r, "Server \"%s\": %s server requires \"url\" field", e->name,
				 mp_kind_get_name(e->kind));
	else if (e->kind != MP_KIND_STDIO && !mp_entry_is_address(e->address))
		entry_invalidate(
			r,
			"Server \"%s\": \"url\" must begin with http://, https://, ws:// or "
			"wss://",
			e->name);
	check_tls(r);
}

/* --- the whole ------------------------------------------------------------------------------- */

static struct mp_str entry_keep(struct reading *r, struct mp_buf *text, int error)
{
	struct mp_str none = {NULL, 0};
	const char *copy = error < 0 ? NULL : mp_arena_dup(r->arena, mp_buf_get(text));

	if (error < 0)
		r->error = error;
	else if (!copy)
		r->error = mp_arena_get_error(r->arena);
	return copy ? (struct mp_str){copy, text->len} : none;
}

static struct mp_str entry_describe(struct reading *r,
				    void (*write)(struct mp_writer *w, const struct mp_entry *e))
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_ARENA);
	mp_write_init(&w, &text, NULL);
	write(&w, r->e);
	return entry_keep(r, &text, mp_write_finish(&w));
}

static void keep_canonical(struct reading *r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	int error;

	mp_buf_init(&text, MP_LIMIT_ARENA);
	error = mp_canonical_add(r->t, r->object, &text, &why);
	if (error == MCPOOL_EINVAL) { /* a duplicate key: what was approved would be ambiguous */
		entry_invalidate(r, "Server \"%s\": %s", r->e->name, why.message);
		r->e->canonical = (struct mp_str){"", 0};
		return;
	}
	r->e->canonical = entry_keep(r, &text, error);
}

static int note_provenance(struct reading *r, const struct mp_settings *settings)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;
	const char *from;
	int error;

	mp_buf_init(&place, MP_KIB(64));
	error = mp_buf_addf(&place, "%s:%u", r->e->origin.file, r->e->origin.line);
	if (error < 0)
		return error;
	from = mp_arena_dup(r->arena, mp_buf_get(&place));
	if (!from)
		return mp_arena_get_error(r->arena);
	error = mp_provenance_copy(&r->e->provenance, &settings->provenance, r->arena);
	if (error < 0)
		return error;
	return mp_provenance_note(&r->e->provenance, &mp_entry_table, r->e, "", from, r->arena);
}

static int entry_bind(struct reading *r, const struct mp_settings *settings)
{
	struct mp_entry *e = r->e;
	int error;

	e->tuning = settings->tuning;
	e->tuning.restart.present = 0;
	e->enabled = true;
	error = mp_bind_read(&mp_entry_table, r->t, r->object, r->arena, e, on_problem, r, NULL);
	if (error == MCPOOL_ETYPE) {
		entry_invalidate(r, "Server \"%s\": an object in braces is expected", e->name);
		return r->error;
	}
	if (error < 0)
		return error;
	mp_tuning_finish(&e->tuning, &settings->tuning, &mp_entry_table, e, r->t, r->object, r->fn,
			 r->u);
	if (entry_has(r, "disabled") && !entry_has(r, "enabled"))
		e->enabled = !e->disabled;
	finish_env(r);
	finish_command(r);
	finish_env_vars(r);
	finish_times(r);
	finish_tool_results(r);
	finish_kind(r);
	return r->error;
}

int mp_entry_read(struct mp_str name, const struct mp_tape *t, mp_value v,
		  const struct mp_origin *origin, const struct mp_settings *settings,
		  struct mp_arena *arena, mp_bind_problem_fn fn, void *u,
		  struct mp_entry **ret_entry)
{
	struct mp_entry *e = mp_arena_alloc_array(arena, 1, sizeof(*e));
	struct reading r = {e, t, v, arena, fn, u, &settings->tuning, 0};
	const char *bad_name = mp_entry_check_name(name, (enum mp_name_set)settings->names);
	int error;

	if (!e || !(e->name = mp_arena_dup(arena, name)))
		return mp_arena_get_error(arena);
	e->origin = *origin;
	if (bad_name)
		entry_invalidate(&r, "%s", bad_name);
	error = entry_bind(&r, settings);
	if (error < 0)
		return error;
	keep_canonical(&r);
	if (!e->invalid) {
		e->connection = entry_describe(&r, mp_entry_write_connection);
		e->endpoint = entry_describe(&r, mp_entry_write_endpoint);
	}
	if (r.error == 0)
		r.error = note_provenance(&r, settings);
	if (r.error < 0)
		return r.error;
	*ret_entry = e;
	return 0;
}

bool mp_entry_is_on(const struct mp_entry *e, const struct mp_settings *s, enum mp_toggle toggle)
{
	if (mp_bind_list_has(&s->deny, e->name))
		return false;
	if (toggle != MP_TOGGLE_NONE)
		return toggle == MP_TOGGLE_ON;
	return mp_bind_list_has(&s->allow, e->name) || e->enabled;
}

void mp_entry_explain_off(const struct mp_entry *e, const struct mp_settings *s,
			  enum mp_toggle toggle, char *out, size_t size)
{
	const char *where = mp_provenance_get(&s->provenance, "deny");

	out[0] = '\0';
	if (mp_entry_is_on(e, s, toggle))
		return;
	if (mp_bind_list_has(&s->deny, e->name))
		snprintf(out, size, "by the list \"deny\" in %s", where ? where : "the settings");
	else if (toggle == MP_TOGGLE_OFF)
		snprintf(out, size,
			 "switched off for now, in the hub and in no file: mcpool enable --now %s",
			 MP_SHELL_NAME(e->name));
	else
		snprintf(out, size, "switched off in %s:%u", e->origin.file, e->origin.line);
}
