/*
 * scripts.c - the files inside a project that an entry names, by their content.
 * `node ./server.js` stays the same while server.js changes (V06). Words are taken apart
 * generously, because hashing a file too many costs nothing and one too few is a hole: at blanks,
 * at the characters that part words in a shell, around placeholders, and from every folder that a
 * relative path may start at. What a placeholder stands for is never asked; the project's folder is
 * tried in its place.
 */
#include "config/scripts.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/file.h"
#include "store/digest.h"

enum { MOST_BASES = 8 };

struct search {
	const struct mp_entry *e;
	char bases[MOST_BASES][PATH_MAX]; /* relative words start at one of these */
	size_t n_bases;
	struct mp_buf *out;
	struct mcpool_error *reterr;
	struct mp_scripts_budget *budget;
	size_t tried;
};

/* --- one file -------------------------------------------------------------------------------- */

/* The part of a path that mp_file_is_below(). */
static const char *below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return path + n + (path[n] == '/');
}

static void feed(void *u, const void *bytes, size_t n)
{
	mp_digest_add_bytes(u, bytes, n);
}

/* Does a line begin with this? */
static bool has_line(const struct mp_buf *out, const char *beginning)
{
	struct mp_str line = mp_str_of(beginning);
	ptrdiff_t at = 0;

	while ((at = mp_str_find(mp_buf_get(out), line, (size_t)at)) >= 0) {
		if (at == 0 || out->data[at - 1] == '\n')
			return true;
		at++;
	}
	return false;
}

/* A name with a line break in it could look like two lines, one of them approved. */
static int check_name(struct search *s, const char *name)
{
	if (!strpbrk(name, "\t\n"))
		return 0;
	return mp_fail(s->reterr, MCPOOL_EINVAL,
		       "a file that it names has a tab or a line break in its name");
}

static int add_content(struct search *s, const char *name, const char *real)
{
	struct mp_digest *d = mp_digest_new();
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1];
	struct mcpool_error why;
	size_t limit = s->budget->bytes < MP_LIMIT_SCRIPT ? s->budget->bytes : MP_LIMIT_SCRIPT;
	int64_t size = mp_file_each_piece(real, limit, feed, d, &why);

	if (size < 0) {
		mp_digest_free(d);
		return mp_fail(s->reterr, MCPOOL_EINVAL,
			       "%s, which it names, cannot be checked: %s", name, why.message);
	}
	s->budget->bytes -= (size_t)size;
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	return mp_buf_addf(s->out, "%s\t%s\n", name, hex);
}

/* Folders are not looked into, but `cd sub && ./run.sh` starts there. */
static void add_folder(struct search *s, const char *real)
{
	for (size_t i = 0; i < s->n_bases; i++)
		if (strcmp(s->bases[i], real) == 0)
			return;
	if (s->n_bases < MOST_BASES)
		snprintf(s->bases[s->n_bases++], PATH_MAX, "%s", real);
}

static int add_inside(struct search *s, const char *real, mode_t mode)
{
	const char *name = below(real, s->e->origin.root);
	char beginning[PATH_MAX + 2];
	int r = S_ISDIR(mode) ? 0 : check_name(s, name);

	if (S_ISDIR(mode))
		add_folder(s, real);
	if (r < 0 || S_ISDIR(mode))
		return r;
	if (!S_ISREG(mode))
		return mp_fail(s->reterr, MCPOOL_EINVAL,
			       "%s, which it names, is no file and cannot be checked", name);
	snprintf(beginning, sizeof(beginning), "%s\t", name);
	return has_line(s->out, beginning) ? 0 : add_content(s, name, real);
}

/* A link in the project that leads out of it: where to is part of what is approved. */
static int add_link(struct search *s, const char *path, const char *real)
{
	const char *name = below(path, s->e->origin.root);
	char line[2 * PATH_MAX + 8];
	int n = snprintf(line, sizeof(line), "%s\t-> %s\n", name, real);
	int r = check_name(s, name);

	if (r == 0)
		r = check_name(s, real);
	if (r < 0 || n < 0 || (size_t)n >= sizeof(line) || has_line(s->out, line))
		return r;
	return mp_buf_add(s->out, line, (size_t)n);
}

static int try_path(struct search *s, const char *path)
{
	const char *root = s->e->origin.root;
	char real[PATH_MAX];
	struct stat st;

	if (!realpath(path, real) || stat(real, &st) < 0)
		return 0;
	if (mp_file_is_below(real, root))
		return add_inside(s, real, st.st_mode);
	return mp_file_is_below(path, root) && strcmp(real, root) != 0 ? add_link(s, path, real)
								       : 0;
}

/* `node ./main` runs main.js. */
static int try_endings(struct search *s, const char *path)
{
	static const char *const endings[] = {"", ".js", ".mjs", ".cjs", ".ts", ".py", ".sh"};
	char full[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(endings) && r == 0; i++)
		if ((size_t)snprintf(full, sizeof(full), "%s%s", path, endings[i]) < sizeof(full))
			r = try_path(s, full);
	return r;
}

/* --- words ----------------------------------------------------------------------------------- */

static bool is_used_up(const struct search *s)
{
	return s->tried > MP_LIMIT_SCRIPT_WORDS || s->budget->words == 0;
}

