/*
 * control_status.h - mcpool/status: the status of the hub at once, or of servers after some were
 * started (doc/protocol.md, "Control messages").
 */
#ifndef MP_CONTROL_STATUS_H
#define MP_CONTROL_STATUS_H

#include "base/list.h"
#include "base/events.h"
#include "face/control_peer.h"
#include "json/value.h"
#include "json/write.h"

/*
 * Write the members hub, problem, servers and sessions into an open object. describe: adds members
 * to `hub`; may be NULL.
 */
void mp_control_status_write(struct mp_writer *w, const struct mp_control_peer *p,
			     void (*describe)(void *u, struct mp_writer *w));
/* The parts of it: the members of `hub`, into an open object; one session. */
void mp_control_status_write_hub(struct mp_writer *w, const struct mp_control_peer *p,
				 void (*describe)(void *u, struct mp_writer *w));
struct mp_session_info;
void mp_control_status_write_session(struct mp_writer *w, const struct mp_session_info *s);
/* Write one event as an object. missed: number of events lost before it. */
void mp_control_status_write_event(struct mp_writer *w, struct mp_hub *hub,
				   const struct mp_event *e, uint64_t missed);

/* Requests that wait for servers. */
struct mp_control_statuses {
	struct mp_control_peer *peer;
	struct mp_list open;
};
void mp_control_statuses_init(struct mp_control_statuses *ss, struct mp_control_peer *peer);
void mp_control_statuses_done(struct mp_control_statuses *ss); /* drops all waiting requests */
/* The answer follows from the loop. id: of the request, JSON as written. */
int mp_control_statuses_ask(struct mp_control_statuses *ss, struct mp_str id,
			    const struct mp_tape *t, mp_value params,
			    struct mcpool_error *reterr) MP_MUST;

#endif
