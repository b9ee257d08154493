/*
 * command_fork.c - a command in a session of its own.
 */
#include "process/command_fork.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "process/exec.h"

static _Noreturn void give_up(const char *words)
{
	(void)!write(STDERR_FILENO, words, strlen(words)); /* becomes part of the message */
	_exit(MP_COMMAND_NOT_STARTED);
}

/* Between fork and exec in a process that had threads: system calls only. */
static _Noreturn void become_command(const struct mp_command_ends *e, char *const *argv,
				     char *const *env, pid_t parent)
{
	static char *const nothing[] = {NULL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || setsid() < 0)
		_exit(MP_COMMAND_NOT_STARTED);
	if (dup2(e->in, 0) < 0 || dup2(e->out, 1) < 0 || dup2(e->err, 2) < 0)
		_exit(MP_COMMAND_NOT_STARTED);
	if (e->folder >= 0 && fchdir(e->folder) < 0)
		give_up("its folder cannot be entered\n");
	mp_exec_close_all_but(NULL, 0);
	mp_exec_reset_signals();
	execvpe(argv[0], argv, env ? env : nothing);
	give_up("it cannot be run\n");
}

/* No signal in between: a handler of ours must not run in the child. */
pid_t mp_command_fork(const struct mp_command_ends *e, char *const *argv, char *const *env)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;
	int errnum;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_command(e, argv, env, parent);
	errnum = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = errnum;
	return pid;
}
