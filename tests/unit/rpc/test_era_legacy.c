/* test_era_legacy.c - initialize, written and read; versions known, unknown and missing. */
#include "fake_message.h"

static int read_initialize(struct fake_message *f, const char *result, struct mp_hello *ret_hello)
{
	if (!fake_message_set(f, "result", result))
		return MCPOOL_ENOMEM;
	return mp_legacy_read_initialize(&f->m, &f->arena, ret_hello, &f->error);
}

TEST(initialize_as_we_write_it)
{
	struct mp_identity me = {.name = "mcpool",
				 .title = "mcpool \"pool\"",
				 .version = "0.1.0",
				 .capabilities = MP_STR("{\"roots\":{\"listChanged\":true}}")};
	WITH_MESSAGE(f);

	CHECK_EQ(mp_legacy_write_initialize(&me, &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"protocolVersion\":\"2025-11-25\","
		  "\"capabilities\":{\"roots\":{\"listChanged\":true}},"
		  "\"clientInfo\":{\"name\":\"mcpool\",\"title\":\"mcpool \\\"pool\\\"\","
		  "\"version\":\"0.1.0\"}}");
}

TEST(initialize_fits_or_fails)
{
	struct mp_identity me = {.name = "n", .version = "1", .capabilities = MP_STR("{}")};
	MP_CLEANUP(mp_buf_done) struct mp_buf small;

	mp_buf_init(&small, 20);
	CHECK_EQ(mp_legacy_write_initialize(&me, &small), MCPOOL_ELIMIT);
}

TEST(the_answer_in_full)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_initialize(&f,
				 "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":"
				 "{ \"tools\":{\"listChanged\":true}, \"logging\":{}},"
				 "\"serverInfo\":{\"name\":\"s\",\"title\":\"S \\u00e4\","
				 "\"version\":\"9\",\"icons\":[]},"
				 "\"instructions\":\"be\\nkind\",\"_meta\":{}}",
				 &hello),
		 0);
	memset(f.text.data, 'x', f.text.len); /* what was read is ours */
	CHECK_EQ(hello.era, MP_ERA_LEGACY);
	CHECK_STR(hello.version, "2025-06-18");
	CHECK_STR(hello.name, "s");
	CHECK_STR(hello.title, "S \xc3\xa4");
	CHECK_STR(hello.server_version, "9");
	CHECK_STR(hello.instructions, "be\nkind");
	CHECK_STR(hello.capabilities, "{ \"tools\":{\"listChanged\":true}, \"logging\":{}}");
	CHECK_EQ(hello.offers, MP_OFFERS_TOOLS | MP_OFFERS_TOOLS_CHANGES | MP_OFFERS_LOGGING);
}

TEST(every_version_we_know)
{
	static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
					       "2024-11-05", "2024-10-07"};

	for (size_t i = 0; i < MP_ARRAY_LEN(versions); i++) {
		struct mp_hello hello;
		char text[64];
		WITH_MESSAGE(f);

		CHECK(mp_legacy_knows(mp_str_of(versions[i])));
		CHECK(strstr(mp_legacy_list_versions(), versions[i]));
		snprintf(text, sizeof(text), "{\"protocolVersion\":\"%s\"}", versions[i]);
		CHECK_EQ(read_initialize(&f, text, &hello), 0);
		CHECK(test_same_text(hello.version, mp_str_of(versions[i]), "version", __FILE__,
				     __LINE__));
	}
	CHECK_TEXT(mp_legacy_list_versions(),
		   "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07");
	CHECK_TEXT(mp_legacy_list_versions(), /* again */
		   "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07");
	CHECK(mp_legacy_knows(MP_STR(MP_LEGACY_VERSION)));
	CHECK(!mp_legacy_knows(MP_STR(MP_MODERN_VERSION)));
	CHECK(!mp_legacy_knows(MP_STR("")));
	CHECK(!mp_legacy_knows(MP_STR("2025-11-2")));
}

