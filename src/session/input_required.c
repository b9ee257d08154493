/*
 * input_required.c - server requests during calls of modern agents: the agent gets "input required"
 * with a requestState, the call stays at the server, and continues when the agent retries with the
 * answers (V42).
 */
#include "session/input_required.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "session/agent_requests.h"
#include "session/opening.h"

static struct mp_request *request_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_request, link);
}

static struct mp_agent_request *agent_request_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_agent_request, link);
}

/* --- the original request -------------------------------------------------------------------- */

/* Digest of what must be equal in a retry: all params except those of one attempt or hop. */
static void digest_params(const struct mp_message *m, unsigned char out[MP_DIGEST_SIZE])
{
	const struct mp_tape *t = m->tape;
	struct mp_digest *d = mp_digest_new();

	MP_VALUE_EACH(t, m->params, key) {
		if (mp_value_of(key) == m->meta ||
		    mp_value_text_is(t, key, MP_STR("inputResponses")) ||
		    mp_value_text_is(t, key, MP_STR("requestState")))
			continue;
		mp_digest_add(d, mp_value_source(t, key));
		mp_digest_add(d, mp_value_source(t, mp_value_of(key)));
	}
	mp_digest_finish(d, out);
}

/* Most calls are never parked, so the message is only copied and not digested. */
int mp_request_note_params(struct mp_request *e, const struct mp_message *m)
{
	return mp_session_keep_message(&e->asked, mp_value_source(m->tape, MP_ROOT));
}

static int digest_asked(struct mp_request *e)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;
	struct mcpool_error why;
	int r;

	mp_message_tape_init(&t);
	if (!e->asked)
		return 0; /* already digested */
	r = mp_message_scan(&t, mp_str_of(e->asked), &m, &why);
	if (r < 0)
		return r;
	digest_params(&m, e->digest);
	e->asked = mp_free(e->asked);
	return 0;
}

static struct mp_request_state_bond get_bond(const struct mp_request *e)
{
	return (struct mp_request_state_bond){
		.principal = mp_str_of(e->session->principal),
		.method = mp_str_of(mp_method_get(e->method)->name),
		.digest = e->digest,
		.expires_ms = e->expires_ms,
	};
}

/* --- parking --------------------------------------------------------------------------------- */

static void write_questions(struct mp_writer *w, const struct mp_request *e)
{
	mp_write_key(w, MP_STR("inputRequests"));
	mp_write_begin_object(w);
	MP_LIST_EACH(&e->agent_requests, link) {
		const struct mp_agent_request *q = agent_request_of(link);
		char key[32];

		snprintf(key, sizeof(key), "q%llu", (unsigned long long)q->number);
		mp_write_key(w, mp_str_of(key));
		mp_write_begin_object(w);
		mp_write_member_text(w, "method", mp_str_of(mp_method_get(q->method)->name));
		mp_write_member_raw(w, "params", mp_str_of(q->params));
		mp_write_end_object(w);
	}
	mp_write_end_object(w);
}

static int write_input_required(struct mp_request *e, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf state;
	struct mp_sessions *l = e->session->sessions;
	struct mp_request_state_bond bond;
	struct mp_writer w;
	int r;

	mp_request_state_id_make(&e->state_id);
	e->expires_ms = mp_loop_wall_now_ms(l->loop) + MP_LIMIT_PARKED_MS;
	bond = get_bond(e);
	mp_buf_init(&state, MP_KIB(1));
	r = digest_asked(e);
	if (r == 0)
		r = mp_request_state_write(&l->state_key, &e->state_id, &bond, &state);
	if (r < 0)
		return r;
	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, MP_STR("\"jsonrpc\":\"2.0\""));
	mp_write_member_raw(&w, "id", mp_str_of(e->their_id));
	mp_write_key(&w, MP_STR("result"));
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, MP_STR("\"resultType\":\"input_required\""));
	write_questions(&w, e);
	mp_write_member_text(&w, "requestState", mp_buf_get(&state));
	mp_session_write_server_info(&w, l);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void send_away(struct mp_request *e)
{
	struct mp_session *s = e->session;
	struct mp_buf *out = &s->sessions->out;
	struct mp_delivery d = {e->stream, {0}, true, 200};
	int r = write_input_required(e, out);

	if (r < 0) {
		mp_session_drop_agent_requests(&e->agent_requests, s->sessions->o.pool);
		return;
	}
	d.text = mp_buf_get(out);
	s->answered++;
	s->hooks->deliver(s->u, &d);
	mp_request_advance(e, MP_REQUEST_ON_PARK);
}

/* The oldest request of all. If the session already has its share, its own oldest. */
static struct mp_request *choose_leaver(struct mp_sessions *l, const struct mp_session *session)
{
	struct mp_request *own = NULL;
	size_t n = 0;

	MP_LIST_EACH(&l->parked, link) {
		if (request_of(link)->session != session)
			continue;
		own = own ? own : request_of(link);
		n++;
	}
	return n >= MP_LIMIT_PARKED_EACH ? own : request_of(mp_list_first(&l->parked));
}

