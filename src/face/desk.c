/*
 * desk.c - what one-shot verbs have a running hub do for them.
 */
#include "face/desk.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/status.h"
#include "face/server_requests.h"
#include "pool/pool_call.h"
#include "pool/pool_client.h"
#include "rpc/server_request.h"
#include "session/filter.h"

enum { MAX_JOBS = 64, METHOD_NOT_FOUND = -32601 };

struct mp_desk {
	struct mp_hub *hub;
	struct mp_workspace *workspace;
	void (*say)(void *u, struct mp_str text);
	void *u;
	mp_id session;
	struct mp_list jobs;
	struct mp_server_requests requests; /* that the peer has not answered */
};

enum { START_NONE, START_UNKNOWN, START_ALL };
static const char *const starts[] = {"none", "unknown", "all", NULL};

/* One request that is not answered yet. */
struct job {
	struct mp_link link;
	struct mp_desk *desk; /* NULL: nobody waits for it; the call is to end yet */
	char *id;             /* owned */
	struct mp_arena arena;
	struct look {
		struct mp_bind_list servers; /* what the answer is about; none: all */
		struct mp_bind_list only;    /* whom to start and to wait for; none: all of these */
		int start;
		bool fresh, offers;
		int64_t max_ms;
		uint64_t present;
	} look;
	struct mp_watcher watcher;
	struct mp_timer timer;
	struct mp_task task; /* look again; many steps in a turn are one look */
	struct mp_pool_call call;
	const char *server; /* of a call; in the arena */
	bool takes_forms;   /* the peer can be asked meanwhile */
	bool is_call;
	struct mp_grave grave;
};

/* --- a job's life ---------------------------------------------------------------------------- */

static void settle(void *u);
static void look_again(void *u);
static const struct mp_pool_call_hooks call_hooks;

static struct job *open_job(struct mp_desk *d, struct mp_str id)
{
	struct job *j = mp_alloc(sizeof(*j));

	j->desk = d;
	j->id = mp_alloc(id.len + 1);
	memcpy(j->id, id.p, id.len);
	mp_arena_init(&j->arena, MP_LIMIT_ARENA);
	mp_timer_init(&j->timer, d->hub->loop, settle, j);
	mp_task_init(&j->task, look_again, j);
	mp_pool_call_init(&j->call, d->hub->loop, &call_hooks);
	mp_list_append(&d->jobs, &j->link);
	return j;
}

static void freed(struct mp_grave *grave)
{
	struct job *j = mp_container_of(grave, struct job, grave);

	mp_pool_call_done(&j->call);
	mp_arena_done(&j->arena);
	mp_free(j->id);
	mp_free(j);
}

/* Nobody waits for it any more. One with a call is freed when that has ended. */
static void close_job(struct job *j)
{
	struct mp_desk *d = j->desk;

	mp_timer_stop(&j->timer);
	mp_loop_unpost(d->hub->loop, &j->task);
	mp_watcher_leave(d->hub->pool, &j->watcher);
	mp_list_remove(&d->jobs, &j->link);
	if (j->is_call)
		mp_lobby_end_call(d->hub->lobby);
	j->desk = NULL;
	if (mp_pool_call_is_at_rest(&j->call))
		mp_loop_bury(d->hub->loop, &j->grave, freed);
}

static void answer_error(struct job *j, int code)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out, data;

	mp_buf_init(&out, MP_KIB(16));
	mp_buf_init(&data, MP_KIB(1));
	if (mp_buf_addf(&data, "{\"code\":\"%s\"}", mcpool_error_word(code)) == 0 &&
	    mp_message_error(&out, mp_str_of(j->id), mp_error_get_rpc_code(code),
			     mp_str_of(mcpool_error_text(code)), mp_buf_get(&data)) == 0)
		j->desk->say(j->desk->u, mp_buf_get(&out));
}

/* The one answer; r: what became of writing it. */
static void answer(struct job *j, const struct mp_buf *result, int r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(4));
	if (r == 0)
		r = mp_message_result(&out, mp_str_of(j->id), mp_buf_get(result));
	if (r < 0)
		answer_error(j, r);
	else
		j->desk->say(j->desk->u, mp_buf_get(&out));
	close_job(j);
}

/* --- mcpool/look ----------------------------------------------------------------------------- */

