/*
 * test_settings.c - the `mcpool` object over a profile over the defaults.
 */
#include "settings_reading.h"

#include "base/limits.h"
#include "process/environment.h"

static bool sit_down(struct reading *d)
{
	mp_arena_init(&d->arena, MP_MIB(1));
	mp_tape_init(&d->t, MP_TAPE_JSONC);
	return mp_settings_init(&d->s, &d->arena) == 0;
}

#define READING                 \
	MP_CLEANUP(tidy)        \
	struct reading d = {0}; \
	CHECK(sit_down(&d))

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

/* A9 A11 B32 */
TEST(the_defaults)
{
	READING;

	CHECK(d.s.enabled && d.s.project_config && d.s.shadow_equal);
	CHECK_EQ(d.s.profile, MP_PROFILE_DEFAULT);
	CHECK_EQ(d.s.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(d.s.startup.window_ms, 250);
	CHECK_EQ(d.s.startup.uncached, MP_UNCACHED_LATE);
	CHECK_EQ(d.s.startup.max_wait_ms, 30000);
	CHECK_EQ(d.s.init_concurrency, 0);
	CHECK_EQ(d.s.host_native.n, 0);
	CHECK_EQ(d.s.missing_variable, MP_MISSING_FAIL);
	CHECK_EQ(d.s.value_indirection, MP_INDIRECT_COMMAND);
	CHECK_TEXT(d.s.result.join, "\n\n");
	CHECK_EQ(d.s.result.max_bytes, 262144);
	CHECK_EQ(d.s.result.errors, MP_ERRORS_PROTOCOL);
	CHECK(!d.s.result.sessions);
	CHECK_EQ(d.s.names, MP_NAMES_WIDE);
	CHECK_EQ(d.s.log.attempts, MP_LOG_ATTEMPTS_WARNING);
	CHECK_EQ(d.s.log.names, MP_LOG_NAMES_INSTANCE);
	CHECK(d.s.tuning.restart.is_final && d.s.tuning.restart.is_jittered);
	CHECK_EQ(d.s.tuning.restart.final_retry_ms, 300000);
	CHECK_EQ(d.s.tuning.restart.on_timeout, MP_ON_TIMEOUT_PROBE);
	CHECK_EQ(d.s.tuning.health_interval_ms, 0);
	CHECK(!d.s.tuning.probes_at_start);
	CHECK(!d.s.http.listen); /* use-A10 */
	CHECK_TEXT(from(&d, "profile"), "default");
	CHECK_TEXT(from(&d, "startup.windowMs"), "default");
}

/* A11 B32 B39 */
TEST(profile_omp)
{
	READING;

	CHECK_EQ(lay(&d, "{\"profile\": \"omp\"}", "f:1"), 0);
	CHECK_EQ(d.s.profile, MP_PROFILE_OMP);
	CHECK_EQ(d.s.naming, MP_NAMING_MCP_LETTERS);
	CHECK_EQ(d.s.startup.window_ms, 250);
	CHECK_EQ(d.s.startup.uncached, MP_UNCACHED_BLOCK);
	CHECK_EQ(d.s.tuning.restart.mode, MP_RESTART_NONE);
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SESSION);
	CHECK_EQ(d.s.missing_variable, MP_MISSING_LITERAL);
	CHECK_EQ(d.s.value_indirection, MP_INDIRECT_VARIABLE);
	CHECK_EQ(d.s.tuning.tool_timeout_ms, 30000);
	CHECK(mp_bind_list_has(&d.s.host_native, "exa"));
	CHECK_TEXT(from(&d, "naming"), "profile omp");
	CHECK_TEXT(from(&d, "profile"), "f:1");
	CHECK_TEXT(from(&d, "startup.windowMs"), "default");
}

TEST(profile_claude)
{
	static const int64_t want[] = {1000, 2000, 4000, 8000, 16000};
	READING;

	CHECK_EQ(lay(&d, "{\"profile\": \"claude\"}", "f:1"), 0);
	CHECK_EQ(d.s.naming, MP_NAMING_MCP_DOUBLE);
	CHECK_EQ(d.s.startup.window_ms, 0);
	CHECK_EQ(d.s.tuning.restart.mode, MP_RESTART_REMOTE);
	CHECK(!d.s.tuning.restart.is_jittered); /* a schedule is written down */
	CHECK_EQ(d.s.tuning.restart.attempts, 5);
	CHECK_EQ(d.s.tuning.restart.n_schedule, 5);
	CHECK(memcmp(d.s.tuning.restart.schedule_ms, want, sizeof(want)) == 0);
	CHECK_EQ(d.s.tuning.restart.callers, MP_CALLERS_FAIL);
	CHECK_EQ(d.s.missing_variable, MP_MISSING_WARN);
	CHECK_EQ(d.s.value_indirection, MP_INDIRECT_OFF);
	CHECK_EQ(d.s.tuning.instructions, 2048);
	CHECK_EQ(d.s.instructions_format, MP_INSTRUCTIONS_CLAUDE);
	CHECK_EQ(d.s.tuning.environment, MP_ENVIRONMENT_INHERIT);
}

