/* test_instance.c - one server of the pool: residency, visits, lists that change, figures. */
#include "test.h"

#include "fleet.h"
#include "store.h"

#include <stdio.h>

#include "base/error.h"
#include "pool/instance.h"
#include "heap_pool_call.h"
#include "store/approvals.h"

#define ONE       "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define WITH(key) "{\"mcpServers\":{\"a\":{\"command\":\"a\"," key "}}}"

#define CHANGED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"
#define TWO_TOOLS                                                                       \
	"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}},{\"name\":" \
	"\"u\",\"inputSchema\":{\"type\":\"object\"}}]}"

/* D39 D51 U14 X20 */
/* Idle time counts from the last call; the next call brings it back. */
TEST(an_idle_server_stops_and_comes_back)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"k\":{\"command\":"
			     "\"k\",\"residency\":\"keep\"}},\"mcpool\":{\"residency\":"
			     "\"idle:5000\"}}"));
	CHECK(fleet_start(&f, "a") && fleet_start(&f, "k"));
	fleet_advance(&f, 4000);
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_advance(&f, 4999);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_advance(&f, 1);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "ready");
	CHECK_EQ(fleet_count_events(&f, "a", "idle"), 1);
	CHECK_TEXT(fleet_state(&f, "k"), "connected");
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
}

/* Issue 16: after `era: legacy` is taken out again, `auto` still has to find the era out. */
TEST(an_era_that_was_set_by_hand_is_not_remembered)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("\"era\":\"legacy\"")));
	CHECK(fleet_start(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(f.pool->era_cache.known.len, 0);
	CHECK(fleet_reload(&f, ONE));
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(f.pool->era_cache.known.len, 1);
}

/* U14 */
/* A server with a long call is not idle. */
TEST(a_lease_keeps_it_there)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r, held;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("\"residency\":\"idle:1000\"")));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	CHECK(fleet_acquire(&f, "a", 1, &held));
	fleet_advance(&f, 60000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 0, "{}"));
	fleet_advance(&f, 60000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected"); /* it is still held */
	heap_pool_cancel(held.call);
	fleet_advance(&f, 1000);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "ready");
}

/* C17 A40 A49 X24 */
/* Refetched, compared, told only when it differs. */
TEST(a_changed_list_is_fetched_again)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	for (int i = 0; i < 10; i++)
		CHECK(fleet_say(fleet_get(&f, "a"), CHANGED));
	fleet_advance(&f, 200);
	CHECK_EQ(fleet_get(&f, "a")->lists, 2); /* ten notifications are one fetch */
	CHECK_EQ(fleet_count_events(&f, "a", "offers-changed"), 0);
	fleet_get(&f, "a")->tools = TWO_TOOLS;
	CHECK(fleet_say(fleet_get(&f, "a"), CHANGED));
	fleet_advance(&f, 200);
	CHECK_EQ(fleet_count_events(&f, "a", "offers-changed"), 1);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.tools, 2);
}

/* What is broken is named, once for each list that is different, and not without end. */
TEST(broken_items_are_told)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->tools =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{}},{\"name\":\"u\"}]}";
	CHECK(fleet_start(&f, "a"));
	CHECK_EQ(fleet_count_events(&f, "a", "left-out"), 1);
	CHECK(fleet_say(fleet_get(&f, "a"), CHANGED));
	fleet_advance(&f, 200);
	CHECK_EQ(fleet_count_events(&f, "a", "left-out"), 1);
	fleet_get(&f, "a")->tools = "{\"tools\":[{},{},{},{},{},{},{},{},{}]}";
	CHECK(fleet_say(fleet_get(&f, "a"), CHANGED));
	fleet_advance(&f, 200);
	CHECK_EQ(fleet_count_events(&f, "a", "left-out"), 7);
}

/* A59 A69 */
/* A list that cannot be fetched again leaves the old one, and a line about it. */
TEST(a_failed_refresh_keeps_the_old_list)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->no_list = true;
	CHECK(fleet_say(fleet_get(&f, "a"), CHANGED));
	fleet_advance(&f, 200);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.tools, 1);
	CHECK_EQ(fleet_count_events(&f, "a", "refresh-failed"), 1);
	CHECK_TEXT(mp_status_state_get_name(s.state), "connected");
}

