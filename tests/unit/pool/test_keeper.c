/* test_keeper.c - one server kept alive: its life on a clock by hand. */
#include "test.h"

#include "fleet.h"

#include <stdio.h>

#include "base/error.h"
#include "pool/keeper.h"

/* --- a life ---------------------------------------------------------------------------------- */

#define ONE           "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define WITH(restart) "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"restart\":" restart "}}}"

static bool is_in(struct fleet *f, const char *detail)
{
	struct mp_status s;

	fleet_status(f, "a", &s);
	return test_same_text(mp_str_of(s.detail), mp_str_of(detail), "state", __FILE__, __LINE__);
}

static unsigned count_starts(struct fleet *f)
{
	return (unsigned)fleet_get(f, "a")->prepares;
}

/* D3 D6 D45 E41 E43 E44 E45 E66 X4 */
/* Scenario 73: every delay, exact to the millisecond, the last repeating. */
/* X34 */
TEST(the_backoff_sequence_is_exact)
{
	static const int64_t delays[] = {0,     1000,  2000,  5000,  10000,
					 30000, 60000, 60000, 60000, 60000};
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	CHECK(fleet_start(&f, "a"));
	for (size_t i = 0; i < MP_ARRAY_LEN(delays); i++) {
		unsigned before = count_starts(&f);
		struct mp_status s;

		if (delays[i] == 0)
			continue; /* it happened within the same moment */
		CHECK(is_in(&f, "backoff"));
		fleet_status(&f, "a", &s);
		CHECK_EQ(s.tries, i + 1);
		CHECK_EQ(s.max_tries, 0);
		CHECK_EQ(s.next_at_ms - mp_loop_wall_now_ms(f.loop), delays[i]);
		fleet_advance(&f, delays[i] - 1);
		CHECK_EQ(count_starts(&f), before);
		fleet_advance(&f, 1);
		CHECK_EQ(count_starts(&f), before + 1);
	}
}

/* P15 U11 */
/* A server that shakes hands and dies: ten minutes, at most 20 starts, then 60 s apart. */
TEST(a_crash_loop_climbs_the_ladder)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	for (int second = 0; second < 600; second++) {
		struct mp_status s;

		fleet_advance(&f, 1000);
		fleet_status(&f, "a", &s);
		if (s.state == MP_STATUS_CONNECTED)
			fleet_die(fleet_get(&f, "a"));
	}
	CHECK(count_starts(&f) <= 20);
	CHECK(count_starts(&f) >= 12);
}

/* U11 E45 */
/* A stable life forgives, a handshake does not. */
TEST(only_a_stable_life_forgives)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_die(fleet_get(&f, "a")); /* 0 s */
	fleet_die(fleet_get(&f, "a")); /* 1 s */
	fleet_advance(&f, 1000);
	CHECK(is_in(&f, "up"));
	fleet_advance(&f, 59999);
	fleet_die(fleet_get(&f, "a")); /* not yet forgiven: 2 s */
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.next_at_ms - mp_loop_wall_now_ms(f.loop), 2000);
	fleet_advance(&f, 2000);
	CHECK(is_in(&f, "up"));
	fleet_advance(&f, 60000);
	fleet_die(fleet_get(&f, "a")); /* forgiven: at once */
	CHECK(is_in(&f, "up"));
}

/* U11 C19 */
/* More than five starts on purpose within 30 s, and the next one waits. */
TEST(reconnects_are_braked)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a")); /* the first of them */
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
		fleet_settle(&f);
		CHECK(is_in(&f, "up"));
	}
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK(is_in(&f, "backoff"));
	CHECK_EQ(count_starts(&f), 5);
	fleet_advance(&f, 59999);
	CHECK_EQ(count_starts(&f), 5);
	fleet_advance(&f, 1);
	CHECK(is_in(&f, "up"));
}

/* A55: closed while idle, and an error of the transport; in every profile. */
TEST(a_lost_connection_shows_in_every_profile)
{
	static const char *const profiles[] = {"default", "omp", "claude", "netdata"};

	for (size_t i = 0; i < 2 * MP_ARRAY_LEN(profiles); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		const struct mcpool_error broken = {.code = MCPOOL_EIO, .message = "it broke"};
		struct fleet_server *a;
		char json[200];

		snprintf(json, sizeof(json),
			 "{\"mcpool\":{\"profile\":\"%s\",\"mode\":\"shared\"},"
			 "\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
			 profiles[i / 2]);
		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, json));
		CHECK(fleet_start(&f, "a"));
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		a = fleet_get(&f, "a");
		a->dial_code = MCPOOL_EIO;
		if (i % 2)
			a->ours->hooks->ended(a->ours->u, &broken);
		else
			fleet_die(a);
		fleet_settle(&f);
		CHECK_TEXT(fleet_state(&f, "a"), "failed");
		CHECK(fleet_count_events(&f, "a", "clearing") > 0);
	}
}

