/*
 * capture.h - one command, run to its end, and what it printed. Blocking.
 */
#ifndef MP_CAPTURE_H
#define MP_CAPTURE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"

#define MP_CAPTURE_MAX MP_KIB(64) /* bytes a command may print */

/*
 * What this command prints to stdout, without white space at both ends, added to out. argv[0] is a
 * path, or found by the PATH of this process; folder may be NULL. MCPOOL_EIO (exit code, signal,
 * nothing or a NUL was printed), MCPOOL_ETIMEDOUT, MCPOOL_ELIMIT. MCPOOL_ESYSTEM and MCPOOL_ENOMEM:
 * it is not the command's fault. No message has what was printed. Threads may call it at the same
 * time.
 */
int mp_capture_run(char *const *argv, const char *folder, char *const *env, int64_t timeout_ms,
		   struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

/*
 * Split a command line into its words, without a shell: at blanks, where quotes of both kinds and a
 * backslash keep them. words: changed in place, so that ret_argv points into it. Returns their
 * number; MCPOOL_EINVAL: a quote is not closed, there is no word, or more than max - 1.
 */
int mp_capture_split(char *words, char **ret_argv, size_t max) MP_MUST;

#endif
