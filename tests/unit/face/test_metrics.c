/*
 * test_metrics.c - /metrics, /healthz and /readyz: what they say, and to which requests.
 */
#include "front.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

static bool call_git(struct front *s, struct visitor *v)
{
	return visitor_ask(s, v, "POST /mcp",
			   JSON_HEADERS
			   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
			   "Mcp-Name: mcp__git__t\r\n",
			   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
			   "\"name\":\"mcp__git__t\"," AGENT_META "}}");
}

/* All calls took 0 us by the clock of the test. */
static const char calls[] =
	"# HELP mcpool_calls_total Calls that have ended, by outcome.\n"
	"# TYPE mcpool_calls_total counter\n"
	"mcpool_calls_total{server=\"git\",outcome=\"answered\"} 2\n"
	"mcpool_calls_total{server=\"git\",outcome=\"error\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"tool_error\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"not_sent\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"unknown\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"refused\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"timeout\"} 0\n"
	"mcpool_calls_total{server=\"git\",outcome=\"cancelled\"} 0\n"
	"# HELP mcpool_call_duration_seconds Time at the server of calls that it answered.\n"
	"# TYPE mcpool_call_duration_seconds histogram\n"
	"mcpool_call_duration_seconds_bucket{server=\"git\",le=\"0.000256\"} 2\n";
static const char last_buckets[] =
	"mcpool_call_duration_seconds_bucket{server=\"git\",le=\"67.108864\"} 2\n"
	"mcpool_call_duration_seconds_bucket{server=\"git\",le=\"+Inf\"} 2\n"
	"mcpool_call_duration_seconds_sum{server=\"git\"} 0\n"
	"mcpool_call_duration_seconds_count{server=\"git\"} 2\n"
	"# HELP mcpool_server_restarts_total Lives of a server that followed a failed one.\n"
	"# TYPE mcpool_server_restarts_total counter\n"
	"mcpool_server_restarts_total{server=\"git\"} 0\n"
	"# HELP mcpool_server_instances_up Running copies of a server that take calls.\n"
	"# TYPE mcpool_server_instances_up gauge\n"
	"mcpool_server_instances_up{server=\"git\"} 1\n";
static const char states[] = "# TYPE mcpool_server_state gauge\n"
			     "mcpool_server_state{server=\"git\",state=\"connected\"} 1\n"
			     "mcpool_server_state{server=\"git\",state=\"pending\"} 0\n"
			     "mcpool_server_state{server=\"git\",state=\"failed\"} 0\n"
			     "mcpool_server_state{server=\"git\",state=\"needs-approval\"} 0\n"
			     "mcpool_server_state{server=\"git\",state=\"needs-auth\"} 0\n"
			     "mcpool_server_state{server=\"git\",state=\"ready\"} 0\n"
			     "mcpool_server_state{server=\"git\",state=\"disabled\"} 0\n";

/* What promtool does not notice: a series twice, HELP twice, a histogram without +Inf. */
static bool is_well_formed(const char *body)
{
	MP_CLEANUP(mp_map_done) struct mp_map seen;
	const char *line = body, *end;
	int buckets = 0, infinite = 0;

	mp_map_init(&seen, 10000);
	for (; *line; line = end + 1) {
		struct mp_str key = {line, 0};

		end = strchr(line, '\n');
		REQUIRE(end);
		while (key.len < (size_t)(end - line))
			key.len++;
		if (*line != '#') /* without the value */
			while (key.p[key.len - 1] != ' ')
				key.len--;
		REQUIRE(!mp_map_has(&seen, key));
		REQUIRE(mp_map_set(&seen, key, (void *)body) == 0);
		buckets += memmem(key.p, key.len, "le=\"0.000256\"", 13) != NULL;
		infinite += memmem(key.p, key.len, "le=\"+Inf\"", 9) != NULL;
	}
	REQUIRE(buckets == infinite && buckets > 0);
	return true;
}

