/*
 * tool_index.h - the tools of all servers, live or cached, by public name; or their prompts.
 */
#ifndef MP_TOOL_INDEX_H
#define MP_TOOL_INDEX_H

#include "cli/servers/configured.h"
#include "pool/status.h"
#include "session/names.h"

struct mp_tool {
	const struct mp_catalog_item *item;
	const struct mp_status *server;
	bool is_live; /* its server is up and lists it; else cached */
};

struct mp_tool_index {
	enum mp_catalog_kind kind;
	struct mp_names *names; /* u of each: its struct mp_tool */
	struct mp_tool *tools;  /* owned */
};

/* Includes servers that are up or could be; in addition: */
enum {
	MP_TOOL_INDEX_PENDING = 1 << 0, /* starting servers with a cached catalog */
	MP_TOOL_INDEX_FAILED = 1 << 1,  /* failed servers; a call may wait for the next attempt */
	MP_TOOL_INDEX_HIDDEN = 1 << 2,  /* only tools that the servers' filters exclude */
};
/* The catalog of the server that counts; NULL: none. */
struct mp_server_catalog *mp_tool_index_get_catalog(const struct mp_status *status, unsigned which);
/*
 * servers is borrowed, and outlives it. c: has the names of earlier runs; NULL: none.
 * MCPOOL_ENOMEM, MCPOOL_ELIMIT; call mp_tool_index_done() in both cases.
 */
int mp_tool_index_fill(struct mp_tool_index *b, const struct mp_status_list *servers,
		       enum mp_catalog_kind kind, unsigned which,
		       const struct mp_configured *c) MP_MUST;
void mp_tool_index_done(struct mp_tool_index *b); /* accepts a zeroed one */

const struct mp_tool *mp_tool_index_get(const struct mp_tool_index *b,
					size_t i); /* by public name */
/* Does this name, in any spelling that contains a server, mean a tool of that server? */
bool mp_tool_index_names_server(struct mp_str name, const char *server);
/* Print name collisions and the resulting names on stderr. */
void mp_tool_index_tell_collisions(const struct mp_tool_index *b);
/* Add the public names of all possible meanings of `name`; returns how many. */
size_t mp_tool_index_add_candidates(const struct mp_tool_index *b, struct mp_str name,
				    struct mp_buf *out);
/* Add similar names, at most three. */
size_t mp_tool_index_add_similar(const struct mp_tool_index *b, struct mp_str name,
				 struct mp_buf *out);

#endif
