/*
 * test_stored_catalog.c - a stored catalog is valid for 30 days, if complete, and only for its key.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/stored_catalog.h"
#include "store/eras.h"
#include "store/schema.h"
#include "store/sql.h"

#define DAY ((int64_t)24 * 3600 * 1000)
#define NOW (1000 * DAY)

static const struct mp_stored_catalog_key key = {"files", {"k\0y", 3}};

static const struct mp_stored_catalog sample = {
	.server = {"{\"name\":\"f\"}", 12},
	.lists = {{"[{},{}]", 7}, {NULL, 0}, {"[{\"uri\":\"\0\"}]", 12}, {"[]", 2}},
	.counts = {2, 0, 1, 0},
};

static int nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

/* What is queued is written in order, so behind this all of it is there. */
static bool settle(struct mp_db *db)
{
	return mp_db_write(db, nothing, NULL, &why) == 0;
}

static int count_rows(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"counting", u, NULL, 0};
	int64_t n = 0;
	int r = mp_sql_get(sql, &q, &n, reterr);

	return r < 0 ? r : (int)n;
}

static int ask(struct mp_db *db, const char *text)
{
	return mp_db_read(db, count_rows, (void *)(uintptr_t)text, &why);
}
#define COUNT "SELECT count(*) FROM definitions"

static bool is_same(const struct mp_stored_catalog *got, const struct mp_stored_catalog *want)
{
	REQUIRE(mp_str_eq(got->server, want->server));
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++) {
		REQUIRE(mp_str_eq(got->lists[i], want->lists[i]));
		REQUIRE(got->counts[i] == want->counts[i]);
	}
	return true;
}

static bool finds(struct mp_db *db, const struct mp_stored_catalog_key *k, int64_t wall_ms,
		  const struct mp_stored_catalog *want)
{
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};

	REQUIRE(mp_stored_catalog_get(db, k, wall_ms, &got) == 1);
	return is_same(&got, want);
}

static bool finds_nothing(struct mp_db *db, const struct mp_stored_catalog_key *k, int64_t wall_ms)
{
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};

	REQUIRE(mp_stored_catalog_get(db, k, wall_ms, &got) == 0);
	REQUIRE(!got.text && !got.server.p && got.saved_ms == 0);
	return true;
}

static bool put(struct mp_db *db, const struct mp_stored_catalog_key *k,
		const struct mp_stored_catalog *d, int64_t wall_ms)
{
	mp_stored_catalog_put(db, k, d, wall_ms);
	return settle(db);
}

static struct mp_db *open_empty(void)
{
	return store_clear() ? store_open() : NULL;
}

/* U24 */
TEST(what_is_put_is_found)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};

	CHECK(db);
	CHECK(finds_nothing(db, &key, NOW));
	CHECK(put(db, &key, &sample, NOW));
	CHECK_EQ(mp_stored_catalog_get(db, &key, NOW + 5, &got), 1);
	CHECK(is_same(&got, &sample));
	CHECK_EQ(got.saved_ms, NOW);
	mp_stored_catalog_done(&got);
	db = mp_db_close(db);
	db = store_open();
	CHECK(db);
	CHECK(finds(db, &key, NOW + DAY, &sample));
	CHECK(put(db, &key, &(struct mp_stored_catalog){0},
		  NOW + 9)); /* a server that offers nothing */
	CHECK(finds(db, &key, NOW + DAY, &(struct mp_stored_catalog){0}));
	mp_stored_catalog_forget(db, &key);
	CHECK(settle(db));
	CHECK(finds_nothing(db, &key, NOW + DAY));
	CHECK_EQ(ask(db, COUNT), 0);
}

TEST(counts_alone)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};

	CHECK(db);
	CHECK_EQ(mp_stored_catalog_peek(db, &key, NOW, &got), 0);
	CHECK(put(db, &key, &sample, NOW));
	CHECK_EQ(mp_stored_catalog_peek(db, &key, NOW, &got), 1);
	CHECK(memcmp(got.counts, sample.counts, sizeof(got.counts)) == 0);
	CHECK_EQ(got.saved_ms, NOW);
	CHECK(!got.text && !got.server.p && got.server.len == 0 && got.lists[0].len == 0);
	CHECK_EQ(mp_stored_catalog_peek(db, &key, NOW + 30 * DAY, &got), 0);
	CHECK(store_sql("UPDATE definitions SET tools = x''"));
	CHECK_EQ(mp_stored_catalog_peek(db, &key, NOW, &got), 0); /* sizes and counts do not fit */
	CHECK(put(db, &key, &sample, NOW));
	CHECK(store_sql("UPDATE definitions SET format = 0"));
	CHECK_EQ(mp_stored_catalog_peek(db, &key, NOW, &got), 0);
	CHECK_EQ(got.saved_ms, 0);
}

