/*
 * sources.h - the table of files, and the folders their paths start from.
 */
#ifndef MP_SOURCES_H
#define MP_SOURCES_H

#include "base/arena.h"
#include "base/base.h"
#include "files/document.h"
#include "config/values/entry.h"

enum mp_folder {
	MP_FOLDER_ROOT,        /* of the project */
	MP_FOLDER_HOME,        /* $HOME */
	MP_FOLDER_CONFIG,      /* $XDG_CONFIG_HOME, or ~/.config */
	MP_FOLDER_CLAUDE_HOME, /* $CLAUDE_CONFIG_DIR, or ~ */
	MP_FOLDER_CLAUDE_DIR,  /* $CLAUDE_CONFIG_DIR, or ~/.claude */
	MP_FOLDER_CODEX_DIR,   /* $CODEX_HOME, or ~/.codex */
	MP_FOLDER_GEMINI_HOME, /* $GEMINI_CLI_HOME, or ~ */
	MP_FOLDERS,
};

struct mp_loading; /* loading.h */
struct mp_source;
/* Finds the servers in a document and hands them to mp_loading_add(). */
typedef void (*mp_dialect_fn)(struct mp_loading *l, const struct mp_source *source,
			      const struct mp_document *doc);

struct mp_source {
	const char *tool, *label;
	enum mp_config_level level;
	enum mp_folder folder;
	const char *path;
	enum mp_format format;
	mp_dialect_fn dialect;
	unsigned quirks, spellings;
};

extern const struct mp_source mp_sources[];
extern const size_t mp_sources_n;

/* The folders, from the environment given; all absolute, NULL where there is none. */
struct mp_places {
	const char *cwd; /* its real path; as it was asked for where it is missing */
	bool is_missing; /* cwd does not exist at the moment */
	const char *of[MP_FOLDERS];
};

/*
 * env: "NAME=value", the session's (never a project's, V10). A variable that is not an absolute
 * path counts as unset. Finds the project root; all from the arena. A cwd that does not exist has
 * no files of its own. MCPOOL_ENOENT when it is not an absolute path either, MCPOOL_ENOMEM.
 */
int mp_places_find(struct mp_places *p, const char *cwd, char *const *env,
		   struct mp_arena *arena) MP_MUST;
/* A source's path; NULL where its folder is unknown, or (error set in the arena) without memory. */
const char *mp_source_get_path(const struct mp_source *s, const struct mp_places *p,
			       struct mp_arena *arena);
/* Is it, for these places, the same file as a user's (the project being the home folder)? */
bool mp_source_is_users(const struct mp_source *s, const struct mp_places *p);
bool mp_sources_has_tool(const char *tool);

#endif
