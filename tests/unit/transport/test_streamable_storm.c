/*
 * test_streamable_storm.c - a server that answers by lot, a user who hangs up by lot: each request
 * ends once at most, nothing is told after the end, and nothing stays behind.
 */
#include "transport/streamable.h"

#include "http_stage.h"
#include "outgoing.h"

enum { STORMS = 40, STEPS = 40, IDS = 64 };

static int survivors; /* conversations that no answer has ended */

enum fate { UNUSED, OPEN, CANCELLED, ENDED };

struct storm {
	struct stage s; /* first: the hooks' u is the stage */
	uint64_t seed;
	enum fate fates[IDS];
	int n_ids;
	bool is_over;    /* ended or closed was told, or we hung up */
	bool is_closing; /* only closed may come */
	bool is_gone;    /* freed */
	bool is_wrong;
	int leaves; /* one hook in so many hangs up; 0: none */
};

static unsigned draw(struct storm *st, unsigned n)
{
	st->seed = st->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(st->seed >> 33) % n;
}

static void blame(struct storm *st, const char *what, int id)
{
	fprintf(stderr, "%s: %d\n", what, id);
	st->is_wrong = true;
}

/* --- what is told ----------------------------------------------------------------------------- */

static void maybe_leave(struct storm *st)
{
	if (!st->leaves || st->is_gone || draw(st, (unsigned)st->leaves))
		return;
	if (draw(st, 2)) {
		st->is_gone = true;
		st->s.t = mp_transport_free(st->s.t);
	} else {
		st->is_closing = true;
		st->s.t->impl->close(st->s.t);
	}
}

static void expect_talk(struct storm *st, const char *what)
{
	if (st->is_gone || st->is_over || st->is_closing)
		blame(st, what, -1);
}

/* A server may say its answer twice, which is for others to see; we may not. */
static void end_id(struct storm *st, int id, bool is_loss)
{
	if (id <= 0 || id >= IDS)
		return;
	if (st->fates[id] == ENDED && is_loss)
		blame(st, "lost after its end", id);
	if (st->fates[id] == OPEN)
		st->fates[id] = ENDED;
}

static void storm_opened(void *u)
{
	expect_talk(u, "opened after the end");
}

static void storm_message(void *u, struct mp_str text)
{
	char *copy = strndup(text.p, text.len), *id = strstr(copy, "\"id\":");

	expect_talk(u, "a message after the end");
	if (id && !strstr(copy, "\"method\""))
		end_id(u, atoi(id + 5), false);
	free(copy);
	maybe_leave(u);
}

static void storm_sent(void *u, struct mp_str id)
{
	(void)id;
	expect_talk(u, "sent after the end");
	maybe_leave(u);
}

static void storm_lost(void *u, struct mp_str id, enum mp_unanswered how,
		       const struct mcpool_error *why)
{
	(void)how;
	expect_talk(u, "lost after the end");
	if (!why->code)
		blame(u, "lost without a reason", 0);
	end_id(u, atoi(id.p), true);
	maybe_leave(u);
}

static bool storm_is_open(void *u, struct mp_str id)
{
	struct storm *st = u;
	int i = atoi(id.p);

	return i > 0 && i < IDS && st->fates[i] == OPEN;
}

static void storm_doubt(void *u, const char *why)
{
	(void)why;
	expect_talk(u, "doubt after the end");
	maybe_leave(u);
}

static void storm_ended(void *u, const struct mcpool_error *why)
{
	struct storm *st = u;

	(void)why;
	expect_talk(st, "ended after the end");
	st->is_over = true;
	maybe_leave(st);
}

static void storm_closed(void *u)
{
	struct storm *st = u;

	if (st->is_gone || !st->is_closing)
		blame(st, "closed, and nobody hung up", 0);
	st->s.closed = true;
}

static const struct mp_transport_hooks storm_hooks = {
	.opened = storm_opened,
	.message = storm_message,
	.sent = storm_sent,
	.lost = storm_lost,
	.is_open = storm_is_open,
	.doubt = storm_doubt,
	.ended = storm_ended,
	.closed = storm_closed,
};

/* --- the server ------------------------------------------------------------------------------- */

