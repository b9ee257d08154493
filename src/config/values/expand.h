/*
 * expand.h - placeholders in strings: ${VAR}, ${VAR:-default} and other tools' spellings.
 * Called for approved entries only; nothing here decides that.
 */
#ifndef MP_EXPAND_H
#define MP_EXPAND_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * Which spellings a file's tool understands. None of them has an escape: `$$` is two dollars, and
 * a backslash is a backslash.
 */
enum {
	MP_EXPAND_VARIABLE = 1 << 0, /* ${VAR}, ${VAR:-default}; a default may hold placeholders
				      * (ours, omp, Claude Code, Gemini); and our ${secret:NAME} */
	MP_EXPAND_PLAIN = 1 << 1,    /* $VAR (Gemini, beside ${VAR}) */
	MP_EXPAND_ENV = 1 << 2,      /* ${env:VAR}; ${env:VAR:default} is none
				      * (VS Code, Cursor, Windsurf) */
	MP_EXPAND_FOLDERS = 1 << 3,  /* ${workspaceFolder}, ${workspaceFolderBasename}, ${userHome},
				      * ${pathSeparator}, ${/} (VS Code, Cursor), ${cwd} (VS Code) */
	MP_EXPAND_INPUT = 1 << 4,    /* ${input:ID}, ${command:ID}, ${config:ID},
				      * ${workspaceFolder:NAME}: an error that names it (VS Code) */
	MP_EXPAND_BRACES = 1 << 5,   /* {env:VAR} (missing: empty), {file:PATH} (OpenCode) */
	MP_EXPAND_FILE = 1 << 6,     /* ${file:PATH} (Windsurf) */
	MP_EXPAND_ROOTS = 1 << 7, /* ${CLAUDE_PLUGIN_ROOT}, ${CLAUDE_PROJECT_DIR} from `plugin_root`
				   * and `root`, before the environment is asked */
};

enum mp_missing { MP_MISSING_FAIL, MP_MISSING_WARN, MP_MISSING_LITERAL };

struct mp_expand {
	unsigned spellings;
	enum mp_missing missing;
	char *const *env;        /* "NAME=value", ends in NULL: the session's environment */
	char *const *layer;      /* an env file's variables, asked first; may be NULL */
	const char *root;        /* the project, or the home folder for user-level entries */
	const char *home;        /* may be NULL */
	const char *folder;      /* of the configuration file: {file:} is relative to it */
	const char *plugin_root; /* may be NULL */
	const char *server;      /* for messages */
	const char *file;        /* for messages */

	/*
	 * Nothing is looked up: variables stay, in our own spelling ${NAME}, folders are filled in,
	 * and what has no spelling of ours is refused. For copying an entry into our own file.
	 */
	bool respell;

	/*
	 * Told of each variable that was looked up in `layer` and `env`, found or not; may be NULL.
	 * In the order of reading.
	 */
	void (*on_variable)(void *u, struct mp_str name, const char *value_or_null);
	/*
	 * Adds the value of ${secret:NAME}; its error is the error of the whole, because a secret
	 * is never replaced by nothing. NULL: secrets cannot be used here.
	 */
	int (*get_secret)(void *u, struct mp_str name, struct mp_buf *out,
			  struct mcpool_error *reterr);
	/* Told of what is missing but tolerated (WARN, LITERAL); may be NULL. */
	void (*on_warning)(void *u, const char *message);
	void *u;
};

/*
 * Add text to out with its placeholders replaced, once: what a variable holds is not looked at
 * again. What looks like a placeholder but is none in these spellings stays as it is.
 * MCPOOL_ENOENT for a missing variable under MP_MISSING_FAIL: "Unresolved variable ${X} for mcp
 * '<server>' at <file>. ..." and what to do. MCPOOL_EINVAL for ${input:X} and the like, by name.
 * MCPOOL_EIO for {file:} that cannot be read (regular files up to 64 KiB only; trimmed).
 * MCPOOL_ELIMIT (also for defaults nested more than 16 deep), MCPOOL_ENOMEM; out is then as it was.
 * WARN puts nothing for it, LITERAL leaves the placeholder.
 */
int mp_expand_text(const struct mp_expand *e, struct mp_str text, struct mp_buf *out,
		   struct mcpool_error *reterr) MP_MUST;

/* Calls fn with the name of each variable that the text refers to, also in defaults; expands
 * nothing. */
void mp_expand_each_name(unsigned spellings, struct mp_str text,
			 void (*fn)(void *u, struct mp_str name), void *u);

/* The same for ${secret:NAME}. */
void mp_expand_each_secret(unsigned spellings, struct mp_str text,
			   void (*fn)(void *u, struct mp_str name), void *u);

/* Can a secret have this name in a configuration? Letters, digits, _ . -; at most 128. */
bool mp_expand_is_secret_name(struct mp_str name);

/* The value of NAME in a list "NAME=value"; NULL. */
const char *mp_expand_get(char *const *env, struct mp_str name);

#endif
