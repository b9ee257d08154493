/*
 * scene.h - a fleet of two servers, a sessions and agents that list and call; for the tests of
 * sessions.
 */
#ifndef TEST_SCENE_H
#define TEST_SCENE_H

#include <stdio.h>

#include "agent.h"
#include "test.h"

/* One agent is there; a second one may come. */
struct scene {
	struct fleet f;
	struct mp_sessions *sessions;
	struct agent a, b;
};

static void scene_done(struct scene *s)
{
	agent_done(&s->a);
	agent_done(&s->b);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

static bool scene_open(struct scene *s, const char *json, unsigned traits)
{
	REQUIRE(fleet_open(&s->f, json));
	s->sessions = agent_sessions(&s->f);
	REQUIRE(agent_open(&s->a, &s->f, s->sessions, traits, NULL));
	return true;
}

#define SCENE(s)                                     \
	MP_CLEANUP(scene_done) struct scene s = {0}; \
	CHECK(fleet_init(&s.f))

static const char two[] = "{\"mcpServers\":{\"files\":{\"command\":\"x\"},"
			  "\"git\":{\"command\":\"y\"}}}";

static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

static const char *call(const char *id, const char *tool)
{
	static char text[400];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"%s\",\"arguments\":{\"big\":12345678901234567890},\"_meta\":{\"progressToken\":"
		 "\"mine\",\"traceparent\":\"00-1\"}}}",
		 id, tool);
	return text;
}

#endif
