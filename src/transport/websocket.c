/*
 * websocket.c - a WebSocket as a transport: one message per text frame, subprotocol `mcp`.
 * No revision of MCP has it; this is what the SDKs' clients and servers do. net/ws.c does the work.
 */
#include "transport/websocket.h"

#include "base/error.h"
#include "base/machine.h"
#include "base/mem.h"
#include "net/authorization.h"
#include "net/ws.h"
#include "rpc/outgoing.h"

enum { REFUSALS = 3 }; /* and no more requests for another token */

#define WEBSOCKET_STATES(X)                                             \
	X(NEW, "new", "not started")                                    \
	X(DIALING, "dialing", "the server has not agreed yet")          \
	X(ASKING, "asking", "refused; another token may come")          \
	X(OPEN, "open", "messages may flow")                            \
	X(ENDED, "ended", "told so; the owner is to close it")          \
	X(CLOSING, "closing", "we sent a close frame, theirs may come") \
	X(CLOSED, "closed", "everything is shut down; the last state")

#define WEBSOCKET_EVENTS(X)                         \
	X(START, "start", "the owner wants it")     \
	X(OPENED, "opened", "the server agreed")    \
	X(REFUSED, "refused", "a token is missing") \
	X(AGAIN, "again", "there is another token") \
	X(OVER, "over", "the WebSocket is closed")  \
	X(CLOSE, "close", "the owner wants it no more")

MP_MACHINE_ENUM(websocket_state, WEBSOCKET_STATES);
MP_MACHINE_ENUM(websocket_event, WEBSOCKET_EVENTS);

struct websocket {
	struct mp_transport base;
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	struct mp_destination destination;
	enum websocket_state state;
	struct mp_ws *ws;                      /* owned; NULL: not started */
	struct mcpool_error why;               /* of the end */
	unsigned token, refused;               /* see mp_authorization_refusal */
	struct mp_authorization_waiter waiter; /* ASKING */
	struct mp_task closed;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(websocket, struct websocket, enum websocket_event, WEBSOCKET_STATES,
		 WEBSOCKET_EVENTS);
static websocket_action websocket_dial, tell_opened, tell_ended, hang_up, stop_asking, post_closed;

MP_MACHINE_STEPS(websocket) = {
	[NEW] = {[START] = MP_TO(DIALING, NULL), [CLOSE] = MP_TO(CLOSED, post_closed)},
	[DIALING] = {[OPENED] = MP_TO(OPEN, tell_opened),
		     [REFUSED] = MP_TO(ASKING, NULL),
		     [OVER] = MP_TO(ENDED, tell_ended),
		     [CLOSE] = MP_TO(CLOSING, hang_up)},
	[ASKING] = {[AGAIN] = MP_TO(DIALING, websocket_dial),
		    [OVER] = MP_TO(ENDED, tell_ended),
		    [CLOSE] = MP_TO(CLOSED, stop_asking)},
	[OPEN] = {[OVER] = MP_TO(ENDED, tell_ended), [CLOSE] = MP_TO(CLOSING, hang_up)},
	[ENDED] = {[CLOSE] = MP_TO(CLOSED, post_closed)},
	[CLOSING] = {[OVER] = MP_TO(CLOSED, post_closed), [CLOSE] = MP_STAY},
	[CLOSED] = {[CLOSE] = MP_STAY},
};

static void websocket_describe(const struct websocket *w, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "websocket %s", w->destination.place);
}

MP_MACHINE(websocket, struct websocket, .describe = websocket_describe)

static struct websocket *websocket_get(struct mp_transport *t)
{
	return mp_container_of(t, struct websocket, base);
}

/* --- what is done --------------------------------------------------------------------------- */

static enum websocket_event tell_opened(struct websocket *w)
{
	if (w->base.hooks->opened)
		w->base.hooks->opened(w->base.u);
	return MP_QUIET;
}

static enum websocket_event tell_ended(struct websocket *w)
{
	if (w->base.hooks->ended)
		w->base.hooks->ended(w->base.u, &w->why);
	return MP_QUIET;
}

static enum websocket_event hang_up(struct websocket *w)
{
	mp_ws_close(w->ws);
	return MP_QUIET;
}

static enum websocket_event stop_asking(struct websocket *w)
{
	w->destination.authorization->ops->leave(w->destination.authorization, &w->waiter);
	return post_closed(w);
}

/* Never from within close(). */
static enum websocket_event post_closed(struct websocket *w)
{
	mp_loop_post(w->loop, &w->closed);
	return MP_QUIET;
}

static void tell_closed(void *u)
{
	struct websocket *w = u;

	if (w->base.hooks->closed)
		w->base.hooks->closed(w->base.u);
}

/* --- what the WebSocket tells --------------------------------------------------------------- */

