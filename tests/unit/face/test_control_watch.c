/*
 * test_control_watch.c - mcpool/watch and mcpool/history: all of it once, then what changed.
 */
#include "home.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "face/control.h"

#define FILE_AT "home/.config/mcpool/mcp.json"
#define OFF     "\"command\":\"x\",\"enabled\":false"

static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

struct desk {
	struct mp_hub *hub;
	struct mp_control *c;
	struct mp_buf said; /* lines */
	int ready;
	size_t queued;
};

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	(void)error;
	d->ready++;
}

static void say(void *u, struct mp_str text)
{
	struct desk *d = u;

	if (mp_buf_add_str(&d->said, text) < 0 || mp_buf_add_char(&d->said, '\n') < 0)
		mp_buf_clear(&d->said);
}

static size_t get_queued(void *u)
{
	struct desk *d = u;

	return d->queued;
}

static const struct mp_hub_hooks hub_hooks = {.ready = is_ready};
static const struct mp_control_hooks hooks = {.say = say, .get_queued = get_queued};

static void tidy(struct desk *d)
{
	mp_control_free(d->c);
	mp_hub_free(d->hub);
	mp_buf_done(&d->said);
	mp_log_set_level(MP_LEVEL_INF);
}

static bool open_desk(struct desk *d)
{
	struct mp_hub_options options = {.me = &me, .one_shot = true};

	mp_buf_init(&d->said, MP_MIB(4));
	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "}}}"));
	options.request = home_request(NULL);
	REQUIRE(mp_hub_new(&options, &hub_hooks, d, &d->hub, &why) == 0);
	mp_hub_start(d->hub);
	for (int i = 0; i < 1000 && !d->ready; i++)
		mp_loop_turn(d->hub->loop, true);
	REQUIRE(d->ready == 1);
	d->c = mp_control_new(d->hub, d->hub->workspace, &hooks, d);
	return true;
}

#define DESK                                  \
	MP_CLEANUP(tidy) struct desk d = {0}; \
	CHECK(open_desk(&d))

static bool said(struct desk *d, const char *part)
{
	return mp_str_find(mp_buf_get(&d->said), mp_str_of(part), 0) >= 0;
}

static bool ask(struct desk *d, const char *method, const char *params, const char *answer)
{
	char text[500];

	mp_buf_clear(&d->said);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\",\"params\":%s}", method, params);
	mp_control_receive(d->c, mp_str_of(text));
	if (said(d, answer))
		return true;
	fprintf(stderr, "%s %s: %.*s\n", method, params, MP_STR_ARGS(mp_buf_get(&d->said)));
	return false;
}

/* Turns until it was said; the clock is real. */
static bool hears(struct desk *d, const char *part)
{
	for (int i = 0; i < 100 && !said(d, part); i++)
		mp_loop_turn(d->hub->loop, true);
	return said(d, part);
}

HEAVY_TEST(all_of_it_and_then_what_changed)
{
	DESK;

	CHECK(ask(&d, "mcpool/watch", "{}", "\"result\":{\"time\":"));
	CHECK(said(&d, "\"servers\":[{\"name\":\"a\",\"state\":\"disabled\""));
	CHECK(said(&d, "\"sessions\":[]") && said(&d, "\"flows\":[]") &&
	      said(&d, "\"running\":[]"));
	CHECK(said(&d, "\"overheadUs\":null") && said(&d, "\"callsToday\":0") &&
	      said(&d, "\"problem\":null"));
	mp_buf_clear(&d.said);
	CHECK(hears(&d, "\"method\":\"mcpool/watch/changed\""));
	CHECK(said(&d, "\"hub\":{") && !said(&d, "\"servers\":[") && !said(&d, "\"sessions\":["));
	CHECK(ask(&d, "mcpool/server/enable", "{\"name\":\"a\"}", "\"result\":{}"));
	mp_buf_clear(&d.said);
	CHECK(hears(&d, "\"servers\":[{\"name\":\"a\",\"state\":\"needs-approval\""));
	CHECK(said(&d, "\"health\":{")); /* why, and what to type */
	CHECK(!said(&d, "\"name\":\"b\""));
}

/* A peer that does not read gets the differences when it has read. */
HEAVY_TEST(a_stalled_peer_costs_nothing)
{
	DESK;

	CHECK(ask(&d, "mcpool/watch", "{}", "\"result\":{\"time\":"));
	mp_buf_clear(&d.said);
	d.queued = MP_MIB(1);
	CHECK(ask(&d, "mcpool/server/enable", "{\"name\":\"a\"}", "\"result\":{}"));
	mp_buf_clear(&d.said);
	for (int i = 0; i < 60; i++)
		mp_loop_turn(d.hub->loop, true);
	CHECK_EQ(d.said.len, 0);
	d.queued = 0;
	mp_control_flushed(d.c);
	CHECK(said(&d, "\"name\":\"a\",\"state\":\"needs-approval\"") ||
	      hears(&d, "\"name\":\"a\",\"state\":\"needs-approval\""));
}

HEAVY_TEST(a_history_is_asked_for)
{
	DESK;

	CHECK(ask(&d, "mcpool/history", "{\"server\":\"a\",\"hours\":1}",
		  "\"result\":{\"server\":\"a\",\"from\":"));
	CHECK(said(&d, "\"stepMs\":30000") && said(&d, "\"changes\":[]"));
	CHECK(ask(&d, "mcpool/history", "{}", "\"result\":{\"from\":"));
	CHECK(said(&d, "\"stepMs\":300000"));
	CHECK(ask(&d, "mcpool/history", "{\"hours\":0}", "`hours` must be 1 to 24"));
	CHECK(ask(&d, "mcpool/history", "{\"hours\":25}", "`hours` must be 1 to 24"));
	CHECK(ask(&d, "mcpool/history", "{\"server\":5}", "`server` must be"));
	CHECK(ask(&d, "mcpool/history", "{\"server\":\"nosuch\"}", "\"calls\":["));
}
