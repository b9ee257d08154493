/*
 * test_folders.c - folders are made as needed, and what is in the way is named.
 */
#include "test.h"
#include "folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/folders.h"

static mode_t get_mode(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? st.st_mode & 0777 : 0;
}

TEST(missing_folders_are_made_private)
{
	char file[100], failed[PATH_MAX], a[100], b[100];

	CHECK(folder_make());
	snprintf(a, sizeof(a), "%s/a", test_folder);
	snprintf(b, sizeof(b), "%s/a/b", test_folder);
	snprintf(file, sizeof(file), "%s/a/b/file", test_folder);
	CHECK_EQ(mp_folders_make(file, failed), 0);
	CHECK_TEXT(failed, "");
	CHECK_EQ(get_mode(a), 0700);
	CHECK_EQ(get_mode(b), 0700);
	CHECK_EQ(get_mode(file), 0);
	CHECK(chmod(a, 0755) == 0);
	CHECK_EQ(mp_folders_make(file, NULL), 0); /* what is there stays as it is */
	CHECK_EQ(get_mode(a), 0755);
	mp_folders_sync(a);
	mp_folders_sync("/nowhere/at/all"); /* no harm */
}

TEST(a_file_in_the_way_is_named)
{
	char file[100], failed[PATH_MAX], a[100];
	FILE *f;

	CHECK(folder_make());
	snprintf(a, sizeof(a), "%s/a", test_folder);
	snprintf(file, sizeof(file), "%s/a/b/file", test_folder);
	f = fopen(a, "w");
	CHECK(f);
	fclose(f);
	CHECK_EQ(mp_folders_make(file, failed), MCPOOL_ESYSTEM);
	CHECK_EQ(errno, ENOTDIR);
	CHECK_TEXT(failed, a);
	CHECK_EQ(mp_folders_make(file, NULL), MCPOOL_ESYSTEM);
}

TEST(a_path_without_end_is_refused)
{
	static char file[PATH_MAX + 10];

	memset(file, 'a', sizeof(file) - 1);
	file[0] = '/';
	file[PATH_MAX + 2] = '/';
	CHECK_EQ(mp_folders_make(file, NULL), MCPOOL_ESYSTEM);
	CHECK_EQ(errno, ENAMETOOLONG);
	CHECK_EQ(mp_folders_make("plain", NULL), 0);
	CHECK_EQ(mp_folders_make("/plain", NULL), 0);
}
