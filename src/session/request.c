/*
 * request.c - one request of an agent, until its one answer.
 */
#include "session/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/freelist.h"
#include "session/error_content.h"
#include "session/failed_call.h"

MP_MACHINE_TYPES(request, struct mp_request, enum mp_request_event, MP_REQUEST_STATES,
		 MP_REQUEST_EVENTS);
static request_action request_wait, wait_on, stop_waiting, finish_waiting, request_finish,
	request_park, come_back, request_keep, request_drop, drop_parked;

/* The answer is sent before the event: see mp_request_answer(). */
MP_MACHINE_STEPS(request) = {
	[MP_REQUEST_FRESH] = {[MP_REQUEST_ON_WAIT] = MP_TO(MP_REQUEST_WAITING, request_wait),
			      [MP_REQUEST_ON_SEND] = MP_TO(MP_REQUEST_OUT, NULL),
			      [MP_REQUEST_ON_LISTEN] = MP_TO(MP_REQUEST_LISTENING, NULL),
			      [MP_REQUEST_ON_ANSWER] = MP_TO(MP_REQUEST_ENDED, request_finish),
			      [MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, request_finish)},
	[MP_REQUEST_WAITING] = {[MP_REQUEST_ON_WAIT] = MP_DO(wait_on),
				[MP_REQUEST_ON_SEND] = MP_TO(MP_REQUEST_OUT, stop_waiting),
				[MP_REQUEST_ON_ANSWER] = MP_TO(MP_REQUEST_ENDED, finish_waiting),
				[MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, finish_waiting)},
	[MP_REQUEST_OUT] = {[MP_REQUEST_ON_ANSWER] = MP_TO(MP_REQUEST_ENDED, request_finish),
			    [MP_REQUEST_ON_PARK] = MP_TO(MP_REQUEST_PARKED, request_park),
			    [MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, request_drop)},
	[MP_REQUEST_PARKED] = {[MP_REQUEST_ON_ANSWER] = MP_TO(MP_REQUEST_KEPT, request_keep),
			       [MP_REQUEST_ON_RESUME] = MP_TO(MP_REQUEST_OUT, come_back),
			       [MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, drop_parked)},
	[MP_REQUEST_KEPT] = {[MP_REQUEST_ON_RESUME] = MP_TO(MP_REQUEST_OUT, come_back),
			     [MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, drop_parked)},
	[MP_REQUEST_LISTENING] = {[MP_REQUEST_ON_ANSWER] = MP_TO(MP_REQUEST_ENDED, request_finish),
				  [MP_REQUEST_ON_DROP] = MP_TO(MP_REQUEST_ENDED, request_finish)},
};

static void request_describe(const struct mp_request *e, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "request %llu", (unsigned long long)e->id);
}

MP_SHARED_MACHINE(request, struct mp_request, .describe = request_describe)

/* --- life ------------------------------------------------------------------------------------ */

struct mp_kept_text {
	struct mp_kept_text *next;
	char text[];
};

/* NULL: the block is full. */
static char *request_take_room(struct mp_request *e, size_t size)
{
	char *room = e->room;

	if (size > e->room_left)
		return NULL;
	e->room += size;
	e->room_left -= size;
	return room;
}

static char *request_add_text(struct mp_request *e, struct mp_kept_text *text)
{
	text->next = e->more;
	e->more = text;
	return text->text;
}

static char *request_copy(char *to, struct mp_str text)
{
	memcpy(to, text.p, text.len);
	to[text.len] = '\0';
	return to;
}

const char *mp_request_keep(struct mp_request *e, struct mp_str text)
{
	char *kept;

	if (!text.len)
		return NULL;
	kept = request_take_room(e, text.len + 1);
	if (!kept)
		kept = request_add_text(e, mp_alloc(sizeof(struct mp_kept_text) + text.len + 1));
	return request_copy(kept, text);
}

int mp_request_keep_large(struct mp_request *e, struct mp_str text, struct mp_str *ret)
{
	struct mp_kept_text *more;
	char *kept;

	*ret = (struct mp_str){0};
	if (!text.len)
		return 0;
	kept = request_take_room(e, text.len + 1);
	if (!kept) {
		more = mp_try_alloc(sizeof(*more) + text.len + 1);
		if (!more)
			return MCPOOL_ENOMEM;
		kept = request_add_text(e, more);
	}
	*ret = (struct mp_str){request_copy(kept, text), text.len};
	return 0;
}

