/*
 * bridge.c - the bridge's state machine: finds, starts and replaces hubs, forwards lines, and moves
 * the session to the next hub when one is lost.
 */
#include "bridge/bridge.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "face/greeting.h"
#include "rpc/message.h"
#include "rpc/recover_id.h"

enum {
	FIRST_RETRY_MS = 10,
	LAST_RETRY_MS = 250,
	HELLO_MS = 10000,
	LEAVE_MS = 5000,
	SUCCESSOR_MS = 3000, /* time for a newer hub to start before we start our own version */
	MAX_REPLACED = 3     /* an old program may start hubs while ours is starting */
};

#define LISTS(X) X(tools, "tools") X(prompts, "prompts") X(resources, "resources")
#define OWN_ID   "\"mcpool-bridge-"

#define BRIDGE_EVENTS(X)                                           \
	X(TRAFFIC, "traffic", "a message needs a hub")             \
	X(FOUND, "found", "connected to a hub")                    \
	X(ABSENT, "absent", "no hub listens")                      \
	X(BUSY, "busy", "a hub is about to listen")                \
	X(FORBIDDEN, "forbidden", "the hub is not ours to use")    \
	X(READY, "ready", "the started hub listens, or has ended") \
	X(GREETED, "greeted", "the hub accepted the hello")        \
	X(OLDER, "older", "the hub is of an older version")        \
	X(REFUSED, "refused", "the hub rejected the hello")        \
	X(LEAVES, "leaves", "the hub shuts down")                  \
	X(RESUMED, "resumed", "the hub has the session's state")   \
	X(BYE, "bye", "the hub announced its end")                 \
	X(LOST, "lost", "the connection was closed")               \
	X(TIMER, "timer", "the timer expired")                     \
	X(TOO_LONG, "too long", "waiting requests have timed out") \
	X(AGENT_GONE, "agent gone", "the agent has gone, or a signal arrived")

MP_MACHINE_ENUM(bridge_event, BRIDGE_EVENTS);
MP_MACHINE_TYPES(bridge, struct mp_bridge, enum bridge_event, MP_BRIDGE_STATES, BRIDGE_EVENTS);
static bridge_action hub_seek, hub_greet, hub_start, hub_retry_later, kept_refuse, hub_retry,
	hub_start_again, session_resume, hub_replace, hub_request_shutdown, hub_reconnect,
	hub_accept_older, hub_start_ours, session_open, bye_return, hub_leave, bridge_rest,
	bridge_leave;

#define AT(state)      [MP_BRIDGE_##state]
#define TO(state, act) MP_TO(MP_BRIDGE_##state, act)
#define GOES           [AGENT_GONE] = TO(LEAVING, bridge_leave)
#define NO_HUB         [TRAFFIC] = MP_STAY, [READY] = MP_STAY

