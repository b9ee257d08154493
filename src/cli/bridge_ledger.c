/*
 * bridge_ledger.c - who waits for what, and what the next hub has to know.
 * Most lines are seen in passing; only what is written oddly is parsed.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/bridge_parts.h"
#include "rpc/glance.h"
#include "rpc/message.h"

enum { MAX_PENDING = 65536, MAX_STALE = 1024 };

static char *copy(struct mp_str s)
{
	char *text = mp_alloc(s.len + 1);

	memcpy(text, s.p, s.len);
	return text;
}

void mp_ledger_init(struct mp_ledger *l)
{
	*l = (struct mp_ledger){0};
	mp_list_init(&l->pending);
	mp_map_init(&l->by_id, MAX_PENDING);
	mp_map_init(&l->asked, MAX_STALE);
	mp_map_init(&l->stale, MAX_STALE);
	mp_map_init(&l->subscriptions, MP_LIMIT_SUBSCRIPTIONS);
	mp_message_tape_init(&l->tape);
}

static void forget_subscription(struct mp_ledger *l, struct mp_str uri)
{
	mp_free(mp_map_remove(&l->subscriptions, uri));
}

void mp_ledger_done(struct mp_ledger *l)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while (mp_list_first(&l->pending))
		mp_ledger_settle(
			l, mp_container_of(mp_list_first(&l->pending), struct mp_pending, link));
	while ((e = mp_map_next(&l->subscriptions, &cursor)))
		mp_free(e->value);
	mp_map_done(&l->by_id);
	mp_map_done(&l->asked);
	mp_map_done(&l->stale);
	mp_map_done(&l->subscriptions);
	mp_tape_done(&l->tape);
	mp_free(l->initialize);
	mp_free(l->initialized);
	mp_free(l->level);
}

/* --- what is pending ------------------------------------------------------------------------- */

static const struct {
	const char *method;
	enum mp_pending_kind kind;
} kinds[] = {
	{"initialize", MP_PENDING_OPENING},
	{"server/discover", MP_PENDING_OPENING},
	{"subscriptions/listen", MP_PENDING_LISTENING},
	{"logging/setLevel", MP_PENDING_LEVEL},
	{"resources/subscribe", MP_PENDING_SUBSCRIBE},
	{"resources/unsubscribe", MP_PENDING_UNSUBSCRIBE},
};

static enum mp_pending_kind kind_of(struct mp_str method)
{
	if (mp_str_eq(method, MP_STR("tools/call")))
		return MP_PENDING_CALL;
	for (size_t i = 0; i < MP_ARRAY_LEN(kinds); i++)
		if (mp_str_eq(method, mp_str_of(kinds[i].method)))
			return kinds[i].kind;
	return MP_PENDING_CALL;
}

static void add_pending(struct mp_ledger *l, struct mp_pending *p)
{
	struct mp_pending *first = mp_map_get(&l->by_id, mp_str_of(p->id));

	mp_list_append(&l->pending, &p->link);
	if (!first) {
		/* Where there is no room it is answered with the others, at the end. */
		if (mp_map_set(&l->by_id, mp_str_of(p->id), p) < 0)
			p->namesake = NULL;
		return;
	}
	while (first->namesake)
		first = first->namesake;
	first->namesake = p;
}

static void unlink_namesake(struct mp_ledger *l, struct mp_pending *p)
{
	struct mp_pending *first = mp_map_get(&l->by_id, mp_str_of(p->id));

	if (first == p) {
		if (!p->namesake || mp_map_set(&l->by_id, mp_str_of(p->id), p->namesake) < 0)
			mp_map_remove(&l->by_id, mp_str_of(p->id));
		return;
	}
	for (; first; first = first->namesake)
		if (first->namesake == p)
			first->namesake = p->namesake;
}

void mp_ledger_settle(struct mp_ledger *l, struct mp_pending *p)
{
	unlink_namesake(l, p);
	mp_list_remove(&l->pending, &p->link);
	mp_free(p->id);
	mp_free(p->text);
	mp_free(p);
}

/* --- from the agent -------------------------------------------------------------------------- */

