/* test_workspace.c - which instance a name means, and what a reload does to it. */
#include "test.h"

#include <stdio.h>

#include "fleet.h"
#include "memory.h"

#include "base/error.h"
#include "base/limits.h"
#include "pool/instance.h"
#include "pool/keeper.h"
#include "pool/workspace.h"

#define TWO(env, more)                                                                          \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"env\":{\"K\":\"" env "\"}" more "},\"b\":" \
	"{\"command\":\"b\"}}}"

static bool open_both(struct fleet *f, const char *json)
{
	REQUIRE(fleet_init(f));
	REQUIRE(fleet_open(f, json));
	REQUIRE(fleet_start(f, "a"));
	return fleet_start(f, "b");
}

/* This is in the JSON that people and programs get of it. */
static bool shows(const struct mp_status *s, enum mp_status_view view, const char *part)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_MIB(1));
	mp_write_init(&w, &text, NULL);
	mp_status_write(&w, s, view);
	REQUIRE(mp_write_finish(&w) == 0);
	return mp_str_find(mp_buf_get(&text), mp_str_of(part), 0) >= 0;
}

/* A23 A27 D24 E10 */
/* Known by name, and its source before it is up. */
TEST(servers_are_known_before_they_run)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", "")));
	CHECK_EQ(mp_workspace_count(f.workspace), 2);
	CHECK_EQ(mp_workspace_find(f.workspace, "b"), 1);
	CHECK_EQ(mp_workspace_find(f.workspace, "c"), -1);
	CHECK_TEXT(mp_workspace_get_entry(f.workspace, 0)->origin.file, "test.json");
	CHECK_EQ(mp_pool_count_instances(f.pool), 0); /* an unused server costs nothing */
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_start(&f, "a"));
	fleet_status(&f, "a", &s);
	CHECK_TEXT(mp_status_state_get_name(s.state), "pending");
	CHECK_TEXT(s.source.file, "test.json");
	CHECK_TEXT(s.source.tool, mp_workspace_get_entry(f.workspace, 0)->origin.tool);
	CHECK(shows(&s, MP_STATUS_HUB, "\"state\":\"pending\""));
	CHECK(shows(&s, MP_STATUS_HUB, "\"source\":{\"file\":\"test.json\""));
}

static int give_pid(const struct mp_transport *t)
{
	(void)t;
	return 4711;
}

/* E10 E8 E7 E68 */
/* Its entry, conversation, process, calls, last failure, names and queue. */
/* E64 */
TEST(the_pool_knows_all_about_a_server)
{
	static struct mp_transport_impl impl; /* a transport with a process */
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result open, waiting;
	struct mp_server_catalog *catalog;
	struct mp_instance *a, *b;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"queue\":\"q\"},"
			     "\"b\":{\"command\":\"b\",\"toolQueues\":{\"t\":\"q\"}}},"
			     "\"mcpool\":{\"queues\":{\"q\":{\"slots\":1,\"line\":5}}}}"));
	fleet_get(&f, "a")->holds_calls = true;
	fleet_get(&f, "b")->dial_code = MCPOOL_EIO;
	CHECK(fleet_start(&f, "a") && fleet_start(&f, "b"));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	impl = *fleet_get(&f, "a")->ours->impl;
	impl.get_pid = give_pid;
	fleet_get(&f, "a")->ours->impl = &impl;
	CHECK(fleet_call(&f, "a", 1, 0, &open) && fleet_call(&f, "a", 1, 0, &waiting));
	fleet_settle(&f);
	a = mp_workspace_get_instance(f.workspace, "a", 0, NULL);
	b = mp_workspace_get_instance(f.workspace, "b", 0, NULL);
	CHECK(a && b && a != b);
	CHECK_TEXT(mp_workspace_get_entry(f.workspace, 0)->argv[0], "a");
	CHECK(mp_upstream_is_ready(mp_keeper_get_upstream(a->k)));
	CHECK(!mp_keeper_get_upstream(b->k));
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.pid, 4711);
	CHECK_EQ(s.open, 1);
	CHECK_EQ(s.waiting, 1);
	CHECK_EQ(s.unfinished, 2);
	CHECK_TEXT(s.error, "");
	fleet_status(&f, "b", &s);
	CHECK_EQ(s.pid, -1);
	CHECK_TEXT(s.error, "start: it cannot be dialled");
	CHECK_EQ(s.failed_at_ms, mp_loop_wall_now_ms(f.loop));
	CHECK_EQ(mp_workspace_find(f.workspace, "a"), 0);
	CHECK_EQ(mp_workspace_find(f.workspace, "b"), 1);
	catalog = mp_workspace_get_catalog(f.workspace, 0, 0);
	CHECK(catalog);
	CHECK_STR(catalog->lists[MP_CATALOG_TOOL]->list.items[0].name, "t");
	CHECK_STR(catalog->hello.instructions, "be kind");
	mp_server_catalog_unref(catalog);
	CHECK(mp_instance_get_queue(a, MP_STR("t")) == mp_instance_get_queue(b, MP_STR("t")));
	CHECK(mp_instance_get_queue(a, MP_STR("u")) != mp_instance_get_queue(b, MP_STR("u")));
}

