/*
 * test_session_start.c - what a session sees when it begins: the tools known at the gate, a
 * configuration that cannot be found, servers of its own, names that collide.
 */
#include "test.h"

#include <stdio.h>

#include "home.h"
#include "two_servers.h"
#include "session/index.h"
#include "session/instructions.h"
#include "session/scope.h"
#include "store/held_names.h"

#define THREE                                                                         \
	"{\"mcpServers\":{\"kept\":{\"command\":\"k\"},\"live\":{\"command\":\"l\"}," \
	"\"late\":{\"command\":\"m\"},\"dead\":{\"command\":\"d\"}}}"

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

/* Why a server has failed; "none": it has not. */
static const char *failure_of(struct two_servers *s, const char *server)
{
	struct mp_status status;

	fleet_status(&s->f, server, &status);
	return status.error && status.error[0] ? status.error : "none";
}

static bool lists(struct two_servers *s, const char *json)
{
	REQUIRE(two_servers_open(s, json, MP_SESSION_ONE_STREAM));
	REQUIRE(agent_initialize(&s->a, &s->f));
	fleet_advance(&s->f, 300);
	return agent_say(&s->a, &s->f, list, 0) == 1;
}

static bool begin(struct two_servers *s, struct mp_db *db)
{
	*s = (struct two_servers){0};
	REQUIRE(db && fleet_init(&s->f));
	s->f.db = db;
	return true;
}

/* A49 A5 A34: live and deferred tools, and nothing of those that are late or failed. */
HEAVY_TEST(the_first_list_has_what_was_known_at_the_gate)
{
	struct two_servers s = {0};
	struct mp_db *db = NULL;

	CHECK(home_make());
	db = home_open_store();
	CHECK(begin(&s, db));
	fleet_get(&s.f, "late")->mute = fleet_get(&s.f, "dead")->mute = true;
	CHECK(two_servers_open(&s, THREE, MP_SESSION_ONE_STREAM)); /* an earlier run: kept, live */
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 300);
	two_servers_done(&s);
	mp_db_close(db); /* what was queued is written */
	db = home_open_store();
	CHECK(begin(&s, db));
	fleet_get(&s.f, "kept")->mute = fleet_get(&s.f, "late")->mute = true;
	fleet_get(&s.f, "dead")->dial_code = MCPOOL_ENOENT;
	CHECK(two_servers_open(&s, THREE, MP_SESSION_ONE_STREAM));
	CHECK_EQ(s.f.set->settings.startup.window_ms, 250); /* by default */
	CHECK(agent_initialize(&s.a, &s.f));
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	fleet_advance(&s.f, 249);
	CHECK_EQ(s.a.answers, 0); /* the gate is closed */
	fleet_advance(&s.f, 1);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"mcp__kept__t\""));
	CHECK(strstr(agent_last(&s.a), "\"mcp__live__t\""));
	CHECK_EQ(count(agent_last(&s.a), "\"name\":\"mcp__"), 2);
	CHECK_EQ(fleet_get(&s.f, "kept")->lists, 0);
	CHECK_TEXT(fleet_state(&s.f, "kept"), "pending");
	CHECK_TEXT(failure_of(&s, "dead"), "start: it cannot be dialled"); /* and no other */
	CHECK_TEXT(failure_of(&s, "live"), "none");
	CHECK_TEXT(failure_of(&s, "kept"), "none");
	CHECK_TEXT(failure_of(&s, "late"), "none");
	two_servers_done(&s);
	mp_db_close(db);
}

/* The public names of the last list, in its order. */
static const char *names_heard(struct two_servers *s)
{
	static char text[1000];
	const char *at = agent_last(&s->a), *end;
	size_t n = 0;

	text[0] = '\0';
	while ((at = strstr(at, "\"name\":\"")) && (end = strchr(at += 8, '"')))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s ", (int)(end - at), at);
	return text;
}

