/*
 * test_http_detect.c - which of two ways a remote server speaks, whatever was configured.
 */
#include "transport/http_detect.h"

#include "http_stage.h"
#include "bearer.h"

static struct told {
	int times;
	enum mp_http_detect_kind kind;
} told;

static void turned_out(void *u, enum mp_http_detect_kind kind)
{
	(void)u;
	told.times++;
	told.kind = kind;
}

static enum mp_http_detect_kind first;
static struct mp_authorization bearer = {&bearer_ops};

static int make_with_token(struct mp_loop *loop, struct mp_http_client *client,
			   const struct mp_destination *to, struct mp_transport **ret,
			   struct mcpool_error *reterr)
{
	struct mp_http_detect_options o = {.first = first, .turned_out = turned_out};
	struct mp_destination with = *to; /* a view */

	with.authorization = &bearer;
	return mp_http_detect_new(loop, client, &with, &o, ret, reterr);
}

static int make(struct mp_loop *loop, struct mp_http_client *client,
		const struct mp_destination *to, struct mp_transport **ret,
		struct mcpool_error *reterr)
{
	struct mp_http_detect_options o = {.first = first, .turned_out = turned_out};

	told = (struct told){0};
	return mp_http_detect_new(loop, client, to, &o, ret, reterr);
}

#define STAGE(kind)                            \
	MP_CLEANUP(stage_done) struct stage s; \
	first = kind;                          \
	CHECK(stage_init(&s, make))

#define INITIALIZE                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"2025-11-25\"}}"
#define HELLO "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-06-18\"}}"

static bool is_get(const struct stage_request *r)
{
	return strncmp(r->head, "GET ", 4) == 0;
}

HEAVY_TEST(what_was_configured_is_what_it_is)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(s.t->traits & MP_TRANSPORT_PER_REQUEST);
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "200 OK", STAGE_JSON, "%s", HELLO);
	CHECK(stage_until(&s, "answer:1"));
	CHECK_EQ(told.times, 0);
	s.t->impl->close(s.t);
	CHECK(stage_until(&s, "closed"));
}

/* B35: on each POST of Streamable HTTP, on the GET and the POST of HTTP+SSE. */
HEAVY_TEST(a_token_goes_with_every_request)
{
	for (int is_sse = 0; is_sse < 2; is_sse++) {
		MP_CLEANUP(stage_done) struct stage s;

		first = is_sse ? MP_HTTP_DETECT_SSE : MP_HTTP_DETECT_HTTP;
		CHECK(stage_init(&s, make_with_token));
		if (is_sse) {
			CHECK(stage_until_requests(&s, 1));
			CHECK(is_get(&s.got[0]));
			stage_write(&s.got[0], STAGE_STREAM "event: endpoint\ndata: /post?s=1\n\n");
		}
		CHECK(stage_until(&s, "opened"));
		CHECK(stage_send(&s, INITIALIZE));
		CHECK(stage_until_requests(&s, 1 + is_sse));
		for (int i = 0; i < s.n; i++)
			CHECK(strstr(s.got[i].head, "Authorization: Bearer hush\r\n"));
	}
}

/* On whose stream a message came is handed on. */
HEAVY_TEST(what_is_said_names_its_request)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_write(&s.got[0], STAGE_STREAM "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
	CHECK(stage_until(&s, "said"));
	CHECK_TEXT(s.during, "1");
	CHECK_EQ(s.t->during.len, 0);
}

