/*
 * test_stream.c - the table of a stream, cell by cell, its ring, and event ids.
 */
#include "test.h"
#include "memory_conn.h"

#include <stdio.h>

#include "http/http_service.h"
#include "face/stream.h"

static const char a_route[] = "r";

struct stage {
	struct mp_loop *loop;
	struct mp_http_service service;
	struct memory_conn conn;
	struct mp_exchange *x; /* the one that came last */
	struct mp_stream *stream;
	int heard, finished, over;
	bool ready;
};

static void judge(void *u, struct mp_exchange *x)
{
	(void)u;
	x->admission.route = (const struct mp_route *)(const void *)a_route;
}

static void gone(void *u)
{
	((struct stage *)u)->x = NULL;
}

static const struct mp_exchange_hooks nobody = {.gone = gone};

static void serve(void *u, struct mp_exchange *x)
{
	((struct stage *)u)->x = x;
	x->hooks = &nobody;
	x->u = u;
}

static const struct mp_http_hooks_of_service service_hooks = {judge, serve};

static void heard(void *u, struct mp_stream *s, bool is_heard)
{
	(void)s;
	((struct stage *)u)->heard += is_heard ? 1 : -1;
}

static void finished(void *u, struct mp_stream *s)
{
	(void)s;
	((struct stage *)u)->finished++;
}

static void over(void *u, struct mp_stream *s)
{
	(void)s;
	((struct stage *)u)->over++;
	((struct stage *)u)->stream = NULL;
}

static const struct mp_stream_hooks stream_hooks = {heard, finished, over};

static bool stage_open(struct stage *s)
{
	*s = (struct stage){.ready = false};
	REQUIRE(mp_loop_new_by_hand(0, &s->loop) == 0);
	memory_conn_init(&s->conn);
	mp_http_service_init(&s->service, s->loop, &service_hooks, s);
	s->ready = true;
	mp_http_service_take(&s->service, &s->conn.base);
	memory_conn_say(&s->conn, MP_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	REQUIRE(s->x);
	return true;
}

static void stage_done(struct stage *s)
{
	if (!s->ready)
		return;
	mp_http_service_done(&s->service);
	if (s->stream)
		mp_stream_end(s->stream);
	mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
	memory_conn_done(&s->conn);
}

/* The client asks again, on the same connection. */
static bool come_again(struct stage *s)
{
	s->x = NULL;
	mp_buf_clear(&s->conn.out);
	memory_conn_say(&s->conn, MP_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	mp_loop_advance(s->loop, 0);
	REQUIRE(s->x);
	return true;
}

static void deliver(struct stage *s, const char *text, bool is_last)
{
	struct mp_delivery d = {.text = mp_str_of(text), .is_last = is_last, .status = 200};

	mp_stream_deliver(s->stream, &d);
}

static bool said(struct stage *s, const char *part)
{
	return mp_str_find(mp_buf_get(&s->conn.out), mp_str_of(part), 0) >= 0;
}

/* --- every event in every state -------------------------------------------------------------- */

enum { N = -1, O = MP_STREAM_OVER, F = MP_STREAM_FLOWING };
enum stream_event { MESSAGE, LAST, PATIENCE, LEFT, JOINED, ENDED, EVENTS };
/* Where it is afterwards; N: this cannot happen. */
static const int cells[MP_STREAM_STATE_COUNT][EVENTS] = {
	[MP_STREAM_WAITING] = {F, O, F, MP_STREAM_UNHEARD, N, O},
	[MP_STREAM_FLOWING] = {F, MP_STREAM_FINISHED, F, MP_STREAM_LOOSE, N, O},
	[MP_STREAM_LOOSE] = {MP_STREAM_LOOSE, MP_STREAM_FINISHED, N, N, F, O},
	[MP_STREAM_FINISHED] = {N, N, N, N, MP_STREAM_FINISHED, O},
	[MP_STREAM_UNHEARD] = {MP_STREAM_UNHEARD, O, N, N, N, O},
	[MP_STREAM_OVER] = {N, N, N, N, N, N},
};

static bool bring(struct stage *s, enum mp_stream_state state)
{
	if (state == MP_STREAM_LOOSE || state == MP_STREAM_FINISHED) {
		s->stream = mp_stream_new_standing(s->loop, &stream_hooks, s);
		if (state == MP_STREAM_FINISHED)
			deliver(s, "{}", true);
		return true;
	}
	s->stream = mp_stream_new(s->loop, &stream_hooks, s, s->x);
	if (state == MP_STREAM_FLOWING)
		deliver(s, "{}", false);
	if (state == MP_STREAM_UNHEARD)
		memory_conn_end(&s->conn);
	REQUIRE(s->stream->state == state);
	return true;
}

static void cause(struct stage *s, enum stream_event ev)
{
	switch (ev) {
	case MESSAGE:
	case LAST:
		deliver(s, "{\"it\":1}", ev == LAST);
		break;
	case PATIENCE:
		s->x->hooks->quiet(s->x->u);
		break;
	case LEFT:
		memory_conn_end(&s->conn);
		break;
	case JOINED:
		mp_stream_join(s->stream, s->x, 0);
		break;
	default:
		mp_stream_end(s->stream);
	}
}

static bool try_cell(enum mp_stream_state state, enum stream_event ev)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	int want = cells[state][ev];

	if (want == N)
		return true;
	REQUIRE(stage_open(&s));
	REQUIRE(bring(&s, state));
	cause(&s, ev);
	REQUIRE(s.over == (want == O));
	if (want == O) {
		REQUIRE(s.heard == 0);
		return true;
	}
	REQUIRE((int)s.stream->state == want);
	REQUIRE(s.heard == (want == F || want == MP_STREAM_WAITING));
	REQUIRE(s.finished == (want == MP_STREAM_FINISHED));
	return true;
}

TEST(every_event_in_every_state)
{
	for (int state = 0; state < MP_STREAM_STATE_COUNT; state++)
		for (int ev = 0; ev < EVENTS; ev++)
			CHECK(try_cell((enum mp_stream_state)state, (enum stream_event)ev));
}

/* --- what is said --------------------------------------------------------------------------- */

TEST(an_answer_alone_is_a_body)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	CHECK(bring(&s, MP_STREAM_WAITING));
	s.stream->headers = "X: y\r\n";
	deliver(&s, "{\"alone\":1}", true);
	CHECK(said(&s, "application/json") && said(&s, "X: y\r\n") && said(&s, "{\"alone\":1}"));
	CHECK(!said(&s, "event"));
}