static const char *names_now(struct two_servers *s)
{
	agent_forget(&s->a);
	return agent_say(&s->a, &s->f, list, 0) == 1 && s->a.answers == 1 ? names_heard(s) : "?";
}

/*
 * A26 A40 A41: a late server changes its own part of the list, which is sorted and there at any
 * time, and is cached for the next run.
 */
/* A26 A40 A41 */
HEAVY_TEST(a_late_server_replaces_its_own_tools_and_is_cached)
{
	struct two_servers s = {0};
	struct mp_db *db = NULL;

	CHECK(home_make());
	db = home_open_store();
	CHECK(begin(&s, db));
	fleet_get(&s.f, "late")->mute = fleet_get(&s.f, "dead")->mute = true;
	CHECK(lists(&s, THREE)); /* an earlier run: kept and live are cached */
	CHECK_TEXT(names_heard(&s), "mcp__kept__t mcp__live__t ");
	two_servers_done(&s);
	mp_db_close(db);
	db = home_open_store();
	CHECK(begin(&s, db));
	fleet_get(&s.f, "kept")->tools = "{\"tools\":[{\"name\":\"v\",\"inputSchema\":{}},"
					 "{\"name\":\"u\",\"inputSchema\":{}}]}";
	fleet_get(&s.f, "kept")->prepare_ms = 2000;
	fleet_get(&s.f, "late")->prepare_ms = 3000;
	fleet_get(&s.f, "dead")->mute = true;
	CHECK(lists(&s, THREE));
	CHECK_TEXT(names_heard(&s), "mcp__kept__t mcp__live__t "); /* the gate is open */
	agent_forget(&s.a);
	fleet_advance(&s.f, 2000);
	CHECK(agent_heard_text(&s.a, "notifications/tools/list_changed"));
	CHECK_TEXT(names_now(&s), "mcp__kept__u mcp__kept__v mcp__live__t ");
	fleet_advance(&s.f, 1000);
	CHECK_TEXT(names_now(&s), "mcp__kept__u mcp__kept__v mcp__late__t mcp__live__t ");
	fleet_get(&s.f, "live")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&s.f, "live")); /* what it offers stays while it restarts */
	CHECK_TEXT(names_now(&s), "mcp__kept__u mcp__kept__v mcp__late__t mcp__live__t ");
	two_servers_done(&s);
	mp_db_close(db); /* what was queued is written */
	db = home_open_store();
	CHECK(begin(&s, db));
	for (const char *const *name = (const char *const[]){"kept", "late", "live", "dead", NULL};
	     *name; name++)
		fleet_get(&s.f, *name)->mute = true;
	CHECK(lists(&s, THREE)); /* all from the cache */
	CHECK_TEXT(names_heard(&s), "mcp__kept__u mcp__kept__v mcp__late__t mcp__live__t ");
	two_servers_done(&s);
	mp_db_close(db);
}

/* A57 A58 A66 A21 A22: no dial, no handshake, a dead connection, no list; each its own error.
 */
