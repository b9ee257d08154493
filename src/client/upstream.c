/*
 * upstream.c - one conversation with one server: dial, agree, ready, drain.
 */
#include "client/upstream.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/agree.h"

#define STATES(X)                                                                \
	X(IDLE, "idle", "not opened yet")                                        \
	X(DIALING, "dialing", "the transport is being opened")                   \
	X(AGREEING, "agreeing", "it is open, era and version are being chosen")  \
	X(HANGING_UP, "hanging up", "it died of the probe and is dialled again") \
	X(READY, "ready", "calls may flow")                                      \
	X(OVER, "over", "the server is gone, nobody has hung up yet")            \
	X(CLOSING, "closing", "we hung up, the transport shuts down")            \
	X(CLOSED, "closed", "the last state")

#define EVENTS(X)                                      \
	X(OPEN, "begin")                               \
	X(OPENED, "the transport is open")             \
	X(AGREED, "era and version are chosen")        \
	X(REDIAL, "gone, maybe because of the probe")  \
	X(FAILED, "it cannot be; why is written down") \
	X(LOST, "the server is gone")                  \
	X(CLOSE, "hang up")                            \
	X(SHUT, "the transport is shut down")          \
	X(FREED, "its owner lets go of it")

enum state {
#define X(name, word, meaning) name,
	STATES(X)
#undef X
		STATE_COUNT
};
enum event {
#define X(name, meaning) name,
	EVENTS(X)
#undef X
		EVENT_COUNT,
	QUIET
};

static const char *const state_names[] = {
#define X(name, word, meaning) word,
	STATES(X)
#undef X
};

struct mp_upstream {
	struct mp_loop *loop;
	struct mp_upstream_options o;
	char *launch_key; /* owned */
	const struct mp_upstream_hooks *hooks;
	void *u;
	enum state state;
	struct mp_transport *transport; /* owned; NULL before dialling */
	bool shut;                      /* the transport has said its last word */
	bool deaf;                      /* it takes nothing any more, and will say so */
	struct mp_peer peer;
	struct mp_rounds rounds;
	struct mp_agree agree;
	unsigned dials;
	int64_t opened_us;       /* 0: not yet */
	enum mp_agree_way way;   /* how the next life begins */
	struct mp_timer timer;   /* for dialling and agreeing */
	struct mcpool_error why; /* of FAILED and LOST */
	struct mp_task ended_task, closed_task;
	struct mp_grave grave;
};

typedef enum event (*action)(struct mp_upstream *up);
static enum event dial(struct mp_upstream *up);
static enum event begin_agreeing(struct mp_upstream *up);
static enum event hang_up(struct mp_upstream *up);
static enum event tell_ready(struct mp_upstream *up);
static enum event tell_ended(struct mp_upstream *up);
static enum event tell_closed(struct mp_upstream *up);
static enum event forget_and_dial(struct mp_upstream *up);

enum { NOWHERE, TO, STAY };
struct step {
	int how;
	enum state to;
	action act;
};

