/*
 * db.c - mcpool.db: one connection for reading, one for writing on a thread of its own.
 * Writes come from any thread and wait in a queue. Each is a savepoint, so that one that fails is
 * undone alone; those without a waiting caller share a transaction.
 */
#include "store/db.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "files/private.h"
#include "store/schema.h"
#include "store/sql.h"

enum { MAX_BATCH = 256 };

struct job {
	struct mp_link link;
	mp_db_fn fn;
	mp_db_done_fn done; /* NULL if a caller waits */
	void *u;
	bool awaited; /* on the stack of the waiting caller; else owned */
	bool finished;
	int result;
	struct mcpool_error error;
};

static const struct mp_log store_log = {"store"};

struct mp_db {
	char path[PATH_MAX];     /* real */
	pthread_mutex_t reading; /* recursive: a read within a read */
	struct sqlite3 *reader;  /* NULL: the file is frozen, and opened for each read */

	pthread_mutex_t lock; /* of all below, except where noted */
	pthread_cond_t work, finished;
	struct mp_list queue; /* of jobs */
	bool started, closing;
	pthread_t thread;
	struct sqlite3 *writer; /* the thread's alone; NULL: to be opened */
	bool is_failing;        /* the thread's alone; the last write without a caller failed */
};

/* --- before each use ------------------------------------------------------------------------ */

/* The file may have been removed or brought up to a newer schema since we opened it. */
static int check_file(const struct mp_db *db, struct sqlite3 *sql, struct mcpool_error *reterr)
{
	int moved = 0, version;

	(void)sqlite3_file_control(sql, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved)
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s was removed or replaced while it was in use; start mcpool again",
			       db->path);
	version = mp_schema_check(sql, &mp_schema_present, reterr);
	if (version < 0)
		return version;
	return version == mp_schema_present.n
		       ? 0
		       : mp_fail(reterr, MCPOOL_EIO, "%s has lost its contents", db->path);
}

const char *mp_db_get_path(const struct mp_db *db)
{
	return db->path;
}

/* --- reading -------------------------------------------------------------------------------- */

/* What a writer left in its log would not be seen, and that may be a "no more". */
static bool has_log(const struct mp_db *db)
{
	char log[PATH_MAX + 8];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", db->path);
	return stat(log, &st) < 0 ? errno != ENOENT : st.st_size > 0;
}

static int read_frozen(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	int r;

	if (has_log(db))
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s has unfinished writes and cannot be written; check the "
			       "permissions of it and of its folder",
			       db->path);
	r = mp_sql_open(db->path, MP_SQL_FROZEN, &sql, reterr);
	if (r == 0)
		r = check_file(db, sql, reterr);
	return r < 0 ? r : fn(sql, u, reterr);
}

static int read_shared(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr)
{
	int r;

	pthread_mutex_lock(&db->reading);
	r = check_file(db, db->reader, reterr);
	if (r == 0)
		r = fn(db->reader, u, reterr);
	pthread_mutex_unlock(&db->reading);
	return r;
}

int mp_db_read(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr)
{
	return db->reader ? read_shared(db, fn, u, reterr) : read_frozen(db, fn, u, reterr);
}

static int db_read_mark(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"looking for changes",
				       "SELECT data_version FROM pragma_data_version", NULL, 0};
	int r = mp_sql_get(sql, &q, u, reterr);

	return r < 0 ? r : 0;
}

int mp_db_get_mark(struct mp_db *db, int64_t *ret_mark, struct mcpool_error *reterr)
{
	return mp_db_read(db, db_read_mark, ret_mark, reterr);
}

/* --- the writer's thread -------------------------------------------------------------------- */

static int db_begin(struct mp_db *db, struct mcpool_error *reterr)
{
	int r = db->writer ? 0 : mp_sql_open(db->path, MP_SQL_SHARED, &db->writer, reterr);

	if (r == 0)
		r = mp_sql_exec(db->writer, "beginning to write", "BEGIN IMMEDIATE", reterr);
	return r < 0 ? r : check_file(db, db->writer, reterr);
}

