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
	struct mp_log log;
	enum mp_keeper_state state;
	enum mp_keeper_state left; /* the state before the last step ... */
	bool is_unrecorded;        /* ... which is not in the event ring yet */
	struct mp_keeper_facts facts;
	struct mp_backoff backoff;
	struct mp_timer timer;   /* BACKOFF: the next attempt; UP: the life counts as stable */
	struct mp_upstream *up;  /* owned; from STARTING until it is closed */
	struct mp_buf tail;      /* owner of facts.tail */
	struct mp_buf challenge; /* owner of facts.challenge */
	char launch_key[64];     /* of the current attempt */
	size_t launch_key_len;
	int64_t began_us, listing_us; /* of the current attempt */
};

MP_MACHINE_TYPES(keeper, struct mp_keeper, enum keeper_event, MP_KEEPER_STATES, KEEPER_EVENTS);
static keeper_action begin, begin_anew, prepare, drop, dial, ask_lists, greet, forgive, hang_up,
	bury, bury_and_begin, bury_and_decide, decide, brake, quit, probe;

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
	AT(DOWN) = {[START] = TO(PREPARING, begin), [AGAIN] = TO(PREPARING, begin),
		[STOP] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(PREPARING) = {[PREPARED] = TO(STARTING, dial), [BROKEN] = MP_DO(decide),
		[HOLD] = TO(BACKOFF, brake), [REST] = TO(BACKOFF, NULL),
		[GIVE_UP] = TO(FAILED, NULL), [BAR] = TO(BARRED, NULL),
		[STOP] = TO(DOWN, drop),
		[START] = MP_STAY, [AGAIN] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(STARTING) = {[READY] = TO(LISTING, ask_lists), [BROKEN] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(LISTING) = {[LISTED] = TO(UP, greet), [BROKEN] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(UP) = {[TIMER] = MP_DO(forgive), [SUSPECT] = TO(CHECKING, probe),
		[BROKEN] = TO(CLEARING, hang_up), HANG_UP_WHEN_TOLD},
	AT(CHECKING) = {[TIMER] = MP_DO(forgive), [WELL] = TO(UP, NULL),
		[SICK] = TO(CLEARING, hang_up), [BROKEN] = TO(CLEARING, hang_up),
		[SUSPECT] = MP_STAY, HANG_UP_WHEN_TOLD},
	AT(CLEARING) = {[GONE] = MP_DO(bury_and_decide), [REST] = TO(BACKOFF, NULL),
		[GIVE_UP] = TO(FAILED, NULL), [BAR] = TO(BARRED, NULL),
		[AGAIN] = TO(RENEWING, NULL), [STOP] = TO(STOPPING, NULL),
		[START] = MP_STAY, LATE_NEWS},
	AT(BACKOFF) = {[TIMER] = TO(PREPARING, prepare), [AGAIN] = TO(PREPARING, begin),
		[STOP] = TO(DOWN, quit), [START] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(FAILED) = {[START] = TO(PREPARING, begin_anew), [AGAIN] = TO(PREPARING, begin_anew),
		[STOP] = TO(DOWN, quit), [SUSPECT] = MP_STAY},
	AT(BARRED) = {[AGAIN] = TO(PREPARING, begin_anew), [STOP] = TO(DOWN, quit),
		[START] = MP_STAY, [SUSPECT] = MP_STAY},
	AT(STOPPING) = {[GONE] = TO(DOWN, bury), [START] = TO(RENEWING, NULL),
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
	*ret_log = k->log;
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
	k->facts.trigger = trigger;
	k->facts.why = *why;
	k->facts.failed_ms = mp_loop_now_ms(k->o.loop);
	k->facts.failed_wall_ms = mp_loop_wall_now_ms(k->o.loop);
	if (k->state != MP_KEEPER_UP && k->state != MP_KEEPER_CHECKING)
		k->facts.tries_failed++;
	keep_tail(k);
	if (why->code == MCPOOL_ENEEDS_AUTH)
		keep_challenge(k);
}

/*
 * Failures that waiting cannot fix: an invalid entry, a missing command (U12). A command that
 * existed before may be in the middle of an upgrade and is retried.
 */
static bool is_final(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	return !k->facts.was_up && (code == MCPOOL_ENOENT || code == MCPOOL_EINVAL);
}

static bool needs_a_person(const struct mp_keeper *k)
{
	int code = k->facts.why.code;

	/* An expired token may have been replaced: read the configured values once more. */
	return code == MCPOOL_ENEEDS_APPROVAL ||
	       (code == MCPOOL_ENEEDS_AUTH && k->facts.tries_failed > 0);
}

/* The delay counts from the failure, so the time of the cleanup is included. */
static void wait_for_next(struct mp_keeper *k, int64_t delay_ms)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t left = k->facts.failed_ms + delay_ms - now;

	k->facts.next_ms = now + (left > 0 ? left : 0);
	mp_timer_start(&k->timer, left > 0 ? left : 0);
}

static enum keeper_event decide(struct mp_keeper *k)
{
	int64_t delay_ms;

	k->hooks->unprepare(k->u);
	if (needs_a_person(k))
		return BAR;
	if (is_final(k))
		return GIVE_UP;
	delay_ms = mp_backoff_fail(&k->backoff, &k->o.policy);
	if (delay_ms < 0)
		return GIVE_UP;
	if (delay_ms < k->facts.why.retry_ms)
		delay_ms = k->facts.why.retry_ms; /* the server sent Retry-After */
	k->facts.attempt = k->backoff.failures + 1;
	wait_for_next(k, delay_ms);
	return REST;
}

/* --- starting -------------------------------------------------------------------------------- */

/* A requested start has no delay, unless there were too many recently (U11). */
static enum keeper_event begin(struct mp_keeper *k)
{
	int64_t now = mp_loop_now_ms(k->o.loop);
	int64_t delay_ms = mp_backoff_hurry(&k->backoff, &k->o.policy, now);

	mp_timer_stop(&k->timer);
	k->facts.attempt = k->backoff.failures + 1;
	if (delay_ms == 0)
		return prepare(k);
	(void)mp_fail(&k->facts.why, MCPOOL_EAGAIN,
		      "started more than %d times within %d s, so this start waits",
		      MP_STORM_STARTS, MP_STORM_MS / 1000);
	k->facts.failed_ms = now;
	k->facts.next_ms = now + delay_ms;
	return HOLD;
}

/* A start was requested after the keeper gave up. The attempts start from the beginning. */
static enum keeper_event begin_anew(struct mp_keeper *k)
{
	mp_backoff_forgive(&k->backoff);
	return begin(k);
}

static enum keeper_event brake(struct mp_keeper *k)
{
	mp_timer_start(&k->timer, k->facts.next_ms - mp_loop_now_ms(k->o.loop));
	return MP_QUIET;
}

static enum keeper_event prepare(struct mp_keeper *k)
{
	k->began_us = mp_loop_now_us(k->o.loop);
	k->facts.times = (struct mp_keeper_times){-1, -1, -1, -1};
	k->facts.starts++;
	k->hooks->prepare(k->u);
	return MP_QUIET;
}

static enum keeper_event drop(struct mp_keeper *k)
{
	k->hooks->unprepare(k->u);
	return quit(k);
}

static enum keeper_event quit(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	mp_backoff_forgive(&k->backoff);
	k->facts.was_up = false;
	k->facts.tries_failed = 0;
	k->facts.attempt = 1;
	return MP_QUIET;
}

/* --- the upstream ---------------------------------------------------------------------------- */

static int dial_again(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct mp_keeper *k = u;

	return k->hooks->dial(k->u, ret, reterr);
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
	mp_keeper_suspect(u, why);
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
	.closed = upstream_closed,
};

static enum keeper_event dial(struct mp_keeper *k)
{
	struct mp_upstream_options options = k->o.upstream;

	options.log = &k->log;
	options.timeout_ms = k->o.timeout_ms;
	options.launch_key = (struct mp_str){k->launch_key, k->launch_key_len};
	options.dial = dial_again;
	options.dial_u = k;
	k->facts.times.prepare_us = mp_loop_now_us(k->o.loop) - k->began_us;
	k->up = mp_upstream_new(k->o.loop, &options, &upstream_hooks, k);
	/* Dial errors are reported by ended(). This upstream was never open before. */
	mp_check(mp_upstream_open(k->up, NULL) == 0);
	return MP_QUIET;
}

static enum keeper_event ask_lists(struct mp_keeper *k)
{
	int64_t opened_us = mp_upstream_get_opened_us(k->up), now = mp_loop_now_us(k->o.loop);

	k->facts.times.spawn_us = opened_us - k->began_us - k->facts.times.prepare_us;
	k->facts.times.handshake_us = now - opened_us;
	k->facts.pid = mp_upstream_get_pid(k->up);
	k->listing_us = now;
	k->hooks->list(k->u);
	return MP_QUIET;
}

static enum keeper_event greet(struct mp_keeper *k)
{
	k->facts.times.list_us = mp_loop_now_us(k->o.loop) - k->listing_us;
	k->facts.up_since_ms = mp_loop_now_ms(k->o.loop);
	k->facts.restarts += k->facts.was_up || k->facts.tries_failed > 0;
	k->facts.was_up = true;
	k->facts.tries_failed = 0;
	k->facts.why = (struct mcpool_error){0};
	k->facts.pid = mp_upstream_get_pid(k->up);
	mp_timer_start(&k->timer, k->o.policy.stable_ms);
	return MP_QUIET;
}

/* A stable life resets the backoff, not a handshake (U11). */
static enum keeper_event forgive(struct mp_keeper *k)
{
	mp_backoff_forgive(&k->backoff);
	k->facts.attempt = 1;
	return MP_QUIET;
}

static enum keeper_event hang_up(struct mp_keeper *k)
{
	mp_timer_stop(&k->timer);
	k->hooks->let_go(k->u);
	mp_upstream_close(k->up);
	return MP_QUIET;
}

static void free_upstream(struct mp_keeper *k)
{
	k->up = mp_upstream_free(k->up);
	k->facts.pid = 0;
}

static enum keeper_event bury(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return quit(k);
}

static enum keeper_event bury_and_begin(struct mp_keeper *k)
{
	free_upstream(k);
	k->hooks->unprepare(k->u);
	return begin(k);
}

static enum keeper_event bury_and_decide(struct mp_keeper *k)
{
	free_upstream(k);
	return decide(k);
}

/* --- probing --------------------------------------------------------------------------------- */

static void probed(const struct mcpool_error *error, void *u)
{
	struct mp_keeper *k = u;
	struct mcpool_error why;

	if (error && k->state == MP_KEEPER_CHECKING) {
		(void)mp_fail_because(&why, error->code, error, "%s, and then the probe failed: %s",
				      k->facts.suspicion, error->message);
		note_trouble(k, "probe-failed", &why);
	}
	keeper_advance(k, error ? SICK : WELL);
}

/* A server that does not accept the probe has a full pipe and does not read. */
static enum keeper_event probe(struct mp_keeper *k)
{
	struct mcpool_error why;
	int r = mp_probe_start(k->up, k->o.list_probe, probed, k);

	if (r == 0)
		return MP_QUIET;
	(void)mp_fail(&why, r, "%s, and it does not take a probe: %s", k->facts.suspicion,
		      mcpool_error_text(r));
	note_trouble(k, "probe-failed", &why);
	return SICK;
}

/* --- interface ------------------------------------------------------------------------------- */

static void timer_fired(void *u)
{
	keeper_advance(u, TIMER);
}

struct mp_keeper *mp_keeper_new(const struct mp_keeper_options *options,
				const struct mp_keeper_hooks *hooks, void *u)
{
	struct mp_keeper *k = mp_alloc(sizeof(*k));

	k->o = *options;
	k->o.name = NULL; /* the log copied it */
	k->hooks = hooks;
	k->u = u;
	k->facts.attempt = 1;
	k->facts.max = mp_policy_get_max(&options->policy);
	mp_log_init(&k->log, "%s#%llu", options->name, (unsigned long long)options->id);
	mp_backoff_init(&k->backoff, options->id);
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
	k->state = MP_KEEPER_STOPPING; /* the answer to a probe is a late event now */
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
	keeper_advance(k, START);
}

void mp_keeper_stop(struct mp_keeper *k)
{
	keeper_advance(k, STOP);
}

void mp_keeper_renew(struct mp_keeper *k)
{
	keeper_advance(k, AGAIN);
}

void mp_keeper_suspect(struct mp_keeper *k, const char *why)
{
	if (k->state == MP_KEEPER_UP)
		k->facts.suspicion = why;
	keeper_advance(k, SUSPECT);
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

const struct mp_keeper_facts *mp_keeper_get_facts(struct mp_keeper *k)
{
	if (k->up)
		k->facts.pid = mp_upstream_get_pid(k->up);
	return &k->facts;
}

const char *mp_keeper_get_state_name(enum mp_keeper_state s)
{
	return keeper_states[s].word;
}
