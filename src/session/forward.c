/*
 * forward.c - requests that a server answers: finds the server, makes the call, returns the result.
 */
#include "session/forward.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/results.h"
#include "session/error_content.h"
#include "session/input_required.h"
#include "session/results.h"
#include "session/scope.h"
#include "session/stored.h"
#include "session/task_tools.h"
#include "session/tasks.h"
#include "session/trace.h"
#include "session/unknown.h"

#define NO_MEMORY "{\"code\":-32603,\"message\":\"MCP error: the system refused memory\"}"

/* --- returning the result -------------------------------------------------------------------- */

void mp_session_finish_call(struct mp_request *e, struct mp_str json, bool is_error, int status)
{
	struct mp_buf *out = &e->session->sessions->out;
	int r;

	mp_buf_clear(out);
	r = mp_message_answer(out, mp_str_of(e->their_id), is_error, json);
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_request_answer(e, mp_buf_get(out), status);
}

/* The agent must retry the request to get it. */
static void keep_answer(struct mp_request *e, struct mp_str json, bool is_error)
{
	e->kept_is_error = is_error;
	if (mp_session_keep_message(&e->kept, json) < 0) {
		e->kept_is_error = true;
		e->kept = mp_dup(NO_MEMORY);
	}
	mp_request_advance(e, MP_REQUEST_ON_ANSWER);
}

/* A server's error for this agent, or the result that takes its place. */
static int write_error(const struct mp_request *e, const struct mp_message *m, struct mp_buf *out,
		       bool *ret_is_error, int *ret_status)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf error;
	int r;

	mp_buf_init(&error, MP_LIMIT_MESSAGE);
	if (!mp_request_takes_content(e))
		return mp_result_write_error(e, m, out, ret_is_error, ret_status);
	r = mp_result_write_error(e, m, &error, ret_is_error, ret_status);
	if (r < 0 || !*ret_is_error)
		return r < 0 ? r : mp_buf_add_str(out, mp_buf_get(&error));
	*ret_is_error = false;
	*ret_status = 200;
	return mp_error_content_write(e->era, mp_buf_get(&error), out);
}

static void take_answer(struct mp_request *e, const struct mp_message *m)
{
	struct mp_buf *room = &e->session->sessions->scratch;
	bool is_error = m->kind == MP_MESSAGE_ERROR;
	struct mp_str json;
	int status = 200, r;

	mp_buf_clear(room);
	if (e->method == MP_METHOD_TOOLS_CALL && mp_message_is_task(m))
		mp_task_note(e, m);
	if (is_error) {
		r = write_error(e, m, room, &is_error, &status);
		json = mp_buf_get(room);
	} else {
		r = mp_result_write(e, m, room, &json);
	}
	if (r < 0 && e->state != MP_REQUEST_PARKED)
		mp_request_give_up(e, r);
	else if (r == 0 && m->kind == MP_MESSAGE_RESULT && mp_stored_shorten(e, m, json))
		return; /* mp_session_take_result() follows */
	else if (e->state == MP_REQUEST_PARKED)
		keep_answer(e, r < 0 ? MP_STR(NO_MEMORY) : json, is_error || r < 0);
	else
		mp_session_finish_call(e, json, is_error, status);
}

void mp_session_take_result(struct mp_request *e, struct mp_str json)
{
	if (e->state == MP_REQUEST_PARKED)
		keep_answer(e, json, false);
	else
		mp_session_finish_call(e, json, false, 200);
}

static void keep_failure(struct mp_request *e, const struct mp_pool_answer *a)
{
	struct mp_buf *text = &e->session->sessions->scratch;
	bool is_error = true;
	int r = mp_request_write_failure(e, a, text, &is_error);

	keep_answer(e, r < 0 ? MP_STR(NO_MEMORY) : mp_buf_get(text), is_error || r < 0);
}

/* Stateless requests may come from any client (V24). */
static mp_id get_caller(const struct mp_request *e)
{
	return e->session->traits & MP_SESSION_STATELESS ? e->id | MP_CALLER_ALONE : 0;
}

/* The call became a task. The agent gets the task's result. */
static bool wait_for_task(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_pool_call_options o = {
		.server = e->server,
		.session = e->session->id,
		.client = e->session->call_client,
		.caller = get_caller(e),
		.call.method = MP_METHOD_TASKS_RESULT,
	};
	struct mcpool_error why;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (m->kind != MP_MESSAGE_RESULT || mp_task_read_id(m, &params) < 0)
		return false;
	e->drives_task = false;
	r = mp_request_keep_large(e, mp_buf_get(&params), &o.call.params);
	if (r < 0)
		mp_request_give_up(e, r);
	else if (mp_pool_call_start(e->session->workspace, &e->call, &o, &why) < 0)
		mp_request_fail(e, &why, NULL); /* the agent does not support tasks */
	return true;
}

