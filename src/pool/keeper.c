/*
 * keeper.c - one server kept alive: prepare, start, list, up, back off, relentless.
 */
#include "pool/keeper.h"

#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "client/probe.h"
#include "pool/keeper_events.h"

enum { TAIL_LINES = 20, TAIL_BYTES = 4096, CHALLENGE_BYTES = 8192 };

enum state {
#define X(name, word, meaning) name,
	MP_KEEPER_STATES(X)
#undef X
		STATES
};
enum event {
#define X(name, meaning) name,
	MP_KEEPER_EVENTS(X)
#undef X
		EVENTS,
	QUIET
};

static const char *const state_names[] = {
#define X(name, word, meaning) word,
	MP_KEEPER_STATES(X)
#undef X
};

struct mp_keeper {
	struct mp_keeper_options o;
	const struct mp_keeper_hooks *hooks;
	void *u;
	struct mp_log log;
	enum state state;
	struct mp_keeper_facts facts;
	struct mp_ladder ladder;
	struct mp_timer timer;   /* BACKOFF: the next try; UP: a stable life */
	struct mp_upstream *up;  /* owned; from STARTING until it is gone */
	struct mp_buf tail;      /* owner of facts.tail */
	struct mp_buf challenge; /* owner of facts.challenge */
	char launch_key[64];     /* of the present try */
	size_t launch_key_len;
	int64_t began_us, listing_us; /* of the present try */
};

typedef enum event (*action)(struct mp_keeper *k);
static enum event begin(struct mp_keeper *k);
static enum event begin_anew(struct mp_keeper *k);
static enum event prepare(struct mp_keeper *k);
static enum event drop(struct mp_keeper *k);
static enum event dial(struct mp_keeper *k);
static enum event ask_lists(struct mp_keeper *k);
static enum event greet(struct mp_keeper *k);
static enum event forgive(struct mp_keeper *k);
static enum event hang_up(struct mp_keeper *k);
static enum event bury(struct mp_keeper *k);
static enum event bury_and_begin(struct mp_keeper *k);
static enum event bury_and_decide(struct mp_keeper *k);
static enum event decide(struct mp_keeper *k);
static enum event brake(struct mp_keeper *k);
static enum event quit(struct mp_keeper *k);
static enum event probe(struct mp_keeper *k);

enum { NOWHERE, TO, STAY };
struct step {
	int how;
	enum state to;
	action act;
};
#define IGNORED               \
	{                     \
		STAY, 0, NULL \
	}

/*
 * Late news (a probe's answer, the end of a life that was given up) has cells that stay. A planned
 * close passes through STOPPING or RENEWING, where BROKEN starts no loop (D34, E46).
 */
/* clang-format off */
#define LATE_NEWS [BROKEN] = IGNORED, [SICK] = IGNORED, [WELL] = IGNORED, [SUSPECT] = IGNORED
#define HANG_UP_WHEN_TOLD \
	[STOP] = {TO, STOPPING, hang_up}, [AGAIN] = {TO, RENEWING, hang_up}, [START] = IGNORED
