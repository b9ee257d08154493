/* test_gate.c - the start window, on a clock by hand: live, failed, deferred, late. */
#include "test.h"

#include "fleet.h"
#include "store.h"

#include "base/error.h"
#include "base/limits.h"
#include "pool/gate.h"

/* --- with servers ---------------------------------------------------------------------------- */

struct gated {
	struct fleet f;
	struct mp_gate *gate;
	int told;
};

static void gated_done(struct gated *g)
{
	mp_gate_free(g->gate);
	fleet_done(&g->f);
}

static void gate_opened(void *u)
{
	struct gated *g = u;

	g->told++;
}

static bool begin(struct gated *g, const struct mp_gate_options *options)
{
	g->gate = mp_gate_open(g->f.workspace, options, gate_opened, g);
	REQUIRE(g->told == 0); /* never from within */
	fleet_settle(&g->f);
	return true;
}

static enum mp_gate_place place_of(struct gated *g, const char *name)
{
	return mp_gate_get_place(g->f.workspace, (size_t)mp_workspace_find(g->f.workspace, name),
				 0);
}

#define FOUR                                                             \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":" \
	"\"b\"},\"c\":{\"command\":\"c\"},\"off\":{\"command\":\"d\",\"enabled\":false}}}"

static const struct mp_gate_options by_default = {.due = MP_GATE_DUE_EAGER,
						  .window_ms = 250,
						  .uncached = MP_UNCACHED_LATE,
						  .max_wait_ms = 30000};

/* A34 A35 A36 A57 A58 A21 A17 */
/* Opens at once when all have settled; each failure is its own. */
TEST(it_opens_when_all_have_settled)
{
	MP_CLEANUP(gated_done) struct gated g = {0};

	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, FOUR));
	fleet_get(&g.f, "b")->dial_code = MCPOOL_ENOENT;
	CHECK(begin(&g, &by_default));
	CHECK_EQ(g.told, 1);
	CHECK_EQ(place_of(&g, "a"), MP_PLACE_LIVE);
	CHECK_EQ(place_of(&g, "b"), MP_PLACE_FAILED);
	CHECK_EQ(place_of(&g, "c"), MP_PLACE_LIVE);
	CHECK_EQ(place_of(&g, "off"), MP_PLACE_DISABLED);
	fleet_advance(&g.f, 600000);
	CHECK_EQ(fleet_get(&g.f, "off")->prepares + fleet_get(&g.f, "off")->dials, 0);
}

#define LOCAL(name) "\"" name "\":{\"command\":\"" name "\"}"
#define FAR(name)   "\"" name "\":{\"url\":\"http://127.0.0.1:1/" name "\"}"
#define TEN                                                                                  \
	"{\"mcpServers\":{" LOCAL("0") "," FAR("1") "," LOCAL("2") "," LOCAL("3") "," LOCAL( \
		"4") "," LOCAL("5") "," FAR("6") "," FAR("7") "," FAR("8") "," FAR("9") "}}"

/* A4: ten, local and remote, that take 700 ms each; then the same beside one that gets no list and
 * one that hangs. */
TEST(all_start_and_list_at_once_and_none_waits)
{
	for (int all_hold = 1; all_hold >= 0; all_hold--) {
		MP_CLEANUP(gated_done) struct gated g = {0};

		CHECK(fleet_init(&g.f));
		CHECK(fleet_open(&g.f, TEN));
		for (int i = 0; i < 10; i++) {
			struct fleet_server *s =
				fleet_get(&g.f, (const char[]){(char)('0' + i), 0});

			s->prepare_ms = 700;
			s->holds_list = all_hold || i == 0;
			s->mute = !all_hold && i == 1;
		}
		CHECK(begin(&g, &by_default));
		fleet_advance(&g.f, 699);
		for (int i = 0; i < 10; i++) {
			CHECK_EQ(g.f.servers[i].prepares, 1);
			CHECK_EQ(g.f.servers[i].dials, 0);
		}
		fleet_advance(&g.f, 1);
		for (int i = 0; i < 10; i++) {
			bool stays = all_hold || i < 2;

			CHECK_EQ(g.f.servers[i].dials, 1);
			CHECK_EQ(g.f.servers[i].lists, all_hold || i != 1);
			CHECK_TEXT(fleet_state(&g.f, g.f.servers[i].name),
				   stays ? "pending" : "connected");
		}
	}
}

