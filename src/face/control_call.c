/*
 * control_call.c - mcpool/call: one request to one server, its progress and its answer.
 */
#include "face/control_call.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "json/bind.h"
#include "pool/call_log.h"
#include "pool/pool_client.h"
#include "pool/pool_call.h"
#include "pool/status.h"
#include "rpc/server_request.h"
#include "config/values/filter.h"
#include "session/sessions.h"

enum { METHOD_NOT_FOUND = -32601, TAIL_LINES = 10 };

/* An open request. */
struct job {
	struct mp_link link;
	struct mp_control_calls *calls; /* NULL: the peer left before the call ended */
	struct mp_loop *loop;
	char *id; /* owned */
	struct mp_arena arena;
	struct mp_pool_call call;
	const char *server; /* in the arena */
	bool takes_forms;   /* the peer accepts elicitation forms during the call */
	bool takes_urls;    /* and addresses to open */
	struct mp_grave grave;
};

/* --- a job's life ---------------------------------------------------------------------------- */

static const struct mp_pool_call_hooks call_hooks;

static struct job *job_open(struct mp_control_calls *cs, struct mp_str id)
{
	struct job *j = mp_alloc(sizeof(*j));

	j->calls = cs;
	j->loop = cs->peer->hub->loop;
	j->id = mp_alloc(id.len + 1);
	memcpy(j->id, id.p, id.len);
	mp_arena_init(&j->arena, MP_LIMIT_ARENA);
	mp_pool_call_init(&j->call, j->loop, &call_hooks);
	mp_list_append(&cs->open, &j->link);
	cs->peer->open++;
	return j;
}

static void job_freed(struct mp_grave *grave)
{
	struct job *j = mp_container_of(grave, struct job, grave);

	mp_pool_call_done(&j->call);
	mp_arena_done(&j->arena);
	mp_free(j->id);
	mp_free(j);
}

/* Freed when its call has ended. */
static void job_close(struct job *j)
{
	struct mp_control_calls *cs = j->calls;

	mp_list_remove(&cs->open, &j->link);
	cs->peer->open--;
	mp_sessions_end_call(cs->peer->hub->sessions);
	j->calls = NULL;
	if (mp_pool_call_is_at_rest(&j->call))
		mp_loop_bury(j->loop, &j->grave, job_freed);
}

/* --- answers --------------------------------------------------------------------------------- */

/* The last stderr output of the server, now or before it failed. */
static const char *tail_take(const struct mp_control_peer *p, size_t at, const char *before,
			     struct mp_buf *out)
{
	if (mp_workspace_get_tail(p->workspace, at, p->session, TAIL_LINES, out) < 0)
		mp_buf_clear(out);
	return out->len && mp_buf_terminate(out) == 0 ? out->data : before;
}

static void status_write(struct mp_writer *w, const struct mp_control_peer *p, const char *server)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	ptrdiff_t at = mp_workspace_find(p->workspace, server);
	struct mp_status status;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&tail, 2 * MP_LIMIT_STDERR_RING);
	if (at < 0)
		return;
	mp_status_take(p->workspace, (size_t)at, p->session, &arena, &status);
	status.tail = tail_take(p, (size_t)at, status.tail, &tail);
	mp_write_key(w, MP_STR("status"));
	mp_status_write(w, &status, MP_STATUS_ALL);
}

static void error_write(struct mp_writer *w, const struct mcpool_error *e)
{
	mp_write_member_i64(w, "code", e->code);
	mp_write_member_i64(w, "rpcCode", e->rpc_code);
	mp_write_member_i64(w, "fault", e->fault);
	mp_write_member_text(w, "message", mp_str_of(e->message));
}

/* The fields are described at mp_pool_answer. */
static void failure_write(struct mp_writer *w, const struct mp_pool_answer *a)
{
	error_write(w, a->error);
	if (a->cause) {
		mp_write_key(w, MP_STR("cause"));
		mp_write_begin_object(w);
		error_write(w, a->cause);
		mp_write_end_object(w);
	}
	mp_write_member_bool(w, "wasUp", a->was_up);
	mp_write_member_bool(w, "wasOut", a->was_out);
	mp_write_member_i64(w, "attempt", a->attempt);
	mp_write_member_bool(w, "retryable", a->retryable);
	mp_write_member_i64(w, "nextAt", a->next_at_ms);
	mp_write_member_text(w, "stderr", a->tail);
}

