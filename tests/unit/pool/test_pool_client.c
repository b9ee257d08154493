/* test_pool_client.c - what sessions hear of servers' logs, and servers of sessions' roots. */
#include "stage.h"

#include "transport/transport.h"
#include "heap_pool_call.h"

/* --- logs ------------------------------------------------------------------------------------ */

/* Each session hears what it wants; the server is told the most that anybody wants. */
TEST(servers_log_as_much_as_the_most_curious_wants)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	mp_pool_client_set_level(s.f.workspace, s.a.session, "warning");
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK_TEXT(s.server->others, "logging/setLevel {\"level\":\"warning\"}\n");
	mp_pool_client_set_level(s.f.workspace, s.b.session,
				 "error"); /* less than is told anyway */
	mp_pool_client_set_level(s.f.workspace, s.b.session, "debug");
	fleet_settle(&s.f);
	CHECK(strstr(s.server->others, "\"warning\"}\nlogging/setLevel {\"level\":\"debug\"}\n"));
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"level\":\"info\"}")));
	CHECK_EQ(s.a.heard, 0);
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"level\":\"alert\"}")));
	CHECK_EQ(s.a.heard, 1);
	CHECK_EQ(s.a.heard_call, s.ra.call);
	CHECK(fleet_answer_kept(s.server, 0, "{}"));
	s.server->others[0] = '\0';
	fleet_die(s.server);
	fleet_advance(&s.f, 2000);
	CHECK_EQ(s.server->lives, 2);
	CHECK_TEXT(s.server->others, "logging/setLevel {\"level\":\"debug\"}\n");
	mp_pool_client_leave(s.f.pool, s.b.session);
	fleet_settle(&s.f);
	CHECK(strstr(s.server->others, "\"debug\"}\nlogging/setLevel {\"level\":\"warning\"}\n"));
}

TEST(a_modern_server_logs_for_a_call)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("shared")));
	s.server->modern = true;
	s.server->traits = MP_TRANSPORT_PER_REQUEST;
	mp_pool_client_set_level(s.f.workspace, s.a.session,
				 "emergency"); /* the call has its own */
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(!strstr(s.server->others, "setLevel"));
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"level\":\"debug\"}")));
	CHECK_EQ(s.a.heard, 0);
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"level\":\"info\"}")));
	CHECK_EQ(s.a.heard, 1);
}

/* mutant-S8: its session wants everything, but a modern call says by itself what it wants. */
TEST(a_modern_server_logs_nothing_for_a_call_without_a_level)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};
	struct mp_pool_call_options rq = {
		.server = "a",
		.call.method = MP_METHOD_TOOLS_CALL,
		.call.params = MP_STR("{\"name\":\"t\"}"),
		.tool = MP_STR("t"),
	};

	CHECK(stage_open(&s, SERVER("shared")));
	s.server->modern = true;
	s.server->traits = MP_TRANSPORT_PER_REQUEST;
	mp_pool_client_set_level(s.f.workspace, s.a.session, "debug");
	rq.session = s.a.session;
	s.ra = (struct fleet_result){.fleet = &s.f};
	CHECK_EQ(heap_pool_call(s.f.workspace, &rq, stage_note, &s.ra, &s.ra.call, NULL), 0);
	fleet_settle(&s.f);
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"level\":\"emergency\"}")));
	CHECK(fleet_say_during(s.server, 0, NOTE("message", "{\"data\":\"no level\"}")));
	CHECK(s.a.heard == 0 && s.b.heard == 0);
}

/* --- roots ----------------------------------------------------------------------------------- */

TEST(a_sessions_own_server_hears_that_its_roots_changed)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("session")));
	CHECK(stage_call(&s, &s.a, &s.ra));
	mp_pool_client_tell_roots_changed(s.f.workspace, s.b.session);
	fleet_settle(&s.f);
	CHECK_TEXT(s.server->others, "");
	mp_pool_client_tell_roots_changed(s.f.workspace, s.a.session);
	fleet_settle(&s.f);
	CHECK_TEXT(s.server->others, "notifications/roots/list_changed \n");
}
