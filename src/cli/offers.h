/*
 * offers.h - `mcpool tools`, `prompts` and `resources` of all servers, or of those that are named.
 * A server with a cached catalog is not started. A server that fails is reported with the reason,
 * and the others are still listed.
 */
#ifndef MP_OFFERS_H
#define MP_OFFERS_H

#include "cli/seek.h"
#include "session/index.h"

enum { MP_OFFERS_LISTS = 2 };

struct mp_offers {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	enum mp_catalog_kind kinds[MP_OFFERS_LISTS]; /* the lists to print */
	size_t n_kinds;
	struct mp_reach *reach;
	int64_t wait_ms;
	unsigned which;         /* enum of toolbox.h */
	struct mp_toolbox box;  /* tools or prompts */
	struct mp_index *index; /* resources */
	struct mp_seek seek;    /* --schema */
	size_t listed, failed, waiting, locked;
	bool lacks_required;
};

/*
 * Set args and kinds first. The positional arguments are server names; alternatively a command
 * follows `--`. Returns the exit code.
 */
int mp_offers_run(struct mp_offers *o);

/* command_offers.c: prints the catalog of the server after `--` and finishes; u: these offers. */
void mp_offers_show_command(void *u);

/* The index of the current catalogs; offers: as in toolbox.h. Returns one reference. */
int mp_offers_make_stock(const struct mp_status_list *servers, unsigned which,
			 struct mp_index **ret) MP_MUST;

#endif
