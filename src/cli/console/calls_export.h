/*
 * calls_export.h - `mcpool calls --export`: the records in the store, a JSON object a line.
 */
#ifndef MP_CALLS_EXPORT_H
#define MP_CALLS_EXPORT_H

#include "cli/display/cli.h"

/* Needs no hub. The exit code. */
int mp_calls_export(const struct mp_cli_args *args);

#endif
