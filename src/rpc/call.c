/*
 * call.c - one request of ours on a wire: what it is made of, and its time. peer_call.c has its
 * states.
 */
#include "rpc/call.h"

#include <stdarg.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

/* --- time ------------------------------------------------------------------------------------ */

static void call_arm(struct mp_call *c)
{
	int64_t due = c->due_ms < c->limit_ms ? c->due_ms : c->limit_ms;

	if (due == INT64_MAX)
		mp_timer_stop(&c->timer);
	else
		mp_timer_start(&c->timer, due - mp_loop_now_ms(c->timer.loop));
}

static void call_timer_fired(void *u)
{
	struct mp_call *c = u;

	if (c->due_ms > mp_loop_now_ms(c->timer.loop)) {
		c->expire(c);
		return;
	}
	c->due_ms = INT64_MAX;
	call_arm(c);
	c->hooks->due(c);
}

void mp_call_set_due(struct mp_call *c, int64_t due_ms)
{
	c->due_ms = due_ms;
	call_arm(c);
}

static int64_t add_ms(int64_t a, int64_t b)
{
	return b < INT64_MAX - a ? a + b : INT64_MAX;
}

void mp_call_set_limit(struct mp_call *c, int64_t ms)
{
	c->limit_ms = add_ms(mp_loop_now_ms(c->timer.loop), ms);
	call_arm(c);
}

void mp_call_extend_limit(struct mp_call *c)
{
	int64_t patience = add_ms(mp_loop_now_ms(c->timer.loop), c->o.timeout_ms);

	if (c->o.timeout_ms == 0)
		return;
	c->limit_ms = patience < c->last_ms && !c->is_paused ? patience : c->last_ms;
	call_arm(c);
}

void mp_call_start_limit(struct mp_call *c)
{
	int64_t total = c->o.max_total_ms ? c->o.max_total_ms : c->o.timeout_ms;

	c->since_ms = mp_loop_now_ms(c->timer.loop);
	c->last_ms = add_ms(c->since_ms, total);
	mp_call_extend_limit(c);
}

void mp_call_pause(struct mp_call *c, bool paused)
{
	c->is_paused = paused;
	if (c->state == MP_CALL_QUEUED || c->state == MP_CALL_WRITTEN)
		mp_call_extend_limit(c);
}

double mp_call_get_limit_s(const struct mp_call *c)
{
	int64_t now_ms = mp_loop_now_ms(c->timer.loop);

	return (double)(now_ms < c->last_ms ? c->o.timeout_ms : c->last_ms - c->since_ms) / 1000;
}

/* --- endings --------------------------------------------------------------------------------- */

void mp_call_fail(struct mp_call *c, enum mp_outcome outcome, int code, const char *format, ...)
{
	MP_UNSET char words[sizeof(c->why->message)];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(words, sizeof(words), format, args); /* cut is fine */
	va_end(args);
	if (!c->why)
		c->why = mp_alloc(sizeof(*c->why));
	(void)mp_fail(c->why, outcome == MP_OUTCOME_UNKNOWN ? MCPOOL_EOUTCOME_UNKNOWN : code, "%s",
		      words);
	c->outcome = outcome;
}

/* Once the server has asked for input, the call has begun: it may have happened. */
enum mp_outcome mp_call_get_loss(const struct mp_call *c)
{
	return c->n_inputs ? MP_OUTCOME_UNKNOWN : MP_OUTCOME_NOT_SENT;
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

/* --- life ------------------------------------------------------------------------------------ */

void mp_call_init(struct mp_call *c, struct mp_loop *loop, const struct mp_call_hooks *hooks)
{
	*c = (struct mp_call){.hooks = hooks, .due_ms = INT64_MAX, .limit_ms = INT64_MAX};
	mp_timer_init(&c->timer, loop, call_timer_fired, c);
}

void mp_call_done(struct mp_call *c)
{
	mp_check(c->state == MP_CALL_REST && !mp_timer_is_running(&c->timer));
	mp_check(!mp_list_linked(&c->link) && !mp_list_linked(&c->task.link));
}

bool mp_call_is_at_rest(const struct mp_call *c)
{
	return c->state == MP_CALL_REST;
}
