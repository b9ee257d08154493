/*
 * next_version.c - the program as a later version, for the scripts here: linked instead of
 * base/version.c.
 */
#include "mcpool/error.h"

const char *mcpool_version(void)
{
	return "99.1.0";
}
