/*
 * test_era_modern.c - _meta on every request, discover, kinds of results, cache hints, listening.
 */
#include "fake_message.h"

static int read_discover(struct fake_message *f, const char *result, struct mp_hello *ret_hello)
{
	if (!fake_message_set(f, "result", result))
		return MCPOOL_ENOMEM;
	return mp_modern_read_discover(&f->m, &f->arena, ret_hello, &f->error);
}

static int write_meta(const struct mp_identity *me, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf who;
	int r;

	mp_buf_init(&who, MP_KIB(4));
	r = mp_modern_write_who(me, &who);
	return r < 0 ? r
		     : mp_modern_write_meta_for(mp_buf_get(&who), me->capabilities, me->log_level,
						out);
}

TEST(what_meta_says_on_every_request)
{
	struct mp_identity me = {.name = "mcpool",
				 .version = "0.1.0",
				 .capabilities = MP_STR("{\"elicitation\":{}}")};
	MP_CLEANUP(mp_buf_done) struct mp_buf small;
	WITH_MESSAGE(f);

	mp_buf_init(&small, 20);
	CHECK_EQ(write_meta(&me, &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
		  "\"io.modelcontextprotocol/"
		  "clientInfo\":{\"name\":\"mcpool\",\"version\":\"0.1.0\"},"
		  "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}");
	CHECK_EQ(write_meta(&me, &small), MCPOOL_ELIMIT);
}

TEST(logs_are_asked_for_on_every_request)
{
	struct mp_identity me = {.name = "mcpool",
				 .version = "0.1.0",
				 .capabilities = MP_STR("{}"),
				 .log_level = "info"};
	WITH_MESSAGE(f);

	CHECK_EQ(write_meta(&me, &f.out), 0);
	CHECK(mp_str_find(mp_buf_get(&f.out),
			  MP_STR("\"io.modelcontextprotocol/logLevel\":\"info\"}"), 0) > 0);
}

/* --- discover ------------------------------------------------------------------------------- */

TEST(discover_in_full)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(
		read_discover(&f,
			      "{\"resultType\":\"complete\",\"supportedVersions\":"
			      "[\"2030-01-01\",\"2026-07-28\"],"
			      "\"capabilities\":{\"tools\":{ },\"resources\":{\"subscribe\":true}},"
			      "\"instructions\":\"i\",\"ttlMs\":60000,\"cacheScope\":\"public\","
			      "\"_meta\":{\"io.modelcontextprotocol\\/serverInfo\":"
			      "{\"name\":\"s\",\"title\":\"S\",\"version\":\"9\"}}}",
			      &hello),
		0);
	memset(f.text.data, 'x', f.text.len);
	CHECK_EQ(hello.era, MP_ERA_MODERN);
	CHECK_STR(hello.version, "2026-07-28");
	CHECK_STR(hello.name, "s");
	CHECK_STR(hello.title, "S");
	CHECK_STR(hello.server_version, "9");
	CHECK_STR(hello.instructions, "i");
	CHECK_STR(hello.capabilities, "{\"tools\":{ },\"resources\":{\"subscribe\":true}}");
	CHECK_EQ(hello.offers, MP_OFFERS_TOOLS | MP_OFFERS_RESOURCES | MP_OFFERS_SUBSCRIBE);
	CHECK_EQ(hello.cache.ttl_ms, 60000);
	CHECK(!hello.cache.is_private);
}

TEST(discover_with_nothing_but_a_version)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_discover(&f, "{\"supportedVersions\":[\"2026-07-28\"]}", &hello), 0);
	CHECK(hello.name.len == 0 && hello.capabilities.len == 0 && hello.offers == 0);
	CHECK(hello.cache.ttl_ms == 0 && hello.cache.is_private);
}

TEST(discover_without_our_version_is_refused)
{
	static const char *const bad[] = {
		"{}",
		"{\"supportedVersions\":[]}",
		"{\"supportedVersions\":\"2026-07-28\"}",
		"{\"supportedVersions\":{\"2026-07-28\":1}}",
		"{\"supportedVersions\":[\"2025-11-25\",20260728,null,[\"2026-07-28\"]]}",
		"{\"supportedversions\":[\"2026-07-28\"]}",
		"[\"2026-07-28\"]",
		"null",
		"\"2026-07-28\"",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		struct mp_hello hello;
		WITH_MESSAGE(f);

		CHECK(test_equal(read_discover(&f, bad[i], &hello), MCPOOL_EPROTO, bad[i], __FILE__,
				 __LINE__));
		CHECK(strstr(f.error.message, "do not include 2026-07-28"));
	}
}

TEST(the_versions_it_has_are_named)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_discover(&f, "{\"supportedVersions\":[\"2030-01-01\"]}", &hello),
		 MCPOOL_EPROTO);
	CHECK_TEXT(f.error.message,
		   "the server's versions [\"2030-01-01\"] do not include 2026-07-28");
}