HEAVY_TEST(a_failure_belongs_to_one_server)
{
	TWO_SERVERS(s);

	fleet_get(&s.f, "deaf")->mute = true;
	fleet_get(&s.f, "dial")->dial_code = MCPOOL_ECLOSED;
	fleet_get(&s.f, "list")->no_list = true;
	fleet_get(&s.f, "torn")->dies_at_once = true;
	CHECK(two_servers_open(&s,
			       "{\"mcpServers\":{\"deaf\":{\"command\":\"a\",\"timeout\":2000},"
			       "\"dial\":{\"command\":\"b\"},\"good\":{\"command\":\"c\"},"
			       "\"list\":{\"command\":\"d\"},\"torn\":{\"command\":\"e\"}}}",
			       MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	fleet_advance(&s.f, 2100);
	CHECK_TEXT(names_now(&s), "mcp__good__t ");
	CHECK_TEXT(fleet_state(&s.f, "good"), "connected");
	CHECK_TEXT(failure_of(&s, "good"), "none");
	CHECK_TEXT(failure_of(&s, "deaf"), "handshake: no answer within 2 s");
	CHECK_TEXT(failure_of(&s, "dial"), "start: it cannot be dialled");
	CHECK(strstr(failure_of(&s, "list"), "tools/list: no list today"));
	CHECK_TEXT(failure_of(&s, "torn"), "handshake: the other side closed the stream");
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__good__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"id\":2,\"result\""));
	fleet_get(&s.f, "deaf")->mute = false;
	fleet_get(&s.f, "dial")->dial_code = 0;
	fleet_get(&s.f, "list")->no_list = false;
	fleet_get(&s.f, "torn")->dies_at_once = false;
	fleet_advance(&s.f, 60000); /* by the schedule */
	CHECK_TEXT(names_now(&s),
		   "mcp__deaf__t mcp__dial__t mcp__good__t mcp__list__t mcp__torn__t ");
	CHECK_EQ(fleet_get(&s.f, "good")->lives, 1);
}

/* When the first list of a run comes, in ms; its names are left in s. */
static int64_t wait_for_list(struct two_servers *s, const char *json, int64_t most)
{
	int64_t ms = 0;

	if (!two_servers_open(s, json, MP_SESSION_ONE_STREAM) || !agent_initialize(&s->a, &s->f))
		return -1;
	agent_forget(&s->a);
	if (agent_say(&s->a, &s->f, list, 0) != 1)
		return -1;
	for (; s->a.answers == 0 && ms < most; ms += 250)
		fleet_advance(&s->f, 250);
	return ms;
}

#define SLOW(settings)                                                                 \
	"{\"mcpServers\":{\"live\":{\"command\":\"l\"},\"slow\":{\"command\":\"s\"}}," \
	"\"mcpool\":" settings "}"

/* X5 */
/* A39 A67 U8: fast with a cache; without one as startup.uncached says. */
/* A68 */
HEAVY_TEST(without_a_cache_completeness_is_a_choice)
{
	static const struct {
		const char *json;
		int64_t cold, warm;
		bool whole;
	} cases[] = {{SLOW("{}"), 250, 250, false},
		     {SLOW("{\"startup\":{\"uncached\":\"late\"}}"), 250, 250, false},
		     {SLOW("{\"startup\":{\"windowMs\":750}}"), 750, 750, false},
		     {SLOW("{\"startup\":{\"uncached\":\"block\"}}"), 2000, 250, true},
		     {SLOW("{\"startup\":{\"uncached\":\"wait-all\"}}"), 2000, 2000, true}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		struct two_servers s = {0};
		struct mp_db *db;

		CHECK(home_make());
		db = home_open_store();
		for (int run = 0; run < 2; run++) {
			CHECK(begin(&s, db));
			fleet_get(&s.f, "slow")->prepare_ms = 2000;
			CHECK_EQ(wait_for_list(&s, cases[i].json, 5000),
				 run ? cases[i].warm : cases[i].cold);
			CHECK_TEXT(names_heard(&s), run || cases[i].whole
							    ? "mcp__live__t mcp__slow__t "
							    : "mcp__live__t ");
			fleet_advance(&s.f, 3000);
			two_servers_done(&s);
			mp_db_close(db);
			db = home_open_store();
		}
		mp_db_close(db);
	}
}