/* U24 X12 */
TEST(rows_never_cross_credentials)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	const struct mp_stored_catalog_key others[] = {
		{"files", MP_STR("k\0z")}, {"files", MP_STR("k")},   {"files", {NULL, 0}},
		{"Files", MP_STR("k\0y")}, {"file", MP_STR("k\0y")},
	};
	struct mp_stored_catalog theirs = sample;

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++)
		CHECK(finds_nothing(db, &others[i], NOW));
	theirs.server = MP_STR("{\"name\":\"theirs\"}");
	CHECK(put(db, &others[0], &theirs, NOW));
	CHECK(finds(db, &key, NOW, &sample));
	CHECK(finds(db, &others[0], NOW, &theirs));
	mp_stored_catalog_forget(db, &others[0]);
	CHECK(settle(db));
	CHECK(finds(db, &key, NOW, &sample));
	/* Not even when somebody moves the row. */
	CHECK(store_sql("UPDATE definitions SET launch_key = x'6b007a'"));
	CHECK(finds_nothing(db, &others[0], NOW));
	CHECK(finds_nothing(db, &key, NOW));
}

/* U24 */
TEST(thirty_days)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	const struct mp_stored_catalog_key other = {"web", MP_STR("w")};

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	CHECK(finds(db, &key, NOW + 30 * DAY - 1, &sample));
	CHECK(finds_nothing(db, &key, NOW + 30 * DAY));
	CHECK(put(db, &other, &sample, NOW + 30 * DAY - 1));
	CHECK_EQ(ask(db, COUNT), 2);
	CHECK(put(db, &other, &(struct mp_stored_catalog){0}, NOW + 30 * DAY)); /* sweeps */
	CHECK_EQ(ask(db, COUNT), 1);
}

TEST(the_future_is_not_believed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};
	const struct mp_stored_catalog_key other = {"web", MP_STR("w")};

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	CHECK(finds_nothing(db, &key, NOW - DAY)); /* the clock was set back */
	CHECK(finds_nothing(db, &key, NOW - MP_SECONDS(61)));
	/* Somebody else's turn may be a little later than ours. */
	CHECK_EQ(mp_stored_catalog_get(db, &key, NOW - 20, &got), 1);
	CHECK_EQ(got.saved_ms, NOW - 20);
	CHECK(put(db, &other, &sample, NOW - 20));
	CHECK_EQ(ask(db, COUNT), 2);
	CHECK(put(db, &other, &sample, NOW - DAY)); /* sweeps both; its own row is written again */
	CHECK_EQ(ask(db, COUNT), 1);
	CHECK(finds(db, &other, NOW - DAY, &sample));
}

TEST(the_same_again_is_written_once_a_day)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	struct mp_stored_catalog other = sample;

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	CHECK(put(db, &key, &sample, NOW + DAY - 1));
	CHECK_EQ(ask(db, "SELECT saved_ms = 86400000000 FROM definitions"), 1);
	CHECK(put(db, &key, &sample, NOW + DAY));
	CHECK_EQ(ask(db, "SELECT saved_ms = 86486400000 FROM definitions"), 1);
	other.lists[3] = MP_STR("[ ]"); /* anything else at once */
	CHECK(put(db, &key, &other, NOW + DAY + 1));
	CHECK(finds(db, &key, NOW + DAY + 1, &other));
	other.counts[3] = 1;
	CHECK(put(db, &key, &other, NOW + DAY + 2));
	CHECK(finds(db, &key, NOW + DAY + 2, &other));
}

