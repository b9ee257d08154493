/*
 * consent.c - shows completely what the user is asked to approve.
 * Nothing is truncated or expanded. Only a plain value under a name such as TOKEN is masked: a
 * path, a command or a placeholder is shown there too, or a name could hide what is run.
 */
#include "cli/verbs/consent.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/redact.h"
#include "cli/servers/hub_client.h"
#include "cli/display/safe.h"
#include "config/values/envfile.h"
#include "config/values/expand.h"
#include "config/values/trust.h"
#include "hub/election.h"
#include "store/sealed.h"

enum { REPEATED_WORDS = 6, REPEATED = 200 }; /* of a long entry, next to the question */

#define DOTS "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

const char *mp_consent_get_name(const struct mp_consent *x)
{
	return x->entry ? x->entry->name : x->grant->name;
}

const struct mp_approval_id *mp_consent_get_id(const struct mp_consent *x)
{
	return x->entry ? &x->entry->id : &x->grant->id;
}

enum mp_trust mp_consent_get_trust(const struct mp_consent *x)
{
	return x->entry ? x->entry->trust : x->grant->trust;
}

int mp_consent_approve(const struct mp_configured *c, const struct mp_consent *x,
		       struct mcpool_error *reterr)
{
	return x->entry ? mp_trust_approve(c->db, x->entry, "trust", mp_configured_now(), reterr)
			: mp_trust_approve_grant(c->db, x->grant, mp_configured_now(), reterr);
}

/* A hub without a socket still holds its lock. */
static bool is_hub_running(void)
{
	struct mp_hub_place place;

	return mp_hub_place_find(&place, NULL) == 0 && mp_hub_place_is_held(&place);
}

bool mp_consent_tell_hub(void)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *hub = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mcpool_error why;
	int r;

	mp_buf_init(&result, MP_KIB(64));
	r = mp_hub_client_open(&hub, &why);
	if (r == MCPOOL_ENOENT && !is_hub_running())
		return true;
	if (r == 0)
		r = mp_hub_client_ask(hub, "mcpool/reload", MP_STR(""), &result, &why);
	if (r < 0)
		mp_cli_complain("the running hub could not be told, and finds out before its next "
				"start of a server: %s",
				why.message);
	return r == 0;
}

/* --- a page of text -------------------------------------------------------------------------- */

struct page {
	struct mp_buf *out;
	const char *title; /* of the next line; NULL: continue under the previous one */
	int error;         /* the first failure; later calls do nothing */
};

static void MP_PRINTF(2, 3) consent_put(struct page *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (p->error == 0)
		p->error = mp_buf_addv(p->out, format, args);
	va_end(args);
}

static void put_word(struct page *p, const char *word)
{
	if (p->error == 0)
		p->error = mp_safe_add_word(p->out, mp_str_of(word));
}

static void put_json(struct page *p, struct mp_str json)
{
	if (p->error == 0)
		p->error = mp_safe_add_json(p->out, json);
}

/* Paths and keys: made visible, without quotes. */
static void put_plain(struct page *p, const char *text)
{
	put_json(p, mp_str_of(text));
}

/* Start a line, with its title if it is the first of its kind. */
static void consent_begin(struct page *p)
{
	consent_put(p, "  %-14s", p->title ? p->title : "");
	p->title = NULL;
}

static void put_line(struct page *p, const char *title, const char *word)
{
	if (!word || !word[0])
		return;
	p->title = title;
	consent_begin(p);
	put_word(p, word);
	consent_put(p, "\n");
}

/* --- what an entry holds --------------------------------------------------------------------- */

typedef void (*text_fn)(void *u, const char *text);

static void each_in_map(const struct mp_bind_map *map, text_fn fn, void *u)
{
	for (size_t i = 0; i < map->n; i++)
		fn(u, map->items[i].value);
}

