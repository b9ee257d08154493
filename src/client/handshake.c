/*
 * handshake.c - chooses era, revision and capabilities at the start of a conversation.
 * The facts behind the table were measured with real servers: SDK 1.x answers discover with -32601
 * and then initialize as usual; a dual-era server that has seen initialize stays legacy; some
 * servers on older Rust SDKs exit on anything but initialize; some ignore what they do not know.
 */
#include "client/handshake.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"

#define HANDSHAKE_STATES(X)                                                     \
	X(IDLE, "idle", "nothing was said")                                     \
	X(PROBING, "probing", "discover was written, nothing else")             \
	X(BOTH, "both", "discover met silence, initialize was written too")     \
	X(INITIALIZING, "initializing", "only the answer to initialize counts") \
	X(AGREED, "agreed", "era and version are chosen")                       \
	X(FAILED, "failed", "no common version, or the server is gone")

#define HANDSHAKE_EVENTS(X)                                                              \
	X(PROBE, "probe", "find out")                                                    \
	X(SKIP, "skip", "legacy from the start")                                         \
	X(DISCOVERED, "discovered", "discover was answered, with a version of ours")     \
	X(NO_MODERN, "no modern", "discover was answered, but with no use")              \
	X(AGAIN, "again", "discover was refused, with a version of ours in the list")    \
	X(SILENT, "silent", "no answer to discover for a while")                         \
	X(INITIALIZED, "initialized", "initialize was answered, with a version of ours") \
	X(REFUSED, "refused", "initialize was answered, but with no use")                \
	X(LOST, "lost", "the server is gone")

MP_MACHINE_ENUM(handshake_state, HANDSHAKE_STATES);
MP_MACHINE_ENUM(handshake_event, HANDSHAKE_EVENTS);
MP_MACHINE_TYPES(handshake, struct mp_handshake, enum handshake_event, HANDSHAKE_STATES,
		 HANDSHAKE_EVENTS);
static handshake_action send_discover, repeat_discover, send_initialize, settle_modern,
	settle_legacy, go_legacy, fall_back_to_modern, note_modern, give_up;
static enum handshake_event try_modern_after_all(struct mp_handshake *a);

MP_MACHINE_STEPS(handshake) = {
	[IDLE] = {[PROBE] = MP_TO(PROBING, send_discover),
		  [SKIP] = MP_TO(INITIALIZING, send_initialize),
		  [LOST] = MP_TO(FAILED, give_up)},
	[PROBING] = {[DISCOVERED] = MP_TO(AGREED, settle_modern),
		     [NO_MODERN] = MP_TO(INITIALIZING, go_legacy),
		     [AGAIN] = MP_DO(repeat_discover),
		     [SILENT] = MP_TO(BOTH, send_initialize),
		     [LOST] = MP_TO(FAILED, give_up)},
	/* Discovered after all: if it now refuses initialize, it is modern. */
	[BOTH] = {[DISCOVERED] = MP_STAY,
		  [NO_MODERN] = MP_TO(INITIALIZING, NULL),
		  [AGAIN] = MP_DO(send_discover),
		  [INITIALIZED] = MP_TO(AGREED, settle_legacy),
		  [REFUSED] = MP_TO(FAILED, fall_back_to_modern),
		  [LOST] = MP_TO(FAILED, give_up)},
	[INITIALIZING] = {[DISCOVERED] = MP_STAY,
			  [NO_MODERN] = MP_STAY,
			  [AGAIN] = MP_STAY,
			  [INITIALIZED] = MP_TO(AGREED, settle_legacy),
			  [REFUSED] = MP_TO(FAILED, fall_back_to_modern),
			  [LOST] = MP_TO(FAILED, give_up)},
	[AGREED] = {[DISCOVERED] = MP_DO(note_modern),
		    [NO_MODERN] = MP_STAY,
		    [AGAIN] = MP_STAY,
		    [LOST] = MP_STAY},
	[FAILED] = {[PROBE] = MP_TO(PROBING, send_discover),
		    [SKIP] = MP_TO(INITIALIZING, send_initialize),
		    [DISCOVERED] = MP_TO(AGREED, settle_modern),
		    [NO_MODERN] = MP_STAY,
		    [AGAIN] = MP_STAY,
		    [INITIALIZED] = MP_STAY,
		    [REFUSED] = MP_STAY,
		    [LOST] = MP_STAY},
};

