/*
 * spares.h - blocks that come and go with every call, kept at hand.
 * The C library has seven of a size at hand; a hub has dozens of calls under way, and each takes
 * the same few blocks. With fault points they come from mp_alloc() one by one, so that sanitizers
 * see each of them. One thread's.
 */
#ifndef MP_SPARES_H
#define MP_SPARES_H

#include "base/base.h"

enum { MP_SPARES_MOST = 1536, MP_SPARES_STEP = 256, MP_SPARES_SIZES = 6 };

struct mp_spare;
struct mp_spares {
	struct mp_spare *first[MP_SPARES_SIZES]; /* owned */
	unsigned n[MP_SPARES_SIZES];
};

/* Zeroed memory is a set of none. */
void mp_spares_done(struct mp_spares *s);

/* Of at most MP_SPARES_MOST bytes. What is in it is not said. Never NULL, as mp_alloc(). */
void *mp_spares_take(struct mp_spares *s, size_t size);
/* With the size it was taken with; NULL is fine. Returns NULL. */
void *mp_spares_give(struct mp_spares *s, void *block, size_t size);

#endif
