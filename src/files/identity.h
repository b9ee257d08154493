/*
 * identity.h - recognises a file that was read, by what changes when it is written or replaced.
 */
#ifndef MP_IDENTITY_H
#define MP_IDENTITY_H

#include <sys/stat.h>

#include "base/base.h"
#include "base/buf.h"

/* "DEVICE INODE SECONDS NANOSECONDS SIZE PATH", the times those of the last change (ctime). */
int mp_identity_add(const struct stat *st, const char *path, struct mp_buf *out) MP_MUST;
/* Is this the file that the text is about, unchanged? */
bool mp_identity_is(const char *text, const struct stat *st);
/* The same for what is at its path now. Neither allocates. */
bool mp_identity_holds(const char *text);

#endif
