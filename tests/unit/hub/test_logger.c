/* test_logger.c - the event ring in the log: which line, at which level, and how often. */
#include "test.h"

#include <stdio.h>

#include "agent.h"
#include "child.h"
#include "home.h"

#include "base/error.h"
#include "base/log.h"
#include "hub/logger.h"

#define MCP                                                                                        \
	"{\"mcpServers\":{\"files\":{\"command\":\"a\"}},\"mcpool\":{\"log\":{\"names\":\"mcp\"}}" \
	"}"
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

/* How many events of this kind begin so. */
static int count_events_with(struct fleet *f, const char *what, const char *text)
{
	uint64_t cursor = 1, missed;
	const struct mp_event *e;
	int n = 0;

	while ((e = mp_events_read(&f->events, &cursor, &missed)))
		n += strcmp(e->what, what) == 0 && strncmp(e->text, text, strlen(text)) == 0;
	return n;
}

struct desk {
	struct fleet f;
	struct mp_db *db; /* borrowed; NULL: none */
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
	d->f.db = d->db;
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
	CHECK_EQ(count_lines("INF files#1: up: prepare 0.0 ms, spawn 0.0 ms, handshake 0.0 ms, "
			     "lists 0.0 ms\n"),
		 1);
	CHECK_EQ(count_lines("VRB files#1: offers: 1 tool, "), 1);
	CHECK_EQ(count_lines("WRN") + count_lines("ERR"), 0);
}

/* D15 E55 E66 */
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
	CHECK_EQ(count_lines("ERR files#1: failed: start-failed after 0 ms: "), count_lines("ERR"));
	CHECK_EQ(count_lines("WRN files#1: starting: attempt "), count_lines("WRN"));
	CHECK_EQ(count_lines("WRN"), count_lines("ERR") - 1);
	s->dies_at_once = false;
	fleet_advance(&d.f, 20000);
	CHECK_EQ(count_lines("INF files#1: up"), 1);
}

/* D3 D15 X9: seed 002 wants ERR for the decision to restart, seed 003 WRN. */
TEST(log_attempts_decides_the_level_of_an_attempt)
{
	static const char *const settings[] = {
		"{\"log\":{\"attempts\":\"error\"}}",
		"{\"profile\":\"netdata\",\"log\":{\"names\":\"instance\"}}",
		("{\"profile\":\"netdata\","
		 "\"log\":{\"attempts\":\"warning\",\"names\":\"instance\"}}"),
		("{\"profile\":\"claude\",\"mode\":\"shared\",\"restart\":{\"mode\":\"relentless\"}"
		 "}"),
		"{\"profile\":\"omp\",\"mode\":\"shared\",\"restart\":{\"mode\":\"relentless\"}}",
		"{}",
	};
	static const char *const levels[] = {"ERR", "ERR", "WRN", "WRN", "WRN", "WRN"};

	for (size_t i = 0; i < MP_ARRAY_LEN(settings); i++) {
		char json[300], line[80];
		int n;

		snprintf(json, sizeof(json),
			 "{\"mcpServers\":{\"files\":{\"command\":\"a\"}},\"mcpool\":%s}",
			 settings[i]);
		WITH_DESK(d, json, true);
		fleet_get(&d.f, "files")->dies_at_once = true;
		CHECK(fleet_start(&d.f, "files"));
		fleet_advance(&d.f, 10000); /* tries at 0, 0, 1, 3 and 8 s */
		n = fleet_count_events(&d.f, "files", "preparing");
		CHECK(n >= 4);
		snprintf(line, sizeof(line), "%s files#1: starting: attempt ", levels[i]);
		CHECK_EQ(count_lines(line), n - 1);
		CHECK_EQ(count_lines("starting: attempt "), n - 1);
		CHECK(count_lines("ERR files#1: failed: start-failed") >= n - 1);
	}
}

static void leave(struct agent *a)
{
	struct mp_sessions *sessions = a->sessions;

	agent_done(a);
	mp_sessions_free(sessions);
}

static int write_nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)u;
	(void)reterr;
	return 0;
}

