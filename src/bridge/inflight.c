/*
 * inflight.c - unanswered requests of the agent, and the session state that a new hub needs.
 * Lines are peeked at; only a line in an unusual form is parsed.
 */
#include "bridge/inflight.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "rpc/peek.h"
#include "rpc/message.h"

enum { MAX_REQUESTS = 65536, MAX_STALE = 1024 };

static char *text_copy(struct mp_str s)
{
	char *text = mp_alloc(s.len + 1);

	memcpy(text, s.p, s.len);
	return text;
}

void mp_inflight_init(struct mp_inflight *f)
{
	*f = (struct mp_inflight){0};
	mp_list_init(&f->requests);
	mp_map_init(&f->by_id, MAX_REQUESTS);
	mp_map_init(&f->server_requests, MAX_STALE);
	mp_map_init(&f->stale, MAX_STALE);
	mp_map_init(&f->subscriptions, MP_LIMIT_SUBSCRIPTIONS);
	mp_message_tape_init(&f->tape);
}

static void subscription_remove(struct mp_inflight *f, struct mp_str uri)
{
	mp_free(mp_map_remove(&f->subscriptions, uri));
}

void mp_inflight_done(struct mp_inflight *f)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while (mp_list_first(&f->requests))
		mp_inflight_remove(f, mp_container_of(mp_list_first(&f->requests),
						      struct mp_inflight_request, link));
	while ((e = mp_map_next(&f->subscriptions, &cursor)))
		mp_free(e->value);
	mp_map_done(&f->by_id);
	mp_map_done(&f->server_requests);
	mp_map_done(&f->stale);
	mp_map_done(&f->subscriptions);
	mp_tape_done(&f->tape);
	mp_free(f->initialize);
	mp_free(f->initialized);
	mp_free(f->level);
}

/* --- requests -------------------------------------------------------------------------------- */

static const struct {
	const char *method;
	enum mp_inflight_kind kind;
} kinds[] = {
	{"initialize", MP_INFLIGHT_OPENING},
	{"server/discover", MP_INFLIGHT_OPENING},
	{"subscriptions/listen", MP_INFLIGHT_LISTENING},
	{"logging/setLevel", MP_INFLIGHT_LEVEL},
	{"resources/subscribe", MP_INFLIGHT_SUBSCRIBE},
	{"resources/unsubscribe", MP_INFLIGHT_UNSUBSCRIBE},
};

static enum mp_inflight_kind kind_find(struct mp_str method)
{
	if (mp_str_eq(method, MP_STR("tools/call")))
		return MP_INFLIGHT_CALL;
	for (size_t i = 0; i < MP_ARRAY_LEN(kinds); i++)
		if (mp_str_eq(method, mp_str_of(kinds[i].method)))
			return kinds[i].kind;
	return MP_INFLIGHT_CALL;
}

static void request_add(struct mp_inflight *f, struct mp_inflight_request *r)
{
	struct mp_inflight_request *first = mp_map_get(&f->by_id, mp_str_of(r->id));

	mp_list_append(&f->requests, &r->link);
	if (!first) {
		/* A full map only means that no answer finds it; a lost hub settles it. */
		if (mp_map_set(&f->by_id, mp_str_of(r->id), r) < 0)
			r->same_id = NULL;
		return;
	}
	while (first->same_id)
		first = first->same_id;
	first->same_id = r;
}

static void request_unlink(struct mp_inflight *f, struct mp_inflight_request *r)
{
	struct mp_inflight_request *first = mp_map_get(&f->by_id, mp_str_of(r->id));

	if (first == r) {
		if (!r->same_id || mp_map_set(&f->by_id, mp_str_of(r->id), r->same_id) < 0)
			mp_map_remove(&f->by_id, mp_str_of(r->id));
		return;
	}
	for (; first; first = first->same_id)
		if (first->same_id == r)
			first->same_id = r->same_id;
}

void mp_inflight_remove(struct mp_inflight *f, struct mp_inflight_request *r)
{
	request_unlink(f, r);
	mp_list_remove(&f->requests, &r->link);
	mp_free(r->id);
	mp_free(r->text);
	mp_free(r);
}

/* --- from the agent -------------------------------------------------------------------------- */

static void request_note(struct mp_inflight *f, struct mp_str line, struct mp_str id,
			 struct mp_str method, uint64_t end, bool is_kept)
{
	struct mp_inflight_request *r = mp_alloc(sizeof(*r));

