/*
 * stdio.h - a server process as a transport: starting it is the dialling, stopping its tree is
 * the hanging up.
 */
#ifndef MP_STDIO_H
#define MP_STDIO_H

#include "process/child.h"
#include "process/launcher.h"
#include "transport/transport.h"

/*
 * The launch is copied. opened() comes when exec succeeded; ended() names what became of the
 * process ("exited with code 1"); closed() when nothing of its tree is left. log_file may be NULL.
 */
struct mp_transport *mp_stdio_new(struct mp_launcher *l, const struct mp_launch *launch,
				  const char *log_file);
pid_t mp_stdio_get_pid(const struct mp_transport *t); /* 0 before it runs */

#endif
