/* test_control_call.c - control requests that wait for servers: mcpool/status and mcpool/call, and
 * their ends. */
#include "test.h"

#include <stdio.h>

#include "agent.h"
#include "base/limits.h"
#include "face/control.h"
#include "hub/workspaces.h"
#include "session/sessions.h"

#define SERVERS                                                                 \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"}," \
	"\"shut\":{\"command\":\"s\",\"toolsDenied\":[\"t\"]},"                 \
	"\"mine\":{\"command\":\"m\",\"mode\":\"session\"}}}"

#define CALL(server)            \
	"{\"server\":\"" server \
	"\",\"method\":\"tools/call\",\"tool\":\"t\",\"params\":{\"name\":\"t\"}}"

struct scene {
	struct fleet f;
	struct mp_hub hub; /* as much of one as these requests need */
	struct mp_control *control;
	char said[8000];
	int answers, drained;
};

static void say(void *u, struct mp_str text)
{
	struct scene *s = u;
	size_t n = strlen(s->said);

	s->answers++;
	snprintf(s->said + n, sizeof(s->said) - n, "%.*s\n", MP_STR_ARGS(text));
}

static const struct mp_control_hooks hooks = {.say = say};

static void scene_done(struct scene *s)
{
	mp_control_free(s->control);
	mp_workspaces_free(s->hub.workspaces);
	mp_sessions_free(s->hub.sessions);
	fleet_done(&s->f);
}

static bool scene_open(struct scene *s)
{
	struct mp_workspaces_options options = {.one_shot = true};

	REQUIRE(fleet_init(&s->f));
	REQUIRE(fleet_open(&s->f, SERVERS));
	options.loop = s->f.loop;
	options.events = &s->f.events;
	options.set = s->f.set;
	s->hub.loop = s->f.loop;
	s->hub.pool = s->f.pool;
	s->hub.sessions = agent_sessions(&s->f);
	s->hub.workspaces = mp_workspaces_new(&options);
	s->control = mp_control_new(&s->hub, s->f.workspace, &hooks, s);
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(scene_open(&s))

/* The code that an error names; 0: it is not an error. */
static int read_code(const char *answer)
{
	const char *at = strstr(answer, "\"data\":{\"code\":\"");

	for (int code = -1; at && code > -200; code--) {
		const char *word = mcpool_error_word(code);

		if (strncmp(at + 16, word, strlen(word)) == 0 && at[16 + strlen(word)] == '"')
			return code;
	}
	return 0;
}

/* The text is gone when it returns. A refusal comes at once, an answer never does. */
static int ask(struct scene *s, const char *method, const char *params)
{
	char text[2000];

	s->said[0] = '\0';
	s->answers = 0;
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"mcpool/%s\",\"params\":%s}", method,
		 params);
	mp_control_receive(s->control, mp_str_of(text));
	memset(text, '?', sizeof(text));
	if (s->answers == 0)
		return 0;
	s->answers = 0;
	return read_code(s->said) ? read_code(s->said) : MCPOOL_EAGAIN;
}

static void cancel(struct scene *s, const char *id)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		 "\"requestId\":%s}}",
		 id);
	mp_control_receive(s->control, mp_str_of(text));
	fleet_settle(&s->f);
}

static bool said(struct scene *s, int answers, const char *words)
{
	if (s->answers == answers && strstr(s->said, words))
		return true;
	fprintf(stderr, "%d: %s\n", s->answers, s->said);
	return false;
}

/* --- status ---------------------------------------------------------------------------------- */

TEST(a_status_request_starts_nothing)
{
	SCENE(s);

	CHECK_EQ(ask(&s, "status", "{\"start\":\"none\"}"), 0);
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"naming\":"));
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"ready\""));
	CHECK(said(&s, 1, "\"name\":\"b\",\"state\":\"ready\""));
	CHECK_EQ(fleet_get(&s.f, "a")->dials + fleet_get(&s.f, "b")->dials, 0);
}

