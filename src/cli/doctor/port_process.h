/*
 * port_process.h - which process listens at a port of this machine.
 */
#ifndef MP_PORT_PROCESS_H
#define MP_PORT_PROCESS_H

#include <sys/types.h>

#include "base/base.h"
#include "base/str.h"

/* 0: none that this user may look at. */
pid_t mp_port_process_find(uint16_t port);
/*
 * The inode of the socket that listens at the port, from the text of /proc/net/tcp or tcp6; 0: none
 * does.
 */
uint64_t mp_port_process_read(struct mp_str text, uint16_t port);

#endif
