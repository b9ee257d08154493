/*
 * edit.h - change one value of a file, every other byte kept.
 * For files that people write: comments, blank lines, order and spelling stay; what is new takes
 * the indentation, the line ends and the comma habits of its neighbours.
 */
#ifndef MP_EDIT_H
#define MP_EDIT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * All three take the text (JSON with comments), the path to one value from the root (keys; in an
 * array a number, or "-" for behind the last), and add the new text to out. Failures leave out as
 * it was: MCPOOL_EPARSE with line and column for a text that is not valid, MCPOOL_ETYPE where the
 * path leads through a scalar, MCPOOL_ENOENT where an array has no such element, MCPOOL_EINVAL,
 * MCPOOL_ELIMIT, MCPOOL_ENOMEM, and as noted. If a key occurs twice, the last one is meant.
 */

/* Replace the value or add it; objects missing on the way are made. value is JSON. */
int mp_edit_set(struct mp_str text, const struct mp_str *path, size_t n, struct mp_str value,
		struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* The same, but MCPOOL_EEXIST if there is one. */
int mp_edit_add(struct mp_str text, const struct mp_str *path, size_t n, struct mp_str value,
		struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* MCPOOL_ENOENT if there is none; MCPOOL_EINVAL for a key that occurs twice. */
int mp_edit_remove(struct mp_str text, const struct mp_str *path, size_t n, struct mp_buf *out,
		   struct mcpool_error *reterr) MP_MUST;

#endif
