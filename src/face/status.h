/*
 * status.h - what a running hub has to tell of itself, as JSON (doc/protocol.md, "Command line").
 */
#ifndef MP_FACE_STATUS_H
#define MP_FACE_STATUS_H

#include "base/base.h"
#include "hub/hub.h"
#include "json/write.h"

/* Members: uptimeMs, views, sessionCount, serverCount. */
void mp_status_write_hub(struct mp_writer *w, struct mp_hub *hub);
/* The member `servers`. */
void mp_status_write_servers(struct mp_writer *w, struct mp_workspace *workspace);
/* The member `sessions`. */
void mp_status_write_sessions(struct mp_writer *w, struct mp_hub *hub);
/* One event as an object. missed: how many before it are lost. */
void mp_status_write_event(struct mp_writer *w, struct mp_hub *hub, const struct mp_event *e,
			   uint64_t missed);

#endif
