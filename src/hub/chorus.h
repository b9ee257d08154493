/*
 * chorus.h - many servers, one cause, one line (P32). Lines about remote servers that say the same,
 * but for the address, are held for a moment; three or more of them are written as one.
 */
#ifndef MP_CHORUS_H
#define MP_CHORUS_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"

enum {
	MP_CHORUS_HOLD_MS = 200,   /* a line is held this long */
	MP_CHORUS_LONG_MS = 10000, /* and while a fault goes on, this long */
	MP_CHORUS_MIN = 3,         /* fewer servers are no chorus */
};

struct mp_chorus;

struct mp_chorus *mp_chorus_new(struct mp_loop *loop);
/* What is held is written. Accepts NULL, returns NULL. */
struct mp_chorus *mp_chorus_free(struct mp_chorus *c);
/* who: "files#3"; words: static; text: may be empty. */
void mp_chorus_say(struct mp_chorus *c, const char *who, enum mp_level level, const char *words,
		   const char *text);
/* There will be news of this one: what is held about it, and is no chorus, is written first. */
void mp_chorus_release(struct mp_chorus *c, const char *who);

#endif