#define LOOK(kind, key, field, ...) MP_BIND(struct look, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field look_fields[] = {
	LOOK(LIST, "servers", servers),
	LOOK(LIST, "only", only),
	LOOK(CHOICE, "start", start, .choices = starts),
	LOOK(BOOL, "fresh", fresh),
	LOOK(BOOL, "offers", offers),
	LOOK(I64, "maxMs", max_ms, .min = 0, .max = MP_SECONDS(3600)),
};
static const struct mp_bind_table look_table = {look_fields, MP_ARRAY_LEN(look_fields),
						offsetof(struct look, present)};

static bool is_one_of(const struct mp_bind_list *names, const char *name)
{
	for (size_t k = 0; k < names->n; k++)
		if (strcmp(names->items[k], name) == 0)
			return true;
	return names->n == 0;
}

static bool is_meant(const struct job *j, size_t i)
{
	return is_one_of(&j->look.servers, mp_workspace_get_entry(j->desk->workspace, i)->name);
}

/* Is it to be started, and waited for? */
static bool is_due(const struct job *j, size_t i)
{
	struct mp_workspace *v = j->desk->workspace;

	if (!is_meant(j, i) || !is_one_of(&j->look.only, mp_workspace_get_entry(v, i)->name))
		return false;
	return j->look.start == START_ALL ||
	       (j->look.start == START_UNKNOWN && !mp_workspace_is_remembered(v, i));
}

/* One that failed is not tried again because somebody lists all of them. */
static void start_one(struct job *j, size_t i)
{
	struct mp_workspace *v = j->desk->workspace;
	enum mp_status_state state = mp_workspace_get_state(v, i, j->desk->session);
	bool is_lazy = mp_workspace_get_entry(v, i)->tuning.start == MP_START_LAZY;

	if (state == MP_STATUS_CONNECTED && j->look.fresh)
		mp_workspace_refresh(v, i, j->desk->session);
	else if (state != MP_STATUS_CONNECTED &&
		 (state != MP_STATUS_FAILED || j->look.start == START_ALL))
		mp_workspace_start_server(v, i, j->desk->session, is_lazy);
}

static bool is_settled(const struct job *j)
{
	struct mp_workspace *v = j->desk->workspace;

	for (size_t i = 0; i < mp_workspace_count(v); i++)
		if (is_due(j, i) &&
		    (mp_workspace_get_state(v, i, j->desk->session) == MP_STATUS_PENDING ||
		     mp_workspace_is_refreshing(v, i, j->desk->session)))
			return false;
	return true;
}

/* Each is where it will be, or it took too long: say where they are. */
static void settle(void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *servers = NULL;
	struct job *j = u;
	size_t n = mp_workspace_count(j->desk->workspace);
	bool *only = mp_alloc((n + 1) * sizeof(*only));
	struct mp_writer w;
	int r;

	mp_buf_init(&result, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < n; i++)
		only[i] = is_meant(j, i);
	r = mp_status_list_take(j->desk->workspace, j->desk->session, only, j->look.offers,
				&servers);
	mp_write_init(&w, &result, NULL);
	mp_write_begin_object(&w);
	if (r == 0)
		r = mp_status_list_write(&w, servers);
	mp_write_end_object(&w);
	if (r == 0)
		r = mp_write_finish(&w);
	mp_free(only);
	answer(j, &result, r);
}

static void look_again(void *u)
{
	if (is_settled(u))
		settle(u);
}

static void moved(void *u, mp_id instance)
{
	struct job *j = u;

	(void)instance;
	if (!mp_list_linked(&j->task.link))
		mp_loop_post(j->desk->hub->loop, &j->task);
}

int mp_desk_look(struct mp_desk *d, struct mp_str id, const struct mp_tape *t, mp_value params,
		 struct mcpool_error *reterr)
{
	struct job *j;
	int r = 0;

	if (d->jobs.len >= MAX_JOBS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "too much is asked at once");
	j = open_job(d, id);
	j->look.max_ms = MP_LIMIT_ONE_SHOT_MS;
	if (params != MP_NONE)
		r = mp_bind_read(&look_table, t, params, &j->arena, &j->look, NULL, NULL, reterr);
	if (r < 0) {
		close_job(j);
		return r;
	}
	mp_watcher_join(d->hub->pool, &j->watcher, moved, j);
	for (size_t i = 0; i < mp_workspace_count(d->workspace); i++)
		if (is_due(j, i))
			start_one(j, i);
	mp_timer_start(&j->timer, j->look.max_ms);
	if (!mp_list_linked(&j->task.link))
		mp_loop_post(d->hub->loop, &j->task);
	return 0;
}

