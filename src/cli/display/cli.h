/*
 * cli.h - shared by all verbs: exit codes, options, messages, tables.
 */
#ifndef MP_CLI_H
#define MP_CLI_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/catalog.h"
#include "config/values/settings.h"

/* A published contract; see mcpool(1). */
enum {
	MP_EXIT_DONE = 0,
	MP_EXIT_TOOL_ERROR = 1, /* the tool returned isError */
	MP_EXIT_USAGE = 2,
	MP_EXIT_CONFIG = 3,
	MP_EXIT_START = 4, /* could not start or connect */
	MP_EXIT_PROTOCOL = 5,
	MP_EXIT_TIMEOUT = 6,
	MP_EXIT_NEEDS_APPROVAL = 7,
	MP_EXIT_NEEDS_AUTH = 8,
	MP_EXIT_NOT_FOUND = 9, /* no such server or tool */
	MP_EXIT_INTERRUPTED = 130,
};

/* One verb; its table is in main.c. */
struct mp_verb {
	const char *name;
	const char *arguments; /* for the usage line */
	const char *summary;   /* one line */
	const char *options;   /* lines for --help of this verb; NULL: it parses its own options */
	const char *more;      /* paragraphs and examples for --help; may be NULL */
	int (*run)(const struct mp_verb *verb, int argc, char **argv); /* argv[0] is the verb */
	const char *const
		*json_lists; /* the lists of its --json object, ends in NULL; NULL: none */
	enum {
		MP_VERB_COMMAND, /* `-- COMMAND` is required */
		MP_VERB_EITHER,  /* it is optional */
		MP_VERB_PLAIN,   /* it is not allowed */
	} servers;
};

/* The HTTP address if none is given. */
#define MP_USUAL_ADDRESS "127.0.0.1:7717"

/* An option that may be given several times. */
struct mp_cli_list {
	const char *items[64];
	size_t n;
};

/* The parsed arguments. Everything points into argv. */
struct mp_cli_args {
	const struct mp_verb *verb;
	bool no_check; /* do not check arguments against the tool's schema */
	bool json;
	const char *schema; /* --schema NAME */
	const char *args;   /* --args JSON or - */
	int64_t timeout_ms; /* --timeout; 0: the default */
	enum mp_era era;    /* --era */
	struct mp_cli_list config, headers, env, servers, tools, unset;
	bool strict_config, all, yes, project, user, user_file, force, fresh;
	bool no_token, background, now, rotate, write, undo, libraries, secrets, no_browser,
		log_out, fix, follow, hub, watch, failed, keep, export, log_json;
	const char *http, *profile, *folder; /* --http, --profile, --project DIR */
	const char *naming;                  /* --naming */
	const char *session, *parent;        /* --session, --parent: ID or auto */
	const char *projects;                /* --projects: always or ask */
	const char *call;                    /* --call TOOL */
	const char *wanted_state;            /* --for STATE */
	const char *expires;                 /* --expires: 30d */
	int64_t since_ms;                    /* --since: 2d; 0: not given */
	const char *server;                  /* --server NAME */
	const char *save;                    /* --save FILE */
	const char *id;                      /* --id ID */
	const char *url, *transport, *token, *token_env, *cwd, *from;
	char **words; /* positional arguments, before -- */
	int n_words;
	char **command; /* after --; ends in NULL */
};

/*
 * Parse the arguments. min and max: number of positional arguments; command: whether `-- CMD` is
 * required. Returns 0, or an exit code + 1 after an error message or the help.
 */
int mp_cli_read_args(const struct mp_verb *verb, int argc, char **argv, int min, int max,
		     struct mp_cli_args *ret_args);

/* "12h" or "30d", at most ten years. */
bool mp_cli_read_span(const char *text, int64_t *ret_ms);
/* True after an error message: there is no command after --. */
bool mp_cli_lacks_command(const struct mp_cli_args *args);
/* True after an error message: the value of this option is neither a session's id nor auto. */
bool mp_cli_lacks_session(const char *option, const char *value);

void mp_cli_show_help(const struct mp_verb *verb);

