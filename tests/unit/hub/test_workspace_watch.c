/* test_workspace_watch.c - a workspace keeps up with its files by itself; the hub around it is
 * test_hub.c's. */
#include "home.h"

#include <stdlib.h>

#include "base/log.h"
#include "hub/hub.h"
#include "hub/workspace_watch.h"

#define FILE_AT "home/.config/mcpool/mcp.json"
#define OFF     "\"command\":\"x\",\"enabled\":false"

static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

struct desk {
	struct mp_hub *hub;
	struct mp_workspace_watch_options options;
	struct mp_workspace_watch watch;
	bool is_open;
	int ready, reloaded, errors;
};

static void hub_ready(void *u, const struct mcpool_error *error)
{
	(void)u;
	(void)error;
}

static void is_ready(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	struct desk *d = mp_container_of(w, struct desk, watch);

	d->ready++;
	d->errors += error != NULL;
}

static void is_reloaded(struct mp_workspace_watch *w, const struct mcpool_error *error)
{
	struct desk *d = mp_container_of(w, struct desk, watch);

	d->reloaded++;
	d->errors += error != NULL;
}

static const struct mp_hub_hooks hub_hooks = {.ready = hub_ready};

static void tidy(struct desk *d)
{
	if (d->is_open)
		mp_workspace_watch_done(&d->watch);
	mp_hub_free(d->hub);
	mp_log_set_level(MP_LEVEL_INF);
}

static void open_watch(struct desk *d, const struct mp_config_request *r)
{
	d->options = (struct mp_workspace_watch_options){
		.loop = d->hub->loop,
		.events = &d->hub->events,
		.pool = d->hub->pool,
		.files = mp_hub_get_watch(d->hub),
		.ready = is_ready,
		.reloaded = is_reloaded,
	};
	mp_workspace_watch_init(&d->watch, &d->options, r, NULL);
	d->is_open = true;
}

static bool turn_until(struct desk *d, const int *count, int wanted)
{
	for (int i = 0; i < 1000 && *count < wanted; i++)
		mp_loop_turn(d->hub->loop, true);
	return *count == wanted;
}

/* A watch with a request of its own; its texts may go when it has copies. */
static bool open_desk(struct desk *d)
{
	struct mp_hub_options options = {.me = &me};
	struct mp_config_request r;
	char cwd[200];

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	options.request = home_request(NULL);
	REQUIRE(mp_hub_new(&options, &hub_hooks, d, &d->hub, &why) == 0);
	mp_hub_start(d->hub);
	r = home_request(NULL);
	snprintf(cwd, sizeof(cwd), "%s", r.cwd);
	r.cwd = cwd;
	open_watch(d, &r);
	mp_workspace_watch_own_request(&d->watch);
	memset(cwd, 'x', sizeof(cwd) - 1);
	mp_workspace_watch_start(&d->watch);
	return turn_until(d, &d->ready, 1);
}

/* A7 A48 A50 */
HEAVY_TEST(files_are_followed)
{
	MP_CLEANUP(tidy) struct desk d = {0};

	CHECK(open_desk(&d));
	CHECK_EQ(d.errors, 0);
	CHECK_EQ(mp_workspace_count(d.watch.workspace), 1);
	CHECK(put("home/.config/mcpool/notes.txt", "not a source"));
	for (int i = 0; i < 100; i++)
		mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(d.reloaded, 0); /* once at the start, and not without a reason */
	CHECK(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "}}}"));
	CHECK(turn_until(&d, &d.reloaded, 1));
	CHECK_EQ(mp_workspace_count(d.watch.workspace), 2);
	CHECK(put(FILE_AT, "{\"mcpServers\":")); /* in the middle of an edit */
	CHECK(turn_until(&d, &d.reloaded, 2));
	CHECK_EQ(d.errors, 1);
	CHECK_EQ(mp_workspace_count(d.watch.workspace), 2);
	mp_workspace_watch_stop(&d.watch);
	CHECK(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "},\"c\":{" OFF "}}}"));
	for (int i = 0; i < 100; i++)
		mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(mp_workspace_count(d.watch.workspace), 2);
	mp_workspace_watch_reload(&d.watch); /* by hand it still works */
	CHECK(turn_until(&d, &d.reloaded, 3));
	CHECK_EQ(mp_workspace_count(d.watch.workspace), 3); /* and finds all again */
}

TEST(before_the_start_there_is_nothing_to_reload)
{
	MP_CLEANUP(tidy) struct desk d = {0};
	struct mp_hub_options options = {.me = &me, .one_shot = true};
	struct mp_config_request r;

	CHECK(home_make());
	CHECK(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	options.request = r = home_request(NULL);
	CHECK_EQ(mp_hub_new(&options, &hub_hooks, &d, &d.hub, &why), 0);
	open_watch(&d, &r);
	mp_workspace_watch_reload(&d.watch);
	mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(d.reloaded, 0);
}
