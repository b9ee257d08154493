/*
 * store.h - what the tests of store/ share: a database in the test's folder, files as they are.
 */
#ifndef TEST_STORE_H
#define TEST_STORE_H

#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "store/db.h"

static char db_path[100];
static struct mcpool_error why; /* of the last failure */

/* An empty folder, and the place of a database in it. */
static inline bool store_clear(void)
{
	if (!folder_make())
		return false;
	snprintf(db_path, sizeof(db_path), "%s/mcpool/mcpool.db", test_folder);
	why = (struct mcpool_error){0};
	return true;
}

static inline struct mp_db *store_open(void)
{
	struct mp_db *db = NULL;

	return mp_db_open(db_path, &db, &why) < 0 ? NULL : db;
}

static inline bool store_put_file(const char *path, const void *bytes, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	bool ok = fd >= 0 && write(fd, bytes, n) == (ssize_t)n && fchmod(fd, mode) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static inline bool store_file_is(const char *path, const void *bytes, size_t n)
{
	static char got[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, got, sizeof(got));

	if (fd >= 0)
		close(fd);
	return len == (ssize_t)n && memcmp(got, bytes, n) == 0;
}

/* Permissions; -1 where there is nothing. */
static inline int store_mode(const char *path, const char *behind)
{
	char name[200];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", path, behind);
	return lstat(name, &st) < 0 ? -1 : (int)(st.st_mode & 07777);
}

/* Another program that uses SQLite; the file is made if it is missing. */
static inline bool store_sql(const char *text)
{
	sqlite3 *sql = NULL;
	bool ok = sqlite3_open(db_path, &sql) == SQLITE_OK &&
		  sqlite3_exec(sql, text, NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(sql);
	return ok;
}

static inline bool store_make_folder(mode_t mode)
{
	char folder[100];

	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	return mkdir(folder, 0700) == 0 && chmod(folder, mode) == 0;
}

#endif
