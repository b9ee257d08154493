/*
 * fuzz_peer.c - a whole conversation: the input decides what each side does next, on a clock moved
 * by hand. After every step: no ending was reported twice, and the open calls add up. At the end:
 * every call that was started has ended, once.
 */
#include "fuzz.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/loop.h"
#include "rpc/outgoing.h"
#include "rpc/peer.h"

enum { MAX_CALLS = 48, MAX_SENT = 1 << 20 };

struct world;

struct caller {
	struct mp_call call;
	struct world *w;
	bool started, ended;
	uint8_t then; /* what to do when the answer is there */
};

struct world {
	struct fuzz_input in;
	struct mp_loop *loop;
	struct mp_peer peer;
	struct caller callers[MAX_CALLS];
	size_t n_callers;
	mp_id requests[16]; /* of theirs, that we know of */
	size_t n_requests;
	uint64_t total; /* bytes sent */
	int depth;      /* of callbacks in callbacks */
	bool refuses;   /* the wire takes nothing */
	bool lost;
};

static void act(struct world *w, uint8_t what);

/* --- what we hear --------------------------------------------------------------------------- */

static void maybe_act(struct world *w, uint8_t what)
{
	if (what & 0x80 && w->depth < 3) {
		w->depth++;
		act(w, what & 0x1f);
		w->depth--;
	}
}

static void ended(struct mp_call *call, const struct mp_answer *answer)
{
	struct caller *c = mp_container_of(call, struct caller, call);

	FUZZ_CHECK(c->started && !c->ended);
	c->ended = true;
	if (answer->outcome == MP_OUTCOME_ANSWERED)
		FUZZ_CHECK(answer->message && !answer->error);
	else
		FUZZ_CHECK(!answer->message && answer->error->code < 0 &&
			   answer->error->message[0]);
	maybe_act(c->w, c->then);
}

static void progressed(struct mp_call *call, const struct mp_message *m)
{
	struct caller *c = mp_container_of(call, struct caller, call);

	FUZZ_CHECK(c->started && !c->ended);
	FUZZ_CHECK(m->method == MP_METHOD_PROGRESS);
	maybe_act(c->w, c->then);
}

static int send_out(void *u, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct world *w = u;
	struct mp_message m;
	struct mp_tape tape;
	struct mp_buf text;

	FUZZ_CHECK(!w->lost);
	if (w->refuses || w->total > MAX_SENT)
		return MCPOOL_ELIMIT;
	mp_message_tape_init(&tape);
	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	FUZZ_CHECK(mp_buf_add_pieces(&text, o->pieces, o->n_pieces) == 0 && text.len == o->len);
	/* We speak as we want to hear. */
	FUZZ_CHECK(mp_message_scan(&tape, mp_buf_get(&text), &m, NULL) == 0);
	FUZZ_CHECK(m.kind == o->kind && m.method == o->method && mp_str_eq(m.id, o->id));
	mp_tape_done(&tape);
	mp_buf_done(&text);
	if (ret_at)
		*ret_at = w->total;
	w->total += o->len + 1;
	return 0;
}

static void heard_request(void *u, const struct mp_server_request *rq)
{
	struct world *w = u;

	FUZZ_CHECK(mp_server_request_is(rq->method) && rq->id);
	FUZZ_CHECK(rq->params.len == 0 || rq->params.p[0] == '{');
	w->requests[w->n_requests++ % MP_ARRAY_LEN(w->requests)] = rq->id;
	maybe_act(w, fuzz_byte(&w->in));
}

static void heard_withdrawn(void *u, mp_id request)
{
	struct world *w = u;

	FUZZ_CHECK(request);
	mp_peer_reply(&w->peer, request, MP_STR("{}")); /* does nothing */
	maybe_act(w, fuzz_byte(&w->in));
}

static bool may_retry(void *u, struct mp_call *c, const struct mp_message *error)
{
	struct world *w = u;

	FUZZ_CHECK(error->kind != MP_MESSAGE_RESULT && c->state == MP_CALL_WRITTEN);
	return fuzz_byte(&w->in) % 2;
}

