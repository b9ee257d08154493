/*
 * stage.h - a server and two sessions, a and b, that note what they are asked and what they hear.
 */
#ifndef TEST_STAGE_H
#define TEST_STAGE_H

#include "test.h"

#include "fleet.h"

#include <stdio.h>

#include "pool/pool_client.h"
#include "heap_pool_call.h"

#define SERVER(mode) \
	"{\"mcpServers\":{\"a\":{\"command\":\"a\",\"start\":\"lazy\",\"mode\":\"" mode "\"}}}"
#define FULL                                                                              \
	"{\"tools\":{},\"logging\":{},\"resources\":{\"subscribe\":true,\"listChanged\":" \
	"true}}"
#define NOTE(method, params) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" method "\",\"params\":" params "}"
#define QUESTION(id, method, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":\"" id "\",\"method\":\"" method "\",\"params\":" params "}"

#define SAID_LOG     NOTE("message", "{\"level\":\"error\",\"data\":\"x\"}")
#define SAID_SAMPLE  QUESTION("q1", "sampling/createMessage", "{}")
#define SAID_ELICIT  QUESTION("q2", "elicitation/create", "{\"elicitationId\":\"e\\u0031\"}")
#define SAID_ROOTS   QUESTION("q3", "roots/list", "{}")
#define SAID_UPDATED NOTE("resources/updated", "{\"uri\":\"f:\\u002f\"}")

struct voice {
	mp_id session;
	struct stage *stage;
	int asked, unasked, heard;
	mp_id question, call;
	enum mp_method_id method, heard_method;
	mp_id heard_call;
	char text[300]; /* params of the last of either */
	bool answers;   /* at once */
};

struct stage {
	struct fleet f;
	struct fleet_server *server;
	struct voice a, b;
	struct fleet_result ra, rb;
};

static inline void stage_asked(void *u, const struct mp_pool_server_request *rq)
{
	struct voice *v = u;

	v->asked++;
	v->question = rq->id;
	v->call = heap_pool_call_get_id(rq->call);
	v->method = rq->method;
	snprintf(v->text, sizeof(v->text), "%s %.*s", rq->server, MP_STR_ARGS(rq->params));
	if (v->answers)
		mp_pool_client_reply(v->stage->f.pool, rq->id, MP_STR("{\"roots\":[]}"));
}

static inline void stage_unasked(void *u, mp_id question)
{
	struct voice *v = u;

	v->unasked += question == v->question;
}

static inline void stage_heard(void *u, const char *server, struct mp_pool_call *call,
			       const struct mp_message *m)
{
	struct voice *v = u;

	v->heard++;
	v->heard_method = m->method;
	v->heard_call = heap_pool_call_get_id(call);
	snprintf(v->text, sizeof(v->text), "%s %.*s", server,
		 MP_STR_ARGS(mp_value_source(m->tape, m->params)));
}

static inline void stage_join(struct stage *s, struct voice *v)
{
	static const struct mp_pool_client_hooks hooks = {stage_asked, stage_unasked, stage_heard};

	*v = (struct voice){.stage = s};
	v->session = mp_pool_client_join(s->f.pool, &hooks, v);
}

static inline bool stage_open(struct stage *s, const char *json)
{
	REQUIRE(fleet_init(&s->f));
	s->server = fleet_get(&s->f, "a");
	s->server->capabilities = FULL;
	s->server->holds_calls = true;
	REQUIRE(fleet_open(&s->f, json));
	stage_join(s, &s->a);
	stage_join(s, &s->b);
	return true;
}

static inline void stage_done(struct stage *s)
{
	fleet_done(&s->f);
}

static inline void stage_note(const struct mp_pool_answer *answer, void *u)
{
	struct fleet_result *r = u;

	r->answers++;
	r->outcome = answer->outcome;
	if (answer->error)
		snprintf(r->text, sizeof(r->text), "%s", answer->error->message);
}

static inline bool stage_call(struct stage *s, struct voice *v, struct fleet_result *ret)
{
	struct mp_pool_call_options rq = {
		.server = "a",
		.session = v->session,
		.call.method = MP_METHOD_TOOLS_CALL,
		.call.params = MP_STR("{\"name\":\"t\"}"),
		.tool = MP_STR("t"),
		.call.capabilities = MP_STR("{\"elicitation\":{}}"),
		.call.log_level = "info",
	};

	*ret = (struct fleet_result){.fleet = &s->f};
	REQUIRE(heap_pool_call(s->f.workspace, &rq, stage_note, ret, &ret->call, NULL) == 0);
	fleet_settle(&s->f);
	return true;
}

#endif
