/*
 * agent_run.c - programs of this machine: where one is, and running an agent's own command.
 */
#include "cli/agents/agent_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"

enum { LOOK_MS = 10 };

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool mp_program_find(const char *name, char ret_path[PATH_MAX])
{
	return mp_program_find_in(getenv("PATH"), name, ret_path);
}

bool mp_program_find_in(const char *path, const char *name, char ret_path[PATH_MAX])
{
	const char *at = path;

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (at[0] == '/' &&
		    snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)n, at, name) < PATH_MAX &&
		    is_program(ret_path))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

static bool is_same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

void mp_program_find_self(char ret_path[PATH_MAX])
{
	if (!mp_program_find("mcpool", ret_path) || !is_same_file(ret_path, MP_PATH_SELF))
		mp_path_find_self(ret_path);
}

/* --- running --------------------------------------------------------------------------------- */

/* Its output goes to stderr, because our stdout may be one JSON object; its stdin is empty. */
static int agent_run_start(const char *path, const char *const *argv, pid_t *ret_pid)
{
	posix_spawn_file_actions_t files;
	int r = posix_spawn_file_actions_init(&files);

	if (r != 0)
		return r;
	r = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &files, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

static void rest(void)
{
	struct timespec moment = {0, LOOK_MS * 1000000L};

	nanosleep(&moment, NULL);
}

/* False: it still runs after that time. */
static bool agent_run_await(pid_t pid, int64_t max_ms, int *ret_status)
{
	pid_t r;

	for (int64_t waited = 0; waited <= max_ms; waited += LOOK_MS) {
		r = waitpid(pid, ret_status, WNOHANG);
		if (r == pid || (r < 0 && errno != EINTR))
			return true;
		rest();
	}
	return false;
}

int mp_program_run(const char *path, const char *const *argv, int64_t max_ms,
		   struct mcpool_error *reterr)
{
	int status = 0, r;
	pid_t pid;

	fflush(NULL); /* our output comes first */
	r = agent_run_start(path, argv, &pid);
	if (r != 0)
		return mp_fail_errno(reterr, r, "%s cannot be started", path);
	if (!agent_run_await(pid, max_ms, &status)) {
		kill(pid, SIGKILL);
		(void)agent_run_await(pid, max_ms, &status); /* SIGKILL cannot be ignored */
		return mp_fail(reterr, MCPOOL_ETIMEDOUT, "%s did not end in %lld s", path,
			       (long long)max_ms / 1000);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return mp_fail(reterr, MCPOOL_ECLOSED, "%s was ended by signal %d", path, WTERMSIG(status));
}
