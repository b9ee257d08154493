/*
 * scripts.c - the files inside a project that an entry names, by their content.
 * `node ./server.js` stays the same while server.js changes (V06). Words are taken apart
 * generously, because hashing a file too many costs nothing and one too few is a hole: at blanks,
 * at the characters that part words in a shell, as a shell unquotes them, around placeholders and
 * with their defaults, and from every folder that a relative path may start at. Placeholders are
 * not resolved here; the project's folder is tried instead. Once the values are known,
 * mp_scripts_check() looks again, and what was not covered is refused.
 */
#include "config/values/scripts.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/values/envfile.h"
#include "files/file.h"
#include "config/values/script_search.h"
#include "store/digest.h"

/* --- words ----------------------------------------------------------------------------------- */

/* `node ./main` runs main.js. */
static int try_endings(struct mp_search *s, const char *path)
{
	static const char *const endings[] = {"", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh"};
	char full[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(endings) && r == 0; i++)
		if ((size_t)snprintf(full, sizeof(full), "%s%s", path, endings[i]) < sizeof(full))
			r = mp_search_try_path(s, full);
	return r;
}

/* Can no more words be tried? */
static bool search_is_used_up(const struct mp_search *s)
{
	return s->tried > MP_LIMIT_SCRIPT_WORDS || s->budget->words == 0;
}

int mp_search_try_at(struct mp_search *s, struct mp_str word)
{
	size_t bases = s->n_bases; /* those that this word adds are for the next round */
	char path[PATH_MAX];
	int r = 0;

	if (word.len == 0 || search_is_used_up(s) || memchr(word.p, '\0', word.len))
		return 0;
	s->tried++;
	s->budget->words--;
	if (word.len >= sizeof(path))
		return 0;
	if (word.p[0] == '/') {
		snprintf(path, sizeof(path), "%.*s", MP_STR_ARGS(word));
		return try_endings(s, path);
	}
	for (size_t i = 0; i < bases && r == 0; i++) {
		int n = snprintf(path, sizeof(path), "%s/%.*s", s->bases[i], MP_STR_ARGS(word));

		if (n > 0 && (size_t)n < sizeof(path))
			r = try_endings(s, path);
	}
	return r;
}

static bool has_placeholder(struct mp_str word)
{
	return word.len &&
	       (word.p[0] == '~' || memchr(word.p, '$', word.len) || memchr(word.p, '{', word.len));
}

/*
 * ${workspaceFolder}/x, ~/project/x, -r./x: behind any of the slashes it may be the project's, so
 * each end of the word is tried.
 */
static int try_ends(struct mp_search *s, struct mp_str word)
{
	int r = 0;

	for (size_t i = 0; i < word.len && r == 0; i++)
		if (word.p[i] == '/')
			r = mp_search_try_at(s, (struct mp_str){word.p + i + 1, word.len - i - 1});
	return r;
}

static int try_word(struct mp_search *s, struct mp_str word)
{
	struct mp_str rest = word;
	int r = mp_search_try_at(s, word);

	while (rest.len && rest.p[0] == '-')
		rest = (struct mp_str){rest.p + 1, rest.len - 1};
	if (r == 0 && rest.len < word.len)
		r = mp_search_try_at(s, rest); /* the default in ${X:-server.js} */
	if (r == 0 && (rest.len < word.len || has_placeholder(word)))
		r = try_ends(s, word);
	if (r == 0 && s->in_command)
		r = mp_search_try_runner(s, word);
	return r;
}

static int try_parts(struct mp_search *s, const char *text, const char *separators)
{
	size_t all = strlen(text);
	int r = 0;

	while (r == 0 && *text) {
		size_t n = strcspn(text, separators);

		if (n < all)
			r = try_word(s, (struct mp_str){text, n});
		text += n;
		text += strspn(text, separators);
	}
	return r;
}

/* --- as a shell reads it ---------------------------------------------------------------------- */

/* One word from *at, which goes on, without its quotes and backslashes. */
static size_t scripts_unquote(const char **at, char *out)
{
	const char *p = *at;
	char quote = '\0';
	size_t n = 0;

	for (; *p && (quote || !strchr(" \t\n\r;|&<>()`", *p)); p++) {
		if (*p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			out[n++] = *++p;
		else
			out[n++] = *p;
	}
	*at = p;
	return n;
}

/* './serv er.sh' and serv\er.sh within a longer text. */
static int try_unquoted(struct mp_search *s, const char *text)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	char *word;
	int r = 0;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!strpbrk(text, "'\"\\"))
		return 0;
	word = mp_arena_alloc(&arena, strlen(text) + 1);
	if (!word)
		return mp_arena_get_error(&arena);
	while (r == 0 && *text) {
		size_t n;

		text += strspn(text, " \t\n\r;|&<>()`");
		n = scripts_unquote(&text, word);
		r = try_word(s, (struct mp_str){word, n});
	}
	return r;
}

