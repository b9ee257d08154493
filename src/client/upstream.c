/*
 * upstream.c - one conversation with one server: dial, handshake, ready, drain.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/upstream.h"

#define UPSTREAM_EVENTS(X)                                       \
	X(OPEN, "open", "begin")                                 \
	X(OPENED, "opened", "the transport is open")             \
	X(AGREED, "agreed", "era and version are chosen")        \
	X(REDIAL, "redial", "gone, maybe because of the probe")  \
	X(FAILED, "failed", "it cannot be; why is written down") \
	X(LOST, "lost", "the server is gone")                    \
	X(CLOSE, "close", "hang up")                             \
	X(SHUT, "shut", "the transport is shut down")            \
	X(FREED, "freed", "its owner lets go of it")

MP_MACHINE_ENUM(upstream_event, UPSTREAM_EVENTS);
MP_MACHINE_TYPES(upstream, struct mp_upstream, enum upstream_event, MP_UPSTREAM_STATES,
		 UPSTREAM_EVENTS);
static upstream_action upstream_dial, begin_handshake, hang_up, tell_ready, tell_ended, tell_closed,
	forget_and_dial;

#define AT(state)      [MP_UPSTREAM_##state]
#define TO(state, act) MP_TO(MP_UPSTREAM_##state, act)

MP_MACHINE_STEPS(upstream) = {
	AT(IDLE) = {[OPEN] = TO(DIALING, upstream_dial),
		    [CLOSE] = TO(CLOSED, tell_closed),
		    [FREED] = TO(CLOSED, NULL)},
	AT(DIALING) = {[OPENED] = TO(HANDSHAKE, begin_handshake),
		       [FAILED] = TO(OVER, tell_ended),
		       [LOST] = TO(OVER, tell_ended),
		       [CLOSE] = TO(CLOSING, hang_up),
		       [FREED] = TO(CLOSED, NULL)},
	AT(HANDSHAKE) = {[AGREED] = TO(READY, tell_ready),
			 [REDIAL] = TO(HANGING_UP, hang_up),
			 [FAILED] = TO(OVER, tell_ended),
			 [LOST] = TO(OVER, tell_ended),
			 [CLOSE] = TO(CLOSING, hang_up),
			 [FREED] = TO(CLOSED, NULL)},
	AT(HANGING_UP) = {[SHUT] = TO(DIALING, forget_and_dial),
			  [FAILED] = TO(OVER, tell_ended),
			  [CLOSE] = TO(CLOSING, NULL),
			  [FREED] = TO(CLOSED, NULL)},
	AT(READY) = {[LOST] = TO(OVER, tell_ended),
		     [CLOSE] = TO(CLOSING, hang_up),
		     [FREED] = TO(CLOSED, NULL)},
	AT(OVER) = {[OPENED] = MP_STAY,
		    [AGREED] = MP_STAY,
		    [FAILED] = MP_STAY,
		    [LOST] = MP_STAY,
		    [SHUT] = MP_STAY,
		    [CLOSE] = TO(CLOSING, hang_up),
		    [FREED] = TO(CLOSED, NULL)},
	AT(CLOSING) = {[AGREED] = MP_STAY,
		       [FAILED] = MP_STAY,
		       [LOST] = MP_STAY,
		       [CLOSE] = MP_STAY,
		       [SHUT] = TO(CLOSED, tell_closed),
		       [FREED] = TO(CLOSED, NULL)},
	/* An answer may free it while it is being lost or closed. */
	AT(CLOSED) = {[LOST] = MP_STAY, [CLOSE] = MP_STAY, [FREED] = MP_STAY},
};

static void upstream_describe(const struct mp_upstream *up, struct mp_log *ret_log)
{
	if (up->o.log)
		*ret_log = *up->o.log;
}

MP_MACHINE(upstream, struct mp_upstream, .describe = upstream_describe)

/* --- from the transport --------------------------------------------------------------------- */

