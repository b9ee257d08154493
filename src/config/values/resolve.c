/*
 * resolve.c - resolves an approved entry for its start.
 * The launch key is built along the way: everything that decides what is run or reached goes into
 * it; a command that gives a value and a ${secret:NAME} go in as they are written, so that a
 * rotated secret does not make a new server.
 */
#include "config/values/resolve.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/redact.h"
#include "base/secrets.h"
#include "config/values/envfile.h"
#include "config/values/expand.h"
#include "config/values/headers_helper.h"
#include "store/secret_records.h"

enum { HELPER_MS = 60000 }; /* what a headersHelper printed is used for so long */

struct resolving {
	const struct mp_resolve_request *req;
	const struct mp_entry *e;
	struct mp_resolved *out;
	struct mp_digest *key;
	struct mp_expand expand;
	char folder[PATH_MAX]; /* of the configuration file */
	char **layer;          /* of an env file */
	struct mcpool_error *reterr;
	int hiding; /* why a secret could not be announced */
	/* Of the text that was expanded last: */
	bool looked_up;      /* it named a variable or a secret */
	bool has_secret;     /* the value of one is in it */
	const char *for_key; /* what goes into the launch key then, without that value; else NULL */
	bool secrets_allowed; /* in the texts that are expanded now */
};

/* --- words ----------------------------------------------------------------------------------- */

static void MP_PRINTF(2, 3) resolve_warn(struct resolving *r, const char *format, ...)
{
	char text[480];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* cut is fine */
	va_end(args);
	if (r->req->on_warning)
		r->req->on_warning(r->req->u, text);
}

static void on_warning(void *u, const char *message)
{
	resolve_warn(u, "%s", message);
}

static void on_variable(void *u, struct mp_str name, const char *value)
{
	struct resolving *r = u;

	r->looked_up = true;
	mp_digest_add(r->key, name);
	mp_digest_add(r->key, mp_str_of(value));
}

static int no_room(struct resolving *r)
{
	int code = mp_arena_get_error(&r->out->arena);

	return mp_fail(r->reterr, code, "%s", mcpool_error_text(code));
}

/* A value that must not appear in a log. One that cannot be hidden is not used. */
static void resolve_hide(struct resolving *r, const char *value)
{
	int error = r->req->only_key ? 0 : mp_secret_add(mp_str_of(value));

	if (error < 0 && r->hiding == 0)
		r->hiding = error;
}

/* --- one value ------------------------------------------------------------------------------- */

static int resolve_keep(struct resolving *r, const struct mp_buf *text, const char **ret)
{
	*ret = mp_arena_dup(&r->out->arena, mp_buf_get(text));
	return *ret ? 0 : no_room(r);
}

static int put_reference(void *u, struct mp_str name, struct mp_buf *out,
			 struct mcpool_error *reterr)
{
	(void)u;
	(void)reterr;
	return mp_buf_addf(out, "${secret:%.*s}", MP_STR_ARGS(name));
}

/* The value is hidden before it is used. */
static int put_secret(void *u, struct mp_str name, struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf value;
	struct resolving *r = u;
	struct mcpool_error why;
	int error;

	mp_buf_init(&value, MP_LIMIT_SECRET_VALUE + 1);
	r->looked_up = true;
	r->has_secret = true;
	error = mp_secret_values_get(r->req->secrets, &r->req->set->settings, name, &value, &why);
	if (error < 0)
		return mp_fail_because(reterr, error, &why, "Server \"%s\" at %s: %s", r->e->name,
				       r->e->origin.file, why.message);
	error = mp_buf_terminate(&value);
	if (error == 0 && strlen(value.data) == value.len)
		resolve_hide(r, value.data);
	return error < 0 ? error : mp_buf_add_str(out, mp_buf_get(&value));
}

/* The text as it goes into the launch key, where it has a secret. */
static int expand_for_key(struct resolving *r, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	struct mp_expand e = r->expand;
	int error;

	mp_buf_init(&value, MP_LIMIT_CONFIG_FILE);
	e.get_secret = put_reference;
	e.on_variable = NULL;
	e.on_warning = NULL;
	error = mp_expand_text(&e, mp_str_of(text), &value, r->reterr);
	return error < 0 ? error : resolve_keep(r, &value, &r->for_key);
}

