/* test_profiles.c - where profiles differ: the same failure, seen under each of them. */
#include "test.h"

#include "fleet.h"

#include <stdio.h>

#include "base/error.h"
#include "heap_pool_call.h"

#define NETDATA       "\"mcpool\":{\"profile\":\"netdata\"}"
#define A             "\"mcpServers\":{\"a\":{\"command\":\"a\"}}"
#define PROFILE(name) "\"mcpool\":{\"profile\":\"" name "\",\"mode\":\"shared\"}"
#define REMOTE        "\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/mcp\"}}"

/* How many milliseconds until the next attempt; -1: none is due. */
static int64_t get_wait(struct fleet *f)
{
	struct mp_status s;

	fleet_status(f, "a", &s);
	return s.next_at_ms < 0 ? -1 : s.next_at_ms - mp_loop_wall_now_ms(f->loop);
}

static bool open_failing(struct fleet *f, const char *json, int dial_code)
{
	REQUIRE(fleet_init(f));
	REQUIRE(fleet_open(f, json));
	fleet_get(f, "a")->dial_code = dial_code;
	REQUIRE(fleet_start(f, "a"));
	return true;
}

/* --- a first start that cannot succeed ------------------------------------------------------- */

/* D3 D5 D29 X33 */
/* netdata: a missing command, a 404 and an invalid value enter the endless schedule at once. */
TEST(netdata_knows_no_final_failure)
{
	static const int codes[] = {MCPOOL_ENOENT, MCPOOL_ENOENT, MCPOOL_EINVAL, MCPOOL_EIO};
	static const int64_t waits[] = {1000, 2000, 5000, 10000, 30000, 60000, 60000};

	for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(open_failing(&f, i == 0 ? "{" A "," NETDATA "}" : "{" REMOTE "," NETDATA "}",
				   codes[i]));
		CHECK_EQ(fleet_get(&f, "a")->prepares, 2); /* the first delay is 0 */
		for (size_t n = 0; n < MP_ARRAY_LEN(waits); n++) {
			CHECK_EQ(get_wait(&f), waits[n]);
			fleet_advance(&f, waits[n]);
			CHECK_EQ(fleet_get(&f, "a")->prepares, (int)n + 3);
		}
		fleet_get(&f, "a")->dial_code = 0;
		fleet_advance(&f, 60000);
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
	}
}

/* D5 */
/* In the default profile a final failure ends it, although it began with another one. */
TEST(a_loop_of_the_default_profile_ends_with_a_final_failure)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_failing(&f, "{" REMOTE "}", MCPOOL_EIO));
	fleet_advance(&f, 60000);
	CHECK(fleet_get(&f, "a")->prepares >= 5);
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT;
	fleet_advance(&f, 60000);
	CHECK_EQ(fleet_count_events(&f, "a", "failed"), 1);
	CHECK(get_wait(&f) > 60000); /* by finalRetryMs */
}

#define REMOTE_OFF "\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/mcp\",\"enabled\":false}}"

/* Ends the loop in the given way, without a restart of the pool. */
static bool end_loop(struct fleet *f, int way)
{
	if (way == 0)
		return fleet_reload(f, "{" REMOTE_OFF "," NETDATA "}");
	if (way == 1)
		return fleet_reload(f, "{\"mcpServers\":{}," NETDATA "}");
	if (way == 2) {
		mp_pool_stop(f->pool, NULL, NULL);
		fleet_settle(f);
		return true;
	}
	fleet_get(f, "a")->dial_code = way == 3 ? MCPOOL_ENEEDS_AUTH : MCPOOL_ENEEDS_APPROVAL;
	fleet_advance(f, 60000); /* the next attempt */
	return test_same_text(mp_str_of(fleet_state(f, "a")),
			      mp_str_of(way == 3 ? "needs-auth" : "needs-approval"), "state",
			      __FILE__, __LINE__);
}

/* D5 */
/* A day of 404 does not end it; being disabled, removed, a person's turn and the end of the hub do.
 */