/* X5 */
/* A38 A68: 90 s without a cache; only the omp profile waits without a limit. */
HEAVY_TEST(only_the_omp_profile_waits_for_an_uncached_server)
{
	static const struct {
		const char *json, *names;
		int64_t ms;
		int uncached; /* enum mp_uncached */
		int64_t max_wait_ms;
	} cases[] = {
		{SLOW("{}"), "mcp__live__t ", 250, MP_UNCACHED_LATE, 30000},
		{SLOW("{\"profile\":\"claude\"}"), "", 0, MP_UNCACHED_LATE, 30000},
		{SLOW("{\"profile\":\"netdata\"}"), "live__t ", 60000, MP_UNCACHED_WAIT_ALL, 60000},
		{SLOW("{\"profile\":\"omp\"}"), "mcp_live_t mcp_slow_t ", 90000, MP_UNCACHED_BLOCK,
		 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		TWO_SERVERS(s);

		fleet_get(&s.f, "slow")->prepare_ms = 90000;
		CHECK_EQ(wait_for_list(&s, cases[i].json, 120000), cases[i].ms);
		CHECK_TEXT(names_heard(&s), cases[i].names);
		CHECK_EQ(s.f.set->settings.startup.uncached, cases[i].uncached);
		CHECK_EQ(s.f.set->settings.startup.max_wait_ms, cases[i].max_wait_ms);
		fleet_advance(&s.f, 120000);
		CHECK_EQ(count(names_now(&s), "slow_"), 1);
	}
}

/*
 * A call may come before its server has listed: an earlier hub that was killed did not store the
 * tools, but the agent knows them.
 */
HEAVY_TEST(a_call_waits_for_the_lists_of_its_server)
{
	TWO_SERVERS(s);

	fleet_get(&s.f, "slow")->prepare_ms = 20000;
	CHECK(lists(&s, SLOW("{}")));
	CHECK_TEXT(names_heard(&s), "mcp__live__t ");
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__slow__t"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f, call("3", "mcp__live__none"), 0), 1);
	fleet_advance(&s.f, 0);
	CHECK_EQ(s.a.answers, 1); /* that server has listed */
	CHECK(strstr(agent_last(&s.a), "\"id\":3,\"error\""));
	fleet_advance(&s.f, 19000);
	CHECK_EQ(s.a.answers, 1);
	fleet_advance(&s.f, 2000);
	CHECK(agent_heard_text(&s.a, "\"id\":2,\"result\""));
	CHECK_EQ(fleet_get(&s.f, "slow")->calls, 1);
}

HEAVY_TEST(a_call_does_not_wait_for_lists_without_end)
{
	static const struct {
		const char *json;
		int64_t prepare_ms, ms;
		int dial_code;
	} cases[] = {
		{SLOW("{}"), 90000, 30000, 0},
		{SLOW("{\"startup\":{\"maxWaitMs\":7000}}"), 90000, 7000, 0},
		{SLOW("{}"), 2000, 2000, MCPOOL_EIO}, /* the attempt fails */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		TWO_SERVERS(s);

		fleet_get(&s.f, "slow")->prepare_ms = cases[i].prepare_ms;
		fleet_get(&s.f, "slow")->dial_code = cases[i].dial_code;
		CHECK(two_servers_open(&s, cases[i].json, MP_SESSION_ONE_STREAM));
		CHECK(agent_initialize(&s.a, &s.f));
		agent_forget(&s.a);
		CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__slow__t"), 0), 1);
		fleet_advance(&s.f, cases[i].ms - 100);
		CHECK_EQ(s.a.answers, 0);
		fleet_advance(&s.f, 200);
		CHECK_EQ(s.a.answers, 1);
		CHECK(strstr(agent_last(&s.a), "Unknown tool: mcp__slow__t: server 'slow' is "));
	}
}

/* A64: discovery failed as a whole; the session begins all the same. */
HEAVY_TEST(a_session_begins_although_discovery_failed)
{
	struct mp_config_request req;
	TWO_SERVERS(s);

	CHECK(home_make());
	req = home_request(NULL);
	req.cwd = "nowhere";
	s.f.set = mp_config_load(&req);
	CHECK_EQ(s.f.set->n, 0);
	CHECK_EQ(s.f.set->n_problems, 1);
	CHECK(strstr(s.f.set->problems[0].file, ".mcp.json"));
	CHECK(two_servers_open(&s, NULL, MP_SESSION_ONE_STREAM));
	CHECK(agent_initialize(&s.a, &s.f));
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	fleet_advance(&s.f, 300);
	CHECK_EQ(s.a.answers, 1);
	CHECK(strstr(agent_last(&s.a), "\"result\":{\"tools\":[]"));
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__t"), 0), 1);
	CHECK(strstr(agent_last(&s.a), "\"Unknown tool: mcp__git__t\""));
}

/* --- servers of its own ---------------------------------------------------------------------- */

#define PRIVATE                                                                           \
	"{\"mcpool\":{\"mode\":\"session\",\"instructionsFormat\":\"plain\",\"queues\":{" \
	"\"default\":{\"slots\":1}}},\"mcpServers\":{\"git\":{\"command\":\"y\"}}}"

static bool join(struct two_servers *s, struct agent *a, const char *tools)
{
	fleet_get(&s->f, "git")->tools = tools;
	REQUIRE(agent_open(a, &s->f, s->sessions, MP_SESSION_ONE_STREAM, NULL));
	REQUIRE(agent_initialize(a, &s->f));
	fleet_advance(&s->f, 300);
	return agent_say(a, &s->f, list, 0) == 1;
}

static bool instructs(struct agent *a, const char *words, const char *wanted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_index *index = mp_scope_get_index(a->session->scope);

	mp_buf_init(&out, MP_KIB(64));
	REQUIRE(index && index->n_offers == 1);
	if (words)
		index->offers[0]->hello.instructions = mp_str_of(words);
	REQUIRE(mp_instructions_write(a->session->scope, &out) == 0);
	return test_same_text(mp_buf_get(&out), mp_str_of(wanted), "instructions", __FILE__,
			      __LINE__);
}

/* E20: process, list of tools, instructions and queue. */
TEST(a_session_of_a_private_server_has_everything_for_itself)
{
	struct fleet_server *git;
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, PRIVATE));
	s.sessions = agent_sessions(&s.f);
	git = fleet_get(&s.f, "git");
	CHECK(join(&s, &s.a, "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{}}]}"));
	CHECK(join(&s, &s.b, "{\"tools\":[{\"name\":\"b\",\"inputSchema\":{}}]}"));
	CHECK_EQ(git->lives, 2);
	CHECK(strstr(agent_last(&s.a), "mcp__git__a") && !strstr(agent_last(&s.a), "mcp__git__b"));
	CHECK(strstr(agent_last(&s.b), "mcp__git__b") && !strstr(agent_last(&s.b), "mcp__git__a"));
	CHECK(instructs(&s.a, "first", "git:\nfirst\n"));
	CHECK(instructs(&s.b, NULL, "git:\nbe kind\n"));
	git->holds_calls = true;
	CHECK_EQ(agent_say(&s.a, &s.f, call("1", "mcp__git__a"), 0), 1);
	CHECK_EQ(agent_say(&s.a, &s.f, call("2", "mcp__git__a"), 0), 1);
	CHECK_EQ(git->n_kept, 1); /* its queue has one slot */
	CHECK_EQ(agent_say(&s.b, &s.f, call("3", "mcp__git__b"), 0), 1);
	CHECK_EQ(git->n_kept, 2); /* and so has the other's */
	CHECK(git->kept_by[0] != git->kept_by[1]);
	agent_done(&s.a);
	fleet_settle(&s.f);
	CHECK(fleet_answer_kept(git, 1, "{\"content\":[]}"));
	CHECK(strstr(agent_last(&s.b), "\"id\":3,\"result\""));
}