/* A5 A34 A39 A40 U8 */
/* A server that hangs delays the others no longer than the window. */
TEST(it_opens_after_the_window)
{
	MP_CLEANUP(gated_done) struct gated g = {0};

	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, FOUR));
	fleet_get(&g.f, "b")->prepare_ms = 2000;
	CHECK(begin(&g, &by_default));
	fleet_advance(&g.f, 249);
	CHECK_EQ(g.told, 0);
	fleet_advance(&g.f, 1);
	CHECK_EQ(g.told, 1);
	CHECK_EQ(place_of(&g, "a"), MP_PLACE_LIVE);
	CHECK_EQ(place_of(&g, "b"), MP_PLACE_LATE);
	fleet_advance(&g.f, 2000); /* it comes late, by itself */
	CHECK_EQ(place_of(&g, "b"), MP_PLACE_LIVE);
	CHECK_EQ(g.told, 1);
}

/* A38 A68 A69 */
/* The omp profile waits for servers without cached tools. */
TEST(uncached_servers_may_block)
{
	MP_CLEANUP(gated_done) struct gated g = {0};
	struct mp_gate_options options = by_default;

	options.uncached = MP_UNCACHED_BLOCK;
	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, FOUR));
	fleet_get(&g.f, "b")->prepare_ms = 2000;
	CHECK(begin(&g, &options));
	fleet_advance(&g.f, 1999);
	CHECK_EQ(g.told, 0);
	fleet_advance(&g.f, 1);
	CHECK_EQ(g.told, 1);
	CHECK_EQ(place_of(&g, "b"), MP_PLACE_LIVE);
}

/* U8 */
/* But not for ever. */
TEST(waiting_has_an_end)
{
	MP_CLEANUP(gated_done) struct gated g = {0};
	struct mp_gate_options options = by_default;

	options.uncached = MP_UNCACHED_WAIT_ALL;
	options.max_wait_ms = 5000;
	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, FOUR));
	fleet_get(&g.f, "b")->mute = true;
	CHECK(begin(&g, &options));
	fleet_advance(&g.f, 4999);
	CHECK_EQ(g.told, 0);
	fleet_advance(&g.f, 1);
	CHECK_EQ(g.told, 1);
}

/* U8 */
/* When it opens for a server that hangs, and for one that takes 2 s, of which nothing is cached. */
TEST(late_block_and_wait_all)
{
	static const struct {
		int uncached; /* enum mp_uncached */
		enum mp_gate_due due;
		bool hangs;
		int64_t window_ms, max_wait_ms, opens_ms;
	} cases[] = {
		{MP_UNCACHED_LATE, MP_GATE_DUE_EAGER, true, 250, 30000, 250},
		{MP_UNCACHED_LATE, MP_GATE_DUE_EAGER, true, 700, 30000, 700},
		{MP_UNCACHED_BLOCK, MP_GATE_DUE_EAGER, false, 250, 30000, 2000},
		{MP_UNCACHED_BLOCK, MP_GATE_DUE_EAGER, true, 250, 5000, 5000},
		{MP_UNCACHED_WAIT_ALL, MP_GATE_DUE_EAGER, false, 250, 30000, 2000},
		{MP_UNCACHED_WAIT_ALL, MP_GATE_DUE_EAGER, true, 250, 5000, 5000},
		/* one-shot verbs */
		{MP_UNCACHED_WAIT_ALL, MP_GATE_DUE_UNKNOWN, true, 0, MP_LIMIT_ONE_SHOT_MS, 30000},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(gated_done) struct gated g = {0};
		const struct mp_gate_options options = {.due = cases[i].due,
							.window_ms = cases[i].window_ms,
							.uncached = cases[i].uncached,
							.max_wait_ms = cases[i].max_wait_ms};

		CHECK(fleet_init(&g.f));
		CHECK(fleet_open(&g.f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
				       "\"b\":{\"command\":\"b\",\"timeout\":90000}}}"));
		fleet_get(&g.f, "b")->prepare_ms = cases[i].hangs ? 0 : 2000;
		fleet_get(&g.f, "b")->mute = cases[i].hangs;
		CHECK(begin(&g, &options));
		fleet_advance(&g.f, cases[i].opens_ms - 1);
		CHECK_EQ(g.told, 0);
		fleet_advance(&g.f, 1);
		CHECK_EQ(g.told, 1);
	}
}

