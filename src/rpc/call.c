/*
 * call.c - one request in flight, in either direction, and its exactly one ending.
 */
#include "rpc/call.h"

#include "base/mem.h"

MP_MACHINE_TYPES(call, struct mp_call, enum mp_call_event, MP_CALL_STATES, MP_CALL_EVENTS);
static call_action extend, reply, withdraw, answered, refused, not_sent, unknown, timed_out,
	cancelled, note_stray;

MP_MACHINE_STEPS(call) = {
	[MP_CALL_QUEUED] =
		{
			[MP_CALL_ON_SENT] = MP_TO(MP_CALL_WRITTEN, NULL),
			/* Nobody answers honestly what was not yet sent. */
			[MP_CALL_ON_ANSWER] = MP_DO(note_stray),
			[MP_CALL_ON_GARBLED] = MP_DO(note_stray),
			[MP_CALL_ON_PROGRESS] = MP_DO(note_stray),
			[MP_CALL_ON_DEADLINE] = MP_TO(MP_CALL_ENDED, timed_out),
			[MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDED, cancelled),
			[MP_CALL_ON_LOST] = MP_TO(MP_CALL_ENDED, not_sent),
			[MP_CALL_ON_UNTAKEN] = MP_TO(MP_CALL_ENDED, not_sent),
		},
	[MP_CALL_WRITTEN] =
		{
			[MP_CALL_ON_SENT] = MP_STAY,
			[MP_CALL_ON_ANSWER] = MP_TO(MP_CALL_ENDED, answered),
			[MP_CALL_ON_GARBLED] = MP_TO(MP_CALL_ENDED, refused),
			[MP_CALL_ON_PROGRESS] = MP_DO(extend),
			[MP_CALL_ON_DEADLINE] = MP_TO(MP_CALL_ENDED, timed_out),
			[MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDED, cancelled),
			[MP_CALL_ON_LOST] = MP_TO(MP_CALL_ENDED, unknown),
			[MP_CALL_ON_UNTAKEN] = MP_TO(MP_CALL_ENDED, not_sent),
		},
	[MP_CALL_SERVING] =
		{
			[MP_CALL_ON_ANSWER] = MP_TO(MP_CALL_ENDED, reply),
			[MP_CALL_ON_DEADLINE] = MP_TO(MP_CALL_ENDED, withdraw),
			[MP_CALL_ON_CANCEL] = MP_TO(MP_CALL_ENDED, withdraw),
			[MP_CALL_ON_LOST] = MP_TO(MP_CALL_ENDED, withdraw),
		},
	[MP_CALL_ENDED] =
		{
			[MP_CALL_ON_SENT] = MP_STAY,
			[MP_CALL_ON_ANSWER] = MP_DO(note_stray),
			[MP_CALL_ON_GARBLED] = MP_DO(note_stray),
			[MP_CALL_ON_PROGRESS] = MP_DO(note_stray),
			[MP_CALL_ON_DEADLINE] = MP_STAY,
			[MP_CALL_ON_CANCEL] = MP_STAY,
			[MP_CALL_ON_LOST] = MP_STAY,
			[MP_CALL_ON_UNTAKEN] = MP_STAY,
		},
};

static void call_entered(struct mp_call *c, enum mp_call_state from)
{
	if (c->state == MP_CALL_ENDED)
		mp_timer_stop(&c->timer);
	c->owner->moved(c, from);
}

static void call_describe(const struct mp_call *c, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "call %llu", (unsigned long long)c->id);
}

MP_SHARED_MACHINE(call, struct mp_call, .entered = call_entered, .describe = call_describe,
		  .starts = 1u << MP_CALL_QUEUED | 1u << MP_CALL_SERVING)

/* --- what happens on the way ---------------------------------------------------------------- */

static enum mp_call_event note_stray(struct mp_call *c)
{
	c->owner->stray(c);
	return MP_QUIET;
}

static void arm(struct mp_call *c)
{
	int64_t now_ms = mp_loop_now_ms(c->timer.loop);
	int64_t left_ms = c->last_ms - now_ms;

	mp_timer_start(&c->timer,
		       c->patience_ms < left_ms && !c->is_paused ? c->patience_ms : left_ms);
}

static enum mp_call_event extend(struct mp_call *c)
{
	if (c->patience_ms)
		arm(c);
	c->owner->progress(c);
	return MP_QUIET;
}

static enum mp_call_event answered(struct mp_call *c)
{
	c->owner->deliver(c, MP_OUTCOME_ANSWERED);
	return MP_QUIET;
}

static enum mp_call_event refused(struct mp_call *c)
{
	c->owner->deliver(c, MP_OUTCOME_REFUSED);
	return MP_QUIET;
}

static enum mp_call_event not_sent(struct mp_call *c)
{
	c->owner->deliver(c, MP_OUTCOME_NOT_SENT);
	return MP_QUIET;
}

static enum mp_call_event unknown(struct mp_call *c)
{
	c->owner->deliver(c, MP_OUTCOME_UNKNOWN);
	return MP_QUIET;
}

static enum mp_call_event timed_out(struct mp_call *c)
{
	c->owner->tell_cancelled(c, "timeout");
	c->owner->deliver(c, MP_OUTCOME_TIMEOUT);
	return MP_QUIET;
}

static enum mp_call_event cancelled(struct mp_call *c)
{
	c->owner->tell_cancelled(c, "cancelled");
	c->owner->deliver(c, MP_OUTCOME_CANCELLED);
	return MP_QUIET;
}

static enum mp_call_event reply(struct mp_call *c)
{
	c->owner->reply(c);
	return MP_QUIET;
}

static enum mp_call_event withdraw(struct mp_call *c)
{
	c->owner->withdraw(c);
	return MP_QUIET;
}

/* --- life ----------------------------------------------------------------------------------- */

static void time_is_up(void *u)
{
	mp_call_advance(u, MP_CALL_ON_DEADLINE);
}

void mp_call_init(struct mp_call *c, struct mp_loop *loop, enum mp_call_state state,
		  const struct mp_call_owner *owner, void *owner_u)
{
	*c = (struct mp_call){.state = state, .owner = owner, .owner_u = owner_u};
	mp_timer_init(&c->timer, loop, time_is_up, c);
}

void mp_call_done(struct mp_call *c)
{
	mp_timer_stop(&c->timer);
	if (mp_list_linked(&c->task.link))
		mp_loop_unpost(c->timer.loop, &c->task);
	c->their_id = mp_free(c->their_id);
}

void mp_call_set_deadline(struct mp_call *c, int64_t patience_ms, int64_t max_total_ms)
{
	int64_t now_ms = mp_loop_now_ms(c->timer.loop);

	c->since_ms = now_ms;
	c->patience_ms = patience_ms;
	c->last_ms = max_total_ms < INT64_MAX - now_ms ? now_ms + max_total_ms : INT64_MAX;
	arm(c);
}

void mp_call_pause(struct mp_call *c, bool paused)
{
	c->is_paused = paused;
	if (c->patience_ms && c->state != MP_CALL_ENDED)
		arm(c);
}

const char *mp_outcome_get_name(enum mp_outcome o)
{
	static const char *const names[] = {
		[MP_OUTCOME_ANSWERED] = "answered", [MP_OUTCOME_NOT_SENT] = "not_sent",
		[MP_OUTCOME_UNKNOWN] = "unknown",   [MP_OUTCOME_REFUSED] = "refused",
		[MP_OUTCOME_TIMEOUT] = "timeout",   [MP_OUTCOME_CANCELLED] = "cancelled",
	};

	return names[o];
}
