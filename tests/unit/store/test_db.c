/*
 * test_db.c - one file, read beside being written, by threads, processes and the unlucky.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/schema.h"
#include "store/sql.h"

/* The table of trusted files serves as a plain table of numbers here. */
static int put(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const int *number = u;
	char text[20];

	snprintf(text, sizeof(text), "%d", *number);
	MP_SQL_QUERY(q, "putting", "INSERT INTO trusted_files VALUES (?1, 0)", mp_sql_text(text));
	return mp_sql_run(sql, &q, reterr);
}

static int put_and_fail(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	int r = put(sql, u, reterr);

	return r < 0 ? r : MCPOOL_ECANCELED;
}

static int count(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"counting", "SELECT count(*) FROM trusted_files", NULL, 0};
	int64_t n = 0;
	int r = mp_sql_get(sql, &q, &n, reterr);

	(void)u;
	return r < 0 ? r : (int)n;
}

static int put_number(struct mp_db *db, int number)
{
	return mp_db_write(db, put, &number, &why);
}

static int count_all(struct mp_db *db)
{
	return mp_db_read(db, count, NULL, &why);
}

TEST(all_files_are_private)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char folder[100];

	CHECK(store_clear());
	umask(0);
	db = store_open();
	CHECK(db);
	CHECK_EQ(put_number(db, 1), 1);
	umask(022);
	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	CHECK_EQ(store_mode(folder, ""), 0700);
	CHECK_EQ(store_mode(db_path, ""), 0600);
	CHECK_EQ(store_mode(db_path, "-wal"), 0600);
	CHECK_EQ(store_mode(db_path, "-shm"), 0600);
	CHECK_EQ(count_all(db), 1);
	db = mp_db_close(db);
	CHECK_EQ(store_mode(db_path, "-wal"), -1);
	db = store_open();
	CHECK(db);
	CHECK_EQ(count_all(db), 1);
}

static int put_much(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {
		"putting much", "INSERT INTO trusted_files VALUES (hex(zeroblob(5000000)), 0)",
		NULL, 0};

	(void)u;
	return mp_sql_run(sql, &q, reterr);
}

static off_t get_log_size(void)
{
	char name[120];
	struct stat st;

	snprintf(name, sizeof(name), "%s-wal", db_path);
	return stat(name, &st) < 0 ? -1 : st.st_size;
}

HEAVY_TEST(a_log_that_grew_shrinks)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_db_write(db, put_much, NULL, &why), 1);
	CHECK(get_log_size() > (off_t)MP_LIMIT_DB_LOG);
	CHECK_EQ(put_number(db, 1), 1); /* begins the log again */
	CHECK_EQ(put_number(db, 2), 1);
	CHECK(get_log_size() > 0 && get_log_size() <= (off_t)MP_LIMIT_DB_LOG);
}

TEST(a_write_that_fails_is_undone)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	int number = 1;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_db_write(db, put_and_fail, &number, &why), MCPOOL_ECANCELED);
	CHECK_EQ(count_all(db), 0);
	CHECK_EQ(put_number(db, 1), 1);
	CHECK_EQ(put_number(db, 1), MCPOOL_ESYSTEM);
	CHECK(strstr(why.message, "mcpool.db: putting failed: UNIQUE constraint"));
	CHECK_EQ(mp_db_write(db, put, &number, NULL), MCPOOL_ESYSTEM);
	CHECK_EQ(count_all(db), 1);
}

static int write_nothing(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)u;
	return mp_sql_exec(sql, "writing", "DELETE FROM trusted_files", reterr);
}

TEST(the_connection_for_reading_does_not_write)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_db_read(db, write_nothing, NULL, &why), MCPOOL_EIO);
}

static int read_again(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	int before = count(sql, NULL, reterr), number = 77;

	if (mp_db_write(u, put, &number, reterr) != 1)
		return -1;
	return mp_db_read(u, count, NULL, reterr) - before;
}

TEST(who_reads_may_read_and_write)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(mp_db_read(db, read_again, db, &why), 1);
}

/* --- later ---------------------------------------------------------------------------------- */

static atomic_int done_well, done_badly;

static void note_done(int result, void *u)
{
	mp_free(u);
	if (result < 0)
		done_badly++;
	else
		done_well++;
}

static int put_later(struct mp_db *db, int number, mp_db_fn fn)
{
	int *copy = mp_alloc(sizeof(*copy)), r;

	*copy = number;
	r = mp_db_write_later(db, fn, note_done, copy);
	if (r < 0)
		mp_free(copy);
	return r;
}

TEST(writes_for_later_are_done_by_the_time_it_is_closed)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	done_well = done_badly = 0;
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(put_later(db, i, i == 3 || i == 7 ? put_and_fail : put), 0);
	db = mp_db_close(db);
	CHECK_EQ(done_well, 8);
	CHECK_EQ(done_badly, 2);
	db = store_open();
	CHECK(db);
	CHECK_EQ(count_all(db), 8);
}