	r->kind = kind_find(method);
	r->id = text_copy(id);
	r->end = end;
	r->is_kept = is_kept;
	if (r->kind != MP_INFLIGHT_CALL)
		r->text = text_copy(line);
	if (mp_str_eq(method, MP_STR("initialize"))) {
		mp_free(f->initialize);
		f->initialize = text_copy(line);
		f->is_open = false;
	}
	request_add(f, r);
}

/* A member of params, JSON as written; empty if missing. */
static struct mp_str param_find(struct mp_inflight *f, struct mp_str line, const char *key)
{
	struct mp_message m;

	if (mp_message_scan(&f->tape, line, &m, NULL) < 0)
		return (struct mp_str){NULL, 0};
	return mp_value_source(&f->tape, mp_value_get(&f->tape, m.params, key));
}

/* A cancelled request needs no answer. */
static void cancellation_note(struct mp_inflight *f, struct mp_str line)
{
	struct mp_str id = param_find(f, line, "requestId");
	struct mp_inflight_request *r = id.len ? mp_map_get(&f->by_id, id) : NULL;

	if (r)
		mp_inflight_remove(f, r);
}

static void notification_note(struct mp_inflight *f, struct mp_str line, struct mp_str method)
{
	if (mp_str_eq(method, MP_STR("notifications/cancelled"))) {
		cancellation_note(f, line);
	} else if (mp_str_eq(method, MP_STR("notifications/initialized"))) {
		mp_free(f->initialized);
		f->initialized = text_copy(line);
	}
}

/* Parse a line whose form the peek does not know. */
static void line_parse(struct mp_inflight *f, struct mp_str line, struct mp_peek *g)
{
	struct mp_message m;

	if (mp_message_scan(&f->tape, line, &m, NULL) < 0)
		return;
	g->id = m.id;
	if (m.method != MP_METHOD_UNKNOWN)
		g->method = mp_str_of(mp_method_get(m.method)->name);
	else
		g->method = MP_STR("?");
	switch (m.kind) {
	case MP_MESSAGE_REQUEST:
		g->kind = MP_PEEK_REQUEST;
		break;
	case MP_MESSAGE_NOTIFICATION:
		g->kind = MP_PEEK_NOTIFICATION;
		break;
	case MP_MESSAGE_RESULT:
		g->kind = MP_PEEK_RESULT;
		break;
	case MP_MESSAGE_ERROR:
		g->kind = MP_PEEK_ERROR;
		break;
	case MP_MESSAGE_BATCH:
		g->kind = MP_PEEK_BATCH;
		break;
	}
}

static void line_peek(struct mp_inflight *f, struct mp_str line, struct mp_peek *g)
{
	mp_peek(line, g);
	if (g->kind == MP_PEEK_NOTHING)
		line_parse(f, line, g);
}

static bool sent_note(struct mp_inflight *f, struct mp_str line, const struct mp_peek *g,
		      uint64_t end, bool is_kept, bool *ret_has_request)
{
	switch (g->kind) {
	case MP_PEEK_REQUEST:
		*ret_has_request = true;
		request_note(f, line, g->id, g->method, end, is_kept);
		break;
	case MP_PEEK_NOTIFICATION:
		notification_note(f, line, g->method);
		break;
	case MP_PEEK_RESULT:
	case MP_PEEK_ERROR:
		if (mp_map_remove(&f->server_requests, g->id))
			break;
		if (mp_map_remove(&f->stale, g->id))
			return false;
		break;
	case MP_PEEK_BATCH:
	case MP_PEEK_NOTHING:
		break;
	}
	return true;
}

/* Call fn for each message of a batch; only revision 2025-03-26 has batches. */
static void batch_each(struct mp_inflight *f, struct mp_str line,
		       void (*fn)(void *u, struct mp_str line, const struct mp_peek *g), void *u)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.keep_depth = 1;
	if (mp_tape_parse(&t, line, NULL) < 0)
		return;
	MP_VALUE_EACH(&t, MP_ROOT, v) {
		struct mp_str one = mp_value_source(&t, v);
		struct mp_peek g;

		line_peek(f, one, &g);
		fn(u, one, &g);
	}
}

struct sent_batch {
	struct mp_inflight *f;
	uint64_t end;
	bool is_kept, has_request;
};