/* A block holds the session's part, the pool's part if the method reaches a server, and texts. */
enum {
	REQUEST_SIZE = offsetof(struct mp_request, call),
	REQUEST_ROOM = 192,
	CALL_SIZE = sizeof(struct mp_request),
	CALL_ROOM = MP_FREELIST_MOST - CALL_SIZE,
};

static bool request_has_call(const struct mp_request *e)
{
	return mp_method_get(e->method)->reaches_server;
}

static size_t request_get_size(bool has_call)
{
	return has_call ? CALL_SIZE + CALL_ROOM : REQUEST_SIZE + REQUEST_ROOM;
}

bool mp_request_is_calling(const struct mp_request *e)
{
	return request_has_call(e) && !mp_pool_call_is_at_rest(&e->call);
}

struct mp_request *mp_request_new(struct mp_session *s, const struct mp_message *m, mp_id stream)
{
	struct mp_loop *loop = s->sessions->loop;
	bool has_call = mp_method_get(m->method)->reaches_server;
	struct mp_request *e =
		mp_freelist_take(mp_loop_get_freelist(loop), request_get_size(has_call));

	memset(e, 0, REQUEST_SIZE);
	e->room = (char *)e + (has_call ? CALL_SIZE : REQUEST_SIZE);
	e->room_left = has_call ? CALL_ROOM : REQUEST_ROOM;
	if (has_call)
		mp_pool_call_init(&e->call, loop, &mp_request_call_hooks);
	e->loop = loop;
	e->session = s;
	e->stream = stream;
	e->method = m->method;
	e->era = mp_session_classify(m);
	e->their_id = mp_request_keep(e, m->id);
	e->token = mp_request_keep(e, mp_value_source(m->tape, m->progress_token));
	mp_list_init(&e->agent_requests);
	mp_list_init(&e->uris);
	e->id = ++s->sessions->last_request;
	mp_list_append(&s->requests, &e->link);
	s->sessions->open++;
	return e;
}

static void free_buried(struct mp_grave *grave)
{
	struct mp_request *e = mp_container_of(grave, struct mp_request, grave);
	struct mp_kept_text *text;

	while ((text = e->more)) {
		e->more = text->next;
		mp_free(text);
	}
	mp_free(e->waiting);
	mp_free(e->asked);
	mp_free(e->kept);
	if (request_has_call(e))
		mp_pool_call_done(&e->call);
	mp_freelist_give(mp_loop_get_freelist(e->loop), e, request_get_size(request_has_call(e)));
}

/*
 * An answer ends a request, and its callers may still read it to find out whether they answered it
 * (attack-S2). It exists until the end of the turn, without a session and in a final state.
 */
static void request_free(struct mp_request *e)
{
	mp_loop_bury(e->loop, &e->grave, free_buried);
}

/* From now on only its call refers to it. */
static void request_detach(struct mp_request *e)
{
	struct mp_session *s = e->session;
	struct mp_sessions *l = s->sessions;

	if (e->agent_requests.len)
		mp_session_drop_agent_requests(&e->agent_requests, l->o.pool);
	if (e->uris.len)
		mp_request_drop_uris(e);
	if (e->shortening)
		mp_request_abandon_shortening(e);
	if (e->login)
		mp_request_abandon_login(e);
	if (e->is_indexed)
		mp_map_remove(&s->by_id, mp_str_of(e->their_id));
	e->is_indexed = false;
	e->session = NULL;
	l->open--;
	mp_sessions_look_if_drained(l);
}

/* A request with an open call is freed by the call's end. */
static enum mp_request_event request_finish(struct mp_request *e)
{
	mp_list_remove(&e->session->requests, &e->link);
	mp_batch_leave(MP_TAKE(e->batch));
	request_detach(e);
	if (!mp_request_is_calling(e))
		request_free(e);
	return MP_QUIET;
}

void mp_request_release(struct mp_request *e)
{
	mp_check(!e->session && !mp_request_is_calling(e));
	request_free(e);
}