static int expand(struct resolving *r, const char *text, const char **ret)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf value;
	int error;

	mp_buf_init(&value, MP_LIMIT_CONFIG_FILE);
	r->looked_up = false;
	r->has_secret = false;
	r->for_key = NULL;
	r->expand.get_secret = !r->secrets_allowed ? NULL
			       : r->req->only_key  ? put_reference
						   : put_secret;
	error = mp_expand_text(&r->expand, mp_str_of(text), &value, r->reterr);
	if (error == 0 && r->has_secret)
		error = expand_for_key(r, text);
	if (error < 0)
		return error;
	if (memchr(value.data ? value.data : "", '\0', value.len))
		return mp_fail(r->reterr, MCPOOL_EINVAL,
			       "Server \"%s\": a variable holds a NUL character", r->e->name);
	return resolve_keep(r, &value, ret);
}

/* Into the launch key: the value that was expanded last, with its secrets as they are written. */
static void resolve_note(struct resolving *r, const char *value)
{
	mp_digest_add(r->key, mp_str_of(r->for_key ? r->for_key : value));
}

static enum mp_indirection resolve_indirection(const struct resolving *r)
{
	const struct mp_settings *s = &r->req->set->settings;

	if (s->profile != MP_PROFILE_OMP && !(r->e->origin.quirks & MP_QUIRK_COMMANDS))
		return MP_INDIRECT_OFF; /* in the files of other tools a ! is a ! */
	return (enum mp_indirection)s->value_indirection;
}

/* In the omp profile what fails is left out; elsewhere it fails the server (B40). */
static int run_command(struct resolving *r, const char *name, const char *command, const char **ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	struct mcpool_error why;
	int error;

	mp_buf_init(&value, MP_KIB(128));
	mp_digest_add(r->key, mp_str_of(command));
	*ret = NULL;
	if (r->req->only_key)
		return 0;
	error = mp_commands_run(r->req->commands, command, r->out->cwd, r->req->env, r->req->now_ms,
				0, &value, &why);
	if (error == 0)
		return resolve_keep(r, &value, ret);
	if (r->req->set->settings.profile != MP_PROFILE_OMP)
		return mp_fail(r->reterr, error, "Server \"%s\": the command for %s failed: %s",
			       r->e->name, name, why.message);
	resolve_warn(r, "Server \"%s\": %s is left out, its command failed: %s", r->e->name, name,
		     why.message);
	return 0;
}

/* The value of a variable or header; NULL: it is left out. */
static int resolve_value(struct resolving *r, const char *name, const char *text, const char **ret)
{
	enum mp_indirection how = resolve_indirection(r);
	const char *value;
	int error;

	mp_digest_add(r->key, mp_str_of(name));
	if (text[0] == '!' && how != MP_INDIRECT_OFF)
		return run_command(r, name, text + 1, ret);
	value = how == MP_INDIRECT_VARIABLE ? mp_expand_get(r->req->env, mp_str_of(text)) : NULL;
	if (value) {
		*ret = mp_arena_dup(&r->out->arena, mp_str_of(value));
		error = *ret ? 0 : no_room(r);
		r->looked_up = true;
		r->for_key = NULL;
	} else {
		r->secrets_allowed = true;
		error = expand(r, text, ret);
		r->secrets_allowed = false;
	}
	if (error < 0)
		return error;
	resolve_note(r, *ret);
	if (r->looked_up || mp_redact_is_secret_name(mp_str_of(name)) ||
	    mp_redact_looks_random(mp_str_of(*ret)))
		resolve_hide(r, *ret);
	return 0;
}

/* --- folders and commands -------------------------------------------------------------------- */

static int resolve_join(struct resolving *r, const char *folder, const char *path, const char **ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *home = r->req->set->home;
	int error;

	mp_buf_init(&text, MP_KIB(64));
	mp_check(path);
	if (home && strncmp(path, "~/", 2) == 0)
		error = mp_buf_addf(&text, "%s%s", home, path + 1);
	else if (path[0] == '/')
		error = mp_buf_addf(&text, "%s", path);
	else
		error = mp_buf_addf(&text, "%s/%s", folder, path);
	return error < 0 ? mp_fail(r->reterr, error, "%s", mcpool_error_text(error))
			 : resolve_keep(r, &text, ret);
}

