/*
 * dispatch.c - receives an agent's messages; a table selects the file that answers each method.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/call_log.h"
#include "rpc/recover_id.h"
#include "session/agent_requests.h"
#include "session/clients.h"
#include "session/failed_call.h"
#include "session/forward.h"
#include "session/listing.h"
#include "session/opening.h"
#include "session/request.h"
#include "session/scope.h"
#include "session/session.h"
#include "session/sessions.h"
#include "session/subscriptions.h"
#include "session/tasks.h"
#include "session/trace.h"

/* --- requests -------------------------------------------------------------------------------- */

static void answer_empty(struct mp_request *e, const struct mp_message *m)
{
	(void)m;
	mp_request_result(e, MP_STR("{}"));
}

typedef void (*handler)(struct mp_request *e, const struct mp_message *m);
static const handler handlers[MP_METHODS] = {
	[MP_METHOD_INITIALIZE] = mp_session_answer_initialize,
	[MP_METHOD_PING] = answer_empty,
	[MP_METHOD_DISCOVER] = mp_session_answer_discover,
	[MP_METHOD_TOOLS_LIST] = mp_session_answer_list,
	[MP_METHOD_PROMPTS_LIST] = mp_session_answer_list,
	[MP_METHOD_RESOURCES_LIST] = mp_session_answer_list,
	[MP_METHOD_TEMPLATES_LIST] = mp_session_answer_list,
	[MP_METHOD_TOOLS_CALL] = mp_session_forward,
	[MP_METHOD_PROMPTS_GET] = mp_session_forward,
	[MP_METHOD_RESOURCES_READ] = mp_session_forward,
	[MP_METHOD_COMPLETE] = mp_session_forward,
	[MP_METHOD_RESOURCES_SUBSCRIBE] = mp_session_answer_subscribe,
	[MP_METHOD_RESOURCES_UNSUBSCRIBE] = mp_session_answer_subscribe,
	[MP_METHOD_LISTEN] = mp_session_answer_listen,
	[MP_METHOD_SET_LEVEL] = mp_session_answer_level,
	[MP_METHOD_TASKS_GET] = mp_session_answer_task,
	[MP_METHOD_TASKS_RESULT] = mp_session_answer_task,
	[MP_METHOD_TASKS_LIST] = mp_session_answer_task,
	[MP_METHOD_TASKS_UPDATE] = mp_session_answer_task,
	[MP_METHOD_TASKS_CANCEL] = mp_session_answer_task,
};

static void session_dispatch(struct mp_request *e, const struct mp_message *m)
{
	const struct mp_method *method = mp_method_get(m->method);
	struct mp_str name = mp_value_source(m->tape, m->method_name); /* with its quotes */

	if (!handlers[m->method] || !(method->eras & e->era))
		mp_request_refuse(e, -32601, 404, "Method not found: %.*s", (int)name.len - 2,
				  name.p + 1);
	else
		handlers[m->method](e, m);
}

void mp_session_look_again(struct mp_request *e)
{
	struct mp_sessions *l = e->session->sessions;
	struct mp_message m;
	struct mcpool_error why;

	if (mp_message_scan(&l->tape, mp_str_of(e->waiting), &m, &why) < 0)
		mp_request_fail(e, &why, NULL); /* no memory for the tape */
	else
		session_dispatch(e, &m);
}

/* Two requests with one id are ambiguous on one stream. Otherwise each has its own stream (V22). */
static bool is_twice(struct mp_session *s, const struct mp_message *m)
{
	return (s->traits & MP_SESSION_ONE_STREAM) && mp_map_has(&s->by_id, m->id);
}

static int index_request(struct mp_request *e)
{
	int r;

	if (!(e->session->traits & MP_SESSION_ONE_STREAM))
		return 0;
	r = mp_map_set(&e->session->by_id, mp_str_of(e->their_id), e);
	e->is_indexed = r == 0;
	return r;
}

/*
 * A bridge stops sending when the hub announces its stop. Requests sent before that are served,
 * because a refusal would fail a call without a reason visible to the agent.
 */
