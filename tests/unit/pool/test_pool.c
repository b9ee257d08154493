/* test_pool.c - the pool as a whole, on a clock of the test's: acquire, restart, stop, wake. */
#include "test.h"

#include "fleet.h"
#include "store.h"

#include "base/error.h"
#include "base/limits.h"

#define ONE "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"

/* --- the first start ------------------------------------------------------------------------- */

/* A45 E28 E61 U15 */
/* Straight through, once it is up. */
TEST(a_call_goes_through_its_server)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK_TEXT(fleet_state(&f, "a"), "ready");
	CHECK(fleet_start(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	CHECK_EQ(r.answers, 0); /* never from within */
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_TEXT(r.text, "{\"content\":[]}");
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	CHECK_EQ(fleet_get(&f, "a")->dials, 1);
}

/* E61 */
/* Its process runs and does not agree yet: a call waits, and nothing of it is sent. */
TEST(a_call_waits_for_the_handshake)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"timeout\":5000}}}"));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_advance(&f, 4000);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1); /* it has got initialize */
	CHECK_EQ(fleet_get(&f, "a")->calls, 0);
	CHECK_EQ(r.answers, 0);
	fleet_get(&f, "a")->mute = false;
	fleet_advance(&f, 2000); /* its second start */
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
}

/* D18 E30 U9 E18 */
/* However many ask, one process. */
TEST(concurrent_acquirers_start_one_process)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[20];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	for (int i = 0; i < 20; i++)
		CHECK(i % 2 ? fleet_call(&f, "a", (mp_id)i + 1, 0, &r[i])
			    : fleet_acquire(&f, "a", (mp_id)i + 1, &r[i]));
	fleet_settle(&f);
	for (int i = 0; i < 20; i++) {
		CHECK_EQ(r[i].answers, 1);
		CHECK_EQ(r[i].outcome, MP_OUTCOME_ANSWERED);
	}
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK_EQ(fleet_get(&f, "a")->calls, 10);
}

/* E31 E32 E33 E34 E35 E36 E37 E38 E39 U10 E77 E78 E72 E29 */
/* The seed's timeline, 0/5/60/65/120/300/305 s. */
TEST(the_timeline_of_an_acquire)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result at0, at5, at65, at120, at305;
	struct mp_status s;

	CHECK_EQ(MP_LIMIT_ACQUIRE_MS, 60000); /* of base/limits.h */
	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_acquire(&f, "a", 1, &at0));
	fleet_advance(&f, 5000);
	CHECK(fleet_call(&f, "a", 2, 0, &at5)); /* a call waits for it, too */
	fleet_advance(&f, 54999);
	CHECK_EQ(at0.answers + at5.answers, 0); /* 59.999 s: all wait for the same start */
	CHECK_EQ(f.doubles, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(at0.answers, 1); /* 60 s: all fail together */
	CHECK_EQ(at5.answers, 1);
	CHECK_EQ(at0.code, MCPOOL_EUNAVAILABLE);
	CHECK_EQ(at5.outcome, MP_OUTCOME_NOT_SENT);
	CHECK(strstr(at0.text, "server 'a': initialization timed out after 60s"));
	CHECK(strstr(at5.text, "server 'a': initialization timed out after 60s"));
	CHECK(strstr(at0.text, "retries go on in the background"));
	fleet_advance(&f, 5000);
	CHECK(fleet_acquire(&f, "a", 3, &at65));
	fleet_settle(&f);
	CHECK_EQ(at65.answers, 1); /* 65 s: at once, with the age of the failure */
	CHECK(strstr(at65.text, "initialization failed 5s ago"));
	fleet_advance(&f, 55000);
	CHECK(fleet_call(&f, "a", 4, 0, &at120));
	fleet_settle(&f);
	CHECK(strstr(at120.text, "initialization failed 60s ago"));
	CHECK(mp_workspace_is_given_up(f.workspace, 0, 0));
	fleet_get(&f, "a")->mute = false;
	fleet_advance(&f, 180000); /* 300 s: the background loop has succeeded */
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(!mp_workspace_is_given_up(f.workspace, 0, 0));
	fleet_advance(&f, 5000);
	CHECK(fleet_acquire(&f, "a", 5, &at305));
	fleet_settle(&f);
	CHECK_EQ(at305.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(at0.answers + at5.answers + at65.answers + at120.answers, 4);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(s.error, "");
	CHECK_EQ(s.failed_at_ms, -1);
	CHECK_EQ(s.unfinished, 1); /* at305 has it, and those that failed count no more */
}

/* --- restarting ------------------------------------------------------------------------------ */

/* D12 D30 D33 D35 E42 E66 */
/* It exits between two calls, and is there again before the next one. */
TEST(an_exit_while_idle_restarts_at_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 1);
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "connected");
	CHECK_EQ(s.restarts, 1);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 1);
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
}

