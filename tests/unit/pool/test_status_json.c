/* test_status_json.c - statuses as JSON: what is published, and what is read back the same. */
#include "test.h"

#include "base/limits.h"
#include "pool/status.h"
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

static bool looks_right(const struct mp_status_list *r)
{
	const struct mp_status *a = mp_status_list_find(r, "a");
	const struct mp_catalog_list *tools;

	REQUIRE(r->n == 3 && a == &r->items[0] && r->naming == MP_NAMING_SERVER);
	REQUIRE(a->state == MP_STATUS_CONNECTED && a->instance && a->tools >= 1);
	REQUIRE(a->timeout_ms == 1234 && a->is_required && a->starts == 1);
	REQUIRE(a->tools_allowed.n == 2 && strcmp(a->tools_allowed.items[1], "x") == 0);
	REQUIRE(a->tools_denied.n == 1 && strcmp(a->tools_denied.items[0], "u") == 0);
	REQUIRE(a->catalog && a->catalog->saved_ms == 0);
	tools = &a->catalog->lists[MP_CATALOG_TOOL]->list;
	REQUIRE(tools->n >= 1 && mp_str_eq(tools->items[0].title, MP_STR("T")));
	REQUIRE(mp_str_find(tools->items[0].json, MP_STR("12345678901234567890"), 0) > 0);
	REQUIRE(tools->n_problems >= 1); /* what was left out */
	REQUIRE(a->catalog->lists[MP_CATALOG_RESOURCE]->list.n == 1);
	REQUIRE(r->items[1].state == MP_STATUS_READY && !r->items[1].catalog &&
		r->items[1].tools == -1);
	REQUIRE(r->items[2].state == MP_STATUS_DISABLED && !r->items[2].instance);
	REQUIRE(!mp_status_list_find(r, "d"));
	return true;
}

static int write_list(const struct mp_status_list *l, struct mp_buf *out)
{
	struct mp_writer w;
	int r;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	r = mp_status_list_write(&w, l);
	if (r < 0)
		return r;
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* U24 */
TEST(what_is_written_is_read_back)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *taken = NULL, *read = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_buf_init(&text, MP_MIB(1));
	mp_tape_init(&t, 0);
	CHECK(open_fleet(&f));
	CHECK_EQ(mp_status_list_take(f.workspace, 1, NULL, MP_STATUS_CATALOG, &taken), 0);
	CHECK(looks_right(taken));
	CHECK_EQ(write_list(taken, &text), 0);
	CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&text), NULL), 0);
	CHECK_EQ(mp_status_list_read(&t, MP_ROOT, &read, NULL), 0);
	CHECK(looks_right(read));
	CHECK_TEXT(read->items[0].catalog->lists[MP_CATALOG_TOOL]->list.problems[0],
		   taken->items[0].catalog->lists[MP_CATALOG_TOOL]->list.problems[0]);
}

TEST(only_some_and_without_their_catalogs)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *r = NULL;
	static const bool only[] = {false, true, true};

	CHECK(open_fleet(&f));
	CHECK_EQ(mp_status_list_take(f.workspace, 1, only, 0, &r), 0);
	CHECK_EQ(r->n, 2);
	CHECK_TEXT(r->items[0].name, "b");
	CHECK(!r->items[0].catalog);
}

/* C3 */
/* With what a connected server said of itself, and only where that is asked for. */
TEST(what_a_server_said_is_in_it_if_asked_for)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_status_list_freep)
	struct mp_status_list *taken = NULL, *read = NULL, *none = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	const struct mp_status *a;

	mp_buf_init(&text, MP_MIB(1));
	mp_tape_init(&t, 0);
	CHECK(open_fleet(&f));
	CHECK_EQ(mp_status_list_take(f.workspace, 1, NULL, MP_STATUS_HELLO, &taken), 0);
	CHECK_EQ(write_list(taken, &text), 0);
	CHECK_EQ(mp_tape_parse(&t, mp_buf_get(&text), NULL), 0);
	CHECK_EQ(mp_status_list_read(&t, MP_ROOT, &read, NULL), 0);
	a = &read->items[0];
	CHECK_STR(a->capabilities, "{\"tools\":{},\"resources\":{}}");
	CHECK_STR(a->server_info, "{\"name\":\"fake\",\"version\":\"1\"}");
	CHECK_TEXT(a->protocol, "2025-11-25");
	CHECK_TEXT(a->instructions, "be kind");
	CHECK(!read->items[1].protocol && !read->items[1].capabilities.len);
	CHECK_EQ(mp_status_list_take(f.workspace, 1, NULL, 0, &none), 0);
	CHECK(!none->items[0].instructions && !none->items[0].server_info.len);
	CHECK(!none->items[0].protocol && !none->items[0].capabilities.len);
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO; /* or it restarts at once */
	fleet_die(fleet_get(&f, "a"));
	none = mp_status_list_free(none);
	CHECK_EQ(mp_status_list_take(f.workspace, 1, NULL, MP_STATUS_HELLO, &none), 0);
	CHECK(!none->items[0].instructions);
}

