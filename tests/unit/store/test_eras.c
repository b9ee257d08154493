/*
 * test_eras.c - what was found out is believed for a day.
 */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "store/eras.h"
#include "store/sql.h"

#define DAY ((int64_t)24 * 3600 * 1000)

/* What is queued is written in order, so behind this all of it is there. */
static int nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

static int count(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"counting", "SELECT count(*) FROM eras", NULL, 0};
	int64_t n = 0;
	int r = mp_sql_get(sql, &q, &n, reterr);

	(void)u;
	return r < 0 ? r : (int)n;
}

static bool settle(struct mp_db *db)
{
	return mp_db_write(db, nothing, NULL, &why) == 0;
}

TEST(known_for_a_day)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_str key = MP_STR("k\0y"), other = MP_STR("k\0z");

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_eras_get(db, key, 0), MP_ERA_BOTH);
	mp_eras_set(db, key, MP_ERA_LEGACY, 1000);
	CHECK(settle(db));
	CHECK_EQ(mp_eras_get(db, key, 1000), MP_ERA_LEGACY);
	CHECK_EQ(mp_eras_get(db, other, 1000), MP_ERA_BOTH);
	CHECK_EQ(mp_eras_get(db, key, 999 + DAY), MP_ERA_LEGACY);
	CHECK_EQ(mp_eras_get(db, key, 1000 + DAY), MP_ERA_BOTH);
	mp_eras_set(db, key, MP_ERA_MODERN, 2000);
	CHECK(settle(db));
	CHECK_EQ(mp_eras_get(db, key, 1000 + DAY), MP_ERA_MODERN);
	mp_eras_set(db, key, MP_ERA_BOTH, 2000);
	CHECK(settle(db));
	CHECK_EQ(mp_eras_get(db, key, 2000), MP_ERA_BOTH);
	CHECK_EQ(mp_db_read(db, count, NULL, &why), 0);
}

TEST(kept_when_it_is_closed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_eras_set(db, MP_STR("a"), MP_ERA_MODERN, 1000);
	db = mp_db_close(db);
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_eras_get(db, MP_STR("a"), 1000), MP_ERA_MODERN);
}

TEST(what_has_expired_is_swept)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_eras_set(db, MP_STR("a"), MP_ERA_LEGACY, 1000);
	mp_eras_set(db, MP_STR("b"), MP_ERA_LEGACY, 2000);
	mp_eras_set(db, MP_STR("c"), MP_ERA_LEGACY, 1500 + DAY);
	CHECK(settle(db));
	CHECK_EQ(mp_db_read(db, count, NULL, &why), 2);
	/* Somebody sets the clock back: what would be valid for longer than a day is not. */
	CHECK_EQ(mp_eras_get(db, MP_STR("c"), 1000), MP_ERA_BOTH);
	mp_eras_set(db, MP_STR("d"), MP_ERA_LEGACY, 1000);
	CHECK(settle(db));
	CHECK_EQ(mp_db_read(db, count, NULL, &why), 1);
}

HEAVY_TEST(past_the_ceiling_nothing_is_remembered)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	for (int i = 0; i < MP_LIMIT_ERAS + 100; i++) {
		mp_eras_set(db, (struct mp_str){(const char *)&i, sizeof(i)}, MP_ERA_LEGACY, 1000);
		if (i % 1000 == 0)
			CHECK(settle(db));
	}
	CHECK(settle(db));
	CHECK_EQ(mp_db_read(db, count, NULL, &why), MP_LIMIT_ERAS);
	for (int i = 0; i < 1; i++) /* those that are known can still change */
		mp_eras_set(db, (struct mp_str){(const char *)&i, sizeof(i)}, MP_ERA_MODERN, 1000);
	CHECK(settle(db));
	CHECK_EQ(mp_eras_get(db, (struct mp_str){"\0\0\0", 4}, 1000), MP_ERA_MODERN);
}

TEST(trouble_is_unknown)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK_EQ(mp_eras_get(NULL, MP_STR("a"), 1000), MP_ERA_BOTH);
	mp_eras_set(NULL, MP_STR("a"), MP_ERA_LEGACY, 1000);
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_eras_set(db, (struct mp_str){NULL, 0}, MP_ERA_LEGACY, 1000); /* an odd key, but a key */
	CHECK(settle(db));
	CHECK_EQ(mp_eras_get(db, (struct mp_str){NULL, 0}, 1000), MP_ERA_LEGACY);
	CHECK(store_sql("UPDATE eras SET era = 7"));
	CHECK_EQ(mp_eras_get(db, (struct mp_str){NULL, 0}, 1000), MP_ERA_BOTH);
	CHECK(unlink(db_path) == 0);
	mp_eras_set(db, MP_STR("a"), MP_ERA_LEGACY, 1000);
	CHECK(!settle(db));
	CHECK_EQ(mp_eras_get(db, MP_STR("a"), 1000), MP_ERA_BOTH);
}