static const char *const ids[] = {"",
				  "id: 7\n",
				  "id: a\x01z\n",
				  "id\n",
				  "id: \xc3\xa4\n",
				  "retry: 0\n",
				  "retry: 99999999999999999999\n"};

static void say(struct storm *st, struct stage_request *r, const char *text)
{
	char all[4096];

	snprintf(all, sizeof(all), "%sdata: %s\n\n", ids[draw(st, MP_ARRAY_LEN(ids))], text);
	stage_write(r, all);
}

static void write_answer(struct storm *st, int id, char *ret, size_t size)
{
	static const char *const results[] = {
		"\"result\":{\"protocolVersion\":\"2025-06-18\"}",
		"\"error\":{\"code\":-32601,\"message\":\"no\"}",
	};
	unsigned kind = draw(st, 10);

	if (kind == 0)
		snprintf(ret, size, "not JSON");
	else if (kind == 1)
		snprintf(ret, size, "{\"jsonrpc\":\"2.0\",\"id\":null,%s}", results[1]);
	else
		snprintf(ret, size, "{\"jsonrpc\":\"2.0\",\"id\":%d,%s}", id, results[kind == 2]);
}

static void answer_with_status(struct storm *st, struct stage_request *r, const char *body)
{
	static const char *const statuses[] = {
		"401 No",   "404 No",   "400 Bad",   "403 No",    "200 OK",      "200 OK",
		"429 Slow", "500 Oops", "503 Later", "307 There", "204 Nothing", "202 Accepted"};
	static const char *const headers[] = {
		STAGE_JSON,
		STAGE_JSON "Mcp-Session-Id: a-session\r\n",
		"Retry-After: 1\r\nLocation: /mcp\r\n",
		"Location: http://127.0.0.2:1/\r\nWWW-Authenticate: Bearer\r\n",
	};

	/* What ends the conversation is rare, or little else would be seen. */
	unsigned first = draw(st, 12) ? 2 : 0;

	stage_answer(r, statuses[first + draw(st, MP_ARRAY_LEN(statuses) - first)],
		     headers[draw(st, MP_ARRAY_LEN(headers))], "%s",
		     draw(st, 30) ? body : "no session");
}

static void answer_with_stream(struct storm *st, struct stage_request *r, const char *body)
{
	stage_write(r, draw(st, 4) ? STAGE_STREAM
				   : "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; x\r\n"
				     "Mcp-Session-Id: b\r\n\r\n");
	if (draw(st, 2))
		say(st, r, "");
	if (draw(st, 2))
		say(st, r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}");
	if (draw(st, 3))
		say(st, r, body);
	if (draw(st, 8) == 0)
		say(st, r, body);
	if (draw(st, 3))
		conn_close(r->conn, draw(st, 2) == 0);
}

static void answer_badly(struct storm *st, struct stage_request *r)
{
	static const char *const junk[] = {"",
					   "HTTP/1.1 200 OK\r\n",
					   "HTTP/1.1 100 Go\r\n\r\n",
					   "HTTP/1.1 101 Go\r\n\r\n",
					   "GET /\r\n\r\n",
					   "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{",
					   "HTTP/1.1 500 No\r\nContent-Length: 999\r\n\r\n{"};

	stage_write(r, junk[draw(st, MP_ARRAY_LEN(junk))]);
	if (draw(st, 3))
		conn_close(r->conn, draw(st, 2) == 0);
}

static bool storm_script(struct stage *s, struct stage_request *r)
{
	struct storm *st = mp_container_of(s, struct storm, s);
	const char *id = strstr(r->body, "\"id\":");
	char body[512];

	s->n = 0;                           /* there is always room for one more */
	if (strstr(r->body, "\"id\":1,")) { /* without a beginning there is nothing to see */
		stage_answer(r, "200 OK", STAGE_JSON "Mcp-Session-Id: s\r\n", "%s",
			     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-"
			     "06-18\"}}");
		return true;
	}
	write_answer(st, id ? atoi(id + 5) : 1, body, sizeof(body));
	switch (draw(st, 8)) {
	case 0:
		answer_badly(st, r);
		break;
	case 1:
	case 2:
	case 3:
		answer_with_stream(st, r, body);
		break;
	case 4:
		stage_answer(r, "200 OK", STAGE_JSON, "%s", body);
		break;
	default:
		answer_with_status(st, r, body);
	}
	return true;
}

