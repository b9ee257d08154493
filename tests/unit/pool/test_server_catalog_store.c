/* test_server_catalog_store.c - an offer goes to the store and comes back; what is broken there is
 * nothing. */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "pool/server_catalog.h"

#define TOOLS "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{}}]}"

static const struct mp_stored_catalog_key key = {"x", {"k\0y", 3}};
static const struct mp_stored_catalog_key other = {"x", {"k\0z", 3}};

static void unref(struct mp_server_catalog **o)
{
	mp_server_catalog_unref(*o);
}

/* What is queued is written in order, so behind this all of it is there. */
static int nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

static struct mp_server_catalog *make_offer(void)
{
	struct mp_stored_catalog d = {.server = MP_STR("{\"name\":\"n\",\"protocolVersion\":"
						       "\"2025-11-25\",\"era\":\"legacy\"}"),
				      .lists = {MP_STR(TOOLS)},
				      .saved_ms = 1};
	struct mp_server_catalog *o = NULL;

	return mp_server_catalog_from_definition(&d, &o, NULL) < 0 ? NULL : o;
}

/* The other half of U24; see test_stored_catalog.c. */
TEST(an_offer_is_remembered)
{
	MP_CLEANUP(unref) struct mp_server_catalog *o = NULL, *again = NULL;
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	o = make_offer();
	CHECK(db && o);
	CHECK(!mp_server_catalog_load(db, &key, 5000, NULL));
	mp_server_catalog_save(o, db, &key, 5000, NULL);
	CHECK_EQ(mp_db_write(db, nothing, NULL, &why), 0);
	again = mp_server_catalog_load(db, &key, 6000, NULL);
	CHECK(again);
	CHECK_EQ(again->saved_ms, 5000);
	CHECK_STR(again->hello.name, "n");
	CHECK_EQ(again->lists[MP_CATALOG_TOOL]->list.n, 1);
	CHECK(again->lists[MP_CATALOG_PROMPT]->problem);
	CHECK(!mp_server_catalog_load(db, &other, 6000, NULL)); /* of other credentials: nothing */
}

TEST(what_is_broken_there_is_nothing)
{
	struct mp_stored_catalog d = {.server = MP_STR("{\"era\":\"late\"}"),
				      .lists = {MP_STR(TOOLS)}};
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_stored_catalog_put(db, &key, &d, 5000);
	CHECK_EQ(mp_db_write(db, nothing, NULL, &why), 0);
	CHECK(!mp_server_catalog_load(db, &key, 6000, NULL));
}

/* A59, of the cache. */
TEST(without_a_store_it_goes_on)
{
	MP_CLEANUP(unref) struct mp_server_catalog *o = make_offer();

	CHECK(o);
	mp_server_catalog_save(o, NULL, &key, 5000, NULL);
	CHECK(!mp_server_catalog_load(NULL, &key, 6000, NULL));
}
