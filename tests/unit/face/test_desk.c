/* test_desk.c - what one-shot verbs have a running hub do: looks and calls, and their ends. */
#include "test.h"

#include <stdio.h>

#include "agent.h"
#include "base/limits.h"
#include "face/desk.h"
#include "session/lobby.h"

#define SERVERS                                                                 \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"}," \
	"\"shut\":{\"command\":\"s\",\"toolsDenied\":[\"t\"]},"                 \
	"\"mine\":{\"command\":\"m\",\"mode\":\"session\"}}}"

struct scene {
	struct fleet f;
	struct mp_hub hub; /* as much of one as a desk needs */
	struct mp_desk *desk;
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

static void scene_done(struct scene *s)
{
	mp_desk_free(s->desk);
	mp_lobby_free(s->hub.lobby);
	fleet_done(&s->f);
}

static bool scene_open(struct scene *s)
{
	REQUIRE(fleet_init(&s->f));
	REQUIRE(fleet_open(&s->f, SERVERS));
	s->hub.loop = s->f.loop;
	s->hub.pool = s->f.pool;
	s->hub.lobby = agent_lobby(&s->f);
	s->desk = mp_desk_new(&s->hub, s->f.view, say, s);
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(scene_open(&s))

typedef int (*order)(struct mp_desk *d, struct mp_str id, const struct mp_tape *t, mp_value params,
		     struct mcpool_error *reterr);

/* The params are gone when it returns. */
static int ask(struct scene *s, order what, const char *params)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mcpool_error why = {0};
	int r;

	s->said[0] = '\0';
	s->answers = 0;
	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, mp_str_of(params), NULL) < 0)
		return MCPOOL_ENOMEM;
	r = what(s->desk, MP_STR("7"), &t, MP_ROOT, &why);
	return s->answers ? MCPOOL_EAGAIN : r; /* never from within, but for failures */
}

static bool said(struct scene *s, int answers, const char *words)
{
	if (s->answers == answers && strstr(s->said, words))
		return true;
	fprintf(stderr, "%d: %s\n", s->answers, s->said);
	return false;
}

/* --- looks ----------------------------------------------------------------------------------- */

TEST(who_only_looks_starts_nothing)
{
	SCENE(s);

	CHECK_EQ(ask(&s, mp_desk_look, "{}"), 0);
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
	mp_view_start_server(s.f.view, 1, 0, false);
	CHECK_EQ(ask(&s, mp_desk_look,
		     "{\"only\":[\"a\"],\"start\":\"all\",\"offers\":true,\"maxMs\":5000}"),
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
	CHECK_EQ(ask(&s, mp_desk_look, "{\"servers\":[\"a\"],\"start\":\"unknown\",\"maxMs\":300}"),
		 0);
	fleet_advance(&s.f, 250);
	CHECK_EQ(s.answers, 0);
	fleet_advance(&s.f, 100);
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"pending\""));
	CHECK(!strstr(s.said, "\"name\":\"b\"")); /* it was not asked about */
	fleet_advance(&s.f, 40000);
	CHECK_EQ(s.answers, 1);
}

/* One that is up lists anew, and is not restarted for it. */
TEST(fresh_lists_are_fetched_again)
{
	SCENE(s);
	struct fleet_server *a;

	CHECK(fleet_start(&s.f, "a"));
	a = fleet_get(&s.f, "a");
	a->tools = "{\"tools\":[{\"name\":\"other\",\"inputSchema\":{\"type\":\"object\"}}]}";
	CHECK_EQ(ask(&s, mp_desk_look,
		     "{\"servers\":[\"a\"],\"start\":\"all\",\"fresh\":true,\"offers\":true}"),
		 0);
	fleet_advance(&s.f, 1500);
	CHECK(said(&s, 1, "{\"name\":\"other\""));
	CHECK_EQ(a->lives, 1);
}

/* What was given up is tried again for whoever names it, not for a list. */
TEST(who_lists_does_not_try_again)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");
	int dials;

	a->dial_code = MCPOOL_ENOENT;
	mp_view_start_server(s.f.view, 0, 0, false);
	fleet_settle(&s.f);
	CHECK_EQ(mp_view_get_state(s.f.view, 0, 0), MP_SHOWN_FAILED);
	dials = a->dials;
	CHECK_EQ(ask(&s, mp_desk_look, "{\"servers\":[\"a\"],\"start\":\"unknown\"}"), 0);
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "\"name\":\"a\",\"state\":\"failed\""));
	CHECK_EQ(a->dials, dials);
	CHECK_EQ(ask(&s, mp_desk_look, "{\"servers\":[\"a\"],\"start\":\"all\"}"), 0);
	fleet_settle(&s.f);
	CHECK(a->dials > dials);
}