/* A51: a reload starts new and changed private servers for the sessions that are open, once. */
TEST(a_reload_starts_private_servers_for_open_sessions)
{
	TWO_SERVERS(s);

	CHECK(fleet_open(&s.f, PRIVATE));
	s.sessions = agent_sessions(&s.f);
	CHECK(join(&s, &s.a, "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{}}]}"));
	CHECK(join(&s, &s.b, "{\"tools\":[{\"name\":\"b\",\"inputSchema\":{}}]}"));
	agent_forget(&s.a);
	CHECK(fleet_reload(&s.f,
			   "{\"mcpool\":{\"mode\":\"session\",\"restart\":{\"mode\":\"none\"}},"
			   "\"mcpServers\":{\"git\":{\"command\":\"y\"},"
			   "\"web\":{\"command\":\"z\"}}}"));
	mp_sessions_note_workspace(s.sessions, s.f.workspace);
	fleet_advance(&s.f, 1000);
	CHECK_EQ(fleet_get(&s.f, "web")->lives, 2); /* one for each */
	CHECK(agent_heard_text(&s.a, "notifications/tools/list_changed"));
	agent_forget(&s.a);
	CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
	CHECK(strstr(agent_last(&s.a), "mcp__web__t") && strstr(agent_last(&s.a), "mcp__git__"));
	mp_sessions_note_workspace(s.sessions, s.f.workspace);
	fleet_advance(&s.f, 1000);
	CHECK_EQ(fleet_get(&s.f, "web")->dials, 2);
}

