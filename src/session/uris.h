/*
 * uris.h - resource URIs: wrapped if two servers have the same one, and matched with templates (RFC
 * 6570) to find their server.
 */
#ifndef MP_URIS_H
#define MP_URIS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * `mcpool://SERVER/URI`, both escaped. is_template: expressions in braces are kept, so the result
 * is a template. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_uri_wrap(struct mp_str server, struct mp_str uri, bool is_template,
		struct mp_buf *out) MP_MUST;
bool mp_uri_is_wrapped(struct mp_str uri);
/* The parts of such a URI, one after the other in out. MCPOOL_EINVAL: not wrapped. */
int mp_uri_unwrap(struct mp_str uri, struct mp_buf *out, struct mp_str *ret_server,
		  struct mp_str *ret_uri) MP_MUST;
/* Could this template have produced that URI? Linear in both lengths. */
bool mp_uri_matches(struct mp_str template, struct mp_str uri);

#endif
