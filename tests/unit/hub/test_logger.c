/* test_logger.c - the event ring in the log: which line, at which level, and how often. */
#include "test.h"

#include <stdio.h>

#include "fleet.h"

#include "base/error.h"
#include "base/log.h"
#include "hub/logger.h"

#define ONE "{\"mcpServers\":{\"files\":{\"command\":\"a\"}}}"

/* All lines so far, as "LEVEL object: text\n". */
static char lines[16384];

static void keep_line(const struct mp_log_line *line, void *u)
{
	size_t n = strlen(lines);

	(void)u;
	snprintf(lines + n, sizeof(lines) - n, "%s %s: %s\n", mp_level_get_name(line->level),
		 line->object, line->text);
}

static int count_lines(const char *with)
{
	int n = 0;

	for (const char *at = lines; (at = strstr(at, with)); at++)
		n++;
	return n;
}

struct desk {
	struct fleet f;
	struct mp_logger *logger;
};

static void desk_done(struct desk *d)
{
	mp_logger_free(d->logger);
	fleet_done(&d->f);
	mp_log_set_sink(NULL, NULL);
	mp_log_set_level(MP_LEVEL_INF);
}

static bool desk_open(struct desk *d, const char *json, bool speak)
{
	lines[0] = '\0';
	mp_log_set_sink(keep_line, NULL);
	mp_log_set_level(MP_LEVEL_VRB);
	REQUIRE(fleet_init(&d->f));
	REQUIRE(fleet_open(&d->f, json));
	d->logger = mp_logger_new(&d->f.events, d->f.pool);
	if (speak)
		mp_logger_speak(d->logger);
	return true;
}

#define WITH_DESK(d, json, speak)                  \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&(d), (json), (speak)))

/* E55 E57 E58 */
TEST(a_start_is_one_line_with_its_times)
{
	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	CHECK_EQ(count_lines("INF files#1: up: prepare 0.0 ms, spawn 0.0 ms, handshake"), 1);
	CHECK_EQ(count_lines("VRB files#1: offers: 1 tools"), 1);
	CHECK_EQ(count_lines("WRN") + count_lines("ERR"), 0);
}

/* D15 */
/* One failure is one line at ERR, one more attempt one at WRN. */
TEST(each_failure_is_one_error_and_each_attempt_one_warning)
{
	struct fleet_server *s;

	WITH_DESK(d, ONE, true);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->dies_at_once = true;
	CHECK(fleet_start(&d.f, "files"));
	fleet_advance(&d.f, 10000); /* tries at 0, 0, 1, 3 and 8 s */
	CHECK_EQ(count_lines("ERR"), fleet_count_events(&d.f, "files", "clearing"));
	CHECK(count_lines("ERR") >= 4);
	CHECK_EQ(count_lines("ERR files#1: failed: start-failed: "), count_lines("ERR"));
	CHECK_EQ(count_lines("WRN files#1: starting: attempt "), count_lines("WRN"));
	CHECK_EQ(count_lines("WRN"), count_lines("ERR") - 1);
	s->dies_at_once = false;
	fleet_advance(&d.f, 20000);
	CHECK_EQ(count_lines("INF files#1: up"), 1);
}

/* What fails before anything ran has nothing to be taken down, and is told all the same. */
TEST(a_failure_without_a_process_is_an_error_too)
{
	struct fleet_server *s;

	WITH_DESK(d, ONE, true);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->prepare_code = MCPOOL_EIO;
	CHECK(fleet_start(&d.f, "files"));
	CHECK_EQ(count_lines("ERR files#1: waiting: attempt 2 in "), 1);
	s->prepare_code = MCPOOL_ENOENT;
	fleet_advance(&d.f, 3000);
	CHECK_EQ(count_lines("ERR files#1: given up: "), 1);
	CHECK_EQ(count_lines("ERR"), count_lines("ERR files#1: waiting: attempt ") + 1);
}