/* --- defaults --------------------------------------------------------------------------------- */

/* The last "${" before end; NULL: there is none. */
static char *find_last(char *text, size_t end)
{
	while (end-- > 0)
		if (text[end] == '$' && text[end + 1] == '{')
			return text + end;
	return NULL;
}

/* ${NAME:-default} becomes its default, from the innermost on; false: there is no such. */
static bool put_defaults(char *text)
{
	size_t end = strlen(text);
	bool found = false;
	char *open;

	while ((open = find_last(text, end))) {
		char *close = strchr(open, '}');
		char *colon = strstr(open, ":-");

		end = (size_t)(open - text);
		if (!close || !colon || colon > close)
			continue;
		memmove(open, colon + 2, (size_t)(close - colon - 2));
		memmove(open + (close - colon - 2), close + 1, strlen(close + 1) + 1);
		found = true;
	}
	return found;
}

/* The text with its defaults from the arena; NULL: it has none. *ret_error: no memory. */
static char *with_defaults(struct mp_arena *arena, const char *text, int *ret_error)
{
	char *copy;

	if (!strstr(text, ":-"))
		return NULL;
	copy = mp_arena_dup(arena, mp_str_of(text));
	if (!copy)
		*ret_error = mp_arena_get_error(arena);
	return copy && put_defaults(copy) ? copy : NULL;
}

/* --- a text ----------------------------------------------------------------------------------- */

/* file:///a/%62 as a path. */
static int try_url(struct mp_search *s, const char *text)
{
	const char *url = strstr(text, "file://");
	char path[PATH_MAX];
	size_t n = 0;
	unsigned code;

	if (!url)
		return 0;
	for (const char *p = url + 7; *p && !strchr(" \t\n\"'", *p) && n + 1 < sizeof(path); p++)
		/* Two hex digits cannot be too large. NOLINTNEXTLINE(cert-err34-c) */
		if (*p == '%' && sscanf(p + 1, "%2x", &code) == 1 && p[1] && p[2] && code)
			path[n++] = (char)code, p += 2;
		else
			path[n++] = *p;
	return try_word(s, (struct mp_str){path, n});
}

static int try_plain(struct mp_search *s, const char *text)
{
#define SHELL " \t\n\r;|&<>()'\"`=:,!"
	int r = try_word(s, mp_str_of(text));

	if (r == 0)
		r = try_parts(s, text, SHELL);
	if (r == 0 && strpbrk(text, "${}[]@"))
		r = try_parts(s, text, SHELL "${}[]@");
#undef SHELL
	if (r == 0)
		r = try_unquoted(s, text);
	return r == 0 ? try_url(s, text) : r;
}

/* As a whole, as a shell would part it, and with placeholders opened up or by their defaults. */
int mp_search_try_text(struct mp_search *s, const char *text)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	int r = try_plain(s, text);
	char *filled;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	filled = r == 0 ? with_defaults(&arena, text, &r) : NULL;
	return filled ? try_plain(s, filled) : r;
}

/* A command without a slash is looked up in a PATH. */
static int try_search_path(struct mp_search *s, const char *folders)
{
	const char *command = s->e->argc ? s->e->argv[0] : "";
	char path[PATH_MAX];
	int r = 0;

	if (strchr(command, '/') || !command[0])
		return 0;
	while (r == 0 && *folders) {
		size_t n = strcspn(folders, ":");
		int len = snprintf(path, sizeof(path), "%.*s%s%s", (int)n, folders, n ? "/" : "",
				   command);

		if (len > 0 && (size_t)len < sizeof(path))
			r = try_word(s, mp_str_of(path));
		folders += n + (folders[n] == ':');
	}
	return r;
}

/* --- the whole ------------------------------------------------------------------------------- */

static int MP_PRINTF(2, 3) add_base(struct mp_search *s, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return n > 0 && (size_t)n < sizeof(path) ? mp_search_add_base(s, path) : 0;
}

/* The part after the first slash of a text with a placeholder; else all of it. */
static struct mp_str without_placeholder(struct mp_str text)
{
	const char *slash =
		text.len && has_placeholder(text) ? memchr(text.p, '/', text.len) : NULL;
	size_t n = slash ? (size_t)(slash - text.p) + 1 : 0;

	return (struct mp_str){text.p + n, text.len - n};
}

/* The folder `cwd` below `from`; an absolute one is what it is. */
static int add_cwd(struct mp_search *s, struct mp_str from, const char *cwd)
{
	struct mp_str rest = without_placeholder(mp_str_of(cwd));

	if (cwd[0] == '/')
		return add_base(s, "%s", cwd);
	return rest.len ? add_base(s, "%.*s/%.*s", MP_STR_ARGS(from), MP_STR_ARGS(rest)) : 0;
}

