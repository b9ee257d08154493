/*
 * sd_bus.c - the functions of libsystemd that secret_service.c calls.
 */
#include "store/sd_bus.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct mp_sd_bus functions;
static bool found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A copy of bytes: C has no conversion from what dlsym() returns to a function. */
static bool sd_bus_find(void *library, const char *name, void *ret_function)
{
	void *symbol = dlsym(library, name);

	memcpy(ret_function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static void sd_bus_load(void)
{
	void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);

	found = library != NULL;
#define MP_X(type, name, parameters) \
	found = found && sd_bus_find(library, "sd_" #name, &functions.name);
	MP_SD_BUS_FUNCTIONS(MP_X)
#undef MP_X
}

const struct mp_sd_bus *mp_sd_bus_load(void)
{
	pthread_once(&once, sd_bus_load);
	return found ? &functions : NULL;
}
