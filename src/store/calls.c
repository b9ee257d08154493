/*
 * calls.c - records of calls.
 * Beside them stands the number of their bytes, so that no write adds them up.
 */
#include "store/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "json/tape.h"
#include "store/sql.h"

/* ROW_BYTES: numbers of a row and its places in the indexes. */
enum { ROW_BYTES = 128, REMOVED_AT_ONCE = 20000 };

/* --- adding ---------------------------------------------------------------------------------- */

static const char insert_text[] =
	"INSERT INTO calls (time_ms, session, client, principal, project, server, method, tool,"
	" outcome, code, args, took_us, queue_us, bytes_in, bytes_out, args_hash, size)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";

enum { TEXTS = 9 }; /* ?3 to ?11 */

static int64_t row_bind(struct sqlite3_stmt *s, const struct mp_call_row *row)
{
	const char *texts[TEXTS] = {row->client,  row->principal, row->project,
				    row->server,  row->method,    row->tool,
				    row->outcome, row->code,      row->args};
	int64_t size = ROW_BYTES;

	(void)sqlite3_bind_int64(s, 1, row->wall_ms); /* only places can be wrong */
	(void)sqlite3_bind_int64(s, 2, (int64_t)row->session);
	for (int i = 0; i < TEXTS; i++) {
		(void)sqlite3_bind_text(s, 3 + i, texts[i], -1, SQLITE_STATIC);
		size += texts[i] ? (int64_t)strlen(texts[i]) : 0;
	}
	(void)sqlite3_bind_int64(s, 12, row->took_us);
	(void)sqlite3_bind_int64(s, 13, row->queue_us);
	(void)sqlite3_bind_int64(s, 14, (int64_t)row->bytes_in);
	(void)sqlite3_bind_int64(s, 15, (int64_t)row->bytes_out);
	(void)sqlite3_bind_int64(s, 16, (int64_t)row->args_hash);
	(void)sqlite3_bind_int64(s, 17, size);
	return size;
}

static int calls_insert(struct sqlite3 *sql, const struct mp_call_row *rows, size_t n,
			int64_t *ret_bytes, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"recording calls", insert_text, NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	*ret_bytes = 0;
	for (size_t i = 0; i < n && r >= 0; i++) {
		*ret_bytes += row_bind(s, &rows[i]);
		r = mp_sql_step(s, q.doing, reterr);
		(void)sqlite3_reset(s); /* repeats what the step said */
	}
	return r < 0 ? r : 0;
}

/* --- limits ---------------------------------------------------------------------------------- */

static int calls_count(struct sqlite3 *sql, int64_t by, int64_t *ret_bytes,
		       struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "counting calls",
		     "UPDATE calls_size SET bytes = bytes + ?1 RETURNING bytes", mp_sql_int(by));
	int r = mp_sql_get(sql, &q, ret_bytes, reterr);

	return r < 0 ? r : 0;
}

/* All up to this one. */
static int calls_remove(struct sqlite3 *sql, int64_t last, int64_t bytes, int64_t *ret_bytes,
			struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "removing old calls", "DELETE FROM calls WHERE n <= ?1", mp_sql_int(last));
	int r = mp_sql_run(sql, &q, reterr);

	return r < 0 ? r : calls_count(sql, -bytes, ret_bytes, reterr);
}

/*
 * The oldest first, until neither time nor size ask for more. Somewhat more than the size asks
 * for, so that not every write removes something.
 */
static int calls_tidy(struct sqlite3 *sql, const struct mp_calls_limits *limits, int64_t bytes,
		      struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"looking for old calls",
				       "SELECT n, time_ms, size FROM calls ORDER BY n", NULL, 0};
	int64_t most =
		bytes > limits->max_bytes ? limits->max_bytes - limits->max_bytes / 16 : INT64_MAX;
	struct sqlite3_stmt *s = NULL;
	int64_t last = 0, removed = 0;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	for (int i = 0; r >= 0 && i < REMOVED_AT_ONCE; i++) {
		r = mp_sql_step(s, q.doing, reterr);
		if (r <= 0 ||
		    (bytes - removed <= most && sqlite3_column_int64(s, 1) >= limits->oldest_ms))
			break;
		last = sqlite3_column_int64(s, 0);
		removed += sqlite3_column_int64(s, 2);
	}
	mp_sql_finalizep(&s);
	if (r < 0 || last == 0)
		return r < 0 ? r : 0;
	return calls_remove(sql, last, removed, &bytes, reterr);
}

int mp_calls_add(struct sqlite3 *sql, const struct mp_call_row *rows, size_t n,
		 const struct mp_calls_limits *limits, struct mcpool_error *reterr)
{
	int64_t added, bytes = 0;
	int r = calls_insert(sql, rows, n, &added, reterr);

	if (r == 0)
		r = calls_count(sql, added, &bytes, reterr);
	return r < 0 ? r : calls_tidy(sql, limits, bytes, reterr);
}

