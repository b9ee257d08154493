/*
 * listening.c - keeps a change stream (subscriptions/listen) open at a modern server.
 */
#include "pool/listening.h"

#include <string.h>

#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"

#define LISTENING_STATES(X)                                           \
	X(RESTING, "resting", "nothing is open; asks again when due") \
	X(ASKING, "asking", "asked, not yet acknowledged")            \
	X(HEARING, "hearing", "acknowledged: changes are told")       \
	X(SPURNED, "spurned", "it does not know how to; the last state")

#define LISTENING_EVENTS(X)                                          \
	X(DUE, "due", "it is time to ask")                           \
	X(ACKNOWLEDGED, "acknowledged", "it says what it will tell") \
	X(ENDED, "ended", "the stream is over, or could not be")     \
	X(CHANGED, "changed", "something else is to be heard of")    \
	X(REFUSED, "refused", "it answered that it knows no such thing")

MP_MACHINE_ENUM(listening_state, LISTENING_STATES);
MP_MACHINE_ENUM(listening_event, LISTENING_EVENTS);

/* Delays between attempts. A stream that lasted resets them. */
static const int64_t rests_ms[] = {1000, 2000, 5000, 10000, 30000, 60000};
enum { LASTING_MS = 60000, METHOD_NOT_FOUND = -32601 };

/* Separate, because the call may be answered after the listener was freed. */
struct stream {
	struct mp_call call;
	struct mp_listening *l; /* NULL: freed */
};

struct mp_listening {
	struct mp_upstream *up;
	struct mp_loop *loop;
	enum listening_state state;
	struct mp_timer timer;
	struct stream *stream; /* freed by its answer; NULL: none open */
	unsigned tries;        /* since the last stream that lasted */
	bool was_heard;        /* a stream was acknowledged at least once */
	bool is_replaced;      /* this stream replaced another, which was then cancelled */
	struct mp_str *uris;   /* owned, followed by their texts; NULL: none */
	size_t n_uris;
	int64_t since_ms; /* when it was acknowledged */
	void (*reopened)(void *u);
	void *u;
};

MP_MACHINE_TYPES(listening, struct mp_listening, enum listening_event, LISTENING_STATES,
		 LISTENING_EVENTS);
static listening_action listening_ask, ask_instead, listening_look, listening_hear, listening_rest,
	rest_from_hearing;

MP_MACHINE_STEPS(listening) = {
	/* The acknowledgement may belong to a stream that has ended. */
	[RESTING] = {[DUE] = MP_TO(ASKING, listening_ask),
		     [ACKNOWLEDGED] = MP_STAY,
		     [CHANGED] = MP_DO(listening_look)},
	[ASKING] = {[ACKNOWLEDGED] = MP_TO(HEARING, listening_hear),
		    [ENDED] = MP_TO(RESTING, listening_rest),
		    [CHANGED] = MP_DO(ask_instead),
		    [REFUSED] = MP_TO(SPURNED, NULL)},
	[HEARING] = {[ACKNOWLEDGED] = MP_STAY,
		     [ENDED] = MP_TO(RESTING, rest_from_hearing),
		     [CHANGED] = MP_TO(ASKING, ask_instead),
		     [REFUSED] = MP_TO(SPURNED, NULL)},
	[SPURNED] = {[ACKNOWLEDGED] = MP_STAY, [CHANGED] = MP_STAY},
};

static void listening_describe(const struct mp_listening *l, struct mp_log *ret_log)
{
	const struct mp_log *log = mp_upstream_get_log(l->up);

	if (log)
		*ret_log = *log;
}

MP_MACHINE(listening, struct mp_listening, .describe = listening_describe)

/* --- actions -------------------------------------------------------------------------------- */

/* The stream ends with its answer: a result, an error, or a cancellation by the server. */
static void stream_ended(struct mp_call *c, const struct mp_answer *answer)
{
	struct stream *s = mp_container_of(c, struct stream, call);
	struct mp_listening *l = s->l;
	bool is_unknown = answer->outcome == MP_OUTCOME_ANSWERED &&
			  answer->message->kind == MP_MESSAGE_ERROR &&
			  mp_error_read_code(answer->message) == METHOD_NOT_FOUND;

	mp_free(s);
	if (!l)
		return;
	l->stream = NULL;
	listening_advance(l, is_unknown ? REFUSED : ENDED);
}

static const struct mp_call_hooks stream_hooks = {.answered = stream_ended};

static const unsigned changes =
	MP_OFFERS_TOOLS_CHANGES | MP_OFFERS_PROMPTS_CHANGES | MP_OFFERS_RESOURCES_CHANGES;

static bool wants_something(const struct mp_listening *l)
{
	return l->n_uris || mp_upstream_get_hello(l->up)->offers & changes;
}

