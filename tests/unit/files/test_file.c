/*
 * test_file.c - whatever stands at a path: regular files of a bounded size are read, nothing waits.
 */
#include "home.h"

#include <signal.h>
#include <sys/wait.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/buf.h"
#include "files/file.h"

static int try_read(const char *below, size_t limit, struct mp_buf *out)
{
	why = (struct mcpool_error){0};
	return mp_file_read(in(below), limit, out, &why);
}

TEST(a_file_is_read_whole)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	CHECK(folder_make() && put("a", "one") && put_bytes("b", "t\0o", 3));
	CHECK_EQ(try_read("a", 10, &b), 0);
	CHECK_EQ(try_read("b", 3, &b), 0); /* behind what is there, and exactly the limit */
	CHECK_STR(mp_buf_get(&b), "onet\0o");
	CHECK_EQ(put("c", ""), true);
	CHECK_EQ(try_read("c", 0, &b), 0);
	CHECK_EQ(b.len, 6);
}

TEST(what_is_no_file_is_named)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	mp_buf_init(&b, 100);
	CHECK(folder_make() && put("d/x", "1"));
	CHECK_EQ(try_read("none", 10, &b), MCPOOL_ENOENT);
	CHECK_EQ(try_read("d/x/y", 10, &b), MCPOOL_ENOENT);
	CHECK_EQ(try_read("d", 10, &b), MCPOOL_EINVAL);
	CHECK_TEXT(why.message, "it is a folder and not a file");
	CHECK(mkfifo(in("pipe"), 0600) == 0); /* would wait for its writer */
	CHECK_EQ(try_read("pipe", 10, &b), MCPOOL_EINVAL);
	CHECK_TEXT(why.message, "it is a named pipe and not a file");
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", in("s"));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && close(fd) == 0);
	CHECK_EQ(try_read("s", 10, &b), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "a socket"));
	CHECK(symlink("/dev/zero", in("zero")) == 0); /* no end */
	CHECK_EQ(try_read("zero", 10, &b), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "a device"));
	CHECK(symlink("loop", in("loop")) == 0);
	CHECK_EQ(try_read("loop", 10, &b), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "circle"));
	CHECK_EQ(b.len, 0);
}

TEST(a_link_is_followed_and_a_limit_kept)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	CHECK(folder_make() && put("a", "12345") && symlink("a", in("l")) == 0);
	CHECK_EQ(try_read("l", 5, &b), 0);
	CHECK_EQ(try_read("l", 4, &b), MCPOOL_ELIMIT);
	CHECK(strstr(why.message, "it has 5 bytes, and more than 4 are not read"));
	CHECK_STR(mp_buf_get(&b), "12345");
	CHECK(symlink("gone", in("dangling")) == 0);
	CHECK_EQ(try_read("dangling", 5, &b), MCPOOL_ENOENT);
}

TEST(one_that_may_not_be_read_says_so)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 100);
	CHECK(folder_make() && put("a", "1") && chmod(in("a"), 0) == 0);
	if (geteuid() == 0)
		return; /* may read everything */
	CHECK_EQ(try_read("a", 5, &b), MCPOOL_EPERM);
	CHECK_TEXT(why.message, "you may not read it");
}

TEST(the_buffer_of_the_caller_may_be_full)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 3);
	CHECK(folder_make() && put("a", "12345"));
	CHECK_EQ(try_read("a", 100, &b), MCPOOL_ELIMIT);
	CHECK_EQ(b.len, 0);
}

/* Grows while it is read, for ever. */
static void grow(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	alarm(30);
	while (write(fd, "0123456789", 10) > 0)
		;
	_exit(0);
}

HEAVY_TEST(a_file_that_somebody_writes_to_is_not_read_for_ever)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	pid_t pid;
	int r;

	mp_buf_init(&b, 1 << 20);
	CHECK(folder_make() && put("a", ""));
	pid = fork();
	if (pid == 0)
		grow(in("a"));
	CHECK(pid > 0);
	while ((r = try_read("a", 1 << 16, &b)) == 0) /* until it began */
		mp_buf_clear(&b);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(r == MCPOOL_EAGAIN || r == MCPOOL_ELIMIT);
	CHECK_EQ(b.len, 0);
}

static void count(void *u, const void *bytes, size_t n)
{
	(void)bytes;
	*(size_t *)u += n;
}

TEST(pieces_and_real_paths)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	static char big[50000];
	size_t n = 0;

	mp_buf_init(&b, 4096);
	CHECK(folder_make() && put_bytes("d/a", big, sizeof(big)) && symlink("d", in("l")) == 0);
	CHECK_EQ(mp_file_each_piece(in("l/a"), sizeof(big), count, &n, NULL, &why), sizeof(big));
	CHECK_EQ(n, sizeof(big));
	CHECK_EQ(mp_file_each_piece(in("l/a"), 100, count, &n, NULL, &why), MCPOOL_ELIMIT);
	CHECK_EQ(mp_file_real_path(in("l/../l/a"), &b), 0);
	CHECK_TEXT(b.data, in("d/a"));
	mp_buf_clear(&b);
	CHECK_EQ(mp_file_real_path(in("l/b"), &b), MCPOOL_ENOENT);
	CHECK_EQ(b.len, 0);
}

TEST(below_a_folder_is_by_whole_names)
{
	CHECK(mp_file_is_below("/a/b/c", "/a/b") && mp_file_is_below("/a", "/"));
	CHECK(!mp_file_is_below("/a/bc", "/a/b") && !mp_file_is_below("/a/b", "/a/b"));
	CHECK(!mp_file_is_below("/", "/") && !mp_file_is_below("/a", "/a/b"));
}
