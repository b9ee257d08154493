/*
 * calls.h - records of calls, kept for a number of days and up to a number of bytes: the audit.
 */
#ifndef MP_STORE_CALLS_H
#define MP_STORE_CALLS_H

#include "base/base.h"
#include "json/write.h"
#include "store/db.h"

/* One call that ended (doc/protocol.md, "Calls"). Texts are borrowed. */
struct mp_call_row {
	uint64_t number; /* of the ring, or of the store */
	int64_t wall_ms;
	uint64_t session;
	const char *client, *principal, *project, *server, *method, *tool;
	const char *outcome;
	const char *code; /* NULL: there was an answer */
	const char *args; /* params; NULL: not kept */
	int64_t took_us, queue_us;
	uint64_t bytes_in, bytes_out, args_hash;
};
/* The members of one object. */
void mp_call_row_write(struct mp_writer *w, const struct mp_call_row *row);

struct mp_calls_limits {
	int64_t oldest_ms; /* records before it go; 0: none does */
	int64_t max_bytes; /* of all records; the oldest go */
};

/* In a transaction (mp_db_fn): add these, then remove what is beyond the limits. */
int mp_calls_add(struct sqlite3 *sql, const struct mp_call_row *rows, size_t n,
		 const struct mp_calls_limits *limits, struct mcpool_error *reterr) MP_MUST;

/*
 * Since then and behind this number, oldest first. fn returns 0 to go on; another value ends the
 * walk and is returned. Meanwhile writers cannot reuse their log, so fn must not wait.
 */
typedef int (*mp_call_row_fn)(const struct mp_call_row *row, void *u);
int mp_calls_each(struct mp_db *db, int64_t since_ms, uint64_t after, mp_call_row_fn fn, void *u,
		  struct mcpool_error *reterr) MP_MUST;

#endif
