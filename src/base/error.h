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
 * The same for a failure that another one caused: what broke, and for how long the peer wants to be
 * left alone, stay known. why may be reterr itself.
 */
int mp_fail_because(struct mcpool_error *reterr, int code, const struct mcpool_error *why,
		    const char *format, ...) MP_PRINTF(4, 5);

/* What broke: what was noted, or else what the code says by itself. */
enum mcpool_fault mp_error_get_fault(const struct mcpool_error *why);
const char *mp_fault_get_name(enum mcpool_fault fault); /* "malformed_response" */

/*
 * For many objects that seldom fail: a copy of *why in *kept, which is NULL until then and is freed
 * by mp_free(). An error takes half a kilobyte.
 */
void mp_error_keep(struct mcpool_error **kept, const struct mcpool_error *why);

/* The JSON-RPC error code for this code; -32603 for an unknown one. */
int mp_error_get_rpc_code(int code);

#endif