TEST(profile_netdata)
{
	READING;

	CHECK_EQ(lay(&d, "{\"profile\": \"netdata\"}", "f:1"), 0);
	CHECK_EQ(d.s.naming, MP_NAMING_SERVER);
	CHECK_EQ(d.s.startup.uncached, MP_UNCACHED_WAIT_ALL);
	CHECK_EQ(d.s.startup.max_wait_ms, 60000);
	CHECK_EQ(d.s.tuning.restart.mode, MP_RESTART_RELENTLESS);
	CHECK_EQ(d.s.tuning.restart.n_schedule, 7);
	CHECK_EQ(d.s.tuning.restart.callers, MP_CALLERS_FAIL);
	CHECK(!d.s.tuning.restart.is_final && !d.s.tuning.restart.is_jittered);
	CHECK_EQ(d.s.tuning.restart.on_timeout, MP_ON_TIMEOUT_RESTART);
	CHECK(d.s.tuning.probes_at_start && d.s.result.sessions);
	CHECK_EQ(d.s.log.attempts, MP_LOG_ATTEMPTS_ERROR);
	CHECK_EQ(d.s.log.names, MP_LOG_NAMES_MCP);
	CHECK_EQ(d.s.tuning.mode, MP_MODE_SHARED);
	CHECK_EQ(d.s.missing_variable, MP_MISSING_FAIL);
	CHECK_EQ(d.s.value_indirection, MP_INDIRECT_OFF);
	CHECK_EQ(d.s.tuning.environment, MP_ENVIRONMENT_MINIMAL);
	CHECK_TEXT(d.s.result.join, "");
	CHECK_EQ(d.s.tuning.tool_timeout_ms, 300000);
	CHECK_EQ(d.s.instructions_format, MP_INSTRUCTIONS_NETDATA);
}

TEST(a_key_beside_a_profile_is_over_it)
{
	READING;

	CHECK_EQ(lay(&d, "{\"toolTimeout\": 7, \"profile\": \"omp\", \"naming\": \"passthrough\"}",
		     "f:1"),
		 0);
	CHECK_EQ(d.s.tuning.tool_timeout_ms, 7);
	CHECK_EQ(d.s.naming, MP_NAMING_PASSTHROUGH);
	CHECK_TEXT(from(&d, "toolTimeout"), "f:1");
	CHECK_TEXT(from(&d, "mode"), "profile omp");
	CHECK_TEXT(d.told, "");
}

TEST(an_unknown_profile_is_told)
{
	READING;

	CHECK_EQ(lay(&d, "{\"profile\": \"zed\"}", "f:1"), 0);
	CHECK_EQ(d.s.profile, MP_PROFILE_DEFAULT);
	CHECK(strstr(d.told, "\"profile\" must be one of \"default\", \"omp\""));
	CHECK_TEXT(from(&d, "profile"), "default");
}

TEST(unknown_keys_and_wrong_types_are_told_and_the_rest_counts)
{
	READING;

	CHECK_EQ(lay(&d,
		     "{\"naem\": 1, \"enabled\": \"no\", \"startup\": {\"windowMs\": \"x\", "
		     "\"maxWaitMs\": 5}, \"deny\": [\"a\"], \"log\": {\"level\": \"loud\"}}",
		     "f:1"),
		 0);
	CHECK(d.s.enabled);
	CHECK_EQ(d.s.startup.window_ms, 250);
	CHECK_EQ(d.s.startup.max_wait_ms, 5);
	CHECK(mp_bind_list_has(&d.s.deny, "a") && !mp_bind_list_has(&d.s.deny, "b"));
	CHECK(strstr(d.told, "\"naem\" is not a key that is known here|"));
	CHECK(strstr(d.told, "\"enabled\" must be true or false, but is a string|"));
	CHECK(strstr(d.told, "\"windowMs\" must be a whole number"));
	CHECK(strstr(d.told, "\"level\" must be one of"));
	CHECK_TEXT(from(&d, "startup.maxWaitMs"), "f:1");
	CHECK_TEXT(from(&d, "startup.windowMs"), "default");
	CHECK_TEXT(from(&d, "enabled"), "default");
}