MP_MACHINE_STEPS(bridge) = {
	AT(RESTING) =
		{[TRAFFIC] = TO(SEEKING, hub_seek), [READY] = MP_STAY, [TIMER] = MP_STAY, GOES},
	AT(SEEKING) =
		{NO_HUB, [FOUND] = TO(GREETING, hub_greet), [ABSENT] = TO(STARTING, hub_start),
		 [BUSY] = MP_DO(hub_retry_later), [FORBIDDEN] = TO(RESTING, kept_refuse),
		 [TIMER] = MP_DO(hub_retry), [TOO_LONG] = TO(RESTING, kept_refuse), GOES},
	AT(STARTING) = {[TRAFFIC] = MP_STAY,
			[READY] = MP_DO(hub_retry),
			[FOUND] = TO(GREETING, hub_greet),
			[ABSENT] = MP_DO(hub_start_again),
			[BUSY] = MP_DO(hub_retry_later),
			[FORBIDDEN] = TO(RESTING, kept_refuse),
			[TIMER] = MP_DO(hub_retry),
			[TOO_LONG] = TO(RESTING, kept_refuse),
			GOES},
	AT(GREETING) = {NO_HUB, [GREETED] = TO(RESUMING, session_resume),
			[OLDER] = TO(REPLACING, hub_replace), [REFUSED] = TO(RESTING, kept_refuse),
			[BYE] = MP_STAY, [LOST] = TO(SEEKING, hub_retry_later),
			[TIMER] = TO(RESTING, kept_refuse), GOES},
	AT(REPLACING) =
		{NO_HUB, [OLDER] = MP_DO(hub_request_shutdown),
		 [GREETED] = TO(SEEKING, hub_reconnect), [REFUSED] = TO(SEEKING, hub_accept_older),
		 [BYE] = MP_STAY, [LEAVES] = TO(STARTING, hub_start_ours),
		 [LOST] = TO(STARTING, hub_start_ours), [TIMER] = TO(STARTING, hub_start_ours),
		 GOES},
	AT(RESUMING) = {NO_HUB, [RESUMED] = TO(OPEN, session_open), [BYE] = TO(SEEKING, hub_leave),
			[LOST] = TO(SEEKING, hub_retry_later), [TIMER] = TO(RESTING, kept_refuse),
			GOES},
	AT(OPEN) = {[TRAFFIC] = MP_STAY,
		    [READY] = MP_STAY,
		    [TIMER] = MP_STAY,
		    [BYE] = TO(DRAINING, bye_return),
		    [LOST] = TO(SEEKING, hub_seek),
		    GOES},
	AT(DRAINING) =
		{NO_HUB, [TIMER] = MP_STAY, [BYE] = MP_STAY, [LOST] = TO(RESTING, bridge_rest),
		 GOES},
	AT(LEAVING) = {[TRAFFIC] = MP_STAY,
		       [READY] = MP_STAY,
		       [TIMER] = MP_STAY,
		       [BYE] = MP_STAY,
		       [LOST] = MP_STAY,
		       [AGENT_GONE] = MP_STAY},
};

MP_MACHINE(bridge, struct mp_bridge)

void mp_bridge_refuse_oversize(struct mp_bridge *b, struct mp_str head, struct mp_str tail)
{
	struct mp_str id = mp_recover_id(head, tail);

	if (id.len || mp_recover_id_is_call(head))
		mp_bridge_answer(b, id, MCPOOL_ETOO_LARGE, "the message is larger than 32 MiB");
}

/* --- a hub ----------------------------------------------------------------------------------- */

static enum bridge_event hub_try(struct mp_bridge *b)
{
	switch (b->hooks->connect(b->u, &b->why)) {
	case 0:
		return FOUND;
	case MCPOOL_ENOENT: /* the bridge that replaced the last hub starts the next */
		return b->hooks->now_ms(b->u) < b->successor_ms ? BUSY : ABSENT;
	case MCPOOL_EAGAIN:
		return BUSY;
	default:
		return FORBIDDEN;
	}
}

static enum bridge_event hub_seek(struct mp_bridge *b)
{
	b->give_up_ms = b->hooks->now_ms(b->u) + MP_BRIDGE_WAIT_MS;
	b->retry_ms = FIRST_RETRY_MS;
	return hub_try(b);
}

static enum bridge_event hub_retry_later(struct mp_bridge *b)
{
	int64_t left = b->give_up_ms - b->hooks->now_ms(b->u);

	b->hooks->set_timer(b->u, left < 0 ? 0 : left < b->retry_ms ? left : b->retry_ms);
	b->retry_ms = 2 * b->retry_ms < LAST_RETRY_MS ? 2 * b->retry_ms : LAST_RETRY_MS;
	return MP_QUIET;
}

static enum bridge_event hub_retry(struct mp_bridge *b)
{
	if (b->hooks->now_ms(b->u) >= b->give_up_ms)
		return TOO_LONG;
	return hub_try(b);
}

/* MCPOOL_EAGAIN: another process starts one, which is as good. */
static enum bridge_event hub_start(struct mp_bridge *b)
{
	int r = b->hooks->start_hub(b->u, &b->why);

	if (r < 0 && r != MCPOOL_EAGAIN)
		return FORBIDDEN;
	return hub_retry_later(b);
}

/* Still no hub: ours may have lost the election or died. */
static enum bridge_event hub_start_again(struct mp_bridge *b)
{
	return b->retry_ms >= LAST_RETRY_MS ? hub_start(b) : hub_retry_later(b);
}

static void hub_send(struct mp_bridge *b, struct mp_str line)
{
	b->queued += line.len + 1;
	b->hooks->send_hub(b->u, line);
}

