/*
 * http_sessions.c - HTTP sessions of revisions up to 2025-11-25: started by initialize, identified
 * by a random id, ended by DELETE or a timeout. An id is valid only with the token it was created
 * with. Unknown, foreign and ended ids get the same answer (V26).
 */
#include "face/http_sessions.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "face/http_face.h"
#include "face/mcp_headers.h"
#include "base/random_id.h"
#include "face/stream.h"
#include "rpc/era.h"

#define HEADER "Mcp-Session-Id: "
enum { INVALID_REQUEST = -32600 };

#define HTTP_SESSION_STATES(X)                                        \
	X(BUSY, "busy", "a client listens on one of its streams")     \
	X(IDLE, "idle", "no stream is open; it ends when that lasts") \
	X(ENDED, "ended", "its id means nothing any more")

#define HTTP_SESSION_EVENTS(X)                                                        \
	X(HEARD, "heard", "a client listens, where none did")                         \
	X(UNHEARD, "unheard", "the last one does not any more")                       \
	X(USED, "used", "a message came")                                             \
	X(EXPIRED, "expired", "it was idle for too long, or another needs its place") \
	X(DELETED, "deleted", "its client, or the hub, ends it")

MP_MACHINE_ENUM(http_session_state, HTTP_SESSION_STATES);
MP_MACHINE_ENUM(http_session_event, HTTP_SESSION_EVENTS);

struct session {
	struct mp_http_face *face;
	enum http_session_state state;
	struct mp_session *session; /* owned */
	mp_id holder;               /* of the token it was created with */
	char id[MP_RANDOM_ID + 1];
	char headers[sizeof(HEADER) + MP_RANDOM_ID + 2]; /* added to its responses */
	struct mp_stream *standing; /* owned; for messages that belong to no request */
	struct mp_list streams;     /* of its POSTs; owned */
	size_t heard;               /* streams with a connected client */
	struct mp_link idle;
	int64_t idle_since_ms;
	bool is_used;  /* it sent a request after initialize */
	bool is_fresh; /* initialize is not answered yet */
	bool was_refused;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(http_session, struct session, enum http_session_event, HTTP_SESSION_STATES,
		 HTTP_SESSION_EVENTS);
static http_session_action http_sessions_work, http_sessions_rest, rest_again, http_sessions_end;

MP_MACHINE_STEPS(http_session) = {
	[BUSY] = {[UNHEARD] = MP_TO(IDLE, http_sessions_rest),
		  [USED] = MP_STAY,
		  [DELETED] = MP_TO(ENDED, http_sessions_end)},
	[IDLE] = {[HEARD] = MP_TO(BUSY, http_sessions_work),
		  [USED] = MP_DO(rest_again),
		  [EXPIRED] = MP_TO(ENDED, http_sessions_end),
		  [DELETED] = MP_TO(ENDED, http_sessions_end)},
	[ENDED] = {[UNHEARD] = MP_STAY},
};

MP_MACHINE(http_session, struct session, .starts = 1u << IDLE)

/* --- actions -------------------------------------------------------------------------------- */

static void http_sessions_arm(struct mp_timer *t, int64_t due_ms)
{
	int64_t left = due_ms - mp_loop_now_ms(t->loop);

	if (!mp_timer_is_running(t))
		mp_timer_start(t, left > 0 ? left : 0);
}

static struct mp_list *get_list(struct session *s)
{
	return s->is_used ? &s->face->idle : &s->face->unused;
}

static enum http_session_event http_sessions_rest(struct session *s)
{
	struct mp_http_face *f = s->face;

	s->idle_since_ms = mp_loop_now_ms(f->loop);
	mp_list_append(get_list(s), &s->idle);
	http_sessions_arm(&f->idle_timer, s->idle_since_ms + MP_LIMIT_SESSION_IDLE_MS);
	return MP_QUIET;
}

static enum http_session_event http_sessions_work(struct session *s)
{
	mp_list_remove(get_list(s), &s->idle);
	return MP_QUIET;
}

static enum http_session_event rest_again(struct session *s)
{
	http_sessions_work(s);
	return http_sessions_rest(s);
}

static void bury(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct session, grave));
}

