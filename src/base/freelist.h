/*
 * freelist.h - recycled blocks of the sizes that every call allocates.
 * The C library caches seven blocks of a size; a hub has dozens of calls in flight, each with the
 * same few blocks. With fault points they come from mp_alloc() one by one, so that sanitizers see
 * each of them. For one thread.
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

/* Zeroed memory is an empty list. */
void mp_freelist_done(struct mp_freelist *s);

/* Of at most MP_FREELIST_MOST bytes. The contents are undefined. Never NULL, as mp_alloc(). */
void *mp_freelist_take(struct mp_freelist *s, size_t size);
/* With the size it was taken with; NULL is fine. Returns NULL. */
void *mp_freelist_give(struct mp_freelist *s, void *block, size_t size);

#endif
