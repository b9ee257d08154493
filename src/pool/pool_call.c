/*
 * pool_call.c - a share of an upstream: one call's way through the pool.
 */
#include "pool/pool_call.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/spares.h"
#include "pool/admission.h"
#include "pool/pool_call_parts.h"
#include "pool/owner.h"
#include "pool/party_parts.h"
#include "pool/pins.h"

enum { MAX_RETURNS = 1 };

MP_MACHINE_TYPES(pool_call, struct mp_pool_call, enum mp_pool_call_event, MP_POOL_CALL_STATES,
		 MP_POOL_CALL_EVENTS);
static pool_call_action look, settle, line_up, send, wait_again, finish, hold, withdraw, run_out,
	lose_patience;

MP_MACHINE_STEPS(pool_call) = {
	[MP_POOL_CALL_FRESH] = {[MP_POOL_CALL_ON_ASK] = MP_DO(look),
				[MP_POOL_CALL_ON_WAIT] = MP_TO(MP_POOL_CALL_WAITING, settle),
				[MP_POOL_CALL_ON_UP] = MP_TO(MP_POOL_CALL_LINED, line_up),
				[MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDED, finish)},
	[MP_POOL_CALL_WAITING] = {[MP_POOL_CALL_ON_ASK] = MP_DO(look),
				  [MP_POOL_CALL_ON_WAIT] = MP_DO(settle),
				  [MP_POOL_CALL_ON_UP] = MP_TO(MP_POOL_CALL_LINED, line_up),
				  [MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDED, finish),
				  [MP_POOL_CALL_ON_PATIENCE] = MP_TO(MP_POOL_CALL_ENDED,
								     lose_patience),
				  [MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDED, run_out),
				  [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDED, withdraw)},
	[MP_POOL_CALL_LINED] = {[MP_POOL_CALL_ON_ASK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
				[MP_POOL_CALL_ON_SLOT] = MP_TO(MP_POOL_CALL_OUT, send),
				[MP_POOL_CALL_ON_HOLD] = MP_TO(MP_POOL_CALL_HELD, hold),
				[MP_POOL_CALL_ON_BACK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
				[MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDED, finish),
				[MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDED, run_out),
				[MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDED, withdraw)},
	[MP_POOL_CALL_OUT] = {[MP_POOL_CALL_ON_ANSWER] = MP_TO(MP_POOL_CALL_ENDED, finish),
			      [MP_POOL_CALL_ON_BACK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
			      [MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDED, finish),
			      [MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDED, run_out),
			      [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDED, withdraw)},
	[MP_POOL_CALL_HELD] = {[MP_POOL_CALL_ON_ASK] = MP_STAY,
			       [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDED, withdraw)},
	/* The upstream's answer to a call that was given up comes late. */
	[MP_POOL_CALL_ENDED] = {[MP_POOL_CALL_ON_ANSWER] = MP_STAY,
				[MP_POOL_CALL_ON_BACK] = MP_STAY,
				[MP_POOL_CALL_ON_REFUSE] = MP_STAY,
				[MP_POOL_CALL_ON_CANCEL] = MP_STAY},
};

struct mp_list *mp_pool_call_get_list(struct mp_pool_call *l)
{
	return l->in ? &l->in->calls[l->state] : &l->pool->homeless;
}

static void pool_call_entered(struct mp_pool_call *l, enum mp_pool_call_state from)
{
	if (!l->in)
		return; /* the homeless have one list */
	mp_list_remove(&l->in->calls[from], &l->link);
	mp_list_append(&l->in->calls[l->state], &l->link);
}

static void pool_call_describe(const struct mp_pool_call *l, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "call %llu of %s", (unsigned long long)l->id, l->server);
}

MP_SHARED_MACHINE(pool_call, struct mp_pool_call, .entered = pool_call_entered,
		  .describe = pool_call_describe)

/* --- words ----------------------------------------------------------------------------------- */

/* As the caller is told: "MCP error: ..." (CONTRACTS, "Errors"). */
static void MP_PRINTF(4, 0) set_why(struct mp_pool_call *l, int code, enum mp_outcome outcome,
				    const char *format, va_list args)
{
	char words[400];

	(void)mp_str_format(words, sizeof(words), format, args); /* cut is fine */
	if (!l->why)
		l->why = mp_alloc(sizeof(*l->why));
	(void)mp_fail(l->why, code, "MCP error: %s", words);
	l->outcome = outcome;
	l->was_up = l->in && l->in->k && mp_instance_is_up(l->in);
}

void mp_pool_call_refuse(struct mp_pool_call *l, int code, enum mp_outcome outcome,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(l, code, outcome, format, args);
	va_end(args);
}

static enum mp_pool_call_event MP_PRINTF(4, 5)
	refuse(struct mp_pool_call *l, int code, enum mp_outcome outcome, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(l, code, outcome, format, args);
	va_end(args);
	return MP_POOL_CALL_ON_REFUSE;
}

/* --- what does the server do? ---------------------------------------------------------------- */

static enum mp_pool_call_event take_verdict(struct mp_pool_call *l, const struct mp_admission *a)
{
	switch (a->verdict) {
	case MP_ADMIT:
		return MP_POOL_CALL_ON_UP;
	case MP_ADMIT_LATER:
		return MP_POOL_CALL_ON_WAIT;
	case MP_ADMIT_NOT:
		break;
	}
	l->attempt = a->attempt;
	l->retryable = a->retryable;
	refuse(l, a->code, MP_OUTCOME_NOT_SENT, "%s", a->words);
	l->why->fault = (int)a->fault;
	return MP_POOL_CALL_ON_REFUSE;
}

static enum mp_pool_call_event look(struct mp_pool_call *l)
{
	MP_UNSET struct mp_admission a;

	if (!l->in)
		return MP_POOL_CALL_ON_REFUSE; /* why was noted when it could not be had */
	mp_admission_judge(l->in, l->is_held, &a);
	return take_verdict(l, &a);
}

/* --- waiting --------------------------------------------------------------------------------- */

/* Too many wait for this server, and this one is one too many. */
static void refuse_waiting(struct mp_pool_call *l)
{
	l->retryable = true;
	mp_pool_call_refuse(l, MCPOOL_EQUEUE_FULL, MP_OUTCOME_REFUSED,
			    "server '%s' is not up, and %zu calls wait for it already", l->server,
			    l->in->calls[MP_POOL_CALL_WAITING].len - 1);
}

/*
 * Nobody waits longer for a restart than U13 says, an acquire no longer than E31 does; for a first
 * start the instance knows.
 */
static enum mp_pool_call_event settle(struct mp_pool_call *l)
{
	struct mp_instance *in = l->in;
	int64_t most_ms = l->is_held ? MP_LIMIT_ACQUIRE_MS : in->e->tuning.restart.wait_ms;

	if (in->calls[MP_POOL_CALL_WAITING].len > mp_instance_get_line(in, l->tool) &&
	    !l->is_held) {
		struct mp_pool_call *last = mp_pool_call_find_greediest(in, l);

		refuse_waiting(last);
		if (last == l)
			return MP_POOL_CALL_ON_REFUSE;
		mp_pool_call_advance(last, MP_POOL_CALL_ON_REFUSE);
	}
	if (!mp_keeper_get_facts(in->k)->was_up)
		mp_timer_stop(&l->patience); /* it stopped meanwhile: this is a first start */
	else if (!mp_timer_is_running(&l->patience))
		mp_timer_start(&l->patience, most_ms);
	return MP_QUIET;
}

static enum mp_pool_call_event lose_patience(struct mp_pool_call *l)
{
	struct mp_admission a;

	mp_admission_give_up(l->in, &a);
	take_verdict(l, &a);
	return finish(l);
}

static void slot_granted(void *u)
{
	struct mp_pool_call *l = u;

	mp_pool_call_advance(l, mp_instance_is_up(l->in) ? MP_POOL_CALL_ON_SLOT
							 : MP_POOL_CALL_ON_BACK);
}

static void displaced(void *u)
{
	struct mp_pool_call *l = u;

	l->retryable = true;
	mp_pool_call_advance(
		l, refuse(l, MCPOOL_EQUEUE_FULL, MP_OUTCOME_REFUSED,
			  "server '%s': its line is full, and most of those who wait for a slot "
			  "are yours",
			  l->server));
}

static enum mp_pool_call_event line_up(struct mp_pool_call *l)
{
	int r;

	mp_timer_stop(&l->patience);
	if (l->is_held)
		return MP_POOL_CALL_ON_HOLD;
	if (mp_pins_is_frozen(l->in, l->tool))
		return refuse(l, MCPOOL_ENEEDS_APPROVAL, MP_OUTCOME_REFUSED,
			      "tool '%.*s' of server '%s' changed after it was approved; accept it "
			      "with `mcpool trust %s`",
			      MP_STR_ARGS(l->tool), l->server, l->server);
	r = mp_queue_enter(mp_instance_get_queue(l->in, l->tool), &l->ticket, l->caller,
			   slot_granted, displaced, l);
	if (r > 0)
		return MP_POOL_CALL_ON_SLOT;
	if (r == 0)
		return MP_QUIET;
	l->retryable = true;
	return refuse(l, r, MP_OUTCOME_REFUSED,
		      "server '%s': its line is full, too many calls wait for a slot", l->server);
}

/* --- the call -------------------------------------------------------------------------------- */

/* The tool's own deadline decides; the transport's limit comes behind it (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms)
{
	int64_t half_more = ms + ms / 2;

	return ms == 0 ? 0 : half_more > ms + 1000 ? half_more : ms + 1000;
}

/* Until the call must be over, whatever happens. */
static int64_t most_left_ms(const struct mp_pool_call *l)
{
	int64_t left = l->asked_ms + l->max_total_ms - mp_loop_now_ms(l->pool->o.loop);

	return left > 0 ? left : 0;
}

static void grant(struct mp_pool_call *l, int64_t ms)
{
	int64_t most = most_left_ms(l);

	if (l->timeout_ms > 0)
		mp_timer_start(&l->deadline, ms < most ? ms : most);
}

void mp_pool_call_pause(struct mp_pool_call *l, bool paused)
{
	if (l->is_paused == paused)
		return;
	l->is_paused = paused;
	if (paused)
		l->left_ms = l->deadline.due_ms - mp_loop_now_ms(l->pool->o.loop);
	grant(l, paused ? INT64_MAX : l->left_ms);
	mp_call_pause(&l->call, paused);
}

static void progressed(struct mp_call *c, const struct mp_message *m)
{
	struct mp_pool_call *l = mp_container_of(c, struct mp_pool_call, call);

	if (l->state != MP_POOL_CALL_OUT)
		return;
	if (most_left_ms(l) > 0 && !l->is_paused)
		grant(l, l->timeout_ms);
	if (l->on_progress)
		l->on_progress(m, l->u);
}

static void pool_call_free(struct mp_pool_call *l);

/* What broke is not what the call is told, but the people behind it want to know. */
static enum mp_pool_call_event note_cause(struct mp_pool_call *l, const struct mp_answer *answer,
					  enum mp_pool_call_event ev)
{
	l->why->fault = (int)mp_error_get_fault(answer->error);
	return ev;
}

static enum mp_pool_call_event take_failure(struct mp_pool_call *l, const struct mp_answer *answer)
{
	const char *words = answer->error->message;
	enum mp_pool_call_event ev;

	switch (answer->outcome) {
	case MP_OUTCOME_NOT_SENT:
		l->retry_ms = answer->error->retry_ms;
		if (!mp_instance_is_up(l->in) || (l->retry_ms == 0 && ++l->returns <= MAX_RETURNS))
			return MP_POOL_CALL_ON_BACK;
		l->retryable = true;
		break; /* it is up, and does not take this call, or not now */
	case MP_OUTCOME_UNKNOWN:
		ev = refuse(l, MCPOOL_EOUTCOME_UNKNOWN, MP_OUTCOME_UNKNOWN,
			    mp_instance_is_up(l->in)
				    ? "the answer of server '%s' was lost, so the call may have "
				      "happened: %s"
				    : "server '%s' went away during the call, which may have "
				      "happened: %s",
			    l->server, words);
		return note_cause(l, answer, ev);
	case MP_OUTCOME_TIMEOUT:
		return MP_POOL_CALL_ON_DEADLINE;
	case MP_OUTCOME_REFUSED:
	case MP_OUTCOME_CANCELLED:
	case MP_OUTCOME_ANSWERED:
		break;
	}
	ev = refuse(l, answer->error->code, answer->outcome, "server '%s': %s", l->server, words);
	return note_cause(l, answer, ev);
}

static void answered(struct mp_call *c, const struct mp_answer *answer)
{
	struct mp_pool_call *l = mp_container_of(c, struct mp_pool_call, call);
	enum mp_pool_call_event ev = MP_POOL_CALL_ON_ANSWER;

	l->took_us = mp_loop_now_us(l->pool->o.loop) - l->sent_us;
	if (l->state == MP_POOL_CALL_ENDED) { /* it was given up before */
		if (l->is_told)
			pool_call_free(l);
		return;
	}
	if (answer->outcome == MP_OUTCOME_ANSWERED)
		l->message = answer->message;
	else
		ev = take_failure(l, answer);
	l->outcome = answer->outcome == MP_OUTCOME_ANSWERED ? MP_OUTCOME_ANSWERED : l->outcome;
	mp_pool_call_advance(l, ev);
}

/* Progress is always asked for, because it buys time (U16). */
const struct mp_call_hooks mp_pool_call_call_hooks = {.answered = answered, .progress = progressed};

struct mp_pool_call *mp_pool_call_of_call(struct mp_call *c)
{
	bool is_ours = c->hooks == &mp_pool_call_call_hooks;

	return is_ours ? mp_container_of(c, struct mp_pool_call, call) : NULL;
}

static enum mp_pool_call_event send(struct mp_pool_call *l)
{
	bool transport_first = l->in->e->tuning.timeout_order == MP_TIMEOUT_TRANSPORT;
	struct mp_call_options o = {
		.method = l->method,
		.params = l->params,
		.foreign = l->meta,
		.capabilities = l->capabilities,
		.log_level = l->log_level,
		.keeps_rounds = l->keeps_rounds,
		.takes_tasks = l->takes_tasks,
		.timeout_ms = transport_first ? l->timeout_ms : mp_pool_call_pad(l->timeout_ms),
		.max_total_ms =
			transport_first ? l->max_total_ms : mp_pool_call_pad(l->max_total_ms),
	};
	int r = mp_upstream_call(mp_keeper_get_upstream(l->in->k), &l->call, &o);

	l->sent_us = mp_loop_now_us(l->pool->o.loop);
	l->was_out = r == 0;
	if (r == 0)
		return MP_QUIET;
	if (r == MCPOOL_ECLOSED || r == MCPOOL_EAGAIN)
		return MP_POOL_CALL_ON_BACK;
	if (r == MCPOOL_ELIMIT)
		mp_keeper_suspect(l->in->k, "it does not read what is sent to it");
	return refuse(l, r, MP_OUTCOME_NOT_SENT, "server '%s': the call could not be sent: %s",
		      l->server, mcpool_error_text(r));
}

/* The view knows who has the name now. */
void mp_pool_call_find_another(struct mp_pool_call *l)
{
	struct mp_instance *before = l->in;

	mp_list_remove(mp_pool_call_get_list(l), &l->link);
	l->in = NULL;
	mp_pool_call_find_server(l);
	mp_instance_wake_soon(before); /* that may have been its last */
}

/* A server that leaves is not waited for: it does not come back. */
static enum mp_pool_call_event wait_again(struct mp_pool_call *l)
{
	mp_queue_leave(&l->ticket);
	mp_pool_call_pause(l, false);
	l->was_out = false;
	if (l->in->is_leaving && !l->pool->is_stopping)
		mp_pool_call_find_another(l);
	return look(l);
}

/* --- endings --------------------------------------------------------------------------------- */

void mp_pool_call_bury(struct mp_grave *grave)
{
	struct mp_pool_call *l = mp_container_of(grave, struct mp_pool_call, grave);

	mp_free(l->why);
	if (l->size <= MP_SPARES_MOST)
		mp_spares_give(mp_loop_get_spares(l->deadline.loop), l, l->size);
	else
		mp_free(l);
}

static void pool_call_free(struct mp_pool_call *l)
{
	struct mp_instance *in = l->in;

	mp_loop_unpost(l->pool->o.loop, &l->task);
	mp_ids_remove(&l->pool->ids, l->id);
	mp_list_remove(mp_pool_call_get_list(l), &l->link);
	mp_loop_bury(l->pool->o.loop, &l->grave, mp_pool_call_bury);
	l->in = NULL;
	l->pool = NULL;
	if (in)
		mp_instance_note_use(in);
}

static void count(struct mp_pool_call *l)
{
	bool is_error = l->message && l->message->kind == MP_MESSAGE_ERROR;

	if (!l->in || l->is_held)
		return;
	mp_stats_note(&l->in->stats, l->outcome, is_error, l->took_us);
	mp_instance_touch(l->in, MP_SERVER_CALLS);
	if (l->outcome != MP_OUTCOME_ANSWERED && l->outcome != MP_OUTCOME_CANCELLED)
		mp_event(l->pool->o.events, l->in->id, MP_EVENT_CALL_FAILED, "%s: %s",
			 mcpool_error_word(l->why->code), l->why->message);
}

/* The one answer. */
void mp_pool_call_tell(struct mp_pool_call *l)
{
	bool has_keeper = l->in && l->in->k; /* not while all of it is freed */
	const struct mp_keeper_facts *f = has_keeper ? mp_keeper_get_facts(l->in->k) : NULL;
	struct mp_pool_answer answer = {
		.outcome = l->outcome,
		.message = l->message,
		.error = l->outcome == MP_OUTCOME_ANSWERED ? NULL : l->why,
		.server = l->server,
		.attempt = l->attempt,
		.retryable = l->retryable,
		.was_up = l->was_up,
		.was_out = l->was_out,
		.took_us = l->took_us,
	};

	if (f && answer.error && f->state == MP_KEEPER_BACKOFF)
		answer.next_at_ms = mp_loop_wall_now_ms(l->pool->o.loop) + f->next_ms -
				    mp_loop_now_ms(l->pool->o.loop);
	else if (answer.error && l->retry_ms > 0)
		answer.next_at_ms = mp_loop_wall_now_ms(l->pool->o.loop) + l->retry_ms;
	if (f && answer.error)
		answer.tail = f->tail;
	if (answer.error) {
		answer.environment = l->in && l->in->environment[0] ? l->in->environment : NULL;
		answer.transport = l->in ? mp_kind_get_name(l->in->e->kind) : l->transport;
	}
	l->is_told = true;
	if (l->fn)
		l->fn(&answer, l->u);
}

void mp_pool_call_tell_later(void *u)
{
	struct mp_pool_call *l = u;

	if (!l->is_told)
		mp_pool_call_tell(l);
	/* Whoever was told may have ended everything, and this call with it. */
	if (l->pool && l->state == MP_POOL_CALL_ENDED && mp_call_is_at_rest(&l->call))
		pool_call_free(l);
}

/*
 * A server's answer is told while it is there; everything else at the end of the turn. Telling
 * comes last: whoever is told may free the pool.
 */
static enum mp_pool_call_event finish(struct mp_pool_call *l)
{
	mp_timer_stop(&l->deadline);
	mp_timer_stop(&l->patience);
	mp_queue_leave(&l->ticket);
	mp_asked_end_call(l);
	if (l->message && l->in)
		mp_owner_note_answer(l->in, l->session, l->message);
	if (!l->is_told)
		count(l);
	mp_loop_unpost(l->pool->o.loop, &l->task);
	mp_loop_post(l->pool->o.loop, &l->task);
	if (l->message)
		mp_pool_call_tell(l);
	return MP_QUIET;
}

static enum mp_pool_call_event hold(struct mp_pool_call *l)
{
	l->outcome = MP_OUTCOME_ANSWERED;
	mp_loop_post(l->pool->o.loop, &l->task);
	return MP_QUIET;
}

static void take_back(struct mp_pool_call *l)
{
	if (mp_call_is_at_rest(&l->call))
		return;
	mp_peer_cancel(&l->call);
	mp_owner_note_given_up(l);
}

/* A user's abort: the server is told, nobody waits, nothing is restarted (U18, D16). */
static enum mp_pool_call_event withdraw(struct mp_pool_call *l)
{
	refuse(l, MCPOOL_ECANCELED, MP_OUTCOME_CANCELLED, "the call was cancelled");
	take_back(l);
	return finish(l);
}

/* What was granted: the timer itself may be a millisecond late. */
static double granted_s(const struct mp_pool_call *l)
{
	return (double)(l->deadline.due_ms - l->asked_ms) / 1000;
}

/* One slow call is not a dead server: ask it (D7, D8, D44). */
static enum mp_pool_call_event run_out(struct mp_pool_call *l)
{
	refuse(l, MCPOOL_ECALL_TIMEOUT, MP_OUTCOME_TIMEOUT, "server '%s' %s within %g s", l->server,
	       l->was_out ? "did not answer" : "was not there for the call", granted_s(l));
	take_back(l);
	if (l->was_out)
		mp_keeper_suspect(l->in->k, "a call timed out");
	return finish(l);
}

/* --- the table, for its test ----------------------------------------------------------------- */
