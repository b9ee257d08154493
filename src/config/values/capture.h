/*
 * capture.h - one shell command, run to its end, and what it printed.
 * Blocking. command.c decides whether it is run at all, and keeps what it printed.
 */
#ifndef MP_CAPTURE_H
#define MP_CAPTURE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"

#define MP_CAPTURE_MAX MP_KIB(64) /* bytes a command may print */

/*
 * What `/bin/sh -c command` prints to stdout, without white space at both ends, added to out. The
 * errors are those of mp_commands_run(). MCPOOL_ESYSTEM and MCPOOL_ENOMEM: it is not the command's
 * fault. Threads may call it at the same time.
 */
int mp_capture_run(const char *command, const char *folder, char *const *env, int64_t timeout_ms,
		   struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

#endif