/* A38 A68 */
/* Without a limit it waits until they settle: 30 s for the handshake of the last one. */
TEST(waiting_without_a_limit_ends_when_all_have_settled)
{
	MP_CLEANUP(gated_done) struct gated g = {0};
	struct mp_gate_options options = by_default;

	options.uncached = MP_UNCACHED_BLOCK;
	options.max_wait_ms = 0;
	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, FOUR));
	fleet_get(&g.f, "b")->prepare_ms = 45000;
	fleet_get(&g.f, "c")->mute = true;
	CHECK(begin(&g, &options));
	fleet_advance(&g.f, 44999);
	CHECK_EQ(g.told, 0);
	fleet_get(&g.f, "c")->mute = false;
	fleet_advance(&g.f, 20000);
	CHECK_EQ(g.told, 1);
	CHECK_EQ(place_of(&g, "b"), MP_PLACE_LIVE);
}

/* A68: the list alone is late, and nothing of it is cached. */
TEST(a_first_list_on_its_way_is_waited_for)
{
	MP_CLEANUP(gated_done) struct gated g = {0};
	struct mp_gate_options options = by_default;

	options.uncached = MP_UNCACHED_BLOCK;
	options.max_wait_ms = 0;
	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":90000,"
			       "\"restart\":{\"mode\":\"none\"}}}}"));
	fleet_get(&g.f, "a")->holds_list = true;
	CHECK(begin(&g, &options));
	CHECK_EQ(fleet_get(&g.f, "a")->lists, 1);
	fleet_advance(&g.f, 89999);
	CHECK_EQ(g.told, 0);
	fleet_advance(&g.f, 1);
	CHECK_EQ(g.told, 1); /* it has settled */
	CHECK_EQ(place_of(&g, "a"), MP_PLACE_FAILED);
}

/* A38 */
/* A start without a time limit counts as settled when calls give it up. */
/* E35 */
TEST(a_start_without_a_limit_does_not_block_for_ever)
{
	MP_CLEANUP(gated_done) struct gated g = {0};
	struct mp_gate_options options = by_default;

	options.uncached = MP_UNCACHED_WAIT_ALL;
	options.max_wait_ms = 0;
	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":0}}}"));
	fleet_get(&g.f, "a")->mute = true;
	CHECK(begin(&g, &options));
	fleet_advance(&g.f, 59999);
	CHECK_EQ(g.told, 0);
	fleet_advance(&g.f, 1);
	CHECK_EQ(g.told, 1);
}

/* A34 A64 */
/* Nothing was found, or discovery failed: the gate is open at once, and empty. */
TEST(an_empty_configuration_holds_nobody_up)
{
	MP_CLEANUP(gated_done) struct gated g = {0};

	CHECK(fleet_init(&g.f));
	CHECK(fleet_open(&g.f, "{\"mcpServers\":{}}"));
	CHECK(begin(&g, &by_default));
	CHECK_EQ(g.told, 1);
}

/* --- with a store ---------------------------------------------------------------------------- */

#define MIXED                                                                               \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"lazy\":{\"command\":\"l\",\"start\":" \
	"\"lazy\"}}}"

/* A10 A37 A41 A67 P31 U14 U24 X24 */
/* What was seen before is deferred; a lazy one is visited once, then not.
 */
