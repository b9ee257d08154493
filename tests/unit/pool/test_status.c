/* test_status.c - the status of a server: its states, and what is taken with them. */
#include "test.h"

#include "fleet.h"

#include "base/error.h"

/* A28 U7 X6 */
/* Three statuses are a projection of the others. */
TEST(states_project_to_three)
{
	static const char *const want[MP_STATUS_STATE_COUNT][2] = {
		[MP_STATUS_READY] = {"ready", "disconnected"},
		[MP_STATUS_DISABLED] = {"disabled", "disconnected"},
		[MP_STATUS_NEEDS_APPROVAL] = {"needs-approval", "disconnected"},
		[MP_STATUS_NEEDS_AUTH] = {"needs-auth", "disconnected"},
		[MP_STATUS_PENDING] = {"pending", "connecting"},
		[MP_STATUS_CONNECTED] = {"connected", "connected"},
		[MP_STATUS_FAILED] = {"failed", "disconnected"},
		[MP_STATUS_SHADOWED] = {"shadowed", "disconnected"},
	};

	CHECK_EQ(MP_STATUS_STATE_COUNT, 8);
	for (int s = 0; s < MP_STATUS_STATE_COUNT; s++) {
		CHECK_TEXT(mp_status_state_get_name((enum mp_status_state)s), want[s][0]);
		CHECK_TEXT(mp_status_state_get_connection((enum mp_status_state)s), want[s][1]);
	}
}

/* C3 C4 C6 A24 U7 */
/* Each with what belongs to it. */
TEST(a_state_shows_what_belongs_to_it)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_server_catalog *offer;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"bad\":{}}}"));
	CHECK_TEXT(fleet_state(&f, "bad"), "failed");
	fleet_status(&f, "bad", &s);
	CHECK(s.error[0]);
	CHECK_EQ(s.instance, 0);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.tools, -1);
	CHECK_EQ(s.spawn_us, -1);
	fleet_get(&f, "a")->prepare_ms = 1000;
	CHECK(fleet_start(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "pending");
	CHECK_TEXT(s.detail, "preparing");
	CHECK_EQ(s.tries, 0);
	fleet_advance(&f, 1000);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "connected");
	CHECK_EQ(s.tools, 1);
	CHECK_EQ(s.prepare_us, 1000000);
	offer = mp_workspace_get_catalog(f.workspace, 0, 0);
	CHECK(offer);
	CHECK_STR(offer->hello.name, "fake");
	CHECK_STR(offer->hello.instructions, "be kind");
	mp_server_catalog_unref(offer);
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_get(&f, "a")->prepare_ms = 0;
	fleet_die(fleet_get(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "failed");
	CHECK_EQ(s.attempt, 2);
	CHECK_EQ(s.max_attempts, -1); /* the schedule has no end */
	CHECK_EQ(s.next_at_ms, mp_loop_wall_now_ms(f.loop) + 1000);
	CHECK_EQ(s.failed_at_ms, mp_loop_wall_now_ms(f.loop));
	CHECK_TEXT(s.error, "start: it cannot be dialled");
	for (int i = 0; i < 2; i++) { /* what waits for a person */
		fleet_get(&f, "a")->prepare_code = i ? MCPOOL_ENEEDS_APPROVAL : MCPOOL_ENEEDS_AUTH;
		CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
		fleet_settle(&f);
		fleet_status(&f, "a", &s);
		CHECK_TEXT(mp_status_state_get_name(s.state), i ? "needs-approval" : "needs-auth");
		CHECK_EQ(s.next_at_ms, -1);
		CHECK_TEXT(s.error, i ? "it cannot be prepared"
				      : "log in: mcpool login a (it cannot be prepared)");
		CHECK_EQ(fleet_count_events(&f, "a", "barred"), i + 1);
	}
	CHECK_EQ(mp_workspace_toggle(f.workspace, "a", 0, MP_TOGGLE_OFF, NULL), 0);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(fleet_count_events(&f, NULL, "toggled"), 1);
	CHECK_EQ(mp_workspace_toggle(f.workspace, "a", 0, MP_TOGGLE_NONE, NULL), 0);
	fleet_get(&f, "a")->prepare_code = fleet_get(&f, "a")->dial_code = 0;
	CHECK(fleet_start(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"enabled\":false}}}"));
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(fleet_count_events(&f, NULL, "draining"), 2); /* by the switch, by the file */
}

/* V53 */
/* Secrets are dots from the moment it is taken, in whatever it is shown. */
TEST(secrets_are_dots_when_it_is_taken)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	fleet_get(&f, "a")->prepare_code = MCPOOL_EIO;
	fleet_get(&f, "a")->prepare_words = "password=hunter2hunter2 is wrong";
	CHECK(fleet_start(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK(!strstr(s.error, "hunter2") && !strstr(s.message, "hunter2"));
	CHECK_TEXT(s.message, "password=\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2");
	CHECK_TEXT(s.error, s.message);
}

/* U31 B21 D24 */
/* Entries that the pool has no place for have a status as well. */
TEST(entries_without_a_place_have_a_status)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_entry shadowed;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f,
			 "{\"mcpServers\":{\"a\":{\"command\":\"a b\",\"args\":[\"--token\","
			 "\"abc\"]},\"bad\":{},\"off\":{\"command\":\"o\",\"enabled\":false}}}"));
	mp_status_take_entry(f.set, mp_config_find(f.set, "a"), &f.texts, &s);
	CHECK_EQ(s.state, MP_STATUS_READY);
	CHECK_EQ(s.instance, 0);
	CHECK_EQ(s.restarts, -1);
	CHECK(!s.command);
	mp_status_add_target(&s, mp_config_find(f.set, "a"), &f.texts);
	CHECK_TEXT(s.command, "'a b' --token \xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2");
	mp_status_take_entry(f.set, mp_config_find(f.set, "bad"), &f.texts, &s);
	CHECK_EQ(s.state, MP_STATUS_FAILED);
	CHECK(s.error[0]);
	mp_status_take_entry(f.set, mp_config_find(f.set, "off"), &f.texts, &s);
	CHECK_EQ(s.state, MP_STATUS_DISABLED);
	shadowed = *mp_config_find(f.set, "a");
	shadowed.shadow = MP_SHADOW_NAME;
	shadowed.shadowed_by = mp_config_find(f.set, "off");
	mp_status_take_entry(f.set, &shadowed, &f.texts, &s);
	CHECK_EQ(s.state, MP_STATUS_SHADOWED);
	CHECK(mp_str_find(s.shadowed, MP_STR("\"by\":\"off\",\"reason\":\"name\""), 0) > 0);
}
