/*
 * background.h - a hub in the background, for whoever needs one.
 */
#ifndef MP_BACKGROUND_H
#define MP_BACKGROUND_H

#include "base/base.h"
#include "base/buf.h"
#include "hub/election.h"

/* Where it writes what it has to say; out ends in NUL. */
int mp_background_find_log(struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/*
 * Start `mcpool serve --background`, in a session of its own and nobody's child. *ret_ready is the
 * end of a pipe that ends when it listens, or is over; the caller closes it. MCPOOL_EAGAIN: another
 * one is about to start, or to leave.
 */
int mp_background_start(const struct mp_hub_place *place, const char *log, const char *http,
			int *ret_ready, struct mcpool_error *reterr) MP_MUST;

#endif
