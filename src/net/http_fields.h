/*
 * http_fields.h - header lines of a request, gathered one by one.
 */
#ifndef MP_HTTP_FIELDS_H
#define MP_HTTP_FIELDS_H

#include "base/base.h"
#include "base/buf.h"
#include "net/http_head.h"

struct mp_http_fields {
	struct mp_buf text;             /* names and values, one behind the other */
	struct mp_http_header *headers; /* owned; only lengths count until get */
	size_t n, cap;
};

void mp_http_fields_init(struct mp_http_fields *f);
void mp_http_fields_done(struct mp_http_fields *f);
void mp_http_fields_clear(struct mp_http_fields *f);
/* Copied. What may stand in a header is checked when the request is started. */
int mp_http_fields_add(struct mp_http_fields *f, struct mp_str name, struct mp_str value) MP_MUST;
/* No more will be added: give back memory that is not used. */
void mp_http_fields_shrink(struct mp_http_fields *f);
/*
 * The same for a text that may be anything, as MCP repeats texts in headers: visible ASCII as it
 * is, all else as =?base64?...?= (mcp-spec 1.5, V36).
 */
int mp_http_fields_add_text(struct mp_http_fields *f, struct mp_str name,
			    struct mp_str text) MP_MUST;
/* All of them, *ret_n in number; valid until the next add, clear or done. */
const struct mp_http_header *mp_http_fields_get(const struct mp_http_fields *f, size_t *ret_n);

#endif
