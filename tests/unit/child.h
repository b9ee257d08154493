/*
 * child.h - parts of a test that need a process of their own: others at the same time, another
 * user, a small disk. Where the machine does not allow it, the reason is printed.
 */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include "test.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_PATIENCE = 120, NOBODY = 65534 }; /* seconds; a user id */

static inline pid_t child_start(bool (*fn)(int number), int number)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(CHILD_PATIENCE);
		_exit(fn(number) ? 0 : 1);
	}
	return pid;
}

/* Its wait status; 0 is fine. */
static inline int child_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* fn(0), fn(1), ... at the same time. True when all said so. */
static inline bool child_run(bool (*fn)(int number), int n)
{
	pid_t pids[32] = {0};
	bool ok = n <= 32;

	for (int i = 0; ok && i < n; i++)
		pids[i] = child_start(fn, i);
	for (int i = 0; i < n && i < 32; i++)
		ok = child_wait(pids[i]) == 0 && ok;
	return ok;
}

/* Become a user without root's rights who owns this folder. In a child. */
static inline bool child_be_nobody(const char *folder)
{
	if (geteuid() != 0)
		return true;
	return chown(folder, NOBODY, NOBODY) == 0 && setgroups(0, NULL) == 0 &&
	       setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

/* A file system of so many KiB on this folder, seen by this child alone. */
static inline bool child_mount_small(const char *folder, int kib)
{
	char size[40];

	snprintf(size, sizeof(size), "size=%dk,mode=0700", kib);
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", "none", MS_REC | MS_PRIVATE, "") == 0 &&
	    mount("tmpfs", folder, "tmpfs", 0, size) == 0)
		return true;
	printf("             no small disk here (%s): left out\n", strerror(errno));
	fflush(stdout); /* children end in _exit() */
	return false;
}

/* No file of this process grows past this; write() says EFBIG. In a child. */
static inline bool child_limit_files(rlim_t bytes)
{
	signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}) == 0;
}

#endif
