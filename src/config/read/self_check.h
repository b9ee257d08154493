/*
 * self_check.h - is a command the way to our own hub? It stands among the servers of agents, and is
 * none: a hub that started it would be a server of its own.
 */
#ifndef MP_SELF_CHECK_H
#define MP_SELF_CHECK_H

#include "base/base.h"

/* `mcpool stdio`, by whatever path, behind `env`, `npx` and the like, or in a shell's -c. */
bool mp_self_check_is_own(const char *const *argv, size_t argc);

#endif
