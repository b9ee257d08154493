/*
 * args.c - parses the arguments of a verb and reports errors in them.
 * Options may appear anywhere before `--`; the server's command follows it unchanged.
 */
#include <stdio.h>
#include <string.h>

#include "base/redact.h"
#include "base/similar.h"
#include "cli/display/cli.h"

void mp_cli_show_help(const struct mp_verb *verb)
{
	bool has_options = verb->options && verb->options[0];

	printf("usage: mcpool %s%s%s%s\n\n%s\n", verb->name, has_options ? " [OPTIONS]" : "",
	       verb->arguments[0] ? " " : "", verb->arguments, verb->summary);
	if (has_options)
		printf("\n%s", verb->options);
	if (verb->more)
		printf("\n%s", verb->more);
}

/* 500, 500ms, 10s, 2m; plain numbers are milliseconds, as in the configuration. */
static bool read_duration(const char *text, int64_t *ret_ms)
{
	size_t digits = strspn(text, "0123456789");
	struct mp_str all = mp_str_of(text);

	if (digits == all.len)
		return digits <= 9 && mp_str_to_i64(all, ret_ms) == 0 && *ret_ms > 0;
	return mp_str_to_ms(all, ret_ms) == 0 && *ret_ms > 0;
}

bool mp_cli_read_span(const char *text, int64_t *ret_ms)
{
	enum { DAY_MS = 24 * 3600 * 1000, LONGEST_DAYS = 3650 };
	struct mp_str t = mp_str_of(text);

	if (!t.len || t.p[t.len - 1] != 'd')
		return mp_str_to_ms(t, ret_ms) == 0 && *ret_ms > 0 &&
		       *ret_ms <= (int64_t)LONGEST_DAYS * DAY_MS;
	t.len--;
	if (mp_str_to_i64(t, ret_ms) < 0 || *ret_ms <= 0 || *ret_ms > LONGEST_DAYS)
		return false;
	*ret_ms *= DAY_MS;
	return true;
}

static bool read_era(const char *text, enum mp_era *ret_era)
{
	static const struct {
		const char *word;
		enum mp_era era;
	} rows[] = {{"auto", MP_ERA_BOTH}, {"legacy", MP_ERA_LEGACY}, {"modern", MP_ERA_MODERN}};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(text, rows[i].word) == 0) {
			*ret_era = rows[i].era;
			return true;
		}
	return false;
}

/* If the verb accepts a command, the user may have forgotten the --. */
static int args_usage(const struct mp_cli_args *a, const char *what, const char *word)
{
	bool hint = a->verb->servers != MP_VERB_PLAIN && !a->command;

	mp_cli_complain("%s '%s'. %sSee `mcpool %s --help`.", what, word,
			hint ? "A server's command stands behind --. " : "", a->verb->name);
	return MP_EXIT_USAGE + 1;
}

/* The help of a verb names its options, each followed by a blank or a comma. */
static bool is_allowed(const struct mp_verb *verb, const char *option)
{
	const char *at = verb->options;
	size_t n = strlen(option);

	while (at && (at = strstr(at, option))) {
		if ((at == verb->options || strchr(" \n", at[-1])) && strchr(" ,\n", at[n]))
			return true; /* strchr also finds the terminating NUL */
		at += n;
	}
	return false;
}

/* An option with a value: --name VALUE or --name=VALUE. NULL: another option. */
static const char *take_value(const char *name, char **argv, int *at)
{
	size_t len = strlen(name);

	if (strncmp(argv[*at], name, len) != 0)
		return NULL;
	if (argv[*at][len] == '=')
		return argv[*at] + len + 1;
	if (argv[*at][len] != '\0')
		return NULL;
	if (!argv[*at + 1] || strcmp(argv[*at + 1], "--") == 0)
		return "";
	return argv[++*at];
}

enum option_kind {
	FLAG,     /* bool */
	TEXT,     /* const char *, not empty */
	ADDRESS,  /* the same, or no value: the default address */
	TEXTS,    /* struct mp_cli_list */
	DURATION, /* int64_t, in milliseconds */
	SPAN,     /* the same, "2d" too */
	ERA,      /* enum mp_era */
};