TEST(a_relentless_loop_ends_when_it_is_told_to)
{
	enum { DISABLED, REMOVED, STOPPED, LOGIN, APPROVAL, WAYS };

	for (int way = 0; way < WAYS; way++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		int starts;

		CHECK(open_failing(&f, "{" REMOTE "," NETDATA "}", MCPOOL_ENOENT));
		fleet_advance(&f, (int64_t)24 * 3600 * 1000);
		starts = fleet_get(&f, "a")->prepares;
		CHECK(starts > 24 * 60);
		CHECK_EQ(get_wait(&f) > 0, true); /* and another attempt is due */
		CHECK(end_loop(&f, way));
		starts += way >= LOGIN; /* the attempt that found it out */
		fleet_advance(&f, (int64_t)24 * 3600 * 1000);
		CHECK_EQ(fleet_get(&f, "a")->prepares, starts);
	}
}

/* D5 E45 */
/* The same pool has the server as soon as it answers, however long that took. */
TEST(a_relentless_loop_needs_no_new_hub)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_failing(&f, "{" REMOTE "," NETDATA "}", MCPOOL_ENOENT));
	fleet_advance(&f, (int64_t)24 * 3600 * 1000);
	CHECK_TEXT(fleet_state(&f, "a"), "failed");
	fleet_get(&f, "a")->dial_code = 0;
	fleet_advance(&f, 60000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* X33 D29 */
/* The default tries it rarely; claude and omp not at all. */
TEST(other_profiles_end_with_a_final_failure)
{
	static const struct {
		const char *json;
		int64_t wait_ms;
	} cases[] = {
		{"{" REMOTE "}", 300000},
		{"{" REMOTE "," PROFILE("claude") "}", -1},
		{"{" REMOTE "," PROFILE("omp") "}", -1},
		{"{" REMOTE ",\"mcpool\":{\"restart\":{\"finalRetryMs\":700000}}}", 700000},
		{"{" A "}", 300000}, /* a missing command */
		{"{" A "," PROFILE("claude") "}", -1},
		{"{" A "," PROFILE("omp") "}", -1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(open_failing(&f, cases[i].json, MCPOOL_ENOENT));
		CHECK_TEXT(fleet_state(&f, "a"), "failed");
		CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
		CHECK_EQ(get_wait(&f), cases[i].wait_ms);
		mp_pool_note_network(f.pool); /* a change, for a remote server */
		fleet_advance(&f, 299999);
		CHECK_EQ(fleet_get(&f, "a")->prepares, i == 0 || i == 3 ? 2 : 1);
		fleet_advance(&f, 3600000);
		CHECK_EQ(fleet_get(&f, "a")->prepares > 2, cases[i].wait_ms > 0);
	}
}

/* E34 E35 E36 E37 E38 D5 */
/* Seed 003's example is a 404: callers share the 60 s, and recovery clears it. */
TEST(callers_of_a_404_share_the_sixty_seconds)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result at0, at5, at65, later;

	CHECK(open_failing(&f, "{" REMOTE "," NETDATA "}", MCPOOL_ENOENT));
	CHECK(fleet_acquire(&f, "a", 1, &at0));
	fleet_advance(&f, 5000);
	CHECK(fleet_acquire(&f, "a", 2, &at5));
	fleet_advance(&f, 54999);
	CHECK_EQ(at0.answers + at5.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(at0.answers + at5.answers, 2);
	CHECK_EQ(at0.code, MCPOOL_EUNAVAILABLE);
	CHECK_EQ(at5.code, MCPOOL_EUNAVAILABLE);
	CHECK(at0.retryable);
	fleet_advance(&f, 5000);
	CHECK(fleet_acquire(&f, "a", 3, &at65));
	fleet_settle(&f);
	CHECK(strstr(at65.text, "initialization failed 5s ago"));
	CHECK_EQ(f.doubles, 0);
	fleet_get(&f, "a")->dial_code = 0;
	fleet_advance(&f, 120000);
	CHECK(fleet_acquire(&f, "a", 4, &later));
	fleet_settle(&f);
	CHECK_EQ(later.outcome, MP_OUTCOME_ANSWERED);
}

static bool open_unresolved(struct fleet *f, const char *json)
{
	REQUIRE(fleet_init(f));
	fleet_get(f, "a")->key_code = MCPOOL_ENOENT;
	return fleet_open(f, json);
}

/* D3 D29 X33 */
/* netdata: a ${VAR} or an env file that is missing is looked for by the same schedule. */
TEST(netdata_looks_for_missing_values_again)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_unresolved(&f, "{" A "," NETDATA "}"));
	CHECK_TEXT(fleet_state(&f, "a"), "failed");
	CHECK_EQ(fleet_get(&f, "a")->identified, 2); /* 0 s */
	fleet_advance(&f, 999);
	CHECK_EQ(fleet_get(&f, "a")->identified, 2);
	fleet_advance(&f, 1);
	CHECK_EQ(fleet_get(&f, "a")->identified, 3);
	fleet_advance(&f, 1999);
	CHECK_EQ(fleet_get(&f, "a")->identified, 3);
	fleet_advance(&f, 1);
	CHECK_EQ(fleet_get(&f, "a")->identified, 4);
	fleet_advance(&f, 4999);
	CHECK_EQ(fleet_get(&f, "a")->identified, 4);
	fleet_advance(&f, 1);
	CHECK_EQ(fleet_get(&f, "a")->identified, 5);
	fleet_get(&f, "a")->key_code = 0;
	fleet_advance(&f, 10000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_advance(&f, 600000);
	CHECK_EQ(fleet_get(&f, "a")->identified, 6);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
}

/* D29 */
/* A configuration that is read again looks at once, and the schedule goes on as it was. */
TEST(a_reload_leaves_the_schedule_of_missing_values_alone)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_unresolved(&f, "{" A "," NETDATA "}"));
	fleet_advance(&f, 1000);
	CHECK_EQ(fleet_get(&f, "a")->identified, 3);
	for (int i = 0; i < 6; i++) {
		fleet_advance(&f, 100);
		CHECK(fleet_reload(&f, "{" A "," NETDATA "}"));
		CHECK_EQ(fleet_get(&f, "a")->identified, 4 + i);
	}
	fleet_get(&f, "a")->key_code = 0;
	fleet_advance(&f, 1399);
	CHECK_TEXT(fleet_state(&f, "a"), "failed");
	fleet_advance(&f, 1); /* 3 s */
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* X33 */
TEST(other_profiles_look_for_missing_values_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_unresolved(&f, "{" A "}"));
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "failed");
	CHECK_EQ(fleet_get(&f, "a")->identified, 1);
}

