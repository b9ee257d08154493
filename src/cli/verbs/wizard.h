/*
 * wizard.h - `mcpool add` and `mcpool edit NAME` without arguments: asks for the options.
 */
#ifndef MP_WIZARD_H
#define MP_WIZARD_H

#include "cli/servers/configured.h"

/* Returns the exit code. Without a terminal it prints the one-line form. */
int mp_wizard_run(struct mp_configured *c, struct mp_cli_args *args);

typedef int (*mp_wizard_fn)(struct mp_configured *c, struct mp_cli_args *args, const char *file);
/* The same for an entry of this file; apply is called with the answers as options. */
int mp_wizard_edit(struct mp_configured *c, struct mp_cli_args *args, const struct mp_entry *e,
		   mp_wizard_fn apply, const char *file);

#endif
