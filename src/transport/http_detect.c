/*
 * http_detect.c - finds out whether a remote server speaks Streamable HTTP or the older HTTP+SSE.
 */
#include "transport/http_detect.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "rpc/outgoing.h"
#include "transport/sse_legacy.h"
#include "transport/streamable.h"

#define HTTP_DETECT_STATES(X)                                                   \
	X(FRESH, "fresh", "not started; it leaves this state when that worked") \
	X(FIRST, "first", "what was configured is tried")                       \
	X(SECOND, "second", "the other one is tried")                           \
	X(SURE, "sure", "the server has spoken: it stays as it is")             \
	X(OVER, "over", "there is nothing left to try, or the inner one ended") \
	X(CLOSING, "closing", "the inner one shuts down")                       \
	X(CLOSED, "closed", "the last state")

#define HTTP_DETECT_EVENTS(X)                                   \
	X(STARTED, "started", "the first one is on its way")    \
	X(OPENED, "opened", "the inner one is open")            \
	X(HEARD, "heard", "a message came")                     \
	X(OTHER, "other", "this is not what the server speaks") \
	X(ENDED, "ended", "the inner one ended")                \
	X(CLOSE, "close", "hang up")                            \
	X(SHUT, "shut", "the inner one has shut down")

MP_MACHINE_ENUM(http_detect_state, HTTP_DETECT_STATES);
MP_MACHINE_ENUM(http_detect_event, HTTP_DETECT_EVENTS);

struct http_detect {
	struct mp_transport base;
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct mp_destination to;
	struct mp_http_detect_options o;
	enum http_detect_state state;
	enum mp_http_detect_kind kind; /* of the inner one */
	struct mp_transport *inner;    /* owned; NULL before the start */
	struct mp_buf opening;         /* initialize, until the server has spoken */
	struct mp_buf opening_id;
	struct mcpool_error *first_why; /* why the first one was not it; owned */
	struct mcpool_error *why;       /* of the end; owned */
	struct mp_task closed_task;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(http_detect, struct http_detect, enum http_detect_event, HTTP_DETECT_STATES,
		 HTTP_DETECT_EVENTS);
static http_detect_action pass_opened, http_detect_resume, http_detect_settle, switch_over,
	pass_ended, give_up, hang_up, tell_closed;

MP_MACHINE_STEPS(http_detect) = {
	[FRESH] = {[STARTED] = MP_TO(FIRST, NULL), [CLOSE] = MP_TO(CLOSED, tell_closed)},
	[FIRST] = {[OPENED] = MP_DO(pass_opened),
		   [HEARD] = MP_TO(SURE, NULL),
		   [OTHER] = MP_TO(SECOND, switch_over),
		   [ENDED] = MP_TO(OVER, pass_ended),
		   [CLOSE] = MP_TO(CLOSING, hang_up)},
	[SECOND] = {[OPENED] = MP_DO(http_detect_resume),
		    [HEARD] = MP_TO(SURE, http_detect_settle),
		    [OTHER] = MP_TO(OVER, give_up),
		    [ENDED] = MP_TO(OVER, give_up),
		    [CLOSE] = MP_TO(CLOSING, hang_up)},
	[SURE] = {[HEARD] = MP_STAY,
		  [ENDED] = MP_TO(OVER, pass_ended),
		  [CLOSE] = MP_TO(CLOSING, hang_up)},
	[OVER] = {[HEARD] = MP_STAY, [ENDED] = MP_STAY, [CLOSE] = MP_TO(CLOSING, hang_up)},
	[CLOSING] = {[SHUT] = MP_TO(CLOSED, tell_closed), [CLOSE] = MP_STAY},
	[CLOSED] = {[CLOSE] = MP_STAY},
};

static void http_detect_describe(const struct http_detect *r, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "http_detect %s", r->to.place);
}

MP_MACHINE(http_detect, struct http_detect, .describe = http_detect_describe)

const char *mp_http_detect_kind_get_name(enum mp_http_detect_kind kind)
{
	return kind == MP_HTTP_DETECT_SSE ? "sse" : "http";
}

static struct http_detect *http_detect_of(const struct mp_transport *t)
{
	return mp_container_of(t, struct http_detect, base);
}

/* --- what the inner one tells --------------------------------------------------------------- */

/* Nothing of this kind is there; a login, an outage or a busy server says nothing about kinds. */
static bool is_other(const struct mcpool_error *why)
{
	return why->code == MCPOOL_ENOENT || why->code == MCPOOL_EPROTO;
}

static void inner_opened(void *u)
{
	http_detect_advance(u, OPENED);
}

static void inner_message(void *u, struct mp_str text)
{
	struct http_detect *r = u;

	http_detect_advance(r, HEARD);
	r->base.during = r->inner->during;
	r->base.hooks->message(r->base.u, text);
	r->base.during = MP_STR("");
}

static void inner_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct http_detect *r = u;

	if (r->base.hooks->oversize)
		r->base.hooks->oversize(r->base.u, head, tail);
}

