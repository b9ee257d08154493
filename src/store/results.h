/*
 * results.h - results that are too large to be shown whole, and what was binary in them, kept for
 * an hour in the state folder.
 */
#ifndef MP_RESULTS_H
#define MP_RESULTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/random_id.h"
#include "base/str.h"

enum { MP_RESULT_ID = MP_RANDOM_ID + 1 }; /* with its NUL */
enum { MP_RESULT_MIME = 128 };            /* with its NUL */

#define MP_RESULT_SCHEME "mcpool://results/"
enum { MP_RESULT_URI = sizeof(MP_RESULT_SCHEME) - 1 + MP_RESULT_ID }; /* with its NUL */

/*
 * Keep it, 0600; what is older than an hour goes, and the oldest beyond the limits. mime: of binary
 * content, in base64; empty: a result, in JSON. MCPOOL_EIO, MCPOOL_EPERM with a sentence. Blocks.
 */
int mp_results_keep(struct mp_str content, struct mp_str mime, char ret_uri[MP_RESULT_URI],
		    struct mcpool_error *reterr) MP_MUST;
/* ret_mime: "" for a result. MCPOOL_ENOENT: there is none, or no longer. */
int mp_results_read(struct mp_str uri, struct mp_buf *out, char ret_mime[MP_RESULT_MIME],
		    struct mcpool_error *reterr) MP_MUST;
bool mp_results_is_uri(struct mp_str uri);

#endif
