/*
 * sse_legacy.c - HTTP+SSE as revision 2024-11-05 has it.
 * A GET that never ends brings the server's messages; each of ours is a POST (outbox.c) to the
 * place that its first event names. Requests are answered on the stream, so the end of the stream
 * is the end of the conversation.
 */
#include "transport/sse_legacy.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "net/http_status.h"
#include "net/redirect.h"
#include "net/sse.h"
#include "rpc/recover_id.h"
#include "transport/outbox.h"
#include "net/refusal.h"

/*
 * A server that has such a stream names the place at once; one that does not may keep a stream of
 * another kind open for ever.
 */
enum { PLACE_MS = 5000 };
/*
 * A server may think about a request before it says that it has it; with anything else there is
 * nothing to think about.
 */
enum { REQUEST_IDLE_MS = 300 * 1000, OTHER_IDLE_MS = 30 * 1000, TOTAL_MS = 3600 * 1000 };

#define SSE_LEGACY_STATES(X)                                                 \
	X(IDLE, "idle", "not started")                                       \
	X(DIALING, "dialing", "the stream was asked for")                    \
	X(DENIED, "denied", "the answer is no; what it says is being read")  \
	X(WAITING, "waiting", "the stream is there, the place is not known") \
	X(OPEN, "open", "messages may flow")                                 \
	X(OVER, "over", "ended was told")                                    \
	X(CLOSED, "closed", "the last state")

#define SSE_LEGACY_EVENTS(X)                                              \
	X(START, "start", "begin")                                        \
	X(MOVED, "moved", "the stream is at another place of the server") \
	X(STREAM, "stream", "an answer began, which is a stream")         \
	X(NO, "no", "an answer began, which is none")                     \
	X(PLACE, "place", "the place for messages was named")             \
	X(FAILED, "failed", "no more of it; why is written down")         \
	X(CLOSE, "close", "hang up")                                      \
	X(FREED, "freed", "its owner lets go of it")

MP_MACHINE_ENUM(sse_legacy_state, SSE_LEGACY_STATES);
MP_MACHINE_ENUM(sse_legacy_event, SSE_LEGACY_EVENTS);

struct sse_legacy {
	struct mp_transport base;
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	struct mp_destination destination;
	enum sse_legacy_state state;
	mp_id stream;      /* the GET; 0: none */
	int hops;          /* redirects that were followed */
	enum mp_zone zone; /* of the server that answered; ANY: none did */
	struct mp_sse sse;
	struct mp_refusal refusal; /* of the stream, or of a message that was refused */
	char *post_url;            /* owned; NULL: not known */
	struct mp_outbox outbox;
	bool answered;            /* a message came */
	struct mp_timer patience; /* WAITING */
	struct mcpool_error why;
	struct mp_task closed_task;
	struct mp_grave grave;
};

/* --- the table ------------------------------------------------------------------------------ */

MP_MACHINE_TYPES(sse_legacy, struct sse_legacy, enum sse_legacy_event, SSE_LEGACY_STATES,
		 SSE_LEGACY_EVENTS);
static sse_legacy_action sse_legacy_dial, wait_for_place, tell_opened, tell_ended, hang_up, let_go;

/* Possible in every state. */
#define LEAVING [CLOSE] = MP_TO(CLOSED, hang_up), [FREED] = MP_TO(CLOSED, let_go)

MP_MACHINE_STEPS(sse_legacy) = {
	[IDLE] = {[START] = MP_TO(DIALING, NULL), LEAVING},
	[DIALING] = {[MOVED] = MP_TO(DIALING, sse_legacy_dial),
		     [STREAM] = MP_TO(WAITING, wait_for_place),
		     [NO] = MP_TO(DENIED, NULL),
		     [FAILED] = MP_TO(OVER, tell_ended),
		     LEAVING},
	[DENIED] = {[FAILED] = MP_TO(OVER, tell_ended), LEAVING},
	[WAITING] =
		{[PLACE] = MP_TO(OPEN, tell_opened), [FAILED] = MP_TO(OVER, tell_ended), LEAVING},
	[OPEN] = {[FAILED] = MP_TO(OVER, tell_ended), LEAVING},
	[OVER] = {LEAVING},
	[CLOSED] = {[CLOSE] = MP_STAY, [FREED] = MP_DO(let_go)},
};