#define TWO_UNDER(profile, env)                                                         \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"env\":{\"K\":\"" env "\"}},\"b\":" \
	"{\"command\":\"b\"}},\"mcpool\":{\"profile\":\"" profile "\",\"mode\":\"shared\"}}"

/* D5 U33 X12 X30 */
/* What did not change notices nothing, also when another one did; in every profile. */
TEST(an_unchanged_server_notices_nothing)
{
	static const char *const cases[][2] = {
		{TWO("1", ""), TWO("2", "")},
		{TWO_UNDER("omp", "1"), TWO_UNDER("omp", "2")},
		{TWO_UNDER("claude", "1"), TWO_UNDER("claude", "2")},
		{TWO_UNDER("netdata", "1"), TWO_UNDER("netdata", "2")},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(fleet_done) struct fleet f;

		CHECK(open_both(&f, cases[i][0]));
		CHECK(fleet_reload(&f, cases[i][1]));
		fleet_advance(&f, 10);
		CHECK_EQ(fleet_get(&f, "b")->prepares, 1);
		CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
		CHECK_TEXT(fleet_state(&f, "a"), "connected");
		CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	}
}

/* Changed tuning keeps the instance, under the new rules. */
TEST(tuning_changes_without_a_restart)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(open_both(&f, TWO("1", "")));
	CHECK(fleet_reload(&f, TWO("1", ",\"restart\":{\"mode\":\"once\"}")));
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.max_tries, 1);
}

/* What became of this instance, as "what what ...", from that event on; the cursor moves on. */
static const char *steps_of(struct fleet *f, mp_id id, uint64_t *cursor)
{
	static char text[300];
	const struct mp_event *e;
	uint64_t missed;

	text[0] = '\0';
	while ((e = mp_events_read(&f->events, cursor, &missed)))
		if (e->id == id)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", e->what);
	return text;
}

/* The call is finished first; then the process goes, and the pool has one instance less. */
static bool drains(struct fleet *f, struct fleet_result *r)
{
	size_t before = mp_pool_count_instances(f->pool);

	fleet_advance(f, 100);
	REQUIRE(r->answers == 0);
	REQUIRE(mp_pool_count_instances(f->pool) == before);
	REQUIRE(fleet_answer_kept(fleet_get(f, "a"), 0, "{}"));
	fleet_advance(f, 2000);
	REQUIRE(r->answers == 1 && r->outcome == MP_OUTCOME_ANSWERED);
	fleet_get(f, "a")->n_kept = 0;
	return mp_pool_count_instances(f->pool) == before - 1;
}

