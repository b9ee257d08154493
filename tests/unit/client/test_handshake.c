/*
 * test_handshake.c - detecting a server's era, as doc/design.md 3 has it: each way a server may
 * take the probe, through a whole upstream.
 */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "client/upstream.h"
#include "fake_server.h"

TEST(a_modern_server_answers_the_probe)
{
	MP_CLEANUP(fake_done) struct fake f;
	const struct mp_hello *hello;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK_EQ(f.n, 1);
	CHECK_TEXT(f.got[0].method, "server/discover");
	CHECK(strstr(f.got[0].text, "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""));
	CHECK(strstr(f.got[0].text, "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"tester\""));
	CHECK(strstr(f.got[0].text, "\"io.modelcontextprotocol/clientCapabilities\":{}"));
	CHECK(fake_answer(&f, 0, FAKE_DISCOVERED));
	CHECK_TEXT(f.news, "ready ");
	hello = mp_upstream_get_hello(f.up);
	CHECK_EQ(hello->era, MP_ERA_MODERN);
	CHECK_STR(hello->name, "fake");
	CHECK_STR(hello->server_version, "2");
	CHECK_EQ(hello->cache.ttl_ms, 1000);
	CHECK(!hello->cache.is_private);
	CHECK_EQ(f.n, 1); /* no initialize, which would pin a dual-era server to legacy */
}

/* A call before the server is ready is refused, and nothing of it is sent. */
static bool is_too_early(struct fake *f)
{
	const struct mp_call_options o = {.method = MP_METHOD_TOOLS_LIST, .params = MP_STR("{}")};
	int n = f->n;

	REQUIRE(heap_call(f->up, &o, fake_note, f, NULL) == MCPOOL_EAGAIN);
	fake_settle(f);
	return f->n == n;
}

/* As early as possible. */
static void list_when_ready(struct fake *f)
{
	const struct mp_call_options o = {.method = MP_METHOD_TOOLS_LIST, .params = MP_STR("{}")};

	f->ready_code = heap_call(f->up, &o, fake_note, f, NULL);
}

TEST(a_legacy_server_refuses_the_probe) /* A31 */
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.ready = list_when_ready;
	CHECK(fake_open(&f));
	CHECK(is_too_early(&f));
	CHECK_EQ(f.n, 1);
	CHECK_TEXT(f.got[0].method, "server/discover");
	CHECK(fake_error(&f, 0, FAKE_NO_METHOD));
	CHECK(is_too_early(&f));
	CHECK_EQ(f.n, 2);
	CHECK_TEXT(f.got[1].method, "initialize");
	CHECK(strstr(
		f.got[1].text,
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
		"\"clientInfo\":{\"name\":\"tester\",\"title\":\"A test\",\"version\":\"7\"}"));
	CHECK(!strstr(f.got[1].text, "_meta"));
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_TEXT(f.news, "ready ");
	CHECK_EQ(f.ready_code, 0);
	CHECK_EQ(f.n, 4);
	CHECK_TEXT(f.got[2].method, "notifications/initialized");
	CHECK_TEXT(f.got[3].method, "tools/list");
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_LEGACY);
	CHECK_STR(mp_upstream_get_hello(f.up)->version, "2025-11-25");
}

/* The fallback is not keyed to one code. */
TEST(any_error_to_the_probe_means_legacy)
{
	static const char *const errors[] = {
		"{\"code\":-32600,\"message\":\"Server not initialized\"}",
		"{\"code\":-32602,\"message\":\"bad\"}",
		"{\"code\":0,\"message\":\"\"}",
		"{\"message\":7}",
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2027-01-01\"]}}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(errors); i++) {
		MP_CLEANUP(fake_done) struct fake f;

		CHECK(fake_init(&f));
		CHECK(fake_open(&f));
		CHECK(fake_error(&f, 0, errors[i]));
		CHECK_TEXT(f.got[1].method, "initialize");
		CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
		CHECK_TEXT(f.news, "ready ");
	}
}

