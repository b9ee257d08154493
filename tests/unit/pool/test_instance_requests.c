/* test_instance_requests.c - questions of servers: answered at most once, and never left hanging.
 */
#include "stage.h"

#include "transport/transport.h"

#include "base/limits.h"
#include "heap_pool_call.h"

static bool ask_a(struct stage *s, const char *json)
{
	REQUIRE(stage_open(s, json));
	REQUIRE(stage_call(s, &s->a, &s->ra));
	REQUIRE(fleet_say_during(s->server, 0, SAID_ELICIT));
	REQUIRE(s->a.asked == 1 && s->a.call == s->ra.call);
	return true;
}

TEST(an_answer_goes_back_once)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("session")));
	CHECK_TEXT(s.a.text, "a {\"elicitationId\":\"e\\u0031\"}");
	CHECK_EQ(s.a.method, MP_METHOD_ELICIT);
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{\"action\":\"accept\"}"));
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{\"action\":\"cancel\"}"));
	mp_pool_client_decline(s.f.pool, s.a.question, -1, MP_STR("no"));
	fleet_settle(&s.f);
	CHECK_EQ(s.server->replies, 1);
	CHECK_TEXT(s.server->replied,
		   "{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"result\":{\"action\":\"accept\"}}");
	CHECK_EQ(s.a.unasked, 0);
}

TEST(an_answer_may_come_at_once)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("session")));
	s.a.answers = true;
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(fleet_say_during(s.server, 0, SAID_ROOTS));
	CHECK(strstr(s.server->replied, "\"id\":\"q3\",\"result\":{\"roots\":[]}"));
}

TEST(a_question_is_declined_in_words)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("session")));
	mp_pool_client_decline(s.f.pool, s.a.question, -32601, MP_STR("not here"));
	fleet_settle(&s.f);
	CHECK_TEXT(s.server->replied, "{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"error\":{\"code\":"
				      "-32601,\"message\":\"not here\"}}");
}

TEST(a_modern_call_ends_with_the_words_of_a_refusal)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	s.server->modern = true;
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(strstr(s.server->last_params, "clientCapabilities\":{\"elicitation\":{}}"));
	CHECK(fleet_answer_kept(s.server, 0,
				"{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":"
				"{\"method\":\"roots/list\"},\"l\":{\"method\":\"roots/list\"}}}"));
	CHECK_EQ(s.a.asked, 2);
	mp_pool_client_decline(s.f.pool, s.a.question, -32601, MP_STR("it has no roots"));
	fleet_settle(&s.f);
	CHECK_EQ(s.ra.answers, 1);
	CHECK_EQ(s.ra.outcome, MP_OUTCOME_REFUSED);
	CHECK(strstr(s.ra.text, "it has no roots"));
}

/* Waiting is bounded, for the server and for the session. */
TEST(whoever_leaves_declines)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("serial")));
	mp_pool_client_leave(s.f.pool, s.a.session);
	fleet_settle(&s.f);
	CHECK_EQ(s.server->replies, 1);
	CHECK(strstr(s.server->replied, "has left"));
	CHECK_EQ(s.a.unasked, 0); /* it hears nothing any more */
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	fleet_settle(&s.f);
	CHECK_EQ(s.server->replies, 1);
}

TEST(a_call_that_ends_takes_its_question_along)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("serial")));
	heap_pool_cancel(s.ra.call);
	fleet_settle(&s.f);
	CHECK_EQ(s.a.unasked, 1);
	CHECK(strstr(s.server->replied, "\"id\":\"q2\",\"error\""));
}

TEST(a_server_that_dies_takes_its_question_along)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("session")));
	fleet_die(s.server);
	CHECK_EQ(s.a.unasked, 1);
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	fleet_advance(&s.f, 1000);
	CHECK_EQ(s.server->replies, 0);
}

TEST(a_server_may_withdraw_its_question)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("session")));
	CHECK(fleet_say_during(s.server, 0, NOTE("cancelled", "{\"requestId\":\"q2\"}")));
	CHECK_EQ(s.a.unasked, 1);
	CHECK_EQ(s.server->replies, 0);
}

TEST(a_session_that_answers_nothing_is_not_waited_for)
{
	static const struct mp_pool_client_hooks silent = {.request = NULL};
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("session")));
	s.a.session = mp_pool_client_join(s.f.pool, &silent, NULL);
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(fleet_say_during(s.server, 0, SAID_SAMPLE));
	CHECK(strstr(s.server->replied, "-32601"));
}

/* A person may take minutes: the tool's own time stands still, but not for ever. */
TEST(time_stands_still_while_a_person_thinks)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"start\":\"lazy\",\"mode\":"
			"\"session\",\"toolTimeout\":5000}}}"));
	fleet_advance(&s.f, 60000);
	CHECK_EQ(s.ra.answers, 0);
	CHECK(fleet_say_during(s.server, 0, /* which must not shorten it */
			       NOTE("progress", "{\"progressToken\":1,\"progress\":1}")));
	fleet_advance(&s.f, 60000);
	CHECK_EQ(s.ra.answers, 0);
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	fleet_advance(&s.f, 4900);
	CHECK_EQ(s.ra.answers, 0);
	fleet_advance(&s.f, 200);
	CHECK_EQ(s.ra.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(s.ra.answers, 1);
}

/* The time of another call of the same session goes on: nothing is asked for it. */
TEST(a_question_stops_the_time_of_its_own_call_alone)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s,
			 "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"start\":\"lazy\",\"mode\":"
			 "\"shared\",\"toolTimeout\":5000}}}"));
	s.server->traits = MP_TRANSPORT_PER_REQUEST;
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(stage_call(&s, &s.a, &s.rb));
	CHECK(fleet_say_during(s.server, 0, SAID_ELICIT));
	CHECK_EQ(s.a.call, s.ra.call);
	fleet_advance(&s.f, 6000);
	CHECK_EQ(s.ra.answers, 0);
	CHECK_EQ(s.rb.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(s.rb.answers, 1);
}

TEST(no_call_outlives_its_latest_moment)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"start\":\"lazy\",\"mode\":"
			"\"session\",\"toolTimeout\":5000,\"maxTotal\":20000}}}"));
	fleet_advance(&s.f, 19900);
	CHECK_EQ(s.ra.answers, 0);
	fleet_advance(&s.f, 200);
	CHECK_EQ(s.ra.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(s.a.unasked, 1);
}

TEST(a_question_does_not_wait_for_ever)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(ask_a(&s, SERVER("session")));
	fleet_advance(&s.f, MP_LIMIT_PARKED_MS);
	CHECK_EQ(s.a.unasked, 1);
	CHECK(strstr(s.server->replied, "not answered in time"));
	CHECK_EQ(s.ra.answers, 0); /* the tool may make do without */
}
