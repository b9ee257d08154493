/*
 * control_peer.h - one control connection, as the files that answer its requests see it: what it is
 * about, and how to answer.
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
	mp_id session; /* in the pool; has the servers of mode session that it started */
	void (*say)(void *u, struct mp_str text); /* one message */
	void *u;
	size_t open, max_open; /* requests that are answered later */
	size_t max_result;     /* bytes */
};

/* The result, or an error where r, what became of writing it, is negative. */
void mp_control_peer_answer(const struct mp_control_peer *p, struct mp_str id,
			    const struct mp_buf *result, int r);
void mp_control_peer_refuse(const struct mp_control_peer *p, struct mp_str id,
			    const struct mcpool_error *why);
/* Is there room for one more that is answered later? */
int mp_control_peer_check(const struct mp_control_peer *p, struct mcpool_error *reterr) MP_MUST;

#endif
