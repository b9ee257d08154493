/*
 * control.h - what the command line asks of a hub: one connection's conversation (doc/protocol.md,
 * "Control messages"). Nothing here adds, edits or approves servers (doc/design.md 6).
 */
#ifndef MP_CONTROL_H
#define MP_CONTROL_H

#include "base/base.h"
#include "base/str.h"
#include "hub/hub.h"
#include "json/write.h"

struct mp_control;

struct mp_control_hooks {
	void (*say)(void *u, struct mp_str text);        /* one message */
	bool (*stop)(void *u, bool drain, bool replace); /* as in socket.h */
	void (*describe)(void *u, struct mp_writer *w);  /* members about the hub */
};

/* workspace: what its questions are about; borrowed, outlives it. */
struct mp_control *mp_control_new(struct mp_hub *hub, struct mp_workspace *workspace,
				  const struct mp_control_hooks *hooks, void *u);
struct mp_control *mp_control_free(struct mp_control *c); /* accepts NULL, returns NULL */
/* Requests that may wait for servers, and bytes of one result; else 64 and MP_LIMIT_MESSAGE. */
void mp_control_set_limits(struct mp_control *c, size_t max_open, size_t max_result);
/*
 * One message of the peer; each request is answered before this returns, but for what reload
 * brings, statuses that wait, and calls.
 */
void mp_control_receive(struct mp_control *c, struct mp_str text);

#endif
