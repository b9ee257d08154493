/*
 * listening.c - a modern server is asked to tell of changes, again and again.
 */
#include "pool/listening.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

#define STATES(X)                                                     \
	X(RESTING, "resting", "nothing is open; asks again when due") \
	X(ASKING, "asking", "asked, not yet acknowledged")            \
	X(HEARING, "hearing", "acknowledged: changes are told")       \
	X(SPURNED, "spurned", "it does not know how to; the last state")

#define EVENTS(X)                                       \
	X(DUE, "it is time to ask")                     \
	X(ACKNOWLEDGED, "it says what it will tell")    \
	X(ENDED, "the stream is over, or could not be") \
	X(REFUSED, "it answered that it knows no such thing")

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

/* From one try to the next; a stream that lasted begins anew. */
static const int64_t rests_ms[] = {1000, 2000, 5000, 10000, 30000, 60000};
enum { LASTING_MS = 60000, METHOD_NOT_FOUND = -32601 };

/* The call may be answered after its listener is gone. */
struct stream {
	struct mp_listening *l; /* NULL: gone */
};

struct mp_listening {
	struct mp_upstream *up;
	struct mp_loop *loop;
	enum state state;
	struct mp_timer timer;
	struct stream *stream; /* freed by its answer; NULL: none is open */
	mp_id call;
	unsigned tries;   /* since a stream lasted */
	bool was_heard;   /* a stream was acknowledged once */
	int64_t since_ms; /* acknowledged */
	void (*reopened)(void *u);
	void *u;
};

typedef enum event (*action)(struct mp_listening *l);
static enum event ask(struct mp_listening *l);
static enum event hear(struct mp_listening *l);
static enum event rest(struct mp_listening *l);
static enum event rest_from_hearing(struct mp_listening *l);

enum { NOWHERE, TO, STAY };
struct step {
	int how;
	enum state to;
	action act;
};

static const struct step steps[STATE_COUNT][EVENT_COUNT] = {
	[RESTING] = {[DUE] = {TO, ASKING, ask}, [ACKNOWLEDGED] = {STAY, 0, NULL}}, /* of one that
										      has ended */
	[ASKING] = {[ACKNOWLEDGED] = {TO, HEARING, hear},
		    [ENDED] = {TO, RESTING, rest},
		    [REFUSED] = {TO, SPURNED, NULL}},
	[HEARING] = {[ACKNOWLEDGED] = {STAY, 0, NULL},
		     [ENDED] = {TO, RESTING, rest_from_hearing},
		     [REFUSED] = {TO, SPURNED, NULL}},
	[SPURNED] = {[ACKNOWLEDGED] = {STAY, 0, NULL}},
};

static void advance(struct mp_listening *l, enum event ev)
{
	while (ev != QUIET) {
		const struct step *s = &steps[l->state][ev];

		mp_check(s->how != NOWHERE);
		if (s->how == TO) {
			mp_log_trace(NULL, "listening: %s -> %s", state_names[l->state],
				     state_names[s->to]);
			l->state = s->to;
		}
		ev = s->act ? s->act(l) : QUIET;
	}
}

/* --- what is done --------------------------------------------------------------------------- */

/* The stream's end is its answer: a result, an error, or the server's word that it is cancelled. */
static void stream_ended(const struct mp_answer *answer, void *u)
{
	struct stream *s = u;
	struct mp_listening *l = s->l;
	bool is_unknown = answer->outcome == MP_OUTCOME_ANSWERED &&
			  answer->message->kind == MP_MESSAGE_ERROR &&
			  mp_error_read_code(answer->message) == METHOD_NOT_FOUND;

	mp_free(s);
	if (!l)
		return;
	l->stream = NULL;
	advance(l, is_unknown ? REFUSED : ENDED);
}

static int write_params(struct mp_listening *l, struct mp_buf *out)
{
	unsigned offers = mp_upstream_get_hello(l->up)->offers;
	struct mp_listen_filter filter = {
		.tools = offers & MP_OFFERS_TOOLS_CHANGES,
		.prompts = offers & MP_OFFERS_PROMPTS_CHANGES,
		.resources = offers & MP_OFFERS_RESOURCES_CHANGES,
	};

	return mp_modern_write_listen(&filter, out);
}

static enum event ask(struct mp_listening *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_request rq = {.method = MP_METHOD_LISTEN}; /* which lasts as long as it lasts */
	int r;

	mp_buf_init(&params, MP_KIB(4));
	r = write_params(l, &params);
	if (r < 0)
		return ENDED;
	rq.params = mp_buf_get(&params);
	l->stream = mp_alloc(sizeof(*l->stream));
	l->stream->l = l;
	r = mp_upstream_call(l->up, &rq, stream_ended, l->stream, &l->call);
	if (r == 0)
		return QUIET;
	l->stream = mp_free(l->stream);
	return ENDED;
}

static enum event hear(struct mp_listening *l)
{
	bool again = l->was_heard;

	l->was_heard = true;
	l->since_ms = mp_loop_now_ms(l->loop);
	if (again)
		l->reopened(l->u);
	return QUIET;
}

static enum event rest(struct mp_listening *l)
{
	size_t last = MP_ARRAY_LEN(rests_ms) - 1;

	mp_timer_start(&l->timer, rests_ms[l->tries < last ? l->tries : last]);
	l->tries++;
	return QUIET;
}

static enum event rest_from_hearing(struct mp_listening *l)
{
	if (mp_loop_now_ms(l->loop) - l->since_ms >= LASTING_MS)
		l->tries = 0;
	return rest(l);
}

static void time_to_ask(void *u)
{
	advance(u, DUE);
}

/* --- the outside ---------------------------------------------------------------------------- */

struct mp_listening *mp_listening_new(struct mp_upstream *up, struct mp_loop *loop,
				      void (*reopened)(void *u), void *u)
{
	const unsigned changes =
		MP_OFFERS_TOOLS_CHANGES | MP_OFFERS_PROMPTS_CHANGES | MP_OFFERS_RESOURCES_CHANGES;
	const struct mp_hello *hello = mp_upstream_get_hello(up);
	struct mp_listening *l;

	if (hello->era != MP_ERA_MODERN || !(hello->offers & changes))
		return NULL;
	l = mp_alloc(sizeof(*l));
	*l = (struct mp_listening){.up = up, .loop = loop, .reopened = reopened, .u = u};
	mp_timer_init(&l->timer, loop, time_to_ask, l);
	advance(l, DUE);
	return l;
}

struct mp_listening *mp_listening_free(struct mp_listening *l)
{
	if (!l)
		return NULL;
	mp_timer_stop(&l->timer);
	if (l->stream) {
		l->stream->l = NULL;
		mp_upstream_cancel(l->up, l->call); /* its answer frees the stream */
	}
	return mp_free(l);
}

/*
 * Which stream an acknowledgement is of need not be looked at: only one of ours is open, and only
 * one that has not been acknowledged takes it.
 */
bool mp_listening_hear(struct mp_listening *l, const struct mp_message *m)
{
	bool waits = l && l->state == ASKING;

	if (!l || m->method != MP_METHOD_ACKNOWLEDGED)
		return false;
	advance(l, ACKNOWLEDGED);
	return waits;
}

const char *mp_listening_get_state(const struct mp_listening *l)
{
	return l ? state_names[l->state] : "";
}
