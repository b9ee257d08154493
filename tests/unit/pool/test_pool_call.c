/* test_pool_call.c - one call's way through the pool: every ending, exactly one answer. */
#include "test.h"

#include "fleet.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "heap_pool_call.h"
#include "pool/instance.h"
#include "pool/pool_call.h"
#include "memory.h"

#define ONE       "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define WITH(key) "{\"mcpServers\":{\"a\":{\"command\":\"a\"," key "}}}"

static bool open_up(struct fleet *f, const char *json)
{
	REQUIRE(fleet_init(f));
	REQUIRE(fleet_open(f, json));
	return fleet_start(f, "a");
}

/* --- fate of a call -------------------------------------------------------------------------- */

/* Written, then the server dies: unknown, at once, and never sent again. */
TEST(a_written_call_is_unknown_and_not_replayed)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	fleet_die(fleet_get(&f, "a"));
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(r.code, MCPOOL_EOUTCOME_UNKNOWN);
	CHECK(!r.retryable);
	fleet_advance(&f, 60000);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(r.answers, 1);
}

/* What is not about one hop passes through (mcp-spec 4.1), beside the token that is. */
TEST(what_a_call_says_beside_its_params_goes_along)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	char meta[] = "{\"traceparent\":\"00-1\"}";
	struct mp_pool_call_options rq = {.server = "a",
					  .call.method = MP_METHOD_TOOLS_CALL,
					  .call.params = MP_STR("{\"name\":\"t\"}"),
					  .call.foreign = mp_str_of(meta),
					  .call.capabilities = MP_STR("{\"roots\":{}}"),
					  .call.log_level = "info"};
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK_EQ(heap_pool_call(f.workspace, &rq, NULL, NULL, NULL, NULL), 0);
	memset(meta, 'x', sizeof(meta) - 1);
	fleet_settle(&f);
	fleet_status(&f, "a", &s);
	CHECK(s.calls == 1);
	CHECK(strstr(fleet_get(&f, "a")->last_params,
		     "\"name\":\"t\",\"_meta\":{\"progressToken\":"));
	CHECK(strstr(fleet_get(&f, "a")->last_params, ",\"traceparent\":\"00-1\"}"));
	CHECK(!strstr(fleet_get(&f, "a")->last_params, "roots"));
}

/* U13 */
/* Not written when the server dies: it waits for the next life and is sent there. */
TEST(an_unwritten_call_waits_for_the_next_life)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, ONE));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	mp_memory_hold(fleet_get(&f, "a")->ours, true);
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 0);
	fleet_die(fleet_get(&f, "a"));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
}

/* --- during a restart ------------------------------------------------------------------------ */

/* D41 D25 D26 E49 U13 E44 */
/* Callers wait for the attempt, at most waitMs, then read so. */
TEST(callers_wait_for_a_restart)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[3];

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->prepare_ms = 4000;
	fleet_die(fleet_get(&f, "a"));
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", (mp_id)i, 0, &r[i]));
	fleet_advance(&f, 3999);
	CHECK_EQ(r[0].answers + r[1].answers + r[2].answers, 0);
	fleet_advance(&f, 1);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(r[i].outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(f.doubles, 0); /* the old connection was closed before */
}

/* D41 D10 D25 E47 E49 */
/* At most restart.waitMs, 10 s unless it is set. */
TEST(callers_lose_patience_after_ten_seconds)
{
	static const struct {
		const char *json;
		int wait_ms;
	} cases[] = {{ONE, 10000}, {WITH("\"restart\":{\"waitMs\":700}"), 700}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(open_up(&f, cases[i].json));
		fleet_get(&f, "a")->prepare_ms = 40000;
		fleet_die(fleet_get(&f, "a"));
		CHECK(fleet_call(&f, "a", 1, 0, &r));
		fleet_advance(&f, cases[i].wait_ms - 1);
		CHECK_EQ(r.answers, 0);
		fleet_advance(&f, 1);
		CHECK_EQ(r.answers, 1);
		CHECK_EQ(r.code, MCPOOL_ERESTARTING);
		CHECK_EQ(r.error.rpc_code, 1001);
		CHECK_EQ(r.outcome, MP_OUTCOME_NOT_SENT);
		CHECK(r.retryable);
		CHECK_EQ(r.attempt, 1);
		CHECK_TEXT(r.server, "a");
		CHECK(strncmp(r.text, "MCP error: mcp_restart_in_progress:1: server 'a' ", 49) ==
		      0);
	}
}