static enum bridge_event hub_greet(struct mp_bridge *b)
{
	b->queued = 0;
	hub_send(b, b->o.hello);
	b->hooks->set_timer(b->u, HELLO_MS);
	return MP_QUIET;
}

/* --- an older hub ---------------------------------------------------------------------------- */

/* In the hub's own protocol version: an older hub does not know ours. */
static void hub_send_control_hello(struct mp_bridge *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_greeting g = {
		.protocol = b->protocol,
		.version = b->o.version,
		.role = MP_GREETING_CONTROL,
		.pid = (int64_t)getpid(),
	};

	mp_buf_init(&text, MP_KIB(4));
	if (mp_greeting_write(&text, &g, NULL) == 0)
		hub_send(b, mp_buf_get(&text));
}

/* By a control connection: lines of a bridge belong to its session. */
static enum bridge_event hub_replace(struct mp_bridge *b)
{
	b->replaced++;
	b->shutdown_sent = false;
	b->hooks->disconnect(b->u);
	if (b->hooks->connect(b->u, &b->why) < 0)
		return LOST;
	b->queued = 0;
	hub_send_control_hello(b);
	b->hooks->set_timer(b->u, LEAVE_MS);
	return MP_QUIET;
}

/* Checked again on this connection: another bridge may have replaced the hub meanwhile. */
static enum bridge_event hub_request_shutdown(struct mp_bridge *b)
{
	b->shutdown_sent = true;
	hub_send(b, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"mcpool/shutdown\","
			   "\"params\":{\"drain\":true,\"replace\":true}}"));
	return MP_QUIET;
}

/* Another bridge has replaced it already. */
static enum bridge_event hub_reconnect(struct mp_bridge *b)
{
	b->hooks->disconnect(b->u);
	return hub_try(b);
}

/* It refuses to shut down, so it is used as it is. */
static enum bridge_event hub_accept_older(struct mp_bridge *b)
{
	b->replaced = MAX_REPLACED;
	return hub_reconnect(b);
}

static enum bridge_event hub_start_ours(struct mp_bridge *b)
{
	b->hooks->disconnect(b->u);
	b->retry_ms = FIRST_RETRY_MS;
	return hub_start(b);
}

/* --- moving the session ---------------------------------------------------------------------- */

/* Send a request of the agent again with an id of ours, so that the answer comes to us. */
static void session_replay(struct mp_bridge *b, const char *line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char id[48];

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(1));
	snprintf(id, sizeof(id), OWN_ID "%llu\"", (unsigned long long)++b->last_own);
	if (!line || mp_inflight_replace_id(mp_str_of(line), mp_str_of(id), &out) < 0)
		return;
	b->replays++;
	hub_send(b, mp_buf_get(&out));
}

/* Repeat what a legacy agent said to the last hub; a modern session has no such state. */
static enum bridge_event session_resume(struct mp_bridge *b)
{
	struct mp_inflight *f = &b->inflight;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	b->replays = 0;
	b->changed = 0;
	if (f->is_open) {
		session_replay(b, f->initialize);
		if (f->initialized)
			hub_send(b, mp_str_of(f->initialized));
		session_replay(b, f->level);
		while ((e = mp_map_next(&f->subscriptions, &cursor)))
			session_replay(b, e->value);
	}
	return b->replays ? MP_QUIET : RESUMED;
}

static void lists_announce(struct mp_bridge *b)
{
	int bit = 0;

	if (!b->was_open || !b->inflight.initialized)
		return;
#define X(name, word)                                                                \
	if (b->changed & (1u << bit++))                                              \
		b->hooks->send_agent(b->u, MP_STR("{\"jsonrpc\":\"2.0\",\"method\":" \
						  "\"notifications/" word "/list_changed\"}"));
	LISTS(X)
#undef X
}

/* Send all that waited; from now on lines are forwarded as they come. */
static enum bridge_event session_open(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	lists_announce(b);
	b->was_open = true;
	b->successor_ms = 0;
	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		if (f->is_kept)
			f->end += b->queued;
		f->is_kept = false;
	}
	if (b->kept.len)
		b->hooks->send_hub_lines(b->u, mp_buf_get(&b->kept));
	b->queued += b->kept.len;
	mp_buf_done(&b->kept);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
	return MP_QUIET;
}

