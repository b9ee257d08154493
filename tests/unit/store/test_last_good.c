/* test_last_good.c - what a configuration file said when it could last be read. */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "store/last_good.h"
#include "store/sql.h"

static const char file[] = "/home/x/.config/mcpool/mcp.json";

/* What is queued is written in order, so behind this all of it is there. */
static int nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

static bool settle(struct mp_db *db)
{
	return mp_db_write(db, nothing, NULL, &why) == 0;
}

static int get(struct mp_db *db, const char *path, struct mp_buf *out)
{
	mp_buf_clear(out);
	return mp_last_good_read(db, path, out, &why);
}

/* chaos-C2 */
HEAVY_TEST(the_last_good_state_is_kept_and_replaced)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_MIB(1));
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(!mp_last_good_has(db, file));
	mp_last_good_write(db, file, MP_STR("{\"token\":\"s3cret\"}"), 1);
	CHECK(settle(db));
	CHECK(mp_last_good_has(db, file));
	CHECK_EQ(get(db, file, &out), 1);
	CHECK_STR(mp_buf_get(&out), "{\"token\":\"s3cret\"}");
	mp_last_good_write(db, file, MP_STR("{}"), 2);
	CHECK(settle(db));
	CHECK_EQ(get(db, file, &out), 1);
	CHECK_STR(mp_buf_get(&out), "{}");
	mp_last_good_write(db, file, MP_STR(""), 3);
	CHECK(settle(db));
	CHECK_EQ(get(db, file, &out), 0);
}

/* One statement that tests make, without waiting for a row. */
static int run(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	return mp_sql_exec(sql, "testing", u, reterr);
}

static int look(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"looking", u, NULL, 0};
	int64_t n = 0;
	int r = mp_sql_get(sql, &q, &n, reterr);

	return r < 0 ? r : (int)n;
}

/* No secret is readable in the database, and content does not pass for another file's. */
HEAVY_TEST(what_is_kept_is_encrypted_and_bound_to_its_file)
{
	static char clear[] = "SELECT count(*) FROM last_good WHERE instr(content, 's3cret') > 0";
	static char move[] = "UPDATE last_good SET file = '/other'";
	static char damage[] = "UPDATE last_good SET content = substr(content, 1, 5)";
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_MIB(1));
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_last_good_write(db, file, MP_STR("{\"token\":\"s3cret\"}"), 1);
	CHECK(settle(db));
	CHECK_EQ(mp_db_read(db, look, clear, &why), 0);
	CHECK(mp_db_write(db, run, move, &why) >= 0);
	CHECK_EQ(get(db, "/other", &out), 0);
	CHECK(mp_db_write(db, run, damage, &why) >= 0);
	CHECK_EQ(get(db, "/other", &out), 0);
}

HEAVY_TEST(the_file_written_longest_ago_goes_first)
{
	static char all[] = "SELECT count(*) FROM last_good";
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char path[40];

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	for (int i = 0; i <= MP_LIMIT_LAST_GOOD; i++) {
		snprintf(path, sizeof(path), "/f/%d", i);
		mp_last_good_write(db, path, MP_STR("{}"), i);
	}
	CHECK(settle(db));
	CHECK_EQ(mp_db_read(db, look, all, &why), MP_LIMIT_LAST_GOOD);
	CHECK(!mp_last_good_has(db, "/f/0"));
	CHECK(mp_last_good_has(db, "/f/1"));
}