/* --- stopping -------------------------------------------------------------------------------- */

#define THREE                                                                                      \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"},\"c\":{\"command\":" \
	"\"c\"}}}"

/* Counts only if all are down by then. */
static void close_never(struct mp_transport *t)
{
	(void)t;
}

static void count_stop(void *u)
{
	struct fleet *f = u;

	f->stopped++;
}

/* U29 */
/* A server that does not end although it was killed. */
/* U29 */
TEST(a_stop_waits_three_seconds_at_most)
{
	static struct mp_transport_impl impl;
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE) && fleet_start(&f, "a"));
	CHECK(fleet_get(&f, "a")->ours);
	impl = *fleet_get(&f, "a")->ours->impl;
	impl.close = close_never;
	fleet_get(&f, "a")->ours->impl = &impl;
	mp_pool_stop(f.pool, count_stop, &f);
	fleet_advance(&f, 2999);
	CHECK_EQ(f.stopped, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(f.stopped, 1);
}

static void note_stopped(void *u)
{
	struct fleet *f = u;

	for (int i = 0; i < f->n; i++) {
		struct mp_status s;

		fleet_status(f, f->servers[i].name, &s);
		if (strcmp(s.detail, "down") != 0)
			return;
	}
	f->stopped++;
}

/* A61 A63 D34 E46 E53 E79 U29 X19 */
/* Whatever state they are in, all end, and nothing starts again. */
TEST(stopping_ends_everything)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result waiting, out, after;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, THREE));
	fleet_get(&f, "a")->holds_calls = true;
	fleet_get(&f, "b")->dial_code = MCPOOL_EIO; /* in its loop */
	fleet_get(&f, "c")->mute = true;            /* in its handshake */
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_start(&f, "b"));
	CHECK(fleet_start(&f, "c"));
	CHECK(fleet_call(&f, "a", 1, 0, &out));
	CHECK(fleet_call(&f, "c", 1, 0, &waiting));
	fleet_settle(&f);
	mp_pool_stop(f.pool, note_stopped, &f);
	CHECK_EQ(f.stopped, 0); /* never from within */
	fleet_settle(&f);
	CHECK_EQ(f.stopped, 1);
	CHECK_EQ(out.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(waiting.outcome, MP_OUTCOME_NOT_SENT);
	CHECK(fleet_call(&f, "b", 1, 0, &after));
	fleet_advance(&f, 600000);
	CHECK_EQ(after.code, MCPOOL_EUNAVAILABLE);
	CHECK_EQ(fleet_get(&f, "b")->prepares, 2);
	CHECK_EQ(out.answers + waiting.answers + after.answers, 3);
	CHECK_EQ(f.stopped, 1);
	for (int i = 0; i < 3; i++) { /* nothing is left */
		fleet_status(&f, (const char *const[]){"a", "b", "c"}[i], &s);
		CHECK_TEXT(mp_status_state_get_name(s.state), "ready");
		CHECK_TEXT(s.detail, "down");
		CHECK_EQ(s.open + s.waiting + s.unfinished, 0);
		CHECK_EQ(s.pid, -1);
	}
	f.workspace = mp_workspace_close(f.workspace);
}

TEST(an_empty_pool_stops_too)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{}}"));
	mp_pool_stop(f.pool, note_stopped, &f);
	fleet_settle(&f);
	CHECK_EQ(f.stopped, 1);
}

/* --- waking up ------------------------------------------------------------------------------- */