/* A62 C18: another launch key, gone from its file, switched off, switched off in the file. */
TEST(every_way_to_stop_a_server_drains_it)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	uint64_t cursor = 1;

	CHECK(open_both(&f, TWO("1", ",\"start\":\"lazy\"")));
	fleet_get(&f, "a")->holds_calls = true;
	for (int i = 0; i < 4; i++) {
		mp_id id;

		CHECK(fleet_start(&f, "a"));
		CHECK(fleet_call(&f, "a", 1, 0, &r));
		fleet_settle(&f);
		id = mp_workspace_get_instance_id(f.workspace, 0, 0);
		CHECK(id);
		steps_of(&f, id, &cursor);
		if (i == 0)
			CHECK(fleet_reload(&f, TWO("2", ",\"start\":\"lazy\"")));
		if (i == 1)
			CHECK(fleet_reload(&f, "{\"mcpServers\":{\"b\":{\"command\":\"b\"}}}"));
		if (i == 2)
			CHECK_EQ(mp_workspace_toggle(f.workspace, "a", 0, MP_TOGGLE_OFF, NULL), 0);
		if (i == 3)
			CHECK(fleet_reload(&f, TWO("2", ",\"enabled\":false")));
		CHECK(drains(&f, &r));
		CHECK_TEXT(steps_of(&f, id, &cursor),
			   i == 2 ? "toggled draining stopping down gone "
				  : "draining stopping down gone ");
		if (i == 1)
			CHECK(fleet_reload(&f, TWO("2", ",\"start\":\"lazy\"")));
		if (i == 2)
			CHECK_EQ(mp_workspace_toggle(f.workspace, "a", 0, MP_TOGGLE_NONE, NULL), 0);
	}
}

/* C18 A8 A60 A62 D5 E79 E53 */
/* Gone from the file: stopped, and its tools with it. */
TEST(a_removed_server_is_stopped)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_both(&f, TWO("1", "")));
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"b\":{\"command\":\"b\"}}}"));
	fleet_advance(&f, 10);
	CHECK_EQ(mp_workspace_find(f.workspace, "a"), -1);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
	CHECK_EQ(fleet_count_events(&f, NULL, "gone"), 1);
	CHECK_EQ(fleet_get(&f, "b")->prepares, 1);
	CHECK(fleet_reload(&f, "{\"mcpServers\":{}}"));
	fleet_advance(&f, 10);
	CHECK_EQ(mp_workspace_count(f.workspace), 0);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
}

/* A60 */
/* `disable --now` of a server that is starting: its attempt, its connection and its tools go. */
TEST(a_pending_server_is_dropped_when_it_is_switched_off)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", "")));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_advance(&f, 1000);
	CHECK_TEXT(fleet_state(&f, "a"), "pending");
	CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 1);
	CHECK_EQ(mp_workspace_toggle(f.workspace, "a", 0, MP_TOGGLE_OFF, NULL), 0);
	fleet_advance(&f, 1000);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 0);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.code, MCPOOL_EDISABLED);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
	fleet_get(&f, "a")->mute = false;
	fleet_advance(&f, 600000);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	CHECK(!mp_workspace_has_catalog(f.workspace, 0, 0));
}

/* E46 */
/* It was replaced and dies while its calls finish. It is not restarted. */
TEST(a_replaced_server_that_dies_starts_no_loop)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_both(&f, TWO("1", "")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"b\":{\"command\":\"b\"}}}"));
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2); /* it drains */
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 600000);
	CHECK_EQ(fleet_count_events(&f, NULL, "backoff"), 0);
	CHECK_EQ(r.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
}

