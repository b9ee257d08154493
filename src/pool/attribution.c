/*
 * attribution.c - finds the session that a message of a server belongs to.
 */
#include "pool/attribution.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "pool/instance.h"
#include "pool/pool_call.h"

enum {
	DOUBT_MS = 30000, /* the server may still work on an abandoned call */
	URL_ELICITATION_REQUIRED = -32042,
};

static struct mp_pool_call *pool_call_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_pool_call, link);
}

/* --- calls ----------------------------------------------------------------------------------- */

static bool find_by_call(struct mp_call *call, struct mp_attribution *ret)
{
	struct mp_pool_call *l = call ? mp_pool_call_of_call(call) : NULL;

	if (!l || l->state != MP_POOL_CALL_OUT)
		return false;
	*ret = (struct mp_attribution){l->session, l};
	return l->session != 0;
}

/* The only caller with calls at the server, or 0. has_level: only of calls that requested logs. */
static mp_id find_only_caller(struct mp_instance *in, bool has_level)
{
	mp_id caller = 0;

	MP_LIST_EACH(&in->calls[MP_POOL_CALL_OUT], link) {
		const struct mp_pool_call *l = pool_call_of(link);

		if ((has_level && !l->call.o.log_level) || l->caller == caller)
			continue;
		if (caller)
			return 0;
		caller = l->caller;
	}
	return caller;
}

/* The session of this caller, and its call if it has exactly one. */
static bool find_by_caller(struct mp_instance *in, mp_id caller, struct mp_attribution *ret)
{
	size_t n = 0;

	*ret = (struct mp_attribution){.session = caller & MP_CALLER_ALONE ? 0 : caller};
	MP_LIST_EACH(&in->calls[MP_POOL_CALL_OUT], link) {
		struct mp_pool_call *l = pool_call_of(link);

		if (l->caller != caller)
			continue;
		*ret = (struct mp_attribution){l->session, ++n == 1 ? l : NULL};
	}
	return ret->session != 0;
}

static bool is_modern(const struct mp_instance *in)
{
	const struct mp_upstream *up = in->k ? mp_keeper_get_upstream(in->k) : NULL;

	return up && mp_upstream_is_ready(up) && mp_upstream_get_hello(up)->era == MP_ERA_MODERN;
}

/*
 * Used if the message does not name its call. A modern server logs only for requests that asked for
 * logs. If all of these have one caller, the message belongs to that caller.
 */
static mp_id find_served(struct mp_instance *in)
{
	if (in->e->tuning.mode == MP_MODE_SESSION)
		return in->calls[MP_POOL_CALL_OUT].len ? find_only_caller(in, false)
						       : mp_pool_client_find_for(in);
	if (in->e->tuning.mode == MP_MODE_SERIAL && in->queue)
		return mp_queue_get_holder(in->queue);
	return is_modern(in) ? find_only_caller(in, true) : 0;
}

static bool is_doubtful(const struct mp_instance *in, mp_id caller)
{
	return mp_loop_now_ms(in->pool->o.loop) < in->attribution.doubt_until_ms &&
	       in->attribution.doubt_caller != caller;
}

bool mp_attribution_find(struct mp_instance *in, bool has_origin, struct mp_call *origin,
			 struct mp_attribution *ret)
{
	mp_id caller;

	*ret = (struct mp_attribution){0};
	if (find_by_call(origin, ret))
		return true;
	if (has_origin) { /* the call has ended */
		ret->session = in->is_borrowed ? 0 : in->session;
		ret->call = NULL;
		return ret->session != 0;
	}
	caller = find_served(in);
	return caller && !is_doubtful(in, caller) && find_by_caller(in, caller, ret);
}

void mp_attribution_note_given_up(const struct mp_pool_call *l)
{
	struct mp_instance *in = l->in;
	int64_t now = mp_loop_now_ms(in->pool->o.loop);

	if (in->e->tuning.mode != MP_MODE_SERIAL && !in->is_borrowed && !is_modern(in) &&
	    l->caller == l->session)
		return;
	/* If two callers abandoned calls, the message cannot be attributed to either. */
	in->attribution.doubt_caller =
		now < in->attribution.doubt_until_ms && in->attribution.doubt_caller != l->caller
			? 0
			: l->caller;
	in->attribution.doubt_until_ms = now + DOUBT_MS;
}

/* --- ids ------------------------------------------------------------------------------------- */

struct attributed_id {
	struct mp_link link;
	mp_id session;
	size_t len;
	char text[];
};

static struct attributed_id *attributed_of(struct mp_link *link)
{
	return mp_container_of(link, struct attributed_id, link);
}

