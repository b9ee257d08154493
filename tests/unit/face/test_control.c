/* test_control.c - what the command line asks of a running hub, and nonsense that comes that way.
 */
#include "control_stage.h"

#include <unistd.h>

HEAVY_TEST(a_status_tells_all)
{
	DESK;

	CHECK(ask(&d, "mcpool/status", "", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"hub\":{"));
	CHECK(ask(&d, "mcpool/status", "", "\"name\":\"a\",\"state\":\"disabled\""));
	CHECK(ask(&d, "mcpool/status", "", "\"sessions\":[]"));
	CHECK(ask(&d, "mcpool/status", "{}", "\"sessionCount\":0"));
}

/* B71 */
/* Each names its server; what cannot be is told with a code and words. */
HEAVY_TEST(orders_about_servers)
{
	static const char *const orders[] = {"reconnect", "start", "enable", "disable", "default"};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(orders); i++) {
		char method[60];

		snprintf(method, sizeof(method), "mcpool/server/%s", orders[i]);
		CHECK(ask(&d, method, "", "`name` must be the name of a server"));
		CHECK(ask(&d, method, "{\"name\":5}", "`name` must be"));
		CHECK(ask(&d, method, "{\"name\":\"\"}", "`name` must be"));
		CHECK(ask(&d, method, "{\"name\":\"a\\u0000\"}", "`name` must be"));
		CHECK(ask(&d, method, "{\"name\":\"none\"}", "\"data\":{\"code\":\"not_found\"}"));
	}
	CHECK(ask(
		&d, "mcpool/server/reconnect", "{\"name\":\"a\"}",
		"\"error\":{\"code\":1009,\"message\":\"Server \\\"a\\\" is disabled. Run `mcpool "
		"enable a` first.\""));
	CHECK(ask(&d, "mcpool/server/reconnect", "{\"all\":true}", "\"name\":\"b\",\"error\":"));
	CHECK(ask(&d, "mcpool/server/enable", "{\"name\":\"a\"}", "\"result\":{}"));
	CHECK(ask(&d, "mcpool/server/default", "{\"name\":\"a\"}", "\"result\":{}"));
}

/* C20 */
HEAVY_TEST(a_switch_for_one_session_needs_a_session)
{
	DESK;

	CHECK(ask(&d, "mcpool/server/disable", "{\"name\":\"a\",\"session\":\"x\"}",
		  "`session` must be the id of a session"));
	CHECK(ask(&d, "mcpool/server/disable", "{\"name\":\"a\",\"session\":0}",
		  "`session` must be the id of a session"));
	CHECK(ask(&d, "mcpool/server/disable", "{\"name\":\"a\",\"session\":77}",
		  "there is no session 77"));
	mp_control_set_pid(d.c, (int)getpid());
	CHECK(ask(&d, "mcpool/server/disable", "{\"name\":\"a\",\"session\":\"auto\"}",
		  "no agent with a session has started this command"));
}

HEAVY_TEST(events_are_told_from_where_one_wants_them)
{
	DESK;

	mp_event(&d.hub->events, 0, MP_EVENT_IDLE, "first");
	CHECK(ask(&d, "mcpool/events", "{\"since\":\"x\"}", "`since` must be"));
	CHECK(ask(&d, "mcpool/events", "{\"since\":99999}", "`since` must be"));
	CHECK(ask(&d, "mcpool/events", "{\"since\":1}", "\"what\":\"idle\",\"text\":\"first\""));
	mp_buf_clear(&d.said);
	mp_event(&d.hub->events, 0, MP_EVENT_WOKE_UP, "second");
	mp_loop_nudge(d.hub->loop);
	mp_loop_turn(d.hub->loop, false);
	CHECK(mp_str_find(mp_buf_get(&d.said), MP_STR("\"what\":\"woke-up\""), 0) >= 0);
	CHECK(mp_str_find(mp_buf_get(&d.said), MP_STR("\"what\":\"idle\""), 0) < 0);
}

/* V50: nor do records of calls, however long they are. */
HEAVY_TEST(calls_wait_for_a_slow_reader)
{
	static char params[MP_LIMIT_AUDIT_TEXT + 1];
	const struct mp_call_record r = {.server = "a", .method = MP_METHOD_TOOLS_CALL};
	DESK;

	memset(params, ' ', sizeof(params) - 1);
	memcpy(params, "{}", 2);
	CHECK(ask(&d, "mcpool/calls", "", "\"last\""));
	mp_buf_clear(&d.said);
	for (int i = 0; i < 20; i++)
		mp_call_log_add(&d.hub->calls, &r, MP_STR("t"), mp_str_of(params), true);
	mp_loop_turn(d.hub->loop, false);
	CHECK(d.said.len > MP_KIB(256) && d.said.len < MP_KIB(256 + 66));
	mp_buf_clear(&d.said);
	mp_control_flushed(d.c);
	CHECK(mp_str_find(mp_buf_get(&d.said), MP_STR("\"number\":6,"), 0) >= 0);
}

