/*
 * streamable.c - Streamable HTTP in both eras: the conversation as a whole.
 */
#include "transport/streamable.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/outgoing.h"

enum {
	GRACE_MS = 1000,  /* for answers on their way, and for a farewell */
	JOIN_MS = 300,    /* for the head of a standing stream; some send none before an event */
	SETTLE_MS = 5000, /* for the answer to initialized, which says nothing */
};

MP_MACHINE_TYPES(streamable, struct mp_streamable, enum mp_streamable_event, MP_STREAMABLE_STATES,
		 MP_STREAMABLE_EVENTS);
static streamable_action open_soon, streamable_settle, stand_by, let_in, wind_down, tell_ended,
	streamable_leave, tell_closed;

#define AT(state)      [MP_STREAMABLE_##state]
#define TO(state, act) MP_TO(MP_STREAMABLE_##state, act)
#define ON(event)      [MP_STREAMABLE_ON_##event]

MP_MACHINE_STEPS(streamable) = {
	AT(FRESH) = {ON(START) = TO(OPEN, open_soon),
		     ON(CLOSE) = MP_TO(MP_STREAMABLE_CLOSED, tell_closed)},
	AT(OPEN) = {ON(SETTLE) = TO(SETTLING, streamable_settle), ON(SETTLED) = MP_STAY,
		    ON(JOINED) = MP_STAY, ON(FAIL) = TO(WINDING, wind_down),
		    ON(CLOSE) = TO(LEAVING, streamable_leave)},
	/* Some servers refuse what comes before initialized, and two POSTs have no order. */
	AT(SETTLING) = {ON(SETTLE) = MP_STAY, ON(SETTLED) = MP_TO(MP_STREAMABLE_JOINING, stand_by),
			ON(JOINED) = MP_STAY, ON(FAIL) = MP_TO(MP_STREAMABLE_WINDING, wind_down),
			ON(CLOSE) = TO(LEAVING, streamable_leave)},
	/* Notifications that a call causes are lost while no stream is open. */
	AT(JOINING) = {ON(SETTLE) = MP_STAY, ON(SETTLED) = MP_STAY, ON(JOINED) = TO(OPEN, let_in),
		       ON(FAIL) = MP_TO(MP_STREAMABLE_WINDING, wind_down),
		       ON(CLOSE) = TO(LEAVING, streamable_leave)},
	AT(WINDING) = {ON(SETTLED) = MP_STAY, ON(JOINED) = MP_STAY, ON(FAIL) = MP_STAY,
		       ON(DRAINED) = MP_TO(MP_STREAMABLE_ENDED, tell_ended),
		       ON(CLOSE) = TO(LEAVING, streamable_leave)},
	AT(ENDED) = {ON(CLOSE) = TO(LEAVING, streamable_leave)},
	AT(LEAVING) = {ON(LEFT) = MP_TO(MP_STREAMABLE_CLOSED, tell_closed), ON(CLOSE) = MP_STAY},
	AT(CLOSED) = {ON(CLOSE) = MP_STAY},
};

static void streamable_describe(const struct mp_streamable *s, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "streamable %s", s->to.place);
}

MP_SHARED_MACHINE(streamable, struct mp_streamable, .describe = streamable_describe)

static struct mp_streamable *streamable_of(struct mp_transport *t)
{
	return mp_container_of(t, struct mp_streamable, base);
}

bool mp_streamable_is_live(const struct mp_streamable *s)
{
	return s->state == MP_STREAMABLE_OPEN || s->state == MP_STREAMABLE_SETTLING ||
	       s->state == MP_STREAMABLE_JOINING;
}

void mp_streamable_doubt(struct mp_streamable *s, const char *why)
{
	if (mp_streamable_is_live(s) && s->base.hooks->doubt)
		s->base.hooks->doubt(s->base.u, why);
}

/* --- opening -------------------------------------------------------------------------------- */

static void opened_later(void *u)
{
	struct mp_streamable *s = u;

	if (mp_streamable_is_live(s) && s->base.hooks->opened)
		s->base.hooks->opened(s->base.u);
}