/* Close its streams. The caller may still use it, so it is freed at the end of the turn. */
static enum http_session_event http_sessions_end(struct session *s)
{
	struct mp_http_face *f = s->face;
	struct mp_link *link;

	if (mp_list_linked(&s->idle))
		mp_list_remove(get_list(s), &s->idle);
	mp_map_remove(&f->sessions, mp_str_of(s->id));
	while ((link = mp_list_first(&s->streams)))
		mp_stream_end(mp_container_of(link, struct mp_stream, link));
	mp_stream_end(s->standing);
	s->session = mp_session_free(s->session);
	mp_loop_bury(f->loop, &s->grave, bury);
	return MP_QUIET;
}

static void end_idle_of(struct mp_http_face *f, struct mp_list *list)
{
	int64_t latest = mp_loop_now_ms(f->loop) - MP_LIMIT_SESSION_IDLE_MS;
	struct mp_link *link;

	while ((link = mp_list_first(list))) {
		struct session *s = mp_container_of(link, struct session, idle);

		if (s->idle_since_ms > latest) {
			http_sessions_arm(&f->idle_timer,
					  s->idle_since_ms + MP_LIMIT_SESSION_IDLE_MS);
			return;
		}
		http_session_advance(s, EXPIRED);
	}
}

static void end_idle(void *u)
{
	struct mp_http_face *f = u;

	end_idle_of(f, &f->unused);
	end_idle_of(f, &f->idle);
}

bool mp_http_sessions_end_oldest(struct mp_http_face *f)
{
	struct mp_link *link = mp_list_first(f->unused.len ? &f->unused : &f->idle);

	if (link)
		http_session_advance(mp_container_of(link, struct session, idle), EXPIRED);
	return link != NULL;
}

/* --- streams -------------------------------------------------------------------------------- */

static void stream_heard(void *u, struct mp_stream *stream, bool is_heard)
{
	struct session *s = u;

	(void)stream;
	if (is_heard && s->heard++ == 0)
		http_session_advance(s, HEARD);
	if (!is_heard && --s->heard == 0)
		http_session_advance(s, UNHEARD);
}

static void forget_finished(struct mp_http_face *f, struct mp_stream *stream)
{
	if (!mp_list_linked(&stream->kept_link))
		return;
	mp_list_remove(&f->finished, &stream->kept_link);
	f->finished_bytes -= stream->ring_bytes;
}

static void stream_finished(void *u, struct mp_stream *stream)
{
	struct mp_http_face *f = ((struct session *)u)->face;

	mp_ids_remove(&f->streams, stream->id);
	stream->kept_since_ms = mp_loop_now_ms(f->loop);
	mp_list_append(&f->finished, &stream->kept_link);
	f->finished_bytes += stream->ring_bytes;
	while (f->finished.len > MP_HTTP_FINISHED ||
	       (f->finished.len > 1 && f->finished_bytes > MP_LIMIT_REPLAY))
		mp_stream_end(
			mp_container_of(mp_list_first(&f->finished), struct mp_stream, kept_link));
	http_sessions_arm(&f->finished_timer, stream->kept_since_ms + MP_HTTP_FINISHED_MS);
}

static void stream_over(void *u, struct mp_stream *stream)
{
	struct session *s = u;

	forget_finished(s->face, stream);
	mp_ids_remove(&s->face->streams, stream->id);
	if (stream == s->standing)
		s->standing = NULL;
	else
		mp_list_remove(&s->streams, &stream->link);
}

static const struct mp_stream_hooks stream_hooks = {stream_heard, stream_finished, stream_over};

static void end_finished(void *u)
{
	struct mp_http_face *f = u;
	int64_t latest = mp_loop_now_ms(f->loop) - MP_HTTP_FINISHED_MS;
	struct mp_link *link;

	while ((link = mp_list_first(&f->finished))) {
		struct mp_stream *stream = mp_container_of(link, struct mp_stream, kept_link);

		if (stream->kept_since_ms > latest) {
			http_sessions_arm(&f->finished_timer,
					  stream->kept_since_ms + MP_HTTP_FINISHED_MS);
			return;
		}
		mp_stream_end(stream);
	}
}

