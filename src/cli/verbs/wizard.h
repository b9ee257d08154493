/*
 * wizard.h - `mcpool add` without arguments: asks for the options.
 */
#ifndef MP_WIZARD_H
#define MP_WIZARD_H

#include "cli/servers/configured.h"

/* Returns the exit code. Without a terminal it prints the one-line form. */
int mp_wizard_run(struct mp_configured *c, struct mp_cli_args *args);

#endif
