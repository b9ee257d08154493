/* shell.h - words of commands that people paste into a shell. */
#ifndef MP_SHELL_H
#define MP_SHELL_H

#include "base/base.h"
#include "base/buf.h"

/* Add it such that a shell reads one word, whatever is in it. */
int mp_shell_add_word(struct mp_buf *out, struct mp_str word) MP_MUST;

#endif
