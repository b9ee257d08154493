/*
 * background.c - starts a hub in the background: forked twice into a session of its own, so that
 * the end of the process that started it does not end the hub.
 */
#include "hub/background.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "process/logfile.h"
#include "files/private.h"

int mp_background_find_log(struct mp_buf *out, struct mcpool_error *reterr)
{
	int r = mp_path_state("hub.log", out);

	return r < 0 ? mp_fail(reterr, r, "HOME is not set, so there is no place for a log") : 0;
}

/* Open for appending; a long log is renamed to .1 first. */
static int log_open(const char *path, struct mcpool_error *reterr)
{
	char real[PATH_MAX], older[PATH_MAX + 4];
	struct stat st;
	int fd, r = mp_private_folder(path, real, reterr);

	if (r < 0)
		return r;
	snprintf(older, sizeof(older), "%s.1", real);
	if (lstat(real, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > MP_LOGFILE_SIZE)
		(void)rename(real, older); /* if it fails, the log grows on */
	fd = open(real, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	return fd < 0 ? mp_fail_errno(reterr, errno, "%s cannot be opened", real) : fd;
}

static void hub_exec(int log, int ready, const char *http)
{
	char *argv[] = {"mcpool",     "serve", "--background", http ? "--http" : NULL,
			(char *)http, NULL};
	char self[PATH_MAX];
	sigset_t none;
	int null = open("/dev/null", O_RDONLY);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(ready, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		_exit(1);
	mp_path_find_self(self);
	if (close_range(STDERR_FILENO + 1, ~0u, 0) < 0)
		_exit(1); /* the hub must not inherit the agent's descriptors */
	execv(self, argv);
	execv(MP_PATH_SELF, argv);
	_exit(1);
}

static int hub_fork(int log, int ready, const char *http, struct mcpool_error *reterr)
{
	pid_t child = fork();

	if (child < 0)
		return mp_fail_errno(reterr, errno, "the hub cannot be started");
	if (child == 0) {
		setsid();
		child = fork();
		if (child == 0)
			hub_exec(log, ready, http);
		_exit(child < 0);
	}
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int mp_background_start(const struct mp_hub_place *place, const char *log, const char *http,
			int *ret_ready, struct mcpool_error *reterr)
{
	int fds[2], fd, r;

	if (mp_hub_place_is_held(place))
		return mp_fail(reterr, MCPOOL_EAGAIN,
			       "process %ld holds the hub's lock and does not answer yet; if this "
			       "lasts, stop it with `mcpool down`",
			       (long)mp_hub_place_get_pid(place));
	fd = log_open(log, reterr);
	if (fd < 0)
		return fd;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		close(fd);
		return mp_fail_errno(reterr, errno, "the hub cannot be started");
	}
	r = hub_fork(fd, fds[1], http, reterr);
	close(fd);
	close(fds[1]);
	if (r < 0)
		close(fds[0]);
	else
		*ret_ready = fds[0];
	return r;
}
