/*
 * stream.c - messages of one legacy POST, or of the standing GET of a session.
 * An answer without earlier messages is one JSON body. Any message before it starts an event
 * stream. Its events are numbered and kept for a while, so that a client that lost its connection
 * can ask for what follows Last-Event-ID. A disconnect does not cancel the request.
 */
#include "face/stream.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"

enum { RETRY_MS = 1000 }; /* retry interval sent to clients */

#define STREAM_EVENTS(X)                                        \
	X(MESSAGE, "message", "a message that is not the last") \
	X(LAST, "last", "the last message")                     \
	X(PATIENCE, "patience", "nothing was said for a while") \
	X(LEFT, "left", "the listener is gone")                 \
	X(JOINED, "joined", "somebody comes to listen")         \
	X(ENDED, "ended", "its session ends, or its time is up")

MP_MACHINE_ENUM(stream_event, STREAM_EVENTS);

/* One event of the ring. */
struct kept {
	struct mp_link link;
	uint64_t number;
	size_t len;
	char text[];
};

MP_MACHINE_TYPES(stream, struct mp_stream, enum stream_event, MP_STREAM_STATES, STREAM_EVENTS);
static stream_action stream_begin, begin_and_send, answer_alone, send_event, send_last, keep_event,
	keep_last, stream_comment, let_go, stream_replay, replay_all, stream_refuse, hang_up,
	stream_finish;

#define AT(state)      [MP_STREAM_##state]
#define TO(state, act) MP_TO(MP_STREAM_##state, act)

MP_MACHINE_STEPS(stream) = {
	AT(WAITING) = {[MESSAGE] = TO(FLOWING, begin_and_send),
		       [LAST] = TO(OVER, answer_alone),
		       [PATIENCE] = TO(FLOWING, stream_begin),
		       [LEFT] = TO(UNHEARD, let_go),
		       [ENDED] = TO(OVER, stream_refuse)},
	AT(FLOWING) = {[MESSAGE] = MP_DO(send_event),
		       [LAST] = TO(FINISHED, send_last),
		       [PATIENCE] = MP_DO(stream_comment),
		       [LEFT] = TO(LOOSE, let_go),
		       [ENDED] = TO(OVER, hang_up)},
	AT(LOOSE) = {[MESSAGE] = MP_DO(keep_event),
		     [LAST] = TO(FINISHED, keep_last),
		     [JOINED] = TO(FLOWING, stream_replay),
		     [ENDED] = TO(OVER, stream_finish)},
	AT(FINISHED) = {[JOINED] = MP_DO(replay_all), [ENDED] = TO(OVER, stream_finish)},
	AT(UNHEARD) = {[MESSAGE] = MP_STAY,
		       [LAST] = TO(OVER, stream_finish),
		       [ENDED] = TO(OVER, stream_finish)},
};

MP_MACHINE(stream, struct mp_stream, .starts = 1u << MP_STREAM_WAITING | 1u << MP_STREAM_LOOSE)

/* --- the client ----------------------------------------------------------------------------- */

static void exchange_quiet(void *u)
{
	stream_advance(u, PATIENCE);
}

static void exchange_gone(void *u)
{
	stream_advance(u, LEFT);
}

static const struct mp_exchange_hooks exchange_hooks = {.quiet = exchange_quiet,
							.gone = exchange_gone};

static void stream_attach(struct mp_stream *s, struct mp_exchange *x)
{
	s->x = x;
	x->hooks = &exchange_hooks;
	x->u = s;
	s->hooks->heard(s->u, s, true);
}

static enum stream_event let_go(struct mp_stream *s)
{
	s->x = NULL;
	s->hooks->heard(s->u, s, false);
	return MP_QUIET;
}

/* --- the ring ------------------------------------------------------------------------------- */

static void drop_first(struct mp_stream *s)
{
	struct mp_link *link = mp_list_pop(&s->ring);
	struct kept *k = link ? mp_container_of(link, struct kept, link) : NULL;

	if (!k)
		return;
	s->ring_bytes -= k->len;
	mp_free(k);
}

/* Number this message and keep a copy. Without memory it cannot be replayed. */
static uint64_t stream_keep(struct mp_stream *s, struct mp_str text)
{
	struct kept *k = mp_try_alloc(sizeof(*k) + text.len);

	s->last++;
	if (!k)
		return s->last;
	*k = (struct kept){.number = s->last, .len = text.len};
	memcpy(k->text, text.p, text.len);
	mp_list_append(&s->ring, &k->link);
	s->ring_bytes += k->len;
	while (s->ring.len > MP_STREAM_KEPT ||
	       (s->ring.len > 1 && s->ring_bytes > MP_STREAM_KEPT_BYTES))
		drop_first(s);
	return s->last;
}

static void name_it(struct mp_stream *s)
{
	if (!s->name[0])
		mp_random_id_make(s->name);
}

static void stream_send(struct mp_stream *s, uint64_t number, struct mp_str text)
{
	char id[MP_RANDOM_ID + 1 + MP_STR_DIGITS + 1];

	snprintf(id, sizeof(id), "%s-%llu", s->name, (unsigned long long)number);
	mp_exchange_event(s->x, MP_STR("message"), mp_str_of(id), text);
}

bool mp_stream_parse_id(struct mp_str text, struct mp_str *ret_name, uint64_t *ret_number)
{
	if (text.len < MP_RANDOM_ID + 2 || text.p[MP_RANDOM_ID] != '-')
		return false;
	*ret_name = (struct mp_str){text.p, MP_RANDOM_ID};
	return mp_str_to_u64(
		       (struct mp_str){text.p + MP_RANDOM_ID + 1, text.len - MP_RANDOM_ID - 1},
		       ret_number) == 0;
}