/* U13 */
/* Its own timeout may be shorter. */
TEST(a_short_deadline_ends_the_wait_for_a_restart)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->prepare_ms = 40000;
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 500, &r));
	fleet_advance(&f, 499);
	CHECK_EQ(r.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(r.code, MCPOOL_ECALL_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->calls, 0);
}

/* D7 */
/* A call that timed out in its queue says nothing of the server, which never saw it. */
TEST(a_call_that_was_never_sent_is_no_reason_to_probe)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result out, waits;

	CHECK(open_up(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			  "{\"queues\":{\"default\":{\"slots\":1,\"line\":5}}}}"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 9000, &out));
	CHECK(fleet_call(&f, "a", 1, 500, &waits));
	fleet_advance(&f, 1000);
	CHECK_EQ(waits.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 0);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0);
	fleet_advance(&f, 8000);
	CHECK_EQ(out.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 1);
}

/* U13 D25 X38 */
/* The code that fits, in the words of each profile: while it restarts, and when that failed. */
TEST(a_call_during_a_restart_gets_the_code_that_fits)
{
	static const struct {
		const char *json, *restarting, *failed, *again;
	} cases[] = {
		{"{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
		 "MCP error: mcp_restart_in_progress:1: ", "MCP error: mcp_restart_failed:1: ",
		 "MCP error: mcp_restart_in_progress:2: "},
		{"{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":{\"profile\":\"netdata\","
		 "\"restart\":{\"callers\":\"wait\"}}}",
		 "MCP error: mcp_restart_in_progress:a: ", "MCP error: mcp_restart_failed:a: ",
		 "MCP error: mcp_restart_in_progress:a: "},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result waits, later;

		CHECK(open_up(&f, cases[i].json));
		fleet_get(&f, "a")->prepare_ms = 12000;
		fleet_get(&f, "a")->prepare_code = MCPOOL_EIO;
		fleet_die(fleet_get(&f, "a"));
		CHECK(fleet_call(&f, "a", 1, 0, &waits));
		fleet_advance(&f, 9999);
		CHECK_EQ(waits.answers, 0);
		fleet_advance(&f, 1);
		CHECK_EQ(waits.code, MCPOOL_ERESTARTING);
		CHECK(strncmp(waits.text, cases[i].restarting, strlen(cases[i].restarting)) == 0);
		CHECK(fleet_call(&f, "a", 1, 0, &later));
		fleet_advance(&f, 2000);
		CHECK_EQ(later.code, MCPOOL_ERESTART_FAILED);
		CHECK(strncmp(later.text, cases[i].failed, strlen(cases[i].failed)) == 0);
		fleet_advance(&f, 1500); /* the second attempt */
		CHECK(fleet_call(&f, "a", 1, 0, &later));
		fleet_advance(&f, 10000);
		CHECK_EQ(later.code, MCPOOL_ERESTARTING);
		CHECK(strncmp(later.text, cases[i].again, strlen(cases[i].again)) == 0);
	}
}

/* D26 D10 E47 X10 */
/* The attempt fails: all who wait for it hear so, and the loop goes on. */
TEST(callers_hear_of_a_failed_restart)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[3];
	struct mp_status s;

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->prepare_ms = 2000;
	fleet_get(&f, "a")->prepare_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", (mp_id)i, 0, &r[i]));
	fleet_advance(&f, 2000);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(r[i].answers, 1);
		CHECK_EQ(r[i].code, MCPOOL_ERESTART_FAILED);
		CHECK_EQ(r[i].attempt, 1);
		CHECK_EQ(r[i].outcome, MP_OUTCOME_NOT_SENT);
		CHECK_TEXT(r[i].server, "a");
		CHECK(r[i].retryable);
		CHECK(strncmp(r[i].text, "MCP error: mcp_restart_failed:1: server 'a' ", 44) == 0);
	}
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "it cannot be prepared");
	CHECK(s.next_at_ms >= 0); /* the loop goes on */
	fleet_get(&f, "a")->prepare_code = 0;
	fleet_advance(&f, 3000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, ""); /* recovery clears it */
	CHECK(fleet_call(&f, "a", 1, 0, &r[0]));
	fleet_settle(&f);
	CHECK_EQ(r[0].answers, 1);
	CHECK_EQ(r[0].outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(r[0].code, 0);
}

