/*
 * peer.c - one conversation: ids, deadlines, cancellation, progress.
 */
#include "rpc/peer.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/spares.h"
#include "rpc/peer_parts.h"

enum { MAX_THEIRS = 1024, METHOD_NOT_FOUND = -32601, INVALID_REQUEST = -32600, INTERNAL = -32603 };

static const struct mp_call_owner owner;

static struct mp_peer *peer_of(struct mp_call *c)
{
	return c->owner_u;
}

void mp_peer_init(struct mp_peer *p, struct mp_loop *loop, const struct mp_peer_hooks *hooks,
		  void *u)
{
	*p = (struct mp_peer){.loop = loop, .hooks = hooks, .u = u, .answers = true};
	mp_message_tape_init(&p->tape);
	mp_message_tape_init(&p->batch_tape);
	mp_ids_init(&p->calls);
	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		mp_list_init(&p->in_state[i]);
	mp_map_init(&p->theirs, MAX_THEIRS);
	mp_buf_init(&p->out, MP_LIMIT_MESSAGE);
}

/* From now on nobody finds it: whoever gets the answer may close everything, and begin anew. */
static void leave(struct mp_call *c)
{
	struct mp_peer *p = peer_of(c);

	mp_ids_remove(&p->calls, c->id);
	if (mp_list_linked(&c->link))
		mp_list_remove(&p->in_state[c->state], &c->link);
	if (c->their_id)
		mp_map_remove(&p->theirs, mp_str_of(c->their_id));
	mp_call_done(c);
}

static void free_memory(struct mp_call *c)
{
	mp_free(c->why);
	mp_spares_give(mp_loop_get_spares(c->timer.loop), c, sizeof(*c));
}

static void free_call(struct mp_call *c)
{
	leave(c);
	free_memory(c);
}

void mp_peer_done(struct mp_peer *p)
{
	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		MP_LIST_EACH(&p->in_state[i], link)
			free_call(mp_container_of(link, struct mp_call, link));
	mp_tape_done(&p->tape);
	mp_tape_done(&p->batch_tape);
	mp_ids_done(&p->calls);
	mp_map_done(&p->theirs);
	mp_buf_done(&p->out);
}

/* --- sending -------------------------------------------------------------------------------- */

static int send_out(struct mp_peer *p, uint64_t *ret_at)
{
	int r = p->lost ? MCPOOL_ECLOSED : p->hooks->send(p->u, mp_buf_get(&p->out), ret_at);

	mp_buf_shrink(&p->out, MP_MIB(1));
	return r;
}

static int encode(struct mp_peer *p, const struct mp_request *rq, mp_id id)
{
	char digits[MP_STR_DIGITS];
	struct mp_str number = mp_str_from_u64(id, digits);
	struct mp_splice splice = {
		.id = number,
		.subject = rq->subject,
		.progress_token = rq->on_progress ? number : MP_STR(""),
		.meta = rq->meta,
		.more = rq->foreign,
	};

	mp_buf_clear(&p->out);
	if (rq->forward)
		return mp_message_forward(rq->forward, &splice, &p->out);
	return mp_message_request(&p->out, rq->method, rq->params, &splice);
}

static int launch(struct mp_peer *p, const struct mp_request *rq, struct mp_call *c)
{
	int r = encode(p, rq, c->id);

	if (r < 0)
		return r == MCPOOL_ELIMIT ? MCPOOL_ETOO_LARGE : r;
	return send_out(p, &c->at);
}

int mp_peer_call(struct mp_peer *p, const struct mp_request *rq, mp_answer_fn fn, void *u,
		 mp_id *ret_call)
{
	struct mp_call *c = mp_spares_take(mp_loop_get_spares(p->loop), sizeof(*c));
	int r;

	mp_call_init(c, p->loop, MP_CALL_QUEUED, &owner, p);
	c->id = mp_ids_add(&p->calls, c);
	c->method = rq->forward ? rq->forward->method : rq->method;
	c->fn = fn;
	c->on_progress = rq->on_progress;
	c->u = u;
	r = launch(p, rq, c);
	if (r < 0) {
		free_call(c);
		return r;
	}
	mp_list_append(&p->in_state[MP_CALL_QUEUED], &c->link);
	if (rq->timeout_ms)
		mp_call_set_deadline(c, rq->timeout_ms,
				     rq->max_total_ms ? rq->max_total_ms : rq->timeout_ms);
	if (ret_call)
		*ret_call = c->id;
	return 0;
}