HEAVY_TEST(notifications_of_servers_are_told)
{
	struct mp_notification_source source;
	struct mp_message m = {.method = MP_METHOD_TOOLS_CHANGED, .params = MP_NONE};
	struct mp_tape t;
	DESK;

	mp_tape_init(&t, 0);
	m.tape = &t;
	mp_notification_source_init(&source);
	CHECK(ask(&d, "mcpool/notifications", "{\"since\":9}", "`since` must be"));
	CHECK(ask(&d, "mcpool/notifications", "", "\"last\":0"));
	mp_buf_clear(&d.said);
	mp_notifications_add(&d.hub->said, &source, "files", &m);
	mp_loop_nudge(d.hub->loop);
	mp_loop_turn(d.hub->loop, false);
	CHECK(mp_str_find(mp_buf_get(&d.said),
			  MP_STR("\"server\":\"files\",\"method\":\"notifications/tools/"
				 "list_changed\""),
			  0) >= 0);
	mp_buf_clear(&d.said);
	CHECK(ask(&d, "mcpool/notifications", "{\"since\":1}", "\"number\":1"));
}

/* V50: nothing piles up for a peer that does not read; afterwards it learns what it missed. */
HEAVY_TEST(events_wait_for_a_slow_reader)
{
	char text[80];
	size_t most;
	DESK;

	CHECK(ask(&d, "mcpool/events", "", "\"last\""));
	mp_buf_clear(&d.said);
	for (int i = 0; i < 20000; i++) {
		mp_event(&d.hub->events, 0, MP_EVENT_IDLE, "event %d", i);
		if (i % 100 == 0)
			mp_loop_turn(d.hub->loop, false);
	}
	mp_loop_turn(d.hub->loop, false);
	most = d.said.len;
	CHECK(most > MP_KIB(256) && most < MP_KIB(258));
	mp_control_flushed(d.c); /* it has read nothing yet */
	CHECK(d.said.len < MP_KIB(258));
	mp_buf_clear(&d.said);
	mp_control_flushed(d.c);
	CHECK(mp_str_find(mp_buf_get(&d.said), MP_STR("\"missed\":"), 0) >= 0);
	snprintf(text, sizeof(text), "\"text\":\"event %d\"", 19999);
	for (int i = 0; i < 10 && mp_str_find(mp_buf_get(&d.said), mp_str_of(text), 0) < 0; i++) {
		mp_buf_clear(&d.said);
		mp_control_flushed(d.c);
	}
	CHECK(mp_str_find(mp_buf_get(&d.said), mp_str_of(text), 0) >= 0);
}

HEAVY_TEST(the_hub_stops_as_it_is_told)
{
	DESK;

	CHECK(ask(&d, "mcpool/shutdown", "{\"drain\":1}", "must be true or false"));
	CHECK_EQ(d.stops, 0);
	CHECK(ask(&d, "mcpool/shutdown", "", "\"result\":{\"pid\":"));
	CHECK_EQ(d.stops, 11);
	CHECK(ask(&d, "mcpool/shutdown", "{\"drain\":false,\"replace\":true}", "\"pid\":"));
	CHECK_EQ(d.stops, 112);
	d.stays = true;
	CHECK(ask(&d, "mcpool/shutdown", "{\"replace\":true}", "options of its own"));
}

/* doc/design.md 6: nothing here adds, edits or approves. */
HEAVY_TEST(nothing_else_is_done)
{
	static const char *const methods[] = {"mcpool/server/add", "mcpool/trust", "tools/call",
					      "initialize", "mcpool/hello"};
	DESK;

	for (size_t i = 0; i < MP_ARRAY_LEN(methods); i++)
		CHECK(ask(&d, methods[i], "{}", "\"code\":-32601"));
	mp_buf_clear(&d.said);
	mp_control_receive(d.c, MP_STR("garbage"));
	CHECK(mp_str_find(mp_buf_get(&d.said), MP_STR("-32700"), 0) >= 0);
	mp_buf_clear(&d.said);
	mp_control_receive(d.c, MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/shutdown\"}"));
	mp_control_receive(d.c, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
	CHECK_EQ(d.said.len, 0);
	CHECK_EQ(d.stops, 0);
}
