/*
 * process.h - what the tests of process/ share: a launcher, servers to run, and a count of what
 * is left of them. Everything a test starts has the test's tag in its environment, also launchers
 * and shepherds, so it is found wherever it went.
 */
#ifndef TEST_PROCESS_H
#define TEST_PROCESS_H

#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "process/child.h"
#include "process/launcher.h"
#include "process/tree.h"

enum { PATIENCE_MS = 20000 }; /* for what has no promised time; the machine may be busy */

static char tag[64]; /* "MCPOOL_TEST_MARK=..." */

static inline int64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void nap_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static inline void new_tag(void)
{
	static int n;
	char value[40];

	snprintf(value, sizeof(value), "%d-%d-%lld", (int)getpid(), n++, (long long)real_ms());
	snprintf(tag, sizeof(tag), "MCPOOL_TEST_MARK=%s", value);
	setenv("MCPOOL_TEST_MARK", value, 1); /* launchers get it from here */
}

static inline bool has_text(const char *pid, const char *file, const char *word)
{
	char path[300], text[16384];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 && memmem(text, (size_t)n, word, strlen(word) + 1);
}

/* Launchers and shepherds have no environment: it is their last word. */
static inline bool has_tag(const char *pid)
{
	return has_text(pid, "environ", tag) ||
	       has_text(pid, "cmdline", tag + strlen("MCPOOL_TEST_MARK="));
}

/* Living processes with the tag whose name begins so; *ret_pid: the last of them. */
static inline int count_alive(const char *name, pid_t *ret_pid)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	struct mp_proc p;
	int n = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || !has_tag(e->d_name))
			continue;
		if (mp_tree_read((pid_t)atoi(e->d_name), &p) < 0 || !mp_tree_is_alive(&p) ||
		    strncmp(p.name, name, strlen(name)) != 0)
			continue;
		n++;
		if (ret_pid)
			*ret_pid = p.pid;
	}
	if (d)
		closedir(d);
	return n;
}

static inline bool all_gone_within(int64_t ms)
{
	int64_t until = real_ms() + ms;

	while (count_alive("", NULL) > 0) {
		if (real_ms() > until)
			return false;
		nap_ms(5);
	}
	return true;
}

/* After a test, whatever happened in it. */
static inline void kill_all_tagged(void)
{
	pid_t pid;

	for (int i = 0; i < 100 && count_alive("", &pid) > 0; i++) {
		kill(pid, SIGKILL);
		nap_ms(5);
	}
}

static inline int count_zombies_of_ours(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	struct mp_proc p;
	int n = 0;

	while (d && (e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    mp_tree_read((pid_t)atoi(e->d_name), &p) == 0 && p.parent == getpid())
			n += p.state == 'Z';
	if (d)
		closedir(d);
	return n;
}

/* Turn the loop until the condition, asked once a turn, holds; false when it never does. */
#define TURN_UNTIL(loop, condition)                                      \
	__extension__({                                                  \
		int64_t until_ms = real_ms() + PATIENCE_MS;              \
		bool holds;                                              \
		while (!(holds = (condition)) && real_ms() < until_ms) { \
			mp_loop_turn(loop, false);                       \
			nap_ms(1);                                       \
		}                                                        \
		holds;                                                   \
	})

/* --- a launch of the helper ----------------------------------------------------------------- */

struct recipe {
	const char *argv[4];
	const char *env[4];
	struct mp_launch launch;
};

static inline const struct mp_launch *run_helper(struct recipe *r, const char *what,
						 const char *argument)
{
	*r = (struct recipe){{HELPER_SERVER, what, argument, NULL}, {tag, NULL}, {0}};
	r->launch = (struct mp_launch){r->argv, r->env, NULL, NULL};
	return &r->launch;
}

#endif