TEST(those_that_are_meant_are_started_and_waited_for)
{
	SCENE(s);

	fleet_get(&s.f, "a")->prepare_ms = 500;
	fleet_get(&s.f, "b")->mute = true; /* never comes up, and does not matter */
	mp_workspace_start_server(s.f.workspace, 1, 0, false);
	CHECK_EQ(ask(&s, "status",
		     "{\"only\":[\"a\"],\"start\":\"all\",\"catalogs\":true,\"maxMs\":5000}"),
		 0);
	fleet_advance(&s.f, 400);
	CHECK_EQ(s.answers, 0);
	fleet_advance(&s.f, 200);
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"connected\""));
	CHECK(said(&s, 1, "\"name\":\"b\",\"state\":\"pending\""));
	CHECK(said(&s, 1, "\"page\":{\"tools\":[{\"name\":\"t\""));
	CHECK_EQ(fleet_get(&s.f, "shut")->dials, 0);
}

TEST(nobody_is_waited_for_longer_than_that)
{
	SCENE(s);

	fleet_get(&s.f, "a")->mute = true;
	CHECK_EQ(ask(&s, "status", "{\"servers\":[\"a\"],\"start\":\"unknown\",\"maxMs\":300}"), 0);
	fleet_advance(&s.f, 250);
	CHECK_EQ(s.answers, 0);
	fleet_advance(&s.f, 100);
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"pending\""));
	CHECK(!strstr(s.said, "\"name\":\"b\"")); /* it was not asked about */
	fleet_advance(&s.f, 40000);
	CHECK_EQ(s.answers, 1);
}

/* A server that is up lists again, and is not restarted for it. */
TEST(fresh_lists_are_fetched_again)
{
	SCENE(s);
	struct fleet_server *a;

	CHECK(fleet_start(&s.f, "a"));
	a = fleet_get(&s.f, "a");
	a->tools = "{\"tools\":[{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\"}}]}";
	CHECK_EQ(ask(&s, "status",
		     "{\"servers\":[\"a\"],\"start\":\"all\",\"fresh\":true,\"catalogs\":true}"),
		 0);
	fleet_advance(&s.f, 1500);
	CHECK(said(&s, 1, "{\"name\":\"other\""));
	CHECK_EQ(a->lives, 1);
}

/* A server that was given up is tried again when it is named, not for a list. */
TEST(who_lists_does_not_try_again)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");
	int dials;

	a->dial_code = MCPOOL_ENOENT;
	mp_workspace_start_server(s.f.workspace, 0, 0, false);
	fleet_settle(&s.f);
	CHECK_EQ(mp_workspace_get_state(s.f.workspace, 0, 0), MP_STATUS_FAILED);
	dials = a->dials;
	CHECK_EQ(ask(&s, "status", "{\"servers\":[\"a\"],\"start\":\"unknown\"}"), 0);
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"failed\""));
	CHECK_EQ(a->dials, dials);
	CHECK_EQ(ask(&s, "status", "{\"servers\":[\"a\"],\"start\":\"all\"}"), 0);
	fleet_settle(&s.f);
	CHECK(a->dials > dials);
}

TEST(a_status_request_that_makes_no_sense)
{
	SCENE(s);

	CHECK_EQ(ask(&s, "status", "{\"start\":\"odd\"}"), MCPOOL_EINVAL);
	CHECK(ask(&s, "status", "{\"servers\":5}") < 0);
	CHECK_EQ(ask(&s, "status", "{\"maxMs\":-1}"), MCPOOL_EINVAL);
	CHECK(ask(&s, "status", "[]") < 0);
	fleet_settle(&s.f);
	CHECK_EQ(s.answers, 0);
}

TEST(who_leaves_hears_nothing_of_its_status)
{
	SCENE(s);

	fleet_get(&s.f, "a")->mute = true;
	CHECK_EQ(ask(&s, "status", "{\"start\":\"all\"}"), 0);
	fleet_settle(&s.f);
	s.control = mp_control_free(s.control);
	fleet_advance(&s.f, 60000);
	CHECK_EQ(s.answers, 0);
}

