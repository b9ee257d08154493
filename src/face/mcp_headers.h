/*
 * mcp_headers.h - parses the HTTP headers of an MCP message and compares them with it.
 */
#ifndef MP_MCP_HEADERS_H
#define MP_MCP_HEADERS_H

#include "base/base.h"
#include "base/buf.h"
#include "http/inbound.h"
#include "rpc/message.h"

enum { MP_ACCEPTS_JSON = 1, MP_ACCEPTS_EVENTS = 2 };
/* Content types that the client accepts; without a header, all. */
unsigned mp_mcp_headers_accept(struct mp_str accept);
/* application/json, with any parameters. */
bool mp_mcp_headers_is_json(struct mp_str content_type);

/*
 * Decode a value as in revision 2026-07-28: plain, or "=?base64?...?=". MCPOOL_EINVAL: cannot be
 * decoded or is not UTF-8; MCPOOL_ENOMEM. ret_text points into the header or into out.
 */
int mp_mcp_headers_decode(struct mp_str value, struct mp_buf *out, struct mp_str *ret_text) MP_MUST;

/* Compare the headers of a modern request with its body. NULL: they agree; else the one that
 * differs. */
const char *mp_mcp_headers_compare(const struct mp_inbound *in, const struct mp_message *m);

#endif
