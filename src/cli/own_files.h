/*
 * own_files.h - changing our two files from the command line, and saying yes to what a person just
 * wrote there.
 */
#ifndef MP_OWN_FILES_H
#define MP_OWN_FILES_H

#include "cli/configured.h"
#include "config/read/changes.h"

/* The file that --project or --user means; --user where neither stands there. NULL: complained. */
const char *mp_own_choose(const struct mp_configured *c, const struct mp_cli_args *args);
/* The entry of this name in this file, whether it counts or not; NULL. */
const struct mp_entry *mp_own_find(const struct mp_configured *c, const char *file,
				   const char *name);

/* Is one of our files not valid JSON, so that nobody knows what stands in it? Complained, if so. */
bool mp_own_is_broken(const struct mp_configured *c);

/*
 * An entry that stands in no file yet, as approved as its author; NULL after a complaint that
 * begins "Invalid server config: ". Belongs to the arena.
 */
struct mp_entry *mp_own_draft(const struct mp_configured *c, const char *name, struct mp_str json,
			      struct mp_arena *arena);
/*
 * Check the entry (B10), write it to file, approve it. replace: also over an older one. Returns the
 * exit code, after a complaint where it is not MP_EXIT_DONE. how: for the list of approvals.
 */
int mp_own_add(struct mp_configured *c, const char *file, const char *name, struct mp_str json,
	       const char *how, bool replace);
/* What was written, for people or as {"added": {...}}. */
void mp_own_report(const struct mp_configured *c, const char *file, const char *name,
		   const char *verb, bool json);
/*
 * mp_config_change() on a file of ours that leads to a file of ours: one of a project stays inside
 * the project, and neither leads to a file that is another tool's (a cloned project may hold
 * links).
 */
int mp_own_change(const struct mp_configured *c, const char *file, mp_writer_fn fn, void *u,
		  struct mcpool_error *reterr) MP_MUST;
/* A failure of the writer in words, and its exit code. */
int mp_own_fail(const struct mcpool_error *why);

#endif
