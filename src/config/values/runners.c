/*
 * runners.c - programs that run what files say: npm, make, python -m and the like.
 * The files that they read first are covered by their content, and so are the scripts that a
 * package.json names. What those run in turn is not, and people are told so.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "files/file.h"
#include "config/values/script_search.h"
#include "config/values/scripts.h"
#include "json/tape.h"
#include "json/value.h"

enum {
	MODULE_FILES = 256, /* of a Python package; a larger one is trusted as a folder */
	MODULE_DEPTH = 8,
	MODULE_NAMES = 1024, /* in one folder */
};

enum {
	RUNS_BIN = 1 << 0,     /* a word may be a program in node_modules/.bin */
	RUNS_PACKAGE = 1 << 1, /* the scripts in package.json */
	RUNS_MODULE = 1 << 2,  /* -m MODULE */
};

static const struct runner {
	const char *name;
	unsigned flags;
	const char *files[6];
} runners[] = {
	{"npm", RUNS_BIN | RUNS_PACKAGE, {"package.json", ".npmrc"}},
	{"npx", RUNS_BIN, {".npmrc"}},
	{"pnpm", RUNS_BIN | RUNS_PACKAGE, {"package.json", ".npmrc", ".pnpmfile.cjs"}},
	{"pnpx", RUNS_BIN, {".npmrc"}},
	{"yarn", RUNS_BIN | RUNS_PACKAGE, {"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml"}},
	{"bun", RUNS_BIN | RUNS_PACKAGE, {"package.json", ".npmrc", "bunfig.toml"}},
	{"bunx", RUNS_BIN, {".npmrc", "bunfig.toml"}},
	{"make", 0, {"GNUmakefile", "makefile", "Makefile"}},
	{"gmake", 0, {"GNUmakefile", "makefile", "Makefile"}},
	{"just", 0, {"justfile", "Justfile", ".justfile"}},
	{"python", RUNS_MODULE, {NULL}},
	{"pypy", RUNS_MODULE, {NULL}},
	{"uv", RUNS_MODULE, {"pyproject.toml", "uv.toml"}},
	{"uvx", 0, {"uv.toml"}},
	{"poetry", RUNS_MODULE, {"pyproject.toml", "poetry.toml"}},
	{"cargo", 0, {"Cargo.toml", "build.rs", ".cargo/config.toml"}},
	{"deno", 0, {"deno.json", "deno.jsonc"}},
	{"rake", 0, {"Rakefile", "rakefile"}},
	{"bundle", 0, {"Gemfile"}},
};
_Static_assert(MP_ARRAY_LEN(runners) <= 8 * sizeof(unsigned), "a bit for each row");

/* --- which ----------------------------------------------------------------------------------- */

static struct mp_str last_part(struct mp_str word)
{
	size_t at = word.len;

	while (at > 0 && word.p[at - 1] != '/')
		at--;
	return (struct mp_str){word.p + at, word.len - at};
}

/* python3.12 is python. */
static bool is_runner(const struct runner *r, struct mp_str word)
{
	if (!(r->flags & RUNS_MODULE))
		return mp_str_eq(word, mp_str_of(r->name));
	if (!mp_str_starts(word, mp_str_of(r->name)))
		return false;
	for (size_t i = strlen(r->name); i < word.len; i++)
		if (!strchr("0123456789.", word.p[i]))
			return false;
	return true;
}

static unsigned named_flags(const struct mp_search *s)
{
	unsigned flags = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(runners); i++)
		if (s->runners >> i & 1)
			flags |= runners[i].flags;
	return flags;
}

static int tell_runner(struct mp_search *s, const char *name)
{
	char line[40];
	struct mp_buf *out = s->budget->runners;

	snprintf(line, sizeof(line), "%s\n", name);
	return out && mp_str_find(mp_buf_get(out), mp_str_of(line), 0) < 0
		       ? mp_buf_add_str(out, mp_str_of(line))
		       : 0;
}

/* --- python -m -------------------------------------------------------------------------------- */

/* Not as a locale sorts: it is part of an id. */
static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_source(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, ".py") == 0;
}

static int try_package(struct mp_search *s, const char *folder, int depth, size_t *left);

static int try_member(struct mp_search *s, const char *folder, const char *name, int depth,
		      size_t *left)
{
	char path[PATH_MAX];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path) ||
	    lstat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return try_package(s, path, depth + 1, left);
	if (!is_source(name) || *left == 0)
		return 0;
	--*left;
	return mp_search_try_path(s, path);
}

/* The names in a folder, sorted; hidden ones and caches are left out. */
static int list_names(const char *folder, struct mp_arena *arena, const char ***ret_names,
		      size_t *ret_n)
{
	const char **names = mp_arena_alloc_array(arena, MODULE_NAMES, sizeof(*names));
	DIR *dir = names ? opendir(folder) : NULL;
	struct dirent *d;
	size_t n = 0;
	int r = names ? 0 : mp_arena_get_error(arena);

	while (dir && r == 0 && n < MODULE_NAMES && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || strcmp(d->d_name, "__pycache__") == 0)
			continue;
		names[n] = mp_arena_dup(arena, mp_str_of(d->d_name));
		if (!names[n++])
			r = mp_arena_get_error(arena);
	}
	if (dir)
		closedir(dir);
	if (n > 1)
		qsort(names, n, sizeof(*names), by_name);
	*ret_names = names;
	*ret_n = n;
	return r;
}

