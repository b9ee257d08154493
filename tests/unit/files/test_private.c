/*
 * test_private.c - what others could have touched is refused, and says what to do.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include <limits.h>
#include <stdlib.h>

#include "files/private.h"

static char real[PATH_MAX];

TEST(folder_and_file_are_made_private)
{
	char folder[100], want[PATH_MAX];

	CHECK(store_clear());
	CHECK_EQ(mp_private_folder(db_path, real, &why), 0);
	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	CHECK_EQ(store_mode(folder, ""), 0700);
	CHECK(realpath(folder, want));
	CHECK(strncmp(real, want, strlen(want)) == 0);
	CHECK_TEXT(real + strlen(want), "/mcpool.db");
	umask(0);
	CHECK_EQ(mp_private_file(real, &why), 0);
	umask(022);
	CHECK_EQ(store_mode(db_path, ""), 0600);
	CHECK(store_put_file(db_path, "x", 1, 0644)); /* no harm was done: it ends here */
	CHECK_EQ(mp_private_file(real, &why), 0);
	CHECK_EQ(store_mode(db_path, ""), 0600);
	CHECK(store_file_is(db_path, "x", 1));
}

TEST(a_folder_that_others_may_write_to_is_refused)
{
	CHECK(store_clear() && store_make_folder(0770));
	CHECK_EQ(mp_private_folder(db_path, real, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "others may write to ") && strstr(why.message, "chmod 700"));
	CHECK(store_clear() && store_make_folder(0755)); /* listing it is harmless */
	CHECK_EQ(mp_private_folder(db_path, real, &why), 0);
}

TEST(a_file_that_others_may_write_to_is_refused)
{
	CHECK(store_clear() && store_make_folder(0700));
	CHECK(store_put_file(db_path, "", 0, 0660));
	CHECK_EQ(mp_private_file(db_path, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "mode 660") && strstr(why.message, "chmod 600"));
	CHECK_EQ(store_mode(db_path, ""), 0660);
}

TEST(links_folders_and_pipes_are_refused)
{
	char elsewhere[100];

	CHECK(store_clear() && store_make_folder(0700));
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", test_folder);
	CHECK(symlink(elsewhere, db_path) == 0);
	CHECK_EQ(mp_private_file(db_path, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "is a symbolic link"));
	CHECK_EQ(store_mode(elsewhere, ""), -1);
	CHECK(unlink(db_path) == 0 && mkdir(db_path, 0700) == 0);
	CHECK_EQ(mp_private_file(db_path, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "is not a regular file"));
	CHECK(rmdir(db_path) == 0 && mkfifo(db_path, 0600) == 0);
	CHECK_EQ(mp_private_file(db_path, &why), MCPOOL_EPERM);
}

TEST(a_linked_folder_is_where_it_leads)
{
	char link[100], path[100], want[PATH_MAX];

	CHECK(store_clear() && store_make_folder(0700));
	snprintf(link, sizeof(link), "%s/link", test_folder);
	CHECK(symlink("mcpool", link) == 0);
	snprintf(path, sizeof(path), "%s/link/mcpool.db", test_folder);
	CHECK_EQ(mp_private_folder(path, real, &why), 0);
	CHECK(realpath(test_folder, want));
	CHECK_TEXT(real + strlen(want), "/mcpool/mcpool.db");
}

HEAVY_TEST(what_belongs_to_others_is_refused)
{
	char folder[100];

	CHECK(store_clear() && store_make_folder(0700));
	CHECK(store_put_file(db_path, "", 0, 0600));
	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	if (chown(db_path, NOBODY, NOBODY) < 0) {
		printf("             only root can give files away: left out\n");
		return;
	}
	CHECK_EQ(mp_private_file(db_path, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "belongs to another user (65534)"));
	CHECK(chown(folder, NOBODY, NOBODY) == 0);
	CHECK_EQ(mp_private_folder(db_path, real, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "belongs to another user (65534)"));
}

static bool cannot_write(int number)
{
	(void)number;
	REQUIRE(child_be_nobody(test_folder) && chmod(test_folder, 0500) == 0);
	REQUIRE(mp_private_folder(db_path, real, &why) == MCPOOL_EIO);
	REQUIRE(strstr(why.message,
		       "/mcpool cannot be made: Permission denied; set XDG_STATE_HOME"));
	REQUIRE(chmod(test_folder, 0700) == 0 && store_make_folder(0500));
	REQUIRE(mp_private_folder(db_path, real, &why) == 0);
	REQUIRE(mp_private_file(real, &why) == MCPOOL_EIO);
	REQUIRE(strstr(why.message, "mcpool.db cannot be made: Permission denied"));
	return true;
}

HEAVY_TEST(a_folder_that_cannot_be_written_is_said)
{
	CHECK(store_clear());
	CHECK(child_run(cannot_write, 1));
}

TEST(a_path_too_long_is_refused)
{
	static char path[PATH_MAX + 100];

	memset(path, 'a', sizeof(path) - 1);
	path[0] = path[PATH_MAX + 1] = '/';
	CHECK_EQ(mp_private_folder(path, real, &why), MCPOOL_EINVAL);
	path[PATH_MAX + 1] = 'a';
	CHECK_EQ(mp_private_folder(path, real, &why), MCPOOL_EINVAL);
}
