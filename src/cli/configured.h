/*
 * configured.h - the configuration for one command: loaded, and its problems told.
 */
#ifndef MP_CONFIGURED_H
#define MP_CONFIGURED_H

#include "cli/cli.h"
#include "config/values/set.h"
#include "store/db.h"

struct mp_configured {
	struct mp_db *db; /* NULL: it cannot be opened, and so nothing is approved */
	struct mp_config_set *set;
	struct mp_config_set
		*first; /* as it was loaded at first: what points into it stays valid */
	char cwd[4096];
	const char **files; /* --config, absolute; owned */
	char **paths;       /* owned */
	size_t n_files, room;
	bool strict;
	bool use_last_good; /* of a hub that serves: a broken file counts as it was */
};

/*
 * Load what this user has in this folder. MP_EXIT_DONE, or an exit code after a complaint.
 * mp_configured_done() is due in either case.
 */
int mp_configured_load(struct mp_configured *c, const struct mp_cli_args *args);
/* The same with the slow phase: remote sources of the network as they were fetched last; or
 * fetched. */
int mp_configured_load_copies(struct mp_configured *c, const struct mp_cli_args *args);
int mp_configured_load_all(struct mp_configured *c, const struct mp_cli_args *args);
/* How it was loaded, for whoever loads it again; borrows from c. */
struct mp_config_request mp_configured_get_request(const struct mp_configured *c);
/* One more file of --config; nothing is loaded for it yet. */
void mp_configured_add_file(struct mp_configured *c, const char *path);
/* Load again, after something was written. */
void mp_configured_reload(struct mp_configured *c);
void mp_configured_done(struct mp_configured *c);

/* Warnings and errors on stderr, each with its place. errors_only: what a script must know. */
void mp_configured_tell(const struct mp_configured *c, bool errors_only);
bool mp_configured_has_errors(const struct mp_configured *c);
/* The one of this name, or NULL after a complaint that names those that are like it. */
const struct mp_entry *mp_configured_find(const struct mp_configured *c, const char *name);

/* For people: why it is in this state; "" where the state says it all. */
void mp_configured_explain(const struct mp_configured *c, const struct mp_entry *e, char *out,
			   size_t size);
/* "since 14:05" or "since 2026-11-14", for people. */
void mp_configured_write_since(int64_t then_ms, char *out, size_t size);
int64_t mp_configured_now(void); /* wall clock, in milliseconds */

/* {"file","line","tool","level"} as the member `source` (doc/protocol.md, "Command line"). */
void mp_configured_write_source(struct mp_writer *w, const struct mp_origin *o);
/* The problems as the member `problems`: a list of {severity, file, line, column, server, message}.
 */
void mp_configured_write_problems(struct mp_writer *w, const struct mp_config_set *set);

/* A one-word or one-line answer on the terminal; false: there is no terminal, or its end. */
bool mp_ask(const char *question, char *answer, size_t size);
/* The same; also false when stop_fd becomes readable while it waits. */
bool mp_ask_unless(const char *question, int stop_fd, char *answer, size_t size);
/* A line that is not shown while it is typed; NULL: the end. The caller frees and wipes it. */
char *mp_ask_secret(const char *question);
/* y or yes; anything else, and no terminal, is no. */
bool mp_ask_yes(const char *question);

#endif
