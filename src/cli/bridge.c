/*
 * bridge.c - between an agent and the hub: which hub, and what becomes of both when one goes.
 */
#include "cli/bridge.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/bridge_parts.h"
#include "face/greeting.h"
#include "rpc/message.h"
#include "rpc/salvage.h"

/* How soon to look again, and at most. */
enum {
	FIRST_LOOK_MS = 10,
	LAST_LOOK_MS = 250,
	HELLO_MS = 10000,
	LEAVE_MS = 5000,
	HEIR_MS = 3000,  /* for a newer hub to start, before we start one as old as we are */
	MAX_REPLACED = 3 /* hubs: somebody may start an old one while ours is on its way */
};

#define LISTS(X) X(tools, "tools") X(prompts, "prompts") X(resources, "resources")
#define OWN_ID   "\"mcpool-bridge-"

#define BRIDGE_EVENTS(X)                                                \
	X(TRAFFIC, "traffic", "somebody needs a hub")                   \
	X(FOUND, "found", "there is one")                               \
	X(NOBODY, "nobody", "there is none")                            \
	X(BUSY, "busy", "there is one, or will be, at any moment")      \
	X(FORBIDDEN, "forbidden", "what is there is not for us")        \
	X(READY, "ready", "the one that was started listens, or ended") \
	X(GREETED, "greeted", "it let us in")                           \
	X(OLDER, "older", "it is of an older version")                  \
	X(REFUSED, "refused", "it does not let us in; why is noted")    \
	X(LEAVES, "leaves", "it has given up its place")                \
	X(RESUMED, "resumed", "it knows all that it has to")            \
	X(BYE, "bye", "it is about to leave")                           \
	X(LOST, "lost", "the connection is over")                       \
	X(TIMER, "timer", "it is time to look again")                   \
	X(TOO_LONG, "too long", "nobody waits any longer")              \
	X(AGENT_GONE, "agent gone", "the agent is gone, or we are to go")

MP_MACHINE_ENUM(bridge_event, BRIDGE_EVENTS);
MP_MACHINE_TYPES(bridge, struct mp_bridge, enum bridge_event, MP_BRIDGE_STATES, BRIDGE_EVENTS);
static bridge_action seek, greet, start_hub, look_later, refuse_kept, look_again, start_again,
	resume, replace, ask_to_leave, look_anew, accept_older, start_ours, open_up, rest, leave;

#define AT(state)      [MP_BRIDGE_##state]
#define TO(state, act) MP_TO(MP_BRIDGE_##state, act)
#define GOES           [AGENT_GONE] = TO(LEAVING, leave)
#define NO_HUB         [TRAFFIC] = MP_STAY, [READY] = MP_STAY