static struct attributed_id *find_attributed(const struct mp_instance *in, struct mp_str id)
{
	MP_LIST_EACH(&in->attribution.ids, link) {
		struct attributed_id *known = attributed_of(link);

		if (mp_str_eq((struct mp_str){known->text, known->len}, id))
			return known;
	}
	return NULL;
}

static size_t count_attributed(const struct mp_instance *in, mp_id session)
{
	size_t n = 0;

	MP_LIST_EACH(&in->attribution.ids, link)
		n += attributed_of(link)->session == session;
	return n;
}

/* Removes the oldest id of the session with the most ids, so a session displaces only its own. */
static void forget_one(struct mp_instance *in)
{
	struct attributed_id *first = NULL;
	size_t most = 0;

	MP_LIST_EACH(&in->attribution.ids, link) {
		size_t n = first && attributed_of(link)->session == first->session
				   ? most
				   : count_attributed(in, attributed_of(link)->session);

		if (n > most) {
			first = attributed_of(link);
			most = n;
		}
	}
	mp_list_remove(&in->attribution.ids, &first->link);
	mp_free(first);
}

/* An id that was given to two sessions belongs to neither. */
static void note_id(struct mp_instance *in, mp_id session, struct mp_str id)
{
	struct attributed_id *known = find_attributed(in, id);

	if (id.len == 0 || id.len > MP_LIMIT_ID)
		return;
	if (known) {
		known->session = known->session == session ? session : 0;
		return;
	}
	known = mp_alloc(sizeof(*known) + id.len);
	*known = (struct attributed_id){.session = session, .len = id.len};
	memcpy(known->text, id.p, id.len);
	if (in->attribution.ids.len == MP_LIMIT_MEMOS)
		forget_one(in);
	mp_list_append(&in->attribution.ids, &known->link);
}

static void note_member(struct mp_instance *in, mp_id session, const struct mp_tape *t, mp_value v,
			const char *key)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value id = mp_value_get(t, v, key);
	struct mp_str text;

	mp_arena_init(&arena, MP_KIB(16));
	if (mp_value_is(t, id, MP_TAPE_STRING) && mp_value_text(t, id, &arena, &text) == 0)
		note_id(in, session, text);
}

/* A private server that is not borrowed needs no ids: it has only one session. */
static bool is_private(const struct mp_instance *in)
{
	return in->e->tuning.mode == MP_MODE_SESSION && !in->is_borrowed;
}

void mp_attribution_note_request(struct mp_instance *in, mp_id session, struct mp_str params)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (!is_private(in) && params.len && mp_tape_parse(&t, params, NULL) == 0)
		note_member(in, session, &t, MP_ROOT, "elicitationId");
}

static void note_elicitations(struct mp_instance *in, mp_id session, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value data = mp_value_get(m->tape, m->error, "data");
	mp_value list;

	mp_tape_init(&t, 0);
	if (data == MP_NONE || mp_tape_parse(&t, mp_value_source(m->tape, data), NULL) < 0)
		return;
	list = mp_value_get(&t, MP_ROOT, "elicitations");
	if (!mp_value_is(&t, list, MP_TAPE_ARRAY))
		return;
	MP_VALUE_EACH(&t, list, v)
		note_member(in, session, &t, v, "elicitationId");
}

static void note_task(struct mp_instance *in, mp_id session, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value task = mp_value_get(m->tape, m->result, "task");

	mp_tape_init(&t, 0);
	if (mp_value_text_is(m->tape, mp_value_get(m->tape, m->result, "resultType"),
			     MP_STR("task")))
		note_member(in, session, m->tape, m->result, "taskId");
	else if (mp_value_is(m->tape, task, MP_TAPE_OBJECT) &&
		 mp_tape_parse(&t, mp_value_source(m->tape, task), NULL) == 0)
		note_member(in, session, &t, MP_ROOT, "taskId");
}

void mp_attribution_note_answer(struct mp_instance *in, mp_id session, const struct mp_message *m)
{
	if (is_private(in) || session == 0)
		return;
	if (m->kind == MP_MESSAGE_RESULT)
		note_task(in, session, m);
	else if (mp_error_read_code(m) == URL_ELICITATION_REQUIRED)
		note_elicitations(in, session, m);
}

mp_id mp_attribution_find_id(const struct mp_instance *in, struct mp_str id)
{
	const struct attributed_id *known = find_attributed(in, id);

	return known ? known->session : 0;
}

void mp_attribution_forget(struct mp_instance *in)
{
	struct mp_link *link;

	in->attribution.doubt_until_ms = 0;
	while ((link = mp_list_pop(&in->attribution.ids)))
		mp_free(attributed_of(link));
}