TEST(an_answer_to_the_probe_without_our_version_means_legacy)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK(fake_answer(&f, 0, "{\"supportedVersions\":[\"2030-01-01\"],\"capabilities\":{}}"));
	CHECK_TEXT(f.got[1].method, "initialize");
}

TEST(a_silent_server_gets_initialize_after_a_while)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 1499);
	CHECK_EQ(f.n, 1);
	fake_advance(&f, 1);
	CHECK_EQ(f.n, 2);
	CHECK_TEXT(f.got[1].method, "initialize");
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_TEXT(f.news, "ready ");
	/* It is legacy the next time, too, without waiting. */
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_LEGACY);
	CHECK(fake_open(&f));
	CHECK_TEXT(f.got[f.n - 1].method, "initialize");
}

TEST(a_slow_dual_era_server_is_legacy_for_this_life_only)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 1500);
	CHECK(fake_answer(&f, 0, FAKE_DISCOVERED)); /* too late */
	CHECK_TEXT(f.news, "");
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_TEXT(f.news, "ready ");
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_LEGACY);
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_MODERN);

	/* The next life waits for the answer it knows will come. */
	CHECK(fake_open(&f));
	fake_advance(&f, 5000);
	CHECK_TEXT(f.got[f.n - 1].method, "server/discover");
	CHECK(fake_answer(&f, f.n - 1, FAKE_DISCOVERED));
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_MODERN);
}

TEST(a_probe_answered_after_initialize_is_remembered)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 1500);
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_LEGACY);
	CHECK(fake_answer(&f, 0, FAKE_DISCOVERED));
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_LEGACY);
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_MODERN);
}

TEST(a_slow_modern_server_refuses_initialize_and_is_modern)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 1500);
	CHECK(fake_answer(&f, 0, FAKE_DISCOVERED));
	CHECK(fake_error(
		&f, 1,
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}"));
	CHECK_TEXT(f.news, "ready ");
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_MODERN);
}

TEST(a_server_that_dies_of_the_probe_is_dialled_again_without_it)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK_EQ(f.dials, 1);
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	CHECK_EQ(f.n, 2);
	CHECK_TEXT(f.got[1].method, "initialize");
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_TEXT(f.news, "ready ");
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_LEGACY);
}

TEST(a_server_that_dies_of_everything_is_dialled_twice_at_most) /* A33 */
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_die(&f);
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	CHECK_TEXT(f.news, "ended ");
	CHECK_TEXT(f.why.message, "handshake: the other side closed the stream");
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_BOTH);
}

TEST(a_server_that_dies_of_a_late_probe_is_dialled_again)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 1500); /* slow to start: both are written by now */
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	CHECK_TEXT(f.got[f.n - 1].method, "initialize");
}

TEST(an_outdated_legacy_era_is_found_out)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	mp_era_cache_set(&f.era_cache, MP_STR("key"), MP_ERA_LEGACY, 1000000);
	CHECK(fake_open(&f));
	CHECK_TEXT(f.got[0].method, "initialize");
	CHECK(fake_error(
		&f, 0,
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}"));
	CHECK_TEXT(f.got[1].method, "server/discover");
	CHECK(fake_answer(&f, 1, FAKE_DISCOVERED));
	CHECK_EQ(mp_upstream_get_hello(f.up)->era, MP_ERA_MODERN);
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_MODERN);
}

TEST(an_outdated_modern_era_is_found_out)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	mp_era_cache_set(&f.era_cache, MP_STR("key"), MP_ERA_MODERN, 1000000);
	CHECK(fake_open(&f));
	CHECK(fake_error(&f, 0, FAKE_NO_METHOD));
	CHECK_TEXT(f.got[1].method, "initialize");
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_LEGACY);
}

/* A version of ours in the list of a refusal: once more, and only once. */
TEST(a_refused_probe_is_repeated_once)
{
	static const char refusal[] =
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}";
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.options.eras = MP_ERA_MODERN;
	CHECK(fake_open(&f));
	CHECK(fake_error(&f, 0, refusal));
	CHECK_EQ(f.n, 2);
	CHECK_TEXT(f.got[1].method, "server/discover");
	CHECK(strcmp(f.got[0].id, f.got[1].id) != 0);
	CHECK(fake_error(&f, 1, refusal));
	CHECK_EQ(f.n, 2);
	CHECK_TEXT(f.news, "ended ");
	CHECK_EQ(f.why.code, MCPOOL_EPROTO);
}