HEAVY_TEST(what_is_remembered_is_deferred)
{
	struct mp_db *db;
	struct gated g = {0};
	struct mp_server_catalog *offer;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(fleet_init(&g.f));
	g.f.db = db;
	CHECK(fleet_open(&g.f, MIXED));
	CHECK(begin(&g, &by_default));
	CHECK_EQ(g.told, 1);
	fleet_advance(&g.f, 1);
	CHECK_EQ(fleet_get(&g.f, "lazy")->lives, 1);
	CHECK_TEXT(fleet_state(&g.f, "lazy"), "ready"); /* seen, and gone again */
	CHECK_TEXT(fleet_state(&g.f, "a"), "connected");
	gated_done(&g);
	mp_db_close(db); /* what was queued is written */
	db = store_open();
	CHECK(db);

	for (int lists = 0; lists < 2; lists++) { /* in its handshake; its list is on its way */
		g = (struct gated){0};
		CHECK(fleet_init(&g.f));
		g.f.db = db;
		CHECK(fleet_open(&g.f, MIXED));
		fleet_get(&g.f, "a")->mute = !lists;
		fleet_get(&g.f, "a")->holds_list = lists;
		CHECK(begin(&g, &by_default));
		CHECK_EQ(fleet_get(&g.f, "a")->lists, lists);
		fleet_advance(&g.f, 250);
		CHECK_EQ(g.told, 1);
		CHECK_EQ(place_of(&g, "a"), MP_PLACE_DEFERRED);
		CHECK_EQ(place_of(&g, "lazy"), MP_PLACE_DEFERRED);
		CHECK_EQ(fleet_get(&g.f, "lazy")->lives, 0);
		offer = mp_workspace_get_catalog(g.f.workspace, 0, 0);
		CHECK(offer);
		CHECK_EQ(offer->lists[MP_CATALOG_TOOL]->list.n, 1);
		CHECK_STR(offer->hello.instructions, "be kind");
		mp_server_catalog_unref(offer);
		gated_done(&g);
	}
	mp_db_close(db);
}

/* doc/protocol.md, "Command line": one-shot verbs start only servers without a cached catalog. */
HEAVY_TEST(only_the_unknown_may_be_due)
{
	struct mp_db *db;
	struct gated g = {0};
	struct mp_gate_options options = {
		.due = MP_GATE_DUE_UNKNOWN, .uncached = MP_UNCACHED_WAIT_ALL, .max_wait_ms = 30000};

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(fleet_init(&g.f));
	g.f.db = db;
	CHECK(fleet_open(&g.f, MIXED));
	CHECK(begin(&g, &options));
	CHECK_EQ(fleet_get(&g.f, "a")->lives + fleet_get(&g.f, "lazy")->lives, 2);
	gated_done(&g);
	mp_db_close(db);
	db = store_open();
	CHECK(db);

	g = (struct gated){0};
	CHECK(fleet_init(&g.f));
	g.f.db = db;
	CHECK(fleet_open(&g.f, MIXED));
	CHECK(begin(&g, &options));
	CHECK_EQ(g.told, 1);
	CHECK_EQ(fleet_get(&g.f, "a")->prepares + fleet_get(&g.f, "lazy")->prepares, 0);
	gated_done(&g);
	mp_db_close(db);
}

static int do_nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

/* What a server offered is in memory while it runs, and in the store when it has left. */
HEAVY_TEST(a_visitor_leaves_nothing_in_memory)
{
	struct mp_db *db;
	struct gated g = {0};
	struct mp_server_catalog *before, *after;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(fleet_init(&g.f));
	g.f.db = db;
	CHECK(fleet_open(&g.f, MIXED));
	CHECK(begin(&g, &by_default));
	fleet_advance(&g.f, 1);
	before = mp_workspace_get_catalog(g.f.workspace, 1, 0);
	CHECK_EQ(mp_db_write(db, do_nothing, NULL, NULL), 0); /* behind what was queued */
	fleet_advance(&g.f, 5000);
	after = mp_workspace_get_catalog(g.f.workspace, 1, 0);
	CHECK(before && after);
	CHECK_EQ(before->saved_ms, 0); /* live */
	CHECK(after->saved_ms != 0);   /* remembered */
	CHECK_EQ(after->lists[MP_CATALOG_TOOL]->list.n, 1);
	mp_server_catalog_unref(before);
	mp_server_catalog_unref(after);
	gated_done(&g);
	mp_db_close(db);
}