static const struct step steps[STATES][EVENTS] = {
	[DOWN] = {[START] = {TO, PREPARING, begin}, [AGAIN] = {TO, PREPARING, begin},
		[STOP] = IGNORED, [SUSPECT] = IGNORED},
	[PREPARING] = {[PREPARED] = {TO, STARTING, dial}, [BROKEN] = {STAY, 0, decide},
		[HOLD] = {TO, BACKOFF, brake}, [REST] = {TO, BACKOFF, NULL},
		[GIVE_UP] = {TO, FAILED, NULL}, [BAR] = {TO, BARRED, NULL},
		[STOP] = {TO, DOWN, drop},
		[START] = IGNORED, [AGAIN] = IGNORED, [SUSPECT] = IGNORED},
	[STARTING] = {[READY] = {TO, LISTING, ask_lists}, [BROKEN] = {TO, CLEARING, hang_up},
		[SUSPECT] = IGNORED, HANG_UP_WHEN_TOLD},
	[LISTING] = {[LISTED] = {TO, UP, greet}, [BROKEN] = {TO, CLEARING, hang_up},
		[SUSPECT] = IGNORED, HANG_UP_WHEN_TOLD},
	[UP] = {[TIMER] = {STAY, 0, forgive}, [SUSPECT] = {TO, CHECKING, probe},
		[BROKEN] = {TO, CLEARING, hang_up}, HANG_UP_WHEN_TOLD},
	[CHECKING] = {[TIMER] = {STAY, 0, forgive}, [WELL] = {TO, UP, NULL},
		[SICK] = {TO, CLEARING, hang_up}, [BROKEN] = {TO, CLEARING, hang_up},
		[SUSPECT] = IGNORED, HANG_UP_WHEN_TOLD},
	[CLEARING] = {[GONE] = {STAY, 0, bury_and_decide}, [REST] = {TO, BACKOFF, NULL},
		[GIVE_UP] = {TO, FAILED, NULL}, [BAR] = {TO, BARRED, NULL},
		[AGAIN] = {TO, RENEWING, NULL}, [STOP] = {TO, STOPPING, NULL},
		[START] = IGNORED, LATE_NEWS},
	[BACKOFF] = {[TIMER] = {TO, PREPARING, prepare}, [AGAIN] = {TO, PREPARING, begin},
		[STOP] = {TO, DOWN, quit}, [START] = IGNORED, [SUSPECT] = IGNORED},
	[FAILED] = {[START] = {TO, PREPARING, begin_anew}, [AGAIN] = {TO, PREPARING, begin_anew},
		[STOP] = {TO, DOWN, quit}, [SUSPECT] = IGNORED},
	[BARRED] = {[AGAIN] = {TO, PREPARING, begin_anew}, [STOP] = {TO, DOWN, quit},
		[START] = IGNORED, [SUSPECT] = IGNORED},
	[STOPPING] = {[GONE] = {TO, DOWN, bury}, [START] = {TO, RENEWING, NULL},
		[AGAIN] = {TO, RENEWING, NULL}, [STOP] = IGNORED, LATE_NEWS},
	[RENEWING] = {[GONE] = {TO, PREPARING, bury_and_begin}, [STOP] = {TO, STOPPING, NULL},
		[START] = IGNORED, [AGAIN] = IGNORED, LATE_NEWS},
};
/* clang-format on */

/* --- transitions ----------------------------------------------------------------------------- */

static void enter(struct mp_keeper *k, enum state to)
{
	mp_log_trace(&k->log, "%s -> %s", state_names[k->state], state_names[to]);
	k->state = to;
	k->facts.state = (enum mp_keeper_state)to;
	k->facts.since_ms = mp_loop_now_ms(k->o.loop);
	k->facts.since_wall_ms = mp_loop_wall_now_ms(k->o.loop);
}

/*
 * The state is written down when the action has told what is to be said about it; the owner hears
 * once, when everything has come to rest, so that it may send the next event.
 */
static void advance(struct mp_keeper *k, enum event ev)
{
	enum state from = k->state, before;

	while (ev != QUIET) {
		const struct step *s = &steps[k->state][ev];

		mp_check(s->how != NOWHERE);
		before = k->state;
		if (s->how == TO)
			enter(k, s->to);
		ev = s->act ? s->act(k) : QUIET;
		if (k->state != before && s->how == TO && k->state == s->to)
			mp_keeper_record(&k->facts, (enum mp_keeper_state)before, k->o.events,
					 k->o.id);
	}
	if (k->state != from && k->hooks->moved)
		k->hooks->moved(k->u, (enum mp_keeper_state)from);
}

/* --- trouble --------------------------------------------------------------------------------- */

/* What it wrote to stderr before it failed is most of what anybody will ever know. */
static void keep_tail(struct mp_keeper *k)
{
	int r = k->up ? MCPOOL_ELIMIT : 0;

	mp_buf_clear(&k->tail);
	for (size_t lines = TAIL_LINES; lines > 0 && r < 0; lines /= 2) {
		mp_buf_clear(&k->tail);
		r = mp_upstream_get_tail(k->up, lines, &k->tail);
	}
	if (r < 0)
		mp_buf_clear(&k->tail); /* one line that is longer than all of it */
	k->facts.tail = mp_buf_get(&k->tail);
}