/* D41 E49 */
/* Restart.callers fail. */
TEST(callers_may_be_told_at_once)
{
	static const char *const jsons[] = {
		WITH("\"restart\":{\"callers\":\"fail\"}"),
		("{\"mcpServers\":{\"a\":{\"command\":\"a\"}},"
		 "\"mcpool\":{\"profile\":\"netdata\"}}"),
		("{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\"}},"
		 "\"mcpool\":{\"profile\":\"claude\",\"mode\":\"shared\"}}")};

	for (size_t i = 0; i < MP_ARRAY_LEN(jsons); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(open_up(&f, jsons[i]));
		fleet_get(&f, "a")->prepare_ms = 2000;
		fleet_die(fleet_get(&f, "a"));
		fleet_advance(&f, 1000); /* the first delay of mode remote */
		CHECK(fleet_call(&f, "a", 1, 0, &r));
		fleet_settle(&f);
		CHECK_EQ(r.code, MCPOOL_ERESTARTING);
	}
}

/* E47 E30 */
/* The one attempt of mode once failed: calls say so, and an acquire starts it again. */
TEST(a_restart_that_was_given_up_is_told_until_an_acquire)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r, acquired;

	CHECK(open_up(&f, WITH("\"restart\":{\"mode\":\"once\"}")));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "failed");
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_NOT_SENT);
	CHECK_EQ(r.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(r.error.rpc_code, 1002);
	CHECK_TEXT(r.text, "MCP error: mcp_restart_failed:1: server 'a' could not be restarted: "
			   "start: it cannot be dialled");
	fleet_get(&f, "a")->dial_code = 0;
	CHECK(fleet_acquire(&f, "a", 1, &acquired));
	fleet_settle(&f);
	CHECK_EQ(acquired.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
}

/* A56 A70 */
/* Mode none: calls fail until a start is requested. */
TEST(without_restarts_calls_fail_until_an_acquire)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r, acquired, again;

	CHECK(open_up(&f, WITH("\"restart\":{\"mode\":\"none\"}")));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 7000);
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.code, MCPOOL_EUNAVAILABLE);
	CHECK(strstr(r.text, "is gone since 7s and is not restarted"));
	CHECK(fleet_acquire(&f, "a", 1, &acquired));
	fleet_settle(&f);
	CHECK_EQ(acquired.outcome, MP_OUTCOME_ANSWERED);
	CHECK(fleet_call(&f, "a", 1, 0, &again));
	fleet_settle(&f);
	CHECK_EQ(again.answers, 1);
	CHECK_EQ(again.outcome, MP_OUTCOME_ANSWERED);
	for (int reload = 0; reload < 2; reload++) {
		fleet_die(fleet_get(&f, "a"));
		CHECK(fleet_call(&f, "a", 1, 0, &r));
		fleet_advance(&f, 60000);
		CHECK_EQ(r.code, MCPOOL_EUNAVAILABLE);
		if (reload)
			CHECK(fleet_reload(&f, WITH("\"restart\":{\"mode\":\"none\"}")));
		else
			CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
		fleet_settle(&f);
		CHECK(fleet_call(&f, "a", 1, 0, &again));
		fleet_settle(&f);
		CHECK_EQ(again.answers, 1);
		CHECK_EQ(again.outcome, MP_OUTCOME_ANSWERED);
	}
}

/* --- deadlines and aborts -------------------------------------------------------------------- */

/* A46 A24 E25 */
/* A call of a server that is not there yet waits, within its own deadline. */
TEST(a_deferred_call_waits_for_the_connection)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result in_time, too_short;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->prepare_ms = 3000;
	CHECK(fleet_call(&f, "a", 1, 10000, &in_time));
	CHECK(fleet_call(&f, "a", 1, 2000, &too_short));
	fleet_advance(&f, 2000);
	CHECK_EQ(too_short.outcome, MP_OUTCOME_TIMEOUT);
	CHECK(strstr(too_short.text, "was not there for the call within 2 s"));
	CHECK_EQ(in_time.answers, 0);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 1); /* it takes one of the server's calls */
	fleet_advance(&f, 1000);
	CHECK_EQ(in_time.answers, 1);
	CHECK_EQ(in_time.outcome, MP_OUTCOME_ANSWERED);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 0);                            /* and gives it back */
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 0); /* only the start was slow */
}