static void sse_legacy_describe(const struct sse_legacy *x, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "sse_legacy %s", x->destination.place);
}

MP_MACHINE(sse_legacy, struct sse_legacy, .describe = sse_legacy_describe)

static struct sse_legacy *get_sse(struct mp_transport *t)
{
	return mp_container_of(t, struct sse_legacy, base);
}

/* --- the stream ----------------------------------------------------------------------------- */

static void sse_legacy_cut(struct sse_legacy *x)
{
	mp_http_cancel(x->client, x->stream); /* nothing, where it is over by itself */
	x->stream = 0;
	mp_timer_stop(&x->patience);
	mp_outbox_cut(&x->outbox);
}

static enum sse_legacy_event wait_for_place(struct sse_legacy *x)
{
	mp_timer_start(&x->patience, PLACE_MS);
	return MP_QUIET;
}

/* Reported as another kind of answer, so that http_detect tries the other transport. */
static void place_is_missing(void *u)
{
	struct sse_legacy *x = u;

	(void)mp_fail(&x->why, MCPOOL_EPROTO,
		      "%s has a stream of events, but names no place for messages within %d s",
		      x->destination.place, PLACE_MS / 1000);
	sse_legacy_advance(x, FAILED);
}

static enum sse_legacy_event tell_opened(struct sse_legacy *x)
{
	mp_timer_stop(&x->patience);
	if (x->base.hooks->opened)
		x->base.hooks->opened(x->base.u);
	return MP_QUIET;
}

static enum sse_legacy_event tell_ended(struct sse_legacy *x)
{
	sse_legacy_cut(x);
	if (x->base.hooks->ended)
		x->base.hooks->ended(x->base.u, &x->why);
	return MP_QUIET;
}

static void explain_refusal(struct sse_legacy *x, const struct mp_refusal *refusal)
{
	mp_refusal_explain(refusal, x->destination.place, mp_loop_wall_now_ms(x->loop), &x->why);
}

static enum sse_legacy_event sse_legacy_follow(struct sse_legacy *x,
					       const struct mp_http_head *head)
{
	struct mp_str location = mp_str_trim(mp_http_head_find(head, MP_STR("Location")));
	char *url;

	if (mp_destination_resolve(&x->destination, location, x->hops, &url, &x->why) < 0)
		return FAILED;
	mp_destination_move(&x->destination, url);
	mp_free(url);
	x->hops++;
	mp_http_cancel(x->client, x->stream);
	x->stream = 0;
	return MOVED;
}

/* --- what the stream brings ----------------------------------------------------------------- */

static void stream_head(void *u, const struct mp_http_head *head)
{
	struct sse_legacy *x = u;

	x->zone = head->zone;
	if (mp_http_status_of(head->status) == MP_HTTP_FINE &&
	    mp_http_head_has_type(head, MP_STR("text/event-stream"))) {
		sse_legacy_advance(x, STREAM);
	} else if (mp_redirect_is_status(head->status)) {
		sse_legacy_advance(x, sse_legacy_follow(x, head));
	} else if (mp_http_status_of(head->status) == MP_HTTP_FINE) {
		(void)mp_fail(&x->why, MCPOOL_EPROTO,
			      "%s answered with something else than a stream of events",
			      x->destination.place);
		sse_legacy_advance(x, FAILED);
	} else {
		mp_refusal_begin(&x->refusal, head);
		sse_legacy_advance(x, NO);
	}
}

