/*
 * cmd_resources.c - `mcpool resources` and `mcpool read`: arguments and results. The rest is in
 * catalogs.c and cmd_read.c.
 */
#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/servers/catalogs.h"
#include "cli/verbs/verbs.h"

int mp_cmd_resources(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_catalogs all = {
		.args = &args, .kinds = {MP_CATALOG_RESOURCE, MP_CATALOG_TEMPLATE}, .n_kinds = 2};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	return mp_catalogs_run(&all);
}

/* --- read ------------------------------------------------------------------------------------ */

int mp_cmd_print_contents(struct mp_str result)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value contents;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, result, NULL);
	if (r < 0)
		return r;
	contents = mp_value_get(&t, MP_ROOT, "contents");
	if (!mp_value_is(&t, contents, MP_TAPE_ARRAY))
		return MCPOOL_EPROTO;
	MP_VALUE_EACH(&t, contents, v)
		if (r == 0)
			r = mp_print_resource(&t, v);
	return r;
}

int mp_cmd_write_read(struct mp_str uri, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "uri", uri);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_cmd_read(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	if (args.command && mp_cli_lacks_command(&args))
		return MP_EXIT_USAGE;
	return mp_cmd_use_resource(&args);
}