static const struct step steps[STATE_COUNT][EVENT_COUNT] = {
	[IDLE] = {[OPEN] = {TO, DIALING, dial},
		  [CLOSE] = {TO, CLOSED, tell_closed},
		  [FREED] = {TO, CLOSED, NULL}},
	[DIALING] = {[OPENED] = {TO, AGREEING, begin_agreeing},
		     [FAILED] = {TO, OVER, tell_ended},
		     [LOST] = {TO, OVER, tell_ended},
		     [CLOSE] = {TO, CLOSING, hang_up},
		     [FREED] = {TO, CLOSED, NULL}},
	[AGREEING] = {[AGREED] = {TO, READY, tell_ready},
		      [REDIAL] = {TO, HANGING_UP, hang_up},
		      [FAILED] = {TO, OVER, tell_ended},
		      [LOST] = {TO, OVER, tell_ended},
		      [CLOSE] = {TO, CLOSING, hang_up},
		      [FREED] = {TO, CLOSED, NULL}},
	[HANGING_UP] = {[SHUT] = {TO, DIALING, forget_and_dial},
			[FAILED] = {TO, OVER, tell_ended},
			[CLOSE] = {TO, CLOSING, NULL},
			[FREED] = {TO, CLOSED, NULL}},
	[READY] = {[LOST] = {TO, OVER, tell_ended},
		   [CLOSE] = {TO, CLOSING, hang_up},
		   [FREED] = {TO, CLOSED, NULL}},
	[OVER] = {[OPENED] = {STAY, 0, NULL},
		  [AGREED] = {STAY, 0, NULL},
		  [FAILED] = {STAY, 0, NULL},
		  [LOST] = {STAY, 0, NULL},
		  [SHUT] = {STAY, 0, NULL},
		  [CLOSE] = {TO, CLOSING, hang_up},
		  [FREED] = {TO, CLOSED, NULL}},
	[CLOSING] = {[AGREED] = {STAY, 0, NULL},
		     [FAILED] = {STAY, 0, NULL},
		     [LOST] = {STAY, 0, NULL},
		     [CLOSE] = {STAY, 0, NULL},
		     [SHUT] = {TO, CLOSED, tell_closed},
		     [FREED] = {TO, CLOSED, NULL}},
	/* An answer may free it while it is being lost or closed. */
	[CLOSED] = {[LOST] = {STAY, 0, NULL}, [CLOSE] = {STAY, 0, NULL}, [FREED] = {STAY, 0, NULL}},
};

static void advance(struct mp_upstream *up, enum event ev)
{
	while (ev != QUIET) {
		const struct step *s = &steps[up->state][ev];

		mp_check(s->how != NOWHERE);
		if (s->how == TO) {
			mp_log_trace(NULL, "upstream: %s -> %s", state_names[up->state],
				     state_names[s->to]);
			up->state = s->to;
		}
		ev = s->act ? s->act(up) : QUIET;
	}
}

/* --- from the transport --------------------------------------------------------------------- */

static void transport_opened(void *u)
{
	struct mp_upstream *up = u;

	up->opened_us = mp_loop_now_us(up->loop);
	advance(up, OPENED);
}

static void transport_message(void *u, struct mp_str text)
{
	struct mp_upstream *up = u;

	mp_peer_receive(&up->peer, text);
}

static void transport_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct mp_upstream *up = u;

	mp_peer_receive_oversize(&up->peer, head, tail);
}

static void transport_written(void *u, uint64_t total)
{
	struct mp_upstream *up = u;

	mp_peer_written(&up->peer, total);
}

/* What stage it was in, in front of the words. */
static void note(struct mp_upstream *up, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why;
	bool shaking_hands = up->state == AGREEING || up->state == HANGING_UP;
	const char *stage = up->state == DIALING ? "start: " : shaking_hands ? "handshake: " : "";

	(void)mp_fail(&up->why, copy.code, "%s%s", stage, copy.message);
}

/* Tell everyone who waits for an answer, then see whether another try is due. */
static void transport_ended(void *u, const struct mcpool_error *why)
{
	struct mp_upstream *up = u;
	bool redial;

	note(up, why);
	mp_peer_lost(&up->peer, &up->why);
	mp_rounds_lost(&up->rounds, &up->why);
	redial = up->state == AGREEING && mp_agree_lost(&up->agree, why);
	advance(up, redial ? REDIAL : LOST);
}

static void transport_closed(void *u)
{
	struct mp_upstream *up = u;

	up->shut = true;
	advance(up, SHUT);
}

static const struct mp_transport_hooks transport_hooks = {
	.opened = transport_opened,
	.message = transport_message,
	.oversize = transport_oversize,
	.written = transport_written,
	.ended = transport_ended,
	.closed = transport_closed,
};

/* --- from the peer -------------------------------------------------------------------------- */