/* A42 */
/* What failed before the gate opened is in its result, and not in the log. */
TEST(failures_before_the_gate_are_told_by_the_gate)
{
	struct fleet_server *s;

	WITH_DESK(d, ONE, false);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->dies_at_once = true;
	CHECK(fleet_start(&d.f, "files"));
	fleet_advance(&d.f, 100);
	CHECK(fleet_count_events(&d.f, "files", "clearing") > 0);
	CHECK_EQ(count_lines("ERR") + count_lines("WRN"), 0);
	mp_logger_speak(d.logger);
	fleet_advance(&d.f, 1000); /* the next try */
	CHECK_EQ(count_lines("ERR"), 1);
	CHECK_EQ(count_lines("WRN"), 1);
}

/* V38: only this line reports it, and it is mostly detected at the start. */
TEST(tools_that_changed_are_told_also_before_the_gate)
{
	WITH_DESK(d, ONE, false);
	CHECK(fleet_start(&d.f, "files"));
	mp_event(&d.f.events, 1, MP_EVENT_TOOL_CHANGED, "read: description changed");
	mp_event(&d.f.events, 1, MP_EVENT_TOOL_ADDED, "more: was not there");
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("WRN files#1: a tool is not what it was (pins): read: description"),
		 1);
	CHECK_EQ(count_lines("WRN files#1: a tool is new (pins): more: was not there"), 1);
}

/* E59 */
/* A probe is nothing to worry about, unless it fails. */
TEST(a_probe_that_is_answered_is_no_start)
{
	struct fleet_result r;

	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	fleet_get(&d.f, "files")->holds_calls = true;
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_advance(&d.f, 1500);
	CHECK_EQ(count_lines("WRN files#1: a call failed: mcp_timeout: "), 1);
	CHECK_EQ(count_lines("VRB files#1: probing: "), 1);
	CHECK_EQ(count_lines("VRB files#1: up: the probe was answered"), 1);
	CHECK_EQ(count_lines("INF files#1: up"), 1);
	CHECK_EQ(count_lines("ERR"), 0);
}

/* The last words about a server still have its name. */
TEST(a_server_that_goes_is_named)
{
	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	CHECK(fleet_reload(&d.f, "{\"mcpServers\":{}}"));
	fleet_advance(&d.f, 3000);
	CHECK_EQ(count_lines("INF files#1: gone"), 1);
	CHECK_EQ(mp_pool_count_instances(d.f.pool), 0);
	CHECK(!mp_pool_get_name(d.f.pool, 1));
}

HEAVY_TEST(events_that_were_lost_are_counted)
{
	WITH_DESK(d, ONE, true);
	for (int i = 0; i < MP_LIMIT_EVENT_RING + 7; i++)
		mp_event(&d.f.events, 0, MP_EVENT_WOKE_UP, "%d", i);
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("WRN hub: 7 events came too fast to be written down"), 1);
}

/* V38 E54 */
/* The warning is in the log, for each server, also before the gate opens. */
TEST(tools_that_change_are_warned_of)
{
	WITH_DESK(d, "{\"mcpServers\":{\"far\":{\"url\":\"http://127.0.0.1:1/\"}}}", false);
	CHECK(fleet_start(&d.f, "far"));
	mp_event(&d.f.events, 1, MP_EVENT_TOOL_CHANGED, "t: description changed");
	mp_event(&d.f.events, 1, MP_EVENT_TOOL_ADDED, "u: was not there");
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("WRN far#1: a tool is not what it was (pins): t: description changed"),
		 1);
	CHECK_EQ(count_lines("WRN far#1: a tool is new (pins): u: was not there"), 1);
}

/* Every event of the program has its words and its level; see rows[] in logger.c. */
TEST(switches_and_strays_have_words)
{
	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	mp_event(&d.f.events, 1, MP_EVENT_TOGGLED, "files: off");
	mp_event(&d.f.events, 1, MP_EVENT_NO_OWNER, "roots/list");
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("INF files#1: switched: files: off"), 1);
	CHECK_EQ(count_lines("WRN files#1: refused what belongs to no session: roots/list"), 1);
}
