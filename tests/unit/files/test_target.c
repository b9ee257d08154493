/*
 * test_target.c - links are followed to where the file is or would be, and one holds the lock.
 */
#include "test.h"
#include "config.h"
#include "child.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>

#include "files/target.h"

static char path[100], other[100];

static bool clear(void)
{
	if (!config_clear())
		return false;
	snprintf(path, sizeof(path), "%s/a/b/mcp.json", test_folder);
	snprintf(other, sizeof(other), "%s/real", test_folder);
	return true;
}

static const char *folder_below(const struct mp_target *t)
{
	char real[PATH_MAX];

	return realpath(test_folder, real) ? t->folder + strlen(real) : "?";
}

TEST(missing_folders_are_made)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};
	char folder[100];

	CHECK(clear());
	CHECK_EQ(mp_target_open(&t, path, &why), 0);
	CHECK(t.locked && t.fd >= 0);
	CHECK_TEXT(folder_below(&t), "/a/b");
	CHECK_TEXT(t.name, "mcp.json");
	snprintf(folder, sizeof(folder), "%s/a", test_folder);
	CHECK_EQ(config_mode(folder), 0700);
	CHECK_EQ(config_mode(path), -1);
	mp_target_close(&t);
	CHECK_EQ(t.fd, -1);
}

TEST(links_are_followed)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};
	char link[100];

	CHECK(clear() && mkdir(other, 0700) == 0);
	snprintf(link, sizeof(link), "%s/link", test_folder);
	snprintf(path, sizeof(path), "%s/real/one", test_folder);
	CHECK(symlink("real/one", link) == 0);
	CHECK_EQ(mp_target_open(&t, link, &why), 0); /* leads nowhere yet */
	CHECK_TEXT(folder_below(&t), "/real");
	CHECK_TEXT(t.name, "one");
	mp_target_close(&t);
	CHECK(config_put(path, "{}"));
	CHECK_EQ(mp_target_open(&t, link, &why), 0);
	CHECK_TEXT(folder_below(&t), "/real");
	CHECK_TEXT(t.name, "one");
	mp_target_close(&t);
	CHECK(unlink(path) == 0 && symlink("two", path) == 0); /* two links, one absolute */
	CHECK(unlink(link) == 0 && symlink(path, link) == 0);
	CHECK_EQ(mp_target_open(&t, link, &why), 0);
	CHECK_TEXT(t.name, "two");
}

TEST(links_that_lead_nowhere_are_refused)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};

	CHECK(clear());
	CHECK(symlink("nowhere/mcp.json", file_path) == 0);
	CHECK_EQ(mp_target_open(&t, file_path, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "is a link to ") && strstr(why.message, "there is no folder "));
	CHECK(unlink(file_path) == 0 && symlink("mcp.json", file_path) == 0);
	CHECK_EQ(mp_target_open(&t, file_path, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "Too many levels of symbolic links"));
}

TEST(what_is_no_path_of_a_file_is_refused)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};
	static char long_path[PATH_MAX + 10];

	CHECK(clear());
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[0] = '/';
	CHECK_EQ(mp_target_open(&t, long_path, &why), MCPOOL_EINVAL);
	CHECK_EQ(mp_target_open(&t, "relative", &why), MCPOOL_EINVAL);
	CHECK_EQ(mp_target_open(&t, "/", &why), MCPOOL_EINVAL);
	snprintf(path, sizeof(path), "%s/", test_folder);
	CHECK_EQ(mp_target_open(&t, path, &why), MCPOOL_EINVAL);
	snprintf(path, sizeof(path), "%s/new/..", test_folder);
	CHECK_EQ(mp_target_open(&t, path, &why), MCPOOL_EINVAL);
}

TEST(a_file_in_the_way_is_said)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};

	CHECK(clear() && config_put(other, "x"));
	snprintf(path, sizeof(path), "%s/real/mcp.json", test_folder);
	CHECK_EQ(mp_target_open(&t, path, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "cannot be written: Not a directory"));
}

static int started[2];

static bool hold(int ms)
{
	int fd = open(test_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	REQUIRE(fd >= 0 && flock(fd, LOCK_EX) == 0 && write(started[1], "x", 1) == 1);
	nanosleep(&t, NULL);
	return true;
}

static pid_t hold_lock(int ms)
{
	pid_t pid;
	char c;

	if (pipe(started) < 0)
		return -1;
	pid = child_start(hold, ms);
	if (read(started[0], &c, 1) != 1)
		return -1;
	close(started[0]);
	close(started[1]);
	return pid;
}

HEAVY_TEST(a_lock_is_waited_for)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};
	int64_t begin;
	pid_t pid;

	CHECK(clear());
	pid = hold_lock(300);
	begin = config_now_ms();
	CHECK(pid > 0);
	CHECK_EQ(mp_target_open(&t, file_path, &why), 0);
	CHECK(config_now_ms() - begin >= 200); /* it was held that long */
	CHECK_EQ(child_wait(pid), 0);
}

HEAVY_TEST(a_lock_that_is_never_given_back_ends_the_wait)
{
	MP_CLEANUP(mp_target_close) struct mp_target t = {.fd = -1};
	pid_t pid;

	CHECK(clear());
	pid = hold_lock(60000);
	CHECK(pid > 0);
	CHECK_EQ(mp_target_open(&t, file_path, &why), MCPOOL_EAGAIN);
	CHECK(strstr(why.message, "perhaps another mcpool") &&
	      strstr(why.message, test_folder + 5));
	kill(pid, SIGKILL);
	child_wait(pid);
}

TEST(what_went_wrong_comes_with_what_to_do)
{
	struct mp_target t = {.path = "/p/mcp.json", .folder = "/p", .fd = -1};

	CHECK_EQ(mp_target_fail(&t, "written", ENOSPC, &why), MCPOOL_EIO);
	CHECK(strstr(why.message,
		     "/p/mcp.json cannot be written: the disk is full (No space left"));
	CHECK(strstr(why.message, "nothing was changed"));
	CHECK_EQ(mp_target_fail(&t, "written", EDQUOT, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "the disk is full"));
	CHECK_EQ(mp_target_fail(&t, "written", EROFS, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "/p/mcp.json cannot be written: the disk it is on is read-only"));
	CHECK_EQ(mp_target_fail(&t, "written", EFBIG, &why), MCPOOL_EIO);
	CHECK(strstr(why.message, "larger than files may be here (see `ulimit -f`); nothing was"));
	CHECK_EQ(mp_target_fail(&t, "written", EACCES, &why), MCPOOL_EIO);
	CHECK_TEXT(why.message, "/p/mcp.json cannot be written: Permission denied; nothing was "
				"changed, check the permissions of /p");
	CHECK_EQ(mp_target_fail(&t, "read", EIO, &why), MCPOOL_EIO);
	CHECK_TEXT(why.message,
		   "/p/mcp.json cannot be read: Input/output error; nothing was changed");
	CHECK_EQ(mp_target_fail(&t, "read", 100000, &why), MCPOOL_EIO);
}