static int peer_send(void *u, struct mp_str text, uint64_t *ret_at)
{
	struct mp_upstream *up = u;

	return up->transport->impl->send(up->transport, text, ret_at);
}

enum { LEGACY_PLACE = -1 }; /* a question that came as a request of its own */

/* A legacy server's request. What was not declared is not answered. */
static void peer_request(void *u, mp_id call, const struct mp_message *m)
{
	struct mp_upstream *up = u;
	const struct mp_answerer *a = up->o.answerer;
	struct mp_question q = {
		.call = call,
		.place = (size_t)LEGACY_PLACE,
		.method = m->method,
		.params = mp_value_source(m->tape, m->params),
	};

	if (a && (m->method == MP_METHOD_ELICIT || m->method == MP_METHOD_SAMPLE ||
		  m->method == MP_METHOD_ROOTS_LIST))
		a->ask(a->u, &q);
	else
		mp_peer_refuse(&up->peer, call, -32601, MP_STR("this client does not do that"));
}

static void peer_withdrawn(void *u, mp_id call)
{
	struct mp_upstream *up = u;

	if (up->o.answerer && up->o.answerer->withdraw)
		up->o.answerer->withdraw(up->o.answerer->u, call);
}

static void peer_notification(void *u, const struct mp_message *m)
{
	struct mp_upstream *up = u;

	/* Some servers speak before they have answered initialize; that is not yet for anybody. */
	if (up->state == READY && up->hooks->notification)
		up->hooks->notification(up->u, m);
}

static const struct mp_peer_hooks peer_hooks = {
	.send = peer_send,
	.request = peer_request,
	.withdrawn = peer_withdrawn,
	.notification = peer_notification,
};

/* --- agreeing ------------------------------------------------------------------------------- */

static void remember(struct mp_upstream *up, enum mp_era era)
{
	if (up->o.verdicts)
		mp_verdicts_set(up->o.verdicts, up->o.launch_key, era,
				mp_loop_wall_now_ms(up->loop));
}

static void forget(struct mp_upstream *up)
{
	if (up->o.verdicts)
		mp_verdicts_forget(up->o.verdicts, up->o.launch_key);
}

static void agreed(void *u)
{
	struct mp_upstream *up = u;

	remember(up, up->agree.discovered ? MP_ERA_MODERN : MP_ERA_LEGACY);
	advance(up, AGREED);
}

static void disagreed(void *u, const struct mcpool_error *why)
{
	struct mp_upstream *up = u;

	forget(up);
	note(up, why);
	advance(up, FAILED);
}

static void turned_out_modern(void *u)
{
	remember(u, MP_ERA_MODERN);
}

static const struct mp_agree_hooks agree_hooks = {
	.agreed = agreed,
	.failed = disagreed,
	.turned_out_modern = turned_out_modern,
};

static enum mp_agree_way choose_way(const struct mp_upstream *up)
{
	enum mp_era known = MP_ERA_BOTH;

	if (up->o.eras == MP_ERA_LEGACY)
		return MP_AGREE_LEGACY;
	if (up->o.eras == MP_ERA_MODERN)
		return MP_AGREE_MODERN;
	if (up->o.verdicts)
		known = mp_verdicts_get(up->o.verdicts, up->o.launch_key,
					mp_loop_wall_now_ms(up->loop));
	return known == MP_ERA_LEGACY   ? MP_AGREE_NO_PROBE
	       : known == MP_ERA_MODERN ? MP_AGREE_EXPECT_MODERN
					: MP_AGREE_FIND_OUT;
}

static enum event begin_agreeing(struct mp_upstream *up)
{
	mp_agree_start(&up->agree, &up->peer, up->way);
	return QUIET;
}

/* --- the stations --------------------------------------------------------------------------- */

static enum event dial(struct mp_upstream *up)
{
	struct mcpool_error why;
	int r;

