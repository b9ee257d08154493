/*
 * entry.h - one configured server, as written in a file: every tool's shape turned into one.
 * Nothing in it is expanded, looked up or run (resolve.h does that, for approved entries).
 */
#ifndef MP_ENTRY_H
#define MP_ENTRY_H

#include "base/arena.h"
#include "base/base.h"
#include "files/document.h"
#include "config/values/settings.h"
#include "json/bind.h"
#include "json/write.h"
#include "store/approvals.h"

enum mp_kind { MP_KIND_STDIO, MP_KIND_HTTP, MP_KIND_SSE, MP_KIND_WEBSOCKET };
const char *mp_kind_get_name(enum mp_kind kind);
/* By any tool's word for it; url decides what `remote` means (N1). False: an unknown word. */
bool mp_kind_find(const char *type, const char *url, enum mp_kind *ret_kind);

enum mp_config_level {
	MP_CONFIG_COMMAND_LINE, /* a person named the file just now */
	MP_CONFIG_PROJECT,
	MP_CONFIG_USER,
	MP_CONFIG_REMOTE, /* a remote source of the slow phase */
};
const char *mp_config_level_get_name(enum mp_config_level level);

/* What is peculiar about a tool's files. */
enum {
	MP_QUIRK_OWN = 1 << 0,        /* ours: unknown keys are worth a warning; has settings */
	MP_QUIRK_COERCE = 1 << 1,     /* "true" and "5000" are fine for enabled and timeout */
	MP_QUIRK_CALLS = 1 << 2,      /* `timeout` is that of a call, too */
	MP_QUIRK_ONLY_CALLS = 1 << 5, /* `timeout` is that of a call, and not of the start */
	MP_QUIRK_FROM_FILE = 1 << 3,  /* relative commands and folders start at the file's folder */
	MP_QUIRK_COMMANDS = 1 << 4,   /* a value that begins with ! is a command */
	MP_QUIRK_ASKED = 1 << 6,      /* an agent named it (`stdio --config`), not a person */
};

/* Where an entry is written. Texts belong to the set. */
struct mp_origin {
	const char *file; /* as it was found */
	const char *real; /* without links */
	unsigned line, column;
	const char *tool;  /* "claude" */
	const char *label; /* "Claude Code" */
	enum mp_config_level level;
	const char *root;        /* the project's real path; "" outside of projects */
	const char *scope;       /* the part of the file it is in, if the file has several; "" */
	const char *plugin_root; /* NULL: no plugin's */
	unsigned spellings;      /* MP_EXPAND_* */
	unsigned quirks;         /* MP_QUIRK_* */
};

enum mp_trust {
	MP_TRUST_UNKNOWN, /* not looked at: it is shadowed, or the store cannot be read */
	MP_TRUST_NEW,     /* never approved */
	MP_TRUST_CHANGED, /* something of this name, file and project was */
	MP_TRUST_YES,
};

enum mp_shadow {
	MP_SHADOW_NONE,
	MP_SHADOW_NAME,       /* another one has its name */
	MP_SHADOW_CONNECTION, /* another one opens the same connection */
	MP_SHADOW_APPROVED,   /* unapproved, and a lower one of this name is approved */
};

struct mp_entry {
	const char *name;
	struct mp_origin origin;
	struct mp_str canonical; /* as written, in its canonical form */

	/* As it is written. */
	const char *type, *cwd, *url, *http_url;
	struct mp_str command_json;
	struct mp_bind_list args;
	struct mp_bind_map env, headers, env_headers;
	struct mp_bind_map tls; /* ca, cert, key: files */
	struct mp_bind_map tool_queues;
	struct mp_bind_map tool_results; /* tool to the bytes of its results; "0": no limit */
	struct mp_bind_list tools_allowed, tools_denied;
	struct mp_str auth_json, oauth_json, env_vars_json;
	const char *bearer_variable, *headers_helper, *env_file, *id_format;
	bool enabled, disabled;
	double startup_seconds, tool_seconds;
	int64_t startup_ms;
	struct mp_tuning tuning; /* effective: settings with this entry's own values over them */
	uint64_t present;
	struct mp_provenance provenance;

	/* What follows from it. */
	enum mp_kind kind;
	const char **argv; /* command and args, ends in NULL; NULL for remote ones */
	size_t argc;
	const char *address;          /* the url that counts; NULL for stdio */
	struct mp_bind_list env_vars; /* names handed on */
	const char *invalid;          /* why it cannot run; NULL: it can */
	struct mp_str connection;     /* equal for those that would open the same one */
	struct mp_str endpoint;       /* equal for those that would reach the same server */

	/* What the set decided. */
	const struct mp_entry *shadowed_by;
	enum mp_shadow shadow;
	bool left_out; /* the embedding host does this itself (hostNative) */
	enum mp_trust trust;
	struct mp_approval_id id; /* of the approval; set when trust was looked at */
	const char *scripts;      /* what the id covers beyond the entry: "path<TAB>hash<LF>" */
	const char *folders;      /* "path<LF>": may be read, and are not covered (scripts.h) */
	const char *runners;      /* "npm<LF>": run what files say */
	char **env_layer;         /* what its envFile says, "NAME=value"; NULL: not known yet */
	const char *unapprovable; /* why it cannot be approved; NULL: it can */
	int64_t first_seen_ms;    /* needs approval since; 0: unknown */
};

extern const struct mp_bind_table mp_entry_table;

/*
 * Read the object v of doc's tape (or of another tape, then problems are placed at `place`) into a
 * new entry of the arena. It is never refused: what is wrong is in `invalid`, or told as a warning.
 * settings: what holds where the entry says nothing. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_entry_read(struct mp_str name, const struct mp_tape *t, mp_value v,
		  const struct mp_origin *origin, const struct mp_settings *settings,
		  struct mp_arena *arena, mp_bind_problem_fn fn, void *u,
		  struct mp_entry **ret_entry) MP_MUST;

/* connection.c: where it leads, the command with its arguments or the address. */
void mp_entry_write_endpoint(struct mp_writer *w, const struct mp_entry *e);
/* What tells two connections apart (O12), as it is written. */
void mp_entry_write_connection(struct mp_writer *w, const struct mp_entry *e);

/* How many bytes of a result of this tool agents get (toolResults); 0: no limit. */
int64_t mp_entry_get_result_limit(const struct mp_entry *e, struct mp_str tool, int64_t otherwise);

/* NULL, or why this is not a valid name (B11 to B13, O14). Static. */
const char *mp_entry_check_name(struct mp_str name, enum mp_name_set set);
/* Would sanitizing change it (B74)? */
bool mp_entry_is_plain_name(struct mp_str name);

/* Does it begin as an address does? One that holds a placeholder is asked again when it is filled.
 */
bool mp_entry_is_address(const char *url);

/* Of a name's four switches the strongest that speaks (U3). */
enum mp_toggle { MP_TOGGLE_NONE, MP_TOGGLE_ON, MP_TOGGLE_OFF };
bool mp_entry_is_on(const struct mp_entry *e, const struct mp_settings *s, enum mp_toggle toggle);
/* Why it is not on, and where that was said; "": it is on. */
void mp_entry_explain_off(const struct mp_entry *e, const struct mp_settings *s,
			  enum mp_toggle toggle, char *out, size_t size);

#endif
