/*
 * arena.c - bump memory that lives as long as one message.
 * Blocks double in size, so an arena of n bytes costs about log n allocations.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BLOCK = 512, LARGEST_STEP = 1 << 20 };

struct mp_arena_block {
	struct mp_arena_block *older;
	size_t size; /* bytes of data */
	alignas(max_align_t) char data[];
};

void mp_arena_init(struct mp_arena *a, size_t ceiling)
{
	*a = (struct mp_arena){.ceiling = ceiling};
}

static void free_blocks(struct mp_arena_block *b)
{
	while (b) {
		struct mp_arena_block *older = b->older;

		mp_free(b);
		b = older;
	}
}

void mp_arena_done(struct mp_arena *a)
{
	free_blocks(a->blocks);
	mp_arena_init(a, a->ceiling);
}

void mp_arena_wipe(struct mp_arena *a)
{
	for (struct mp_arena_block *b = a->blocks; b; b = b->older)
		mp_wipe(b->data, b->size);
	mp_arena_done(a);
}

void mp_arena_reset(struct mp_arena *a)
{
	struct mp_arena_block *kept = a->blocks;

	if (kept && kept->size > LARGEST_STEP)
		mp_arena_done(a);
	kept = a->blocks;
	if (!kept)
		return;
	free_blocks(kept->older);
	kept->older = NULL;
	a->at = kept->data;
	a->end = kept->data + kept->size;
	a->taken = kept->size;
}

static size_t next_size(const struct mp_arena *a, size_t needed)
{
	size_t size = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK;

	if (size > LARGEST_STEP)
		size = LARGEST_STEP;
	if (size < needed)
		size = needed;
	if (size > a->ceiling - a->taken)
		size = a->ceiling - a->taken; /* the last block takes what is left */
	return size;
}

/* A block kept by a reset must not prevent a larger one that the message needs. */
static void drop_unused(struct mp_arena *a)
{
	if (a->blocks && a->at == a->blocks->data) /* then it is the only one */
		mp_arena_done(a);
}

static bool refuse(struct mp_arena *a, int error)
{
	a->error = error;
	return false;
}

static bool add_block(struct mp_arena *a, size_t needed)
{
	struct mp_arena_block *b;
	size_t size, bytes;

	drop_unused(a);
	if (needed > a->ceiling - a->taken)
		return refuse(a, MCPOOL_ELIMIT);
	size = next_size(a, needed);
	if (__builtin_add_overflow(sizeof(*b), size, &bytes))
		return refuse(a, MCPOOL_ELIMIT);
	b = mp_try_alloc(bytes);
	if (!b)
		return refuse(a, MCPOOL_ENOMEM);
	b->older = a->blocks;
	b->size = size;
	a->blocks = b;
	a->at = b->data;
	a->end = b->data + size;
	a->taken += size;
	return true;
}

int mp_arena_get_error(const struct mp_arena *a)
{
	return a->error;
}

void *mp_arena_alloc(struct mp_arena *a, size_t size)
{
	size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	void *p;

	if (rounded < size) {
		a->error = MCPOOL_ELIMIT;
		return NULL;
	}
	if (rounded == 0)
		rounded = alignof(max_align_t); /* distinct objects have distinct addresses */
	if (rounded > (size_t)(a->end - a->at) && !add_block(a, rounded))
		return NULL;
	p = a->at;
	a->at += rounded;
	return p;
}

void *mp_arena_alloc_array(struct mp_arena *a, size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		a->error = MCPOOL_ELIMIT;
		return NULL;
	}
	p = mp_arena_alloc(a, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

char *mp_arena_dup(struct mp_arena *a, struct mp_str s)
{
	char *copy = mp_arena_alloc(a, s.len < SIZE_MAX ? s.len + 1 : SIZE_MAX);

	if (!copy)
		return NULL;
	if (s.len)
		memcpy(copy, s.p, s.len);
	copy[s.len] = '\0';
	return copy;
}