/* False: the whole transaction is gone, as on a full disk, or cannot be trusted any more. */
static bool run_job(struct sqlite3 *sql, struct job *job)
{
	int r = mp_sql_exec(sql, "writing", "SAVEPOINT job", &job->error);

	if (r == 0)
		r = job->fn(sql, job->u, &job->error);
	job->result = r;
	if (sqlite3_get_autocommit(sql))
		return false;
	if (r < 0)
		return sqlite3_exec(sql, "ROLLBACK TO job; RELEASE job", NULL, NULL, NULL) ==
		       SQLITE_OK;
	r = mp_sql_exec(sql, "writing", "RELEASE job", &job->error);
	if (r < 0)
		job->result = r;
	return r == 0;
}

/* Those that had failed by themselves keep their reasons. */
static void fail_rest(struct mp_list *batch, int result, const struct mcpool_error *error)
{
	MP_LIST_EACH(batch, link) {
		struct job *job = mp_container_of(link, struct job, link);

		if (job->result >= 0) {
			job->result = result;
			job->error = *error;
		}
	}
}

/* A connection that failed is not used again: the next write opens another. */
static void give_up(struct mp_db *db)
{
	if (db->writer && !sqlite3_get_autocommit(db->writer))
		(void)sqlite3_exec(db->writer, "ROLLBACK", NULL, NULL, NULL); /* closing does it */
	db->writer = mp_sql_close(db->writer);
}

static void run_batch(struct mp_db *db, struct mp_list *batch)
{
	struct mcpool_error error = {0};
	int r = db_begin(db, &error);

	if (r == 0) {
		MP_LIST_EACH(batch, link) {
			struct job *job = mp_container_of(link, struct job, link);

			if (run_job(db->writer, job))
				continue;
			r = job->result < 0 ? job->result : MCPOOL_EIO;
			error = job->error;
			break;
		}
	}
	if (r == 0)
		r = mp_sql_exec(db->writer, "writing", "COMMIT", &error);
	if (r < 0) {
		fail_rest(batch, r, &error);
		give_up(db);
	}
}

/* A job with a waiting caller is a transaction of its own; the others share one. */
static void take_batch(struct mp_db *db, struct mp_list *batch)
{
	struct mp_link *link;

	mp_list_init(batch);
	while (batch->len < MAX_BATCH && (link = mp_list_first(&db->queue))) {
		struct job *job = mp_container_of(link, struct job, link);

		if (batch->len > 0 && job->awaited)
			return;
		mp_list_remove(&db->queue, link);
		mp_list_append(batch, link);
		if (job->awaited)
			return;
	}
}

/* No caller hears of it, and nothing stops: one line, until a write succeeds again (A59). */
static void tell_failure(struct mp_db *db, const struct job *job)
{
	if (job->result < 0 && !db->is_failing)
		mp_log_warn(&store_log, "the cache cannot be written: %s", job->error.message);
	db->is_failing = job->result < 0;
}

/* Without the lock, so that `done` may ask for more. */
static void db_answer(struct mp_db *db, struct mp_list *batch)
{
	struct mp_link *link;

	while ((link = mp_list_pop(batch))) {
		struct job *job = mp_container_of(link, struct job, link);

		if (job->awaited) {
			pthread_mutex_lock(&db->lock);
			job->finished = true; /* and gone, as soon as the lock is free */
			pthread_cond_broadcast(&db->finished);
			pthread_mutex_unlock(&db->lock);
			continue;
		}
		tell_failure(db, job);
		if (job->done)
			job->done(job->result, job->u);
		mp_free(job);
	}
}

static void *write_until_closed(void *u)
{
	struct mp_db *db = u;
	struct mp_list batch;

	pthread_mutex_lock(&db->lock);
	for (;;) {
		while (db->queue.len == 0 && !db->closing)
			pthread_cond_wait(&db->work, &db->lock);
		if (db->queue.len == 0)
			break;
		take_batch(db, &batch);
		pthread_mutex_unlock(&db->lock);
		run_batch(db, &batch);
		db_answer(db, &batch);
		pthread_mutex_lock(&db->lock);
	}
	pthread_mutex_unlock(&db->lock);
	give_up(db);
	return NULL;
}

/* --- asking it ------------------------------------------------------------------------------ */

/* Signals are for the threads that were there before. */
static int start_thread(struct mp_db *db)
{
	sigset_t all, before;
	int errnum;

	if (db->started)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(&db->thread, NULL, write_until_closed, db);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (errnum)
		return MCPOOL_ESYSTEM;
	(void)pthread_setname_np(db->thread, "mcpool-store"); /* a help for debuggers */
	db->started = true;
	return 0;
}

