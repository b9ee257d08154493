/*
 * file.c - reading a file that may turn out to be anything.
 * A path is first opened without opening what it names (O_PATH): opening a pipe would wait for its
 * writer, and opening a device can make it act. Only a regular file is then opened for reading.
 */
#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/guard.h"

enum { ATTEMPTS = 3 };

static int fail_open(struct mcpool_error *reterr, int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no such file");
	case ELOOP:
		return mp_fail(reterr, MCPOOL_EINVAL, "its symbolic links lead in a circle");
	case ENAMETOOLONG:
		return mp_fail(reterr, MCPOOL_EINVAL, "its path is too long");
	case EACCES:
	case EPERM:
		return mp_fail(reterr, MCPOOL_EPERM, "you may not read it");
	default:
		return mp_fail(reterr, MCPOOL_EIO, "it cannot be read: %s", strerror(errnum));
	}
}

static const char *file_describe(mode_t mode)
{
	return S_ISDIR(mode)                    ? "a folder"
	       : S_ISFIFO(mode)                 ? "a named pipe"
	       : S_ISSOCK(mode)                 ? "a socket"
	       : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
						: "something else";
}

/* The file behind the descriptor, opened for reading; by its path if /proc is missing. */
static int open_again(int path_fd, const char *path, const struct stat *found)
{
	struct stat now;
	char link[40];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 || errno != ENOENT)
		return fd;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	if (fstat(fd, &now) == 0 && now.st_dev == found->st_dev && now.st_ino == found->st_ino)
		return fd;
	close(fd);
	errno = ENOENT;
	return -1;
}

static int open_regular(const char *path, size_t limit, int *ret_fd, struct stat *ret_stat,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_guard_close) int path_fd = open(path, O_PATH | O_CLOEXEC);
	int fd;

	if (path_fd < 0 || fstat(path_fd, ret_stat) < 0)
		return fail_open(reterr, errno);
	if (!S_ISREG(ret_stat->st_mode))
		return mp_fail(reterr, MCPOOL_EINVAL, "it is %s and not a file",
			       file_describe(ret_stat->st_mode));
	if (ret_stat->st_size < 0 || (uint64_t)ret_stat->st_size > limit)
		return mp_fail(reterr, MCPOOL_ELIMIT,
			       "it has %lld bytes, and more than %zu are not read",
			       (long long)ret_stat->st_size, limit);
	fd = open_again(path_fd, path, ret_stat);
	if (fd < 0)
		return fail_open(reterr, errno);
	*ret_fd = fd;
	return 0;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* 1: all of it, 0: it changed meanwhile. A file that grows is read up to the limit, not for ever.
 */
static int read_once(const char *path, size_t limit, mp_file_fn fn, void *u, int64_t *ret_size,
		     struct stat *ret_stat, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_guard_close) int fd = -1;
	struct stat before = {0}, after = {0};
	char piece[16384];
	size_t total = 0;
	int r = open_regular(path, limit, &fd, &before, reterr);

	if (r < 0)
		return r;
	for (;;) {
		ssize_t n = read(fd, piece, sizeof(piece));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_open(reterr, errno);
		if (n == 0)
			break;
		total += (size_t)n;
		if (total > limit)
			return 0; /* it has grown since */
		fn(u, piece, (size_t)n);
	}
	*ret_size = (int64_t)total;
	if (fstat(fd, &after) < 0)
		return 0;
	if (ret_stat)
		*ret_stat = after;
	return is_unchanged(&before, &after) && total == (size_t)after.st_size;
}

int64_t mp_file_each_piece(const char *path, size_t limit, mp_file_fn fn, void *u,
			   struct stat *ret_stat, struct mcpool_error *reterr)
{
	int64_t size = 0;
	int r = read_once(path, limit, fn, u, &size, ret_stat, reterr);

	if (r < 0)
		return r;
	return r ? size : mp_fail(reterr, MCPOOL_EAGAIN, "it changed while it was read");
}

struct collecting {
	struct mp_buf *out;
	int error;
};

static void collect(void *u, const void *bytes, size_t n)
{
	struct collecting *c = u;

	if (c->error == 0)
		c->error = mp_buf_add(c->out, bytes, n);
}

int mp_file_read(const char *path, size_t limit, struct mp_buf *out, struct mcpool_error *reterr)
{
	size_t start = out->len;
	int64_t size;
	int r;

	for (int i = 0; i < ATTEMPTS; i++) {
		struct collecting c = {out, 0};

		out->len = start;
		r = read_once(path, limit, collect, &c, &size, NULL, reterr);
		if (r > 0 && c.error == 0)
			return 0;
		if (r == 0 && c.error == 0)
			continue;
		out->len = start;
		return r < 0 ? r : mp_fail(reterr, c.error, "%s", mcpool_error_text(c.error));
	}
	out->len = start;
	return mp_fail(reterr, MCPOOL_EAGAIN, "it changes while it is read");
}

int mp_file_real_path(const char *path, struct mp_buf *out)
{
	char real[PATH_MAX];
	int r;

	if (!realpath(path, real))
		return errno == ENOENT || errno == ENOTDIR ? MCPOOL_ENOENT : MCPOOL_EIO;
	r = mp_buf_add(out, real, strlen(real));
	return r < 0 ? r : mp_buf_terminate(out);
}

bool mp_file_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 && (path[n] == '/' || (n == 1 && path[1]));
}
