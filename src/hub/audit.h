/*
 * audit.h - keeps records of all calls in the store (keys audit.*), away from the calls.
 * Records are copied when a turn ends and written by the store's thread, many at once. What cannot
 * be written is counted, and said once; no call waits for it or fails.
 */
#ifndef MP_AUDIT_H
#define MP_AUDIT_H

#include "base/base.h"
#include "base/loop.h"
#include "config/values/settings.h"
#include "pool/call_log.h"
#include "store/db.h"

struct mp_audit;

/* For tests. */
enum { MP_AUDIT_BATCH = 256, MP_AUDIT_WAIT_MS = 2000 };

struct mp_audit_options {
	struct mp_loop *loop; /* borrowed, as are the next two */
	struct mp_call_log *calls;
	struct mp_db *db;
	/* What the settings say now; NULL: not known yet, nothing is kept. */
	const struct mp_audit_settings *(*get_settings)(void *u);
	void *u;
};

struct mp_audit *mp_audit_new(const struct mp_audit_options *o);
/* Write what there is now. */
void mp_audit_flush(struct mp_audit *a);
/* Before the log of calls is done; the store writes what was given to it. Accepts NULL, returns
 * NULL. */
struct mp_audit *mp_audit_free(struct mp_audit *a);
/* Records that are not in the store, and are not on their way to it. */
uint64_t mp_audit_count_lost(const struct mp_audit *a);

#endif