static void handshake_describe(const struct mp_handshake *a, struct mp_log *ret_log)
{
	if (a->log)
		*ret_log = *a->log;
}

MP_MACHINE(handshake, struct mp_handshake, .describe = handshake_describe)

/* --- what is sent, and what comes back ------------------------------------------------------ */

static enum handshake_event handshake_fail(struct mp_handshake *a)
{
	a->hooks->failed(a->u, &a->why);
	return MP_QUIET;
}

/* An error of the server, in our words. */
static void note_refusal(struct mp_handshake *a, const char *method, const struct mp_message *m)
{
	struct mp_str words = mp_error_read_words(m, &a->arena);
	struct mp_str supported = mp_modern_read_supported(m);

	(void)mp_fail(&a->why, MCPOOL_EPROTO, "the server refused %s: %.*s (%lld)%s%.*s", method,
		      MP_STR_ARGS(words), (long long)mp_error_read_code(m),
		      supported.len ? "; it speaks " : "", MP_STR_ARGS(supported));
	a->why.fault = MCPOOL_FAULT_JSON_RPC;
}

static bool is_result(const struct mp_answer *answer)
{
	return answer->outcome == MP_OUTCOME_ANSWERED && answer->message->kind == MP_MESSAGE_RESULT;
}

static bool is_lost(const struct mp_answer *answer)
{
	return answer->outcome == MP_OUTCOME_UNKNOWN || answer->outcome == MP_OUTCOME_NOT_SENT;
}

/*
 * Lost alone, where each request goes its own way: an outage, which says nothing about eras. Lost
 * with everything else: mp_handshake_lost() says the rest.
 */
static bool is_outage(struct mp_handshake *a, const struct mp_answer *answer)
{
	if (a->peer->lost)
		return false;
	a->why = *answer->error;
	if (answer->outcome == MP_OUTCOME_UNKNOWN)
		(void)mp_fail_because(&a->why, MCPOOL_EIO, answer->error, "%s",
				      answer->error->message);
	return true;
}

static void break_off(struct mp_handshake *a)
{
	handshake_advance(a, LOST);
	(void)handshake_fail(a);
}

/* With initialize on its way, too, that one tells. */
static void lose_discover(struct mp_handshake *a, const struct mp_answer *answer)
{
	if (!is_outage(a, answer))
		return;
	if (a->state == PROBING)
		break_off(a);
	else
		handshake_advance(a, NO_MODERN);
}

static struct mp_handshake *handshake_of(struct mp_call *c)
{
	return mp_container_of(c, struct mp_handshake_call, call)->handshake;
}

static void take_discover(struct mp_call *c, const struct mp_answer *answer)
{
	struct mp_handshake *a = handshake_of(c);
	bool refused;

	mp_timer_stop(&a->silence);
	if (is_lost(answer)) {
		lose_discover(a, answer);
		return;
	}
	if (is_result(answer)) {
		a->discovered = mp_modern_read_discover(answer->message, &a->arena,
							&a->modern_hello, &a->why) == 0;
	} else if (answer->outcome != MP_OUTCOME_ANSWERED) {
		a->why = *answer->error;
		a->unsure = a->why.code == MCPOOL_EIO;
	} else {
		note_refusal(a, "server/discover", answer->message);
		if (mp_modern_may_retry(answer->message, &refused) && !a->retried) {
			a->retried = true;
			handshake_advance(a, AGAIN);
			return;
		}
		/* A pinned server without discover is spoken to all the same (mcp-spec 3.2). */
		if (a->pinned && mp_error_read_code(answer->message) == -32601) {
			a->modern_hello = (struct mp_hello){.era = MP_ERA_MODERN,
							    .version = MP_STR(MP_MODERN_VERSION),
							    .capabilities = MP_STR("{}"),
							    .offers = ~0u};
			a->discovered = true;
		}
	}
	handshake_advance(a, a->discovered ? DISCOVERED : NO_MODERN);
}