static bool is_told_to_leave(const struct mp_session *s)
{
	return strcmp(s->way, "stdio") == 0;
}

static void take_request(struct mp_session *s, const struct mp_message *m, mp_id stream,
			 struct mp_batch *batch)
{
	bool is_second = is_twice(s, m);
	struct mp_request *e = mp_request_new(s, m, stream);
	int r;

	s->received++;
	e->batch = batch;
	mp_request_keep_trace(e, &s->sessions->trace);
	if (is_second) {
		mp_request_refuse(e, -32600, 400, "a request with the id %s is being answered",
				  e->their_id);
		return;
	}
	r = index_request(e);
	if (batch && e->era == MP_ERA_MODERN) /* nor would change streams in a batch ever end */
		mp_request_refuse(e, -32600, 400, "batches are not part of " MP_MODERN_VERSION);
	else if (r < 0)
		mp_request_give_up(e, r);
	else if (s->sessions->is_draining && !is_told_to_leave(s))
		mp_request_fail(e,
				&(struct mcpool_error){MCPOOL_EUNAVAILABLE, 1005, 0,
						       MCPOOL_FAULT_CLOSED,
						       "MCP error: mcpool is stopping"},
				NULL);
	else if (e->era == MP_ERA_LEGACY && (s->traits & MP_SESSION_STATELESS))
		mp_request_refuse(e, -32602, 400,
				  "_meta lacks io.modelcontextprotocol/protocolVersion");
	else if (e->era == MP_ERA_LEGACY || mp_session_read_modern(e, m))
		session_dispatch(e, m);
}

/* --- notifications --------------------------------------------------------------------------- */

static struct mp_request *find_request(struct mp_session *s, struct mp_str id)
{
	if (s->traits & MP_SESSION_ONE_STREAM)
		return mp_map_get(&s->by_id, id);
	MP_LIST_EACH(&s->requests, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (mp_str_eq(mp_str_of(e->their_id), id))
			return e;
	}
	return NULL;
}

/*
 * No answer follows. A request with its own stream ends that stream. Without a session the request
 * cannot be attributed, and a client cancels by closing its stream (V24).
 */
static void dispatch_cancel(struct mp_session *s, const struct mp_message *m)
{
	mp_value id = mp_value_get(m->tape, m->params, "requestId");
	struct mp_request *e = find_request(s, mp_value_source(m->tape, id));
	struct mp_delivery end = {.is_last = true};

	if (!e || e->method == MP_METHOD_INITIALIZE || (s->traits & MP_SESSION_STATELESS))
		return; /* already answered, or another session's */
	end.stream = e->stream;
	if (mp_batch_leave(MP_TAKE(e->batch)))
		s->hooks->deliver(s->u, &end);
	mp_request_advance(e, MP_REQUEST_ON_DROP);
}

static void take_notification(struct mp_session *s, const struct mp_message *m)
{
	switch (m->method) {
	case MP_METHOD_INITIALIZED:
		s->is_open = true;
		break;
	case MP_METHOD_CANCELLED:
		dispatch_cancel(s, m);
		break;
	case MP_METHOD_ROOTS_CHANGED:
		mp_pool_client_tell_roots_changed(s->workspace, s->id);
		break;
	default:
		break; /* ignored */
	}
}

/* --- receiving ------------------------------------------------------------------------------- */

static void dispatch_take(struct mp_session *s, const struct mp_message *m, mp_id stream,
			  struct mp_batch *batch)
{
	switch (m->kind) {
	case MP_MESSAGE_REQUEST:
		take_request(s, m, stream, batch);
		break;
	case MP_MESSAGE_NOTIFICATION:
		take_notification(s, m);
		break;
	case MP_MESSAGE_RESULT:
	case MP_MESSAGE_ERROR:
		mp_session_take_reply(s, m);
		break;
	case MP_MESSAGE_BATCH:
		break;
	}
}

