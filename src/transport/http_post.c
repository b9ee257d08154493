/*
 * http_post.c - one POST to a server: what comes back, and the way back for the rest.
 */
#include "transport/http_post.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_status.h"
#include "rpc/outgoing.h"

enum {
	LINGER_MS = 1000,         /* for the end of an answer that is not wanted */
	FIRST_REST_MS = 1000,     /* before going back where nothing came, and half more */
	LONGEST_REST_MS = 30000,  /* each time, up to this */
	SHORTEST_REST_MS = 250,   /* after a stream that ended at once, whatever it wishes */
	LONGEST_WISH_MS = 300000, /* a server may say when to come back, but not never */
	UNREAD_MAX = 64 * 1024,   /* of what follows a 2xx that says all */
};

#define HTTP_POST_EVENTS(X)                                                  \
	X(ON_GO, "go", "begin, or begin again")                              \
	X(ON_DOCUMENT, "document", "an answer began, which is one document") \
	X(ON_STREAM, "stream", "an answer began, which is a stream")         \
	X(ON_NO, "no", "an answer began, which is a refusal")                \
	X(ON_COMPLETE, "complete", "the answer is complete")                 \
	X(ON_BROKEN, "broken", "there will be no more of it")                \
	X(ON_REST, "rest", "the owner wants the rest of it, later")          \
	X(ON_LEAVE, "leave", "the owner frees it")

MP_MACHINE_ENUM(http_post_event, HTTP_POST_EVENTS);
MP_MACHINE_TYPES(http_post, struct mp_http_post, enum http_post_event, MP_HTTP_POST_STATES,
		 HTTP_POST_EVENTS);
static http_post_action read_document, read_refusal, http_post_hear, http_post_rest, http_post_cut;

#define AT(state)      [MP_HTTP_POST_##state]
#define TO(state, act) MP_TO(MP_HTTP_POST_##state, act)

/* An exchange that is over leads back to READY, from where the owner sends it on or leaves. */
MP_MACHINE_STEPS(http_post) = {
	AT(READY) = {[ON_GO] = TO(GOING, NULL),
		     [ON_REST] = TO(RESTING, http_post_rest),
		     [ON_LEAVE] = TO(OVER, http_post_cut)},
	AT(GOING) = {[ON_DOCUMENT] = TO(READING, read_document),
		     [ON_STREAM] = TO(HEARING, http_post_hear),
		     [ON_NO] = TO(DENIED, read_refusal),
		     [ON_COMPLETE] = TO(READY, NULL), /* it lingered, unwanted */
		     [ON_BROKEN] = TO(READY, NULL),
		     [ON_LEAVE] = TO(OVER, http_post_cut)},
	AT(READING) = {[ON_COMPLETE] = TO(READY, NULL),
		       [ON_BROKEN] = TO(READY, NULL),
		       [ON_LEAVE] = TO(OVER, http_post_cut)},
	AT(HEARING) = {[ON_COMPLETE] = TO(READY, NULL),
		       [ON_BROKEN] = TO(READY, NULL),
		       [ON_LEAVE] = TO(OVER, http_post_cut)},
	AT(DENIED) = {[ON_COMPLETE] = TO(READY, NULL),
		      [ON_BROKEN] = TO(READY, NULL),
		      [ON_LEAVE] = TO(OVER, http_post_cut)},
	AT(RESTING) = {[ON_GO] = TO(GOING, NULL), [ON_LEAVE] = TO(OVER, http_post_cut)},
};

MP_MACHINE(http_post, struct mp_http_post)

/* --- an exchange and its end ---------------------------------------------------------------- */

/* The hook may free the post; it stays in memory until the end of the turn. */
static void http_post_finish(struct mp_http_post *t, enum http_post_event ev, enum mp_http_end how,
			     const struct mcpool_error *why)
{
	struct mp_http_head head = mp_refusal_get_head(&t->refusal);
	struct mp_http_post_end end = {
		.stage = t->state,
		.how = how,
		.head = &head,
		.body = mp_buf_get(t->state == MP_HTTP_POST_DENIED ? &t->refusal.body : &t->answer),
	};

	head.status = t->status;
	if (why)
		end.why = *why;
	t->exchange = 0;
	mp_timer_stop(&t->timer);
	mp_loop_unpost(t->loop, &t->failed);
	http_post_advance(t, ev);
	t->hooks->ended(t->u, t, &end);
	mp_check(t->state != MP_HTTP_POST_READY); /* the owner has decided */
}

