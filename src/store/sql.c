/*
 * sql.c - what the files of store/ need of SQLite.
 * The file may have been tampered with, so its schema is not trusted: no triggers, no views, no
 * functions with side effects, checked pages.
 */
#include "store/sql.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"

enum { BUSY_MS = 5000, MAX_URI = 16384 };

/* --- failures ------------------------------------------------------------------------------- */

struct advice {
	int rc; /* primary result code */
	int code;
	const char *words;
};

static const struct advice advices[] = {
	{SQLITE_FULL, MCPOOL_EIO, "the disk is full, and nothing was changed"},
	{SQLITE_IOERR, MCPOOL_EIO, "the disk or its file system refused, and nothing was changed"},
	{SQLITE_READONLY, MCPOOL_EIO, "check the permissions of it and of its folder"},
	{SQLITE_CANTOPEN, MCPOOL_EIO, "check the permissions of it and of its folder"},
	{SQLITE_NOTADB, MCPOOL_EIO,
	 "it is not a database of mcpool and was not touched; move it away to start with a new "
	 "one"},
	{SQLITE_CORRUPT, MCPOOL_EIO,
	 "the file is damaged; put back a copy of it, or move it away to start with a new one"},
	{SQLITE_BUSY, MCPOOL_EAGAIN, "another process has kept it busy for long; try again"},
	{SQLITE_LOCKED, MCPOOL_EAGAIN, "another process has kept it busy for long; try again"},
	{SQLITE_PERM, MCPOOL_EPERM, "check the permissions of it and of its folder"},
	{SQLITE_NOMEM, MCPOOL_ENOMEM, "the system refused memory"},
	{SQLITE_TOOBIG, MCPOOL_ELIMIT, "a text is too long to be kept"},
};

/* A SQLite failure in words, with the file's name. */
static int db_fail(struct sqlite3 *sql, struct mcpool_error *reterr, const char *doing)
{
	int rc = sqlite3_extended_errcode(sql), errnum = sqlite3_system_errno(sql);
	const char *file = sqlite3_db_filename(sql, "main");
	const char *words = sqlite3_errmsg(sql);

	if ((rc & 0xff) == SQLITE_IOERR && errnum && strerrordesc_np(errnum))
		words = strerrordesc_np(errnum);
	if (!file || !file[0])
		file = "mcpool.db";
	for (size_t i = 0; i < MP_ARRAY_LEN(advices); i++)
		if (advices[i].rc == (rc & 0xff))
			return mp_fail(reterr, advices[i].code, "%s: %s failed (%s): %s", file,
				       doing, words, advices[i].words);
	return mp_fail(reterr, MCPOOL_ESYSTEM, "%s: %s failed: %s", file, doing, words);
}

/* --- connections ---------------------------------------------------------------------------- */

/* One long transaction, or a reader that held it open, must not take the disk for ever. */
static int limit_log(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	char text[64];

	snprintf(text, sizeof(text), "PRAGMA journal_size_limit=%zu", MP_LIMIT_DB_LOG);
	return mp_sql_exec(sql, "setting it up", text, reterr);
}

static int sql_configure(struct sqlite3 *sql, enum mp_sql_kind kind, struct mcpool_error *reterr)
{
	int r;

	(void)sqlite3_busy_timeout(sql, BUSY_MS); /* cannot fail on an open connection */
	(void)sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void)sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	(void)sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	(void)sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, (int)MP_LIMIT_DB_VALUE);
	/* What is committed survives a power loss: FULL. */
	r = mp_sql_exec(sql, "setting it up",
			kind == MP_SQL_FROZEN ? "PRAGMA trusted_schema=OFF;"
						"PRAGMA cell_size_check=ON;"
						"PRAGMA mmap_size=0;"
						"PRAGMA temp_store=MEMORY;"
						"PRAGMA query_only=ON"
					      : "PRAGMA trusted_schema=OFF;"
						"PRAGMA secure_delete=ON;"
						"PRAGMA cell_size_check=ON;"
						"PRAGMA mmap_size=0;"
						"PRAGMA temp_store=MEMORY;"
						"PRAGMA foreign_keys=OFF;"
						"PRAGMA synchronous=FULL",
			reterr);
	return r < 0 || kind == MP_SQL_FROZEN ? r : limit_log(sql, reterr);
}

