/*
 * command.h - values that a command prints (`!command`), each run once.
 * Blocking: the hub calls it from a worker. Callers with the same command, folder and environment
 * share one run; success is kept for as long as the caller says, failure for 30 s.
 */
#ifndef MP_COMMAND_H
#define MP_COMMAND_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"

#define MP_COMMAND_TIMEOUT_MS MP_SECONDS(10)
#define MP_COMMAND_FAILURE_MS MP_SECONDS(30)

struct mp_commands;
struct mp_commands *mp_commands_new(void);
struct mp_commands *mp_commands_free(struct mp_commands *c); /* accepts NULL, returns NULL */

/*
 * What `/bin/sh -c command` prints to stdout, without white space at both ends, added to out; at
 * most 64 KiB, no NUL, not empty. It runs in a session of its own in folder (NULL: where we are),
 * stdin from /dev/null, with a time limit; whatever it started is killed with it, except who left
 * its process group and outlived it. now_ms: the monotonic time, for what failed less than 30 s
 * ago, or succeeded less than max_age_ms ago (0: ever). MCPOOL_ETIMEDOUT, MCPOOL_EIO (exit code,
 * signal, empty, NUL; the last line of its stderr is in the message, and the message never holds
 * its stdout), MCPOOL_ELIMIT. MCPOOL_ESYSTEM, MCPOOL_ENOMEM: not its fault, and not remembered. The
 * output is registered as a secret (secrets.h) for as long as it is kept.
 */
int mp_commands_run(struct mp_commands *c, const char *command, const char *folder,
		    char *const *env, int64_t now_ms, int64_t max_age_ms, struct mp_buf *out,
		    struct mcpool_error *reterr) MP_MUST;

/*
 * For tests: another limit than MP_COMMAND_TIMEOUT_MS, for runs that begin from now on. Returns the
 * one before.
 */
int64_t mp_commands_set_timeout(struct mp_commands *c, int64_t ms);

#endif