static void take_initialize(struct mp_call *c, const struct mp_answer *answer)
{
	struct mp_handshake *a = handshake_of(c);
	bool refused, modern_after_all = false;

	if (is_lost(answer)) {
		if (is_outage(a, answer))
			break_off(a);
		return;
	}
	if (is_result(answer) &&
	    mp_legacy_read_initialize(answer->message, &a->arena, &a->hello, &a->why) == 0) {
		handshake_advance(a, INITIALIZED);
		return;
	}
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		a->why = *answer->error;
	} else if (answer->message->kind == MP_MESSAGE_ERROR) {
		note_refusal(a, "initialize", answer->message);
		modern_after_all = mp_modern_may_retry(answer->message, &refused);
	}
	if (!modern_after_all)
		a->retried = true; /* nothing is left to try */
	handshake_advance(a, REFUSED);
}

static enum handshake_event send_failed(struct mp_handshake *a, int r)
{
	if (r == MCPOOL_ECLOSED)
		return MP_QUIET; /* mp_handshake_lost() follows */
	(void)mp_fail(&a->why, r, "%s", mcpool_error_text(r));
	a->hooks->failed(a->u, &a->why);
	return LOST;
}

static enum handshake_event send_discover(struct mp_handshake *a)
{
	struct mp_call_options o = {.method = MP_METHOD_DISCOVER, .meta = mp_buf_get(&a->meta)};
	struct mp_call *c = &a->discover[!mp_call_is_at_rest(&a->discover[0].call)].call;
	int r = mp_peer_call(a->peer, c, &o);

	return r < 0 ? send_failed(a, r) : MP_QUIET;
}

/* Who said no once may be silent now; that is not waited for any longer than the first time. */
static enum handshake_event repeat_discover(struct mp_handshake *a)
{
	if (!a->pinned)
		mp_timer_start(&a->silence, MP_HANDSHAKE_SILENCE_MS);
	return send_discover(a);
}

static enum handshake_event send_initialize(struct mp_handshake *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_call_options o = {.method = MP_METHOD_INITIALIZE};
	struct mp_identity me = *a->me;
	int r;

	mp_timer_stop(&a->silence);
	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (a->declares.len)
		me.capabilities = a->declares;
	r = mp_legacy_write_initialize(&me, &params);
	o.params = mp_buf_get(&params);
	if (r == 0)
		r = mp_peer_call(a->peer, &a->initialize.call, &o);
	return r < 0 ? send_failed(a, r) : MP_QUIET;
}

/* --- endings -------------------------------------------------------------------------------- */

static enum handshake_event settle_modern(struct mp_handshake *a)
{
	mp_timer_stop(&a->silence);
	a->hello = a->modern_hello;
	a->peer->is_modern = true;
	a->hooks->agreed(a->u);
	return MP_QUIET;
}

static enum handshake_event settle_legacy(struct mp_handshake *a)
{
	int r = mp_peer_notify(a->peer, MP_METHOD_INITIALIZED, MP_STR(""));

	if (r < 0 && r != MCPOOL_ECLOSED) {
		(void)mp_fail(&a->why, r, "%s", mcpool_error_text(r));
		return handshake_fail(a);
	}
	a->hooks->agreed(a->u);
	return MP_QUIET;
}

static enum handshake_event go_legacy(struct mp_handshake *a)
{
	return a->pinned ? handshake_fail(a) : send_initialize(a);
}

/* A slow server that turned out to be modern and refused initialize. */
static enum handshake_event fall_back_to_modern(struct mp_handshake *a)
{
	if (a->discovered)
		return DISCOVERED;
	return try_modern_after_all(a);
}