TEST(nothing_to_answer_is_an_empty_stream)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	CHECK(bring(&s, MP_STREAM_WAITING));
	deliver(&s, "", true);
	CHECK(said(&s, "text/event-stream") && said(&s, "\r\n\r\n0\r\n\r\n"));
}

TEST(only_who_knows_them_gets_events_without_data)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	CHECK(bring(&s, MP_STREAM_WAITING));
	deliver(&s, "{}", false);
	CHECK(!said(&s, "retry") && !said(&s, "-0\n") && said(&s, "-1\n"));
	deliver(&s, "{}", true);
	CHECK(come_again(&s));
	mp_stream_end(s.stream);
	s.stream = mp_stream_new(s.loop, &stream_hooks, &s, s.x);
	s.stream->primes = true;
	deliver(&s, "{}", false);
	CHECK(said(&s, "retry: ") && said(&s, "-0\n") && said(&s, "-1\n"));
}

TEST(what_was_missed_comes_again_and_nothing_else)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s));
	s.stream = mp_stream_new_standing(s.loop, &stream_hooks, &s);
	deliver(&s, "{\"n\":1}", false);
	deliver(&s, "{\"n\":2}", false);
	deliver(&s, "{\"n\":3}", false);
	mp_stream_join(s.stream, s.x, 1);
	CHECK(!said(&s, "{\"n\":1}") && said(&s, "{\"n\":2}") && said(&s, "{\"n\":3}"));
	deliver(&s, "{\"n\":4}", false);
	CHECK(said(&s, "{\"n\":4}"));
}

HEAVY_TEST(the_ring_has_an_end)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	static char large[MP_STREAM_KEPT_BYTES];

	CHECK(stage_open(&s));
	s.stream = mp_stream_new_standing(s.loop, &stream_hooks, &s);
	for (int i = 0; i < MP_STREAM_KEPT + 10; i++)
		deliver(&s, "{}", false);
	CHECK_EQ(s.stream->ring.len, MP_STREAM_KEPT);
	CHECK_EQ(s.stream->last, MP_STREAM_KEPT + 10);
	memset(large, ' ', sizeof(large) - 1);
	deliver(&s, large, false); /* the newest always stays */
	deliver(&s, large, false);
	CHECK_EQ(s.stream->ring.len, 1);
	CHECK_EQ(s.stream->ring_bytes, sizeof(large) - 1);
}

TEST(ids_of_events_are_read_strictly)
{
	static const char *const bad[] = {
		"",
		"1",
		"-1",
		"0123456789abcdef0123456789abcdef",
		"0123456789abcdef0123456789abcdef-",
		"0123456789abcdef0123456789abcdef-x",
		"0123456789abcdef0123456789abcdef--1",
		"0123456789abcdef0123456789abcdef+1",
		"0123456789abcdef0123456789abcdef-99999999999999999999",
	};
	struct mp_str name;
	uint64_t number;

	CHECK(mp_stream_parse_id(MP_STR("0123456789abcdef0123456789abcdef-12"), &name, &number));
	CHECK_STR(name, "0123456789abcdef0123456789abcdef");
	CHECK_EQ(number, 12);
	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK(!mp_stream_parse_id(mp_str_of(bad[i]), &name, &number));
}