/* It has its own texts. */
TEST(a_failure_is_in_it)
{
	MP_CLEANUP(fleet_done) struct fleet f = {0};
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *r = NULL;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, SERVERS));
	fleet_get(&f, "b")->dial_code = MCPOOL_ENOENT;
	mp_workspace_start_server(f.workspace, 1, 1, false);
	fleet_settle(&f);
	CHECK_EQ(mp_status_list_take(f.workspace, 1, NULL, MP_STATUS_CATALOG, &r), 0);
	fleet_advance(&f, 10);
	CHECK_EQ(r->items[1].state, MP_STATUS_FAILED);
	CHECK(r->items[1].error[0]);
	CHECK_EQ(r->items[1].code, MCPOOL_ENOENT);
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
		"\"catalog\":{}}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"ready\","
		"\"catalog\":{\"savedAt\":0,\"server\":{},\"lists\":[{},{},{},{}]}}]}",
		"{\"naming\":\"passthrough\",\"servers\":[{\"name\":\"a\",\"state\":\"ready\","
		"\"catalog\":{\"savedAt\":0,\"server\":{},\"lists\":[{},{},{},{},{}]}}]}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		MP_CLEANUP(mp_status_list_freep) struct mp_status_list *r = NULL;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;

		mp_tape_init(&t, 0);
		CHECK_EQ(mp_tape_parse(&t, mp_str_of(texts[i]), NULL), 0);
		CHECK(mp_status_list_read(&t, MP_ROOT, &r, NULL) < 0);
		CHECK(!r);
	}
}

static bool written_is(const struct mp_status *s, enum mp_status_view view, const char *want)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_MIB(1));
	mp_write_init(&w, &text, NULL);
	mp_status_write(&w, s, view);
	REQUIRE(mp_write_finish(&w) == 0);
	return test_same_text(mp_buf_get(&text), mp_str_of(want), "status", __FILE__, __LINE__);
}

/* U31 */
/* Names and order of the members are published (doc/protocol.md, "Command line"). */
TEST(the_published_members_keep_their_order)
{
	struct mp_status s;

	mp_status_init(&s);
	s.name = "a";
	s.transport = "stdio";
	s.mode = "shared";
	s.source =
		(struct mp_status_source){.file = "/f", .line = 3, .tool = "own", .level = "user"};
	CHECK(written_is(
		&s, MP_STATUS_HUB,
		"{\"name\":\"a\",\"state\":\"ready\",\"status\":\"disconnected\",\"detail\":\"\","
		"\"error\":null,\"nextAt\":"
		"null,"
		"\"transport\":\"stdio\",\"mode\":\"shared\",\"withheld\":[],\"source\":{\"file\":"
		"\"/f\",\"line\":3,\"tool\":\"own\",\"level\":\"user\"},\"shadowed\":false,"
		"\"tools\":null,\"seenAt\":null,\"pid\":null,\"uptimeMs\":null,\"restarts\":null,"
		"\"attempt\":null,\"maxAttempts\":null,\"calls\":null,\"failures\":null,\"p50us\":"
		"null,\"p99us\":null,\"waiting\":0,"
		"\"open\":0,\"environment\":\"\",\"memory\":null,\"cpuUs\":null,\"processes\":"
		"null,\"sessions\":null,\"callsLastMinute\":null,\"toolTokens\":null}"));
	CHECK(written_is(
		&s, MP_STATUS_LIST,
		"{\"name\":\"a\",\"state\":\"ready\",\"status\":\"disconnected\",\"error\":null,"
		"\"nextAt\":null,\"transport\":"
		"\"stdio\",\"mode\":\"shared\",\"source\":{\"file\":\"/f\",\"line\":3,\"tool\":"
		"\"own\",\"level\":\"user\"},\"shadowed\":false,\"tools\":null,\"pid\":null,"
		"\"uptimeMs\":null,\"restarts\":null,\"calls\":null,\"p50us\":null,\"p99us\":"
		"null,\"toolTokens\":null}"));
	s.is_new = true;
	s.command = "x";
	s.tools = 2;
	s.seen_ms = 7;
	CHECK(written_is(
		&s, MP_STATUS_LIST,
		"{\"name\":\"a\",\"state\":\"ready\",\"status\":\"disconnected\",\"error\":null,"
		"\"nextAt\":null,\"transport\":"
		"\"stdio\",\"mode\":\"shared\",\"source\":{\"file\":\"/f\",\"line\":3,\"tool\":"
		"\"own\",\"level\":\"user\"},\"shadowed\":false,\"changed\":false,\"command\":"
		"\"x\","
		"\"tools\":2,\"seenAt\":7,\"pid\":null,\"uptimeMs\":null,\"restarts\":null,"
		"\"calls\":null,\"p50us\":null,\"p99us\":null,\"toolTokens\":null}"));
}
