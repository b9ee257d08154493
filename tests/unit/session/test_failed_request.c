/*
 * test_failed_request.c - every way in which the pool fails a call, made to happen, and what is
 * then known of it: outcome, code, transport, stage, class.
 */
#include "test.h"

#include <stdio.h>

#include "fleet.h"

#include "base/error.h"
#include "session/failed_call.h"
#include "transport/transport.h"
#include "heap_pool_call.h"

#define LOCAL  "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define REMOTE "{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1:1/\"}}}"

static bool is(const struct fleet_result *r, enum mp_outcome outcome, int code, const char *where)
{
	struct mp_failed_call f = {
		.server = "a",
		.is_configured = true,
		.transport = r->transport,
		.why = &r->error,
		.outcome = r->outcome,
		.was_up = r->was_up,
		.was_out = r->was_out,
	};
	char got[80];

	REQUIRE(r->answers == 1);
	REQUIRE(test_equal(r->outcome, outcome, "outcome", __FILE__, __LINE__));
	REQUIRE(test_equal(r->code, code, "code", __FILE__, __LINE__));
	snprintf(got, sizeof(got), "%s %s %s", r->transport ? r->transport : "-",
		 mp_failed_stage_get_name(mp_failed_call_get_stage(&f)),
		 mp_fault_get_name(mp_failed_call_get_class(&f)));
	return test_same_text(mp_str_of(got), mp_str_of(where), r->text, __FILE__, __LINE__);
}

static bool open_fleet(struct fleet *f, const char *json)
{
	REQUIRE(fleet_init(f));
	return fleet_open(f, json);
}

/* Up, with one call that it keeps. */
static bool call_one(struct fleet *f, const char *json, struct fleet_result *r)
{
	REQUIRE(open_fleet(f, json) && fleet_start(f, "a"));
	fleet_get(f, "a")->holds_calls = true;
	REQUIRE(fleet_call(f, "a", 1, 0, r));
	fleet_settle(f);
	return fleet_get(f, "a")->n_kept == 1;
}

/* --- it is not there ------------------------------------------------------------------------- */

/* U23 */
TEST(a_first_start_that_fails)
{
	static const struct {
		int dial_code, prepare_code;
		bool mute, dies;
		const char *where;
	} cases[] = {
		{MCPOOL_EIO, 0, false, false, "stdio connect connect"},
		{0, MCPOOL_ENOENT, false, false, "stdio connect connect"},
		{0, MCPOOL_ETIMEDOUT, false, false, "stdio connect timeout"},
		{0, 0, true, false, "stdio connect timeout"},
		{0, 0, false, true, "stdio connect eof"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(open_fleet(&f, LOCAL));
		fleet_get(&f, "a")->dial_code = cases[i].dial_code;
		fleet_get(&f, "a")->prepare_code = cases[i].prepare_code;
		fleet_get(&f, "a")->mute = cases[i].mute;
		fleet_get(&f, "a")->dies_at_once = cases[i].dies;
		CHECK(fleet_call(&f, "a", 1, 0, &r));
		fleet_advance(&f, 61000);
		CHECK(is(&r, MP_OUTCOME_NOT_SENT, MCPOOL_EUNAVAILABLE, cases[i].where));
	}
}

/* U23 */
TEST(who_must_do_something_first)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result off, wrong, locked, late;

	CHECK(open_fleet(&f, "{\"mcpServers\":{\"off\":{\"command\":\"b\",\"enabled\":false},"
			     "\"wrong\":{\"type\":\"http\"},"
			     "\"a\":{\"url\":\"http://127.0.0.1:1/\"}}}"));
	CHECK(fleet_call(&f, "off", 1, 0, &off));
	CHECK(fleet_call(&f, "wrong", 1, 0, &wrong));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENEEDS_AUTH;
	CHECK(fleet_call(&f, "a", 1, 0, &locked));
	fleet_settle(&f);
	CHECK(is(&off, MP_OUTCOME_NOT_SENT, MCPOOL_EDISABLED, "stdio connect closed"));
	CHECK(is(&wrong, MP_OUTCOME_NOT_SENT, MCPOOL_EINVAL, "http connect connect"));
	CHECK(is(&locked, MP_OUTCOME_NOT_SENT, MCPOOL_ENEEDS_AUTH, "http connect http_status"));
	mp_pool_stop(f.pool, NULL, NULL);
	CHECK(fleet_call(&f, "a", 1, 0, &late));
	fleet_settle(&f);
	CHECK(is(&late, MP_OUTCOME_NOT_SENT, MCPOOL_EUNAVAILABLE, "http connect closed"));
}

