/*
 * pool_call.c - one call's way through the pool: wait for its server, for a slot, for the answer.
 */
#include "pool/pool_call.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/shell.h"
#include "pool/admission.h"
#include "pool/call_log.h"
#include "pool/instance.h"
#include "pool/pins.h"

enum { MAX_RETURNS = 1 };

MP_MACHINE_TYPES(pool_call, struct mp_pool_call, enum mp_pool_call_event, MP_POOL_CALL_STATES,
		 MP_POOL_CALL_EVENTS);
static pool_call_action pool_call_look, pool_call_settle, line_up, pool_call_send, wait_again,
	pool_call_finish, pool_call_hold, pool_call_withdraw, run_out, lose_patience,
	pool_call_deliver, hold_on, see_if_at_rest;

MP_MACHINE_STEPS(pool_call) = {
	[MP_POOL_CALL_REST] = {[MP_POOL_CALL_ON_ASK] = MP_DO(pool_call_look),
			       [MP_POOL_CALL_ON_WAIT] = MP_TO(MP_POOL_CALL_WAITING,
							      pool_call_settle),
			       [MP_POOL_CALL_ON_UP] = MP_TO(MP_POOL_CALL_LINED, line_up),
			       [MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDING,
								pool_call_finish),
			       [MP_POOL_CALL_ON_CANCEL] = MP_STAY},
	[MP_POOL_CALL_WAITING] =
		{[MP_POOL_CALL_ON_ASK] = MP_DO(pool_call_look),
		 [MP_POOL_CALL_ON_WAIT] = MP_DO(pool_call_settle),
		 [MP_POOL_CALL_ON_UP] = MP_TO(MP_POOL_CALL_LINED, line_up),
		 [MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDING, pool_call_finish),
		 [MP_POOL_CALL_ON_PATIENCE] = MP_TO(MP_POOL_CALL_ENDING, lose_patience),
		 [MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDING, run_out),
		 [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDING, pool_call_withdraw)},
	[MP_POOL_CALL_LINED] = {[MP_POOL_CALL_ON_ASK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
				[MP_POOL_CALL_ON_SLOT] = MP_TO(MP_POOL_CALL_OUT, pool_call_send),
				[MP_POOL_CALL_ON_HOLD] = MP_TO(MP_POOL_CALL_HELD, pool_call_hold),
				[MP_POOL_CALL_ON_BACK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
				[MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDING,
								 pool_call_finish),
				[MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDING, run_out),
				[MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDING,
								 pool_call_withdraw)},
	[MP_POOL_CALL_OUT] =
		{[MP_POOL_CALL_ON_ANSWER] = MP_TO(MP_POOL_CALL_ENDING, pool_call_finish),
		 [MP_POOL_CALL_ON_BACK] = MP_TO(MP_POOL_CALL_WAITING, wait_again),
		 [MP_POOL_CALL_ON_REFUSE] = MP_TO(MP_POOL_CALL_ENDING, pool_call_finish),
		 [MP_POOL_CALL_ON_DEADLINE] = MP_TO(MP_POOL_CALL_ENDING, run_out),
		 [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDING, pool_call_withdraw)},
	[MP_POOL_CALL_HELD] = {[MP_POOL_CALL_ON_ASK] = MP_STAY,
			       [MP_POOL_CALL_ON_TELL] = MP_DO(hold_on),
			       [MP_POOL_CALL_ON_CANCEL] = MP_TO(MP_POOL_CALL_ENDING,
								pool_call_withdraw)},
	[MP_POOL_CALL_ENDING] = {[MP_POOL_CALL_ON_TELL] = MP_DO(see_if_at_rest),
				 [MP_POOL_CALL_ON_END] = MP_TO(MP_POOL_CALL_REST,
							       pool_call_deliver),
				 [MP_POOL_CALL_ON_CANCEL] = MP_STAY},
};

struct mp_list *mp_pool_call_get_list(struct mp_pool_call *c)
{
	return c->in ? &c->in->calls[c->state] : &c->pool->homeless;
}

static void pool_call_entered(struct mp_pool_call *c, enum mp_pool_call_state from)
{
	if (from != MP_POOL_CALL_REST)
		mp_list_remove(c->in ? &c->in->calls[from] : &c->pool->homeless, &c->link);
	if (c->state != MP_POOL_CALL_REST)
		mp_list_append(mp_pool_call_get_list(c), &c->link);
	if (c->in && from == MP_POOL_CALL_REST)
		mp_instance_note_use(c->in);
	else if (c->in && c->state == MP_POOL_CALL_REST)
		mp_instance_note_end(c->in);
}

static void pool_call_describe(const struct mp_pool_call *c, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "call of %s", c->server);
}

MP_SHARED_MACHINE(pool_call, struct mp_pool_call, .entered = pool_call_entered,
		  .describe = pool_call_describe)

/* --- messages -------------------------------------------------------------------------------- */

/* The message for the caller: "MCP error: ..." (doc/protocol.md, "Errors"). */
static void MP_PRINTF(4, 0) set_why(struct mp_pool_call *c, int code, enum mp_outcome outcome,
				    const char *format, va_list args)
{
	char words[400];

	(void)mp_str_format(words, sizeof(words), format, args); /* truncation is fine */
	if (!c->why)
		c->why = mp_alloc(sizeof(*c->why));
	(void)mp_fail(c->why, code, "MCP error: %s", words);
	c->outcome = outcome;
	c->was_up = c->in && c->in->k && mp_instance_is_up(c->in);
}

void mp_pool_call_refuse(struct mp_pool_call *c, int code, enum mp_outcome outcome,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(c, code, outcome, format, args);
	va_end(args);
}

static enum mp_pool_call_event MP_PRINTF(4, 5)
	pool_call_refuse(struct mp_pool_call *c, int code, enum mp_outcome outcome,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_why(c, code, outcome, format, args);
	va_end(args);
	return MP_POOL_CALL_ON_REFUSE;
}

/* --- state of the server --------------------------------------------------------------------- */

static enum mp_pool_call_event take_verdict(struct mp_pool_call *c, const struct mp_admission *a)
{
	switch (a->verdict) {
	case MP_ADMIT:
		return MP_POOL_CALL_ON_UP;
	case MP_ADMIT_LATER:
		return MP_POOL_CALL_ON_WAIT;
	case MP_ADMIT_NOT:
		break;
	}
	c->attempt = a->attempt;
	c->retryable = a->retryable;
	pool_call_refuse(c, a->code, MP_OUTCOME_NOT_SENT, "%s", a->words);
	c->why->fault = (int)a->fault;
	return MP_POOL_CALL_ON_REFUSE;
}

static enum mp_pool_call_event pool_call_look(struct mp_pool_call *c)
{
	MP_UNSET struct mp_admission a;

	if (!c->in)
		return MP_POOL_CALL_ON_REFUSE; /* the reason is already set */
	mp_admission_judge(c->in, c->is_held, &a);
	return take_verdict(c, &a);
}

/* --- time ------------------------------------------------------------------------------------ */

/* The embedded call has the only timer; its own limits count as well. */
static void pool_call_arm(struct mp_pool_call *c)
{
	mp_call_set_due(&c->call,
			c->deadline_ms < c->patience_ms ? c->deadline_ms : c->patience_ms);
}

static void pool_call_due(struct mp_call *wire)
{
	struct mp_pool_call *c = mp_container_of(wire, struct mp_pool_call, call);
	bool is_over = c->deadline_ms <= mp_loop_now_ms(c->pool->o.loop);

	mp_pool_call_advance(c, is_over ? MP_POOL_CALL_ON_DEADLINE : MP_POOL_CALL_ON_PATIENCE);
}

void mp_pool_call_set_deadline(struct mp_pool_call *c, int64_t ms)
{
	c->deadline_ms = mp_loop_now_ms(c->pool->o.loop) + ms;
	pool_call_arm(c);
}

/* --- waiting --------------------------------------------------------------------------------- */

/* Too many calls wait for this server. */
static void refuse_waiting(struct mp_pool_call *c)
{
	c->retryable = true;
	mp_pool_call_refuse(c, MCPOOL_EQUEUE_FULL, MP_OUTCOME_REFUSED,
			    "server '%s' is not up, and %zu calls wait for it already", c->server,
			    c->in->calls[MP_POOL_CALL_WAITING].len - 1);
}

/*
 * U13 limits the wait for a restart, E31 the wait of an acquire. The instance limits the wait for a
 * first start.
 */
static enum mp_pool_call_event pool_call_settle(struct mp_pool_call *c)
{
	struct mp_instance *in = c->in;
	int64_t most_ms = c->is_held ? MP_LIMIT_ACQUIRE_MS : in->e->tuning.restart.wait_ms;

	if (in->calls[MP_POOL_CALL_WAITING].len > mp_instance_get_line(in, c->tool) &&
	    !c->is_held) {
		struct mp_pool_call *last = mp_pool_call_find_greediest(in, c);

		refuse_waiting(last);
		if (last == c)
			return MP_POOL_CALL_ON_REFUSE;
		mp_pool_call_advance(last, MP_POOL_CALL_ON_REFUSE);
	}
	if (!mp_keeper_get_facts(in->k)->was_up)
		c->patience_ms = INT64_MAX; /* it stopped meanwhile, so this is a first start */
	else if (c->patience_ms == INT64_MAX)
		c->patience_ms = mp_loop_now_ms(c->pool->o.loop) + most_ms;
	pool_call_arm(c);
	return MP_QUIET;
}

static enum mp_pool_call_event lose_patience(struct mp_pool_call *c)
{
	struct mp_admission a;

	mp_admission_give_up(c->in, &a);
	take_verdict(c, &a);
	return pool_call_finish(c);
}

static void slot_granted(void *u)
{
	struct mp_pool_call *c = u;

	mp_pool_call_advance(c, mp_instance_is_up(c->in) ? MP_POOL_CALL_ON_SLOT
							 : MP_POOL_CALL_ON_BACK);
}

static void pool_call_displaced(void *u)
{
	struct mp_pool_call *c = u;

	c->retryable = true;
	mp_pool_call_advance(
		c, pool_call_refuse(
			   c, MCPOOL_EQUEUE_FULL, MP_OUTCOME_REFUSED,
			   "server '%s': its line is full, and most of those who wait for a slot "
			   "are yours",
			   c->server));
}

static enum mp_pool_call_event line_up(struct mp_pool_call *c)
{
	int r;

	c->patience_ms = INT64_MAX;
	pool_call_arm(c);
	if (c->is_held)
		return MP_POOL_CALL_ON_HOLD;
	if (mp_pins_is_frozen(c->in->pins, c->tool))
		return pool_call_refuse(
			c, MCPOOL_ENEEDS_APPROVAL, MP_OUTCOME_REFUSED,
			"tool '%.*s' of server '%s' changed after it was approved; accept it "
			"with `mcpool trust %s`",
			MP_STR_ARGS(c->tool), c->server, MP_SHELL_NAME(c->server));
	r = mp_queue_enter(mp_instance_get_queue(c->in, c->tool), &c->ticket, c->caller,
			   slot_granted, pool_call_displaced, c);
	if (r > 0)
		return MP_POOL_CALL_ON_SLOT;
	if (r == 0)
		return MP_QUIET;
	c->retryable = true;
	return pool_call_refuse(c, r, MP_OUTCOME_REFUSED,
				"server '%s': its line is full, too many calls wait for a slot",
				c->server);
}

/* --- the call -------------------------------------------------------------------------------- */

/* The tool's deadline decides; the transport's limit is slightly longer (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms)
{
	int64_t half_more = ms + ms / 2;

	return ms == 0 ? 0 : half_more > ms + 1000 ? half_more : ms + 1000;
}

/* Time left until the call must end. */
static int64_t most_left_ms(const struct mp_pool_call *c)
{
	int64_t left = c->asked_us / 1000 + c->max_total_ms - mp_loop_now_ms(c->pool->o.loop);

	return left > 0 ? left : 0;
}

static void pool_call_grant(struct mp_pool_call *c, int64_t ms)
{
	int64_t most = most_left_ms(c);

	if (c->timeout_ms > 0)
		mp_pool_call_set_deadline(c, ms < most ? ms : most);
}

void mp_pool_call_pause(struct mp_pool_call *c, bool paused)
{
	if (c->is_paused == paused)
		return;
	c->is_paused = paused;
	if (paused)
		c->left_ms = c->deadline_ms - mp_loop_now_ms(c->pool->o.loop);
	pool_call_grant(c, paused ? INT64_MAX : c->left_ms);
	mp_call_pause(&c->call, paused);
}

static void pool_call_progressed(struct mp_call *wire, const struct mp_message *m)
{
	struct mp_pool_call *c = mp_container_of(wire, struct mp_pool_call, call);

	if (c->state != MP_POOL_CALL_OUT)
		return;
	if (most_left_ms(c) > 0 && !c->is_paused)
		pool_call_grant(c, c->timeout_ms);
	if (c->hooks->progress)
		c->hooks->progress(c, m);
}

static void tell_later(struct mp_pool_call *c);

/* The cause is not part of the caller's message; it is kept for the user. */
static enum mp_pool_call_event note_cause(struct mp_pool_call *c, const struct mp_answer *answer,
					  enum mp_pool_call_event ev)
{
	c->why->fault = (int)mp_error_get_fault(answer->error);
	if (!c->cause)
		c->cause = mp_alloc(sizeof(*c->cause));
	*c->cause = *answer->error;
	return ev;
}

static enum mp_pool_call_event take_failure(struct mp_pool_call *c, const struct mp_answer *answer)
{
	const char *words = answer->error->message;
	enum mp_pool_call_event ev;

	switch (answer->outcome) {
	case MP_OUTCOME_NOT_SENT:
		c->retry_ms = answer->error->retry_ms;
		if (!mp_instance_is_up(c->in) || (c->retry_ms == 0 && ++c->returns <= MAX_RETURNS))
			return MP_POOL_CALL_ON_BACK;
		c->retryable = true;
		break; /* it is up and does not take this call now */
	case MP_OUTCOME_UNKNOWN:
		ev = pool_call_refuse(
			c, MCPOOL_EOUTCOME_UNKNOWN, MP_OUTCOME_UNKNOWN,
			mp_instance_is_up(c->in)
				? "the answer of server '%s' was lost, so the call may have "
				  "happened: %s"
				: "server '%s' went away during the call, which may have "
				  "happened: %s",
			c->server, words);
		return note_cause(c, answer, ev);
	case MP_OUTCOME_TIMEOUT:
		return MP_POOL_CALL_ON_DEADLINE;
	case MP_OUTCOME_REFUSED:
	case MP_OUTCOME_CANCELLED:
	case MP_OUTCOME_ANSWERED:
		break;
	}
	ev = pool_call_refuse(c, answer->error->code, answer->outcome, "server '%s': %s", c->server,
			      words);
	return note_cause(c, answer, ev);
}

static void pool_call_answered(struct mp_call *wire, const struct mp_answer *answer)
{
	struct mp_pool_call *c = mp_container_of(wire, struct mp_pool_call, call);
	enum mp_pool_call_event ev = MP_POOL_CALL_ON_ANSWER;

	c->took_us = mp_loop_now_us(c->pool->o.loop) - c->sent_us;
	if (c->state == MP_POOL_CALL_ENDING) {      /* it was given up before */
		if (!mp_list_linked(&c->task.link)) /* many may fail at once: not here */
			tell_later(c);
		return;
	}
	if (answer->outcome == MP_OUTCOME_ANSWERED) {
		c->message = answer->message;
		c->outcome = MP_OUTCOME_ANSWERED;
	} else {
		ev = take_failure(c, answer);
	}
	mp_pool_call_advance(c, ev);
}

/* Progress is always requested, because it extends the deadline (U16). */
const struct mp_call_hooks mp_pool_call_wire_hooks = {
	.answered = pool_call_answered, .progress = pool_call_progressed, .due = pool_call_due};

struct mp_pool_call *mp_pool_call_of_call(struct mp_call *wire)
{
	bool is_ours = wire->hooks == &mp_pool_call_wire_hooks;

	return is_ours ? mp_container_of(wire, struct mp_pool_call, call) : NULL;
}

/* Since this turn found something to do: what others made of it before counts, too. */
static int64_t pool_call_get_work_us(const struct mp_pool_call *c)
{
	struct mp_loop *loop = c->pool->o.loop;

	return mp_loop_read_us(loop) - mp_loop_now_us(loop);
}

static enum mp_pool_call_event pool_call_send(struct mp_pool_call *c)
{
	bool transport_first = c->in->e->tuning.timeout_order == MP_TIMEOUT_TRANSPORT;
	struct mp_call_options *o = &c->call.o;
	int r;

	o->timeout_ms = transport_first ? c->timeout_ms : mp_pool_call_pad(c->timeout_ms);
	o->max_total_ms = transport_first ? c->max_total_ms : mp_pool_call_pad(c->max_total_ms);
	r = mp_upstream_call(mp_keeper_get_upstream(c->in->k), &c->call, o);
	c->sent_us = mp_loop_now_us(c->pool->o.loop);
	c->hub_us += pool_call_get_work_us(c);
	c->was_out = r == 0;
	if (r == 0)
		return MP_QUIET;
	if (r == MCPOOL_ECLOSED || r == MCPOOL_EAGAIN)
		return MP_POOL_CALL_ON_BACK;
	if (r == MCPOOL_ELIMIT)
		mp_keeper_suspect(c->in->k, "it does not read what is sent to it");
	return pool_call_refuse(c, r, MP_OUTCOME_NOT_SENT,
				"server '%s': the call could not be sent: %s", c->server,
				mcpool_error_text(r));
}

/* The workspace knows which instance has the name now. */
void mp_pool_call_find_another(struct mp_pool_call *c)
{
	struct mp_instance *before = c->in;

	mp_list_remove(mp_pool_call_get_list(c), &c->link);
	c->in = NULL;
	mp_pool_call_find_server(c);
	mp_instance_wake_soon(before); /* that may have been its last call */
}

/* Do not wait for a leaving server: it does not return. */
static enum mp_pool_call_event wait_again(struct mp_pool_call *c)
{
	mp_queue_leave(&c->ticket);
	mp_pool_call_pause(c, false);
	c->was_out = false;
	if (c->in->stay.is_leaving && !c->pool->is_stopping)
		mp_pool_call_find_another(c);
	return pool_call_look(c);
}

/* --- endings --------------------------------------------------------------------------------- */

static bool is_tool_error(const struct mp_message *m)
{
	return mp_value_is(m->tape, mp_value_get(m->tape, m->result, "isError"), MP_TAPE_TRUE);
}

static const char *get_ending_word(const struct mp_pool_call *c)
{
	const struct mp_message *m = c->message;

	if (!m)
		return mp_outcome_get_name(c->outcome);
	if (m->kind == MP_MESSAGE_ERROR)
		return "error";
	if (is_tool_error(m))
		return "tool error";
	return mp_outcome_get_name(MP_OUTCOME_ANSWERED);
}

/* How a call ended and its time at the server (E56): "tools/call echo: answered in 1.2 ms". */
static MP_COLD void pool_call_log_latency(const struct mp_pool_call *c)
{
	const struct mp_call_options *o = &c->call.o;
	int64_t us = mp_loop_now_us(c->pool->o.loop) - c->sent_us;

	mp_log_verbose(&c->in->log, "%s%s%.*s: %s in %.1f ms", mp_method_get(o->method)->name,
		       o->name.len ? " " : "", MP_STR_ARGS(o->name), get_ending_word(c),
		       (double)us / 1000);
}

static size_t get_answer_size(const struct mp_message *m)
{
	return mp_value_source(m->tape, m->kind == MP_MESSAGE_ERROR ? m->error : m->result).len;
}

/* The record of a call that ended (call_log.h). */
static void pool_call_record(const struct mp_pool_call *c, bool is_error, bool is_tool_error,
			     size_t bytes_out)
{
	const struct mp_call_options *o = &c->call.o;
	int64_t now_us = mp_loop_now_us(c->pool->o.loop);
	struct mp_call_record r = {
		.session = c->session,
		.client = c->client,
		.trace = c->trace,
		.server = c->server,
		.method = o->method,
		.outcome = c->outcome,
		.is_error = is_error,
		.is_tool_error = is_tool_error,
		.code = c->why ? c->why->code : 0,
		.queue_us = (c->was_out ? c->sent_us : now_us) - c->asked_us,
		.took_us = c->was_out ? now_us - c->sent_us : 0,
		.hub_us = c->hub_us + pool_call_get_work_us(c),
		.bytes_in = o->params.len,
		.bytes_out = bytes_out,
	};

	mp_call_log_add(c->pool->o.calls, &r, o->name, o->params,
			c->in->config->set->settings.audit.args);
}

static void pool_call_count(struct mp_pool_call *c)
{
	const struct mp_message *m = c->message;
	bool is_error = m && m->kind == MP_MESSAGE_ERROR, has_failed;
	size_t bytes_out = m ? get_answer_size(m) : 0;

	if (!c->in || c->is_held)
		return;
	has_failed = m && c->outcome == MP_OUTCOME_ANSWERED && !is_error && is_tool_error(m);
	if (c->pool->o.calls)
		pool_call_record(c, is_error, has_failed, bytes_out);
	mp_stats_note(&c->in->stats, c->outcome, is_error, c->took_us,
		      mp_loop_now_ms(c->pool->o.loop));
	mp_stats_note_sizes(&c->in->stats, has_failed, c->call.o.params.len, bytes_out);
	mp_instance_touch(c->in, MP_SERVER_CALLS);
	if (c->was_out && MP_UNLIKELY(mp_log_wants(MP_LEVEL_VRB)))
		pool_call_log_latency(c);
	if (c->outcome != MP_OUTCOME_ANSWERED && c->outcome != MP_OUTCOME_CANCELLED)
		mp_event(c->pool->o.events, c->in->id, MP_EVENT_CALL_FAILED, "%s: %s",
			 mcpool_error_word(c->why->code), c->why->message);
}

static void describe(const struct mp_pool_call *c, struct mp_pool_answer *ret)
{
	bool has_keeper = c->in && c->in->k; /* not while the instance is freed */
	const struct mp_keeper_facts *f = has_keeper ? mp_keeper_get_facts(c->in->k) : NULL;

	*ret = (struct mp_pool_answer){
		.outcome = c->outcome,
		.message = c->message,
		.server = c->server,
		.attempt = c->attempt,
		.retryable = c->retryable,
		.was_up = c->was_up,
		.was_out = c->was_out,
		.took_us = c->took_us,
	};
	if (c->outcome == MP_OUTCOME_ANSWERED)
		return;
	ret->environment = c->in && c->in->start.environment[0] ? c->in->start.environment : NULL;
	ret->transport = c->in ? mp_kind_get_name(c->in->e->kind) : c->transport;
	if (f)
		ret->tail = f->tail;
	if (c->in && f && (f->state == MP_KEEPER_BACKOFF || mp_keeper_awaits_change(c->in->k)))
		ret->next_at_ms = mp_loop_wall_now_ms(c->pool->o.loop) + f->next_ms -
				  mp_loop_now_ms(c->pool->o.loop);
	else if (c->retry_ms > 0)
		ret->next_at_ms = mp_loop_wall_now_ms(c->pool->o.loop) + c->retry_ms;
}

/* Delivers the one answer. The hook may free the call and the pool. */
static enum mp_pool_call_event pool_call_deliver(struct mp_pool_call *c)
{
	MP_CLEANUP(mp_freep) struct mcpool_error *why = MP_TAKE(c->why);
	MP_CLEANUP(mp_freep) struct mcpool_error *cause = MP_TAKE(c->cause);
	struct mp_pool_answer answer;

	describe(c, &answer);
	answer.error = c->outcome == MP_OUTCOME_ANSWERED ? NULL : why;
	answer.cause = c->outcome == MP_OUTCOME_ANSWERED ? NULL : cause;
	mp_loop_unpost(c->pool->o.loop, &c->task);
	c->client = mp_call_client_unref(c->client);
	c->in = NULL;
	c->pool = NULL;
	MP_POISON(&c->call.link, &c->call + 1); /* at rest: only a new start may touch it */
	MP_POISON(&c->link, c + 1);
	c->hooks->answered(c, &answer);
	return MP_QUIET;
}

static void tell(void *u)
{
	mp_pool_call_advance(u, MP_POOL_CALL_ON_TELL);
}

static void tell_later(struct mp_pool_call *c)
{
	mp_loop_unpost(c->pool->o.loop, &c->task);
	mp_task_init(&c->task, tell, c);
	mp_loop_post(c->pool->o.loop, &c->task);
}

/* If the embedded call was cancelled, its end comes first. */
static enum mp_pool_call_event see_if_at_rest(struct mp_pool_call *c)
{
	return mp_call_is_at_rest(&c->call) ? MP_POOL_CALL_ON_END : MP_QUIET;
}

/* Errors and tasks may have ids that later messages of the server refer to. */
static bool is_plain_result(const struct mp_message *m)
{
	return m->kind == MP_MESSAGE_RESULT && !mp_message_is_task(m);
}

/* A server's answer is delivered while it is valid, everything else at the end of the turn. */
static enum mp_pool_call_event pool_call_finish(struct mp_pool_call *c)
{
	c->patience_ms = INT64_MAX;
	mp_call_set_due(&c->call, INT64_MAX);
	mp_queue_leave(&c->ticket);
	if (c->in && c->in->requests.list.len)
		mp_instance_requests_end_call(c);
	if (c->message && c->in && !is_plain_result(c->message))
		mp_attribution_note_answer(c->in, c->session, c->message);
	pool_call_count(c);
	if (c->message)
		return MP_POOL_CALL_ON_END;
	tell_later(c);
	return MP_QUIET;
}

static enum mp_pool_call_event pool_call_hold(struct mp_pool_call *c)
{
	tell_later(c);
	return MP_QUIET;
}

static enum mp_pool_call_event hold_on(struct mp_pool_call *c)
{
	c->hooks->acquired(c);
	return MP_QUIET;
}

void mp_pool_call_drop(struct mp_pool_call *c)
{
	mp_queue_leave(&c->ticket);
	mp_call_set_due(&c->call, INT64_MAX);
	if (!c->why) {
		mp_pool_call_refuse(c, MCPOOL_ECLOSED, MP_OUTCOME_CANCELLED, "mcpool has stopped");
		c->why->fault = MCPOOL_FAULT_CLOSED;
	}
	mp_list_remove(mp_pool_call_get_list(c), &c->link);
	c->state = MP_POOL_CALL_REST;
	(void)pool_call_deliver(c);
}

static void take_back(struct mp_pool_call *c)
{
	if (mp_call_is_at_rest(&c->call))
		return;
	mp_peer_cancel(&c->call);
	mp_attribution_note_given_up(c);
}

/* Cancelled by the client: tell the server, do not wait, restart nothing (U18, D16). */
static enum mp_pool_call_event pool_call_withdraw(struct mp_pool_call *c)
{
	pool_call_refuse(c, MCPOOL_ECANCELED, MP_OUTCOME_CANCELLED, "the call was cancelled");
	take_back(c);
	return pool_call_finish(c);
}

/* The granted time: the timer itself may be a millisecond late. */
static double granted_s(const struct mp_pool_call *c)
{
	int64_t asked_ms = c->asked_us / 1000;

	return (double)(c->deadline_ms - asked_ms) / 1000;
}

/* A process that belongs to one session may be replaced without harm to others (E50, U18). */
static bool restarts_on_timeout(const struct mp_instance *in)
{
	return in->e->tuning.restart.on_timeout == MP_ON_TIMEOUT_RESTART && in->session &&
	       in->e->kind == MP_KIND_STDIO;
}

/* Else one slow call does not prove a dead server: probe it (D7, D8, D44). */
static enum mp_pool_call_event run_out(struct mp_pool_call *c)
{
	const struct mp_instance *in = c->in;
	bool was_out = c->was_out;

	pool_call_refuse(c, MCPOOL_ECALL_TIMEOUT, MP_OUTCOME_TIMEOUT,
			 "server '%s' %s within %g s%s", c->server,
			 c->was_out ? "did not answer" : "was not there for the call", granted_s(c),
			 mp_instance_is_netdata(in) ? " (tool failed: timeout)" : "");
	take_back(c);
	(void)pool_call_finish(c);
	/* Last: both may close the upstream and end this call. */
	if (was_out && restarts_on_timeout(in))
		mp_keeper_renew(in->k, "a call timed out");
	else if (was_out)
		mp_keeper_suspect(in->k, "a call timed out");
	return MP_QUIET;
}
