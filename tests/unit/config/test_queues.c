/*
 * test_queues.c - queues as the layers define them, and which one a call waits in.
 */
#include "settings_reading.h"

#include <uv.h>

#include "base/limits.h"
#include "config/values/queues.h"

#define READING                             \
	MP_CLEANUP(tidy)                    \
	struct reading d = {0};             \
	mp_arena_init(&d.arena, MP_MIB(4)); \
	mp_tape_init(&d.t, MP_TAPE_JSONC);  \
	CHECK(mp_settings_init(&d.s, &d.arena) == 0)

static bool lay(struct reading *d, const char *json)
{
	d->told[0] = '\0';
	REQUIRE(mp_tape_parse(&d->t, mp_str_of(json), NULL) == 0);
	return mp_settings_read(&d->s, &d->t, MP_ROOT, "f:1", &d->arena, note, d) == 0;
}

static bool is(const struct reading *d, const char *name, size_t slots, size_t line)
{
	struct mp_queue_definition q = {{NULL, 0}, 77, 77};

	REQUIRE(mp_queues_find(&d->s, mp_str_of(name), &q));
	REQUIRE(mp_str_eq(q.name, mp_str_of(name)));
	REQUIRE(test_equal((long long)q.slots, (long long)slots, name, __FILE__, __LINE__));
	REQUIRE(test_equal((long long)q.line, (long long)line, name, __FILE__, __LINE__));
	return true;
}

static bool is_unknown(const struct reading *d, const char *name)
{
	struct mp_queue_definition q;

	return !mp_queues_find(&d->s, mp_str_of(name), &q);
}

static size_t two_per_cpu(void)
{
	size_t n = 2 * (size_t)uv_available_parallelism();

	return n < 64 ? n : 64;
}

/* U28 */
TEST(the_default_is_always_there)
{
	READING;

	CHECK(is(&d, "default", 64, 1024));
	CHECK(is_unknown(&d, "heavy"));
	CHECK(is_unknown(&d, ""));
	d.s.n_queues = 0; /* settings that were never read */
	CHECK(is(&d, "default", 64, 1024));
}

/* U28 */
TEST(layers_are_laid_over_each_other_by_name)
{
	READING;

	CHECK(lay(&d,
		  "{\"queues\": {\"heavy\": {\"slots\": 2, \"line\": 9}, \"b\": {\"line\": 0}}}"));
	CHECK_TEXT(d.told, "");
	CHECK(is(&d, "heavy", 2, 9));
	CHECK(is(&d, "b", 64, 0));
	CHECK(is(&d, "default", 64, 1024));
	CHECK(lay(&d, "{\"queues\": {\"heavy\": {\"slots\": 3}, \"default\": {\"slots\": 5},"
		      " \"c\\u0061\": {}}}"));
	CHECK(is(&d, "heavy", 3, 1024)); /* what this layer says, and nothing of the one below */
	CHECK(is(&d, "b", 5, 0));
	CHECK(is(&d, "ca", 5, 1024));
	CHECK(is(&d, "default", 5, 1024));
	CHECK_STR(
		d.s.queues_json,
		"{\"default\":{\"slots\":5},\"heavy\":{\"slots\":3},\"b\":{\"line\":0},\"ca\":{}}");
	CHECK(lay(&d, "{\"queue\": \"b\"}"));
	CHECK(is(&d, "heavy", 3, 1024));
}

/* U28 */
TEST(auto_is_two_for_each_processor)
{
	READING;

	CHECK(lay(&d, "{\"profile\": \"netdata\"}"));
	CHECK(is(&d, "default", two_per_cpu(), 1024));
	CHECK_STR(d.s.queues_json, "{\"default\":{\"slots\":\"auto\",\"line\":1024}}");
	CHECK(lay(&d, "{\"queues\": {\"x\": {\"slots\": 0, \"line\": 65536}, \"y\": {}}}"));
	CHECK(is(&d, "x", 0, 65536));
	CHECK(is(&d, "y", two_per_cpu(), 1024));
}

/* U28 X26 */
TEST(the_larger_definition_wins_in_the_netdata_profile)
{
	struct mp_entry e = {.name = "files"};
	READING;

	CHECK(is(&d, "default", 64, 1024));
	e.tuning.queue = "own";
	CHECK(strstr(mp_queues_check(&d.s, &e, &d.arena),
		     "Server \"files\": queue \"own\" is not defined"));
	CHECK(lay(&d, "{\"profile\": \"netdata\", \"queues\": {\"default\": {\"slots\": 1},"
		      " \"a\": {\"slots\": 9, \"line\": 1}, \"b\": {\"line\": 5},"
		      " \"c\": {\"slots\": 0}}}"));
	CHECK(is(&d, "default", 1, 1024)); /* a file counts more than the profile */
	CHECK(lay(&d, "{\"queues\": {\"a\": {\"slots\": 2, \"line\": 7}, \"b\": {\"slots\": 3},"
		      " \"c\": {\"slots\": 65536}, \"default\": {\"slots\": \"auto\"}}}"));
	CHECK(is(&d, "a", 9, 7));
	CHECK(is(&d, "b", 3, 5));
	CHECK(is(&d, "c", 0, 1024)); /* no limit is the largest */
	CHECK(is(&d, "default", two_per_cpu(), 1024));
	for (int i = 0; i < 3; i++) { /* elsewhere the later file replaces it */
		static const char *const names[] = {"{}", "{\"profile\": \"omp\"}",
						    "{\"profile\": \"claude\"}"};

		CHECK_EQ(mp_settings_init(&d.s, &d.arena), 0);
		CHECK(lay(&d, names[i]));
		CHECK(lay(&d, "{\"queues\": {\"a\": {\"slots\": 9, \"line\": 1}}}"));
		CHECK(is(&d, "a", 9, 1));
		CHECK(lay(&d, "{\"queues\": {\"a\": {\"slots\": 2}}}"));
		CHECK(is(&d, "a", 2, 1024));
	}
}

