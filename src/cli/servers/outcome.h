/*
 * outcome.h - reports the result of one request to a configured server: stdout, stderr and the exit
 * code.
 */
#ifndef MP_CLI_OUTCOME_H
#define MP_CLI_OUTCOME_H

#include "cli/servers/reach.h"

struct mp_outcome_teller {
	struct mp_reach *reach;
	const struct mp_cli_args *args;
	const char *method;   /* "tools/call" */
	const char *provider; /* source of the server; NULL: unknown */
	const char *key;      /* member of --json for the requested item; NULL: none */
	struct mp_str name;   /* the server's own name of the item */
	const char *join;     /* a tool's: between the texts of its result; NULL: not a tool */
	int64_t timeout_ms;   /* of the request; 0: as configured */
	/*
	 * Print the result; json: in its place, with --json; else empty. Returns an exit code, or
	 * MCPOOL_E* if it cannot be shown.
	 */
	int (*print)(struct mp_str result, struct mp_str json, void *u);
	void *u;
};

/* For mp_reach_call(); u: the teller. Reports the result, and finishes. */
void mp_outcome_tell(const struct mp_pool_answer *a, const struct mp_status *status, void *u);

#endif
