/*
 * text.h - the result of a call as text, for people and for programs that want a string: the
 * command line and the library. Sessions get the blocks as they are.
 */
#ifndef MP_TEXT_H
#define MP_TEXT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/value.h"

/*
 * Adds the blocks of a result, joined; what is no text is described; structured content follows
 * unless a block says the same; "Error: " comes first where the tool said so, and *ret_is_error.
 * MCPOOL_EPARSE, MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_text_project(struct mp_str result, const char *join, struct mp_buf *out,
		    bool *ret_is_error) MP_MUST;
/* One block of content. */
int mp_text_add_block(const struct mp_tape *t, mp_value block, struct mp_buf *out) MP_MUST;
/*
 * Adds text, or its beginning and its end where it is longer than max, with the number of bytes
 * that are missing and where all of it is (handle; empty: nowhere). No character is cut.
 */
int mp_text_shorten(struct mp_str text, size_t max, struct mp_str handle,
		    struct mp_buf *out) MP_MUST;

#endif
