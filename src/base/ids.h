/*
 * ids.h - 64-bit ids to objects; an id is handed out once.
 * Code that does not own an object holds its id and looks it up when needed; an object that is gone
 * is an ordinary miss, never a stale pointer.
 */
#ifndef MP_IDS_H
#define MP_IDS_H

#include "base/base.h"

typedef uint64_t mp_id; /* 0 is none */

struct mp_ids_slot;

struct mp_ids {
	struct mp_ids_slot *slots; /* owned */
	size_t n_slots;            /* a power of two, or 0 */
	size_t len;                /* objects present */
	mp_id last;                /* the last id handed out */
};

void mp_ids_init(struct mp_ids *ids);
void mp_ids_done(struct mp_ids *ids); /* the objects stay with their owners */

/* Hand out an id for object, which must not be NULL. */
mp_id mp_ids_add(struct mp_ids *ids, void *object);
/* For a table beside the one that hands out: object under an id that is not in this one yet. */
void mp_ids_put(struct mp_ids *ids, mp_id id, void *object);
/* NULL for 0, for an id never handed out, and for one removed. */
void *mp_ids_get(const struct mp_ids *ids, mp_id id);
/* The object that had the id, or NULL. The id is never used again. */
void *mp_ids_remove(struct mp_ids *ids, mp_id id);

#endif
