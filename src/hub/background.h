/*
 * background.h - starts a hub in the background.
 */
#ifndef MP_BACKGROUND_H
#define MP_BACKGROUND_H

#include "base/base.h"
#include "base/buf.h"
#include "hub/election.h"

/* The path of its log file; out ends in NUL. */
int mp_background_find_log(struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/*
 * Start `mcpool serve --background` in a session of its own. *ret_ready is the read end of a pipe
 * that reaches its end when the hub listens or has ended; the caller closes it. MCPOOL_EAGAIN:
 * another hub is starting or shutting down.
 */
int mp_background_start(const struct mp_hub_place *place, const char *log, const char *http,
			int *ret_ready, struct mcpool_error *reterr) MP_MUST;

#endif
