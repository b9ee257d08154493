/*
 * tail.h - the last lines a server wrote to stderr, and its log file.
 * Always drained, so that a chatty server never blocks on us (P11, R04); bounded, so that it never
 * fills memory or disk.
 */
#ifndef MP_TAIL_H
#define MP_TAIL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/loop.h"

struct mp_tail;

/*
 * Takes fd and reads it until its end. log_file: lines are also written there, with the time,
 * redacted, 5 MiB and one older file; NULL: no file. A file that cannot be written is given up
 * with one warning.
 */
struct mp_tail *mp_tail_new(struct mp_loop *loop, int fd, const char *log_file);
/* Stops reading at once. */
struct mp_tail *mp_tail_free(struct mp_tail *t);

/* Read what is in the pipe now, without waiting: before telling why a server died. */
void mp_tail_drain(struct mp_tail *t);
/* The last lines, redacted, each ending in a newline, oldest first. */
int mp_tail_get(const struct mp_tail *t, size_t lines, struct mp_buf *out) MP_MUST;
uint64_t mp_tail_count_bytes(const struct mp_tail *t); /* all it ever wrote */

#endif
