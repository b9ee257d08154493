/*
 * self_check.h - recognises the command that connects an agent to our own hub. It is listed among
 * the agent's servers, but a hub that started it would be its own server.
 */
#ifndef MP_SELF_CHECK_H
#define MP_SELF_CHECK_H

#include "base/base.h"

/* `mcpool stdio`, by whatever path, behind `env`, `npx` and the like, or in a shell's -c. */
bool mp_self_check_is_own(const char *const *argv, size_t argc);

#endif