/* Where it would run, as far as that can be said without expanding anything (see resolve.c). */
static int find_bases(struct mp_search *s)
{
	const struct mp_origin *o = &s->e->origin;
	const char *cwd = s->e->cwd ? s->e->cwd : "";
	const char *slash = strrchr(o->file, '/');
	struct mp_str root = mp_str_of(o->root);
	struct mp_str folder = {o->file, slash ? (size_t)(slash - o->file) : 0};
	bool from_file = (o->quirks & MP_QUIRK_FROM_FILE) && slash;
	int r = add_base(s, "%s", o->root);
	char *filled = r == 0 ? with_defaults(&s->arena, cwd, &r) : NULL;

	if (r == 0)
		r = add_cwd(s, root, cwd);
	if (r == 0 && slash) /* commands of some tools, and {file:x} of all */
		r = add_base(s, "%.*s", MP_STR_ARGS(folder));
	if (r == 0 && from_file)
		r = add_cwd(s, folder, cwd);
	if (r == 0 && filled)
		r = add_cwd(s, root, filled);
	return r == 0 && filled && from_file ? add_cwd(s, folder, filled) : r;
}

/* The folder it runs in counts as one that it names: it may be a link, and people are told. */
static int try_cwd(struct mp_search *s)
{
	const char *cwd = s->e->cwd ? s->e->cwd : "";
	bool is_plain = !cwd[0] || strcmp(cwd, ".") == 0;
	int r = 0;

	if (s->e->kind != MP_KIND_STDIO)
		return 0;
	for (size_t i = 0, n = s->n_bases; i < n && r == 0; i++)
		if (is_plain ? i == 0 : i > 0)
			r = mp_search_try_path(s, s->bases[i]);
	return r;
}

static int try_variable(struct mp_search *s, const char *name, const char *value)
{
	int r;

	s->in_command = value[0] == '!';
	r = mp_search_try_text(s, value);
	s->in_command = false;
	return r == 0 && strcmp(name, "PATH") == 0 ? try_search_path(s, value) : r;
}

static int try_layer(struct mp_search *s)
{
	int r = 0;

	for (char **pair = s->e->env_layer; pair && *pair && r == 0; pair++) {
		size_t n = strcspn(*pair, "=");

		r = mp_search_try_text(s, *pair + n + 1);
		if (r == 0 && n == 4 && strncmp(*pair, "PATH", 4) == 0)
			r = try_search_path(s, *pair + 5);
	}
	return r;
}

static int try_maps(struct mp_search *s)
{
	const struct mp_entry *e = s->e;
	int r = 0;

	for (size_t i = 0; i < e->env.n && r == 0; i++)
		r = try_variable(s, e->env.items[i].key, e->env.items[i].value);
	for (size_t i = 0; i < e->headers.n && r == 0; i++)
		if (e->headers.items[i].value[0] == '!') /* a command that gives the value */
			r = try_variable(s, "", e->headers.items[i].value);
	for (size_t i = 0; i < e->tls.n && r == 0; i++)
		r = mp_search_try_text(s, e->tls.items[i].value);
	return r;
}

static int try_command(struct mp_search *s)
{
	int r = 0;

	s->in_command = true;
	for (size_t i = 0; i < s->e->argc && r == 0; i++)
		r = mp_search_try_text(s, s->e->argv[i]);
	s->in_command = s->after_m = false;
	return r;
}

static int try_all(struct mp_search *s)
{
	const struct mp_entry *e = s->e;
	int r = try_command(s);

	if (r == 0)
		r = try_maps(s);
	if (r == 0 && e->headers_helper)
		r = mp_search_try_text(s, e->headers_helper);
	if (r == 0 && e->env_file)
		r = mp_search_try_text(s, e->env_file);
	if (r == 0)
		r = try_layer(s);
	return r == 0 ? mp_search_try_runner_files(s) : r;
}

/* Folders may be named behind what starts in them, and below each other. */
static int scripts_search(struct mp_search *s)
{
	size_t bases;
	int r = find_bases(s);

	if (r == 0)
		r = try_cwd(s);
	do {
		bases = s->n_bases;
		if (r == 0)
			r = try_all(s);
	} while (r == 0 && s->n_bases > bases);
	if (r == 0 && search_is_used_up(s))
		r = mp_fail(s->reterr, MCPOOL_EINVAL,
			    "its command has too many words to be checked");
	return r;
}

int mp_scripts_add_within(const struct mp_entry *e, struct mp_scripts_budget *budget,
			  struct mp_buf *out, struct mcpool_error *reterr)
{
	struct mp_search s = {.e = e, .out = out, .reterr = reterr, .budget = budget};
	int r;

	if (!e->origin.root[0])
		return 0;
	mp_arena_init(&s.arena, MP_LIMIT_ARENA);
	r = scripts_search(&s);
	mp_arena_done(&s.arena);
	return r;
}
