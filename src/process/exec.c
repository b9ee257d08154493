/*
 * exec.c - from a forked process to a running server: session, limits, folder, exec.
 * Never through a shell, and the command is looked up in the PATH the server itself will see.
 */
#include "process/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/cgroup.h"
#include "files/identity.h"

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin" /* where the server has no PATH */

enum { REPORT_FD = 3, EXIT_NOT_STARTED = 127 };

/* --- surroundings --------------------------------------------------------------------------- */

void mp_exec_reset_signals(void)
{
	struct sigaction as_usual = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &as_usual, NULL); /* KILL, STOP and the C library's own refuse */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Kernels before 5.9 have no close_range. */
static void close_between(unsigned int from, unsigned int to)
{
	if (from > to || close_range(from, to, 0) == 0)
		return;
	for (unsigned int fd = from; fd <= to && fd < 65536; fd++)
		close((int)fd);
}

void mp_exec_close_all_but(const int *keep, size_t n)
{
	unsigned int from = 3;

	for (size_t i = 0; i < n; i++) {
		if (keep[i] < (int)from)
			continue;
		if (keep[i] > (int)from)
			close_between(from, (unsigned int)keep[i] - 1);
		from = (unsigned int)keep[i] + 1;
	}
	close_between(from, ~0u);
}

int mp_exec_get_oom(pid_t pid, int *ret_value)
{
	char path[64], text[16];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return MCPOOL_ENOENT;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return MCPOOL_ENOENT;
	text[n] = '\0';
	*ret_value = (int)strtol(text, NULL, 10);
	return 0;
}

/* Where /proc cannot be written the server runs all the same. */
static void raise_oom(void)
{
	char text[16];
	int fd, value;

	if (mp_exec_get_oom(getpid(), &value) < 0)
		return;
	value += MP_EXEC_OOM_STEP;
	snprintf(text, sizeof(text), "%d", value < MP_EXEC_OOM_MAX ? value : MP_EXEC_OOM_MAX);
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

static void forbid_cores(void)
{
	struct rlimit none = {0, 0};

	(void)setrlimit(RLIMIT_CORE, &none); /* lowering is always allowed */
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0 /* LeakSanitizer traces its own process, which must be dumpable for that */
#endif

void mp_exec_hide(void)
{
	forbid_cores();
	if (!IS_SANITIZED)
		prctl(PR_SET_DUMPABLE, 0);
}

static _Noreturn void give_up(enum mp_stage stage, int cause, int report)
{
	struct mp_exec_failure failure = {(int32_t)stage, cause};

	(void)!write(report, &failure, sizeof(failure)); /* without a reader, no process waits */
	_exit(EXIT_NOT_STARTED);
}

/* The pipes become 0, 1, 2, the report 3, which exec closes; nothing else stays open. */
static int set_up_descriptors(const int fds[3], int report)
{
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			return -1;
	if (report != REPORT_FD && dup3(report, REPORT_FD, O_CLOEXEC) < 0)
		return -1;
	close_between(REPORT_FD + 1, ~0u);
	return 0;
}

/* --- the command ---------------------------------------------------------------------------- */

/* Errno says too little: a folder is "permission denied", a missing interpreter "no such file". */
static int exec_refine(const char *path, int cause)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return cause;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return cause == ENOENT ? ELIBACC : cause;
}

static const char *get_path(const char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return DEFAULT_PATH;
}

/*
 * Is it a program in the kernel's own format? An interpreter opens a script by its name, so that
 * one must be run by its name.
 */
static bool is_binary(int fd)
{
	char begin[2];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) && memcmp(begin, "#!", 2) != 0;
}

/*
 * A program that was checked is run from the descriptor that is checked again, so that it cannot be
 * replaced in between. Returns only where that is not possible.
 */
static void try_checked(const char *path, const struct mp_launch *launch)
{
	int fd = launch->seen && launch->seen[0] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat st;

	if (fd < 0)
		return;
	for (const char *const *seen = launch->seen; *seen && fstat(fd, &st) == 0; seen++)
		if (mp_identity_is(*seen, &st) && is_binary(fd)) {
			(void)syscall(SYS_execveat, fd, "", launch->argv, launch->env,
				      AT_EMPTY_PATH);
			break;
		}
	close(fd);
}

/* All of them, as late as possible. */
static bool are_unchanged(const struct mp_launch *launch)
{
	for (const char *const *seen = launch->seen; seen && *seen; seen++)
		if (!mp_identity_holds(*seen))
			return false;
	return true;
}

static int exec_try(const char *path, const struct mp_launch *launch)
{
	try_checked(path, launch);
	execve(path, (char *const *)launch->argv, (char *const *)launch->env);
	return exec_refine(path, errno);
}

/* Is it worth while to look into the next folder of PATH? */
static bool may_be_elsewhere(int cause)
{
	return cause == ENOENT || cause == EACCES || cause == ENOTDIR || cause == EISDIR ||
	       cause == ELOOP || cause == ENAMETOOLONG || cause == ESTALE || cause == ENODEV ||
	       cause == ETIMEDOUT;
}

/* As execvp() does, but in the given PATH, and without its shell. Returns the cause of failure. */
static int exec_search(const struct mp_launch *launch)
{
	const char *dir = get_path(launch->env), *end;
	int worst = ENOENT;

	for (;; dir = end + 1) {
		char path[PATH_MAX];
		int n, cause;

		end = strchrnul(dir, ':');
		n = snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - dir), dir,
			     end > dir ? "/" : "", launch->argv[0]);
		if (n > 0 && (size_t)n < sizeof(path)) {
			cause = exec_try(path, launch);
			if (!may_be_elsewhere(cause))
				return cause;
			if (cause == EACCES)
				worst = EACCES; /* found, and not to be run: tell that */
		}
		if (!*end)
			return worst;
	}
}

_Noreturn void mp_exec_server(const struct mp_launch *launch, const int fds[3], int report,
			      pid_t parent)
{
	int cause;

	/* The kernel kills the server itself if its shepherd dies. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_NOT_STARTED);
	if (setsid() < 0 || set_up_descriptors(fds, report) < 0)
		give_up(MP_STAGE_LAUNCH, errno, report);
	forbid_cores();
	prctl(PR_SET_DUMPABLE, 1); /* its files in /proc are its own again; exec does the same */
	raise_oom();
	mp_cgroup_enter();
	if (launch->cwd && chdir(launch->cwd) < 0)
		give_up(MP_STAGE_FOLDER, errno, REPORT_FD);
	mp_exec_reset_signals();
	if (!are_unchanged(launch))
		give_up(MP_STAGE_FILES, ESTALE, REPORT_FD);
	if (strchr(launch->argv[0], '/'))
		cause = exec_try(launch->argv[0], launch);
	else
		cause = exec_search(launch);
	give_up(MP_STAGE_COMMAND, cause, REPORT_FD);
}
