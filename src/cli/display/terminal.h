/*
 * terminal.h - reads answers from the user at the terminal.
 */
#ifndef MP_TERMINAL_H
#define MP_TERMINAL_H

#include "base/base.h"

/* Ask for one line on the terminal; false: no terminal, or end of input. */
bool mp_terminal_ask(const char *question, char *answer, size_t size);
/* The same; also false when stop_fd becomes readable. */
bool mp_terminal_ask_unless(const char *question, int stop_fd, char *answer, size_t size);
/* Read a line without echo; NULL: end of input. The caller frees and wipes it. */
char *mp_terminal_ask_secret(const char *question);
/* y or yes; any other answer, or no terminal, is no. */
bool mp_terminal_ask_yes(const char *question);

#endif
