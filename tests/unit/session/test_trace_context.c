/*
 * test_trace_context.c - which trace a server learns of: that of the agent, of the headers it came
 * with, and our span in it.
 */
#include "test.h"

#include "rpc/trace.h"
#include "two_servers.h"

#define ID      "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT  "00f067aa0ba902b7"
#define SAMPLED "00-" ID "-" PARENT "-01"
#define SILENT  "00-" ID "-" PARENT "-00"

/* A call with these members in _meta; what the server got. */
static const char *call_with(struct two_servers *s, const char *meta,
			     const struct mp_trace_texts *headers)
{
	static char text[1000];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"mcp__git__t\",\"_meta\":{%s}}}",
		 meta);
	if (headers)
		mp_session_note_trace(s->a.session, headers);
	if (agent_say(&s->a, &s->f, text, 0) != 1)
		return "";
	return fleet_get(&s->f, "git")->last_params;
}

static bool open_one(struct two_servers *s)
{
	REQUIRE(two_servers_open(s, two, MP_SESSION_ONE_STREAM));
	REQUIRE(agent_initialize(&s->a, &s->f));
	REQUIRE(agent_say(&s->a, &s->f, list, 0) == 1);
	fleet_advance(&s->f, 300);
	return true;
}

TEST(what_the_agent_says_passes_unchanged)
{
	TWO_SERVERS(s);
	const char *got;

	CHECK(open_one(&s));
	/* Also where its form is wrong. */
	CHECK_EQ(agent_say(&s.a, &s.f, call("\"x\"", "mcp__git__t"), 0), 1);
	CHECK(strstr(fleet_get(&s.f, "git")->last_params, "\"traceparent\":\"00-1\""));
	got = call_with(&s, "\"traceparent\":\"odd\",\"tracestate\":\"a=1\",\"baggage\":\"k=v\"",
			NULL);
	CHECK(strstr(got, "\"traceparent\":\"odd\",\"tracestate\":\"a=1\",\"baggage\":\"k=v\""));
}

TEST(headers_count_where_the_message_says_nothing)
{
	const struct mp_trace_texts headers = {MP_STR(SAMPLED), MP_STR("a=1"), MP_STR("k=v")};
	const struct mp_trace_texts broken = {MP_STR("00-1"), MP_STR("a=1"), MP_STR("\xff")};
	const struct mp_trace_texts newer = {MP_STR("01-" ID "-" PARENT "-01-x"), .state = {0}};
	const struct mp_trace_texts odd = {MP_STR("01-" ID "-" PARENT "-01-\xff"), .state = {0}};
	TWO_SERVERS(s);
	const char *got;

	CHECK(open_one(&s));
	got = call_with(&s, "\"vendor/x\":1", &headers);
	CHECK(strstr(got, "\"vendor/x\":1,\"traceparent\":\"" SAMPLED "\",\"tracestate\":\"a=1\","
			  "\"baggage\":\"k=v\""));
	got = call_with(&s, "", &headers);
	CHECK(strstr(got, "\"traceparent\":\"" SAMPLED "\""));
	/* Once: the next message has headers of its own. */
	CHECK(!strstr(call_with(&s, "", NULL), "traceparent"));
	got = call_with(&s, "\"traceparent\":\"own\"", &headers);
	CHECK(strstr(got, "\"traceparent\":\"own\"") && strstr(got, "\"baggage\":\"k=v\""));
	CHECK(!strstr(got, "tracestate") && !strstr(got, ID));
	got = call_with(&s, "", &broken);
	CHECK(!strstr(got, "trace") && !strstr(got, "baggage"));
	CHECK(strstr(call_with(&s, "", &newer), PARENT "-01-x\""));
	CHECK(!strstr(call_with(&s, "", &odd), "trace"));
}

TEST(our_span_is_the_parent_of_the_servers)
{
	TWO_SERVERS(s);
	const char *got;

	CHECK(open_one(&s));
	mp_pool_set_tracing(s.f.pool, true);
	got = call_with(&s, "\"traceparent\":\"" SAMPLED "\",\"tracestate\":\"a=1\",\"x/y\":2",
			NULL);
	CHECK(strstr(got, "\"traceparent\":\"00-" ID "-") && !strstr(got, PARENT));
	CHECK(strstr(got, "\"tracestate\":\"a=1\"") && strstr(got, "\"x/y\":2"));
	/* One that its caller does not record stays as it is. */
	got = call_with(&s, "\"traceparent\":\"" SILENT "\"", NULL);
	CHECK(strstr(got, "\"traceparent\":\"" SILENT "\""));
	/* Without one, or with a broken one, a trace begins here. */
	got = call_with(&s, "", NULL);
	CHECK(strstr(got, "\"traceparent\":\"00-") && !strstr(got, ID));
	got = call_with(&s, "\"traceparent\":\"00-1\",\"tracestate\":\"a=1\"", NULL);
	CHECK(strstr(got, "\"traceparent\":\"00-") && !strstr(got, "\"00-1\""));
	CHECK(!strstr(got, "tracestate"));
}
