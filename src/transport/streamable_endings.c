/*
 * streamable_endings.c - what the end of a post means: for its request, and for the conversation.
 * A call ends alone where it can. The conversation ends if nothing listens any more, if the session
 * is gone, and, before it has begun, at any failure.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/curl_options.h"
#include "net/http_status.h"
#include "net/redirect.h"
#include "transport/streamable.h"

enum {
	RETRY_MS = 1000,   /* before going back, where the server does not say */
	LIVED_MS = 5000,   /* a standing stream that ended sooner was none */
	SESSION_ID = 1024, /* bytes of a session's id */
};

/* --- telling -------------------------------------------------------------------------------- */

static bool is_open(struct mp_streamable *s, const struct mp_http_post *t)
{
	return t->id && s->base.hooks->is_open &&
	       s->base.hooks->is_open(s->base.u, mp_str_of(t->id));
}

/*
 * A post that goes back has a request that the server had begun to answer: it was taken, and
 * whatever becomes of the resumption, it must not be sent again nor be told as not done.
 */
static void streamable_endings_lose(struct mp_streamable *s, const struct mp_http_post *t,
				    enum mp_unanswered how, const struct mcpool_error *why)
{
	if (t->goes_back)
		how = MP_UNANSWERED_UNKNOWN;
	if (is_open(s, t) && s->base.hooks->lost)
		s->base.hooks->lost(s->base.u, mp_str_of(t->id), how, why);
}

/* One message; the hook may close everything. */
static void streamable_endings_tell(struct mp_streamable *s, struct mp_http_post *t,
				    struct mp_str text)
{
	if (t->method == MP_METHOD_INITIALIZE)
		mp_streamable_learn_version(s, text);
	s->base.during = t->id ? mp_str_of(t->id) : MP_STR("");
	s->base.hooks->message(s->base.u, text);
	s->base.during = MP_STR("");
	if (t->state != MP_HTTP_POST_OVER && t->id && !is_open(s, t)) {
		s->is_established = true;
		t->is_answered = true;
	}
}

/* --- while it goes on ----------------------------------------------------------------------- */

static int message_request(void *u, struct mp_http_post *t, bool goes_back,
			   struct mp_http_request *ret)
{
	if (goes_back)
		return mp_streamable_write_get(u, t, ret);
	mp_streamable_write_post(u, t, ret);
	return 0;
}

static void message_sent(void *u, struct mp_http_post *t)
{
	struct mp_streamable *s = u;

	if (t->id && s->base.hooks->sent)
		s->base.hooks->sent(s->base.u, mp_str_of(t->id));
}

static bool is_session_id(struct mp_str id)
{
	for (size_t i = 0; i < id.len; i++)
		if (id.p[i] < 0x21 || id.p[i] > 0x7e)
			return false;
	return id.len > 0 && id.len <= SESSION_ID;
}

static void message_head(void *u, struct mp_http_post *t, const struct mp_http_head *head)
{
	struct mp_streamable *s = u;
	struct mp_str id = mp_http_head_find(head, MP_STR("Mcp-Session-Id"));

	if (!t->id)
		mp_http_post_linger(
			t); /* it is taken; a stream instead of 202 has nothing for us */
	if (t->method == MP_METHOD_INITIALIZED)
		mp_streamable_note_settled(s);
	if (t->method != MP_METHOD_INITIALIZE || !is_session_id(id))
		return;
	mp_free(s->session);
	s->session = mp_alloc(id.len + 1);
	memcpy(s->session, id.p, id.len);
}

/* Events of other types are for others; one without data only gives an id to go on from. */
static void streamable_endings_heard(void *u, struct mp_http_post *t,
				     const struct mp_sse_event *event)
{
	struct mp_streamable *s = u;

	if (!mp_str_eq(event->type, MP_STR("message")) || event->data.len == 0)
		return;
	if (event->oversize) {
		if (s->base.hooks->oversize)
			s->base.hooks->oversize(s->base.u, event->data, event->tail);
		return;
	}
	streamable_endings_tell(s, t, event->data);
	if (t->state == MP_HTTP_POST_HEARING && t->is_answered)
		mp_http_post_linger(t);
}

/* --- refusals ------------------------------------------------------------------------------- */

static void streamable_endings_explain(struct mp_streamable *s, const struct mp_http_post_end *end,
				       struct mcpool_error *ret)
{
	mp_http_status_explain(end->head, end->body, s->to.place, mp_loop_wall_now_ms(s->loop),
			       ret);
}

static void keep_challenge(struct mp_streamable *s, const struct mp_http_head *head)
{
	struct mp_str value = mp_http_head_find(head, MP_STR("WWW-Authenticate"));

	mp_buf_clear(&s->challenge);
	if (mp_buf_add_str(&s->challenge, value) < 0)
		mp_buf_clear(&s->challenge); /* the login then finds out by itself */
}

