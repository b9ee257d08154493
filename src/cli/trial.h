/*
 * trial.h - configured servers started together, their tools listed, all stopped again.
 */
#ifndef MP_TRIAL_H
#define MP_TRIAL_H

#include "cli/configured.h"

/*
 * Try these, all at the same time; each must be ready to run. One line for each as it is known, or
 * with --json one object for all. Returns the exit code: that of the first in the list that failed.
 */
int mp_trial_run(const struct mp_configured *c, const struct mp_entry *const *entries, size_t n,
		 const struct mp_cli_args *args);

#endif
