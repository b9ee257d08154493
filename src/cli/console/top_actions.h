/*
 * top_actions.h - what `top` does to a server. Each leaves a sentence about it.
 */
#ifndef MP_TOP_ACTIONS_H
#define MP_TOP_ACTIONS_H

#include <signal.h>

#include "cli/console/top_screen.h"

void mp_top_restart(const char *name, char *words, size_t size);
/* For the agents of this folder, until the hub ends. */
void mp_top_switch(const char *name, bool on, char *words, size_t size);
/* `mcpool trust NAME` on the terminal, then back. mask: of signals, for it. */
void mp_top_approve(const struct mp_status *s, struct mp_top_screen *screen, const sigset_t *mask,
		    char *words, size_t size);

#endif