/* U23 */
TEST(while_it_is_restarted)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result patient, hasty, failed;

	CHECK(open_fleet(&f, LOCAL) && fleet_start(&f, "a"));
	fleet_get(&f, "a")->prepare_ms = 20000;
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &patient));
	CHECK(fleet_call(&f, "a", 1, 500, &hasty));
	fleet_advance(&f, 10000);
	CHECK(is(&hasty, MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT, "stdio connect timeout"));
	CHECK(is(&patient, MP_OUTCOME_NOT_SENT, MCPOOL_ERESTARTING, "stdio connect eof"));
	fleet_get(&f, "a")->prepare_code = MCPOOL_ETIMEDOUT;
	fleet_advance(&f, 2000);
	CHECK(fleet_call(&f, "a", 1, 0, &failed));
	fleet_advance(&f, 9000);
	CHECK(is(&failed, MP_OUTCOME_NOT_SENT, MCPOOL_ERESTART_FAILED, "stdio connect timeout"));
}

/* U23 */
TEST(gone_and_not_restarted)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_fleet(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"restart\":{\"mode\":"
			     "\"none\"}}}}"));
	CHECK(fleet_start(&f, "a"));
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(is(&r, MP_OUTCOME_NOT_SENT, MCPOOL_EUNAVAILABLE, "stdio connect eof"));
}

/* --- it is there ----------------------------------------------------------------------------- */

/* U23 U28 */
TEST(a_line_that_is_full)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[4];

	CHECK(open_fleet(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			     "{\"queues\":{\"default\":{\"slots\":1,\"line\":1}}}}"));
	fleet_get(&f, "a")->prepare_ms = 1000;
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r[0]));
	CHECK(fleet_call(&f, "a", 2, 0, &r[1]));
	fleet_settle(&f);
	CHECK(is(&r[1], MP_OUTCOME_REFUSED, MCPOOL_EQUEUE_FULL, "stdio connect closed"));
	fleet_advance(&f, 1000);
	CHECK(fleet_call(&f, "a", 2, 700, &r[2]));
	CHECK(fleet_call(&f, "a", 3, 0, &r[3]));
	fleet_settle(&f);
	CHECK(is(&r[3], MP_OUTCOME_REFUSED, MCPOOL_EQUEUE_FULL, "stdio send closed"));
	fleet_advance(&f, 700);
	CHECK(is(&r[2], MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT, "stdio send timeout"));
}

/* U23 */
TEST(a_call_that_is_not_answered)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result slow, lost;

	CHECK(call_one(&f, LOCAL, &lost));
	CHECK(fleet_call(&f, "a", 1, 500, &slow));
	fleet_advance(&f, 500);
	CHECK(is(&slow, MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT, "stdio receive timeout"));
	fleet_die(fleet_get(&f, "a"));
	fleet_settle(&f);
	CHECK(is(&lost, MP_OUTCOME_UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, "stdio receive eof"));
}

/* U23 U18 */
TEST(a_call_that_nobody_wants_any_more)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result out, waiting;

	CHECK(call_one(&f, LOCAL, &out));
	heap_pool_cancel(out.call);
	fleet_settle(&f);
	CHECK(is(&out, MP_OUTCOME_CANCELLED, MCPOOL_ECANCELED, "stdio receive closed"));
	fleet_get(&f, "a")->prepare_ms = 5000;
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &waiting));
	fleet_settle(&f);
	heap_pool_cancel(waiting.call);
	fleet_settle(&f);
	CHECK(is(&waiting, MP_OUTCOME_CANCELLED, MCPOOL_ECANCELED, "stdio connect closed"));
}

/* U23 */
TEST(a_pool_that_goes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result out, waiting;

	CHECK(call_one(&f, LOCAL, &out));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &waiting));
	mp_workspace_close(f.workspace);
	f.workspace = NULL;
	f.pool = mp_pool_free(f.pool);
	fleet_settle(&f);
	CHECK_EQ(out.answers, 1);
	CHECK_EQ(waiting.answers, 1);
	CHECK_TEXT(out.transport, "stdio");
}

