/*
 * test_schema.c - files of every age: none, older, newer, foreign, and two who find it at once.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include "store/schema.h"
#include "store/sql.h"

#define STEP_ONE "CREATE TABLE a (x INTEGER); INSERT INTO a VALUES (1)"

static const char *const first_step[] = {STEP_ONE};
static const char *const three_steps[] = {
	STEP_ONE,
	"ALTER TABLE a ADD COLUMN y INTEGER; UPDATE a SET y = x + 1",
	"CREATE TABLE b (z INTEGER); INSERT INTO b SELECT y FROM a",
};
static const char *const broken_steps[] = {
	STEP_ONE,
	"CREATE TABLE b (z INTEGER); INSERT INTO nowhere VALUES (1)",
};
static const struct mp_schema one = {first_step, 1}, three = {three_steps, 3},
			      broken = {broken_steps, 2};

static int update(const struct mp_schema *schema)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	int r = mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why);

	return r < 0 ? r : mp_schema_update(sql, schema, &why);
}

static int64_t ask(const char *text)
{
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	const struct mp_sql_query q = {"asking", text, NULL, 0};
	int64_t number = -1;

	if (mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why) < 0 ||
	    mp_sql_get(sql, &q, &number, &why) < 1)
		return -1;
	return number;
}

static bool clear(void)
{
	return store_clear() && store_make_folder(0700) && store_put_file(db_path, "", 0, 0600);
}

TEST(an_empty_file_gets_all_steps)
{
	CHECK(clear());
	CHECK_EQ(update(&three), 0);
	CHECK_EQ(ask("PRAGMA user_version"), 3);
	CHECK_EQ(ask("PRAGMA application_id"), 0x6d63706c);
	CHECK_EQ(ask("SELECT z FROM b"), 2);
	CHECK_EQ(update(&three), 0);
	CHECK_EQ(ask("SELECT count(*) FROM b"), 1);
}

TEST(an_older_file_gets_what_is_missing)
{
	CHECK(clear());
	CHECK_EQ(update(&one), 0);
	CHECK_EQ(ask("PRAGMA user_version"), 1);
	CHECK(store_sql("UPDATE a SET x = 41"));
	CHECK_EQ(update(&three), 0);
	CHECK_EQ(ask("SELECT z FROM b"), 42);
}

TEST(a_newer_file_is_refused_by_numbers)
{
	CHECK(clear());
	CHECK_EQ(update(&three), 0);
	CHECK_EQ(update(&one), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "its version is 3, this mcpool knows 1; update mcpool"));
	CHECK(strstr(why.message, db_path + 5)); /* the folder for tests may be a link */
	CHECK_EQ(ask("SELECT z FROM b"), 2);
}

TEST(another_programs_database_is_not_touched)
{
	CHECK(clear());
	CHECK(store_sql("CREATE TABLE theirs (x)"));
	CHECK_EQ(update(&three), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "another program's database"));
	CHECK_EQ(ask("SELECT count(*) FROM sqlite_schema"), 1);
	CHECK(clear());
	CHECK(store_sql("PRAGMA user_version=1"));
	CHECK_EQ(update(&three), MCPOOL_EINVAL);
	CHECK(clear());
	CHECK(store_sql("PRAGMA application_id=7"));
	CHECK_EQ(update(&three), MCPOOL_EINVAL);
}

TEST(a_step_that_fails_is_undone_whole)
{
	CHECK(clear());
	CHECK_EQ(update(&broken), MCPOOL_ESYSTEM);
	CHECK(strstr(why.message, "bringing it up to date failed: no such table"));
	CHECK_EQ(ask("PRAGMA user_version"), 1);
	CHECK_EQ(ask("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
	CHECK_EQ(update(&three), 0);
	CHECK_EQ(ask("SELECT z FROM b"), 2);
}

static bool update_at_once(int number)
{
	(void)number;
	for (int i = 0; i < 5; i++)
		if (update(&three) < 0) {
			fprintf(stderr, "%s\n", why.message);
			return false;
		}
	return true;
}

HEAVY_TEST(eight_processes_take_each_step_once)
{
	for (int round = 0; round < 5; round++) {
		CHECK(clear());
		CHECK(child_run(update_at_once, 8));
		CHECK_EQ(ask("SELECT count(*) FROM a"), 1);
		CHECK_EQ(ask("SELECT count(*) FROM b"), 1);
		CHECK_EQ(ask("PRAGMA user_version"), 3);
	}
}
