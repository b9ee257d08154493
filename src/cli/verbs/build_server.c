/*
 * build_server.c - builds the entry that the options of `mcpool add` and `edit` describe.
 * A value that would mean something else in the file is refused, or rewritten.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/redact.h"
#include "cli/display/terminal.h"
#include "cli/verbs/verbs.h"

/* --- names and values ------------------------------------------------------------------------ */

/* JSON cannot hold other texts unchanged. */
static bool is_text(const char *text)
{
	if (mp_utf8_valid(mp_str_of(text)))
		return true;
	mp_cli_complain("'%s' is not valid UTF-8, and a JSON file can hold nothing else", text);
	return false;
}

static bool is_header_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || strchr("()<>@,;:\\\"/[]?={}", name.p[i]))
			return false;
	return name.len > 0;
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
			return true;
	return false;
}

struct pair {
	const char *option;
	char between;
	bool shared; /* in a project's file */
	struct mp_str key;
	const char *value;
};

static bool split_pair(struct pair *p, const char *text)
{
	const char *at = strchr(text, p->between);

	if (!is_text(text))
		return false;
	if (!at || at == text) {
		mp_cli_complain("%s takes NAME%cVALUE, not '%s'", p->option, p->between, text);
		return false;
	}
	p->key = (struct mp_str){text, (size_t)(at - text)};
	p->value = at + 1;
	if (p->between == '=')
		return true;
	p->value += strspn(p->value, " ");
	if (is_header_name(p->key) && !has_control(p->value))
		return true;
	mp_cli_complain("'%.*s' is not a valid header: its name or value contains characters "
			"that are not allowed there",
			MP_STR_ARGS(p->key));
	return false;
}

/* Parsers differ in how they read a duplicate key. */
static bool is_among(const struct pair *p, const struct mp_cli_list *list, size_t n)
{
	struct pair other = *p;

	for (size_t i = 0; i < n; i++)
		if (split_pair(&other, list->items[i]) &&
		    (p->between == ':' ? mp_str_eq_nocase(p->key, other.key)
				       : mp_str_eq(p->key, other.key)))
			return true;
	return false;
}

static bool write_pairs(struct mp_writer *w, struct pair p, const struct mp_cli_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		if (!split_pair(&p, list->items[i]))
			return false;
		if (is_among(&p, list, i)) {
			mp_cli_complain("%s names '%.*s' twice", p.option, MP_STR_ARGS(p.key));
			return false;
		}
		if (p.shared && mp_redact_is_secret_name(p.key) && !strstr(p.value, "${"))
			mp_cli_complain(
				"note: everyone who can read the project's file sees the value of "
				"%.*s; '${NAME}' takes it from a variable",
				MP_STR_ARGS(p.key));
		mp_write_key(w, p.key);
		mp_write_text(w, mp_str_of(p.value));
	}
	return true;
}

/* --- a local server -------------------------------------------------------------------------- */

/*
 * Rewrite a path typed here for the folder the server starts in: the home folder for the user's
 * file, the project for a project's file.
 */
static bool write_path(struct mp_writer *w, const struct mp_configured *c,
		       const struct mp_cli_args *args, const char *path)
{
	size_t n = strlen(c->set->root);
	const char *from = c->cwd;
	char full[PATH_MAX];
	int len;

	while (strncmp(path, "./", 2) == 0 && path[2] && path[2] != '/')
		path += 2;
	if (args->project)
		from = strncmp(from, c->set->root, n) == 0 && from[n] == '/' ? from + n + 1 : ".";
	if (strchr("/~$", path[0]))
		len = snprintf(full, sizeof(full), "%s", path);
	else
		len = snprintf(full, sizeof(full), "%s%s%s", from,
			       strcmp(path, ".") == 0 ? "" : "/",
			       strcmp(path, ".") == 0 ? "" : path);
	if (len < 0 || (size_t)len >= sizeof(full)) {
		mp_cli_complain("'%s' is too long for a path", path);
		return false;
	}
	mp_write_text(w, mp_str_of(full));
	return true;
}

/* In the home folder, `node server.js` finds no server.js. */
static void warn_of_files(const struct mp_cli_args *args)
{
	for (char **word = args->command + 1; *word; word++)
		if (!strchr("/~$-", (*word)[0]) && strpbrk(*word, "./") &&
		    access(*word, F_OK) == 0) {
			mp_cli_complain("note: '%s' is here, but the server will run in your home "
					"folder; with `--cwd .` it runs here",
					*word);
			return;
		}
}

static bool write_command(struct mp_writer *w, const struct mp_configured *c,
			  const struct mp_cli_args *args)
{
	const char *command = args->command[0];

	for (char **word = args->command; *word; word++)
		if (!is_text(*word))
			return false;
	mp_check(command); /* usage was checked */
	mp_write_key(w, MP_STR("command"));
	if (!strchr(command, '/') || args->cwd)
		mp_write_text(w, mp_str_of(command));
	else if (!write_path(w, c, args, command))
		return false;
	mp_write_key(w, MP_STR("args"));
	mp_write_begin_array(w);
	for (char **word = args->command + 1; *word; word++)
		mp_write_text(w, mp_str_of(*word));
	mp_write_end_array(w);
	return true;
}