TEST(discover_with_hostile_types)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_discover(&f,
			       "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":1,"
			       "\"instructions\":[],\"_meta\":[],\"ttlMs\":\"1\",\"cacheScope\":1}",
			       &hello),
		 0);
	CHECK(hello.offers == 0 && hello.instructions.len == 0 && hello.name.len == 0);
	CHECK_STR(hello.capabilities, "1");
	CHECK(hello.cache.ttl_ms == 0 && hello.cache.is_private);
	CHECK(fake_message_set(&f, "error", "{\"code\":-1}"));
	CHECK(mp_modern_read_discover(&f.m, &f.arena, &hello, &f.error) < 0);
}

TEST(what_does_not_fit_the_arena_is_told)
{
	static const char *const members[] = {
		"\"instructions\":\"",
		"\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"",
		"\"capabilities\":{\"x\":\"",
	};
	static const char *const ends[] = {"", "}}", "}"};

	for (size_t i = 0; i < MP_ARRAY_LEN(members); i++) {
		struct mp_hello hello;
		WITH_MESSAGE(f);

		mp_arena_done(&f.arena);
		mp_arena_init(&f.arena, 4096);
		CHECK_EQ(mp_buf_addf(&f.out,
				     "{\"supportedVersions\":[\"2026-07-28\"],%s%08000d\"%s}",
				     members[i], 0, ends[i]),
			 0);
		CHECK_EQ(mp_buf_terminate(&f.out), 0);
		CHECK_EQ(read_discover(&f, f.out.data, &hello), MCPOOL_ELIMIT);
		CHECK_EQ(f.error.code, MCPOOL_ELIMIT);
	}
}

/* --- another version ------------------------------------------------------------------------ */