TEST(a_result_that_is_too_large_is_an_error)
{
	SCENE(s);

	mp_control_set_limits(s.control, 64, 100);
	CHECK_EQ(ask(&s, "status", "{\"start\":\"none\"}"), 0);
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "\"data\":{\"code\":\"limit\"}"));
}

TEST(only_so_many_requests_wait)
{
	SCENE(s);

	mp_control_set_limits(s.control, 1, MP_MIB(1));
	fleet_get(&s.f, "a")->mute = true;
	CHECK_EQ(ask(&s, "status", "{\"start\":\"all\"}"), 0);
	CHECK_EQ(ask(&s, "status", "{\"start\":\"none\"}"), MCPOOL_ELIMIT);
	CHECK_EQ(ask(&s, "call", CALL("a")), MCPOOL_ELIMIT);
	fleet_advance(&s.f, 31000);
	CHECK(said(&s, 1, "\"pending\""));
	CHECK_EQ(ask(&s, "status", "{\"start\":\"none\"}"), 0);
}

/* --- calls ----------------------------------------------------------------------------------- */

/* V24 */
/* Byte for byte, and how long the server had it. */
TEST(a_call_is_answered_as_the_server_did)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, "call", CALL("a")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(a->calls, 1);
	fleet_advance(&s.f, 250);
	CHECK(fleet_answer_kept(a, 0, "{\"n\":12345678901234567890}"));
	fleet_settle(&s.f);
	CHECK(said(&s, 1,
		   "\"result\":{\"outcome\":\"answered\",\"result\":{\"n\":12345678901234567890},"
		   "\"tookUs\":250000}"));
}

TEST(a_call_that_is_cancelled_says_so)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, "call", CALL("a")), 0);
	fleet_settle(&s.f);
	cancel(&s, "8"); /* another one's */
	CHECK_EQ(a->cancels, 0);
	cancel(&s, "7");
	CHECK_EQ(a->cancels, 1);
	CHECK(said(&s, 1, "\"outcome\":\"cancelled\""));
	cancel(&s, "7");
}

/* A peer that leaves ends its calls, and its own servers. */
TEST(who_leaves_takes_its_calls_along)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a"), *mine = fleet_get(&s.f, "mine");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, "call", CALL("mine")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(mine->lives, 1);
	CHECK(said(&s, 1, "\"answered\""));
	CHECK_EQ(ask(&s, "call", CALL("a")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(a->calls, 1);
	s.control = mp_control_free(s.control);
	fleet_settle(&s.f);
	CHECK_EQ(a->cancels, 1);
	CHECK_EQ(s.answers, 0);
	fleet_advance(&s.f, 3000);
	CHECK_EQ(mp_pool_count_instances(s.f.pool), 1); /* the one that is everybody's */
}

/* B65 */
TEST(a_failure_says_where_the_server_stands)
{
	SCENE(s);

	fleet_get(&s.f, "a")->dial_code = MCPOOL_ENOENT;
	CHECK_EQ(ask(&s, "call", CALL("a")), 0);
	fleet_advance(&s.f, 61000);
	CHECK(said(&s, 1, "\"message\":\"MCP error: "));
	CHECK(said(&s, 1, "\"status\":{\"name\":\"a\",\"state\":\"failed\""));
	CHECK(!strstr(s.said, "\"name\":\"b\""));
}

/* The error as it is, and what the server wrote beside it. */
TEST(an_error_of_the_server_comes_with_its_status)
{
	SCENE(s);

	CHECK_EQ(ask(&s, "call", "{\"server\":\"a\",\"method\":\"resources/read\",\"params\":{}}"),
		 0);
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "{\"outcome\":\"answered\",\"error\":{"));
	CHECK(said(&s, 1, "\"status\":{\"name\":\"a\",\"state\":\"connected\""));
}

