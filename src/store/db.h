/*
 * db.h - mcpool.db: SQLite in WAL mode, one writer thread, readers beside it.
 * Several processes may have it open at once. What is written here must survive; what cannot be
 * read is said, and nothing is ever overwritten because it was not understood.
 */
#ifndef MP_DB_H
#define MP_DB_H

#include "base/base.h"

struct sqlite3;
struct mp_db;

/*
 * Open (or make) the database: its folder 0700, itself 0600, the schema brought up to date in one
 * transaction. A file whose user_version is newer than ours is refused with a sentence that says
 * so; so is one that is not a database, or belongs to another user. MCPOOL_EIO, MCPOOL_EPERM,
 * MCPOOL_ESYSTEM, MCPOOL_EINVAL (newer).
 */
int mp_db_open(const char *path, struct mp_db **ret_db, struct mcpool_error *reterr) MP_MUST;
/* The one in the state folder, $XDG_STATE_HOME/mcpool/mcpool.db. */
int mp_db_open_default(struct mp_db **ret_db, struct mcpool_error *reterr) MP_MUST;
/* Waits for what is queued. Accepts NULL, returns NULL. */
struct mp_db *mp_db_close(struct mp_db *db);
static inline void mp_db_closep(struct mp_db **db)
{
	mp_db_close(*db);
}

/* Its path; PATH-wal beside it has the latest writes. */
const char *mp_db_get_path(const struct mp_db *db);

/* Work on a connection; returns MCPOOL_E*, or 0 or more, which is passed on. */
typedef int (*mp_db_fn)(struct sqlite3 *sql, void *u, struct mcpool_error *reterr);

/* On this thread, on the connection for reading. fn may read again, and write through mp_db_write.
 */
int mp_db_read(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr) MP_MUST;
/* A number that is another one after each change, by whatever process. */
int mp_db_get_mark(struct mp_db *db, int64_t *ret_mark, struct mcpool_error *reterr) MP_MUST;
/* On the writer's thread, in a transaction of its own; returns when it is committed or undone. */
int mp_db_write(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr) MP_MUST;
/*
 * The same without waiting: several of these share a transaction. done (may be NULL) runs on the
 * writer's thread with the result; it frees u. MCPOOL_ELIMIT when too many wait, MCPOOL_ESYSTEM,
 * MCPOOL_ECLOSED: then u is still the caller's.
 */
typedef void (*mp_db_done_fn)(int result, void *u);
int mp_db_write_later(struct mp_db *db, mp_db_fn fn, mp_db_done_fn done, void *u) MP_MUST;

#endif