/* Its sources, in a fixed order, as far as the limit goes. */
static int try_package(struct mp_search *s, const char *folder, int depth, size_t *left)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char **names;
	size_t n;
	int r;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (depth >= MODULE_DEPTH || *left == 0)
		return 0;
	r = list_names(folder, &arena, &names, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = try_member(s, folder, names[i], depth, left);
	return r;
}

/* The package of a.b.c is the folder a; a module may also be the file a/b/c.py. */
static int try_module(struct mp_search *s, struct mp_str module)
{
	size_t bases = s->n_bases, left = MODULE_FILES, top = 0;
	char path[PATH_MAX];
	int r = 0;

	if (module.len == 0 || module.len >= sizeof(path))
		return 0;
	for (size_t i = 0; i < module.len; i++)
		path[i] = module.p[i] == '.' ? '/' : module.p[i];
	r = tell_runner(s, "python -m");
	if (r == 0)
		r = mp_search_try_at(s, (struct mp_str){path, module.len});
	while (top < module.len && module.p[top] != '.')
		top++;
	if (r == 0)
		r = mp_search_try_at(s, (struct mp_str){module.p, top});
	for (size_t i = 0; i < bases && r == 0; i++)
		if ((size_t)snprintf(path, sizeof(path), "%s/%.*s", s->bases[i], (int)top,
				     module.p) < sizeof(path))
			r = try_package(s, path, 0, &left);
	return r;
}

/* --- node_modules ------------------------------------------------------------------------------
 */

/* `npx tool@1.2` runs node_modules/.bin/tool where there is one. */
static int try_bin(struct mp_search *s, struct mp_str word)
{
	struct mp_str name = last_part(word);
	char path[300];
	size_t n = 0;

	while (n < name.len && (n == 0 || name.p[n] != '@'))
		n++;
	if (n == 0 || n > 200 || name.p[0] == '-' || name.p[0] == '.')
		return 0;
	snprintf(path, sizeof(path), "node_modules/.bin/%.*s", (int)n, name.p);
	return mp_search_try_at(s, mp_str_of(path));
}

int mp_search_try_runner(struct mp_search *s, struct mp_str word)
{
	bool after_m = s->after_m;
	unsigned flags = named_flags(s);
	int r = 0;

	s->after_m = mp_str_eq(word, MP_STR("-m"));
	for (size_t i = 0; i < MP_ARRAY_LEN(runners) && r == 0; i++)
		if (!(s->runners >> i & 1) && is_runner(&runners[i], last_part(word))) {
			s->runners |= 1u << i;
			if (!(runners[i].flags & RUNS_MODULE) || runners[i].files[0])
				r = tell_runner(s, runners[i].name);
		}
	if (r == 0 && (flags & RUNS_MODULE) && after_m)
		r = try_module(s, word);
	else if (r == 0 && (flags & RUNS_MODULE) && word.len > 2 &&
		 mp_str_starts(word, MP_STR("-m")))
		r = try_module(s, (struct mp_str){word.p + 2, word.len - 2});
	if (r == 0 && (flags & RUNS_BIN))
		r = try_bin(s, word);
	return r;
}

/* --- files ------------------------------------------------------------------------------------ */

static int try_scripts(struct mp_search *s, const struct mp_tape *t, mp_value scripts)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	int r = 0;

	mp_arena_init(&arena, MP_LIMIT_CONFIG_FILE * 2);
	if (!mp_value_is(t, scripts, MP_TAPE_OBJECT))
		return 0;
	MP_VALUE_EACH(t, scripts, key) {
		struct mp_str text;
		const char *copy;

		if (!mp_value_is(t, mp_value_of(key), MP_TAPE_STRING))
			continue;
		r = mp_value_text(t, mp_value_of(key), &arena, &text);
		if (r < 0)
			return r;
		copy = mp_arena_dup(&arena, text);
		r = copy ? mp_search_try_text(s, copy) : mp_arena_get_error(&arena);
		if (r < 0)
			return r;
	}
	return 0;
}

/* One that cannot be read or parsed is npm's problem: it is covered as it is. */
static int try_package_json(struct mp_search *s, const char *folder)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char path[PATH_MAX];
	int r;

	mp_tape_init(&t, 0);
	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE + 1);
	if ((size_t)snprintf(path, sizeof(path), "%s/package.json", folder) >= sizeof(path))
		return 0;
	r = mp_file_read(path, MP_LIMIT_CONFIG_FILE, &text, NULL);
	if (r == 0)
		r = mp_tape_parse(&t, mp_buf_get(&text), NULL);
	if (r < 0)
		return r == MCPOOL_ENOMEM ? r : 0;
	return try_scripts(s, &t, mp_value_get(&t, MP_ROOT, "scripts"));
}

int mp_search_try_runner_files(struct mp_search *s)
{
	size_t bases = s->n_bases;
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(runners) && r == 0; i++)
		for (size_t f = 0; s->runners >> i & 1 && runners[i].files[f] && r == 0; f++)
			r = mp_search_try_at(s, mp_str_of(runners[i].files[f]));
	if (!(named_flags(s) & RUNS_PACKAGE) || s->has_read_package)
		return r;
	s->has_read_package = true; /* its own scripts may say npm again */
	for (size_t i = 0; i < bases && r == 0; i++)
		if (mp_file_is_below(s->bases[i], s->e->origin.root) ||
		    strcmp(s->bases[i], s->e->origin.root) == 0)
			r = try_package_json(s, s->bases[i]);
	return r;
}