static void take_place(struct sse_legacy *x, const struct mp_sse_event *event)
{
	struct mp_str location = mp_str_trim(event->data);

	if (event->oversize)
		location.len = 0;
	if (mp_destination_resolve(&x->destination, location, 0, &x->post_url, &x->why) < 0)
		sse_legacy_advance(x, FAILED);
	else
		sse_legacy_advance(x, PLACE);
}

static void take_message(struct sse_legacy *x, const struct mp_sse_event *event)
{
	const struct mp_transport_hooks *hooks = x->base.hooks;
	struct mp_str tail = event->oversize ? event->tail : event->data;

	x->answered = true;
	/*
	 * An answer implies that its request was sent; here the answer may come before that report.
	 */
	if (x->outbox.unsent)
		mp_outbox_note_sent(&x->outbox, mp_recover_id(event->data, tail));
	if (x->state != OPEN)
		return;
	if (event->oversize && hooks->oversize)
		hooks->oversize(x->base.u, event->data, tail);
	else if (!event->oversize && hooks->message)
		hooks->message(x->base.u, event->data);
}

static bool is_listening(const struct sse_legacy *x)
{
	return x->state == WAITING || x->state == OPEN;
}

/* Events of other names are for others; so are messages before there is a place to answer to. */
static void take_event(struct sse_legacy *x, const struct mp_sse_event *event)
{
	if (x->state == WAITING && mp_str_eq(event->type, MP_STR("endpoint")))
		take_place(x, event);
	else if (x->state == OPEN && mp_str_eq(event->type, MP_STR("message")))
		take_message(x, event);
}

/* Hooks may close or free the transport; then nothing more is handed out. */
static void sse_legacy_hear(struct sse_legacy *x, struct mp_str bytes)
{
	struct mp_sse_event event;
	int r = 1;

	mp_sse_feed(&x->sse, bytes);
	while (is_listening(x) && (r = mp_sse_next(&x->sse, &event)) > 0)
		take_event(x, &event);
	if (r < 0) {
		(void)mp_fail(&x->why, r, "%s", mcpool_error_text(r));
		sse_legacy_advance(x, FAILED);
	}
}

static void be_denied(struct sse_legacy *x)
{
	explain_refusal(x, &x->refusal);
	sse_legacy_advance(x, FAILED);
}

static void stream_data(void *u, struct mp_str bytes)
{
	struct sse_legacy *x = u;

	if (x->state != DENIED)
		sse_legacy_hear(x, bytes);
	else if (!mp_refusal_add(&x->refusal, bytes))
		be_denied(x);
}

static void stream_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct sse_legacy *x = u;

	x->stream = 0;
	if (x->state == DENIED) {
		be_denied(x);
		return;
	}
	if (how != MP_HTTP_OK)
		x->why = *err;
	else if (x->state == WAITING)
		(void)mp_fail(&x->why, MCPOOL_EPROTO,
			      "%s ended its stream without a place for messages",
			      x->destination.place);
	else
		(void)mp_fail(&x->why, MCPOOL_ECLOSED, "%s ended its stream of events",
			      x->destination.place);
	if (how == MP_HTTP_RESOLVE)
		x->why.code = MCPOOL_EIO; /* "not found" would be about the stream */
	sse_legacy_advance(x, FAILED);
}

static const struct mp_http_hooks stream_hooks = {
	.head = stream_head,
	.data = stream_data,
	.done = stream_done,
};

static int sse_legacy_ask(struct sse_legacy *x, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields fields;
	struct mp_http_request request = {.method = "GET", .from = x->zone};
	int r;

	mp_http_fields_init(&fields);
	r = mp_http_fields_add(&fields, MP_STR("Accept"), MP_STR("text/event-stream"));
	if (r == 0)
		r = mp_destination_add_headers(&x->destination, &fields);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_destination_address(&x->destination, &fields, &request);
	return mp_http_start(x->client, &request, &stream_hooks, x, &x->stream, reterr);
}