/* --- actions -------------------------------------------------------------------------------- */

/* Send an id to resume from before the first message (2025-11-25). */
static enum stream_event stream_begin(struct mp_stream *s)
{
	name_it(s);
	mp_exchange_begin_stream(s->x, s->headers);
	if (s->primes) {
		mp_exchange_retry(s->x, RETRY_MS);
		stream_send(s, s->last, MP_STR(""));
	} else {
		mp_exchange_comment(s->x);
	}
	return MP_QUIET;
}

static enum stream_event begin_and_send(struct mp_stream *s)
{
	stream_begin(s);
	return send_event(s);
}

/* A cancelled request has no answer; the stream still has to end. */
static enum stream_event answer_alone(struct mp_stream *s)
{
	struct mp_exchange *x = MP_TAKE(s->x);

	s->hooks->heard(s->u, s, false);
	if (s->now->text.len) {
		mp_exchange_answer(x, &(struct mp_http_answer){s->now->status, "application/json",
							       s->headers, s->now->text});
	} else {
		mp_exchange_begin_stream(x, s->headers);
		mp_exchange_end(x);
	}
	return stream_finish(s);
}

static enum stream_event send_event(struct mp_stream *s)
{
	stream_send(s, stream_keep(s, s->now->text), s->now->text);
	return MP_QUIET;
}

/* The answer may be lost in transit, so it is kept even while a client is connected. */
static enum stream_event send_last(struct mp_stream *s)
{
	struct mp_exchange *x = s->x;

	if (s->now->text.len)
		send_event(s);
	s->x = NULL;
	s->hooks->heard(s->u, s, false);
	mp_exchange_end(x);
	s->hooks->finished(s->u, s);
	return MP_QUIET;
}

static enum stream_event keep_event(struct mp_stream *s)
{
	name_it(s);
	stream_keep(s, s->now->text);
	return MP_QUIET;
}

static enum stream_event keep_last(struct mp_stream *s)
{
	if (s->now->text.len)
		keep_event(s);
	s->hooks->finished(s->u, s);
	return MP_QUIET;
}

static enum stream_event stream_comment(struct mp_stream *s)
{
	mp_exchange_comment(s->x);
	return MP_QUIET;
}

static void send_kept(struct mp_stream *s)
{
	MP_LIST_EACH(&s->ring, link) {
		struct kept *k = mp_container_of(link, struct kept, link);

		if (k->number > s->from)
			stream_send(s, k->number, (struct mp_str){k->text, k->len});
	}
}

static enum stream_event stream_replay(struct mp_stream *s)
{
	stream_begin(s);
	send_kept(s);
	return MP_QUIET;
}

static enum stream_event replay_all(struct mp_stream *s)
{
	struct mp_exchange *x = s->x;

	mp_exchange_begin_stream(x, s->headers);
	send_kept(s);
	s->x = NULL;
	s->hooks->heard(s->u, s, false);
	mp_exchange_end(x);
	return MP_QUIET;
}

static enum stream_event stream_refuse(struct mp_stream *s)
{
	struct mp_exchange *x = MP_TAKE(s->x);

	s->hooks->heard(s->u, s, false);
	mp_exchange_refuse(x, &(struct mp_http_refusal){404, "this session has ended", NULL});
	return stream_finish(s);
}

static enum stream_event hang_up(struct mp_stream *s)
{
	struct mp_exchange *x = MP_TAKE(s->x);

	s->hooks->heard(s->u, s, false);
	mp_exchange_end(x);
	return stream_finish(s);
}

static void bury(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct mp_stream, grave));
}

static enum stream_event stream_finish(struct mp_stream *s)
{
	s->hooks->over(s->u, s); /* the hook counts what was kept */
	while (s->ring.len)
		drop_first(s);
	mp_loop_bury(s->loop, &s->grave, bury);
	return MP_QUIET;
}

/* --- life ----------------------------------------------------------------------------------- */

static struct mp_stream *stream_make(struct mp_loop *loop, const struct mp_stream_hooks *hooks,
				     void *u)
{
	struct mp_stream *s = mp_alloc(sizeof(*s));

	s->loop = loop;
	s->hooks = hooks;
	s->u = u;
	mp_list_init(&s->ring);
	return s;
}

struct mp_stream *mp_stream_new(struct mp_loop *loop, const struct mp_stream_hooks *hooks, void *u,
				struct mp_exchange *x)
{
	struct mp_stream *s = stream_make(loop, hooks, u);

	stream_attach(s, x);
	return s;
}

struct mp_stream *mp_stream_new_standing(struct mp_loop *loop, const struct mp_stream_hooks *hooks,
					 void *u)
{
	struct mp_stream *s = stream_make(loop, hooks, u);

	s->state = MP_STREAM_LOOSE;
	return s;
}

void mp_stream_deliver(struct mp_stream *s, const struct mp_delivery *d)
{
	s->now = d;
	stream_advance(s, d->is_last ? LAST : MESSAGE);
	s->now = NULL;
}

bool mp_stream_may_join(const struct mp_stream *s)
{
	return s->state == MP_STREAM_LOOSE || s->state == MP_STREAM_FINISHED;
}

void mp_stream_join(struct mp_stream *s, struct mp_exchange *x, uint64_t from)
{
	s->from = from;
	stream_attach(s, x);
	stream_advance(s, JOINED);
}

struct mp_exchange *mp_stream_release(struct mp_stream *s)
{
	struct mp_exchange *x = s->x;

	x->hooks = NULL;
	stream_advance(s, LEFT);
	return x;
}

void mp_stream_end(struct mp_stream *s)
{
	stream_advance(s, ENDED);
}