static int answer_write(struct mp_buf *out, const struct job *j, const struct mp_pool_answer *a)
{
	const struct mp_message *m = a->message;
	bool is_result = m && m->kind != MP_MESSAGE_ERROR;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "outcome", mp_str_of(mp_outcome_get_name(a->outcome)));
	if (m)
		mp_write_member_raw(&w, is_result ? "result" : "error",
				    mp_value_source(m->tape, is_result ? m->result : m->error));
	else
		failure_write(&w, a);
	mp_write_member_i64(&w, "tookUs", a->took_us);
	if (!is_result)
		status_write(&w, j->calls->peer, a->server);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void control_call_answered(struct mp_pool_call *c, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct job *j = mp_container_of(c, struct job, call);
	int r;

	mp_buf_init(&result, j->calls ? j->calls->peer->max_result : 0);
	if (!j->calls) {
		job_freed(&j->grave);
		return;
	}
	r = answer_write(&result, j, a);
	mp_control_peer_answer(j->calls->peer, mp_str_of(j->id), &result, r);
	job_close(j);
}

static void progressed(struct mp_pool_call *c, const struct mp_message *m)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct job *j = mp_container_of(c, struct job, call);
	struct mp_splice splice = {0};

	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	if (!j->calls)
		return;
	splice.progress_token = mp_str_of(j->id);
	if (mp_message_forward(m, &splice, &out) == 0)
		j->calls->peer->say(j->calls->peer->u, mp_buf_get(&out));
}

static const struct mp_pool_call_hooks call_hooks = {.answered = control_call_answered,
						     .progress = progressed};

/* --- requests -------------------------------------------------------------------------------- */

struct call_params {
	const char *server, *method, *tool;
	int64_t timeout_ms;
	uint64_t present;
};

#define CALL(kind, key, field, ...) MP_BIND(struct call_params, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field call_fields[] = {
	CALL(TEXT, "server", server, .required = true),
	CALL(TEXT, "method", method, .required = true),
	CALL(TEXT, "tool", tool),
	CALL(I64, "timeoutMs", timeout_ms, .min = 0, .max = INT64_MAX / 1000000),
};
static const struct mp_bind_table call_table = {call_fields, MP_ARRAY_LEN(call_fields),
						offsetof(struct call_params, present)};

/* An empty object means forms, as in revisions without modes. */
static int job_read_capabilities(struct job *j, struct mp_str text, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value elicit;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, text, reterr);
	if (r == 0 && !mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		r = mp_fail(reterr, MCPOOL_ETYPE, "`capabilities` must be an object");
	if (r < 0)
		return r;
	elicit = mp_value_get(&t, MP_ROOT, "elicitation");
	j->takes_forms =
		mp_value_is(&t, elicit, MP_TAPE_OBJECT) &&
		(mp_value_count(&t, elicit) == 0 || mp_value_get(&t, elicit, "form") != MP_NONE);
	j->takes_urls = mp_value_get(&t, elicit, "url") != MP_NONE;
	return 0;
}

/* What agents may not see is hidden from the command line too (U20). */
static int call_check(const struct mp_control_peer *p, const struct call_params *call,
		      enum mp_method_id method, struct mcpool_error *reterr)
{
	ptrdiff_t at = mp_workspace_find(p->workspace, call->server);
	const struct mp_entry *e = at < 0 ? NULL : mp_workspace_get_entry(p->workspace, (size_t)at);

	if (method != MP_METHOD_TOOLS_CALL && method != MP_METHOD_RESOURCES_READ &&
	    method != MP_METHOD_PROMPTS_GET && method != MP_METHOD_TASKS_GET &&
	    method != MP_METHOD_TASKS_RESULT && method != MP_METHOD_TASKS_CANCEL)
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is not called in this way", call->method);
	if (!e)
		return mp_fail(reterr, MCPOOL_ENOENT, "Server \"%s\" not found", call->server);
	if (method == MP_METHOD_TOOLS_CALL && call->tool &&
	    !mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied, mp_str_of(call->tool)))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "the tool '%s' of server \"%s\" is not allowed", call->tool,
			       call->server);
	return 0;
}

/* Copy a text that the call borrows. */
static struct mp_str job_keep(struct job *j, const struct mp_tape *t, mp_value v)
{
	struct mp_str text = mp_value_source(t, v);

	return (struct mp_str){mp_arena_dup(&j->arena, text), text.len};
}

/* The tool, prompt, URI or task that the call is about; empty: none. */
static struct mp_str job_read_name(struct job *j, enum mp_method_id method, const struct mp_tape *t,
				   mp_value params)
{
	const char *key = mp_method_get(method)->subject;
	struct mp_str name;

	if (!key || mp_value_text(t, mp_value_get(t, params, key), &j->arena, &name) < 0)
		return MP_STR("");
	/* A text without escapes lies in the message, which the call outlives. */
	return (struct mp_str){mp_arena_dup(&j->arena, name), name.len};
}

/* What records of calls say of the command that made them. */
static void name_client(struct mp_control_peer *p)
{
	const char *root = mp_workspace_get_set(p->workspace)->root;
	char principal[32];

	snprintf(principal, sizeof(principal), "uid:%u", (unsigned)geteuid());
	mp_call_client_name(p->client, "mcpool", principal, root ? root : "");
}