/* --- reading --------------------------------------------------------------------------------- */

struct calls_walk {
	int64_t since_ms, after;
	mp_call_row_fn fn;
	void *u;
};

/* NULL where it was none, or where SQLite ran out of memory. */
static const char *calls_text(struct sqlite3_stmt *s, int column)
{
	const char *text = (const char *)sqlite3_column_text(s, column);

	return text ? text : "";
}

static const char *calls_text_or_null(struct sqlite3_stmt *s, int column)
{
	return sqlite3_column_type(s, column) == SQLITE_NULL ? NULL : calls_text(s, column);
}

static int calls_tell(struct sqlite3_stmt *s, const struct calls_walk *w)
{
	const struct mp_call_row row = {
		.number = (uint64_t)sqlite3_column_int64(s, 0),
		.wall_ms = sqlite3_column_int64(s, 1),
		.session = (uint64_t)sqlite3_column_int64(s, 2),
		.client = calls_text(s, 3),
		.principal = calls_text(s, 4),
		.project = calls_text(s, 5),
		.server = calls_text(s, 6),
		.method = calls_text(s, 7),
		.tool = calls_text(s, 8),
		.outcome = calls_text(s, 9),
		.code = calls_text_or_null(s, 10),
		.args = calls_text_or_null(s, 11),
		.took_us = sqlite3_column_int64(s, 12),
		.queue_us = sqlite3_column_int64(s, 13),
		.bytes_in = (uint64_t)sqlite3_column_int64(s, 14),
		.bytes_out = (uint64_t)sqlite3_column_int64(s, 15),
		.args_hash = (uint64_t)sqlite3_column_int64(s, 16),
	};

	return w->fn(&row, w->u);
}

static int calls_each(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct calls_walk *w = u;
	MP_SQL_QUERY(q, "reading the calls",
		     "SELECT n, time_ms, session, client, principal, project, server, method, tool,"
		     " outcome, code, args, took_us, queue_us, bytes_in, bytes_out, args_hash"
		     " FROM calls WHERE n > ?1 AND time_ms >= ?2 ORDER BY n",
		     mp_sql_int(w->after), mp_sql_int(w->since_ms));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r < 0)
		return r;
	while ((r = mp_sql_step(s, q.doing, reterr)) > 0) {
		r = calls_tell(s, w);
		if (r != 0)
			return r;
	}
	return r;
}

int mp_calls_each(struct mp_db *db, int64_t since_ms, uint64_t after, mp_call_row_fn fn, void *u,
		  struct mcpool_error *reterr)
{
	struct calls_walk w = {since_ms, (int64_t)after, fn, u};

	return mp_db_read(db, calls_each, &w, reterr);
}

/* --- as JSON --------------------------------------------------------------------------------- */

/* Dots for secrets may have made it another text. */
static void row_write_args(struct mp_writer *w, const char *args)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, mp_str_of(args), NULL) == 0)
		mp_write_member_raw(w, "args", mp_str_of(args));
	else
		mp_write_member_text(w, "args", mp_str_of(args));
}

static void row_write_caller(struct mp_writer *w, const struct mp_call_row *row)
{
	mp_write_key(w, MP_STR("number"));
	mp_write_u64(w, row->number);
	mp_write_member_i64(w, "time", row->wall_ms);
	mp_write_key(w, MP_STR("session"));
	mp_write_u64(w, row->session);
	mp_write_member_text(w, "client", mp_str_of(row->client));
	mp_write_member_text(w, "principal", mp_str_of(row->principal));
	mp_write_member_text(w, "project", mp_str_of(row->project));
}

void mp_call_row_write(struct mp_writer *w, const struct mp_call_row *row)
{
	char hash[20];

	snprintf(hash, sizeof(hash), "%016" PRIx64, row->args_hash);
	row_write_caller(w, row);
	mp_write_member_text(w, "server", mp_str_of(row->server));
	mp_write_member_text(w, "method", mp_str_of(row->method));
	mp_write_member_text(w, "tool", mp_str_of(row->tool));
	mp_write_member_text(w, "outcome", mp_str_of(row->outcome));
	mp_write_key(w, MP_STR("code"));
	if (row->code)
		mp_write_text(w, mp_str_of(row->code));
	else
		mp_write_null(w);
	mp_write_member_i64(w, "latencyUs", row->took_us);
	mp_write_member_i64(w, "queueUs", row->queue_us);
	mp_write_member_i64(w, "bytesIn", (int64_t)row->bytes_in);
	mp_write_member_i64(w, "bytesOut", (int64_t)row->bytes_out);
	mp_write_member_text(w, "argsHash", mp_str_of(hash));
	if (row->args)
		row_write_args(w, row->args);
}
