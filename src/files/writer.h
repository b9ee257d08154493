/*
 * writer.h - changing a file of ours: locked, atomic, every comment kept.
 * Lock, read, change, temporary file, sync, rename, sync of the folder. A process killed on the way
 * leaves the old file or the new one.
 */
#ifndef MP_CONFIG_WRITER_H
#define MP_CONFIG_WRITER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "files/document.h"

/*
 * Make the new text from the old one ("" where there is no file yet). May be called again if the
 * file changed meanwhile. 1: written to out; 0: nothing to change; negative: no.
 */
typedef int (*mp_writer_fn)(struct mp_str old, struct mp_buf *out, void *u,
			    struct mcpool_error *reterr);

/*
 * Change the file at path (absolute). Missing folders are made 0700, a new file is 0600, an old one
 * keeps its mode; a symbolic link is followed and stays. A file that is not valid JSON with
 * comments (and not empty), too large, or no regular file is refused and not touched; so is a
 * result that is not valid. 1 changed, 0 nothing to do, MCPOOL_EPARSE (the seed's words: `... is
 * not valid JSON`), MCPOOL_EINVAL, MCPOOL_ELIMIT, MCPOOL_EIO with what to do for a full disk or a
 * folder that cannot be written, MCPOOL_EAGAIN when the lock was not had in 10 s or the file keeps
 * changing; or what fn said.
 */
int mp_config_change(const char *path, mp_writer_fn fn, void *u,
		     struct mcpool_error *reterr) MP_MUST;
/* The same for a file in another format: MCPOOL_EPARSE says `... is not valid TOML` then. */
int mp_config_change_as(const char *path, enum mp_format format, mp_writer_fn fn, void *u,
			struct mcpool_error *reterr) MP_MUST;

#endif