/* U20 */
TEST(calls_that_may_not_be)
{
	SCENE(s);

	CHECK_EQ(ask(&s, "call", CALL("shut")), MCPOOL_EPERM);
	CHECK_EQ(ask(&s, "call", CALL("nobody")), MCPOOL_ENOENT);
	CHECK_EQ(ask(&s, "call", "{\"server\":\"a\",\"method\":\"initialize\"}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, "call", "{\"server\":\"a\",\"method\":\"odd\"}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, "call", "{\"server\":\"a\"}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, "call", "{}"), MCPOOL_EINVAL);
	fleet_settle(&s.f);
	CHECK_EQ(s.answers, 0);
}

/* --- what servers ask ------------------------------------------------------------------------ */

#define ASKING(server, capabilities)                                               \
	"{\"server\":\"" server                                                    \
	"\",\"method\":\"tools/call\",\"tool\":\"t\",\"params\":{\"name\":\"t\"}," \
	"\"capabilities\":" capabilities "}"
#define FORMS "{\"elicitation\":{\"form\":{}}}"
#define FORM  "{\"message\" : \"\\u0057ho?\",\"requestedSchema\":{\"n\":1.0}}"
#define FROM_SERVER(method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"" method "\",\"params\":" params "}"

static bool reply(struct scene *s, const char *text)
{
	mp_control_receive(s->control, mp_str_of(text));
	fleet_settle(&s->f);
	return true;
}

/* A call of a server that asks; what was said before is forgotten. */
static bool start_asking(struct scene *s, struct fleet_server *server, const char *call)
{
	server->holds_calls = true;
	REQUIRE(ask(s, "call", call) == 0);
	fleet_settle(&s->f);
	REQUIRE(server->n_kept == 1);
	return true;
}

TEST(a_form_goes_to_the_peer_byte_for_byte)
{
	SCENE(s);
	struct fleet_server *mine = fleet_get(&s.f, "mine");

	CHECK(start_asking(&s, mine, ASKING("mine", FORMS)));
	CHECK(fleet_say_during(mine, 0, FROM_SERVER("elicitation/create", FORM)));
	CHECK_TEXT(s.said, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\","
			   "\"params\":" FORM "}\n");
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"cancel\"}}"));
	CHECK_EQ(mine->replies, 0); /* it was not asked that */
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\" : \"accept\"}}"));
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"decline\"}}"));
	CHECK_EQ(mine->replies, 1);
	CHECK_TEXT(mine->replied,
		   "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"action\" : \"accept\"}}");
	CHECK(fleet_answer_kept(mine, 0, "{}"));
	CHECK(said(&s, 2, "\"answered\""));
}

TEST(a_refusal_of_the_peer_reaches_the_server)
{
	SCENE(s);
	struct fleet_server *mine = fleet_get(&s.f, "mine");

	CHECK(start_asking(&s, mine, ASKING("mine", "{\"elicitation\":{}}")));
	CHECK(fleet_say_during(mine, 0, FROM_SERVER("elicitation/create", FORM)));
	CHECK(reply(&s,
		    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-7,\"message\":\"no\"}}"));
	CHECK(strstr(mine->replied, "\"error\":{\"code\":-7,\"message\":\"no\"}"));
	CHECK(fleet_say_during(mine, 0, FROM_SERVER("elicitation/create", FORM)));
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":5}"));
	CHECK_EQ(mine->replies, 2);
	CHECK(strstr(mine->replied, "not an object"));
}