/* A path, from every folder that it may start at. */
static int try_at(struct search *s, struct mp_str word)
{
	char path[PATH_MAX];
	int r = 0;

	if (word.len == 0 || is_used_up(s) || memchr(word.p, '\0', word.len))
		return 0;
	s->tried++;
	s->budget->words--;
	if (word.len >= sizeof(path))
		return 0;
	if (word.p[0] == '/') {
		snprintf(path, sizeof(path), "%.*s", MP_STR_ARGS(word));
		return try_endings(s, path);
	}
	for (size_t i = 0; i < s->n_bases && r == 0; i++) {
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
static int try_ends(struct search *s, struct mp_str word)
{
	int r = 0;

	for (size_t i = 0; i < word.len && r == 0; i++)
		if (word.p[i] == '/')
			r = try_at(s, (struct mp_str){word.p + i + 1, word.len - i - 1});
	return r;
}

static int try_word(struct search *s, struct mp_str word)
{
	struct mp_str rest = word;
	int r = try_at(s, word);

	while (rest.len && rest.p[0] == '-')
		rest = (struct mp_str){rest.p + 1, rest.len - 1};
	if (r == 0 && rest.len < word.len)
		r = try_at(s, rest); /* the default in ${X:-server.js} */
	if (r == 0 && (rest.len < word.len || has_placeholder(word)))
		r = try_ends(s, word);
	return r;
}

static int try_parts(struct search *s, const char *text, const char *separators)
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

/* As a whole, as a shell would part it, and with placeholders opened up. */
static int try_text(struct search *s, const char *text)
{
#define SHELL " \t\n\r;|&<>()'\"`=:,!"
	int r = try_word(s, mp_str_of(text));

	if (r == 0)
		r = try_parts(s, text, SHELL);
	if (r == 0 && strpbrk(text, "${}[]@"))
		r = try_parts(s, text, SHELL "${}[]@");
#undef SHELL
	return r;
}

/* A command without a slash is looked up in the PATH that the entry itself sets. */
static int try_search_path(struct search *s, const char *folders)
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

static void MP_PRINTF(2, 3) add_base(struct search *s, const char *format, ...)
{
	char *base = s->bases[s->n_bases];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(base, PATH_MAX, format, args);
	va_end(args);
	if (n > 0 && n < PATH_MAX)
		s->n_bases++;
}

/* What stands behind the first slash of a text with a placeholder; else all of it. */
static struct mp_str without_placeholder(struct mp_str text)
{
	const char *slash =
		text.len && has_placeholder(text) ? memchr(text.p, '/', text.len) : NULL;
	size_t n = slash ? (size_t)(slash - text.p) + 1 : 0;

	return (struct mp_str){text.p + n, text.len - n};
}

/* Where it would run, as far as that can be said without expanding anything (see resolve.c). */
static void find_bases(struct search *s)
{
	const struct mp_origin *o = &s->e->origin;
	const char *cwd = s->e->cwd ? s->e->cwd : "";
	struct mp_str rest = without_placeholder(mp_str_of(cwd));
	const char *slash = strrchr(o->file, '/');
	int folder = slash ? (int)(slash - o->file) : 0;
	bool from_file = (o->quirks & MP_QUIRK_FROM_FILE) && slash;

	add_base(s, "%s", o->root);
	if (cwd[0] == '/')
		add_base(s, "%s", cwd);
	else if (rest.len)
		add_base(s, "%s/%.*s", o->root, MP_STR_ARGS(rest));
	if (slash) /* commands of some tools, and everybody's {file:x} */
		add_base(s, "%.*s", folder, o->file);
	if (from_file && rest.len && cwd[0] != '/')
		add_base(s, "%.*s/%.*s", folder, o->file, MP_STR_ARGS(rest));
}

static int try_maps(struct search *s)
{
	const struct mp_entry *e = s->e;
	int r = 0;

	for (size_t i = 0; i < e->env.n && r == 0; i++) {
		r = try_text(s, e->env.items[i].value);
		if (r == 0 && strcmp(e->env.items[i].key, "PATH") == 0)
			r = try_search_path(s, e->env.items[i].value);
	}
	for (size_t i = 0; i < e->headers.n && r == 0; i++)
		if (e->headers.items[i].value[0] == '!') /* a command that gives the value */
			r = try_text(s, e->headers.items[i].value);
	for (size_t i = 0; i < e->tls.n && r == 0; i++)
		r = try_text(s, e->tls.items[i].value);
	return r;
}

static int try_all(struct search *s)
{
	const struct mp_entry *e = s->e;
	int r = 0;

	for (size_t i = 0; i < e->argc && r == 0; i++)
		r = try_text(s, e->argv[i]);
	if (r == 0)
		r = try_maps(s);
	if (r == 0 && e->headers_helper)
		r = try_text(s, e->headers_helper);
	if (r == 0 && e->env_file)
		r = try_text(s, e->env_file);
	return r;
}

int mp_scripts_add_within(const struct mp_entry *e, struct mp_scripts_budget *budget,
			  struct mp_buf *out, struct mcpool_error *reterr)
{
	struct search s = {.e = e, .out = out, .reterr = reterr, .budget = budget};
	size_t bases;
	int r;

	if (!e->origin.root[0])
		return 0;
	find_bases(&s);
	bases = s.n_bases;
	r = try_all(&s);
	if (r == 0 && s.n_bases > bases) /* folders that were named behind what starts in them */
		r = try_all(&s);
	if (r == 0 && is_used_up(&s))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "its command has too many words to be checked");
	return r;
}

int mp_scripts_add(const struct mp_entry *e, struct mp_buf *out, struct mcpool_error *reterr)
{
	struct mp_scripts_budget budget = MP_SCRIPTS_BUDGET;

	return mp_scripts_add_within(e, &budget, out, reterr);
}