/* --- the user --------------------------------------------------------------------------------- */

static bool may_send(const struct storm *st)
{
	return !st->is_gone && !st->is_over && !st->is_closing;
}

static void storm_send(struct storm *st, const char *text)
{
	uint64_t at;

	/* A send may fail if the transport has ended and not reported it yet. */
	(void)(outgoing_send(st->s.t, mp_str_of(text), &at) < 0);
}

static void call(struct storm *st, const char *method)
{
	static const char modern[] =
		"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}";
	char text[512];
	uint64_t at;
	int id = st->n_ids + 1;

	if (id >= IDS)
		return;
	st->n_ids = id;
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s}}", id, method,
		 draw(st, 3) ? "" : modern);
	st->fates[id] = OPEN;
	if (outgoing_send(st->s.t, mp_str_of(text), &at) < 0)
		st->fates[id] = ENDED;
}

static void cancel(struct storm *st, int id)
{
	char text[256];

	if (st->fates[id] != OPEN)
		return;
	st->fates[id] = CANCELLED;
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%d}}",
		 id);
	storm_send(st, text);
}

static void act(struct storm *st)
{
	switch (draw(st, 10)) {
	case 0:
		storm_send(st, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
		break;
	case 1:
		call(st, "initialize");
		break;
	case 2:
		cancel(st, 1 + (int)draw(st, IDS - 1));
		break;
	case 3:
		storm_send(st, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{}}");
		break;
	case 4:
		call(st, "subscriptions/listen");
		break;
	default:
		call(st, "tools/call");
	}
}

static void turn(struct storm *st, int times)
{
	for (int i = 0; i < times; i++)
		stage_turn(&st->s);
}

/* Everything without a waiting call disappears after a while. */
static bool is_empty(struct storm *st)
{
	for (int id = 1; id < IDS && may_send(st); id++)
		cancel(st, id);
	for (int i = 0; i < 4; i++) {
		turn(st, 4);
		mp_loop_advance(st->s.loop, 61000);
		turn(st, 4);
	}
	if (!may_send(st))
		return true;
	survivors++;
	return mp_container_of(st->s.t, struct mp_streamable, base)->posts.len == 0;
}

static bool storm_closes(struct storm *st)
{
	if (st->is_gone)
		return true;
	if (!st->is_closing) {
		st->is_closing = true;
		st->s.t->impl->close(st->s.t);
	}
	for (int i = 0; i < 500 && !st->s.closed; i++) {
		turn(st, 1);
		mp_loop_advance(st->s.loop, 10);
	}
	return st->s.closed;
}

static bool run(struct storm *st, uint64_t seed)
{
	memset(st, 0, sizeof(*st));
	REQUIRE(stage_init(&st->s, mp_streamable_new));
	st->seed = seed;
	st->leaves = draw(st, 2) ? 0 : 5 + (int)draw(st, 30);
	st->s.t->hooks = &storm_hooks;
	st->s.t->u = st;
	st->s.script = storm_script;
	turn(st, 1);
	call(st, "initialize");
	turn(st, 6);
	for (int i = 0; i < STEPS && !st->is_wrong; i++) {
		if (may_send(st))
			act(st);
		turn(st, (int)draw(st, 4));
		mp_loop_advance(st->s.loop, draw(st, 3) ? draw(st, 40) : draw(st, 2000));
	}
	if (!is_empty(st))
		blame(st, "something stays behind", 0);
	if (!storm_closes(st))
		blame(st, "it does not close", 0);
	return !st->is_wrong;
}

HEAVY_TEST(storms_end)
{
	static struct storm st;

	survivors = 0;
	for (uint64_t seed = 1; seed <= STORMS; seed++) {
		bool good = run(&st, seed * 7919);

		stage_done(&st.s);
		if (!good)
			fprintf(stderr, "storm %d\n", (int)seed);
		CHECK(good);
	}
	CHECK(survivors > STORMS / 10);
}