	up->dials++;
	r = up->o.dial(up->o.dial_u, &up->transport, &why);
	if (r == 0) {
		up->transport->hooks = &transport_hooks;
		up->transport->u = up;
		r = up->transport->impl->start(up->transport, &why);
	}
	if (r == 0)
		return QUIET;
	note(up, &why);
	return FAILED;
}

static enum event hang_up(struct mp_upstream *up)
{
	if (!up->transport || up->shut)
		return SHUT;
	up->transport->impl->close(up->transport);
	return QUIET;
}

/* The second life begins with initialize, and the verdict says so for the next time, too. */
static enum event forget_and_dial(struct mp_upstream *up)
{
	up->transport = mp_transport_free(up->transport);
	up->shut = false;
	mp_rounds_done(&up->rounds);
	mp_peer_done(&up->peer);
	mp_peer_init(&up->peer, up->loop, &peer_hooks, up);
	mp_rounds_init(&up->rounds, &up->peer, up->o.answerer);
	up->way = MP_AGREE_NO_PROBE;
	return dial(up);
}

static enum event tell_ready(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	if (up->hooks->ready)
		up->hooks->ready(up->u);
	return QUIET;
}

static void ended_later(void *u)
{
	struct mp_upstream *up = u;

	if (up->hooks->ended && up->state == OVER)
		up->hooks->ended(up->u, &up->why);
}

/*
 * Nothing can flow any more, so the server is let go at once (A33). Told at the end of the turn,
 * because a dial may fail from within open.
 */
static enum event tell_ended(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	if (up->transport && !up->shut)
		up->transport->impl->close(up->transport);
	mp_loop_post(up->loop, &up->ended_task);
	return QUIET;
}

static void closed_later(void *u)
{
	struct mp_upstream *up = u;

	if (up->hooks->closed)
		up->hooks->closed(up->u);
}

static enum event tell_closed(struct mp_upstream *up)
{
	mp_loop_post(up->loop, &up->closed_task);
	return QUIET;
}

static void time_is_up(void *u)
{
	struct mp_upstream *up = u;
	struct mcpool_error why;

	if (up->peer.counts.noise)
		(void)mp_fail(
			&why, MCPOOL_ETIMEDOUT,
			"no answer within %g s; it writes to stdout what is not MCP, such as '%s'",
			(double)up->o.timeout_ms / 1000, up->peer.counts.noise_sample);
	else
		(void)mp_fail(&why, MCPOOL_ETIMEDOUT, "no answer within %g s",
			      (double)up->o.timeout_ms / 1000);
	forget(up); /* it may be silent because the verdict is outdated */
	note(up, &why);
	mp_peer_lost(&up->peer, &up->why);
	advance(up, FAILED);
}

/* --- the outside ---------------------------------------------------------------------------- */

struct mp_upstream *mp_upstream_new(struct mp_loop *loop, const struct mp_upstream_options *options,
				    const struct mp_upstream_hooks *hooks, void *u)
{
	struct mp_upstream *up = mp_alloc(sizeof(*up));

	up->loop = loop;
	up->o = *options;
	up->launch_key = mp_alloc(options->launch_key.len + 1);
	if (options->launch_key.len)
		memcpy(up->launch_key, options->launch_key.p, options->launch_key.len);
	up->o.launch_key.p = up->launch_key;
	up->hooks = hooks;
	up->u = u;
	mp_peer_init(&up->peer, loop, &peer_hooks, up);
	mp_rounds_init(&up->rounds, &up->peer, options->answerer);
	mp_agree_init(&up->agree, loop, options->me, &agree_hooks, up);
	mp_timer_init(&up->timer, loop, time_is_up, up);
	mp_task_init(&up->ended_task, ended_later, up);
	mp_task_init(&up->closed_task, closed_later, up);
	return up;
}

/* Whoever waits for an answer gets one. */
static void end_calls(struct mp_upstream *up)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the conversation was closed");
	mp_peer_lost(&up->peer, &why);
	mp_rounds_lost(&up->rounds, &why);
}

