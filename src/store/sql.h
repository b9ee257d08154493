/*
 * sql.h - what the files of store/ need of SQLite: connections set up for doubt, statements with
 * their values, failures in words.
 */
#ifndef MP_SQL_H
#define MP_SQL_H

#include <sqlite3.h>

#include "base/base.h"
#include "base/str.h"

enum mp_sql_kind {
	MP_SQL_SHARED, /* reading and writing, beside others who do */
	MP_SQL_FROZEN, /* reading a file that cannot be written: without locks and without a log */
};

/* path is real. Nothing is read or written yet. */
int mp_sql_open(const char *path, enum mp_sql_kind kind, struct sqlite3 **ret_sql,
		struct mcpool_error *reterr) MP_MUST;
struct sqlite3 *mp_sql_close(struct sqlite3 *sql); /* accepts NULL, returns NULL */
static inline void mp_sql_closep(struct sqlite3 **sql)
{
	mp_sql_close(*sql);
}

/* The values of ?1, ?2, ... in a statement. The bytes are borrowed until it is run. */
struct mp_sql_value {
	enum { MP_SQL_NULL, MP_SQL_TEXT, MP_SQL_BLOB, MP_SQL_INT } type;
	struct mp_str bytes;
	int64_t number;
};
static inline struct mp_sql_value mp_sql_text(const char *text) /* NULL is NULL */
{
	return (struct mp_sql_value){text ? MP_SQL_TEXT : MP_SQL_NULL, mp_str_of(text), 0};
}
static inline struct mp_sql_value mp_sql_blob(const void *bytes, size_t n)
{
	return (struct mp_sql_value){MP_SQL_BLOB, {bytes, n}, 0};
}
static inline struct mp_sql_value mp_sql_int(int64_t number)
{
	return (struct mp_sql_value){MP_SQL_INT, {NULL, 0}, number};
}

/* doing completes "... failed" in messages, as in "reading the approvals". */
struct mp_sql_query {
	const char *doing;
	const char *text;
	const struct mp_sql_value *values;
	size_t n;
};
#define MP_SQL_QUERY(name, doing, text, ...)                              \
	const struct mp_sql_value name##_values[] = {__VA_ARGS__};        \
	const struct mp_sql_query name = {(doing), (text), name##_values, \
					  MP_ARRAY_LEN(name##_values)}

int mp_sql_prepare(struct sqlite3 *sql, const struct mp_sql_query *q, struct sqlite3_stmt **ret_s,
		   struct mcpool_error *reterr) MP_MUST;
/* 1: a row; 0: the end. */
int mp_sql_step(struct sqlite3_stmt *s, const char *doing, struct mcpool_error *reterr) MP_MUST;
static inline void mp_sql_finalizep(struct sqlite3_stmt **s)
{
	(void)sqlite3_finalize(*s); /* repeats what mp_sql_step() said */
}

/* A statement for its effect: the number of rows changed. */
int mp_sql_run(struct sqlite3 *sql, const struct mp_sql_query *q,
	       struct mcpool_error *reterr) MP_MUST;
/* A statement for one number: 1 and the number, or 0 without a row. */
int mp_sql_get(struct sqlite3 *sql, const struct mp_sql_query *q, int64_t *ret_number,
	       struct mcpool_error *reterr) MP_MUST;
/* One or more statements without values. */
int mp_sql_exec(struct sqlite3 *sql, const char *doing, const char *text,
		struct mcpool_error *reterr) MP_MUST;

#endif