static const char *default_folder(const struct resolving *r)
{
	const struct mp_config_set *set = r->req->set;

	if (r->e->origin.root[0])
		return r->e->origin.root;
	if (r->e->origin.level == MP_CONFIG_COMMAND_LINE)
		return set->named_in ? set->named_in : set->cwd;
	return set->home ? set->home : "/";
}

static int resolve_folder(struct resolving *r)
{
	const char *folder = default_folder(r);
	const char *cwd = NULL;
	int error;

	r->out->cwd = folder;
	if (!r->e->cwd || !r->e->cwd[0])
		return 0;
	error = expand(r, r->e->cwd, &cwd);
	if (error < 0)
		return error;
	if (r->e->origin.quirks & MP_QUIRK_FROM_FILE)
		folder = r->folder;
	return resolve_join(r, folder, cwd, &r->out->cwd);
}

/* Where PATH leads, so that another PATH is another launch. */
static void note_program(struct resolving *r)
{
	const char *command = r->out->argv[0];
	const char *path = mp_expand_get(r->req->env, MP_STR("PATH"));
	char full[PATH_MAX];

	mp_digest_add(r->key, mp_str_of(command));
	if (strchr(command, '/') || !path)
		return;
	while (*path) {
		size_t n = strcspn(path, ":");
		int len = snprintf(full, sizeof(full), "%.*s/%s", (int)n, path, command);

		if (n && len > 0 && (size_t)len < sizeof(full) && access(full, X_OK) == 0) {
			mp_digest_add(r->key, mp_str_of(full));
			return;
		}
		path += n + (path[n] == ':');
	}
}

static int resolve_argv(struct resolving *r)
{
	const struct mp_entry *e = r->e;
	const char **argv = mp_arena_alloc_array(&r->out->arena, e->argc + 1, sizeof(*argv));
	int error = 0;

	if (!argv)
		return no_room(r);
	for (size_t i = 0; i < e->argc && error == 0; i++) {
		r->secrets_allowed = i > 0;
		error = expand(r, e->argv[i], &argv[i]);
		r->secrets_allowed = false;
		if (error == 0 && i > 0)
			resolve_note(r, argv[i]);
		if (error == 0 && r->has_secret)
			resolve_warn(r,
				     "Server \"%s\": a secret is among its arguments, which every "
				     "user of this machine can read; put it into \"env\" if the "
				     "server can take it from there",
				     e->name);
	}
	if (error == 0 && r->req->set->home && strncmp(argv[0], "~/", 2) == 0)
		error = resolve_join(r, "", argv[0], &argv[0]);
	else if (error == 0 && strchr(argv[0], '/') && argv[0][0] != '/' &&
		 (e->origin.quirks & MP_QUIRK_FROM_FILE))
		error = resolve_join(r, r->folder, argv[0], &argv[0]);
	if (error < 0)
		return error;
	r->out->argv = (char **)(void *)argv;
	note_program(r);
	return 0;
}

/* --- variables and headers ------------------------------------------------------------------- */

/* "NAME=value", in the place of one that has this name: what is said later counts. */
static int put_variable(struct resolving *r, size_t *n, char *pair)
{
	size_t len = pair ? strcspn(pair, "=") + 1 : 0;
	size_t at = 0;

	if (!pair)
		return no_room(r);
	while (at < *n && strncmp(r->out->env[at], pair, len) != 0)
		at++;
	r->out->env[at] = pair;
	*n += at == *n;
	return 0;
}

static int add_variable(struct resolving *r, size_t *n, const char *name, const char *value)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int error;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	error = mp_buf_addf(&text, "%s=%s", name, value);
	if (error < 0)
		return mp_fail(r->reterr, error, "%s", mcpool_error_text(error));
	return put_variable(r, n, mp_arena_dup(&r->out->arena, mp_buf_get(&text)));
}