static void note_request(struct mp_ledger *l, struct mp_str line, struct mp_str id,
			 struct mp_str method, uint64_t end, bool is_kept)
{
	struct mp_pending *p = mp_alloc(sizeof(*p));

	p->kind = (int)kind_of(method);
	p->id = copy(id);
	p->end = end;
	p->is_kept = is_kept;
	if (p->kind != MP_PENDING_CALL)
		p->text = copy(line);
	if (mp_str_eq(method, MP_STR("initialize"))) {
		mp_free(l->initialize);
		l->initialize = copy(line);
		l->is_open = false;
	}
	add_pending(l, p);
}

/* The member of params, JSON as written; empty: none. */
static struct mp_str find_param(struct mp_ledger *l, struct mp_str line, const char *key)
{
	struct mp_message m;

	if (mp_message_scan(&l->tape, line, &m, NULL) < 0)
		return (struct mp_str){NULL, 0};
	return mp_value_source(&l->tape, mp_value_get(&l->tape, m.params, key));
}

/* Nobody waits for it any more, whether it is answered or not. */
static void note_cancelled(struct mp_ledger *l, struct mp_str line)
{
	struct mp_str id = find_param(l, line, "requestId");
	struct mp_pending *p = id.len ? mp_map_get(&l->by_id, id) : NULL;

	if (p)
		mp_ledger_settle(l, p);
}

static void note_notification(struct mp_ledger *l, struct mp_str line, struct mp_str method)
{
	if (mp_str_eq(method, MP_STR("notifications/cancelled"))) {
		note_cancelled(l, line);
	} else if (mp_str_eq(method, MP_STR("notifications/initialized"))) {
		mp_free(l->initialized);
		l->initialized = copy(line);
	}
}

/* What a glance cannot tell. */
static void look_closer(struct mp_ledger *l, struct mp_str line, struct mp_glance *g)
{
	struct mp_message m;

	if (mp_message_scan(&l->tape, line, &m, NULL) < 0)
		return;
	g->id = m.id;
	if (m.method != MP_METHOD_UNKNOWN)
		g->method = mp_str_of(mp_method_get(m.method)->name);
	else
		g->method = MP_STR("?");
	switch (m.kind) {
	case MP_MESSAGE_REQUEST:
		g->kind = MP_GLANCE_REQUEST;
		break;
	case MP_MESSAGE_NOTIFICATION:
		g->kind = MP_GLANCE_NOTIFICATION;
		break;
	case MP_MESSAGE_RESULT:
		g->kind = MP_GLANCE_RESULT;
		break;
	case MP_MESSAGE_ERROR:
		g->kind = MP_GLANCE_ERROR;
		break;
	case MP_MESSAGE_BATCH:
		g->kind = MP_GLANCE_BATCH;
		break;
	}
}

static void glance(struct mp_ledger *l, struct mp_str line, struct mp_glance *g)
{
	mp_glance(line, g);
	if (g->kind == MP_GLANCE_NOTHING)
		look_closer(l, line, g);
}

static bool note_one(struct mp_ledger *l, struct mp_str line, const struct mp_glance *g,
		     uint64_t end, bool is_kept, bool *ret_has_request)
{
	switch (g->kind) {
	case MP_GLANCE_REQUEST:
		*ret_has_request = true;
		note_request(l, line, g->id, g->method, end, is_kept);
		break;
	case MP_GLANCE_NOTIFICATION:
		note_notification(l, line, g->method);
		break;
	case MP_GLANCE_RESULT:
	case MP_GLANCE_ERROR:
		if (mp_map_remove(&l->asked, g->id))
			break;
		if (mp_map_remove(&l->stale, g->id))
			return false;
		break;
	case MP_GLANCE_BATCH:
	case MP_GLANCE_NOTHING:
		break;
	}
	return true;
}

/* Each message of a batch; only revision 2025-03-26 has them. */
static void note_batch(struct mp_ledger *l, struct mp_str line,
		       void (*fn)(void *u, struct mp_str line, const struct mp_glance *g), void *u)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.keep_depth = 1;
	if (mp_tape_parse(&t, line, NULL) < 0)
		return;
	MP_VALUE_EACH(&t, MP_ROOT, v) {
		struct mp_str one = mp_value_source(&t, v);
		struct mp_glance g;

		glance(l, one, &g);
		fn(u, one, &g);
	}
}