void mp_request_park(struct mp_request *e, struct mp_agent_request *q)
{
	struct mp_sessions *l = e->session->sessions;

	mp_list_append(&e->agent_requests, &q->link);
	if (e->state == MP_REQUEST_PARKED)
		return; /* sent with the next retry */
	if (l->parked.len >= MP_LIMIT_PARKED)
		mp_request_advance(choose_leaver(l, e->session), MP_REQUEST_ON_DROP);
	send_away(e);
}

void mp_session_expire_parked(struct mp_sessions *l)
{
	int64_t now = mp_loop_wall_now_ms(l->loop);

	MP_LIST_WALK(&l->parked, link)
		if (request_of(link)->expires_ms <= now)
			mp_request_advance(request_of(link), MP_REQUEST_ON_DROP);
	if (l->parked.len)
		mp_timer_start(&l->parked_timer, MP_SECONDS(10));
}

/* --- resuming -------------------------------------------------------------------------------- */

static struct mp_request *input_required_find(struct mp_session *s,
					      const struct mp_request_state_id *id)
{
	MP_LIST_EACH(&s->sessions->parked, link) {
		struct mp_request *e = request_of(link);

		if (e->session == s && memcmp(&e->state_id, id, sizeof(*id)) == 0)
			return e;
	}
	return NULL;
}

/*
 * The parked call, if the requestState is genuine: unchanged, same principal, same request, not
 * expired. A failed check ends the call, and the server request is declined.
 */
static struct mp_request *find_genuine(struct mp_request *e, const struct mp_message *m,
				       struct mp_str state)
{
	struct mp_sessions *l = e->session->sessions;
	unsigned char digest[MP_DIGEST_SIZE];
	struct mp_request *parked;
	struct mp_request_state_id id;
	struct mp_request_state_bond bond;

	if (!mp_request_state_read(state, &id))
		return NULL;
	parked = input_required_find(e->session, &id);
	if (!parked)
		return NULL;
	digest_params(m, digest);
	bond = get_bond(parked);
	bond.digest = digest;
	bond.method = mp_str_of(mp_method_get(e->method)->name);
	if (mp_request_state_check(&l->state_key, &id, &bond, state) &&
	    parked->expires_ms > mp_loop_wall_now_ms(l->loop))
		return parked;
	mp_request_advance(parked, MP_REQUEST_ON_DROP);
	return NULL;
}

/* The call continues with the id and stream of the new request. */
static void take_over(struct mp_request *parked, struct mp_request *e)
{
	struct mp_session *s = e->session;
	bool is_indexed = e->is_indexed;

	parked->their_id = mp_request_keep(parked, mp_str_of(e->their_id));
	parked->token = mp_request_keep(parked, mp_str_of(e->token));
	parked->capabilities = mp_request_keep(parked, mp_str_of(e->capabilities));
	parked->stream = e->stream;
	parked->can = e->can;
	parked->log_level = e->log_level;
	mp_request_advance(e, MP_REQUEST_ON_DROP);
	mp_request_advance(parked, MP_REQUEST_ON_RESUME);
	if (is_indexed)
		parked->is_indexed =
			mp_map_set(&s->by_id, mp_str_of(parked->their_id), parked) == 0;
}

/* Missing answers are requested again. */
static void give_answers(struct mp_request *e, const struct mp_tape *t)
{
	struct mp_pool *pool = e->session->sessions->o.pool;

	MP_LIST_WALK(&e->agent_requests, link) {
		struct mp_agent_request *q = agent_request_of(link);
		mp_id question = q->pool_id;
		mp_value v;
		char key[32];

		snprintf(key, sizeof(key), "q%llu", (unsigned long long)q->number);
		v = mp_value_get(t, MP_ROOT, key);
		if (!mp_value_is(t, v, MP_TAPE_OBJECT))
			continue;
		mp_agent_request_drop(&e->agent_requests, q);
		mp_pool_client_reply(pool, question, mp_value_source(t, v));
	}
}

static void go_on(struct mp_request *e)
{
	char *kept = MP_TAKE(e->kept);

	if (kept)
		mp_session_finish_call(e, mp_str_of(kept), e->kept_is_error, 200);
	else if (e->agent_requests.len)
		send_away(e);
	mp_free(kept);
}

void mp_session_refuse_state(struct mp_request *e)
{
	mp_request_refuse(e, -32602, 200,
			  "this requestState was not given out for this request, or is used, or "
			  "too old");
}

bool mp_session_resume(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value answers = mp_value_get(m->tape, m->params, "inputResponses");
	struct mp_request *parked = NULL;
	struct mp_str state;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	mp_tape_init(&t, 0);
	if (mp_value_text(m->tape, mp_value_get(m->tape, m->params, "requestState"), &arena,
			  &state) == 0)
		parked = find_genuine(e, m, state);
	if (!parked) {
		mp_session_refuse_state(e);
		return false;
	}
	take_over(parked, e);
	if (answers != MP_NONE && mp_era_open(m, answers, &t) == 0)
		give_answers(parked, &t);
	go_on(parked);
	return true;
}
