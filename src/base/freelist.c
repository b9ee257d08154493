/*
 * freelist.c - recycled blocks of the sizes that every call allocates.
 */
#include "base/freelist.h"

#include "base/mem.h"

enum { KEPT = 64 }; /* of each size */

struct mp_freelist_block {
	struct mp_freelist_block *next;
};

static size_t class_of(size_t size)
{
	mp_check(size && size <= MP_FREELIST_MOST);
	return (size - 1) / MP_FREELIST_STEP;
}

void *mp_freelist_take(struct mp_freelist *s, size_t size)
{
	size_t c = class_of(size);
	struct mp_freelist_block *block = s->first[c];

	if (!block)
		return mp_alloc(mp_fault_is_built_in() ? size : (c + 1) * MP_FREELIST_STEP);
	s->first[c] = block->next;
	s->n[c]--;
	return block;
}

void *mp_freelist_give(struct mp_freelist *s, void *block, size_t size)
{
	size_t c = class_of(size);
	struct mp_freelist_block *spare = block;

	if (!block || mp_fault_is_built_in() || s->n[c] == KEPT)
		return mp_free(block);
	spare->next = s->first[c];
	s->first[c] = spare;
	s->n[c]++;
	return NULL;
}

void mp_freelist_done(struct mp_freelist *s)
{
	for (size_t c = 0; c < MP_FREELIST_SIZES; c++) {
		while (s->first[c]) {
			struct mp_freelist_block *block = s->first[c];

			s->first[c] = block->next;
			mp_free(block);
		}
		s->n[c] = 0;
	}
}
