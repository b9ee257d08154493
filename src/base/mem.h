/* mem.h - allocation that never fails, allocation that may, and fault points for tests. */
#ifndef MP_MEM_H
#define MP_MEM_H

#include "base/base.h"

/*
 * For objects whose size our own code fixes: zeroed, never NULL. Where the system refuses, the
 * out-of-memory hook is called and the process stops.
 */
void *mp_alloc(size_t size) __attribute__((malloc, returns_nonnull));

/*
 * For sizes that a peer can choose: NULL when refused, and the caller says MCPOOL_ENOMEM. Contents
 * are not cleared. On failure of mp_try_realloc() the old block is untouched.
 */
void *mp_try_alloc(size_t size) MP_MUST;
void *mp_try_realloc(void *block, size_t size) MP_MUST;

/* A copy of a text of ours, as mp_alloc(). */
char *mp_dup(const char *text) __attribute__((malloc, returns_nonnull));

/* Frees either kind. Accepts NULL, returns NULL. */
void *mp_free(void *block);

/* Overwrite a secret in a way the compiler keeps. */
void mp_wipe(void *block, size_t size);

/*
 * For a program, at its start: blocks of a MiB and more have pages of their own, which go back to
 * the system at once. In the heap, buffers that grow side by side leave gaps larger than
 * themselves.
 */
void mp_mem_map_large(void);
/* Give the system back what is free: after many large things went at once. Takes milliseconds. */
void mp_mem_trim(void);

/* Called once, before the process stops, with the size that was refused. NULL: say so and abort. */
void mp_mem_on_exhausted(void (*hook)(size_t size));

/* For MP_CLEANUP on a plain pointer of either kind. */
static inline void mp_freep(void *pointer_to_block)
{
	mp_free(*(void **)pointer_to_block);
}

/*
 * Fault points, there when built with -Dfaults=true: the nth allocation of that kind from now on
 * fails, once. 0 disarms. mp_fault_get_count() tells how many were made since mp_fault_arm().
 */
enum mp_fault {
	MP_FAULT_TRY,   /* mp_try_alloc() and mp_try_realloc() return NULL */
	MP_FAULT_FIXED, /* mp_alloc() takes the way of exhausted memory */
	MP_FAULT_KINDS
};
void mp_fault_arm(enum mp_fault kind, uint64_t nth);
uint64_t mp_fault_get_count(enum mp_fault kind);
bool mp_fault_is_built_in(void);

/* Blocks allocated and not yet freed; 0 where fault points are not built in. */
uint64_t mp_mem_get_live(void);

/*
 * Memory that must not be touched for now, though it is not free; where ASan looks on and tests
 * make allocations fail.
 */
#if defined(MP_FAULTS) && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define MP_POISON(from, to) \
	ASAN_POISON_MEMORY_REGION((from), (size_t)((const char *)(to) - (const char *)(from)))
#define MP_UNPOISON(from, to) \
	ASAN_UNPOISON_MEMORY_REGION((from), (size_t)((const char *)(to) - (const char *)(from)))
#else
#define MP_POISON(from, to)   ((void)(from), (void)(to))
#define MP_UNPOISON(from, to) ((void)(from), (void)(to))
#endif

#endif