/* What Codex hands on by name. */
static int add_handed_on(struct resolving *r, size_t *n)
{
	int error = 0;

	for (size_t i = 0; i < r->e->env_vars.n && error == 0; i++) {
		const char *name = r->e->env_vars.items[i];
		const char *value = mp_expand_get(r->req->env, mp_str_of(name));

		mp_digest_add(r->key, mp_str_of(name));
		mp_digest_add(r->key, mp_str_of(value));
		if (value && mp_redact_is_secret_name(mp_str_of(name)))
			resolve_hide(r, value);
		if (value)
			error = add_variable(r, n, name, value);
		else
			resolve_warn(r, "Server \"%s\": the variable %s is left out, it is not set",
				     r->e->name, name);
	}
	return error;
}

/* What an env file says. Its values are hidden whatever their names: it is a file for secrets. */
static int add_layer(struct resolving *r, size_t *n)
{
	int error = 0;

	for (size_t i = 0; r->layer && r->layer[i] && error == 0; i++) {
		char *pair = r->layer[i];
		size_t name = strcspn(pair, "=");

		mp_digest_add(r->key, mp_str_of(pair));
		resolve_hide(r, pair + name + 1);
		error = put_variable(r, n, pair);
	}
	return error;
}

static int resolve_env(struct resolving *r)
{
	const struct mp_bind_map *env = &r->e->env;
	size_t n = 0, from_file = 0;
	int error;

	while (r->layer && r->layer[from_file])
		from_file++;
	r->out->env = mp_arena_alloc_array(
		&r->out->arena, env->n + r->e->env_vars.n + from_file + 2, sizeof(*r->out->env));
	if (!r->out->env)
		return no_room(r);
	error = add_layer(r, &n);
	if (error == 0)
		error = add_handed_on(r, &n);
	for (size_t i = 0; i < env->n && error == 0; i++) {
		const char *value = NULL;

		error = resolve_value(r, env->items[i].key, env->items[i].value, &value);
		if (error == 0 && value)
			error = add_variable(r, &n, env->items[i].key, value);
	}
	return error;
}

/* In the place of one that has this name. */
static void add_header(struct resolving *r, const char *name, const char *value)
{
	struct mp_bind_map *headers = &r->out->headers;
	size_t at = 0;

	while (at < headers->n && strcasecmp(headers->items[at].key, name) != 0)
		at++;
	headers->items[at] = (struct mp_bind_pair){name, value};
	headers->n += at == headers->n;
	resolve_hide(r, value);
}

static int add_bearer(struct resolving *r, const char *token)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *value;
	int error;

	mp_buf_init(&text, MP_KIB(128));
	resolve_hide(r, token);
	error = mp_buf_addf(&text, "Bearer %s", token);
	if (error < 0)
		return mp_fail(r->reterr, error, "%s", mcpool_error_text(error));
	error = resolve_keep(r, &text, &value);
	if (error == 0)
		add_header(r, "Authorization", value);
	return error;
}

/* Headers whose value is a variable: the token must be there, the others are left out (Codex). */
static int add_from_variables(struct resolving *r)
{
	const struct mp_entry *e = r->e;

	for (size_t i = 0; i < e->env_headers.n; i++) {
		const struct mp_bind_pair *pair = &e->env_headers.items[i];
		const char *value = mp_expand_get(r->req->env, mp_str_of(pair->value));

		mp_digest_add(r->key, mp_str_of(pair->value));
		mp_digest_add(r->key, mp_str_of(value));
		if (value && value[0])
			add_header(r, pair->key, value);
		else
			resolve_warn(r, "Server \"%s\": the header %s is left out, %s is not set",
				     e->name, pair->key, pair->value);
	}
	if (e->bearer_variable) {
		const char *token = mp_expand_get(r->req->env, mp_str_of(e->bearer_variable));

		mp_digest_add(r->key, mp_str_of(token));
		if (!token || !token[0])
			return mp_fail(r->reterr, MCPOOL_ENOENT,
				       "Server \"%s\": the variable %s with its token is not set",
				       e->name, e->bearer_variable);
		return add_bearer(r, token);
	}
	return 0;
}