/* D16 D9 U18 E50 B54 */
/* An abort in each state: the server is told, nothing is probed or restarted. */
TEST(an_abort_ends_a_call_wherever_it_is)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result waiting, lined, out, slot;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			     "{\"queues\":{\"default\":{\"slots\":1,\"line\":5}}}}"));
	fleet_get(&f, "a")->prepare_ms = 1000;
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &waiting));
	heap_pool_cancel(waiting.call);
	CHECK_EQ(waiting.answers, 0); /* from the loop, never from within */
	fleet_settle(&f);
	CHECK_EQ(waiting.outcome, MP_OUTCOME_CANCELLED);
	fleet_advance(&f, 1000);
	CHECK(fleet_call(&f, "a", 1, 0, &out));
	CHECK(fleet_call(&f, "a", 1, 0, &lined));
	CHECK(fleet_call(&f, "a", 1, 0, &slot));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	heap_pool_cancel(lined.call);
	fleet_settle(&f);
	CHECK_EQ(lined.outcome, MP_OUTCOME_CANCELLED);
	heap_pool_cancel(out.call);
	fleet_settle(&f);
	CHECK_EQ(out.outcome, MP_OUTCOME_CANCELLED);
	CHECK_EQ(fleet_get(&f, "a")->cancels, 1);
	CHECK_TEXT(fleet_get(&f, "a")->cancelled, fleet_get(&f, "a")->kept[0]);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2); /* its slot went to the next */
	heap_pool_cancel(out.call);             /* too late: nothing */
	fleet_advance(&f, 60000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK_EQ(waiting.answers + lined.answers + out.answers, 3);
	CHECK_EQ(slot.answers, 0); /* none but those that were named */
}