static int write_params(struct mp_listening *l, struct mp_buf *out)
{
	unsigned offers = mp_upstream_get_hello(l->up)->offers;
	struct mp_listen_filter filter = {
		.tools = offers & MP_OFFERS_TOOLS_CHANGES,
		.prompts = offers & MP_OFFERS_PROMPTS_CHANGES,
		.resources = offers & MP_OFFERS_RESOURCES_CHANGES,
		.uris = l->uris,
		.n_uris = l->n_uris,
	};

	return mp_modern_write_listen(&filter, out);
}

static enum listening_event listening_ask(struct mp_listening *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_call_options o = {.method = MP_METHOD_LISTEN}; /* no time limit */
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (!wants_something(l))
		return ENDED;
	r = write_params(l, &params);
	if (r < 0)
		return ENDED;
	o.params = mp_buf_get(&params);
	l->stream = mp_alloc(sizeof(*l->stream));
	l->stream->l = l;
	mp_call_init(&l->stream->call, l->loop, &stream_hooks);
	r = mp_upstream_call(l->up, &l->stream->call, &o);
	if (r == 0)
		return MP_QUIET;
	l->stream = mp_free(l->stream);
	return ENDED;
}

/* Cancels a stream; its answer frees it. */
static void listening_leave(struct stream *s)
{
	if (!s)
		return;
	s->l = NULL;
	mp_peer_cancel(&s->call);
}

/* A stream cannot be changed. Open another one, then cancel this one. */
static enum listening_event ask_instead(struct mp_listening *l)
{
	struct stream *before = l->stream;
	enum listening_event ev;

	l->stream = NULL;
	l->is_replaced = true;
	ev = listening_ask(l);
	listening_leave(before);
	return ev;
}

/* Not before the retry timer expires. */
static enum listening_event listening_look(struct mp_listening *l)
{
	return mp_timer_is_running(&l->timer) || !wants_something(l) ? MP_QUIET : DUE;
}

static enum listening_event listening_hear(struct mp_listening *l)
{
	bool again = l->was_heard && !l->is_replaced;

	l->was_heard = true;
	l->is_replaced = false;
	l->since_ms = mp_loop_now_ms(l->loop);
	if (again)
		l->reopened(l->u);
	return MP_QUIET;
}

static enum listening_event listening_rest(struct mp_listening *l)
{
	size_t last = MP_ARRAY_LEN(rests_ms) - 1;

	l->is_replaced = false;
	if (!wants_something(l))
		return MP_QUIET;
	mp_timer_start(&l->timer, rests_ms[l->tries < last ? l->tries : last]);
	l->tries++;
	return MP_QUIET;
}

static enum listening_event rest_from_hearing(struct mp_listening *l)
{
	if (mp_loop_now_ms(l->loop) - l->since_ms >= LASTING_MS)
		l->tries = 0;
	return listening_rest(l);
}

static void time_to_ask(void *u)
{
	listening_advance(u, DUE);
}

/* --- interface ------------------------------------------------------------------------------ */

struct mp_listening *mp_listening_new(struct mp_upstream *up, struct mp_loop *loop,
				      void (*reopened)(void *u), void *u)
{
	const struct mp_hello *hello = mp_upstream_get_hello(up);
	struct mp_listening *l;

	if (hello->era != MP_ERA_MODERN || !(hello->offers & (changes | MP_OFFERS_SUBSCRIBE)))
		return NULL;
	l = mp_alloc(sizeof(*l));
	*l = (struct mp_listening){.up = up, .loop = loop, .reopened = reopened, .u = u};
	mp_timer_init(&l->timer, loop, time_to_ask, l);
	listening_advance(l, CHANGED);
	return l;
}

void mp_listening_set_uris(struct mp_listening *l, const struct mp_str *uris, size_t n)
{
	size_t size = (n + 1) * sizeof(*uris), at = size;
	char *block;

	for (size_t i = 0; i < n; i++)
		size += uris[i].len;
	block = mp_try_alloc(size);
	if (!block)
		return; /* unchanged */
	mp_free(l->uris);
	l->uris = (struct mp_str *)(void *)block;
	l->n_uris = n;
	for (size_t i = 0; i < n; i++) {
		memcpy(block + at, uris[i].p, uris[i].len);
		l->uris[i] = (struct mp_str){block + at, uris[i].len};
		at += uris[i].len;
	}
	listening_advance(l, CHANGED);
}

struct mp_listening *mp_listening_free(struct mp_listening *l)
{
	if (!l)
		return NULL;
	mp_timer_stop(&l->timer);
	listening_leave(l->stream);
	mp_free(l->uris);
	return mp_free(l);
}

/*
 * The stream of an acknowledgement need not be checked: only one of ours is open, and only an
 * unacknowledged one accepts it.
 */
bool mp_listening_hear(struct mp_listening *l, const struct mp_message *m)
{
	bool waits = l && l->state == ASKING;

	if (!l || m->method != MP_METHOD_ACKNOWLEDGED)
		return false;
	listening_advance(l, ACKNOWLEDGED);
	return waits;
}

const char *mp_listening_get_state(const struct mp_listening *l)
{
	return l ? listening_states[l->state].word : "";
}
