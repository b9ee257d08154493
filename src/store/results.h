/*
 * results.h - results that are too large to be shown whole, kept for an hour in the state folder.
 */
#ifndef MP_RESULTS_H
#define MP_RESULTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/random_id.h"
#include "base/str.h"

enum { MP_RESULT_ID = MP_RANDOM_ID + 1 }; /* with its NUL */

#define MP_RESULT_SCHEME "mcpool://results/"

/* Keep it, 0600; what is older than an hour goes. MCPOOL_EIO, MCPOOL_EPERM with a sentence. */
int mp_results_keep(struct mp_str content, char ret_id[MP_RESULT_ID],
		    struct mcpool_error *reterr) MP_MUST;
/* uri: mcpool://results/ID. MCPOOL_ENOENT: there is none, or no longer. */
int mp_results_read(struct mp_str uri, struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
bool mp_results_is_uri(struct mp_str uri);

#endif
