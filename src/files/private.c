/*
 * private.c - files of the state folder, accessible to this user alone.
 */
#include "files/private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folders.h"

enum { OTHERS_MAY_WRITE = S_IWGRP | S_IWOTH, OTHERS_MAY = S_IRWXG | S_IRWXO };

static int fail_io(struct mcpool_error *reterr, const char *path, const char *verb, int errnum)
{
	const char *words = strerrordesc_np(errnum);

	return mp_fail(reterr, MCPOOL_EIO,
		       "%s cannot be %s: %s; set XDG_STATE_HOME to a folder that can be written",
		       path, verb, words ? words : "an unknown error");
}

/* --- the folder ----------------------------------------------------------------------------- */

static int check_folder(const char *folder, struct mcpool_error *reterr)
{
	struct stat st;

	if (stat(folder, &st) < 0)
		return fail_io(reterr, folder, "used", errno);
	if (st.st_uid != geteuid())
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s belongs to another user (%u); give it to yourself, or set "
			       "XDG_STATE_HOME to a folder of your own",
			       folder, (unsigned)st.st_uid);
	if (st.st_mode & OTHERS_MAY_WRITE)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "others may write to %s (mode %03o); see that nothing in it is "
			       "theirs, then `chmod 700` it",
			       folder, (unsigned)(st.st_mode & 0777));
	return 0;
}

int mp_private_folder(const char *path, char ret_real[PATH_MAX], struct mcpool_error *reterr)
{
	const char *name = strrchr(path, '/');
	char folder[PATH_MAX], failed[PATH_MAX];
	size_t n;
	int r;

	name = name ? name + 1 : path;
	n = (size_t)(name - path);
	if (n + 2 > sizeof(folder))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is too long a path", path);
	if (mp_folders_make(path, failed) < 0)
		return fail_io(reterr, failed, "made", errno);
	memcpy(folder, path, n);
	memcpy(folder + n, ".", 2);
	if (!realpath(folder, ret_real))
		return fail_io(reterr, folder, "used", errno);
	r = check_folder(ret_real, reterr);
	if (r < 0)
		return r;
	n = strlen(ret_real);
	if (snprintf(ret_real + n, PATH_MAX - n, "/%s", name) >= (int)(PATH_MAX - n))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is too long a path", path);
	return 0;
}

/* --- the file ------------------------------------------------------------------------------- */

int mp_private_check(const char *path, const struct stat *st, struct mcpool_error *reterr)
{
	if (S_ISLNK(st->st_mode))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a symbolic link, which is not followed; put the file itself "
			       "there",
			       path);
	if (!S_ISREG(st->st_mode))
		return mp_fail(reterr, MCPOOL_EPERM, "%s is not a regular file; move it away",
			       path);
	if (st->st_uid != geteuid())
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s belongs to another user (%u); move it away, or give it to "
			       "yourself",
			       path, (unsigned)st->st_uid);
	if (st->st_mode & OTHERS_MAY_WRITE)
		return mp_fail(
			reterr, MCPOOL_EPERM,
			"others may write to %s (mode %03o); move it away, or see that it is "
			"as you left it and `chmod 600` it",
			path, (unsigned)(st->st_mode & 0777));
	return 0;
}

/*
 * Through a descriptor that is only a place: closing another kind would end the locks that SQLite
 * has on the file in this process.
 */
static int check_existing(const char *real, struct mcpool_error *reterr)
{
	int fd = open(real, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = fail_io(reterr, real, "opened", errno);
	} else {
		r = mp_private_check(real, &st, reterr);
		/* A readable file only needs a new mode. In a read-only folder that may fail. */
		if (r == 0 && (st.st_mode & OTHERS_MAY))
			(void)chmod(real, 0600);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static int private_make(const char *real, struct mcpool_error *reterr)
{
	int fd = open(real, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char folder[PATH_MAX];

	if (fd < 0 && errno == EEXIST)
		return check_existing(real, reterr);
	if (fd < 0)
		return fail_io(reterr, real, "made", errno);
	close(fd);
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(real, '/') - real), real);
	mp_folders_sync(folder);
	return 0;
}

int mp_private_file(const char *real, struct mcpool_error *reterr)
{
	/* Two threads: the second must not open what the first is about to close, as above. */
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
	int r;

	pthread_mutex_lock(&one_at_a_time);
	r = private_make(real, reterr);
	pthread_mutex_unlock(&one_at_a_time);
	return r;
}

/* --- new content ---------------------------------------------------------------------------- */

static bool write_all(int fd, struct mp_str bytes)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.p, bytes.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes.p += n;
		bytes.len -= (size_t)n;
	}
	return fsync(fd) == 0;
}

/* A name of its own for each process: two of them may be at it at once. */
int mp_private_replace(const char *path, struct mp_str bytes, struct mcpool_error *reterr)
{
	char real[PATH_MAX], beside[PATH_MAX];
	int fd, errnum, r = mp_private_folder(path, real, reterr);

	if (r < 0)
		return r;
	if (snprintf(beside, sizeof(beside), "%s.%ld", real, (long)getpid()) >= (int)sizeof(beside))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is too long a path", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail_io(reterr, beside, "made", errno);
	errnum = write_all(fd, bytes) ? 0 : errno;
	if (close(fd) < 0 && errnum == 0)
		errnum = errno;
	if (errnum == 0 && rename(beside, real) < 0)
		errnum = errno;
	if (errnum == 0)
		return 0;
	(void)unlink(beside); /* it may never have been there */
	return fail_io(reterr, real, "written", errnum);
}
