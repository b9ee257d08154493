/*
 * child.h - one running server process: spawn, stop ladder, reap.
 */
#ifndef MP_CHILD_H
#define MP_CHILD_H

#include <sys/types.h>

#include "base/base.h"
#include "base/loop.h"
#include "process/launcher.h"
#include "process/spec.h"

/* The rungs of the ladder; after the last one its shepherd is killed. */
enum { MP_CHILD_EOF_MS = 1500, MP_CHILD_TERM_MS = 1000, MP_CHILD_KILL_MS = 5000 };

struct mp_child;

struct mp_child_hooks {
	void (*running)(void *u, pid_t pid); /* exec succeeded */
	/* It never ran; why names the stage (folder, command) and the cause. Then comes gone. */
	void (*failed)(void *u, const struct mcpool_error *why);
	/* The process itself ended, by itself or by us; what it left behind is taken down. */
	void (*exited)(void *u, int wait_status);
	/* First rung of the ladder: close its stdin now. */
	void (*hang_up)(void *u);
	/* Nothing of its tree is left. The last word; mp_child_free() may follow. */
	void (*gone)(void *u);
};

/*
 * Spawn. ret_fds: our ends of its stdin, stdout and stderr, now the caller's; real pipes,
 * close-on-exec, non-blocking on our side only.
 */
int mp_child_spawn(struct mp_launcher *l, const struct mp_launch *launch,
		   const struct mp_child_hooks *hooks, void *u, struct mp_child **ret_child,
		   int ret_fds[3], struct mcpool_error *reterr) MP_MUST;
/* The same with a shepherd that is there already, at the other end of control, which is taken. */
int mp_child_adopt(struct mp_launcher *l, int control, const struct mp_launch *launch,
		   const struct mp_child_hooks *hooks, void *u, struct mp_child **ret_child,
		   struct mcpool_error *reterr) MP_MUST;
/* hang_up, 1.5 s, TERM to the group, 1 s, KILL to every descendant; gone() follows. */
void mp_child_stop(struct mp_child *c);
/* KILL to every descendant at once; gone() follows. */
void mp_child_kill(struct mp_child *c);
/* A child that is not gone is killed; its tree is taken down even after this returns. */
struct mp_child *mp_child_free(struct mp_child *c);
pid_t mp_child_get_pid(const struct mp_child *c); /* 0 before running */

/* "exited with code 1", "was killed by SIGSEGV": words for a wait status. */
const char *mp_child_describe_exit(int wait_status, char *out, size_t size);

#endif
