/*
 * test_hub_real.c - everything together, on real files and real processes: start, reload, stop, and
 * an end at any moment.
 */
#include "home.h"
#include "process.h"

#include "hub/hub.h"
#include "heap_pool_call.h"
#include "pool/pool_call.h"

struct desk {
	struct mp_hub *hub;
	struct mp_hub_options o;
	const char *files[1];
	char file[200];
	int ready, reloaded, stopped; /* how often told */
	int ready_code, answers;
	enum mp_outcome outcome;
	bool is_one_shot, starts_all, stops_when_ready;
};

static const struct mp_identity me = {.name = "tester", .version = "1", .capabilities = {"{}", 2}};

static void tidy(struct desk *d)
{
	mp_hub_free(d->hub);
	kill_all_tagged();
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {.hub = NULL}

/* --- what the hub tells ---------------------------------------------------------------------- */

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	d->ready++;
	d->ready_code = error ? error->code : 0;
	for (size_t i = 0; d->starts_all && i < mp_workspace_count(d->hub->workspace); i++)
		mp_workspace_start_server(d->hub->workspace, i, 0, false);
	if (d->stops_when_ready)
		mp_hub_stop(d->hub);
}

static void is_reloaded(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	d->reloaded += error == NULL;
}

static void is_stopped(void *u)
{
	struct desk *d = u;

	d->stopped++;
}

static const struct mp_hub_hooks hooks = {is_ready, is_reloaded, is_stopped};

/* --- files and servers ----------------------------------------------------------------------- */

/* Each name is a demo server, and differs, or it would be taken for the same one. */
static bool write_servers(const char *names)
{
	char text[2000] = "{\"mcpServers\":{";

	for (const char *c = names; *c; c++) {
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at,
			 "%s\"%c\":{\"command\":\"%s\",\"args\":[\"demo-server\"],"
			 "\"env\":{\"WHO\":\"%c\"}}",
			 c == names ? "" : ",", *c, MCPOOL_EXE, *c);
	}
	strcat(text, "}}");
	return put("servers.json", text);
}

static bool open_desk(struct desk *d, const char *names)
{
	REQUIRE(home_make());
	new_tag();
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(write_servers(names));
	snprintf(d->file, sizeof(d->file), "%s", in("servers.json"));
	d->files[0] = d->file;
	d->o = (struct mp_hub_options){.request = home_request(NULL), .me = &me, .exe = MCPOOL_EXE};
	d->o.request.files = d->files;
	d->o.request.n_files = 1;
	d->o.request.strict = true;
	d->o.one_shot = d->is_one_shot;
	REQUIRE(mp_hub_new(&d->o, &hooks, d, &d->hub, &why) == 0);
	return true;
}

static bool start(struct desk *d)
{
	mp_hub_start(d->hub);
	REQUIRE(d->ready == 0); /* from the loop */
	REQUIRE(TURN_UNTIL(d->hub->loop, d->ready));
	REQUIRE(d->ready_code == 0);
	return true;
}

static bool stop(struct desk *d)
{
	int64_t began_ms = real_ms();

	mp_hub_stop(d->hub);
	mp_hub_stop(d->hub); /* once is enough */
	REQUIRE(TURN_UNTIL(d->hub->loop, d->stopped));
	REQUIRE(real_ms() - began_ms < PATIENCE_MS / 2);
	REQUIRE(d->stopped == 1);
	return true;
}

static void answered(const struct mp_pool_answer *answer, void *u)
{
	struct desk *d = u;

	d->answers++;
	d->outcome = answer->outcome;
}

static bool call(struct desk *d, const char *server)
{
	struct mp_pool_call_options rq = {
		.server = server,
		.call.method = MP_METHOD_TOOLS_CALL,
		.call.params = MP_STR("{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}}"),
	};

	d->answers = 0;
	REQUIRE(heap_pool_call(d->hub->workspace, &rq, answered, d, NULL, NULL) == 0);
	return true;
}

static enum mp_status_state state_at(struct desk *d, size_t i)
{
	return i < mp_workspace_count(d->hub->workspace)
		       ? mp_workspace_get_state(d->hub->workspace, i, 0)
		       : MP_STATUS_STATE_COUNT;
}

/* --- the tests ------------------------------------------------------------------------------- */