/* P3 R08 U12 U17 */
/* After a suspend all servers are probed within 5 s, and no healthy one is restarted. */
TEST(waking_up_probes_everybody)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, THREE));
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_start(&f, "b"));
	CHECK(fleet_start(&f, "c"));
	fleet_advance(&f, 60000);
	fleet_get(&f, "c")->dead = true; /* it did not survive the night */
	mp_loop_suspend(f.loop, (int64_t)8 * 3600 * 1000);
	fleet_advance(&f, 5000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	CHECK_EQ(fleet_get(&f, "b")->pings, 1);
	CHECK_EQ(fleet_get(&f, "a")->lives + fleet_get(&f, "b")->lives, 2);
	fleet_get(&f, "c")->dead = false;
	fleet_advance(&f, 2000);
	CHECK_EQ(fleet_get(&f, "c")->lives, 2);
	CHECK_EQ(fleet_count_events(&f, NULL, "woke-up"), 1);
	CHECK_EQ(fleet_count_events(&f, NULL, "clearing"), 1);
}

/* U12 */
/* Setting the date changes nothing; timers and calls go on. */
TEST(a_changed_date_changes_nothing)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, THREE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 10000, &r));
	mp_loop_shift_wall(f.loop, (int64_t)365 * 24 * 3600 * 1000);
	fleet_advance(&f, 5000);
	mp_loop_shift_wall(f.loop, -(int64_t)2 * 365 * 24 * 3600 * 1000);
	fleet_advance(&f, 4999);
	CHECK_EQ(r.answers, 0);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
}

/* A53 */
/* No server is probed without a reason. */
TEST(there_is_no_health_poll)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, THREE));
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, (int64_t)24 * 3600 * 1000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0);
	CHECK_EQ(fleet_get(&f, "a")->lists, 1);
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &r));
	fleet_advance(&f, 2000); /* a call that timed out is a reason */
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	mp_loop_suspend(f.loop, (int64_t)8 * 3600 * 1000);
	fleet_advance(&f, 5000); /* and so is a machine that was asleep */
	CHECK_EQ(fleet_get(&f, "a")->pings, 2);
	fleet_get(&f, "a")->ours->hooks->doubt(fleet_get(&f, "a")->ours->u, "a connection broke");
	fleet_advance(&f, 5000); /* the last one */
	CHECK_EQ(fleet_get(&f, "a")->pings, 3);
	fleet_advance(&f, (int64_t)24 * 3600 * 1000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 3);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
}

/* A53 U17 X7 */
/* With healthInterval a server that is up is probed again and again, and a dead one restarted. */
TEST(an_interval_probes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"healthInterval\":"
			     "30000}}}"));
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 29999);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1);
	fleet_advance(&f, 270000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 10);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	fleet_get(&f, "a")->dead = true;
	fleet_advance(&f, 36000);
	CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 1);
	fleet_get(&f, "a")->dead = false;
	fleet_advance(&f, 60000);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	fleet_get(&f, "a")->pings = 0;
	fleet_advance(&f, 600000);
	CHECK_EQ(fleet_get(&f, "a")->pings, 0); /* off by default */
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &r));
	fleet_advance(&f, 1000);
	CHECK_EQ(r.outcome, MP_OUTCOME_TIMEOUT);
	CHECK_EQ(fleet_get(&f, "a")->pings, 1); /* after a timeout, always */
}

/* --- who is told ----------------------------------------------------------------------------- */

static void count_changes(const struct mp_change *changes, size_t n, void *u)
{
	int *count = u;

	(void)changes;
	(void)n;
	(*count)++;
}

/*
 * A29: the source is known first; a running server is not started again; what is not valid is not
 * resolved; then values, connection, list, and the cache.
 */