/* --- complain.c --- */

/* Print an error on stderr, prefixed `mcpool: ` and made safe. */
void mp_cli_complain(const char *format, ...) MP_PRINTF(1, 2);
/* The exit code for a failure to start or to talk. */
int mp_cli_exit_code(const struct mcpool_error *why);
/* The same; code: for --json, where the exit code alone is not specific enough. */
void mp_cli_complain_as(int code, const char *format, ...) MP_PRINTF(2, 3);
/* The reverse, where there is only an exit code. */
int mp_cli_code_of(int exit_code);
const char *mp_cli_get_complaint(void); /* the last one; "" */
/*
 * End a verb that failed with --json: print {"error": {"code", "message", "data": {"code"}}} as the
 * hub does, unless stdout already has an object.
 */
void mp_cli_print_failure(int exit_code);

/* Name a server that is known by its command only: a safe file name. */
void mp_cli_name_command(char *const *command, char *out, size_t size);

/* --- print.c --- */

bool mp_print_is_terminal(void);     /* stdout */
bool mp_print_has_color(void);       /* on stdout */
size_t mp_print_get_columns(int fd); /* of the terminal; 0: not a terminal */
/* Print a server's text: made safe on a terminal, unchanged into a pipe or file. */
void mp_print_text(struct mp_str text);
/*
 * Print a table row by row. Cells are text of servers, cut to the width of a terminal. The first is
 * never cut; states are in colour.
 */
struct mp_table_row {
	struct mp_str cells[4];
};
void mp_print_table(const struct mp_table_row *rows, size_t n, size_t columns);
/* Name, title and description; titles only if there is room. Changes the rows. */
void mp_print_items(struct mp_table_row *rows, size_t n);
/* One JSON value and a newline; pretty on a terminal. */
void mp_print_json(struct mp_str json);
/* An object as a line of its own; unchanged into a pipe or file. */
int mp_print_json_line(struct mp_str json) MP_MUST;
/* Print the last stderr lines of a server on ours. */
void mp_print_tail(struct mp_str tail); /* its last lines; may be empty */
bool mp_print_has_json(void);           /* was JSON printed? */
void mp_print_need_no_json(void);       /* the output is complete, whatever the exit code */
void mp_print_problems(const char *server, const struct mp_catalog_list *l);
/* One object of a --json list's "errors". */
void mp_print_write_error(struct mp_writer *w, const char *server, const char *error);
/* One for each problem of the list. */
void mp_print_write_errors(struct mp_writer *w, const char *server,
			   const struct mp_catalog_list *l);
/* Print one content block: text unchanged, others described. first: no empty line before it. */
void mp_print_content(const struct mp_tape *t, mp_value block, bool first);
/*
 * Print the result of a tool, formatted; json: print this in its place; else empty. Returns the
 * exit code, MP_EXIT_TOOL_ERROR if the result says so; MCPOOL_ENOMEM: it cannot be shown.
 */
int mp_print_result(struct mp_str result, struct mp_str json,
		    const struct mp_result_settings *how) MP_MUST;
/* Print the contents of a resource; a blob is decoded, but not to a terminal. */
int mp_print_resource(const struct mp_tape *t, mp_value contents);
/*
 * End a verb: returns its exit code, or an error if it succeeded and the output could not be
 * written. A closed pipe is not an error; a full disk is.
 */
int mp_print_finish(int exit_code) MP_MUST;

/* --- typed.c --- */

/*
 * Build the arguments of a tool or prompt: `given` (an object, or empty) with each `key=value` of
 * words, typed by the schema (empty: by their form), and `key:=json` unchanged.
 */
int mp_typed_build(struct mp_str schema, struct mp_str given, char *const *words, int n,
		   struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/*
 * Check the arguments against the schema. MCPOOL_EINVAL: a required one without a default is
 * missing, or one is unknown and the schema admits no others. Doubtful ones pass.
 */
int mp_typed_check(struct mp_str schema, struct mp_str arguments,
		   struct mcpool_error *reterr) MP_MUST;

#endif