TEST(a_repeated_probe_is_not_waited_for_either)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK(fake_error(
		&f, 0,
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}"));
	CHECK_TEXT(f.got[1].method, "server/discover");
	fake_advance(&f, 1500);
	CHECK_TEXT(f.got[2].method, "initialize");
}

TEST(era_legacy_never_probes)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.options.eras = MP_ERA_LEGACY;
	CHECK(fake_open(&f));
	fake_advance(&f, 2000);
	CHECK_EQ(f.n, 1);
	CHECK_TEXT(f.got[0].method, "initialize");
}

TEST(era_modern_never_falls_back)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.options.eras = MP_ERA_MODERN;
	CHECK(fake_open(&f));
	fake_advance(&f, 2000);
	CHECK_EQ(f.n, 1);
	CHECK(fake_error(&f, 0, "{\"code\":-32000,\"message\":\"go away\"}"));
	CHECK_TEXT(f.news, "ended ");
	CHECK_TEXT(f.why.message,
		   "handshake: the server refused server/discover: go away (-32000)");
	CHECK_EQ(f.n, 1);
}

TEST(era_modern_does_without_discover)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.options.eras = MP_ERA_MODERN;
	CHECK(fake_open(&f));
	CHECK(fake_error(&f, 0, FAKE_NO_METHOD));
	CHECK_TEXT(f.news, "ready ");
	CHECK(mp_upstream_get_hello(f.up)->offers & MP_OFFERS_TOOLS);
}

TEST(an_unknown_version_is_named)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.options.eras = MP_ERA_LEGACY;
	CHECK(fake_open(&f));
	CHECK(fake_answer(&f, 0, "{\"protocolVersion\":\"2099-01-01\",\"capabilities\":{}}"));
	CHECK_TEXT(f.news, "ended ");
	CHECK(strstr(f.why.message, "handshake: the server speaks protocol version '2099-01-01'"));
	CHECK(strstr(f.why.message, "2024-10-07"));
	CHECK_EQ(f.why.code, MCPOOL_EPROTO);
}

TEST(every_version_we_know_is_taken)
{
	static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
					       "2024-11-05", "2024-10-07"};

	for (size_t i = 0; i < MP_ARRAY_LEN(versions); i++) {
		MP_CLEANUP(fake_done) struct fake f;
		char result[100];

		CHECK(fake_init(&f));
		f.options.eras = MP_ERA_LEGACY;
		CHECK(fake_open(&f));
		snprintf(result, sizeof(result), "{\"protocolVersion\":\"%s\"}", versions[i]);
		CHECK(fake_answer(&f, 0, result));
		CHECK_TEXT(f.news, "ready ");
	}
}