static void sent_note_item(void *u, struct mp_str line, const struct mp_peek *g)
{
	struct sent_batch *n = u;

	(void)sent_note(n->f, line, g, n->end, n->is_kept, &n->has_request);
}

bool mp_inflight_note_sent(struct mp_inflight *f, struct mp_str line, uint64_t end, bool is_kept,
			   bool *ret_has_request)
{
	struct mp_peek g;
	struct sent_batch n = {f, end, is_kept, false};

	line_peek(f, line, &g);
	if (g.kind == MP_PEEK_BATCH) {
		batch_each(f, line, sent_note_item, &n);
		*ret_has_request = n.has_request;
		return true;
	}
	*ret_has_request = false;
	return sent_note(f, line, &g, end, is_kept, ret_has_request);
}

/* --- from the hub ---------------------------------------------------------------------------- */

static void subscription_keep(struct mp_inflight *f, struct mp_inflight_request *r)
{
	struct mp_str uri = param_find(f, mp_str_of(r->text), "uri");
	char *text = r->text;

	if (!uri.len)
		return;
	r->text = NULL;
	/* uri points into text; the map copies its key. */
	if (mp_map_has(&f->subscriptions, uri) || mp_map_set(&f->subscriptions, uri, text) < 0)
		mp_free(text);
}

/* Keep what a new hub must be told. */
static void result_note(struct mp_inflight *f, struct mp_inflight_request *r)
{
	switch (r->kind) {
	case MP_INFLIGHT_OPENING:
		if (f->initialize && strcmp(f->initialize, r->text) == 0)
			f->is_open = true;
		break;
	case MP_INFLIGHT_LEVEL:
		mp_free(f->level);
		f->level = MP_TAKE(r->text);
		break;
	case MP_INFLIGHT_SUBSCRIBE:
		subscription_keep(f, r);
		break;
	case MP_INFLIGHT_UNSUBSCRIBE:
		subscription_remove(f, param_find(f, mp_str_of(r->text), "uri"));
		break;
	case MP_INFLIGHT_CALL:
	case MP_INFLIGHT_LISTENING:
		break;
	}
}

static void answer_note(struct mp_inflight *f, const struct mp_peek *g)
{
	struct mp_inflight_request *r = mp_map_get(&f->by_id, g->id);

	if (!r)
		return;
	if (g->kind == MP_PEEK_RESULT)
		result_note(f, r);
	mp_inflight_remove(f, r);
}

static void server_request_note(struct mp_inflight *f, struct mp_str id)
{
	mp_map_remove(&f->stale, id); /* the present hub uses the id again */
	if (mp_map_set(&f->server_requests, id, f) < 0)
		return; /* its answer is forwarded anyway */
}

static void received_note(void *u, struct mp_str line, const struct mp_peek *g)
{
	struct mp_inflight *f = u;

	switch (g->kind) {
	case MP_PEEK_RESULT:
	case MP_PEEK_ERROR:
		answer_note(f, g);
		break;
	case MP_PEEK_REQUEST:
		server_request_note(f, g->id);
		break;
	case MP_PEEK_NOTIFICATION:
		if (mp_str_eq(g->method, MP_STR("notifications/cancelled")))
			mp_map_remove(&f->server_requests, param_find(f, line, "requestId"));
		break;
	case MP_PEEK_BATCH:
	case MP_PEEK_NOTHING:
		break;
	}
}

void mp_inflight_note_received(struct mp_inflight *f, struct mp_str line)
{
	struct mp_peek g;

	line_peek(f, line, &g);
	if (g.kind == MP_PEEK_BATCH)
		batch_each(f, line, received_note, f);
	else
		received_note(f, line, &g);
}

/* --- for the next hub ------------------------------------------------------------------------ */

int mp_inflight_replace_id(struct mp_str line, struct mp_str id, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;
	size_t before;
	int r;

	mp_message_tape_init(&t);
	r = mp_message_scan(&t, line, &m, NULL);
	if (r < 0 || !m.id.len)
		return r < 0 ? r : MCPOOL_EINVAL;
	before = (size_t)(m.id.p - line.p);
	r = mp_buf_add(out, line.p, before);
	if (r == 0)
		r = mp_buf_add_str(out, id);
	return r < 0 ? r : mp_buf_add(out, m.id.p + m.id.len, line.len - before - m.id.len);
}
