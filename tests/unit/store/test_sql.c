/*
 * test_sql.c - connections that trust nothing, values of every kind, failures in words.
 */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/sql.h"

static struct sqlite3 *connect_empty(void)
{
	struct sqlite3 *sql = NULL;

	if (!store_clear() || !store_make_folder(0700) || !store_put_file(db_path, "", 0, 0600))
		return NULL;
	return mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why) < 0 ? NULL : sql;
}

TEST(values_of_every_kind_come_back)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = connect_empty();
	MP_SQL_QUERY(insert, "inserting", "INSERT INTO t VALUES (?1, ?2, ?3, ?4)",
		     mp_sql_text("a'b\"c;--\xc3\xa9"), mp_sql_blob("x\0y", 3),
		     mp_sql_int(INT64_MIN), mp_sql_text(NULL));
	const struct mp_sql_query select = {"selecting", "SELECT * FROM t", NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int64_t number = 7;

	CHECK(sql);
	CHECK_EQ(mp_sql_exec(sql, "making", "CREATE TABLE t (a, b, c, d)", &why), 0);
	CHECK_EQ(mp_sql_get(sql, &select, &number, &why), 0);
	CHECK_EQ(number, 7);
	CHECK_EQ(mp_sql_run(sql, &insert, &why), 1);
	CHECK_EQ(mp_sql_prepare(sql, &select, &s, &why), 0);
	CHECK_EQ(mp_sql_step(s, "selecting", &why), 1);
	CHECK_TEXT((const char *)sqlite3_column_text(s, 0), "a'b\"c;--\xc3\xa9");
	CHECK_EQ(sqlite3_column_bytes(s, 1), 3);
	CHECK(memcmp(sqlite3_column_blob(s, 1), "x\0y", 3) == 0);
	CHECK(sqlite3_column_int64(s, 2) == INT64_MIN);
	CHECK_EQ(sqlite3_column_type(s, 3), SQLITE_NULL);
	CHECK_EQ(mp_sql_step(s, "selecting", &why), 0);
}

TEST(empty_values_are_not_null)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = connect_empty();
	MP_SQL_QUERY(q, "asking", "SELECT ?1 IS NOT NULL AND ?2 IS NOT NULL", mp_sql_text(""),
		     mp_sql_blob(NULL, 0));
	int64_t number = 0;

	CHECK(sql);
	CHECK_EQ(mp_sql_get(sql, &q, &number, &why), 1);
	CHECK_EQ(number, 1);
}

TEST(what_is_too_long_is_a_limit)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = connect_empty();
	size_t n = MP_LIMIT_DB_VALUE + 1;
	MP_CLEANUP(mp_freep) char *text = mp_try_alloc(n + 1);
	int64_t number;

	CHECK(sql && text);
	memset(text, 'x', n);
	text[n] = '\0';
	{
		MP_SQL_QUERY(q, "asking", "SELECT ?1 IS NULL", mp_sql_text(text));

		CHECK_EQ(mp_sql_get(sql, &q, &number, &why), MCPOOL_ELIMIT);
		CHECK(strstr(why.message, "asking failed") && strstr(why.message, "too long"));
	}
}

TEST(the_schema_is_not_trusted)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = connect_empty();
	const struct mp_sql_query view = {"asking", "SELECT * FROM v", NULL, 0};
	const struct mp_sql_query count = {"asking", "SELECT count(*) FROM u", NULL, 0};
	int64_t number;

	CHECK(sql);
	CHECK(store_sql("CREATE TABLE t (x); CREATE TABLE u (x); CREATE VIEW v AS SELECT 1;"
			"CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO u VALUES (1); END"));
	CHECK(mp_sql_get(sql, &view, &number, &why) < 0);
	CHECK_EQ(mp_sql_exec(sql, "inserting", "INSERT INTO t VALUES (1)", &why), 0);
	CHECK_EQ(mp_sql_get(sql, &count, &number, &why), 1);
	CHECK_EQ(number, 0);
	/* Defensive: refused or without effect. */
	(void)sqlite3_exec(sql, "PRAGMA writable_schema=ON", NULL, NULL, NULL);
	CHECK(mp_sql_exec(sql, "bending", "DELETE FROM sqlite_schema", &why) < 0);
}

TEST(a_frozen_file_is_read_whatever_its_name)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = connect_empty();
	const struct mp_sql_query q = {"asking", "SELECT x FROM t", NULL, 0};
	char odd[120];
	int64_t number = 0;

	CHECK(sql);
	CHECK_EQ(mp_sql_exec(sql, "making", "CREATE TABLE t (x); INSERT INTO t VALUES (5)", &why),
		 0);
	sql = mp_sql_close(sql);
	snprintf(odd, sizeof(odd), "%s/a?b#c%%20d&mode=rw", test_folder);
	CHECK(rename(db_path, odd) == 0);
	CHECK_EQ(mp_sql_open(odd, MP_SQL_FROZEN, &sql, &why), 0);
	CHECK_EQ(mp_sql_get(sql, &q, &number, &why), 1);
	CHECK_EQ(number, 5);
	CHECK_EQ(mp_sql_exec(sql, "writing", "DELETE FROM t", &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "check the permissions"));
}

TEST(what_cannot_be_opened_is_said)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	char link[120];

	CHECK(store_clear());
	CHECK_EQ(mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "mcpool.db cannot be opened"));
	CHECK(store_make_folder(0700) && store_put_file(db_path, "", 0, 0600));
	snprintf(link, sizeof(link), "%s/link.db", test_folder);
	CHECK(symlink(db_path, link) == 0);
	CHECK_EQ(mp_sql_open(link, MP_SQL_SHARED, &sql, &why), MCPOOL_EIO);
	CHECK(!sql);
}
