/*
 * test_tuning.c - how a server is run: layers over layers, and who set what.
 */
#include "settings_reading.h"

#include "base/limits.h"
#include "config/values/tuning.h"
#include "process/environment.h"
#include "rpc/message.h"

#define READING                 \
	MP_CLEANUP(tidy)        \
	struct reading d = {0}; \
	CHECK(sit_down(&d))

static bool sit_down(struct reading *d)
{
	mp_arena_init(&d->arena, MP_MIB(1));
	mp_tape_init(&d->t, MP_TAPE_JSONC);
	return mp_settings_init(&d->s, &d->arena) == 0;
}

static int lay(struct reading *d, const char *json, const char *from)
{
	int r = mp_tape_parse(&d->t, mp_str_of(json), NULL);

	d->told[0] = '\0';
	return r < 0 ? r : mp_settings_read(&d->s, &d->t, MP_ROOT, from, &d->arena, note, d);
}

static const char *from(const struct reading *d, const char *key)
{
	const char *who = mp_provenance_get(&d->s.provenance, key);

	return who ? who : "nobody";
}

/* E5 E6 E7 U6 */
TEST(the_defaults)
{
	const struct mp_tuning *t;
	READING;

	t = &d.s.tuning;
	CHECK_EQ(t->timeout_ms, 30000);
	CHECK_EQ(t->tool_timeout_ms, 300000);
	CHECK_EQ(t->max_total_ms, 3600000);
	CHECK_EQ(t->mode, MP_MODE_SHARED);
	CHECK_EQ(t->start, MP_START_EAGER);
	CHECK_EQ(t->idle_ms, 0);
	CHECK_EQ(t->health_probe, MP_HEALTH_PING);
	CHECK_TEXT(t->queue, "default");
	CHECK_EQ(t->environment, MP_ENVIRONMENT_INHERIT);
	CHECK_EQ(t->era, MP_ERA_BOTH);
	CHECK_EQ(t->instructions, 4000);
	CHECK(!t->required);
	CHECK_EQ(t->pins, MP_PINS_WARN);
	CHECK_EQ(t->restart.mode, MP_RESTART_RELENTLESS);
	CHECK_EQ(t->restart.n_schedule, 7);
	CHECK_EQ(t->restart.schedule_ms[6], 60000);
	CHECK_EQ(t->restart.attempts, 5);
	CHECK_TEXT(from(&d, "restart.mode"), "default");
}

/* E5 */
TEST(shared_is_an_alias_of_mode)
{
	READING;

	CHECK_EQ(lay(&d, "{\"shared\": false}", "a"), 0);
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SESSION);
	CHECK_TEXT(from(&d, "mode"), "a");
	CHECK_EQ(lay(&d, "{\"shared\": true}", "b"), 0);
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SHARED);
	CHECK_EQ(lay(&d, "{\"shared\": false, \"mode\": \"serial\"}", "c"), 0);
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SERIAL);
	CHECK_TEXT(from(&d, "mode"), "c");
	CHECK_EQ(lay(&d, "{\"timeout\": 1}", "d"), 0); /* says nothing of it */
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SERIAL);
	CHECK_TEXT(from(&d, "mode"), "c");
}

TEST(residency)
{
	READING;

	CHECK_EQ(lay(&d, "{\"residency\": \"idle:5000\"}", "a"), 0);
	CHECK_EQ(d.s.tuning.idle_ms, 5000);
	for (size_t i = 0; i < 4; i++) {
		static const char *const wrong[] = {"idle:-1", "idle:0", "idle:x", "sometimes"};
		char json[80];

		snprintf(json, sizeof(json), "{\"residency\": \"%s\"}", wrong[i]);
		CHECK_EQ(lay(&d, json, "b"), 0);
		CHECK_TEXT(d.told, "\"residency\" must be \"keep\" or \"idle:\" and milliseconds "
				   "or a time such as \"30s\"|");
		CHECK_EQ(d.s.tuning.idle_ms, 5000);
		CHECK_TEXT(d.s.tuning.residency, "idle:5000");
		CHECK_TEXT(from(&d, "residency"), "a");
	}
	CHECK_EQ(lay(&d, "{\"residency\": \"keep\"}", "c"), 0);
	CHECK_EQ(d.s.tuning.idle_ms, 0);
}

TEST(restart_is_merged_key_by_key)
{
	READING;

	CHECK_EQ(lay(&d, "{\"restart\": {\"mode\": \"once\", \"schedule\": [5, 6]}}", "a"), 0);
	CHECK_EQ(d.s.tuning.restart.mode, MP_RESTART_ONCE);
	CHECK_EQ(d.s.tuning.restart.n_schedule, 2);
	CHECK_EQ(d.s.tuning.restart.stable_ms, 60000);
	CHECK_TEXT(from(&d, "restart.schedule"), "a");
	CHECK_TEXT(from(&d, "restart.stableMs"), "default");
}