static void transport_opened(void *u)
{
	struct mp_upstream *up = u;

	up->opened_us = mp_loop_now_us(up->loop);
	upstream_advance(up, OPENED);
}

static void transport_message(void *u, struct mp_str text)
{
	struct mp_upstream *up = u;

	mp_log_trace(up->o.log, "< %.*s", MP_STR_ARGS(text)); /* redacted there (E56) */
	up->during = up->transport->during;
	mp_peer_receive(&up->peer, text);
	up->during = MP_STR("");
}

static void transport_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct mp_upstream *up = u;

	/* Not its head, which may end within a secret. */
	mp_log_trace(up->o.log, "< a message that is too long");
	mp_peer_receive_oversize(&up->peer, head, tail);
}

static void transport_written(void *u, uint64_t total)
{
	struct mp_upstream *up = u;

	mp_peer_written(&up->peer, total);
}

static void transport_sent(void *u, struct mp_str id)
{
	struct mp_upstream *up = u;

	mp_peer_sent(&up->peer, id);
}

static void transport_lost(void *u, struct mp_str id, enum mp_unanswered how,
			   const struct mcpool_error *why)
{
	static const enum mp_call_event events[] = {
		[MP_UNANSWERED_NOT_TAKEN] = MP_CALL_ON_UNTAKEN,
		[MP_UNANSWERED_UNKNOWN] = MP_CALL_ON_LOST,
		[MP_UNANSWERED_UNUSABLE] = MP_CALL_ON_GARBLED,
	};
	struct mp_upstream *up = u;

	mp_peer_lose(&up->peer, id, events[how], why);
}

static bool transport_is_open(void *u, struct mp_str id)
{
	struct mp_upstream *up = u;

	return mp_peer_find(&up->peer, id) != NULL;
}

static void transport_doubt(void *u, const char *why)
{
	struct mp_upstream *up = u;

	if (up->state == MP_UPSTREAM_READY && up->hooks->doubt)
		up->hooks->doubt(up->u, why);
}

/* What stage it was in, in front of the words. */
static void upstream_note(struct mp_upstream *up, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why;
	bool shaking_hands =
		up->state == MP_UPSTREAM_HANDSHAKE || up->state == MP_UPSTREAM_HANGING_UP;
	bool is_reached = copy.code != MCPOOL_EIO && copy.code != MCPOOL_EAGAIN;
	const char *stage = up->state == MP_UPSTREAM_DIALING ? "start: "
			    : shaking_hands && is_reached    ? "handshake: "
							     : "";

	(void)mp_fail_because(&up->why, copy.code, &copy, "%s%s", stage, copy.message);
}

/* Over HTTP a server that is not there, or that wants a login, did not die of anything. */
static bool may_be_probe(const struct mp_upstream *up, const struct mcpool_error *why)
{
	return !(up->transport->traits & MP_TRANSPORT_PER_REQUEST) || why->code == MCPOOL_ECLOSED;
}

/* Tell everyone who waits for an answer, then see whether another try is due. */
static void transport_ended(void *u, const struct mcpool_error *why)
{
	struct mp_upstream *up = u;
	bool redial;

	upstream_note(up, why);
	mp_peer_lost(&up->peer, &up->why);
	redial = up->state == MP_UPSTREAM_HANDSHAKE &&
		 mp_handshake_lost(&up->handshake, why, may_be_probe(up, why));
	upstream_advance(up, redial ? REDIAL : LOST);
}

static void transport_exited(void *u, int pid, const char *how)
{
	struct mp_upstream *up = u;

	if (up->hooks->exited)
		up->hooks->exited(up->u, pid, how);
}

static void transport_closed(void *u)
{
	struct mp_upstream *up = u;

	up->shut = true;
	upstream_advance(up, SHUT);
}

static int transport_param_headers(void *u, const struct mp_outgoing *o,
				   struct mp_http_fields *fields)
{
	struct mp_upstream *up = u;

	return mp_param_headers_write(&up->param_headers, o, fields);
}