static const struct option {
	const char *name;
	enum option_kind kind;
	size_t offset;
	const char *expects; /* its value, for the error message */
	const char *help;    /* its name in a verb's help; NULL: its own name */
} options[] = {
#define OPTION(name, kind, field, expects)                                     \
	{                                                                      \
		name, kind, offsetof(struct mp_cli_args, field), expects, NULL \
	}
	{"--project", TEXT, offsetof(struct mp_cli_args, folder), "there is no folder behind",
	 "--project DIR"},
	{"--http", ADDRESS, offsetof(struct mp_cli_args, http), NULL, "--http [ADDR]"},
	OPTION("--json", FLAG, json, NULL),
	OPTION("--timeout", DURATION, timeout_ms, "a duration is 10s, 500ms or 2m, not"),
	OPTION("--era", ERA, era, "an era is auto, legacy or modern, not"),
	OPTION("--schema", TEXT, schema, "there is no name behind"),
	OPTION("--args", TEXT, args, "there is no JSON behind"),
	OPTION("--call", TEXT, call, "there is no tool behind"),
	OPTION("--config", TEXTS, config, "there is no file behind"),
	OPTION("--strict-config", FLAG, strict_config, NULL),
	OPTION("--all", FLAG, all, NULL),
	OPTION("--yes", FLAG, yes, NULL),
	OPTION("-y", FLAG, yes, NULL),
	OPTION("--project", FLAG, project, NULL),
	OPTION("--user", FLAG, user, NULL),
	OPTION("--user-file", FLAG, user_file, NULL),
	OPTION("--projects", TEXT, projects, "there is no word (always or ask) behind"),
	OPTION("--force", FLAG, force, NULL),
	OPTION("--fresh", FLAG, fresh, NULL),
	OPTION("--http", TEXT, http, "there is no address behind"),
	OPTION("--no-token", FLAG, no_token, NULL),
	OPTION("--no-check", FLAG, no_check, NULL),
	OPTION("--background", FLAG, background, NULL),
	OPTION("--log-json", FLAG, log_json, NULL),
	OPTION("--now", FLAG, now, NULL),
	OPTION("--session", TEXT, session, "there is no session behind"),
	OPTION("--parent", TEXT, parent, "there is no session behind"),
	OPTION("--rotate", FLAG, rotate, NULL),
	OPTION("--expires", TEXT, expires, "there is no duration behind"),
	OPTION("--libraries", FLAG, libraries, NULL),
	OPTION("--secrets", FLAG, secrets, NULL),
	OPTION("--no-browser", FLAG, no_browser, NULL),
	OPTION("--log-out", FLAG, log_out, NULL),
	OPTION("--fix", FLAG, fix, NULL),
	OPTION("--follow", FLAG, follow, NULL),
	OPTION("-f", FLAG, follow, NULL),
	OPTION("--hub", FLAG, hub, NULL),
	OPTION("--keep", FLAG, keep, NULL),
	OPTION("--save", TEXT, save, "there is no file behind"),
	OPTION("--id", TEXT, id, "there is no id behind"),
	OPTION("--watch", FLAG, watch, NULL),
	OPTION("--failed", FLAG, failed, NULL),
	OPTION("--export", FLAG, export, NULL),
	OPTION("--since", SPAN, since_ms, "a time is 2d, 12h or 30m, not"),
	OPTION("--server", TEXT, server, "there is no server behind"),
	OPTION("--for", TEXT, wanted_state, "there is no state behind"),
	OPTION("--write", FLAG, write, NULL),
	OPTION("--undo", FLAG, undo, NULL),
	OPTION("--profile", TEXT, profile, "there is no profile behind"),
	OPTION("--naming", TEXT, naming, "there is no style behind"),
	OPTION("--servers", TEXTS, servers, "there are no names behind"),
	OPTION("--tools", TEXTS, tools, "there is no pattern behind"),
	OPTION("--url", TEXT, url, "there is no address behind"),
	OPTION("--transport", TEXT, transport, "there is no transport behind"),
	OPTION("--token", TEXT, token, "there is no token behind"),
	OPTION("--token-env", TEXT, token_env, "there is no variable behind"),
	OPTION("--header", TEXTS, headers, "there is no header behind"),
	OPTION("--env", TEXTS, env, "there is no NAME=VALUE behind"),
	OPTION("--cwd", TEXT, cwd, "there is no folder behind"),
	OPTION("--unset", TEXTS, unset, "there is no key behind"),
	OPTION("--from", TEXT, from, "there is no tool behind"),
#undef OPTION
};

