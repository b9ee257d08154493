/*
 * test_approvals.c - a yes is kept through whatever happens, and only what got one has one.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include "base/mem.h"
#include "store/approvals.h"
#include "store/schema.h"
#include "store/sql.h"

static struct mp_approval_id id_of(int number)
{
	struct mp_approval_id id = {{0}};

	memcpy(id.bytes, &number, sizeof(number));
	id.bytes[31] = 0xab;
	return id;
}

static struct mp_approval approval_of(int number, const char *name)
{
	return (struct mp_approval){id_of(number), name,         "/p/.mcpool/mcp.json",
				    "/p",          "{\"a\":1}",  "s\tff\n",
				    "trust",       1000 + number};
}

static int add(struct mp_db *db, int number, const char *name)
{
	struct mp_approval a = approval_of(number, name);

	return mp_approvals_add(db, &a, &why);
}

static int has(struct mp_db *db, int number)
{
	struct mp_approval_id id = id_of(number);

	return mp_approvals_has(db, &id, &why);
}

static int list_number(const struct mp_approval *a, void *u)
{
	char *list = u;
	size_t n = strlen(list);
	int number;

	memcpy(&number, a->id.bytes, sizeof(number));
	snprintf(list + n, 200 - n, "%d:%s ", number, a->name);
	return number == 99 ? 42 : 0;
}

static const char *list(struct mp_db *db, const char *name, const char *file, const char *root)
{
	static char text[200];

	text[0] = '\0';
	return mp_approvals_each(db, name, file, root, list_number, text, &why) < 0 ? "failed"
										    : text;
}

TEST(added_is_had_until_removed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_approval_id one = id_of(1);

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(has(db, 1), 0);
	CHECK_EQ(add(db, 1, "files"), 0);
	CHECK_EQ(add(db, 1, "files"), 0); /* adding again is harmless */
	CHECK_EQ(add(db, 2, "files"), 0);
	CHECK_EQ(has(db, 1), 1);
	CHECK_EQ(has(db, 3), 0);
	CHECK_EQ(mp_approvals_remove(db, &one, &why), 1);
	CHECK_EQ(mp_approvals_remove(db, &one, &why), 0);
	CHECK_EQ(has(db, 1), 0);
	CHECK_EQ(has(db, 2), 1);
	db = mp_db_close(db);
	db = store_open();
	CHECK(db);
	CHECK_EQ(has(db, 2), 1);
}

static bool is_marked_anew(struct mp_db *db, int64_t *mark)
{
	int64_t was = *mark;

	REQUIRE(mp_approvals_get_mark(db, mark, &why) == 0);
	return *mark != was;
}

/* The mark tells a file watcher whether approvals changed. */
TEST(each_change_has_its_mark)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_approval_id one = id_of(1);
	int64_t mark = -1, first_ms;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(strstr(mp_db_get_path(db), ".db"));
	CHECK(is_marked_anew(db, &mark));
	CHECK_EQ(mark, 0);
	CHECK_EQ(add(db, 1, "files"), 0);
	CHECK(is_marked_anew(db, &mark));
	CHECK_EQ(add(db, 2, "files"), 0);
	CHECK(is_marked_anew(db, &mark));
	CHECK_EQ(mp_approvals_note_sight(db, &one, 5, &first_ms), 0);
	CHECK(!is_marked_anew(db, &mark));
	CHECK_EQ(mp_approvals_remove(db, &one, &why), 1);
	CHECK(is_marked_anew(db, &mark));
	CHECK_EQ(mp_approvals_set_file(db, "/f", true, 7, &why), 0);
	CHECK(is_marked_anew(db, &mark));
	CHECK_EQ(mp_approvals_set_file(db, "/f", false, 8, &why), 0);
	CHECK(is_marked_anew(db, &mark));
}

TEST(lists_are_newest_first_and_by_place)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_approval other = approval_of(4, "b");

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_TEXT(list(db, NULL, NULL, NULL), "");
	CHECK(add(db, 2, "a") == 0 && add(db, 3, "b") == 0 && add(db, 1, "a") == 0);
	other.file = "/q/x.json";
	other.root = "";
	other.approved_ms = 1003; /* as another one: the later one counts as newer */
	CHECK_EQ(mp_approvals_add(db, &other, &why), 0);
	CHECK_TEXT(list(db, NULL, NULL, NULL), "4:b 3:b 2:a 1:a ");
	CHECK_TEXT(list(db, "a", NULL, NULL), "2:a 1:a ");
	CHECK_TEXT(list(db, NULL, "/q/x.json", NULL), "4:b ");
	CHECK_TEXT(list(db, NULL, NULL, ""), "4:b ");
	CHECK_TEXT(list(db, "b", "/p/.mcpool/mcp.json", "/p"), "3:b ");
	CHECK_TEXT(list(db, "b", "/p/.mcpool/mcp.json", ""), "");
	CHECK_EQ(mp_approvals_forget(db, "a", "/p/.mcpool/mcp.json", "/other", &why), 0);
	CHECK_EQ(mp_approvals_forget(db, "a", "/p/.mcpool/mcp.json", "/p", &why), 2);
	CHECK_TEXT(list(db, NULL, NULL, NULL), "4:b 3:b ");
	CHECK_EQ(add(db, 99, "stop"), 0);
	{
		char text[200] = "";

		CHECK_EQ(mp_approvals_each(db, NULL, NULL, NULL, list_number, text, &why), 42);
		CHECK_TEXT(text, "99:stop ");
	}
}