/* --- requests that go their own ways --------------------------------------------------------- */

/* As a transport tells it. */
static void lose(struct fleet *f, int i, enum mp_unanswered how, int code, enum mcpool_fault fault)
{
	struct fleet_server *s = fleet_get(f, "a");
	struct mcpool_error why;

	(void)mp_fail(&why, code, "it was lost");
	why.fault = (int)fault;
	why.retry_ms = code == MCPOOL_EAGAIN ? 5000 : 0;
	s->ours->hooks->lost(s->ours->u, mp_str_of(s->kept[i]), how, &why);
	fleet_settle(f);
}

/* U23 */
TEST(answers_of_http_that_are_none)
{
	static const struct {
		enum mp_unanswered how;
		int code;
		enum mcpool_fault fault;
		enum mp_outcome outcome;
		int told;
		const char *where;
	} cases[] = {
		{MP_UNANSWERED_NOT_TAKEN, MCPOOL_EAGAIN, MCPOOL_FAULT_HTTP_STATUS,
		 MP_OUTCOME_NOT_SENT, MCPOOL_EAGAIN, "http send http_status"},
		{MP_UNANSWERED_UNKNOWN, MCPOOL_EIO, MCPOOL_FAULT_HTTP_STATUS, MP_OUTCOME_UNKNOWN,
		 MCPOOL_EOUTCOME_UNKNOWN, "http receive http_status"},
		{MP_UNANSWERED_UNKNOWN, MCPOOL_ECLOSED, MCPOOL_FAULT_RESET, MP_OUTCOME_UNKNOWN,
		 MCPOOL_EOUTCOME_UNKNOWN, "http receive reset"},
		{MP_UNANSWERED_UNKNOWN, MCPOOL_ECLOSED, MCPOOL_FAULT_UNKNOWN, MP_OUTCOME_UNKNOWN,
		 MCPOOL_EOUTCOME_UNKNOWN, "http receive eof"},
		{MP_UNANSWERED_UNKNOWN, MCPOOL_ETIMEDOUT, MCPOOL_FAULT_UNKNOWN, MP_OUTCOME_UNKNOWN,
		 MCPOOL_EOUTCOME_UNKNOWN, "http receive timeout"},
		{MP_UNANSWERED_UNUSABLE, MCPOOL_ETOO_LARGE, MCPOOL_FAULT_UNKNOWN,
		 MP_OUTCOME_REFUSED, MCPOOL_ETOO_LARGE, "http decode malformed_response"},
		{MP_UNANSWERED_UNUSABLE, MCPOOL_EPROTO, MCPOOL_FAULT_UNKNOWN, MP_OUTCOME_REFUSED,
		 MCPOOL_EPROTO, "http decode malformed_response"},
		{MP_UNANSWERED_UNUSABLE, MCPOOL_ENEEDS_AUTH, MCPOOL_FAULT_HTTP_STATUS,
		 MP_OUTCOME_REFUSED, MCPOOL_ENEEDS_AUTH, "http receive http_status"},
		{MP_UNANSWERED_UNUSABLE, MCPOOL_ENOENT, MCPOOL_FAULT_HTTP_STATUS,
		 MP_OUTCOME_REFUSED, MCPOOL_ENOENT, "http receive http_status"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;
		struct fleet_result r;

		CHECK(call_one(&f, REMOTE, &r));
		lose(&f, 0, cases[i].how, cases[i].code, cases[i].fault);
		CHECK(is(&r, cases[i].outcome, cases[i].told, cases[i].where));
	}
}

/* U23 */
TEST(an_answer_that_cannot_be_read)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	char text[200];

	CHECK(call_one(&f, LOCAL, &r));
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"a\":}}",
		 fleet_get(&f, "a")->kept[0]);
	CHECK(fleet_say(fleet_get(&f, "a"), text));
	fleet_settle(&f);
	CHECK(is(&r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, "stdio decode malformed_response"));
}

/* U23 */
TEST(an_error_of_the_server_is_an_answer)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	char text[200];

	CHECK(call_one(&f, LOCAL, &r));
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-1,\"message\":\"no\"}}",
		 fleet_get(&f, "a")->kept[0]);
	CHECK(fleet_say(fleet_get(&f, "a"), text));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(r.code, 0);
	CHECK(r.transport == NULL);
}