static int wait_for_gate(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	(void)sql;
	(void)reterr;
	pthread_mutex_lock(u);
	pthread_mutex_unlock(u);
	return 0;
}

HEAVY_TEST(too_many_for_later_are_refused)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	int n = 0;

	done_well = done_badly = 0;
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	pthread_mutex_lock(&gate);
	CHECK_EQ(mp_db_write_later(db, wait_for_gate, NULL, &gate), 0);
	while (put_later(db, n, put) == 0)
		n++;
	pthread_mutex_unlock(&gate);
	/* Those that were on their way with the first one had made room. */
	CHECK(n >= MP_LIMIT_DB_QUEUE - 1 && n < MP_LIMIT_DB_QUEUE + 256);
	CHECK(!mp_db_close(NULL));
	CHECK_EQ(put_number(db, -1), 1); /* stands behind all of them */
	CHECK_EQ(done_well, n);
	CHECK_EQ(count_all(db), n + 1);
}

/* --- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4, EACH = 25 };

struct worker {
	struct mp_db *db;
	int number, failures;
};

static void *work(void *u)
{
	struct worker *w = u;
	struct mcpool_error error;

	for (int i = 0; i < EACH; i++) {
		int number = w->number * EACH + i;

		w->failures += mp_db_write(w->db, put, &number, &error) != 1;
		w->failures += mp_db_read(w->db, count, NULL, &error) <= i;
		w->failures += put_later(w->db, number + 10000, put) < 0;
	}
	return NULL;
}

HEAVY_TEST(threads_read_and_write_at_once)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	done_well = done_badly = 0;
	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){db, i, 0};
		CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_EQ(workers[i].failures, 0);
	}
	CHECK_EQ(put_number(db, -1), 1);
	CHECK_EQ(count_all(db), 2 * THREADS * EACH + 1);
	CHECK_EQ(done_well, THREADS * EACH);
}

static void *open_and_put(void *u)
{
	struct worker *w = u;

	for (int i = 0; i < 5; i++) {
		struct mp_db *db = NULL;
		int number = w->number * EACH + i;

		if (mp_db_open(db_path, &db, NULL) < 0 || mp_db_write(db, put, &number, NULL) != 1)
			w->failures++;
		mp_db_close(db);
	}
	return NULL;
}

HEAVY_TEST(threads_may_each_open_it)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	CHECK(store_clear());
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){NULL, i, 0};
		CHECK_EQ(pthread_create(&threads[i], NULL, open_and_put, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		CHECK_EQ(workers[i].failures, 0);
	}
	db = store_open();
	CHECK(db);
	CHECK_EQ(count_all(db), THREADS * 5);
}

/* --- files that are not what we left ------------------------------------------------------- */

TEST(garbage_is_refused_and_stays)
{
	static char garbage[20000];
	static const size_t sizes[] = {2, 50, 100, 4096, sizeof(garbage)};

	memset(garbage, 'g', sizeof(garbage));
	for (size_t i = 0; i < MP_ARRAY_LEN(sizes); i++) {
		CHECK(store_clear() && store_make_folder(0700));
		CHECK(store_put_file(db_path, garbage, sizes[i], 0600));
		CHECK(!store_open());
		CHECK_EQ(why.code, MCPOOL_EIO);
		CHECK(strstr(why.message, "mcpool.db: ") && strstr(why.message, "not touched"));
		CHECK(store_file_is(db_path, garbage, sizes[i]));
		CHECK_EQ(store_mode(db_path, "-wal"), -1);
	}
}

TEST(a_newer_file_is_refused_and_stays)
{
	char words[100];

	CHECK(store_clear());
	mp_db_close(store_open());
	CHECK(store_sql("PRAGMA user_version=999"));
	CHECK(!store_open());
	CHECK_EQ(why.code, MCPOOL_EINVAL);
	snprintf(words, sizeof(words), "its version is 999, this mcpool knows %d",
		 mp_schema_present.n);
	CHECK(strstr(why.message, words));
	CHECK(store_sql("SELECT * FROM approvals"));
}

TEST(a_damaged_page_is_said)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char page[4096];
	int fd;

	CHECK(store_clear());
	mp_db_close(store_open());
	fd = open(db_path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	memset(page, 0xff, sizeof(page));
	for (int i = 1; i < 9; i++) /* all but the first, which has the header and the schema */
		CHECK_EQ(pwrite(fd, page, sizeof(page), i * 4096L), sizeof(page));
	close(fd);
	db = store_open();
	CHECK(db);
	CHECK_EQ(count_all(db), MCPOOL_EIO);
	CHECK(strstr(why.message, "the file is damaged"));
	CHECK_EQ(put_number(db, 1), MCPOOL_EIO);
}

