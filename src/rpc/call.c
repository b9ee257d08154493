/*
 * call.c - one request in flight, in either direction, and its exactly one ending.
 */
#include "rpc/call.h"

#include "base/mem.h"

typedef void (*action)(struct mp_call *c, enum mp_call_event ev);

static void extend(struct mp_call *c, enum mp_call_event ev);
static void reply(struct mp_call *c, enum mp_call_event ev);
static void withdraw(struct mp_call *c, enum mp_call_event ev);
static void answered(struct mp_call *c, enum mp_call_event ev);
static void refused(struct mp_call *c, enum mp_call_event ev);
static void not_sent(struct mp_call *c, enum mp_call_event ev);
static void unknown(struct mp_call *c, enum mp_call_event ev);
static void timed_out(struct mp_call *c, enum mp_call_event ev);
static void cancelled(struct mp_call *c, enum mp_call_event ev);
static void note_stray(struct mp_call *c, enum mp_call_event ev);

/* Where an event leads from a state. An empty cell cannot happen, and is a bug by name. */
enum { NOWHERE, TO, STAY };

struct step {
	int how; /* NOWHERE, TO, STAY */
	enum mp_call_state to;
	action act;
};

#define GO(state, act)                   \
	{                                \
		TO, MP_CALL_##state, act \
	}
#define KEEP(act)            \
	{                    \
		STAY, 0, act \
	}

static const struct step steps[MP_CALL_STATE_COUNT][MP_CALL_EVENT_COUNT] =
	{
		[MP_CALL_QUEUED] =
			{
				[MP_CALL_ON_SENT] = GO(WRITTEN, NULL),
				/* Nobody answers honestly what was not yet sent. */
				[MP_CALL_ON_ANSWER] = KEEP(note_stray),
				[MP_CALL_ON_GARBLED] = KEEP(note_stray),
				[MP_CALL_ON_PROGRESS] = KEEP(note_stray),
				[MP_CALL_ON_DEADLINE] = GO(ENDED, timed_out),
				[MP_CALL_ON_CANCEL] = GO(ENDED, cancelled),
				[MP_CALL_ON_LOST] = GO(ENDED, not_sent),
				[MP_CALL_ON_UNTAKEN] = GO(ENDED, not_sent),
			},
		[MP_CALL_WRITTEN] =
			{
				[MP_CALL_ON_SENT] = KEEP(NULL),
				[MP_CALL_ON_ANSWER] = GO(ENDED, answered),
				[MP_CALL_ON_GARBLED] = GO(ENDED, refused),
				[MP_CALL_ON_PROGRESS] = KEEP(extend),
				[MP_CALL_ON_DEADLINE] = GO(ENDED, timed_out),
				[MP_CALL_ON_CANCEL] = GO(ENDED, cancelled),
				[MP_CALL_ON_LOST] = GO(ENDED, unknown),
				[MP_CALL_ON_UNTAKEN] = GO(ENDED, not_sent),
			},
		[MP_CALL_SERVING] =
			{
				[MP_CALL_ON_ANSWER] = GO(ENDED, reply),
				[MP_CALL_ON_DEADLINE] = GO(ENDED, withdraw),
				[MP_CALL_ON_CANCEL] = GO(ENDED, withdraw),
				[MP_CALL_ON_LOST] = GO(ENDED, withdraw),
			},
		[MP_CALL_ENDED] =
			{
				[MP_CALL_ON_SENT] = KEEP(NULL),
				[MP_CALL_ON_ANSWER] = KEEP(note_stray),
				[MP_CALL_ON_GARBLED] = KEEP(note_stray),
				[MP_CALL_ON_PROGRESS] = KEEP(note_stray),
				[MP_CALL_ON_DEADLINE] = KEEP(NULL),
				[MP_CALL_ON_CANCEL] = KEEP(NULL),
				[MP_CALL_ON_LOST] = KEEP(NULL),
				[MP_CALL_ON_UNTAKEN] = KEEP(NULL),
			},
};

static const char *const state_names[] = {
#define MP_CALL_X(name, word, meaning) word,
	MP_CALL_STATES(MP_CALL_X)
#undef MP_CALL_X
};

const char *mp_call_get_state_name(enum mp_call_state s)
{
	return state_names[s];
}

void mp_call_advance(struct mp_call *c, enum mp_call_event ev)
{
	const struct step *s = &steps[c->state][ev];

	mp_check(s->how != NOWHERE);
	if (s->how == TO) {
		enum mp_call_state from = c->state;

		c->state = s->to;
		if (c->state == MP_CALL_ENDED)
			mp_timer_stop(&c->timer);
		c->owner->moved(c, from);
	}
	if (s->act)
		s->act(c, ev); /* c may be gone now */
}

/* --- what happens on the way ---------------------------------------------------------------- */

static void note_stray(struct mp_call *c, enum mp_call_event ev)
{
	c->owner->stray(c, ev);
}

static void arm(struct mp_call *c)
{
	int64_t now_ms = mp_loop_now_ms(c->timer.loop);
	int64_t left_ms = c->last_ms - now_ms;

	mp_timer_start(&c->timer,
		       c->patience_ms < left_ms && !c->is_paused ? c->patience_ms : left_ms);
}

static void extend(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	if (c->patience_ms)
		arm(c);
	c->owner->progress(c);
}

static void answered(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->deliver(c, MP_OUTCOME_ANSWERED);
}

static void refused(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->deliver(c, MP_OUTCOME_REFUSED);
}

static void not_sent(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->deliver(c, MP_OUTCOME_NOT_SENT);
}

static void unknown(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->deliver(c, MP_OUTCOME_UNKNOWN);
}

static void timed_out(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->tell_cancelled(c, "timeout");
	c->owner->deliver(c, MP_OUTCOME_TIMEOUT);
}

static void cancelled(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->tell_cancelled(c, "cancelled");
	c->owner->deliver(c, MP_OUTCOME_CANCELLED);
}

static void reply(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->reply(c);
}

static void withdraw(struct mp_call *c, enum mp_call_event ev)
{
	(void)ev;
	c->owner->withdraw(c);
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
