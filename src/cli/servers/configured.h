/*
 * configured.h - loads the configuration for one command and reports its problems.
 */
#ifndef MP_CONFIGURED_H
#define MP_CONFIGURED_H

#include "cli/display/cli.h"
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
	bool asks;          /* files count as those of `stdio --config`: they need approval */
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
/* The same, with the files of --config as a session of `stdio --config` has them: unapproved. */
int mp_configured_load_asked(struct mp_configured *c, const struct mp_cli_args *args);
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
/* MP_EXIT_DONE for a server that may run; else the reason and the exit code. */
int mp_configured_check_state(const struct mp_configured *c, const struct mp_entry *e,
			      struct mcpool_error *ret);
/* The same, and prints the reason. */
int mp_configured_refuse_state(const struct mp_configured *c, const struct mp_entry *e);
/* "since 14:05" or "since 2026-11-14". */
void mp_configured_write_since(int64_t then_ms, char *out, size_t size);
int64_t mp_configured_now(void); /* wall clock, in milliseconds */

/* {"file","line","tool","level"} as the member `source` (doc/protocol.md, "Command line"). */
void mp_configured_write_source(struct mp_writer *w, const struct mp_origin *o);
/* The problems as the member `problems`: a list of {severity, file, line, column, server, message}.
 */
void mp_configured_write_problems(struct mp_writer *w, const struct mp_config_set *set);

#endif