/* --- names ----------------------------------------------------------------------------------- */

/* The words of events of this kind, one after the other. */
static const char *told(struct fleet *f, const char *what)
{
	static char text[2000];
	uint64_t cursor = 1, missed;
	const struct mp_event *e;

	text[0] = '\0';
	while ((e = mp_events_read(&f->events, &cursor, &missed)))
		if (strcmp(e->what, what) == 0)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", e->text);
	return text;
}

#define ALONE "{\"mcpServers\":{\"my-server\":{\"command\":\"x\"}}," SINGLE
#define BOTH                                                                                    \
	"{\"mcpServers\":{\"my-server\":{\"command\":\"x\"},\"my.server\":{\"command\":\"y\"}}" \
	"," SINGLE
#define SINGLE "\"mcpool\":{\"naming\":\"mcp_server_tool\"}}"

/* None is plain, each has a hash, and each is reported once, however many sessions come. */
static bool collide(struct two_servers *s)
{
	REQUIRE(lists(s, BOTH));
	REQUIRE(count(agent_last(&s->a), "\"name\":\"mcp_my_server_t_") == 2);
	REQUIRE(!strstr(agent_last(&s->a), "\"mcp_my_server_t\""));
	REQUIRE(count(told(&s->f, "name-collision"), "\n") == 2);
	REQUIRE(strstr(told(&s->f, "name-collision"),
		       "'t' of server 'my-server' is called mcp_my_server_t_"));
	REQUIRE(strstr(told(&s->f, "name-collision"),
		       "'t' of server 'my.server' is called mcp_my_server_t_"));
	REQUIRE(agent_open(&s->b, &s->f, s->sessions, MP_SESSION_ONE_STREAM, NULL));
	REQUIRE(agent_initialize(&s->b, &s->f));
	REQUIRE(agent_say(&s->b, &s->f, list, 0) == 1);
	return count(told(&s->f, "name-collision"), "\n") == 2;
}

/* Closes the store and opens it again, for the next run of a hub. */
static struct mp_db *run_again(struct mp_db *db)
{
	mp_held_begin_run(db);
	mp_db_close(db);
	return home_open_store();
}