static int add_to_list(struct mp_cli_args *a, struct mp_cli_list *list, const char *value)
{
	if (list->n == MP_ARRAY_LEN(list->items))
		return args_usage(a, "there are too many of these:", value);
	list->items[list->n++] = value;
	return 0;
}

static int take_option(struct mp_cli_args *a, const struct option *o, const char *value)
{
	void *field = (char *)a + o->offset;
	bool ok = value[0] != '\0';

	switch (o->kind) {
	case FLAG:
		break;
	case TEXT:
		*(const char **)field = value;
		break;
	case ADDRESS:
		*(const char **)field = ok ? value : MP_USUAL_ADDRESS;
		return 0;
	case TEXTS:
		if (ok)
			return add_to_list(a, field, value);
		break;
	case DURATION:
		ok = read_duration(value, field);
		break;
	case SPAN:
		ok = mp_cli_read_span(value, field);
		break;
	case ERA:
		ok = read_era(value, field);
		break;
	}
	return ok ? 0 : args_usage(a, o->expects, value[0] ? value : o->name);
}

static int complain_option(const struct mp_cli_args *a, const char *word)
{
	const char *names[MP_ARRAY_LEN(options)], *like;
	size_t n = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(options); i++)
		if (is_allowed(a->verb, options[i].help ? options[i].help : options[i].name))
			names[n++] = options[i].name;
	like = mp_similar_find(word, names, n);
	if (!like)
		return args_usage(a, "there is no option", word);
	mp_cli_complain("there is no option '%s'. Did you mean '%s'? See `mcpool %s --help`.", word,
			like, a->verb->name);
	return MP_EXIT_USAGE + 1;
}

static int read_option(struct mp_cli_args *a, char **argv, int *at)
{
	const char *value;

	for (size_t i = 0; i < MP_ARRAY_LEN(options); i++) {
		const struct option *o = &options[i];

		if (!is_allowed(a->verb, o->help ? o->help : o->name))
			continue;
		if (o->kind == FLAG) {
			if (strcmp(argv[*at], o->name) != 0)
				continue;
			*(bool *)((char *)a + o->offset) = true;
			return 0;
		}
		value = o->kind == ADDRESS && strcmp(argv[*at], o->name) == 0 && argv[*at + 1] &&
					argv[*at + 1][0] == '-'
				? ""
				: take_value(o->name, argv, at);
		if (value)
			return take_option(a, o, value);
	}
	return complain_option(a, argv[*at]);
}

bool mp_cli_lacks_command(const struct mp_cli_args *a)
{
	if (a->command && a->command[0])
		return false;
	mp_cli_complain("%s needs a server: `mcpool %s ... -- COMMAND`, for example "
			"`-- npx -y @modelcontextprotocol/server-everything`.",
			a->verb->name, a->verb->name);
	return true;
}

bool mp_cli_lacks_session(const char *option, const char *value)
{
	if (!value || strcmp(value, "auto") == 0 ||
	    (value[0] != '0' && !value[strspn(value, "0123456789")]))
		return false;
	mp_cli_complain("%s %s: expected auto or an id of `mcpool status --json`", option, value);
	return true;
}

static int check_words(const struct mp_cli_args *a, int min, int max)
{
	if (a->n_words < min) {
		mp_cli_complain("missing argument: mcpool %s %s", a->verb->name,
				a->verb->arguments);
		return MP_EXIT_USAGE + 1;
	}
	if (max >= 0 && a->n_words > max)
		return args_usage(a, "this is one argument too many:", a->words[max]);
	if (a->verb->servers == MP_VERB_COMMAND && mp_cli_lacks_command(a))
		return MP_EXIT_USAGE + 1;
	if (a->verb->servers == MP_VERB_PLAIN && a->command)
		return args_usage(a, "nothing may stand behind", "--");
	return 0;
}

