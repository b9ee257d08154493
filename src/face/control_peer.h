/*
 * control_peer.h - one control connection: its hub, its workspace, and how to send an answer. Used
 * by the files that answer its requests.
 */
#ifndef MP_CONTROL_PEER_H
#define MP_CONTROL_PEER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "hub/hub.h"

struct mp_control_peer {
	struct mp_hub *hub;
	struct mp_workspace *workspace;
	int pid;                       /* of the peer; 0: unknown */
	struct mp_call_client *client; /* for records of its calls; a reference */
	mp_id session; /* in the pool; owns the servers of mode session that it started */
	void (*say)(void *u, struct mp_str text); /* sends one message */
	size_t (*get_queued)(void *u);            /* see control.h; may be NULL */
	void *u;
	size_t open, max_open; /* requests that are answered later */
	size_t max_result;     /* bytes */
};

/* Send the result, or an error if r, the result of writing it, is negative. */
void mp_control_peer_answer(const struct mp_control_peer *p, struct mp_str id,
			    const struct mp_buf *result, int r);
void mp_control_peer_refuse(const struct mp_control_peer *p, struct mp_str id,
			    const struct mcpool_error *why);
/* Is one more open request allowed? */
int mp_control_peer_check(const struct mp_control_peer *p, struct mcpool_error *reterr) MP_MUST;

#endif