static void deliver(void *u, const struct mp_delivery *d)
{
	struct session *s = u;
	struct mp_stream *stream =
		d->stream ? mp_ids_get(&s->face->streams, d->stream) : s->standing;

	if (!stream)
		return;
	if (s->is_fresh && d->is_last) { /* the answer to initialize: was the session accepted? */
		s->is_fresh = false;
		s->was_refused = d->status >= 400;
		if (s->was_refused)
			stream->headers = NULL;
	}
	mp_stream_deliver(stream, d);
}

static const struct mp_session_hooks session_hooks = {deliver};

/* --- life ----------------------------------------------------------------------------------- */

static struct session *open_session(struct mp_http_face *f, struct mp_exchange *x)
{
	struct session *s = mp_alloc(sizeof(*s));
	int r;

	s->face = f;
	s->holder = x->admission.holder;
	s->is_fresh = true;
	mp_list_init(&s->streams);
	mp_random_id_make(s->id);
	snprintf(s->headers, sizeof(s->headers), HEADER "%s\r\n", s->id);
	r = mp_http_face_open_session(f, x, "http", 0, &session_hooks, s, &s->session);
	if (r == 0)
		r = mp_map_set(&f->sessions, mp_str_of(s->id), s);
	if (r < 0) {
		mp_session_free(s->session);
		mp_free(s);
		mp_http_face_refuse_session(x, r);
		return NULL;
	}
	s->standing = mp_stream_new_standing(f->loop, &stream_hooks, s);
	s->standing->headers = s->headers;
	s->state = IDLE;
	http_sessions_rest(s);
	return s;
}

void mp_http_sessions_init(struct mp_http_face *f)
{
	mp_map_init(&f->sessions, MP_LIMIT_SESSIONS);
	mp_list_init(&f->idle);
	mp_list_init(&f->unused);
	mp_list_init(&f->finished);
	mp_ids_init(&f->streams);
	mp_timer_init(&f->idle_timer, f->loop, end_idle, f);
	mp_timer_init(&f->finished_timer, f->loop, end_finished, f);
}

static void end_all(struct mp_http_face *f, bool only_strangers)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&f->sessions, &cursor))) {
		struct session *s = e->value;

		if (!only_strangers || !mp_holders_find(&f->admit.holders, s->holder))
			http_session_advance(s, DELETED);
	}
}

void mp_http_sessions_end_strangers(struct mp_http_face *f)
{
	end_all(f, true);
}

void mp_http_sessions_done(struct mp_http_face *f)
{
	end_all(f, false);
	mp_timer_stop(&f->idle_timer);
	mp_timer_stop(&f->finished_timer);
	mp_map_done(&f->sessions);
	mp_ids_done(&f->streams);
}

/* A standing stream owes no answer. */
void mp_http_sessions_drain(struct mp_http_face *f)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&f->sessions, &cursor))) {
		struct session *s = e->value;

		if (s->standing->x)
			mp_exchange_end(mp_stream_release(s->standing));
	}
}

/* --- requests ------------------------------------------------------------------------------- */

static bool has_known_version(struct mp_exchange *x)
{
	struct mp_str version = mp_inbound_get(x->in, MP_FIELD_VERSION);

	if (!version.p || mp_legacy_knows(version))
		return true;
	mp_mcp_endpoint_refuse(
		x, 400, MP_STR(""), INVALID_REQUEST,
		"the header MCP-Protocol-Version names a revision that is not known");
	return false;
}

/* NULL: already answered. */
static struct session *find_session(struct mp_http_face *f, struct mp_exchange *x)
{
	struct mp_str id = mp_inbound_get(x->in, MP_FIELD_SESSION);
	struct session *s;

	if (!has_known_version(x))
		return NULL;
	if (!id.p) {
		mp_mcp_endpoint_refuse(
			x, 400, MP_STR(""), INVALID_REQUEST,
			"the header Mcp-Session-Id is missing: begin with initialize");
		return NULL;
	}
	s = mp_map_get(&f->sessions, id);
	if (s && s->holder == x->admission.holder)
		return s;
	mp_mcp_endpoint_refuse(x, 404, MP_STR(""), INVALID_REQUEST, "there is no such session");
	return NULL;
}

static bool knows_priming(const struct mp_exchange *x)
{
	return mp_str_eq(mp_inbound_get(x->in, MP_FIELD_VERSION), MP_STR(MP_LEGACY_VERSION));
}