TEST(whether_to_try_again)
{
	static const struct {
		const char *error;
		bool retry, refusal;
	} rows[] = {
		{"{\"code\":-32022,\"data\":{\"supported\":[\"2026-07-28\"]}}", true, true},
		{"{\"code\":-32022,\"data\":{\"supported\":[\"2031-01-01\",\"2026-07-28\"],"
		 "\"requested\":\"x\"}}",
		 true, true},
		{"{\"code\":-32022,\"data\":{\"supported\":[\"2025-11-25\"]}}", false, true},
		{"{\"code\":-32022,\"data\":{\"supported\":\"2026-07-28\"}}", false, true},
		{"{\"code\":-32022,\"data\":[\"2026-07-28\"]}", false, true},
		{"{\"code\":-32022,\"data\":null}", false, true},
		{"{\"code\":-32022}", false, true},
		{"{\"code\":\"-32022\",\"data\":{\"supported\":[\"2026-07-28\"]}}", false, false},
		{"{\"code\":-32601,\"data\":{\"supported\":[\"2026-07-28\"]}}", false, false},
		{"{}", false, false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		bool refusal = !rows[i].refusal;
		WITH_MESSAGE(f);

		CHECK(fake_message_set(&f, "error", rows[i].error));
		CHECK(test_equal(mp_modern_may_retry(&f.m, &refusal), rows[i].retry, rows[i].error,
				 __FILE__, __LINE__));
		CHECK_EQ(refusal, rows[i].refusal);
	}
}

TEST(the_versions_an_error_lists)
{
	WITH_MESSAGE(f);

	CHECK(fake_message_set(&f, "error", "{\"data\":{\"supported\":[\"2031-01-01\", 1 ]}}"));
	CHECK_STR(mp_modern_read_supported(&f.m), "[\"2031-01-01\", 1 ]");
	CHECK(fake_message_set(&f, "error", "{\"data\":[],\"supported\":[]}"));
	CHECK_EQ(mp_modern_read_supported(&f.m).len, 0);
	CHECK(fake_message_set(&f, "error", "{}"));
	CHECK_EQ(mp_modern_read_supported(&f.m).len, 0);
}

/* --- results -------------------------------------------------------------------------------- */

TEST(kinds_of_results)
{
	static const struct {
		const char *result;
		enum mp_result_kind kind;
		const char *asks, *state;
	} rows[] = {
		{"{}", MP_RESULT_COMPLETE, "", ""}, /* an older server */
		{"{\"resultType\":\"complete\",\"requestState\":\"s\"}", MP_RESULT_COMPLETE, "",
		 ""},
		{"{\"result\\u0054ype\":\"\\u0063omplete\"}", MP_RESULT_COMPLETE, "", ""},
		{"{\"resultType\":\"task\"}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":\"task\",\"taskId\":1}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":\"t\\u0061sk\",\"taskId\":\"x\"}", MP_RESULT_TASK, "", ""},
		{"{\"resultType\":\"Complete\"}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":\"\"}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":null}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":{}}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{}}}",
		 MP_RESULT_INPUT_REQUIRED, "{\"a\":{}}", ""},
		{"{\"resultType\":\"input_required\",\"requestState\":\"\\u0073\\/\"}",
		 MP_RESULT_INPUT_REQUIRED, "", "\"\\u0073\\/\""},
		{"{\"resultType\":\"input_required\",\"requestState\":\"\"}",
		 MP_RESULT_INPUT_REQUIRED, "", "\"\""},
		{"{\"resultType\":\"input_required\",\"inputRequests\":{},\"requestState\":\"s\"}",
		 MP_RESULT_INPUT_REQUIRED, "{}", "\"s\""},
		{"{\"resultType\":\"input_required\"}", MP_RESULT_UNKNOWN, "", ""},
		{"{\"resultType\":\"input_required\",\"inputRequests\":[]}", MP_RESULT_UNKNOWN, "",
		 ""},
		{"{\"resultType\":\"input_required\",\"requestState\":{}}", MP_RESULT_UNKNOWN, "",
		 ""},
		{"{\"resultType\":\"input_required\",\"inputRequests\":{},\"requestState\":1}",
		 MP_RESULT_UNKNOWN, "{}", ""},
		{"{\"resultType\":\"input_required\",\"inputRequests\":1,\"requestState\":\"s\"}",
		 MP_RESULT_UNKNOWN, "", "\"s\""},
		{"[]", MP_RESULT_COMPLETE, "", ""},
		{"null", MP_RESULT_COMPLETE, "", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_result result;
		WITH_MESSAGE(f);

		CHECK(fake_message_set(&f, "result", rows[i].result));
		mp_modern_read_result(&f.m, &result);
		CHECK(test_equal(result.kind, rows[i].kind, rows[i].result, __FILE__, __LINE__));
		CHECK(test_same_text(result.input_requests, mp_str_of(rows[i].asks), "asks",
				     __FILE__, (int)i));
		CHECK(test_same_text(result.request_state, mp_str_of(rows[i].state), "state",
				     __FILE__, (int)i));
	}
}

TEST(how_long_a_result_may_be_kept_and_for_whom)
{
	static const struct {
		const char *result;
		int64_t ttl_ms;
		bool is_private;
	} rows[] = {
		{"{}", 0, true},
		{"{\"ttlMs\":0,\"cacheScope\":\"private\"}", 0, true},
		{"{\"ttlMs\":300000,\"cacheScope\":\"public\"}", 300000, false},
		{"{\"ttlMs\":-1,\"cacheScope\":\"public\"}", 0, false},
		{"{\"ttlMs\":-9223372036854775808}", 0, true},
		{"{\"ttlMs\":9223372036854775807}", INT64_MAX, true},
		{"{\"ttlMs\":9223372036854775808}", 0, true},
		{"{\"ttlMs\":1e400}", 0, true},
		{"{\"ttlMs\":1.5}", 0, true},
		{"{\"ttlMs\":\"5\",\"cacheScope\":\"PUBLIC\"}", 0, true},
		{"{\"ttlMs\":null,\"cacheScope\":[\"public\"]}", 0, true},
		{"{\"ttlMs\":[5],\"cacheScope\":\"other\"}", 0, true},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_result result;
		WITH_MESSAGE(f);

		CHECK(fake_message_set(&f, "result", rows[i].result));
		mp_modern_read_result(&f.m, &result);
		CHECK(test_equal(result.cache.ttl_ms, rows[i].ttl_ms, rows[i].result, __FILE__,
				 __LINE__));
		CHECK_EQ(result.cache.is_private, rows[i].is_private);
	}
}

/* --- listening ------------------------------------------------------------------------------ */

TEST(what_a_listener_wants_to_hear_of)
{
	const struct mp_str uris[] = {MP_STR("file:///a"), MP_STR("x:\"\xff\"")};
	struct mp_listen_filter nothing = {0};
	struct mp_listen_filter all = {true, true, true, uris, 2};
	struct mp_listen_filter some = {.prompts = true};
	MP_CLEANUP(mp_buf_done) struct mp_buf small;
	WITH_MESSAGE(f);

	mp_buf_init(&small, 20);
	CHECK_EQ(mp_modern_write_listen(&nothing, &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"notifications\":{}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_modern_write_listen(&some, &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"notifications\":{\"promptsListChanged\":true}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_modern_write_listen(&all, &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true,"
		  "\"resourcesListChanged\":true,"
		  "\"resourceSubscriptions\":[\"file:///a\",\"x:\\\"\xef\xbf\xbd\\\"\"]}}");
	CHECK_EQ(mp_modern_write_listen(&all, &small), MCPOOL_ELIMIT);
}
