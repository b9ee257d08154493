/*
 * log_merge.h - merges log lines of several servers with the same cause (P32). Lines about remote
 * servers that differ only in the address are held for a moment; three or more of them become one
 * line.
 */
#ifndef MP_LOG_MERGE_H
#define MP_LOG_MERGE_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"

enum {
	MP_LOG_MERGE_HOLD_MS = 200,   /* delay of a line */
	MP_LOG_MERGE_LONG_MS = 10000, /* delay while the failure continues */
	MP_LOG_MERGE_MIN = 3,         /* fewer servers are logged one by one */
};

struct mp_log_merge;

struct mp_log_merge *mp_log_merge_new(struct mp_loop *loop);
/* Writes what is held. Accepts NULL, returns NULL. */
struct mp_log_merge *mp_log_merge_free(struct mp_log_merge *c);
/* who: "files#3"; words: static; text: may be empty. */
void mp_log_merge_say(struct mp_log_merge *c, const char *who, enum mp_level level,
		      const char *words, const char *text);
/* Before another line about this server: write what is held about it and not merged. */
void mp_log_merge_release(struct mp_log_merge *c, const char *who);

#endif