/* B15 */
/* 404, 405 and 400 without a word of MCP mean that the older kind is worth a try (X13). */
HEAVY_TEST(http_turns_out_to_be_sse)
{
	static const char *const refusals[] = {"404 No", "405 No", "400 No"};

	for (size_t i = 0; i < MP_ARRAY_LEN(refusals); i++) {
		STAGE(MP_HTTP_DETECT_HTTP);
		CHECK(stage_until(&s, "opened"));
		CHECK(stage_send(&s, INITIALIZE));
		CHECK(stage_until_requests(&s, 1));
		stage_answer(&s.got[0], refusals[i], "", "%s", "");
		CHECK(stage_until_requests(&s, 2));
		CHECK(is_get(&s.got[1]));
		stage_write(&s.got[1], STAGE_STREAM "event: endpoint\ndata: /post?s=1\n\n");
		CHECK(stage_until_requests(&s, 3));
		CHECK(strstr(s.got[2].head, "POST /post?s=1 "));
		CHECK(strstr(s.got[2].body, "\"initialize\""));
		CHECK(s.t->traits & MP_TRANSPORT_LEGACY);
		stage_answer(&s.got[2], "202 Accepted", "", "%s", "");
		stage_write(&s.got[1], "event: message\ndata: " HELLO "\n\n");
		CHECK(stage_until(&s, "answer:1"));
		CHECK(!strstr(s.news, "unusable"));
		CHECK_EQ(told.times, 1);
		CHECK_EQ(told.kind, MP_HTTP_DETECT_SSE);
	}
}

/* It was taken, and only the way back is refused: it is Streamable HTTP. */
HEAVY_TEST(a_refused_resumption_is_not_the_other_kind)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_write(&s.got[0], STAGE_STREAM "id: e7\nretry: 500\ndata:\n\n");
	stage_settle(&s);
	conn_close(s.got[0].conn, false);
	stage_settle(&s);
	mp_loop_advance(s.loop, 501);
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[1], "405 No", "", "%s", "");
	CHECK(stage_until(&s, "unknown:1"));
	stage_settle(&s);
	CHECK_EQ(s.n, 2);
}

/* What another request is refused says nothing about the opening. */
HEAVY_TEST(a_refused_probe_is_not_the_other_kind)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}"));
	CHECK(stage_until_requests(&s, 1));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[0], "404 No", "", "%s", "");
	CHECK(stage_until(&s, "unusable:7"));
	stage_answer(&s.got[1], "200 OK", STAGE_JSON, "%s", HELLO);
	CHECK(stage_until(&s, "answer:1"));
	CHECK_EQ(told.times, 0);
	CHECK_EQ(s.n, 2);
}

/* X13 B15 */
HEAVY_TEST(sse_turns_out_to_be_http)
{
	STAGE(MP_HTTP_DETECT_SSE);

	CHECK(stage_until_requests(&s, 1));
	CHECK(is_get(&s.got[0]));
	stage_answer(&s.got[0], "405 No", "", "%s", "");
	CHECK(stage_until(&s, "opened"));
	CHECK_EQ(told.times, 0); /* nothing was heard yet */
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[1], "200 OK", STAGE_JSON, "%s", HELLO);
	CHECK(stage_until(&s, "answer:1"));
	CHECK_EQ(told.times, 1);
	CHECK_EQ(told.kind, MP_HTTP_DETECT_HTTP);
}

/* X13 */
/* http is tried where sse fails, once: no request follows when that fails, too. */
HEAVY_TEST(http_is_tried_once_where_sse_fails)
{
	STAGE(MP_HTTP_DETECT_SSE);

	CHECK(stage_until_requests(&s, 1));
	CHECK(is_get(&s.got[0]));
	stage_answer(&s.got[0], "404 No", "", "%s", "");
	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 2));
	CHECK(strncmp(s.got[1].head, "POST ", 5) == 0);
	stage_answer(&s.got[1], "404 No", "", "%s", "");
	CHECK(stage_until(&s, "unusable:1"));
	CHECK_EQ(told.times, 0);
	s.t->impl->close(s.t);
	CHECK(stage_until(&s, "closed"));
	CHECK_EQ(s.n, 2);
}

/* Neither: the one that was configured says why. */
HEAVY_TEST(it_is_neither)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "404 No", "", "%s", "");
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[1], "400 Bad", "", "%s", "");
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_ENOENT);
	CHECK(strstr(s.why.message, "HTTP 404"));
	CHECK_EQ(told.times, 0);
	s.t->impl->close(s.t);
	CHECK(stage_until(&s, "closed"));
}

