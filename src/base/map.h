/*
 * map.h - string keys to pointers.
 * Keys are copied, values are the caller's. Iteration is in the order of insertion, so that nothing
 * shown to people or put on a wire depends on a hash.
 */
#ifndef MP_MAP_H
#define MP_MAP_H

#include "base/base.h"
#include "base/str.h"

struct mp_map_entry {
	struct mp_str key; /* owned by the map, ends in NUL; p is NULL once removed */
	void *value;
	uint64_t hash;
};

struct mp_map {
	struct mp_map_entry *entries; /* owned; in order of insertion, with gaps */
	uint32_t *slots;              /* owned; entry index + 1, 0 is empty */
	size_t used;                  /* entries in use or gaps */
	size_t len;                   /* keys present */
	size_t n_slots;               /* a power of two, or 0 */
	size_t ceiling;               /* len never exceeds this */
};

void mp_map_init(struct mp_map *m, size_t ceiling);
void mp_map_done(struct mp_map *m);

/* Add or replace. MCPOOL_ELIMIT past the ceiling, MCPOOL_ENOMEM; the map is then as it was. */
int mp_map_set(struct mp_map *m, struct mp_str key, void *value) MP_MUST;
/* NULL where the key is absent (or its value is NULL). */
void *mp_map_get(const struct mp_map *m, struct mp_str key);
bool mp_map_has(const struct mp_map *m, struct mp_str key);
/* The value that was there, or NULL. */
void *mp_map_remove(struct mp_map *m, struct mp_str key);
/* The next entry from *cursor (0 to begin), or NULL at the end. Removing is allowed meanwhile. */
const struct mp_map_entry *mp_map_next(const struct mp_map *m, size_t *cursor);

/* A keyed hash (SipHash-1-3): peers choose the strings, so they must not choose the slots. */
uint64_t mp_hash(struct mp_str s);
/* The same with this key, for hashes that are shown or outlive the process. */
uint64_t mp_hash_with(const uint64_t key[2], struct mp_str s);

#endif
