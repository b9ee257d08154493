/* shell.h - words of commands that people paste into a shell. */
#ifndef MP_SHELL_H
#define MP_SHELL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

/* Add it such that a shell reads one word, whatever is in it. */
int mp_shell_add_word(struct mp_buf *out, struct mp_str word) MP_MUST;

/*
 * The name of a server in a command that is only shown. Names come from files of others: one that
 * begins with a dash would be an option (`mcpool trust --yes`), so it is left out, and the verb
 * asks.
 */
enum { MP_SHELL_NAME_SIZE = 4 * MP_LIMIT_NAME + 3 };
const char *mp_shell_write_name(const char *name, char out[MP_SHELL_NAME_SIZE]);
#define MP_SHELL_NAME(name) mp_shell_write_name((name), (char[MP_SHELL_NAME_SIZE]){0})

#endif
