/*
 * keeper.c - keeps one server alive: prepare, start, list, up, back off, relentless.
 */
#include "pool/keeper.h"

#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "client/probe.h"

enum { TAIL_LINES = 20, TAIL_BYTES = 4096, CHALLENGE_BYTES = 8192 };

#define KEEPER_EVENTS(X)                                                            \
	X(START, "start", "somebody wants it")                                      \
	X(STOP, "stop", "it is not wanted any more")                                \
	X(AGAIN, "again", "it is to be restarted")                                  \
	X(HOLD, "hold", "too many starts of late: not at once")                     \
	X(PREPARED, "prepared", "what to start is known")                           \
	X(READY, "ready", "the handshake is done")                                  \
	X(LISTED, "listed", "what it offers is known")                              \
	X(BROKEN, "broken", "this try failed, or the server is gone; why is noted") \
	X(GONE, "gone", "nothing of this life is left")                             \
	X(REST, "rest", "there will be another try")                                \
	X(GIVE_UP, "give up", "there will be none")                                 \
	X(BAR, "bar", "a person must do something first")                           \
	X(TIMER, "timer", "the wait is over, or the life was stable")               \
	X(SUSPECT, "suspect", "it may be dead")                                     \
	X(WELL, "well", "it is not")                                                \
	X(SICK, "sick", "it is")

MP_MACHINE_ENUM(keeper_event, KEEPER_EVENTS);

struct mp_keeper {
	struct mp_keeper_options o;
	const struct mp_keeper_hooks *hooks;
	void *u;
	enum mp_keeper_state state;
	enum mp_keeper_state left; /* the state before the last step ... */
	bool is_unrecorded;        /* ... which is not in the event ring yet */
	struct mp_keeper_facts facts;
	struct mp_backoff backoff;
	struct mp_timer timer;    /* BACKOFF, FAILED: the next attempt; UP: the life is stable */
	struct mp_timer interval; /* UP: the next probe without a doubt */
	struct mp_upstream *up;   /* owned; from STARTING until it is closed */
	struct mp_buf tail;       /* owner of facts.tail */
	struct mp_buf challenge;  /* owner of facts.challenge */
	char launch_key[64];      /* of the current attempt */
	size_t launch_key_len;
	int64_t began_us, listing_us; /* of the current attempt */
	int64_t probing_us;           /* of the last probe */
	bool is_cut;                  /* CHECKING: because its connection broke (D30) */
	unsigned locked;              /* lives in a row that ended for want of a login */
};

MP_MACHINE_TYPES(keeper, struct mp_keeper, enum keeper_event, MP_KEEPER_STATES, KEEPER_EVENTS);
static keeper_action keeper_begin, begin_anew, keeper_prepare, keeper_drop, keeper_dial, ask_lists,
	keeper_list, keeper_greet, keeper_forgive, hang_up, keeper_bury, bury_and_begin,
	bury_and_decide, keeper_decide, keeper_brake, keeper_quit, keeper_probe;

/*
 * Late events (the answer to a probe, the end of an abandoned life) stay in the state. A planned
 * close passes through STOPPING or RENEWING, where BROKEN does not start a restart loop (D34, E46).
 */
/* clang-format off */
#define LATE_NEWS [BROKEN] = MP_STAY, [SICK] = MP_STAY, [WELL] = MP_STAY, [SUSPECT] = MP_STAY
#define HANG_UP_WHEN_TOLD \
	[STOP] = TO(STOPPING, hang_up), [AGAIN] = TO(RENEWING, hang_up), [START] = MP_STAY
