/*
 * control_usage.h - mcpool/status {"usage": true}: the status of the hub with new measurements of
 * memory and processor time.
 */
#ifndef MP_CONTROL_USAGE_H
#define MP_CONTROL_USAGE_H

#include "base/list.h"
#include "face/control_peer.h"
#include "json/write.h"

/* Requests that wait for measurements. */
struct mp_control_usages {
	struct mp_control_peer *peer;
	void (*describe)(void *u, struct mp_writer *w); /* see mp_control_status_write() */
	struct mp_list open;
};
void mp_control_usages_init(struct mp_control_usages *us, struct mp_control_peer *peer,
			    void (*describe)(void *u, struct mp_writer *w));
void mp_control_usages_done(struct mp_control_usages *us);
/* The answer follows, or was given. id: of the request, JSON as written. */
int mp_control_usages_ask(struct mp_control_usages *us, struct mp_str id,
			  struct mcpool_error *reterr) MP_MUST;

#endif