/* The call ends without a session, and frees the request. */
static enum mp_request_event request_drop(struct mp_request *e)
{
	bool is_calling = mp_request_is_calling(e);

	request_finish(e);
	if (is_calling)
		mp_pool_call_cancel(&e->call);
	return MP_QUIET;
}

/* --- waiting --------------------------------------------------------------------------------- */

void mp_request_wait(struct mp_request *e, const struct mp_message *m)
{
	int r = 0;

	if (!e->waiting)
		r = mp_session_keep_message(&e->waiting, mp_value_source(m->tape, MP_ROOT));
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_request_advance(e, MP_REQUEST_ON_WAIT);
}

static enum mp_request_event wait_on(struct mp_request *e)
{
	mp_scope_arm(e);
	return MP_QUIET;
}

static enum mp_request_event request_wait(struct mp_request *e)
{
	mp_scope_add_waiting(e);
	return wait_on(e);
}

static enum mp_request_event stop_waiting(struct mp_request *e)
{
	mp_scope_remove_waiting(e);
	e->waiting = mp_free(e->waiting);
	return MP_QUIET;
}

static enum mp_request_event finish_waiting(struct mp_request *e)
{
	stop_waiting(e);
	return request_finish(e);
}

/* --- parked ---------------------------------------------------------------------------------- */

/* The agent got a server request as its answer; nothing more is sent on that stream. */
static enum mp_request_event request_park(struct mp_request *e)
{
	struct mp_session *s = e->session;
	struct mp_sessions *l = s->sessions;

	mp_list_remove(&s->requests, &e->link);
	if (e->is_indexed)
		mp_map_remove(&s->by_id, mp_str_of(e->their_id));
	e->is_indexed = false;
	e->token = NULL;
	mp_list_append(&l->parked, &e->link);
	if (!mp_timer_is_running(&l->parked_timer))
		mp_timer_start(&l->parked_timer, MP_LIMIT_PARKED_MS);
	return MP_QUIET;
}

static enum mp_request_event come_back(struct mp_request *e)
{
	mp_list_remove(&e->session->sessions->parked, &e->link);
	mp_list_append(&e->session->requests, &e->link);
	return MP_QUIET;
}

static enum mp_request_event request_keep(struct mp_request *e)
{
	mp_session_drop_agent_requests(&e->agent_requests, e->session->sessions->o.pool);
	return MP_QUIET;
}

static enum mp_request_event drop_parked(struct mp_request *e)
{
	mp_list_remove(&e->session->sessions->parked, &e->link);
	request_detach(e);
	if (mp_request_is_calling(e))
		mp_pool_call_cancel(&e->call);
	else
		request_free(e);
	return MP_QUIET;
}

/* --- answers --------------------------------------------------------------------------------- */

bool mp_batch_leave(struct mp_batch *b)
{
	if (!b)
		return true;
	if (--b->open > 0)
		return false;
	mp_free(b);
	return true;
}

void mp_request_answer(struct mp_request *e, struct mp_str message, int status)
{
	struct mp_session *s = e->session;
	struct mp_sessions *l = s->sessions;
	struct mp_delivery d = {e->stream, message, false, status};

	d.is_last = mp_batch_leave(MP_TAKE(e->batch));
	s->answered++;
	s->hooks->deliver(s->u, &d);
	mp_request_advance(e, MP_REQUEST_ON_ANSWER);
	mp_sessions_tidy(l);
}

void mp_request_tell(struct mp_request *e, struct mp_str message)
{
	mp_session_send(e->session, e->stream, message);
}

void mp_request_give_up(struct mp_request *e, int r)
{
	struct mcpool_error why;

	(void)mp_fail(&why, r, "MCP error: %s", mcpool_error_text(r));
	mp_request_fail(e, &why, NULL);
}

void mp_request_result(struct mp_request *e, struct mp_str result)
{
	struct mp_buf *out = &e->session->sessions->out;
	int r;

	mp_buf_clear(out);
	r = mp_message_result(out, mp_str_of(e->their_id), result);
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_request_answer(e, mp_buf_get(out), 200);
}

/* A message in a fixed buffer. */
static void answer_error(struct mp_request *e, int code, int status, struct mp_str words,
			 struct mp_str data)
{
	struct mp_buf *out = &e->session->sessions->out;
	char spare[400];
	int n;