#define AT(state) [MP_KEEPER_##state]
#define TO(state, act) MP_TO(MP_KEEPER_##state, act)
MP_MACHINE_STEPS(keeper) = {
	AT(DOWN) = {[START] = TO(PREPARING, keeper_begin), [AGAIN] = TO(PREPARING, keeper_begin),
		[STOP] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(PREPARING) = {[PREPARED] = TO(STARTING, keeper_dial), [BROKEN] = MP_DO(keeper_decide),
		[HOLD] = TO(BACKOFF, keeper_brake), [REST] = TO(BACKOFF, NULL),
		[GIVE_UP] = TO(FAILED, NULL), [BAR] = TO(BARRED, NULL),
		[STOP] = TO(DOWN, keeper_drop),
		[START] = MP_STAY, [AGAIN] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(STARTING) = {[READY] = TO(LISTING, ask_lists), [BROKEN] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(LISTING) = {[LISTED] = TO(UP, keeper_greet), [BROKEN] = TO(CLEARING, hang_up),
		[WELL] = MP_DO(keeper_list), [SICK] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(UP) = {[TIMER] = MP_DO(keeper_forgive), [SUSPECT] = TO(CHECKING, keeper_probe),
		[BROKEN] = TO(CLEARING, hang_up), HANG_UP_WHEN_TOLD},
	AT(CHECKING) = {[TIMER] = MP_DO(keeper_forgive), [WELL] = TO(UP, NULL),
		[SICK] = TO(CLEARING, hang_up), [BROKEN] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(CLEARING) = {[GONE] = MP_DO(bury_and_decide), [REST] = TO(BACKOFF, NULL),
		[GIVE_UP] = TO(FAILED, NULL), [BAR] = TO(BARRED, NULL),
		[AGAIN] = TO(RENEWING, NULL), [STOP] = TO(STOPPING, NULL),
		[START] = MP_STAY, LATE_NEWS},
	AT(BACKOFF) = {[TIMER] = TO(PREPARING, keeper_prepare), [AGAIN] = TO(PREPARING, keeper_begin),
		[STOP] = TO(DOWN, keeper_quit), [START] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(FAILED) = {[START] = TO(PREPARING, begin_anew), [AGAIN] = TO(PREPARING, begin_anew),
		[TIMER] = TO(PREPARING, keeper_prepare),
		[STOP] = TO(DOWN, keeper_quit), [SUSPECT] = MP_STAY},
	AT(BARRED) = {[AGAIN] = TO(PREPARING, begin_anew), [STOP] = TO(DOWN, keeper_quit),
		[START] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(STOPPING) = {[GONE] = TO(DOWN, keeper_bury), [START] = TO(RENEWING, NULL),
		[AGAIN] = TO(RENEWING, NULL), [STOP] = MP_STAY, LATE_NEWS},
	AT(RENEWING) = {[GONE] = TO(PREPARING, bury_and_begin), [STOP] = TO(STOPPING, NULL),
		[START] = MP_STAY, [AGAIN] = MP_STAY, LATE_NEWS},
};
/* clang-format on */

/* --- transitions ----------------------------------------------------------------------------- */

/* A step is recorded after its action has set the facts. */
static void keeper_record(struct mp_keeper *k)
{
	if (k->is_unrecorded)
		mp_keeper_record(&k->facts, k->left, k->o.events, k->o.id);
	k->is_unrecorded = false;
}

static void keeper_entered(struct mp_keeper *k, enum mp_keeper_state from)
{
	keeper_record(k);
	k->left = from;
	k->is_unrecorded = true;
	k->facts.state = k->state;
	k->facts.since_ms = mp_loop_now_ms(k->o.loop);
	k->facts.since_wall_ms = mp_loop_wall_now_ms(k->o.loop);
}

/* The owner is told once, after the last step, so that it may send the next event. */
static void keeper_settled(struct mp_keeper *k, enum mp_keeper_state from)
{
	keeper_record(k);
	if (k->state != from && k->hooks->moved)
		k->hooks->moved(k->u, from);
}

static void keeper_describe(const struct mp_keeper *k, struct mp_log *ret_log)
{
	*ret_log = *k->o.log;
}

MP_MACHINE(keeper, struct mp_keeper, .entered = keeper_entered, .settled = keeper_settled,
	   .describe = keeper_describe)

/* --- failures -------------------------------------------------------------------------------- */

/* Keep the last stderr lines: they usually contain the cause. */
static void keep_tail(struct mp_keeper *k)
{
	int r = k->up ? MCPOOL_ELIMIT : 0;

	mp_buf_clear(&k->tail);
	for (size_t lines = TAIL_LINES; lines > 0 && r < 0; lines /= 2) {
		mp_buf_clear(&k->tail);
		r = mp_upstream_get_tail(k->up, lines, &k->tail);
	}
	if (r < 0)
		mp_buf_clear(&k->tail); /* a single line exceeds the buffer */
	k->facts.tail = mp_buf_get(&k->tail);
}

/* The login needs it. */
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
	k->facts.failed_ms = mp_loop_now_ms(k->o.loop);
	k->facts.failed_wall_ms = mp_loop_wall_now_ms(k->o.loop);
	if (!k->facts.why.code)
		k->facts.failing_wall_ms = k->facts.failed_wall_ms;
	k->facts.trigger = trigger;
	k->facts.why = *why;
	k->facts.failed_after_us = -1;
	if (k->state != MP_KEEPER_UP && k->state != MP_KEEPER_CHECKING) {
		k->facts.tries_failed++;
		k->facts.failed_after_us = mp_loop_now_us(k->o.loop) - k->began_us;
	}
	keep_tail(k);
	k->locked = why->code == MCPOOL_ENEEDS_AUTH ? k->locked + 1 : 0;
	if (why->code == MCPOOL_ENEEDS_AUTH)
		keep_challenge(k);
}

/*
 * Failures that the schedule cannot fix: an invalid value, a missing command, 404 (U12). A command
 * that existed before may be in the middle of an upgrade and is retried.
 */
static bool is_final(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	return k->o.tuning.policy.is_final && !k->facts.was_up &&
	       (code == MCPOOL_ENOENT || code == MCPOOL_EINVAL);
}

static bool needs_a_person(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	/*
	 * An expired token may have been replaced: read the configured values once more. A server
	 * may also open without a login and refuse calls only.
	 */
	return code == MCPOOL_ENEEDS_APPROVAL ||
	       (code == MCPOOL_ENEEDS_AUTH && (k->facts.tries_failed > 0 || k->locked > 1));
}

/* The delay counts from the failure, so the time of the cleanup is included. */
static void wait_for_next(struct mp_keeper *k, int64_t delay_ms)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t left = k->facts.failed_ms + delay_ms - now;

	k->facts.next_ms = now + (left > 0 ? left : 0);
	mp_timer_start(&k->timer, left > 0 ? left : 0);
}

/* A change of its files, its entry or the network may help; or time (U12). */
static void wait_for_change(struct mp_keeper *k)
{
	if (k->o.tuning.policy.final_retry_ms == 0)
		return;
	wait_for_next(k, k->o.tuning.policy.final_retry_ms);
	if (k->hooks->await_change)
		k->hooks->await_change(k->u);
}

static enum keeper_event keeper_decide(struct mp_keeper *k)
{
	int64_t delay_ms;
	bool is_over = is_final(k);

	k->facts.next_ms = 0;
	if (is_over)
		wait_for_change(k);
	k->hooks->unprepare(k->u);
	if (needs_a_person(k))
		return BAR;
	if (is_over)
		return GIVE_UP;
	delay_ms = mp_backoff_fail(&k->backoff, &k->o.tuning.policy);
	if (delay_ms < 0)
		return GIVE_UP;
	if (delay_ms < k->facts.why.retry_ms)
		delay_ms = k->facts.why.retry_ms; /* the server sent Retry-After */
	k->facts.attempt = k->backoff.failures;
	wait_for_next(k, delay_ms);
	return REST;
}

/* --- starting -------------------------------------------------------------------------------- */

/* A requested start has no delay, unless there were too many recently (U11). */
static enum keeper_event keeper_begin(struct mp_keeper *k)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t delay_ms = mp_backoff_hurry(&k->backoff, &k->o.tuning.policy, now);

	mp_timer_stop(&k->timer);
	k->facts.attempt = k->backoff.failures;
	if (delay_ms == 0)
		return keeper_prepare(k);
	(void)mp_fail(&k->facts.why, MCPOOL_EAGAIN,
		      "started more than %d times within %d s, so this start waits",
		      MP_STORM_STARTS, MP_STORM_MS / 1000);
	k->facts.failed_ms = now;
	k->facts.failed_after_us = -1;
	k->facts.next_ms = now + delay_ms;
	return HOLD;
}

/* A start was requested after the keeper gave up. The attempts start from the beginning. */
static enum keeper_event begin_anew(struct mp_keeper *k)
{
	mp_backoff_forgive(&k->backoff);
	k->locked = 0;
	return keeper_begin(k);
}

static enum keeper_event keeper_brake(struct mp_keeper *k)
{
	mp_timer_start(&k->timer, k->facts.next_ms - mp_loop_now_ms(k->o.loop));
	return MP_QUIET;
}

static enum keeper_event keeper_prepare(struct mp_keeper *k)
{
	k->began_us = mp_loop_now_us(k->o.loop);
	k->facts.times = (struct mp_keeper_times){-1, -1, -1, -1};
	k->facts.starts++;
	k->hooks->prepare(k->u);
	return MP_QUIET;
}

static enum keeper_event keeper_drop(struct mp_keeper *k)
{
	k->hooks->unprepare(k->u);
	return keeper_quit(k);
}

static enum keeper_event keeper_quit(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	mp_backoff_forgive(&k->backoff);
	k->facts.was_up = false;
	k->facts.tries_failed = 0;
	k->facts.attempt = 0;
	return MP_QUIET;
}

/* --- the upstream ---------------------------------------------------------------------------- */

static int dial_again(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct mp_keeper *k = u;

	return k->hooks->dial(k->u, ret, reterr);
}

static void keeper_suspect(struct mp_keeper *k, const char *why, bool is_cut)
{
	if (k->state == MP_KEEPER_UP) {
		k->facts.suspicion = why;
		k->is_cut = is_cut;
	}
	keeper_advance(k, SUSPECT);
}

static void upstream_ready(void *u)
{
	keeper_advance(u, READY);
}

static void upstream_ended(void *u, const struct mcpool_error *why)
{
	struct mp_keeper *k = u;
	bool was_open = k->state == MP_KEEPER_UP || k->state == MP_KEEPER_CHECKING;

	note_trouble(k, was_open ? "transport-exit" : "start-failed", why);
	keeper_advance(k, BROKEN);
}

static void upstream_notification(void *u, const struct mp_message *m)
{
	struct mp_keeper *k = u;

	if (k->hooks->notification)
		k->hooks->notification(k->u, m);
}

static void upstream_doubt(void *u, const char *why)
{
	keeper_suspect(u, why, true);
}

/* Every process of the server, also one that died of the probe of the handshake (E79). */
static void upstream_exited(void *u, int pid, const char *how)
{
	struct mp_keeper *k = u;

	(void)mp_event(k->o.events, k->o.id, MP_EVENT_EXITED, "pid %d %s", pid, how);
}

static void upstream_closed(void *u)
{
	keeper_advance(u, GONE);
}

static const struct mp_upstream_hooks upstream_hooks = {
	.ready = upstream_ready,
	.ended = upstream_ended,
	.notification = upstream_notification,
	.doubt = upstream_doubt,
	.exited = upstream_exited,
	.closed = upstream_closed,
};

static enum keeper_event keeper_dial(struct mp_keeper *k)
{
	struct mp_upstream_options options = k->o.upstream;

	options.log = k->o.log;
	options.timeout_ms = k->o.tuning.timeout_ms;
	options.launch_key = (struct mp_str){k->launch_key, k->launch_key_len};
	options.dial = dial_again;
	options.dial_u = k;
	k->facts.times.prepare_us = mp_loop_now_us(k->o.loop) - k->began_us;
	k->up = mp_upstream_new(k->o.loop, &options, &upstream_hooks, k);
	/* Dial errors are reported by ended(). This upstream was never open before. */
	mp_check(mp_upstream_open(k->up, NULL) == 0);
	return MP_QUIET;
}

/* Its lists are a probe as well, and server/discover was the handshake of a modern server. */
static bool needs_start_probe(const struct mp_keeper *k)
{
	return k->o.tuning.start_probe && !k->o.tuning.list_probe &&
	       mp_upstream_get_hello(k->up)->era == MP_ERA_LEGACY;
}

static enum keeper_event ask_lists(struct mp_keeper *k)
{
	int64_t opened_us = mp_upstream_get_opened_us(k->up), now = mp_loop_now_us(k->o.loop);

	k->facts.times.spawn_us = opened_us - k->began_us - k->facts.times.prepare_us;
	k->facts.times.handshake_us = now - opened_us;
	k->listing_us = now;
	return needs_start_probe(k) ? keeper_probe(k) : keeper_list(k);
}

static enum keeper_event keeper_list(struct mp_keeper *k)
{
	k->hooks->list(k->u);
	return MP_QUIET;
}

static void time_next_probe(struct mp_keeper *k)
{
	mp_timer_stop(&k->interval);
	if (k->o.tuning.interval_ms > 0 && mp_keeper_is_up(k))
		mp_timer_start(&k->interval, k->o.tuning.interval_ms);
}

static enum keeper_event keeper_greet(struct mp_keeper *k)
{
	k->facts.times.list_us = mp_loop_now_us(k->o.loop) - k->listing_us;
	k->facts.up_since_ms = mp_loop_now_ms(k->o.loop);
	k->facts.restarts += k->facts.was_up || k->facts.tries_failed > 0;
	k->facts.was_up = true;
	k->facts.tries_failed = 0;
	k->facts.why = (struct mcpool_error){0};
	mp_timer_start(&k->timer, k->o.tuning.policy.stable_ms);
	time_next_probe(k);
	return MP_QUIET;
}

/* A stable life resets the backoff, not a handshake (U11). */
static enum keeper_event keeper_forgive(struct mp_keeper *k)
{
	mp_backoff_forgive(&k->backoff);
	k->facts.attempt = 0;
	k->locked = 0;
	return MP_QUIET;
}

static enum keeper_event hang_up(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	mp_timer_stop(&k->interval);
	k->hooks->let_go(k->u);
	mp_upstream_close(k->up);
	return MP_QUIET;
}

static void free_upstream(struct mp_keeper *k)
{
	k->up = mp_upstream_free(k->up);
}

static enum keeper_event keeper_bury(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return keeper_quit(k);
}

static enum keeper_event bury_and_begin(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return keeper_begin(k);
}

static enum keeper_event bury_and_decide(struct mp_keeper *k)
{
	free_upstream(k);
	return keeper_decide(k);
}

/* --- probing --------------------------------------------------------------------------------- */

static const char *get_suspicion(const struct mp_keeper *k)
{
	return k->state == MP_KEEPER_CHECKING ? k->facts.suspicion : "it was just started";
}

/* A connection broke and the server does not answer a new one either: it is gone. */
static const char *get_trigger(const struct mp_keeper *k)
{
	return k->state == MP_KEEPER_CHECKING && k->is_cut ? "transport-exit" : "probe-failed";
}

static void note_probe(struct mp_keeper *k, bool is_answered)
{
	struct mp_keeper_probe *p = &k->facts.probe;

	p->wall_ms = mp_loop_wall_now_ms(k->o.loop);
	p->took_us = mp_loop_now_us(k->o.loop) - k->probing_us;
	p->is_answered = is_answered;
	p->failed += !is_answered;
}

static void probed(const struct mcpool_error *error, void *u)
{
	struct mp_keeper *k = u;
	struct mcpool_error why;

	note_probe(k, !error);
	if (error && (k->state == MP_KEEPER_CHECKING || k->state == MP_KEEPER_LISTING)) {
		(void)mp_fail_because(&why, error->code, error, "%s, and then the probe failed: %s",
				      get_suspicion(k), error->message);
		note_trouble(k, get_trigger(k), &why);
	}
	keeper_advance(k, error ? SICK : WELL);
}

/* A server that does not accept the probe has a full pipe and does not read. */
static enum keeper_event keeper_probe(struct mp_keeper *k)
{
	struct mcpool_error why;
	int r;

	k->facts.probe.sent++;
	k->probing_us = mp_loop_now_us(k->o.loop);
	r = mp_probe_start(k->up, k->o.tuning.list_probe, probed, k);
	if (r == 0)
		return MP_QUIET;
	note_probe(k, false);
	(void)mp_fail(&why, r, "%s, and it does not take a probe: %s", get_suspicion(k),
		      mcpool_error_text(r));
	note_trouble(k, get_trigger(k), &why);
	return SICK;
}

/* --- interface ------------------------------------------------------------------------------- */

static void interval_passed(void *u)
{
	struct mp_keeper *k = u;

	time_next_probe(k);
	mp_keeper_suspect(k, "healthInterval has passed");
}

static void timer_fired(void *u)
{
	keeper_advance(u, TIMER);
}

struct mp_keeper *mp_keeper_new(const struct mp_keeper_options *options,
				const struct mp_keeper_hooks *hooks, void *u)
{
	struct mp_keeper *k = mp_alloc(sizeof(*k));

	k->o = *options;
	k->hooks = hooks;
	k->u = u;
	k->facts.max = mp_policy_get_max(&options->tuning.policy);
	mp_backoff_init(&k->backoff, options->id);
	mp_timer_init(&k->timer, options->loop, timer_fired, k);
	mp_timer_init(&k->interval, options->loop, interval_passed, k);
	mp_buf_init(&k->tail, TAIL_BYTES);
	mp_buf_init(&k->challenge, CHALLENGE_BYTES);
	return k;
}

struct mp_keeper *mp_keeper_free(struct mp_keeper *k)
{
	if (!k)
		return NULL;
	mp_timer_stop(&k->timer);
	mp_timer_stop(&k->interval);
	k->hooks->unprepare(k->u);
	if (k->up)
		k->hooks->let_go(k->u);
	k->state = MP_KEEPER_STOPPING; /* the answer to a probe is a late event now */
	k->up = mp_upstream_free(k->up);
	mp_buf_done(&k->tail);
	mp_buf_done(&k->challenge);
	return mp_free(k);
}

void mp_keeper_tune(struct mp_keeper *k, const struct mp_keeper_tuning *tuning)
{
	bool is_other_interval = k->o.tuning.interval_ms != tuning->interval_ms;

	k->o.tuning = *tuning;
	k->facts.max = mp_policy_get_max(&tuning->policy);
	if (is_other_interval)
		time_next_probe(k);
}

void mp_keeper_start(struct mp_keeper *k)
{
	keeper_advance(k, START);
}

void mp_keeper_stop(struct mp_keeper *k)
{
	keeper_advance(k, STOP);
}

void mp_keeper_renew(struct mp_keeper *k, const char *why)
{
	k->facts.renewal = why;
	keeper_advance(k, AGAIN);
}

bool mp_keeper_awaits_change(const struct mp_keeper *k)
{
	return k->state == MP_KEEPER_FAILED && k->facts.next_ms > 0;
}

void mp_keeper_retry(struct mp_keeper *k)
{
	bool waits = k->state == MP_KEEPER_BACKOFF || mp_keeper_awaits_change(k);

	if (waits && k->o.tuning.policy.final_retry_ms > 0)
		keeper_advance(k, AGAIN);
}

void mp_keeper_suspect(struct mp_keeper *k, const char *why)
{
	keeper_suspect(k, why, false);
}

void mp_keeper_prepared(struct mp_keeper *k, struct mp_str launch_key,
			const struct mcpool_error *error)
{
	if (error) {
		note_trouble(k, "start-failed", error);
		keeper_advance(k, BROKEN);
		return;
	}
	k->launch_key_len =
		launch_key.len < sizeof(k->launch_key) ? launch_key.len : sizeof(k->launch_key);
	memcpy(k->launch_key, launch_key.p, k->launch_key_len);
	keeper_advance(k, PREPARED);
}

void mp_keeper_listed(struct mp_keeper *k, const struct mcpool_error *error)
{
	if (error)
		note_trouble(k, "start-failed", error);
	keeper_advance(k, error ? BROKEN : LISTED);
}

bool mp_keeper_is_up(const struct mp_keeper *k)
{
	return k->state == MP_KEEPER_UP || k->state == MP_KEEPER_CHECKING;
}

bool mp_keeper_is_starting(const struct mp_keeper *k)
{
	return k->state == MP_KEEPER_PREPARING || k->state == MP_KEEPER_STARTING ||
	       k->state == MP_KEEPER_LISTING || k->state == MP_KEEPER_RENEWING;
}

struct mp_upstream *mp_keeper_get_upstream(struct mp_keeper *k)
{
	return k->up;
}

int mp_keeper_get_pid(const struct mp_keeper *k)
{
	return k->up ? mp_upstream_get_pid(k->up) : 0;
}

const struct mp_keeper_facts *mp_keeper_get_facts(struct mp_keeper *k)
{
	return &k->facts;
}

const char *mp_keeper_get_state_name(enum mp_keeper_state s)
{
	return keeper_states[s].word;
}
