/*
 * config.h - what the tests of writing configuration share: a file, and what is in its folder.
 */
#ifndef TEST_CONFIG_H
#define TEST_CONFIG_H

#include "test.h"
#include "folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/str.h"

static char file_path[100];
static struct mcpool_error why; /* of the last failure */

static inline bool config_clear(void)
{
	if (!folder_make())
		return false;
	snprintf(file_path, sizeof(file_path), "%s/mcp.json", test_folder);
	why = (struct mcpool_error){0};
	return true;
}

static inline bool config_put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* The whole file, in memory of its own until the next call; "(none)" where there is none. */
static inline const char *config_get(const char *path)
{
	static char text[1 << 20];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return "(none)";
	text[n] = '\0';
	return text;
}

/* Permissions; -1 where there is nothing. */
static inline int config_mode(const char *path)
{
	struct stat st;

	return lstat(path, &st) < 0 ? -1 : (int)(st.st_mode & 07777);
}

/* Entries of a folder without . and .. */
static inline int config_count(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		closedir(d);
	return n;
}

static inline int64_t config_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
