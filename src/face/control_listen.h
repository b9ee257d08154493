/*
 * control_listen.h - mcpool/events, mcpool/calls and mcpool/notifications: told as it happens.
 */
#ifndef MP_CONTROL_LISTEN_H
#define MP_CONTROL_LISTEN_H

#include "base/events.h"
#include "face/control_peer.h"
#include "json/value.h"
#include "pool/call_log.h"
#include "pool/notifications.h"

struct mp_control_listen {
	struct mp_control_peer *peer;
	struct mp_event_listener events;
	struct mp_call_listener calls;
	struct mp_notification_listener said;
	bool has_events, has_calls, has_said; /* joined */
	bool is_held; /* the peer does not read; the rings keep what happens */
	uint64_t next_event, next_call, next_said;
};

void mp_control_listen_init(struct mp_control_listen *l, struct mp_control_peer *peer);
void mp_control_listen_done(struct mp_control_listen *l);
/*
 * Answers with {"last"}, the number of the newest. `since` of the parameters is the number of the
 * first that is sent; without it, only new ones are.
 */
int mp_control_listen_events(struct mp_control_listen *l, const struct mp_tape *t, mp_value params,
			     struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
int mp_control_listen_calls(struct mp_control_listen *l, const struct mp_tape *t, mp_value params,
			    struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
int mp_control_listen_notifications(struct mp_control_listen *l, const struct mp_tape *t,
				    mp_value params, struct mp_buf *out,
				    struct mcpool_error *reterr) MP_MUST;
/* After the answer: what there is already. */
void mp_control_listen_tell(struct mp_control_listen *l);
/* The peer has read what was queued for it. */
void mp_control_listen_resume(struct mp_control_listen *l);

#endif
