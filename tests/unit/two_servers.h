/*
 * two_servers.h - a fleet of two servers, a sessions and agents that list and call; for the tests
 * of sessions.
 */
#ifndef TEST_TWO_SERVERS_H
#define TEST_TWO_SERVERS_H

#include <stdio.h>

#include "agent.h"
#include "test.h"

/* One agent is there; a second one may come. */
struct two_servers {
	struct fleet f;
	struct mp_sessions *sessions;
	struct agent a, b;
};

static void two_servers_done(struct two_servers *s)
{
	agent_done(&s->a);
	agent_done(&s->b);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

static bool two_servers_open(struct two_servers *s, const char *json, unsigned traits)
{
	REQUIRE(fleet_open(&s->f, json));
	s->sessions = agent_sessions(&s->f);
	REQUIRE(agent_open(&s->a, &s->f, s->sessions, traits, NULL));
	return true;
}

#define TWO_SERVERS(s)                                           \
	MP_CLEANUP(two_servers_done) struct two_servers s = {0}; \
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