static void heard_notification(void *u, const struct mp_message *m)
{
	FUZZ_CHECK(m->kind == MP_MESSAGE_NOTIFICATION);
	maybe_act(u, fuzz_byte(&((struct world *)u)->in));
}

static const struct mp_peer_hooks hooks = {
	.send = send_out,
	.request = heard_request,
	.withdrawn = heard_withdrawn,
	.notification = heard_notification,
	.may_retry = may_retry,
};

/* --- what we do ----------------------------------------------------------------------------- */

static struct caller *pick(struct world *w)
{
	return w->n_callers ? &w->callers[fuzz_below(&w->in, (uint32_t)w->n_callers)] : NULL;
}

static void start(struct world *w)
{
	uint8_t what = fuzz_byte(&w->in);
	struct caller *c = &w->callers[w->n_callers];
	static const struct mp_call_hooks quiet = {.answered = ended};
	static const struct mp_call_hooks talking = {.answered = ended, .progress = progressed};
	struct mp_call_options o = {
		.method = 1 + (enum mp_method_id)fuzz_below(&w->in, MP_METHODS - 1),
		.params = what & 1 ? MP_STR("{\"name\":\"x\"}") : MP_STR(""),
		.meta = what & 2 ? MP_STR("{\"k\":1}") : MP_STR(""),
		.timeout_ms = what & 4 ? fuzz_byte(&w->in) : 0,
		.max_total_ms = what & 8 ? fuzz_byte(&w->in) : 0,
	};
	int r;

	if (w->n_callers == MAX_CALLS)
		return;
	w->n_callers++;
	*c = (struct caller){.w = w, .started = true};
	c->then = what & 64 ? fuzz_byte(&w->in) : 0;
	if (what & 32)
		o.method = MP_METHOD_TOOLS_CALL;
	mp_call_init(&c->call, w->loop, what & 16 ? &talking : &quiet);
	r = mp_peer_call(&w->peer, &c->call, &o);
	FUZZ_CHECK(!c->ended); /* never from within */
	FUZZ_CHECK(r == 0 || w->lost || w->refuses || w->total > MAX_SENT);
	c->started = r == 0;
}

static void cancel(struct world *w)
{
	struct caller *c = pick(w);
	bool was = c && c->ended;

	if (!c)
		return;
	mp_peer_cancel(&c->call);
	/* Not from within, but for a withdrawal that loses the conversation. */
	FUZZ_CHECK(c->ended == was || w->lost);
}

static void answer_theirs(struct world *w)
{
	mp_id request = w->requests[fuzz_below(&w->in, MP_ARRAY_LEN(w->requests))];
	uint8_t how = fuzz_byte(&w->in);

	if (how % 2)
		mp_peer_reply(&w->peer, request, how % 8 == 1 ? MP_STR("") : MP_STR("{\"a\":1}"));
	else
		mp_peer_refuse(&w->peer, request, -1, MP_STR("no"));
}

static void lose(struct world *w)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "gone");
	w->lost = true;
	mp_peer_lost(&w->peer, &why);
}

/* --- what they do (only from outside: a transport does not nest) ------------------------------ */

static mp_id some_id(struct world *w)
{
	uint64_t most = w->peer.calls.last + 2;

	return most > 64 ? most - fuzz_byte(&w->in) % 64 : fuzz_byte(&w->in) % (most + 1);
}

static void MP_PRINTF(2, 3) say(struct world *w, const char *format, ...)
{
	char text[512], *exact;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	n = n < (int)sizeof(text) ? n : (int)sizeof(text) - 1;
	exact = malloc((size_t)n + 1);
	memcpy(exact, text, (size_t)n);
	mp_peer_receive(&w->peer, (struct mp_str){exact, (size_t)n});
	free(exact);
}