/* E46 */
/* The end of the old one is not taken for that of its successor. */
TEST(a_replaced_server_that_dies_leaves_its_successor_alone)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r, next;

	CHECK(open_both(&f, TWO("1", "")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(fleet_reload(&f, TWO("2", "")));
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 3); /* the old one drains */
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_get(&f, "a")->n_kept, 1);
	mp_memory_break(fleet_get(&f, "a")->kept_by[0]);
	fleet_settle(&f);
	CHECK_EQ(r.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	fleet_get(&f, "a")->holds_calls = false;
	CHECK(fleet_call(&f, "a", 1, 0, &next));
	fleet_advance(&f, 600000);
	CHECK_EQ(next.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_count_events(&f, NULL, "backoff"), 0);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
}

/* D5 */
/* Switched off in the file: stopped, also out of its restart loop. */
TEST(a_disabled_server_leaves_its_loop)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", "")));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_reload(&f, TWO("1", ",\"enabled\":false")));
	fleet_advance(&f, 600000);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);    /* 0 and 0 s, before the reload */
	CHECK_EQ(mp_pool_count_instances(f.pool), 1); /* b came with the reload, being eager */
}

/* A48 A50 P20 P21 U14 */
/* What is new and eager starts; lazy ones wait. */
TEST(new_servers_start_with_the_reload)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_both(&f, TWO("1", "")));
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"b\":{\"command\":\"b\"},\"n\":{\"command\":"
			       "\"n\"},\"l\":{\"command\":\"l\",\"start\":\"lazy\"}}}"));
	fleet_advance(&f, 10);
	CHECK_TEXT(fleet_state(&f, "n"), "connected");
	CHECK_TEXT(fleet_state(&f, "l"), "ready");
}

/* U15 C18 */
/* Calls under way finish with the old one, those that wait go to the new one. */
TEST(a_replaced_server_drains)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result old, waits;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":{\"queues\":"
			     "{\"default\":{\"slots\":1,\"line\":9}}}}"));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &old));
	CHECK(fleet_call(&f, "a", 1, 0, &waits));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	fleet_get(&f, "a")->holds_calls = false;
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a2\"}}}"));
	fleet_advance(&f, 100);
	CHECK_EQ(waits.outcome, MP_OUTCOME_ANSWERED); /* by the new one */
	CHECK_EQ(waits.answers, 1);
	CHECK_EQ(old.answers, 0);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	fleet_advance(&f, MP_LIMIT_DRAIN_MS);
	CHECK_EQ(old.answers, 1); /* it had its time */
	CHECK_EQ(old.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
}

/* Of two reloads at once the last one counts, and only it is told of. */
TEST(the_last_reload_counts)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_config_set *one;

	CHECK(open_both(&f, TWO("1", "")));
	one = fleet_make_set(TWO("2", ""));
	CHECK(one);
	mp_workspace_reload(f.workspace, one, NULL, NULL); /* would crash if it were told */
	mp_config_set_unref(one);
	CHECK(fleet_reload(&f, "{\"mcpServers\":{\"z\":{\"command\":\"z\"}}}"));
	fleet_advance(&f, 10);
	CHECK_EQ(mp_workspace_count(f.workspace), 1);
	CHECK_TEXT(fleet_state(&f, "z"), "connected");
}

/* --- modes ----------------------------------------------------------------------------------- */

/* D1 D13 E20 E62 E63 E65 */
/* Mode session: one process per session, which goes with it. */
TEST(a_private_server_belongs_to_its_session)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result one, two;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"shared\":false}}}"));
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	fleet_settle(&f);
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK(fleet_call(&f, "a", 2, 0, &two));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	mp_pool_end_session(f.pool, 1);
	fleet_advance(&f, 10);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
	CHECK_EQ(one.answers + two.answers, 2);
}

#define LEAVING(arg)                                                                        \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"args\":[\"" arg                        \
	"\"]},\"b\":{\"command\":\"b\"}},\"mcpool\":{\"queues\":{\"default\":{\"slots\":1," \
	"\"line\":"                                                                         \
	"9}}}}"

/* E65 */
/*
 * What is with the server, in line, only held, or waits for a start, also at a server that was
 * replaced; that of another session stays.
 */
