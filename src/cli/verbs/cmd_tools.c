/*
 * cmd_tools.c - `mcpool tools`; catalogs.c lists them.
 */
#include "cli/display/cli.h"
#include "cli/servers/catalogs.h"
#include "cli/verbs/verbs.h"

int mp_cmd_tools(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_catalogs all = {.args = &args, .kinds = {MP_CATALOG_TOOL}, .n_kinds = 1};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	return mp_catalogs_run(&all);
}
