/*
 * agent_requests.c - forwards server requests to the agent they are attributed to, and its answers
 * to the server.
 * A legacy agent gets the request on the stream of its call. A modern agent gets "input required"
 * and sends the answers with its retry (input_required.c).
 */
#include "session/agent_requests.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "session/subscriptions.h"

/* --- capabilities ---------------------------------------------------------------------------- */

static unsigned get_need(const struct mp_pool_server_request *rq, const struct mp_tape *t)
{
	bool is_url = mp_value_text_is(t, mp_value_get(t, MP_ROOT, "mode"), MP_STR("url"));

	switch (rq->method) {
	case MP_METHOD_ELICIT:
		return is_url ? MP_CAN_ELICIT_URL : MP_CAN_ELICIT;
	case MP_METHOD_SAMPLE:
		return MP_CAN_SAMPLE;
	case MP_METHOD_ROOTS_LIST:
		return MP_CAN_LIST_ROOTS;
	default:
		return ~0u;
	}
}

/* --- the request as the agent gets it -------------------------------------------------------- */

static void write_message(struct mp_writer *w, const struct mp_tape *t, mp_value v,
			  const char *server)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str said;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_value_text(t, v, &arena, &said) < 0 || mp_buf_addf(&text, "[%s] ", server) < 0 ||
	    mp_buf_add_str(&text, said) < 0)
		mp_write_raw(w, mp_value_source(t, v));
	else
		mp_write_text(w, mp_buf_get(&text));
}

/*
 * The agent must know which server asks. The server's name is in _meta and before the message,
 * except where public names are the servers' own.
 */
static int write_params(const struct mp_pool_server_request *rq, const struct mp_tape *t,
			bool says_server, bool has_meta, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(t, MP_ROOT, key) {
		if (mp_value_text_is(t, key, MP_STR("_meta")))
			continue;
		mp_write_raw_key(&w, mp_value_source(t, key));
		if (says_server && rq->method == MP_METHOD_ELICIT &&
		    mp_value_text_is(t, key, MP_STR("message")))
			write_message(&w, t, mp_value_of(key), rq->server);
		else
			mp_write_raw(&w, mp_value_source(t, mp_value_of(key)));
	}
	if (has_meta) {
		mp_write_key(&w, MP_STR("_meta"));
		mp_write_begin_object(&w);
		mp_write_member_text(&w, "mcpool/server", mp_str_of(rq->server));
		mp_write_end_object(&w);
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* --- agent requests -------------------------------------------------------------------------- */

static struct mp_agent_request *agent_request_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_agent_request, link);
}

/* NULL: no memory. */
static struct mp_agent_request *agent_request_new(struct mp_session *s,
						  const struct mp_pool_server_request *rq,
						  struct mp_str params)
{
	struct mp_agent_request *q = mp_alloc(sizeof(*q));

	if (mp_session_keep_message(&q->params, params) < 0)
		return mp_free(q);
	q->pool_id = rq->id;
	q->number = ++s->last_agent_request;
	q->method = rq->method;
	return q;
}

void mp_agent_request_drop(struct mp_list *list, struct mp_agent_request *q)
{
	mp_list_remove(list, &q->link);
	mp_free(q->params);
	mp_free(q);
}

void mp_session_drop_agent_requests(struct mp_list *list, struct mp_pool *pool)
{
	struct mp_link *link;

	while ((link = mp_list_first(list))) {
		mp_id question = agent_request_of(link)->pool_id;

		mp_agent_request_drop(list, agent_request_of(link));
		mp_pool_client_decline(pool, question, -1, MP_STR("no client is there to answer"));
	}
}

/* --- sending --------------------------------------------------------------------------------- */

static void put_to_agent(struct mp_session *s, struct mp_request *e, struct mp_agent_request *q)
{
	struct mp_buf *out = &s->sessions->out;
	char room[MP_STR_DIGITS];
	struct mp_splice splice = {
		.id = mp_str_from_u64(s->sessions->first_agent_request + q->number, room),
	};
	mp_id question = q->pool_id;

	mp_buf_clear(out);
	q->stream = e ? e->stream : 0;
	mp_list_append(&s->agent_requests, &q->link);
	if (mp_message_request(out, q->method, mp_str_of(q->params), &splice) == 0) {
		q->params = mp_free(q->params);
		mp_session_send(s, q->stream, mp_buf_get(out));
		return;
	}
	mp_agent_request_drop(&s->agent_requests, q);
	mp_pool_client_decline(s->sessions->o.pool, question, -32603, MP_STR("no memory"));
}

/* Whose agent cannot be asked: a person who looks at the dashboard can, if the user allows it. */
static bool ask_page(struct mp_session *s, const struct mp_pool_server_request *rq,
		     const struct mp_tape *t)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	const struct mp_settings *settings = &mp_workspace_get_set(s->workspace)->settings;
	const struct mp_page_answerer *pages = &s->sessions->pages;
	struct mp_pool_server_request shown = *rq;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (!pages->ask || !settings->dashboard.answers || rq->method != MP_METHOD_ELICIT ||
	    write_params(rq, t, true, true, &params) < 0)
		return false;
	shown.params = mp_buf_get(&params);
	return pages->ask(pages->u, &shown);
}