static int db_enqueue(struct mp_db *db, struct job *job)
{
	int r = db->closing ? MCPOOL_ECLOSED : start_thread(db);

	if (r < 0)
		return r;
	mp_list_append(&db->queue, &job->link);
	pthread_cond_signal(&db->work);
	return 0;
}

int mp_db_write(struct mp_db *db, mp_db_fn fn, void *u, struct mcpool_error *reterr)
{
	struct job job = {.fn = fn, .u = u, .awaited = true};
	int r;

	pthread_mutex_lock(&db->lock);
	mp_check(!db->started || !pthread_equal(pthread_self(), db->thread));
	r = db_enqueue(db, &job);
	while (r == 0 && !job.finished)
		pthread_cond_wait(&db->finished, &db->lock);
	pthread_mutex_unlock(&db->lock);
	if (r < 0)
		return mp_fail(reterr, r, "%s: the system refused a thread for writing", db->path);
	if (job.result < 0 && reterr)
		*reterr = job.error;
	return job.result;
}

int mp_db_write_later(struct mp_db *db, mp_db_fn fn, mp_db_done_fn done, void *u)
{
	struct job *job = mp_alloc(sizeof(*job));
	int r;

	*job = (struct job){.fn = fn, .done = done, .u = u};
	pthread_mutex_lock(&db->lock);
	r = db->queue.len < MP_LIMIT_DB_QUEUE ? db_enqueue(db, job) : MCPOOL_ELIMIT;
	pthread_mutex_unlock(&db->lock);
	if (r < 0)
		mp_free(job);
	return r;
}

/* --- life ----------------------------------------------------------------------------------- */

static void init_locks(struct mp_db *db)
{
	pthread_mutexattr_t again;

	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&db->reading, &again);
	pthread_mutexattr_destroy(&again);
	pthread_mutex_init(&db->lock, NULL);
	pthread_cond_init(&db->work, NULL);
	pthread_cond_init(&db->finished, NULL);
	mp_list_init(&db->queue);
}

static int db_look(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0; /* the checks before it are what was wanted */
}

/* Where the folder cannot be written, or the disk is full, what is there may still be read. */
static int open_reader(struct mp_db *db, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	struct mcpool_error error = {0};
	int r = mp_sql_open(db->path, MP_SQL_SHARED, &sql, &error);

	if (r == 0)
		r = mp_schema_update(sql, &mp_schema_present, &error);
	if (r == 0)
		r = mp_sql_exec(sql, "setting it up", "PRAGMA query_only=ON", &error);
	if (r == 0) {
		db->reader = MP_TAKE(sql);
		return 0;
	}
	sql = mp_sql_close(sql);
	if (r == MCPOOL_EIO && read_frozen(db, db_look, NULL, NULL) == 0)
		return 0;
	if (reterr)
		*reterr = error;
	return r;
}

int mp_db_open(const char *path, struct mp_db **ret_db, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = mp_alloc(sizeof(*db));
	int r;

	init_locks(db);
	r = mp_private_folder(path, db->path, reterr);
	if (r == 0)
		r = mp_private_file(db->path, reterr);
	if (r == 0)
		r = open_reader(db, reterr);
	if (r < 0)
		return r;
	*ret_db = MP_TAKE(db);
	return 0;
}

int mp_db_open_default(struct mp_db **ret_db, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r;

	mp_buf_init(&path, PATH_MAX);
	r = mp_path_state("mcpool.db", &path);
	if (r == MCPOOL_ENOENT)
		return mp_fail(reterr, r, "HOME is not set, so mcpool.db has no folder");
	if (r < 0)
		return mp_fail(reterr, r, "the path of mcpool.db: %s", mcpool_error_text(r));
	return mp_db_open(path.data, ret_db, reterr);
}

struct mp_db *mp_db_close(struct mp_db *db)
{
	if (!db)
		return NULL;
	pthread_mutex_lock(&db->lock);
	db->closing = true;
	pthread_cond_signal(&db->work);
	pthread_mutex_unlock(&db->lock);
	if (db->started)
		pthread_join(db->thread, NULL);
	mp_sql_close(db->reader);
	pthread_cond_destroy(&db->work);
	pthread_cond_destroy(&db->finished);
	pthread_mutex_destroy(&db->lock);
	pthread_mutex_destroy(&db->reading);
	mp_free(db);
	return NULL;
}
