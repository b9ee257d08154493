/*
 * own_hub.h - a hub in this process, for as long as one command takes: the chosen entries, one try
 * per start, no idle stop. It is asked over a socket pair, like the running one. Nothing is started
 * unless the command asks for it.
 */
#ifndef MP_OWN_HUB_H
#define MP_OWN_HUB_H

#include "cli/configured.h"
#include "cli/progress_line.h"
#include "hub/hub.h"

extern const struct mp_identity mp_cli_identity; /* what servers are told of us */

struct mp_own_hub;

struct mp_own_hub_options {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	const struct mp_entry *const *entries; /* these and no others; NULL: all of c->set */
	size_t n;
	int64_t start_timeout_ms;   /* of every start; 0: as configured */
	unsigned skipped_lists;     /* see mp_pool_options */
	struct mp_str capabilities; /* what servers may ask the command; empty: nothing */
	/* Its configuration is ready; error: it could not be had. */
	void (*ready)(void *u, const struct mcpool_error *error);
	void (*stopped)(void *u); /* no server is left */
	void *u;
};

/* A result may be as large as the catalogs of many servers. */
#define MP_OWN_HUB_MAX_RESULT ((size_t)16 * MP_LIMIT_MESSAGE)

/* The options are borrowed. ready() follows. */
int mp_own_hub_new(const struct mp_own_hub_options *options, struct mp_own_hub **ret,
		   struct mcpool_error *reterr) MP_MUST;
struct mp_own_hub *mp_own_hub_free(struct mp_own_hub *h); /* accepts NULL, returns NULL */
struct mp_loop *mp_own_hub_get_loop(const struct mp_own_hub *h);
/* The other end of a control connection, after ready(); the caller's. MCPOOL_ESYSTEM. */
int mp_own_hub_connect(struct mp_own_hub *h, struct mcpool_error *reterr) MP_MUST;
/* Servers leave; stopped() follows. */
void mp_own_hub_stop(struct mp_own_hub *h);
/* What is being started, on the terminal. */
void mp_own_hub_show_starts(struct mp_own_hub *h, struct mp_progress_line *line);

#endif
