/*
 * token_names.h - `mcpool token add`, `list` and `rm`: tokens with names and limits.
 */
#ifndef MP_TOKEN_NAMES_H
#define MP_TOKEN_NAMES_H

#include "cli/display/cli.h"

/* args has at least one word. Returns the exit code. */
int mp_token_names_run(const struct mp_cli_args *args);

#endif