/* X39 */
/* B47: unless one had the name alone in an earlier run; both are reported then, too. */
HEAVY_TEST(names_that_collide_get_a_hash_and_are_reported)
{
	struct two_servers s;
	struct mp_db *db;

	CHECK(home_make());
	db = home_open_store();
	CHECK(begin(&s, db) && collide(&s));
	two_servers_done(&s);
	db = run_again(db);
	CHECK(begin(&s, db) && lists(&s, ALONE));
	CHECK(strstr(agent_last(&s.a), "\"mcp_my_server_t\""));
	two_servers_done(&s);
	db = run_again(db);
	CHECK(begin(&s, db) && lists(&s, BOTH));
	CHECK(strstr(agent_last(&s.a), "\"mcp_my_server_t\""));
	CHECK_EQ(count(agent_last(&s.a), "\"name\":\"mcp_my_server_t_"), 1);
	CHECK_EQ(count(told(&s.f, "name-collision"), "\n"), 2);
	CHECK(strstr(told(&s.f, "name-collision"),
		     "'t' of server 'my-server' is called mcp_my_server_t\n"));
	two_servers_done(&s);
	mp_db_close(db);
}

/* U8: over stdio a first list without tools waits for maxWaitMs, a later one and others do not. */
/* A49 */
TEST(a_first_list_over_stdio_that_is_empty_waits)
{
	for (int is_stdio = 0; is_stdio < 2; is_stdio++) {
		TWO_SERVERS(s);

		fleet_get(&s.f, "late")->mute = true;
		CHECK(two_servers_open(&s,
				       "{\"mcpServers\":{\"late\":{\"command\":\"m\"}},\"mcpool\":"
				       "{\"startup\":{\"maxWaitMs\":5000}}}",
				       MP_SESSION_ONE_STREAM));
		s.a.session->way = is_stdio ? "stdio" : "http";
		CHECK(agent_initialize(&s.a, &s.f));
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
		fleet_advance(&s.f, 249);
		CHECK_EQ(s.a.answers, 0);
		fleet_advance(&s.f, 1);
		CHECK_EQ(s.a.answers, is_stdio ? 0 : 1);
		fleet_advance(&s.f, 4749);
		CHECK_EQ(s.a.answers, is_stdio ? 0 : 1);
		fleet_advance(&s.f, 1);
		CHECK_EQ(s.a.answers, 1);
		CHECK(strstr(agent_last(&s.a), "\"result\":{\"tools\":[]"));
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
		fleet_settle(&s.f);
		CHECK_EQ(s.a.answers, 2);
	}
}

/* A49: agents that do not hear of changes get late tools with their first list, within 10 s. */
TEST(an_agent_that_ignores_changes_waits_for_late_servers)
{
	static const struct {
		const char *agent;
		int64_t prepare_ms, listed_ms;
		const char *names;
	} cases[] = {
		{"test", 2000, 250, "mcp__live__t "},
		{"cursor", 2000, 250, "mcp__live__t "},
		{"codex", 2000, 2000, "mcp__live__t mcp__slow__t "},
		{"codex", 90000, 10000, "mcp__live__t "},
		{"gemini-cli", 2000, 2000, "mcp__live__t mcp__slow__t "},
		{"windsurf", 2000, 2000, "mcp__live__t mcp__slow__t "},
		{"mcporter", 2000, 2000, "mcp__live__t mcp__slow__t "},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		char hello[300];
		TWO_SERVERS(s);

		snprintf(hello, sizeof(hello),
			 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			 "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
			 "\"name\":\"%s\",\"version\":\"1\"}}}",
			 cases[i].agent);
		fleet_get(&s.f, "slow")->prepare_ms = cases[i].prepare_ms;
		CHECK(two_servers_open(&s, SLOW("{}"), MP_SESSION_ONE_STREAM));
		CHECK_EQ(agent_say(&s.a, &s.f, hello, 0), 1);
		agent_forget(&s.a);
		CHECK_EQ(agent_say(&s.a, &s.f, list, 0), 1);
		fleet_advance(&s.f, cases[i].listed_ms - 1);
		CHECK_EQ(s.a.answers, 0);
		fleet_advance(&s.f, 50); /* changes are published together */
		CHECK_EQ(s.a.answers, 1);
		CHECK_TEXT(names_heard(&s), cases[i].names);
	}
}