/* P17 U16 */
/* Progress buys time, up to maxTotal. */
TEST(progress_extends_a_call_up_to_max_total)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	char text[300];

	CHECK(open_up(&f, WITH("\"toolTimeout\":1000,\"maxTotal\":3500")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(strstr(fleet_get(&f, "a")->last_params, "progressToken"));
	for (int i = 1; i <= 4; i++) {
		fleet_advance(&f, 800);
		CHECK_EQ(r.answers, 0);
		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			 "{\"progressToken\":%s,\"progress\":%d}}",
			 fleet_get(&f, "a")->kept[0], i);
		CHECK(fleet_say(fleet_get(&f, "a"), text));
		fleet_settle(&f);
	}
	fleet_advance(&f, 299); /* 3499 */
	CHECK_EQ(r.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
}

/* The call that is at the server now. */
static const struct mp_pool_call *find_out(struct fleet *f)
{
	const struct mp_link *link = mp_list_first(&f->pool->instances);
	const struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

	link = link ? mp_list_first(&in->calls[MP_POOL_CALL_OUT]) : NULL;
	return link ? mp_container_of(link, struct mp_pool_call, link) : NULL;
}

/* D9 E70 U16 X8 */
/* The tool's limit decides; the transport gets half as much again, and at least a second more. */
TEST(the_transport_is_padded)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK_EQ(mp_pool_call_pad(1000), 2000);
	CHECK_EQ(mp_pool_call_pad(2000), 3000);
	CHECK_EQ(mp_pool_call_pad(10000), 15000);
	CHECK_EQ(mp_pool_call_pad(300000), 450000);
	CHECK_EQ(mp_pool_call_pad(0), 0);
	CHECK(open_up(&f, WITH("\"toolTimeout\":10000")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(find_out(&f));
	CHECK_EQ(find_out(&f)->call.o.timeout_ms, 15000);
	CHECK_EQ(find_out(&f)->deadline_ms - mp_loop_now_ms(f.loop), 10000);
	fleet_advance(&f, 9999);
	CHECK_EQ(r.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
}

/* D9 E70 X8 */
/* Whose limit comes first is a setting. Either way the call ends once, and is probed. */
TEST(the_transport_may_come_first)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, WITH("\"timeoutOrder\":\"transport\",\"toolTimeout\":1000")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(find_out(&f));
	CHECK_EQ(find_out(&f)->call.o.timeout_ms, 1000); /* and not 2000, as in the other order */
	CHECK_EQ(find_out(&f)->deadline_ms - mp_loop_now_ms(f.loop), 2000);
	fleet_advance(&f, 999);
	CHECK_EQ(r.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	fleet_advance(&f, 60000);
	CHECK_EQ(r.answers, 1);
}

/* D43 */
/* An error of the server is an answer, and says nothing about its health. */
TEST(a_json_rpc_error_is_an_answer)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	char text[200];

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,\"message\":\"no\"}}",
		 fleet_get(&f, "a")->kept[0]);
	CHECK(fleet_say(fleet_get(&f, "a"), text));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_TEXT(r.text, "{\"code\":-32603,\"message\":\"no\"}");
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(fleet_count_events(&f, "a", "checking"), 0);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
}

/* --- lines ----------------------------------------------------------------------------------- */

/* U28 */
/* A full line refuses, also while the server is not there. */
TEST(a_full_line_refuses)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[5];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			     "{\"queues\":{\"default\":{\"slots\":1,\"line\":2}}}}"));
	fleet_get(&f, "a")->prepare_ms = 1000;
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", (mp_id)i, 0, &r[i]));
	fleet_settle(&f);
	CHECK_EQ(r[2].code, MCPOOL_EQUEUE_FULL);
	CHECK_EQ(r[2].outcome, MP_OUTCOME_REFUSED);
	fleet_get(&f, "a")->holds_calls = true;
	fleet_advance(&f, 1000);
	CHECK(fleet_call(&f, "a", 9, 0, &r[3]));
	CHECK(fleet_call(&f, "a", 9, 0, &r[4]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(r[4].code, MCPOOL_EQUEUE_FULL);
	for (int i = 0; i < 3; i++) {
		CHECK(fleet_answer_kept(fleet_get(&f, "a"), i, "{}"));
		fleet_settle(&f);
	}
	CHECK_EQ(r[0].answers + r[1].answers + r[2].answers + r[3].answers + r[4].answers, 5);
	CHECK_EQ(r[3].outcome, MP_OUTCOME_ANSWERED);
}

/* U28 */
/* No session has all places, neither while waiting for the server nor in its line. */
TEST(places_are_fair)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result greedy[5], modest[2], out;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			     "{\"queues\":{\"default\":{\"slots\":1,\"line\":3}}}}"));
	fleet_get(&f, "a")->prepare_ms = 1000;
	for (int i = 0; i < 4; i++)
		CHECK(fleet_call(&f, "a", 1, 0, &greedy[i]));
	CHECK(fleet_call(&f, "a", 2, 0, &modest[0]));
	fleet_settle(&f);
	CHECK_EQ(greedy[3].code, MCPOOL_EQUEUE_FULL); /* it came when all was its own */
	CHECK_EQ(greedy[2].code, MCPOOL_EQUEUE_FULL); /* it had to go */
	CHECK(greedy[2].retryable);
	CHECK_EQ(greedy[2].outcome, MP_OUTCOME_REFUSED);
	CHECK_EQ(greedy[0].answers + greedy[1].answers + modest[0].answers, 0);
	fleet_advance(&f, 1000);
	fleet_settle(&f);
	CHECK_EQ(modest[0].outcome, MP_OUTCOME_ANSWERED);

	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &out));
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", 1, 0, &greedy[i]));
	CHECK(fleet_call(&f, "a", 2, 0, &modest[1]));
	CHECK_EQ(greedy[2].answers, 0);
	fleet_settle(&f);
	CHECK_EQ(greedy[2].answers, 1);
	CHECK_EQ(greedy[2].code, MCPOOL_EQUEUE_FULL);
	CHECK(greedy[2].retryable);
	CHECK_EQ(greedy[0].answers + greedy[1].answers + modest[1].answers + out.answers, 0);
	for (int i = 0; i < 4; i++) {
		CHECK(fleet_answer_kept(fleet_get(&f, "a"), i, "{}"));
		fleet_settle(&f);
	}
	CHECK_EQ(modest[1].outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(greedy[0].answers + greedy[1].answers + modest[1].answers + out.answers, 4);
}

/* E68 D38 E7 X26 */
/* A named queue limits all servers that name it, a tool's counts before the server's. */
TEST(a_named_queue_is_shared)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result a, b;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"queue\":\"q\"},"
			     "\"b\":{\"command\":\"b\",\"toolQueues\":{\"t\":\"q\"}}},\"mcpool\":"
			     "{\"queues\":{\"q\":{\"slots\":1,\"line\":5}}}}"));
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_start(&f, "b"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &a));
	CHECK(fleet_call(&f, "b", 2, 0, &b));
	fleet_settle(&f);
	CHECK_EQ(b.answers, 0);
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 0, "{}"));
	CHECK_EQ(a.answers + b.answers, 2);
}