TEST(a_version_nobody_knows_is_named)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_initialize(&f, "{\"protocolVersion\":\"1999-01-01\"}", &hello),
		 MCPOOL_EPROTO);
	CHECK_TEXT(f.error.message,
		   "the server speaks protocol version '1999-01-01'; mcpool knows 2026-07-28 and "
		   "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07");
	CHECK_EQ(read_initialize(&f, "{}", &hello), MCPOOL_EPROTO);
	CHECK_TEXT(f.error.message, "the answer to initialize names no version");
	CHECK_EQ(read_initialize(&f, "{\"protocolVersion\":20251125}", &hello), MCPOOL_EPROTO);
	CHECK_TEXT(f.error.message, "the answer to initialize names no version");
}

TEST(a_version_of_any_length_is_cut_in_words)
{
	char text[4096] = "{\"protocolVersion\":\"";
	struct mp_hello hello;
	WITH_MESSAGE(f);

	memset(text + strlen(text), 'v', 4000);
	memcpy(text + 4000, "\"}", 3);
	CHECK_EQ(read_initialize(&f, text, &hello), MCPOOL_EPROTO);
	CHECK(strlen(f.error.message) < sizeof(f.error.message));
	CHECK(strstr(f.error.message, "'vvvv"));
}

TEST(what_is_missing_is_empty)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_initialize(&f, "{\"protocolVersion\":\"2025-11-25\"}", &hello), 0);
	CHECK(hello.name.len == 0 && hello.title.len == 0 && hello.server_version.len == 0);
	CHECK(hello.instructions.len == 0 && hello.capabilities.len == 0 && hello.offers == 0);
	CHECK(hello.cache.ttl_ms == 0);
}

TEST(what_is_of_another_type_is_empty)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK_EQ(read_initialize(
			 &f,
			 "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":[{\"tools\":{}}],"
			 "\"serverInfo\":{\"name\":[\"n\"],\"title\":null,\"version\":1},"
			 "\"instructions\":{\"a\":\"b\"}}",
			 &hello),
		 0);
	CHECK(hello.name.len == 0 && hello.title.len == 0 && hello.server_version.len == 0);
	CHECK(hello.instructions.len == 0 && hello.offers == 0);
	CHECK_EQ(read_initialize(&f, "{\"protocolVersion\":\"2025-11-25\",\"serverInfo\":\"name\"}",
				 &hello),
		 0);
	CHECK_EQ(hello.name.len, 0);
}

TEST(an_answer_that_is_no_object_is_refused)
{
	static const char *const bad[] = {"null", "[]", "1", "\"2025-11-25\"", "true"};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		struct mp_hello hello;
		WITH_MESSAGE(f);

		CHECK_EQ(read_initialize(&f, bad[i], &hello), MCPOOL_EPROTO);
		CHECK(strstr(f.error.message, "the answer to initialize is "));
	}
}

TEST(an_error_is_no_answer_to_read)
{
	struct mp_hello hello;
	WITH_MESSAGE(f);

	CHECK(fake_message_set(&f, "error", "{\"code\":-1}"));
	CHECK(mp_legacy_read_initialize(&f.m, &f.arena, &hello, &f.error) < 0);
}

TEST(what_does_not_fit_the_arena_is_told)
{
	static const char *const members[] = {"\"instructions\":\"", "\"serverInfo\":{\"name\":\"",
					      "\"capabilities\":{\"x\":\""};

	for (size_t i = 0; i < MP_ARRAY_LEN(members); i++) {
		struct mp_hello hello;
		WITH_MESSAGE(f);

		mp_arena_done(&f.arena);
		mp_arena_init(&f.arena, 4096);
		CHECK_EQ(mp_buf_addf(&f.out, "{\"protocolVersion\":\"2025-11-25\",%s%08000d\"%s}",
				     members[i], 0, i ? "}" : ""),
			 0);
		CHECK_EQ(mp_buf_terminate(&f.out), 0);
		CHECK_EQ(read_initialize(&f, f.out.data, &hello), MCPOOL_ELIMIT);
		CHECK_EQ(f.error.code, MCPOOL_ELIMIT);
	}
}
