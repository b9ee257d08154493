/*
 * trust.h - what may run: the approval id of an entry, and whether the user said yes to it.
 * The id covers the entry as written, its file, its project, and the content of the files inside
 * the project that its command, arguments or variables name. Nothing is expanded or run to compute
 * it.
 */
#ifndef MP_TRUST_H
#define MP_TRUST_H

#include "base/arena.h"
#include "base/base.h"
#include "config/values/entry.h"
#include "config/values/scripts.h"
#include "config/values/set.h"
#include "store/approvals.h"

/*
 * Compute id, scripts and unapprovable. The scripts of all entries of a set share a budget.
 * MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_trust_identify_within(struct mp_entry *e, struct mp_scripts_budget *budget,
			     struct mp_arena *arena) MP_MUST;
/* The same for settings and remote sources. */
void mp_trust_identify_grant(struct mp_grant *g);

/* What the user trusts as a whole. */
struct mp_trusted {
	const char *file; /* real path of the user's file; NULL */
	bool projects;    /* the servers of every project's files */
};

/*
 * Look the id up; sets trust and first_seen_ms. Trouble with the store is a no: MP_TRUST_UNKNOWN,
 * and the words in reterr.
 */
int mp_trust_judge(struct mp_entry *e, struct mp_db *db, const struct mp_trusted *trusted,
		   int64_t wall_ms, struct mcpool_error *reterr) MP_MUST;
int mp_trust_judge_grant(struct mp_grant *g, struct mp_db *db, int64_t wall_ms,
			 struct mcpool_error *reterr) MP_MUST;

/*
 * Is an entry of this set, which was approved when the set was loaded, still approved? For right
 * before a start. 0: yes; MCPOOL_ENEEDS_APPROVAL: no longer; else the store could not tell, which
 * is a no. ret_changed: some approval changed since the set was loaded, this one or another.
 */
int mp_trust_confirm(const struct mp_config_set *set, const struct mp_entry *e, struct mp_db *db,
		     int64_t wall_ms, bool *ret_changed, struct mcpool_error *reterr) MP_MUST;

/* The command that approves it: `mcpool trust NAME`, with the file that a session named. */
void mp_trust_get_command(const struct mp_entry *e, char *out, size_t size);

/* Record the user's yes, in place of an earlier one for the same name, file and project. */
int mp_trust_approve(struct mp_db *db, const struct mp_entry *e, const char *how, int64_t wall_ms,
		     struct mcpool_error *reterr) MP_MUST;
int mp_trust_approve_grant(struct mp_db *db, const struct mp_grant *g, int64_t wall_ms,
			   struct mcpool_error *reterr) MP_MUST;

#endif