static bool mentions_session(struct mp_str body)
{
	for (size_t i = 0; i + 7 <= body.len; i++)
		if (mp_str_eq_nocase((struct mp_str){body.p + i, 7}, MP_STR("session")))
			return true;
	return false;
}

/*
 * 404 is what the protocol says; servers made after the SDK's example forget their sessions when
 * they restart and say 400, in words.
 */
static bool is_session_lost(const struct mp_streamable *s, const struct mp_http_post_end *end)
{
	return s->session && (end->head->status == 404 ||
			      (end->head->status == 400 && mentions_session(end->body)));
}

static void lose_session(struct mp_streamable *s)
{
	struct mcpool_error why;

	s->is_gone = true;
	(void)mp_fail(&why, MCPOOL_ECLOSED, "%s no longer knows this session", s->to.place);
	why.fault = MCPOOL_FAULT_CLOSED;
	mp_streamable_fail(s, &why);
}

/*
 * What a refusal says may be the answer, in its words: with the request's id, or with none because
 * the server would not read that far.
 */
static bool tell_refusal(struct mp_streamable *s, struct mp_http_post *t,
			 const struct mp_http_post_end *end, bool without_id)
{
	struct mp_message m;
	bool has_id;

	if (!t->id || end->body.len == 0 || mp_streamable_read(s, end->body, &m) < 0 ||
	    m.kind != MP_MESSAGE_ERROR)
		return false;
	has_id = m.id.len > 0 && !mp_str_eq(m.id, MP_STR("null"));
	if (has_id ? !mp_str_eq(m.id, mp_str_of(t->id)) : !without_id)
		return false;
	mp_buf_clear(&s->text);
	if (mp_message_forward_answer(&m, mp_str_of(t->id), &s->text) < 0)
		return false;
	s->base.hooks->message(s->base.u, mp_buf_get(&s->text));
	return true;
}

static void take_locked(struct mp_streamable *s, struct mp_http_post *t,
			const struct mp_http_post_end *end, const struct mcpool_error *why)
{
	keep_challenge(s, end->head);
	if (end->head->status == 401 || !s->is_established) {
		mp_streamable_fail(s, why);
		streamable_endings_lose(s, t, MP_UNANSWERED_NOT_TAKEN, why);
	} else {
		streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, why);
	}
}

static void take_busy(struct mp_streamable *s, struct mp_http_post *t,
		      const struct mp_http_post_end *end, const struct mcpool_error *why)
{
	if (!s->is_established) {
		mp_streamable_fail(s, why);
	} else if (end->head->status == 429) {
		streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, why);
	} else {
		streamable_endings_lose(s, t, MP_UNANSWERED_NOT_TAKEN, why);
		mp_streamable_doubt(s, "it answered HTTP 503");
	}
}

/*
 * Before the handshake is done, a server may answer a request of the other era with 500: that ends
 * the request alone. An error of a gateway is about the server.
 */
static void take_faulty(struct mp_streamable *s, struct mp_http_post *t,
			const struct mp_http_post_end *end, const struct mcpool_error *why)
{
	if (s->is_established) {
		streamable_endings_lose(s, t, MP_UNANSWERED_UNKNOWN, why);
		mp_streamable_doubt(s, "it answered with an error of HTTP");
	} else if (end->head->status <= 501 && t->method == MP_METHOD_DISCOVER) {
		streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, why);
	} else {
		mp_streamable_fail(s, why);
	}
}

static void take_denial(struct mp_streamable *s, struct mp_http_post *t,
			const struct mp_http_post_end *end)
{
	struct mcpool_error why;

	streamable_endings_explain(s, end, &why);
	if (tell_refusal(s, t, end, false))
		return;
	if (is_session_lost(s, end)) {
		lose_session(s); /* first: what is lost now waits for the next conversation */
		streamable_endings_lose(s, t, MP_UNANSWERED_NOT_TAKEN, &why);
		return;
	}
	switch (mp_http_status_of(end->head->status)) {
	case MP_HTTP_LOCKED:
		take_locked(s, t, end, &why);
		break;
	case MP_HTTP_BUSY:
		take_busy(s, t, end, &why);
		break;
	case MP_HTTP_FAULTY:
		take_faulty(s, t, end, &why);
		break;
	case MP_HTTP_FINE:
	case MP_HTTP_MOVED:
	case MP_HTTP_ABSENT:
	case MP_HTTP_REJECTED:
		if (t->goes_back || !tell_refusal(s, t, end, true))
			streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, &why);
		break;
	}
}

/* --- elsewhere ------------------------------------------------------------------------------ */