/* There is nothing to dial: the first request does it. */
static enum mp_streamable_event open_soon(struct mp_streamable *s)
{
	mp_loop_post(s->loop, &s->opened_task);
	return MP_QUIET;
}

static enum mp_streamable_event streamable_settle(struct mp_streamable *s)
{
	mp_timer_start(&s->grace, SETTLE_MS);
	return MP_QUIET;
}

/* A server that has no such stream says so, which is fine. */
static enum mp_streamable_event stand_by(struct mp_streamable *s)
{
	if (!s->version || s->standing ||
	    mp_http_post_new(s->loop, s->client, NULL, &mp_streamable_standing_hooks, s,
			     &s->standing) < 0)
		return MP_STREAMABLE_ON_JOINED;
	mp_http_post_back(s->standing, 0);
	mp_timer_start(&s->grace, JOIN_MS);
	return MP_QUIET;
}

static enum mp_streamable_event let_in(struct mp_streamable *s)
{
	mp_timer_stop(&s->grace);
	MP_LIST_EACH(&s->posts, link) {
		struct mp_http_post *t = mp_container_of(link, struct mp_http_post, link);

		if (t->state == MP_HTTP_POST_READY)
			mp_http_post_go(t);
	}
	return MP_QUIET;
}

/* --- messages ------------------------------------------------------------------------------- */

static struct mp_http_post *find_post(struct mp_streamable *s, struct mp_str id)
{
	MP_LIST_EACH(&s->posts, link) {
		struct mp_http_post *t = mp_container_of(link, struct mp_http_post, link);

		if (t->id && mp_str_eq(mp_str_of(t->id), id))
			return t;
	}
	return NULL;
}

void mp_streamable_forget(struct mp_streamable *s, struct mp_http_post *t)
{
	if (t->state == MP_HTTP_POST_OVER)
		return; /* all of them went at once */
	mp_list_remove(&s->posts, &t->link);
	mp_http_post_free(t);
}

void mp_streamable_note_settled(struct mp_streamable *s)
{
	if (mp_streamable_is_live(s) || s->state == MP_STREAMABLE_WINDING)
		mp_streamable_advance(s, MP_STREAMABLE_ON_SETTLED);
}

void mp_streamable_note_over(struct mp_streamable *s, const struct mp_http_post *t)
{
	if (t->method == MP_METHOD_INITIALIZED)
		mp_streamable_note_settled(s);
	if (s->state == MP_STREAMABLE_WINDING && s->posts.len == 0)
		mp_streamable_advance(s, MP_STREAMABLE_ON_DRAINED);
}

/*
 * A cancelled request. A modern server learns it from its stream being cut; a legacy one gets the
 * message, and may or may not end the stream. Of a request that still waits here it knows nothing.
 */
static bool streamable_cancel(struct mp_streamable *s, struct mp_str id)
{
	struct mp_http_post *t = find_post(s, id);

	if (!t)
		return false;
	if (t->is_modern || t->state == MP_HTTP_POST_READY || t->state == MP_HTTP_POST_RESTING) {
		/* One that rests has been there before. */
		bool is_told = t->is_modern || t->state == MP_HTTP_POST_READY;

		mp_streamable_forget(s, t);
		return is_told;
	}
	mp_http_post_linger(t);
	return false;
}

static char *dup_id(struct mp_str id)
{
	char *copy = mp_alloc(id.len + 1); /* at most MP_LIMIT_ID */

	memcpy(copy, id.p, id.len);
	return copy;
}

static int begin_post(struct mp_streamable *s, const struct mp_outgoing *o)
{
	struct mp_http_post *t;
	int r = mp_http_post_new(s->loop, s->client, o, &mp_streamable_message_hooks, s, &t);

	if (r < 0)
		return r;
	r = mp_streamable_write_headers(s, o, &t->headers);
	if (r < 0) {
		mp_http_post_free(t);
		return r;
	}
	t->method = (int)o->method;
	t->id = o->kind == MP_MESSAGE_REQUEST ? dup_id(o->id) : NULL;
	t->is_modern = o->version.len > 0;
	mp_list_append(&s->posts, &t->link);
	if (o->method == MP_METHOD_INITIALIZED)
		mp_streamable_advance(s, MP_STREAMABLE_ON_SETTLE);
	if (s->state == MP_STREAMABLE_OPEN || o->method == MP_METHOD_INITIALIZED)
		mp_http_post_go(t);
	return 0;
}

