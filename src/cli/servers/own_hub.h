/*
 * own_hub.h - a hub in this process, for the duration of one command: the chosen entries, one
 * attempt per start, no idle stop. It is asked over a socket pair, like the running one. It starts
 * a server only on request.
 */
#ifndef MP_OWN_HUB_H
#define MP_OWN_HUB_H

#include "cli/servers/configured.h"
#include "cli/display/progress_line.h"
#include "hub/hub.h"

extern const struct mp_identity mp_cli_identity; /* client info for servers */

struct mp_own_hub;

struct mp_own_hub_options {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	const struct mp_entry *const *entries; /* only these; NULL: all of c->set */
	size_t n;
	int64_t start_timeout_ms;   /* of every start; 0: as configured */
	unsigned skipped_lists;     /* see mp_pool_options */
	struct mp_str capabilities; /* client capabilities; empty: none */
	/* The configuration is ready; error: loading failed. */
	void (*ready)(void *u, const struct mcpool_error *error);
	void (*stopped)(void *u); /* all servers are stopped */
	void *u;
};

/* A result may contain the catalogs of many servers. */
#define MP_OWN_HUB_MAX_RESULT ((size_t)16 * MP_LIMIT_MESSAGE)

/* The options are borrowed. ready() follows. */
int mp_own_hub_new(const struct mp_own_hub_options *options, struct mp_own_hub **ret,
		   struct mcpool_error *reterr) MP_MUST;
struct mp_own_hub *mp_own_hub_free(struct mp_own_hub *h); /* accepts NULL, returns NULL */
struct mp_loop *mp_own_hub_get_loop(const struct mp_own_hub *h);
/* Open a control connection, after ready(); the caller owns the descriptor. MCPOOL_ESYSTEM. */
int mp_own_hub_connect(struct mp_own_hub *h, struct mcpool_error *reterr) MP_MUST;
/* Stop the servers; stopped() follows. */
void mp_own_hub_stop(struct mp_own_hub *h);
/* Show servers that are starting on the terminal. False: none is. */
bool mp_own_hub_show_starts(struct mp_own_hub *h, struct mp_progress_line *line);

#endif