/* --- mcpool/call ----------------------------------------------------------------------------- */

struct call {
	const char *server, *method, *tool;
	int64_t timeout_ms;
	uint64_t present;
};

#define CALL(kind, key, field, ...) MP_BIND(struct call, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field call_fields[] = {
	CALL(TEXT, "server", server, .required = true),
	CALL(TEXT, "method", method, .required = true),
	CALL(TEXT, "tool", tool),
	CALL(I64, "timeoutMs", timeout_ms, .min = 0, .max = INT64_MAX / 1000000),
};
static const struct mp_bind_table call_table = {call_fields, MP_ARRAY_LEN(call_fields),
						offsetof(struct call, present)};

/* As mp_pool_answer has it, with the server's status. */
static void write_failure(struct mp_writer *w, const struct job *j, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_workspace *v = j->desk->workspace;
	ptrdiff_t at = mp_workspace_find(v, a->server);
	struct mp_status status;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_write_member_i64(w, "code", a->error->code);
	mp_write_member_i64(w, "rpcCode", a->error->rpc_code);
	mp_write_member_i64(w, "fault", a->error->fault);
	mp_write_member_bool(w, "wasUp", a->was_up);
	mp_write_member_bool(w, "wasOut", a->was_out);
	mp_write_member_text(w, "message", mp_str_of(a->error->message));
	mp_write_member_i64(w, "attempt", a->attempt);
	mp_write_member_bool(w, "retryable", a->retryable);
	mp_write_member_i64(w, "nextAt", a->next_at_ms);
	mp_write_member_text(w, "stderr", a->tail);
	if (at < 0)
		return;
	mp_status_take(v, (size_t)at, j->desk->session, &arena, &status);
	mp_write_key(w, MP_STR("status"));
	mp_status_write(w, &status, MP_STATUS_ALL);
}

static int write_answer(struct mp_buf *out, const struct job *j, const struct mp_pool_answer *a)
{
	const struct mp_message *m = a->message;
	bool is_error = m && m->kind == MP_MESSAGE_ERROR;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "outcome", mp_str_of(mp_outcome_get_name(a->outcome)));
	if (m)
		mp_write_member_raw(&w, is_error ? "error" : "result",
				    mp_value_source(m->tape, is_error ? m->error : m->result));
	else
		write_failure(&w, j, a);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void answered(struct mp_pool_call *c, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct job *j = mp_container_of(c, struct job, call);
	int r;

	mp_buf_init(&result, MP_LIMIT_MESSAGE);
	if (!j->desk) {
		freed(&j->grave);
		return;
	}
	r = write_answer(&result, j, a);
	answer(j, &result, r);
}

static void progressed(struct mp_pool_call *c, const struct mp_message *m)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct job *j = mp_container_of(c, struct job, call);
	struct mp_splice splice = {0};

	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	if (!j->desk)
		return;
	splice.progress_token = mp_str_of(j->id);
	if (mp_message_forward(m, &splice, &out) == 0)
		j->desk->say(j->desk->u, mp_buf_get(&out));
}

static const struct mp_pool_call_hooks call_hooks = {.answered = answered, .progress = progressed};

/* An empty object means forms, as before there were modes. */
static int read_capabilities(struct job *j, struct mp_str text, struct mcpool_error *reterr)
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
	return 0;
}

/* What agents may not see is not for the command line either (U20). */
static int check(const struct mp_desk *d, const struct call *call, enum mp_method_id method,
		 struct mcpool_error *reterr)
{
	ptrdiff_t at = mp_workspace_find(d->workspace, call->server);
	const struct mp_entry *e = at < 0 ? NULL : mp_workspace_get_entry(d->workspace, (size_t)at);

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

/* A text that the call borrows. */
static struct mp_str keep(struct job *j, const struct mp_tape *t, mp_value v)
{
	struct mp_str text = mp_value_source(t, v);

	return (struct mp_str){mp_arena_dup(&j->arena, text), text.len};
}

static int start_call(struct job *j, const struct mp_tape *t, mp_value params,
		      struct mcpool_error *reterr)
{
	struct call call = {0};
	struct mp_pool_call_options o = {.session = j->desk->session};
	int r = mp_bind_read(&call_table, t, params, &j->arena, &call, NULL, NULL, reterr);