static struct mp_approval kept; /* what the test below wants to see again */
static int seen;

static int compare(const struct mp_approval *a, void *u)
{
	(void)u;
	seen += memcmp(&a->id, &kept.id, sizeof(a->id)) == 0 && strcmp(a->name, kept.name) == 0 &&
		strcmp(a->file, kept.file) == 0 && strcmp(a->root, kept.root) == 0 &&
		strcmp(a->content, kept.content) == 0 && strcmp(a->scripts, kept.scripts) == 0 &&
		strcmp(a->how, kept.how) == 0 && a->approved_ms == kept.approved_ms;
	return 0;
}

TEST(texts_come_back_as_they_were)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	size_t n = 3 << 20;
	MP_CLEANUP(mp_freep) char *content = mp_try_alloc(n + 1);

	CHECK(store_clear() && content);
	memset(content, 'x', n);
	content[n] = '\0';
	db = store_open();
	CHECK(db);
	kept = (struct mp_approval){
		.name = "it's \"quoted\"; DROP TABLE approvals; --",
		.file = "/p/\xff\xfe not UTF-8 %s ?1 \xf0\x9f\x98\x80",
		.root = "",
		.content = content,
		.scripts = "a\t0\nb\t1\n\n",
		.how = "import",
		.approved_ms = INT64_MAX,
	};
	memset(kept.id.bytes, 0, sizeof(kept.id.bytes)); /* NUL is a byte like any other */
	seen = 0;
	CHECK_EQ(mp_approvals_add(db, &kept, &why), 0);
	CHECK_EQ(mp_approvals_has(db, &kept.id, &why), 1);
	CHECK_EQ(mp_approvals_each(db, kept.name, kept.file, NULL, compare, NULL, &why), 0);
	CHECK_EQ(seen, 1);
	CHECK_EQ(mp_approvals_forget(db, kept.name, kept.file, "", &why), 1);
	kept.id.bytes[31] = 1;
	CHECK_EQ(mp_approvals_has(db, &kept.id, &why), 0);
}

static int take_content(const struct mp_approval *a, void *u)
{
	snprintf(u, 200, "%s", a->content);
	return 1;
}

/* attack-S15: rows of the version before lose their secrets, keep their ids, and compare equal. */
TEST(older_approvals_are_sealed)
{
	static const char json[] = "{\"env\":{\"TOKEN\":\"sesame-open\"}}";
	const struct mp_schema before = {mp_schema_present.steps, 3};
	MP_CLEANUP(mp_sql_closep) struct sqlite3 *sql = NULL;
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf now;
	struct mp_approval_id id;
	char content[200] = "";

	mp_buf_init(&now, 1000);
	memset(id.bytes, 'a', sizeof(id.bytes));
	CHECK(store_clear() && store_make_folder(0700) && store_put_file(db_path, "", 0, 0600));
	CHECK_EQ(mp_sql_open(db_path, MP_SQL_SHARED, &sql, &why), 0);
	CHECK_EQ(mp_schema_update(sql, &before, &why), 0);
	CHECK_EQ(mp_sql_exec(
			 sql, "noting",
			 "INSERT INTO approvals (id, name, file, root, content, scripts, how, "
			 "approved_ms) VALUES (CAST('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' AS BLOB), "
			 "'n', 'f', '', '{\"env\":{\"TOKEN\":\"sesame-open\"}}', '', 'trust', 5)",
			 &why),
		 0);
	sql = mp_sql_close(sql);
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_approvals_has(db, &id, &why), 1);
	CHECK_EQ(mp_approvals_each(db, "n", "f", "", take_content, content, &why), 1);
	CHECK(!strstr(content, "sesame-open") && strstr(content, "TOKEN"));
	CHECK_EQ(mp_approvals_seal(db, mp_str_of(json), &now, &why), 0);
	CHECK_TEXT(content, now.data);
}

static int remove_it(const struct mp_approval *a, void *u)
{
	return mp_approvals_remove(u, &a->id, &why) == 1 && mp_approvals_has(u, &a->id, &why) >= 0
		       ? 0
		       : -1;
}

TEST(what_is_listed_may_be_removed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK(add(db, 1, "a") == 0 && add(db, 2, "b") == 0);
	CHECK_EQ(mp_approvals_each(db, NULL, NULL, NULL, remove_it, db, &why), 0);
	CHECK_TEXT(list(db, NULL, NULL, NULL), "");
}

