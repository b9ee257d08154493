/*
 * freelist.h - blocks that come and go with every call, kept at hand.
 * The C library has seven of a size at hand; a hub has dozens of calls under way, and each takes
 * the same few blocks. With fault points they come from mp_alloc() one by one, so that sanitizers
 * see each of them. One thread's.
 */
#ifndef MP_FREELIST_H
#define MP_FREELIST_H

#include "base/base.h"

enum { MP_FREELIST_MOST = 1536, MP_FREELIST_STEP = 256, MP_FREELIST_SIZES = 6 };

struct mp_freelist_block;
struct mp_freelist {
	struct mp_freelist_block *first[MP_FREELIST_SIZES]; /* owned */
	unsigned n[MP_FREELIST_SIZES];
};

/* Zeroed memory is a set of none. */
void mp_freelist_done(struct mp_freelist *s);

/* Of at most MP_FREELIST_MOST bytes. What is in it is not said. Never NULL, as mp_alloc(). */
void *mp_freelist_take(struct mp_freelist *s, size_t size);
/* With the size it was taken with; NULL is fine. Returns NULL. */
void *mp_freelist_give(struct mp_freelist *s, void *block, size_t size);

#endif
