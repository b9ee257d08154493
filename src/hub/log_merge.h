/*
 * chorus.h - merges log lines of several servers with the same cause (P32). Lines about remote
 * servers that differ only in the address are held for a moment; three or more of them become one
 * line.
 */
#ifndef MP_CHORUS_H
#define MP_CHORUS_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"

enum {
	MP_CHORUS_HOLD_MS = 200,   /* delay of a line */
	MP_CHORUS_LONG_MS = 10000, /* delay while the failure continues */
	MP_CHORUS_MIN = 3,         /* fewer servers are logged one by one */
};

struct mp_chorus;

struct mp_chorus *mp_chorus_new(struct mp_loop *loop);
/* Writes what is held. Accepts NULL, returns NULL. */
struct mp_chorus *mp_chorus_free(struct mp_chorus *c);
/* who: "files#3"; words: static; text: may be empty. */
void mp_chorus_say(struct mp_chorus *c, const char *who, enum mp_level level, const char *words,
		   const char *text);
/* Before another line about this server: write what is held about it and not merged. */
void mp_chorus_release(struct mp_chorus *c, const char *who);

#endif
