/*
 * folders.c - makes the folders of a file that is about to be written, and syncs them.
 */
#include "base/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void mp_folders_sync(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd); /* some file systems cannot, and what is there is there */
	close(fd);
}

/* The folder this one is in; text is cut there for the moment. */
static void sync_above(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (!slash || slash == folder) {
		mp_folders_sync(slash ? "/" : ".");
		return;
	}
	*slash = '\0';
	mp_folders_sync(folder);
	*slash = '/';
}

/*
 * For an existing folder mkdir() may fail in several ways: the one above may be read-only or not
 * ours.
 */
static bool make_one(char *folder)
{
	struct stat st;
	int errnum;

	if (mkdir(folder, 0700) == 0) {
		sync_above(folder);
		return true;
	}
	errnum = errno;
	if (stat(folder, &st) == 0) {
		errnum = ENOTDIR;
		if (S_ISDIR(st.st_mode))
			return true;
	}
	errno = errnum;
	return false;
}

int mp_folders_make(const char *file, char *failed)
{
	char folder[PATH_MAX] = "";

	if (failed)
		failed[0] = '\0';
	for (const char *slash = file; (slash = strchr(slash + 1, '/'));) {
		size_t n = (size_t)(slash - file);

		if (n >= sizeof(folder)) {
			errno = ENAMETOOLONG;
			return MCPOOL_ESYSTEM;
		}
		memcpy(folder, file, n);
		folder[n] = '\0';
		if (!make_one(folder)) {
			if (failed)
				memcpy(failed, folder, n + 1);
			return MCPOOL_ESYSTEM;
		}
	}
	return 0;
}