/* In a process of its own: no file may have a byte more. */
static bool run_without_a_cache(int number)
{
	MP_STORE db = NULL;
	MP_CLEANUP(desk_done) struct desk d = {0};
	struct fleet_result r;

	(void)number;
	d.db = db = home_open_store();
	REQUIRE(db && desk_open(&d, ONE, true));
	REQUIRE(child_limit_files(1));
	REQUIRE(fleet_start(&d.f, "files"));
	REQUIRE(strcmp(fleet_state(&d.f, "files"), "connected") == 0);
	REQUIRE(mp_workspace_reconnect(d.f.workspace, 0, 0, NULL) == 0); /* written again */
	fleet_settle(&d.f);
	fleet_get(&d.f, "files")->no_list = true;
	REQUIRE(fleet_say(fleet_get(&d.f, "files"), "{\"jsonrpc\":\"2.0\",\"method\":"
						    "\"notifications/tools/list_changed\"}"));
	fleet_advance(&d.f, 1000);
	REQUIRE(mp_db_write(db, write_nothing, NULL, NULL) == 0); /* behind the others */
	REQUIRE(count_lines("WRN files#1: its lists could not be read again: no list today") == 1);
	REQUIRE(count_lines("WRN store: the cache cannot be written: ") == 1);
	REQUIRE(strcmp(fleet_state(&d.f, "files"), "connected") == 0);
	REQUIRE(fleet_call(&d.f, "files", 1, 0, &r));
	fleet_settle(&d.f);
	return r.answers == 1 && r.outcome == MP_OUTCOME_ANSWERED;
}

/* A59: neither a cache that cannot be written nor a list that cannot be read again; one line each.
 */
HEAVY_TEST(a_cache_that_cannot_be_written_stops_nothing)
{
	CHECK(home_make());
	CHECK(child_run(run_without_a_cache, 1));
}

/* A42 A69: one line at ERR, the state says why, and the session keeps the list it has. */
TEST(a_list_that_fails_after_the_gate_is_logged)
{
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
	struct mp_status status;

	WITH_DESK(d,
		  "{\"mcpServers\":{\"files\":{\"command\":\"a\"},\"late\":{\"command\":\"b\"}},"
		  "\"mcpool\":{\"restart\":{\"mode\":\"none\"}}}",
		  true);
	MP_CLEANUP(leave) struct agent a = {0};

	fleet_get(&d.f, "late")->prepare_ms = 1000;
	fleet_get(&d.f, "late")->no_list = true;
	a.sessions = agent_sessions(&d.f);
	CHECK(agent_open(&a, &d.f, a.sessions, MP_SESSION_ONE_STREAM, NULL));
	CHECK(agent_initialize(&a, &d.f));
	fleet_advance(&d.f, 300);
	CHECK_EQ(agent_say(&a, &d.f, list, 0), 1);
	CHECK(strstr(agent_last(&a), "mcp__files__t"));
	CHECK_EQ(count_lines("ERR"), 0);
	agent_forget(&a);
	fleet_advance(&d.f, 10000);
	CHECK_EQ(count_lines("ERR"), 1);
	CHECK_EQ(count_lines("ERR late#2: failed: start-failed"), 1);
	CHECK(count_lines("tools/list: no list today") > 0);
	CHECK_TEXT(fleet_state(&d.f, "late"), "failed");
	fleet_status(&d.f, "late", &status);
	CHECK(strstr(status.message, "no list today"));
	CHECK_EQ(a.n, 0); /* nothing changed for the session */
	CHECK_EQ(agent_say(&a, &d.f, list, 0), 1);
	CHECK(strstr(agent_last(&a), "mcp__files__t") && !strstr(agent_last(&a), "late"));
}

/* E55 E18 */
/* A start that fails is told with the time it took, in whichever stage. */
TEST(a_failed_start_is_told_with_its_time)
{
	struct fleet_server *s;

	WITH_DESK(d, ONE, true);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->mute = true;
	CHECK(fleet_start(&d.f, "files"));
	fleet_advance(&d.f, 31000);
	CHECK_EQ(count_lines("ERR files#1: failed: start-failed after 30000 ms: handshake: no "
			     "answer within 30 s"),
		 1);
	s->prepare_code = MCPOOL_EIO;
	s->prepare_ms = 700;
	fleet_advance(&d.f, 32000);
	CHECK_EQ(count_lines("start-failed after 700 ms: it cannot be prepared"), 1);
	s->prepare_code = 0;
	s->mute = false;
	fleet_advance(&d.f, 60000);
	CHECK_EQ(count_lines("INF files#1: up: prepare 700.0 ms, spawn 0.0 ms, handshake"), 1);
	fleet_die(s);
	CHECK_EQ(count_lines("ERR files#1: failed: transport-exit: "), 1);
}

