/*
 * mirror.h - arguments of tools that HTTP repeats in headers (2026-07-28, V36, S35).
 * A tool's inputSchema names them by x-mcp-header; a call then carries Mcp-Param-NAME, so that
 * whoever stands between need not read bodies. Only names with that prefix ever come from here.
 */
#ifndef MP_MIRROR_H
#define MP_MIRROR_H

#include "base/arena.h"
#include "base/base.h"
#include "base/map.h"
#include "base/str.h"
#include "net/http_fields.h"
#include "rpc/message.h"

enum { MP_MIRROR_SPOTS = 64 }; /* of one tool */

/* What there is to mirror of all tools of one server. Most servers have nothing. */
struct mp_mirrors {
	struct mp_map tools;   /* by name; values in the arena */
	struct mp_arena arena; /* holds names and paths */
};

void mp_mirrors_init(struct mp_mirrors *m);
void mp_mirrors_done(struct mp_mirrors *m);

/*
 * Look at one tool, as the server wrote it, and keep what is to be mirrored. *ret_problem: NULL, or
 * what is wrong with its annotations, a static text; such a tool must not be offered.
 */
int mp_mirrors_read(struct mp_mirrors *m, struct mp_str name, struct mp_str tool,
		    const char **ret_problem) MP_MUST;
/*
 * What a call carries; nothing for messages that are none, and for tools nobody has seen. Arguments
 * that are absent, null, or no text, number or boolean have no header. MCPOOL_ETOO_LARGE for what
 * headers do not hold.
 */
int mp_mirrors_write(const struct mp_mirrors *m, const struct mp_message *call,
		     struct mp_http_fields *fields) MP_MUST;

/*
 * A JSON number in plain digits, "100" for 1e2; room has MP_MIRROR_NUMBER bytes. Empty for what is
 * too long to be written so, and for integers that not everybody reads alike, beyond 2^53 - 1.
 */
enum { MP_MIRROR_NUMBER = 400 };
struct mp_str mp_mirror_write_number(struct mp_str number, char *room);

#endif