void mp_peer_cancel(struct mp_peer *p, mp_id call)
{
	struct mp_call *c = mp_ids_get(&p->calls, call);

	if (c && c->state != MP_CALL_SERVING)
		mp_call_advance(c, MP_CALL_ON_CANCEL);
}

void mp_peer_pause(struct mp_peer *p, mp_id call, bool paused)
{
	struct mp_call *c = mp_ids_get(&p->calls, call);

	if (c && c->state != MP_CALL_SERVING)
		mp_call_pause(c, paused);
}

int mp_peer_notify(struct mp_peer *p, enum mp_method_id method, struct mp_str params)
{
	int r;

	mp_buf_clear(&p->out);
	r = mp_message_notify(&p->out, method, params);
	return r < 0 ? r : send_out(p, NULL);
}

static void tell_cancelled(struct mp_call *c, const char *reason)
{
	char params[96];
	int n;

	if (c->method == MP_METHOD_INITIALIZE)
		return; /* must not be cancelled; whoever waits hangs up instead */
	n = snprintf(params, sizeof(params), "{\"requestId\":%" PRIu64 ",\"reason\":\"%s\"}", c->id,
		     reason);
	/* A peer that does not take it will not answer either; the call ends here all the same. */
	if (mp_peer_notify(peer_of(c), MP_METHOD_CANCELLED, (struct mp_str){params, (size_t)n}) < 0)
		peer_of(c)->counts.undelivered++;
}

/* --- their requests ------------------------------------------------------------------------- */

static void send_reply(struct mp_peer *p, int encoded)
{
	if (encoded < 0 || send_out(p, NULL) < 0)
		p->counts.undelivered++;
}

void mp_peer_refuse_id(struct mp_peer *p, struct mp_str id, int code, struct mp_str words)
{
	mp_buf_clear(&p->out);
	send_reply(p, mp_message_error(&p->out, id, code, words, MP_STR("")));
}

void mp_peer_reply(struct mp_peer *p, mp_id call, struct mp_str result)
{
	struct mp_call *c = mp_ids_get(&p->calls, call);

	if (!c || c->state != MP_CALL_SERVING)
		return;
	p->reply = result;
	mp_call_advance(c, MP_CALL_ON_ANSWER);
}

static void reply(struct mp_call *c)
{
	struct mp_peer *p = peer_of(c);

	mp_buf_clear(&p->out);
	send_reply(p, mp_message_result(&p->out, mp_str_of(c->their_id), p->reply));
	free_call(c);
}

void mp_peer_refuse(struct mp_peer *p, mp_id call, int code, struct mp_str words)
{
	struct mp_call *c = mp_ids_get(&p->calls, call);

	if (!c || c->state != MP_CALL_SERVING)
		return;
	mp_peer_refuse_id(p, mp_str_of(c->their_id), code, words);
	free_call(c); /* our side knows: there is nobody to withdraw it from */
}

static void withdraw(struct mp_call *c)
{
	struct mp_peer *p = peer_of(c);

	leave(c);
	if (p->hooks->withdrawn)
		p->hooks->withdrawn(p->u, c->id);
	free_memory(c);
}