/* D28 */
/* Mode serial: one session's calls at a time. */
TEST(a_serial_server_serves_one_session_at_a_time)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result one, also_one, two;

	CHECK(open_up(&f, WITH("\"mode\":\"serial\"")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	CHECK(fleet_call(&f, "a", 1, 0, &also_one));
	CHECK(fleet_call(&f, "a", 2, 0, &two));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2);
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 0, "{}"));
	CHECK_EQ(fleet_get(&f, "a")->calls, 2);
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 1, "{}"));
	CHECK_EQ(fleet_get(&f, "a")->calls, 3);
	CHECK_EQ(one.answers + also_one.answers, 2);
	CHECK_EQ(two.answers, 0);
}

/* --- requests that go their own ways --------------------------------------------------------- */

#define REMOTE "{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\"}}}"

/* What a transport tells whose requests are lost one by one. */
static void lose(struct fleet *f, int i, enum mp_unanswered how, int code, int retry_ms)
{
	struct fleet_server *s = fleet_get(f, "a");
	struct mcpool_error why;

	(void)mp_fail(&why, code, "it was lost");
	why.retry_ms = retry_ms;
	s->ours->hooks->lost(s->ours->u, mp_str_of(s->kept[i]), how, &why);
	fleet_settle(f);
}

static bool call_one(struct fleet *f, struct fleet_result *r)
{
	REQUIRE(open_up(f, REMOTE));
	fleet_get(f, "a")->holds_calls = true;
	REQUIRE(fleet_call(f, "a", 1, 0, r));
	fleet_settle(f);
	return fleet_get(f, "a")->n_kept == 1;
}

/* O25: once, and not for ever. */
TEST(a_call_that_was_not_taken_is_sent_once_more)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(call_one(&f, &r));
	lose(&f, 0, MP_UNANSWERED_NOT_TAKEN, MCPOOL_EAGAIN, 0);
	CHECK_EQ(r.answers, 0);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2);
	lose(&f, 1, MP_UNANSWERED_NOT_TAKEN, MCPOOL_EAGAIN, 0);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_NOT_SENT);
	CHECK(r.retryable);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

TEST(a_busy_server_is_not_asked_again_at_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(call_one(&f, &r));
	lose(&f, 0, MP_UNANSWERED_NOT_TAKEN, MCPOOL_EAGAIN, 5000);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(r.answers, 1);
	CHECK(r.retryable);
}

TEST(a_lost_answer_ends_one_call_and_not_the_server)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(call_one(&f, &r));
	lose(&f, 0, MP_UNANSWERED_UNKNOWN, MCPOOL_EIO, 0);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(r.code, MCPOOL_EOUTCOME_UNKNOWN);
	CHECK(strstr(r.error.message, r.cause.message));
	CHECK(r.cause.message[0] && r.cause.code < 0); /* the bare reason */
	CHECK(strstr(r.text, "the answer of server 'a' was lost"));
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

TEST(an_unusable_answer_is_refused)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(call_one(&f, &r));
	lose(&f, 0, MP_UNANSWERED_UNUSABLE, MCPOOL_ETOO_LARGE, 0);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_REFUSED);
	CHECK_EQ(r.code, MCPOOL_ETOO_LARGE);
}