TEST(a_session_that_ends_gives_back_all_its_calls)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result out, lined, held, other, starting, drained;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, LEAVING("1")));
	fleet_get(&f, "b")->prepare_ms = 1000;
	CHECK(fleet_call(&f, "b", 7, 0, &starting));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 7, 0, &out) && fleet_call(&f, "a", 7, 0, &lined));
	CHECK(fleet_acquire(&f, "a", 7, &held) && fleet_call(&f, "a", 8, 0, &other));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 1);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 4);
	mp_pool_end_session(f.pool, 7);
	fleet_settle(&f);
	CHECK_EQ(out.outcome, MP_OUTCOME_CANCELLED);
	CHECK_EQ(lined.outcome, MP_OUTCOME_CANCELLED);
	CHECK_EQ(starting.outcome, MP_OUTCOME_CANCELLED);
	CHECK_EQ(fleet_get(&f, "a")->cancels, 1);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 1);
	CHECK_EQ(other.answers, 0);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2); /* its turn came */
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 1, "{}"));
	CHECK_EQ(other.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(out.answers + lined.answers + held.answers + other.answers, 4);
	CHECK(fleet_call(&f, "a", 7, 0, &drained));
	fleet_settle(&f);
	CHECK(fleet_reload(&f, LEAVING("2")));
	fleet_settle(&f);
	CHECK_EQ(drained.answers, 0);
	mp_pool_end_session(f.pool, 7);
	fleet_settle(&f);
	CHECK_EQ(drained.outcome, MP_OUTCOME_CANCELLED);
}

/* C19 E62 */
/* Reconnected from outside, each session gets a new connection of its own; none is for all. */
TEST(a_reconnected_private_server_stays_private)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r[3];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"shared\":false}}}"));
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	mp_workspace_start_server(f.workspace, 0, 0, false);
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
	CHECK(fleet_call(&f, "a", 1, 0, &r[0]) && fleet_call(&f, "a", 2, 0, &r[1]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(mp_workspace_reconnect(f.workspace, 0, 0, NULL), 0);
	fleet_advance(&f, 1000);
	CHECK_EQ(fleet_get(&f, "a")->lives, 4);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	CHECK(fleet_call(&f, "a", 1, 0, &r[2]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->lives, 4);
}

/* D13 E19 U14 X20 D39 E65 */
/* A shared one stays when the last session, and even the last workspace, is gone. */
TEST(a_shared_server_stays)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_status s;

	CHECK(open_both(&f, TWO("1", "")));
	for (mp_id session = 7; session <= 8; session++) { /* each takes a call, and that is all */
		CHECK(fleet_call(&f, "a", session, 0, &r));
		fleet_settle(&f);
		CHECK_EQ(r.answers, 1);
		CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	}
	CHECK_EQ(fleet_get(&f, "a")->dials, 1);
	CHECK_EQ(fleet_get(&f, "a")->lists, 1);
	CHECK(fleet_acquire(&f, "a", 8, &r));
	fleet_settle(&f);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 1);
	CHECK(shows(&s, MP_STATUS_ALL, "\"unfinished\":1"));
	mp_pool_end_session(f.pool, 7);
	mp_pool_end_session(f.pool, 8);
	fleet_advance(&f, 600000);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 0); /* and not decisive */
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	f.workspace = mp_workspace_close(f.workspace);
	fleet_advance(&f, 600000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
}

static void nothing(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	(void)error;
	(void)u;
}

/* The instance that has the conversation with the server of this name; 0: none. */
static mp_id instance_of(struct mp_workspace *w, const char *name)
{
	ptrdiff_t i = mp_workspace_find(w, name);

	return i < 0 ? 0 : mp_workspace_get_instance_id(w, (size_t)i, 0);
}