TEST(a_wrong_schedule_is_told_and_the_old_one_stays)
{
	static const char *const wrong[] = {"[]",   "5", "[1, -1]", "[1, \"2\"]", "[99999999999]",
					    "[1.5]"};
	READING;

	CHECK_EQ(lay(&d, "{\"restart\": {\"schedule\": [5, 6]}}", "a"), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(wrong); i++) {
		char json[80];

		snprintf(json, sizeof(json), "{\"restart\": {\"schedule\": %s}}", wrong[i]);
		CHECK_EQ(lay(&d, json, "b"), 0);
		CHECK(strstr(d.told, "\"schedule\" must be a list of 1 to 32"));
		CHECK_EQ(d.s.tuning.restart.n_schedule, 2);
		CHECK_EQ(d.s.tuning.restart.schedule_ms[1], 6);
		CHECK_STR(d.s.tuning.restart.schedule_json, "[5,6]");
		CHECK_TEXT(from(&d, "restart.schedule"), "a");
	}
}

/* U6 */
TEST(environment)
{
	READING;

	CHECK_EQ(lay(&d, "{\"environment\": \"minimal\"}", "a"), 0);
	CHECK_EQ(d.s.tuning.environment, MP_ENVIRONMENT_MINIMAL);
	CHECK_EQ(lay(&d, "{\"environment\": \"none\"}", "b"), 0);
	CHECK_EQ(d.s.tuning.environment, MP_ENVIRONMENT_NONE);
	CHECK_EQ(lay(&d, "{\"environment\": \"some\"}", "c"), 0);
	CHECK(strstr(d.told, "must be \"inherit\", \"minimal\" or \"none\""));
	CHECK_EQ(d.s.tuning.environment, MP_ENVIRONMENT_NONE);
	CHECK_TEXT(from(&d, "environment"), "b");
}

TEST(instructions_are_a_switch_or_a_length)
{
	READING;

	CHECK_EQ(lay(&d, "{\"instructions\": false}", "a"), 0);
	CHECK_EQ(d.s.tuning.instructions, 0);
	CHECK_EQ(lay(&d, "{\"instructions\": true}", "a"), 0);
	CHECK_EQ(d.s.tuning.instructions, 4000);
	CHECK_EQ(lay(&d, "{\"instructions\": 12}", "a"), 0);
	CHECK_EQ(lay(&d, "{\"instructions\": \"yes\"}", "b"), 0);
	CHECK_EQ(d.s.tuning.instructions, 12);
	CHECK_TEXT(from(&d, "instructions"), "a");
	CHECK_EQ(lay(&d, "{\"instructions\": -1}", "b"), 0);
	CHECK_EQ(d.s.tuning.instructions, 12);
}

/* E6 B33 */
TEST(choices_and_numbers_out_of_range_are_told)
{
	READING;

	CHECK_EQ(lay(&d, "{\"healthProbe\": \"listTools\", \"era\": \"modern\"}", "a"), 0);
	CHECK_EQ(d.s.tuning.health_probe, MP_HEALTH_LIST_TOOLS);
	CHECK_EQ(d.s.tuning.era, MP_ERA_MODERN);
	CHECK_EQ(lay(&d, "{\"healthProbe\": \"smile\", \"timeout\": -1, \"era\": 3}", "b"), 0);
	CHECK_EQ(d.s.tuning.health_probe, MP_HEALTH_LIST_TOOLS);
	CHECK_EQ(d.s.tuning.timeout_ms, 30000);
	CHECK(strstr(d.told, "\"healthProbe\" must be one of \"ping\", \"listTools\"|"));
	CHECK(strstr(d.told, "\"timeout\" must be from 0 to 2147483647|"));
	CHECK(strstr(d.told, "\"era\" must be a string"));
	CHECK_TEXT(from(&d, "timeout"), "default");
}

TEST(provenance_is_copied_and_goes_its_own_way)
{
	struct mp_provenance copy;
	READING;

	CHECK_EQ(mp_provenance_copy(&copy, &d.s.provenance, &d.arena), 0);
	CHECK_EQ(mp_provenance_note_key(&copy, "timeout", "x", &d.arena), 0);
	for (int i = 0; i < 40; i++) {
		char key[20];

		snprintf(key, sizeof(key), "key%d", i);
		CHECK_EQ(mp_provenance_note_key(&copy, key, "y", &d.arena), 0);
	}
	CHECK_TEXT(mp_provenance_get(&copy, "timeout"), "x");
	CHECK_TEXT(mp_provenance_get(&copy, "key39"), "y");
	CHECK_TEXT(from(&d, "timeout"), "default");
	CHECK(!mp_provenance_get(&copy, "nothing"));
}
