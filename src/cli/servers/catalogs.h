/*
 * catalogs.h - `mcpool tools`, `prompts` and `resources` of all servers, or of those that are
 * named. A server with a cached catalog is not started. A server that fails is reported with the
 * reason, and the others are still listed.
 */
#ifndef MP_CATALOGS_H
#define MP_CATALOGS_H

#include "cli/servers/seek.h"
#include "session/index.h"

enum { MP_CATALOGS_LISTS = 2 };

struct mp_catalogs {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	enum mp_catalog_kind kinds[MP_CATALOGS_LISTS]; /* the lists to print */
	size_t n_kinds;
	struct mp_reach *reach;
	int64_t wait_ms;
	unsigned which;             /* enum of tool_index.h */
	struct mp_tool_index tools; /* tools or prompts */
	struct mp_index *index;     /* resources */
	struct mp_seek seek;        /* --schema */
	size_t listed, failed, waiting, locked;
	bool lacks_required;
};

/*
 * Set args and kinds first. The positional arguments are server names; alternatively a command
 * follows `--`. Returns the exit code.
 */
int mp_catalogs_run(struct mp_catalogs *o);

/* catalogs_command.c: prints the catalog of the server after `--` and finishes; u: these catalogs.
 */
void mp_catalogs_command_show(void *u);

/* The index of the current catalogs; which: as in tool_index.h. Returns one reference. */
int mp_catalogs_make_index(const struct mp_status_list *servers, unsigned which,
			   struct mp_index **ret) MP_MUST;

#endif