static bool is_greeting(const struct mp_message *m)
{
	return m->method == MP_METHOD_INITIALIZE || m->method == MP_METHOD_INITIALIZED;
}

/* A session that was opened and never used is ended first (attack-S9). */
static void note_use(struct session *s)
{
	bool is_idle = mp_list_linked(&s->idle);

	if (s->is_used)
		return;
	if (is_idle)
		http_sessions_work(s);
	s->is_used = true;
	if (is_idle)
		http_sessions_rest(s);
}

static void http_sessions_receive(struct session *s, struct mp_exchange *x,
				  const struct mp_message *m)
{
	struct mp_http_face *f = s->face;
	struct mp_stream *stream = mp_stream_new(f->loop, &stream_hooks, s, x);

	stream->headers = s->headers;
	stream->primes = knows_priming(x);
	mp_list_append(&s->streams, &stream->link);
	stream->id = mp_ids_add(&f->streams, stream);
	http_session_advance(s, USED);
	if (!is_greeting(m))
		note_use(s);
	mp_http_face_note_trace(x, s->session);
	if (mp_session_receive(s->session, m, stream->id) == 0) {
		mp_exchange_answer(mp_stream_release(stream),
				   &(struct mp_http_answer){.status = 202});
		mp_stream_end(stream);
	}
	if (s->was_refused && s->state != ENDED)
		http_session_advance(s, DELETED);
}

void mp_http_sessions_post(struct mp_http_face *f, struct mp_exchange *x,
			   const struct mp_message *m)
{
	bool opens = m->kind == MP_MESSAGE_REQUEST && m->method == MP_METHOD_INITIALIZE &&
		     !mp_inbound_get(x->in, MP_FIELD_SESSION).p;
	struct session *s;

	if (opens && !has_known_version(x))
		return;
	s = opens ? open_session(f, x) : find_session(f, x);
	if (s)
		http_sessions_receive(s, x, m);
}

static struct mp_stream *find_stream(struct session *s, struct mp_str name)
{
	if (mp_str_eq(mp_str_of(s->standing->name), name))
		return s->standing;
	MP_LIST_EACH(&s->streams, link) {
		struct mp_stream *stream = mp_container_of(link, struct mp_stream, link);

		if (mp_str_eq(mp_str_of(stream->name), name))
			return stream;
	}
	return NULL;
}

/* The standing stream, or the one of Last-Event-ID. NULL: already answered. */
static struct mp_stream *choose_stream(struct session *s, struct mp_exchange *x, uint64_t *ret_from)
{
	struct mp_str last = mp_inbound_get(x->in, MP_FIELD_LAST_EVENT), name;
	struct mp_stream *stream = s->standing;

	*ret_from = 0;
	if (last.len)
		stream = mp_stream_parse_id(last, &name, ret_from) ? find_stream(s, name) : NULL;
	if (!stream)
		mp_mcp_endpoint_refuse(x, 404, MP_STR(""), INVALID_REQUEST,
				       "what is behind this event is not kept any more");
	return stream;
}

void mp_http_sessions_get(struct mp_http_face *f, struct mp_exchange *x)
{
	struct session *s = find_session(f, x);
	struct mp_stream *stream;
	uint64_t from;

	if (!s)
		return;
	if (!(mp_mcp_headers_accept(mp_inbound_get(x->in, MP_FIELD_ACCEPT)) & MP_ACCEPTS_EVENTS)) {
		mp_exchange_refuse(x, &(struct mp_http_refusal){
					      406, "Accept must list text/event-stream", NULL});
		return;
	}
	stream = choose_stream(s, x, &from);
	if (!stream)
		return;
	if (!mp_stream_may_join(stream)) { /* the connected client is never replaced (V17) */
		mp_mcp_endpoint_refuse(x, 409, MP_STR(""), INVALID_REQUEST,
				       "somebody listens on this stream already");
		return;
	}
	stream->primes = knows_priming(x);
	note_use(s);
	mp_stream_join(stream, x, from);
}

void mp_http_sessions_delete(struct mp_http_face *f, struct mp_exchange *x)
{
	struct session *s = find_session(f, x);

	if (!s)
		return;
	http_session_advance(s, DELETED);
	mp_exchange_answer(x, &(struct mp_http_answer){.status = 204});
}
