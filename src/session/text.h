/*
 * text.h - the result of a call as text, for people and for programs that want a string: the
 * command line and the library.
 */
#ifndef MP_TEXT_H
#define MP_TEXT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/value.h"

/*
 * Appends the blocks of a result, joined. Blocks other than text are described. Structured content
 * follows unless a block equals it. If the tool reported an error, "Error: " comes first and
 * *ret_is_error is set. MCPOOL_EPARSE, MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_text_project(struct mp_str result, const char *join, struct mp_buf *out,
		    bool *ret_is_error) MP_MUST;
/* The bytes that this base64 stands for. */
size_t mp_text_get_decoded_size(struct mp_str base64);
/* Appends one block of content. */
int mp_text_add_block(const struct mp_tape *t, mp_value block, struct mp_buf *out) MP_MUST;
/*
 * Appends text. If it is longer than max, appends its beginning and its end, with the number of
 * missing bytes and where all of it is stored (handle; empty: nowhere). Cuts only between
 * characters.
 */
int mp_text_shorten(struct mp_str text, size_t max, struct mp_str handle,
		    struct mp_buf *out) MP_MUST;

#endif