/* For whoever will see to the login. */
static void keep_challenge(struct mp_keeper *k)
{
	struct mp_str value = k->up ? mp_upstream_get_challenge(k->up) : MP_STR("");

	mp_buf_clear(&k->challenge);
	if (mp_buf_add_str(&k->challenge, value) < 0)
		mp_buf_clear(&k->challenge);
	k->facts.challenge = mp_buf_get(&k->challenge);
}

static void note_trouble(struct mp_keeper *k, const char *trigger, const struct mcpool_error *why)
{
	k->facts.trigger = trigger;
	k->facts.why = *why;
	k->facts.failed_ms = mp_loop_now_ms(k->o.loop);
	k->facts.failed_wall_ms = mp_loop_wall_now_ms(k->o.loop);
	if (k->state != UP && k->state != CHECKING)
		k->facts.tries_failed++;
	keep_tail(k);
	if (why->code == MCPOOL_ENEEDS_AUTH)
		keep_challenge(k);
}

/*
 * Nothing that a wait would change: an entry that cannot be, a command that is not there (U12). One
 * that was there before may just be replaced by its next version, and is waited for.
 */
static bool is_final(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	return !k->facts.was_up && (code == MCPOOL_ENOENT || code == MCPOOL_EINVAL);
}

static bool needs_a_person(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	/* A token that ran out may just have a successor: what is configured is read once more. */
	return code == MCPOOL_ENEEDS_APPROVAL ||
	       (code == MCPOOL_ENEEDS_AUTH && k->facts.tries_failed > 0);
}

/* The wait counts from the failure, so that taking down what is left costs no extra time. */
static void wait_for_next(struct mp_keeper *k, int64_t delay_ms)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t left = k->facts.failed_ms + delay_ms - now;

	k->facts.next_ms = now + (left > 0 ? left : 0);
	mp_timer_start(&k->timer, left > 0 ? left : 0);
}

static enum event decide(struct mp_keeper *k)
{
	int64_t delay_ms;

	k->hooks->unprepare(k->u);
	if (needs_a_person(k))
		return BAR;
	if (is_final(k))
		return GIVE_UP;
	delay_ms = mp_ladder_fail(&k->ladder, &k->o.policy);
	if (delay_ms < 0)
		return GIVE_UP;
	if (delay_ms < k->facts.why.retry_ms)
		delay_ms = k->facts.why.retry_ms; /* it asked for that much (Retry-After) */
	k->facts.attempt = k->ladder.failures + 1;
	wait_for_next(k, delay_ms);
	return REST;
}

/* --- beginning ------------------------------------------------------------------------------- */

/* On purpose, so nothing delays it, unless there were many such starts of late (U11). */
static enum event begin(struct mp_keeper *k)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t delay_ms = mp_ladder_hurry(&k->ladder, &k->o.policy, now);

	mp_timer_stop(&k->timer);
	k->facts.attempt = k->ladder.failures + 1;
	if (delay_ms == 0)
		return prepare(k);
	(void)mp_fail(&k->facts.why, MCPOOL_EAGAIN,
		      "started more than %d times within %d s, so this start waits",
		      MP_STORM_STARTS, MP_STORM_MS / 1000);
	k->facts.failed_ms = now;
	k->facts.next_ms = now + delay_ms;
	return HOLD;
}

/* It was given up, and is wanted nevertheless: all tries are before it again. */
static enum event begin_anew(struct mp_keeper *k)
{
	mp_ladder_forgive(&k->ladder);
	return begin(k);
}

static enum event brake(struct mp_keeper *k)
{
	mp_timer_start(&k->timer, k->facts.next_ms - mp_loop_now_ms(k->o.loop));
	return QUIET;
}

static enum event prepare(struct mp_keeper *k)
{
	k->began_us = mp_loop_now_us(k->o.loop);
	k->facts.times = (struct mp_keeper_times){-1, -1, -1, -1};
	k->facts.starts++;
	k->hooks->prepare(k->u);
	return QUIET;
}

static enum event drop(struct mp_keeper *k)
{
	k->hooks->unprepare(k->u);
	return quit(k);
}

static enum event quit(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	mp_ladder_forgive(&k->ladder);
	k->facts.was_up = false;
	k->facts.tries_failed = 0;
	k->facts.attempt = 1;
	return QUIET;
}

/* --- the upstream ---------------------------------------------------------------------------- */

