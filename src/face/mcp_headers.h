/*
 * mcp_headers.h - what HTTP headers say about an MCP message, and whether that is so.
 */
#ifndef MP_MCP_HEADERS_H
#define MP_MCP_HEADERS_H

#include "base/base.h"
#include "base/buf.h"
#include "http/inbound.h"
#include "rpc/message.h"

enum { MP_ACCEPTS_JSON = 1, MP_ACCEPTS_EVENTS = 2 };
/* What the client takes as an answer; without a header, everything. */
unsigned mp_mcp_headers_accept(struct mp_str accept);
/* application/json, whatever parameters it has. */
bool mp_mcp_headers_is_json(struct mp_str content_type);

/*
 * A value as the specification of 2026-07-28 has it: plain, or "=?base64?...?=". MCPOOL_EINVAL for
 * one that cannot be decoded or is not UTF-8, MCPOOL_ENOMEM. ret_text lies in the header or in out.
 */
int mp_mcp_headers_decode(struct mp_str value, struct mp_buf *out, struct mp_str *ret_text) MP_MUST;

/* Do the headers of a modern request agree with it? NULL: yes. Otherwise what does not. */
const char *mp_mcp_headers_compare(const struct mp_inbound *in, const struct mp_message *m);

#endif
