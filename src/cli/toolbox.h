/*
 * toolbox.h - the tools of all servers of a command's hub, live or remembered, by public name.
 * A snapshot: what a server lists later is not in it.
 */
#ifndef MP_TOOLBOX_H
#define MP_TOOLBOX_H

#include "cli/inproc.h"
#include "pool/offer.h"
#include "session/names.h"

struct mp_tool {
	const struct mp_catalog_item *item;
	const char *server;
	bool is_live; /* seen in this run; else remembered */
};

struct mp_toolbox {
	struct mp_names *names; /* u of each: its struct mp_tool */
	struct mp_tool *tools;  /* owned */
	struct mp_offer **offers;
	size_t n_offers; /* servers that are in it */
};

/*
 * All that may be used. hidden: the others, which the filters of their servers keep out.
 * MCPOOL_ENOMEM, MCPOOL_ELIMIT; mp_toolbox_done() is due in either case.
 */
int mp_toolbox_fill(struct mp_toolbox *b, struct mp_inproc *p, bool hidden) MP_MUST;
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