struct noting {
	struct mp_ledger *l;
	uint64_t end;
	bool is_kept, has_request;
};

static void note_part(void *u, struct mp_str line, const struct mp_glance *g)
{
	struct noting *n = u;

	(void)note_one(n->l, line, g, n->end, n->is_kept, &n->has_request);
}

bool mp_ledger_note_sent(struct mp_ledger *l, struct mp_str line, uint64_t end, bool is_kept,
			 bool *ret_has_request)
{
	struct mp_glance g;
	struct noting n = {l, end, is_kept, false};
	bool result;

	glance(l, line, &g);
	if (g.kind == MP_GLANCE_BATCH) {
		note_batch(l, line, note_part, &n);
		*ret_has_request = n.has_request;
		return true;
	}
	*ret_has_request = false;
	result = note_one(l, line, &g, end, is_kept, ret_has_request);
	return result;
}

/* --- from the hub ---------------------------------------------------------------------------- */

static void keep_subscription(struct mp_ledger *l, struct mp_pending *p)
{
	struct mp_str uri = find_param(l, mp_str_of(p->text), "uri");
	char *text = p->text;

	if (!uri.len)
		return;
	p->text = NULL;
	/* The key is copied before the text it lies in may go. */
	if (mp_map_has(&l->subscriptions, uri) || mp_map_set(&l->subscriptions, uri, text) < 0)
		mp_free(text);
}

/* What the next hub has to know. */
static void note_result(struct mp_ledger *l, struct mp_pending *p)
{
	switch ((enum mp_pending_kind)p->kind) {
	case MP_PENDING_OPENING:
		if (l->initialize && strcmp(l->initialize, p->text) == 0)
			l->is_open = true;
		break;
	case MP_PENDING_LEVEL:
		mp_free(l->level);
		l->level = MP_TAKE(p->text);
		break;
	case MP_PENDING_SUBSCRIBE:
		keep_subscription(l, p);
		break;
	case MP_PENDING_UNSUBSCRIBE:
		forget_subscription(l, find_param(l, mp_str_of(p->text), "uri"));
		break;
	case MP_PENDING_CALL:
	case MP_PENDING_LISTENING:
		break;
	}
}

static void note_answer(struct mp_ledger *l, const struct mp_glance *g)
{
	struct mp_pending *p = mp_map_get(&l->by_id, g->id);

	if (!p)
		return;
	if (g->kind == MP_GLANCE_RESULT)
		note_result(l, p);
	mp_ledger_settle(l, p);
}

static void note_question(struct mp_ledger *l, struct mp_str id)
{
	mp_map_remove(&l->stale, id); /* this hub's now */
	if (mp_map_set(&l->asked, id, l) < 0)
		return; /* its answer passes all the same */
}

static void hear_one(void *u, struct mp_str line, const struct mp_glance *g)
{
	struct mp_ledger *l = u;

	switch (g->kind) {
	case MP_GLANCE_RESULT:
	case MP_GLANCE_ERROR:
		note_answer(l, g);
		break;
	case MP_GLANCE_REQUEST:
		note_question(l, g->id);
		break;
	case MP_GLANCE_NOTIFICATION:
		if (mp_str_eq(g->method, MP_STR("notifications/cancelled")))
			mp_map_remove(&l->asked, find_param(l, line, "requestId"));
		break;
	case MP_GLANCE_BATCH:
	case MP_GLANCE_NOTHING:
		break;
	}
}

void mp_ledger_note_received(struct mp_ledger *l, struct mp_str line)
{
	struct mp_glance g;

	glance(l, line, &g);
	if (g.kind == MP_GLANCE_BATCH)
		note_batch(l, line, hear_one, l);
	else
		hear_one(l, line, &g);
}

/* --- for the next hub ------------------------------------------------------------------------ */

int mp_ledger_respell(struct mp_str line, struct mp_str id, struct mp_buf *out)
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
