/*
 * control_stage.h - a control connection to a real hub with two servers that are switched off, and
 * what it says.
 */
#ifndef TEST_CONTROL_STAGE_H
#define TEST_CONTROL_STAGE_H

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
	int ready, stops;
	bool stays;
	size_t held; /* bytes that the peer has not read; 0: what was said */
};

static inline void is_ready(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	(void)error;
	d->ready++;
}

static inline void say(void *u, struct mp_str text)
{
	struct desk *d = u;

	if (mp_buf_add_str(&d->said, text) < 0 || mp_buf_add_char(&d->said, '\n') < 0)
		mp_buf_clear(&d->said);
}

static inline bool stop(void *u, bool drain, bool replace)
{
	struct desk *d = u;

	d->stops += 1 + 10 * drain + 100 * replace;
	return !d->stays;
}

static const struct mp_hub_hooks hub_hooks = {.ready = is_ready};
/* A peer reads what was said when a test clears it. */
static inline size_t get_queued(void *u)
{
	struct desk *d = u;

	return d->held ? d->held : d->said.len;
}

static const struct mp_control_hooks hooks = {.say = say, .stop = stop, .get_queued = get_queued};

static inline void tidy(struct desk *d)
{
	mp_control_free(d->c);
	mp_hub_free(d->hub);
	mp_buf_done(&d->said);
	mp_log_set_level(MP_LEVEL_INF);
}

static inline bool open_desk(struct desk *d)
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

static inline bool said(struct desk *d, const char *part)
{
	return mp_str_find(mp_buf_get(&d->said), mp_str_of(part), 0) >= 0;
}

static inline bool ask(struct desk *d, const char *method, const char *params, const char *answer)
{
	char text[500];

	mp_buf_clear(&d->said);
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"%s\"%s%s}", method,
		 params[0] ? ",\"params\":" : "", params);
	mp_control_receive(d->c, mp_str_of(text));
	if (said(d, answer))
		return true;
	fprintf(stderr, "%s %s: %.*s\n", method, params, MP_STR_ARGS(mp_buf_get(&d->said)));
	return false;
}

#endif