MP_MACHINE_STEPS(bridge) = {
	AT(RESTING) = {[TRAFFIC] = TO(SEEKING, seek), [READY] = MP_STAY, [TIMER] = MP_STAY, GOES},
	AT(SEEKING) = {NO_HUB, [FOUND] = TO(GREETING, greet), [NOBODY] = TO(STARTING, start_hub),
		       [BUSY] = MP_DO(look_later), [FORBIDDEN] = TO(RESTING, refuse_kept),
		       [TIMER] = MP_DO(look_again), [TOO_LONG] = TO(RESTING, refuse_kept), GOES},
	AT(STARTING) = {[TRAFFIC] = MP_STAY,
			[READY] = MP_DO(look_again),
			[FOUND] = TO(GREETING, greet),
			[NOBODY] = MP_DO(start_again),
			[BUSY] = MP_DO(look_later),
			[FORBIDDEN] = TO(RESTING, refuse_kept),
			[TIMER] = MP_DO(look_again),
			[TOO_LONG] = TO(RESTING, refuse_kept),
			GOES},
	AT(GREETING) = {NO_HUB, [GREETED] = TO(RESUMING, resume), [OLDER] = TO(REPLACING, replace),
			[REFUSED] = TO(RESTING, refuse_kept), [BYE] = MP_STAY,
			[LOST] = TO(SEEKING, look_later), [TIMER] = TO(RESTING, refuse_kept), GOES},
	AT(REPLACING) = {NO_HUB, [OLDER] = MP_DO(ask_to_leave), [GREETED] = TO(SEEKING, look_anew),
			 [REFUSED] = TO(SEEKING, accept_older), [BYE] = MP_STAY,
			 [LEAVES] = TO(STARTING, start_ours), [LOST] = TO(STARTING, start_ours),
			 [TIMER] = TO(STARTING, start_ours), GOES},
	AT(RESUMING) = {NO_HUB, [RESUMED] = TO(OPEN, open_up), [BYE] = MP_STAY,
			[LOST] = TO(SEEKING, look_later), [TIMER] = TO(RESTING, refuse_kept), GOES},
	AT(OPEN) = {[TRAFFIC] = MP_STAY,
		    [READY] = MP_STAY,
		    [TIMER] = MP_STAY,
		    [BYE] = TO(DRAINING, NULL),
		    [LOST] = TO(SEEKING, seek),
		    GOES},
	AT(DRAINING) = {NO_HUB, [TIMER] = MP_STAY, [BYE] = MP_STAY, [LOST] = TO(RESTING, rest),
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
	struct mp_str id = mp_salvage_id(head, tail);

	if (id.len || mp_salvage_is_call(head))
		mp_bridge_answer(b, id, MCPOOL_ETOO_LARGE, "the message is larger than 32 MiB");
}

/* --- a hub ----------------------------------------------------------------------------------- */

static enum bridge_event try_to_connect(struct mp_bridge *b)
{
	switch (b->hooks->connect(b->u, &b->why)) {
	case 0:
		return FOUND;
	case MCPOOL_ENOENT: /* whoever replaced the last one is about to start the next */
		return b->hooks->now_ms(b->u) < b->heir_ms ? BUSY : NOBODY;
	case MCPOOL_EAGAIN:
		return BUSY;
	default:
		return FORBIDDEN;
	}
}

static enum bridge_event seek(struct mp_bridge *b)
{
	b->give_up_ms = b->hooks->now_ms(b->u) + MP_BRIDGE_WAIT_MS;
	b->look_ms = FIRST_LOOK_MS;
	return try_to_connect(b);
}

static enum bridge_event look_later(struct mp_bridge *b)
{
	int64_t left = b->give_up_ms - b->hooks->now_ms(b->u);

	b->hooks->set_timer(b->u, left < 0 ? 0 : left < b->look_ms ? left : b->look_ms);
	b->look_ms = 2 * b->look_ms < LAST_LOOK_MS ? 2 * b->look_ms : LAST_LOOK_MS;
	return MP_QUIET;
}

static enum bridge_event look_again(struct mp_bridge *b)
{
	if (b->hooks->now_ms(b->u) >= b->give_up_ms)
		return TOO_LONG;
	return try_to_connect(b);
}

/* Where somebody else is at it, theirs will do. */
static enum bridge_event start_hub(struct mp_bridge *b)
{
	int r = b->hooks->start_hub(b->u, &b->why);

	if (r < 0 && r != MCPOOL_EAGAIN)
		return FORBIDDEN;
	return look_later(b);
}

/* Nobody is there after all: the one we started may have lost, or died. */
static enum bridge_event start_again(struct mp_bridge *b)
{
	return b->look_ms >= LAST_LOOK_MS ? start_hub(b) : look_later(b);
}

static void say_hub(struct mp_bridge *b, struct mp_str line)
{
	b->queued += line.len + 1;
	b->hooks->say_hub(b->u, line);
}

static enum bridge_event greet(struct mp_bridge *b)
{
	b->queued = 0;
	say_hub(b, b->o.hello);
	b->hooks->set_timer(b->u, HELLO_MS);
	return MP_QUIET;
}

/* --- an older one ---------------------------------------------------------------------------- */

/* In its own protocol, whatever ours is: it is older, and cannot know. */
static void say_farewell(struct mp_bridge *b)
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
		say_hub(b, mp_buf_get(&text));
}

/* By another connection: what a bridge says is for its session. */
static enum bridge_event replace(struct mp_bridge *b)
{
	b->replaced++;
	b->asked_to_leave = false;
	b->hooks->hang_up(b->u);
	if (b->hooks->connect(b->u, &b->why) < 0)
		return LOST;
	b->queued = 0;
	say_farewell(b);
	b->hooks->set_timer(b->u, LEAVE_MS);
	return MP_QUIET;
}