/* use-P8: every key in milliseconds takes a text with a unit. */
TEST(times_may_have_a_unit)
{
	READING;

	CHECK_EQ(lay(&d,
		     "{\"startup\": {\"windowMs\": \"2s\", \"maxWaitMs\": \"1m\"}, "
		     "\"timeout\": \"30s\", \"toolTimeout\": \"2m\", \"maxTotal\": \"1h\", "
		     "\"residency\": \"idle:90s\", \"restart\": {\"schedule\": [0, \"5s\", "
		     "\"1m\"], \"stableMs\": \"45s\", \"waitMs\": \"700ms\"}}",
		     "f:1"),
		 0);
	CHECK_TEXT(d.told, "");
	CHECK_EQ(d.s.startup.window_ms, 2000);
	CHECK_EQ(d.s.startup.max_wait_ms, 60000);
	CHECK_EQ(d.s.tuning.timeout_ms, 30000);
	CHECK_EQ(d.s.tuning.tool_timeout_ms, 120000);
	CHECK_EQ(d.s.tuning.max_total_ms, 3600000);
	CHECK_EQ(d.s.tuning.idle_ms, 90000);
	CHECK_EQ(d.s.tuning.restart.n_schedule, 3);
	CHECK_EQ(d.s.tuning.restart.schedule_ms[1], 5000);
	CHECK_EQ(d.s.tuning.restart.schedule_ms[2], 60000);
	CHECK_EQ(d.s.tuning.restart.stable_ms, 45000);
	CHECK_EQ(d.s.tuning.restart.wait_ms, 700);
	CHECK_EQ(lay(&d, "{\"timeout\": \"5000\", \"toolTimeout\": \"999999h\"}", "f:2"), 0);
	CHECK(strstr(d.told, "\"timeout\" must be a whole number of milliseconds or a time"));
	CHECK(strstr(d.told, "\"toolTimeout\" must be from 0 to"));
	CHECK_EQ(d.s.tuning.timeout_ms, 30000);
}

TEST(sources_are_switched_off)
{
	READING;

	CHECK(mp_settings_has_source(&d.s, "cursor"));
	CHECK_EQ(lay(&d, "{\"sources\": {\"cursor\": false, \"codex\": true, \"vscode\": 1}}", "a"),
		 0);
	CHECK(!mp_settings_has_source(&d.s, "cursor"));
	CHECK(mp_settings_has_source(&d.s, "codex") && mp_settings_has_source(&d.s, "vscode"));
	CHECK_TEXT(d.told, "a source is switched with true or false|");
	CHECK_EQ(lay(&d, "{\"sources\": [\"codex\"], \"queues\": 5}", "b"), 0);
	CHECK_TEXT(d.told, "\"sources\" must be an object, but is an array|"
			   "\"queues\" must be an object, but is a number|");
	CHECK(!mp_settings_has_source(&d.s, "cursor"));
	CHECK_STR(d.s.queues_json, "{\"default\":{\"slots\":64,\"line\":1024}}");
	CHECK_TEXT(from(&d, "sources"), "a");
	CHECK_TEXT(from(&d, "queues"), "default");
}

/* What a layer says must not hang on the text it was read from. */
TEST(values_outlive_their_text)
{
	char text[] = "{\"queues\":{\"q\":{\"slots\":1}},\"deny\":[\"x\"],\"queue\":\"q\"}";
	READING;

	CHECK_EQ(lay(&d, text, "a"), 0);
	memset(text, '?', sizeof(text) - 1);
	CHECK_STR(d.s.queues_json,
		  "{\"default\":{\"slots\":64,\"line\":1024},\"q\":{\"slots\":1}}");
	CHECK_TEXT(d.s.deny.items[0], "x");
	CHECK_TEXT(d.s.tuning.queue, "q");
}

HEAVY_TEST(every_profile_is_an_object_without_mistakes)
{
	for (int i = MP_PROFILE_DEFAULT; i <= MP_PROFILE_NETDATA; i++) {
		READING;
		CHECK_EQ(mp_tape_parse(&d.t, mp_profile_get_json((enum mp_profile)i), NULL), 0);
		CHECK_EQ(mp_settings_read(&d.s, &d.t, MP_ROOT, "x", &d.arena, note, &d), 0);
		CHECK_TEXT(d.told, "");
	}
}