static int admit(struct mp_peer *p, const struct mp_message *m, struct mp_call **ret_call)
{
	struct mp_call *c = mp_spares_take(mp_loop_get_spares(p->loop), sizeof(*c));
	int r;

	mp_call_init(c, p->loop, MP_CALL_SERVING, &owner, p);
	c->id = mp_ids_add(&p->calls, c);
	c->method = m->method;
	r = mp_map_set(&p->theirs, m->id, c);
	if (r == 0) {
		c->their_id = mp_alloc(m->id.len + 1); /* at most MP_LIMIT_ID */
		memcpy(c->their_id, m->id.p, m->id.len);
	}
	if (r < 0) {
		free_call(c);
		return r;
	}
	mp_list_append(&p->in_state[MP_CALL_SERVING], &c->link);
	*ret_call = c;
	return 0;
}

void mp_peer_take_request(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_call *c;

	if (m->method == MP_METHOD_PING && p->answers) {
		mp_buf_clear(&p->out);
		send_reply(p, mp_message_result(&p->out, m->id, MP_STR("{}")));
		return;
	}
	if (!p->answers || !p->hooks->request) {
		p->counts.refused++;
		if (p->answers)
			mp_peer_refuse_id(p, m->id, METHOD_NOT_FOUND,
					  MP_STR("this client answers no such request"));
		return;
	}
	if (mp_map_has(&p->theirs, m->id)) { /* V22: the first one stays as it is */
		p->counts.refused++;
		mp_peer_refuse_id(p, m->id, INVALID_REQUEST,
				  MP_STR("a request with this id is still open"));
		return;
	}
	if (admit(p, m, &c) < 0) {
		p->counts.refused++;
		mp_peer_refuse_id(p, m->id, INTERNAL, MP_STR("too many requests are open"));
		return;
	}
	p->hooks->request(p->u, c->id, m);
}

/* --- their answers -------------------------------------------------------------------------- */

struct mp_call *mp_peer_find_ours(struct mp_peer *p, struct mp_str id)
{
	uint64_t number;
	struct mp_call *c;

	if (mp_str_to_u64(id, &number) < 0)
		return NULL;
	c = mp_ids_get(&p->calls, number);
	return c && c->state != MP_CALL_SERVING ? c : NULL;
}

void mp_peer_take_answer(struct mp_peer *p, const struct mp_message *m)
{
	struct mp_call *c = mp_peer_find_ours(p, m->id);

	if (c)
		mp_call_advance(c, MP_CALL_ON_ANSWER);
	else
		p->counts.strays++;
}

static void deliver_cancelled(void *u)
{
	struct mp_call *c = u;
	struct mp_answer answer = {.outcome = MP_OUTCOME_CANCELLED, .error = c->why};

	leave(c);
	c->fn(&answer, c->u);
	free_memory(c);
}

struct mcpool_error *mp_peer_get_why(struct mp_call *c)
{
	if (!c->why)
		c->why = mp_alloc(sizeof(*c->why));
	return c->why;
}

/* Which of its limits a call has run into. */
static int64_t get_limit_ms(struct mp_call *c)
{
	return mp_loop_now_ms(c->timer.loop) < c->last_ms ? c->patience_ms
							  : c->last_ms - c->since_ms;
}

static void explain(struct mp_call *c, enum mp_outcome outcome)
{
	const char *method = mp_method_get(c->method)->name;

	switch (outcome) {
	case MP_OUTCOME_TIMEOUT:
		(void)mp_fail(mp_peer_get_why(c), MCPOOL_ECALL_TIMEOUT, "no answer within %g s",
			      (double)get_limit_ms(c) / 1000);
		break;
	case MP_OUTCOME_CANCELLED:
		(void)mp_fail(mp_peer_get_why(c), MCPOOL_ECANCELED, "%s was cancelled", method);
		break;
	case MP_OUTCOME_ANSWERED:
	case MP_OUTCOME_NOT_SENT:
	case MP_OUTCOME_UNKNOWN:
	case MP_OUTCOME_REFUSED:
		break; /* whoever saw it wrote the words */
	}
}

/*
 * The one answer. Whoever cancels is still on the stack, so that one comes at the end of the turn;
 * all other endings come from the loop.
 */