static void inner_written(void *u, uint64_t total)
{
	struct http_detect *r = u;

	if (r->base.hooks->written)
		r->base.hooks->written(r->base.u, total);
}

static void inner_sent(void *u, struct mp_str id)
{
	struct http_detect *r = u;

	if (r->base.hooks->sent)
		r->base.hooks->sent(r->base.u, id);
}

static void pass_lost(struct http_detect *r, struct mp_str id, enum mp_unanswered how,
		      const struct mcpool_error *why)
{
	if (r->base.hooks->lost)
		r->base.hooks->lost(r->base.u, id, how, why);
}

/* initialize was refused without a word of MCP: this may be a server of the older kind. */
static void inner_lost(void *u, struct mp_str id, enum mp_unanswered how,
		       const struct mcpool_error *why)
{
	struct http_detect *r = u;

	if (r->state == FIRST && r->kind == MP_HTTP_DETECT_HTTP && how == MP_UNANSWERED_UNUSABLE &&
	    r->opening.len && mp_str_eq(id, mp_buf_get(&r->opening_id)) && is_other(why)) {
		mp_error_keep(&r->first_why, why);
		http_detect_advance(r, OTHER);
		return;
	}
	pass_lost(r, id, how, why);
}

static bool inner_is_open(void *u, struct mp_str id)
{
	struct http_detect *r = u;

	return r->base.hooks->is_open && r->base.hooks->is_open(r->base.u, id);
}

static void inner_doubt(void *u, const char *why)
{
	struct http_detect *r = u;

	if (r->base.hooks->doubt)
		r->base.hooks->doubt(r->base.u, why);
}

static int inner_param_headers(void *u, const struct mp_outgoing *o, struct mp_http_fields *fields)
{
	struct http_detect *r = u;

	return r->base.hooks->param_headers ? r->base.hooks->param_headers(r->base.u, o, fields)
					    : 0;
}

static void inner_ended(void *u, const struct mcpool_error *why)
{
	struct http_detect *r = u;
	bool was_open = r->kind == MP_HTTP_DETECT_HTTP; /* it always is, and proves nothing */

	mp_error_keep(&r->why, why);
	if (r->state == FIRST && !was_open && is_other(why)) {
		mp_error_keep(&r->first_why, why);
		http_detect_advance(r, OTHER);
	} else {
		http_detect_advance(r, ENDED);
	}
}

static void inner_closed(void *u)
{
	http_detect_advance(u, SHUT);
}

static const struct mp_transport_hooks inner_hooks = {
	.opened = inner_opened,
	.message = inner_message,
	.oversize = inner_oversize,
	.written = inner_written,
	.sent = inner_sent,
	.lost = inner_lost,
	.is_open = inner_is_open,
	.doubt = inner_doubt,
	.param_headers = inner_param_headers,
	.ended = inner_ended,
	.closed = inner_closed,
};

/* --- stations ------------------------------------------------------------------------------- */

static int start_inner(struct http_detect *r, enum mp_http_detect_kind kind)
{
	struct mp_transport *t = NULL;
	struct mcpool_error why;
	int e = kind == MP_HTTP_DETECT_SSE
			? mp_sse_legacy_new(r->loop, r->client, &r->to, &t, &why)
			: mp_streamable_new(r->loop, r->client, &r->to, &t, &why);

	if (e < 0) {
		mp_error_keep(&r->why, &why);
		return e;
	}
	mp_transport_free(r->inner);
	r->inner = t;
	r->kind = kind;
	t->hooks = &inner_hooks;
	t->u = r;
	r->base.traits = t->traits;
	e = t->impl->start(t, &why);
	if (e < 0)
		mp_error_keep(&r->why, &why);
	return e;
}

static enum http_detect_event switch_over(struct http_detect *r)
{
	enum mp_http_detect_kind other =
		r->kind == MP_HTTP_DETECT_SSE ? MP_HTTP_DETECT_HTTP : MP_HTTP_DETECT_SSE;

	return start_inner(r, other) < 0 ? ENDED : MP_QUIET;
}

static enum http_detect_event pass_opened(struct http_detect *r)
{
	r->base.traits = r->inner->traits;
	if (r->base.hooks->opened)
		r->base.hooks->opened(r->base.u);
	if (r->state != FIRST && r->state != SECOND)
		return MP_QUIET; /* the hook closed it */
	return r->kind == MP_HTTP_DETECT_SSE ? HEARD
					     : MP_QUIET; /* it was greeted by its endpoint */
}

/* The other one is open: it is told what the first would not hear. */
static enum http_detect_event http_detect_resume(struct http_detect *r)
{
	MP_UNSET struct mp_outgoing o;
	uint64_t at;