static void forward_answered(struct mp_pool_call *c, const struct mp_pool_answer *a)
{
	struct mp_request *e = mp_container_of(c, struct mp_request, call);

	if (e->session && e->drives_task && a->outcome == MP_OUTCOME_ANSWERED &&
	    wait_for_task(e, a->message))
		return;
	if (!e->session)
		mp_request_release(e);
	else if (a->outcome == MP_OUTCOME_ANSWERED)
		take_answer(e, a->message);
	else if (e->state == MP_REQUEST_PARKED)
		keep_failure(e, a);
	else if (!mp_request_ask_login(e, a))
		mp_request_fail(e, a->error, a);
}

static void progressed(struct mp_pool_call *c, const struct mp_message *m)
{
	struct mp_request *e = mp_container_of(c, struct mp_request, call);
	struct mp_splice splice = {0};
	struct mp_buf *out;

	if (!e->session || e->state != MP_REQUEST_OUT || !e->token)
		return;
	splice.progress_token = mp_str_of(e->token);
	out = &e->session->sessions->out;
	mp_buf_clear(out);
	if (mp_message_forward(m, &splice, out) == 0)
		mp_request_tell(e, mp_buf_get(out));
}

const struct mp_pool_call_hooks mp_request_call_hooks = {.answered = forward_answered,
							 .progress = progressed};

/* --- finding the server ---------------------------------------------------------------------- */

struct target {
	const char *server;
	struct mp_str name; /* the server's own name: a tool, prompt or URI */
	const char *key;    /* the member of params that is replaced */
	struct mp_str value;
	size_t candidates;
	enum mp_era era; /* of the server; 0: unknown */
	bool is_task;    /* it must be run as a task */
	bool is_wrapped; /* a URI, and the agent has another one for it */
};

static bool find_ware(const struct mp_index *s, enum mp_catalog_kind kind, struct mp_str name,
		      struct target *t)
{
	const struct mp_index_item *w = mp_index_find(s, kind, name, &t->candidates);

	if (!w)
		return false;
	t->server = w->server;
	t->name = w->source->name;
	t->era = w->era;
	t->key = "name";
	t->is_task = w->is_task;
	return true;
}

static bool find_resource(const struct mp_index *s, struct mp_str uri, struct mp_arena *arena,
			  struct target *t)
{
	t->server = mp_index_find_resource(s, uri, arena, &t->name);
	t->key = "uri";
	t->is_wrapped = !mp_str_eq(t->name, uri);
	return t->server;
}

/* Result of the search. */
enum found {
	FOUND,
	UNKNOWN, /* not found, and not answered yet */
	REFUSED, /* answered already, and the request has ended */
};

static enum found find_by_name(const struct mp_request *e, const struct mp_index *s,
			       struct mp_str name, struct mp_arena *arena, struct target *t)
{
	bool is_found;

	if (e->method == MP_METHOD_TOOLS_CALL)
		is_found = find_ware(s, MP_CATALOG_TOOL, name, t);
	else if (e->method == MP_METHOD_PROMPTS_GET)
		is_found = find_ware(s, MP_CATALOG_PROMPT, name, t);
	else
		is_found = find_resource(s, name, arena, t);
	return is_found ? FOUND : UNKNOWN;
}

/* The named item, and the text that names it. */
static enum found find_named(struct mp_request *e, const struct mp_index *s,
			     const struct mp_message *m, struct mp_arena *arena, struct target *t,
			     struct mp_str *ret_name)
{
	if (mp_value_text(m->tape, m->subject, arena, ret_name) < 0) {
		mp_request_refuse(e, -32602, 200, "params.%s is not a string",
				  mp_method_get(m->method)->subject);
		return REFUSED;
	}
	return find_by_name(e, s, *ret_name, arena, t);
}

/* completion/complete: params.ref names a prompt or a resource template. */
static bool find_ref(struct mp_request *e, const struct mp_index *s, const struct mp_message *m,
		     struct mp_arena *arena, struct target *t)
{
	struct mp_buf *value = &e->session->sessions->texts.value;
	MP_CLEANUP(mp_tape_done) struct mp_tape ref;
	const struct mp_index_item *w;
	struct mp_str name;
	struct mp_writer out;
	bool is_prompt;