/* An unreadable message gets an error response and nothing else. */
static void answer_with_data(struct mp_session *s, struct mp_str id, const struct mcpool_error *why,
			     struct mp_str data, struct mp_delivery d)
{
	struct mp_buf *out = &s->sessions->out;

	mp_buf_clear(out);
	if (mp_message_error(out, id, why->rpc_code, mp_str_of(why->message), data) < 0)
		return;
	d.text = mp_buf_get(out);
	s->hooks->deliver(s->u, &d);
}

static void answer_unreadable(struct mp_session *s, struct mp_str id,
			      const struct mcpool_error *why, mp_id stream, bool is_last)
{
	struct mp_delivery d = {stream, {0}, is_last, 400};

	answer_with_data(s, id, why, MP_STR(""), d);
}

enum { MAX_BATCH = 100 };

/* Parses one message of a batch; false: it is invalid. */
static bool scan_one(struct mp_session *s, const struct mp_message *m, mp_value v,
		     struct mp_message *ret, struct mcpool_error *why)
{
	return mp_message_scan(&s->sessions->batch_tape, mp_value_source(m->tape, v), ret, why) ==
		       0 &&
	       ret->kind != MP_MESSAGE_BATCH;
}

static size_t take_batch(struct mp_session *s, const struct mp_message *m, mp_id stream)
{
	struct mcpool_error why = {
		MCPOOL_EPROTO, -32600, 0, 0,
		"a batch has one to 100 messages, all of an era before 2025-06-18"};
	size_t len = mp_value_count(m->tape, MP_ROOT), n = 0;
	struct mp_delivery end = {.stream = stream, .is_last = true};
	struct mp_batch *batch;

	if (len == 0 || len > MAX_BATCH || (s->traits & MP_SESSION_STATELESS)) {
		answer_unreadable(s, MP_STR(""), &why, stream, true);
		return 1;
	}
	batch = mp_alloc(sizeof(*batch));
	batch->open = 1; /* our own count, until all are dispatched */
	MP_VALUE_EACH(m->tape, MP_ROOT, v) {
		struct mp_message one;

		if (!scan_one(s, m, v, &one, &why)) {
			answer_unreadable(s, one.id, &why, stream, false);
			n++;
			continue;
		}
		n += one.kind == MP_MESSAGE_REQUEST;
		batch->open += one.kind == MP_MESSAGE_REQUEST;
		dispatch_take(s, &one, stream, batch);
	}
	if (mp_batch_leave(batch) && n > 0) /* all were answered immediately */
		s->hooks->deliver(s->u, &end);
	return n;
}

void mp_session_note_trace(struct mp_session *s, const struct mp_trace_texts *headers)
{
	s->sessions->trace = *headers;
}

static size_t dispatch_message(struct mp_session *s, const struct mp_message *m, mp_id stream)
{
	s->last_ms = mp_loop_wall_now_ms(s->sessions->loop);
	if (m->kind == MP_MESSAGE_BATCH)
		return take_batch(s, m, stream);
	dispatch_take(s, m, stream, NULL);
	return m->kind == MP_MESSAGE_REQUEST;
}

size_t mp_session_receive(struct mp_session *s, const struct mp_message *m, mp_id stream)
{
	struct mp_sessions *sessions = s->sessions;
	size_t n = dispatch_message(s, m, stream);

	sessions->trace = (struct mp_trace_texts){.parent = {NULL, 0}};
	return n;
}

size_t mp_session_receive_text(struct mp_session *s, struct mp_str text, mp_id stream)
{
	MP_UNSET struct mcpool_error why;
	struct mp_message m;

	if (mp_message_scan(&s->sessions->tape, text, &m, &why) == 0)
		return mp_session_receive(s, &m, stream);
	s->sessions->trace = (struct mp_trace_texts){.parent = {NULL, 0}};
	answer_unreadable(s, m.id, &why, stream, true);
	return 1;
}