static void ask_one(struct mp_session *s, struct mp_request *e,
		    const struct mp_pool_server_request *rq, const struct mp_tape *t)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_agent_request *q = NULL;
	bool is_modern = e && e->era == MP_ERA_MODERN;
	unsigned can = is_modern ? e->can : s->can;
	bool says_server =
		mp_workspace_get_set(s->workspace)->settings.naming != (int)MP_NAMING_PASSTHROUGH;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (!(can & get_need(rq, t)) || get_need(rq, t) == ~0u) {
		if (ask_page(s, rq, t))
			return;
		mp_pool_client_decline(s->sessions->o.pool, rq->id, -32601,
				       MP_STR("the agent that called does not do that"));
		return;
	}
	if (is_modern && s->sessions->is_draining) { /* nor could the agent retry with an answer */
		mp_pool_client_decline(s->sessions->o.pool, rq->id, -1,
				       MP_STR("mcpool is stopping"));
		return;
	}
	if (write_params(rq, t, says_server, !is_modern, &params) == 0)
		q = agent_request_new(s, rq, mp_buf_get(&params));
	if (!q)
		mp_pool_client_decline(s->sessions->o.pool, rq->id, -32603, MP_STR("no memory"));
	else if (is_modern)
		mp_request_park(e, q);
	else
		put_to_agent(s, e, q);
}

static void agent_requests_ask(void *u, const struct mp_pool_server_request *rq)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_session *s = u;
	struct mp_request *e = mp_request_of_call(s, rq->call);
	struct mp_str params = rq->params.len ? rq->params : MP_STR("{}");

	mp_tape_init(&t, 0);
	t.keep_depth = 1;
	/* A cancelled call has no agent to ask; nor has a stateless session without a call. */
	if ((rq->call && !e) || (!e && (s->traits & MP_SESSION_STATELESS)) ||
	    mp_tape_parse(&t, params, NULL) < 0)
		mp_pool_client_decline(s->sessions->o.pool, rq->id, -32601,
				       MP_STR("there is no client for it"));
	else
		ask_one(s, e, rq, &t);
}

/* --- withdrawing ----------------------------------------------------------------------------- */

static void tell_cancelled(struct mp_session *s, const struct mp_agent_request *q)
{
	struct mp_buf *out = &s->sessions->out;
	char params[100];

	snprintf(params, sizeof(params), "{\"requestId\":%llu,\"reason\":\"the call is over\"}",
		 (unsigned long long)(s->sessions->first_agent_request + q->number));
	mp_buf_clear(out);
	if (mp_message_notify(out, MP_METHOD_CANCELLED, mp_str_of(params)) == 0)
		mp_session_send(s, q->stream, mp_buf_get(out));
}

static bool agent_requests_forget(struct mp_list *list, mp_id question)
{
	MP_LIST_EACH(list, link)
		if (agent_request_of(link)->pool_id == question) {
			mp_agent_request_drop(list, agent_request_of(link));
			return true;
		}
	return false;
}

static void agent_requests_unask(void *u, mp_id question)
{
	struct mp_session *s = u;

	if (s->sessions->pages.ask)
		s->sessions->pages.withdraw(s->sessions->pages.u, question);
	MP_LIST_EACH(&s->agent_requests, link)
		if (agent_request_of(link)->pool_id == question) {
			tell_cancelled(s, agent_request_of(link));
			mp_agent_request_drop(&s->agent_requests, agent_request_of(link));
			return;
		}
	MP_LIST_EACH(&s->sessions->parked, parked)
		if (agent_requests_forget(
			    &mp_container_of(parked, struct mp_request, link)->agent_requests,
			    question))
			return;
}

/* --- answers --------------------------------------------------------------------------------- */

static void agent_requests_decline(struct mp_session *s, mp_id question, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	words = mp_error_read_words(m, &arena);
	mp_pool_client_decline(s->sessions->o.pool, question, (int)mp_error_read_code(m), words);
}

void mp_session_take_reply(struct mp_session *s, const struct mp_message *m)
{
	uint64_t number;

	if (mp_str_to_u64(m->id, &number) < 0)
		return;
	MP_LIST_EACH(&s->agent_requests, link) {
		struct mp_agent_request *q = agent_request_of(link);
		mp_id question = q->pool_id;

		if (s->sessions->first_agent_request + q->number != number)
			continue;
		mp_agent_request_drop(&s->agent_requests, q);
		if (m->kind == MP_MESSAGE_RESULT)
			mp_pool_client_reply(s->sessions->o.pool, question,
					     mp_value_source(m->tape, m->result));
		else
			agent_requests_decline(s, question, m);
		return;
	}
}

/* --- notifications --------------------------------------------------------------------------- */

/* A modern agent gets logs only during its request, and only if it asked for them. */
static bool wants_log(const struct mp_session *s, const struct mp_request *e)
{
	if (e)
		return e->era == MP_ERA_LEGACY || e->log_level;
	return !(s->traits & MP_SESSION_STATELESS) && s->is_open;
}

static void pass_on(struct mp_session *s, const struct mp_request *e, const struct mp_message *m)
{
	struct mp_buf *out = &s->sessions->out;
	struct mp_splice splice = {0};

	mp_buf_clear(out);
	if (mp_message_forward(m, &splice, out) == 0)
		mp_session_send(s, e ? e->stream : 0, mp_buf_get(out));
}

static void agent_requests_hear(void *u, const char *server, struct mp_pool_call *call,
				const struct mp_message *m)
{
	struct mp_session *s = u;
	struct mp_request *e = mp_request_of_call(s, call);

	if (call && (!e || e->state != MP_REQUEST_OUT))
		return; /* the call has no request now */
	switch (m->method) {
	case MP_METHOD_MESSAGE:
		if (wants_log(s, e))
			pass_on(s, e, m);
		break;
	case MP_METHOD_RESOURCE_UPDATED:
		mp_session_tell_updated(s, server, m);
		break;
	case MP_METHOD_ELICITED:
		if (!(s->traits & MP_SESSION_STATELESS) && s->is_open)
			pass_on(s, e, m);
		break;
	default:
		break;
	}
}

const struct mp_pool_client_hooks mp_session_pool_client_hooks = {
	agent_requests_ask, agent_requests_unask, agent_requests_hear};