TEST(what_is_wrong_is_told_and_as_in_the_default)
{
	READING;

	CHECK(lay(
		&d,
		"{\"queues\": {\"a\": 5, \"b\": {\"slots\": \"many\", \"line\": -1},"
		" \"c\": {\"slots\": 65537, \"line\": 1.5, \"size\": 1}, \"d\": {\"slots\": 1}}}"));
	CHECK_TEXT(d.told,
		   "a queue is an object with \"slots\" and \"line\"; the default is used|"
		   "\"slots\" of a queue must be \"auto\" or a number from 0 to 65536; the default "
		   "is used|"
		   "\"line\" of a queue must be a number from 0 to 65536; the default is used|"
		   "\"slots\" of a queue must be \"auto\" or a number from 0 to 65536; the default "
		   "is used|"
		   "\"line\" of a queue must be a number from 0 to 65536; the default is used|"
		   "a queue has \"slots\" and \"line\", and nothing else|");
	CHECK(is(&d, "a", 64, 1024));
	CHECK(is(&d, "b", 64, 1024));
	CHECK(is(&d, "c", 64, 1024));
	CHECK(is(&d, "d", 1, 1024));
	CHECK(lay(&d, "{\"queues\": []}"));
	CHECK_TEXT(d.told, "\"queues\" must be an object, but is an array|");
	CHECK(is(&d, "d", 1, 1024));
}

TEST(names_outlive_their_file)
{
	char text[] = "{\"queues\": {\"heavy\": {\"slots\": 2}}}";
	READING;

	CHECK(lay(&d, text));
	memset(text, 'x', sizeof(text) - 1);
	CHECK(is(&d, "heavy", 2, 1024));
}

HEAVY_TEST(queues_have_a_ceiling)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	READING;

	mp_buf_init(&text, MP_MIB(1));
	CHECK_EQ(mp_buf_addf(&text, "{\"queues\": {\"first\": {}"), 0);
	for (int i = 0; i < MP_LIMIT_LAYER_KEYS + 5; i++)
		CHECK_EQ(mp_buf_addf(&text, ", \"q%d\": {\"slots\": %d}", i, i), 0);
	CHECK(mp_buf_addf(&text, "}}") == 0 && mp_buf_terminate(&text) == 0);
	CHECK(lay(&d, text.data));
	CHECK_TEXT(d.told, "there are too many queues; the rest is ignored|");
	CHECK_EQ(d.s.n_queues, MP_LIMIT_LAYER_KEYS);
	CHECK(is(&d, "q1021", 1021, 1024));
	CHECK(is_unknown(&d, "q1022"));
	CHECK(lay(&d, "{\"queues\": {\"first\": {\"slots\": 7}}}")); /* the known ones may change */
	CHECK_TEXT(d.told, "");
	CHECK(is(&d, "first", 7, 1024));
}

/* E7 U28 X26 */
TEST(a_call_waits_in_its_tools_queue_or_its_servers)
{
	struct mp_bind_pair pairs[] = {{"read", "fast"}, {"write", "heavy"}};
	struct mp_entry e = {.name = "files", .tool_queues = {pairs, 2}};

	CHECK_STR(mp_queues_choose(&e, MP_STR("read")), "fast");
	CHECK_STR(mp_queues_choose(&e, MP_STR("write")), "heavy");
	CHECK_STR(mp_queues_choose(&e, MP_STR("rea")), "default");
	e.tuning.queue = "own";
	CHECK_STR(mp_queues_choose(&e, MP_STR("READ")), "own");
	CHECK_STR(mp_queues_choose(&e, (struct mp_str){NULL, 0}), "own");
	CHECK_STR(mp_queues_choose(&e, MP_STR("read")), "fast");
}

/* U28 */
TEST(an_undefined_queue_is_named)
{
	struct mp_bind_pair pairs[] = {{"read", "fast"}, {"write", "heavy"}};
	struct mp_entry e = {.name = "files", .tool_queues = {pairs, 2}};
	READING;

	e.tuning.queue = "own";
	CHECK_TEXT(mp_queues_check(&d.s, &e, &d.arena),
		   "Server \"files\": queue \"own\" is not defined; define it in \"queues\" of the "
		   "\"mcpool\" object of a file of mcpool's own");
	CHECK(lay(&d, "{\"queues\": {\"own\": {}, \"fast\": {}}}"));
	CHECK_TEXT(
		mp_queues_check(&d.s, &e, &d.arena),
		"Server \"files\": queue \"heavy\" of tool \"write\" is not defined; define it in "
		"\"queues\" of the \"mcpool\" object of a file of mcpool's own");
	CHECK(lay(&d, "{\"queues\": {\"heavy\": {}}}"));
	CHECK(!mp_queues_check(&d.s, &e, &d.arena));
}