static bool write_stdio(struct mp_writer *w, const struct mp_configured *c,
			const struct mp_cli_args *args)
{
	if (args->command) {
		mp_write_member_text(w, "type", MP_STR("stdio"));
		if (!write_command(w, c, args))
			return false;
	}
	if (args->env.n) {
		mp_write_key(w, MP_STR("env"));
		mp_write_begin_object(w);
		if (!write_pairs(w,
				 (struct pair){.option = "--env",
					       .between = '=',
					       .shared = args->project},
				 &args->env))
			return false;
		mp_write_end_object(w);
	}
	if (args->cwd) {
		mp_write_key(w, MP_STR("cwd"));
		return is_text(args->cwd) && write_path(w, c, args, args->cwd);
	}
	if (args->command && !args->project)
		warn_of_files(args);
	return true;
}

/* --- a remote server ------------------------------------------------------------------------- */

/* Read one line of stdin, without echo on a terminal. NULL after an error message. */
static char *read_token(void)
{
	size_t len = 0;
	char *text =
		isatty(STDIN_FILENO) ? mp_terminal_ask_secret("Token:") : mp_cmd_read_stdin(&len);
	struct mp_str token = mp_str_trim(text ? mp_str_of(text) : MP_STR(""));

	if (text && token.len > 0 && strlen(text) >= len) {
		memmove(text, token.p, token.len);
		text[token.len] = '\0';
		if (!strpbrk(text, " \t") && !has_control(text) && !strstr(text, "${"))
			return text;
	}
	mp_cli_complain("one line with a token is expected on stdin");
	if (text)
		mp_wipe(text, strlen(text));
	return mp_free(text);
}

static bool write_token(struct mp_writer *w, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_freep) char *token = args->token ? read_token() : NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	bool ok;

	mp_buf_init(&value, MP_LIMIT_CONFIG_FILE);
	if (args->token && !token)
		return false;
	ok = mp_buf_addf(&value, token ? "Bearer %s" : "Bearer ${%s}",
			 token ? token : args->token_env) == 0;
	if (ok)
		mp_write_member_text(w, "Authorization", mp_buf_get(&value));
	else
		mp_cli_complain("the token is too long");
	if (value.len)
		mp_wipe(value.data, value.len);
	if (token)
		mp_wipe(token, strlen(token));
	return ok;
}

static bool write_headers(struct mp_writer *w, const struct mp_cli_args *args)
{
	struct pair p = {.option = "--header",
			 .between = ':',
			 .shared = args->project,
			 .key = MP_STR("Authorization")};
	bool has_token = args->token || args->token_env;

	if (!args->headers.n && !has_token)
		return true;
	if (has_token && is_among(&p, &args->headers, args->headers.n)) {
		mp_cli_complain("the token is sent as the header Authorization, which --header "
				"names, too");
		return false;
	}
	mp_write_key(w, MP_STR("headers"));
	mp_write_begin_object(w);
	if (!write_pairs(w, p, &args->headers) || (has_token && !write_token(w, args)))
		return false;
	mp_write_end_object(w);
	return true;
}

static bool has_scheme(const char *url)
{
	size_t n = strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

	return url[0] == '$' || (n > 0 && strncmp(url + n, "://", 3) == 0);
}

static const char *get_transport(const struct mp_cli_args *args)
{
	if (args->transport)
		return args->transport;
	return strncasecmp(args->url, "ws://", 5) == 0 || strncasecmp(args->url, "wss://", 6) == 0
		       ? "websocket"
		       : "http";
}

static bool write_address(struct mp_writer *w, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf url;
	const char *transport = get_transport(args);
	const char *scheme = strcmp(transport, "websocket") == 0 ? "wss://" : "https://";

	mp_buf_init(&url, MP_LIMIT_CONFIG_FILE);
	if (!is_text(args->url))
		return false;
	if (has_scheme(args->url))
		scheme = "";
	else
		mp_cli_complain("note: %s was put in front of the URL", scheme);
	if (mp_buf_addf(&url, "%s%s", scheme, args->url) < 0)
		return false;
	mp_write_member_text(w, "type", mp_str_of(transport));
	mp_write_member_text(w, "url", mp_buf_get(&url));
	return true;
}

bool mp_cmd_build_server(const struct mp_configured *c, const struct mp_cli_args *args,
			 struct mp_buf *json)
{
	struct mp_writer w;

	mp_write_init(&w, json, NULL);
	mp_write_begin_object(&w);
	if ((args->url && !write_address(&w, args)) || !write_stdio(&w, c, args) ||
	    !write_headers(&w, args))
		return false;
	mp_write_end_object(&w);
	return mp_write_finish(&w) == 0;
}