/* A door that is only locked is the better news. */
HEAVY_TEST(the_other_one_wants_a_login)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "405 No", "", "%s", "");
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[1], "401 No", "WWW-Authenticate: Bearer x\r\n", "%s", "");
	CHECK(stage_until(&s, "ended"));
	CHECK_EQ(s.why.code, MCPOOL_ENEEDS_AUTH);
	CHECK(mp_str_eq(s.t->impl->get_challenge(s.t), MP_STR("Bearer x")));
}

/* 401, 403, 5xx and a refused connection say nothing about kinds. */
HEAVY_TEST(an_outage_is_no_evidence)
{
	static const char *const outages[] = {"401 No", "403 No", "500 Oops", "502 Oops",
					      "503 Oops"};

	for (size_t i = 0; i < MP_ARRAY_LEN(outages); i++) {
		STAGE(MP_HTTP_DETECT_HTTP);
		CHECK(stage_until(&s, "opened"));
		CHECK(stage_send(&s, INITIALIZE));
		CHECK(stage_until_requests(&s, 1));
		stage_answer(&s.got[0], outages[i], "", "%s", "");
		CHECK(stage_until(&s, "ended"));
		CHECK_EQ(s.n, 1);
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(outages); i++) {
		STAGE(MP_HTTP_DETECT_SSE);
		CHECK(stage_until_requests(&s, 1));
		stage_answer(&s.got[0], outages[i], "", "%s", "");
		CHECK(stage_until(&s, "ended"));
		CHECK_EQ(s.n, 1);
	}
}

/* A later 404 is about what was asked. */
HEAVY_TEST(it_stays_what_it_was)
{
	STAGE(MP_HTTP_DETECT_HTTP);

	CHECK(stage_until(&s, "opened"));
	CHECK(stage_send(&s, INITIALIZE));
	CHECK(stage_until_requests(&s, 1));
	stage_answer(&s.got[0], "200 OK", STAGE_JSON, "%s", HELLO);
	CHECK(stage_until(&s, "answer:1"));
	CHECK(stage_send(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"));
	CHECK(stage_until_requests(&s, 2));
	stage_answer(&s.got[1], "404 No", "", "%s", "");
	CHECK(stage_until(&s, "unusable:2"));
	stage_settle(&s);
	CHECK_EQ(s.n, 2);
}

TEST(it_may_leave_at_any_time)
{
	STAGE(MP_HTTP_DETECT_SSE);

	CHECK(stage_until_requests(&s, 1));
	s.t->impl->close(s.t);
	CHECK(stage_until(&s, "closed"));
	CHECK(!strstr(s.news, "ended"));
}

static void close_on_opened(void *u)
{
	struct stage *s = u;

	stage_opened(u);
	s->t->impl->close(s->t);
}

static void free_on_opened(void *u)
{
	struct stage *s = u;

	stage_opened(u);
	s->t = mp_transport_free(s->t);
}

/* Also when it has just been greeted, in either place. */
HEAVY_TEST(whoever_is_told_that_it_is_open_may_leave)
{
	for (int i = 0; i < 4; i++) {
		struct mp_transport_hooks hooks = stage_hooks;
		STAGE(i & 1 ? MP_HTTP_DETECT_SSE : MP_HTTP_DETECT_HTTP);

		hooks.opened = i & 2 ? free_on_opened : close_on_opened;
		s.t->hooks = &hooks;
		if (i & 1) {
			CHECK(stage_until_requests(&s, 1));
			stage_write(&s.got[0], STAGE_STREAM "event: endpoint\ndata: /post?s=1\n\n");
		}
		CHECK(stage_until(&s, i & 2 ? "opened" : "closed"));
		stage_settle(&s);
		CHECK_TEXT(s.news, i & 2 ? "opened " : "opened closed ");
	}
}