/* C19: the connection that is there is replaced, without a delay. */
TEST(a_reconnect_takes_no_time)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	CHECK(is_in(&f, "up"));
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f); /* the clock stands still */
	CHECK(is_in(&f, "up"));
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_get(&f, "a")->dials, 2);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
}

/* A54 A55 A56 C19 C24 A70 */
/* Restart.mode none: the state is true, and nothing comes back by itself. */
TEST(mode_none_does_not_restart)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("{\"mode\":\"none\"}")));
	CHECK(fleet_start(&f, "a"));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 3600000);
	mp_loop_suspend(f.loop, 3600000);
	fleet_advance(&f, 60000);
	CHECK(is_in(&f, "failed"));
	CHECK_EQ(count_starts(&f), 1);
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK(is_in(&f, "up"));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 3600000);
	CHECK_EQ(count_starts(&f), 2);
	CHECK(fleet_reload(&f, WITH("{\"mode\":\"none\"}")));
	CHECK(is_in(&f, "up"));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 3600000);
	CHECK_EQ(count_starts(&f), 3);
	CHECK(fleet_acquire(&f, "a", 1, &r));
	fleet_settle(&f);
	CHECK(is_in(&f, "up"));
	CHECK_EQ(count_starts(&f), 4);
}

/* A54 A56 */
/* Nor do a returning network and a wake bring a remote server back; with the mode, or by profile.
 */
TEST(mode_none_does_not_reconnect)
{
	static const char *const jsons[] = {
		"{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/mcp\","
		"\"restart\":{\"mode\":\"none\"}}}}",
		"{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/mcp\",\"mode\":\"shared\"}},"
		"\"mcpool\":{\"profile\":\"omp\"}}"};

	for (size_t i = 0; i < MP_ARRAY_LEN(jsons); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, jsons[i]));
		CHECK_EQ(mp_workspace_get_entry(f.workspace, 0)->tuning.restart.mode,
			 MP_RESTART_NONE);
		CHECK(fleet_start(&f, "a"));
		fleet_die(fleet_get(&f, "a"));
		fleet_settle(&f);
		mp_pool_note_network(f.pool);
		fleet_advance(&f, 60000);
		mp_loop_suspend(f.loop, 3600000);
		fleet_advance(&f, 60000);
		CHECK(is_in(&f, "failed"));
		CHECK_EQ(count_starts(&f), 1);
	}
}

/* D4 */
/* One retry, then it is given up; asked again, it has one again. */
TEST(mode_once_tries_once_more)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("{\"mode\":\"once\"}")));
	fleet_get(&f, "a")->dies_at_once = true;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 600000);
	CHECK(is_in(&f, "failed"));
	CHECK_EQ(count_starts(&f), 2);
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_advance(&f, 600000);
	CHECK_EQ(count_starts(&f), 4);
}

