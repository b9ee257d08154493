/*
 * sources.c - where the files of the table are: the folders their paths start from.
 */
#include "config/read/sources.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/values/expand.h"

bool mp_sources_has_tool(const char *tool)
{
	for (size_t i = 0; i < mp_sources_n; i++)
		if (strcmp(mp_sources[i].tool, tool) == 0)
			return true;
	return false;
}

/* false: there is no such folder, or the path is too long. */
static bool write_path(char *out, size_t size, const char *folder, const char *path)
{
	int n;

	if (!folder)
		return false;
	n = snprintf(out, size, "%s%s%s", path[0] && strcmp(folder, "/") == 0 ? "" : folder,
		     path[0] ? "/" : "", path);
	return n > 0 && (size_t)n < size;
}

static const char *sources_join(struct mp_arena *arena, const char *folder, const char *path)
{
	char text[PATH_MAX];

	return write_path(text, sizeof(text), folder, path) ? mp_arena_dup(arena, mp_str_of(text))
							    : NULL;
}

const char *mp_source_get_path(const struct mp_source *s, const struct mp_places *p,
			       struct mp_arena *arena)
{
	return sources_join(arena, p->of[s->folder], s->path);
}

/* By the whole path: ~/.codex/config.toml is the user's also where home is the project. */
bool mp_source_is_users(const struct mp_source *s, const struct mp_places *p)
{
	char path[PATH_MAX], other[PATH_MAX];

	if (s->folder != MP_FOLDER_ROOT ||
	    !write_path(path, sizeof(path), p->of[s->folder], s->path))
		return false;
	for (size_t i = 0; i < mp_sources_n; i++) {
		const struct mp_source *o = &mp_sources[i];

		if (o->folder != MP_FOLDER_ROOT &&
		    write_path(other, sizeof(other), p->of[o->folder], o->path) &&
		    strcmp(path, other) == 0)
			return true;
	}
	return false;
}

/* --- folders --------------------------------------------------------------------------------- */

static const char *get_folder(char *const *env, const char *variable)
{
	const char *value = mp_expand_get(env, mp_str_of(variable));

	return value && value[0] == '/' ? value : NULL;
}

/* $VARIABLE, or a path below the home folder. */
static const char *folder_of(struct mp_arena *arena, char *const *env, const char *variable,
			     const char *home, const char *below)
{
	const char *value = variable ? get_folder(env, variable) : NULL;

	return value ? mp_arena_dup(arena, mp_str_of(value)) : sources_join(arena, home, below);
}

static bool exists(const char *folder, const char *path)
{
	char text[PATH_MAX];
	struct stat st;
	int n = snprintf(text, sizeof(text), "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);

	return n > 0 && (size_t)n < sizeof(text) && lstat(text, &st) == 0;
}

/* `.git` is a marker and never followed (V04); a source file of a project is one, too. */
static bool is_root(const char *folder, const struct mp_places *p)
{
	struct mp_places here = *p;

	if (exists(folder, ".git"))
		return true;
	here.of[MP_FOLDER_ROOT] = folder;
	for (size_t i = 0; i < mp_sources_n; i++)
		if (mp_sources[i].folder == MP_FOLDER_ROOT &&
		    !mp_source_is_users(&mp_sources[i], &here) &&
		    exists(folder, mp_sources[i].path))
			return true;
	return false;
}

static bool is_same_folder(const char *a, const char *b)
{
	struct stat x, y;

	return a && b &&
	       (strcmp(a, b) == 0 || (stat(a, &x) == 0 && stat(b, &y) == 0 &&
				      x.st_dev == y.st_dev && x.st_ino == y.st_ino));
}

/* From the working folder up to the home folder, or to the top where home is not above it. */
static const char *find_root(const struct mp_places *p, struct mp_arena *arena)
{
	char folder[PATH_MAX];

	if (strlen(p->cwd) >= sizeof(folder))
		return p->cwd;
	memcpy(folder, p->cwd, strlen(p->cwd) + 1);
	for (;;) {
		char *slash = strrchr(folder, '/');

		if (is_root(folder, p))
			return mp_arena_dup(arena, mp_str_of(folder));
		if (!slash || strcmp(folder, "/") == 0 ||
		    is_same_folder(folder, p->of[MP_FOLDER_HOME]))
			return p->cwd;
		slash[slash == folder ? 1 : 0] = '\0';
	}
}

int mp_places_find(struct mp_places *p, const char *cwd, char *const *env, struct mp_arena *arena)
{
	char real[PATH_MAX];
	const char *home = get_folder(env, "HOME");
	bool is_missing = !realpath(cwd, real);

	/* A project that was moved or deleted: the user's servers stay, and it may come back. */
	if (is_missing && cwd[0] != '/')
		return MCPOOL_ENOENT;
	*p = (struct mp_places){.cwd = mp_arena_dup(arena, mp_str_of(is_missing ? cwd : real)),
				.is_missing = is_missing};
	if (!p->cwd)
		return mp_arena_get_error(arena);
	if (home && realpath(home, real))
		home = real;
	p->of[MP_FOLDER_HOME] = sources_join(arena, home, "");
	p->of[MP_FOLDER_CONFIG] = folder_of(arena, env, "XDG_CONFIG_HOME", home, ".config");
	p->of[MP_FOLDER_CLAUDE_HOME] = folder_of(arena, env, "CLAUDE_CONFIG_DIR", home, "");
	p->of[MP_FOLDER_CLAUDE_DIR] = folder_of(arena, env, "CLAUDE_CONFIG_DIR", home, ".claude");
	p->of[MP_FOLDER_CODEX_DIR] = folder_of(arena, env, "CODEX_HOME", home, ".codex");
	p->of[MP_FOLDER_GEMINI_HOME] = folder_of(arena, env, "GEMINI_CLI_HOME", home, "");
	p->of[MP_FOLDER_ROOT] = find_root(p, arena);
	return mp_arena_get_error(arena); /* also a folder that is missing for lack of memory */
}