static enum sse_legacy_event sse_legacy_dial(struct sse_legacy *x)
{
	return sse_legacy_ask(x, &x->why) < 0 ? FAILED : MP_QUIET;
}

/* --- messages ------------------------------------------------------------------------------- */

static int write_post(void *u, struct mp_http_post *p, struct mp_http_request *ret)
{
	struct sse_legacy *x = u;
	int r;

	r = mp_http_fields_add(&p->headers, MP_STR("Content-Type"), MP_STR("application/json"));
	if (r == 0)
		r = mp_destination_add_headers(&x->destination, &p->headers);
	mp_destination_address(&x->destination, &p->headers, ret);
	ret->url = x->post_url;
	ret->from = x->zone; /* the address came from a server there */
	ret->idle_ms = p->id ? REQUEST_IDLE_MS : OTHER_IDLE_MS;
	ret->total_ms = TOTAL_MS;
	return r;
}

static void tell_sent(void *u, struct mp_str id)
{
	struct sse_legacy *x = u;

	if (x->base.hooks->sent)
		x->base.hooks->sent(x->base.u, id);
}

static void tell_lost(struct sse_legacy *x, struct mp_http_post *p, enum mp_unanswered how,
		      const struct mcpool_error *why)
{
	if (!p->id)
		return; /* it is not awaited */
	if (how == MP_UNANSWERED_UNUSABLE)
		mp_outbox_tell_sent(&x->outbox, p); /* it was answered, so it arrived */
	if (x->state == OPEN && x->base.hooks->lost)
		x->base.hooks->lost(x->base.u, mp_str_of(p->id), how, why);
}

static void sse_legacy_fail(struct sse_legacy *x, const struct mcpool_error *why)
{
	if (x->state != OPEN)
		return; /* the hook closed it */
	x->why = *why;
	sse_legacy_advance(x, FAILED);
}

/* The server has forgotten us, and with us what was asked; this one it never took. */
static void be_forgotten(struct sse_legacy *x, struct mp_http_post *p,
			 const struct mcpool_error *refusal)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the conversation is over: %s", refusal->message);
	why.fault = MCPOOL_FAULT_CLOSED;
	if (x->answered)
		tell_lost(x, p, MP_UNANSWERED_NOT_TAKEN, &why);
	sse_legacy_fail(x, &why);
}

/* Before the first answer a 401 concerns the whole server; later it concerns one request. */
static void be_locked_out(struct sse_legacy *x, struct mp_http_post *p,
			  const struct mcpool_error *why)
{
	struct mp_refusal old = x->refusal;

	x->refusal = p->refusal; /* it has the challenge */
	p->refusal = old;
	if (x->answered)
		tell_lost(x, p, MP_UNANSWERED_UNUSABLE, why);
	else
		sse_legacy_fail(x, why);
}

static void post_denied(struct sse_legacy *x, struct mp_http_post *p)
{
	enum mp_http_status status = mp_http_status_of(p->refusal.status);
	struct mcpool_error why;

	mp_refusal_explain(&p->refusal, x->destination.place, mp_loop_wall_now_ms(x->loop), &why);
	if (p->refusal.status == 404 || p->refusal.status == 410)
		be_forgotten(x, p, &why);
	else if (status == MP_HTTP_LOCKED)
		be_locked_out(x, p, &why);
	else
		tell_lost(x, p,
			  status == MP_HTTP_BUSY ? MP_UNANSWERED_NOT_TAKEN : MP_UNANSWERED_UNUSABLE,
			  &why);
}

static void post_broken(struct sse_legacy *x, struct mp_http_post *p,
			const struct mp_http_post_end *end)
{
	const char *doubt = p->was_sent ? "a request was cut off" : "a request could not be sent";

	/* The answer comes on the stream, if at all; its own deadline counts. */
	if (end->how == MP_HTTP_TIMEOUT && p->was_sent)
		return;
	tell_lost(x, p, p->was_sent ? MP_UNANSWERED_UNKNOWN : MP_UNANSWERED_NOT_TAKEN, &end->why);
	if (x->state == OPEN && x->base.hooks->doubt)
		x->base.hooks->doubt(x->base.u, doubt);
}

