/* test_pins.c - tool definitions that change after they were approved: told, or left out. */
#include "test.h"

#include "fleet.h"
#include "store.h"

#include "base/error.h"
#include "base/limits.h"
#include "store/approvals.h"
#include "store/pins.h"

#define MODE(pins) "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"pins\":\"" pins "\"}}}"
#define TOOL(name, rest) \
	"{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"x\":1}" rest "}"
#define SAME(name)  "{ \"inputSchema\":{\"x\":1,\"type\":\"object\"},\"name\":\"" name "\"}"
#define TOOLS(list) "{\"tools\":[" list "]}"
#define CHANGED     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"

struct house {
	struct fleet f;
	struct mp_db *db;
};

static void house_done(struct house *h)
{
	fleet_done(&h->f);
	mp_db_close(h->db);
}

static bool house_open(struct house *h, const char *json)
{
	REQUIRE(fleet_init(&h->f));
	REQUIRE(store_clear());
	h->db = store_open();
	REQUIRE(h->db);
	h->f.db = h->db;
	fleet_get(&h->f, "a")->tools = TOOLS(TOOL("t", "") "," TOOL("u", ""));
	REQUIRE(fleet_open(&h->f, json));
	return fleet_start(&h->f, "a");
}

/* The server offers this from now on, and says so. */
static bool change(struct house *h, const char *tools)
{
	fleet_get(&h->f, "a")->tools = tools;
	REQUIRE(fleet_say(fleet_get(&h->f, "a"), CHANGED));
	fleet_advance(&h->f, 3000);
	return true;
}

static bool is_offered(struct house *h, const char *tool)
{
	struct mp_server_catalog *o = mp_workspace_get_catalog(h->f.workspace, 0, 0);
	bool found = o && mp_catalog_find(&o->lists[MP_CATALOG_TOOL]->list, mp_str_of(tool));

	mp_server_catalog_unref(o);
	return found;
}

static int count(struct house *h, const char *what)
{
	return fleet_count_events(&h->f, NULL, what);
}

/* V38 */
/* One byte of a description, a schema, another tool: each is told once, and goes on. */
HEAVY_TEST(a_change_is_told)
{
	MP_CLEANUP(house_done) struct house h = {.db = NULL};

	CHECK(house_open(&h, MODE("warn")));
	CHECK_EQ(count(&h, "tool-changed") + count(&h, "tool-added"), 0);
	CHECK(change(&h, TOOLS(SAME("t") "," TOOL("u", "")))); /* says the same */
	CHECK_EQ(count(&h, "tool-changed"), 0);
	CHECK(change(&h, TOOLS(TOOL("t", ",\"description\":\"x\"") "," TOOL("u", ""))));
	CHECK_EQ(count(&h, "tool-changed"), 1);
	CHECK(change(&h, TOOLS(TOOL("t", ",\"description\":\"y\"") "," TOOL("v", ""))));
	CHECK_EQ(count(&h, "tool-changed"), 2);
	CHECK_EQ(count(&h, "tool-added"), 1);
	CHECK(is_offered(&h, "t") && is_offered(&h, "v"));
	CHECK(change(&h,
		     TOOLS(TOOL("t", ",\"description\":\"y\"") "," TOOL("u", ",\"title\":\"b\""))));
	CHECK_EQ(count(&h, "tool-changed"), 3); /* it was away, and is not forgotten */
}

HEAVY_TEST(what_is_frozen_is_neither_offered_nor_called)
{
	MP_CLEANUP(house_done) struct house h = {.db = NULL};
	struct fleet_result r;

	CHECK(house_open(&h, MODE("freeze")));
	CHECK(is_offered(&h, "t"));
	CHECK(fleet_call(&h.f, "a", 1, 0, &r));
	fleet_settle(&h.f);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK(change(&h,
		     TOOLS(TOOL("t", ",\"annotations\":{}") "," TOOL("u", "") "," TOOL("v", ""))));
	CHECK(!is_offered(&h, "t") && is_offered(&h, "u") && !is_offered(&h, "v"));
	CHECK_EQ(count(&h, "tool-changed"), 1);
	CHECK_EQ(count(&h, "tool-added"), 1);
	CHECK(fleet_call(&h.f, "a", 1, 0, &r));
	fleet_settle(&h.f);
	CHECK_EQ(r.code, MCPOOL_ENEEDS_APPROVAL);
	CHECK(strstr(r.text, "mcpool trust a"));
	CHECK_EQ(fleet_get(&h.f, "a")->calls, 1);
	CHECK(change(&h, TOOLS(TOOL("t", "") "," TOOL("u", "")))); /* as it was: that is fine */
	CHECK(is_offered(&h, "t"));
}