static int dial_again(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct mp_keeper *k = u;

	return k->hooks->dial(k->u, ret, reterr);
}

static void upstream_ready(void *u)
{
	advance(u, READY);
}

static void upstream_ended(void *u, const struct mcpool_error *why)
{
	struct mp_keeper *k = u;
	bool was_open = k->state == UP || k->state == CHECKING;

	note_trouble(k, was_open ? "transport-exit" : "start-failed", why);
	advance(k, BROKEN);
}

static void upstream_notification(void *u, const struct mp_message *m)
{
	struct mp_keeper *k = u;

	if (k->hooks->notification)
		k->hooks->notification(k->u, m);
}

static void upstream_doubt(void *u, const char *why)
{
	mp_keeper_suspect(u, why);
}

static void upstream_closed(void *u)
{
	advance(u, GONE);
}

static const struct mp_upstream_hooks upstream_hooks = {
	.ready = upstream_ready,
	.ended = upstream_ended,
	.notification = upstream_notification,
	.doubt = upstream_doubt,
	.closed = upstream_closed,
};

static enum event dial(struct mp_keeper *k)
{
	struct mp_upstream_options options = k->o.upstream;

	options.timeout_ms = k->o.timeout_ms;
	options.launch_key = (struct mp_str){k->launch_key, k->launch_key_len};
	options.dial = dial_again;
	options.dial_u = k;
	k->facts.times.prepare_us = mp_loop_now_us(k->o.loop) - k->began_us;
	k->up = mp_upstream_new(k->o.loop, &options, &upstream_hooks, k);
	/* Whatever goes wrong while dialling is told by ended(); this one was never open before. */
	mp_check(mp_upstream_open(k->up, NULL) == 0);
	return QUIET;
}

static enum event ask_lists(struct mp_keeper *k)
{
	int64_t opened_us = mp_upstream_get_opened_us(k->up), now = mp_loop_now_us(k->o.loop);

	k->facts.times.spawn_us = opened_us - k->began_us - k->facts.times.prepare_us;
	k->facts.times.handshake_us = now - opened_us;
	k->facts.pid = mp_upstream_get_pid(k->up);
	k->listing_us = now;
	k->hooks->list(k->u);
	return QUIET;
}

static enum event greet(struct mp_keeper *k)
{
	k->facts.times.list_us = mp_loop_now_us(k->o.loop) - k->listing_us;
	k->facts.up_since_ms = mp_loop_now_ms(k->o.loop);
	k->facts.restarts += k->facts.was_up || k->facts.tries_failed > 0;
	k->facts.was_up = true;
	k->facts.tries_failed = 0;
	k->facts.why = (struct mcpool_error){0};
	k->facts.pid = mp_upstream_get_pid(k->up);
	mp_timer_start(&k->timer, k->o.policy.stable_ms);
	return QUIET;
}

/* A stable life, and not a handshake, is what makes good for past failures (U11). */
static enum event forgive(struct mp_keeper *k)
{
	mp_ladder_forgive(&k->ladder);
	k->facts.attempt = 1;
	return QUIET;
}

static enum event hang_up(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	k->hooks->let_go(k->u);
	mp_upstream_close(k->up);
	return QUIET;
}

static void free_upstream(struct mp_keeper *k)
{
	k->up = mp_upstream_free(k->up);
	k->facts.pid = 0;
}

static enum event bury(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return quit(k);
}

static enum event bury_and_begin(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return begin(k);
}

static enum event bury_and_decide(struct mp_keeper *k)
{
	free_upstream(k);
	return decide(k);
}

/* --- is it alive? ---------------------------------------------------------------------------- */

static void probed(const struct mcpool_error *error, void *u)
{
	struct mp_keeper *k = u;
	struct mcpool_error why;

	if (error && k->state == CHECKING) {
		(void)mp_fail_because(&why, error->code, error, "%s, and then the probe failed: %s",
				      k->facts.suspicion, error->message);
		note_trouble(k, "probe-failed", &why);
	}
	advance(k, error ? SICK : WELL);
}

/* One that does not even take the probe has a full pipe in front of it, and does not read. */
static enum event probe(struct mp_keeper *k)
{
	struct mcpool_error why;
	int r = mp_probe_start(k->up, k->o.list_probe, probed, k);