TEST(a_file_that_vanishes_is_said)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(put_number(db, 1), 1);
	CHECK(unlink(db_path) == 0);
	CHECK_EQ(count_all(db), MCPOOL_EIO);
	CHECK(strstr(why.message, "was removed or replaced while it was in use"));
	CHECK_EQ(put_number(db, 2), MCPOOL_EIO);
}

TEST(a_schema_that_becomes_newer_is_said)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	db = store_open();
	CHECK(db);
	CHECK_EQ(put_number(db, 1), 1);
	CHECK(store_sql("PRAGMA user_version=999"));
	CHECK_EQ(put_number(db, 2), MCPOOL_EINVAL);
	CHECK_EQ(count_all(db), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "newer mcpool"));
}

TEST(a_link_is_refused)
{
	char elsewhere[100];

	CHECK(store_clear() && store_make_folder(0700));
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere.db", test_folder);
	CHECK(symlink(elsewhere, db_path) == 0);
	CHECK(!store_open());
	CHECK_EQ(why.code, MCPOOL_EPERM);
	CHECK_EQ(store_mode(elsewhere, ""), -1);
}

TEST(the_one_in_the_state_folder)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;

	CHECK(store_clear());
	setenv("XDG_STATE_HOME", test_folder, 1);
	CHECK_EQ(mp_db_open_default(&db, &why), 0);
	CHECK_EQ(store_mode(db_path, ""), 0600);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	CHECK_EQ(mp_db_open_default(&db, &why), MCPOOL_ENOENT);
	CHECK(strstr(why.message, "HOME is not set"));
}

/* --- a folder that cannot be written ------------------------------------------------------- */

static bool read_where_nobody_writes(int number)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	char folder[100];

	(void)number;
	REQUIRE(child_be_nobody(test_folder));
	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	REQUIRE(mkdir(folder, 0500) == 0);
	REQUIRE(!store_open());
	REQUIRE(why.code == MCPOOL_EIO && strstr(why.message, "cannot be made: Permission denied"));
	REQUIRE(chmod(folder, 0700) == 0);
	db = store_open();
	REQUIRE(db && put_number(db, 1) == 1);
	db = mp_db_close(db);
	REQUIRE(chmod(folder, 0500) == 0);
	db = store_open();
	REQUIRE(db);
	REQUIRE(count_all(db) == 1);
	REQUIRE(put_number(db, 2) == MCPOOL_EIO);
	REQUIRE(strstr(why.message, "check the permissions"));
	REQUIRE(count_all(db) == 1);
	REQUIRE(chmod(folder, 0700) == 0); /* and when that is over, it goes on */
	REQUIRE(put_number(db, 2) == 1);
	return true;
}

HEAVY_TEST(a_folder_that_cannot_be_written_is_read)
{
	CHECK(store_clear());
	CHECK(child_run(read_where_nobody_writes, 1));
}

/* --- a full disk ---------------------------------------------------------------------------- */

static int put_block(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const int *number = u;
	static char text[8000];

	snprintf(text, sizeof(text), "%07900d", *number);
	MP_SQL_QUERY(q, "putting", "INSERT INTO trusted_files VALUES (?1, 0)", mp_sql_text(text));
	return mp_sql_run(sql, &q, reterr);
}

/* Until it is refused; what was taken must be there, also for the next one who opens it. */
static bool fill_up(const char *words)
{
	struct mp_db *db = store_open();
	int n = 0, r = 0;

	REQUIRE(db);
	for (; n < 1000; n++) {
		r = mp_db_write(db, put_block, &n, &why);
		if (r < 0)
			break;
	}
	REQUIRE(test_equal(r, MCPOOL_EIO, why.message, __FILE__, __LINE__));
	if (!strstr(why.message, words))
		fprintf(stderr, "%d: %s\n", n, why.message);
	REQUIRE(n > 1 && strstr(why.message, words));
	REQUIRE(count_all(db) == n);
	REQUIRE(mp_db_write(db, put_block, &n, &why) == MCPOOL_EIO);
	REQUIRE(count_all(db) == n);
	mp_db_close(db);
	db = store_open();
	REQUIRE(db && count_all(db) == n);
	mp_db_close(db);
	return true;
}

static bool fill_files(int number)
{
	(void)number;
	return child_limit_files(200000) && fill_up("nothing was changed");
}

static bool fill_disk(int number)
{
	(void)number;
	return !child_mount_small(test_folder, 400) || fill_up("the disk is full");
}

HEAVY_TEST(a_full_disk_refuses_writes_and_keeps_what_is_there)
{
	CHECK(store_clear());
	CHECK(child_run(fill_files, 1));
	CHECK(store_clear());
	CHECK(child_run(fill_disk, 1));
}
