/*
 * cgroup.h - a cgroup (version 2) for all servers of one hub, where the system delegates one.
 * When hub, launcher and shepherds are killed in the same moment, no process is left that knows
 * the servers' children; the next launcher finds them by this group and ends them.
 */
#ifndef MP_CGROUP_H
#define MP_CGROUP_H

#include "base/base.h"

/*
 * In the launcher: end what hubs that are dead have left, and make the group of our hub. Without a
 * delegated cgroup nothing happens.
 */
void mp_cgroup_open(void);
/* In a process that is about to become a server: join the group. */
void mp_cgroup_enter(void);
/* In the launcher, when no server is left: end what remains in the group, and remove it. */
void mp_cgroup_close(void);

/* --- for tests --- */

/* The path of a process's cgroup in the text of /proc/PID/cgroup; false: it has none of version 2.
 */
bool mp_cgroup_parse_self(const char *text, char *out, size_t size);
/* Where /proc/PID/mountinfo says that version 2 is mounted, and which part of it. */
bool mp_cgroup_parse_mounts(const char *text, char *ret_point, char *ret_root, size_t size);

#endif