/* --- delays ---------------------------------------------------------------------------------- */

static bool is_exact(const char *json, int64_t wait_ms)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	REQUIRE(open_failing(&f, json, MCPOOL_EIO));
	REQUIRE(test_equal(get_wait(&f), wait_ms, "wait", __FILE__, __LINE__));
	return true;
}

/* C13 C14 D3 X34 */
/* Jitter only where neither a schedule nor a formula was given. */
/* C13 */
TEST(delays_are_exact_where_they_were_given)
{
	bool varies = false;

	CHECK(is_exact("{" REMOTE "," NETDATA "}", 1000));
	CHECK(is_exact("{" REMOTE "," PROFILE("claude") "}", 1000));
	CHECK(is_exact("{" REMOTE ",\"mcpool\":{\"restart\":{\"schedule\":[60000]}}}", 60000));
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(open_failing(&f, "{" REMOTE "}", MCPOOL_EIO));
		CHECK(get_wait(&f) <= 1000 && get_wait(&f) >= 800); /* a fifth at most */
		fleet_advance(&f, i * 4000);
		varies |= get_wait(&f) % 100 != 0;
	}
	CHECK(varies);
}

/* --- private servers ------------------------------------------------------------------------- */

#define PRIVATE "\"mcpServers\":{\"a\":{\"command\":\"a\",\"shared\":false}}"