/* U24 */
TEST(what_is_broken_is_none_and_gets_replaced)
{
	static const char *const harm[] = {
		"UPDATE definitions SET tools = x'5b7b7d2c7b7d20'", /* as long as it was */
		"UPDATE definitions SET tools = CAST(tools || x'20' AS BLOB)",
		"UPDATE definitions SET tools = x''",
		"UPDATE definitions SET server = zeroblob(12)",
		"UPDATE definitions SET prompts = x'5b5d', tools = x'5b7b7d5d20'",
		"UPDATE definitions SET tools = server, server = tools",
		"UPDATE definitions SET n_tools = 1",
		"UPDATE definitions SET n_tools = 3",
		"UPDATE definitions SET n_tools = -1",
		"UPDATE definitions SET n_tools = 9223372036854775807",
		"UPDATE definitions SET n_prompts = 1",
		"UPDATE definitions SET n_templates = 1",
		"UPDATE definitions SET size = size + 1",
		"UPDATE definitions SET size = -1",
		"UPDATE definitions SET digest = zeroblob(32)",
		"UPDATE definitions SET format = 2",
		"UPDATE definitions SET format = 0",
		"UPDATE definitions SET name = 'file'",
		"UPDATE definitions SET saved_ms = -9223372036854775807 - 1",
		"UPDATE definitions SET saved_ms = 9223372036854775807",
		"DELETE FROM definitions",
	};

	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();

	CHECK(db);
	for (size_t i = 0; i < MP_ARRAY_LEN(harm); i++) {
		CHECK(put(db, &key, &sample, NOW));
		CHECK(finds(db, &key, NOW, &sample));
		CHECK(store_sql(harm[i]));
		CHECK(finds_nothing(db, &key, NOW));
	}
	CHECK(put(db, &key, &sample, NOW));
	CHECK(finds(db, &key, NOW, &sample));
}

/* --- limits --------------------------------------------------------------------------------- */

static char *make_text(size_t n)
{
	char *text = mp_try_alloc(n);

	if (text)
		memset(text, 'x', n);
	return text;
}

/* U24 */
HEAVY_TEST(big_lists)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	MP_CLEANUP(mp_freep) char *text = make_text(MP_LIMIT_DEFINITION + 1);
	struct mp_stored_catalog d = {.counts = {10000}};

	CHECK(db && text);
	d.server = (struct mp_str){text, MP_MIB(1)};
	d.lists[0] = (struct mp_str){text, MP_MIB(9)};
	d.lists[2] = (struct mp_str){text, MP_MIB(6)};
	CHECK(put(db, &key, &d, NOW));
	CHECK(finds(db, &key, NOW, &d));
	d.lists[1] = MP_STR("y"); /* a byte too much */
	CHECK(put(db, &key, &d, NOW));
	CHECK(finds_nothing(db, &key, NOW)); /* what was there is not true any more */
	d = (struct mp_stored_catalog){.server = {text, SIZE_MAX - 3}, .lists = {{text, 10}}};
	CHECK(put(db, &key, &d, NOW));
	CHECK(finds_nothing(db, &key, NOW));
	CHECK_EQ(ask(db, COUNT), 0);
}

HEAVY_TEST(the_oldest_go)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	const struct mp_stored_catalog_key other = {"web", MP_STR("w")};
	char sql[300];

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	snprintf(sql, sizeof(sql),
		 "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
		 " INSERT INTO definitions SELECT NULL, i, x'00', 1, saved_ms + i, 0, 0, 0, 0, 0,"
		 " digest, x'', x'', x'', x'', x'' FROM definitions, c",
		 MP_LIMIT_DEFINITIONS - 1);
	CHECK(store_sql(sql));
	CHECK_EQ(ask(db, COUNT), MP_LIMIT_DEFINITIONS);
	CHECK(finds(db, &key, NOW + DAY, &sample));
	CHECK(put(db, &other, &sample, NOW + DAY));
	CHECK_EQ(ask(db, COUNT), MP_LIMIT_DEFINITIONS);
	CHECK(finds_nothing(db, &key, NOW + DAY));
	CHECK(finds(db, &other, NOW + DAY, &sample));
	/* And so many bytes: three rows that say they are large. */
	CHECK(store_sql("UPDATE definitions SET size = 200 << 20 WHERE name IN ('7', '8', '9')"));
	CHECK(put(db, &key, &sample, NOW + DAY));
	CHECK_EQ(ask(db, "SELECT count(*) FROM definitions WHERE size > 1000"), 2);
	CHECK_EQ(ask(db, "SELECT count(*) FROM definitions WHERE name IN ('1', '7')"), 0);
	CHECK(finds(db, &key, NOW + DAY, &sample));
}