/* A29 A65 B34 */
HEAVY_TEST(a_start_goes_in_order)
{
	struct mp_server_catalog *catalog;
	struct fleet f = {0};
	struct mp_db *db;

	CHECK(store_clear());
	db = store_open();
	CHECK(db && fleet_init(&f));
	f.db = db;
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"bad\":{}}}"));
	CHECK_TEXT(mp_workspace_get_entry(f.workspace, 0)->origin.file, "test.json");
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
	mp_workspace_start_server(f.workspace, 1, 0, false);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "bad")->prepares + fleet_get(&f, "bad")->dials, 0);
	fleet_get(&f, "a")->prepare_ms = 1000;
	fleet_get(&f, "a")->holds_list = true;
	CHECK(fleet_start(&f, "a"));
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	fleet_advance(&f, 999);
	CHECK_EQ(fleet_get(&f, "a")->dials, 0); /* values first */
	fleet_advance(&f, 1);
	CHECK_EQ(fleet_get(&f, "a")->dials, 1);
	CHECK_EQ(fleet_get(&f, "a")->lists, 1);
	CHECK(!mp_workspace_has_catalog(f.workspace, 0, 0)); /* nothing before the list */
	fleet_get(&f, "a")->holds_list = false;
	fleet_get(&f, "a")->prepare_ms = 0;
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_settle(&f);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2); /* values again: none is kept */
	CHECK(fleet_start(&f, "a"));
	CHECK_EQ(fleet_get(&f, "a")->dials, 2);    /* it runs: skipped, */
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2); /* and nothing was resolved for it */
	fleet_done(&f);
	mp_db_close(db); /* what was queued is written */
	db = store_open();
	f = (struct fleet){0};
	CHECK(db && fleet_init(&f));
	f.db = db;
	CHECK(fleet_open(&f, ONE));
	catalog = mp_workspace_get_catalog(f.workspace, 0, 0);
	CHECK(catalog);
	CHECK_EQ(catalog->lists[MP_CATALOG_TOOL]->list.n, 1);
	mp_server_catalog_unref(catalog);
	fleet_done(&f);
	mp_db_close(db);
}

static int64_t count_tools(struct fleet *f)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status s;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_status_take(f->workspace, 0, 0, &arena, &s);
	return s.tools;
}

/* A display asks once a second for all servers; the store is read again only after a change. */
HEAVY_TEST(what_the_store_has_is_looked_up_once)
{
	struct fleet f = {0};
	struct mp_db *db;

	CHECK(store_clear());
	db = store_open();
	CHECK(db && fleet_init(&f));
	f.db = db;
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_done(&f);
	mp_db_close(db); /* what was queued is written */
	db = store_open();
	f = (struct fleet){0};
	CHECK(db && fleet_init(&f));
	f.db = db;
	CHECK(fleet_open(&f, ONE));
	mp_workspace_begin_peeks(f.workspace);
	CHECK_EQ(count_tools(&f), 1);
	CHECK(store_sql("DELETE FROM definitions"));
	CHECK_EQ(count_tools(&f), 1);
	mp_workspace_end_peeks(f.workspace);
	CHECK_EQ(count_tools(&f), -1);
	mp_workspace_begin_peeks(f.workspace);
	CHECK_EQ(count_tools(&f), -1);
	mp_workspace_end_peeks(f.workspace);
	fleet_done(&f);
	mp_db_close(db);
}

/* A29 E59 U7 */
/* Each transition is an event; the board tells of all of them together. */
TEST(events_tell_every_step_and_the_board_tells_once)
{
	static const char *const path[] = {"preparing", "starting", "listing", "offers", "up"};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_observer observer = {0};
	uint64_t cursor = 1, missed;
	int batches = 0;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	mp_observer_join(&f.board, &observer, count_changes, &batches);
	CHECK(fleet_start(&f, "a"));
	mp_loop_advance(f.loop, 16);
	mp_observer_leave(&f.board, &observer);
	CHECK(batches >= 1 && batches <= 2);
	for (size_t i = 0; i < MP_ARRAY_LEN(path); i++) {
		const struct mp_event *e = mp_events_read(&f.events, &cursor, &missed);

		CHECK(e);
		CHECK_TEXT(e->what, path[i]);
	}
	CHECK(!mp_events_read(&f.events, &cursor, &missed));
}

/* The server's process ends, as the transport tells it. */
static void end_process(struct fleet_server *s, int pid, const char *how)
{
	if (s->ours)
		s->ours->hooks->exited(s->ours->u, pid, how);
}

