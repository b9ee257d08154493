/*
 * private.h - files of the state folder, accessible to this user alone.
 * A file that others can write to, or may have planted, is refused with advice; it is never
 * repaired silently, because it may have been abused.
 */
#ifndef MP_PRIVATE_H
#define MP_PRIVATE_H

#include <limits.h>

#include "base/base.h"
#include "base/str.h"

struct stat;

/*
 * The folder of this file, made 0700 if it is missing. MCPOOL_EPERM if another user owns it or may
 * write to it, MCPOOL_EIO when it cannot be made. ret_real: the file with the real path of its
 * folder.
 */
int mp_private_folder(const char *path, char ret_real[PATH_MAX],
		      struct mcpool_error *reterr) MP_MUST;
/* Is this a regular file of ours that others may not write to? MCPOOL_EPERM with a sentence. */
int mp_private_check(const char *path, const struct stat *st, struct mcpool_error *reterr) MP_MUST;
/* The file at a real path is there and passes the check: made empty, or found so. 0600 from now. */
int mp_private_file(const char *real, struct mcpool_error *reterr) MP_MUST;

/* Its content is these bytes, or what it was: never half of it. 0600; its folder as above. */
int mp_private_replace(const char *path, struct mp_str bytes, struct mcpool_error *reterr) MP_MUST;

#endif