/* All texts that are expanded after approval. */
static void each_text(const struct mp_entry *e, text_fn fn, void *u)
{
	for (size_t i = 0; i < e->argc; i++)
		fn(u, e->argv[i]);
	if (e->cwd)
		fn(u, e->cwd);
	if (e->address)
		fn(u, e->address);
	if (e->env_file)
		fn(u, e->env_file);
	each_in_map(&e->env, fn, u);
	each_in_map(&e->headers, fn, u);
	each_in_map(&e->tls, fn, u);
}

struct names {
	const struct mp_entry *e;
	void (*fn)(void *u, struct mp_str name);
	void *u;
	struct mp_buf seen; /* each with a line break before and after it */
	int error;
};

static void name_once(void *u, struct mp_str name)
{
	struct names *n = u;
	size_t start = n->seen.len;

	if (n->error < 0)
		return;
	n->error = mp_buf_addf(&n->seen, "\n%.*s\n", MP_STR_ARGS(name));
	if (n->error < 0)
		return;
	if (mp_str_find((struct mp_str){n->seen.data, start},
			(struct mp_str){n->seen.data + start, n->seen.len - start}, 0) >= 0)
		n->seen.len = start;
	else
		n->fn(n->u, name);
}

static void name_in_text(void *u, const char *text)
{
	struct names *n = u;

	mp_expand_each_name(n->e->origin.spellings, mp_str_of(text), name_once, n);
}

static void secret_in_text(void *u, const char *text)
{
	struct names *n = u;

	mp_expand_each_secret(n->e->origin.spellings, mp_str_of(text), name_once, n);
}

int mp_consent_each_secret(const struct mp_entry *e, void (*fn)(void *u, struct mp_str name),
			   void *u)
{
	struct names n = {.e = e, .fn = fn, .u = u};

	mp_buf_init(&n.seen, MP_LIMIT_USER_FILE);
	each_text(e, secret_in_text, &n);
	mp_buf_done(&n.seen);
	return n.error;
}

static void name_whole(void *u, const char *text)
{
	name_once(u, mp_str_of(text));
}

int mp_consent_each_variable(const struct mp_configured *c, const struct mp_entry *e,
			     void (*fn)(void *u, struct mp_str name), void *u)
{
	struct names n = {.e = e, .fn = fn, .u = u};

	mp_buf_init(&n.seen, MP_LIMIT_USER_FILE);
	each_text(e, name_in_text, &n);
	for (size_t i = 0; i < e->env_vars.n; i++)
		name_whole(&n, e->env_vars.items[i]);
	each_in_map(&e->env_headers, name_whole, &n);
	if (e->bearer_variable)
		name_whole(&n, e->bearer_variable);
	if (c->set->settings.value_indirection == MP_INDIRECT_VARIABLE) {
		each_in_map(&e->env, name_whole, &n); /* a whole value may be a name */
		each_in_map(&e->headers, name_whole, &n);
	}
	mp_buf_done(&n.seen);
	return n.error;
}

bool mp_consent_is_command(const struct mp_configured *c, const struct mp_entry *e,
			   const char *value)
{
	const struct mp_settings *s = &c->set->settings;

	return value[0] == '!' && s->value_indirection != MP_INDIRECT_OFF &&
	       (s->profile == MP_PROFILE_OMP || (e->origin.quirks & MP_QUIRK_COMMANDS));
}

/* --- as text --------------------------------------------------------------------------------- */

static void put_argv(struct page *p, const struct mp_entry *e)
{
	p->title = "runs";
	for (size_t i = 0; i < e->argc; i++) {
		consent_begin(p);
		put_word(p, e->argv[i]);
		consent_put(p, "\n");
	}
}

static void put_folder(struct page *p, const struct mp_entry *e)
{
	if (e->cwd && e->cwd[0])
		put_line(p, "in", e->cwd);
	else if (e->origin.root[0])
		put_line(p, "in", e->origin.root);
}

