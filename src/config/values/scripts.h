/*
 * scripts.h - the files inside a project that an entry names, by their content.
 */
#ifndef MP_SCRIPTS_H
#define MP_SCRIPTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "config/values/entry.h"

/*
 * What all entries of a set may cost together: a project decides how many files it names, and how
 * large they are. What is beyond it cannot be approved.
 */
struct mp_scripts_budget {
	size_t bytes, words;

	/* What people are told, and exec.c; each may be NULL. */
	struct mp_buf
		*folders; /* "path below the project<LF>" or ".": named, and not looked into */
	struct mp_buf *runners; /* "npm<LF>": runs what files say, which are not all covered */
	struct mp_buf *seen;    /* each file as it was read (identity.h), ends in NUL */
};
#define MP_SCRIPTS_BUDGET \
	((struct mp_scripts_budget){.bytes = MP_LIMIT_SCRIPTS, .words = MP_LIMIT_SCRIPTS_SEEN})
/*
 * For each file: "path below the project<TAB>SHA-256 in hex<LF>", or "path<TAB>-> target<LF>" for a
 * link; sorted by where they are named, each once. MCPOOL_EINVAL when one cannot be read to its end
 * (too large, changing, not permitted) or has a tab or line break in its name, or when there are
 * too many words or folders: reterr says so.
 */
int mp_scripts_add_within(const struct mp_entry *e, struct mp_scripts_budget *budget,
			  struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

/* What is about to be run, all placeholders filled in. */
struct mp_scripts_run {
	char *const *argv;
	const char *cwd;          /* absolute */
	char *const *env;         /* what the entry and its env file set */
	char *const *environment; /* all of it: PATH counts */
};
/*
 * Must be asked right before it is started: are the program and every word that is a file of the
 * project among e->scripts, with the same content? The variables in env that decide what code runs
 * are looked at, too. MCPOOL_ENEEDS_APPROVAL with the file and what to do; MCPOOL_ENOMEM, ... seen
 * as in the budget.
 */
int mp_scripts_check(const struct mp_entry *e, const struct mp_scripts_run *run,
		     struct mp_buf *seen, struct mcpool_error *reterr) MP_MUST;
/* Does this variable decide what code a program runs (LD_PRELOAD, NODE_OPTIONS, PATH)? */
bool mp_scripts_is_code_variable(struct mp_str name);

#endif