/* Claude's: a command that prints headers as a JSON object. It is told for which server. */
static int run_headers_helper(struct resolving *r, struct mp_bind_map *ret)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_buf_done) struct mp_buf name, url;
	struct mcpool_error why;
	char **env;
	size_t n = 0;
	int error;

	mp_buf_init(&text, MP_KIB(128));
	mp_buf_init(&name, MP_KIB(4));
	mp_buf_init(&url, MP_KIB(64));
	if (!r->e->headers_helper)
		return 0;
	mp_digest_add(r->key, mp_str_of(r->e->headers_helper));
	if (r->req->only_key)
		return 0;
	while (r->req->env && r->req->env[n])
		n++;
	env = mp_arena_alloc_array(&r->out->arena, n + 3, sizeof(*env));
	if (!env || mp_buf_addf(&name, "CLAUDE_CODE_MCP_SERVER_NAME=%s", r->e->name) < 0 ||
	    mp_buf_terminate(&name) < 0 ||
	    mp_buf_addf(&url, "CLAUDE_CODE_MCP_SERVER_URL=%s", r->out->url) < 0 ||
	    mp_buf_terminate(&url) < 0)
		return no_room(r);
	for (size_t i = 0; i < n; i++)
		env[i] = r->req->env[i];
	env[n] = name.data;
	env[n + 1] = url.data;
	error = mp_commands_run(r->req->commands, r->e->headers_helper, default_folder(r), env,
				r->req->now_ms, HELPER_MS, &text, &why);
	if (error == 0)
		error = mp_headers_helper_read(mp_buf_get(&text), &r->out->arena, ret, &why);
	if (error < 0)
		return mp_fail(r->reterr, error, "Server \"%s\": headersHelper failed: %s",
			       r->e->name, why.message);
	return 0;
}

static int resolve_headers(struct resolving *r)
{
	const struct mp_bind_map *headers = &r->e->headers;
	struct mp_bind_map helped = {.n = 0};
	int error = run_headers_helper(r, &helped);

	if (error < 0)
		return error;
	r->out->headers.items = mp_arena_alloc_array(
		&r->out->arena, headers->n + r->e->env_headers.n + helped.n + 2,
		sizeof(*r->out->headers.items));
	if (!r->out->headers.items)
		return no_room(r);
	for (size_t i = 0; i < headers->n && error == 0; i++) {
		const char *value = NULL;

		error = resolve_value(r, headers->items[i].key, headers->items[i].value, &value);
		if (error == 0 && value)
			add_header(r, headers->items[i].key, value);
	}
	if (error == 0)
		error = add_from_variables(r);
	for (size_t i = 0; i < helped.n && error == 0; i++)
		add_header(r, helped.items[i].key, helped.items[i].value);
	return error;
}

bool mp_resolved_has_authorization(const struct mp_resolved *r)
{
	for (size_t i = 0; i < r->headers.n; i++)
		if (strcasecmp(r->headers.items[i].key, "Authorization") == 0)
			return true;
	return false;
}

/* --- certificates ---------------------------------------------------------------------------- */

/* By its name, not its content: a renewed certificate does not make a new server. */
static int resolve_tls(struct resolving *r)
{
	const struct mp_bind_map *tls = &r->e->tls;
	int error = 0;

	for (size_t i = 0; i < tls->n && error == 0; i++) {
		const char *key = tls->items[i].key, *path = NULL;
		const char **file = strcmp(key, "ca") == 0     ? &r->out->ca_file
				    : strcmp(key, "cert") == 0 ? &r->out->cert_file
							       : &r->out->key_file;

		error = expand(r, tls->items[i].value, &path);
		if (error == 0)
			error = resolve_join(r, default_folder(r), path, file);
		if (error == 0) {
			mp_digest_add(r->key, mp_str_of(key));
			mp_digest_add(r->key, mp_str_of(*file));
		}
	}
	return error;
}

/* --- login ----------------------------------------------------------------------------------- */

static int oauth_expand(void *u, const char *name, const char *text, const char **ret)
{
	return resolve_value(u, name, text, ret);
}

