/*
 * peer_call.c - the states of a call: sent, answered, sent again with answers of ours, ended once.
 */
#include <inttypes.h>

#include "base/error.h"
#include "base/machine.h"
#include "base/mem.h"
#include "rpc/peer.h"
#include "rpc/call_input.h"

MP_MACHINE_TYPES(call, struct mp_call, enum mp_call_event, MP_CALL_STATES, MP_CALL_EVENTS);
static call_action call_judge;
static call_action call_note_stray;
static call_action call_extend;
static call_action call_ask;
static call_action call_wait_for_retry;
static call_action call_send_again;
static call_action call_refuse;
static call_action call_lose;
static call_action call_lose_untaken;
static call_action call_time_out;
static call_action call_cancel;
static call_action call_withdraw;
static call_action call_withdraw_timed_out;
static call_action call_withdraw_cancelled;
static call_action call_deliver;

MP_MACHINE_STEPS(call) = {
	[MP_CALL_REST] =
		{[MP_CALL_ON_SEND] = MP_TO(MP_CALL_QUEUED, NULL), [MP_CALL_ON_CANCEL] = MP_STAY},
	/* No honest peer answers what was not sent yet. */
	[MP_CALL_QUEUED] = {[MP_CALL_ON_SENT] = MP_TO(MP_CALL_WRITTEN, NULL),
			    [MP_CALL_ON_ANSWER] = MP_DO(call_note_stray),
			    [MP_CALL_ON_GARBLED] = MP_DO(call_note_stray),
			    [MP_CALL_ON_PROGRESS] = MP_DO(call_note_stray),
			    [MP_CALL_ON_TIMEOUT] = MP_TO(MP_CALL_REST, call_time_out),
			    [MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDING, call_cancel),
			    [MP_CALL_ON_LOST] = MP_TO(MP_CALL_REST, call_lose_untaken),
			    [MP_CALL_ON_UNTAKEN] = MP_TO(MP_CALL_REST, call_lose_untaken),
			    [MP_CALL_ON_FAIL] = MP_TO(MP_CALL_REST, call_deliver)},
	[MP_CALL_WRITTEN] = {[MP_CALL_ON_SENT] = MP_STAY,
			     [MP_CALL_ON_ANSWER] = MP_DO(call_judge),
			     [MP_CALL_ON_COMPLETE] = MP_TO(MP_CALL_REST, call_deliver),
			     [MP_CALL_ON_ASK] = MP_TO(MP_CALL_ASKED, call_ask),
			     [MP_CALL_ON_SPOILED] = MP_TO(MP_CALL_RETRYING, call_wait_for_retry),
			     [MP_CALL_ON_GARBLED] = MP_TO(MP_CALL_REST, call_refuse),
			     [MP_CALL_ON_PROGRESS] = MP_DO(call_extend),
			     [MP_CALL_ON_TIMEOUT] = MP_TO(MP_CALL_REST, call_time_out),
			     [MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDING, call_cancel),
			     [MP_CALL_ON_LOST] = MP_TO(MP_CALL_REST, call_lose),
			     [MP_CALL_ON_UNTAKEN] = MP_TO(MP_CALL_REST, call_lose_untaken),
			     [MP_CALL_ON_FAIL] = MP_TO(MP_CALL_REST, call_deliver)},
	[MP_CALL_ASKED] = {[MP_CALL_ON_RESUME] = MP_TO(MP_CALL_QUEUED, call_send_again),
			   [MP_CALL_ON_TIMEOUT] = MP_TO(MP_CALL_ENDING, call_withdraw_timed_out),
			   [MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDING, call_withdraw_cancelled),
			   [MP_CALL_ON_LOST] = MP_TO(MP_CALL_ENDING, call_withdraw),
			   [MP_CALL_ON_FAIL] = MP_TO(MP_CALL_ENDING, call_withdraw)},
	[MP_CALL_RETRYING] = {[MP_CALL_ON_RETRY] = MP_TO(MP_CALL_QUEUED, call_send_again),
			      [MP_CALL_ON_TIMEOUT] = MP_TO(MP_CALL_ENDING, call_withdraw_timed_out),
			      [MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDING, call_withdraw_cancelled),
			      [MP_CALL_ON_LOST] = MP_TO(MP_CALL_ENDING, call_withdraw)},
	[MP_CALL_ENDING] = {[MP_CALL_ON_TELL] = MP_TO(MP_CALL_REST, call_deliver),
			    [MP_CALL_ON_TIMEOUT] = MP_STAY,
			    [MP_CALL_ON_CANCEL] = MP_STAY,
			    [MP_CALL_ON_FAIL] = MP_STAY},
};