/* attack-S3: a server with many credentials, or large lists, pushes out its own. */
HEAVY_TEST(one_server_pushes_out_its_own)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = open_empty();
	const struct mp_stored_catalog_key evil = {"evil", MP_STR("newest")};
	char sql[400];

	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	snprintf(sql, sizeof(sql),
		 "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
		 " INSERT INTO definitions SELECT NULL, 'evil', CAST(i AS BLOB), 1, saved_ms + i, "
		 "0, 0,"
		 " 0, 0, 0, digest, x'', x'', x'', x'', x'' FROM definitions, c",
		 2 * MP_LIMIT_DEFINITIONS);
	CHECK(store_sql(sql));
	CHECK(put(db, &evil, &sample, NOW + DAY));
	CHECK_EQ(ask(db, COUNT), MP_LIMIT_DEFINITIONS);
	CHECK(finds(db, &key, NOW + DAY, &sample));
	CHECK(finds(db, &evil, NOW + DAY, &sample));
	CHECK(store_sql("UPDATE definitions SET size = 16 << 20 WHERE name = 'evil'"));
	CHECK(put(db, &evil, &sample, NOW + 3 * DAY));
	CHECK_EQ(ask(db, "SELECT count(*) FROM definitions WHERE size > 1000"), 31);
	CHECK(finds(db, &key, NOW + DAY, &sample));
}

/* --- others --------------------------------------------------------------------------------- */

static void make_round(struct mp_stored_catalog *d, char *text, size_t n, int round)
{
	*d = (struct mp_stored_catalog){.counts = {(size_t)round + 1}};
	memset(text, 'a' + round % 26, n);
	d->server = (struct mp_str){text, 1 + (size_t)round};
	d->lists[0] = (struct mp_str){text, n};
}

/* Whole: what one of them wrote, never a mixture. */
static bool is_whole(const struct mp_stored_catalog *d)
{
	int round = (int)d->counts[0] - 1;

	REQUIRE(d->server.len == d->counts[0]);
	for (size_t i = 0; i < d->lists[0].len; i++)
		REQUIRE(d->lists[0].p[i] == 'a' + round % 26);
	return true;
}

static bool write_and_read(int number)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = store_open();
	static char text[50000];

	REQUIRE(db);
	for (int round = 0; round < 30; round++) {
		MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};
		struct mp_stored_catalog d;

		make_round(&d, text, 20000 + 1000 * (size_t)number, round + 30 * number);
		REQUIRE(put(db, &key, &d, NOW + round));
		REQUIRE(mp_stored_catalog_get(db, &key, NOW + round, &got) == 1);
		REQUIRE(is_whole(&got));
	}
	return true;
}

/* U24 */
HEAVY_TEST(several_processes_write_and_read_at_once)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	CHECK(child_run(write_and_read, 4));
	db = store_open();
	CHECK(db);
	CHECK_EQ(ask(db, COUNT), 1);
}

/* U24 */
TEST(two_handles_on_one_file)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *a = open_empty();
	MP_CLEANUP(mp_db_closep) struct mp_db *b = a ? store_open() : NULL;
	struct mp_stored_catalog other = sample;

	CHECK(a && b);
	other.lists[1] = MP_STR("[]");
	CHECK(put(a, &key, &sample, NOW));
	CHECK(finds(b, &key, NOW, &sample));
	CHECK(put(b, &key, &other, NOW + 1));
	CHECK(finds(a, &key, NOW + 1, &other));
	CHECK_EQ(ask(a, COUNT), 1);
}

/* U24 */
TEST(a_file_of_the_version_before)
{
	const struct mp_schema before = {mp_schema_present.steps, 1};
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear() && store_make_folder(0700) && store_put_file(db_path, "", 0, 0600));
	CHECK_EQ(mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why), 0);
	CHECK_EQ(mp_schema_update(sql, &before, &why), 0);
	CHECK_EQ(mp_sql_exec(sql, "noting", "INSERT INTO eras VALUES (x'61', 1, 5000)", &why), 0);
	sql = mp_sql_close(sql);
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_eras_get(db, MP_STR("a"), 4000), MP_ERA_LEGACY);
	CHECK(finds_nothing(db, &key, NOW));
	CHECK(put(db, &key, &sample, NOW));
	CHECK(finds(db, &key, NOW, &sample));
	CHECK_EQ(ask(db, "PRAGMA user_version"), mp_schema_present.n);
}

TEST(trouble_is_nothing_known)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(mp_stored_catalog_done) struct mp_stored_catalog got = {0};

	CHECK(finds_nothing(NULL, &key, NOW));
	CHECK_EQ(mp_stored_catalog_peek(NULL, &key, NOW, &got), 0);
	mp_stored_catalog_put(NULL, &key, &sample, NOW);
	mp_stored_catalog_forget(NULL, &key);
	db = open_empty();
	CHECK(db);
	CHECK(put(db, &key, &sample, NOW));
	CHECK(unlink(db_path) == 0);
	CHECK(finds_nothing(db, &key, NOW));
	CHECK(!put(db, &key, &sample, NOW));
	CHECK(store_sql("CREATE TABLE theirs (x)"));
	CHECK(finds_nothing(db, &key, NOW));
}