/* The path as a URI, the only way to say "immutable". */
static int make_uri(const char *path, struct mp_buf *out)
{
	int r = mp_buf_add_str(out, MP_STR("file:"));

	for (; r == 0 && *path; path++)
		r = strchr("%?#", *path) ? mp_buf_addf(out, "%%%02x", (unsigned char)*path)
					 : mp_buf_add_char(out, *path);
	if (r == 0)
		r = mp_buf_add_str(out, MP_STR("?immutable=1"));
	return r < 0 ? r : mp_buf_terminate(out);
}

static int connect_to(const char *path, enum mp_sql_kind kind, struct sqlite3 **ret_sql)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
	MP_CLEANUP(mp_buf_done) struct mp_buf uri;

	mp_buf_init(&uri, MAX_URI);
	if (kind == MP_SQL_SHARED)
		return sqlite3_open_v2(path, ret_sql, flags | SQLITE_OPEN_READWRITE, NULL);
	if (make_uri(path, &uri) < 0)
		return SQLITE_NOMEM;
	return sqlite3_open_v2(uri.data, ret_sql, flags | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
			       NULL);
}

int mp_sql_open(const char *path, enum mp_sql_kind kind, struct sqlite3 **ret_sql,
		struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	int rc = connect_to(path, kind, &sql), r;

	if (rc != SQLITE_OK)
		return mp_fail(reterr, (rc & 0xff) == SQLITE_NOMEM ? MCPOOL_ENOMEM : MCPOOL_EIO,
			       "%s cannot be opened: %s; check the permissions of its folder", path,
			       sqlite3_errstr(rc));
	r = sql_configure(sql, kind, reterr);
	if (r < 0)
		return r;
	*ret_sql = MP_TAKE(sql);
	return 0;
}

struct sqlite3 *mp_sql_close(struct sqlite3 *sql)
{
	mp_check(sqlite3_close(sql) == SQLITE_OK); /* else a statement was forgotten */
	return NULL;
}

/* --- statements ----------------------------------------------------------------------------- */

static int sql_bind(struct sqlite3_stmt *s, int at, const struct mp_sql_value *v)
{
	const char *bytes = v->bytes.p ? v->bytes.p : "";

	switch (v->type) {
	case MP_SQL_NULL:
		return sqlite3_bind_null(s, at);
	case MP_SQL_TEXT:
		return sqlite3_bind_text64(s, at, bytes, v->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
	case MP_SQL_BLOB:
		return sqlite3_bind_blob64(s, at, bytes, v->bytes.len, SQLITE_STATIC);
	case MP_SQL_INT:
		return sqlite3_bind_int64(s, at, v->number);
	}
	return SQLITE_MISUSE;
}

int mp_sql_prepare(struct sqlite3 *sql, const struct mp_sql_query *q, struct sqlite3_stmt **ret_s,
		   struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(sql, q->text, -1, &s, NULL);

	for (size_t i = 0; rc == SQLITE_OK && i < q->n; i++)
		rc = sql_bind(s, (int)i + 1, &q->values[i]);
	if (rc != SQLITE_OK)
		return db_fail(sql, reterr, q->doing);
	*ret_s = MP_TAKE(s);
	return 0;
}

int mp_sql_step(struct sqlite3_stmt *s, const char *doing, struct mcpool_error *reterr)
{
	switch (sqlite3_step(s)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return db_fail(sqlite3_db_handle(s), reterr, doing);
	}
}

int mp_sql_run(struct sqlite3 *sql, const struct mp_sql_query *q, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, q, &s, reterr);

	if (r == 0)
		r = mp_sql_step(s, q->doing, reterr);
	return r < 0 ? r : sqlite3_changes(sql);
}

int mp_sql_get(struct sqlite3 *sql, const struct mp_sql_query *q, int64_t *ret_number,
	       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, q, &s, reterr);

	if (r == 0)
		r = mp_sql_step(s, q->doing, reterr);
	if (r > 0)
		*ret_number = sqlite3_column_int64(s, 0);
	return r;
}

int mp_sql_exec(struct sqlite3 *sql, const char *doing, const char *text,
		struct mcpool_error *reterr)
{
	int rc = sqlite3_exec(sql, text, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_fail(sql, reterr, doing);
}