/* Tells the hub that no request follows: it serves all that came before, and then ends. */
static enum bridge_event bye_return(struct mp_bridge *b)
{
	hub_send(b, MP_STR(MP_GREETING_BYE_START "}"));
	return MP_QUIET;
}

/* It has none of the agent's requests yet. */
static enum bridge_event hub_leave(struct mp_bridge *b)
{
	b->hooks->disconnect(b->u);
	return hub_retry_later(b);
}

/* Which lists the new hub announces changes of. */
static void lists_note(struct mp_bridge *b, struct mp_str line)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value caps;
	int bit = 0;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, line, NULL) < 0)
		return;
	caps = mp_value_get(&t, mp_value_get(&t, MP_ROOT, "result"), "capabilities");
	if (caps == MP_NONE)
		return;
#define X(name, word)                                                                      \
	if (mp_value_is(&t, mp_value_get(&t, mp_value_get(&t, caps, word), "listChanged"), \
			MP_TAPE_TRUE))                                                     \
		b->changed |= 1u << bit;                                                   \
	bit++;
	LISTS(X)
#undef X
}

/* --- without a hub --------------------------------------------------------------------------- */

static enum bridge_event kept_refuse(struct mp_bridge *b)
{
	b->hooks->disconnect(b->u);
	b->hooks->set_timer(b->u, -1);
	mp_bridge_refuse_kept(b);
	return MP_QUIET;
}

/* The hub shut down in order. Look for the next one if lines wait or a successor was announced. */
static enum bridge_event bridge_rest(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	return b->kept.len || b->successor_ms ? TRAFFIC : MP_QUIET;
}

static enum bridge_event bridge_leave(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	b->hooks->leave(b->u);
	return MP_QUIET;
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool line_may_pass(const struct mp_bridge *b, bool has_request)
{
	return b->state == MP_BRIDGE_OPEN || (b->state == MP_BRIDGE_DRAINING && !has_request);
}

/* Keep the line for the next hub, and look for one. */
static void line_keep(struct mp_bridge *b, struct mp_str line, uint64_t end)
{
	if (mp_buf_reserve(&b->kept, line.len + 1) < 0 || mp_buf_add_str(&b->kept, line) < 0 ||
	    mp_buf_add_char(&b->kept, '\n') < 0)
		mp_bridge_refuse_one(b, end);
	else
		bridge_advance(b, TRAFFIC);
}

enum mp_bridge_action mp_bridge_from_agent(struct mp_bridge *b, struct mp_str line, size_t size)
{
	bool is_kept = b->state != MP_BRIDGE_OPEN, has_request;
	uint64_t end = is_kept ? b->kept.len + line.len + 1 : b->queued + size;

	if (!mp_inflight_note_sent(&b->inflight, line, end, is_kept, &has_request))
		return MP_BRIDGE_DROP;
	if (line_may_pass(b, has_request)) {
		b->queued += size;
		return MP_BRIDGE_FORWARD;
	}
	line_keep(b, line, end);
	return MP_BRIDGE_DROP;
}

/* What the answer to our hello means. */
static enum bridge_event greeting_judge(struct mp_bridge *b, struct mp_str line)
{
	struct mp_greeting_answer a;

	if (mp_greeting_read_answer(line, &a, &b->why) < 0)
		return REFUSED;
	b->protocol = a.protocol;
	if (a.is_leaving) { /* it shuts down: treat it as lost */
		b->hooks->disconnect(b->u);
		return LOST;
	}
	if (a.version[0] && mp_str_compare_versions(a.version, b->o.version) < 0 &&
	    (b->state == MP_BRIDGE_REPLACING || b->replaced < MAX_REPLACED))
		return OLDER;
	if (!a.is_refused)
		return GREETED;
	b->why = a.why;
	return REFUSED;
}

/* First the answer to our control hello, then to mcpool/shutdown. */
static enum bridge_event shutdown_judge(struct mp_bridge *b, struct mp_str line)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;

	mp_tape_init(&t, 0);
	if (!b->shutdown_sent)
		return greeting_judge(b, line);
	return mp_message_scan(&t, line, &m, &b->why) == 0 && m.kind == MP_MESSAGE_RESULT ? LEAVES
											  : REFUSED;
}

