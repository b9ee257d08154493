/* test_era.c - what both eras say alike: capabilities, implementations, errors. */
#include "fake_message.h"

static unsigned offers_of(struct fake_message *f, const char *capabilities)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (!fake_message_set(f, "result", capabilities) || mp_era_open(&f->m, f->m.result, &t) < 0)
		return ~0u;
	return mp_era_read_offers(&t, MP_ROOT);
}

TEST(what_capabilities_offer)
{
	static const struct {
		const char *capabilities;
		unsigned offers;
	} rows[] = {
		{"{}", 0},
		{"{\"tools\":{}}", MP_OFFERS_TOOLS},
		{"{\"tools\":{\"listChanged\":true}}", MP_OFFERS_TOOLS | MP_OFFERS_TOOLS_CHANGES},
		{"{\"tools\":{\"listChanged\":false}}", MP_OFFERS_TOOLS},
		{"{\"tools\":{\"listChanged\":\"true\"}}", MP_OFFERS_TOOLS},
		{"{\"tools\":{\"subscribe\":true}}", MP_OFFERS_TOOLS},
		{"{\"tools\":true,\"prompts\":null,\"resources\":[],\"logging\":\"\"}", 0},
		{"{\"Tools\":{}}", 0},
		{"{\"prompts\":{\"listChanged\":true}}",
		 MP_OFFERS_PROMPTS | MP_OFFERS_PROMPTS_CHANGES},
		{"{\"resources\":{\"subscribe\":true}}", MP_OFFERS_RESOURCES | MP_OFFERS_SUBSCRIBE},
		{"{\"resources\":{\"listChanged\":true}}",
		 MP_OFFERS_RESOURCES | MP_OFFERS_RESOURCES_CHANGES},
		{"{\"completions\":{},\"logging\":{},\"experimental\":{\"x\":{}}}",
		 MP_OFFERS_COMPLETIONS | MP_OFFERS_LOGGING},
		{"[]", 0},
		{"null", 0},
		{"\"tools\"", 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		WITH_MESSAGE(f);

		CHECK(test_equal(offers_of(&f, rows[i].capabilities), rows[i].offers,
				 rows[i].capabilities, __FILE__, __LINE__));
	}
}

TEST(the_code_and_the_words_of_an_error)
{
	static const struct {
		const char *error;
		int64_t code;
		const char *words;
	} rows[] = {
		{"{\"code\":-32601,\"message\":\"no\"}", -32601, "no"},
		{"{\"message\":\"a\\u00e4\\n\",\"code\":0}", 0, "a\xc3\xa4\n"},
		{"{}", 0, ""},
		{"{\"code\":\"-1\",\"message\":7}", 0, ""},
		{"{\"code\":1.5,\"message\":null}", 0, ""},
		{"{\"code\":99999999999999999999,\"message\":[\"x\"]}", 0, ""},
		{"{\"code\":9223372036854775807,\"message\":\"\"}", INT64_MAX, ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		WITH_MESSAGE(f);

		CHECK(fake_message_set(&f, "error", rows[i].error));
		CHECK_EQ(mp_error_read_code(&f.m), rows[i].code);
		CHECK(test_same_text(mp_error_read_words(&f.m, &f.arena), mp_str_of(rows[i].words),
				     rows[i].error, __FILE__, __LINE__));
	}
}

TEST(a_result_has_neither_code_nor_words)
{
	WITH_MESSAGE(f);

	CHECK(fake_message_set(&f, "result", "{\"code\":1,\"message\":\"x\"}"));
	CHECK_EQ(mp_error_read_code(&f.m), 0);
	CHECK_EQ(mp_error_read_words(&f.m, &f.arena).len, 0);
}

TEST(words_over_the_arenas_ceiling_are_none)
{
	WITH_MESSAGE(f);

	mp_arena_done(&f.arena);
	mp_arena_init(&f.arena, 16);
	CHECK(fake_message_set(&f, "error", "{\"message\":\"more than sixteen bytes of words\"}"));
	CHECK_EQ(mp_error_read_words(&f.m, &f.arena).len, 0);
}

TEST(texts_outlive_the_message)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_hello hello = {0};
	WITH_MESSAGE(f);

	mp_tape_init(&t, 0);
	CHECK(fake_message_set(&f, "result",
			       "{\"name\":\"n\",\"title\":\"\\\"t\\\"\",\"version\":\"1\"}"));
	CHECK_EQ(mp_era_open(&f.m, f.m.result, &t), 0);
	CHECK_EQ(mp_era_read_implementation(&t, MP_ROOT, &f.arena, &hello), 0);
	memset(f.text.data, 'x', f.text.len);
	CHECK_STR(hello.name, "n");
	CHECK_STR(hello.title, "\"t\"");
	CHECK_STR(hello.server_version, "1");
	CHECK_EQ(mp_era_read_implementation(&t, MP_NONE, &f.arena, &hello), 0);
	CHECK(hello.name.len == 0 && hello.title.len == 0 && hello.server_version.len == 0);
}

TEST(there_may_be_nothing_to_open)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	WITH_MESSAGE(f);

	mp_tape_init(&t, 0);
	CHECK(fake_message_set(&f, "error", "{}"));
	CHECK(mp_era_open(&f.m, f.m.result, &t) < 0);
}

TEST(an_implementation_with_and_without_a_title)
{
	struct mp_identity me = {.name = "a\"b", .version = "1"};
	struct mp_writer w;
	WITH_MESSAGE(f);

	mp_write_init(&w, &f.out, NULL);
	mp_era_write_implementation(&w, &me);
	CHECK_EQ(mp_write_finish(&w), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"name\":\"a\\\"b\",\"version\":\"1\"}");
	mp_buf_clear(&f.out);
	me.title = "T";
	mp_write_init(&w, &f.out, NULL);
	mp_era_write_implementation(&w, &me);
	CHECK_EQ(mp_write_finish(&w), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"name\":\"a\\\"b\",\"title\":\"T\",\"version\":\"1\"}");
}
