/*
 * agent.c - an agent at a session over a fleet.
 */
#include "agent.h"

#include <stdlib.h>

#include "base/mem.h"
#include "test.h"

const struct mp_identity agent_hub = {
	.name = "mcpool",
	.title = "mcpool",
	.version = "1",
	.capabilities = {"{}", 2},
};

static void deliver(void *u, const struct mp_delivery *d)
{
	struct agent *a = u;

	if (a->n < AGENT_HEARD)
		a->heard[a->n] = (struct agent_heard){
			.text = strndup(d->text.p ? d->text.p : "", d->text.len),
			.stream = d->stream,
			.is_last = d->is_last,
			.status = d->status,
		};
	a->n++;
	a->answers += d->is_last;
}

static const struct mp_session_hooks hooks = {deliver};

struct mp_sessions *agent_sessions(struct fleet *f)
{
	struct mp_sessions_options o = {
		.pool = f->pool, .board = &f->board, .me = &agent_hub, .db = f->db};

	return mp_sessions_new(&o);
}

bool agent_open(struct agent *a, struct fleet *f, struct mp_sessions *sessions, unsigned traits,
		const struct mp_narrowing *narrowing)
{
	struct mp_session_options o = {
		.workspace = f->workspace,
		.principal = "uid:1",
		.way = "test",
		.traits = traits,
	};
	struct mcpool_error why;

	if (narrowing)
		o.narrowing = *narrowing;
	a->sessions = sessions;
	REQUIRE(mp_session_new(sessions, &o, &hooks, a, &a->session, &why) == 0);
	return true;
}

void agent_forget(struct agent *a)
{
	for (int i = 0; i < a->n && i < AGENT_HEARD; i++)
		free(a->heard[i].text);
	a->n = a->answers = 0;
}

void agent_done(struct agent *a)
{
	a->session = mp_session_free(a->session);
	agent_forget(a);
}

size_t agent_say(struct agent *a, struct fleet *f, const char *text, mp_id stream)
{
	size_t n = mp_session_receive_text(a->session, mp_str_of(text), stream);

	fleet_settle(f);
	return n;
}

bool agent_initialize(struct agent *a, struct fleet *f)
{
	REQUIRE(agent_say(a, f,
			  "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			  "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"sampling\":{},"
			  "\"roots\":{},\"elicitation\":{}},\"clientInfo\":{\"name\":\"test\","
			  "\"version\":\"1\"}}}",
			  0) == 1);
	REQUIRE(strstr(agent_last(a), "\"serverInfo\""));
	REQUIRE(agent_say(a, f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
			  0) == 0);
	agent_forget(a);
	return true;
}

const char *agent_last(const struct agent *a)
{
	return a->n > 0 && a->n <= AGENT_HEARD ? a->heard[a->n - 1].text : "";
}

bool agent_heard_text(const struct agent *a, const char *part)
{
	for (int i = 0; i < a->n && i < AGENT_HEARD; i++)
		if (strstr(a->heard[i].text, part))
			return true;
	return false;
}