	if (r < 0)
		return r;
	o.call.method = mp_method_find(mp_str_of(call.method));
	r = check(j->desk, &call, o.call.method, reterr);
	if (r < 0)
		return r;
	o.server = call.server;
	o.tool = call.tool ? mp_str_of(call.tool) : MP_STR("");
	o.call.timeout_ms = call.timeout_ms;
	o.call.params = keep(j, t, mp_value_get(t, params, "params"));
	o.call.capabilities = keep(j, t, mp_value_get(t, params, "capabilities"));
	r = mp_arena_get_error(&j->arena);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (o.call.capabilities.len)
		r = read_capabilities(j, o.call.capabilities, reterr);
	if (r < 0)
		return r;
	j->server = call.server;
	return mp_pool_call_start(j->desk->workspace, &j->call, &o, reterr);
}

int mp_desk_call(struct mp_desk *d, struct mp_str id, const struct mp_tape *t, mp_value params,
		 struct mcpool_error *reterr)
{
	struct job *j;
	int r;

	if (d->jobs.len >= MAX_JOBS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "too much is asked at once");
	if (!mp_lobby_begin_call(d->hub->lobby))
		return mp_fail(reterr, MCPOOL_ECLOSED, "the hub is about to stop");
	j = open_job(d, id);
	j->is_call = true;
	r = start_call(j, t, params, reterr);
	if (r < 0)
		close_job(j);
	return r;
}

void mp_desk_cancel(struct mp_desk *d, struct mp_str id)
{
	MP_LIST_EACH(&d->jobs, link) {
		struct job *j = mp_container_of(link, struct job, link);

		if (!mp_str_eq(mp_str_of(j->id), id))
			continue;
		mp_pool_call_cancel(&j->call);
		return;
	}
}

/* --- what servers ask ------------------------------------------------------------------------ */

/* Without a call the server is this session's own, and which call is meant cannot be said. */
static bool is_during(const struct job *j, const struct mp_pool_server_request *rq)
{
	if (mp_pool_call_is_at_rest(&j->call))
		return false;
	return rq->call ? &j->call == rq->call : strcmp(j->server, rq->server) == 0;
}

static bool is_form(struct mp_str params)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value mode;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, params, NULL) < 0)
		return false;
	mode = mp_value_get(&t, MP_ROOT, "mode");
	return mode == MP_NONE || mp_value_text_is(&t, mode, MP_STR("form"));
}

static void asked(void *u, const struct mp_pool_server_request *rq)
{
	struct mp_desk *d = u;
	bool takes_it = false;

	MP_LIST_EACH(&d->jobs, link) {
		const struct job *j = mp_container_of(link, struct job, link);

		takes_it = takes_it || (j->takes_forms && is_during(j, rq));
	}
	if (takes_it && rq->method == MP_METHOD_ELICIT && is_form(rq->params))
		mp_server_requests_send(&d->requests, rq);
	else
		mp_pool_client_decline(d->hub->pool, rq->id, METHOD_NOT_FOUND,
				       mp_server_request_get_refusal(rq->method));
}

static void unasked(void *u, mp_id question)
{
	struct mp_desk *d = u;

	mp_server_requests_withdraw(&d->requests, question);
}

void mp_desk_take_reply(struct mp_desk *d, const struct mp_message *m)
{
	mp_server_requests_answer(&d->requests, m);
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_desk *mp_desk_new(struct mp_hub *hub, struct mp_workspace *workspace,
			    void (*say)(void *u, struct mp_str text), void *u)
{
	static const struct mp_pool_client_hooks hooks = {.request = asked, .withdraw = unasked};
	struct mp_desk *d = mp_alloc(sizeof(*d));

	d->hub = hub;
	d->workspace = workspace;
	d->say = say;
	d->u = u;
	d->session = mp_pool_client_join(hub->pool, &hooks, d);
	mp_list_init(&d->jobs);
	mp_server_requests_init(&d->requests, hub->pool, say, u);
	return d;
}

struct mp_desk *mp_desk_free(struct mp_desk *d)
{
	if (!d)
		return NULL;
	MP_LIST_EACH(&d->jobs, link)
		close_job(mp_container_of(link, struct job, link));
	mp_pool_client_leave(d->hub->pool, d->session); /* its calls are given back */
	mp_server_requests_done(&d->requests);
	return mp_free(d);
}
