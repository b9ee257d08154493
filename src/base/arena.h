/*
 * arena.h - bump memory that lives as long as one message.
 * Everything derived from a message is taken from its arena and leaves with it in one call; nothing
 * is freed alone. The ceiling is given at init, because a peer decides how much is derived.
 */
#ifndef MP_ARENA_H
#define MP_ARENA_H

#include "base/base.h"
#include "base/str.h"

struct mp_arena_block;

struct mp_arena {
	struct mp_arena_block *blocks; /* owned; the newest first */
	char *at;                      /* next free byte of the newest block */
	char *end;
	size_t taken;   /* bytes of all blocks */
	size_t ceiling; /* taken never exceeds this */
	int error;      /* why the last NULL was returned; 0: none was */
};

void mp_arena_init(struct mp_arena *a, size_t ceiling);
void mp_arena_done(struct mp_arena *a);
/* The same for an arena that has held secrets: its bytes are wiped first. */
void mp_arena_wipe(struct mp_arena *a);
/* Forget the contents, keep one block for the next message unless it is a large one. */
void mp_arena_reset(struct mp_arena *a);

/* size bytes aligned for any type, not cleared; NULL past the ceiling or when memory is refused. */
void *mp_arena_alloc(struct mp_arena *a, size_t size) MP_MUST;
/* Why the last NULL was returned: MCPOOL_ELIMIT or MCPOOL_ENOMEM; 0 as long as none was. */
int mp_arena_get_error(const struct mp_arena *a);
/* n objects of size bytes, cleared; NULL also when n * size overflows. */
void *mp_arena_alloc_array(struct mp_arena *a, size_t n, size_t size) MP_MUST;
/* A copy that ends in NUL; NULL as above. */
char *mp_arena_dup(struct mp_arena *a, struct mp_str s) MP_MUST;

#endif