static void put_pair(struct page *p, const char *name, const char *value, bool is_header)
{
	consent_begin(p);
	put_plain(p, name);
	consent_put(p, " = ");
	if (mp_sealed_is_hidden(mp_str_of(name), mp_str_of(value), is_header))
		consent_put(p, DOTS " (%zu bytes)", strlen(value));
	else
		put_word(p, value);
}

static void put_map(struct page *p, const char *title, const struct mp_bind_map *map)
{
	p->title = title;
	for (size_t i = 0; i < map->n; i++) {
		put_pair(p, map->items[i].key, map->items[i].value, true);
		consent_put(p, "\n");
	}
}

static void put_variable(struct page *p, const char *name, const char *value)
{
	put_pair(p, name, value, false);
	consent_put(p, "%s\n",
		    mp_scripts_is_code_variable(mp_str_of(name)) ? "  <- decides what code runs"
								 : "");
}

static void put_variables(struct page *p, const struct mp_bind_map *map)
{
	p->title = "variables";
	for (size_t i = 0; i < map->n; i++)
		put_variable(p, map->items[i].key, map->items[i].value);
}

/* A file outside of projects whose path contains no variable. */
static bool find_users_file(const struct mp_configured *c, const struct mp_entry *e,
			    char out[PATH_MAX])
{
	const char *path = e->env_file, *home = c->set->home ? c->set->home : "";
	bool at_home = strncmp(path, "~/", 2) == 0;
	int n;

	if (strpbrk(path, "${") || (path[0] != '/' && !home[0]) ||
	    (path[0] != '/' && !at_home && e->origin.root[0]))
		return false;
	n = snprintf(out, PATH_MAX, "%s%s%s", path[0] == '/' ? "" : home,
		     path[0] == '/' || at_home ? "" : "/", path + at_home);
	return n > 0 && n < PATH_MAX;
}

/*
 * Show an env file like variables. For a project's entry it was read with the entry; another one
 * belongs to the user and is read now.
 */
static void put_env_file(struct page *p, const struct mp_configured *c, const struct mp_entry *e)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	char **layer = e->env_layer;
	char path[PATH_MAX];
	int r = 0;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	put_line(p, "variables of", e->env_file);
	if (!e->env_file || !e->env_file[0] || p->error < 0)
		return;
	if (!layer && find_users_file(c, e, path))
		r = mp_envfile_read(path, &arena, &layer, NULL);
	for (char **pair = layer; r == 0 && pair && *pair; pair++) {
		size_t n = strcspn(*pair, "=");
		char *name = mp_arena_dup(&arena, (struct mp_str){*pair, n});

		put_variable(p, name ? name : "?", *pair + n + 1);
	}
	if (r < 0 || !layer) {
		consent_begin(p);
		consent_put(p, "cannot be shown: the file is not there, is broken, or depends on a "
			       "variable\n");
	}
}

static void put_commands(struct page *p, const struct mp_configured *c, const struct mp_entry *e)
{
	const struct mp_bind_map *const maps[] = {&e->env, &e->headers};

	p->title = "first runs";
	for (size_t m = 0; m < MP_ARRAY_LEN(maps); m++)
		for (size_t i = 0; i < maps[m]->n; i++) {
			if (!mp_consent_is_command(c, e, maps[m]->items[i].value))
				continue;
			consent_begin(p);
			put_word(p, maps[m]->items[i].value + 1);
			consent_put(p, " in a shell, for ");
			put_plain(p, maps[m]->items[i].key);
			consent_put(p, "\n");
		}
}

static void put_name(void *u, struct mp_str name)
{
	struct page *p = u;

	consent_begin(p);
	put_json(p, name);
	consent_put(p, "\n");
}

/* "path<TAB>hash<LF>" per line; twelve digits of the hash are enough to compare. */
static void put_scripts(struct page *p, const char *scripts)
{
	p->title = "files";
	if (!*scripts) { /* say when an approval covers less than expected */
		consent_begin(p);
		consent_put(p, "none of the project's is covered\n");
	}
	while (*scripts) {
		size_t path = strcspn(scripts, "\t"), line = strcspn(scripts, "\n");
		const char *what = scripts + path + (path < line);
		size_t n = line - (size_t)(what - scripts);

		consent_begin(p);
		put_json(p, (struct mp_str){scripts, path});
		consent_put(p, "  ");
		put_json(p, (struct mp_str){what, what[0] == '-' || n < 12 ? n : 12});
		consent_put(p, "\n");
		scripts += line + (scripts[line] == '\n');
	}
}

