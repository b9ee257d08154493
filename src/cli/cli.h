/*
 * cli.h - what the verbs share: exit codes, options, words, tables.
 */
#ifndef MP_CLI_H
#define MP_CLI_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "client/catalog.h"
#include "config/values/settings.h"

/* A contract; see mcpool(1). */
enum {
	MP_EXIT_DONE = 0,
	MP_EXIT_TOOL_ERROR = 1, /* the tool said isError */
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
	const char *options;   /* lines for --help of this verb; NULL: it reads its own */
	const char *more;      /* paragraphs and examples for --help; may be NULL */
	int (*run)(const struct mp_verb *verb, int argc, char **argv); /* argv[0] is the verb */
	const char *const
		*json_lists; /* what its --json object lists, ends in NULL; NULL: nothing */
	enum {
		MP_VERB_COMMAND, /* `-- COMMAND` must stand behind it */
		MP_VERB_EITHER,  /* may */
		MP_VERB_PLAIN,   /* must not */
	} servers;
};

/* An option that may stand there several times. */
/* Where HTTP is listened for when no address is given. */
#define MP_USUAL_ADDRESS "127.0.0.1:7717"

struct mp_cli_list {
	const char *items[64];
	size_t n;
};

/* What stood behind the verb. Everything points into argv. */
struct mp_cli_args {
	const struct mp_verb *verb;
	bool no_check; /* call a tool whatever its schema says */
	bool json;
	const char *schema; /* --schema NAME */
	const char *args;   /* --args JSON or - */
	int64_t timeout_ms; /* --timeout; 0: the default */
	enum mp_era era;    /* --era */
	struct mp_cli_list config, headers, env, servers, tools;
	bool strict_config, all, yes, project, user, user_file, force, fresh;
	bool no_token, background, now, rotate, write, undo, libraries;
	const char *http, *profile, *folder; /* --http, --profile, --project DIR */
	const char *naming;                  /* --naming */
	const char *call;                    /* --call TOOL */
	const char *url, *transport, *token, *token_env, *cwd, *from;
	char **words; /* what is no option, before -- */
	int n_words;
	char **command; /* behind --; ends in NULL */
};

/*
 * Read them. min and max: how many words the verb takes; command: whether it needs `-- CMD`.
 * Returns 0, or an exit code + 1 after it said what is wrong (or showed the help).
 */
int mp_cli_read_args(const struct mp_verb *verb, int argc, char **argv, int min, int max,
		     struct mp_cli_args *ret_args);

/* There is no command behind --; said so. */
bool mp_cli_lacks_command(const struct mp_cli_args *args);

void mp_cli_show_help(const struct mp_verb *verb);

/* --- complain.c --- */

/* On stderr, `mcpool: ` in front, made safe. */
void mp_cli_complain(const char *format, ...) MP_PRINTF(1, 2);
/* What a failure to start or to talk means for the exit code. */
int mp_cli_exit_code(const struct mcpool_error *why);
/* The same; code is what --json says of it, where the exit code alone says too little. */
void mp_cli_complain_as(int code, const char *format, ...) MP_PRINTF(2, 3);
/* The other way round, where there is nothing but an exit code. */
int mp_cli_code_of(int exit_code);
const char *mp_cli_get_complaint(void); /* the last one; "" */
/*
 * The end of a verb with --json that did not work: {"error": {"code", "message", "data": {"code"}}}
 * as the hub has it, unless there is an object on stdout already.
 */
void mp_cli_print_failure(int exit_code);

/* What to call a server that is known by its command only: a safe file name. */
void mp_cli_name_command(char *const *command, char *out, size_t size);

/* --- print.c --- */

bool mp_print_is_terminal(void);     /* stdout */
size_t mp_print_get_columns(int fd); /* of the terminal; 0: it is none */
/* Text of a server: safe on a terminal, as it is into a pipe or file. */
void mp_print_text(struct mp_str text);
/*
 * A table row by row; cells are the server's, and cut to the terminal if it is one. The first is
 * never cut; states are in colour.
 */
struct mp_table_row {
	struct mp_str cells[4];
};
void mp_print_table(const struct mp_table_row *rows, size_t n, size_t columns);
/* Name, title and description; titles only where there is room. Changes the rows. */
void mp_print_items(struct mp_table_row *rows, size_t n);
/* One JSON value and a newline; pretty on a terminal. */
void mp_print_json(struct mp_str json);
/* What a server wrote to stderr last, on ours. */
void mp_print_tail(struct mp_str tail); /* its last lines; may be empty */
bool mp_print_has_json(void);           /* was there one? */
void mp_print_need_no_json(void);       /* what was printed says it all, whatever the exit code */
void mp_print_problems(const char *server, const struct mp_catalog_list *l);
/* One object of a --json list's "errors". */
void mp_print_write_error(struct mp_writer *w, const char *server, const char *error);
/* One for each problem of the list. */
void mp_print_write_errors(struct mp_writer *w, const char *server,
			   const struct mp_catalog_list *l);
/* One block of content: text as it is, the rest described. first: no empty line before it. */
void mp_print_content(const struct mp_tape *t, mp_value block, bool first);
/*
 * The result of a tool, for people or as it is. Its exit code, MP_EXIT_TOOL_ERROR where it says so
 * itself; MCPOOL_ENOMEM: it cannot be shown.
 */
int mp_print_result(struct mp_str result, bool json, const struct mp_result_settings *how) MP_MUST;
/* The contents of a resource; a blob goes out decoded, but not to a terminal. */
int mp_print_resource(const struct mp_tape *t, mp_value contents);
/*
 * The end of a verb: its exit code, unless all went well and the output could not be written.
 * Whoever reads a pipe and has seen enough is no trouble; a full disk is.
 */
int mp_print_finish(int exit_code) MP_MUST;

/* --- typed.c --- */

/*
 * Arguments for a tool or prompt: `given` (an object, or empty) with each `key=value` of words,
 * typed by the schema (empty: by what they look like), and `key:=json` as it is.
 */
int mp_typed_build(struct mp_str schema, struct mp_str given, char *const *words, int n,
		   struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/*
 * Would the schema refuse these arguments? MCPOOL_EINVAL: one that is required and has no default
 * is missing, or one is unknown and the schema admits no others. What is in doubt passes.
 */
int mp_typed_check(struct mp_str schema, struct mp_str arguments,
		   struct mcpool_error *reterr) MP_MUST;

#endif