/* U12: a connection broke, which may mean anything: it is asked, and not restarted. */
TEST(a_doubt_is_a_probe)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_server *s;

	CHECK(open_up(&f, REMOTE));
	s = fleet_get(&f, "a");
	CHECK(s->ours);
	s->ours->hooks->doubt(s->ours->u, "a connection broke");
	fleet_settle(&f);
	CHECK_EQ(s->pings, 1);
	CHECK_EQ(s->dials, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* What the last event of this kind says. */
static const char *get_event(struct fleet *f, const char *what)
{
	uint64_t cursor = 1, missed;
	const struct mp_event *e;
	static char text[MP_LIMIT_EVENT_TEXT];

	text[0] = '\0';
	while ((e = mp_events_read(&f->events, &cursor, &missed)))
		if (strcmp(e->what, what) == 0)
			snprintf(text, sizeof(text), "%s", e->text);
	return text;
}

/* D30 D22 D12 */
/* A close that ends the conversation, and one after which the probe is not answered. */
TEST(an_unexpected_close_is_a_transport_exit)
{
	static const char *const jsons[] = {ONE, REMOTE};

	for (int is_remote = 0; is_remote < 2; is_remote++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_server *s;

		CHECK(open_up(&f, jsons[is_remote]));
		s = fleet_get(&f, "a");
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		fleet_die(s);
		CHECK(strncmp(get_event(&f, "clearing"), "transport-exit: ", 16) == 0);
		fleet_advance(&f, 2000);
		CHECK_EQ(s->lives, 2);
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		s->dead = true;
		s->ours->hooks->doubt(s->ours->u, "its stream broke");
		fleet_advance(&f, 5000);
		s->dead = false;
		fleet_advance(&f, 5000);
		CHECK(strncmp(get_event(&f, "clearing"),
			      "transport-exit: its stream broke, and then the probe failed: ",
			      61) == 0);
		CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 2);
		CHECK_EQ(s->lives, 3);
	}
}

static void end_with(struct fleet *f, int code, int retry_ms)
{
	struct fleet_server *s = fleet_get(f, "a");
	struct mcpool_error why;

	(void)mp_fail(&why, code, "it said no");
	why.retry_ms = retry_ms;
	if (s->ours)
		s->ours->hooks->ended(s->ours->u, &why);
	fleet_settle(f);
}

/* A token that ran out may have a successor in the environment or from its command: once. */
TEST(a_login_that_ran_out_is_looked_for_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_up(&f, REMOTE));
	end_with(&f, MCPOOL_ENEEDS_AUTH, 0);
	fleet_advance(&f, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
	fleet_advance(&f, 61000); /* a stable life */
	fleet_get(&f, "a")->dial_code = MCPOOL_ENEEDS_AUTH;
	end_with(&f, MCPOOL_ENEEDS_AUTH, 0);
	fleet_advance(&f, 100000);
	CHECK_TEXT(fleet_state(&f, "a"), "needs-auth");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 3);
}

/* Its handshake needs no login: it would be restarted for each call. */
TEST(a_server_that_refuses_calls_only_waits_for_a_login)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_up(&f, REMOTE));
	end_with(&f, MCPOOL_ENEEDS_AUTH, 0);
	fleet_advance(&f, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	end_with(&f, MCPOOL_ENEEDS_AUTH, 0);
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "needs-auth");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
}

/* D38 */
/* A stream that breaks and a rate limit are the connection's: once, however many sessions share it.
 */
TEST(oddities_of_a_transport_are_met_once_for_all_sessions)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[3];
	struct fleet_server *s;

	CHECK(open_up(&f, REMOTE));
	s = fleet_get(&f, "a");
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", (mp_id)i + 1, 0, &r[i]));
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	for (int i = 0; i < 3; i++) /* it breaks for each stream that is open */
		s->ours->hooks->doubt(s->ours->u, "its stream broke");
	fleet_settle(&f);
	CHECK_EQ(s->pings, 1);
	end_with(&f, MCPOOL_EAGAIN, 5000); /* HTTP 429, Retry-After: 5 */
	for (int i = 0; i < 3; i++)
		CHECK(fleet_call(&f, "a", (mp_id)i + 1, 0, &r[i]));
	fleet_advance(&f, 4900);
	CHECK_EQ(s->dials, 1);
	CHECK_EQ(r[0].answers + r[1].answers + r[2].answers, 0);
	fleet_advance(&f, 200);
	CHECK_EQ(s->dials, 2);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(r[i].outcome, MP_OUTCOME_ANSWERED);
}

/* C13 C14 C15 D3: Retry-After: not sooner than it asked for, and longer than any delay of mode
 * remote. */
TEST(a_server_that_asks_for_time_gets_it)
{
	static const struct {
		const char *json;
		int asked_ms;
	} cases[] = {{REMOTE, 20000},
		     {"{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\",\"restart\":"
		      "{\"mode\":\"remote\"}}}}",
		      45000}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(open_up(&f, cases[i].json));
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		end_with(&f, MCPOOL_EAGAIN, cases[i].asked_ms);
		fleet_advance(&f, cases[i].asked_ms - 1);
		CHECK_EQ(fleet_get(&f, "a")->dials, 1);
		fleet_advance(&f, 1);
		CHECK_EQ(fleet_get(&f, "a")->dials, 2);
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
	}
}
