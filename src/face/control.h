/*
 * control.h - control calls of the command line: one connection (doc/protocol.md, "Control
 * messages"). No call adds, edits or approves servers (doc/design.md 6).
 */
#ifndef MP_CONTROL_H
#define MP_CONTROL_H

#include "base/base.h"
#include "base/str.h"
#include "hub/hub.h"
#include "json/value.h"
#include "json/write.h"

struct mp_control;
struct mp_message;

struct mp_control_hooks {
	void (*say)(void *u, struct mp_str text);        /* sends one message */
	bool (*stop)(void *u, bool drain, bool replace); /* as in socket.h */
	void (*describe)(void *u, struct mp_writer *w);  /* adds members about the hub */
	/* As in socket.h; may be NULL. */
	int (*open_dashboard)(void *u, struct mp_buf *url, struct mcpool_error *reterr);
	/* Bytes that the peer has not read yet; NULL: it reads everything at once. */
	size_t (*get_queued)(void *u);
	/*
	 * A request that this file does not know. 0: the owner answers it later. MCPOOL_ENOENT: nor
	 * does the owner; other errors are the answer. May be NULL.
	 */
	int (*take)(void *u, struct mp_str id, const struct mp_tape *t, mp_value method,
		    mp_value params, struct mcpool_error *reterr);
	void (*cancel)(void *u, struct mp_str id); /* such a request; may be NULL */
	/* An answer of the peer to a request of the owner, or to none; may be NULL. */
	void (*reply)(void *u, const struct mp_message *m);
};

/* workspace: the one that requests refer to; borrowed, outlives the object. */
struct mp_control *mp_control_new(struct mp_hub *hub, struct mp_workspace *workspace,
				  const struct mp_control_hooks *hooks, void *u);
struct mp_control *mp_control_free(struct mp_control *c); /* accepts NULL, returns NULL */
/* The process of the peer, for "auto". */
void mp_control_set_pid(struct mp_control *c, int pid);
/* Limits for open requests and bytes of one result; defaults: 64 and MP_LIMIT_MESSAGE. */
void mp_control_set_limits(struct mp_control *c, size_t max_open, size_t max_result);
/*
 * One message of the peer. Each request is answered before this returns, except reload, a status
 * that waits, calls and logins.
 */
void mp_control_receive(struct mp_control *c, struct mp_str text);
/* The peer has read: what was held back goes on. */
void mp_control_flushed(struct mp_control *c);

#endif