/* Also between two lives, of the server and of mcpool. */
HEAVY_TEST(pins_outlive_everything)
{
	MP_CLEANUP(house_done) struct house h = {.db = NULL};
	struct mp_pins_owner nobody;

	CHECK(house_open(&h, MODE("freeze")));
	fleet_get(&h.f, "a")->tools = TOOLS(TOOL("t", ",\"outputSchema\":{}"));
	fleet_die(fleet_get(&h.f, "a"));
	fleet_advance(&h.f, 2000);
	CHECK_EQ(fleet_get(&h.f, "a")->lives, 2);
	CHECK(!is_offered(&h, "t"));
	fleet_done(&h.f);
	mp_pins_name_owner("nobody", "", 0, &nobody);
	CHECK_EQ(mp_pins_forget(h.db, &nobody, &why), 0); /* what was queued is written by now */
	CHECK(fleet_init(&h.f));
	h.f.db = h.db;
	fleet_get(&h.f, "a")->tools = TOOLS(TOOL("t", ",\"outputSchema\":{}"));
	CHECK(fleet_open(&h.f, MODE("freeze")));
	CHECK(fleet_start(&h.f, "a"));
	CHECK(!is_offered(&h, "t"));
	CHECK_EQ(count(&h, "tool-changed"), 1);
}

/* As `mcpool trust` and the reload that follows it do. */
static int accept(struct house *h, const char *json)
{
	const struct mp_entry *e = mp_workspace_get_entry(h->f.workspace, 0);
	struct mp_pins_owner owner;
	int r;

	mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &owner);
	r = mp_pins_forget(h->db, &owner, NULL);
	return r < 0 || fleet_reload(&h->f, json) ? r : MCPOOL_ENOMEM;
}

HEAVY_TEST(what_is_accepted_is_offered)
{
	MP_CLEANUP(house_done) struct house h = {.db = NULL};

	CHECK(house_open(&h, MODE("freeze")));
	CHECK(change(&h, TOOLS(TOOL("t", ",\"title\":\"x\""))));
	CHECK(!is_offered(&h, "t"));
	CHECK_EQ(accept(&h, MODE("freeze")), 2);
	fleet_advance(&h.f, 3000);
	CHECK(is_offered(&h, "t"));
	CHECK(change(&h, TOOLS(TOOL("t", ",\"title\":\"y\""))));
	CHECK(!is_offered(&h, "t"));
	CHECK(fleet_reload(&h.f, MODE("off"))); /* changes are not reported any more */
	fleet_advance(&h.f, 3000);
	CHECK(is_offered(&h, "t"));
}

static void count_pin(void *u, struct mp_str tool, const unsigned char pin[MP_PIN_SIZE])
{
	(void)pin;
	*(size_t *)u += tool.len;
}

/* Names with zeros in them, an owner that is another one's, and a second time. */
TEST(pins_are_kept_by_owner)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(mp_pins_batch_done) struct mp_pins_batch b;
	struct mp_pins_owner one, two;
	unsigned char pin[MP_PIN_SIZE] = {7};
	size_t len = 0;

	mp_pins_batch_init(&b);
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_pins_name_owner("a", "b", 1, &one);
	mp_pins_name_owner("ab", "", 0, &two);
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(mp_pins_batch_add(&b, MP_STR("t\0t"), pin), 0);
		CHECK_EQ(mp_pins_batch_add(&b, MP_STR(""), pin), 0);
		mp_pins_write(db, &one, &b);
		CHECK_EQ(b.rows.len, 0);
	}
	mp_pins_write(db, &two, &b);                 /* nothing */
	CHECK_EQ(mp_pins_forget(db, &two, &why), 0); /* and behind it all is written */
	CHECK_EQ(mp_pins_read(db, &one, count_pin, &len, &why), 2);
	CHECK_EQ(len, 3);
	CHECK_EQ(mp_pins_read(db, &two, count_pin, &len, &why), 0);
	CHECK_EQ(mp_pins_forget(db, &one, &why), 2);
	CHECK_EQ(mp_pins_read(db, &one, count_pin, &len, &why), 0);
}

