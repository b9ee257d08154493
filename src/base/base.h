/* base.h - macros that every file uses: ownership, must-check results, assertions. */
#ifndef MP_BASE_H
#define MP_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <mcpool/error.h>

/* Run fn(&variable) when the variable leaves its scope. */
#define MP_CLEANUP(fn) __attribute__((cleanup(fn)))

/* Hand the pointer over and forget it, so that its MP_CLEANUP finds NULL. */
#define MP_TAKE(pointer)                              \
	__extension__({                               \
		typeof(pointer) mp_taken = (pointer); \
		(pointer) = NULL;                     \
		mp_taken;                             \
	})

/* An int that carries failure; it is checked. (cppcheck cannot read this on function pointers.) */
#ifdef __cppcheck__
#define MP_MUST
#else
#define MP_MUST __attribute__((warn_unused_result))
#endif

/* A large local that is written before it is read. Releases clear all others. */
#if defined(__has_attribute) && __has_attribute(uninitialized)
#define MP_UNSET __attribute__((uninitialized))
#else
#define MP_UNSET
#endif

#define MP_PRINTF(at, first) __attribute__((format(printf, at, first)))
#define MP_COLD              __attribute__((cold, noinline))
#define MP_LIKELY(x)         __builtin_expect(!!(x), 1)
#define MP_UNLIKELY(x)       __builtin_expect(!!(x), 0)

#define MP_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* The struct that holds this member. */
#define mp_container_of(pointer, type, member) \
	((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/*
 * A condition between our own functions, checked in release builds too: if it fails, the process
 * stops and names it.
 */
#define mp_check(promise)                                                        \
	do {                                                                     \
		if (MP_UNLIKELY(!(promise)))                                     \
			mp_check_failed(#promise, __FILE__, __LINE__, __func__); \
	} while (0)

_Noreturn void mp_check_failed(const char *promise, const char *file, int line, const char *func);

#endif