/* It refused initialize because it is modern, says its error: the cached era is outdated. */
static enum handshake_event try_modern_after_all(struct mp_handshake *a)
{
	if (a->retried)
		return handshake_fail(a);
	a->retried = true;
	return PROBE;
}

static enum handshake_event note_modern(struct mp_handshake *a)
{
	if (a->hooks->turned_out_modern)
		a->hooks->turned_out_modern(a->u);
	return MP_QUIET;
}

static enum handshake_event give_up(struct mp_handshake *a)
{
	mp_timer_stop(&a->silence);
	return MP_QUIET; /* mp_handshake_lost() decides what comes */
}

/* --- the outside ---------------------------------------------------------------------------- */

static void silence_is_over(void *u)
{
	handshake_advance(u, SILENT);
}

static const struct mp_call_hooks discover_hooks = {.answered = take_discover};
static const struct mp_call_hooks initialize_hooks = {.answered = take_initialize};

static void handshake_call_init(struct mp_handshake_call *c, struct mp_handshake *a,
				struct mp_loop *loop, const struct mp_call_hooks *hooks)
{
	c->handshake = a;
	mp_call_init(&c->call, loop, hooks);
}

void mp_handshake_init(struct mp_handshake *a, struct mp_loop *loop, const struct mp_identity *me,
		       const struct mp_handshake_hooks *hooks, void *u)
{
	*a = (struct mp_handshake){.me = me, .hooks = hooks, .u = u, .state = IDLE};
	for (size_t i = 0; i < MP_ARRAY_LEN(a->discover); i++)
		handshake_call_init(&a->discover[i], a, loop, &discover_hooks);
	handshake_call_init(&a->initialize, a, loop, &initialize_hooks);
	mp_timer_init(&a->silence, loop, silence_is_over, a);
	mp_buf_init(&a->meta, MP_LIMIT_MESSAGE);
	mp_buf_init(&a->who, MP_LIMIT_MESSAGE);
	mp_arena_init(&a->arena, MP_LIMIT_ARENA);
}

void mp_handshake_done(struct mp_handshake *a)
{
	mp_timer_stop(&a->silence);
	mp_buf_done(&a->meta);
	mp_buf_done(&a->who);
	mp_arena_done(&a->arena);
}

void mp_handshake_start(struct mp_handshake *a, struct mp_peer *peer, enum mp_handshake_way way)
{
	int r;

	a->peer = peer;
	a->state = IDLE;
	a->probed = way == MP_HANDSHAKE_FIND_OUT || way == MP_HANDSHAKE_EXPECT_MODERN;
	a->discovered = false;
	a->unsure = false;
	a->retried = way == MP_HANDSHAKE_LEGACY; /* then there is nothing else to try */
	a->pinned = way == MP_HANDSHAKE_MODERN;
	mp_buf_clear(&a->meta);
	mp_buf_clear(&a->who);
	r = mp_modern_write_who(a->me, &a->who);
	if (r == 0)
		r = mp_modern_write_meta_for(mp_buf_get(&a->who), a->me->capabilities,
					     a->me->log_level, &a->meta);
	if (r < 0) {
		(void)mp_fail(&a->why, r, "%s", mcpool_error_text(r));
		a->hooks->failed(a->u, &a->why);
		return;
	}
	if (way == MP_HANDSHAKE_FIND_OUT)
		mp_timer_start(&a->silence, MP_HANDSHAKE_SILENCE_MS);
	handshake_advance(a, way == MP_HANDSHAKE_LEGACY || way == MP_HANDSHAKE_NO_PROBE ? SKIP
											: PROBE);
}

bool mp_handshake_lost(struct mp_handshake *a, const struct mcpool_error *why, bool maybe_of_probe)
{
	bool early = a->state != AGREED && a->state != FAILED;

	handshake_advance(a, LOST);
	if (!early)
		return false;
	if (a->probed && !a->discovered && maybe_of_probe)
		return true;
	a->hooks->failed(a->u, why);
	return false;
}
