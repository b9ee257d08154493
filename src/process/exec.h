/*
 * exec.h - from a forked process to a running server: session, limits, folder, exec.
 */
#ifndef MP_EXEC_H
#define MP_EXEC_H

#include <sys/types.h>

#include "base/base.h"
#include "process/spec.h"

/* Where a start can fail. */
enum mp_stage {
	MP_STAGE_LAUNCH,  /* a process, or what it needs, could not be had */
	MP_STAGE_FOLDER,  /* cwd */
	MP_STAGE_COMMAND, /* argv[0] */
	MP_STAGE_FILES,   /* one of those that were checked is another one now */
};

/*
 * What is found out beyond errno is told by errors that exec itself does not use here: EISDIR for a
 * folder, ELIBACC for a program whose interpreter is missing.
 */
struct mp_exec_failure {
	int32_t stage;
	int32_t cause; /* errno */
};

/*
 * Servers are the first to go when memory runs out. The step is odd on purpose: every process of a
 * server inherits it and few change it, so it is also the mark by which the hub knows a stray of
 * its own from a child of the program it lives in.
 */
enum { MP_EXEC_OOM_STEP = 107, MP_EXEC_OOM_MAX = 1000 };

/* The oom_score_adj of a process. MCPOOL_ENOENT. */
int mp_exec_get_oom(pid_t pid, int *ret_value) MP_MUST;

/*
 * For hub, launcher and shepherds: no core files, and other processes of the same user cannot read
 * this one's environment and memory in /proc (attack-S12). Servers are as usual again.
 */
void mp_exec_hide(void);

/* Every signal as a program expects to find it: default, and not blocked. */
void mp_exec_reset_signals(void);
/* Close all descriptors but these (ascending) and those below 3. */
void mp_exec_close_all_but(const int *keep, size_t n);

/*
 * In a process just forked by parent: become the server, with exactly three descriptors. Where
 * that fails, the failure is written to report, which closes by itself when it succeeds.
 */
_Noreturn void mp_exec_server(const struct mp_launch *launch, const int fds[3], int report,
			      pid_t parent);

#endif