/* U29 */
HEAVY_TEST(a_hub_starts_serves_and_stops)
{
	DESK;

	CHECK(open_desk(&d, "ab"));
	CHECK(start(&d));
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 2);
	CHECK_EQ(state_at(&d, 0), MP_STATUS_READY);
	CHECK(call(&d, "b"));
	CHECK(TURN_UNTIL(d.hub->loop, d.answers));
	CHECK_EQ(d.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(state_at(&d, 1), MP_STATUS_CONNECTED);
	CHECK(stop(&d));
	CHECK_EQ(state_at(&d, 1), MP_STATUS_READY);
	mp_hub_reload(d.hub); /* nothing comes of it any more */
	CHECK(call(&d, "a"));
	CHECK(TURN_UNTIL(d.hub->loop, d.answers));
	CHECK_EQ(d.outcome, MP_OUTCOME_NOT_SENT);
	CHECK_EQ(d.reloaded, 0);
}

/* D5 C18 */
HEAVY_TEST(changed_files_are_read_again)
{
	DESK;
	mp_id before;

	CHECK(open_desk(&d, "ab"));
	d.starts_all = true;
	CHECK(start(&d));
	CHECK(TURN_UNTIL(d.hub->loop, state_at(&d, 0) == MP_STATUS_CONNECTED &&
					      state_at(&d, 1) == MP_STATUS_CONNECTED));
	before = mp_workspace_get_instance_id(d.hub->workspace, 0, 0);
	CHECK(write_servers("ac"));
	CHECK(TURN_UNTIL(d.hub->loop, d.reloaded));
	CHECK_EQ(mp_workspace_find(d.hub->workspace, "b"), -1);
	CHECK_EQ(mp_workspace_find(d.hub->workspace, "c"), 1);
	/* It noticed nothing. */
	CHECK_EQ(mp_workspace_get_instance_id(d.hub->workspace, 0, 0), before);
	CHECK_EQ(state_at(&d, 0), MP_STATUS_CONNECTED);
	CHECK_EQ(d.ready, 1);
	CHECK(stop(&d));
}

/* C18 */
/* Files that change before the first word do not swallow it. */
HEAVY_TEST(a_reload_before_ready_is_ready_too)
{
	DESK;

	CHECK(open_desk(&d, "a"));
	mp_hub_start(d.hub);
	CHECK(write_servers("ab"));
	mp_hub_reload(d.hub);
	CHECK(TURN_UNTIL(d.hub->loop, d.reloaded));
	CHECK_EQ(d.ready, 1);
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 2);
	CHECK(stop(&d));
	CHECK_EQ(d.ready, 1);
}

/* U29 */
HEAVY_TEST(a_hub_may_be_stopped_at_once)
{
	for (int i = 0; i < 3; i++) {
		DESK;

		CHECK(open_desk(&d, "ab"));
		d.starts_all = d.stops_when_ready = i == 2;
		if (i > 0)
			mp_hub_start(d.hub);
		if (i == 2)
			CHECK(TURN_UNTIL(d.hub->loop, d.stopped));
		else
			CHECK(stop(&d));
		CHECK_EQ(d.stopped, 1);
	}
}

/* After so many turns, each of which waits for what comes. */
static bool end_after(int turns, bool stops)
{
	DESK;
	int64_t end_ms = real_ms() + PATIENCE_MS;

	REQUIRE(open_desk(&d, "abc"));
	d.starts_all = true;
	mp_hub_start(d.hub);
	for (int i = 0; i < turns && real_ms() < end_ms; i++) {
		if (i == 3)
			REQUIRE(call(&d, "a"));
		if (i == 20)
			mp_hub_reload(d.hub);
		mp_loop_turn(d.hub->loop, d.ready == 0 || i < 10);
	}
	if (stops)
		mp_hub_stop(d.hub);
	d.hub = mp_hub_free(d.hub);
	REQUIRE(d.stopped == 0);
	REQUIRE(all_gone_within(PATIENCE_MS));
	return true;
}

/* U29 */
HEAVY_TEST(a_hub_may_be_freed_at_any_moment)
{
	for (int turns = 0; turns < 40; turns += 1 + turns / 4)
		CHECK(end_after(turns, turns % 2 == 1));
}

/* Without memory there may be no hub, but nothing is left of it. */
TEST(a_hub_is_made_and_freed)
{
	DESK;

	d.is_one_shot = true; /* files are not followed */
	CHECK(open_desk(&d, "a"));
	mp_hub_start(d.hub);
}