	mp_tape_init(&ref, 0);
	if (mp_era_open(m, mp_value_get(m->tape, m->params, "ref"), &ref) < 0)
		return false;
	is_prompt =
		mp_value_text_is(&ref, mp_value_get(&ref, MP_ROOT, "type"), MP_STR("ref/prompt"));
	if (mp_value_text(&ref, mp_value_get(&ref, MP_ROOT, is_prompt ? "name" : "uri"), arena,
			  &name) < 0)
		return false;
	w = is_prompt ? mp_index_find(s, MP_CATALOG_PROMPT, name, &t->candidates)
		      : mp_map_get(&s->uris, name);
	t->server = w ? w->server : NULL;
	t->name = w ? w->source->name : name;
	if (!w && !is_prompt)
		t->server = mp_index_find_resource(s, name, arena, &t->name);
	if (!t->server)
		return false;
	mp_buf_clear(value);
	mp_write_init(&out, value, NULL);
	mp_write_begin_object(&out);
	mp_write_member_text(&out, "type",
			     is_prompt ? MP_STR("ref/prompt") : MP_STR("ref/resource"));
	mp_write_member_text(&out, is_prompt ? "name" : "uri", t->name);
	mp_write_end_object(&out);
	t->key = "ref";
	t->value = mp_buf_get(value);
	return mp_write_finish(&out) == 0;
}

/* --- the call -------------------------------------------------------------------------------- */

static int write_request(const struct mp_message *m, struct target *t,
			 struct mp_request_texts *texts)
{
	int r = 0;

	mp_buf_clear(&texts->params);
	mp_buf_clear(&texts->meta);
	if (!t->value.len && t->key) {
		mp_buf_clear(&texts->value);
		r = mp_session_quote(&texts->value, t->name);
		t->value = mp_buf_get(&texts->value);
	}
	if (r == 0)
		r = mp_message_write_params(m, t->key, t->value, &texts->params);
	return r < 0 ? r : mp_message_write_meta(m, &texts->meta);
}

/* For agents without task support: adds `task` to the call and waits for its result. */
static int add_task(struct mp_buf *params)
{
	bool is_empty = params->len <= 2;

	params->len--; /* removes the closing brace */
	return mp_buf_addf(params, "%s\"task\":{}}", is_empty ? "" : ",");
}

static struct mp_str get_capabilities(const struct mp_request *e)
{
	return mp_str_of(e->era == MP_ERA_MODERN ? e->capabilities : e->session->capabilities);
}

/*
 * A legacy agent without a level gets everything but debug output. A modern agent that does not ask
 * for logs gets none.
 */
static const char *get_level(const struct mp_request *e)
{
	if (e->era == MP_ERA_MODERN)
		return e->log_level;
	return e->session->log_level ? e->session->log_level : "info";
}

static bool can_be_asked(const struct mp_request *e)
{
	return e->can & (MP_CAN_SAMPLE | MP_CAN_ELICIT | MP_CAN_ELICIT_URL | MP_CAN_LIST_ROOTS);
}

/* The request owns the texts of the call from now on. */
static int keep_texts(struct mp_request *e, const struct target *t, struct mp_pool_call_options *o)
{
	struct mp_request_texts *texts = &e->session->sessions->texts;
	int r;

	e->server = o->server = mp_request_keep(e, mp_str_of(t->server));
	e->target = mp_request_keep(e, t->name);
	e->is_wrapped = t->is_wrapped;
	if (e->target)
		o->call.name = (struct mp_str){e->target, t->name.len};
	if (e->method == MP_METHOD_TOOLS_CALL)
		o->tool = o->call.name;
	r = mp_request_keep_large(e, mp_buf_get(&texts->params), &o->call.params);
	if (r == 0)
		r = mp_request_keep_large(e, mp_buf_get(&texts->meta), &o->call.foreign);
	if (r == 0)
		r = mp_request_keep_large(e, get_capabilities(e), &o->call.capabilities);
	return r;
}