int mp_cli_read_args(const struct mp_verb *verb, int argc, char **argv, int min, int max,
		     struct mp_cli_args *a)
{
	int r;

	*a = (struct mp_cli_args){.verb = verb, .era = MP_ERA_BOTH, .words = argv};
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			a->command = argv + i + 1;
			break;
		}
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			mp_cli_show_help(verb);
			return MP_EXIT_DONE + 1;
		}
		if (argv[i][0] == '-' && argv[i][1] != '\0') {
			r = read_option(a, argv, &i);
			if (r)
				return r;
			continue;
		}
		a->words[a->n_words++] = argv[i]; /* in place: never ahead of the read position */
	}
	return check_words(a, min, max);
}

/* --- naming a command ------------------------------------------------------------------------ */

/* The last part of a path, without the file extension. */
static struct mp_str stem_of(struct mp_str path)
{
	static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb"};
	struct mp_str stem = path;

	while (stem.len && stem.p[stem.len - 1] == '/')
		stem.len--;
	for (size_t i = stem.len; i > 0; i--)
		if (stem.p[i - 1] == '/') {
			stem = (struct mp_str){stem.p + i, stem.len - i};
			break;
		}
	for (size_t i = 0; i < MP_ARRAY_LEN(endings); i++) {
		size_t n = strlen(endings[i]);

		if (stem.len > n && memcmp(stem.p + stem.len - n, endings[i], n) == 0)
			stem.len -= n;
	}
	return stem;
}

static bool is_one_of(struct mp_str word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mp_str_eq(word, mp_str_of(list[i])))
			return true;
	return false;
}

/* Skip index.js and dist/; use the folder around them. */
static struct mp_str telling_part(struct mp_str path)
{
	static const char *const dull[] = {"index", "main", "cli", "server", "dist",
					   "build", "src",  "lib", "bin",    "__main__"};
	struct mp_str stem = stem_of(path);

	while (is_one_of(stem, dull, MP_ARRAY_LEN(dull)) && stem.p > path.p + 1) {
		struct mp_str above = {path.p, (size_t)(stem.p - path.p)};
		struct mp_str next = stem_of(above);

		if (next.len == 0 || mp_str_eq(next, MP_STR(".")) || mp_str_eq(next, MP_STR("..")))
			break;
		path = above;
		stem = next;
	}
	return stem;
}

static const char *const runners[] = {"node", "nodejs", "npx",    "bunx",    "bun",    "deno",
				      "uvx",  "uv",     "python", "python3", "pipx",   "sh",
				      "bash", "env",    "tsx",    "ruby",    "docker", "mcpool"};

static bool is_runner(struct mp_str word)
{
	return is_one_of(stem_of(word), runners, MP_ARRAY_LEN(runners));
}

/* The value of an option that holds a secret: neither shown nor used as a file name. */
static bool is_behind_secret(char *const *command, size_t at)
{
	const char *before = command[at - 1];

	return before[0] == '-' &&
	       mp_redact_is_secret_name(mp_str_of(before + strspn(before, "-")));
}

/* The script or package that a runner runs; the runner itself if there is none. */
static struct mp_str find_script(char *const *command)
{
	for (size_t i = 1; command[i]; i++) {
		struct mp_str word = mp_str_of(command[i]);

		if (word.len && word.p[0] != '-' && !strpbrk(word.p, "= \t\n;") &&
		    !mp_str_eq(word, MP_STR("run")) && !is_runner(word) &&
		    !is_behind_secret(command, i))
			return telling_part(word);
	}
	return stem_of(mp_str_of(command[0]));
}

void mp_cli_name_command(char *const *command, char *out, size_t size)
{
	struct mp_str name = mp_str_of(command[0]);
	size_t n;

	name = is_runner(name) ? find_script(command) : stem_of(name);
	n = name.len < size - 1 ? name.len : size - 1;
	for (size_t i = 0; i < n; i++) {
		char c = name.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '-' || c == '_' || (c == '.' && i);

		out[i] = plain ? c : '_';
	}
	out[n] = '\0';
	if (n == 0)
		snprintf(out, size, "server");
}