/* A hub that is replaced by a newer one says so; the newer one is worth waiting for. */
static void bye_note(struct mp_bridge *b, struct mp_str line)
{
	bool has_successor = mp_str_find(line, MP_STR("\"" MP_GREETING_REPLACED "\":true"), 0) >= 0;

	b->successor_ms = has_successor ? b->hooks->now_ms(b->u) + SUCCESSOR_MS : 0;
	bridge_advance(b, BYE);
}

static bool line_is_own_answer(struct mp_str line)
{
	static const struct mp_str begins = MP_STR("{\"jsonrpc\":\"2.0\",\"id\":" OWN_ID);

	return mp_str_starts(line, begins);
}

static enum mp_bridge_action replay_note(struct mp_bridge *b, struct mp_str line)
{
	lists_note(b, line);
	if (b->replays > 0 && --b->replays == 0)
		bridge_advance(b, RESUMED);
	return MP_BRIDGE_DROP;
}

enum mp_bridge_action mp_bridge_from_hub(struct mp_bridge *b, struct mp_str line)
{
	if (MP_UNLIKELY(mp_str_starts(line, MP_STR(MP_GREETING_BYE_START)))) {
		bye_note(b, line);
		return MP_BRIDGE_DROP;
	}
	switch (b->state) {
	case MP_BRIDGE_GREETING:
		bridge_advance(b, greeting_judge(b, line));
		return MP_BRIDGE_DROP;
	case MP_BRIDGE_REPLACING:
		bridge_advance(b, shutdown_judge(b, line));
		return MP_BRIDGE_DROP;
	case MP_BRIDGE_RESUMING:
		if (line_is_own_answer(line))
			return replay_note(b, line);
		break; /* a notification for the agent */
	case MP_BRIDGE_OPEN:
	case MP_BRIDGE_DRAINING:
		break;
	case MP_BRIDGE_RESTING:
	case MP_BRIDGE_SEEKING:
	case MP_BRIDGE_STARTING:
	case MP_BRIDGE_LEAVING:
	case MP_BRIDGE_STATE_COUNT:
		return MP_BRIDGE_DROP;
	}
	mp_inflight_note_received(&b->inflight, line);
	return MP_BRIDGE_FORWARD;
}

/* --- the rest -------------------------------------------------------------------------------- */

void mp_bridge_lost(struct mp_bridge *b, uint64_t written, struct mp_str rest_of_it,
		    uint64_t rest_at)
{
	if (b->state == MP_BRIDGE_OPEN || b->state == MP_BRIDGE_DRAINING) {
		mp_bridge_keep_unsent(b, written, rest_of_it, rest_at);
		mp_bridge_cancel_server_requests(b);
	}
	b->queued = 0;
	bridge_advance(b, LOST);
}

void mp_bridge_start(struct mp_bridge *b)
{
	bridge_advance(b, TRAFFIC);
}

void mp_bridge_hub_ready(struct mp_bridge *b)
{
	bridge_advance(b, READY);
}

void mp_bridge_timer(struct mp_bridge *b)
{
	bridge_advance(b, TIMER);
}

void mp_bridge_agent_gone(struct mp_bridge *b)
{
	bridge_advance(b, AGENT_GONE);
}

bool mp_bridge_wants_more(const struct mp_bridge *b)
{
	return b->kept.len < MP_BRIDGE_MAX_KEPT;
}

enum mp_bridge_state mp_bridge_get_state(const struct mp_bridge *b)
{
	return b->state;
}

struct mp_bridge *mp_bridge_new(const struct mp_bridge_options *o,
				const struct mp_bridge_hooks *hooks, void *u)
{
	struct mp_bridge *b = mp_alloc(sizeof(*b));

	b->o = *o;
	b->hooks = hooks;
	b->u = u;
	mp_inflight_init(&b->inflight);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
	return b;
}

struct mp_bridge *mp_bridge_free(struct mp_bridge *b)
{
	if (!b)
		return NULL;
	mp_inflight_done(&b->inflight);
	mp_buf_done(&b->kept);
	return mp_free(b);
}
