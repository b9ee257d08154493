/* test_roster.c - the servers of a workspace as a value: taken, written, and read back the same. */
#include "test.h"

#include "base/limits.h"
#include "face/roster.h"
#include "fleet.h"

#define SERVERS                                                                               \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":1234,\"required\":true,"       \
	"\"toolsAllowed\":[\"t*\",\"x\"],\"toolsDenied\":[\"u\"]},\"b\":{\"command\":\"b\"}," \
	"\"c\":{\"command\":\"c\",\"enabled\":false}},\"mcpool\":{\"naming\":\"server__tool\"}}"

static bool open_fleet(struct fleet *f)
{
	REQUIRE(fleet_init(f));
	REQUIRE(fleet_open(f, SERVERS));
	fleet_get(f, "a")->tools =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"},\"title\":\"T\","
		"\"n\":12345678901234567890},{\"nameless\":true}]}";
	fleet_get(f, "a")->resources = "{\"resources\":[{\"uri\":\"x://1\",\"name\":\"one\"}]}";
	fleet_get(f, "a")->capabilities = "{\"tools\":{},\"resources\":{}}";
	REQUIRE(fleet_start(f, "a"));
	return true;
}

static bool looks_right(const struct mp_roster *r)
{
	const struct mp_roster_row *a = mp_roster_find(r, "a");
	const struct mp_catalog_list *tools;

	REQUIRE(r->n == 3 && a == &r->rows[0] && r->naming == MP_NAMING_SERVER);
	REQUIRE(a->state == MP_STATUS_CONNECTED && a->has_instance && a->tools >= 1);
	REQUIRE(a->timeout_ms == 1234 && a->is_required && a->starts == 1);
	REQUIRE(a->allowed.n == 2 && strcmp(a->allowed.items[1], "x") == 0);
	REQUIRE(a->denied.n == 1 && strcmp(a->denied.items[0], "u") == 0);
	REQUIRE(a->offer && a->offer->saved_ms == 0);
	tools = &a->offer->lists[MP_CATALOG_TOOL]->list;
	REQUIRE(tools->n >= 1 && mp_str_eq(tools->items[0].title, MP_STR("T")));
	REQUIRE(mp_str_find(tools->items[0].json, MP_STR("12345678901234567890"), 0) > 0);
	REQUIRE(tools->n_problems >= 1); /* what was left out */
	REQUIRE(a->offer->lists[MP_CATALOG_RESOURCE]->list.n == 1);
	REQUIRE(r->rows[1].state == MP_STATUS_READY && !r->rows[1].offer && r->rows[1].tools == -1);
	REQUIRE(r->rows[2].state == MP_STATUS_DISABLED && !r->rows[2].has_instance);
	REQUIRE(!mp_roster_find(r, "d"));
	return true;
}

/* U24 */
TEST(what_is_written_is_read_back)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_roster_freep) struct mp_roster *taken = NULL, *read = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_buf_init(&text, MP_MIB(1));
	mp_tape_init(&t, 0);
	CHECK(open_fleet(&f));
	CHECK_EQ(mp_roster_take(f.workspace, 1, NULL, MP_ROSTER_OFFERS, &taken), 0);
	CHECK(looks_right(taken));
	CHECK_EQ(mp_roster_write(taken, &text), 0);
	CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&text), NULL), 0);
	CHECK_EQ(mp_roster_read(&t, MP_ROOT, &read, NULL), 0);
	CHECK(looks_right(read));
	CHECK_TEXT(read->rows[0].offer->lists[MP_CATALOG_TOOL]->list.problems[0],
		   taken->rows[0].offer->lists[MP_CATALOG_TOOL]->list.problems[0]);
}

TEST(only_some_and_without_their_offers)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_roster_freep) struct mp_roster *r = NULL;
	static const bool only[] = {false, true, true};

	CHECK(open_fleet(&f));
	CHECK_EQ(mp_roster_take(f.workspace, 1, only, 0, &r), 0);
	CHECK_EQ(r->n, 2);
	CHECK_TEXT(r->rows[0].name, "b");
	CHECK(!r->rows[0].offer);
}

/* Texts of a status are gone when the loop turns; those of a roster stay. */
TEST(a_failure_is_in_it)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_roster_freep) struct mp_roster *r = NULL;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, SERVERS));
	fleet_get(&f, "b")->dial_code = MCPOOL_ENOENT;
	mp_workspace_start_server(f.workspace, 1, 1, false);
	fleet_settle(&f);
	CHECK_EQ(mp_roster_take(f.workspace, 1, NULL, MP_ROSTER_OFFERS, &r), 0);
	fleet_advance(&f, 10);
	CHECK_EQ(r->rows[1].state, MP_STATUS_FAILED);
	CHECK(r->rows[1].error[0]);
	CHECK_EQ(r->rows[1].code, MCPOOL_ENOENT);
}

TEST(nonsense_is_refused)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"naming\":\"passthrough\"}",
		"{\"naming\":\"odd\",\"servers\":[]}",
		"{\"naming\":\"passthrough\",\"servers\":[{}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\"}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"odd\"}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":1,\"state\":\"ready\"}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"ready\","
		"\"offer\":{}}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"ready\","
		"\"offer\":{\"savedAt\":0,\"server\":{},\"lists\":[{},{},{},{}]}}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"ready\","
		"\"offer\":{\"savedAt\":0,\"server\":{},\"lists\":[{},{},{},{},{}]}}]}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		MP_CLEANUP(mp_roster_freep) struct mp_roster *r = NULL;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, 0);
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(texts[i]), NULL), 0);
		CHECK(mp_roster_read(&t, MP_ROOT, &r, NULL) < 0);
		CHECK(!r);
	}
}
