/* test_held_names.c - which tool had a public name for itself alone (attack-S5), and ceilings. */
#include "test.h"

#include "base/limits.h"
#include "store.h"
#include "store/held_names.h"

struct found {
	int n;
	char last[3][40];
};

static void note(void *u, struct mp_str public_name, struct mp_str server, struct mp_str name)
{
	struct found *f = u;
	const struct mp_str parts[] = {public_name, server, name};

	f->n++;
	for (int i = 0; i < 3; i++)
		snprintf(f->last[i], sizeof(f->last[i]), "%.*s", MP_STR_ARGS(parts[i]));
}

static bool write_one(struct mp_db *db, const struct mp_held_scope *scope, const char *public_name,
		      const char *server, const char *name)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf rows;

	mp_buf_init(&rows, MP_KIB(4));
	REQUIRE(mp_held_add(&rows, mp_str_of(public_name), mp_str_of(server), mp_str_of(name)) ==
		0);
	mp_held_write(db, scope, &rows);
	REQUIRE(rows.len == 0);
	return true;
}

static bool open_store(struct mp_db **ret)
{
	REQUIRE(store_clear());
	*ret = store_open();
	return *ret;
}

/* What is queued is written. */
static bool reopen(struct mp_db **db)
{
	*db = mp_db_close(*db);
	*db = store_open();
	return *db;
}

/* attack-S5: only an earlier run counts, and only in the same workspace, style and kind. */
TEST(a_name_counts_from_the_next_run_on)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_held_scope here, there, style;
	struct found f = {0};

	CHECK(open_store(&db));
	mp_held_name_scope("/p", 0, 0, &here);
	mp_held_name_scope("/q", 0, 0, &there);
	mp_held_name_scope("/p", 1, 0, &style);
	CHECK(write_one(db, &here, "mcp__a__b__c", "a__b", "c"));
	CHECK(reopen(&db));
	CHECK_EQ(mp_held_read(db, &here, note, &f, &why), 0);
	mp_held_begin_run(db);
	CHECK(write_one(db, &here, "mcp__a__b__c", "a", "b__c"));
	CHECK(write_one(db, &here, "mcp__a__b__c", "a__b", "c"));
	CHECK(reopen(&db));
	CHECK_EQ(mp_held_read(db, &here, note, &f, &why), 1);
	CHECK_TEXT(f.last[0], "mcp__a__b__c");
	CHECK_TEXT(f.last[1], "a__b");
	CHECK_TEXT(f.last[2], "c");
	CHECK_EQ(mp_held_read(db, &there, note, &f, &why), 0);
	CHECK_EQ(mp_held_read(db, &style, note, &f, &why), 0);
}

static bool fill(const char *scope, const char *server, int n)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "INSERT INTO held_names (scope, public, server, name, is_earlier)"
		 " WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i + 1 < %d)"
		 " SELECT %s, CAST(i AS BLOB), CAST('%s' AS BLOB), CAST(i AS BLOB), 1 FROM c",
		 n, scope, server);
	return store_sql(text);
}

/* attack-S3: a server's names push out its own. */
HEAVY_TEST(a_flood_of_names_pushes_out_its_own_only)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char hex[2 * MP_DIGEST_SIZE + 1], text[100];
	struct mp_held_scope here;
	struct found f = {0};

	CHECK(open_store(&db));
	mp_held_name_scope("/p", 0, 0, &here);
	mp_digest_to_hex(here.bytes, hex);
	snprintf(text, sizeof(text), "X'%s'", hex);
	CHECK(fill(text, "victim", 1));
	CHECK(fill(text, "evil", 3 * MP_LIMIT_TOOLS));
	CHECK(write_one(db, &here, "x", "evil", "x"));
	CHECK(reopen(&db));
	CHECK_EQ(mp_held_read(db, &here, note, &f, &why), 1 + MP_LIMIT_TOOLS - 1);
	CHECK(fill("randomblob(32)", "other", 2 * MP_LIMIT_HELD_SCOPES));
	CHECK(write_one(db, &here, "y", "victim", "y")); /* in use: it is the newest */
	CHECK(reopen(&db));
	CHECK_EQ(mp_held_read(db, &here, note, &f, &why), 1 + MP_LIMIT_TOOLS - 1);
}
