/*
 * control_watch.h - mcpool/watch and mcpool/history: what runs, told as it changes, for displays
 * (doc/protocol.md, "Dashboard").
 */
#ifndef MP_CONTROL_WATCH_H
#define MP_CONTROL_WATCH_H

#include "base/buf.h"
#include "base/map.h"
#include "face/control_peer.h"
#include "json/value.h"
#include "json/write.h"
#include "pool/pool.h"
#include "pool/usage.h"

struct mp_control_watch {
	struct mp_control_peer *peer;
	void (*describe)(void *u, struct mp_writer *w); /* see mp_control_status_write() */
	bool is_on, is_held; /* is_held: the peer does not read; differences wait */
	struct mp_watcher watcher;
	struct mp_usage_listener usage;
	struct mp_timer soon, tick; /* states that changed; all figures */
	int64_t rest_until_ms;      /* what was told before took long */
	mp_id *moved;               /* instances that changed since; owned */
	size_t n_moved, moved_size;
	/* What the peer has: a digest of each object's text, by name or id; owned. */
	struct mp_map servers, sessions;
	uint64_t flows, running, problem;
	uint64_t round; /* number of the last look at everything */
	struct mp_buf text;
};

void mp_control_watch_init(struct mp_control_watch *cw, struct mp_control_peer *peer,
			   void (*describe)(void *u, struct mp_writer *w));
void mp_control_watch_done(struct mp_control_watch *cw);
/* Writes all of it; from then on changes are told. */
int mp_control_watch_begin(struct mp_control_watch *cw, struct mp_buf *out) MP_MUST;
/* The peer has read what was queued for it. */
void mp_control_watch_resume(struct mp_control_watch *cw);

/* Writes the HISTORY that the parameters ask for. */
int mp_control_watch_history(struct mp_control_peer *peer, const struct mp_tape *t, mp_value params,
			     struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

#endif