static void stop_exchange(struct mp_http_post *t)
{
	if (t->exchange)
		mp_http_cancel(t->client, t->exchange);
	t->exchange = 0;
}

/* Reading on is useless. */
static void break_off(struct mp_http_post *t, enum mp_http_end how, int code, const char *words)
{
	struct mcpool_error why;

	stop_exchange(t);
	(void)mp_fail(&why, code, "%s", words);
	http_post_finish(t, ON_BROKEN, how, &why);
}

/* --- what the exchange tells ---------------------------------------------------------------- */

static void tell_sent(struct mp_http_post *t)
{
	bool before = t->was_sent;

	t->was_sent = true;
	if (!before && t->hooks->sent)
		t->hooks->sent(t->u, t);
}

static void exchange_sent(void *u)
{
	tell_sent(u);
}

static bool is_stream(const struct mp_http_post *t, const struct mp_http_head *head)
{
	return !t->hooks->is_one_way && mp_http_head_has_type(head, MP_STR("text/event-stream"));
}

static void exchange_head(void *u, const struct mp_http_head *head)
{
	struct mp_http_post *t = u;

	tell_sent(t); /* at the latest */
	if (t->state != MP_HTTP_POST_GOING)
		return;
	t->status = head->status;
	if (mp_http_status_of(head->status) != MP_HTTP_FINE) {
		mp_refusal_begin(&t->refusal, head);
		http_post_advance(t, ON_NO);
		return;
	}
	if (t->hooks->head)
		t->hooks->head(t->u, t, head);
	if (t->state == MP_HTTP_POST_GOING)
		http_post_advance(t, is_stream(t, head) ? ON_STREAM : ON_DOCUMENT);
}

static void take_events(struct mp_http_post *t, struct mp_str bytes)
{
	struct mp_sse_event event;
	int r;

	mp_sse_feed(&t->sse, bytes);
	while ((r = mp_sse_next(&t->sse, &event)) > 0) {
		t->tries = 0;
		t->hooks->event(t->u, t, &event);
		if (t->state != MP_HTTP_POST_HEARING)
			return;
	}
	if (r < 0)
		break_off(t, MP_HTTP_LIMIT, r, "no memory for what the server says");
	else if (t->sse.skipping && t->id)
		break_off(t, MP_HTTP_LIMIT, MCPOOL_ETOO_LARGE, "the answer is too large");
}

static void drop_some(struct mp_http_post *t, struct mp_str bytes)
{
	t->unread += bytes.len;
	if (t->unread <= UNREAD_MAX)
		return;
	stop_exchange(t);
	http_post_finish(t, ON_COMPLETE, MP_HTTP_OK, NULL);
}

static void take_document(struct mp_http_post *t, struct mp_str bytes)
{
	int r;

	if (t->hooks->is_one_way) {
		drop_some(t, bytes);
		return;
	}
	r = mp_buf_add_str(&t->answer, bytes);
	if (r == MCPOOL_ELIMIT)
		break_off(t, MP_HTTP_LIMIT, MCPOOL_ETOO_LARGE, "the answer is too large");
	else if (r < 0)
		break_off(t, MP_HTTP_LIMIT, r, "no memory for the answer");
}

/* Only its beginning is shown. */
static void take_refusal(struct mp_http_post *t, struct mp_str bytes)
{
	if (mp_refusal_add(&t->refusal, bytes))
		return;
	stop_exchange(t);
	http_post_finish(t, ON_COMPLETE, MP_HTTP_OK, NULL);
}

