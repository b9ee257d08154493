/*
 * schema.h - the tables of mcpool.db, and the migrations of older files.
 * PRAGMA user_version counts the steps a file has had.
 */
#ifndef MP_SCHEMA_H
#define MP_SCHEMA_H

#include "base/base.h"

struct sqlite3;

struct mp_schema {
	const char *const *steps; /* SQL; the first makes version 1 of an empty file */
	int n;
};
extern const struct mp_schema mp_schema_present;

/*
 * Is this file of ours, and not newer than we are? Its version, or MCPOOL_EINVAL with a sentence.
 * Reads only.
 */
int mp_schema_check(struct sqlite3 *sql, const struct mp_schema *schema,
		    struct mcpool_error *reterr) MP_MUST;
/* Check, switch to a write-ahead log, and take the steps that are missing, each a transaction. */
int mp_schema_update(struct sqlite3 *sql, const struct mp_schema *schema,
		     struct mcpool_error *reterr) MP_MUST;

#endif
