/* test_health.c - what is told of a server beyond its state: limits, schedule, probes, changes. */
#include "test.h"

#include "fleet.h"

#include "pool/status.h"

#define ONE                                                                                \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":1500,\"toolTimeout\":4000," \
	"\"restart\":{\"schedule\":[0,250,500]}}}}"

/* What the control socket answers when it is asked about servers by name. */
static bool health_has(struct fleet *f, const char *words)
{
	struct mp_status_list *l = NULL;
	bool ok;

	REQUIRE(mp_status_list_take(f->workspace, 0, NULL, MP_STATUS_HELLO, &l) == 0);
	ok = mp_str_find(l->items[0].health, mp_str_of(words), 0) >= 0;
	mp_status_list_free(l);
	return ok;
}

/* E75 */
/* For a timeout: the limits in force, what the probe found, and the restart that followed. */
TEST(a_timeout_shows_limits_probe_and_restarts)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result hung;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	CHECK(health_has(&f, "\"limits\":{\"startMs\":1500,\"callMs\":4000,\"totalMs\":"));
	CHECK(health_has(&f, "\"intervalMs\":0,\"sent\":0,\"failed\":0}"));
	fleet_get(&f, "a")->dead = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &hung));
	fleet_advance(&f, 1000);
	CHECK_EQ(hung.outcome, MP_OUTCOME_TIMEOUT);
	CHECK(health_has(&f, "\"sent\":1,\"failed\":0}"));
	fleet_advance(&f, 6000);
	CHECK(health_has(&f, "\"sent\":1,\"failed\":1,\"at\":"));
	CHECK(health_has(&f, "\"tookUs\":6000000,\"answered\":false}"));
	CHECK(health_has(&f, "\"what\":\"checking\""));
	CHECK(health_has(&f, "probe-failed: "));
	fleet_get(&f, "a")->dead = false;
	fleet_advance(&f, 2000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(health_has(&f, "\"what\":\"up\""));
}

/* E76 */
/* For a restart loop: the schedule, why it ended, and when it is tried again. */
TEST(a_restart_loop_shows_schedule_and_reasons)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	CHECK(health_has(&f, "\"restart\":{\"mode\":\"relentless\",\"delaysMs\":[0,250,500],"));
	CHECK(!health_has(&f, "failingSince"));
	for (int i = 0; i < 3; i++) {
		fleet_die(fleet_get(&f, "a"));
		fleet_advance(&f, i < 2 ? 250 : 10);
	}
	CHECK(health_has(&f, "\"failingSince\":"));
	CHECK(health_has(&f, "\"what\":\"clearing\",\"text\":\"transport-exit: "));
	CHECK(health_has(&f, "\"what\":\"backoff\",\"text\":\"attempt 3 in 500 ms: "));
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.attempt, 3);
	CHECK_EQ(s.next_at_ms - mp_loop_wall_now_ms(f.loop), 490);
}