/* What the peer did not declare it is not asked, and the server hears what helps. */
TEST(only_forms_are_asked_of_a_peer_that_has_them)
{
	static const struct {
		const char *call, *question;
	} rows[] = {
		{CALL("mine"), FROM_SERVER("elicitation/create", FORM)},
		{ASKING("mine", "{\"elicitation\":{\"url\":{}}}"),
		 FROM_SERVER("elicitation/create", FORM)},
		{ASKING("mine", FORMS), FROM_SERVER("elicitation/create", "{\"mode\":\"url\"}")},
		{ASKING("mine", FORMS), FROM_SERVER("roots/list", "{}")},
		{ASKING("mine", FORMS), FROM_SERVER("sampling/createMessage", "{}")},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		SCENE(s);
		struct fleet_server *mine = fleet_get(&s.f, "mine");

		CHECK(start_asking(&s, mine, rows[i].call));
		CHECK(fleet_say_during(mine, 0, rows[i].question));
		CHECK_EQ(s.answers, 0);
		CHECK(strstr(mine->replied, "\"code\":-32601,\"message\":\"the server asked for"));
	}
}

/* A modern server is told with the call, and asks in its answer. */
TEST(a_modern_server_asks_in_rounds)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->modern = true;
	CHECK(start_asking(&s, a, ASKING("a", FORMS)));
	CHECK(strstr(a->last_params, "clientCapabilities\":" FORMS));
	CHECK(fleet_answer_kept(a, 0,
				"{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":{"
				"\"method\":\"elicitation/create\",\"params\":" FORM "}}}"));
	CHECK(said(&s, 1, "\"id\":1,\"method\":\"elicitation/create\",\"params\":" FORM "}"));
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"decline\"}}"));
	CHECK_EQ(a->calls, 2);
	CHECK(strstr(a->last_params, "\"inputResponses\":{\"k\":{\"action\":\"decline\"}}"));
	CHECK(fleet_answer_kept(a, 1, "{\"resultType\":\"complete\",\"content\":[]}"));
	CHECK(said(&s, 2, "\"answered\""));
}

TEST(a_question_ends_with_its_call)
{
	SCENE(s);
	struct fleet_server *mine = fleet_get(&s.f, "mine");

	CHECK(start_asking(&s, mine, ASKING("mine", FORMS)));
	CHECK(fleet_say_during(mine, 0, FROM_SERVER("elicitation/create", FORM)));
	cancel(&s, "7");
	CHECK(said(&s, 3, "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}"));
	CHECK(said(&s, 3, "\"outcome\":\"cancelled\""));
	CHECK(reply(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}"));
	CHECK(!strstr(mine->replied, "accept")); /* too late */
}

TEST(a_peer_that_leaves_declines)
{
	SCENE(s);
	struct fleet_server *mine = fleet_get(&s.f, "mine");

	CHECK(start_asking(&s, mine, ASKING("mine", FORMS)));
	CHECK(fleet_say_during(mine, 0, FROM_SERVER("elicitation/create", FORM)));
	CHECK_EQ(s.answers, 1);
	s.control = mp_control_free(s.control);
	fleet_settle(&s.f);
	CHECK_EQ(s.answers, 1);
	CHECK_EQ(mine->replies, 1);
	CHECK(strstr(mine->replied, "\"error\":"));
}

TEST(capabilities_that_make_no_sense)
{
	SCENE(s);

	CHECK_EQ(ask(&s, "call", ASKING("mine", "5")), MCPOOL_ETYPE);
	CHECK_EQ(ask(&s, "call", ASKING("mine", "[]")), MCPOOL_ETYPE);
	fleet_settle(&s.f);
	CHECK_EQ(fleet_get(&s.f, "mine")->calls, 0);
}

/* --- a hub that leaves ----------------------------------------------------------------------- */

static void drained(void *u)
{
	struct scene *s = u;

	s->drained++;
}

/* A hub that leaves waits for the call, and takes no other. */
TEST(a_hub_that_drains_waits_for_calls)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, "call", CALL("a")), 0);
	fleet_settle(&s.f);
	mp_sessions_drain(s.hub.sessions, drained, &s);
	fleet_settle(&s.f);
	CHECK_EQ(s.drained, 0);
	CHECK(fleet_answer_kept(a, 0, "{}"));
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "\"answered\""));
	CHECK_EQ(s.drained, 1);
	CHECK_EQ(ask(&s, "call", CALL("a")), MCPOOL_ECLOSED);
}
