/*
 * spec.h - what to run, as bytes in a memory file.
 * An environment may have hundreds of kilobytes, more than a packet takes, so the launcher gets it
 * as a descriptor. Nothing of it is ever seen in a file system or on a command line.
 */
#ifndef MP_SPEC_H
#define MP_SPEC_H

#include "base/base.h"
#include "base/buf.h"

/* As much as exec takes by far; also what the reading side is ready to believe. */
#define MP_SPEC_MAX ((size_t)8 << 20)

/* What to run. Everything is borrowed during the call only. */
struct mp_launch {
	const char *const *argv; /* ends in NULL; [0] is looked up in the PATH of env */
	const char *const *env;  /* "NAME=value", ends in NULL: the whole environment */
	const char *cwd;         /* NULL: ours */
	const char *const
		*seen; /* files that must be unchanged (identity.h), ends in NULL; or NULL */
};

struct mp_spec {
	struct mp_launch launch; /* all of it points into bytes and words */
	char *bytes;             /* owned */
	const char **words;      /* owned; argv, NULL, env, NULL, seen, NULL */
};

/* MCPOOL_EINVAL for what no exec would take, MCPOOL_ELIMIT, MCPOOL_ENOMEM. */
int mp_spec_encode(const struct mp_launch *launch, struct mp_buf *out,
		   struct mcpool_error *reterr) MP_MUST;
/*
 * The other way. Copies; believes nothing. MCPOOL_EPROTO where the bytes are not what encode
 * writes.
 */
int mp_spec_decode(struct mp_str bytes, struct mp_spec *ret_spec) MP_MUST;
void mp_spec_done(struct mp_spec *spec);

/* The same through a memory file; the descriptor is the caller's, close-on-exec. */
int mp_spec_write(const struct mp_launch *launch, int *ret_fd, struct mcpool_error *reterr) MP_MUST;
int mp_spec_read(int fd, struct mp_spec *ret_spec) MP_MUST;

#endif
