/*
 * command.h - the server after `-- COMMAND`: a set with this one entry, without the store, and
 * messages about its failures. Its tools keep the server's names.
 */
#ifndef MP_CLI_COMMAND_H
#define MP_CLI_COMMAND_H

#include "cli/servers/reach.h"

/*
 * Used instead of mp_configured_load(); call mp_configured_done() afterwards. Fills in the options
 * for such a server; kinds: the lists to fetch, all of which are required.
 */
int mp_command_load(struct mp_configured *c, const struct mp_cli_args *args,
		    const enum mp_catalog_kind *kinds, size_t n_kinds,
		    struct mp_reach_options *ret_options) MP_MUST;
/* Start it; then fn, started or failed. */
void mp_command_start(struct mp_reach *r, void (*fn)(void *u), void *u);
/* Its status. NULL: it is not up; the failure is reported and the command is finished. */
const struct mp_status *mp_command_get_row(struct mp_reach *r);
const char *mp_command_get_name(const struct mp_reach *r);

/* Report a failure in this stage, and finish. */
void mp_command_fail(struct mp_reach *r, const char *stage, const struct mcpool_error *why);
/* Report a missing tool or prompt with similar names, and finish. */
void mp_command_fail_missing(struct mp_reach *r, const struct mp_catalog_list *l, const char *name);
/* A request to it: "tools/call", and how long it may take. */
struct mp_command_request {
	const char *method;
	int64_t timeout_ms;
};
/* Report a request without a result. Returns the exit code. */
int mp_command_tell_failure(struct mp_reach *r, struct mp_command_request rq,
			    const struct mp_pool_answer *a, const struct mp_status *status);
/* Report a result that cannot be shown; code: why. */
int mp_command_refuse_result(struct mp_reach *r, const char *method, int code);

#endif