/* --- ceilings -------------------------------------------------------------------------------- */

/* n rows of this owner, named by number; as many owners where owner is NULL. */
static bool fill_pins(const struct mp_pins_owner *owner, int n)
{
	char text[400], hex[2 * MP_DIGEST_SIZE + 1] = "";

	if (owner)
		mp_digest_to_hex(owner->bytes, hex);
	snprintf(text, sizeof(text),
		 "INSERT INTO pins (owner, tool, pin) WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL"
		 " SELECT i + 1 FROM c WHERE i + 1 < %d)"
		 " SELECT %s%s%s, CAST(i AS BLOB), zeroblob(%d) FROM c",
		 n, owner ? "X'" : "randomblob(32)", hex, owner ? "'" : "", MP_PIN_SIZE);
	return store_sql(text);
}

static bool write_pin(struct mp_db *db, const struct mp_pins_owner *owner, const char *tool,
		      const struct mp_pins_owner *used)
{
	MP_CLEANUP(mp_pins_batch_done) struct mp_pins_batch b;
	const unsigned char pin[MP_PIN_SIZE] = {7};
	struct mp_pins_owner nobody;

	mp_pins_batch_init(&b);
	mp_pins_name_owner("nobody", "", 0, &nobody);
	REQUIRE(mp_pins_batch_add(&b, mp_str_of(tool), pin) == 0);
	REQUIRE(!used || mp_pins_batch_use(&b, used) == 0);
	mp_pins_write(db, owner, &b);
	return mp_pins_forget(db, &nobody, &why) == 0; /* waits until it is written */
}

static int count_pins(struct mp_db *db, const struct mp_pins_owner *owner)
{
	size_t len = 0;

	return mp_pins_read(db, owner, count_pin, &len, NULL);
}

static void find_oldest(void *u, struct mp_str tool, const unsigned char pin[MP_PIN_SIZE])
{
	(void)pin;
	*(bool *)u |= mp_str_eq(tool, MP_STR("0"));
}

/* attack-S3: a server that invents names pushes out its own pins, oldest first, and no others. */
HEAVY_TEST(a_flood_of_pins_pushes_out_its_own_only)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_pins_owner victim, evil;
	bool has_oldest = false;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	mp_pins_name_owner("victim", "1", 1, &victim);
	mp_pins_name_owner("evil", "2", 1, &evil);
	CHECK(fill_pins(&victim, 1));
	CHECK(fill_pins(&evil, 10 * MP_LIMIT_PINS));
	CHECK(write_pin(db, &evil, "newest", NULL));
	CHECK_EQ(count_pins(db, &victim), 1);
	CHECK_EQ(mp_pins_read(db, &evil, find_oldest, &has_oldest, &why), MP_LIMIT_PINS);
	CHECK(!has_oldest);
}

/* attack-S3: owners that are configured or approved stay, however old; others make room. */
HEAVY_TEST(owners_in_use_keep_their_pins)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_approval a = {.name = "approved",
				.file = "/f",
				.root = "",
				.content = "{}",
				.scripts = "",
				.how = "trust"};
	struct mp_pins_owner configured, approved, stale, other;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	memset(a.id.bytes, 7, sizeof(a.id.bytes));
	CHECK_EQ(mp_approvals_add(db, &a, &why), 0);
	mp_pins_name_owner("configured", "1", 1, &configured);
	mp_pins_name_owner("approved", &a.id, sizeof(a.id), &approved);
	mp_pins_name_owner("stale", "1", 1, &stale);
	mp_pins_name_owner("new", "1", 1, &other);
	CHECK(fill_pins(&configured, 1) && fill_pins(&approved, 1) && fill_pins(&stale, 1));
	CHECK(fill_pins(NULL, MP_LIMIT_PIN_OWNERS));
	CHECK(write_pin(db, &configured, "x", NULL)); /* nothing said of what is in use */
	CHECK_EQ(count_pins(db, &stale), 1);
	CHECK(write_pin(db, &other, "x", &configured));
	CHECK_EQ(count_pins(db, &configured), 2);
	CHECK_EQ(count_pins(db, &approved), 1);
	CHECK_EQ(count_pins(db, &stale), 0);
	CHECK_EQ(count_pins(db, &other), 1);
}
