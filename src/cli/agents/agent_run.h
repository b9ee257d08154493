/*
 * agent_run.h - programs of this machine: where one is, and running an agent's own command.
 */
#ifndef MP_AGENT_RUN_H
#define MP_AGENT_RUN_H

#include <limits.h>

#include "base/base.h"

/* Looked for in PATH, absolute folders only. */
bool mp_program_find(const char *name, char ret_path[PATH_MAX]);
/* The same in these folders, as PATH lists them; NULL: none. */
bool mp_program_find_in(const char *path, const char *name, char ret_path[PATH_MAX]);
/*
 * The path of this program for an agent: that in PATH if it is this program (an upgrade keeps that
 * name), else its own path.
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