/* D2 D27 U15 A23 X12 D24 */
/* Two workspaces, one name: the same key is one instance, another key another one. */
TEST(views_share_what_is_the_same)
{
	static char *env[] = {NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_config_set *set;
	struct mp_workspace *other;
	bool same, different;

	CHECK(open_both(&f, TWO("1", "")));
	set = fleet_make_set(TWO("2", ""));
	CHECK(set);
	other = mp_workspace_open(f.pool, set, env, nothing, NULL);
	mp_config_set_unref(set);
	fleet_settle(&f);
	if (mp_workspace_count(other) == 2) { /* memory may fail in between */
		mp_workspace_start_server(other, 0, 0, false);
		mp_workspace_start_server(other, 1, 0, false);
	}
	fleet_settle(&f);
	same = instance_of(f.workspace, "b") &&
	       instance_of(f.workspace, "b") == instance_of(other, "b");
	different =
		instance_of(other, "a") && instance_of(f.workspace, "a") != instance_of(other, "a");
	other = mp_workspace_close(other);
	CHECK(same && different);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_get(&f, "b")->lives, 1);
	CHECK_EQ(mp_pool_count_instances(f.pool), 3);
}

/*
 * use-B4: a server that failed with one session's environment is tried at once with another's;
 * one that runs stays as it is, and so does one that failed with an environment that means the
 * same.
 */
TEST(a_server_starts_with_the_environment_of_the_session_that_wants_it)
{
	static char *rich[] = {"HTTPS_PROXY=http://proxy", NULL};
	static char *same[] = {"HTTPS_PROXY=http://proxy", "PWD=/elsewhere", NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_workspace *other, *third;
	struct mp_status status = {0};
	int dials;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EUNAVAILABLE;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 200000); /* far up the schedule: the next try is a minute away */
	dials = fleet_get(&f, "a")->dials;
	mp_workspace_start_server(f.workspace, 0, 0, false);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->dials, dials);
	fleet_get(&f, "a")->dial_code = 0;
	other = mp_workspace_open(f.pool, f.set, rich, nothing, NULL);
	mp_workspace_set_who(other, "claude (process 7)");
	third = mp_workspace_open(f.pool, f.set, same, nothing, NULL);
	fleet_settle(&f);
	if (mp_workspace_count(other) == 1 &&
	    mp_workspace_count(third) == 1) { /* memory may fail */
		mp_workspace_start_server(other, 0, 0, false);
		fleet_settle(&f);
		mp_workspace_start_server(third, 0, 0, false);
		fleet_settle(&f);
		mp_workspace_start_server(f.workspace, 0, 0,
					  false); /* it runs: nothing to follow */
		fleet_settle(&f);
		fleet_die(fleet_get(&f, "a"));
		fleet_advance(&f, 200000);
		mp_status_take(other, 0, 0, &f.texts, &status);
	}
	other = mp_workspace_close(other);
	third = mp_workspace_close(third);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_get(&f, "a")->dials, dials + 2);
	CHECK_TEXT(status.environment, "claude (process 7), 1 variable");
}

struct seen {
	struct mp_workspace *workspace;
	bool has_failed;
};

static void note_failure(void *u, mp_id instance)
{
	struct seen *seen = u;

	(void)instance;
	if (mp_workspace_get_state(seen->workspace, 0, 0) == MP_STATUS_FAILED)
		seen->has_failed = true;
}

/*
 * A session that comes while an attempt with another environment runs gets one of its own, and is
 * not told of the failure of that one.
 */