/* C6 C11 C12 C24 D28 */
/* Mode remote heals http servers five times, and stdio ones never. */
TEST(mode_remote_is_for_remote_servers)
{
	static const char *const remotes[] = {"r", "s", "w"};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"r\":{\"url\":\"http://127.0.0.1:1/mcp\"},"
			     "\"s\":{\"type\":\"sse\",\"url\":\"http://127.0.0.1:2/sse\"},"
			     "\"w\":{\"type\":\"websocket\",\"url\":\"ws://127.0.0.1:3/\","
			     "\"restart\":{\"attempts\":2}}},"
			     "\"mcpool\":{\"profile\":\"claude\",\"mode\":\"shared\"}}"));
	CHECK_EQ(f.set->settings.tuning.restart.mode, MP_RESTART_REMOTE);
	CHECK(fleet_start(&f, "a"));
	for (int i = 0; i < 3; i++) {
		fleet_get(&f, remotes[i])->dial_code = MCPOOL_EIO;
		CHECK(fleet_start(&f, remotes[i]));
	}
	fleet_die(fleet_get(&f, "a"));
	fleet_status(&f, "r", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "failed");
	CHECK_EQ(s.attempt, 1);
	CHECK_EQ(s.max_attempts, 5);
	fleet_get(&f, "r")->prepare_ms = 100;
	fleet_advance(&f, 1050);
	fleet_status(&f, "r", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "pending");
	CHECK_EQ(s.attempt, 1);
	CHECK_EQ(s.max_attempts, 5);
	fleet_advance(&f, 100);
	fleet_status(&f, "r", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "failed");
	CHECK_EQ(s.attempt, 2);
	fleet_advance(&f, 600000);
	CHECK(is_in(&f, "failed"));
	CHECK_EQ(count_starts(&f), 1);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(fleet_get(&f, remotes[i])->prepares, i == 2 ? 3 : 6);
		CHECK_TEXT(fleet_state(&f, remotes[i]), "failed");
	}
	fleet_get(&f, "r")->dial_code = 0;
	fleet_advance(&f, 600000);
	CHECK_EQ(fleet_get(&f, "r")->prepares, 6);
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 1, 0, NULL), 0); /* asked again */
	fleet_advance(&f, 1000);
	CHECK_TEXT(fleet_state(&f, "r"), "connected");
}

/* U12 */
/* What is not there is tried again after finalRetryMs; what was there before, by the schedule. */
TEST(not_found_is_final_until_it_was_there)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 299999);
	CHECK(is_in(&f, "failed"));
	CHECK_EQ(count_starts(&f), 1);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "start: it cannot be dialled");
	CHECK_EQ(s.next_at_ms - mp_loop_wall_now_ms(f.loop), 1);
	fleet_advance(&f, 1);
	CHECK(is_in(&f, "failed"));
	CHECK_EQ(count_starts(&f), 2);
	fleet_advance(&f, 600000);
	CHECK_EQ(count_starts(&f), 4);
	fleet_get(&f, "a")->dial_code = 0;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK(is_in(&f, "up"));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT; /* its package is being replaced */
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 500);
	CHECK(is_in(&f, "backoff"));
	fleet_get(&f, "a")->dial_code = 0;
	fleet_advance(&f, 1000);
	CHECK(is_in(&f, "up"));
}

#define REMOTE "{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\"}}}"

enum cause { FAILED_START, EXIT, FAILED_PROBE, BROKEN_CONNECTION, WAKE };

/* Another start follows; where the server may be alive, only after a probe without an answer. */
static bool restarts(enum cause cause)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_server *a;
	struct fleet_result r;

	REQUIRE(fleet_init(&f));
	REQUIRE(fleet_open(&f, REMOTE));
	a = fleet_get(&f, "a");
	a->dial_code = cause == FAILED_START ? MCPOOL_EIO : 0;
	REQUIRE(fleet_start(&f, "a"));
	REQUIRE(cause == FAILED_START || is_in(&f, "up"));
	a->dead = cause >= FAILED_PROBE;
	if (cause == EXIT)
		fleet_die(a);
	if (cause == FAILED_PROBE)
		REQUIRE(fleet_call(&f, "a", 1, 1000, &r));
	if (cause == BROKEN_CONNECTION)
		a->ours->hooks->doubt(a->ours->u, "a connection broke");
	if (cause == WAKE)
		mp_loop_suspend(f.loop, 3600000);
	fleet_advance(&f, 1000);
	REQUIRE(count_starts(&f) == 1 || !a->dead);
	REQUIRE(count_starts(&f) > 1 || a->dead);
	a->dial_code = 0;
	fleet_advance(&f, 4500); /* ping and list are out, and stay unanswered */
	a->dead = false;
	fleet_advance(&f, 10000);
	REQUIRE(is_in(&f, "up"));
	REQUIRE(count_starts(&f) >= 2);
	return true;
}

/* Without a change there is no other start before wait_ms; -1: never. */
static bool waits(const char *json, int code, int64_t wait_ms)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	REQUIRE(fleet_init(&f));
	REQUIRE(fleet_open(&f, json));
	fleet_get(&f, "a")->dial_code = code;
	REQUIRE(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dial_code = 0;
	fleet_advance(&f, (wait_ms < 0 ? 3600000 : wait_ms) - 1);
	REQUIRE(test_equal(count_starts(&f), 1, "starts", __FILE__, __LINE__));
	fleet_advance(&f, 1);
	REQUIRE(test_equal(count_starts(&f), wait_ms < 0 ? 1 : 2, "starts", __FILE__, __LINE__));
	REQUIRE(strcmp(fleet_state(&f, "a"), wait_ms < 0 ? "needs-auth" : "connected") == 0);
	return true;
}

