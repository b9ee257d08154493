/*
 * own_files.h - changes our two configuration files from the command line, and approves what the
 * user wrote there.
 */
#ifndef MP_OWN_FILES_H
#define MP_OWN_FILES_H

#include "cli/servers/configured.h"
#include "config/read/changes.h"

/* The file for --project or --user; the default is --user. NULL after an error message. */
const char *mp_own_choose(const struct mp_configured *c, const struct mp_cli_args *args);
/* The entry of this name in this file, in effect or not; NULL. */
const struct mp_entry *mp_own_find(const struct mp_configured *c, const char *file,
				   const char *name);

/*
 * Find which of our files has the server. NULL: none; *ret_exit is then set after an error message,
 * unless the server is in another tool's file and the caller handles that.
 */
const char *mp_own_locate(const struct mp_configured *c, const struct mp_cli_args *args,
			  int *ret_exit);
/* Say that the file of this entry is never changed. Returns the exit code. */
int mp_own_refuse_foreign(const struct mp_entry *e);

/* Is one of our files invalid JSON, so that its content is unknown? Prints an error if so. */
bool mp_own_is_broken(const struct mp_configured *c);

/*
 * An entry that is in no file yet, treated as approved; NULL after an error message that starts
 * with "Invalid server config: ". In the arena.
 */
struct mp_entry *mp_own_draft(const struct mp_configured *c, const char *name, struct mp_str json,
			      struct mp_arena *arena);
/*
 * Check the entry (B10), write it to file, approve it. replace: overwrite an existing one. Returns
 * the exit code; prints an error unless it is MP_EXIT_DONE. how: for the list of approvals.
 */
int mp_own_add(struct mp_configured *c, const char *file, const char *name, struct mp_str json,
	       const char *how, bool replace);
/* Report what was written, as text or as {"added": {...}}. */
void mp_own_report(const struct mp_configured *c, const char *file, const char *name,
		   const char *verb, bool json);
/*
 * mp_config_change() on one of our files. The real path must be ours too: a project's file stays
 * inside the project, and neither may link to another tool's file (a cloned project may contain
 * links).
 */
int mp_own_change(const struct mp_configured *c, const char *file, mp_writer_fn fn, void *u,
		  struct mcpool_error *reterr) MP_MUST;
/*
 * After a change: an entry that was approved stays so; another does not become approved by it. The
 * files are read again, and a running hub is told. how: for the list of approvals.
 */
void mp_own_approve_again(struct mp_configured *c, const char *file, const char *name,
			  bool was_approved, const char *how);
/* Write http.listen into the user's file; its value is checked by the hub. Returns the exit code.
 */
int mp_own_keep_http(const char *address);
/* Print a failure of the writer; returns its exit code. */
int mp_own_fail(const struct mcpool_error *why);

#endif
