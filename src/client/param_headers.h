/*
 * param_headers.h - arguments of tools that HTTP repeats in headers (2026-07-28, V36, S35).
 * A tool's inputSchema names them by x-mcp-header; a call then carries Mcp-Param-NAME, so that
 * proxies need not read bodies. Only names with that prefix come from here.
 */
#ifndef MP_PARAM_HEADERS_H
#define MP_PARAM_HEADERS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/map.h"
#include "base/str.h"
#include "net/http_fields.h"
#include "rpc/outgoing.h"

enum { MP_PARAM_HEADERS_MAX = 64 }; /* of one tool */

/* Annotated arguments of all tools of one server. Most servers have nothing. */
struct mp_param_headers {
	struct mp_map tools;   /* by name; values in the arena */
	struct mp_arena arena; /* holds names and paths */
};

void mp_param_headers_init(struct mp_param_headers *m);
void mp_param_headers_done(struct mp_param_headers *m);

/*
 * Look at one tool, as the server wrote it, and keep its annotated arguments. *ret_problem: NULL,
 * or what is wrong with its annotations, a static text; such a tool must not be offered.
 */
int mp_param_headers_read(struct mp_param_headers *m, struct mp_str name, struct mp_str tool,
			  const char **ret_problem) MP_MUST;
/*
 * The headers of a call; none for other messages and for unknown tools. Arguments that are absent,
 * null, or not a text, number or boolean have no header. MCPOOL_ETOO_LARGE if they do not fit.
 */
int mp_param_headers_write(const struct mp_param_headers *m, const struct mp_outgoing *call,
			   struct mp_http_fields *fields) MP_MUST;

/*
 * A JSON number in plain digits, "100" for 1e2; room has MP_PARAM_HEADER_NUMBER bytes. Empty if it
 * is too long, and for integers beyond 2^53 - 1, which parsers read differently.
 */
enum { MP_PARAM_HEADER_NUMBER = 400 };
struct mp_str mp_param_header_write_number(struct mp_str number, char *room);

#endif