static int streamable_send(struct mp_transport *base, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct mp_streamable *s = streamable_of(base);

	if (ret_at)
		*ret_at = 0; /* sent() tells, not written() */
	if (!mp_streamable_is_live(s))
		return MCPOOL_ECLOSED;
	if (o->method == MP_METHOD_CANCELLED && streamable_cancel(s, o->cancelled_id))
		return 0;
	return begin_post(s, o);
}

/* --- endings -------------------------------------------------------------------------------- */

static void drop_standing(struct mp_streamable *s)
{
	s->standing = mp_http_post_free(s->standing);
}

static void drop_posts(struct mp_streamable *s)
{
	struct mp_link *link;

	drop_standing(s);
	while ((link = mp_list_pop(&s->posts)))
		mp_http_post_free(mp_container_of(link, struct mp_http_post, link));
}

/* Neither a stream that would never end nor one that waits to go back is waited for. */
static bool is_worth_waiting(const struct mp_http_post *t)
{
	return t->id && t->method != MP_METHOD_LISTEN && t->state != MP_HTTP_POST_READY &&
	       t->state != MP_HTTP_POST_RESTING;
}

void mp_streamable_fail(struct mp_streamable *s, const struct mcpool_error *why)
{
	if (!mp_streamable_is_live(s))
		return;
	mp_error_keep(&s->why, why);
	mp_streamable_advance(s, MP_STREAMABLE_ON_FAIL);
}

/*
 * What has arrived at a server that is being replaced gets its own answer: no session, or the real
 * one. Only what says nothing for a while is lost with the conversation.
 */
static enum mp_streamable_event wind_down(struct mp_streamable *s)
{
	drop_standing(s);
	MP_LIST_EACH(&s->posts, link) {
		struct mp_http_post *t = mp_container_of(link, struct mp_http_post, link);

		if (!is_worth_waiting(t))
			mp_streamable_forget(s, t);
	}
	mp_timer_start(&s->grace, s->posts.len ? GRACE_MS : 0);
	return MP_QUIET;
}

static void ended_later(void *u)
{
	struct mp_streamable *s = u;
	struct mcpool_error why = *s->why;

	if (s->state == MP_STREAMABLE_ENDED && s->base.hooks->ended)
		s->base.hooks->ended(s->base.u, &why);
}

static enum mp_streamable_event tell_ended(struct mp_streamable *s)
{
	mp_timer_stop(&s->grace);
	drop_posts(s);
	mp_loop_post(s->loop, &s->ended_task);
	return MP_QUIET;
}

static void farewell_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_streamable *s = u;

	(void)how; /* 405 and everything else: we are gone anyway */
	(void)err;
	s->farewell = 0;
	mp_streamable_advance(s, MP_STREAMABLE_ON_LEFT);
}

static const struct mp_http_hooks farewell_hooks = {.done = farewell_done};

static enum mp_streamable_event streamable_leave(struct mp_streamable *s)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields fields;
	struct mp_http_request request = {.method = NULL};

	mp_http_fields_init(&fields);
	drop_posts(s);
	mp_timer_stop(&s->grace);
	mp_loop_unpost(s->loop, &s->opened_task);
	mp_loop_unpost(s->loop, &s->ended_task);
	if (!s->session || s->is_gone || mp_streamable_write_delete(s, &fields, &request) < 0 ||
	    mp_http_start(s->client, &request, &farewell_hooks, s, &s->farewell, NULL) < 0)
		return MP_STREAMABLE_ON_LEFT;
	mp_timer_start(&s->grace, GRACE_MS);
	return MP_QUIET;
}

