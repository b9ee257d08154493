/*
 * test_tokens.c - named tokens are kept as hashes, once per name, and gone when removed.
 */
#include "test.h"
#include "store.h"

#include "base/limits.h"
#include "store/tokens.h"

static int add(struct mp_db *db, const char *name, int number)
{
	struct mp_token_record t = {
		.name = name, .servers = "a\nb\n", .tools = "", .created_ms = 5, .expires_ms = 7};

	memcpy(t.digest, &number, sizeof(number));
	return mp_tokens_add(db, &t, &why);
}

struct seen {
	char names[100];
	int64_t last_n, used_ms;
};

static int see(const struct mp_token_record *t, void *u)
{
	struct seen *s = u;
	size_t n = strlen(s->names);

	snprintf(s->names + n, sizeof(s->names) - n, "%s ", t->name);
	s->last_n = t->n;
	s->used_ms = t->used_ms;
	if (strcmp(t->servers, "a\nb\n") != 0 || t->created_ms != 5 || t->expires_ms != 7)
		return 99;
	return 0;
}

static struct seen list(struct mp_db *db)
{
	struct seen s = {.last_n = 0};

	if (mp_tokens_each(db, see, &s, &why) != 0)
		snprintf(s.names, sizeof(s.names), "failed");
	return s;
}

TEST(a_name_has_one_token)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct seen first;

	CHECK(store_clear());
	CHECK((db = store_open()));
	CHECK_EQ(add(db, "ci", 1), 0);
	CHECK_EQ(add(db, "ci", 2), MCPOOL_EEXIST);
	CHECK_EQ(add(db, "amy", 3), 0);
	CHECK_TEXT(list(db).names, "amy ci ");
	first = list(db);
	CHECK_EQ(mp_tokens_remove(db, "ci", &why), 1);
	CHECK_EQ(mp_tokens_remove(db, "ci", &why), 0);
	CHECK_EQ(add(db, "ci", 2), 0);
	CHECK(list(db).last_n > first.last_n);
}

TEST(each_change_of_tokens_has_another_mark)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL, *other = NULL;
	int64_t before = 0, after = 0;

	CHECK(store_clear());
	CHECK((db = store_open()));
	CHECK((other = store_open()));
	CHECK_EQ(mp_db_get_mark(db, &before, &why), 0);
	CHECK_EQ(add(other, "ci", 1), 0);
	CHECK_EQ(mp_db_get_mark(db, &after, &why), 0);
	CHECK(before != after);
	CHECK_EQ(mp_db_get_mark(db, &before, &why), 0);
	CHECK_EQ(before, after);
	CHECK_EQ(mp_tokens_remove(db, "ci", &why), 1);
	CHECK_EQ(mp_db_get_mark(db, &after, &why), 0);
	CHECK(before != after);
}

TEST(the_last_use_is_noted)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	CHECK((db = store_open()));
	CHECK_EQ(add(db, "ci", 1), 0);
	CHECK_EQ(list(db).used_ms, 0);
	mp_tokens_note_use(db, list(db).last_n, 4711);
	db = mp_db_close(db);
	CHECK((db = store_open()));
	CHECK_EQ(list(db).used_ms, 4711);
}

HEAVY_TEST(there_are_so_many_tokens)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char text[400];

	CHECK(store_clear());
	CHECK((db = store_open()));
	snprintf(text, sizeof(text),
		 "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)"
		 " INSERT INTO tokens (name, digest, servers, tools, created_ms, expires_ms,"
		 " used_ms) SELECT 't' || i, randomblob(32), '', '', 0, 0, 0 FROM c",
		 MP_LIMIT_NAMED_TOKENS - 1);
	CHECK(store_sql(text));
	CHECK_EQ(add(db, "last", 999), 0);
	CHECK_EQ(add(db, "more", 1000), MCPOOL_ELIMIT);
}
