/*
 * local_key.c - the key of this user on this machine.
 * It is written under another name and linked into place, whole or not at all. A second process
 * finds the name taken and reads what the first one wrote.
 */
#include "store/local_key.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/folders.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/random_id.h"
#include "files/private.h"

enum { MAX_PATH = PATH_MAX + 64 };

static int local_key_check(const char *path, const struct stat *st, struct mcpool_error *reterr)
{
	int r = mp_private_check(path, st, reterr);

	if (r < 0)
		return r;
	if (st->st_mode & (S_IRWXG | S_IRWXO))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "others may read %s (mode %03o), so it is not secret any more; "
			       "remove it and a new one is made",
			       path, (unsigned)(st->st_mode & 0777));
	if (st->st_size != MP_LOCAL_KEY_SIZE)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "%s has %lld bytes and not %d; remove it and a new one is made",
			       path, (long long)st->st_size, MP_LOCAL_KEY_SIZE);
	return 0;
}

static int local_key_fail(const char *path, const char *verb, struct mcpool_error *reterr)
{
	const char *words = strerrordesc_np(errno);

	return mp_fail(reterr, MCPOOL_EIO, "%s cannot be %s: %s", path, verb,
		       words ? words : "an unknown error");
}

/* 1: read; 0: there is none. */
static int read_key(const char *path, unsigned char key[MP_LOCAL_KEY_SIZE],
		    struct mcpool_error *reterr)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a symbolic link, which is not followed; put the file itself "
			       "there",
			       path);
	if (fd < 0)
		return local_key_fail(path, "opened", reterr);
	if (fstat(fd, &st) < 0)
		r = local_key_fail(path, "read", reterr);
	else
		r = local_key_check(path, &st, reterr);
	if (r == 0 && read(fd, key, MP_LOCAL_KEY_SIZE) != MP_LOCAL_KEY_SIZE)
		r = local_key_fail(path, "read", reterr);
	close(fd);
	return r < 0 ? r : 1;
}

static bool local_key_fill(int fd)
{
	unsigned char key[MP_LOCAL_KEY_SIZE];
	bool ok;

	mp_random_fill(key, sizeof(key));
	ok = write(fd, key, sizeof(key)) == (ssize_t)sizeof(key) && fsync(fd) == 0;
	mp_wipe(key, sizeof(key));
	return ok;
}

/* Give it its name unless that is taken; not every file system has both ways. */
static bool local_key_publish(const char *temporary, const char *path)
{
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EEXIST && link(temporary, path) < 0 && errno != EEXIST)
		return false;
	return unlink(temporary) == 0;
}

static int make_key(const char *path, struct mcpool_error *reterr)
{
	char temporary[MAX_PATH], folder[PATH_MAX];
	int fd, n = (int)(strrchr(path, '/') - path), r = 0;
	uint64_t salt = 0;

	mp_random_fill(&salt, sizeof(salt));
	snprintf(temporary, sizeof(temporary), "%.*s/.local.key.%d.%016llx.mcpool-tmp", n, path,
		 (int)getpid(), (unsigned long long)salt);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return local_key_fail(path, "made", reterr);
	if (!local_key_fill(fd) || !local_key_publish(temporary, path)) {
		r = local_key_fail(path, "written", reterr);
		unlink(temporary);
	}
	close(fd);
	snprintf(folder, sizeof(folder), "%.*s", n, path);
	mp_folders_sync(folder);
	return r;
}

static int local_key_get(const char *path, unsigned char key[MP_LOCAL_KEY_SIZE],
			 struct mcpool_error *reterr)
{
	int r = read_key(path, key, reterr);

	if (r != 0)
		return r < 0 ? r : 0;
	r = make_key(path, reterr);
	if (r < 0)
		return r;
	r = read_key(path, key, reterr);
	if (r == 0)
		return mp_fail(reterr, MCPOOL_EAGAIN, "%s was removed at this moment; try again",
			       path);
	return r < 0 ? r : 0;
}

int mp_local_key_get(unsigned char ret_key[MP_LOCAL_KEY_SIZE], struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	char real[PATH_MAX];
	int r;

	mp_buf_init(&path, PATH_MAX);
	r = mp_path_state("local.key", &path);
	if (r == MCPOOL_ENOENT)
		return mp_fail(reterr, r, "HOME is not set, so local.key has no folder");
	if (r < 0)
		return mp_fail(reterr, r, "the path of local.key: %s", mcpool_error_text(r));
	r = mp_private_folder(path.data, real, reterr);
	return r < 0 ? r : local_key_get(real, ret_key, reterr);
}

int mp_local_key_get_beside(const char *file, unsigned char ret_key[MP_LOCAL_KEY_SIZE],
			    struct mcpool_error *reterr)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	char path[PATH_MAX];

	if (!slash || (size_t)snprintf(path, sizeof(path), "%.*s/local.key", (int)(slash - file),
				       file) >= sizeof(path))
		return mp_fail(reterr, MCPOOL_EINVAL, "cannot find a folder for local.key");
	return local_key_get(path, ret_key, reterr);
}