TEST(an_attempt_with_another_environment_fails_alone)
{
	static char *rich[] = {"HTTPS_PROXY=http://proxy", NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_watcher watcher = {.fn = NULL};
	struct mp_workspace *other;
	struct seen seen = {.has_failed = false};
	int dials = 0, then = 0;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"era\":\"legacy\"}}}"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EUNAVAILABLE;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, 200000); /* the next attempt is a minute away */
	fleet_get(&f, "a")->dial_code = 0;
	fleet_get(&f, "a")->mute = true;
	for (int i = 0; i < 120 && !fleet_get(&f, "a")->end; i++)
		fleet_advance(&f, 1000);
	other = mp_workspace_open(f.pool, f.set, rich, nothing, NULL);
	fleet_settle(&f);
	if (fleet_get(&f, "a")->end && mp_workspace_count(other) == 1) { /* memory may fail */
		mp_workspace_start_server(other, 0, 0, false);
		fleet_settle(&f);
		dials = fleet_get(&f, "a")->dials;
		seen.workspace = other;
		mp_watcher_join(f.pool, &watcher, note_failure, &seen);
		fleet_die(fleet_get(&f, "a"));
		fleet_settle(&f);
		then = fleet_get(&f, "a")->dials;
		mp_watcher_leave(f.pool, &watcher);
	}
	other = mp_workspace_close(other);
	CHECK(dials > 1);
	CHECK_EQ(then, dials + 1);
	CHECK(!seen.has_failed);
}

/* The last try failed with this very environment: wanting it once more is not a reason to try. */
TEST(a_failed_environment_is_not_tried_again_at_once)
{
	static const char json[] = "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}";
	static char *rich[] = {"HTTPS_PROXY=http://proxy", NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	int dials = -1, again = 0;
	struct mp_workspace *other;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, json));
	fleet_get(&f, "a")->dial_code = MCPOOL_EUNAVAILABLE;
	CHECK(fleet_start(&f, "a"));
	other = mp_workspace_open(f.pool, f.set, rich, nothing, NULL);
	fleet_settle(&f);
	if (mp_workspace_count(other) == 1) { /* memory may fail */
		mp_workspace_start_server(other, 0, 0, false);
		fleet_advance(&f, 200000);
		(void)!fleet_reload(&f, json); /* it has the poor environment again, untried */
		dials = fleet_get(&f, "a")->dials;
		mp_workspace_start_server(other, 0, 0, false);
		fleet_settle(&f);
		again = fleet_get(&f, "a")->dials;
	}
	other = mp_workspace_close(other);
	CHECK_EQ(again, dials);
}

/* D28 */
/* A project's server is not lent to another project, though both have the same entry. */
TEST(projects_do_not_share_a_server_of_their_own)
{
	static const char json[] =
		"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"mode\":\"project\"}}}";
	static char *env[] = {NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_config_set *set;
	struct mp_workspace *other;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, json));
	CHECK(fleet_start(&f, "a"));
	set = fleet_make_set(json);
	CHECK(set);
	set->root = "/elsewhere";
	other = mp_workspace_open(f.pool, set, env, nothing, NULL);
	mp_config_set_unref(set);
	fleet_settle(&f);
	if (mp_workspace_count(other) == 1) /* memory may fail */
		mp_workspace_start_server(other, 0, 0, false);
	fleet_settle(&f);
	other = mp_workspace_close(other);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
}

/* D27 X11 */
/*
 * In the netdata profile the first one has the name, and the second is warned about. It does not
 * get the environment of the second either: that is of another command.
 */
TEST(in_the_netdata_profile_the_first_wins)
{
	static char *env[] = {"TOKEN=1", NULL};
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status status = {0};
	struct mp_config_set *set;
	struct mp_workspace *other;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":"
			     "{\"profile\":\"netdata\"}}"));
	CHECK(fleet_start(&f, "a"));
	set = fleet_make_set("{\"mcpServers\":{\"a\":{\"command\":\"other\"}},\"mcpool\":"
			     "{\"profile\":\"netdata\"}}");
	CHECK(set);
	other = mp_workspace_open(f.pool, set, env, nothing, NULL);
	mp_config_set_unref(set);
	mp_workspace_set_who(other, "claude (process 7)");
	fleet_settle(&f);
	if (mp_workspace_count(other) == 1) { /* memory may fail */
		mp_workspace_start_server(other, 0, 0, false);
		fleet_settle(&f);
		fleet_get(&f, "a")->dial_code = MCPOOL_EUNAVAILABLE;
		fleet_die(fleet_get(&f, "a"));
		fleet_advance(&f, 2000);
		fleet_get(&f, "a")->dial_code = 0;
		mp_workspace_start_server(other, 0, 0, false);
		fleet_advance(&f, 200000);
		mp_status_take(other, 0, 0, &f.texts, &status);
	}
	other = mp_workspace_close(other);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(fleet_count_events(&f, "a", "namesake"), 1);
	CHECK(status.environment && strstr(status.environment, "the hub"));
}