/* U12 A53 U17 */
/* What leads to another start, what waits for a person, and what is final for finalRetryMs. */
TEST(what_restarts_a_server_and_what_waits)
{
	CHECK(restarts(FAILED_START));
	CHECK(restarts(EXIT));
	CHECK(restarts(FAILED_PROBE));
	CHECK(restarts(BROKEN_CONNECTION));
	CHECK(restarts(WAKE));
	CHECK(waits(REMOTE, MCPOOL_ENEEDS_AUTH, -1));
	CHECK(waits(REMOTE, MCPOOL_ENOENT, 300000)); /* 404, 405, 410; a missing command */
	CHECK(waits(REMOTE, MCPOOL_EINVAL, 300000));
	CHECK(waits(WITH("{\"finalRetryMs\":7000}"), MCPOOL_ENOENT, 7000));
}

/* U12 X33 */
/* Each of these may be why it failed: the entry, and for a remote server the network. */
TEST(a_final_failure_is_tried_when_something_changed)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"r\":{\"url\":\"http://127.0.0.1:1/mcp\"}}}"));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT;
	fleet_get(&f, "r")->dial_code = MCPOOL_ENOENT;
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_start(&f, "r"));
	fleet_advance(&f, 1000);
	mp_pool_note_network(f.pool);
	fleet_settle(&f);
	CHECK_EQ(count_starts(&f), 1); /* it has no network */
	CHECK_EQ(fleet_get(&f, "r")->prepares, 2);
	fleet_get(&f, "a")->dial_code = 0;
	fleet_get(&f, "r")->dial_code = 0;
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"toolTimeout\":5000},"
			       "\"r\":{\"url\":\"http://127.0.0.1:1/mcp\"}}}"));
	CHECK(is_in(&f, "up"));
	CHECK_TEXT(fleet_state(&f, "r"), "connected");
}

/* U12 */
/* A returning network also ends the wait for the next attempt; the brake still counts. */
TEST(a_returning_network_shortens_the_wait)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_server *r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"r\":{\"url\":\"http://127.0.0.1:1/mcp\"}}}"));
	r = fleet_get(&f, "r");
	r->dial_code = MCPOOL_EIO;
	CHECK(fleet_start(&f, "r"));
	CHECK_EQ(r->prepares, 2); /* 0 s; the next one is due in 1 s */
	for (int i = 0; i < 20; i++) {
		mp_pool_note_network(f.pool);
		fleet_settle(&f);
	}
	CHECK_EQ(r->prepares, 6); /* five starts without delay in 30 s */
	r->dial_code = 0;
	fleet_advance(&f, 60000);
	CHECK_TEXT(fleet_state(&f, "r"), "connected");
}

/* C5 U12 */
/* A person is asked for, and nothing is retried meanwhile. */
TEST(what_needs_a_person_waits)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->prepare_code = MCPOOL_ENEEDS_AUTH;
	fleet_get(&f, "a")->prepare_words = "log in first";
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "needs-auth");
	CHECK_EQ(count_starts(&f), 1);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "log in: mcpool login a (log in first)"); /* what to do, and why */
	fleet_get(&f, "a")->prepare_code = MCPOOL_ENEEDS_APPROVAL;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "needs-approval");
	fleet_get(&f, "a")->prepare_code = 0;
	fleet_get(&f, "a")->dial_code = MCPOOL_ENEEDS_AUTH; /* as a 401 is */
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "needs-auth");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 3);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.next_at_ms, -1);
	fleet_get(&f, "a")->dial_code = 0;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* Timeout 0: a start has no limit, neither for the handshake nor for its lists. */
TEST(a_start_may_have_no_limit)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":0}}}"));
	CHECK(fleet_start(&f, "a"));
	CHECK(is_in(&f, "up"));
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_get(&f, "a")->mute = true;
	fleet_advance(&f, 3600000);
	CHECK(is_in(&f, "starting"));
	CHECK_EQ(count_starts(&f), 2);
}

