/*
 * oversize.h - a result above result.maxBytes: its beginning, its end, and where all of it is
 * stored (U22). For the command line and, with result.sessions, for agents.
 * Files are written, so the loop's thread leaves this to a worker.
 */
#ifndef MP_OVERSIZE_H
#define MP_OVERSIZE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_oversize_options {
	size_t max;       /* bytes of content */
	const char *join; /* between texts */
};

/*
 * Appends the text of a result, as mp_text_project() does, shortened. What is binary and above the
 * limit is stored, too. reterr: why nothing could be stored; else its code is 0. MCPOOL_EPARSE,
 * MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_oversize_write_text(struct mp_str result, const struct mp_oversize_options *o,
			   struct mp_buf *out, bool *ret_is_error,
			   struct mcpool_error *reterr) MP_MUST;
/*
 * Appends a result for an agent: one shortened text, and the binary blocks for which there is room.
 * Others are stored and described. structuredContent is left out. Nothing is appended if the result
 * is within the limit, or has no content.
 */
int mp_oversize_write_result(struct mp_str result, const struct mp_oversize_options *o,
			     struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;

#endif