static void post_done(void *u, struct mp_http_post *p, const struct mp_http_post_end *end)
{
	if (end->stage == MP_HTTP_POST_DENIED)
		post_denied(u, p);
	else if (end->stage == MP_HTTP_POST_GOING)
		post_broken(u, p, end);
}

static const struct mp_outbox_hooks outbox_hooks = {
	.request = write_post,
	.sent = tell_sent,
	.done = post_done,
};

static int send_message(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct sse_legacy *x = get_sse(t);

	if (x->state != OPEN)
		return x->state < OPEN ? MCPOOL_EAGAIN : MCPOOL_ECLOSED;
	if (ret_at)
		*ret_at = UINT64_MAX; /* sent() tells, not written() */
	return mp_outbox_send(&x->outbox, o);
}

/* --- life ----------------------------------------------------------------------------------- */

static int sse_legacy_start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct sse_legacy *x = get_sse(t);
	int r = sse_legacy_ask(x, reterr);

	if (r == 0)
		sse_legacy_advance(x, START);
	return r;
}

static void close_sse(struct mp_transport *t)
{
	sse_legacy_advance(get_sse(t), CLOSE);
}

static void tell_closed(void *u)
{
	struct sse_legacy *x = u;

	if (x->base.hooks->closed)
		x->base.hooks->closed(x->base.u);
}

static enum sse_legacy_event hang_up(struct sse_legacy *x)
{
	sse_legacy_cut(x);
	mp_loop_post(x->loop, &x->closed_task);
	return MP_QUIET;
}

static void free_sse(struct mp_grave *grave)
{
	struct sse_legacy *x = mp_container_of(grave, struct sse_legacy, grave);

	mp_outbox_cut(&x->outbox);
	mp_sse_done(&x->sse);
	mp_refusal_done(&x->refusal);
	mp_destination_done(&x->destination);
	mp_free(x->post_url);
	mp_free(x);
}

static enum sse_legacy_event let_go(struct sse_legacy *x)
{
	sse_legacy_cut(x);
	mp_loop_unpost(x->loop, &x->closed_task);
	mp_loop_bury(x->loop, &x->grave, free_sse); /* it may be handing out a message now */
	return MP_QUIET;
}

static void free_transport(struct mp_transport *t)
{
	sse_legacy_advance(get_sse(t), FREED);
}

static struct mp_str get_challenge(const struct mp_transport *t)
{
	const struct sse_legacy *x = mp_container_of(t, const struct sse_legacy, base);

	return mp_refusal_get_challenge(&x->refusal);
}

static const struct mp_transport_impl impl = {
	.name = "sse",
	.start = sse_legacy_start,
	.send = send_message,
	.close = close_sse,
	.destroy = free_transport,
	.get_challenge = get_challenge,
};

int mp_sse_legacy_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *destination, struct mp_transport **ret,
		      struct mcpool_error *reterr)
{
	struct sse_legacy *x = mp_alloc(sizeof(*x));
	int r;

	x->base.impl = &impl;
	x->base.traits = MP_TRANSPORT_LEGACY;
	x->loop = loop;
	x->client = client;
	mp_sse_init(&x->sse, MP_LIMIT_MESSAGE);
	mp_refusal_init(&x->refusal);
	mp_outbox_init(&x->outbox, loop, client, &outbox_hooks, x);
	mp_task_init(&x->closed_task, tell_closed, x);
	mp_timer_init(&x->patience, loop, place_is_missing, x);
	r = mp_destination_copy(&x->destination, destination);
	if (r < 0) {
		free_transport(&x->base);
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	*ret = &x->base;
	return 0;
}