/* What fails before anything ran has nothing to be taken down, and is told all the same. */
/* D15 */
TEST(a_failure_without_a_process_is_an_error_too)
{
	struct fleet_server *s;

	WITH_DESK(d, ONE, true);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->prepare_code = MCPOOL_EIO;
	CHECK(fleet_start(&d.f, "files"));
	CHECK_EQ(count_lines("ERR files#1: waiting: attempt 1 in "), 1);
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

/* E57: at VRB what a filter hides, at TRC the lists. */
TEST(lists_and_what_is_filtered_out_of_them)
{
	struct fleet_server *s;

	WITH_DESK(d, "{\"mcpServers\":{\"files\":{\"command\":\"a\",\"toolsDenied\":[\"w*\"]}}}",
		  true);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	s->tools = "{\"tools\":[{\"name\":\"read\",\"inputSchema\":{}},{\"name\":\"write\","
		   "\"inputSchema\":{}},{\"name\":\"wipe\",\"inputSchema\":{}}]}";
	CHECK(fleet_start(&d.f, "files"));
	CHECK_EQ(count_lines("VRB files#1: filtered out 2 of 3 tools: write, wipe\n"), 1);
	CHECK_EQ(count_lines("tools/list: "), 0);
	mp_log_set_level(MP_LEVEL_TRC);
	s->tools = "{\"tools\":[{\"name\":\"read\",\"inputSchema\":{}},{\"name\":\"more\","
		   "\"inputSchema\":{}}]}";
	CHECK(fleet_say(s,
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	fleet_advance(&d.f, 1000);
	CHECK_EQ(count_lines("TRC files#1: tools/list: read, more\n"), 1);
	CHECK_EQ(count_lines("filtered out"), 1);
}

/* E57: TRC lists, VRB filters and latencies, WRN attempts to restart, ERR failures and probes. */
/* E58 */
TEST(one_run_has_all_levels)
{
	struct fleet_server *s;
	struct fleet_result r;

	WITH_DESK(d,
		  "{\"mcpServers\":{\"files\":{\"command\":\"a\",\"toolsDenied\":[\"t\"]},"
		  "\"lost\":{\"command\":\"b\",\"restart\":{\"mode\":\"none\"}}}}",
		  true);
	mp_log_set_level(MP_LEVEL_TRC);
	fleet_get(&d.f, "lost")->dies_at_once = true;
	CHECK(fleet_start(&d.f, "lost"));
	CHECK_EQ(count_lines("ERR lost#1: failed: start-failed after "), 1);
	CHECK_EQ(count_lines("WRN lost#1: given up: "), 1);
	s = fleet_get(&d.f, "files");
	CHECK(s);
	CHECK(fleet_start(&d.f, "files"));
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_settle(&d.f);
	s->dead = true;
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_advance(&d.f, 30000);
	CHECK_EQ(count_lines("TRC files#2: tools/list: t\n"), 1);
	CHECK(count_lines("TRC files#2: > {") > 0 && count_lines("TRC files#2: < {") > 0);
	CHECK_EQ(count_lines("VRB files#2: filtered out 1 of 1 tools: t\n"), 1);
	CHECK_EQ(count_lines("VRB files#2: tools/call t: answered in "), 1);
	CHECK_EQ(count_lines("ERR files#2: failed: probe-failed: "), 1);
	CHECK(count_lines("WRN files#2: starting: attempt ") >= 1);
	CHECK(count_lines("TRC files#2: keeper ") > 0);
	s->dead = false;
	fleet_advance(&d.f, 120000);
	fleet_die(s);
	CHECK_EQ(count_lines("ERR files#2: failed: transport-exit: "), 1);
}

/* A long list is one line of a bounded length, with the number of the rest. */
TEST(a_long_list_is_cut_and_counted)
{
	static char tools[40000];
	size_t n = (size_t)snprintf(tools, sizeof(tools), "{\"tools\":[");
	int shown = 0, more = 0;
	const char *line;

	for (int i = 0; i < 600; i++)
		n += (size_t)snprintf(tools + n, sizeof(tools) - n,
				      "%s{\"name\":\"a_tool_of_many_%03d\",\"inputSchema\":{}}",
				      i ? "," : "", i);
	snprintf(tools + n, sizeof(tools) - n, "]}");
	WITH_DESK(d, "{\"mcpServers\":{\"files\":{\"command\":\"a\",\"toolsDenied\":[\"*\"]}}}",
		  true);
	fleet_get(&d.f, "files")->tools = tools;
	CHECK(fleet_start(&d.f, "files"));
	line = strstr(lines, "filtered out 600 of 600 tools: a_tool_of_many_000, ");
	CHECK(line);
	shown = count_lines("a_tool_of_many_");
	CHECK(shown > 100 && shown < 600);
	CHECK(sscanf(strstr(line, " and "), " and %d more\n", &more) == 1);
	CHECK_EQ(shown + more, 600);
}

/* E56: latency and outcome of each call, at VRB only. */
TEST(each_call_is_one_line_with_its_latency)
{
	struct fleet_server *s;
	struct fleet_result r;

	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	s = fleet_get(&d.f, "files");
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("VRB files#1: tools/call t: answered in 0.0 ms\n"), 1);
	s->holds_calls = true;
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_advance(&d.f, 30);
	CHECK(fleet_answer_kept(s, 0, "{\"content\":[],\"isError\":true}"));
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("VRB files#1: tools/call t: tool error in 30.0 ms\n"), 1);
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_advance(&d.f, 1500);
	CHECK_EQ(count_lines("VRB files#1: tools/call t: timeout in 1000.0 ms\n"), 1);
	CHECK_EQ(count_lines("tools/call t: "), 3);
	mp_log_set_level(MP_LEVEL_INF);
	s->holds_calls = false;
	CHECK(fleet_call(&d.f, "files", 1, 1000, &r));
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("tools/call t: "), 3);
}

