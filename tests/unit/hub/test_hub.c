/* test_hub.c - start, reload and stop of the whole, without any server that runs. */
#include "home.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/secrets.h"
#include "hub/hub.h"

#define FILE_AT "home/.config/mcpool/mcp.json"
#define OFF     "\"command\":\"x\",\"enabled\":false"

struct desk {
	struct mp_hub *hub;
	int ready, reloaded, stopped;
	struct mcpool_error error;
};

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	d->ready++;
	d->error = error ? *error : (struct mcpool_error){0};
}

static void is_reloaded(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	d->reloaded++;
	d->error = error ? *error : (struct mcpool_error){0};
}

static void is_stopped(void *u)
{
	struct desk *d = u;

	d->stopped++;
}

static const struct mp_hub_hooks hooks = {is_ready, is_reloaded, is_stopped};
static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

static void tidy(struct desk *d)
{
	mp_hub_free(d->hub);
	mp_secret_remove_all();
	mp_log_set_level(MP_LEVEL_INF);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {0}

/* Until this count is there; each turn waits for something to happen. */
static bool turn_until(struct desk *d, const int *count, int wanted)
{
	for (int i = 0; i < 1000 && *count < wanted; i++)
		mp_loop_turn(d->hub->loop, true);
	return *count == wanted;
}

/* By hand: files are not watched. */
static bool open_desk(struct desk *d, const char *json)
{
	struct mp_hub_options options = {.me = &me, .one_shot = true};

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(FILE_AT, json));
	options.request = home_request(NULL);
	REQUIRE(mp_hub_new(&options, &hooks, d, &d->hub, &why) == 0);
	mp_hub_start(d->hub);
	REQUIRE(turn_until(d, &d->ready, 1));
	REQUIRE(d->error.code == 0);
	return true;
}

static bool reload(struct desk *d, const char *json)
{
	int before = d->reloaded;

	REQUIRE(put(FILE_AT, json));
	mp_hub_reload(d->hub);
	REQUIRE(d->reloaded == before); /* never from within */
	return turn_until(d, &d->reloaded, before + 1);
}

/* The words of the last event, which is this one. */
static const char *last_event(struct desk *d, const char *what)
{
	uint64_t cursor = d->hub->events.last, missed;
	const struct mp_event *e = mp_events_read(&d->hub->events, &cursor, &missed);

	return e && strcmp(e->what, what) == 0 ? e->text : "(another one)";
}

TEST(a_hub_starts_and_stops)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 1);
	CHECK_EQ(mp_workspace_get_state(d.hub->workspace, 0, 0), MP_STATUS_DISABLED);
	mp_hub_stop(d.hub);
	mp_hub_stop(d.hub);
	CHECK_EQ(d.stopped, 0);
	CHECK(turn_until(&d, &d.stopped, 1));
	mp_hub_reload(d.hub);
	CHECK_EQ(d.reloaded, 0);
}

HEAVY_TEST(a_reload_says_what_it_changed)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "},\"c\":{" OFF "}}}"));
	CHECK(reload(&d, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF ",\"args\":[\"1\"]},"
			 "\"d\":{" OFF "},\"e\":{" OFF "}}}"));
	CHECK_EQ(d.error.code, 0);
	CHECK_TEXT(last_event(&d, "reloaded"), "added d, e; changed b: args; gone c");
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 4);
	CHECK(reload(&d, "{ \"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF ",\"args\":[\"1\"]},"
			 "\"d\":{" OFF "},\"e\":{" OFF "}}}"));
	CHECK_TEXT(last_event(&d, "reloaded"), "nothing changed");
}

/* Of two reloads at once the second one counts, and tells what both changed. */
HEAVY_TEST(reloads_are_merged)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "}}}"));
	mp_hub_reload(d.hub);
	CHECK(reload(&d, "{\"mcpServers\":{\"b\":{" OFF "},\"c\":{" OFF "}}}"));
	CHECK_TEXT(last_event(&d, "reloaded"), "added b, c; gone a");
	CHECK_EQ(d.reloaded, 1);
}

/* Somebody is in the middle of an edit: nothing stops for that. A file that is gone is gone. */
TEST(a_file_that_breaks_changes_nothing)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK(reload(&d, "{\"mcpServers\":{"));
	CHECK_EQ(d.error.code, MCPOOL_EPARSE);
	CHECK(strstr(last_event(&d, "reload-failed"), "mcp.json"));
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 1);
	CHECK(reload(&d, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "}}}"));
	CHECK_EQ(d.error.code, 0);
	CHECK_TEXT(last_event(&d, "reloaded"), "added b");
	CHECK_EQ(unlink(in(FILE_AT)), 0);
	mp_hub_reload(d.hub);
	CHECK(turn_until(&d, &d.reloaded, 3));
	CHECK_TEXT(last_event(&d, "reloaded"), "gone a, b");
	CHECK_EQ(mp_workspace_count(d.hub->workspace), 0);
}
