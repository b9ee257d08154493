/*
 * test_spans.c - spans of calls: as OTLP has them, in a bounded queue, and what a collector that
 * refuses them costs.
 */
#include "test.h"

#include "base/error.h"
#include "base/log.h"
#include "base/secrets.h"
#include "hub/otlp_text.h"
#include "hub/spans.h"
#include "loopback_http.h"

static char lines[4096];

static void keep_line(const struct mp_log_line *line, void *u)
{
	size_t n = strlen(lines);

	(void)u;
	snprintf(lines + n, sizeof(lines) - n, "%s: %s\n", line->object, line->text);
}

static int count_lines(const char *text)
{
	int n = 0;

	for (const char *at = lines; (at = strstr(at, text)); at++)
		n++;
	return n;
}

/* --- the text -------------------------------------------------------------------------------- */

static const struct mp_call_record done = {
	.wall_ms = 1800000000123,
	.session = 7,
	.server = "git",
	.subject = "t",
	.method = MP_METHOD_TOOLS_CALL,
	.queue_us = 1000,
	.took_us = 22000,
	.trace = {.id = {[0] = 0x4b, [15] = 0x36},
		  .parent = {[0] = 0xf0, [7] = 0xb7},
		  .span = {[0] = 1, [7] = 2}},
};

TEST(a_span_is_said_as_otlp_has_it)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 10000);
	CHECK_EQ(mp_otlp_add_span(&out, &done), 0);
	CHECK_STR(mp_buf_get(&out),
		  "{\"traceId\":\"4b000000000000000000000000000036\",\"spanId\":"
		  "\"0100000000000002\",\"parentSpanId\":\"f0000000000000b7\",\"name\":"
		  "\"tools/call t\",\"kind\":2,\"startTimeUnixNano\":\"1800000000100000000\","
		  "\"endTimeUnixNano\":\"1800000000123000000\",\"attributes\":[{\"key\":"
		  "\"mcp.method.name\",\"value\":{\"stringValue\":\"tools/call\"}},{\"key\":"
		  "\"mcp.session.id\",\"value\":{\"stringValue\":\"7\"}},{\"key\":"
		  "\"gen_ai.tool.name\",\"value\":{\"stringValue\":\"t\"}},{\"key\":"
		  "\"mcpool.server\",\"value\":{\"stringValue\":\"git\"}},{\"key\":"
		  "\"mcpool.outcome\",\"value\":{\"stringValue\":\"answered\"}}],"
		  "\"droppedAttributesCount\":0,\"events\":[],\"droppedEventsCount\":0,"
		  "\"status\":{\"code\":0},\"links\":[],\"droppedLinksCount\":0,\"flags\":769}");
}

TEST(a_call_that_failed_says_why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_call_record r = done;

	r.outcome = MP_OUTCOME_UNKNOWN;
	r.code = MCPOOL_ETIMEDOUT;
	r.trace = (struct mp_trace){.is_unsampled = false}; /* a trace begins here */
	mp_buf_init(&out, 10000);
	CHECK_EQ(mp_otlp_add_span(&out, &r), 0);
	CHECK_EQ(mp_buf_terminate(&out), 0);
	CHECK(strstr(out.data,
		     "{\"key\":\"error.type\",\"value\":{\"stringValue\":\"timed_out\"}}"));
	CHECK(strstr(out.data, "\"status\":{\"code\":2,\"message\":\"timed_out\"}"));
	CHECK(strstr(out.data, "\"flags\":257}") && !strstr(out.data, "parentSpanId"));
	CHECK(!strstr(out.data, "\"traceId\":\"00000000000000000000000000000000\""));
}

TEST(secrets_in_names_become_dots)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_call_record r = done;

	r.method = MP_METHOD_RESOURCES_READ;
	r.subject = "https://h/x?token=hunter2hunter2";
	mp_buf_init(&out, 10000);
	CHECK_EQ(mp_otlp_add_span(&out, &r), 0);
	CHECK_EQ(mp_buf_terminate(&out), 0);
	CHECK(strstr(out.data, "mcp.resource.uri") && !strstr(out.data, "hunter2"));
}

/* --- sending --------------------------------------------------------------------------------- */

struct desk {
	struct mp_loop *loop;
	struct mp_call_log calls;
	struct mp_spans *spans;
	struct server server;
	struct mp_timer tick; /* turns do not wait for ever */
};