/* D1 E62 E5 D28 */
/* Two sessions call: one life for both, or one for each. */
TEST(a_server_is_shared_unless_entry_or_profile_say_otherwise)
{
	static const struct {
		const char *json;
		int lives;
	} cases[] = {
		{"{" A "}", 1},
		{"{" A "," NETDATA "}", 1},
		{"{" PRIVATE "}", 2},
		{"{" PRIVATE "," NETDATA "}", 2},
		{"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"mode\":\"session\"}}}", 2},
		{"{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\"}}}", 1},
		{"{" A ",\"mcpool\":{\"mode\":\"session\"}}", 2},
		{"{" A ",\"mcpool\":{\"profile\":\"claude\"}}", 2},
		{"{" A ",\"mcpool\":{\"profile\":\"omp\"}}", 2},
		{"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"shared\":true}},"
		 "\"mcpool\":{\"profile\":\"claude\"}}",
		 1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r[2];

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, cases[i].json));
		for (mp_id session = 0; session < 2; session++)
			CHECK(fleet_call(&f, "a", session + 7, 0, &r[session]));
		fleet_settle(&f);
		CHECK_EQ(r[0].outcome, MP_OUTCOME_ANSWERED);
		CHECK_EQ(r[1].outcome, MP_OUTCOME_ANSWERED);
		CHECK_EQ(fleet_get(&f, "a")->lives, cases[i].lives);
		CHECK_EQ(mp_pool_count_instances(f.pool), (size_t)cases[i].lives);
	}
}

/* D4 */
/* netdata: a private server that fails is started once more; a shared one without end. */
TEST(a_private_server_of_netdata_gets_one_retry)
{
	static const struct {
		const char *json;
		int least, most;
	} cases[] = {{"{" PRIVATE "," NETDATA "}", 2, 2}, {"{" A "," NETDATA "}", 10, 100}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;
		int starts;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, cases[i].json));
		fleet_get(&f, "a")->dies_at_once = true;
		CHECK(fleet_acquire(&f, "a", 7, &r));
		fleet_advance(&f, 600000);
		starts = fleet_get(&f, "a")->prepares;
		CHECK(starts >= cases[i].least && starts <= cases[i].most);
		CHECK_EQ(r.answers, 1);
	}
}

/* One call of session 7 times out. The number of lives and of pings then. */
static bool time_out(const char *json, int lives, int pings)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_server *a;
	struct fleet_result r;

	REQUIRE(fleet_init(&f));
	REQUIRE(fleet_open(&f, json));
	a = fleet_get(&f, "a");
	a->holds_calls = true;
	REQUIRE(fleet_call(&f, "a", 7, 1000, &r));
	fleet_settle(&f);
	a->pings = 0;                 /* of the start */
	for (int i = 0; i < 3; i++) { /* more often than the one retry of mode once */
		fleet_advance(&f, 1000);
		REQUIRE(r.outcome == MP_OUTCOME_TIMEOUT);
		if (i < 2)
			REQUIRE(fleet_call(&f, "a", 7, 1000, &r));
	}
	REQUIRE(test_equal(a->lives, lives, "lives", __FILE__, __LINE__));
	REQUIRE(pings < 0 || test_equal(a->pings, pings, "pings", __FILE__, __LINE__));
	REQUIRE(fleet_count_events(&f, NULL, "backoff") == 0);
	return true;
}

/* E50 U18 X37 D7 D44 */
/* netdata: a timed-out call restarts a private stdio server; everything else is probed. */
TEST(a_timeout_restarts_a_private_stdio_server_of_netdata)
{
	CHECK(time_out("{" PRIVATE "," NETDATA "}", 4, -1));
	CHECK(time_out("{" A "," NETDATA "}", 1, 3));
	CHECK(time_out("{" PRIVATE "}", 1, 3));
	CHECK(time_out("{" PRIVATE ",\"mcpool\":{\"profile\":\"omp\"}}", 1, 3));
	CHECK(time_out("{" PRIVATE ",\"mcpool\":{\"profile\":\"claude\"}}", 1, 3));
	CHECK(time_out("{" PRIVATE ",\"mcpool\":{\"restart\":{\"onTimeout\":\"restart\"}}}", 4,
		       -1));
	CHECK(time_out("{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/"
		       "mcp\",\"shared\":false}}," NETDATA "}",
		       1, 3));
}

/* E50 U18 D16 */
/* A user's abort restarts nothing, in that profile neither. */
TEST(an_abort_restarts_no_private_server)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{" PRIVATE "," NETDATA "}"));
	fleet_get(&f, "a")->holds_calls = true;
	for (int i = 0; i < 20; i++) {
		CHECK(fleet_call(&f, "a", 7, 5000, &r));
		fleet_settle(&f);
		heap_pool_cancel(r.call);
		fleet_settle(&f);
		CHECK_EQ(r.outcome, MP_OUTCOME_CANCELLED);
	}
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK_EQ(fleet_get(&f, "a")->cancels, 20);
	mp_pool_end_session(f.pool, 7);
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
}