static void grace_is_over(void *u)
{
	struct mp_streamable *s = u;

	if (s->state == MP_STREAMABLE_SETTLING) {
		mp_streamable_advance(s, MP_STREAMABLE_ON_SETTLED);
		return;
	}
	if (s->state == MP_STREAMABLE_JOINING) {
		mp_streamable_advance(s, MP_STREAMABLE_ON_JOINED);
		return;
	}
	if (s->state == MP_STREAMABLE_WINDING) {
		mp_streamable_advance(s, MP_STREAMABLE_ON_DRAINED);
		return;
	}
	mp_http_cancel(s->client, s->farewell);
	s->farewell = 0;
	mp_streamable_advance(s, MP_STREAMABLE_ON_LEFT);
}

static void closed_later(void *u)
{
	struct mp_streamable *s = u;

	if (s->base.hooks->closed)
		s->base.hooks->closed(s->base.u);
}

static enum mp_streamable_event tell_closed(struct mp_streamable *s)
{
	mp_timer_stop(&s->grace);
	mp_loop_post(s->loop, &s->closed_task);
	return MP_QUIET;
}

/* --- the transport -------------------------------------------------------------------------- */

static int streamable_start(struct mp_transport *base, struct mcpool_error *reterr)
{
	(void)reterr;
	mp_streamable_advance(streamable_of(base), MP_STREAMABLE_ON_START);
	return 0;
}

static void streamable_close(struct mp_transport *base)
{
	mp_streamable_advance(streamable_of(base), MP_STREAMABLE_ON_CLOSE);
}

static void streamable_gone(struct mp_grave *grave)
{
	struct mp_streamable *s = mp_container_of(grave, struct mp_streamable, grave);

	mp_destination_done(&s->to);
	mp_free(s->session);
	mp_free(s->version);
	mp_buf_done(&s->challenge);
	mp_tape_done(&s->tape);
	mp_buf_done(&s->text);
	mp_free(s->why);
	mp_free(s);
}

static void streamable_destroy(struct mp_transport *base)
{
	struct mp_streamable *s = streamable_of(base);

	drop_posts(s);
	if (s->farewell)
		mp_http_cancel(s->client, s->farewell);
	mp_timer_stop(&s->grace);
	mp_loop_unpost(s->loop, &s->opened_task);
	mp_loop_unpost(s->loop, &s->ended_task);
	mp_loop_unpost(s->loop, &s->closed_task);
	s->state = MP_STREAMABLE_CLOSED;
	mp_loop_bury(s->loop, &s->grave, streamable_gone); /* a hook may be on the stack */
}

static struct mp_str streamable_get_challenge(const struct mp_transport *base)
{
	return mp_buf_get(&mp_container_of(base, struct mp_streamable, base)->challenge);
}

static const struct mp_transport_impl impl = {
	.name = "http",
	.start = streamable_start,
	.send = streamable_send,
	.close = streamable_close,
	.destroy = streamable_destroy,
	.get_challenge = streamable_get_challenge,
};

int mp_streamable_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *to, struct mp_transport **ret_transport,
		      struct mcpool_error *reterr)
{
	struct mp_streamable *s = mp_alloc(sizeof(*s));
	int r = mp_destination_copy(&s->to, to);

	if (r < 0) {
		mp_destination_done(&s->to);
		mp_free(s);
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	s->base.impl = &impl;
	s->base.traits = MP_TRANSPORT_PER_REQUEST;
	s->loop = loop;
	s->client = client;
	s->state = MP_STREAMABLE_FRESH;
	mp_list_init(&s->posts);
	mp_buf_init(&s->challenge, MP_LIMIT_HEADER_BLOCK);
	mp_message_tape_init(&s->tape);
	mp_buf_init(&s->text, MP_LIMIT_MESSAGE);
	mp_timer_init(&s->grace, loop, grace_is_over, s);
	mp_task_init(&s->opened_task, opened_later, s);
	mp_task_init(&s->ended_task, ended_later, s);
	mp_task_init(&s->closed_task, closed_later, s);
	*ret_transport = &s->base;
	return 0;
}
