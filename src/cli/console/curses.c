/*
 * curses.c - loads libncursesw.
 */
#include "cli/console/curses.h"

#include <dlfcn.h>
#include <string.h>

static struct mp_curses functions;

/* A copy of bytes: C has no conversion from what dlsym() returns to a function. */
static bool curses_find(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

const struct mp_curses *mp_curses_load(void)
{
	void *library = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
	bool found = library && curses_find(library, "stdscr", &functions.stdscr);

#define MP_X(type, name, parameters) found = found && curses_find(library, #name, &functions.name);
	MP_CURSES_FUNCTIONS(MP_X)
#undef MP_X
	return found ? &functions : NULL;
}