TEST(a_look_that_makes_no_sense)
{
	SCENE(s);

	CHECK_EQ(ask(&s, mp_desk_look, "{\"start\":\"odd\"}"), MCPOOL_EINVAL);
	CHECK(ask(&s, mp_desk_look, "{\"servers\":5}") < 0);
	CHECK_EQ(ask(&s, mp_desk_look, "{\"maxMs\":-1}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, mp_desk_look, "[]"), MCPOOL_ETYPE);
	fleet_settle(&s.f);
	CHECK_EQ(s.answers, 0);
}

TEST(who_leaves_hears_nothing_of_its_look)
{
	SCENE(s);

	fleet_get(&s.f, "a")->mute = true;
	CHECK_EQ(ask(&s, mp_desk_look, "{\"start\":\"all\"}"), 0);
	fleet_settle(&s.f);
	s.desk = mp_desk_free(s.desk);
	fleet_advance(&s.f, 60000);
	CHECK_EQ(s.answers, 0);
}

/* --- calls ----------------------------------------------------------------------------------- */

#define CALL(server)            \
	"{\"server\":\"" server \
	"\",\"method\":\"tools/call\",\"tool\":\"t\",\"params\":{\"name\":\"t\"}}"

/* V24 */
TEST(a_call_is_answered_as_the_server_did)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(a->calls, 1);
	CHECK(fleet_answer_kept(a, 0, "{\"n\":12345678901234567890}"));
	fleet_settle(&s.f);
	CHECK(said(
		&s, 1,
		"\"result\":{\"outcome\":\"answered\",\"result\":{\"n\":12345678901234567890}}"));
}

TEST(a_call_that_is_cancelled_says_so)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), 0);
	fleet_settle(&s.f);
	mp_desk_cancel(s.desk, MP_STR("8")); /* another one's */
	fleet_settle(&s.f);
	CHECK_EQ(a->cancels, 0);
	mp_desk_cancel(s.desk, MP_STR("7"));
	fleet_settle(&s.f);
	CHECK_EQ(a->cancels, 1);
	CHECK(said(&s, 1, "\"outcome\":\"cancelled\""));
	mp_desk_cancel(s.desk, MP_STR("7"));
}

/* Whoever leaves takes its calls along, and its own servers. */
TEST(who_leaves_takes_its_calls_along)
{
	SCENE(s);
	struct fleet_server *a = fleet_get(&s.f, "a"), *mine = fleet_get(&s.f, "mine");

	a->holds_calls = true;
	CHECK_EQ(ask(&s, mp_desk_call, CALL("mine")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(mine->lives, 1);
	CHECK(said(&s, 1, "\"answered\""));
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), 0);
	fleet_settle(&s.f);
	CHECK_EQ(a->calls, 1);
	s.desk = mp_desk_free(s.desk);
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
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), 0);
	fleet_advance(&s.f, 61000);
	CHECK(said(&s, 1, "\"message\":\"MCP error: "));
	CHECK(said(&s, 1, "\"roster\":{"));
	CHECK(said(&s, 1, "\"servers\":[{\"name\":\"a\",\"state\":\"failed\""));
	CHECK(!strstr(s.said, "\"name\":\"b\""));
}

/* U20 */
TEST(calls_that_may_not_be)
{
	SCENE(s);

	CHECK_EQ(ask(&s, mp_desk_call, CALL("shut")), MCPOOL_EPERM);
	CHECK_EQ(ask(&s, mp_desk_call, CALL("nobody")), MCPOOL_ENOENT);
	CHECK_EQ(ask(&s, mp_desk_call, "{\"server\":\"a\",\"method\":\"initialize\"}"),
		 MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, mp_desk_call, "{\"server\":\"a\",\"method\":\"odd\"}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, mp_desk_call, "{\"server\":\"a\"}"), MCPOOL_EINVAL);
	CHECK_EQ(ask(&s, mp_desk_call, "{}"), MCPOOL_EINVAL);
	fleet_settle(&s.f);
	CHECK_EQ(s.answers, 0);
}

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
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), 0);
	fleet_settle(&s.f);
	mp_lobby_drain(s.hub.lobby, drained, &s);
	fleet_settle(&s.f);
	CHECK_EQ(s.drained, 0);
	CHECK(fleet_answer_kept(a, 0, "{}"));
	fleet_settle(&s.f);
	CHECK(said(&s, 1, "\"answered\""));
	CHECK_EQ(s.drained, 1);
	CHECK_EQ(ask(&s, mp_desk_call, CALL("a")), MCPOOL_ECLOSED);
}