static bool call_is_on_wire(enum mp_call_state s)
{
	return s == MP_CALL_QUEUED || s == MP_CALL_WRITTEN;
}

/* The peer has a list of each state, and finds by id what is on the wire. */
static void call_entered(struct mp_call *c, enum mp_call_state from)
{
	struct mp_peer *p = c->peer;

	if (from != MP_CALL_REST)
		mp_list_remove(&p->in_state[from], &c->link);
	if (c->state != MP_CALL_REST)
		mp_list_append(&p->in_state[c->state], &c->link);
	if (call_is_on_wire(from) && !call_is_on_wire(c->state))
		mp_ids_remove(&p->calls, c->id);
}

static void call_describe(const struct mp_call *c, struct mp_log *log)
{
	mp_log_init(log, "call %" PRIu64, c->id);
}

MP_SHARED_MACHINE(call, struct mp_call, .entered = call_entered, .describe = call_describe)

/* --- answers --------------------------------------------------------------------------------- */

static enum mp_call_event call_extend(struct mp_call *c)
{
	mp_call_extend_limit(c);
	c->hooks->progress(c, c->peer->arriving);
	return MP_QUIET;
}

static enum mp_call_event call_note_stray(struct mp_call *c)
{
	c->peer->counts.strays++;
	return MP_QUIET;
}

static enum mp_call_event call_judge(struct mp_call *c)
{
	const struct mp_message *m = c->peer->arriving;

	c->outcome = MP_OUTCOME_ANSWERED;
	c->message = m;
	if (!c->peer->is_modern)
		return MP_CALL_ON_COMPLETE;
	if (m->kind == MP_MESSAGE_RESULT)
		return mp_call_input_judge(c, m);
	if (c->was_retried || !c->peer->hooks->may_retry ||
	    !c->peer->hooks->may_retry(c->peer->u, c, m))
		return MP_CALL_ON_COMPLETE;
	c->was_retried = true;
	return MP_CALL_ON_SPOILED;
}

static enum mp_call_event call_ask(struct mp_call *c)
{
	return mp_call_input_serve(c);
}

/* Only the caller's own limit counts meanwhile. */
static enum mp_call_event call_wait_for_retry(struct mp_call *c)
{
	mp_call_set_limit(c, INT64_MAX);
	return MP_QUIET;
}

static enum mp_call_event call_send_again(struct mp_call *c)
{
	int r = mp_call_input_send(c);

	if (r == 0)
		return MP_QUIET;
	mp_call_fail(c, mp_call_get_loss(c), r, "%s", mcpool_error_text(r));
	return MP_CALL_ON_FAIL;
}

static void call_resume(void *u)
{
	mp_call_advance(u, MP_CALL_ON_RESUME);
}

static void call_tell(void *u)
{
	mp_call_advance(u, MP_CALL_ON_TELL);
}

static void call_post(struct mp_call *c, void (*fn)(void *u))
{
	mp_loop_unpost(c->timer.loop, &c->task);
	mp_task_init(&c->task, fn, c);
	mp_loop_post(c->timer.loop, &c->task);
}

void mp_call_resume_later(struct mp_call *c)
{
	mp_call_set_limit(c, INT64_MAX);
	call_post(c, call_resume);
}

/* --- endings --------------------------------------------------------------------------------- */

static enum mp_call_event call_refuse(struct mp_call *c)
{
	c->outcome = MP_OUTCOME_REFUSED;
	return call_deliver(c);
}