/*
 * A trailing slash and the like: the request did not happen, and goes to the same server again.
 * To another one neither the message nor what it carries is sent (V37).
 */
static bool streamable_endings_follow(struct mp_streamable *s, struct mp_http_post *t,
				      const struct mp_http_post_end *end)
{
	struct mp_str location = mp_http_head_find(end->head, MP_STR("Location"));
	struct mp_redirect to = {.url = NULL};
	char place[MP_HTTP_PLACE];
	struct mcpool_error why;
	char *text;
	int r;

	if (end->stage != MP_HTTP_POST_DENIED || !mp_redirect_is_status(end->head->status) ||
	    location.len == 0 || !mp_streamable_is_live(s) || (t->id && !is_open(s, t)))
		return false;
	text = mp_alloc(location.len + 1);
	memcpy(text, location.p, location.len);
	r = mp_redirect_judge(s->to.url, text, t->hops, &to, &why);
	mp_free(text);
	if (r == 0 && to.kind == MP_REDIRECT_SAME) {
		t->hops++;
		mp_destination_move(&s->to, to.url);
		mp_free(to.url);
		mp_http_post_go(t);
		return true;
	}
	if (r == 0) {
		mp_curl_options_place(to.url, place);
		(void)mp_fail(&why, MCPOOL_EINVAL,
			      "%s sends us to %s, where nothing is sent unless you configure that "
			      "address",
			      s->to.place, place);
	}
	mp_free(to.url);
	mp_streamable_forget(s, t);
	if (s->is_established)
		streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, &why);
	else
		mp_streamable_fail(s, &why);
	mp_streamable_note_over(s, t);
	return true;
}

/* --- what broke ----------------------------------------------------------------------------- */

/* The server was not reached; a probe would find out nothing more. */
static bool is_unreached(const struct mp_http_post_end *end)
{
	switch (end->how) {
	case MP_HTTP_RESOLVE:
	case MP_HTTP_CONNECT:
	case MP_HTTP_TLS:
	case MP_HTTP_ZONE:
		return true;
	case MP_HTTP_OK:
	case MP_HTTP_TIMEOUT:
	case MP_HTTP_CLOSED:
	case MP_HTTP_PROTOCOL:
	case MP_HTTP_LIMIT:
		break;
	}
	return false;
}

/* A name that is not known now may be known later: MCPOOL_ENOENT would be the last word. */
static struct mcpool_error explain_end(const struct mp_http_post_end *end)
{
	struct mcpool_error why = end->why;

	if (end->how == MP_HTTP_RESOLVE)
		(void)mp_fail_because(&why, MCPOOL_EIO, &end->why, "%s", end->why.message);
	return why;
}

static void take_break(struct mp_streamable *s, struct mp_http_post *t,
		       const struct mp_http_post_end *end)
{
	struct mcpool_error why = explain_end(end);
	bool unsent = !t->was_sent;

	if (why.code == MCPOOL_ETOO_LARGE) {
		streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, &why);
		return;
	}
	if (is_unreached(end) || (unsent && end->how == MP_HTTP_TIMEOUT) || !s->is_established) {
		mp_streamable_fail(s, &why);
		if (unsent)
			streamable_endings_lose(s, t, MP_UNANSWERED_NOT_TAKEN, &why);
		return;
	}
	streamable_endings_lose(s, t, unsent ? MP_UNANSWERED_NOT_TAKEN : MP_UNANSWERED_UNKNOWN,
				&why);
	mp_streamable_doubt(s, "a connection broke");
}

/* --- messages ------------------------------------------------------------------------------- */

/* The stream broke, but there is an event id to resume from and a call that waits. */
static bool go_back(struct mp_streamable *s, struct mp_http_post *t,
		    const struct mp_http_post_end *end)
{
	int64_t retry_ms = mp_http_post_get_retry_ms(t);
	bool may = t->was_heard && !t->is_modern && mp_http_post_get_last_id(t).len > 0 &&
		   mp_streamable_is_live(s) && is_open(s, t);

	if (!may || end->stage == MP_HTTP_POST_DENIED || is_unreached(end) ||
	    end->why.code == MCPOOL_ETOO_LARGE)
		return false;
	mp_http_post_back(t, retry_ms >= 0 ? retry_ms : RETRY_MS);
	return true;
}

/* A server may take a request and answer it on its standing stream. */
static bool is_answered_elsewhere(const struct mp_streamable *s, const struct mp_http_post *t,
				  const struct mp_http_post_end *end)
{
	return s->standing && !t->is_modern && end->stage == MP_HTTP_POST_READING &&
	       t->status == 202 && end->body.len == 0;
}

