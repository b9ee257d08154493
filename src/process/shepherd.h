/*
 * shepherd.h - the guardian of one server: what it tells, and what it is told.
 * Both ends are the same program, so these structs travel as they are, one to a packet.
 */
#ifndef MP_SHEPHERD_H
#define MP_SHEPHERD_H

#include "base/base.h"

/* As ps and top show the process, and as the hub knows one that fell to it. */
#define MP_SHEPHERD_NAME "mcpool shepherd"

enum mp_news {
	MP_NEWS_RUNNING = 1, /* value: the server's pid */
	MP_NEWS_FAILED,      /* stage, and value: errno */
	MP_NEWS_EXITED,      /* value: wait status of the server itself */
	MP_NEWS_GONE,        /* nothing of its tree is left; the last word */
};

struct mp_report {
	uint32_t news; /* enum mp_news */
	int32_t stage; /* enum mp_stage */
	int32_t value;
	int32_t shepherd; /* pid of who tells */
};

enum mp_order {
	MP_ORDER_TERM = 1, /* SIGTERM to the server's group */
	MP_ORDER_KILL,     /* SIGKILL to every descendant */
};

/* The descriptors of one request to the launcher, in this order. */
enum { MP_FD_SPEC, MP_FD_STDIN, MP_FD_STDOUT, MP_FD_STDERR, MP_FD_CONTROL, MP_FDS };

/*
 * Send a report on a control socket. If that fails, the receiver is gone, which is noticed
 * elsewhere.
 */
void mp_shepherd_tell(int control, enum mp_news news, int stage, int value);

/*
 * In a process forked for it: start the server and stay until nothing of it is left. lifeline ends
 * when the launcher does. Returns the exit code.
 */
int mp_shepherd_main(const int fds[MP_FDS], int lifeline);

#endif