size_t mp_session_receive_oversize(struct mp_session *s, struct mp_str head, struct mp_str tail,
				   mp_id stream)
{
	struct mcpool_error why = {MCPOOL_ETOO_LARGE, 1010, 0, MCPOOL_FAULT_CLOSED,
				   "MCP error: the message is larger than 32 MiB"};
	struct mp_failed_call f = {
		.why = &why,
		.outcome = MP_OUTCOME_REFUSED,
		.next_step = "send less at once",
	};
	struct mp_delivery d = {stream, {0}, true, 400};
	struct mp_buf *data = &s->sessions->scratch;

	if (mp_request_write_data(data, &f) < 0)
		mp_buf_clear(data);
	answer_with_data(s, mp_recover_id(head, tail), &why, mp_buf_get(data), d);
	return 1;
}

void mp_session_leave_stream(struct mp_session *s, mp_id stream)
{
	MP_LIST_WALK(&s->requests, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (e->stream == stream)
			mp_request_advance(e, MP_REQUEST_ON_DROP);
	}
}

/* --- life ------------------------------------------------------------------------------------ */

static bool is_stdio(const char *way)
{
	return strcmp(way, "stdio") == 0;
}

/* Each way in has its own limit, so that HTTP sessions cannot exclude stdio agents (attack-S9). */
static int check_room(const struct mp_sessions *sessions, const char *way,
		      struct mcpool_error *reterr)
{
	bool stdio = is_stdio(way);
	size_t n = stdio ? sessions->stdio_sessions : sessions->list.len - sessions->stdio_sessions;

	if (n >= MP_LIMIT_SESSIONS_SHARE)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are %zu %s sessions already", n,
			       stdio ? "stdio" : "HTTP");
	if (sessions->list.len >= MP_LIMIT_SESSIONS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are %zu sessions already",
			       sessions->list.len);
	return 0;
}

int mp_session_new(struct mp_sessions *sessions, const struct mp_session_options *o,
		   const struct mp_session_hooks *hooks, void *u, struct mp_session **ret_session,
		   struct mcpool_error *reterr)
{
	struct mp_session *s;
	int r = check_room(sessions, o->way, reterr);

	if (r < 0)
		return r;
	if (sessions->is_draining)
		return mp_fail(reterr, MCPOOL_EAGAIN, "mcpool is stopping");
	if (sessions->o.on_session)
		sessions->o.on_session(sessions->o.u);
	s = mp_alloc(sizeof(*s));
	s->sessions = sessions;
	s->workspace = o->workspace;
	s->way = o->way;
	s->traits = o->traits;
	s->pid = o->pid;
	s->client_pid = o->client_pid;
	s->principal = mp_dup(o->principal);
	s->hooks = hooks;
	s->u = u;
	s->habit = mp_client_find_habit(MP_STR(""));
	s->since_ms = s->last_ms = mp_loop_wall_now_ms(sessions->loop);
	mp_list_init(&s->requests);
	mp_list_init(&s->agent_requests);
	mp_list_init(&s->subscriptions);
	mp_list_init(&s->tasks);
	mp_map_init(&s->by_id, MP_LIMIT_OPEN_REQUESTS);
	s->id = mp_pool_client_join(sessions->o.pool, &mp_session_pool_client_hooks, s);
	s->call_client = mp_call_client_new();
	mp_session_name_client(s);
	if (o->parent)
		mp_pool_client_borrow(sessions->o.pool, s->id, o->parent);
	s->scope = mp_scope_get(sessions, s->workspace, &o->narrowing, s->id);
	mp_list_append(&s->scope->users, &s->scope_link);
	mp_list_append(&sessions->list, &s->link);
	sessions->stdio_sessions += is_stdio(s->way);
	*ret_session = s;
	return 0;
}

static void drop_all(struct mp_session *s)
{
	MP_LIST_WALK(&s->requests, link)
		mp_request_advance(mp_container_of(link, struct mp_request, link),
				   MP_REQUEST_ON_DROP);
	MP_LIST_WALK(&s->sessions->parked, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (e->session == s)
			mp_request_advance(e, MP_REQUEST_ON_DROP);
	}
}