static void exchange_data(void *u, struct mp_str bytes)
{
	struct mp_http_post *t = u;

	switch (t->state) {
	case MP_HTTP_POST_HEARING:
		take_events(t, bytes);
		break;
	case MP_HTTP_POST_READING:
		take_document(t, bytes);
		break;
	case MP_HTTP_POST_DENIED:
		take_refusal(t, bytes);
		break;
	case MP_HTTP_POST_READY:
	case MP_HTTP_POST_GOING:
	case MP_HTTP_POST_RESTING:
	case MP_HTTP_POST_OVER:
	case MP_HTTP_POST_STATE_COUNT:
		break;
	}
}

static void exchange_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	http_post_finish(u, how == MP_HTTP_OK ? ON_COMPLETE : ON_BROKEN, how, err);
}

static const struct mp_http_hooks http_hooks = {
	.sent = exchange_sent,
	.head = exchange_head,
	.data = exchange_data,
	.done = exchange_done,
};

/* --- stations ------------------------------------------------------------------------------- */

/* What could not even be begun is told later, as everything else is. */
static void tell_failed(void *u)
{
	struct mp_http_post *t = u;
	struct mcpool_error why = *t->why;

	http_post_finish(t, ON_BROKEN, MP_HTTP_PROTOCOL, &why);
}

static int http_post_begin(struct mp_http_post *t, struct mcpool_error *reterr)
{
	struct mp_http_request request = {.body = {NULL, 0}};
	int r;

	t->status = 0;
	mp_buf_clear(&t->answer);
	mp_refusal_done(&t->refusal);
	r = t->hooks->request(t->u, t, t->goes_back, &request);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (!t->goes_back)
		request.body = mp_buf_get(&t->body);
	r = mp_http_start(t->client, &request, &http_hooks, t, &t->exchange, reterr);
	if (r < 0)
		t->exchange = 0;
	return r;
}

/* It will not be sent again. */
static void give_up_request(struct mp_http_post *t)
{
	mp_buf_done(&t->body);
	mp_buf_init(&t->body, MP_LIMIT_MESSAGE);
	mp_http_fields_done(&t->headers);
	mp_http_fields_init(&t->headers);
}

static enum http_post_event read_document(struct mp_http_post *t)
{
	give_up_request(t);
	return MP_QUIET;
}

static enum http_post_event read_refusal(struct mp_http_post *t)
{
	(void)t;
	return MP_QUIET;
}

/* What the stream before it said last stays: its id is what this one goes on from. */
static enum http_post_event http_post_hear(struct mp_http_post *t)
{
	char *last = NULL;
	int64_t retry_ms = mp_http_post_get_retry_ms(t);
	struct mp_str id = mp_http_post_get_last_id(t);

	if (id.len) {
		last = mp_alloc(id.len + 1);
		memcpy(last, id.p, id.len);
	}
	give_up_request(t);
	if (t->has_sse)
		mp_sse_done(&t->sse);
	mp_sse_init(&t->sse, MP_LIMIT_MESSAGE);
	t->has_sse = true;
	t->sse.retry_ms = retry_ms;
	/* Memory that is refused here only means that there is nothing to go on from. */
	if (last && mp_buf_add(&t->sse.id, last, id.len) < 0)
		mp_buf_clear(&t->sse.id);
	mp_free(last);
	t->was_heard = true;
	t->heard_at_ms = mp_loop_now_ms(t->loop);
	return MP_QUIET;
}

static enum http_post_event http_post_rest(struct mp_http_post *t)
{
	t->goes_back = true;
	return MP_QUIET;
}

static enum http_post_event http_post_cut(struct mp_http_post *t)
{
	stop_exchange(t);
	mp_timer_stop(&t->timer);
	mp_loop_unpost(t->loop, &t->failed);
	return MP_QUIET;
}

static void timer_rang(void *u)
{
	struct mp_http_post *t = u;

	if (t->state == MP_HTTP_POST_RESTING) {
		mp_http_post_go(t);
		return;
	}
	stop_exchange(t); /* it lingered for long enough */
	http_post_finish(t, ON_COMPLETE, MP_HTTP_OK, NULL);
}

/* --- the outside ---------------------------------------------------------------------------- */