static void ws_opened(void *u)
{
	websocket_advance(u, OPENED);
}

static void ws_message(void *u, struct mp_str text)
{
	struct websocket *w = u;

	if (w->base.hooks->message)
		w->base.hooks->message(w->base.u, text);
}

static void ws_written(void *u, uint64_t total)
{
	struct websocket *w = u;

	if (w->base.hooks->written)
		w->base.hooks->written(w->base.u, total);
}

/* True: the server wants another token, and one may come. */
static bool ask_for_token(struct websocket *w)
{
	struct mp_authorization *a = w->destination.authorization;
	struct mp_authorization_refusal refusal = {
		.status = 401, .token = w->token, .before = w->refused};

	if (!a || w->state != DIALING || w->why.code != MCPOOL_ENEEDS_AUTH ||
	    w->refused++ >= REFUSALS)
		return false;
	refusal.challenge = mp_ws_get_challenge(w->ws);
	return a->ops->refused(a, &refusal, &w->waiter);
}

static void token_decided(void *u, bool again, const struct mcpool_error *why)
{
	struct websocket *w = u;

	if (why)
		w->why = *why;
	websocket_advance(w, again ? AGAIN : OVER);
}

static void ws_over(void *u, const struct mcpool_error *why)
{
	struct websocket *w = u;

	if (why)
		w->why = *why;
	websocket_advance(w, ask_for_token(w) ? REFUSED : OVER);
}

static const struct mp_ws_hooks ws_hooks = {ws_opened, ws_message, ws_written, ws_over};

/* --- the transport -------------------------------------------------------------------------- */

static int websocket_open(struct websocket *w, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields fields;
	struct mp_authorization *a = w->destination.authorization;
	struct mp_http_request request = {.url = NULL};
	int r;

	mp_http_fields_init(&fields);
	r = mp_destination_add_headers(&w->destination, &fields);
	if (r == 0 && a)
		r = a->ops->add(a, "GET", w->destination.url, &fields, &w->token);
	if (r < 0)
		return mp_fail(reterr, r, "no memory for a request");
	mp_destination_address(&w->destination, &fields, &request);
	return mp_ws_open(w->client, &request, &ws_hooks, w, &w->ws, reterr);
}

static enum websocket_event websocket_dial(struct websocket *w)
{
	w->ws = mp_ws_free(w->ws);
	return websocket_open(w, &w->why) < 0 ? OVER : MP_QUIET;
}

static int websocket_start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct websocket *w = websocket_get(t);
	int r = websocket_open(w, reterr);

	if (r == 0)
		websocket_advance(w, START);
	return r;
}

static int send_message(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct websocket *w = websocket_get(t);

	if (w->state != OPEN)
		return MCPOOL_ECLOSED;
	return mp_ws_send(w->ws, o->pieces, o->n_pieces, ret_at);
}

static void close_transport(struct mp_transport *t)
{
	websocket_advance(websocket_get(t), CLOSE);
}

static void free_transport(struct mp_grave *grave)
{
	struct websocket *w = mp_container_of(grave, struct websocket, grave);

	mp_destination_done(&w->destination);
	mp_free(w);
}

static void websocket_destroy(struct mp_transport *t)
{
	struct websocket *w = websocket_get(t);

	if (w->state == ASKING)
		(void)stop_asking(w);
	w->state = CLOSED;
	w->ws = mp_ws_free(w->ws);
	mp_loop_unpost(w->loop, &w->closed);
	mp_loop_bury(w->loop, &w->grave, free_transport); /* it may be telling something now */
}

static struct mp_str get_challenge(const struct mp_transport *t)
{
	const struct websocket *w = mp_container_of(t, const struct websocket, base);

	return w->ws ? mp_ws_get_challenge(w->ws) : (struct mp_str){NULL, 0};
}

static const struct mp_transport_impl impl = {
	.name = "websocket",
	.start = websocket_start,
	.send = send_message,
	.close = close_transport,
	.destroy = websocket_destroy,
	.get_challenge = get_challenge,
};

int mp_websocket_new(struct mp_loop *loop, struct mp_http_client *client,
		     const struct mp_destination *destination, struct mp_transport **ret_transport,
		     struct mcpool_error *reterr)
{
	struct websocket *w = mp_alloc(sizeof(*w));

	w->base.impl = &impl;
	w->loop = loop;
	w->client = client;
	w->waiter = (struct mp_authorization_waiter){.decided = token_decided, .u = w};
	mp_task_init(&w->closed, tell_closed, w);
	if (mp_destination_copy(&w->destination, destination) < 0) {
		mp_destination_done(&w->destination);
		mp_free(w);
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for a destination");
	}
	*ret_transport = &w->base;
	return 0;
}
