/*
 * folders.h - makes the folders of a file that is about to be written, and syncs them.
 */
#ifndef MP_FOLDERS_H
#define MP_FOLDERS_H

#include "base/base.h"

/*
 * Make what is missing of the folders above this file, 0700 each. 0, or MCPOOL_ESYSTEM with errno
 * set and the folder that could not be made in failed (PATH_MAX bytes; may be NULL).
 */
int mp_folders_make(const char *file, char *failed) MP_MUST;
/* A new name in this folder survives a power loss from here on, where the file system can do that.
 */
void mp_folders_sync(const char *folder);

#endif