	mp_buf_clear(out);
	if (mp_message_error(out, mp_str_of(e->their_id), code, words, data) == 0) {
		mp_request_answer(e, mp_buf_get(out), status);
		return;
	}
	n = snprintf(spare, sizeof(spare),
		     "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32603,\"message\":"
		     "\"MCP error: the system refused memory\"}}",
		     e->their_id);
	mp_request_answer(e, (struct mp_str){spare, (size_t)n}, status);
}

void mp_request_refuse(struct mp_request *e, int code, int status, const char *format, ...)
{
	char words[400];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(words, sizeof(words), format, args); /* truncation is fine */
	va_end(args);
	answer_error(e, code, status, mp_str_of(words), MP_STR(""));
}

/* What is known of the failure. a: NULL if there was no call. */
static struct mp_failed_call describe(const struct mp_request *e, const struct mcpool_error *why,
				      const struct mp_pool_answer *a)
{
	bool is_tool = e->method == MP_METHOD_TOOLS_CALL && e->target;
	struct mp_str tool = is_tool ? mp_str_of(e->target) : MP_STR("");

	if (a)
		return mp_failed_call_of(a, tool);
	return (struct mp_failed_call){
		.server = e->server,
		.is_configured = true,
		.tool = tool,
		.why = why,
		.outcome = MP_OUTCOME_REFUSED,
	};
}

int mp_request_write_data(struct mp_buf *out, const struct mp_failed_call *f)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_failed_call_write(&w, f);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

void mp_request_fail_as(struct mp_request *e, int rpc_code, const struct mp_failed_call *f)
{
	struct mp_buf *data = &e->session->sessions->scratch;

	if (mp_request_write_data(data, f) < 0)
		mp_buf_clear(data);
	answer_error(e, rpc_code, 200, mp_str_of(f->why->message), mp_buf_get(data));
}

bool mp_request_takes_content(const struct mp_request *e)
{
	return e->method == MP_METHOD_TOOLS_CALL &&
	       mp_workspace_get_set(e->session->workspace)->settings.result.errors ==
		       MP_ERRORS_CONTENT;
}

/* The error object. */
static int write_error(const struct mp_failed_call *f, struct mp_buf *out)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", f->why->rpc_code);
	mp_write_member_text(&w, "message", mp_str_of(f->why->message));
	mp_write_key(&w, MP_STR("data"));
	mp_write_begin_object(&w);
	mp_failed_call_write(&w, f);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int write_content(const struct mp_request *e, const struct mp_failed_call *f,
			 struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf error;
	int r;

	mp_buf_init(&error, MP_LIMIT_MESSAGE);
	mp_buf_clear(out);
	r = write_error(f, &error);
	return r < 0 ? r : mp_error_content_write(e->era, mp_buf_get(&error), out);
}

/* An abort stays an abort. */
static bool is_content(const struct mp_request *e, const struct mp_failed_call *f)
{
	return mp_request_takes_content(e) && f->outcome != MP_OUTCOME_CANCELLED;
}

void mp_request_fail(struct mp_request *e, const struct mcpool_error *why,
		     const struct mp_pool_answer *a)
{
	struct mp_buf *content = &e->session->sessions->scratch;
	struct mp_failed_call f = describe(e, why, a);

	if (is_content(e, &f) && write_content(e, &f, content) == 0)
		mp_request_result(e, mp_buf_get(content));
	else
		mp_request_fail_as(e, why->rpc_code, &f);
}

int mp_request_write_failure(const struct mp_request *e, const struct mp_pool_answer *a,
			     struct mp_buf *out, bool *ret_is_error)
{
	struct mp_failed_call f = describe(e, a->error, a);

	*ret_is_error = !is_content(e, &f);
	return *ret_is_error ? write_error(&f, out) : write_content(e, &f, out);
}

struct mp_request *mp_request_of_call(const struct mp_session *s, struct mp_pool_call *call)
{
	struct mp_request *e;

	if (!call || call->hooks != &mp_request_call_hooks)
		return NULL;
	e = mp_container_of(call, struct mp_request, call);
	return e->session == s ? e : NULL;
}