/* Say what an approval does not cover. */
static void put_folders(struct page *p, const struct mp_entry *e)
{
	const char *root = e->origin.root;

	p->title = "may read";
	for (const char *at = e->folders; *at; at += strcspn(at, "\n") + 1) {
		struct mp_str name = {at, strcspn(at, "\n")};

		consent_begin(p);
		consent_put(p, "everything in ");
		put_json(p, mp_str_eq(name, MP_STR(".")) ? mp_str_of(root) : name);
		consent_put(p, ", which may change without a question\n");
	}
	p->title = "trusts";
	for (const char *at = e->runners; *at; at += strcspn(at, "\n") + 1) {
		consent_begin(p);
		consent_put(p, "all of the project: %.*s runs what its files say\n",
			    (int)strcspn(at, "\n"), at);
	}
}

static void put_auth(struct page *p, const char *title, struct mp_str json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf clean;

	mp_buf_init(&clean, MP_LIMIT_USER_FILE);
	if (json.len == 0)
		return;
	if (p->error == 0)
		p->error = mp_redact(json, false, &clean);
	p->title = title;
	consent_begin(p);
	put_json(p, mp_buf_get(&clean));
	consent_put(p, "\n");
}

static void put_place(struct page *p, const char *file, unsigned line, const char *by)
{
	p->title = "found in";
	consent_begin(p);
	put_plain(p, file);
	consent_put(p, ":%u%s%s%s\n", line, by ? " (" : "", by ? by : "", by ? ")" : "");
}

static void put_entry(struct page *p, const struct mp_configured *c, const struct mp_entry *e)
{
	const struct mp_origin *o = &e->origin;
	char by[100];

	snprintf(by, sizeof(by), "%s, %s", o->label, mp_config_level_get_name(o->level));
	put_place(p, o->file, o->line, by);
	if (strcmp(o->file, o->real) != 0)
		put_line(p, "which is", o->real);
	put_argv(p, e);
	if (e->kind == MP_KIND_STDIO)
		put_folder(p, e);
	put_line(p, "reaches", e->address);
	put_commands(p, c, e);
	put_variables(p, &e->env);
	put_map(p, "headers", &e->headers);
	put_map(p, "headers from", &e->env_headers);
	put_map(p, "certificates", &e->tls);
	put_line(p, "token from", e->bearer_variable);
	put_env_file(p, c, e);
	put_line(p, "header helper", e->headers_helper);
	put_auth(p, "auth", e->auth_json);
	put_auth(p, "oauth", e->oauth_json);
	p->title = "reads";
	if (p->error == 0)
		p->error = mp_consent_each_variable(c, e, put_name, p);
	p->title = "gets secrets";
	if (p->error == 0)
		p->error = mp_consent_each_secret(e, put_name, p);
	if (e->origin.root[0]) {
		put_scripts(p, e->scripts);
		put_folders(p, e);
	}
	if (e->shadow == MP_SHADOW_APPROVED) {
		p->title = "replaces";
		consent_begin(p);
		consent_put(p, "the one you approved in ");
		put_plain(p, e->shadowed_by->origin.file);
		consent_put(p, ":%u\n", e->shadowed_by->origin.line);
	}
}

/* --- what changed ---------------------------------------------------------------------------- */

/* Secrets are already masked on both sides (sealed.h). */
static void put_side(struct page *p, const char *title, struct mp_str json)
{
	consent_put(p, "    %-12s", title);
	put_json(p, json);
	consent_put(p, "\n");
}