/* A4 U9: forty sessions, each with a server of its own, which takes a second to start. */
HEAVY_TEST(without_a_setting_only_remote_starts_have_a_limit)
{
	static const char *const jsons[] = {
		WITH("\"mode\":\"session\""),
		"{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\",\"mode\":\"session\"}}}"};
	static struct fleet_result r[40];

	for (int is_remote = 0; is_remote < 2; is_remote++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, jsons[is_remote]));
		fleet_get(&f, "a")->prepare_ms = 1000;
		for (mp_id i = 0; i < MP_ARRAY_LEN(r); i++)
			CHECK(fleet_acquire(&f, "a", i + 1, &r[i]));
		fleet_settle(&f);
		CHECK_EQ(fleet_get(&f, "a")->prepares, is_remote ? 32 : 40);
		fleet_advance(&f, 1000);
		CHECK_EQ(fleet_get(&f, "a")->prepares, 40);
		fleet_advance(&f, 1000);
		for (size_t i = 0; i < MP_ARRAY_LEN(r); i++) {
			CHECK_EQ(r[i].answers, 1);
			CHECK_EQ(r[i].outcome, MP_OUTCOME_ANSWERED);
		}
	}
	for (int is_remote = 0; is_remote < 2;
	     is_remote++) { /* until they have connected and listed */
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, jsons[is_remote]));
		fleet_get(&f, "a")->holds_list = true;
		for (mp_id i = 0; i < MP_ARRAY_LEN(r); i++)
			CHECK(fleet_acquire(&f, "a", i + 1, &r[i]));
		fleet_settle(&f);
		CHECK_EQ(fleet_get(&f, "a")->dials, is_remote ? 32 : 40);
	}
}

/* A32: from the entry, or the default of it, to the handshake. */
TEST(a_start_has_thirty_seconds_unless_set)
{
	static const struct {
		const char *json, *error;
		int64_t ms;
	} cases[] = {{ONE, "handshake: no answer within 30 s", 30000},
		     {WITH("\"timeout\":2000"), "handshake: no answer within 2 s", 2000}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct mp_status s;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, cases[i].json));
		fleet_get(&f, "a")->mute = true;
		CHECK(fleet_start(&f, "a"));
		fleet_advance(&f, cases[i].ms - 1);
		fleet_status(&f, "a", &s);
		CHECK_TEXT(s.error, "");
		fleet_advance(&f, 1);
		fleet_status(&f, "a", &s);
		CHECK_TEXT(s.error, cases[i].error);
	}
}

/* A33: no answer to initialize, or to the first list; with the closed end its child is stopped. */
TEST(a_failed_handshake_closes_the_connection)
{
	for (int lists = 0; lists < 2; lists++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, WITH("\"restart\":{\"mode\":\"none\"}")));
		fleet_get(&f, "a")->mute = !lists;
		fleet_get(&f, "a")->holds_list = lists;
		CHECK(fleet_start(&f, "a"));
		CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 1);
		fleet_advance(&f, 29999);
		CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 1);
		fleet_advance(&f, 1);
		CHECK_TEXT(fleet_state(&f, "a"), "failed");
		CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 0);
	}
}

/* A24 A25 */
/* Connected, and its first list is on its way: told apart from a handshake and from being up. */
TEST(a_first_list_that_is_on_its_way_is_known)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_start(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "pending");
	CHECK_TEXT(s.detail, "starting"); /* in its handshake */
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_advance(&f, 1000);
	CHECK_EQ(r.answers, 0); /* and a caller waits for it */
	fleet_get(&f, "a")->mute = false;
	fleet_get(&f, "a")->holds_list = true;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->lists, 1);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "pending");
	CHECK_TEXT(s.detail, "listing");
	CHECK_EQ(s.tools, -1);
	CHECK_TEXT(mp_status_state_get_connection(s.state), "connecting");
	fleet_get(&f, "a")->holds_list = false;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "connected");
	CHECK_EQ(s.tools, 1);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
}

/* During a restart its tools are those it had. */
TEST(tools_stay_while_it_restarts)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 100);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "failed");
	CHECK_EQ(s.tools, 1);
}

