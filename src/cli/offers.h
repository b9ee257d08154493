/*
 * offers.h - `mcpool tools`, `prompts` and `resources` of all servers, or of those that are named.
 * What is remembered is not started; whoever fails is named with its reason, and the others are
 * listed all the same.
 */
#ifndef MP_OFFERS_H
#define MP_OFFERS_H

#include "cli/seek.h"
#include "session/index.h"

enum { MP_OFFERS_LISTS = 2 };

struct mp_offers {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	enum mp_catalog_kind kinds[MP_OFFERS_LISTS]; /* what is listed */
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
 * args and kinds are set. The words are names of servers; behind `--` there may be one instead.
 * Returns the exit code.
 */
int mp_offers_run(struct mp_offers *o);

/* command_offers.c: of the server behind `--`, as it names them; u: these offers. Then it is over.
 */
void mp_offers_show_command(void *u);

/* What there is at this moment, of a servers; offers: as toolbox.h has them. One reference. */
int mp_offers_make_stock(const struct mp_status_list *servers, unsigned which,
			 struct mp_index **ret) MP_MUST;

#endif