static int job_start(struct job *j, const struct mp_tape *t, mp_value params,
		     struct mcpool_error *reterr)
{
	struct mp_control_peer *p = j->calls->peer;
	struct call_params call = {0};
	struct mp_pool_call_options o = {.session = p->session, .client = p->client};
	int r = mp_bind_read(&call_table, t, params, &j->arena, &call, NULL, NULL, reterr);

	if (r < 0)
		return r;
	o.call.method = mp_method_find(mp_str_of(call.method));
	r = call_check(p, &call, o.call.method, reterr);
	if (r < 0)
		return r;
	o.server = call.server;
	o.tool = call.tool ? mp_str_of(call.tool) : MP_STR("");
	o.call.timeout_ms = call.timeout_ms;
	o.call.params = job_keep(j, t, mp_value_get(t, params, "params"));
	o.call.name = job_read_name(j, o.call.method, t, mp_value_get(t, params, "params"));
	o.call.capabilities = job_keep(j, t, mp_value_get(t, params, "capabilities"));
	r = mp_arena_get_error(&j->arena);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (o.call.capabilities.len)
		r = job_read_capabilities(j, o.call.capabilities, reterr);
	if (r < 0)
		return r;
	j->server = call.server;
	name_client(p);
	return mp_pool_call_start(p->workspace, &j->call, &o, reterr);
}

int mp_control_calls_ask(struct mp_control_calls *cs, struct mp_str id, const struct mp_tape *t,
			 mp_value params, struct mcpool_error *reterr)
{
	struct job *j;
	int r = mp_control_peer_check(cs->peer, reterr);

	if (r < 0)
		return r;
	if (!mp_sessions_begin_call(cs->peer->hub->sessions))
		return mp_fail(reterr, MCPOOL_ECLOSED, "the hub is about to stop");
	j = job_open(cs, id);
	r = job_start(j, t, params, reterr);
	if (r < 0)
		job_close(j);
	return r;
}

void mp_control_calls_cancel(struct mp_control_calls *cs, struct mp_str id)
{
	MP_LIST_EACH(&cs->open, link) {
		struct job *j = mp_container_of(link, struct job, link);

		if (!mp_str_eq(mp_str_of(j->id), id))
			continue;
		mp_pool_call_cancel(&j->call);
		return;
	}
}

/* --- what servers ask ------------------------------------------------------------------------ */

/* Without a call the server belongs to this session alone, and the call cannot be determined. */
static bool job_is_meant(const struct job *j, const struct mp_pool_server_request *rq)
{
	if (mp_pool_call_is_at_rest(&j->call))
		return false;
	return rq->call ? &j->call == rq->call : strcmp(j->server, rq->server) == 0;
}

static bool is_visit(struct mp_str params)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	return mp_tape_parse(&t, params, NULL) == 0 &&
	       mp_value_text_is(&t, mp_value_get(&t, MP_ROOT, "mode"), MP_STR("url"));
}

static void control_call_asked(void *u, const struct mp_pool_server_request *rq)
{
	struct mp_control_calls *cs = u;
	bool takes_it = false, visit = is_visit(rq->params);

	MP_LIST_EACH(&cs->open, link) {
		const struct job *j = mp_container_of(link, struct job, link);

		takes_it = takes_it ||
			   ((visit ? j->takes_urls : j->takes_forms) && job_is_meant(j, rq));
	}
	if (takes_it && rq->method == MP_METHOD_ELICIT)
		mp_server_requests_send(&cs->requests, rq);
	else
		mp_pool_client_decline(cs->peer->hub->pool, rq->id, METHOD_NOT_FOUND,
				       mp_server_request_get_refusal(rq->method));
}

static void unasked(void *u, mp_id question)
{
	struct mp_control_calls *cs = u;

	mp_server_requests_withdraw(&cs->requests, question);
}

void mp_control_calls_take_reply(struct mp_control_calls *cs, const struct mp_message *m)
{
	mp_server_requests_answer(&cs->requests, m);
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_control_calls_init(struct mp_control_calls *cs, struct mp_control_peer *peer)
{
	static const struct mp_pool_client_hooks hooks = {.request = control_call_asked,
							  .withdraw = unasked};

	cs->peer = peer;
	mp_list_init(&cs->open);
	peer->session = mp_pool_client_join(peer->hub->pool, &hooks, cs);
	peer->client = mp_call_client_new();
	mp_server_requests_init(&cs->requests, peer->hub->pool, peer->say, peer->u);
}

void mp_control_calls_done(struct mp_control_calls *cs)
{
	MP_LIST_EACH(&cs->open, link)
		job_close(mp_container_of(link, struct job, link));
	mp_pool_client_leave(cs->peer->hub->pool, cs->peer->session); /* its calls end */
	mp_call_client_unref(cs->peer->client);
	mp_server_requests_done(&cs->requests);
}