static const struct mp_transport_hooks transport_hooks = {
	.opened = transport_opened,
	.message = transport_message,
	.oversize = transport_oversize,
	.written = transport_written,
	.sent = transport_sent,
	.lost = transport_lost,
	.is_open = transport_is_open,
	.doubt = transport_doubt,
	.param_headers = transport_param_headers,
	.exited = transport_exited,
	.ended = transport_ended,
	.closed = transport_closed,
};

/* --- handshake ------------------------------------------------------------------------------ */

static void upstream_remember(struct mp_upstream *up, enum mp_era era)
{
	if (up->o.era_cache)
		mp_era_cache_set(up->o.era_cache, up->o.launch_key, era,
				 mp_loop_wall_now_ms(up->loop));
}

static void upstream_forget(struct mp_upstream *up)
{
	if (up->o.era_cache)
		mp_era_cache_forget(up->o.era_cache, up->o.launch_key);
}

static void upstream_agreed(void *u)
{
	struct mp_upstream *up = u;

	if (!up->handshake.unsure)
		upstream_remember(up, up->handshake.discovered ? MP_ERA_MODERN : MP_ERA_LEGACY);
	upstream_advance(up, AGREED);
}

static void disagreed(void *u, const struct mcpool_error *why)
{
	struct mp_upstream *up = u;

	upstream_forget(up);
	upstream_note(up, why);
	upstream_advance(up, FAILED);
}

static void turned_out_modern(void *u)
{
	upstream_remember(u, MP_ERA_MODERN);
}

static const struct mp_handshake_hooks handshake_hooks = {
	.agreed = upstream_agreed,
	.failed = disagreed,
	.turned_out_modern = turned_out_modern,
};

static enum mp_handshake_way choose_way(const struct mp_upstream *up)
{
	enum mp_era known = MP_ERA_BOTH;

	if (up->o.eras == MP_ERA_LEGACY)
		return MP_HANDSHAKE_LEGACY;
	if (up->o.eras == MP_ERA_MODERN)
		return MP_HANDSHAKE_MODERN;
	if (up->o.era_cache)
		known = mp_era_cache_get(up->o.era_cache, up->o.launch_key,
					 mp_loop_wall_now_ms(up->loop));
	return known == MP_ERA_LEGACY   ? MP_HANDSHAKE_NO_PROBE
	       : known == MP_ERA_MODERN ? MP_HANDSHAKE_EXPECT_MODERN
					: MP_HANDSHAKE_FIND_OUT;
}

static enum upstream_event begin_handshake(struct mp_upstream *up)
{
	unsigned traits = up->transport->traits;
	enum mp_handshake_way way = up->way;

	/* Where each request is answered or lost, silence means nothing. */
	if (way == MP_HANDSHAKE_FIND_OUT && (traits & MP_TRANSPORT_PER_REQUEST))
		way = MP_HANDSHAKE_EXPECT_MODERN;
	if (way != MP_HANDSHAKE_MODERN && (traits & MP_TRANSPORT_LEGACY))
		way = MP_HANDSHAKE_LEGACY;
	up->handshake.declares = up->o.by_stream && !(traits & MP_TRANSPORT_PER_REQUEST)
					 ? MP_STR("")
					 : up->o.declares;
	mp_handshake_start(&up->handshake, &up->peer, way);
	return MP_QUIET;
}

/* --- the stations --------------------------------------------------------------------------- */

static enum upstream_event upstream_dial(struct mp_upstream *up)
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
		return MP_QUIET;
	upstream_note(up, &why);
	return FAILED;
}

static enum upstream_event hang_up(struct mp_upstream *up)
{
	if (!up->transport || up->shut)
		return SHUT;
	up->transport->impl->close(up->transport);
	return MP_QUIET;
}

static void begin_conversation(struct mp_upstream *up)
{
	mp_peer_init(&up->peer, up->loop, &mp_upstream_peer_hooks, up);
	up->peer.serves = up->o.answerer != NULL;
}