/* E18 U9 */
/* InitConcurrency: no more starts at once than that. */
TEST(starts_wait_for_their_turn)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	f.init_concurrency = 2;
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"},"
			     "\"c\":{\"command\":\"c\"},\"d\":{\"command\":\"d\"}}}"));
	for (int i = 0; i < 4; i++)
		fleet_get(&f, (const char *[]){"a", "b", "c", "d"}[i])->prepare_ms = 1000;
	for (size_t i = 0; i < 4; i++)
		mp_workspace_start_server(f.workspace, i, 0, false);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "c")->prepares + fleet_get(&f, "d")->prepares, 0);
	fleet_advance(&f, 1000);
	CHECK_EQ(fleet_get(&f, "c")->prepares + fleet_get(&f, "d")->prepares, 2);
	fleet_advance(&f, 1000);
	CHECK_TEXT(fleet_state(&f, "d"), "connected");
}

/* D23 D40 E11 E56 U31 X20 */
/* What is counted. */
/* D17 */
TEST(the_figures_of_a_server)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[4], other;
	const struct mp_stats *stats;
	struct mp_status s;
	char text[200];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"b\":{\"command\":\"b\"}}}"));
	CHECK(fleet_start(&f, "a") && fleet_start(&f, "b"));
	CHECK(fleet_call(&f, "a", 1, 0, &r[0]));
	fleet_settle(&f);
	fleet_get(&f, "a")->holds_calls = fleet_get(&f, "b")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &r[1]));
	CHECK(fleet_call(&f, "a", 1, 0, &r[2]));
	CHECK(fleet_call(&f, "a", 1, 0, &r[3]));
	fleet_advance(&f, 40);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-1,\"message\":\"no\"}}",
		 fleet_get(&f, "a")->kept[2]);
	CHECK(fleet_say(fleet_get(&f, "a"), text));
	CHECK(fleet_call(&f, "b", 1, 0, &other));
	fleet_advance(&f, 7);
	CHECK(fleet_answer_kept(fleet_get(&f, "b"), 0, "{}"));
	fleet_advance(&f, 1953);
	fleet_status(&f, "a", &s);
	stats = fleet_stats(&f, "a");
	CHECK(stats);
	CHECK_EQ(stats->calls, 3);
	CHECK_EQ(s.calls, 3);
	CHECK_EQ(stats->errors, 1);
	CHECK_EQ(s.failures, 2); /* the error and the timeout */
	CHECK_EQ(s.p50_us, 0);
	CHECK_EQ(s.p99_us, 40000);
	CHECK_EQ(stats->by_outcome[MP_OUTCOME_ANSWERED], 2);
	CHECK_EQ(stats->by_outcome[MP_OUTCOME_TIMEOUT], 1);
	CHECK_EQ(s.open, 1);
	CHECK_EQ(s.unfinished, 1); /* references to it */
	CHECK_EQ(s.uptime_ms, 2000);
	CHECK_EQ(s.starts, 1);
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 1); /* one probe, after the timeout */
	fleet_die(fleet_get(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_EQ(stats->by_outcome[MP_OUTCOME_UNKNOWN], 1);
	CHECK_EQ(fleet_count_events(&f, "a", "call-failed"), 2);
	CHECK_EQ(s.failures, 3);
	CHECK_EQ(s.restarts, 1);
	fleet_status(&f, "b", &s); /* each server has its own */
	CHECK(fleet_stats(&f, "b"));
	CHECK_EQ(s.calls, 1);
	CHECK_EQ(s.failures, 0);
	CHECK_EQ(fleet_stats(&f, "b")->errors, 0);
	CHECK_EQ(fleet_stats(&f, "b")->by_outcome[MP_OUTCOME_ANSWERED], 1);
	CHECK_EQ(s.p50_us, 7000);
	CHECK_EQ(s.restarts, 0);
	CHECK_EQ(s.unfinished, 0);
	CHECK_EQ(fleet_count_events(&f, "b", "checking"), 0);
	CHECK_EQ(fleet_count_events(&f, "b", "call-failed"), 0);
}

/* C19 E31 E35 E39 */
/* Who waits for a server that was reconnected waits 60 s, as for any first start. */
TEST(a_reconnected_first_start_has_its_own_time)
{
	for (int is_final = 0; is_final < 2; is_final++) { /* else it was still being tried */
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, ONE));
		fleet_get(&f, "a")->prepare_code = is_final ? MCPOOL_EINVAL : 0;
		fleet_get(&f, "a")->mute = true;
		CHECK(fleet_start(&f, "a"));
		CHECK_TEXT(fleet_state(&f, "a"), is_final ? "failed" : "pending");
		fleet_advance(&f, 40000);
		fleet_get(&f, "a")->prepare_code = 0;
		CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
		CHECK(fleet_acquire(&f, "a", 1, &r));
		fleet_advance(&f, 59999);
		CHECK_EQ(r.answers, 0);
		fleet_advance(&f, 1);
		CHECK_EQ(r.answers, 1);
		CHECK_EQ(r.code, MCPOOL_EUNAVAILABLE);
	}
}