/* --- words ----------------------------------------------------------------------------------- */

/* What callers are told when the server dies and cannot be restarted, and of a timeout. */
static bool read_words(const char *settings, struct fleet_result *failed,
		       struct fleet_result *timeout)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	char json[200];

	snprintf(json, sizeof(json), "{" A ",\"mcpool\":%s}", settings);
	REQUIRE(fleet_init(&f));
	REQUIRE(fleet_open(&f, json));
	REQUIRE(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	REQUIRE(fleet_call(&f, "a", 1, 1000, timeout));
	fleet_advance(&f, 1000);
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	REQUIRE(fleet_call(&f, "a", 1, 0, failed));
	fleet_settle(&f);
	return timeout->answers == 1 && failed->answers == 1;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
	return strlen(text) >= strlen(with) &&
	       strcmp(text + strlen(text) - strlen(with), with) == 0;
}

/* D25 E47 E70 U13 X38 */
/* netdata names the server, the default the number of the attempt. */
TEST(errors_of_restarts_and_timeouts_have_the_words_of_their_profile)
{
	struct fleet_result failed, timeout;

	CHECK(read_words("{\"profile\":\"netdata\"}", &failed, &timeout));
	CHECK(begins(failed.text, "MCP error: mcp_restart_failed:a: server 'a' could not be"));
	CHECK_EQ(failed.attempt, 1);
	CHECK_EQ(failed.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(failed.error.rpc_code, 1002);
	CHECK_TEXT(timeout.text,
		   "MCP error: server 'a' did not answer within 1 s (tool failed: timeout)");
	CHECK(read_words("{}", &failed, &timeout));
	CHECK(begins(failed.text, "MCP error: mcp_restart_failed:1: server 'a' could not be"));
	CHECK_EQ(failed.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(failed.error.rpc_code, 1002);
	CHECK(ends(timeout.text, " within 1 s"));
}

/* E49 U13 D25 E47 */
TEST(netdata_names_the_server_that_is_being_restarted)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{" A "," NETDATA "}"));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->mute = true;
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.code, MCPOOL_ERESTARTING);
	CHECK_EQ(r.error.rpc_code, 1001);
	CHECK(begins(r.text, "MCP error: mcp_restart_in_progress:a: "));
}

/* --- the probe at the start ------------------------------------------------------------------ */

/* E69 */
/* healthProbe decides how a start is verified: ping before the lists, or the lists alone. */
TEST(netdata_verifies_a_start_with_the_health_probe)
{
	static const struct {
		const char *json;
		int pings;
	} cases[] = {
		{"{" A "," NETDATA "}", 1},
		{"{" A ",\"mcpool\":{\"profile\":\"netdata\",\"healthProbe\":\"listTools\"}}", 0},
		{"{" A ",\"mcpool\":{\"profile\":\"netdata\",\"probeAtStart\":false}}", 0},
		{"{" A ",\"mcpool\":{\"probeAtStart\":true}}", 1},
		{"{" A "}", 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(fleet_init(&f));
		CHECK(fleet_open(&f, cases[i].json));
		CHECK(fleet_start(&f, "a"));
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		CHECK_EQ(fleet_get(&f, "a")->pings, cases[i].pings);
		CHECK_EQ(fleet_get(&f, "a")->pings_before_lists, cases[i].pings);
		CHECK_EQ(fleet_get(&f, "a")->lists, 1);
	}
}

/* E69 D29 */
/* A server that agrees and then answers nothing is not up; it enters the schedule. */
TEST(a_start_fails_with_its_probe)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{" A "," NETDATA "}"));
	fleet_get(&f, "a")->dead_once_up = true;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 5999);
	CHECK_TEXT(fleet_state(&f, "a"), "pending");
	fleet_advance(&f, 1); /* ping and list, 3 s each */
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
	fleet_status(&f, "a", &s);
	CHECK(strstr(s.error, "it was just started, and then the probe failed"));
	fleet_get(&f, "a")->dead_once_up = false;
	fleet_get(&f, "a")->dead = false;
	fleet_advance(&f, 40000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}