#define ENVELOPE "{\"jsonrpc\":\"2.0\","
#define NEEDS(x) ("\"result\":{\"resultType\":\"input_required\"," x "}")
#define ASK_A    "\"a\":{\"method\":\"elicitation/create\",\"params\":{}}"

static void they_answer(struct world *w)
{
	static const char *const results[] = {
		"\"result\":{}",
		"\"error\":{\"code\":-1,\"message\":\"m\"}",
		"\"result\":{\"resultType\":\"complete\"}",
		"\"result\":{\"resultType\":\"task\"}",
		NEEDS("\"requestState\":\"s\""),
		NEEDS("\"inputRequests\":{" ASK_A ",\"b\":{\"method\":\"roots/list\"}}"),
		NEEDS("\"inputRequests\":{\"a\":{\"method\":\"ping\"}}"),
		NEEDS("\"inputRequests\":{},\"requestState\":\"\\u0000\""),
		"\"result\":\"\xff\"",
		"\"result\":{},\"result\":{}",
		"\"result\":[[[",
	};
	const char *result = results[fuzz_below(&w->in, MP_ARRAY_LEN(results))];
	mp_id id = some_id(w);

	switch (fuzz_byte(&w->in) % 4) {
	case 0:
		say(w, ENVELOPE "\"id\":%" PRIu64 ",%s}", id, result);
		break;
	case 1:
		say(w, "{%s,\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 "}", result, id);
		break;
	case 2:
		say(w, ENVELOPE "\"id\":\"%" PRIu64 "\",%s}", id, result);
		break;
	default:
		say(w, ENVELOPE "\"id\":null,%s}", result);
	}
}

static void they_ask(struct world *w)
{
	uint8_t what = fuzz_byte(&w->in);

	say(w, ENVELOPE "\"id\":%s%d%s,\"method\":\"%s\"%s}", what & 1 ? "\"" : "", what / 4 % 8,
	    what & 1 ? "\"" : "",
	    what & 2    ? "roots/list"
	    : what & 32 ? "x"
			: "ping",
	    what & 64 ? ",\"params\":[]" : "");
}

static void they_tell(struct world *w)
{
	uint8_t what = fuzz_byte(&w->in);

	if (what % 4 == 0)
		say(w, ENVELOPE "\"method\":\"notifications/message\",\"params\":{}}");
	else if (what % 4 == 1)
		say(w,
		    ENVELOPE
		    "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%d}}",
		    what / 4 % 8);
	else if (what % 4 == 2)
		say(w,
		    ENVELOPE
		    "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%" PRIu64
		    ",\"progress\":%d}}",
		    some_id(w), what);
	else
		say(w,
		    ENVELOPE
		    "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":%" PRIu64
		    "}}",
		    some_id(w));
}

static void they_batch(struct world *w)
{
	mp_id a = some_id(w), b = some_id(w);

	say(w,
	    "[" ENVELOPE "\"id\":%" PRIu64 ",\"result\":1}," ENVELOPE
	    "\"id\":5,\"method\":\"roots/list\"}," ENVELOPE "\"id\":%" PRIu64
	    ",\"result\":{},\"error\":{}},7,[]," ENVELOPE
	    "\"method\":\"notifications/message\"}," ENVELOPE "\"id\":%" PRIu64 ",\"result\":2}]",
	    a, b, b);
}

static void they_garble(struct world *w)
{
	struct mp_str bytes = fuzz_take(&w->in, fuzz_byte(&w->in));
	char *copy = malloc(bytes.len + 1);
	size_t cut = bytes.len ? fuzz_byte(&w->in) % (bytes.len + 1) : 0;

	if (bytes.len)
		memcpy(copy, bytes.p, bytes.len);
	if (fuzz_byte(&w->in) % 4)
		mp_peer_receive(&w->peer, (struct mp_str){copy, bytes.len});
	else
		mp_peer_receive_oversize(&w->peer, (struct mp_str){copy, cut},
					 (struct mp_str){copy + cut, bytes.len - cut});
	free(copy);
}

