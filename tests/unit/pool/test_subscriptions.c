/* test_subscriptions.c - who hears of changes of which resource, through restarts and reloads. */
#include "stage.h"

#include "base/error.h"

#define SUBSCRIBE(uri)   "resources/subscribe {\"uri\":\"" uri "\"}\n"
#define UNSUBSCRIBE(uri) "resources/unsubscribe {\"uri\":\"" uri "\"}\n"

static int subscribe(struct stage *s, struct voice *v, const char *uri)
{
	int r = mp_pool_client_subscribe(s->f.workspace, "a", v->session, mp_str_of(uri), NULL);

	fleet_settle(&s->f);
	return r;
}

static void unsubscribe(struct stage *s, struct voice *v, const char *uri)
{
	mp_pool_client_unsubscribe(s->f.workspace, "a", v->session, mp_str_of(uri));
	fleet_settle(&s->f);
}

/* The server is asked once, for as long as anybody listens. */
TEST(subscriptions_are_counted)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), 0); /* which starts it, too */
	CHECK_EQ(subscribe(&s, &s.b, "f:/"), 0);
	CHECK_EQ(subscribe(&s, &s.b, "f:/"), 0);
	CHECK_EQ(subscribe(&s, &s.b, "g:/"), 0);
	CHECK_TEXT(s.server->others, SUBSCRIBE("f:/") SUBSCRIBE("g:/"));
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK(s.a.heard == 1 && s.b.heard == 1);
	CHECK_TEXT(s.b.text, "a {\"uri\":\"f:\\u002f\"}");
	unsubscribe(&s, &s.a, "f:/");
	unsubscribe(&s, &s.a, "f:/"); /* more often than it subscribed */
	unsubscribe(&s, &s.b, "f:/");
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK(s.a.heard == 1 && s.b.heard == 2);
	s.server->others[0] = '\0';
	unsubscribe(&s, &s.b, "f:/");
	CHECK_TEXT(s.server->others, UNSUBSCRIBE("f:/"));
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK(s.a.heard == 1 && s.b.heard == 2);
	mp_pool_client_leave(s.f.pool, s.b.session);
	fleet_settle(&s.f);
	CHECK_TEXT(s.server->others, UNSUBSCRIBE("f:/") UNSUBSCRIBE("g:/"));
}

TEST(a_restarted_server_is_asked_again)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), 0);
	s.server->others[0] = '\0';
	fleet_die(s.server);
	fleet_advance(&s.f, 2000);
	CHECK_EQ(s.server->lives, 2);
	CHECK_TEXT(s.server->others, SUBSCRIBE("f:/"));
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK_EQ(s.a.heard, 1);
}

/* A modern server is told all at once, in a stream that takes the place of the one before. */
TEST(a_modern_server_is_told_what_all_of_them_want)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	s.server->modern = true;
	CHECK_EQ(mp_pool_client_subscribe(s.f.workspace, "a", s.a.session, MP_STR("f:/"), NULL), 0);
	CHECK_EQ(subscribe(&s, &s.b, "g:/"), 0);
	CHECK(strstr(s.server->others, "\"resourceSubscriptions\":[\"f:/\",\"g:/\"]"));
	CHECK_EQ(s.server->cancels, 1); /* the stream that told of lists only */
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK(s.a.heard == 1 && s.b.heard == 0);
	s.server->others[0] = '\0';
	unsubscribe(&s, &s.a, "f:/");
	CHECK(strstr(s.server->others, "\"resourceSubscriptions\":[\"g:/\"]"));
	unsubscribe(&s, &s.b, "g:/");
	CHECK_EQ(s.server->cancels, 3);
	s.server->others[0] = '\0';
	CHECK_EQ(subscribe(&s, &s.a, "h:/"), 0);
	s.server->others[0] = '\0';
	fleet_die(s.server);
	fleet_advance(&s.f, 2000);
	CHECK_EQ(s.server->lives, 2);
	CHECK(strstr(s.server->others, "\"resourceSubscriptions\":[\"h:/\"]"));
}

TEST(what_a_server_does_not_offer_cannot_be_had)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};
	struct mcpool_error why;

	CHECK(stage_open(&s, SERVER("shared")));
	s.server->capabilities = NULL;
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), MCPOOL_EINVAL);
	CHECK_EQ(mp_pool_client_subscribe(s.f.workspace, "none", s.a.session, MP_STR("f:/"), &why),
		 MCPOOL_ENOENT);
	CHECK_EQ(subscribe(&s, &(struct voice){.session = 99}, "f:/"), MCPOOL_EINVAL);
	CHECK_EQ(subscribe(&s, &s.a, ""), MCPOOL_EINVAL);
}

/* Who listens keeps a server from leaving for want of calls. */
TEST(a_server_stays_for_those_who_listen)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"start\":\"lazy\","
			     "\"residency\":\"idle:1000\"}}}"));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), 0);
	fleet_advance(&s.f, 5000);
	CHECK_TEXT(fleet_state(&s.f, "a"), "connected");
	unsubscribe(&s, &s.a, "f:/");
	fleet_advance(&s.f, 1001);
	CHECK_TEXT(fleet_state(&s.f, "a"), "ready");
}

/* Another server takes the name: subscriptions move to it. */
TEST(subscriptions_move_with_a_reload)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), 0);
	s.server->others[0] = '\0';
	CHECK(fleet_reload(&s.f, "{\"mcpServers\":{\"a\":{\"command\":\"other\"}}}"));
	fleet_advance(&s.f, 100);
	CHECK_EQ(s.server->lives, 2);
	CHECK_TEXT(s.server->others, SUBSCRIBE("f:/"));
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED));
	CHECK_EQ(s.a.heard, 1);
	CHECK(fleet_reload(&s.f, "{\"mcpServers\":{}}")); /* and then there is none */
	unsubscribe(&s, &s.a, "f:/");
}

/* Each session's own server is asked by that session only. */
TEST(subscriptions_of_private_servers_are_private)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("session")));
	CHECK_EQ(subscribe(&s, &s.a, "f:/"), 0);
	CHECK_EQ(subscribe(&s, &s.b, "f:/"), 0);
	CHECK_EQ(s.server->lives, 2);
	CHECK_TEXT(s.server->others, SUBSCRIBE("f:/") SUBSCRIBE("f:/"));
	CHECK(fleet_say_during(s.server, -1, SAID_UPDATED)); /* the newest is b's */
	CHECK(s.a.heard == 0 && s.b.heard == 1);
}