/* It is the same one, or as old: another bridge may have been here before us. */
static enum bridge_event ask_to_leave(struct mp_bridge *b)
{
	b->asked_to_leave = true;
	say_hub(b, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"mcpool/shutdown\","
			  "\"params\":{\"drain\":true,\"replace\":true}}"));
	return MP_QUIET;
}

/* Somebody was here before us. */
static enum bridge_event look_anew(struct mp_bridge *b)
{
	b->hooks->hang_up(b->u);
	return try_to_connect(b);
}

/* It stays, for reasons of its own; it will do. */
static enum bridge_event accept_older(struct mp_bridge *b)
{
	b->replaced = MAX_REPLACED;
	return look_anew(b);
}

static enum bridge_event start_ours(struct mp_bridge *b)
{
	b->hooks->hang_up(b->u);
	b->look_ms = FIRST_LOOK_MS;
	return start_hub(b);
}

/* --- the session goes on --------------------------------------------------------------------- */

/* A request of the agent's, as ours: its answer is for us. */
static void replay(struct mp_bridge *b, const char *line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char id[48];

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(1));
	snprintf(id, sizeof(id), OWN_ID "%llu\"", (unsigned long long)++b->last_own);
	if (!line || mp_ledger_respell(mp_str_of(line), mp_str_of(id), &out) < 0)
		return;
	b->replays++;
	say_hub(b, mp_buf_get(&out));
}

/* What its agent said to the last one, and was answered. One that is modern said nothing. */
static enum bridge_event resume(struct mp_bridge *b)
{
	struct mp_ledger *l = &b->ledger;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	b->replays = 0;
	b->changed = 0;
	if (l->is_open) {
		replay(b, l->initialize);
		if (l->initialized)
			say_hub(b, mp_str_of(l->initialized));
		replay(b, l->level);
		while ((e = mp_map_next(&l->subscriptions, &cursor)))
			replay(b, e->value);
	}
	return b->replays ? MP_QUIET : RESUMED;
}

static void tell_changed(struct mp_bridge *b)
{
	int bit = 0;

	if (!b->was_open || !b->ledger.initialized)
		return;
#define X(name, word)                                                               \
	if (b->changed & (1u << bit++))                                             \
		b->hooks->say_agent(b->u, MP_STR("{\"jsonrpc\":\"2.0\",\"method\":" \
						 "\"notifications/" word "/list_changed\"}"));
	LISTS(X)
#undef X
}

/* All that waited goes out at once; from now on each line goes by itself. */
static enum bridge_event open_up(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	tell_changed(b);
	b->was_open = true;
	b->heir_ms = 0;
	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		if (p->is_kept)
			p->end += b->queued;
		p->is_kept = false;
	}
	if (b->kept.len)
		b->hooks->pour_to_hub(b->u, mp_buf_get(&b->kept));
	b->queued += b->kept.len;
	mp_buf_done(&b->kept);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
	return MP_QUIET;
}

/* Which lists the agent may hear of. */
static void note_capabilities(struct mp_bridge *b, struct mp_str line)
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

static enum bridge_event refuse_kept(struct mp_bridge *b)
{
	b->hooks->hang_up(b->u);
	b->hooks->set_timer(b->u, -1);
	mp_bridge_refuse_kept(b);
	return MP_QUIET;
}

/* It left in order. Whoever waits has a reason to look for the next one, or it is there already. */
static enum bridge_event rest(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	return b->kept.len || b->heir_ms ? TRAFFIC : MP_QUIET;
}

static enum bridge_event leave(struct mp_bridge *b)
{
	b->hooks->set_timer(b->u, -1);
	b->hooks->leave(b->u);
	return MP_QUIET;
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool flows(const struct mp_bridge *b, bool has_request)
{
	return b->state == MP_BRIDGE_OPEN || (b->state == MP_BRIDGE_DRAINING && !has_request);
}

/* Kept for the next hub, which is needed now. */
static void keep(struct mp_bridge *b, struct mp_str line, uint64_t end)
{
	if (mp_buf_reserve(&b->kept, line.len + 1) < 0 || mp_buf_add_str(&b->kept, line) < 0 ||
	    mp_buf_add_char(&b->kept, '\n') < 0)
		mp_bridge_refuse_one(b, end);
	else
		bridge_advance(b, TRAFFIC);
}

enum mp_bridge_verdict mp_bridge_from_agent(struct mp_bridge *b, struct mp_str line, size_t size)
{
	bool is_kept = b->state != MP_BRIDGE_OPEN, has_request;
	uint64_t end = is_kept ? b->kept.len + line.len + 1 : b->queued + size;

