/*
 * outcome.h - one request to one of all servers, and what became of it: on stdout and stderr, as an
 * exit code.
 */
#ifndef MP_CLI_OUTCOME_H
#define MP_CLI_OUTCOME_H

#include "cli/reach.h"

struct mp_outcome_teller {
	struct mp_reach *reach;
	const struct mp_cli_args *args;
	const char *method;   /* "tools/call" */
	const char *provider; /* of the server; NULL: unknown */
	const char *key;      /* what --json calls the thing that was asked for; NULL: not at all */
	struct mp_str name;   /* as its server calls it */
	int64_t timeout_ms;   /* of the request; 0: as configured */
	/* For people. An exit code, or MCPOOL_E* where it cannot be shown. */
	int (*print)(struct mp_str result, void *u);
	void *u;
};

/* For mp_reach_call(); u: the teller. Tells, and finishes. */
void mp_outcome_tell(const struct mp_pool_answer *a, const struct mp_status *status, void *u);

#endif
