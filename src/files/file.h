/*
 * file.h - reading a file that may turn out to be anything.
 * A project decides what is at these paths: a pipe, a device, an endless file. Nothing here waits,
 * and only regular files of a bounded size are read.
 */
#ifndef MP_FILE_H
#define MP_FILE_H

#include <stdio.h>
#include <sys/stat.h>

#include "base/base.h"
#include "base/buf.h"

/*
 * The file's bytes added to out. The message says what is wrong without the path: MCPOOL_ENOENT
 * (nothing is there), MCPOOL_EINVAL (no regular file, a loop of links), MCPOOL_ELIMIT (more than
 * limit bytes), MCPOOL_EPERM, MCPOOL_EAGAIN (it keeps changing), MCPOOL_EIO.
 */
int mp_file_read(const char *path, size_t limit, struct mp_buf *out,
		 struct mcpool_error *reterr) MP_MUST;

/*
 * The same in pieces, for files that are only hashed. Returns the size, or as above. ret_stat: of
 * the file that was read, behind its last byte; may be NULL.
 */
typedef void (*mp_file_fn)(void *u, const void *bytes, size_t n);
int64_t mp_file_each_piece(const char *path, size_t limit, mp_file_fn fn, void *u,
			   struct stat *ret_stat, struct mcpool_error *reterr) MP_MUST;

/* The path without links and dots, added to out, which then ends in NUL. MCPOOL_ENOENT, ... */
int mp_file_real_path(const char *path, struct mp_buf *out) MP_MUST;

/* Is this path below that folder? By their names: give it real paths. */
bool mp_file_is_below(const char *path, const char *folder);

#endif