	if (!mp_ledger_note_sent(&b->ledger, line, end, is_kept, &has_request))
		return MP_BRIDGE_DROP;
	if (flows(b, has_request)) {
		b->queued += size;
		return MP_BRIDGE_PASS;
	}
	keep(b, line, end);
	return MP_BRIDGE_DROP;
}

/* Which of the three a hello was answered with. */
static enum bridge_event judge_greeting(struct mp_bridge *b, struct mp_str line)
{
	struct mp_greeting_answer a;

	if (mp_greeting_read_answer(line, &a, &b->why) < 0)
		return REFUSED;
	b->protocol = a.protocol;
	if (a.is_leaving) { /* as if nobody had answered */
		b->hooks->hang_up(b->u);
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

/* The answer to our hello as the command line, then the one to our request. */
static enum bridge_event judge_farewell(struct mp_bridge *b, struct mp_str line)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;

	mp_tape_init(&t, 0);
	if (!b->asked_to_leave)
		return judge_greeting(b, line);
	return mp_message_scan(&t, line, &m, &b->why) == 0 && m.kind == MP_MESSAGE_RESULT ? LEAVES
											  : REFUSED;
}

/* A hub that makes room for a newer one says so: that one is worth waiting for. */
static void hear_bye(struct mp_bridge *b, struct mp_str line)
{
	bool has_heir = mp_str_find(line, MP_STR("\"" MP_GREETING_REPLACED "\":true"), 0) >= 0;

	b->heir_ms = has_heir ? b->hooks->now_ms(b->u) + HEIR_MS : 0;
	bridge_advance(b, BYE);
}

static bool is_own_answer(struct mp_str line)
{
	static const struct mp_str begins = MP_STR("{\"jsonrpc\":\"2.0\",\"id\":" OWN_ID);

	return mp_str_starts(line, begins);
}

static enum mp_bridge_verdict hear_resumed(struct mp_bridge *b, struct mp_str line)
{
	note_capabilities(b, line);
	if (b->replays > 0 && --b->replays == 0)
		bridge_advance(b, RESUMED);
	return MP_BRIDGE_DROP;
}

enum mp_bridge_verdict mp_bridge_from_hub(struct mp_bridge *b, struct mp_str line)
{
	static const struct mp_str bye =
		MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"" MP_GREETING_BYE "\"");

	if (MP_UNLIKELY(mp_str_starts(line, bye))) {
		hear_bye(b, line);
		return MP_BRIDGE_DROP;
	}
	switch (b->state) {
	case MP_BRIDGE_GREETING:
		bridge_advance(b, judge_greeting(b, line));
		return MP_BRIDGE_DROP;
	case MP_BRIDGE_REPLACING:
		bridge_advance(b, judge_farewell(b, line));
		return MP_BRIDGE_DROP;
	case MP_BRIDGE_RESUMING:
		if (is_own_answer(line))
			return hear_resumed(b, line);
		break; /* a notification; the session is the agent's */
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
	mp_ledger_note_received(&b->ledger, line);
	return MP_BRIDGE_PASS;
}

/* --- the rest -------------------------------------------------------------------------------- */

void mp_bridge_lost(struct mp_bridge *b, uint64_t written, struct mp_str rest_of_it,
		    uint64_t rest_at)
{
	if (b->state == MP_BRIDGE_OPEN || b->state == MP_BRIDGE_DRAINING) {
		mp_bridge_keep_rest(b, written, rest_of_it, rest_at);
		mp_bridge_withdraw_questions(b);
	}
	b->queued = 0;
	bridge_advance(b, LOST);
}

void mp_bridge_begin(struct mp_bridge *b)
{
	bridge_advance(b, TRAFFIC);
}

void mp_bridge_is_ready(struct mp_bridge *b)
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
	mp_ledger_init(&b->ledger);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
	return b;
}

struct mp_bridge *mp_bridge_free(struct mp_bridge *b)
{
	if (!b)
		return NULL;
	mp_ledger_done(&b->ledger);
	mp_buf_done(&b->kept);
	return mp_free(b);
}
