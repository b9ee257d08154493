/*
 * command.h - the server behind `-- COMMAND`: a set with this one entry, which stores nothing, and
 * the words for what becomes of it. Its tools have the names that the server gives them.
 */
#ifndef MP_CLI_COMMAND_H
#define MP_CLI_COMMAND_H

#include "cli/outcome.h"

/*
 * Instead of mp_configured_load(); mp_configured_done() is due. The options get what such a server
 * needs; kinds: the lists that are asked for, each of which must be had.
 */
int mp_command_load(struct mp_configured *c, const struct mp_cli_args *args,
		    const enum mp_catalog_kind *kinds, size_t n_kinds,
		    struct mp_reach_options *ret_options) MP_MUST;
/* Start it; then fn, whether it is up or not. */
void mp_command_start(struct mp_reach *r, void (*fn)(void *u), void *u);
/* Where it stands. NULL: it is not up; that was told, and the command is over. */
const struct mp_status *mp_command_get_row(struct mp_reach *r);
const char *mp_command_get_name(const struct mp_reach *r);

/* Say what went wrong in this stage, and finish. */
void mp_command_fail(struct mp_reach *r, const char *stage, const struct mcpool_error *why);
/* There is no such tool or prompt: say what is like it, and finish. */
void mp_command_fail_missing(struct mp_reach *r, const struct mp_catalog_list *l, const char *name);
/* What became of a call without a result. Returns the exit code. */
int mp_command_tell_failure(const struct mp_outcome_teller *t, const struct mp_pool_answer *a,
			    const struct mp_status *status);
/* Of one whose result cannot be shown; code: why. */
int mp_command_refuse_result(const struct mp_outcome_teller *t, int code);

#endif