static void note_waits(struct fleet *f, int64_t waits[5])
{
	for (int i = 0; i < 5; i++) {
		struct mp_status s;

		fleet_status(f, "a", &s);
		waits[i] = s.next_at_ms - mp_loop_wall_now_ms(f->loop);
		fleet_advance(f, waits[i]);
	}
}

/* D29 */
/* A start that fails, a probe that fails and a restart that fails lead into the same schedule. */
TEST(every_cause_enters_the_same_schedule)
{
	for (int cause = 0; cause < 3; cause++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		int64_t waits[5];

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, ONE));
		if (cause == 0)
			fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
		CHECK(fleet_start(&f, "a"));
		fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
		if (cause == 1) {
			struct fleet_result r;

			fleet_get(&f, "a")->dead = true;
			CHECK(fleet_call(&f, "a", 1, 1000, &r));
			fleet_advance(&f, 7000);
		} else if (cause == 2) {
			fleet_die(fleet_get(&f, "a"));
		}
		note_waits(&f, waits);
		CHECK_EQ(waits[0], 1000);
		CHECK_EQ(waits[1], 2000);
		CHECK_EQ(waits[2], 5000);
		CHECK_EQ(waits[3], 10000);
		CHECK_EQ(waits[4], 30000);
	}
}

/* D29 E69 A66 */
/* No start counts before its tools are listed. */
/* E69 */
TEST(a_start_without_a_list_has_failed)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->no_list = true;
	CHECK(fleet_start(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "failed");
	CHECK(strstr(s.error, "no list today"));
	fleet_get(&f, "a")->no_list = false;
	fleet_advance(&f, 1000);
	CHECK(is_in(&f, "up"));
}

/* E43 */
/* Whatever else asks for it while the loop runs, there is one attempt at a time, when it is due. */
TEST(all_triggers_join_the_one_loop)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[20];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->prepare_ms = 300;
	fleet_get(&f, "a")->prepare_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	for (int i = 0; i < 20; i++) { /* in the attempts at 0 and 1.3 s and between them */
		mp_workspace_start_server(f.workspace, 0, (mp_id)i, false);
		CHECK(i % 2 ? fleet_acquire(&f, "a", (mp_id)i, &r[i])
			    : fleet_call(&f, "a", (mp_id)i, 0, &r[i]));
		mp_loop_suspend(f.loop, 0);
		fleet_die(fleet_get(&f, "a"));
		fleet_advance(&f, 100);
	}
	CHECK_EQ(count_starts(&f), 3); /* the first start, and attempts 1 and 2 */
	fleet_get(&f, "a")->prepare_code = 0;
	fleet_advance(&f, 60000);
	CHECK(is_in(&f, "up"));
	CHECK_EQ(count_starts(&f), 4);
	CHECK_EQ(f.doubles, 0);
}

/* D34 E46 */
/* A close that we planned starts no loop: neither a restart on request nor the end of all. */
TEST(a_planned_stop_starts_no_loop)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_advance(&f, 600000);
	CHECK(is_in(&f, "up"));
	CHECK_EQ(count_starts(&f), 2);
	CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 0);
	mp_pool_stop(f.pool, NULL, NULL);
	fleet_die(fleet_get(&f, "a")); /* it breaks while it is being closed */
	fleet_advance(&f, 600000);
	CHECK(is_in(&f, "down"));
	CHECK_EQ(count_starts(&f), 2);
	CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 0);
	CHECK_EQ(fleet_count_events(&f, "a", "backoff"), 0);
}

/* --- is it alive? ---------------------------------------------------------------------------- */

/* D7 D8 D44 E40 U18 */
/* One slow call on a healthy server affects only that call. */
TEST(a_slow_call_on_a_healthy_server_restarts_nothing)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result slow, other;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &slow));
	CHECK(fleet_call(&f, "a", 2, 9000, &other));
	fleet_advance(&f, 1000);
	CHECK_EQ(slow.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(slow.code, MCPOOL_ECALL_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->cancels, 1);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 1);
	CHECK(is_in(&f, "up"));
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 1, "{\"late\":true}"));
	CHECK_EQ(other.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(count_starts(&f), 1);
}