static enum mp_call_event call_lose(struct mp_call *c)
{
	c->outcome = MP_OUTCOME_UNKNOWN;
	return call_deliver(c);
}

static enum mp_call_event call_lose_untaken(struct mp_call *c)
{
	c->outcome = mp_call_get_loss(c);
	return call_deliver(c);
}

static enum mp_call_event call_time_out(struct mp_call *c)
{
	mp_call_fail(c, MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT, "no answer within %g s",
		     mp_call_get_limit_s(c));
	mp_peer_tell_cancelled(c, "timeout");
	return call_deliver(c);
}

static void call_note_cancelled(struct mp_call *c)
{
	mp_call_fail(c, MP_OUTCOME_CANCELLED, MCPOOL_ECANCELED, "%s was cancelled",
		     mp_method_get(c->o.method)->name);
}

/* The code that cancels is on the stack, so the hook runs when the turn ends. */
static enum mp_call_event call_cancel(struct mp_call *c)
{
	call_note_cancelled(c);
	mp_peer_tell_cancelled(c, "cancelled");
	call_post(c, call_tell);
	return MP_QUIET;
}

/* Our side need not answer the server's requests any more. The hooks of that may do anything. */
static enum mp_call_event call_withdraw(struct mp_call *c)
{
	struct mp_peer *p = c->peer;

	call_post(c, call_tell);
	mp_call_input_withdraw(p, MP_TAKE(c->input));
	return MP_QUIET;
}

static enum mp_call_event call_withdraw_timed_out(struct mp_call *c)
{
	mp_call_fail(c, MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT,
		     "the server's question was not answered in time");
	return call_withdraw(c);
}

static enum mp_call_event call_withdraw_cancelled(struct mp_call *c)
{
	call_note_cancelled(c);
	return call_withdraw(c);
}

/* It may be started again now. */
static void call_settle(struct mp_call *c)
{
	mp_loop_unpost(c->timer.loop, &c->task);
	mp_call_set_limit(c, INT64_MAX);
	if (c->input)
		c->input = mp_call_input_free(c->peer, c->input);
	c->peer = NULL;
}

static enum mp_call_event call_deliver(struct mp_call *c)
{
	MP_CLEANUP(mp_freep) struct mcpool_error *why = MP_TAKE(c->why);
	bool is_answered = c->outcome == MP_OUTCOME_ANSWERED;
	struct mp_answer answer = {
		.outcome = c->outcome,
		.message = is_answered ? c->message : NULL,
		.error = is_answered ? NULL : why,
	};

	call_settle(c);
	c->hooks->answered(c, &answer); /* which may free it */
	return MP_QUIET;
}

/* --- the outside ----------------------------------------------------------------------------- */

static void call_expire(struct mp_call *c)
{
	mp_call_advance(c, MP_CALL_ON_TIMEOUT);
}

int mp_peer_call(struct mp_peer *p, struct mp_call *c, const struct mp_call_options *o)
{
	int r;

	mp_check(c->state == MP_CALL_REST);
	c->peer = p;
	c->o = *o;
	c->expire = call_expire;
	c->is_paused = c->was_retried = false;
	c->n_inputs = 0;
	r = mp_peer_send(c, o->params);
	if (r < 0)
		c->peer = NULL;
	else
		mp_call_advance(c, MP_CALL_ON_SEND);
	return r;
}

void mp_peer_cancel(struct mp_call *c)
{
	mp_call_advance(c, MP_CALL_ON_CANCEL);
}

void mp_peer_retry(struct mp_peer *p)
{
	MP_LIST_WALK(&p->in_state[MP_CALL_RETRYING], link)
		mp_call_advance(mp_container_of(link, struct mp_call, link), MP_CALL_ON_RETRY);
}

void mp_call_drop(struct mp_call *c)
{
	enum mp_call_state from = c->state;

	c->state = MP_CALL_REST;
	call_entered(c, from);
	c->why = mp_free(c->why);
	call_settle(c);
}