int mp_http_post_new(struct mp_loop *loop, struct mp_http_client *client,
		     const struct mp_outgoing *message, const struct mp_http_post_hooks *hooks,
		     void *u, struct mp_http_post **ret_post)
{
	struct mp_http_post *t = mp_alloc(sizeof(*t));
	int r = 0;

	*t = (struct mp_http_post){.loop = loop, .client = client, .hooks = hooks, .u = u};
	t->state = MP_HTTP_POST_READY;
	mp_buf_init(&t->body, MP_LIMIT_MESSAGE);
	mp_http_fields_init(&t->headers);
	mp_buf_init(&t->answer, MP_LIMIT_MESSAGE);
	mp_refusal_init(&t->refusal);
	mp_timer_init(&t->timer, loop, timer_rang, t);
	mp_task_init(&t->failed, tell_failed, t);
	if (message)
		r = mp_buf_add_pieces(&t->body, message->pieces, message->n_pieces);
	if (r < 0) {
		mp_http_post_free(t);
		return r;
	}
	*ret_post = t;
	return 0;
}

static void http_post_gone(struct mp_grave *grave)
{
	struct mp_http_post *t = mp_container_of(grave, struct mp_http_post, grave);

	mp_buf_done(&t->body);
	mp_http_fields_done(&t->headers);
	mp_buf_done(&t->answer);
	mp_refusal_done(&t->refusal);
	if (t->has_sse)
		mp_sse_done(&t->sse);
	mp_free(t->why);
	mp_free(t->id);
	mp_free(t);
}

struct mp_http_post *mp_http_post_free(struct mp_http_post *t)
{
	if (!t || t->state == MP_HTTP_POST_OVER)
		return NULL;
	http_post_advance(t, ON_LEAVE);
	mp_loop_bury(t->loop, &t->grave, http_post_gone); /* one of its hooks may be on the stack */
	return NULL;
}

void mp_http_post_go(struct mp_http_post *t)
{
	struct mcpool_error why;

	if (http_post_begin(t, &why) < 0) {
		mp_error_keep(&t->why, &why);
		mp_loop_post(t->loop, &t->failed);
	}
	http_post_advance(t, ON_GO);
}

int mp_http_post_try(struct mp_http_post *t, struct mcpool_error *reterr)
{
	int r = http_post_begin(t, reterr);

	if (r < 0)
		return r;
	give_up_request(t); /* the client has a copy */
	http_post_advance(t, ON_GO);
	return 0;
}

/* Where nothing came of going back, each time is later than the one before. */
static int64_t choose_rest(struct mp_http_post *t, int64_t delay_ms)
{
	int64_t ms = FIRST_REST_MS;
	int64_t lived_ms = mp_loop_now_ms(t->loop) - t->heard_at_ms;

	if (delay_ms > LONGEST_WISH_MS)
		delay_ms = LONGEST_WISH_MS;
	if (delay_ms < SHORTEST_REST_MS && t->was_heard && lived_ms < FIRST_REST_MS)
		delay_ms = SHORTEST_REST_MS;
	for (unsigned i = 1; i < t->tries && ms < LONGEST_REST_MS; i++)
		ms += ms / 2;
	if (ms > LONGEST_REST_MS)
		ms = LONGEST_REST_MS;
	return t->tries == 0 || ms < delay_ms ? delay_ms : ms;
}

void mp_http_post_back(struct mp_http_post *t, int64_t delay_ms)
{
	int64_t ms = choose_rest(t, delay_ms);

	http_post_advance(t, ON_REST);
	t->tries++;
	mp_timer_start(&t->timer, ms);
}

void mp_http_post_linger(struct mp_http_post *t)
{
	if (t->exchange && !mp_timer_is_running(&t->timer))
		mp_timer_start(&t->timer, LINGER_MS);
}

struct mp_str mp_http_post_get_last_id(const struct mp_http_post *t)
{
	return t->has_sse ? mp_sse_get_last_id(&t->sse) : MP_STR("");
}

int64_t mp_http_post_get_retry_ms(const struct mp_http_post *t)
{
	return t->has_sse ? mp_sse_get_retry_ms(&t->sse) : -1;
}