	if (r->opening.len == 0)
		return pass_opened(r);
	r->base.traits = r->inner->traits;
	mp_outgoing_text(&o, MP_MESSAGE_REQUEST, MP_METHOD_INITIALIZE, mp_buf_get(&r->opening_id),
			 mp_buf_get(&r->opening));
	if (r->inner->impl->send(r->inner, &o, &at) < 0)
		return OTHER;
	return HEARD;
}

static enum http_detect_event http_detect_settle(struct http_detect *r)
{
	if (r->o.turned_out)
		r->o.turned_out(r->o.u, r->kind);
	return MP_QUIET;
}

static enum http_detect_event pass_ended(struct http_detect *r)
{
	struct mcpool_error why = *r->why;

	if (r->base.hooks->ended)
		r->base.hooks->ended(r->base.u, &why);
	return MP_QUIET;
}

/*
 * Both failed. Report the configured kind's error, unless the other kind met authentication or a
 * busy server.
 */
static enum http_detect_event give_up(struct http_detect *r)
{
	if (!r->why || is_other(r->why))
		mp_error_keep(&r->why, r->first_why);
	return pass_ended(r);
}

static enum http_detect_event hang_up(struct http_detect *r)
{
	r->inner->impl->close(r->inner);
	return MP_QUIET;
}

static void closed_later(void *u)
{
	struct http_detect *r = u;

	if (r->base.hooks->closed)
		r->base.hooks->closed(r->base.u);
}

static enum http_detect_event tell_closed(struct http_detect *r)
{
	mp_loop_post(r->loop, &r->closed_task);
	return MP_QUIET;
}

/* --- the transport -------------------------------------------------------------------------- */

static int http_detect_start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct http_detect *r = http_detect_of(t);

	if (start_inner(r, r->o.first) < 0)
		return mp_fail_because(reterr, r->why->code, r->why, "%s", r->why->message);
	http_detect_advance(r, STARTED);
	return 0;
}

/* Only while the kind is unknown. */
static void keep_opening(struct http_detect *r, const struct mp_outgoing *o)
{
	if (o->method != MP_METHOD_INITIALIZE)
		return;
	mp_buf_clear(&r->opening);
	mp_buf_clear(&r->opening_id);
	if (mp_buf_add_str(&r->opening_id, o->id) < 0 ||
	    mp_buf_add_pieces(&r->opening, o->pieces, o->n_pieces) < 0)
		mp_buf_clear(&r->opening); /* then there is no second try */
}

static int http_detect_send(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct http_detect *r = http_detect_of(t);

	if (r->state != FIRST && r->state != SECOND && r->state != SURE)
		return MCPOOL_ECLOSED;
	if (r->state == FIRST)
		keep_opening(r, o);
	return r->inner->impl->send(r->inner, o, ret_at);
}

static void http_detect_close(struct mp_transport *t)
{
	http_detect_advance(http_detect_of(t), CLOSE);
}

static void http_detect_gone(struct mp_grave *grave)
{
	struct http_detect *r = mp_container_of(grave, struct http_detect, grave);

	mp_destination_done(&r->to);
	mp_buf_done(&r->opening);
	mp_buf_done(&r->opening_id);
	mp_free(r->first_why);
	mp_free(r->why);
	mp_free(r);
}

static void http_detect_destroy(struct mp_transport *t)
{
	struct http_detect *r = http_detect_of(t);

	r->inner = mp_transport_free(r->inner);
	mp_loop_unpost(r->loop, &r->closed_task);
	r->state = CLOSED;
	mp_loop_bury(r->loop, &r->grave, http_detect_gone); /* a hook may be on the stack */
}

static struct mp_str http_detect_get_challenge(const struct mp_transport *t)
{
	const struct http_detect *r = http_detect_of(t);

	if (!r->inner || !r->inner->impl->get_challenge)
		return MP_STR("");
	return r->inner->impl->get_challenge(r->inner);
}

static const struct mp_transport_impl impl = {
	.name = "http_detect",
	.start = http_detect_start,
	.send = http_detect_send,
	.close = http_detect_close,
	.destroy = http_detect_destroy,
	.get_challenge = http_detect_get_challenge,
};

int mp_http_detect_new(struct mp_loop *loop, struct mp_http_client *client,
		       const struct mp_destination *to,
		       const struct mp_http_detect_options *options,
		       struct mp_transport **ret_transport, struct mcpool_error *reterr)
{
	struct http_detect *r = mp_alloc(sizeof(*r));
	int e = mp_destination_copy(&r->to, to);

	if (e < 0) {
		mp_destination_done(&r->to);
		mp_free(r);
		return mp_fail(reterr, e, "%s", mcpool_error_text(e));
	}
	r->base.impl = &impl;
	r->loop = loop;
	r->client = client;
	r->o = *options;
	r->state = FRESH;
	mp_buf_init(&r->opening, MP_LIMIT_MESSAGE);
	mp_buf_init(&r->opening_id, MP_LIMIT_ID);
	mp_task_init(&r->closed_task, closed_later, r);
	*ret_transport = &r->base;
	return 0;
}
