/*
 * configured.h - loads the configuration for one command and reports its problems.
 */
#ifndef MP_CONFIGURED_H
#define MP_CONFIGURED_H

#include "cli/cli.h"
#include "config/values/set.h"
#include "store/db.h"

struct mp_configured {
	struct mp_db *db; /* NULL: it cannot be opened, so nothing is approved */
	struct mp_config_set *set;
	struct mp_config_set *first; /* as first loaded: pointers into it stay valid */
	char cwd[4096];
	const char **files; /* --config, absolute; owned */
	char **paths;       /* owned */
	size_t n_files, room;
	bool strict;
	bool use_last_good; /* for a serving hub: use the last valid version of a broken file */
};

/*
 * Load the configuration of this user and folder. MP_EXIT_DONE, or an exit code after an error
 * message. Call mp_configured_done() in both cases.
 */
int mp_configured_load(struct mp_configured *c, const struct mp_cli_args *args);
/* The same with remote sources: as copies of the last fetch; or fetched now. */
int mp_configured_load_copies(struct mp_configured *c, const struct mp_cli_args *args);
int mp_configured_load_all(struct mp_configured *c, const struct mp_cli_args *args);
/* The request that loads it again; borrows from c. */
struct mp_config_request mp_configured_get_request(const struct mp_configured *c);
/* Add a file of --config; it is not loaded yet. */
void mp_configured_add_file(struct mp_configured *c, const char *path);
/* Load again, after a file was written. */
void mp_configured_reload(struct mp_configured *c);
void mp_configured_done(struct mp_configured *c);

/* Print warnings and errors on stderr, each with its place. errors_only: for scripts. */
void mp_configured_tell(const struct mp_configured *c, bool errors_only);
bool mp_configured_has_errors(const struct mp_configured *c);
/* Find a server by name; NULL after an error message that suggests similar names. */
const struct mp_entry *mp_configured_find(const struct mp_configured *c, const char *name);

/* The reason for its state as text; "" if the state says it all. */
void mp_configured_explain(const struct mp_configured *c, const struct mp_entry *e, char *out,
			   size_t size);
/* "since 14:05" or "since 2026-11-14". */
void mp_configured_write_since(int64_t then_ms, char *out, size_t size);
int64_t mp_configured_now(void); /* wall clock, in milliseconds */

/* {"file","line","tool","level"} as the member `source` (doc/protocol.md, "Command line"). */
void mp_configured_write_source(struct mp_writer *w, const struct mp_origin *o);
/* The problems as the member `problems`: a list of {severity, file, line, column, server, message}.
 */
void mp_configured_write_problems(struct mp_writer *w, const struct mp_config_set *set);

/* Ask for one line on the terminal; false: no terminal, or end of input. */
bool mp_ask(const char *question, char *answer, size_t size);
/* The same; also false when stop_fd becomes readable. */
bool mp_ask_unless(const char *question, int stop_fd, char *answer, size_t size);
/* Read a line without echo; NULL: end of input. The caller frees and wipes it. */
char *mp_ask_secret(const char *question);
/* y or yes; any other answer, or no terminal, is no. */
bool mp_ask_yes(const char *question);

#endif