struct mp_session *mp_session_free(struct mp_session *s)
{
	if (!s)
		return NULL;
	drop_all(s);
	mp_session_drop_agent_requests(&s->agent_requests, s->sessions->o.pool);
	mp_session_drop_subscriptions(s);
	mp_session_drop_tasks(s);
	mp_pool_client_leave(s->sessions->o.pool, s->id);
	mp_call_client_unref(s->call_client);
	mp_list_remove(&s->scope->users, &s->scope_link);
	mp_scope_unref(s->scope);
	mp_list_remove(&s->sessions->list, &s->link);
	s->sessions->stdio_sessions -= is_stdio(s->way);
	mp_map_done(&s->by_id);
	mp_free(s->principal);
	mp_free(s->capabilities);
	mp_free(s->client);
	mp_free(s->client_version);
	return mp_free(s);
}

void mp_session_get_info(const struct mp_session *s, struct mp_session_info *ret)
{
	*ret = (struct mp_session_info){
		.id = s->id,
		.home = mp_pool_client_get_home(s->sessions->o.pool, s->id),
		.way = s->way,
		.principal = s->principal,
		.pid = s->pid,
		.client = s->client ? s->client : "",
		.client_version = s->client_version ? s->client_version : "",
		.protocol = s->protocol,
		.root = mp_workspace_get_set(s->workspace)->root,
		.since_ms = s->since_ms,
		.last_ms = s->last_ms,
		.open = s->requests.len,
		.received = s->received,
		.answered = s->answered,
		.servers = s->scope->n_servers,
		.calls = s->call_client->calls,
		.calls_last_minute = mp_call_client_count_minute(s->call_client,
								 mp_loop_now_ms(s->sessions->loop)),
	};
}

/* --- all sessions ---------------------------------------------------------------------------- */

void mp_sessions_walk(struct mp_sessions *l, void (*fn)(void *u, const struct mp_session_info *s),
		      void *u)
{
	MP_LIST_EACH(&l->list, link) {
		struct mp_session_info info;

		mp_session_get_info(mp_container_of(link, struct mp_session, link), &info);
		fn(u, &info);
	}
}

struct mp_workspace *mp_sessions_get_workspace(const struct mp_sessions *l, mp_id session)
{
	MP_LIST_EACH(&l->list, link) {
		const struct mp_session *s = mp_container_of(link, struct mp_session, link);

		if (s->id == session)
			return s->workspace;
	}
	return NULL;
}

bool mp_sessions_has(const struct mp_sessions *l, mp_id session, const char *principal)
{
	MP_LIST_EACH(&l->list, link) {
		const struct mp_session *s = mp_container_of(link, struct mp_session, link);

		if (s->id == session)
			return strcmp(s->principal, principal) == 0;
	}
	return false;
}

mp_id mp_sessions_find_by_client(const struct mp_sessions *l, int client_pid, int but_pid)
{
	MP_LIST_EACH(&l->list, link) {
		const struct mp_session *s = mp_container_of(link, struct mp_session, link);

		if (client_pid > 0 && s->client_pid == client_pid && s->pid != but_pid)
			return s->id;
	}
	return 0;
}

/* Change streams end with a result. Other requests get their answers. */
static void end_listeners(struct mp_session *s)
{
	MP_LIST_WALK(&s->requests, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (e->state == MP_REQUEST_LISTENING)
			mp_session_end_listening(e);
	}
}

/* A parked request cannot be resumed: the retry would be refused. */
static void drop_parked(struct mp_sessions *l)
{
	struct mp_link *link;

	while ((link = mp_list_first(&l->parked)))
		mp_request_advance(mp_container_of(link, struct mp_request, link),
				   MP_REQUEST_ON_DROP);
}

void mp_sessions_drain(struct mp_sessions *l, void (*fn)(void *u), void *u)
{
	l->is_draining = true;
	l->drained = fn;
	l->drained_u = u;
	MP_LIST_WALK(&l->list, link)
		end_listeners(mp_container_of(link, struct mp_session, link));
	drop_parked(l);
	mp_sessions_look_if_drained(l);
}
