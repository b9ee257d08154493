/*
 * call_line.h - one call that ended, as a line for people.
 */
#ifndef MP_CALL_LINE_H
#define MP_CALL_LINE_H

#include "cli/console/feed.h"

/*
 * The current item of the calls: time, the server on request, tool, outcome, latency, caller, and
 * the arguments where they are kept. Made safe.
 */
int mp_call_line_add(struct mp_feed *l, struct mp_arena *arena, bool with_server,
		     struct mp_buf *out) MP_MUST;
/* The same for a number; -1: none. */
int64_t mp_call_line_get_number(const struct mp_feed *l, const char *key);

#endif
