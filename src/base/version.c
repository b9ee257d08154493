/*
 * version.c - which mcpool this is. Alone in its file, so that a test can link another one.
 */
#include "base/error.h"

const char *mcpool_version(void)
{
	return MCPOOL_VERSION;
}
