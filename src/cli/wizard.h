/*
 * wizard.h - `mcpool add` without arguments: ask for what it needs.
 */
#ifndef MP_WIZARD_H
#define MP_WIZARD_H

#include "cli/configured.h"

/* Returns the exit code. Without a terminal it says how to do it in one line. */
int mp_wizard_run(struct mp_configured *c, struct mp_cli_args *args);

#endif