static void they_overflow(struct world *w)
{
	char head[64], tail[64];
	int n = snprintf(head, sizeof(head), ENVELOPE "\"id\":%" PRIu64 ",\"result\":{",
			 some_id(w));
	int k = snprintf(tail, sizeof(tail), "}},\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 "}",
			 some_id(w));
	bool first = fuzz_byte(&w->in) % 2;

	mp_peer_receive_oversize(&w->peer,
				 first ? (struct mp_str){head, (size_t)n} : MP_STR("{\"result\":{"),
				 first ? MP_STR("...") : (struct mp_str){tail, (size_t)k});
}

static void wire_moves(struct world *w)
{
	mp_peer_written(&w->peer, fuzz_byte(&w->in) % 4 ? w->total : w->total / 2);
}

/* What a callback may do, and what only comes from outside. */
static void act(struct world *w, uint8_t what)
{
	switch (what % 8) {
	case 0:
	case 1:
		start(w);
		break;
	case 2:
		cancel(w);
		break;
	case 3:
	case 4:
		answer_theirs(w);
		break;
	case 5:
		mp_peer_retry(&w->peer);
		break;
	case 6:
		w->refuses = fuzz_byte(&w->in) % 4 == 0;
		break;
	default:
		if (fuzz_byte(&w->in) % 8 == 0)
			lose(w);
	}
}

static void step(struct world *w)
{
	uint8_t what = fuzz_byte(&w->in);

	switch (what % 12) {
	case 0:
	case 1:
		wire_moves(w);
		break;
	case 2:
	case 3:
		they_answer(w);
		break;
	case 4:
		they_ask(w);
		break;
	case 5:
		they_tell(w);
		break;
	case 6:
		they_batch(w);
		break;
	case 7:
		they_garble(w);
		break;
	case 8:
		they_overflow(w);
		break;
	case 9:
		mp_loop_advance(w->loop, what & 16 ? 10 * 60 * 1000 : fuzz_byte(&w->in));
		break;
	default:
		act(w, fuzz_byte(&w->in));
	}
}

/* --- what must be so ------------------------------------------------------------------------ */

static void check_sums(const struct world *w)
{
	const struct mp_peer *p = &w->peer;
	size_t in_states = 0, open = 0;

	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		in_states += p->in_state[i].len;
	FUZZ_CHECK(p->calls.len ==
		   p->in_state[MP_CALL_QUEUED].len + p->in_state[MP_CALL_WRITTEN].len);
	FUZZ_CHECK(p->theirs.len == p->serving.len);
	FUZZ_CHECK(p->server_requests.len >= p->serving.len);
	for (size_t i = 0; i < w->n_callers; i++)
		open += w->callers[i].started && !w->callers[i].ended;
	FUZZ_CHECK(open == in_states);
}

static void check_end(struct world *w)
{
	lose(w);
	for (size_t i = 0; i < w->n_callers; i++)
		FUZZ_CHECK(w->callers[i].ended == w->callers[i].started);
	mp_loop_advance(w->loop, 20 * 60 * 1000);
	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		FUZZ_CHECK(w->peer.in_state[i].len == 0);
	FUZZ_CHECK(w->peer.calls.len == 0 && w->peer.theirs.len == 0);
	FUZZ_CHECK(w->peer.server_requests.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	uint8_t how;

	w = (struct world){.in = {data, size}};
	if (size > 2000 || mp_loop_new_by_hand(1000000, &w.loop) < 0)
		return 0;
	how = fuzz_byte(&w.in);
	mp_peer_init(&w.peer, w.loop, &hooks, &w);
	w.peer.is_modern = !(how & 1);
	w.peer.serves = how & 2;
	while (w.in.size) {
		step(&w);
		check_sums(&w);
	}
	if (how & 4)
		check_end(&w);
	mp_peer_done(&w.peer);
	mp_loop_free(w.loop);
	return 0;
}
