/*
 * mem.c - allocation, the out-of-memory hook, fault points for tests.
 * Failed allocations of fixed-size objects stop the process; those whose size a peer chooses return
 * NULL.
 */
#include "base/mem.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1024 }; /* bytes: what malloc() has at hand */

static void (*exhausted_hook)(size_t size);

void mp_mem_on_exhausted(void (*hook)(size_t size))
{
	exhausted_hook = hook;
}

static _Noreturn MP_COLD void mem_exhausted(size_t size)
{
	if (exhausted_hook)
		exhausted_hook(size);
	else
		fprintf(stderr, "mcpool: the system refused %zu bytes of memory\n", size);
	abort();
}

#ifdef MP_FAULTS
#include <stdatomic.h>

static _Atomic uint64_t live;
static _Atomic uint64_t made[MP_FAULT_KINDS];
static _Atomic uint64_t fails_at[MP_FAULT_KINDS];

void mp_fault_arm(enum mp_fault kind, uint64_t nth)
{
	made[kind] = 0;
	fails_at[kind] = nth;
}

uint64_t mp_fault_get_count(enum mp_fault kind)
{
	return made[kind];
}

bool mp_fault_is_built_in(void)
{
	return true;
}

uint64_t mp_mem_get_live(void)
{
	return live;
}

static bool faulty(enum mp_fault kind)
{
	uint64_t n = ++made[kind];

	return n == fails_at[kind];
}

#define COUNT_IN()  ((void)live++)
#define COUNT_OUT() ((void)live--)
#else
void mp_fault_arm(enum mp_fault kind, uint64_t nth)
{
	(void)kind;
	(void)nth;
}

uint64_t mp_fault_get_count(enum mp_fault kind)
{
	(void)kind;
	return 0;
}

bool mp_fault_is_built_in(void)
{
	return false;
}

uint64_t mp_mem_get_live(void)
{
	return 0;
}

#define faulty(kind) false
#define COUNT_IN()   ((void)0)
#define COUNT_OUT()  ((void)0)
#endif

/* glibc's calloc() takes the long way also for small blocks. */
static void *get_zeroed(size_t size)
{
	void *block;

	if (size > SMALL)
		return calloc(1, size);
	block = malloc(size ? size : 1);
	if (block)
		memset(block, 0, size);
	return block;
}

void *mp_alloc(size_t size)
{
	void *block = faulty(MP_FAULT_FIXED) ? NULL : get_zeroed(size);

	if (MP_UNLIKELY(!block))
		mem_exhausted(size);
	COUNT_IN();
	return block;
}

void *mp_try_alloc(size_t size)
{
	void *block = faulty(MP_FAULT_TRY) ? NULL : malloc(size ? size : 1);

	if (block)
		COUNT_IN();
	return block;
}

void *mp_try_realloc(void *block, size_t size)
{
	void *moved = faulty(MP_FAULT_TRY) ? NULL : realloc(block, size ? size : 1);

	if (moved && !block)
		COUNT_IN();
	return moved;
}

char *mp_dup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(mp_alloc(size), text, size);
}

void *mp_free(void *block)
{
	if (block)
		COUNT_OUT();
	free(block);
	return NULL;
}

void mp_wipe(void *block, size_t size)
{
	explicit_bzero(block, size);
}

/* glibc raises its threshold up to 32 MiB by itself, unless it is set. */
void mp_mem_map_large(void)
{
#ifdef __GLIBC__
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20); /* then it is as before */
#endif
}

/* glibc keeps all that lies below something in use. */
void mp_mem_trim(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