static const struct answer good[] = {
	{"/v1/traces", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", KEEP}, {NULL, NULL, KEEP}};
static const struct answer bad[] = {
	{"/v1/traces", "HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n", KEEP}, {NULL, NULL, KEEP}};

static void tick(void *u)
{
	mp_timer_start(&((struct desk *)u)->tick, 5);
}

static void desk_done(struct desk *d)
{
	mp_spans_free(d->spans);
	if (d->calls.loop)
		mp_call_log_done(&d->calls);
	if (d->loop) {
		server_stop(&d->server);
		mp_timer_stop(&d->tick);
	}
	mp_loop_free(d->loop);
	mp_log_set_sink(NULL, NULL);
	mp_secret_remove_all();
}

/* At our collector, or at another address. */
static int open_spans(struct desk *d, const char *path, const char *other, struct mcpool_error *why)
{
	struct mp_bind_pair pairs[] = {{"x-key", "hunter2hunter2"}};
	struct mp_otlp_settings settings = {.service = "s", .headers = {pairs, 1}};
	char endpoint[100];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d%s", d->server.port, path);
	settings.endpoint = other ? other : endpoint;
	return mp_spans_new(d->loop, &d->calls, &settings, &d->spans, why);
}

static bool desk_open(struct desk *d, const struct answer *answers)
{
	static const uint64_t key[2];

	lines[0] = '\0';
	mp_log_set_level(MP_LEVEL_INF);
	mp_log_set_sink(keep_line, NULL);
	REQUIRE(mp_loop_new(&d->loop) == 0);
	mp_call_log_init(&d->calls, d->loop, key);
	mp_timer_init(&d->tick, d->loop, tick, d);
	mp_timer_start(&d->tick, 5);
	REQUIRE(server_start(&d->server, d->loop, answers));
	return true;
}

#define DESK(d, answers)                           \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&d, answers))

static void note(struct desk *d, bool is_unsampled)
{
	struct mp_call_record r = done;

	r.trace.is_unsampled = is_unsampled;
	mp_call_log_add(&d->calls, &r, MP_STR("t"), MP_STR("{}"), false);
}

/* As the hub does when it ends. */
static bool finish(struct desk *d)
{
	for (int i = 0; i < 2000; i++) {
		if (mp_spans_finish(d->spans))
			return true;
		mp_loop_turn(d->loop, true);
	}
	return false;
}

/* Times have the same digits for centuries. */
static size_t size_of_three(void)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf spans;
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	int r = 0;

	mp_buf_init(&spans, 10000);
	mp_buf_init(&body, 20000);
	for (int i = 0; i < 3 && r == 0; i++) {
		r = i ? mp_buf_add_char(&spans, ',') : 0;
		if (r == 0)
			r = mp_otlp_add_span(&spans, &done);
	}
	if (r == 0)
		r = mp_otlp_write_request(&body, "s", mp_buf_get(&spans));
	return r < 0 ? 0 : body.len;
}

HEAVY_TEST(spans_are_sent_together)
{
	DESK(d, good);

	CHECK_EQ(open_spans(&d, "/", NULL, NULL), 0);
	for (int i = 0; i < 3; i++)
		note(&d, false);
	note(&d, true);
	CHECK(finish(&d));
	CHECK_EQ(d.server.n_requests, 1);
	CHECK(strstr(d.server.last, "POST /v1/traces HTTP/1.1\r\n"));
	CHECK(strstr(d.server.last, "Content-Type: application/json\r\n"));
	CHECK(strstr(d.server.last, "x-key: hunter2hunter2\r\n"));
	CHECK_EQ(d.server.last_body, size_of_three());
	CHECK_EQ(mp_spans_count_lost(d.spans), 0);
	CHECK(finish(&d)); /* nothing is left */
	CHECK_EQ(d.server.n_requests, 1);
}

HEAVY_TEST(what_a_collector_refuses_is_lost_and_said_once)
{
	DESK(d, bad);

	CHECK_EQ(open_spans(&d, "/v1/traces", NULL, NULL), 0);
	for (int i = 0; i < 2; i++) {
		note(&d, false);
		CHECK(finish(&d));
	}
	CHECK_EQ(d.server.n_requests, 2);
	CHECK_EQ(mp_spans_count_lost(d.spans), 2);
	CHECK_EQ(count_lines("otlp: spans are lost: the collector answers 400"), 1);
	d.server.answers = good;
	note(&d, false);
	CHECK(finish(&d));
	CHECK_EQ(count_lines("otlp: spans are taken again; 2 are lost"), 1);
}

/* Nothing answers: what does not fit in the queue is lost, and nothing grows. */
HEAVY_TEST(the_queue_is_bounded)
{
	static const struct answer silent[] = {{"/v1/traces", "", KEEP}, {NULL, NULL, KEEP}};
	DESK(d, silent);

	CHECK_EQ(open_spans(&d, "", NULL, NULL), 0);
	for (int i = 0; i < MP_SPANS_BATCH + MP_SPANS_MOST + 100; i++) {
		note(&d, false);
		if (i % 64 == 63)
			mp_loop_turn(d.loop, false);
	}
	mp_loop_turn(d.loop, false);
	CHECK_EQ(mp_spans_count_lost(d.spans), 100);
	CHECK_EQ(count_lines("otlp: spans are lost: the collector is too slow"), 1);
}

TEST(an_endpoint_that_is_no_address_is_said)
{
	struct mcpool_error why = {0};
	DESK(d, good);

	CHECK_EQ(open_spans(&d, "", "localhost:4318", &why), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "otlp.endpoint must be an address"));
	CHECK(!d.spans);
}
