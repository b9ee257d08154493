/*
 * test_calls.c - records of calls: as they were added, until their time or their room is over.
 */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "store/calls.h"

static const struct mp_calls_limits wide = {.oldest_ms = 0, .max_bytes = MP_MIB(64)};

struct adding {
	const struct mp_call_row *rows;
	size_t n;
	const struct mp_calls_limits *limits;
};

static int add_in(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct adding *a = u;

	return mp_calls_add(sql, a->rows, a->n, a->limits, reterr);
}

static struct mp_call_row row_at(int64_t ms, const char *tool)
{
	return (struct mp_call_row){
		.wall_ms = ms,
		.session = 7,
		.client = "c",
		.principal = "uid:1",
		.project = "/p",
		.server = "git",
		.method = "tools/call",
		.tool = tool,
		.outcome = "answered",
		.took_us = 12,
		.args_hash = UINT64_MAX,
	};
}

static int add(struct mp_db *db, int64_t ms, const char *tool, const struct mp_calls_limits *limits)
{
	const struct mp_call_row row = row_at(ms, tool);
	struct adding a = {&row, 1, limits};

	return mp_db_write(db, add_in, &a, &why);
}

struct seen {
	int n;
	int64_t first_ms, last_ms;
	char json[1000]; /* of the last */
};

static int see(const struct mp_call_row *row, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct seen *s = u;
	struct mp_writer w;

	if (s->n++ == 0)
		s->first_ms = row->wall_ms;
	s->last_ms = row->wall_ms;
	mp_buf_init(&text, sizeof(s->json) - 1);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_call_row_write(&w, row);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		snprintf(s->json, sizeof(s->json), "%.*s", MP_STR_ARGS(mp_buf_get(&text)));
	return 0;
}

static struct seen list(struct mp_db *db, int64_t since_ms)
{
	struct seen s = {.n = 0};

	if (mp_calls_each(db, since_ms, 0, see, &s, &why) != 0)
		s.n = -1;
	return s;
}

TEST(a_record_comes_back_as_it_was)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_call_row row = row_at(1000, "t\"x");
	struct adding a = {&row, 1, &wide};

	CHECK(store_clear());
	CHECK((db = store_open()));
	row.code = "mcp_timeout";
	row.args = "{\"a\":[1,2]}";
	CHECK_EQ(mp_db_write(db, add_in, &a, &why), 0);
	CHECK_TEXT(list(db, 0).json,
		   "{\"number\":1,\"time\":1000,\"session\":7,\"client\":\"c\",\"principal\":"
		   "\"uid:1\",\"project\":\"/p\",\"server\":\"git\",\"method\":\"tools/call\","
		   "\"tool\":\"t\\\"x\",\"outcome\":\"answered\",\"code\":\"mcp_timeout\","
		   "\"latencyUs\":12,\"queueUs\":0,\"bytesIn\":0,\"bytesOut\":0,\"argsHash\":"
		   "\"ffffffffffffffff\",\"args\":{\"a\":[1,2]}}");
	row.code = NULL;
	row.args = "{\"a\": cut";
	CHECK_EQ(mp_db_write(db, add_in, &a, &why), 0);
	CHECK(strstr(list(db, 0).json, "\"code\":null,"));
	CHECK(strstr(list(db, 0).json, "\"args\":\"{\\\"a\\\": cut\"}"));
}

TEST(records_of_a_time_are_listed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	CHECK((db = store_open()));
	for (int i = 1; i <= 5; i++)
		CHECK_EQ(add(db, i * 1000, "t", &wide), 0);
	CHECK_EQ(list(db, 0).n, 5);
	CHECK_EQ(list(db, 3000).n, 3);
	CHECK_EQ(list(db, 3001).first_ms, 4000);
	CHECK_EQ(list(db, 9000).n, 0);
}

static int see_two(const struct mp_call_row *row, void *u)
{
	(void)see(row, u);
	return ((struct seen *)u)->n == 2 ? 2 : 0;
}

TEST(a_walk_that_was_ended_goes_on)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct seen s = {.n = 0};

	CHECK(store_clear());
	CHECK((db = store_open()));
	for (int i = 1; i <= 5; i++)
		CHECK_EQ(add(db, i * 1000, "t", &wide), 0);
	CHECK_EQ(mp_calls_each(db, 2000, 0, see_two, &s, &why), 2);
	CHECK_EQ(s.last_ms, 3000);
	s.n = 0;
	CHECK_EQ(mp_calls_each(db, 2000, 3, see, &s, &why), 0);
	CHECK(s.n == 2 && s.first_ms == 4000);
}

TEST(what_is_too_old_goes)
{
	const struct mp_calls_limits young = {.oldest_ms = 3000, .max_bytes = MP_MIB(64)};
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct adding none = {NULL, 0, &young};

	CHECK(store_clear());
	CHECK((db = store_open()));
	for (int i = 1; i <= 5; i++)
		CHECK_EQ(add(db, i * 1000, "t", &wide), 0);
	CHECK_EQ(mp_db_write(db, add_in, &none, &why), 0); /* without a new one, too */
	CHECK_EQ(list(db, 0).n, 3);
	CHECK_EQ(list(db, 0).first_ms, 3000);
	CHECK_EQ(add(db, 2999, "t", &young), 0); /* an old clock; it goes with those before it */
	CHECK_EQ(list(db, 0).last_ms, 2999);
}

TEST(the_oldest_go_when_there_is_no_room)
{
	const struct mp_calls_limits narrow = {.max_bytes = 10000};
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char tool[401];
	int least = 1000, most = 0;

	CHECK(store_clear());
	CHECK((db = store_open()));
	memset(tool, 'x', 400);
	tool[400] = '\0';
	for (int i = 1; i <= 60; i++) {
		struct seen s;

		CHECK_EQ(add(db, i, tool, &narrow), 0);
		s = list(db, 0);
		CHECK_EQ(s.last_ms, i);
		if (i > 30) {
			least = s.n < least ? s.n : least;
			most = s.n > most ? s.n : most;
		}
	}
	/* Each has 400 bytes and some 150 more. */
	CHECK(most > least); /* not every write removes one */
	CHECK(most <= 10000 / 500 && least >= 10000 * 15 / 16 / 600 - 1);
	CHECK_EQ(add(db, 100, tool, &(struct mp_calls_limits){.max_bytes = 1}), 0);
	CHECK_EQ(list(db, 0).n, 0);
}

TEST(a_store_that_cannot_be_written_says_so)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	CHECK((db = store_open()));
	CHECK(store_sql("DROP TABLE calls"));
	CHECK(add(db, 1, "t", &wide) < 0);
	CHECK(strstr(why.message, "recording calls failed"));
	CHECK_EQ(list(db, 0).n, -1);
}
