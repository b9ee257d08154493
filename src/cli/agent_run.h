/*
 * agent_run.h - programs of this machine: where one is, and running an agent's own command.
 */
#ifndef MP_AGENT_RUN_H
#define MP_AGENT_RUN_H

#include <limits.h>

#include "base/base.h"

/* Looked for in PATH, absolute folders only. */
bool mp_program_find(const char *name, char ret_path[PATH_MAX]);
/*
 * This program, as an agent is to start it: by the name it has in PATH where that leads here (a
 * package that is replaced keeps that name), else where it lies.
 */
void mp_program_find_self(char ret_path[PATH_MAX]);
/*
 * Run the program at path and wait; what it prints goes to stderr. Its exit code, or
 * MCPOOL_ESYSTEM (it cannot be started), MCPOOL_ECLOSED (ended by a signal), MCPOOL_ETIMEDOUT (and
 * is ended).
 */
int mp_program_run(const char *path, const char *const *argv, int64_t max_ms,
		   struct mcpool_error *reterr) MP_MUST;

#endif
