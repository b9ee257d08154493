/*
 * browser.h - opens an address in the user's browser, without a shell.
 */
#ifndef MP_BROWSER_H
#define MP_BROWSER_H

#include "base/arena.h"
#include "base/base.h"

/*
 * False: there is no display, no program for it, or the address is not one that may be opened:
 * https, or http on this machine. The address is the only argument of the program.
 */
bool mp_browser_open(const char *url);
/* The address as the program gets it; NULL: it may not be opened. The arena's. */
const char *mp_browser_check(const char *url, struct mp_arena *arena);

#endif