static void deliver(struct mp_call *c, enum mp_outcome outcome)
{
	struct mp_answer answer = {.outcome = outcome};

	explain(c, outcome);
	answer.error = c->why;
	if (outcome == MP_OUTCOME_CANCELLED) {
		mp_task_init(&c->task, deliver_cancelled, c);
		mp_loop_post(peer_of(c)->loop, &c->task);
		return;
	}
	if (outcome == MP_OUTCOME_ANSWERED) {
		answer.message = peer_of(c)->arriving;
		answer.error = NULL;
	}
	leave(c);
	c->fn(&answer, c->u);
	free_memory(c);
}

static void moved(struct mp_call *c, enum mp_call_state from)
{
	struct mp_peer *p = peer_of(c);

	mp_list_remove(&p->in_state[from], &c->link);
	mp_list_append(&p->in_state[c->state], &c->link);
}

static void note_stray(struct mp_call *c)
{
	peer_of(c)->counts.strays++;
}

static void tell_progress(struct mp_call *c)
{
	c->on_progress(peer_of(c)->arriving, c->u);
}

static const struct mp_call_owner owner = {
	.moved = moved,
	.tell_cancelled = tell_cancelled,
	.deliver = deliver,
	.progress = tell_progress,
	.reply = reply,
	.withdraw = withdraw,
	.stray = note_stray,
};

/* --- endings ------------------------------------------------------------------------------- */

void mp_peer_written(struct mp_peer *p, uint64_t total)
{
	struct mp_list *queued = &p->in_state[MP_CALL_QUEUED];
	struct mp_link *link;

	while ((link = mp_list_first(queued))) {
		struct mp_call *c = mp_container_of(link, struct mp_call, link);

		if (c->at >= total)
			break;
		mp_call_advance(c, MP_CALL_ON_SENT);
	}
}

/* A call that was cancelled is open until that is told, but nobody waits for its answer. */
bool mp_peer_is_open(struct mp_peer *p, struct mp_str id)
{
	struct mp_call *c = mp_peer_find_ours(p, id);

	return c && c->state != MP_CALL_ENDED;
}

void mp_peer_sent(struct mp_peer *p, struct mp_str id)
{
	struct mp_call *c = mp_peer_find_ours(p, id);

	if (c)
		mp_call_advance(c, MP_CALL_ON_SENT);
}

static void explain_loss(struct mp_call *c, enum mp_call_event how, const struct mcpool_error *why)
{
	mp_error_keep(&c->why, why);
	if (c->state != MP_CALL_WRITTEN || how != MP_CALL_ON_LOST)
		return;
	(void)mp_fail_because(c->why, MCPOOL_EOUTCOME_UNKNOWN, why, "%s", why->message);
	c->why->retry_ms = 0; /* it is not to be asked again, now or later */
}

void mp_peer_lose(struct mp_peer *p, struct mp_str id, enum mp_call_event how,
		  const struct mcpool_error *why)
{
	struct mp_call *c = mp_peer_find_ours(p, id);

	if (!c || c->state == MP_CALL_ENDED)
		return;
	explain_loss(c, how, why);
	mp_call_advance(c, how);
}

static void lose_all(struct mp_peer *p, enum mp_call_state state, const struct mcpool_error *why)
{
	struct mp_link *link;

	while ((link = mp_list_first(&p->in_state[state]))) {
		struct mp_call *c = mp_container_of(link, struct mp_call, link);

		explain_loss(c, MP_CALL_ON_LOST, why);
		mp_call_advance(c, MP_CALL_ON_LOST);
	}
}

void mp_peer_lost(struct mp_peer *p, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why; /* it may belong to what an answer takes down */
	struct mp_link *link;

	if (p->lost)
		return;
	p->lost = true;
	lose_all(p, MP_CALL_WRITTEN, &copy);
	lose_all(p, MP_CALL_QUEUED, &copy);
	lose_all(p, MP_CALL_SERVING, &copy);
	while ((link = mp_list_first(&p->in_state[MP_CALL_ENDED])))
		deliver_cancelled(mp_container_of(link, struct mp_call, link));
}