static char *no_env[] = {NULL};

static void is_there(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	int *told = u;

	(void)v;
	*told = error ? error->code : 1;
}

/* What it is told: 1, or why not. */
static int open_other(struct fleet *f, const char *json)
{
	struct mp_config_set *set = fleet_make_set(json);
	int told = 0;

	if (set && f->other)
		mp_workspace_reload(f->other, set, is_there, &told);
	else if (set)
		f->other = mp_workspace_open(f->pool, set, no_env, is_there, &told);
	mp_config_set_unref(set);
	fleet_settle(f);
	return told;
}

#define PRIVATE "{\"mcpServers\":{\"p\":{\"command\":\"p\",\"mode\":\"session\"}}}"

/* D13 E65 */
/* One workspace's reload is none of the business of another one's private servers. */
TEST(a_reload_leaves_other_views_private_servers_alone)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", "")));
	CHECK_EQ(open_other(&f, PRIVATE), 1);
	mp_workspace_start_server(f.other, 0, 7, false);
	fleet_settle(&f);
	CHECK_EQ(mp_workspace_get_state(f.other, 0, 7), MP_STATUS_CONNECTED);
	CHECK(fleet_reload(&f, TWO("2", "")));
	CHECK_EQ(mp_workspace_get_state(f.other, 0, 7), MP_STATUS_CONNECTED);
	CHECK_EQ(fleet_count_events(&f, NULL, "gone"), 0);
	CHECK_EQ(open_other(&f, TWO("2", "")), 1); /* its own reload is */
	CHECK_EQ(fleet_count_events(&f, NULL, "gone"), 1);
}

/* U15 */
/* Lines of one session at a time come with a server, and go with it. */
TEST(a_server_that_becomes_serial_is_replaced)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result one, two;

	CHECK(open_both(&f, TWO("1", "")));
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	fleet_settle(&f);
	CHECK(fleet_reload(&f, TWO("1", ",\"mode\":\"serial\"")));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &one));
	CHECK(fleet_call(&f, "a", 2, 0, &two));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 2); /* one before, one now */
}

/* U15 */
/* A workspace that could not be made can be made later. */
TEST(a_view_that_failed_is_made_by_a_reload)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", "")));
	f.identify_code = MCPOOL_ENOMEM;
	CHECK_EQ(open_other(&f, PRIVATE), MCPOOL_ENOMEM);
	CHECK_EQ(mp_workspace_count(f.other), 0);
	f.identify_code = 0;
	CHECK_EQ(open_other(&f, PRIVATE), 1);
	CHECK_EQ(mp_workspace_count(f.other), 1);
}

/* U12 */
/* A server that waited for a person is tried again after a reload. */
TEST(a_reload_tries_again_what_waited_for_a_person)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, TWO("1", ",\"start\":\"eager\"")));
	fleet_get(&f, "a")->prepare_code = MCPOOL_ENEEDS_APPROVAL;
	CHECK(fleet_start(&f, "a"));
	CHECK_TEXT(fleet_state(&f, "a"), "needs-approval");
	fleet_advance(&f, 120000);
	CHECK_EQ(fleet_count_events(&f, "a", "acquire-timeout"), 0);
	fleet_get(&f, "a")->prepare_code = 0;
	CHECK(fleet_reload(&f, TWO("1", ",\"start\":\"eager\"")));
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}