/* E58: as seed 003 writes them; the steps of keeper and upstream begin alike. */
TEST(log_names_decides_how_a_line_begins)
{
	static const char *const jsons[] = {MCP, "{\"mcpServers\":{\"files\":{\"command\":\"a\"}},"
						 "\"mcpool\":{\"profile\":\"netdata\"}}"};

	for (size_t i = 0; i < MP_ARRAY_LEN(jsons); i++) {
		WITH_DESK(d, jsons[i], true);
		mp_log_set_level(MP_LEVEL_TRC);
		CHECK(fleet_start(&d.f, "files"));
		CHECK_EQ(count_lines("INF mcp:files: up: prepare "), 1);
		CHECK(count_lines("TRC mcp:files: keeper ") > 0);
		CHECK(count_lines("TRC mcp:files: upstream ") > 0);
		CHECK(count_lines("TRC mcp:files: > {") > 0);
		CHECK_EQ(count_lines("files#"), 0);
		fleet_die(fleet_get(&d.f, "files"));
		CHECK_EQ(count_lines("ERR mcp:files: failed: transport-exit: "), 1);
		CHECK_EQ(count_lines("files#"), 0);
	}
}

/* E58 */
TEST(a_reload_changes_how_a_line_begins)
{
	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	CHECK_EQ(count_lines("INF files#1: up: "), 1);
	CHECK(fleet_reload(&d.f, MCP));
	CHECK_EQ(mp_pool_count_instances(d.f.pool), 1);
	fleet_die(fleet_get(&d.f, "files"));
	CHECK_EQ(count_lines("ERR mcp:files: failed: "), 1);
	CHECK_EQ(count_lines("ERR files#1"), 0);
}

/* E59 D17 */
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
	CHECK_TEXT(mcpool_error_word(r.code), "mcp_timeout");
	CHECK_EQ(count_events_with(&d.f, "call-failed", "mcp_timeout: "), 1);
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

/* D27 */
/* Every event of the program has its words and its level; see rows[] in logger.c. */
TEST(switches_and_strays_have_words)
{
	WITH_DESK(d, ONE, true);
	CHECK(fleet_start(&d.f, "files"));
	mp_event(&d.f.events, 1, MP_EVENT_TOGGLED, "files: off");
	mp_event(&d.f.events, 1, MP_EVENT_NO_OWNER, "roots/list");
	mp_event(&d.f.events, 1, MP_EVENT_NAMESAKE, "the first one counts");
	fleet_settle(&d.f);
	CHECK_EQ(count_lines("INF files#1: switched: files: off"), 1);
	CHECK_EQ(count_lines("WRN files#1: refused what belongs to no session: roots/list"), 1);
	CHECK_EQ(count_lines("WRN files#1: shared with a namesake: the first one counts"), 1);
}
