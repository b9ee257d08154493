/*
 * scripts.h - the files inside a project that an entry names, by their content.
 */
#ifndef MP_SCRIPTS_H
#define MP_SCRIPTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "config/entry.h"

/*
 * For each file: "path below the project<TAB>SHA-256 in hex<LF>", or "path<TAB>-> target<LF>" for a
 * link that leads out of the project; sorted by where they are named, each once. MCPOOL_EINVAL when
 * one cannot be read to its end (too large, changing, not permitted) or has a tab or line break in
 * its name: reterr says so.
 */
int mp_scripts_add(const struct mp_entry *e, struct mp_buf *out,
		   struct mcpool_error *reterr) MP_MUST;

/*
 * The same out of what all entries of a set may cost together: a project decides how many files it
 * names, and how large they are. What is beyond it cannot be approved.
 */
struct mp_scripts_budget {
	size_t bytes, words;
};
#define MP_SCRIPTS_BUDGET ((struct mp_scripts_budget){MP_LIMIT_SCRIPTS, MP_LIMIT_SCRIPTS_SEEN})
int mp_scripts_add_within(const struct mp_entry *e, struct mp_scripts_budget *budget,
			  struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

#endif