HEAVY_TEST(metrics_are_said_as_prometheus_reads_them)
{
	FRONT(s);
	VISITOR(v);
	const char *body;

	CHECK(front_open(&s, one, false));
	CHECK(call_git(&s, &v));
	CHECK(call_git(&s, &v));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_ask(&s, &v, "GET /metrics", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	CHECK(visitor_has(&v, calls));
	CHECK(visitor_has(&v, last_buckets));
	CHECK(visitor_has(&v, states));
	CHECK(visitor_has(&v, "\nmcpool_ready 0\n"));
	CHECK(visitor_has(&v, "\nmcpool_process_resident_memory_bytes "));
	body = strstr(visitor_hears(&v), "\r\n\r\n");
	CHECK(body && is_well_formed(body + 4));
	mp_http_face_set_ready(s.face);
	CHECK(visitor_ask(&s, &v, "GET /metrics", NULL, NULL));
	CHECK(visitor_has(&v, "\nmcpool_ready 1\n"));
}

TEST(names_of_servers_are_escaped)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, "{\"mcpServers\":{\"a\\\"b\\\\c\":{\"command\":\"y\"}}}", false));
	CHECK(visitor_ask(&s, &v, "GET /metrics", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "mcpool_server_state{server=\"a\\\"b\\\\c\",state=\"connected\"}"));
}

TEST(healthz_needs_no_token_and_names_nothing)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	v.no_token = true;
	CHECK(visitor_ask(&s, &v, "GET /healthz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "\r\n\r\nok\n"));
	CHECK(!visitor_has(&v, "git") && !visitor_has(&v, "mcpool"));
	v.host = "evil.example";
	CHECK(visitor_ask(&s, &v, "GET /healthz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 403);
}

TEST(readyz_follows_the_gate)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "GET /readyz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 503);
	mp_http_face_set_ready(s.face);
	CHECK(visitor_ask(&s, &v, "GET /readyz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	v.no_token = true;
	CHECK(visitor_ask(&s, &v, "GET /readyz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 401);
}

TEST(a_hub_that_drains_is_not_ready)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	mp_http_face_set_ready(s.face);
	s.face->draining = true;
	CHECK(visitor_ask(&s, &v, "GET /readyz", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 503);
	CHECK(visitor_ask(&s, &v, "GET /metrics", NULL, NULL));
	CHECK(visitor_has(&v, "\nmcpool_ready 0\n"));
}

/* An address of the list needs no token for these two, and for nothing else. */
HEAVY_TEST(an_allowed_address_needs_no_token_for_metrics)
{
	FRONT(s);
	VISITOR(near);
	VISITOR(far);

	CHECK(front_open(&s, one, false));
	CHECK_EQ(mp_address_list_add(&s.face->admit.metrics_from, "10.0.0.0/8", NULL), 0);
	near.no_token = far.no_token = true;
	near.conn.base.peer = (struct mp_address){{[10] = 0xff, 0xff, 10, 1, 2, 3}};
	far.conn.base.peer = (struct mp_address){{[10] = 0xff, 0xff, 11, 1, 2, 3}};
	CHECK(visitor_ask(&s, &near, "GET /metrics", NULL, NULL));
	CHECK_EQ(visitor_status(&near), 200);
	CHECK(visitor_ask(&s, &near, "GET /readyz", NULL, NULL));
	CHECK_EQ(visitor_status(&near), 503);
	CHECK(visitor_ask(&s, &near, "GET /metrics", "Sec-Fetch-Site: cross-site\r\n", NULL));
	CHECK_EQ(visitor_status(&near), 403);
	CHECK(visitor_ask(&s, &near, "GET /health", NULL, NULL));
	CHECK_EQ(visitor_status(&near), 401);
	CHECK(visitor_ask(&s, &far, "GET /metrics", NULL, NULL));
	CHECK_EQ(visitor_status(&far), 401);
}
