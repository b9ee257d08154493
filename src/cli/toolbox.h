/*
 * toolbox.h - the tools of all servers of a servers, live or remembered, by public name; or their
 * prompts.
 */
#ifndef MP_TOOLBOX_H
#define MP_TOOLBOX_H

#include "cli/configured.h"
#include "pool/status.h"
#include "session/names.h"

struct mp_tool {
	const struct mp_catalog_item *item;
	const struct mp_status *server;
	bool is_live; /* its server is up, and has it; else remembered */
};

struct mp_toolbox {
	enum mp_catalog_kind kind;
	struct mp_names *names; /* u of each: its struct mp_tool */
	struct mp_tool *tools;  /* owned */
};

/* Of those that are up, or could be; besides: */
enum {
	MP_TOOLBOX_PENDING = 1 << 0, /* those that are on their way, and known from before */
	MP_TOOLBOX_FAILED = 1 << 1,  /* those that failed; a call may wait for the next try */
	MP_TOOLBOX_HIDDEN = 1 << 2,  /* what the filters of servers keep out, and nothing else */
};
/* What counts of what the server offers; NULL: nothing. */
struct mp_server_catalog *mp_toolbox_get_offer(const struct mp_status *status, unsigned which);
/*
 * The servers is borrowed, and outlives it. c: whose names of earlier runs count; NULL: none do.
 * MCPOOL_ENOMEM, MCPOOL_ELIMIT; mp_toolbox_done() is due in either case.
 */
int mp_toolbox_fill(struct mp_toolbox *b, const struct mp_status_list *servers,
		    enum mp_catalog_kind kind, unsigned which,
		    const struct mp_configured *c) MP_MUST;
void mp_toolbox_done(struct mp_toolbox *b); /* zeroed ones, too */

const struct mp_tool *mp_toolbox_get(const struct mp_toolbox *b, size_t i); /* by public name */
/* Does this name, in any spelling that has a server in it, mean a tool of that server? */
bool mp_toolbox_names_server(struct mp_str name, const char *server);
/* On stderr: names that more than one wanted, and who is called what. */
void mp_toolbox_tell_collisions(const struct mp_toolbox *b);
/* The public names of all that `name` could mean in some spelling; returns how many. */
size_t mp_toolbox_add_candidates(const struct mp_toolbox *b, struct mp_str name,
				 struct mp_buf *out);
/* Those that are like it, three at most. */
size_t mp_toolbox_add_similar(const struct mp_toolbox *b, struct mp_str name, struct mp_buf *out);

#endif