/* What it says about its login; the login itself is another layer's. */
static int resolve_oauth(struct resolving *r)
{
	struct mcpool_error why = {0};
	int error = mp_oauth_read(r->e->auth_json, r->e->oauth_json, &r->out->arena, oauth_expand,
				  r, &r->out->oauth, &why);

	mp_digest_add(r->key, r->e->auth_json); /* whose credential, not which token */
	if (error == 0 && !r->req->only_key)
		error = mp_oauth_check(&r->out->oauth, &why);
	if (error < 0 && why.code) /* else it was said when a text was resolved */
		return mp_fail(r->reterr, error, "Server \"%s\": %s", r->e->name, why.message);
	return error;
}

/* --- the whole ------------------------------------------------------------------------------- */

static int read_env_file(struct resolving *r)
{
	const char *path = NULL;
	int error;

	if (!r->e->env_file)
		return 0;
	error = expand(r, r->e->env_file, &path);
	if (error == 0)
		error = resolve_join(r, default_folder(r), path, &path);
	if (error == 0)
		error = mp_envfile_read(path, &r->out->arena, &r->layer, r->reterr);
	r->expand.layer = r->layer;
	return error;
}

static int resolve_all(struct resolving *r)
{
	const char *for_key;
	int error = read_env_file(r);

	mp_digest_add(r->key, mp_str_of(mp_kind_get_name(r->e->kind)));
	if (error == 0)
		error = resolve_folder(r);
	if (error < 0)
		return error;
	if (r->e->kind == MP_KIND_STDIO) {
		mp_digest_add(r->key, mp_str_of(r->out->cwd));
		error = resolve_argv(r);
		if (error == 0)
			error = resolve_env(r);
		return error < 0 ? error : resolve_oauth(r);
	}
	r->secrets_allowed = true;
	error = expand(r, r->e->address, &r->out->url);
	r->secrets_allowed = false;
	if (error < 0)
		return error;
	for_key = r->for_key ? r->for_key : r->out->url;
	if (!mp_entry_is_address(r->out->url))
		return mp_fail(r->reterr, MCPOOL_EINVAL,
			       "Server \"%s\": \"url\" must begin with http://, https://, ws:// or "
			       "wss:// once its placeholders are filled in",
			       r->e->name);
	mp_digest_add(r->key, mp_str_of(for_key));
	error = resolve_tls(r);
	if (error == 0)
		error = resolve_headers(r);
	return error < 0 ? error : resolve_oauth(r);
}

static void resolve_init(struct resolving *r)
{
	const struct mp_settings *s = &r->req->set->settings;
	const char *slash = strrchr(r->e->origin.file, '/');

	if (slash)
		snprintf(r->folder, sizeof(r->folder), "%.*s", (int)(slash - r->e->origin.file),
			 r->e->origin.file);
	r->expand = (struct mp_expand){
		.spellings = r->e->origin.spellings,
		.missing = (enum mp_missing)s->missing_variable,
		.env = r->req->env,
		.root = default_folder(r),
		.home = r->req->set->home,
		.folder = r->folder,
		.plugin_root = r->e->origin.plugin_root,
		.server = r->e->name,
		.file = r->e->origin.file,
		.on_variable = on_variable,
		.on_warning = on_warning,
		.u = r,
	};
}

int mp_resolve(const struct mp_resolve_request *req, struct mp_resolved *ret,
	       struct mcpool_error *reterr)
{
	struct resolving r = {.req = req, .e = req->entry, .out = ret, .reterr = reterr};
	int error;

	/* Nothing unapproved is expanded or run (V01, V02). */
	mp_check(req->entry->trust == MP_TRUST_YES);
	mp_check(!req->entry->invalid && !req->entry->unapprovable);
	*ret = (struct mp_resolved){.kind = req->entry->kind};
	mp_arena_init(&ret->arena, MP_LIMIT_ARENA);
	if (!req->set->is_typed) /* nothing else is there to be told from it */
		r.key = mp_digest_new_keyed(
			(struct mp_str){(const char *)req->local_key, MP_DIGEST_SIZE});
	resolve_init(&r);
	error = resolve_all(&r);
	if (r.key)
		mp_digest_finish(r.key, ret->launch_key);
	if (error == 0 && r.hiding < 0)
		return mp_fail(reterr, r.hiding,
			       "Server \"%s\": there are too many secrets to hide", r.e->name);
	return error;
}

void mp_resolved_done(struct mp_resolved *r)
{
	mp_arena_wipe(&r->arena);
}
