/*
 * held_names.h - which tool had a public name for itself alone, in this run of the hub and before.
 * When two tools ask for one name, the one that had it alone in an earlier run keeps it (V39).
 */
#ifndef MP_HELD_NAMES_H
#define MP_HELD_NAMES_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/db.h"
#include "store/digest.h"

/* Names of one workspace, one style and one kind. */
struct mp_held_scope {
	unsigned char bytes[MP_DIGEST_SIZE];
};
void mp_held_name_scope(const char *root, int style, int kind, struct mp_held_scope *ret);

/* A hub starts: what was written until now is of earlier runs. */
void mp_held_begin_run(struct mp_db *db);

/* fn for each that is of an earlier run. How many; trouble with the store is an error. */
typedef void (*mp_held_fn)(void *u, struct mp_str public_name, struct mp_str server,
			   struct mp_str name);
int mp_held_read(struct mp_db *db, const struct mp_held_scope *scope, mp_held_fn fn, void *u,
		 struct mcpool_error *reterr) MP_MUST;

/*
 * Written later; *rows is taken. A server has MP_LIMIT_TOOLS names in a scope at most: its own
 * oldest go. Beyond MP_LIMIT_HELD_SCOPES the scopes that were written longest ago go.
 */
int mp_held_add(struct mp_buf *rows, struct mp_str public_name, struct mp_str server,
		struct mp_str name) MP_MUST;
void mp_held_write(struct mp_db *db, const struct mp_held_scope *scope, struct mp_buf *rows);

#endif
