/* error.h - filling in a mcpool_error, and what the edges make of a code. */
#ifndef MP_ERROR_H
#define MP_ERROR_H

#include "base/base.h"

/*
 * Write code and words to reterr (may be NULL) and return code, so that a failing function ends in
 * `return mp_fail(reterr, MCPOOL_EINVAL, "server '%s' has no url", name);`. A message that does not
 * fit is cut at a character's boundary.
 */
int mp_fail(struct mcpool_error *reterr, int code, const char *format, ...) MP_PRINTF(3, 4);

/* The same for a failed system call: code MCPOOL_ESYSTEM and the words of errnum at the end. */
int mp_fail_errno(struct mcpool_error *reterr, int errnum, const char *format, ...) MP_PRINTF(3, 4);

/*
 * For objects that seldom fail and are many: a copy of *why in *kept, which is NULL until then and
 * is freed by mp_free(). An error takes half a kilobyte.
 */
void mp_error_keep(struct mcpool_error **kept, const struct mcpool_error *why);

/* What a JSON-RPC peer is told for this code; -32603 for a number that is no code. */
int mp_error_get_rpc_code(int code);

#endif