static void free_upstream(struct mp_grave *grave)
{
	struct mp_upstream *up = mp_container_of(grave, struct mp_upstream, grave);

	mp_rounds_done(&up->rounds);
	mp_peer_done(&up->peer);
	mp_agree_done(&up->agree);
	mp_free(up->launch_key);
	mp_free(up);
}

struct mp_upstream *mp_upstream_free(struct mp_upstream *up)
{
	if (!up || mp_list_linked(&up->grave.link))
		return NULL;                               /* an answer from below does the same */
	mp_loop_bury(up->loop, &up->grave, free_upstream); /* an answer may be on its way up */
	advance(up, FREED);
	end_calls(up);
	up->transport = mp_transport_free(up->transport);
	mp_timer_stop(&up->timer);
	mp_timer_stop(&up->agree.silence);
	mp_loop_unpost(up->loop, &up->ended_task);
	mp_loop_unpost(up->loop, &up->closed_task);
	return NULL;
}

int mp_upstream_open(struct mp_upstream *up, struct mcpool_error *reterr)
{
	if (up->state != IDLE)
		return mp_fail(reterr, MCPOOL_EINVAL, "this upstream was opened before");
	up->way = choose_way(up);
	mp_timer_start(&up->timer, up->o.timeout_ms);
	advance(up, OPEN);
	return 0;
}

void mp_upstream_close(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	end_calls(up);
	advance(up, CLOSE);
}

int mp_upstream_call(struct mp_upstream *up, const struct mp_request *rq, mp_answer_fn fn, void *u,
		     mp_id *ret_call)
{
	struct mp_request full = *rq;
	int r;

	if (up->state != READY)
		return up->state < READY ? MCPOOL_EAGAIN : MCPOOL_ECLOSED;
	full.meta = mp_buf_get(&up->agree.meta);
	r = up->agree.hello.era == MP_ERA_LEGACY
		    ? mp_peer_call(&up->peer, rq, fn, u, ret_call)
		    : mp_rounds_call(&up->rounds, &full, fn, u, ret_call);
	up->deaf = up->deaf || r == MCPOOL_ECLOSED;
	return r;
}

void mp_upstream_cancel(struct mp_upstream *up, mp_id call)
{
	if (up->agree.hello.era == MP_ERA_MODERN)
		mp_rounds_cancel(&up->rounds, call);
	else
		mp_peer_cancel(&up->peer, call);
}

void mp_upstream_answer(struct mp_upstream *up, const struct mp_question *q, struct mp_str result)
{
	if (q->place != (size_t)LEGACY_PLACE)
		mp_rounds_answer(&up->rounds, q->call, q->place, result);
	else if (result.len)
		mp_peer_reply(&up->peer, q->call, result);
	else
		mp_peer_refuse(&up->peer, q->call, -1, MP_STR("the user declined"));
}

/* Not once it takes nothing, nor while its calls are being lost: whoever is told must not come
 * back.
 */
bool mp_upstream_is_ready(const struct mp_upstream *up)
{
	return up->state == READY && !up->deaf && !up->peer.lost;
}

const struct mp_hello *mp_upstream_get_hello(const struct mp_upstream *up)
{
	return &up->agree.hello;
}

const struct mp_peer_counts *mp_upstream_get_counts(const struct mp_upstream *up)
{
	return &up->peer.counts;
}

unsigned mp_upstream_count_dials(const struct mp_upstream *up)
{
	return up->dials;
}

int mp_upstream_get_pid(const struct mp_upstream *up)
{
	if (!up->transport || !up->transport->impl->get_pid)
		return 0;
	return up->transport->impl->get_pid(up->transport);
}

int64_t mp_upstream_get_opened_us(const struct mp_upstream *up)
{
	return up->opened_us;
}

int mp_upstream_get_tail(struct mp_upstream *up, size_t lines, struct mp_buf *out)
{
	if (!up->transport || !up->transport->impl->get_tail)
		return 0;
	return up->transport->impl->get_tail(up->transport, lines, out);
}
