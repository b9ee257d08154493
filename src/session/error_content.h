/*
 * error_content.h - an error of a tool's call as a result (result.errors: content).
 */
#ifndef MP_ERROR_CONTENT_H
#define MP_ERROR_CONTENT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "rpc/era.h"

/*
 * Appends the result for this error, an object of JSON-RPC: isError and the text "MCP error: ...".
 * The error itself is in _meta. MCPOOL_ENOMEM, MCPOOL_ELIMIT, MCPOOL_EPARSE.
 */
int mp_error_content_write(enum mp_era era, struct mp_str error, struct mp_buf *out) MP_MUST;

#endif