/* D44 X27 E40 */
/* Each server has its own probe: one is pinged, the other is asked for its tools. */
TEST(the_probe_is_set_per_server)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[2];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"b\":{\"command\":\"b\",\"healthProbe\":\"listTools\"}}}"));
	for (int i = 0; i < 2; i++) {
		CHECK(fleet_start(&f, i ? "b" : "a"));
		fleet_get(&f, i ? "b" : "a")->holds_calls = true;
		CHECK(fleet_call(&f, i ? "b" : "a", 1, 1000, &r[i]));
	}
	fleet_advance(&f, 1000);
	CHECK_EQ(r[0].outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(r[1].outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	CHECK_EQ(fleet_get(&f, "a")->lists, 1); /* that of the start */
	CHECK_EQ(fleet_get(&f, "b")->pings, 0);
	CHECK_EQ(fleet_get(&f, "b")->lists, 2);
	CHECK_EQ(fleet_get(&f, "a")->lives + fleet_get(&f, "b")->lives, 2); /* both answered */
}

/* D11 D19 D45 D46 E42 E44 D7 D44 */
/* Scenarios 66 and 71: hang, timeout, probe fails, restart works. */
TEST(a_hang_is_probed_and_restarted)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result hung, next;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dead = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &hung));
	fleet_advance(&f, 1000);
	CHECK_EQ(hung.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(hung.code, MCPOOL_ECALL_TIMEOUT); /* nothing was restarted yet */
	CHECK(is_in(&f, "checking"));
	fleet_advance(&f, 2999); /* ping */
	CHECK(is_in(&f, "checking"));
	fleet_advance(&f, 3000); /* tools/list */
	CHECK(is_in(&f, "checking"));
	fleet_get(&f, "a")->dead = false;
	fleet_advance(&f, 1);
	CHECK(is_in(&f, "up"));
	CHECK_EQ(count_starts(&f), 2);
	CHECK_EQ(f.doubles, 0); /* the old connection was closed before */
	CHECK(fleet_call(&f, "a", 1, 1000, &next));
	fleet_settle(&f);
	CHECK_EQ(next.outcome, MP_OUTCOME_ANSWERED);
}

/* D11 D45 D46 E48 */
/* Scenarios 67 and 72: the restart fails, and callers read so; then it works. */
TEST(a_hang_is_probed_and_the_restart_fails)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result hung, meanwhile, after;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dead = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &hung));
	fleet_advance(&f, 1000);
	CHECK_EQ(hung.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(hung.code, MCPOOL_ECALL_TIMEOUT);
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_advance(&f, 6000);
	CHECK(is_in(&f, "backoff"));
	CHECK(fleet_call(&f, "a", 1, 5000, &meanwhile));
	fleet_settle(&f);
	CHECK_EQ(meanwhile.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(meanwhile.outcome, MP_OUTCOME_NOT_SENT);
	CHECK_EQ(meanwhile.attempt, 1);
	CHECK_EQ(meanwhile.answers, 1);
	CHECK(strncmp(meanwhile.text, "MCP error: mcp_restart_failed:1: ", 33) == 0);
	fleet_advance(&f, 1000); /* the next attempt fails, too */
	CHECK(is_in(&f, "backoff"));
	CHECK(fleet_call(&f, "a", 1, 5000, &meanwhile));
	fleet_settle(&f);
	CHECK_EQ(meanwhile.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(meanwhile.attempt, 2);
	CHECK(strncmp(meanwhile.text, "MCP error: mcp_restart_failed:2: ", 33) == 0);
	fleet_get(&f, "a")->dead = false;
	fleet_get(&f, "a")->dial_code = 0;
	fleet_advance(&f, 2000);
	CHECK(fleet_call(&f, "a", 1, 5000, &after));
	fleet_settle(&f);
	CHECK_EQ(after.outcome, MP_OUTCOME_ANSWERED);
}

/* U31 E55 */
/* The last failure is there to be read, with its time and its try. */
TEST(the_last_error_is_kept_until_it_is_overcome)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->prepare_code = MCPOOL_EIO;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 500);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "it cannot be prepared");
	CHECK_EQ(s.failed_at_ms, 1700000000000);
	CHECK_EQ(s.next_at_ms, 1700000001000);
	CHECK_EQ(s.tries, 2);
	fleet_get(&f, "a")->prepare_code = 0;
	fleet_advance(&f, 500);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "");
	CHECK_EQ(s.failed_at_ms, -1);
	CHECK(s.prepare_us >= 0 && s.spawn_us >= 0 && s.handshake_us >= 0 && s.list_us >= 0);
}