/* server-everything does that (mcp-spec 3.6). */
TEST(notifications_before_the_answer_are_tolerated)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK(fake_say(&f,
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	CHECK(fake_error(&f, 0, FAKE_NO_METHOD));
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}"));
	CHECK(fake_answer(&f, 1, FAKE_INITIALIZED));
	CHECK_TEXT(f.news, "ready ");
	CHECK(fake_say(&f,
		       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	CHECK_TEXT(f.news, "ready notifications/tools/list_changed ");
}

static int (*dial_fake)(void *u, struct mp_transport **ret, struct mcpool_error *reterr);

static int start_nothing(struct mp_transport *t, struct mcpool_error *reterr)
{
	(void)t;
	(void)reterr;
	return 0;
}

/* A connection that is never made. */
static int dial_nowhere(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	static struct mp_transport_impl impl;
	int r = dial_fake(u, ret, reterr);

	if (r == 0) {
		impl = *(*ret)->impl;
		impl.start = start_nothing;
		(*ret)->impl = &impl;
	}
	return r;
}

/* A32 A66 */
TEST(the_handshake_has_one_deadline_for_both_lives)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 20000);
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	fake_advance(&f, 9999);
	CHECK_TEXT(f.news, "");
	fake_advance(&f, 1);
	CHECK_TEXT(f.news, "ended ");
	CHECK_EQ(f.why.code, MCPOOL_ETIMEDOUT);
	CHECK_TEXT(f.why.message, "handshake: no answer within 30 s");
	f.news[0] = '\0';
	f.options.timeout_ms = 5000; /* the one of its entry */
	CHECK(fake_open(&f));
	fake_advance(&f, 4999);
	CHECK_TEXT(f.news, "");
	fake_advance(&f, 1);
	CHECK_TEXT(f.why.message, "handshake: no answer within 5 s");
	dial_fake = f.options.dial;
	f.options.dial = dial_nowhere;
	f.news[0] = f.why.message[0] = '\0';
	CHECK(fake_open(&f));
	fake_advance(&f, 4999);
	CHECK_TEXT(f.news, "");
	fake_advance(&f, 1);
	CHECK_TEXT(f.news, "ended ");
	CHECK_EQ(f.why.code, MCPOOL_ETIMEDOUT);
}

/* A server that points to the modern era and dies of the attempt is not started for ever (A33). */
TEST(a_server_that_lures_into_the_probe_is_dialled_no_more_than_twice)
{
	static const char refusal[] =
		"{\"code\":-32022,\"message\":\"no\",\"data\":{\"supported\":[\"2026-07-28\"]}}";
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	CHECK(fake_error(&f, f.n - 1, refusal));
	CHECK_TEXT(f.got[f.n - 1].method, "server/discover");
	fake_die(&f);
	CHECK_EQ(f.dials, 2);
	CHECK_TEXT(f.news, "ended ");
}

/* It was modern yesterday and ignores the probe today: the next start must not wait in vain, too.
 */
TEST(a_cached_era_that_leads_to_silence_is_forgotten)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	mp_era_cache_set(&f.era_cache, MP_STR("key"), MP_ERA_MODERN, 1000000);
	CHECK(fake_open(&f));
	fake_advance(&f, 30000);
	CHECK_TEXT(f.news, "ended ");
	CHECK_EQ(mp_era_cache_get(&f.era_cache, MP_STR("key"), 1000000), MP_ERA_BOTH);
	CHECK(fake_open(&f));
	fake_advance(&f, 1500);
	CHECK_TEXT(f.got[f.n - 1].method, "initialize");
}

/* Over HTTP one request may be lost while the rest goes on: nothing else will end the handshake. */
TEST(a_handshake_whose_request_is_lost_alone_ends_at_once)
{
	for (int i = 0; i < 4; i++) {
		MP_CLEANUP(fake_done) struct fake f;
		struct mcpool_error why;
		struct mp_transport *t;
		char id[24];

		CHECK(fake_init(&f));
		f.traits = MP_TRANSPORT_PER_REQUEST;
		CHECK(fake_open(&f));
		if (i & 1)
			CHECK(fake_error(&f, 0, FAKE_NO_METHOD));
		CHECK_EQ(f.n, 1 + (i & 1));
		CHECK_EQ(sscanf(strstr(f.got[f.n - 1].text, "\"id\":"), "\"id\":%20[0-9]", id), 1);
		(void)mp_fail(&why, MCPOOL_EAGAIN, "it answered HTTP 503");
		why.retry_ms = 7000;
		t = f.up->transport;
		t->hooks->lost(t->u, mp_str_of(id),
			       i & 2 ? MP_UNANSWERED_UNKNOWN : MP_UNANSWERED_NOT_TAKEN, &why);
		fake_settle(&f);
		CHECK(strstr(f.news, "ended"));
		CHECK(strstr(f.why.message, "HTTP 503"));
		CHECK_EQ(f.why.retry_ms, i & 2 ? 0 : 7000);
		CHECK_EQ(f.dials, 1);
	}
}