static int put_change(void *u, struct mp_str path, struct mp_str before, struct mp_str now)
{
	struct page *p = u;

	consent_begin(p);
	put_json(p, path);
	consent_put(p, before.len == 0 ? " is new\n"
		       : now.len == 0  ? " is gone\n"
				       : " is changed\n");
	if (before.len)
		put_side(p, "approved", before);
	if (now.len)
		put_side(p, "now", now);
	return p->error;
}

static int put_changed_script(void *u, struct mp_str path, struct mp_str before, struct mp_str now)
{
	struct page *p = u;

	consent_begin(p);
	consent_put(p, "the file ");
	put_json(p, path);
	consent_put(p, before.len == 0 ? " is new\n"
		       : now.len == 0  ? " is gone\n"
				       : " has another content\n");
	return p->error;
}

static void put_changes(struct page *p, const struct mp_configured *c, const struct mp_consent *x)
{
	int r;

	if (mp_consent_get_trust(x) != MP_TRUST_CHANGED || p->error < 0)
		return;
	p->title = "changed";
	r = mp_consent_compare(c, x, put_change, put_changed_script, p);
	if (r < 0 && p->error == 0)
		p->error = r;
	if (p->title) { /* nothing was written */
		consent_begin(p);
		consent_put(p, "the file it is in\n");
	}
}

int mp_consent_describe(const struct mp_configured *c, const struct mp_consent *x,
			struct mp_buf *out, struct mcpool_error *reterr)
{
	struct page p = {.out = out};
	size_t start = out->len;
	bool changed = mp_consent_get_trust(x) == MP_TRUST_CHANGED;

	consent_put(&p, "%s ", x->entry ? "server" : "for mcpool itself:");
	put_word(&p, mp_consent_get_name(x));
	consent_put(&p, "%s\n", changed ? ", changed since you approved it" : "");
	if (x->entry) {
		put_entry(&p, c, x->entry);
	} else {
		put_place(&p, x->grant->file, x->grant->line, NULL);
		p.title = "says";
		consent_begin(&p);
		put_json(&p, mp_str_of(x->grant->content));
		consent_put(&p, "\n");
	}
	put_changes(&p, c, x);
	if (p.error == 0)
		return 0;
	out->len = start;
	return mp_fail(reterr, p.error, "\"%s\" cannot be shown, and so not be approved: %s",
		       mp_consent_get_name(x), mcpool_error_text(p.error));
}

/* The first part of a word; the whole word is shown above. */
static void put_beginning(struct page *p, const char *word)
{
	size_t n = strlen(word), shown = n > REPEATED ? REPEATED : n;

	while (shown > 0 && shown < n && ((unsigned char)word[shown] & 0xc0) == 0x80)
		shown--; /* not within a character */
	if (p->error == 0)
		p->error = mp_safe_add_word(p->out, (struct mp_str){word, shown});
	if (shown < n)
		consent_put(p, " and %zu bytes more", n - shown);
}

int mp_consent_repeat(const struct mp_consent *x, size_t rows, struct mp_buf *out)
{
	const struct mp_entry *e = x->entry;
	struct page p = {.out = out};
	size_t shown = e && e->argc < REPEATED_WORDS ? e->argc : REPEATED_WORDS;

	consent_put(&p, "This is %zu lines; look at all of them. ", rows);
	if (!e || e->argc == 0) {
		consent_put(&p, e ? "It reaches " : "They are settings for mcpool itself.");
		if (e && e->address)
			put_beginning(&p, e->address);
		consent_put(&p, "\n");
		return p.error;
	}
	consent_put(&p, "It runs %zu word%s:\n", e->argc, e->argc > 1 ? "s" : "");
	for (size_t i = 0; i < shown; i++) {
		consent_begin(&p);
		put_beginning(&p, e->argv[i]);
		consent_put(&p, "\n");
	}
	if (shown < e->argc) {
		consent_begin(&p);
		consent_put(&p, "and %zu words more\n", e->argc - shown);
	}
	return p.error;
}
