/*
 * target.c - the file that a path means, with the lock of its folder.
 */
#include "files/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folders.h"

enum { MAX_LINKS = 40, LOCK_MS = 10000, LOCK_POLL_MS = 10 };

/* --- failures ------------------------------------------------------------------------------- */

int mp_target_fail(const struct mp_target *t, const char *verb, int errnum,
		   struct mcpool_error *reterr)
{
	const char *words = strerrordesc_np(errnum);

	if (!words)
		words = "an unknown error";
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s cannot be %s: the disk is full (%s); nothing was changed, make "
			       "room and try again",
			       t->path, verb, words);
	case EFBIG:
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s cannot be %s: it would be larger than files may be here (see "
			       "`ulimit -f`); nothing was changed",
			       t->path, verb);
	case EROFS:
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s cannot be %s: the disk it is on is read-only; nothing was "
			       "changed, make it writable and try again",
			       t->path, verb);
	case EACCES:
	case EPERM:
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s cannot be %s: %s; nothing was changed, check the permissions of "
			       "%s",
			       t->path, verb, words, t->folder[0] ? t->folder : "its folder");
	default:
		return mp_fail(reterr, MCPOOL_EIO, "%s cannot be %s: %s; nothing was changed",
			       t->path, verb, words);
	}
}

/* --- where it is ---------------------------------------------------------------------------- */

/* From the whole path of the file: its folder, made real, and its name. */
static int target_split(struct mp_target *t, const char *file, struct mcpool_error *reterr)
{
	const char *slash = strrchr(file, '/');
	char folder[PATH_MAX];
	size_t n = (size_t)(slash - file);

	if (!slash[1] || strlen(slash + 1) > NAME_MAX || n >= sizeof(folder) ||
	    strcmp(slash + 1, ".") == 0 || strcmp(slash + 1, "..") == 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is not a file name", t->path);
	memcpy(folder, file, n);
	folder[n] = '\0';
	memcpy(t->name, slash + 1, strlen(slash + 1) + 1);
	if (!realpath(n ? folder : "/", t->folder)) {
		snprintf(t->folder, sizeof(t->folder), "%s", folder);
		if (errno == ENOENT)
			return mp_fail(reterr, MCPOOL_EIO,
				       "%s is a link to %s, but there is no folder %s; make it, or "
				       "remove the link",
				       t->path, file, folder);
		return mp_target_fail(t, "written", errno, reterr);
	}
	return 0;
}

/* The next hop of a link, into file itself; false: it is none, or there is nothing. */
static bool target_follow(char file[PATH_MAX])
{
	char to[PATH_MAX], folder[PATH_MAX];
	ssize_t n = readlink(file, to, sizeof(to) - 1);
	int length;

	if (n < 0)
		return false;
	to[n] = '\0';
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(file, '/') + 1 - file), file);
	length = to[0] == '/' ? snprintf(file, PATH_MAX, "%s", to)
			      : snprintf(file, PATH_MAX, "%s%s", folder, to);
	return length < PATH_MAX;
}

/* The file is missing. A dangling link is followed to where the file would be. */
static int resolve_missing(struct mp_target *t, struct mcpool_error *reterr)
{
	char file[PATH_MAX];
	int links = 0;

	snprintf(file, sizeof(file), "%s", t->path);
	while (links < MAX_LINKS && target_follow(file))
		links++;
	if (links == MAX_LINKS)
		return mp_target_fail(t, "written", ELOOP, reterr);
	if (links == 0 && mp_folders_make(t->path, t->folder) < 0)
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s cannot be written: the folder %s cannot be made: %s", t->path,
			       t->folder, strerrordesc_np(errno));
	return target_split(t, file, reterr);
}

static int target_resolve(struct mp_target *t, struct mcpool_error *reterr)
{
	char real[PATH_MAX];

	size_t n = strlen(t->path);

	if (t->path[0] != '/' || t->path[n - 1] == '/' || n >= PATH_MAX)
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is not an absolute file path", t->path);
	if (realpath(t->path, real))
		return target_split(t, real, reterr);
	if (errno == ENOENT)
		return resolve_missing(t, reterr);
	return mp_target_fail(t, "written", errno, reterr);
}

/* --- the lock ------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Of those that wait, not all look at the same time: the nap differs by process and try. */
static void target_nap(unsigned tries)
{
	unsigned ms = LOCK_POLL_MS + ((unsigned)getpid() * 7 + tries * 3) % LOCK_POLL_MS;
	struct timespec t = {0, (long)ms * 1000000};

	nanosleep(&t, NULL);
}

static int target_lock(struct mp_target *t, struct mcpool_error *reterr)
{
	int64_t until = now_ms() + LOCK_MS;

	for (unsigned tries = 0;; tries++) {
		if (flock(t->fd, LOCK_EX | LOCK_NB) == 0) {
			t->locked = true;
			return 0;
		}
		/* Some file systems have no locks: then the comparison before the rename must do.
		 */
		if (errno == ENOLCK || errno == EOPNOTSUPP || errno == EINVAL)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return mp_target_fail(t, "written", errno, reterr);
		if (now_ms() >= until)
			return mp_fail(
				reterr, MCPOOL_EAGAIN,
				"%s was not changed: another program, perhaps another mcpool "
				"that is stuck, has locked %s for over 10 seconds; end it and "
				"try again",
				t->path, t->folder);
		target_nap(tries);
	}
}

int mp_target_open(struct mp_target *t, const char *path, struct mcpool_error *reterr)
{
	int r;

	*t = (struct mp_target){.path = path, .fd = -1};
	r = target_resolve(t, reterr);
	if (r < 0)
		return r;
	t->fd = open(t->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->fd < 0)
		return mp_target_fail(t, "written", errno, reterr);
	return target_lock(t, reterr);
}

void mp_target_close(struct mp_target *t)
{
	if (t->fd >= 0)
		close(t->fd); /* and with it the lock */
	t->fd = -1;
}
