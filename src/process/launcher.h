/*
 * launcher.h - the helper process that starts servers, and the hub's end of it.
 *
 * Two small processes stand between the hub and a server. The launcher is exec'ed once and forks a
 * shepherd per server; being small it forks cheaply. The shepherd is the subreaper of that one
 * server's tree, so every process below it belongs to that server, however often it forked and
 * whatever session it moved to. When the hub, the launcher or the shepherd is killed, the next one
 * up the chain takes the tree down.
 */
#ifndef MP_LAUNCHER_H
#define MP_LAUNCHER_H

#include <sys/types.h>

#include "base/base.h"
#include "base/loop.h"

struct mp_launcher;

/*
 * Start the launcher: `exe launcher 3` (exe NULL: this very program). The process becomes a
 * subreaper, so that the children of a killed launcher fall to it. A launcher that died is started
 * again with the next child.
 */
int mp_launcher_new(struct mp_loop *loop, const char *exe, struct mp_launcher **ret_launcher,
		    struct mcpool_error *reterr) MP_MUST;
/*
 * Every child must be gone or is killed. The launcher's end is awaited on a worker of the loop;
 * mp_loop_free() waits for that.
 */
struct mp_launcher *mp_launcher_free(struct mp_launcher *l);
pid_t mp_launcher_get_pid(const struct mp_launcher *l); /* 0 while none runs */
struct mp_loop *mp_launcher_get_loop(const struct mp_launcher *l);

/*
 * Each server takes four descriptors, and the usual limit is 1,024: raise ours as far as we may.
 * Servers keep what was usual. For programs of our own, before the first launcher.
 */
void mp_launcher_raise_files(void);

/* For child.c: hand over one request with its descriptors. */
int mp_launcher_send(struct mp_launcher *l, const int *fds, size_t n_fds,
		     struct mcpool_error *reterr) MP_MUST;

/*
 * For child.c, when a shepherd was killed: kill its processes, whichever process adopted them. True
 * if none is left; else call it again. shepherd 0: its pid is unknown.
 */
bool mp_launcher_sweep(struct mp_launcher *l, pid_t shepherd);

/* For child.c, when a shepherd obeys no order: what it leaves falls to the launcher, or to us. */
void mp_launcher_kill_shepherd(pid_t shepherd);

/* What the launcher process does; returns its exit code. control: its end of the socket. */
int mp_launcher_main(int control);

#endif