/* The second life begins with initialize, and the cache says so for the next time, too. */
static enum upstream_event forget_and_dial(struct mp_upstream *up)
{
	up->transport = mp_transport_free(up->transport);
	up->shut = false;
	mp_peer_done(&up->peer);
	begin_conversation(up);
	up->way = MP_HANDSHAKE_NO_PROBE;
	return upstream_dial(up);
}

static enum upstream_event tell_ready(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	if (up->hooks->ready)
		up->hooks->ready(up->u);
	return MP_QUIET;
}

static void ended_later(void *u)
{
	struct mp_upstream *up = u;

	if (up->hooks->ended && up->state == MP_UPSTREAM_OVER)
		up->hooks->ended(up->u, &up->why);
}

/*
 * Nothing can flow any more, so the server is let go at once (A33). Told at the end of the turn,
 * because a dial may fail from within open.
 */
static enum upstream_event tell_ended(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	if (up->transport && !up->shut)
		up->transport->impl->close(up->transport);
	mp_loop_post(up->loop, &up->ended_task);
	return MP_QUIET;
}

static void closed_later(void *u)
{
	struct mp_upstream *up = u;

	if (up->hooks->closed)
		up->hooks->closed(up->u);
}

static enum upstream_event tell_closed(struct mp_upstream *up)
{
	mp_loop_post(up->loop, &up->closed_task);
	return MP_QUIET;
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
	upstream_forget(up); /* it may be silent because the cached era is outdated */
	upstream_note(up, &why);
	mp_peer_lost(&up->peer, &up->why);
	upstream_advance(up, FAILED);
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
	begin_conversation(up);
	mp_param_headers_init(&up->param_headers);
	mp_buf_init(&up->meta, MP_LIMIT_MESSAGE);
	mp_handshake_init(&up->handshake, loop, options->me, &handshake_hooks, up);
	up->handshake.log = options->log;
	mp_timer_init(&up->timer, loop, time_is_up, up);
	mp_task_init(&up->ended_task, ended_later, up);
	mp_task_init(&up->closed_task, closed_later, up);
	return up;
}

/* Every open call gets an answer. */
static void end_calls(struct mp_upstream *up)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the conversation was closed");
	why.fault = MCPOOL_FAULT_CLOSED;
	mp_peer_lost(&up->peer, &why);
}

static void free_upstream(struct mp_grave *grave)
{
	struct mp_upstream *up = mp_container_of(grave, struct mp_upstream, grave);

	mp_peer_done(&up->peer);
	mp_handshake_done(&up->handshake);
	mp_param_headers_done(&up->param_headers);
	mp_buf_done(&up->meta);
	mp_free(up->launch_key);
	mp_free(up);
}

struct mp_upstream *mp_upstream_free(struct mp_upstream *up)
{
	if (!up || mp_list_linked(&up->grave.link))
		return NULL;                               /* an answer from below does the same */
	mp_loop_bury(up->loop, &up->grave, free_upstream); /* an answer may be on its way up */
	upstream_advance(up, FREED);
	mp_upstream_stop_relisting(up);
	end_calls(up);
	up->transport = mp_transport_free(up->transport);
	mp_timer_stop(&up->timer);
	mp_timer_stop(&up->handshake.silence);
	mp_loop_unpost(up->loop, &up->ended_task);
	mp_loop_unpost(up->loop, &up->closed_task);
	return NULL;
}

int mp_upstream_open(struct mp_upstream *up, struct mcpool_error *reterr)
{
	if (up->state != MP_UPSTREAM_IDLE)
		return mp_fail(reterr, MCPOOL_EINVAL, "this upstream was opened before");
	up->way = choose_way(up);
	if (up->o.timeout_ms > 0) /* 0: no limit */
		mp_timer_start(&up->timer, up->o.timeout_ms);
	upstream_advance(up, OPEN);
	return 0;
}

void mp_upstream_close(struct mp_upstream *up)
{
	mp_timer_stop(&up->timer);
	end_calls(up);
	upstream_advance(up, CLOSE);
}