static void take_silence(struct mp_streamable *s, struct mp_http_post *t,
			 const struct mp_http_post_end *end)
{
	struct mcpool_error why;

	if (!is_open(s, t) || is_answered_elsewhere(s, t, end))
		return;
	if (end->stage == MP_HTTP_POST_HEARING) {
		(void)mp_fail(&why, MCPOOL_ECLOSED, "%s ended the stream without an answer",
			      s->to.place);
		streamable_endings_lose(s, t, MP_UNANSWERED_UNKNOWN, &why);
		return;
	}
	(void)mp_fail(&why, MCPOOL_EPROTO, "%s answered with something that is not MCP",
		      s->to.place);
	streamable_endings_lose(s, t, MP_UNANSWERED_UNUSABLE, &why);
}

/* For its request. What breaks when the answer is there breaks nothing. */
static void take_end(struct mp_streamable *s, struct mp_http_post *t,
		     const struct mp_http_post_end *end)
{
	if (t->is_answered)
		return;
	if (end->stage == MP_HTTP_POST_DENIED)
		take_denial(s, t, end);
	else if (end->how != MP_HTTP_OK)
		take_break(s, t, end);
	else
		take_silence(s, t, end);
}

static void message_ended(void *u, struct mp_http_post *t, const struct mp_http_post_end *end)
{
	struct mp_streamable *s = u;

	if (go_back(s, t, end) || streamable_endings_follow(s, t, end))
		return;
	if (end->stage == MP_HTTP_POST_READING && end->how == MP_HTTP_OK && end->body.len)
		streamable_endings_tell(s, t, end->body);
	if (t->state == MP_HTTP_POST_OVER)
		return; /* everything was closed */
	mp_streamable_forget(s, t);
	take_end(s, t, end);
	mp_streamable_note_over(s, t);
}

const struct mp_http_post_hooks mp_streamable_message_hooks = {
	.request = message_request,
	.sent = message_sent,
	.head = message_head,
	.event = streamable_endings_heard,
	.ended = message_ended,
};

/* --- the standing stream -------------------------------------------------------------------- */

static void stand_down(struct mp_streamable *s)
{
	s->standing = mp_http_post_free(s->standing);
}

/*
 * A server need not offer it. Being refused a stream that existed before means that something
 * happened.
 */
static void standing_denied(struct mp_streamable *s, struct mp_http_post *t,
			    const struct mp_http_post_end *end)
{
	int retry_ms = mp_http_status_read_retry(end->head, mp_loop_wall_now_ms(s->loop));
	enum mp_http_status v = mp_http_status_of(end->head->status);

	if (t->was_heard && is_session_lost(s, end)) {
		lose_session(s);
	} else if (v == MP_HTTP_BUSY || v == MP_HTTP_FAULTY) {
		mp_http_post_back(t, retry_ms > RETRY_MS ? retry_ms : RETRY_MS);
		if (t->was_heard)
			mp_streamable_doubt(s, "its stream is refused");
	} else {
		bool was_heard = t->was_heard;

		stand_down(s);
		if (was_heard)
			mp_streamable_doubt(s, "its stream is refused");
	}
}

static void note_joined(struct mp_streamable *s)
{
	if (mp_streamable_is_live(s))
		mp_streamable_advance(s, MP_STREAMABLE_ON_JOINED);
}

static void standing_head(void *u, struct mp_http_post *t, const struct mp_http_head *head)
{
	(void)t;
	(void)head;
	note_joined(u);
}

static void standing_ended(void *u, struct mp_http_post *t, const struct mp_http_post_end *end)
{
	struct mp_streamable *s = u;
	int64_t retry_ms = mp_http_post_get_retry_ms(t);
	bool was_heard = end->stage == MP_HTTP_POST_HEARING;

	if (end->stage == MP_HTTP_POST_DENIED) {
		standing_denied(s, t, end);
	} else if (is_unreached(end)) {
		struct mcpool_error why = explain_end(end);

		mp_streamable_fail(s, &why); /* it is gone, although no call was open (D12) */
	} else if (end->stage == MP_HTTP_POST_READING) {
		stand_down(s); /* a document is not what was asked for */
	} else {
		bool lived = was_heard && mp_loop_now_ms(s->loop) - t->heard_at_ms >= LIVED_MS;

		if (lived)
			t->tries = 0;
		mp_http_post_back(t, retry_ms >= 0 ? retry_ms : lived ? 0 : RETRY_MS);
	}
	note_joined(s);
	if (was_heard && end->how != MP_HTTP_OK)
		mp_streamable_doubt(s, "its stream broke"); /* connecting again may take long */
}

const struct mp_http_post_hooks mp_streamable_standing_hooks = {
	.request = message_request,
	.head = standing_head,
	.event = streamable_endings_heard,
	.ended = standing_ended,
};