TEST(whole_files_are_trusted_by_path)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_approvals_get_file(db, "/a", &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/a", true, 5, &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/a", true, 6, &why), 0);
	CHECK_EQ(mp_approvals_get_file(db, "/a", &why), 1);
	CHECK_EQ(mp_approvals_get_file(db, "/A", &why), 0);
	CHECK_EQ(mp_approvals_get_file(db, "/a/", &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/a", false, 7, &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/a", false, 8, &why), 0);
	CHECK_EQ(mp_approvals_get_file(db, "/a", &why), 0);
}

static int list_file(const char *path, int64_t since_ms, void *u)
{
	char *list = u;
	size_t n = strlen(list);

	snprintf(list + n, 200 - n, "%s:%d ", path, (int)since_ms);
	return strcmp(path, "/stop") == 0 ? 42 : 0;
}

TEST(trusted_files_are_listed_newest_first)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char text[200] = "";

	CHECK(store_clear() && (db = store_open()));
	CHECK_EQ(mp_approvals_each_file(db, list_file, text, &why), 0);
	CHECK_TEXT(text, "");
	CHECK_EQ(mp_approvals_set_file(db, "/old", true, 5, &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/stop", true, 7, &why), 0);
	CHECK_EQ(mp_approvals_set_file(db, "/new", true, 9, &why), 0);
	CHECK_EQ(mp_approvals_each_file(db, list_file, text, &why), 42);
	CHECK_TEXT(text, "/new:9 /stop:7 ");
}

TEST(the_first_sight_stays)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mp_approval_id one = id_of(1), two = id_of(2);
	int64_t first = 0;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_approvals_note_sight(db, &one, 500, &first), 0);
	CHECK_EQ(first, 500);
	CHECK_EQ(mp_approvals_note_sight(db, &one, 900, &first), 0);
	CHECK_EQ(first, 500);
	CHECK_EQ(mp_approvals_note_sight(db, &two, 900, &first), 0);
	CHECK_EQ(first, 900);
	CHECK_EQ(has(db, 1), 0); /* seen is not approved */
	CHECK(unlink(db_path) == 0);
	CHECK_EQ(mp_approvals_note_sight(db, &one, 1000, &first), MCPOOL_EIO);
	CHECK_EQ(first, 1000);
	CHECK_EQ(has(db, 1), MCPOOL_EIO);
}

TEST(an_id_in_hex)
{
	struct mp_approval_id id = id_of(0x01020304);
	char hex[2 * MP_APPROVAL_ID + 1];

	mp_approval_id_to_hex(&id, hex);
	CHECK_TEXT(hex, "04030201000000000000000000000000000000000000000000000000000000ab");
}

/* --- several at once ------------------------------------------------------------------------ */

enum { EACH = 100 };

static bool add_many(int number)
{
	struct mp_db *db = store_open();

	REQUIRE(db);
	for (int i = 0; i < EACH; i++)
		REQUIRE(test_equal(add(db, number * EACH + i, "x"), 0, why.message, __FILE__,
				   __LINE__));
	mp_db_close(db);
	return true;
}

HEAVY_TEST(two_processes_add_at_once)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	CHECK(child_run(add_many, 2));
	db = store_open();
	CHECK(db);
	for (int i = 0; i < 2 * EACH; i++)
		CHECK_EQ(has(db, i), 1);
}

static int report_fds[2], next_number;

static bool add_until_killed(int number)
{
	struct mp_db *db = store_open();

	(void)number;
	REQUIRE(db);
	for (int i = next_number;; i++)
		if (add(db, i, "x") < 0 || write(report_fds[1], &i, sizeof(i)) != sizeof(i))
			return false;
}

/* What was reported is there, whatever the moment of the kill. */
HEAVY_TEST(a_kill_takes_nothing_that_was_kept)
{
	int last = -1, status;

	CHECK(store_clear());
	for (int round = 0; round < 10; round++) {
		struct mp_db *db;
		pid_t pid;

		next_number = last + 1;
		CHECK(pipe(report_fds) == 0);
		pid = child_start(add_until_killed, 0);
		for (int i = 0; i <= 2 * round; i++)
			CHECK_EQ(read(report_fds[0], &last, sizeof(last)), sizeof(last));
		CHECK(pid > 0);
		usleep((useconds_t)(round * 300));
		kill(pid, SIGKILL);
		status = child_wait(pid);
		CHECK(WIFSIGNALED(status));
		close(report_fds[1]);
		while (read(report_fds[0], &last, sizeof(last)) == sizeof(last))
			;
		close(report_fds[0]);
		db = store_open();
		CHECK(db);
		for (int i = 0; i <= last; i++)
			CHECK_EQ(has(db, i), 1);
		if (has(db, last + 1) == 1)
			last++; /* kept, but not reported any more */
		mp_db_close(db);
	}
}
