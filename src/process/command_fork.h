/*
 * command_fork.h - a command in a session of its own, from a process that has threads. It is killed
 * with the thread that forked it.
 */
#ifndef MP_COMMAND_FORK_H
#define MP_COMMAND_FORK_H

#include <sys/types.h>

#include "base/base.h"

/* The exit code of a command that could not be run; why is on its stderr. */
enum { MP_COMMAND_NOT_STARTED = 127 };

/* Descriptors that it gets as 0, 1 and 2; folder: where it runs, -1: where we are. Borrowed. */
struct mp_command_ends {
	int in, out, err, folder;
};

/* argv[0] is a path, or found by our PATH. Its process, which leads a group; -1 with errno. */
pid_t mp_command_fork(const struct mp_command_ends *e, char *const *argv, char *const *env);

#endif