static void forward_call(struct mp_request *e, const struct mp_message *m, struct target *t)
{
	struct mp_session *s = e->session;
	struct mp_pool_call_options o = {
		.session = s->id,
		.client = s->call_client,
		.caller = get_caller(e),
		.call = {.method = e->method,
			 .log_level = get_level(e),
			 .keeps_input_required = e->era == MP_ERA_MODERN,
			 .takes_tasks = e->era == MP_ERA_MODERN && (e->can & MP_CAN_TASKS)},
	};
	MP_UNSET struct mcpool_error why;
	int r;

	r = write_request(m, t, &s->sessions->texts);
	e->drives_task = t->is_task && mp_value_get(m->tape, m->params, "task") == MP_NONE;
	if (r == 0 && e->drives_task)
		r = add_task(&s->sessions->texts.params);
	if (r == 0 && e->era == MP_ERA_MODERN && t->era != MP_ERA_MODERN && can_be_asked(e))
		r = mp_request_note_params(e, m); /* the retry must have the same params */
	if (r == 0)
		r = mp_request_trace(e, &s->sessions->texts.meta, &o.trace);
	if (r == 0)
		r = keep_texts(e, t, &o);
	if (r < 0) {
		mp_request_give_up(e, r);
		return;
	}
	mp_request_advance(e, MP_REQUEST_ON_SEND);
	if (mp_pool_call_start(s->workspace, &e->call, &o, &why) < 0)
		mp_request_fail(e, &why, NULL);
}

void mp_session_send_on(struct mp_request *e, const struct mp_message *m, const char *server,
			struct mp_str name, const char *key)
{
	struct target t = {.server = server, .name = name, .key = key};

	forward_call(e, m, &t);
}

/*
 * An unknown name may belong to a server that has not listed yet. An agent knows the names of a
 * server that an earlier hub had, even if that hub was killed before it stored them.
 */
static bool may_come(struct mp_request *e, const struct mp_message *m, struct mp_str name)
{
	struct mp_scope *scope = e->session->scope;
	int64_t now = mp_loop_now_ms(e->session->sessions->loop);

	if (e->state == MP_REQUEST_FRESH)
		e->asked_ms = now;
	e->patience_ms = e->asked_ms + mp_scope_get_max_wait(scope);
	if (mp_scope_is_ready(scope, false) &&
	    (now >= e->patience_ms || !mp_scope_is_starting(scope, name)))
		return false;
	mp_request_wait(e, m);
	return true;
}

static bool is_return(const struct mp_message *m, struct mp_arena *arena)
{
	mp_value v = mp_value_get(m->tape, m->params, "requestState");
	struct mp_str text;

	return v != MP_NONE && mp_value_text(m->tape, v, arena, &text) == 0 &&
	       mp_request_state_is_ours(text);
}

/* A legacy server has no requestState, so it can only be ours, and it does not verify (V42). */
static bool is_forged(const struct mp_request *e, const struct mp_message *m,
		      const struct target *t)
{
	return e->era == MP_ERA_MODERN && t->era != MP_ERA_MODERN &&
	       mp_value_get(m->tape, m->params, "requestState") != MP_NONE;
}

static bool is_stored(struct mp_request *e, const struct mp_message *m, struct mp_arena *arena,
		      struct mp_str *ret_uri)
{
	return e->method == MP_METHOD_RESOURCES_READ &&
	       mp_value_text(m->tape, m->subject, arena, ret_uri) == 0 &&
	       mp_results_is_uri(*ret_uri);
}

static void refuse_nothing(struct mp_request *e, struct mp_str name, size_t candidates)
{
	if (e->method == MP_METHOD_COMPLETE)
		mp_request_refuse(e, -32602, 200, "params.ref names nothing that is there");
	else
		mp_session_refuse_unknown(e, name, candidates);
}

void mp_session_forward(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_index *s = mp_scope_get_index(e->session->scope);
	struct target t = {0};
	struct mp_str name = {0};
	enum found found;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (!s) {
		mp_request_give_up(e, MCPOOL_ENOMEM);
		return;
	}
	if (is_stored(e, m, &arena, &name)) {
		mp_stored_answer(e, name);
		return;
	}
	name = (struct mp_str){0};
	if (e->era == MP_ERA_MODERN && is_return(m, &arena)) {
		mp_session_resume(e, m);
		return;
	}
	if (e->method == MP_METHOD_COMPLETE)
		found = find_ref(e, s, m, &arena, &t) ? FOUND : UNKNOWN;
	else
		found = find_named(e, s, m, &arena, &t, &name);
	if (found == REFUSED || (found == UNKNOWN && may_come(e, m, name)))
		return;
	if (found == UNKNOWN)
		refuse_nothing(e, name, t.candidates);
	else if (is_forged(e, m, &t))
		mp_session_refuse_state(e);
	else
		forward_call(e, m, &t);
}