/* E59 U7 */
/* A start, a probe that is answered, a probe that fails, an attempt: each step has its number. */
TEST(each_step_of_a_life_is_a_numbered_event)
{
	static const char *const path[][2] = {
		{"preparing", ""},
		{"starting", ""},
		{"listing", ""},
		{"offers", "1 tool, "},
		{"up", "prepare "},
		{"call-failed", "mcp_timeout: "},
		{"checking", ""},
		{"up", "the probe was answered"},
		{"call-failed", "mcp_timeout: "},
		{"checking", ""},
		{"clearing", "probe-failed: "},
		{"backoff", "attempt 1 in 0 ms: "},
		{"preparing", "attempt 1"},
		{"starting", ""},
		{"listing", ""},
		{"offers-the-same", ""},
		{"up", "prepare "},
		{"exited", "pid 4711 was killed by SIGKILL"},
		{"clearing", "transport-exit: "},
		{"backoff", "attempt 2 in 1000 ms: "},
	};
	MP_CLEANUP(fleet_done) struct fleet f;
	uint64_t cursor = 1, missed;
	struct fleet_result r;
	struct fleet_server *a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	a = fleet_get(&f, "a");
	a->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &r));
	fleet_advance(&f, 1000);
	a->dead = true;
	CHECK(fleet_call(&f, "a", 1, 1000, &r));
	fleet_advance(&f, 6999);
	CHECK_EQ(fleet_count_events(&f, "a", "clearing"), 0);
	a->dead = false;
	fleet_advance(&f, 1);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	end_process(a, 4711, "was killed by SIGKILL");
	fleet_die(a);
	for (size_t i = 0; i < MP_ARRAY_LEN(path); i++) {
		const struct mp_event *e = mp_events_read(&f.events, &cursor, &missed);

		CHECK(e);
		CHECK_EQ(e->number, i + 1);
		CHECK_TEXT(e->what, path[i][0]);
		CHECK(strncmp(e->text, path[i][1], strlen(path[i][1])) == 0);
	}
}

/* One-shot runs have one try: waiting calls end at once. */
TEST(a_one_shot_run_tries_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	f.one_shot = true;
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->dies_at_once = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.code, MCPOOL_EUNAVAILABLE);
	CHECK(!r.retryable);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
}

static void end_all_sessions(struct fleet *f, struct fleet_result *r)
{
	(void)r;
	for (mp_id session = 1; session < 4; session++)
		mp_pool_end_session(f->pool, session);
}

/* E65 U29 */
/* While the pool is freed, hooks may end sessions; nothing is leaked. */
TEST(sessions_may_end_while_the_pool_goes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result one;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"p\":{\"command\":\"p\",\"mode\":\"session\"}}}"));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	fleet_get(&f, "p")->prepare_ms = 1000;
	mp_workspace_start_server(f.workspace, 1, 2, false); /* which goes with its session */
	fleet_settle(&f);
	f.then = end_all_sessions;
	f.workspace = mp_workspace_close(f.workspace);
	mp_pool_free(f.pool);
	f.pool = NULL;
	CHECK_EQ(one.answers, 1);
	fleet_advance(&f, 10000); /* whatever was still running would run now */
}

/* --- what displays see, and what has happened ------------------------------------------------ */

struct display {
	struct mp_board *board; /* NULL: it does not look yet */
	struct mp_observer observer;
	int batches;
};

static void display_done(struct display *d)
{
	if (d->board)
		mp_observer_leave(d->board, &d->observer);
}

static void saw(const struct mp_change *changes, size_t n, void *u)
{
	struct display *d = u;

	(void)changes;
	d->batches += n > 0;
}

/* C23 C16 */
/* A whole start in one moment is one change for a display, and every step of it is in the ring. */
TEST(merged_changes_lose_no_transition)
{
	static const char *const steps[] = {"preparing", "starting", "listing", "up"};
	MP_CLEANUP(fleet_done) struct fleet f;
	MP_CLEANUP(display_done) struct display d = {0};

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_advance(&f, 100);
	d.board = &f.board;
	mp_observer_join(d.board, &d.observer, saw, &d);
	CHECK(fleet_start(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(d.batches <= 1);
	fleet_advance(&f, 16);
	CHECK(d.batches >= 1 && d.batches <= 2);
	for (size_t i = 0; i < MP_ARRAY_LEN(steps); i++)
		CHECK_EQ(fleet_count_events(&f, "a", steps[i]), 1);
}