/* C19 U29 */
TEST(nothing_is_reconnected_once_all_stops)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	mp_pool_stop(f.pool, NULL, NULL);
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, &why), MCPOOL_EUNAVAILABLE);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 0);
}

/* C19 U14 */
/* A visitor that somebody reconnects is there to stay. */
TEST(a_reconnected_visitor_stays)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	mp_workspace_start_server(f.workspace, 0, 0, true);
	fleet_advance(&f, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "ready"); /* it was seen and went */
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_advance(&f, 1000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* E65 U29 */
/* One that has just left is still the pool's. */
TEST(the_pool_may_go_before_what_left_it)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("\"mode\":\"session\"")));
	mp_workspace_start_server(f.workspace, 0, 7, false);
	mp_pool_end_session(f.pool, 7); /* before anything came of it */
	CHECK_EQ(fleet_count_events(&f, NULL, "gone"), 1);
	f.workspace = mp_workspace_close(f.workspace);
	f.pool = mp_pool_free(f.pool);
	fleet_settle(&f);
	CHECK_EQ(fleet_count_events(&f, NULL, "gone"), 1);
}

/* U14 U12 */
/* Neither a probe nor a crash is a use. */
TEST(what_is_no_call_does_not_count_as_use)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("\"residency\":\"idle:5000\"")));
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 3000);
	mp_loop_suspend(f.loop, 100000);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	fleet_advance(&f, 1000);
	fleet_die(fleet_get(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_advance(&f, 999);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_advance(&f, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "ready");
}

#define SLOTS(n)                                                               \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":{\"queues\":{" \
	"\"default\":{\"slots\":" n ",\"line\":5}}}}"

/* U15 */
/* A reload that allows more at once is felt by a server that goes on. */
TEST(a_reload_widens_its_line)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[3];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, SLOTS("1")));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r[0]));
	CHECK(fleet_call(&f, "a", 1, 0, &r[1]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK(fleet_reload(&f, SLOTS("3")));
	CHECK(fleet_call(&f, "a", 1, 0, &r[2]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 3);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
}

static bool approve(struct mp_db *db, const char *name, unsigned char id)
{
	struct mp_approval a = {.name = name,
				.file = "test.json",
				.root = "",
				.content = "{}",
				.scripts = "",
				.how = "trust",
				.approved_ms = 1};

	memset(a.id.bytes, id, sizeof(a.id.bytes));
	return mp_approvals_add(db, &a, &why) == 0;
}

/* V01: taken back behind the hub's back. A restart is a start, too. */
HEAVY_TEST(a_server_that_is_no_longer_approved_is_not_started)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_approval_id id = {{0}}; /* the fleet's entries all have this one */
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(store_clear());
	db = store_open();
	CHECK(db && approve(db, "a", 0));
	f.db = db;
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	CHECK(fleet_start(&f, "a")); /* approved by id, though the mark is another one */
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	CHECK_EQ(mp_approvals_remove(db, &id, &why), 1);
	CHECK(approve(db, "b", 1));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 60000);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.state, MP_STATUS_NEEDS_APPROVAL);
	CHECK_EQ(s.code, MCPOOL_ENEEDS_APPROVAL);
	CHECK(approve(db, "a", 0)); /* and again: it needs a reload, as every new approval */
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	fleet_advance(&f, 1000);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
}
