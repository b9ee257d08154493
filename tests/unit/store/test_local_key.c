/*
 * test_local_key.c - one key per user, also with concurrent first calls; another user's is refused.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include <dirent.h>
#include <stdlib.h>

#include "store/local_key.h"

static char key_path[100];
static unsigned char key[MP_LOCAL_KEY_SIZE];

static bool clear(void)
{
	if (!store_clear())
		return false;
	setenv("XDG_STATE_HOME", test_folder, 1);
	snprintf(key_path, sizeof(key_path), "%s/mcpool/local.key", test_folder);
	return true;
}

static int count_files(void)
{
	char folder[100];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(folder, sizeof(folder), "%s/mcpool", test_folder);
	d = opendir(folder);
	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.' || e->d_name[1] == 'l';
	if (d)
		closedir(d);
	return n;
}

TEST(a_key_is_made_once)
{
	unsigned char again[MP_LOCAL_KEY_SIZE], none[MP_LOCAL_KEY_SIZE] = {0};

	CHECK(clear());
	memset(key, 0, sizeof(key));
	CHECK_EQ(mp_local_key_get(key, &why), 0);
	CHECK_EQ(store_mode(key_path, ""), 0600);
	CHECK(store_file_is(key_path, key, sizeof(key)));
	CHECK(memcmp(key, none, sizeof(key)) != 0);
	CHECK_EQ(mp_local_key_get(again, &why), 0);
	CHECK(memcmp(key, again, sizeof(key)) == 0);
	CHECK_EQ(count_files(), 1);
}

static int report_fds[2];

static bool report_key(int number)
{
	(void)number;
	REQUIRE(mp_local_key_get(key, &why) == 0);
	REQUIRE(write(report_fds[1], key, sizeof(key)) == (ssize_t)sizeof(key));
	return true;
}

HEAVY_TEST(eight_at_once_get_the_same)
{
	unsigned char first[MP_LOCAL_KEY_SIZE];

	for (int round = 0; round < 20; round++) {
		CHECK(clear() && pipe(report_fds) == 0);
		CHECK(child_run(report_key, 8));
		CHECK_EQ(read(report_fds[0], first, sizeof(first)), sizeof(first));
		for (int i = 1; i < 8; i++) {
			CHECK_EQ(read(report_fds[0], key, sizeof(key)), sizeof(key));
			CHECK(memcmp(key, first, sizeof(key)) == 0);
		}
		CHECK(store_file_is(key_path, first, sizeof(first)));
		CHECK_EQ(count_files(), 1);
		close(report_fds[0]);
		close(report_fds[1]);
	}
}

TEST(a_key_that_others_may_read_is_refused)
{
	CHECK(clear() && store_make_folder(0700));
	CHECK(store_put_file(key_path, "0123456789abcdef0123456789abcdef", 32, 0644));
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "others may read ") && strstr(why.message, "remove it"));
	CHECK(chmod(key_path, 0620) == 0);
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EPERM);
	CHECK(chmod(key_path, 0600) == 0);
	CHECK_EQ(mp_local_key_get(key, &why), 0);
	CHECK(memcmp(key, "0123456789abcdef0123456789abcdef", 32) == 0);
}

TEST(a_key_of_another_size_is_refused)
{
	CHECK(clear() && store_make_folder(0700));
	CHECK(store_put_file(key_path, "short", 5, 0600));
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "has 5 bytes and not 32; remove it"));
	CHECK(store_file_is(key_path, "short", 5));
	CHECK(store_put_file(key_path, "0123456789abcdef0123456789abcdefX", 33, 0600));
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EINVAL);
	CHECK(store_put_file(key_path, "", 0, 0600));
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EINVAL);
}

TEST(links_and_pipes_are_no_keys)
{
	CHECK(clear() && store_make_folder(0700));
	CHECK(symlink("/dev/zero", key_path) == 0);
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "symbolic link"));
	CHECK(unlink(key_path) == 0 && mkfifo(key_path, 0600) == 0);
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_EPERM); /* and does not wait for a writer */
}

TEST(without_a_home_there_is_no_key)
{
	CHECK(clear());
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	CHECK_EQ(mp_local_key_get(key, &why), MCPOOL_ENOENT);
	CHECK(strstr(why.message, "HOME is not set"));
}

static bool cannot_be_kept(int number)
{
	(void)number;
	REQUIRE(child_limit_files(0));
	REQUIRE(mp_local_key_get(key, &why) == MCPOOL_EIO);
	REQUIRE(strstr(why.message, "local.key cannot be written: File too large"));
	REQUIRE(count_files() == 0);
	return true;
}

HEAVY_TEST(a_full_disk_leaves_nothing_behind)
{
	CHECK(clear());
	CHECK(child_run(cannot_be_kept, 1));
}