	if (r == 0)
		return QUIET;
	(void)mp_fail(&why, r, "%s, and it does not take a probe: %s", k->facts.suspicion,
		      mcpool_error_text(r));
	note_trouble(k, "probe-failed", &why);
	return SICK;
}

/* --- the outside ----------------------------------------------------------------------------- */

static void timer_fired(void *u)
{
	advance(u, TIMER);
}

struct mp_keeper *mp_keeper_new(const struct mp_keeper_options *options,
				const struct mp_keeper_hooks *hooks, void *u)
{
	struct mp_keeper *k = mp_alloc(sizeof(*k));

	k->o = *options;
	k->o.name = NULL; /* the log has it */
	k->hooks = hooks;
	k->u = u;
	k->facts.attempt = 1;
	k->facts.max = mp_policy_get_max(&options->policy);
	mp_log_init(&k->log, "%s#%llu", options->name, (unsigned long long)options->id);
	mp_ladder_init(&k->ladder, options->id);
	mp_timer_init(&k->timer, options->loop, timer_fired, k);
	mp_buf_init(&k->tail, TAIL_BYTES);
	mp_buf_init(&k->challenge, CHALLENGE_BYTES);
	return k;
}

struct mp_keeper *mp_keeper_free(struct mp_keeper *k)
{
	if (!k)
		return NULL;
	mp_timer_stop(&k->timer);
	k->hooks->unprepare(k->u);
	if (k->up)
		k->hooks->let_go(k->u);
	k->state = STOPPING; /* a probe's answer is late news now */
	k->up = mp_upstream_free(k->up);
	mp_buf_done(&k->tail);
	mp_buf_done(&k->challenge);
	return mp_free(k);
}

void mp_keeper_tune(struct mp_keeper *k, const struct mp_policy *policy, int64_t timeout_ms,
		    bool list_probe)
{
	k->o.policy = *policy;
	k->o.timeout_ms = timeout_ms;
	k->o.list_probe = list_probe;
	k->facts.max = mp_policy_get_max(policy);
}

void mp_keeper_start(struct mp_keeper *k)
{
	advance(k, START);
}

void mp_keeper_stop(struct mp_keeper *k)
{
	advance(k, STOP);
}

void mp_keeper_renew(struct mp_keeper *k)
{
	advance(k, AGAIN);
}

void mp_keeper_suspect(struct mp_keeper *k, const char *why)
{
	if (k->state == UP)
		k->facts.suspicion = why;
	advance(k, SUSPECT);
}

void mp_keeper_prepared(struct mp_keeper *k, struct mp_str launch_key,
			const struct mcpool_error *error)
{
	if (error) {
		note_trouble(k, "start-failed", error);
		advance(k, BROKEN);
		return;
	}
	k->launch_key_len =
		launch_key.len < sizeof(k->launch_key) ? launch_key.len : sizeof(k->launch_key);
	memcpy(k->launch_key, launch_key.p, k->launch_key_len);
	advance(k, PREPARED);
}

void mp_keeper_listed(struct mp_keeper *k, const struct mcpool_error *error)
{
	if (error)
		note_trouble(k, "start-failed", error);
	advance(k, error ? BROKEN : LISTED);
}

bool mp_keeper_is_up(const struct mp_keeper *k)
{
	return k->state == UP || k->state == CHECKING;
}

bool mp_keeper_is_starting(const struct mp_keeper *k)
{
	return k->state == PREPARING || k->state == STARTING || k->state == LISTING ||
	       k->state == RENEWING;
}

struct mp_upstream *mp_keeper_get_upstream(struct mp_keeper *k)
{
	return k->up;
}

const struct mp_keeper_facts *mp_keeper_get_facts(struct mp_keeper *k)
{
	if (k->up)
		k->facts.pid = mp_upstream_get_pid(k->up);
	return &k->facts;
}

const char *mp_keeper_get_state_name(enum mp_keeper_state s)
{
	return state_names[s];
}

bool mp_keeper_look_up(enum mp_keeper_state s, enum mp_keeper_event ev,
		       enum mp_keeper_state *ret_to)
{
	const struct step *step = &steps[s][ev];

	*ret_to = step->how == TO ? (enum mp_keeper_state)step->to : s;
	return step->how != NOWHERE;
}
